/*
 * feed/absent.c - what stands in for feeds until they are there: weak, so that theirs count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "weir/feed.h"

#define ABSENT __attribute__((weak))

ABSENT weir_feed weir_feed_open(weir_engine *engine, const weir_feed_options *options,
                                weir_error *error)
{
    (void)engine;
    (void)options;
    (void)error;
    return (weir_feed){ 1 };
}

ABSENT weir_feed weir_feed_find(weir_engine *engine, const char *name)
{
    (void)engine;
    (void)name;
    return (weir_feed){ 1 };
}

ABSENT weir_status weir_feed_subscribe(weir_engine *engine, weir_feed feed, weir_processor who)
{
    (void)engine;
    (void)feed;
    (void)who;
    return WEIR_OK;
}

ABSENT weir_status weir_feed_unsubscribe(weir_engine *engine, weir_feed feed, weir_processor who)
{
    (void)engine;
    (void)feed;
    (void)who;
    return WEIR_OK;
}

ABSENT weir_status weir_feed_begin(weir_engine *engine, weir_feed feed)
{
    (void)engine;
    (void)feed;
    return WEIR_UNKNOWN;
}

ABSENT bool weir_feed_committed(weir_engine *engine, weir_feed feed, uint64_t *position)
{
    (void)engine;
    (void)feed;
    (void)position;
    return false;
}

ABSENT weir_origin *weir_turn_origin(weir_turn *turn)
{
    (void)turn;
    return NULL;
}

ABSENT void weir_origin_release(weir_origin *origin)
{
    (void)origin;
}

ABSENT weir_status weir_feed_counters_get(weir_engine *engine, weir_feed feed,
                                          weir_feed_counters *out)
{
    (void)engine;
    (void)feed;
    (void)out;
    return WEIR_UNKNOWN;
}

ABSENT void weir_feed_visit(weir_engine *engine,
                            bool (*visit)(void *context, weir_feed feed, const char *name),
                            void *context)
{
    (void)engine;
    (void)visit;
    (void)context;
}
