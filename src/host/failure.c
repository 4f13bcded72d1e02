/*
 * host/failure.c - what goes wrong in a component: counted, logged once a second, the last of them
 * kept for people to look at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/host.h"

/* Cut at a character's end, should it be too long. */
static void copy_cut(char *out, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
            length--;
        }
    }
    memcpy(out, text, length);
    out[length] = '\0';
}

void weir_component_report(weir_component *self, weir_status status, const char *text)
{
    if (self == NULL) {
        return;
    }
    weir__host *host = self->host;
    char who[WEIR__COMPONENT_NAME_SIZE + 16];
    weir_failure failure = { .struct_size = sizeof(failure),
                             .time = weir__clock_wall(),
                             .status = status };
    text = text != NULL ? text : weir_status_text(status);
    copy_cut(failure.component, sizeof(failure.component), self->name);
    copy_cut(failure.text, sizeof(failure.text), text);
    weir__add(&self->failures, 1, relaxed);
    weir__brief_lock(&host->failure_lock);
    host->failures[host->failure_count++ % WEIR__FAILURES_MAX] = failure;
    weir__brief_unlock(&host->failure_lock);
    snprintf(who, sizeof(who), "component %s", self->name);
    weir__log_say(&host->engine->log, &self->gate, WEIR_LOG_WARNING, status, who, text, NULL, 0);
}

void weir__component_fail(weir_component *component, weir_status status, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    weir_component_report(component, status, text);
}

/* False: there is no such one, or it has been overwritten. */
static bool failure_at(weir__host *host, uint64_t number, weir_failure *out)
{
    weir__brief_lock(&host->failure_lock);
    const bool there =
        number < host->failure_count && host->failure_count - number <= WEIR__FAILURES_MAX;
    if (there) {
        *out = host->failures[number % WEIR__FAILURES_MAX];
    }
    weir__brief_unlock(&host->failure_lock);
    return there;
}

void weir_failure_visit(weir_engine *engine,
                        bool (*visit)(void *context, const weir_failure *failure), void *context)
{
    weir__host *host = weir__engine_usable(engine) ? weir__host_of(engine) : NULL;
    if (host == NULL || visit == NULL) {
        return;
    }
    weir__brief_lock(&host->failure_lock);
    const uint64_t end = host->failure_count;
    weir__brief_unlock(&host->failure_lock);
    /* `visit` runs without the lock; what is overwritten meanwhile is left out. */
    bool more = true;
    for (uint64_t i = end > WEIR__FAILURES_MAX ? end - WEIR__FAILURES_MAX : 0; i < end && more;
         i++) {
        weir_failure failure;
        if (failure_at(host, i, &failure)) {
            more = visit(context, &failure);
        }
    }
}
