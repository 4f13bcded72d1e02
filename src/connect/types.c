/*
 * connect/types.c - the list of component types that the command brings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/types.h"

#include "connect/builtin.h"
#include "connect/files.h"
#include "weir/memory.h"

/* By name; one a line, so that two who add one do not meet. */
/* clang-format off */
static const weir_component_type *const types[] = {
    &weir__count_component,
    &weir__discard_type, /* not "null": that is no text in a file */
    &weir__fan_out_type,
    &weir__file_type,
    &weir__file_sink_type,
    &weir__filter_component,
    &weir__generator_type,
    &weir__key_by_component,
    &weir__log_component,
    &weir_memory_type,
    &weir_memory_sink_type,
    &weir_pipe_type,
    &weir__stdin_type,
    &weir__stdout_type,
    &weir__tcp_type,
    &weir__tcp_sink_type,
    &weir__timer_type,
    &weir__udp_type,
    &weir__udp_sink_type,
    &weir__unix_type,
};
/* clang-format on */

const weir_plugin weir__connect_plugin = {
    WEIR_PLUGIN_HEAD,   .name = "weir",
    .version = "0.1.0", .help = "what the command brings",
    .types = types,     .type_count = sizeof(types) / sizeof(types[0]),
};
