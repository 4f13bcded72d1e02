/*
 * host/descriptor.h - whether a plugin's tables are such that the rest may rely on them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_HOST_DESCRIPTOR_H
#define WEIR_HOST_DESCRIPTOR_H

#include "weir/plugin.h"

/* A type, copied over a zeroed one of ours, and checked; `where` stands in messages before its
 * name: "plugin market: " or "". */
weir_status weir__type_check(const weir_component_type *type, const char *where,
                             weir_component_type *out, weir_error *error);
/* Runs its load hook, unless that has been. */
weir_status weir__plugin_load_once(const weir_plugin *plugin, weir_error *error);

#endif /* WEIR_HOST_DESCRIPTOR_H */
