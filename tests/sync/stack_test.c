/*
 * stack_test.c - the stack of another thread: where it is, innermost first; of one that cannot
 * answer there is none, and its late answer harms nobody.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "inner_support.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sync/stack.h"
#include "sync/thread.h"

#if defined(__SANITIZE_THREAD__)
#define KEEPS_SIGNALS_BACK 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KEEPS_SIGNALS_BACK 1
#endif
#endif
#ifndef KEEPS_SIGNALS_BACK
#define KEEPS_SIGNALS_BACK 0 /* a sanitizer, until the next call that it knows */
#endif

typedef struct waiter {
    pthread_t thread;
    sem_t ready, leave;
    atomic_int id;
    bool blocks; /* the signal, until it is asked to leave */
    int early;   /* calls of its that were interrupted */
} waiter;

/* Not static: its name is to stand in stacks. */
void stack_test_waits(waiter *w);
__attribute__((noinline)) void stack_test_waits(waiter *w)
{
    (void)sem_post(&w->ready);
    while (sem_wait(&w->leave) != 0) {
        w->early++;
    }
    w->early += 0; /* it does not end with the call: that would leave its frame out */
}

static void *wait_to_leave(void *memory)
{
    waiter *w = memory;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    (void)pthread_sigmask(w->blocks ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
    atomic_store(&w->id, weir__os_thread_id());
    stack_test_waits(w);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* what came late comes now */
    return NULL;
}

static void waiter_start(waiter *w, bool blocks)
{
    memset(w, 0, sizeof(*w));
    w->blocks = blocks;
    assert_int_equal(0, sem_init(&w->ready, 0, 0));
    assert_int_equal(0, sem_init(&w->leave, 0, 0));
    assert_int_equal(0, pthread_create(&w->thread, NULL, wait_to_leave, w));
    while (sem_wait(&w->ready) != 0) {
    }
}

static void waiter_end(waiter *w)
{
    assert_int_equal(0, sem_post(&w->leave));
    assert_int_equal(0, pthread_join(w->thread, NULL));
}

static bool shows(const weir__stack *stack, const char *function)
{
    for (uint32_t i = 0; i < stack->count; i++) {
        char text[256];
        weir__stack_frame_text(stack->frames[i], text, sizeof(text));
        if (strstr(text, function) != NULL) {
            return true;
        }
    }
    return false;
}

static void the_stack_of_a_thread_shows_where_it_is(void **state)
{
    (void)state;
    waiter w;
    weir__stack stack = { 0 };
    assert_true(weir__stack_prepare());
    int shown = 0;
    int taken = 0;
    waiter_start(&w, false);
    for (int i = 0; i < 3; i++) { /* again and again */
        if (weir__stack_take(atomic_load(&w.id), 10 * WEIR_S, &stack)) {
            taken++;
            shown += shows(&stack, "(stack_test_waits+0x") ? 1 : 0;
        }
        assert_false(shows(&stack, "on_request"));
    }
    waiter_end(&w);
    /* A sanitizer may have caught it in a call of its own, out of which no stack leads. */
    assert_true(KEEPS_SIGNALS_BACK ? taken == 0 || shown > 0 : shown == 3);
}

static void a_thread_that_blocks_the_signal_is_not_waited_for_longer_than_said(void **state)
{
    (void)state;
    waiter deaf, other;
    weir__stack stack = { 0 };
    waiter_start(&deaf, true);
    waiter_start(&other, false);
    const weir_ns begin = weir__clock_now();
    assert_false(weir__stack_take(atomic_load(&deaf.id), 50 * WEIR_MS, &stack));
    assert_true(weir__clock_now() - begin >= 50 * WEIR_MS);
    assert_int_equal(0, stack.count);
    /* Its signal is still on its way when somebody else is asked, and comes afterwards. */
    const bool taken = weir__stack_take(atomic_load(&other.id), 10 * WEIR_S, &stack);
    assert_true(taken || KEEPS_SIGNALS_BACK);
    waiter_end(&deaf);
    waiter_end(&other);
}

static void a_thread_that_is_gone_has_none(void **state)
{
    (void)state;
    waiter w;
    weir__stack stack = { 0 };
    waiter_start(&w, false);
    const int32_t id = atomic_load(&w.id);
    waiter_end(&w);
    const weir_ns begin = weir__clock_now();
    assert_false(weir__stack_take(id, 10 * WEIR_S, &stack));
    assert_true(weir__clock_now() - begin < 10 * WEIR_S);
}

static atomic_int counted;

static void count_signal(int number)
{
    (void)number;
    atomic_fetch_add(&counted, 1);
}

static void who_handles_the_signal_keeps_it(void **state)
{
    (void)state;
    waiter w;
    weir__stack stack = { 0 };
    const struct sigaction mine = { .sa_handler = count_signal };
    struct sigaction before;
    struct sigaction now;
    waiter_start(&w, false);
    assert_int_equal(0, sigaction(SIGURG, &mine, &before));
    assert_false(weir__stack_prepare());
    assert_false(weir__stack_take(atomic_load(&w.id), 10 * WEIR_S, &stack));
    assert_int_equal(0, sigaction(SIGURG, &before, &now));
    assert_true(now.sa_handler == count_signal);
    assert_int_equal(0, atomic_load(&counted));
    waiter_end(&w);
}

static void who_waits_for_the_signal_elsewhere_keeps_it(void **state)
{
    (void)state;
    sigset_t set;
    sigset_t before;
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    assert_true(weir__stack_prepare());
    assert_int_equal(0, pthread_sigmask(SIG_BLOCK, &set, &before));
    assert_false(weir__stack_prepare());
    assert_int_equal(0, pthread_sigmask(SIG_SETMASK, &before, NULL));
}

static void when_it_is_taken_the_signal_leads_where_it_led_before(void **state)
{
    (void)state;
    const struct sigaction ignored = { .sa_handler = SIG_IGN };
    struct sigaction before;
    struct sigaction now;
    waiter w;
    weir__stack stack = { 0 };
    waiter_start(&w, false);
    assert_int_equal(0, sigaction(SIGURG, &ignored, &before));
    (void)weir__stack_take(atomic_load(&w.id), 10 * WEIR_S, &stack);
    assert_int_equal(0, sigaction(SIGURG, &before, &now));
    assert_true((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN);
    waiter_end(&w);
}

static void *ask_all_the_time(void *memory)
{
    waiter *w = memory;
    weir__stack stack = { 0 };
    while (!atomic_load(&counted)) {
        (void)weir__stack_take(atomic_load(&w->id), WEIR_MS, &stack);
    }
    return NULL;
}

/* Whatever is under way when the process forks: in the child nobody asks for anything. */
static void a_child_begins_anew(void **state)
{
    (void)state;
    waiter w;
    pthread_t asker;
    if (KEEPS_SIGNALS_BACK) {
        test_skip("TSan starts no threads in a child of a program with threads");
    }
    atomic_store(&counted, 0);
    waiter_start(&w, false);
    assert_int_equal(0, pthread_create(&asker, NULL, ask_all_the_time, &w));
    for (int i = 0; i < 20; i++) {
        const pid_t child = fork();
        if (child == 0) {
            struct sigaction now;
            weir__stack_after_fork();
            const bool usual = sigaction(SIGURG, NULL, &now) == 0 && now.sa_handler == SIG_DFL;
            _exit(usual && weir__stack_prepare() ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(child, waitpid(child, &status, 0));
        assert_int_equal(0, status);
    }
    atomic_store(&counted, 1);
    assert_int_equal(0, pthread_join(asker, NULL));
    waiter_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stack_of_a_thread_shows_where_it_is),
        cmocka_unit_test(a_thread_that_blocks_the_signal_is_not_waited_for_longer_than_said),
        cmocka_unit_test(a_thread_that_is_gone_has_none),
        cmocka_unit_test(who_handles_the_signal_keeps_it),
        cmocka_unit_test(who_waits_for_the_signal_elsewhere_keeps_it),
        cmocka_unit_test(when_it_is_taken_the_signal_leads_where_it_led_before),
        cmocka_unit_test(a_child_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
