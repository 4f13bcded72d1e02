/*
 * connect/types.h - the component types that the command brings: sources, sinks, processors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_TYPES_H
#define WEIR_CONNECT_TYPES_H

#include "weir/plugin.h"

/* All of them, as a plugin that is linked in. */
extern const weir_plugin weir__connect_plugin;

/* sources */
extern const weir_component_type weir__generator_type;
extern const weir_component_type weir__tcp_type;
extern const weir_component_type weir__timer_type;
extern const weir_component_type weir__udp_type;
extern const weir_component_type weir__unix_type;

/* sinks */
extern const weir_component_type weir__discard_type;
extern const weir_component_type weir__tcp_sink_type;
extern const weir_component_type weir__udp_sink_type;

/* processors */
extern const weir_component_type weir__fan_out_type;

#endif /* WEIR_CONNECT_TYPES_H */
