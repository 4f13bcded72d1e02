/*
 * sync/sim/instrument.c - atomics of users' code that is compiled with -fsanitize=thread.
 *
 * The compiler turns each of them into a call of a function of the sanitizer's library; here are
 * functions of that name. So users' atomics are steps, have store buffers and make edges, as the
 * engine's do. race.c has the same for plain accesses. What the engine's own rooms use is
 * sync/sim/atomic.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync/sim/core.h"

static const weir__sim_site site = { "users' code", 0, "an atomic of the user's" };

/* From the compiler's numbers: relaxed, consume, acquire, release, acq_rel, seq_cst. */
static weir__sim_order order_of(int order)
{
    static const weir__sim_order orders[] = { weir__sim_relaxed, weir__sim_acquire,
                                              weir__sim_acquire, weir__sim_release,
                                              weir__sim_acq_rel, weir__sim_seq_cst };
    return orders[(order & 7) < 6 ? order & 7 : 5]; /* further bits are hints */
}

/* For what the engine has no use for: load, compute, compare and exchange. */
static uint64_t modify(void *atom, uint32_t size, uint64_t by, weir__sim_order order, bool is_xor)
{
    for (;;) {
        const uint64_t old = weir__sim_load(atom, size, weir__sim_relaxed, &site);
        const uint64_t value = is_xor ? old ^ by : ~(old & by);
        if (weir__sim_cas(atom, size, old, value, order, weir__sim_relaxed, &site) == old) {
            return old;
        }
    }
}

/* The names are the sanitizer's, reserved for implementations: here we are one. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): see above */
/* NOLINTBEGIN(bugprone-macro-parentheses): types cannot stand in parentheses */
#define FETCH(bits, name, call)                                                                    \
    WEIR_API uint##bits##_t __tsan_atomic##bits##_fetch_##name(void *atom, uint##bits##_t by,      \
                                                               int order);                         \
    uint##bits##_t __tsan_atomic##bits##_fetch_##name(void *atom, uint##bits##_t by, int order)    \
    {                                                                                              \
        return (uint##bits##_t)(call);                                                             \
    }

#define EXCHANGE_IF(bits, name)                                                                    \
    WEIR_API int __tsan_atomic##bits##_compare_exchange_##name(                                    \
        void *atom, uint##bits##_t *expected, uint##bits##_t value, int success, int failure);     \
    int __tsan_atomic##bits##_compare_exchange_##name(                                             \
        void *atom, uint##bits##_t *expected, uint##bits##_t value, int success, int failure)      \
    {                                                                                              \
        const uint##bits##_t wanted = *expected;                                                   \
        *expected = (uint##bits##_t)weir__sim_cas(atom, bits / 8, wanted, value,                   \
                                                  order_of(success), order_of(failure), &site);    \
        return *expected == wanted;                                                                \
    }

#define ATOMICS(bits)                                                                              \
    WEIR_API uint##bits##_t __tsan_atomic##bits##_load(const void *atom, int order);               \
    uint##bits##_t __tsan_atomic##bits##_load(const void *atom, int order)                         \
    {                                                                                              \
        return (uint##bits##_t)weir__sim_load(atom, bits / 8, order_of(order), &site);             \
    }                                                                                              \
    WEIR_API void __tsan_atomic##bits##_store(void *atom, uint##bits##_t value, int order);        \
    void __tsan_atomic##bits##_store(void *atom, uint##bits##_t value, int order)                  \
    {                                                                                              \
        weir__sim_store(atom, bits / 8, value, order_of(order), &site);                            \
    }                                                                                              \
    WEIR_API uint##bits##_t __tsan_atomic##bits##_exchange(void *atom, uint##bits##_t value,       \
                                                           int order);                             \
    uint##bits##_t __tsan_atomic##bits##_exchange(void *atom, uint##bits##_t value, int order)     \
    {                                                                                              \
        return (uint##bits##_t)weir__sim_exchange(atom, bits / 8, value, order_of(order), &site);  \
    }                                                                                              \
    WEIR_API uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                            \
        void *atom, uint##bits##_t expected, uint##bits##_t value, int success, int failure);      \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                     \
        void *atom, uint##bits##_t expected, uint##bits##_t value, int success, int failure)       \
    {                                                                                              \
        return (uint##bits##_t)weir__sim_cas(atom, bits / 8, expected, value, order_of(success),   \
                                             order_of(failure), &site);                            \
    }                                                                                              \
    EXCHANGE_IF(bits, strong)                                                                      \
    EXCHANGE_IF(bits, weak)                                                                        \
    FETCH(bits, add, weir__sim_add(atom, bits / 8, by, order_of(order), &site))                    \
    FETCH(bits, sub, weir__sim_add(atom, bits / 8, -(uint64_t)by, order_of(order), &site))         \
    FETCH(bits, and, weir__sim_and(atom, bits / 8, by, order_of(order), &site))                    \
    FETCH(bits, or, weir__sim_or(atom, bits / 8, by, order_of(order), &site))                      \
    FETCH(bits, xor, modify(atom, bits / 8, by, order_of(order), true))                            \
    FETCH(bits, nand, modify(atom, bits / 8, by, order_of(order), false))

ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)
/* NOLINTEND(bugprone-macro-parentheses) */

WEIR_API void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    weir__sim_fence(order_of(order), &site);
}

WEIR_API void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order; /* for the compiler only */
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
