/*
 * ending_test.c - what an engine's stop has done when it returns, and what can no longer be added
 * from its first moment on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fault_support.h"

#include <fcntl.h>

#include "engine/engine.h"

/* ---- destroy hooks ---- */

enum { HOOKS = 3 };

typedef struct hooked {
    int init_thread, destroy_thread;
    weir_status reason;
    uint64_t handled;
} hooked;

static weir_status hooked_init(void *state, weir_turn *turn, void *argument)
{
    (void)turn;
    hooked *h = argument;
    *(hooked **)state = h;
    h->init_thread = test_gettid();
    return WEIR_OK;
}

static weir_status hooked_handle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    (*(hooked **)state)->handled++;
    return WEIR_OK;
}

static void hooked_destroy(void *state, weir_status reason)
{
    hooked *h = *(hooked **)state;
    h->destroy_thread = test_gettid();
    h->reason = reason;
}

static void destroy_hooks_have_run_on_their_own_thread_when_a_stop_returns(void **state)
{
    (void)state;
    hooked h[HOOKS] = { { .reason = WEIR_E_FAILED } };
    weir_processor p[HOOKS];
    weir_engine *engine = test_engine_create(NULL);
    (void)test_thread_add(engine, NULL);
    for (size_t i = 0; i < HOOKS; i++) {
        h[i].reason = WEIR_E_FAILED;
        p[i] = test_processor_add(engine,
                                  WEIR_PROCESSOR(.init = hooked_init, .destroy = hooked_destroy,
                                                 .handler = hooked_handle, .argument = &h[i],
                                                 .state_size = sizeof(hooked *)));
    }
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, p[0], 1)); /* the others never see an event */
    (void)test_engine_stop(engine);
    for (size_t i = 0; i < HOOKS; i++) {
        assert_int_equal(WEIR_OK, h[i].reason);
        assert_int_not_equal(test_gettid(), h[i].destroy_thread);
        assert_int_equal(h[i].init_thread, h[i].destroy_thread); /* there is only one */
    }
    assert_int_equal(1, h[0].handled);
    weir_engine_destroy(engine);
}

/* A destroy hook of the engine's own end: everything else is drained, so nobody would be left to
 * handle what it sends. */
typedef struct farewell {
    weir_engine *engine;
    weir_processor to;
    weir_status posted;
    sem_t entered, pass;
    bool waits; /* for `pass`, before it posts */
} farewell;

static void farewell_destroy(void *state, weir_status reason)
{
    farewell *f = state;
    (void)reason;
    (void)sem_post(&f->entered);
    if (!f->waits || test_sem_taken(&f->pass)) {
        f->posted = test_post(f->engine, f->to, 1);
    }
}

static weir_processor add_farewell(farewell *f, weir_engine *engine, weir_processor to, bool waits)
{
    *f = (farewell){ .engine = engine, .to = to, .posted = WEIR_E_FAILED, .waits = waits };
    assert_int_equal(0, sem_init(&f->entered, 0, 0));
    assert_int_equal(0, sem_init(&f->pass, 0, 0));
    return test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = f,
                                                     .destroy = farewell_destroy));
}

static void a_destroy_hook_cannot_post_once_an_engine_has_drained(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 2));
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
    farewell before, early, late;
    const weir_processor first = add_farewell(&before, engine, to, false);
    const weir_processor second = add_farewell(&early, engine, to, true);
    (void)add_farewell(&late, engine, to, false);
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, first, 0, NULL));
    assert_int_equal(WEIR_OK, before.posted); /* the engine runs */
    assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, second, TEST_PATIENCE));
    test_sem_wait(&early.entered);
    assert_int_equal(WEIR_OK, weir_engine_stop_async(engine, TEST_PATIENCE));
    test_sem_wait(&late.entered); /* so it has drained, and ends its processors */
    assert_int_equal(0, sem_post(&early.pass));
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_wait(engine, TEST_PATIENCE, &report));
    assert_int_equal(WEIR_STOPPING, early.posted);
    assert_int_equal(WEIR_STOPPING, late.posted);
    assert_int_equal(1, report.accepted);
    assert_int_equal(1, report.handled);
    assert_int_equal(2, test_engine_counters(engine).refused_stopping);
    weir_engine_destroy(engine);
    assert_int_equal(1, test_recorder_handled(&recorder));
}

/* ---- out of time ---- */

/* Until the stop has given up, and a little longer: work, not sleep. */
typedef struct latecomer {
    weir_engine *engine;
    weir_status posted; /* to itself, when the stop had given up */
    sem_t entered;
} latecomer;

static weir_status return_late(void *state, weir_turn *turn, const weir_event *event)
{
    latecomer *l = state;
    (void)sem_post(&l->entered);
    const weir_ns patience = test_now() + TEST_PATIENCE;
    while (weir__engine_phase(l->engine) < WEIR__ABANDONED && test_now() < patience) {
        (void)sched_yield();
    }
    l->posted = weir_turn_post(turn, weir_turn_self(turn), event);
    const weir_ns end = test_now() + 5 * WEIR_MS;
    while (test_now() < end) {
    }
    return WEIR_OK;
}

/* A machine that is busy may take the handler's core away for longer than the grace, so it is tried
 * a few times. */
static void a_handler_that_returns_just_after_a_stop_has_given_up_counts_as_handled(void **state)
{
    (void)state;
    latecomer l = { .posted = WEIR_E_FAILED };
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    for (int attempt = 0; attempt < 5 && report.handled == 0; attempt++) {
        assert_int_equal(0, sem_init(&l.entered, 0, 0));
        l.engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
        const weir_processor to =
            test_processor_add(l.engine, WEIR_PROCESSOR(.handler = return_late, .argument = &l));
        test_engine_start(l.engine);
        assert_int_equal(WEIR_OK, test_post(l.engine, to, 1));
        test_sem_wait(&l.entered);
        assert_int_equal(WEIR_OK, test_post(l.engine, to, 2)); /* never begun: left */
        assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(l.engine, WEIR_NOW, &report));
        weir_engine_destroy(l.engine);
        assert_int_equal(l.posted == WEIR_OK ? 3 : 2, report.accepted);
        assert_int_equal(report.accepted, report.handled + report.left);
    }
    assert_int_equal(1, report.handled);
    assert_int_equal(WEIR_OK, l.posted); /* accepted, and left as well */
    assert_int_equal(2, report.left);
}

/* An init that is still inside when the stop gives up. */
typedef struct slow_init {
    sem_t entered, pass;
    atomic_uint_least64_t handled, destroyed;
} slow_init;

static weir_status slow_init_run(void *state, weir_turn *turn, void *argument)
{
    slow_init *s = argument;
    (void)state;
    (void)turn;
    (void)sem_post(&s->entered);
    return test_sem_taken(&s->pass) ? WEIR_OK : WEIR_E_FAILED;
}

static weir_status slow_init_handle(void *state, weir_turn *turn, const weir_event *event)
{
    slow_init *s = state;
    (void)turn;
    (void)event;
    atomic_fetch_add(&s->handled, 1);
    return WEIR_OK;
}

static void slow_init_destroy(void *state, weir_status reason)
{
    slow_init *s = state;
    atomic_fetch_add(&s->destroyed, reason == WEIR_TIMEOUT ? 1 : 100);
}

static void what_waits_behind_an_init_that_outlasts_the_stop_is_never_handled(void **state)
{
    (void)state;
    slow_init s = { .handled = 0 };
    assert_int_equal(0, sem_init(&s.entered, 0, 0));
    assert_int_equal(0, sem_init(&s.pass, 0, 0));
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    test_engine_start(engine);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = slow_init_handle, .argument = &s, .init = slow_init_run,
                               .destroy = slow_init_destroy));
    test_sem_wait(&s.entered);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, to, i));
    }
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(engine, WEIR_NOW, &report));
    assert_int_equal(3, report.accepted);
    assert_int_equal(3, report.left);
    assert_int_equal(0, sem_post(&s.pass));
    weir_engine_destroy(engine); /* waits for the init */
    assert_int_equal(0, atomic_load(&s.handled));
    assert_int_equal(1, atomic_load(&s.destroyed)); /* it was initialised after all */
}

/* ---- nothing new ---- */

typedef struct late {
    sem_t entered, pass;
    weir_status processor, many, thread, tune;
    size_t added;
} late;

static weir_status add_too_late(void *state, weir_turn *turn, const weir_event *event)
{
    late *l = state;
    weir_engine *engine = weir_turn_engine(turn);
    (void)event;
    (void)sem_post(&l->entered);
    if (!test_sem_taken(&l->pass)) {
        return WEIR_E_FAILED;
    }
    weir_error error = WEIR_ERROR_INIT;
    const weir_processor_options options = { .struct_size = sizeof(options),
                                             .handler = test_recorder_handle };
    const weir_processor_options *const list[] = { &options };
    weir_processor out = { 7 };
    l->added += weir_processor_add(engine, &options, &error).id != 0;
    l->processor = error.status;
    error = (weir_error)WEIR_ERROR_INIT;
    l->many = weir_processor_add_many(engine, list, 1, &out, &error);
    l->added += out.id != 0;
    error = (weir_error)WEIR_ERROR_INIT;
    l->added += weir_thread_add(engine, NULL, &error).id != 0;
    l->thread = error.status;
    l->tune = weir_dispatcher_tune(engine, WEIR_DISPATCHER(.fair = true), NULL);
    return WEIR_OK;
}

static void while_an_engine_drains_no_processor_and_no_thread_can_be_added(void **state)
{
    (void)state;
    static late l;
    assert_int_equal(0, sem_init(&l.entered, 0, 0));
    assert_int_equal(0, sem_init(&l.pass, 0, 0));
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor p =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = add_too_late, .argument = &l));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, p, 1));
    test_sem_wait(&l.entered);
    assert_int_equal(WEIR_OK, weir_engine_stop_async(engine, TEST_PATIENCE));
    TEST_UNTIL(test_post(engine, (weir_processor){ 0 }, 1) == WEIR_STOPPING);
    assert_int_equal(0, sem_post(&l.pass));
    assert_int_equal(WEIR_OK, weir_engine_wait(engine, TEST_PATIENCE, NULL));
    assert_int_equal(WEIR_E_INVALID, l.processor);
    assert_int_equal(WEIR_E_INVALID, l.many);
    assert_int_equal(WEIR_E_INVALID, l.thread);
    assert_int_equal(WEIR_E_INVALID, l.tune);
    assert_int_equal(0, l.added);
    weir_engine_destroy(engine);
}

/* ---- nothing left ---- */

static uint64_t mapped_bytes(void)
{
    char text[64] = "0";
    assert_true(test_proc_line("/proc/self/status", "VmSize:", text, sizeof(text)));
    return strtoull(text, NULL, 10) * 1024;
}

/* Engine, helpers of asynchronous stops, dedicated threads: whoever was started is joined, or its
 * stack stays. */
static void engine_of_every_thread(void)
{
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 2));
    const weir_processor own = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .dedicated = true));
    test_engine_start(engine);
    (void)test_thread_add(engine, NULL);
    assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, own, TEST_PATIENCE));
    assert_int_equal(WEIR_OK, weir_engine_stop_async(engine, TEST_PATIENCE));
    assert_int_equal(WEIR_OK, weir_engine_wait(engine, TEST_PATIENCE, NULL));
    weir_engine_destroy(engine);
}

static void an_engine_leaves_no_thread_and_no_stack_behind(void **state)
{
    (void)state;
    enum { ENGINES = 40, STACKS = 16 };
    if (TEST_SANITIZED) {
        test_skip("a sanitizer keeps memory of its own");
    }
    pthread_attr_t attributes;
    size_t stack = 0;
    assert_int_equal(0, pthread_attr_init(&attributes));
    assert_int_equal(0, pthread_attr_getstacksize(&attributes, &stack));
    const uint64_t tasks = test_task_count();
    for (int i = 0; i < 3; i++) { /* the system keeps a few stacks for later */
        engine_of_every_thread();
    }
    const uint64_t before = mapped_bytes();
    for (int i = 0; i < ENGINES; i++) {
        engine_of_every_thread();
    }
    TEST_UNTIL(test_task_count() <= tasks);
    assert_true(mapped_bytes() < before + STACKS * stack);
}

/* ---- nothing there ---- */

static void looking_for_nothing_finds_nothing(void **state)
{
    (void)state;
    char text[16] = "before";
    weir_engine *engine = test_engine_create(NULL);
    assert_int_equal(0, weir_processor_find(NULL, "x").id);
    assert_int_equal(0, weir_processor_find(engine, NULL).id);
    assert_int_equal(0, weir_processor_find(engine, "x").id);
    assert_int_equal(0, weir_thread_find(NULL, "x").id);
    assert_int_equal(0, weir_thread_find(engine, NULL).id);
    assert_int_equal(0, weir_thread_find(engine, "x").id);
    assert_int_equal(0, weir_processor_name(engine, (weir_processor){ 0 }, text, sizeof(text)));
    assert_string_equal("", text);
    text[0] = 'b';
    assert_int_equal(0, weir_processor_name(NULL, (weir_processor){ 1 }, text, sizeof(text)));
    assert_string_equal("", text);
    text[0] = 'b';
    assert_int_equal(0, weir_processor_name(engine, (weir_processor){ 0 }, text, 0));
    assert_string_equal("before", text);
    weir_engine_destroy(engine);
}

static int open_descriptors(void)
{
    int count = 0;
    for (int i = 0; i < 1024; i++) {
        count += fcntl(i, F_GETFD) >= 0;
    }
    return count;
}

static void an_engine_leaves_no_descriptor_behind(void **state)
{
    (void)state;
    const int before = open_descriptors();
    for (int i = 0; i < 3; i++) {
        weir_engine *engine = test_engine_create(NULL);
        const weir_thread thread = test_thread_add(engine, WEIR_THREAD(.external = true));
        assert_true(weir_thread_fd(engine, thread) >= 0);
        assert_true(open_descriptors() > before);
        weir_engine_destroy(engine);
        assert_int_equal(before, open_descriptors());
    }
}

/* ---- a stop that begins when all is over ---- */

typedef struct last_hook {
    weir_engine *engine;
    weir_processor other;
    weir_status answer;
} last_hook;

static void stop_the_other(void *state, weir_status reason)
{
    last_hook *l = state;
    (void)reason;
    l->answer = weir_processor_stop_async(l->engine, l->other, WEIR_S);
}

/* The engine was never started: destroy runs the hooks itself. */
static void an_asynchronous_stop_in_the_last_destroy_hook_leaves_nothing_behind(void **state)
{
    (void)state;
    test_fault fault;
    test_fault_init(&fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
    last_hook l = { .engine = test_engine_create(WEIR_ENGINE(.allocator = &allocator)),
                    .answer = WEIR_E_INVALID };
    (void)test_processor_add(l.engine, WEIR_PROCESSOR(.handler = hooked_handle,
                                                      .destroy = stop_the_other, .argument = &l));
    l.other = test_processor_add(l.engine, WEIR_PROCESSOR(.handler = hooked_handle));
    weir_engine_destroy(l.engine);
    assert_int_equal(WEIR_OK, l.answer);
    assert_int_equal(0, atomic_load(&fault.bytes));
    assert_int_equal(0, atomic_load(&fault.wrong));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destroy_hooks_have_run_on_their_own_thread_when_a_stop_returns),
        cmocka_unit_test(a_destroy_hook_cannot_post_once_an_engine_has_drained),
        cmocka_unit_test(a_handler_that_returns_just_after_a_stop_has_given_up_counts_as_handled),
        cmocka_unit_test(what_waits_behind_an_init_that_outlasts_the_stop_is_never_handled),
        cmocka_unit_test(while_an_engine_drains_no_processor_and_no_thread_can_be_added),
        cmocka_unit_test(an_engine_leaves_no_thread_and_no_stack_behind),
        cmocka_unit_test(an_engine_leaves_no_descriptor_behind),
        cmocka_unit_test(looking_for_nothing_finds_nothing),
        cmocka_unit_test(an_asynchronous_stop_in_the_last_destroy_hook_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
