/*
 * engine/turn_api.c - what handlers and outsiders call: the public face of posting and of a turn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "engine/ask.h"
#include "engine/block.h"
#include "engine/engine.h"
#include "engine/event_time.h"
#include "engine/straight.h"
#include "engine/timer.h"
#include "engine/turn.h"
#include "engine/waiter.h"

/* `by` is a copy: what nobody else can reach stays in registers. */
static WEIR__ALWAYS weir_status post(const weir__posting by, weir_processor to,
                                     const weir_event *event)
{
    weir__post_begin(by.context);
    return weir__post_straight(&by, to, event);
}

/* ---- from outside ---- */

weir_status weir_engine_post(weir_engine *engine, weir_processor to, const weir_event *event)
{
    weir__posting by;
    return weir__likely(weir__post_outside(engine, &by)) ? post(by, to, event)
                                                         : weir__post_why_not(engine);
}

/* A commit that cannot even be tried drops the payload like any other. */
static void give_up(const weir_event *event)
{
    if (event != NULL && event->block != NULL) {
        if (event->type != NULL) {
            weir__block_note_drop(event->block, event->type, event->data);
        }
        weir_block_release(event->block);
    }
}

weir_status weir_engine_commit(weir_engine *engine, weir_processor to, const weir_event *event)
{
    weir__posting by;
    if (!weir__post_outside(engine, &by)) {
        give_up(event);
        return weir__post_why_not(engine);
    }
    return weir__post_commit(&by, to, event);
}

static void fill_statuses(weir_status *statuses, size_t count, weir_status status)
{
    for (size_t i = 0; statuses != NULL && i < count; i++) {
        statuses[i] = status;
    }
}

static bool batch_is_sane(const weir_processor *to, size_t to_count,
                          const weir_event *const *events, size_t count)
{
    return to != NULL && events != NULL && (to_count == 1 || to_count == count);
}

size_t weir_engine_post_batch(weir_engine *engine, const weir_processor *to, size_t to_count,
                              const weir_event *const *events, size_t count, weir_status *statuses)
{
    weir__posting by;
    if (!batch_is_sane(to, to_count, events, count)) {
        fill_statuses(statuses, count, WEIR_E_INVALID);
        return 0;
    }
    if (!weir__post_outside(engine, &by)) {
        fill_statuses(statuses, count, weir__post_why_not(engine));
        return 0;
    }
    return weir__post_batch(&by, to, to_count, events, count, statuses);
}

/* ---- from a turn ---- */

weir_engine *weir_turn_engine(const weir_turn *turn)
{
    return turn != NULL ? turn->context->engine : NULL;
}

weir_processor weir_turn_self(const weir_turn *turn)
{
    return turn != NULL ? turn->self : (weir_processor){ 0 };
}

weir_ns weir_turn_now(weir_turn *turn)
{
    if (turn == NULL) {
        return 0;
    }
    const weir__agenda *agenda = weir__agenda_of(turn->processor);
    if (agenda != NULL) {
        return agenda->clock;
    }
    if (turn->now == 0) {
        turn->now = weir__clock_now();
    }
    return turn->now;
}

weir_status weir_turn_post(weir_turn *turn, weir_processor to, const weir_event *event)
{
    if (weir__unlikely(turn == NULL)) {
        return WEIR_E_INVALID;
    }
    return post(weir__turn_posting(turn), to, event);
}

weir_status weir_turn_commit(weir_turn *turn, weir_processor to, const weir_event *event)
{
    if (turn == NULL) {
        give_up(event);
        return WEIR_E_INVALID;
    }
    const weir__posting by = weir__turn_posting(turn);
    return weir__post_commit(&by, to, event);
}

size_t weir_turn_post_batch(weir_turn *turn, const weir_processor *to, size_t to_count,
                            const weir_event *const *events, size_t count, weir_status *statuses)
{
    if (turn == NULL || !batch_is_sane(to, to_count, events, count)) {
        fill_statuses(statuses, count, WEIR_E_INVALID);
        return 0;
    }
    const weir__posting by = weir__turn_posting(turn);
    return weir__post_batch(&by, to, to_count, events, count, statuses);
}

weir_status weir_turn_reply(weir_turn *turn, weir_ticket to, const weir_event *event)
{
    if (turn == NULL || !weir__engine_usable(turn->context->engine)) {
        return WEIR_E_INVALID;
    }
    if (to.ask == 0) {
        return to.sender.id != 0 ? weir_turn_post(turn, to.sender, event) : WEIR_UNKNOWN;
    }
    const weir__posting by = weir__turn_posting(turn);
    return to.sender.id != 0 ? weir__ask_answer(&by, to, event)
                             : weir__waiter_answer(&by, to.ask, event);
}

weir_origin *weir_turn_origin(weir_turn *turn)
{
    weir_origin *origin = turn != NULL ? turn->context->origin : NULL;
    if (origin != NULL) {
        weir__origin_hold(origin, 1);
    }
    return origin;
}

weir_status weir_turn_fail(weir_turn *turn, weir_status reason, const char *text)
{
    if (turn != NULL && text != NULL) {
        snprintf(turn->text, sizeof(turn->text), "%s", text);
        turn->text_of = weir__trail_count(turn->trail);
    }
    return reason;
}

weir_status weir_turn_trigger_after(weir_turn *turn, weir_ns delay, const weir_event *event,
                                    uint64_t tag)
{
    if (turn == NULL || !weir__engine_usable(turn->context->engine) || weir__turn_is_flows(turn)) {
        return WEIR_E_INVALID;
    }
    return weir__agenda_of(turn->processor) != NULL
               ? weir__event_time_trigger(turn, delay, event, tag)
               : weir__timer_trigger(turn, delay, event, tag);
}

bool weir_turn_more(const weir_turn *turn)
{
    return turn != NULL &&
           (turn->ahead > 0 || (turn->place != NULL && turn->place + 1 < turn->place_end));
}

/* ---- tables ---- */

weir_status weir_turn_handle(weir_turn *turn, const weir_cases *cases, void *state,
                             const weir_event *event)
{
    if (turn == NULL || cases == NULL || event == NULL) {
        return WEIR_E_INVALID;
    }
    for (size_t i = 0; i < cases->count; i++) {
        if (cases->rows[i].type == event->type) {
            return cases->rows[i].handler(state, turn, event);
        }
    }
    /* The same type by another descriptor: a header that two libraries share. */
    for (size_t i = 0; i < cases->count; i++) {
        const weir_event_type *type = cases->rows[i].type;
        if (weir_event_as(event, type) != NULL) {
            return cases->rows[i].handler(state, turn, event);
        }
        if (strcmp(event->type->name, type->name) == 0) {
            return weir_turn_fail(turn, WEIR_E_TYPE, "one name with two sizes");
        }
    }
    return WEIR_UNHANDLED;
}

weir_status weir__turn_by_case(void *state, weir_turn *turn, const weir_event *event)
{
    return weir_turn_handle(turn, &weir__processor_cold_of(turn->processor)->cases, state, event);
}
