/*
 * tree/problem.c - collects findings, puts them in order, and makes them fit to be printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tree/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"

enum { TEXT_MAX = 980, CAPACITY_FIRST = 8 };

/* Whether a character shows itself and nothing else: a terminal acts upon controls, and marks
 * without a width or that turn the direction of writing show another text than the one that is
 * there. */
static bool is_plain(const unsigned char *s)
{
    if (s[0] < 0x80) {
        return s[0] >= 0x20 && s[0] != 0x7f;
    }
    const bool control = s[0] == 0xc2 && s[1] < 0xa0;
    const bool mark = (s[0] == 0xd8 && s[1] == 0x9c) ||
                      (s[0] == 0xef && s[1] == 0xbb && s[2] == 0xbf) ||
                      (s[0] == 0xe2 && s[1] == 0x80 && s[2] >= 0x8b && s[2] <= 0x8f) ||
                      (s[0] == 0xe2 && s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) ||
                      (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf);
    return !control && !mark;
}

/* A copy in which everything can be shown: others become \xNN. What is longer than TEXT_MAX is cut.
 * NULL: no memory. */
static char *shown(const weir_allocator *allocator, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    const size_t length = strnlen(text, TEXT_MAX);
    char copy[4 * TEXT_MAX + 4];
    size_t used = 0, at = 0;
    while (at < length) {
        /* The whole of a character that the bound splits has to be there, to be left out whole. */
        const size_t step = weir__utf8_check(s + at, strnlen(text + at, 4));
        if (at + step > length || used + (step != 0 ? step : 4) > TEXT_MAX) {
            break;
        }
        if (step != 0 && is_plain(s + at)) {
            memcpy(copy + used, s + at, step);
            used += step;
            at += step;
            continue;
        }
        for (size_t end = at + (step != 0 ? step : 1); at < end; at++) {
            used += (size_t)snprintf(copy + used, sizeof(copy) - used, "\\x%02x", s[at]);
        }
    }
    used += (size_t)snprintf(copy + used, sizeof(copy) - used, "%s", s[at] != '\0' ? "..." : "");
    char *kept = weir__allocate_raw(allocator, used + 1);
    if (kept != NULL) {
        memcpy(kept, copy, used + 1);
    }
    return kept;
}

static void release(const weir_allocator *allocator, const char *text)
{
    if (text != NULL) {
        weir__release(allocator, (void *)(uintptr_t)text, strlen(text) + 1);
    }
}

static void release_problem(const weir_allocator *allocator, const weir__problem *problem)
{
    release(allocator, problem->origin.source);
    release(allocator, problem->path);
    release(allocator, problem->text);
}

static bool make_room(weir__problems *problems)
{
    if (problems->count < problems->capacity) {
        return true;
    }
    const size_t capacity = problems->capacity == 0 ? CAPACITY_FIRST : problems->capacity * 2;
    weir__problem *items = weir__allocate(problems->allocator, capacity * sizeof(*items));
    if (items == NULL) {
        return false;
    }
    if (problems->count > 0) {
        memcpy(items, problems->items, problems->count * sizeof(*items));
    }
    weir__release(problems->allocator, problems->items, problems->capacity * sizeof(*items));
    problems->items = items;
    problems->capacity = capacity;
    return true;
}

void weir__problems_add(weir__problems *problems, weir__severity severity, weir__origin origin,
                        const char *path, const char *format, ...)
{
    /* Half of the room is for errors: no number of notes and warnings hides one. */
    const size_t kept_errors = problems->errors - problems->left_out;
    if (severity == WEIR__ERROR ? problems->count >= WEIR__PROBLEMS_MAX
                                : problems->count - kept_errors >= WEIR__PROBLEMS_MAX / 2 ||
                                      problems->count >= WEIR__PROBLEMS_MAX) {
        problems->left_out += severity == WEIR__ERROR ? 1 : 0;
        problems->errors += severity == WEIR__ERROR ? 1 : 0;
        return;
    }
    char text[TEXT_MAX + 8]; /* longer than what is shown, so that a cut is seen */
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(text, sizeof(text), format, arguments) < 0) {
        snprintf(text, sizeof(text), "%s", format);
    }
    va_end(arguments);
    weir__problem problem = { .severity = severity, .origin = origin };
    problem.origin.source = shown(problems->allocator, origin.source != NULL ? origin.source : "");
    problem.path = shown(problems->allocator, path != NULL ? path : "");
    problem.text = shown(problems->allocator, text);
    if (problem.origin.source == NULL || problem.path == NULL || problem.text == NULL ||
        !make_room(problems)) {
        release_problem(problems->allocator, &problem);
        problems->out_of_memory = true;
        return;
    }
    problems->items[problems->count++] = problem;
    problems->errors += severity == WEIR__ERROR ? 1 : 0;
}

void weir__problems_memory(weir__problems *problems)
{
    problems->out_of_memory = true;
}

bool weir__problems_failed(const weir__problems *problems)
{
    return problems->errors > 0 || problems->out_of_memory;
}

/* --- order ------------------------------------------------------------------------------------ */

static size_t first_of_source(const weir__problems *problems, const weir__problem *problem)
{
    size_t i = 0;
    while (strcmp(problems->items[i].origin.source, problem->origin.source) != 0) {
        i++;
    }
    return i;
}

static bool before(const weir__problem *a, const weir__problem *b)
{
    if (a->origin.line != b->origin.line) {
        return a->origin.line < b->origin.line;
    }
    return a->origin.column < b->origin.column;
}

static bool same(const weir__problem *a, const weir__problem *b)
{
    return a->severity == b->severity && a->origin.line == b->origin.line &&
           a->origin.column == b->origin.column &&
           strcmp(a->origin.source, b->origin.source) == 0 && strcmp(a->path, b->path) == 0 &&
           strcmp(a->text, b->text) == 0;
}

/* Takes item i to place `to` before it. */
static void move_up(weir__problems *problems, size_t i, size_t to)
{
    const weir__problem item = problems->items[i];
    memmove(problems->items + to + 1, problems->items + to, (i - to) * sizeof(item));
    problems->items[to] = item;
}

static void remove_doubles(weir__problems *problems)
{
    size_t kept = 0;
    for (size_t i = 0; i < problems->count; i++) {
        bool double_of_one = false;
        for (size_t j = kept;
             j-- > 0 && !double_of_one && !before(&problems->items[j], &problems->items[i]);) {
            double_of_one = same(&problems->items[j], &problems->items[i]);
        }
        if (double_of_one) {
            problems->errors -= problems->items[i].severity == WEIR__ERROR ? 1 : 0;
            release_problem(problems->allocator, &problems->items[i]);
        } else {
            problems->items[kept++] = problems->items[i];
        }
    }
    problems->count = kept;
}

/* There are WEIR__PROBLEMS_MAX at most: sorting by insertion will do, and keeps equals in order. */
void weir__problems_sort(weir__problems *problems)
{
    /* The sources together first, then each by its lines. */
    for (size_t i = 1; i < problems->count; i++) {
        const size_t first = first_of_source(problems, &problems->items[i]);
        size_t to = i;
        while (to > first + 1 && strcmp(problems->items[to - 1].origin.source,
                                        problems->items[i].origin.source) != 0) {
            to--;
        }
        move_up(problems, i, to);
    }
    for (size_t i = 1; i < problems->count; i++) {
        size_t to = i;
        while (to > 0 &&
               strcmp(problems->items[to - 1].origin.source, problems->items[i].origin.source) ==
                   0 &&
               before(&problems->items[i], &problems->items[to - 1])) {
            to--;
        }
        move_up(problems, i, to);
    }
    remove_doubles(problems);
}

/* --- what is shown ---------------------------------------------------------------------------- */

size_t weir__problem_format(const weir__problem *problem, char *buffer, size_t size)
{
    static const char *const words[] = { "note: ", "warning: ", "" };
    char place[32] = "";
    if (problem->origin.line != 0 && problem->origin.column != 0) {
        snprintf(place, sizeof(place), ":%u:%u", problem->origin.line, problem->origin.column);
    } else if (problem->origin.line != 0) {
        snprintf(place, sizeof(place), ":%u", problem->origin.line);
    }
    const bool from = problem->origin.source[0] != '\0', path = problem->path[0] != '\0';
    const int length =
        snprintf(buffer, size, "%s%s%s%s%s%s%s", problem->origin.source, place, from ? ": " : "",
                 problem->path, path ? ": " : "", words[problem->severity], problem->text);
    return length > 0 ? (size_t)length : 0;
}

weir_status weir__problems_error(const weir__problems *problems, weir_error *error)
{
    for (size_t i = 0; i < problems->count; i++) {
        const weir__problem *problem = &problems->items[i];
        if (problem->severity != WEIR__ERROR) {
            continue;
        }
        if (error != NULL && error->status == WEIR_OK) {
            weir__error_at(error, WEIR_E_CONFIG, problem->path, "%s", problem->text);
            error->line = problem->origin.line;
            error->column = problem->origin.column;
            snprintf(error->file, sizeof(error->file), "%s", problem->origin.source);
        }
        return WEIR_E_CONFIG;
    }
    return problems->out_of_memory ? weir__error_memory(error, "configuration") : WEIR_OK;
}

void weir__problems_close(weir__problems *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        release_problem(problems->allocator, &problems->items[i]);
    }
    weir__release(problems->allocator, problems->items,
                  problems->capacity * sizeof(*problems->items));
    const weir_allocator *allocator = problems->allocator;
    *problems = (weir__problems){ .allocator = allocator };
}
