/*
 * removal_test.c - threads, and with them dispatchers, that are removed while the engine runs
 * (S-22): what a thread does before it goes, when it may not go, what is left of it, and that its
 * seat is used again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fault_support.h"

#include "engine_support.h"

static weir_engine *engine;

static void removed(weir_thread thread)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_status status = weir_thread_remove(engine, thread, &error);
    assert_no_error(&error);
    assert_int_equal(WEIR_OK, status);
}

static weir_thread added(const weir_thread_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_thread thread = weir_thread_add(engine, options, &error);
    assert_no_error(&error);
    assert_true(thread.id != 0);
    return thread;
}

static void refused(weir_thread thread, weir_status expected, const char *path, const char *word)
{
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(expected, weir_thread_remove(engine, thread, &error));
    assert_int_equal(expected, error.status);
    assert_string_equal(path, error.path);
    if (strstr(error.text, word) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.text, word);
    }
    assert_int_equal(expected, weir_thread_remove(engine, thread, NULL));
}

static void post(weir_processor to, uint64_t which)
{
    assert_int_equal(WEIR_OK, weir_engine_post(engine, to, WEIR_EVENT(mark, .number = which)));
}

static bool append_name(void *context, const char *name)
{
    char *all = context;
    (void)snprintf(all + strlen(all), 200 - strlen(all), "<%s>", name);
    return true;
}

static void names_are(const char *expected)
{
    char all[200] = "";
    weir_dispatcher_visit(engine, append_name, all);
    assert_string_equal(expected, all);
}

/* A removal on a thread of its own, which tells when it is over. */
typedef struct removal {
    pthread_t os;
    weir_thread thread;
    weir_status status;
    _Atomic bool over;
} removal;

static void *remove_aside(void *argument)
{
    removal *r = argument;
    r->status = weir_thread_remove(engine, r->thread, NULL);
    atomic_store(&r->over, true);
    return NULL;
}

static void removal_begin(removal *r, weir_thread thread)
{
    r->thread = thread;
    atomic_init(&r->over, false);
    assert_int_equal(0, pthread_create(&r->os, NULL, remove_aside, r));
}

static weir_status removal_end(removal *r)
{
    assert_int_equal(0, pthread_join(r->os, NULL));
    return r->status;
}

/* ---- what is left of it ---- */

static void a_removed_thread_is_gone_and_its_handle_is_unknown_for_ever(void **state)
{
    (void)state;
    weir_thread_counters counters = WEIR_THREAD_COUNTERS_INIT;
    engine = engine_quiet();
    (void)added(WEIR_THREAD(.name = "stays"));
    const weir_thread goes = added(WEIR_THREAD(.name = "goes"));
    engine_start(engine);
    assert_int_equal(2, engine_counters(engine).threads);
    assert_int_equal(WEIR_OK, weir_thread_counters_get(engine, goes, &counters));
    const pid_t tid = (pid_t)counters.system_id;
    assert_int_not_equal('\0', task_state(tid));
    removed(goes);
    UNTIL(task_state(tid) == '\0'); /* it was joined; the system lists it for a moment longer */
    assert_int_equal(1, engine_counters(engine).threads);
    assert_int_equal(1, dispatcher_counters(engine, "").threads);
    for (int again = 0; again < 3; again++) {
        assert_int_equal(0, weir_thread_find(engine, "goes").id);
        assert_int_equal(WEIR_UNKNOWN, weir_thread_counters_get(engine, goes, &counters));
        assert_int_equal(WEIR_UNKNOWN, weir_thread_remove(engine, goes, NULL));
        assert_int_equal(-1, weir_thread_fd(engine, goes));
        const weir_thread next = added(WEIR_THREAD(.name = "goes")); /* on the same seat */
        assert_true(next.id != goes.id);
        assert_int_equal(WEIR_OK, weir_thread_counters_get(engine, next, &counters));
        assert_int_equal(0, counters.handled);
        assert_int_equal(0, weir_thread_find(engine, "gone").id);
        removed(next);
    }
    engine_finish(engine, 0);
}

static void a_dispatcher_is_gone_with_its_last_thread_and_begins_afresh(void **state)
{
    (void)state;
    ledger book;
    static collector c;
    weir_error error = WEIR_ERROR_INIT;
    weir_dispatcher_counters none = WEIR_DISPATCHER_COUNTERS_INIT;
    ledger_open(&book, 2);
    c = (collector){ .book = &book };
    engine = engine_quiet();
    (void)added(WEIR_THREAD(.dispatchers = WEIR_NAMES("a")));
    const weir_thread goes = added(WEIR_THREAD(.dispatchers = WEIR_NAMES("b")));
    engine_start(engine);
    names_are("<a><b>");
    weir_processor to =
        engine_add(engine, WEIR_PROCESSOR(.handler = collect, .argument = &c, .dispatcher = "b"));
    post(to, 0);
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, to, 0, NULL));
    TEST_UNTIL(dispatcher_counters(engine, "b").handled == 1); /* its turn is over */
    removed(goes);
    names_are("<a>");
    assert_int_equal(WEIR_UNKNOWN, weir_dispatcher_counters_get(engine, "b", &none));
    assert_int_equal(1, engine_counters(engine).dispatchers);
    assert_int_equal(
        0, weir_processor_add(engine, WEIR_PROCESSOR(.handler = collect, .dispatcher = "b"), &error)
               .id);
    assert_non_null(strstr(error.text, "valid: \"a\""));
    assert_null(strstr(error.text, "\"a\", "));
    (void)added(WEIR_THREAD(.dispatchers = WEIR_NAMES("b")));
    names_are("<a><b>");
    assert_int_equal(0, dispatcher_counters(engine, "b").handled);
    assert_int_equal(0, dispatcher_counters(engine, "b").processors);
    to = engine_add(engine, WEIR_PROCESSOR(.handler = collect, .argument = &c, .dispatcher = "b"));
    post(to, 1);
    assert_true(goal_wait(&book.done));
    ledger_check(&book);
    engine_finish(engine, 2);
    ledger_close(&book);
}

static void what_a_dispatcher_has_done_stays_with_it_when_a_thread_goes(void **state)
{
    (void)state;
    ledger book;
    static collector c;
    ledger_open(&book, 1);
    c = (collector){ .book = &book };
    engine = engine_quiet();
    const weir_thread goes = added(WEIR_THREAD(.dispatchers = WEIR_NAMES("a")));
    engine_start(engine);
    const weir_processor to =
        engine_add(engine, WEIR_PROCESSOR(.handler = collect, .argument = &c, .dispatcher = "a"));
    post(to, 0);
    assert_true(goal_wait(&book.done));
    (void)added(WEIR_THREAD(.dispatchers = WEIR_NAMES("a")));
    removed(goes);
    assert_int_equal(1, dispatcher_counters(engine, "a").handled);
    const weir_thread next = added(WEIR_THREAD(.dispatchers = WEIR_NAMES("a")));
    weir_thread_counters counters = WEIR_THREAD_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_thread_counters_get(engine, next, &counters));
    assert_int_equal(0, counters.handled);
    engine_finish(engine, 1);
    ledger_close(&book);
}

/* ---- when it may not go ---- */

static void the_last_thread_of_a_dispatcher_with_processors_stays_with_a_reason(void **state)
{
    (void)state;
    static const char *const path = "weir_thread_remove.thread";
    engine = engine_quiet();
    const weir_thread first = added(WEIR_THREAD(.dispatchers = WEIR_NAMES("a", "b")));
    const weir_thread second = added(WEIR_THREAD(.dispatchers = WEIR_NAMES("a")));
    const weir_processor one =
        engine_add(engine, WEIR_PROCESSOR(.handler = ignore_event, .dispatcher = "b"));
    const weir_processor two =
        engine_add(engine, WEIR_PROCESSOR(.handler = ignore_event, .dispatcher = "b"));
    for (int phase = 0; phase < 2; phase++) {
        refused(first, WEIR_E_INVALID, path, "\"b\", which has 2 processors");
        if (phase == 0) {
            engine_start(engine);
        }
    }
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, one, 0, NULL));
    refused(first, WEIR_E_INVALID, path, "\"b\", which has 1 processor:");
    assert_int_equal(2, engine_counters(engine).threads);
    assert_int_equal(WEIR_OK, weir_processor_move(engine, two, "a", NULL));
    removed(first);
    refused(second, WEIR_E_INVALID, path, "\"a\", which has 1 processor:");
    post(two, 0);
    engine_finish(engine, 1);
}

static void a_dedicated_processor_keeps_its_thread(void **state)
{
    (void)state;
    engine = engine_quiet();
    const weir_processor own = engine_add(
        engine, WEIR_PROCESSOR(.name = "own", .handler = ignore_event, .dedicated = true));
    engine_start(engine);
    const weir_thread thread = weir_thread_find(engine, "own");
    assert_true(thread.id != 0);
    refused(thread, WEIR_E_INVALID, "weir_thread_remove.thread", "dedicated");
    post(own, 0);
    engine_finish(engine, 1);
}

static weir_status remove_inside(void *state, weir_turn *turn, const weir_event *event)
{
    weir_status *answers = state;
    weir_error error = WEIR_ERROR_INIT;
    (void)turn;
    (void)event;
    const weir_thread own = weir_thread_find(engine, "own");
    const weir_thread other = weir_thread_find(engine, "other");
    answers[0] = weir_thread_remove(engine, own, &error);
    answers[1] = error.status;
    answers[2] = weir_thread_remove(engine, other, NULL);
    return WEIR_OK;
}

static void a_handler_cannot_wait_for_a_thread(void **state)
{
    (void)state;
    static weir_status answers[3];
    engine = engine_quiet();
    (void)added(WEIR_THREAD(.name = "own", .dispatchers = WEIR_NAMES("a")));
    (void)added(WEIR_THREAD(.name = "other", .dispatchers = WEIR_NAMES("b")));
    const weir_processor to = engine_add(
        engine, WEIR_PROCESSOR(.handler = remove_inside, .argument = answers, .dispatcher = "a"));
    engine_start(engine);
    post(to, 0);
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, to, 0, NULL));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_E_BLOCKING, answers[i]);
    }
    assert_int_equal(2, engine_counters(engine).threads);
    engine_finish(engine, 1);
}

static void wrong_handles_and_stopped_engines_are_answered(void **state)
{
    (void)state;
    weir_engine *other = engine_quiet();
    engine = other;
    const weir_thread stranger = added(NULL);
    engine = engine_quiet();
    const weir_thread thread = added(NULL);
    const weir_thread unknown[] = { { 0 }, stranger, { UINT64_MAX }, { thread.id + 1 } };
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(WEIR_UNKNOWN, weir_thread_remove(engine, unknown[i], &error));
        assert_no_error(&error);
    }
    assert_int_equal(WEIR_E_INVALID, weir_thread_remove(NULL, thread, NULL));
    weir_error earlier = WEIR_ERROR_INIT;
    earlier.status = WEIR_E_USER;
    assert_int_equal(WEIR_E_USER, weir_thread_remove(engine, thread, &earlier));
    const weir_thread loop = added(WEIR_THREAD(.external = true));
    engine_start(engine);
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, 0, NULL));
    assert_int_equal(WEIR_UNKNOWN, weir_thread_remove(engine, thread, NULL)); /* it has left */
    refused(loop, WEIR_E_INVALID, "weir_thread_remove", "stopping");
    weir_engine_destroy(engine);
    weir_engine_destroy(other);
}

/* ---- how it goes ---- */

static void a_thread_finishes_its_turn_and_the_call_waits_for_it(void **state)
{
    (void)state;
    blocker b;
    blocker_init(&b);
    removal r, twice;
    engine = engine_quiet();
    const weir_thread goes = added(WEIR_THREAD(.dispatchers = WEIR_NAMES("a")));
    (void)added(WEIR_THREAD(.name = "other", .dispatchers = WEIR_NAMES("b")));
    const weir_processor held = engine_add(
        engine, WEIR_PROCESSOR(.handler = block_until_let_go, .argument = &b, .dispatcher = "a"));
    engine_start(engine);
    post(held, 0);
    assert_true(sem_wait_seconds(&b.entered, WAIT_SECONDS));
    assert_int_equal(WEIR_OK, weir_processor_move(engine, held, "b", NULL));
    removal_begin(&r, goes);
    /* It is on its way when the name is no longer valid. */
    weir_dispatcher_counters counters = WEIR_DISPATCHER_COUNTERS_INIT;
    const int64_t last = now_ns() + (int64_t)WAIT_SECONDS * 1000000000;
    while (weir_dispatcher_counters_get(engine, "a", &counters) == WEIR_OK && now_ns() < last) {
        (void)sched_yield();
    }
    assert_int_equal(WEIR_E_INVALID, weir_processor_move(engine, held, "a", NULL));
    removal_begin(&twice, goes);
    assert_int_equal(WEIR_ALREADY, removal_end(&twice));
    assert_false(atomic_load(&r.over));
    assert_int_equal(0, atomic_load(&b.handled));
    post(held, 1);
    gate_open(&b.leave);
    assert_int_equal(WEIR_OK, removal_end(&r));
    assert_int_equal(1, engine_counters(engine).threads);
    engine_finish(engine, 2);
}

typedef struct fan {
    blocker b;
    weir_processor to[8];
    _Atomic uint32_t odd;
} fan;

static weir_status fan_out(void *state, weir_turn *turn, const weir_event *event)
{
    fan *f = state;
    for (uint64_t i = 0; i < 8; i++) {
        atomic_fetch_add(&f->odd,
                         weir_turn_post(turn, f->to[i], WEIR_EVENT(mark, .number = i)) != WEIR_OK);
    }
    return block_until_let_go(&f->b, turn, event);
}

static void what_a_thread_holds_is_run_by_the_others_when_it_goes(void **state)
{
    (void)state;
    static fan f;
    static collector c[8];
    ledger book;
    removal r;
    ledger_open(&book, 8);
    memset(&f, 0, sizeof(f));
    blocker_init(&f.b);
    engine = engine_make(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    const weir_thread goes =
        added(WEIR_THREAD(.idle = WEIR_IDLE_PARK, .dispatchers = WEIR_NAMES("a")));
    const weir_processor hub =
        engine_add(engine, WEIR_PROCESSOR(.handler = fan_out, .argument = &f, .dispatcher = "a"));
    for (size_t i = 0; i < 8; i++) {
        c[i] = (collector){ .book = &book };
        f.to[i] = engine_add(
            engine, WEIR_PROCESSOR(.handler = collect, .argument = &c[i], .dispatcher = "a"));
    }
    engine_start(engine);
    post(hub, 0);
    assert_true(sem_wait_seconds(&f.b.entered, WAIT_SECONDS));
    assert_int_equal(8, dispatcher_counters(engine, "a").ready); /* it keeps them */
    const weir_thread stays =
        added(WEIR_THREAD(.idle = WEIR_IDLE_PARK, .dispatchers = WEIR_NAMES("a")));
    removal_begin(&r, goes);
    gate_open(&f.b.leave);
    assert_int_equal(WEIR_OK, removal_end(&r));
    assert_true(goal_wait(&book.done));
    ledger_check(&book);
    assert_int_equal(0, atomic_load(&f.odd));
    refused(stays, WEIR_E_INVALID, "weir_thread_remove.thread", "9 processors");
    engine_finish(engine, 9);
    ledger_close(&book);
}

static void an_external_thread_goes_when_nobody_turns_it(void **state)
{
    (void)state;
    ledger book;
    static collector c;
    ledger_open(&book, 3);
    c = (collector){ .book = &book };
    engine = engine_quiet();
    (void)added(WEIR_THREAD(.dispatchers = WEIR_NAMES("a")));
    const weir_thread loop =
        added(WEIR_THREAD(.external = true, .dispatchers = WEIR_NAMES("loop")));
    const weir_processor to = engine_add(
        engine, WEIR_PROCESSOR(.handler = collect, .argument = &c, .dispatcher = "loop"));
    engine_start(engine);
    post(to, 0);
    assert_int_equal(1, weir_thread_run_once(engine, loop, 0));
    post(to, 1); /* lies there, and its thread goes */
    refused(loop, WEIR_E_INVALID, "weir_thread_remove.thread", "\"loop\"");
    assert_int_equal(WEIR_OK, weir_processor_move(engine, to, "a", NULL));
    removed(loop);
    assert_int_equal(WEIR_E_INVALID, weir_thread_run_once(engine, loop, 0));
    assert_int_equal(-1, weir_thread_fd(engine, loop));
    const weir_thread next =
        added(WEIR_THREAD(.external = true, .dispatchers = WEIR_NAMES("loop")));
    assert_true(weir_thread_fd(engine, next) >= 0);
    assert_int_equal(WEIR_OK, weir_processor_move(engine, to, "loop", NULL));
    /* Whoever had it: what was moved runs here or there, in its order, and nothing twice. */
    post(to, 2);
    const int64_t last = now_ns() + (int64_t)WAIT_SECONDS * 1000000000;
    while (goal_count(&book.done) < 3 && now_ns() < last) {
        assert_true(weir_thread_run_once(engine, next, 0) >= 0);
    }
    ledger_check(&book);
    assert_int_equal(0, c.overlaps);
    engine_finish(engine, 3);
    ledger_close(&book);
}

/* ---- before the start ---- */

static weir_status count_init(void *state, weir_turn *turn, void *argument)
{
    (void)state;
    (void)turn;
    atomic_fetch_add((atomic_int *)argument, 1);
    return WEIR_OK;
}

static void threads_may_go_before_the_start_and_what_waited_there_is_begun_elsewhere(void **state)
{
    (void)state;
    static atomic_int inits;
    engine = engine_quiet();
    const weir_thread goes = added(WEIR_THREAD(.dispatchers = WEIR_NAMES("a")));
    (void)added(WEIR_THREAD(.dispatchers = WEIR_NAMES("b")));
    const weir_processor to =
        engine_add(engine, WEIR_PROCESSOR(.handler = ignore_event, .init = count_init,
                                          .argument = &inits, .dispatcher = "a"));
    post(to, 0);
    assert_int_equal(WEIR_OK, weir_processor_move(engine, to, "b", NULL));
    removed(goes);
    names_are("<b>");
    engine_start(engine);
    assert_int_equal(1, atomic_load(&inits)); /* the start has waited for it */
    assert_int_equal(1, engine_counters(engine).threads);
    engine_finish(engine, 1);
}

static void a_start_does_not_wait_for_inits_whose_last_own_thread_is_gone(void **state)
{
    (void)state;
    static atomic_int inits;
    engine = engine_quiet();
    const weir_thread goes = added(WEIR_THREAD(.dispatchers = WEIR_NAMES("a")));
    const weir_thread loop = added(WEIR_THREAD(.external = true, .dispatchers = WEIR_NAMES("a")));
    (void)engine_add(engine, WEIR_PROCESSOR(.handler = ignore_event, .init = count_init,
                                            .argument = &inits, .dispatcher = "a"));
    removed(goes);
    engine_start(engine);
    assert_int_equal(0, atomic_load(&inits));
    while (atomic_load(&inits) == 0) {
        assert_true(weir_thread_run_once(engine, loop, 0) >= 0);
    }
    engine_finish(engine, 0);
}

static void an_engine_whose_threads_were_all_removed_gets_its_default_one(void **state)
{
    (void)state;
    engine = engine_quiet();
    removed(added(WEIR_THREAD(.dispatchers = WEIR_NAMES("a"))));
    assert_int_equal(0, engine_counters(engine).threads);
    engine_start(engine);
    assert_int_equal(1, engine_counters(engine).threads);
    names_are("<>");
    engine_finish(engine, 0);
}

/* ---- seats ---- */

static void add_and_remove(uint64_t i)
{
    char names[3][32];
    for (size_t k = 0; k < 3; k++) {
        (void)snprintf(names[k], sizeof(names[k]), "d%llu-%zu", (unsigned long long)i, k);
    }
    const bool external = i % 4 == 3;
    const weir_thread one = added(WEIR_THREAD(.name = names[0], .external = external,
                                              .dispatchers = WEIR_NAMES(names[0], "a", names[1])));
    const weir_thread other =
        added(WEIR_THREAD(.dispatchers = WEIR_NAMES(i % 3 == 0 ? "a" : names[2])));
    const weir_processor own =
        engine_add(engine, WEIR_PROCESSOR(.handler = ignore_event, .dedicated = i % 2 == 0,
                                          .dispatcher = i % 2 == 0 ? NULL : "a"));
    post(own, i);
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, own, 0, NULL));
    removed(i % 2 == 0 ? one : other);
    removed(i % 2 == 0 ? other : one);
}

static void endless_coming_and_going_under_new_names_does_not_grow(void **state)
{
    (void)state;
    const uint64_t rounds = test_scaled(1000, 5);
    test_fault fault;
    test_fault_init(&fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
    engine = engine_make(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .allocator = &allocator));
    (void)added(WEIR_THREAD(.dispatchers = WEIR_NAMES("a")));
    engine_start(engine);
    for (uint64_t i = 0; i < 40; i++) { /* slots of processors are reused by dozens */
        add_and_remove(i);
    }
    const size_t before = atomic_load(&fault.bytes);
    for (uint64_t i = 40; i < rounds; i++) {
        add_and_remove(i);
    }
    const size_t after = atomic_load(&fault.bytes);
    fprintf(stderr, "# %zu bytes after 40 rounds, %zu after %llu\n", before, after,
            (unsigned long long)rounds);
    /* A name more or less, slots in limbo, and a dedicated thread that has not left yet when the
     * next one comes: a seat, with its histograms, is about 100 KiB. */
    assert_true(after <= before + 384 * 1024);
    names_are("<a>");
    engine_finish(engine, rounds);
    assert_int_equal(0, atomic_load(&fault.bytes));
    assert_int_equal(0, atomic_load(&fault.wrong));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_removed_thread_is_gone_and_its_handle_is_unknown_for_ever),
        cmocka_unit_test(a_dispatcher_is_gone_with_its_last_thread_and_begins_afresh),
        cmocka_unit_test(what_a_dispatcher_has_done_stays_with_it_when_a_thread_goes),
        cmocka_unit_test(the_last_thread_of_a_dispatcher_with_processors_stays_with_a_reason),
        cmocka_unit_test(a_dedicated_processor_keeps_its_thread),
        cmocka_unit_test(a_handler_cannot_wait_for_a_thread),
        cmocka_unit_test(wrong_handles_and_stopped_engines_are_answered),
        cmocka_unit_test(a_thread_finishes_its_turn_and_the_call_waits_for_it),
        cmocka_unit_test(what_a_thread_holds_is_run_by_the_others_when_it_goes),
        cmocka_unit_test(an_external_thread_goes_when_nobody_turns_it),
        cmocka_unit_test(threads_may_go_before_the_start_and_what_waited_there_is_begun_elsewhere),
        cmocka_unit_test(a_start_does_not_wait_for_inits_whose_last_own_thread_is_gone),
        cmocka_unit_test(an_engine_whose_threads_were_all_removed_gets_its_default_one),
        cmocka_unit_test(endless_coming_and_going_under_new_names_does_not_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
