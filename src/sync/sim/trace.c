/*
 * sync/sim/trace.c - every step in words. The same seed writes the same bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sync/sim/core.h"
#include "sync/tell.h"

static FILE *out;

bool weir__sim_trace_open(const char *path)
{
    weir__sim_trace_close();
    if (path != NULL) {
        out = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    }
    weir__sim.tracing = out != NULL;
    return path == NULL || out != NULL;
}

void weir__sim_trace_close(void)
{
    if (out != NULL && out != stdout) {
        fclose(out);
    }
    out = NULL;
    weir__sim.tracing = false;
}

/* "…/src/engine/duty.c" without what comes before the room. */
static const char *short_file(const char *file)
{
    const char *from = strstr(file, "src/");
    return from != NULL ? from + 4 : file;
}

void weir__sim_site_text(const weir__sim_site *site, char *text, size_t size)
{
    if (site == NULL) {
        snprintf(text, size, "its beginning");
    } else if (site->line == 0) {
        snprintf(text, size, "%s", site->text);
    } else {
        snprintf(text, size, "%s:%d %s", short_file(site->file), site->line, site->text);
    }
}

/* Addresses differ between processes, unless they are in the arena. */
static void put_value(char *text, size_t size, uint64_t value)
{
    const uint64_t arena = (uint64_t)(uintptr_t)weir__sim_arena;
    Dl_info object;
    if (value - arena < WEIR__SIM_ARENA_BYTES) {
        snprintf(text, size, "@%llx", (unsigned long long)(value - arena));
    } else if (dladdr((void *)(uintptr_t)value, &object) != 0) {
        snprintf(text, size, "elsewhere"); /* of a program or library: the type of an event */
    } else {
        snprintf(text, size, "%llx", (unsigned long long)value);
    }
}

static void put_atom(char *text, size_t size, const void *atom)
{
    const uintptr_t offset = (uintptr_t)atom - (uintptr_t)weir__sim_arena;
    if (atom == NULL) {
        text[0] = '\0';
    } else if (offset < WEIR__SIM_ARENA_BYTES) {
        snprintf(text, size, "@%zx", (size_t)offset);
    } else {
        snprintf(text, size, "elsewhere");
    }
}

void weir__sim_trace(const char *what, const weir__sim_site *site, const void *atom, uint64_t value)
{
    char where[160];
    char place[32];
    char number[32];
    const weir__sim_thread *self = weir__sim.current;
    weir__sim_site_text(site, where, sizeof(where));
    put_atom(place, sizeof(place), atom);
    put_value(number, sizeof(number), value);
    fprintf(out, "%7llu %12lld T%-2u %-12s %-10s %-10s %s\n", (unsigned long long)weir__sim.steps,
            (long long)(weir__sim.now - WEIR__SIM_BEGIN), self != NULL ? self->index : 0, what,
            place, number, where);
}

void weir__sim_trace_text(const char *text)
{
    const weir__sim_thread *self = weir__sim.current;
    fprintf(out, "%7llu %12lld T%-2u note         %s\n", (unsigned long long)weir__sim.steps,
            (long long)(weir__sim.now - WEIR__SIM_BEGIN), self != NULL ? self->index : 0, text);
}

bool weir__tell_begin(void)
{
    if (!weir__sim.tracing || weir__sim.current == NULL || weir__sim.checking) {
        return false;
    }
    weir__sim.checking = true;
    return true;
}

void weir__tell_end(const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    weir__sim_trace_text(text);
    weir__sim.checking = false;
}
