/*
 * apply_test.c - another configuration for an engine that runs: what changes at once, what needs a
 * restart, and that a refusal changes nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "apply_support.h"

#include "engine/agent.h"

#define ROWS(rows) "weir.engine.thread-dispatcher-assignment = [" rows "]\n"

static void threads_come_and_go_and_those_that_stay_are_not_touched(void **state)
{
    (void)state;
    weir_engine *engine = engine_of(ROWS("[a], [b], [b]"), NULL);
    test_engine_start(engine);
    const weir_thread a = weir_thread_find(engine, "a-1"), b = weir_thread_find(engine, "b-1");
    const weir_thread second = weir_thread_find(engine, "b-2");
    apply_well(engine, ROWS("[c, b], [a], [b]"), 0);
    assert_int_equal(a.id, weir_thread_find(engine, "a-1").id);
    assert_int_equal(b.id, weir_thread_find(engine, "b-1").id);
    assert_int_equal(0, weir_thread_find(engine, "b-2").id);
    assert_int_equal(WEIR_UNKNOWN, weir_thread_remove(engine, second, NULL));
    assert_true(weir_thread_find(engine, "c+b-1").id != 0);
    assert_non_null(strstr(served(engine), "/c"));
    apply_well(engine, ROWS("[a]"), 0);
    assert_string_equal("/a", served(engine));
    test_engine_end(engine);
}

static void a_thread_that_changes_is_replaced_under_its_name(void **state)
{
    static test_recorder recorder;
    (void)state;
    weir_engine *engine =
        engine_of("weir.engine.threads = [{ name = io, dispatchers = [d] }]", NULL);
    test_recorder_init(&recorder, false);
    const weir_processor p =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                  .argument = &recorder, .dispatcher = "d"));
    test_engine_start(engine);
    const weir_thread before = weir_thread_find(engine, "io");
    apply_well(engine, "weir.engine.threads = [{ name = io, dispatchers = [d, e], idle = park }]",
               0);
    const weir_thread after = weir_thread_find(engine, "io");
    assert_true(after.id != 0 && after.id != before.id);
    assert_string_equal("/d/e", served(engine));
    assert_int_equal(WEIR_OK, test_post(engine, p, 1));
    TEST_UNTIL(test_recorder_handled(&recorder) == 1);
    test_engine_end(engine);
}

static void a_dispatcher_with_processors_is_not_left_alone_and_nothing_changes(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = engine_of(
        ROWS("[a], [b], [b]") "weir.engine { batch-max = 9, backoff.multiplier = 2 }", NULL);
    const weir_processor p = add_plain(engine, "p", "b");
    test_engine_start(engine);
    const uint64_t tasks = test_task_count();
    const weir_thread one = weir_thread_find(engine, "b-1"), two = weir_thread_find(engine, "b-2");
    assert_int_equal(WEIR_E_INVALID,
                     apply(engine,
                           ROWS("[a], [c]") "weir.engine { batch-max = 3, backoff.multiplier = 3 }",
                           NULL, &error));
    assert_non_null(strstr(error.text, "\"b\", which has 1 processor: move or stop it first"));
    assert_string_equal("/a/b", served(engine));
    assert_int_equal(one.id, weir_thread_find(engine, "b-1").id);
    assert_int_equal(two.id, weir_thread_find(engine, "b-2").id);
    assert_int_equal(9, batch_of(engine, p));
    assert_true(backoff_of(engine, "a").multiplier == 2.0);
    TEST_UNTIL(test_task_count() == tasks);
    /* One of the two may go. */
    apply_well(engine, ROWS("[a], [b]"), 0);
    assert_int_equal(0, weir_thread_find(engine, "b-2").id);
    test_engine_end(engine);
}

static void processors_move_where_the_file_says_before_threads_go(void **state)
{
    char name[256];
    (void)state;
    weir_engine *engine =
        engine_of(ROWS("[a], [b]") "weir.engine.processors.p.dispatcher = a", NULL);
    const weir_processor p = add_plain(engine, "p", "a");
    test_engine_start(engine);
    apply_well(engine, ROWS("[b]") "weir.engine.processors.p.dispatcher = b", 0);
    assert_int_equal(WEIR_OK, weir_processor_dispatcher(engine, p, name, sizeof(name)));
    assert_string_equal("b", name);
    assert_string_equal("/b", served(engine));
    test_engine_end(engine);
}

static void a_move_is_taken_back_when_what_follows_fails(void **state)
{
    char name[256];
    weir_error error = WEIR_ERROR_INIT;
    (void)state;
    weir_engine *engine =
        engine_of(ROWS("[a], [b]") "weir.engine.processors.p.dispatcher = a", NULL);
    const weir_processor p = add_plain(engine, "p", "a");
    (void)add_plain(engine, "other", "a");
    test_engine_start(engine);
    assert_int_equal(
        WEIR_E_INVALID,
        apply(engine, ROWS("[b], [c]") "weir.engine.processors.p.dispatcher = c", NULL, &error));
    assert_int_equal(WEIR_OK, weir_processor_dispatcher(engine, p, name, sizeof(name)));
    assert_string_equal("a", name);
    assert_string_equal("/a/b", served(engine));
    test_engine_end(engine);
}

static void batches_delays_and_the_log_level_change_at_once(void **state)
{
    (void)state;
    weir_engine *engine = engine_of(ROWS("[a], [b]"), NULL);
    const weir_processor plain = add_plain(engine, "plain", "a"),
                         other = add_plain(engine, NULL, "b");
    const weir_processor own = test_processor_add(
        engine, WEIR_PROCESSOR(.dispatcher = "a", .handler = do_nothing, .batch_max = 64));
    test_engine_start(engine);
    assert_int_equal(64, batch_of(engine, plain));
    assert_false(weir_log_enabled(engine, WEIR_LOG_DEBUG));
    apply_well(engine,
               ROWS("[a], [b]") "weir.engine { batch-max = 8, log-level = debug, backoff { "
                                "base-delay-micros = 20, multiplier = 3, jitter = 0.5 }, "
                                "dispatchers.b { batch-max = 4, backoff.multiplier = 5 } }",
               0);
    assert_int_equal(8, batch_of(engine, plain));
    assert_int_equal(4, batch_of(engine, other));
    assert_int_equal(64, batch_of(engine, own)); /* the program has said so */
    assert_true(weir_log_enabled(engine, WEIR_LOG_DEBUG));
    weir__backoff_plan a = backoff_of(engine, "a"), b = backoff_of(engine, "b");
    assert_true(a.base == 20 * WEIR_US && a.multiplier == 3.0 && a.jitter == 0.5);
    assert_true(b.base == 20 * WEIR_US && b.multiplier == 5.0);
    assert_int_equal(8, batch_of(engine, add_plain(engine, NULL, "a")));
    assert_int_equal(4, batch_of(engine, add_plain(engine, NULL, "b")));
    /* And back: what was a dispatcher's own is the engine's again. */
    apply_well(engine, ROWS("[a], [b]"), 0);
    assert_int_equal(64, batch_of(engine, other));
    b = backoff_of(engine, "b");
    assert_true(b.base == 10 * WEIR_US && b.multiplier == 1.5 && b.jitter == 0.0);
    assert_false(weir_log_enabled(engine, WEIR_LOG_INFO));
    test_engine_end(engine);
}

static void what_a_file_says_of_a_processor_counts_until_it_says_it_no_more(void **state)
{
    (void)state;
    weir_engine *engine = engine_of(ROWS("[a]"), NULL);
    const weir_processor p = add_plain(engine, "p", "a");
    test_engine_start(engine);
    apply_well(engine,
               ROWS("[a]") "weir.engine.processors.p { batch-max = 3, overflow = "
                           "drop-newest, block-max = 1s }",
               0);
    assert_int_equal(3, batch_of(engine, p));
    assert_int_equal(WEIR_OVERFLOW_DROP_NEWEST, policy_of(engine, p));
    apply_well(engine, ROWS("[a]") "weir.engine.batch-max = 5", 0);
    assert_int_equal(5, batch_of(engine, p));
    assert_int_equal(WEIR_OVERFLOW_FAIL, policy_of(engine, p));
    test_engine_end(engine);
}

static void a_policy_changes_under_the_posters(void **state)
{
    static test_recorder recorder;
    (void)state;
    weir_engine *engine = engine_of(ROWS("[a]") "weir.engine.default-queue-size = 2", NULL);
    test_recorder_init(&recorder, true);
    const weir_processor p =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                  .argument = &recorder, .dispatcher = "a"));
    test_engine_start(engine);
    weir_status status = test_post(engine, p, 0);
    assert_true(test_sem_taken(&recorder.entered)); /* from here on it takes nothing */
    while (status == WEIR_OK) {
        status = test_post(engine, p, 1);
    }
    assert_int_equal(WEIR_FULL, status);
    apply_well(engine, ROWS("[a]") "weir.engine { default-queue-size = 2, overflow = drop-newest }",
               0);
    assert_int_equal(WEIR_DROPPED, test_post(engine, p, 2));
    apply_well(engine, ROWS("[a]") "weir.engine.default-queue-size = 2", 0);
    assert_int_equal(WEIR_FULL, test_post(engine, p, 3));
    recorder.gated = true;
    for (int i = 0; i < 16; i++) {
        (void)sem_post(&recorder.pass);
    }
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(1, report.dropped);
}

static void policies_that_must_be_there_from_the_beginning_are_told(void **state)
{
    static test_log log;
    (void)state;
    test_log_init(&log);
    weir_engine *engine =
        engine_of(ROWS("[a]"), WEIR_ENGINE(.log = test_log_hook, .log_context = &log));
    const weir_processor old = add_plain(engine, NULL, "a");
    test_engine_start(engine);
    apply_well(engine, ROWS("[a]") "weir.engine.overflow = block", 1);
    assert_int_equal(
        1, test_log_matches(&log, WEIR_LOG_WARNING, "from the beginning", "processors=1"));
    assert_int_equal(WEIR_OVERFLOW_FAIL, policy_of(engine, old));
    const weir_processor blocks = add_plain(engine, NULL, "a");
    assert_int_equal(WEIR_OVERFLOW_BLOCK, policy_of(engine, blocks));
    apply_well(engine, ROWS("[a]") "weir.engine.overflow = drop-newest", 0);
    assert_int_equal(WEIR_OVERFLOW_DROP_NEWEST, policy_of(engine, old));
    assert_int_equal(WEIR_OVERFLOW_DROP_NEWEST, policy_of(engine, blocks));
    apply_well(engine, ROWS("[a]") "weir.engine.overflow = block", 1);
    assert_int_equal(WEIR_OVERFLOW_DROP_NEWEST, policy_of(engine, old));
    assert_int_equal(WEIR_OVERFLOW_BLOCK, policy_of(engine, blocks));
    apply_well(engine, ROWS("[a]") "weir.engine.overflow = drop-oldest", 1);
    const weir_processor evicts = add_plain(engine, NULL, "a");
    apply_well(engine, ROWS("[a]"), 0);
    assert_int_equal(WEIR_OVERFLOW_FAIL, policy_of(engine, evicts));
    apply_well(engine, ROWS("[a]") "weir.engine.overflow = drop-oldest", 1);
    assert_int_equal(WEIR_OVERFLOW_DROP_OLDEST, policy_of(engine, evicts));
    test_engine_end(engine);
}

static void warnings_and_notes_of_a_file_are_in_the_log(void **state)
{
    static test_log log;
    (void)state;
    test_log_init(&log);
    weir_engine *engine =
        engine_of("sss-events.engine { log-level = info, backoff { base-delay-micros = 20ms, "
                  "max-delay-micros = 30ms } }",
                  WEIR_ENGINE(.log = test_log_hook, .log_context = &log));
    assert_int_equal(1, test_log_matches(&log, WEIR_LOG_INFO, "read as weir.engine",
                                         "key=sss-events.engine at=t.conf:1:19"));
    assert_int_equal(1, test_log_matches(&log, WEIR_LOG_WARNING, "from 10ms on",
                                         "key=weir.engine.backoff.base-delay-micros"));
    weir_engine_destroy(engine);
}

static void keys_that_need_a_restart_are_counted_and_named(void **state)
{
    static test_log log;
    (void)state;
    test_log_init(&log);
    weir_engine *engine =
        engine_of(ROWS("[a]"), WEIR_ENGINE(.log = test_log_hook, .log_context = &log));
    (void)add_plain(engine, "here", "a");
    test_engine_start(engine);
    apply_well(engine,
               ROWS("[a]") "weir.engine { timers-max = 5, stuck-after = 1m, dispatchers.a.fair = "
                           "on, processors { here.mailbox-max = 4, later.mailbox-max = 4 } }\n"
                           "app.port = 80",
               4);
    assert_int_equal(1, test_log_matches(&log, WEIR_LOG_WARNING, "this key needs a restart",
                                         "key=weir.engine.timers-max is=1000000 wanted=5 "
                                         "from=t.conf:2:28"));
    assert_int_equal(1, test_log_matches(&log, WEIR_LOG_WARNING, "config",
                                         "key=weir.engine.dispatchers.a.fair"));
    assert_int_equal(1, test_log_matches(&log, WEIR_LOG_WARNING, "config",
                                         "key=weir.engine.processors.here.mailbox-max"));
    assert_int_equal(4, test_log_matches(&log, WEIR_LOG_WARNING, "this key", "config"));
    /* The same once more: nothing is different. */
    apply_well(engine,
               ROWS("[a]") "weir.engine { timers-max = 5, stuck-after = 60s, "
                           "dispatchers.a.fair = on, processors { here.mailbox-max = 4, "
                           "later.mailbox-max = 4 } }",
               0);
    test_engine_end(engine);
}

static int32_t count_calls(void *context, weir_ns *next)
{
    *next = 0;
    atomic_fetch_add((atomic_int *)context, 1);
    return 0;
}

/* It would have to be made anew, and what is on it would be lost. */
static void a_thread_with_an_agent_keeps_its_settings(void **state)
{
    (void)state;
    static const char *const before =
        "weir.engine.threads = [{ name = io, dispatchers = [] }, { dispatchers = [\"\"] }]";
    static const char *const after = "weir.engine.threads = [{ name = io, dispatchers = [], "
                                     "max-park = 7ms }, { dispatchers = [\"\"] }]";
    weir_engine *engine = engine_of(before, NULL);
    test_engine_start(engine);
    weir_error error = WEIR_ERROR_INIT;
    atomic_int calls = 0;
    const weir__agent_plan plan = { .name = "tail", .do_work = count_calls, .context = &calls };
    weir__agent *agent = weir__agent_join(engine, weir_thread_find(engine, "io"), &plan, &error);
    test_error_none(&error);
    assert_int_equal(WEIR_E_INVALID, apply(engine, after, NULL, &error));
    assert_non_null(strstr(error.text, "\"tail\""));
    const int seen = atomic_load(&calls);
    TEST_UNTIL(atomic_load(&calls) > seen); /* and nothing has happened to it */
    weir__agent_leave(agent);
    apply_well(engine, after, 0);
    test_engine_end(engine);
}

static weir_status apply_inside(void *state, weir_turn *turn, const weir_event *event)
{
    weir_engine **engine = state;
    weir_error error = WEIR_ERROR_INIT;
    (void)turn;
    (void)event;
    const char *text = "";
    weir_config *config = weir_config_parse("t", text, 0, NULL, NULL);
    const weir_status status = weir_config_apply(config, *engine, NULL, &error);
    weir_config_destroy(config);
    return status == WEIR_E_BLOCKING ? WEIR_OK : WEIR_E_FAILED;
}

static void it_is_refused_where_it_cannot_be(void **state)
{
    weir_error error = WEIR_ERROR_INIT;
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    assert_int_equal(WEIR_E_INVALID, apply(engine, "", NULL, &error));
    assert_string_equal("was not made by weir_config_engine", error.text);
    weir_engine_destroy(engine);
    assert_int_equal(WEIR_E_INVALID, apply(NULL, "", NULL, NULL));
    engine = engine_of("", NULL);
    assert_int_equal(WEIR_E_INVALID, weir_config_apply(NULL, engine, NULL, NULL));
    const weir_processor p =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = apply_inside, .argument = &engine));
    apply_well(engine, ROWS("[\"\"], [x]"), 0); /* also before the start */
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, p, 1));
    const weir_stop_report report = test_engine_stop(engine);
    assert_int_equal(1, report.handled);
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(WEIR_E_INVALID, apply(engine, ROWS("[\"\"], [y]"), NULL, &error));
    assert_non_null(strstr(error.text, "stop"));
    weir_engine_destroy(engine);
}

/* ---- under load ---- */

typedef struct poster {
    weir_engine *engine;
    weir_processor to[2];
    atomic_bool stop;
    uint64_t accepted;
} poster;

static void *post_on(void *argument)
{
    poster *p = argument;
    for (uint64_t i = 0; !atomic_load(&p->stop); i++) {
        const weir_status status = test_post(p->engine, p->to[i % 2], i);
        p->accepted += status == WEIR_OK || status == WEIR_DROPPED;
        if (status != WEIR_OK) {
            (void)sched_yield();
        }
    }
    return NULL;
}

static void nothing_is_lost_while_everything_changes(void **state)
{
    static const char *const texts[] = {
        ROWS("[a], [b]") "weir.engine { batch-max = 1, overflow = drop-newest, processors { "
                         "one.dispatcher = a, two.dispatcher = b } }",
        ROWS("[c], [b, c], [a]") "weir.engine { batch-max = 100, processors { one.dispatcher = c, "
                                 "two.dispatcher = b } }",
        ROWS("[a, b], [a, b]") "weir.engine { backoff.base-delay-micros = 1, processors { "
                               "one.dispatcher = b, two.dispatcher = a, two.overflow = block } }",
    };
    static poster p;
    pthread_t thread;
    (void)state;
    p.engine = engine_of(texts[0], NULL);
    p.to[0] = add_plain(p.engine, "one", "a");
    p.to[1] = add_plain(p.engine, "two", "b");
    test_engine_start(p.engine);
    assert_int_equal(0, pthread_create(&thread, NULL, post_on, &p));
    const uint64_t rounds = test_load(60, 15);
    for (uint64_t i = 1; i <= rounds; i++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(WEIR_OK, apply(p.engine, texts[i % 3], NULL, &error));
        test_error_none(&error);
    }
    atomic_store(&p.stop, true);
    assert_int_equal(0, pthread_join(thread, NULL));
    const weir_stop_report report = test_engine_end(p.engine);
    assert_int_equal(p.accepted, report.accepted);
    assert_true(report.handled > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_come_and_go_and_those_that_stay_are_not_touched),
        cmocka_unit_test(a_thread_that_changes_is_replaced_under_its_name),
        cmocka_unit_test(a_dispatcher_with_processors_is_not_left_alone_and_nothing_changes),
        cmocka_unit_test(processors_move_where_the_file_says_before_threads_go),
        cmocka_unit_test(a_move_is_taken_back_when_what_follows_fails),
        cmocka_unit_test(batches_delays_and_the_log_level_change_at_once),
        cmocka_unit_test(what_a_file_says_of_a_processor_counts_until_it_says_it_no_more),
        cmocka_unit_test(a_policy_changes_under_the_posters),
        cmocka_unit_test(policies_that_must_be_there_from_the_beginning_are_told),
        cmocka_unit_test(warnings_and_notes_of_a_file_are_in_the_log),
        cmocka_unit_test(keys_that_need_a_restart_are_counted_and_named),
        cmocka_unit_test(a_thread_with_an_agent_keeps_its_settings),
        cmocka_unit_test(it_is_refused_where_it_cannot_be),
        cmocka_unit_test(nothing_is_lost_while_everything_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
