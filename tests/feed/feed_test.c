/*
 * feed_test.c - feeds: who gets what, in which order, and what the counters say of it (S-72 to
 * S-75).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed_support.h"

/* ---- names ---- */

static void a_name_is_taken_once_and_found_for_ever(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    const weir_feed ticks = feed_open(engine, WEIR_FEED(.name = "ticks"));
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(0, weir_feed_open(engine, WEIR_FEED(.name = "ticks"), &error).id);
    assert_int_equal(WEIR_E_TAKEN, error.status);
    assert_int_equal(ticks.id, weir_feed_find(engine, "ticks").id);
    assert_int_equal(0, weir_feed_find(engine, "tocks").id);
    assert_int_equal(0, weir_feed_find(engine, NULL).id);
    assert_int_equal(0, weir_feed_find(NULL, "ticks").id);
    weir_engine_destroy(engine);
}

static void options_out_of_bounds_are_errors_that_name_the_field(void **state)
{
    (void)state;
    static const struct {
        weir_feed_options options;
        const char *field, *text;
    } bad[] = {
        { { .struct_size = sizeof(weir_feed_options) }, "name", "must be 1 to 255 bytes" },
        { { .struct_size = sizeof(weir_feed_options), .name = "x", .queue_max = 1000 },
          "queue_max",
          "power of two" },
        { { .struct_size = sizeof(weir_feed_options), .name = "x", .queue_max = 1u << 21 },
          "queue_max",
          "1048576" },
        { { .struct_size = sizeof(weir_feed_options), .name = "x", .slow = 9 },
          "slow",
          "WEIR_SLOW_" },
        { { .struct_size = sizeof(weir_feed_options), .name = "x", .slow_max = -5 },
          "slow_max",
          "" },
        { { .struct_size = sizeof(weir_feed_options), .name = "x", .replay_max = 1000001 },
          "replay_max",
          "1000000" },
    };
    weir_engine *engine = feed_engine();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(0, weir_feed_open(engine, &bad[i].options, &error).id);
        assert_int_equal(WEIR_E_INVALID, error.status);
        assert_non_null(strstr(error.path, bad[i].field));
        assert_non_null(strstr(error.text, bad[i].text));
    }
    assert_int_equal(0, weir_feed_find(engine, "x").id);
    weir_engine_destroy(engine);
}

static bool note(void *context, weir_feed feed, const char *name)
{
    char *out = context;
    assert_int_not_equal(0, feed.id);
    (void)snprintf(out + strlen(out), 3, "%s", name);
    return strlen(out) < 2;
}

static void feeds_are_visited_in_the_order_they_were_opened(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    char names[8] = "";
    weir_feed_visit(engine, note, names);
    assert_string_equal("", names);
    (void)feed_open(engine, WEIR_FEED(.name = "b"));
    (void)feed_open(engine, WEIR_FEED(.name = "a"));
    (void)feed_open(engine, WEIR_FEED(.name = "c"));
    weir_feed_visit(engine, note, names);
    assert_string_equal("ba", names);
    weir_engine_destroy(engine);
}

/* ---- delivery ---- */

static void every_subscriber_gets_everything_in_order(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    subscriber *s[4] = {
        subscriber_add(engine, "a", "one", 0),
        subscriber_add(engine, "b", "one", 0),
        subscriber_add(engine, "c", "two", 0),
        subscriber_add(engine, "d", "three", 0),
    };
    subscriber *stranger = subscriber_add(engine, "e", "one", 0);
    const weir_feed feed = feed_open(engine, WEIR_FEED(.name = "ticks", .slow = WEIR_SLOW_BLOCK));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, s[i]->processor));
        assert_int_equal(WEIR_ALREADY, weir_feed_subscribe(engine, feed, s[i]->processor));
    }
    test_engine_start(engine);
    publish_all(engine, feed, 1, 20000);
    const weir_stop_report report = test_engine_stop(engine);
    const weir_feed_counters counters = counters_of(engine, feed);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(20000, got(s[i]));
        assert_saw(s[i], 0, 1, 20000);
        subscriber_free(s[i]);
    }
    assert_int_equal(80000, report.handled);
    assert_int_equal(20000, counters.published);
    assert_int_equal(80000, counters.delivered);
    assert_int_equal(0, counters.dropped);
    assert_int_equal(0, got(stranger));
    subscriber_free(stranger);
    weir_engine_destroy(engine);
}

static void what_is_published_before_the_start_is_delivered_after_it(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    subscriber *s = subscriber_add(engine, "a", "one", 8);
    const weir_feed feed = feed_open(engine, WEIR_FEED(.name = "ticks"));
    assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, s->processor));
    publish_all(engine, feed, 1, 100); /* 8 of them in its mailbox */
    test_engine_start(engine);
    TEST_UNTIL(got(s) == 100);
    assert_saw(s, 0, 1, 100);
    (void)test_engine_end(engine);
    subscriber_free(s);
}

static void a_feed_nobody_listens_to_takes_everything(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    const weir_feed feed = feed_open(engine, WEIR_FEED(.name = "ticks"));
    test_engine_start(engine);
    publish_all(engine, feed, 1, 10);
    assert_int_equal(10, counters_of(engine, feed).published);
    assert_int_equal(0, counters_of(engine, feed).delivered);
    (void)test_engine_end(engine);
}

static void after_unsubscribe_nothing_more_comes(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    subscriber *a = subscriber_add(engine, "a", "one", 4);
    subscriber *b = subscriber_add(engine, "b", "two", 4);
    const weir_feed feed = feed_open(engine, WEIR_FEED(.name = "ticks"));
    assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, a->processor));
    assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, b->processor));
    test_engine_start(engine);
    hold(a);
    hold(b);
    publish_all(engine, feed, 1, 50);
    held(a);
    held(b);
    assert_int_equal(WEIR_OK, weir_feed_unsubscribe(engine, feed, a->processor));
    assert_int_equal(WEIR_OK, weir_feed_unsubscribe(engine, feed, b->processor));
    assert_int_equal(WEIR_ALREADY, weir_feed_unsubscribe(engine, feed, b->processor));
    publish_all(engine, feed, 51, 60);
    pass(a);
    pass(b);
    (void)test_engine_stop(engine);
    assert_in_range(got(a), 1, 5); /* what its mailbox had: no more than it has places */
    assert_in_range(got(b), 1, 5);
    assert_saw(a, 0, 1, got(a));
    const weir_feed_counters counters = counters_of(engine, feed);
    assert_int_equal(100, counters.delivered + counters.dropped);
    assert_int_equal(got(a) + got(b), counters.delivered);
    assert_int_equal(0, counters.subscribers);
    weir_engine_destroy(engine);
    subscriber_free(a);
    subscriber_free(b);
}

static void a_subscriber_that_stops_is_none_any_more(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    subscriber *s[2] = { subscriber_add(engine, "a", "one", 4),
                         subscriber_add(engine, "b", "two", 4) };
    subscriber *other = subscriber_add(engine, "c", "three", 0);
    const weir_feed feed = feed_open(engine, WEIR_FEED(.name = "ticks"));
    assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, other->processor));
    test_engine_start(engine);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, s[i]->processor));
        hold(s[i]);
        publish_all(engine, feed, 1, 50);
        held(s[i]);
        assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, s[i]->processor, WEIR_S));
        pass(s[i]);
        char name[8];
        TEST_UNTIL(weir_processor_name(engine, s[i]->processor, name, sizeof(name)) == 0);
        publish_all(engine, feed, 51, 60);
        publish_all(engine, feed, 61, 70);
        assert_int_equal(1, counters_of(engine, feed).subscribers);
        assert_in_range(got(s[i]), 1, 50);
        assert_saw(s[i], 0, 1, got(s[i]));
        assert_int_equal(WEIR_UNKNOWN, weir_feed_subscribe(engine, feed, s[i]->processor));
        assert_int_equal(WEIR_UNKNOWN, weir_feed_unsubscribe(engine, feed, s[i]->processor));
    }
    TEST_UNTIL(got(other) == 140);
    (void)test_engine_end(engine); /* all that was attempted is done */
    subscriber_free(s[0]);
    subscriber_free(s[1]);
    subscriber_free(other);
}

static void handles_of_nobody_are_unknown(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    weir_engine *another = feed_engine();
    const weir_feed theirs = feed_open(another, WEIR_FEED(.name = "ticks"));
    subscriber *s = subscriber_add(engine, "a", "one", 0);
    assert_int_equal(WEIR_UNKNOWN, publish(engine, theirs, 1));
    const weir_feed ours = feed_open(engine, WEIR_FEED(.name = "ticks"));
    assert_int_equal(WEIR_UNKNOWN, publish(engine, theirs, 1));
    assert_int_equal(WEIR_UNKNOWN, weir_feed_subscribe(engine, theirs, s->processor));
    assert_int_equal(WEIR_UNKNOWN, weir_feed_subscribe(engine, ours, (weir_processor){ 77 }));
    assert_int_equal(WEIR_E_INVALID, publish(NULL, ours, 1));
    assert_int_equal(WEIR_E_INVALID, weir_feed_publish(engine, ours, NULL));
    assert_int_equal(WEIR_E_TYPE,
                     weir_feed_publish(engine, ours, &(weir_event){ .type = &tick_type }));
    weir_feed_counters counters = WEIR_FEED_COUNTERS_INIT;
    assert_int_equal(WEIR_UNKNOWN, weir_feed_counters_get(engine, theirs, &counters));
    weir_engine_destroy(engine);
    weir_engine_destroy(another);
    subscriber_free(s);
}

static void a_stopped_engine_takes_nothing_more(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    subscriber *s = subscriber_add(engine, "a", "one", 0);
    const weir_feed feed = feed_open(engine, WEIR_FEED(.name = "ticks"));
    assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, s->processor));
    test_engine_start(engine);
    (void)test_engine_stop(engine);
    assert_int_equal(WEIR_STOPPING, publish(engine, feed, 1));
    assert_int_equal(0, counters_of(engine, feed).published);
    weir_engine_destroy(engine);
    subscriber_free(s);
}

/* ---- payloads ---- */

static atomic_int dropped_payloads;
static void count_drop(void *payload)
{
    (void)payload;
    atomic_fetch_add(&dropped_payloads, 1);
}
static const weir_event_type owner_type = {
    sizeof(weir_event_type), "test.owner", 8, false, count_drop, NULL
};

static weir_status count_bytes(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    atomic_fetch_add((atomic_uint_least64_t *)state, event->size);
    return WEIR_OK;
}

static void blocks_are_shared_and_end_once(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    atomic_uint_least64_t bytes = 0;
    weir_processor p[3];
    static const char *const where[] = { "one", "one", "two" };
    const weir_feed feed = feed_open(engine, WEIR_FEED(.name = "ticks", .slow = WEIR_SLOW_BLOCK));
    for (int i = 0; i < 3; i++) {
        p[i] = test_processor_add(engine, WEIR_PROCESSOR(.handler = count_bytes, .argument = &bytes,
                                                         .dispatcher = where[i], .mailbox_max = 8));
        assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, p[i]));
    }
    test_engine_start(engine);
    static const char large[5000];
    for (int i = 0; i < 500; i++) {
        weir_block *block;
        assert_int_equal(WEIR_OK, weir_block_reserve(engine, 8, &block));
        assert_int_equal(WEIR_OK, weir_feed_publish(engine, feed,
                                                    &(weir_event){ .type = &owner_type,
                                                                   .data = weir_block_data(block),
                                                                   .size = 8,
                                                                   .block = block }));
        weir_block_release(block);
        assert_int_equal(WEIR_OK, weir_feed_publish(engine, feed,
                                                    &(weir_event){ .type = &weir_bytes_type,
                                                                   .data = large,
                                                                   .size = sizeof(large) }));
    }
    (void)test_engine_stop(engine);
    assert_int_equal(3 * 500 * (8 + sizeof(large)), atomic_load(&bytes));
    assert_int_equal(500, atomic_load(&dropped_payloads));
    weir_engine_destroy(engine);
}

/* ---- the writer ---- */

typedef struct second {
    weir_engine *engine;
    weir_feed feed;
    weir_status status;
} second;

static void *publish_once(void *argument)
{
    second *s = argument;
    s->status = publish(s->engine, s->feed, 1);
    return NULL;
}

static weir_status elsewhere(weir_engine *engine, weir_feed feed)
{
    pthread_t thread;
    second s = { engine, feed, WEIR_OK };
    assert_int_equal(0, pthread_create(&thread, NULL, publish_once, &s));
    assert_int_equal(0, pthread_join(thread, NULL));
    return s.status;
}

static void a_second_writer_is_refused_unless_many_are_expected(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    const weir_feed one = feed_open(engine, WEIR_FEED(.name = "one"));
    const weir_feed many = feed_open(engine, WEIR_FEED(.name = "many", .many_writers = true));
    assert_int_equal(WEIR_OK, publish(engine, one, 1));
    assert_int_equal(WEIR_E_INVALID, elsewhere(engine, one));
    assert_int_equal(WEIR_OK, publish(engine, one, 2));
    assert_int_equal(WEIR_OK, publish(engine, many, 1));
    assert_int_equal(WEIR_OK, elsewhere(engine, many));
    assert_int_equal(2, counters_of(engine, one).published);
    assert_int_equal(2, counters_of(engine, many).published);
    weir_engine_destroy(engine);
}

static void a_writer_that_has_ended_can_be_followed_by_another(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    const weir_feed feed = feed_open(engine, WEIR_FEED(.name = "one"));
    assert_int_equal(WEIR_OK, elsewhere(engine, feed));
    assert_int_equal(WEIR_OK, publish(engine, feed, 2));
    assert_int_equal(WEIR_E_INVALID, elsewhere(engine, feed));
    weir_engine_destroy(engine);
}

/* ---- the mapper ---- */

static weir_status map_tick(void *context, const weir_event *in, weir_event *out)
{
    tick *made = context;
    const tick *t = weir_event_as(in, &tick_type);
    if (t->number % 3 == 0) {
        return WEIR_DROPPED;
    }
    if (t->number % 3 == 1) {
        return WEIR_E_USER - 7;
    }
    if (t->number > 100) {
        return WEIR_OK; /* and nothing in it */
    }
    made->number = t->number * 10;
    *out = (weir_event){ .type = &tick_type, .data = made, .size = sizeof(*made) };
    return WEIR_OK;
}

static void a_mapper_changes_filters_and_fails(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    tick made;
    subscriber *s = subscriber_add(engine, "a", "one", 0);
    const weir_feed feed =
        feed_open(engine, WEIR_FEED(.name = "ticks", .mapper = map_tick, .mapper_context = &made));
    assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, s->processor));
    test_engine_start(engine);
    assert_int_equal(WEIR_DROPPED, publish(engine, feed, 3));
    assert_int_equal(WEIR_E_USER - 7, publish(engine, feed, 4));
    assert_int_equal(WEIR_OK, publish(engine, feed, 5));
    assert_int_equal(WEIR_OK, publish(engine, feed, 2));
    assert_int_equal(WEIR_E_TYPE, publish(engine, feed, 101));
    (void)test_engine_stop(engine);
    assert_int_equal(2, got(s));
    assert_int_equal(50, s->seen[0]);
    assert_int_equal(20, s->seen[1]);
    const weir_feed_counters counters = counters_of(engine, feed);
    assert_int_equal(2, counters.published);
    assert_int_equal(1, counters.filtered);
    assert_int_equal(2, counters.failed);
    weir_engine_destroy(engine);
    subscriber_free(s);
}

/* ---- names and broadcasts ---- */

static void a_named_feed_says_which_it_is_and_counts(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    subscriber *s = subscriber_add(engine, "a", "one", 4);
    const weir_feed feed =
        feed_open(engine, WEIR_FEED(.name = "ticks", .named = true, .slow = WEIR_SLOW_BLOCK));
    assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, s->processor));
    test_engine_start(engine);
    publish_all(engine, feed, 1, 1000);
    weir_block *block;
    assert_int_equal(WEIR_OK, weir_block_reserve(engine, 8, &block));
    assert_int_equal(WEIR_E_TYPE, weir_feed_publish(engine, feed,
                                                    &(weir_event){ .type = &owner_type,
                                                                   .data = weir_block_data(block),
                                                                   .size = 8,
                                                                   .block = block }));
    weir_block_release(block);
    (void)test_engine_end(engine);
    assert_int_equal(1000, atomic_load(&s->named));
    assert_int_equal(0, atomic_load(&s->odd));
    assert_int_equal(0, atomic_load(&s->replayed));
    assert_int_equal(1000, s->sequence);
    assert_saw(s, 0, 1, 1000);
    subscriber_free(s);
}

static void a_broadcast_reaches_everybody_with_a_name(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    subscriber *a = subscriber_add(engine, "a", "one", 0);
    subscriber *nameless = subscriber_add(engine, NULL, "one", 0);
    subscriber *invited = subscriber_add(engine, NULL, "two", 0);
    const weir_feed feed = feed_open(engine, WEIR_FEED(.name = "ticks", .broadcast = true));
    assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, invited->processor));
    assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, a->processor));
    test_engine_start(engine);
    publish_all(engine, feed, 1, 10);
    subscriber *late = subscriber_add(engine, "late", "two", 0);
    publish_all(engine, feed, 11, 20);
    (void)test_engine_end(engine);
    assert_int_equal(20, got(a));
    assert_int_equal(20, got(invited));
    assert_int_equal(0, got(nameless));
    assert_int_equal(10, got(late));
    assert_saw(late, 0, 11, 20);
    subscriber_free(a);
    subscriber_free(nameless);
    subscriber_free(invited);
    subscriber_free(late);
}

/* ---- replay ---- */

static void what_was_published_before_the_beginning_is_replayed_once_in_order(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    const weir_feed feed = feed_open(engine, WEIR_FEED(.name = "ticks", .named = true,
                                                       .replay_max = 100, .slow = WEIR_SLOW_BLOCK));
    publish_all(engine, feed, 1, 130); /* the first 30 are lost */
    subscriber *s = subscriber_add(engine, "a", "one", 4);
    assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, s->processor));
    test_engine_start(engine);
    assert_int_equal(0, got(s));
    assert_int_equal(WEIR_OK, weir_feed_begin(engine, feed));
    assert_int_equal(WEIR_ALREADY, weir_feed_begin(engine, feed));
    publish_all(engine, feed, 131, 140);
    (void)test_engine_stop(engine);
    assert_int_equal(110, got(s));
    assert_saw(s, 0, 31, 140);
    assert_int_equal(100, atomic_load(&s->replayed));
    assert_int_equal(140, s->sequence);
    assert_int_equal(0, atomic_load(&s->odd));
    const weir_feed_counters counters = counters_of(engine, feed);
    assert_int_equal(140, counters.published);
    assert_int_equal(100, counters.replayed);
    assert_int_equal(30, counters.replay_lost);
    weir_engine_destroy(engine);
    subscriber_free(s);
}

static void a_feed_without_replay_has_begun(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    const weir_feed feed = feed_open(engine, WEIR_FEED(.name = "ticks"));
    assert_int_equal(WEIR_ALREADY, weir_feed_begin(engine, feed));
    weir_engine_destroy(engine);
}

static void what_is_kept_for_a_replay_ends_with_its_engine(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    const weir_feed feed = feed_open(engine, WEIR_FEED(.name = "ticks", .replay_max = 10));
    publish_all(engine, feed, 1, 20);
    weir_engine_destroy(engine); /* logs what is still out; ASan sees the rest */
}

typedef struct clock_state {
    weir_ns now[4];
    int count;
} clock_state;

static weir_status read_clock(void *state, weir_turn *turn, const weir_event *event)
{
    clock_state *c = state;
    (void)event;
    c->now[c->count++] = weir_turn_now(turn);
    return WEIR_OK;
}

static void a_replay_drives_the_clock_of_who_asks_for_that(void **state)
{
    (void)state;
    weir_engine *engine = feed_engine();
    static clock_state c;
    const weir_feed feed =
        feed_open(engine, WEIR_FEED(.name = "ticks", .named = true, .replay_max = 10));
    const weir_processor p = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = read_clock, .argument = &c, .event_time = weir_named_time,
                               .dispatcher = "one"));
    assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, p));
    publish_all(engine, feed, 1, 1);
    const weir_ns between = weir_time_now(engine);
    publish_all(engine, feed, 2, 2);
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_feed_begin(engine, feed));
    (void)test_engine_end(engine);
    assert_int_equal(2, c.count);
    assert_true(c.now[0] > 0 && c.now[0] <= between);
    assert_true(c.now[1] >= between);
    assert_int_equal(0, weir_named_time(NULL, WEIR_EVENT(tick, .number = 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_taken_once_and_found_for_ever),
        cmocka_unit_test(options_out_of_bounds_are_errors_that_name_the_field),
        cmocka_unit_test(feeds_are_visited_in_the_order_they_were_opened),
        cmocka_unit_test(every_subscriber_gets_everything_in_order),
        cmocka_unit_test(what_is_published_before_the_start_is_delivered_after_it),
        cmocka_unit_test(a_feed_nobody_listens_to_takes_everything),
        cmocka_unit_test(after_unsubscribe_nothing_more_comes),
        cmocka_unit_test(a_subscriber_that_stops_is_none_any_more),
        cmocka_unit_test(handles_of_nobody_are_unknown),
        cmocka_unit_test(a_stopped_engine_takes_nothing_more),
        cmocka_unit_test(blocks_are_shared_and_end_once),
        cmocka_unit_test(a_second_writer_is_refused_unless_many_are_expected),
        cmocka_unit_test(a_writer_that_has_ended_can_be_followed_by_another),
        cmocka_unit_test(a_mapper_changes_filters_and_fails),
        cmocka_unit_test(a_named_feed_says_which_it_is_and_counts),
        cmocka_unit_test(a_broadcast_reaches_everybody_with_a_name),
        cmocka_unit_test(what_was_published_before_the_beginning_is_replayed_once_in_order),
        cmocka_unit_test(a_feed_without_replay_has_begun),
        cmocka_unit_test(what_is_kept_for_a_replay_ends_with_its_engine),
        cmocka_unit_test(a_replay_drives_the_clock_of_who_asks_for_that),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
