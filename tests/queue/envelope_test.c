/*
 * queue/envelope_test.c - a copy of an envelope has what a handler needs, and reads no more than
 * the envelope has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_support.h"

#include "queue/envelope.h"

static const weir_event_type type = { .name = "test.envelope" };

/* Out of line: inlined, the compiler sees that a narrow one is no wide one, and warns. */
__attribute__((noinline)) static void copy_of(weir__envelope *event, weir__envelope_wide *out)
{
    weir__envelope_copy(out, event);
}

static void fill(weir__envelope *event, uint32_t flags)
{
    static weir__pooled other;
    memset(event, 0, sizeof(*event));
    weir__store(&event->pooled.next, &other, relaxed);
    weir__store(&event->pooled.link, 0x1122334455667788, relaxed);
    event->type = &type;
    event->size = WEIR_EVENT_INLINE_MAX;
    event->flags = flags;
    for (size_t i = 0; i < WEIR_EVENT_INLINE_MAX; i++) {
        event->payload.bytes[i] = (unsigned char)(i + 1);
    }
}

static void assert_copied(weir__envelope *event, weir__envelope_wide *copy)
{
    assert_null(weir__load(&copy->envelope.pooled.next, relaxed)); /* a poster may be writing it */
    assert_int_equal(0x1122334455667788, weir__load(&copy->envelope.pooled.link, relaxed));
    assert_ptr_equal(&type, copy->envelope.type);
    assert_int_equal(event->size, copy->envelope.size);
    assert_int_equal(event->flags, copy->envelope.flags);
    assert_memory_equal(&event->payload, &copy->envelope.payload, sizeof(event->payload));
}

static void a_narrow_envelope_is_copied_without_reading_past_it(void **state)
{
    (void)state;
    weir__envelope *event = malloc(sizeof(*event)); /* ASan stands behind its end */
    assert_non_null(event);
    fill(event, 0x8001u);
    weir__envelope_wide copy;
    memset(&copy, 0x5a, sizeof(copy));
    copy_of(event, &copy);
    assert_copied(event, &copy);
    free(event);
}

static void a_wide_envelope_is_copied_with_its_second_line(void **state)
{
    (void)state;
    weir__envelope_wide event;
    weir__envelope_wide copy;
    memset(&copy, 0x5a, sizeof(copy));
    fill(&event.envelope, WEIR__ENVELOPE_WIDE | 3u);
    event.flow = 1;
    event.ask = 2;
    event.tag = 3;
    event.home = &event;
    copy_of(&event.envelope, &copy);
    assert_copied(&event.envelope, &copy);
    assert_int_equal(1, copy.flow);
    assert_int_equal(2, copy.ask);
    assert_int_equal(3, copy.tag);
    assert_ptr_equal(&event, copy.home);
}

static void a_block_travels_by_its_pointers(void **state)
{
    (void)state;
    weir__envelope event;
    weir__envelope_wide copy;
    static const char data[] = "data";
    fill(&event, WEIR__ENVELOPE_BLOCK);
    event.payload.shared.block = (weir_block *)(void *)&event;
    event.payload.shared.data = data;
    copy_of(&event, &copy);
    assert_ptr_equal(&event, copy.envelope.payload.shared.block);
    assert_ptr_equal(data, copy.envelope.payload.shared.data);
}

static void weirs_flags_stay_clear_of_the_senders(void **state)
{
    (void)state;
    const uint32_t flags[] = { WEIR__ENVELOPE_BLOCK, WEIR__ENVELOPE_WIDE, WEIR__ENVELOPE_SIGNAL,
                               WEIR__ENVELOPE_OWED };
    uint32_t all = 0;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        assert_int_equal(0, flags[i] & 0xffffu);
        assert_int_equal(0, flags[i] & all);
        all |= flags[i];
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_narrow_envelope_is_copied_without_reading_past_it),
        cmocka_unit_test(a_wide_envelope_is_copied_with_its_second_line),
        cmocka_unit_test(a_block_travels_by_its_pointers),
        cmocka_unit_test(weirs_flags_stay_clear_of_the_senders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
