/*
 * engine/agent_poll_test.c - agents with descriptors: a ready one gets the thread up, whatever it
 * sleeps in, and so does everything that did before; external threads have theirs in the one
 * descriptor that the application polls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

#include <fcntl.h>
#include <poll.h>

#include "engine/agent.h"

/* Reads what comes through a pipe. It names no time: only the pipe brings its calls. */
typedef struct reader {
    int ends[2];
    atomic_uint_least64_t bytes, calls;
    _Atomic bool pass_over; /* leaves it unread */
    _Atomic weir_ns next;   /* a span; FOREVER: none */
    weir__agent *agent;
    _Atomic weir_status status; /* of the last poll */
} reader;

static int32_t read_pipe(void *context, weir_ns *next)
{
    reader *r = context;
    char buffer[64];
    atomic_fetch_add(&r->calls, 1);
    const weir_ns span = atomic_load(&r->next);
    *next = span == WEIR_FOREVER ? span : test_now() + span;
    if (atomic_load(&r->pass_over)) {
        return 0;
    }
    const ssize_t got = read(r->ends[0], buffer, sizeof(buffer));
    atomic_fetch_add(&r->bytes, got > 0 ? (uint64_t)got : 0);
    return got > 0 ? (int32_t)got : 0;
}

static void watch_pipe(void *argument)
{
    reader *r = argument;
    atomic_store(&r->status, weir__agent_poll(r->agent, r->ends[0], true, false));
}

static void forget_pipe(void *argument)
{
    reader *r = argument;
    atomic_store(&r->status, weir__agent_poll(r->agent, r->ends[0], false, false));
}

static void reader_join(reader *r, weir_engine *engine, weir_thread thread)
{
    const weir__agent_plan plan = { .name = "reader", .do_work = read_pipe, .context = r };
    *r = (reader){ .ends = { -1, -1 } };
    atomic_store(&r->next, WEIR_FOREVER);
    assert_int_equal(0, pipe2(r->ends, O_NONBLOCK | O_CLOEXEC));
    weir_error error = WEIR_ERROR_INIT;
    r->agent = weir__agent_join(engine, thread, &plan, &error);
    test_error_none(&error);
}

static void reader_watch(reader *r)
{
    assert_int_equal(WEIR_OK, weir__agent_call(r->agent, watch_pipe, r));
    assert_int_equal(WEIR_OK, atomic_load(&r->status));
}

static void reader_leave(reader *r)
{
    weir__agent_leave(r->agent);
    (void)close(r->ends[0]);
    (void)close(r->ends[1]);
}

static void feed(const reader *r, size_t bytes)
{
    static const char some[64];
    assert_int_equal(bytes, write(r->ends[1], some, bytes));
}

/* A thread that never sleeps makes tens of thousands of rounds in this time, one that does none: it
 * is watched for that long, and nothing is waited for. */
static uint64_t calls_while_nothing_happens(const reader *r)
{
    const uint64_t begin = atomic_load(&r->calls);
    assert_int_equal(0, poll(NULL, 0, 100));
    return atomic_load(&r->calls) - begin;
}

static const weir_idle strategies[] = { WEIR_IDLE_PARK,  WEIR_IDLE_BACKOFF,   WEIR_IDLE_SLEEP,
                                        WEIR_IDLE_YIELD, WEIR_IDLE_BUSY_SPIN, WEIR_IDLE_NOOP };
enum { STRATEGIES = sizeof(strategies) / sizeof(strategies[0]) };

static void a_ready_descriptor_gets_its_thread_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < STRATEGIES; i++) {
        weir_engine *engine = test_engine_create(NULL);
        const weir_thread thread =
            test_thread_add(engine, WEIR_THREAD(.idle = strategies[i], .idle_sleep = 600 * WEIR_S));
        reader r;
        test_engine_start(engine);
        reader_join(&r, engine, thread);
        reader_watch(&r);
        for (uint64_t n = 1; n <= 200; n++) {
            feed(&r, 1);
            TEST_UNTIL(atomic_load(&r.bytes) == n);
        }
        reader_leave(&r);
        weir_engine_destroy(engine);
    }
}

/* Posts, wake-ups, calls and the stop find a thread that sleeps elsewhere now. */
static void one_with_descriptors_is_woken_by_all_that_woke_it_before(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        weir_engine *engine = test_engine_create(NULL);
        const weir_thread thread = test_thread_add(engine, WEIR_THREAD(.idle = strategies[i]));
        test_recorder recorder;
        test_recorder_init(&recorder, false);
        const weir_processor to = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
        reader r, next;
        test_engine_start(engine);
        reader_join(&r, engine, thread);
        reader_watch(&r);
        for (uint64_t n = 0; n < 200; n++) {
            assert_int_equal(WEIR_OK, test_post(engine, to, n));
            TEST_UNTIL(test_recorder_handled(&recorder) == n + 1);
            const uint64_t calls = atomic_load(&r.calls);
            weir__agent_wake(r.agent);
            TEST_UNTIL(atomic_load(&r.calls) > calls);
            reader_watch(&r);
            reader_join(&next, engine, thread);
            TEST_UNTIL(atomic_load(&next.calls) > 0);
            reader_leave(&next);
        }
        atomic_store(&r.next, 5 * WEIR_MS);
        weir__agent_wake(r.agent);
        const uint64_t calls = atomic_load(&r.calls);
        TEST_UNTIL(atomic_load(&r.calls) > calls + 100); /* deadlines alone */
        reader_leave(&r);
        assert_int_equal(200, test_engine_end(engine).handled);
    }
}

static void one_that_is_not_read_keeps_the_thread_up_until_it_is_forgotten(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = test_thread_add(engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK));
    reader r;
    test_engine_start(engine);
    reader_join(&r, engine, thread);
    atomic_store(&r.pass_over, true);
    reader_watch(&r);
    feed(&r, 10);
    const uint64_t begin = atomic_load(&r.calls);
    TEST_UNTIL(atomic_load(&r.calls) > begin + 1000);
    assert_int_equal(WEIR_OK, weir__agent_call(r.agent, forget_pipe, &r));
    assert_int_equal(WEIR_OK, weir__agent_call(r.agent, forget_pipe, &r)); /* of nothing: nothing */
    const uint64_t calls = calls_while_nothing_happens(&r);
    reader_leave(&r);
    weir_engine_destroy(engine);
    assert_in_range(calls, 0, 100);
}

/* One that leaves takes its descriptors along, or the thread would never sleep again. */
static void what_an_agent_has_watched_is_forgotten_when_it_leaves(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread =
        test_thread_add(engine, WEIR_THREAD(.name = "host", .idle = WEIR_IDLE_PARK));
    reader stays, r;
    test_engine_start(engine);
    reader_join(&stays, engine, thread);
    reader_join(&r, engine, thread);
    reader_watch(&r);
    atomic_store(&r.pass_over, true);
    feed(&r, 1);
    weir__agent_leave(r.agent); /* the pipe stays open, and ready */
    const uint64_t calls = calls_while_nothing_happens(&stays);
    (void)close(r.ends[0]);
    (void)close(r.ends[1]);
    reader_leave(&stays);
    weir_engine_destroy(engine);
    assert_in_range(calls, 0, 100); /* last: no thread is left to spin through the next case */
}

typedef struct many {
    weir__agent *agent;
    weir_status statuses[65];
    weir_status bad, again;
} many;

static void watch_many(void *argument)
{
    many *m = argument;
    for (int i = 0; i < 65; i++) {
        int ends[2];
        m->statuses[i] = pipe2(ends, O_CLOEXEC) == 0
                             ? weir__agent_poll(m->agent, ends[0], true, false)
                             : WEIR_E_SYSTEM;
    }
    m->bad = weir__agent_poll(m->agent, -1, false, true);
}

static void an_agent_watches_64_at_most(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = test_thread_add(engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK));
    reader r;
    test_engine_start(engine);
    reader_join(&r, engine, thread);
    many m = { .agent = r.agent };
    assert_int_equal(WEIR_OK, weir__agent_call(r.agent, watch_many, &m));
    for (int i = 0; i < 65; i++) {
        assert_int_equal(i < 64 ? WEIR_OK : WEIR_E_LIMIT, m.statuses[i]);
    }
    reader_leave(&r);
    weir_engine_destroy(engine);
}

static void watch_nonsense(void *argument)
{
    many *m = argument;
    m->bad = weir__agent_poll(m->agent, -1, true, false);
    m->again = weir__agent_poll(m->agent, 1 << 28, false, true);
}

static void what_the_system_refuses_is_an_error(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = test_thread_add(engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK));
    reader r;
    test_engine_start(engine);
    reader_join(&r, engine, thread);
    many m = { .agent = r.agent };
    assert_int_equal(WEIR_OK, weir__agent_call(r.agent, watch_nonsense, &m));
    assert_int_equal(WEIR_E_SYSTEM, m.bad);
    assert_int_equal(WEIR_E_SYSTEM, m.again);
    reader_watch(&r);
    feed(&r, 3);
    TEST_UNTIL(atomic_load(&r.bytes) == 3);
    reader_leave(&r);
    weir_engine_destroy(engine);
}

/* The next thread on a seat sleeps in the poller that is there, from its first wait on. */
static void a_seat_whose_thread_had_descriptors_is_as_good_as_new(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    (void)test_thread_add(engine, WEIR_THREAD(.name = "spare"));
    test_engine_start(engine);
    for (int i = 0; i < 20; i++) {
        const weir_thread thread =
            test_thread_add(engine, WEIR_THREAD(.name = "host", .idle = strategies[i % 2]));
        reader r;
        reader_join(&r, engine, thread);
        reader_watch(&r);
        feed(&r, 2);
        TEST_UNTIL(atomic_load(&r.bytes) == 2);
        reader_leave(&r);
        assert_int_equal(WEIR_OK, weir_thread_remove(engine, thread, NULL));
    }
    weir_engine_destroy(engine);
}

/* ---- external threads ---- */

static bool is_readable(weir_engine *engine, weir_thread thread, int timeout_ms)
{
    struct pollfd fd = { .fd = weir_thread_fd(engine, thread), .events = POLLIN };
    assert_true(fd.fd >= 0);
    return poll(&fd, 1, timeout_ms) == 1 && (fd.revents & POLLIN) != 0;
}

static void turn(weir_engine *engine, weir_thread thread)
{
    while (is_readable(engine, thread, 0)) {
        assert_true(weir_thread_run_once(engine, thread, 0) >= 0);
    }
}

static void *call_from_elsewhere(void *argument)
{
    reader *r = argument;
    (void)weir__agent_call(r->agent, watch_pipe, r);
    return NULL;
}

static void an_external_thread_is_readable_when_a_descriptor_of_its_agents_is(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = test_thread_add(engine, WEIR_THREAD(.external = true));
    reader r;
    test_engine_start(engine);
    reader_join(&r, engine, thread);
    turn(engine, thread);
    pthread_t other;
    atomic_store(&r.status, WEIR_TIMEOUT);
    assert_int_equal(0, pthread_create(&other, NULL, call_from_elsewhere, &r));
    TEST_UNTIL((turn(engine, thread), atomic_load(&r.status) == WEIR_OK));
    assert_int_equal(0, pthread_join(other, NULL));
    turn(engine, thread);
    for (uint64_t n = 1; n <= 50; n++) {
        assert_false(is_readable(engine, thread, 0));
        feed(&r, 1);
        assert_true(is_readable(engine, thread, 0));
        turn(engine, thread);
        assert_int_equal(n, atomic_load(&r.bytes));
        weir__agent_wake(r.agent);
        assert_true(is_readable(engine, thread, 0));
        turn(engine, thread);
    }
    feed(&r, 1);
    weir__agent_leave(r.agent); /* nobody turns it: at once */
    assert_false(is_readable(engine, thread, 0));
    (void)close(r.ends[0]);
    (void)close(r.ends[1]);
    test_external_end(engine, thread);
}

static void an_external_thread_is_readable_when_a_deadline_of_its_agents_has_come(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = test_thread_add(engine, WEIR_THREAD(.external = true));
    reader r;
    test_engine_start(engine);
    reader_join(&r, engine, thread);
    atomic_store(&r.next, 20 * WEIR_MS);
    turn(engine, thread);
    for (int n = 0; n < 5; n++) {
        const uint64_t calls = atomic_load(&r.calls);
        const weir_ns begin = test_now();
        assert_true(is_readable(engine, thread, (int)(TEST_PATIENCE / WEIR_MS)));
        assert_true(test_now() - begin > 5 * WEIR_MS); /* that the poll returned is its doing */
        assert_true(weir_thread_run_once(engine, thread, 0) >= 0);
        assert_true(atomic_load(&r.calls) > calls);
    }
    reader_leave(&r);
    assert_true(weir_thread_run_once(engine, thread, 0) >= 0);
    assert_false(is_readable(engine, thread, 50)); /* the alarm is off */
    test_external_end(engine, thread);
}

/* A loop that polls for ever must not spin on what nobody serves any more. */
static void an_external_thread_of_a_stopped_engine_is_quiet(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = test_thread_add(engine, WEIR_THREAD(.external = true));
    reader r;
    test_engine_start(engine);
    reader_join(&r, engine, thread);
    atomic_store(&r.next, 5 * WEIR_MS);
    pthread_t other;
    atomic_store(&r.status, WEIR_TIMEOUT);
    assert_int_equal(0, pthread_create(&other, NULL, call_from_elsewhere, &r));
    TEST_UNTIL((turn(engine, thread), atomic_load(&r.status) == WEIR_OK));
    assert_int_equal(0, pthread_join(other, NULL));
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, WEIR_S, NULL));
    feed(&r, 1);
    const uint64_t calls = atomic_load(&r.calls);
    TEST_UNTIL((weir_thread_run_once(engine, thread, 0), !is_readable(engine, thread, 20)));
    assert_false(is_readable(engine, thread, 20));
    assert_int_equal(calls, atomic_load(&r.calls));
    reader_leave(&r);
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ready_descriptor_gets_its_thread_up),
        cmocka_unit_test(one_with_descriptors_is_woken_by_all_that_woke_it_before),
        cmocka_unit_test(one_that_is_not_read_keeps_the_thread_up_until_it_is_forgotten),
        cmocka_unit_test(what_an_agent_has_watched_is_forgotten_when_it_leaves),
        cmocka_unit_test(an_agent_watches_64_at_most),
        cmocka_unit_test(what_the_system_refuses_is_an_error),
        cmocka_unit_test(a_seat_whose_thread_had_descriptors_is_as_good_as_new),
        cmocka_unit_test(an_external_thread_is_readable_when_a_descriptor_of_its_agents_is),
        cmocka_unit_test(an_external_thread_is_readable_when_a_deadline_of_its_agents_has_come),
        cmocka_unit_test(an_external_thread_of_a_stopped_engine_is_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
