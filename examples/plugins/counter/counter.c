/*
 * counter.c - a plugin: how often each key came, and what it summed up to, in windows of time.
 *
 *     totals { type = counter, window = 1 s, value = 3, to = out }
 *
 * A line's key is its first word. Every window sends one line a key that came in it,
 * `KEY COUNT SUM`; the end sends what there is of the last one, and with `totals` one line a key,
 * `total KEY COUNT SUM`. Behind a flow router all lines of a key come to one instance, so that
 * several count beside each other without a lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

typedef struct config {
    weir_target to;
    weir_ns window;
    int64_t value;
    bool totals;
} config;

static const weir_option options[] = {
    WEIR_KEY(TARGET, config, to, "to", .required = true, .help = "Who gets the counts."),
    WEIR_KEY(DURATION, config, window, "window", .fallback = "0", .max = 3.6e12,
             .help = "How long a window is; 0: all is one."),
    WEIR_KEY(INT, config, value, "value", .fallback = "0", .max = 100,
             .help = "Which word of a line is summed up, the key being word 1; 0: none."),
    WEIR_KEY(BOOL, config, totals, "totals", .fallback = "false",
             .help = "Send the totals of all windows at the end."),
};

/* A key, and what came of it: in this window, and in all. */
typedef struct tally {
    uint64_t count, count_all;
    double sum, sum_all;
    size_t size;
    char key[];
} tally;

typedef struct counter {
    const config *config;
    void *tallies; /* of tsearch */
    tally **list;  /* the same, in the order they came */
    size_t count, room, at;
    bool ticking, sending;
} counter;

WEIR_EMPTY_TYPE(window_end, "counter.window-end");

static int compare(const void *one, const void *other)
{
    const tally *a = one;
    const tally *b = other;
    const int order = memcmp(a->key, b->key, a->size < b->size ? a->size : b->size);
    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

/* The tally of a line's key; NULL: no memory. */
static tally *tally_of(counter *c, const char *line, size_t size)
{
    size_t length = 0;
    while (length < size && line[length] != ' ') {
        length++;
    }
    tally *fresh = calloc(1, sizeof(*fresh) + length);
    if (fresh == NULL) {
        return NULL;
    }
    fresh->size = length;
    memcpy(fresh->key, line, length);
    if (c->count == c->room) {
        tally **list = realloc(c->list, (2 * c->room + 64) * sizeof(void *));
        c->list = list != NULL ? list : c->list;
        c->room = list != NULL ? 2 * c->room + 64 : c->room;
    }
    tally **found = c->count < c->room ? tsearch(fresh, &c->tallies, compare) : NULL;
    tally *it = found != NULL ? *found : NULL;
    if (it == fresh) {
        c->list[c->count++] = it;
    } else {
        free(fresh);
    }
    return it;
}

/* Word `n` of a line as a number, from 1 on; 0 if there is none. */
static double value_of(const char *line, size_t size, int64_t n)
{
    size_t at = 0;
    for (int64_t word = 1; word < n && at < size; at++) {
        word += line[at] == ' ';
    }
    char text[32] = { 0 };
    for (size_t i = 0; n > 0 && at < size && line[at] != ' ' && i < sizeof(text) - 1; i++) {
        text[i] = line[at++];
    }
    return strtod(text, NULL);
}

static weir_status send(counter *c, weir_turn *turn, const char *word, const tally *e,
                        uint64_t count, double sum)
{
    char line[1024];
    const int size = snprintf(line, sizeof(line), "%s%.*s %" PRIu64 " %.10g", word,
                              (int)(e->size < 900 ? e->size : 900), e->key, count, sum);
    const weir_event event = { .type = &weir_text_type, .data = line, .size = (uint32_t)size };
    return weir_turn_send(turn, &c->config->to, &event);
}

/* One line a key. No room: FULL, and it comes again and goes on where it was. */
static weir_status send_all(counter *c, weir_turn *turn, bool totals)
{
    for (; c->at < c->count; c->at++) {
        tally *e = c->list[c->at];
        weir_status status = WEIR_OK;
        if (totals) {
            status = send(c, turn, "total ", e, e->count_all, e->sum_all);
        } else if (e->count > 0) {
            status = send(c, turn, "", e, e->count, e->sum);
        }
        if (status != WEIR_OK && status != WEIR_DROPPED) {
            return status;
        }
        e->count = 0;
        e->sum = 0;
    }
    c->at = 0;
    return WEIR_OK;
}

static weir_status on_line(void *state, weir_turn *turn, const weir_event *event)
{
    counter *c = state;
    tally *e = tally_of(c, event->data, event->size);
    if (e == NULL) {
        return WEIR_E_NOMEM; /* comes again */
    }
    const double value = value_of(event->data, event->size, c->config->value);
    e->count++;
    e->count_all++;
    e->sum += value;
    e->sum_all += value;
    if (!c->ticking && c->config->window > 0) { /* a window begins with its first line */
        c->ticking =
            weir_turn_trigger_after(turn, c->config->window, WEIR_EMPTY(window_end), 0) == WEIR_OK;
    }
    return WEIR_OK;
}

static weir_status on_window_end(void *state, weir_turn *turn, const weir_event *event)
{
    (void)event;
    counter *c = state;
    const weir_status status = send_all(c, turn, false);
    c->ticking = status != WEIR_OK;
    return status;
}

static weir_status finish(void *state, weir_turn *turn)
{
    counter *c = state;
    weir_status status = c->sending ? WEIR_OK : send_all(c, turn, false);
    if (status == WEIR_OK && c->config->totals) {
        c->sending = true;
        status = send_all(c, turn, true);
    }
    return status;
}

static weir_status init(void *state, weir_component *self, const void *given, weir_error *error)
{
    (void)self, (void)error;
    ((counter *)state)->config = given;
    return WEIR_OK;
}

static void tear_down(void *state, weir_component *self)
{
    (void)self;
    counter *c = state;
    tdestroy(c->tallies, free);
    free(c->list);
}

static const weir_case cases[] = { { &weir_text_type, on_line },
                                   { &window_end_type, on_window_end } };

static const weir_component_type counter_component = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_PROCESSOR,
    .name = "counter",
    .help = "counts lines by their first word, in windows of time",
    .state_size = sizeof(counter),
    .config_size = sizeof(config),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .init = init,
    .tear_down = tear_down,
    .cases = WEIR_CASES(cases),
    .finish = finish,
    WEIR_PASSES_ON,
};

static const weir_component_type *const types[] = { &counter_component };

WEIR_PLUGIN = { WEIR_PLUGIN_HEAD,   .name = "counter",
                .version = "1.0.0", .help = "counts by key, in windows",
                .types = types,     .type_count = 1 };
