/*
 * supervise_family_test.c - failures in families: escalation, restarts of parents, stops that go
 * down and up (S-17, S-19).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "supervise_support.h"

enum { LEVELS_MAX = 4 };

/* A line of ancestors, the eldest first; only the youngest is given work. */
typedef struct dynasty {
    weir_engine *engine;
    weir_processor members[LEVELS_MAX];
    life lives[LEVELS_MAX];
    uint32_t levels;
} dynasty;

static void dynasty_open(dynasty *d, const weir_directive *directives, uint32_t levels,
                         uint32_t threads)
{
    static char names[LEVELS_MAX][8] = { "eldest", "second", "third", "fourth" };
    d->engine = quiet_engine(threads);
    d->levels = levels;
    for (uint32_t i = 0; i < levels; i++) {
        life_init(&d->lives[i]);
        d->members[i] =
            worker_add(d->engine, &d->lives[i],
                       WEIR_PROCESSOR(.name = names[i], .on_failure = directives[i],
                                      .parent = i > 0 ? d->members[i - 1] : (weir_processor){ 0 }));
    }
    test_engine_start(d->engine);
}

static void dynasty_close(dynasty *d, uint64_t handled, uint64_t dead)
{
    const weir_stop_report report = test_engine_end(d->engine);
    assert_int_equal(handled, report.handled);
    assert_int_equal(dead, report.dead);
    for (uint32_t i = 0; i < d->levels; i++) {
        assert_int_equal(d->lives[i].inits, d->lives[i].destroys);
    }
}

static void a_parent_that_resumes_lets_its_child_go_on(void **state)
{
    (void)state;
    dynasty d;
    dynasty_open(&d, (const weir_directive[]){ WEIR_RESUME, WEIR_ESCALATE }, 2, 2);
    give(d.engine, d.members[1], 1, 1);
    give(d.engine, d.members[1], 2, 0);
    test_sem_wait(&d.lives[1].told);
    dynasty_close(&d, 1, 1);
    assert_string_equal("i f1 h2 d ", d.lives[1].text);
    assert_string_equal("i d ", d.lives[0].text);
}

static void a_child_without_a_parent_stops_instead_of_escalating(void **state)
{
    (void)state;
    dynasty d;
    dynasty_open(&d, (const weir_directive[]){ WEIR_ESCALATE }, 1, 2);
    give(d.engine, d.members[0], 1, 1);
    until_gone(d.engine, d.members[0]);
    dynasty_close(&d, 0, 1);
    assert_int_equal(BAD, d.lives[0].last_reason);
}

static void a_parent_that_is_restarted_ends_its_children_first(void **state)
{
    (void)state;
    dynasty d;
    dynasty_open(&d, (const weir_directive[]){ WEIR_RESTART, WEIR_ESCALATE }, 2, 2);
    give(d.engine, d.members[1], 1, 1);
    until_gone(d.engine, d.members[1]);
    TEST_UNTIL(test_engine_counters(d.engine).restarts == 1);
    give(d.engine, d.members[0], 2, 0);
    test_sem_wait(&d.lives[0].told);
    dynasty_close(&d, 1, 1);
    assert_string_equal("i f1 d ", d.lives[1].text);
    assert_string_equal("i d i h2 d ", d.lives[0].text);
    assert_int_equal(BAD, d.lives[1].last_reason);
}

static void a_parent_that_stops_takes_its_child_along(void **state)
{
    (void)state;
    dynasty d;
    dynasty_open(&d, (const weir_directive[]){ WEIR_STOP, WEIR_ESCALATE }, 2, 2);
    give(d.engine, d.members[1], 1, 1);
    until_gone(d.engine, d.members[0]);
    dynasty_close(&d, 0, 1);
    assert_string_equal("i f1 d ", d.lives[1].text);
    assert_int_equal(BAD, d.lives[0].last_reason);
    assert_int_equal(BAD, d.lives[1].last_reason);
}

static void a_failure_goes_up_three_levels_to_a_restart(void **state)
{
    (void)state;
    dynasty d;
    dynasty_open(
        &d, (const weir_directive[]){ WEIR_RESTART, WEIR_ESCALATE, WEIR_ESCALATE, WEIR_ESCALATE },
        4, 2);
    give(d.engine, d.members[3], 1, 1);
    TEST_UNTIL(test_engine_counters(d.engine).restarts == 1);
    for (int i = 1; i < 4; i++) {
        until_gone(d.engine, d.members[i]);
        assert_int_equal(BAD, d.lives[i].last_reason);
    }
    give(d.engine, d.members[0], 2, 0);
    test_sem_wait(&d.lives[0].told);
    dynasty_close(&d, 1, 1);
    assert_string_equal("i d i h2 d ", d.lives[0].text);
    assert_string_equal("i d ", d.lives[1].text);
    assert_string_equal("i f1 d ", d.lives[3].text);
}

static void a_failure_goes_up_three_levels_to_a_stop(void **state)
{
    (void)state;
    dynasty d;
    dynasty_open(&d,
                 (const weir_directive[]){ WEIR_STOP, WEIR_ESCALATE, WEIR_ESCALATE, WEIR_ESCALATE },
                 4, 2);
    give(d.engine, d.members[3], 1, 1);
    for (int i = 0; i < 4; i++) {
        until_gone(d.engine, d.members[i]);
    }
    dynasty_close(&d, 0, 1);
}

static void a_failure_goes_up_three_levels_and_all_go_on(void **state)
{
    (void)state;
    dynasty d;
    dynasty_open(
        &d, (const weir_directive[]){ WEIR_RESUME, WEIR_ESCALATE, WEIR_ESCALATE, WEIR_ESCALATE }, 4,
        2);
    give(d.engine, d.members[3], 1, 1);
    for (int i = 3; i >= 0; i--) { /* those between have waited for the decision, too */
        give(d.engine, d.members[i], 2, 0);
        test_sem_wait(&d.lives[i].told);
    }
    dynasty_close(&d, 4, 1);
    assert_string_equal("i f1 h2 d ", d.lives[3].text);
    assert_string_equal("i h2 d ", d.lives[2].text);
}

/* A pool whose init makes its workers, as one that can be restarted must. */
enum { POOL = 3 };
typedef struct pool_life {
    life life;
    life workers[8];
    _Atomic uint32_t made;
    weir_processor members[8];
    weir_status failed; /* to be made */
} pool_life;

static weir_status pool_init(void *state, weir_turn *turn, void *argument)
{
    worker *w = state;
    pool_life *p = argument;
    w->life = &p->life;
    life_write(w->life, "i ");
    w->life->inits++;
    for (uint32_t i = 0; i < POOL; i++) {
        weir_error error = WEIR_ERROR_INIT;
        const uint32_t at = atomic_load(&p->made);
        p->members[at] = weir_processor_add(
            weir_turn_engine(turn),
            WEIR_PROCESSOR(.handler = worker_handle, .argument = &p->workers[at],
                           .state_size = sizeof(worker), .init = worker_init,
                           .destroy = worker_destroy, .parent = weir_turn_self(turn),
                           .name = (const char *[]){ "one", "two", "three" }[i],
                           .on_failure = WEIR_ESCALATE),
            &error);
        p->failed = error.status != WEIR_OK ? error.status : p->failed;
        atomic_store(&p->made, at + 1);
    }
    return WEIR_OK;
}

static void a_restarted_parent_may_make_children_of_the_same_names(void **state)
{
    (void)state;
    pool_life p = { .failed = WEIR_OK };
    life_init(&p.life);
    for (int i = 0; i < 8; i++) {
        life_init(&p.workers[i]);
    }
    weir_engine *engine = quiet_engine(2);
    (void)test_processor_add(engine, WEIR_PROCESSOR(.name = "pool", .handler = worker_handle,
                                                    .argument = &p, .state_size = sizeof(worker),
                                                    .init = pool_init, .destroy = worker_destroy,
                                                    .on_failure = WEIR_RESTART));
    test_engine_start(engine);
    give(engine, p.members[1], 1, 1);
    TEST_UNTIL(atomic_load(&p.made) == 2 * POOL);
    give(engine, weir_processor_find(engine, "two"), 2, 0);
    test_sem_wait(&p.workers[POOL + 1].told);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(WEIR_OK, p.failed);
    assert_int_equal(1, report.handled);
    assert_int_equal(1, report.dead);
    assert_string_equal("i d i d ", p.life.text);
    assert_string_equal("i f1 d ", p.workers[1].text);
    assert_string_equal("i d ", p.workers[0].text);
}

static void a_parent_that_waits_for_its_restart_takes_no_children(void **state)
{
    (void)state;
    dynasty d;
    test_recorder gate;
    test_recorder_init(&gate, true);
    dynasty_open(&d, (const weir_directive[]){ WEIR_RESTART }, 1, 2);
    const weir_processor child =
        test_processor_add(d.engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                    .argument = &gate, .parent = d.members[0]));
    assert_int_equal(WEIR_OK, test_post(d.engine, child, 1));
    test_sem_wait(&gate.entered); /* it does not end before it is let go */
    give(d.engine, d.members[0], 1, 1);
    weir_error error;
    TEST_UNTIL(
        (error = (weir_error)WEIR_ERROR_INIT,
         weir_processor_add(d.engine,
                            WEIR_PROCESSOR(.handler = worker_handle, .argument = &d.lives[1],
                                           .name = "late", .parent = d.members[0]),
                            &error)
                     .id == 0
             ? true
             : (weir_processor_stop(d.engine, weir_processor_find(d.engine, "late"), 0, NULL),
                false)));
    assert_string_equal("is being restarted", error.text);
    test_recorder_pass(&gate, 1);
    TEST_UNTIL(test_engine_counters(d.engine).restarts == 1);
    dynasty_close(&d, 1, 1);
}

static void a_stop_of_the_parent_finds_a_child_that_waits_for_its_decision(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        dynasty d;
        dynasty_open(&d,
                     (const weir_directive[]){ round % 3 == 0   ? WEIR_RESUME
                                               : round % 3 == 1 ? WEIR_RESTART
                                                                : WEIR_STOP,
                                               WEIR_ESCALATE, WEIR_ESCALATE },
                     3, 2);
        give(d.engine, d.members[2], 1, 1);
        const weir_status given =
            weir_engine_post(d.engine, d.members[2], WEIR_EVENT(task, .number = 2));
        assert_true(given == WEIR_OK || given == WEIR_STOPPING || given == WEIR_UNKNOWN);
        const weir_status status = weir_processor_stop(d.engine, d.members[round % 2], 0, NULL);
        assert_true(status == WEIR_OK || status == WEIR_UNKNOWN);
        const weir_stop_report report = test_engine_end(d.engine);
        assert_true(report.dead >= 1);
        assert_int_equal(report.accepted, report.handled + report.dead);
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(d.lives[i].inits, d.lives[i].destroys);
        }
    }
}

static void a_stop_of_the_engine_finds_everybody(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        static const weir_directive eldest[] = { WEIR_RESUME, WEIR_RESTART, WEIR_STOP,
                                                 WEIR_ESCALATE };
        dynasty d;
        dynasty_open(
            &d, (const weir_directive[]){ eldest[round % 4], WEIR_ESCALATE, WEIR_ESCALATE }, 3, 2);
        give(d.engine, d.members[2], 1, 1);
        const weir_stop_report report = test_engine_end(d.engine);
        assert_int_equal(1, report.dead);
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(d.lives[i].inits, d.lives[i].destroys);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parent_that_resumes_lets_its_child_go_on),
        cmocka_unit_test(a_child_without_a_parent_stops_instead_of_escalating),
        cmocka_unit_test(a_parent_that_is_restarted_ends_its_children_first),
        cmocka_unit_test(a_parent_that_stops_takes_its_child_along),
        cmocka_unit_test(a_failure_goes_up_three_levels_to_a_restart),
        cmocka_unit_test(a_failure_goes_up_three_levels_to_a_stop),
        cmocka_unit_test(a_failure_goes_up_three_levels_and_all_go_on),
        cmocka_unit_test(a_restarted_parent_may_make_children_of_the_same_names),
        cmocka_unit_test(a_parent_that_waits_for_its_restart_takes_no_children),
        cmocka_unit_test(a_stop_of_the_parent_finds_a_child_that_waits_for_its_decision),
        cmocka_unit_test(a_stop_of_the_engine_finds_everybody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
