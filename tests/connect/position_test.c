/*
 * position_test.c - whenever a process ends, the next one goes on where it was: a position is the
 * old one or the new, never broken, and finds its file wherever rotation has put it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* nftw */
#include "tail_support.h"

#include <signal.h>
#include <sys/wait.h>

static const weir__place somewhere = { .device = 5,
                                       .inode = UINT64_MAX,
                                       .fingerprint = 7,
                                       .head_size = 256,
                                       .modified = 1700000000 * WEIR_S,
                                       .offset = (uint64_t)1 << 40 };

static weir__position_found open_position(scene *s, weir__position_file *file, weir__place *place)
{
    weir_error error = WEIR_ERROR_INIT;
    weir__position_found found = WEIR__POSITION_NONE;
    const weir_status status =
        weir__position_open(file, beside(s, ".weir-position"), &found, place, &error);
    if (status != WEIR_OK) {
        weir_error_print(&error);
    }
    assert_int_equal(status, WEIR_OK);
    return found;
}

static void a_position_is_read_as_it_was_written(void **state)
{
    scene *s = *state;
    weir__position_file file;
    weir__place place;
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(open_position(s, &file, &place), WEIR__POSITION_NONE);
    assert_int_equal(weir__position_write(&file, &somewhere, &error), WEIR_OK);
    weir__position_close(&file);
    assert_int_equal(open_position(s, &file, &place), WEIR__POSITION_READ);
    assert_int_equal(place.device, somewhere.device);
    assert_true(place.inode == somewhere.inode && place.offset == somewhere.offset);
    assert_int_equal(place.fingerprint, somewhere.fingerprint);
    assert_int_equal(place.head_size, somewhere.head_size);
    assert_true(place.modified == somewhere.modified);
    weir__position_close(&file);
}

static void a_cut_or_spoilt_position_is_known_for_one(void **state)
{
    scene *s = *state;
    weir__position_file file;
    weir__place place;
    weir_error error = WEIR_ERROR_INIT;
    char good[300] = { 0 };
    assert_int_equal(open_position(s, &file, &place), WEIR__POSITION_NONE);
    assert_int_equal(weir__position_write(&file, &somewhere, &error), WEIR_OK);
    weir__position_close(&file);
    const char *path = beside(s, ".weir-position");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = read(fd, good, sizeof(good) - 1);
    close(fd);
    assert_true(size > 40);
    for (ssize_t cut = 0; cut < size; cut++) {
        assert_int_equal(truncate(path, 0), 0);
        char part[300] = { 0 };
        memcpy(part, good, (size_t)cut);
        append(path, part);
        assert_int_equal(open_position(s, &file, &place), WEIR__POSITION_DAMAGED);
        weir__position_close(&file);
    }
    for (ssize_t i = 14; i < size; i++) { /* behind the word that says whose it is */
        char spoilt[300] = { 0 };
        memcpy(spoilt, good, (size_t)size);
        spoilt[i] = (char)(spoilt[i] ^ 1);
        assert_int_equal(truncate(path, 0), 0);
        append(path, spoilt);
        assert_int_equal(open_position(s, &file, &place), WEIR__POSITION_DAMAGED);
        weir__position_close(&file);
    }
    append(path, "more behind it");
    assert_int_equal(open_position(s, &file, &place), WEIR__POSITION_DAMAGED);
    weir__position_close(&file);
}

static void a_file_of_somebody_else_is_refused_and_left_alone(void **state)
{
    scene *s = *state;
    weir__position_file file;
    weir__place place;
    weir__position_found found;
    weir_error error = WEIR_ERROR_INIT;
    append(beside(s, ".weir-position"), "dear diary\n");
    assert_int_equal(
        weir__position_open(&file, beside(s, ".weir-position"), &found, &place, &error),
        WEIR_E_INVALID);
    assert_non_null(strstr(error.text, "position-file"));
    struct stat about;
    assert_int_equal(stat(beside(s, ".weir-position"), &about), 0);
    assert_int_equal(about.st_size, 11);
}

static void one_position_is_for_one_source(void **state)
{
    scene *s = *state;
    weir__position_file first, second;
    weir__place place;
    weir__position_found found;
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(open_position(s, &first, &place), WEIR__POSITION_NONE);
    assert_int_equal(
        weir__position_open(&second, beside(s, ".weir-position"), &found, &place, &error),
        WEIR_E_TAKEN);
    weir__position_close(&first);
    assert_int_equal(open_position(s, &second, &place), WEIR__POSITION_NONE);
    weir__position_close(&second);
}

static void a_folder_that_cannot_be_written_to_is_an_error(void **state)
{
    scene *s = *state;
    weir__position_file file;
    weir__place place;
    weir__position_found found;
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(
        weir__position_open(&file, beside(s, "/no/such/folder"), &found, &place, &error),
        WEIR_E_SYSTEM);
    assert_int_equal(error.os_errno, ENOENT);
    /* It can be opened, and then not replaced. */
    assert_int_equal(open_position(s, &file, &place), WEIR__POSITION_NONE);
    assert_int_equal(mkdir(beside(s, ".weir-position.new"), 0755), 0);
    error = (weir_error)WEIR_ERROR_INIT;
    assert_int_equal(weir__position_write(&file, &somewhere, &error), WEIR_E_SYSTEM);
    assert_int_equal(error.os_errno, EISDIR);
    weir__position_close(&file);
}

/* A child writes positions as fast as it can, and is killed. */
static void a_killed_writer_leaves_the_old_or_the_new_position(void **state)
{
    scene *s = *state;
    uint64_t random = test_seed();
    for (int round = 0; round < 50; round++) {
        int pipes[2];
        assert_int_equal(pipe(pipes), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            weir__position_file file;
            weir__place place = somewhere;
            weir__position_found found;
            if (weir__position_open(&file, beside(s, ".weir-position"), &found, &place, NULL) !=
                0) {
                _exit(1);
            }
            file.synced = round % 2 == 0;
            for (uint64_t i = 1;; i++) {
                place.offset = i;
                if (weir__position_write(&file, &place, NULL) != WEIR_OK ||
                    write(pipes[1], &i, sizeof(i)) != sizeof(i)) {
                    _exit(2);
                }
            }
        }
        close(pipes[1]);
        uint64_t last = 0, wanted = 1 + test_random(&random) % 40, told;
        while (last < wanted && read(pipes[0], &told, sizeof(told)) == sizeof(told)) {
            last = told;
        }
        assert_int_equal(kill(child, SIGKILL), 0);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        while (read(pipes[0], &told, sizeof(told)) == sizeof(told)) {
            last = told;
        }
        close(pipes[0]);
        weir__position_file file;
        weir__place place;
        assert_int_equal(open_position(s, &file, &place), WEIR__POSITION_READ);
        assert_true(place.offset == last || place.offset == last + 1);
        weir__position_close(&file);
    }
}

/* ---- a position and the files ---- */

static void a_stream_goes_on_where_it_was_committed(void **state)
{
    scene *s = *state;
    weir__frame frame;
    weir__place place;
    append(s->path, "one\ntwo\nthree\n");
    open_tail(s, NULL);
    assert_int_equal(weir__tail_next(&s->tail, s->now, &frame), WEIR__FRAME_READY);
    weir__tail_take(&s->tail);
    const uint64_t position = weir__tail_position(&s->tail);
    assert_string_equal(all_of(s), "two|three");
    assert_true(weir__tail_commit(&s->tail, position, &place));
    assert_int_equal(place.offset, 4);
    start_again(s, &place);
    assert_string_equal(all_of(s), "two|three");
    place = commit(s);
    start_again(s, &place);
    assert_string_equal(all_of(s), "");
    append(s->path, "four\n");
    assert_string_equal(look(s), "four");
    assert_false(weir__tail_commit(&s->tail, weir__tail_position(&s->tail) + 1, &place));
}

static void a_position_within_a_rotated_file_finds_it_by_its_inode(void **state)
{
    scene *s = *state;
    append(s->path, "one\ntwo\n");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one|two");
    const weir__place place = commit(s);
    append(s->path, "three\n");
    assert_int_equal(rename(s->path, beside(s, ".2")), 0);
    append(beside(s, ".1"), "four\n");
    append(s->path, "five\n");
    make_old(beside(s, ".1"), 10);
    make_old(beside(s, ".2"), 20);
    start_again(s, &place);
    assert_string_equal(all_of(s), "three|four|five");
    assert_non_null(strstr(s->told, "log.2"));
}

static void positions_of_several_files_are_committed_in_their_turn(void **state)
{
    scene *s = *state;
    weir__place place;
    append(s->path, "one\n");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one");
    const uint64_t first = weir__tail_position(&s->tail);
    append(s->path, "two\n");
    assert_int_equal(rename(s->path, beside(s, ".1")), 0);
    append(s->path, "three\n");
    assert_string_equal(look(s), "two");
    assert_string_equal(look_later(s, WEIR_S), "three");
    assert_int_equal(s->tail.segment_count, 2);
    make_old(beside(s, ".1"), 10);
    assert_true(weir__tail_commit(&s->tail, first, &place));
    assert_int_equal(place.offset, 4);
    const weir__place last = commit(s);
    assert_int_equal(last.offset, 6);
    assert_int_equal(s->tail.segment_count, 1);
    start_again(s, &place);
    assert_string_equal(all_of(s), "two|three");
    start_again(s, &last);
    assert_string_equal(all_of(s), "");
}

static void a_file_that_was_cut_while_nobody_looked_is_read_from_its_beginning(void **state)
{
    scene *s = *state;
    append(s->path, "one\ntwo\n");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one|two");
    const weir__place place = commit(s);
    assert_int_equal(truncate(s->path, 0), 0);
    append(s->path, "new\n");
    start_again(s, &place);
    assert_string_equal(all_of(s), "new");
    assert_non_null(strstr(s->told, "is gone or was cut"));
    append(s->path, "longer than it was before\n");
    start_again(s, &place);
    assert_string_equal(all_of(s), "new|longer than it was before");
}

static void a_file_that_was_copied_and_cut_while_nobody_looked_goes_on_in_the_copy(void **state)
{
    scene *s = *state;
    append(s->path, "one\ntwo\n");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one|two");
    const weir__place place = commit(s);
    append(s->path, "three\n");
    copy_file(s->path, beside(s, ".1"));
    make_old(beside(s, ".1"), 10);
    assert_int_equal(truncate(s->path, 0), 0);
    append(s->path, "four\n");
    start_again(s, &place);
    assert_string_equal(all_of(s), "three|four");
}

static void a_stranger_with_the_same_beginning_is_no_copy(void **state)
{
    scene *s = *state;
    append(s->path, "one\ntwo\n");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one|two");
    append(beside(s, "-out"), "one\ntwo\nthat is written by others\n");
    make_old(beside(s, "-out"), 10);
    const weir__place place = commit(s);
    assert_int_equal(truncate(s->path, 0), 0);
    append(s->path, "new\n");
    assert_string_equal(look(s), "new");
    start_again(s, &place);
    assert_string_equal(all_of(s), "new");
}

static void another_file_with_the_same_inode_is_another_file(void **state)
{
    scene *s = *state;
    append(s->path, "one\ntwo\n");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one|two");
    weir__place place = commit(s);
    struct stat about;
    append(beside(s, ".1"), "a stranger, and long enough\n");
    assert_int_equal(stat(beside(s, ".1"), &about), 0);
    place.inode = about.st_ino;
    make_old(beside(s, ".1"), 1000);
    assert_int_equal(unlink(s->path), 0);
    append(s->path, "three\n");
    start_again(s, &place);
    assert_string_equal(all_of(s), "three");
}

static void a_file_that_is_gone_is_told_of_and_what_is_newer_is_read(void **state)
{
    scene *s = *state;
    append(s->path, "one\n");
    make_old(s->path, 100);
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one");
    const weir__place place = commit(s);
    append(beside(s, ".2"), "older\n");
    append(beside(s, ".1"), "newer\n");
    make_old(beside(s, ".2"), 200);
    make_old(beside(s, ".1"), 50);
    append(beside(s, ".tmp"), "now\n");
    assert_int_equal(rename(beside(s, ".tmp"), s->path), 0);
    start_again(s, &place);
    assert_string_equal(all_of(s), "newer|now");
    assert_non_null(strstr(s->told, "gone"));
}

static void the_number_of_a_device_may_change(void **state)
{
    scene *s = *state;
    append(s->path, "one\ntwo\n");
    open_tail(s, NULL);
    assert_string_equal(all_of(s), "one|two");
    weir__place place = commit(s);
    place.device += 1;
    append(s->path, "three\n");
    start_again(s, &place);
    assert_string_equal(all_of(s), "three");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scene_test(a_position_is_read_as_it_was_written),
        scene_test(a_cut_or_spoilt_position_is_known_for_one),
        scene_test(a_file_of_somebody_else_is_refused_and_left_alone),
        scene_test(one_position_is_for_one_source),
        scene_test(a_folder_that_cannot_be_written_to_is_an_error),
        scene_test(a_killed_writer_leaves_the_old_or_the_new_position),
        scene_test(a_stream_goes_on_where_it_was_committed),
        scene_test(a_position_within_a_rotated_file_finds_it_by_its_inode),
        scene_test(positions_of_several_files_are_committed_in_their_turn),
        scene_test(a_file_that_was_cut_while_nobody_looked_is_read_from_its_beginning),
        scene_test(a_file_that_was_copied_and_cut_while_nobody_looked_goes_on_in_the_copy),
        scene_test(a_stranger_with_the_same_beginning_is_no_copy),
        scene_test(another_file_with_the_same_inode_is_another_file),
        scene_test(a_file_that_is_gone_is_told_of_and_what_is_newer_is_read),
        scene_test(the_number_of_a_device_may_change),
    };
    return cmocka_run_group_tests_name("position", tests, NULL, NULL);
}
