/*
 * compose_test.c - from text to components: which there are, what they are given, their order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server/compose.h"

#include <string.h>

#include "base/memory.h"
#include "connect/types.h"
#include "test_support.h"

static weir__composition *compose(const char *text)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_config_options options = { .struct_size = sizeof(options),
                                          .ignore_environment = true };
    const weir__request request = {
        .name = "text", .text = text, .text_size = strlen(text), .options = &options, .cores = 2
    };
    weir__composition *c = weir__compose(&request, &error);
    assert_non_null(c);
    return c;
}

static size_t place(const weir__composition *c, const char *name)
{
    for (size_t i = 0; i < c->part_count; i++) {
        if (strcmp(c->order[i]->name, name) == 0) {
            return i;
        }
    }
    fail_msg("%s has no place", name);
    return 0;
}

static bool says(const weir__composition *c, const char *text)
{
    for (size_t i = 0; i < c->config->problems.count; i++) {
        char line[1000];
        (void)weir__problem_format(&c->config->problems.items[i], line, sizeof(line));
        if (strstr(line, text) != NULL) {
            return true;
        }
    }
    return false;
}

static void who_is_referred_to_comes_first_routers_too(void **state)
{
    (void)state;
    weir__composition *c = compose("weir.components {\n"
                                   "  a { type = key-by, feeds = [s], pattern = x, to = r }\n"
                                   "  s { type = generator }\n"
                                   "  w { type = count, instances = 3, totals = o }\n"
                                   "  o { type = discard }\n"
                                   "}\n"
                                   "weir.flows.r.targets = [w]\n");
    assert_int_equal(c->config->problems.errors, 0);
    assert_int_equal(c->component_count, 4);
    assert_int_equal(c->part_count, 5);
    assert_true(place(c, "o") < place(c, "w"));
    assert_true(place(c, "w") < place(c, "r"));
    assert_true(place(c, "r") < place(c, "a"));
    assert_true(place(c, "s") < place(c, "a"));
    assert_int_equal(weir__part_find(c, "w")->settings->instances, 3);
    weir__composition_destroy(c);
}

static void a_component_is_given_what_the_file_says_and_what_it_does_not(void **state)
{
    (void)state;
    weir__composition *c =
        compose("weir.components.s { type = generator, mailbox-max = 7, feed { queue-max = 64 } }\n"
                "weir.components.o { type = discard, mailbox-max = 9, overflow = block }\n"
                "weir.server.stop-timeout = 5s\n");
    assert_true(says(c, "weir.components.s.mailbox-max: is of what receives events"));
    assert_int_equal(c->config->problems.errors, 1);
    const weir__component_settings *s = weir__part_find(c, "s")->settings;
    assert_int_equal(s->feed.queue_max, 64);
    assert_int_equal(s->instances, 1);
    assert_null(s->thread);
    const weir__component_settings *o = weir__part_find(c, "o")->settings;
    assert_int_equal(o->mailbox_max, 9);
    assert_int_equal(o->overflow, WEIR_OVERFLOW_BLOCK);
    assert_int_equal(c->server.stop_timeout, 5 * WEIR_S);
    assert_true(c->admin.enabled);
    assert_int_equal(c->admin.http.port, -1);
    weir__composition_destroy(c);
}

static void rows_of_a_type_lie_behind_the_common_ones_and_overlap_none(void **state)
{
    (void)state;
    weir__composition *c = compose("weir.components.s.type = generator\n");
    const weir__part *part = weir__part_find(c, "s");
    const char *base = (const char *)(const void *)part->settings;
    const size_t own = (size_t)((const char *)part->config - base);
    assert_true(own >= sizeof(weir__component_settings));
    for (size_t i = weir__component_table.row_count; i < part->row_count; i++) {
        if (part->rows[i].kind != WEIR_OPTION_GROUP) {
            assert_true(part->rows[i].offset >= own);
            assert_true(part->rows[i].offset < own + part->type->config_size);
        }
    }
    weir__composition_destroy(c);
}

typedef struct nested_config {
    int64_t plain, inner;
} nested_config;

static void rows_in_a_group_lie_there_too(void **state)
{
    static const weir_option inner[] = { WEIR_KEY(INT, nested_config, inner, "inner") };
    static const weir_option rows[] = {
        WEIR_KEY(INT, nested_config, plain, "plain"),
        WEIR_KEY(GROUP, nested_config, inner, "group", .rows = inner, .row_count = 1),
    };
    static const weir_component_type type = { .struct_size = sizeof(type),
                                              .name = "nested",
                                              .config_size = sizeof(nested_config),
                                              .options = rows,
                                              .option_count = 2 };
    weir__part part = { .name = "x", .type = &type };
    weir__tree *memory = weir__tree_create(weir__allocator_default(), 0);
    (void)state;
    assert_non_null(memory);
    assert_true(weir__part_rows(memory, &part));
    const weir_option *own = &part.rows[weir__component_table.row_count];
    assert_true(own[0].offset >= sizeof(weir__component_settings));
    assert_int_equal(own[1].rows[0].offset - own[0].offset, offsetof(nested_config, inner));
    assert_int_equal(inner[0].offset, offsetof(nested_config, inner)); /* theirs stays as it is */
    weir__tree_destroy(memory);
}

static void no_type_has_a_key_that_all_components_have(void **state)
{
    (void)state;
    weir__composition *c = compose("weir.components.s.type = generator\n");
    const weir_option_table *common = &weir__component_table;
    for (size_t p = 0; p < weir__connect_plugin.type_count; p++) {
        const weir_component_type *type = weir__connect_plugin.types[p];
        for (size_t i = 0; i < type->option_count; i++) {
            const weir_option row = weir__row(type->options, i);
            for (size_t k = 0; k < common->row_count; k++) {
                if (strcmp(row.key, common->rows[k].key) == 0) {
                    fail_msg("%s has a key %s of its own", type->name, row.key);
                }
            }
        }
    }
    weir__composition_destroy(c);
}

static void a_component_that_is_taken_back_is_none(void **state)
{
    (void)state;
    weir__composition *c =
        compose("weir.components { s { type = generator }, o { type = discard } }\n"
                "weir.components.s = null\n");
    assert_int_equal(c->config->problems.errors, 0);
    assert_int_equal(c->component_count, 1);
    assert_null(weir__part_find(c, "s"));
    weir__composition_destroy(c);
}

static void a_long_chain_is_ordered_and_its_circle_told(void **state)
{
    enum { LINKS = 2000 };
    static char text[LINKS * 64];
    size_t used = 0;
    (void)state;
    for (int i = 0; i < LINKS; i++) {
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used,
                             "weir.components.c%d { type = log, to = c%d }\n", i, (i + 1) % LINKS);
    }
    weir__composition *c = compose(text);
    assert_true(says(c, "closes a circle"));
    assert_int_equal(c->config->problems.errors, 1);
    weir__composition_destroy(c);
}

static void text_that_is_no_configuration_says_why(void **state)
{
    static const char *const bad[] = { "weir.components {",       "weir = 3",
                                       "weir.components = 3",     "weir.plugins = 3",
                                       "weir.components.a = [1]", "weir.components.\"\".type = log",
                                       "weir.flows = 3" };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        weir__composition *c = compose(bad[i]);
        assert_true(c->config->problems.errors > 0);
        weir__composition_destroy(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_referred_to_comes_first_routers_too),
        cmocka_unit_test(a_component_is_given_what_the_file_says_and_what_it_does_not),
        cmocka_unit_test(rows_of_a_type_lie_behind_the_common_ones_and_overlap_none),
        cmocka_unit_test(rows_in_a_group_lie_there_too),
        cmocka_unit_test(no_type_has_a_key_that_all_components_have),
        cmocka_unit_test(a_component_that_is_taken_back_is_none),
        cmocka_unit_test(a_long_chain_is_ordered_and_its_circle_told),
        cmocka_unit_test(text_that_is_no_configuration_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
