/*
 * history_test.c - the history checker is told histories that break a promise, and says which.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "history.h"

#include <string.h>

#include "../test_support.h"

enum { A = 0, B = 1, OUT = HISTORY_OUTSIDE + 1, OTHER = HISTORY_OUTSIDE + 2 };

/* Two processors with mailboxes of two places, on a started engine. */
static void begin(void)
{
    const history_rules rules = { .mailbox_max = 2,
                                  .overflow = WEIR_OVERFLOW_FAIL,
                                  .parent = HISTORY_NO_PARENT };
    history_reset(false, false);
    assert_int_equal(A, history_processor(&rules));
    assert_int_equal(B, history_processor(&rules));
    history_starts();
}

static uint32_t processor(weir_overflow overflow, uint32_t parent, bool hooks)
{
    return history_processor(&(history_rules){ .mailbox_max = 1,
                                               .overflow = overflow,
                                               .parent = parent,
                                               .has_init = hooks,
                                               .has_destroy = hooks });
}

static void well(history_verdict verdict)
{
    if (verdict != NULL) {
        print_error("not well: %s\n", verdict);
    }
    assert_null(verdict);
}

static void breaks(const char *promise, history_verdict verdict)
{
    assert_non_null(verdict);
    if (strncmp(verdict, promise, strlen(promise)) != 0) {
        print_error("expected %s, got: %s\n", promise, verdict);
    }
    assert_int_equal(0, strncmp(verdict, promise, strlen(promise)));
}

/* A whole send with that answer. */
static uint32_t sent(uint32_t sender, uint32_t to, weir_status status)
{
    const uint32_t number = history_send_begins(sender, to, HISTORY_POST);
    well(history_send_ends(number, status));
    return number;
}

static void handled(uint32_t who, uint32_t send)
{
    well(history_handler_begins(who, send));
    well(history_handler_ends(who, send, WEIR_OK));
}

static weir_stop_report report_of(uint64_t accepted, uint64_t done, uint64_t left)
{
    return (weir_stop_report){ .accepted = accepted, .handled = done, .left = left };
}

static void stopped(uint32_t scope, weir_stop_report report)
{
    well(history_stop_ends(history_stop_begins(scope, true), WEIR_OK, &report));
}

static weir_counters counters_of(uint64_t accepted, uint64_t done)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    c.accepted = accepted;
    c.handled = done;
    return c;
}

static void a_history_that_keeps_every_promise_is_well(void **state)
{
    (void)state;
    begin();
    handled(A, sent(OUT, A, WEIR_OK));
    const uint32_t late = history_send_begins(OUT, B, HISTORY_POST);
    well(history_handler_begins(B, late)); /* before its sender knows */
    well(history_send_ends(late, WEIR_OK));
    assert_int_equal(1, history_pending());
    well(history_handler_ends(B, late, WEIR_OK));
    assert_int_equal(0, history_pending());
    stopped(HISTORY_ENGINE, report_of(2, 2, 0));
    (void)sent(OUT, A, WEIR_STOPPING);
    weir_counters c = counters_of(2, 2);
    c.refused_stopping = 1;
    well(history_ends(&c));
}

static void p1_two_turns_of_one_processor_do_not_overlap(void **state)
{
    (void)state;
    begin();
    const uint32_t first = sent(OUT, A, WEIR_OK);
    const uint32_t second = sent(OUT, A, WEIR_OK);
    well(history_handler_begins(A, first));
    breaks("P-1", history_handler_begins(A, second));
}

static void p1_a_hook_is_a_turn_too(void **state)
{
    (void)state;
    begin();
    const uint32_t c = processor(WEIR_OVERFLOW_FAIL, HISTORY_NO_PARENT, true);
    const uint32_t send = sent(OUT, c, WEIR_OK);
    well(history_init_begins(c));
    breaks("P-1", history_handler_begins(c, send));
}

static void p1_what_ends_has_begun(void **state)
{
    (void)state;
    begin();
    breaks("P-1", history_handler_ends(A, sent(OUT, A, WEIR_OK), WEIR_OK));
}

static void p2_a_senders_events_arrive_in_order(void **state)
{
    (void)state;
    begin();
    const uint32_t first = sent(OUT, A, WEIR_OK);
    const uint32_t second = sent(OUT, A, WEIR_OK);
    handled(A, second);
    breaks("P-2", history_handler_begins(A, first));
}

static void p2_says_nothing_of_two_senders(void **state)
{
    (void)state;
    begin();
    const uint32_t first = sent(OUT, A, WEIR_OK);
    const uint32_t second = sent(OTHER, A, WEIR_OK);
    handled(A, second);
    handled(A, first);
}

static void p3_nothing_is_handled_twice(void **state)
{
    (void)state;
    begin();
    const uint32_t send = sent(OUT, A, WEIR_OK);
    handled(A, send);
    breaks("P-3", history_handler_begins(A, send));
}

static void p3_an_event_arrives_where_it_was_sent(void **state)
{
    (void)state;
    begin();
    breaks("P-3", history_handler_begins(B, sent(OUT, A, WEIR_OK)));
}

static void p3_what_was_refused_is_not_handled(void **state)
{
    (void)state;
    begin();
    (void)sent(OUT, A, WEIR_OK);
    (void)sent(OUT, A, WEIR_OK);
    breaks("P-3", history_handler_begins(A, sent(OUT, A, WEIR_FULL)));
    begin();
    (void)history_stop_begins(A, true);
    const uint32_t under_way = history_send_begins(OUT, A, HISTORY_POST);
    well(history_handler_begins(A, under_way));
    breaks("P-3", history_send_ends(under_way, WEIR_STOPPING));
}

static void p3_nobody_handles_what_nobody_sent(void **state)
{
    (void)state;
    begin();
    breaks("P-3", history_handler_begins(A, 7));
}

static void p3_the_engine_counts_what_senders_and_handlers_saw(void **state)
{
    (void)state;
    const weir_counters wrong[] = { counters_of(2, 2), counters_of(0, 0) };
    for (size_t i = 0; i < 2; i++) {
        begin();
        handled(A, sent(OUT, A, WEIR_OK));
        stopped(HISTORY_ENGINE, report_of(1, 1, 0));
        breaks("P-3", history_ends(&wrong[i]));
    }
    begin();
    handled(A, sent(OUT, A, WEIR_OK));
    stopped(HISTORY_ENGINE, report_of(1, 1, 0));
    weir_counters c = counters_of(1, 1);
    c.refused_full = 1;
    breaks("P-3", history_ends(&c));
    begin();
    handled(A, sent(OUT, A, WEIR_OK));
    stopped(HISTORY_ENGINE, report_of(1, 1, 0));
    c = counters_of(1, 0);
    c.dead = 1;
    breaks("P-3", history_ends(&c));
}

static void p3_a_report_adds_up_and_is_true(void **state)
{
    (void)state;
    begin();
    weir_stop_report report = report_of(1, 0, 0);
    breaks("P-3", history_stop_ends(history_stop_begins(HISTORY_ENGINE, true), WEIR_OK, &report));
    begin();
    handled(A, sent(OUT, A, WEIR_OK));
    stopped(A, report_of(2, 2, 0));
    stopped(HISTORY_ENGINE, report_of(1, 1, 0));
    const weir_counters c = counters_of(1, 1);
    breaks("P-3", history_ends(&c));
}

static void p3_nothing_is_left_unless_time_ran_out(void **state)
{
    (void)state;
    begin();
    handled(A, sent(OUT, A, WEIR_OK));
    const uint32_t stop = history_stop_begins(HISTORY_ENGINE, true);
    const uint32_t under_way = history_send_begins(A, B, HISTORY_POST);
    weir_stop_report report = report_of(2, 1, 1);
    well(history_stop_ends(stop, WEIR_OK, &report));
    well(history_send_ends(under_way, WEIR_OK));
    weir_counters c = counters_of(2, 1);
    c.left = 1;
    breaks("P-3", history_ends(&c));
}

static void p3_what_a_single_stop_left_the_engines_stop_tells_too(void **state)
{
    (void)state;
    for (uint64_t told = 0; told < 2; told++) {
        begin();
        const uint32_t late = sent(OUT, A, WEIR_OK);
        well(history_handler_begins(A, late));
        weir_stop_report report = report_of(1, 0, 1);
        well(history_stop_ends(history_stop_begins(A, true), WEIR_TIMEOUT, &report));
        well(history_handler_ends(A, late, WEIR_OK));
        stopped(HISTORY_ENGINE, report_of(1, 1 - told, told));
        weir_counters c = counters_of(1, 1 - told);
        c.left = told;
        if (told == 1) {
            well(history_ends(&c));
        } else {
            breaks("P-3", history_ends(&c));
        }
    }
}

static void p5_no_more_wait_than_the_bound_and_one_on_its_way(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 3; i++) {
        (void)sent(OUT, A, WEIR_OK);
    }
    const uint32_t more = history_send_begins(OUT, A, HISTORY_POST);
    breaks("P-5", history_send_ends(more, WEIR_OK));
}

static void p5_holds_where_the_oldest_are_dropped(void **state)
{
    (void)state;
    begin();
    uint32_t send[4];
    const uint32_t c = processor(WEIR_OVERFLOW_DROP_OLDEST, HISTORY_NO_PARENT, false);
    for (int i = 0; i < 4; i++) {
        send[i] = sent(OUT, c, WEIR_OK);
    }
    for (int i = 0; i < 4; i++) {
        handled(c, send[i]);
    }
    stopped(HISTORY_ENGINE, report_of(4, 4, 0));
    const weir_counters counters = counters_of(4, 4);
    breaks("P-5", history_ends(&counters));
}

static void p6_every_refusal_has_a_reason(void **state)
{
    (void)state;
    static const weir_status unfounded[] = { WEIR_FULL,    WEIR_DROPPED, WEIR_STOPPING,
                                             WEIR_UNKNOWN, WEIR_E_NOMEM, WEIR_E_INVALID,
                                             WEIR_TIMEOUT };
    for (size_t i = 0; i < sizeof(unfounded) / sizeof(unfounded[0]); i++) {
        begin();
        const uint32_t send = history_send_begins(OUT, A, HISTORY_POST);
        breaks("P-6", history_send_ends(send, unfounded[i]));
    }
}

static void p6_a_mailbox_answers_as_its_policy_says(void **state)
{
    (void)state;
    begin();
    const uint32_t newest = processor(WEIR_OVERFLOW_DROP_NEWEST, HISTORY_NO_PARENT, false);
    (void)sent(OUT, newest, WEIR_OK);
    (void)sent(OUT, newest, WEIR_DROPPED);
    breaks("P-6", history_send_ends(history_send_begins(OUT, newest, HISTORY_POST), WEIR_FULL));
}

static void p6_a_stop_answers_as_documented(void **state)
{
    (void)state;
    begin();
    breaks("P-6", history_stop_ends(history_stop_begins(HISTORY_ENGINE, true), WEIR_FULL, NULL));
    begin();
    breaks("P-6", history_stop_ends(history_stop_begins(A, true), WEIR_UNKNOWN, NULL));
    begin();
    breaks("P-6", history_stop_ends(history_stop_begins(A, true), WEIR_E_NOMEM, NULL));
}

static void p7_what_is_gone_accepts_nothing(void **state)
{
    (void)state;
    begin();
    stopped(A, report_of(0, 0, 0));
    breaks("P-7", history_send_ends(history_send_begins(OUT, A, HISTORY_POST), WEIR_OK));
}

static void p8_a_stop_that_is_over_has_drained(void **state)
{
    (void)state;
    begin();
    (void)sent(OUT, A, WEIR_OK);
    weir_stop_report report = report_of(1, 1, 0);
    breaks("P-8", history_stop_ends(history_stop_begins(HISTORY_ENGINE, true), WEIR_OK, &report));
    begin();
    const uint32_t send = sent(OUT, A, WEIR_OK);
    well(history_handler_begins(A, send));
    breaks("P-8", history_stop_ends(history_stop_begins(A, true), WEIR_OK, &report));
}

static void p8_nothing_is_accepted_and_nothing_handled_after_a_stop(void **state)
{
    (void)state;
    begin();
    stopped(HISTORY_ENGINE, report_of(0, 0, 0));
    breaks("P-8", history_send_ends(history_send_begins(A, B, HISTORY_POST), WEIR_OK));
    begin();
    const uint32_t under_way = history_send_begins(OUT, A, HISTORY_POST);
    stopped(HISTORY_ENGINE, report_of(0, 0, 0));
    breaks("P-8", history_handler_begins(A, under_way));
}

static void p8_after_a_timeout_one_handler_may_be_late_and_no_more(void **state)
{
    (void)state;
    begin();
    const uint32_t first = sent(OUT, A, WEIR_OK);
    const uint32_t second = sent(OUT, A, WEIR_OK);
    const weir_stop_report report = report_of(2, 0, 2);
    well(history_stop_ends(history_stop_begins(HISTORY_ENGINE, true), WEIR_TIMEOUT, &report));
    handled(A, first); /* it was under way, and had not come to its first line */
    breaks("P-8", history_handler_begins(A, second));
}

static void p8_once_an_outsider_was_refused_all_are(void **state)
{
    (void)state;
    begin();
    (void)history_stop_begins(HISTORY_ENGINE, true);
    (void)sent(OUT, A, WEIR_OK); /* the stop has not come that far */
    (void)sent(OUT, A, WEIR_STOPPING);
    (void)sent(A, B, WEIR_OK); /* a handler's */
    breaks("P-8", history_send_ends(history_send_begins(OTHER, B, HISTORY_POST), WEIR_OK));
}

static void p8_an_asynchronous_stop_refuses_outsiders_from_the_call_on(void **state)
{
    (void)state;
    begin();
    well(history_stop_ends(history_stop_begins(HISTORY_ENGINE, false), WEIR_OK, NULL));
    breaks("P-8", history_send_ends(history_send_begins(OUT, A, HISTORY_POST), WEIR_OK));
}

static void p8_all_stops_have_one_report(void **state)
{
    (void)state;
    begin();
    const uint32_t first = history_stop_begins(HISTORY_ENGINE, true);
    const uint32_t second = history_stop_begins(HISTORY_ENGINE, true);
    const weir_stop_report one = report_of(0, 0, 0);
    const weir_stop_report two = report_of(1, 1, 0);
    well(history_stop_ends(first, WEIR_OK, &one));
    well(history_stop_ends(second, WEIR_ALREADY, &two));
    const weir_counters c = counters_of(0, 0);
    assert_non_null(history_ends(&c));
}

static void p8_hooks_frame_the_life_of_a_processor(void **state)
{
    (void)state;
    begin();
    const uint32_t c = processor(WEIR_OVERFLOW_FAIL, HISTORY_NO_PARENT, true);
    const uint32_t send = sent(OUT, c, WEIR_OK);
    breaks("P-8", history_handler_begins(c, send)); /* no init yet */
    begin();
    const uint32_t d = processor(WEIR_OVERFLOW_FAIL, HISTORY_NO_PARENT, true);
    const uint32_t late = sent(OUT, d, WEIR_OK);
    well(history_init_begins(d));
    well(history_init_ends(d, WEIR_OK));
    well(history_destroy_begins(d));
    well(history_destroy_ends(d));
    breaks("P-8", history_handler_begins(d, late));
    begin();
    const uint32_t e = processor(WEIR_OVERFLOW_FAIL, HISTORY_NO_PARENT, true);
    breaks("P-8", history_destroy_begins(e)); /* without an init */
    begin();
    const uint32_t f = processor(WEIR_OVERFLOW_FAIL, HISTORY_NO_PARENT, true);
    well(history_init_begins(f));
    well(history_init_ends(f, WEIR_OK));
    const weir_stop_report report = report_of(0, 0, 0);
    breaks("P-8", history_stop_ends(history_stop_begins(HISTORY_ENGINE, true), WEIR_OK, &report));
}

static void p8_children_go_first(void **state)
{
    (void)state;
    begin();
    const uint32_t parent = processor(WEIR_OVERFLOW_FAIL, HISTORY_NO_PARENT, true);
    const uint32_t child = processor(WEIR_OVERFLOW_FAIL, parent, true);
    well(history_init_begins(parent));
    well(history_init_ends(parent, WEIR_OK));
    well(history_init_begins(child));
    well(history_init_ends(child, WEIR_OK));
    breaks("P-8", history_destroy_begins(parent));
}

static void a_table_that_is_full_is_said_and_not_overrun(void **state)
{
    (void)state;
    begin();
    for (uint32_t i = 0; i < HISTORY_SENDS_MAX; i++) {
        (void)history_send_begins(OUT, A, HISTORY_POST);
    }
    const uint32_t more = history_send_begins(OUT, A, HISTORY_POST);
    assert_non_null(history_send_ends(more, WEIR_OK));
    begin();
    while (history_stop_begins(A, true) < HISTORY_STOPS_MAX) {
    }
    assert_non_null(history_stop_ends(HISTORY_STOPS_MAX, WEIR_OK, NULL));
    begin();
    uint32_t last = 0;
    while ((last = processor(WEIR_OVERFLOW_FAIL, HISTORY_NO_PARENT, false)) <
           HISTORY_PROCESSORS_MAX) {
    }
    assert_non_null(history_handler_begins(last, 0));
}

/* A is restarted after a failure; B's events come again once. */
static void begin_supervised(void)
{
    history_rules rules = { .mailbox_max = 4,
                            .parent = HISTORY_NO_PARENT,
                            .has_init = true,
                            .has_destroy = true,
                            .restarts = true,
                            .may_fail = true };
    history_reset(false, false);
    assert_int_equal(A, history_processor(&rules));
    rules = (history_rules){ .mailbox_max = 4, .parent = HISTORY_NO_PARENT, .retry_max = 1 };
    assert_int_equal(B, history_processor(&rules));
    history_starts();
    well(history_init_begins(A));
    well(history_init_ends(A, WEIR_OK));
}

static void failed(uint32_t who, uint32_t send)
{
    well(history_handler_begins(who, send));
    well(history_handler_ends(who, send, WEIR_E_USER));
}

static void an_event_that_is_tried_again_comes_before_the_others(void **state)
{
    (void)state;
    begin_supervised();
    const uint32_t first = sent(OUT, B, WEIR_OK);
    const uint32_t second = sent(OTHER, B, WEIR_OK);
    failed(B, first);
    assert_int_equal(2, history_pending());
    breaks("P-2", history_handler_begins(B, second));
}

static void an_event_is_tried_again_as_often_as_the_rules_say(void **state)
{
    (void)state;
    begin_supervised();
    const uint32_t first = sent(OUT, B, WEIR_OK);
    failed(B, first);
    failed(B, first);
    assert_int_equal(0, history_pending());
    breaks("P-3", history_handler_begins(B, first));
}

static void a_stop_may_cut_its_tries_short(void **state)
{
    (void)state;
    begin_supervised();
    const uint32_t first = sent(OUT, B, WEIR_OK);
    const uint32_t second = sent(OUT, B, WEIR_OK);
    failed(B, first);
    const uint32_t stop = history_stop_begins(HISTORY_ENGINE, true);
    handled(B, second);
    well(history_destroy_begins(A));
    well(history_destroy_ends(A));
    const weir_stop_report report = { .accepted = 2, .handled = 1, .dead = 1 };
    well(history_stop_ends(stop, WEIR_OK, &report));
    weir_counters c = counters_of(2, 1);
    c.dead = 1;
    well(history_ends(&c));
}

static void a_restart_needs_a_failure_and_a_destroy_before_its_init(void **state)
{
    (void)state;
    begin_supervised();
    breaks("P-1", history_init_begins(A));
    begin_supervised();
    well(history_destroy_begins(A));
    well(history_destroy_ends(A));
    breaks("P-8", history_init_begins(A)); /* nobody has failed */
    begin_supervised();
    failed(A, sent(OUT, A, WEIR_OK));
    well(history_destroy_begins(A));
    well(history_destroy_ends(A));
    breaks("P-8", history_handler_begins(A, sent(OUT, A, WEIR_OK)));
    begin_supervised();
    failed(A, sent(OUT, A, WEIR_OK));
    well(history_destroy_begins(A));
    well(history_destroy_ends(A));
    well(history_init_begins(A));
    well(history_init_ends(A, WEIR_OK));
    handled(A, sent(OUT, A, WEIR_OK));
}

static void what_a_failure_may_end_may_refuse_after_one_only(void **state)
{
    (void)state;
    begin_supervised();
    breaks("P-6", history_send_ends(history_send_begins(OUT, A, HISTORY_POST), WEIR_UNKNOWN));
    begin_supervised();
    failed(A, sent(OUT, A, WEIR_OK));
    (void)sent(OUT, A, WEIR_STOPPING);
    (void)sent(OUT, A, WEIR_UNKNOWN);
    breaks("P-6", history_send_ends(history_send_begins(OUT, B, HISTORY_POST), WEIR_UNKNOWN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_that_is_tried_again_comes_before_the_others),
        cmocka_unit_test(an_event_is_tried_again_as_often_as_the_rules_say),
        cmocka_unit_test(a_stop_may_cut_its_tries_short),
        cmocka_unit_test(a_restart_needs_a_failure_and_a_destroy_before_its_init),
        cmocka_unit_test(what_a_failure_may_end_may_refuse_after_one_only),
        cmocka_unit_test(a_history_that_keeps_every_promise_is_well),
        cmocka_unit_test(p1_two_turns_of_one_processor_do_not_overlap),
        cmocka_unit_test(p1_a_hook_is_a_turn_too),
        cmocka_unit_test(p1_what_ends_has_begun),
        cmocka_unit_test(p2_a_senders_events_arrive_in_order),
        cmocka_unit_test(p2_says_nothing_of_two_senders),
        cmocka_unit_test(p3_nothing_is_handled_twice),
        cmocka_unit_test(p3_an_event_arrives_where_it_was_sent),
        cmocka_unit_test(p3_what_was_refused_is_not_handled),
        cmocka_unit_test(p3_nobody_handles_what_nobody_sent),
        cmocka_unit_test(p3_the_engine_counts_what_senders_and_handlers_saw),
        cmocka_unit_test(p3_a_report_adds_up_and_is_true),
        cmocka_unit_test(p3_nothing_is_left_unless_time_ran_out),
        cmocka_unit_test(p3_what_a_single_stop_left_the_engines_stop_tells_too),
        cmocka_unit_test(p5_no_more_wait_than_the_bound_and_one_on_its_way),
        cmocka_unit_test(p5_holds_where_the_oldest_are_dropped),
        cmocka_unit_test(p6_every_refusal_has_a_reason),
        cmocka_unit_test(p6_a_mailbox_answers_as_its_policy_says),
        cmocka_unit_test(p6_a_stop_answers_as_documented),
        cmocka_unit_test(p7_what_is_gone_accepts_nothing),
        cmocka_unit_test(p8_a_stop_that_is_over_has_drained),
        cmocka_unit_test(p8_nothing_is_accepted_and_nothing_handled_after_a_stop),
        cmocka_unit_test(p8_after_a_timeout_one_handler_may_be_late_and_no_more),
        cmocka_unit_test(p8_once_an_outsider_was_refused_all_are),
        cmocka_unit_test(p8_an_asynchronous_stop_refuses_outsiders_from_the_call_on),
        cmocka_unit_test(p8_all_stops_have_one_report),
        cmocka_unit_test(p8_hooks_frame_the_life_of_a_processor),
        cmocka_unit_test(p8_children_go_first),
        cmocka_unit_test(a_table_that_is_full_is_said_and_not_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
