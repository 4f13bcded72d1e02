/*
 * mutex.c - the two locks by themselves: one holder, and nobody sleeps for ever.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync/mutex.h"

#include "scenario.h"

static weir__mutex lock;
static weir__trylock try_lock;
static int inside, count, tries; /* plain: a second holder is a race */

static void enter_twice(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        weir__mutex_lock(&lock);
        weir_sim_check(++inside == 1, "two holders of a mutex");
        weir_sim_step();
        count++;
        inside--;
        weir__mutex_unlock(&lock);
    }
    if (weir__trylock_take(&try_lock)) {
        tries++;
        weir_sim_step();
        tries++;
        weir__trylock_release(&try_lock);
    }
}

SCENARIO(mutex, "three threads, a mutex and a try-lock")
{
    inside = count = tries = 0;
    lock = (weir__mutex){ { 0 } };
    try_lock = (weir__trylock){ { 0 } };
    const int one = weir_sim_thread_start(enter_twice, NULL);
    const int two = weir_sim_thread_start(enter_twice, NULL);
    enter_twice(NULL);
    weir_sim_thread_join(one);
    weir_sim_thread_join(two);
    weir_sim_check(count == 6, "%d of 6 entries counted", count);
    weir_sim_check(tries >= 2 && tries % 2 == 0, "%d tries counted", tries);
}

static int given_up; /* under the lock, or of the one thread that gives up */

static void enter_within(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        if (!weir__mutex_lock_within(&lock, (weir_ns)weir_sim_choose(3) * WEIR_US)) {
            given_up++;
            continue;
        }
        weir_sim_check(++inside == 1, "two holders of a mutex");
        weir_sim_step();
        count++;
        inside--;
        weir__mutex_unlock(&lock);
    }
}

static void enter_once(void *unused)
{
    (void)unused;
    weir__mutex_lock(&lock);
    weir_sim_check(++inside == 1, "two holders of a mutex");
    weir_sim_work(WEIR_US);
    count++;
    inside--;
    weir__mutex_unlock(&lock);
}

SCENARIO(mutex_within, "a mutex, three threads that wait for it and one that has not the time")
{
    inside = count = given_up = 0;
    lock = (weir__mutex){ { 0 } };
    const int one = weir_sim_thread_start(enter_once, NULL);
    const int two = weir_sim_thread_start(enter_once, NULL);
    const int three = weir_sim_thread_start(enter_once, NULL);
    enter_within(NULL);
    weir_sim_thread_join(one);
    weir_sim_thread_join(two);
    weir_sim_thread_join(three);
    weir_sim_check(count + given_up == 5, "%d entries and %d without, of 5", count, given_up);
}
