/*
 * sync/crash_report_test.c - from a fatal signal to the end of its report: what the writer is told,
 * how often it is asked, which signals can interrupt it, and what cannot hold it up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "crash_call.h"

enum { PARTS_MAX = 8, STACK_NEAR = 65536 };
/* Of a frame that nobody knows, on a stack of zeros. */
#define STACK "  stack, innermost first:\n     1  [0x0]\n     2  [0x0]\n"
#define SORRY "  (this part of the report crashed itself)\n"

/* ---- what the writer is told ---- */

static void every_fatal_signal_has_its_name_and_the_thread_its_number(void **state)
{
    (void)state;
    open_report();
    static const char *const names[] = { "SIGSEGV", "SIGBUS",  "SIGILL",
                                         "SIGFPE",  "SIGTRAP", "SIGABRT" };
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        hit_heard(info_of(fatal_signals[i], SI_TKILL));
        assert_string_equal(names[i], writer.crash.signal);
        assert_int_equal(getpid(), writer.crash.thread); /* the first thread's number is that */
        assert_false(writer.crash.has_address);
        assert_false(writer.crash.stack_overflow);
    }
    close_report();
}

static weir__crash told_of(int number, int code, const void *address)
{
    siginfo_t info = info_of(number, code);
    info.si_addr = (void *)(uintptr_t)address;
    hit_heard(info);
    return writer.crash;
}

static void a_fault_has_an_address_if_the_processor_says_it(void **state)
{
    (void)state;
    open_report();
    static const struct {
        int number, code;
        bool has_address;
    } faults[] = {
        { SIGSEGV, SEGV_MAPERR, true }, { SIGSEGV, SEGV_ACCERR, true },
        { SIGBUS, BUS_ADRALN, true },   { SIGBUS, BUS_MCEERR_AO, true },
        { SIGSEGV, SI_KERNEL, false },  { SIGBUS, SI_KERNEL, false },
        { SIGSEGV, SI_USER, false },    { SIGSEGV, SI_TKILL, false },
        { SIGFPE, FPE_INTDIV, false },  { SIGILL, ILL_ILLOPN, false },
        { SIGTRAP, TRAP_BRKPT, false }, { SIGABRT, 1, false },
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        siginfo_t info = info_of(faults[i].number, faults[i].code);
        info.si_pid = getpid();
        if (faults[i].code > 0) {
            info.si_addr = &said[17];
        }
        hit_heard(info);
        assert_int_equal(faults[i].has_address, writer.crash.has_address);
        assert_int_equal(faults[i].has_address ? (uintptr_t)&said[17] : 0, writer.crash.address);
    }
    close_report();
}

static void an_address_near_the_stack_pointer_is_an_overflow_of_the_stack(void **state)
{
    (void)state;
    open_report();
    const char *top = stack_pointer;
    assert_true(told_of(SIGSEGV, SEGV_MAPERR, top).stack_overflow);
    assert_true(told_of(SIGSEGV, SEGV_MAPERR, top - STACK_NEAR).stack_overflow);
    assert_false(told_of(SIGSEGV, SEGV_MAPERR, top - STACK_NEAR - 1).stack_overflow);
    assert_true(told_of(SIGSEGV, SEGV_MAPERR, top + STACK_NEAR - 1).stack_overflow);
    assert_false(told_of(SIGSEGV, SEGV_MAPERR, top + STACK_NEAR).stack_overflow);
    assert_false(told_of(SIGBUS, BUS_ADRERR, top).stack_overflow);
    assert_false(told_of(SIGSEGV, SI_KERNEL, top).stack_overflow);
    assert_false(told_of(SIGSEGV, SEGV_MAPERR, NULL).stack_overflow);
    close_report();
}

/* ---- parts ---- */

static void the_writer_is_asked_for_one_part_after_the_other_then_the_stack_follows(void **state)
{
    (void)state;
    open_report();
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_int_equal(3, writer.count);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(i, writer.parts[i]);
    }
    assert_string_equal("first\nsecond\n" STACK, said);
    close_report();
}

static bool endless(uint32_t part)
{
    (void)part;
    return true;
}

static void a_report_has_at_most_eight_parts(void **state)
{
    (void)state;
    open_report();
    writer.act = endless;
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_int_equal(PARTS_MAX, writer.count);
    assert_int_equal(PARTS_MAX - 1, writer.parts[PARTS_MAX - 1]);
    assert_string_equal(STACK, said);
    close_report();
}

static bool none(uint32_t part)
{
    (void)part;
    return false;
}

static void who_has_nothing_to_say_shows_no_stack(void **state)
{
    (void)state;
    open_report();
    writer.act = none;
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_int_equal(1, writer.count);
    assert_string_equal("", said);
    close_report();
}

static bool crash_in_the_first(uint32_t part)
{
    if (part == 0) {
        weir__crash_write("half ", 5);
        (void)raise(SIGSEGV);
        weir__crash_write("never\n", 6);
    }
    return two_parts(part);
}

static void a_part_that_crashes_is_left_there_and_the_next_one_comes(void **state)
{
    (void)state;
    open_report();
    writer.act = crash_in_the_first;
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_string_equal("half " SORRY "second\n" STACK, said);
    assert_int_equal(3, writer.count);
    assert_int_equal(1, system_says.sent.count); /* the signal that was reported, once */
    assert_int_equal(SIGTRAP, system_says.sent.number);
    close_report();
}

static bool crash_always(uint32_t part)
{
    if (part < 2) {
        (void)raise(part == 0 ? SIGSEGV : SIGTRAP);
    }
    return two_parts(part);
}

static void so_are_all_that_do(void **state)
{
    (void)state;
    open_report();
    writer.act = crash_always;
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_string_equal(SORRY SORRY STACK, said);
    close_report();
}

static void a_stack_that_cannot_be_read_is_left_there(void **state)
{
    (void)state;
    open_report();
    stack_pointer = (const void *)16;
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_string_equal("first\nsecond\n  stack, innermost first:\n     1  [0x0]\n" SORRY, said);
    close_report();
}

/* ---- the time ---- */

/* As the timer would send it. */
static void time_is_over(void)
{
    siginfo_t info = info_of(SIGTRAP, SI_TIMER);
    (void)real_syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGTRAP, &info);
}

static bool hang_in_the_second(uint32_t part)
{
    if (part == 1) {
        time_is_over();
        weir__crash_write("never\n", 6);
    }
    return two_parts(part);
}

static void when_the_time_is_over_nothing_more_is_written(void **state)
{
    (void)state;
    open_report();
    writer.act = hang_in_the_second;
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_string_equal("first\n", said);
    assert_int_equal(2, writer.count);
    assert_int_equal(1, system_says.sent.count);

    weir__crash_close(); /* and the next report has time again */
    weir__crash_open(write_part);
    writer.act = two_parts;
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_string_equal("first\nsecond\n" STACK, said);
    close_report();
}

static void a_report_has_three_seconds_on_its_own_thread(void **state)
{
    (void)state;
    open_report();
    for (int id = 0; id < 2; id++) {
        memset(&system_says, 0, sizeof(system_says));
        system_says.timer.id = id;
        hit_heard(info_of(SIGFPE, FPE_INTDIV));
        assert_int_equal(1, system_says.timer.made);
        assert_int_equal(CLOCK_MONOTONIC, system_says.timer.clock);
        assert_int_equal(SIGEV_THREAD_ID, system_says.timer.event.sigev_notify);
        assert_int_equal(getpid(), system_says.timer.event._sigev_un._tid);
        assert_int_equal(SIGFPE, system_says.timer.event.sigev_signo);
        assert_int_equal(1, system_says.timer.set);
        assert_int_equal(id, system_says.timer.set_id);
        assert_int_equal(3, system_says.timer.span.it_value.tv_sec);
        assert_int_equal(0, system_says.timer.span.it_value.tv_nsec);
        assert_int_equal(0, system_says.timer.span.it_interval.tv_sec);
        assert_int_equal(1, system_says.timer.ended);
        assert_int_equal(id, system_says.timer.ended_id);
    }
    close_report();
}

static void without_a_timer_there_is_a_report_all_the_same(void **state)
{
    (void)state;
    open_report();
    system_says.timer.refused = true;
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_string_equal("first\nsecond\n" STACK, said);
    assert_int_equal(1, system_says.timer.made);
    assert_int_equal(0, system_says.timer.set);
    assert_int_equal(0, system_says.timer.ended);
    close_report();
}

/* ---- signals around it ---- */

static sigset_t in_writer;

static bool note_mask(uint32_t part)
{
    assert_int_equal(0, pthread_sigmask(SIG_BLOCK, NULL, &in_writer));
    return two_parts(part);
}

static void only_fatal_signals_are_opened_for_the_report_and_closed_behind_it(void **state)
{
    (void)state;
    open_report();
    sigset_t blocked;
    sigset_t before;
    sigset_t after;
    sigfillset(&blocked);
    assert_int_equal(0, pthread_sigmask(SIG_SETMASK, &blocked, &before));
    writer.act = note_mask;
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_int_equal(0, pthread_sigmask(SIG_SETMASK, &before, &after));
    for (int i = 1; i < SIGRTMAX; i++) {
        bool fatal = false;
        for (int k = 0; k < FATAL_SIGNALS; k++) {
            fatal = fatal || fatal_signals[k] == i;
        }
        if (i != SIGKILL && i != SIGSTOP && (i < 32 || i >= SIGRTMIN)) {
            assert_int_equal(fatal ? 0 : 1, sigismember(&in_writer, i));
            assert_int_equal(1, sigismember(&after, i));
        }
    }
    close_report();
}

static bool lose_the_reader(uint32_t part)
{
    if (part == 0) {
        (void)raise(SIGPIPE); /* it is blocked, as in a signal handler: it waits */
    }
    return two_parts(part);
}

static bool waits(int number)
{
    sigset_t pending;
    assert_int_equal(0, sigpending(&pending));
    return sigismember(&pending, number) == 1;
}

static void a_broken_pipe_of_the_report_is_forgotten_and_one_from_before_is_not(void **state)
{
    (void)state;
    open_report();
    sigset_t set;
    sigset_t before;
    const struct timespec now = { 0, 0 };
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGUSR1);
    assert_int_equal(0, pthread_sigmask(SIG_BLOCK, &set, &before));
    (void)raise(SIGUSR1);
    writer.act = lose_the_reader;
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_false(waits(SIGPIPE));
    assert_true(waits(SIGUSR1)); /* somebody else's */
    (void)raise(SIGPIPE);
    hit_heard(info_of(SIGTRAP, SI_TKILL));
    assert_true(waits(SIGPIPE));
    assert_int_equal(SIGUSR1, sigtimedwait(&set, NULL, &now));
    assert_int_equal(SIGPIPE, sigtimedwait(&set, NULL, &now));
    assert_int_equal(0, pthread_sigmask(SIG_SETMASK, &before, NULL));
    close_report();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fatal_signal_has_its_name_and_the_thread_its_number),
        cmocka_unit_test(a_fault_has_an_address_if_the_processor_says_it),
        cmocka_unit_test(an_address_near_the_stack_pointer_is_an_overflow_of_the_stack),
        cmocka_unit_test(the_writer_is_asked_for_one_part_after_the_other_then_the_stack_follows),
        cmocka_unit_test(a_report_has_at_most_eight_parts),
        cmocka_unit_test(who_has_nothing_to_say_shows_no_stack),
        cmocka_unit_test(a_part_that_crashes_is_left_there_and_the_next_one_comes),
        cmocka_unit_test(so_are_all_that_do),
        cmocka_unit_test(a_stack_that_cannot_be_read_is_left_there),
        cmocka_unit_test(when_the_time_is_over_nothing_more_is_written),
        cmocka_unit_test(a_report_has_three_seconds_on_its_own_thread),
        cmocka_unit_test(without_a_timer_there_is_a_report_all_the_same),
        cmocka_unit_test(only_fatal_signals_are_opened_for_the_report_and_closed_behind_it),
        cmocka_unit_test(a_broken_pipe_of_the_report_is_forgotten_and_one_from_before_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
