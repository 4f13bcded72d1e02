/*
 * block_test.c - the policy block: a full worker takes nothing from the others (S-54), a producer
 * waits only when the ingress is used up, and whoever waits gets on as soon as he can; a stop lets
 * him go; a handler never waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_support.h"

static stage s;

/* Flows that are on those workers, while the test has not said otherwise. */
enum { ON_FIRST = 1, ON_SECOND = 2 };

/* Two workers. The first has `at_first` under way, the second, if that is not NULL, `at_second`. */
static void open_two(uint32_t worker_max, uint32_t ingress_max, weir_ns block_max, latch *at_first,
                     latch *at_second)
{
    stage_open(&s, STAGE(.workers = 2, .worker_max = worker_max, .ingress_max = ingress_max,
                         .block_max = block_max));
    submit_held(&s, ON_FIRST, 1000, at_first);
    if (at_second != NULL) {
        submit_held(&s, ON_SECOND, 2000, at_second);
        assert_int_equal(1, worker_of(&s, ON_SECOND));
    }
    assert_int_equal(0, worker_of(&s, ON_FIRST));
}

static void fill(uint64_t flow, uint64_t count, uint64_t first)
{
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(WEIR_OK, submit_value(&s, flow, first + i));
    }
}

static void a_full_worker_does_not_stop_the_others(void **state)
{
    (void)state;
    latch hold;
    open_two(2, 4, WEIR_MS, &hold, NULL);
    fill(ON_FIRST, 2, 1001);
    assert_int_equal(0, router_counters(s.engine, s.router).ingress);
    fill(ON_FIRST, 4, 1003); /* beyond worker_max, out of the ingress */
    assert_int_equal(4, router_counters(s.engine, s.router).ingress);
    assert_int_equal(4, worker_counters(s.engine, s.router, 0).beyond);
    assert_int_equal(7, worker_counters(s.engine, s.router, 0).depth);
    assert_int_equal(WEIR_FULL, submit_value(&s, ON_FIRST, 1099));
    /* The other one is free, and takes as many as it can handle, one after the other. */
    for (uint64_t i = 0; i < 20; i++) {
        assert_int_equal(WEIR_OK, submit_value(&s, ON_SECOND, 2000 + i));
        stage_handled(&s, i + 1);
    }
    assert_int_equal(1, worker_of(&s, ON_SECOND));
    assert_int_equal(0, worker_counters(s.engine, s.router, 1).beyond);
    latch_open(&hold);
    stage_handled(&s, 27);
    ASSERT_HANDLED(&s, ON_FIRST, 1000, 1001, 1002, 1003, 1004, 1005, 1006);
    TEST_UNTIL(router_counters(s.engine, s.router).ingress == 0);
    assert_int_equal(1, stage_close(&s).refused_ingress);
}

static void the_ingress_belongs_to_all_workers_together(void **state)
{
    (void)state;
    latch first, second;
    open_two(1, 3, WEIR_MS, &first, &second);
    fill(ON_FIRST, 3, 1001);
    fill(ON_SECOND, 2, 2001);
    assert_int_equal(3, router_counters(s.engine, s.router).ingress);
    assert_int_equal(2, worker_counters(s.engine, s.router, 0).beyond);
    assert_int_equal(1, worker_counters(s.engine, s.router, 1).beyond);
    assert_int_equal(WEIR_FULL, submit_value(&s, ON_FIRST, 1));
    assert_int_equal(WEIR_FULL, submit_value(&s, ON_SECOND, 2));
    assert_int_equal(WEIR_FULL, submit_value(&s, 0, 3));
    assert_int_equal(WEIR_FULL, submit_value(&s, 4, 4));
    assert_false(flow_lives(&s, 4)); /* nothing is left of a flow that could not begin */
    latch_open(&first);
    latch_open(&second);
    stage_handled(&s, 7);
    TEST_UNTIL(router_counters(s.engine, s.router).ingress == 0);
    const weir_router_counters c = stage_close(&s);
    assert_int_equal(4, c.refused_ingress);
    assert_int_equal(7, c.submitted);
}

static void a_wait_ends_with_full_after_block_max(void **state)
{
    (void)state;
    latch hold;
    submitter waiting;
    open_two(1, 1, 30 * WEIR_MS, &hold, NULL);
    fill(ON_FIRST, 2, 1001);
    submitter_begin(&waiting, &s, ON_FIRST, 1003);
    assert_int_equal(WEIR_FULL, submitter_end(&waiting));
    assert_true(waiting.took >= 30 * WEIR_MS);
    assert_true(waiting.took < TEST_PATIENCE / 2);
    latch_open(&hold);
    assert_int_equal(1, stage_close(&s).refused_ingress);
}

static void who_waits_gets_on_when_his_worker_has_handled_one(void **state)
{
    (void)state;
    latch hold, next;
    submitter waiting;
    latch_init(&next);
    open_two(1, 1, WEIR_FOREVER, &hold, NULL);
    assert_int_equal(WEIR_OK, submit_step(&s, ON_FIRST, (step){ .value = 1001, .hold = &next }));
    fill(ON_FIRST, 1, 1002);
    submitter_begin(&waiting, &s, ON_FIRST, 1003);
    submitter_waits(&waiting);
    latch_open(&hold);
    assert_int_equal(WEIR_OK, submitter_end(&waiting)); /* the second one is held now */
    latch_entered(&next);
    latch_open(&next);
    stage_handled(&s, 4);
    ASSERT_HANDLED(&s, ON_FIRST, 1000, 1001, 1002, 1003);
    (void)stage_close(&s);
}

/* Both workers are full; the first one alone has the ingress. Who waits for the second needs none
 * of it, once there is room. */
static void who_waits_gets_on_with_room_on_his_worker_although_the_ingress_is_used_up(void **state)
{
    (void)state;
    latch first, second, next;
    submitter waiting;
    latch_init(&next);
    open_two(1, 2, WEIR_FOREVER, &first, &second);
    fill(ON_FIRST, 3, 1001);
    assert_int_equal(2, worker_counters(s.engine, s.router, 0).beyond);
    assert_int_equal(WEIR_OK, submit_step(&s, ON_SECOND, (step){ .value = 2001, .hold = &next }));
    submitter_begin(&waiting, &s, ON_SECOND, 2002);
    submitter_waits(&waiting);
    latch_open(&second); /* 2001 is at hand after this, and its place is free */
    assert_int_equal(WEIR_OK, submitter_end(&waiting));
    assert_int_equal(2, router_counters(s.engine, s.router).ingress);
    assert_int_equal(0, worker_counters(s.engine, s.router, 1).beyond);
    latch_entered(&next);
    latch_open(&next);
    latch_open(&first);
    stage_handled(&s, 7);
    ASSERT_HANDLED(&s, ON_SECOND, 2000, 2001, 2002);
    (void)stage_close(&s);
}

/* He waits for the second worker; the first one gives back what it had of the ingress. */
static void who_waits_gets_on_with_what_another_worker_gives_back(void **state)
{
    (void)state;
    latch first, second, next;
    submitter waiting;
    latch_init(&next);
    open_two(1, 2, WEIR_FOREVER, &first, &second);
    assert_int_equal(WEIR_OK, submit_step(&s, ON_FIRST, (step){ .value = 1001, .hold = &next }));
    fill(ON_FIRST, 2, 1002);
    fill(ON_SECOND, 1, 2001);
    submitter_begin(&waiting, &s, ON_SECOND, 2002);
    submitter_waits(&waiting);
    latch_open(&first);
    latch_entered(&next);
    assert_int_equal(WEIR_OK, submitter_end(&waiting));
    assert_int_equal(1, worker_counters(s.engine, s.router, 1).beyond);
    latch_open(&next);
    latch_open(&second);
    stage_handled(&s, 7);
    ASSERT_HANDLED(&s, ON_SECOND, 2000, 2001, 2002);
    (void)stage_close(&s);
}

/* A new flow, or an event without one, has no worker yet: room on any of them is room for it. All
 * three are full, and the third has the ingress. The first is the least loaded when it comes; room
 * appears on the second. */
static void waits_for_room_on_any_worker(uint64_t flow)
{
    latch held[3], next;
    submitter waiting;
    latch_init(&next);
    stage_open(&s,
               STAGE(.workers = 3, .worker_max = 1, .ingress_max = 1, .block_max = WEIR_FOREVER));
    for (uint64_t i = 0; i < 3; i++) {
        submit_held(&s, 1 + i, 1000, &held[i]);
        assert_int_equal(i, worker_of(&s, 1 + i));
    }
    fill(1, 1, 1001);
    assert_int_equal(WEIR_OK, submit_step(&s, 2, (step){ .value = 2001, .hold = &next }));
    fill(3, 2, 3001);
    submitter_begin(&waiting, &s, flow, 5000);
    submitter_waits(&waiting);
    latch_open(&held[1]);
    latch_entered(&next);
    assert_int_equal(WEIR_OK, submitter_end(&waiting));
    latch_open(&next);
    stage_handled(&s, 3);
    ASSERT_HANDLED(&s, flow, 5000);
    latch_open(&held[0]);
    latch_open(&held[2]);
    stage_handled(&s, 8);
    (void)stage_close(&s);
}

static void a_new_flow_waits_for_room_on_any_worker(void **state)
{
    (void)state;
    waits_for_room_on_any_worker(7);
}

static void an_event_without_a_flow_waits_for_room_on_any_worker(void **state)
{
    (void)state;
    waits_for_room_on_any_worker(0);
}

static void many_who_wait_all_get_on(void **state)
{
    (void)state;
    enum { WAITERS = 12 };
    static submitter waiting[WAITERS];
    latch hold;
    open_two(1, 1, WEIR_FOREVER, &hold, NULL);
    fill(ON_FIRST, 2, 1001);
    for (uint64_t i = 0; i < WAITERS; i++) {
        submitter_begin(&waiting[i], &s, ON_FIRST, 1100 + i);
    }
    for (uint64_t i = 0; i < WAITERS; i++) {
        submitter_waits(&waiting[i]);
    }
    latch_open(&hold);
    for (uint64_t i = 0; i < WAITERS; i++) {
        assert_int_equal(WEIR_OK, submitter_end(&waiting[i]));
    }
    stage_handled(&s, WAITERS + 3);
    (void)stage_close(&s);
}

static void a_batch_waits_for_each(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    uint64_t flows[COUNT];
    step steps[COUNT];
    weir_event events[COUNT];
    const weir_event *pointers[COUNT];
    weir_status statuses[COUNT];
    uint64_t values[COUNT];
    stage_open(&s,
               STAGE(.workers = 1, .worker_max = 1, .ingress_max = 1, .block_max = TEST_PATIENCE));
    for (uint64_t i = 0; i < COUNT; i++) {
        flows[i] = ON_FIRST;
        steps[i] = (step){ .value = i };
        events[i] = (weir_event){ .type = &step_type, .size = sizeof(step), .data = &steps[i] };
        pointers[i] = &events[i];
        values[i] = i;
    }
    assert_int_equal(
        COUNT, weir_router_submit_batch(s.engine, s.router, flows, pointers, COUNT, statuses));
    stage_handled(&s, COUNT);
    assert_handled(&s, ON_FIRST, values, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(WEIR_OK, statuses[i]);
    }
    assert_int_equal(COUNT,
                     weir_router_submit_batch(s.engine, s.router, flows, pointers, COUNT, NULL));
    (void)stage_close(&s);
}

/* ---- stops ---- */

typedef struct stopper {
    pthread_t thread;
    bool engine;
    weir_status status;
} stopper;

static void *stopper_run(void *argument)
{
    stopper *t = argument;
    t->status = t->engine ? weir_engine_stop(s.engine, TEST_PATIENCE, NULL)
                          : weir_router_stop(s.engine, s.router, TEST_PATIENCE, NULL);
    return NULL;
}

static void a_stop_lets_those_go_who_wait(bool engine)
{
    enum { WAITERS = 3 };
    static submitter waiting[WAITERS];
    stopper stop = { .engine = engine };
    latch hold;
    open_two(1, 1, WEIR_FOREVER, &hold, NULL);
    fill(ON_FIRST, 2, 1001);
    for (uint64_t i = 0; i < WAITERS; i++) {
        submitter_begin(&waiting[i], &s, ON_FIRST, 5000 + i);
    }
    for (uint64_t i = 0; i < WAITERS; i++) {
        submitter_waits(&waiting[i]);
    }
    assert_int_equal(0, pthread_create(&stop.thread, NULL, stopper_run, &stop));
    for (uint64_t i = 0; i < WAITERS; i++) { /* the worker is held: only the stop can let them go */
        assert_int_equal(WEIR_STOPPING, submitter_end(&waiting[i]));
    }
    assert_int_equal(WEIR_STOPPING, submit_value(&s, ON_SECOND, 5100));
    assert_int_equal(WEIR_STOPPING, submit_value(&s, 0, 5100));
    latch_open(&hold);
    assert_int_equal(0, pthread_join(stop.thread, NULL));
    assert_int_equal(WEIR_OK, stop.status);
    ASSERT_HANDLED(&s, ON_FIRST, 1000, 1001, 1002); /* what was accepted */
    assert_int_equal(WEIR_FLOW_STOPPED, end_of_life(&s, life_of(&s, 1000)));
    if (engine) {
        assert_int_equal(1, router_counters(s.engine, s.router).stopped);
        weir_engine_destroy(s.engine);
    } else {
        (void)stage_close(&s);
    }
}

static void a_producer_that_waits_is_released_by_a_stop_of_the_router(void **state)
{
    (void)state;
    a_stop_lets_those_go_who_wait(false);
}

static void a_producer_that_waits_is_released_by_a_stop_of_the_engine(void **state)
{
    (void)state;
    a_stop_lets_those_go_who_wait(true);
}

/* ---- handlers that submit ---- */

typedef struct echo {
    weir_router to;
    uint64_t flow;
    uint32_t most; /* how many more each event makes */
    uint32_t ok, full, odd;
    atomic_uint_least64_t handled;
} echo;

/* Submits to its own router, from a turn and from outside, until it is full. */
static weir_status echo_handle(void *state, weir_turn *turn, const weir_event *event)
{
    echo *e = state;
    const step *do_it = weir_event_as(event, &step_type);
    for (uint32_t i = 0; do_it->value == 0 && i < e->most; i++) {
        const weir_event *more = WEIR_EVENT(step, .value = 1 + i);
        const weir_status status =
            i % 2 == 0 ? weir_turn_submit(turn, e->to, e->flow, more)
                       : weir_router_submit(weir_turn_engine(turn), e->to, e->flow, more);
        e->ok += status == WEIR_OK;
        e->full += status == WEIR_FULL;
        e->odd += status != WEIR_OK && status != WEIR_FULL;
    }
    atomic_fetch_add(&e->handled, 1);
    return WEIR_OK;
}

/* One worker, one thread: a wait in the handler would be for ever. */
static void a_handler_submits_to_its_own_router(uint64_t flow)
{
    echo e = { .flow = flow, .most = 10 };
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    e.to = flow_router_add(engine, WEIR_ROUTER(.name = "echo", .handler = echo_handle,
                                               .argument = &e, .workers = 1, .worker_max = 2,
                                               .ingress_max = 3, .block_max = WEIR_FOREVER));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_router_submit(engine, e.to, 1, WEIR_EVENT(step, .value = 0)));
    TEST_UNTIL(atomic_load(&e.handled) == 6);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(6, report.handled);
    assert_int_equal(5, e.ok); /* worker_max and ingress_max */
    assert_int_equal(5, e.full);
    assert_int_equal(0, e.odd);
}

static void a_handler_that_submits_to_its_own_flow_never_waits(void **state)
{
    (void)state;
    a_handler_submits_to_its_own_router(1);
}

static void a_handler_that_submits_to_another_flow_of_its_router_never_waits(void **state)
{
    (void)state;
    a_handler_submits_to_its_own_router(2);
}

typedef struct outsider {
    stage *on;
    bool foreign; /* its turn is of another engine */
    atomic_int status;
    atomic_bool done;
} outsider;

static weir_status submit_from_a_processor(void *state, weir_turn *turn, const weir_event *event)
{
    outsider *o = state;
    (void)event;
    const weir_status by_turn =
        weir_turn_submit(turn, o->on->router, ON_FIRST, WEIR_EVENT(step, .value = 1));
    const weir_status direct = submit_value(o->on, ON_FIRST, 1);
    atomic_store(&o->status,
                 by_turn == (o->foreign ? WEIR_UNKNOWN : direct) ? direct : WEIR_E_FAILED);
    atomic_store(&o->done, true);
    return WEIR_OK;
}

static void block_answers_full_at_once_on_a_thread_of_an_engine(void **state)
{
    (void)state;
    latch hold;
    outsider o = { .on = &s };
    open_two(1, 1, WEIR_FOREVER, &hold, NULL);
    fill(ON_FIRST, 2, 1001);
    const weir_processor own =
        test_processor_add(s.engine, WEIR_PROCESSOR(.handler = submit_from_a_processor,
                                                    .argument = &o, .dedicated = true));
    assert_int_equal(WEIR_OK, test_post(s.engine, own, 1));
    TEST_UNTIL(atomic_load(&o.done));
    assert_int_equal(WEIR_FULL, atomic_load(&o.status));
    /* Of another engine, too. */
    weir_engine *other = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    atomic_store(&o.done, false);
    o.foreign = true;
    const weir_processor foreign = test_processor_add(
        other, WEIR_PROCESSOR(.handler = submit_from_a_processor, .argument = &o));
    test_engine_start(other);
    assert_int_equal(WEIR_OK, test_post(other, foreign, 1));
    TEST_UNTIL(atomic_load(&o.done));
    assert_int_equal(WEIR_FULL, atomic_load(&o.status));
    (void)test_engine_end(other);
    latch_open(&hold);
    (void)test_engine_stop(s.engine);
    assert_int_equal(3, router_counters(s.engine, s.router).submitted);
    weir_engine_destroy(s.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_worker_does_not_stop_the_others),
        cmocka_unit_test(the_ingress_belongs_to_all_workers_together),
        cmocka_unit_test(a_wait_ends_with_full_after_block_max),
        cmocka_unit_test(who_waits_gets_on_when_his_worker_has_handled_one),
        cmocka_unit_test(who_waits_gets_on_with_room_on_his_worker_although_the_ingress_is_used_up),
        cmocka_unit_test(who_waits_gets_on_with_what_another_worker_gives_back),
        cmocka_unit_test(a_new_flow_waits_for_room_on_any_worker),
        cmocka_unit_test(an_event_without_a_flow_waits_for_room_on_any_worker),
        cmocka_unit_test(many_who_wait_all_get_on),
        cmocka_unit_test(a_batch_waits_for_each),
        cmocka_unit_test(a_producer_that_waits_is_released_by_a_stop_of_the_router),
        cmocka_unit_test(a_producer_that_waits_is_released_by_a_stop_of_the_engine),
        cmocka_unit_test(a_handler_that_submits_to_its_own_flow_never_waits),
        cmocka_unit_test(a_handler_that_submits_to_another_flow_of_its_router_never_waits),
        cmocka_unit_test(block_answers_full_at_once_on_a_thread_of_an_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
