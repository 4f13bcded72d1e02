/*
 * dead_letter_channel_test.c - dead letters as events: whoever subscribes gets each of them, nobody
 * waits for a subscriber, and none of them brings about the next one for ever.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "watch_support.h"

enum { HEARD_MAX = 64 };

typedef struct ear {
    weir_dead_letter heard[HEARD_MAX];
    size_t count;
    uint64_t wrong;
    weir_status answer;
    const weir_processor *posts_to; /* or NULL */
} ear;

static weir_status hear(void *state, weir_turn *turn, const weir_event *event)
{
    ear *e = state;
    const weir_dead_letter *letter = weir_event_as(event, &weir_dead_letter_type);
    if (letter == NULL || e->count == HEARD_MAX || event->from.sender.id != 0) {
        e->wrong++;
        return WEIR_OK;
    }
    e->heard[e->count++] = *letter;
    if (e->posts_to != NULL) {
        e->wrong += weir_turn_post(turn, *e->posts_to, WEIR_EVENT(number, 77)) != WEIR_UNKNOWN;
    }
    return e->answer;
}

static weir_channel subscribe(weir_engine *engine, weir_processor who)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_channel channel = weir_channel_open(engine, WEIR_CHANNEL_DEAD_LETTERS, &error);
    test_error_none(&error);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, channel, who));
    return channel;
}

static weir_processor add_ear(weir_engine *engine, ear *e)
{
    memset(e, 0, sizeof(*e));
    const weir_processor handle =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = hear, .argument = e));
    (void)subscribe(engine, handle);
    return handle;
}

static size_t kept(weir_engine *engine)
{
    static weir_dead_letter letters[1000];
    letters[0].struct_size = sizeof(letters[0]);
    return weir_dead_letter_read(engine, 0, letters, 1000);
}

static weir_status refuse_to_work(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)event;
    return weir_turn_fail(turn, WEIR_E_USER, "not today");
}

static void whoever_subscribes_gets_each_letter(void **state)
{
    (void)state;
    bed b;
    ear one;
    ear two;
    bed_make(&b);
    (void)add_ear(b.engine, &one);
    (void)add_ear(b.engine, &two);
    const weir_processor gone = bed_target(&b);
    const weir_processor fails =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = refuse_to_work));
    test_engine_start(b.engine);
    bed_stop(&b, gone);
    assert_int_equal(WEIR_UNKNOWN, test_post(b.engine, gone, 5));
    assert_int_equal(WEIR_OK, test_post(b.engine, fails, 6));
    bed_turn(&b);
    assert_int_equal(2, one.count);
    assert_int_equal(2, two.count);
    assert_memory_equal(one.heard, two.heard, 2 * sizeof(one.heard[0]));
    assert_int_equal(sizeof(weir_dead_letter), one.heard[0].struct_size);
    assert_int_equal(1, one.heard[0].number);
    assert_int_equal(WEIR_DEAD_UNKNOWN, one.heard[0].reason);
    assert_int_equal(gone.id, one.heard[0].to.id);
    assert_int_equal(2, one.heard[1].number);
    assert_int_equal(WEIR_DEAD_FAILED, one.heard[1].reason);
    assert_string_equal("not today", one.heard[1].text);
    assert_ptr_equal(&number_type, one.heard[1].type);
    assert_int_equal(0, one.wrong + two.wrong);
    assert_int_equal(0, test_engine_counters(b.engine).block_bytes);
    bed_end(&b);
}

static void a_subscriber_that_fails_on_letters_brings_about_no_more_of_them(void **state)
{
    (void)state;
    bed b;
    ear e;
    bed_make(&b);
    const weir_processor self = add_ear(b.engine, &e);
    e.answer = WEIR_E_USER;
    const weir_processor gone = bed_target(&b);
    test_engine_start(b.engine);
    bed_stop(&b, gone);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_UNKNOWN, test_post(b.engine, gone, i));
    }
    bed_turn(&b);
    assert_int_equal(3, e.count);
    assert_int_equal(3, kept(b.engine));
    const weir_counters c = test_engine_counters(b.engine);
    assert_int_equal(6, c.letters); /* counted all the same */
    assert_int_equal(3, c.dead_failed);
    assert_int_equal(3, test_processor_counters(b.engine, self).dead);
    bed_end(&b);
}

static void what_a_subscriber_does_with_a_letter_makes_letters_that_only_are_kept(void **state)
{
    (void)state;
    bed b;
    ear e;
    bed_make(&b);
    (void)add_ear(b.engine, &e);
    const weir_processor gone = bed_target(&b);
    e.posts_to = &gone;
    test_engine_start(b.engine);
    bed_stop(&b, gone);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_UNKNOWN, test_post(b.engine, gone, i));
    }
    bed_turn(&b); /* it comes to an end */
    assert_int_equal(3, e.count);
    assert_int_equal(0, e.wrong);
    assert_int_equal(6, kept(b.engine));
    bed_end(&b);
}

static void what_fails_while_the_engine_drains_is_still_heard(void **state)
{
    (void)state;
    bed b;
    ear e;
    bed_make(&b);
    (void)add_ear(b.engine, &e);
    const weir_processor fails =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = refuse_to_work));
    test_engine_start(b.engine);
    for (uint64_t i = 0; i < 5; i++) {
        assert_int_equal(WEIR_OK, test_post(b.engine, fails, i));
    }
    assert_int_equal(WEIR_OK, weir_engine_stop_async(b.engine, TEST_PATIENCE));
    TEST_UNTIL(test_post(b.engine, fails, 6) == WEIR_STOPPING); /* kept, and not heard */
    TEST_UNTIL(((void)weir_thread_run_once(b.engine, b.loop, 0),
                weir_engine_wait(b.engine, WEIR_NOW, NULL) == WEIR_OK));
    assert_int_equal(5, e.count);
    assert_true(kept(b.engine) >= 6);
    weir_engine_destroy(b.engine);
    assert_int_equal(0, atomic_load(&b.fault.bytes));
}

typedef struct gated {
    sem_t entered, pass;
    atomic_int handled;
} gated;

static weir_status stand(void *state, weir_turn *turn, const weir_event *event)
{
    gated *g = state;
    (void)turn;
    (void)event;
    (void)sem_post(&g->entered);
    const bool passed = test_sem_taken(&g->pass);
    atomic_fetch_add(&g->handled, 1);
    return passed ? WEIR_OK : WEIR_E_USER;
}

/* Stands in its gate with a full mailbox, whatever its policy, while others go on. */
static void nobody_waits_for_a_slow_subscriber(void **state)
{
    (void)state;
    static const weir_overflow policies[] = { WEIR_OVERFLOW_FAIL, WEIR_OVERFLOW_BLOCK,
                                              WEIR_OVERFLOW_DROP_NEWEST,
                                              WEIR_OVERFLOW_DROP_OLDEST };
    for (size_t p = 0; p < sizeof(policies) / sizeof(policies[0]); p++) {
        gated slow;
        assert_int_equal(0, sem_init(&slow.entered, 0, 0));
        assert_int_equal(0, sem_init(&slow.pass, 0, 0));
        atomic_init(&slow.handled, 0);
        weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
        (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("")));
        (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("slow")));
        const weir_processor subscriber = test_processor_add(
            engine,
            WEIR_PROCESSOR(.handler = stand, .argument = &slow, .dispatcher = "slow",
                           .mailbox_max = 1, .overflow = policies[p], .block_max = WEIR_FOREVER));
        const weir_processor fails =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = refuse_to_work));
        const weir_processor gone = test_processor_add(engine, WEIR_PROCESSOR(.handler = ignore));
        (void)subscribe(engine, subscriber);
        test_engine_start(engine);
        assert_int_equal(WEIR_OK, weir_processor_stop(engine, gone, TEST_PATIENCE, NULL));
        for (uint64_t i = 0; i < 500; i++) {
            assert_int_equal(WEIR_UNKNOWN, test_post(engine, gone, i));
            assert_int_equal(WEIR_OK, test_post(engine, fails, i));
        }
        TEST_UNTIL(test_engine_counters(engine).dead_failed == 500);
        test_sem_wait(&slow.entered); /* the first of them, and it is still in there */
        assert_int_equal(0, atomic_load(&slow.handled));
        assert_int_equal(1000, test_engine_counters(engine).letters);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(0, sem_post(&slow.pass));
        }
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        assert_int_equal(WEIR_OK, weir_engine_stop(engine, TEST_PATIENCE, &report));
        assert_int_equal(500, report.dead);
        weir_engine_destroy(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_subscribes_gets_each_letter),
        cmocka_unit_test(a_subscriber_that_fails_on_letters_brings_about_no_more_of_them),
        cmocka_unit_test(what_a_subscriber_does_with_a_letter_makes_letters_that_only_are_kept),
        cmocka_unit_test(what_fails_while_the_engine_drains_is_still_heard),
        cmocka_unit_test(nobody_waits_for_a_slow_subscriber),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
