/*
 * connect/generator.c - the source `generator`: events out of nothing, so many a second, for trials
 * and measurements.
 *
 * Events are due by a clock that is laid down at the start: a round emits all that is due by now,
 * so the rate holds whatever the rounds' lengths. Who falls behind (the feed has no room) catches
 * up, but by no more than a second's worth: the rest is counted as skipped, not emitted in a burst.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "connect/keys.h"
#include "connect/meter.h"
#include "connect/outlet.h"
#include "connect/template.h"
#include "connect/types.h"
#include "sync/thread.h"

enum { ROUND_EVENTS = 1024, KEY_SIZE_MAX = 256 };

enum { FORMAT_TEXT, FORMAT_JSON };
static const char *const format_words[] = { "text", "json", NULL };
static const char *const spread_words[] = { "uniform", "zipf", "round-robin", NULL };

typedef struct generator_config {
    double rate;
    int64_t count;
    int64_t keys;
    int64_t spread;
    double exponent;
    const char *key_prefix;
    int64_t format;
    uint64_t size;
    const char *template;
    int64_t seed;
} generator_config;

enum { EVENTS, BYTES, SKIPPED, FAILED, PAUSES, DONE };
static const char *const figures[] = { "events", "bytes", "skipped", "failed",
                                       "pauses", "done",  NULL };

typedef struct generator {
    weir_component *self;
    const generator_config *config;
    weir__meter meter;
    weir__template template;
    weir__keys keys;
    uint64_t random;
    uint64_t emitted;
    uint64_t late; /* of those that were due: skipped */
    weir_ns began; /* 0: not yet */
    char *text;    /* of the event at hand */
    size_t size;
    bool waits; /* it is made, and the feed had no room for it */
    bool done;
    weir__outlet outlet;
} generator;

static const weir_option options[] = {
    WEIR_KEY(DOUBLE, generator_config, rate, "rate", .fallback = "1000", .min = 0, .max = 1e9,
             .help = "Events a second; 0: as many as go."),
    WEIR_KEY(INT, generator_config, count, "count", .fallback = "0", .min = 0, .max = 9e15,
             .help = "Events in all, then it is done; 0: no end."),
    WEIR_KEY(INT, generator_config, keys, "keys", .fallback = "1000", .min = 1, .max = 1e7,
             .help = "How many keys there are."),
    WEIR_KEY(ENUM, generator_config, spread, "distribution", .fallback = "uniform",
             .words = spread_words,
             .help = "Which key is next. uniform: each as likely. zipf: key k with a weight of "
                     "1 / k^exponent. round-robin: one after the other."),
    WEIR_KEY(DOUBLE, generator_config, exponent, "exponent", .fallback = "1", .min = 0, .max = 10,
             .help = "Of zipf: the larger, the more often the first keys come."),
    WEIR_KEY(STRING, generator_config, key_prefix, "key-prefix", .fallback = "key-",
             .help = "A key is this and a number from 1 on; at most 200 bytes."),
    WEIR_KEY(ENUM, generator_config, format, "format", .fallback = "text", .words = format_words,
             .help = "What an event is if there is no template: \"KEY N\", or a JSON object with "
                     "key, n, time, value. With json a template is checked to be JSON."),
    WEIR_KEY(BYTES, generator_config, size, "size", .fallback = "0", .max = 16777216.0,
             .help = "Events are filled up to so many bytes, where the template has ${pad}; 0: "
                     "they are as long as they are."),
    WEIR_KEY(STRING, generator_config, template, "template",
             .help = "What an event is, in quotes: text with ${key}, ${n} (from 1 on), ${time} "
                     "(milliseconds since 1970), ${random}, ${random:N} (0 to N - 1), ${pad}."),
    WEIR_KEY(INT, generator_config, seed, "seed", .fallback = "1", .min = 0, .max = 9e15,
             .help = "The same seed gives the same keys and random numbers."),
};

static const char *default_template(const generator_config *config)
{
    static const char *const templates[2][2] = {
        { "${key} ${n}", "${key} ${n} ${pad}" },
        { "{\"key\":\"${key}\",\"n\":${n},\"time\":${time},\"value\":${random:1000}}",
          "{\"key\":\"${key}\",\"n\":${n},\"time\":${time},\"value\":${random:1000},"
          "\"pad\":\"${pad}\"}" },
    };
    return templates[config->format == FORMAT_JSON][config->size > 0];
}

static void make_event(generator *g, uint64_t time_ms)
{
    char key[KEY_SIZE_MAX];
    const int key_size = snprintf(key, sizeof(key), "%s%" PRIu64, g->config->key_prefix,
                                  weir__keys_next(&g->keys, &g->random));
    const weir__template_values values = {
        .n = g->emitted + 1,
        .time_ms = time_ms,
        .key = key,
        .key_size = (size_t)key_size,
        .random = &g->random,
        .size = g->config->size,
    };
    g->size = weir__template_fill(&g->template, &values, g->text);
}

/* With format = json an event must be JSON: one is made for trial. */
static weir_status check_json(generator *g, weir_error *error)
{
    if (g->config->format != FORMAT_JSON) {
        return WEIR_OK;
    }
    json_error_t wrong;
    make_event(g, 0);
    json_t *json = json_loadb(g->text, g->size, 0, &wrong);
    if (json == NULL) {
        return weir__error_at(error, WEIR_E_CONFIG, weir_component_name(g->self),
                              "template: with format = json it must be JSON, and is not: %s at "
                              "column %d",
                              wrong.text, wrong.column);
    }
    json_decref(json);
    return WEIR_OK;
}

static void let_go(generator *g)
{
    weir__keys_close(&g->keys);
    free(g->text);
    g->text = NULL;
}

/* What the config says, as it is needed later. On error some of it may be there. */
static weir_status prepare(generator *g, weir_error *error)
{
    const char *name = weir_component_name(g->self);
    if (strlen(g->config->key_prefix) > KEY_SIZE_MAX - 56) {
        return weir__error_at(error, WEIR_E_CONFIG, name, "key-prefix: at most 200 bytes");
    }
    const char *text =
        g->config->template != NULL ? g->config->template : default_template(g->config);
    weir_status status = weir__template_read(&g->template, text, true, name, error);
    if (status != WEIR_OK) {
        return status;
    }
    if (g->config->size > 0 && !g->template.pads) {
        return weir__error_at(error, WEIR_E_CONFIG, name,
                              "size: the template has no ${pad} to fill up");
    }
    g->text = malloc(weir__template_size_max(&g->template, KEY_SIZE_MAX, g->config->size) + 1);
    if (g->text == NULL || !weir__keys_open(&g->keys, (weir__keys_spread)g->config->spread,
                                            (uint64_t)g->config->keys, g->config->exponent)) {
        return weir__error_memory(error, name);
    }
    g->random = (uint64_t)g->config->seed;
    status = check_json(g, error);
    g->random = (uint64_t)g->config->seed; /* the trial does not count */
    g->keys.next = 0;
    return status;
}

static weir_status init(void *state, weir_component *self, const void *config, weir_error *error)
{
    generator *g = state;
    g->self = self;
    g->outlet.self = self;
    g->config = config;
    const weir_status status = prepare(g, error);
    if (status != WEIR_OK) {
        let_go(g);
        return status;
    }
    weir__meter_open(&g->meter, self, "generator", figures);
    return WEIR_OK;
}

/* How many events are due by now in all. */
static uint64_t due_by(generator *g, weir_ns now)
{
    const double rate = g->config->rate;
    if (rate == 0) {
        return UINT64_MAX;
    }
    const uint64_t due = (uint64_t)((double)(now - g->began) * rate / 1e9) + 1 - g->late;
    const uint64_t most = (uint64_t)rate + 1; /* a second's */
    if (due > g->emitted && due - g->emitted > most) {
        const uint64_t skip = due - g->emitted - most;
        g->late += skip;
        weir__meter_add(&g->meter, SKIPPED, skip);
        return due - skip;
    }
    return due;
}

/* False: no room for the event at hand. */
static bool publish(generator *g)
{
    const weir__outlet_answer answer =
        weir__outlet_publish(&g->outlet, &weir_text_type, g->text, g->size);
    if (answer == WEIR__OUTLET_WAITS) {
        weir__meter_add(&g->meter, PAUSES, !g->waits);
        g->waits = true;
        return false;
    }
    weir__meter_add(&g->meter, FAILED, answer == WEIR__OUTLET_LOST);
    g->waits = false;
    g->emitted++;
    weir__meter_add(&g->meter, EVENTS, 1);
    weir__meter_add(&g->meter, BYTES, g->size);
    return true;
}

static int32_t do_work(void *state, weir_component *self, weir_ns *next)
{
    generator *g = state;
    if (g->done) {
        return 0;
    }
    const weir_ns now = weir_time_now(weir_component_engine(self));
    g->began = g->began == 0 ? now : g->began;
    uint64_t due = due_by(g, now);
    const uint64_t most = g->config->count > 0 ? (uint64_t)g->config->count : UINT64_MAX;
    due = due < most ? due : most;
    const uint64_t time_ms = (uint64_t)(weir__clock_wall() / WEIR_MS);
    int32_t work = 0;
    while (g->emitted < due && work < ROUND_EVENTS) {
        if (!g->waits) {
            make_event(g, time_ms);
        }
        if (!publish(g)) {
            *next = 0; /* nobody says when a feed has room again */
            return work;
        }
        work++;
    }
    if (g->emitted == most) {
        g->done = true;
        weir__meter_set(&g->meter, DONE, 1);
        weir_component_done(self);
        weir_log_write(weir_component_engine(self), WEIR_LOG_INFO, weir_component_name(self),
                       "has generated all it had to", NULL, 0);
    } else if (g->config->rate > 0) {
        *next = g->began + (weir_ns)((double)(g->emitted + g->late) * 1e9 / g->config->rate) + 1;
    } else {
        *next = now;
    }
    return work;
}

static void tear_down(void *state, weir_component *self)
{
    (void)self;
    generator *g = state;
    let_go(g);
    weir__meter_close(&g->meter);
}

const weir_component_type weir__generator_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SOURCE,
    .name = "generator",
    .help = "makes events out of nothing, with keys, at a rate",
    .state_size = sizeof(generator),
    .config_size = sizeof(generator_config),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .init = init,
    .do_work = do_work,
    .tear_down = tear_down,
    .slow = WEIR_SLOW_BLOCK, /* what comes next can wait */
};
