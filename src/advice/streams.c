/*
 * advice/streams.c - feeds whose subscribers are slow, and routers whose work is on one worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "advice/look.h"

#define WORKERS_MAX 1024
#define BUSY_LEAST 0.5
#define WAITING_LEAST 100

/* ---- feeds ---- */

static void see_feed(weir__look *look, const weir__pair *pair)
{
    const weir__label slowest = weir__label_of(weir__look_text(pair->after, "slowest"));
    const char *who = slowest.text[0] != '\0' ? slowest.text : "a subscriber";
    const double gone = weir__look_gain(pair, "disconnected");
    const double waited = weir__look_gain(pair, "waited_ns") / 1e9;
    const double share = gone > 0 ? 1 : weir__look_part(waited, look->seconds, 0);
    weir__finding *f = weir__look_find(look, WEIR__RULE_SLOW_CONSUMER, share, "feed", pair->name);
    if (f != NULL && gone > 0) {
        weir__finding_say(f,
                          "%s subscribers were too slow and get nothing any more; the last one "
                          "that was waited for is '%s'",
                          weir__words_count(gone).text, who);
    } else if (f != NULL) {
        weir__finding_say(f,
                          "its source waited %s of the time for a slow subscriber, last for "
                          "'%s': everybody behind the feed gets its pace",
                          weir__words_share(share).text, who);
    }
    if (f != NULL) {
        weir__finding_remedy(f,
                             "make '%s' faster (a `dispatcher` with a thread of its own, "
                             "`instances` behind a router), or let it lose events instead: "
                             "weir.components.\"%s\".feed.slow-consumer = drop-oldest",
                             who, weir__label_of(pair->name).text);
    }
    const double dropped = weir__look_gain(pair, "dropped");
    const double lost = weir__look_part(dropped, weir__look_gain(pair, "delivered") + dropped, 0);
    f = weir__look_find(look, WEIR__RULE_DROPS, lost, "feed", pair->name);
    if (f != NULL) {
        weir__finding_say(f,
                          "%s copies were dropped for subscribers that were slow: %s of all; the "
                          "last one that was waited for is '%s'",
                          weir__words_count(dropped).text, weir__words_share(lost).text, who);
        weir__finding_remedy(f,
                             "make the subscriber faster, a larger "
                             "weir.components.\"%s\".feed.queue-max against bursts, or "
                             "slow-consumer = block where nothing may be lost",
                             weir__label_of(pair->name).text);
    }
}

/* ---- routers ---- */

typedef struct workers {
    unsigned count, hottest;
    double sum, most;  /* of the work */
    double depth;      /* of the hottest ... */
    double depth_sum;  /* ... and of all */
    double busy_share; /* of the hottest; NAN: not known */
} workers;

static void take_worker(workers *w, const weir__look *look, const weir__pair *worker, double work)
{
    const double depth = weir__look_number(worker->after, "depth");
    w->count++;
    w->sum += work;
    w->depth_sum += depth;
    if (w->count == 1 || work > w->most) {
        w->most = work;
        w->hottest = w->count - 1;
        w->depth = depth;
        w->busy_share = weir__look_gain(worker, "busy_ns") / 1e9 / look->seconds;
    }
}

/* By the time in handlers; where that is not taken, of routers with targets, by what the targets
 * have handled. */
static workers compare(const weir__look *look, const weir__pair *router, bool timed)
{
    const json_t *before = json_object_get(router->before, "worker");
    json_t *then = weir__look_index(json_object_get(look->before, "processors"), "processor");
    json_t *now = weir__look_index(json_object_get(look->after, "processors"), "processor");
    workers w = { .busy_share = NAN };
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(router->after, "worker"), i, item)
    {
        if (i == WORKERS_MAX) {
            break;
        }
        const weir__pair worker = { json_array_get(before, i), item, "" };
        const char *name = weir__look_text(item, "processor");
        const weir__pair target = { json_object_get(then, name), json_object_get(now, name), name };
        take_worker(&w, look, &worker,
                    timed ? weir__look_gain(&worker, "busy_ns")
                          : weir__look_gain(&target, "handled"));
    }
    json_decref(then);
    json_decref(now);
    return w;
}

static void see_router(weir__look *look, const weir__pair *pair)
{
    workers w = compare(look, pair, true);
    if (!(w.sum > 0)) {
        w = compare(look, pair, false);
    }
    if (w.count < 2 || !(w.sum > 0)) {
        return;
    }
    const bool waits = w.depth >= WAITING_LEAST && w.depth * w.count > w.depth_sum;
    if (!(w.busy_share >= BUSY_LEAST) && !waits) {
        return;
    }
    const double imbalance = w.most * w.count / w.sum;
    weir__finding *f = weir__look_find(look, WEIR__RULE_HOT_FLOW, imbalance, "router", pair->name);
    if (f != NULL) {
        weir__finding_say(f,
                          "worker %u of %u does %s of the work, %.1f times the mean, and %s events "
                          "wait for it: one key, or a few, are hot",
                          w.hottest, w.count, weir__words_share(w.most / w.sum).text, imbalance,
                          weir__words_count(w.depth).text);
        weir__finding_remedy(f,
                             "a finer key for the hot one (more workers do not help it: a key "
                             "stays on one), or cheaper handlers; if several hot keys share a "
                             "worker, weir.flows.\"%s\".migrate = true lets idle flows move",
                             weir__label_of(pair->name).text);
    }
}

void weir__look_at_streams(weir__look *look)
{
    if (look->seconds > 0) {
        weir__look_each(look, "feeds", "feed", see_feed);
        weir__look_each(look, "routers", "router", see_router);
    }
}
