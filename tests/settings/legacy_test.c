/*
 * legacy_test.c - files of others, in the forms that tests/settings/seeds/ does not have: both
 * names at once, mixtures, and mistakes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings_support.h"

#define NOTE(place)                                                                                \
    "t.conf:" place ": sss-events.engine: note: read as weir.engine; rename it, and this note "    \
    "goes away\n"

#define AGENTS(place)                                                                              \
    "t.conf:" place                                                                                \
    ": agentThreads: note: read as weir.engine.threads: an agent is a thread, and "                \
    "the dispatcher of the same name\n"

static void what_weir_says_wins_over_the_older_name(void **state)
{
    (void)state;
    test_says("weir.engine { batch-max = 1, backoff.multiplier = 2 }\n"
              "sss-events.engine { batch-max = 2, backoff { multiplier = 3, jitter = 0.5 } }",
              NOTE("2:19") "t.conf:2:33: sss-events.engine.batch-max: warning: does not count: "
                           "t.conf:1 says the same key below weir\n"
                           "t.conf:2:59: sss-events.engine.backoff.multiplier: warning: does not "
                           "count: t.conf:1 says the same key below weir\n");
    weir_config *config =
        test_config("weir.engine.batch-max = 1\nsss-events.engine { batch-max = 2,"
                    " backoff.jitter = 0.5 }");
    assert_int_equal(1, config->engine.batch_max);
    assert_true(config->engine.backoff.jitter == 0.5);
    weir_config_destroy(config);
}

static void mistakes_in_an_older_file_are_found_too(void **state)
{
    (void)state;
    test_says("sss-events { engin { batch-max = 2 } }",
              "t.conf:1:20: sss-events.engin: is no key; did you mean sss-events.engine?\n");
    test_says("sss-events.engine.schedulerPoolSize = 2",
              NOTE("1:39") "t.conf:1:39: weir.engine.schedulerPoolSize: is no key; did you mean "
                           "weir.engine.scheduler-pool-size?\n");
}

static void a_map_of_numbers_is_an_assignment(void **state)
{
    (void)state;
    test_says("weir.engine.dispatchers { a = 1, b { fair = on } }",
              "t.conf:1:36: weir.engine.dispatchers.b: is an object, and stands beside numbers of "
              "threads: write those as thread-dispatcher-assignment\n");
    test_says("weir.engine.dispatchers { a = 0 }",
              "t.conf:1:31: weir.engine.dispatchers.a: 0 is not a number of threads from 1 to "
              "1024\n");
}

static void many_threads_are_shown_by_a_strategy(void **state)
{
    (void)state;
    test_says("weir.engine.dispatchers { \"\" = 30, b = 3 }",
              "t.conf:1:25: weir.engine.dispatchers: note: the older form; read as assignment { "
              "strategy = per-dispatcher, dispatchers = [\"\", \"b\"], counts = [30, 3] }\n");
}

static void two_older_forms_do_not_fit_with_the_new_ones(void **state)
{
    (void)state;
    test_says("weir.engine { thread-dispatcher-assignment = [[a]]\ndispatchers { a = 2 }\n"
              "scheduler-pool-size = 1, numThreadsInSchedulerPool = 2 }",
              "t.conf:2:13: weir.engine.dispatchers: says which threads there are, as t.conf:1 "
              "does: keep one; this one would be thread-dispatcher-assignment = [[\"a\"], "
              "[\"a\"]]\n"
              "t.conf:3:54: weir.engine.numThreadsInSchedulerPool: is scheduler-pool-size, which "
              "t.conf:3 says: keep that\n");
}

static void agents_are_threads(void **state)
{
    (void)state;
    weir_config *config =
        test_config("agentThreads = [\n"
                    "  { agentName = a, idleStrategy = \"!!com.x.SleepingIdleStrategy {}\" }\n"
                    "  { agentName = b, idleStrategy { \"!\" = SleepingMillisIdleStrategy, "
                    "sleepPeriodNs = 5000 "
                    "} }\n"
                    "  { agentName = c, idleStrategy = null, coreId = 3 }\n"
                    "  { agentName = d, idleStrategy = NoOpIdleStrategy }\n"
                    "  { agentName = e, idleStrategy = YieldingIdleStrategy }\n"
                    "]");
    assert_int_equal(0, config->problems.errors);
    assert_int_equal(5, config->thread_count);
    assert_int_equal(WEIR_IDLE_SLEEP, config->threads[0].idle);
    assert_int_equal(WEIR_IDLE_SLEEP, config->threads[1].idle);
    assert_int_equal(5 * WEIR_US, config->threads[1].idle_sleep);
    assert_int_equal(WEIR_IDLE_BACKOFF, config->threads[2].idle);
    assert_int_equal(1, config->threads[2].core_count);
    assert_int_equal(3, config->threads[2].cores[0]);
    assert_int_equal(WEIR_IDLE_NOOP, config->threads[3].idle);
    assert_int_equal(WEIR_IDLE_YIELD, config->threads[4].idle);
    assert_string_equal("e", config->threads[4].name);
    assert_string_equal("e", config->threads[4].dispatchers[0]);
    weir_config_destroy(config);
}

static void mistakes_of_agents_are_told_where_they_stand(void **state)
{
    (void)state;
    test_says(
        "agentThreads = [ 7, { agentName = a, idleStrategy = LazyIdleStrategy, core = 1 } ]",
        AGENTS("1:16") "t.conf:1:18: agentThreads[0]: is a number, must be an object with an "
                       "agentName\n"
                       "t.conf:1:53: agentThreads[1].idleStrategy: LazyIdleStrategy is no idle "
                       "strategy "
                       "that weir knows: BusySpinIdleStrategy, YieldingIdleStrategy, "
                       "BackoffIdleStrategy, "
                       "SleepingIdleStrategy, NoOpIdleStrategy\n"
                       "t.conf:1:78: agentThreads[1].core: is no key; here may stand: agentName, "
                       "idleStrategy, coreId\n");
    test_says("agentThreads = [ { coreId = 1 } ]",
              AGENTS("1:16") "t.conf:1:18: weir.engine.threads[0].dispatchers: is missing, and has "
                             "no default\n");
    test_says("weir.engine.threads = [{ dispatchers = [x] }]\nagentThreads = [{ agentName = a }]",
              AGENTS("2:16") "t.conf:2:16: agentThreads: warning: does not count: t.conf:1 says "
                             "weir.engine.threads\n");
}

/* ---- hostile ---- */

static void a_file_of_nonsense_is_not_worth_more_than_some_messages(void **state)
{
    static char text[400000];
    size_t used = (size_t)snprintf(text, sizeof(text), "weir.engine {\n");
    (void)state;
    for (int i = 0; i < 10000; i++) {
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "nonsense-number-%d = %d\n", i, i);
    }
    snprintf(text + used, sizeof(text) - used, "}\n");
    weir_config *config = test_config(text);
    assert_int_equal(10000, config->problems.errors);
    assert_true(config->problems.count <= WEIR__PROBLEMS_MAX);
    weir_config_destroy(config);
}

static void names_of_any_length_are_told_and_cut(void **state)
{
    static char text[40000], said[8000];
    char name[3000];
    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    snprintf(text, sizeof(text),
             "weir.engine { name = %s, thread-dispatcher-assignment = [[%s]]\n"
             "processors { \"%s\" { batch-max = 0, \"%s\" = 1 } }, %s = 1 }",
             name, name, name, name, name);
    weir_config *config = test_config(text);
    test_problems(config, said, sizeof(said));
    assert_non_null(strstr(said, "has 2999 bytes, which is not <= 255"));
    assert_int_equal(6, config->problems.errors);
    weir_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_weir_says_wins_over_the_older_name),
        cmocka_unit_test(mistakes_in_an_older_file_are_found_too),
        cmocka_unit_test(a_map_of_numbers_is_an_assignment),
        cmocka_unit_test(many_threads_are_shown_by_a_strategy),
        cmocka_unit_test(two_older_forms_do_not_fit_with_the_new_ones),
        cmocka_unit_test(agents_are_threads),
        cmocka_unit_test(mistakes_of_agents_are_told_where_they_stand),
        cmocka_unit_test(a_file_of_nonsense_is_not_worth_more_than_some_messages),
        cmocka_unit_test(names_of_any_length_are_told_and_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
