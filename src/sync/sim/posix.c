/*
 * sync/sim/posix.c - the table of locks, and what the system itself would do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "sync/sim/posix.h"

#include <dlfcn.h>
#include <string.h>

#define OBJECTS_MAX (1u << 14)

static weir__sim_object objects[OBJECTS_MAX];

void (*weir__sim_real(const char *name))(void)
{
    void *found = dlsym(RTLD_NEXT, name);
    void (*function)(void) = NULL;
    WEIR_ASSERT(found != NULL);
    memcpy(&function, &found, sizeof(function)); /* ISO C has no cast for it */
    return function;
}

weir__sim_object *weir__sim_object_of(const void *address, bool *fresh)
{
    uint32_t at = (uint32_t)((uintptr_t)address / 4 * UINT64_C(0x9e3779b97f4a7c15) >> 50);
    for (uint32_t n = 0; n < OBJECTS_MAX; n++, at = (at + 1) % OBJECTS_MAX) {
        weir__sim_object *object = &objects[at];
        if (object->run != weir__sim.number) {
            *object = (weir__sim_object){ .address = address, .run = weir__sim.number };
            *fresh = true;
            return object;
        }
        if (object->address == address) {
            *fresh = false;
            return object;
        }
    }
    weir__sim_fail("more than %u locks in one run", OBJECTS_MAX);
}

weir__sim_object *weir__sim_object_new(const void *address)
{
    bool fresh;
    weir__sim_object *object = weir__sim_object_of(address, &fresh);
    *object = (weir__sim_object){ .address = address, .run = weir__sim.number };
    return object;
}

bool weir__sim_object_wait(const weir__sim_object *object, weir_ns deadline,
                           const weir__sim_site *site)
{
    if (deadline <= weir__sim.now) {
        return false;
    }
    weir__sim_flush(weir__sim.current); /* a system call */
    weir__sim.current->site = site;
    if (weir__sim.tracing) {
        weir__sim_trace("wait", site, NULL, object->word);
    }
    return weir__sim_sleep_on(object,
                              deadline == WEIR_FOREVER ? WEIR_FOREVER : deadline - weir__sim.now);
}

void weir__sim_object_wake(const weir__sim_object *object, uint32_t count)
{
    weir__sim_flush(weir__sim.current);
    weir__sim_wake(object, count);
}
