/*
 * crash_chain_test.c - the crash report and everybody else: handlers of the application's, before
 * and after; engines that come and go; several threads; a standard error that nobody reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "crash_support.h"

#include <time.h>
#include <ucontext.h>

#if defined(__SANITIZE_THREAD__)
#define TEST_TSAN 1
#else
#define TEST_TSAN 0
#endif

enum { APPLICATION_LEFT = 42 };

static weir_status crash_at_once(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    crash_now();
    return WEIR_OK;
}

static weir_status abort_at_once(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    abort();
}

/* An engine of one processor, "orders"; the event is in its mailbox. */
static weir_engine *engine_with(weir_handler handler)
{
    weir_engine *engine = scene_engine(NULL);
    scene_post(engine, scene_add(engine, WEIR_PROCESSOR(.name = "orders", .handler = handler)), 1);
    return engine;
}

static _Noreturn void run(weir_engine *engine)
{
    scene_start(engine);
    wait_for_the_end();
}

static void say(const char *text)
{
    const ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

/* ---- a handler that was there before ---- */

static void leave_with_a_word(int number, siginfo_t *info, void *frame)
{
    (void)frame;
    say(number == SIGSEGV && (char *)info->si_addr == forbidden + 8 ? "application: right address\n"
                                                                    : "application: wrong\n");
    leave_counted(APPLICATION_LEFT);
}

static void crash_with_a_handler_before(void)
{
    set_handler(SIGSEGV, leave_with_a_word);
    run(engine_with(crash_at_once));
}

static void a_handler_of_the_applications_runs_after_the_report_with_the_same_address(void **state)
{
    (void)state;
    run_scene(crash_with_a_handler_before);
    left_with(APPLICATION_LEFT);
    reported_once("weir: SIGSEGV");
    assert_non_null(strstr(strstr(ended.text, "  stack,"), "application: right address\n"));
}

static void speak_and_return(int number)
{
    (void)number;
    say("application: returns\n");
}

/* Not inside weir's handler, where every signal is blocked. */
static void look_where_it_hit(int number, siginfo_t *info, void *frame)
{
    (void)number;
    const ucontext_t *context = frame;
    const bool as_it_was = sigismember(&context->uc_sigmask, SIGSYS) == 0;
    say(as_it_was && info->si_code == SI_TKILL ? "application: in the handler\n"
                                               : "application: elsewhere\n");
}

static void abort_with_a_handler_before(void)
{
    set_handler(SIGABRT, look_where_it_hit);
    run(engine_with(abort_at_once));
}

static void abort_with_a_plain_handler_before(void)
{
    (void)signal(SIGABRT, speak_and_return);
    run(engine_with(abort_at_once));
}

static void an_abort_passes_through_the_applications_handler_and_stays_an_abort(void **state)
{
    (void)state;
    run_scene(abort_with_a_plain_handler_before);
    died_of(SIGABRT);
    reported_once("weir: SIGABRT");
    assert_int_equal(1, count_of(ended.text, "application: returns\n"));
    run_scene(abort_with_a_handler_before);
    died_of(SIGABRT);
    reported_once("weir: SIGABRT");
    said("application: in the handler\n");
}

static weir_status touch_then_abort(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    if (event->size == 1) {
        crash_now();
        say("application: went on\n");
        SCENE_NEEDS(forbidden[8] == 1);
        return WEIR_OK;
    }
    abort();
}

static void recover_then_abort(void)
{
    set_handler(SIGSEGV, allow);
    weir_engine *engine = engine_with(touch_then_abort);
    scene_post(engine, weir_processor_find(engine, "orders"), 2);
    run(engine);
}

static void a_handler_that_repairs_the_fault_goes_on_and_the_next_crash_is_reported(void **state)
{
    (void)state;
    run_scene(recover_then_abort);
    died_of(SIGABRT);
    assert_int_equal(1, count_of(ended.text, "weir: SIGSEGV"));
    assert_int_equal(1, count_of(ended.text, "application: went on\n"));
    assert_int_equal(1, count_of(ended.text, "weir: SIGABRT"));
}

/* ---- one that comes later ---- */

static void crash_with_a_handler_after(void)
{
    weir_engine *engine = engine_with(crash_at_once);
    set_handler(SIGSEGV, leave_with_a_word);
    run(engine);
}

static struct sigaction passed_over;

static void pass_on(int number, siginfo_t *info, void *frame)
{
    say("application: first\n");
    passed_over.sa_sigaction(number, info, frame);
}

static void crash_with_a_handler_that_passes_on(void)
{
    weir_engine *engine = engine_with(crash_at_once);
    const struct sigaction action = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO };
    SCENE_NEEDS(sigaction(SIGSEGV, &action, &passed_over) == 0);
    run(engine);
}

/* It keeps weir's handler beyond the engine's life; the next engine finds it in front. */
static void crash_with_two_handlers_that_point_at_each_other(void)
{
    weir_engine *first = scene_engine(NULL);
    const struct sigaction action = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO };
    SCENE_NEEDS(sigaction(SIGSEGV, &action, &passed_over) == 0);
    weir_engine_destroy(first);
    run(engine_with(crash_at_once));
}

static void a_later_handler_gets_the_signal_first_and_may_pass_it_on(void **state)
{
    (void)state;
    run_scene(crash_with_a_handler_after);
    left_with(APPLICATION_LEFT);
    said("application: right address\n");
    said_nothing_of("weir");

    run_scene(crash_with_a_handler_that_passes_on);
    died_of(SIGSEGV);
    reported_once("weir: SIGSEGV");
    assert_int_equal(1, count_of(ended.text, "application: first\n"));

    run_scene(crash_with_two_handlers_that_point_at_each_other);
    died_of(SIGSEGV);
    said("weir: SIGSEGV");
}

static struct sigaction brought_along[FATAL_SIGNALS]; /* before cmocka has put up its own */

static void note_what_the_build_brings_along(void)
{
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        (void)sigaction(fatal_signals[i], NULL, &brought_along[i]);
    }
}

static void crash_with_the_builds_own_handlers(void)
{
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        SCENE_NEEDS(sigaction(fatal_signals[i], &brought_along[i], NULL) == 0);
    }
    run(engine_with(crash_at_once));
}

/* A sanitizer watches for crashes as well; a plain build has nobody who does. */
static void what_the_build_brings_along_has_the_last_word(void **state)
{
    (void)state;
    run_scene(crash_with_the_builds_own_handlers);
    reported_once("weir: SIGSEGV");
    if (TEST_SANITIZED) {
        assert_non_null(strstr(strstr(ended.text, "  stack,"), "Sanitizer"));
    } else {
        died_of(SIGSEGV);
    }
}

/* ---- engines come and go ---- */

static bool dispositions_are_default(void)
{
    bool all = true;
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        struct sigaction now;
        SCENE_NEEDS(sigaction(fatal_signals[i], NULL, &now) == 0);
        all = all && is_default_action(&now);
    }
    return all;
}

static void look_at_dispositions(void)
{
    SCENE_NEEDS(dispositions_are_default());
    weir_engine *off = scene_engine(WEIR_ENGINE(.crash_report = WEIR_CRASH_REPORT_OFF));
    SCENE_NEEDS(dispositions_are_default());
    weir_engine *first = scene_engine(NULL);
    SCENE_NEEDS(!dispositions_are_default());
    weir_engine *second = scene_engine(WEIR_ENGINE(.crash_report = WEIR_CRASH_REPORT_ON));
    weir_engine_destroy(first);
    SCENE_NEEDS(!dispositions_are_default());
    weir_engine_destroy(second);
    SCENE_NEEDS(dispositions_are_default());
    first = scene_engine(NULL);
    (void)signal(SIGSEGV, speak_and_return);
    weir_engine_destroy(first);
    struct sigaction now;
    SCENE_NEEDS(sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_handler == speak_and_return);
    weir_engine_destroy(off);
}

static void signals_are_as_before_when_the_last_engine_is_gone(void **state)
{
    (void)state;
    run_scene(look_at_dispositions);
    left_with(SCENE_OVER);
}

static void crash_in_the_second_of_two(void)
{
    weir_engine *first = scene_engine(NULL);
    weir_engine *second = engine_with(crash_at_once);
    weir_engine_destroy(first);
    run(second);
}

static void crash_with_the_report_off(void)
{
    weir_engine *other = scene_engine(NULL);
    scene_start(other);
    weir_engine *engine = scene_engine(WEIR_ENGINE(.crash_report = WEIR_CRASH_REPORT_OFF));
    scene_post(engine, scene_add(engine, WEIR_PROCESSOR(.handler = crash_at_once)), 1);
    run(engine);
}

static void an_engine_that_wants_no_report_gets_none_whatever_others_want(void **state)
{
    (void)state;
    run_scene(crash_in_the_second_of_two);
    died_of(SIGSEGV);
    reported_once("weir: SIGSEGV");
    run_scene(crash_with_the_report_off);
    died_of(SIGSEGV);
    said_nothing();
}

static weir_status crash_in_a_child(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    const pid_t child = fork_counted();
    if (child == 0) {
        crash_now();
    }
    int status = 0;
    SCENE_NEEDS(waitpid(child, &status, 0) == child);
    SCENE_NEEDS(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    leave_counted(APPLICATION_LEFT);
}

static void crash_a_child_of_a_handler(void)
{
    run(engine_with(crash_in_a_child));
}

/* The parent's engines are void there, and its own count by themselves. */
static void crash_with_an_engine_of_the_childs_own(void)
{
    scene_start(scene_engine(NULL));
    const pid_t child = fork_counted();
    if (child == 0) {
        weir_engine_destroy(scene_engine(NULL));
        SCENE_NEEDS(dispositions_are_default());
        run(engine_with(crash_at_once));
    }
    int status = 0;
    SCENE_NEEDS(waitpid(child, &status, 0) == child);
    SCENE_NEEDS(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    SCENE_NEEDS(!dispositions_are_default());
}

static void a_child_that_a_handler_forks_reports_as_well(void **state)
{
    (void)state;
    run_scene(crash_a_child_of_a_handler);
    left_with(APPLICATION_LEFT);
    reported_once("weir: SIGSEGV");
    said("in the handler of processor \"orders\"\n");
}

static void a_child_with_an_engine_of_its_own_reports_as_well(void **state)
{
    (void)state;
    if (TEST_TSAN) {
        test_skip("TSan starts no threads in a child of a program with threads");
    }
    run_scene(crash_with_an_engine_of_the_childs_own);
    left_with(SCENE_OVER);
    reported_once("weir: SIGSEGV");
}

/* ---- several at once, and signals that were sent ---- */

enum { CROWD = 4 };
static pthread_barrier_t together;

static weir_status crash_together(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)pthread_barrier_wait(&together);
    if (event->size % 2 == 0) {
        abort();
    }
    crash_now();
    return WEIR_OK;
}

static void crash_in_a_crowd(void)
{
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        (void)signal(fatal_signals[i], SIG_DFL); /* nobody comes back from it, to count or else */
    }
    weir_engine *engine = scene_engine(WEIR_ENGINE(.threads = CROWD));
    SCENE_NEEDS(pthread_barrier_init(&together, NULL, CROWD) == 0);
    for (uint32_t i = 0; i < CROWD; i++) {
        scene_post(engine, scene_add(engine, WEIR_PROCESSOR(.handler = crash_together)), i);
    }
    run(engine);
}

static void of_several_threads_that_crash_at_once_one_reports(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        run_scene(crash_in_a_crowd);
        assert_true(WIFSIGNALED(ended.status));
        reported_once(WTERMSIG(ended.status) == SIGABRT ? "weir: SIGABRT" : "weir: SIGSEGV");
    }
}

static weir_status sit_in_a_handler(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    say("sits\n");
    wait_for_the_end();
}

static void be_killed_in_a_handler(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGABRT);
    weir_engine *engine = engine_with(sit_in_a_handler);
    /* So it can hit the engine's thread only. */
    SCENE_NEEDS(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    run(engine);
}

static void a_signal_that_another_process_sends_is_nobodys_crash(void **state)
{
    (void)state;
    int reading;
    const pid_t child = begin_scene(be_killed_in_a_handler, &reading);
    const size_t length = read_until(reading, "sits\n");
    assert_int_equal(0, kill(child, SIGABRT));
    read_all(reading, length);
    end_scene(child);
    (void)close(reading);
    died_of(SIGABRT);
    said_nothing_of("weir");
}

/* ---- a report in trouble ---- */

static weir_event_type broken_type; /* its name cannot be read */

static void crash_with_a_broken_type(void)
{
    broken_type = (weir_event_type){ .struct_size = sizeof(broken_type), .name = forbidden };
    weir_engine *engine = scene_engine(WEIR_ENGINE(.name = "main"));
    const weir_processor to =
        scene_add(engine, WEIR_PROCESSOR(.name = "orders", .handler = crash_at_once));
    const weir_event event = { .type = &broken_type };
    SCENE_NEEDS(weir_engine_post(engine, to, &event) == WEIR_OK);
    run(engine);
}

static void a_part_of_the_report_that_crashes_itself_is_left_out(void **state)
{
    (void)state;
    run_scene(crash_with_a_broken_type);
    died_of(SIGSEGV);
    reported_once("in the handler of processor \"orders\"\n"
                  "  (this part of the report crashed itself)\n"
                  "  engine \"main\", thread \"weir-0\" (");
    assert_int_equal(2, count_of(ended.text, "  (this part of the report crashed itself)\n"));
}

/* On the application's own thread: there SIGPIPE is open. */
static void crash_on_an_external_thread(void)
{
    weir_engine *engine = scene_engine(NULL);
    const weir_thread thread = scene_thread(engine, WEIR_THREAD(.external = true));
    scene_post(engine, scene_add(engine, WEIR_PROCESSOR(.handler = crash_at_once)), 1);
    scene_start(engine);
    (void)weir_thread_run_once(engine, thread, 0);
}

static void speak_to_nobody(void)
{
    int ends[2];
    SCENE_NEEDS(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    SCENE_NEEDS(close(ends[0]) == 0);
    crash_on_an_external_thread();
}

static void speak_nowhere(void)
{
    (void)close(STDERR_FILENO);
    crash_on_an_external_thread();
}

static void a_standard_error_that_is_gone_does_not_change_the_signal(void **state)
{
    (void)state;
    run_scene(speak_to_nobody);
    died_of(SIGSEGV);
    run_scene(speak_nowhere);
    died_of(SIGSEGV);
}

static void speak_to_someone_who_does_not_listen(void)
{
    weir_engine *engine = engine_with(crash_at_once);
    fill_standard_error();
    run(engine);
}

static void a_standard_error_that_nobody_reads_does_not_keep_the_process_alive(void **state)
{
    (void)state;
    int reading;
    const time_t begin = time(NULL);
    const pid_t child = begin_scene(speak_to_someone_who_does_not_listen, &reading);
    end_scene(child);
    (void)close(reading);
    died_of(SIGSEGV);
    assert_in_range(time(NULL) - begin, 0, CHILD_SECONDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_of_the_applications_runs_after_the_report_with_the_same_address),
        cmocka_unit_test(an_abort_passes_through_the_applications_handler_and_stays_an_abort),
        cmocka_unit_test(a_handler_that_repairs_the_fault_goes_on_and_the_next_crash_is_reported),
        cmocka_unit_test(a_later_handler_gets_the_signal_first_and_may_pass_it_on),
        cmocka_unit_test(what_the_build_brings_along_has_the_last_word),
        cmocka_unit_test(signals_are_as_before_when_the_last_engine_is_gone),
        cmocka_unit_test(an_engine_that_wants_no_report_gets_none_whatever_others_want),
        cmocka_unit_test(a_child_that_a_handler_forks_reports_as_well),
        cmocka_unit_test(a_child_with_an_engine_of_its_own_reports_as_well),
        cmocka_unit_test(of_several_threads_that_crash_at_once_one_reports),
        cmocka_unit_test(a_signal_that_another_process_sends_is_nobodys_crash),
        cmocka_unit_test(a_part_of_the_report_that_crashes_itself_is_left_out),
        cmocka_unit_test(a_standard_error_that_is_gone_does_not_change_the_signal),
        cmocka_unit_test(a_standard_error_that_nobody_reads_does_not_keep_the_process_alive),
    };
    note_what_the_build_brings_along();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
