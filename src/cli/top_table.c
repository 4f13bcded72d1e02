/*
 * cli/top_table.c - the columns of each table: one row a figure. The screen, --json and --sort are
 * all made of them.
 *
 * The bounds are the rules of thumb (SPEC, "Seeing it work"). Few samples prove nothing: a share of
 * ten wake-ups is not coloured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "cli/demo_show.h"
#include "cli/top.h"

enum { SAMPLES_MIN = 100 };

/* ---- which figures are good ---- */

static weir__tone tone_contention(const void *row, double value)
{
    (void)row;
    return weir__demo_tone_contention(value);
}

static weir__tone tone_backoff(const void *row, double value)
{
    (void)row;
    return weir__demo_tone_backoff(value);
}

static weir__tone tone_woke(const void *row, double value)
{
    const weir__top_dispatcher *d = row;
    return d->signals < SAMPLES_MIN ? WEIR__TONE_PLAIN
           : value > 0.95           ? WEIR__TONE_GOOD
                                    : WEIR__TONE_FAIR;
}

static weir__tone tone_found(const void *row, double value)
{
    const weir__top_dispatcher *d = row;
    return d->wakeups < SAMPLES_MIN ? WEIR__TONE_PLAIN
           : value > 0.90           ? WEIR__TONE_GOOD
                                    : WEIR__TONE_FAIR;
}

static weir__tone tone_of_tail(double count, double value)
{
    return !(count >= SAMPLES_MIN) ? WEIR__TONE_PLAIN
           : value <= 3.0          ? WEIR__TONE_GOOD
           : value <= 10.0         ? WEIR__TONE_FAIR
                                   : WEIR__TONE_BAD;
}

static weir__tone tone_tail_dispatcher(const void *row, double value)
{
    return tone_of_tail(((const weir__top_dispatcher *)row)->queueing.count, value);
}

static weir__tone tone_tail_processor(const void *row, double value)
{
    return tone_of_tail(((const weir__top_processor *)row)->handling.count, value);
}

/* An idle engine is not ill: little use is bad only while another thread has too much to do. */
static weir__tone tone_utilisation(const void *row, double value)
{
    const weir__top_thread *t = row;
    return value >= 0.5   ? WEIR__TONE_GOOD
           : !t->loaded   ? WEIR__TONE_PLAIN
           : value >= 0.3 ? WEIR__TONE_FAIR
                          : WEIR__TONE_BAD;
}

static weir__tone tone_waits(const void *row, double value)
{
    const weir__top_thread *t = row;
    return t->utilisation >= 0.5 && t->waits.count >= SAMPLES_MIN && value > 100e3
               ? WEIR__TONE_FAIR
               : WEIR__TONE_PLAIN;
}

static weir__tone tone_fill(const void *row, double value)
{
    (void)row;
    return value >= 0.9 ? WEIR__TONE_BAD : value >= 0.5 ? WEIR__TONE_FAIR : WEIR__TONE_PLAIN;
}

static weir__tone tone_depth(const void *row, double value)
{
    (void)value;
    const weir__top_processor *p = row;
    return tone_fill(row, p->fill);
}

static weir__tone tone_dropped(const void *row, double value)
{
    const weir__top_processor *p = row;
    return p->dropped_per_s > 0 ? WEIR__TONE_BAD : value > 0 ? WEIR__TONE_FAIR : WEIR__TONE_PLAIN;
}

static weir__tone tone_dropped_feed(const void *row, double value)
{
    const weir__top_feed *f = row;
    return f->dropped_per_s > 0 ? WEIR__TONE_BAD : value > 0 ? WEIR__TONE_FAIR : WEIR__TONE_PLAIN;
}

static weir__tone tone_any(const void *row, double value)
{
    (void)row;
    return value > 0 ? WEIR__TONE_FAIR : WEIR__TONE_PLAIN;
}

static weir__tone tone_waiting(const void *row, double value)
{
    (void)row;
    return value > 0.10 ? WEIR__TONE_BAD : value > 0.01 ? WEIR__TONE_FAIR : WEIR__TONE_PLAIN;
}

/* Twice the mean load on one worker: a hot flow. */
static weir__tone tone_imbalance(const void *row, double value)
{
    const weir__top_router *r = row;
    return !(r->submitted_per_s > 0) ? WEIR__TONE_PLAIN
           : value > 2.0             ? WEIR__TONE_BAD
           : value > 1.3             ? WEIR__TONE_FAIR
                                     : WEIR__TONE_PLAIN;
}

/* ---- the columns ---- */

#define AT(type, field) (uint16_t) offsetof(weir__top_##type, field)
#define TEXT WEIR__TOP_TEXT
#define COUNT WEIR__TOP_COUNT
#define ID WEIR__TOP_ID
#define SHARE WEIR__TOP_SHARE
#define BAR WEIR__TOP_BAR
#define TIME WEIR__TOP_TIME
#define RATIO WEIR__TOP_RATIO
#define BYTES WEIR__TOP_BYTES

/* clang-format off */
static const weir__top_column dispatcher_columns[] = {
    { "dispatcher", "dispatcher", TEXT, 16, 0, AT(dispatcher, name), NULL },
    { "events_per_s", "events/s", COUNT, 11, 1, AT(dispatcher, events_per_s), NULL },
    { "depth", "depth", COUNT, 8, 1, AT(dispatcher, depth), NULL },
    { "contention", "contend", SHARE, 8, 1, AT(dispatcher, contention), tone_contention },
    { "backoff", "backoff", SHARE, 8, 1, AT(dispatcher, backoff), tone_backoff },
    { "found", "found", SHARE, 8, 2, AT(dispatcher, found), tone_found },
    { "queueing_p50_ns", "q p50", TIME, 8, 3, AT(dispatcher, queueing.p50), NULL },
    { "queueing_p99_ns", "q p99", TIME, 8, 2, AT(dispatcher, queueing.p99), NULL },
    { "queueing_p99_p50", "p99/p50", RATIO, 8, 6, AT(dispatcher, tail), tone_tail_dispatcher },
    { "handling_p50_ns", "h p50", TIME, 8, 5, AT(dispatcher, handling.p50), NULL },
    { "handling_p99_ns", "h p99", TIME, 8, 4, AT(dispatcher, handling.p99), NULL },
    { "woke", "woke", SHARE, 8, 7, AT(dispatcher, woke), tone_woke },
    { "wakeups", "wakeups", COUNT, 8, 9, AT(dispatcher, wakeups), NULL },
    { "ready", "ready", COUNT, 7, 8, AT(dispatcher, ready), NULL },
    { "processors", "procs", COUNT, 7, 9, AT(dispatcher, processors), NULL },
    { "threads", "threads", COUNT, 8, 8, AT(dispatcher, threads), NULL },
    { "turns_per_s", "turns/s", COUNT, 10, 10, AT(dispatcher, turns_per_s), NULL },
    { "queueing_p95_ns", "q p95", TIME, 8, 11, AT(dispatcher, queueing.p95), NULL },
    { "queueing_max_ns", "q max", TIME, 8, 11, AT(dispatcher, queueing.max), NULL },
    { "handling_p95_ns", "h p95", TIME, 8, 11, AT(dispatcher, handling.p95), NULL },
    { "handling_max_ns", "h max", TIME, 8, 11, AT(dispatcher, handling.max), NULL },
};

static const weir__top_column thread_columns[] = {
    { "thread", "thread", TEXT, 16, 0, AT(thread, name), NULL },
    { "utilisation", "utilisation", BAR, 19, 1, AT(thread, utilisation), tone_utilisation },
    { "cpu", "CPU", SHARE, 8, 1, AT(thread, cpu), NULL },
    { "core_now", "core", ID, 5, 2, AT(thread, core_now), NULL },
    { "events_per_s", "events/s", COUNT, 11, 1, AT(thread, events_per_s), NULL },
    { "parks_per_s", "parks/s", COUNT, 9, 2, AT(thread, parks_per_s), NULL },
    { "waits_p99_ns", "wait p99", TIME, 9, 3, AT(thread, waits.p99), tone_waits },
    { "handling_p99_ns", "h p99", TIME, 8, 5, AT(thread, handling.p99), NULL },
    { "idle", "idle", TEXT, 10, 6, AT(thread, idle), NULL },
    { "dispatchers", "serves", TEXT, 14, 4, AT(thread, serves), NULL },
    { "core", "pinned", ID, 7, 8, AT(thread, core), NULL },
    { "waits_p50_ns", "wait p50", TIME, 9, 9, AT(thread, waits.p50), NULL },
    { "handling_p50_ns", "h p50", TIME, 8, 9, AT(thread, handling.p50), NULL },
    { "system_id", "tid", ID, 9, 10, AT(thread, system_id), NULL },
};

static const weir__top_column processor_columns[] = {
    { "processor", "processor", TEXT, 16, 0, AT(processor, name), NULL },
    { "events_per_s", "events/s", COUNT, 10, 1, AT(processor, events_per_s), NULL },
    { "depth", "depth", COUNT, 7, 1, AT(processor, depth), tone_depth },
    { "depth_high", "high", COUNT, 7, 4, AT(processor, depth_high), NULL },
    { "dropped", "dropped", COUNT, 8, 2, AT(processor, dropped), tone_dropped },
    { "failures", "failed", COUNT, 7, 2, AT(processor, failures), tone_any },
    { "handling_p50_ns", "h p50", TIME, 8, 3, AT(processor, handling.p50), NULL },
    { "handling_p99_ns", "h p99", TIME, 8, 3, AT(processor, handling.p99), NULL },
    { "handling_p99_p50", "p99/p50", RATIO, 8, 4, AT(processor, tail), tone_tail_processor },
    { "queueing_p50_ns", "q p50", TIME, 8, 6, AT(processor, queueing.p50), NULL },
    { "queueing_p99_ns", "q p99", TIME, 8, 5, AT(processor, queueing.p99), NULL },
    { "fill", "full", SHARE, 8, 7, AT(processor, fill), tone_fill },
    { "dead", "dead", COUNT, 8, 8, AT(processor, dead), tone_any },
    { "dispatcher", "dispatcher", TEXT, 14, 7, AT(processor, dispatcher), NULL },
    { "restarts", "restarts", COUNT, 9, 9, AT(processor, restarts), tone_any },
    { "mailbox_max", "bound", COUNT, 8, 10, AT(processor, mailbox_max), NULL },
    { "handling_p95_ns", "h p95", TIME, 8, 11, AT(processor, handling.p95), NULL },
    { "handling_max_ns", "h max", TIME, 8, 11, AT(processor, handling.max), NULL },
    { "queueing_p95_ns", "q p95", TIME, 8, 11, AT(processor, queueing.p95), NULL },
    { "queueing_max_ns", "q max", TIME, 8, 11, AT(processor, queueing.max), NULL },
    { "dropped_newest", "newest", COUNT, 8, 12, AT(processor, dropped_newest), NULL },
    { "dropped_oldest", "oldest", COUNT, 8, 12, AT(processor, dropped_oldest), NULL },
    { "component", "component", TEXT, 14, 12, AT(processor, component), NULL },
};

static const weir__top_column feed_columns[] = {
    { "feed", "feed", TEXT, 20, 0, AT(feed, name), NULL },
    { "published_per_s", "events/s", COUNT, 11, 1, AT(feed, events_per_s), NULL },
    { "delivered_per_s", "delivrd/s", COUNT, 11, 2, AT(feed, delivered_per_s), NULL },
    { "deepest", "deepest", COUNT, 8, 1, AT(feed, deepest), NULL },
    { "fill", "full", SHARE, 8, 3, AT(feed, fill), tone_fill },
    { "dropped", "dropped", COUNT, 8, 1, AT(feed, dropped), tone_dropped_feed },
    { "waiting", "waiting", SHARE, 8, 2, AT(feed, waiting), tone_waiting },
    { "slowest", "slowest", TEXT, 16, 2, AT(feed, slowest), NULL },
    { "waits_per_s", "waits/s", COUNT, 9, 5, AT(feed, waits_per_s), NULL },
    { "subscribers", "subs", COUNT, 6, 4, AT(feed, subscribers), NULL },
    { "filtered", "filtered", COUNT, 9, 6, AT(feed, filtered), NULL },
    { "failed", "failed", COUNT, 8, 6, AT(feed, failed), tone_any },
    { "outstanding", "open", COUNT, 8, 7, AT(feed, outstanding), NULL },
};

static const weir__top_column router_columns[] = {
    { "router", "router", TEXT, 20, 0, AT(router, name), NULL },
    { "submitted_per_s", "events/s", COUNT, 11, 1, AT(router, submitted_per_s), NULL },
    { "handled_per_s", "handled/s", COUNT, 11, 5, AT(router, handled_per_s), NULL },
    { "depth", "depth", COUNT, 8, 1, AT(router, depth), NULL },
    { "flows", "flows", COUNT, 8, 1, AT(router, flows), NULL },
    { "workers", "workers", COUNT, 8, 3, AT(router, workers), NULL },
    { "imbalance", "max/mean", RATIO, 9, 2, AT(router, imbalance), tone_imbalance },
    { "refused", "refused", COUNT, 8, 2, AT(router, refused), tone_any },
    { "dropped", "dropped", COUNT, 8, 2, AT(router, dropped), tone_any },
    { "dead", "dead", COUNT, 7, 5, AT(router, dead), tone_any },
    { "p50_ns", "h p50", TIME, 8, 4, AT(router, p50), NULL },
    { "p99_ns", "h p99", TIME, 8, 3, AT(router, p99), NULL },
    { "moved", "moved", COUNT, 7, 6, AT(router, moved), NULL },
    { "bytes", "memory", BYTES, 9, 6, AT(router, bytes), NULL },
};

static const weir__top_column worker_columns[] = {
    { "worker", "worker", TEXT, 24, 0, AT(worker, name), NULL },
    { "events_per_s", "events/s", COUNT, 11, 1, AT(worker, events_per_s), NULL },
    { "busy", "busy", BAR, 19, 1, AT(worker, busy), NULL },
    { "depth", "depth", COUNT, 8, 1, AT(worker, depth), NULL },
    { "beyond", "beyond", COUNT, 8, 3, AT(worker, beyond), NULL },
    { "flows", "flows", COUNT, 8, 2, AT(worker, flows), NULL },
    { "p50_ns", "h p50", TIME, 8, 3, AT(worker, p50), NULL },
    { "p99_ns", "h p99", TIME, 8, 3, AT(worker, p99), NULL },
    { "router", "router", TEXT, 16, 4, AT(worker, router), NULL },
};

static const weir__top_column letter_columns[] = {
    { "receiver", "dead letter to", TEXT, 18, 0, AT(letter, receiver), NULL },
    { "reason", "reason", TEXT, 12, 1, AT(letter, reason), NULL },
    { "type", "type", TEXT, 12, 3, AT(letter, type), NULL },
    { "sender", "sender", TEXT, 16, 4, AT(letter, sender), NULL },
    { "text", "what was said", TEXT, 32, 2, AT(letter, text), NULL },
    { "number", "number", ID, 8, 5, AT(letter, number), NULL },
    { "time", "time", TEXT, 26, 6, AT(letter, time), NULL },
    { "size", "size", BYTES, 9, 7, AT(letter, size), NULL },
    { "status", "status", TEXT, 16, 8, AT(letter, status), NULL },
};

static const weir__top_column health_columns[] = {
    { "what", "not well", TEXT, 28, 0, AT(reason, what), NULL },
    { "status", "status", TEXT, 10, 1, AT(reason, status), NULL },
    { "reason", "reason", TEXT, 60, 1, AT(reason, reason), NULL },
};

static const weir__top_column error_columns[] = {
    { "component", "error of", TEXT, 18, 0, AT(error, component), NULL },
    { "text", "what was said", TEXT, 40, 1, AT(error, text), NULL },
    { "status", "status", TEXT, 16, 2, AT(error, status), NULL },
    { "time", "time", TEXT, 26, 3, AT(error, time), NULL },
};

static const weir__top_column own_columns[] = {
    { "name", "figure", TEXT, 28, 0, AT(own, name), NULL },
    { "value", "value", COUNT, 12, 1, AT(own, value), NULL },
    { "per_s", "per s", COUNT, 10, 1, AT(own, per_s), NULL },
    { "labels", "labels", TEXT, 28, 1, AT(own, labels), NULL },
    { "kind", "kind", TEXT, 9, 4, AT(own, kind), NULL },
};

#define TABLE(name, one, columns, type)                                                            \
    { name, one, columns, sizeof(columns) / sizeof((columns)[0]), sizeof(weir__top_##type) }
const weir__top_table weir__top_tables[WEIR__TOP_TABLES] = {
    [WEIR__TOP_DISPATCHERS] = TABLE("dispatchers", "dispatcher", dispatcher_columns, dispatcher),
    [WEIR__TOP_THREADS] = TABLE("threads", "thread", thread_columns, thread),
    [WEIR__TOP_PROCESSORS] = TABLE("processors", "processor", processor_columns, processor),
    [WEIR__TOP_FEEDS] = TABLE("feeds", "feed", feed_columns, feed),
    [WEIR__TOP_ROUTERS] = TABLE("routers", "router", router_columns, router),
    [WEIR__TOP_WORKERS] = TABLE("workers", "worker", worker_columns, worker),
    [WEIR__TOP_LETTERS] = TABLE("dead_letters", "dead letter", letter_columns, letter),
    [WEIR__TOP_HEALTH] = TABLE("health", "reason", health_columns, reason),
    [WEIR__TOP_ERRORS] = TABLE("errors", "error", error_columns, error),
    [WEIR__TOP_OWN] = TABLE("own", "figure", own_columns, own),
};
/* clang-format on */

int weir__top_column_find(const weir__top_table *table, const char *key)
{
    for (uint32_t i = 0; i < table->count; i++) {
        if (strcmp(table->columns[i].key, key) == 0) {
            return (int)i;
        }
    }
    for (uint32_t i = 0; i < table->count; i++) {
        if (strcmp(table->columns[i].title, key) == 0) {
            return (int)i;
        }
    }
    return -1;
}
