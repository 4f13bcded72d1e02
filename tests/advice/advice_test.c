/*
 * advice/advice_test.c - two looks that do not fit each other, documents that were made to hurt,
 * and the order of what is found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "advice_support.h"

#include <math.h>

#define BUSY_API                                                                                   \
    "'dispatchers': [{'dispatcher': 'api', 'threads': 2, 'try_locks': 10000, "                     \
    "'try_locks_failed': 6000}]"

static void add(char *text, size_t size, const char *more)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

static void nothing_is_said_of_what_is_no_look(void **state)
{
    (void)state;
    weir__advice_make(NULL, NULL, &advice_found);
    assert_int_equal(0, advice_found.count);
    static const char *const documents[] = {
        "{}",
        "[]",
        "[1, 2]",
        "{'engine': 7, 'process': [], 'threads': {}, 'dispatchers': 'x'}",
        "{'dispatchers': [null, 1, 'x', [], {}, {'dispatcher': 7}]}",
        "{'engine': {'uptime_ns': 'long'}, 'processors': [{'processor': 'p'}]}",
        "{'routers': [{'router': 'r', 'worker': 9}], 'feeds': [{'feed': 'f'}]}",
        "{'routers': [{'router': 'r', 'worker': [1, null, {}]}], 'health': {'reasons': [3, {}]}}",
    };
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        for (size_t j = 0; j < sizeof(documents) / sizeof(documents[0]); j++) {
            advice_look(documents[i], documents[j]);
            assert_int_equal(0, advice_found.count);
        }
    }
}

static void one_look_is_since_the_start(void **state)
{
    (void)state;
    advice_look(NULL,
                "{'engine': {'uptime_ns': 2e9}, 'process': {'cores_usable': 2}, " BUSY_API "}");
    advice_expect(WEIR__RULE_CONTENTION, WEIR__SEVERITY_ALERT);
    assert_true(fabs(advice_found.seconds - 2) < 1e-9);
    assert_false(advice_found.restarted);
}

static void a_restart_between_the_looks_is_told_and_its_counters_count_from_zero(void **state)
{
    (void)state;
    advice_look("{'engine': {'uptime_ns': 9e9}, 'dispatchers': [{'dispatcher': 'api', 'try_locks': "
                "9000, 'try_locks_failed': 0}]}",
                "{'engine': {'uptime_ns': 1e9}, " BUSY_API "}");
    assert_true(advice_found.restarted);
    assert_true(fabs(advice_found.seconds - 1) < 1e-9);
    advice_expect(WEIR__RULE_CONTENTION, WEIR__SEVERITY_ALERT);
    advice_look("{'engine': {'name': 'one', 'uptime_ns': 1e9}}",
                "{'engine': {'name': 'other', 'uptime_ns': 2e9}}");
    assert_true(advice_found.restarted);
}

static void a_counter_that_fell_began_anew(void **state)
{
    (void)state;
    /* The processor was taken out and added again: 5 of 50 dropped, not minus something. */
    advice_look_rest("'processors': [{'processor': 'p', 'accepted': 9000, 'dropped': 4000}]",
                     "'processors': [{'processor': 'p', 'accepted': 50, 'dropped': 5}]");
    advice_expect(WEIR__RULE_DROPS, WEIR__SEVERITY_ALERT);
    assert_true(fabs(advice_of(WEIR__RULE_DROPS)->value - 0.1) < 1e-9);
}

static void things_are_found_again_by_name_not_by_place(void **state)
{
    (void)state;
    advice_look_rest("'processors': [{'processor': 'a', 'dropped': 0, 'accepted': 10}, "
                     "{'processor': 'b', 'dropped': 90, 'accepted': 100}]",
                     "'processors': [{'processor': 'b', 'dropped': 90, 'accepted': 200}, "
                     "{'processor': 'a', 'dropped': 0, 'accepted': 20}]");
    advice_expect(WEIR__RULE_DROPS, WEIR__SEVERITY_NONE);
}

static void no_time_between_the_looks_makes_no_rates(void **state)
{
    (void)state;
    static const char same[] = "{'engine': {'uptime_ns': 1e9}, 'process': {'throttled_ns': 5, "
                               "'cores_usable': 1}, 'threads': [{'thread': 'a', 'parks': 9e9, "
                               "'idle': 'noop'}, {'thread': 'b', 'idle': 'noop'}], "
                               "'processors': [{'processor': 'p', 'depth': 1000, 'mailbox_max': "
                               "1000}], " BUSY_API "}";
    advice_look(same, same);
    assert_true(advice_found.seconds <= 0);
    advice_expect(WEIR__RULE_MAILBOX, WEIR__SEVERITY_ALERT); /* needs no time */
    assert_int_equal(1, advice_found.count);
}

static void numbers_without_measure_are_borne(void **state)
{
    (void)state;
    static const char *const numbers[] = { "-1",     "1e308", "-1e308", "0", "9223372036854775807",
                                           "1e-308", "'7'",   "null" };
    char text[4096];
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        for (size_t j = 0; j < sizeof(numbers) / sizeof(numbers[0]); j++) {
            const char *a = numbers[i], *b = numbers[j];
            snprintf(text, sizeof(text),
                     "{'engine': {'x': %s, 'uptime_ns': %s, 'letters': %s, 'accepted': %s, "
                     "'refused_full': %s}, 'process': {'cores_usable': %s, 'throttled_ns': %s, "
                     "'cpu_ns': %s},"
                     "'threads': [{'thread': 'a', 'dispatchers': 'd', 'idle': 'noop', 'busy_ns': "
                     "%s, 'cpu_ns': %s, 'parks': %s, 'handled': %s}], 'dispatchers': "
                     "[{'dispatcher': 'd', 'threads': %s, 'depth': %s, 'try_locks': %s, "
                     "'try_locks_failed': %s, 'rounds': %s, 'backoffs': %s, 'signals': %s, "
                     "'wakeups': %s, 'queueing': {'count': 1e9, 'p50_ns': %s, 'p99_ns': %s}}], "
                     "'processors': [{'processor': 'p', 'depth': %s, 'mailbox_max': %s}], "
                     "'feeds': [{'feed': 'f', 'waited_ns': %s, 'dropped': %s, 'delivered': %s}], "
                     "'routers': [{'router': 'r', 'worker': [{'busy_ns': %s, 'depth': %s}, "
                     "{'busy_ns': %s, 'depth': %s}]}]}",
                     a, "1e9", a, b, a, b, a, b, a, b, a, b, a, b, a, b, a, b, a, b, a, b, a, b, a,
                     b, a, b, a, b, a);
            advice_look("{'engine': {'uptime_ns': 0}}", text);
            for (size_t k = 0; k < advice_found.count; k++) {
                const weir__finding *f = &advice_found.items[k];
                if (!(f->value >= 0) || strstr(f->text, "nan") != NULL ||
                    strstr(f->text, "inf") != NULL || strstr(f->text, " -") != NULL) {
                    fprintf(stderr, "# %s: %f: %s\n", f->rule, f->value, f->text);
                    fail();
                }
            }
            json_t *json = weir__advice_json(&advice_found);
            assert_non_null(json);
            char *printed = json_dumps(json, 0);
            assert_non_null(printed);
            free(printed);
            json_decref(json);
        }
    }
}

static void names_that_were_made_to_hurt_are_cut_and_cleaned(void **state)
{
    (void)state;
    char after[2048] = "'processors': [{'processor': '\\u001b[2J\\u009b1m";
    for (int i = 0; i < 200; i++) {
        add(after, sizeof(after), "\xc3\xa9"); /* two bytes: a cut must not leave half of it */
    }
    add(after, sizeof(after),
        "', 'depth': 10, 'mailbox_max': 10}, {'processor': '', 'depth': 10, "
        "'mailbox_max': 10}, {'processor': '%s%n', 'depth': 10, 'mailbox_max': 10}]");
    advice_look_rest("", after);
    assert_int_equal(3, advice_found.count);
    for (size_t i = 0; i < advice_found.count; i++) {
        const weir__finding *f = &advice_found.items[i];
        assert_null(strchr(f->what, 0x1b));
        assert_null(strstr(f->what, "\xc2\x9b"));
        assert_null(strchr(f->remedy, 0x1b));
        json_t *text = json_string(f->what); /* NULL: no UTF-8 */
        assert_non_null(text);
        json_decref(text);
        text = json_string(f->remedy);
        assert_non_null(text);
        json_decref(text);
    }
}

static void the_worst_comes_first_and_many_of_a_kind_are_summed_up(void **state)
{
    (void)state;
    char after[4096] = BUSY_API ", 'processors': [";
    for (int i = 0; i < 20; i++) {
        snprintf(after + strlen(after), 200,
                 "%s{'processor': 'p%d', 'depth': %d, 'mailbox_max': 1000}", i > 0 ? "," : "", i,
                 i % 2 == 0 ? 992 + i / 4 : 950);
    }
    add(after, sizeof(after), "]");
    advice_look_rest("", after);
    assert_int_equal(WEIR__FINDINGS_A_RULE + 1, advice_found.count);
    for (size_t i = 1; i < advice_found.count; i++) {
        assert_true(advice_found.items[i - 1].severity >= advice_found.items[i].severity);
    }
    /* The four fullest of the ten that are full; sixteen more were there. */
    unsigned more = 0;
    for (size_t i = 0; i < advice_found.count; i++) {
        const weir__finding *f = &advice_found.items[i];
        more += f->more;
        if (f->id == WEIR__RULE_MAILBOX) {
            assert_true(f->value >= 0.995);
        }
    }
    assert_int_equal(16, more);
}

static void findings_as_json_have_every_field(void **state)
{
    (void)state;
    advice_look_rest("", "'processors': [{'processor': 'p', 'depth': 950, 'mailbox_max': 1000}]");
    json_t *json = weir__advice_json(&advice_found);
    const json_t *f = json_array_get(json_object_get(json, "findings"), 0);
    assert_string_equal("mailbox", json_string_value(json_object_get(f, "rule")));
    assert_string_equal("warning", json_string_value(json_object_get(f, "severity")));
    assert_string_equal("processor p", json_string_value(json_object_get(f, "what")));
    assert_true(fabs(json_real_value(json_object_get(f, "value")) - 0.95) < 1e-9);
    assert_non_null(json_string_value(json_object_get(f, "text")));
    assert_non_null(strstr(json_string_value(json_object_get(f, "remedy")), "mailbox-max"));
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_said_of_what_is_no_look),
        cmocka_unit_test(one_look_is_since_the_start),
        cmocka_unit_test(a_restart_between_the_looks_is_told_and_its_counters_count_from_zero),
        cmocka_unit_test(a_counter_that_fell_began_anew),
        cmocka_unit_test(things_are_found_again_by_name_not_by_place),
        cmocka_unit_test(no_time_between_the_looks_makes_no_rates),
        cmocka_unit_test(numbers_without_measure_are_borne),
        cmocka_unit_test(names_that_were_made_to_hurt_are_cut_and_cleaned),
        cmocka_unit_test(the_worst_comes_first_and_many_of_a_kind_are_summed_up),
        cmocka_unit_test(findings_as_json_have_every_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
