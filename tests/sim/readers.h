/*
 * readers.h - subscribers of feeds on the stage: each notes the numbers it gets, which grow by one;
 * what is missing was counted as dropped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TESTS_SIM_READERS_H
#define WEIR_TESTS_SIM_READERS_H

#include "scenario.h"

#define READERS_MAX 4
#define READ_MAX 32

typedef struct reader {
    weir_processor handle;
    uint64_t turns; /* plain on purpose */
    uint32_t read[READ_MAX];
    uint32_t count;
    bool holds; /* its next event stays in the handler until it is released */
    bool held;
} reader;

/* ---- set-up: quiet, before stage_start ---- */

/* NULL: as the stage has it. */
void readers_open(const weir_engine_options *options);
/* A thread that alone serves this dispatcher. */
void readers_thread(const char *dispatcher);
reader *reader_add(const weir_processor_options *options);
weir_feed readers_feed(const weir_feed_options *options);
void reader_subscribe(weir_feed feed, const reader *which);

/* ---- the play ---- */

/* The next number of that sender (1 ...), from outside. Every other one lies in a block. */
weir_status readers_publish(weir_feed feed, uint32_t sender);
weir_feed_counters readers_counters(weir_feed feed);
void reader_hold(reader *which);
void reader_await_held(reader *which);
void reader_release(reader *which);
/* Until so many events were handled in all, although nothing else comes. */
void readers_settle(uint32_t handled);

/* ---- the end ---- */

/* Stops the engine, then the sums: every copy was handled, or counted as dropped by its feed; what
 * a reader got of one sender grows. */
void readers_close(weir_feed feed);
/* All of it, without a gap. */
void reader_check_all(const reader *which, uint32_t first, uint32_t last);

#endif /* WEIR_TESTS_SIM_READERS_H */
