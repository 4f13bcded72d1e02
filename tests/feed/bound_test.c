/*
 * bound_test.c - one slow subscriber does not delay the others beyond its bound (S-73): the p99 of
 * three fast ones, policy by policy, measured.
 *
 * The slow one works for 2 ms an event; it is a mailbox and a ring behind at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed_support.h"

#define BOUND (10 * WEIR_MS)
#define WORK (2 * WEIR_MS)
#define PACE (100 * WEIR_US)

enum { EVENTS = 400, FAST = 3 };

typedef struct stamped {
    weir_ns at;
} stamped;
WEIR_EVENT_TYPE(stamped, "test.stamped");

typedef struct clocked {
    weir_ns delays[EVENTS];
    atomic_uint count;
} clocked;

static weir_status note_delay(void *state, weir_turn *turn, const weir_event *event)
{
    clocked *c = state;
    const stamped *s = weir_event_as(event, &stamped_type);
    const unsigned at = atomic_load(&c->count);
    (void)turn;
    c->delays[at] = test_now() - s->at;
    atomic_store(&c->count, at + 1);
    return WEIR_OK;
}

static weir_status work(void *state, weir_turn *turn, const weir_event *event)
{
    const struct timespec span = { .tv_nsec = WORK }; /* what it does, not a wait for anybody */
    (void)state;
    (void)turn;
    (void)event;
    (void)nanosleep(&span, NULL);
    return WEIR_OK;
}

static int by_size(const void *a, const void *b)
{
    const weir_ns x = *(const weir_ns *)a;
    const weir_ns y = *(const weir_ns *)b;
    return (x > y) - (x < y);
}

/* The worst p99 of the fast ones. */
static weir_ns run(weir_slow_consumer policy, const char *name, const char *where)
{
    static clocked fast[FAST];
    memset(fast, 0, sizeof(fast));
    weir_engine *engine = feed_engine();
    const weir_feed feed = feed_open(
        engine, WEIR_FEED(.name = "ticks", .slow = policy, .queue_max = 8, .slow_max = BOUND));
    const weir_processor slow =
        test_processor_add(engine, WEIR_PROCESSOR(.name = "slow", .handler = work,
                                                  .dispatcher = where, .mailbox_max = 4));
    assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, slow));
    for (int i = 0; i < FAST; i++) {
        const weir_processor p = test_processor_add(
            engine,
            WEIR_PROCESSOR(.handler = note_delay, .argument = &fast[i],
                           .dispatcher = i == 0 && strcmp(where, "two") != 0 ? "two" : "three"));
        assert_int_equal(WEIR_OK, weir_feed_subscribe(engine, feed, p));
    }
    test_engine_start(engine);
    weir_ns longest = 0;
    weir_ns due = test_now();
    for (int n = 0; n < EVENTS; n++) {
        weir_ns before = test_now();
        while (before < due) {
            (void)sched_yield();
            before = test_now();
        }
        due = before + PACE;
        assert_int_equal(WEIR_OK,
                         weir_feed_publish(engine, feed, WEIR_EVENT(stamped, .at = before)));
        const weir_ns took = test_now() - before;
        longest = took > longest ? took : longest;
    }
    weir_ns worst = 0;
    for (int i = 0; i < FAST; i++) {
        TEST_UNTIL(atomic_load(&fast[i].count) == EVENTS);
        qsort(fast[i].delays, EVENTS, sizeof(weir_ns), by_size);
        const weir_ns p99 = fast[i].delays[EVENTS * 99 / 100];
        worst = p99 > worst ? p99 : worst;
    }
    const weir_feed_counters counters = counters_of(engine, feed);
    fprintf(stderr,
            "# %s, slow one on \"%s\": worst p99 of the fast %.3f ms, longest publish %.3f ms, "
            "%" PRIu64 " waits, %" PRIu64 " dropped\n",
            name, where, (double)worst / 1e6, (double)longest / 1e6, counters.waits,
            counters.dropped);
    (void)test_engine_end(engine);
    return worst;
}

/* A machine that is busy with something else adds to it: then it is measured again. */
static void assert_bounded(weir_slow_consumer policy, const char *name, const char *where)
{
    weir_ns worst = run(policy, name, where);
    for (int again = 0; worst > BOUND && again < 3; again++) {
        worst = run(policy, name, where);
    }
    assert_true(worst <= BOUND);
}

static void the_fast_ones_stay_within_the_bound_of_the_slow_one(void **state)
{
    (void)state;
    static const char *const names[] = { "backoff", "block", "disconnect", "drop-oldest" };
    for (int policy = WEIR_SLOW_BACKOFF; policy <= WEIR_SLOW_DROP_OLDEST; policy++) {
        assert_bounded((weir_slow_consumer)policy, names[policy - WEIR_SLOW_BACKOFF], "one");
        assert_bounded((weir_slow_consumer)policy, names[policy - WEIR_SLOW_BACKOFF], "two");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fast_ones_stay_within_the_bound_of_the_slow_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
