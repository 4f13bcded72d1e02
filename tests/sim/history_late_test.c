/*
 * history_late_test.c - what the history checker lets pass of handlers that outlive a stop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "history.h"

#include "../test_support.h"

enum { PROCESSORS = 2 };

/* A stop of an engine of two, then so many answers that are refused as unknown, none of which the
 * counters know. */
static history_verdict after_a_stop(weir_status stopped, uint32_t refusals)
{
    const history_rules rules = { .mailbox_max = 2,
                                  .overflow = WEIR_OVERFLOW_FAIL,
                                  .parent = HISTORY_NO_PARENT };
    const weir_stop_report nothing = { .accepted = 0 };
    const weir_counters counters = WEIR_COUNTERS_INIT;
    history_reset(false, false);
    for (uint32_t i = 0; i < PROCESSORS; i++) {
        (void)history_processor(&rules);
    }
    history_starts();
    const uint32_t stop = history_stop_begins(HISTORY_ENGINE, true);
    assert_null(history_stop_ends(stop, stopped, &nothing));
    for (uint32_t i = 0; i < refusals; i++) {
        assert_null(history_answered(WEIR_UNKNOWN));
    }
    return history_ends(&counters);
}

static void p3_a_refusal_midway_at_a_stop_that_ran_out_may_be_counted_late(void **state)
{
    (void)state;
    for (uint32_t refusals = 0; refusals <= PROCESSORS; refusals++) {
        assert_null(after_a_stop(WEIR_TIMEOUT, refusals));
    }
}

static void p3_but_each_processor_has_one_at_the_most(void **state)
{
    (void)state;
    assert_non_null(after_a_stop(WEIR_TIMEOUT, PROCESSORS + 1));
}

static void p3_and_none_has_one_if_the_stop_was_in_time(void **state)
{
    (void)state;
    assert_null(after_a_stop(WEIR_OK, 0));
    assert_non_null(after_a_stop(WEIR_OK, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p3_a_refusal_midway_at_a_stop_that_ran_out_may_be_counted_late),
        cmocka_unit_test(p3_but_each_processor_has_one_at_the_most),
        cmocka_unit_test(p3_and_none_has_one_if_the_stop_was_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
