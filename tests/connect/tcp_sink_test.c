/*
 * tcp_sink_test.c - the sink `tcp-sink`: what it was given arrives, over as many connections as it
 * takes, and no event is torn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect_support.h"

/* A sink that connects to `port`, running. */
static weir_processor open_sink(bench *b, uint16_t port, const char *options)
{
    char all[256];
    snprintf(all, sizeof(all), "port = %u, reconnect-delay = 5 ms, reconnect-max = 20 ms, %s", port,
             options);
    bench_open(b);
    assert_int_equal(bench_add(b, &weir__tcp_sink_type, "out", all, NULL), WEIR_OK);
    bench_start(b);
    const weir_processor out = weir_processor_find(b->engine, "out");
    assert_true(out.id != 0);
    return out;
}

/* Posts the lines first ... last - 1, each `width` digits; waits for room where there is none. */
static void post_numbers(bench *b, weir_processor out, uint64_t first, uint64_t last, int width)
{
    for (uint64_t i = first; i < last; i++) {
        char text[1024];
        const int length = snprintf(text, sizeof(text), "%0*" PRIu64, width, i);
        const weir_event event = { .type = &weir_text_type,
                                   .data = text,
                                   .size = (uint32_t)length };
        weir_status status;
        while ((status = weir_engine_post(b->engine, out, &event)) == WEIR_FULL) {
            weir__yield(); /* ends: the sink writes, or meson ends the test */
        }
        assert_int_equal(status, WEIR_OK);
    }
}

/* Reads lines of `width` digits; they must follow on `first`. Returns the number after the last of
 * `count`. */
static uint64_t expect_numbers(int fd, uint64_t first, uint64_t count, int width)
{
    char text[1025];
    for (uint64_t i = first; i < first + count; i++) {
        assert_int_equal(test_receive(fd, text, (size_t)width + 1), width + 1);
        assert_int_equal(text[width], '\n');
        text[width] = '\0';
        assert_int_equal(strtoull(text, NULL, 10), i);
    }
    return first + count;
}

static void events_arrive_as_lines(void **unused)
{
    (void)unused;
    uint16_t port = 0;
    const int listener = test_listen(&port);
    bench b;
    const weir_processor out = open_sink(&b, port, "");
    const int peer = test_accept(listener);
    post_numbers(&b, out, 0, 1000, 8);
    expect_numbers(peer, 0, 1000, 8);
    assert_true(TEST_AWAIT(bench_figure(&b, "out", "events") == 1000));
    assert_int_equal(bench_figure(&b, "out", "bytes"), 9000);
    assert_int_equal(bench_figure(&b, "out", "connects"), 1);
    bench_stop(&b);
    assert_true(test_ended(peer));
    close(peer);
    close(listener);
    bench_close(&b);
}

static void or_with_their_length_before_them(void **unused)
{
    (void)unused;
    uint16_t port = 0;
    const int listener = test_listen(&port);
    bench b;
    const weir_processor out = open_sink(&b, port, "format = length-prefixed");
    const int peer = test_accept(listener);
    static char data[300];
    const weir_event event = { .type = &weir_bytes_type, .data = data, .size = sizeof(data) };
    assert_int_equal(weir_engine_post(b.engine, out, &event), WEIR_OK);
    char got[304];
    assert_int_equal(test_receive(peer, got, sizeof(got)), sizeof(got));
    assert_memory_equal(got, "\0\0\1\54", 4);
    close(peer);
    close(listener);
    bench_stop(&b);
    bench_close(&b);
}

static void what_comes_before_anybody_listens_arrives_when_somebody_does(void **unused)
{
    (void)unused;
    uint16_t port = 0;
    close(test_listen(&port)); /* a port that is free now */
    bench b;
    const weir_processor out = open_sink(&b, port, "");
    post_numbers(&b, out, 0, 100, 8);
    assert_true(TEST_AWAIT(bench_figure(&b, "out", "failures") >= 3));
    assert_int_equal(bench_figure(&b, "out", "events"), 0);
    assert_true(weir__load(&b.logged, acquire) >= 1);
    const int listener = test_listen(&port);
    const int peer = test_accept(listener);
    expect_numbers(peer, 0, 100, 8);
    close(peer);
    close(listener);
    bench_stop(&b);
    bench_close(&b);
}

/* The peer reads nothing, so events wait here; then it resets. What was not given to the kernel
 * arrives on the next connection, whole, without a gap. */
static void a_broken_connection_tears_no_event_and_skips_none_that_waited(void **unused)
{
    (void)unused;
    enum { WIDTH = 999, EVENTS = 20000 };
    uint16_t port = 0;
    const int listener = test_listen(&port);
    const int small = 4096;
    assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
    bench b;
    const weir_processor out = open_sink(&b, port, "buffer = 100000");
    int peer = test_accept(listener);
    uint64_t posted = 0;
    while (bench_figure(&b, "out", "full") == 0) { /* the kernel's buffers and ours are full */
        post_numbers(&b, out, posted, posted + 1, WIDTH);
        posted++;
        assert_true(posted < EVENTS);
    }
    const uint64_t gone = bench_figure(&b, "out", "events");
    assert_true(gone < posted);
    const struct linger reset = { .l_onoff = 1, .l_linger = 0 };
    assert_int_equal(setsockopt(peer, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
    close(peer);
    peer = test_accept(listener);
    char first[WIDTH + 2] = "";
    assert_int_equal(test_receive(peer, first, WIDTH + 1), WIDTH + 1);
    assert_int_equal(first[WIDTH], '\n');
    const uint64_t begin = strtoull(first, NULL, 10);
    fprintf(stderr, "# %" PRIu64 " posted, %" PRIu64 " gone, goes on with %" PRIu64 "\n", posted,
            gone, begin);
    assert_true(begin <= gone + 1); /* one may have gone while it was looked at */
    const uint64_t next = expect_numbers(peer, begin + 1, posted - begin - 1, WIDTH);
    assert_int_equal(next, posted);
    post_numbers(&b, out, posted, posted + 10, WIDTH);
    expect_numbers(peer, posted, 10, WIDTH);
    assert_int_equal(bench_figure(&b, "out", "connects"), 2);
    close(peer);
    close(listener);
    bench_stop(&b);
    bench_close(&b);
}

static void a_slow_reader_gets_everything_in_order(void **unused)
{
    (void)unused;
    enum { EVENTS = 30000, WIDTH = 399 }; /* far more than the kernel takes on the way */
    uint16_t port = 0;
    const int listener = test_listen(&port);
    const int small = 4096;
    assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
    bench b;
    const weir_processor out = open_sink(&b, port, "buffer = 2000");
    const int peer = test_accept(listener);
    uint64_t posted = 0, read = 0;
    while (posted < EVENTS) {
        char text[512];
        const int length = snprintf(text, sizeof(text), "%0*" PRIu64, WIDTH, posted);
        const weir_event event = { .type = &weir_text_type,
                                   .data = text,
                                   .size = (uint32_t)length };
        const weir_status status = weir_engine_post(b.engine, out, &event);
        posted += status == WEIR_OK;
        if (status != WEIR_FULL) {
            continue;
        }
        /* Its mailbox is full. Somebody reads a little, but not before the connection takes no
         * more: else it might be read as fast as it is written. */
        if (bench_figure(&b, "out", "full") == 0) {
            weir__yield();
        } else if (read + 100 <= posted) {
            read = expect_numbers(peer, read, 100, WIDTH);
        }
    }
    expect_numbers(peer, read, EVENTS - read, WIDTH);
    assert_true(bench_figure(&b, "out", "full") >= 1);
    close(peer);
    close(listener);
    bench_stop(&b);
    bench_close(&b);
}

static void a_peer_that_closes_is_connected_to_again(void **unused)
{
    (void)unused;
    uint16_t port = 0;
    const int listener = test_listen(&port);
    bench b;
    const weir_processor out = open_sink(&b, port, "");
    for (uint64_t i = 0; i < 5; i++) {
        const int peer = test_accept(listener);
        assert_true(TEST_AWAIT(bench_figure(&b, "out", "connects") == i + 1));
        post_numbers(&b, out, i, i + 1, 8);
        expect_numbers(peer, i, 1, 8);
        close(peer);
    }
    assert_true(TEST_AWAIT(bench_figure(&b, "out", "failures") >= 5));
    close(listener);
    bench_stop(&b);
    bench_close(&b);
}

static void a_stop_sees_to_it_that_all_is_written(void **unused)
{
    (void)unused;
    enum { EVENTS = 5000 };
    uint16_t port = 0;
    const int listener = test_listen(&port);
    bench b;
    const weir_processor out = open_sink(&b, port, "");
    post_numbers(&b, out, 0, EVENTS, 8);
    bench_stop(&b);
    const int peer = test_accept(listener);
    expect_numbers(peer, 0, EVENTS, 8);
    assert_true(test_ended(peer));
    close(peer);
    close(listener);
    bench_close(&b);
}

static void stop_it(void *argument)
{
    bench *b = argument;
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    (void)weir_components_stop(b->engine, 30 * WEIR_S, &report);
}

/* Nobody listens when the stop begins: it waits for what was accepted. */
static void a_stop_waits_for_a_connection_that_comes_in_time(void **unused)
{
    (void)unused;
    uint16_t port = 0;
    close(test_listen(&port));
    bench b;
    const weir_processor out = open_sink(&b, port, "");
    post_numbers(&b, out, 0, 3, 8);
    assert_true(TEST_AWAIT(bench_figure(&b, "out", "failures") >= 1));
    weir__os_thread thread;
    assert_int_equal(weir__os_thread_start(&thread, stop_it, &b), 0);
    const uint64_t failures = bench_figure(&b, "out", "failures");
    assert_true(TEST_AWAIT(bench_figure(&b, "out", "failures") >= failures + 2));
    const int listener = test_listen(&port);
    const int peer = test_accept(listener);
    expect_numbers(peer, 0, 3, 8);
    weir__os_thread_join(&thread);
    close(peer);
    close(listener);
    bench_close(&b);
}

static void an_event_that_never_fits_is_counted_and_blocks_nobody(void **unused)
{
    (void)unused;
    uint16_t port = 0;
    const int listener = test_listen(&port);
    bench b;
    const weir_processor out = open_sink(&b, port, "buffer = 1024");
    const int peer = test_accept(listener);
    static char huge[5000];
    const weir_event event = { .type = &weir_text_type, .data = huge, .size = sizeof(huge) };
    assert_int_equal(weir_engine_post(b.engine, out, &event), WEIR_OK);
    post_numbers(&b, out, 0, 1, 8);
    expect_numbers(peer, 0, 1, 8);
    assert_int_equal(bench_figure(&b, "out", "too-large"), 1);
    close(peer);
    close(listener);
    bench_stop(&b);
    bench_close(&b);
}

static void a_stop_while_nobody_listens_ends_and_says_what_is_left(void **unused)
{
    (void)unused;
    uint16_t port = 0;
    close(test_listen(&port));
    bench b;
    const weir_processor out = open_sink(&b, port, "");
    post_numbers(&b, out, 0, 3, 8);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    const weir_ns began = weir_time_now(b.engine);
    (void)weir_components_stop(b.engine, 300 * WEIR_MS, &report);
    assert_true(weir_time_now(b.engine) - began < 10 * WEIR_S);
    assert_true(TEST_AWAIT(weir__load(&b.logged, acquire) >= 1));
    bench_close(&b);
}

static int with_two_threads(void **unused)
{
    (void)unused;
    bench_threads = 2;
    return 0;
}

static int with_one_thread(void **unused)
{
    (void)unused;
    bench_threads = 1;
    return 0;
}

#define ON_TWO(test)                                                                               \
    {                                                                                              \
#test "_on_two_threads", test, with_two_threads, with_one_thread, NULL                     \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_arrive_as_lines),
        ON_TWO(events_arrive_as_lines),
        cmocka_unit_test(or_with_their_length_before_them),
        ON_TWO(or_with_their_length_before_them),
        cmocka_unit_test(what_comes_before_anybody_listens_arrives_when_somebody_does),
        ON_TWO(what_comes_before_anybody_listens_arrives_when_somebody_does),
        cmocka_unit_test(a_broken_connection_tears_no_event_and_skips_none_that_waited),
        ON_TWO(a_broken_connection_tears_no_event_and_skips_none_that_waited),
        cmocka_unit_test(a_slow_reader_gets_everything_in_order),
        ON_TWO(a_slow_reader_gets_everything_in_order),
        cmocka_unit_test(a_peer_that_closes_is_connected_to_again),
        ON_TWO(a_peer_that_closes_is_connected_to_again),
        cmocka_unit_test(a_stop_sees_to_it_that_all_is_written),
        ON_TWO(a_stop_sees_to_it_that_all_is_written),
        cmocka_unit_test(a_stop_waits_for_a_connection_that_comes_in_time),
        ON_TWO(a_stop_waits_for_a_connection_that_comes_in_time),
        cmocka_unit_test(an_event_that_never_fits_is_counted_and_blocks_nobody),
        ON_TWO(an_event_that_never_fits_is_counted_and_blocks_nobody),
        cmocka_unit_test(a_stop_while_nobody_listens_ends_and_says_what_is_left),
        ON_TWO(a_stop_while_nobody_listens_ends_and_says_what_is_left),
    };
    return cmocka_run_group_tests_name("tcp_sink", tests, NULL, NULL);
}
