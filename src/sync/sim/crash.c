/*
 * sync/sim/crash.c - what the engine knows of a crash, as a line of the failure that ends the run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "sync/crash.h"

#include <string.h>

#include "sync/sim/core.h"

static weir__crash_writer engines; /* the same in every engine of every run */
static char said[384];
static size_t said_length;
static bool saying;

void weir__crash_open(weir__crash_writer writer)
{
    engines = writer;
}

void weir__crash_close(void)
{
}

void weir__crash_after_fork(void)
{
}

/* A line at a time; they become one, with ", " between them. */
void weir__crash_write(const char *text, size_t length)
{
    while (length > 0 && (*text == ' ' || text[length - 1] == '\n')) {
        text += *text == ' ' ? 1 : 0;
        length--;
    }
    said_length += (size_t)snprintf(said + said_length, sizeof(said) - said_length, "%s%.*s",
                                    said_length > 0 ? ", " : "", (int)length, text);
    said_length = said_length < sizeof(said) ? said_length : sizeof(said) - 1;
}

size_t weir__crash_stack_size(void)
{
    return 0;
}

void weir__crash_stack_begin(void *memory)
{
    (void)memory;
}

void weir__crash_stack_end(void *memory)
{
    (void)memory;
}

const char *weir__sim_crash_text(int number, uintptr_t address)
{
    char name[32];
    const char *abbreviation = sigabbrev_np(number);
    snprintf(name, sizeof(name), "SIG%s", abbreviation != NULL ? abbreviation : "?");
    const weir__crash crash = { .signal = name,
                                .address = address,
                                .has_address = true,
                                .thread = (int32_t)weir__sim.current->index };
    said_length = 0;
    if (engines == NULL || saying) { /* saying: what it looked at made it crash itself */
        saying = false;
        return NULL;
    }
    saying = true;
    weir__sim_flush(weir__sim.current); /* what it has stored it knows */
    weir__sim.checking = true;          /* no steps: nobody else runs any more */
    weir__sim_watch();
    const bool known = engines(&crash, 0);
    weir__sim.checking = false;
    saying = false;
    return known && said_length > 0 ? said : NULL;
}
