/*
 * unix_test.c - the source `unix`: a socket file with a mode, and what was left over from another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect_support.h"

static char folder[64], path[96];

static int make_folder(void **unused)
{
    (void)unused;
    snprintf(folder, sizeof(folder), "/tmp/weir-unix-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    snprintf(path, sizeof(path), "%s/in.socket", folder);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    (void)unlink(path);
    return rmdir(folder);
}

static void address_of(struct sockaddr_un *to)
{
    memset(to, 0, sizeof(*to));
    to->sun_family = AF_UNIX;
    snprintf(to->sun_path, sizeof(to->sun_path), "%s", path);
}

static int connect_unix(void)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un to;
    address_of(&to);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static weir_status open_unix(bench *b, const char *options)
{
    char all[256];
    snprintf(all, sizeof(all), "path = \"%s\", %s", path, options);
    bench_open(b);
    bench_source(b, &weir__unix_type, "in", all);
    return weir_components_start(b->engine, &b->error);
}

static void lines_come_over_a_file_with_its_mode_that_goes_at_the_end(void **unused)
{
    (void)unused;
    bench b;
    assert_int_equal(open_unix(&b, "mode = \"0620\""), WEIR_OK);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0620);
    const int fd = connect_unix();
    assert_true(test_send(fd, "one\ntwo\n", 8));
    assert_true(TEST_AWAIT(bench_count(&b) == 2));
    assert_string_equal(bench_text(&b, 1), "two");
    close(fd);
    bench_stop(&b);
    bench_close(&b);
    assert_int_not_equal(stat(path, &about), 0);
}

static void a_file_that_nobody_listens_on_is_replaced(void **unused)
{
    (void)unused;
    const int old = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un at;
    address_of(&at);
    assert_int_equal(bind(old, (const struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(old, 1), 0);
    close(old); /* as a process that was killed leaves it */
    bench b;
    assert_int_equal(open_unix(&b, ""), WEIR_OK);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    const int fd = connect_unix();
    assert_true(test_send(fd, "in\n", 3));
    assert_true(TEST_AWAIT(bench_count(&b) == 1));
    close(fd);
    bench_stop(&b);
    bench_close(&b);
}

static void a_file_that_somebody_listens_on_is_an_error_and_stays(void **unused)
{
    (void)unused;
    const int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un at;
    address_of(&at);
    assert_int_equal(bind(other, (const struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(other, 1), 0);
    bench b;
    assert_int_equal(open_unix(&b, ""), WEIR_E_SYSTEM);
    assert_non_null(strstr(b.error.text, "address already in use"));
    bench_close(&b);
    const int fd = connect_unix();
    /* Nor one whose backlog is full: it refuses as well, for another reason. */
    int more[16], count = 0;
    bool full = false;
    while (!full) {
        more[count] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        full = connect(more[count], (const struct sockaddr *)&at, sizeof(at)) != 0;
        assert_true(!full || errno == EAGAIN);
        count++;
        assert_true(count < 16);
    }
    assert_int_equal(open_unix(&b, ""), WEIR_E_SYSTEM);
    bench_close(&b);
    while (count > 0) {
        close(more[--count]);
    }
    close(fd);
    close(other);
    assert_int_equal(unlink(path), 0);
}

static void a_file_that_is_no_socket_is_an_error_and_stays(void **unused)
{
    (void)unused;
    const int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_int_equal(write(file, "dear", 4), 4);
    close(file);
    bench b;
    assert_int_equal(open_unix(&b, ""), WEIR_E_SYSTEM);
    bench_close(&b);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, 4);
    assert_int_equal(unlink(path), 0);
}

static void a_wrong_mode_and_a_long_path_are_errors(void **unused)
{
    (void)unused;
    static const char *const modes[] = { "0888", "rw", "", "01777", "7 " };
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        char options[64];
        snprintf(options, sizeof(options), "mode = \"%s\"", modes[i]);
        bench b;
        assert_int_equal(open_unix(&b, options), WEIR_E_CONFIG);
        assert_non_null(strstr(b.error.text, "octal"));
        bench_close(&b);
    }
    char options[200];
    snprintf(options, sizeof(options), "path = \"/tmp/%0110d\"", 1);
    bench b;
    bench_open(&b);
    bench_source(&b, &weir__unix_type, "in", options);
    assert_int_equal(weir_components_start(b.engine, &b.error), WEIR_E_CONFIG);
    assert_non_null(strstr(b.error.text, "107"));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_over_a_file_with_its_mode_that_goes_at_the_end),
        cmocka_unit_test(a_file_that_nobody_listens_on_is_replaced),
        cmocka_unit_test(a_file_that_somebody_listens_on_is_an_error_and_stays),
        cmocka_unit_test(a_file_that_is_no_socket_is_an_error_and_stays),
        cmocka_unit_test(a_wrong_mode_and_a_long_path_are_errors),
    };
    return cmocka_run_group_tests_name("unix", tests, make_folder, remove_folder);
}
