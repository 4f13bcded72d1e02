/*
 * advice/processors.c - mailboxes, handlers, and how long events take.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "advice/look.h"

#define GROWN_LEAST 0.01 /* of the bound, between the looks */
#define FULL_LEAST 0.10
#define MEASURED_LEAST 500
#define P99_LEAST 1e6 /* ns: spread below that is no one's trouble */

static void see_mailbox(weir__look *look, const weir__pair *pair)
{
    const double depth = weir__look_number(pair->after, "depth");
    const double bound = weir__look_number(pair->after, "mailbox_max");
    const double full = weir__look_part(depth, bound, 1);
    const weir__label name = weir__label_of(pair->name);
    weir__finding *f = weir__look_find(look, WEIR__RULE_MAILBOX, full, "processor", pair->name);
    if (f != NULL) {
        weir__finding_say(f, "its mailbox is %s full: %s of %s events",
                          weir__words_share(full).text, weir__words_count(depth).text,
                          weir__words_count(bound).text);
        weir__finding_remedy(f,
                             "it gets more than it handles: `instances` of '%s' behind a router, "
                             "a dispatcher with threads of its own, cheaper handlers; a larger "
                             "mailbox-max helps against bursts only; `overflow` says what "
                             "happens when it is full",
                             name.text);
    }
    const double grown = depth - weir__look_number(pair->before, "depth");
    if (!look->twice || !(look->seconds > 0) || !(grown >= GROWN_LEAST * bound) || !(grown > 0) ||
        !(full >= FULL_LEAST)) {
        return;
    }
    const double left = fmax(bound - depth, 0) / (grown / look->seconds);
    f = weir__look_find(look, WEIR__RULE_GROWING, left, "processor", pair->name);
    if (f != NULL) {
        weir__finding_say(f, "%s events wait, %s more every second: its mailbox (%s) is full in %s",
                          weir__words_count(depth).text,
                          weir__words_count(grown / look->seconds).text,
                          weir__words_count(bound).text, weir__words_time(left).text);
        weir__finding_remedy(f,
                             "it gets more than it handles: more threads for its dispatcher, "
                             "`instances` of '%s' behind a router, or less from the source "
                             "(overflow = block passes the pressure back)",
                             name.text);
    }
}

static void see_handler(weir__look *look, const weir__pair *pair)
{
    const double handled = weir__look_gain(pair, "handled");
    const double failures = weir__look_gain(pair, "failures");
    const double runs = fmax(handled + weir__look_gain(pair, "dead"), failures);
    const double failed = weir__look_part(failures, runs, 0);
    weir__finding *f = weir__look_find(look, WEIR__RULE_FAILURES, failed, "processor", pair->name);
    if (f != NULL) {
        weir__finding_say(f, "its handler failed %s times: %s of all runs",
                          weir__words_count(failures).text, weir__words_share(failed).text);
        weir__finding_remedy(f, "`weir admin errors` and `weir admin dead-letters` say why; "
                                "`on-failure` says what happens then: retry, restart, stop");
    }
}

static void see_drops(weir__look *look, const weir__pair *pair)
{
    const double dropped = weir__look_gain(pair, "dropped");
    const double share =
        weir__look_part(dropped, fmax(weir__look_gain(pair, "accepted"), dropped), 0);
    weir__finding *f = weir__look_find(look, WEIR__RULE_DROPS, share, "processor", pair->name);
    if (f != NULL) {
        weir__finding_say(f,
                          "%s events were dropped because its mailbox was full: %s of those "
                          "that came",
                          weir__words_count(dropped).text, weir__words_share(share).text);
        weir__finding_remedy(f, "it gets more than it handles: `instances` of it behind a router, "
                                "a larger mailbox-max against bursts, or overflow = block (the "
                                "sender waits) where nothing may be lost");
    }
}

/* `where` is "time in the queue", `remedy` what to do about it. */
static void see_spread(weir__look *look, const json_t *times, const char *kind, const char *name,
                       const char *where, const char *remedy)
{
    const double p50 = weir__look_number(times, "p50_ns");
    const double p99 = weir__look_number(times, "p99_ns");
    if (!(weir__look_number(times, "count") >= MEASURED_LEAST) || !(p99 >= P99_LEAST)) {
        return;
    }
    const double spread = p99 / fmax(p50, 1);
    weir__finding *f = weir__look_find(look, WEIR__RULE_SPREAD, spread, kind, name);
    if (f != NULL) {
        weir__finding_say(f,
                          "%s: half take less than %s, one in a hundred more than %s, %.0f times "
                          "as long",
                          where, weir__words_time(p50 / 1e9).text, weir__words_time(p99 / 1e9).text,
                          spread);
        weir__finding_remedy(f, "%s", remedy);
    }
}

static void see_times(weir__look *look, const json_t *thing, const char *kind, const char *name)
{
    see_spread(look, json_object_get(thing, "queueing"), kind, name, "time in the queue",
               "something holds the threads now and then: look for long handlers (`weir top`, "
               "`weir trace`), give them a `dispatcher` of their own, or a smaller batch-max; "
               "bursts at the source do it, too; `weir admin latency reset` begins anew");
    see_spread(look, json_object_get(thing, "handling"), kind, name, "time in handlers",
               "a few events take far longer than the rest: give their type a processor and a "
               "`dispatcher` of its own, or hand what waits to a service; `weir admin latency "
               "enable NAME` shows which processor it is");
}

static void see_processor(weir__look *look, const weir__pair *pair)
{
    if (strcmp(pair->name, "(earlier)") == 0) {
        return; /* leaps by what somebody had long ago */
    }
    if (strcmp(pair->name, "(others)") != 0) { /* a sum of many has no bound */
        see_mailbox(look, pair);
    }
    see_handler(look, pair);
    see_drops(look, pair);
    see_times(look, pair->after, "processor", pair->name);
}

static void see_dispatcher(weir__look *look, const weir__pair *pair)
{
    see_times(look, pair->after, "dispatcher", pair->name);
}

void weir__look_at_processors(weir__look *look)
{
    weir__look_each(look, "processors", "processor", see_processor);
    weir__look_each(look, "dispatchers", "dispatcher", see_dispatcher);
}
