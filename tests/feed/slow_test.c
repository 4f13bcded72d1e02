/*
 * slow_test.c - one slow subscriber and three fast ones, policy by policy (S-73): what the slow one
 * loses is exact, the others lose nothing, and nobody waits for himself.
 *
 * The slow one is held in its handler, so that it is as slow as can be. It is tried in both kinds
 * of lanes: on a dispatcher of one thread, and on one of two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed_support.h"

enum { QUEUE = 8, PLACES = 4 };

typedef struct scene {
    weir_engine *engine;
    weir_feed feed;
    subscriber *slow;
    subscriber *fast[3];
} scene;

/* The slow one handles number 1 and stays there. */
static scene begin(const char *dispatcher, weir_slow_consumer policy, weir_ns slow_max)
{
    scene s = { .engine = feed_engine() };
    s.slow = subscriber_add(s.engine, "turtle", dispatcher, PLACES);
    s.fast[0] = subscriber_add(s.engine, "a", "three", 0);
    s.fast[1] = subscriber_add(s.engine, "b", "three", 0);
    s.fast[2] = subscriber_add(s.engine, "c", strcmp(dispatcher, "two") == 0 ? "three" : "two", 0);
    s.feed = feed_open(s.engine, WEIR_FEED(.name = "ticks", .slow = policy, .queue_max = QUEUE,
                                           .slow_max = slow_max));
    assert_int_equal(WEIR_OK, weir_feed_subscribe(s.engine, s.feed, s.slow->processor));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, weir_feed_subscribe(s.engine, s.feed, s.fast[i]->processor));
    }
    test_engine_start(s.engine);
    hold(s.slow);
    publish_all(s.engine, s.feed, 1, 1);
    held(s.slow);
    return s;
}

static void assert_fast(const scene *s, uint64_t last)
{
    for (int i = 0; i < 3; i++) {
        TEST_UNTIL(got(s->fast[i]) == last);
        assert_saw(s->fast[i], 0, 1, last);
    }
}

static void clear(const scene *s)
{
    weir_engine_destroy(s->engine);
    subscriber_free(s->slow);
    for (int i = 0; i < 3; i++) {
        subscriber_free(s->fast[i]);
    }
}

static void end(const scene *s)
{
    (void)test_engine_stop(s->engine);
    clear(s);
}

/* How many the slow one can have before anybody must wait: in its mailbox, of which the one in its
 * handler may still take a place, and in the ring. */
static uint64_t fill(const scene *s)
{
    uint64_t last = 1;
    while (counters_of(s->engine, s->feed).waits == 0 &&
           counters_of(s->engine, s->feed).dropped == 0) {
        publish_all(s->engine, s->feed, last + 1, last + 1);
        last++;
        assert_true(last <= 1 + PLACES + QUEUE + 1);
    }
    return last;
}

static const char *const lanes[] = { "one", "two" };

static void backoff_waits_its_time_then_what_is_oldest_goes(void **state)
{
    (void)state;
    for (int lane = 0; lane < 2; lane++) {
        scene s = begin(lanes[lane], WEIR_SLOW_BACKOFF, 20 * WEIR_MS);
        const weir_ns before = test_now();
        const uint64_t last = fill(&s); /* the last one dropped one */
        assert_true(test_now() - before >= 20 * WEIR_MS);
        const weir_feed_counters counters = counters_of(s.engine, s.feed);
        assert_int_equal(1, counters.waits);
        assert_true(counters.waited_ns >= 20 * 1000000);
        assert_int_equal(1, counters.dropped);
        assert_string_equal("turtle", counters.slowest);
        assert_int_equal(QUEUE, counters.deepest);
        /* It is known by now: nobody waits for it again until it has taken something. */
        publish_all(s.engine, s.feed, last + 1, last + 5);
        assert_int_equal(1, counters_of(s.engine, s.feed).waits);
        assert_int_equal(6, counters_of(s.engine, s.feed).dropped);
        assert_fast(&s, last + 5);
        pass(s.slow);
        TEST_UNTIL(got(s.slow) == last + 5 - 6);
        /* In order, the gap in the middle: what was in its mailbox came before. */
        const uint64_t mailbox = last + 5 - 6 - QUEUE;
        assert_saw(s.slow, 0, 1, mailbox);
        assert_saw(s.slow, mailbox, mailbox + 7, last + 5);
        end(&s);
    }
}

static void drop_oldest_never_waits_and_is_exact(void **state)
{
    (void)state;
    for (int lane = 0; lane < 2; lane++) {
        scene s = begin(lanes[lane], WEIR_SLOW_DROP_OLDEST, 0);
        publish_all(s.engine, s.feed, 2, 1000);
        const weir_feed_counters counters = counters_of(s.engine, s.feed);
        assert_int_equal(0, counters.waits);
        pass(s.slow);
        (void)test_engine_stop(s.engine);
        const uint64_t handled = got(s.slow);
        assert_int_equal(1000, handled + counters.dropped);
        assert_in_range(handled, QUEUE + PLACES, QUEUE + PLACES + 1);
        assert_saw(s.slow, 0, 1, handled - QUEUE);
        assert_saw(s.slow, handled - QUEUE, 1001 - QUEUE, 1000);
        assert_fast(&s, 1000);
        clear(&s);
    }
}

static void disconnect_takes_the_slow_one_off(void **state)
{
    (void)state;
    for (int lane = 0; lane < 2; lane++) {
        scene s = begin(lanes[lane], WEIR_SLOW_DISCONNECT, 5 * WEIR_MS);
        const uint64_t last = fill(&s);
        weir_feed_counters counters = counters_of(s.engine, s.feed);
        assert_int_equal(1, counters.disconnected);
        assert_int_equal(3, counters.subscribers);
        assert_string_equal("turtle", counters.slowest);
        publish_all(s.engine, s.feed, last + 1, last + 100);
        assert_fast(&s, last + 100);
        pass(s.slow);
        (void)test_engine_stop(s.engine);
        assert_saw(s.slow, 0, 1, got(s.slow));
        counters = counters_of(s.engine, s.feed);
        assert_int_equal(1, counters.waits);
        assert_int_equal(last, got(s.slow) + counters.dropped);
        clear(&s);
    }
}

typedef struct writer {
    weir_engine *engine;
    weir_feed feed;
    uint64_t first, last;
    atomic_uint_least64_t done;
    weir_status status; /* of the last */
} writer;

static void *write_all(void *argument)
{
    writer *w = argument;
    for (uint64_t i = w->first; i <= w->last; i++) {
        w->status = publish(w->engine, w->feed, i);
        if (w->status != WEIR_OK) {
            break;
        }
        atomic_store(&w->done, i);
    }
    return NULL;
}

/* On a thread of its own: a feed whose writer is the test's is opened anew. */
static pthread_t write_from(writer *w)
{
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, write_all, w));
    return thread;
}

static scene begin_blocking(const char *dispatcher)
{
    scene s = begin(dispatcher, WEIR_SLOW_BLOCK, 0);
    pass(s.slow);
    TEST_UNTIL(got(s.slow) == 1);
    assert_fast(&s, 1); /* of different feeds, either may come first */
    s.feed = feed_open(s.engine, WEIR_FEED(.name = "more", .slow = WEIR_SLOW_BLOCK,
                                           .queue_max = QUEUE, .many_writers = true));
    assert_int_equal(WEIR_OK, weir_feed_subscribe(s.engine, s.feed, s.slow->processor));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, weir_feed_subscribe(s.engine, s.feed, s.fast[i]->processor));
    }
    hold(s.slow);
    return s;
}

/* The slow one is held: a ring that is full stays so. */
static void await_wait(const scene *s)
{
    TEST_UNTIL(counters_of(s->engine, s->feed).deepest == QUEUE &&
               counters_of(s->engine, s->feed).waits > 0);
}

static void block_waits_and_loses_nothing(void **state)
{
    (void)state;
    for (int lane = 0; lane < 2; lane++) {
        scene s = begin_blocking(lanes[lane]);
        writer w = { .engine = s.engine, .feed = s.feed, .first = 2, .last = 1000 };
        const pthread_t thread = write_from(&w);
        held(s.slow);
        await_wait(&s);
        for (int i = 0; i < 3; i++) { /* the fast ones have the one that waits, too */
            TEST_UNTIL(got(s.fast[i]) == atomic_load(&w.done) + 1);
        }
        assert_in_range(atomic_load(&w.done), QUEUE, 2 + QUEUE + PLACES);
        pass(s.slow);
        assert_int_equal(0, pthread_join(thread, NULL));
        assert_int_equal(WEIR_OK, w.status);
        assert_fast(&s, 1000);
        TEST_UNTIL(got(s.slow) == 1000);
        assert_saw(s.slow, 0, 1, 1000);
        end(&s);
    }
}

static void a_waiting_publisher_is_woken_by_a_stop(void **state)
{
    (void)state;
    for (int lane = 0; lane < 2; lane++) {
        scene s = begin_blocking(lanes[lane]);
        writer w = { .engine = s.engine, .feed = s.feed, .first = 2, .last = 1000 };
        const pthread_t thread = write_from(&w);
        held(s.slow);
        await_wait(&s);
        assert_int_equal(WEIR_OK, weir_engine_stop_async(s.engine, TEST_PATIENCE));
        assert_int_equal(0, pthread_join(thread, NULL));
        assert_int_equal(WEIR_STOPPING, w.status);
        pass(s.slow);
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        assert_int_equal(WEIR_OK, weir_engine_wait(s.engine, TEST_PATIENCE, &report));
        assert_int_equal(0, report.left);
        assert_saw(s.slow, 0, 1, got(s.slow));
        assert_int_equal(1 + atomic_load(&w.done) - 1, got(s.slow));
        clear(&s);
    }
}

static void a_waiting_publisher_goes_on_when_the_slow_one_is_taken_off(void **state)
{
    (void)state;
    for (int lane = 0; lane < 2; lane++) {
        scene s = begin_blocking(lanes[lane]);
        writer w = { .engine = s.engine, .feed = s.feed, .first = 2, .last = 200 };
        const pthread_t thread = write_from(&w);
        held(s.slow);
        await_wait(&s);
        assert_int_equal(WEIR_OK, weir_feed_unsubscribe(s.engine, s.feed, s.slow->processor));
        assert_int_equal(0, pthread_join(thread, NULL));
        assert_int_equal(WEIR_OK, w.status);
        assert_fast(&s, 200);
        pass(s.slow);
        end(&s);
    }
}

static void a_stop_that_runs_out_of_time_counts_what_feeds_still_have(void **state)
{
    (void)state;
    for (int lane = 0; lane < 2; lane++) {
        scene s = begin(lanes[lane], WEIR_SLOW_DROP_OLDEST, 0);
        publish_all(s.engine, s.feed, 2, 1 + PLACES + 3);
        assert_fast(&s, 1 + PLACES + 3);
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(s.engine, 50 * WEIR_MS, &report));
        assert_int_equal(1 + PLACES + 3, report.left); /* the one in its handler, too */
        assert_int_equal(3 * (1 + PLACES + 3), report.handled);
        pass(s.slow);
        clear(&s);
    }
}

/* ---- on a thread of the engine's ---- */

typedef struct relay {
    weir_feed feed;
    uint64_t accepted;
    weir_status last;
    atomic_bool done;
} relay;

static weir_status relay_until_full(void *state, weir_turn *turn, const weir_event *event)
{
    relay *r = state;
    (void)turn;
    weir_engine *engine;
    memcpy(&engine, event->data, sizeof(engine));
    do {
        r->last = publish(engine, r->feed, r->accepted + 1);
        r->accepted += r->last == WEIR_OK ? 1 : 0;
    } while (r->last == WEIR_OK && r->accepted < 1000);
    atomic_store(&r->done, true);
    return WEIR_OK;
}

typedef struct kick {
    weir_engine *engine;
} kick;
WEIR_EVENT_TYPE(kick, "test.kick");

static void a_publisher_never_waits_for_a_consumer_of_its_own_thread(void **state)
{
    (void)state;
    static const weir_slow_consumer policies[] = { WEIR_SLOW_BACKOFF, WEIR_SLOW_BLOCK,
                                                   WEIR_SLOW_DISCONNECT };
    for (size_t i = 0; i < 3; i++) {
        weir_engine *engine = feed_engine();
        static relay r;
        memset(&r, 0, sizeof(r));
        subscriber *own = subscriber_add(engine, "own", "one", PLACES);
        subscriber *other = subscriber_add(engine, "other", "two", 0);
        const weir_processor p =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = relay_until_full, .argument = &r,
                                                      .dispatcher = "one"));
        r.feed = feed_open(engine, WEIR_FEED(.name = "ticks", .slow = policies[i],
                                             .queue_max = QUEUE, .slow_max = 20 * WEIR_S));
        assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, r.feed, own->processor));
        assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, r.feed, other->processor));
        test_engine_start(engine);
        assert_int_equal(WEIR_OK, weir_engine_post(engine, p, WEIR_EVENT(kick, .engine = engine)));
        TEST_UNTIL(atomic_load(&r.done));
        assert_int_equal(WEIR_FULL, r.last);
        assert_int_equal(QUEUE + PLACES, r.accepted);
        (void)test_engine_stop(engine);
        assert_int_equal(r.accepted, got(own)); /* nobody got the one that was refused */
        assert_int_equal(r.accepted, got(other));
        assert_int_equal(0, counters_of(engine, r.feed).waits);
        weir_engine_destroy(engine);
        subscriber_free(own);
        subscriber_free(other);
    }
}

/* ---- several writers ---- */

static void many_writers_each_keep_their_order(void **state)
{
    (void)state;
    enum { WRITERS = 4, EACH = 4000 };
    weir_engine *engine = feed_engine();
    subscriber *s[3] = { subscriber_add(engine, "a", "one", PLACES),
                         subscriber_add(engine, "b", "two", PLACES),
                         subscriber_add(engine, "c", "three", 0) };
    const weir_feed feed =
        feed_open(engine, WEIR_FEED(.name = "ticks", .slow = WEIR_SLOW_BLOCK, .queue_max = QUEUE,
                                    .named = true, .many_writers = true));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, s[i]->processor));
    }
    test_engine_start(engine);
    writer w[WRITERS];
    pthread_t threads[WRITERS];
    for (uint64_t i = 0; i < WRITERS; i++) {
        w[i] = (writer){
            .engine = engine, .feed = feed, .first = i * 1000000 + 1, .last = i * 1000000 + EACH
        };
        threads[i] = write_from(&w[i]);
    }
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(WEIR_OK, w[i].status);
    }
    (void)test_engine_stop(engine);
    for (int i = 0; i < 3; i++) {
        uint64_t next[WRITERS] = { 1, 1, 1, 1 };
        assert_int_equal(WRITERS * EACH, got(s[i]));
        assert_int_equal(0, atomic_load(&s[i]->odd)); /* sequence numbers grow, too */
        for (uint64_t n = 0; n < WRITERS * EACH; n++) {
            const uint64_t who = s[i]->seen[n] / 1000000;
            assert_int_equal(next[who]++, s[i]->seen[n] % 1000000);
        }
        assert_int_equal(0, memcmp(s[0]->seen, s[i]->seen, WRITERS * EACH * sizeof(uint64_t)));
    }
    weir_engine_destroy(engine);
    for (int i = 0; i < 3; i++) {
        subscriber_free(s[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backoff_waits_its_time_then_what_is_oldest_goes),
        cmocka_unit_test(drop_oldest_never_waits_and_is_exact),
        cmocka_unit_test(disconnect_takes_the_slow_one_off),
        cmocka_unit_test(block_waits_and_loses_nothing),
        cmocka_unit_test(a_waiting_publisher_is_woken_by_a_stop),
        cmocka_unit_test(a_waiting_publisher_goes_on_when_the_slow_one_is_taken_off),
        cmocka_unit_test(a_stop_that_runs_out_of_time_counts_what_feeds_still_have),
        cmocka_unit_test(a_publisher_never_waits_for_a_consumer_of_its_own_thread),
        cmocka_unit_test(many_writers_each_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
