/*
 * sync/word_test.c - a sleep that ends when the word changes, when somebody wakes, or in time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_support.h"

#include <errno.h>

#include "sync/word.h"

enum { SLEEPERS = 3 };

static void without_time_it_does_not_sleep(void **state)
{
    (void)state;
    static const weir_ns none[] = { 0, WEIR_NOW, -WEIR_S, INT64_MIN };
    weir__atomic_u32 word = { 5 };
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        assert_false(weir__word_wait(&word, 5, none[i]));
    }
}

static void a_word_that_has_changed_ends_the_wait_at_once(void **state)
{
    (void)state;
    weir__atomic_u32 word = { 5 };
    assert_true(weir__word_wait(&word, 4, WEIR_FOREVER));
    assert_true(weir__word_wait(&word, UINT32_MAX, WEIR_FOREVER));
    assert_true(weir__word_wait(&word, 6, 30 * WEIR_S));
}

static void the_time_is_over_when_it_is_over_and_not_before(void **state)
{
    (void)state;
    static const weir_ns spans[] = { 1, 50 * WEIR_US, 2 * WEIR_MS, 30 * WEIR_MS };
    weir__atomic_u32 word = { 0 };
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        const weir_ns begin = weir__clock_now();
        /* A wait may end for no reason: then the rest of the time is waited for. */
        weir_ns left = spans[i];
        while (weir__word_wait(&word, 0, left)) {
            left = begin + spans[i] - weir__clock_now();
        }
        assert_true(weir__clock_now() - begin >= spans[i]);
    }
}

static void a_span_of_more_than_a_second_is_split_well(void **state)
{
    (void)state;
    weir__atomic_u32 word = { 0 };
    const weir_ns begin = weir__clock_now();
    weir_ns left = WEIR_S + 20 * WEIR_MS;
    while (weir__word_wait(&word, 0, left)) {
        left = begin + WEIR_S + 20 * WEIR_MS - weir__clock_now();
    }
    assert_true(weir__clock_now() - begin >= WEIR_S + 20 * WEIR_MS);
}

static void waking_nobody_does_nothing_and_keeps_errno(void **state)
{
    (void)state;
    weir__atomic_u32 word = { 0 };
    errno = EXDEV;
    weir__word_wake(&word, 1);
    weir__word_wake(&word, 0);
    weir__word_wake(&word, INT32_MAX);
    assert_int_equal(EXDEV, errno);
    assert_int_equal(0, weir__load(&word, relaxed));
}

typedef struct sleeper {
    weir__atomic_u32 *word;
    weir__atomic_u32 *awake;
    weir__atomic_u32 id;
    bool woken; /* its own */
} sleeper;

static void sleep_once(void *argument)
{
    sleeper *s = argument;
    weir__store(&s->id, (uint32_t)weir__os_thread_id(), seq_cst);
    errno = ETIMEDOUT; /* of some call before: nobody's answer here */
    s->woken = weir__word_wait(s->word, 0, TEST_PATIENCE);
    weir__add(s->awake, 1, seq_cst);
}

static void start_sleepers(crew *c, sleeper *sleepers, weir__atomic_u32 *word,
                           weir__atomic_u32 *awake)
{
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        sleepers[i] = (sleeper){ .word = word, .awake = awake };
    }
    crew_start(c, sleep_once, sleepers, sizeof(sleepers[0]), SLEEPERS);
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        assert_true(TEST_AWAIT(weir__load(&sleepers[i].id, seq_cst) != 0));
        const int32_t id = (int32_t)weir__load(&sleepers[i].id, seq_cst);
        assert_true(TEST_AWAIT(test_thread_sleeps(id)));
    }
}

static void wake_gets_up_as_many_as_it_is_told(void **state)
{
    (void)state;
    weir__atomic_u32 word = { 0 };
    weir__atomic_u32 awake = { 0 };
    sleeper sleepers[SLEEPERS];
    crew c;
    start_sleepers(&c, sleepers, &word, &awake);
    for (uint32_t i = 1; i <= SLEEPERS; i++) {
        weir__word_wake(&word, 1);
        assert_true(TEST_AWAIT(weir__load(&awake, seq_cst) >= i));
        assert_int_equal(i, weir__load(&awake, seq_cst));
    }
    crew_join(&c);
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        assert_true(sleepers[i].woken); /* not by the end of the time */
    }
}

static void wake_gets_up_all_of_them(void **state)
{
    (void)state;
    weir__atomic_u32 word = { 0 };
    weir__atomic_u32 awake = { 0 };
    sleeper sleepers[SLEEPERS];
    crew c;
    start_sleepers(&c, sleepers, &word, &awake);
    weir__word_wake(&word, INT32_MAX);
    crew_join(&c);
    assert_int_equal(SLEEPERS, weir__load(&awake, seq_cst));
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        assert_true(sleepers[i].woken);
    }
}

/* Two threads hand a ball to and fro; a lost wake-up would end in a timeout. The ball is plain. */
typedef struct player {
    weir__atomic_u32 *turn; /* whose it is */
    uint64_t *ball;
    uint32_t self, rounds;
    uint32_t late;
} player;

static void play(void *argument)
{
    player *p = argument;
    for (uint32_t i = 0; i < p->rounds; i++) {
        uint32_t turn;
        while ((turn = weir__load(p->turn, acquire)) != p->self) {
            if (!weir__word_wait(p->turn, turn, TEST_PATIENCE)) {
                p->late++;
                return;
            }
        }
        (*p->ball)++;
        weir__store(p->turn, 1 - p->self, release);
        weir__word_wake(p->turn, 1);
    }
}

static void no_wake_up_is_lost(void **state)
{
    (void)state;
    const uint32_t rounds = test_load(20000);
    weir__atomic_u32 turn = { 0 };
    uint64_t ball = 0;
    player players[2] = { { &turn, &ball, 0, rounds, 0 }, { &turn, &ball, 1, rounds, 0 } };
    crew c;
    crew_start(&c, play, players, sizeof(players[0]), 2);
    crew_join(&c);
    assert_int_equal(0, players[0].late);
    assert_int_equal(0, players[1].late);
    assert_int_equal(2 * (uint64_t)rounds, ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_time_it_does_not_sleep),
        cmocka_unit_test(a_word_that_has_changed_ends_the_wait_at_once),
        cmocka_unit_test(the_time_is_over_when_it_is_over_and_not_before),
        cmocka_unit_test(a_span_of_more_than_a_second_is_split_well),
        cmocka_unit_test(waking_nobody_does_nothing_and_keeps_errno),
        cmocka_unit_test(wake_gets_up_as_many_as_it_is_told),
        cmocka_unit_test(wake_gets_up_all_of_them),
        cmocka_unit_test(no_wake_up_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
