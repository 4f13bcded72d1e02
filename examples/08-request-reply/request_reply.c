/*
 * request_reply - a desk that quotes prices. Whoever asks the desk waits; the desk itself does not:
 * it asks the exchange, keeps the ticket of the question that it owes an answer, and goes on. The
 * exchange knows one symbol, says nothing about others, and then the desk's question times out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <weir/weir.h>

typedef struct quote {
    char symbol[8];
} quote;
typedef struct price {
    int cents; /* 0: nobody knows */
} price;
WEIR_EVENT_TYPE(quote, "market.quote");
WEIR_EVENT_TYPE(price, "market.price");

static weir_status tell_price(void *state, weir_turn *turn, const weir_event *event)
{
    const quote *q = event->data;
    (void)state;
    if (strcmp(q->symbol, "WEIR") != 0) {
        return WEIR_OK; /* no answer: its asker will be told so by the timeout */
    }
    return weir_turn_reply(turn, event->from, WEIR_EVENT(price, .cents = 4250));
}

enum { OPEN_MAX = 16 };

struct desk {
    weir_processor exchange;
    weir_ticket open[OPEN_MAX]; /* whom it owes an answer */
    int asked, answered, timed_out;
};

/* What the exchange said, or weir's timeout: either comes once for every question, in a turn of the
 * desk like any other event, with the tag that was given when it was asked. */
static weir_status pass_on(void *state, weir_turn *turn, const weir_event *event)
{
    struct desk *desk = state;
    const weir_ticket asker = desk->open[event->tag];
    desk->open[event->tag] = (weir_ticket){ .ask = 0 };
    if (weir_event_as(event, &weir_timeout_type) != NULL) {
        desk->timed_out += 1;
        return weir_turn_reply(turn, asker, WEIR_EVENT(price, .cents = 0));
    }
    desk->answered += 1;
    return weir_turn_reply(turn, asker, event); /* as it is */
}

static weir_status quote_price(void *state, weir_turn *turn, const weir_event *event)
{
    struct desk *desk = state;
    for (uint64_t i = 0; i < OPEN_MAX; i++) {
        if (desk->open[i].ask != 0) {
            continue;
        }
        const weir_status status =
            weir_turn_ask(turn, desk->exchange, event,
                          WEIR_ASK(.timeout = 50 * WEIR_MS, .then = pass_on, .tag = i));
        if (status == WEIR_OK) {
            desk->open[i] = event->from; /* in time: nothing comes before this handler returns */
            desk->asked += 1;
        }
        return status;
    }
    return weir_turn_fail(turn, WEIR_FULL, "too many questions are open");
}

/* From an ordinary thread: the call waits. */
static void ask(weir_engine *engine, weir_processor desk, const char *symbol)
{
    quote q = { .symbol = "" };
    weir_event reply;
    snprintf(q.symbol, sizeof(q.symbol), "%s", symbol);
    const weir_event event = { .type = &quote_type, .data = &q, .size = sizeof(q) };
    const weir_status status = weir_engine_ask(engine, desk, &event, 10 * WEIR_S, &reply);
    const price *p = status == WEIR_OK ? weir_event_as(&reply, &price_type) : NULL;
    if (p == NULL) {
        printf("%s: %s\n", symbol, weir_status_text(status));
    } else if (p->cents == 0) {
        printf("%s: nobody knows\n", symbol);
    } else {
        printf("%s: %d.%02d\n", symbol, p->cents / 100, p->cents % 100);
    }
    weir_event_release(&reply); /* a no-op if nothing came */
}

int main(void)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(WEIR_ENGINE(.threads = 2), &error);
    struct desk desk = { .exchange = weir_processor_add(
                             engine, WEIR_PROCESSOR(.name = "exchange", .handler = tell_price),
                             &error) };
    const weir_processor front = weir_processor_add(
        engine, WEIR_PROCESSOR(.name = "desk", .handler = quote_price, .argument = &desk), &error);
    weir_engine_start(engine, &error);
    if (error.status == WEIR_OK) {
        ask(engine, front, "WEIR");
        ask(engine, front, "NONE"); /* after 50 ms */
        ask(engine, front, "WEIR");
    }
    weir_engine_destroy(engine);
    printf("%d asked = %d answered + %d timed out\n", desk.asked, desk.answered, desk.timed_out);
    return weir_error_print(&error);
}
