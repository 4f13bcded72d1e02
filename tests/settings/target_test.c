/*
 * target_test.c - options that name where events go: one name, or a list of them; the handles are
 * the host's to fill in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings_support.h"

#include "weir/component.h"

typedef struct route {
    weir_target to;
    weir_targets also;
} route;

static const weir_option rows[] = {
    WEIR_KEY(TARGET, route, to, "to"),
    WEIR_KEY(TARGETS, route, also, "also"),
};

static weir_status read_route(const char *text, route *out, weir_error *error)
{
    weir_config *config = weir_config_parse("t.conf", text, strlen(text),
                                            WEIR_CONFIG(.ignore_environment = true), error);
    memset(out, 0, sizeof(*out));
    if (config != NULL) {
        (void)weir_config_read(config, "here", rows, 2, out, error);
    }
    if (error->status == WEIR_OK && out->to.name != NULL) {
        assert_string_equal("a", out->to.name);
        assert_int_equal(0, out->to.processor.id);
        assert_int_equal(0, out->to.router.id);
    }
    for (size_t i = 0; error->status == WEIR_OK && i < out->also.count; i++) {
        const char expected[] = { (char)('b' + (int)i), '\0' };
        assert_string_equal(expected, out->also.items[i].name);
        assert_int_equal(0, out->also.items[i].processor.id);
    }
    weir_config_destroy(config);
    return error->status;
}

static void names_are_read_and_handles_are_left_to_others(void **state)
{
    route r;
    weir_error error = WEIR_ERROR_INIT;
    (void)state;
    assert_int_equal(WEIR_OK, read_route("here { to = a, also = [b, c, d] }", &r, &error));
    assert_int_equal(3, r.also.count);
    assert_int_equal(WEIR_OK, read_route("here { also = [] }", &r, &error));
    assert_null(r.to.name);
    assert_int_equal(0, r.also.count);
}

static void what_is_no_name_is_an_error_with_its_place(void **state)
{
    static const char *const wrong[] = {
        "here { to = [a] }",
        "here { to { a = 1 } }",
        "here { also = [[b]] }",
        "here { also { b = 1 } }",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        route r;
        weir_error error = WEIR_ERROR_INIT;
        assert_true(read_route(wrong[i], &r, &error) < 0);
        assert_int_equal(1, error.line);
        assert_non_null(strstr(error.path, "here."));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read_and_handles_are_left_to_others),
        cmocka_unit_test(what_is_no_name_is_an_error_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
