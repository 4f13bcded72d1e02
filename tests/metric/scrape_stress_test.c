/*
 * scrape_stress_test.c - figures taken while events flow, processors come and go and latencies are
 * switched: every text is whole, no counter falls, and what was accepted is what became of it, but
 * for what was in flight.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "metric_support.h"

enum { POSTERS = 2, SCRAPERS = 2, PLACES = 64 };

static scene s;

typedef struct storm {
    weir_processor to[2];
    atomic_bool end;
    atomic_uint_least64_t scrapes, changes, wrong;
} storm;

static void *post_on(void *context)
{
    storm *w = context;
    for (uint64_t i = 0; !atomic_load(&w->end); i++) {
        const weir_status status =
            weir_engine_post(s.engine, w->to[i % 2], i % 97 == 0 ? TOLD(fail) : TOLD(work));
        if (status != WEIR_OK && status != WEIR_FULL && status != WEIR_DROPPED) {
            atomic_fetch_add(&w->wrong, 1);
        }
    }
    return NULL;
}

static void *change_on(void *context)
{
    storm *w = context;
    for (uint64_t i = 0; !atomic_load(&w->end); i++) {
        weir_error error = WEIR_ERROR_INIT;
        const weir_processor p = weir_processor_add(
            s.engine, WEIR_PROCESSOR(.name = "guest", .handler = scene_handle, .argument = &s),
            &error);
        if (p.id == 0 || weir_engine_post(s.engine, p, TOLD(work)) != WEIR_OK) {
            atomic_fetch_add(&w->wrong, 1);
        }
        const weir_status status = i % 3 == 0   ? weir_latency_enable(s.engine, "*", NULL)
                                   : i % 3 == 1 ? weir_latency_reset(s.engine, NULL)
                                                : weir_latency_disable(s.engine, "*", NULL);
        if (status != WEIR_OK || weir_processor_stop(s.engine, p, 0, NULL) != WEIR_OK) {
            atomic_fetch_add(&w->wrong, 1);
        }
        atomic_fetch_add(&w->changes, 1);
    }
    return NULL;
}

/* Of a text; SIZE_MAX-like if it is not there. */
static uint64_t find(const char *text, const char *series)
{
    const char *value = series_text(text, series);
    return value != NULL ? strtoull(value, NULL, 10) : UINT64_MAX;
}

static void *scrape_on(void *context)
{
    storm *w = context;
    uint64_t accepted_before = 0;
    uint64_t handled_before = 0;
    while (!atomic_load(&w->end)) {
        char *text = weir_metrics_prometheus(s.engine, WEIR_METRICS(.processors_max = 2), NULL);
        char *json = weir_metrics_json(s.engine, NULL, NULL);
        const uint64_t accepted = find(text, "weir_accepted_total");
        const uint64_t handled = find(text, "weir_handled_total");
        const uint64_t done = handled + find(text, "weir_left_total") +
                              find(text, "weir_dropped_total{reason=\"newest\"}") +
                              find(text, "weir_dropped_total{reason=\"oldest\"}") +
                              find(text, "weir_dead_total{reason=\"failed\"}") +
                              find(text, "weir_dead_total{reason=\"stopped\"}");
        /* In flight: what waits in mailboxes, is at hand, or was posted since the first cell was
         * read. */
        const uint64_t depth = find(text, "weir_depth");
        if (accepted < accepted_before || handled < handled_before || done > accepted ||
            accepted - done != depth || json == NULL || json[strlen(json) - 1] != '}' ||
            strstr(text, "weir_timers_memory_bytes") == NULL) {
            atomic_fetch_add(&w->wrong, 1);
        }
        accepted_before = accepted;
        handled_before = handled;
        weir_metrics_free(s.engine, text);
        weir_metrics_free(s.engine, json);
        atomic_fetch_add(&w->scrapes, 1);
    }
    return NULL;
}

static void figures_add_up_under_load_and_exactly_at_its_end(void **state)
{
    (void)state;
    pthread_t threads[POSTERS + SCRAPERS + 1];
    storm w = { .end = false };
    scene_make(&s, WEIR_ENGINE(.name = "storm", .threads = 2, .latency_every = 4));
    w.to[0] = scene_add(&s, WEIR_PROCESSOR(.name = "a", .mailbox_max = PLACES,
                                           .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    w.to[1] = scene_add(&s, WEIR_PROCESSOR(.name = "b", .mailbox_max = PLACES,
                                           .overflow = WEIR_OVERFLOW_DROP_NEWEST));
    assert_int_equal(WEIR_OK, weir_engine_start(s.engine, &s.error));
    for (uint32_t i = 0; i < POSTERS + SCRAPERS + 1; i++) {
        assert_int_equal(0, pthread_create(&threads[i], NULL,
                                           i < POSTERS              ? post_on
                                           : i < POSTERS + SCRAPERS ? scrape_on
                                                                    : change_on,
                                           &w));
    }
    const uint64_t wanted = test_load(1000, 100);
    TEST_UNTIL(atomic_load(&w.scrapes) >= wanted && atomic_load(&w.changes) >= wanted / 4);
    atomic_store(&w.end, true);
    for (uint32_t i = 0; i < POSTERS + SCRAPERS + 1; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    assert_int_equal(0, atomic_load(&w.wrong));
    assert_int_equal(WEIR_OK, weir_engine_stop(s.engine, 0, NULL));
    char *text = scene_text(&s, NULL);
    assert_int_equal(series_count(text, "weir_accepted_total"),
                     series_count(text, "weir_handled_total") +
                         series_count(text, "weir_left_total") +
                         series_count(text, "weir_dropped_total{reason=\"newest\"}") +
                         series_count(text, "weir_dropped_total{reason=\"oldest\"}") +
                         series_count(text, "weir_dead_total{reason=\"failed\"}") +
                         series_count(text, "weir_dead_total{reason=\"stopped\"}"));
    assert_int_equal(0, series_count(text, "weir_depth"));
    free(text);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_add_up_under_load_and_exactly_at_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
