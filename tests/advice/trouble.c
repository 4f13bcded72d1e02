/*
 * trouble.c - a plugin for the tests of `weir doctor`: a processor whose handler computes, waits or
 * fails, for every event or for some, and ones that send their events round
 * for ever.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <time.h>
#include <weir/weir.h>

typedef struct trouble_config {
    weir_ns spin, sleep;
    int64_t every, fail_every;
    bool echo, back;
    weir_target to;
} trouble_config;

typedef struct trouble {
    const trouble_config *config;
    uint64_t count;
} trouble;

static weir_status on_init(void *state, weir_component *self, const void *config, weir_error *error)
{
    trouble *t = state;
    (void)self;
    (void)error;
    t->config = config;
    return WEIR_OK;
}

/* The trouble itself: these are no synchronisation. */
static weir_ns now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (weir_ns)time.tv_sec * WEIR_S + time.tv_nsec;
}

static void spin(weir_ns span)
{
    for (const weir_ns end = now() + span; now() < end;) {
    }
}

static void doze(weir_ns span)
{
    const struct timespec time = { (time_t)(span / WEIR_S), (long)(span % WEIR_S) };
    (void)nanosleep(&time, NULL);
}

static weir_status on_event(void *state, weir_turn *turn, const weir_event *event)
{
    trouble *t = state;
    const trouble_config *c = t->config;
    if (event->type != &weir_text_type) {
        return WEIR_OK;
    }
    t->count++;
    if (t->count % (uint64_t)c->every == 0) {
        if (c->spin > 0) {
            spin(c->spin);
        }
        if (c->sleep > 0) {
            doze(c->sleep);
        }
    }
    if (c->fail_every > 0 && t->count % (uint64_t)c->fail_every == 0) {
        return weir_turn_fail(turn, WEIR_E_FAILED, "told to fail");
    }
    if (c->back) {
        return weir_turn_post(turn, event->from.sender, event);
    }
    if (c->echo) {
        return weir_turn_post(turn, weir_turn_self(turn), event);
    }
    return weir_turn_send(turn, &c->to, event);
}

static const weir_option options[] = {
    WEIR_KEY(DURATION, trouble_config, spin, "spin", .fallback = "0", .min = 0,
             .help = "How long it computes."),
    WEIR_KEY(DURATION, trouble_config, sleep, "sleep", .fallback = "0", .min = 0,
             .help = "How long it waits."),
    WEIR_KEY(INT, trouble_config, every, "every", .fallback = "1", .min = 1, .max = 1e9,
             .help = "One event in so many has it compute or wait."),
    WEIR_KEY(INT, trouble_config, fail_every, "fail-every", .fallback = "0", .min = 0, .max = 1e9,
             .help = "One event in so many fails; 0: none does."),
    WEIR_KEY(BOOL, trouble_config, echo, "echo", .help = "Sends each event to itself again."),
    WEIR_KEY(BOOL, trouble_config, back, "back", .help = "Sends each event to its sender."),
    WEIR_KEY(TARGET, trouble_config, to, "to", .help = "Who gets what it gets."),
};

static const weir_component_type processor = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_PROCESSOR,
    .name = "trouble",
    .help = "does what a handler should not",
    .state_size = sizeof(trouble),
    .config_size = sizeof(trouble_config),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .init = on_init,
    .handler = on_event,
};
static const weir_component_type *const types[] = { &processor };

WEIR_PLUGIN = {
    WEIR_PLUGIN_HEAD,    .name = "trouble", .version = "1.0.0",
    .help = "for tests", .types = types,    .type_count = 1,
};
