/*
 * plugin_test.c - what a plugin must be: its tables, its file, its symbols (S-83). Every refusal is
 * a sentence that names the culprit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sys/stat.h>

#include "host_support.h"

/* ---- tables ---- */

typedef struct settings {
    int64_t rate;
    const char *path;
    int64_t choice;
    weir_option_items items;
    weir_target to;
} settings;

typedef struct item {
    int64_t n;
} item;

static weir_status handle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static const char *const words[] = { "one", "two", NULL };
static const weir_option item_rows[] = { WEIR_KEY(INT, item, n, "n") };

/* All that a test breaks one thing of. */
typedef struct model {
    weir_option rows[5];
    weir_component_type type;
    const weir_component_type *types[2];
    weir_plugin plugin;
} model;

static void model_make(model *m)
{
    static const weir_option rows[] = {
        WEIR_KEY(INT, settings, rate, "rate", .fallback = "10", .min = 1, .max = 100),
        WEIR_KEY(STRING, settings, path, "path", .required = true),
        WEIR_KEY(ENUM, settings, choice, "choice", .words = words, .fallback = "two"),
        WEIR_KEY(ITEMS, settings, items, "items", .rows = item_rows, .row_count = 1,
                 .item_size = sizeof(item)),
        WEIR_KEY(TARGET, settings, to, "to"),
    };
    memset(m, 0, sizeof(*m));
    memcpy(m->rows, rows, sizeof(rows));
    m->type = (weir_component_type){
        .struct_size = sizeof(m->type),
        .kind = WEIR_KIND_PROCESSOR,
        .name = "model",
        .config_size = sizeof(settings),
        .options = m->rows,
        .option_count = 5,
        .handler = handle,
    };
    m->types[0] = &m->type;
    m->types[1] = &m->type;
    m->plugin =
        (weir_plugin){ WEIR_PLUGIN_HEAD, .name = "models", .types = m->types, .type_count = 1 };
}

static void refused(const model *m, const char *where, const char *why)
{
    weir_error error = WEIR_ERROR_INIT;
    assert_true(weir_plugin_check(&m->plugin, &error) < 0);
    if (strstr(error.path, where) == NULL || strstr(error.text, why) == NULL) {
        (void)fprintf(stderr, "%s: %s, not %s: %s\n", error.path, error.text, where, why);
    }
    assert_non_null(strstr(error.path, where));
    assert_non_null(strstr(error.text, why));
}

#define BREAK(change, where, why)                                                                  \
    do {                                                                                           \
        model_make(&m);                                                                            \
        change;                                                                                    \
        refused(&m, where, why);                                                                   \
    } while (0)

static void a_good_table_is_taken(void **state)
{
    model m;
    (void)state;
    model_make(&m);
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(weir_plugin_check(&m.plugin, &error), WEIR_OK);
    m.plugin.type_count = 0; /* one that brings nothing but its load */
    m.plugin.types = NULL;
    assert_int_equal(weir_plugin_check(&m.plugin, &error), WEIR_OK);
}

static void what_is_wrong_with_a_plugin_is_said(void **state)
{
    model m;
    (void)state;
    BREAK(m.plugin.abi = 2, "", "is made for plugin ABI 2, and this weir has 1");
    BREAK(m.plugin.struct_size = 3, "", "struct_size");
    BREAK(m.plugin.name = NULL, "", "has no name");
    BREAK(m.plugin.name = "Models", "", "the name Models; must be small letters");
    BREAK(m.plugin.weir_version = 7000, "plugin models", "headers of version 7.0");
    BREAK(m.plugin.types = NULL, "plugin models", "no table of them");
    BREAK(m.plugin.type_count = 2, "plugin models", "has the type model twice");
    BREAK(m.types[0] = NULL, "plugin models", "a type is NULL");
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(weir_plugin_check(NULL, &error), WEIR_E_INVALID);
}

static void what_is_wrong_with_a_type_is_said(void **state)
{
    model m;
    (void)state;
    BREAK(m.type.struct_size = 4, "plugin models", "struct_size");
    BREAK(m.type.name = "", "plugin models", "the name ");
    BREAK(m.type.name = "a-name-that-is-longer-than-fits-anywhere", "", "the name a-name");
    BREAK(m.type.kind = 9, "type model", "is of kind 9");
    BREAK(m.type.handler = NULL, "type model", "needs a handler or cases");
    BREAK(m.type.kind = WEIR_KIND_SOURCE, "type model", "cannot have a handler");
    BREAK(m.type.options = NULL, "type model", "5 options and no table");
    BREAK(m.type.state_size = SIZE_MAX, "type model", "has a state of");
    BREAK(m.type.cases = (weir_cases){ .count = 1 }, "type model", "a handler and cases");
}

static void what_is_wrong_with_an_option_is_said(void **state)
{
    model m;
    (void)state;
    BREAK(m.rows[0].key = NULL, "type model", "option 1 has no key");
    BREAK(m.rows[0].key = "Rate", "type model", "the key Rate; must be small letters");
    BREAK(m.rows[1].key = "rate", "type model", "has the key rate twice");
    BREAK(m.rows[0].key = "thread", "key thread", "every component has");
    BREAK(m.rows[0].kind = 99, "key rate", "is of kind 99");
    BREAK(m.rows[0].offset = sizeof(settings), "key rate", "outside the struct");
    BREAK(m.rows[4].offset = sizeof(settings) - 8, "key to", "outside the struct");
    BREAK(m.rows[0].offset = SIZE_MAX, "key rate", "outside the struct");
    BREAK(m.rows[0].offset = 3, "key rate", "where none of its kind can be");
    BREAK(m.rows[0].fallback = "ten", "key rate", "has the fallback \"ten\"");
    BREAK(m.rows[0].fallback = "101", "key rate", "101 is not <= 100");
    BREAK(m.rows[2].fallback = "three", "key choice", "is none of one, two");
    BREAK(m.rows[2].words = NULL, "key choice", "without words");
    BREAK(m.rows[0].min = 200, "key rate", "has a min of 200 and a max of 100");
    BREAK(m.rows[3].rows = NULL, "key items", "needs rows");
    BREAK(m.rows[3].item_size = 0, "key items", "item_size of 0");
    BREAK(m.rows[3].item_size = 4, "key items.n", "outside the struct");
    BREAK(m.rows[0].struct_size = 8, "type model", "struct_size is 8");
    BREAK(m.rows[2].struct_size = 8, "type model", "different struct_size");
    BREAK(m.rows[1].kind = WEIR_OPTION_NAME, "key path", "there is no map");
}

static void types_are_registered_all_or_none_and_once(void **state)
{
    model first, second;
    (void)state;
    model_make(&first);
    model_make(&second);
    second.plugin.name = "others";
    weir_component_type fresh = second.type;
    fresh.name = "fresh";
    second.types[0] = &fresh;
    second.plugin.type_count = 2;
    weir_engine *engine = host_engine();
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(weir_plugin_register(engine, &first.plugin, &error), WEIR_OK);
    assert_int_equal(weir_plugin_register(engine, &first.plugin, &error), WEIR_ALREADY);
    assert_ptr_equal(weir_component_type_find(engine, "model"), &first.type);
    assert_int_equal(weir_plugin_register(engine, &second.plugin, &error), WEIR_E_TAKEN);
    assert_non_null(strstr(error.text, "type model already, of plugin models"));
    assert_null(weir_component_type_find(engine, "fresh"));
    weir_engine_destroy(engine);
}

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

static void a_file_that_others_may_write_is_refused(void **state)
{
    (void)state;
    const char *path = copy_of("good");
    assert_int_equal(chmod(path, 0602), 0);
    open_refused(path, "the file may be written by everybody (mode 602)");
    path = copy_of("good");
    assert_int_equal(chmod(path, 0620), 0);
    open_refused(path, "the file may be written by its group");
    path = copy_of("good");
    assert_int_equal(chmod(folder, 0777), 0);
    open_refused(path, "its folder may be written by everybody");
    assert_int_equal(chmod(folder, 0700), 0);
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
        cmocka_unit_test(a_good_table_is_taken),
        cmocka_unit_test(what_is_wrong_with_a_plugin_is_said),
        cmocka_unit_test(what_is_wrong_with_a_type_is_said),
        cmocka_unit_test(what_is_wrong_with_an_option_is_said),
        cmocka_unit_test(types_are_registered_all_or_none_and_once),
        cmocka_unit_test(a_plugin_is_loaded_once_and_its_types_can_be_used),
        cmocka_unit_test(a_file_that_others_may_write_is_refused),
        cmocka_unit_test(what_is_no_plugin_is_refused),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
