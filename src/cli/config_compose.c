/*
 * cli/config_compose.c - loads a configuration with the keys of its components' types.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/config_settings.h"
#include "server/compose.h"

enum { LOADED_MAX = 2 }; /* as many as `weir config diff` looks at */

/* The tables of a config are its composition's. */
static weir__composition *loaded[LOADED_MAX];

weir_config *weir__config_line_make(const weir__request *request, weir_error *error)
{
    weir__composition *composition = weir__compose(request, error);
    for (size_t i = 0; composition != NULL && i < LOADED_MAX; i++) {
        if (loaded[i] == NULL) {
            loaded[i] = composition;
            return composition->config;
        }
    }
    weir__composition_destroy(composition);
    return NULL;
}

weir__composition *weir__config_line_take(weir_config *config)
{
    for (size_t i = 0; config != NULL && i < LOADED_MAX; i++) {
        if (loaded[i] != NULL && loaded[i]->config == config) {
            weir__composition *composition = loaded[i];
            loaded[i] = NULL;
            return composition;
        }
    }
    return NULL;
}

void weir__config_line_unload(weir_config *config)
{
    weir__composition_destroy(weir__config_line_take(config));
}
