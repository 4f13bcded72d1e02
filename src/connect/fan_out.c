/*
 * connect/fan_out.c - the processor `fan-out`: every event to each of its targets, with a circuit
 * breaker before each, so that one that is down costs the others nothing.
 *
 * A target fails if it takes an event not at once: its mailbox is full, it is gone, it is being
 * stopped. Such an event, and those that come while the breaker is open, are lost for that target
 * only: counted, or dead letters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "connect/breaker.h"
#include "connect/meter.h"
#include "connect/types.h"
#include "weir/metrics.h"
#include "weir/turn.h"

enum { LOST_DROP, LOST_DEAD_LETTERS };
static const char *const lost_words[] = { "drop", "dead-letters", NULL };

typedef struct fan_out_config {
    weir_targets targets;
    int64_t failures;
    weir_ns open_for;
    int64_t trials;
    int64_t lost;
} fan_out_config;

enum { EVENTS, SENT, FAILURES, LOST, OPENED, OPEN };
static const char *const figures[] = {
    "events", "sent", "failures", "lost", "opened", "open", NULL
};

typedef struct fan_out {
    weir_component *self;
    const fan_out_config *config;
    weir__meter meter;
    weir__breaker *branches; /* one a target */
} fan_out;

static const weir_option options[] = {
    WEIR_KEY(TARGETS, fan_out_config, targets, "targets", .required = true,
             .help = "Who gets every event: components, processors, routers."),
    WEIR_KEY(INT, fan_out_config, failures, "failures", .fallback = "5", .min = 1, .max = 1e6,
             .help = "After so many failures in a row a target is left alone for a while."),
    WEIR_KEY(DURATION, fan_out_config, open_for, "open-for", .fallback = "5 s", .min = 1e6,
             .max = 1e18, .help = "For how long; then it is tried again."),
    WEIR_KEY(INT, fan_out_config, trials, "trials", .fallback = "1", .min = 1, .max = 1e6,
             .help = "So many events must arrive then until all is well again; one that does "
                     "not, and it is left alone once more."),
    WEIR_KEY(ENUM, fan_out_config, lost, "lost", .fallback = "drop", .words = lost_words,
             .help = "What becomes of an event that a target did not get. drop: it is counted. "
                     "dead-letters: it is a dead letter, too, whose text names the target."),
};

/* ---- for `health`, and who scrapes: the breakers that are open ---- */

#define CIRCUITS "fan_out_circuits_open"

static double read_open(void *context)
{
    return (double)weir__meter_value(&((fan_out *)context)->meter, OPEN);
}

static void name_figure(const fan_out *f, char *out, size_t size)
{
    (void)snprintf(out, size, "component=\"%s\"", weir_component_name(f->self));
}

/* One whose name is no label, or for which there is no room, does without. */
static void add_figure(fan_out *f)
{
    char labels[128];
    name_figure(f, labels, sizeof(labels));
    (void)weir_metric_add(weir_component_engine(f->self),
                          WEIR_METRIC(.kind = WEIR_METRIC_GAUGE, .name = CIRCUITS, .labels = labels,
                                      .help = "Targets of a fan-out that are left alone",
                                      .read = read_open, .context = f),
                          NULL);
}

static void remove_figure(const fan_out *f)
{
    char labels[128];
    name_figure(f, labels, sizeof(labels));
    (void)weir_metric_remove(weir_component_engine(f->self), CIRCUITS, labels);
}

static weir_status init(void *state, weir_component *self, const void *config, weir_error *error)
{
    fan_out *f = state;
    f->self = self;
    f->config = config;
    const size_t count = f->config->targets.count;
    if (count == 0) {
        return weir__error_at(error, WEIR_E_CONFIG, weir_component_name(self),
                              "targets: at least one is needed");
    }
    f->branches = calloc(count, sizeof(*f->branches));
    if (f->branches == NULL) {
        return weir__error_memory(error, weir_component_name(self));
    }
    for (size_t i = 0; i < count; i++) {
        weir__breaker_open(&f->branches[i], (uint32_t)f->config->failures, f->config->open_for,
                           (uint32_t)f->config->trials);
    }
    weir__meter_open(&f->meter, self, "fan-out", figures);
    add_figure(f);
    return WEIR_OK;
}

static void say_state(fan_out *f, size_t i, weir_status status)
{
    const weir__breaker *branch = &f->branches[i];
    const char *target = f->config->targets.items[i].name;
    const bool open = branch->state == WEIR__BREAKER_OPEN;
    if (open) {
        weir__meter_add(&f->meter, OPENED, 1);
    }
    uint64_t count = 0;
    for (size_t k = 0; k < f->config->targets.count; k++) {
        count += f->branches[k].state == WEIR__BREAKER_OPEN;
    }
    weir__meter_set(&f->meter, OPEN, count);
    char text[160];
    snprintf(text, sizeof(text), open ? "target '%s' is left alone: %s" : "target '%s' works again",
             target, weir_status_text(status));
    if (open) {
        weir_component_report(f->self, status, text);
    } else {
        weir_log_write(weir_component_engine(f->self), WEIR_LOG_INFO, weir_component_name(f->self),
                       text, NULL, 0);
    }
}

/* False: this target does not get the event. */
static bool send_to(fan_out *f, weir_turn *turn, size_t i, const weir_event *event, weir_ns now)
{
    weir__breaker *branch = &f->branches[i];
    if (!weir__breaker_allows(branch, now)) {
        return false;
    }
    const weir_status status = weir_turn_send(turn, &f->config->targets.items[i], event);
    const bool success = status == WEIR_OK || status == WEIR_DROPPED;
    weir__meter_add(&f->meter, success ? SENT : FAILURES, 1);
    if (weir__breaker_tell(branch, success, now)) {
        say_state(f, i, status);
    }
    return success;
}

static weir_status handler(void *state, weir_turn *turn, const weir_event *event)
{
    fan_out *f = state;
    const weir_ns now = weir_time_now(weir_component_engine(f->self));
    size_t lost = 0, first = 0;
    for (size_t i = 0; i < f->config->targets.count; i++) {
        if (!send_to(f, turn, i, event, now)) {
            first = lost == 0 ? i : first;
            lost++;
        }
    }
    weir__meter_add(&f->meter, LOST, lost);
    weir__meter_add(&f->meter, EVENTS, 1); /* last: who sees it sees what became of it */
    if (lost == 0 || f->config->lost == LOST_DROP) {
        return WEIR_OK;
    }
    char text[128];
    snprintf(text, sizeof(text), "target '%s' did not get it (%s)%s",
             f->config->targets.items[first].name, weir__breaker_word(&f->branches[first]),
             lost > 1 ? ", nor did others" : "");
    return weir_turn_fail(turn, WEIR_E_FAILED, text);
}

static void tear_down(void *state, weir_component *self)
{
    (void)self;
    fan_out *f = state;
    remove_figure(f);
    free(f->branches);
    f->branches = NULL;
    weir__meter_close(&f->meter);
}

const weir_component_type weir__fan_out_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_PROCESSOR,
    .name = "fan-out",
    .help = "passes every event to several targets, each behind a circuit breaker",
    .state_size = sizeof(fan_out),
    .config_size = sizeof(fan_out_config),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .init = init,
    .tear_down = tear_down,
    .handler = handler,
};
