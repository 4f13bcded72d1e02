/*
 * connect/passing.h - what the built-in processors have in common: they pass events on.
 *
 * One that finds no room ahead answers FULL, and the engine comes again with the same event: so it
 * waits, in order, and nothing is lost. An event that is not what the processor looks for is no
 * failure, or it would be tried for ever: it is counted and reported.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_PASSING_H
#define WEIR_CONNECT_PASSING_H

#include <string.h>

#include "connect/payload.h"
#include "weir/plugin.h"
#include "weir/turn.h"

/* Of a processor that says what it does in `options`. */
#define WEIR__PROCESSOR_TYPE(T, type_name, rows, ...)                                              \
    .struct_size = sizeof(weir_component_type), .kind = WEIR_KIND_PROCESSOR, .name = type_name,    \
    .state_size = sizeof(T), .config_size = sizeof(T##_config), .options = (rows),                 \
    .option_count = sizeof(rows) / sizeof((rows)[0]), WEIR_PASSES_ON, __VA_ARGS__

/* What a target answered, as a handler's answer: who is gone for good is no reason to come
 * again. */
static inline weir_status weir__passing_status(weir_status status)
{
    return status == WEIR_STOPPING || status == WEIR_UNKNOWN ? WEIR_OK : status;
}

#endif /* WEIR_CONNECT_PASSING_H */
