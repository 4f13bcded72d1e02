/*
 * tree/problem.h - what is wrong with a configuration: all of it, each with its place.
 *
 * A reader goes on after a mistake where it can, and puts every finding here. Sources are shown in
 * the order in which they were read, and the findings of one in the order of its lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TREE_PROBLEM_H
#define WEIR_TREE_PROBLEM_H

#include "weir/base.h"
#include "weir/error.h"

/* Where something was written. Zeroed: nowhere in particular. */
typedef struct weir__origin {
    const char *source; /* a file as it was named, or "environment", "-D", "built-in" */
    uint32_t line;      /* from 1; 0: the source has no lines */
    uint32_t column;    /* from 1, in characters */
} weir__origin;

typedef enum weir__severity { WEIR__NOTE, WEIR__WARNING, WEIR__ERROR } weir__severity;

typedef struct weir__problem {
    weir__severity severity;
    weir__origin origin;
    const char *path; /* of the key, "" if none */
    const char *text; /* what is wrong, then what would be right */
} weir__problem;

/* Zeroed memory with an allocator is an empty list. */
typedef struct weir__problems {
    const weir_allocator *allocator;
    weir__problem *items;
    size_t count, capacity;
    size_t errors;      /* how many of them are errors */
    size_t left_out;    /* errors beyond WEIR__PROBLEMS_MAX: a file of garbage is not worth more */
    bool out_of_memory; /* something could not be kept; counts as an error */
} weir__problems;

#define WEIR__PROBLEMS_MAX 200u

/* Copies all texts. `path` may be NULL. Never fails: see out_of_memory. Control characters and
 * what is not UTF-8 are shown escaped, so that a hostile file cannot write to a terminal. */
__attribute__((format(printf, 5, 6))) void weir__problems_add(weir__problems *problems,
                                                              weir__severity severity,
                                                              weir__origin origin, const char *path,
                                                              const char *format, ...);
/* No memory for the work itself. */
void weir__problems_memory(weir__problems *problems);
bool weir__problems_failed(const weir__problems *problems);
/* By source (in order of first mention), line, column; what stands at one place keeps its order.
 * The same finding twice at one place becomes one. */
void weir__problems_sort(weir__problems *problems);
/* "app.conf:12:5: weir.engine.backoff.multiplier: 0.9 is not > 1.0" without the parts that are
 * empty; warnings and notes say "warning: " or "note: " before the text. Cut at `size`; returns the
 * full length, as snprintf does. */
size_t weir__problem_format(const weir__problem *problem, char *buffer, size_t size);
/* The first error as a weir_error (its status E_CONFIG, or E_NOMEM); returns its status, or OK if
 * there is none. */
weir_status weir__problems_error(const weir__problems *problems, weir_error *error);
void weir__problems_close(weir__problems *problems);

#endif /* WEIR_TREE_PROBLEM_H */
