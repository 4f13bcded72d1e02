/*
 * connect/yaml_scalar.c - null, booleans, numbers and strings by YAML's core schema.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/yaml_scalar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is(weir__text text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.bytes, word, text.length) == 0;
}

static bool is_one_of(weir__text text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (is(text, *words)) {
            return true;
        }
    }
    return false;
}

/* --- tags ------------------------------------------------------------------------------------- */

bool weir__yaml_tag_is_standard(weir__text tag, weir__text *name)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    static const char *const names[] = { "null",      "bool",   "int",   "float", "str",
                                         "map",       "seq",    "set",   "omap",  "pairs",
                                         "timestamp", "binary", "merge", "value", NULL };
    const size_t length = sizeof(prefix) - 1;
    if (tag.length < length || memcmp(tag.bytes, prefix, length) != 0) {
        return false;
    }
    *name = (weir__text){ tag.bytes + length, tag.length - length };
    return is_one_of(*name, names);
}

weir__text weir__yaml_tag_name(weir__text tag)
{
    size_t from = tag.length;
    while (from > 0 && strchr(".:/!#$,", tag.bytes[from - 1]) == NULL) {
        from--;
    }
    return (weir__text){ tag.bytes + from, tag.length - from };
}

/* --- the core schema -------------------------------------------------------------------------- */

static bool is_null(weir__text text)
{
    static const char *const words[] = { "", "~", "null", "Null", "NULL", NULL };
    return is_one_of(text, words);
}

static bool is_true(weir__text text)
{
    static const char *const words[] = { "true", "True", "TRUE", NULL };
    return is_one_of(text, words);
}

static bool is_false(weir__text text)
{
    static const char *const words[] = { "false", "False", "FALSE", NULL };
    return is_one_of(text, words);
}

static size_t digits(weir__text text, size_t from)
{
    size_t i = from;
    while (i < text.length && text.bytes[i] >= '0' && text.bytes[i] <= '9') {
        i++;
    }
    return i - from;
}

static bool has(weir__text text, size_t i, const char *set)
{
    return i < text.length && text.bytes[i] != '\0' && strchr(set, text.bytes[i]) != NULL;
}

/* [-+]? ( .[0-9]+ | [0-9]+ ( .[0-9]* )? ) ( [eE][-+]?[0-9]+ )? */
static bool is_decimal(weir__text text, bool *whole)
{
    size_t i = has(text, 0, "-+") ? 1 : 0;
    const size_t before = digits(text, i);
    i += before;
    *whole = before > 0 && i == text.length;
    if (has(text, i, ".")) {
        const size_t after = digits(text, ++i);
        i += after;
        if (before + after == 0) {
            return false;
        }
    } else if (before == 0) {
        return false;
    }
    if (has(text, i, "eE")) {
        i += has(text, i + 1, "-+") ? 2 : 1;
        const size_t exponent = digits(text, i);
        i += exponent;
        if (exponent == 0) {
            return false;
        }
    }
    return i == text.length;
}

/* 0x1f and 0o17, which nothing but YAML writes so: their value. More than 64 bits: false. */
static bool is_based(weir__text text, uint64_t *out)
{
    static const char known[] = "0123456789abcdef";
    const uint64_t base = has(text, 1, "x") ? 16 : has(text, 1, "o") ? 8 : 0;
    if (base == 0 || text.length < 3 || text.bytes[0] != '0') {
        return false;
    }
    *out = 0;
    for (size_t i = 2; i < text.length; i++) {
        const char c = text.bytes[i];
        const char lower = c >= 'A' && c <= 'F' ? (char)(c | 0x20) : c;
        const char *found = lower != '\0' ? strchr(known, lower) : NULL;
        const uint64_t digit = found != NULL ? (uint64_t)(found - known) : base;
        if (digit >= base || *out > (UINT64_MAX - digit) / base) {
            return false;
        }
        *out = *out * base + digit;
    }
    return true;
}

static weir__node *number(weir__yaml_builder *b, const weir__yaml_value *value, bool want_whole)
{
    bool whole;
    if (is_decimal(value->text, &whole) && (whole || !want_whole)) {
        return weir__node_number(b->tree, value->origin, value->text.bytes, value->text.length);
    }
    uint64_t based;
    if (is_based(value->text, &based)) {
        char text[24];
        const int length = snprintf(text, sizeof(text), "%" PRIu64, based);
        return weir__node_number(b->tree, value->origin, text, (size_t)length);
    }
    return NULL;
}

static weir__node *string(weir__yaml_builder *b, const weir__yaml_value *value)
{
    return weir__node_string(b->tree, value->origin, value->text.bytes, value->text.length);
}

static bool is_number(weir__text text, bool *whole)
{
    uint64_t based;
    *whole = is_based(text, &based);
    return *whole || is_decimal(text, whole);
}

static weir__node *untagged(weir__yaml_builder *b, const weir__yaml_value *value)
{
    bool whole;
    if (!value->plain) {
        return string(b, value);
    }
    if (is_null(value->text)) {
        return weir__node_null(b->tree, value->origin);
    }
    if (is_true(value->text) || is_false(value->text)) {
        return weir__node_boolean(b->tree, value->origin, is_true(value->text));
    }
    return is_number(value->text, &whole) ? number(b, value, false) : string(b, value);
}

/* !!int, !!bool, ... must be what they say. */
static weir__node *standard(weir__yaml_builder *b, const weir__yaml_value *value, weir__text name)
{
    bool whole = false;
    const bool numeric = is_number(value->text, &whole);
    if (is(name, "null") && is_null(value->text)) {
        return weir__node_null(b->tree, value->origin);
    }
    if (is(name, "bool") && (is_true(value->text) || is_false(value->text))) {
        return weir__node_boolean(b->tree, value->origin, is_true(value->text));
    }
    if ((is(name, "int") && numeric && whole) || (is(name, "float") && numeric)) {
        return number(b, value, false);
    }
    if (is(name, "null") || is(name, "bool") || is(name, "int") || is(name, "float") ||
        is(name, "map") || is(name, "seq")) {
        weir__problems_add(b->problems, WEIR__ERROR, value->origin, NULL,
                           "'%.40s' is no !!%.*s, which its tag says", value->text.bytes,
                           (int)name.length, name.bytes);
        return weir__node_null(b->tree, value->origin); /* the place is taken; others may follow */
    }
    return string(b, value);
}

weir__node *weir__yaml_scalar(weir__yaml_builder *b, const weir__yaml_value *value)
{
    weir__text name;
    weir__node *node;
    if (value->tag.bytes == NULL) {
        node = untagged(b, value);
    } else if (is(value->tag, "!")) {
        node = string(b, value);
    } else if (weir__yaml_tag_is_standard(value->tag, &name)) {
        node = standard(b, value, name);
    } else if (value->plain && is_null(value->text)) {
        name = weir__yaml_tag_name(value->tag);
        node = weir__node_string(b->tree, value->origin, name.bytes, name.length);
    } else {
        weir__problems_add(b->problems, WEIR__NOTE, value->origin, NULL,
                           "the tag %.80s has no meaning here: the value is read as a string",
                           value->tag.bytes);
        node = string(b, value);
    }
    if (node == NULL) {
        weir__problems_memory(b->problems);
    }
    return node;
}
