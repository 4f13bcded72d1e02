/*
 * external_stress_test.c - threads that the application turns, in a ring with threads of the
 * engine: every wake-up by the descriptor arrives, every event is handled once, and a stop lets
 * what is in flight finish.
 *
 * A loop sleeps in poll for as long as patience lasts: a lost wake-up is a poll that times out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/option_support.h"

#include <poll.h>
#include <sys/eventfd.h>

enum { EXTERNALS = 3, LOOPS = 4, PROCESSORS = 16, TOKENS = 64, POSTERS = 2 };

typedef struct hop {
    uint64_t left; /* hops to go */
    uint64_t random;
} hop;
WEIR_EVENT_TYPE(hop, "stress.hop");

struct stage;

typedef struct node {
    struct stage *stage;
    uint64_t handled, refused; /* plain: a turn at a time (P-1) */
} node;

typedef struct stage {
    weir_engine *engine;
    weir_thread externals[EXTERNALS];
    weir_processor processors[PROCESSORS];
    node nodes[PROCESSORS];
    int finish; /* an eventfd: the loops may leave */
    uint64_t hops;
    atomic_uint_least64_t posted;
} stage;

static weir_status pass_on(void *state, weir_turn *turn, const weir_event *event)
{
    node *n = state;
    const hop *h = event->data;
    n->handled++;
    if (h->left > 0) {
        uint64_t random = h->random;
        const size_t to = test_random(&random) % PROCESSORS;
        n->refused += weir_turn_post(turn, n->stage->processors[to],
                                     WEIR_EVENT(hop, h->left - 1, random)) != WEIR_OK;
    }
    return WEIR_OK;
}

typedef struct looper {
    stage *s;
    weir_thread thread;
    uint64_t handled, clashes, lost, failed;
} looper;

/* The application's loop. Two of them turn the same thread: then one is refused at times. */
static void *loop(void *argument)
{
    looper *l = argument;
    struct pollfd fds[2] = { { .fd = weir_thread_fd(l->s->engine, l->thread), .events = POLLIN },
                             { .fd = l->s->finish, .events = POLLIN } };
    for (;;) {
        const int ready = poll(fds, 2, (int)(TEST_PATIENCE / WEIR_MS));
        if (ready == 0) {
            l->lost++; /* patience ended: the sums will be wrong as well */
        }
        if (ready == 0 || (fds[1].revents & POLLIN) != 0) {
            return NULL;
        }
        const int32_t now = weir_thread_run_once(l->s->engine, l->thread, 16);
        if (now > 0) {
            l->handled += (uint64_t)now;
        } else if (now == WEIR_E_INVALID) {
            l->clashes++;
            (void)sched_yield();
        } else {
            l->failed += now < 0;
        }
    }
}

typedef struct poster {
    stage *s;
    uint64_t seed, refused;
} poster;

static void *post_tokens(void *argument)
{
    poster *p = argument;
    uint64_t random = p->seed;
    for (int i = 0; i < TOKENS; i++) {
        const size_t to = test_random(&random) % PROCESSORS;
        const weir_status status = weir_engine_post(
            p->s->engine, p->s->processors[to], WEIR_EVENT(hop, p->s->hops, test_random(&random)));
        p->refused += status != WEIR_OK;
        atomic_fetch_add(&p->s->posted, 1);
    }
    return NULL;
}

static void stage_open(stage *s, uint64_t hops)
{
    memset(s, 0, sizeof(*s));
    s->hops = hops;
    s->finish = eventfd(0, EFD_CLOEXEC);
    assert_true(s->finish >= 0);
    s->engine = test_engine_create(NULL);
    static const char *const served[EXTERNALS][3] = { { "e0", NULL, NULL },
                                                      { "e1", NULL, NULL },
                                                      { "e2", "shared", NULL } };
    static const char *const names[] = { "e0", "e1", "e2", "shared", "own" };
    for (size_t i = 0; i < EXTERNALS; i++) {
        s->externals[i] =
            test_thread_add(s->engine, WEIR_THREAD(.external = true, .dispatchers = served[i]));
    }
    (void)test_thread_add(s->engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("shared", "own")));
    (void)test_thread_add(s->engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("own")));
    for (size_t i = 0; i < PROCESSORS; i++) {
        s->nodes[i].stage = s;
        s->processors[i] = test_processor_add(
            s->engine, WEIR_PROCESSOR(.handler = pass_on, .argument = &s->nodes[i],
                                      .dispatcher = names[i % 5]));
    }
}

static void loops_start(stage *s, looper *loopers, pthread_t *threads)
{
    for (size_t i = 0; i < LOOPS; i++) { /* the last one shares the first thread */
        loopers[i] = (looper){ .s = s, .thread = s->externals[i % EXTERNALS] };
        assert_int_equal(0, pthread_create(&threads[i], NULL, loop, &loopers[i]));
    }
}

static void loops_finish(stage *s, const looper *loopers, const pthread_t *threads)
{
    const uint64_t one = 1;
    assert_int_equal(sizeof(one), write(s->finish, &one, sizeof(one)));
    uint64_t handled = 0, clashes = 0;
    for (size_t i = 0; i < LOOPS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(0, loopers[i].lost);
        assert_int_equal(0, loopers[i].failed);
        handled += loopers[i].handled;
        clashes += loopers[i].clashes;
    }
    uint64_t here = 0;
    for (size_t i = 0; i < PROCESSORS; i++) {
        here += i % 5 < EXTERNALS ? s->nodes[i].handled : 0;
    }
    assert_true(handled >= here); /* and their part of what is shared */
    fprintf(stderr, "# %" PRIu64 " handled by the loops, %" PRIu64 " clashes\n", handled, clashes);
}

/* `idle_first`: everything has come to rest before the stop; else it comes in the middle. */
static void run(uint64_t seed, uint64_t hops, bool idle_first)
{
    static stage s;
    stage_open(&s, hops);
    looper loopers[LOOPS];
    pthread_t loop_threads[LOOPS], post_threads[POSTERS];
    poster posters[POSTERS];
    test_engine_start(s.engine);
    loops_start(&s, loopers, loop_threads);
    for (size_t i = 0; i < POSTERS; i++) {
        posters[i] = (poster){ .s = &s, .seed = seed + i };
        assert_int_equal(0, pthread_create(&post_threads[i], NULL, post_tokens, &posters[i]));
    }
    for (size_t i = 0; i < POSTERS; i++) {
        assert_int_equal(0, pthread_join(post_threads[i], NULL));
        assert_int_equal(0, posters[i].refused);
    }
    const uint64_t expected = (uint64_t)POSTERS * TOKENS * (hops + 1);
    if (idle_first) {
        TEST_UNTIL(test_engine_counters(s.engine).handled == expected);
    }
    const weir_stop_report report = test_engine_stop(s.engine);
    assert_int_equal(expected, report.handled);
    loops_finish(&s, loopers, loop_threads);
    uint64_t handled = 0;
    for (size_t i = 0; i < PROCESSORS; i++) {
        handled += s.nodes[i].handled;
        assert_int_equal(0, s.nodes[i].refused);
    }
    assert_int_equal(expected, handled);
    weir_engine_destroy(s.engine);
    (void)close(s.finish);
}

static void external_and_own_threads_lose_no_event_and_no_wake_up(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const uint64_t rounds = test_load(10, 4);
    for (uint64_t i = 0; i < rounds; i++) {
        run(test_random(&random), test_load(2000, 200), true);
    }
}

static void a_stop_in_the_middle_lets_what_is_in_flight_finish(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const uint64_t rounds = test_load(20, 8);
    for (uint64_t i = 0; i < rounds; i++) {
        run(test_random(&random), test_random(&random) % test_load(1000, 200), false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(external_and_own_threads_lose_no_event_and_no_wake_up),
        cmocka_unit_test(a_stop_in_the_middle_lets_what_is_in_flight_finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
