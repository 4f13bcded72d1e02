/*
 * queue/page.h - where a mailbox keeps its envelopes: pages of envelopes in a row, found by ticket
 * through two levels of tables.
 *
 *     ticket   | ... | entry of the root 2 | entry of the index 7 | envelope of the page 5 ... 11 |
 *
 * Whoever holds a ticket that is not handled yet can be sure of the page that it falls into: a page
 * is let go only after all its tickets are done, the tables when nothing is outstanding. So one
 * that lacks the next level is filled by whoever comes first (one exchange from nothing), and
 * nothing here is ever reached through a stale pointer.
 *
 * Pages, indexes and roots are empty when they are free: no entry set, no envelope filled. (Stamps
 * may be left in a page: see below.)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_QUEUE_PAGE_H
#define WEIR_QUEUE_PAGE_H

#include "base/memory.h"
#include "queue/envelope.h"

/* The larger the mailbox, the larger its pages: so two levels reach. The sizes are odd numbers of
 * lines, or equal places of many pages would share a few sets of the cache. */
#ifdef WEIR_SIMULATED
#define WEIR__INDEX_BITS 2u /* so that few events reach its end */
#define WEIR__PAGE_CLASSES 15u
#else
#define WEIR__INDEX_BITS 7u
#define WEIR__PAGE_CLASSES 10u
#endif
#define WEIR__ROOT_BITS 2u

/* Of mailboxes of ordinary size, the default one among them. */
#define WEIR__PAGE_CLASS_USUAL 3u

static inline uint32_t weir__page_bits(uint32_t page_class)
{
    return page_class + 2;
}

static inline uint32_t weir__page_length(uint32_t page_class)
{
    return 1u << weir__page_bits(page_class);
}

/* Where the few events whose envelopes are full have their stamps: | time 48 | offset 16 |. They
 * are not cleared: an envelope says whether it has one, and the offset whether it is still its. */
#define WEIR__PAGE_STAMPS 5u
#define WEIR__PAGE_STAMP_BITS 16u

typedef struct weir__page {
    weir__pooled pooled;
    uint64_t fill; /* pools need it */
    weir__atomic_u64 stamps[WEIR__PAGE_STAMPS];
    weir__envelope envelopes[];
} weir__page;
_Static_assert(sizeof(weir__page) == WEIR_CACHE_LINE, "envelopes are lines of their own");

typedef struct weir__index {
    weir__pooled pooled;
    char fill[WEIR_CACHE_LINE - sizeof(weir__pooled)];
    WEIR__ATOMIC(weir__page *) pages[1u << WEIR__INDEX_BITS]; /* posters set, the owner clears */
} weir__index;

/* `newest` is a short cut past the index, whose line the owner writes to for every page: the page
 * that was made last, and the lower bits of its number. The poster that has made a page says so
 * before it fills its envelope there, and the owner takes it back before the page goes: so what
 * stands here is never free. It may be an older one, or none: then the index knows. */
typedef struct weir__root {
    weir__pooled pooled;
    WEIR__ATOMIC(weir__index *) indexes[1u << WEIR__ROOT_BITS]; /* posters set, the owner clears */
    weir__atomic_u64 newest; /* | page 48 | number 16 |. Posters set, the owner clears */
    char fill[WEIR_CACHE_LINE - sizeof(weir__pooled) - (8u << WEIR__ROOT_BITS) - 8];
} weir__root;

#ifdef WEIR_SIMULATED
#define WEIR__ROOT_NUMBER_BITS 4u /* so that few pages come round to the same */
#else
#define WEIR__ROOT_NUMBER_BITS 16u
#endif
#define WEIR__ROOT_NUMBER(number) ((uint64_t)(number) & ((1u << WEIR__ROOT_NUMBER_BITS) - 1))
_Static_assert(WEIR__ROOT_NUMBER_BITS >= WEIR__ROOT_BITS + WEIR__INDEX_BITS,
               "no two pages of a root have the same");

static inline uint64_t weir__root_newest(const weir__page *page, uint32_t page_number)
{
    return (uint64_t)(uintptr_t)page << WEIR__ROOT_NUMBER_BITS | WEIR__ROOT_NUMBER(page_number);
}

/* Where a mailbox of this size has its tickets: the smallest class that has room for all that may
 * be outstanding, and for the page that is being emptied and the one that is being filled. */
static inline uint32_t weir__page_class_for(uint32_t limit)
{
    uint32_t page_class =
        limit <= 16 ? 0 : WEIR__PAGE_CLASS_USUAL; /* between the two nothing is gained */
    while ((1u << (WEIR__ROOT_BITS + WEIR__INDEX_BITS + weir__page_bits(page_class))) <
           limit + (2u << weir__page_bits(page_class))) {
        page_class++;
    }
    return page_class;
}

/* All pools of an engine that mailboxes take from; and a thread's share of them. */
typedef struct weir__stores {
    weir__pool lones, roots, indexes, pages[WEIR__PAGE_CLASSES];
} weir__stores;

typedef struct weir__stock {
    weir__stores *stores;
    uint32_t enough; /* by class: a post into such a mailbox will not lack anything */
    weir__pool_cache lones, roots, indexes, pages[WEIR__PAGE_CLASSES];
} weir__stock;

void weir__stores_open(weir__stores *stores, const weir_allocator *allocator);
void weir__stores_close(weir__stores *stores);
uint64_t weir__stores_bytes(const weir__stores *stores);
/* The thread ends: what it has is everybody's. */
void weir__stock_flush(weir__stock *stock);

/* True: one post into a mailbox of this class will not lack anything. False: fill it. */
static inline bool weir__stock_suffices(const weir__stock *stock, uint32_t page_class)
{
    return (stock->enough >> page_class & 1) != 0;
}

/* What is taken out of it; NULL: it is not there. A last one ends that it suffices. */
static inline void *weir__stock_get(weir__stock *stock, weir__pool *pool, weir__pool_cache *cache)
{
    weir__pooled *object = weir__pool_get(pool, cache);
    if (weir__unlikely(cache->current == NULL)) {
        stock->enough = 0;
    }
    return object;
}

static inline weir__lone *weir__stock_get_lone(weir__stock *stock)
{
    return weir__stock_get(stock, &stock->stores->lones, &stock->lones);
}

/* The same of a stock that suffices: it is there. */
static inline weir__lone *weir__stock_take_lone(weir__stock *stock)
{
    weir__pool_cache *lones = &stock->lones;
    weir__pooled *object = lones->current;
    lones->current = weir__load(&object->next, relaxed);
    lones->count--;
    if (weir__unlikely(lones->current == NULL)) {
        stock->enough = 0;
    } else { /* the next one: whoever had it last wrote to both its lines */
        weir__expect_write(lones->current);
        weir__expect_write((const char *)lones->current + WEIR_CACHE_LINE);
    }
    return (weir__lone *)object;
}

static inline void weir__stock_put_lone(weir__stock *stock, weir__lone *lone)
{
    weir__pool_put(&stock->stores->lones, &stock->lones, &lone->pooled);
}

/* How many pages and indexes so many events in a row may need. */
static inline uint32_t weir__stock_pages(uint32_t page_class, uint32_t count)
{
    return (count >> weir__page_bits(page_class)) + 2;
}

static inline uint32_t weir__stock_indexes(uint32_t page_class, uint32_t count)
{
    return (weir__stock_pages(page_class, count) >> WEIR__INDEX_BITS) + 2;
}

/* The same for `count` events in a row. */
static inline bool weir__stock_suffices_for(const weir__stock *stock, uint32_t page_class,
                                            uint32_t count)
{
    return stock->lones.current != NULL && stock->roots.current != NULL &&
           stock->indexes.count >= weir__stock_indexes(page_class, count) &&
           stock->pages[page_class].count >= weir__stock_pages(page_class, count);
}

/* Sees to it, for `count` events in a row. False: there is no memory. */
bool weir__stock_fill(weir__stock *stock, uint32_t page_class, uint32_t count);

#endif /* WEIR_QUEUE_PAGE_H */
