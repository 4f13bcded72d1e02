/*
 * rules_test.c - what is refused, what is warned of, and the words for it. All problems at once,
 * each with its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings_support.h"

static void all_problems_are_told_at_once_in_the_order_of_their_places(void **state)
{
    (void)state;
    test_says("weir.engine {\n"
              "  backoff { multiplier = 0.9 }\n"
              "  batch-max = 0\n"
              "  stuck-after = 10 parsecs\n"
              "  overflow = drop-newst\n"
              "  crash-report = perhaps\n"
              "  timers-max = 1.5\n"
              "}\n",
              "t.conf:2:26: weir.engine.backoff.multiplier: 0.9 is not > 1.0\n"
              "t.conf:3:15: weir.engine.batch-max: 0 is not >= 1\n"
              "t.conf:4:17: weir.engine.stuck-after: '10 parsecs' is no duration: units are ns, "
              "us, ms, s, m, h, d; or never\n"
              "t.conf:5:14: weir.engine.overflow: 'drop-newst' is none of default, fail, "
              "drop-newest, drop-oldest, block; did you mean drop-newest?\n"
              "t.conf:6:18: weir.engine.crash-report: 'perhaps' is no boolean: it is true, yes, "
              "on, false, no or off\n"
              "t.conf:7:16: weir.engine.timers-max: 1.5 is no whole number\n");
}

static void a_bound_is_told_in_the_unit_of_its_key(void **state)
{
    (void)state;
    test_says("weir.engine.stuck-after = 500us",
              "t.conf:1:27: weir.engine.stuck-after: 500us is not >= 1ms\n");
    test_says("weir.engine.scheduler-pool-size = 65",
              "t.conf:1:35: weir.engine.scheduler-pool-size: 65 is not <= 64\n");
    test_says("weir.engine.backoff.multiplier = 101",
              "t.conf:1:34: weir.engine.backoff.multiplier: 101 is not <= 100.0\n");
    test_says("weir.engine.backoff.max-delay-micros = 2h",
              "t.conf:1:40: weir.engine.backoff.max-delay-micros: 2h is not <= 1h\n");
}

static void an_unknown_key_is_an_error_with_the_nearest_known_one(void **state)
{
    (void)state;
    test_says("weir.engine.batch-mx = 1",
              "t.conf:1:24: weir.engine.batch-mx: is no key; did you mean "
              "weir.engine.batch-max?\n");
    test_says("weir.engine.defaultQueueSize = 1",
              "t.conf:1:32: weir.engine.defaultQueueSize: is no key; did you mean "
              "weir.engine.default-queue-size?\n");
    test_says("weir.engine.multiplier = 2",
              "t.conf:1:26: weir.engine.multiplier: is no key; did you mean "
              "weir.engine.backoff.multiplier?\n");
    test_says("weir.batch-max = 2",
              "t.conf:1:18: weir.batch-max: is no key; did you mean weir.engine.batch-max?\n");
    test_says("weir.engin.batch-max = 2",
              "t.conf:1:24: weir.engin: is no key; did you mean weir.engine?\n");
    test_says("weir.engine.assignment.zzzzzzzzz = 2",
              "t.conf:1:36: weir.engine.assignment.zzzzzzzzz: is no key; here may stand: "
              "strategy, dispatchers, threads, counts, idle\n");
    test_says("weir.engine.batch-mx = null", "");
    test_says("weir.engine.processors.\"a.b\".mailbox = 7",
              "t.conf:1:40: weir.engine.processors.\"a.b\".mailbox: is no key; did you mean "
              "weir.engine.processors.\"a.b\".mailbox-max?\n");
}

static void keys_of_others_are_not_weirs_business_unless_they_look_like_its_own(void **state)
{
    (void)state;
    test_says("akka { loglevel = DEBUG }, name = x, my-app.port = 80", "");
    test_says("backoff { multiplier = 2 }",
              "t.conf:1:9: backoff: warning: is not read by weir; did you mean "
              "weir.engine.backoff?\n");
    test_says("wier.engine { batch-max = 2 }",
              "t.conf:1:13: wier: warning: is not read by weir; did you mean weir?\n");
}

static void there_is_a_thread_and_not_too_many(void **state)
{
    (void)state;
    test_says("weir.engine.thread-dispatcher-assignment = []",
              "t.conf:1:44: weir.engine.thread-dispatcher-assignment: has no thread: at least one "
              "is needed, as in [[\"\"]]\n");
    test_says("weir.engine.threads = []",
              "t.conf:1:23: weir.engine.threads: has no thread: at least one is needed, as in "
              "[[\"\"]]\n");
    test_says("weir.engine.assignment { strategy = shared, dispatchers = [a], threads = 1025 }",
              "t.conf:1:74: weir.engine.assignment.threads: 1025 is not <= 1024\n");
    test_says("weir.engine.assignment { strategy = per-dispatcher, dispatchers = [a, b], counts = "
              "[1000, 25] }",
              "t.conf:1:37: weir.engine.assignment: 1025 threads is not <= 1024\n");
    test_says("weir.engine.assignment { strategy = shared, dispatchers = [a], threads = 101 }",
              "t.conf:1:37: weir.engine.assignment: warning: 101 threads: more than 100 cost more "
              "than they bring, unless most of them wait\n"
              "t.conf:1:37: weir.engine.assignment: warning: 101 threads on 4 usable cores: more "
              "than 10 a core are busy with taking turns\n");
    test_says("weir.engine.assignment { strategy = shared, dispatchers = [a], threads = 40 }", "");
    test_says("weir.engine.assignment { strategy = shared, dispatchers = [a], threads = 41 }",
              "t.conf:1:37: weir.engine.assignment: warning: 41 threads on 4 usable cores: more "
              "than 10 a core are busy with taking turns\n");
}

static void more_spinning_threads_than_cores_are_warned_of(void **state)
{
    (void)state;
    test_says("weir.engine.assignment { strategy = shared, dispatchers = [a], threads = 4, idle = "
              "busy-spin }",
              "");
    test_says("weir.engine.assignment { strategy = shared, dispatchers = [a], threads = 5, idle = "
              "busy-spin }",
              "t.conf:1:37: weir.engine.assignment: warning: 5 threads idle by spinning "
              "(busy-spin, noop) on 4 usable cores: they take the cores from those with work\n");
}

static void every_thread_serves_something_and_nothing_twice(void **state)
{
    (void)state;
    test_says("weir.engine.thread-dispatcher-assignment = [[a], [], [b, b]]",
              "t.conf:1:50: weir.engine.thread-dispatcher-assignment[1]: is empty: a thread serves "
              "at least one dispatcher (\"\" is the default one)\n"
              "t.conf:1:54: weir.engine.thread-dispatcher-assignment[2]: has \"b\" twice: once "
              "will do\n");
    test_says("weir.engine.thread-dispatcher-assignment = [a, [b]]",
              "t.conf:1:45: weir.engine.thread-dispatcher-assignment[0]: is a string, must be a "
              "list: [\"a\", \"b\"]\n");
    test_says("weir.engine.threads = [{ name = io, dispatchers = [] }, { dispatchers = [\"\"] }]",
              ""); /* one for services */
    test_says("weir.engine.threads = [{ name = x }]",
              "t.conf:1:24: weir.engine.threads[0].dispatchers: is missing, and has no default\n");
    test_says("weir.engine.threads = 4",
              "t.conf:1:23: weir.engine.threads: is a number, must be a list: [{ ... }, { ... "
              "}]\n");
    test_says("weir.engine.assignment { strategy = partition }",
              "t.conf:1:37: weir.engine.assignment.dispatchers: is empty: a strategy needs at "
              "least one name (\"\" is the default dispatcher)\n");
}

static void thread_names_are_unique(void **state)
{
    (void)state;
    test_says("weir.engine.threads = [\n"
              "  { name = io, dispatchers = [a] },\n"
              "  { name = io, dispatchers = [b] },\n"
              "]",
              "t.conf:3:12: weir.engine.threads[1].name: 'io' is taken: weir.engine.threads[0] "
              "has it\n");
}

static void one_form_of_assignment_is_enough(void **state)
{
    (void)state;
    test_says("weir.engine {\n"
              "  thread-dispatcher-assignment = [[a]]\n"
              "  threads = [{ dispatchers = [a] }]\n"
              "}",
              "t.conf:3:13: weir.engine.threads: stands beside thread-dispatcher-assignment "
              "(t.conf:2), and both say which threads there are: keep one, and set the other to "
              "null if another file has it\n");
    test_says("weir.engine {\n"
              "  thread-dispatcher-assignment = [[a]]\n"
              "  thread-dispatcher-assignment = null\n"
              "  threads = [{ dispatchers = [a] }]\n"
              "}",
              "");
}

static void back_off_grows_and_is_not_slow(void **state)
{
    (void)state;
    test_says("weir.engine.backoff { base-delay-micros = 20, max-delay-micros = 20 }",
              "t.conf:1:43: weir.engine.backoff.base-delay-micros: 20us is not < max-delay-micros "
              "(20us)\n");
    test_says("weir.engine.backoff { base-delay-micros = 10000, max-delay-micros = 1s }",
              "t.conf:1:43: weir.engine.backoff.base-delay-micros: warning: 10ms: from 10ms on "
              "threads sleep where they should work\n"
              "t.conf:1:69: weir.engine.backoff.max-delay-micros: warning: 1s: from 1s on a thread "
              "may be missing for long\n");
    test_says("weir.engine.backoff { base-delay-micros = 9999, max-delay-micros = 999999 }", "");
    test_says("weir.engine { thread-dispatcher-assignment = [[a]]\n"
              "dispatchers.a.backoff.base-delay-micros = 10ms }",
              "t.conf:2:43: weir.engine.dispatchers.a.backoff.base-delay-micros: 10ms is not < "
              "max-delay-micros (10ms)\n"
              "t.conf:2:43: weir.engine.dispatchers.a.backoff.base-delay-micros: warning: 10ms: "
              "from 10ms on threads sleep where they should work\n");
}

static void what_is_named_is_served(void **state)
{
    (void)state;
    test_says("weir.engine { thread-dispatcher-assignment = [[\"\"], [api]]\n"
              "dispatchers { apl { fair = on } }\n"
              "processors { journal { dispatcher = disk } } }",
              "t.conf:2:19: weir.engine.dispatchers.apl: no thread serves \"apl\"; did you mean "
              "\"api\"?\n"
              "t.conf:3:37: weir.engine.processors.journal.dispatcher: no thread serves \"disk\"; "
              "threads serve: \"\", \"api\"\n");
    test_says(
        "weir.engine.processors.p { dispatcher = \"\", dedicated = true, retry-then = retry }",
        "t.conf:1:41: weir.engine.processors.p.dispatcher: stands beside dedicated = true, "
        "which has a dispatcher of its own: keep one\n"
        "t.conf:1:76: weir.engine.processors.p.retry-then: 'retry' is what it follows: "
        "resume, restart, stop or escalate\n");
}

static void a_priority_has_a_value_of_its_kind(void **state)
{
    (void)state;
    test_says("weir.engine.threads = [{ dispatchers = [a], priority = fifo }]",
              "t.conf:1:24: weir.engine.threads[0].priority-value: 0 is not >= 1, as priority = "
              "fifo and round-robin need it\n");
    test_says("weir.engine.threads = [{ dispatchers = [a], priority = nice, priority-value = 20 }]",
              "t.conf:1:79: weir.engine.threads[0].priority-value: 20 is not <= 19, as priority = "
              "nice needs it\n");
}

static void a_wrong_kind_of_value_is_explained(void **state)
{
    (void)state;
    test_says("weir = 3",
              "t.conf:1:8: weir: is a number, must be an object: weir.engine { ... }\n");
    test_says("weir.engine = [1]",
              "t.conf:1:15: weir.engine: is a list, must be an object: { key = value }\n");
    test_says("weir.engine.backoff = fast",
              "t.conf:1:23: weir.engine.backoff: is a string, must be an object: { key = value "
              "}\n");
    test_says("weir.engine.processors = [a]",
              "t.conf:1:26: weir.engine.processors: is a list, must be an object: { name { ... } "
              "}\n");
    test_says("weir.engine.name = \"a\\u0000b\"",
              "t.conf:1:20: weir.engine.name: contains a zero byte, which no name or text of "
              "weir's can\n");
    test_says("weir.engine.batch-max { a = 1 }",
              "t.conf:1:23: weir.engine.batch-max: an object is no whole number: it is written "
              "like 42, -7 or 1e6\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_problems_are_told_at_once_in_the_order_of_their_places),
        cmocka_unit_test(a_bound_is_told_in_the_unit_of_its_key),
        cmocka_unit_test(an_unknown_key_is_an_error_with_the_nearest_known_one),
        cmocka_unit_test(keys_of_others_are_not_weirs_business_unless_they_look_like_its_own),
        cmocka_unit_test(there_is_a_thread_and_not_too_many),
        cmocka_unit_test(more_spinning_threads_than_cores_are_warned_of),
        cmocka_unit_test(every_thread_serves_something_and_nothing_twice),
        cmocka_unit_test(thread_names_are_unique),
        cmocka_unit_test(one_form_of_assignment_is_enough),
        cmocka_unit_test(back_off_grows_and_is_not_slow),
        cmocka_unit_test(what_is_named_is_served),
        cmocka_unit_test(a_priority_has_a_value_of_its_kind),
        cmocka_unit_test(a_wrong_kind_of_value_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
