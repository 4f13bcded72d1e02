/*
 * cli/admin_show.c - an answer for people: rows of the same keys as a table, one row alone as a
 * list.
 *
 * Names come from whoever runs the server, and what they contain must not steer the terminal: what
 * is no letter is shown as '?'.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/admin.h"
#include "cli/command.h"

#define COLUMNS_MAX 64u

/* ---- one value ---- */

static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80 ? 1 : 0;
    }
    return width;
}

/* For free(); NULL: no memory. */
static char *text_of(const json_t *value)
{
    if (!json_is_string(value)) {
        return json_is_null(value) || value == NULL
                   ? strdup("-")
                   : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    }
    char *text = strdup(json_string_value(value));
    for (unsigned char *c = (unsigned char *)text; c != NULL && *c != '\0'; c++) {
        if (*c < 0x20 || *c == 0x7f) {
            *c = '?';
        } else if (*c == 0xc2 && c[1] < 0xa0) { /* U+0080 to U+009F: controls, too */
            c[0] = c[1] = '?';
        }
    }
    return text;
}

static void print_padded(const json_t *value, size_t width, bool last)
{
    char *text = text_of(value);
    const char *shown = text != NULL ? text : "?";
    const size_t used = width_of(shown);
    const size_t padding = used < width ? width - used : 0;
    const bool number = json_is_number(value);
    printf("%*s%s%*s%s", number ? (int)padding : 0, "", shown, number || last ? 0 : (int)padding,
           "", last ? "\n" : "  ");
    free(text);
}

/* ---- rows ---- */

static bool same_keys(json_t *a, json_t *b)
{
    void *i = json_object_iter(a);
    void *k = json_object_iter(b);
    while (i != NULL && k != NULL &&
           strcmp(json_object_iter_key(i), json_object_iter_key(k)) == 0) {
        i = json_object_iter_next(a, i);
        k = json_object_iter_next(b, k);
    }
    return i == NULL && k == NULL;
}

/* The longest run of rows with the same keys from `first` on. */
static size_t run_from(const json_t *rows, size_t first)
{
    const size_t count = json_array_size(rows);
    size_t end = first + 1;
    while (end < count && same_keys(json_array_get(rows, first), json_array_get(rows, end))) {
        end++;
    }
    return end;
}

static size_t measure(const json_t *rows, size_t first, size_t end, const char **keys,
                      size_t *widths)
{
    size_t columns = 0;
    const char *key;
    json_t *value;
    json_object_foreach(json_array_get(rows, first), key, value)
    {
        if (columns < COLUMNS_MAX) {
            keys[columns] = key;
            widths[columns++] = width_of(key);
        }
    }
    for (size_t i = first; i < end; i++) {
        for (size_t k = 0; k < columns; k++) {
            char *text = text_of(json_object_get(json_array_get(rows, i), keys[k]));
            const size_t width = text != NULL ? width_of(text) : 0;
            widths[k] = width > widths[k] ? width : widths[k];
            free(text);
        }
    }
    return columns;
}

static void print_table(const json_t *rows, size_t first, size_t end)
{
    const char *keys[COLUMNS_MAX];
    size_t widths[COLUMNS_MAX];
    const size_t columns = measure(rows, first, end, keys, widths);
    for (size_t k = 0; k < columns; k++) {
        const json_t *value = json_object_get(json_array_get(rows, first), keys[k]);
        const size_t padding = widths[k] - width_of(keys[k]);
        const bool last = k + 1 == columns;
        printf("%*s%s%*s%s", json_is_number(value) ? (int)padding : 0, "", keys[k],
               json_is_number(value) || last ? 0 : (int)padding, "", last ? "\n" : "  ");
    }
    for (size_t i = first; i < end; i++) {
        for (size_t k = 0; k < columns; k++) {
            print_padded(json_object_get(json_array_get(rows, i), keys[k]), widths[k],
                         k + 1 == columns);
        }
    }
}

static void print_list(json_t *row)
{
    size_t width = 0;
    const char *key;
    json_t *value;
    json_object_foreach(row, key, value)
    {
        width = width_of(key) > width ? width_of(key) : width;
    }
    json_object_foreach(row, key, value)
    {
        char *text = text_of(value);
        printf("%s:%*s%s\n", key, (int)(width - width_of(key)) + 1, "", text != NULL ? text : "?");
        free(text);
    }
}

static void print_rows(const json_t *rows)
{
    const size_t count = json_array_size(rows);
    if (count == 1) {
        print_list(json_array_get(rows, 0));
        return;
    }
    for (size_t first = 0; first < count;) {
        const size_t end = run_from(rows, first);
        if (first > 0) {
            printf("\n");
        }
        print_table(rows, first, end);
        first = end;
    }
}

/* ---- the answer ---- */

/* Wrong usage rather than a failure of the command: it was not called at all. */
static bool is_usage(const char *status, const char *error)
{
    return strcmp(status, "WEIR_E_INVALID") == 0 ||
           (strcmp(status, "WEIR_UNKNOWN") == 0 && strncmp(error, "no command ", 11) == 0);
}

int weir__admin_show(const char *program, const char *answer, bool json)
{
    json_error_t wrong;
    json_t *document = json_loads(answer, 0, &wrong);
    if (document == NULL) { /* a number beyond 63 bits is no integer of jansson's */
        document = json_loads(answer, JSON_DECODE_INT_AS_REAL, &wrong);
    }
    const char *status = json_string_value(json_object_get(document, "status"));
    json_t *said = json_object_get(document, "error");
    if (status == NULL) {
        fprintf(stderr, "%s: the answer is not one of weir's\n", program);
        json_decref(document);
        return WEIR__EXIT_FAILED;
    }
    const char *error = json_is_string(said) ? json_string_value(said) : "";
    int exit_status = WEIR__EXIT_OK;
    if (strcmp(status, "WEIR_OK") != 0) {
        exit_status = is_usage(status, error) ? WEIR__EXIT_USAGE : WEIR__EXIT_FAILED;
    }
    if (json) {
        printf("%s\n", answer);
    } else {
        print_rows(json_object_get(document, "rows"));
        char *text = exit_status != WEIR__EXIT_OK ? text_of(said) : NULL;
        if (text != NULL) {
            fprintf(stderr, "%s: %s\n", program, text);
        }
        free(text);
        if (json_is_true(json_object_get(document, "cut"))) {
            fprintf(stderr, "%s: the answer was too long; what is missing was cut off\n", program);
        }
    }
    json_decref(document);
    return exit_status;
}
