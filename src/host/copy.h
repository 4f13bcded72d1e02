/*
 * host/copy.h - a config struct and all that it points to, copied by the table of its options.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_HOST_COPY_H
#define WEIR_HOST_COPY_H

#include "weir/component.h"

/* What a config points to: freed together. */
typedef struct weir__config_copy {
    struct weir__config_part *parts;
    void *config; /* NULL: the type has none */
} weir__config_copy;

/* `config` NULL: the table's fallbacks. `name` stands in messages. */
weir_status weir__config_copy_make(const weir_allocator *allocator, const weir_component_type *type,
                                   const void *config, const char *name, weir__config_copy *out,
                                   weir_error *error);
void weir__config_copy_free(const weir_allocator *allocator, weir__config_copy *copy);
/* Calls `visit` with every target of the config that has a name, until it answers false. */
typedef bool (*weir__target_visitor)(void *context, const char *key, weir_target *target);
bool weir__config_targets(const weir_component_type *type, void *config, weir__target_visitor visit,
                          void *context);

#endif /* WEIR_HOST_COPY_H */
