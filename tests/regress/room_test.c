/*
 * room_test.c - bugs that were: places that are promised. A room event was evicted like any other;
 * a mailbox that was full of promises told those who wanted room in it, who found it full, asked
 * again, and were told again, for ever; a poster looked for something to evict where nothing was.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "regress_support.h"

/* At a number it posts to `target` and, if that is full, asks for room; so it does when told. */
typedef struct wanting {
    weir_processor target;
    bool only_asks;      /* does not post */
    bool gated;          /* waits for `pass` after it has asked */
    atomic_int rooms;    /* room events */
    atomic_int accepted; /* posts */
    weir_status asked;
    sem_t done, pass;
} wanting;

static void wanting_init(wanting *w, weir_processor target)
{
    memset(w, 0, sizeof(*w));
    w->target = target;
    w->asked = WEIR_E_USER;
    assert_int_equal(0, sem_init(&w->done, 0, 0));
    assert_int_equal(0, sem_init(&w->pass, 0, 0));
}

static weir_status wanting_handle(void *state, weir_turn *turn, const weir_event *event)
{
    wanting *w = state;
    const bool first = w->asked == WEIR_E_USER;
    if (event->type == &weir_room_type) {
        atomic_fetch_add(&w->rooms, 1);
    } else if (!first) {
        return WEIR_OK; /* only the first number counts */
    }
    if (w->only_asks && !first) {
        return WEIR_OK;
    }
    if (!w->only_asks && weir_turn_post(turn, w->target, WEIR_EVENT(number, 7)) != WEIR_FULL) {
        atomic_fetch_add(&w->accepted, 1);
        return WEIR_OK;
    }
    w->asked = weir_turn_want_room(turn, w->target, 0);
    if (first) {
        (void)sem_post(&w->done);
        return !w->gated || test_sem_taken(&w->pass) ? WEIR_OK : WEIR_E_USER;
    }
    return WEIR_OK;
}

/* A full mailbox of one: one in hand, one behind it. */
static weir_processor add_stuck(weir_engine *engine, test_recorder *recorder)
{
    return test_processor_add(engine,
                              WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = recorder,
                                             .mailbox_max = 1, .dispatcher = "stuck"));
}

static void fill(weir_engine *engine, weir_processor stuck, test_recorder *recorder)
{
    put_in_hand(engine, stuck, recorder);
    assert_int_equal(WEIR_OK, test_post(engine, stuck, 2));
}

static weir_engine *create(weir_thread *own)
{
    weir_engine *engine = quiet_engine(0);
    *own = test_thread_add(engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("stuck")));
    return engine;
}

/* Who drops its oldest, has two places, and is inside its handler, where it has asked for room: one
 * place is promised, one is free. It stays there until w->pass. */
static weir_processor begin_asking(weir_engine *engine, wanting *w, test_recorder *recorder)
{
    test_recorder_init(recorder, true);
    wanting_init(w, add_stuck(engine, recorder));
    w->only_asks = true;
    w->gated = true;
    const weir_processor asker = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = wanting_handle, .argument = w, .mailbox_max = 2,
                               .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    test_engine_start(engine);
    fill(engine, w->target, recorder);
    assert_int_equal(WEIR_OK, test_post(engine, asker, 0));
    test_sem_wait(&w->done);
    return asker;
}

static void a_room_event_is_not_evicted(void **state)
{
    (void)state;
    test_recorder recorder;
    weir_thread own;
    weir_engine *engine = create(&own);
    wanting w;
    const weir_processor asker = begin_asking(engine, &w, &recorder);
    test_recorder_pass(&recorder, 2);
    TEST_UNTIL(test_engine_counters(engine).rooms == 1); /* sent: it is the oldest there */
    for (uint64_t i = 1; i <= 5; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, asker, i));
    }
    assert_int_equal(0, sem_post(&w.pass));
    TEST_UNTIL(test_processor_counters(engine, asker).depth == 0);
    assert_int_equal(WEIR_OK, w.asked);
    assert_int_equal(1, atomic_load(&w.rooms));
    assert_int_equal(4, test_processor_counters(engine, asker).dropped_oldest);
    assert_int_equal(4, test_engine_end(engine).dropped);
}

/* T waits for room in what is stuck, so its only place is promised; A wants room in T. */
static void who_wants_room_where_all_is_promised_is_told_when_a_post_would_pass(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_thread own;
    weir_engine *engine = create(&own);
    wanting t, a;
    wanting_init(&t, add_stuck(engine, &recorder));
    t.only_asks = true;
    wanting_init(&a, test_processor_add(engine, WEIR_PROCESSOR(.handler = wanting_handle,
                                                               .argument = &t, .mailbox_max = 1)));
    const weir_processor asker =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = wanting_handle, .argument = &a));
    test_engine_start(engine);
    fill(engine, t.target, &recorder);
    assert_int_equal(WEIR_OK, test_post(engine, a.target, 0));
    test_sem_wait(&t.done);
    TEST_UNTIL(test_processor_counters(engine, a.target).depth == 0);
    const uint64_t parks = parks_of(engine, own);
    assert_int_equal(WEIR_OK, test_post(engine, asker, 0));
    test_sem_wait(&a.done);
    TEST_UNTIL(parks_of(engine, own) > parks); /* else it is told, and asks, for ever */
    assert_int_equal(0, atomic_load(&a.rooms));
    test_recorder_pass(&recorder, 2);
    TEST_UNTIL(atomic_load(&a.accepted) == 1);
    assert_int_equal(1, atomic_load(&a.rooms));
    assert_int_equal(WEIR_OK, t.asked);
    (void)test_engine_end(engine);
    assert_int_equal(1, atomic_load(&t.rooms));
}

static void where_all_is_promised_there_is_nothing_to_evict_and_the_new_one_is_dropped(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_thread own;
    weir_engine *engine = create(&own);
    wanting w;
    wanting_init(&w, add_stuck(engine, &recorder));
    w.only_asks = true;
    const weir_processor asker = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = wanting_handle, .argument = &w, .mailbox_max = 1,
                               .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    test_engine_start(engine);
    fill(engine, w.target, &recorder);
    assert_int_equal(WEIR_OK, test_post(engine, asker, 0));
    test_sem_wait(&w.done);
    TEST_UNTIL(test_processor_counters(engine, asker).depth == 0);
    assert_int_equal(WEIR_DROPPED, test_post(engine, asker, 1));
    assert_int_equal(1, test_processor_counters(engine, asker).dropped_newest);
    test_recorder_pass(&recorder, 2);
    TEST_UNTIL(atomic_load(&w.rooms) == 1);
    TEST_UNTIL(test_processor_counters(engine, asker).depth == 0);
    assert_int_equal(WEIR_OK, test_post(engine, asker, 2));
    assert_int_equal(1, test_engine_end(engine).dropped);
}

/* Promised places and one event make it full: that event is the oldest, and goes. */
static void beside_promised_places_the_only_event_is_evicted(void **state)
{
    (void)state;
    test_recorder recorder;
    weir_thread own;
    weir_engine *engine = create(&own);
    wanting w;
    const weir_processor asker = begin_asking(engine, &w, &recorder);
    assert_int_equal(WEIR_OK, test_post(engine, asker, 1));
    for (uint64_t i = 1; i <= 3; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, asker, 1 + i));
        assert_int_equal(i, test_processor_counters(engine, asker).dropped_oldest);
        assert_int_equal(0, test_processor_counters(engine, asker).dropped_newest);
    }
    assert_int_equal(0, sem_post(&w.pass));
    test_recorder_pass(&recorder, 2);
    TEST_UNTIL(atomic_load(&w.rooms) == 1);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(3, report.dropped);
    assert_int_equal(report.accepted - 3, report.handled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_room_event_is_not_evicted),
        cmocka_unit_test(who_wants_room_where_all_is_promised_is_told_when_a_post_would_pass),
        cmocka_unit_test(beside_promised_places_the_only_event_is_evicted),
        cmocka_unit_test(
            where_all_is_promised_there_is_nothing_to_evict_and_the_new_one_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
