/*
 * leased_word.c - the word of a mailbox alone: who leases it again and again, and those who end
 * that at any moment, take places, and have places promised (queue/lease.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "queue/lease.h"
#include "scenario.h"

enum { ROUNDS = 3 };

static weir__mailbox mailbox;
static _Alignas(64) weir__tenant tenant;

/* Owner, with one event taken: idle, and leased if it was not. False: something came. */
static bool go_idle(void)
{
    const uint64_t word = weir__load(&mailbox.word, acquire);
    if (weir__mailbox_is_leased(word)) {
        return weir__lease_idle_lone(&mailbox, &tenant, word);
    }
    const bool promised = weir__mailbox_owed(word) > 0;
    if (!weir__mailbox_idle_as(&mailbox, word, 1, NULL, promised ? 0 : WEIR__MAILBOX_LEASED)) {
        return false;
    }
    if (!promised) {
        weir__lease_sign(&mailbox, weir_sim_choose(4) == 0 ? NULL : &tenant);
    }
    return true;
}

static uint32_t take_a_place(void)
{
    uint32_t one = 1;
    uint64_t before;
    const weir__claim claim = weir__lease_claim(&mailbox, &tenant, &one, &before);
    weir_sim_check(claim <= WEIR__CLAIM_FIRST && one == 1, "a place was refused");
    return weir__mailbox_ticket(before);
}

static void play(void *unused)
{
    (void)unused;
    weir__tenant_admit(&tenant);
    for (int i = 0; i < ROUNDS; i++) {
        (void)take_a_place();
        while (!go_idle()) {
        }
    }
}

static void end_it(void *unused)
{
    (void)unused;
    weir__lease_end(&mailbox);
}

static void promise(void *unused)
{
    (void)unused;
    weir_sim_check(weir__mailbox_reserve(&mailbox) == WEIR__CLAIM_OK, "no place is promised");
}

static void post_two(void *unused)
{
    (void)unused;
    uint32_t one = 1;
    uint64_t before;
    for (int i = 0; i < 2; i++) {
        weir_sim_check(weir__mailbox_claim(&mailbox, &one, &before) <= WEIR__CLAIM_FIRST,
                       "a place was refused");
    }
}

static void begin(void)
{
    memset(&tenant, 0, sizeof(tenant));
    weir__mailbox_open(&mailbox, 64, 8, false);
}

static void judge(uint32_t tickets, uint32_t promised)
{
    const uint64_t word = weir__load(&mailbox.word, seq_cst);
    const bool named = weir__lease_is_of(&mailbox, &tenant);
    weir_sim_check(weir__mailbox_is_leased(word) == named, "leased and nobody's, or the reverse");
    weir_sim_check(weir__mailbox_ticket(word) == tickets, "a step is lost: %u of %u",
                   weir__mailbox_ticket(word), tickets);
    weir_sim_check(weir__mailbox_owed(word) == promised, "a promise is lost");
}

SCENARIO(leased_word, "two end the leases of a third")
{
    begin();
    const int one = weir_sim_thread_start(play, NULL);
    const int two = weir_sim_thread_start(end_it, NULL);
    end_it(NULL);
    end_it(NULL);
    weir_sim_thread_join(one);
    weir_sim_thread_join(two);
    judge(ROUNDS, 0);
}

SCENARIO(leased_word_promised, "one ends the leases of another, and a place is promised")
{
    begin();
    const int one = weir_sim_thread_start(play, NULL);
    const int two = weir_sim_thread_start(promise, NULL);
    end_it(NULL);
    weir_sim_thread_join(one);
    weir_sim_thread_join(two);
    judge(ROUNDS, 1);
}

/* Nobody empties it. */
static void lease_and_post(void *unused)
{
    (void)unused;
    weir__tenant_admit(&tenant);
    (void)take_a_place();
    (void)go_idle();
    for (int i = 0; i < 3; i++) {
        (void)take_a_place();
    }
}

SCENARIO(leased_word_posts, "the tenant and two others post")
{
    begin();
    const int one = weir_sim_thread_start(lease_and_post, NULL);
    const int two = weir_sim_thread_start(post_two, NULL);
    post_two(NULL);
    weir_sim_thread_join(one);
    weir_sim_thread_join(two);
    judge(8, 0);
}

/* ---- of one that is never idle ---- */

static weir__lone aside;

/* Two events are in it from the first to the last. */
static void lease_and_stay(void *unused)
{
    (void)unused;
    weir__tenant_admit(&tenant);
    (void)take_a_place();
    for (int i = 0; i < ROUNDS; i++) {
        if (weir__mailbox_mark(&mailbox)) {
            weir__lease_sign(&mailbox, weir_sim_choose(4) == 0 ? NULL : &tenant);
        }
        (void)take_a_place();
    }
}

static void put_aside(void *unused)
{
    (void)unused;
    weir_sim_check(weir__mailbox_claim_beside(&mailbox, &(uint64_t){ 0 }) <= WEIR__CLAIM_FIRST,
                   "a place was refused");
    weir__mailbox_put_beside(&mailbox, &aside);
}

SCENARIO(leased_word_beside, "one is leased and stays ready, and something is put beside")
{
    begin();
    const int one = weir_sim_thread_start(lease_and_stay, NULL);
    const int two = weir_sim_thread_start(put_aside, NULL);
    end_it(NULL);
    weir_sim_thread_join(one);
    weir_sim_thread_join(two);
    judge(ROUNDS + 2, 0);
    weir_sim_check(weir__load(&mailbox.beside, relaxed) == &aside, "what lay beside is lost");
}
