/*
 * restart_race_test.c - components that begin anew while everybody works: what they are sent and
 * what they publish is all handled, once and in order, and a stop may come at any moment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "host_support.h"

static weir_engine *engine;

static int open_engine(void **state)
{
    (void)state;
    journal_begin();
    engine = host_engine();
    (void)host_thread(engine, "one");
    (void)host_thread(engine, "two");
    return 0;
}

static int close_engine(void **state)
{
    (void)state;
    weir_engine_destroy(engine);
    return 0;
}

static void restart(const char *name, const void *config, weir_status wanted)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_status status = weir_component_restart(engine, name, config, 0, &error);
    if (status != wanted) {
        (void)weir_error_print(&error);
    }
    assert_int_equal(status, wanted);
}

static void post(weir_processor to, uint64_t value)
{
    assert_int_equal(weir_engine_post(engine, to, WEIR_EVENT(number, value)), WEIR_OK);
}

static atomic_uint_least64_t published, starts;

static int32_t spring_work(void *state, weir_component *self, weir_ns *next)
{
    (void)state;
    *next = 0;
    const uint64_t n = atomic_load(&published) + 1;
    const weir_status status = weir_feed_publish(weir_component_engine(self),
                                                 weir_component_feed(self), WEIR_EVENT(number, n));
    if (status == WEIR_OK) {
        atomic_store(&published, n);
    }
    return status == WEIR_OK ? 1 : 0;
}

static weir_status spring_start(void *state, weir_component *self, weir_error *error)
{
    (void)state;
    (void)self;
    (void)error;
    atomic_fetch_add(&starts, 1);
    return WEIR_OK;
}

static const weir_component_type spring_type = {
    .struct_size = sizeof(spring_type),
    .kind = WEIR_KIND_SOURCE,
    .name = "spring",
    .start = spring_start,
    .do_work = spring_work,
    .slow = WEIR_SLOW_BLOCK,
};

static atomic_uint_least64_t received, out_of_order;

static weir_status count_handle(void *state, weir_turn *turn, const weir_event *event)
{
    const number *n = weir_event_as(event, &number_type);
    (void)state;
    (void)turn;
    if (n->value != atomic_fetch_add(&received, 1) + 1) {
        atomic_fetch_add(&out_of_order, 1);
    }
    return WEIR_OK;
}

static const weir_component_type counting_type = {
    .struct_size = sizeof(counting_type),
    .kind = WEIR_KIND_SINK,
    .name = "counting",
    .handler = count_handle,
};

static void a_feed_loses_nothing_whichever_end_begins_anew(void **state)
{
    (void)state;
    atomic_store(&published, 0);
    atomic_store(&received, 0);
    atomic_store(&out_of_order, 0);
    atomic_store(&starts, 0);
    (void)actor_add(engine, &spring_type, WEIR_COMPONENT(.name = "spring", .thread = "one"));
    (void)actor_add(
        engine, &counting_type,
        WEIR_COMPONENT(.name = "drain", .thread = "two", .feeds = WEIR_NAMES("spring")));
    host_start(engine);
    for (int i = 0; i < 20; i++) {
        const uint64_t seen = atomic_load(&received);
        TEST_UNTIL(atomic_load(&received) > seen + 100);
        restart(i % 2 == 0 ? "drain" : "spring", NULL, WEIR_OK);
    }
    const weir_stop_report report = host_stop(engine);
    assert_int_equal(atomic_load(&starts), 11);
    assert_int_equal(report.dead, 0);
    assert_int_equal(atomic_load(&out_of_order), 0);
    assert_int_equal(atomic_load(&received), atomic_load(&published));
}

/* ---- races ---- */

static atomic_bool posting;
static atomic_uint_least64_t sent, handled;

static void *post_many(void *argument)
{
    const weir_processor to = *(const weir_processor *)argument;
    while (atomic_load(&posting)) {
        const weir_status status = weir_engine_post(engine, to, WEIR_EVENT(number, 1));
        if (status == WEIR_OK) {
            atomic_fetch_add(&sent, 1);
        }
    }
    return NULL;
}

static weir_status tally_handle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    if (*(uint64_t *)state == 0) {
        return WEIR_E_FAILED; /* its init has not been */
    }
    atomic_fetch_add(&handled, 1);
    return WEIR_OK;
}

static weir_status tally_init(void *state, weir_component *self, const void *config,
                              weir_error *error)
{
    (void)self;
    (void)config;
    (void)error;
    *(uint64_t *)state = 1;
    return WEIR_OK;
}

static void tally_tear_down(void *state, weir_component *self)
{
    (void)self;
    *(uint64_t *)state = 0;
}

static const weir_component_type tally_type = {
    .struct_size = sizeof(tally_type),
    .kind = WEIR_KIND_SINK,
    .name = "tally",
    .state_size = sizeof(uint64_t),
    .init = tally_init,
    .tear_down = tally_tear_down,
    .handler = tally_handle,
};

static void posts_from_everywhere_are_all_handled(void **state)
{
    (void)state;
    pthread_t threads[2];
    atomic_store(&posting, true);
    atomic_store(&sent, 0);
    atomic_store(&handled, 0);
    weir_processor tally = actor_add(
        engine, &tally_type, WEIR_COMPONENT(.name = "tally", .thread = "one", .dispatcher = "two"));
    host_start(engine);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, post_many, &tally), 0);
    }
    for (int i = 0; i < 100; i++) {
        restart("tally", NULL, WEIR_OK);
    }
    atomic_store(&posting, false);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    const weir_stop_report report = host_stop(engine);
    assert_int_equal(report.dead, 0);
    assert_int_equal(atomic_load(&handled), atomic_load(&sent));
}

static void *restart_tally(void *argument)
{
    (void)argument;
    while (weir_component_restart(engine, "tally", NULL, 0, NULL) == WEIR_OK) {
    }
    return NULL;
}

static void a_stop_may_come_at_any_moment_of_it(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        atomic_store(&handled, 0);
        if (i > 0) {
            (void)close_engine(NULL);
            (void)open_engine(NULL);
        }
        const weir_processor tally =
            actor_add(engine, &tally_type, WEIR_COMPONENT(.name = "tally", .thread = "one"));
        host_start(engine);
        assert_int_equal(pthread_create(&thread, NULL, restart_tally, NULL), 0);
        for (int k = 0; k < 50 * i; k++) {
            post(tally, 1);
        }
        const weir_stop_report report = host_stop(engine);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(report.dead, 0);
        assert_int_equal(atomic_load(&handled), 50 * (uint64_t)i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_feed_loses_nothing_whichever_end_begins_anew, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(posts_from_everywhere_are_all_handled, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(a_stop_may_come_at_any_moment_of_it, open_engine,
                                        close_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
