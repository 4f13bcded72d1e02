/*
 * grace.c - the grace period by itself: a slot is given up and taken again while threads that found
 * it are still inside their mark.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/engine.h"
#include "engine/processor.h"
#include "scenario.h"
#include "sync/word.h"

#define TAKES 4
#define IN_LIMBO 31 /* with one more a grace period is worth its barrier */

static weir_processor handle;
static weir__atomic_u32 taken_again;

static weir_status nothing(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

/* As a post does: whoever has found it may rely on it until it leaves. Then it stays: nobody takes
 * its context over. */
static void look(void *unused)
{
    weir__context *context = weir__context_find(stage.engine);
    (void)unused;
    weir_sim_check(context != NULL, "no context");
    weir__context_enter(context);
    const weir__processor *processor = weir__registry_find(&stage.engine->registry, handle);
    if (processor != NULL) {
        const uint32_t found = processor->last_thread;
        weir_sim_step();
        weir_sim_check(processor->last_thread == found, "the slot has a new tenant");
    }
    weir__context_leave(context);
    while (weir__load(&taken_again, relaxed) == 0) {
        weir__word_wait(&taken_again, 0, WEIR_FOREVER);
    }
}

SCENARIO(grace, "a slot is given up and taken again while two threads look at it")
{
    weir_status status = WEIR_OK;
    if (stage_is_short()) {
        return; /* it cannot do without a context for each of them */
    }
    stage_open(NULL);
    weir__registry *registry = &stage.engine->registry;
    handle = weir_processor_add(stage.engine, WEIR_PROCESSOR(.handler = nothing), &stage.error);
    weir__store(&taken_again, 0, seq_cst);
    registry->limbo_count = IN_LIMBO;
    weir_sim_quiet(false);
    const int first = weir_sim_thread_start(look, NULL);
    const int second = weir_sim_thread_start(look, NULL);
    weir__processor *old = weir__registry_slot(registry, 0);
    weir__registry_retire(stage.engine, old);
    for (int i = 0; i < TAKES; i++) {
        weir__processor *taken = weir__registry_take(stage.engine, &status);
        weir_sim_check(taken != NULL, "no slot");
        taken->last_thread = 2;
    }
    weir__store(&taken_again, 1, seq_cst);
    weir__word_wake(&taken_again, INT32_MAX);
    weir_sim_thread_join(first);
    weir_sim_thread_join(second);
    stage_close();
}
