/*
 * queue/page.c - the pools behind mailboxes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "queue/page.h"

#ifdef WEIR_SIMULATED
#define LONES_MAGAZINE 4u /* so that few events empty and fill one */
#define ROOTS_MAGAZINE 4u
#define INDEXES_MAGAZINE 4u
#define PAGES_MAGAZINE 4u
#else
#define LONES_MAGAZINE 64u
#define ROOTS_MAGAZINE 32u
#define INDEXES_MAGAZINE 16u
#define PAGES_MAGAZINE 16u
#endif

static uint32_t page_size(uint32_t page_class)
{
    return (uint32_t)(sizeof(weir__page) + (sizeof(weir__envelope) << weir__page_bits(page_class)));
}

static uint32_t pages_magazine(uint32_t page_class)
{
    return page_class <= 3 ? PAGES_MAGAZINE : 4;
}

void weir__stores_open(weir__stores *stores, const weir_allocator *allocator)
{
    weir__pool_open(&stores->lones, allocator, sizeof(weir__lone), LONES_MAGAZINE);
    weir__pool_open_empty(&stores->roots, allocator, sizeof(weir__root), ROOTS_MAGAZINE);
    weir__pool_open_empty(&stores->indexes, allocator,
                          (sizeof(weir__index) + WEIR_CACHE_LINE - 1) / WEIR_CACHE_LINE *
                              WEIR_CACHE_LINE,
                          INDEXES_MAGAZINE);
    for (uint32_t i = 0; i < WEIR__PAGE_CLASSES; i++) {
        weir__pool_open_empty(&stores->pages[i], allocator, page_size(i), pages_magazine(i));
    }
}

void weir__stores_close(weir__stores *stores)
{
    weir__pool_close(&stores->lones);
    weir__pool_close(&stores->roots);
    weir__pool_close(&stores->indexes);
    for (uint32_t i = 0; i < WEIR__PAGE_CLASSES; i++) {
        weir__pool_close(&stores->pages[i]);
    }
}

uint64_t weir__stores_bytes(const weir__stores *stores)
{
    uint64_t bytes = weir__cell_read(&stores->lones.bytes) + weir__cell_read(&stores->roots.bytes) +
                     weir__cell_read(&stores->indexes.bytes);
    for (uint32_t i = 0; i < WEIR__PAGE_CLASSES; i++) {
        bytes += weir__cell_read(&stores->pages[i].bytes);
    }
    return bytes;
}

void weir__stock_flush(weir__stock *stock)
{
    stock->enough = 0;
    weir__pool_flush(&stock->stores->lones, &stock->lones);
    weir__pool_flush(&stock->stores->roots, &stock->roots);
    weir__pool_flush(&stock->stores->indexes, &stock->indexes);
    for (uint32_t i = 0; i < WEIR__PAGE_CLASSES; i++) {
        weir__pool_flush(&stock->stores->pages[i], &stock->pages[i]);
    }
}

bool weir__stock_fill(weir__stock *stock, uint32_t page_class, uint32_t count)
{
    weir__stores *stores = stock->stores;
    /* One more than needed: who takes one and puts one in turn does not come here each time. */
    const bool filled = weir__pool_reserve(&stores->lones, &stock->lones, 2) &&
                        weir__pool_reserve(&stores->roots, &stock->roots, 2) &&
                        weir__pool_reserve(&stores->indexes, &stock->indexes,
                                           weir__stock_indexes(page_class, count)) &&
                        weir__pool_reserve(&stores->pages[page_class], &stock->pages[page_class],
                                           weir__stock_pages(page_class, count));
    stock->enough |= filled ? 1u << page_class : 0;
    return filled;
}
