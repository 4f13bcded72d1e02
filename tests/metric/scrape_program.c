/*
 * scrape_program.c - prints the metrics of an engine that has something of everything, for promtool
 * to look at (contract/metrics.py). With a number: so many processors more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include <weir/weir.h>

static weir_status handle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static double nothing(void *context)
{
    (void)context;
    return 0.0 / 1e-320; /* a number all the same */
}

int main(int argc, char **argv)
{
    static const weir_event_type type = {
        sizeof(weir_event_type), "test.work", 0, false, NULL, NULL
    };
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine =
        weir_engine_create(WEIR_ENGINE(.name = "scrape", .latency_every = 1), &error);
    const weir_processor odd =
        weir_processor_add(engine, WEIR_PROCESSOR(.name = "a\"b\\c\nd", .handler = handle), &error);
    const unsigned long more = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    for (unsigned long i = 0; i < more; i++) {
        (void)weir_processor_add(engine, WEIR_PROCESSOR(.handler = handle), &error);
    }
    (void)weir_component_add(engine, &weir_memory_type, WEIR_COMPONENT(.name = "orders"), NULL,
                             &error);
    (void)weir_component_add(engine, &weir_memory_sink_type,
                             WEIR_COMPONENT(.name = "store", .feeds = WEIR_NAMES("orders")), NULL,
                             &error);
    (void)weir_router_add(engine, WEIR_ROUTER(.name = "flows", .handler = handle), &error);
    (void)weir_metric_add(engine,
                          WEIR_METRIC(.kind = WEIR_METRIC_COUNTER, .name = "own_total",
                                      .labels = "reason=\"price\"", .help = "one \\ of its own",
                                      .read = nothing),
                          &error);
    (void)weir_latency_enable(engine, "a*", NULL);
    if (weir_components_start(engine, &error) != WEIR_OK) {
        (void)weir_error_print(&error);
        return 1;
    }
    for (int i = 0; i < 100; i++) {
        if (weir_engine_post(engine, odd, &(const weir_event){ .type = &type }) != WEIR_OK) {
            return 1;
        }
    }
    char *text = weir_metrics_prometheus(engine, NULL, NULL);
    if (text == NULL) {
        return 1;
    }
    (void)fputs(text, stdout);
    weir_metrics_free(engine, text);
    weir_engine_destroy(engine);
    return 0;
}
