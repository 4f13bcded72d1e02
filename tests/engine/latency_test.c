/*
 * latency_test.c - what weir/latency.h promises, against handlers that keep their own times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

enum { EVENTS = 2000 };

/* An event that knows when it was posted: small enough for a stamp behind it. */
typedef struct timed {
    int64_t posted;
    int64_t busy; /* for so long it is handled */
} timed;
WEIR_EVENT_TYPE(timed, "test.timed");

/* One that fills its envelope. */
typedef struct large {
    int64_t posted;
    int64_t busy;
    int64_t more[2];
} large;
WEIR_EVENT_TYPE(large, "test.large");

/* A processor that takes the times itself. */
typedef struct clerk {
    goal done;
    uint64_t count;
    int64_t queueing[EVENTS], handling[EVENTS];
    int64_t begun[EVENTS];
    int64_t returned[EVENTS]; /* the poster: when its post was over */
} clerk;

static weir_status take_times(void *state, weir_turn *turn, const weir_event *event)
{
    clerk *c = state;
    const timed *t = event->data; /* `large` begins like it */
    const int64_t begun = now_ns();
    (void)turn;
    busy_for_ns(t->busy);
    if (c->count < EVENTS) {
        c->begun[c->count] = begun;
        c->queueing[c->count] = begun - t->posted;
        c->handling[c->count] = now_ns() - begun;
        c->count++;
    }
    goal_add(&c->done);
    return WEIR_OK;
}

static weir_status post_timed(weir_engine *engine, weir_processor to, int64_t busy)
{
    return weir_engine_post(engine, to, WEIR_EVENT(timed, .posted = now_ns(), .busy = busy));
}

static weir_status post_large(weir_engine *engine, weir_processor to, int64_t busy)
{
    return weir_engine_post(engine, to, WEIR_EVENT(large, .posted = now_ns(), .busy = busy));
}

static weir_processor add_processor(weir_engine *engine, const weir_processor_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_processor p = weir_processor_add(engine, options, &error);
    assert_no_error(&error);
    return p;
}

static int by_size(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left;
    const int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int64_t exact(int64_t *values, uint64_t count, uint64_t permille)
{
    qsort(values, count, sizeof(values[0]), by_size);
    const uint64_t rank = (count * permille + 999) / 1000;
    return values[rank > 0 ? rank - 1 : 0];
}

/* The engine's clock is read a little before the handler's, and after it: a few hundred ns, or
 * whatever the system does between the two. So many of the ranks around must bracket it. `least`
 * and `values` are in the order of size afterwards; they may be the same. */
static void assert_close(const char *what, weir_ns found, int64_t *least, int64_t *values,
                         uint64_t count, uint64_t permille)
{
    const int64_t slack = 5000;
    const int64_t low = exact(least, count, permille > 20 ? permille - 20 : 0);
    const int64_t high = exact(values, count, permille + 20 < 1000 ? permille + 20 : 1000);
    if (found < low - low / 100 - slack || found > high + high / 100 + slack) {
        fail_msg("%s at %u: %lld, not within %lld to %lld", what, (unsigned)permille,
                 (long long)found, (long long)low, (long long)high);
    }
}

static void assert_agrees(const char *what, const weir_latency *l, int64_t *least, int64_t *values,
                          uint64_t count)
{
    assert_int_equal(count, l->count);
    assert_close(what, l->p50, least, values, count, 500);
    assert_close(what, l->p90, least, values, count, 900);
    assert_close(what, l->p95, least, values, count, 950);
    assert_true(l->p50 <= l->p90 && l->p90 <= l->p95 && l->p95 <= l->p99 && l->p99 <= l->p999 &&
                l->p999 <= l->max);
}

/* The engine looks at the clock somewhere in a post, which may take long: it was in the queue since
 * then, so at least since the post was over. */
static void assert_queueing(const char *what, const weir_latency *l, clerk *c, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        c->begun[i] -= c->returned[i];
    }
    assert_agrees(what, l, c->begun, c->queueing, count);
}

typedef weir_status (*poster)(weir_engine *engine, weir_processor to, int64_t busy);

/* All of them, with latency_every 1; `ahead` events wait at most. */
static void measure_all(poster post, uint64_t ahead)
{
    weir_engine *engine = engine_make(WEIR_ENGINE(.latency_every = 1, .threads = 1));
    clerk *c = calloc(1, sizeof(*c));
    weir_latency queueing = WEIR_LATENCY_INIT, handling = WEIR_LATENCY_INIT;
    uint64_t random = test_seed();
    assert_non_null(c);
    goal_init(&c->done, EVENTS);
    const weir_processor p = add_processor(
        engine, WEIR_PROCESSOR(.name = "clerk", .handler = take_times, .argument = c));
    uint32_t count = 0;
    assert_int_equal(WEIR_OK, weir_latency_enable(engine, "cl*", &count));
    assert_int_equal(1, count);
    engine_start(engine);
    for (uint64_t i = 0; i < EVENTS; i++) {
        UNTIL(i - goal_count(&c->done) < ahead);
        const int64_t busy = test_random(&random) % 10 == 0 ? 200000 : 20000;
        assert_int_equal(WEIR_OK, post(engine, p, busy));
        c->returned[i] = now_ns();
    }
    assert_true(goal_wait(&c->done));
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, 10 * WEIR_S, NULL));
    assert_int_equal(WEIR_OK, weir_dispatcher_latency(engine, "", &queueing, &handling));
    assert_queueing("queueing of the dispatcher", &queueing, c, EVENTS);
    assert_agrees("handling of the dispatcher", &handling, c->handling, c->handling, EVENTS);
    weir_engine_destroy(engine);
    free(c);
}

static void every_event_is_measured_where_every_one_is_asked_for(void **state)
{
    (void)state;
    measure_all(post_timed, 1);
    measure_all(post_timed, 64);
    measure_all(post_large, 1);
}

static void a_processor_that_is_switched_on_agrees_with_its_own_times(void **state)
{
    (void)state;
    weir_engine *engine = engine_make(WEIR_ENGINE(.latency_every = 1, .threads = 1));
    clerk *c = calloc(1, sizeof(*c));
    weir_latency queueing = WEIR_LATENCY_INIT, handling = WEIR_LATENCY_INIT;
    assert_non_null(c);
    goal_init(&c->done, 500);
    const weir_processor p = add_processor(
        engine, WEIR_PROCESSOR(.name = "clerk", .handler = take_times, .argument = c));
    engine_start(engine);
    assert_int_equal(WEIR_E_INVALID, weir_processor_latency(engine, p, &queueing, &handling));
    assert_int_equal(WEIR_OK, weir_latency_enable(engine, NULL, NULL));
    for (uint64_t i = 0; i < 500; i++) {
        assert_int_equal(WEIR_OK, post_timed(engine, p, 10000 + 100 * (int64_t)i));
        c->returned[i] = now_ns();
    }
    assert_true(goal_wait(&c->done));
    /* The last one is recorded a moment after its handler, in the one after the other. */
    UNTIL(weir_processor_latency(engine, p, &queueing, &handling) == WEIR_OK &&
          queueing.count == 500 && handling.count == 500);
    assert_queueing("queueing", &queueing, c, 500);
    assert_agrees("handling", &handling, c->handling, c->handling, 500);
    assert_true(handling.sum >= 500 * 10000 && handling.max >= 10000 + 100 * 499);
    assert_int_equal(WEIR_OK, weir_processor_latency(engine, p, NULL, NULL));

    assert_int_equal(WEIR_OK, weir_latency_reset(engine, "other"));
    assert_int_equal(WEIR_OK, weir_processor_latency(engine, p, &queueing, NULL));
    assert_int_equal(500, queueing.count);
    assert_int_equal(WEIR_OK, weir_latency_reset(engine, "clerk"));
    assert_int_equal(WEIR_OK, weir_processor_latency(engine, p, &queueing, &handling));
    assert_int_equal(0, queueing.count);
    assert_int_equal(0, handling.max);
    assert_int_equal(WEIR_OK, weir_dispatcher_latency(engine, "", &queueing, NULL));
    assert_int_equal(500, queueing.count); /* of the dispatcher nothing was said */
    assert_int_equal(WEIR_OK, weir_latency_reset(engine, NULL));
    assert_int_equal(WEIR_OK, weir_dispatcher_latency(engine, "", &queueing, NULL));
    assert_int_equal(0, queueing.count);

    assert_int_equal(WEIR_OK, weir_latency_disable(engine, "c?erk", NULL));
    assert_int_equal(WEIR_E_INVALID, weir_processor_latency(engine, p, NULL, NULL));
    assert_int_equal(WEIR_UNKNOWN,
                     weir_processor_latency(engine, (weir_processor){ 1 }, NULL, NULL));
    assert_int_equal(WEIR_UNKNOWN, weir_dispatcher_latency(engine, "nobody", NULL, NULL));
    weir_engine_destroy(engine);
    free(c);
}

/* ---- what is measured ---- */

/* Posts `count` of them and waits until all are handled. */
static void load(weir_engine *engine, weir_processor to, clerk *c, poster post, uint64_t count)
{
    goal_init(&c->done, count);
    for (uint64_t i = 0; i < count; i++) {
        weir_status status;
        UNTIL((status = post(engine, to, 0)) != WEIR_FULL);
        assert_int_equal(WEIR_OK, status);
    }
    assert_true(goal_wait(&c->done));
}

typedef struct rig {
    weir_engine *engine;
    clerk *c;
    weir_processor p;
} rig;

static rig rig_open(const weir_engine_options *options)
{
    rig r = { .engine = engine_make(options), .c = calloc(1, sizeof(clerk)) };
    assert_non_null(r.c);
    r.p = add_processor(r.engine,
                        WEIR_PROCESSOR(.name = "clerk", .handler = take_times, .argument = r.c));
    engine_start(r.engine);
    return r;
}

static void rig_close(rig *r)
{
    weir_engine_destroy(r->engine);
    free(r->c);
}

/* After its thread has ended: all is recorded. */
static weir_latency stopped(rig *r)
{
    weir_latency queueing = WEIR_LATENCY_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(r->engine, 10 * WEIR_S, NULL));
    assert_int_equal(WEIR_OK, weir_dispatcher_latency(r->engine, "", &queueing, NULL));
    return queueing;
}

static void one_event_in_so_many_is_measured(void **state)
{
    (void)state;
    rig r = rig_open(WEIR_ENGINE(.threads = 1));
    load(r.engine, r.p, r.c, post_timed, 64000);
    weir_latency found = stopped(&r);
    assert_in_range(found.count, 60, 220); /* 125: the distances are random */
    rig_close(&r);
    /* One in 64 as soon as a processor is measured. */
    r = rig_open(WEIR_ENGINE(.threads = 1));
    assert_int_equal(WEIR_OK, weir_latency_enable(r.engine, "clerk", NULL));
    load(r.engine, r.p, r.c, post_timed, 64000);
    found = stopped(&r);
    assert_in_range(found.count, 700, 1300);
    rig_close(&r);
}

static void events_that_come_one_by_one_are_measured_as_often(void **state)
{
    (void)state;
    enum { ONE_BY_ONE = 30000, EVERY = 300 };
    rig r = rig_open(WEIR_ENGINE(.threads = 1, .latency_every = EVERY));
    assert_int_equal(WEIR_OK, weir_latency_enable(r.engine, "clerk", NULL));
    goal_init(&r.c->done, ONE_BY_ONE);
    for (uint64_t i = 0; i < ONE_BY_ONE; i++) {
        assert_int_equal(WEIR_OK, post_timed(r.engine, r.p, 0));
        UNTIL(goal_count(&r.c->done) > i);
    }
    assert_true(goal_wait(&r.c->done));
    assert_in_range(stopped(&r).count, 60, 140); /* 100: the distances are random */
    rig_close(&r);
}

static void none_is_measured_where_none_is_asked_for(void **state)
{
    (void)state;
    rig r = rig_open(WEIR_ENGINE(.threads = 1, .latency_every = UINT32_MAX));
    load(r.engine, r.p, r.c, post_timed, 20000);
    assert_int_equal(0, stopped(&r).count);
    rig_close(&r);
}

/* An event as large as an envelope takes, and one that leaves just room for a stamp. */
typedef struct filled {
    uint64_t words[4];
} filled;
WEIR_EVENT_TYPE(filled, "test.filled");
typedef struct snug {
    uint64_t words[3];
} snug;
WEIR_EVENT_TYPE(snug, "test.snug");

typedef struct reader {
    goal done;
    uint64_t next, wrong;
} reader;

static weir_status read_words(void *state, weir_turn *turn, const weir_event *event)
{
    reader *r = state;
    const uint64_t *words = event->data;
    (void)turn;
    for (size_t i = 0; i < event->size / sizeof(words[0]); i++) {
        r->wrong += words[i] != r->next + i ? 1 : 0;
    }
    r->next++;
    goal_add(&r->done);
    return WEIR_OK;
}

static void a_stamp_leaves_the_payload_alone(void **state)
{
    (void)state;
    weir_engine *engine = engine_make(WEIR_ENGINE(.latency_every = 1, .threads = 1));
    reader r = { .next = 0 };
    goal_init(&r.done, EVENTS);
    const weir_processor p =
        add_processor(engine, WEIR_PROCESSOR(.handler = read_words, .argument = &r));
    engine_start(engine);
    for (uint64_t i = 0; i < EVENTS; i++) { /* faster than they are handled: most lie in pages */
        assert_int_equal(
            WEIR_OK,
            i % 2 == 0 ? weir_engine_post(engine, p, WEIR_EVENT(filled, { i, i + 1, i + 2, i + 3 }))
                       : weir_engine_post(engine, p, WEIR_EVENT(snug, { i, i + 1, i + 2 })));
    }
    assert_true(goal_wait(&r.done));
    assert_int_equal(0, r.wrong);
    weir_engine_destroy(engine);
}

static void events_of_batches_are_measured_one_by_one(void **state)
{
    (void)state;
    rig r = rig_open(WEIR_ENGINE(.threads = 1, .latency_every = 1));
    const weir_event *events[100];
    timed t = { .posted = now_ns() };
    const weir_event one = { .type = &timed_type, .data = &t, .size = sizeof(t) };
    goal_init(&r.c->done, 100);
    for (size_t i = 0; i < 100; i++) {
        events[i] = &one;
    }
    assert_int_equal(100, weir_engine_post_batch(r.engine, &r.p, 1, events, 100, NULL));
    assert_true(goal_wait(&r.c->done));
    assert_int_equal(100, stopped(&r).count);
    rig_close(&r);
}

static void drop_oldest(uint64_t posts, uint64_t left)
{
    weir_engine *engine = engine_make(WEIR_ENGINE(.latency_every = 1, .threads = 1));
    clerk *c = calloc(1, sizeof(*c));
    weir_latency queueing = WEIR_LATENCY_INIT;
    assert_non_null(c);
    const int64_t begun = now_ns();
    const weir_processor p =
        add_processor(engine, WEIR_PROCESSOR(.handler = take_times, .argument = c, .mailbox_max = 8,
                                             .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    goal_init(&c->done, left);
    for (uint64_t i = 0; i < posts; i++) {
        assert_int_equal(WEIR_OK, post_timed(engine, p, 0));
    }
    engine_start(engine);
    assert_true(goal_wait(&c->done));
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, 10 * WEIR_S, NULL));
    assert_int_equal(WEIR_OK, weir_dispatcher_latency(engine, "", &queueing, NULL));
    assert_int_equal(left, queueing.count);
    assert_in_range(queueing.max, 0, now_ns() - begun);
    weir_engine_destroy(engine);
    free(c);
}

static void what_a_full_mailbox_dropped_does_not_disturb_what_is_left(void **state)
{
    (void)state;
    drop_oldest(100, 8);
    drop_oldest(1, 1); /* it lies alone, and is copied all the same */
}

static weir_status fail_twice(void *state, weir_turn *turn, const weir_event *event)
{
    reader *r = state;
    (void)turn;
    (void)event;
    r->next++;
    if (r->next == 2 || r->next == 3) { /* of the second event */
        return WEIR_E_USER;
    }
    goal_add(&r->done);
    return WEIR_OK;
}

static void an_event_that_is_tried_again_is_measured_once(void **state)
{
    (void)state;
    weir_engine *engine =
        engine_make(WEIR_ENGINE(.latency_every = 1, .threads = 1, .log_level = WEIR_LOG_OFF));
    reader r = { .next = 0 };
    weir_counters counters = WEIR_COUNTERS_INIT;
    weir_latency queueing = WEIR_LATENCY_INIT;
    goal_init(&r.done, 2);
    const weir_processor p =
        add_processor(engine, WEIR_PROCESSOR(.handler = fail_twice, .argument = &r,
                                             .on_failure = WEIR_RETRY, .retry_delay = WEIR_US));
    assert_int_equal(WEIR_OK, post_timed(engine, p, 0));
    assert_int_equal(WEIR_OK, post_timed(engine, p, 0)); /* in a page */
    engine_start(engine);
    assert_true(goal_wait(&r.done));
    UNTIL(weir_processor_counters(engine, p, &counters) == WEIR_OK && counters.handled == 2);
    assert_int_equal(2, counters.failures);
    assert_int_equal(2, counters.retries);
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, 10 * WEIR_S, NULL));
    assert_int_equal(WEIR_OK, weir_engine_counters(engine, &counters));
    assert_int_equal(2, counters.failures);
    assert_int_equal(WEIR_OK, weir_dispatcher_latency(engine, "", &queueing, NULL));
    assert_int_equal(2, queueing.count);
    weir_engine_destroy(engine);
}

/* ---- which processors ---- */

static bool is_measured(weir_engine *engine, weir_processor p)
{
    return weir_processor_latency(engine, p, NULL, NULL) == WEIR_OK;
}

static weir_processor add_named(weir_engine *engine, const char *name)
{
    return add_processor(engine, WEIR_PROCESSOR(.name = name, .handler = ignore_event));
}

static void patterns_hold_for_those_that_come_later_and_the_last_one_counts(void **state)
{
    (void)state;
    weir_engine *engine = engine_quiet();
    uint32_t count = 7;
    assert_int_equal(WEIR_OK, weir_latency_enable(engine, "order*", &count));
    assert_int_equal(0, count);
    assert_int_equal(WEIR_OK, weir_latency_disable(engine, "orders-??", &count));
    assert_true(is_measured(engine, add_named(engine, "order")));
    assert_true(is_measured(engine, add_named(engine, "orders-1")));
    assert_false(is_measured(engine, add_named(engine, "orders-12")));
    assert_false(is_measured(engine, add_named(engine, "reorder")));
    assert_int_equal(WEIR_OK, weir_latency_enable(engine, "*r*d*12", &count));
    assert_int_equal(1, count);
    assert_true(is_measured(engine, weir_processor_find(engine, "orders-12")));
    const weir_processor nameless = add_processor(engine, WEIR_PROCESSOR(.handler = ignore_event));
    assert_false(is_measured(engine, nameless));
    assert_int_equal(WEIR_OK, weir_latency_enable(engine, "#*", &count));
    assert_int_equal(1, count);
    assert_true(is_measured(engine, nameless));
    assert_int_equal(WEIR_OK, weir_latency_disable(engine, NULL, &count));
    assert_false(is_measured(engine, nameless));
    assert_false(is_measured(engine, add_named(engine, "order-2")));
    assert_int_equal(WEIR_E_INVALID, weir_latency_enable(engine, "", NULL));
    weir_engine_destroy(engine);
}

static void as_many_as_may_be_are_measured_and_one_that_ends_makes_room(void **state)
{
    (void)state;
    weir_engine *engine =
        engine_make(WEIR_ENGINE(.latency_max_processors = 2, .log_level = WEIR_LOG_OFF));
    uint32_t count = 0;
    const weir_processor a = add_named(engine, "a");
    const weir_processor b = add_named(engine, "b");
    const weir_processor c = add_named(engine, "c");
    engine_start(engine);
    assert_int_equal(WEIR_E_LIMIT, weir_latency_enable(engine, "?", &count));
    assert_int_equal(2, count);
    assert_true(is_measured(engine, a) && is_measured(engine, b) && !is_measured(engine, c));
    for (int round = 0; round < 5; round++) {
        assert_int_equal(WEIR_OK, weir_processor_stop(engine, weir_processor_find(engine, "a"),
                                                      10 * WEIR_S, NULL));
        const weir_processor again = add_named(engine, "a");
        assert_true(is_measured(engine, again));
    }
    weir_engine_destroy(engine);
}

/* ---- at run time ---- */

typedef struct switcher {
    weir_engine *engine;
    weir_processor p;
    _Atomic bool stop;
    uint64_t rounds, wrong;
} switcher;

static void *switch_on_and_off(void *argument)
{
    switcher *s = argument;
    while (!atomic_load(&s->stop)) {
        weir_latency l = WEIR_LATENCY_INIT;
        s->wrong += weir_latency_enable(s->engine, "cl*", NULL) != WEIR_OK ? 1 : 0;
        s->wrong += weir_latency_reset(s->engine, s->rounds % 2 == 0 ? NULL : "*") != WEIR_OK;
        (void)weir_processor_latency(s->engine, s->p, &l, NULL);
        s->wrong += weir_dispatcher_latency(s->engine, "", &l, NULL) != WEIR_OK ? 1 : 0;
        s->wrong += l.p50 > l.max ? 1 : 0;
        s->wrong += weir_latency_disable(s->engine, "*", NULL) != WEIR_OK ? 1 : 0;
        s->rounds++;
    }
    return NULL;
}

static void everything_can_be_switched_while_events_are_handled(void **state)
{
    (void)state;
    rig r = rig_open(WEIR_ENGINE(.threads = 2, .latency_every = 2));
    switcher s = { .engine = r.engine, .p = r.p };
    pthread_t other;
    assert_int_equal(0, pthread_create(&other, NULL, switch_on_and_off, &s));
    load(r.engine, r.p, r.c, post_timed, test_scaled(200000, 10));
    load(r.engine, r.p, r.c, post_large, test_scaled(200000, 10));
    atomic_store(&s.stop, true);
    assert_int_equal(0, pthread_join(other, NULL));
    assert_true(s.rounds > 0);
    assert_int_equal(0, s.wrong);
    /* A reset loses nothing that comes after it. */
    assert_int_equal(WEIR_OK, weir_latency_enable(r.engine, NULL, NULL));
    assert_int_equal(WEIR_OK, weir_latency_reset(r.engine, NULL));
    load(r.engine, r.p, r.c, post_timed, 4000);
    const weir_latency found = stopped(&r);
    assert_in_range(found.count, 1200, 4000);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_is_measured_where_every_one_is_asked_for),
        cmocka_unit_test(a_processor_that_is_switched_on_agrees_with_its_own_times),
        cmocka_unit_test(one_event_in_so_many_is_measured),
        cmocka_unit_test(events_that_come_one_by_one_are_measured_as_often),
        cmocka_unit_test(none_is_measured_where_none_is_asked_for),
        cmocka_unit_test(a_stamp_leaves_the_payload_alone),
        cmocka_unit_test(events_of_batches_are_measured_one_by_one),
        cmocka_unit_test(what_a_full_mailbox_dropped_does_not_disturb_what_is_left),
        cmocka_unit_test(an_event_that_is_tried_again_is_measured_once),
        cmocka_unit_test(patterns_hold_for_those_that_come_later_and_the_last_one_counts),
        cmocka_unit_test(as_many_as_may_be_are_measured_and_one_that_ends_makes_room),
        cmocka_unit_test(everything_can_be_switched_while_events_are_handled),
    };
    return cmocka_run_group_tests_name("latency", tests, NULL, NULL);
}
