/*
 * descriptor_test.c - what a plugin must be, before its code is looked at: its tables, who may
 * write its file (S-83). Every refusal is a sentence that names the culprit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
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

/* ---- who may write it: asked before it is loaded, so that any file will do ---- */

static char folder[] = "/tmp/weir-writers-XXXXXX";

static void open_refused(mode_t file, mode_t its_folder, const char *why)
{
    char path[64];
    const weir_plugin *plugin = NULL;
    weir_error error = WEIR_ERROR_INIT;
    (void)snprintf(path, sizeof(path), "%s/some.so", folder);
    FILE *some = fopen(path, "we");
    assert_non_null(some);
    assert_int_equal(fclose(some), 0);
    assert_int_equal(chmod(path, file), 0);
    assert_int_equal(chmod(folder, its_folder), 0);
    assert_true(weir_plugin_open(path, &plugin, &error) < 0);
    assert_null(plugin);
    if (strstr(error.text, why) == NULL) {
        (void)weir_error_print(&error);
    }
    assert_non_null(strstr(error.text, why));
    assert_string_equal(error.path, path);
    assert_int_equal(unlink(path), 0);
}

static void a_file_that_others_may_write_is_refused(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    open_refused(0602, 0700, "the file may be written by everybody (mode 602)");
    open_refused(0620, 0700, "the file may be written by its group");
    open_refused(0600, 0777, "its folder may be written by everybody");
    open_refused(0600, 0770, "its folder may be written by its group");
    open_refused(0600, 0700, "cannot be loaded"); /* that was all that kept it from it */
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_table_is_taken),
        cmocka_unit_test(what_is_wrong_with_a_plugin_is_said),
        cmocka_unit_test(what_is_wrong_with_a_type_is_said),
        cmocka_unit_test(what_is_wrong_with_an_option_is_said),
        cmocka_unit_test(types_are_registered_all_or_none_and_once),
        cmocka_unit_test(a_file_that_others_may_write_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
