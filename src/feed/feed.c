/*
 * feed/feed.c - feeds are opened, found, and end with their engine. The engine itself knows only
 * the hooks of engine/fed.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/feed.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "feed/lane.h"
#include "feed/position.h"
#include "feed/replay.h"

#define PATH "weir_feed_open"

static void free_feed(weir__feed *feed)
{
    weir_engine *engine = feed->engine;
    for (uint32_t i = 0; i < feed->lane_made; i++) {
        weir__lane_free(engine, feed->lanes[i]);
    }
    weir__release(&engine->allocator, feed->lanes, feed->lane_capacity * sizeof(weir__lane *));
    weir__replay_free(feed);
    weir__position_free(feed);
    weir__release_text(&engine->allocator, feed->name);
    weir__release(&engine->allocator, feed, sizeof(*feed));
}

static void close_feeds(weir_engine *engine)
{
    weir__feeds *feeds = weir__load(&engine->feeds, relaxed);
    const uint32_t count = weir__load(&feeds->count, relaxed);
    for (uint32_t i = 0; i < count; i++) {
        free_feed(weir__load(&feeds->all[i], relaxed));
    }
    weir__release(&engine->allocator, feeds, sizeof(*feeds));
}

static uint64_t count_waiting(weir_engine *engine)
{
    weir__feeds *feeds = weir__load(&engine->feeds, acquire);  /* [FD5] */
    const uint32_t count = weir__load(&feeds->count, acquire); /* [FD7] */
    uint64_t waiting = 0;
    for (uint32_t i = 0; i < count; i++) {
        weir__feed *feed = weir__load(&feeds->all[i], relaxed);
        weir__mutex_lock(&feed->lock);
        for (uint32_t j = 0; j < feed->lane_count; j++) {
            waiting += weir__lane_waiting(feed->lanes[j]);
        }
        weir__mutex_unlock(&feed->lock);
    }
    return waiting;
}

static const struct weir__fed_hooks hooks = { weir__lanes_room, count_waiting, close_feeds };

/* The engine's table of feeds, made by the first one. NULL: no memory. */
static weir__feeds *feeds_of(weir_engine *engine)
{
    weir__mutex_lock(&engine->registry.lock);
    weir__feeds *feeds = weir__load(&engine->feeds, relaxed);
    if (feeds == NULL) {
        feeds = weir__allocate(&engine->allocator, sizeof(*feeds));
        if (feeds != NULL) {
            engine->fed = &hooks;
            /* [FD6] pairs with [FD5] and [FD9]. */
            weir__store(&engine->feeds, feeds, release);
        }
    }
    weir__mutex_unlock(&engine->registry.lock);
    return feeds;
}

/* feeds->lock held, or any thread that can do with what is there now. */
static weir__feed *by_name(weir__feeds *feeds, const char *name)
{
    const uint32_t count = weir__load(&feeds->count, acquire); /* [FD7] */
    for (uint32_t i = 0; i < count; i++) {
        weir__feed *feed = weir__load(&feeds->all[i], relaxed);
        if (strcmp(feed->name, name) == 0) {
            return feed;
        }
    }
    return NULL;
}

static weir__feed *make(weir_engine *engine, const weir_feed_options *o)
{
    weir__feed *feed = weir__allocate(&engine->allocator, sizeof(*feed));
    if (feed == NULL) {
        return NULL;
    }
    feed->engine = engine;
    feed->options = *o;
    feed->begun = o->replay_max == 0;
    feed->named = UINT64_MAX; /* nobody has been looked for yet */
    if (!weir__copy_text(&engine->allocator, o->name, &feed->name) || !weir__replay_make(feed)) {
        free_feed(feed);
        return NULL;
    }
    feed->options.name = feed->name;
    return feed;
}

/* feeds->lock held. */
static weir_feed open(weir_engine *engine, weir__feeds *feeds, const weir_feed_options *o,
                      weir_error *error)
{
    const weir_feed none = { 0 };
    const uint32_t number = weir__load(&feeds->count, relaxed);
    if (number == WEIR__FEEDS_MAX) {
        weir__error_at(error, WEIR_E_LIMIT, PATH, "an engine has at most %u in its life",
                       WEIR__FEEDS_MAX);
        return none;
    }
    if (by_name(feeds, o->name) != NULL) {
        weir__error_at(error, WEIR_E_TAKEN, "weir_feed_options.name",
                       "is \"%.100s\", which is taken", o->name);
        return none;
    }
    weir__feed *feed = make(engine, o);
    if (feed == NULL) {
        weir__error_memory(error, PATH);
        return none;
    }
    feed->id = engine->serial << WEIR__FEED_NUMBER_BITS | (number + 1);
    weir__store(&feeds->all[number], feed, relaxed);
    weir__store(&feeds->count, number + 1, release); /* [FD8] pairs with [FD7] */
    return (weir_feed){ feed->id };
}

weir_feed weir_feed_open(weir_engine *engine, const weir_feed_options *options, weir_error *error)
{
    weir_feed out = { 0 };
    weir_feed_options checked;
    if (weir__error_is_set(error)) {
        return out;
    }
    if (!weir__engine_usable(engine)) {
        weir__error_at(error, WEIR_E_INVALID, PATH ".engine", "is no usable engine");
        return out;
    }
    if (weir__options_feed(options, &checked, error) != WEIR_OK) {
        return out;
    }
    weir__feeds *feeds = feeds_of(engine);
    if (feeds == NULL) {
        weir__error_memory(error, PATH);
        return out;
    }
    weir__mutex_lock(&feeds->lock);
    out = open(engine, feeds, &checked, error);
    weir__mutex_unlock(&feeds->lock);
    return out;
}

weir_feed weir_feed_find(weir_engine *engine, const char *name)
{
    weir__feeds *feeds =
        weir__engine_usable(engine) ? weir__load(&engine->feeds, acquire) : NULL; /* [FD5] */
    const weir__feed *feed = feeds != NULL && name != NULL ? by_name(feeds, name) : NULL;
    return (weir_feed){ feed != NULL ? feed->id : 0 };
}

void weir_feed_visit(weir_engine *engine,
                     bool (*visit)(void *context, weir_feed feed, const char *name), void *context)
{
    weir__feeds *feeds =
        weir__engine_usable(engine) ? weir__load(&engine->feeds, acquire) : NULL;  /* [FD5] */
    const uint32_t count = feeds != NULL ? weir__load(&feeds->count, acquire) : 0; /* [FD7] */
    bool goes_on = visit != NULL;
    for (uint32_t i = 0; goes_on && i < count; i++) {
        const weir__feed *feed = weir__load(&feeds->all[i], relaxed);
        goes_on = visit(context, (weir_feed){ feed->id }, feed->name);
    }
}

/* ---- its writer ---- */

/* A foreign thread that has ended has given its context back. */
static bool has_ended(weir__context *context)
{
    /* [X2] pairs with [X1]. */
    return context->thread == NULL && weir__load(&context->in_use, acquire) == 0;
}

bool weir__feed_is_writer(weir__feed *feed, weir__context *context)
{
    weir__context *writer = weir__load(&feed->writer, relaxed);
    if (weir__likely(writer == context) || feed->options.many_writers) {
        return true;
    }
    if (writer != NULL && !has_ended(writer)) {
        return false;
    }
    /* [FD13] pairs with itself: what the writer before has done. */
    return weir__cas(&feed->writer, &writer, context, acq_rel, relaxed);
}

void weir__feed_free_writer(weir__feed *feed)
{
    weir__store(&feed->writer, NULL, release); /* [FD13] */
}
