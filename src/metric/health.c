/*
 * metric/health.c - whether all is well, and if not, who is not, and why.
 *
 * Most of it is so or not so now. What only counters tell (a feed dropped something, a thread is no
 * longer there) is compared with the look before this one, whoever took that; it is news for a
 * while after it was seen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/visit.h"
#include "metric/metric.h"
#include "sync/thread.h"

#define NEWS (10 * WEIR_S)       /* for so long */
#define ERROR_NEWS (60 * WEIR_S) /* an error, for so long */
#define CIRCUITS "_circuits_open"
#define NEARLY_FULL 90u /* per cent */
#define WHAT_SIZE (WEIR__NAME_SIZE + 32u)
#define REASON_SIZE 384u

const char *weir__health_name(weir_health health)
{
    static const char *const names[] = { "up", "degraded", "down" };
    return names[health >= WEIR_UP && health <= WEIR_DOWN ? (unsigned)health : 2u];
}

/* "processor" and "risk": who; then how it is, and why. */
__attribute__((format(printf, 5, 6))) static void worsen(weir__figures *f, weir_health health,
                                                         const char *kind, const char *name,
                                                         const char *format, ...)
{
    char what[WHAT_SIZE];
    char reason[REASON_SIZE];
    va_list arguments;
    f->health = health > f->health ? health : f->health;
    if (f->reasons.count >= WEIR__HEALTH_REASONS_MAX) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    (void)snprintf(what, sizeof(what), "%s%s%s", kind, name[0] != '\0' ? " " : "", name);
    weir__reason_item *item = weir__list_add(f, &f->reasons, sizeof(*item));
    if (item != NULL) {
        item->what = weir__figures_text(f, what);
        item->reason = weir__figures_text(f, reason);
        item->health = health;
    }
}

/* ---- now ---- */

static void look_at_engine(weir__figures *f)
{
    char who[WEIR__NAME_SIZE] = "";
    const weir__phase phase = weir__engine_phase(f->engine);
    if (phase < WEIR__RUNNING) {
        worsen(f, WEIR_DOWN, "engine", f->engine->name, "the engine has not started");
    } else if (phase > WEIR__RUNNING) {
        const bool over = weir__load(&f->engine->stop_done, acquire) == 2;
        worsen(f, WEIR_DOWN, "engine", f->engine->name, "the engine %s",
               over ? "has stopped" : "stops");
    }
    const size_t stuck = weir__engine_stuck(f->engine, who, sizeof(who));
    if (stuck == 1) {
        worsen(f, WEIR_DEGRADED, "processor", who,
               "its handler has not returned for too long; the log has its stack");
    } else if (stuck > 1) {
        worsen(f, WEIR_DEGRADED, "processor", who,
               "%zu handlers have not returned for too long, its own among them; the log has "
               "their stacks",
               stuck);
    }
}

static void look_at_components(weir__figures *f)
{
    const weir__component_item *items = f->groups[WEIR__GROUP_COMPONENT].items;
    const bool running = weir__engine_phase(f->engine) == WEIR__RUNNING;
    for (uint32_t i = 0; i < f->groups[WEIR__GROUP_COMPONENT].count; i++) {
        if (strcmp(items[i].phase, "failed") == 0) {
            worsen(f, WEIR_DOWN, "component", items[i].name,
                   "the %s has failed, and does nothing any more; `errors` says how",
                   items[i].kind);
        } else if (items[i].running == 0 && running) {
            worsen(f, WEIR_DEGRADED, "component", items[i].name, "the %s is %s", items[i].kind,
                   items[i].phase);
        }
    }
}

void weir__health_processor(weir__health_look *look, weir_processor processor,
                            const weir_counters *counters)
{
    const uint64_t most = counters->mailbox_max;
    if (most == 0 || counters->depth * 100 < most * NEARLY_FULL) {
        return;
    }
    const uint32_t percent = (uint32_t)(counters->depth * 100 / most);
    const uint64_t at = look->full_count++;
    if (at < WEIR__HEALTH_FULL_MAX) {
        look->full[at] = processor;
        look->percent[at] = percent < 100 ? percent : 100;
    }
}

static void look_at_mailboxes(weir__figures *f, const weir__health_look *look)
{
    for (uint64_t i = 0; i < look->full_count && i < WEIR__HEALTH_FULL_MAX; i++) {
        char name[WEIR__NAME_SIZE];
        if (weir_processor_name(f->engine, look->full[i], name, sizeof(name)) > 0) {
            worsen(f, WEIR_DEGRADED, "processor", name, "its mailbox is %u %% full",
                   look->percent[i]);
        }
    }
    if (look->full_count > WEIR__HEALTH_FULL_MAX) {
        worsen(f, WEIR_DEGRADED, "processors", "",
               "the mailboxes of %" PRIu64 " more are at least %u %% full",
               look->full_count - WEIR__HEALTH_FULL_MAX, NEARLY_FULL);
    }
}

static void look_at_errors(weir__figures *f)
{
    const weir_ns now = weir__clock_wall();
    const weir__error_item *errors = f->errors.items;
    const weir__letter_item *letters = f->letters.items;
    uint32_t recent = 0;
    while (recent < f->errors.count &&
           errors[f->errors.count - 1 - recent].time >= now - ERROR_NEWS) {
        recent++;
    }
    if (recent > 0) {
        const weir__error_item *last = &errors[f->errors.count - 1];
        worsen(f, WEIR_DEGRADED, "errors", "",
               "%u%s error%s in the last minute, the last of '%s': %s", recent,
               recent == WEIR__METRICS_LETTERS ? " or more" : "", recent == 1 ? "" : "s",
               last->component, last->text);
    }
    recent = 0;
    while (recent < f->letters.count && letters[f->letters.count - 1 - recent].time >= now - NEWS) {
        recent++;
    }
    if (recent > 0) {
        const weir__letter_item *last = &letters[f->letters.count - 1];
        worsen(f, WEIR_DEGRADED, "dead letters", "", "%u%s in the last 10 s, the last to '%s': %s",
               recent, recent == WEIR__METRICS_LETTERS ? " or more" : "", last->receiver,
               last->reason);
    }
}

/* Figures of the application's own, and of connectors, that say so by their name. */
static void look_at_breakers(weir__figures *f)
{
    const weir__own_item *items = f->own.items;
    for (uint32_t i = 0; i < f->own.count; i++) {
        const size_t length = strlen(items[i].name);
        if (items[i].value > 0 && length > sizeof(CIRCUITS) - 1 &&
            strcmp(items[i].name + length - (sizeof(CIRCUITS) - 1), CIRCUITS) == 0) {
            worsen(f, WEIR_DEGRADED, "figure", items[i].name, "%.0f circuit breaker%s open%s%s",
                   items[i].value, items[i].value == 1.0 ? " is" : "s are",
                   items[i].labels[0] != '\0' ? ": " : "", items[i].labels);
        }
    }
}

/* ---- since the last look: under the lock of the metrics ---- */

static bool reserve(weir_engine *engine, void **items, uint32_t *room, uint32_t wanted, size_t size)
{
    if (wanted <= *room) {
        return true;
    }
    const uint32_t more = wanted < 8 ? 8 : 2 * wanted;
    void *grown = weir__allocate(&engine->allocator, more * size);
    if (grown == NULL) {
        return false;
    }
    if (*room > 0) {
        memcpy(grown, *items, *room * size);
    }
    weir__release(&engine->allocator, *items, *room * size);
    *items = grown;
    *room = more;
    return true;
}

/* Feeds stay in their places; one that was not there at the last look has begun with nothing, if
 * that look was, and else, if the engine is as young as its news. */
static bool look_at_feeds(weir__figures *f, weir__health_state *state, weir_ns now, bool first)
{
    const weir__list *feeds = &f->groups[WEIR__GROUP_FEED];
    const weir__feed_item *items = feeds->items;
    void *seen = state->feeds;
    const bool reserved =
        reserve(f->engine, &seen, &state->feed_room, feeds->count, sizeof(*state->feeds));
    state->feeds = seen;
    if (!reserved) {
        return false;
    }
    for (uint32_t i = 0; i < feeds->count; i++) {
        weir__feed_seen *s = &state->feeds[i];
        if (i >= state->feed_count && first) {
            s->dropped = items[i].c.dropped;
            s->waits = items[i].c.waits;
        }
        s->dropped_at = items[i].c.dropped > s->dropped ? now : s->dropped_at;
        s->waited_at = items[i].c.waits > s->waits ? now : s->waited_at;
        /* Another look may have been quicker with newer numbers. */
        s->dropped = items[i].c.dropped > s->dropped ? items[i].c.dropped : s->dropped;
        s->waits = items[i].c.waits > s->waits ? items[i].c.waits : s->waits;
        const char *slowest = items[i].slowest[0] != '\0' ? items[i].slowest : "?";
        if (s->dropped_at != 0 && now - s->dropped_at < NEWS) {
            worsen(f, WEIR_DEGRADED, "feed", items[i].name,
                   "copies were dropped in the last 10 s, since '%s' is slow", slowest);
        } else if (s->waited_at != 0 && now - s->waited_at < NEWS) {
            worsen(f, WEIR_DEGRADED, "feed", items[i].name,
                   "its publisher had to wait in the last 10 s, since '%s' is slow", slowest);
        }
    }
    state->feed_count = feeds->count > state->feed_count ? feeds->count : state->feed_count;
    return true;
}

/* Not by the list at hand: another look may have been quicker, and have seen a newer thread. */
static bool is_gone(weir_engine *engine, uint64_t id)
{
    weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
    return weir_thread_counters_get(engine, (weir_thread){ id }, &c) == WEIR_UNKNOWN;
}

static bool look_at_threads(weir__figures *f, weir__health_state *state, weir_ns now)
{
    const weir__list *threads = &f->groups[WEIR__GROUP_THREAD];
    const weir__thread_item *items = threads->items;
    for (uint32_t i = 0; i < state->thread_count; i++) {
        if (is_gone(f->engine, state->threads[i].id)) {
            state->gone_at = now;
            memcpy(state->gone, state->threads[i].name, sizeof(state->gone));
        }
    }
    if (state->gone_at != 0 && now - state->gone_at < NEWS) {
        worsen(f, WEIR_DEGRADED, "thread", state->gone, "it was removed in the last 10 s");
    }
    void *seen = state->threads;
    const bool reserved =
        reserve(f->engine, &seen, &state->thread_room, threads->count, sizeof(*state->threads));
    state->threads = seen;
    state->thread_count = 0;
    for (uint32_t i = 0; i < threads->count && reserved; i++) {
        weir__thread_seen *s = &state->threads[state->thread_count++];
        s->id = items[i].handle.id;
        (void)snprintf(s->name, sizeof(s->name), "%s", items[i].name);
    }
    return reserved;
}

static void look_back(weir__figures *f)
{
    weir__metrics *metrics = weir__metrics_of(f->engine);
    const weir_ns now = weir__clock_now();
    if (metrics == NULL) {
        f->failed = true;
        return;
    }
    weir__mutex_lock(&metrics->lock);
    weir__health_state *state = &metrics->health;
    const bool first = !state->looked && now - f->engine->born > NEWS;
    state->looked = true;
    const bool there = look_at_feeds(f, state, now, first) && look_at_threads(f, state, now);
    weir__mutex_unlock(&metrics->lock);
    f->failed = f->failed || !there;
}

void weir__health_close(weir_engine *engine, weir__health_state *state)
{
    weir__release(&engine->allocator, state->feeds, state->feed_room * sizeof(*state->feeds));
    weir__release(&engine->allocator, state->threads, state->thread_room * sizeof(*state->threads));
}

/* ---- all of it ---- */

static int worst_first(const void *a, const void *b)
{
    const weir__reason_item *x = a;
    const weir__reason_item *y = b;
    if (x->health != y->health) {
        return x->health > y->health ? -1 : 1;
    }
    const int order = strcmp(x->what, y->what);
    return order != 0 ? order : strcmp(x->reason, y->reason);
}

void weir__health_judge(weir__figures *f, const weir__health_look *look)
{
    look_at_engine(f);
    look_at_components(f);
    look_at_errors(f);
    look_at_breakers(f);
    look_back(f);
    look_at_mailboxes(f, look);
    if (f->reasons.count > 1) {
        qsort(f->reasons.items, f->reasons.count, sizeof(weir__reason_item), worst_first);
    }
}

typedef struct fullness {
    weir_engine *engine;
    weir__health_look look;
} fullness;

static bool visit_processor(void *context, weir_processor processor)
{
    fullness *all = context;
    weir_counters c = WEIR_COUNTERS_INIT;
    if (weir_processor_counters(all->engine, processor, &c) == WEIR_OK) {
        weir__health_processor(&all->look, processor, &c);
    }
    return true;
}

static void take(weir__figures *f, weir_engine *engine)
{
    fullness all = { .engine = engine };
    *f = (weir__figures){ .engine = engine, .allocator = &engine->allocator };
    weir__figures_engine(f);
    weir__figures_threads(f);
    weir__figures_feeds(f);
    weir__figures_components(f);
    weir__figures_letters(f);
    weir__figures_own(f);
    weir_processor_visit(engine, visit_processor, &all);
    weir__health_judge(f, &all.look);
    if (f->failed) {
        worsen(f, WEIR_DEGRADED, "process", "", "there is no memory for a look at everything");
    }
}

weir_health weir_engine_health(weir_engine *engine, char *why, size_t size)
{
    if (why != NULL && size > 0) {
        why[0] = '\0';
    }
    if (!weir__engine_usable(engine)) {
        if (why != NULL) {
            (void)snprintf(why, size, "there is no such engine");
        }
        return WEIR_DOWN;
    }
    weir__figures f;
    take(&f, engine);
    const weir__reason_item *first = f.reasons.items;
    const weir_health health = f.failed && f.health == WEIR_UP ? WEIR_DEGRADED : f.health;
    if (why != NULL && f.reasons.count > 0) {
        (void)snprintf(why, size, "%s: %s", first->what, first->reason);
    } else if (why != NULL && health != WEIR_UP) {
        (void)snprintf(why, size, "process: there is no memory for a look at everything");
    }
    weir__figures_close(&f);
    return health;
}

void weir_health_visit(weir_engine *engine,
                       bool (*visit)(void *context, const char *what, weir_health health,
                                     const char *reason),
                       void *context)
{
    if (!weir__engine_usable(engine) || visit == NULL) {
        return;
    }
    weir__figures f;
    take(&f, engine);
    const weir__reason_item *items = f.reasons.items;
    bool more = true;
    for (uint32_t i = 0; i < f.reasons.count && more; i++) {
        more = visit(context, items[i].what, items[i].health, items[i].reason);
    }
    if (f.failed && f.reasons.count == 0) {
        (void)visit(context, "process", WEIR_DEGRADED,
                    "there is no memory for a look at everything");
    }
    weir__figures_close(&f);
}
