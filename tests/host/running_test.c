/*
 * running_test.c - components while everything runs: rounds that fail, additions and removals,
 * services that come and go, instances; and ends that come at a bad time.
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

/* ---- rounds ---- */

static atomic_int work_answer;
static atomic_uint_least64_t rounds;

static int32_t worker_work(void *state, weir_component *self, weir_ns *next)
{
    (void)state;
    (void)self;
    *next = 0;
    atomic_fetch_add(&rounds, 1);
    return atomic_load(&work_answer);
}

static const weir_component_type worker_type = {
    .struct_size = sizeof(worker_type),
    .kind = WEIR_KIND_SERVICE,
    .name = "worker",
    .do_work = worker_work,
};

typedef struct failures {
    unsigned count;
    weir_failure last;
} failures;

static bool count_failure(void *context, const weir_failure *failure)
{
    failures *f = context;
    f->count++;
    f->last = *failure;
    return true;
}

static void a_failing_round_is_reported_and_called_again_after_a_while(void **state)
{
    (void)state;
    failures f = { 0 };
    atomic_store(&work_answer, WEIR_E_SYSTEM);
    atomic_store(&rounds, 0);
    (void)actor_add(engine, &worker_type, WEIR_COMPONENT(.name = "worker", .thread = "one"));
    host_start(engine);
    const weir_ns begin = test_now();
    TEST_UNTIL(atomic_load(&rounds) >= 5);            /* the first four have failed by now */
    assert_true(test_now() - begin >= 150 * WEIR_MS); /* 10 + 20 + 40 + 80 */
    atomic_store(&work_answer, 0);
    const uint64_t seen = atomic_load(&rounds);
    TEST_UNTIL(atomic_load(&rounds) > seen + 3);
    (void)host_stop(engine);
    weir_failure_visit(engine, count_failure, &f);
    assert_true(f.count >= 4);
    assert_string_equal(f.last.component, "worker");
    assert_int_equal(f.last.status, WEIR_E_SYSTEM);
    assert_non_null(strstr(f.last.text, "do_work failed"));
}

static atomic_bool report_now;

static int32_t reporter_work(void *state, weir_component *self, weir_ns *next)
{
    (void)state;
    *next = 0;
    if (atomic_exchange(&report_now, false)) {
        for (int i = 0; i < 250; i++) {
            char text[32];
            (void)snprintf(text, sizeof(text), "failure %d", i);
            weir_component_report(self, WEIR_E_USER, text);
        }
        return 1;
    }
    return 0;
}

static bool find_reports(void *context, const weir_component_info *info)
{
    *(uint64_t *)context = info->failures;
    return true;
}

static void the_last_hundred_reports_are_kept_oldest_first(void **state)
{
    (void)state;
    static const weir_component_type type = { .struct_size = sizeof(type),
                                              .kind = WEIR_KIND_SERVICE,
                                              .name = "reporter",
                                              .do_work = reporter_work };
    failures f = { 0 };
    uint64_t reports = 0;
    (void)actor_add(engine, &type, WEIR_COMPONENT(.name = "reporter", .thread = "two"));
    host_start(engine);
    atomic_store(&report_now, true);
    TEST_UNTIL((weir_component_visit(engine, find_reports, &reports), reports == 250));
    weir_failure_visit(engine, count_failure, &f);
    assert_int_equal(f.count, 100);
    assert_string_equal(f.last.text, "failure 249");
    (void)host_stop(engine);
}

/* ---- added and removed ---- */

static void one_that_comes_while_others_run_is_up_when_the_call_returns(void **state)
{
    (void)state;
    (void)actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "drain", .thread = "one"));
    host_start(engine);
    journal_begin();
    const weir_processor mill =
        actor_add(engine, &processor_actor,
                  WEIR_COMPONENT(.name = "mill", .thread = "two",
                                 .config = ACTOR(.target = TARGET("drain"))));
    assert_string_equal(journal_text(), "mill.init mill.start mill.start_complete ");
    assert_int_equal(weir_engine_post(engine, mill, WEIR_EVENT(number, 5)), WEIR_OK);
    TEST_UNTIL(journal_has("drain.got5 "));
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(weir_component_remove(engine, "drain", 0, &error), WEIR_E_INVALID);
    assert_non_null(strstr(error.text, "component mill refers to drain"));
    assert_int_equal(weir_engine_post(engine, mill, WEIR_EVENT(number, 6)), WEIR_OK);
    assert_int_equal(weir_component_remove(engine, "mill", 0, NULL), WEIR_OK);
    assert_true(journal_has("mill.got6 "));
    assert_true(journal_has("mill.stop "));
    assert_true(journal_has("mill.tear_down "));
    assert_int_equal(weir_engine_post(engine, mill, WEIR_EVENT(number, 1)), WEIR_UNKNOWN);
    assert_int_equal(weir_component_remove(engine, "drain", 0, NULL), WEIR_OK);
    assert_int_equal(weir_component_remove(engine, "drain", 0, NULL), WEIR_E_INVALID);
    (void)host_stop(engine);
    assert_false(the_journal.foreign);
}

static void a_name_can_be_used_again_after_its_component_was_removed(void **state)
{
    (void)state;
    host_start(engine);
    for (int i = 0; i < 3; i++) {
        (void)actor_add(engine, &source_actor, WEIR_COMPONENT(.name = "spring", .thread = "one"));
        (void)actor_add(
            engine, &sink_actor,
            WEIR_COMPONENT(.name = "drain", .thread = "two", .feeds = WEIR_NAMES("spring")));
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(
            weir_component_add(engine, &sink_actor, WEIR_COMPONENT(.name = "drain"), NULL, &error),
            WEIR_E_TAKEN);
        assert_int_equal(weir_component_remove(engine, "drain", 0, NULL), WEIR_OK);
        assert_int_equal(weir_component_remove(engine, "spring", 0, NULL), WEIR_OK);
    }
    (void)host_stop(engine);
}

static void one_that_fails_while_others_run_is_undone_and_they_go_on(void **state)
{
    (void)state;
    static const char *const hooks[] = { "init", "start", "start_complete" };
    const weir_processor drain =
        actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "drain", .thread = "one"));
    host_start(engine);
    for (size_t i = 0; i < 3; i++) {
        weir_error error = WEIR_ERROR_INIT;
        weir_processor mill = { 1 };
        assert_int_equal(weir_component_add(engine, &processor_actor,
                                            WEIR_COMPONENT(.name = "mill", .thread = "two",
                                                           .config = ACTOR(.fail = hooks[i])),
                                            &mill, &error),
                         WEIR_E_USER);
        assert_int_equal(mill.id, 0);
        assert_string_equal(error.path, "component mill");
        assert_int_equal(weir_processor_find(engine, "mill").id, 0);
    }
    assert_int_equal(weir_engine_post(engine, drain, WEIR_EVENT(number, 9)), WEIR_OK);
    TEST_UNTIL(journal_has("drain.got9 "));
    (void)host_stop(engine);
}

static void instances_are_components_of_their_own(void **state)
{
    (void)state;
    (void)actor_add(engine, &processor_actor, WEIR_COMPONENT(.name = "mill", .instances = 3));
    host_start(engine);
    assert_string_equal(journal_text(),
                        "mill/1.init mill/2.init mill/3.init mill/1.start mill/2.start "
                        "mill/3.start mill/1.start_complete mill/2.start_complete "
                        "mill/3.start_complete ");
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(weir_component_add(
                         engine, &processor_actor,
                         WEIR_COMPONENT(.name = "other", .config = ACTOR(.target = TARGET("mill"))),
                         NULL, &error),
                     WEIR_E_INVALID);
    assert_non_null(strstr(error.text, "name mill/1, or a router"));
    assert_true(weir_processor_find(engine, "mill/3").id != 0);
    assert_int_equal(weir_component_remove(engine, "mill", 0, NULL), WEIR_OK);
    assert_int_equal(weir_processor_find(engine, "mill/3").id, 0);
    (void)host_stop(engine);
}

/* ---- services ---- */

typedef struct watcher {
    atomic_uint arrived, left;
    weir_service_change last;
} watcher;

static weir_status watcher_handle(void *state, weir_turn *turn, const weir_event *event)
{
    watcher *w = state;
    const weir_service_change *change = weir_event_as(event, &weir_service_type);
    (void)turn;
    if (change == NULL) {
        return WEIR_UNHANDLED;
    }
    w->last = *change;
    atomic_fetch_add(change->arrived ? &w->arrived : &w->left, 1);
    return WEIR_OK;
}

static void services_are_found_and_those_told_that_watch(void **state)
{
    (void)state;
    watcher w = { 0 };
    const weir_processor who = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = watcher_handle, .argument = &w, .dispatcher = "one"));
    assert_int_equal(weir_service_find(engine, NULL, NULL).id, 0);
    const weir_processor helper =
        actor_add(engine, &service_actor, WEIR_COMPONENT(.name = "first", .thread = "two"));
    assert_int_equal(weir_service_find(engine, NULL, "first").id, 0); /* not started yet */
    host_start(engine);
    assert_int_equal(weir_service_find(engine, "helper", "first").id, helper.id);
    assert_int_equal(weir_service_find(engine, NULL, "first").id, helper.id);
    assert_int_equal(weir_service_find(engine, "other", NULL).id, 0);
    assert_int_equal(weir_service_watch(engine, "helper", who), WEIR_OK);
    assert_int_equal(weir_service_watch(engine, "helper", who), WEIR_ALREADY);
    TEST_UNTIL(atomic_load(&w.arrived) == 1); /* what is there already */
    const weir_processor second =
        actor_add(engine, &service_actor, WEIR_COMPONENT(.name = "second", .thread = "one"));
    TEST_UNTIL(atomic_load(&w.arrived) == 2);
    assert_int_equal(w.last.address.id, second.id);
    assert_string_equal(w.last.type, "helper");
    assert_string_equal(w.last.name, "second");
    (void)actor_add(engine, &worker_type, WEIR_COMPONENT(.name = "unwatched", .thread = "one"));
    assert_int_equal(weir_component_remove(engine, "second", 0, NULL), WEIR_OK);
    TEST_UNTIL(atomic_load(&w.left) == 1);
    assert_int_equal(weir_service_find(engine, "helper", "second").id, 0);
    assert_int_equal(atomic_load(&w.arrived), 2);
    (void)host_stop(engine);
}

/* ---- ends ---- */

static gate hang;
static atomic_bool hangs;

static weir_status hang_handle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    atomic_store(&hangs, true);
    gate_pass(&hang);
    return WEIR_OK;
}

static const weir_component_type hanging_type = ACTOR_TYPE(SINK, "hanging", .handler = hang_handle);

static void a_stop_keeps_its_time_although_a_handler_hangs(void **state)
{
    (void)state;
    gate_shut(&hang);
    atomic_store(&hangs, false);
    const weir_processor stuck =
        actor_add(engine, &hanging_type, WEIR_COMPONENT(.name = "stuck", .thread = "one"));
    (void)actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "well", .thread = "two"));
    host_start(engine);
    assert_int_equal(weir_engine_post(engine, stuck, WEIR_EVENT(number, 1)), WEIR_OK);
    TEST_UNTIL(atomic_load(&hangs));
    const weir_ns begin = test_now();
    assert_int_equal(weir_components_stop(engine, 300 * WEIR_MS, NULL), WEIR_TIMEOUT);
    assert_true(test_now() - begin < 10 * WEIR_S);
    assert_true(journal_has("well.stop "));
    assert_false(journal_has("stuck.stop "));
    gate_open(&hang);
    weir_engine_destroy(engine);
    engine = NULL;
    assert_true(journal_has("stuck.stop stuck.tear_down "));
}

static void *stop_now(void *argument)
{
    (void)weir_components_stop(argument, WEIR_NOW, NULL);
    return NULL;
}

static void a_second_stop_may_be_in_a_hurry(void **state)
{
    (void)state;
    pthread_t thread;
    gate_shut(&hang);
    atomic_store(&hangs, false);
    const weir_processor stuck =
        actor_add(engine, &hanging_type, WEIR_COMPONENT(.name = "stuck", .thread = "one"));
    host_start(engine);
    assert_int_equal(weir_engine_post(engine, stuck, WEIR_EVENT(number, 1)), WEIR_OK);
    TEST_UNTIL(atomic_load(&hangs));
    assert_int_equal(pthread_create(&thread, NULL, stop_now, engine), 0);
    const weir_ns begin = test_now();
    assert_true(weir_components_stop(engine, 1000 * WEIR_S, NULL) != WEIR_OK);
    assert_true(test_now() - begin < 20 * WEIR_S);
    assert_int_equal(pthread_join(thread, NULL), 0);
    gate_open(&hang);
}

static gate slow_start;
static atomic_bool starting;

static weir_status slow_begin(void *state, weir_component *self, weir_error *error)
{
    (void)error;
    journal_add(weir_component_name(self), "start");
    atomic_store(&starting, true);
    gate_pass(&slow_start);
    return ((actor *)state)->self == self ? WEIR_OK : WEIR_E_FAILED;
}

static void *stop_meanwhile(void *argument)
{
    while (!atomic_load(&starting)) {
        (void)sched_yield();
    }
    weir_status status = WEIR_OK;
    status = weir_components_stop(argument, 0, NULL);
    return (void *)(intptr_t)status;
}

static void *open_gate_later(void *argument)
{
    (void)argument;
    const weir_ns end = test_now() + 20 * WEIR_MS;
    while (test_now() < end) { /* the stop is most likely asked for by then: either way is right */
        (void)sched_yield();
    }
    gate_open(&slow_start);
    return NULL;
}

static void a_stop_while_starting_undoes_the_start(void **state)
{
    (void)state;
    weir_component_type slow = processor_actor;
    pthread_t stopper, opener;
    slow.start = slow_begin;
    slow.name = "slow";
    gate_shut(&slow_start);
    atomic_store(&starting, false);
    (void)actor_add(engine, &slow, WEIR_COMPONENT(.name = "a", .thread = "one"));
    (void)actor_add(engine, &processor_actor,
                    WEIR_COMPONENT(.name = "b", .thread = "two", .after = WEIR_NAMES("a")));
    assert_int_equal(pthread_create(&stopper, NULL, stop_meanwhile, engine), 0);
    assert_int_equal(pthread_create(&opener, NULL, open_gate_later, NULL), 0);
    weir_error error = WEIR_ERROR_INIT;
    const weir_status status = weir_components_start(engine, &error);
    assert_int_equal(pthread_join(stopper, NULL), 0);
    assert_int_equal(pthread_join(opener, NULL), 0);
    assert_true(status == WEIR_STOPPING || status == WEIR_OK);
    assert_int_equal(error.status, 0);
    if (status == WEIR_STOPPING && !journal_has("b.start ")) {
        assert_string_equal(journal_text(), "a.init b.init a.start b.tear_down a.stop "
                                            "a.tear_down ");
    }
    assert_true(journal_has("b.tear_down a.stop a.tear_down ") ||
                journal_has("b.tear_down a.tear_down "));
}

static void an_engine_that_is_destroyed_stops_its_components(void **state)
{
    (void)state;
    (void)actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "drain", .thread = "one"));
    host_start(engine);
    weir_engine_destroy(engine);
    engine = NULL;
    assert_true(journal_has("drain.stop drain.tear_down "));
    assert_false(the_journal.foreign);
}

static void an_engine_that_was_stopped_before_its_components_still_ends_them(void **state)
{
    (void)state;
    (void)actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "drain", .thread = "one"));
    host_start(engine);
    assert_int_equal(weir_engine_stop(engine, 0, NULL), WEIR_OK);
    assert_int_equal(weir_components_stop(engine, 0, NULL), WEIR_ALREADY);
    weir_engine_destroy(engine);
    engine = NULL;
    assert_true(journal_has("drain.stop drain.tear_down "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_failing_round_is_reported_and_called_again_after_a_while,
                                        open_engine, close_engine),
        cmocka_unit_test_setup_teardown(the_last_hundred_reports_are_kept_oldest_first, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(one_that_comes_while_others_run_is_up_when_the_call_returns,
                                        open_engine, close_engine),
        cmocka_unit_test_setup_teardown(a_name_can_be_used_again_after_its_component_was_removed,
                                        open_engine, close_engine),
        cmocka_unit_test_setup_teardown(one_that_fails_while_others_run_is_undone_and_they_go_on,
                                        open_engine, close_engine),
        cmocka_unit_test_setup_teardown(instances_are_components_of_their_own, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(services_are_found_and_those_told_that_watch, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(a_stop_keeps_its_time_although_a_handler_hangs, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(a_second_stop_may_be_in_a_hurry, open_engine, close_engine),
        cmocka_unit_test_setup_teardown(a_stop_while_starting_undoes_the_start, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(an_engine_that_is_destroyed_stops_its_components,
                                        open_engine, close_engine),
        cmocka_unit_test_setup_teardown(
            an_engine_that_was_stopped_before_its_components_still_ends_them, open_engine,
            close_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
