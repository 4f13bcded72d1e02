/*
 * advice/rules_test.c - every rule, just below and just above each of its thresholds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "advice_support.h"

#include <math.h>

#define NONE WEIR__SEVERITY_NONE
#define NOTE WEIR__SEVERITY_NOTE
#define WARNING WEIR__SEVERITY_WARNING
#define ALERT WEIR__SEVERITY_ALERT

/* One rule, what the two looks have besides the rest, and what comes of it. */
typedef struct rule_case {
    weir__rule_id id;
    weir__severity severity;
    const char *before, *after;
} rule_case;

#define LOCKS(tries, failed)                                                                       \
    "'dispatchers': [{'dispatcher': 'api', 'threads': 2, 'try_locks': " #tries                     \
    ", 'try_locks_failed': " #failed "}]"
#define CREW(threads, failed, busy)                                                                \
    "'dispatchers': [{'dispatcher': 'api', 'threads': " #threads ", 'try_locks': 10000, "          \
    "'try_locks_failed': " #failed "}], 'threads': [{'thread': 'a', 'dispatchers': 'api', "        \
    "'turns': 1, 'busy_ns': " #busy "}]"
#define ROUNDS(rounds, backoffs)                                                                   \
    "'dispatchers': [{'dispatcher': 'api', 'rounds': " #rounds ", 'backoffs': " #backoffs          \
    ", 'backoff_ns': 1000000}]"
#define WAKES(signals, wakeups, found)                                                             \
    "'dispatchers': [{'dispatcher': 'api', 'threads': 2, 'signals': " #signals                     \
    ", 'wakeups': " #wakeups ", 'wakeups_found': " #found "}]"
#define USE(threads, depth, busy)                                                                  \
    "'dispatchers': [{'dispatcher': 'api', 'threads': " #threads ", 'depth': " #depth "}], "       \
    "'threads': [{'thread': 'a', 'dispatchers': 'api', 'turns': 1, 'busy_ns': " #busy "}]"
#define BOX(depth) "'processors': [{'processor': 'p', 'depth': " #depth ", 'mailbox_max': 1000}]"
#define P(...) "'processors': [{'processor': 'p', " __VA_ARGS__ "}]"
#define TIMES(count, p50, p99)                                                                     \
    "'processors': [{'processor': 'p', 'queueing': {'count': " #count ", 'p50_ns': " #p50          \
    ", 'p99_ns': " #p99 "}}]"
#define FEED(...) "'feeds': [{'feed': 'f', " __VA_ARGS__ "}]"
#define ROUTER(busy0, depth0, busy1, depth1)                                                       \
    "'routers': [{'router': 'r', 'worker': [{'index': 0, 'busy_ns': " #busy0 ", 'depth': " #depth0 \
    "}, {'index': 1, 'busy_ns': " #busy1 ", 'depth': " #depth1 "}]}]"
#define TARGETS(handled0, depth0, handled1, depth1)                                                \
    "'routers': [{'router': 'r', 'worker': [{'index': 0, 'busy_ns': 0, 'processor': 't/1', "       \
    "'depth': " #depth0 "}, {'index': 1, 'busy_ns': 0, 'processor': 't/2', 'depth': " #depth1      \
    "}]}], 'processors': [{'processor': 't/2', 'handled': " #handled1 "}, {'processor': 't/1', "   \
    "'handled': " #handled0 "}]"
#define PARK(parks, handled)                                                                       \
    "'threads': [{'thread': 'a', 'parks': " #parks ", 'handled': " #handled "}]"

#define SOURCE(work)                                                                               \
    PARK(20001, 0) ", 'components': [{'component': 's', 'thread': 'a', 'work': " #work "}]"

/* Without a first look of their own they have the rest only: everything is new. */
static const rule_case cases[] = {
    { WEIR__RULE_CONTENTION, NONE, LOCKS(0, 0), LOCKS(10000, 1000) },
    { WEIR__RULE_CONTENTION, NOTE, LOCKS(0, 0), LOCKS(10000, 1001) },
    { WEIR__RULE_CONTENTION, NOTE, LOCKS(0, 0), LOCKS(10000, 3000) },
    { WEIR__RULE_CONTENTION, WARNING, LOCKS(0, 0), LOCKS(10000, 3001) },
    { WEIR__RULE_CONTENTION, WARNING, LOCKS(0, 0), LOCKS(10000, 5000) },
    { WEIR__RULE_CONTENTION, ALERT, LOCKS(0, 0), LOCKS(10000, 5001) },
    { WEIR__RULE_CONTENTION, NONE, LOCKS(0, 0), LOCKS(999, 900) }, /* too few to tell */
    { WEIR__RULE_CONTENTION, ALERT, LOCKS(0, 0), LOCKS(1000, 900) },
    { WEIR__RULE_CONTENTION, NONE, LOCKS(50000, 50000), LOCKS(60000, 50100) }, /* was, is no more */

    { WEIR__RULE_TOO_MANY_THREADS, NONE, "", CREW(4, 1000, 5e8) },
    { WEIR__RULE_TOO_MANY_THREADS, NOTE, "", CREW(4, 1001, 5e8) },
    { WEIR__RULE_TOO_MANY_THREADS, WARNING, "", CREW(4, 3001, 5e8) },
    { WEIR__RULE_TOO_MANY_THREADS, ALERT, "", CREW(4, 5001, 5e8) },
    { WEIR__RULE_TOO_MANY_THREADS, NONE, "", CREW(2, 5001, 19e8) }, /* all at work */
    { WEIR__RULE_TOO_MANY_THREADS, ALERT, "", CREW(2, 5001, 5e8) },
    { WEIR__RULE_TOO_MANY_THREADS, ALERT, "", CREW(3, 5001, 3e9) }, /* two cores */
    { WEIR__RULE_TOO_MANY_THREADS, NONE, "", CREW(1, 5001, 1e8) },

    { WEIR__RULE_BACK_OFF, NONE, ROUNDS(0, 0), ROUNDS(1000, 150) },
    { WEIR__RULE_BACK_OFF, WARNING, ROUNDS(0, 0), ROUNDS(1000, 151) },
    { WEIR__RULE_BACK_OFF, WARNING, ROUNDS(0, 0), ROUNDS(1000, 300) },
    { WEIR__RULE_BACK_OFF, ALERT, ROUNDS(0, 0), ROUNDS(1000, 301) },
    { WEIR__RULE_BACK_OFF, NONE, ROUNDS(0, 0), ROUNDS(99, 99) },

    { WEIR__RULE_WAKE_UPS, NONE, WAKES(0, 0, 0), WAKES(1000, 1000, 900) },
    { WEIR__RULE_WAKE_UPS, WARNING, WAKES(0, 0, 0), WAKES(1000, 1000, 899) },
    { WEIR__RULE_WAKE_UPS, WARNING, WAKES(0, 0, 0), WAKES(1000, 1000, 500) },
    { WEIR__RULE_WAKE_UPS, ALERT, WAKES(0, 0, 0), WAKES(1000, 1000, 499) },
    { WEIR__RULE_WAKE_UPS, NONE, WAKES(0, 0, 0), WAKES(99, 99, 0) },
    { WEIR__RULE_WAKE_UPS, NONE, WAKES(0, 0, 0), WAKES(1000, 9000, 950) }, /* by the clock */

    { WEIR__RULE_UTILISATION, NONE, USE(2, 100, 0), USE(2, 100, 6e8) },
    { WEIR__RULE_UTILISATION, ALERT, USE(2, 100, 0), USE(2, 100, 59e7) },
    { WEIR__RULE_UTILISATION, NONE, USE(2, 100, 0), USE(2, 99, 1e8) }, /* hardly anything waits */
    { WEIR__RULE_UTILISATION, NONE, USE(2, 99, 0), USE(2, 100, 1e8) },
    { WEIR__RULE_UTILISATION, NONE, USE(1, 100, 0), USE(1, 100, 1e8) },
    { WEIR__RULE_UTILISATION, NONE, "", USE(2, 100, 1e8) }, /* one look */

    { WEIR__RULE_MAILBOX, NONE, "", BOX(900) },
    { WEIR__RULE_MAILBOX, WARNING, "", BOX(901) },
    { WEIR__RULE_MAILBOX, WARNING, "", BOX(990) },
    { WEIR__RULE_MAILBOX, ALERT, "", BOX(991) },

    { WEIR__RULE_GROWING, NONE, BOX(100), BOX(109) }, /* by less than 1 % */
    { WEIR__RULE_GROWING, WARNING, BOX(100), BOX(110) },
    { WEIR__RULE_GROWING, NONE, BOX(50), BOX(99) }, /* hardly full */
    { WEIR__RULE_GROWING, WARNING, BOX(90), BOX(100) },
    { WEIR__RULE_GROWING, WARNING, BOX(390), BOX(400) }, /* 60 s */
    { WEIR__RULE_GROWING, ALERT, BOX(390), BOX(401) },
    { WEIR__RULE_GROWING, NONE, BOX(500), BOX(500) },
    { WEIR__RULE_GROWING, NONE, BOX(900), BOX(500) },
    { WEIR__RULE_GROWING, NONE, "", BOX(500) },

    { WEIR__RULE_FAILURES, NONE, P("'failures': 9, 'handled': 0"),
      P("'failures': 9, 'handled': 50") },
    { WEIR__RULE_FAILURES, WARNING, P("'failures': 0, 'handled': 0, 'dead': 0"),
      P("'failures': 1, 'handled': 99, 'dead': 1") },
    { WEIR__RULE_FAILURES, ALERT, P("'failures': 0, 'handled': 0, 'dead': 0"),
      P("'failures': 2, 'handled': 99, 'dead': 2") },

    { WEIR__RULE_DROPS, NONE, P("'dropped': 7, 'accepted': 10"),
      P("'dropped': 7, 'accepted': 900") },
    { WEIR__RULE_DROPS, WARNING, P("'dropped': 7, 'accepted': 0"),
      P("'dropped': 8, 'accepted': 100") },
    { WEIR__RULE_DROPS, ALERT, P("'dropped': 7, 'accepted': 0"),
      P("'dropped': 9, 'accepted': 100") },
    { WEIR__RULE_DROPS, NONE, FEED("'dropped': 7"), FEED("'dropped': 7, 'delivered': 5") },
    { WEIR__RULE_DROPS, WARNING, FEED("'dropped': 7, 'delivered': 0"),
      FEED("'dropped': 8, 'delivered': 99") },
    { WEIR__RULE_DROPS, ALERT, FEED("'dropped': 7, 'delivered': 0"),
      FEED("'dropped': 9, 'delivered': 99") },

    { WEIR__RULE_SPREAD, NONE, "", TIMES(500, 100000, 1000000) },
    { WEIR__RULE_SPREAD, ALERT, "", TIMES(500, 99999, 1000000) },
    { WEIR__RULE_SPREAD, NONE, "", TIMES(499, 99999, 1000000) },
    { WEIR__RULE_SPREAD, NONE, "", TIMES(500, 1, 999999) }, /* below a millisecond */

    { WEIR__RULE_SLOW_CONSUMER, NONE, FEED("'waited_ns': 0"), FEED("'waited_ns': 10000000") },
    { WEIR__RULE_SLOW_CONSUMER, NOTE, FEED("'waited_ns': 0"), FEED("'waited_ns': 10000001") },
    { WEIR__RULE_SLOW_CONSUMER, WARNING, FEED("'waited_ns': 0"), FEED("'waited_ns': 100000001") },
    { WEIR__RULE_SLOW_CONSUMER, ALERT, FEED("'waited_ns': 0"), FEED("'waited_ns': 500000001") },
    { WEIR__RULE_SLOW_CONSUMER, NONE, FEED("'disconnected': 1"), FEED("'disconnected': 1") },
    { WEIR__RULE_SLOW_CONSUMER, ALERT, FEED("'disconnected': 0"), FEED("'disconnected': 1") },

    { WEIR__RULE_HOT_FLOW, NONE, ROUTER(0, 0, 0, 0), ROUTER(6e8, 0, 2e8, 0) }, /* 1.5 */
    { WEIR__RULE_HOT_FLOW, WARNING, ROUTER(0, 0, 0, 0), ROUTER(601000000, 0, 2e8, 0) },
    { WEIR__RULE_HOT_FLOW, WARNING, ROUTER(0, 0, 0, 0), ROUTER(95e7, 0, 5e7, 0) }, /* 1.9 */
    { WEIR__RULE_HOT_FLOW, ALERT, ROUTER(0, 0, 0, 0), ROUTER(951000000, 0, 5e7, 0) },
    { WEIR__RULE_HOT_FLOW, NONE, ROUTER(0, 0, 0, 0), ROUTER(49e7, 0, 0, 0) }, /* not busy */
    { WEIR__RULE_HOT_FLOW, ALERT, ROUTER(0, 0, 0, 0), ROUTER(50e7, 0, 0, 0) },
    { WEIR__RULE_HOT_FLOW, NONE, ROUTER(0, 0, 0, 0), ROUTER(1e8, 99, 0, 0) },
    { WEIR__RULE_HOT_FLOW, ALERT, ROUTER(0, 0, 0, 0), ROUTER(1e8, 100, 0, 0) },
    { WEIR__RULE_HOT_FLOW, NONE, ROUTER(0, 0, 0, 0), ROUTER(1e8, 100, 0, 900) },
    { WEIR__RULE_HOT_FLOW, ALERT, TARGETS(0, 0, 0, 0), TARGETS(1000, 100, 10, 0) },
    { WEIR__RULE_HOT_FLOW, NONE, TARGETS(0, 0, 0, 0), TARGETS(1000, 0, 10, 0) },

    { WEIR__RULE_PARKS, NONE, PARK(0, 0), PARK(20000, 20000) },
    { WEIR__RULE_PARKS, WARNING, PARK(0, 0), PARK(20001, 20000) },
    { WEIR__RULE_PARKS, WARNING, PARK(0, 0), PARK(50000, 20000) },
    { WEIR__RULE_PARKS, ALERT, PARK(0, 0), PARK(50001, 20000) },
    { WEIR__RULE_PARKS, NONE, PARK(0, 0), PARK(20001, 80004) }, /* worth it */
    { WEIR__RULE_PARKS, WARNING, PARK(0, 0), SOURCE(80003) },   /* of a source */
    { WEIR__RULE_PARKS, NONE, PARK(0, 0), SOURCE(80004) },
};

static void every_rule_speaks_above_its_threshold_and_not_below(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fprintf(stderr, "# %zu: %s\n", i, weir__rules[cases[i].id].name);
        advice_look_rest(cases[i].before, cases[i].after);
        advice_expect(cases[i].id, cases[i].severity);
    }
}

/* Of a mailbox of 1,000,000 with `depth` in it, grown by 10,000 in so long. */
static void expect_growth(double seconds, double depth, weir__severity severity)
{
    char then[400], now[400];
    static const char form[] = "{'engine': {'uptime_ns': %f}, 'processors': [{'processor': 'p', "
                               "'depth': %f, 'mailbox_max': 1000000}]}";
    snprintf(then, sizeof(then), form, 1e9, depth - 10000);
    snprintf(now, sizeof(now), form, 1e9 + seconds * 1e9, depth);
    advice_look(then, now);
    advice_expect(WEIR__RULE_GROWING, severity);
}

static void growth_is_judged_by_the_time_that_is_left(void **state)
{
    (void)state;
    expect_growth(120, 700000, NONE); /* 3,600 s left */
    expect_growth(120, 700001, NOTE);
    expect_growth(20, 700000, NOTE); /* 600 s */
    expect_growth(20, 700001, WARNING);
    expect_growth(2, 700000, WARNING); /* 60 s */
    expect_growth(2, 700001, ALERT);
}

/* Those that need figures of the process or the engine. */
static void look_whole(double uptime, const char *engine, const char *process, const char *rest,
                       bool before_too)
{
    char then[1024], now[4096];
    snprintf(then, sizeof(then),
             "{'engine': {'name': 'e', 'uptime_ns': 1e9}, 'process': {'cpu_ns': 0}, "
             "'threads': [{'thread': 'a', 'busy_ns': 0, 'cpu_ns': 0}]}");
    snprintf(now, sizeof(now), "{'engine': {'name': 'e', 'uptime_ns': %f %s}, 'process': {%s} %s}",
             uptime, engine, process, rest);
    advice_look(before_too ? then : NULL, now);
}

static void throttling_is_measured_against_the_time_that_passed(void **state)
{
    (void)state;
    static const struct {
        const char *process;
        weir__severity severity;
    } rows[] = { { "'throttled_ns': 0, 'throttled': 0, 'quota_cores': 0.5", NONE },
                 { "'throttled_ns': 1, 'throttled': 1, 'quota_cores': 0.5", NOTE },
                 { "'throttled_ns': 10000000, 'throttled': 1, 'quota_cores': 0.5", NOTE },
                 { "'throttled_ns': 10000001, 'throttled': 1, 'quota_cores': 0.5", WARNING },
                 { "'throttled_ns': 100000001, 'throttled': 9, 'quota_cores': 0.5", ALERT } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        look_whole(2e9, "", rows[i].process, "", true);
        advice_expect(WEIR__RULE_THROTTLING, rows[i].severity);
    }
}

static void more_threads_at_work_than_cores_is_told_only_if_they_compute(void **state)
{
    (void)state;
    static const struct {
        const char *process, *thread;
        weir__severity severity;
    } rows[] = {
        { "'cores_usable': 2, 'cpu_ns': 2e9", "'busy_ns': 2199999999, 'cpu_ns': 19e8", NONE },
        { "'cores_usable': 2, 'cpu_ns': 2e9", "'busy_ns': 2200000001, 'cpu_ns': 19e8", WARNING },
        { "'cores_usable': 2, 'cpu_ns': 2e9", "'busy_ns': 3000000001, 'cpu_ns': 19e8", ALERT },
        { "'cores_usable': 2, 'cpu_ns': 1399999999", "'busy_ns': 4e9, 'cpu_ns': 13e8", NONE },
        { "'cores_usable': 2, 'cpu_ns': 1400000000", "'busy_ns': 4e9, 'cpu_ns': 13e8", ALERT },
        { "'cores_usable': 2, 'cpu_ns': 2e9", "'busy_ns': 3e9, 'cpu_ns': 2700000001", NONE },
        { "'cpu_ns': 2e9", "'busy_ns': 4e9, 'cpu_ns': 2e9", NONE }, /* cores not known */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char rest[256];
        snprintf(rest, sizeof(rest), ", 'threads': [{'thread': 'a', %s}]", rows[i].thread);
        look_whole(2e9, "", rows[i].process, rest, true);
        advice_expect(WEIR__RULE_OVERSUBSCRIBED, rows[i].severity);
    }
}

static void a_thread_counts_for_each_dispatcher_that_it_serves_and_for_no_other(void **state)
{
    (void)state;
    static const struct {
        const char *dispatcher, *thread;
        weir__severity severity; /* NONE: the thread's work is that dispatcher's */
    } rows[] = {
        { "api", "'dispatchers': 'api', 'turns': 1", NONE },
        { "api", "'dispatchers': 'batch, api', 'turns': 1", NONE },
        { "api", "'dispatchers': 'api, batch', 'turns': 1", NONE },
        { "", "'dispatchers': '', 'turns': 1", NONE },
        { "", "'dispatchers': ', api', 'turns': 1", NONE },
        { "", "'dispatchers': 'api, ', 'turns': 1", NONE },
        { "api", "'dispatchers': 'apis', 'turns': 1", ALERT },
        { "api", "'dispatchers': 'my api', 'turns': 1", ALERT },
        { "", "'dispatchers': 'api', 'turns': 1", ALERT },
        { "", "'dispatchers': '', 'turns': 0", ALERT }, /* a source's, it serves none */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char before[400], after[400];
        static const char form[] = "'dispatchers': [{'dispatcher': '%s', 'threads': 2, 'depth': "
                                   "100}], 'threads': [{'thread': 'own', 'dispatchers': '%s', "
                                   "'turns': 1, 'busy_ns': 0}, {'thread': 'a', 'busy_ns': %s, %s}]";
        const char *name = rows[i].dispatcher;
        snprintf(before, sizeof(before), form, name, name, "0", rows[i].thread);
        snprintf(after, sizeof(after), form, name, name, "15e8", rows[i].thread);
        fprintf(stderr, "# %zu\n", i);
        advice_look_rest(before, after);
        advice_expect(WEIR__RULE_UTILISATION, rows[i].severity);
    }
}

static void threads_that_spin_are_counted_against_the_usable_cores(void **state)
{
    (void)state;
    look_whole(2e9, "", "'cores_usable': 2",
               ", 'threads': [{'thread': 'a', 'idle': 'busy-spin'}, {'thread': 'b', 'idle': "
               "'noop'}, {'thread': 'c', 'idle': 'backoff'}]",
               true);
    advice_expect(WEIR__RULE_SPIN, NONE);
    look_whole(2e9, "", "'cores_usable': 1",
               ", 'threads': [{'thread': 'a', 'idle': 'busy-spin'}, {'thread': 'b', 'idle': "
               "'noop'}, {'thread': 'c', 'idle': 'backoff'}]",
               true);
    advice_expect(WEIR__RULE_SPIN, ALERT);
    assert_true(fabs(advice_of(WEIR__RULE_SPIN)->value - 2) < 1e-9);
    look_whole(2e9, "", "'cores_usable': 0", ", 'threads': [{'thread': 'a', 'idle': 'noop'}]",
               true); /* that is none that a server would say */
    advice_expect(WEIR__RULE_SPIN, NONE);
}

static void refused_posts_and_dead_letters_are_a_part_of_all(void **state)
{
    (void)state;
    look_whole(2e9, ", 'accepted': 99, 'refused_full': 1", "", "", true);
    advice_expect(WEIR__RULE_REFUSALS, NONE);
    look_whole(2e9, ", 'accepted': 98, 'refused_full': 1", "", "", true);
    advice_expect(WEIR__RULE_REFUSALS, WARNING);
    look_whole(2e9, ", 'accepted': 8, 'refused_full': 1", "", "", true);
    advice_expect(WEIR__RULE_REFUSALS, ALERT);
    look_whole(2e9, ", 'accepted': 100, 'letters': 0", "", "", true);
    advice_expect(WEIR__RULE_DEAD_LETTERS, NONE);
    look_whole(2e9, ", 'accepted': 100, 'letters': 1", "", "", true);
    advice_expect(WEIR__RULE_DEAD_LETTERS, WARNING);
    look_whole(2e9, ", 'accepted': 100, 'letters': 2", "", "", true);
    advice_expect(WEIR__RULE_DEAD_LETTERS, ALERT);
}

static void what_is_down_is_told_with_the_server_s_own_reason(void **state)
{
    (void)state;
    look_whole(2e9, "", "",
               ", 'health': {'reasons': [{'what': 'processor p', 'status': 'degraded', 'reason': "
               "'x'}]}",
               true);
    advice_expect(WEIR__RULE_DOWN, NONE);
    look_whole(2e9, "", "",
               ", 'health': {'reasons': [{'what': 'engine', 'status': 'down', 'reason': 'stops'}]}",
               true);
    advice_expect(WEIR__RULE_DOWN, ALERT);
    assert_string_equal("engine", advice_of(WEIR__RULE_DOWN)->what);
    assert_non_null(strstr(advice_of(WEIR__RULE_DOWN)->text, "stops"));
    look_whole(2e9, "", "",
               ", 'health': {'reasons': [{'what': 'component c', 'status': 'down', 'reason': "
               "'it failed'}]}",
               true);
    assert_string_equal("component c", advice_of(WEIR__RULE_DOWN)->what);
}

static void a_handler_that_is_stuck_is_named_and_one_that_was_is_counted(void **state)
{
    (void)state;
    look_whole(2e9, ", 'stuck': 0", "", "", true);
    advice_expect(WEIR__RULE_STUCK, NONE);
    look_whole(2e9, ", 'stuck': 1", "", "", true);
    advice_expect(WEIR__RULE_STUCK, ALERT);
    assert_string_equal("engine", advice_of(WEIR__RULE_STUCK)->what);
    look_whole(2e9, ", 'stuck': 1", "",
               ", 'health': {'reasons': [{'what': 'processor p', 'status': 'degraded', 'reason': "
               "'its handler has not returned for too long; the log has its stack'}]}",
               true);
    advice_expect(WEIR__RULE_STUCK, ALERT);
    assert_string_equal("processor p", advice_of(WEIR__RULE_STUCK)->what);
    advice_look("{'engine': {'uptime_ns': 1e9, 'stuck': 3}}", "{'engine': {'uptime_ns': 2e9, "
                                                              "'stuck': 3}}");
    advice_expect(WEIR__RULE_STUCK, NONE);
}

static void every_rule_has_a_name_of_its_own_and_thresholds_in_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < WEIR__RULE_COUNT; i++) {
        const weir__rule *r = &weir__rules[i];
        assert_non_null(r->name);
        assert_non_null(r->figure);
        assert_non_null(r->when);
        assert_false(isnan(r->warning) && isnan(r->alert));
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(r->name, weir__rules[j].name);
        }
        const double sign = r->below ? -1 : 1;
        assert_false(sign * r->note >= sign * r->warning);
        assert_false(sign * r->warning >= sign * r->alert);
        assert_int_equal(NONE, weir__rule_judge(r, NAN));
        assert_int_equal(ALERT, weir__rule_judge(r, r->below ? -1 : 1e300));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_speaks_above_its_threshold_and_not_below),
        cmocka_unit_test(growth_is_judged_by_the_time_that_is_left),
        cmocka_unit_test(throttling_is_measured_against_the_time_that_passed),
        cmocka_unit_test(more_threads_at_work_than_cores_is_told_only_if_they_compute),
        cmocka_unit_test(a_thread_counts_for_each_dispatcher_that_it_serves_and_for_no_other),
        cmocka_unit_test(threads_that_spin_are_counted_against_the_usable_cores),
        cmocka_unit_test(refused_posts_and_dead_letters_are_a_part_of_all),
        cmocka_unit_test(what_is_down_is_told_with_the_server_s_own_reason),
        cmocka_unit_test(a_handler_that_is_stuck_is_named_and_one_that_was_is_counted),
        cmocka_unit_test(every_rule_has_a_name_of_its_own_and_thresholds_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
