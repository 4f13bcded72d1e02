/*
 * flow_support.h - what the tests of flows share: a router whose flows write down their lives, and
 * events that hold a worker until they are let go.
 *
 * One log for all flows of a stage, in the order in which things happened: a state made, an event
 * handled, a state destroyed. A step may carry a latch: its handler then says that it has come in,
 * and waits. So a test knows what every worker does at any moment, and nothing here sleeps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_FLOW_SUPPORT_H
#define WEIR_TEST_FLOW_SUPPORT_H

#include "../engine/option_support.h"

/* ---- events ---- */

typedef struct latch {
    sem_t entered, pass;
} latch;

/* What one event is to do. */
typedef struct step {
    uint64_t value;
    latch *hold;        /* or NULL */
    weir_status answer; /* the handler's */
    bool finish;        /* calls weir_turn_finish */
} step;
WEIR_EVENT_TYPE(step, "test.step");

static inline void latch_init(latch *l)
{
    assert_int_equal(0, sem_init(&l->entered, 0, 0));
    assert_int_equal(0, sem_init(&l->pass, 0, 0));
}

static inline void latch_entered(latch *l)
{
    test_sem_wait(&l->entered);
}

static inline void latch_open(latch *l)
{
    assert_int_equal(0, sem_post(&l->pass));
}

/* ---- a stage ---- */

typedef enum entry_kind { ENTRY_INIT = 1, ENTRY_EVENT, ENTRY_END } entry_kind;

typedef struct entry {
    entry_kind kind;
    uint64_t flow; /* of an end: of the flow's first event */
    uint64_t value;
    uint64_t life; /* number of the state; 0: none */
    weir_flow_end reason;
    int thread;
} entry;

enum { ENTRIES_MAX = 8192 };

typedef struct stage {
    weir_engine *engine;
    weir_router router;
    weir_status init_answer; /* set before anything is submitted, or while nothing waits */
    pthread_mutex_t lock;
    entry entries[ENTRIES_MAX];
    size_t count;
    uint64_t lives;
    atomic_uint_least64_t handled, begun, ended;
    atomic_uint_least64_t odd; /* things that must never be */
} stage;

/* A flow's state. */
typedef struct life {
    stage *on;
    uint64_t number;
    uint64_t flow;
    uint64_t events;
    bool inside;
} life;

static inline void stage_write(stage *s, entry e)
{
    (void)pthread_mutex_lock(&s->lock);
    e.thread = test_gettid();
    if (s->count < ENTRIES_MAX) {
        s->entries[s->count++] = e;
    } else {
        atomic_fetch_add(&s->odd, 1);
    }
    (void)pthread_mutex_unlock(&s->lock);
}

static inline weir_status stage_init(void *state, weir_turn *turn, void *argument)
{
    static const life zero;
    life *l = state;
    stage *s = argument;
    if (memcmp(l, &zero, sizeof(zero)) != 0 || weir_turn_self(turn).id != 0) {
        atomic_fetch_add(&s->odd, 1);
    }
    if (s->init_answer != WEIR_OK && s->init_answer != WEIR_ALREADY) {
        l->events = 77; /* must not be seen by the next try */
        return s->init_answer;
    }
    (void)pthread_mutex_lock(&s->lock);
    l->number = ++s->lives;
    (void)pthread_mutex_unlock(&s->lock);
    l->on = s;
    stage_write(s, (entry){ .kind = ENTRY_INIT, .life = l->number });
    atomic_fetch_add(&s->begun, 1);
    return s->init_answer;
}

static inline void stage_destroy(void *state, weir_flow_end reason)
{
    life *l = state;
    stage *s = l->on;
    if (s == NULL || l->inside) {
        abort(); /* destroyed before it was made, or while its handler runs */
    }
    stage_write(s,
                (entry){ .kind = ENTRY_END, .flow = l->flow, .life = l->number, .reason = reason });
    atomic_fetch_add(&s->ended, 1);
}

/* Handler of every flow, and of events without one, whose state is the stage. */
static inline weir_status stage_handle(void *state, weir_turn *turn, const weir_event *event)
{
    life *l = event->flow != 0 ? state : NULL;
    stage *s = l != NULL ? l->on : state;
    const step *do_it = weir_event_as(event, &step_type);
    if (s == NULL || do_it == NULL) {
        return WEIR_UNHANDLED;
    }
    if (l != NULL) {
        if (l->inside || (l->flow != 0 && l->flow != event->flow)) {
            atomic_fetch_add(&s->odd, 1); /* two at once, or a state seen by two keys */
        }
        l->inside = true;
        l->flow = event->flow;
        l->events++;
    }
    weir_status status = do_it->answer;
    if (do_it->hold != NULL) {
        (void)sem_post(&do_it->hold->entered);
        if (!test_sem_taken(&do_it->hold->pass)) {
            status = WEIR_E_FAILED;
        }
    }
    if (do_it->finish && weir_turn_finish(turn) != (l != NULL ? WEIR_OK : WEIR_E_INVALID)) {
        atomic_fetch_add(&s->odd, 1);
    }
    stage_write(s, (entry){ .kind = ENTRY_EVENT,
                            .flow = event->flow,
                            .value = do_it->value,
                            .life = l != NULL ? l->number : 0 });
    if (l != NULL) {
        l->inside = false;
    }
    atomic_fetch_add(&s->handled, 1);
    return status;
}

/* Handler, state and hooks of a stage, to add to. */
static inline weir_router_options stage_options(stage *s, const char *name, uint32_t workers)
{
    return (weir_router_options){ .struct_size = sizeof(weir_router_options),
                                  .name = name,
                                  .handler = stage_handle,
                                  .argument = s,
                                  .state_size = sizeof(life),
                                  .init = stage_init,
                                  .destroy = stage_destroy,
                                  .workers = workers };
}

static inline weir_router flow_router_add(weir_engine *engine, const weir_router_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_router router = weir_router_add(engine, options, &error);
    test_error_none(&error);
    assert_true(router.id != 0);
    return router;
}

/* An engine, not started yet, with a stage and no router. */
static inline void stage_set(stage *s, uint32_t threads)
{
    memset(s, 0, sizeof(*s));
    assert_int_equal(0, pthread_mutex_init(&s->lock, NULL));
    s->engine = test_engine_create(WEIR_ENGINE(.threads = threads, .log_level = WEIR_LOG_OFF));
}

/* The same with a router of so many workers, each of which finds a thread, and started. */
static inline void stage_open(stage *s, const weir_router_options *more)
{
    weir_router_options options = stage_options(s, "stage", more->workers);
    options.worker_max = more->worker_max;
    options.ingress_max = more->ingress_max;
    options.batch_max = more->batch_max;
    options.overflow = more->overflow;
    options.block_max = more->block_max;
    options.flows_max = more->flows_max;
    options.idle_timeout = more->idle_timeout;
    options.migrate = more->migrate;
    options.keys = more->keys;
    options.latency_every = more->latency_every;
    stage_set(s, more->workers);
    s->router = flow_router_add(s->engine, &options);
    test_engine_start(s->engine);
}
#define STAGE(...) WEIR_OPTIONS(weir_router_options, __VA_ARGS__)

/* ---- submitting ---- */

static inline weir_status submit_flagged(stage *s, uint64_t flow, step what, uint32_t flags)
{
    const weir_event event = {
        .type = &step_type, .size = sizeof(what), .data = &what, .flags = flags
    };
    return weir_router_submit(s->engine, s->router, flow, &event);
}

static inline weir_status submit_step(stage *s, uint64_t flow, step what)
{
    return submit_flagged(s, flow, what, 0);
}

static inline weir_status submit_value(stage *s, uint64_t flow, uint64_t value)
{
    return submit_step(s, flow, (step){ .value = value });
}

static inline weir_status submit_last(stage *s, uint64_t flow, uint64_t value)
{
    return submit_flagged(s, flow, (step){ .value = value }, WEIR_EVENT_FINISH);
}

/* An event whose handler has come in and waits. */
static inline void submit_held(stage *s, uint64_t flow, uint64_t value, latch *hold)
{
    latch_init(hold);
    assert_int_equal(WEIR_OK, submit_step(s, flow, (step){ .value = value, .hold = hold }));
    latch_entered(hold);
}

/* ---- a thread that submits once, and may have to wait ---- */

typedef struct submitter {
    stage *on;
    uint64_t flow;
    uint64_t value;
    pthread_t thread;
    atomic_int id; /* the system's */
    atomic_int status;
    atomic_bool done;
    weir_ns took;
} submitter;

static inline void *submitter_run(void *argument)
{
    submitter *t = argument;
    const weir_ns began = test_now();
    atomic_store(&t->id, test_gettid());
    const weir_status status = submit_value(t->on, t->flow, t->value);
    t->took = test_now() - began;
    atomic_store(&t->status, status);
    atomic_store(&t->done, true);
    return NULL;
}

static inline void submitter_begin(submitter *t, stage *on, uint64_t flow, uint64_t value)
{
    memset(t, 0, sizeof(*t));
    t->on = on;
    t->flow = flow;
    t->value = value;
    assert_int_equal(0, pthread_create(&t->thread, NULL, submitter_run, t));
}

/* It sleeps in its submit: so the system says, and its call has not returned. */
static inline void submitter_waits(submitter *t)
{
    TEST_UNTIL(atomic_load(&t->done) ||
               (atomic_load(&t->id) != 0 && test_task_sleeps(atomic_load(&t->id))));
    assert_false(atomic_load(&t->done));
}

static inline weir_status submitter_end(submitter *t)
{
    TEST_UNTIL(atomic_load(&t->done));
    assert_int_equal(0, pthread_join(t->thread, NULL));
    return atomic_load(&t->status);
}

/* ---- looking ---- */

static inline weir_router_counters router_counters(weir_engine *engine, weir_router router)
{
    weir_router_counters c = WEIR_ROUTER_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_router_counters_get(engine, router, &c));
    return c;
}

static inline weir_worker_counters worker_counters(weir_engine *engine, weir_router router,
                                                   uint32_t worker)
{
    weir_worker_counters c = WEIR_WORKER_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_worker_counters_get(engine, router, worker, &c));
    return c;
}

static inline weir_flow_counters flow_counters(weir_engine *engine, weir_router router,
                                               uint64_t flow)
{
    weir_flow_counters c = WEIR_FLOW_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_flow_counters_get(engine, router, flow, &c));
    return c;
}

static inline uint32_t worker_of(stage *s, uint64_t flow)
{
    return flow_counters(s->engine, s->router, flow).worker;
}

static inline bool flow_lives(stage *s, uint64_t flow)
{
    weir_flow_counters c = WEIR_FLOW_COUNTERS_INIT;
    return weir_flow_counters_get(s->engine, s->router, flow, &c) == WEIR_OK;
}

static inline void stage_handled(stage *s, uint64_t count)
{
    TEST_UNTIL(atomic_load(&s->handled) >= count);
    assert_int_equal(count, atomic_load(&s->handled));
}

/* The values handled under that key, in order, are these. Lives are counted from `life` on: 0, any.
 * After a wait for what is looked at. */
static inline void assert_handled(stage *s, uint64_t flow, const uint64_t *values, size_t count)
{
    size_t found = 0;
    (void)pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->count; i++) {
        const entry *e = &s->entries[i];
        if (e->kind == ENTRY_EVENT && e->flow == flow) {
            if (found < count && e->value != values[found]) {
                (void)pthread_mutex_unlock(&s->lock);
                assert_int_equal(values[found], e->value);
            }
            found++;
        }
    }
    (void)pthread_mutex_unlock(&s->lock);
    assert_int_equal(count, found);
}
#define ASSERT_HANDLED(s, flow, ...)                                                               \
    assert_handled((s), (flow), (const uint64_t[]){ __VA_ARGS__ },                                 \
                   sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* Of the value's event; 0: there is none. */
static inline uint64_t life_of(stage *s, uint64_t value)
{
    uint64_t which = 0;
    (void)pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->count; i++) {
        if (s->entries[i].kind == ENTRY_EVENT && s->entries[i].value == value) {
            which = s->entries[i].life;
        }
    }
    (void)pthread_mutex_unlock(&s->lock);
    return which;
}

/* Why that life ended; 0: it has not. */
static inline weir_flow_end end_of_life(stage *s, uint64_t which)
{
    weir_flow_end reason = 0;
    (void)pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->count; i++) {
        if (s->entries[i].kind == ENTRY_END && s->entries[i].life == which) {
            reason = s->entries[i].reason;
        }
    }
    (void)pthread_mutex_unlock(&s->lock);
    return reason;
}

/* How many lives ended for that reason. */
static inline size_t ends_as(stage *s, weir_flow_end reason)
{
    size_t count = 0;
    (void)pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->count; i++) {
        count += s->entries[i].kind == ENTRY_END && s->entries[i].reason == reason;
    }
    (void)pthread_mutex_unlock(&s->lock);
    return count;
}

/* Where that entry stands in the log. It must be there. */
static inline size_t entry_at(stage *s, entry_kind kind, uint64_t which)
{
    size_t at = SIZE_MAX;
    (void)pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->count && at == SIZE_MAX; i++) {
        if (s->entries[i].kind == kind && s->entries[i].life == which) {
            at = i;
        }
    }
    (void)pthread_mutex_unlock(&s->lock);
    assert_true(at != SIZE_MAX);
    return at;
}

/* ---- the end ---- */

static inline void assert_router_adds_up(const weir_router_counters *c)
{
    assert_int_equal(c->submitted,
                     c->handled + c->dropped_newest + c->dropped_oldest + c->dead + c->left);
    assert_int_equal(0, c->flows);
    assert_int_equal(0, c->ingress);
    assert_int_equal(0, c->depth);
}

/* Stops with a drain; every life that began has ended, and the sums are right. */
static inline weir_router_counters stage_close(stage *s)
{
    const weir_stop_report report = test_engine_stop(s->engine);
    const weir_router_counters c = router_counters(s->engine, s->router);
    assert_router_adds_up(&c);
    /* The engine counts what the caretaker sends itself, too. */
    assert_int_equal(report.accepted - c.submitted, report.handled - c.handled);
    assert_int_equal(report.dead, c.dead);
    assert_int_equal(atomic_load(&s->begun), atomic_load(&s->ended));
    assert_int_equal(ends_as(s, WEIR_FLOW_FINISHED), c.finished);
    assert_int_equal(ends_as(s, WEIR_FLOW_IDLE), c.idle);
    assert_int_equal(ends_as(s, WEIR_FLOW_EVICTED), c.evicted);
    assert_int_equal(ends_as(s, WEIR_FLOW_STOPPED), c.stopped);
    assert_int_equal(0, atomic_load(&s->odd));
    weir_engine_destroy(s->engine);
    return c;
}

#endif /* WEIR_TEST_FLOW_SUPPORT_H */
