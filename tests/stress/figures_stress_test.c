/*
 * figures_stress_test.c - counters under everything that changes them: none falls while the engine
 * runs, whoever looks; and when it has stopped, at whatever moment, they add up (P-3).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/option_support.h"

enum { PLACES = 8, TARGETS = 4, LOOKERS = 2, POSTERS = 3, BAD = WEIR_E_USER - 3 };

typedef struct load {
    uint64_t number;
} load;
WEIR_EVENT_TYPE(load, "test.load");

typedef struct crowd {
    weir_engine *engine;
    weir_processor to[TARGETS]; /* refuse, drop the newest, drop the oldest, fail now and then */
    atomic_bool end;
    atomic_uint_least64_t looks, guests, odd;
    _Atomic(const char *) fell;
} crowd;

static weir_status handle(void *state, weir_turn *turn, const weir_event *event)
{
    const load *l = weir_event_as(event, &load_type);
    (void)state;
    (void)turn;
    return l != NULL && l->number % 7 == 0 ? BAD : WEIR_OK;
}

static void *post_on(void *context)
{
    crowd *c = context;
    for (uint64_t i = 0; !atomic_load(&c->end); i++) {
        const weir_status status =
            weir_engine_post(c->engine, c->to[i % TARGETS], WEIR_EVENT(load, .number = i));
        atomic_fetch_add(&c->odd, status < 0 ? 1 : 0);
    }
    return NULL;
}

/* Some who come, get something, and are ended with it unread. */
static void *invite_on(void *context)
{
    crowd *c = context;
    while (!atomic_load(&c->end)) {
        weir_error error = WEIR_ERROR_INIT;
        const weir_processor guest =
            weir_processor_add(c->engine, WEIR_PROCESSOR(.handler = handle), &error);
        for (uint64_t i = 1; i <= 4; i++) {
            const weir_status status =
                weir_engine_post(c->engine, guest, WEIR_EVENT(load, .number = i));
            atomic_fetch_add(&c->odd, status != WEIR_OK ? 1 : 0);
        }
        (void)weir_processor_stop(c->engine, guest, 1, NULL);
        atomic_fetch_add(&c->guests, 1);
    }
    return NULL;
}

#define ALL(X)                                                                                     \
    X(accepted)                                                                                    \
    X(handled)                                                                                     \
    X(dropped)                                                                                     \
    X(dead)                                                                                        \
    X(left)                                                                                        \
    X(refused_full)                                                                                \
    X(refused_unknown)                                                                             \
    X(dropped_newest)                                                                              \
    X(dropped_oldest) X(unhandled) X(dead_failed) X(dead_stopped) X(failures) X(letters)

static void *look_on(void *context)
{
    crowd *c = context;
    weir_counters before = WEIR_COUNTERS_INIT;
    while (!atomic_load(&c->end)) {
        weir_counters now = WEIR_COUNTERS_INIT;
        (void)weir_engine_counters(c->engine, &now);
#define LOOK(field)                                                                                \
    if (now.field < before.field) {                                                                \
        atomic_store(&c->fell, #field);                                                            \
    }
        ALL(LOOK)
        /* Of posts that were under way, and then were refused. */
        const uint64_t sum = now.handled + now.dropped + now.dead + now.left + now.depth;
        if (now.accepted < sum || now.accepted > sum + POSTERS ||
            now.dead != now.dead_failed + now.dead_stopped) {
            atomic_store(&c->fell, "a sum");
        }
        before = now;
        atomic_fetch_add(&c->looks, 1);
    }
    return NULL;
}

static void no_counter_falls_while_posts_are_refused_and_processors_end(void **state)
{
    (void)state;
    pthread_t threads[POSTERS + LOOKERS];
    static void *(*const parts[])(void *) = { post_on, post_on, invite_on, look_on, look_on };
    static const weir_overflow policies[] = { WEIR_OVERFLOW_FAIL, WEIR_OVERFLOW_DROP_NEWEST,
                                              WEIR_OVERFLOW_DROP_OLDEST, WEIR_OVERFLOW_FAIL };
    crowd c = { .engine =
                    test_engine_create(WEIR_ENGINE(.threads = 1, .log_level = WEIR_LOG_OFF)) };
    for (uint32_t i = 0; i < TARGETS; i++) {
        c.to[i] =
            test_processor_add(c.engine, WEIR_PROCESSOR(.handler = handle, .mailbox_max = PLACES,
                                                        .overflow = policies[i]));
    }
    test_engine_start(c.engine);
    for (uint32_t i = 0; i < POSTERS + LOOKERS; i++) {
        assert_int_equal(0, pthread_create(&threads[i], NULL, parts[i], &c));
    }
    const uint64_t wanted = test_load(30000, 3000);
    TEST_UNTIL(atomic_load(&c.fell) != NULL ||
               (atomic_load(&c.looks) > wanted && atomic_load(&c.guests) > wanted / 100));
    atomic_store(&c.end, true);
    for (uint32_t i = 0; i < POSTERS + LOOKERS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    if (atomic_load(&c.fell) != NULL) {
        fail_msg("%s", atomic_load(&c.fell));
    }
    assert_int_equal(0, atomic_load(&c.odd));
    weir_engine_destroy(c.engine);
}

/* ---- stopped at any moment ---- */

enum { ACTORS = 6, STOPS = 3, THREADS = 2 };

/* All kinds of traffic between a few processors, on two dispatchers. */
typedef struct town {
    weir_engine *engine;
    weir_processor actors[ACTORS];
    weir_channel channel;
    weir_feed feed;
    weir_router router;
    uint64_t seed;
    atomic_bool end;
    atomic_uint_least64_t posts;
} town;

WEIR_EMPTY_TYPE(answer, "test.answer");

static weir_status act(void *state, weir_turn *turn, const weir_event *event)
{
    town *t = state;
    const load *l = weir_event_as(event, &load_type);
    if (l == NULL) {
        return event->type == &answer_type ? WEIR_OK : WEIR_UNHANDLED;
    }
    const weir_processor to = t->actors[l->number % ACTORS];
    const uint64_t left = l->number / ACTORS;
    switch (l->number % 11) {
    case 0:
        return BAD;
    case 1:
        (void)!weir_turn_reply(turn, event->from, WEIR_EMPTY(answer));
        return WEIR_OK;
    case 2:
        return weir_turn_ask(turn, to, WEIR_EVENT(load, .number = left),
                             WEIR_ASK(.timeout = left % 2 == 0 ? WEIR_US : WEIR_MS));
    case 3:
        return weir_turn_broadcast(turn, t->channel, WEIR_EVENT(load, .number = left / 7));
    case 4:
        return weir_turn_submit(turn, t->router, l->number % 64, WEIR_EVENT(load, .number = left));
    case 5:
        return WEIR_UNHANDLED;
    default:
        return left > 0 ? weir_turn_post(turn, to, WEIR_EVENT(load, .number = left)) : WEIR_OK;
    }
}

/* A flow's: its events end here. */
static weir_status flow_on(void *state, weir_turn *turn, const weir_event *event)
{
    const load *l = weir_event_as(event, &load_type);
    (void)state;
    if (l != NULL && l->number % 5 == 0) {
        (void)weir_turn_finish(turn);
    }
    return l != NULL && l->number % 9 == 0 ? BAD : WEIR_OK;
}

static void post_one(town *t, uint64_t random)
{
    const weir_event *const event = WEIR_EVENT(load, .number = random % 4096);
    const weir_event *const some[] = { event, event, event, event, event };
    const weir_processor to = t->actors[random % ACTORS];
    switch (random >> 12 & 7) {
    case 0:
        (void)!weir_engine_post_batch(t->engine, &to, 1, some, 5, NULL);
        break;
    case 1:
        (void)!weir_engine_post_batch(t->engine, t->actors, ACTORS, some, 5, NULL);
        break;
    case 2:
        (void)!weir_engine_broadcast(t->engine, t->channel, event, NULL);
        break;
    case 3:
        (void)!weir_router_submit(t->engine, t->router, random % 64, event);
        break;
    case 4:
        (void)!weir_timer_add(t->engine, to, event,
                              WEIR_TIMER(.after = WEIR_US, .reserve = random >> 20 & 1), NULL);
        break;
    case 5:
        (void)!weir_feed_publish(t->engine, t->feed, event);
        break;
    default:
        (void)!weir_engine_post(t->engine, to, event);
    }
    atomic_fetch_add(&t->posts, 1);
}

static void *live(void *context)
{
    town *t = context;
    uint64_t random = t->seed + (uint64_t)test_gettid();
    while (!atomic_load(&t->end)) {
        post_one(t, test_random(&random));
    }
    return NULL;
}

/* Moves, switches, resets, looks. */
static void *stir(void *context)
{
    town *t = context;
    uint64_t random = t->seed;
    while (!atomic_load(&t->end)) {
        const uint64_t r = test_random(&random);
        weir_error error = WEIR_ERROR_INIT;
        (void)weir_processor_move(t->engine, t->actors[r % ACTORS], r >> 8 & 1 ? "x" : "", &error);
        (void)(r >> 9 & 1 ? weir_latency_enable(t->engine, "*", NULL)
                          : weir_latency_disable(t->engine, "*", NULL));
        (void)weir_latency_reset(t->engine, r >> 10 & 1 ? NULL : "*");
        char *text = weir_metrics_prometheus(t->engine, NULL, NULL);
        weir_metrics_free(t->engine, text);
    }
    return NULL;
}

typedef struct sums {
    weir_engine *engine;
    const town *town;
    weir_counters all;
    uint64_t dispatchers, threads;
} sums;

static bool is_actor(const town *t, weir_processor processor)
{
    for (uint32_t i = 0; i < ACTORS; i++) {
        if (t->actors[i].id == processor.id) {
            return true;
        }
    }
    return false;
}

/* Not the router's workers: those are counted by it, whether they are gone or not. */
static bool add_processor(void *context, weir_processor processor)
{
    sums *s = context;
    weir_counters c = WEIR_COUNTERS_INIT;
    if (is_actor(s->town, processor) &&
        weir_processor_counters(s->engine, processor, &c) == WEIR_OK) {
        assert_int_equal(c.accepted, c.handled + c.dropped + c.dead + c.left);
        s->all.handled += c.handled;
        s->all.dropped += c.dropped;
        s->all.dead += c.dead;
        s->all.left += c.left;
    }
    return true;
}

static bool add_thread(void *context, weir_thread thread, const char *name)
{
    sums *s = context;
    weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
    (void)name;
    assert_int_equal(WEIR_OK, weir_thread_counters_get(s->engine, thread, &c));
    s->threads += c.handled;
    return true;
}

/* One by one they go while it ends; their sums stay. */
static void add_workers(const town *t, sums *s)
{
    weir_router_counters r = WEIR_ROUTER_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_router_counters_get(t->engine, t->router, &r));
    s->all.handled += r.handled;
    s->all.dead += r.dead;
    s->all.dropped += r.dropped_newest + r.dropped_oldest;
}

static void assert_adds_up(const town *t, const weir_stop_report *report)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    sums s = { .engine = t->engine, .town = t };
    assert_int_equal(WEIR_OK, weir_engine_counters(t->engine, &c));
    assert_int_equal(c.accepted, c.handled + c.dropped + c.dead + c.left);
    assert_int_equal(c.dead, c.dead_failed + c.dead_stopped);
    assert_int_equal(c.dropped, c.dropped_newest + c.dropped_oldest);
    assert_int_equal(report->accepted, c.accepted);
    weir_processor_visit(t->engine, add_processor, &s);
    weir_thread_visit(t->engine, add_thread, &s);
    for (uint32_t i = 0; i < 2; i++) {
        weir_dispatcher_counters d = WEIR_DISPATCHER_COUNTERS_INIT;
        assert_int_equal(WEIR_OK, weir_dispatcher_counters_get(t->engine, i == 0 ? "" : "x", &d));
        s.dispatchers += d.handled;
    }
    add_workers(t, &s);
    assert_int_equal(c.dropped, s.all.dropped);
    assert_int_equal(s.dispatchers, s.threads);
    if (c.left == 0) {
        assert_int_equal(c.handled, s.all.handled);
        assert_int_equal(c.dead, s.all.dead);
        assert_int_equal(c.handled, s.threads);
    } else { /* what waits in a feed is in no mailbox yet; nor is what was just being counted */
        assert_true(c.left + THREADS >= s.all.left);
        assert_true(s.all.handled + s.all.dead <= c.handled + c.dead + THREADS);
    }
}

static void found(town *t)
{
    static const weir_overflow policies[] = { WEIR_OVERFLOW_FAIL, WEIR_OVERFLOW_DROP_NEWEST,
                                              WEIR_OVERFLOW_DROP_OLDEST };
    static const weir_directive directives[] = { WEIR_RESUME, WEIR_RETRY, WEIR_RESTART };
    static const char *const served[] = { "", "x", NULL };
    weir_error error = WEIR_ERROR_INIT;
    t->engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .latency_every = 2));
    for (uint32_t i = 0; i < THREADS; i++) {
        (void)test_thread_add(t->engine, WEIR_THREAD(.dispatchers = served));
    }
    t->channel = weir_channel_open(t->engine, "all", &error);
    t->feed = weir_feed_open(
        t->engine, WEIR_FEED(.name = "news", .many_writers = true, .slow = WEIR_SLOW_DROP_OLDEST),
        &error);
    t->router =
        weir_router_add(t->engine,
                        WEIR_ROUTER(.name = "keys", .handler = flow_on, .workers = 2,
                                    .worker_max = 32, .overflow = WEIR_OVERFLOW_DROP_NEWEST),
                        &error);
    test_error_none(&error);
    for (uint32_t i = 0; i < ACTORS; i++) {
        t->actors[i] = test_processor_add(
            t->engine,
            WEIR_PROCESSOR(.handler = act, .argument = t, .mailbox_max = 32,
                           .dispatcher = i % 2 == 0 ? "" : "x", .overflow = policies[i % 3],
                           .restart_max = 1000, .restart_window = WEIR_US,
                           .on_failure = directives[(i + i / 3) % 3], .retry_max = 3,
                           .retry_delay = WEIR_US));
        assert_int_equal(WEIR_OK, weir_channel_subscribe(t->engine, t->channel, t->actors[i]));
        if (i % 2 == 0) {
            assert_int_equal(WEIR_OK, weir_feed_subscribe(t->engine, t->feed, t->actors[i]));
        }
    }
    test_engine_start(t->engine);
}

static void stop_somewhere(uint64_t *random)
{
    static const weir_ns times[STOPS] = { 1, WEIR_MS, TEST_PATIENCE };
    static void *(*const parts[])(void *) = { live, live, stir };
    pthread_t threads[3];
    town t = { .seed = test_random(random) };
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    found(&t);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(0, pthread_create(&threads[i], NULL, parts[i], &t));
    }
    const uint64_t posts = test_random(random) % 3000;
    TEST_UNTIL(atomic_load(&t.posts) >= posts);
    (void)weir_engine_stop(t.engine, times[test_random(random) % STOPS], &report);
    assert_adds_up(&t, &report);
    atomic_store(&t.end, true);
    for (uint32_t i = 0; i < 3; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    assert_adds_up(&t, &report);
    weir_engine_destroy(t.engine);
}

static void an_engine_that_is_stopped_at_any_moment_adds_up(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const uint64_t rounds = test_load(400, 15);
    for (uint64_t i = 0; i < rounds; i++) {
        stop_somewhere(&random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_counter_falls_while_posts_are_refused_and_processors_end),
        cmocka_unit_test(an_engine_that_is_stopped_at_any_moment_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
