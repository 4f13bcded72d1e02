/*
 * memory_test.c - the component types memory, memory-sink and pipe: what is pushed comes out at the
 * other end, in order, and a position waits for what is in a pipe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../feed/feed_support.h"

static void add(weir_engine *engine, const weir_component_type *type,
                const weir_component_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    (void)weir_component_add(engine, type, options, NULL, &error);
    test_error_none(&error);
}

static void start(weir_engine *engine)
{
    weir_error error = WEIR_ERROR_INIT;
    (void)weir_components_start(engine, &error);
    test_error_none(&error);
}

static void stop(weir_engine *engine)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_components_stop(engine, TEST_PATIENCE, &report));
    assert_int_equal(0, report.left);
}

static weir_status push(weir_engine *engine, const char *name, uint64_t value)
{
    return weir_memory_push(engine, name, WEIR_EVENT(tick, .number = value));
}

static uint64_t total_of(weir_engine *engine, const char *name)
{
    uint64_t total = 0;
    assert_int_equal(WEIR_OK, weir_memory_visit(engine, name, NULL, NULL, &total));
    return total;
}

typedef struct expected {
    uint64_t next, seen, most;
} expected;

static bool expect_next(void *context, const weir_event *event)
{
    expected *e = context;
    const tick *t = weir_event_as(event, &tick_type);
    assert_non_null(t);
    assert_int_equal(e->next++, t->number);
    return ++e->seen < e->most;
}

static void what_is_pushed_comes_out_of_a_pipe_in_order(void **state)
{
    (void)state;
    enum { EVENTS = 5000, KEPT = 100 };
    for (int threads = 1; threads <= 2; threads++) {
        weir_engine *engine = feed_engine();
        /* The pipe on a dispatcher of one thread, or of two; the ring and the mailbox are soon
         * full. */
        add(engine, &weir_memory_type,
            WEIR_COMPONENT(.name = "in", .config = &(weir_memory_config){ .max = 64 }));
        add(engine, &weir_pipe_type,
            WEIR_COMPONENT(.name = "bend", .feeds = WEIR_NAMES("in"), .mailbox_max = 16,
                           .dispatcher = threads == 1 ? "one" : "two",
                           .feed = WEIR_FEED(.queue_max = 4)));
        add(engine, &weir_memory_sink_type,
            WEIR_COMPONENT(.name = "out", .feeds = WEIR_NAMES("bend"), .dispatcher = "three",
                           .mailbox_max = 8, .config = &(weir_memory_config){ .max = KEPT }));
        assert_int_equal(WEIR_UNKNOWN, push(engine, "in", 1)); /* it does not run */
        start(engine);
        for (uint64_t i = 1; i <= EVENTS; i++) {
            weir_status status;
            TEST_UNTIL((status = push(engine, "in", i)) != WEIR_FULL);
            assert_int_equal(WEIR_OK, status);
        }
        TEST_UNTIL(total_of(engine, "out") == EVENTS);
        expected e = { .next = EVENTS - KEPT + 1, .most = UINT64_MAX };
        assert_int_equal(WEIR_OK, weir_memory_visit(engine, "out", expect_next, &e, NULL));
        assert_int_equal(KEPT, e.seen);
        e = (expected){ .next = EVENTS - KEPT + 1, .most = 3 };
        assert_int_equal(WEIR_OK, weir_memory_visit(engine, "out", expect_next, &e, NULL));
        assert_int_equal(3, e.seen);
        assert_int_equal(EVENTS, counters_of(engine, weir_feed_find(engine, "bend")).published);
        stop(engine);
        weir_engine_destroy(engine);
    }
}

static void what_waits_in_the_source_is_published_before_it_stops(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    add(engine, &weir_memory_type, WEIR_COMPONENT(.name = "in"));
    add(engine, &weir_memory_sink_type,
        WEIR_COMPONENT(.name = "out", .feeds = WEIR_NAMES("in"), .dispatcher = "three"));
    start(engine);
    for (uint64_t i = 1; i <= 500; i++) {
        assert_int_equal(WEIR_OK, push(engine, "in", i));
    }
    stop(engine);
    assert_int_equal(500, counters_of(engine, weir_feed_find(engine, "in")).delivered);
    assert_int_equal(WEIR_UNKNOWN, push(engine, "in", 501));
    weir_engine_destroy(engine);
}

static void names_of_others_are_unknown_and_bad_events_refused(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    assert_int_equal(WEIR_UNKNOWN, push(engine, "in", 1)); /* no component at all */
    add(engine, &weir_memory_type,
        WEIR_COMPONENT(.name = "in", .config = &(weir_memory_config){ .max = 1 }));
    add(engine, &weir_memory_sink_type, WEIR_COMPONENT(.name = "out", .dispatcher = "three"));
    start(engine);
    assert_int_equal(WEIR_UNKNOWN, push(engine, "out", 1));
    assert_int_equal(WEIR_UNKNOWN, push(engine, "nobody", 1));
    assert_int_equal(WEIR_UNKNOWN, push(engine, NULL, 1));
    assert_int_equal(WEIR_UNKNOWN, weir_memory_visit(engine, "in", NULL, NULL, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_memory_push(engine, "in", NULL));
    assert_int_equal(WEIR_E_INVALID, push(NULL, "in", 1));
    stop(engine);
    weir_engine_destroy(engine);
}

static void a_pipe_cannot_be_several(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_INVALID, weir_component_add(engine, &weir_pipe_type,
                                                        WEIR_COMPONENT(.name = "p", .instances = 2,
                                                                       .dispatcher = "one"),
                                                        NULL, &error));
    weir_engine_destroy(engine);
}

/* ---- a source that publishes before it has started ---- */

enum { EARLY = 100 };

static weir_status publish_early(void *state, weir_component *self, weir_error *error)
{
    weir_status status = WEIR_OK;
    (void)state;
    (void)error;
    for (uint64_t i = 1; i <= EARLY && status == WEIR_OK; i++) {
        status = publish(weir_component_engine(self), weir_component_feed(self), i);
    }
    return status;
}

static const weir_component_type early_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SOURCE,
    .name = "early",
    .start = publish_early,
};

static void what_came_before_start_complete_is_replayed_to_who_runs_on_the_same_thread(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    (void)test_thread_add(engine, WEIR_THREAD(.name = "x", .dispatchers = WEIR_NAMES("x")));
    (void)test_thread_add(engine, WEIR_THREAD(.name = "y", .dispatchers = WEIR_NAMES("y")));
    subscriber *s = subscriber_add(engine, NULL, "x", 4);
    add(engine, &early_type,
        WEIR_COMPONENT(.name = "first", .thread = "x",
                       .feed = WEIR_FEED(.replay_max = 2 * EARLY, .queue_max = 4,
                                         .slow = WEIR_SLOW_BLOCK)));
    assert_int_equal(WEIR_OK,
                     weir_feed_subscribe(engine, weir_feed_find(engine, "first"), s->processor));
    start(engine); /* more than the ring and the mailbox can take at once */
    TEST_UNTIL(got(s) == EARLY);
    assert_saw(s, 0, 1, EARLY);
    assert_int_equal(EARLY, counters_of(engine, weir_feed_find(engine, "first")).replayed);
    /* One that comes again on another thread is the writer there. */
    weir_error error = WEIR_ERROR_INIT;
    (void)weir_component_remove(engine, "first", 0, &error);
    test_error_none(&error);
    add(engine, &early_type, WEIR_COMPONENT(.name = "first", .thread = "y"));
    TEST_UNTIL(got(s) == 2 * EARLY);
    assert_saw(s, EARLY, 1, EARLY);
    stop(engine);
    weir_engine_destroy(engine);
    subscriber_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_pushed_comes_out_of_a_pipe_in_order),
        cmocka_unit_test(what_waits_in_the_source_is_published_before_it_stops),
        cmocka_unit_test(names_of_others_are_unknown_and_bad_events_refused),
        cmocka_unit_test(a_pipe_cannot_be_several),
        cmocka_unit_test(
            what_came_before_start_complete_is_replayed_to_who_runs_on_the_same_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
