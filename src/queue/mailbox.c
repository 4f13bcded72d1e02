/*
 * queue/mailbox.c - what of the mailbox is not done for every event: new pages, what lies beside,
 * idle, owed places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "queue/mailbox.h"

#include "sync/thread.h"

#define TICKET(number) ((uint32_t)((number)&WEIR__MAILBOX_FIELD))

void weir__mailbox_open(weir__mailbox *mailbox, uint32_t limit, uint32_t batch, bool evicting)
{
    weir__mailbox_open_within(mailbox, limit, limit, batch, evicting);
}

void weir__mailbox_open_within(weir__mailbox *mailbox, uint32_t limit, uint32_t within,
                               uint32_t batch, bool evicting)
{
    WEIR_ASSERT(limit >= 1 && limit <= WEIR__MAILBOX_MAX);
    uint32_t every = within / WEIR__MAILBOX_CREDIT_PART;
    every = every < batch ? every : batch;
    every = every == 0 ? 1 : every;
    mailbox->limit = limit;
    mailbox->credit_every = (uint16_t)(evicting ? 0 : every);
    const uint32_t page_class = weir__page_class_for(limit);
    WEIR_ASSERT(page_class < WEIR__PAGE_CLASSES); /* the simulator has none for the largest */
    mailbox->page_class = (uint8_t)page_class;
    mailbox->first_taken = 0;
    mailbox->beside_taken = NULL;
    weir__store(&mailbox->beside, NULL, relaxed);
    weir__store(&mailbox->first, 0, relaxed);
    weir__store(&mailbox->root, 0, relaxed);
    weir__store(&mailbox->word, 0, release);
}

/* ---- new pages ---- */

/* Whatever the stock is asked for it has: the poster has seen to it before its claim. */
#define STOCK_GET(kind) weir__stock_get(stock, &stock->stores->kind, &stock->kind)
#define STOCK_PUT(kind, object)                                                                    \
    weir__pool_put(&stock->stores->kind, &stock->kind, &(object)->pooled)

WEIR__SELDOM weir__root *weir__mailbox_make_root(weir__mailbox *mailbox, uintptr_t parity,
                                                 weir__stock *stock)
{
    weir__root *made = STOCK_GET(roots);
    WEIR_ASSERT(made != NULL);
    uintptr_t seen = weir__load(&mailbox->root, acquire);
    while ((seen & 1) != parity || seen <= 1) {
        /* [D] pairs with [B]. What stands there is of the epoch before, or nothing. */
        if (weir__cas(&mailbox->root, &seen, (uintptr_t)made | parity, acq_rel, acquire)) {
            return made;
        }
    }
    STOCK_PUT(roots, made); /* somebody was faster */
    return (weir__root *)(seen & ~(uintptr_t)1);
}

static weir__index *make_index(weir__root *root, uint32_t entry, weir__stock *stock)
{
    weir__index *there = NULL;
    weir__index *made = STOCK_GET(indexes);
    WEIR_ASSERT(made != NULL);
    /* [D]. */
    if (weir__cas(&root->indexes[entry], &there, made, acq_rel, acquire)) {
        return made;
    }
    STOCK_PUT(indexes, made);
    return there;
}

static weir__page *make_page(weir__index *index, uint32_t entry, uint32_t page_class,
                             weir__stock *stock)
{
    weir__page *there = NULL;
    weir__page *made = STOCK_GET(pages[page_class]);
    WEIR_ASSERT(made != NULL);
    /* [D]. */
    if (weir__cas(&index->pages[entry], &there, made, acq_rel, acquire)) {
        return made;
    }
    STOCK_PUT(pages[page_class], made);
    return there;
}

WEIR__SELDOM weir__envelope *weir__mailbox_make_place(weir__root *root, uint32_t page_class,
                                                      uint32_t ticket, weir__stock *stock)
{
    const uint32_t number = ticket >> weir__page_bits(page_class);
    const uint32_t entry = (number >> WEIR__INDEX_BITS) % (1u << WEIR__ROOT_BITS);
    const uint32_t below = number % (1u << WEIR__INDEX_BITS);
    weir__index *index = weir__load(&root->indexes[entry], acquire);
    if (index == NULL) {
        index = make_index(root, entry, stock);
    }
    weir__page *page = weir__load(&index->pages[below], acquire);
    if (page == NULL) {
        page = make_page(index, below, page_class, stock);
        /* [D]. Before our envelope is filled, or the page could be gone by then. */
        weir__store(&root->newest, weir__root_newest(page, number), release);
    }
    return &page->envelopes[weir__mailbox_offset(page_class, ticket)];
}

/* All tickets before this one are done: the page that ends with the one before goes. Its index
 * stays: when the head is near the end of an index, the tail may have come round to it. */
static void drop_before(weir__mailbox *mailbox, weir__root *root, uint32_t ticket,
                        weir__stock *stock)
{
    const uint32_t page_class = mailbox->page_class;
    const uint32_t number = TICKET(ticket - 1) >> weir__page_bits(page_class);
    const uint32_t entry = (number >> WEIR__INDEX_BITS) % (1u << WEIR__ROOT_BITS);
    const uint32_t below = number % (1u << WEIR__INDEX_BITS);
    weir__index *index = weir__load(&root->indexes[entry], acquire);
    weir__page *page = index != NULL ? weir__load(&index->pages[below], acquire) : NULL;
    if (page != NULL) { /* else all of them lay beside */
        if (weir__load(&root->newest, relaxed) == weir__root_newest(page, number)) {
            weir__store(&root->newest, 0, relaxed); /* of a newer one, perhaps: that is allowed */
        }
        weir__store(&index->pages[below], NULL, relaxed);
        STOCK_PUT(pages[page_class], page);
    }
}

WEIR__SELDOM void weir__mailbox_leave_page(weir__mailbox *mailbox, weir__cursor *cursor,
                                           uintptr_t parity, weir__stock *stock)
{
    weir__root *root = weir__mailbox_root(mailbox, parity);
    cursor->page = NULL;
    if (root != NULL) {
        drop_before(mailbox, root, cursor->ticket, stock);
    }
}

/* Nothing is outstanding, and nobody else can reach the root: the page that was begun, the indexes
 * and the root itself. The mailbox may be somebody else's by now. */
static void drop_root(weir__root *root, uint32_t page_class, uint32_t ticket, weir__stock *stock)
{
    const uint32_t number = ticket >> weir__page_bits(page_class);
    for (uint32_t entry = 0; entry < 1u << WEIR__ROOT_BITS; entry++) {
        weir__index *index = weir__load(&root->indexes[entry], acquire);
        if (index == NULL) {
            continue;
        }
        weir__page *page = weir__load(&index->pages[number % (1u << WEIR__INDEX_BITS)], acquire);
        if (page != NULL) {
            weir__store(&index->pages[number % (1u << WEIR__INDEX_BITS)], NULL, relaxed);
            STOCK_PUT(pages[page_class], page);
        }
        weir__store(&root->indexes[entry], NULL, relaxed);
        STOCK_PUT(indexes, index);
    }
    weir__store(&root->newest, 0, relaxed);
    STOCK_PUT(roots, root);
}

/* ---- first and beside ---- */

weir__envelope *weir__mailbox_take_first(weir__mailbox *mailbox, weir__cursor *cursor,
                                         uintptr_t parity)
{
    weir__lone *lone = weir__mailbox_first(mailbox, parity);
    cursor->held = lone != NULL ? &lone->envelope : NULL;
    return cursor->held;
}

void weir__mailbox_put_beside(weir__mailbox *mailbox, weir__lone *lone)
{
    weir__lone *newest = weir__load(&mailbox->beside, relaxed);
    do {
        while (weir__unlikely(((uintptr_t)newest & 1) != 0)) { /* leased since it was claimed */
            weir__lease_end(mailbox);
            newest = weir__load(&mailbox->beside, relaxed);
        }
        weir__store(&lone->pooled.next, newest != NULL ? &newest->pooled : NULL, relaxed);
        /* [H1] pairs with [H2]. */
    } while (!weir__cas(&mailbox->beside, &newest, lone, release, relaxed));
}

static weir__lone *next_of(weir__lone *lone)
{
    return (weir__lone *)(void *)weir__load(&lone->pooled.next, relaxed);
}

/* Appends what has come, turned round, to what was taken before. */
static void gather(weir__mailbox *mailbox)
{
    /* [H2] pairs with [H1]. */
    weir__lone *newest = weir__exchange(&mailbox->beside, NULL, acquire);
    weir__lone *oldest = NULL;
    while (newest != NULL) {
        weir__lone *next = next_of(newest);
        weir__store(&newest->pooled.next, oldest != NULL ? &oldest->pooled : NULL, relaxed);
        oldest = newest;
        newest = next;
    }
    if (mailbox->beside_taken == NULL) {
        mailbox->beside_taken = oldest;
        return;
    }
    weir__lone *last = mailbox->beside_taken;
    while (next_of(last) != NULL) {
        last = next_of(last);
    }
    weir__store(&last->pooled.next, oldest != NULL ? &oldest->pooled : NULL, relaxed);
}

/* The one beside that has this ticket, taken off its list if asked for; NULL: there is none. It is
 * the first one, unless two were put beside at the same moment. */
static weir__lone *find_beside(weir__mailbox *mailbox, uint32_t ticket, bool take)
{
    for (int looks = 0; looks < 2; looks++) {
        weir__lone *before = NULL;
        for (weir__lone *l = mailbox->beside_taken; l != NULL; before = l, l = next_of(l)) {
            if (l->ticket != ticket) {
                continue;
            }
            if (take && before == NULL) {
                mailbox->beside_taken = next_of(l);
            } else if (take) {
                weir__store(&before->pooled.next, weir__load(&l->pooled.next, relaxed), relaxed);
            }
            return l;
        }
        const weir__lone *newest = weir__load(&mailbox->beside, relaxed);
        if (newest == NULL || ((uintptr_t)newest & 1) != 0) { /* leased: nothing lies there */
            return NULL;
        }
        gather(mailbox);
    }
    return NULL;
}

WEIR__SELDOM weir__envelope *weir__mailbox_take_beside(weir__mailbox *mailbox, weir__cursor *cursor)
{
    weir__lone *lone = find_beside(mailbox, cursor->ticket, true);
    cursor->held = lone != NULL ? &lone->envelope : NULL;
    return cursor->held;
}

/* ---- the end of an epoch ---- */

/* What this epoch did not use is of the one before: the next one must not take it for its own.
 * False: somebody has just begun to use it. */
static bool clear_stale(weir__mailbox *mailbox, uint64_t word)
{
    const uintptr_t parity = weir__mailbox_parity(word);
    uintptr_t root = weir__load(&mailbox->root, relaxed);
    if (root != 0 && (root & 1) != parity &&
        !weir__cas(&mailbox->root, &root, 0, acq_rel, relaxed)) {
        return false;
    }
    if ((word & WEIR__MAILBOX_FIRST) == 0) {
        weir__store(&mailbox->first, 0, relaxed); /* nobody else touches them in such an epoch */
        mailbox->first_taken = 0;
    }
    return true;
}

bool weir__mailbox_idle_as(weir__mailbox *mailbox, uint64_t word, uint32_t uncredited,
                           weir__stock *stock, uint64_t mark)
{
    const uint32_t ticket = weir__mailbox_ticket(word);
    const uint64_t idle = weir__mailbox_idle_word(word, uncredited) | mark;
    WEIR_ASSERT_SLOW(mark == 0 ||
                     (weir__mailbox_owed(word) == 0 && !weir__mailbox_is_leased(word)));
    if (!clear_stale(mailbox, word)) {
        return false;
    }
    const uint32_t page_class = mailbox->page_class;
    weir__root *root = weir__mailbox_root(mailbox, weir__mailbox_parity(word));
    /* [F] pairs with [A]: all that this turn wrote, for the thread of the next. seq_cst for the
     * sake of want_room, like credit. */
    if (!weir__cas(&mailbox->word, &word, idle, seq_cst, relaxed)) {
        return false;
    }
    if (root != NULL) {
        drop_root(root, page_class, ticket, stock);
    }
    return true;
}

void weir__mailbox_retire(weir__mailbox *mailbox, uint64_t word, weir__stock *stock)
{
    weir__root *root = weir__mailbox_root(mailbox, weir__mailbox_parity(word));
    if (root != NULL) {
        weir__store(&mailbox->root, 0, relaxed);
        drop_root(root, mailbox->page_class, weir__mailbox_ticket(word), stock);
    }
}

/* ---- owed places ---- */

weir__claim weir__mailbox_reserve(weir__mailbox *mailbox)
{
    uint64_t word = weir__load(&mailbox->word, relaxed);
    do {
        (void)weir__mailbox_was_leased(mailbox, &word);
        if ((word & WEIR__MAILBOX_CLOSED) != 0) {
            return WEIR__CLAIM_CLOSED;
        }
        if (weir__mailbox_count(word) + weir__mailbox_owed(word) >= mailbox->limit) {
            return WEIR__CLAIM_FULL;
        }
    } while (weir__mailbox_is_leased(word) ||
             !weir__cas(&mailbox->word, &word, word + WEIR__MAILBOX_OWED_ONE, acq_rel, relaxed));
    return WEIR__CLAIM_OK;
}

weir__claim weir__mailbox_claim_owed(weir__mailbox *mailbox, uint64_t *before)
{
    uint64_t word = weir__load(&mailbox->word, relaxed);
    uint64_t next;
    do {
        if ((word & WEIR__MAILBOX_CLOSED) != 0) {
            return WEIR__CLAIM_CLOSED;
        }
        WEIR_ASSERT(weir__mailbox_owed(word) > 0);
        next = (word - WEIR__MAILBOX_OWED_ONE + WEIR__MAILBOX_ACCEPT_ONE) | WEIR__MAILBOX_READY;
    } while (!weir__cas(&mailbox->word, &word, next, acq_rel, relaxed));
    *before = word;
    return (word & WEIR__MAILBOX_READY) != 0 ? WEIR__CLAIM_OK : WEIR__CLAIM_FIRST;
}

void weir__mailbox_unreserve(weir__mailbox *mailbox)
{
    uint64_t word = weir__load(&mailbox->word, relaxed);
    do {
        if (weir__mailbox_owed(word) == 0) {
            WEIR_ASSERT((word & WEIR__MAILBOX_CLOSED) != 0); /* it has renounced */
            return;
        }
    } while (!weir__cas(&mailbox->word, &word, word - WEIR__MAILBOX_OWED_ONE, acq_rel, relaxed));
}

weir__claim weir__mailbox_claim_answer(weir__mailbox *mailbox, uint64_t *before)
{
    const uint64_t edge =
        WEIR__MAILBOX_READY | (weir__mailbox_evicts(mailbox) ? 0 : WEIR__MAILBOX_FIRST);
    uint64_t word = weir__load(&mailbox->word, relaxed);
    uint64_t next;
    do {
        if (weir__unlikely(weir__mailbox_owed(word) == 0)) {
            WEIR_ASSERT((word & WEIR__MAILBOX_CLOSED) != 0);
            return WEIR__CLAIM_CLOSED;
        }
        next = (word - WEIR__MAILBOX_OWED_ONE + WEIR__MAILBOX_ACCEPT_ONE) |
               ((word & WEIR__MAILBOX_READY) != 0 ? 0 : edge);
        /* [A] pairs with [F], as every claim. */
    } while (!weir__cas(&mailbox->word, &word, next, acq_rel, relaxed));
    *before = word;
    return (word & WEIR__MAILBOX_READY) != 0 ? WEIR__CLAIM_OK : WEIR__CLAIM_FIRST;
}

void weir__mailbox_renounce(weir__mailbox *mailbox)
{
    const uint64_t owed = WEIR__MAILBOX_FIELD * WEIR__MAILBOX_OWED_ONE;
    const uint64_t word = weir__load(&mailbox->word, relaxed);
    WEIR_ASSERT((word & WEIR__MAILBOX_CLOSED) != 0); /* so nothing is promised any more */
    if ((word & owed) != 0) {
        weir__and(&mailbox->word, ~owed, seq_cst);
    }
}

/* ---- evicting mailboxes ---- */

/* What a handler needs. */
static void copy_out(weir__lone *out, weir__envelope *envelope)
{
    const uint32_t state = weir__load(&envelope->state, relaxed);
    /* A stamp in a page is not worth the way there: such mailboxes are few, and so are these. */
    weir__init(&out->envelope.state, state & ~(uint32_t)WEIR__ENVELOPE_STAMPED_PAGE);
    out->envelope.size = envelope->size;
    out->envelope.type = envelope->type;
    out->envelope.sender = envelope->sender;
    out->envelope.flow = envelope->flow;
    out->envelope.payload = envelope->payload;
    if ((state & WEIR__ENVELOPE_ALONE) != 0) {
        out->ask = weir__lone_of(envelope)->ask;
        out->tag = weir__lone_of(envelope)->tag;
        out->origin = weir__lone_of(envelope)->origin;
    }
    if ((state & WEIR__ENVELOPE_STAMPED_LONE) != 0) {
        out->stamp = weir__lone_of(envelope)->stamp;
    }
}

weir__pop weir__mailbox_pop(weir__mailbox *mailbox, weir__trylock *lock, weir__stock *stock,
                            weir__lone *out, weir__lone **spent)
{
    WEIR_ASSERT(weir__mailbox_evicts(mailbox));
    *spent = NULL;
    if (!weir__trylock_take(lock)) {
        return WEIR__POP_BUSY;
    }
    const uint64_t word = weir__load(&mailbox->word, acquire);
    weir__cursor cursor = weir__mailbox_cursor(word, 0);
    weir__envelope *envelope =
        weir__mailbox_count(word) > 0 ? weir__mailbox_take(mailbox, &cursor, word) : NULL;
    if (envelope != NULL) {
        copy_out(out, envelope);
        *spent = weir__mailbox_let_go(mailbox, &cursor, word, stock);
        weir__mailbox_credit(mailbox, 1);
    }
    weir__trylock_release(lock);
    return envelope != NULL ? WEIR__POP_EVENT : WEIR__POP_NONE;
}

/* How many of the oldest `count` lie beside, one after the other. They are listed in this order but
 * for a few, so the next one in the list is asked first: thousands of signals may wait there. */
static uint32_t count_beside(weir__mailbox *mailbox, uint32_t head, uint32_t count)
{
    weir__lone *last = NULL;
    uint32_t beside = 0;
    while (beside < count) {
        const uint32_t ticket = TICKET(head + beside);
        weir__lone *next = last != NULL ? next_of(last) : NULL;
        last = next != NULL && next->ticket == ticket ? next : find_beside(mailbox, ticket, false);
        if (last == NULL) {
            break;
        }
        beside++;
    }
    return beside;
}

/* Lock held. The oldest event that does not lie beside, in front of which only such lie that do:
 * these move up by one ticket each, and so the first ticket is free. NULL: there is a gap, or
 * nothing that could be evicted. */
static weir__envelope *take_oldest(weir__mailbox *mailbox, uint64_t word, weir__cursor *cursor)
{
    const uint32_t head = cursor->ticket;
    const uint32_t count = weir__mailbox_count(word);
    const uint32_t beside = count_beside(mailbox, head, count);
    weir__envelope *envelope = NULL;
    if (beside == count) {
        return NULL;
    }
    cursor->ticket = TICKET(head + beside);
    envelope = weir__mailbox_first_due(mailbox, word)
                   ? weir__mailbox_take_first(mailbox, cursor, weir__mailbox_parity(word))
                   : weir__mailbox_take_placed(mailbox, cursor, word);
    for (weir__lone *l = mailbox->beside_taken; envelope != NULL && l != NULL; l = next_of(l)) {
        l->ticket = TICKET(l->ticket - head) < beside ? TICKET(l->ticket + 1) : l->ticket;
    }
    return envelope;
}

weir__pop weir__mailbox_evict(weir__mailbox *mailbox, weir__trylock *lock,
                              weir__atomic_u64 *evicted, weir__stock *stock, uint64_t *before,
                              weir__lone *out, weir__lone **spent)
{
    WEIR_ASSERT(weir__mailbox_evicts(mailbox));
    *spent = NULL;
    if (!weir__trylock_take(lock)) {
        return WEIR__POP_BUSY;
    }
    const uint64_t word = weir__load(&mailbox->word, acquire);
    weir__cursor cursor = weir__mailbox_cursor(word, 0);
    const uint32_t head = cursor.ticket;
    const bool full = weir__mailbox_count(word) + weir__mailbox_owed(word) >= mailbox->limit &&
                      (word & WEIR__MAILBOX_CLOSED) == 0 && weir__mailbox_count(word) > 0;
    weir__envelope *envelope = full ? take_oldest(mailbox, word, &cursor) : NULL;
    if (envelope != NULL) {
        copy_out(out, envelope);
        if (cursor.page != NULL) {
            weir__store(&envelope->state, 0, relaxed);
        } else {
            *spent = weir__lone_of(envelope);
        }
        cursor.ticket = TICKET(head + 1);
        if (weir__mailbox_offset(mailbox->page_class, cursor.ticket) == 0) {
            weir__mailbox_leave_page(mailbox, &cursor, weir__mailbox_parity(word), stock);
        }
        weir__add(evicted, 1, acq_rel);
        *before = weir__add(&mailbox->word, WEIR__MAILBOX_TICKET_ONE, acq_rel);
    }
    weir__trylock_release(lock);
    return envelope != NULL ? WEIR__POP_EVENT : WEIR__POP_NONE;
}

void weir__mailbox_settle_evictions(weir__trylock *lock)
{
    /* Ends: holders only copy one envelope. */
    while (!weir__trylock_take(lock)) {
        weir__yield();
    }
    weir__trylock_release(lock);
}
