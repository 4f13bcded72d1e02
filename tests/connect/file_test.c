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
    bench_source(&b, &weir__file_type, "tail", with_path(s->path, "commit-fsync = always"));
    weir__store(&b.heard.shut, 1, release);
    bench_start(&b);
    UNTIL(bench_figure(&b, "tail", "events") == 3);
    assert_int_equal(bench_figure(&b, "tail", "writes"), 0);
    assert_int_equal(stat(beside(s, ".weir-position"), &about), -1);
    weir__store(&b.heard.shut, 0, release);
    UNTIL(bench_figure(&b, "tail", "committed") == 6);
    UNTIL(bench_figure(&b, "tail", "writes") > 0);
    assert_int_equal(stat(beside(s, ".weir-position"), &about), 0);
    bench_stop(&b);
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
    const size_t moved = append_contents(beside(s, "-moved"), text, 0, sizeof(text));
    assert_memory_equal(text, "one\n", 4);
    assert_int_equal(stat(beside(s, "-out"), &about), 0);
    assert_int_equal((size_t)about.st_size + moved, 4 + 5 * (size_t)lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scene_test(a_file_is_followed_through_a_rotation_as_it_happens),
        scene_test(what_is_not_done_with_is_not_committed),
        scene_test(a_source_without_room_waits_and_loses_nothing),
        scene_test(bad_lines_are_counted_and_the_others_come),
        scene_test(wrong_options_are_errors_with_a_place),
        scene_test(lines_go_through_into_rotated_files_whole_and_in_order),
        scene_test(a_sink_whose_file_was_moved_makes_a_new_one),
    };
    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
