/*
 * connect/count.c - the processor `count`: how many lines there are of each value, as JSON lines,
 * every so often and at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "connect/builtin.h"
#include "connect/passing.h"
#include "connect/pick.h"

typedef struct count_config {
    weir__pick_config pick;
    weir_target to;
    weir_target totals;
    weir_ns every;
    int64_t keys_max;
} count_config;

typedef struct count {
    const count_config *config;
    weir_component *self;
    weir__pick *pick;
    json_t *counts; /* value -> how many */
    uint64_t other; /* of values beyond keys_max */
    void *at;       /* of `counts`: which is to be sent next; NULL: none is being sent */
    bool sending;   /* ... or the last line, of what is beyond them */
    bool counted;   /* the event at hand: it comes again if there was no room ahead */
    bool ticking;
} count;

WEIR_EMPTY_TYPE(count_tick, "weir.count.tick");

static const weir_option rows[] = {
    WEIR__PICK_ROWS(count_config, pick),
    WEIR_KEY(TARGET, count_config, to, "to",
             .help = "Who gets the lines next; nobody, if left out."),
    WEIR_KEY(TARGET, count_config, totals, "totals",
             .help = "Who gets the counts, as lines {\"key\": \"...\", \"count\": N}."),
    WEIR_KEY(DURATION, count_config, every, "every", .fallback = "0", .max = 8.64e13,
             .help = "How often they are sent while something comes; 0: at the end only."),
    WEIR_KEY(INT, count_config, keys_max, "keys-max", .fallback = "100000", .min = 1, .max = 1e8,
             .help = "Values that are told apart; what comes beyond them is counted together."),
};

static weir_status count_init(void *state, weir_component *self, const void *config,
                              weir_error *error)
{
    count *c = state;
    c->config = config;
    c->self = self;
    c->pick = weir__pick_open(&c->config->pick, true, weir_component_name(self), error);
    if (c->pick == NULL) {
        return error->status;
    }
    c->counts = json_object();
    return c->counts != NULL
               ? WEIR_OK
               : weir_error_set(error, WEIR_E_NOMEM, weir_component_name(self), "no memory");
}

static void count_tear_down(void *state, weir_component *self)
{
    (void)self;
    count *c = state;
    json_decref(c->counts);
    weir__pick_close(c->pick);
}

/* Whether the pick picks anything: without field and pattern all lines are one. */
static bool has_keys(const count *c)
{
    return c->config->pick.field != NULL || c->config->pick.pattern != NULL;
}

static bool add(count *c, const char *key, size_t size)
{
    json_t *number = json_object_getn(c->counts, key, size);
    if (number != NULL) {
        return json_integer_set(number, json_integer_value(number) + 1) == 0;
    }
    if (json_object_size(c->counts) >= (size_t)c->config->keys_max) {
        c->other++;
        return true;
    }
    /* Checked: JSON that is sent must be UTF-8. */
    return json_object_setn_new(c->counts, key, size, json_integer(1)) == 0;
}

static void take(count *c, const weir_event *event)
{
    const char *key = NULL;
    size_t length = 0;
    size_t size = 0;
    const void *bytes = weir__payload_bytes(event, &size);
    if (!has_keys(c)) {
        (void)add(c, "", 0);
        return;
    }
    const weir__picked picked =
        bytes != NULL ? weir__pick_run(c->pick, bytes, size, &key, &length) : WEIR__PICK_MISSING;
    if (picked != WEIR__PICKED || !add(c, key, length)) {
        char text[96];
        (void)snprintf(text, sizeof(text), "a line was not counted: its value %s",
                       picked != WEIR__PICKED ? weir__picked_text(picked) : "is not UTF-8");
        weir_component_report(c->self, WEIR_DROPPED, text);
    }
}

static weir_status send_line(count *c, weir_turn *turn, const json_t *line)
{
    char *text = line != NULL ? json_dumps(line, JSON_COMPACT) : NULL;
    if (text == NULL) {
        return WEIR_E_NOMEM; /* comes again */
    }
    const weir_event event = { .type = &weir_text_type,
                               .data = text,
                               .size = (uint32_t)strlen(text),
                               .flags = WEIR_EVENT_NO_FLOW };
    const weir_status status =
        weir__passing_status(weir_turn_send(turn, &c->config->totals, &event));
    free(text);
    return status;
}

static weir_status send_pair(count *c, weir_turn *turn, const char *key, size_t size, json_int_t n)
{
    json_t *line = has_keys(c) ? json_pack("{s:s%, s:I}", "key", key, size, "count", n)
                               : json_pack("{s:I}", "count", n);
    const weir_status status = send_line(c, turn, line);
    json_decref(line);
    return status;
}

static bool went(weir_status status)
{
    return status == WEIR_OK || status == WEIR_DROPPED;
}

/* From where it was when there was no room. */
static weir_status send_all(count *c, weir_turn *turn)
{
    if (!c->sending) {
        c->sending = true;
        c->at = json_object_iter(c->counts);
    }
    while (c->at != NULL) {
        const weir_status status =
            send_pair(c, turn, json_object_iter_key(c->at), json_object_iter_key_len(c->at),
                      json_integer_value(json_object_iter_value(c->at)));
        if (!went(status)) {
            return status;
        }
        c->at = json_object_iter_next(c->counts, c->at);
    }
    if (c->other != 0) {
        json_t *line = json_pack("{s:n, s:I}", "key", "count", (json_int_t)c->other);
        const weir_status status = send_line(c, turn, line);
        json_decref(line);
        if (!went(status)) {
            return status;
        }
    }
    c->sending = false;
    return WEIR_OK;
}

static weir_status on_tick(count *c, weir_turn *turn)
{
    const weir_status status = send_all(c, turn);
    c->ticking = !went(status);
    return status;
}

static weir_status count_handle(void *state, weir_turn *turn, const weir_event *event)
{
    count *c = state;
    if (weir_event_as(event, &count_tick_type) != NULL) {
        return on_tick(c, turn);
    }
    if (!c->counted) {
        c->counted = true;
        take(c, event);
        /* After an event only, so that nothing ticks where nothing comes. One that cannot be had
         * is asked for with the next event. */
        c->ticking = c->ticking || (c->config->every > 0 &&
                                    weir_turn_trigger_after(turn, c->config->every,
                                                            WEIR_EMPTY(count_tick), 0) == WEIR_OK);
    }
    const weir_status status = weir__passing_status(weir_turn_send(turn, &c->config->to, event));
    c->counted = !went(status);
    return status;
}

static weir_status count_finish(void *state, weir_turn *turn)
{
    return send_all(state, turn);
}

const weir_component_type weir__count_component = {
    WEIR__PROCESSOR_TYPE(count, "count", rows, .init = count_init, .tear_down = count_tear_down,
                         .handler = count_handle, .finish = count_finish),
    .help = "counts lines, by a field or a match of a pattern, and tells the counts",
};
