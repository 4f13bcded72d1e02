/*
 * channel_test.c - publish and subscribe: who gets what, how often, in which order, and what the
 * counters say of it (S-30 to S-34, P-2, P-3).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "channel_support.h"

static listener a, b, c; /* one per test at a time */

static weir_engine *quiet(void)
{
    return test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
}

/* ---- names and handles ---- */

static void a_name_is_one_channel_however_often_it_is_opened(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_channel prices = channel_open(engine, "prices");
    const weir_channel orders = channel_open(engine, "orders");
    assert_int_not_equal(prices.id, orders.id);
    assert_int_equal(prices.id, channel_open(engine, "prices").id);
    char name[16];
    for (int i = 0; i < 1000; i++) { /* over the end of a segment or two */
        (void)snprintf(name, sizeof(name), "many.%d", i);
        assert_int_not_equal(0, channel_open(engine, name).id);
    }
    assert_int_equal(prices.id, channel_open(engine, "prices").id);
    (void)snprintf(name, sizeof(name), "many.%d", 999);
    const weir_channel last = channel_open(engine, name);
    const weir_processor p = listener_add(engine, &a);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, last, p));
    test_engine_start(engine);
    say(engine, last, 1, 1, 0);
    say(engine, prices, 2, 0, 0);
    (void)test_engine_end(engine);
    assert_int_equal(1, heard(&a));
}

static void a_name_out_of_bounds_and_one_too_many_are_errors_in_words(void **state)
{
    (void)state;
    char longest[257];
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.channels_max = 2));
    memset(longest, 'x', sizeof(longest));
    longest[256] = '\0';
    const char *const bad[] = { NULL, "", longest };
    for (size_t i = 0; i < 3; i++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(0, weir_channel_open(engine, bad[i], &error).id);
        assert_int_equal(WEIR_E_INVALID, error.status);
        assert_non_null(strstr(error.text, "must be 1 to 255 bytes"));
        /* An error that stands is not written over, and nothing is done. */
        assert_int_equal(0, weir_channel_open(engine, "fine", &error).id);
    }
    longest[255] = '\0';
    const weir_channel one = channel_open(engine, longest);
    (void)channel_open(engine, "two");
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(0, weir_channel_open(engine, "three", &error).id);
    assert_int_equal(WEIR_E_LIMIT, error.status);
    assert_non_null(strstr(error.text, "channels_max (2)"));
    assert_int_equal(one.id, channel_open(engine, longest).id);
    assert_int_equal(0, weir_channel_open(NULL, "x", NULL).id);
    weir_engine_destroy(engine);
}

static void a_channel_of_another_engine_is_unknown(void **state)
{
    (void)state;
    weir_engine *first = test_engine_create(NULL);
    weir_engine *second = test_engine_create(NULL);
    const weir_channel theirs = channel_open(first, "x");
    const weir_channel ours = channel_open(second, "x");
    const weir_processor p = listener_add(second, &a);
    assert_int_not_equal(theirs.id, ours.id);
    assert_int_equal(WEIR_UNKNOWN, weir_channel_subscribe(second, theirs, p));
    assert_int_equal(WEIR_UNKNOWN, weir_channel_subscribe(second, (weir_channel){ 0 }, p));
    assert_int_equal(WEIR_UNKNOWN,
                     weir_channel_request_change(second, p, WEIR_SUBSCRIBE, &theirs, 1));
    assert_int_equal(WEIR_OK, weir_channel_subscribe(second, ours, p));
    test_engine_start(second);
    say(second, theirs, 1, 0, 0);
    say(second, (weir_channel){ UINT64_MAX }, 1, 0, 0);
    say(second, ours, 2, 1, 0);
    const weir_counters counters = test_engine_counters(second);
    assert_int_equal(3, counters.broadcasts);
    assert_int_equal(2, counters.unheard);
    assert_int_equal(1, counters.delivered);
    weir_engine_destroy(first);
    (void)test_engine_end(second);
}

/* ---- who gets it ---- */

static void a_broadcast_reaches_all_who_subscribed_and_nobody_else(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_channel news = channel_open(engine, "news");
    const weir_processor one = listener_add(engine, &a);
    const weir_processor two = listener_add(engine, &b);
    (void)listener_add(engine, &c);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, news, one));
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, news, two));
    assert_int_equal(WEIR_ALREADY, weir_channel_subscribe(engine, news, two));
    say(engine, news, 1, 2, 0); /* before the start, like a post */
    test_engine_start(engine);
    say(engine, news, 2, 2, 0);
    assert_int_equal(WEIR_OK, weir_channel_unsubscribe(engine, news, one));
    assert_int_equal(WEIR_ALREADY, weir_channel_unsubscribe(engine, news, one));
    say(engine, news, 3, 1, 0);
    const weir_stop_report report = test_engine_stop(engine);
    assert_int_equal(5, report.handled);
    assert_int_equal(2, heard(&a));
    assert_int_equal(3, heard(&b));
    assert_int_equal(0, heard(&c));
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(i + 1, b.heard[i]);
    }
    const weir_counters counters = test_engine_counters(engine);
    assert_int_equal(3, counters.broadcasts);
    assert_int_equal(5, counters.delivered);
    assert_int_equal(0, counters.unheard);
    assert_int_equal(0, counters.undelivered);
    assert_int_equal(5, counters.accepted);
    weir_engine_destroy(engine);
}

static void a_subscriber_of_k_channels_gets_k_copies(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_channel channels[] = { channel_open(engine, "x"), channel_open(engine, "y"),
                                      channel_open(engine, "z"), channel_open(engine, "silent") };
    const weir_processor one = listener_add(engine, &a);
    const weir_processor two = listener_add(engine, &b);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, channels[i], one));
    }
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, channels[1], two));
    test_engine_start(engine);
    weir_delivery d;
    assert_int_equal(WEIR_OK,
                     weir_engine_broadcast_many(engine, channels, 4, WEIR_EVENT(number, 7), &d));
    assert_int_equal(4, d.delivered);
    const weir_channel twice[] = { channels[1], channels[1] };
    assert_int_equal(WEIR_OK,
                     weir_engine_broadcast_many(engine, twice, 2, WEIR_EVENT(number, 8), NULL));
    assert_int_equal(WEIR_OK,
                     weir_engine_broadcast_many(engine, NULL, 0, WEIR_EVENT(number, 9), &d));
    assert_int_equal(0, d.delivered);
    const weir_stop_report report = test_engine_stop(engine);
    assert_int_equal(8, report.accepted);
    assert_int_equal(5, heard(&a));
    assert_int_equal(3, heard(&b));
    const weir_counters counters = test_engine_counters(engine);
    assert_int_equal(6, counters.broadcasts);
    assert_int_equal(1, counters.unheard);
    weir_engine_destroy(engine);
}

static void a_sender_that_subscribes_gets_its_own_events(void **state)
{
    (void)state;
    static speaker s;
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor self = speaker_add(engine, &s, 0);
    const weir_processor other = listener_add(engine, &b);
    s.channels[0] = channel_open(engine, "echo");
    s.channel_count = 1;
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, s.channels[0], self));
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, s.channels[0], other));
    test_engine_start(engine);
    order_and_wait(engine, self, &s, 5);
    assert_int_equal(WEIR_OK, s.status);
    assert_int_equal(2, s.last.delivered);
    (void)test_engine_end(engine);
    assert_int_equal(1, heard(&s.own));
    assert_int_equal(16, s.own.heard[0]);
    assert_int_equal(self.id, s.own.from[0].id);
    assert_int_equal(self.id, b.from[0].id);
}

/* (The originals hung without a dispatcher for it.) */
static void broadcasting_needs_no_dispatcher_of_its_own(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("api")));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("batch")));
    const weir_channel news = channel_open(engine, "news");
    listener_init(&a);
    listener_init(&b);
    listener *const both[] = { &a, &b };
    const char *const where[] = { "api", "batch" };
    for (size_t i = 0; i < 2; i++) {
        const weir_processor p = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = listen, .argument = both[i], .dispatcher = where[i]));
        assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, news, p));
    }
    test_engine_start(engine);
    assert_int_equal(2, test_engine_counters(engine).threads);
    say(engine, news, 1, 2, 0);
    TEST_UNTIL(heard(&a) == 1 && heard(&b) == 1); /* without a stop: they were woken */
    assert_int_equal(2, test_engine_counters(engine).threads);
    (void)test_engine_end(engine);
}

static void only_weir_broadcasts_on_reserved_channels(void **state)
{
    (void)state;
    static speaker s;
    weir_engine *engine = quiet();
    const weir_channel letters = channel_open(engine, WEIR_CHANNEL_DEAD_LETTERS);
    const weir_channel other = channel_open(engine, "weird");
    const weir_processor p = listener_add(engine, &a);
    const weir_processor self = speaker_add(engine, &s, 0);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, letters, p));
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, other, p));
    test_engine_start(engine);
    const weir_channel both[] = { other, letters };
    weir_delivery d = { 7, 7 };
    assert_int_equal(WEIR_E_INVALID,
                     weir_engine_broadcast_many(engine, both, 2, WEIR_EVENT(number, 1), &d));
    assert_int_equal(0, d.delivered + d.refused);
    s.channels[0] = letters;
    s.channel_count = 1;
    order_and_wait(engine, self, &s, 1);
    assert_int_equal(WEIR_E_INVALID, s.status);
    assert_int_equal(2, test_engine_counters(engine).refused_other);
    say(engine, other, 2, 1, 0);
    (void)test_engine_end(engine);
    assert_int_equal(1, heard(&a));
}

static void what_is_wrong_with_an_event_nobody_gets(void **state)
{
    (void)state;
    weir_engine *engine = quiet();
    const weir_channel news = channel_open(engine, "news");
    const weir_processor p = listener_add(engine, &a);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, news, p));
    test_engine_start(engine);
    const number n = { 1 };
    const weir_event small = { .type = &number_type, .data = &n, .size = 4 };
    const weir_event untyped = { .data = &n, .size = sizeof(n) };
    weir_delivery d = { 7, 7 };
    assert_int_equal(WEIR_E_TYPE, weir_engine_broadcast(engine, news, &small, &d));
    assert_int_equal(0, d.delivered + d.refused);
    assert_int_equal(WEIR_E_INVALID, weir_engine_broadcast(engine, news, &untyped, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_engine_broadcast(engine, news, NULL, NULL));
    assert_int_equal(WEIR_E_INVALID,
                     weir_engine_broadcast_many(engine, NULL, 1, WEIR_EVENT(number, 1), NULL));
    assert_int_equal(WEIR_E_INVALID, weir_engine_broadcast(NULL, news, WEIR_EVENT(number, 1), &d));
    assert_int_equal(WEIR_E_INVALID, weir_turn_broadcast(NULL, news, WEIR_EVENT(number, 1)));
    assert_int_equal(4, test_engine_counters(engine).refused_other);
    (void)test_engine_end(engine);
    assert_int_equal(0, heard(&a));
}

/* ---- who refuses ---- */

/* A listener whose mailbox of two is full, its thread inside the first event. */
static weir_processor stuffed(weir_engine *engine, listener *l, sem_t *gate, weir_overflow overflow,
                              weir_channel channel)
{
    listener_init(l);
    assert_int_equal(0, sem_init(gate, 0, 0));
    l->gate = gate;
    const weir_processor p = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = listen, .argument = l, .mailbox_max = 2,
                               .overflow = overflow, .block_max = WEIR_FOREVER, .dedicated = true));
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, channel, p));
    return p;
}

static void fill_up(weir_engine *engine, weir_processor p, listener *l)
{
    assert_int_equal(WEIR_OK, test_post(engine, p, 100));
    test_sem_wait(&l->entered);
    assert_int_equal(WEIR_OK, test_post(engine, p, 101));
    assert_int_equal(WEIR_OK, test_post(engine, p, 102));
}

static void open_gate(sem_t *gate)
{
    for (int i = 0; i < 10; i++) {
        (void)sem_post(gate);
    }
}

static void a_full_subscriber_is_treated_as_its_policy_says_and_nobody_waits(void **state)
{
    (void)state;
    static const struct {
        weir_overflow overflow;
        uint64_t delivered, refused, handled, last;
    } rows[] = {
        { WEIR_OVERFLOW_FAIL, 1, 1, 3, 102 },
        { WEIR_OVERFLOW_BLOCK, 1, 1, 3, 102 },
        { WEIR_OVERFLOW_DROP_NEWEST, 2, 0, 3, 102 },
        { WEIR_OVERFLOW_DROP_OLDEST, 2, 0, 3, 1 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        sem_t gate;
        weir_engine *engine = quiet();
        const weir_channel news = channel_open(engine, "news");
        const weir_processor full = stuffed(engine, &a, &gate, rows[i].overflow, news);
        const weir_processor free_one = listener_add(engine, &b);
        assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, news, free_one));
        test_engine_start(engine);
        fill_up(engine, full, &a);
        say(engine, news, 1, rows[i].delivered, rows[i].refused);
        TEST_UNTIL(heard(&b) == 1); /* the others do not wait for it either */
        open_gate(&gate);
        (void)test_engine_stop(engine);
        const weir_counters counters = test_engine_counters(engine);
        assert_int_equal(rows[i].delivered, counters.delivered);
        assert_int_equal(rows[i].refused, counters.undelivered);
        assert_int_equal(rows[i].refused, counters.refused_full);
        assert_int_equal(0, counters.untold);
        assert_int_equal(rows[i].handled, heard(&a));
        assert_int_equal(rows[i].last, a.heard[rows[i].handled - 1]);
        weir_engine_destroy(engine);
    }
}

static void a_sender_is_told_who_refused_and_on_which_channel(void **state)
{
    (void)state;
    static speaker s;
    sem_t gate, gate_too;
    weir_engine *engine = quiet();
    const weir_channel x = channel_open(engine, "x");
    const weir_channel y = channel_open(engine, "y");
    const weir_processor one = stuffed(engine, &a, &gate, WEIR_OVERFLOW_FAIL, x);
    const weir_processor two = stuffed(engine, &b, &gate_too, WEIR_OVERFLOW_BLOCK, y);
    const weir_processor self = speaker_add(engine, &s, 0);
    s.channels[0] = x;
    s.channels[1] = y;
    s.channel_count = 2;
    test_engine_start(engine);
    fill_up(engine, one, &a);
    fill_up(engine, two, &b);
    order_and_wait(engine, self, &s, 1);
    assert_int_equal(WEIR_OK, s.status);
    assert_int_equal(0, s.last.delivered);
    assert_int_equal(2, s.last.refused);
    TEST_UNTIL(atomic_load(&s.own.told_count) == 2);
    assert_int_equal(one.id, s.own.told[0].target.id);
    assert_int_equal(x.id, s.own.told[0].channel.id);
    assert_int_equal(WEIR_FULL, s.own.told[0].status);
    assert_int_equal(two.id, s.own.told[1].target.id);
    assert_int_equal(y.id, s.own.told[1].channel.id);
    open_gate(&gate);
    open_gate(&gate_too);
    const weir_stop_report report = test_engine_stop(engine);
    assert_int_equal(3 + 3 + 1 + 2, report.handled);
    assert_int_equal(2, test_engine_counters(engine).undelivered);
    assert_int_equal(0, test_engine_counters(engine).untold);
    weir_engine_destroy(engine);
}

static void a_sender_without_room_is_not_told_and_that_is_counted(void **state)
{
    (void)state;
    static speaker s;
    sem_t gate, gate_too;
    weir_engine *engine = quiet();
    const weir_channel x = channel_open(engine, "x");
    const weir_processor one = stuffed(engine, &a, &gate, WEIR_OVERFLOW_FAIL, x);
    const weir_processor two = stuffed(engine, &b, &gate_too, WEIR_OVERFLOW_FAIL, x);
    const weir_processor self = speaker_add(engine, &s, 1); /* its place is free in its turn */
    s.channels[0] = x;
    s.channel_count = 1;
    test_engine_start(engine);
    fill_up(engine, one, &a);
    fill_up(engine, two, &b);
    order_and_wait(engine, self, &s, 1);
    open_gate(&gate);
    open_gate(&gate_too);
    (void)test_engine_stop(engine);
    assert_int_equal(1, atomic_load(&s.own.told_count));
    const weir_counters counters = test_engine_counters(engine);
    assert_int_equal(2, counters.undelivered);
    assert_int_equal(1, counters.untold);
    assert_int_equal(2 + 1, counters.refused_full);
    weir_engine_destroy(engine);
}

/* ---- order ---- */

/* A speaker that posts to a subscriber directly before and after each broadcast. */
static void broadcasts_and_posts_of_one_sender_arrive_in_its_order(void **state)
{
    (void)state;
    enum { ROUNDS = 300 };
    static speaker s;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 2));
    const weir_processor self = speaker_add(engine, &s, 0);
    const weir_processor one = listener_add(engine, &a);
    s.channels[0] = channel_open(engine, "x");
    s.channel_count = 1;
    s.direct = one;
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, s.channels[0], one));
    test_engine_start(engine);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(engine, self, WEIR_EVENT(order, i)));
    }
    (void)test_engine_end(engine);
    assert_int_equal(3 * ROUNDS, heard(&a));
    for (uint64_t i = 0; i < 3 * ROUNDS; i++) {
        assert_int_equal(i, a.heard[i]);
    }
}

/* ---- stops ---- */

static void a_stopping_engine_refuses_broadcasts_from_outside(void **state)
{
    (void)state;
    static speaker s;
    sem_t gate;
    weir_engine *engine = quiet();
    const weir_channel x = channel_open(engine, "x");
    const weir_processor held = stuffed(engine, &a, &gate, WEIR_OVERFLOW_FAIL, x);
    const weir_processor self = speaker_add(engine, &s, 0);
    const weir_processor one = listener_add(engine, &b);
    const weir_channel y = channel_open(engine, "y");
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, y, one));
    s.channels[0] = y;
    s.channel_count = 1;
    test_engine_start(engine);
    fill_up(engine, held, &a);
    assert_int_equal(WEIR_OK, weir_engine_stop_async(engine, TEST_PATIENCE));
    weir_delivery d = { 7, 7 };
    assert_int_equal(WEIR_STOPPING, weir_engine_broadcast(engine, y, WEIR_EVENT(number, 1), &d));
    assert_int_equal(0, d.delivered + d.refused);
    assert_int_equal(WEIR_STOPPING, weir_engine_post(engine, self, WEIR_EVENT(order, 1)));
    open_gate(&gate);
    assert_int_equal(WEIR_OK, weir_engine_wait(engine, TEST_PATIENCE, NULL));
    assert_int_equal(WEIR_STOPPING, weir_engine_broadcast(engine, y, WEIR_EVENT(number, 1), NULL));
    assert_int_equal(0, heard(&b));
    weir_engine_destroy(engine);
}

static void what_a_handler_broadcasts_during_a_stop_is_handled_before_it_ends(void **state)
{
    (void)state;
    static speaker s;
    sem_t gate;
    weir_engine *engine = quiet();
    const weir_channel x = channel_open(engine, "x");
    assert_int_equal(0, sem_init(&gate, 0, 0));
    const weir_processor self = speaker_add(engine, &s, 0);
    const weir_processor one = listener_add(engine, &b);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, x, one));
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, x, self));
    s.channels[0] = x;
    s.channel_count = 1;
    s.own.gate = &gate;
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, self, 1));
    test_sem_wait(&s.own.entered); /* behind it waits what it will broadcast */
    assert_int_equal(WEIR_OK, weir_engine_post(engine, self, WEIR_EVENT(order, 1)));
    assert_int_equal(WEIR_OK, weir_engine_stop_async(engine, TEST_PATIENCE));
    open_gate(&gate);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_wait(engine, TEST_PATIENCE, &report));
    assert_int_equal(1, heard(&b));
    assert_int_equal(WEIR_OK, s.status);
    assert_int_equal(2, s.last.delivered);
    assert_int_equal(4, report.handled);
    weir_engine_destroy(engine);
}

static void a_subscriber_that_stops_refuses_and_is_then_off_the_channel(void **state)
{
    (void)state;
    static speaker s;
    sem_t gate;
    weir_engine *engine = quiet();
    const weir_channel x = channel_open(engine, "x");
    const weir_processor held = stuffed(engine, &a, &gate, WEIR_OVERFLOW_FAIL, x);
    const weir_processor self = speaker_add(engine, &s, 0);
    s.channels[0] = x;
    s.channel_count = 1;
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, held, 1));
    test_sem_wait(&a.entered);
    assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, held, TEST_PATIENCE));
    order_and_wait(engine, self, &s, 1);
    assert_int_equal(1, s.last.refused);
    TEST_UNTIL(atomic_load(&s.own.told_count) == 1);
    assert_int_equal(WEIR_STOPPING, s.own.told[0].status);
    assert_int_equal(WEIR_STOPPING,
                     weir_channel_subscribe(engine, channel_open(engine, "y"), held));
    assert_int_equal(WEIR_ALREADY,
                     weir_channel_unsubscribe(engine, channel_open(engine, "y"), held));
    open_gate(&gate);
    TEST_UNTIL(weir_processor_name(engine, held, NULL, 0) == 0);
    order_and_wait(engine, self, &s, 2);
    assert_int_equal(0, s.last.refused);
    assert_int_equal(WEIR_UNKNOWN, weir_channel_subscribe(engine, x, held));
    assert_int_equal(WEIR_UNKNOWN, weir_channel_unsubscribe(engine, x, held));
    assert_int_equal(1, test_engine_counters(engine).unheard);
    (void)test_engine_end(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_one_channel_however_often_it_is_opened),
        cmocka_unit_test(a_name_out_of_bounds_and_one_too_many_are_errors_in_words),
        cmocka_unit_test(a_channel_of_another_engine_is_unknown),
        cmocka_unit_test(a_broadcast_reaches_all_who_subscribed_and_nobody_else),
        cmocka_unit_test(a_subscriber_of_k_channels_gets_k_copies),
        cmocka_unit_test(a_sender_that_subscribes_gets_its_own_events),
        cmocka_unit_test(broadcasting_needs_no_dispatcher_of_its_own),
        cmocka_unit_test(only_weir_broadcasts_on_reserved_channels),
        cmocka_unit_test(what_is_wrong_with_an_event_nobody_gets),
        cmocka_unit_test(a_full_subscriber_is_treated_as_its_policy_says_and_nobody_waits),
        cmocka_unit_test(a_sender_is_told_who_refused_and_on_which_channel),
        cmocka_unit_test(a_sender_without_room_is_not_told_and_that_is_counted),
        cmocka_unit_test(broadcasts_and_posts_of_one_sender_arrive_in_its_order),
        cmocka_unit_test(a_stopping_engine_refuses_broadcasts_from_outside),
        cmocka_unit_test(what_a_handler_broadcasts_during_a_stop_is_handled_before_it_ends),
        cmocka_unit_test(a_subscriber_that_stops_refuses_and_is_then_off_the_channel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
