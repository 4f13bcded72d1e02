/*
 * sync/sim/posix_thread.c - threads that programs make themselves, simulated, and their specific
 * values.
 *
 * A pthread_t of a simulated thread is the address of its slot here; the first thread keeps the
 * system's, so that what is not simulated still works for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <threads.h>

#include "sync/sim/posix.h"

#define KEYS_MAX 1024u /* PTHREAD_KEYS_MAX of glibc */

typedef struct slot {
    void *(*run)(void *);
    void *argument, *result;
    bool detached;
    uint64_t born; /* of the thread whose values stand here */
    void *values[KEYS_MAX];
} slot;

static slot slots[WEIR__SIM_THREADS_MAX];
static void (*destroyers[KEYS_MAX])(void *);

/* Without the attributes of the header, which a cast must not add. */
static pthread_t system_self(void)
{
    return ((pthread_t(*)(void))weir__sim_real("pthread_self"))();
}

static int index_of(pthread_t thread)
{
    const uintptr_t offset = (uintptr_t)thread - (uintptr_t)slots;
    if (offset < sizeof(slots)) {
        return (int)(offset / sizeof(slots[0]));
    }
    return thread == system_self() ? 0 : -1;
}

pthread_t pthread_self(void)
{
    return weir__sim_running() && weir__sim.current->index > 0
               ? (pthread_t)&slots[weir__sim.current->index]
               : system_self();
}

/* ---- specific values: the first thread's are the system's own ---- */

/* NULL: the calling thread is the first one, or there is no such key. */
static void **value_of(pthread_key_t key)
{
    if (!weir__sim_running() || weir__sim.current->index == 0 || key >= KEYS_MAX) {
        return NULL;
    }
    slot *mine = &slots[weir__sim.current->index];
    if (mine->born != weir__sim.current->born) {
        mine->born = weir__sim.current->born;
        memset(mine->values, 0, sizeof(mine->values));
    }
    return &mine->values[key];
}

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *))
{
    const int status = WEIR__SIM_REAL(pthread_key_create)(key, destroy);
    if (status == 0 && *key < KEYS_MAX) {
        destroyers[*key] = destroy;
    }
    return status;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    void **place = value_of(key);
    if (place == NULL) {
        return WEIR__SIM_REAL(pthread_setspecific)(key, value);
    }
    memcpy(place, &value, sizeof(value)); /* its type has a const that the result has not */
    return 0;
}

void *pthread_getspecific(pthread_key_t key)
{
    void **place = value_of(key);
    return place != NULL ? *place : WEIR__SIM_REAL(pthread_getspecific)(key);
}

/* A destroyer may set values: so a few times. */
static void destroy_values(void)
{
    for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; round++) {
        for (pthread_key_t key = 0; key < KEYS_MAX; key++) {
            void **place = value_of(key);
            void *value = place != NULL ? *place : NULL;
            if (value != NULL && destroyers[key] != NULL) {
                *place = NULL;
                destroyers[key](value);
            }
        }
    }
}

/* ---- threads ---- */

static void begin(void *argument)
{
    slot *self = argument;
    self->result = self->run(self->argument);
    destroy_values();
}

int pthread_create(pthread_t *out, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(pthread_create)(out, attributes, run, argument);
    }
    int detached = PTHREAD_CREATE_JOINABLE;
    if (attributes != NULL) {
        pthread_attr_getdetachstate(attributes, &detached);
    }
    weir__sim_step(WEIR__SIM_CALL("pthread_create"));
    weir__sim_flush(weir__sim.current);
    const int index = weir__sim_spawn(begin, NULL);
    if (index < 0) {
        return EAGAIN;
    }
    slot *made = &slots[index];
    made->run = run;
    made->argument = argument;
    made->result = NULL;
    made->detached = detached == PTHREAD_CREATE_DETACHED;
    weir__sim.threads[index].argument = made;
    *out = (pthread_t)made;
    return 0;
}

int pthread_join(pthread_t thread, void **result)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(pthread_join)(thread, result);
    }
    const int index = index_of(thread);
    weir__sim_step(WEIR__SIM_CALL("pthread_join"));
    if (index < 0 || weir__sim.threads[index].state == WEIR__SIM_FREE) {
        return ESRCH;
    }
    if (slots[index].detached) {
        return EINVAL;
    }
    if ((uint32_t)index == weir__sim.current->index) {
        return EDEADLK;
    }
    weir__sim_flush(weir__sim.current);
    weir__sim_join((uint32_t)index);
    if (result != NULL) {
        *result = slots[index].result;
    }
    return 0;
}

int pthread_detach(pthread_t thread)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(pthread_detach)(thread);
    }
    const int index = index_of(thread);
    if (index < 0) {
        return ESRCH;
    }
    slots[index].detached = true;
    return 0;
}

void pthread_exit(void *result)
{
    if (!weir__sim_running()) {
        ((void (*)(void *))weir__sim_real("pthread_exit"))(result);
        __builtin_unreachable();
    }
    const uint32_t index = weir__sim.current->index;
    slots[index].result = result;
    destroy_values();
    weir__sim_thread_exit();
}

int pthread_setname_np(pthread_t thread, const char *name)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(pthread_setname_np)(thread, name);
    }
    const int index = index_of(thread);
    if (index < 0 || strlen(name) >= sizeof(weir__sim.threads[0].name)) {
        return ERANGE;
    }
    snprintf(weir__sim.threads[index].name, sizeof(weir__sim.threads[index].name), "%s", name);
    return 0;
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *cores)
{
    return weir__sim_running() ? 0 : WEIR__SIM_REAL(pthread_setaffinity_np)(thread, size, cores);
}

/* ---- what is not simulated says so ---- */

int pthread_cancel(pthread_t thread)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(pthread_cancel)(thread);
    }
    weir__sim_fail("pthread_cancel is not simulated");
}

int thrd_create(thrd_t *out, thrd_start_t run, void *argument)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(thrd_create)(out, run, argument);
    }
    weir__sim_fail("thrd_create is not simulated: make the thread with pthread_create");
}
