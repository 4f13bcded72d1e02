/*
 * connect/pick.c - a piece of a line, by jansson or PCRE2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/pick.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/error.h"

#define MATCH_MAX 100000u /* steps of one search: about a millisecond */
#define HEAP_MAX 1024u    /* KiB of one search */
#define STEPS_MAX 32u     /* names of a path */

/* One name of a path; `index` is what it is in an array, or SIZE_MAX. */
typedef struct step {
    const char *name;
    size_t index;
} step;

struct weir__pick {
    char *path; /* cut into names */
    step steps[STEPS_MAX];
    size_t step_count;
    json_t *root; /* of the last line: what was picked may lie in it */
    char number[40];

    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *context;
    uint32_t group;
};

static size_t index_of(const char *name)
{
    size_t index = 0;
    for (const char *c = name; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || index > SIZE_MAX / 100) {
            return SIZE_MAX;
        }
        index = 10 * index + (size_t)(*c - '0');
    }
    return *name != '\0' ? index : SIZE_MAX;
}

static bool open_path(weir__pick *pick, const char *field, const char *who, weir_error *error)
{
    pick->path = strdup(field);
    if (pick->path == NULL) {
        (void)weir__error_memory(error, who);
        return false;
    }
    char *rest = pick->path;
    for (char *name = strsep(&rest, "."); name != NULL; name = strsep(&rest, ".")) {
        if (*name == '\0' || pick->step_count == STEPS_MAX) {
            (void)weir__error_at(error, WEIR_E_CONFIG, who,
                                 "field is '%s': names with dots between them are wanted, as in "
                                 "user.id, at most %u",
                                 field, STEPS_MAX);
            return false;
        }
        pick->steps[pick->step_count++] = (step){ name, index_of(name) };
    }
    return true;
}

static bool open_pattern(weir__pick *pick, const weir__pick_config *config, const char *who,
                         weir_error *error)
{
    int problem = 0;
    PCRE2_SIZE at = 0;
    pick->code =
        pcre2_compile((PCRE2_SPTR)config->pattern, PCRE2_ZERO_TERMINATED, 0, &problem, &at, NULL);
    if (pick->code == NULL) {
        PCRE2_UCHAR text[120] = { 0 };
        (void)pcre2_get_error_message(problem, text, sizeof(text));
        (void)weir__error_at(error, WEIR_E_CONFIG, who, "pattern '%s', character %zu: %s",
                             config->pattern, (size_t)at + 1, (const char *)text);
        return false;
    }
    uint32_t groups = 0;
    (void)pcre2_pattern_info(pick->code, PCRE2_INFO_CAPTURECOUNT, &groups);
    if (config->group > (int64_t)groups) {
        (void)weir__error_at(error, WEIR_E_CONFIG, who,
                             "group is %" PRId64 ", and pattern '%s' has %u", config->group,
                             config->pattern, groups);
        return false;
    }
    (void)pcre2_jit_compile(pick->code, PCRE2_JIT_COMPLETE); /* without it, it is interpreted */
    pick->group = (uint32_t)config->group;
    pick->match = pcre2_match_data_create_from_pattern(pick->code, NULL);
    pick->context = pcre2_match_context_create(NULL);
    if (pick->match == NULL || pick->context == NULL) {
        (void)weir__error_memory(error, who);
        return false;
    }
    (void)pcre2_set_match_limit(pick->context, MATCH_MAX);
    (void)pcre2_set_heap_limit(pick->context, HEAP_MAX);
    return true;
}

weir__pick *weir__pick_open(const weir__pick_config *config, bool optional, const char *who,
                            weir_error *error)
{
    const bool has_field = config->field != NULL;
    const bool has_pattern = config->pattern != NULL;
    if ((has_field && has_pattern) || (!has_field && !has_pattern && !optional)) {
        (void)weir__error_at(error, WEIR_E_CONFIG, who, "%s",
                             has_field ? "field and pattern are both there: one of them is wanted"
                                       : "neither field nor pattern is there: one of them is "
                                         "wanted, as in field = user.id");
        return NULL;
    }
    weir__pick *pick = calloc(1, sizeof(*pick));
    if (pick == NULL) {
        (void)weir__error_memory(error, who);
        return NULL;
    }
    const bool opened = has_field     ? open_path(pick, config->field, who, error)
                        : has_pattern ? open_pattern(pick, config, who, error)
                                      : true;
    if (!opened) {
        weir__pick_close(pick);
        return NULL;
    }
    return pick;
}

void weir__pick_close(weir__pick *pick)
{
    if (pick == NULL) {
        return;
    }
    json_decref(pick->root);
    pcre2_match_context_free(pick->context);
    pcre2_match_data_free(pick->match);
    pcre2_code_free(pick->code);
    free(pick->path);
    free(pick);
}

/* A text or number as bytes; of true, false and null their words. */
static weir__picked scalar(weir__pick *pick, const json_t *value, const char **data, size_t *length)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        *data = json_string_value(value);
        *length = json_string_length(value);
        return WEIR__PICKED;
    case JSON_INTEGER:
        *length = (size_t)snprintf(pick->number, sizeof(pick->number), "%" JSON_INTEGER_FORMAT,
                                   json_integer_value(value));
        break;
    case JSON_REAL:
        *length =
            (size_t)snprintf(pick->number, sizeof(pick->number), "%.17g", json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        *length = (size_t)snprintf(pick->number, sizeof(pick->number), "%s",
                                   json_is_null(value)   ? "null"
                                   : json_is_true(value) ? "true"
                                                         : "false");
        break;
    case JSON_OBJECT:
    case JSON_ARRAY:
    default:
        return WEIR__PICK_MISSING;
    }
    *data = pick->number;
    return WEIR__PICKED;
}

static weir__picked pick_field(weir__pick *pick, const void *line, size_t size, const char **data,
                               size_t *length)
{
    json_decref(pick->root);
    pick->root = json_loadb(line, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (pick->root == NULL) {
        return WEIR__PICK_NOT_JSON;
    }
    const json_t *value = pick->root;
    for (size_t i = 0; i < pick->step_count && value != NULL; i++) {
        const step *at = &pick->steps[i];
        value = json_is_array(value) && at->index != SIZE_MAX
                    ? json_array_get(value, at->index)
                    : json_object_get(value, at->name); /* NULL of what is no object */
    }
    return value != NULL ? scalar(pick, value, data, length) : WEIR__PICK_MISSING;
}

static weir__picked pick_group(weir__pick *pick, const void *line, size_t size, const char **data,
                               size_t *length)
{
    const int found = pcre2_match(pick->code, line, size, 0, 0, pick->match, pick->context);
    if (found == PCRE2_ERROR_NOMATCH) {
        return WEIR__PICK_MISSING;
    }
    if (found < 0) {
        return WEIR__PICK_GAVE_UP;
    }
    const PCRE2_SIZE *places = pcre2_get_ovector_pointer(pick->match);
    const PCRE2_SIZE begin = places[2 * (size_t)pick->group];
    const PCRE2_SIZE end = places[2 * (size_t)pick->group + 1];
    if (begin == PCRE2_UNSET || end < begin) {
        return WEIR__PICK_MISSING; /* a group of the branch that did not match; \K in a lookahead */
    }
    *data = (const char *)line + begin;
    *length = end - begin;
    return WEIR__PICKED;
}

weir__picked weir__pick_run(weir__pick *pick, const void *line, size_t size, const char **data,
                            size_t *length)
{
    if (pick->step_count != 0) {
        return pick_field(pick, line, size, data, length);
    }
    if (pick->code != NULL) {
        return pick_group(pick, line, size, data, length);
    }
    *data = line;
    *length = size;
    return WEIR__PICKED;
}

const char *weir__picked_text(weir__picked picked)
{
    static const char *const texts[] = {
        [WEIR__PICKED] = "found",
        [WEIR__PICK_MISSING] = "is not there",
        [WEIR__PICK_NOT_JSON] = "line is not JSON",
        [WEIR__PICK_GAVE_UP] = "pattern took too long",
    };
    return texts[picked];
}
