/*
 * sync/thread_test.c - OS threads as the engine knows them: start and join, name, cores, the
 * thread-local pointer and its hook, fork, the clock, the doorbell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "inner_support.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>

static void run_alone(void (*work)(void *), void *argument)
{
    weir__os_thread thread;
    assert_int_equal(0, weir__os_thread_start(&thread, work, argument));
    weir__os_thread_join(&thread);
}

typedef struct look {
    char name[16];
    int32_t id;
    uint32_t signals_open; /* how many signals of others' this thread would take */
    uint32_t signals_own;  /* how many of those that its own code causes */
} look;

static void look_round(void *argument)
{
    look *l = argument;
    sigset_t blocked;
    weir__os_thread_name("a-name-of-more-than-15-bytes");
    (void)pthread_getname_np(pthread_self(), l->name, sizeof(l->name));
    l->id = weir__os_thread_id();
    (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    for (int s = 1; s < SIGRTMAX; s++) {
        /* Those that cannot be blocked, and those between, which are the C library's. */
        const bool ours = s != SIGKILL && s != SIGSTOP && (s < 32 || s >= SIGRTMIN);
        const bool own = s == SIGSEGV || s == SIGBUS || s == SIGILL || s == SIGFPE ||
                         s == SIGTRAP || s == SIGSYS || s == SIGABRT;
        l->signals_open += ours && !own && sigismember(&blocked, s) == 0;
        l->signals_own += own && sigismember(&blocked, s) == 0;
    }
}

static void a_thread_runs_with_its_argument_and_takes_no_signals_but_of_its_own_making(void **state)
{
    (void)state;
    look l = { .id = 0 };
    sigset_t before;
    sigset_t after;
    assert_int_equal(0, pthread_sigmask(SIG_SETMASK, NULL, &before));
    run_alone(look_round, &l);
    assert_int_equal(0, pthread_sigmask(SIG_SETMASK, NULL, &after));
    assert_true(l.id != 0);
    assert_true(l.id != weir__os_thread_id());
    assert_int_equal(getpid(), weir__os_thread_id());
    assert_int_equal(0, l.signals_open);
    assert_int_equal(7, l.signals_own);
    for (int s = 1; s < SIGRTMAX; s++) {
        assert_int_equal(sigismember(&before, s), sigismember(&after, s)); /* the starter's stay */
    }
}

static void a_name_is_cut_at_15_bytes(void **state)
{
    (void)state;
    look l = { .id = 0 };
    run_alone(look_round, &l);
    assert_string_equal("a-name-of-more-", l.name);
}

/* ---- cores ---- */

typedef struct pinning {
    int32_t cores[CPU_SETSIZE];
    uint32_t count;
    int result;
    int32_t wrong;   /* which core it was */
    int core;        /* where it ran afterwards */
    int allowed;     /* how many cores its mask has afterwards */
    uint32_t usable; /* as the sync room counts them */
} pinning;

static void pin(void *argument)
{
    pinning *p = argument;
    cpu_set_t mask;
    errno = EXDEV; /* of some call before: nobody's answer here */
    p->result = weir__os_thread_pin(p->cores, p->count, &p->wrong);
    p->core = sched_getcpu();
    p->allowed = sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : -1;
    p->usable = weir__cores_usable();
}

static cpu_set_t allowed_cores(void)
{
    cpu_set_t mask;
    assert_int_equal(0, sched_getaffinity(0, sizeof(mask), &mask));
    return mask;
}

static void a_pinned_thread_runs_on_its_core_and_on_no_other(void **state)
{
    (void)state;
    cpu_set_t mask = allowed_cores();
    for (int32_t core = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET((size_t)core, &mask)) {
            static pinning p;
            p = (pinning){ .cores = { core }, .count = 1 };
            run_alone(pin, &p);
            assert_int_equal(0, p.result);
            assert_int_equal(core, p.core);
            assert_int_equal(1, p.allowed);
            assert_int_equal(1, p.usable);
        }
    }
    const cpu_set_t after = allowed_cores();
    assert_true(CPU_EQUAL(&mask, &after)); /* the starter's own cores stay */
}

static void a_thread_may_be_pinned_to_several_cores(void **state)
{
    (void)state;
    cpu_set_t mask = allowed_cores();
    static pinning p;
    p = (pinning){ .count = 0 };
    for (int32_t core = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET((size_t)core, &mask)) {
            p.cores[p.count++] = core;
        }
    }
    run_alone(pin, &p);
    assert_int_equal(0, p.result);
    assert_int_equal(p.count, p.allowed);
}

static void a_core_that_cannot_be_had_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    cpu_set_t mask = allowed_cores();
    int32_t absent = CPU_SETSIZE - 1;
    int32_t present = 0;
    while (CPU_ISSET((size_t)absent, &mask)) {
        absent--;
    }
    while (!CPU_ISSET((size_t)present, &mask)) {
        present++;
    }
    const int32_t wrong[] = { -1, INT32_MIN, CPU_SETSIZE, INT32_MAX, absent };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        static pinning p;
        p = (pinning){ .cores = { present, wrong[i] }, .count = 2 };
        run_alone(pin, &p);
        assert_int_equal(EINVAL, p.result);
        assert_int_equal(wrong[i], p.wrong);
        assert_int_equal(CPU_COUNT(&mask), p.allowed);
    }
    static pinning none;
    none = (pinning){ .count = 0 };
    run_alone(pin, &none);
    assert_int_equal(EINVAL, none.result);
}

static void usable_cores_are_at_least_one_and_at_most_the_allowed(void **state)
{
    (void)state;
    cpu_set_t mask = allowed_cores();
    assert_in_range(weir__cores_usable(), 1, CPU_COUNT(&mask));
}

static void the_default_priority_is_left_alone(void **state)
{
    (void)state;
    assert_int_equal(0, weir__os_thread_priority(WEIR_PRIORITY_DEFAULT, 99));
    assert_int_equal(EINVAL, weir__os_thread_priority(WEIR_PRIORITY_FIFO, 1000));
    assert_int_equal(SCHED_OTHER, sched_getscheduler(0));
}

/* ---- the thread-local pointer ---- */

static weir__atomic_u32 hook_calls;
static WEIR__ATOMIC(void *) hook_got;

static void exit_hook(void *pointer)
{
    weir__store(&hook_got, pointer, relaxed);
    weir__add(&hook_calls, 1, relaxed);
}

typedef struct local_case {
    void *value;
    bool arm;
    void *first_seen; /* what the thread's pointer held at first */
    void **address;
} local_case;

static void use_local(void *argument)
{
    local_case *c = argument;
    c->address = weir__local();
    c->first_seen = *c->address;
    *c->address = c->value;
    if (c->arm) {
        weir__local_arm();
        weir__local_arm();
    }
}

static void each_thread_has_its_own_pointer_and_the_hook_gets_it_at_the_end(void **state)
{
    (void)state;
    int mine = 0;
    int theirs = 0;
    assert_int_equal(0, weir__local_at_exit(exit_hook));
    assert_ptr_equal(weir__local(), weir__local());
    assert_null(*weir__local());
    *weir__local() = &mine;

    local_case armed = { .value = &theirs, .arm = true };
    run_alone(use_local, &armed);
    assert_null(armed.first_seen);
    assert_ptr_equal(&mine, *weir__local());
    assert_int_equal(1, weir__load(&hook_calls, relaxed));
    assert_ptr_equal(&theirs, weir__load(&hook_got, relaxed));

    local_case empty = { .value = NULL, .arm = true };
    run_alone(use_local, &empty);
    assert_null(empty.first_seen); /* nothing stays of the thread before */
    assert_int_equal(1, weir__load(&hook_calls, relaxed));

    local_case unarmed = { .value = &theirs, .arm = false };
    run_alone(use_local, &unarmed);
    assert_int_equal(1, weir__load(&hook_calls, relaxed));
    *weir__local() = NULL;
}

static pthread_key_t late_key;
static WEIR__ATOMIC(void *) seen_late;

/* Runs behind the hook, since its key is younger; and lets it run once more. */
static void look_late(void *unused)
{
    (void)unused;
    weir__store(&seen_late, *weir__local(), relaxed);
    weir__local_arm();
}

static void use_local_and_look_late(void *argument)
{
    use_local(argument);
    (void)pthread_setspecific(late_key, &late_key);
}

static void behind_the_hook_the_pointer_is_empty_and_no_hook_runs_for_it_again(void **state)
{
    (void)state;
    int theirs = 0;
    weir__store(&hook_calls, 0, relaxed);
    assert_int_equal(0, weir__local_at_exit(exit_hook));
    assert_int_equal(0, pthread_key_create(&late_key, look_late));
    local_case armed = { .value = &theirs, .arm = true };
    weir__store(&seen_late, &theirs, relaxed);
    run_alone(use_local_and_look_late, &armed);
    assert_null(weir__load(&seen_late, relaxed));
    assert_int_equal(1, weir__load(&hook_calls, relaxed));
    assert_int_equal(0, pthread_key_delete(late_key));
}

/* ---- fork ---- */

static weir__atomic_u32 forks_seen;

static void note_fork(void)
{
    weir__add(&forks_seen, 1, relaxed);
}

static void the_fork_hook_runs_in_the_child_only(void **state)
{
    (void)state;
    assert_int_equal(0, weir__after_fork(note_fork));
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        _exit((int)weir__load(&forks_seen, relaxed) + 40);
    }
    int status = 0;
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_true(WIFEXITED(status));
    assert_int_equal(41, WEXITSTATUS(status));
    assert_int_equal(0, weir__load(&forks_seen, relaxed));
}

/* ---- time and chance ---- */

static void the_clock_never_goes_back_and_the_wall_says_the_date(void **state)
{
    (void)state;
    weir_ns last = weir__clock_now();
    for (int i = 0; i < 10000; i++) {
        const weir_ns now = weir__clock_now();
        assert_true(now >= last);
        last = now;
    }
    assert_true(weir__clock_wall() / WEIR_S >= time(NULL) - 1);
    assert_true(weir__clock_wall() > 50 * 365 * 24 * 3600 * WEIR_S);
    assert_true(weir__random_seed() != weir__random_seed());
}

/* What the clock would be if `later` and `earlier` were made of it, as they are where the system
 * refuses: src/sync/real/thread.c. */
static uint64_t clock_between(uint64_t earlier, uint64_t later)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t inverse = factor; /* right in its last three bits; each step doubles them */
    for (int i = 0; i < 5; i++) {
        inverse *= 2 - factor * inverse;
    }
    assert_int_equal(1, factor * inverse);
    return (later - earlier) * inverse;
}

static void a_seed_does_not_tell_the_time(void **state)
{
    (void)state;
    const uint64_t first = weir__random_seed();
    const uint64_t second = weir__random_seed();
    assert_true(clock_between(first, second) > UINT64_C(3600) * WEIR_S);
}

/* ---- the doorbell ---- */

static bool rings(int descriptor)
{
    struct pollfd p = { .fd = descriptor, .events = POLLIN };
    return poll(&p, 1, 0) == 1 && (p.revents & POLLIN) != 0;
}

static void a_doorbell_is_readable_from_ring_to_clear(void **state)
{
    (void)state;
    const int bell = weir__doorbell_open();
    assert_true(bell >= 0);
    assert_true((fcntl(bell, F_GETFD) & FD_CLOEXEC) != 0);
    for (int i = 0; i < 3; i++) {
        assert_false(rings(bell));
        weir__doorbell_clear(bell); /* of one that is clear: does not wait */
        weir__doorbell_ring(bell);
        weir__doorbell_ring(bell);
        assert_true(rings(bell));
        assert_true(rings(bell));
        weir__doorbell_clear(bell);
    }
    assert_false(rings(bell));
    weir__doorbell_close(bell);
    assert_int_equal(-1, fcntl(bell, F_GETFD));
}

static void a_doorbell_that_has_been_rung_for_ever_still_does_not_wait(void **state)
{
    (void)state;
    const int bell = weir__doorbell_open();
    assert_true(bell >= 0);
    const uint64_t most = UINT64_MAX - 1;
    assert_int_equal(sizeof(most), write(bell, &most, sizeof(most)));
    errno = EXDEV;
    weir__doorbell_ring(bell);
    assert_int_equal(EXDEV, errno);
    assert_true(rings(bell));
    weir__doorbell_clear(bell);
    assert_false(rings(bell));
    weir__doorbell_close(bell);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_thread_runs_with_its_argument_and_takes_no_signals_but_of_its_own_making),
        cmocka_unit_test(a_name_is_cut_at_15_bytes),
        cmocka_unit_test(a_pinned_thread_runs_on_its_core_and_on_no_other),
        cmocka_unit_test(a_thread_may_be_pinned_to_several_cores),
        cmocka_unit_test(a_core_that_cannot_be_had_is_refused_and_changes_nothing),
        cmocka_unit_test(usable_cores_are_at_least_one_and_at_most_the_allowed),
        cmocka_unit_test(the_default_priority_is_left_alone),
        cmocka_unit_test(each_thread_has_its_own_pointer_and_the_hook_gets_it_at_the_end),
        cmocka_unit_test(behind_the_hook_the_pointer_is_empty_and_no_hook_runs_for_it_again),
        cmocka_unit_test(the_fork_hook_runs_in_the_child_only),
        cmocka_unit_test(the_clock_never_goes_back_and_the_wall_says_the_date),
        cmocka_unit_test(a_seed_does_not_tell_the_time),
        cmocka_unit_test(a_doorbell_is_readable_from_ring_to_clear),
        cmocka_unit_test(a_doorbell_that_has_been_rung_for_ever_still_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
