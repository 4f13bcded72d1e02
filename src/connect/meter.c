/*
 * connect/meter.c - what connectors count, by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/meter.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "connect/figure.h"
#include "sync/mutex.h"
#include "weir/admin.h"
#include "weir/metrics.h"

/* All that are open, of all engines, the oldest first. Few, and looked through by people only. */
static weir__mutex lock;
static weir__meter *all;

/* ---- the admin command ---- */

typedef struct table {
    weir_admin_call *call;
    const char *wanted; /* NULL: all */
    const char *row;    /* the component that the row at hand is about */
} table;

static bool show_figure(void *context, const char *component, const char *type, const char *figure,
                        uint64_t value)
{
    table *t = context;
    if (t->wanted != NULL && strcmp(component, t->wanted) != 0) {
        return true;
    }
    if (t->row != component) { /* the same name is at the same address */
        weir_admin_row(t->call);
        weir_admin_text(t->call, "component", component);
        weir_admin_text(t->call, "type", type);
        t->row = component;
    }
    weir_admin_unsigned(t->call, figure, value);
    return true;
}

static weir_status show(void *context, weir_admin_call *call)
{
    (void)context;
    table t = { .call = call, .wanted = weir_admin_argument(call, 0) };
    weir__meter_visit(weir_admin_engine(call), show_figure, &t);
    if (t.wanted != NULL && t.row == NULL) {
        return weir_admin_fail(call, WEIR_UNKNOWN, "no connector is called '%s'", t.wanted);
    }
    return WEIR_OK;
}

/* ---- /metrics ---- */

static double read_value(void *context)
{
    return (double)weir__load((weir__atomic_u64 *)context, relaxed);
}

/* False: its name is too long for a label, or none. */
static bool labels_of(const weir__meter *meter, char *out, size_t size)
{
    const char *name = weir_component_name(meter->self);
    const int length = snprintf(out, size, "component=\"%s\",type=\"%s\"", name, meter->type);
    return strpbrk(name, "\"\\\n") == NULL && length > 0 && (size_t)length < size;
}

static void add_figures(weir__meter *meter)
{
    char labels[512];
    weir_error error = WEIR_ERROR_INIT;
    weir_status status = labels_of(meter, labels, sizeof(labels)) ? WEIR_OK : WEIR_E_INVALID;
    for (size_t i = 0; meter->names[i] != NULL && status == WEIR_OK; i++) {
        const weir__figure *figure = weir__figure_find(meter->names[i]);
        WEIR_ASSERT(figure != NULL);
        status = weir_metric_add(
            meter->engine,
            WEIR_METRIC(.kind = figure->grows ? WEIR_METRIC_COUNTER : WEIR_METRIC_GAUGE,
                        .name = figure->name, .labels = labels, .help = figure->help,
                        .read = read_value, .context = &meter->values[i]),
            &error);
    }
    if (status != WEIR_OK) { /* it does its work all the same */
        char text[256];
        (void)snprintf(text, sizeof(text), "not all of its figures are in /metrics: %.160s",
                       error.status != WEIR_OK ? error.text : "its name is no label");
        weir_component_report(meter->self, status, text);
    }
}

/* None is read any more when this returns. */
static void remove_figures(const weir__meter *meter)
{
    char labels[512];
    for (size_t i = 0; labels_of(meter, labels, sizeof(labels)) && meter->names[i] != NULL; i++) {
        (void)weir_metric_remove(meter->engine, weir__figure_find(meter->names[i])->name, labels);
    }
}

/* ---- the list ---- */

void weir__meter_open(weir__meter *meter, weir_component *self, const char *type,
                      const char *const *names)
{
    size_t count = 0;
    while (names[count] != NULL) {
        count++;
    }
    WEIR_ASSERT(count <= WEIR__METER_MAX);
    WEIR_ASSERT(!meter->open);
    meter->engine = weir_component_engine(self);
    meter->self = self;
    meter->type = type;
    meter->names = names;
    meter->next = NULL;
    meter->open = true;
    weir__mutex_lock(&lock);
    weir__meter **at = &all;
    while (*at != NULL) {
        at = &(*at)->next;
    }
    *at = meter;
    weir__mutex_unlock(&lock);
    /* The first of an engine brings the command along; without it (no memory) figures stay. */
    (void)weir_admin_add(meter->engine,
                         WEIR_ADMIN(.name = "connectors", .arguments = "[NAME]",
                                    .help = "what sources and sinks have counted", .handler = show),
                         NULL);
    add_figures(meter);
}

void weir__meter_close(weir__meter *meter)
{
    if (!meter->open) {
        return;
    }
    remove_figures(meter);
    weir__mutex_lock(&lock);
    weir__meter **at = &all;
    while (*at != meter) { /* ends: an open one is in the list */
        at = &(*at)->next;
    }
    *at = meter->next;
    weir__mutex_unlock(&lock);
    meter->open = false;
}

bool weir__meter_read(weir_engine *engine, const char *component, const char *figure,
                      uint64_t *value)
{
    bool found = false;
    weir__mutex_lock(&lock);
    for (weir__meter *meter = all; meter != NULL && !found; meter = meter->next) {
        if (meter->engine != engine || strcmp(weir_component_name(meter->self), component) != 0) {
            continue;
        }
        for (size_t i = 0; meter->names[i] != NULL && !found; i++) {
            if (strcmp(meter->names[i], figure) == 0) {
                *value = weir__meter_value(meter, i);
                found = true;
            }
        }
    }
    weir__mutex_unlock(&lock);
    return found;
}

uint16_t weir__connect_port(weir_engine *engine, const char *component)
{
    uint64_t port = 0;
    return weir__meter_read(engine, component, "port", &port) ? (uint16_t)port : 0;
}

void weir__meter_visit(weir_engine *engine,
                       bool (*visit)(void *context, const char *component, const char *type,
                                     const char *figure, uint64_t value),
                       void *context)
{
    bool more = true;
    weir__mutex_lock(&lock);
    for (weir__meter *meter = all; meter != NULL && more; meter = meter->next) {
        for (size_t i = 0; meter->engine == engine && meter->names[i] != NULL && more; i++) {
            more = visit(context, weir_component_name(meter->self), meter->type, meter->names[i],
                         weir__meter_value(meter, i));
        }
    }
    weir__mutex_unlock(&lock);
}

void weir__complain(weir__complaint *complaint, weir_component *self, weir_status status,
                    const char *format, ...)
{
    const weir_ns now = weir_time_now(weir_component_engine(self));
    if (now < complaint->next) {
        complaint->left_out++;
        return;
    }
    char text[192];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (complaint->left_out > 0 && length >= 0) {
        const size_t at = (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1;
        snprintf(text + at, sizeof(text) - at, " (and %" PRIu64 " more)", complaint->left_out);
    }
    complaint->next = now + WEIR_S;
    complaint->left_out = 0;
    weir_component_report(self, status, text);
}
