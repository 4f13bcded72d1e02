/*
 * journal.c - see journal.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "journal.h"

#include <string.h>

WEIR_EMPTY_TYPE(ask, "office.ask");

typedef struct grant {
    int number;
    weir_ns until;
} grant;
WEIR_EVENT_TYPE(grant, "office.grant");

typedef struct line {
    int number;
} line;
WEIR_EVENT_TYPE(line, "office.line");

/* ---- the keeper of the lease ---- */

static weir_status on_ask(void *state, weir_turn *turn, const weir_event *event)
{
    struct keeper *keeper = state;
    const weir_ns now = weir_turn_now(turn);
    if (now < keeper->until) {
        return WEIR_OK; /* somebody has it; who needs it asks again */
    }
    keeper->number += 1;
    keeper->until = now + LEASE;
    return weir_turn_reply(turn, event->from,
                           WEIR_EVENT(grant, .number = keeper->number, .until = keeper->until));
}

/* ---- a writer ---- */

static weir_status write_line(const struct writer *writer, weir_turn *turn)
{
    if (weir_turn_now(turn) >= writer->until - MARGIN) {
        return weir_turn_post(turn, writer->keeper, WEIR_EMPTY(ask));
    }
    return weir_turn_post(turn, writer->journal, WEIR_EVENT(line, .number = writer->number));
}

static weir_status on_work(void *state, weir_turn *turn, const weir_event *event)
{
    const work *w = event->data;
    const weir_status status = write_line(state, turn);
    if (status == WEIR_FULL || (status == WEIR_OK && weir_turn_now(turn) < w->until)) {
        return weir_turn_post(turn, weir_turn_self(turn), event); /* once more, after the others */
    }
    return status;
}

static weir_status on_grant(void *state, weir_turn *turn, const weir_event *event)
{
    struct writer *writer = state;
    const grant *g = event->data;
    writer->number = g->number;
    writer->until = g->until;
    return weir_turn_post(turn, weir_turn_self(turn), WEIR_EVENT(work, .until = 0));
}

static const weir_case writer_cases[] = { { &work_type, on_work }, { &grant_type, on_grant } };

/* ---- the journal ---- */

static weir_status on_line(void *state, weir_turn *turn, const weir_event *event)
{
    struct journal *journal = state;
    const line *l = event->data;
    (void)turn;
    if (l->number < journal->newest) {
        if (journal->fenced) {
            journal->refused += 1;
            return WEIR_OK;
        }
        journal->late = l->number;
    } else {
        journal->newest = l->number;
    }
    journal->lines += 1;
    return WEIR_OK;
}

/* ---- all of it ---- */

void office_open(struct office *office, bool fenced, weir_engine *engine, weir_error *error)
{
    memset(office, 0, sizeof(*office));
    office->journal.fenced = fenced;
    const weir_processor keeper = weir_processor_add(
        engine, WEIR_PROCESSOR(.name = "keeper", .handler = on_ask, .argument = &office->keeper),
        error);
    const weir_processor journal = weir_processor_add(
        engine, WEIR_PROCESSOR(.name = "journal", .handler = on_line, .argument = &office->journal),
        error);
    for (int i = 0; i < 2; i++) {
        office->writers[i] = (struct writer){ .keeper = keeper, .journal = journal };
        office->writer[i] = weir_processor_add(
            engine,
            WEIR_PROCESSOR(.name = i == 0 ? "writer-0" : "writer-1",
                           .cases = WEIR_CASES(writer_cases), .argument = &office->writers[i]),
            error);
    }
}
