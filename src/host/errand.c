/*
 * host/errand.c - having something done on a component's thread, and waiting for it as long as one
 * cares to.
 *
 * The word of an errand goes NONE -> ASKED -> TAKEN -> DONE -> NONE. Who asks takes it back from
 * ASKED; nobody can from TAKEN: then the component is *lost*, until its thread comes back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/engine.h"
#include "host/host.h"
#include "sync/word.h"

#define SLICE                                                                                      \
    (10 * WEIR_MS) /* how late a stop that comes meanwhile, or the thread's end, is seen */

weir_ns weir__host_deadline(weir__host *host, weir_ns deadline)
{
    const weir_ns asked = (weir_ns)weir__load(&host->stop_deadline, relaxed);
    return asked < deadline ? asked : deadline;
}

bool weir__host_is_alone(weir__host *host)
{
    weir_engine *engine = host->engine;
    const weir__phase phase = weir__engine_phase(engine);
    return host->alone || phase == WEIR__CREATED ||
           (phase == WEIR__EXITING && weir__load(&engine->stop_done, seq_cst) == 2);
}

/* Its thread leaves without a look at it, or has left, or was never there. */
static bool thread_is_gone(const weir_component *component)
{
    const weir__phase phase = weir__engine_phase(component->host->engine);
    return phase == WEIR__CREATED || phase >= WEIR__ABANDONED;
}

static bool take_back(weir_component *component)
{
    uint32_t asked = WEIR__ERRAND_ASKED;
    return weir__cas(&component->errand_word, &asked, WEIR__ERRAND_NONE, relaxed, relaxed);
}

/* A start has no time limit but a stop, and that does not end a hook: so it waits for it. */
static bool is_over(const weir_component *component, weir_ns deadline)
{
    const weir_ns end = component->errand < WEIR__ERRAND_FLUSH
                            ? deadline
                            : weir__host_deadline(component->host, deadline);
    return end != WEIR_FOREVER && weir__clock_now() >= end;
}

static weir_status await(weir_component *component, weir_ns deadline)
{
    for (;;) {
        /* [CO5] pairs with [CO6]: the answer, and all that the hook wrote. */
        const uint32_t word = weir__load(&component->errand_word, acquire);
        if (word == WEIR__ERRAND_DONE) {
            weir__store(&component->errand_word, WEIR__ERRAND_NONE, relaxed);
            component->lost = false;
            return component->errand_status;
        }
        const bool gone = thread_is_gone(component);
        if (gone || is_over(component, deadline)) {
            if (take_back(component)) {
                return gone ? WEIR_STOPPING : WEIR_TIMEOUT;
            }
            if (!gone && weir__load(&component->errand_word, acquire) != WEIR__ERRAND_DONE) {
                component->lost = true;
                return WEIR_TIMEOUT;
            }
        }
        weir__word_wait(&component->errand_word, word, SLICE);
    }
}

weir_status weir__component_join(weir_component *component, weir_error *error)
{
    weir_engine *engine = component->host->engine;
    const weir__agent_plan plan = {
        .name = component->name,
        .do_work = weir__component_round,
        .context = component,
    };
    weir_error own = WEIR_ERROR_INIT;
    error = error != NULL ? error : &own;
    component->agent = weir__agent_join(engine, component->thread, &plan, error);
    return component->agent != NULL   ? WEIR_OK
           : error->status != WEIR_OK ? error->status
                                      : WEIR_E_NOMEM;
}

/* A thread looks at its agents in every round, so that one without rounds only costs. */
void weir__component_settle(weir_component *component)
{
    if (!weir__component_has_rounds(component) && component->agent != NULL) {
        weir__agent_leave(component->agent);
        component->agent = NULL;
    }
}

weir_status weir__component_errand(weir_component *component, weir__errand errand,
                                   weir_error *error, weir_ns deadline)
{
    if (component->lost && weir__load(&component->errand_word, acquire) == WEIR__ERRAND_NONE) {
        return WEIR_TIMEOUT; /* its handler is at it */
    }
    if (component->lost) {
        /* Whatever it was that took so long: only its end makes room for another one. */
        const weir_status status = await(component, deadline);
        if (component->lost) {
            return status;
        }
    }
    if (component->agent == NULL) {
        const weir_status status = weir__component_join(component, NULL);
        if (status != WEIR_OK) {
            return WEIR_STOPPING; /* its thread is gone; or there is no memory, and nobody to ask */
        }
    }
    component->errand = errand;
    component->errand_error = error;
    component->errand_status = WEIR_OK;
    /* [CO7] pairs with [CO8]: what is to be done. */
    weir__store(&component->errand_word, WEIR__ERRAND_ASKED, release);
    weir__agent_wake(component->agent);
    return await(component, deadline);
}
