/*
 * connect/key_by.c - the processor `key-by`: a line's key, and the line into the flow of that key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "connect/builtin.h"
#include "connect/passing.h"
#include "connect/pick.h"
#include "weir/flow.h"

#define KEY_MAX 65535u

typedef enum missing_policy { MISSING_DROP, MISSING_NO_FLOW, MISSING_TARGET } missing_policy;

typedef struct key_by_config {
    weir__pick_config pick;
    weir_target to;
    weir_target missing_to;
    int64_t missing;
} key_by_config;

typedef struct key_by {
    const key_by_config *config;
    weir_component *self;
    weir__pick *pick;
    bool numbers; /* the router's keys are: known after its first refusal */
} key_by;

static const char *const missing_words[] = { "drop", "no-flow", "send", NULL };

static const weir_option rows[] = {
    WEIR__PICK_ROWS(key_by_config, pick),
    WEIR_KEY(TARGET, key_by_config, to, "to", .required = true,
             .help = "The flow router that gets the lines, each in the flow of its key. Of a "
                     "router whose keys are numbers, a key that is none is taken by its hash."),
    WEIR_KEY(ENUM, key_by_config, missing, "missing", .fallback = "drop", .words = missing_words,
             .help = "A line without the key: drop it, with a report; no-flow: to the "
                     "least-loaded worker, in no order; send: to missing-to."),
    WEIR_KEY(TARGET, key_by_config, missing_to, "missing-to",
             .help = "Who gets the lines without the key, if missing is send."),
};

static weir_status key_by_init(void *state, weir_component *self, const void *config,
                               weir_error *error)
{
    key_by *k = state;
    const char *name = weir_component_name(self);
    k->config = config;
    k->self = self;
    if (k->config->missing == MISSING_TARGET && k->config->missing_to.name == NULL) {
        return weir_error_set(error, WEIR_E_CONFIG, name,
                              "missing is send, and missing-to names nobody");
    }
    k->pick = weir__pick_open(&k->config->pick, false, name, error);
    return k->pick != NULL ? WEIR_OK : error->status;
}

static weir_status key_by_start(void *state, weir_component *self, weir_error *error)
{
    const key_by *k = state;
    return k->config->to.router.id != 0
               ? WEIR_OK
               : weir_error_set(error, WEIR_E_CONFIG, weir_component_name(self),
                                "to is no flow router; name one of weir.flows");
}

static void key_by_tear_down(void *state, weir_component *self)
{
    (void)self;
    weir__pick_close(((key_by *)state)->pick);
}

static weir_status without_key(key_by *k, weir_turn *turn, const weir_event *event,
                               weir__picked why)
{
    switch ((missing_policy)k->config->missing) {
    case MISSING_NO_FLOW: {
        weir_event free_one = *event;
        free_one.flags |= WEIR_EVENT_NO_FLOW;
        return weir_turn_submit(turn, k->config->to.router, 0, &free_one);
    }
    case MISSING_TARGET:
        return weir_turn_send(turn, &k->config->missing_to, event);
    case MISSING_DROP:
    default: {
        char text[96];
        (void)snprintf(text, sizeof(text), "a line was dropped: its key %s",
                       weir__picked_text(why));
        weir_component_report(k->self, WEIR_DROPPED, text);
        return WEIR_OK;
    }
    }
}

/* A decimal number as it is, anything else by its hash; never 0, which is no flow. */
static uint64_t number_of(const char *key, size_t size)
{
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++) {
        if (key[i] < '0' || key[i] > '9' || number > (UINT64_MAX - 9) / 10) {
            return weir_flow_hash(key, size);
        }
        number = 10 * number + (uint64_t)(key[i] - '0');
    }
    return number != 0 ? number : weir_flow_hash(key, size);
}

static weir_status submit(key_by *k, weir_turn *turn, const char *key, size_t size,
                          const weir_event *event)
{
    const weir_router router = k->config->to.router;
    if (!k->numbers) {
        const weir_status status = weir_turn_submit_bytes(turn, router, key, size, event);
        if (status != WEIR_E_INVALID) {
            return status;
        }
        k->numbers = true;
    }
    return weir_turn_submit(turn, router, number_of(key, size), event);
}

static weir_status key_by_handle(void *state, weir_turn *turn, const weir_event *event)
{
    key_by *k = state;
    const char *key = NULL;
    size_t key_size = 0;
    size_t size = 0;
    const void *bytes = weir__payload_bytes(event, &size);
    weir__picked picked =
        bytes != NULL ? weir__pick_run(k->pick, bytes, size, &key, &key_size) : WEIR__PICK_MISSING;
    if (picked == WEIR__PICKED && (key_size == 0 || key_size > KEY_MAX)) {
        picked = WEIR__PICK_MISSING;
    }
    return weir__passing_status(picked == WEIR__PICKED ? submit(k, turn, key, key_size, event)
                                                       : without_key(k, turn, event, picked));
}

const weir_component_type weir__key_by_component = {
    WEIR__PROCESSOR_TYPE(key_by, "key-by", rows, .init = key_by_init, .start = key_by_start,
                         .tear_down = key_by_tear_down, .handler = key_by_handle),
    .help = "finds the key of each line and submits the line to a flow router under it",
};
