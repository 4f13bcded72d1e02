/*
 * connect/builtin.h - the processors that weir brings along. Few: anything else is a plugin.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_BUILTIN_H
#define WEIR_CONNECT_BUILTIN_H

#include "weir/component.h"

extern const weir_component_type weir__log_component, weir__count_component, weir__filter_component,
    weir__key_by_component;

#endif /* WEIR_CONNECT_BUILTIN_H */
