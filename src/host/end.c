/*
 * host/end.c - components end: nothing that was accepted is lost on the way.
 *
 * Sources stop first. Then the engine comes to rest, so that what they published has gone all its
 * way. Then each of the others, those that refer to others first: its mail is handled and its
 * processor ends, a sink flushes, `stop` runs; what that sends goes to those that are still there.
 * Then sources hear of the last commit; then tear_down, in the reverse of the order of starting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/shutdown.h"
#include "host/host.h"
#include "sync/word.h"

#define TIMEOUT_DEFAULT (30 * WEIR_S)
#define LOOK_AGAIN WEIR_MS
#define FLUSH_TRIES 6u /* of one that fails: with the delays between them about 0.3 s */

weir_ns weir__host_left(weir__host *host, weir_ns deadline)
{
    deadline = weir__host_deadline(host, deadline);
    if (deadline == WEIR_FOREVER) {
        return WEIR_FOREVER;
    }
    const weir_ns span = deadline - weir__clock_now();
    return span > 0 ? span : WEIR_NOW;
}

/* A pause; a stop that wants to be quicker ends it. */
void weir__host_rest(weir__host *host, weir_ns span)
{
    const uint32_t seen = weir__load(&host->stop_asked, relaxed);
    weir__word_wait(&host->stop_asked, seen, span);
}

/* ---- one of them ---- */

static void unsubscribe(weir_component *c)
{
    for (size_t i = 0; i < c->feeds.count && c->address.id != 0; i++) {
        const weir_feed feed = weir_feed_find(c->host->engine, c->feeds.items[i]);
        (void)weir_feed_unsubscribe(c->host->engine, feed, c->address);
    }
}

/* On its thread if that is there, else here if nobody is; else at the end of the engine. */
weir_status weir__component_run(weir_component *c, weir__errand errand, weir_ns deadline)
{
    if (weir__host_is_alone(c->host)) {
        return weir__component_errand_here(c, errand, NULL);
    }
    return weir__component_errand(c, errand, NULL, deadline);
}

/* A flush that is not done yet has all the time there is; one that fails some tries. */
weir_status weir__component_flush(weir_component *c, weir_ns deadline)
{
    weir_ns delay = 10 * WEIR_MS;
    uint32_t failures = 0;
    for (;;) {
        const weir_status status = weir__component_run(c, WEIR__ERRAND_FLUSH, deadline);
        if (status == WEIR_OK || status == WEIR_TIMEOUT || status == WEIR_STOPPING || c->lost) {
            return status;
        }
        failures += status < 0 ? 1 : 0;
        if (failures == FLUSH_TRIES || weir__host_left(c->host, deadline) == WEIR_NOW) {
            weir__component_fail(c, status, "what it wrote last could not be flushed: %s",
                                 weir_status_text(status));
            return status;
        }
        weir__host_rest(c->host, status < 0 ? delay : LOOK_AGAIN);
        delay = status < 0 ? 2 * delay : delay;
    }
}

/* Behind all that it was sent. */
static void send_finish(weir_component *c, weir_ns deadline)
{
    const weir_event event = { .type = &weir__finish_turn_type };
    weir_status status = WEIR_OK;
    if (c->type.finish == NULL) {
        return;
    }
    do {
        if (status == WEIR_FULL || status == WEIR_DROPPED) {
            weir__host_rest(c->host, LOOK_AGAIN);
        }
        status = weir_engine_post(c->host->engine, c->address, &event);
    } while ((status == WEIR_FULL || status == WEIR_DROPPED) &&
             weir__host_left(c->host, deadline) != WEIR_NOW);
    if (status != WEIR_OK) {
        weir__component_fail(c, status, "its finish could not be run: %s",
                             weir_status_text(status));
        return;
    }
    /* A stop that finds something waiting says so; this is expected. */
    weir_counters counters = WEIR_COUNTERS_INIT;
    while (weir_processor_counters(c->host->engine, c->address, &counters) == WEIR_OK &&
           counters.depth > 0 && weir__host_left(c->host, deadline) != WEIR_NOW) {
        weir__host_rest(c->host, LOOK_AGAIN);
    }
}

weir_status weir__component_end(weir_component *c, weir_ns deadline)
{
    weir_status status = WEIR_OK;
    if (c->type.kind == WEIR_KIND_SERVICE) {
        weir__service_leave(c);
    }
    weir__component_resume(c); /* a restart of it has failed: what waits dies of that */
    if (c->address.id != 0) {
        unsubscribe(c);
        send_finish(c, deadline);
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        status = weir_processor_stop(c->host->engine, c->address,
                                     weir__host_left(c->host, deadline), &report);
        if (status == WEIR_OK || status == WEIR_TIMEOUT) {
            weir__mutex_lock(&c->host->lock);
            c->stopped = report;
            weir__mutex_unlock(&c->host->lock);
        }
        if (status == WEIR_TIMEOUT) {
            /* A handler may be at it still: the rest must wait until no thread is left. */
            weir__component_fail(c, status, "was not drained in time");
            c->lost = true;
            return status;
        }
    }
    if (weir__component_phase_of(c) == WEIR__COMPONENT_FAILED) {
        return WEIR_OK; /* a restart has failed: there is nothing of it to stop */
    }
    if (c->type.flush != NULL) {
        (void)weir__component_flush(c, deadline);
    }
    status = weir__component_run(c, WEIR__ERRAND_STOP, deadline);
    if (status == WEIR_TIMEOUT) {
        weir__component_fail(c, status, "its stop was not over in time");
    }
    return status;
}

void weir__component_tear_down(weir_component *c, weir_ns deadline)
{
    const weir__component_phase phase = weir__component_phase_of(c);
    if (c->lost && !weir__host_is_alone(c->host)) {
        return;
    }
    weir_status status = WEIR_OK;
    if (phase == WEIR__COMPONENT_STARTED || phase == WEIR__COMPONENT_RUNNING) {
        /* There was no time for it. What cannot be flushed now never will be. */
        (void)weir__component_run(c, WEIR__ERRAND_FLUSH, deadline);
        status = weir__component_run(c, WEIR__ERRAND_STOP, deadline);
    }
    if (status == WEIR_OK && phase != WEIR__COMPONENT_ADDED && phase != WEIR__COMPONENT_FAILED) {
        status = weir__component_run(c, WEIR__ERRAND_TEAR_DOWN, deadline);
    }
    if (status != WEIR_OK) {
        weir__component_fail(c, status, "its tear_down was not over in time");
        c->lost = true;
        return;
    }
    weir__component_attach(c, false);
    if (c->agent != NULL) {
        weir__agent_leave(c->agent);
        c->agent = NULL;
    }
}

void weir__component_undo(weir_component *c, weir_ns deadline)
{
    if (c->type.kind == WEIR_KIND_SERVICE) {
        weir__service_leave(c);
    }
    unsubscribe(c);
    weir__component_tear_down(c, deadline);
}

/* ---- all of them ---- */

static bool look_at_feed(void *context, weir_feed feed, const char *name)
{
    weir__host *host = ((void **)context)[0];
    bool *empty = ((void **)context)[1];
    weir_feed_counters counters = WEIR_FEED_COUNTERS_INIT;
    (void)name;
    if (weir_feed_counters_get(host->engine, feed, &counters) == WEIR_OK && counters.deepest > 0) {
        *empty = false;
    }
    return *empty;
}

static bool is_quiet(weir__host *host)
{
    bool empty = true;
    void *context[] = { host, &empty };
    weir_feed_visit(host->engine, look_at_feed, context);
    return empty && weir__engine_is_quiet(host->engine);
}

/* Until nothing is on its way, twice in a row: what was in a queue is in a mailbox then. Threads
 * outside may post for ever, so this has half of the time at most. */
void weir__host_come_to_rest(weir__host *host, weir_ns deadline)
{
    const weir_ns begin = weir__clock_now();
    uint32_t quiet = 0;
    while (quiet < 2) {
        const weir_ns end = weir__host_deadline(host, deadline);
        quiet = is_quiet(host) ? quiet + 1 : 0;
        if (quiet < 2) {
            if (end != WEIR_FOREVER && weir__clock_now() >= begin + (end - begin) / 2) {
                return;
            }
            if (quiet == 0) {
                weir__host_rest(host, LOOK_AGAIN);
            }
        }
    }
}

static bool is_source(const weir_component *c)
{
    return c->type.kind == WEIR_KIND_SOURCE;
}

static void stop_all(weir__host *host, weir_ns deadline)
{
    for (size_t i = host->count; i > 0; i--) {
        weir__component_resume(host->order[i - 1]); /* nobody restarts it any more */
    }
    for (size_t i = host->count; i > 0; i--) {
        if (is_source(host->order[i - 1])) {
            (void)weir__component_end(host->order[i - 1], deadline);
        }
    }
    weir__host_come_to_rest(host, deadline);
    for (size_t i = host->count; i > 0; i--) {
        if (!is_source(host->order[i - 1])) {
            (void)weir__component_end(host->order[i - 1], deadline);
        }
    }
    for (size_t i = host->count; i > 0; i--) {
        weir_component *c = host->order[i - 1];
        if (is_source(c) && c->type.commit != NULL && !c->lost) {
            (void)weir__component_run(c, WEIR__ERRAND_COMMIT, deadline);
        }
    }
    for (size_t i = host->count; i > 0; i--) {
        weir__component_tear_down(host->order[i - 1], deadline);
    }
}

/* Somebody may be starting, or stopping with more time than this: both look. */
static void ask_for_stop(weir__host *host, weir_ns deadline)
{
    uint64_t before = weir__load(&host->stop_deadline, relaxed);
    while ((uint64_t)deadline < before &&
           !weir__cas(&host->stop_deadline, &before, (uint64_t)deadline, relaxed, relaxed)) {
    }
    weir__add(&host->stop_asked, 1, seq_cst);
    weir__word_wake(&host->stop_asked, INT32_MAX);
}

weir_status weir_components_stop(weir_engine *engine, weir_ns timeout, weir_stop_report *report)
{
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    if (weir__context_in_handler()) {
        return WEIR_E_BLOCKING;
    }
    weir__host *host = weir__host_of(engine);
    if (host == NULL) {
        return weir_engine_stop(engine, timeout, report);
    }
    const weir_ns deadline = weir__deadline(timeout, TIMEOUT_DEFAULT);
    ask_for_stop(host, deadline);
    weir__mutex_lock(&host->life);
    if (host->running) {
        host->running = false;
        stop_all(host, deadline);
    }
    host->ended = true;
    weir__mutex_unlock(&host->life);
    return weir_engine_stop(engine, weir__host_left(host, deadline), report);
}

/* ---- removing ---- */

/* lock held. NULL: error set. */
static weir_component *find_removable(weir__host *host, const char *name, weir_error *error)
{
    weir_component *found = NULL;
    for (weir_component *c = host->components; c != NULL; c = c->next) {
        if (!weir__component_is_called(c, name)) {
            continue;
        }
        const weir_component *other = weir__component_referrer(c);
        if (other != NULL) {
            (void)weir__error_at(error, WEIR_E_INVALID, "weir_component_remove",
                                 "component %s refers to %s: remove it first", other->name,
                                 c->name);
            return NULL;
        }
        char router[64];
        if (weir__component_is_routed_to(c, router, sizeof(router))) {
            (void)weir__error_at(error, WEIR_E_INVALID, "weir_component_remove",
                                 "router %s routes to %s: stop it first", router, c->name);
            return NULL;
        }
        found = c;
    }
    if (found == NULL) {
        char nearest[96];
        weir__host_nearest(host, name, nearest, sizeof(nearest));
        (void)weir__error_at(error, WEIR_E_INVALID, "weir_component_remove",
                             "no component is called %.64s%s", name, nearest);
    }
    return found;
}

static weir_status remove_one(weir_component *c, weir_ns deadline)
{
    weir__host *host = c->host;
    if (host->running) {
        weir_status status = weir__component_end(c, deadline);
        if (is_source(c) && !c->lost) {
            weir__host_come_to_rest(host, deadline);
            (void)weir__component_run(c, WEIR__ERRAND_COMMIT, deadline);
        }
        weir__component_tear_down(c, deadline);
        if (c->lost) {
            return status == WEIR_OK ? WEIR_TIMEOUT : status; /* its record stays, for the end */
        }
    }
    weir__component_discard(c);
    return WEIR_OK;
}

weir_status weir_component_remove(weir_engine *engine, const char *name, weir_ns timeout,
                                  weir_error *error)
{
    weir_error own = WEIR_ERROR_INIT;
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine) || name == NULL) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_component_remove",
                              "needs a usable engine and a name");
    }
    if (weir__context_in_handler()) {
        return WEIR_E_BLOCKING;
    }
    weir__host *host = weir__host_need(engine);
    if (host == NULL) {
        return weir__error_memory(error, "weir_component_remove");
    }
    error = error != NULL ? error : &own;
    const weir_ns deadline = weir__deadline(timeout, TIMEOUT_DEFAULT);
    weir__mutex_lock(&host->life);
    weir_status status = host->ended ? WEIR_STOPPING : WEIR_OK;
    bool more = status == WEIR_OK;
    bool any = false;
    while (more) {
        weir__mutex_lock(&host->lock);
        /* The instances of one name go one by one; the last look finds none. */
        weir_component *c = find_removable(host, name, any ? NULL : error);
        weir__mutex_unlock(&host->lock);
        status = c != NULL ? remove_one(c, deadline) : any ? WEIR_OK : error->status;
        more = c != NULL && status == WEIR_OK;
        any = any || c != NULL;
    }
    weir__mutex_unlock(&host->life);
    return status;
}
