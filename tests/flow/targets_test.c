/*
 * targets_test.c - a router in front of processors: a flow stays with one of them, a new one goes
 * to the least loaded, a re-opened key never overtakes; mailboxes, policies and ends are the
 * targets' own (S-60).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_support.h"

enum { TARGETS = 3, SIGHTS_MAX = 256 };

typedef struct sight {
    const weir_event_type *type;
    uint64_t flow, value;
    uint32_t flags;
    uint64_t sender;
} sight;

/* A target that writes down what it gets, and may be held by its steps. */
typedef struct target {
    weir_processor handle;
    sight seen[SIGHTS_MAX];
    atomic_uint_least64_t handled;
} target;

static weir_engine *engine;
static weir_router router;
static target targets[TARGETS];

static weir_status target_handle(void *state, weir_turn *turn, const weir_event *event)
{
    target *t = state;
    (void)turn;
    const step *do_it = weir_event_as(event, &step_type);
    const uint64_t count = atomic_load(&t->handled);
    if (do_it != NULL && do_it->hold != NULL) {
        (void)sem_post(&do_it->hold->entered);
        (void)test_sem_taken(&do_it->hold->pass);
    }
    if (count < SIGHTS_MAX) {
        t->seen[count] = (sight){ .type = event->type,
                                  .flow = event->flow,
                                  .value = do_it != NULL ? do_it->value : 0,
                                  .flags = event->flags,
                                  .sender = event->from.sender.id };
    }
    atomic_store(&t->handled, count + 1);
    return WEIR_OK;
}

static void targets_open(weir_processor_options options, const weir_router_options *more)
{
    weir_processor handles[TARGETS];
    memset(targets, 0, sizeof(targets));
    engine = test_engine_create(WEIR_ENGINE(.threads = TARGETS, .log_level = WEIR_LOG_OFF));
    options.struct_size = sizeof(options);
    options.handler = target_handle;
    for (size_t i = 0; i < TARGETS; i++) {
        options.argument = &targets[i];
        targets[i].handle = test_processor_add(engine, &options);
        handles[i] = targets[i].handle;
    }
    weir_router_options routed = *more;
    routed.name = "feed";
    routed.targets = handles;
    routed.target_count = TARGETS;
    router = flow_router_add(engine, &routed);
    memset(handles, 0, sizeof(handles)); /* options are copied */
    test_engine_start(engine);
}

static weir_status feed(uint64_t flow, step what, uint32_t flags)
{
    const weir_event event = {
        .type = &step_type, .size = sizeof(what), .data = &what, .flags = flags
    };
    return weir_router_submit(engine, router, flow, &event);
}

static void feed_value(uint64_t flow, uint64_t value)
{
    assert_int_equal(WEIR_OK, feed(flow, (step){ .value = value }, 0));
}

static void feed_held(uint64_t flow, latch *hold)
{
    latch_init(hold);
    assert_int_equal(WEIR_OK, feed(flow, (step){ .value = 1000, .hold = hold }, 0));
    latch_entered(hold);
}

static uint64_t total(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < TARGETS; i++) {
        sum += atomic_load(&targets[i].handled);
    }
    return sum;
}

static uint32_t target_of(uint64_t flow)
{
    return flow_counters(engine, router, flow).worker;
}

static void targets_handled(uint64_t count)
{
    TEST_UNTIL(total() >= count);
    assert_int_equal(count, total());
    TEST_UNTIL(router_counters(engine, router).depth == 0);
}

static void a_flow_stays_with_one_target_in_order(void **state)
{
    (void)state;
    enum { FLOWS = 9, EVENTS = 20 };
    uint32_t home[FLOWS + 1];
    targets_open((weir_processor_options){ 0 }, STAGE(.idle_timeout = WEIR_FOREVER));
    for (uint64_t value = 1; value <= EVENTS; value++) {
        for (uint64_t flow = 1; flow <= FLOWS; flow++) {
            feed_value(flow, value);
            home[flow] = value == 1 ? target_of(flow) : home[flow];
            assert_int_equal(home[flow], target_of(flow));
        }
    }
    targets_handled(FLOWS * EVENTS);
    uint64_t next[FLOWS + 1] = { 0 };
    for (uint32_t i = 0; i < TARGETS; i++) {
        for (uint64_t k = 0; k < atomic_load(&targets[i].handled); k++) {
            const sight *seen = &targets[i].seen[k];
            assert_true(seen->flow >= 1 && seen->flow <= FLOWS);
            assert_int_equal(home[seen->flow], i);
            assert_int_equal(++next[seen->flow], seen->value);
            assert_int_equal(0, seen->sender);
        }
    }
    const weir_router_counters c = router_counters(engine, router);
    assert_int_equal(FLOWS, c.flows);
    assert_int_equal(FLOWS, c.flows_made);
    assert_int_equal(TARGETS, c.workers);
    assert_int_equal(FLOWS * EVENTS, c.submitted);
    assert_int_equal(targets[1].handle.id, worker_counters(engine, router, 1).processor.id);
    (void)test_engine_end(engine);
}

static void a_new_flow_goes_to_the_least_loaded_target_whoever_loads_it(void **state)
{
    (void)state;
    latch hold[TARGETS];
    targets_open((weir_processor_options){ 0 }, STAGE(.idle_timeout = WEIR_FOREVER));
    for (uint64_t i = 0; i < TARGETS; i++) {
        feed_held(1 + i, &hold[i]);
        assert_int_equal(i, target_of(1 + i));
    }
    feed_value(4, 1); /* all have one: the first */
    assert_int_equal(0, target_of(4));
    for (int i = 0; i < 3; i++) { /* posted to it directly */
        assert_int_equal(WEIR_OK,
                         weir_engine_post(engine, targets[1].handle, WEIR_EVENT(step, .value = 7)));
    }
    feed_value(5, 1);
    assert_int_equal(2, target_of(5));
    feed_value(0, 2); /* two, four, two */
    assert_int_equal(3, worker_counters(engine, router, 0).depth);
    assert_int_equal(4, worker_counters(engine, router, 1).depth);
    assert_int_equal(2, worker_counters(engine, router, 2).depth);
    for (size_t i = 0; i < TARGETS; i++) {
        latch_open(&hold[i]);
    }
    targets_handled(9);
    (void)test_engine_end(engine);
}

static void a_reopened_key_never_overtakes_what_waits_at_its_target(void **state)
{
    (void)state;
    latch hold, later;
    latch_init(&later);
    targets_open((weir_processor_options){ 0 }, STAGE(.idle_timeout = WEIR_FOREVER));
    feed_held(1, &hold);
    assert_int_equal(WEIR_OK, feed(1, (step){ .value = 1 }, WEIR_EVENT_FINISH));
    feed_value(1, 2); /* a new flow: the other targets are free, and must not be chosen */
    assert_int_equal(0, target_of(1));
    assert_int_equal(WEIR_OK, weir_router_finish(engine, router, 1));
    feed_value(1, 3);
    assert_int_equal(0, target_of(1));
    latch_open(&hold);
    targets_handled(5);
    assert_int_equal(5, atomic_load(&targets[0].handled));
    assert_int_equal(WEIR_EVENT_FINISH, targets[0].seen[1].flags & WEIR_EVENT_FINISH);
    assert_ptr_equal(&weir_finish_type, targets[0].seen[3].type);
    assert_int_equal(1, targets[0].seen[3].flow);
    assert_int_equal(3, targets[0].seen[4].value);
    /* Finished, and handled: now it may go elsewhere. */
    assert_int_equal(WEIR_OK, weir_router_finish(engine, router, 1));
    targets_handled(6);
    feed_held(2, &hold);
    assert_int_equal(0, target_of(2));
    feed_value(1, 4);
    assert_int_equal(1, target_of(1));
    latch_open(&hold);
    targets_handled(8);
    (void)test_engine_end(engine);
}

static void a_finished_flow_of_a_target_is_counted_and_there_is_none_any_more(void **state)
{
    (void)state;
    targets_open((weir_processor_options){ 0 }, STAGE(.idle_timeout = WEIR_FOREVER));
    assert_int_equal(WEIR_UNKNOWN, weir_router_finish(engine, router, 1));
    feed_value(1, 1);
    assert_int_equal(WEIR_OK, weir_router_finish(engine, router, 1));
    targets_handled(2);
    assert_int_equal(1, router_counters(engine, router).finished);
    assert_int_equal(WEIR_UNKNOWN, weir_router_finish(engine, router, 1));
    feed_value(1, 2);
    targets_handled(3);
    assert_int_equal(2, router_counters(engine, router).flows_made);
    (void)test_engine_end(engine);
}

static void the_policies_of_targets_are_their_own(void **state)
{
    (void)state;
    static const struct {
        weir_overflow overflow;
        weir_status answer;
        uint64_t handled;
    } cases[] = {
        { WEIR_OVERFLOW_FAIL, WEIR_FULL, 3 },
        { WEIR_OVERFLOW_DROP_NEWEST, WEIR_DROPPED, 3 },
        { WEIR_OVERFLOW_DROP_OLDEST, WEIR_OK, 3 },
        { WEIR_OVERFLOW_BLOCK, WEIR_FULL, 3 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        latch hold;
        targets_open((weir_processor_options){ .mailbox_max = 2,
                                               .overflow = cases[i].overflow,
                                               .block_max = 20 * WEIR_MS },
                     STAGE(.idle_timeout = WEIR_FOREVER));
        feed_held(1, &hold);
        feed_value(1, 1);
        feed_value(1, 2);
        const weir_ns began = test_now();
        assert_int_equal(cases[i].answer, feed(1, (step){ .value = 3 }, 0));
        assert_true(cases[i].overflow != WEIR_OVERFLOW_BLOCK || test_now() - began >= 20 * WEIR_MS);
        latch_open(&hold);
        targets_handled(cases[i].handled);
        assert_int_equal(cases[i].overflow == WEIR_OVERFLOW_DROP_OLDEST ? 2 : 1,
                         targets[0].seen[1].value);
        (void)test_engine_end(engine);
    }
}

static void *feed_four(void *argument)
{
    *(weir_status *)argument = feed(1, (step){ .value = 4 }, 0);
    return NULL;
}

static void who_waits_for_a_target_gets_on_when_it_has_room(void **state)
{
    (void)state;
    latch hold;
    pthread_t thread;
    weir_status status = WEIR_E_FAILED;
    targets_open((weir_processor_options){ .mailbox_max = 1,
                                           .overflow = WEIR_OVERFLOW_BLOCK,
                                           .block_max = WEIR_FOREVER },
                 STAGE(.idle_timeout = WEIR_FOREVER));
    feed_held(1, &hold);
    feed_value(1, 3);
    assert_int_equal(0, pthread_create(&thread, NULL, feed_four, &status));
    latch_open(&hold);
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_int_equal(WEIR_OK, status);
    targets_handled(3);
    assert_int_equal(4, targets[0].seen[2].value);
    (void)test_engine_end(engine);
}

static void a_target_that_is_gone_is_unknown_and_gets_no_new_flow(void **state)
{
    (void)state;
    targets_open((weir_processor_options){ 0 }, STAGE(.idle_timeout = WEIR_FOREVER));
    feed_value(1, 1);
    assert_int_equal(0, target_of(1));
    targets_handled(1);
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, targets[0].handle, TEST_PATIENCE, NULL));
    assert_int_equal(WEIR_UNKNOWN, feed(1, (step){ .value = 2 }, 0));
    for (uint64_t flow = 2; flow <= 6; flow++) {
        feed_value(flow, 3);
        assert_true(target_of(flow) != 0);
    }
    feed_value(0, 4);
    targets_handled(7);
    assert_int_equal(1, atomic_load(&targets[0].handled));
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, targets[1].handle, TEST_PATIENCE, NULL));
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, targets[2].handle, TEST_PATIENCE, NULL));
    assert_int_equal(WEIR_UNKNOWN, feed(9, (step){ .value = 5 }, 0));
    assert_int_equal(WEIR_UNKNOWN, feed(0, (step){ .value = 5 }, 0));
    assert_int_equal(7, router_counters(engine, router).submitted);
    (void)test_engine_end(engine);
}

static void flows_of_targets_end_when_they_are_idle_and_when_there_are_too_many(void **state)
{
    (void)state;
    weir_flow_counters figures = WEIR_FLOW_COUNTERS_INIT;
    targets_open((weir_processor_options){ 0 }, STAGE(.idle_timeout = 20 * WEIR_MS));
    feed_value(1, 1);
    TEST_UNTIL(weir_flow_counters_get(engine, router, 1, &figures) == WEIR_UNKNOWN);
    assert_int_equal(1, router_counters(engine, router).idle);
    assert_int_equal(0, router_counters(engine, router).flows);
    (void)test_engine_end(engine);

    targets_open((weir_processor_options){ 0 },
                 STAGE(.idle_timeout = WEIR_FOREVER, .flows_max = 2));
    for (uint64_t flow = 1; flow <= 3; flow++) {
        feed_value(flow, flow);
        targets_handled(flow);
    }
    assert_int_equal(WEIR_UNKNOWN, weir_flow_counters_get(engine, router, 1, &figures));
    assert_int_equal(2, router_counters(engine, router).flows);
    assert_int_equal(1, router_counters(engine, router).evicted);
    (void)test_engine_end(engine);
}

static void a_stop_of_the_router_leaves_its_targets(void **state)
{
    (void)state;
    targets_open((weir_processor_options){ 0 }, STAGE(.idle_timeout = WEIR_FOREVER));
    feed_value(1, 1);
    feed_value(2, 2);
    assert_int_equal(WEIR_OK, weir_router_stop(engine, router, TEST_PATIENCE, NULL));
    assert_int_equal(WEIR_STOPPING, feed(1, (step){ .value = 3 }, 0));
    assert_int_equal(WEIR_STOPPING, feed(5, (step){ .value = 3 }, 0));
    assert_int_equal(0, weir_router_find(engine, "feed").id);
    assert_int_equal(2, router_counters(engine, router).stopped);
    assert_int_equal(0, router_counters(engine, router).flows);
    assert_int_equal(WEIR_OK,
                     weir_engine_post(engine, targets[0].handle, WEIR_EVENT(step, .value = 4)));
    TEST_UNTIL(total() == 3);
    (void)test_engine_end(engine);
}

static void flows_of_targets_move_if_they_may(void **state)
{
    (void)state;
    latch hold;
    targets_open((weir_processor_options){ 0 },
                 STAGE(.idle_timeout = WEIR_FOREVER, .migrate = true));
    feed_value(1, 1);
    targets_handled(1);
    feed_held(2, &hold);
    assert_int_equal(0, target_of(2));
    feed_value(1, 2);
    assert_int_equal(1, target_of(1));
    feed_value(2, 3); /* something of it is at hand */
    assert_int_equal(0, target_of(2));
    latch_open(&hold);
    targets_handled(4);
    assert_int_equal(1, router_counters(engine, router).moved);
    (void)test_engine_end(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_stays_with_one_target_in_order),
        cmocka_unit_test(a_new_flow_goes_to_the_least_loaded_target_whoever_loads_it),
        cmocka_unit_test(a_reopened_key_never_overtakes_what_waits_at_its_target),
        cmocka_unit_test(a_finished_flow_of_a_target_is_counted_and_there_is_none_any_more),
        cmocka_unit_test(the_policies_of_targets_are_their_own),
        cmocka_unit_test(who_waits_for_a_target_gets_on_when_it_has_room),
        cmocka_unit_test(a_target_that_is_gone_is_unknown_and_gets_no_new_flow),
        cmocka_unit_test(flows_of_targets_end_when_they_are_idle_and_when_there_are_too_many),
        cmocka_unit_test(a_stop_of_the_router_leaves_its_targets),
        cmocka_unit_test(flows_of_targets_move_if_they_may),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
