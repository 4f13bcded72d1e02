/*
 * sink_test.c - what a sink has not flushed is not done: the host holds its origins from the
 * handler to a flush that went well, and the source hears how far all is done (S-84).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "host_support.h"

static weir_engine *engine;
static atomic_uint_least64_t to_publish, published, written, flushed, committed, commits;
static atomic_int flush_answer; /* what flush answers */
static atomic_uint_least64_t flushes, largest;
static atomic_bool on_other_thread;

/* ---- a source that publishes numbers when it is told how many, and marks each ---- */

typedef struct spring {
    pid_t thread;
} spring;

static weir_status spring_start(void *state, weir_component *self, weir_error *error)
{
    (void)error;
    ((spring *)state)->thread = test_gettid();
    return weir_feed_track(weir_component_engine(self), weir_component_feed(self));
}

static int32_t spring_work(void *state, weir_component *self, weir_ns *next)
{
    weir_engine *e = weir_component_engine(self);
    const weir_feed feed = weir_component_feed(self);
    (void)state;
    *next = 0; /* nobody wakes it */
    uint64_t n = atomic_load(&published);
    if (n >= atomic_load(&to_publish)) {
        return 0;
    }
    n++;
    const weir_status status = weir_feed_publish(e, feed, WEIR_EVENT(number, n));
    if (status != WEIR_OK) {
        return status == WEIR_FULL ? 0 : WEIR_E_FAILED;
    }
    if (weir_feed_mark(e, feed, n) != WEIR_OK) {
        return WEIR_E_FAILED;
    }
    atomic_store(&published, n);
    return 1;
}

static void spring_commit(void *state, weir_component *self, uint64_t position)
{
    (void)self;
    if (((spring *)state)->thread != test_gettid()) {
        atomic_store(&on_other_thread, true);
    }
    atomic_store(&committed, position);
    atomic_fetch_add(&commits, 1);
}

static const weir_component_type spring_type = {
    .struct_size = sizeof(spring_type),
    .kind = WEIR_KIND_SOURCE,
    .name = "spring",
    .state_size = sizeof(spring),
    .start = spring_start,
    .do_work = spring_work,
    .commit = spring_commit,
};

/* ---- a sink that counts ---- */

static weir_status drain_handle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    atomic_fetch_add(&written, 1);
    return WEIR_OK;
}

static weir_status drain_flush(void *state, weir_component *self)
{
    (void)state;
    (void)self;
    atomic_fetch_add(&flushes, 1);
    const weir_status answer = atomic_load(&flush_answer);
    if (answer == WEIR_OK) {
        const uint64_t now = atomic_load(&written), before = atomic_load(&flushed);
        if (now - before > atomic_load(&largest)) {
            atomic_store(&largest, now - before);
        }
        atomic_store(&flushed, now);
    }
    return answer;
}

static const weir_component_type drain_type = {
    .struct_size = sizeof(drain_type),
    .kind = WEIR_KIND_SINK,
    .name = "drain",
    .handler = drain_handle,
    .flush = drain_flush,
    .flush_max = 8,
};

static int open_both(void **state)
{
    (void)state;
    atomic_store(&to_publish, 0);
    atomic_store(&published, 0);
    atomic_store(&written, 0);
    atomic_store(&flushed, 0);
    atomic_store(&committed, 0);
    atomic_store(&commits, 0);
    atomic_store(&flush_answer, WEIR_OK);
    atomic_store(&flushes, 0);
    atomic_store(&largest, 0);
    atomic_store(&on_other_thread, false);
    engine = host_engine();
    (void)host_thread(engine, "in");
    (void)host_thread(engine, "out");
    (void)actor_add(engine, &spring_type, WEIR_COMPONENT(.name = "spring", .thread = "in"));
    (void)actor_add(
        engine, &drain_type,
        WEIR_COMPONENT(.name = "drain", .thread = "out", .feeds = WEIR_NAMES("spring")));
    host_start(engine);
    return 0;
}

static int close_both(void **state)
{
    (void)state;
    weir_engine_destroy(engine);
    return 0;
}

static void publish(uint64_t count)
{
    atomic_fetch_add(&to_publish, count);
}

static void what_is_flushed_is_committed_on_the_sources_thread(void **state)
{
    (void)state;
    publish(1000);
    TEST_UNTIL(atomic_load(&committed) == 1000);
    assert_int_equal(atomic_load(&written), 1000);
    assert_int_equal(atomic_load(&flushed), 1000);
    assert_true(atomic_load(&largest) <= 8);
    assert_false(atomic_load(&on_other_thread));
    (void)host_stop(engine);
}

static void a_flush_that_fails_holds_the_origins_and_is_tried_again(void **state)
{
    (void)state;
    atomic_store(&flush_answer, WEIR_E_SYSTEM);
    publish(20);
    TEST_UNTIL(atomic_load(&written) == 20 && atomic_load(&flushes) >= 3);
    assert_int_equal(atomic_load(&committed), 0);
    atomic_store(&flush_answer, WEIR_OK);
    TEST_UNTIL(atomic_load(&committed) == 20);
    (void)host_stop(engine);
}

static void a_flush_that_is_not_done_yet_is_no_failure(void **state)
{
    (void)state;
    atomic_store(&flush_answer, WEIR_FULL);
    publish(5);
    TEST_UNTIL(atomic_load(&written) == 5 && atomic_load(&flushes) >= 3);
    assert_int_equal(atomic_load(&committed), 0);
    atomic_store(&flush_answer, WEIR_OK);
    TEST_UNTIL(atomic_load(&committed) == 5);
    (void)host_stop(engine);
}

static void a_stop_flushes_and_the_source_hears_of_the_last_commit(void **state)
{
    (void)state;
    publish(100);
    TEST_UNTIL(atomic_load(&published) == 100);
    (void)host_stop(engine);
    assert_int_equal(atomic_load(&written), 100);
    assert_int_equal(atomic_load(&flushed), 100);
    assert_int_equal(atomic_load(&committed), 100);
}

static bool count_failures(void *context, const weir_failure *failure)
{
    if (strcmp(failure->component, "drain") == 0) {
        (*(unsigned *)context)++;
    }
    return true;
}

static void a_stop_gives_a_failing_flush_up_and_says_so(void **state)
{
    (void)state;
    unsigned failures = 0;
    atomic_store(&flush_answer, WEIR_E_SYSTEM);
    publish(3);
    TEST_UNTIL(atomic_load(&written) == 3);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(weir_components_stop(engine, 0, &report), WEIR_OK);
    assert_int_equal(atomic_load(&committed), 0);
    weir_failure_visit(engine, count_failures, &failures);
    assert_true(failures > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_flushed_is_committed_on_the_sources_thread,
                                        open_both, close_both),
        cmocka_unit_test_setup_teardown(a_flush_that_fails_holds_the_origins_and_is_tried_again,
                                        open_both, close_both),
        cmocka_unit_test_setup_teardown(a_flush_that_is_not_done_yet_is_no_failure, open_both,
                                        close_both),
        cmocka_unit_test_setup_teardown(a_stop_flushes_and_the_source_hears_of_the_last_commit,
                                        open_both, close_both),
        cmocka_unit_test_setup_teardown(a_stop_gives_a_failing_flush_up_and_says_so, open_both,
                                        close_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
