/*
 * admin_test.c - admin commands: names, arguments, answers, turns of a processor (S-80).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "admin_support.h"

#include <math.h>

static desk d;

typedef struct probe {
    atomic_int calls;
    bool in_turn;
    weir_engine *engine;
    size_t arguments;
    char first[64];
    weir_status answer;
    sem_t begun, go;
    bool waits;
    weir_status removed;
} probe;

static probe p;

static weir_status on_probe(void *context, weir_admin_call *call)
{
    probe *q = context;
    atomic_fetch_add(&q->calls, 1);
    q->in_turn = weir_admin_turn(call) != NULL;
    q->engine = weir_admin_engine(call);
    q->arguments = weir_admin_argument_count(call);
    const char *first = weir_admin_argument(call, 0);
    (void)snprintf(q->first, sizeof(q->first), "%s", first != NULL ? first : "(none)");
    if (q->waits) {
        (void)sem_post(&q->begun);
        (void)test_sem_taken(&q->go);
    }
    weir_admin_text(call, "probe", "done");
    return q->answer;
}

static weir_status add(const char *name, const char *arguments, bool in_turn)
{
    d.error = (weir_error)WEIR_ERROR_INIT;
    return weir_admin_add(d.engine,
                          WEIR_ADMIN(.name = name, .arguments = arguments, .help = "a probe",
                                     .handler = on_probe, .context = &p, .changes = true,
                                     .runs_in = in_turn ? d.book : (weir_processor){ 0 }),
                          &d.error);
}

static int set_up(void **state)
{
    (void)state;
    desk_open(&d);
    p = (probe){ .answer = WEIR_OK };
    (void)sem_init(&p.begun, 0, 0);
    (void)sem_init(&p.go, 0, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    desk_close(&d);
    return 0;
}

/* ---- names and arguments ---- */

static void the_longest_name_counts_and_the_rest_are_arguments(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, add("book", "[WORD...]", false));
    assert_int_equal(WEIR_OK, add("book reset", "SYMBOL", false));
    assert_int_equal(WEIR_OK, desk_run(&d, "book reset ACME"));
    assert_says("\"command\": \"book reset\"");
    assert_int_equal(1, p.arguments);
    assert_string_equal("ACME", p.first);
    assert_int_equal(WEIR_OK, desk_run(&d, "book resets ACME"));
    assert_says("\"command\": \"book\"");
    assert_int_equal(2, p.arguments);
    assert_int_equal(WEIR_OK, desk_run(&d, "book"));
    assert_string_equal("(none)", p.first);
    assert_ptr_equal(d.engine, p.engine);
    assert_false(p.in_turn);
}

static void a_wrong_number_of_arguments_is_refused_with_the_pattern(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, add("pair", "A [B]", false));
    assert_int_equal(WEIR_E_INVALID, desk_run(&d, "pair"));
    assert_says("'pair' takes at least 1 argument, not 0: pair A [B]");
    assert_int_equal(WEIR_E_INVALID, desk_run(&d, "pair 1 2 3"));
    assert_says("'pair' takes at most 2 arguments, not 3");
    assert_int_equal(WEIR_OK, desk_run(&d, "pair 1 2"));
    assert_int_equal(1, atomic_load(&p.calls));
}

static void a_choice_of_words_is_held_to(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, add("switch", "NAME [on|off]", false));
    assert_int_equal(WEIR_E_INVALID, desk_run(&d, "switch x o"));
    assert_says("'switch' takes one of on|off, not 'o'");
    assert_int_equal(WEIR_E_INVALID, desk_run(&d, "switch x on|off"));
    assert_int_equal(WEIR_OK, desk_run(&d, "switch anything off"));
    assert_int_equal(WEIR_OK, desk_run(&d, "switch x on"));
}

static void an_unknown_command_is_answered_with_the_nearest_names(void **state)
{
    (void)state;
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "theads"));
    assert_says("no command 'theads'; did you mean 'threads'?");
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "latency"));
    assert_says("'latency disable', 'latency enable', 'latency reset' or 'latency status'?");
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "procesors list"));
    assert_says("did you mean 'processors list'?");
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "qqqqqqqqqq"));
    assert_says("'commands' lists them all");
}

static void wrong_names_patterns_and_helps_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = { "",    " a",  "a ",     "a  b",    "A",
                                         "a.b", "a\n", "a/../b", "\xc3\xa4" };
    static const char *const patterns[] = { "[A", "A]", "[[A]]", "[A] B", "A... B" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(WEIR_E_INVALID, add(names[i], NULL, false));
        assert_string_equal("weir_admin_options.name", d.error.path);
    }
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        assert_int_equal(WEIR_E_INVALID, add("x", patterns[i], false));
        assert_string_equal("weir_admin_options.arguments", d.error.path);
    }
    char longest[128];
    memset(longest, 'a', 97);
    longest[97] = '\0';
    assert_int_equal(WEIR_E_INVALID, add(longest, NULL, false));
    longest[96] = '\0';
    assert_int_equal(WEIR_OK, add(longest, NULL, false));
    d.error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(
        WEIR_E_INVALID,
        weir_admin_add(d.engine, WEIR_ADMIN(.name = "x", .handler = on_probe), &d.error));
    assert_string_equal("weir_admin_options.help", d.error.path);
    assert_int_equal(WEIR_E_INVALID, /* sticky */
                     weir_admin_add(d.engine,
                                    WEIR_ADMIN(.name = "y", .handler = on_probe, .help = "h"),
                                    &d.error));
    assert_int_equal(WEIR_E_INVALID,
                     weir_admin_add(d.engine, WEIR_ADMIN(.name = "x", .help = "h"), NULL));
}

static void a_name_is_taken_until_it_is_removed(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, add("mine", NULL, false));
    assert_int_equal(WEIR_E_TAKEN, add("mine", NULL, false));
    assert_int_equal(WEIR_E_TAKEN, add("threads", NULL, false));
    assert_int_equal(WEIR_E_INVALID, weir_admin_remove(d.engine, "threads"));
    assert_int_equal(WEIR_OK, weir_admin_remove(d.engine, "mine"));
    assert_int_equal(WEIR_UNKNOWN, weir_admin_remove(d.engine, "mine"));
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "mine"));
    assert_int_equal(WEIR_OK, add("mine", NULL, false));
}

static void no_more_than_1024_commands_fit(void **state)
{
    (void)state;
    weir_status status = WEIR_OK;
    int added = 0;
    for (; status == WEIR_OK && added < 2000; added++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "n%d", added);
        status = add(name, NULL, false);
    }
    assert_int_equal(WEIR_E_LIMIT, status);
    assert_true(added > 900 && added <= 1025);
    assert_int_equal(WEIR_OK, desk_run(&d, "commands"));
    assert_int_equal(WEIR_OK, weir_admin_remove(d.engine, "n7"));
    assert_int_equal(WEIR_OK, add("again", NULL, false));
}

/* ---- words ---- */

static void words_beyond_the_bounds_are_refused(void **state)
{
    (void)state;
    const char *words[70];
    char *answer = NULL;
    for (size_t i = 0; i < 70; i++) {
        words[i] = "commands";
    }
    assert_int_equal(WEIR_E_LIMIT, weir_admin_run(d.engine, words, 65, true, 0, &answer));
    weir_admin_free(d.engine, answer);
    assert_int_equal(WEIR_E_INVALID, weir_admin_run(d.engine, words, 0, true, 0, &answer));
    weir_admin_free(d.engine, answer);
    words[1] = NULL;
    assert_int_equal(WEIR_E_LIMIT, weir_admin_run(d.engine, words, 2, true, 0, &answer));
    weir_admin_free(d.engine, answer);
    static char large[4098];
    memset(large, 'x', 4097);
    words[0] = large;
    assert_int_equal(WEIR_E_LIMIT, weir_admin_run(d.engine, words, 1, true, 0, &answer));
    weir_admin_free(d.engine, answer);
    large[4096] = '\0';
    assert_int_equal(WEIR_UNKNOWN, weir_admin_run(d.engine, words, 1, true, 0, &answer));
    weir_admin_free(d.engine, answer);
    words[0] = "";
    assert_int_equal(WEIR_UNKNOWN, weir_admin_run(d.engine, words, 1, true, 0, &answer));
    weir_admin_free(d.engine, answer);
    assert_int_equal(WEIR_E_INVALID, weir_admin_run(NULL, words, 1, true, 0, &answer));
    assert_null(answer);
    assert_int_equal(WEIR_E_INVALID, weir_admin_run(d.engine, words, 1, true, 0, NULL));
}

static void who_may_only_look_is_refused_a_change(void **state)
{
    (void)state;
    bool changes = false;
    assert_int_equal(WEIR_OK, add("mine", NULL, false));
    assert_int_equal(WEIR_E_INVALID, desk_run_as(&d, false, 0, "mine"));
    assert_says("may only look");
    assert_int_equal(0, atomic_load(&p.calls));
    assert_int_equal(WEIR_OK, desk_run_as(&d, false, 0, "log level"));
    assert_int_equal(WEIR_E_INVALID, desk_run_as(&d, false, 0, "log level debug"));
    assert_int_equal(WEIR_OK,
                     weir_admin_changes(d.engine, WEIR_NAMES("log", "level"), 2, &changes));
    assert_false(changes);
    assert_int_equal(
        WEIR_OK, weir_admin_changes(d.engine, WEIR_NAMES("log", "level", "debug"), 3, &changes));
    assert_true(changes);
    assert_int_equal(WEIR_UNKNOWN, weir_admin_changes(d.engine, WEIR_NAMES("x"), 1, &changes));
}

/* ---- answers ---- */

static weir_status on_fields(void *context, weir_admin_call *call)
{
    (void)context;
    weir_admin_text(call, "a\"b\\", "q\" \\ \n\t\r \x01 \x7f \xff \xe2\x82\xac \xed\xa0\x80");
    weir_admin_text(call, "none", NULL);
    weir_admin_number(call, "least", INT64_MIN);
    weir_admin_unsigned(call, "most", UINT64_MAX);
    weir_admin_real(call, "half", 0.5);
    weir_admin_real(call, "nan", (double)NAN);
    weir_admin_real(call, "infinite", (double)-INFINITY);
    weir_admin_bool(call, "yes", true);
    weir_admin_row(call);
    weir_admin_row(call);
    weir_admin_bool(call, "second", false);
    weir_admin_text(call, NULL, "no key");
    return weir_admin_fail(call, WEIR_E_USER - 3, "%s \"%d\"", "it is", 7);
}

static void whatever_a_handler_says_becomes_json(void **state)
{
    (void)state;
    (void)weir_admin_add(d.engine, WEIR_ADMIN(.name = "fields", .help = "h", .handler = on_fields),
                         &d.error);
    assert_int_equal(WEIR_E_USER - 3, desk_run(&d, "fields"));
    assert_says("\"a\\\"b\\\\\": \"q\\\" \\\\ \\n\\t\\r \\u0001 \\u007f \xef\xbf\xbd \xe2\x82\xac "
                "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    assert_says("\"none\": null, \"least\": -9223372036854775808, \"most\": 18446744073709551615, "
                "\"half\": 0.5, \"nan\": null, \"infinite\": null, \"yes\": true}, "
                "{\"second\": false}]");
    assert_says("\"error\": \"it is \\\"7\\\"\"");
}

static weir_status on_endless(void *context, weir_admin_call *call)
{
    uint32_t *rows = context;
    static char text[1001];
    memset(text, '"', 1000);
    for (*rows = 0; *rows < 40000; (*rows)++) {
        weir_admin_row(call);
        weir_admin_unsigned(call, "n", *rows);
        weir_admin_text(call, "t", text);
    }
    return WEIR_OK;
}

static void an_answer_that_is_too_long_is_cut_and_says_so(void **state)
{
    (void)state;
    uint32_t rows;
    char *answer = NULL;
    (void)weir_admin_add(
        d.engine,
        WEIR_ADMIN(.name = "endless", .help = "h", .handler = on_endless, .context = &rows),
        &d.error);
    assert_int_equal(WEIR_OK, weir_admin_run(d.engine, WEIR_NAMES("endless"), 1, true, 0, &answer));
    const size_t length = strlen(answer);
    assert_true(length > ((size_t)15 << 20) && length < ((size_t)17 << 20));
    assert_string_equal("}], \"cut\": true}", answer + length - 16);
    weir_admin_free(d.engine, answer);
}

/* ---- turns ---- */

static void a_command_of_a_processor_runs_in_its_turn_after_what_came_before(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, add("book reset", "SYMBOL", true));
    assert_int_equal(WEIR_OK, desk_run(&d, "book reset ACME"));
    assert_says("{\"probe\": \"done\"}");
    assert_true(p.in_turn);
    assert_string_equal("ACME", p.first);
    weir_counters c = WEIR_COUNTERS_INIT;
    TEST_UNTIL(weir_processor_counters(d.engine, d.book, &c) == WEIR_OK && c.depth == 0);
    assert_int_equal(1, c.handled);
}

static void a_call_that_its_processor_does_not_come_to_is_given_up_and_never_runs(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, add("book reset", "SYMBOL", true));
    desk_hold(&d);
    assert_int_equal(WEIR_TIMEOUT, desk_run_as(&d, true, WEIR_MS, "book reset ACME"));
    assert_says("it was not run");
    assert_int_equal(WEIR_OK,
                     weir_engine_post(d.engine, d.book, &(const weir_event){ .type = &desk_fail }));
    (void)sem_post(&d.go);
    weir_counters c = WEIR_COUNTERS_INIT;
    TEST_UNTIL(weir_processor_counters(d.engine, d.book, &c) == WEIR_OK && c.depth == 0);
    assert_int_equal(0, atomic_load(&p.calls));
    assert_int_equal(WEIR_OK, weir_admin_remove(d.engine, "book reset"));
}

static void a_call_that_runs_too_long_is_left_to_itself(void **state)
{
    (void)state;
    p.waits = true;
    assert_int_equal(WEIR_OK, add("book reset", "SYMBOL", true));
    assert_int_equal(WEIR_TIMEOUT, desk_run_as(&d, true, 50 * WEIR_MS, "book reset ACME"));
    assert_true(test_sem_taken(&p.begun));
    assert_says("\"rows\": [], \"error\": \"the time was over while it ran");
    (void)sem_post(&p.go);
    assert_int_equal(WEIR_OK, weir_admin_remove(d.engine, "book reset")); /* waits for it */
    assert_int_equal(1, atomic_load(&p.calls));
    assert_string_equal("ACME", p.first);
}

static void a_command_goes_with_its_processor(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, add("book reset", "SYMBOL", true));
    assert_int_equal(WEIR_OK, weir_processor_stop(d.engine, d.book, 0, NULL));
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "book reset ACME"));
    assert_int_equal(WEIR_OK, desk_run(&d, "commands"));
    assert_says_not("book reset");
    assert_int_equal(WEIR_E_INVALID, add("other", NULL, true));
    assert_string_equal("weir_admin_options.runs_in", d.error.path);
    assert_int_equal(WEIR_OK, add("book reset", "SYMBOL", false)); /* the name is free */
}

typedef struct asking {
    pthread_t thread;
    weir_status status;
    char *answer;
} asking;

static void *ask(void *argument)
{
    asking *a = argument;
    a->status = weir_admin_run(d.engine, WEIR_NAMES("book", "reset", "X"), 3, true, 60 * WEIR_S,
                               &a->answer);
    return NULL;
}

static void a_call_that_its_processor_leaves_behind_is_told(void **state)
{
    (void)state;
    asking a = { .status = WEIR_OK };
    assert_int_equal(WEIR_OK, add("book reset", "SYMBOL", true));
    desk_hold(&d);
    assert_int_equal(0, pthread_create(&a.thread, NULL, ask, &a));
    weir_counters c = WEIR_COUNTERS_INIT;
    TEST_UNTIL(weir_processor_counters(d.engine, d.book, &c) == WEIR_OK && c.depth == 2);
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(d.engine, d.book, WEIR_MS, NULL));
    (void)sem_post(&d.go);
    (void)pthread_join(a.thread, NULL);
    assert_int_equal(WEIR_STOPPING, a.status);
    assert_non_null(strstr(a.answer, "it was not run"));
    weir_admin_free(d.engine, a.answer);
    assert_int_equal(0, atomic_load(&p.calls));
}

/* ---- removal ---- */

static void *remove_mine(void *argument)
{
    *(weir_status *)argument = weir_admin_remove(d.engine, "mine");
    (void)sem_post(&p.begun);
    return NULL;
}

static void *run_mine(void *argument)
{
    char *answer = NULL;
    *(weir_status *)argument = weir_admin_run(d.engine, WEIR_NAMES("mine"), 1, true, 0, &answer);
    weir_admin_free(d.engine, answer);
    return NULL;
}

static void a_removal_waits_for_the_call_under_way(void **state)
{
    (void)state;
    pthread_t runner, remover;
    weir_status ran = WEIR_E_USER, removed = WEIR_E_USER;
    p.waits = true;
    assert_int_equal(WEIR_OK, add("mine", NULL, false));
    assert_int_equal(0, pthread_create(&runner, NULL, run_mine, &ran));
    assert_true(test_sem_taken(&p.begun));
    assert_int_equal(0, pthread_create(&remover, NULL, remove_mine, &removed));
    TEST_UNTIL(desk_run(&d, "help mine") == WEIR_UNKNOWN); /* out of the table, and still there */
    assert_int_equal(-1, sem_trywait(&p.begun));
    (void)sem_post(&p.go);
    (void)pthread_join(runner, NULL);
    (void)pthread_join(remover, NULL);
    assert_int_equal(WEIR_OK, ran);
    assert_int_equal(WEIR_OK, removed);
}

static weir_status on_remove_itself(void *context, weir_admin_call *call)
{
    *(weir_status *)context = weir_admin_remove(weir_admin_engine(call), "suicide");
    return WEIR_OK;
}

static void a_handler_that_removes_itself_is_told_that_it_would_block(void **state)
{
    (void)state;
    weir_status here = WEIR_OK, there = WEIR_OK;
    (void)weir_admin_add(
        d.engine,
        WEIR_ADMIN(.name = "suicide", .help = "h", .handler = on_remove_itself, .context = &here),
        &d.error);
    assert_int_equal(WEIR_OK, desk_run(&d, "suicide"));
    assert_int_equal(WEIR_E_BLOCKING, here);
    assert_int_equal(WEIR_OK, weir_admin_remove(d.engine, "suicide"));
    (void)weir_admin_add(d.engine,
                         WEIR_ADMIN(.name = "suicide", .help = "h", .handler = on_remove_itself,
                                    .context = &there, .runs_in = d.book),
                         &d.error);
    assert_int_equal(WEIR_OK, desk_run(&d, "suicide"));
    assert_int_equal(WEIR_E_BLOCKING, there);
}

static weir_status on_run_inside(void *context, weir_admin_call *call)
{
    char *answer = NULL;
    *(weir_status *)context =
        weir_admin_run(weir_admin_engine(call), WEIR_NAMES("threads"), 1, true, 0, &answer);
    weir_admin_free(weir_admin_engine(call), answer);
    return WEIR_OK;
}

static void a_run_inside_a_turn_is_told_that_it_would_block(void **state)
{
    (void)state;
    weir_status inside = WEIR_OK;
    (void)weir_admin_add(d.engine,
                         WEIR_ADMIN(.name = "inside", .help = "h", .handler = on_run_inside,
                                    .context = &inside, .runs_in = d.book),
                         &d.error);
    assert_int_equal(WEIR_OK, desk_run(&d, "inside"));
    assert_int_equal(WEIR_E_BLOCKING, inside);
}

/* ---- memory ---- */

static void without_memory_nothing_is_lost_and_the_status_says_it(void **state)
{
    (void)state;
    bool refused = true;
    assert_int_equal(WEIR_OK, desk_run(&d, "threads"));
    for (long nth = 0; refused && nth < 200; nth++) {
        test_fault_arm(&d.fault, nth, true);
        const weir_status added = add("book reset", "SYMBOL", true);
        const weir_status ran = added == WEIR_OK ? desk_run(&d, "book reset X") : WEIR_OK;
        refused = test_fault_disarm(&d.fault) > 0;
        assert_true(added == WEIR_OK || added == WEIR_E_NOMEM);
        assert_true(ran == WEIR_OK || ran == WEIR_E_NOMEM);
        assert_true(!refused || added == WEIR_E_NOMEM || ran == WEIR_E_NOMEM || p.calls > 0);
        (void)weir_admin_remove(d.engine, "book reset");
    }
    assert_false(refused);
    assert_int_equal(WEIR_OK, add("book reset", "SYMBOL", true));
    assert_int_equal(WEIR_OK, desk_run(&d, "book reset X"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_longest_name_counts_and_the_rest_are_arguments),
        TEST(a_wrong_number_of_arguments_is_refused_with_the_pattern),
        TEST(a_choice_of_words_is_held_to),
        TEST(an_unknown_command_is_answered_with_the_nearest_names),
        TEST(wrong_names_patterns_and_helps_are_refused),
        TEST(a_name_is_taken_until_it_is_removed),
        TEST(no_more_than_1024_commands_fit),
        TEST(words_beyond_the_bounds_are_refused),
        TEST(who_may_only_look_is_refused_a_change),
        TEST(whatever_a_handler_says_becomes_json),
        TEST(an_answer_that_is_too_long_is_cut_and_says_so),
        TEST(a_command_of_a_processor_runs_in_its_turn_after_what_came_before),
        TEST(a_call_that_its_processor_does_not_come_to_is_given_up_and_never_runs),
        TEST(a_call_that_runs_too_long_is_left_to_itself),
        TEST(a_command_goes_with_its_processor),
        TEST(a_call_that_its_processor_leaves_behind_is_told),
        TEST(a_removal_waits_for_the_call_under_way),
        TEST(a_handler_that_removes_itself_is_told_that_it_would_block),
        TEST(a_run_inside_a_turn_is_told_that_it_would_block),
        TEST(without_memory_nothing_is_lost_and_the_status_says_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
