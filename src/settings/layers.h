/*
 * settings/layers.h - from files, environment and overrides to one resolved tree.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SETTINGS_LAYERS_H
#define WEIR_SETTINGS_LAYERS_H

#include "settings/config.h"

/* NULL: see config->problems. */
weir__tree *weir__layers_resolve(weir_config *config, const weir__request *request);

/* WEIR__ENGINE__DEFAULT_QUEUE_SIZE -> weir.engine.default-queue-size, as a path of HOCON. False:
 * not a name of that kind, or too long; `out` then says why, or is empty: it is nobody's. */
bool weir__environment_path(const char *name, char *out, size_t size);

#endif /* WEIR_SETTINGS_LAYERS_H */
