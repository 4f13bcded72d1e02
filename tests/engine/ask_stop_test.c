/*
 * ask_stop_test.c - questions that are open when something stops: their asker, who was asked, the
 * engine. One answer or one timeout each, and the sums are exact.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ask_support.h"
#include "timer_support.h"

#include "engine/ask.h"

/* What an asker knew when its destroy hook ran. */
typedef struct ending {
    asker asker; /* first: it is also the state of asker_handle */
    size_t came_before;
    weir_status reason;
    atomic_int destroyed;
} ending;

static weir_status ending_init(void *state, weir_turn *turn, void *argument)
{
    (void)turn;
    *(ending **)state = argument;
    return WEIR_OK;
}

static weir_status ending_handle(void *state, weir_turn *turn, const weir_event *event)
{
    return asker_handle(*(ending **)state, turn, event);
}

static weir_status ending_then(void *state, weir_turn *turn, const weir_event *event)
{
    return asker_then(*(ending **)state, turn, event);
}

static void ending_destroy(void *state, weir_status reason)
{
    ending *e = *(ending **)state;
    e->came_before = came_count(&e->asker);
    e->reason = reason;
    atomic_store(&e->destroyed, 1);
}

typedef struct scene {
    weir_engine *engine;
    ending ending;
    oracle oracle;
} scene;

static void scene_open(scene *s, oracle_mode mode)
{
    memset(s, 0, sizeof(*s));
    asker_init(&s->ending.asker);
    oracle_init(&s->oracle, mode);
    s->engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    (void)test_thread_add(s->engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("")));
    (void)test_thread_add(s->engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("oracle")));
    s->ending.asker.self = test_processor_add(
        s->engine, WEIR_PROCESSOR(.name = "asker", .handler = ending_handle, .init = ending_init,
                                  .destroy = ending_destroy, .argument = &s->ending,
                                  .state_size = sizeof(void *)));
    s->oracle.self = test_processor_add(
        s->engine,
        WEIR_PROCESSOR(.handler = oracle_handle, .argument = &s->oracle, .dispatcher = "oracle"));
    s->ending.asker.target = s->oracle.self;
    s->ending.asker.options = (weir_ask_options){ .timeout = WEIR_FOREVER, .then = ending_then };
    test_engine_start(s->engine);
}

static void ask_three(scene *s)
{
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, let_ask(s->engine, &s->ending.asker, i));
        test_sem_wait(&s->oracle.got);
    }
}

/* In whatever order: none of them had a time. */
static void assert_three_timeouts(scene *s)
{
    uint64_t tags = 0;
    assert_came(&s->ending.asker, 3);
    for (uint64_t i = 0; i < 3; i++) {
        assert_true(s->ending.asker.came[i].timeout);
        assert_true(s->ending.asker.came[i].then);
        tags |= UINT64_C(1) << s->ending.asker.came[i].tag;
    }
    assert_int_equal(7, tags);
    assert_int_equal(3, s->ending.came_before);
}

static void a_stop_of_the_asker_brings_the_timeouts_at_once_before_its_destroy(void **state)
{
    (void)state;
    scene s;
    scene_open(&s, KEEPS);
    ask_three(&s);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_processor_stop(s.engine, s.ending.asker.self, 0, &report));
    assert_three_timeouts(&s);
    assert_int_equal(WEIR_OK, s.ending.reason);
    assert_int_equal(6, report.accepted);
    assert_int_equal(6, report.handled);
    TEST_UNTIL(all_have_ended(s.engine)); /* its alarm, too */
    oracle_goes_on(&(ask_bed){ .engine = s.engine, .oracle.self = s.oracle.self });
    for (size_t i = 0; i < 3; i++) {
        test_sem_wait(&s.oracle.replies);
        assert_int_equal(WEIR_UNKNOWN, s.oracle.replied[i]);
    }
    assert_int_equal(10, test_engine_end(s.engine).handled);
}

static void a_stop_of_the_engine_brings_the_timeouts_at_once(void **state)
{
    (void)state;
    scene s;
    scene_open(&s, KEEPS);
    ask_three(&s);
    const weir_ns before = test_now();
    assert_int_equal(9, test_engine_end(s.engine).handled);
    assert_true(test_now() - before < TEST_PATIENCE / 2);
    assert_three_timeouts(&s);
}

/* The timeouts come although the asker was never stopped itself: it has no destroy hook. */
static void a_stop_of_the_engine_reaches_askers_that_need_no_end(void **state)
{
    (void)state;
    ask_bed b;
    ask_bed_make(&b, KEEPS);
    b.asker.options.timeout = WEIR_FOREVER;
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, i));
    }
    assert_int_equal(9, test_engine_end(b.engine).handled);
    assert_came(&b.asker, 3);
}

static weir_status ask_in_a_timeout(void *state, weir_turn *turn, const weir_event *event)
{
    asker *a = state;
    if (weir_event_as(event, &weir_timeout_type) == NULL) {
        return asker_handle(state, turn, event);
    }
    note_what_came(a, event, false);
    a->asked[a->asked_count++] =
        weir_turn_ask(turn, a->target, WEIR_EVENT(number, 50), WEIR_ASK(.tag = 50));
    return WEIR_OK;
}

static void asking_during_a_stop_of_the_asker_or_the_engine_is_stopping(void **state)
{
    (void)state;
    for (int of_engine = 0; of_engine < 2; of_engine++) {
        ask_bed b;
        ask_bed_open(&b, SILENT, WEIR_PROCESSOR(.handler = ask_in_a_timeout));
        test_engine_start(b.engine);
        b.asker.options.timeout = WEIR_FOREVER;
        assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 1));
        if (of_engine == 0) {
            assert_int_equal(WEIR_OK, weir_processor_stop(b.engine, b.asker.self, 0, NULL));
        }
        (void)test_engine_end(b.engine);
        assert_came(&b.asker, 1);
        assert_int_equal(2, b.asker.asked_count);
        assert_int_equal(WEIR_STOPPING, b.asker.asked[1]);
    }
}

static void a_target_that_stops_leaves_the_question_to_its_timeout(void **state)
{
    (void)state;
    ask_bed b;
    ask_bed_make(&b, KEEPS);
    b.asker.options.timeout = 20 * WEIR_MS;
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 1));
    test_sem_wait(&b.oracle.got);
    assert_int_equal(WEIR_OK, weir_processor_stop(b.engine, b.oracle.self, 0, NULL));
    test_sem_wait(&b.asker.told);
    assert_timeout(&b.asker.came[0], 1);
    (void)test_engine_end(b.engine);
    assert_came(&b.asker, 1);
}

/* A question that waits in the target's mailbox while that is drained is answered. */
static void a_target_that_is_drained_answers_what_it_was_asked_before(void **state)
{
    (void)state;
    ask_bed b;
    ask_bed_open(&b, AT_ONCE, WEIR_PROCESSOR(.name = "asker"));
    test_recorder gate;
    test_recorder_init(&gate, true);
    const weir_processor held =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                    .argument = &gate, .dispatcher = "oracle"));
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, test_post(b.engine, held, 0));
    test_sem_wait(&gate.entered);
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 4));
    assert_int_equal(WEIR_OK, weir_processor_stop_async(b.engine, b.oracle.self, 0));
    assert_int_equal(WEIR_STOPPING, let_ask(b.engine, &b.asker, 5));
    test_recorder_pass(&gate, 1);
    test_sem_wait(&b.asker.told);
    (void)test_engine_end(b.engine);
    assert_came(&b.asker, 1);
    assert_answer(&b.asker.came[0], 4);
}

/* Asks, and does not return until it is let go. */
typedef struct stuck {
    asker asker; /* first: it is also the state of asker_handle */
    sem_t entered, pass;
} stuck;

static weir_status ask_and_stay(void *state, weir_turn *turn, const weir_event *event)
{
    stuck *s = state;
    const weir_status status = asker_handle(state, turn, event);
    if (weir_event_as(event, &weir_timeout_type) == NULL) {
        (void)sem_post(&s->entered);
        return test_sem_taken(&s->pass) ? status : WEIR_E_FAILED;
    }
    return status;
}

static weir_engine *stuck_open(stuck *s, oracle *o, oracle_mode mode)
{
    asker_init(&s->asker);
    oracle_init(o, mode);
    assert_int_equal(0, sem_init(&s->entered, 0, 0));
    assert_int_equal(0, sem_init(&s->pass, 0, 0));
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("")));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("oracle")));
    s->asker.self =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = ask_and_stay, .argument = s));
    o->self = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = oracle_handle, .argument = o, .dispatcher = "oracle"));
    s->asker.target = o->self;
    s->asker.options.timeout = WEIR_FOREVER;
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, s->asker.self, 1));
    test_sem_wait(&s->entered);
    test_sem_wait(&o->got);
    return engine;
}

static void a_stop_that_runs_out_of_time_forgets_what_is_open_and_counts_exactly(void **state)
{
    (void)state;
    stuck s;
    oracle o;
    weir_engine *engine = stuck_open(&s, &o, KEEPS);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT,
                     weir_processor_stop(engine, s.asker.self, 10 * WEIR_MS, &report));
    assert_int_equal(1, report.accepted);
    assert_int_equal(1, report.left);
    assert_int_equal(WEIR_OK, weir_engine_post(engine, o.self, WEIR_EMPTY(go_on)));
    test_sem_wait(&o.replies);
    assert_int_equal(WEIR_STOPPING, o.replied[0]); /* nothing is owed to it any more */
    assert_int_equal(0, sem_post(&s.pass));
    TEST_UNTIL(test_engine_counters(engine).processors == 1);
    weir_stop_report all = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, TEST_PATIENCE, &all));
    assert_int_equal(3, all.accepted);
    assert_int_equal(2, all.handled);
    assert_int_equal(1, all.left);
    weir_engine_destroy(engine);
    assert_came(&s.asker, 0);
}

static void *let_go_later(void *argument)
{
    stuck *s = argument;
    struct timespec t = { .tv_nsec = 100000000 };
    (void)nanosleep(&t, NULL); /* destroy waits for the handler: nothing else can be waited for */
    (void)sem_post(&s->pass);
    return NULL;
}

static void an_engine_whose_stop_runs_out_of_time_forgets_what_is_open(void **state)
{
    (void)state;
    stuck s;
    oracle o;
    weir_engine *engine = stuck_open(&s, &o, SILENT);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(engine, 10 * WEIR_MS, &report));
    /* What made it ask and has not returned; the timeout, which the stop has given it. */
    assert_int_equal(3, report.accepted);
    assert_int_equal(1, report.handled);
    assert_int_equal(2, report.left);
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, let_go_later, &s));
    weir_engine_destroy(engine);
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_came(&s.asker, 0);
}

static weir_status init_that_asks(void *state, weir_turn *turn, void *argument)
{
    asker *a = argument;
    *(asker **)state = a;
    a->asked[a->asked_count++] = weir_turn_ask(turn, a->target, WEIR_EVENT(number, 1), &a->options);
    (void)sem_post(&a->done);
    return a->early == 0 ? WEIR_OK : WEIR_E_FAILED;
}

static weir_status handle_by_pointer(void *state, weir_turn *turn, const weir_event *event)
{
    return asker_handle(*(asker **)state, turn, event);
}

static weir_processor add_init_that_asks(ask_bed *b, asker *a)
{
    return test_processor_add(b->engine,
                              WEIR_PROCESSOR(.handler = handle_by_pointer, .init = init_that_asks,
                                             .argument = a, .state_size = sizeof(void *)));
}

static void an_init_may_ask(void **state)
{
    (void)state;
    ask_bed b;
    asker a;
    asker_init(&a);
    ask_bed_make(&b, AT_ONCE);
    a.options = *WEIR_ASK(.tag = 1);
    a.target = b.oracle.self;
    (void)add_init_that_asks(&b, &a);
    test_sem_wait(&a.told);
    (void)test_engine_end(b.engine);
    assert_int_equal(WEIR_OK, a.asked[0]);
    assert_came(&a, 1);
    assert_answer(&a.came[0], 1);
}

static void an_init_that_asks_and_fails_forgets_its_question(void **state)
{
    (void)state;
    ask_bed b;
    asker a;
    asker_init(&a);
    ask_bed_make(&b, KEEPS);
    a.options = *WEIR_ASK(.timeout = WEIR_FOREVER);
    a.target = b.oracle.self;
    a.early = 1; /* it fails */
    (void)add_init_that_asks(&b, &a);
    test_sem_wait(&a.done);
    test_sem_wait(&b.oracle.got);
    TEST_UNTIL(test_engine_counters(b.engine).processors == 2);
    oracle_goes_on(&b);
    test_sem_wait(&b.oracle.replies);
    assert_int_equal(WEIR_UNKNOWN, b.oracle.replied[0]);
    assert_int_equal(2, test_engine_end(b.engine).handled);
    assert_int_equal(0, came_count(&a));
}

static void a_stopped_asker_s_slot_is_used_again_and_old_tickets_name_nobody(void **state)
{
    (void)state;
    enum { TIMES = 100 };
    ask_bed b;
    ask_bed_make(&b, KEEPS);
    b.asker.options.timeout = WEIR_FOREVER;
    for (uint64_t i = 0; i < TIMES; i++) {
        assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 1));
        test_sem_wait(&b.oracle.got);
        assert_int_equal(WEIR_OK, weir_processor_stop(b.engine, b.asker.self, 0, NULL));
        assert_int_equal(i + 1, came_count(&b.asker));
        b.asker.asked_count = 0;
        b.oracle.kept_count = i < NOTES_MAX / 2 ? b.oracle.kept_count : NOTES_MAX / 2;
        b.asker.self = test_processor_add(
            b.engine, WEIR_PROCESSOR(.handler = asker_handle, .argument = &b.asker));
    }
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 2));
    test_sem_wait(&b.oracle.got);
    oracle_goes_on(&b);
    test_sem_wait(&b.asker.told); /* of the last one: the others have told before */
    TEST_UNTIL(atomic_load(&b.oracle.replied_count) == b.oracle.kept_count);
    for (size_t i = 0; i + 1 < b.oracle.kept_count; i++) {
        assert_int_equal(WEIR_UNKNOWN, b.oracle.replied[i]);
    }
    assert_int_equal(WEIR_OK, b.oracle.replied[b.oracle.kept_count - 1]);
    (void)test_engine_end(b.engine);
    assert_came(&b.asker, TIMES + 1);
}

/* What a restart will do: here by hand. */
static weir_status drop_questions(void *state, weir_turn *turn, const weir_event *event)
{
    asker *a = state;
    if (weir_event_as(event, &go_on_type) == NULL) {
        return asker_handle(state, turn, event);
    }
    weir__asks_drop(turn, NULL);
    (void)sem_post(&a->done);
    return WEIR_OK;
}

static void a_restart_drops_questions_that_have_a_then_and_leaves_the_others(void **state)
{
    (void)state;
    ask_bed b;
    ask_bed_open(&b, KEEPS, WEIR_PROCESSOR(.handler = drop_questions));
    test_engine_start(b.engine);
    b.asker.options.then = asker_then;
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 1));
    b.asker.options.then = NULL;
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 2));
    test_sem_wait(&b.oracle.got);
    test_sem_wait(&b.oracle.got);
    assert_int_equal(WEIR_OK, weir_engine_post(b.engine, b.asker.self, WEIR_EMPTY(go_on)));
    test_sem_wait(&b.asker.done);
    assert_int_equal(1, test_processor_counters(b.engine, b.asker.self).rooms);
    oracle_goes_on(&b);
    test_sem_wait(&b.asker.told);
    test_sem_wait(&b.oracle.replies);
    test_sem_wait(&b.oracle.replies);
    assert_int_equal(WEIR_UNKNOWN, b.oracle.replied[0]);
    assert_int_equal(WEIR_OK, b.oracle.replied[1]);
    (void)test_engine_end(b.engine);
    assert_came(&b.asker, 1);
    assert_answer(&b.asker.came[0], 2);
}

/* The answer stands behind what drops its question. */
static void a_restart_makes_an_answer_dead_that_was_given_already(void **state)
{
    (void)state;
    ask_bed b;
    test_recorder gate;
    test_recorder_init(&gate, true);
    ask_bed_open(&b, KEEPS, WEIR_PROCESSOR(.handler = drop_questions));
    const weir_processor held = test_processor_add(
        b.engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &gate));
    test_engine_start(b.engine);
    b.asker.options.then = asker_then;
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 1));
    test_sem_wait(&b.oracle.got);
    assert_int_equal(WEIR_OK, test_post(b.engine, held, 0)); /* its thread is busy from now on */
    test_sem_wait(&gate.entered);
    assert_int_equal(WEIR_OK, weir_engine_post(b.engine, b.asker.self, WEIR_EMPTY(go_on)));
    oracle_goes_on(&b);
    test_sem_wait(&b.oracle.replies);
    assert_int_equal(WEIR_OK, b.oracle.replied[0]);
    test_recorder_pass(&gate, 1);
    const weir_stop_report report = test_engine_end(b.engine);
    assert_int_equal(1, report.dead);
    assert_came(&b.asker, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_of_the_asker_brings_the_timeouts_at_once_before_its_destroy),
        cmocka_unit_test(a_stop_of_the_engine_brings_the_timeouts_at_once),
        cmocka_unit_test(a_stop_of_the_engine_reaches_askers_that_need_no_end),
        cmocka_unit_test(asking_during_a_stop_of_the_asker_or_the_engine_is_stopping),
        cmocka_unit_test(a_target_that_stops_leaves_the_question_to_its_timeout),
        cmocka_unit_test(a_target_that_is_drained_answers_what_it_was_asked_before),
        cmocka_unit_test(a_stop_that_runs_out_of_time_forgets_what_is_open_and_counts_exactly),
        cmocka_unit_test(an_engine_whose_stop_runs_out_of_time_forgets_what_is_open),
        cmocka_unit_test(an_init_that_asks_and_fails_forgets_its_question),
        cmocka_unit_test(an_init_may_ask),
        cmocka_unit_test(a_restart_drops_questions_that_have_a_then_and_leaves_the_others),
        cmocka_unit_test(a_restart_makes_an_answer_dead_that_was_given_already),
        cmocka_unit_test(a_stopped_asker_s_slot_is_used_again_and_old_tickets_name_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
