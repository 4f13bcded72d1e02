/*
 * watch_test.c - one event when a watched processor has ended, whatever the reason, and none that
 * was not asked for (S-17).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "watch_support.h"

static void the_end_of_a_watched_processor_brings_one_event(void **state)
{
    (void)state;
    bed b;
    watcher w;
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    const weir_processor target = bed_target(&b);
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, target, 7));
    assert_int_equal(0, w.note_count);
    assert_int_equal(1, test_processor_counters(b.engine, w.handle).rooms);
    bed_stop(&b, target);
    assert_int_equal(1, w.note_count);
    assert_told(&w, 0, target, WEIR_OK, 7);
    assert_int_equal(0, w.notes[0].down.left);
    assert_string_equal("", w.notes[0].down.text);
    assert_int_equal(0, test_processor_counters(b.engine, w.handle).rooms);
    bed_turn(&b);
    assert_int_equal(1, w.note_count);
    bed_end(&b);
}

static void what_has_ended_already_is_told_at_once_as_unknown(void **state)
{
    (void)state;
    bed b;
    watcher w;
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    const weir_processor target = bed_target(&b);
    test_engine_start(b.engine);
    bed_stop(&b, target);
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, target, 8));
    assert_int_equal(1, w.note_count);
    assert_told(&w, 0, target, WEIR_UNKNOWN, 8);
    /* So it is with one that never was; and each such watch is one of its own. */
    const weir_processor nobody = { target.id + ((uint64_t)7 << 32) };
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, nobody, 9));
    assert_told(&w, 1, nobody, WEIR_UNKNOWN, 9);
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, target, 10));
    assert_told(&w, 2, target, WEIR_UNKNOWN, 10);
    assert_int_equal(0, test_processor_counters(b.engine, w.handle).rooms);
    bed_end(&b);
}

static void a_second_watch_is_already_and_changes_nothing(void **state)
{
    (void)state;
    bed b;
    watcher w;
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    const weir_processor target = bed_target(&b);
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, target, 1));
    assert_int_equal(WEIR_ALREADY, bed_order(&b, &w, WATCH, target, 2));
    assert_int_equal(1, test_processor_counters(b.engine, w.handle).rooms);
    bed_stop(&b, target);
    assert_int_equal(1, w.note_count);
    assert_told(&w, 0, target, WEIR_OK, 1);
    bed_end(&b);
}

static void who_watches_no_longer_hears_nothing(void **state)
{
    (void)state;
    bed b;
    watcher w;
    watcher other;
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    watcher_add(b.engine, &other, 0);
    const weir_processor target = bed_target(&b);
    test_engine_start(b.engine);
    assert_int_equal(WEIR_ALREADY, bed_order(&b, &w, UNWATCH, target, 0));
    /* Whoever was first lends the others what they are told in, and may go before them. */
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, target, 1));
    assert_int_equal(WEIR_OK, bed_order(&b, &other, WATCH, target, 2));
    assert_int_equal(WEIR_OK, bed_order(&b, &w, UNWATCH, target, 0));
    assert_int_equal(0, test_processor_counters(b.engine, w.handle).rooms);
    assert_int_equal(WEIR_ALREADY, bed_order(&b, &w, UNWATCH, target, 0));
    bed_stop(&b, target);
    assert_int_equal(0, w.note_count);
    assert_int_equal(1, other.note_count);
    assert_told(&other, 0, target, WEIR_OK, 2);
    assert_int_equal(WEIR_ALREADY, bed_order(&b, &other, UNWATCH, target, 0));
    bed_end(&b);
}

static void what_is_watched_again_is_heard_of_once(void **state)
{
    (void)state;
    bed b;
    watcher w;
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    const weir_processor target = bed_target(&b);
    test_engine_start(b.engine);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, target, i));
        assert_int_equal(WEIR_OK, bed_order(&b, &w, UNWATCH, target, 0));
    }
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, target, 4));
    bed_stop(&b, target);
    assert_int_equal(1, w.note_count);
    assert_told(&w, 0, target, WEIR_OK, 4);
    bed_end(&b);
}

static void nobody_and_oneself_cannot_be_watched(void **state)
{
    (void)state;
    bed b;
    watcher w;
    const weir_processor nobody = { 0 };
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    test_engine_start(b.engine);
    assert_int_equal(WEIR_E_INVALID, bed_order(&b, &w, WATCH, nobody, 0));
    assert_int_equal(WEIR_E_INVALID, bed_order(&b, &w, UNWATCH, nobody, 0));
    assert_int_equal(WEIR_E_INVALID, bed_order(&b, &w, WATCH, w.handle, 0));
    assert_int_equal(WEIR_E_INVALID, bed_order(&b, &w, UNWATCH, w.handle, 0));
    assert_int_equal(WEIR_E_INVALID, weir_turn_watch(NULL, w.handle, 0));
    assert_int_equal(WEIR_E_INVALID, weir_turn_unwatch(NULL, w.handle));
    assert_int_equal(0, test_processor_counters(b.engine, w.handle).rooms);
    bed_end(&b);
}

static void a_full_mailbox_cannot_be_owed_an_event(void **state)
{
    (void)state;
    bed b;
    watcher w;
    bed_make(&b);
    watcher_add(b.engine, &w, 2);
    const weir_processor first = bed_target(&b);
    const weir_processor second = bed_target(&b);
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, first, 1));
    /* In a mailbox of two the event at hand has given its place back: fill that one. */
    const weir_event *orders[] = { WEIR_EVENT(order, WATCH, 2, second),
                                   WEIR_EVENT(order, WATCH, 3, first) };
    assert_int_equal(WEIR_OK, weir_engine_post(b.engine, w.handle, orders[0]));
    assert_int_equal(1, weir_thread_run_once(b.engine, b.loop, 1) > 0);
    assert_int_equal(WEIR_OK, w.answers[1]);
    assert_int_equal(WEIR_FULL, weir_engine_post(b.engine, w.handle, orders[0]));
    bed_stop(&b, first);
    bed_stop(&b, second);
    assert_int_equal(2, w.note_count);
    assert_told(&w, 0, first, WEIR_OK, 1);
    assert_told(&w, 1, second, WEIR_OK, 2);
    bed_end(&b);
}

static void what_is_owed_and_what_waits_are_bounded_together(void **state)
{
    (void)state;
    bed b;
    weir_processor targets[4];
    bed_make(&b);
    for (size_t i = 0; i < 4; i++) {
        targets[i] = bed_target(&b);
    }
    crowd c = { .targets = targets, .count = 4 };
    const weir_processor self = test_processor_add(
        b.engine, WEIR_PROCESSOR(.handler = watch_all, .argument = &c, .mailbox_max = 3));
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, test_post(b.engine, self, 0));
    bed_turn(&b);
    assert_int_equal(WEIR_FULL, c.last); /* the fourth */
    assert_int_equal(3, test_processor_counters(b.engine, self).rooms);
    assert_int_equal(WEIR_FULL, test_post(b.engine, self, 0));
    for (size_t i = 0; i < 4; i++) {
        bed_stop(&b, targets[i]);
    }
    assert_int_equal(3, c.done);
    assert_int_equal(0, test_processor_counters(b.engine, self).rooms);
    bed_end(&b);
}

static void a_watcher_that_is_being_stopped_is_told_so(void **state)
{
    (void)state;
    bed b;
    watcher w;
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    const weir_processor target = bed_target(&b);
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK,
                     weir_engine_post(b.engine, w.handle, WEIR_EVENT(order, WATCH, 1, target)));
    bed_stop(&b, w.handle);
    assert_int_equal(1, w.answer_count);
    assert_int_equal(WEIR_STOPPING, w.answers[0]);
    bed_stop(&b, target);
    bed_end(&b);
}

static void who_comes_too_late_to_see_an_init_fail_is_told_unknown(void **state)
{
    (void)state;
    bed b;
    watcher w;
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    test_engine_start(b.engine);
    const weir_processor target = test_processor_add(
        b.engine, WEIR_PROCESSOR(.handler = ignore, .init = fail_to_begin, .state_size = 8));
    assert_int_equal(WEIR_OK, test_post(b.engine, target, 1));
    assert_int_equal(WEIR_OK, test_post(b.engine, target, 2));
    /* Two ready processors, and the watcher is behind: it may come too late, which is UNKNOWN. */
    assert_int_equal(WEIR_OK,
                     weir_engine_post(b.engine, w.handle, WEIR_EVENT(order, WATCH, 3, target)));
    bed_turn(&b);
    assert_int_equal(1, w.note_count);
    assert_told(&w, 0, target, WEIR_UNKNOWN, 3);
    assert_int_equal(2, test_engine_counters(b.engine).dead_stopped);
    bed_end(&b);
}

/* Registers the one that will fail, and watches it before it can begin. */
static weir_status add_and_watch(void *state, weir_turn *turn, const weir_event *event)
{
    watcher *w = state;
    weir_error error = WEIR_ERROR_INIT;
    if (weir_event_as(event, &number_type) == NULL) {
        return watcher_handle(state, turn, event);
    }
    const weir_processor target = weir_processor_add(
        weir_turn_engine(turn),
        WEIR_PROCESSOR(.handler = ignore, .init = fail_to_begin, .state_size = 8), &error);
    const weir_status posted = weir_turn_post(turn, target, WEIR_EVENT(number, 1));
    w->answers[w->answer_count++] = posted;
    w->answers[w->answer_count++] = weir_turn_watch(turn, target, 4);
    return WEIR_OK;
}

static void a_processor_whose_init_fails_is_down_for_that_reason(void **state)
{
    (void)state;
    bed b;
    watcher w;
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    const weir_processor parent =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = add_and_watch, .argument = &w));
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, test_post(b.engine, parent, 0));
    bed_turn(&b);
    assert_int_equal(WEIR_OK, w.answers[0]);
    assert_int_equal(WEIR_OK, w.answers[1]);
    assert_int_equal(1, w.note_count);
    assert_int_equal(WEIR_E_USER, w.notes[0].down.reason);
    assert_string_equal("the harbour is closed", w.notes[0].down.text);
    assert_int_equal(1, w.notes[0].down.left);
    assert_int_equal(4, w.notes[0].tag);
    bed_end(&b);
}

static void a_stop_that_runs_out_of_time_is_the_reason(void **state)
{
    (void)state;
    test_recorder recorder;
    watcher w;
    test_recorder_init(&recorder, true);
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("")));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("target")));
    watcher_add(engine, &w, 0);
    const weir_processor target =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                  .argument = &recorder, .dispatcher = "target"));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK,
                     weir_engine_post(engine, w.handle, WEIR_EVENT(order, WATCH, 5, target)));
    test_sem_wait(&w.answered);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, target, i));
    }
    test_sem_wait(&recorder.entered);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(engine, target, 1, &report));
    assert_int_equal(3, report.left);
    assert_int_not_equal(0,
                         sem_trywait(&w.told)); /* its handler has not returned: it has not ended */
    test_recorder_pass(&recorder, 1);
    test_sem_wait(&w.told);
    assert_int_equal(1, w.note_count);
    assert_told(&w, 0, target, WEIR_TIMEOUT, 5);
    assert_int_equal(3, w.notes[0].down.left);
    const weir_counters c = test_engine_counters(engine); /* what is left is no dead letter */
    assert_int_equal(0, c.letters - c.letters_unknown);
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, TEST_PATIENCE, &report));
    assert_int_equal(3, report.left);
    weir_engine_destroy(engine);
}

/* Waits for its gate, and then fails. */
static weir_status wait_and_fail(void *state, weir_turn *turn, const weir_event *event)
{
    const weir_status status = test_recorder_handle(state, turn, event);
    return status == WEIR_OK ? weir_turn_fail(turn, WEIR_E_USER, "of somebody else") : status;
}

static void who_never_began_has_no_sentence_of_another(void **state)
{
    (void)state;
    test_recorder recorder;
    watcher w;
    test_recorder_init(&recorder, true);
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("")));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("target")));
    watcher_add(engine, &w, 0);
    const weir_processor before =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = wait_and_fail, .argument = &recorder,
                                                  .dispatcher = "target"));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, before, 1));
    test_sem_wait(&recorder.entered);
    const weir_processor target =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = ignore, .init = fail_to_begin,
                                                  .state_size = 8, .dispatcher = "target"));
    assert_int_equal(WEIR_OK,
                     weir_engine_post(engine, w.handle, WEIR_EVENT(order, WATCH, 5, target)));
    test_sem_wait(&w.answered);
    assert_int_equal(WEIR_OK, test_post(engine, target, 1));
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(engine, target, 1, NULL));
    test_recorder_pass(&recorder, 1);
    test_sem_wait(&w.told);
    assert_told(&w, 0, target, WEIR_TIMEOUT, 5);
    assert_string_equal("", w.notes[0].down.text);
    assert_int_equal(1, w.notes[0].down.left);
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, TEST_PATIENCE, NULL));
    weir_engine_destroy(engine);
}

static void all_that_the_target_sent_comes_before_its_end(void **state)
{
    (void)state;
    bed b;
    watcher w;
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    const weir_processor target =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = pass_on, .argument = &w.handle));
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, target, 0));
    for (int i = 0; i < 20; i++) {
        assert_int_equal(WEIR_OK, test_post(b.engine, target, 0));
    }
    bed_stop(&b, target);
    assert_int_equal(1, w.note_count);
    assert_int_equal(20, w.notes[0].numbers);
    bed_end(&b);
}

static void count_end(void *state, weir_status reason)
{
    (void)reason;
    ++**(uint64_t **)state;
}

static weir_status keep_argument(void *state, weir_turn *turn, void *argument)
{
    (void)turn;
    *(void **)state = argument;
    return WEIR_OK;
}

static void the_destroy_hook_has_run_and_the_name_is_free(void **state)
{
    (void)state;
    bed b;
    watcher w;
    uint64_t ended = 0;
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    w.look_at = &ended;
    const weir_processor_options *options =
        WEIR_PROCESSOR(.name = "harbour", .handler = ignore, .init = keep_argument,
                       .destroy = count_end, .argument = &ended, .state_size = sizeof(void *));
    const weir_processor target = test_processor_add(b.engine, options);
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, target, 0));
    bed_stop(&b, target);
    assert_int_equal(1, w.notes[0].gone_state);
    /* Whoever has its name, and perhaps its place, next is somebody else. */
    const weir_processor next = test_processor_add(b.engine, options);
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, target, 1));
    assert_told(&w, 1, target, WEIR_UNKNOWN, 1);
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, next, 2));
    assert_int_equal(2, w.note_count);
    bed_end(&b);
}

static void children_are_told_of_before_their_parent(void **state)
{
    (void)state;
    bed b;
    watcher w;
    weir_processor family[3];
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    family[0] = bed_target(&b);
    for (size_t i = 1; i < 3; i++) {
        family[i] = test_processor_add(b.engine,
                                       WEIR_PROCESSOR(.handler = ignore, .parent = family[i - 1]));
    }
    test_engine_start(b.engine);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, family[i], i));
    }
    bed_stop(&b, family[0]);
    assert_int_equal(3, w.note_count);
    for (size_t i = 0; i < 3; i++) {
        assert_told(&w, i, family[2 - i], WEIR_OK, 2 - i);
    }
    bed_end(&b);
}

static void a_parent_that_watches_its_children_hears_of_the_last_one_too(void **state)
{
    (void)state;
    bed b;
    watcher w;
    weir_processor children[3];
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    for (size_t i = 0; i < 3; i++) {
        children[i] =
            test_processor_add(b.engine, WEIR_PROCESSOR(.handler = ignore, .parent = w.handle));
    }
    test_engine_start(b.engine);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, children[i], i));
    }
    bed_stop(&b, w.handle);
    assert_int_equal(3, w.note_count);
    const weir_counters c = test_engine_counters(b.engine);
    assert_int_equal(0, c.letters_refused);
    bed_end(&b);
}

static void two_that_watch_each_other_end_one_after_the_other(void **state)
{
    (void)state;
    bed b;
    watcher one;
    watcher two;
    bed_make(&b);
    watcher_add(b.engine, &one, 0);
    watcher_add(b.engine, &two, 0);
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, bed_order(&b, &one, WATCH, two.handle, 1));
    assert_int_equal(WEIR_OK, bed_order(&b, &two, WATCH, one.handle, 2));
    bed_stop(&b, one.handle);
    assert_int_equal(1, two.note_count);
    assert_told(&two, 0, one.handle, WEIR_OK, 2);
    bed_stop(&b, two.handle);
    assert_int_equal(0, one.note_count);
    bed_end(&b);
}

static void the_end_of_a_watcher_undoes_its_watches(void **state)
{
    (void)state;
    bed b;
    watcher w;
    watcher other;
    weir_processor targets[4];
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    watcher_add(b.engine, &other, 0);
    for (size_t i = 0; i < 4; i++) {
        targets[i] = bed_target(&b);
    }
    test_engine_start(b.engine);
    for (size_t i = 0; i < 4; i++) { /* one is first on the lists, the other is */
        assert_int_equal(WEIR_OK, bed_order(&b, i % 2 == 0 ? &w : &other, WATCH, targets[i], i));
        assert_int_equal(WEIR_OK, bed_order(&b, i % 2 == 0 ? &other : &w, WATCH, targets[i], i));
    }
    assert_int_equal(WEIR_OK, bed_order(&b, &w, UNWATCH, targets[1], 0)); /* in the middle */
    bed_stop(&b, w.handle);
    for (size_t i = 0; i < 4; i++) {
        bed_stop(&b, targets[i]);
    }
    assert_int_equal(0, w.note_count);
    assert_int_equal(4, other.note_count);
    assert_int_equal(0, test_engine_counters(b.engine).refused_stopping);
    bed_end(&b);
}

static void the_engines_own_stop_tells_nobody_and_loses_nothing(void **state)
{
    (void)state;
    bed b;
    watcher w;
    watcher other;
    uint64_t ended = 0;
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    watcher_add(b.engine, &other, 0);
    const weir_processor target = test_processor_add(
        b.engine, WEIR_PROCESSOR(.handler = ignore, .init = keep_argument, .destroy = count_end,
                                 .argument = &ended, .state_size = sizeof(void *)));
    const weir_processor plain = bed_target(&b);
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, target, 1));
    assert_int_equal(WEIR_OK, bed_order(&b, &other, WATCH, target, 2));
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, plain, 3));
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, other.handle, 4));
    bed_end(&b);
    assert_int_equal(1, ended);
    assert_int_equal(0, w.note_count + other.note_count);
}

static void a_stop_is_answered_when_its_watchers_have_their_event(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < test_load(300, 100); round++) {
        watcher w;
        weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 2));
        watcher_add(engine, &w, 0);
        const weir_processor target = test_processor_add(engine, WEIR_PROCESSOR(.handler = ignore));
        test_engine_start(engine);
        assert_int_equal(WEIR_OK,
                         weir_engine_post(engine, w.handle, WEIR_EVENT(order, WATCH, 1, target)));
        test_sem_wait(&w.answered);
        assert_int_equal(WEIR_OK, weir_processor_stop(engine, target, TEST_PATIENCE, NULL));
        /* It was accepted before: so the engine's stop has it handled. */
        (void)test_engine_end(engine);
        assert_int_equal(1, w.note_count);
    }
}

static void what_is_owed_is_not_dropped_for_something_newer(void **state)
{
    (void)state;
    bed b;
    crowd c = { .count = 1 };
    bed_make(&b);
    const weir_processor target = bed_target(&b);
    c.targets = &target;
    const weir_processor self = test_processor_add(
        b.engine, WEIR_PROCESSOR(.handler = watch_all, .argument = &c, .mailbox_max = 2,
                                 .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, test_post(b.engine, self, 0));
    bed_turn(&b);
    c.count = 0;
    assert_int_equal(WEIR_OK, weir_processor_stop_async(b.engine, target, TEST_PATIENCE));
    assert_int_equal(1, weir_thread_run_once(b.engine, b.loop, 0) >= 0);
    for (uint64_t i = 0; i < 10; i++) {
        assert_int_equal(WEIR_OK, test_post(b.engine, self, i));
    }
    bed_turn(&b);
    assert_int_equal(1, c.done);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_a_watched_processor_brings_one_event),
        cmocka_unit_test(what_has_ended_already_is_told_at_once_as_unknown),
        cmocka_unit_test(a_second_watch_is_already_and_changes_nothing),
        cmocka_unit_test(who_watches_no_longer_hears_nothing),
        cmocka_unit_test(what_is_watched_again_is_heard_of_once),
        cmocka_unit_test(nobody_and_oneself_cannot_be_watched),
        cmocka_unit_test(a_full_mailbox_cannot_be_owed_an_event),
        cmocka_unit_test(what_is_owed_and_what_waits_are_bounded_together),
        cmocka_unit_test(a_watcher_that_is_being_stopped_is_told_so),
        cmocka_unit_test(who_comes_too_late_to_see_an_init_fail_is_told_unknown),
        cmocka_unit_test(a_processor_whose_init_fails_is_down_for_that_reason),
        cmocka_unit_test(a_stop_that_runs_out_of_time_is_the_reason),
        cmocka_unit_test(who_never_began_has_no_sentence_of_another),
        cmocka_unit_test(all_that_the_target_sent_comes_before_its_end),
        cmocka_unit_test(the_destroy_hook_has_run_and_the_name_is_free),
        cmocka_unit_test(children_are_told_of_before_their_parent),
        cmocka_unit_test(a_parent_that_watches_its_children_hears_of_the_last_one_too),
        cmocka_unit_test(two_that_watch_each_other_end_one_after_the_other),
        cmocka_unit_test(the_end_of_a_watcher_undoes_its_watches),
        cmocka_unit_test(the_engines_own_stop_tells_nobody_and_loses_nothing),
        cmocka_unit_test(a_stop_is_answered_when_its_watchers_have_their_event),
        cmocka_unit_test(what_is_owed_is_not_dropped_for_something_newer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
