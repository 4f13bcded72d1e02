/*
 * history.c - the facts of a run, and the promises checked against them one by one.
 *
 * Reset costs nothing, however large the tables are: what a run uses is cleared when it is used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "history.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "history_tables.h"
#include "queue/mailbox.h"

send sends[HISTORY_SENDS_MAX];
processor processors[HISTORY_PROCESSORS_MAX];
stop stops[HISTORY_STOPS_MAX];
history_run run;

void history_reset(bool memory_may_run_out, bool memory_is_weak)
{
    memset(&run, 0, sizeof(run));
    run.memory_may_run_out = memory_may_run_out;
    run.memory_is_weak = memory_is_weak;
}

history_verdict broken(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it begins one line above */
    vsnprintf(run.text, sizeof(run.text), format, arguments);
    va_end(arguments);
    return run.text;
}

/* ---- processors ---- */

uint32_t history_processor(const history_rules *rules)
{
    if (run.processors == HISTORY_PROCESSORS_MAX) {
        return NOBODY; /* the first use of it says so */
    }
    processor *p = &processors[run.processors];
    memset(p, 0, sizeof(*p));
    p->rules = *rules;
    p->running = NOBODY;
    if (rules->parent < run.processors) {
        p->rules.may_fail |= processors[rules->parent].rules.may_fail; /* it goes along */
    }
    return run.processors++;
}

/* A stop of it, of what is above it, or of the engine has begun; or its init has failed. */
static bool may_be_closed(const processor *p)
{
    return run.stop_begun != 0 || p->stop_begun != 0 || may_have_failed(p);
}

/* ---- sends ---- */

uint32_t history_send_begins(uint32_t sender, uint32_t to, history_kind kind)
{
    if (run.sends == HISTORY_SENDS_MAX || to >= run.processors || sender >= HISTORY_SENDERS_MAX) {
        return NOBODY;
    }
    const processor *p = &processors[to];
    /* Weak memory: one outsider may have been refused, and another, who did not hear of it, may see
     * the engine as it was a moment ago. */
    const bool closed = sender >= HISTORY_OUTSIDE && run.outside_closed != 0 &&
                        (!run.memory_is_weak || run.outside_closed_to == sender);
    const bool late = p->stop_over != 0 || run.stop_over != 0 || closed;
    sends[run.sends] =
        (send){ .sender = sender, .to = to, .kind = kind, .begin = ++run.clock, .must_fail = late };
    return run.sends++;
}

/* Places of events that are handled and not given back yet. */
static uint32_t held_back(const processor *p)
{
    const uint32_t part = p->rules.mailbox_max / WEIR__MAILBOX_CREDIT_PART;
    return part > 1 ? part : 0;
}

/* The most places that can have been taken at some moment of this call: what was not surely
 * refused, and whose handler had not begun before; and a wish for room that came to nothing, whose
 * place was given back. */
static uint32_t places_at_most(const send *mine)
{
    uint32_t places = 0;
    for (uint32_t i = 0; i < run.sends; i++) {
        const send *s = &sends[i];
        const bool taken =
            (s->end == 0 || s->status == WEIR_OK) && (s->began == 0 || s->began > mine->begin);
        const bool lent =
            (s->kind == HISTORY_ROOM || s->kind == HISTORY_ASK) && s->end > mine->begin;
        if (s != mine && s->to == mine->to && (taken || lent)) {
            places++;
        }
    }
    return places;
}

static history_verdict check_refusal(uint32_t number, const send *s, const processor *p)
{
    switch (s->status) {
    case WEIR_OK:
        return NULL;
    case WEIR_DROPPED:
        if (p->rules.overflow != WEIR_OVERFLOW_DROP_NEWEST && !is_evicting(p)) {
            return broken("P-6: send %u was dropped, and that is not its mailbox's policy", number);
        }
        if (is_evicting(p)) {
            return NULL; /* the oldest could not be got at */
        }
        break;
    case WEIR_FULL:
        if (s->kind != HISTORY_SIGNAL && s->kind != HISTORY_TIMER && /* nothing is dropped for it */
            (p->rules.overflow == WEIR_OVERFLOW_DROP_NEWEST || is_evicting(p))) {
            return broken("P-6: send %u was refused by a mailbox that drops", number);
        }
        break;
    case WEIR_STOPPING: /* of a question: who is asked, too */
        return may_be_closed(p) || (s->kind == HISTORY_ASK && may_be_closed(&processors[s->sender]))
                   ? NULL
                   : broken("P-6: send %u: STOPPING, and nobody stops it", number);
    case WEIR_UNKNOWN: /* of a wish for room: the one whose room it is; of a question: who is asked
                        */
        return may_be_closed(
                   s->kind == HISTORY_ROOM || s->kind == HISTORY_ASK ? &processors[s->sender] : p)
                   ? NULL
                   : broken("P-6: send %u: UNKNOWN, and it is there", number);
    case WEIR_E_NOMEM:
        return run.memory_may_run_out
                   ? NULL
                   : broken("P-6: send %u: out of memory, and memory there was", number);
    case WEIR_ALREADY:
        return s->kind == HISTORY_TIMER || s->kind == HISTORY_ROOM
                   ? NULL
                   : broken("P-6: send %u: ALREADY is no answer to it", number);
    default:
        return broken("P-6: send %u: %s is no answer to it", number, weir_status_name(s->status));
    }
    /* Weak memory: who asks may see the mailbox as it was a moment ago. */
    if (s->kind == HISTORY_POST && !run.memory_is_weak &&
        places_at_most(s) + held_back(p) < p->rules.mailbox_max) {
        return broken("P-6: send %u: no room, with at most %u of %u places taken", number,
                      places_at_most(s), p->rules.mailbox_max);
    }
    return NULL;
}

history_verdict history_send_ends(uint32_t number, weir_status status)
{
    if (number >= run.sends || sends[number].end != 0) {
        return broken("the history is full, or a send that never began has ended");
    }
    send *s = &sends[number];
    processor *p = &processors[s->to];
    s->end = ++run.clock;
    s->status = status;
    const history_verdict refusal = check_refusal(number, s, p);
    if (refusal != NULL) {
        return refusal;
    }
    if (s->began != 0 && status != WEIR_OK) {
        return broken("P-3: send %u was handled, and its sender was told %s", number,
                      weir_status_name(status));
    }
    if (s->must_fail && is_accepted(status)) {
        return broken("%s: send %u was accepted, and began when it was over",
                      p->stop_over != 0 ? "P-7" : "P-8", number);
    }
    if (status == WEIR_STOPPING && s->sender >= HISTORY_OUTSIDE && p->stop_begun == 0 &&
        !may_have_failed(p) && run.outside_closed == 0) {
        run.outside_closed = run.clock;
        run.outside_closed_to = s->sender;
    }
    if (status != WEIR_OK) {
        return NULL;
    }
    p->newest = number + 1;
    run.unhandled += s->done ? 0 : 1;
    p->waiting += s->began == 0 ? 1 : 0;
    if (p->waiting > p->rules.mailbox_max + 1 && !is_evicting(p)) { /* one may be on its way */
        return broken("P-5: %u events wait for processor %u, whose bound is %u", p->waiting, s->to,
                      p->rules.mailbox_max);
    }
    return NULL;
}

void history_send_withdrawn(uint32_t number)
{
    send *s = &sends[number];
    s->status = WEIR_ALREADY;
    run.unhandled--;
    processors[s->to].waiting--;
}

history_verdict history_answered(weir_status status)
{
    run.answers_stopping += status == WEIR_STOPPING;
    run.answers_unknown += status == WEIR_UNKNOWN;
    return status == WEIR_OK || status == WEIR_UNKNOWN || status == WEIR_STOPPING ||
                   (status == WEIR_E_NOMEM && run.memory_may_run_out)
               ? NULL
               : broken("P-6: %s is no answer to an answer", weir_status_name(status));
}

/* ---- handlers and hooks ---- */

static history_verdict begin(uint32_t number, uint32_t what)
{
    if (number >= run.processors) {
        return broken("there are more processors than the history has room for");
    }
    processor *p = &processors[number];
    if (p->running != NOBODY) {
        return broken("P-1: processor %u begins while it is still at it", number);
    }
    if (p->destroy != HOOK_NEVER) {
        return broken("P-8: processor %u begins after its destroy", number);
    }
    p->running = what;
    return NULL;
}

static history_verdict check_begin(uint32_t number, uint32_t send_number)
{
    const processor *p = &processors[number];
    const send *s = &sends[send_number];
    if (s->to != number) {
        return broken("P-3: send %u arrives at processor %u, not at %u", send_number, number,
                      s->to);
    }
    if (s->began != 0 && !s->again) {
        return broken("P-3: send %u is handled twice", send_number);
    }
    if (p->again != 0 && p->again != send_number + 1 && run.stop_begun == 0) {
        return broken("P-2: send %u overtakes send %u, which is to come again", send_number,
                      p->again - 1);
    }
    if (s->end != 0 && s->status != WEIR_OK) {
        return broken("P-3: send %u is handled, and its sender was told %s", send_number,
                      weir_status_name(s->status));
    }
    if (s->kind == HISTORY_POST && p->last_of[s->sender] > send_number + (s->again ? 1 : 0)) {
        return broken("P-2: send %u of sender %u arrives behind its send %u", send_number,
                      s->sender, p->last_of[s->sender] - 1);
    }
    if (p->rules.has_init && p->init != HOOK_OK) {
        return broken("P-8: processor %u handles before its init has succeeded", number);
    }
    if ((run.stop_over != 0 || p->stop_over != 0) && !p->may_be_late) {
        return broken("P-8: send %u is handled after the stop of %s", send_number,
                      run.stop_over != 0 ? "the engine" : "its processor");
    }
    return NULL;
}

/* It has failed for the last time. */
static void give_up(send *s)
{
    s->again = false;
    s->done = true;
    run.unhandled -= s->end != 0 ? 1 : 0;
}

history_verdict history_handler_begins(uint32_t number, uint32_t send_number)
{
    const history_verdict busy = begin(number, send_number);
    if (busy != NULL) {
        return busy;
    }
    if (send_number >= run.sends) {
        return broken("P-3: processor %u handles what nobody sent", number);
    }
    const history_verdict wrong = check_begin(number, send_number);
    if (wrong != NULL) {
        return wrong;
    }
    processor *p = &processors[number];
    send *s = &sends[send_number];
    if (p->again != 0 && p->again != send_number + 1) {
        give_up(&sends[p->again - 1]); /* the stop has cut its tries short */
    }
    p->waiting -= s->end != 0 && s->began == 0 ? 1 : 0;
    s->began = ++run.clock;
    s->again = false;
    p->again = 0;
    p->may_be_late = p->may_be_late && run.stop_over == 0 && p->stop_over == 0;
    if (s->kind == HISTORY_POST) {
        p->last_of[s->sender] = send_number + 1;
    }
    return NULL;
}

history_verdict history_handler_ends(uint32_t number, uint32_t send_number, weir_status status)
{
    processor *p = &processors[number];
    if (p->running != send_number) {
        return broken("P-1: processor %u ends send %u, and was not at it", number, send_number);
    }
    p->running = NOBODY;
    run.clock++;
    send *s = &sends[send_number];
    s->failed = status != WEIR_OK && status != WEIR_DROPPED && status != WEIR_ALREADY &&
                status != WEIR_UNHANDLED;
    run.failures += s->failed;
    s->again = s->failed && s->tries++ < p->rules.retry_max;
    if (s->again) {
        p->again = send_number + 1;
        return NULL;
    }
    s->done = true;
    run.unhandled -= s->end != 0 ? 1 : 0;
    return NULL;
}

history_verdict history_init_begins(uint32_t number)
{
    if (number < run.processors && processors[number].rules.restarts && run.failures > 0 &&
        processors[number].destroy == HOOK_OK) {
        processors[number].init = HOOK_NEVER; /* anew */
        processors[number].destroy = HOOK_NEVER;
    }
    const history_verdict busy = begin(number, IN_A_HOOK);
    if (busy != NULL) {
        return busy;
    }
    processor *p = &processors[number];
    if (p->init != HOOK_NEVER) {
        return broken("P-1: processor %u has a second init", number);
    }
    p->init = HOOK_RUNS;
    return NULL;
}

history_verdict history_init_ends(uint32_t number, weir_status status)
{
    processor *p = &processors[number];
    if (p->init != HOOK_RUNS || p->running != IN_A_HOOK) {
        return broken("P-1: an init of processor %u ends that was not running", number);
    }
    p->running = NOBODY;
    p->init = status == WEIR_OK ? HOOK_OK : HOOK_FAILED;
    return NULL;
}

history_verdict history_destroy_begins(uint32_t number)
{
    const history_verdict busy = begin(number, IN_A_HOOK);
    if (busy != NULL) {
        return busy;
    }
    processor *p = &processors[number];
    if (p->rules.has_init && p->init != HOOK_OK) {
        return broken("P-8: processor %u is destroyed without an init", number);
    }
    for (uint32_t i = 0; i < run.processors; i++) {
        const processor *child = &processors[i];
        if (child->rules.parent == number && child->rules.has_destroy &&
            child->destroy != HOOK_OK && (!child->rules.has_init || child->init == HOOK_OK)) {
            return broken("P-8: processor %u is destroyed before its child %u", number, i);
        }
    }
    p->destroy = HOOK_RUNS;
    return NULL;
}

history_verdict history_destroy_ends(uint32_t number)
{
    processor *p = &processors[number];
    if (p->destroy != HOOK_RUNS) {
        return broken("P-1: a destroy of processor %u ends that was not running", number);
    }
    p->running = NOBODY;
    p->destroy = HOOK_OK;
    return NULL;
}

/* ---- start and stops ---- */

void history_starts(void)
{
    run.started = true;
}

uint32_t history_stop_begins(uint32_t scope, bool waits)
{
    if (run.stops == HISTORY_STOPS_MAX) {
        return NOBODY;
    }
    const uint64_t now = ++run.clock;
    if (scope == HISTORY_ENGINE) {
        run.stop_begun = run.stop_begun != 0 ? run.stop_begun : now;
    } else {
        for (uint32_t i = 0; i < run.processors; i++) {
            if (belongs(i, scope) && processors[i].stop_begun == 0) {
                processors[i].stop_begun = now;
            }
        }
    }
    stops[run.stops] = (stop){ .scope = scope, .waits = waits, .begin = now };
    return run.stops++;
}

static bool other_stop_of(const stop *mine)
{
    for (uint32_t i = 0; i < run.stops; i++) {
        if (&stops[i] != mine && stops[i].scope != HISTORY_ENGINE &&
            belongs(mine->scope, stops[i].scope)) {
            return true;
        }
    }
    return false;
}

static history_verdict check_stop_status(const stop *s)
{
    switch (s->status) {
    case WEIR_OK:
    case WEIR_ALREADY:
    case WEIR_TIMEOUT:
        return NULL;
    case WEIR_UNKNOWN: /* gone: some other stop was faster, or its init has failed */
        if (s->scope != HISTORY_ENGINE &&
            (other_stop_of(s) || run.stop_begun != 0 || may_have_failed(&processors[s->scope]))) {
            return NULL;
        }
        break;
    case WEIR_E_NOMEM:
    case WEIR_E_SYSTEM:
        if (run.memory_may_run_out) {
            return NULL;
        }
        break;
    default:
        break;
    }
    return broken("P-6: a stop of %s answers %s", s->scope == HISTORY_ENGINE ? "the engine" : "one",
                  weir_status_name(s->status));
}

/* The stop says that all is done: is it? */
static history_verdict check_drained(const stop *s)
{
    for (uint32_t i = 0; i < run.processors; i++) {
        const processor *p = &processors[i];
        if (!belongs(i, s->scope)) {
            continue;
        }
        if (p->running != NOBODY) {
            return broken("P-8: the stop is over, and processor %u still runs", i);
        }
        if (p->rules.has_destroy && p->init == HOOK_OK && p->destroy != HOOK_OK) {
            return broken("P-8: the stop is over, and processor %u was not destroyed", i);
        }
    }
    for (uint32_t i = 0; i < run.sends; i++) {
        const send *one = &sends[i];
        const processor *p = &processors[one->to];
        if (belongs(one->to, s->scope) && one->end != 0 && one->status == WEIR_OK &&
            one->began == 0 && one->kind != HISTORY_ROOM && !is_evicting(p) &&
            !may_have_failed(p) && p->stop_over == 0) {
            return broken("P-8: the stop is over and drained, and send %u was not handled", i);
        }
    }
    return NULL;
}

static void note_over(const stop *s)
{
    if (s->scope == HISTORY_ENGINE) {
        run.stop_over = run.stop_over != 0 ? run.stop_over : s->end;
    }
    for (uint32_t i = 0; i < run.processors; i++) {
        if (belongs(i, s->scope)) {
            processor *p = &processors[i];
            if (s->scope != HISTORY_ENGINE && p->stop_over == 0) {
                p->stop_over = s->end;
            }
            /* Time ran out: a handler that was under way may not have come to its first line. */
            p->may_be_late = s->status == WEIR_TIMEOUT && p->running == NOBODY;
        }
    }
}

history_verdict history_stop_ends(uint32_t number, weir_status status,
                                  const weir_stop_report *report)
{
    if (number >= run.stops) {
        return broken("there are more stops than the history has room for");
    }
    stop *s = &stops[number];
    s->end = ++run.clock;
    s->status = status;
    const history_verdict wrong = check_stop_status(s);
    if (wrong != NULL || status < 0 || status == WEIR_UNKNOWN) {
        return wrong;
    }
    if (!s->waits) {
        if (s->scope == HISTORY_ENGINE && run.outside_closed == 0) {
            run.outside_closed = s->end; /* it has begun: from the call on */
        }
        return NULL;
    }
    if (report != NULL) {
        s->report = *report;
        s->reported = true;
        if (report->accepted != report->handled + report->dropped + report->dead + report->left) {
            return broken("P-3: a stop's report does not add up");
        }
    }
    /* Without a start, or after the engine's own stop, there is nobody who could drain it. */
    const bool drains =
        status == WEIR_OK && run.started && (s->scope == HISTORY_ENGINE || run.stop_begun == 0);
    const history_verdict left = drains ? check_drained(s) : NULL;
    note_over(s);
    return left;
}

/* ---- the end ---- */

uint32_t history_pending(void)
{
    uint32_t evicted = 0;
    uint32_t newest = 0;
    for (uint32_t i = 0; i < run.processors; i++) {
        const processor *p = &processors[i];
        if (is_evicting(p)) {
            for (uint32_t j = 0; j < run.sends; j++) {
                evicted += sends[j].to == i && sends[j].end != 0 && !sends[j].done &&
                           sends[j].status == WEIR_OK;
            }
            newest += p->newest != 0 && !sends[p->newest - 1].done;
        }
    }
    return run.unhandled - evicted + newest;
}
