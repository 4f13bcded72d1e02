/*
 * connect/filter.c - the processor `filter`: passes on the lines whose piece compares as wanted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "connect/builtin.h"
#include "connect/passing.h"
#include "connect/pick.h"

typedef enum filter_op {
    OP_EXISTS,
    OP_EQUALS,
    OP_DIFFERS,
    OP_BELOW,
    OP_AT_MOST,
    OP_ABOVE,
    OP_AT_LEAST
} filter_op;

typedef struct filter_config {
    weir__pick_config pick;
    int64_t is;
    const char *value;
    weir_target to;
    weir_target otherwise;
} filter_config;

typedef struct filter {
    const filter_config *config;
    weir__pick *pick;
    double number; /* that `value` is; NAN: none */
} filter;

static const char *const ops[] = { "there",   "equal", "other",    "below",
                                   "at-most", "above", "at-least", NULL };

static const weir_option rows[] = {
    WEIR__PICK_ROWS(filter_config, pick),
    WEIR_KEY(ENUM, filter_config, is, "is", .fallback = "there", .words = ops,
             .help = "What lets a line through: that the field or match is there; that it is equal "
                     "to value, or another; or, both being numbers, how it compares. A line "
                     "without it does not pass."),
    WEIR_KEY(STRING, filter_config, value, "value", .help = "What it is compared with."),
    WEIR_KEY(TARGET, filter_config, to, "to", .required = true, .help = "Who gets what passes."),
    WEIR_KEY(TARGET, filter_config, otherwise, "else",
             .help = "Who gets the rest; nobody, if left out."),
};

/* All of it is a number, or NAN. */
static double number_of(const char *text, size_t size)
{
    char copy[64];
    if (size == 0 || size >= sizeof(copy)) {
        return NAN;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    char *end = NULL;
    const double number = strtod(copy, &end);
    return *end == '\0' ? number : NAN;
}

static weir_status filter_init(void *state, weir_component *self, const void *config,
                               weir_error *error)
{
    filter *f = state;
    const char *name = weir_component_name(self);
    f->config = config;
    const filter_op op = (filter_op)f->config->is;
    const char *value = f->config->value;
    if (op != OP_EXISTS && value == NULL) {
        return weir_error_set(error, WEIR_E_CONFIG, name,
                              "is compares, and value is not there; write what with");
    }
    f->number = value != NULL ? number_of(value, strlen(value)) : NAN;
    if (op >= OP_BELOW && isnan(f->number)) {
        return weir_error_set(error, WEIR_E_CONFIG, name, "is compares numbers, and value is none");
    }
    f->pick = weir__pick_open(&f->config->pick, false, name, error);
    return f->pick != NULL ? WEIR_OK : error->status;
}

static void filter_tear_down(void *state, weir_component *self)
{
    (void)self;
    weir__pick_close(((filter *)state)->pick);
}

static bool compares(const filter *f, const char *text, size_t size)
{
    const filter_op op = (filter_op)f->config->is;
    if (op == OP_EXISTS) {
        return true;
    }
    const double number = number_of(text, size);
    if (op == OP_EQUALS || op == OP_DIFFERS) {
        const bool same =
            strlen(f->config->value) == size && memcmp(text, f->config->value, size) == 0;
        const bool equal = same || (!isnan(number) && number == f->number); /* 1 is 1.0 */
        return equal == (op == OP_EQUALS);
    }
    switch (op) {
    case OP_BELOW:
        return number < f->number;
    case OP_AT_MOST:
        return number <= f->number;
    case OP_ABOVE:
        return number > f->number;
    case OP_AT_LEAST:
        return number >= f->number;
    case OP_EXISTS:
    case OP_EQUALS:
    case OP_DIFFERS:
    default:
        return false;
    }
}

static weir_status filter_handle(void *state, weir_turn *turn, const weir_event *event)
{
    const filter *f = state;
    const char *text = NULL;
    size_t length = 0;
    size_t size = 0;
    const void *bytes = weir__payload_bytes(event, &size);
    const bool passes = bytes != NULL &&
                        weir__pick_run(f->pick, bytes, size, &text, &length) == WEIR__PICKED &&
                        compares(f, text, length);
    return weir__passing_status(
        weir_turn_send(turn, passes ? &f->config->to : &f->config->otherwise, event));
}

const weir_component_type weir__filter_component = {
    WEIR__PROCESSOR_TYPE(filter, "filter", rows, .init = filter_init, .tear_down = filter_tear_down,
                         .handler = filter_handle),
    .help = "passes on the lines whose field, or match of a pattern, compares as wanted",
};
