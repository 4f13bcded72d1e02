/*
 * file_test.c - files as components: followed while they are written and rotated, written and
 * rotated in their turn, stopped, started, and killed at any moment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* nftw */
#include "connect_support.h"
#include "tail_support.h"

#include "connect/files.h"

enum { SECONDS_MAX = 30 };

/* Waits for something that other threads bring about; the bound is for what never comes. */
#define UNTIL(condition)                                                                           \
    do {                                                                                           \
        const struct timespec brief = { .tv_nsec = 1000000 };                                      \
        const time_t last = time(NULL) + SECONDS_MAX;                                              \
        while (!(condition) && time(NULL) < last) {                                                \
            nanosleep(&brief, NULL);                                                               \
        }                                                                                          \
        assert_true(condition);                                                                    \
    } while (0)

static const char *with_path(const char *path, const char *more)
{
    static char text[512];
    snprintf(text, sizeof(text), "path = \"%s\", %s", path, more);
    return text;
}

static void add(bench *b, const weir_component_type *type, const char *name, const char *options,
                const char *const *feeds)
{
    if (bench_add(b, type, name, options, feeds) != WEIR_OK) {
        weir_error_print(&b->error);
        fail();
    }
}

static void a_file_is_followed_through_a_rotation_as_it_happens(void **state)
{
    scene *s = *state;
    bench b;
    bench_open(&b);
    append(s->path, "0\n1\n");
    bench_source(&b, &weir__file_type, "tail", with_path(s->path, "rotate-wait = 20ms"));
    bench_start(&b);
    UNTIL(bench_count(&b) == 2);
    append(s->path, "2\n");
    UNTIL(bench_count(&b) == 3);
    append(s->path, "3\n");
    assert_int_equal(rename(s->path, beside(s, ".1")), 0);
    append(s->path, "4\n");
    UNTIL(bench_count(&b) == 5);
    append(s->path, "5\nunfinished");
    UNTIL(bench_count(&b) == 6);
    bench_stop(&b);
    for (size_t i = 0; i < 6; i++) {
        char expected[8];
        snprintf(expected, sizeof(expected), "%zu", i);
        assert_string_equal(bench_text(&b, i), expected);
    }
    bench_close(&b);

    /* What was done is not done again; what was unfinished is whole now. */
    append(s->path, ", now finished\n");
    bench_open(&b);
    bench_source(&b, &weir__file_type, "tail", with_path(s->path, "rotate-wait = 20ms"));
    bench_start(&b);
    UNTIL(bench_count(&b) == 1);
    assert_string_equal(bench_text(&b, 0), "unfinished, now finished");
    bench_stop(&b);
    assert_int_equal(bench_count(&b), 1);
    bench_close(&b);
}

static void what_is_not_done_with_is_not_committed(void **state)
{
    scene *s = *state;
    bench b;
    struct stat about;
    bench_open(&b);
    append(s->path, "0\n1\n2\n");
    bench_source(&b, &weir__file_type, "tail",
                 with_path(s->path, "commit-fsync = always, commit-interval = 1ms"));
    weir__store(&b.heard.shut, 1, release);
    bench_start(&b);
    UNTIL(bench_figure(&b, "tail", "events") == 3);
    for (uint64_t i = 4; i < 10; i++) { /* time goes by, and it works on */
        append(s->path, "x\n");
        UNTIL(bench_figure(&b, "tail", "events") == i);
    }
    assert_int_equal(bench_figure(&b, "tail", "writes"), 1); /* where it began */
    assert_int_equal(bench_figure(&b, "tail", "committed"), 0);
    weir__store(&b.heard.shut, 0, release);
    UNTIL(bench_figure(&b, "tail", "committed") == 18);
    UNTIL(bench_figure(&b, "tail", "writes") > 1);
    assert_int_equal(stat(beside(s, ".weir-position"), &about), 0);
    bench_stop(&b);
    bench_close(&b);
}

static void a_source_that_was_removed_comes_again_and_goes_on(void **state)
{
    scene *s = *state;
    bench b;
    bench_open(&b);
    append(s->path, "0\n1\n");
    bench_source(&b, &weir__file_type, "tail", with_path(s->path, "commit-fsync = always"));
    add(&b, &weir__stdin_type, "another", "", NULL);
    bench_start(&b);
    UNTIL(bench_count(&b) == 2);
    for (unsigned i = 2; i < 5; i++) {
        char line[8];
        weir_error error = WEIR_ERROR_INIT;
        const weir_status status = weir_component_remove(b.engine, "collector", 0, &error);
        assert_int_equal(status, WEIR_OK);
        assert_int_equal(weir_component_remove(b.engine, "tail", 0, &error), WEIR_OK);
        snprintf(line, sizeof(line), "%u\n", i);
        append(s->path, line);
        bench_source(&b, &weir__file_type, "tail", with_path(s->path, "commit-fsync = always"));
        UNTIL(bench_count(&b) == i + 1);
        UNTIL(bench_figure(&b, "tail", "committed") == bench_figure(&b, "tail", "position"));
    }
    bench_stop(&b);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(strtoul(bench_text(&b, i), NULL, 10), i);
    }
    bench_close(&b);
}

/* Keeps nothing of a line that begins with x. */
static weir_status refuse_some(void *context, const weir_event *in, weir_event *out)
{
    (void)context;
    *out = *in;
    return ((const char *)in->data)[0] == 'x' ? WEIR_E_USER : WEIR_OK;
}

static void a_line_that_the_mapper_refuses_is_counted_and_passed_over(void **state)
{
    scene *s = *state;
    bench b;
    bench_open(&b);
    b.feed = WEIR_FEED(.mapper = refuse_some, .slow = WEIR_SLOW_BLOCK);
    append(s->path, "0\nx\n1\nx\n2\n");
    bench_source(&b, &weir__file_type, "tail", with_path(s->path, "commit-fsync = always"));
    bench_start(&b);
    UNTIL(bench_count(&b) == 3);
    UNTIL(bench_figure(&b, "tail", "failed") == 2);
    UNTIL(bench_figure(&b, "tail", "committed") == 10); /* it is done with, too */
    assert_int_equal(bench_figure(&b, "tail", "events"), 3);
    assert_string_equal(bench_text(&b, 2), "2");
    assert_true(bench_warned(&b, "an event was not published"));
    bench_stop(&b);
    bench_close(&b);
}

static void a_source_that_begins_anew_goes_on_where_it_was(void **state)
{
    scene *s = *state;
    bench b;
    bench_open(&b);
    append(s->path, "0\n");
    bench_source(&b, &weir__file_type, "tail", with_path(s->path, ""));
    bench_start(&b);
    for (unsigned i = 1; i < 20; i++) {
        char line[8];
        weir_error error = WEIR_ERROR_INIT;
        snprintf(line, sizeof(line), "%u\n", i);
        append(s->path, line);
        assert_int_equal(
            weir_component_restart(b.engine, i % 3 == 0 ? "collector" : "tail", NULL, 0, &error),
            WEIR_OK);
    }
    UNTIL(bench_count(&b) == 20);
    bench_stop(&b);
    assert_int_equal(bench_count(&b), 20);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(strtoul(bench_text(&b, i), NULL, 10), i);
    }
    bench_close(&b);
}

static void a_source_without_room_waits_and_loses_nothing(void **state)
{
    scene *s = *state;
    bench b;
    enum { LINES = 20000 };
    FILE *file = fopen(s->path, "we");
    for (int i = 0; i < LINES; i++) {
        fprintf(file, "%d\n", i);
    }
    fclose(file);
    bench_open(&b);
    bench_source(&b, &weir__file_type, "tail", with_path(s->path, "strategy = once-earliest"));
    weir__store(&b.heard.shut, 1, release);
    bench_start(&b);
    UNTIL(bench_figure(&b, "tail", "pauses") > 0);
    assert_true(bench_figure(&b, "tail", "events") < LINES);
    weir__store(&b.heard.shut, 0, release);
    UNTIL(bench_count(&b) == LINES);
    UNTIL(bench_figure(&b, "tail", "done") == 1);
    for (size_t i = 0; i < LINES; i++) {
        assert_int_equal(strtoul(bench_text(&b, i), NULL, 10), i);
    }
    bench_stop(&b);
    bench_close(&b);
}

static void bad_lines_are_counted_and_the_others_come(void **state)
{
    scene *s = *state;
    bench b;
    bench_open(&b);
    append(s->path, "{\"a\":1}\nnot json\n[2]\n");
    bench_source(&b, &weir__file_type, "tail", with_path(s->path, "format = json-lines"));
    bench_start(&b);
    UNTIL(bench_count(&b) == 2);
    UNTIL(bench_figure(&b, "tail", "bad") == 1);
    assert_non_null(strstr(b.log, "at byte 8: not JSON"));
    bench_stop(&b);
    bench_close(&b);
}

static void wrong_options_are_errors_with_a_place(void **state)
{
    scene *s = *state;
    bench b;
    bench_open(&b);
    assert_int_equal(bench_add(&b, &weir__file_type, "tail", "strategy = newest, path = x", NULL),
                     WEIR_E_CONFIG);
    assert_int_equal(bench_add(&b, &weir__file_type, "tail", "", NULL), WEIR_E_CONFIG);
    append(beside(s, ".weir-position"), "not ours");
    add(&b, &weir__file_type, "tail", with_path(s->path, ""), NULL);
    b.error = (weir_error)WEIR_ERROR_INIT;
    assert_int_not_equal(weir_components_start(b.engine, &b.error), WEIR_OK);
    assert_non_null(strstr(b.error.text, "left alone"));
    bench_close(&b);
}

/* ---- the sink ---- */

static size_t append_contents(const char *path, char *text, size_t length, size_t size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return length;
    }
    length += fread(text + length, 1, size - length - 1, file);
    fclose(file);
    text[length] = '\0';
    return length;
}

static void lines_go_through_into_rotated_files_whole_and_in_order(void **state)
{
    scene *s = *state;
    bench b;
    enum { LINES = 5000, SIZE = 1 << 17 };
    char *in = calloc(1, SIZE), *out = calloc(1, SIZE);
    size_t length = 0, got = 0;
    for (int i = 0; i < LINES; i++) {
        length += (size_t)snprintf(in + length, SIZE - length, "line %d\n", i);
    }
    append(s->path, in);
    bench_open(&b);
    add(&b, &weir__file_type, "tail", with_path(s->path, "publish-batch = 64"), NULL);
    add(&b, &weir__file_sink_type, "out",
        with_path(beside(s, "-out"), "rotate-size = 4 KiB, keep = 100, fsync = flush"),
        WEIR_NAMES("tail"));
    bench_start(&b);
    UNTIL(bench_figure(&b, "out", "events") == LINES);
    UNTIL(bench_figure(&b, "tail", "committed") == length);
    assert_true(bench_figure(&b, "out", "rotations") > 3);
    bench_stop(&b);
    bench_close(&b);
    for (int i = 100; i >= 0; i--) {
        char suffix[16] = "-out";
        if (i > 0) {
            snprintf(suffix, sizeof(suffix), "-out.%d", i);
        }
        const size_t before = got;
        got = append_contents(beside(s, suffix), out, got, SIZE);
        assert_true(got == before || out[got - 1] == '\n');
        assert_true(got - before < 4096 + 16);
    }
    assert_string_equal(out, in);
    free(in);
    free(out);
}

static void a_sink_whose_file_was_moved_makes_a_new_one(void **state)
{
    scene *s = *state;
    bench b;
    char text[256] = "";
    bench_open(&b);
    append(s->path, "one\n");
    add(&b, &weir__file_type, "tail", with_path(s->path, ""), NULL);
    add(&b, &weir__file_sink_type, "out", with_path(beside(s, "-out"), "flush = event"),
        WEIR_NAMES("tail"));
    bench_start(&b);
    UNTIL(bench_figure(&b, "out", "bytes") == 4);
    assert_int_equal(rename(beside(s, "-out"), beside(s, "-moved")), 0);
    struct stat about;
    int lines = 0;
    UNTIL((append(s->path, "more\n"), ++lines, stat(beside(s, "-out"), &about) == 0));
    UNTIL(bench_figure(&b, "out", "events") == (uint64_t)lines + 1);
    bench_stop(&b);
    bench_close(&b);
    struct stat moved;
    (void)append_contents(beside(s, "-moved"), text, 0, sizeof(text));
    assert_memory_equal(text, "one\n", 4);
    assert_int_equal(stat(beside(s, "-moved"), &moved), 0);
    assert_int_equal(stat(beside(s, "-out"), &about), 0);
    assert_true(about.st_size > 0);
    assert_int_equal(about.st_size + moved.st_size, 4 + 5 * lines);
}

/* As a program that rotates logs does it: rename, tell, and compress what was renamed. */
static void a_sink_that_is_told_to_opens_its_file_anew_at_once(void **state)
{
    scene *s = *state;
    bench b;
    char text[256] = "";
    struct stat about;
    bench_open(&b);
    append(s->path, "one\n");
    add(&b, &weir__file_type, "tail", with_path(s->path, ""), NULL);
    add(&b, &weir__file_sink_type, "out", with_path(beside(s, "-out"), ""), WEIR_NAMES("tail"));
    bench_start(&b);
    UNTIL(bench_figure(&b, "out", "bytes") == 4);
    weir__file_sinks_reopen(NULL); /* another engine's: none of its business */
    assert_int_equal(rename(beside(s, "-out"), beside(s, "-moved")), 0);
    weir__file_sinks_reopen(b.engine);
    UNTIL(stat(beside(s, "-out"), &about) == 0); /* without an event */
    assert_int_equal(about.st_size, 0);
    append(s->path, "two\n");
    UNTIL(bench_figure(&b, "out", "bytes") == 8);
    weir__file_sinks_reopen(b.engine); /* nobody has renamed it: it goes on with it */
    UNTIL(bench_figure(&b, "out", "reopened") == 2);
    append(s->path, "three\n");
    UNTIL(bench_figure(&b, "out", "bytes") == 14);
    bench_stop(&b);
    bench_close(&b);
    (void)append_contents(beside(s, "-moved"), text, 0, sizeof(text));
    assert_string_equal(text, "one\n");
    memset(text, 0, sizeof(text));
    (void)append_contents(beside(s, "-out"), text, 0, sizeof(text));
    assert_string_equal(text, "two\nthree\n");
}

static void a_sink_cuts_off_what_a_kill_left_of_a_line(void **state)
{
    scene *s = *state;
    bench b;
    char text[256] = "";
    append(s->path, "two\n");
    append(beside(s, "-out"), "one\ntw");
    bench_open(&b);
    add(&b, &weir__file_type, "tail", with_path(s->path, ""), NULL);
    add(&b, &weir__file_sink_type, "out", with_path(beside(s, "-out"), ""), WEIR_NAMES("tail"));
    bench_start(&b);
    UNTIL(bench_figure(&b, "out", "bytes") == 4);
    bench_stop(&b);
    bench_close(&b);
    (void)append_contents(beside(s, "-out"), text, 0, sizeof(text));
    assert_string_equal(text, "one\ntwo\n");
}

/* ---- killed at any moment ---- */

/* The child: from the log into the sink, until it is killed. */
static void run_until_killed(const char *log, const char *sink)
{
    static bench b;
    bench_open(&b);
    if (getenv("WEIR_TEST_SHOW") != NULL) {
        weir_log_level_set(b.engine, WEIR_LOG_INFO);
    }
    add(&b, &weir__file_type, "tail",
        with_path(log, "publish-batch = 50, rotate-wait = 5ms, commit-fsync = always, "
                       "commit-interval = 1ms"),
        NULL);
    add(&b, &weir__file_sink_type, "out", with_path(sink, "rotate-size = 20 KiB, keep = 1000"),
        WEIR_NAMES("tail"));
    bench_start(&b);
    for (;;) {
        pause();
    }
}

static bool ends_with(const char *path, const char *line)
{
    char tail[64] = "";
    const long length = (long)strlen(line);
    FILE *file = fopen(path, "re");
    const bool good = file != NULL && fseek(file, -length, SEEK_END) == 0 &&
                      fread(tail, 1, (size_t)length, file) == (size_t)length;
    if (file != NULL) {
        fclose(file);
    }
    return good && strcmp(tail, line) == 0;
}

/* All lines that are in the sink's files, oldest first: each of 0 .. count - 1 is there, the first
 * time in order. Returns how many came again. */
static uint32_t check_lines(const scene *s, uint32_t count)
{
    uint32_t next = 0, again = 0, last = 0;
    for (int i = 1000; i >= 0; i--) {
        char suffix[16] = "-out", line[64];
        if (i > 0) {
            snprintf(suffix, sizeof(suffix), "-out.%d", i);
        }
        FILE *file = fopen(beside(s, suffix), "re");
        while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
            char *end;
            const uint32_t number = (uint32_t)strtoul(line, &end, 10);
            assert_string_equal(end, " of the log\n");
            assert_true(number <= next); /* no gap */
            assert_true(number == next || number > last || number + 1 <= next);
            again += number < next;
            next += number == next;
            last = number;
        }
        if (file != NULL) {
            fclose(file);
        }
    }
    assert_int_equal(next, count);
    return again;
}

static void killed_at_any_moment_no_line_is_lost_and_repeats_are_bounded(void **state)
{
    scene *s = *state;
    enum { KILLS = 12, LINES = 4000 };
    uint64_t random = test_seed();
    uint32_t written = 0;
    char out[256];
    snprintf(out, sizeof(out), "%s-out", s->path);
    append(s->path, "");
    for (int i = 0; i <= KILLS; i++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            run_until_killed(s->path, out);
        }
        struct stat about;
        UNTIL(stat(beside(s, ".weir-position"), &about) == 0); /* it knows of the first file */
        const uint32_t kill_after = i < KILLS ? (uint32_t)(test_random(&random) % LINES) : LINES;
        for (uint32_t j = 0; j < LINES; j++) {
            char line[64];
            snprintf(line, sizeof(line), "%u of the log\n", written++);
            append(s->path, line);
            if (j == kill_after) {
                assert_int_equal(kill(child, SIGKILL), 0);
            }
            if (test_random(&random) % 2000 == 0) {
                for (int k = 99; k >= 1; k--) { /* none goes: the child may be far behind */
                    char from[16], to[16];
                    snprintf(from, sizeof(from), ".%d", k);
                    snprintf(to, sizeof(to), ".%d", k + 1);
                    (void)rename(beside(s, from), beside(s, to));
                }
                assert_int_equal(rename(s->path, beside(s, ".1")), 0);
                append(s->path, "");
            }
        }
        if (i == KILLS) {
            char line[64];
            snprintf(line, sizeof(line), "%u of the log\n", written - 1);
            UNTIL(ends_with(out, line));
            assert_int_equal(kill(child, SIGKILL), 0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    const uint32_t again = check_lines(s, written);
    fprintf(stderr, "# %u lines, %u again after %d kills\n", written, again, KILLS);
    /* Between a batch that was flushed and its position that is written there is what the sink's
     * mailbox and the feed's queue hold at most. */
    assert_true(again <= KILLS * (1024u + 1024u + 50u));
}

/* ---- the standard streams ---- */

static void stdin_goes_to_stdout(void **state)
{
    (void)state;
    int in[2], out[2];
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static bench b;
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]);
        close(out[0]);
        bench_open(&b);
        add(&b, &weir__stdin_type, "in", "", NULL);
        add(&b, &weir__stdout_type, "out", "", WEIR_NAMES("in"));
        bench_start(&b);
        UNTIL(bench_figure(&b, "in", "done") == 1);
        bench_stop(&b);
        bench_close(&b);
        _exit(0);
    }
    close(in[0]);
    close(out[1]);
    enum { LINES = 20000, SIZE = 1 << 18 };
    char *sent = calloc(1, SIZE), *got = calloc(1, SIZE);
    size_t length = 0, written = 0, read_so_far = 0;
    for (int i = 0; i < LINES; i++) {
        length += (size_t)snprintf(sent + length, SIZE - length, "line %d\n", i);
    }
    length--; /* the last line has no newline, and gets one */
    (void)fcntl(in[1], F_SETFL, O_NONBLOCK);
    while (true) {
        struct pollfd both[2] = { { .fd = in[1], .events = POLLOUT },
                                  { .fd = out[0], .events = POLLIN } };
        assert_true(poll(both, 2, SECONDS_MAX * 1000) > 0);
        if ((both[0].revents & POLLOUT) != 0 && written < length) {
            const ssize_t n = write(in[1], sent + written, length - written);
            written += n > 0 ? (size_t)n : 0;
        }
        if (written == length && in[1] >= 0) {
            close(in[1]);
            in[1] = -1;
        }
        if (both[1].revents != 0) {
            const ssize_t n = read(out[0], got + read_so_far, SIZE - read_so_far);
            if (n <= 0) {
                break;
            }
            read_so_far += (size_t)n;
        }
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read_so_far, length + 1);
    assert_memory_equal(got, sent, length + 1);
    close(out[0]);
    free(sent);
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scene_test(a_file_is_followed_through_a_rotation_as_it_happens),
        scene_test(what_is_not_done_with_is_not_committed),
        scene_test(a_source_that_was_removed_comes_again_and_goes_on),
        scene_test(a_line_that_the_mapper_refuses_is_counted_and_passed_over),
        scene_test(a_source_that_begins_anew_goes_on_where_it_was),
        scene_test(a_source_without_room_waits_and_loses_nothing),
        scene_test(bad_lines_are_counted_and_the_others_come),
        scene_test(wrong_options_are_errors_with_a_place),
        scene_test(lines_go_through_into_rotated_files_whole_and_in_order),
        scene_test(a_sink_whose_file_was_moved_makes_a_new_one),
        scene_test(a_sink_that_is_told_to_opens_its_file_anew_at_once),
        scene_test(a_sink_cuts_off_what_a_kill_left_of_a_line),
        scene_test(killed_at_any_moment_no_line_is_lost_and_repeats_are_bounded),
        scene_test(stdin_goes_to_stdout),
    };
    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
