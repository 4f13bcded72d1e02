/*
 * engine/service_test.c - the duty cycle has its place for services: each is called once a round,
 * and work that it reports keeps its thread from idling. What agents can do beyond that is in
 * agent_test.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

#include "engine/agent.h"
#include "engine/engine.h"

enum { BUSY_CALLS = 2000 };

/* A service that has work for some calls. Plain fields are its thread's, read after the stop. */
typedef struct worker {
    weir__thread *thread;
    int64_t busy_calls;    /* how many calls still find work; negative: all until `enough` */
    int32_t work;          /* what such a call returns */
    int32_t without;       /* what the others return */
    struct worker *before; /* the one that must have been called first */
    _Atomic uint64_t calls;
    _Atomic bool enough;
    uint64_t out_of_turn; /* calls that came before those of `before` */
    uint64_t wrong_thread;
    uint64_t idle_while_busy; /* idle rounds between two calls that found work */
    uint64_t rounds_first, rounds_last;
    pid_t tid;
} worker;

static int32_t work_once(void *state, weir_ns *next)
{
    worker *w = state;
    *next = 0;
    const uint64_t calls = atomic_load_explicit(&w->calls, memory_order_relaxed) + 1;
    const uint64_t idle_rounds = weir__cell_read(&w->thread->rounds_idle);
    if (w->tid == 0) {
        w->tid = test_tid();
        w->rounds_first = weir__cell_read(&w->thread->rounds);
    }
    w->wrong_thread += w->tid != test_tid();
    w->rounds_last = weir__cell_read(&w->thread->rounds);
    if (w->before != NULL) {
        w->out_of_turn += atomic_load_explicit(&w->before->calls, memory_order_relaxed) != calls;
    }
    const bool busy = w->busy_calls != 0 && !atomic_load(&w->enough);
    if (busy) {
        w->idle_while_busy += idle_rounds;
        w->busy_calls -= w->busy_calls > 0;
    }
    atomic_store_explicit(&w->calls, calls, memory_order_release);
    return busy ? w->work : w->without;
}

static uint64_t calls_of(worker *w)
{
    return atomic_load_explicit(&w->calls, memory_order_acquire);
}

/* Behind those that are there already. Before the start. */
static void attach(weir_engine *engine, weir_thread thread, worker *w)
{
    w->thread = weir__thread_of(engine, thread);
    assert_non_null(w->thread);
    const weir__agent_plan plan = { .name = "worker", .do_work = work_once, .context = w };
    weir_error error = WEIR_ERROR_INIT;
    assert_non_null(weir__agent_join(engine, thread, &plan, &error));
}

static bool await_calls(worker *w, uint64_t target)
{
    const int64_t end = now_ns() + (int64_t)WAIT_SECONDS * 1000000000;
    while (calls_of(w) < target && now_ns() < end) {
        (void)sched_yield();
    }
    return calls_of(w) >= target;
}

static weir_engine *engine_with_thread(weir_idle idle, weir_thread *thread)
{
    weir_engine *engine = engine_quiet();
    engine_add_threads(engine, "", 1, idle, thread);
    return engine;
}

static void work_that_a_service_reports_keeps_its_thread_from_idling(void **state)
{
    (void)state;
    static const weir_idle strategies[] = { WEIR_IDLE_PARK, WEIR_IDLE_BACKOFF, WEIR_IDLE_SLEEP };
    for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++) {
        weir_thread thread;
        weir_engine *engine = engine_with_thread(strategies[i], &thread);
        worker w = { .busy_calls = BUSY_CALLS, .work = 1 };
        attach(engine, thread, &w);
        engine_start(engine);
        assert_true(await_calls(&w, BUSY_CALLS)); /* though nobody posts anything */
        engine_finish(engine, 0);
        assert_int_equal(0, w.idle_while_busy);
        assert_int_equal(0, w.wrong_thread);
    }
}

static void a_service_is_called_once_a_round(void **state)
{
    (void)state;
    weir_thread thread;
    weir_engine *engine = engine_with_thread(WEIR_IDLE_YIELD, &thread);
    worker w = { .busy_calls = 10, .work = INT32_MAX }; /* and then without work, in idle rounds */
    attach(engine, thread, &w);
    engine_start(engine);
    assert_true(await_calls(&w, 1000));
    engine_finish(engine, 0);
    assert_int_equal(calls_of(&w), w.rounds_last - w.rounds_first + 1);
}

static void several_services_are_called_in_their_order(void **state)
{
    (void)state;
    enum { SERVICES = 3 };
    weir_thread thread;
    weir_engine *engine = engine_with_thread(WEIR_IDLE_PARK, &thread);
    worker workers[SERVICES] = { 0 };
    for (uint32_t i = 0; i < SERVICES; i++) {
        workers[i].without = 0; /* of one must not cancel the work of another one */
        workers[i].before = i > 0 ? &workers[i - 1] : NULL;
        attach(engine, thread, &workers[i]);
    }
    workers[1].busy_calls = BUSY_CALLS; /* one of them is enough to keep the thread up */
    workers[1].work = 1;
    engine_start(engine);
    assert_true(await_calls(&workers[SERVICES - 1], BUSY_CALLS));
    engine_finish(engine, 0);
    for (uint32_t i = 0; i < SERVICES; i++) {
        assert_int_equal(0, workers[i].out_of_turn);
        assert_int_equal(0, workers[i].wrong_thread);
        assert_int_equal(calls_of(&workers[0]), calls_of(&workers[i]));
    }
}

static void a_service_without_work_lets_its_thread_idle(void **state)
{
    (void)state;
    static const int32_t nothing[] = { 0, -1, INT32_MIN };
    for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
        weir_thread thread;
        weir_engine *engine = engine_with_thread(WEIR_IDLE_PARK, &thread);
        worker w = { .without = nothing[i] };
        attach(engine, thread, &w);
        engine_start(engine);
        const int64_t end = now_ns() + (int64_t)WAIT_SECONDS * 1000000000;
        while (weir__cell_read(&w.thread->rounds_idle) < 2 && now_ns() < end) {
            (void)sched_yield();
        }
        assert_true(weir__cell_read(&w.thread->rounds_idle) >= 2);
        assert_true(calls_of(&w) >= 1);
        engine_finish(engine, 0);
    }
}

static void a_post_to_the_thread_brings_the_next_call_of_its_service(void **state)
{
    (void)state;
    weir_thread thread;
    weir_engine *engine = engine_with_thread(WEIR_IDLE_PARK, &thread);
    worker w = { .without = 0 };
    attach(engine, thread, &w);
    const weir_processor to = engine_add(engine, WEIR_PROCESSOR(.handler = ignore_event));
    engine_start(engine);
    const uint64_t posts = 100;
    for (uint64_t i = 0; i < posts; i++) {
        const uint64_t before = calls_of(&w);
        assert_int_equal(WEIR_OK, post_when_room(engine, to, WEIR_EVENT(mark, .number = i)));
        assert_true(await_calls(&w, before + 1));
    }
    engine_finish(engine, posts);
}

static void a_busy_service_does_not_starve_the_processors(void **state)
{
    (void)state;
    const uint64_t count = test_scaled(10000, 10);
    weir_thread thread;
    weir_engine *engine = engine_with_thread(WEIR_IDLE_PARK, &thread);
    worker w = { .busy_calls = -1, .work = 1 };
    ledger book;
    ledger_open(&book, count);
    collector c = { .book = &book };
    attach(engine, thread, &w);
    const weir_processor to =
        engine_add(engine, WEIR_PROCESSOR(.handler = collect, .argument = &c));
    engine_start(engine);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(WEIR_OK, post_when_room(engine, to, WEIR_EVENT(mark, .number = i)));
    }
    assert_true(goal_wait(&book.done));
    atomic_store(&w.enough, true);
    engine_finish(engine, count);
    ledger_check(&book);
    ledger_close(&book);
    assert_true(calls_of(&w) > 0);
}

/* A processor that always has an event left: it posts the next one before it ends. */
typedef struct perpetual {
    _Atomic bool enough;
    _Atomic uint64_t handled;
} perpetual;

static weir_status go_on(void *state, weir_turn *turn, const weir_event *event)
{
    perpetual *p = state;
    atomic_fetch_add(&p->handled, 1);
    return atomic_load(&p->enough) ? WEIR_OK : weir_turn_post(turn, weir_turn_self(turn), event);
}

static void a_busy_processor_does_not_starve_the_services(void **state)
{
    (void)state;
    weir_thread thread;
    weir_engine *engine = engine_with_thread(WEIR_IDLE_PARK, &thread);
    worker w = { .without = 0 };
    perpetual p = { .enough = false };
    attach(engine, thread, &w);
    const weir_processor to = engine_add(engine, WEIR_PROCESSOR(.handler = go_on, .argument = &p));
    engine_start(engine);
    assert_int_equal(WEIR_OK, post_when_room(engine, to, WEIR_EVENT(mark, .number = 0)));
    assert_true(await_calls(&w, BUSY_CALLS));
    atomic_store(&p.enough, true);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, 0, &report));
    assert_int_equal(atomic_load(&p.handled), report.handled);
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_that_a_service_reports_keeps_its_thread_from_idling),
        cmocka_unit_test(a_service_is_called_once_a_round),
        cmocka_unit_test(several_services_are_called_in_their_order),
        cmocka_unit_test(a_service_without_work_lets_its_thread_idle),
        cmocka_unit_test(a_post_to_the_thread_brings_the_next_call_of_its_service),
        cmocka_unit_test(a_busy_service_does_not_starve_the_processors),
        cmocka_unit_test(a_busy_processor_does_not_starve_the_services),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
