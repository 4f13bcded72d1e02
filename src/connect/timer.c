/*
 * connect/timer.c - the source `timer`: an event every so often.
 *
 * Its times are laid down at the start: what comes late does not move what follows. Times that went
 * by while the feed had no room, or the thread no time, are one event, and the others are counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "base/error.h"
#include "connect/meter.h"
#include "connect/outlet.h"
#include "connect/template.h"
#include "connect/types.h"
#include "sync/thread.h"

typedef struct timer_config {
    weir_ns interval;
    weir_ns delay;
    int64_t count;
    const char *template;
    int64_t seed;
} timer_config;

enum { EVENTS, MISSED, FAILED, PAUSES, DONE };
static const char *const figures[] = { "events", "missed", "failed", "pauses", "done", NULL };

typedef struct timer {
    weir_component *self;
    const timer_config *config;
    weir__meter meter;
    weir__template template;
    uint64_t random;
    uint64_t emitted;
    weir_ns due; /* of the next one; 0: it has not begun */
    char *text;
    size_t size;
    bool waits; /* one is made, and the feed had no room for it */
    weir__outlet outlet;
} timer;

static const weir_option options[] = {
    WEIR_KEY(DURATION, timer_config, interval, "interval", .fallback = "1 s", .min = 1e5,
             .max = 1e18, .help = "Time from one event to the next, 100 us at least."),
    WEIR_KEY(DURATION, timer_config, delay, "delay", .fallback = "0", .min = 0, .max = 1e18,
             .help = "Time from the start to the first event."),
    WEIR_KEY(INT, timer_config, count, "count", .fallback = "0", .min = 0, .max = 9e15,
             .help = "Events in all; 0: no end."),
    WEIR_KEY(STRING, timer_config, template, "template", .fallback = "${n}",
             .help = "What an event is, in quotes: text with ${n} (from 1 on), ${time} "
                     "(milliseconds since 1970), ${random}, ${random:N} (0 to N - 1)."),
    WEIR_KEY(INT, timer_config, seed, "seed", .fallback = "1", .min = 0, .max = 9e15,
             .help = "The same seed gives the same random numbers."),
};

static weir_status init(void *state, weir_component *self, const void *config, weir_error *error)
{
    timer *t = state;
    const char *name = weir_component_name(self);
    t->self = self;
    t->outlet.self = self;
    t->config = config;
    const weir_status status =
        weir__template_read(&t->template, t->config->template, false, name, error);
    if (status != WEIR_OK) {
        return status;
    }
    t->random = (uint64_t)t->config->seed;
    t->text = malloc(weir__template_size_max(&t->template, 0, 0) + 1);
    if (t->text == NULL) {
        return weir__error_memory(error, name);
    }
    weir__meter_open(&t->meter, self, "timer", figures);
    return WEIR_OK;
}

static void make_event(timer *t)
{
    const weir__template_values values = {
        .n = t->emitted + 1,
        .time_ms = (uint64_t)(weir__clock_wall() / WEIR_MS),
        .random = &t->random,
    };
    t->size = weir__template_fill(&t->template, &values, t->text);
}

/* False: no room. */
static bool publish(timer *t)
{
    const weir__outlet_answer answer =
        weir__outlet_publish(&t->outlet, &weir_text_type, t->text, t->size);
    if (answer == WEIR__OUTLET_WAITS) {
        weir__meter_add(&t->meter, PAUSES, !t->waits);
        t->waits = true;
        return false;
    }
    weir__meter_add(&t->meter, FAILED, answer == WEIR__OUTLET_LOST);
    t->waits = false;
    t->emitted++;
    weir__meter_add(&t->meter, EVENTS, 1);
    return true;
}

static int32_t do_work(void *state, weir_component *self, weir_ns *next)
{
    timer *t = state;
    if (t->config->count > 0 && t->emitted == (uint64_t)t->config->count) {
        return 0;
    }
    const weir_ns now = weir_time_now(weir_component_engine(self));
    t->due = t->due == 0 ? now + t->config->delay : t->due;
    if (now < t->due) {
        *next = t->due;
        return 0;
    }
    if (!t->waits) {
        make_event(t);
    }
    if (!publish(t)) {
        *next = 0; /* nobody says when a feed has room again */
        return 0;
    }
    if (t->config->count > 0 && t->emitted == (uint64_t)t->config->count) {
        weir__meter_set(&t->meter, DONE, 1);
        weir_component_done(self);
        return 1;
    }
    const weir_ns missed = (now - t->due) / t->config->interval;
    weir__meter_add(&t->meter, MISSED, (uint64_t)missed);
    t->due += (missed + 1) * t->config->interval;
    *next = t->due;
    return 1;
}

static void tear_down(void *state, weir_component *self)
{
    (void)self;
    timer *t = state;
    free(t->text);
    t->text = NULL;
    weir__meter_close(&t->meter);
}

const weir_component_type weir__timer_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SOURCE,
    .name = "timer",
    .help = "an event every so often",
    .state_size = sizeof(timer),
    .config_size = sizeof(timer_config),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .init = init,
    .do_work = do_work,
    .tear_down = tear_down,
};
