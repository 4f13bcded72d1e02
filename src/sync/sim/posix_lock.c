/*
 * sync/sim/posix_lock.c - mutexes, read-write locks, spin locks and conditions, simulated.
 *
 * They are made of simulated atomics, so that they are steps, make edges for the race detector, and
 * show in traces. A mutex that is unlocked by who does not hold it fails the run: real ones keep
 * quiet about it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>

#include "sync/sim/posix.h"

#define WRITER UINT32_MAX
#define SPURIOUS_ONE_IN 32

static uint32_t me(void)
{
    return weir__sim.current->index + 1;
}

/* ---- what all locks are: a word that is taken by one ---- */

static bool take(weir__sim_object *lock, uint32_t value, const weir__sim_site *site)
{
    return weir__sim_cas(&lock->word, sizeof(lock->word), 0, value, weir__sim_acquire,
                         weir__sim_relaxed, site) == 0;
}

static int take_until(weir__sim_object *lock, uint32_t value, weir_ns deadline,
                      const weir__sim_site *site)
{
    while (!take(lock, value, site)) {
        if (!weir__sim_object_wait(lock, deadline, site)) {
            return ETIMEDOUT;
        }
    }
    return 0;
}

static void let_go(weir__sim_object *lock, const weir__sim_site *site)
{
    weir__sim_exchange(&lock->word, sizeof(lock->word), 0, weir__sim_release, site);
    weir__sim_object_wake(lock, UINT32_MAX); /* any of them may be the next */
}

/* ---- mutexes ---- */

static weir__sim_object *mutex_of(const pthread_mutex_t *mutex)
{
    bool fresh;
    weir__sim_object *object = weir__sim_object_of(mutex, &fresh);
#ifdef __GLIBC__
    if (fresh) { /* from a static initialiser, or made before the run */
        object->kind = mutex->__data.__kind & 3;
    }
#endif
    return object;
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    if (weir__sim_running()) {
        int kind = PTHREAD_MUTEX_DEFAULT;
        if (attributes != NULL) {
            pthread_mutexattr_gettype(attributes, &kind);
        }
        weir__sim_object_new(mutex)->kind = kind;
    }
    return WEIR__SIM_REAL(pthread_mutex_init)(mutex, attributes);
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(pthread_mutex_destroy)(mutex);
    }
    const weir__sim_object *object = mutex_of(mutex);
    if (object->word != 0) {
        weir__sim_fail("pthread_mutex_destroy of a mutex that thread %u holds", object->word - 1);
    }
    return 0;
}

static int lock_until(pthread_mutex_t *mutex, weir_ns deadline, const weir__sim_site *site)
{
    weir__sim_object *object = mutex_of(mutex);
    if (object->word == me() && object->kind == PTHREAD_MUTEX_RECURSIVE) {
        object->depth++;
        return 0;
    }
    if (object->word == me() && object->kind == PTHREAD_MUTEX_ERRORCHECK) {
        return EDEADLK;
    }
    return take_until(object, me(), deadline, site);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return weir__sim_running()
               ? lock_until(mutex, WEIR_FOREVER, WEIR__SIM_CALL("pthread_mutex_lock"))
               : WEIR__SIM_REAL(pthread_mutex_lock)(mutex);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict at)
{
    return weir__sim_running() ? lock_until(mutex, weir__sim_deadline(at, CLOCK_REALTIME),
                                            WEIR__SIM_CALL("pthread_mutex_timedlock"))
                               : WEIR__SIM_REAL(pthread_mutex_timedlock)(mutex, at);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(pthread_mutex_trylock)(mutex);
    }
    weir__sim_object *object = mutex_of(mutex);
    if (object->word == me() && object->kind == PTHREAD_MUTEX_RECURSIVE) {
        object->depth++;
        return 0;
    }
    return take(object, me(), WEIR__SIM_CALL("pthread_mutex_trylock")) ? 0 : EBUSY;
}

static int unlock(pthread_mutex_t *mutex, const weir__sim_site *site)
{
    weir__sim_object *object = mutex_of(mutex);
    if (object->word != me()) {
        if (object->kind == PTHREAD_MUTEX_ERRORCHECK) {
            return EPERM;
        }
        if (object->word == 0) {
            weir__sim_fail("thread %u unlocks a mutex that nobody holds", me() - 1);
        }
        weir__sim_fail("thread %u unlocks a mutex that thread %u holds", me() - 1,
                       object->word - 1);
    }
    if (object->depth > 0) {
        object->depth--;
        return 0;
    }
    let_go(object, site);
    return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    return weir__sim_running() ? unlock(mutex, WEIR__SIM_CALL("pthread_mutex_unlock"))
                               : WEIR__SIM_REAL(pthread_mutex_unlock)(mutex);
}

/* ---- spin locks ---- */

int pthread_spin_lock(pthread_spinlock_t *lock)
{
    bool fresh;
    return weir__sim_running()
               ? take_until(weir__sim_object_of((const void *)(uintptr_t)lock, &fresh), me(),
                            WEIR_FOREVER, WEIR__SIM_CALL("pthread_spin_lock"))
               : WEIR__SIM_REAL(pthread_spin_lock)(lock);
}

int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    bool fresh;
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(pthread_spin_trylock)(lock);
    }
    return take(weir__sim_object_of((const void *)(uintptr_t)lock, &fresh), me(),
                WEIR__SIM_CALL("pthread_spin_trylock"))
               ? 0
               : EBUSY;
}

int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    bool fresh;
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(pthread_spin_unlock)(lock);
    }
    let_go(weir__sim_object_of((const void *)(uintptr_t)lock, &fresh),
           WEIR__SIM_CALL("pthread_spin_unlock"));
    return 0;
}

/* ---- read-write locks: the word counts readers, or says WRITER ---- */

static int read_lock(pthread_rwlock_t *lock, bool wait, const weir__sim_site *site)
{
    bool fresh;
    weir__sim_object *object = weir__sim_object_of(lock, &fresh);
    for (;;) {
        const uint32_t word =
            (uint32_t)weir__sim_load(&object->word, sizeof(object->word), weir__sim_relaxed, site);
        if (word != WRITER && weir__sim_cas(&object->word, sizeof(object->word), word, word + 1,
                                            weir__sim_acquire, weir__sim_relaxed, site) == word) {
            return 0;
        }
        if (word == WRITER) {
            if (!wait) {
                return EBUSY;
            }
            weir__sim_object_wait(object, WEIR_FOREVER, site);
        }
    }
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    return weir__sim_running() ? read_lock(lock, true, WEIR__SIM_CALL("pthread_rwlock_rdlock"))
                               : WEIR__SIM_REAL(pthread_rwlock_rdlock)(lock);
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    return weir__sim_running() ? read_lock(lock, false, WEIR__SIM_CALL("pthread_rwlock_tryrdlock"))
                               : WEIR__SIM_REAL(pthread_rwlock_tryrdlock)(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    bool fresh;
    return weir__sim_running() ? take_until(weir__sim_object_of(lock, &fresh), WRITER, WEIR_FOREVER,
                                            WEIR__SIM_CALL("pthread_rwlock_wrlock"))
                               : WEIR__SIM_REAL(pthread_rwlock_wrlock)(lock);
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    bool fresh;
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(pthread_rwlock_trywrlock)(lock);
    }
    return take(weir__sim_object_of(lock, &fresh), WRITER,
                WEIR__SIM_CALL("pthread_rwlock_trywrlock"))
               ? 0
               : EBUSY;
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    bool fresh;
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(pthread_rwlock_unlock)(lock);
    }
    const weir__sim_site *site = WEIR__SIM_CALL("pthread_rwlock_unlock");
    weir__sim_object *object = weir__sim_object_of(lock, &fresh);
    if (object->word == 0) {
        weir__sim_fail("thread %u unlocks a read-write lock that nobody holds", me() - 1);
    }
    if (object->word == WRITER) {
        let_go(object, site);
    } else {
        weir__sim_add(&object->word, sizeof(object->word), UINT64_MAX, weir__sim_release, site);
        weir__sim_object_wake(object, UINT32_MAX);
    }
    return 0;
}

/* ---- conditions: the word counts signals ---- */

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    if (weir__sim_running()) {
        clockid_t clock = CLOCK_REALTIME;
        if (attributes != NULL) {
            pthread_condattr_getclock(attributes, &clock);
        }
        weir__sim_object_new(condition)->clock = clock;
    }
    return WEIR__SIM_REAL(pthread_cond_init)(condition, attributes);
}

int pthread_cond_destroy(pthread_cond_t *condition)
{
    return weir__sim_running() ? 0 : WEIR__SIM_REAL(pthread_cond_destroy)(condition);
}

static int wait_until(weir__sim_object *condition, pthread_mutex_t *mutex, weir_ns deadline,
                      const weir__sim_site *site)
{
    bool woken = true;
    weir__sim_step(site);
    const uint32_t seen = condition->word; /* while the mutex is held: no signal is missed */
    const int status = unlock(mutex, site);
    if (status != 0) {
        return status;
    }
    if (condition->word == seen &&
        !weir__sim_decide_fault(WEIR_SIM_SPURIOUS, 'w', SPURIOUS_ONE_IN)) {
        woken = weir__sim_object_wait(condition, deadline, site);
    }
    lock_until(mutex, WEIR_FOREVER, site);
    return woken ? 0 : ETIMEDOUT;
}

int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
    bool fresh;
    return weir__sim_running() ? wait_until(weir__sim_object_of(condition, &fresh), mutex,
                                            WEIR_FOREVER, WEIR__SIM_CALL("pthread_cond_wait"))
                               : WEIR__SIM_REAL(pthread_cond_wait)(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict at)
{
    bool fresh;
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(pthread_cond_timedwait)(condition, mutex, at);
    }
    weir__sim_object *object = weir__sim_object_of(condition, &fresh);
    return wait_until(object, mutex, weir__sim_deadline(at, object->clock),
                      WEIR__SIM_CALL("pthread_cond_timedwait"));
}

int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           clockid_t clock, const struct timespec *restrict at)
{
    bool fresh;
    return weir__sim_running()
               ? wait_until(weir__sim_object_of(condition, &fresh), mutex,
                            weir__sim_deadline(at, clock), WEIR__SIM_CALL("pthread_cond_clockwait"))
               : WEIR__SIM_REAL(pthread_cond_clockwait)(condition, mutex, clock, at);
}

static int signal_some(pthread_cond_t *condition, uint32_t count, const weir__sim_site *site)
{
    bool fresh;
    weir__sim_object *object = weir__sim_object_of(condition, &fresh);
    weir__sim_step(site);
    object->word++;
    weir__sim_object_wake(object, count);
    return 0;
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    return weir__sim_running() ? signal_some(condition, 1, WEIR__SIM_CALL("pthread_cond_signal"))
                               : WEIR__SIM_REAL(pthread_cond_signal)(condition);
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
    return weir__sim_running()
               ? signal_some(condition, UINT32_MAX, WEIR__SIM_CALL("pthread_cond_broadcast"))
               : WEIR__SIM_REAL(pthread_cond_broadcast)(condition);
}
