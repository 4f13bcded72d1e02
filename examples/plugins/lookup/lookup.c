/*
 * lookup.c - a plugin: work that blocks, handed to a service; its answer comes back as an event.
 *
 *     reader { type = file-reader, dispatcher = blocking }
 *     enrich { type = enrich, feeds = [lines], reader = reader, to = out }
 *
 * Reading a file may take as long as its disk likes. A handler that did it would hold up every
 * processor of its thread, so it asks: the service's handler runs on a dispatcher of its own, whose
 * threads have nothing else to do. Meanwhile `enrich` goes on with the next line. Each line is the
 * path of a file; what is sent on is that path and the first line of the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

/* ---- the service: the only one that blocks ---- */

static weir_status on_path(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    char path[512] = { 0 };
    memcpy(path, event->data, event->size < sizeof(path) ? event->size : sizeof(path) - 1);
    char line[512] = "(cannot be read)\n";
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        (void)fgets(line, sizeof(line), file);
        (void)fclose(file);
    }
    const weir_event answer = { .type = &weir_text_type,
                                .data = line,
                                .size = (uint32_t)strcspn(line, "\n") };
    const weir_status status = weir_turn_reply(turn, event->from, &answer);
    return status == WEIR_UNKNOWN ? WEIR_OK : status; /* who asked has given up */
}

static const weir_case reader_cases[] = { { &weir_text_type, on_path } };

static const weir_component_type reader_component = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SERVICE,
    .name = "file-reader",
    .help = "answers a path with the first line of that file",
    .cases = WEIR_CASES(reader_cases),
};

/* ---- who asks ---- */

typedef struct config {
    weir_target reader, to;
} config;

static const weir_option options[] = {
    WEIR_KEY(TARGET, config, reader, "reader", .required = true, .help = "Whom to ask."),
    WEIR_KEY(TARGET, config, to, "to", .required = true, .help = "Who gets the lines."),
};

enum { ASKED_MAX = 256 };

typedef struct enrich {
    const config *config;
    weir_event kept[ASKED_MAX]; /* lines whose answer is awaited, by tag */
} enrich;

static weir_status init(void *state, weir_component *self, const void *given, weir_error *error)
{
    (void)self, (void)error;
    ((enrich *)state)->config = given;
    return WEIR_OK;
}

static weir_status send_line(enrich *e, weir_turn *turn, const weir_event *path, const char *text,
                             size_t size)
{
    char line[1100];
    const int length =
        snprintf(line, sizeof(line), "%.*s: %.*s", (int)(path->size < 512 ? path->size : 512),
                 (const char *)path->data, (int)size, text);
    const weir_event out = { .type = &weir_text_type, .data = line, .size = (uint32_t)length };
    return weir_turn_send(turn, &e->config->to, &out);
}

static weir_status on_answer(void *state, weir_turn *turn, const weir_event *event)
{
    enrich *e = state;
    weir_event *path = &e->kept[event->tag];
    const char *text = weir_event_as(event, &weir_text_type);
    const weir_status status = text != NULL ? send_line(e, turn, path, text, event->size)
                                            : send_line(e, turn, path, "(no answer)", 11);
    if (status == WEIR_OK || status == WEIR_DROPPED) {
        weir_event_release(path);
    }
    return status; /* FULL: the same answer comes again */
}

/* A line that cannot be asked about now is told as such. To come again would be to wait for answers
 * that stand behind it, in the same mailbox. */
static weir_status on_line(void *state, weir_turn *turn, const weir_event *event)
{
    enrich *e = state;
    uint64_t place = 0;
    while (place < ASKED_MAX && e->kept[place].type != NULL) {
        place++;
    }
    if (place == ASKED_MAX || event->size >= 512 ||
        weir_event_keep(weir_turn_engine(turn), event, &e->kept[place]) != WEIR_OK) {
        return send_line(e, turn, event, "(not asked)", 11);
    }
    const weir_ask_options ask = { .struct_size = sizeof(ask), .then = on_answer, .tag = place };
    if (weir_turn_ask(turn, e->config->reader.processor, event, &ask) != WEIR_OK) {
        weir_event_release(&e->kept[place]);
        return send_line(e, turn, event, "(not asked)", 11);
    }
    return WEIR_OK;
}

static void tear_down(void *state, weir_component *self)
{
    (void)self;
    for (size_t i = 0; i < ASKED_MAX; i++) {
        weir_event_release(&((enrich *)state)->kept[i]);
    }
}

static const weir_case cases[] = { { &weir_text_type, on_line } };

static const weir_component_type enrich_component = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_PROCESSOR,
    .name = "enrich",
    .help = "sends each path on with the first line of its file",
    .state_size = sizeof(enrich),
    .config_size = sizeof(config),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .init = init,
    .tear_down = tear_down,
    .cases = WEIR_CASES(cases),
    WEIR_PASSES_ON,
};

static const weir_component_type *const types[] = { &reader_component, &enrich_component };

WEIR_PLUGIN = { WEIR_PLUGIN_HEAD,   .name = "lookup",
                .version = "1.0.0", .help = "blocking work through a service",
                .types = types,     .type_count = 2 };
