/*
 * base/status_test.c - every status has a name and a text, and its number never changes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_support.h"

#include "base/assert.h"

static const struct {
    weir_status status;
    const char *name;
    const char *text;
} table[] = {
#define ROW(name, value, text) { WEIR_##name, "WEIR_" #name, text },
    WEIR_STATUS_MAP(ROW)
#undef ROW
};
enum { ROWS = sizeof(table) / sizeof(table[0]) };

static void every_status_has_its_name_and_its_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        assert_string_equal(table[i].name, weir_status_name(table[i].status));
        assert_string_equal(table[i].text, weir_status_text(table[i].status));
        assert_true(table[i].text[0] != '\0');
    }
}

static void no_two_statuses_share_a_number_and_the_sign_tells_the_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        const bool error = strncmp(table[i].name, "WEIR_E_", 7) == 0;
        assert_int_equal(error, table[i].status < 0);
        for (size_t k = 0; k < i; k++) {
            assert_true(table[i].status != table[k].status);
        }
    }
}

/* ABI: written down a second time on purpose. */
static void the_numbers_are_those_that_programs_were_compiled_with(void **state)
{
    (void)state;
    static const weir_status numbers[] = {
        WEIR_OK, WEIR_FULL, WEIR_DROPPED, WEIR_STOPPING, WEIR_UNKNOWN, WEIR_UNHANDLED, WEIR_TIMEOUT,
    };
    for (int i = 0; i < (int)(sizeof(numbers) / sizeof(numbers[0])); i++) {
        assert_int_equal(i, numbers[i]);
    }
    assert_int_equal(8, WEIR_ALREADY);
    assert_int_equal(-1, WEIR_E_INVALID);
    assert_int_equal(-2, WEIR_E_NOMEM);
    assert_int_equal(-3, WEIR_E_VERSION);
    assert_int_equal(-4, WEIR_E_TYPE);
    assert_int_equal(-5, WEIR_E_BLOCKING);
    assert_int_equal(-6, WEIR_E_TAKEN);
    assert_int_equal(-7, WEIR_E_LIMIT);
    assert_int_equal(-8, WEIR_E_CONFIG);
    assert_int_equal(-10, WEIR_E_SYSTEM);
    assert_int_equal(-11, WEIR_E_FAILED);
    assert_int_equal(-1000, WEIR_E_USER);
}

static void an_unknown_number_has_a_name_and_a_text_too(void **state)
{
    (void)state;
    static const weir_status unknown[] = { 9, 10, 1000, INT32_MAX, -9, -12, -999 };
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        assert_string_equal("WEIR_?", weir_status_name(unknown[i]));
        assert_string_equal("no status of weir's", weir_status_text(unknown[i]));
    }
}

static void everything_below_e_user_is_the_applications(void **state)
{
    (void)state;
    static const weir_status own[] = { WEIR_E_USER - 1, WEIR_E_USER - 77, INT32_MIN };
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        assert_string_equal("WEIR_E_USER", weir_status_name(own[i]));
        assert_string_equal("a failure of the application's own", weir_status_text(own[i]));
    }
}

static void the_library_has_the_version_of_its_headers(void **state)
{
    (void)state;
    assert_int_equal(WEIR_VERSION_MAJOR * 1000 + WEIR_VERSION_MINOR, weir_version());
}

static void break_a_contract(void)
{
    const int one = 1;
    WEIR_ASSERT(one == 2);
}

static void keep_a_contract(void)
{
    const int one = 1;
    WEIR_ASSERT(one == 1);
    WEIR_ASSERT_SLOW(one == 1);
}

static void a_broken_contract_aborts_in_every_build(void **state)
{
    (void)state;
    assert_true(test_aborts(break_a_contract));
    assert_false(test_aborts(keep_a_contract));
}

static void break_a_slow_contract(void)
{
    const int one = 1;
    WEIR_ASSERT_SLOW(one == 2);
}

static void a_slow_assert_is_there_in_debug_builds_only(void **state)
{
    (void)state;
#ifdef WEIR_DEBUG
    assert_true(test_aborts(break_a_slow_contract));
#else
    assert_false(test_aborts(break_a_slow_contract));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_name_and_its_text),
        cmocka_unit_test(no_two_statuses_share_a_number_and_the_sign_tells_the_kind),
        cmocka_unit_test(the_numbers_are_those_that_programs_were_compiled_with),
        cmocka_unit_test(an_unknown_number_has_a_name_and_a_text_too),
        cmocka_unit_test(everything_below_e_user_is_the_applications),
        cmocka_unit_test(the_library_has_the_version_of_its_headers),
        cmocka_unit_test(a_broken_contract_aborts_in_every_build),
        cmocka_unit_test(a_slow_assert_is_there_in_debug_builds_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
