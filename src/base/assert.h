/*
 * base/assert.h - two prices of assertion.
 *
 * WEIR_ASSERT guards a contract whose breach would corrupt memory or lose events; it costs a
 * predictable branch and stays on in release builds. WEIR_ASSERT_SLOW is on in debug builds only;
 * its expression is still type-checked when off. Operating errors are never asserts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BASE_ASSERT_H
#define WEIR_BASE_ASSERT_H

_Noreturn void weir__assert_fail(const char *expression, const char *file, int line);

#define WEIR_ASSERT(expression)                                                                    \
    ((expression) ? (void)0 : weir__assert_fail(#expression, __FILE__, __LINE__))

#ifdef WEIR_DEBUG
#define WEIR_ASSERT_SLOW(expression) WEIR_ASSERT(expression)
#else
#define WEIR_ASSERT_SLOW(expression) ((void)sizeof(!(expression)))
#endif

#define weir__likely(expression) __builtin_expect(!!(expression), 1)
#define weir__unlikely(expression) __builtin_expect(!!(expression), 0)

/* What happens seldom: kept out of the way of what happens for every event. */
#define WEIR__SELDOM __attribute__((noinline, cold))

/* Shared by several files of ours and by nobody else: found without the table of what a library
 * exports. Tests that are linked against a library of that kind see it all the same. */
#ifndef WEIR__HIDDEN
#define WEIR__HIDDEN __attribute__((visibility("hidden")))
#endif

/* On the way from a queue to a handler: GNU ld sorts such functions, so that they lie side by side,
 * and a thread that spins keeps them in its caches (engine/warm.h). */
#define WEIR__WARM __attribute__((section(".text.sorted.weir_warm_1")))

/* What happens for every event, and lives from being part of its caller. */
#define WEIR__ALWAYS inline __attribute__((always_inline))

#endif /* WEIR_BASE_ASSERT_H */
