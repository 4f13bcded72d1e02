/*
 * queue/mailbox_signal_test.c - a signal handler claims a place and puts its event beside, whatever
 * function of the same mailbox it interrupts on the same thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mailbox_support.h"

#include <sys/time.h>

enum { SIGNALS = 8, SIGNALS_ENOUGH = 10000 };
#define PATIENCE WEIR_S /* on a machine that has better things to do */

/* A thread posts, takes and goes idle, and is interrupted by a timer. */
typedef struct scene {
    box b;
    weir__lone lones[SIGNALS];
    weir__atomic_u32 used[SIGNALS]; /* by the handler; cleared when its event was taken */
    weir__atomic_u64 by_signal;     /* accepted from the handler */
    uint64_t next[2], wrong;        /* taken: from the thread, from the handler */
} scene;

static scene s;

#define FROM_SIGNAL (UINT64_C(1) << 63)

static void post_from_handler(int number)
{
    (void)number;
    for (uint32_t i = 0; i < SIGNALS; i++) {
        uint64_t before = 0;
        if (weir__load(&s.used[i], acquire) != 0) {
            continue;
        }
        if (weir__mailbox_claim_beside(&s.b.mailbox, &before) > WEIR__CLAIM_FIRST) {
            return;
        }
        weir__lone *lone = &s.lones[i];
        weir__store(&s.used[i], 1, relaxed);
        lone->ticket = weir__mailbox_ticket(before);
        envelope_write(&lone->envelope, FROM_SIGNAL | weir__load(&s.by_signal, relaxed));
        weir__envelope_fill(&lone->envelope, WEIR__ENVELOPE_ALONE | WEIR__ENVELOPE_SIGNAL);
        weir__mailbox_put_beside(&s.b.mailbox, lone);
        weir__store(&s.by_signal, weir__load(&s.by_signal, relaxed) + 1, relaxed);
        return;
    }
}

static void give_back(weir__lone *lone)
{
    if (lone != NULL && lone >= s.lones && lone < s.lones + SIGNALS) {
        weir__store(&s.used[lone - s.lones], 0, release);
    } else {
        lone_put(&s.b.stock, lone);
    }
}

/* `all`: nothing is evicted, so none of either is missing. */
static void note(uint64_t number, bool all)
{
    uint64_t *next = &s.next[(number & FROM_SIGNAL) != 0];
    const uint64_t plain = number & ~FROM_SIGNAL;
    const bool whole = all || (number & FROM_SIGNAL) != 0;
    s.wrong += whole ? plain != *next : plain < *next;
    *next = plain + 1;
}

/* Takes what is there, and goes idle. The handler comes in between as often as not. */
static void run_turn(void)
{
    box_own(&s.b);
    for (;;) {
        const uint64_t word = box_word(&s.b);
        if (weir__mailbox_count(word) == s.b.uncredited) {
            if (weir__mailbox_idle(&s.b.mailbox, word, s.b.uncredited, &s.b.stock)) {
                return;
            }
            continue;
        }
        const uint64_t number = box_hold(&s.b);
        assert_int_not_equal(BOX_NOTHING, number); /* no gaps: a handler that began has ended */
        note(number, true);
        give_back(weir__mailbox_let_go(&s.b.mailbox, &s.b.cursor, word, &s.b.stock));
    }
}

static void run_evicting_turn(void)
{
    for (;;) {
        const uint64_t word = box_word(&s.b);
        weir__lone copy;
        weir__lone *spent;
        if (weir__mailbox_count(word) == 0) {
            if (weir__mailbox_idle(&s.b.mailbox, word, 0, &s.b.stock)) {
                return;
            }
            continue;
        }
        assert_int_equal(WEIR__POP_EVENT,
                         weir__mailbox_pop(&s.b.mailbox, &s.b.lock, &s.b.stock, &copy, &spent));
        give_back(spent);
        note(envelope_read(&copy.envelope), false);
    }
}

/* True: it was posted. */
static bool post(uint64_t number)
{
    if (box_post(&s.b, number) <= WEIR__CLAIM_FIRST) {
        return true;
    }
    weir__lone copy;
    weir__lone *spent;
    uint64_t before = 0;
    if (!weir__mailbox_evicts(&s.b.mailbox) ||
        weir__mailbox_evict(&s.b.mailbox, &s.b.lock, &s.b.evicted, &s.b.stock, &before, &copy,
                            &spent) != WEIR__POP_EVENT) {
        return false;
    }
    give_back(spent);
    box_fill(&s.b, WEIR__CLAIM_OK, before, 0, number);
    return true;
}

static void run_scene(uint32_t limit, bool evicting)
{
    const struct sigaction on = { .sa_handler = post_from_handler, .sa_flags = SA_RESTART };
    const struct itimerval often = { { 0, 20 }, { 0, 20 } };
    const struct itimerval never = { { 0, 0 }, { 0, 0 } };
    struct sigaction before;
    uint64_t posted = 0;
    memset(&s, 0, sizeof(s));
    box_open(&s.b, limit, evicting);
    assert_int_equal(0, sigaction(SIGALRM, &on, &before));
    assert_int_equal(0, setitimer(ITIMER_REAL, &often, NULL));
    const weir_ns end = weir__clock_now() + PATIENCE;
    while (weir__load(&s.by_signal, relaxed) < SIGNALS_ENOUGH && weir__clock_now() < end) {
        const uint64_t run = posted + 1 + posted % (2ull * limit);
        while (posted < run && post(posted)) {
            posted++;
        }
        if ((box_word(&s.b) & WEIR__MAILBOX_READY) != 0) {
            (evicting ? run_evicting_turn : run_turn)();
        }
    }
    assert_int_equal(0, setitimer(ITIMER_REAL, &never, NULL));
    assert_int_equal(0, sigaction(SIGALRM, &before, NULL));
    (void)weir__mailbox_rouse(&s.b.mailbox);
    (evicting ? run_evicting_turn : run_turn)();
    fprintf(stderr, "# %" PRIu64 " of a thread, %" PRIu64 " of its signals\n", posted, s.next[1]);
    assert_int_equal(0, s.wrong);
    assert_int_equal(posted, s.next[0]);
    assert_int_equal(weir__load(&s.by_signal, relaxed), s.next[1]);
    assert_true(s.next[1] > 100); /* they did come */
    box_close(&s.b);
}

static void a_signal_posts_in_the_middle_of_anything(void **state)
{
    (void)state;
    run_scene(2, false);
    run_scene(5, false);
    run_scene(40, false);
}

static void a_signal_posts_in_the_middle_of_an_eviction(void **state)
{
    (void)state;
    run_scene(3, true);
    run_scene(30, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_posts_in_the_middle_of_anything),
        cmocka_unit_test(a_signal_posts_in_the_middle_of_an_eviction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
