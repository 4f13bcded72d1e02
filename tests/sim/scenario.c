/*
 * scenario.c - the stage: calls and handlers, written into the history.
 *
 * Not instrumented, so that its own notes are no races; what actors share it says by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <string.h>

#include "sync/sim/core.h"

#define KEPT_BYTES 64u /* what weir keeps for the body's own thread, until that ends */

const weir_event_type stage_message_type = {
    sizeof(weir_event_type), "stage.message", (uint32_t)sizeof(stage_message), false, NULL, NULL
};

const weir_event_type stage_answer_type = {
    sizeof(weir_event_type), "stage.answer", 0, false, NULL, NULL
};

stage_state stage;
static actor actors[HISTORY_PROCESSORS_MAX];
static uint32_t actor_count;
static bool stopped;
static bool settling; /* somebody waits for rest */
static uint32_t cues;

static void expect(history_verdict wrong)
{
    if (wrong != NULL) {
        weir_sim_fail("%s", wrong);
    }
}

static void swallow(void *context, const weir_log_entry *entry)
{
    (void)context;
    weir_sim_note("log: %s: %s", entry->component, entry->text);
}

/* ---- set-up ---- */

#define MAILBOX_MAX 100u /* plenty, and its pages are small */

void stage_open(const weir_engine_options *options)
{
    weir_engine_options o = WEIR_ENGINE_OPTIONS_INIT;
    weir_sim_quiet(true);
    history_reset(stage_is_short(), stage_is_weak());
    actor_count = 0;
    stopped = false;
    settling = false;
    cues = 0;
    if (options != NULL) {
        o = *options;
    }
    o.processors_max = o.processors_max != 0 ? o.processors_max : 16;
    o.timers_max = o.timers_max != 0 ? o.timers_max : 16;
    o.mailbox_max = o.mailbox_max != 0 ? o.mailbox_max : MAILBOX_MAX;
    o.log = o.log != NULL ? o.log : swallow;
    stage.error = (weir_error)WEIR_ERROR_INIT;
    stage.engine = weir_engine_create(&o, &stage.error);
    weir_sim_check(stage.engine != NULL, "no engine: %s", stage.error.text);
}

void stage_threads(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        weir_thread_add(stage.engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK), &stage.error);
    }
}

/* Where the history's number of an event stands. */
static uint32_t send_of(const weir_event *event)
{
    uint32_t number;
    if (event->type == &weir_room_type || event->type == &weir_down_type ||
        event->type == &weir_timeout_type || event->type == &stage_answer_type) {
        return (uint32_t)event->tag;
    }
    memcpy(&number, event->data, sizeof(number)); /* a message, a block, a signal's value */
    return number;
}

/* A plain write of a turn, as far as the race detector can tell. */
static void touch(actor *self)
{
    weir_sim_writes(&self->turns, sizeof(self->turns));
    self->turns++;
}

static weir_status on_event(void *state, weir_turn *turn, const weir_event *event)
{
    actor *self = state;
    weir_sim_reads(event->data, event->size);
    const uint32_t send = send_of(event);
    weir_sim_note("actor %u begins send %u", self->number, send);
    expect(history_handler_begins(self->number, send));
    touch(self);
    weir_sim_step(); /* here another turn would show, if there were one */
    const weir_status status = self->part != NULL ? self->part(self, turn, event) : WEIR_OK;
    touch(self);
    expect(history_handler_ends(self->number, send, status));
    weir_sim_note("actor %u ends send %u: %s", self->number, send, weir_status_name(status));
    if (settling && history_pending() == 0) {
        weir__sim_wake(&settling, UINT32_MAX); /* without an edge: it must not hide a race */
    }
    return status;
}

weir_status actor_init(void *state, weir_turn *turn, void *argument)
{
    actor *self = state;
    (void)turn;
    (void)argument;
    expect(history_init_begins(self->number));
    touch(self);
    weir_sim_step();
    expect(history_init_ends(self->number, self->init_answer));
    return self->init_answer;
}

void actor_destroy(void *state, weir_status reason)
{
    actor *self = state;
    (void)reason;
    expect(history_destroy_begins(self->number));
    touch(self);
    weir_sim_step();
    expect(history_destroy_ends(self->number));
}

static uint32_t number_of(weir_processor handle)
{
    for (uint32_t i = 0; i < actor_count && handle.id != 0; i++) {
        if (actors[i].handle.id == handle.id) {
            return i;
        }
    }
    return HISTORY_NO_PARENT;
}

actor *stage_actor(const weir_processor_options *options, actor_part *part)
{
    weir_processor_options o = WEIR_PROCESSOR_OPTIONS_INIT;
    weir_sim_check(actor_count < HISTORY_PROCESSORS_MAX, "too many actors");
    actor *a = &actors[actor_count++];
    *a = (actor){ .part = part };
    if (options != NULL) {
        o = *options;
    }
    o.handler = on_event;
    o.argument = a;
    a->number = history_processor(&(history_rules){
        .mailbox_max = o.mailbox_max != 0 ? o.mailbox_max : MAILBOX_MAX,
        .overflow = o.overflow,
        .parent = number_of(o.parent),
        .has_init = o.init != NULL,
        .has_destroy = o.destroy != NULL,
        .retry_max = o.on_failure == WEIR_RETRY ? (o.retry_max != 0 ? o.retry_max : 3) : 0,
        .restarts = o.on_failure == WEIR_RESTART || o.retry_then == WEIR_RESTART,
        .may_fail = o.on_failure > WEIR_RETRY || o.retry_then > WEIR_RETRY,
    });
    weir_error error = WEIR_ERROR_INIT;
    a->handle = weir_processor_add(stage.engine, &o, &error);
    if (error.status != WEIR_OK) {
        stage.error = error;
    }
    return a;
}

bool stage_is_short(void)
{
    return (weir__sim.faults & WEIR_SIM_ALLOCATIONS) != 0;
}

bool stage_is_weak(void)
{
    return (weir__sim.faults & WEIR_SIM_STALE_READS) != 0;
}

void stage_start(void)
{
    weir_status status;
    weir_sim_check(stage.error.status == WEIR_OK, "no set-up: %s", stage.error.text);
    do {
        stage.error = (weir_error)WEIR_ERROR_INIT;
        status = weir_engine_start(stage.engine, &stage.error);
    } while (stage_is_short() && (status == WEIR_E_NOMEM || status == WEIR_E_SYSTEM));
    weir_sim_check(status == WEIR_OK, "no start: %s", stage.error.text);
    history_starts();
    weir_sim_quiet(false);
}

/* ---- the play ---- */

static uint32_t outsider(void)
{
    return HISTORY_OUTSIDE + (uint32_t)weir_sim_thread_self();
}

uint32_t stage_send_begins(const actor *to)
{
    const uint32_t send = history_send_begins(outsider(), to->number, HISTORY_POST);
    weir_sim_note("sends %u to actor %u", send, to->number);
    return send;
}

uint32_t stage_signal_begins(const actor *to)
{
    const uint32_t send = history_send_begins(outsider(), to->number, HISTORY_SIGNAL);
    weir_sim_note("signals %u to actor %u", send, to->number);
    return send;
}

uint32_t stage_timer_begins(const actor *to)
{
    const uint32_t send = history_send_begins(outsider(), to->number, HISTORY_TIMER);
    weir_sim_note("adds timer %u to actor %u", send, to->number);
    return send;
}

void stage_send_ends(uint32_t send, weir_status status)
{
    weir_sim_note("sent %u: %s", send, weir_status_name(status));
    expect(history_send_ends(send, status));
}

weir_status stage_post_what(actor *to, uint32_t what)
{
    if (to->handle.id == 0) {
        return WEIR_UNKNOWN;
    }
    const uint32_t send = stage_send_begins(to);
    const stage_message message = { send, what };
    const weir_status status = weir_engine_post(
        stage.engine, to->handle,
        &(weir_event){ .type = &stage_message_type, .data = &message, .size = sizeof(message) });
    stage_send_ends(send, status);
    return status;
}

weir_status stage_post(actor *to)
{
    return stage_post_what(to, 0);
}

weir_status actor_post(actor *self, weir_turn *turn, actor *to)
{
    if (to->handle.id == 0) {
        return WEIR_UNKNOWN;
    }
    const uint32_t send = history_send_begins(self->number, to->number, HISTORY_POST);
    const stage_message message = { send, 0 };
    const weir_status status = weir_turn_post(
        turn, to->handle,
        &(weir_event){ .type = &stage_message_type, .data = &message, .size = sizeof(message) });
    weir_sim_note("actor %u posted send %u to actor %u: %s", self->number, send, to->number,
                  weir_status_name(status));
    expect(history_send_ends(send, status));
    return status;
}

weir_status actor_want_room(actor *self, weir_turn *turn, actor *target)
{
    const uint32_t send = history_send_begins(target->number, self->number, HISTORY_ROOM);
    const weir_status status = weir_turn_want_room(turn, target->handle, send);
    weir_sim_note("actor %u wants room (%u) of actor %u: %s", self->number, send, target->number,
                  weir_status_name(status));
    expect(history_send_ends(send, status));
    return status;
}

weir_status actor_watch(actor *self, weir_turn *turn, actor *target, uint32_t *send)
{
    *send = history_send_begins(target->number, self->number, HISTORY_ROOM);
    const weir_status status = weir_turn_watch(turn, target->handle, *send);
    weir_sim_note("actor %u watches (%u) actor %u: %s", self->number, *send, target->number,
                  weir_status_name(status));
    expect(history_send_ends(*send, status));
    return status;
}

weir_status actor_unwatch(actor *self, weir_turn *turn, actor *target, uint32_t send)
{
    const weir_status status = weir_turn_unwatch(turn, target->handle);
    weir_sim_note("actor %u watches actor %u no longer: %s", self->number, target->number,
                  weir_status_name(status));
    if (status == WEIR_OK) {
        history_send_withdrawn(send);
    }
    return status;
}

weir_status actor_ask(actor *self, weir_turn *turn, actor *target, weir_ns timeout)
{
    /* A question that is refused was never sent: by whom it was is said of what is owed. */
    const uint32_t question = history_send_begins(self->number, target->number, HISTORY_TIMER);
    const uint32_t owed = history_send_begins(target->number, self->number, HISTORY_ASK);
    const stage_message message = { question, 0 };
    const weir_status status = weir_turn_ask(
        turn, target->handle,
        &(weir_event){ .type = &stage_message_type, .data = &message, .size = sizeof(message) },
        WEIR_ASK(.timeout = timeout, .tag = owed));
    weir_sim_note("actor %u asks actor %u (%u, owed %u): %s", self->number, target->number,
                  question, owed, weir_status_name(status));
    expect(history_send_ends(question, status == WEIR_OK ? WEIR_OK : WEIR_ALREADY));
    /* The wheel's thread that cannot be had for want of memory is the system's refusal. */
    expect(history_send_ends(owed,
                             status == WEIR_E_SYSTEM && stage_is_short() ? WEIR_E_NOMEM : status));
    return status;
}

weir_status actor_answer(actor *self, weir_turn *turn, weir_ticket to)
{
    const weir_status status =
        weir_turn_reply(turn, to, &(weir_event){ .type = &stage_answer_type });
    weir_sim_note("actor %u answers: %s", self->number, weir_status_name(status));
    expect(history_answered(status));
    return status;
}

void stage_settle(void)
{
    settling = true;
    while (history_pending() > 0) {
        weir__sim_sleep_on(&settling, WEIR_FOREVER);
    }
    settling = false;
}

weir_status stage_stop(weir_ns timeout)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    const uint32_t stop = history_stop_begins(HISTORY_ENGINE, true);
    weir_sim_note("stops the engine");
    const weir_status status = weir_engine_stop(stage.engine, timeout, &report);
    weir_sim_note("the engine's stop: %s", weir_status_name(status));
    stopped = true;
    expect(history_stop_ends(stop, status, &report));
    return status;
}

weir_status stage_stop_async(weir_ns timeout)
{
    const uint32_t stop = history_stop_begins(HISTORY_ENGINE, false);
    const weir_status status = weir_engine_stop_async(stage.engine, timeout);
    expect(history_stop_ends(stop, status, NULL));
    return status;
}

weir_status stage_wait(weir_ns timeout)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    const weir_status status = weir_engine_wait(stage.engine, timeout, &report);
    if (status == WEIR_OK) {
        const uint32_t stop = history_stop_begins(HISTORY_ENGINE, true);
        stopped = true;
        expect(history_stop_ends(stop, WEIR_ALREADY, &report));
    }
    return status;
}

weir_status stage_stop_actor(actor *which, weir_ns timeout)
{
    if (which->handle.id == 0) {
        return WEIR_UNKNOWN;
    }
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    const uint32_t stop = history_stop_begins(which->number, true);
    weir_sim_note("stops actor %u", which->number);
    const weir_status status = weir_processor_stop(stage.engine, which->handle, timeout, &report);
    weir_sim_note("the stop of actor %u: %s", which->number, weir_status_name(status));
    expect(history_stop_ends(stop, status, &report));
    return status;
}

weir_status stage_stop_actor_async(actor *which, weir_ns timeout)
{
    const uint32_t stop = history_stop_begins(which->number, false);
    const weir_status status = weir_processor_stop_async(stage.engine, which->handle, timeout);
    expect(history_stop_ends(stop, status, NULL));
    return status;
}

void stage_cue(void)
{
    cues++;
}

uint32_t stage_cues(void)
{
    return cues;
}

/* ---- the end ---- */

/* A part is never more than its whole. */
static bool sums_are_sane(void *unused, const char *name)
{
    weir_dispatcher_counters c = WEIR_DISPATCHER_COUNTERS_INIT;
    (void)unused;
    weir_dispatcher_counters_get(stage.engine, name, &c);
    weir_sim_check(c.try_locks_failed <= c.try_locks && c.wakeups_found <= c.wakeups &&
                       c.backoffs <= c.rounds,
                   "a dispatcher's counters contradict each other");
    return true;
}

void stage_close(void)
{
    weir_counters counters = WEIR_COUNTERS_INIT;
    if (!stopped) {
        stage_stop(WEIR_FOREVER);
    }
    weir_sim_quiet(true);
    weir_engine_counters(stage.engine, &counters);
    weir_dispatcher_visit(stage.engine, sums_are_sane, NULL);
    weir_engine_destroy(stage.engine);
    expect(history_ends(&counters));
    const size_t lost = weir__sim_memory_live();
    weir_sim_check(lost <= KEPT_BYTES, "%zu bytes were never given back", lost);
}

void stage_fill(actor *to, void (*one)(void *), void (*other)(void *), weir_overflow overflow)
{
    const int first = weir_sim_thread_start(one, to);
    const int second = weir_sim_thread_start(other, to);
    weir_sim_thread_join(first);
    weir_sim_thread_join(second);
    if (overflow == WEIR_OVERFLOW_DROP_OLDEST) {
        stage_post(to); /* the newest of all: when it is handled, the rest is handled or dropped */
    }
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
