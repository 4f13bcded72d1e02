/*
 * feed/words.h - a feed's slow-consumer policies as words of a configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FEED_WORDS_H
#define WEIR_FEED_WORDS_H

#include "weir/feed.h"

/* In the order of weir_slow_consumer, from WEIR_SLOW_BACKOFF on; ends with NULL. */
extern const char *const weir__slow_words[];

/* WEIR_SLOW_DEFAULT: no such word. */
weir_slow_consumer weir__slow_of_word(const char *word);
/* Of the default, too. */
const char *weir__slow_word(weir_slow_consumer slow);

#endif /* WEIR_FEED_WORDS_H */
