/*
 * room_test.c - want_room: instead of trying again, a handler is told when a mailbox has fallen
 * below half (S-13).
 *
 * The target is a gated recorder, so a test knows how full it is at every moment; the asker writes
 * down what it was answered and what it was told.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

enum { BOUND = 10, NOTES_MAX = 32 };

typedef struct room_note {
    uint64_t tag;
    weir_processor target;
    bool gone;
    uint64_t target_handled; /* by then */
} room_note;

/* An event of value v makes it ask for room once, with v as the tag. */
typedef struct asker {
    weir_processor target;
    test_recorder *target_recorder;
    weir_status asked[NOTES_MAX];
    size_t asked_count;
    room_note rooms[NOTES_MAX];
    size_t room_count;
    sem_t done; /* asked once more */
    sem_t told; /* told once more */
} asker;

static void asker_init(asker *a, weir_processor target, test_recorder *recorder)
{
    memset(a, 0, sizeof(*a));
    a->target = target;
    a->target_recorder = recorder;
    assert_int_equal(0, sem_init(&a->done, 0, 0));
    assert_int_equal(0, sem_init(&a->told, 0, 0));
}

static weir_status asker_handle(void *state, weir_turn *turn, const weir_event *event)
{
    asker *a = state;
    const weir_room *room = weir_event_as(event, &weir_room_type);
    const number *n = weir_event_as(event, &number_type);
    if (room != NULL && a->room_count < NOTES_MAX) {
        const uint64_t handled =
            a->target_recorder != NULL ? test_recorder_handled(a->target_recorder) : 0;
        a->rooms[a->room_count++] = (room_note){ event->tag, room->target, room->gone, handled };
        (void)sem_post(&a->told);
        return WEIR_OK;
    }
    if (n == NULL || a->asked_count == NOTES_MAX) {
        return WEIR_UNHANDLED;
    }
    a->asked[a->asked_count++] = weir_turn_want_room(turn, a->target, n->value);
    (void)sem_post(&a->done);
    return WEIR_OK;
}

static weir_processor add_asker(weir_engine *engine, asker *a, uint32_t mailbox_max)
{
    return test_processor_add(
        engine, WEIR_PROCESSOR(.handler = asker_handle, .argument = a, .mailbox_max = mailbox_max));
}

static weir_processor add_target(weir_engine *engine, test_recorder *recorder)
{
    return test_processor_add(engine,
                              WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = recorder,
                                             .mailbox_max = BOUND, .dispatcher = "target"));
}

/* The target's thread may stand in the gate, so the askers have one of their own. */
static weir_engine *create_with_two_dispatchers(void)
{
    weir_engine *engine = test_engine_create(NULL);
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("")));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("target")));
    return engine;
}

/* One event in hand, BOUND behind it. */
static void fill(weir_engine *engine, weir_processor target, test_recorder *recorder)
{
    assert_int_equal(WEIR_OK, test_post(engine, target, 1));
    test_sem_wait(&recorder->entered);
    for (uint64_t i = 0; i < BOUND; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, target, 2 + i));
    }
    assert_int_equal(WEIR_FULL, test_post(engine, target, 99));
}

static void ask(weir_engine *engine, weir_processor asker_handle_of, asker *a, uint64_t tag)
{
    assert_int_equal(WEIR_OK, test_post(engine, asker_handle_of, tag));
    test_sem_wait(&a->done);
}

static void want_room_brings_one_event_when_the_mailbox_has_fallen_below_half(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = create_with_two_dispatchers();
    const weir_processor target = add_target(engine, &recorder);
    asker a;
    asker_init(&a, target, &recorder);
    const weir_processor self = add_asker(engine, &a, 0);
    test_engine_start(engine);
    fill(engine, target, &recorder);
    ask(engine, self, &a, 77);
    assert_int_equal(WEIR_OK, a.asked[0]);

    /* One at a time: places are given back before the handler begins, so what is in hand does not
     * count. It comes with the first that leaves fewer than half, and not before. */
    for (uint64_t waiting = BOUND - 1; waiting >= BOUND / 2; waiting--) {
        test_recorder_pass(&recorder, 1);
        test_sem_wait(&recorder.entered);
        assert_int_equal(0, test_engine_counters(engine).rooms);
    }
    test_recorder_pass(&recorder, 1);
    test_sem_wait(&recorder.entered);
    assert_int_equal(1, test_engine_counters(engine).rooms);
    test_sem_wait(&a.told); /* although the target stands in its gate again */
    test_recorder_pass(&recorder, BOUND / 2);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(0, report.dead + report.dropped);
    assert_int_equal(1, a.room_count);
    assert_int_equal(77, a.rooms[0].tag);
    assert_int_equal(target.id, a.rooms[0].target.id);
    assert_false(a.rooms[0].gone);
    /* Not before: of BOUND, fewer than half wait only after more than half were taken out. */
    assert_true(a.rooms[0].target_handled >= BOUND / 2 + 1);
    test_recorder_saw_run(&recorder, 1, BOUND + 1);
}

static void want_room_comes_at_once_if_there_is_room_already(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = create_with_two_dispatchers();
    const weir_processor target = add_target(engine, &recorder);
    asker a;
    asker_init(&a, target, &recorder);
    const weir_processor self = add_asker(engine, &a, 0);
    test_engine_start(engine);
    ask(engine, self, &a, 5);
    test_sem_wait(&a.told); /* although the target never gets an event */
    (void)test_engine_end(engine);
    assert_int_equal(WEIR_OK, a.asked[0]);
    assert_int_equal(1, a.room_count);
    assert_int_equal(5, a.rooms[0].tag);
    assert_false(a.rooms[0].gone);
}

static void each_asker_is_told_once_for_each_time_it_asked(void **state)
{
    (void)state;
    enum { ASKERS = 6, TIMES = 3 };
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = create_with_two_dispatchers();
    const weir_processor target = add_target(engine, &recorder);
    asker askers[ASKERS];
    weir_processor selves[ASKERS];
    for (size_t i = 0; i < ASKERS; i++) {
        asker_init(&askers[i], target, &recorder);
        selves[i] = add_asker(engine, &askers[i], 0);
    }
    test_engine_start(engine);
    fill(engine, target, &recorder);
    for (uint64_t t = 0; t < TIMES; t++) {
        for (size_t i = 0; i < ASKERS; i++) {
            ask(engine, selves[i], &askers[i], 100 * i + t);
            assert_int_equal(WEIR_OK, askers[i].asked[t]);
        }
    }
    assert_int_equal(0, test_engine_counters(engine).rooms); /* none is sent yet */
    test_recorder_pass(&recorder, BOUND + 1);
    for (size_t i = 0; i < ASKERS * TIMES; i++) {
        test_sem_wait(&askers[i % ASKERS].told);
    }
    (void)test_engine_stop(engine);
    assert_int_equal(ASKERS * TIMES, test_engine_counters(engine).rooms);
    for (size_t i = 0; i < ASKERS; i++) {
        assert_int_equal(TIMES, askers[i].room_count);
        unsigned tags = 0;
        for (uint64_t t = 0; t < TIMES; t++) {
            assert_in_range(askers[i].rooms[t].tag, 100 * i, 100 * i + TIMES - 1);
            tags |= 1u << (askers[i].rooms[t].tag - 100 * i);
        }
        assert_int_equal((1u << TIMES) - 1, tags); /* each once */
    }
    weir_engine_destroy(engine);
}

static void the_place_of_a_room_event_is_taken_when_it_is_asked_for(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = create_with_two_dispatchers();
    const weir_processor target = add_target(engine, &recorder);
    asker a;
    asker_init(&a, target, &recorder);
    const weir_processor self = add_asker(engine, &a, 2);
    test_engine_start(engine);
    fill(engine, target, &recorder);
    ask(engine, self, &a, 1);
    ask(engine, self, &a, 2);
    assert_int_equal(WEIR_OK, a.asked[0]);
    assert_int_equal(WEIR_OK, a.asked[1]);
    assert_int_equal(WEIR_FULL, test_post(engine, self, 3)); /* both places are taken */
    assert_true(test_processor_counters(engine, self).rooms +
                    test_processor_counters(engine, target).rooms >=
                2);
    test_recorder_pass(&recorder, BOUND + 1);
    test_sem_wait(&a.told);
    test_sem_wait(&a.told); /* they cannot be refused */
    ask(engine, self, &a, 4);
    test_sem_wait(&a.told); /* and the places are free again */
    assert_int_equal(0, test_processor_counters(engine, self).rooms);
    (void)test_engine_end(engine);
    assert_int_equal(3, a.room_count);
}

typedef struct greedy {
    weir_processor target;
    weir_status asked[4];
    size_t rooms;
    sem_t done;
} greedy;

static weir_status greedy_handle(void *state, weir_turn *turn, const weir_event *event)
{
    greedy *g = state;
    if (weir_event_as(event, &weir_room_type) != NULL) {
        g->rooms++;
        return WEIR_OK;
    }
    for (uint64_t i = 0; i < 4; i++) {
        g->asked[i] = weir_turn_want_room(turn, g->target, i);
    }
    (void)sem_post(&g->done);
    return WEIR_OK;
}

static void want_room_answers_full_when_the_askers_own_mailbox_is(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = create_with_two_dispatchers();
    greedy g = { .target = add_target(engine, &recorder) };
    assert_int_equal(0, sem_init(&g.done, 0, 0));
    const weir_processor self = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = greedy_handle, .argument = &g, .mailbox_max = 3));
    test_engine_start(engine);
    fill(engine, g.target, &recorder);
    assert_int_equal(WEIR_OK, test_post(engine, self, 0));
    test_sem_wait(&g.done);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(i < 3 ? WEIR_OK : WEIR_FULL, g.asked[i]);
    }
    test_recorder_pass(&recorder, BOUND + 1);
    (void)test_engine_end(engine);
    assert_int_equal(3, g.rooms);
}

static void a_target_that_stops_first_is_told_as_gone(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = create_with_two_dispatchers();
    const weir_processor target = add_target(engine, &recorder);
    asker a;
    asker_init(&a, target, &recorder);
    const weir_processor self = add_asker(engine, &a, 0);
    test_engine_start(engine);
    fill(engine, target, &recorder);
    ask(engine, self, &a, 9);
    weir_stop_report stopped = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(engine, target, WEIR_MS, &stopped));
    assert_int_equal(BOUND + 1, stopped.left);
    test_recorder_pass(&recorder, BOUND + 1);
    test_sem_wait(&a.told);

    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_true(weir_engine_stop(engine, TEST_PATIENCE, &report) >= WEIR_OK);
    assert_int_equal(report.accepted, report.handled + report.dropped + report.dead + report.left);
    weir_engine_destroy(engine);
    assert_int_equal(1, a.room_count);
    assert_int_equal(9, a.rooms[0].tag);
    assert_int_equal(target.id, a.rooms[0].target.id);
    assert_true(a.rooms[0].gone);
}

static void want_room_of_what_is_gone_answers_unknown(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = create_with_two_dispatchers();
    const weir_processor target = add_target(engine, &recorder);
    asker a;
    asker_init(&a, target, &recorder);
    const weir_processor self = add_asker(engine, &a, 0);
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, target, 0, NULL));
    ask(engine, self, &a, 1);
    assert_int_equal(WEIR_UNKNOWN, a.asked[0]);
    a.target = (weir_processor){ 0 };
    ask(engine, self, &a, 2);
    assert_int_equal(WEIR_UNKNOWN, a.asked[1]);
    (void)test_engine_end(engine);
    assert_int_equal(0, a.room_count);
}

static void want_room_that_was_refused_keeps_no_place(void **state)
{
    (void)state;
    weir_engine *engine = create_with_two_dispatchers();
    asker a;
    asker_init(&a, (weir_processor){ 0 }, NULL);
    const weir_processor self = add_asker(engine, &a, BOUND);
    test_engine_start(engine);
    for (uint64_t i = 0; i < 2 * BOUND; i++) { /* more often than its own mailbox has places */
        ask(engine, self, &a, i);
        assert_int_equal(WEIR_UNKNOWN, a.asked[i]);
    }
    assert_int_equal(2 * BOUND, test_engine_end(engine).handled);
}

static void a_stop_of_the_asker_does_not_wait_for_its_room(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = create_with_two_dispatchers();
    const weir_processor target = add_target(engine, &recorder);
    asker a;
    asker_init(&a, target, &recorder);
    const weir_processor self = add_asker(engine, &a, 0);
    test_engine_start(engine);
    fill(engine, target, &recorder);
    ask(engine, self, &a, 1);
    const weir_ns begin = test_now();
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, self, TEST_PATIENCE, &report));
    assert_true(test_now() - begin < TEST_PATIENCE / 2);
    assert_int_equal(report.accepted, report.handled + report.dropped + report.dead);
    test_recorder_pass(&recorder, BOUND + 1);
    (void)test_engine_end(engine);
    assert_int_equal(0, a.room_count);
    test_recorder_saw_run(&recorder, 1, BOUND + 1);
}

/* ---- a stream under back-pressure ---- */

typedef struct stream {
    weir_processor target;
    uint64_t next, last;
    uint64_t asked;
    uint64_t failures;
} stream;

static weir_status stream_handle(void *state, weir_turn *turn, const weir_event *event)
{
    stream *s = state;
    (void)event; /* the start, or a room */
    while (s->next <= s->last) {
        const weir_status status = weir_turn_post(turn, s->target, WEIR_EVENT(number, s->next));
        if (status == WEIR_FULL) {
            s->asked++;
            s->failures += weir_turn_want_room(turn, s->target, 0) != WEIR_OK;
            return WEIR_OK;
        }
        s->failures += status != WEIR_OK;
        s->next++;
    }
    return WEIR_OK;
}

static void a_sender_that_asks_for_room_loses_nothing_and_a_stop_lets_it_finish(void **state)
{
    (void)state;
    enum { STREAMS = 3 };
    const uint64_t last = test_load(100000, 10000);
    weir_engine *engine = create_with_two_dispatchers();
    test_recorder recorders[STREAMS];
    stream streams[STREAMS];
    for (size_t i = 0; i < STREAMS; i++) {
        test_recorder_init(&recorders[i], false);
        streams[i] =
            (stream){ .target = add_target(engine, &recorders[i]), .next = 1, .last = last };
        const weir_processor self =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = stream_handle,
                                                      .argument = &streams[i], .mailbox_max = 1));
        assert_int_equal(WEIR_OK, test_post(engine, self, 0));
    }
    test_engine_start(engine);
    const weir_stop_report report = test_engine_stop(engine);
    const weir_counters counters = test_engine_counters(engine);
    uint64_t asked = 0;
    for (size_t i = 0; i < STREAMS; i++) {
        assert_int_equal(0, streams[i].failures);
        assert_true(streams[i].asked > 0);
        asked += streams[i].asked;
        test_recorder_saw_run(&recorders[i], 1, last);
    }
    assert_int_equal(asked, counters.rooms);
    assert_int_equal(asked, counters.refused_full);
    assert_int_equal(report.accepted, report.handled);
    weir_engine_destroy(engine);
}

/* ---- room in one's own mailbox ---- */

typedef struct selfish {
    weir_status posted[4], asked_full, asked;
    uint64_t handled, rooms;
    uint64_t handled_when_told;
} selfish;

static weir_status selfish_handle(void *state, weir_turn *turn, const weir_event *event)
{
    selfish *s = state;
    const weir_processor self = weir_turn_self(turn);
    if (weir_event_as(event, &weir_room_type) != NULL) {
        s->rooms++;
        s->handled_when_told = s->handled;
        return WEIR_OK;
    }
    if (s->handled++ == 0) {
        for (size_t i = 0; i < 4; i++) {
            s->posted[i] = weir_turn_post(turn, self, event);
        }
        s->asked_full = weir_turn_want_room(turn, self, 1);
    } else if (s->handled == 2) {
        s->asked = weir_turn_want_room(turn, self, 2);
    }
    return WEIR_OK;
}

static void a_processor_may_want_room_in_its_own_mailbox(void **state)
{
    (void)state;
    selfish s = { .asked = WEIR_E_USER };
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor self = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = selfish_handle, .argument = &s, .mailbox_max = 4));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, self, 0));
    (void)test_engine_end(engine);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(WEIR_OK, s.posted[i]);
    }
    assert_int_equal(WEIR_FULL, s.asked_full);
    assert_int_equal(WEIR_OK, s.asked);
    assert_int_equal(5, s.handled);
    assert_int_equal(1, s.rooms);
}

/* ---- owed places are not events ---- */

typedef struct pair_half {
    weir_processor other;
    weir_status asked;
    uint64_t rooms;
} pair_half;

static weir_status pair_handle(void *state, weir_turn *turn, const weir_event *event)
{
    pair_half *half = state;
    const number *n = weir_event_as(event, &number_type);
    if (n == NULL) {
        half->rooms += weir_event_as(event, &weir_room_type) != NULL;
    } else if (n->value == 1) {
        half->asked = weir_turn_want_room(turn, half->other, 0);
    }
    return WEIR_OK;
}

/* A place that is taken for a room event holds nothing. If it counted as mail, each of the two
 * would wait for ever for the other to fall below half. */
static void two_that_want_room_of_each_other_are_both_told(void **state)
{
    (void)state;
    for (uint32_t bound = 1; bound <= 4; bound++) {
        pair_half halves[2] = { { .asked = WEIR_E_USER }, { .asked = WEIR_E_USER } };
        weir_engine *engine = test_engine_create(NULL);
        weir_processor selves[2];
        for (size_t i = 0; i < 2; i++) {
            selves[i] = test_processor_add(engine, WEIR_PROCESSOR(.handler = pair_handle,
                                                                  .argument = &halves[i],
                                                                  .mailbox_max = bound));
        }
        for (size_t i = 0; i < 2; i++) {
            halves[i].other = selves[1 - i];
            for (uint64_t value = 1; value <= bound; value++) {
                assert_int_equal(WEIR_OK, test_post(engine, selves[i], value));
            }
        }
        test_engine_start(engine);
        (void)test_engine_end(engine);
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(WEIR_OK, halves[i].asked);
            assert_int_equal(1, halves[i].rooms);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(want_room_brings_one_event_when_the_mailbox_has_fallen_below_half),
        cmocka_unit_test(want_room_comes_at_once_if_there_is_room_already),
        cmocka_unit_test(each_asker_is_told_once_for_each_time_it_asked),
        cmocka_unit_test(the_place_of_a_room_event_is_taken_when_it_is_asked_for),
        cmocka_unit_test(want_room_answers_full_when_the_askers_own_mailbox_is),
        cmocka_unit_test(a_target_that_stops_first_is_told_as_gone),
        cmocka_unit_test(want_room_of_what_is_gone_answers_unknown),
        cmocka_unit_test(want_room_that_was_refused_keeps_no_place),
        cmocka_unit_test(a_stop_of_the_asker_does_not_wait_for_its_room),
        cmocka_unit_test(a_sender_that_asks_for_room_loses_nothing_and_a_stop_lets_it_finish),
        cmocka_unit_test(a_processor_may_want_room_in_its_own_mailbox),
        cmocka_unit_test(two_that_want_room_of_each_other_are_both_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
