/*
 * test_support.h - what every test shares on top of cmocka.
 *
 * A randomised test takes its seed here, so that its failure prints the line that replays it.
 * cmocka's asserts jump: use them on the test's own thread only; other threads record, the test's
 * thread asserts after the join. Standard output belongs to the TAP stream: print to stderr.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_SUPPORT_H
#define WEIR_TEST_SUPPORT_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* True under a sanitizer: time limits of a test are then several times longer, counts smaller. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED 0
#endif

/* The seed of a randomised test: WEIR_SEED if it is set, else another one each second. */
static inline uint64_t test_seed(void)
{
    const char *text = getenv("WEIR_SEED");
    const uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
    fprintf(stderr, "# replay with WEIR_SEED=%" PRIu64 "\n", seed);
    return seed;
}

/*
 * Leaves a test that cannot run here: `test_skip("no strace");`. cmocka's own skip() is taken away,
 * because cmocka 1.1 reports it as "not ok", which meson reads as a failure.
 */
#undef skip
#define test_skip(reason)                                                                          \
    do {                                                                                           \
        fprintf(stderr, "# SKIP %s\n", reason);                                                    \
        return;                                                                                    \
    } while (0)

/* SplitMix64: small, seedable, good enough to choose between operations. */
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif /* WEIR_TEST_SUPPORT_H */
