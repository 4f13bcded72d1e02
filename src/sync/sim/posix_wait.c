/*
 * sync/sim/posix_wait.c - semaphores, barriers and pthread_once, simulated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "sync/sim/posix.h"

/* ---- semaphores ---- */

static weir__sim_object *semaphore_of(sem_t *semaphore)
{
    bool fresh;
    weir__sim_object *object = weir__sim_object_of(semaphore, &fresh);
    if (fresh) { /* made before the run */
        int value = 0;
        WEIR__SIM_REAL(sem_getvalue)(semaphore, &value);
        object->word = value > 0 ? (uint32_t)value : 0;
    }
    return object;
}

int sem_init(sem_t *semaphore, int shared, unsigned value)
{
    if (weir__sim_running()) {
        weir__sim_object_new(semaphore)->word = value;
    }
    return WEIR__SIM_REAL(sem_init)(semaphore, shared, value);
}

static bool take_one(weir__sim_object *semaphore, const weir__sim_site *site)
{
    for (;;) {
        const uint32_t value = (uint32_t)weir__sim_load(&semaphore->word, sizeof(semaphore->word),
                                                        weir__sim_relaxed, site);
        if (value == 0) {
            return false;
        }
        if (weir__sim_cas(&semaphore->word, sizeof(semaphore->word), value, value - 1,
                          weir__sim_acquire, weir__sim_relaxed, site) == value) {
            return true;
        }
    }
}

static int wait_until(sem_t *semaphore, weir_ns deadline, const weir__sim_site *site)
{
    weir__sim_object *object = semaphore_of(semaphore);
    while (!take_one(object, site)) {
        if (!weir__sim_object_wait(object, deadline, site)) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
    return 0;
}

int sem_wait(sem_t *semaphore)
{
    return weir__sim_running() ? wait_until(semaphore, WEIR_FOREVER, WEIR__SIM_CALL("sem_wait"))
                               : WEIR__SIM_REAL(sem_wait)(semaphore);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict at)
{
    return weir__sim_running() ? wait_until(semaphore, weir__sim_deadline(at, CLOCK_REALTIME),
                                            WEIR__SIM_CALL("sem_timedwait"))
                               : WEIR__SIM_REAL(sem_timedwait)(semaphore, at);
}

int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict at)
{
    return weir__sim_running() ? wait_until(semaphore, weir__sim_deadline(at, clock),
                                            WEIR__SIM_CALL("sem_clockwait"))
                               : WEIR__SIM_REAL(sem_clockwait)(semaphore, clock, at);
}

int sem_trywait(sem_t *semaphore)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(sem_trywait)(semaphore);
    }
    if (!take_one(semaphore_of(semaphore), WEIR__SIM_CALL("sem_trywait"))) {
        errno = EAGAIN;
        return -1;
    }
    return 0;
}

int sem_post(sem_t *semaphore)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(sem_post)(semaphore);
    }
    weir__sim_object *object = semaphore_of(semaphore);
    weir__sim_add(&object->word, sizeof(object->word), 1, weir__sim_release,
                  WEIR__SIM_CALL("sem_post"));
    weir__sim_object_wake(object, 1);
    return 0;
}

int sem_getvalue(sem_t *restrict semaphore, int *restrict value)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(sem_getvalue)(semaphore, value);
    }
    weir__sim_object *object = semaphore_of(semaphore);
    *value = (int)weir__sim_load(&object->word, sizeof(object->word), weir__sim_relaxed,
                                 WEIR__SIM_CALL("sem_getvalue"));
    return 0;
}

/* ---- barriers: the word counts rounds ---- */

int pthread_barrier_init(pthread_barrier_t *restrict barrier,
                         const pthread_barrierattr_t *restrict attributes, unsigned count)
{
    if (weir__sim_running() && count > 0) {
        weir__sim_object_new(barrier)->total = count;
        return 0;
    }
    return WEIR__SIM_REAL(pthread_barrier_init)(barrier, attributes, count);
}

int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    return weir__sim_running() ? 0 : WEIR__SIM_REAL(pthread_barrier_destroy)(barrier);
}

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    bool fresh;
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(pthread_barrier_wait)(barrier);
    }
    const weir__sim_site *site = WEIR__SIM_CALL("pthread_barrier_wait");
    weir__sim_object *object = weir__sim_object_of(barrier, &fresh);
    if (object->total == 0) {
        weir__sim_fail("pthread_barrier_wait on a barrier that was not made in this run");
    }
    const uint32_t round = object->word;
    const uint64_t before =
        weir__sim_add(&object->arrived, sizeof(object->arrived), 1, weir__sim_acq_rel, site);
    if (before + 1 == object->total) {
        object->arrived = 0;
        weir__sim_add(&object->word, sizeof(object->word), 1, weir__sim_acq_rel, site);
        weir__sim_object_wake(object, UINT32_MAX);
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    while (weir__sim_load(&object->word, sizeof(object->word), weir__sim_acquire, site) == round) {
        weir__sim_object_wait(object, WEIR_FOREVER, site);
    }
    return 0;
}

/* ---- once: the word is 0, or the doer + 1, or DONE ---- */

#define DONE UINT32_MAX

int pthread_once(pthread_once_t *control, void (*initialise)(void))
{
    bool fresh;
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(pthread_once)(control, initialise);
    }
    const weir__sim_site *site = WEIR__SIM_CALL("pthread_once");
    weir__sim_object *object = weir__sim_object_of(control, &fresh);
    if (fresh && *control != PTHREAD_ONCE_INIT) { /* done before the run */
        object->word = DONE;
    }
    for (;;) {
        const uint64_t word =
            weir__sim_cas(&object->word, sizeof(object->word), 0, weir__sim.current->index + 1,
                          weir__sim_acquire, weir__sim_acquire, site);
        if (word == 0) {
            initialise();
            weir__sim_exchange(&object->word, sizeof(object->word), DONE, weir__sim_release, site);
            weir__sim_object_wake(object, UINT32_MAX);
            return 0;
        }
        if (word == DONE) {
            return 0;
        }
        weir__sim_object_wait(object, WEIR_FOREVER, site);
    }
}
