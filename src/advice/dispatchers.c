/*
 * advice/dispatchers.c - locks, threads and wake-ups of dispatchers; how evenly they are served.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "advice/look.h"

#define ATTEMPTS_LEAST 1000 /* a second: below, a few failures say nothing */
#define ROUNDS_LEAST 100
#define WAKES_LEAST 100
#define WAITING_LEAST 100 /* events: fewer may lie there at any look */
#define FULL_THREAD 0.7   /* how busy a thread may be planned to be */

typedef struct crew {
    double threads; /* that serve it */
    double work;    /* threads' worth of it; NAN: not known */
    double enough;  /* threads that would do */
} crew;

static crew crew_of(const weir__look *look, const weir__pair *pair)
{
    unsigned seen;
    crew c = { .threads = weir__look_number(pair->after, "threads") };
    c.work = weir__look_work_of(look, pair->name, &seen);
    c.enough = ceil(c.work / FULL_THREAD);
    if (!(c.enough <= look->cores)) { /* NAN, of either: what is known of the other */
        c.enough = isnan(look->cores) ? c.enough : look->cores;
    }
    c.enough = c.enough >= 1 ? c.enough : 1;
    return c;
}

/* What is said of both rules about the lock must not be at odds. */
static bool is_overmanned(const weir__look *look, const crew *c)
{
    return c->threads >= 2 && (c->work + 1 < c->threads || c->threads > look->cores) &&
           c->enough < c->threads;
}

static void see_lock(weir__look *look, const weir__pair *pair, const crew *c)
{
    const double contention =
        weir__look_part(weir__look_gain(pair, "try_locks_failed"),
                        weir__look_gain(pair, "try_locks"), ATTEMPTS_LEAST * look->seconds);
    const bool overmanned = is_overmanned(look, c);
    const weir__label name = weir__label_dispatcher(pair->name);
    weir__finding *f = overmanned ? weir__look_find(look, WEIR__RULE_TOO_MANY_THREADS, contention,
                                                    "dispatcher", pair->name)
                                  : NULL;
    if (f != NULL) {
        weir__finding_say(f,
                          "%.0f threads serve it, on %s usable cores, with work for %s: they are "
                          "in each other's way at %s of all looks into its queue",
                          c->threads, weir__words_number(look->cores).text,
                          weir__words_number(c->work).text, weir__words_share(contention).text);
        weir__finding_remedy(f,
                             "serve %s by %.0f thread%s: fewer rows with it in "
                             "weir.engine.thread-dispatcher-assignment (or in "
                             "weir.engine.threads)",
                             name.text, c->enough, c->enough > 1 ? "s" : "");
    }
    f = weir__look_find(look, WEIR__RULE_CONTENTION, contention, "dispatcher", pair->name);
    if (f != NULL) {
        weir__finding_say(f,
                          "contention %s: so many attempts at its lock failed because another "
                          "thread held it",
                          weir__words_share(contention).text);
        weir__finding_remedy(
            f,
            "%sgive %s a second dispatcher beside it: another name in "
            "weir.engine.thread-dispatcher-assignment, and `dispatcher` = that name for half of "
            "its components; a larger weir.engine.batch-max takes the lock less often, too",
            overmanned ? "fewer threads first (see too-many-threads); if it stays so, " : "",
            name.text);
    }
}

static void see_back_off(weir__look *look, const weir__pair *pair)
{
    const double rate =
        weir__look_part(weir__look_gain(pair, "backoffs"), weir__look_gain(pair, "rounds"),
                        ROUNDS_LEAST * look->seconds);
    weir__finding *f = weir__look_find(look, WEIR__RULE_BACK_OFF, rate, "dispatcher", pair->name);
    if (f != NULL) {
        const double sleeps = weir__look_gain(pair, "backoffs");
        const double mean = weir__look_part(weir__look_gain(pair, "backoff_ns") / 1e9, sleeps, 1);
        weir__finding_say(f,
                          "%s of all looks ended in a back-off, of %s each: its threads come "
                          "back while the lock is still held, or stay away while it is free",
                          weir__words_share(rate).text, weir__words_time(mean).text);
        weir__finding_remedy(f,
                             "fewer threads for it first; then %s "
                             "weir.engine.backoff.base-delay-micros (or "
                             "weir.engine.dispatchers.\"%s\".backoff)",
                             mean < 10e-6 ? "a longer" : "a shorter",
                             weir__label_of(pair->name).text);
    }
}

/* Of signals, not of all wake-ups: a thread with a service wakes by the clock, too, and one that
 * serves two dispatchers is woken for one of them. */
static void see_wake_ups(weir__look *look, const weir__pair *pair, const crew *c)
{
    const double signals = weir__look_gain(pair, "signals");
    const double wakes = weir__look_gain(pair, "wakeups");
    const double found = weir__look_gain(pair, "wakeups_found");
    const double least = WAKES_LEAST * look->seconds;
    const double useful = weir__look_part(found, wakes < signals ? wakes : signals, least);
    weir__finding *f = weir__look_find(look, WEIR__RULE_WAKE_UPS, useful, "dispatcher", pair->name);
    if (f != NULL) {
        weir__finding_say(f,
                          "only %s of %s wake-ups a second found work: another thread had "
                          "taken it before",
                          weir__words_share(useful).text,
                          weir__words_count(wakes / look->seconds).text);
        weir__finding_remedy(f,
                             "fewer threads for it (%.0f serve it now, %.0f would do): "
                             "weir.engine.thread-dispatcher-assignment; or a longer "
                             "idle-spin-max in weir.engine.threads, so that they sleep less",
                             c->threads, c->enough < c->threads ? c->enough : 1.0);
    }
}

static void see_utilisation(weir__look *look, const weir__pair *pair, const crew *c)
{
    const double waiting =
        fmin(weir__look_number(pair->before, "depth"), weir__look_number(pair->after, "depth"));
    if (pair->before == NULL || !(c->threads >= 2) || !(waiting >= WAITING_LEAST)) {
        return; /* an idle server is not ill */
    }
    const double share = c->work / c->threads;
    weir__finding *f =
        weir__look_find(look, WEIR__RULE_UTILISATION, share, "dispatcher", pair->name);
    if (f != NULL) {
        weir__finding_say(f,
                          "%s events wait, and its %.0f threads are at work for %s of the time: "
                          "the work hangs on one processor, which one thread runs at a time",
                          weir__words_count(waiting).text, c->threads,
                          weir__words_share(share).text);
        weir__finding_remedy(f,
                             "spread that processor's work: `instances` of its component behind "
                             "a router (weir.flows), or cheaper handlers; else %.0f thread%s "
                             "would do in weir.engine.thread-dispatcher-assignment",
                             c->enough, c->enough > 1 ? "s" : "");
    }
}

static void see_dispatcher(weir__look *look, const weir__pair *pair)
{
    const crew c = crew_of(look, pair);
    if (!(look->seconds > 0)) {
        return;
    }
    see_lock(look, pair, &c);
    see_back_off(look, pair);
    see_wake_ups(look, pair, &c);
    see_utilisation(look, pair, &c);
}

void weir__look_at_dispatchers(weir__look *look)
{
    weir__look_each(look, "dispatchers", "dispatcher", see_dispatcher);
}
