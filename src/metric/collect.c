/*
 * metric/collect.c - takes the figures: by the visits and counters that everybody may call, so no
 * lock is held longer than for one of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "feed/feed.h"
#include "metric/metric.h"
#include "weir/latency.h"

/* ---- the engine ---- */

static const char *phase_name(weir_engine *engine)
{
    if (weir__load(&engine->stop_done, acquire) == 2) {
        return "stopped";
    }
    switch (weir__engine_phase(engine)) {
    case WEIR__CREATED:
        return "created";
    case WEIR__STARTING:
        return "starting";
    case WEIR__RUNNING:
        return "running";
    default:
        return "stopping";
    }
}

void weir__figures_engine(weir__figures *f)
{
    weir__engine_item *item = weir__list_add(f, &f->groups[WEIR__GROUP_ENGINE], sizeof(*item));
    if (item == NULL) {
        return;
    }
    const uint32_t every = weir__load(&f->engine->latency_every, relaxed);
    item->labels = "";
    item->name = f->engine->name;
    item->phase = phase_name(f->engine);
    item->uptime = weir__clock_now() - f->engine->born;
    item->time = f->engine->born_wall + item->uptime;
    item->latency_every = every != UINT32_MAX ? every : 0;
    item->c = (weir_counters)WEIR_COUNTERS_INIT;
    (void)weir_engine_counters(f->engine, &item->c);
}

static void take_timers(weir__figures *f)
{
    weir__timer_item *item = weir__list_add(f, &f->groups[WEIR__GROUP_TIMER], sizeof(*item));
    if (item != NULL) {
        item->labels = "";
        item->c = (weir_timer_counters)WEIR_TIMER_COUNTERS_INIT;
        (void)weir_timer_counters_get(f->engine, &item->c);
    }
}

static void take_process(weir__figures *f)
{
    weir__process_item *item = weir__list_add(f, &f->groups[WEIR__GROUP_PROCESS], sizeof(*item));
    if (item != NULL) {
        weir__process_read("", item);
    }
}

/* ---- dispatchers and threads ---- */

static bool visit_dispatcher(void *context, const char *name)
{
    weir__figures *f = context;
    weir_dispatcher_counters c = WEIR_DISPATCHER_COUNTERS_INIT;
    if (weir_dispatcher_counters_get(f->engine, name, &c) != WEIR_OK) {
        return true;
    }
    weir__dispatcher_item *item =
        weir__list_add(f, &f->groups[WEIR__GROUP_DISPATCHER], sizeof(*item));
    if (item == NULL) {
        return false;
    }
    item->labels = weir__figures_labels(f, "dispatcher", name, NULL, NULL);
    item->name = weir__figures_text(f, name);
    item->c = c;
    item->queueing = item->handling = (weir_latency)WEIR_LATENCY_INIT;
    (void)weir_dispatcher_latency(f->engine, name, &item->queueing, &item->handling);
    return true;
}

/* What it serves, and how it idles. The table may be that of the next thread on the seat: then it
 * is a moment old. */
static void describe_thread(weir__figures *f, weir_thread thread, weir__thread_item *item)
{
    char names[512] = "";
    size_t used = 0;
    weir_idle idle = WEIR_IDLE_DEFAULT;
    weir__mutex_lock(&f->engine->registry.lock);
    const weir__thread *t = weir__thread_known(f->engine, thread);
    for (uint32_t i = 0; t != NULL && i < t->serving_count && used < sizeof(names); i++) {
        const char *name = t->servings[i]->dispatcher->name;
        const int length = snprintf(names + used, sizeof(names) - used, "%s%s", i == 0 ? "" : ", ",
                                    name != NULL ? name : "(its own)");
        used += length > 0 ? (size_t)length : 0;
    }
    if (t != NULL) {
        idle = t->options.idle;
        item->external = t->external;
    }
    weir__mutex_unlock(&f->engine->registry.lock);
    item->dispatchers = weir__figures_text(f, names);
    item->idle = weir_idle_name(idle != WEIR_IDLE_DEFAULT ? idle : WEIR_IDLE_BACKOFF);
}

static bool visit_thread(void *context, weir_thread thread, const char *name)
{
    weir__figures *f = context;
    weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
    if (weir_thread_counters_get(f->engine, thread, &c) != WEIR_OK) {
        return true;
    }
    weir__thread_item *item = weir__list_add(f, &f->groups[WEIR__GROUP_THREAD], sizeof(*item));
    if (item == NULL) {
        return false;
    }
    item->handle = thread;
    item->labels = weir__figures_labels(f, "thread", name, NULL, NULL);
    item->name = weir__figures_text(f, name);
    item->c = c;
    describe_thread(f, thread, item);
    item->handling = item->waits = (weir_latency)WEIR_LATENCY_INIT;
    (void)weir_thread_latency(f->engine, thread, &item->handling, &item->waits);
    return true;
}

void weir__figures_threads(weir__figures *f)
{
    weir_thread_visit(f->engine, visit_thread, f);
}

/* ---- feeds ---- */

static bool visit_feed(void *context, weir_feed feed, const char *name)
{
    weir__figures *f = context;
    weir_feed_counters c = WEIR_FEED_COUNTERS_INIT;
    const weir__feed *inner = weir__feed_find(f->engine, feed);
    if (inner == NULL || weir_feed_counters_get(f->engine, feed, &c) != WEIR_OK) {
        return true;
    }
    weir__feed_item *item = weir__list_add(f, &f->groups[WEIR__GROUP_FEED], sizeof(*item));
    if (item == NULL) {
        return false;
    }
    item->labels = weir__figures_labels(f, "feed", name, NULL, NULL);
    item->name = weir__figures_text(f, name);
    item->slowest = weir__figures_text(f, c.slowest);
    item->handle = feed;
    item->c = c;
    item->queue_max = inner->options.queue_max;
    return true;
}

void weir__figures_feeds(weir__figures *f)
{
    weir_feed_visit(f->engine, visit_feed, f);
}

/* ---- components ---- */

static const char *kind_name(weir_kind kind)
{
    static const char *const names[] = { "?", "source", "service", "sink", "processor" };
    return names[kind >= WEIR_KIND_SOURCE && kind <= WEIR_KIND_PROCESSOR ? (unsigned)kind : 0u];
}

/* The host's lock is held: nothing of it is asked here. */
static bool visit_component(void *context, const weir_component_info *info)
{
    weir__figures *f = context;
    weir__component_item *item =
        weir__list_add(f, &f->groups[WEIR__GROUP_COMPONENT], sizeof(*item));
    if (item == NULL) {
        return false;
    }
    item->kind = kind_name(info->type->kind);
    item->labels = weir__figures_labels(f, "component", info->name, "kind", item->kind);
    item->name = weir__figures_text(f, info->name);
    item->type = weir__figures_text(f, info->type->name);
    item->thread = weir__figures_text(f, info->thread);
    item->phase = weir__figures_text(f, info->phase);
    item->running = strcmp(info->phase, "running") == 0 ? 1 : 0;
    item->feed = item->processor = "";
    item->rounds = info->rounds;
    item->work = info->work;
    item->failures = info->failures;
    item->address = info->address;
    item->feed_handle = info->feed;
    return true;
}

void weir__figures_components(weir__figures *f)
{
    weir_component_visit(f->engine, visit_component, f);
    weir__component_item *items = f->groups[WEIR__GROUP_COMPONENT].items;
    for (uint32_t i = 0; i < f->groups[WEIR__GROUP_COMPONENT].count; i++) {
        char name[WEIR__NAME_SIZE];
        const weir__feed *feed = weir__feed_find(f->engine, items[i].feed_handle);
        if (feed != NULL) {
            items[i].feed = feed->name; /* which lives as long as its engine */
        }
        if (items[i].address.id != 0 &&
            weir_processor_name(f->engine, items[i].address, name, sizeof(name)) > 0) {
            items[i].processor = weir__figures_text(f, name);
        }
    }
}

/* ---- dead letters and errors ---- */

static const char *name_of(weir__figures *f, weir_processor processor)
{
    char name[WEIR__NAME_SIZE];
    if (processor.id == 0) {
        return "";
    }
    return weir_processor_name(f->engine, processor, name, sizeof(name)) > 0
               ? weir__figures_text(f, name)
               : "(gone)";
}

static void add_letter(weir__figures *f, const weir_dead_letter *letter)
{
    static const char *const reasons[] = { "?", "failed", "unknown", "stopped", "refused", "late" };
    weir__letter_item *item = weir__list_add(f, &f->letters, sizeof(*item));
    if (item == NULL) {
        return;
    }
    item->number = letter->number;
    item->size = letter->size;
    item->reason = reasons[letter->reason <= WEIR_DEAD_LATE ? (unsigned)letter->reason : 0u];
    item->status = weir_status_name(letter->status);
    item->sender = name_of(f, letter->from);
    item->receiver = name_of(f, letter->to);
    item->type = weir__figures_text(f, letter->type != NULL ? letter->type->name : "");
    item->text = weir__figures_text(f, letter->text);
    item->time = letter->wall_time;
    if (letter->reason == WEIR_DEAD_FAILED) {
        weir__error_item *error = weir__list_add(f, &f->errors, sizeof(*error));
        if (error != NULL) {
            error->component = item->receiver;
            error->status = item->status;
            error->text = item->text[0] != '\0' ? item->text : weir_status_text(letter->status);
            error->time = item->time;
        }
    }
}

static bool visit_failure(void *context, const weir_failure *failure)
{
    weir__figures *f = context;
    weir__error_item *error = weir__list_add(f, &f->errors, sizeof(*error));
    if (error != NULL) {
        error->component = weir__figures_text(f, failure->component);
        error->status = weir_status_name(failure->status);
        error->text = weir__figures_text(f, failure->text);
        error->time = failure->time;
    }
    return error != NULL;
}

static int by_time(const void *a, const void *b)
{
    const weir_ns x = ((const weir__error_item *)a)->time;
    const weir_ns y = ((const weir__error_item *)b)->time;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* The newest, oldest first. */
void weir__figures_letters(weir__figures *f)
{
    weir_dead_letter letters[WEIR__METRICS_LETTERS];
    const weir__engine_item *engine = f->groups[WEIR__GROUP_ENGINE].items;
    const uint64_t all = engine != NULL ? engine->c.letters : 0;
    letters[0].struct_size = sizeof(letters[0]);
    const size_t count = weir_dead_letter_read(
        f->engine, all > WEIR__METRICS_LETTERS ? all - WEIR__METRICS_LETTERS : 0, letters,
        WEIR__METRICS_LETTERS);
    for (size_t i = 0; i < count && !f->failed; i++) {
        add_letter(f, &letters[i]);
    }
    weir_failure_visit(f->engine, visit_failure, f);
    if (f->errors.count > 0) {
        weir__error_item *errors = f->errors.items;
        qsort(errors, f->errors.count, sizeof(*errors), by_time);
        if (f->errors.count > WEIR__METRICS_LETTERS) {
            memmove(errors, errors + (f->errors.count - WEIR__METRICS_LETTERS),
                    WEIR__METRICS_LETTERS * sizeof(*errors));
            f->errors.count = WEIR__METRICS_LETTERS;
        }
    }
}

/* ---- all of it ---- */

static uint32_t processors_max(weir_engine *engine, const weir_metrics_options *options)
{
    const uint32_t configured = weir__load(&engine->metrics_processors_max, relaxed);
    uint32_t most = options->processors_max;
    most = most != 0 ? most : configured != 0 ? configured : WEIR__METRICS_PROCESSORS_USUAL;
    return most < WEIR__METRICS_PROCESSORS_MAX ? most : WEIR__METRICS_PROCESSORS_MAX;
}

bool weir__figures_take(weir__figures *f, weir_engine *engine, const weir_metrics_options *options)
{
    weir_metrics_options o = { .struct_size = 0 };
    weir__health_look look = { .full_count = 0 };
    *f = (weir__figures){ .engine = engine, .allocator = &engine->allocator };
    if (options != NULL && weir__options_read(&o, sizeof(o), options) != WEIR_OK) {
        o.processors_max = 0;
    }
    weir__figures_engine(f);
    take_process(f);
    weir_dispatcher_visit(engine, visit_dispatcher, f);
    weir__figures_threads(f);
    weir__figures_feeds(f);
    weir__figures_routers(f);
    take_timers(f);
    weir__figures_components(f);
    weir__figures_processors(f, o.processors_max, processors_max(engine, &o), &look);
    weir__figures_edges(f);
    weir__figures_letters(f);
    weir__figures_own(f);
    weir__health_judge(f, &look);
    weir__engine_item *item = f->groups[WEIR__GROUP_ENGINE].items;
    if (item != NULL) {
        item->hidden = f->processors_total - f->processors_shown;
        item->health = (uint64_t)f->health;
    }
    return !f->failed;
}
