/*
 * cli/demo_stuck.c - `weir demo --stuck`: a handler that does not return for a while, and what the
 * watchdog says of it, one field a line.
 *
 * Reports come on the watchdog's thread, and a table may be on the terminal: they are kept until
 * the main thread shows them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "cli/demo_stuck.h"

#define HANG_SECONDS 2
#define BETWEEN_FRAMES " < "

/* What does not fit is cut. */
static void put(weir__demo_reports *reports, const char *text, size_t length)
{
    const size_t room = sizeof(reports->text) - reports->length;
    length = length < room ? length : room;
    memcpy(reports->text + reports->length, text, length);
    reports->length += length;
}

static void put_text(weir__demo_reports *reports, const char *text)
{
    put(reports, text, strlen(text));
}

/* "    stack    main", and a line for every frame more. */
static void put_field(weir__demo_reports *reports, const weir_log_field *field)
{
    char key[32];
    const char *value = field->value;
    snprintf(key, sizeof(key), "    %-8s ", field->key);
    for (;;) {
        const char *next = strcmp(field->key, "stack") == 0 ? strstr(value, BETWEEN_FRAMES) : NULL;
        put_text(reports, key);
        put(reports, value, next != NULL ? (size_t)(next - value) : strlen(value));
        put_text(reports, "\n");
        if (next == NULL) {
            return;
        }
        value = next + strlen(BETWEEN_FRAMES);
        snprintf(key, sizeof(key), "%13s", "");
    }
}

void weir__demo_reports_hook(void *context, const weir_log_entry *entry)
{
    weir__demo_reports *reports = context;
    if (entry->status != WEIR_OK && entry->level < WEIR_LOG_ERROR) {
        return; /* the importer's failures are part of the show */
    }
    weir__mutex_lock(&reports->lock);
    put_text(reports, entry->component);
    put_text(reports, ": ");
    put_text(reports, entry->text);
    put_text(reports, "\n");
    for (size_t i = 0; i < entry->field_count; i++) {
        put_field(reports, &entry->fields[i]);
    }
    put_text(reports, "\n");
    weir__mutex_unlock(&reports->lock);
}

bool weir__demo_reports_wait(weir__demo_reports *reports)
{
    weir__mutex_lock(&reports->lock);
    const bool any = reports->length > 0;
    weir__mutex_unlock(&reports->lock);
    return any;
}

void weir__demo_reports_print(weir__demo_reports *reports, FILE *out)
{
    weir__mutex_lock(&reports->lock);
    fwrite(reports->text, 1, reports->length, out);
    reports->length = 0;
    weir__mutex_unlock(&reports->lock);
}

void weir__demo_hang(void)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += HANG_SECONDS;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) {
        /* The watchdog has asked where we are. */
    }
}
