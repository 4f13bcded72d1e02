/*
 * kept_test.c - what a handler makes ready stays on its thread, and nobody notices but by speed: it
 * does not wait behind a long handler, it is shared, and only an engine that needs a monitor has
 * one. SPEC: P-1 to P-4, P-9.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

/* ---- behind a long handler ---- */

enum { ASKS_MAX = 2 };

/* One asks, the other helps. */
typedef struct scene {
    weir_engine *engine;
    weir_processor asker, helper;
    gate helped[ASKS_MAX];
    uint32_t asks;  /* the asker's */
    uint32_t helps; /* the helper's */
    sem_t entered;
    _Atomic int32_t posted; /* the worst status of a post */
    _Atomic bool in_vain;   /* a helper did not run in time */
} scene;

/* Posts to the helper and does not return before that has run. */
static weir_status ask(void *state, weir_turn *turn, const weir_event *event)
{
    scene *s = state;
    (void)event;
    const weir_status status = weir_turn_post(turn, s->helper, WEIR_EVENT(mark, 0));
    if (status != WEIR_OK) {
        atomic_store(&s->posted, status);
    }
    (void)sem_post(&s->entered);
    if (!gate_pass(&s->helped[s->asks++])) {
        atomic_store(&s->in_vain, true);
    }
    return WEIR_OK;
}

static weir_status help(void *state, weir_turn *turn, const weir_event *event)
{
    scene *s = state;
    (void)turn;
    (void)event;
    gate_open(&s->helped[s->helps++]);
    return WEIR_OK;
}

static void scene_open(scene *s, size_t threads)
{
    *s = (scene){ .helped = { GATE_INIT, GATE_INIT } };
    s->engine = engine_quiet();
    engine_add_threads(s->engine, "", threads, WEIR_IDLE_PARK, NULL);
    (void)sem_init(&s->entered, 0, 0);
    s->helper = engine_add(s->engine, WEIR_PROCESSOR(.handler = help, .argument = s));
    s->asker = engine_add(s->engine, WEIR_PROCESSOR(.handler = ask, .argument = s));
    engine_start(s->engine);
}

static void scene_ask(scene *s)
{
    assert_int_equal(WEIR_OK, weir_engine_post(s->engine, s->asker, WEIR_EVENT(mark, 0)));
    assert_true(sem_wait_seconds(&s->entered, WAIT_SECONDS));
}

static void scene_close(scene *s, uint32_t asks)
{
    assert_true(gate_pass(&s->helped[asks - 1]));
    engine_finish(s->engine, 2 * (uint64_t)asks);
    assert_int_equal(WEIR_OK, atomic_load(&s->posted));
    assert_false(atomic_load(&s->in_vain));
}

static void what_a_thread_keeps_does_not_wait_behind_its_long_handler(void **unused)
{
    (void)unused;
    static scene s;
    scene_open(&s, 2);
    scene_ask(&s);
    scene_close(&s, 1);
}

static void nor_after_the_engine_has_been_idle(void **unused)
{
    (void)unused;
    static scene s;
    pid_t tasks[64];
    scene_open(&s, 2);
    scene_ask(&s);
    assert_true(gate_pass(&s.helped[0]));
    if (!TEST_SANITIZED) { /* a sanitizer has a thread of its own that never rests */
        assert_true(tasks_settle(tasks, tasks_others(tasks, 64), 50 * WEIR_MS));
    }
    scene_ask(&s);
    scene_close(&s, 2);
}

static void nor_if_the_thread_that_can_run_it_comes_later(void **unused)
{
    (void)unused;
    static scene s;
    scene_open(&s, 1);
    scene_ask(&s);
    engine_add_threads(s.engine, "", 1, WEIR_IDLE_PARK, NULL);
    scene_close(&s, 1);
}

/* ---- shared ---- */

enum { LEAVES = 48, ROUNDS = 2000 };

typedef struct hub {
    weir_processor leaves[LEAVES];
    _Atomic uint64_t refused;
} hub;

static weir_status spread(void *state, weir_turn *turn, const weir_event *event)
{
    hub *h = state;
    const mark *m = weir_event_as(event, &mark_type);
    for (uint64_t i = 0; i < LEAVES; i++) {
        const weir_status status =
            weir_turn_post(turn, h->leaves[i], WEIR_EVENT(mark, .number = m->number * LEAVES + i));
        if (status != WEIR_OK) {
            atomic_fetch_add(&h->refused, 1);
        }
    }
    return WEIR_OK;
}

/* Plain fields: P-1 is what makes them safe. */
typedef struct leaf {
    collector c;
    uint64_t last; /* number of the last event + 1 */
    uint64_t disordered;
} leaf;

static weir_status collect_in_order(void *state, weir_turn *turn, const weir_event *event)
{
    leaf *l = state;
    const mark *m = weir_event_as(event, &mark_type);
    l->disordered += m->number < l->last;
    l->last = m->number + 1;
    return collect(&l->c, turn, event);
}

static void what_a_handler_makes_ready_is_shared_and_each_comes_once_and_in_order(void **unused)
{
    (void)unused;
    static hub h;
    static leaf leaves[LEAVES];
    static ledger book;
    const uint64_t rounds = test_scaled(ROUNDS, 10);
    ledger_open(&book, rounds * LEAVES);
    weir_engine *engine = engine_quiet();
    engine_add_threads(engine, "", 4, WEIR_IDLE_DEFAULT, NULL);
    atomic_init(&h.refused, 0);
    for (size_t i = 0; i < LEAVES; i++) {
        leaves[i] = (leaf){ .c = { .book = &book, .busy_ns = 200 } };
        h.leaves[i] = engine_add(engine, WEIR_PROCESSOR(.handler = collect_in_order,
                                                        .argument = &leaves[i], .batch_max = 4));
    }
    const weir_processor to =
        engine_add(engine, WEIR_PROCESSOR(.handler = spread, .argument = &h, .batch_max = 1));
    engine_start(engine);
    for (uint64_t i = 0; i < rounds; i++) {
        assert_int_equal(WEIR_OK, post_when_room(engine, to, WEIR_EVENT(mark, .number = i)));
    }
    assert_true(goal_wait(&book.done));
    engine_finish(engine, rounds + rounds * LEAVES);
    assert_int_equal(0, atomic_load(&h.refused));
    for (size_t i = 0; i < LEAVES; i++) {
        assert_int_equal(rounds, leaves[i].c.handled);
        assert_int_equal(0, leaves[i].c.overlaps);
        assert_int_equal(0, leaves[i].disordered);
    }
    ledger_check(&book);
    ledger_close(&book);
}

/* ---- the monitor ---- */

static size_t monitors(void)
{
    pid_t tasks[64];
    const size_t count = tasks_others(tasks, 64);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        char path[64];
        char name[64] = "";
        (void)snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)tasks[i]);
        FILE *file = fopen(path, "re");
        if (file != NULL) {
            found += fgets(name, sizeof(name), file) != NULL && strcmp(name, "weir-monitor\n") == 0;
            (void)fclose(file);
        }
    }
    return found;
}

/* It names itself: a moment after it was started. */
static bool monitors_become(size_t count)
{
    const int64_t end = now_ns() + (int64_t)WAIT_SECONDS * 1000000000;
    while (monitors() != count && now_ns() < end) {
        (void)sched_yield();
    }
    return monitors() == count;
}

static void an_engine_whose_dispatchers_have_one_thread_each_starts_no_monitor(void **unused)
{
    (void)unused;
    pid_t before[64];
    pid_t after[64];
    const size_t others = tasks_others(before, 64);
    weir_engine *engine =
        engine_make(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .stuck_after = WEIR_FOREVER));
    engine_add_threads(engine, "a", 1, WEIR_IDLE_PARK, NULL);
    engine_add_threads(engine, "b", 1, WEIR_IDLE_PARK, NULL);
    engine_start(engine);
    assert_int_equal(others + 2, tasks_others(after, 64));
    engine_add_threads(engine, "c", 1, WEIR_IDLE_PARK, NULL);
    assert_int_equal(others + 3, tasks_others(after, 64));
    engine_finish(engine, 0);
}

static void an_engine_with_a_shared_dispatcher_has_one_monitor_until_it_ends(void **unused)
{
    (void)unused;
    weir_engine *engine = engine_quiet();
    engine_add_threads(engine, "a", 3, WEIR_IDLE_PARK, NULL);
    engine_add_threads(engine, "b", 2, WEIR_IDLE_PARK, NULL);
    assert_int_equal(0, monitors());
    engine_start(engine);
    assert_true(monitors_become(1));
    engine_add_threads(engine, "b", 1, WEIR_IDLE_PARK, NULL);
    assert_int_equal(1, monitors());
    engine_finish(engine, 0);
    assert_int_equal(0, monitors());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_thread_keeps_does_not_wait_behind_its_long_handler),
        cmocka_unit_test(nor_after_the_engine_has_been_idle),
        cmocka_unit_test(nor_if_the_thread_that_can_run_it_comes_later),
        cmocka_unit_test(what_a_handler_makes_ready_is_shared_and_each_comes_once_and_in_order),
        cmocka_unit_test(an_engine_whose_dispatchers_have_one_thread_each_starts_no_monitor),
        cmocka_unit_test(an_engine_with_a_shared_dispatcher_has_one_monitor_until_it_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
