/*
 * plugin_test.c - plugins are loaded: once, with all their symbols, or refused with the reason
 * (S-83).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sys/stat.h>

#include "host_support.h"

/* ---- files ---- */

static char folder[] = "/tmp/weir-plugin-XXXXXX";
static char here[PATH_MAX];

static int open_folder(void **state)
{
    (void)state;
    const ssize_t length = readlink("/proc/self/exe", here, sizeof(here) - 1);
    assert_true(length > 0);
    here[length] = '\0';
    *strrchr(here, '/') = '\0';
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int close_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* A copy of a fixture, in a folder that is only ours. */
static const char *copy_of(const char *fixture)
{
    static char path[PATH_MAX];
    static unsigned count;
    char from[PATH_MAX + 64];
    char bytes[4096];
    (void)snprintf(from, sizeof(from), "%s/libplugin_%s.so", here, fixture);
    (void)snprintf(path, sizeof(path), "%s/%s-%u.so", folder, fixture, count++);
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(in >= 0 && out >= 0);
    ssize_t got;
    while ((got = read(in, bytes, sizeof(bytes))) > 0) {
        assert_int_equal(write(out, bytes, (size_t)got), got);
    }
    (void)close(in);
    (void)close(out);
    return path;
}

static void open_refused(const char *path, const char *why)
{
    const weir_plugin *plugin = NULL;
    weir_error error = WEIR_ERROR_INIT;
    assert_true(weir_plugin_open(path, &plugin, &error) < 0);
    assert_null(plugin);
    if (strstr(error.text, why) == NULL) {
        (void)weir_error_print(&error);
    }
    assert_non_null(strstr(error.text, why));
    assert_memory_equal(error.path, path, strlen(path) < 100 ? strlen(path) : 100);
    (void)unlink(path);
}

static void a_plugin_is_loaded_once_and_its_types_can_be_used(void **state)
{
    (void)state;
    const char *path = copy_of("good");
    for (int i = 0; i < 2; i++) { /* its load fails the second time: it must not be called */
        weir_engine *engine = host_engine();
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(weir_plugin_load(engine, path, &error), WEIR_OK);
        const weir_component_type *type = weir_component_type_find(engine, "fixture-counter");
        assert_non_null(type);
        (void)actor_add(engine, type, WEIR_COMPONENT(.name = "counter"));
        host_start(engine);
        const weir_event event = { .type = &weir_text_type, .data = "hello", .size = 5 };
        assert_int_equal(weir_engine_post(engine, weir_processor_find(engine, "counter"), &event),
                         WEIR_OK);
        assert_int_equal(host_stop(engine).handled, 1);
        weir_engine_destroy(engine);
    }
    (void)unlink(path);
}

static void what_is_no_plugin_is_refused(void **state)
{
    (void)state;
    char path[PATH_MAX];
    open_refused(copy_of("abi"), "is made for plugin ABI 2, and this weir has 1");
    open_refused(copy_of("symbol"), "undefined symbol: weir_that_was_never");
    open_refused(copy_of("none"), "exports no weir_plugin_descriptor");
    open_refused("/nowhere/at/all.so", "cannot be found");
    (void)snprintf(path, sizeof(path), "%s/folder.so", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    open_refused(path, "is no regular file");
    assert_int_equal(rmdir(path), 0);
    (void)snprintf(path, sizeof(path), "%s/text.so", folder);
    FILE *text = fopen(path, "we");
    assert_non_null(text);
    (void)fputs("no object\n", text);
    (void)fclose(text);
    assert_int_equal(chmod(path, 0600), 0);
    open_refused(path, "cannot be loaded");
    weir_error error = WEIR_ERROR_INIT;
    const weir_plugin *plugin;
    assert_int_equal(weir_plugin_open("", &plugin, &error), WEIR_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plugin_is_loaded_once_and_its_types_can_be_used),
        cmocka_unit_test(what_is_no_plugin_is_refused),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
