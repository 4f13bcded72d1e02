/*
 * advice_fuzz.c - any two looks at a server, as `weir doctor --snapshot` takes them: whatever the
 * shapes and numbers in them are, there are findings of known rules in texts that may be shown, or
 * none.
 *
 * An input is a document (one look, or {"looks": [one, another]}), and behind a zero byte changes
 * to it, three bytes each: which place, found by going down from the top, and what stands there
 * then. So what has the right keys gets wrong types, and numbers that cannot be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <math.h>

#include "advice/advice.h"

enum { CHANGES_MAX = 64, DEPTH_MAX = 8 };

/* ---- changes ---- */

static json_t *strange(uint8_t which)
{
    switch (which % 16) {
    case 0:
        return json_null();
    case 1:
        return json_integer(INT64_MAX);
    case 2:
        return json_integer(INT64_MIN);
    case 3:
        return json_integer(-1);
    case 4:
        return json_integer(0);
    case 5:
        return json_real(1e308);
    case 6:
        return json_real(-1e308);
    case 7:
        return json_real(5e-324);
    case 8:
        return json_real(-0.0);
    case 9:
        return json_true();
    case 10:
        return json_string("");
    case 11:
        return json_string("\x1b[2J\nnot for a terminal \xc2\x9b");
    case 12:
        return json_array();
    case 13:
        return json_object();
    case 14:
        return json_pack("[[i], {s:[n]}]", 1, "processor");
    default:
        return json_integer(which); /* of which two looks can differ a little */
    }
}

static const char *key_at(json_t *object, size_t at)
{
    void *iterator = json_object_iter(object);
    for (size_t i = 0; i < at && iterator != NULL; i++) {
        iterator = json_object_iter_next(object, iterator);
    }
    return json_object_iter_key(iterator);
}

/* The steps are made of one number, so that near numbers are near places. */
static void change(json_t *at, uint16_t where, uint8_t what)
{
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        const size_t size = json_is_object(at) ? json_object_size(at) : json_array_size(at);
        if (size == 0) {
            return;
        }
        const size_t step = where % size;
        where = (uint16_t)(where / size);
        json_t *below =
            json_is_object(at) ? json_object_get(at, key_at(at, step)) : json_array_get(at, step);
        if (where != 0 && (json_object_size(below) > 0 || json_array_size(below) > 0)) {
            at = below;
            continue;
        }
        if (what == 255 && json_is_object(at)) {
            (void)json_object_del(at, key_at(at, step));
        } else if (json_is_object(at)) {
            (void)json_object_set_new(at, key_at(at, step), strange(what));
        } else {
            (void)json_array_set_new(at, step, strange(what));
        }
        return;
    }
}

static void change_all(json_t *before, json_t *after, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 3 <= size && i < (size_t)3 * CHANGES_MAX; i += 3) {
        const uint16_t where = (uint16_t)(data[i] << 8 | data[i + 1]);
        change((data[i + 2] & 0x40) != 0 ? before : after, where, data[i + 2]);
    }
}

/* ---- what must hold ---- */

static void promise_text(const char *text, size_t size)
{
    const size_t length = strnlen(text, size);
    FUZZ_PROMISE(length < size);
    FUZZ_PROMISE(fuzz_is_harmless(text, length, false));
    json_t *string = json_stringn(text, length); /* refuses what is no UTF-8 */
    FUZZ_PROMISE(string != NULL);
    json_decref(string);
}

static void promise(const weir__findings *found)
{
    FUZZ_PROMISE(found->count <= WEIR__FINDINGS_ALL);
    FUZZ_PROMISE(!isnan(found->seconds) && found->seconds >= 0);
    for (size_t i = 0; i < found->count; i++) {
        const weir__finding *f = &found->items[i];
        FUZZ_PROMISE((unsigned)f->id < WEIR__RULE_COUNT);
        FUZZ_PROMISE(strcmp(f->rule, weir__rules[f->id].name) == 0);
        FUZZ_PROMISE(f->severity > WEIR__SEVERITY_NONE && f->severity <= WEIR__SEVERITY_ALERT);
        FUZZ_PROMISE(i == 0 || f->severity <= found->items[i - 1].severity);
        FUZZ_PROMISE(!isnan(f->value));
        FUZZ_PROMISE(f->what[0] != '\0' && f->text[0] != '\0' && f->remedy[0] != '\0');
        promise_text(f->what, sizeof(f->what));
        promise_text(f->text, sizeof(f->text));
        promise_text(f->remedy, sizeof(f->remedy));
    }
    json_t *json = weir__advice_json(found);
    FUZZ_PROMISE(json_array_size(json_object_get(json, "findings")) == found->count);
    char *text = json_dumps(json, 0);
    FUZZ_PROMISE(text != NULL);
    free(text);
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static weir__findings found;
    const uint8_t *end = memchr(data, 0, size);
    const size_t length = end != NULL ? (size_t)(end - data) : size;
    json_error_t error;
    json_t *document = json_loadb((const char *)data, length, 0, &error);
    json_t *looks = json_object_get(document, "looks");
    json_t *after = json_is_array(looks) ? json_array_get(looks, 1) : document;
    json_t *before =
        json_is_array(looks) ? json_incref(json_array_get(looks, 0)) : json_deep_copy(document);
    if (end != NULL) {
        change_all(before, after, end + 1, size - length - 1);
    }
    weir__advice_make(before, after, &found);
    promise(&found);
    weir__advice_make(NULL, after, &found);
    promise(&found);
    json_decref(before);
    json_decref(document);
    return 0;
}
