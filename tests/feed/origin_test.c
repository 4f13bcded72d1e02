/*
 * origin_test.c - from a source to a sink: what a feed has marked is committed when all of it is
 * flushed, refused or dead, and not before; on threads of the engine's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/option_support.h"

#include <weir/feed.h>

/* ---- through flows to a sink that flushes now and then ---- */

enum { LINES_MAX = 400000, HELD_MAX = 32, KEYS = 97, BATCH_MAX = 20 };

typedef struct line {
    uint64_t n;    /* its number, from 1 on */
    char text[40]; /* in a block for some of them */
} line;

/* Plain on purpose: that the one who is told of a position may read it is what is tested, and TSan
 * is the judge. */
static uint8_t ended[LINES_MAX + 1];

typedef struct plant {
    weir_engine *engine;
    weir_feed feed;
    weir_processor entry, sink;
    weir_router router;
    pthread_mutex_t lock; /* of the next three */
    uint64_t checked;     /* positions */
    uint64_t early;       /* lines that were committed and had not ended */
    uint64_t told;
    uint64_t held_count; /* the sink's own */
    uint64_t flushes;
    uint64_t held_numbers[HELD_MAX];
    weir_origin *held[HELD_MAX];
    atomic_uint_least64_t refused, failed;
} plant;

static uint64_t number_of(const weir_event *event)
{
    uint64_t n;
    memcpy(&n, event->data, sizeof(n));
    return n;
}

static void check_commit(void *context)
{
    plant *p = context;
    uint64_t position = 0;
    (void)pthread_mutex_lock(&p->lock);
    if (weir_feed_committed(p->engine, p->feed, &position)) {
        while (p->checked < position) {
            p->early += ended[++p->checked] == 0;
        }
    }
    p->told++;
    (void)pthread_mutex_unlock(&p->lock);
}

static weir_status enter(void *state, weir_turn *turn, const weir_event *event)
{
    plant *p = state;
    const uint64_t n = number_of(event);
    if (weir_turn_submit(turn, p->router, n % KEYS + 1, event) != WEIR_OK) {
        ended[n] = 1;
        atomic_fetch_add(&p->refused, 1);
    }
    return WEIR_OK;
}

static weir_status work(void *state, weir_turn *turn, const weir_event *event)
{
    plant *p = state;
    const uint64_t n = number_of(event);
    if (n % 50 == 7) {
        ended[n] = 1;
        atomic_fetch_add(&p->failed, 1);
        return WEIR_E_USER;
    }
    if (weir_turn_post(turn, p->sink, event) != WEIR_OK) {
        ended[n] = 1;
        atomic_fetch_add(&p->refused, 1);
    }
    return WEIR_OK;
}

static void flush(plant *p)
{
    p->flushes++;
    for (uint64_t i = 0; i < p->held_count; i++) {
        ended[p->held_numbers[i]] = 1;
    }
    for (uint64_t i = 0; i < p->held_count; i++) {
        weir_origin_release(p->held[i]);
    }
    p->held_count = 0;
}

static weir_status sink(void *state, weir_turn *turn, const weir_event *event)
{
    plant *p = state;
    p->held_numbers[p->held_count] = number_of(event);
    p->held[p->held_count++] = weir_turn_origin(turn);
    if (p->held_count == HELD_MAX || !weir_turn_more(turn)) {
        flush(p);
    }
    return WEIR_OK;
}

static void plant_open(plant *p)
{
    weir_error error = WEIR_ERROR_INIT;
    memset(p, 0, sizeof(*p));
    memset(ended, 0, sizeof(ended));
    assert_int_equal(0, pthread_mutex_init(&p->lock, NULL));
    p->engine = test_engine_create(WEIR_ENGINE(.threads = 3, .log_level = WEIR_LOG_OFF));
    p->entry = test_processor_add(p->engine, WEIR_PROCESSOR(.handler = enter, .argument = p));
    p->sink = test_processor_add(
        p->engine, WEIR_PROCESSOR(.handler = sink, .argument = p, .mailbox_max = 4096));
    p->router =
        weir_router_add(p->engine,
                        WEIR_ROUTER(.name = "work", .handler = work, .argument = p, .workers = 3,
                                    .overflow = WEIR_OVERFLOW_FAIL, .worker_max = 512),
                        &error);
    p->feed = weir_feed_open(p->engine,
                             WEIR_FEED(.name = "lines", .slow = WEIR_SLOW_BLOCK,
                                       .committed = check_commit, .committed_context = p),
                             &error);
    test_error_none(&error);
    assert_int_equal(WEIR_OK, weir_feed_subscribe(p->engine, p->feed, p->entry));
    test_engine_start(p->engine);
    assert_int_equal(WEIR_OK, weir_feed_track(p->engine, p->feed));
}

static void publish(const plant *p, uint64_t n, uint32_t size)
{
    line l = { .n = n };
    const weir_event event = { .type = &weir_bytes_type, .data = &l, .size = size };
    assert_int_equal(WEIR_OK, weir_feed_publish(p->engine, p->feed, &event));
}

static void mark(const plant *p, uint64_t position)
{
    weir_status status = weir_feed_mark(p->engine, p->feed, position);
    while (status == WEIR_FULL) {
        (void)sched_yield();
        status = weir_feed_mark(p->engine, p->feed, position);
    }
    assert_int_equal(WEIR_OK, status);
}

static void a_source_commits_what_has_ended_and_nothing_else(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 8, 16, 24, sizeof(line) };
    static plant p;
    uint64_t seed = test_seed();
    const uint64_t lines = test_load(300000, 30000);
    plant_open(&p);
    for (uint64_t n = 1; n <= lines;) {
        const uint64_t last = n + test_random(&seed) % BATCH_MAX;
        while (n <= last && n <= lines) {
            publish(&p, n++, sizes[test_random(&seed) % 4]);
        }
        mark(&p, n - 1);
    }
    uint64_t position = 0;
    TEST_UNTIL(weir_feed_committed(p.engine, p.feed, &position) && position == lines);
    assert_int_equal(WEIR_OK, weir_engine_stop(p.engine, 30 * WEIR_S, NULL));
    assert_int_equal(0, p.early);
    assert_int_equal(lines, p.checked);
    assert_true(p.told > 0);
    assert_true(p.flushes > 0 && p.held_count == 0);
    for (uint64_t i = 1; i <= lines; i++) {
        assert_int_equal(1, ended[i]);
    }
    weir_engine_destroy(p.engine);
    (void)pthread_mutex_destroy(&p.lock);
}

/* ---- what a stop leaves ---- */

typedef struct hall {
    weir_engine *engine;
    weir_feed feed;
    sem_t entered, leave;
    atomic_uint_least64_t highest; /* position that was committed */
} hall;

static void note_commit(void *context)
{
    hall *h = context;
    uint64_t position = 0;
    if (weir_feed_committed(h->engine, h->feed, &position)) {
        uint64_t highest = atomic_load(&h->highest);
        while (position > highest &&
               !atomic_compare_exchange_weak(&h->highest, &highest, position)) {
        }
    }
}

static weir_status stand_still_at_three(void *state, weir_turn *turn, const weir_event *event)
{
    hall *h = state;
    (void)turn;
    if (number_of(event) == 3) {
        (void)sem_post(&h->entered);
        (void)test_sem_taken(&h->leave);
    }
    return WEIR_OK;
}

static void what_a_stop_without_time_leaves_is_not_committed(void **state)
{
    (void)state;
    hall h = { .engine = test_engine_create(WEIR_ENGINE(.threads = 1, .log_level = WEIR_LOG_OFF)) };
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(0, sem_init(&h.entered, 0, 0));
    assert_int_equal(0, sem_init(&h.leave, 0, 0));
    const weir_processor to = test_processor_add(
        h.engine, WEIR_PROCESSOR(.handler = stand_still_at_three, .argument = &h));
    h.feed = weir_feed_open(
        h.engine, WEIR_FEED(.name = "lines", .committed = note_commit, .committed_context = &h),
        &error);
    test_error_none(&error);
    assert_int_equal(WEIR_OK, weir_feed_subscribe(h.engine, h.feed, to));
    test_engine_start(h.engine);
    assert_int_equal(WEIR_OK, weir_feed_track(h.engine, h.feed));
    for (uint64_t n = 1; n <= 6; n++) {
        const weir_event event = { .type = &weir_bytes_type,
                                   .data = &n,
                                   .size = (uint32_t)sizeof(n) };
        assert_int_equal(WEIR_OK, weir_feed_publish(h.engine, h.feed, &event));
        assert_int_equal(WEIR_OK, weir_feed_mark(h.engine, h.feed, n));
    }
    test_sem_wait(&h.entered);
    TEST_UNTIL(atomic_load(&h.highest) == 2);
    assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(h.engine, WEIR_MS, NULL));
    assert_int_equal(0, sem_post(&h.leave));
    weir_engine_destroy(h.engine);
    assert_int_equal(2, atomic_load(&h.highest));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_commits_what_has_ended_and_nothing_else),
        cmocka_unit_test(what_a_stop_without_time_leaves_is_not_committed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
