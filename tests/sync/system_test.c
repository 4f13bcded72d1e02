/*
 * sync/system_test.c - cores, quotas and doorbells where the system's answers are the test's: masks
 * and quotas that this machine does not have, and calls that fail here for nobody else.
 *
 * This program has a few of the C library's functions of its own in front of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "inner_support.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

enum { BELL = 4711 }; /* a descriptor that is none */

static struct {
    const char *quota; /* what the cgroup's file says; NULL: there is no such file */
    int files_open;
    int cores;      /* the mask has so many, from 0 on */
    int mask_error; /* errno of a look at it, and of a change; 0: none */
    int set_error;
    int wrong; /* calls for another thread than the calling one */
    cpu_set_t set;
    int bell, bell_error, bell_flags;
    int interruptions; /* of writes to the bell, before one succeeds */
    int rings;
} system_says;

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved. */

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*real)(const char *, const char *);
    if (strcmp(path, "/sys/fs/cgroup/cpu.max") == 0) {
        if (system_says.quota == NULL) {
            errno = ENOENT;
            return NULL;
        }
        system_says.files_open++;
        static char text[128];
        (void)snprintf(text, sizeof(text), "%s", system_says.quota);
        return text[0] != '\0' ? fmemopen(text, strlen(text), "r") : tmpfile();
    }
    *(void **)&real = dlsym(RTLD_NEXT, "fopen");
    return real(path, mode);
}

int fclose(FILE *file)
{
    static int (*real)(FILE *);
    *(void **)&real = dlsym(RTLD_NEXT, "fclose");
    system_says.files_open--;
    return real(file);
}

static int refuse(int number)
{
    errno = number;
    return -1;
}

int sched_getaffinity(pid_t thread, size_t size, cpu_set_t *mask)
{
    system_says.wrong += thread != 0 || size != sizeof(*mask);
    CPU_ZERO(mask);
    for (int i = 0; i < system_says.cores; i++) {
        CPU_SET((size_t)i, mask);
    }
    return system_says.mask_error != 0 ? refuse(system_says.mask_error) : 0;
}

int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *mask)
{
    system_says.wrong += thread != 0 || size != sizeof(*mask);
    system_says.set = *mask;
    return system_says.set_error != 0 ? refuse(system_says.set_error) : 0;
}

int eventfd(unsigned count, int flags)
{
    system_says.wrong += count != 0;
    system_says.bell_flags = flags;
    return system_says.bell_error != 0 ? refuse(system_says.bell_error) : system_says.bell;
}

ssize_t write(int descriptor, const void *bytes, size_t length)
{
    if (descriptor != BELL) {
        return syscall(SYS_write, descriptor, bytes, length);
    }
    uint64_t number = 0;
    memcpy(&number, bytes, length < sizeof(number) ? length : sizeof(number));
    system_says.wrong += length != sizeof(number) || number == 0 || number > UINT32_MAX;
    system_says.rings++;
    return system_says.rings <= system_says.interruptions ? refuse(EINTR) : (ssize_t)length;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

static int reset(void **state)
{
    (void)state;
    memset(&system_says, 0, sizeof(system_says));
    system_says.cores = 8;
    return 0;
}

/* ---- how many cores ---- */

static void a_quota_counts_in_whole_cores_rounded_up(void **state)
{
    (void)state;
    static const struct {
        const char *quota;
        uint32_t usable;
    } cases[] = {
        { "200000 100000\n", 2 },
        { "150000 100000\n", 2 },
        { "100001 100000\n", 2 },
        { "100000 100000\n", 1 },
        { "1 100000\n", 1 },
        { "700000 100000\n", 7 },
        { "800000 100000\n", 8 },
        { "900000 100000\n", 8 },
        { "2 1\n", 2 },
        { "max 100000\n", 8 },
        { "", 8 },
        { "\n", 8 },
        { "nonsense\n", 8 },
        { "0 100000\n", 8 },
        { "100000 0\n", 8 },
        { "100000\n", 8 },
        { "1 1", 1 },
        { "3 2", 2 },
        { "4294967297 1\n", 8 },
        { "18446744073709551615 100000\n", 8 },
        { NULL, 8 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        system_says.quota = cases[i].quota;
        assert_int_equal(cases[i].usable, weir__cores_usable());
        assert_int_equal(0, system_says.files_open);
    }
    assert_int_equal(0, system_says.wrong);
}

static void there_is_one_core_at_least(void **state)
{
    (void)state;
    system_says.cores = 0;
    assert_int_equal(1, weir__cores_usable());
    system_says.cores = 1;
    assert_int_equal(1, weir__cores_usable());
    system_says.cores = 2;
    assert_int_equal(2, weir__cores_usable());
    system_says.mask_error = EPERM;
    assert_int_equal(1, weir__cores_usable());
}

/* ---- which ones ---- */

/* What was on the stack before must not matter. */
__attribute__((noinline)) static void dirty_the_stack(void)
{
    volatile unsigned char dirt[4096]; /* tidy-ok: stores that nobody reads */
    for (size_t i = 0; i < sizeof(dirt); i++) {
        dirt[i] = 0xff;
    }
}

static void a_thread_is_pinned_to_exactly_the_cores_it_was_told(void **state)
{
    (void)state;
    static const int32_t cores[] = { 1, 6 };
    int32_t wrong;
    cpu_set_t expected;
    CPU_ZERO(&expected);
    CPU_SET(1, &expected);
    CPU_SET(6, &expected);
    assert_int_equal(0, weir__os_thread_pin(cores + 1, 1, &wrong));
    dirty_the_stack();
    errno = EXDEV;
    assert_int_equal(0, weir__os_thread_pin(cores, 2, &wrong));
    assert_true(CPU_EQUAL(&expected, &system_says.set));
    assert_int_equal(0, system_says.wrong);
}

static void a_mask_that_cannot_be_read_or_set_is_said_with_the_first_core(void **state)
{
    (void)state;
    static const int32_t cores[] = { 3, 5 };
    int32_t wrong = 99;
    system_says.mask_error = EPERM;
    assert_int_equal(EPERM, weir__os_thread_pin(cores, 2, &wrong));
    assert_int_equal(3, wrong);
    wrong = 99;
    assert_int_equal(EPERM, weir__os_thread_pin(cores, 1, &wrong));
    assert_int_equal(3, wrong);
    assert_int_equal(EPERM, weir__os_thread_pin(cores, 0, &wrong));
    assert_int_equal(-1, wrong);
    system_says.mask_error = 0;
    system_says.set_error = EACCES;
    assert_int_equal(EACCES, weir__os_thread_pin(cores, 2, &wrong));
    assert_int_equal(3, wrong);
}

/* ---- the doorbell ---- */

static void a_doorbell_is_a_descriptor_or_an_error(void **state)
{
    (void)state;
    static const int descriptors[] = { 0, 1, BELL };
    for (size_t i = 0; i < 3; i++) {
        system_says.bell = descriptors[i];
        assert_int_equal(descriptors[i], weir__doorbell_open());
    }
    assert_int_equal(EFD_NONBLOCK | EFD_CLOEXEC, system_says.bell_flags);
    system_says.bell_error = EMFILE;
    assert_int_equal(-EMFILE, weir__doorbell_open());
    assert_int_equal(0, system_says.wrong);
}

static void a_ring_that_is_interrupted_is_repeated(void **state)
{
    (void)state;
    system_says.interruptions = 3;
    errno = EXDEV;
    weir__doorbell_ring(BELL);
    assert_int_equal(EXDEV, errno);
    assert_int_equal(4, system_says.rings);
    weir__doorbell_ring(BELL);
    assert_int_equal(5, system_says.rings);
    assert_int_equal(0, system_says.wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_quota_counts_in_whole_cores_rounded_up, reset),
        cmocka_unit_test_setup(there_is_one_core_at_least, reset),
        cmocka_unit_test_setup(a_thread_is_pinned_to_exactly_the_cores_it_was_told, reset),
        cmocka_unit_test_setup(a_mask_that_cannot_be_read_or_set_is_said_with_the_first_core,
                               reset),
        cmocka_unit_test_setup(a_doorbell_is_a_descriptor_or_an_error, reset),
        cmocka_unit_test_setup(a_ring_that_is_interrupted_is_repeated, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
