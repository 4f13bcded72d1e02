/*
 * queue/envelope_test.c - an envelope is one line with a payload inside, one that lies alone has a
 * second line in front.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_support.h"

#include "queue/envelope.h"

static void weirs_flags_stay_clear_of_the_senders(void **state)
{
    (void)state;
    const uint32_t flags[] = { WEIR__ENVELOPE_BLOCK, WEIR__ENVELOPE_ALONE, WEIR__ENVELOPE_SIGNAL,
                               WEIR__ENVELOPE_FILLED };
    uint32_t all = 0;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        assert_int_equal(0, flags[i] & 0xffffu);
        assert_int_equal(0, flags[i] & all);
        all |= flags[i];
    }
}

static void an_event_without_flags_is_there_all_the_same(void **state)
{
    (void)state;
    weir__envelope envelope;
    memset(&envelope, 0, sizeof(envelope));
    weir__envelope_fill(&envelope, 0);
    assert_int_not_equal(0, weir__load(&envelope.state, relaxed));
    assert_int_equal(0, weir__load(&envelope.state, relaxed) & 0xffffu);
    weir__envelope_fill(&envelope, WEIR__ENVELOPE_BLOCK | 0x8001u);
    assert_int_equal(0x8001u, weir__load(&envelope.state, relaxed) & 0xffffu);
    assert_true((weir__load(&envelope.state, relaxed) & WEIR__ENVELOPE_BLOCK) != 0);
}

static void an_inline_payload_is_aligned_and_has_room_for_the_largest(void **state)
{
    (void)state;
    assert_int_equal(0, offsetof(weir__envelope, payload) % sizeof(uint64_t));
    assert_true(sizeof(((weir__envelope *)NULL)->payload) >= WEIR_EVENT_INLINE_MAX);
}

static void a_lone_one_is_found_from_its_envelope_and_has_it_in_a_line_of_its_own(void **state)
{
    (void)state;
    weir__lone lone;
    assert_ptr_equal(&lone, weir__lone_of(&lone.envelope));
    assert_int_equal(64, offsetof(weir__lone, envelope));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weirs_flags_stay_clear_of_the_senders),
        cmocka_unit_test(an_event_without_flags_is_there_all_the_same),
        cmocka_unit_test(an_inline_payload_is_aligned_and_has_room_for_the_largest),
        cmocka_unit_test(a_lone_one_is_found_from_its_envelope_and_has_it_in_a_line_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
