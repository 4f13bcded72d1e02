/*
 * lease_test.c - a thread leases the mailboxes that only it posts to and runs (queue/lease.h), and
 * nobody notices but by speed: who else posts, stops, moves or asks ends that, and all arrives,
 * once, in its order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

#include "engine/engine.h"
#include "engine/lease.h"
#include "engine/thread.h"

enum { HOPS = 400, ENOUGH = 2 * (int)WEIR__RUN_ENOUGH + 8 };

/* ---- two that post to each other until the ball is out ---- */

typedef struct ball {
    uint64_t hops; /* to go */
} ball;
WEIR_EVENT_TYPE(ball, "test.ball");

typedef struct player {
    weir_processor self, other;
    _Atomic uint64_t hits, plain; /* balls, and numbers */
    uint64_t last;                /* number */
    _Atomic uint64_t wrong;
    uint64_t asks_every; /* so many balls it wants room, and ends its own lease; 0: never */
} player;

static weir_status play(void *state, weir_turn *turn, const weir_event *event)
{
    player *p = state;
    const number *n = weir_event_as(event, &number_type);
    if (n != NULL) {
        p->wrong += n->value != 0 && n->value <= p->last;
        p->last = n->value;
        p->plain++;
        return WEIR_OK;
    }
    const ball *b = weir_event_as(event, &ball_type);
    weir_status status = WEIR_OK;
    if (event->type == &weir_room_type) {
        return WEIR_OK;
    }
    if (p->asks_every != 0 && p->hits % p->asks_every == 0) {
        p->wrong += weir_turn_want_room(turn, p->other, 0) != WEIR_OK;
    }
    if (b != NULL && b->hops > 0) {
        status = weir_turn_post(turn, p->other, WEIR_EVENT(ball, b->hops - 1));
    }
    p->hits++;
    return status == WEIR_UNKNOWN ? WEIR_OK : status;
}

static void add(weir_engine *engine, player *p, const weir_processor_options *more)
{
    weir_processor_options o = *more;
    o.handler = play;
    o.argument = p;
    p->self = test_processor_add(engine, &o);
}

static void pair(weir_engine *engine, player players[2], const weir_processor_options *more)
{
    for (int i = 0; i < 2; i++) {
        players[i] = (player){ .last = 0 };
        add(engine, &players[i], more);
    }
    players[0].other = players[1].self;
    players[1].other = players[0].self;
}

static uint64_t hits(player players[2])
{
    return atomic_load(&players[0].hits) + atomic_load(&players[1].hits);
}

/* All `hops` of them, and the one that begins. */
static void rally(weir_engine *engine, player players[2], uint64_t hops)
{
    const uint64_t before = hits(players);
    assert_int_equal(WEIR_OK, weir_engine_post(engine, players[0].self, WEIR_EVENT(ball, hops)));
    TEST_UNTIL(hits(players) == before + hops + 1);
}

static bool is_leased(weir_engine *engine, weir_processor p)
{
    weir__processor *processor = weir__registry_find(&engine->registry, p);
    return processor != NULL &&
           weir__mailbox_is_leased(weir__load(&processor->mailbox.word, relaxed));
}

static bool none_is_ever_leased(void)
{
    return !weir__barrier_is_light();
}

/* Leases that others have ended, of all threads. */
static uint64_t ended(weir_engine *engine)
{
    uint64_t sum = 0;
    for (weir__context *c = weir__contexts_first(engine); c != NULL; c = weir__contexts_next(c)) {
        sum += weir__load(&c->tenant.ended, relaxed);
    }
    return sum;
}

static weir_engine *with_threads(uint32_t threads)
{
    return test_engine_create(WEIR_ENGINE(.threads = threads, .log_level = WEIR_LOG_OFF));
}

/* ---- when ---- */

static void a_pair_that_stays_on_one_thread_is_leased(void **state)
{
    (void)state;
    weir_engine *engine = with_threads(1);
    player players[2];
    if (none_is_ever_leased()) {
        weir_engine_destroy(engine);
        test_skip("there are no light barriers");
    }
    pair(engine, players, WEIR_PROCESSOR(.handler = play));
    test_engine_start(engine);
    rally(engine, players, ENOUGH);
    TEST_UNTIL(is_leased(engine, players[0].self) && is_leased(engine, players[1].self));
    assert_int_equal(ENOUGH + 1, test_engine_end(engine).handled);
}

/* It has as much as its turns take from the first to the last: no turn finds nothing left. */
static void one_that_is_never_idle_is_leased_too(void **state)
{
    (void)state;
    enum { BALLS = 8 };
    weir_engine *engine = with_threads(1);
    player players[2];
    if (none_is_ever_leased()) {
        weir_engine_destroy(engine);
        test_skip("there are no light barriers");
    }
    pair(engine, players, WEIR_PROCESSOR(.handler = play, .batch_max = 2));
    players[1].other = players[1].self; /* goes on with itself */
    for (int i = 0; i < BALLS; i++) {
        assert_int_equal(WEIR_OK,
                         weir_engine_post(engine, players[1].self, WEIR_EVENT(ball, 100000)));
    }
    test_engine_start(engine);
    TEST_UNTIL(is_leased(engine, players[1].self));
    assert_int_equal(WEIR_OK, test_post(engine, players[1].self, 1)); /* who ends it is heard */
    TEST_UNTIL(atomic_load(&players[1].plain) == 1);
    TEST_UNTIL(hits(players) == BALLS * 100001);
    assert_int_equal(BALLS * 100001 + 1, test_engine_end(engine).handled);
}

/* Nor is one to whom others post all the time, although it is never idle. */
static void one_that_is_posted_to_from_outside_is_not_leased(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    weir_engine *engine = with_threads(1);
    player players[2];
    pair(engine, players, WEIR_PROCESSOR(.handler = play, .batch_max = 4, .mailbox_max = MANY + 1));
    for (uint64_t n = 1; n <= MANY; n++) {
        assert_int_equal(WEIR_OK, test_post(engine, players[0].self, n));
    }
    test_engine_start(engine);
    TEST_UNTIL(atomic_load(&players[0].plain) == MANY);
    assert_int_equal(0, ended(engine));
    assert_false(is_leased(engine, players[0].self));
    (void)test_engine_end(engine);
}

/* The other one hears of its partner only, whatever happens in between. */
static void one_that_others_post_to_now_and_then_is_not_leased(void **state)
{
    (void)state;
    weir_engine *engine = with_threads(1);
    player players[2];
    pair(engine, players, WEIR_PROCESSOR(.handler = play));
    test_engine_start(engine);
    for (uint64_t n = 0; n < 100; n++) {
        rally(engine, players, WEIR__RUN_ENOUGH);
        assert_false(is_leased(engine, players[0].self));
    }
    (void)test_engine_end(engine);
}

/* Whose mailbox others are to post to, or is not that of one owner alone. */
static void some_are_never_leased(void **state)
{
    (void)state;
    static const weir_overflow policies[] = { WEIR_OVERFLOW_DROP_OLDEST, WEIR_OVERFLOW_BLOCK };
    for (size_t i = 0; i < 2; i++) {
        weir_engine *engine = with_threads(1);
        player players[2];
        pair(engine, players, WEIR_PROCESSOR(.handler = play, .overflow = policies[i]));
        test_engine_start(engine);
        rally(engine, players, HOPS);
        assert_false(is_leased(engine, players[0].self));
        assert_false(is_leased(engine, players[1].self));
        (void)test_engine_end(engine);
    }
}

/* ---- and how it ends ---- */

static void who_posts_from_outside_ends_the_lease_and_is_heard(void **state)
{
    (void)state;
    weir_engine *engine = with_threads(1);
    player players[2];
    pair(engine, players, WEIR_PROCESSOR(.handler = play));
    test_engine_start(engine);
    for (uint64_t n = 1; n <= 200; n++) {
        rally(engine, players, ENOUGH);
        assert_int_equal(WEIR_OK, test_post(engine, players[1].self, n));
        assert_int_equal(WEIR_OK, test_post(engine, players[0].self, n));
        TEST_UNTIL(atomic_load(&players[0].plain) == n && atomic_load(&players[1].plain) == n);
    }
    assert_int_equal(0, players[0].wrong + players[1].wrong);
    assert_int_equal(200 * (ENOUGH + 3), test_engine_end(engine).handled);
}

/* A heavy barrier each, for those who post. */
static void a_thread_that_is_often_wrong_leases_no_more(void **state)
{
    (void)state;
    weir_engine *engine = with_threads(1);
    player players[2];
    pair(engine, players, WEIR_PROCESSOR(.handler = play));
    test_engine_start(engine);
    uint64_t turns = 0;
    for (uint64_t n = 1; n <= 1000; n++) {
        rally(engine, players, ENOUGH);
        turns += ENOUGH + 1;
    }
    assert_true(ended(engine) <= WEIR__LEASE_ERRORS + turns / WEIR__LEASE_TURNS + 2);
    (void)test_engine_end(engine);
}

static void a_thread_that_ends_its_own_leases_is_not_wrong(void **state)
{
    (void)state;
    weir_engine *engine = with_threads(1);
    player players[2];
    pair(engine, players, WEIR_PROCESSOR(.handler = play));
    players[0].asks_every = 2 * WEIR__RUN_ENOUGH;
    test_engine_start(engine);
    rally(engine, players, 1000 * players[0].asks_every);
    assert_int_equal(0, players[0].wrong);
    assert_int_equal(0, ended(engine));
    (void)test_engine_end(engine);
}

static void a_leased_processor_is_stopped_and_moved_like_any_other(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    player players[2];
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("a")));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("b")));
    test_engine_start(engine);
    for (int round = 0; round < 20; round++) {
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        pair(engine, players, WEIR_PROCESSOR(.handler = play, .dispatcher = "a"));
        rally(engine, players, HOPS);
        assert_int_equal(WEIR_OK, weir_processor_move(engine, players[0].self, "b", NULL));
        assert_int_equal(WEIR_OK, weir_processor_move(engine, players[1].self, "b", NULL));
        rally(engine, players, HOPS);
        assert_int_equal(WEIR_OK,
                         weir_processor_stop(engine, players[0].self, TEST_PATIENCE, &report));
        assert_int_equal(0, report.left);
        assert_int_equal(WEIR_UNKNOWN, test_post(engine, players[0].self, 1));
        assert_int_equal(WEIR_OK, test_post(engine, players[1].self, 1));
        assert_int_equal(WEIR_OK,
                         weir_processor_stop(engine, players[1].self, TEST_PATIENCE, &report));
    }
    assert_int_equal(20 * (2 * (HOPS + 1) + 1), test_engine_end(engine).handled);
}

/* The next thread on its seat has its name, and none of its leases. */
static void a_thread_that_leases_may_go(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    player players[2];
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("other")));
    pair(engine, players, WEIR_PROCESSOR(.handler = play, .dispatcher = "other"));
    test_engine_start(engine);
    for (int round = 0; round < 20; round++) {
        const weir_thread thread =
            test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("own")));
        for (int i = 0; i < 2; i++) {
            assert_int_equal(WEIR_OK, weir_processor_move(engine, players[i].self, "own", NULL));
        }
        rally(engine, players, HOPS);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(WEIR_OK, weir_processor_move(engine, players[i].self, "other", NULL));
        }
        assert_int_equal(WEIR_OK, weir_thread_remove(engine, thread, NULL));
        rally(engine, players, HOPS);
    }
    assert_int_equal(20 * 2 * (HOPS + 1), test_engine_end(engine).handled);
}

static void a_stop_ends_all_leases_at_once(void **state)
{
    (void)state;
    enum { PAIRS = 64 };
    static player players[PAIRS][2];
    weir_engine *engine = with_threads(1);
    for (int i = 0; i < PAIRS; i++) {
        pair(engine, players[i], WEIR_PROCESSOR(.handler = play));
    }
    test_engine_start(engine);
    for (int i = 0; i < PAIRS; i++) {
        rally(engine, players[i], ENOUGH);
    }
    assert_int_equal(PAIRS * (ENOUGH + 1), test_engine_stop(engine).handled);
    assert_int_equal(WEIR_STOPPING, test_post(engine, players[0][0].self, 1));
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_that_stays_on_one_thread_is_leased),
        cmocka_unit_test(one_that_is_never_idle_is_leased_too),
        cmocka_unit_test(one_that_is_posted_to_from_outside_is_not_leased),
        cmocka_unit_test(one_that_others_post_to_now_and_then_is_not_leased),
        cmocka_unit_test(some_are_never_leased),
        cmocka_unit_test(who_posts_from_outside_ends_the_lease_and_is_heard),
        cmocka_unit_test(a_thread_that_is_often_wrong_leases_no_more),
        cmocka_unit_test(a_thread_that_ends_its_own_leases_is_not_wrong),
        cmocka_unit_test(a_leased_processor_is_stopped_and_moved_like_any_other),
        cmocka_unit_test(a_thread_that_leases_may_go),
        cmocka_unit_test(a_stop_ends_all_leases_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
