/*
 * fan_out_test.c - every target gets every event; one that is down costs the others nothing, is
 * left alone for a while, and comes back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect_support.h"

#include "weir/admin.h"
#include "weir/dead_letter.h"
#include "weir/metrics.h"

/* A second sink, beside the collector. */
static weir__atomic_u64 other_count;
static weir__atomic_u32 other_shut;

static weir_status other_handler(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    if (weir__load(&other_shut, acquire) != 0) {
        return WEIR_FULL;
    }
    weir__add(&other_count, 1, release);
    return WEIR_OK;
}

static const weir_component_type other_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SINK,
    .name = "other",
    .help = "counts",
    .handler = other_handler,
    WEIR_PASSES_ON,
};

static weir_processor open_fan_out(bench *b, const char *options)
{
    weir__store(&other_count, 0, relaxed);
    weir__store(&other_shut, 0, relaxed);
    bench_open(b);
    char all[256];
    snprintf(all, sizeof(all), "targets = [collector, other], %s", options);
    assert_int_equal(bench_add(b, &collector_type, "collector", "", NULL), WEIR_OK);
    assert_int_equal(weir_component_add(b->engine, &other_type,
                                        WEIR_COMPONENT(.name = "other", .mailbox_max = 4), NULL,
                                        &b->error),
                     WEIR_OK);
    if (bench_add(b, &weir__fan_out_type, "fan", all, NULL) != WEIR_OK) {
        weir_error_print(&b->error);
        assert_int_equal(b->error.status, WEIR_OK);
    }
    bench_start(b);
    return weir_processor_find(b->engine, "fan");
}

static void post(bench *b, weir_processor to)
{
    const weir_event event = { .type = &weir_text_type, .data = "event", .size = 5 };
    const uint64_t before = bench_figure(b, "fan", "events");
    assert_int_equal(weir_engine_post(b->engine, to, &event), WEIR_OK);
    assert_true(TEST_AWAIT(bench_figure(b, "fan", "events") == before + 1));
}

static bool find_breaker(void *context, const char *what, weir_health health, const char *reason)
{
    bool *told = context;
    *told =
        *told || (strcmp(what, "figure fan_out_circuits_open") == 0 && health == WEIR_DEGRADED &&
                  strcmp(reason, "1 circuit breaker is open: component=\"fan\"") == 0);
    return true;
}

static void every_target_gets_every_event(void **unused)
{
    (void)unused;
    bench b;
    const weir_processor fan = open_fan_out(&b, "");
    for (uint64_t i = 1; i <= 100; i++) {
        post(&b, fan);
        assert_true(TEST_AWAIT(weir__load(&other_count, acquire) == i));
    }
    assert_true(TEST_AWAIT(bench_count(&b) == 100));
    assert_int_equal(bench_figure(&b, "fan", "sent"), 200);
    assert_int_equal(bench_figure(&b, "fan", "lost"), 0);
    bench_stop(&b);
    bench_close(&b);
}

static void a_target_that_is_full_is_left_alone_and_tried_again(void **unused)
{
    (void)unused;
    bench b;
    const weir_processor fan = open_fan_out(&b, "failures = 3, open-for = 200 ms, trials = 2");
    weir__store(&other_shut, 1, release);
    uint64_t posted = 0;
    while (bench_figure(&b, "fan", "open") == 0) {
        post(&b, fan);
        posted++;
        assert_true(posted < 100);
    }
    /* What its mailbox holds (and perhaps one in its hands), and three failures. */
    const uint64_t taken = posted - 3;
    assert_true(taken == 4 || taken == 5);
    assert_int_equal(bench_figure(&b, "fan", "failures"), 3);
    assert_true(TEST_AWAIT(bench_warned(&b, "'other'")));
    bool told = false;
    weir_health_visit(b.engine, find_breaker, &told);
    assert_true(told);
    weir__store(&other_shut, 0, release);
    assert_true(TEST_AWAIT(weir__load(&other_count, acquire) == taken));
    /* It would work now, but nobody asks it before its time. */
    while (bench_figure(&b, "fan", "sent") == posted + taken) {
        post(&b, fan);
        posted++;
        if (bench_figure(&b, "fan", "sent") == posted + taken) {
            (void)poll(NULL, 0, 5);
        }
        assert_true(posted < 10000);
    }
    assert_true(posted > taken + 4);
    post(&b, fan); /* the second trial */
    posted++;
    assert_true(TEST_AWAIT(weir__load(&other_count, acquire) == taken + 2));
    assert_int_equal(bench_figure(&b, "fan", "failures"), 3);
    assert_int_equal(bench_figure(&b, "fan", "opened"), 1);
    assert_true(TEST_AWAIT(bench_count(&b) == posted)); /* the other one missed nothing */
    assert_int_equal(bench_figure(&b, "fan", "lost"), posted - taken - 2);
    bench_stop(&b);
    bench_close(&b);
}

static void what_a_target_did_not_get_can_be_a_dead_letter(void **unused)
{
    (void)unused;
    bench b;
    const weir_processor fan =
        open_fan_out(&b, "failures = 1, open-for = 1 h, lost = dead-letters");
    weir__store(&other_shut, 1, release);
    for (int i = 0; i < 10; i++) {
        post(&b, fan);
    }
    assert_true(TEST_AWAIT(bench_count(&b) == 10));
    static weir_dead_letter letters[32];
    letters[0] = (weir_dead_letter)WEIR_DEAD_LETTER_INIT;
    const uint64_t lost = bench_figure(&b, "fan", "lost");
    assert_true(lost == 5 || lost == 6);
    assert_true(TEST_AWAIT(weir_dead_letter_read(b.engine, 0, letters, 32) == lost));
    assert_int_equal(letters[0].reason, WEIR_DEAD_FAILED);
    assert_non_null(strstr(letters[0].text, "target 'other' did not get it"));
    assert_memory_equal(letters[lost - 1].head, "event", 5);
    weir__store(&other_shut, 0, release);
    bench_stop(&b);
    bench_close(&b);
}

static void no_target_is_an_error(void **unused)
{
    (void)unused;
    bench b;
    bench_open(&b);
    weir_status status = bench_add(&b, &weir__fan_out_type, "fan", "targets = []", NULL);
    if (status == WEIR_OK) {
        status = weir_components_start(b.engine, &b.error);
    }
    assert_int_equal(status, WEIR_E_CONFIG);
    bench_close(&b);
}

static void a_sink_that_discards_counts(void **unused)
{
    (void)unused;
    bench b;
    bench_open(&b);
    assert_int_equal(bench_add(&b, &weir__discard_type, "discard", "", NULL), WEIR_OK);
    bench_start(&b);
    const weir_processor sink = weir_processor_find(b.engine, "discard");
    const weir_event event = { .type = &weir_text_type, .data = "event", .size = 5 };
    for (int i = 0; i < 10; i++) {
        assert_int_equal(weir_engine_post(b.engine, sink, &event), WEIR_OK);
    }
    assert_true(TEST_AWAIT(bench_figure(&b, "discard", "events") == 10));
    assert_int_equal(bench_figure(&b, "discard", "bytes"), 50);
    bench_stop(&b);
    bench_close(&b);
}

static void people_see_what_connectors_count(void **unused)
{
    (void)unused;
    bench b;
    bench_open(&b);
    assert_int_equal(bench_add(&b, &weir__discard_type, "first", "", NULL), WEIR_OK);
    assert_int_equal(bench_add(&b, &weir__discard_type, "second", "", NULL), WEIR_OK);
    bench_start(&b);
    char *answer = NULL;
    const char *const all[] = { "connectors" };
    assert_int_equal(weir_admin_run(b.engine, all, 1, false, 0, &answer), WEIR_OK);
    const char *first = strstr(answer, "\"first\""), *second = strstr(answer, "\"second\"");
    assert_non_null(first);
    assert_true(second > first);
    assert_non_null(strstr(first, "\"events\""));
    weir_admin_free(b.engine, answer);
    const char *const one[] = { "connectors", "second" };
    assert_int_equal(weir_admin_run(b.engine, one, 2, false, 0, &answer), WEIR_OK);
    assert_null(strstr(answer, "\"first\""));
    assert_non_null(strstr(answer, "\"second\""));
    weir_admin_free(b.engine, answer);
    const char *const none[] = { "connectors", "third" };
    assert_int_equal(weir_admin_run(b.engine, none, 2, false, 0, &answer), WEIR_UNKNOWN);
    weir_admin_free(b.engine, answer);
    bench_stop(&b);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_target_gets_every_event),
        cmocka_unit_test(a_target_that_is_full_is_left_alone_and_tried_again),
        cmocka_unit_test(what_a_target_did_not_get_can_be_a_dead_letter),
        cmocka_unit_test(no_target_is_an_error),
        cmocka_unit_test(a_sink_that_discards_counts),
        cmocka_unit_test(people_see_what_connectors_count),
    };
    return cmocka_run_group_tests_name("fan_out", tests, NULL, NULL);
}
