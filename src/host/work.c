/*
 * host/work.c - what runs on a component's threads: its rounds, its hooks, its handler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine/ask.h"
#include "engine/behaviour.h"
#include "feed/feed.h"
#include "host/host.h"
#include "sync/word.h"
#include "weir/flow.h"

#define DELAY_FIRST (10 * WEIR_MS) /* after a failure; twice that after the next ... */
#define DELAY_MOST WEIR_S
#define ROUND_PATIENCE WEIR_MS

static void lock(weir_component *c)
{
    if (c->shared) {
        weir__mutex_lock(&c->lock);
    }
}

static void unlock(weir_component *c)
{
    if (c->shared) {
        weir__mutex_unlock(&c->lock);
    }
}

static weir_ns longer(weir_ns delay)
{
    const weir_ns next = delay == 0 ? DELAY_FIRST : 2 * delay;
    return next < DELAY_MOST ? next : DELAY_MOST;
}

/* ---- a sink's flush: its lock held ---- */

static void let_go(weir_component *c)
{
    for (size_t i = 0; i < c->origin_count; i++) {
        weir_origin_release(c->origins[i]);
    }
    c->origin_count = 0;
    c->unflushed = 0;
    c->flush_at = 0;
    c->flush_delay = 0;
}

/* An answer above zero is "not yet": asked again soon, and no failure. */
static weir_status flush(weir_component *c)
{
    if (c->type.flush == NULL || c->unflushed == 0) {
        return WEIR_OK;
    }
    const weir_status status = c->type.flush(c->state, c);
    if (status == WEIR_OK || status == WEIR_ALREADY) {
        let_go(c);
        return WEIR_OK;
    }
    c->flush_delay = status > 0 ? WEIR_MS : longer(c->flush_delay);
    c->flush_at = weir__clock_now() + c->flush_delay;
    if (status < 0) {
        weir__component_fail(c, status, "flush failed: %s; %u events wait for it",
                             weir_status_text(status), c->unflushed);
    }
    return status;
}

/* Room for one origin more, before its event is handled: afterwards it is too late to refuse. */
static bool make_room(weir_component *c)
{
    const weir_allocator *allocator = &c->host->engine->allocator;
    if (c->origin_count < c->origin_room) {
        return true;
    }
    const size_t room = c->origin_room > 0 ? 2 * c->origin_room : 64;
    weir_origin **more = weir__allocate(allocator, room * sizeof(void *));
    if (more == NULL) {
        return false;
    }
    if (c->origin_count > 0) {
        memcpy(more, c->origins, c->origin_count * sizeof(void *));
    }
    weir__release(allocator, c->origins, c->origin_room * sizeof(void *));
    c->origins = more;
    c->origin_room = room;
    return true;
}

/* Events of one batch have one origin: kept once. */
static void hold(weir_component *c, weir_origin *origin)
{
    if (origin == NULL) {
        return;
    }
    if (c->origin_count > 0 && c->origins[c->origin_count - 1] == origin) {
        weir_origin_release(origin);
        return;
    }
    c->origins[c->origin_count++] = origin;
}

/* ---- the handler ---- */

const weir_event_type weir__finish_turn_type = {
    .struct_size = sizeof(weir_event_type),
    .name = "weir.component-finish",
};

static weir_status call_handler(weir_component *c, weir_turn *turn, const weir_event *event)
{
    if (event->type == &weir__finish_turn_type) {
        return c->type.finish != NULL ? c->type.finish(c->state, turn) : WEIR_OK;
    }
    return c->type.handler != NULL ? c->type.handler(c->state, turn, event)
                                   : weir_turn_handle(turn, &c->type.cases, c->state, event);
}

static bool was_handled(weir_status status)
{
    return status == WEIR_OK || status == WEIR_DROPPED || status == WEIR_ALREADY;
}

static weir_status handle_flushed(weir_component *c, weir_turn *turn, const weir_event *event)
{
    if (!make_room(c)) {
        return weir_turn_fail(turn, WEIR_E_NOMEM, "no memory to know what is to be flushed");
    }
    const weir_status status = call_handler(c, turn, event);
    if (was_handled(status)) {
        hold(c, weir_turn_origin(turn));
        c->unflushed++;
    }
    const bool due = c->unflushed % c->type.flush_max == 0 || !weir_turn_more(turn);
    /* While a flush fails its own time counts, not that of the events that come meanwhile. */
    if (due && c->flush_at == 0 && flush(c) != WEIR_OK) {
        weir_component_wake(c); /* its thread sees to it later */
    }
    return status;
}

weir_status weir__component_handle(void *state, weir_turn *turn, const weir_event *event)
{
    weir_component *c = weir__component_of(state);
    lock(c);
    weir_status status;
    if (weir__component_phase_of(c) != WEIR__COMPONENT_RUNNING) {
        status = weir_turn_fail(turn, WEIR_E_FAILED, "its component is not running");
    } else if (c->type.flush != NULL) {
        status = handle_flushed(c, turn, event);
    } else {
        status = call_handler(c, turn, event);
    }
    unlock(c);
    const uint32_t failing = was_handled(status) ? 0 : 1;
    if (weir__unlikely(weir__load(&c->failing, relaxed) != failing)) {
        weir__store(&c->failing, failing, relaxed);
        if (failing != 0 && c->ends_of_failure) {
            weir__component_fail(c, status, "its handler failed, which ends it: on-failure = stop");
        }
    }
    return status;
}

weir_status weir__component_last_turn(void *component, weir_turn *turn)
{
    weir_component *c = component;
    const weir__asks *asks = weir__asks_of(turn->processor);
    if (asks != NULL && asks->open > 0) {
        return WEIR_FULL; /* what it waits for comes first */
    }
    weir_status status = WEIR_OK;
    if (c->type.finish != NULL && weir__component_phase_of(c) == WEIR__COMPONENT_RUNNING) {
        lock(c);
        status = c->type.finish(c->state, turn);
        unlock(c);
    }
    if (!was_handled(status)) {
        return status;
    }
    weir__behaviour_reset(turn->processor);
    return WEIR_OK;
}

/* ---- hooks ---- */

static weir_status failed(weir_component *c, const char *hook, weir_status status, weir_error *own,
                          weir_error *error)
{
    char path[96];
    if (status == WEIR_OK || status == WEIR_ALREADY) {
        return WEIR_OK;
    }
    status = status > 0 ? WEIR_E_FAILED : status;
    snprintf(path, sizeof(path), "component %s", c->name);
    return weir__error_at(error, status, path, "%s failed: %s", hook,
                          own->status != 0 ? own->text : weir_status_text(status));
}

/* What was published before is replayed. Who reads it on this thread has to have a turn now and
 * then: the rest comes in the next rounds, and until then nothing new is read. */
static void begin_feed(weir_component *c)
{
    const weir_status status = weir_feed_begin(c->host->engine, c->port->feed);
    c->begins = status == WEIR_FULL || status == WEIR_E_NOMEM;
}

static weir_status run_begin(weir_component *c, weir__errand errand, weir_error *error)
{
    const bool start = errand == WEIR__ERRAND_START;
    weir__feed *feed = c->port != NULL ? weir__feed_find(c->host->engine, c->port->feed) : NULL;
    if (start && feed != NULL) {
        weir__feed_free_writer(feed); /* from here on it is written here, wherever it was before */
    }
    weir_status (*hook)(void *, weir_component *, weir_error *) =
        start ? c->type.start : c->type.start_complete;
    weir_error own = WEIR_ERROR_INIT;
    weir_status status = hook != NULL ? hook(c->state, c, &own) : WEIR_OK;
    status = failed(c, start ? "start" : "start_complete", status, &own, error);
    if (status == WEIR_OK && !start && c->port != NULL) {
        begin_feed(c);
    }
    if (status == WEIR_OK) {
        weir__component_phase_set(c, start ? WEIR__COMPONENT_STARTED : WEIR__COMPONENT_RUNNING);
    }
    return status;
}

static void commit(weir_component *c)
{
    uint64_t position;
    if (c->type.commit == NULL || c->port == NULL ||
        weir__component_phase_of(c) == WEIR__COMPONENT_FAILED ||
        !weir_feed_committed(c->host->engine, c->port->feed, &position) ||
        (c->commit_told && c->committed == position)) {
        return;
    }
    c->commit_told = true;
    c->committed = position;
    c->type.commit(c->state, c, position);
}

static weir_status run_errand(weir_component *c, weir__errand errand, weir_error *error)
{
    switch (errand) {
    case WEIR__ERRAND_START:
    case WEIR__ERRAND_COMPLETE:
        return run_begin(c, errand, error);
    case WEIR__ERRAND_FLUSH:
        return flush(c);
    case WEIR__ERRAND_STOP:
        if (c->type.stop != NULL) {
            c->type.stop(c->state, c);
        }
        weir__component_phase_set(c, WEIR__COMPONENT_STOPPED);
        return WEIR_OK;
    case WEIR__ERRAND_COMMIT:
        commit(c);
        return WEIR_OK;
    case WEIR__ERRAND_TEAR_DOWN:
    default:
        if (c->type.tear_down != NULL) {
            c->type.tear_down(c->state, c);
        }
        weir__component_phase_set(c, WEIR__COMPONENT_ADDED);
        return WEIR_OK;
    }
}

weir_status weir__component_errand_here(weir_component *c, weir__errand errand, weir_error *error)
{
    weir__context_handler_begin(); /* hooks do not wait, wherever they run */
    const weir_status status = run_errand(c, errand, error);
    weir__context_handler_end();
    return status;
}

/* ---- rounds ---- */

static bool take_errand(weir_component *c)
{
    uint32_t asked = WEIR__ERRAND_ASKED;
    /* [CO8] pairs with [CO7]. */
    if (weir__load(&c->errand_word, relaxed) != WEIR__ERRAND_ASKED ||
        !weir__cas(&c->errand_word, &asked, WEIR__ERRAND_TAKEN, acquire, relaxed)) {
        return false;
    }
    lock(c);
    c->errand_status = run_errand(c, c->errand, c->errand_error);
    unlock(c);
    /* [CO6] pairs with [CO5]. Nothing of the component is touched after this: it may be freed. */
    weir__atomic_u32 *word = &c->errand_word;
    weir__store(word, WEIR__ERRAND_DONE, release);
    weir__word_wake(word, 1);
    return true;
}

static int32_t call_work(weir_component *c, weir_ns *next)
{
    if (c->idle_until != 0) {
        if (weir__clock_now() < c->idle_until) {
            *next = c->idle_until;
            return 0;
        }
        c->idle_until = 0;
    }
    const int32_t work = c->type.do_work(c->state, c, next);
    weir__cell_add(&c->rounds, 1);
    if (work < 0) {
        c->idle_for = longer(c->idle_for);
        c->idle_until = weir__clock_now() + c->idle_for;
        *next = c->idle_until;
        weir__component_fail(c, work, "do_work failed: %s", weir_status_text(work));
        return 0;
    }
    c->idle_for = 0;
    weir__cell_add(&c->work, (uint64_t)work);
    return work;
}

static weir_ns earlier(weir_ns a, weir_ns b)
{
    return a < b ? a : b;
}

int32_t weir__component_round(void *context, weir_ns *next)
{
    weir_component *c = context;
    if (take_errand(c)) {
        *next = weir__clock_now(); /* look again: the component may be gone by now */
        return 1;
    }
    if (weir__component_phase_of(c) != WEIR__COMPONENT_RUNNING) {
        return 0;
    }
    /* A handler that does not return holds up this component, not what else its thread hosts. */
    if (c->shared && !weir__mutex_lock_within(&c->lock, ROUND_PATIENCE)) {
        *next = 0;
        return 0;
    }
    int32_t work = 0;
    /* [CO9] pairs with [CO10]. */
    if (weir__load(&c->commit_due, relaxed) != 0 && weir__exchange(&c->commit_due, 0, acquire)) {
        commit(c);
        work = 1;
    }
    if (c->flush_at != 0 && weir__clock_now() >= c->flush_at) {
        (void)flush(c);
        work = 1;
    }
    if (c->begins) {
        begin_feed(c);
        *next = weir__clock_now() + WEIR_MS;
    } else if (c->type.do_work != NULL) {
        const int32_t done = call_work(c, next);
        work = done > INT32_MAX - work ? INT32_MAX : work + done;
    }
    *next = c->flush_at != 0 ? earlier(*next, c->flush_at) : *next;
    unlock(c);
    return work;
}

/* ---- sending ---- */

weir_status weir_turn_send(weir_turn *turn, const weir_target *to, const weir_event *event)
{
    if (to == NULL || turn == NULL) {
        return WEIR_E_INVALID;
    }
    if (to->processor.id != 0) {
        return weir_turn_post(turn, to->processor, event);
    }
    if (to->router.id != 0) {
        return weir_turn_submit(turn, to->router, event != NULL ? event->flow : 0, event);
    }
    return to->name == NULL ? WEIR_OK : WEIR_UNKNOWN;
}
