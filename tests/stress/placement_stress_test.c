/*
 * placement_stress_test.c - processors are moved, threads and dispatchers come and go, and eight
 * producers do not notice (S-22): every event is handled once, those of one sender in their order,
 * never two turns of a processor at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/engine_support.h"

enum { PRODUCERS = 8, PLAYERS = 12, FIXED = 3, MOVES = 1000, CHANGES = 1000 };

/* A processor. Its fields are plain: a turn at a time (P-1), whatever thread it runs on. */
typedef struct player {
    uint64_t next[PRODUCERS]; /* number of the event that is due from each producer */
    uint64_t handled, passed, received;
    uint64_t disorder, overlaps, odd;
    bool inside;
} player;

typedef struct scene {
    weir_engine *engine;
    weir_processor handles[PLAYERS];
    player players[PLAYERS];
    _Atomic bool over;
    _Atomic uint64_t refused; /* moves and removals that were, for good reasons */
    _Atomic uint64_t odd;
    sem_t running;
} scene;

static scene s;
static const char *const fixed[FIXED] = { "a", "b", "c" };

typedef struct producer {
    pthread_t thread;
    uint32_t number;
    uint64_t sent[PLAYERS];
    uint64_t random;
    uint64_t odd;
} producer;

/* From a producer it is passed on, to whoever is next; that one ends it. */
static weir_status play(void *state, weir_turn *turn, const weir_event *event)
{
    player *p = state;
    const mark *m = weir_event_as(event, &mark_type);
    p->overlaps += p->inside;
    p->inside = true;
    p->handled++;
    if (m == NULL) {
        p->odd++;
    } else if (m->kind == 1) {
        p->received++;
    } else {
        p->disorder += m->number != p->next[m->sender];
        p->next[m->sender] = m->number + 1;
        const size_t to = (size_t)(m->number + m->sender) % PLAYERS;
        const weir_status status = weir_turn_post(turn, s.handles[to], WEIR_EVENT(mark, .kind = 1));
        p->passed += status == WEIR_OK;
        p->odd += status != WEIR_OK && status != WEIR_FULL;
    }
    p->inside = false;
    return WEIR_OK;
}

static void *produce(void *argument)
{
    producer *p = argument;
    (void)sem_post(&s.running);
    while (!atomic_load(&s.over)) {
        const size_t to = test_random(&p->random) % PLAYERS;
        const weir_status status = weir_engine_post(
            s.engine, s.handles[to], WEIR_EVENT(mark, .sender = p->number, .number = p->sent[to]));
        p->sent[to] += status == WEIR_OK;
        p->odd += status != WEIR_OK && status != WEIR_FULL;
        if (status == WEIR_FULL) {
            (void)sched_yield();
        }
    }
    return NULL;
}

static void scene_open(uint64_t seed)
{
    memset(&s, 0, sizeof(s));
    (void)sem_init(&s.running, 0, 0);
    s.engine = engine_make(
        WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .mailbox_max = 200, .batch_max = 1 + seed % 16));
    engine_add_threads(s.engine, "a", 2, WEIR_IDLE_PARK, NULL);
    engine_add_threads(s.engine, "b", 1, WEIR_IDLE_BACKOFF, NULL);
    engine_add_threads(s.engine, "c", 1, WEIR_IDLE_PARK, NULL);
    for (size_t i = 0; i < PLAYERS; i++) {
        s.handles[i] =
            engine_add(s.engine, WEIR_PROCESSOR(.handler = play, .argument = &s.players[i],
                                                .dispatcher = fixed[i % FIXED]));
    }
    engine_start(s.engine);
}

static void producers_begin(producer *producers, uint64_t seed)
{
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        producers[i] = (producer){ .number = i, .random = seed + i };
        assert_int_equal(0, pthread_create(&producers[i].thread, NULL, produce, &producers[i]));
    }
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        assert_true(sem_wait_seconds(&s.running, WAIT_SECONDS));
    }
}

static void producers_end(producer *producers)
{
    atomic_store(&s.over, true);
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        assert_int_equal(0, pthread_join(producers[i].thread, NULL));
        assert_int_equal(0, producers[i].odd);
    }
}

/* The books, by those who sent and by those who received; and the engine's. */
static void scene_close(const producer *producers)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(s.engine, WAIT_SECONDS * WEIR_S, &report));
    uint64_t sent = 0, passed = 0, received = 0, handled = 0;
    for (size_t i = 0; i < PLAYERS; i++) {
        const player *p = &s.players[i];
        for (uint32_t k = 0; k < PRODUCERS; k++) {
            assert_int_equal(producers[k].sent[i], p->next[k]);
            sent += producers[k].sent[i];
        }
        assert_int_equal(0, p->disorder);
        assert_int_equal(0, p->overlaps);
        assert_int_equal(0, p->odd);
        passed += p->passed;
        received += p->received;
        handled += p->handled;
    }
    assert_int_equal(0, atomic_load(&s.odd));
    assert_int_equal(passed, received);
    assert_int_equal(sent + passed, handled);
    assert_int_equal(handled, report.handled);
    assert_int_equal(handled, report.accepted);
    fprintf(stderr, "# %llu events, %llu changes refused\n", (unsigned long long)handled,
            (unsigned long long)atomic_load(&s.refused));
    weir_engine_destroy(s.engine);
}

/* ---- moves ---- */

typedef struct mover {
    pthread_t thread;
    uint64_t random;
    uint64_t moves;
} mover;

static uint64_t handled_by(weir_processor processor)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    return weir_processor_counters(s.engine, processor, &c) == WEIR_OK ? c.handled : 0;
}

/* Until it has handled some where it is: moves without traffic between them would show little. */
static void let_it_work(weir_processor processor)
{
    const int64_t end = now_ns() + (int64_t)WAIT_SECONDS * 1000000000;
    const uint64_t enough = handled_by(processor) + 5;
    while (handled_by(processor) < enough && now_ns() < end) {
        (void)sched_yield();
    }
    atomic_fetch_add(&s.odd, handled_by(processor) < enough);
}

static void *move_about(void *argument)
{
    mover *m = argument;
    while (m->moves < MOVES / 2) {
        const uint64_t choice = test_random(&m->random);
        const weir_processor who = s.handles[choice % PLAYERS];
        const weir_status status =
            weir_processor_move(s.engine, who, fixed[(choice >> 16) % FIXED], NULL);
        m->moves += status == WEIR_OK;
        if (status == WEIR_OK && (choice >> 32) % 2 == 0) {
            let_it_work(who);
        }
        atomic_fetch_add(&s.odd, status != WEIR_OK && status != WEIR_ALREADY);
    }
    return NULL;
}

static void eight_producers_do_not_notice_a_thousand_moves(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    static producer producers[PRODUCERS];
    mover movers[2];
    scene_open(seed);
    producers_begin(producers, seed);
    for (size_t i = 0; i < 2; i++) {
        movers[i] = (mover){ .random = seed + 100 + i };
        assert_int_equal(0, pthread_create(&movers[i].thread, NULL, move_about, &movers[i]));
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(0, pthread_join(movers[i].thread, NULL));
    }
    producers_end(producers);
    scene_close(producers);
}

/* ---- threads and dispatchers ---- */

typedef struct changer {
    pthread_t thread;
    uint32_t number;
    uint64_t random;
    uint64_t changes;
} changer;

static void count(weir_status status, weir_status allowed)
{
    if (status == allowed) {
        atomic_fetch_add(&s.refused, 1);
    } else {
        atomic_fetch_add(&s.odd, status != WEIR_OK);
    }
}

/* A thread comes with a dispatcher that nobody knew, somebody is put there, somebody is fetched
 * back, and it goes; if others have put somebody there meanwhile, those are sent away first. */
static void *change(void *argument)
{
    changer *c = argument;
    weir_error error = WEIR_ERROR_INIT;
    while (c->changes < CHANGES / 2) {
        const uint64_t choice = test_random(&c->random);
        const weir_processor guest = s.handles[choice % PLAYERS];
        char name[32];
        (void)snprintf(name, sizeof(name), "x%u-%llu", c->number,
                       (unsigned long long)(c->changes % 7 == 0 ? 0 : c->changes));
        const char *const alone[] = { name, NULL };
        const char *const both[] = { name, fixed[(choice >> 8) % FIXED], NULL };
        const weir_thread thread = weir_thread_add(
            s.engine,
            WEIR_THREAD(.dispatchers = (choice >> 16) % 2 == 0 ? alone : both,
                        .idle = (choice >> 20) % 2 == 0 ? WEIR_IDLE_PARK : WEIR_IDLE_BACKOFF),
            &error);
        if (thread.id == 0) {
            atomic_fetch_add(&s.odd, 1);
            break;
        }
        count(weir_processor_move(s.engine, guest, name, NULL), WEIR_ALREADY);
        weir_status status;
        do { /* ends: the other changer moves its guest, too, and goes on to the next */
            count(weir_processor_move(s.engine, guest, fixed[(choice >> 24) % FIXED], NULL),
                  WEIR_ALREADY);
            status = weir_thread_remove(s.engine, thread, NULL);
            count(status, WEIR_E_INVALID);
        } while (status == WEIR_E_INVALID);
        atomic_fetch_add(&s.odd, weir_thread_remove(s.engine, thread, NULL) != WEIR_UNKNOWN);
        c->changes++;
    }
    return NULL;
}

static void nor_a_thousand_threads_and_dispatchers_that_come_and_go(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    static producer producers[PRODUCERS];
    changer changers[2];
    scene_open(seed);
    producers_begin(producers, seed);
    for (uint32_t i = 0; i < 2; i++) {
        changers[i] = (changer){ .number = i, .random = seed + 200 + i };
        assert_int_equal(0, pthread_create(&changers[i].thread, NULL, change, &changers[i]));
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(0, pthread_join(changers[i].thread, NULL));
    }
    producers_end(producers);
    assert_int_equal(4, engine_counters(s.engine).threads);
    assert_int_equal(FIXED, engine_counters(s.engine).dispatchers);
    scene_close(producers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_producers_do_not_notice_a_thousand_moves),
        cmocka_unit_test(nor_a_thousand_threads_and_dispatchers_that_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
