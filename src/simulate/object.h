/*
 * simulate/object.h - what kind of file it is that is to be simulated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SIMULATE_OBJECT_H
#define WEIR_SIMULATE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct weir__object {
    bool is_program; /* else a shared object */
    bool is_static;  /* a program that no library can be put into */
    bool needs_sim;  /* it asks for libweir-sim by itself */
} weir__object;

/* False: it cannot be read or is none of these; `why` says so, as the end of a sentence that begins
 * with the file's name. */
bool weir__object_read(const char *path, weir__object *out, char *why, size_t why_size);

#endif /* WEIR_SIMULATE_OBJECT_H */
