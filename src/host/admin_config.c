/*
 * host/admin_config.c - the built-in command that shows the settings in effect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "engine/reshape.h"
#include "host/admin.h"
#include "settings/show.h"

static bool visit_setting(void *context, const weir__shown *shown)
{
    weir_admin_call *call = context;
    char origin[160];
    const char *prefix = weir_admin_argument(call, 0);
    if (prefix != NULL && strncmp(shown->path, prefix, strlen(prefix)) != 0) {
        return true;
    }
    weir__origin_text(shown->origin, origin, sizeof(origin));
    weir_admin_row(call);
    weir_admin_text(call, "key", shown->path);
    weir_admin_text(call, "value", shown->value);
    weir_admin_text(call, "from", origin);
    return !weir__admin_is_full(call);
}

weir_status weir__admin_config_show(void *context, weir_admin_call *call)
{
    (void)context;
    weir__configured *configured;
    if (!weir__engine_configure_lock(call->engine, &configured)) {
        return WEIR_E_INVALID;
    }
    weir_config *config = configured->config;
    if (config != NULL) {
        weir__config_retain(config);
    }
    weir__engine_configure_unlock(call->engine);
    if (config == NULL) {
        return weir_admin_fail(call, WEIR_UNKNOWN, "this engine was not made from a configuration");
    }
    const bool shown = weir__show(config, visit_setting, call);
    weir__config_release(config);
    return shown || weir__admin_is_full(call) ? WEIR_OK : WEIR_E_NOMEM;
}
