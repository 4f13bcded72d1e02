/*
 * connect/template.c - a text with places to fill.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/template.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { NUMBER_MAX = 20 }; /* digits of 2^64 - 1 */

static const struct {
    const char *name;
    weir__template_what what;
} places[] = {
    { "n", WEIR__TEMPLATE_N },       { "key", WEIR__TEMPLATE_KEY },
    { "time", WEIR__TEMPLATE_TIME }, { "random", WEIR__TEMPLATE_RANDOM },
    { "pad", WEIR__TEMPLATE_PAD },
};

uint64_t weir__random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t weir__random_below(uint64_t *state, uint64_t below)
{
    /* What lies above the last whole multiple would make small numbers likelier: asked again, less
     * than twice on average. */
    const uint64_t most = UINT64_MAX - UINT64_MAX % below;
    uint64_t number;
    do {
        number = weir__random(state);
    } while (number >= most);
    return number % below;
}

/* The N of "random:N"; 0: it is none. */
static uint64_t read_bound(const char *text, size_t size)
{
    char digits[NUMBER_MAX + 1];
    if (size == 0 || size > NUMBER_MAX || text[0] < '0' || text[0] > '9') {
        return 0;
    }
    memcpy(digits, text, size);
    digits[size] = '\0';
    char *end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(digits, &end, 10);
    return errno == 0 && *end == '\0' ? number : 0;
}

/* One place, without its braces. */
static weir_status read_place(weir__template_part *part, const char *name, size_t size,
                              bool has_key, const char *path, weir_error *error)
{
    const char *colon = memchr(name, ':', size);
    const size_t length = colon != NULL ? (size_t)(colon - name) : size;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (strlen(places[i].name) != length || memcmp(places[i].name, name, length) != 0) {
            continue;
        }
        part->what = places[i].what;
        part->below = UINT64_C(1) << 32;
        if (part->what == WEIR__TEMPLATE_KEY && !has_key) {
            break;
        }
        if (colon == NULL) {
            return WEIR_OK;
        }
        part->below = read_bound(colon + 1, size - length - 1);
        if (part->what != WEIR__TEMPLATE_RANDOM || part->below == 0) {
            break;
        }
        return WEIR_OK;
    }
    return weir__error_at(error, WEIR_E_CONFIG, path,
                          "template: ${%.*s} is no place to fill; there are ${n}, %s${time}, "
                          "${random}, ${random:N} and ${pad}",
                          (int)(size < 40 ? size : 40), name, has_key ? "${key}, " : "");
}

static weir_status add_part(weir__template *t, const weir__template_part *part, const char *path,
                            weir_error *error)
{
    if (t->count == WEIR__TEMPLATE_PARTS_MAX) {
        return weir__error_at(error, WEIR_E_CONFIG, path, "template: at most %d parts",
                              WEIR__TEMPLATE_PARTS_MAX);
    }
    if (part->what == WEIR__TEMPLATE_PAD && t->pads) {
        return weir__error_at(error, WEIR_E_CONFIG, path, "template: ${pad} stands there twice");
    }
    t->pads = t->pads || part->what == WEIR__TEMPLATE_PAD;
    t->text_size += part->what == WEIR__TEMPLATE_TEXT ? part->size : 0;
    t->parts[t->count++] = *part;
    return WEIR_OK;
}

weir_status weir__template_read(weir__template *out, const char *text, bool has_key,
                                const char *path, weir_error *error)
{
    memset(out, 0, sizeof(*out));
    weir_status status = WEIR_OK;
    while (*text != '\0' && status == WEIR_OK) {
        weir__template_part part = { .what = WEIR__TEMPLATE_TEXT, .text = text };
        const char *place = strstr(text, "${");
        if (place != text) {
            part.size = place != NULL ? (size_t)(place - text) : strlen(text);
            text += part.size;
        } else {
            const char *end = strchr(place, '}');
            if (end == NULL) {
                return weir__error_at(error, WEIR_E_CONFIG, path,
                                      "template: a ${ has no } behind it");
            }
            status = read_place(&part, place + 2, (size_t)(end - place) - 2, has_key, path, error);
            text = end + 1;
        }
        if (status == WEIR_OK) {
            status = add_part(out, &part, path, error);
        }
    }
    return status;
}

size_t weir__template_size_max(const weir__template *t, size_t key_size, size_t pad_to)
{
    size_t size = t->text_size;
    for (size_t i = 0; i < t->count; i++) {
        if (t->parts[i].what == WEIR__TEMPLATE_KEY) {
            size += key_size;
        } else if (t->parts[i].what != WEIR__TEMPLATE_TEXT) {
            size += NUMBER_MAX;
        }
    }
    return size > pad_to ? size : pad_to;
}

static size_t write_number(char *out, uint64_t number)
{
    char digits[NUMBER_MAX];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    memcpy(out, digits + at, sizeof(digits) - at);
    return sizeof(digits) - at;
}

static size_t write_part(const weir__template_part *part, const weir__template_values *values,
                         char *out)
{
    switch (part->what) {
    case WEIR__TEMPLATE_TEXT:
        memcpy(out, part->text, part->size);
        return part->size;
    case WEIR__TEMPLATE_KEY:
        memcpy(out, values->key, values->key_size);
        return values->key_size;
    case WEIR__TEMPLATE_N:
        return write_number(out, values->n);
    case WEIR__TEMPLATE_TIME:
        return write_number(out, values->time_ms);
    case WEIR__TEMPLATE_RANDOM:
        return write_number(out, weir__random_below(values->random, part->below));
    case WEIR__TEMPLATE_PAD:
        break; /* when all else is known */
    }
    return 0;
}

size_t weir__template_fill(const weir__template *t, const weir__template_values *values, char *out)
{
    size_t size = 0, pad_at = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->parts[i].what == WEIR__TEMPLATE_PAD) {
            pad_at = size;
        }
        size += write_part(&t->parts[i], values, out + size);
    }
    if (t->pads && size < values->size) {
        const size_t pad = values->size - size;
        memmove(out + pad_at + pad, out + pad_at, size - pad_at);
        memset(out + pad_at, 'x', pad);
        size += pad;
    }
    return size;
}
