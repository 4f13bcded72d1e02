/*
 * host/memory.c - the component types `memory` and `memory-sink`.
 *
 * Both are a ring of kept events. A program reaches them by their name, under the host's lock, so
 * that nobody ends them meanwhile; their own lock is for the thread that hosts them, which never
 * has the host's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "weir/memory.h"

#include "base/error.h"
#include "base/memory.h"
#include "engine/parcel.h"
#include "host/host.h"

#define RUN_MAX 256u /* published in a round */
#define AGAIN WEIR_MS

typedef struct store {
    weir__mutex lock;
    weir_event *events; /* a ring of `max` */
    uint64_t first, count, max;
    uint64_t total; /* that ever came */
    bool open;      /* it may be pushed to */
} store;

static weir_status init(void *state, weir_component *self, const void *config, weir_error *error)
{
    const weir_memory_config *c = config;
    store *s = state;
    s->max = (uint64_t)c->max;
    s->events = weir__allocate(&self->host->engine->allocator, s->max * sizeof(*s->events));
    return s->events != NULL ? WEIR_OK : weir__error_memory(error, weir_component_name(self));
}

/* lock held. The oldest. */
static weir_event take(store *s)
{
    const weir_event event = s->events[s->first];
    s->first = (s->first + 1) % s->max;
    s->count--;
    return event;
}

static void tear_down(void *state, weir_component *self)
{
    store *s = state;
    while (s->count > 0) {
        weir_event event = take(s);
        weir_event_release(&event);
    }
    weir__release(&self->host->engine->allocator, s->events, s->max * sizeof(*s->events));
    s->events = NULL;
}

static const weir_option options[] = {
    WEIR_KEY(INT, weir_memory_config, max, "max", .fallback = "1024", .min = 1, .max = 1e6,
             .help = "Events that wait to be published, or are kept."),
};

/* host.lock held. NULL: there is none of this name and type. */
static store *find(weir__host *host, const char *name, const weir_component_type *type)
{
    weir_component *c = name != NULL ? weir__host_find(host, name) : NULL;
    if (c == NULL || c->given != type) {
        return NULL;
    }
    store *s = (store *)(void *)c->state;
    return s->events != NULL ? s : NULL;
}

/* ---- the source ---- */

static weir_status open_up(void *state, weir_component *self, weir_error *error)
{
    store *s = state;
    (void)self;
    (void)error;
    weir__mutex_lock(&s->lock);
    s->open = true;
    weir__mutex_unlock(&s->lock);
    return WEIR_OK;
}

/* True: the oldest was published, or can never be. */
static bool publish_one(store *s, weir_component *self)
{
    weir__mutex_lock(&s->lock);
    const bool any = s->count > 0;
    const weir_event event = any ? s->events[s->first] : (weir_event){ .type = NULL };
    weir__mutex_unlock(&s->lock);
    if (!any) {
        return false;
    }
    const weir_status status =
        weir_feed_publish(self->host->engine, weir_component_feed(self), &event);
    if (status == WEIR_FULL || status == WEIR_STOPPING || status == WEIR_E_NOMEM) {
        return false; /* it stays the oldest: only we take from this end */
    }
    if (status < 0) {
        weir_component_report(self, status, "an event that was pushed cannot be published");
    }
    weir__mutex_lock(&s->lock);
    weir_event done = take(s);
    weir__mutex_unlock(&s->lock);
    weir_event_release(&done);
    return true;
}

static int32_t work(void *state, weir_component *self, weir_ns *next)
{
    store *s = state;
    int32_t done = 0;
    while (done < (int32_t)RUN_MAX && publish_one(s, self)) {
        done++;
    }
    weir__mutex_lock(&s->lock);
    const bool more = s->count > 0;
    weir__mutex_unlock(&s->lock);
    if (more) {
        *next = weir_time_now(self->host->engine) + (done > 0 ? 0 : AGAIN);
    }
    return done;
}

static void stop(void *state, weir_component *self)
{
    store *s = state;
    weir__mutex_lock(&s->lock);
    s->open = false;
    weir__mutex_unlock(&s->lock);
    while (publish_one(s, self)) { /* ends: nothing is pushed any more */
    }
    if (s->count > 0) {
        weir_component_report(self, WEIR_FULL, "it stops with events that were not published");
    }
}

const weir_component_type weir_memory_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SOURCE,
    .name = "memory",
    .help = "publishes what the program pushes (weir_memory_push)",
    .state_size = sizeof(store),
    .config_size = sizeof(weir_memory_config),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .init = init,
    .start_complete = open_up,
    .do_work = work,
    .stop = stop,
    .tear_down = tear_down,
    .slow = WEIR_SLOW_BLOCK,
};

/* s->lock held. OK: *kept is in there. */
static weir_status append(store *s, const weir_event *kept)
{
    if (!s->open) {
        return WEIR_UNKNOWN;
    }
    if (s->count == s->max) {
        return WEIR_FULL;
    }
    s->events[(s->first + s->count) % s->max] = *kept;
    s->count++;
    s->total++;
    return WEIR_OK;
}

weir_status weir_memory_push(weir_engine *engine, const char *name, const weir_event *event)
{
    weir__host *host = weir__engine_usable(engine) ? weir__host_of(engine) : NULL;
    weir_event kept;
    if (host == NULL) {
        return weir__engine_usable(engine) ? WEIR_UNKNOWN : WEIR_E_INVALID;
    }
    weir_status status = weir__parcel_check(event);
    if (status == WEIR_OK) {
        status = weir_event_keep(engine, event, &kept);
    }
    if (status != WEIR_OK) {
        return status;
    }
    weir__mutex_lock(&host->lock);
    store *s = find(host, name, &weir_memory_type);
    status = WEIR_UNKNOWN;
    if (s != NULL) {
        weir__mutex_lock(&s->lock);
        status = append(s, &kept);
        weir__mutex_unlock(&s->lock);
    }
    if (status == WEIR_OK) {
        weir_component_wake(weir__component_of(s));
    }
    weir__mutex_unlock(&host->lock);
    if (status != WEIR_OK) {
        weir_event_release(&kept);
    }
    return status;
}

/* ---- the sink ---- */

static weir_status keep(void *state, weir_turn *turn, const weir_event *event)
{
    store *s = state;
    weir_event spent = { .type = NULL };
    weir_event kept;
    (void)turn;
    const weir_status status =
        weir_event_keep(weir__component_of(state)->host->engine, event, &kept);
    if (status != WEIR_OK) {
        return status;
    }
    weir__mutex_lock(&s->lock);
    if (s->count == s->max) {
        spent = take(s);
    }
    s->events[(s->first + s->count) % s->max] = kept;
    s->count++;
    s->total++;
    weir__mutex_unlock(&s->lock);
    weir_event_release(&spent);
    return WEIR_OK;
}

const weir_component_type weir_memory_sink_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SINK,
    .name = "memory-sink",
    .help = "keeps the last events, for the program to look at (weir_memory_visit)",
    .state_size = sizeof(store),
    .config_size = sizeof(weir_memory_config),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .init = init,
    .tear_down = tear_down,
    .handler = keep,
};

/* host.lock and the store's held. Copies of what is there; NULL: nothing, or no memory. */
static weir_event *copy_all(weir_engine *engine, const store *s, uint64_t *count)
{
    *count = 0;
    weir_event *copies =
        s->count > 0 ? weir__allocate(&engine->allocator, s->count * sizeof(*copies)) : NULL;
    for (uint64_t i = 0; copies != NULL && i < s->count; i++) {
        copies[i] = s->events[(s->first + i) % s->max];
        (void)weir_block_take(copies[i].block);
        *count = i + 1;
    }
    return copies;
}

weir_status weir_memory_visit(weir_engine *engine, const char *name,
                              bool (*visit)(void *context, const weir_event *event), void *context,
                              uint64_t *total)
{
    weir__host *host = weir__engine_usable(engine) ? weir__host_of(engine) : NULL;
    if (host == NULL) {
        return weir__engine_usable(engine) ? WEIR_UNKNOWN : WEIR_E_INVALID;
    }
    weir_event *copies = NULL;
    weir_status status = WEIR_UNKNOWN;
    uint64_t count = 0;
    weir__mutex_lock(&host->lock);
    store *s = find(host, name, &weir_memory_sink_type);
    if (s != NULL) {
        weir__mutex_lock(&s->lock);
        copies = visit != NULL ? copy_all(engine, s, &count) : NULL;
        status = visit != NULL && s->count > 0 && copies == NULL ? WEIR_E_NOMEM : WEIR_OK;
        if (total != NULL) {
            *total = s->total;
        }
        weir__mutex_unlock(&s->lock);
    }
    weir__mutex_unlock(&host->lock);
    bool goes_on = true;
    for (uint64_t i = 0; i < count; i++) {
        goes_on = goes_on && visit(context, &copies[i]);
        weir_event_release(&copies[i]);
    }
    weir__release(&engine->allocator, copies, count * sizeof(*copies));
    return status;
}
