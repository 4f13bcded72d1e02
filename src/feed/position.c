/*
 * feed/position.c - marks, and what is committed of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/position.h"

weir_status weir__position_origin(weir__feed *feed, weir_origin **out)
{
    (void)feed;
    *out = NULL;
    return WEIR_OK;
}

void weir__position_sums(weir__feed *feed, weir_feed_counters *sums)
{
    (void)feed;
    (void)sums;
}

void weir__position_free(weir__feed *feed)
{
    (void)feed;
}
