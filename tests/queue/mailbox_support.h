/*
 * queue/mailbox_support.h - a mailbox with all that it takes from, on one thread: posts that carry
 * a number, an owner that takes, and the proof that everything came back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_MAILBOX_SUPPORT_H
#define WEIR_TEST_MAILBOX_SUPPORT_H

#include "inner_support.h"

#include "queue/mailbox.h"

#define BOX_NOTHING UINT64_MAX /* instead of a number: there was no event */

typedef struct box {
    weir__mailbox mailbox;
    weir__stores stores;
    weir__stock stock;
    weir__trylock lock; /* of an evicting one */
    weir__atomic_u64 evicted;
    test_memory memory;
    /* The owner. */
    weir__cursor cursor;
    uint32_t uncredited;
} box;

/* ---- what is free ---- */

/* No entry is set, no envelope is filled. */
static inline bool is_empty_table(const weir__pooled *object, uint32_t size)
{
    static const char zeros[sizeof(weir__index)];
    return memcmp(object + 1, zeros, size - sizeof(*object)) == 0;
}

static inline bool is_empty_page(const weir__pooled *object, uint32_t size)
{
    weir__page *page = (weir__page *)(uintptr_t)object;
    bool empty = true;
    for (uint32_t i = 0; i < (size - sizeof(*page)) / sizeof(page->envelopes[0]); i++) {
        empty = empty && weir__load(&page->envelopes[i].state, relaxed) == 0;
    }
    return empty;
}

/* Objects of a pool that nobody has, in the caches of nobody; takes them. `empty`: so they are. */
static inline uint64_t pool_count_free(weir__pool *pool,
                                       bool (*empty)(const weir__pooled *object, uint32_t size))
{
    weir__pool_cache cache = { NULL, NULL, 0 };
    uint64_t count = 0;
    for (weir__pooled *o; (o = weir__pool_get(pool, &cache)) != NULL; count++) {
        assert_true(empty == NULL || empty(o, pool->object_size));
    }
    return count;
}

/* How many objects its chunks have room for: each has one line of its own. */
static inline uint64_t pool_count_all(const weir__pool *pool)
{
    const uint64_t chunk = pool->object_size + 64u > 1u << 16 ? pool->object_size + 64u : 1u << 16;
    const uint64_t bytes = weir__cell_read(&pool->bytes);
    assert_int_equal(0, bytes % chunk);
    return bytes / chunk * ((chunk - 64) / pool->object_size);
}

/* No mailbox and no cache has anything: all objects are back. Closes the stores. */
static inline void stores_check_and_close(weir__stores *stores, test_memory *memory)
{
    memory->refuse_from = 1;
    assert_int_equal(pool_count_all(&stores->lones), pool_count_free(&stores->lones, NULL));
    assert_int_equal(pool_count_all(&stores->roots),
                     pool_count_free(&stores->roots, is_empty_table));
    assert_int_equal(pool_count_all(&stores->indexes),
                     pool_count_free(&stores->indexes, is_empty_table));
    for (uint32_t i = 0; i < WEIR__PAGE_CLASSES; i++) {
        assert_int_equal(pool_count_all(&stores->pages[i]),
                         pool_count_free(&stores->pages[i], is_empty_page));
    }
    weir__stores_close(stores);
    test_memory_check(memory);
}

static inline void box_open(box *b, uint32_t limit, bool evicting)
{
    memset(b, 0, sizeof(*b));
    test_memory_open(&b->memory, 0);
    weir__stores_open(&b->stores, &b->memory.allocator);
    b->stock.stores = &b->stores;
    weir__mailbox_open(&b->mailbox, limit, 64, evicting);
}

/* The mailbox is idle, or closed, empty and retired: it owns nothing. */
static inline void box_close(box *b)
{
    weir__stock_flush(&b->stock);
    stores_check_and_close(&b->stores, &b->memory);
}

static inline uint64_t box_word(box *b)
{
    return weir__load(&b->mailbox.word, acquire);
}

/* ---- posts ---- */

static inline void envelope_write(weir__envelope *envelope, uint64_t number)
{
    envelope->type = NULL;
    envelope->size = sizeof(number);
    envelope->sender = 0;
    envelope->flow = 0;
    memcpy(envelope->payload.bytes, &number, sizeof(number));
}

static inline uint64_t envelope_read(const weir__envelope *envelope)
{
    uint64_t number;
    memcpy(&number, envelope->payload.bytes, sizeof(number));
    return number;
}

static inline weir__lone *lone_get(weir__stock *stock)
{
    weir__lone *lone = (weir__lone *)(void *)weir__pool_get(&stock->stores->lones, &stock->lones);
    assert_non_null(lone);
    return lone;
}

static inline void lone_put(weir__stock *stock, weir__lone *lone)
{
    if (lone != NULL) {
        weir__pool_put(&stock->stores->lones, &stock->lones, &lone->pooled);
    }
}

static inline weir__claim box_claim(box *b, uint32_t *count, uint64_t *before)
{
    assert_true(weir__stock_fill(&b->stock, b->mailbox.page_class, *count));
    return weir__mailbox_claim(&b->mailbox, count, before);
}

/* Fills the `nth` place of a claim: the first of an epoch lies alone. */
static inline void box_fill(box *b, weir__claim claim, uint64_t before, uint32_t nth,
                            uint64_t number)
{
    if (claim == WEIR__CLAIM_FIRST && nth == 0) {
        weir__lone *lone = lone_get(&b->stock);
        envelope_write(&lone->envelope, number);
        weir__envelope_fill(&lone->envelope, 0);
        weir__mailbox_put_first(&b->mailbox, before, lone);
        return;
    }
    const uint32_t ticket = (weir__mailbox_ticket(before) + nth) & (uint32_t)WEIR__MAILBOX_FIELD;
    assert_true(weir__stock_fill(&b->stock, b->mailbox.page_class, 1));
    const weir__envelope *short_cut =
        weir__mailbox_place_if_there(&b->mailbox, before + nth * WEIR__MAILBOX_TICKET_ONE);
    weir__envelope *envelope = weir__mailbox_place(&b->mailbox, before, ticket, &b->stock);
    assert_true(short_cut == NULL || short_cut == envelope);    /* it leads nowhere else */
    assert_int_equal(0, weir__load(&envelope->state, relaxed)); /* a place is empty */
    envelope_write(envelope, number);
    weir__envelope_fill(envelope, 0);
}

static inline void box_fill_beside(box *b, uint64_t before, uint64_t number)
{
    weir__lone *lone = lone_get(&b->stock);
    lone->ask = number + 1;
    lone->tag = number + 2;
    lone->ticket = weir__mailbox_ticket(before);
    envelope_write(&lone->envelope, number);
    weir__envelope_fill(&lone->envelope, WEIR__ENVELOPE_ALONE);
    weir__mailbox_put_beside(&b->mailbox, lone);
}

static inline weir__claim box_post(box *b, uint64_t number)
{
    uint32_t one = 1;
    uint64_t before = 0;
    const weir__claim claim = box_claim(b, &one, &before);
    if (claim <= WEIR__CLAIM_FIRST) {
        box_fill(b, claim, before, 0, number);
    }
    return claim;
}

static inline weir__claim box_post_beside(box *b, uint64_t number)
{
    uint64_t before = 0;
    const weir__claim claim = weir__mailbox_claim_beside(&b->mailbox, &before);
    if (claim <= WEIR__CLAIM_FIRST) {
        box_fill_beside(b, before, number);
    }
    return claim;
}

/* ---- the owner ---- */

/* A turn begins. */
static inline void box_own(box *b)
{
    b->cursor = weir__mailbox_cursor(box_word(b), 0);
    b->uncredited = 0;
}

/* Takes the next one and holds it. */
static inline uint64_t box_hold(box *b)
{
    const weir__envelope *envelope = weir__mailbox_take(&b->mailbox, &b->cursor, box_word(b));
    b->uncredited += envelope != NULL;
    return envelope != NULL ? envelope_read(envelope) : BOX_NOTHING;
}

static inline void box_let_go(box *b)
{
    lone_put(&b->stock, weir__mailbox_let_go(&b->mailbox, &b->cursor, box_word(b), &b->stock));
}

static inline uint64_t box_take(box *b)
{
    const uint64_t number = box_hold(b);
    if (number != BOX_NOTHING) {
        box_let_go(b);
    }
    return number;
}

static inline void box_credit(box *b)
{
    (void)weir__mailbox_credit(&b->mailbox, b->uncredited);
    b->uncredited = 0;
}

static inline bool box_idle(box *b)
{
    const bool idle = weir__mailbox_idle(&b->mailbox, box_word(b), b->uncredited, &b->stock);
    b->uncredited = idle ? 0 : b->uncredited;
    return idle;
}

#endif /* WEIR_TEST_MAILBOX_SUPPORT_H */
