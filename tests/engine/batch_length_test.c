/*
 * batch_length_test.c - many events in one call (S-11): they arrive whole and in their order,
 * however many they are, and a mailbox that cuts them short is as good as before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

enum { LONGEST = 200, BOUND = 4 };

/* Events with the values first, first + 1, ...; `alike` in all but that, or not. */
typedef struct batch {
    number values[LONGEST];
    weir_event events[LONGEST];
    const weir_event *pointers[LONGEST];
} batch;

static void batch_fill(batch *b, uint64_t first, size_t count, bool alike)
{
    for (size_t i = 0; i < count; i++) {
        b->values[i].value = first + i;
        b->events[i] = (weir_event){ .type = &number_type,
                                     .data = &b->values[i],
                                     .size = sizeof(number),
                                     .flags = alike ? 0 : 1 + (uint32_t)(i % 2) };
        b->pointers[i] = &b->events[i];
    }
}

static void a_batch_of_any_length_arrives_whole_and_in_order(void **state)
{
    (void)state;
    for (size_t round = 2; round < 2 + 2 * LONGEST; round++) {
        const size_t count = round / 2;
        static batch b;
        test_recorder recorder;
        test_recorder_init(&recorder, false);
        weir_engine *engine = test_engine_create(NULL);
        const weir_processor to = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
        batch_fill(&b, 1, count, round % 2 == 0);
        assert_int_equal(count, weir_engine_post_batch(engine, &to, 1, b.pointers, count, NULL));
        test_engine_start(engine);
        assert_int_equal(count, test_engine_end(engine).handled);
        test_recorder_saw_run(&recorder, 1, count);
    }
}

static void a_batch_that_was_cut_short_does_no_harm_to_what_comes_after(void **state)
{
    (void)state;
    enum { ROUNDS = 3 };
    static batch b;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder,
                               .mailbox_max = BOUND, .overflow = WEIR_OVERFLOW_FAIL));
    test_engine_start(engine);
    uint64_t next = 1;
    for (int round = 0; round < ROUNDS; round++) {
        /* One in hand, so that the mailbox stays as full as the batch makes it. */
        assert_int_equal(WEIR_OK, test_post(engine, to, next++));
        test_sem_wait(&recorder.entered);
        batch_fill(&b, next, BOUND + 2, true);
        assert_int_equal(BOUND,
                         weir_engine_post_batch(engine, &to, 1, b.pointers, BOUND + 2, NULL));
        next += BOUND;
        test_recorder_pass(&recorder, BOUND + 1);
        for (int i = 0; i < BOUND; i++) {
            test_sem_wait(&recorder.entered);
        }
    }
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(next - 1, report.handled);
    assert_int_equal(next - 1, report.accepted);
    test_recorder_saw_run(&recorder, 1, next - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_of_any_length_arrives_whole_and_in_order),
        cmocka_unit_test(a_batch_that_was_cut_short_does_no_harm_to_what_comes_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
