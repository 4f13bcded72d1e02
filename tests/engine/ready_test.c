/*
 * ready_test.c - the ready queue of a dispatcher by itself: order, numbers, and the lock that is
 * only ever tried.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_support.h"

#include <string.h>

#include "engine/dispatcher.h"
#include "engine/engine.h"
#include "engine/processor.h"
#include "engine/thread.h"

enum { PROCESSORS = 40, COUNT_MAX = (1 << 22) - 1 };

/* A queue, a thread that serves it, and processors: nothing else of an engine is touched. */
typedef struct desk {
    weir__dispatcher dispatcher;
    weir__serving serving;
    weir__serving *served;
    weir__thread thread;
    weir__processor processors[PROCESSORS];
} desk;

static desk *desk_open(void)
{
    static desk d;
    memset(&d, 0, sizeof(d));
    d.serving.dispatcher = &d.dispatcher;
    d.served = &d.serving;
    d.thread.servings = &d.served;
    d.thread.serving_count = 1;
    return &d;
}

static void push(desk *d, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        weir__dispatcher_push_quiet(&d->dispatcher, &d->processors[i]);
    }
}

static weir__take take(desk *d, weir__processor **out)
{
    return weir__dispatcher_take(&d->dispatcher, &d->thread, 0, out);
}

/* The next ones are these, in this order. */
static void takes(desk *d, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        weir__processor *out = NULL;
        assert_int_equal(WEIR__TAKE_GOT, take(d, &out));
        assert_ptr_equal(&d->processors[i], out);
    }
}

static void who_is_ready_first_is_taken_first(void **state)
{
    (void)state;
    desk *d = desk_open();
    push(d, 0, 1);
    takes(d, 0, 1);
    push(d, 0, 5);
    takes(d, 0, 2);
    push(d, 5, 5); /* behind what was taken in before */
    takes(d, 2, 4);
    push(d, 10, 1);
    push(d, 11, 1);
    takes(d, 6, 6);
    push(d, 0, PROCESSORS);
    takes(d, 0, PROCESSORS);
    assert_false(weir__dispatcher_has_work(&d->dispatcher));
}

static void the_number_of_the_ready_is_exact_wherever_they_are(void **state)
{
    (void)state;
    desk *d = desk_open();
    assert_int_equal(0, weir__dispatcher_ready(&d->dispatcher));
    for (size_t i = 0; i < 10; i++) {
        push(d, i, 1);
        assert_int_equal(i + 1, weir__dispatcher_ready(&d->dispatcher));
        assert_true(weir__dispatcher_has_work(&d->dispatcher));
    }
    takes(d, 0, 3);
    assert_int_equal(7, weir__dispatcher_ready(&d->dispatcher));
    push(d, 10, 5);
    assert_int_equal(12, weir__dispatcher_ready(&d->dispatcher));
    for (size_t i = 3; i < 15; i++) {
        assert_true(weir__dispatcher_has_work(&d->dispatcher));
        takes(d, i, 1);
        assert_int_equal(14 - i, weir__dispatcher_ready(&d->dispatcher));
    }
    assert_false(weir__dispatcher_has_work(&d->dispatcher));
}

static void a_look_at_an_empty_queue_tries_no_lock(void **state)
{
    (void)state;
    desk *d = desk_open();
    weir__processor *out = &d->processors[0];
    assert_int_equal(WEIR__TAKE_EMPTY, take(d, &out));
    assert_null(out);
    assert_int_equal(0, weir__cell_read(&d->serving.try_locks));
    push(d, 0, 2);
    takes(d, 0, 2);
    assert_int_equal(2, weir__cell_read(&d->serving.try_locks));
    assert_int_equal(WEIR__TAKE_EMPTY, take(d, &out));
    assert_int_equal(2, weir__cell_read(&d->serving.try_locks));
    assert_int_equal(0, weir__cell_read(&d->serving.try_locks_failed));
}

static void a_lock_that_is_held_is_counted_and_left_alone(void **state)
{
    (void)state;
    desk *d = desk_open();
    weir__processor *out = &d->processors[0];
    push(d, 0, 1);
    assert_true(weir__trylock_take(&d->dispatcher.lock));
    for (uint64_t i = 1; i <= 3; i++) {
        assert_int_equal(WEIR__TAKE_FAILED, take(d, &out));
        assert_null(out);
        assert_int_equal(i, weir__cell_read(&d->serving.try_locks));
        assert_int_equal(i, weir__cell_read(&d->serving.try_locks_failed));
        assert_false(d->thread.holding_lock);
    }
    weir__trylock_release(&d->dispatcher.lock);
    takes(d, 0, 1);
    assert_int_equal(4, weir__cell_read(&d->serving.try_locks));
    assert_int_equal(3, weir__cell_read(&d->serving.try_locks_failed));
    assert_false(d->thread.holding_lock);
    assert_true(weir__trylock_take(&d->dispatcher.lock)); /* it was given back */
}

/* One bit for each thread there may be; another word begins right behind the last of them. */
static void a_push_looks_for_sleepers_among_the_threads_that_there_are(void **state)
{
    (void)state;
    static weir_engine engine;
    desk *d = desk_open();
    d->dispatcher.engine = &engine;
    weir__store(&engine.thread_count, WEIR__THREADS_MAX, relaxed);
    weir__store(&d->dispatcher.parked_external[0], UINT64_MAX, relaxed);
    weir__dispatcher_push(&d->dispatcher, &d->processors[0]); /* nobody external serves it */
    assert_int_equal(0, weir__load(&d->dispatcher.signals, relaxed));
    assert_true(weir__load(&d->dispatcher.parked_external[0], relaxed) == UINT64_MAX);
    /* The last one there may be is found. */
    weir__store(&engine.threads[WEIR__THREADS_MAX - 1], &d->thread, relaxed);
    weir__store(&d->dispatcher.parked[WEIR__THREAD_WORDS - 1], UINT64_C(1) << 63, relaxed);
    weir__dispatcher_push(&d->dispatcher, &d->processors[1]);
    assert_int_equal(1, weir__load(&d->dispatcher.signals, relaxed));
    assert_int_equal(1, weir__load(&d->dispatcher.searching, relaxed)); /* on its behalf */
    assert_int_equal(1, weir__load(&d->thread.wake, relaxed));
    assert_int_equal(0, weir__load(&d->dispatcher.parked[WEIR__THREAD_WORDS - 1], relaxed));
    /* While somebody searches nobody else is woken. */
    weir__store(&d->dispatcher.parked[WEIR__THREAD_WORDS - 1], UINT64_C(1) << 63, relaxed);
    weir__dispatcher_push(&d->dispatcher, &d->processors[2]);
    assert_int_equal(1, weir__load(&d->dispatcher.signals, relaxed));
    assert_int_equal(3, weir__dispatcher_ready(&d->dispatcher));
}

/* The number shares a word with an address. The queue counts to the end of its part of it, and then
 * stays there. The same processor again and again is enough to count with. */
static void more_than_can_be_counted_leave_the_number_at_its_end(void **state)
{
    (void)state;
    desk *d = desk_open();
    for (uint32_t i = 1; i <= COUNT_MAX; i++) {
        push(d, 0, 1);
    }
    assert_int_equal(COUNT_MAX, weir__dispatcher_ready(&d->dispatcher));
    push(d, 1, 1);
    assert_int_equal(COUNT_MAX, weir__dispatcher_ready(&d->dispatcher));
    assert_ptr_equal(&d->processors[0], d->processors[1].ready_next);
    push(d, 2, 1);
    assert_int_equal(COUNT_MAX, weir__dispatcher_ready(&d->dispatcher));
    assert_ptr_equal(&d->processors[1], d->processors[2].ready_next); /* the address is whole */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_ready_first_is_taken_first),
        cmocka_unit_test(the_number_of_the_ready_is_exact_wherever_they_are),
        cmocka_unit_test(a_look_at_an_empty_queue_tries_no_lock),
        cmocka_unit_test(a_lock_that_is_held_is_counted_and_left_alone),
        cmocka_unit_test(a_push_looks_for_sleepers_among_the_threads_that_there_are),
        cmocka_unit_test(more_than_can_be_counted_leave_the_number_at_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
