/*
 * sync/bias_test.c - the lock that belongs to one thread: who gets in when, and that never two are
 * inside, judged by plain data: what it does not order TSan sees, what it lets overlap the sums
 * show.
 *
 * With one core an overlap is a matter of luck, and the last two prove little.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_support.h"

#include "sync/bias.h"

enum { RAIDERS = 2, PAUSES_MAX = 64 };

static int open_barrier(void **state)
{
    (void)state;
    weir__barrier_open();
    return 0;
}

static void zeroed_memory_is_an_unlocked_one(void **state)
{
    (void)state;
    weir__bias bias = { 0 };
    assert_true(weir__bias_enter(&bias));
    weir__bias_leave(&bias);
    assert_true(weir__bias_raid(&bias));
    weir__bias_raid_over(&bias);
    assert_true(weir__bias_enter(&bias));
    weir__bias_leave(&bias);
}

static void a_raider_that_meets_the_owner_goes_away(void **state)
{
    (void)state;
    weir__bias bias = { 0 };
    assert_true(weir__bias_enter(&bias));
    assert_false(weir__bias_raid(&bias));
    assert_int_equal(0, weir__load(&bias.raided, relaxed)); /* and holds nobody up */
    weir__bias_leave(&bias);
    assert_true(weir__bias_enter(&bias));
    weir__bias_leave(&bias);
    assert_true(weir__bias_raid(&bias));
    weir__bias_raid_over(&bias);
}

static void an_owner_that_meets_a_raider_goes_away(void **state)
{
    (void)state;
    weir__bias bias = { 0 };
    assert_true(weir__bias_raid(&bias));
    assert_false(weir__bias_enter(&bias));
    assert_false(weir__bias_enter(&bias));
    assert_int_equal(0, weir__load(&bias.inside, relaxed)); /* and does not look as if inside */
    weir__bias_raid_over(&bias);
    assert_true(weir__bias_enter(&bias));
    weir__bias_leave(&bias);
}

static void one_raider_at_a_time(void **state)
{
    (void)state;
    weir__bias bias = { 0 };
    assert_true(weir__bias_raid(&bias));
    assert_false(weir__bias_raid(&bias));
    weir__bias_raid_over(&bias);
    assert_true(weir__bias_raid(&bias));
    weir__bias_raid_over(&bias);
}

/* Plain on purpose, but for the flag that ends it. */
typedef struct contest {
    _Alignas(64) weir__bias bias;
    _Alignas(64) uint64_t sum;
    uint64_t twin; /* equal to sum whenever nobody is inside */
    uint32_t inside;
    uint32_t overlaps;
    _Alignas(64) weir__atomic_u32 over;
    uint32_t rounds;
    weir_ns end;
} contest;

static void touch(contest *c)
{
    c->overlaps += c->inside++ != 0;
    c->overlaps += c->sum != c->twin;
    c->sum++;
    weir__compiler_fence(); /* the window stays open for a moment */
    c->twin++;
    c->inside--;
}

typedef struct party {
    contest *of;
    bool owner;
    uint64_t random;
    uint64_t entered, refused; /* its own */
} party;

/* By the owner, in every round. */
static bool is_over(const party *p, uint32_t round)
{
    return p->entered >= p->of->rounds || (round % 1024 == 0 && weir__clock_now() > p->of->end);
}

static void take_part(void *argument)
{
    party *p = argument;
    contest *c = p->of;
    for (uint32_t i = 1; p->owner ? !is_over(p, i) : weir__load(&c->over, relaxed) == 0; i++) {
        if (!(p->owner ? weir__bias_enter(&c->bias) : weir__bias_raid(&c->bias))) {
            p->refused++;
            continue;
        }
        p->entered++;
        touch(c);
        if (p->owner) {
            weir__bias_leave(&c->bias);
        } else {
            weir__bias_raid_over(&c->bias);
            for (uint64_t n = test_random(&p->random) % PAUSES_MAX; n > 0; n--) {
                weir__pause(); /* the owner's turn */
            }
        }
    }
    if (p->owner) {
        weir__store(&c->over, 1, relaxed);
    }
}

static void run_contest(void)
{
    static contest c;
    memset(&c, 0, sizeof(c));
    c.rounds = test_load(2000000);
    c.end = weir__clock_now() + WEIR_S;
    const uint64_t seed = test_seed();
    party parties[1 + RAIDERS] = { { .of = &c, .owner = true },
                                   { .of = &c, .random = seed },
                                   { .of = &c, .random = ~seed } };
    crew people;
    crew_start(&people, take_part, parties, sizeof(parties[0]), 1 + RAIDERS);
    crew_join(&people);
    uint64_t raids = 0;
    for (int i = 1; i <= RAIDERS; i++) {
        raids += parties[i].entered;
    }
    fprintf(stderr,
            "# the owner was inside %" PRIu64 " times, refused %" PRIu64 "; raids %" PRIu64 "\n",
            parties[0].entered, parties[0].refused, raids);
    assert_int_equal(0, c.overlaps);
    assert_int_equal(parties[0].entered + raids, c.sum);
    assert_int_equal(c.sum, c.twin);
    assert_true(parties[0].entered > 0);
}

static void never_are_two_inside(void **state)
{
    (void)state;
    run_contest();
}

static void nor_where_the_kernel_cannot_fence_the_others(void **state)
{
    (void)state;
    const bool saved = weir__barrier_symmetric;
    weir__barrier_symmetric = true;
    run_contest();
    weir__barrier_symmetric = saved;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_memory_is_an_unlocked_one),
        cmocka_unit_test(a_raider_that_meets_the_owner_goes_away),
        cmocka_unit_test(an_owner_that_meets_a_raider_goes_away),
        cmocka_unit_test(one_raider_at_a_time),
        cmocka_unit_test(never_are_two_inside),
        cmocka_unit_test(nor_where_the_kernel_cannot_fence_the_others),
    };
    return cmocka_run_group_tests(tests, open_barrier, NULL);
}
