/*
 * connect/log.c - the processor `log`: what comes along, as lines of weir's log; and on it goes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "connect/builtin.h"
#include "connect/passing.h"

typedef struct logger_config {
    weir_target to;
    int64_t level;
    int64_t each;
    uint64_t cut;
} logger_config;

typedef struct logger {
    const logger_config *config;
    weir_component *self;
    char *text;     /* cut + 1 */
    uint64_t count; /* events */
    bool said;      /* the event at hand: it comes again if there was no room ahead */
} logger;

static const char *const levels[] = { "debug", "info", "warning", "error", NULL };

static const weir_option rows[] = {
    WEIR_KEY(ENUM, logger_config, level, "level", .fallback = "info", .words = levels,
             .help = "The level of these lines."),
    WEIR_KEY(INT, logger_config, each, "each", .fallback = "1", .min = 1, .max = 1e9,
             .help = "One event in so many is shown; all go on."),
    WEIR_KEY(BYTES, logger_config, cut, "cut", .fallback = "1000", .min = 1, .max = 1048576.0,
             .help = "Bytes of an event that are shown at most."),
    WEIR_KEY(TARGET, logger_config, to, "to",
             .help = "Who gets the events next; nobody, if left out."),
};

static weir_status logger_init(void *state, weir_component *self, const void *config,
                               weir_error *error)
{
    logger *l = state;
    l->self = self;
    l->config = config;
    l->text = malloc(l->config->cut + 1);
    return l->text != NULL
               ? WEIR_OK
               : weir_error_set(error, WEIR_E_NOMEM, weir_component_name(self), "no memory");
}

static void logger_tear_down(void *state, weir_component *self)
{
    (void)self;
    free(((logger *)state)->text);
}

/* As text on one line: a log is read by people and by tools that know lines only. */
static void show(logger *l, const weir_event *event)
{
    const size_t room = l->config->cut + 1;
    size_t size = 0;
    const void *bytes = weir__payload_bytes(event, &size);
    if (bytes != NULL) {
        size = size < room - 1 ? size : room - 1;
        memcpy(l->text, bytes, size);
    } else if (event->type->print != NULL) {
        size = event->type->print(event->data, event->size, l->text, room);
        size = size < room - 1 ? size : room - 1;
    } else {
        size = (size_t)snprintf(l->text, room, "%u bytes", event->size);
        size = size < room - 1 ? size : room - 1;
    }
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)l->text[i] < ' ' || l->text[i] == 0x7f) {
            l->text[i] = ' ';
        }
    }
    l->text[size] = '\0';
    const weir_log_field field = { "type", event->type->name };
    weir_log_write(weir_component_engine(l->self),
                   (weir_log_level)(WEIR_LOG_DEBUG + l->config->level),
                   weir_component_name(l->self), l->text, &field, 1);
}

static weir_status logger_handle(void *state, weir_turn *turn, const weir_event *event)
{
    logger *l = state;
    if (!l->said) {
        l->said = true;
        if (l->count++ % (uint64_t)l->config->each == 0) {
            show(l, event);
        }
    }
    const weir_status status = weir__passing_status(weir_turn_send(turn, &l->config->to, event));
    l->said = status != WEIR_OK && status != WEIR_DROPPED;
    return status;
}

const weir_component_type weir__log_component = {
    WEIR__PROCESSOR_TYPE(logger, "log", rows, .init = logger_init, .tear_down = logger_tear_down,
                         .handler = logger_handle),
    .help = "shows events as lines of weir's log, and passes them on",
};
