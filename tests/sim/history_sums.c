/*
 * history_sums.c - at the end of a run: what senders and handlers saw against what the engine says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "history.h"
#include "history_tables.h"

/* What the senders and handlers of a scope have seen. */
typedef struct sums {
    uint64_t accepted, handled, dropped, failed;
    uint64_t never;   /* accepted and never begun ... */
    uint64_t evicted; /* ... of them: in a mailbox that drops the oldest, */
    uint64_t broken;  /* or behind an init that failed */
    uint64_t rooms;   /* owed and not come: accepted or not, nobody has seen */
    uint64_t members;
} sums;

static sums add_up(uint32_t scope)
{
    sums sum = { 0 };
    for (uint32_t i = 0; i < run.processors; i++) {
        sum.members += belongs(i, scope);
    }
    for (uint32_t i = 0; i < run.sends; i++) {
        const send *s = &sends[i];
        const processor *p = &processors[s->to];
        if (!belongs(s->to, scope) || !is_accepted(s->status)) {
            continue;
        }
        if ((s->kind == HISTORY_ROOM || s->kind == HISTORY_ASK) && !s->done) {
            sum.rooms++;
            continue;
        }
        sum.accepted++;
        sum.dropped += s->status == WEIR_DROPPED;
        sum.handled += s->done && !s->failed;
        sum.failed += s->failed;
        if (s->status == WEIR_OK && s->began == 0) {
            sum.never++;
            sum.evicted += is_evicting(p);
            sum.broken += may_have_failed(p);
        }
    }
    return sum;
}

/* A stop that ran out of time calls an event left although its handler returns a moment later:
 * `loose`, at most one for each processor. */
static history_verdict compare(const char *whose, const sums *seen, const weir_stop_report *said,
                               bool loose)
{
    const uint64_t slack = loose ? seen->members : 0;
    if (said->accepted < seen->accepted || said->accepted > seen->accepted + seen->rooms) {
        return broken("P-3: %s says %" PRIu64 " accepted, senders saw %" PRIu64, whose,
                      said->accepted, seen->accepted);
    }
    if (said->handled > seen->handled || said->handled + slack < seen->handled) {
        return broken("P-3: %s says %" PRIu64 " handled, handlers saw %" PRIu64, whose,
                      said->handled, seen->handled);
    }
    if (said->dropped < seen->dropped || said->dropped > seen->dropped + seen->evicted) {
        return broken("P-3: %s says %" PRIu64 " dropped, senders saw %" PRIu64 " and %" PRIu64
                      " may be evicted",
                      whose, said->dropped, seen->dropped, seen->evicted);
    }
    if (said->dead + slack < seen->failed ||
        said->dead > seen->failed + seen->broken + seen->rooms) {
        return broken("P-3: %s says %" PRIu64 " dead, %" PRIu64 " have failed", whose, said->dead,
                      seen->failed);
    }
    if (!loose && said->left != 0) {
        return broken("P-3: %s says %" PRIu64 " left, and no stop ran out of time", whose,
                      said->left);
    }
    return NULL;
}

/* Did some stop in this scope leave events behind, or might it have? */
static bool is_loose(uint32_t scope)
{
    for (uint32_t i = 0; i < run.stops; i++) {
        const stop *s = &stops[i];
        const bool related = scope == HISTORY_ENGINE || s->scope == HISTORY_ENGINE ||
                             belongs(s->scope, scope) || belongs(scope, s->scope);
        if (related && (s->status == WEIR_TIMEOUT || !run.started ||
                        (s->scope != HISTORY_ENGINE && (!s->waits || run.stop_begun != 0)))) {
            return true;
        }
    }
    return !run.started;
}

/* A child that was stopped on its own, or has failed, is in its parent's report, or not: it depends
 * on when. */
static bool is_mixed(const stop *s)
{
    for (uint32_t i = 0; i < run.processors && s->scope != HISTORY_ENGINE; i++) {
        if (i != s->scope && belongs(i, s->scope) && may_have_failed(&processors[i])) {
            return true;
        }
    }
    for (uint32_t i = 0; i < run.stops && s->scope != HISTORY_ENGINE; i++) {
        if (stops[i].scope != s->scope && stops[i].scope != HISTORY_ENGINE &&
            belongs(stops[i].scope, s->scope)) {
            return true;
        }
    }
    return false;
}

static bool same_report(const weir_stop_report *a, const weir_stop_report *b)
{
    return a->accepted == b->accepted && a->handled == b->handled && a->dropped == b->dropped &&
           a->dead == b->dead && a->left == b->left;
}

static history_verdict check_reports(void)
{
    for (uint32_t i = 0; i < run.stops; i++) {
        const stop *s = &stops[i];
        if (!s->reported) {
            continue;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (stops[j].reported && stops[j].scope == s->scope &&
                !same_report(&stops[j].report, &s->report)) {
                return broken("P-8: two stops of one thing have two reports");
            }
        }
        if (!is_mixed(s)) {
            const sums seen = add_up(s->scope);
            const history_verdict wrong =
                compare(s->scope == HISTORY_ENGINE ? "the engine's stop" : "a processor's stop",
                        &seen, &s->report, is_loose(s->scope));
            if (wrong != NULL) {
                return wrong;
            }
        }
    }
    return NULL;
}

/* Is it told of by an earlier one, or within another's family? */
static bool is_told_elsewhere(uint32_t number)
{
    for (uint32_t i = 0; i < run.stops; i++) {
        const bool same = stops[i].scope == stops[number].scope;
        if (stops[i].scope != HISTORY_ENGINE && stops[i].reported &&
            (same ? i < number : belongs(stops[number].scope, stops[i].scope))) {
            return true;
        }
    }
    return false;
}

/* What a single stop left is left for good: the engine's own says so, too. */
static history_verdict check_left(void)
{
    uint64_t left = 0;
    for (uint32_t i = 0; i < run.stops; i++) {
        if (stops[i].scope != HISTORY_ENGINE && stops[i].reported && !is_told_elsewhere(i)) {
            left += stops[i].report.left;
        }
    }
    for (uint32_t i = 0; i < run.stops; i++) {
        if (stops[i].scope == HISTORY_ENGINE && stops[i].reported && stops[i].report.left < left) {
            return broken("P-3: the engine's stop says %" PRIu64 " left, single ones %" PRIu64,
                          stops[i].report.left, left);
        }
    }
    return NULL;
}

/* Of a mailbox that drops the oldest: those that were handled never waited in greater number than
 * the bound. */
static history_verdict check_evicting(uint32_t number)
{
    const uint32_t most = processors[number].rules.mailbox_max + 1;
    for (uint32_t i = 0; i < run.sends; i++) {
        uint32_t waiting = 0;
        for (uint32_t j = 0; j < run.sends && sends[i].to == number; j++) {
            waiting += sends[j].to == number && sends[j].status == WEIR_OK &&
                       sends[j].end <= sends[i].end && sends[j].began > sends[i].end;
        }
        if (waiting > most) {
            return broken("P-5: %u events wait for processor %u, whose bound is %u", waiting,
                          number, most - 1);
        }
    }
    return NULL;
}

/* The engine's stop ran out of time, so that a handler may be midway when the counters are read. */
static bool is_outlived(void)
{
    for (uint32_t i = 0; i < run.stops; i++) {
        if (stops[i].scope == HISTORY_ENGINE && stops[i].status == WEIR_TIMEOUT) {
            return true;
        }
    }
    return false;
}

static bool is_within(uint64_t said, uint64_t seen, uint64_t less, uint64_t more)
{
    return said + less >= seen && said <= seen + more;
}

static history_verdict check_refused(const weir_counters *c)
{
    uint64_t full = 0;
    uint64_t stopping = run.answers_stopping;
    uint64_t unknown = run.answers_unknown;
    uint64_t rooms = 0;
    uint64_t timers = 0;
    for (uint32_t i = 0; i < run.sends; i++) {
        if (sends[i].kind == HISTORY_ROOM || sends[i].kind == HISTORY_ASK) {
            rooms += sends[i].status == WEIR_OK && !sends[i].done;
            continue; /* asking is no post */
        }
        if (sends[i].kind == HISTORY_TIMER) {
            timers += sends[i].status != WEIR_OK;
            continue; /* refused when it was due, or never posted */
        }
        full += sends[i].status == WEIR_FULL;
        stopping += sends[i].status == WEIR_STOPPING;
        unknown += sends[i].status == WEIR_UNKNOWN;
    }
    /* A handler that outlives a stop may be refused after the counters were read: because of the
     * stop, as often as it likes; for what it had found out before, once. */
    const uint64_t midway = is_outlived() ? run.processors : 0;
    const uint64_t late = is_loose(HISTORY_ENGINE) ? stopping : 0;
    if (!is_within(c->refused_full, full, midway, timers) ||
        !is_within(c->refused_stopping, stopping, late, rooms + timers) ||
        !is_within(c->refused_unknown, unknown, midway, timers)) {
        return broken("P-3: the counters say refused %" PRIu64 "/%" PRIu64 "/%" PRIu64
                      ", senders saw %" PRIu64 "/%" PRIu64 "/%" PRIu64 " (full/stopping/unknown)",
                      c->refused_full, c->refused_stopping, c->refused_unknown, full, stopping,
                      unknown);
    }
    return NULL;
}

/* Every question has its answer or its timeout, unless its asker was given up. */
static history_verdict check_asks(void)
{
    for (uint32_t i = 0; i < run.sends; i++) {
        const send *s = &sends[i];
        if (s->kind == HISTORY_ASK && s->status == WEIR_OK && !s->done &&
            processors[s->to].init != HOOK_FAILED && !is_loose(s->to)) {
            return broken("S-16: what was owed to processor %u (%u) never came", s->to, i);
        }
    }
    return NULL;
}

history_verdict history_ends(const weir_counters *c)
{
    for (uint32_t i = 0; i < run.sends; i++) {
        if (sends[i].end == 0) {
            return broken("send %u has not ended: the scenario does not wait for it", i);
        }
    }
    for (uint32_t i = 0; i < run.processors; i++) {
        const processor *p = &processors[i];
        if (p->running != NOBODY) {
            return broken("P-8: the engine is gone, and processor %u still runs", i);
        }
        if (p->rules.has_destroy && p->init == HOOK_OK && p->destroy != HOOK_OK) {
            return broken("P-8: the engine is gone, and processor %u was not destroyed", i);
        }
        const history_verdict wrong = is_evicting(p) ? check_evicting(i) : NULL;
        if (wrong != NULL) {
            return wrong;
        }
    }
    const weir_stop_report said = { .accepted = c->accepted,
                                    .handled = c->handled,
                                    .dropped = c->dropped,
                                    .dead = c->dead,
                                    .left = c->left };
    if (said.accepted != said.handled + said.dropped + said.dead + said.left) {
        return broken("P-3: the counters do not add up");
    }
    const sums seen = add_up(HISTORY_ENGINE);
    history_verdict wrong = compare("weir_engine_counters", &seen, &said, is_loose(HISTORY_ENGINE));
    wrong = wrong == NULL ? check_reports() : wrong;
    wrong = wrong == NULL ? check_left() : wrong;
    wrong = wrong == NULL ? check_asks() : wrong;
    return wrong == NULL ? check_refused(c) : wrong;
}
