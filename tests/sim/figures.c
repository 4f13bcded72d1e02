/*
 * figures.c - a figure of the application's own is removed while others read it: no read begins or
 * goes on after the removal has returned.
 *
 * Only the figures are read here, not all that is in a scrape: that asks the system.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include "metric/metric.h"

static weir_engine *engine;
/* Plain on purpose: what the figure reads, and what its owner takes away after the removal. */
static uint32_t alive, inside, value;

static double read_value(void *context)
{
    (void)context;
    weir_sim_check(alive == 1, "it is read although it was removed");
    inside++;
    weir_sim_work(WEIR_US);
    inside--;
    return value;
}

static double read_other(void *context)
{
    (void)context;
    return 1;
}

static void read_all(void *unused)
{
    (void)unused;
    weir__figures f = { .engine = engine, .allocator = &engine->allocator };
    weir__figures_own(&f);
    weir_sim_check(f.own.count >= 1 || f.failed, "the other figure was not read");
    weir__figures_close(&f);
}

static void remove_it(void *unused)
{
    (void)unused;
    const weir_status status = weir_metric_remove(engine, "one", NULL);
    weir_sim_check(status == WEIR_OK, "the removal answers %d", status);
    weir_sim_check(inside == 0, "removed while it is read");
    alive = 0;
    value = 0; /* a race, if somebody reads it still */
}

SCENARIO(figure_removed, "a figure is removed under a read: its owner may go then")
{
    weir_error error = WEIR_ERROR_INIT;
    weir_sim_quiet(true);
    alive = value = 1;
    inside = 0;
    engine = weir_engine_create(
        WEIR_ENGINE(.processors_max = 16, .mailbox_max = 8, .log_level = WEIR_LOG_OFF), &error);
    weir_metric_add(
        engine,
        WEIR_METRIC(.kind = WEIR_METRIC_GAUGE, .name = "one", .help = "h", .read = read_value),
        &error);
    weir_metric_add(
        engine,
        WEIR_METRIC(.kind = WEIR_METRIC_GAUGE, .name = "two", .help = "h", .read = read_other),
        &error);
    weir_sim_check(error.status == WEIR_OK || stage_is_short(), "no figure: %s", error.text);
    weir_sim_quiet(false);
    if (error.status == WEIR_OK) {
        const int reader = weir_sim_thread_start(read_all, NULL);
        const int remover = weir_sim_thread_start(remove_it, NULL);
        weir_sim_thread_join(reader);
        weir_sim_thread_join(remover);
        read_all(NULL);
    }
    weir_sim_quiet(true);
    weir_engine_destroy(engine);
}
