/*
 * feed/publish.c - mapper, sequence, every lane.
 *
 * All lanes that have room get the event first; those that have none are seen to together
 * afterwards (feed/slow.c). The feed's lock makes one order of several writers, and keeps who reads
 * what as it is; while a publisher waits it has the feed (`busy`), not the lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/publish.h"

#include <string.h>

#include "engine/probe.h"
#include "engine/ready.h"
#include "engine/room.h"
#include "engine/straight.h"
#include "engine/traceparent.h"
#include "feed/lane.h"
#include "feed/members.h"
#include "feed/position.h"
#include "feed/replay.h"
#include "sync/tell.h"
#include "sync/word.h"

/* ---- into lanes: feed's lock held, inside the mark ---- */

/* Nobody reads there any more. */
static void note_gone(weir__issue *issue, weir_status status)
{
    weir__add(&issue->feed->gone, 1, relaxed);
    issue->feed->sums.dropped++;
    weir__post_count_refusal(&issue->by, status);
}

/* One copy more of what they have in common; and back, which is never the last: the parcel has
 * one. */
static inline void share(const weir__issue *issue)
{
    (void)weir_block_take(issue->parcel.block);
    if (weir__unlikely(issue->origin != NULL)) {
        weir__origin_hold(issue->origin, 1);
    }
}

WEIR__SELDOM static void unshare(const weir__issue *issue)
{
    if (issue->parcel.block != NULL) {
        weir__block_give_many(issue->parcel.block, 1);
    }
    if (issue->origin != NULL) {
        weir__origin_give(issue->origin, 1);
    }
}

/* Straight into the mailbox of a subscriber for whom nothing waits. */
static weir_status offer(weir__issue *issue, weir__lane *lane)
{
    weir__context *context = issue->by.context;
    weir__registry *registry = &context->engine->registry;
    const weir_processor to = lane->readers[0]->subscriber;
    weir__processor *processor = weir__registry_find(registry, to);
    if (processor != NULL &&
        !weir__stock_suffices(&context->stock, processor->mailbox.page_class)) {
        const uint32_t page_class = processor->mailbox.page_class;
        weir__context_leave(context);
        const bool filled = weir__stock_fill(&context->stock, page_class, 1);
        weir__context_enter(context);
        if (!filled) {
            return WEIR_E_NOMEM;
        }
        processor = weir__registry_find(registry, to); /* we were outside the mark */
    }
    if (processor == NULL) {
        return WEIR_UNKNOWN;
    }
    share(issue);
    const weir_status status =
        weir__claim_status(weir__offer_to(&issue->by, processor, &issue->parcel));
    if (weir__unlikely(status != WEIR_OK)) {
        unshare(issue);
        return status;
    }
    WEIR__PROBE2(posts, to.id, 1);
    return WEIR_OK;
}

/* Into a lane of one subscriber. False: it has no room. */
static bool put_single(weir__issue *issue, weir__lane *lane)
{
    weir__feed *feed = issue->feed;
    if (weir__lane_is_empty(lane)) {
        const weir_status status = offer(issue, lane);
        if (weir__likely(status == WEIR_OK)) {
            feed->sums.delivered++;
            return true;
        }
        if (status == WEIR_E_NOMEM) {
            feed->sums.dropped++;
            weir__post_count_refusal(&issue->by, status);
            return true;
        }
        if (status != WEIR_FULL) {
            note_gone(issue, status);
            return true;
        }
    }
    return false;
}

/* False: it has no room. */
static bool put(weir__issue *issue, weir__lane *lane)
{
    if (lane->thread.id == 0) {
        return put_single(issue, lane);
    }
    if (weir__unlikely(!weir__spsc_has_room(&lane->ring))) {
        return false;
    }
    if (weir__lane_push(lane, &issue->parcel, issue->origin)) {
        weir__context_leave(issue->by.context);
        weir__lane_announce(issue->by.context, lane);
        weir__context_enter(issue->by.context);
    }
    return true;
}

/* ---- an event ---- */

/* Every copy is a post that was begun. */
static void refuse_all(const weir__issue *issue, weir_status status)
{
    for (uint32_t i = 0; i < issue->feed->readers; i++) {
        weir__post_count_refusal(&issue->by, status);
    }
}

static weir_status put_all(weir__issue *issue)
{
    weir__feed *feed = issue->feed;
    weir__context *context = issue->by.context;
    weir__cell_add(&context->tally.attempted, feed->readers);
    weir__context_enter(context);
    if (!weir__post_is_open(&issue->by)) {
        weir__context_leave(context);
        refuse_all(issue, WEIR_STOPPING);
        return WEIR_STOPPING;
    }
    for (uint32_t i = 0; i < feed->lane_count; i++) {
        weir__lane *lane = feed->lanes[i];
        if (weir__unlikely(!put(issue, lane))) {
            lane->slow = true;
            lane->owed = weir__load(&lane->count, relaxed);
            lane->next_slow = issue->slow;
            issue->slow = lane;
        }
    }
    weir__context_leave(context);
    return WEIR_OK;
}

weir_status weir__issue_deliver(weir__issue *issue)
{
    weir__feed *feed = issue->feed;
    if (weir__unlikely(weir__members_are_due(feed))) {
        weir__members_settle(issue->by.context, feed);
    }
    if (weir__unlikely(issue->by.context->thread != NULL) && weir__issue_waits_for_itself(issue)) {
        return WEIR_FULL;
    }
    const weir_status status = put_all(issue);
    if (weir__unlikely(issue->slow != NULL)) {
        weir__issue_wait(issue);
    }
    return status == WEIR_OK && issue->cut ? WEIR_STOPPING : status;
}

/* What is let go of when no lock is held. */
typedef struct rest {
    weir__parcel parcel; /* its data is NULL: nothing */
    weir_block *named;
    weir_event kept;
} rest;

/* Feed's lock held. Wrapped if it is to be, packed, delivered. */
static weir_status issue_event(weir__feed *feed, const weir__posting *by, const weir_event *event,
                               const weir__kept_event *kept, rest *left)
{
    weir__issue issue = {
        .feed = feed, .by = *by, .event = *event, .origin = weir__posting_origin(by)
    };
    weir_status status = WEIR_OK;
    if (feed->options.named) {
        status = weir__named_wrap(feed, event, kept != NULL ? kept->sequence : feed->sequence + 1,
                                  kept != NULL ? kept->time : weir__clock_now(), kept != NULL,
                                  &issue.event);
        left->named = status == WEIR_OK ? issue.event.block : NULL;
    }
    if (status == WEIR_OK) {
        status = weir__parcel_pack(&issue.by, &issue.event, &issue.parcel);
    }
    if (status == WEIR_OK) {
        left->parcel = issue.parcel;
        status = weir__issue_deliver(&issue);
    }
    return status;
}

/* ---- the writer's calls ---- */

/* Feed's lock held at the end, and no publisher waits. False: the caller must not wait. */
static bool take(weir__feed *feed, const weir__posting *by)
{
    weir_engine *engine = feed->engine;
    weir__room_wait *wait = &engine->feed_wait;
    weir__mutex_lock(&feed->lock);
    while (weir__unlikely(feed->busy)) {
        if (by->in_handler || !weir__post_is_open(by)) {
            weir__mutex_unlock(&feed->lock);
            return false;
        }
        weir__add(&engine->room_waiters, 1, seq_cst);
        weir__add(&wait->waiters, 1, seq_cst);
        const uint32_t seen = weir__load(&wait->word, seq_cst);
        const bool busy = feed->busy;
        weir__mutex_unlock(&feed->lock);
        if (busy && weir__post_is_open(by)) {
            (void)weir__word_wait(&wait->word, seen, WEIR_FOREVER);
        }
        weir__sub(&wait->waiters, 1, seq_cst);
        weir__sub(&engine->room_waiters, 1, seq_cst);
        weir__mutex_lock(&feed->lock);
    }
    return true;
}

/* An event that the mapper has made, or the one that was published. */
static weir_status map(weir__feed *feed, const weir_event *in, weir_event *out)
{
    *out = (weir_event){ .type = NULL };
    const weir_status status = feed->options.mapper(feed->options.mapper_context, in, out);
    if (status == WEIR_OK) {
        return weir__parcel_check(out) == WEIR_OK ? WEIR_OK : WEIR_E_TYPE;
    }
    return status == WEIR_ALREADY ? WEIR_E_FAILED : status;
}

static void count_unmapped(weir__feed *feed, weir_status status)
{
    weir__mutex_lock(&feed->lock);
    if (status == WEIR_DROPPED) {
        feed->sums.filtered++;
    } else {
        feed->sums.failed++;
    }
    weir__mutex_unlock(&feed->lock);
    if (status != WEIR_DROPPED) {
        const weir_log_field field = { "feed", feed->name };
        weir__log_say(&feed->engine->log, &feed->failed_gate, WEIR_LOG_WARNING, status, "feed",
                      "its mapper failed: the event is not published", &field, 1);
    }
}

/* Feed's lock held. */
static weir_status accept(weir__feed *feed, const weir__posting *by, const weir_event *event,
                          rest *left)
{
    weir_status status;
    if (weir__unlikely(!feed->begun)) {
        status = weir__post_is_open(by)
                     ? weir__replay_keep(feed, event, feed->sequence + 1, &left->kept)
                     : WEIR_STOPPING;
    } else {
        status = issue_event(feed, by, event, NULL, left);
    }
    if (weir__likely(status == WEIR_OK)) {
        feed->sequence++;
        feed->sums.published++;
    }
    return status;
}

/* What is at hand while something is published, if it is not what was at hand before. */
typedef struct entrance {
    bool entered;
    weir_origin *at_hand; /* before, and after; or NULL */
    weir_origin *made;    /* a carrier in front of the feed's own, to be released; or NULL */
} entrance;

/* Feed's lock held. What is published from here on carries what the feed's next mark is to know of,
 * unless the publisher handles an event whose end somebody wants to know. If *in says that it was
 * entered: leave it afterwards. */
static weir_status enter_origin(weir__feed *feed, weir__context *context, entrance *in)
{
    weir_origin *origin = NULL;
    *in = (entrance){ .at_hand = context->origin };
    if (weir__origin_tracking(in->at_hand) != NULL) {
        return WEIR_OK;
    }
    const weir_status status = weir__position_origin(feed, &origin);
    if (status != WEIR_OK || origin == NULL) {
        return status;
    }
    if (weir__unlikely(in->at_hand != NULL)) {
        in->made = weir__carrier_before(feed->engine, in->at_hand, origin);
        if (in->made == NULL) {
            return WEIR_E_NOMEM;
        }
        origin = in->made;
    }
    in->entered = true;
    weir__origin_enter(context, origin);
    return WEIR_OK;
}

/* No lock held: the last reference to what was made may be ours. */
static void leave_origin(weir__context *context, const entrance *in)
{
    if (in->at_hand != NULL) {
        weir__origin_enter(context, in->at_hand);
    } else {
        weir__origin_leave(context);
    }
    if (in->made != NULL) {
        weir__origin_release(in->made);
    }
}

/* Feed's lock held, and given up: no code of the application runs under it. */
static void let_go(weir__feed *feed, const weir__posting *by, rest *left, const entrance *in)
{
    const char *warning = feed->warning;
    char slowest[sizeof(feed->sums.slowest)];
    if (weir__unlikely(warning != NULL)) {
        memcpy(slowest, feed->sums.slowest, sizeof(slowest));
        feed->warning = NULL;
    }
    weir__mutex_unlock(&feed->lock);
    weir__parcel_unpack(by, &left->parcel);
    weir_block_release(left->named);
    weir_event_release(&left->kept);
    if (weir__unlikely(in->entered)) {
        leave_origin(by->context, in);
    }
    if (weir__unlikely(warning != NULL)) {
        const weir_log_field fields[] = { { "feed", feed->name }, { "subscriber", slowest } };
        weir__log_say(&feed->engine->log, &feed->slow_gate, WEIR_LOG_WARNING, WEIR_FULL, "feed",
                      warning, fields, 2);
    }
}

static weir_status publish(weir__feed *feed, const weir__posting *by, const weir_event *event)
{
    rest left = { .named = NULL };
    entrance in;
    if (!take(feed, by)) {
        return weir__post_is_open(by) ? WEIR_FULL : WEIR_STOPPING;
    }
    weir_status status = enter_origin(feed, by->context, &in);
    if (status == WEIR_OK) {
        status = accept(feed, by, event, &left);
    }
    let_go(feed, by, &left, &in);
    if (weir__tell_begin()) {
        weir__tell_end("publishes %s into %s: %s", event->type->name, feed->name,
                       weir_status_name(status));
    }
    return status;
}

/* With many writers the mapper is called by one at a time, and what it has made is copied, since
 * that lives until its next call. Nobody waits for a subscriber with that lock. */
static weir_status map_alone(weir__feed *feed, const weir_event *in, weir_event *kept)
{
    weir_event out;
    weir__mutex_lock(&feed->map_lock);
    weir_status status = map(feed, in, &out);
    if (status == WEIR_OK) {
        status = weir_event_keep(feed->engine, &out, kept);
    }
    weir__mutex_unlock(&feed->map_lock);
    return status;
}

static weir_status publish_mapped(weir__feed *feed, const weir__posting *by, const weir_event *in)
{
    weir_event out = { .type = NULL };
    const bool many = feed->options.many_writers;
    weir_status status = many ? map_alone(feed, in, &out) : map(feed, in, &out);
    if (status == WEIR_OK) {
        status = publish(feed, by, &out);
    } else {
        count_unmapped(feed, status);
    }
    if (many) {
        weir_event_release(&out);
    }
    return status;
}

weir_status weir_feed_publish(weir_engine *engine, weir_feed handle, const weir_event *event)
{
    weir__posting by;
    if (weir__unlikely(!weir__post_outside(engine, &by))) {
        return weir__post_why_not(engine);
    }
    weir__feed *feed = weir__feed_find(engine, handle);
    if (weir__unlikely(feed == NULL)) {
        return weir__engine_usable(engine) ? WEIR_UNKNOWN : WEIR_E_INVALID;
    }
    const weir_status status = weir__parcel_check(event);
    if (weir__unlikely(status != WEIR_OK)) {
        return status;
    }
    if (weir__unlikely(!weir__feed_is_writer(feed, by.context))) {
        return WEIR_E_INVALID;
    }
    return feed->options.mapper != NULL ? publish_mapped(feed, &by, event)
                                        : publish(feed, &by, event);
}

/* The next one that was kept. ALREADY: there is none, and the feed had begun; *over: it has now. */
static weir_status replay_one(weir__feed *feed, const weir__posting *by, bool *over)
{
    rest left = { .named = NULL };
    entrance in = { .entered = false };
    if (!take(feed, by)) {
        return weir__post_is_open(by) ? WEIR_FULL : WEIR_STOPPING;
    }
    const weir__kept_event *first = weir__replay_first(feed);
    weir_status status = WEIR_OK;
    if (first == NULL) {
        status = feed->begun ? WEIR_ALREADY : WEIR_OK;
        feed->begun = true;
        *over = true;
    } else {
        const weir__kept_event kept = *first;
        status = enter_origin(feed, by->context, &in);
        status = status == WEIR_OK ? issue_event(feed, by, &kept.event, &kept, &left) : status;
        if (status == WEIR_OK) {
            left.kept = weir__replay_take(feed);
            feed->sums.replayed++;
        }
    }
    let_go(feed, by, &left, &in);
    return status;
}

weir_status weir_feed_begin(weir_engine *engine, weir_feed handle)
{
    weir__posting by;
    if (!weir__post_outside(engine, &by)) {
        return weir__post_why_not(engine);
    }
    weir__feed *feed = weir__feed_find(engine, handle);
    if (feed == NULL) {
        return weir__engine_usable(engine) ? WEIR_UNKNOWN : WEIR_E_INVALID;
    }
    if (!weir__feed_is_writer(feed, by.context)) {
        return WEIR_E_INVALID;
    }
    weir_status status = WEIR_OK;
    for (bool over = false; status == WEIR_OK && !over;) {
        status = replay_one(feed, &by, &over);
    }
    return status;
}
