/*
 * wake_test.c - bugs that were: lost wake-ups. Work on its way from the intake to the list could be
 * seen by nobody; what a take left over could be missed by both the taker and a thread that parked.
 *
 * The windows are a few instructions wide, so these are loads, many rounds of each; the last one
 * looks at the two words themselves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "regress_support.h"

#include "engine/engine.h"
#include "engine/processor.h"

enum { PROCESSORS = 4 };

static weir_status count_event(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    atomic_fetch_add((atomic_uint_least64_t *)state, 1);
    return WEIR_OK;
}

static void spend(uint64_t looks)
{
    static atomic_uint nothing;
    for (uint64_t i = 0; i < looks; i++) {
        (void)atomic_load_explicit(&nothing, memory_order_relaxed);
    }
}

static weir_engine *create(uint32_t threads, bool fair)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = quiet_engine(0);
    for (uint32_t i = 0; i < threads; i++) {
        (void)test_thread_add(engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK));
    }
    (void)weir_dispatcher_tune(engine, WEIR_DISPATCHER(.name = "", .fair = fair), &error);
    test_error_none(&error);
    return engine;
}

/* Pings to threads that are just about to park: each is handled before the next round. */
static void ping(uint32_t threads, bool fair, uint64_t rounds, uint64_t *random)
{
    weir_engine *engine = create(threads, fair);
    weir_processor to[PROCESSORS];
    atomic_uint_least64_t handled;
    atomic_init(&handled, 0);
    for (int i = 0; i < PROCESSORS; i++) {
        to[i] = test_processor_add(engine,
                                   WEIR_PROCESSOR(.handler = count_event, .argument = &handled));
    }
    test_engine_start(engine);
    uint64_t sent = 0;
    for (uint64_t i = 0; i < rounds; i++) {
        const uint64_t count = 1 + test_random(random) % PROCESSORS;
        for (uint64_t k = 0; k < count; k++) {
            assert_int_equal(WEIR_OK, test_post(engine, to[k], 1));
            spend(test_random(random) % 300);
        }
        sent += count;
        TEST_UNTIL(atomic_load(&handled) == sent);
        spend(test_random(random) % 2000);
    }
    assert_int_equal(sent, test_engine_end(engine).handled);
}

static void an_event_for_threads_that_are_about_to_park_is_always_handled(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const uint64_t rounds = test_load(20000, 500);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        ping(threads, false, rounds, &random);
        ping(threads, true, rounds, &random);
    }
}

/* Q's handler returns when P's has run: so P must be taken by the other thread. */
static weir_status wait_for_the_other(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    return test_sem_taken(state) ? WEIR_OK : WEIR_E_USER;
}

static weir_status let_the_other_go(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    return sem_post(state) == 0 ? WEIR_OK : WEIR_E_USER;
}

static void work_behind_a_long_handler_is_taken_by_another_thread(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const uint64_t rounds = test_load(6000, 300);
    for (int fair = 0; fair < 2; fair++) {
        weir_engine *engine = create(2, fair != 0);
        sem_t ran;
        assert_int_equal(0, sem_init(&ran, 0, 0));
        const weir_processor q = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = wait_for_the_other, .argument = &ran));
        const weir_processor p = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = let_the_other_go, .argument = &ran));
        const weir_processor r =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing));
        test_engine_start(engine);
        for (uint64_t i = 0; i < rounds; i++) {
            assert_int_equal(WEIR_OK, test_post(engine, r, 1));
            spend(test_random(&random) % 4000);
            assert_int_equal(WEIR_OK, test_post(engine, q, 1));
            assert_int_equal(WEIR_OK, test_post(engine, p, 1));
            TEST_UNTIL(test_engine_counters(engine).depth == 0);
        }
        const weir_stop_report report = test_engine_end(engine);
        assert_int_equal(3 * rounds, report.handled);
        assert_int_equal(0, report.dead); /* Q has never waited in vain */
    }
}

/* ---- the two words ---- */

typedef struct litmus {
    weir_engine engine;
    weir__dispatcher dispatcher;
    weir__thread taker;
    weir__serving serving;
    weir__serving *served;
    _Alignas(64) weir__processor processors[2];
    _Alignas(64) atomic_uint_least64_t round; /* begins with it; OVER: none does any more */
    _Alignas(64) atomic_uint_least64_t done;  /* ends with it */
    bool taker_saw;
    cpu_set_t core_of_taker, core_of_parker;
    uint64_t rounds, neither, random;
} litmus;

#define OVER UINT64_MAX

static litmus the_litmus;

/* The next round, or the end of the same one. */
static uint64_t wait_for_change(atomic_uint_least64_t *word, uint64_t last)
{
    for (uint64_t looks = 1;; looks++) {
        const uint64_t now = atomic_load_explicit(word, memory_order_acquire);
        if (now != last) {
            return now;
        }
        if (looks % 4096 == 0) {
            (void)sched_yield(); /* others may want this core */
        }
    }
}

/* Takes one of two, then looks for parked threads, as pass_on in duty.c does. */
static void take_and_look(void *argument)
{
    litmus *l = argument;
    uint64_t round = 0;
    (void)sched_setaffinity(0, sizeof(l->core_of_taker), &l->core_of_taker);
    while ((round = wait_for_change(&l->round, round)) != OVER) {
        weir__processor *out;
        const weir__take take = weir__dispatcher_take(&l->dispatcher, &l->taker, 0, &out);
        l->taker_saw = take == WEIR__TAKE_GOT && weir__dispatcher_has_work(&l->dispatcher) &&
                       weir__load(&l->dispatcher.searching, seq_cst) == 0 &&
                       weir__load(&l->dispatcher.parked[0], seq_cst) != 0;
        atomic_store_explicit(&l->done, round, memory_order_release);
    }
}

/* Sets its parked bit, then looks for work, as weir__duty_park does. */
static void park_and_look(void *argument)
{
    litmus *l = argument;
    weir__dispatcher *dispatcher = &l->dispatcher;
    const weir_ns end = test_now() + 2 * WEIR_S;
    (void)sched_setaffinity(0, sizeof(l->core_of_parker), &l->core_of_parker);
    for (uint64_t i = 1; i <= l->rounds && (i % 1024 != 0 || test_now() < end); i++) {
        weir__store(&dispatcher->parked[0], 0, relaxed);
        weir__store(&dispatcher->length, 0, relaxed);
        weir__store(&dispatcher->intake, 0, relaxed);
        dispatcher->head = NULL;
        dispatcher->tail = NULL;
        weir__dispatcher_push_quiet(dispatcher, &l->processors[0]);
        weir__dispatcher_push_quiet(dispatcher, &l->processors[1]);
        const uint64_t delay = test_random(&l->random) % 800;
        atomic_store_explicit(&l->round, i, memory_order_release);
        spend(delay);
        weir__or(&dispatcher->parked[0], 1, seq_cst);
        const bool parker_saw = weir__dispatcher_has_work(dispatcher);
        (void)wait_for_change(&l->done, i - 1);
        l->neither += !l->taker_saw && !parker_saw;
    }
    atomic_store(&l->round, OVER);
}

/* False: there are no two cores. */
static bool choose_cores(litmus *l)
{
    cpu_set_t usable;
    cpu_set_t *const wanted[] = { &l->core_of_taker, &l->core_of_parker };
    size_t found = 0;
    assert_int_equal(0, sched_getaffinity(0, sizeof(usable), &usable));
    for (size_t core = 0; core < CPU_SETSIZE && found < 2; core++) {
        if (CPU_ISSET(core, &usable)) {
            CPU_ZERO(wanted[found]);
            CPU_SET(core, wanted[found]);
            found++;
        }
    }
    return found == 2;
}

/* One is left over: either the taker sees the thread that parks, or that one sees the work. */
static void what_a_take_leaves_over_is_seen_by_the_taker_or_by_who_parks(void **state)
{
    (void)state;
    litmus *l = &the_litmus;
    if (!choose_cores(l)) {
        test_skip("it needs two cores");
    }
    l->random = test_seed();
    l->rounds = test_load(1000000, 20000);
    l->dispatcher.engine = &l->engine;
    l->serving.dispatcher = &l->dispatcher;
    l->taker.engine = &l->engine;
    l->served = &l->serving;
    l->taker.servings = &l->served;
    l->taker.serving_count = 1;
    aside taking, parking;
    aside_begin(&taking, take_and_look, l);
    aside_begin(&parking, park_and_look, l);
    aside_end(&parking);
    aside_end(&taking);
    assert_int_equal(0, l->neither);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_for_threads_that_are_about_to_park_is_always_handled),
        cmocka_unit_test(work_behind_a_long_handler_is_taken_by_another_thread),
        cmocka_unit_test(what_a_take_leaves_over_is_seen_by_the_taker_or_by_who_parks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
