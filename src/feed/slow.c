/*
 * feed/slow.c - lanes that have no room: who keeps them full, and what becomes of it.
 *
 *     drop-oldest   at once: what has waited longest for the slow one goes
 *     backoff       the same, after slow_max in vain; and at once from then on, until it has taken
 *                   something again: one that is dead costs its bound once
 *     disconnect    after slow_max in vain it is no subscriber any more
 *     block         until there is room, or it is gone, or the engine stops
 *
 * All slow lanes of an event are waited for together, so their bounds do not add up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/room.h"
#include "feed/lane.h"
#include "feed/members.h"
#include "feed/place.h"
#include "feed/publish.h"
#include "sync/word.h"

#ifdef WEIR_SIMULATED
#define LOOKS_BEFORE_SLEEP 2u
#else
#define LOOKS_BEFORE_SLEEP 256u /* some 100 us: a sleep, and who ends it, cost as much */
#endif

/* ---- one lane: feed's lock held ---- */

static bool has_room(weir__lane *lane)
{
    return lane->ring.places != NULL && weir__spsc_has_room(&lane->ring);
}

/* The ring, after what can be pumped out of it was. */
static bool make_room(weir__issue *issue, weir__lane *lane)
{
    if (!weir__lane_open(lane)) {
        return false;
    }
    if (!has_room(lane)) {
        (void)weir__lane_pump(issue->by.context, lane);
    }
    return has_room(lane);
}

bool weir__issue_try(weir__issue *issue, weir__lane *lane)
{
    if (!make_room(issue, lane)) {
        return false;
    }
    if (weir__lane_push(lane, &issue->parcel, issue->origin)) {
        /* Of a subscriber: this finds its mailbox full and says so, or finds room. */
        (void)weir__lane_pump(issue->by.context, lane);
    }
    return true;
}

/* The last `count` copies that are owed to it will not come. */
static void give_up(weir__issue *issue, weir__lane *lane, uint32_t count, weir_status status)
{
    lane->owed -= count;
    for (; count > 0; count--) {
        weir__post_count_refusal(&issue->by, status);
        issue->feed->sums.dropped++;
    }
}

/* As many copies are owed as there are readers: some may have gone while we waited; nobody has come
 * (feed/members.c). */
static void count_again(weir__issue *issue, weir__lane *lane)
{
    const uint32_t count = weir__load(&lane->count, relaxed);
    WEIR_ASSERT(count <= lane->owed);
    give_up(issue, lane, lane->owed - count, WEIR_UNKNOWN);
}

/* Drops what has waited longest, until there is room. */
static void force(weir__issue *issue, weir__lane *lane, bool late)
{
    if (!weir__lane_open(lane)) {
        give_up(issue, lane, lane->owed, WEIR_E_NOMEM); /* no ring, nobody to wait for */
        return;
    }
    while (!weir__issue_try(issue, lane)) {
        (void)weir__lane_drop_oldest(issue->by.context, lane, late);
    }
}

/* ---- the slow lanes of an issue: feed's lock held ---- */

bool weir__issue_waits_for_itself(weir__issue *issue)
{
    weir__feed *feed = issue->feed;
    if (feed->options.slow == WEIR_SLOW_DROP_OLDEST) {
        return false;
    }
    for (uint32_t i = 0; i < feed->lane_count; i++) {
        weir__lane *lane = feed->lanes[i];
        if (lane->ring.places == NULL || has_room(lane) || make_room(issue, lane)) {
            continue;
        }
        const weir_processor slow = weir__lane_slow_reader(lane, true);
        if (slow.id != 0 && weir__place_is_mine(issue->by.context, lane, slow)) {
            return true;
        }
    }
    return false;
}

/* Takes those out that have room now, have no reader any more, or are not to be waited for. */
static void retry(weir__issue *issue)
{
    weir__lane **at = &issue->slow;
    while (*at != NULL) {
        weir__lane *lane = *at;
        count_again(issue, lane);
        bool over = weir__load(&lane->count, relaxed) == 0 || weir__issue_try(issue, lane);
        if (!over && (issue->feed->options.slow == WEIR_SLOW_DROP_OLDEST ||
                      lane->ring.places == NULL || weir__lane_slow_reader(lane, true).id == 0)) {
            force(issue, lane, true);
            over = true;
        }
        if (over) {
            lane->slow = false;
            *at = lane->next_slow;
        } else {
            at = &lane->next_slow;
        }
    }
}

/* Their time is over. */
static void end_slow(weir__issue *issue)
{
    weir__feed *feed = issue->feed;
    while (issue->slow != NULL) {
        weir__lane *lane = issue->slow;
        weir_processor slow = weir__lane_slow_reader(lane, false);
        while (feed->options.slow == WEIR_SLOW_DISCONNECT && slow.id != 0 && !has_room(lane)) {
            (void)weir__members_remove(issue->by.context, feed, slow);
            feed->sums.disconnected++;
            slow = weir__lane_slow_reader(lane, false);
        }
        count_again(issue, lane);
        if (lane->owed > 0) {
            force(issue, lane, true);
        }
        lane->slow = false;
        issue->slow = lane->next_slow;
    }
}

/* The engine stops: they do not get it. */
static void cut(weir__issue *issue)
{
    for (weir__lane *lane = issue->slow; lane != NULL; lane = lane->next_slow) {
        give_up(issue, lane, lane->owed, WEIR_STOPPING);
        lane->slow = false;
        issue->cut = true;
    }
    issue->slow = NULL;
}

static void name_slowest(weir__issue *issue)
{
    weir__feed *feed = issue->feed;
    const weir_processor slow = weir__lane_slow_reader(issue->slow, true);
    if (slow.id != 0) {
        (void)weir_processor_name(feed->engine, slow, feed->sums.slowest,
                                  sizeof(feed->sums.slowest));
    }
}

/* Sleeps without the lock, until somebody makes room, or the time is over. */
static void rest(weir__issue *issue, uint32_t seen, weir_ns deadline, uint32_t looks)
{
    weir__feed *feed = issue->feed;
    feed->busy = true;
    weir__mutex_unlock(&feed->lock);
    if (looks < LOOKS_BEFORE_SLEEP) {
        weir__yield();
    } else {
        (void)weir__wait_until(&feed->engine->feed_wait.word, seen, deadline);
    }
    weir__mutex_lock(&feed->lock);
    feed->busy = false;
}

/* True: the time was over first. */
static bool wait_for_room(weir__issue *issue, weir_ns deadline)
{
    weir_engine *engine = issue->feed->engine;
    weir__room_wait *wait = &engine->feed_wait;
    bool late = false;
    weir__add(&engine->pressed, 1, seq_cst);
    weir__add(&engine->room_waiters, 1, seq_cst);
    weir__add(&wait->waiters, 1, seq_cst);
    for (uint32_t looks = 0;; looks++) {
        /* The word before the condition: a wake-up between the two is not lost. */
        const uint32_t seen = weir__load(&wait->word, seq_cst);
        weir__fence(seq_cst);
        retry(issue);
        late = weir__clock_now() >= deadline;
        if (issue->slow == NULL || late || !weir__post_is_open(&issue->by)) {
            break;
        }
        name_slowest(issue);
        rest(issue, seen, deadline, looks);
    }
    weir__sub(&wait->waiters, 1, seq_cst);
    weir__sub(&engine->room_waiters, 1, seq_cst);
    weir__sub(&engine->pressed, 1, seq_cst);
    return late;
}

void weir__issue_wait(weir__issue *issue)
{
    weir__feed *feed = issue->feed;
    const weir_slow_consumer policy = feed->options.slow;
    retry(issue);
    if (issue->slow == NULL) {
        return;
    }
    const weir_ns began = weir__clock_now();
    const weir_ns bound = policy == WEIR_SLOW_BLOCK ? WEIR_FOREVER : feed->options.slow_max;
    const weir_ns deadline = bound < WEIR_FOREVER - began ? began + bound : WEIR_FOREVER;
    feed->sums.waits++;
    const bool late = wait_for_room(issue, deadline);
    feed->sums.waited_ns += (uint64_t)(weir__clock_now() - began);
    if (issue->slow != NULL && late) {
        feed->warning = policy == WEIR_SLOW_DISCONNECT
                            ? "a subscriber was too slow, and is none any more"
                            : "a subscriber is too slow, and loses what has waited longest";
        end_slow(issue);
    } else if (issue->slow != NULL) {
        cut(issue);
    }
    weir__room_wake_publishers(feed->engine); /* another one may wait for the feed */
}
