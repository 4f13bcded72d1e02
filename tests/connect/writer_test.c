/*
 * writer_test.c - what a sink has taken is written once, whole and in order, whatever the disk or
 * the reader does; its file is rotated between events, and a kill leaves nothing torn for long.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* nftw */
#include "tail_support.h"

#include <signal.h>
#include <sys/resource.h>

#include "connect/rotate.h"
#include "connect/writer.h"

static const char *contents(const char *path)
{
    static char text[1 << 16];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    const ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    assert_true(got >= 0);
    text[got] = '\0';
    return text;
}

static int open_output(const char *path, bool cut, uint64_t *size, uint64_t *lost)
{
    weir_error error = WEIR_ERROR_INIT;
    const int fd = weir__output_open(path, cut, size, lost, &error);
    assert_true(fd >= 0);
    return fd;
}

static void events_are_lines_or_have_a_length_before_them(void **state)
{
    scene *s = *state;
    weir__writer w;
    uint64_t size, lost;
    for (int format = 0; format < 2; format++) {
        assert_true(weir__writer_open(&w, format, 16, 1024));
        (void)unlink(s->path);
        w.fd = open_output(s->path, false, &size, &lost);
        assert_int_equal(weir__writer_put(&w, "one", 3), WEIR_OK);
        assert_int_equal(weir__writer_put(&w, "", 0), WEIR_OK);
        assert_int_equal(weir__writer_put(&w, "a longer one than that", 22), WEIR_OK);
        assert_string_equal(contents(s->path), "");
        assert_int_equal(weir__writer_out(&w), WEIR_OK);
        assert_int_equal(weir__writer_waits(&w), 0);
        assert_int_equal(w.events, 3);
        if (format == WEIR__WRITE_LINES) {
            assert_string_equal(contents(s->path), "one\n\na longer one than that\n");
        } else {
            assert_memory_equal(contents(s->path),
                                "\0\0\0\3one\0\0\0\0\0\0\0\x16"
                                "a longer",
                                4 + 3 + 4 + 4 + 8);
        }
        close(w.fd);
        weir__writer_close(&w);
    }
}

static void a_full_buffer_says_so_and_an_event_that_never_fits_too(void **state)
{
    (void)state;
    weir__writer w;
    char large[64] = { 0 };
    assert_true(weir__writer_open(&w, WEIR__WRITE_LINES, 16, 40));
    assert_int_equal(weir__writer_put(&w, large, 40), WEIR_E_LIMIT);
    assert_int_equal(weir__writer_put(&w, large, 39), WEIR_OK);
    assert_int_equal(weir__writer_put(&w, large, 0), WEIR_FULL);
    assert_int_equal(weir__writer_waits(&w), 40);
    weir__writer_close(&w);
}

/* The limit of a file's size stands for a full disk: the write that meets it is a short one. */
static void a_full_disk_loses_and_tears_nothing(void **state)
{
    scene *s = *state;
    weir__writer w;
    uint64_t size, lost;
    struct rlimit before;
    char expected[4096] = "";
    size_t length = 0;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_true(weir__writer_open(&w, WEIR__WRITE_LINES, 64, 4096));
    w.fd = open_output(s->path, true, &size, &lost);
    for (int i = 0; i < 100; i++) {
        char line[32];
        snprintf(line, sizeof(line), "line %d", i);
        assert_int_equal(weir__writer_put(&w, line, strlen(line)), WEIR_OK);
        length += (size_t)snprintf(expected + length, sizeof(expected) - length, "%s\n", line);
    }
    for (rlim_t limit = 10; limit < 900; limit += 107) {
        const struct rlimit small = { .rlim_cur = limit, .rlim_max = before.rlim_max };
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        const weir_status status = weir__writer_out(&w);
        const int why = errno;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        if (status == WEIR_OK) {
            break;
        }
        assert_int_equal(status, WEIR_E_SYSTEM);
        assert_int_equal(why, EFBIG);
        assert_int_equal(strlen(contents(s->path)), limit);
    }
    assert_int_equal(weir__writer_out(&w), WEIR_OK);
    assert_string_equal(contents(s->path), expected);
    assert_int_equal(w.position, strlen(expected));
    close(w.fd);
    weir__writer_close(&w);
}

static void a_slow_reader_of_a_pipe_is_not_waited_for(void **state)
{
    (void)state;
    weir__writer w;
    int pipes[2];
    char line[1000], back[4096];
    memset(line, 'x', sizeof(line));
    assert_int_equal(pipe(pipes), 0);
    assert_true(weir__writer_open(&w, WEIR__WRITE_LINES, 4096, 1 << 20));
    w.fd = pipes[1];
    w.streams = true;
    size_t put = 0, got = 0;
    for (int i = 0; i < 500; i++) {
        assert_int_equal(weir__writer_put(&w, line, sizeof(line)), WEIR_OK);
        put += sizeof(line) + 1;
    }
    alarm(20); /* a write that waits would wait for ever */
    while (weir__writer_out(&w) == WEIR_FULL) {
        const ssize_t n = read(pipes[0], back, sizeof(back));
        assert_true(n > 0);
        got += (size_t)n;
    }
    alarm(0);
    close(pipes[1]);
    for (ssize_t n; (n = read(pipes[0], back, sizeof(back))) > 0;) {
        got += (size_t)n;
    }
    assert_int_equal(got, put);
    close(pipes[0]);
    weir__writer_close(&w);
}

static void a_reader_that_is_gone_is_an_error_and_no_end(void **state)
{
    (void)state;
    weir__writer w;
    int pipes[2];
    (void)signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(pipes), 0);
    assert_true(weir__writer_open(&w, WEIR__WRITE_LINES, 4096, 1 << 20));
    w.fd = pipes[1];
    w.streams = true;
    close(pipes[0]);
    assert_int_equal(weir__writer_put(&w, "x", 1), WEIR_OK);
    assert_int_equal(weir__writer_out(&w), WEIR_E_SYSTEM);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(weir__writer_waits(&w), 2);
    close(pipes[1]);
    weir__writer_close(&w);
}

static void an_unfinished_last_line_is_cut_off_if_so_asked(void **state)
{
    scene *s = *state;
    uint64_t size, lost;
    append(s->path, "one\ntwo\nthr");
    close(open_output(s->path, false, &size, &lost));
    assert_int_equal(size, 11);
    assert_int_equal(lost, 0);
    close(open_output(s->path, true, &size, &lost));
    assert_int_equal(size, 8);
    assert_int_equal(lost, 3);
    assert_string_equal(contents(s->path), "one\ntwo\n");
    close(open_output(s->path, true, &size, &lost));
    assert_int_equal(lost, 0);
    assert_int_equal(truncate(s->path, 2), 0);
    close(open_output(s->path, true, &size, &lost));
    assert_int_equal(size, 0);
}

static void what_is_no_file_is_refused(void **state)
{
    scene *s = *state;
    uint64_t size, lost;
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(weir__output_open(s->folder, true, &size, &lost, &error), -1);
    assert_int_equal(error.os_errno, EISDIR);
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(weir__output_open("/dev/null", true, &size, &lost, &error), -1);
    assert_non_null(strstr(error.text, "ordinary"));
}

static void rotated_files_move_up_and_the_last_goes(void **state)
{
    scene *s = *state;
    for (int i = 1; i <= 5; i++) {
        char text[16];
        snprintf(text, sizeof(text), "%d", i);
        append(s->path, text);
        assert_int_equal(weir__output_shift(s->path, 3), 0);
        assert_null(contents(s->path));
    }
    assert_string_equal(contents(beside(s, ".1")), "5");
    assert_string_equal(contents(beside(s, ".2")), "4");
    assert_string_equal(contents(beside(s, ".3")), "3");
    assert_null(contents(beside(s, ".4")));
    /* A gap: only what is before it moves. */
    assert_int_equal(unlink(beside(s, ".2")), 0);
    append(s->path, "6");
    assert_int_equal(weir__output_shift(s->path, 3), 0);
    assert_string_equal(contents(beside(s, ".1")), "6");
    assert_string_equal(contents(beside(s, ".2")), "5");
    assert_string_equal(contents(beside(s, ".3")), "3");
    assert_int_equal(weir__output_shift(s->path, 3), ENOENT);
}

static void a_file_that_was_renamed_or_replaced_is_noticed(void **state)
{
    scene *s = *state;
    uint64_t size, lost;
    const int fd = open_output(s->path, true, &size, &lost);
    assert_true(weir__output_is_there(s->path, fd));
    assert_int_equal(rename(s->path, beside(s, ".1")), 0);
    assert_false(weir__output_is_there(s->path, fd));
    append(s->path, "x");
    assert_false(weir__output_is_there(s->path, fd));
    assert_true(weir__output_is_there(beside(s, ".1"), fd));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scene_test(events_are_lines_or_have_a_length_before_them),
        scene_test(a_full_buffer_says_so_and_an_event_that_never_fits_too),
        scene_test(a_full_disk_loses_and_tears_nothing),
        scene_test(a_slow_reader_of_a_pipe_is_not_waited_for),
        scene_test(a_reader_that_is_gone_is_an_error_and_no_end),
        scene_test(an_unfinished_last_line_is_cut_off_if_so_asked),
        scene_test(what_is_no_file_is_refused),
        scene_test(rotated_files_move_up_and_the_last_goes),
        scene_test(a_file_that_was_renamed_or_replaced_is_noticed),
    };
    return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}
