/*
 * sim_support.h - what the tests of the simulator itself share.
 *
 * They are compiled with the race detector's instrumentation: plain statics that two simulated
 * threads touch are looked at, which is what half of the tests are about.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TESTS_SIM_SUPPORT_H
#define WEIR_TESTS_SIM_SUPPORT_H

#include <string.h>

#include "../test_support.h"
#include "sync/atomic.h"
#include "sync/word.h"
#include "weir/sim.h"

/* Explores, and fails the test if that is not possible. */
static inline weir_sim_result explored(const weir_sim_options *options, void (*body)(void *))
{
    weir_sim_result result = WEIR_SIM_RESULT_INIT;
    assert_int_equal(WEIR_OK, weir_sim_explore(options, body, NULL, &result));
    return result;
}

static inline void finds(const char *what, const weir_sim_options *options, void (*body)(void *))
{
    const weir_sim_result result = explored(options, body);
    if (!result.failed || strstr(result.why, what) == NULL) {
        print_error("expected \"%s\", got: %s\n", what, result.failed ? result.why : "no failure");
    }
    assert_true(result.failed);
    assert_non_null(strstr(result.why, what));
    assert_true(result.replay[0] != '\0');
}

static inline void finds_nothing(const weir_sim_options *options, void (*body)(void *))
{
    const weir_sim_result result = explored(options, body);
    if (result.failed) {
        print_error("expected no failure, got: %s\n", result.why);
    }
    assert_false(result.failed);
}

/* Every order, with as many preemptions as there can be. */
#define EVERY_ORDER(fault_bits)                                                                    \
    WEIR_SIM(.strategy = WEIR_SIM_EXHAUSTIVE, .depth = 16, .faults = (fault_bits))

/* Runs `second` beside `first`. */
static inline void both(void (*first)(void *), void (*second)(void *))
{
    const int thread = weir_sim_thread_start(second, NULL);
    first(NULL);
    weir_sim_thread_join(thread);
}

#endif /* WEIR_TESTS_SIM_SUPPORT_H */
