/*
 * tail_test.c - a file is followed through all that happens to logs: every line once, in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* nftw */
#include "tail_support.h"

static void lines_come_as_they_are_written_and_the_last_waits_for_its_newline(void **state)
{
    scene *s = *state;
    append(s->path, "one\ntwo\nthr");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one|two");
    append(s->path, "ee\n");
    assert_string_equal(all_of(s), ""); /* nobody said so, and it is not time to look */
    assert_string_equal(look(s), "three");
    append(s->path, "four\n");
    s->now += WEIR_S;
    assert_string_equal(all_of(s), "four");
}

static void a_file_that_is_not_there_yet_is_waited_for(void **state)
{
    scene *s = *state;
    s->options.strategy = WEIR__TAIL_LATEST;
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "");
    assert_int_equal(weir__tail_due(&s->tail), s->now + WEIR_S);
    append(s->path, "one\n");
    assert_string_equal(look(s), "one");
}

static void the_latest_is_the_end_with_the_line_that_is_being_written(void **state)
{
    scene *s = *state;
    s->options.strategy = WEIR__TAIL_LATEST;
    append(s->path, "one\ntwo\nthr");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "");
    append(s->path, "ee\n");
    assert_string_equal(look(s), "three");
}

static void once_gives_all_up_to_the_end_without_a_newline_too(void **state)
{
    scene *s = *state;
    s->options.strategy = WEIR__TAIL_ONCE_EARLIEST;
    append(s->path, "one\ntwo");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one|two");
    assert_true(s->tail.done);
    append(s->path, "three\n");
    assert_string_equal(look_later(s, 10 * WEIR_S), "");
    assert_true(weir__tail_due(&s->tail) == WEIR_FOREVER);
    weir__tail_close(&s->tail);
    s->options.strategy = WEIR__TAIL_ONCE_LATEST;
    append(s->path, "unfinished");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "unfinished");
    assert_true(s->tail.done);
}

static void once_needs_a_file_and_a_folder_is_none(void **state)
{
    scene *s = *state;
    weir_error error = WEIR_ERROR_INIT;
    s->options.strategy = WEIR__TAIL_ONCE_EARLIEST;
    assert_int_equal(weir__tail_open(&s->tail, &s->options, NULL, &error), WEIR_E_SYSTEM);
    assert_int_equal(error.os_errno, ENOENT);
    s->options.strategy = WEIR__TAIL_EARLIEST;
    assert_int_equal(mkdir(s->path, 0755), 0);
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(weir__tail_open(&s->tail, &s->options, NULL, &error), WEIR_E_SYSTEM);
    assert_int_equal(error.os_errno, EISDIR);
    assert_int_equal(rmdir(s->path), 0);
    assert_int_equal(mkfifo(s->path, 0644), 0);
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(weir__tail_open(&s->tail, &s->options, NULL, &error), WEIR_E_SYSTEM);
    assert_non_null(strstr(error.text, "ordinary"));
}

static void a_renamed_file_is_read_to_its_end_and_then_the_new_one(void **state)
{
    scene *s = *state;
    append(s->path, "one\n");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one");
    append(s->path, "two\n");
    assert_int_equal(rename(s->path, beside(s, ".1")), 0);
    assert_string_equal(look(s), "two");
    append(beside(s, ".1"), "late without a new file\n");
    assert_string_equal(look_later(s, 5 * WEIR_S), "late without a new file");
    append(s->path, "new\n");
    append(beside(s, ".1"), "late with one\nno newline");
    assert_string_equal(look(s), "late with one");
    append(beside(s, ".1"), ", later\nthe end");
    assert_string_equal(look_later(s, WEIR_S / 2), "no newline, later");
    assert_string_equal(look_later(s, WEIR_S / 2), "");
    assert_string_equal(look_later(s, WEIR_S / 2), "the end|new");
    append(s->path, "newer\n");
    assert_string_equal(look(s), "newer");
}

static void a_writer_that_never_learns_of_the_rotation_is_left_behind(void **state)
{
    scene *s = *state;
    append(s->path, "one\n");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one");
    assert_int_equal(rename(s->path, beside(s, ".1")), 0);
    append(s->path, "new\n");
    bool seen = false;
    for (int i = 0; i < 30 && !seen; i++) {
        append(beside(s, ".1"), "old\n");
        seen = strstr(look_later(s, WEIR_S / 2), "new") != NULL;
    }
    assert_true(seen);
    assert_non_null(strstr(s->told, "left behind"));
}

static void several_rotations_between_two_looks_lose_nothing(void **state)
{
    scene *s = *state;
    append(s->path, "one\n");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one");
    append(s->path, "two\n");
    for (int i = 0; i < 3; i++) {
        char line[32];
        (void)rename(beside(s, ".2"), beside(s, ".3"));
        (void)rename(beside(s, ".1"), beside(s, ".2"));
        assert_int_equal(rename(s->path, beside(s, ".1")), 0);
        snprintf(line, sizeof(line), "new %d\n", i);
        append(s->path, line);
    }
    assert_string_equal(look(s), "two");
    for (int i = 1; i <= 3; i++) {
        char suffix[16];
        snprintf(suffix, sizeof(suffix), ".%d", i);
        make_old(beside(s, suffix), 60 * i);
    }
    assert_string_equal(look_later(s, WEIR_S), "new 0|new 1|new 2");
}

static void files_with_dates_are_read_by_name_and_strangers_are_not(void **state)
{
    scene *s = *state;
    append(s->path, "one\n");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one");
    assert_int_equal(rename(s->path, beside(s, "-20261101")), 0);
    append(beside(s, "-20261102"), "two\n");
    append(beside(s, "-20261103"), "three\n");
    append(beside(s, "-20261104.gz"), "compressed\n");
    append(beside(s, ".bak"), "somebody's copy\n");
    append(beside(s, ".weir-position"), "weir-position\n");
    append(beside(s, "-20261031"), "zero\n");
    append(s->path, "four\n");
    make_old(beside(s, "-20261102"), 50);
    make_old(beside(s, "-20261103"), 60); /* the name counts */
    assert_string_equal(look(s), "");
    assert_string_equal(look_later(s, WEIR_S), "two|three|four");
}

static void a_cut_file_begins_again_with_what_was_left_of_its_last_line(void **state)
{
    scene *s = *state;
    append(s->path, "one\ntwo\nunfinish");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one|two");
    assert_int_equal(truncate(s->path, 0), 0);
    append(s->path, "new\n");
    assert_string_equal(look(s), "unfinish|new");
    assert_int_equal(s->tail.cuts, 1);
    append(s->path, "er\n");
    assert_string_equal(look(s), "er");
}

static void a_cut_file_that_has_grown_beyond_is_seen_by_its_first_bytes(void **state)
{
    scene *s = *state;
    append(s->path, "one\ntwo\n");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one|two");
    assert_int_equal(truncate(s->path, 0), 0);
    append(s->path, "another beginning, and longer than before\nmore\n");
    assert_string_equal(look(s), "another beginning, and longer than before|more");
}

static void copied_and_cut_loses_nothing_that_is_in_the_copy(void **state)
{
    scene *s = *state;
    append(s->path, "one\ntwo\nunfi");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one|two");
    append(s->path, "nished\nthree\n");
    copy_file(s->path, beside(s, ".1"));
    assert_int_equal(truncate(s->path, 0), 0);
    append(s->path, "four\n");
    make_old(beside(s, ".1"), 60);
    assert_string_equal(look(s), "unfinished|three|four");
    const weir__place place = commit(s);
    append(s->path, "five\n");
    start_again(s, &place);
    assert_string_equal(all_of(s), "five");
}

static void a_replaced_file_and_one_deleted_and_made_anew_are_new_files(void **state)
{
    scene *s = *state;
    append(s->path, "one\n");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one");
    append(beside(s, ".tmp"), "two\n");
    assert_int_equal(rename(beside(s, ".tmp"), s->path), 0);
    assert_string_equal(look(s), "");
    assert_string_equal(look_later(s, WEIR_S), "two");
    assert_int_equal(unlink(s->path), 0);
    assert_string_equal(look(s), "");
    append(s->path, "three\n");
    assert_string_equal(look(s), "");
    assert_string_equal(look_later(s, WEIR_S), "three");
}

static void a_link_that_is_turned_is_followed(void **state)
{
    scene *s = *state;
    append(beside(s, "s-monday"), "one\n");
    append(beside(s, "s-tuesday"), "two\n");
    assert_int_equal(symlink("logs-monday", s->path), 0);
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one");
    append(beside(s, "s-monday"), "late\n");
    assert_int_equal(symlink("logs-tuesday", beside(s, ".new")), 0);
    assert_int_equal(rename(beside(s, ".new"), s->path), 0);
    assert_string_equal(look(s), "late");
    assert_string_equal(look_later(s, WEIR_S), "two");
}

static void a_line_without_an_end_does_not_keep_the_thread(void **state)
{
    scene *s = *state;
    char text[20001];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    append(s->path, text);
    append(s->path, "\nok\n");
    open_tail(s, NULL);
    weir__frame frame;
    assert_int_equal(weir__tail_next(&s->tail, s->now, &frame), WEIR__FRAME_NONE);
    assert_true(s->tail.busy);
    assert_int_equal(weir__tail_due(&s->tail), 0);
    const char *all = all_of(s);
    assert_int_equal(strlen(all), 1000 + 2 + 3);
    assert_string_equal(all + 1002, "|ok");
    assert_int_equal(s->tail.framer.too_long, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scene_test(lines_come_as_they_are_written_and_the_last_waits_for_its_newline),
        scene_test(a_file_that_is_not_there_yet_is_waited_for),
        scene_test(the_latest_is_the_end_with_the_line_that_is_being_written),
        scene_test(once_gives_all_up_to_the_end_without_a_newline_too),
        scene_test(once_needs_a_file_and_a_folder_is_none),
        scene_test(a_renamed_file_is_read_to_its_end_and_then_the_new_one),
        scene_test(a_writer_that_never_learns_of_the_rotation_is_left_behind),
        scene_test(several_rotations_between_two_looks_lose_nothing),
        scene_test(files_with_dates_are_read_by_name_and_strangers_are_not),
        scene_test(a_cut_file_begins_again_with_what_was_left_of_its_last_line),
        scene_test(a_cut_file_that_has_grown_beyond_is_seen_by_its_first_bytes),
        scene_test(copied_and_cut_loses_nothing_that_is_in_the_copy),
        scene_test(a_replaced_file_and_one_deleted_and_made_anew_are_new_files),
        scene_test(a_link_that_is_turned_is_followed),
        scene_test(a_line_without_an_end_does_not_keep_the_thread),
    };
    return cmocka_run_group_tests_name("tail", tests, NULL, NULL);
}
