/*
 * sync/barrier_test.c - the store-load litmus: each side stores, passes its barrier, and looks at
 * what the other stored. In no round may both miss the other, although only one side pays.
 *
 * The two sides meet before every round, then wait a random number of pauses, so that their windows
 * slide over each other. The light side stores to lines that the other one owns first, so that its
 * store waits behind them while its load runs ahead. If a barrier is taken away the forbidden
 * outcome shows within a few thousand rounds; with one core it never does, and the test proves
 * little.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "inner_support.h"

#include <sched.h>

#include "sync/barrier.h"

enum { PAUSES_MAX = 4, BALLAST = 6, ROUNDS_LEAST = 20000, OVERLAPS = 3000 };

typedef struct litmus {
    _Alignas(64) weir__atomic_u32 left;  /* the light side's */
    _Alignas(64) weir__atomic_u32 right; /* the heavy side's */
    struct {
        _Alignas(64) weir__atomic_u32 line;
    } ballast[BALLAST];
    _Alignas(64) weir__atomic_u32 arrived; /* at the meeting point, both sides, all rounds */
    weir__atomic_u32 left_saw, right_saw;
    weir__atomic_u32 enough; /* the heavy side decides, between two rounds */
    uint32_t rounds_max;
    uint64_t seed;
    uint64_t both_missed, one_missed, none_missed; /* the heavy side counts */
} litmus;

static void meet(litmus *l, uint32_t nth)
{
    weir__add(&l->arrived, 1, seq_cst);
    for (uint32_t looks = 0; weir__load(&l->arrived, seq_cst) < 2 * nth; looks++) {
        if (looks % 256 == 255) {
            weir__yield();
        }
    }
}

static void stray(uint64_t *random)
{
    for (uint64_t n = test_random(random) % PAUSES_MAX; n > 0; n--) {
        weir__pause();
    }
}

static void load_ballast(litmus *l, uint32_t with)
{
    for (uint32_t i = 0; i < BALLAST; i++) {
        weir__store(&l->ballast[i].line, with, relaxed);
    }
}

/* Each side on a core of its own, if there are two. */
static void settle_on(uint32_t nth)
{
    cpu_set_t mask;
    int32_t wrong;
    if (sched_getaffinity(0, sizeof(mask), &mask) != 0) {
        return;
    }
    for (int32_t core = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET((size_t)core, &mask) && nth-- == 0) {
            (void)weir__os_thread_pin(&core, 1, &wrong);
            return;
        }
    }
}

static void run_light(void *argument)
{
    litmus *l = argument;
    settle_on(0);
    uint64_t random = l->seed;
    for (uint32_t round = 0; weir__load(&l->enough, relaxed) == 0; round++) {
        meet(l, 3 * round + 1);
        (void)weir__load(&l->right, relaxed); /* at hand, so that the load below is quick */
        stray(&random);
        load_ballast(l, round);
        weir__store(&l->left, 1, relaxed);
        weir__barrier_light();
        const uint32_t saw = weir__load(&l->right, relaxed);
        weir__store(&l->left_saw, saw, relaxed);
        meet(l, 3 * round + 2);
        meet(l, 3 * round + 3);
    }
}

static void run_heavy(void *argument)
{
    litmus *l = argument;
    const weir_ns end = weir__clock_now() + 3 * WEIR_S;
    settle_on(1);
    uint64_t random = ~l->seed;
    for (uint32_t round = 0; weir__load(&l->enough, relaxed) == 0; round++) {
        meet(l, 3 * round + 1);
        stray(&random);
        weir__store(&l->right, 1, relaxed);
        weir__barrier_heavy();
        const uint32_t saw = weir__load(&l->left, relaxed);
        meet(l, 3 * round + 2);
        const uint32_t seen = saw + weir__load(&l->left_saw, relaxed);
        l->both_missed += seen == 0;
        l->one_missed += seen == 1;
        l->none_missed += seen == 2;
        weir__store(&l->left, 0, relaxed);
        weir__store(&l->right, 0, relaxed);
        load_ballast(l, ~round);
        if (round + 1 >= l->rounds_max || weir__clock_now() > end ||
            (round >= ROUNDS_LEAST && l->none_missed >= OVERLAPS)) {
            weir__store(&l->enough, 1, relaxed);
        }
        meet(l, 3 * round + 3);
    }
}

typedef struct side {
    void (*run)(void *litmus);
    litmus *of;
} side;

static void run_side(void *argument)
{
    const side *s = argument;
    s->run(s->of);
}

static void run_litmus(void)
{
    static litmus l;
    memset(&l, 0, sizeof(l));
    l.rounds_max = test_load(500000);
    l.seed = test_seed();
    side sides[2] = { { run_light, &l }, { run_heavy, &l } };
    crew c;
    crew_start(&c, run_side, sides, sizeof(sides[0]), 2);
    crew_join(&c);
    fprintf(stderr, "# both saw %" PRIu64 ", one %" PRIu64 ", none %" PRIu64 "\n", l.none_missed,
            l.one_missed, l.both_missed);
    assert_true(l.both_missed + l.one_missed + l.none_missed > 0);
    assert_int_equal(0, l.both_missed);
}

static void never_do_both_sides_miss_the_other(void **state)
{
    (void)state;
    weir__barrier_open();
    weir__barrier_open(); /* any number of times */
    run_litmus();
}

static void nor_where_the_kernel_cannot_fence_the_others(void **state)
{
    (void)state;
    const bool saved = weir__barrier_symmetric;
    weir__barrier_symmetric = true;
    run_litmus();
    weir__barrier_symmetric = saved;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_do_both_sides_miss_the_other),
        cmocka_unit_test(nor_where_the_kernel_cannot_fence_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
