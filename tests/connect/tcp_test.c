/*
 * tcp_test.c - the source `tcp` over real sockets: frames however they are cut, peers that are
 * slow, hostile, gone in the middle, too many or idle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect_support.h"

static uint16_t open_tcp(bench *b, const char *options)
{
    char all[512];
    snprintf(all, sizeof(all), "port = 0, %s", options);
    bench_open(b);
    bench_source(b, &weir__tcp_type, "in", all);
    bench_start(b);
    const uint16_t port = weir__connect_port(b->engine, "in");
    assert_true(port != 0);
    return port;
}

static void done(bench *b)
{
    bench_stop(b);
    bench_close(b);
}

static void lines_become_events_in_their_order(void **unused)
{
    (void)unused;
    bench b;
    const uint16_t port = open_tcp(&b, "");
    const int fd = test_connect(port);
    assert_true(test_send(fd, "one\ntwo\r\n\nlast", 14));
    assert_true(TEST_AWAIT(bench_count(&b) == 3));
    assert_string_equal(bench_text(&b, 0), "one");
    assert_string_equal(bench_text(&b, 1), "two");
    assert_string_equal(bench_text(&b, 2), "");
    assert_int_equal(b.heard.kinds[0], 't');
    close(fd); /* a last line needs no newline */
    assert_true(TEST_AWAIT(bench_count(&b) == 4));
    assert_string_equal(bench_text(&b, 3), "last");
    assert_true(TEST_AWAIT(bench_figure(&b, "in", "connections") == 0));
    assert_int_equal(bench_figure(&b, "in", "bytes"), 14);
    assert_int_equal(bench_figure(&b, "in", "frames"), 4);
    done(&b);
}

/* The first part has certainly been read before the second one is sent. */
static void a_frame_that_is_cut_at_any_byte_is_whole(void **unused)
{
    (void)unused;
    static const char stream[] = "\0\0\0\3abc\0\0\0\0\0\0\0\2de";
    const size_t size = sizeof(stream) - 1;
    bench b;
    const uint16_t port = open_tcp(&b, "format = length-prefixed");
    for (size_t cut = 0; cut <= size; cut++) {
        const uint64_t bytes = bench_figure(&b, "in", "bytes");
        const uint64_t count = bench_count(&b);
        const int fd = test_connect(port);
        assert_true(test_send(fd, stream, cut));
        assert_true(TEST_AWAIT(bench_figure(&b, "in", "bytes") == bytes + cut));
        assert_true(test_send(fd, stream + cut, size - cut));
        assert_true(TEST_AWAIT(bench_count(&b) == count + 3));
        assert_string_equal(bench_text(&b, count), "abc");
        assert_int_equal(b.heard.sizes[count + 1], 0);
        assert_string_equal(bench_text(&b, count + 2), "de");
        assert_int_equal(b.heard.kinds[count], 'b');
        close(fd);
    }
    assert_int_equal(bench_figure(&b, "in", "bad-frames"), 0);
    done(&b);
}

static void what_is_not_json_is_counted_and_said_and_left_out(void **unused)
{
    (void)unused;
    bench b;
    const uint16_t port = open_tcp(&b, "format = json-lines");
    const int fd = test_connect(port);
    static const char text[] = "{\"a\":1}\nnot json\n{\"a\":2}\n";
    assert_true(test_send(fd, text, sizeof(text) - 1));
    assert_true(TEST_AWAIT(bench_count(&b) == 2));
    assert_string_equal(bench_text(&b, 1), "{\"a\":2}");
    assert_int_equal(bench_figure(&b, "in", "bad-frames"), 1);
    assert_true(TEST_AWAIT(weir__load(&b.logged, acquire) >= 1));
    close(fd);
    done(&b);
}

static void a_length_that_lies_ends_its_connection_and_no_other(void **unused)
{
    (void)unused;
    bench b;
    const uint16_t port = open_tcp(&b, "format = length-prefixed, max-line = 1000");
    const int good = test_connect(port);
    const int bad = test_connect(port);
    assert_true(test_send(good, "\0\0\0\5he", 6));
    assert_true(test_send(bad, "\0\0\0\1x\377\377\377\377", 9));
    assert_true(test_ended(bad));
    assert_true(test_send(good, "llo", 3));
    assert_true(TEST_AWAIT(bench_count(&b) == 2));
    assert_string_equal(bench_text(&b, 0), "x");
    assert_string_equal(bench_text(&b, 1), "hello");
    assert_int_equal(bench_figure(&b, "in", "bad-frames"), 1);
    close(good);
    close(bad);
    done(&b);
}

/* Sixteen megabytes without a newline: memory stays bounded (the framer's own test looks at that),
 * and the next line is as good as any. */
static void a_giant_line_is_dropped_or_cut(void **unused)
{
    (void)unused;
    enum { GIANT = 16 << 20 };
    char *giant = malloc(GIANT);
    memset(giant, 'x', GIANT);
    for (int cut = 0; cut < 2; cut++) {
        bench b;
        const uint16_t port =
            open_tcp(&b, cut ? "max-line = 1000, too-long = cut" : "max-line = 1000");
        const int fd = test_connect(port);
        assert_true(test_send(fd, giant, GIANT));
        assert_true(test_send(fd, "\nnext\n", 6));
        assert_true(TEST_AWAIT(bench_count(&b) == (cut ? 2u : 1u)));
        assert_string_equal(bench_text(&b, (size_t)cut), "next");
        if (cut) {
            assert_int_equal(b.heard.sizes[0], 1000);
        }
        assert_int_equal(bench_figure(&b, "in", "bad-frames"), 1);
        assert_int_equal(bench_figure(&b, "in", "bytes"), GIANT + 6);
        close(fd);
        done(&b);
    }
    free(giant);
}

static void a_frame_of_the_largest_size_arrives_whole(void **unused)
{
    (void)unused;
    enum { LARGE = 1 << 20 };
    bench b;
    const uint16_t port = open_tcp(&b, "format = length-prefixed, max-line = 1 MiB");
    char *large = calloc(1, LARGE + 4);
    large[1] = 0x10;
    const int fd = test_connect(port);
    assert_true(test_send(fd, large, LARGE + 4));
    assert_true(TEST_AWAIT(bench_count(&b) == 1));
    assert_int_equal(b.heard.sizes[0], LARGE);
    free(large);
    close(fd);
    done(&b);
}

static void a_peer_that_resets_loses_its_cut_line_only(void **unused)
{
    (void)unused;
    bench b;
    const uint16_t port = open_tcp(&b, "");
    const int fd = test_connect(port);
    assert_true(test_send(fd, "whole\ncut", 9));
    assert_true(TEST_AWAIT(bench_count(&b) == 1));
    const struct linger reset = { .l_onoff = 1, .l_linger = 0 };
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
    close(fd);
    assert_true(TEST_AWAIT(bench_figure(&b, "in", "connections") == 0));
    assert_int_equal(bench_figure(&b, "in", "reset"), 1);
    assert_int_equal(bench_figure(&b, "in", "bad-frames"), 1);
    assert_int_equal(bench_count(&b), 1);
    done(&b);
}

static void a_peer_that_only_shuts_its_side_is_read_to_its_end(void **unused)
{
    (void)unused;
    bench b;
    const uint16_t port = open_tcp(&b, "");
    const int fd = test_connect(port);
    assert_true(test_send(fd, "a\nb", 3));
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    assert_true(TEST_AWAIT(bench_count(&b) == 2));
    assert_true(test_ended(fd));
    assert_string_equal(bench_text(&b, 1), "b");
    close(fd);
    done(&b);
}

static void a_length_prefixed_frame_that_ends_early_is_bad(void **unused)
{
    (void)unused;
    bench b;
    const uint16_t port = open_tcp(&b, "format = length-prefixed");
    const int fd = test_connect(port);
    assert_true(test_send(fd, "\0\0\0\5abc", 7));
    close(fd);
    assert_true(TEST_AWAIT(bench_figure(&b, "in", "bad-frames") == 1));
    assert_true(TEST_AWAIT(bench_figure(&b, "in", "connections") == 0));
    assert_int_equal(bench_count(&b), 0);
    done(&b);
}

/* The consumer takes nothing: the source stops reading, the kernel's buffers fill, and the peer
 * cannot send. Then all of it arrives, in order. */
static void a_slow_consumer_slows_its_peer_down_and_nothing_is_lost(void **unused)
{
    (void)unused;
    bench b;
    const uint16_t port = open_tcp(&b, "read-size = 4 KiB");
    weir__store(&b.heard.shut, 1, release);
    const int fd = test_connect(port);
    uint64_t sent = 0;
    char line[32];
    int length = snprintf(line, sizeof(line), "%015" PRIu64 "\n", sent);
    bool stuck = false;
    while (!stuck) {
        struct pollfd wait = { .fd = fd, .events = POLLOUT };
        if (poll(&wait, 1, 1000) == 0 && bench_figure(&b, "in", "paused") == 1) {
            stuck = true; /* for a second, and there is no other reason */
            break;
        }
        const ssize_t got = send(fd, line, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (got > 0) {
            assert_int_equal(got, length); /* 16 bytes: the kernel takes all or nothing */
            sent++;
            length = snprintf(line, sizeof(line), "%015" PRIu64 "\n", sent);
        }
    }
    assert_int_equal(bench_count(&b), 0);
    assert_true(
        TEST_AWAIT(bench_warned(&b, "has waited for room"))); /* and says what it waits for */
    weir__store(&b.heard.shut, 0, release);
    assert_true(test_send(fd, line, (size_t)length));
    sent++;
    assert_true(TEST_AWAIT(bench_count(&b) == sent));
    fprintf(stderr, "# %" PRIu64 " lines waited in the kernel and here\n", sent);
    for (uint64_t i = 0; i < sent; i++) {
        assert_int_equal(strtoull(bench_text(&b, i), NULL, 10), i);
    }
    assert_true(bench_figure(&b, "in", "pauses") >= 1);
    assert_int_equal(bench_figure(&b, "in", "paused"), 0);
    close(fd);
    done(&b);
}

/* What a peer has sent before its end arrives although the consumer was shut at that moment. */
static void an_end_that_comes_while_it_waits_is_seen_after_the_rest(void **unused)
{
    (void)unused;
    enum { LINES = 20000 };
    bench b;
    const uint16_t port = open_tcp(&b, "");
    weir__store(&b.heard.shut, 1, release);
    const int fd = test_connect(port);
    char *text = malloc(LINES * 6 + 16);
    for (size_t i = 0; i < LINES; i++) {
        snprintf(text + i * 6, 16, "%05d\n", (int)i);
    }
    assert_true(test_send(fd, text, LINES * 6));
    close(fd);
    free(text);
    assert_true(TEST_AWAIT(bench_figure(&b, "in", "paused") == 1));
    weir__store(&b.heard.shut, 0, release);
    assert_true(TEST_AWAIT(bench_count(&b) == LINES));
    assert_true(TEST_AWAIT(bench_figure(&b, "in", "connections") == 0));
    assert_string_equal(bench_text(&b, LINES - 1), "19999");
    done(&b);
}

static void an_idle_connection_is_closed_and_a_busy_one_is_not(void **unused)
{
    (void)unused;
    bench b;
    const uint16_t port = open_tcp(&b, "idle-timeout = 300 ms");
    const weir_ns began = weir_time_now(b.engine);
    const int busy = test_connect(port); /* first: who came first is not who is heard of least */
    const int idle = test_connect(port);
    uint64_t sent = 0;
    struct pollfd wait = { .fd = idle, .events = POLLIN };
    while (poll(&wait, 1, 20) == 0) { /* ends: it is closed, or meson ends the test */
        assert_true(test_send(busy, "x\n", 2));
        sent++;
    }
    assert_true(weir_time_now(b.engine) - began >= 300 * WEIR_MS);
    assert_true(test_ended(idle));
    assert_true(TEST_AWAIT(bench_count(&b) == sent));
    assert_int_equal(bench_figure(&b, "in", "idle"), 1);
    assert_int_equal(bench_figure(&b, "in", "connections"), 1);
    assert_true(test_ended(busy)); /* now it is its turn */
    assert_int_equal(bench_figure(&b, "in", "idle"), 2);
    close(idle);
    close(busy);
    done(&b);
}

static void one_connection_too_many_is_refused_and_counted(void **unused)
{
    (void)unused;
    bench b;
    const uint16_t port = open_tcp(&b, "max-connections = 2");
    const int first = test_connect(port);
    const int second = test_connect(port);
    assert_true(TEST_AWAIT(bench_figure(&b, "in", "connections") == 2));
    const int third = test_connect(port);
    assert_true(test_ended(third));
    assert_int_equal(bench_figure(&b, "in", "refused"), 1);
    close(first);
    assert_true(TEST_AWAIT(bench_figure(&b, "in", "connections") == 1));
    const int fourth = test_connect(port);
    assert_true(test_send(fourth, "in\n", 3));
    assert_true(TEST_AWAIT(bench_count(&b) == 1));
    close(second);
    close(third);
    close(fourth);
    done(&b);
}

static void a_port_that_is_taken_is_an_error_that_names_it(void **unused)
{
    (void)unused;
    uint16_t port = 0;
    const int taken = test_listen(&port);
    bench b;
    bench_open(&b);
    char options[64];
    snprintf(options, sizeof(options), "port = %u", port);
    bench_source(&b, &weir__tcp_type, "in", options);
    assert_int_equal(weir_components_start(b.engine, &b.error), WEIR_E_SYSTEM);
    char text[512];
    weir_error_format(&b.error, text, sizeof(text));
    assert_non_null(strstr(text, "in"));
    assert_non_null(strstr(text, "address already in use"));
    close(taken);
    bench_close(&b);
}

static void an_address_that_is_none_is_an_error(void **unused)
{
    (void)unused;
    bench b;
    bench_open(&b);
    bench_source(&b, &weir__tcp_type, "in", "port = 0, address = \"300.1.2.3.4 x\"");
    assert_int_equal(weir_components_start(b.engine, &b.error), WEIR_E_CONFIG);
    assert_non_null(strstr(b.error.text, "300.1.2.3.4"));
    bench_close(&b);
}

static void stopping_with_open_connections_closes_them(void **unused)
{
    (void)unused;
    bench b;
    const uint16_t port = open_tcp(&b, "");
    int fds[10];
    for (int i = 0; i < 10; i++) {
        fds[i] = test_connect(port);
        assert_true(test_send(fds[i], "half", 4));
    }
    assert_true(TEST_AWAIT(bench_figure(&b, "in", "bytes") == 40));
    bench_stop(&b);
    for (int i = 0; i < 10; i++) {
        assert_true(test_ended(fds[i]));
        close(fds[i]);
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_become_events_in_their_order),
        cmocka_unit_test(a_frame_that_is_cut_at_any_byte_is_whole),
        cmocka_unit_test(what_is_not_json_is_counted_and_said_and_left_out),
        cmocka_unit_test(a_length_that_lies_ends_its_connection_and_no_other),
        cmocka_unit_test(a_giant_line_is_dropped_or_cut),
        cmocka_unit_test(a_frame_of_the_largest_size_arrives_whole),
        cmocka_unit_test(a_peer_that_resets_loses_its_cut_line_only),
        cmocka_unit_test(a_peer_that_only_shuts_its_side_is_read_to_its_end),
        cmocka_unit_test(a_length_prefixed_frame_that_ends_early_is_bad),
        cmocka_unit_test(a_slow_consumer_slows_its_peer_down_and_nothing_is_lost),
        cmocka_unit_test(an_end_that_comes_while_it_waits_is_seen_after_the_rest),
        cmocka_unit_test(an_idle_connection_is_closed_and_a_busy_one_is_not),
        cmocka_unit_test(one_connection_too_many_is_refused_and_counted),
        cmocka_unit_test(a_port_that_is_taken_is_an_error_that_names_it),
        cmocka_unit_test(an_address_that_is_none_is_an_error),
        cmocka_unit_test(stopping_with_open_connections_closes_them),
    };
    return cmocka_run_group_tests_name("tcp", tests, NULL, NULL);
}
