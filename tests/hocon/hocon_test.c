/*
 * hocon/hocon_test.c - the promises of hocon.h: layers, settings, places, paths, limits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hocon_support.h"

#include <sys/stat.h>

static const weir__node *at(const scene *s, const char *path)
{
    scene other;
    scene_open(&other, NULL);
    const weir__node *node = weir__hocon_find(s->tree, path, &other.problems);
    assert_int_equal(0, other.problems.count);
    scene_close(&other);
    return node;
}

static void later_layers_lie_over_earlier_ones_and_feed_their_substitutions(void **state)
{
    (void)state;
    scene s;
    scene_open(&s, NULL);
    assert_true(scene_add(&s, "a { b = 1, c = ${a.b} }, l = [1]"));
    assert_true(scene_add(&s, "a.b = 2, l = ${l} [2]"));
    assert_true(scene_add(&s, "l += 3"));
    scene_resolve(&s);
    assert_tree(&s, "{a:{b:2,c:2},l:[1,2,3]}");
    scene_close(&s);
}

static void an_empty_document_is_an_empty_object(void **state)
{
    (void)state;
    scene s;
    scene_open(&s, NULL);
    scene_resolve(&s);
    assert_tree(&s, "{}");
    scene_close(&s);
    weir__hocon_destroy(NULL);
}

static void a_setting_is_a_path_and_a_value(void **state)
{
    (void)state;
    scene s;
    scene_open(&s, NULL);
    assert_true(scene_add(&s, "a.b = 1, port = 80"));
    static const char *const settings[] = {
        "a.b=2",
        "a.\"c.d\"=[1, {x: y}]",
        "url=http://x:1/y?z",
        "empty=",
        "port=${a.b}",
        "time=12:30",
        "text=a b",
        "list += 1",
    };
    for (size_t i = 0; i < 7; i++) {
        assert_true(weir__hocon_add_setting(s.document, "-D", settings[i]));
    }
    assert_false(weir__hocon_add_setting(s.document, "-D", settings[7]));
    assert_false(weir__hocon_add_setting(s.document, "-D", "key"));
    assert_false(weir__hocon_add_setting(s.document, "-D", "=value"));
    assert_false(weir__hocon_add_setting(s.document, "-D", "\xff=1"));
    assert_int_equal(4, s.problems.count);
    assert_string_equal("-D", s.problems.items[0].origin.source);
    weir__problems_close(&s.problems);
    scene_resolve(&s);
    assert_tree(&s, "{a:{b:2,\"c.d\":[1,{x:y}]},url:\"http://x:1/y?z\",empty:\"\",port:2,"
                    "time:\"12:30\",text:\"a b\"}");
    assert_string_equal("-D", at(&s, "a.b")->origin.source);
    scene_close(&s);
}

static void a_tree_is_a_layer_that_is_copied(void **state)
{
    (void)state;
    scene from, s;
    scene_open(&from, NULL);
    assert_true(scene_add(&from, "a { x = 1, n = null, t = true, l = [1.50, z] }"));
    scene_resolve(&from);
    scene_open(&s, NULL);
    assert_true(scene_add(&s, "a { x = 0, y = 2 }, b = ${a.l}"));
    assert_true(weir__hocon_add_tree(s.document, from.tree));
    scene_close(&from);
    scene_resolve(&s);
    assert_tree(&s, "{a:{x:1,y:2,n:null,t:true,l:[1.5,z]},b:[1.5,z]}");
    assert_string_equal("1.50", at(&s, "b")->list.items[0]->text.bytes);
    assert_string_equal("a.conf", at(&s, "a.x")->origin.source);
    scene_close(&s);
}

static void a_value_knows_where_it_was_written(void **state)
{
    (void)state;
    scene s;
    scene_open(&s, NULL);
    assert_true(
        scene_add(&s, "a = 1\nb {\n  c : [x, \"\xc3\xbc\"  ]\n  d = ${a}\n}\ne =\n  f g\n"));
    scene_resolve(&s);
    static const struct {
        const char *path;
        uint32_t line, column;
    } places[] = { { "a", 1, 5 }, { "b", 2, 3 }, { "b.c", 3, 7 }, { "b.d", 1, 5 }, { "e", 7, 3 } };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const weir__node *node = at(&s, places[i].path);
        assert_string_equal("a.conf", node->origin.source);
        assert_int_equal(places[i].line, node->origin.line);
        assert_int_equal(places[i].column, node->origin.column);
    }
    assert_int_equal(11, at(&s, "b.c")->list.items[1]->origin.column);
    scene_close(&s);
}

static void members_stand_in_the_order_of_their_first_appearance(void **state)
{
    (void)state;
    scene s;
    scene_open(&s, NULL);
    assert_true(scene_add(&s, "z = ${a}, y = ${?none}, x = 1, a = 2, z = 3"));
    scene_resolve(&s);
    assert_int_equal(3, s.tree->root->object.count);
    assert_string_equal("z", s.tree->root->object.members[0].key.bytes);
    assert_string_equal("x", s.tree->root->object.members[1].key.bytes);
    assert_string_equal("a", s.tree->root->object.members[2].key.bytes);
    scene_close(&s);
}

static void a_path_expression_finds_a_value(void **state)
{
    (void)state;
    scene s;
    scene_open(&s, NULL);
    assert_true(scene_add(&s, "a.\"b.c\".d = 1, \"\" = 2, x y = 3"));
    scene_resolve(&s);
    assert_string_equal("1", at(&s, "a.\"b.c\".d")->text.bytes);
    assert_string_equal("1", at(&s, " a.\"b.c\".d ")->text.bytes);
    assert_string_equal("2", at(&s, "\"\"")->text.bytes);
    assert_string_equal("3", at(&s, "x y")->text.bytes);
    assert_null(at(&s, "a.b.c.d"));
    assert_null(at(&s, "a.none"));
    static const char *const wrong[] = { "", ".", "a.", "a..b", "$", "a{", "\"a", "\xff" };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_null(weir__hocon_find(s.tree, wrong[i], &s.problems));
        assert_int_equal(i + 1, s.problems.count);
    }
    scene_close(&s);
}

/* --- the environment -------------------------------------------------------------------------- */

static const char *two_names(void *context, const char *name)
{
    ++*(int *)context;
    return strcmp(name, "ONE") == 0 ? "1" : strcmp(name, "BAD") == 0 ? "\xff" : NULL;
}

static void only_what_is_not_in_the_document_is_asked_of_the_environment(void **state)
{
    (void)state;
    int asked = 0;
    const weir__hocon_options options = { .environment = two_names, .environment_context = &asked };
    scene s;
    scene_open(&s, &options);
    assert_true(scene_add(&s, "a = ${ONE}, b = ${?TWO}, ONE_MORE = x, c = ${ONE_MORE}"));
    scene_resolve(&s);
    assert_tree(&s, "{a:\"1\",ONE_MORE:x,c:x}");
    assert_string_equal("environment", at(&s, "a")->origin.source);
    assert_int_equal(2, asked);
    scene_close(&s);
    scene_open(&s, &options);
    assert_true(scene_add(&s, "a = ${BAD}"));
    scene_resolve(&s);
    assert_null(s.tree);
    scene_close(&s);
    asked = 0;
    weir__hocon_options without = options;
    without.ignore_environment = true;
    scene_open(&s, &without);
    assert_true(scene_add(&s, "a = ${?ONE}"));
    scene_resolve(&s);
    assert_tree(&s, "{}");
    assert_int_equal(0, asked);
    scene_close(&s);
}

/* --- files ------------------------------------------------------------------------------------ */

static char folder[] = "/tmp/weir-hocon-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = { "a.conf",           "b.conf",   "inside/c.conf",
                                         "inside/link.conf", "inside",   "reference.conf",
                                         "d.json",           "pipe.conf" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)remove(names[i]);
    }
    return chdir("/") != 0 || rmdir(folder) != 0;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(0, fclose(file));
}

static void includes_do_not_leave_their_folder(void **state)
{
    (void)state;
    assert_int_equal(0, mkdir("inside", 0700));
    write_file("b.conf", "b = 1");
    write_file("inside/c.conf", "c = 1");
    assert_int_equal(0, symlink("../b.conf", "inside/link.conf"));
    const weir__hocon_options options = { .ignore_environment = true, .include_root = "inside" };
    static const char *const bad[] = { "include \"b.conf\"", "include \"inside/../b.conf\"",
                                       "include \"inside/link.conf\"",
                                       "include file(\"/etc/passwd.conf/../passwd.conf\")" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        scene s;
        scene_open(&s, &options);
        (void)scene_add(&s, bad[i]);
        scene_resolve(&s);
        /* What is not there is missing, inside or not. */
        assert_int_equal(i < 3, s.tree == NULL);
        scene_close(&s);
    }
    scene s;
    scene_open(&s, &options);
    assert_true(scene_add(&s, "include \"inside/c.conf\""));
    scene_resolve(&s);
    assert_tree(&s, "{c:1}");
    scene_close(&s);
}

static void what_is_no_file_is_not_waited_for(void **state)
{
    (void)state;
    assert_int_equal(0, mkfifo("pipe.conf", 0600));
    assert_says("include \"pipe.conf\"",
                "a.conf:1:1: cannot include pipe.conf: it is not a regular "
                "file\n");
    scene s;
    scene_open(&s, NULL);
    assert_false(weir__hocon_add_file(s.document, "none.conf"));
    assert_false(weir__hocon_add_file(s.document, "."));
    assert_int_equal(2, s.problems.errors);
    scene_close(&s);
}

static void a_file_beyond_the_limit_is_not_read(void **state)
{
    (void)state;
    write_file("a.conf", "a = 0123456789");
    for (size_t limit = 13; limit <= 14; limit++) {
        const weir__hocon_options options = { .ignore_environment = true, .file_size_max = limit };
        scene s;
        scene_open(&s, &options);
        assert_int_equal(limit == 14, weir__hocon_add_file(s.document, "a.conf"));
        assert_int_equal(limit == 14, scene_add(&s, "b = 0123456789"));
        scene_close(&s);
    }
}

static void a_reference_conf_resolves_by_itself(void **state)
{
    (void)state;
    write_file("reference.conf", "log = ${root}/log");
    write_file("a.conf", "root = /data");
    static const char *const lower[] = { "reference.conf", "a.conf" };
    for (size_t i = 0; i < 2; i++) {
        scene s;
        scene_open(&s, NULL);
        assert_true(weir__hocon_add_file(s.document, lower[i]));
        (void)weir__hocon_add_file(s.document, lower[1 - i]);
        scene_resolve(&s);
        assert_int_equal(i == 1, s.tree != NULL);
        scene_close(&s);
    }
    write_file("reference.conf", "root = /var, log = ${root}/log, l = [1], l += 2");
    scene s;
    scene_open(&s, NULL);
    assert_true(weir__hocon_add_file(s.document, "reference.conf"));
    assert_true(weir__hocon_add_file(s.document, "a.conf"));
    assert_true(scene_add(&s, "l += 3"));
    scene_resolve(&s);
    assert_tree(&s, "{root:/data,log:/data/log,l:[1,2,3]}");
    scene_close(&s);
}

static void a_json_file_is_json(void **state)
{
    (void)state;
    write_file("d.json", "{\"a\": {\"b.c\": [1, null]}}");
    scene s;
    scene_open(&s, NULL);
    assert_true(weir__hocon_add_file(s.document, "d.json"));
    write_file("d.json", "a = 1");
    assert_false(weir__hocon_add_file(s.document, "d.json"));
    weir__problems_close(&s.problems);
    scene_resolve(&s);
    assert_tree(&s, "{a:{\"b.c\":[1,null]}}");
    scene_close(&s);
}

static void the_depth_is_what_was_asked_for(void **state)
{
    (void)state;
    const weir__hocon_options options = { .ignore_environment = true, .depth_max = 3 };
    static const char *const texts[] = { "a=[[[1]]]",       "a.b.c.d=1",    "a{b{c{d=1}}}",
                                         "a=[{b=[1]}]",     "a=[[[[1]]]]",  "a.b.c.d.e=1",
                                         "a{b{c{d{e=1}}}}", "a=[{b=[[1]]}]" };
    for (size_t i = 0; i < 8; i++) {
        scene s;
        scene_open(&s, &options);
        assert_int_equal(i < 4, scene_add(&s, texts[i]));
        scene_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_layers_lie_over_earlier_ones_and_feed_their_substitutions),
        cmocka_unit_test(an_empty_document_is_an_empty_object),
        cmocka_unit_test(a_setting_is_a_path_and_a_value),
        cmocka_unit_test(a_tree_is_a_layer_that_is_copied),
        cmocka_unit_test(a_value_knows_where_it_was_written),
        cmocka_unit_test(members_stand_in_the_order_of_their_first_appearance),
        cmocka_unit_test(a_path_expression_finds_a_value),
        cmocka_unit_test(only_what_is_not_in_the_document_is_asked_of_the_environment),
        cmocka_unit_test(includes_do_not_leave_their_folder),
        cmocka_unit_test(what_is_no_file_is_not_waited_for),
        cmocka_unit_test(a_file_beyond_the_limit_is_not_read),
        cmocka_unit_test(a_reference_conf_resolves_by_itself),
        cmocka_unit_test(a_json_file_is_json),
        cmocka_unit_test(the_depth_is_what_was_asked_for),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
