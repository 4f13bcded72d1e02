/*
 * dead_letter_test.c - events that came to nothing: which of them are letters, what is in one, how
 * they are counted, and that the last 1,000 can be read (S-18).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "watch_support.h"

enum { KEPT = 1000 };

static weir_dead_letter letters[KEPT + 1];

static size_t read_letters(weir_engine *engine, uint64_t after)
{
    memset(letters, 0x5a, sizeof(letters));
    letters[0].struct_size = sizeof(letters[0]);
    return weir_dead_letter_read(engine, after, letters, KEPT + 1);
}

static void assert_letter(const weir_dead_letter *l, weir_dead_reason reason, weir_status status,
                          uint64_t from, uint64_t to)
{
    assert_int_equal(sizeof(*l), l->struct_size);
    assert_int_equal(reason, l->reason);
    assert_int_equal(status, l->status);
    assert_int_equal(from, l->from.id);
    assert_int_equal(to, l->to.id);
    assert_true(l->wall_time > WEIR_S * 1600000000);
}

/* A number was in it. */
static void assert_number(const weir_dead_letter *l, uint64_t value)
{
    uint64_t head[4] = { 0 };
    memcpy(head, l->head, sizeof(head));
    assert_ptr_equal(&number_type, l->type);
    assert_int_equal(sizeof(number), l->size);
    assert_int_equal(value, head[0]);
    assert_int_equal(0, head[1] | head[2] | head[3]);
}

static weir_status fail_always(void *state, weir_turn *turn, const weir_event *event)
{
    const number *n = weir_event_as(event, &number_type);
    (void)state;
    return n != NULL && n->value == 1 ? weir_turn_fail(turn, WEIR_E_USER, "line 7 has no price")
                                      : WEIR_E_FAILED;
}

static void a_failed_event_is_a_letter_with_its_status_and_sentence(void **state)
{
    (void)state;
    bed b;
    bed_make(&b);
    weir_processor to = test_processor_add(b.engine, WEIR_PROCESSOR(.handler = fail_always));
    const weir_processor from =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = pass_on, .argument = &to));
    test_engine_start(b.engine);
    assert_int_equal(0, read_letters(b.engine, 0));
    assert_int_equal(WEIR_OK, test_post(b.engine, from, 0));
    assert_int_equal(WEIR_OK, test_post(b.engine, to, 2));
    bed_turn(&b);
    assert_int_equal(2, read_letters(b.engine, 0));
    /* Which of them was first is for the turns to decide. */
    const size_t passed = letters[0].from.id != 0 ? 0 : 1;
    assert_letter(&letters[passed], WEIR_DEAD_FAILED, WEIR_E_USER, from.id, to.id);
    assert_number(&letters[passed], 1);
    assert_string_equal("line 7 has no price", letters[passed].text);
    assert_letter(&letters[1 - passed], WEIR_DEAD_FAILED, WEIR_E_FAILED, 0, to.id);
    assert_string_equal("", letters[1 - passed].text);
    assert_int_equal(1, letters[0].number);
    assert_int_equal(2, letters[1].number);
    const weir_counters c = test_engine_counters(b.engine);
    assert_int_equal(2, c.dead);
    assert_int_equal(2, c.dead_failed);
    assert_int_equal(0, c.dead_stopped);
    assert_int_equal(2, c.letters);
    assert_int_equal(2, test_processor_counters(b.engine, to).dead_failed);
    bed_end(&b);
}

static weir_status not_mine(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_UNHANDLED;
}

static void what_is_unhandled_dropped_full_or_invalid_is_no_letter(void **state)
{
    (void)state;
    bed b;
    bed_make(&b);
    const weir_processor to = test_processor_add(b.engine, WEIR_PROCESSOR(.handler = not_mine));
    const weir_processor drops =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = ignore, .mailbox_max = 1,
                                                    .overflow = WEIR_OVERFLOW_DROP_NEWEST));
    const weir_processor full =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = ignore, .mailbox_max = 1));
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, test_post(b.engine, to, 0));
    assert_int_equal(WEIR_OK, test_post(b.engine, drops, 0));
    assert_int_equal(WEIR_DROPPED, test_post(b.engine, drops, 0));
    assert_int_equal(WEIR_OK, test_post(b.engine, full, 0));
    assert_int_equal(WEIR_FULL, test_post(b.engine, full, 0));
    assert_int_equal(WEIR_E_INVALID, weir_engine_post(b.engine, to, NULL));
    assert_int_equal(WEIR_E_TYPE,
                     weir_engine_post(b.engine, to, &(weir_event){ .type = &number_type }));
    bed_turn(&b);
    assert_int_equal(0, read_letters(b.engine, 0));
    assert_int_equal(0, test_engine_counters(b.engine).letters);
    bed_end(&b);
}

static void what_is_posted_to_the_gone_is_a_letter(void **state)
{
    (void)state;
    bed b;
    bed_make(&b);
    weir_processor gone = bed_target(&b);
    const weir_processor from =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = pass_on, .argument = &gone));
    test_engine_start(b.engine);
    bed_stop(&b, gone);
    assert_int_equal(WEIR_UNKNOWN, test_post(b.engine, gone, 5));
    assert_int_equal(WEIR_OK, test_post(b.engine, from, 0)); /* answers UNKNOWN: it fails */
    bed_turn(&b);
    const weir_event *batch[] = { WEIR_EVENT(number, 6), WEIR_EVENT(number, 7) };
    weir_status statuses[2];
    assert_int_equal(0, weir_engine_post_batch(b.engine, &gone, 1, batch, 2, statuses));
    assert_int_equal(5, read_letters(b.engine, 0));
    assert_letter(&letters[0], WEIR_DEAD_UNKNOWN, WEIR_UNKNOWN, 0, gone.id);
    assert_number(&letters[0], 5);
    assert_letter(&letters[1], WEIR_DEAD_UNKNOWN, WEIR_UNKNOWN, from.id, gone.id);
    assert_letter(&letters[2], WEIR_DEAD_FAILED, WEIR_UNKNOWN, 0, from.id);
    assert_number(&letters[3], 6);
    assert_number(&letters[4], 7);
    const weir_counters c = test_engine_counters(b.engine);
    assert_int_equal(4, c.letters_unknown);
    assert_int_equal(c.refused_unknown, c.letters_unknown);
    assert_int_equal(5, c.letters);
    bed_end(&b);
}

static void only_the_head_of_a_large_payload_is_kept_and_the_block_is_not(void **state)
{
    (void)state;
    bed b;
    unsigned char large[500];
    for (size_t i = 0; i < sizeof(large); i++) {
        large[i] = (unsigned char)i;
    }
    bed_make(&b);
    const weir_processor gone = bed_target(&b);
    test_engine_start(b.engine);
    bed_stop(&b, gone);
    const weir_event event = { .type = &weir_bytes_type, .data = large, .size = sizeof(large) };
    assert_int_equal(WEIR_UNKNOWN, weir_engine_post(b.engine, gone, &event));
    assert_int_equal(0, test_engine_counters(b.engine).block_bytes);
    assert_int_equal(WEIR_UNKNOWN,
                     weir_engine_post(b.engine, gone, &(weir_event){ .type = &weir_bytes_type }));
    assert_int_equal(2, read_letters(b.engine, 0));
    assert_int_equal(sizeof(large), letters[0].size);
    assert_memory_equal(large, letters[0].head, sizeof(letters[0].head));
    assert_string_equal("weir.bytes", letters[0].type->name);
    assert_int_equal(0, letters[1].size);
    bed_end(&b);
}

static void what_waited_for_one_that_never_began_is_a_letter(void **state)
{
    (void)state;
    bed b;
    bed_make(&b);
    test_engine_start(b.engine);
    const weir_processor broken = test_processor_add(
        b.engine, WEIR_PROCESSOR(.handler = ignore, .init = fail_to_begin, .state_size = 8));
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, test_post(b.engine, broken, i));
    }
    unsigned char large[100] = { 9 };
    assert_int_equal(WEIR_OK, weir_engine_post(b.engine, broken,
                                               &(weir_event){ .type = &weir_bytes_type,
                                                              .data = large,
                                                              .size = sizeof(large) }));
    bed_turn(&b);
    assert_int_equal(4, read_letters(b.engine, 0));
    for (uint64_t i = 0; i < 3; i++) {
        assert_letter(&letters[i], WEIR_DEAD_STOPPED, WEIR_E_USER, 0, broken.id);
        assert_string_equal("the harbour is closed", letters[i].text);
        assert_number(&letters[i], i);
    }
    assert_memory_equal(large, letters[3].head, sizeof(letters[3].head));
    const weir_counters c = test_engine_counters(b.engine);
    assert_int_equal(4, c.dead);
    assert_int_equal(4, c.dead_stopped);
    assert_int_equal(0, c.dead_failed);
    bed_end(&b);
}

static void what_is_refused_at_a_stop_is_a_letter(void **state)
{
    (void)state;
    bed b;
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    bed_make(&b);
    weir_processor to = bed_target(&b);
    const weir_processor from =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = pass_on, .argument = &to));
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, test_post(b.engine, to, 0));
    assert_int_equal(WEIR_OK, weir_processor_stop_async(b.engine, to, TEST_PATIENCE));
    assert_int_equal(WEIR_STOPPING, test_post(b.engine, to, 1)); /* it is closed, not yet gone */
    assert_int_equal(WEIR_OK, test_post(b.engine, from, 0));
    assert_int_equal(WEIR_OK, weir_engine_stop_async(b.engine, TEST_PATIENCE));
    TEST_UNTIL(test_post(b.engine, from, 2) == WEIR_STOPPING);
    TEST_UNTIL(((void)weir_thread_run_once(b.engine, b.loop, 0),
                weir_engine_wait(b.engine, WEIR_NOW, &report) == WEIR_OK));
    assert_int_equal(WEIR_STOPPING, test_post(b.engine, from, 3));
    assert_int_equal(WEIR_STOPPING, weir_engine_post(b.engine, from, NULL)); /* nothing to keep */
    const size_t count = read_letters(b.engine, 0);
    assert_true(count >= 3);
    assert_letter(&letters[0], WEIR_DEAD_REFUSED, WEIR_STOPPING, 0, to.id);
    assert_number(&letters[0], 1);
    assert_letter(&letters[count - 1], WEIR_DEAD_REFUSED, WEIR_STOPPING, 0, from.id);
    assert_number(&letters[count - 1], 3);
    const weir_counters c = test_engine_counters(b.engine);
    assert_int_equal(c.refused_stopping, c.letters_refused + 1);
    weir_engine_destroy(b.engine);
    assert_int_equal(0, atomic_load(&b.fault.bytes));
}

static void the_last_thousand_can_be_read_oldest_first_without_a_gap(void **state)
{
    (void)state;
    bed b;
    bed_make(&b);
    const weir_processor gone = bed_target(&b);
    test_engine_start(b.engine);
    bed_stop(&b, gone);
    for (uint64_t i = 1; i <= 2500; i++) {
        assert_int_equal(WEIR_UNKNOWN, test_post(b.engine, gone, i));
        if (i == 10 || i == KEPT || i == KEPT + 1) {
            assert_int_equal(i < KEPT ? i : KEPT, read_letters(b.engine, 0));
            assert_int_equal(i <= KEPT ? 1 : 2, letters[0].number);
        }
    }
    assert_int_equal(KEPT, read_letters(b.engine, 0));
    for (uint64_t i = 0; i < KEPT; i++) {
        assert_int_equal(1501 + i, letters[i].number);
        assert_number(&letters[i], 1501 + i);
    }
    assert_int_equal(3, read_letters(b.engine, 2497));
    assert_int_equal(2498, letters[0].number);
    assert_int_equal(0, read_letters(b.engine, 2500));
    assert_int_equal(0, read_letters(b.engine, UINT64_MAX));
    assert_int_equal(KEPT, read_letters(b.engine, 3)); /* those are gone: the gap says so */
    /* In small portions. */
    uint64_t after = 0, count = 0;
    weir_dead_letter some[7] = { WEIR_DEAD_LETTER_INIT };
    for (size_t got; (got = weir_dead_letter_read(b.engine, after, some, 7)) > 0; count += got) {
        assert_int_equal(count == 0 ? 1501 : after + 1, some[0].number);
        after = some[got - 1].number;
    }
    assert_int_equal(KEPT, count);
    assert_int_equal(2500, test_engine_counters(b.engine).letters);
    bed_end(&b);
}

static void letters_are_as_large_as_the_reader_knows_them(void **state)
{
    (void)state;
    bed b;
    bed_make(&b);
    const weir_processor gone = bed_target(&b);
    test_engine_start(b.engine);
    bed_stop(&b, gone);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_UNKNOWN, test_post(b.engine, gone, i));
    }
    struct {
        size_t struct_size;
        uint64_t number;
    } old[4] = { { .struct_size = sizeof(old[0]) } };
    old[3].number = 77;
    assert_int_equal(3, weir_dead_letter_read(b.engine, 0, (weir_dead_letter *)(void *)old, 3));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(sizeof(old[0]), old[i].struct_size);
        assert_int_equal(i + 1, old[i].number);
    }
    assert_int_equal(77, old[3].number);
    letters[0].struct_size = 0;
    assert_int_equal(0, weir_dead_letter_read(b.engine, 0, letters, 3));
    assert_int_equal(0, weir_dead_letter_read(b.engine, 0, NULL, 3));
    assert_int_equal(0, weir_dead_letter_read(NULL, 0, letters, 3));
    letters[0].struct_size = sizeof(letters[0]);
    assert_int_equal(0, weir_dead_letter_read(b.engine, 0, letters, 0));
    bed_end(&b);
}

static void without_memory_only_the_counts_go_on(void **state)
{
    (void)state;
    bed b;
    bed_make(&b);
    const weir_processor gone = bed_target(&b);
    test_engine_start(b.engine);
    bed_stop(&b, gone);
    const size_t before = atomic_load(&b.fault.bytes);
    test_fault_arm(&b.fault, 0, true);
    for (uint64_t i = 1; i <= 3; i++) {
        assert_int_equal(WEIR_UNKNOWN, test_post(b.engine, gone, i));
    }
    assert_int_equal(3, test_fault_disarm(&b.fault));
    assert_int_equal(0, read_letters(b.engine, 0));
    assert_int_equal(3, test_engine_counters(b.engine).letters_unknown);
    assert_int_equal(before, atomic_load(&b.fault.bytes)); /* nothing before the first is kept */
    assert_int_equal(WEIR_UNKNOWN, test_post(b.engine, gone, 4));
    assert_int_equal(1, read_letters(b.engine, 0));
    assert_int_equal(4, letters[0].number); /* three were missed */
    assert_number(&letters[0], 4);
    bed_end(&b);
}

static void an_owed_event_that_nobody_takes_is_a_letter(void **state)
{
    (void)state;
    bed b;
    watcher w;
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    const weir_processor target = bed_target(&b);
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, target, 1));
    /* The target is first in the queue; the watcher is closed, and behind it. */
    assert_int_equal(WEIR_OK, weir_processor_stop_async(b.engine, target, TEST_PATIENCE));
    assert_int_equal(WEIR_OK, test_post(b.engine, w.handle, 0));
    assert_int_equal(WEIR_OK, weir_processor_stop_async(b.engine, w.handle, TEST_PATIENCE));
    bed_turn(&b);
    assert_int_equal(0, w.note_count);
    assert_int_equal(1, read_letters(b.engine, 0));
    assert_letter(&letters[0], WEIR_DEAD_REFUSED, WEIR_STOPPING, target.id, w.handle.id);
    assert_ptr_equal(&weir_down_type, letters[0].type);
    weir_down head = { .reason = WEIR_E_USER };
    memcpy(&head, letters[0].head, sizeof(letters[0].head));
    assert_int_equal(target.id, head.processor.id);
    assert_int_equal(WEIR_OK, head.reason);
    assert_int_equal(0, test_engine_counters(b.engine).block_bytes);
    bed_end(&b);
}

static weir_status want_room(void *state, weir_turn *turn, const weir_event *event)
{
    (void)event;
    return weir_turn_want_room(turn, *(const weir_processor *)state, 0);
}

static void room_for_somebody_who_is_gone_is_a_letter(void **state)
{
    (void)state;
    bed b;
    bed_make(&b);
    weir_processor full =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = ignore, .mailbox_max = 1));
    const weir_processor asker =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = want_room, .argument = &full));
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, test_post(b.engine, asker, 0));
    assert_int_equal(WEIR_OK, test_post(b.engine, full, 0));
    assert_int_equal(1, weir_thread_run_once(b.engine, b.loop, 1)); /* the asker's */
    assert_int_equal(WEIR_OK, weir_processor_stop_async(b.engine, asker, TEST_PATIENCE));
    bed_turn(&b);
    assert_int_equal(1, read_letters(b.engine, 0));
    assert_letter(&letters[0], WEIR_DEAD_REFUSED, WEIR_STOPPING, full.id, asker.id);
    assert_ptr_equal(&weir_room_type, letters[0].type);
    bed_end(&b);
}

static void a_timer_that_finds_nobody_is_a_letter(void **state)
{
    (void)state;
    for (int reserved = 0; reserved < 2; reserved++) {
        weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
        const weir_processor to = test_processor_add(engine, WEIR_PROCESSOR(.handler = ignore));
        test_engine_start(engine);
        weir_timer timer;
        assert_int_equal(WEIR_OK, weir_timer_add(engine, to, WEIR_EVENT(number, 3),
                                                 WEIR_TIMER(.after = 20 * WEIR_MS, .tag = 4,
                                                            .reserve = reserved != 0),
                                                 &timer));
        assert_int_equal(WEIR_OK, weir_processor_stop(engine, to, TEST_PATIENCE, NULL));
        TEST_UNTIL(read_letters(engine, 0) == 1);
        assert_letter(&letters[0], WEIR_DEAD_UNKNOWN, WEIR_UNKNOWN, to.id, to.id);
        assert_number(&letters[0], 3);
        (void)test_engine_end(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_event_is_a_letter_with_its_status_and_sentence),
        cmocka_unit_test(what_is_unhandled_dropped_full_or_invalid_is_no_letter),
        cmocka_unit_test(what_is_posted_to_the_gone_is_a_letter),
        cmocka_unit_test(only_the_head_of_a_large_payload_is_kept_and_the_block_is_not),
        cmocka_unit_test(what_waited_for_one_that_never_began_is_a_letter),
        cmocka_unit_test(what_is_refused_at_a_stop_is_a_letter),
        cmocka_unit_test(the_last_thousand_can_be_read_oldest_first_without_a_gap),
        cmocka_unit_test(letters_are_as_large_as_the_reader_knows_them),
        cmocka_unit_test(without_memory_only_the_counts_go_on),
        cmocka_unit_test(an_owed_event_that_nobody_takes_is_a_letter),
        cmocka_unit_test(room_for_somebody_who_is_gone_is_a_letter),
        cmocka_unit_test(a_timer_that_finds_nobody_is_a_letter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
