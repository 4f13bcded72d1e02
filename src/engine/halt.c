/*
 * engine/halt.c - see halt.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/halt.h"

#include "base/assert.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/request.h"
#include "engine/stop.h"
#include "engine/supervise.h"
#include "sync/word.h"

enum { ASKED, TAKEN, HALTED, OVER, GIVEN_UP };

struct weir__halt {
    weir_engine *engine;
    weir_status (*before)(void *argument, weir_turn *turn);
    void *argument;
    weir_status status;          /* why not; by the turn, then the word */
    weir__atomic_u32 word;       /* a wait word */
    weir__atomic_u32 references; /* the asker, the request, and the turn while it is TAKEN */
};

static void release(weir__halt *halt)
{
    /* [HA3] pairs with itself: the last one sees what the others did with it. */
    if (weir__sub(&halt->references, 1, acq_rel) == 1) {
        weir__release(&halt->engine->allocator, halt, sizeof(*halt));
    }
}

static void tell(weir__halt *halt, uint32_t word)
{
    /* [HA1] pairs with [HA2]: all that the processor's turns wrote, and why not. */
    weir__store(&halt->word, word, release);
    weir__word_wake(&halt->word, 1);
}

/* ---- in the turn ---- */

static bool have_cold(const weir_turn *turn)
{
    weir_engine *engine = turn->context->engine;
    weir__mutex_lock(&engine->registry.lock);
    const bool have = weir__processor_cold_make(engine, turn->processor) != NULL;
    weir__mutex_unlock(&engine->registry.lock);
    return have;
}

/* It will not be halted, unless its asker has given up anyway. */
static void refuse(weir__halt *halt, weir_status status)
{
    uint32_t asked = ASKED;
    if (weir__cas(&halt->word, &asked, TAKEN, relaxed, relaxed)) {
        halt->status = status;
        tell(halt, OVER);
    }
}

static weir_status run(void *argument, weir_turn *turn)
{
    weir__halt *halt = argument;
    uint32_t asked = ASKED;
    if (weir__load(&halt->word, acquire) != ASKED) {
        return WEIR_OK;
    }
    weir_status status = have_cold(turn) ? WEIR_OK : WEIR_E_NOMEM;
    status = status == WEIR_OK ? halt->before(halt->argument, turn) : status;
    if (status != WEIR_OK) {
        refuse(halt, status);
        return WEIR_OK;
    }
    if (!weir__cas(&halt->word, &asked, TAKEN, relaxed, relaxed)) {
        return WEIR_OK;
    }
    weir__add(&halt->references, 1, relaxed);
    weir__processor_cold_of(turn->processor)->halt = halt;
    weir__or(&turn->processor->control, WEIR__CONTROL_HALTED, relaxed);
    return WEIR__HALTS;
}

static void over(void *argument)
{
    weir__halt *halt = argument;
    refuse(halt, WEIR_STOPPING); /* nothing, if it has run */
    release(halt);
}

static weir__halt *take_record(weir__processor_cold *cold)
{
    weir__halt *halt = cold->halt;
    WEIR_ASSERT(halt != NULL);
    cold->halt = NULL;
    return halt;
}

void weir__halt_lost(const weir_turn *turn)
{
    weir__halt *halt = take_record(weir__processor_cold_of(turn->processor));
    halt->status = WEIR_STOPPING;
    tell(halt, OVER);
    release(halt);
}

bool weir__halt_aside(weir_turn *turn)
{
    weir__processor *processor = turn->processor;
    weir_engine *engine = turn->context->engine;
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    weir__mutex_lock(&engine->registry.lock);
    const bool waits = !weir__processor_is_frozen(processor);
    weir__halt *halt = waits ? take_record(cold) : NULL;
    cold->halted = waits;
    weir__mutex_unlock(&engine->registry.lock);
    if (!waits) {
        weir__halt_lost(turn);
        return false;
    }
    tell(halt, HALTED); /* it is nobody's now: only the record is touched */
    release(halt);
    return true;
}

/* ---- its end ---- */

bool weir__halt_end(weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    if (cold == NULL || !cold->halted) {
        return false;
    }
    cold->halted = false;
    weir__and(&processor->control, ~(uint32_t)WEIR__CONTROL_HALTED, release);
    weir__dispatcher_push(weir__processor_dispatcher(processor), processor);
    return true;
}

weir_status weir__processor_resume(weir_engine *engine, weir_processor processor)
{
    weir__mutex_lock(&engine->registry.lock);
    weir__processor *found = weir__registry_find(&engine->registry, processor);
    const weir_status status = found == NULL           ? WEIR_UNKNOWN
                               : weir__halt_end(found) ? WEIR_OK
                                                       : WEIR_ALREADY;
    weir__mutex_unlock(&engine->registry.lock);
    return status;
}

/* ---- the asker ---- */

weir_status weir__halt_ask(weir_engine *engine, weir_processor processor,
                           weir_status (*before)(void *argument, weir_turn *turn), void *argument,
                           weir__halt **out)
{
    weir__halt *halt = weir__allocate(&engine->allocator, sizeof(*halt));
    if (halt == NULL) {
        return WEIR_E_NOMEM;
    }
    halt->engine = engine;
    halt->before = before;
    halt->argument = argument;
    weir__init(&halt->word, ASKED);
    weir__init(&halt->references, 2);
    const weir__turn_request request = { run, over, halt };
    const weir_status status = weir__processor_request(engine, processor, &request);
    if (status != WEIR_OK) {
        release(halt);
        return status;
    }
    *out = halt;
    return WEIR_OK;
}

weir_status weir__halt_wait(weir__halt *halt, weir_ns timeout)
{
    const weir_ns deadline = weir__deadline(timeout, WEIR_NOW);
    for (;;) {
        const uint32_t word = weir__load(&halt->word, acquire); /* [HA2] pairs with [HA1] */
        if (word == HALTED || word == OVER) {
            return word == HALTED ? WEIR_OK : halt->status;
        }
        if (!weir__wait_until(&halt->word, word, deadline)) {
            return WEIR_TIMEOUT;
        }
    }
}

bool weir__halt_close(weir__halt *halt)
{
    uint32_t asked = ASKED;
    bool halted = false;
    if (!weir__cas(&halt->word, &asked, GIVEN_UP, relaxed, relaxed)) {
        halted = weir__halt_wait(halt, WEIR_FOREVER) == WEIR_OK; /* the end of a turn, no more */
    }
    release(halt);
    return halted;
}

/* ---- restart ---- */

/* One that just resumes has no record of its supervision: it gets one that does the same. */
static weir_status supervise(const weir_turn *turn)
{
    weir_engine *engine = turn->context->engine;
    const weir_processor_options as_before = { .on_failure = WEIR_RESUME,
                                               .retry_then = WEIR_RESUME,
                                               .restart_max = 1 };
    weir__mutex_lock(&engine->registry.lock);
    weir__processor_cold *cold = weir__processor_cold_make(engine, turn->processor);
    if (cold != NULL && cold->supervision == NULL) {
        cold->supervision = weir__supervision_make(engine, &as_before);
    }
    const bool made = cold != NULL && cold->supervision != NULL;
    weir__mutex_unlock(&engine->registry.lock);
    return made ? WEIR_OK : WEIR_E_NOMEM;
}

static weir_status run_restart(void *argument, weir_turn *turn)
{
    (void)argument;
    const weir_status status = supervise(turn);
    return status == WEIR_OK ? WEIR__RESTARTS : status;
}

static void restart_over(void *argument)
{
    (void)argument; /* who asked looks at the counter */
}

weir_status weir__processor_restart(weir_engine *engine, weir_processor processor)
{
    const weir__turn_request request = { run_restart, restart_over, NULL };
    return weir__processor_request(engine, processor, &request);
}
