/*
 * sync/mutex_test.c - mutual exclusion, judged by plain data: what a lock does not order TSan sees,
 * and what it lets overlap the sums show.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_support.h"

#include "sync/mutex.h"

enum { WORKERS = 4 };

/* Plain on purpose. */
typedef struct guarded {
    uint64_t sum;
    uint64_t twin; /* equal to sum whenever nobody is inside */
    uint32_t inside;
    uint32_t overlaps;
} guarded;

static void touch(guarded *data, bool slowly)
{
    data->overlaps += data->inside++ != 0;
    data->overlaps += data->sum != data->twin;
    data->sum++;
    if (slowly) {
        weir__yield(); /* the others run into the lock */
    }
    data->twin++;
    data->inside--;
}

typedef struct worker {
    weir__mutex *mutex;
    weir__trylock *trylock;
    guarded *data;
    uint32_t rounds;
    uint64_t entered; /* its own */
} worker;

static void work_locked(void *argument)
{
    worker *w = argument;
    for (uint32_t i = 0; i < w->rounds; i++) {
        weir__mutex_lock(w->mutex);
        touch(w->data, i % 64 == 0);
        weir__mutex_unlock(w->mutex);
        w->entered++;
    }
}

static void work_if_free(void *argument)
{
    worker *w = argument;
    for (uint32_t i = 0; i < w->rounds; i++) {
        if (weir__trylock_take(w->trylock)) {
            touch(w->data, i % 64 == 0);
            weir__trylock_release(w->trylock);
            w->entered++;
        } else if (i % 16 == 0) {
            weir__yield();
        }
    }
}

static uint64_t run_workers(void (*work)(void *), worker *pattern)
{
    worker workers[WORKERS];
    crew c;
    uint64_t entered = 0;
    for (uint32_t i = 0; i < WORKERS; i++) {
        workers[i] = *pattern;
    }
    crew_start(&c, work, workers, sizeof(workers[0]), WORKERS);
    crew_join(&c);
    for (uint32_t i = 0; i < WORKERS; i++) {
        entered += workers[i].entered;
    }
    return entered;
}

static void one_thread_at_a_time_is_between_lock_and_unlock(void **state)
{
    (void)state;
    weir__mutex mutex = { 0 };
    guarded data = { 0 };
    const uint32_t rounds = test_load(200000);
    worker pattern = { .mutex = &mutex, .data = &data, .rounds = rounds };
    const uint64_t entered = run_workers(work_locked, &pattern);
    assert_int_equal((uint64_t)WORKERS * rounds, entered);
    assert_int_equal(entered, data.sum);
    assert_int_equal(entered, data.twin);
    assert_int_equal(0, data.overlaps);
    assert_int_equal(0, weir__load(&mutex.state, relaxed)); /* nobody is left behind */
}

typedef struct waiter {
    weir__mutex *mutex;
    weir__atomic_u32 id;
    uint64_t *data;
    uint64_t saw;
} waiter;

static void wait_for_lock(void *argument)
{
    waiter *w = argument;
    weir__store(&w->id, (uint32_t)weir__os_thread_id(), seq_cst);
    weir__mutex_lock(w->mutex);
    w->saw = (*w->data)++;
    weir__mutex_unlock(w->mutex);
}

static void those_who_wait_sleep_and_each_is_let_in(void **state)
{
    (void)state;
    weir__mutex mutex = { 0 };
    uint64_t data = 0;
    waiter waiters[WORKERS];
    crew c;
    weir__mutex_lock(&mutex);
    for (uint32_t i = 0; i < WORKERS; i++) {
        waiters[i] = (waiter){ .mutex = &mutex, .data = &data };
    }
    crew_start(&c, wait_for_lock, waiters, sizeof(waiters[0]), WORKERS);
    bool asleep = true;
    for (uint32_t i = 0; i < WORKERS; i++) {
        asleep = TEST_AWAIT(weir__load(&waiters[i].id, seq_cst) != 0) && asleep;
        const int32_t id = (int32_t)weir__load(&waiters[i].id, seq_cst);
        asleep = TEST_AWAIT(test_thread_sleeps(id)) && asleep;
    }
    data = 100;
    const uint32_t contended = weir__load(&mutex.state, seq_cst);
    weir__mutex_unlock(&mutex);
    crew_join(&c);
    assert_true(asleep);
    assert_int_equal(2, contended);
    assert_int_equal(100 + WORKERS, data);
    for (uint32_t i = 0; i < WORKERS; i++) {
        assert_true(waiters[i].saw >= 100);
    }
    assert_int_equal(0, weir__load(&mutex.state, relaxed));
}

static void an_uncontended_lock_is_one_word_from_free_to_held(void **state)
{
    (void)state;
    weir__mutex mutex = { 0 };
    for (int i = 0; i < 3; i++) {
        weir__mutex_lock(&mutex);
        assert_int_equal(1, weir__load(&mutex.state, relaxed));
        weir__mutex_unlock(&mutex);
        assert_int_equal(0, weir__load(&mutex.state, relaxed));
    }
}

static void unlock_free(void)
{
    weir__mutex mutex = { 0 };
    weir__mutex_unlock(&mutex);
}

static void unlocking_what_is_not_locked_aborts(void **state)
{
    (void)state;
    assert_true(test_aborts(unlock_free));
}

static void a_try_lock_is_taken_once_until_released(void **state)
{
    (void)state;
    weir__trylock lock = { 0 };
    for (int i = 0; i < 3; i++) {
        assert_true(weir__trylock_take(&lock));
        assert_false(weir__trylock_take(&lock));
        assert_false(weir__trylock_take(&lock));
        weir__trylock_release(&lock);
    }
}

static void one_thread_at_a_time_holds_a_try_lock(void **state)
{
    (void)state;
    weir__trylock lock = { 0 };
    guarded data = { 0 };
    worker pattern = { .trylock = &lock, .data = &data, .rounds = test_load(1000000) };
    const uint64_t entered = run_workers(work_if_free, &pattern);
    assert_true(entered > 0);
    assert_int_equal(entered, data.sum);
    assert_int_equal(entered, data.twin);
    assert_int_equal(0, data.overlaps);
    assert_true(weir__trylock_take(&lock));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unlocking_what_is_not_locked_aborts),
        cmocka_unit_test(one_thread_at_a_time_is_between_lock_and_unlock),
        cmocka_unit_test(those_who_wait_sleep_and_each_is_let_in),
        cmocka_unit_test(an_uncontended_lock_is_one_word_from_free_to_held),
        cmocka_unit_test(a_try_lock_is_taken_once_until_released),
        cmocka_unit_test(one_thread_at_a_time_holds_a_try_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
