/*
 * observe/recorder_test.c - what an arrow needs at its begin: a slice around it, or a mark that
 * there is none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_support.h"

#include "base/memory.h"
#include "observe/recorder.h"

static weir__recorder *recorder;
static weir__trace_ring *ring;

static int begin(void **state)
{
    (void)state;
    recorder = weir__recorder_open(weir__allocator_default(), 16, 1);
    ring = recorder != NULL ? weir__recorder_claim(recorder) : NULL;
    return ring != NULL ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    weir__recorder_close(recorder);
    return 0;
}

static void slice(weir__trace_kind kind, weir_ns from, weir_ns to)
{
    const uint64_t length = (uint64_t)(to - from);
    const uint64_t turns = kind == WEIR__TRACE_TURN ? UINT64_C(3) << WEIR__TRACE_LENGTH_BITS : 0;
    weir__trace_put(ring,
                    &(weir__trace_record){ .kind = (uint16_t)kind & 15u,
                                           .end = to,
                                           .what = kind == WEIR__TRACE_HANDLED ? 7 : turns | length,
                                           .count = (uint32_t)length,
                                           .extra = (uint16_t)(length >> 32) });
}

static void post(weir_ns at)
{
    weir__trace_put(ring, &(weir__trace_record){ .kind = WEIR__TRACE_POSTED, .end = at, .who = 1 });
}

/* Of the i-th record that is held, which is a post. */
static bool is_bare(uint32_t i)
{
    const weir__trace_record *record = weir__trace_at(ring, i);
    assert_int_equal(WEIR__TRACE_POSTED, record->kind);
    return record->extra != 0;
}

static void posts_of_a_turn_that_is_recorded_have_it_around_them(void **state)
{
    (void)state;
    post(10);
    slice(WEIR__TRACE_HANDLED, 5, 12);
    post(20);
    slice(WEIR__TRACE_TURN, 5, 20);
    post(31);
    slice(WEIR__TRACE_AGENTS, 30, 40);
    assert_true(weir__recorder_index(recorder));
    assert_false(is_bare(0));
    assert_false(is_bare(2));
    assert_false(is_bare(4));
}

static void posts_of_one_that_began_before_or_did_not_end_have_none(void **state)
{
    (void)state;
    post(10); /* it was switched on in the middle of that turn, which has no record */
    slice(WEIR__TRACE_PARK, 20, 30);
    slice(WEIR__TRACE_TURN, 30, 40);
    post(50); /* and off in the middle of this one */
    post(51);
    assert_true(weir__recorder_index(recorder));
    assert_true(is_bare(0));
    assert_true(is_bare(3));
    assert_true(is_bare(4));
}

static void a_handler_that_is_over_is_enough_and_may_be_a_long_one(void **state)
{
    (void)state;
    const weir_ns hour = 3600 * WEIR_S;
    post(5);
    slice(WEIR__TRACE_HANDLED, 1, hour);
    post(hour + 1);
    assert_true(weir__recorder_index(recorder));
    assert_false(is_bare(0));
    assert_true(is_bare(2));
}

static void what_was_overwritten_changes_nothing_for_the_rest(void **state)
{
    (void)state;
    for (weir_ns i = 0; i < 20; i++) {
        post(100 * i + 50);
        slice(WEIR__TRACE_TURN, 100 * i, 100 * i + 90);
    }
    post(5000);
    assert_true(weir__recorder_index(recorder));
    assert_int_equal(16, weir__trace_held(ring)); /* an odd number of records: a turn is first */
    for (uint32_t i = 1; i < 15; i += 2) {
        assert_false(is_bare(i));
    }
    assert_true(is_bare(15));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(posts_of_a_turn_that_is_recorded_have_it_around_them, begin,
                                        end),
        cmocka_unit_test_setup_teardown(posts_of_one_that_began_before_or_did_not_end_have_none,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_handler_that_is_over_is_enough_and_may_be_a_long_one,
                                        begin, end),
        cmocka_unit_test_setup_teardown(what_was_overwritten_changes_nothing_for_the_rest, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
