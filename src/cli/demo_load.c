/*
 * cli/demo_load.c - builds the world of `weir demo` and takes it down; demo_actors.c and
 * demo_producers.c make it move.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/demo_load.h"

#include <stdlib.h>

const char *const weir__demo_dispatchers[WEIR__DEMO_DISPATCHERS] = { "", "api", "realtime",
                                                                     "batch" };

/* The assignment, a row a thread. The first three serve everything; each core more adds the next
 * row, and the rows overlap, so that a busy dispatcher gets help where others are quiet. */
enum { ROW_COUNT = 6, ROW_NAMES = 3, THREADS_MIN = 3 };
static const char *const rows[ROW_COUNT][ROW_NAMES] = {
    { "realtime", "api", NULL }, { "api", "", NULL }, { "batch", "", NULL },
    { "api", "realtime", NULL }, { "", "api", NULL }, { "realtime", "batch", NULL },
};

static void assign_threads(weir__demo_load *load, weir_error *error)
{
    const uint32_t cores = weir__cores_usable();
    load->threads = cores < WEIR__DEMO_THREADS_MAX ? cores : WEIR__DEMO_THREADS_MAX;
    load->threads = load->threads > THREADS_MIN ? load->threads : THREADS_MIN;
    for (uint32_t i = 0; i < load->threads; i++) {
        load->rows[i] = rows[i % ROW_COUNT];
    }
    weir_assign(load->engine, load->rows, error);
}

/* The importer's failures are part of the show, and a log line would tear the table. */
static weir_engine *create_engine(weir__demo_load *load, weir_error *error)
{
    if (!load->stuck) {
        return weir_engine_create(WEIR_ENGINE(.name = "demo", .log_level = WEIR_LOG_ERROR), error);
    }
    return weir_engine_create(WEIR_ENGINE(.name = "demo", .log = weir__demo_reports_hook,
                                          .log_context = &load->reports,
                                          .stuck_after = WEIR__DEMO_STUCK_AFTER),
                              error);
}

weir__demo_load *weir__demo_load_create(bool stuck, weir_error *error)
{
    weir__demo_load *load = calloc(1, sizeof(*load));
    if (load == NULL) {
        weir_error_set(error, WEIR_E_NOMEM, "weir demo", "no memory for the load");
        return NULL;
    }
    load->stuck = stuck;
    load->engine = create_engine(load, error);
    assign_threads(load, error);
    weir__demo_actors_add(load, error);
    if (error->status != WEIR_OK) {
        weir__demo_load_destroy(load);
        return NULL;
    }
    return load;
}

weir_status weir__demo_load_start(weir__demo_load *load, weir_error *error)
{
    weir_engine_start(load->engine, error);
    weir__demo_timers_add(load, error);
    weir__demo_producers_start(load, error);
    return error->status;
}

weir_status weir__demo_load_stop(weir__demo_load *load)
{
    weir__demo_producers_stop(load);
    return weir_engine_stop(load->engine, 0, NULL);
}

void weir__demo_load_destroy(weir__demo_load *load)
{
    if (load == NULL) {
        return;
    }
    weir__demo_producers_stop(load);
    weir_engine_destroy(load->engine);
    free(load);
}
