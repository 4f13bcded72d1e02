/*
 * sync/crash_write_test.c - how a crash report reaches standard error: whole, whatever the system
 * makes of a write, and never for ever.
 *
 * This program has a write(2) and a poll(2) of its own in front of the C library's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sync/crash.h"
#include "test_support.h"

enum { TRIES = 100 };

/* What the next writes to standard error do: take so many bytes, or fail with -errno. The last one
 * stays. */
static struct {
    bool on;
    const ssize_t *answers;
    size_t count, next;
    char text[64];
    size_t length;
    int writes, polls;
    bool wrong; /* the poll was not for room, or without an end */
} script;

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved. */

ssize_t write(int descriptor, const void *bytes, size_t length)
{
    if (!script.on || descriptor != STDERR_FILENO) {
        return syscall(SYS_write, descriptor, bytes, length);
    }
    const ssize_t answer = script.answers[script.next];
    script.next += script.next + 1 < script.count;
    script.writes++;
    if (answer < 0) {
        errno = (int)-answer;
        return -1;
    }
    errno = EBADF; /* means nothing after a success */
    const size_t taken = (size_t)answer < length ? (size_t)answer : length;
    const size_t room = sizeof(script.text) - 1 - script.length;
    memcpy(script.text + script.length, bytes, taken < room ? taken : room);
    script.length += taken < room ? taken : room;
    return (ssize_t)taken;
}

int poll(struct pollfd *descriptors, nfds_t count, int milliseconds)
{
    /* tidy-ok: the compiler knows poll, and takes what is asked for an answer */
    const struct pollfd *volatile asked = descriptors;
    script.polls++;
    script.wrong = script.wrong || count != 1 || asked->fd != STDERR_FILENO ||
                   asked->events != POLLOUT || milliseconds <= 0 || milliseconds > 1000;
    return 0;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

static void write_with(const ssize_t *answers, size_t count, const char *text, size_t length)
{
    memset(&script, 0, sizeof(script));
    script.answers = answers;
    script.count = count;
    script.on = true;
    weir__crash_write(text, length);
    script.on = false;
    assert_false(script.wrong);
}
#define WRITE_WITH(text, ...)                                                                      \
    write_with((ssize_t[]){ __VA_ARGS__ }, sizeof((ssize_t[]){ __VA_ARGS__ }) / sizeof(ssize_t),   \
               text, strlen(text))

static void expect(const char *text, int writes, int polls)
{
    assert_string_equal(text, script.text);
    assert_int_equal(writes, script.writes);
    assert_int_equal(polls, script.polls);
}

static void a_text_is_written_at_once_where_that_is_possible(void **state)
{
    (void)state;
    WRITE_WITH("weir: hello\n", 100);
    expect("weir: hello\n", 1, 0);
    WRITE_WITH("x", 100);
    expect("x", 1, 0);
    WRITE_WITH("", 100);
    expect("", 0, 0);
}

static void what_is_taken_in_pieces_arrives_in_order_and_once(void **state)
{
    (void)state;
    WRITE_WITH("abcdefghi", 1, 3, 2, 100);
    expect("abcdefghi", 4, 0);
    WRITE_WITH("abc", 1);
    expect("abc", 3, 0);
}

static void an_interruption_is_tried_again(void **state)
{
    (void)state;
    WRITE_WITH("abc", -EINTR, 1, -EINTR, -EINTR, 100);
    expect("abc", 5, 0);
}

static void where_there_is_no_room_it_waits_for_some(void **state)
{
    (void)state;
    WRITE_WITH("abc", -EAGAIN, 2, -EAGAIN, -EAGAIN, 100);
    expect("abc", 5, 3);
}

static void where_nobody_is_to_be_told_it_gives_up(void **state)
{
    (void)state;
    WRITE_WITH("abc", -EPIPE, 100);
    expect("", 1, 0);
    WRITE_WITH("abc", 1, -EBADF, 100);
    expect("a", 2, 0);
}

static void it_does_not_try_for_ever(void **state)
{
    (void)state;
    WRITE_WITH("abc", -EINTR);
    expect("", TRIES, 0);
    WRITE_WITH("abc", -EAGAIN);
    expect("", TRIES, TRIES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_written_at_once_where_that_is_possible),
        cmocka_unit_test(what_is_taken_in_pieces_arrives_in_order_and_once),
        cmocka_unit_test(an_interruption_is_tried_again),
        cmocka_unit_test(where_there_is_no_room_it_waits_for_some),
        cmocka_unit_test(where_nobody_is_to_be_told_it_gives_up),
        cmocka_unit_test(it_does_not_try_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
