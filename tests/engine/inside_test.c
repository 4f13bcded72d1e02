/*
 * inside_test.c - calls that wait, made by a handler: each is refused and changes nothing. (Stops:
 * stop_inside_test.c.)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log_support.h"

typedef struct insider {
    weir_engine *other; /* not started */
    weir_status own_start, other_start;
    sem_t done;
} insider;

static weir_status call_what_waits(void *state, weir_turn *turn, const weir_event *event)
{
    insider *in = state;
    (void)event;
    weir_error error = WEIR_ERROR_INIT;
    in->own_start = weir_engine_start(weir_turn_engine(turn), &error);
    in->other_start = weir_engine_start(in->other, &error);
    weir_engine_destroy(weir_turn_engine(turn));
    weir_engine_destroy(in->other);
    (void)sem_post(&in->done);
    return WEIR_OK;
}

static void from_inside_a_handler_start_and_destroy_are_refused(void **state)
{
    (void)state;
    static insider in;
    static test_log log;
    static test_recorder recorder;
    test_log_init(&log);
    test_recorder_init(&recorder, false);
    assert_int_equal(0, sem_init(&in.done, 0, 0));
    weir_engine *engine =
        test_engine_create(WEIR_ENGINE(.log = test_log_hook, .log_context = &log));
    in.other = test_engine_create(WEIR_ENGINE(.log = test_log_hook, .log_context = &log));
    const weir_processor to = test_processor_add(
        in.other, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
    assert_int_equal(WEIR_OK, test_post(in.other, to, 5));
    const weir_processor p =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = call_what_waits, .argument = &in));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, p, 0));
    test_sem_wait(&in.done);
    assert_int_equal(WEIR_E_BLOCKING, in.own_start);
    assert_int_equal(WEIR_E_BLOCKING, in.other_start);
    assert_int_equal(2, test_log_matches(&log, WEIR_LOG_ERROR, "destroy", "inside a handler"));
    /* Both engines live on: one still runs, the other can be started. */
    assert_int_equal(WEIR_OK, test_post(engine, p, 0));
    test_sem_wait(&in.done);
    assert_int_equal(2, test_engine_end(engine).handled);
    test_engine_start(in.other);
    assert_int_equal(1, test_engine_end(in.other).handled);
    test_recorder_saw_run(&recorder, 5, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_inside_a_handler_start_and_destroy_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
