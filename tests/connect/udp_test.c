/*
 * udp_test.c - the source `udp` and the sink `udp-sink`: datagrams whole, as lines, too long, and
 * when nobody has room.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect_support.h"

static int open_udp(bench *b, const char *options, struct sockaddr_in *to)
{
    char all[256];
    snprintf(all, sizeof(all), "port = 0, %s", options);
    bench_open(b);
    bench_source(b, &weir__udp_type, "in", all);
    bench_start(b);
    *to = (struct sockaddr_in){ .sin_family = AF_INET,
                                .sin_port = htons(weir__connect_port(b->engine, "in")),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    return fd;
}

static void send_to(int fd, const struct sockaddr_in *to, const void *data, size_t size)
{
    assert_int_equal(sendto(fd, data, size, 0, (const struct sockaddr *)to, sizeof(*to)), size);
}

static void each_line_of_a_datagram_is_an_event(void **unused)
{
    (void)unused;
    bench b;
    struct sockaddr_in to;
    const int fd = open_udp(&b, "", &to);
    send_to(fd, &to, "one\ntwo\r\nthree", 14);
    send_to(fd, &to, "", 0);
    send_to(fd, &to, "four", 4);
    assert_true(TEST_AWAIT(bench_count(&b) == 4));
    assert_string_equal(bench_text(&b, 1), "two");
    assert_string_equal(bench_text(&b, 2), "three"); /* a line does not go on in the next one */
    assert_string_equal(bench_text(&b, 3), "four");
    assert_int_equal(bench_figure(&b, "in", "datagrams"), 3);
    close(fd);
    bench_stop(&b);
    bench_close(&b);
}

static void a_datagram_is_one_event_if_that_is_asked_for(void **unused)
{
    (void)unused;
    bench b;
    struct sockaddr_in to;
    const int fd = open_udp(&b, "format = bytes", &to);
    send_to(fd, &to, "a\nb\0c", 5);
    send_to(fd, &to, "", 0);
    assert_true(TEST_AWAIT(bench_count(&b) == 2));
    assert_int_equal(b.heard.sizes[0], 5);
    assert_int_equal(b.heard.kinds[0], 'b');
    assert_int_equal(b.heard.sizes[1], 0);
    close(fd);
    bench_stop(&b);
    bench_close(&b);
}

static void what_is_not_json_is_left_out(void **unused)
{
    (void)unused;
    bench b;
    struct sockaddr_in to;
    const int fd = open_udp(&b, "format = json-lines", &to);
    send_to(fd, &to, "{}\nno\n[1]", 9);
    assert_true(TEST_AWAIT(bench_count(&b) == 2));
    assert_string_equal(bench_text(&b, 1), "[1]");
    assert_int_equal(bench_figure(&b, "in", "bad-frames"), 1);
    close(fd);
    bench_stop(&b);
    bench_close(&b);
}

static void a_datagram_that_is_too_long_is_counted_and_left_out(void **unused)
{
    (void)unused;
    bench b;
    struct sockaddr_in to;
    const int fd = open_udp(&b, "max-datagram = 10, format = text", &to);
    send_to(fd, &to, "0123456789", 10);
    send_to(fd, &to, "0123456789x", 11);
    send_to(fd, &to, "after", 5);
    assert_true(TEST_AWAIT(bench_count(&b) == 2));
    assert_string_equal(bench_text(&b, 0), "0123456789");
    assert_string_equal(bench_text(&b, 1), "after");
    assert_int_equal(bench_figure(&b, "in", "truncated"), 1);
    close(fd);
    bench_stop(&b);
    bench_close(&b);
}

static void the_largest_datagram_arrives_whole(void **unused)
{
    (void)unused;
    bench b;
    struct sockaddr_in to;
    const int fd = open_udp(&b, "format = text", &to);
    static char large[65507];
    memset(large, 'x', sizeof(large));
    send_to(fd, &to, large, sizeof(large));
    assert_true(TEST_AWAIT(bench_count(&b) == 1));
    assert_int_equal(b.heard.sizes[0], sizeof(large));
    close(fd);
    bench_stop(&b);
    bench_close(&b);
}

/* A datagram of more lines than the feed has room for, and some behind it in the kernel. */
static void no_room_keeps_the_datagram_in_hand_and_the_rest_in_the_kernel(void **unused)
{
    (void)unused;
    enum { LINES = 10000 };
    bench b;
    struct sockaddr_in to;
    const int fd = open_udp(&b, "receive-buffer = 128 KiB", &to);
    weir__store(&b.heard.shut, 1, release);
    static char text[LINES * 6 + 16];
    for (size_t i = 0; i < LINES; i++) {
        snprintf(text + i * 6, 16, "%05d\n", (int)i);
    }
    send_to(fd, &to, text, LINES * 6);
    for (int i = 0; i < 3; i++) {
        send_to(fd, &to, "later", 5);
    }
    assert_true(TEST_AWAIT(bench_figure(&b, "in", "datagrams") >= 1));
    /* A mailbox and a queue hold more than one: again, until it is seen to wait. */
    while (bench_figure(&b, "in", "pauses") == 0) {
        const uint64_t datagrams = bench_figure(&b, "in", "datagrams");
        send_to(fd, &to, text, LINES * 6);
        assert_true(TEST_AWAIT(bench_figure(&b, "in", "datagrams") > datagrams ||
                               bench_figure(&b, "in", "pauses") > 0));
    }
    assert_int_equal(bench_count(&b), 0);
    weir__store(&b.heard.shut, 0, release);
    assert_true(TEST_AWAIT(bench_count(&b) >= LINES + 3));
    for (int i = 0; i < LINES; i++) {
        assert_int_equal(strtol(bench_text(&b, (size_t)i), NULL, 10), i);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(bench_text(&b, LINES + i), "later");
    }
    close(fd);
    bench_stop(&b);
    /* Of all that follows no line is missing, but at the end, where the stop was. */
    for (size_t i = LINES + 3; i < bench_count(&b); i++) {
        assert_int_equal(strtoul(bench_text(&b, i), NULL, 10), (i - 3) % LINES);
    }
    bench_close(&b);
}

static void a_sink_sends_what_a_source_gets(void **unused)
{
    (void)unused;
    enum { EVENTS = 500 };
    bench b;
    bench_open(&b);
    bench_source(&b, &weir__udp_type, "in", "port = 0, receive-buffer = 1 MiB");
    bench_start(&b);
    char options[64];
    snprintf(options, sizeof(options), "port = %u", weir__connect_port(b.engine, "in"));
    assert_int_equal(bench_add(&b, &weir__udp_sink_type, "out", options, NULL), WEIR_OK);
    const weir_processor out = weir_processor_find(b.engine, "out");
    assert_true(out.id != 0);
    for (uint64_t i = 0; i < EVENTS; i++) {
        char text[32];
        const int length = snprintf(text, sizeof(text), "%" PRIu64, i);
        const weir_event event = { .type = &weir_text_type,
                                   .data = text,
                                   .size = (uint32_t)length };
        assert_int_equal(weir_engine_post(b.engine, out, &event), WEIR_OK);
        assert_true(TEST_AWAIT(bench_count(&b) == i + 1)); /* one by one: UDP may drop */
        assert_string_equal(bench_text(&b, i), text);
    }
    static char huge[70000];
    const weir_event large = { .type = &weir_bytes_type, .data = huge, .size = sizeof(huge) };
    assert_int_equal(weir_engine_post(b.engine, out, &large), WEIR_OK);
    assert_true(TEST_AWAIT(bench_figure(&b, "out", "too-large") == 1));
    assert_int_equal(bench_figure(&b, "out", "events"), EVENTS);
    bench_stop(&b);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_of_a_datagram_is_an_event),
        cmocka_unit_test(a_datagram_is_one_event_if_that_is_asked_for),
        cmocka_unit_test(what_is_not_json_is_left_out),
        cmocka_unit_test(a_datagram_that_is_too_long_is_counted_and_left_out),
        cmocka_unit_test(the_largest_datagram_arrives_whole),
        cmocka_unit_test(no_room_keeps_the_datagram_in_hand_and_the_rest_in_the_kernel),
        cmocka_unit_test(a_sink_sends_what_a_source_gets),
    };
    return cmocka_run_group_tests_name("udp", tests, NULL, NULL);
}
