/*
 * sync/membarrier_test.c - the heavy barrier and kernels that have no membarrier(2), or not now.
 *
 * This program has a syscall(2) of its own in front of the C library's, which answers membarrier as
 * a test wants it. What the barrier is good for is barrier_test.c's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "inner_support.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>

#include "sync/barrier.h"

enum { EXPEDITED_TRIES = 100 };

/* A kernel's answers, and how often it was asked for what. */
static struct {
    int refused_register;
    int refused_until; /* of the expedited ones: up to this, by number */
    int refused_global;
    int registers, expediteds, globals, others;
} kernel;

static long answer(bool refused)
{
    errno = refused ? ENOSYS : errno;
    return refused ? -1 : 0;
}

static long membarrier(int command)
{
    switch (command) {
    case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED:
        kernel.registers++;
        return answer(kernel.refused_register != 0);
    case MEMBARRIER_CMD_PRIVATE_EXPEDITED:
        kernel.expediteds++;
        return answer(kernel.expediteds <= kernel.refused_until);
    case MEMBARRIER_CMD_GLOBAL:
        kernel.globals++;
        return answer(kernel.refused_global != 0);
    default:
        kernel.others++;
        return answer(true);
    }
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved. */

long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long arguments[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) {
        arguments[i] = va_arg(list, long);
    }
    va_end(list);
    if (number == SYS_membarrier) {
        kernel.others += (int)arguments[1] != 0; /* flags: none are known to every kernel */
        return membarrier((int)arguments[0]);
    }
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    }
    return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                arguments[5]);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

static int reset(void **state)
{
    (void)state;
    memset(&kernel, 0, sizeof(kernel));
    weir__barrier_symmetric = false;
    return 0;
}

static void asked(int registers, int expediteds, int globals)
{
    assert_int_equal(registers, kernel.registers);
    assert_int_equal(expediteds, kernel.expediteds);
    assert_int_equal(globals, kernel.globals);
    assert_int_equal(0, kernel.others);
}

static void a_kernel_with_membarrier_is_asked_once_for_each_barrier(void **state)
{
    (void)state;
    weir__barrier_open();
    asked(1, 0, 0);
    assert_false(weir__barrier_symmetric);
    weir__barrier_heavy();
    asked(1, 1, 0);
    weir__barrier_heavy();
    weir__barrier_light();
    asked(1, 2, 0);
}

static void a_kernel_without_membarrier_is_not_asked_again_and_both_sides_fence(void **state)
{
    (void)state;
    kernel.refused_register = 1;
    kernel.refused_until = INT32_MAX;
    kernel.refused_global = 1;
    weir__barrier_open();
    assert_true(weir__barrier_symmetric);
    weir__barrier_heavy();
    weir__barrier_light();
    asked(1, 0, 0);
}

static void a_barrier_that_is_refused_for_a_moment_is_asked_for_again(void **state)
{
    (void)state;
    weir__barrier_open();
    kernel.refused_until = 3;
    weir__barrier_heavy();
    asked(1, 4, 0);
    kernel.refused_until = 4 + EXPEDITED_TRIES - 1;
    weir__barrier_heavy();
    asked(1, 4 + EXPEDITED_TRIES, 0);
}

static void one_that_is_refused_a_hundred_times_is_replaced_by_the_slow_form(void **state)
{
    (void)state;
    weir__barrier_open();
    kernel.refused_until = INT32_MAX;
    weir__barrier_heavy();
    asked(1, EXPEDITED_TRIES, 1);
    assert_false(weir__barrier_symmetric); /* others rely on it */
}

static void refuse_everything(void)
{
    weir__barrier_open();
    kernel.refused_until = INT32_MAX;
    kernel.refused_global = 1;
    weir__barrier_heavy();
}

static void one_that_is_not_to_be_had_at_all_ends_the_process(void **state)
{
    (void)state;
    assert_true(test_aborts(refuse_everything));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_kernel_with_membarrier_is_asked_once_for_each_barrier, reset),
        cmocka_unit_test_setup(a_kernel_without_membarrier_is_not_asked_again_and_both_sides_fence,
                               reset),
        cmocka_unit_test_setup(a_barrier_that_is_refused_for_a_moment_is_asked_for_again, reset),
        cmocka_unit_test_setup(one_that_is_refused_a_hundred_times_is_replaced_by_the_slow_form,
                               reset),
        cmocka_unit_test_setup(one_that_is_not_to_be_had_at_all_ends_the_process, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
