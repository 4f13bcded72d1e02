/*
 * sync/word.h - sleep until a word changes.
 *
 * Read the word BEFORE every condition that it guards; then wait with the value that was read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_WORD_H
#define WEIR_SYNC_WORD_H

#include "sync/atomic.h"
#include "weir/base.h"

/* Sleeps while *word == expected, at most `timeout` (WEIR_FOREVER: no limit; <= 0: not at all).
 * False: the time was over. True: woken, changed, or for no reason: look again. */
bool weir__word_wait(weir__atomic_u32 *word, uint32_t expected, weir_ns timeout);

/* Wakes up to `count` sleepers. Async-signal-safe; keeps errno. */
void weir__word_wake(weir__atomic_u32 *word, uint32_t count);

#endif /* WEIR_SYNC_WORD_H */
