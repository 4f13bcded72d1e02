/*
 * supervise_mixed_test.c - failures that meet something else: a stop that runs out of time, a
 * child's failure while an event waits for its next try, an answer that does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "supervise_support.h"

/* ---- stops that run out of time ---- */

/* Fails, and from the second time on only when it is let. */
typedef struct staller {
    uint32_t tries, waits_from;
    sem_t entered, let;
    weir_status answer;
} staller;

static weir_status stall(void *state, weir_turn *turn, const weir_event *event)
{
    staller *s = state;
    (void)turn;
    (void)event;
    if (++s->tries >= s->waits_from) {
        (void)sem_post(&s->entered);
        (void)test_sem_taken(&s->let);
    }
    return s->answer;
}

static weir_processor staller_add(weir_engine *engine, staller *s, uint32_t waits_from,
                                  weir_status answer, const weir_processor_options *options)
{
    weir_processor_options o = *options;
    *s = (staller){ .waits_from = waits_from, .answer = answer };
    assert_int_equal(0, sem_init(&s->entered, 0, 0));
    assert_int_equal(0, sem_init(&s->let, 0, 0));
    o.handler = stall;
    o.argument = s;
    return test_processor_add(engine, &o);
}

/* Some are left. */
static weir_stop_report end_with_left(weir_engine *engine)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, TEST_PATIENCE, &report));
    weir_engine_destroy(engine);
    return report;
}

/* Its handler is under way, and returns only then. */
static void run_out_of_time(weir_engine *engine, weir_processor which, staller *s)
{
    test_sem_wait(&s->entered);
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(engine, which, WEIR_US, NULL));
    assert_int_equal(0, sem_post(&s->let));
    until_gone(engine, which);
}

static void a_second_try_that_its_stop_does_not_wait_for_is_nobody_elses(void **state)
{
    (void)state;
    staller first, second;
    weir_engine *engine = quiet_engine(1);
    const weir_processor a = staller_add(
        engine, &first, 2, BAD, WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_delay = WEIR_US));
    const weir_processor b =
        staller_add(engine, &second, 1, WEIR_OK, WEIR_PROCESSOR(.name = "other"));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, a, 1));
    run_out_of_time(engine, a, &first);
    assert_int_equal(WEIR_OK, test_post(engine, b, 1));
    run_out_of_time(engine, b, &second);
    const weir_stop_report report = end_with_left(engine);
    assert_int_equal(2, report.accepted);
    assert_int_equal(2, report.left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_try_that_its_stop_does_not_wait_for_is_nobody_elses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
