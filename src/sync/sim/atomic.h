/*
 * sync/sim/atomic.h - the macros of sync/atomic.h over the simulator: every use is a step at which
 * another thread may run, and knows its place in the source.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_SIM_ATOMIC_H
#define WEIR_SYNC_SIM_ATOMIC_H

#include <stdint.h>

#define WEIR__ATOMIC(type)                                                                         \
    struct {                                                                                       \
        type value;                                                                                \
    }

typedef enum weir__sim_order {
    weir__sim_relaxed,
    weir__sim_acquire,
    weir__sim_release,
    weir__sim_acq_rel,
    weir__sim_seq_cst
} weir__sim_order;

/* Where a step stands in the source. */
typedef struct weir__sim_site {
    const char *file;
    int line;
    const char *text; /* the expression that names the atom */
} weir__sim_site;

#define WEIR__SIM_SITE(expression)                                                                 \
    __extension__({                                                                                \
        static const weir__sim_site site_ = { __FILE__, __LINE__, expression };                    \
        &site_;                                                                                    \
    })

uint64_t weir__sim_load(const void *atom, uint32_t size, weir__sim_order order,
                        const weir__sim_site *site);
void weir__sim_store(void *atom, uint32_t size, uint64_t value, weir__sim_order order,
                     const weir__sim_site *site);
uint64_t weir__sim_exchange(void *atom, uint32_t size, uint64_t value, weir__sim_order order,
                            const weir__sim_site *site);
/* The value that was there. */
uint64_t weir__sim_cas(void *atom, uint32_t size, uint64_t expected, uint64_t value,
                       weir__sim_order success, weir__sim_order failure,
                       const weir__sim_site *site);
uint64_t weir__sim_add(void *atom, uint32_t size, uint64_t by, weir__sim_order order,
                       const weir__sim_site *site);
uint64_t weir__sim_or(void *atom, uint32_t size, uint64_t bits, weir__sim_order order,
                      const weir__sim_site *site);
uint64_t weir__sim_and(void *atom, uint32_t size, uint64_t bits, weir__sim_order order,
                       const weir__sim_site *site);
void weir__sim_fence(weir__sim_order order, const weir__sim_site *site);
/* One step: only the cell's writer changes it, and a second writer without an edge is a race. */
void weir__sim_cell_add(void *cell, uint64_t amount, const weir__sim_site *site);

/* Atoms hold integers, enums or pointers; a detour by uintptr_t fits all. */
#define WEIR__SIM_TYPE(atom) __typeof__((atom)->value)
#define WEIR__SIM_BITS(atom, x) ((uint64_t)(uintptr_t)(WEIR__SIM_TYPE(atom))(x))
#define WEIR__SIM_OUT(atom, bits) ((WEIR__SIM_TYPE(atom))(uintptr_t)(bits))
#define WEIR__SIM_ARGS(atom) &(atom)->value, (uint32_t)sizeof((atom)->value)

#define weir__init(atom, to) ((void)((atom)->value = (to)))
#define weir__load(atom, order)                                                                    \
    WEIR__SIM_OUT(atom,                                                                            \
                  weir__sim_load(WEIR__SIM_ARGS(atom), weir__sim_##order, WEIR__SIM_SITE(#atom)))
#define weir__store(atom, to, order)                                                               \
    weir__sim_store(WEIR__SIM_ARGS(atom), WEIR__SIM_BITS(atom, to), weir__sim_##order,             \
                    WEIR__SIM_SITE(#atom))
#define weir__exchange(atom, to, order)                                                            \
    WEIR__SIM_OUT(atom, weir__sim_exchange(WEIR__SIM_ARGS(atom), WEIR__SIM_BITS(atom, to),         \
                                           weir__sim_##order, WEIR__SIM_SITE(#atom)))
#define weir__cas(atom, expected, to, success, failure)                                            \
    __extension__({                                                                                \
        WEIR__SIM_TYPE(atom) *const expected_ = (expected);                                        \
        const uint64_t wanted_ = (uint64_t)(uintptr_t)*expected_;                                  \
        const uint64_t found_ =                                                                    \
            weir__sim_cas(WEIR__SIM_ARGS(atom), wanted_, WEIR__SIM_BITS(atom, to),                 \
                          weir__sim_##success, weir__sim_##failure, WEIR__SIM_SITE(#atom));        \
        *expected_ = WEIR__SIM_OUT(atom, found_);                                                  \
        found_ == wanted_;                                                                         \
    })
#define WEIR__SIM_MODIFY(what, atom, by, order)                                                    \
    WEIR__SIM_OUT(atom, weir__sim_##what(WEIR__SIM_ARGS(atom), (uint64_t)(by), weir__sim_##order,  \
                                         WEIR__SIM_SITE(#atom)))
#define weir__add(atom, by, order) WEIR__SIM_MODIFY(add, atom, by, order)
#define weir__sub(atom, by, order) WEIR__SIM_MODIFY(add, atom, UINT64_C(0) - (uint64_t)(by), order)
#define weir__or(atom, bits, order) WEIR__SIM_MODIFY(or, atom, bits, order)
#define weir__and(atom, bits, order) WEIR__SIM_MODIFY(and, atom, bits, order)
#define weir__fence(order) weir__sim_fence(weir__sim_##order, WEIR__SIM_SITE("fence"))
#define weir__compiler_fence() __asm__ __volatile__("" ::: "memory")

#endif /* WEIR_SYNC_SIM_ATOMIC_H */
