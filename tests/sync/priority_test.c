/*
 * sync/priority_test.c - priorities and usable cores, asked back from the system.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "inner_support.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

typedef struct wish {
    weir_priority policy;
    int32_t value;
    int result;
    int kind, priority, niceness; /* what the thread had afterwards */
} wish;

static void grant(void *argument)
{
    wish *w = argument;
    struct sched_param parameter = { .sched_priority = -1 };
    errno = EXDEV; /* of some call before: nobody's answer here */
    w->result = weir__os_thread_priority(w->policy, w->value);
    (void)pthread_getschedparam(pthread_self(), &w->kind, &parameter);
    w->priority = parameter.sched_priority;
    w->niceness = getpriority(PRIO_PROCESS, (id_t)weir__os_thread_id());
}

static wish granted(weir_priority policy, int32_t value)
{
    wish w = { .policy = policy, .value = value };
    weir__os_thread thread;
    assert_int_equal(0, weir__os_thread_start(&thread, grant, &w));
    weir__os_thread_join(&thread);
    return w;
}

static void fifo_and_round_robin_are_what_the_thread_has_then(void **state)
{
    (void)state;
    const wish fifo = granted(WEIR_PRIORITY_FIFO, 2);
    if (fifo.result == EPERM) {
        test_skip("real-time priorities are not allowed here");
    }
    assert_int_equal(0, fifo.result);
    assert_int_equal(SCHED_FIFO, fifo.kind);
    assert_int_equal(2, fifo.priority);
    const wish robin = granted(WEIR_PRIORITY_ROUND_ROBIN, 3);
    assert_int_equal(0, robin.result);
    assert_int_equal(SCHED_RR, robin.kind);
    assert_int_equal(3, robin.priority);
    assert_int_equal(SCHED_OTHER, sched_getscheduler(0)); /* the starter's own stays */
}

static void a_nice_value_is_that_threads_only(void **state)
{
    (void)state;
    const int own = getpriority(PRIO_PROCESS, 0);
    const wish nicest = granted(WEIR_PRIORITY_NICE, 19);
    assert_int_equal(0, nicest.result);
    assert_int_equal(19, nicest.niceness);
    assert_int_equal(SCHED_OTHER, nicest.kind);
    assert_int_equal(own, getpriority(PRIO_PROCESS, 0));
    const wish usual = granted(WEIR_PRIORITY_DEFAULT, 19);
    assert_int_equal(0, usual.result);
    assert_int_equal(own, usual.niceness);
}

/* The quota of this cgroup in whole cores, as its file says it; `none` without one. */
static uint32_t quota_or(uint32_t none)
{
    unsigned long long quota = 0, period = 0;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
    const int read = file != NULL ? fscanf(file, "%llu %llu", &quota, &period) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    return read == 2 ? (uint32_t)((quota + period - 1) / period) : none;
}

static void count_usable(void *argument)
{
    cpu_set_t one;
    uint32_t *counts = argument;
    counts[0] = weir__cores_usable();
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    counts[1] = sched_setaffinity(0, sizeof(one), &one) == 0 ? weir__cores_usable() : 0;
}

static void usable_cores_are_those_of_the_mask_within_the_quota(void **state)
{
    (void)state;
    cpu_set_t mask;
    uint32_t counts[2] = { 0, 0 };
    weir__os_thread thread;
    assert_int_equal(0, sched_getaffinity(0, sizeof(mask), &mask));
    const uint32_t allowed = (uint32_t)CPU_COUNT(&mask);
    const uint32_t quota = quota_or(allowed);
    assert_int_equal(0, weir__os_thread_start(&thread, count_usable, counts));
    weir__os_thread_join(&thread);
    assert_int_equal(quota < allowed ? quota : allowed, counts[0]);
    assert_int_equal(1, counts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifo_and_round_robin_are_what_the_thread_has_then),
        cmocka_unit_test(a_nice_value_is_that_threads_only),
        cmocka_unit_test(usable_cores_are_those_of_the_mask_within_the_quota),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
