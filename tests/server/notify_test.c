/*
 * notify_test.c - what the service manager is told, and when it is not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server/notify.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test_support.h"

typedef struct manager {
    int socket;
    char name[64]; /* as $NOTIFY_SOCKET has it */
} manager;

/* An abstract socket of this process, so that nothing is left in the file system. */
static int open_manager(void **state)
{
    static manager m;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(m.name, sizeof(m.name), "@weir-notify-%d", (int)getpid());
    memcpy(address.sun_path + 1, m.name + 1, strlen(m.name) - 1);
    m.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const size_t length = offsetof(struct sockaddr_un, sun_path) + strlen(m.name);
    *state = &m;
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    setenv("NOTIFY_SOCKET", m.name, 1);
    return bind(m.socket, (const struct sockaddr *)&address, (socklen_t)length);
}

static int close_manager(void **state)
{
    close(((manager *)*state)->socket);
    return 0;
}

static const char *heard(const manager *m)
{
    static char text[1024];
    const ssize_t length = recv(m->socket, text, sizeof(text) - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

static void a_message_is_one_datagram(void **state)
{
    weir__notify notify;
    char text[200];
    assert_true(weir__notify_open(&notify, text, sizeof(text)));
    weir__notify_send(&notify, "READY=1\nSTATUS=%s", "running");
    assert_string_equal(heard(*state), "READY=1\nSTATUS=running");
    assert_string_equal(heard(*state), "");
    weir__notify_reloading(&notify);
    assert_non_null(strstr(heard(*state), "MONOTONIC_USEC="));
    weir__notify_close(&notify);
}

static void a_message_that_is_too_long_is_cut(void **state)
{
    weir__notify notify;
    char text[200], huge[4000];
    memset(huge, 'x', sizeof(huge) - 1);
    huge[sizeof(huge) - 1] = '\0';
    assert_true(weir__notify_open(&notify, text, sizeof(text)));
    weir__notify_send(&notify, "STATUS=%s", huge);
    assert_int_equal(strlen(heard(*state)), 511);
    weir__notify_close(&notify);
}

static void without_a_socket_nothing_is_said(void **state)
{
    weir__notify notify;
    char text[200];
    (void)state;
    unsetenv("NOTIFY_SOCKET");
    assert_true(weir__notify_open(&notify, text, sizeof(text)));
    assert_int_equal(notify.socket, -1);
    weir__notify_send(&notify, "READY=1");
    weir__notify_close(&notify);
}

static void a_socket_that_cannot_be_is_refused_with_its_name(void **state)
{
    static const char *const bad[] = { "relative", "@", "/", "/nobody/is/here" };
    weir__notify notify;
    char text[200];
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        setenv("NOTIFY_SOCKET", bad[i], 1);
        assert_false(weir__notify_open(&notify, text, sizeof(text)));
        assert_int_equal(notify.socket, -1);
        assert_non_null(strstr(text, bad[i]));
    }
}

static void the_watchdog_counts_for_this_process_only(void **state)
{
    static const char *const bad[] = { "", "0", "-5", "x", "5x", "99999999999999999999" };
    weir__notify notify;
    char text[200], pid[32];
    (void)state;
    setenv("WATCHDOG_USEC", "1500000", 1);
    assert_true(weir__notify_open(&notify, text, sizeof(text)));
    assert_int_equal(notify.watchdog, 1500 * WEIR_MS);
    weir__notify_close(&notify);
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    setenv("WATCHDOG_PID", pid, 1);
    assert_true(weir__notify_open(&notify, text, sizeof(text)));
    assert_int_equal(notify.watchdog, 1500 * WEIR_MS);
    weir__notify_close(&notify);
    setenv("WATCHDOG_PID", "1", 1);
    assert_true(weir__notify_open(&notify, text, sizeof(text)));
    assert_int_equal(notify.watchdog, 0);
    weir__notify_close(&notify);
    unsetenv("WATCHDOG_PID");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        setenv("WATCHDOG_USEC", bad[i], 1);
        assert_true(weir__notify_open(&notify, text, sizeof(text)));
        assert_int_equal(notify.watchdog, 0);
        weir__notify_close(&notify);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_manager, close_manager)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_message_is_one_datagram),
        TEST(a_message_that_is_too_long_is_cut),
        TEST(without_a_socket_nothing_is_said),
        TEST(a_socket_that_cannot_be_is_refused_with_its_name),
        TEST(the_watchdog_counts_for_this_process_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
