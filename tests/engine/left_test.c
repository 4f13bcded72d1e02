/*
 * left_test.c - a stop that runs out of time, with every kind of outcome in the books already: what
 * is left is what is left, and nothing is counted twice (P-3).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log_support.h"

#include "engine/registry.h"

/* Numbers below 10 are done at once, even ones well; 10 and more hold the thread. */
typedef struct mixed {
    sem_t entered, pass;
    atomic_uint_least64_t calls;
} mixed;

static weir_status handle_mixed(void *state, weir_turn *turn, const weir_event *event)
{
    mixed *m = state;
    (void)turn;
    const number *n = weir_event_as(event, &number_type);
    atomic_fetch_add(&m->calls, 1);
    if (n == NULL || n->value >= 10) {
        (void)sem_post(&m->entered);
        return test_sem_taken(&m->pass) ? WEIR_OK : WEIR_E_FAILED;
    }
    return n->value % 2 == 0 ? WEIR_OK : WEIR_E_USER;
}

typedef struct scene {
    weir_engine *engine;
    weir_processor oldest, newest;
    mixed m;
    test_log log;
} scene;

/* One thread, held inside an event of `oldest`; behind it everything that can become of an event:
 *   oldest: 2 handled, 1 dead, 1 in hand, 5 posted into 3 places: 2 dropped
 *   newest: 4 posted into 3 places: 1 dropped */
static void scene_set(scene *s)
{
    assert_int_equal(0, sem_init(&s->m.entered, 0, 0));
    assert_int_equal(0, sem_init(&s->m.pass, 0, 0));
    atomic_store(&s->m.calls, 0);
    test_log_init(&s->log);
    s->engine = test_engine_create(WEIR_ENGINE(.log = test_log_hook, .log_context = &s->log));
    s->oldest = test_processor_add(
        s->engine, WEIR_PROCESSOR(.handler = handle_mixed, .argument = &s->m, .mailbox_max = 3,
                                  .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    s->newest = test_processor_add(
        s->engine, WEIR_PROCESSOR(.handler = handle_mixed, .argument = &s->m, .mailbox_max = 3,
                                  .overflow = WEIR_OVERFLOW_DROP_NEWEST));
    test_engine_start(s->engine);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, test_post(s->engine, s->oldest, i));
        TEST_UNTIL(test_processor_counters(s->engine, s->oldest).depth == 0);
    }
    assert_int_equal(WEIR_OK, test_post(s->engine, s->oldest, 10));
    test_sem_wait(&s->m.entered);
    TEST_UNTIL(test_processor_counters(s->engine, s->oldest).depth == 1);
    for (uint64_t i = 0; i < 5; i++) {
        assert_int_equal(WEIR_OK, test_post(s->engine, s->oldest, i));
    }
    for (uint64_t i = 0; i < 4; i++) {
        assert_int_equal(i < 3 ? WEIR_OK : WEIR_DROPPED, test_post(s->engine, s->newest, i));
    }
}

static void assert_report(const weir_stop_report *r, uint64_t handled, uint64_t dropped,
                          uint64_t dead, uint64_t left)
{
    assert_int_equal(handled, r->handled);
    assert_int_equal(dropped, r->dropped);
    assert_int_equal(dead, r->dead);
    assert_int_equal(left, r->left);
    assert_int_equal(handled + dropped + dead + left, r->accepted);
}

/* One entry says it, with that field and no other. */
static void assert_said(scene *s, weir_log_level level, const char *component, const char *fields)
{
    size_t found = 0;
    for (size_t i = 0; i < s->log.count && i < TEST_LOG_MAX; i++) {
        const test_log_line *line = &s->log.lines[i];
        found += line->level == level && strcmp(line->component, component) == 0 &&
                 strcmp(line->fields, fields) == 0;
    }
    if (found != 1) {
        for (size_t i = 0; i < s->log.count && i < TEST_LOG_MAX; i++) {
            fprintf(stderr, "# said: %s %s\n", s->log.lines[i].component, s->log.lines[i].fields);
        }
    }
    assert_int_equal(1, found);
}

static void an_engines_stop_counts_each_outcome_once(void **state)
{
    (void)state;
    static scene s;
    scene_set(&s);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(s.engine, 20 * WEIR_MS, &report));
    assert_report(&report, 2, 3, 1, 7); /* 1 in hand, 3 and 3 waiting */
    weir_counters c = test_engine_counters(s.engine);
    assert_int_equal(13, c.accepted);
    assert_int_equal(7, c.left);
    assert_int_equal(0, c.depth);
    assert_int_equal(WEIR_STOPPING, test_post(s.engine, s.newest, 1));
    assert_int_equal(0, sem_post(&s.m.pass)); /* a handler that returns late changes nothing */
    weir_stop_report again = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_ALREADY, weir_engine_stop(s.engine, 0, &again));
    assert_memory_equal(&report, &again, sizeof(report));
    weir_engine_destroy(s.engine);
    assert_int_equal(4, atomic_load(&s.m.calls)); /* what is left is never handled */
    assert_said(&s, WEIR_LOG_ERROR, "engine", "left=7");
}

static void a_processors_stop_counts_each_outcome_once(void **state)
{
    (void)state;
    static scene s;
    scene_set(&s);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(s.engine, s.oldest, 20 * WEIR_MS, &report));
    assert_report(&report, 2, 2, 1, 4);
    report = (weir_stop_report)WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(s.engine, s.newest, 20 * WEIR_MS, &report));
    assert_report(&report, 0, 1, 0, 3);
    assert_int_equal(0, sem_post(&s.m.pass));
    TEST_UNTIL(test_engine_counters(s.engine).left == 7); /* of an engine that runs */
    report = (weir_stop_report)WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(s.engine, 0, &report));
    assert_report(&report, 2, 3, 1, 7);
    weir_engine_destroy(s.engine);
    assert_int_equal(4, atomic_load(&s.m.calls));
    assert_said(&s, WEIR_LOG_WARNING, "processor #0.1", "waiting=3");
    assert_said(&s, WEIR_LOG_ERROR, "processor #0.1", "left=4");
    assert_said(&s, WEIR_LOG_WARNING, "processor #1.1", "waiting=3");
    assert_said(&s, WEIR_LOG_ERROR, "processor #1.1", "left=3");
}

static void a_processor_of_an_abandoned_engine_shows_what_it_left(void **state)
{
    (void)state;
    static scene s;
    scene_set(&s);
    assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(s.engine, 20 * WEIR_MS, NULL));
    const weir_counters oldest = test_processor_counters(s.engine, s.oldest);
    assert_int_equal(9, oldest.accepted);
    assert_int_equal(4, oldest.left);
    assert_int_equal(0, oldest.depth);
    const weir_counters newest = test_processor_counters(s.engine, s.newest);
    assert_int_equal(4, newest.accepted);
    assert_int_equal(1, newest.dropped_newest);
    assert_int_equal(3, newest.left);
    assert_int_equal(0, sem_post(&s.m.pass));
    weir_engine_destroy(s.engine);
}

/* What single stops have left belongs to the engine's numbers, once: also when the engine then runs
 * out of time itself. */
static void what_single_stops_left_is_counted_once_when_the_engine_gives_up_too(void **state)
{
    (void)state;
    static mixed first, second;
    assert_int_equal(0, sem_init(&first.entered, 0, 0));
    assert_int_equal(0, sem_init(&first.pass, 0, 0));
    assert_int_equal(0, sem_init(&second.entered, 0, 0));
    assert_int_equal(0, sem_init(&second.pass, 0, 0));
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 2, .log_level = WEIR_LOG_OFF));
    const weir_processor gone =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_mixed, .argument = &first));
    const weir_processor stays =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_mixed, .argument = &second));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, stays, 1)); /* dead */
    assert_int_equal(WEIR_OK, test_post(engine, stays, 10));
    test_sem_wait(&second.entered);
    for (uint64_t i = 0; i < 5; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, gone, i == 0 ? 10 : 2));
    }
    test_sem_wait(&first.entered);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(engine, gone, WEIR_NOW, &report));
    assert_report(&report, 0, 0, 0, 5);
    assert_int_equal(0, sem_post(&first.pass));
    weir_counters c = WEIR_COUNTERS_INIT;
    TEST_UNTIL(weir_processor_counters(engine, gone, &c) == WEIR_UNKNOWN);
    c = test_engine_counters(engine);
    assert_int_equal(7, c.accepted);
    assert_int_equal(5, c.left);
    assert_int_equal(1, c.dead);
    assert_int_equal(0, c.handled);
    assert_int_equal(1, c.depth); /* the one in hand */
    report = (weir_stop_report)WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(engine, WEIR_NOW, &report));
    assert_report(&report, 0, 0, 1, 6);
    c = test_engine_counters(engine);
    assert_int_equal(7, c.accepted);
    assert_int_equal(6, c.left);
    assert_int_equal(0, c.depth);
    assert_int_equal(0, sem_post(&second.pass));
    weir_engine_destroy(engine);
    assert_int_equal(1, atomic_load(&first.calls));
    assert_int_equal(2, atomic_load(&second.calls));
}

/* A stop that has given up makes every turn look; only those of its own processor end by it. */
static void a_stop_that_gave_up_does_not_shorten_the_turns_of_others(void **state)
{
    (void)state;
    enum { MAIL = 10 };
    test_recorder stuck, other;
    test_recorder_init(&stuck, true);
    test_recorder_init(&other, true);
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    (void)test_thread_add(engine, NULL);
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("stuck")));
    const weir_processor held =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                  .argument = &stuck, .dispatcher = "stuck"));
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &other));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, held, 1));
    test_sem_wait(&stuck.entered);
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(engine, held, WEIR_NOW, NULL));
    for (uint64_t i = 0; i < MAIL; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, to, i));
    }
    test_recorder_pass(&other, MAIL);
    TEST_UNTIL(test_processor_counters(engine, to).handled == MAIL);
    weir_dispatcher_counters c = WEIR_DISPATCHER_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_dispatcher_counters_get(engine, "", &c));
    assert_int_equal(1, c.turns);
    test_recorder_pass(&stuck, 1);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, TEST_PATIENCE, &report));
    assert_report(&report, MAIL, 0, 0, 1);
    weir_engine_destroy(engine);
    test_recorder_saw_run(&other, 0, MAIL);
}

/* ---- a table of processors that is full to its last place ---- */

static atomic_uint_least64_t destroyed;

static void count_end(void *state, weir_status reason)
{
    (void)state;
    (void)reason;
    atomic_fetch_add(&destroyed, 1);
}

enum { FULL = WEIR__CHUNK_SLOTS };

/* As many processors as a part of the table holds, all with hooks; the last one is `m`'s. */
static weir_engine *full_table(mixed *m, weir_processor *last)
{
    atomic_store(&destroyed, 0);
    atomic_store(&m->calls, 0);
    assert_int_equal(0, sem_init(&m->entered, 0, 0));
    assert_int_equal(0, sem_init(&m->pass, 0, 0));
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    for (size_t i = 0; i < FULL; i++) {
        *last = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = handle_mixed, .argument = m, .destroy = count_end));
    }
    assert_int_equal(FULL, test_engine_counters(engine).processors);
    return engine;
}

static void a_full_table_ends_to_its_last_place(void **state)
{
    (void)state;
    mixed m;
    weir_processor last;
    weir_engine *engine = full_table(&m, &last);
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, last, 2));
    assert_int_equal(1, test_engine_stop(engine).handled);
    assert_int_equal(FULL, atomic_load(&destroyed));
    assert_int_equal(0, test_engine_counters(engine).processors);
    weir_engine_destroy(engine);
    assert_int_equal(FULL, atomic_load(&destroyed));
}

static void a_full_table_is_counted_to_its_last_place_when_a_stop_gives_up(void **state)
{
    (void)state;
    for (int started = 0; started < 2; started++) {
        mixed m;
        weir_processor last;
        weir_engine *engine = full_table(&m, &last);
        if (started == 1) {
            test_engine_start(engine);
        }
        for (uint64_t i = 0; i < 3; i++) {
            assert_int_equal(WEIR_OK, test_post(engine, last, 10));
        }
        if (started == 1) {
            test_sem_wait(&m.entered);
            assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, last, WEIR_FOREVER));
        }
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(engine, WEIR_NOW, &report));
        assert_report(&report, 0, 0, 0, 3);
        assert_int_equal(0, sem_post(&m.pass));
        weir_engine_destroy(engine);
        assert_int_equal(FULL, atomic_load(&destroyed));
        assert_int_equal(started, atomic_load(&m.calls));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engines_stop_counts_each_outcome_once),
        cmocka_unit_test(a_processors_stop_counts_each_outcome_once),
        cmocka_unit_test(a_processor_of_an_abandoned_engine_shows_what_it_left),
        cmocka_unit_test(what_single_stops_left_is_counted_once_when_the_engine_gives_up_too),
        cmocka_unit_test(a_stop_that_gave_up_does_not_shorten_the_turns_of_others),
        cmocka_unit_test(a_full_table_ends_to_its_last_place),
        cmocka_unit_test(a_full_table_is_counted_to_its_last_place_when_a_stop_gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
