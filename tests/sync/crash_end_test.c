/*
 * sync/crash_end_test.c - behind a report: who gets the signal then, that it ends when handlers
 * pass it to each other, that one thread reports at a time, and what a fork leaves of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "crash_call.h"

#include "coverage_support.h"

static const siginfo_t *last_sent(void)
{
    return &system_says.sent.info;
}

static bool is_default(int number)
{
    const struct sigaction now = action_of(number);
    return (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
}

/* ---- once more ---- */

static void what_was_there_before_is_put_back(void **state)
{
    (void)state;
    open_report();
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        assert_true(is_action(fatal_signals[i], handler));
        hit_heard(info_of(fatal_signals[i], SI_TKILL));
        assert_true(is_action(fatal_signals[i], application));
        for (int k = i + 1; k < FATAL_SIGNALS; k++) {
            assert_true(is_action(fatal_signals[k], handler)); /* the others stay */
        }
    }
    close_report();
}

/* The processor tries the instruction again: then it comes by itself. */
static void a_signal_that_does_not_come_again_by_itself_is_sent_as_it_was(void **state)
{
    (void)state;
    open_report();
    static const struct {
        int number, code;
        bool comes_again;
    } signals[] = {
        { SIGSEGV, SEGV_MAPERR, true },
        { SIGSEGV, SI_KERNEL, true },
        { SIGILL, ILL_ILLOPN, true },
        { SIGFPE, FPE_INTDIV, true },
        { SIGBUS, BUS_ADRALN, true },
        { SIGBUS, BUS_MCEERR_AR, true },
        { SIGBUS, BUS_MCEERR_AO, false },
        { SIGTRAP, TRAP_BRKPT, false },
        { SIGABRT, 1, false },
        { SIGSEGV, SI_USER, false },
        { SIGILL, SI_TKILL, false },
        { SIGFPE, SI_QUEUE, false },
        { SIGBUS, SI_TKILL, false },
        { SIGABRT, SI_TKILL, false },
    };
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        memset(&system_says, 0, sizeof(system_says));
        siginfo_t info = info_of(signals[i].number, signals[i].code);
        info.si_pid = getpid();
        info.si_value.sival_int = 4711;
        hit_heard(info);
        assert_int_equal(signals[i].comes_again ? 0 : 1, system_says.sent.count);
        if (!signals[i].comes_again) {
            assert_int_equal(getpid(), system_says.sent.process);
            assert_int_equal(getpid(), system_says.sent.thread);
            assert_int_equal(signals[i].number, system_says.sent.number);
            assert_memory_equal(&info, last_sent(), sizeof(info));
        }
        assert_int_equal(0, system_says.sent.plain);
    }
    close_report();
}

static void where_it_cannot_be_sent_as_it_was_it_is_sent_plainly(void **state)
{
    (void)state;
    open_report();
    system_says.sent.refused = true;
    hit_heard(info_of(SIGABRT, SI_TKILL));
    assert_int_equal(1, system_says.sent.plain);
    assert_int_equal(getpid(), system_says.sent.plain_process);
    assert_int_equal(getpid(), system_says.sent.plain_thread);
    assert_int_equal(SIGABRT, system_says.sent.plain_number);
    close_report();
}

static void what_another_process_sends_is_passed_on_without_a_report(void **state)
{
    (void)state;
    open_report();
    static const int codes[] = { SI_USER, SI_QUEUE };
    for (size_t i = 0; i < 2; i++) {
        siginfo_t info = info_of(SIGABRT, codes[i]);
        info.si_pid = getpid() + 1;
        memset(&system_says, 0, sizeof(system_says));
        writer.count = 0;
        hit_heard(info);
        assert_string_equal("", said);
        assert_int_equal(0, writer.count);
        assert_int_equal(1, system_says.sent.count);
        info.si_pid = getpid();
        hit_heard(info);
        assert_int_equal(3, writer.count);
    }
    /* Not sent, whatever stands where a sender would. */
    siginfo_t fault = info_of(SIGSEGV, SEGV_MAPERR);
    writer.count = 0;
    hit_heard(fault);
    assert_int_equal(3, writer.count);
    close_report();
}

static void hit_aside(void *info)
{
    hit(*(const siginfo_t *)info);
}

static void hit_another_thread(siginfo_t info)
{
    weir__os_thread thread;
    assert_int_equal(0, weir__os_thread_start(&thread, hit_aside, &info));
    weir__os_thread_join(&thread);
}

static bool say_nothing(uint32_t part)
{
    (void)part;
    return false;
}

static void a_signal_that_a_thread_gets_back_takes_the_default_action(void **state)
{
    (void)state;
    open_report();
    writer.act = say_nothing;
    hit(info_of(SIGTRAP, SI_TKILL));
    assert_true(is_action(SIGTRAP, application));
    hit_another_thread(info_of(SIGTRAP, SI_TKILL));
    assert_true(is_action(SIGTRAP, application));
    hit(info_of(SIGABRT, SI_TKILL)); /* another signal is another matter */
    assert_true(is_action(SIGABRT, application));
    hit(info_of(SIGTRAP, SI_TKILL));
    assert_true(is_action(SIGTRAP, application));
    hit(info_of(SIGTRAP, SI_TKILL));
    assert_true(is_default(SIGTRAP));
    assert_true(is_action(SIGABRT, application));

    set_action(SIGTRAP, application); /* a new engine, a new count */
    weir__crash_close();
    weir__crash_open(write_part);
    hit(info_of(SIGTRAP, SI_TKILL));
    assert_true(is_action(SIGTRAP, application));
    close_report();
}

/* As in a container, where the application is the first process. */
static void the_first_thread_of_all_is_one_like_any_other(void **state)
{
    (void)state;
    open_report();
    system_says.thread = 1;
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_int_equal(1, writer.crash.thread);
    assert_int_equal(1, system_says.sent.thread);
    assert_true(is_action(SIGTRAP, application));
    close_report();
}

/* ---- one at a time ---- */

static atomic_bool reports, may_go_on;

static bool hold_the_floor(uint32_t part)
{
    if (part == 0) {
        atomic_store(&reports, true);
        while (!atomic_load(&may_go_on)) {
            weir__yield();
        }
    }
    return false;
}

static void let_go_on(void)
{
    atomic_store(&may_go_on, true);
}

/* Another thread is in the middle of its report. */
static weir__os_thread begin_to_report(siginfo_t *info)
{
    weir__os_thread other;
    atomic_store(&reports, false);
    atomic_store(&may_go_on, false);
    writer.act = hold_the_floor;
    writer.count = 0;
    assert_int_equal(0, weir__os_thread_start(&other, hit_aside, info));
    assert_true(TEST_AWAIT(atomic_load(&reports)));
    return other;
}

static void who_waits_in_vain_for_another_threads_report_goes_without_one(void **state)
{
    (void)state;
    open_report();
    siginfo_t info = info_of(SIGTRAP, SI_TKILL);
    weir__os_thread other = begin_to_report(&info);
    static const struct {
        int kind, waits;
    } waits[] = { { WAIT_TIMES_OUT, 1 }, { WAIT_ENDS, 3 } };
    for (size_t i = 0; i < 2; i++) {
        memset(&system_says, 0, sizeof(system_says));
        system_says.wait.kind = waits[i].kind;
        hit(info_of(SIGABRT, SI_TKILL));
        assert_int_equal(waits[i].waits, system_says.wait.count);
        assert_int_equal(10, system_says.wait.span.tv_sec);
        assert_int_equal(0, system_says.wait.span.tv_nsec);
        assert_int_equal(1, system_says.sent.count);
        assert_int_equal(1, writer.count); /* the other's */
    }
    let_go_on();
    weir__os_thread_join(&other);
    close_report();
}

static void who_waits_for_another_threads_report_reports_then(void **state)
{
    (void)state;
    open_report();
    siginfo_t info = info_of(SIGTRAP, SI_TKILL);
    weir__os_thread other = begin_to_report(&info);
    system_says.wait.kind = WAIT_IS_REAL;
    system_says.wait.before_real = let_go_on;
    hit(info_of(SIGABRT, SI_TKILL));
    weir__os_thread_join(&other);
    assert_int_equal(2, writer.count);
    assert_string_equal("SIGABRT", writer.crash.signal);
    assert_int_equal(getpid(), writer.crash.thread);
    assert_in_range(system_says.wait.count, 1, 3);
    close_report();
}

static void plain(int number)
{
    (void)number;
}

static void all_who_wait_are_woken_behind_a_report(void **state)
{
    (void)state;
    open_report();
    writer.act = say_nothing;
    hit(info_of(SIGTRAP, SI_TKILL));
    assert_int_equal(1, system_says.wait.wakes);
    assert_int_equal(INT32_MAX, system_says.wait.woken);

    weir__crash_close();
    (void)signal(SIGTRAP, plain); /* a handler of the simple kind is one, too */
    weir__crash_open(write_part);
    writer.act = two_parts;
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_int_equal(2, system_says.wait.wakes);
    close_report();
}

/* ---- the last word ---- */

/* Where the default comes next, the process ends: nobody else begins to speak. */
static void end_the_process(const void *stack)
{
    open_report();
    weir__crash_close();
    (void)signal(SIGTRAP, SIG_DFL);
    weir__crash_open(write_part);
    stack_pointer = stack;
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_true(is_default(SIGTRAP));
    assert_int_equal(0, system_says.wait.wakes);

    writer.count = 0;
    hit_heard(info_of(SIGABRT, SI_TIMER)); /* its timer comes late: that is no crash */
    assert_true(is_action(SIGABRT, handler));
    hit_heard(info_of(SIGABRT, SI_TKILL)); /* a fault on the way out of it */
    assert_true(is_default(SIGABRT));
    hit_another_thread(info_of(SIGBUS, SI_TKILL));
    assert_true(is_action(SIGBUS, application));
    assert_int_equal(0, writer.count);
    assert_string_equal("", said);

    weir__crash_after_fork(); /* in the child that is over */
    weir__crash_open(write_part);
    hit_heard(info_of(SIGFPE, SI_TKILL));
    assert_int_equal(3, writer.count);
    close_report();
}

static void nobody_reports_behind_a_report_that_ends_the_process(void **state)
{
    (void)state;
    end_the_process(fake_stack + sizeof(fake_stack) / 2);
    end_the_process((const void *)16); /* its last part crashes: nothing leads back there */
}

/* ---- engines come and go ---- */

static void the_handler_blocks_every_signal_and_has_a_stack_of_its_own(void **state)
{
    (void)state;
    open_report();
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        const struct sigaction now = action_of(fatal_signals[i]);
        assert_int_equal(SA_SIGINFO | SA_ONSTACK, now.sa_flags & ~0x04000000 /* the C library's */);
        assert_int_equal(1, sigismember(&now.sa_mask, SIGUSR1));
        assert_int_equal(1, sigismember(&now.sa_mask, SIGPIPE));
    }
    close_report();
}

static void leave_alone(int number, siginfo_t *info, void *frame)
{
    application(number, info, frame);
    atomic_store(&reports, true); /* so that it is another function */
}

static void the_unwinder_is_loaded_beforehand(void **state)
{
    (void)state;
    open_report();
    assert_int_equal(1, system_says.backtraces);
    close_report();
}

static void the_last_close_puts_back_what_was_there_and_no_other(void **state)
{
    (void)state;
    open_report();
    weir__crash_open(write_part);
    weir__crash_close();
    assert_true(is_action(SIGBUS, handler));
    set_action(SIGFPE, leave_alone);
    weir__crash_close();
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        assert_true(
            is_action(fatal_signals[i], fatal_signals[i] == SIGFPE ? leave_alone : application));
    }
    weir__crash_open(write_part);
    close_report();
}

/* The child's engines are none of the parent's, and the parent's handler is in force already. */
static void a_child_begins_anew_and_keeps_what_was_there_before_its_parent(void **state)
{
    (void)state;
    open_report();
    weir__crash_after_fork();
    weir__crash_open(write_part);
    assert_true(is_action(SIGSEGV, handler));
    weir__crash_close();
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        assert_true(is_action(fatal_signals[i], application));
    }
    weir__crash_open(write_part);
    close_report();
}

static void open_aside(void *unused)
{
    (void)unused;
    weir__crash_open(write_part);
}

static void wait_inside(void)
{
    atomic_store(&reports, true);
    while (!atomic_load(&may_go_on)) {
        weir__yield();
    }
}

static _Noreturn void open_in_the_child(void)
{
    (void)alarm(30); /* a lock that nobody lets go is a failed test, and no hang */
    system_says.in_backtrace = NULL;
    weir__crash_after_fork();
    weir__crash_open(write_part);
    const bool opened = is_action(SIGSEGV, handler);
    weir__crash_close();
    leave_counted(opened && is_action(SIGSEGV, application) ? 0 : 1);
}

static void a_child_is_not_kept_by_a_thread_that_was_opening_in_its_parent(void **state)
{
    (void)state;
    open_report();
    weir__crash_close();
    atomic_store(&reports, false);
    atomic_store(&may_go_on, false);
    system_says.in_backtrace = wait_inside;
    weir__os_thread thread;
    assert_int_equal(0, weir__os_thread_start(&thread, open_aside, NULL));
    const bool inside = TEST_AWAIT(atomic_load(&reports));
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        open_in_the_child();
    }
    let_go_on();
    weir__os_thread_join(&thread);
    int status = -1;
    assert_true(inside);
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_int_equal(0, status);
    close_report();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_there_before_is_put_back),
        cmocka_unit_test(a_signal_that_does_not_come_again_by_itself_is_sent_as_it_was),
        cmocka_unit_test(where_it_cannot_be_sent_as_it_was_it_is_sent_plainly),
        cmocka_unit_test(what_another_process_sends_is_passed_on_without_a_report),
        cmocka_unit_test(a_signal_that_a_thread_gets_back_takes_the_default_action),
        cmocka_unit_test(the_first_thread_of_all_is_one_like_any_other),
        cmocka_unit_test(who_waits_in_vain_for_another_threads_report_goes_without_one),
        cmocka_unit_test(who_waits_for_another_threads_report_reports_then),
        cmocka_unit_test(all_who_wait_are_woken_behind_a_report),
        cmocka_unit_test(nobody_reports_behind_a_report_that_ends_the_process),
        cmocka_unit_test(the_handler_blocks_every_signal_and_has_a_stack_of_its_own),
        cmocka_unit_test(the_unwinder_is_loaded_beforehand),
        cmocka_unit_test(the_last_close_puts_back_what_was_there_and_no_other),
        cmocka_unit_test(a_child_is_not_kept_by_a_thread_that_was_opening_in_its_parent),
        cmocka_unit_test(a_child_begins_anew_and_keeps_what_was_there_before_its_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
