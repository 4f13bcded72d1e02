/*
 * advice/process.c - the process as a whole: what is down, what its threads get of the cores, what
 * is refused or dies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "advice/look.h"

#define CORES_USED 0.7 /* below, threads do not wait for cores: they wait for something else */
#define ON_CORE_MOST 0.9
#define PARK_EVENTS 4 /* a park that earned so many is worth it */

/* ---- health ---- */

static void see_down(weir__look *look, const char *what, const char *reason)
{
    weir__finding *f = weir__look_find(look, WEIR__RULE_DOWN, 1, what, NULL);
    if (f != NULL) {
        weir__finding_say(f, "down: %s", reason);
        weir__finding_remedy(f, "`weir admin errors` and `weir admin components` say what happened "
                                "last");
    }
}

/* `count` as far as it is known: those who are stuck at this moment, by the watchdog, or how many
 * there were since the first look. */
static void see_stuck(weir__look *look, double count, const char *what, bool now)
{
    weir__finding *f = weir__look_find(look, WEIR__RULE_STUCK, count, what, NULL);
    if (f != NULL) {
        weir__finding_say(f,
                          now ? "its handler has not returned for longer than "
                                "weir.engine.stuck-after, and all that comes to it waits"
                              : "a handler ran longer than weir.engine.stuck-after, and all that "
                                "came to it waited meanwhile");
        weir__finding_remedy(f,
                             "the log has its name and stack; hand what waits (files, locks, other "
                             "processes) to a service on a thread of its own, or set `dispatcher` "
                             "so that others do not wait for it");
    }
}

static void see_health(weir__look *look)
{
    const weir__pair engine = weir__look_one(look, "engine");
    const json_t *health = json_object_get(look->after, "health");
    bool named = false;
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(health, "reasons"), i, item)
    {
        const weir__label what = weir__label_of(weir__look_text(item, "what"));
        const char *reason = weir__look_text(item, "reason");
        if (weir__look_says(item, "status", "down")) {
            see_down(look, what.text, reason);
        } else if (strstr(reason, "not returned") != NULL) {
            see_stuck(look, 1, what.text, true);
            named = true;
        }
    }
    if (!named) {
        see_stuck(look, weir__look_gain(&engine, "stuck"), "engine", false);
    }
}

/* ---- cores ---- */

static void see_quota(weir__look *look)
{
    const weir__pair process = weir__look_one(look, "process");
    const double share =
        weir__look_part(weir__look_gain(&process, "throttled_ns") / 1e9, look->seconds, 0);
    weir__finding *f = weir__look_find(look, WEIR__RULE_THROTTLING, share, "process", NULL);
    if (f != NULL) {
        weir__finding_say(f,
                          "the quota of %s cores was used up %s times, and kept threads off "
                          "their cores for %s of the time: up to 100 ms each time",
                          weir__words_number(weir__look_number(process.after, "quota_cores")).text,
                          weir__words_count(weir__look_gain(&process, "throttled")).text,
                          weir__words_share(share).text);
        weir__finding_remedy(f, "a larger quota (CPUQuota= in the unit, --cpus of a container), "
                                "no more threads than it has cores "
                                "(weir.engine.thread-dispatcher-assignment), and idle = park in "
                                "weir.engine.threads");
    }
}

typedef struct sums {
    double busy, cpu; /* threads' worth */
    unsigned threads, spinning;
} sums;

static sums sum_threads(const weir__look *look)
{
    /* By position: threads seldom come and go, and one more or less is not seen in the sum. */
    const json_t *before = json_object_get(look->before, "threads");
    sums s = { 0 };
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(look->after, "threads"), i, item)
    {
        const json_t *then = json_array_get(before, i);
        const char *name = weir__look_text(item, "thread");
        const weir__pair pair = { weir__look_says(then, "thread", name) ? then : NULL, item, name };
        s.busy += weir__look_gain(&pair, "busy_ns") / 1e9 / look->seconds;
        s.cpu += weir__look_gain(&pair, "cpu_ns") / 1e9 / look->seconds;
        s.threads++;
        s.spinning +=
            weir__look_says(item, "idle", "busy-spin") || weir__look_says(item, "idle", "noop") ? 1
                                                                                                : 0;
    }
    return s;
}

static void see_cores(weir__look *look)
{
    const sums s = sum_threads(look);
    const weir__pair process = weir__look_one(look, "process");
    weir__finding *f =
        weir__look_find(look, WEIR__RULE_SPIN, s.spinning / look->cores, "engine", NULL);
    if (f != NULL) {
        weir__finding_say(f,
                          "%u threads spin when they have no work, on %.0f usable core%s: they "
                          "take turns, and each waits for the others to have spun",
                          s.spinning, look->cores, look->cores > 1 ? "s" : "");
        weir__finding_remedy(f,
                             "idle = backoff (or park) in weir.engine.threads for all but %.0f, "
                             "and pin those with `cores`",
                             fmax(look->cores - 1, 0));
    }
    const double used = weir__look_gain(&process, "cpu_ns") / 1e9 / look->seconds;
    if (!(used >= CORES_USED * look->cores) || !(s.cpu < ON_CORE_MOST * s.busy)) {
        return;
    }
    f = weir__look_find(look, WEIR__RULE_OVERSUBSCRIBED, s.busy / look->cores, "engine", NULL);
    if (f != NULL) {
        weir__finding_say(f,
                          "%.1f of %u threads are at work at once, on %.0f usable core%s: they "
                          "were on a core for %s of that time, and waited for one else",
                          s.busy, s.threads, look->cores, look->cores > 1 ? "s" : "",
                          weir__words_share(s.cpu / s.busy).text);
        weir__finding_remedy(f,
                             "for work that computes, as many threads as cores: %.0f rows in "
                             "weir.engine.thread-dispatcher-assignment (or "
                             "weir.engine.assignment.threads = 0)",
                             look->cores);
    }
}

static void see_thread(weir__look *look, const weir__pair *pair)
{
    const double parks = weir__look_gain(pair, "parks");
    if (weir__rule_judge(&weir__rules[WEIR__RULE_PARKS], parks / look->seconds) ==
        WEIR__SEVERITY_NONE) {
        return; /* the sum below is dear with many threads and components */
    }
    const double done = weir__look_gain(pair, "handled") + weir__look_rounds_work(look, pair->name);
    weir__finding *f =
        done < PARK_EVENTS * parks
            ? weir__look_find(look, WEIR__RULE_PARKS, parks / look->seconds, "thread", pair->name)
            : NULL;
    if (f != NULL) {
        weir__finding_say(f,
                          "it goes to sleep %s times a second, for %.1f events each time: going to "
                          "sleep and waking costs more than most events do",
                          weir__words_count(parks / look->seconds).text, done / parks);
        weir__finding_remedy(f,
                             "a longer idle-spin-max in weir.engine.threads (or idle = busy-spin "
                             "where a core is to spare), fewer threads, or larger batches at the "
                             "source");
    }
}

/* ---- what comes to nothing ---- */

static void see_losses(weir__look *look)
{
    const weir__pair engine = weir__look_one(look, "engine");
    const double accepted = weir__look_gain(&engine, "accepted");
    const double full = weir__look_gain(&engine, "refused_full");
    const double refused = weir__look_part(full, accepted + full, 0);
    weir__finding *f = weir__look_find(look, WEIR__RULE_REFUSALS, refused, "engine", NULL);
    if (f != NULL) {
        weir__finding_say(f, "%s posts were refused because the mailbox was full: %s of all",
                          weir__words_count(full).text, weir__words_share(refused).text);
        weir__finding_remedy(f, "find the full one (`weir admin processors list`): more threads or "
                                "`instances` for it, a larger mailbox-max, or overflow = block");
    }
    const double letters = weir__look_gain(&engine, "letters");
    const double share = weir__look_part(letters, fmax(accepted, letters), 0);
    f = weir__look_find(look, WEIR__RULE_DEAD_LETTERS, share, "engine", NULL);
    if (f != NULL) {
        weir__finding_say(
            f,
            "%s events came to nothing: %s failed, %s had no receiver, %s came to one that "
            "stopped, %s answers came too late",
            weir__words_count(letters).text,
            weir__words_count(weir__look_gain(&engine, "dead_failed")).text,
            weir__words_count(weir__look_gain(&engine, "letters_unknown")).text,
            weir__words_count(weir__look_gain(&engine, "dead_stopped") +
                              weir__look_gain(&engine, "letters_refused"))
                .text,
            weir__words_count(weir__look_gain(&engine, "letters_late")).text);
        weir__finding_remedy(f, "`weir admin dead-letters` shows the last of them, with sender, "
                                "receiver and reason");
    }
}

void weir__look_at_process(weir__look *look)
{
    see_health(look);
    see_losses(look);
    if (look->seconds > 0) {
        see_quota(look);
    }
}

void weir__look_at_threads(weir__look *look)
{
    if (look->seconds > 0) {
        see_cores(look);
        weir__look_each(look, "threads", "thread", see_thread);
    }
}
