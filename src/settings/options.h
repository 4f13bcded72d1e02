/*
 * settings/options.h - settings as option structs, for those inside.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SETTINGS_OPTIONS_H
#define WEIR_SETTINGS_OPTIONS_H

#include "settings/table.h"

/* Leaves alone what no file can say. */
void weir__engine_options_of(const weir__engine_settings *settings, weir_engine_options *options);
void weir__dispatcher_options_of(const weir__dispatcher_settings *settings,
                                 weir_dispatcher_options *options);
/* NULL: nothing is said of it. */
const weir__processor_settings *weir__processor_settings_of(const weir_config *config,
                                                            const char *name);
const weir__flow_settings *weir__flow_settings_of(const weir_config *config, const char *name);

#endif /* WEIR_SETTINGS_OPTIONS_H */
