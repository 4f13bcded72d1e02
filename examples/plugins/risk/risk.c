/*
 * risk.c - a plugin: a service that knows limits, and a check that asks it about every order.
 *
 *     limits { type = limits, limit = 1000 }
 *     check  { type = risk-check, service = limits, to = totals, rejected = audit }
 *
 * An order is a line, `ACCOUNT SIDE QUANTITY`. The check keeps it, asks the service, and goes on
 * with the next one; the answer comes back as an event, and only then the order is passed on. The
 * service may have a thread of its own, and take its time: nobody waits for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

typedef struct question {
    double quantity;
} question;
WEIR_EVENT_TYPE(question, "risk.question");

typedef struct answer {
    bool allowed;
} answer;
WEIR_EVENT_TYPE(answer, "risk.answer");

/* ---- the service ---- */

typedef struct limits_config {
    double limit;
} limits_config;

static const weir_option limits_options[] = {
    WEIR_KEY(DOUBLE, limits_config, limit, "limit", .fallback = "1000", .min = 0, .max = 1e12,
             .help = "The largest quantity of one order."),
};

typedef struct limits {
    const limits_config *config;
} limits;

static weir_status limits_init(void *state, weir_component *self, const void *config,
                               weir_error *error)
{
    (void)self, (void)error;
    ((limits *)state)->config = config;
    return WEIR_OK;
}

static weir_status on_question(void *state, weir_turn *turn, const weir_event *event)
{
    const limits *l = state;
    const question *q = event->data;
    const weir_status status = weir_turn_reply(
        turn, event->from, WEIR_EVENT(answer, .allowed = q->quantity <= l->config->limit));
    return status == WEIR_UNKNOWN ? WEIR_OK : status; /* who asked has given up */
}

static const weir_case limits_cases[] = { { &question_type, on_question } };

static const weir_component_type limits_component = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SERVICE,
    .name = "limits",
    .help = "knows how large an order may be",
    .state_size = sizeof(limits),
    .config_size = sizeof(limits_config),
    .options = limits_options,
    .option_count = 1,
    .init = limits_init,
    .cases = WEIR_CASES(limits_cases),
};

/* ---- the check ---- */

enum { ASKED_MAX = 4096 };

typedef struct check_config {
    weir_target service, to, rejected;
    weir_ns timeout;
} check_config;

static const weir_option check_options[] = {
    WEIR_KEY(TARGET, check_config, service, "service", .required = true,
             .help = "The service that knows the limits."),
    WEIR_KEY(TARGET, check_config, to, "to", .required = true,
             .help = "Who gets the orders that are allowed."),
    WEIR_KEY(TARGET, check_config, rejected, "rejected",
             .help = "Who gets the others; nobody, if left out."),
    WEIR_KEY(DURATION, check_config, timeout, "timeout", .fallback = "1 s", .min = 1e6, .max = 1e11,
             .help = "An order whose answer takes longer is rejected."),
};

typedef struct check {
    const check_config *config;
    weir_event kept[ASKED_MAX]; /* orders that the service was asked about */
    uint16_t free[ASKED_MAX];   /* places that are not taken */
    size_t free_count;
} check;

static weir_status check_init(void *state, weir_component *self, const void *config,
                              weir_error *error)
{
    (void)self, (void)error;
    check *c = state;
    c->config = config;
    while (c->free_count < ASKED_MAX) {
        c->free[c->free_count] = (uint16_t)c->free_count;
        c->free_count++;
    }
    return WEIR_OK;
}

static double quantity_of(const weir_event *order)
{
    char text[64] = { 0 };
    memcpy(text, order->data, order->size < sizeof(text) ? order->size : sizeof(text) - 1);
    double quantity = 0;
    return sscanf(text, "%*s %*s %lf", &quantity) == 1 ? quantity : 1e300; /* no order: rejected */
}

/* The answer, or a timeout in its place. Comes again if there is no room ahead. */
static weir_status on_answer(void *state, weir_turn *turn, const weir_event *event)
{
    check *c = state;
    weir_event *order = &c->kept[event->tag];
    const answer *a = weir_event_as(event, &answer_type);
    const weir_target *to = a != NULL && a->allowed ? &c->config->to : &c->config->rejected;
    const weir_status status = weir_turn_send(turn, to, order);
    if (status == WEIR_OK || status == WEIR_DROPPED) {
        weir_event_release(order);
        c->free[c->free_count++] = (uint16_t)event->tag;
    }
    return status;
}

/* One that cannot be asked about now is rejected at once. To come again would be to wait for
 * answers that stand behind this order, in the same mailbox. */
static weir_status on_order(void *state, weir_turn *turn, const weir_event *event)
{
    check *c = state;
    const uint16_t place = c->free_count > 0 ? c->free[c->free_count - 1] : 0;
    if (c->free_count == 0 ||
        weir_event_keep(weir_turn_engine(turn), event, &c->kept[place]) != WEIR_OK) {
        return weir_turn_send(turn, &c->config->rejected, event);
    }
    const weir_ask_options ask = {
        .struct_size = sizeof(ask), .timeout = c->config->timeout, .then = on_answer, .tag = place
    };
    if (weir_turn_ask(turn, c->config->service.processor,
                      WEIR_EVENT(question, .quantity = quantity_of(event)), &ask) != WEIR_OK) {
        weir_event_release(&c->kept[place]);
        return weir_turn_send(turn, &c->config->rejected, event);
    }
    c->free_count--;
    return WEIR_OK;
}

static void check_tear_down(void *state, weir_component *self)
{
    (void)self;
    check *c = state;
    for (size_t i = 0; i < ASKED_MAX; i++) {
        weir_event_release(&c->kept[i]); /* of one that is not kept: nothing */
    }
}

static const weir_case check_cases[] = { { &weir_text_type, on_order } };

static const weir_component_type check_component = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_PROCESSOR,
    .name = "risk-check",
    .help = "asks a service about every order before it is passed on",
    .state_size = sizeof(check),
    .config_size = sizeof(check_config),
    .options = check_options,
    .option_count = sizeof(check_options) / sizeof(check_options[0]),
    .init = check_init,
    .tear_down = check_tear_down,
    .cases = WEIR_CASES(check_cases),
    WEIR_PASSES_ON,
};

static const weir_component_type *const types[] = { &limits_component, &check_component };

WEIR_PLUGIN = { WEIR_PLUGIN_HEAD,   .name = "risk",
                .version = "1.0.0", .help = "orders within limits",
                .types = types,     .type_count = 2 };
