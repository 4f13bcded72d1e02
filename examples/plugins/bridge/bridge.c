/*
 * bridge.c - a plugin: from one feed into another, in another shape.
 *
 *     euros { type = bridge, feeds = [dollars], factor = 0.9 }
 *     book  { type = ..., feeds = [euros] }
 *
 * A line `NAME NUMBER` of the feeds that it listens to comes out of its own feed with the number
 * times `factor`; what is no such line does not. Whoever listens to the one feed knows nothing of
 * the other. What is published carries the origin of the line it was made of: the position of the
 * source that the line came from waits for both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <weir/weir.h>

typedef struct config {
    double factor;
} config;

static const weir_option options[] = {
    WEIR_KEY(DOUBLE, config, factor, "factor", .fallback = "1", .help = "Numbers are times this."),
};

typedef struct bridge {
    const config *config;
    weir_component *self;
} bridge;

static weir_status init(void *state, weir_component *self, const void *given, weir_error *error)
{
    (void)error;
    *(bridge *)state = (bridge){ given, self };
    return WEIR_OK;
}

static weir_status on_line(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    const bridge *b = state;
    char text[128] = { 0 };
    char name[64];
    double number = 0;
    memcpy(text, event->data, event->size < sizeof(text) ? event->size : sizeof(text) - 1);
    if (sscanf(text, "%63s %lf", name, &number) != 2) {
        weir_component_report(b->self, WEIR_DROPPED, "a line is no NAME NUMBER");
        return WEIR_OK;
    }
    char line[128];
    const int size = snprintf(line, sizeof(line), "%s %.2f", name, number * b->config->factor);
    const weir_event out = { .type = &weir_text_type, .data = line, .size = (uint32_t)size };
    return weir_feed_publish(weir_component_engine(b->self), weir_component_feed(b->self), &out);
}

static const weir_case cases[] = { { &weir_text_type, on_line } };

static const weir_component_type bridge_component = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_PROCESSOR,
    .name = "bridge",
    .help = "publishes the numbers of other feeds, times a factor",
    .state_size = sizeof(bridge),
    .config_size = sizeof(config),
    .options = options,
    .option_count = 1,
    .init = init,
    .cases = WEIR_CASES(cases),
    .publishes = true,
    .slow = WEIR_SLOW_BLOCK,
    WEIR_PASSES_ON,
};

static const weir_component_type *const types[] = { &bridge_component };

WEIR_PLUGIN = { WEIR_PLUGIN_HEAD,   .name = "bridge",
                .version = "1.0.0", .help = "from one feed into another",
                .types = types,     .type_count = 1 };
