/*
 * fork_test.c - in a child after fork() every call answers E_INVALID, and the parent does not
 * notice (S-27).
 *
 * A child tells by its exit code which row of the list it found wrong: 0 is none. It has an alarm,
 * so that a lock which was held at the fork is a failed test and not a hang.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log_support.h"

#include <poll.h>
#include <sys/wait.h>

enum { CHILD_SECONDS = 60 };

/* What the parent had when it forked. */
typedef struct family {
    weir_engine *engine;
    weir_processor to;
    weir_thread loop;
    weir_signal signal;
    weir_block *block;
    test_log log;
    test_recorder recorder;
    weir_channel channel; /* and `to` is on it */
} family;

/* Each row is one call; a wrong answer ends the child with the row's number. */
#define ROW(number, condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            _exit(number);                                                                         \
        }                                                                                          \
    } while (0)

static void child_posts(family *f)
{
    const weir_event shared = {
        .type = &weir_bytes_type, .block = f->block, .size = 8, .data = weir_block_data(f->block)
    };
    const weir_event *events[] = { &shared, &shared };
    weir_status each[3] = { WEIR_OK, WEIR_OK, WEIR_OK };
    weir_block *block = NULL;
    weir_event kept = { .type = NULL };
    unsigned char memory[8] = { 0 };
    ROW(1, test_post(f->engine, f->to, 1) == WEIR_E_INVALID);
    ROW(2, weir_engine_post(f->engine, f->to, &shared) == WEIR_E_INVALID);
    ROW(3, weir_engine_post_batch(f->engine, &f->to, 1, events, 2, each) == 0);
    ROW(4, each[0] == WEIR_E_INVALID && each[1] == WEIR_E_INVALID && each[2] == WEIR_OK);
    ROW(5, weir_block_reserve(f->engine, 64, &block) == WEIR_E_INVALID);
    ROW(6, weir_block_adopt(f->engine, memory, 8, NULL, NULL, &block) == WEIR_E_INVALID);
    ROW(7, weir_event_keep(f->engine, WEIR_EVENT(number, 1), &kept) == WEIR_E_INVALID);
    ROW(8, weir_signal_post(f->signal, 1) == WEIR_E_INVALID);
    ROW(9, weir_engine_commit(f->engine, f->to, &shared) == WEIR_E_INVALID);
}

static void child_controls(family *f)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_processor_options *options = WEIR_PROCESSOR(.handler = test_recorder_handle);
    weir_processor out = { 0 };
    char name[8];
    ROW(20, weir_processor_add(f->engine, options, &error).id == 0);
    ROW(21, error.status == WEIR_E_INVALID && error.text[0] != '\0');
    ROW(22, weir_processor_add_many(f->engine, &options, 1, &out, NULL) == WEIR_E_INVALID);
    ROW(23, weir_processor_find(f->engine, "recorder").id == 0);
    ROW(24, weir_processor_name(f->engine, f->to, name, sizeof(name)) == 0);
    ROW(25, weir_processor_stop(f->engine, f->to, 0, NULL) == WEIR_E_INVALID);
    ROW(26, weir_processor_stop_async(f->engine, f->to, 0) == WEIR_E_INVALID);
    ROW(27, weir_engine_start(f->engine, NULL) == WEIR_E_INVALID);
    ROW(28, weir_thread_add(f->engine, NULL, NULL).id == 0);
    ROW(29, weir_thread_find(f->engine, "loop").id == 0);
    ROW(30, weir_assign(f->engine, WEIR_ROWS(WEIR_NAMES("x")), NULL) == WEIR_E_INVALID);
    ROW(31, weir_assign_strategy(
                f->engine,
                WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_SHARED, .dispatchers = WEIR_NAMES("x")),
                NULL) == WEIR_E_INVALID);
    ROW(32, weir_dispatcher_tune(f->engine, WEIR_DISPATCHER(.name = ""), NULL) == WEIR_E_INVALID);
    ROW(33, weir_thread_fd(f->engine, f->loop) == -1);
    ROW(34, weir_thread_run_once(f->engine, f->loop, 0) == WEIR_E_INVALID);
    ROW(35, weir_signal_open(f->engine, f->to, 0, NULL).id == 0);
    ROW(36, weir_processor_move(f->engine, f->to, "", NULL) == WEIR_E_INVALID);
    ROW(37, weir_processor_dispatcher(f->engine, f->to, name, sizeof(name)) == WEIR_E_INVALID);
    ROW(38, weir_thread_remove(f->engine, f->loop, NULL) == WEIR_E_INVALID);
}

static void child_speaks(family *f)
{
    const weir_channel x = f->channel;
    weir_delivery d = { 7, 7 };
    weir_channel_set set = { NULL, 0, 7 };
    weir_error error = WEIR_ERROR_INIT;
    ROW(70, weir_engine_broadcast(f->engine, x, WEIR_EVENT(number, 1), &d) == WEIR_E_INVALID);
    ROW(71, d.delivered == 0 && d.refused == 0);
    ROW(72, weir_channel_open(f->engine, "y", &error).id == 0);
    ROW(73, error.status == WEIR_E_INVALID);
    ROW(74, weir_channel_subscribe(f->engine, x, f->to) == WEIR_E_INVALID);
    ROW(75, weir_channel_unsubscribe(f->engine, x, f->to) == WEIR_E_INVALID);
    ROW(76, weir_channel_change(f->engine, f->to, WEIR_SUBSCRIBE, &x, 1, &set) == WEIR_E_INVALID);
    const weir_event *events[] = { WEIR_EVENT(number, 1) };
    weir_status status = WEIR_OK;
    ROW(78, weir_engine_broadcast_batch(f->engine, x, events, 1, &d, &status) == 0);
    ROW(79, status == WEIR_E_INVALID);
    ROW(77, weir_channel_request_change(f->engine, f->to, WEIR_SUBSCRIBE, &x, 1) == WEIR_E_INVALID);
}

static bool refuse_name(void *context, const char *name)
{
    (void)name;
    (*(int *)context)++;
    return true;
}

static void child_looks(family *f)
{
    weir_counters counters = WEIR_COUNTERS_INIT;
    weir_dispatcher_counters dispatcher = WEIR_DISPATCHER_COUNTERS_INIT;
    weir_thread_counters thread = WEIR_THREAD_COUNTERS_INIT;
    int names = 0;
    ROW(40, weir_engine_counters(f->engine, &counters) == WEIR_E_INVALID);
    ROW(41, weir_processor_counters(f->engine, f->to, &counters) == WEIR_E_INVALID);
    ROW(42, weir_dispatcher_counters_get(f->engine, "", &dispatcher) == WEIR_E_INVALID);
    ROW(43, weir_thread_counters_get(f->engine, f->loop, &thread) == WEIR_E_INVALID);
    weir_dispatcher_visit(f->engine, refuse_name, &names);
    ROW(44, names == 0);
    const size_t said = f->log.count;
    weir_log_write(f->engine, WEIR_LOG_ERROR, "child", "nobody hears this", NULL, 0);
    weir_log_level_set(f->engine, WEIR_LOG_DEBUG);
    ROW(45, f->log.count == said);
    weir_dead_letter letter = WEIR_DEAD_LETTER_INIT;
    ROW(46, weir_dead_letter_read(f->engine, 0, &letter, 1) == 0);
}

static void child_ends(family *f)
{
    ROW(60, weir_engine_stop(f->engine, 0, NULL) == WEIR_E_INVALID);
    ROW(61, weir_engine_stop_async(f->engine, 0) == WEIR_E_INVALID);
    ROW(62, weir_engine_wait(f->engine, WEIR_NOW, NULL) == WEIR_E_INVALID);
    weir_engine_destroy(f->engine);
}

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) != child) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Forks; the child makes every call of the list. Returns the row that was wrong, 0: none. */
static int run_child(family *f)
{
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(CHILD_SECONDS);
        child_looks(f);
        child_speaks(f);
        child_posts(f);
        child_controls(f);
        child_ends(f);
        _exit(0);
    }
    return child < 0 ? -1 : wait_for(child);
}

static void family_create(family *f)
{
    test_log_init(&f->log);
    test_recorder_init(&f->recorder, false);
    f->engine = test_engine_create(WEIR_ENGINE(.log = test_log_hook, .log_context = &f->log));
    (void)test_thread_add(f->engine, NULL);
    f->loop = test_thread_add(f->engine, WEIR_THREAD(.name = "loop", .external = true,
                                                     .dispatchers = WEIR_NAMES("loop")));
    f->to = test_processor_add(f->engine,
                               WEIR_PROCESSOR(.name = "recorder", .handler = test_recorder_handle,
                                              .argument = &f->recorder));
    weir_error error = WEIR_ERROR_INIT;
    f->signal = weir_signal_open(f->engine, f->to, 0, &error);
    f->channel = weir_channel_open(f->engine, "x", &error);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(f->engine, f->channel, f->to));
    test_error_none(&error);
    assert_int_equal(WEIR_OK, weir_block_reserve(f->engine, 64, &f->block));
}

static bool loop_is_readable(const family *f)
{
    struct pollfd fd = { .fd = weir_thread_fd(f->engine, f->loop), .events = POLLIN };
    return poll(&fd, 1, 0) == 1;
}

static void in_a_child_every_call_answers_e_invalid_and_destroy_is_harmless(void **state)
{
    (void)state;
    static family f;
    family_create(&f);
    assert_int_equal(0, run_child(&f)); /* before the start */
    test_engine_start(f.engine);
    TEST_UNTIL(weir_thread_run_once(f.engine, f.loop, 0) == 0);
    for (uint64_t n = 0; n < 10; n++) {
        assert_int_equal(0, run_child(&f));
        assert_false(loop_is_readable(&f)); /* the descriptor is shared with the child */
        assert_int_equal(WEIR_OK, test_post(f.engine, f.to, n));
    }
    weir_block_release(f.block);
    assert_int_equal(0, test_engine_counters(f.engine).block_bytes);
    assert_int_equal(WEIR_OK, weir_engine_stop_async(f.engine, 0));
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    TEST_UNTIL(((void)weir_thread_run_once(f.engine, f.loop, 0),
                weir_engine_wait(f.engine, WEIR_NOW, &report) == WEIR_OK));
    assert_int_equal(10, report.accepted);
    weir_engine_destroy(f.engine);
    test_recorder_saw_run(&f.recorder, 0, 10);
    assert_int_equal(0, test_log_matches(&f.log, WEIR_LOG_ERROR, "nobody", "hears"));
}

/* ---- while other threads are in the middle of everything ---- */

typedef struct busy {
    family *f;
    atomic_bool end;
    uint64_t accepted;
} busy;

static void *post_until_told(void *argument)
{
    busy *b = argument;
    while (!atomic_load(&b->end)) {
        b->accepted += test_post(b->f->engine, b->f->to, b->accepted) == WEIR_OK;
        weir_block *block = NULL;
        if (weir_block_reserve(b->f->engine, 100, &block) == WEIR_OK) {
            weir_block_release(block);
        }
    }
    return NULL;
}

static void *register_until_told(void *argument)
{
    busy *b = argument;
    while (!atomic_load(&b->end)) {
        const weir_processor p = weir_processor_add(
            b->f->engine, WEIR_PROCESSOR(.name = "brief", .handler = test_recorder_handle), NULL);
        (void)weir_processor_stop(b->f->engine, p, 0, NULL);
        weir_log_write(b->f->engine, WEIR_LOG_ERROR, "test", "busy", NULL, 0);
    }
    return NULL;
}

static void a_fork_in_the_middle_of_other_threads_calls_blocks_neither_side(void **state)
{
    (void)state;
    static family f;
    family_create(&f);
    test_engine_start(f.engine);
    busy posting = { .f = &f }, registering = { .f = &f };
    pthread_t threads[2];
    assert_int_equal(0, pthread_create(&threads[0], NULL, post_until_told, &posting));
    assert_int_equal(0, pthread_create(&threads[1], NULL, register_until_told, &registering));
    const uint64_t forks = test_load(100, 20);
    int wrong = 0;
    for (uint64_t n = 0; n < forks && wrong == 0; n++) {
        wrong = run_child(&f);
    }
    atomic_store(&posting.end, true);
    atomic_store(&registering.end, true);
    assert_int_equal(0, pthread_join(threads[0], NULL));
    assert_int_equal(0, pthread_join(threads[1], NULL));
    assert_int_equal(0, wrong);
    weir_block_release(f.block);
    assert_int_equal(WEIR_OK, weir_engine_stop_async(f.engine, 0));
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    TEST_UNTIL(((void)weir_thread_run_once(f.engine, f.loop, 0),
                weir_engine_wait(f.engine, WEIR_NOW, &report) == WEIR_OK));
    assert_int_equal(posting.accepted, report.handled);
    weir_engine_destroy(f.engine);
}

/* ---- from a handler ---- */

typedef struct forker {
    weir_processor other;
    int wrong;
    sem_t done;
} forker;

static weir_status fork_in_a_turn(void *state, weir_turn *turn, const weir_event *event)
{
    forker *f = state;
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(CHILD_SECONDS);
        const weir_event *events[] = { event, event };
        weir_status each[3] = { WEIR_OK, WEIR_OK, WEIR_OK }; /* the last one is not asked for */
        ROW(1, weir_turn_post(turn, f->other, event) == WEIR_E_INVALID);
        ROW(2, weir_turn_commit(turn, f->other, event) == WEIR_E_INVALID);
        ROW(3, weir_turn_post_batch(turn, &f->other, 1, events, 2, each) == 0);
        ROW(4, each[0] == WEIR_E_INVALID && each[1] == WEIR_E_INVALID && each[2] == WEIR_OK);
        ROW(5, weir_turn_reply(turn, event->from, event) == WEIR_E_INVALID);
        ROW(6, weir_turn_want_room(turn, f->other, 0) == WEIR_E_INVALID);
        ROW(9, weir_turn_watch(turn, f->other, 0) == WEIR_E_INVALID);
        ROW(10, weir_turn_unwatch(turn, f->other) == WEIR_E_INVALID);
        ROW(7, weir_engine_post(weir_turn_engine(turn), f->other, event) == WEIR_E_INVALID);
        ROW(8, weir_engine_stop(weir_turn_engine(turn), 0, NULL) < 0);
        ROW(9, weir_turn_broadcast(turn, (weir_channel){ 1 }, event) == WEIR_E_INVALID);
        weir_engine_destroy(weir_turn_engine(turn));
        _exit(0);
    }
    f->wrong = child < 0 ? -1 : wait_for(child);
    (void)sem_post(&f->done);
    return weir_turn_post(turn, f->other, event);
}

static void a_fork_in_a_handler_leaves_the_child_e_invalid_and_the_parent_well(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    forker f = { .wrong = -2 };
    assert_int_equal(0, sem_init(&f.done, 0, 0));
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 2));
    f.other = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
    const weir_processor self =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = fork_in_a_turn, .argument = &f));
    test_engine_start(engine);
    for (uint64_t n = 0; n < 5; n++) {
        assert_int_equal(WEIR_OK, test_post(engine, self, n));
        test_sem_wait(&f.done);
        assert_int_equal(0, f.wrong);
    }
    assert_int_equal(10, test_engine_end(engine).handled);
    test_recorder_saw_run(&recorder, 0, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_a_child_every_call_answers_e_invalid_and_destroy_is_harmless),
        cmocka_unit_test(a_fork_in_the_middle_of_other_threads_calls_blocks_neither_side),
        cmocka_unit_test(a_fork_in_a_handler_leaves_the_child_e_invalid_and_the_parent_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
