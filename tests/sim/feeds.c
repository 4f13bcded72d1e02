/*
 * feeds.c - publish against the pump, against parking, against those who come, go and move, and
 * against stops (S-72, S-73).
 *
 * "one" and "three" are served by a thread each, so their readers share a ring there; "" by two, so
 * its readers get posts, and a ring when their mailbox is full.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "readers.h"

static weir_feed feed;
static reader *a, *b, *c;

static void set_up(uint32_t queue_max, weir_slow_consumer slow, bool many)
{
    readers_open(NULL);
    readers_thread("one");
    stage_threads(2);
    feed = readers_feed(
        WEIR_FEED(.name = "x", .queue_max = queue_max, .slow = slow, .many_writers = many));
}

static void publish(uint32_t sender, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)readers_publish(feed, sender);
    }
}

/* The reader is in its handler, with the first. */
static void publish_and_hold(reader *which)
{
    reader_hold(which);
    do {
        publish(0, 1);
    } while (readers_counters(feed).delivered == 0);
    reader_await_held(which);
}

static void finish(void)
{
    readers_close(feed);
}

static uint32_t all(uint32_t count)
{
    return stage_is_short() ? 0 : count;
}

SCENARIO(feed_ring, "a ring of two, two readers of one thread that parks: nothing is overlooked")
{
    set_up(2, WEIR_SLOW_BLOCK, false);
    a = reader_add(WEIR_PROCESSOR(.dispatcher = "one"));
    b = reader_add(WEIR_PROCESSOR(.dispatcher = "one"));
    reader_subscribe(feed, a);
    reader_subscribe(feed, b);
    stage_start();
    publish(0, 2);
    readers_settle(all(4)); /* although nothing else comes */
    publish(0, 4);
    readers_settle(all(12));
    finish();
    reader_check_all(a, 1, 6);
    reader_check_all(b, 1, 6);
}

SCENARIO(feed_mailbox, "mailboxes of one place, on two threads: what finds one full goes on later")
{
    set_up(4, WEIR_SLOW_BLOCK, false);
    a = reader_add(WEIR_PROCESSOR(.mailbox_max = 1));
    b = reader_add(WEIR_PROCESSOR(.mailbox_max = 2));
    reader_subscribe(feed, a);
    reader_subscribe(feed, b);
    stage_start();
    publish(0, 6);
    readers_settle(all(12));
    finish();
    reader_check_all(a, 1, 6);
    reader_check_all(b, 1, 6);
}

static void publish_three_as(void *sender)
{
    publish(*(const uint32_t *)sender, 3);
}

static uint32_t first = 1, second = 2;

SCENARIO(feed_writers, "two writers, rings that are soon full: each one's order is kept")
{
    set_up(1, WEIR_SLOW_BLOCK, true);
    a = reader_add(WEIR_PROCESSOR(.dispatcher = "one", .mailbox_max = 1));
    b = reader_add(WEIR_PROCESSOR(.mailbox_max = 1));
    reader_subscribe(feed, a);
    reader_subscribe(feed, b);
    stage_start();
    const int other = weir_sim_thread_start(publish_three_as, &first);
    publish_three_as(&second);
    weir_sim_thread_join(other);
    readers_settle(all(12));
    finish();
}

SCENARIO(feed_drop_oldest, "a held reader loses what is oldest, and the others nothing")
{
    set_up(2, WEIR_SLOW_DROP_OLDEST, false);
    a = reader_add(WEIR_PROCESSOR(.dispatcher = "one", .mailbox_max = 1));
    b = reader_add(WEIR_PROCESSOR(.mailbox_max = 1));
    c = reader_add(NULL);
    reader_subscribe(feed, a);
    reader_subscribe(feed, b);
    reader_subscribe(feed, c);
    stage_start();
    publish(0, 7);
    finish();
    reader_check_all(c, 1, 7);
    weir_sim_check(stage_is_short() || (a->read[a->count - 1] == 7 && b->read[b->count - 1] == 7),
                   "the newest was lost");
}

/* ---- who comes and goes ---- */

static void come_and_go(void *who)
{
    const reader *r = who;
    for (int i = 0; i < 2; i++) {
        const weir_status in = weir_feed_subscribe(stage.engine, feed, r->handle);
        weir_sim_check(in == WEIR_OK || in == WEIR_ALREADY || in == WEIR_E_NOMEM,
                       "a subscribe answers %s", weir_status_name(in));
        weir_status out;
        do {
            out = weir_feed_unsubscribe(stage.engine, feed, r->handle);
        } while (out == WEIR_E_NOMEM);
    }
}

SCENARIO(feed_come_and_go, "one comes and goes while another stays")
{
    set_up(2, WEIR_SLOW_BLOCK, false);
    a = reader_add(WEIR_PROCESSOR(.dispatcher = "one"));
    b = reader_add(WEIR_PROCESSOR(.dispatcher = "one", .mailbox_max = 1));
    reader_subscribe(feed, a);
    stage_start();
    const int other = weir_sim_thread_start(come_and_go, b);
    publish(0, 5);
    weir_sim_thread_join(other);
    finish();
    reader_check_all(a, 1, 5);
}

SCENARIO(feed_slow_one_goes, "who waits for a reader gets on when that one goes")
{
    set_up(1, WEIR_SLOW_BLOCK, false);
    a = reader_add(WEIR_PROCESSOR(.mailbox_max = 1));
    reader_subscribe(feed, a);
    stage_start();
    publish_and_hold(a);
    const int other = weir_sim_thread_start(come_and_go, a);
    publish(0, 4);
    weir_sim_thread_join(other);
    (void)weir_feed_unsubscribe(stage.engine, feed, a->handle);
    reader_release(a);
    finish();
}

static void come_again_elsewhere(void *who)
{
    const reader *r = who;
    (void)weir_feed_unsubscribe(stage.engine, feed, r->handle);
    (void)weir_processor_move(stage.engine, r->handle, "one", NULL);
    (void)weir_feed_subscribe(stage.engine, feed, r->handle);
}

SCENARIO(feed_come_again, "who goes and comes again while a publisher waits gets nothing twice")
{
    set_up(1, WEIR_SLOW_BLOCK, false);
    a = reader_add(WEIR_PROCESSOR(.dispatcher = "one", .mailbox_max = 1));
    b = reader_add(NULL);
    reader_subscribe(feed, a);
    reader_subscribe(feed, b);
    stage_start();
    const int other = weir_sim_thread_start(come_again_elsewhere, b);
    publish(0, 5);
    weir_sim_thread_join(other);
    finish();
    reader_check_all(a, 1, 5);
}

static void stop_reader(void *who)
{
    const reader *r = who;
    (void)weir_processor_stop(stage.engine, r->handle, WEIR_FOREVER, NULL);
}

SCENARIO(feed_reader_ends, "one that has a ring ends, full, while others read on")
{
    set_up(2, WEIR_SLOW_BLOCK, false);
    a = reader_add(WEIR_PROCESSOR(.dispatcher = "one"));
    b = reader_add(WEIR_PROCESSOR(.dispatcher = "one", .mailbox_max = 1));
    c = reader_add(WEIR_PROCESSOR(.mailbox_max = 1));
    reader_subscribe(feed, a);
    reader_subscribe(feed, b);
    reader_subscribe(feed, c);
    stage_start();
    const int other = weir_sim_thread_start(stop_reader, b);
    const int third = weir_sim_thread_start(stop_reader, c);
    publish(0, 5);
    weir_sim_thread_join(other);
    weir_sim_thread_join(third);
    finish();
    reader_check_all(a, 1, 5);
}

/* ---- who moves ---- */

static void move_to_and_fro(void *who)
{
    const reader *r = who;
    (void)weir_processor_move(stage.engine, r->handle, "", NULL);
    (void)weir_processor_move(stage.engine, r->handle, "one", NULL);
}

SCENARIO(feed_move, "a reader moves from a thread's ring to one of its own and back")
{
    set_up(2, WEIR_SLOW_BLOCK, false);
    a = reader_add(WEIR_PROCESSOR(.dispatcher = "one", .mailbox_max = 1));
    b = reader_add(WEIR_PROCESSOR(.dispatcher = "one"));
    reader_subscribe(feed, a);
    reader_subscribe(feed, b);
    stage_start();
    const int other = weir_sim_thread_start(move_to_and_fro, a);
    publish(0, 6);
    weir_sim_thread_join(other);
    readers_settle(all(12));
    finish();
    reader_check_all(a, 1, 6);
    reader_check_all(b, 1, 6);
}

static void add_and_remove(void *unused)
{
    (void)unused;
    weir_error error = WEIR_ERROR_INIT;
    const weir_thread thread = weir_thread_add(
        stage.engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("one"), .idle = WEIR_IDLE_PARK),
        &error);
    if (thread.id != 0) {
        (void)weir_thread_remove(stage.engine, thread, NULL);
    }
}

SCENARIO(feed_threads_change, "a second thread comes to serve the readers of a ring, and goes")
{
    set_up(2, WEIR_SLOW_BLOCK, false);
    a = reader_add(WEIR_PROCESSOR(.dispatcher = "one", .mailbox_max = 1));
    b = reader_add(WEIR_PROCESSOR(.dispatcher = "one"));
    reader_subscribe(feed, a);
    reader_subscribe(feed, b);
    stage_start();
    const int other = weir_sim_thread_start(add_and_remove, NULL);
    publish(0, 6);
    weir_sim_thread_join(other);
    readers_settle(all(12));
    finish();
    reader_check_all(a, 1, 6);
    reader_check_all(b, 1, 6);
}

/* ---- stops ---- */

static void stop_engine(void *unused)
{
    (void)unused;
    (void)weir_engine_stop(stage.engine, WEIR_FOREVER, NULL);
}

SCENARIO(feed_stop, "what is in rings when the engine stops is handled")
{
    set_up(2, WEIR_SLOW_BLOCK, false);
    a = reader_add(WEIR_PROCESSOR(.dispatcher = "one", .mailbox_max = 1));
    b = reader_add(WEIR_PROCESSOR(.mailbox_max = 1));
    reader_subscribe(feed, a);
    reader_subscribe(feed, b);
    stage_start();
    const int other = weir_sim_thread_start(stop_engine, NULL);
    publish(0, 5);
    weir_sim_thread_join(other);
    finish();
}

SCENARIO(feed_stop_against_waiting, "who waits for a reader is told when the engine stops")
{
    set_up(1, WEIR_SLOW_BLOCK, true);
    a = reader_add(WEIR_PROCESSOR(.mailbox_max = 1));
    reader_subscribe(feed, a);
    stage_start();
    publish_and_hold(a);
    const int waits = weir_sim_thread_start(publish_three_as, &first);
    const int also = weir_sim_thread_start(publish_three_as, &second);
    const int stops = weir_sim_thread_start(stop_engine, NULL);
    weir_sim_thread_join(waits);
    weir_sim_thread_join(also);
    reader_release(a);
    weir_sim_thread_join(stops);
    finish();
}
