/*
 * watch_stress_test.c - eight threads stop the same processors while others watch them, watch them
 * no longer, and end themselves: exactly one thing becomes of each watch, and the sums are exact.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/watch_support.h"

enum { THREADS = 8, TARGETS = 32, GUARDS = 6, MORTAL = 2, READERS = 2 };

/* What became of one guard's watches of one target. Plain: written in its turns only. */
typedef struct pair {
    uint64_t watched, told, undone;
    uint64_t open; /* watched, and neither told nor undone */
} pair;

typedef struct guard {
    const weir_processor *targets;
    uint64_t seed;
    pair pairs[TARGETS];
    uint64_t wrong;
} guard;

static void hear(guard *g, weir_turn *turn, const weir_event *event, const weir_down *down)
{
    const size_t at = (size_t)event->tag;
    const weir_status post = weir_turn_post(turn, down->processor, WEIR_EVENT(number, 0));
    if (at >= TARGETS || g->targets[at].id != down->processor.id || g->pairs[at].open == 0 ||
        post != WEIR_UNKNOWN) {
        g->wrong++;
        return;
    }
    g->pairs[at].open--;
    g->pairs[at].told++;
}

static weir_status guard_handle(void *state, weir_turn *turn, const weir_event *event)
{
    guard *g = state;
    const weir_down *down = weir_event_as(event, &weir_down_type);
    if (down != NULL) {
        hear(g, turn, event, down);
        return WEIR_OK;
    }
    const size_t at = (size_t)((const number *)event->data)->value % TARGETS;
    pair *p = &g->pairs[at];
    if (test_random(&g->seed) % 4 == 0) {
        const weir_status status = weir_turn_unwatch(turn, g->targets[at]);
        g->wrong += status == WEIR_OK ? p->open == 0 : status != WEIR_ALREADY;
        p->undone += status == WEIR_OK;
        p->open -= status == WEIR_OK;
    } else {
        const weir_status status = weir_turn_watch(turn, g->targets[at], at);
        g->wrong +=
            status == WEIR_ALREADY ? p->open == 0 : status != WEIR_OK && status != WEIR_STOPPING;
        p->watched += status == WEIR_OK;
        p->open += status == WEIR_OK;
    }
    return WEIR_OK;
}

typedef struct play {
    weir_engine *engine;
    weir_processor targets[TARGETS];
    weir_processor guards[GUARDS];
    guard states[GUARDS];
    _Atomic int writers;
} play;

typedef struct worker {
    play *play;
    uint64_t seed;
    uint64_t wrong;
    pthread_t thread;
} worker;

/* Orders to the guards, and then a stop of every target, in an order of its own. */
static void *work(void *argument)
{
    worker *w = argument;
    play *p = w->play;
    const size_t first = (size_t)test_random(&w->seed);
    for (size_t i = 0; i < TARGETS; i++) {
        for (int posts = 0; posts < 4; posts++) {
            const weir_status status =
                weir_engine_post(p->engine, p->guards[test_random(&w->seed) % GUARDS],
                                 WEIR_EVENT(number, test_random(&w->seed)));
            w->wrong += status != WEIR_OK && status != WEIR_STOPPING && status != WEIR_UNKNOWN;
        }
        const weir_processor target = p->targets[(first + 5 * i) % TARGETS];
        const weir_status status =
            test_random(&w->seed) % 2 == 0
                ? weir_processor_stop(p->engine, target, TEST_PATIENCE, NULL)
                : weir_processor_stop_async(p->engine, target, TEST_PATIENCE);
        w->wrong += status != WEIR_OK && status != WEIR_UNKNOWN && status != WEIR_ALREADY;
        if (i == TARGETS / 2) {
            (void)weir_processor_stop_async(p->engine, p->guards[w->seed % MORTAL], TEST_PATIENCE);
        }
    }
    for (size_t i = 0; i < TARGETS; i++) { /* those that were asynchronous, too */
        (void)weir_processor_stop(p->engine, p->targets[i], TEST_PATIENCE, NULL);
    }
    atomic_fetch_sub(&p->writers, 1);
    return NULL;
}

/* Letters come in order, each once. */
static void *read_letters(void *argument)
{
    worker *w = argument;
    weir_dead_letter some[16] = { WEIR_DEAD_LETTER_INIT };
    uint64_t after = 0;
    do {
        const size_t count = weir_dead_letter_read(w->play->engine, after, some, 16);
        for (size_t i = 0; i < count; i++) {
            w->wrong += some[i].number <= after || some[i].type == NULL ||
                        some[i].reason < WEIR_DEAD_FAILED || some[i].reason > WEIR_DEAD_LATE;
            after = some[i].number;
        }
    } while (atomic_load(&w->play->writers) > 0);
    return NULL;
}

static void check_books(const play *p)
{
    for (size_t i = 0; i < GUARDS; i++) {
        assert_int_equal(0, p->states[i].wrong);
        for (size_t t = 0; t < TARGETS && i >= MORTAL; t++) {
            const pair *b = &p->states[i].pairs[t];
            assert_int_equal(0, b->open);
            assert_int_equal(b->watched, b->told + b->undone);
        }
    }
}

static void run_round(uint64_t *seed)
{
    static play p;
    static worker workers[THREADS + READERS];
    memset(&p, 0, sizeof(p));
    p.engine = test_engine_create(WEIR_ENGINE(.threads = 3, .log_level = WEIR_LOG_OFF));
    for (size_t i = 0; i < TARGETS; i++) {
        p.targets[i] = test_processor_add(p.engine, WEIR_PROCESSOR(.handler = ignore));
    }
    for (size_t i = 0; i < GUARDS; i++) {
        p.states[i] = (guard){ .targets = p.targets, .seed = test_random(seed) };
        p.guards[i] = test_processor_add(
            p.engine, WEIR_PROCESSOR(.handler = guard_handle, .argument = &p.states[i]));
    }
    test_engine_start(p.engine);
    atomic_store(&p.writers, THREADS);
    for (size_t i = 0; i < THREADS + READERS; i++) {
        workers[i] = (worker){ .play = &p, .seed = test_random(seed) };
        assert_int_equal(0, pthread_create(&workers[i].thread, NULL,
                                           i < THREADS ? work : read_letters, &workers[i]));
    }
    for (size_t i = 0; i < THREADS + READERS; i++) {
        assert_int_equal(0, pthread_join(workers[i].thread, NULL));
        assert_int_equal(0, workers[i].wrong);
    }
    /* Every target has ended, so every event is accepted: the stop has them handled. */
    (void)test_engine_stop(p.engine);
    check_books(&p);
    const weir_counters c = test_engine_counters(p.engine);
    assert_int_equal(c.accepted, c.handled);
    assert_int_equal(c.refused_unknown, c.letters_unknown);
    assert_int_equal(c.refused_stopping, c.letters_refused);
    assert_int_equal(c.letters, c.letters_unknown + c.letters_refused);
    assert_int_equal(0, c.block_bytes);
    weir_engine_destroy(p.engine);
}

static void eight_threads_stop_what_others_watch(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (uint64_t round = 0; round < test_load(100, 15); round++) {
        run_round(&seed);
    }
}

/* Watches whatever it is told of, and counts. */
typedef struct fan {
    _Atomic uint64_t watched, told;
    _Atomic uint64_t wrong;
} fan;

static weir_status fan_handle(void *state, weir_turn *turn, const weir_event *event)
{
    fan *f = state;
    const order *o = weir_event_as(event, &order_type);
    if (o == NULL) {
        const weir_down *down = weir_event_as(event, &weir_down_type);
        atomic_fetch_add(&f->wrong, down == NULL || down->processor.id != event->tag);
        atomic_fetch_add(&f->told, 1);
        return WEIR_OK;
    }
    const weir_status status = weir_turn_watch(turn, o->target, o->target.id);
    atomic_fetch_add(&f->watched, status == WEIR_OK);
    atomic_fetch_add(&f->wrong, status != WEIR_OK);
    return WEIR_OK;
}

typedef struct spring {
    weir_engine *engine;
    const weir_processor *fans;
    uint64_t rounds, wrong;
    pthread_t thread;
} spring;

/* Each is added, shown to all, and stopped at once: some are told before they have looked. */
static void *come_and_go(void *argument)
{
    spring *s = argument;
    for (uint64_t i = 0; i < s->rounds; i++) {
        weir_error error = WEIR_ERROR_INIT;
        const weir_processor one =
            weir_processor_add(s->engine, WEIR_PROCESSOR(.handler = ignore), &error);
        for (size_t f = 0; f < 2; f++) {
            weir_status status;
            while ((status = weir_engine_post(s->engine, s->fans[f],
                                              WEIR_EVENT(order, WATCH, 0, one))) == WEIR_FULL) {
                (void)sched_yield();
            }
            s->wrong += status != WEIR_OK;
        }
        s->wrong += weir_processor_stop(s->engine, one, TEST_PATIENCE, NULL) != WEIR_OK;
    }
    return NULL;
}

static void what_comes_and_goes_is_heard_of_by_all_who_watch(void **state)
{
    (void)state;
    static fan fans[2];
    weir_processor handles[2];
    spring springs[3];
    memset(fans, 0, sizeof(fans));
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 3, .log_level = WEIR_LOG_OFF));
    for (size_t i = 0; i < 2; i++) {
        handles[i] =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = fan_handle, .argument = &fans[i],
                                                      .mailbox_max = 200000));
    }
    test_engine_start(engine);
    for (size_t i = 0; i < 3; i++) {
        springs[i] =
            (spring){ .engine = engine, .fans = handles, .rounds = test_load(20000, 1500) };
        assert_int_equal(0, pthread_create(&springs[i].thread, NULL, come_and_go, &springs[i]));
    }
    uint64_t count = 0;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(0, pthread_join(springs[i].thread, NULL));
        assert_int_equal(0, springs[i].wrong);
        count += springs[i].rounds;
    }
    (void)test_engine_end(engine);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(0, atomic_load(&fans[i].wrong));
        assert_int_equal(count, atomic_load(&fans[i].watched));
        assert_int_equal(count, atomic_load(&fans[i].told));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_threads_stop_what_others_watch),
        cmocka_unit_test(what_comes_and_goes_is_heard_of_by_all_who_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
