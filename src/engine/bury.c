/*
 * engine/bury.c - after a stop that ran out of time, a start that failed, or no start at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/bury.h"

#include "engine/block.h"
#include "engine/event_time.h"
#include "engine/life.h"
#include "engine/processor.h"
#include "engine/stop.h"
#include "engine/supervise.h"

/* Events, and room events that were never sent. */
static void empty(weir__context *context, weir__stock *stock, weir__processor *processor)
{
    weir__mailbox *mailbox = &processor->mailbox;
    const uint64_t word = weir__load(&mailbox->word, relaxed);
    weir__cursor cursor = weir__mailbox_cursor(word, 0);
    weir__envelope *event;
    for (uint32_t left = weir__mailbox_count(word); left > 0; left--) {
        event = weir__mailbox_take(mailbox, &cursor, word);
        if (event == NULL) {
            break; /* its poster never came back */
        }
        if ((weir__load(&event->state, relaxed) & WEIR__ENVELOPE_BLOCK) != 0) {
            weir__block_release(context, event->payload.shared.block);
        }
        (void)weir__mailbox_let_go(mailbox, &cursor, word, stock);
    }
    /* What is left of its memory goes with the pools. */
    weir__store(&mailbox->root, 0, relaxed);
    weir__store(&processor->rooms, WEIR__ROOMS_CLOSED, relaxed);
}

static void bury(weir_engine *engine, weir__context *context, weir__stock *stock,
                 weir__processor *processor)
{
    const weir__processor_cold *cold = weir__processor_cold_of(processor);
    const uint32_t control = weir__load(&processor->control, acquire);
    empty(context, stock, processor);
    if (cold == NULL) {
        return;
    }
    weir__supervise_bury(context, processor);
    if (cold->destroy != NULL && (control & (WEIR__CONTROL_INIT | WEIR__CONTROL_BROKEN)) == 0) {
        weir__life_destroy(engine, processor, engine->stop_status);
    }
    if (cold->agenda != NULL) {
        weir__agenda_clear(cold->agenda);
    }
}

static bool is_leaf(const weir__processor *processor)
{
    const weir__processor_cold *cold = weir__processor_cold_of(processor);
    return cold == NULL || cold->first_child == NULL;
}

/* registry.lock held. */
static void take_off(weir_engine *engine, weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    if (cold != NULL) {
        weir__life_leave_family(cold);
        if (cold->name != NULL) {
            weir__namemap_remove(&engine->registry.names, cold->name);
        }
        if (cold->stop != NULL) {
            weir__stop_answer(cold->stop, WEIR_TIMEOUT);
            weir__stop_release(engine, cold->stop);
            cold->stop = NULL;
        }
    }
    if (cold != NULL && cold->needs_final) {
        cold->needs_final = false;
        engine->registry.needing--;
    }
    weir__life_free_state(engine, processor);
    weir__registry_retire(engine, processor);
}

void weir__bury_all(weir_engine *engine)
{
    weir__context *context = weir__context_find(engine); /* NULL: there is no memory for one */
    weir__stock stock = { .stores = &engine->stores };
    weir__context_handler_begin(); /* hooks run */
    for (uint32_t i = 0; i < engine->registry.used; i++) {
        weir__processor *processor = weir__registry_slot(&engine->registry, i);
        /* Up from every leaf as far as it was the last child: each is met once, children first. */
        while (processor != NULL && weir__processor_is_live(processor) && is_leaf(processor)) {
            const weir__processor_cold *cold = weir__processor_cold_of(processor);
            weir__processor *parent = cold != NULL ? cold->parent : NULL;
            bury(engine, context, &stock, processor);
            weir__mutex_lock(&engine->registry.lock);
            take_off(engine, processor);
            weir__mutex_unlock(&engine->registry.lock);
            processor = parent;
        }
    }
    weir__context_handler_end();
    weir__stock_flush(&stock);
}
