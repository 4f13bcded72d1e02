/*
 * order_support.h - many producers, many keys, and a checker that is apart from the engine: a page
 * a key, written by the key's handler, plain on purpose (TSan is the judge of whether two handlers
 * of a key ever overlap), and a page a producer and key, written by the producer.
 *
 * Keys are of three kinds. Shared: everybody submits and finishes. Owned: one producer alone does,
 * so it knows which life of the key each event belongs to, and the state checks that no event of
 * another life is ever mixed in. Kept: owned and never finished, so that the figures of the flow
 * are the sums of its whole life.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_ORDER_SUPPORT_H
#define WEIR_TEST_ORDER_SUPPORT_H

#include "flow_support.h"

enum { PRODUCERS = 8, HOT = 48, BATCH = 16, KEY_TEXT = 24, STATE_ROOM = 40 };

typedef enum key_kind { KEY_SHARED, KEY_OWNED, KEY_KEPT } key_kind;

typedef struct parcel {
    uint32_t key;
    uint32_t producer;
    uint32_t number; /* of this producer's accepted submits to this key */
    uint32_t life;   /* owned keys: finishes before it */
} parcel;
WEIR_EVENT_TYPE(parcel, "test.parcel");

/* A key's page: its handlers and hooks write it. */
typedef struct page {
    uint32_t next[PRODUCERS]; /* numbers below it were seen, or will never come */
    uint32_t handled;
    uint32_t life; /* owned: of the state that is there or was last, plus one */
    bool alive;    /* there is a state */
    bool inside;   /* its handler runs */
    uint32_t wrong_order, doubled, gaps, overlaps, unmade, mixed, stray;
} page;

/* A flow's state: more than what lies in its record. */
typedef struct flow_state {
    uint32_t key; /* plus one */
    uint32_t life;
    page *at;
    unsigned char room[STATE_ROOM];
} flow_state;

typedef struct shape {
    const char *name;
    weir_overflow overflow;
    uint32_t workers;
    bool migrate, bytes;
    uint32_t keys;
    uint32_t events;      /* a producer */
    uint64_t flows_max;   /* 0: as many as there are keys, and more */
    weir_ns idle_timeout; /* 0: never */
    bool ends_by_itself;  /* flows end for other reasons than finishes: lives are not known */
} shape;

typedef struct world {
    const shape *is;
    weir_engine *engine;
    weir_router router;
    page *pages;
    atomic_uint_least64_t handled, states, ends, finish_events;
    atomic_uint_least64_t odd; /* outside of any page */
} world;

static world w;

typedef struct producer {
    pthread_t thread;
    uint32_t number;
    uint64_t random;
    uint32_t *accepted; /* by key: parcels */
    uint32_t *lives;    /* by key: accepted finishes */
    uint64_t submitted; /* accepted, finishes included */
    uint64_t dropped;   /* DROPPED */
    uint64_t odd;
    bool until_stopped; /* goes on until the router refuses */
} producer;

static inline key_kind kind_of(uint32_t key)
{
    return key % 4 < 2 ? KEY_SHARED : key % 4 == 2 ? KEY_OWNED : KEY_KEPT;
}

static inline uint32_t owner_of(uint32_t key)
{
    return key / 4 % PRODUCERS;
}

/* ---- the flows ---- */

static inline weir_status flow_init(void *state, weir_turn *turn, void *argument)
{
    static const flow_state zero;
    (void)turn;
    (void)argument;
    if (memcmp(state, &zero, sizeof(zero)) != 0) {
        atomic_fetch_add(&w.odd, 1);
    }
    memset(((flow_state *)state)->room, 0x5a, STATE_ROOM);
    atomic_fetch_add_explicit(&w.states, 1, memory_order_relaxed);
    return WEIR_OK;
}

static inline void flow_destroy(void *state, weir_flow_end reason)
{
    flow_state *f = state;
    if (f->at == NULL || f->room[STATE_ROOM - 1] != 0x5a) {
        atomic_fetch_add(&w.odd, 1);
        return;
    }
    f->at->unmade += !f->at->alive;
    f->at->overlaps += f->at->inside;
    f->at->alive = false;
    f->at->stray +=
        w.is->ends_by_itself ? 0 : reason == WEIR_FLOW_IDLE || reason == WEIR_FLOW_EVICTED;
    atomic_fetch_add_explicit(&w.ends, 1, memory_order_relaxed);
}

/* The first event of a state: the one before is over. */
static inline void first_of_state(flow_state *f, page *at, const parcel *p)
{
    f->key = p->key + 1;
    f->life = p->life;
    f->at = at;
    at->unmade += at->alive;
    at->alive = true;
    if (kind_of(p->key) != KEY_SHARED && !w.is->ends_by_itself) {
        at->mixed += p->life < at->life;
        at->life = p->life + 1;
    }
}

static inline weir_status flow_handle(void *state, weir_turn *turn, const weir_event *event)
{
    flow_state *f = state;
    const parcel *p = weir_event_as(event, &parcel_type);
    if (p == NULL || p->key >= w.is->keys || p->producer >= PRODUCERS) {
        atomic_fetch_add(&w.odd, 1);
        return WEIR_OK;
    }
    page *at = &w.pages[p->key];
    at->overlaps += at->inside;
    at->inside = true;
    if (f->key == 0) {
        first_of_state(f, at, p);
    }
    at->stray += f->key != p->key + 1 || f->at != at;
    at->mixed += kind_of(p->key) != KEY_SHARED && !w.is->ends_by_itself && f->life != p->life;
    at->doubled += p->number + 1 == at->next[p->producer];
    at->wrong_order += p->number + 1 < at->next[p->producer];
    at->gaps += p->number > at->next[p->producer];
    at->next[p->producer] = p->number + 1;
    at->handled++;
    if (kind_of(p->key) == KEY_SHARED && p->number % 61 == 60 &&
        weir_turn_finish(turn) != WEIR_OK) {
        at->stray++;
    }
    at->inside = false;
    atomic_fetch_add_explicit(&w.handled, 1, memory_order_relaxed);
    return WEIR_OK;
}

/* ---- the producers ---- */

static inline size_t key_text(uint32_t key, char *out)
{
    return (size_t)snprintf(out, KEY_TEXT, "session/%08u", key);
}

static inline bool is_mine(const producer *p, uint32_t key)
{
    return kind_of(key) == KEY_SHARED || owner_of(key) == p->number;
}

/* Half of all go to few keys, so that these are always in flight. */
static inline uint32_t choose_key(producer *p)
{
    const uint64_t r = test_random(&p->random);
    const uint32_t among = (r & 1) != 0 && w.is->keys > HOT ? HOT : w.is->keys;
    uint32_t key = (uint32_t)((r >> 8) % among);
    while (!is_mine(p, key)) {
        key = (key + 1) % w.is->keys;
    }
    return key;
}

static inline weir_status submit_one(uint32_t key, const weir_event *event)
{
    char text[KEY_TEXT];
    return w.is->bytes
               ? weir_router_submit_bytes(w.engine, w.router, text, key_text(key, text), event)
               : weir_router_submit(w.engine, w.router, key + 1, event);
}

static inline weir_status finish_one(uint32_t key)
{
    char text[KEY_TEXT];
    return w.is->bytes ? weir_router_finish_bytes(w.engine, w.router, text, key_text(key, text))
                       : weir_router_finish(w.engine, w.router, key + 1);
}

/* True: it was accepted, and is counted. */
static inline bool judge(producer *p, weir_status status)
{
    if (status == WEIR_OK || status == WEIR_DROPPED) {
        p->submitted++;
        p->dropped += status == WEIR_DROPPED;
        return true;
    }
    const bool refused =
        status == WEIR_FULL && (w.is->overflow == WEIR_OVERFLOW_FAIL ||
                                (w.is->flows_max != 0 && w.is->overflow != WEIR_OVERFLOW_BLOCK));
    p->odd += !refused && !(status == WEIR_STOPPING && p->until_stopped);
    return false;
}

static inline parcel next_parcel(const producer *p, uint32_t key)
{
    return (parcel){ key, p->number, p->accepted[key], p->lives[key] };
}

static inline weir_status produce_one(producer *p, uint32_t key, bool last)
{
    const parcel next = next_parcel(p, key);
    const weir_event event = { .type = &parcel_type,
                               .size = sizeof(next),
                               .data = &next,
                               .flags = last ? WEIR_EVENT_FINISH : 0 };
    weir_status status = submit_one(key, &event);
    while (status == WEIR_FULL && w.is->overflow == WEIR_OVERFLOW_FAIL) {
        (void)sched_yield();
        status = submit_one(key, &event);
    }
    if (judge(p, status)) {
        p->accepted[key]++;
        p->lives[key] += last;
    }
    return status;
}

static inline weir_status produce_finish(producer *p, uint32_t key)
{
    const weir_status status = finish_one(key);
    if (status == WEIR_UNKNOWN) { /* there is no such flow: nothing has happened */
        return WEIR_OK;
    }
    if (judge(p, status)) {
        p->lives[key]++;
        atomic_fetch_add_explicit(&w.finish_events, 1, memory_order_relaxed);
    }
    return status;
}

/* Of one key there is one in a batch: the numbers of those behind one that is refused would lie. */
static inline weir_status produce_batch(producer *p)
{
    uint64_t flows[BATCH];
    parcel parcels[BATCH];
    weir_event events[BATCH];
    const weir_event *pointers[BATCH];
    weir_status statuses[BATCH];
    size_t count = 0;
    for (size_t tries = 0; tries < BATCH; tries++) {
        const uint32_t key = choose_key(p);
        bool new = true;
        for (size_t i = 0; i < count; i++) {
            new = new &&parcels[i].key != key;
        }
        if (new) {
            parcels[count] = next_parcel(p, key);
            events[count] = (weir_event){ .type = &parcel_type,
                                          .size = sizeof(parcel),
                                          .data = &parcels[count] };
            pointers[count] = &events[count];
            flows[count++] = key + 1;
        }
    }
    const size_t accepted =
        weir_router_submit_batch(w.engine, w.router, flows, pointers, count, statuses);
    size_t counted = 0;
    for (size_t i = 0; i < count; i++) {
        if (judge(p, statuses[i])) {
            p->accepted[parcels[i].key]++;
            counted++;
        }
    }
    p->odd += counted != accepted;
    return statuses[count - 1];
}

static inline void *produce(void *argument)
{
    producer *p = argument;
    weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < w.is->events || p->until_stopped; i++) {
        const uint64_t what = test_random(&p->random) % 100;
        const uint32_t key = choose_key(p);
        const bool may_end = kind_of(key) != KEY_KEPT;
        if (what < 10 && !w.is->bytes) {
            status = produce_batch(p);
        } else if (what < 20 && may_end) {
            status = produce_finish(p, key);
        } else {
            status = produce_one(p, key, what < 40 && may_end);
        }
        if (status == WEIR_STOPPING) {
            break;
        }
        if (status == WEIR_DROPPED || i % 64 == 0) {
            (void)sched_yield(); /* there are more producers than cores: somebody has to handle */
        }
    }
    return NULL;
}

/* ---- the world ---- */

static inline void world_open(const shape *is)
{
    memset(&w, 0, sizeof(w));
    w.is = is;
    w.pages = calloc(is->keys, sizeof(*w.pages));
    assert_non_null(w.pages);
    const bool block = is->overflow == WEIR_OVERFLOW_BLOCK;
    w.engine = test_engine_create(
        WEIR_ENGINE(.threads = is->workers < 4 ? is->workers : 4, .log_level = WEIR_LOG_OFF));
    w.router = flow_router_add(
        w.engine,
        WEIR_ROUTER(.name = "order", .handler = flow_handle, .state_size = sizeof(flow_state),
                    .init = flow_init, .destroy = flow_destroy, .workers = is->workers,
                    .worker_max = block ? 32 : 64, .ingress_max = block ? 128 : 0,
                    .overflow = is->overflow, .block_max = TEST_PATIENCE,
                    .flows_max = is->flows_max,
                    .idle_timeout = is->idle_timeout != 0 ? is->idle_timeout : WEIR_FOREVER,
                    .migrate = is->migrate,
                    .keys = is->bytes ? WEIR_FLOW_KEYS_BYTES : WEIR_FLOW_KEYS_U64));
    test_engine_start(w.engine);
}

static inline void producers_begin(producer *all, uint64_t seed, bool until_stopped)
{
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        all[i] = (producer){ .number = i,
                             .random = seed * PRODUCERS + i,
                             .until_stopped = until_stopped,
                             .accepted = calloc(w.is->keys, sizeof(uint32_t)),
                             .lives = calloc(w.is->keys, sizeof(uint32_t)) };
        assert_true(all[i].accepted != NULL && all[i].lives != NULL);
        assert_int_equal(0, pthread_create(&all[i].thread, NULL, produce, &all[i]));
    }
}

static inline void producers_end(producer *all)
{
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        assert_int_equal(0, pthread_join(all[i].thread, NULL));
        assert_int_equal(0, all[i].odd);
    }
}

static inline weir_status flow_figures(uint32_t key, weir_flow_counters *c)
{
    char text[KEY_TEXT];
    *c = (weir_flow_counters)WEIR_FLOW_COUNTERS_INIT;
    return w.is->bytes
               ? weir_flow_counters_get_bytes(w.engine, w.router, text, key_text(key, text), c)
               : weir_flow_counters_get(w.engine, w.router, key + 1, c);
}

/* Per flow: while the router lives. Of a kept key all that was ever submitted is in its record. */
static inline void check_flows(const producer *all)
{
    for (uint32_t key = 0; key < w.is->keys; key++) {
        weir_flow_counters c;
        const weir_status status = flow_figures(key, &c);
        const uint32_t mine = all[owner_of(key)].accepted[key];
        if (status == WEIR_OK) {
            assert_int_equal(c.submitted, c.handled + c.dropped);
            assert_true(c.worker < w.is->workers);
        }
        if (kind_of(key) == KEY_KEPT && !w.is->ends_by_itself && status == WEIR_OK) {
            assert_int_equal(w.pages[key].handled, c.handled);
            /* A first event that was dropped has no flow to be counted against. */
            assert_true(c.submitted <= mine);
            assert_true(c.submitted == mine || w.is->overflow != WEIR_OVERFLOW_BLOCK);
        } else if (kind_of(key) == KEY_KEPT && !w.is->ends_by_itself) {
            assert_int_equal(0, w.pages[key].handled);
        }
    }
}

static inline void tell_if_wrong(uint32_t key, const page *at)
{
    if (at->wrong_order + at->doubled + at->overlaps + at->unmade + at->mixed + at->stray > 0) {
        fprintf(stderr,
                "# %s, policy %d, %u workers%s: key %u (kind %d), %u handled: wrong order %u, "
                "doubled %u, overlaps %u, unmade %u, mixed %u, stray %u\n",
                w.is->name, (int)w.is->overflow, w.is->workers, w.is->migrate ? ", moving" : "",
                key, (int)kind_of(key), at->handled, at->wrong_order, at->doubled, at->overlaps,
                at->unmade, at->mixed, at->stray);
    }
}

/* By what the handlers wrote. */
static inline void check_pages(const producer *all)
{
    const bool drops =
        w.is->overflow == WEIR_OVERFLOW_DROP_NEWEST || w.is->overflow == WEIR_OVERFLOW_DROP_OLDEST;
    uint64_t handled = 0;
    for (uint32_t key = 0; key < w.is->keys; key++) {
        const page *at = &w.pages[key];
        tell_if_wrong(key, at);
        assert_int_equal(0, at->wrong_order);
        assert_int_equal(0, at->doubled);
        assert_int_equal(0, at->overlaps);
        assert_int_equal(0, at->unmade);
        assert_int_equal(0, at->mixed);
        assert_int_equal(0, at->stray);
        assert_false(at->alive);
        handled += at->handled;
        for (uint32_t i = 0; i < PRODUCERS && !drops; i++) {
            assert_int_equal(0, at->gaps);
            assert_int_equal(all[i].accepted[key], at->next[i]);
        }
    }
    assert_int_equal(handled, atomic_load(&w.handled));
    assert_int_equal(0, atomic_load(&w.odd));
    assert_int_equal(atomic_load(&w.states), atomic_load(&w.ends));
}

/* By the router's figures. Finishes alone are counted as events, and no handler sees them. */
static inline weir_router_counters check_sums(const producer *all, bool stopped_midway)
{
    const weir_router_counters c = router_counters(w.engine, w.router);
    uint64_t submitted = 0, dropped = 0;
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        submitted += all[i].submitted;
        dropped += all[i].dropped;
    }
    assert_router_adds_up(&c);
    assert_int_equal(submitted, c.submitted);
    assert_int_equal(dropped, c.dropped_newest);
    assert_int_equal(0, c.dead);
    assert_int_equal(0, c.left);
    assert_true(c.handled >= atomic_load(&w.handled));
    assert_true(c.handled <= atomic_load(&w.handled) + atomic_load(&w.finish_events));
    assert_int_equal(atomic_load(&w.ends), c.finished + c.idle + c.evicted + c.stopped);
    if (w.is->overflow == WEIR_OVERFLOW_BLOCK || w.is->overflow == WEIR_OVERFLOW_FAIL) {
        assert_int_equal(0, c.dropped_newest + c.dropped_oldest);
        assert_int_equal(atomic_load(&w.handled) + atomic_load(&w.finish_events), c.handled);
    }
    if (!stopped_midway && w.is->overflow == WEIR_OVERFLOW_BLOCK) {
        assert_int_equal(0, c.refused_full + c.refused_ingress + c.refused_flows);
    }
    return c;
}

static inline void world_close(producer *all)
{
    weir_engine_destroy(w.engine);
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        free(all[i].accepted);
        free(all[i].lives);
    }
    free(w.pages);
}

static inline weir_router_counters run(const shape *is, uint64_t seed)
{
    static producer all[PRODUCERS];
    world_open(is);
    producers_begin(all, seed, false);
    producers_end(all);
    TEST_UNTIL(router_counters(w.engine, w.router).depth == 0);
    check_flows(all);
    assert_int_equal(WEIR_OK, weir_router_stop(w.engine, w.router, TEST_PATIENCE, NULL));
    check_pages(all);
    const weir_router_counters c = check_sums(all, false);
    fprintf(stderr,
            "# %s: %u workers%s%s, %u keys: %" PRIu64 " submitted, %" PRIu64 " handled, %" PRIu64
            " + %" PRIu64 " dropped, %" PRIu64 " states, %" PRIu64 " moved\n",
            is->name, is->workers, is->migrate ? ", moving" : "", is->bytes ? ", bytes" : "",
            is->keys, c.submitted, c.handled, c.dropped_newest, c.dropped_oldest,
            (uint64_t)atomic_load(&w.states), c.moved);
    (void)test_engine_stop(w.engine);
    world_close(all);
    return c;
}

#endif /* WEIR_TEST_ORDER_SUPPORT_H */
