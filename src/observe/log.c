/*
 * observe/log.c - the gate, the hook, and the default hook's line of logfmt.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "observe/log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sync/thread.h"

#define LINE_MAX_BYTES 2048 /* the stack of a report of the watchdog fits */

/* A line under construction; what does not fit is cut, and the line still ends well. */
struct line {
    char text[LINE_MAX_BYTES];
    size_t length;
};

static void put_char(struct line *line, char c)
{
    if (line->length < sizeof(line->text) - 2) {
        line->text[line->length++] = c;
    }
}

static void put_raw(struct line *line, const char *text)
{
    for (; *text != '\0'; text++) {
        put_char(line, *text);
    }
}

static bool is_plain(const char *value)
{
    if (*value == '\0') {
        return false;
    }
    for (const unsigned char *c = (const unsigned char *)value; *c != '\0'; c++) {
        if (*c <= ' ' || *c == '"' || *c == '=' || *c == '\\' || *c == 0x7f) {
            return false;
        }
    }
    return true;
}

/* Quoted where logfmt needs it; control characters are shown, never sent to a terminal. */
static void put_value(struct line *line, const char *value)
{
    if (is_plain(value)) {
        put_raw(line, value);
        return;
    }
    put_char(line, '"');
    for (const unsigned char *c = (const unsigned char *)value; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            put_char(line, '\\');
            put_char(line, (char)*c);
        } else if (*c == '\n') {
            put_raw(line, "\\n");
        } else if (*c < ' ' || *c == 0x7f) {
            char hex[8];
            snprintf(hex, sizeof(hex), "\\x%02x", *c);
            put_raw(line, hex);
        } else {
            put_char(line, (char)*c);
        }
    }
    put_char(line, '"');
}

static void put_pair(struct line *line, const char *key, const char *value)
{
    if (line->length > 0) {
        put_char(line, ' ');
    }
    put_raw(line, key);
    put_char(line, '=');
    put_value(line, value);
}

static void put_time(struct line *line, weir_ns wall_time)
{
    const time_t seconds = (time_t)(wall_time / WEIR_S);
    struct tm parts;
    char text[32] = "";
    char full[48];
    gmtime_r(&seconds, &parts);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(full, sizeof(full), "%s.%03dZ", text, (int)(wall_time % WEIR_S / WEIR_MS));
    put_pair(line, "time", full);
}

static const char *level_name(weir_log_level level)
{
    static const char *const names[] = { "default", "debug", "info", "warning", "error", "off" };
    return level >= WEIR_LOG_DEFAULT && level <= WEIR_LOG_OFF ? names[level] : "?";
}

void weir__log_to_stderr(void *context, const weir_log_entry *entry)
{
    struct line line = { .length = 0 };
    (void)context;
    put_time(&line, entry->wall_time);
    put_pair(&line, "level", level_name(entry->level));
    put_pair(&line, "engine", entry->engine);
    put_pair(&line, "component", entry->component);
    put_pair(&line, "msg", entry->text);
    if (entry->status != WEIR_OK) {
        put_pair(&line, "status", weir_status_name(entry->status));
    }
    for (size_t i = 0; i < entry->field_count; i++) {
        put_pair(&line, entry->fields[i].key, entry->fields[i].value);
    }
    if (entry->suppressed > 0) {
        char number[24];
        snprintf(number, sizeof(number), "%llu", (unsigned long long)entry->suppressed);
        put_pair(&line, "suppressed", number);
    }
    line.text[line.length++] = '\n';
    /* One call, so that lines of several processes do not mix. */
    fwrite(line.text, 1, line.length, stderr);
}

void weir__log_open(weir__log *log, weir_log_hook hook, void *context, weir_log_level level,
                    const char *engine_name)
{
    memset(log, 0, sizeof(*log));
    log->hook = hook != NULL ? hook : weir__log_to_stderr;
    log->context = context;
    log->engine_name = engine_name;
    weir__store(&log->level, level == WEIR_LOG_DEFAULT ? WEIR_LOG_WARNING : (uint32_t)level,
                relaxed);
}

/* True: say it, and tell how many were left out since the last time. */
static bool pass(weir__log_gate *gate, uint64_t *suppressed)
{
    *suppressed = 0;
    if (gate == NULL) {
        return true;
    }
    const uint64_t now = (uint64_t)weir__clock_now();
    uint64_t next = weir__load(&gate->next, relaxed);
    if (now < next || !weir__cas(&gate->next, &next, now + (uint64_t)WEIR_S, relaxed, relaxed)) {
        weir__add(&gate->suppressed, 1, relaxed);
        return false;
    }
    *suppressed = weir__exchange(&gate->suppressed, 0, relaxed);
    return true;
}

void weir__log_say(weir__log *log, weir__log_gate *gate, weir_log_level level, weir_status status,
                   const char *component, const char *text, const weir_log_field *fields,
                   size_t field_count)
{
    uint64_t suppressed;
    if (!weir__log_on(log, level) || !pass(gate, &suppressed)) {
        return;
    }
    const weir_log_entry entry = {
        .struct_size = sizeof(entry),
        .level = level,
        .status = status,
        .wall_time = weir__clock_wall(),
        .suppressed = suppressed,
        .engine = log->engine_name,
        .component = component != NULL ? component : "",
        .text = text != NULL ? text : "",
        .fields = fields,
        .field_count = fields != NULL ? field_count : 0,
    };
    if (log->begin != NULL) {
        log->begin();
    }
    weir__mutex_lock(&log->lock);
    log->hook(log->context, &entry);
    weir__mutex_unlock(&log->lock);
    if (log->end != NULL) {
        log->end();
    }
}
