/*
 * settings/latency.c - which processors a configuration measures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings/latency.h"

#include <string.h>

#include "engine/latency_tune.h"

static bool has(const weir__engine_settings *settings, const char *pattern)
{
    const char *const *at = settings != NULL ? settings->latency : NULL;
    while (at != NULL && *at != NULL && strcmp(*at, pattern) != 0) {
        at++;
    }
    return at != NULL && *at != NULL;
}

static void say(weir_engine *engine, const char *pattern, weir_status status)
{
    const weir_log_field fields[] = { { "key", WEIR__ENGINE_PATH ".latency" },
                                      { "pattern", pattern },
                                      { "reason", weir_status_text(status) } };
    weir_log_write(engine, WEIR_LOG_WARNING, "config", "not all of these are measured", fields, 3);
}

void weir__settings_latency(weir_engine *engine, const weir__engine_settings *before,
                            const weir__engine_settings *after)
{
    weir__engine_latency(engine,
                         after->latency_every != 0 ? (uint32_t)after->latency_every : UINT32_MAX,
                         (uint32_t)after->latency_max_processors);
    for (const char *const *p = before != NULL ? before->latency : NULL; p != NULL && *p != NULL;
         p++) {
        if (!has(after, *p)) {
            (void)weir_latency_disable(engine, *p, NULL);
        }
    }
    for (const char *const *p = after->latency; p != NULL && *p != NULL; p++) {
        const weir_status status =
            has(before, *p) ? WEIR_OK : weir_latency_enable(engine, *p, NULL);
        if (status != WEIR_OK) {
            say(engine, *p, status);
        }
    }
}
