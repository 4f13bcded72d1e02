/*
 * tree/read.c - values as booleans, numbers, texts and lists. Durations and sizes: units.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tree/read.h"

#include <stdlib.h>
#include <string.h>

#include "tree/number.h"
#include "tree/why.h"

/* --- booleans and texts ----------------------------------------------------------------------- */

static bool is_word(weir__text text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.bytes, word, text.length) == 0;
}

bool weir__read_boolean(const weir__node *node, bool *out, weir__why *why)
{
    static const char *const words[] = { "true", "yes", "on", "false", "no", "off" };
    if (node->kind == WEIR__BOOLEAN) {
        *out = node->truth;
        return true;
    }
    for (size_t i = 0; node->kind == WEIR__STRING && i < sizeof(words) / sizeof(words[0]); i++) {
        if (is_word(node->text, words[i])) {
            *out = i < 3;
            return true;
        }
    }
    return weir__why_not(why, node, "boolean", "it is true, yes, on, false, no or off");
}

bool weir__read_text(const weir__node *node, weir__text *out, weir__why *why)
{
    if (!weir__node_is_scalar(node)) {
        return weir__why_not(why, node, "text", "it is a string, a number or a boolean");
    }
    *out = node->text;
    return true;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static bool scan(const weir__node *node, weir__number *out)
{
    return (node->kind == WEIR__NUMBER || node->kind == WEIR__STRING) &&
           weir__number_scan(node->text.bytes, node->text.length, out);
}

#define TWO_63 9223372036854775808.0

/* Cut off towards zero. False: beyond 64 bits. */
static bool to_long(const weir__number *number, int64_t *out)
{
    const uint64_t most = (uint64_t)INT64_MAX + (number->negative ? 1 : 0);
    uint64_t magnitude = 0;
    if (number->hexadecimal) {
        double value;
        if (!weir__number_double(number, &value) || !(value >= -TWO_63 && value < TWO_63)) {
            return false;
        }
        *out = (int64_t)value;
        return true;
    }
    if (!weir__number_times(number, 1, most, &magnitude)) {
        return false;
    }
    *out = number->negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

bool weir__read_long(const weir__node *node, int64_t *out, weir__why *why)
{
    weir__number number;
    if (!scan(node, &number)) {
        return weir__why_not(why, node, "whole number", "it is written like 42, -7 or 1e6");
    }
    if (!to_long(&number, out)) {
        return weir__why_beyond(why, node, "64 bits, which end at -2^63 and 2^63 - 1");
    }
    return true;
}

bool weir__read_int(const weir__node *node, int32_t *out, weir__why *why)
{
    weir__number number;
    if (!scan(node, &number)) {
        return weir__why_not(why, node, "whole number", "it is written like 42, -7 or 1e6");
    }
    int64_t value;
    if (!to_long(&number, &value) || value < INT32_MIN || value > INT32_MAX) {
        return weir__why_beyond(why, node, "32 bits, which end at -2147483648 and 2147483647");
    }
    *out = (int32_t)value;
    return true;
}

bool weir__read_double(const weir__node *node, double *out, weir__why *why)
{
    weir__number number;
    if (!scan(node, &number)) {
        return weir__why_not(why, node, "number", "it is written like 1.5, -7 or 1e-3");
    }
    if (!weir__number_double(&number, out)) {
        return weir__why_beyond(why, node, "what a number can hold, about 1.8e308");
    }
    return true;
}

/* --- lists ------------------------------------------------------------------------------------ */

typedef struct numbered {
    int32_t number;
    uint32_t place; /* among the members, for keys such as 1 and 01 */
    weir__node *item;
} numbered;

static int compare(const void *left, const void *right)
{
    const numbered *a = left, *b = right;
    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return (a->place > b->place) - (a->place < b->place);
}

/* Decimal digits, with a sign or without, below 2^31 and not negative. */
static bool is_index(weir__text key, int32_t *out)
{
    const size_t sign = key.length > 0 && (key.bytes[0] == '-' || key.bytes[0] == '+') ? 1 : 0;
    int64_t value = 0;
    for (size_t i = sign; i < key.length; i++) {
        if (key.bytes[i] < '0' || key.bytes[i] > '9') {
            return false;
        }
        value = value * 10 + (key.bytes[i] - '0');
        if (value > INT32_MAX) {
            return false;
        }
    }
    *out = (int32_t)value;
    return key.length > sign && (value == 0 || key.bytes[0] != '-');
}

static size_t collect(const weir__node *object, numbered *out)
{
    size_t count = 0;
    for (size_t i = 0; i < object->object.count; i++) {
        int32_t number;
        if (!is_index(object->object.members[i].key, &number)) {
            continue;
        }
        if (out != NULL) {
            out[count] = (numbered){ number, (uint32_t)i, object->object.members[i].value };
        }
        count++;
    }
    return count;
}

static bool list_of_object(weir__tree *tree, const weir__node *object, size_t found,
                           weir__node ***out, size_t *count)
{
    numbered *all = weir__tree_memory(tree, found * sizeof(*all));
    weir__node **items = (weir__node **)weir__tree_memory(tree, found * sizeof(weir__node *));
    if (all == NULL || items == NULL) {
        return false;
    }
    collect(object, all);
    qsort(all, found, sizeof(*all), compare);
    size_t kept = 0;
    for (size_t i = 0; i < found; i++) {
        if (i + 1 == found || all[i + 1].number != all[i].number) {
            items[kept++] = all[i].item;
        }
    }
    *out = items;
    *count = kept;
    return true;
}

bool weir__read_list(weir__tree *tree, const weir__node *node, weir__node ***out, size_t *count,
                     weir__why *why)
{
    if (node->kind == WEIR__LIST) {
        *out = node->list.items;
        *count = node->list.count;
        return true;
    }
    const size_t found = node->kind == WEIR__OBJECT ? collect(node, NULL) : 0;
    if (found == 0) {
        return weir__why_not(why, node, "list",
                             "it is written like [1, 2], or as an object whose keys are numbers");
    }
    return list_of_object(tree, node, found, out, count) || weir__why_memory(why);
}
