/*
 * batch_test.c - many posts in one call: order, a status for each, and what one that is wrong means
 * for the others. (What a full mailbox does with a batch: overflow_test.c.)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fault_support.h"

enum { MANY = 300 }; /* several of the runs that a batch is cut into */

typedef struct parcels {
    number values[MANY];
    weir_event events[MANY];
    const weir_event *list[MANY];
    weir_status statuses[MANY + 1]; /* one more than is asked for: it stays as it is */
} parcels;

static void parcels_fill(parcels *p, uint64_t first)
{
    for (uint64_t i = 0; i < MANY; i++) {
        p->values[i].value = first + i;
        p->events[i] =
            (weir_event){ .type = &number_type, .data = &p->values[i], .size = sizeof(number) };
        p->list[i] = &p->events[i];
    }
    memset(p->statuses, 0x55, sizeof(p->statuses));
}

static void assert_statuses(const parcels *p, size_t first, size_t count, weir_status status)
{
    for (size_t i = first; i < first + count; i++) {
        assert_int_equal(status, p->statuses[i]);
    }
}

static weir_processor recorder_add(weir_engine *engine, test_recorder *recorder)
{
    test_recorder_init(recorder, false);
    return test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = recorder));
}

static void a_batch_to_one_arrives_whole_and_in_order(void **state)
{
    (void)state;
    static parcels p;
    static test_recorder r;
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = recorder_add(engine, &r);
    parcels_fill(&p, 1000);
    assert_int_equal(MANY, weir_engine_post_batch(engine, &to, 1, p.list, MANY, p.statuses));
    assert_statuses(&p, 0, MANY, WEIR_OK);
    assert_statuses(&p, MANY, 1, 0x55555555);
    assert_int_equal(0, weir_engine_post_batch(engine, &to, 1, p.list, 0, p.statuses));
    test_engine_start(engine);
    assert_int_equal(MANY, test_engine_end(engine).accepted);
    test_recorder_saw_run(&r, 1000, MANY);
}

static void a_batch_to_many_keeps_each_receivers_order(void **state)
{
    (void)state;
    enum { RECEIVERS = 3 };
    static parcels p;
    static test_recorder r[RECEIVERS];
    weir_processor to[MANY];
    weir_processor receivers[RECEIVERS];
    uint64_t expected[RECEIVERS] = { 0 };
    uint64_t seed = test_seed();
    weir_engine *engine = test_engine_create(NULL);
    for (size_t i = 0; i < RECEIVERS; i++) {
        receivers[i] = recorder_add(engine, &r[i]);
    }
    parcels_fill(&p, 0);
    for (size_t i = 0; i < MANY; i++) {
        const size_t whom = test_random(&seed) % RECEIVERS;
        to[i] = receivers[whom];
        p.values[i].value = expected[whom]++;
    }
    assert_int_equal(MANY, weir_engine_post_batch(engine, to, MANY, p.list, MANY, NULL));
    test_engine_start(engine);
    assert_int_equal(MANY, test_engine_end(engine).handled);
    for (size_t i = 0; i < RECEIVERS; i++) {
        test_recorder_saw_run(&r[i], 0, expected[i]);
    }
}

/* The first, one amid a run, two in a row, the last. */
static void what_is_wrong_in_a_batch_is_told_and_the_rest_arrives(void **state)
{
    (void)state;
    static parcels p;
    static test_recorder r;
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = recorder_add(engine, &r);
    parcels_fill(&p, 0);
    p.list[0] = NULL;
    p.events[70].size = 3; /* not that of its type */
    p.events[71].type = NULL;
    p.events[MANY - 1].data = NULL;
    uint64_t value = 0;
    for (size_t i = 1; i < MANY - 1; i++) {
        p.values[i].value = i == 70 || i == 71 ? 0 : value++;
    }
    assert_int_equal(MANY - 4, weir_engine_post_batch(engine, &to, 1, p.list, MANY, p.statuses));
    assert_statuses(&p, 0, 1, WEIR_E_INVALID);
    assert_statuses(&p, 1, 69, WEIR_OK);
    assert_statuses(&p, 70, 1, WEIR_E_TYPE);
    assert_statuses(&p, 71, 1, WEIR_E_INVALID);
    assert_statuses(&p, 72, MANY - 73, WEIR_OK);
    assert_statuses(&p, MANY - 1, 1, WEIR_E_INVALID);
    assert_statuses(&p, MANY, 1, 0x55555555);
    assert_int_equal(4, test_engine_counters(engine).refused_other);
    /* And without anybody to tell. */
    assert_int_equal(MANY - 4, weir_engine_post_batch(engine, &to, 1, p.list, MANY, NULL));
    assert_int_equal(8, test_engine_counters(engine).refused_other);
    test_engine_start(engine);
    assert_int_equal(2 * (MANY - 4), test_engine_end(engine).handled);
    assert_int_equal(value - 1, r.seen[value - 1]);
    assert_int_equal(0, r.seen[value]);
}

static void a_receiver_that_is_gone_is_unknown_for_its_events_only(void **state)
{
    (void)state;
    enum { GONE_FIRST = 100, GONE_COUNT = 90 };
    static parcels p;
    static test_recorder r, gone;
    weir_processor to[MANY];
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor stays = recorder_add(engine, &r);
    const weir_processor goes = recorder_add(engine, &gone);
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, goes, 0, NULL));
    parcels_fill(&p, 0);
    for (size_t i = 0; i < MANY; i++) {
        to[i] = i >= GONE_FIRST && i < GONE_FIRST + GONE_COUNT ? goes : stays;
    }
    const uint64_t before = test_engine_counters(engine).refused_unknown;
    assert_int_equal(MANY - GONE_COUNT,
                     weir_engine_post_batch(engine, to, MANY, p.list, MANY, p.statuses));
    assert_statuses(&p, 0, GONE_FIRST, WEIR_OK);
    assert_statuses(&p, GONE_FIRST, GONE_COUNT, WEIR_UNKNOWN);
    assert_statuses(&p, GONE_FIRST + GONE_COUNT, MANY - GONE_FIRST - GONE_COUNT, WEIR_OK);
    assert_int_equal(before + GONE_COUNT, test_engine_counters(engine).refused_unknown);
    assert_int_equal(MANY - GONE_COUNT, test_engine_end(engine).handled);
    assert_int_equal(0, test_recorder_handled(&gone));
}

/* A run is cut into pieces; a refusal in the first piece is one for the pieces behind it too. */
static void after_full_the_rest_of_a_run_is_full_and_the_next_receiver_is_not(void **state)
{
    (void)state;
    enum { BOUND = 10, FIRST = 200 };
    static parcels p;
    static test_recorder r, wide;
    weir_processor to[MANY];
    weir_engine *engine = test_engine_create(NULL);
    test_recorder_init(&r, false);
    const weir_processor narrow =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &r,
                                                  .mailbox_max = BOUND));
    const weir_processor roomy = recorder_add(engine, &wide);
    parcels_fill(&p, 0);
    for (size_t i = 0; i < MANY; i++) {
        to[i] = i < FIRST ? narrow : roomy;
    }
    assert_int_equal(BOUND + MANY - FIRST,
                     weir_engine_post_batch(engine, to, MANY, p.list, MANY, p.statuses));
    assert_statuses(&p, 0, BOUND, WEIR_OK);
    assert_statuses(&p, BOUND, FIRST - BOUND, WEIR_FULL);
    assert_statuses(&p, FIRST, MANY - FIRST, WEIR_OK);
    assert_int_equal(FIRST - BOUND, test_engine_counters(engine).refused_full);
    assert_int_equal(BOUND, test_processor_counters(engine, narrow).depth);
    test_engine_start(engine);
    assert_int_equal(BOUND + MANY - FIRST, test_engine_end(engine).handled);
    test_recorder_saw_run(&r, 0, BOUND);
}

static void a_batch_to_a_stopped_engine_is_stopping_throughout(void **state)
{
    (void)state;
    static parcels p;
    static test_recorder r;
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = recorder_add(engine, &r);
    test_engine_start(engine);
    (void)test_engine_stop(engine);
    parcels_fill(&p, 0);
    assert_int_equal(0, weir_engine_post_batch(engine, &to, 1, p.list, 5, p.statuses));
    assert_statuses(&p, 0, 5, WEIR_STOPPING);
    assert_statuses(&p, 5, 1, 0x55555555);
    weir_engine_destroy(engine);
    assert_int_equal(0, test_recorder_handled(&r));
}

static void a_batch_that_makes_no_sense_is_refused_as_a_whole(void **state)
{
    (void)state;
    static parcels p;
    static test_recorder r;
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to[3] = { recorder_add(engine, &r) };
    parcels_fill(&p, 0);
    assert_int_equal(0, weir_engine_post_batch(engine, NULL, 1, p.list, 3, p.statuses));
    assert_statuses(&p, 0, 3, WEIR_E_INVALID);
    assert_statuses(&p, 3, 1, 0x55555555);
    assert_int_equal(0, weir_engine_post_batch(engine, to, 1, NULL, 4, p.statuses));
    assert_statuses(&p, 3, 1, WEIR_E_INVALID);
    assert_int_equal(0, weir_engine_post_batch(engine, to, 2, p.list, 5, p.statuses));
    assert_statuses(&p, 4, 1, WEIR_E_INVALID); /* neither one receiver nor one for each */
    assert_int_equal(0, weir_engine_post_batch(engine, to, 0, p.list, 6, p.statuses));
    assert_statuses(&p, 5, 1, WEIR_E_INVALID);
    assert_int_equal(0, weir_engine_post_batch(NULL, to, 1, p.list, 7, p.statuses));
    assert_statuses(&p, 6, 1, WEIR_E_INVALID);
    assert_int_equal(0, weir_engine_post_batch(NULL, to, 1, p.list, 7, NULL));
    assert_int_equal(0, weir_engine_post_batch(engine, to, 2, p.list, 5, NULL));
    assert_int_equal(0, test_engine_counters(engine).accepted);
    weir_engine_destroy(engine);
}

/* Payloads over 32 bytes travel in blocks: what is refused gives its block back. */
static void the_blocks_of_what_a_batch_refuses_are_given_back(void **state)
{
    (void)state;
    enum { COUNT = 20, BOUND = 4, SIZE = 100 };
    static test_recorder r;
    weir_engine *engine = test_engine_create(NULL);
    test_recorder_init(&r, false);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &r,
                                                  .mailbox_max = BOUND));
    char bytes[SIZE] = "";
    const weir_event event = { .type = &weir_bytes_type, .data = bytes, .size = SIZE };
    const weir_event *list[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        list[i] = &event;
    }
    assert_int_equal(1, weir_engine_post_batch(engine, &to, 1, list, 1, NULL));
    const uint64_t one = test_engine_counters(engine).block_bytes;
    assert_true(one >= SIZE);
    assert_int_equal(BOUND - 1, weir_engine_post_batch(engine, &to, 1, list, COUNT, NULL));
    assert_int_equal(BOUND * one, test_engine_counters(engine).block_bytes);
    test_engine_start(engine);
    const weir_stop_report report = test_engine_stop(engine);
    assert_int_equal(BOUND, report.accepted);
    assert_int_equal(0, test_engine_counters(engine).block_bytes);
    weir_engine_destroy(engine);
}

/* ---- what a call leaves behind ---- */

static void send_one_alone(weir_engine *engine, weir_processor to, weir_processor asker)
{
    (void)asker;
    assert_int_equal(WEIR_OK, test_post(engine, to, 0));
}

static void send_one_as_a_batch(weir_engine *engine, weir_processor to, weir_processor asker)
{
    (void)asker;
    const weir_event *const list[] = { WEIR_EVENT(number, 0) };
    assert_int_equal(1, weir_engine_post_batch(engine, &to, 1, list, 1, NULL));
}

/* As a signal handler would; it does not matter who calls. */
static void send_one_by_a_signal(weir_engine *engine, weir_processor to, weir_processor asker)
{
    static weir_signal signal;
    static weir_engine *opened_for;
    (void)asker;
    if (opened_for != engine) {
        weir_error error = WEIR_ERROR_INIT;
        signal = weir_signal_open(engine, to, 4, &error);
        test_error_none(&error);
        opened_for = engine;
    }
    assert_int_equal(WEIR_OK, weir_signal_post(signal, 0));
}

static void send_one_to_the_asker(weir_engine *engine, weir_processor to, weir_processor asker)
{
    (void)to;
    assert_int_equal(WEIR_OK, test_post(engine, asker, 0));
}

/* Asks once for room where there is some; the answer is the second event. */
static weir_status ask_for_room(void *state, weir_turn *turn, const weir_event *event)
{
    return weir_event_as(event, &number_type) != NULL
               ? weir_turn_want_room(turn, *(weir_processor *)state, 0)
               : WEIR_OK;
}

/* Places of processors that are gone are used again, once nobody can be inside a call that has
 * found them. A call that is over is over: after it, as many come and go as one likes. */
static void places_are_used_again_after(void (*send_one)(weir_engine *engine, weir_processor to,
                                                         weir_processor asker))
{
    enum { CYCLES = 700 }; /* more than a part of the table holds */
    static test_recorder r;
    test_fault fault;
    test_fault_init(&fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
    weir_engine *engine =
        test_engine_create(WEIR_ENGINE(.allocator = &allocator, .log_level = WEIR_LOG_OFF));
    (void)test_thread_add(engine, NULL);
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("ask")));
    weir_processor to = recorder_add(engine, &r);
    const weir_processor asker = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = ask_for_room, .argument = &to, .dispatcher = "ask"));
    test_engine_start(engine);
    size_t bytes = 0;
    for (int calls = 0; calls < 5; calls++) {
        send_one(engine, to, asker);
        TEST_UNTIL(test_engine_counters(engine).depth == 0);
        for (int i = 0; i < CYCLES; i++) {
            const weir_processor brief =
                test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle));
            assert_int_equal(WEIR_OK, weir_processor_stop(engine, brief, 0, NULL));
        }
        if (calls == 1) { /* by now pools have what they need */
            bytes = atomic_load(&fault.bytes);
        } else if (calls > 1) {
            assert_in_range(atomic_load(&fault.bytes), 0, bytes + 16384); /* not a part more */
        }
    }
    (void)test_engine_end(engine);
    assert_int_equal(0, atomic_load(&fault.bytes));
    assert_int_equal(0, atomic_load(&fault.wrong));
}

static void after_a_call_the_places_of_processors_are_used_again(void **state)
{
    (void)state;
    places_are_used_again_after(send_one_alone);
    places_are_used_again_after(send_one_as_a_batch);
    places_are_used_again_after(send_one_by_a_signal);
    places_are_used_again_after(send_one_to_the_asker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_to_one_arrives_whole_and_in_order),
        cmocka_unit_test(a_batch_to_many_keeps_each_receivers_order),
        cmocka_unit_test(what_is_wrong_in_a_batch_is_told_and_the_rest_arrives),
        cmocka_unit_test(a_receiver_that_is_gone_is_unknown_for_its_events_only),
        cmocka_unit_test(after_full_the_rest_of_a_run_is_full_and_the_next_receiver_is_not),
        cmocka_unit_test(a_batch_to_a_stopped_engine_is_stopping_throughout),
        cmocka_unit_test(a_batch_that_makes_no_sense_is_refused_as_a_whole),
        cmocka_unit_test(the_blocks_of_what_a_batch_refuses_are_given_back),
        cmocka_unit_test(after_a_call_the_places_of_processors_are_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
