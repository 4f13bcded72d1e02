/*
 * baselines/mailbox.h - a bounded mailbox: many post, the holder of the processor polls.
 *
 * A ring of slots. Each slot has a turn: t, free for the t-th message; t + 1, that message is in
 * it. A poster draws the next ticket and owns its slot; the holder takes the slots in order. So the
 * messages of one sender stay in order.
 *
 * A poll that waits says so in `waits` and looks at `tail` once more; a poster moves `tail` and
 * then looks at `waits`. All four are sequentially consistent: one of the two sees the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_BASELINES_MAILBOX_H
#define WEIR_BENCH_BASELINES_MAILBOX_H

#include "baselines/engine.h"
#include "sync/thread.h"
#include "sync/word.h"

typedef struct baseline_slot {
    weir__atomic_u64 turn;
    baseline_message message;
} baseline_slot;

typedef struct baseline_mailbox {
    _Alignas(64) baseline_slot *slots;
    uint64_t mask;
    uint64_t head;                      /* the holder's */
    _Alignas(64) weir__atomic_u64 tail; /* the posters' */
    weir__atomic_u32 waits;             /* 1: the holder sleeps on this word */
} baseline_mailbox;

static inline bool baseline_mailbox_post(baseline_mailbox *mailbox, const baseline_message *message)
{
    uint64_t ticket = weir__load(&mailbox->tail, relaxed);
    baseline_slot *slot;
    for (;;) { /* ends: whoever draws the ticket in our place has posted */
        slot = &mailbox->slots[ticket & mailbox->mask];
        const uint64_t turn = weir__load(&slot->turn, acquire);
        if (turn == ticket) {
            if (weir__cas(&mailbox->tail, &ticket, ticket + 1, seq_cst, relaxed)) {
                break;
            }
        } else if (turn < ticket) {
            return false;
        } else {
            ticket = weir__load(&mailbox->tail, relaxed);
        }
    }
    slot->message = *message;
    weir__store(&slot->turn, ticket + 1, release);
    if (weir__load(&mailbox->waits, seq_cst) != 0 &&
        weir__exchange(&mailbox->waits, 0, relaxed) != 0) {
        weir__word_wake(&mailbox->waits, 1);
    }
    return true;
}

static inline bool baseline_mailbox_take(baseline_mailbox *mailbox, baseline_message *message)
{
    baseline_slot *slot = &mailbox->slots[mailbox->head & mailbox->mask];
    if (weir__load(&slot->turn, acquire) != mailbox->head + 1) {
        return false;
    }
    *message = slot->message;
    weir__store(&slot->turn, mailbox->head + mailbox->mask + 1, release);
    mailbox->head++;
    return true;
}

/* False: nothing came in that time. */
static inline bool baseline_mailbox_poll(baseline_mailbox *mailbox, baseline_message *message,
                                         weir_ns patience)
{
    if (baseline_mailbox_take(mailbox, message)) {
        return true;
    }
    if (patience == 0) {
        return false;
    }
    (void)weir__exchange(&mailbox->waits, 1, seq_cst);
    if (weir__load(&mailbox->tail, seq_cst) == mailbox->head) {
        (void)weir__word_wait(&mailbox->waits, 1, patience);
    }
    weir__store(&mailbox->waits, 0, relaxed);
    return baseline_mailbox_take(mailbox, message);
}

#endif /* WEIR_BENCH_BASELINES_MAILBOX_H */
