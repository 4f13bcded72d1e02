/*
 * move_test.c - a processor that is moved to another dispatcher (S-22): where it runs from then on,
 * what it leaves and what it takes along, and what the call answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

/* A processor that writes down on which thread each of its events ran. Plain: see P-1. */
typedef struct traveller {
    goal done;
    uint64_t count;
    pid_t last;
    weir_engine *engine;
    weir_processor self;
    const char *next; /* where its handler moves it to; NULL: nowhere */
    weir_status answer;
} traveller;

static weir_status travel(void *state, weir_turn *turn, const weir_event *event)
{
    traveller *t = state;
    (void)turn;
    (void)event;
    t->count++;
    t->last = test_tid();
    if (t->next != NULL) {
        t->answer = weir_processor_move(t->engine, t->self, t->next, NULL);
        t->next = NULL;
    }
    goal_add(&t->done);
    return WEIR_OK;
}

/* An engine with a thread each for "a" and "b". */
typedef struct stage {
    weir_engine *engine;
    weir_thread threads[2];
    pid_t tids[2];
    traveller t;
} stage;

static stage s;

static void stage_open(uint64_t expected, uint32_t batch_max)
{
    memset(&s, 0, sizeof(s));
    s.engine = engine_quiet();
    engine_add_threads(s.engine, "a", 1, WEIR_IDLE_PARK, &s.threads[0]);
    engine_add_threads(s.engine, "b", 1, WEIR_IDLE_PARK, &s.threads[1]);
    goal_init(&s.t.done, expected);
    s.t.engine = s.engine;
    s.t.self = engine_add(s.engine, WEIR_PROCESSOR(.name = "t", .handler = travel, .argument = &s.t,
                                                   .dispatcher = "a", .batch_max = batch_max));
}

static void stage_start(void)
{
    engine_start(s.engine);
    engine_thread_ids(s.engine, s.threads, 2, s.tids);
}

static void post(weir_processor to)
{
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, WEIR_EVENT(mark, 0)));
}

static void is_on(weir_processor processor, const char *expected)
{
    char name[256] = "?";
    assert_int_equal(WEIR_OK, weir_processor_dispatcher(s.engine, processor, name, sizeof(name)));
    assert_string_equal(expected, name);
}

static void move(weir_processor processor, const char *to)
{
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(WEIR_OK, weir_processor_move(s.engine, processor, to, &error));
    assert_no_error(&error);
    is_on(processor, to);
}

/* Until so many events were handled, and their turns are over: a dispatcher counts at the end of a
 * turn. */
static void wait_for_turns(uint64_t count)
{
    const int64_t end_ns = now_ns() + (int64_t)WAIT_SECONDS * 1000000000;
    uint64_t handled = 0;
    while (handled < count && now_ns() < end_ns) {
        handled =
            dispatcher_counters(s.engine, "a").handled + dispatcher_counters(s.engine, "b").handled;
        (void)sched_yield();
    }
    assert_int_equal(count, handled);
}

/* ---- where it runs ---- */

static void a_moved_processor_runs_on_threads_of_its_new_dispatcher(void **state)
{
    (void)state;
    stage_open(20, 0);
    stage_start();
    for (uint64_t i = 0; i < 20; i++) {
        post(s.t.self);
        wait_for_turns(i + 1);
        assert_int_equal(i + 1, goal_count(&s.t.done));
        assert_int_equal(s.tids[i % 2], s.t.last);
        move(s.t.self, i % 2 == 0 ? "b" : "a");
    }
    engine_finish(s.engine, 20);
}

static void a_handler_may_move_its_own_processor(void **state)
{
    (void)state;
    stage_open(2, 0);
    stage_start();
    s.t.next = "b";
    post(s.t.self);
    wait_for_turns(1);
    assert_int_equal(1, goal_count(&s.t.done));
    assert_int_equal(WEIR_OK, s.t.answer);
    assert_int_equal(s.tids[0], s.t.last);
    post(s.t.self);
    assert_true(goal_wait(&s.t.done));
    assert_int_equal(s.tids[1], s.t.last);
    engine_finish(s.engine, 2);
}

static void the_turn_under_way_ends_where_it_is_and_the_next_begins_elsewhere(void **state)
{
    (void)state;
    blocker b;
    blocker_init(&b);
    stage_open(1, 0);
    const weir_processor held =
        engine_add(s.engine, WEIR_PROCESSOR(.handler = block_until_let_go, .argument = &b,
                                            .dispatcher = "a", .batch_max = 1));
    stage_start();
    post(held);
    assert_true(sem_wait_seconds(&b.entered, WAIT_SECONDS));
    post(held);
    move(held, "b"); /* does not wait for the turn */
    assert_int_equal(0, atomic_load(&b.handled));
    weir_dispatcher_counters before = dispatcher_counters(s.engine, "b");
    gate_open(&b.leave);
    assert_true(sem_wait_seconds(&b.entered, WAIT_SECONDS));
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_processor_stop(s.engine, held, 0, &report));
    assert_int_equal(2, report.handled);
    wait_for_turns(2);
    assert_int_equal(before.handled + 1, dispatcher_counters(s.engine, "b").handled);
    assert_int_equal(1, dispatcher_counters(s.engine, "a").handled);
    engine_finish(s.engine, 2);
}

/* ---- where it waits ---- */

static void one_that_waits_behind_a_long_handler_gets_away_by_a_move(void **state)
{
    (void)state;
    blocker b;
    blocker_init(&b);
    stage_open(1, 0);
    const weir_processor held = engine_add(
        s.engine, WEIR_PROCESSOR(.handler = block_until_let_go, .argument = &b, .dispatcher = "a"));
    stage_start();
    post(held);
    assert_true(sem_wait_seconds(&b.entered, WAIT_SECONDS));
    post(s.t.self); /* the only thread of "a" is busy */
    assert_int_equal(0, goal_count(&s.t.done));
    move(s.t.self, "b");
    assert_true(goal_wait(&s.t.done));
    assert_int_equal(s.tids[1], s.t.last);
    assert_int_equal(0, atomic_load(&b.handled));
    gate_open(&b.leave);
    engine_finish(s.engine, 2);
}

enum { QUEUED = 6 };

typedef struct waiting {
    uint32_t number;
    _Atomic uint32_t *taken; /* how many had their turn */
    _Atomic uint32_t place;  /* its own among them, from 1 on */
} waiting;

static weir_status note_place(void *state, weir_turn *turn, const weir_event *event)
{
    waiting *w = state;
    (void)turn;
    (void)event;
    atomic_store(&w->place, atomic_fetch_add(w->taken, 1) + 1);
    return WEIR_OK;
}

/* The first, one in the middle and the last of a queue go; those that come later stand behind, and
 * stay there when one more goes. */
static void those_that_stay_in_a_queue_keep_their_places(void **state)
{
    (void)state;
    static waiting all[QUEUED + 1];
    static _Atomic uint32_t here, there;
    weir_processor handles[QUEUED + 1];
    blocker b;
    blocker_init(&b);
    atomic_store(&here, 0);
    atomic_store(&there, 0);
    stage_open(1, 0);
    const weir_processor held = engine_add(
        s.engine, WEIR_PROCESSOR(.handler = block_until_let_go, .argument = &b, .dispatcher = "a"));
    for (uint32_t i = 0; i <= QUEUED; i++) {
        const bool goes = i == 0 || i == 2 || i == QUEUED - 2 || i == QUEUED - 1;
        all[i] = (waiting){ .number = i, .taken = goes ? &there : &here };
        handles[i] = engine_add(s.engine, WEIR_PROCESSOR(.handler = note_place, .argument = &all[i],
                                                         .dispatcher = "a"));
    }
    stage_start();
    post(held);
    assert_true(sem_wait_seconds(&b.entered, WAIT_SECONDS));
    for (uint32_t i = 0; i < QUEUED; i++) {
        post(handles[i]);
    }
    move(handles[2], "b");
    move(handles[QUEUED - 1], "b");
    move(handles[0], "b");
    UNTIL(atomic_load(&there) == 3);
    assert_int_equal(0, atomic_load(&here));
    post(handles[QUEUED]);
    assert_int_equal(4, dispatcher_counters(s.engine, "a").ready);
    move(handles[QUEUED - 2], "b");
    UNTIL(atomic_load(&there) == 4);
    assert_int_equal(3, dispatcher_counters(s.engine, "a").ready);
    gate_open(&b.leave);
    engine_finish(s.engine, QUEUED + 2);
    assert_int_equal(1, atomic_load(&all[1].place));
    assert_int_equal(2, atomic_load(&all[3].place));
    assert_int_equal(3, atomic_load(&all[QUEUED].place));
}

typedef struct keeper {
    blocker b;
    weir_processor others[3];
    weir_status odd;
} keeper;

/* What it posts stays with its thread (S-25), and then it takes its time. */
static weir_status post_and_stay(void *state, weir_turn *turn, const weir_event *event)
{
    keeper *k = state;
    for (size_t i = 0; i < 3; i++) {
        const weir_status status = weir_turn_post(turn, k->others[i], WEIR_EVENT(mark, 0));
        k->odd = status != WEIR_OK ? status : k->odd;
    }
    return block_until_let_go(&k->b, turn, event);
}

static void one_that_a_busy_thread_keeps_gets_away_too_and_the_others_stay(void **state)
{
    (void)state;
    static keeper k;
    static collector others[2];
    ledger book;
    ledger_open(&book, 1);
    memset(&k, 0, sizeof(k));
    blocker_init(&k.b);
    stage_open(1, 0);
    const weir_processor held = engine_add(
        s.engine, WEIR_PROCESSOR(.handler = post_and_stay, .argument = &k, .dispatcher = "a"));
    for (size_t i = 0; i < 2; i++) { /* before and behind the one that moves */
        others[i] = (collector){ .book = &book };
        k.others[2 * i] =
            engine_add(s.engine, WEIR_PROCESSOR(.handler = collect, .argument = &others[i],
                                                .dispatcher = "a"));
    }
    k.others[1] = s.t.self;
    stage_start();
    post(held);
    assert_true(sem_wait_seconds(&k.b.entered, WAIT_SECONDS));
    assert_int_equal(WEIR_OK, k.odd);
    move(s.t.self, "b");
    assert_true(goal_wait(&s.t.done));
    assert_int_equal(s.tids[1], s.t.last);
    assert_int_equal(2, dispatcher_counters(s.engine, "a").ready);
    gate_open(&k.b.leave);
    engine_finish(s.engine, 4);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(1, others[i].handled);
        assert_int_equal(s.tids[0], others[i].threads[0]);
    }
    ledger_close(&book);
}

/* ---- before the start ---- */

typedef struct beginner {
    _Atomic pid_t init, destroy;
    _Atomic int inits;
} beginner;

static weir_status begin(void *state, weir_turn *turn, void *argument)
{
    beginner *b = argument;
    (void)state;
    (void)turn;
    atomic_store(&b->init, test_tid());
    atomic_fetch_add(&b->inits, 1);
    return WEIR_OK;
}

static void end(void *state, weir_status reason)
{
    beginner *b = state;
    (void)reason;
    atomic_store(&b->destroy, test_tid());
}

static void init_and_destroy_run_where_it_was_moved_to(void **state)
{
    (void)state;
    static beginner b;
    stage_open(1, 0);
    const weir_processor late =
        engine_add(s.engine, WEIR_PROCESSOR(.handler = ignore_event, .init = begin, .destroy = end,
                                            .argument = &b, .dispatcher = "a"));
    post(late);
    move(late, "b");
    stage_start(); /* waits for it, as if it had been there from the beginning */
    assert_int_equal(1, atomic_load(&b.inits));
    assert_int_equal(s.tids[1], atomic_load(&b.init));
    wait_for_turns(1);
    move(late, "a");
    engine_finish(s.engine, 1);
    assert_int_equal(s.tids[0], atomic_load(&b.destroy));
}

static void a_start_does_not_wait_for_an_init_that_only_the_application_can_run(void **state)
{
    (void)state;
    static beginner b;
    weir_error error = WEIR_ERROR_INIT;
    stage_open(1, 0);
    const weir_thread loop = weir_thread_add(
        s.engine, WEIR_THREAD(.external = true, .dispatchers = WEIR_NAMES("loop")), &error);
    assert_no_error(&error);
    const weir_processor late =
        engine_add(s.engine, WEIR_PROCESSOR(.handler = ignore_event, .init = begin, .argument = &b,
                                            .dispatcher = "a"));
    atomic_store(&b.inits, 0);
    move(late, "loop");
    stage_start();
    assert_int_equal(0, atomic_load(&b.inits));
    post(late);
    while (atomic_load(&b.inits) == 0 || engine_counters(s.engine).handled == 0) {
        assert_true(weir_thread_run_once(s.engine, loop, 0) >= 0);
    }
    assert_int_equal(test_tid(), atomic_load(&b.init));
    engine_finish(s.engine, 1);
}

/* ---- the books ---- */

static void a_move_changes_how_many_processors_a_dispatcher_has(void **state)
{
    (void)state;
    stage_open(1, 0);
    stage_start();
    assert_int_equal(1, dispatcher_counters(s.engine, "a").processors);
    assert_int_equal(0, dispatcher_counters(s.engine, "b").processors);
    move(s.t.self, "b");
    assert_int_equal(0, dispatcher_counters(s.engine, "a").processors);
    assert_int_equal(1, dispatcher_counters(s.engine, "b").processors);
    assert_int_equal(WEIR_OK, weir_processor_stop(s.engine, s.t.self, 0, NULL));
    assert_int_equal(0, dispatcher_counters(s.engine, "b").processors);
    engine_finish(s.engine, 0);
}

static void a_family_may_be_spread_and_is_stopped_as_ever(void **state)
{
    (void)state;
    static beginner parent, child;
    stage_open(1, 0);
    const weir_processor above =
        engine_add(s.engine, WEIR_PROCESSOR(.handler = ignore_event, .argument = &parent,
                                            .destroy = end, .dispatcher = "a"));
    const weir_processor below =
        engine_add(s.engine, WEIR_PROCESSOR(.handler = ignore_event, .argument = &child,
                                            .destroy = end, .parent = above, .dispatcher = "a"));
    stage_start();
    move(below, "b");
    is_on(above, "a");
    post(below);
    post(above);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_processor_stop(s.engine, above, 0, &report));
    assert_int_equal(2, report.handled);
    assert_int_equal(s.tids[0], atomic_load(&parent.destroy));
    assert_int_equal(s.tids[1], atomic_load(&child.destroy));
    engine_finish(s.engine, 2);
}

/* ---- answers ---- */

static void refused(weir_engine *engine, weir_processor processor, const char *to, const char *path,
                    const char *word)
{
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_INVALID, weir_processor_move(engine, processor, to, &error));
    assert_int_equal(WEIR_E_INVALID, error.status);
    assert_string_equal(path, error.path);
    if (strstr(error.text, word) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.text, word);
    }
    assert_int_equal(WEIR_E_INVALID, weir_processor_move(engine, processor, to, NULL));
}

static void wrong_moves_are_refused_with_a_reason(void **state)
{
    (void)state;
    stage_open(1, 0);
    const weir_processor own =
        engine_add(s.engine, WEIR_PROCESSOR(.handler = ignore_event, .dedicated = true));
    stage_start();
    refused(NULL, s.t.self, "b", "weir_processor_move.engine", "no usable engine");
    refused(s.engine, s.t.self, NULL, "weir_processor_move.dispatcher", "NULL");
    refused(s.engine, s.t.self, "c", "weir_processor_move.dispatcher", "valid: \"a\", \"b\"");
    refused(s.engine, s.t.self, "", "weir_processor_move.dispatcher", "no thread serves");
    refused(s.engine, own, "b", "weir_processor_move.processor", "dedicated");
    is_on(s.t.self, "a");
    char name[8] = "?";
    assert_int_equal(WEIR_E_INVALID, weir_processor_dispatcher(s.engine, own, name, sizeof(name)));
    weir_error earlier = WEIR_ERROR_INIT;
    earlier.status = WEIR_E_USER;
    assert_int_equal(WEIR_E_USER, weir_processor_move(s.engine, s.t.self, "b", &earlier));
    is_on(s.t.self, "a");
    engine_finish(s.engine, 0);
}

static void who_is_gone_or_there_already_is_told_so(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    char name[8] = "?";
    stage_open(1, 0);
    weir_engine *other = engine_quiet();
    const weir_processor stranger = engine_add(other, WEIR_PROCESSOR(.handler = ignore_event));
    stage_start();
    assert_int_equal(WEIR_ALREADY, weir_processor_move(s.engine, s.t.self, "a", &error));
    const weir_processor gone = s.t.self;
    assert_int_equal(WEIR_OK, weir_processor_stop(s.engine, s.t.self, 0, NULL));
    const weir_processor unknown[] = { gone, { 0 }, stranger, { UINT64_MAX } };
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        assert_int_equal(WEIR_UNKNOWN, weir_processor_move(s.engine, unknown[i], "b", &error));
        (void)snprintf(name, sizeof(name), "old");
        assert_int_equal(WEIR_UNKNOWN,
                         weir_processor_dispatcher(s.engine, unknown[i], name, sizeof(name)));
        assert_string_equal("", name);
    }
    assert_no_error(&error);
    weir_engine_destroy(other);
    engine_finish(s.engine, 0);
}

static void a_name_is_cut_where_there_is_no_room_for_it(void **state)
{
    (void)state;
    char name[3] = "??";
    stage_open(1, 0);
    engine_add_threads(s.engine, "long-name", 1, WEIR_IDLE_PARK, NULL);
    move(s.t.self, "long-name");
    assert_int_equal(WEIR_OK, weir_processor_dispatcher(s.engine, s.t.self, name, sizeof(name)));
    assert_string_equal("lo", name);
    assert_int_equal(WEIR_OK, weir_processor_dispatcher(s.engine, s.t.self, NULL, 0));
    assert_int_equal(WEIR_E_INVALID, weir_processor_dispatcher(s.engine, s.t.self, NULL, 5));
    assert_int_equal(WEIR_E_INVALID, weir_processor_dispatcher(NULL, s.t.self, name, 3));
    weir_engine_destroy(s.engine);
}

static void nothing_moves_once_the_engine_has_stopped(void **state)
{
    (void)state;
    stage_open(1, 0);
    stage_start();
    assert_int_equal(WEIR_OK, weir_engine_stop(s.engine, 0, NULL));
    refused(s.engine, s.t.self, "b", "weir_processor_move", "stopped");
    weir_engine_destroy(s.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moved_processor_runs_on_threads_of_its_new_dispatcher),
        cmocka_unit_test(a_handler_may_move_its_own_processor),
        cmocka_unit_test(the_turn_under_way_ends_where_it_is_and_the_next_begins_elsewhere),
        cmocka_unit_test(one_that_waits_behind_a_long_handler_gets_away_by_a_move),
        cmocka_unit_test(those_that_stay_in_a_queue_keep_their_places),
        cmocka_unit_test(one_that_a_busy_thread_keeps_gets_away_too_and_the_others_stay),
        cmocka_unit_test(init_and_destroy_run_where_it_was_moved_to),
        cmocka_unit_test(a_start_does_not_wait_for_an_init_that_only_the_application_can_run),
        cmocka_unit_test(a_move_changes_how_many_processors_a_dispatcher_has),
        cmocka_unit_test(a_family_may_be_spread_and_is_stopped_as_ever),
        cmocka_unit_test(wrong_moves_are_refused_with_a_reason),
        cmocka_unit_test(who_is_gone_or_there_already_is_told_so),
        cmocka_unit_test(a_name_is_cut_where_there_is_no_room_for_it),
        cmocka_unit_test(nothing_moves_once_the_engine_has_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
