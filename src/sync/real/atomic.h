/*
 * sync/real/atomic.h - C11 atomics under the names of sync/atomic.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_REAL_ATOMIC_H
#define WEIR_SYNC_REAL_ATOMIC_H

#include <stdatomic.h>

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define WEIR__TSAN_OF_CLANG 1
#endif
#endif

#define WEIR__ATOMIC(type)                                                                         \
    struct {                                                                                       \
        _Atomic(type) value;                                                                       \
    }

#define weir__init(atom, to) atomic_store_explicit(&(atom)->value, (to), memory_order_relaxed)
#define weir__load(atom, order) atomic_load_explicit(&(atom)->value, memory_order_##order)
#define weir__store(atom, to, order)                                                               \
    atomic_store_explicit(&(atom)->value, (to), memory_order_##order)
#define weir__exchange(atom, to, order)                                                            \
    atomic_exchange_explicit(&(atom)->value, (to), memory_order_##order)
#define weir__cas(atom, expected, to, success, failure)                                            \
    atomic_compare_exchange_strong_explicit(&(atom)->value, (expected), (to),                      \
                                            memory_order_##success, memory_order_##failure)
#define weir__add(atom, by, order)                                                                 \
    atomic_fetch_add_explicit(&(atom)->value, (by), memory_order_##order)
#define weir__sub(atom, by, order)                                                                 \
    atomic_fetch_sub_explicit(&(atom)->value, (by), memory_order_##order)
#define weir__or(atom, bits, order)                                                                \
    atomic_fetch_or_explicit(&(atom)->value, (bits), memory_order_##order)
#define weir__and(atom, bits, order)                                                               \
    atomic_fetch_and_explicit(&(atom)->value, (bits), memory_order_##order)
#define weir__fence(order) atomic_thread_fence(memory_order_##order)
#define weir__compiler_fence() atomic_signal_fence(memory_order_seq_cst)

/* Load, add and store of an atom that nobody else writes. Compilers do not join the three, since
 * the atom could change in between; here it cannot, and the instruction is one that is not
 * locked. (TSan has to see the three.) */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(WEIR__TSAN_OF_CLANG)
#define weir__add_alone(atom, by)                                                                  \
    __asm__("addq %1, %0" : "+m"((atom)->value) : "er"((uint64_t)(by)) : "cc")
#define weir__add_alone_release(atom, by)                                                          \
    __asm__ volatile("addq %1, %0" : "+m"((atom)->value) : "er"((uint64_t)(by)) : "cc", "memory")
#else
#define weir__add_alone(atom, by) weir__store(atom, weir__load(atom, relaxed) + (by), relaxed)
#define weir__add_alone_release(atom, by)                                                          \
    weir__store(atom, weir__load(atom, relaxed) + (by), release)
#endif

#endif /* WEIR_SYNC_REAL_ATOMIC_H */
