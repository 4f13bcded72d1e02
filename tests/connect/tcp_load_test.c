/*
 * tcp_load_test.c - the source `tcp` with a thousand connections, and with no descriptor left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect_support.h"

static void a_thousand_connections_are_served_side_by_side(void **unused)
{
    (void)unused;
    enum { CONNECTIONS = 1000, LINES = 20 };
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 2 * CONNECTIONS + 100) {
        test_skip("the machine allows too few descriptors");
    }
    bench b;
    bench_open(&b);
    bench_source(&b, &weir__tcp_type, "in", "port = 0, max-connections = 1000, read-size = 1 KiB");
    bench_start(&b);
    const uint16_t port = weir__connect_port(b.engine, "in");
    static int fds[CONNECTIONS];
    for (int i = 0; i < CONNECTIONS; i++) {
        fds[i] = test_connect(port);
    }
    assert_true(TEST_AWAIT(bench_figure(&b, "in", "connections") == CONNECTIONS));
    for (int line = 0; line < LINES; line++) {
        for (int i = 0; i < CONNECTIONS; i++) {
            char text[32];
            const int length = snprintf(text, sizeof(text), "%d %d\n", i, line);
            assert_true(test_send(fds[i], text, (size_t)length));
        }
    }
    assert_true(TEST_AWAIT(bench_count(&b) == CONNECTIONS * LINES));
    static int next[CONNECTIONS]; /* each connection's lines are in order */
    for (size_t i = 0; i < CONNECTIONS * LINES; i++) {
        int who = -1, line = -1;
        char *end = NULL;
        who = (int)strtol(bench_text(&b, i), &end, 10);
        line = (int)strtol(end, NULL, 10);
        assert_true(who >= 0 && who < CONNECTIONS);
        assert_int_equal(line, next[who]);
        next[who]++;
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        close(fds[i]);
    }
    assert_true(TEST_AWAIT(bench_figure(&b, "in", "connections") == 0));
    assert_int_equal(bench_figure(&b, "in", "refused"), 0);
    bench_stop(&b);
    bench_close(&b);
}

typedef struct rounds {
    const char *name;
    uint64_t rounds;
} rounds;

static bool see_rounds(void *context, const weir_component_info *info)
{
    rounds *r = context;
    if (strcmp(info->name, r->name) == 0) {
        r->rounds = info->rounds;
    }
    return true;
}

static uint64_t rounds_of(bench *b, const char *name)
{
    rounds r = { .name = name };
    weir_component_visit(b->engine, see_rounds, &r);
    return r.rounds;
}

/* The sockets come from a child's table, so that it is only this process that has none left. */
static void connect_from_child(uint16_t port, int count, int go[2], int *pid)
{
    assert_int_equal(pipe(go), 0);
    fflush(NULL);
    *pid = fork();
    assert_true(*pid >= 0);
    if (*pid == 0) {
        close(go[1]);
        for (int i = 0; i < count; i++) {
            const int fd = socket(AF_INET, SOCK_STREAM, 0);
            const struct sockaddr_in to = { .sin_family = AF_INET,
                                            .sin_port = htons(port),
                                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
            if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)) != 0) {
                _exit(1);
            }
        }
        char byte;
        (void)!read(go[0], &byte, 1); /* until the test is done */
        _exit(0);
    }
    close(go[0]);
}

static void no_descriptor_left_is_counted_and_no_reason_to_spin(void **unused)
{
    (void)unused;
    enum { CONNECTIONS = 60 };
    bench b;
    bench_open(&b);
    bench_source(&b, &weir__tcp_type, "in", "port = 0");
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 64;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    bench_start(&b);
    int go[2], pid = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    connect_from_child(weir__connect_port(b.engine, "in"), CONNECTIONS, go, &pid);
    assert_true(TEST_AWAIT(bench_figure(&b, "in", "refused") + bench_figure(&b, "in", "accepted") ==
                           CONNECTIONS));
    assert_true(bench_figure(&b, "in", "refused") >= CONNECTIONS - 48);
    assert_true(bench_figure(&b, "in", "accepted") >= 1);
    assert_true(TEST_AWAIT(weir__load(&b.logged, acquire) >= 1));
    close(go[1]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(TEST_AWAIT(bench_figure(&b, "in", "connections") == 0));
    bench_stop(&b);
    bench_close(&b);
}

static int try_connect(uint16_t port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons(port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* No descriptor is left while five peers connect, for half a second; returns how many rounds the
 * source's thread took in that time. `kept_back`: but for one that is already open. */
static uint64_t rounds_without_descriptors(bench *b, uint16_t port, bool kept_back)
{
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    int go[2], status = 0;
    assert_int_equal(pipe(go), 0);
    const int lowest = dup(0);
    few.rlim_cur = kept_back ? (rlim_t)lowest + 1 : 3;
    fflush(NULL);
    const int pid = fork(); /* now: libuv needs descriptors in a child */
    if (pid == 0) {
        char byte;
        bool connected = read(go[0], &byte, 1) == 1;
        for (int i = 0; i < 5; i++) {
            connected = connected && try_connect(port) >= 0;
        }
        _exit(!connected);
    }
    assert_true(pid > 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(write(go[1], "x", 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    const uint64_t first = rounds_of(b, "in");
    const clock_t busy = clock();
    (void)poll(NULL, 0, 500); /* not for something: to see how busy it is meanwhile */
    const double seconds = (double)(clock() - busy) / CLOCKS_PER_SEC;
    const uint64_t turned = rounds_of(b, "in") - first;
    assert_true(seconds < 0.05); /* circles may be inside of libuv, too */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    close(go[0]);
    close(go[1]);
    close(lowest);
    fprintf(stderr, "# %" PRIu64 " rounds in half a second\n", turned);
    return turned;
}

/* Others of the process have taken the last descriptors: accept itself fails. With one that libuv
 * keeps back for it the peers are turned away; without, the listener is closed for a while. */
static void accept_that_fails_does_not_turn_the_thread_in_circles(void **unused)
{
    (void)unused;
    for (int kept_back = 0; kept_back < 2; kept_back++) {
        bench b;
        bench_open(&b);
        bench_source(&b, &weir__tcp_type, "in", "port = 0");
        bench_start(&b);
        const uint16_t port = weir__connect_port(b.engine, "in");
        /* It idles step by step at first; in circles it would turn a million times. */
        assert_true(rounds_without_descriptors(&b, port, kept_back) < 5000);
        assert_int_equal(bench_figure(&b, "in", "accepted"), 0);
        if (!kept_back) {
            assert_true(TEST_AWAIT(bench_warned(&b, "accepted: too many open files")));
        }
        const weir_ns end = weir_time_now(b.engine) + 20 * WEIR_S;
        while (bench_count(&b) == 0 && weir_time_now(b.engine) < end) { /* it listens again */
            const int fd = try_connect(port);
            if (fd >= 0) {
                (void)test_send(fd, "again\n", 6);
                close(fd);
            }
            (void)poll(NULL, 0, 20); /* the listener may be closed: nothing to wait on */
        }
        assert_true(bench_count(&b) >= 1);
        bench_stop(&b);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_connections_are_served_side_by_side),
        cmocka_unit_test(no_descriptor_left_is_counted_and_no_reason_to_spin),
        cmocka_unit_test(accept_that_fails_does_not_turn_the_thread_in_circles),
    };
    return cmocka_run_group_tests_name("tcp_load", tests, NULL, NULL);
}
