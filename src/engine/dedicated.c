/*
 * engine/dedicated.c - a dispatcher and a thread for one processor alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "engine/engine.h"
#include "engine/options.h"

weir__thread *weir__engine_dedicated_thread(weir_engine *engine, const char *name,
                                            weir_error *error)
{
    /* Others are put onto dispatchers by name, but never onto one of this kind. */
    static const char *const dispatchers[] = { "\ndedicated", NULL };
    char thread_name[64] = "";
    if (name != NULL) {
        (void)snprintf(thread_name, sizeof(thread_name), "%.60s", name);
    }
    const bool chosen = thread_name[0] != '\0' && weir__thread_by_name(engine, thread_name) == NULL;
    weir_thread_options options;
    if (weir__options_thread(
            WEIR_THREAD(.name = chosen ? thread_name : NULL, .dispatchers = dispatchers), &options,
            error) != WEIR_OK) {
        return NULL;
    }
    return weir__thread_create(engine, &options, true, error);
}

weir_status weir__engine_start_dedicated(weir_engine *engine, weir__thread *thread,
                                         weir_error *error)
{
    if (weir__engine_phase(engine) == WEIR__CREATED) {
        return WEIR_OK;
    }
    const weir_status status = weir__thread_start(thread, error);
    /* A thread that fails to settle in would leave a processor that accepts and never handles. */
    return status == WEIR_OK ? weir__thread_await(thread, error) : status;
}
