/*
 * engine/counters.c - reading what happened.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "weir/counters.h"

#include "base/memory.h"
#include "engine/engine.h"
#include "engine/event_time.h"
#include "engine/outcome.h"
#include "engine/processor.h"
#include "engine/supervise.h"

#define LOOKS_MAX 8u

/* `attempted` was read last: it has all that the others have, and perhaps posts since. */
static uint64_t accepted_in(const weir__sums *s)
{
    const uint64_t refused =
        s->refused_full + s->refused_stopping + s->refused_unknown + s->refused_other;
    return s->attempted > refused ? s->attempted - refused : 0;
}

/* Answers what was accepted. Cells are not read at one moment, so it looks until what belongs
 * together fits, or for a few times: `dead`, and how many of those were never handled. And a post
 * that is under way is counted before anybody knows whether it is refused: the least is right.
 * *told: that, but never less than anybody was told before. For who reads it a counter that falls
 * has begun anew. */
static uint64_t look(weir_engine *engine, weir__sums *s, uint64_t *told)
{
    weir__sums next;
    uint64_t accepted = 0;
    weir__mutex_lock(&engine->look_lock); /* or who has looked first may tell last */
    weir__engine_sums(engine, &next);
    for (uint32_t i = 0; i < LOOKS_MAX; i++) {
        *s = next;
        weir__engine_sums(engine, &next);
        accepted = accepted_in(s) < accepted_in(&next) ? accepted_in(s) : accepted_in(&next);
        if (s->dead == next.dead) {
            break;
        }
    }
    if (accepted > engine->accepted_told) {
        engine->accepted_told = accepted;
    }
    *told = engine->accepted_told;
    weir__mutex_unlock(&engine->look_lock);
    return accepted;
}

weir_status weir_engine_counters(weir_engine *engine, weir_counters *out)
{
    weir__sums s;
    weir_counters c = WEIR_COUNTERS_INIT;
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    const uint64_t accepted = look(engine, &s, &c.accepted);
    c.refused_full = s.refused_full;
    c.refused_stopping = s.refused_stopping;
    c.refused_unknown = s.refused_unknown;
    c.refused_other = s.refused_other;
    c.dropped_newest = s.dropped_newest;
    c.dropped_oldest = s.dropped_oldest;
    c.dropped = s.dropped_newest + s.dropped_oldest;
    c.handled = s.handled;
    c.dead = s.dead;
    c.unhandled = s.unhandled;
    c.letters_unknown = s.letters_unknown;
    c.letters_refused = s.letters_refused;
    c.letters_late = s.letters_late;
    c.letters = s.letters_failed + s.letters_stopped + s.letters_unknown + s.letters_refused +
                s.letters_late;
    c.rooms = s.rooms;
    c.retries = s.retries;
    c.restarts = s.restarts;
    const uint64_t done = c.handled + c.dropped + c.dead + s.left;
    c.left = s.left;
    c.depth = accepted > done ? accepted - done : 0;
    if (weir__load(&engine->stop_done, acquire) == 2) {
        const weir_stop_report *report = &engine->stop_report;
        c.accepted = report->accepted;
        c.handled = report->handled;
        c.dropped = report->dropped;
        c.dead = report->dead;
        c.left = report->left;
        c.depth = 0;
    }
    /* Not read at one moment. */
    c.dead_stopped = s.dead_stopped < c.dead ? s.dead_stopped : c.dead;
    c.dead_failed = c.dead - c.dead_stopped;
    c.failures = c.dead_failed + c.retries; /* it is one or the other */
    c.processors = weir__load(&engine->registry.count, relaxed);
    const uint32_t threads = weir__threads_count(engine);
    for (uint32_t i = 0; i < threads; i++) {
        const uint32_t state = weir__load(&weir__thread_at(engine, i)->state, acquire);
        c.threads += state < WEIR__THREAD_LEFT ? 1 : 0;
    }
    const uint32_t dispatchers = weir__dispatchers_count(engine);
    for (uint32_t i = 0; i < dispatchers; i++) {
        c.dispatchers += weir__load(&engine->dispatchers[i]->threads, relaxed) > 0 ? 1 : 0;
    }
    c.block_bytes = weir__load(&engine->block_bytes, relaxed);
    c.block_bytes_high = weir__load(&engine->block_bytes_high, relaxed);
    c.block_refused = weir__load(&engine->block_refused, relaxed);
    c.pool_bytes = weir__stores_bytes(&engine->stores);
    c.stuck = weir__cell_read(&engine->stuck);
    c.broadcasts = s.broadcasts;
    c.unheard = s.unheard;
    c.delivered = s.delivered;
    c.undelivered = s.undelivered;
    c.untold = s.untold;
    return weir__struct_fill(out, &c, sizeof(c));
}

/* registry.lock held. */
static void read_processor(weir_engine *engine, weir__processor *p, weir_counters *out)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    weir__processor_cold *cold = weir__processor_cold_of(p);
    c.handled = weir__cell_read(&p->handled);
    c.dead = weir__cell_read(&p->dead);
    if (cold != NULL) {
        c.dropped_newest = weir__processor_dropped_newest(cold);
        c.dropped_oldest = weir__load(&cold->dropped_oldest, relaxed);
        c.left = weir__cell_read(&cold->left);
        const uint64_t stopped = weir__cell_read(&cold->dead_stopped);
        c.dead_stopped = stopped < c.dead ? stopped : c.dead;
        c.triggers = cold->agenda != NULL ? weir__cell_read(&cold->agenda->handled) : 0;
        if (cold->supervision != NULL) {
            c.retries = weir__cell_read(&cold->supervision->retries);
            c.restarts = weir__cell_read(&cold->supervision->restarts);
        }
    }
    c.dead_failed = c.dead - c.dead_stopped;
    c.failures = c.dead_failed + c.retries;
    c.dropped = c.dropped_newest + c.dropped_oldest;
    const uint64_t word = weir__load(&p->mailbox.word, acquire);
    const uint64_t open =
        weir__mailbox_outstanding(word, c.handled + c.dead + c.dropped_oldest + c.left);
    /* The cells and the word are not read at one moment: a handled event may look outstanding, and
     * the other way round, which would show as an enormous number. */
    c.depth = open <= p->mailbox.limit + (uint64_t)1 ? open : 0;
    c.rooms = weir__mailbox_owed(word);
    if (weir__load(&engine->stop_done, acquire) == 2) {
        c.left += c.depth;
        c.depth = 0;
    }
    c.accepted = c.handled + c.dead + c.dropped + c.left + c.depth;
    c.mailbox_max = p->mailbox.limit;
    const uint64_t least = c.accepted > c.dropped_newest ? 1 : 0;
    c.depth_high = weir__load(weir__registry_high(p), relaxed);
    c.depth_high = c.depth_high > c.depth ? c.depth_high : c.depth;
    c.depth_high = c.depth_high > least ? c.depth_high : least;
    *out = c;
}

weir_status weir_processor_counters(weir_engine *engine, weir_processor processor,
                                    weir_counters *out)
{
    weir_counters c;
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    weir__mutex_lock(&engine->registry.lock);
    weir__processor *p = weir__registry_find(&engine->registry, processor);
    if (p != NULL) {
        read_processor(engine, p, &c);
    }
    weir__mutex_unlock(&engine->registry.lock);
    return p != NULL ? weir__struct_fill(out, &c, sizeof(c)) : WEIR_UNKNOWN;
}

/* Nothing is outstanding there any more. */
void weir__counters_gone(weir__outcome *gone, const weir__processor *p)
{
    weir__processor_cold *cold = weir__processor_cold_of(p);
    const uint64_t handled = weir__cell_read(&p->handled);
    const uint64_t dead = weir__cell_read(&p->dead);
    gone->accepted += handled + dead;
    gone->handled += handled;
    gone->dead_failed += dead;
    if (cold == NULL) {
        return;
    }
    const uint64_t newest = weir__processor_dropped_newest(cold);
    const uint64_t oldest = weir__load(&cold->dropped_oldest, relaxed);
    const uint64_t left = weir__cell_read(&cold->left);
    const uint64_t stopped = weir__cell_read(&cold->dead_stopped);
    gone->accepted += newest + oldest + left;
    gone->dropped_newest += newest;
    gone->dropped_oldest += oldest;
    gone->left += left;
    gone->dead_failed -= stopped;
    gone->dead_stopped += stopped;
    if (cold->supervision != NULL) {
        gone->retries += weir__cell_read(&cold->supervision->retries);
        gone->restarts += weir__cell_read(&cold->supervision->restarts);
    }
}

/* Without a lock: slots stay, and what is read of them is atoms. */
static uint64_t depth_of(weir_engine *engine, uint32_t slots, const weir__dispatcher *dispatcher)
{
    uint64_t depth = 0;
    for (uint32_t i = 0; i < slots; i++) {
        weir__processor *p = weir__registry_slot(&engine->registry, i);
        if (weir__load(&p->dispatcher, relaxed) == dispatcher && weir__processor_is_live(p)) {
            depth += weir__mailbox_count(weir__load(&p->mailbox.word, relaxed));
        }
    }
    return depth;
}

weir_status weir_dispatcher_counters_get(weir_engine *engine, const char *dispatcher,
                                         weir_dispatcher_counters *out)
{
    weir_dispatcher_counters c = WEIR_DISPATCHER_COUNTERS_INIT;
    if (!weir__engine_usable(engine) || dispatcher == NULL) {
        return WEIR_E_INVALID;
    }
    weir__mutex_lock(&engine->registry.lock); /* it keeps its name */
    weir__dispatcher *d = weir__dispatcher_find(engine, dispatcher);
    if (d == NULL) {
        weir__mutex_unlock(&engine->registry.lock);
        return WEIR_UNKNOWN;
    }
    c.processors = weir__load(&d->processors, relaxed);
    c.threads = weir__load(&d->threads, relaxed);
    c.ready = weir__dispatcher_ready(d);
    c.signals = weir__load(&d->signals, relaxed);
    /* Of those that have left, too. */
    for (const weir__serving *s = weir__servings_first(d); s != NULL; s = s->next) {
        c.handled += weir__cell_read(&s->handled);
        c.turns += weir__cell_read(&s->turns);
        c.try_locks += weir__cell_read(&s->try_locks);
        c.try_locks_failed += weir__cell_read(&s->try_locks_failed);
        c.backoffs += weir__cell_read(&s->backoffs);
        c.backoff_ns += weir__cell_read(&s->backoff_ns);
        c.rounds += weir__cell_read(&s->rounds);
        c.wakeups += weir__cell_read(&s->wakeups);
        c.wakeups_found += weir__cell_read(&s->wakeups_found);
    }
    const uint32_t slots = engine->registry.used;
    weir__mutex_unlock(&engine->registry.lock);
    c.depth = c.processors > 0 ? depth_of(engine, slots, d) : 0;
    return weir__struct_fill(out, &c, sizeof(c));
}

static void read_time(const weir__thread *t, weir_thread_counters *c)
{
    const weir_ns began = (weir_ns)weir__cell_read(&t->began);
    const weir_ns ended = (weir_ns)weir__cell_read(&t->ended);
    const uint64_t busy = weir__cell_read(&t->busy);
    const weir_ns now = weir__clock_now();
    weir_ns cpu = -1;
    c->system_id = (int32_t)weir__load(&((weir__thread *)(uintptr_t)t)->system_id, relaxed);
    c->core_now = -1;
    if (c->system_id != 0) {
        cpu = weir__os_thread_cpu(c->system_id);
        c->core_now = weir__os_thread_core(c->system_id);
    }
    c->cpu = cpu >= 0 ? cpu : (weir_ns)weir__cell_read(&t->cpu);
    c->alive = began != 0 ? (ended != 0 ? ended : now) - began : 0;
    c->busy = weir__busy_so_far(busy, now);
    c->busy = c->busy < c->alive ? c->busy : c->alive; /* not read at one moment */
}

static void at_least(weir_ns *told, weir_ns *value)
{
    *told = *value > *told ? *value : *told;
    *value = *told;
}

/* A thread takes the time before it writes it down. Who looks between the two tells more than it
 * will have written, and the next look would tell less: then what was told stands. */
static void keep_growing(weir_engine *engine, weir__thread *t, weir_thread thread,
                         weir_thread_counters *c)
{
    weir__mutex_lock(&engine->registry.lock);
    if (weir__load(&t->id, relaxed) == thread.id) { /* else another has its seat by now */
        at_least(&t->told.busy, &c->busy);
        at_least(&t->told.alive, &c->alive);
        at_least(&t->told.cpu, &c->cpu);
    }
    weir__mutex_unlock(&engine->registry.lock);
}

weir_status weir_thread_counters_get(weir_engine *engine, weir_thread thread,
                                     weir_thread_counters *out)
{
    weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    weir__thread *t = weir__thread_known(engine, thread);
    if (t == NULL) {
        return WEIR_UNKNOWN;
    }
    /* Also of dispatchers that others on this seat have served: those add nothing. */
    for (const weir__serving *s = weir__servings_of(t); s != NULL; s = s->sibling) {
        const uint64_t before = weir__cell_read(&s->handled_before);
        const uint64_t handled = weir__cell_read(&s->handled);
        c.handled += handled > before ? handled - before : 0;
    }
    c.turns = weir__cell_read(&t->turns);
    c.rounds = weir__cell_read(&t->rounds);
    c.rounds_idle = weir__cell_read(&t->rounds_idle);
    c.parks = weir__cell_read(&t->parks);
    c.backoffs = weir__cell_read(&t->backoffs);
    c.first_work = (weir_ns)weir__cell_read(&t->first_work);
    c.last_work = (weir_ns)weir__cell_read(&t->last_work);
    c.core = weir__load(&t->core, relaxed);
    read_time(t, &c);
    keep_growing(engine, t, thread, &c);
    return weir__struct_fill(out, &c, sizeof(c));
}

void weir_log_level_set(weir_engine *engine, weir_log_level level)
{
    if (weir__engine_usable(engine) && level >= WEIR_LOG_DEFAULT && level <= WEIR_LOG_OFF) {
        weir__store(&engine->log.level,
                    level == WEIR_LOG_DEFAULT ? WEIR_LOG_WARNING : (uint32_t)level, relaxed);
    }
}

bool weir_log_enabled(const weir_engine *engine, weir_log_level level)
{
    return engine != NULL && weir__log_on(&engine->log, level);
}

void weir_log_write(weir_engine *engine, weir_log_level level, const char *component,
                    const char *text, const weir_log_field *fields, size_t field_count)
{
    if (weir__engine_usable(engine) && level > WEIR_LOG_DEFAULT && level < WEIR_LOG_OFF) {
        weir__log_say(&engine->log, NULL, level, WEIR_OK, component, text, fields, field_count);
    }
}
