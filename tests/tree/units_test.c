/*
 * tree/units_test.c - durations and sizes: every unit, fractions, the ends of what fits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tree_support.h"

typedef struct fixture {
    weir__tree *tree;
    weir__why why;
} fixture;

static int open_fixture(void **state)
{
    static fixture f;
    f = (fixture){ .tree = new_tree() };
    *state = &f;
    return 0;
}

static int close_fixture(void **state)
{
    weir__tree_destroy(((fixture *)*state)->tree);
    return 0;
}

static int64_t nanoseconds(fixture *f, const char *text)
{
    int64_t value = -77;
    if (!weir__read_nanoseconds(string_of(f->tree, text), &value, &f->why)) {
        print_error("%s: %s\n", text, f->why.text);
        fail();
    }
    return value;
}

static uint64_t bytes(fixture *f, const char *text)
{
    uint64_t value = 77;
    if (!weir__read_bytes(string_of(f->tree, text), &value, &f->why)) {
        print_error("%s: %s\n", text, f->why.text);
        fail();
    }
    return value;
}

/* For each of the names that are separated by blanks: with a blank before it, without, and with
 * white space of other kinds. */
static void each_name(const char *names, void (*visit)(fixture *, const char *text, uint64_t unit),
                      fixture *f, uint64_t unit)
{
    static const char *const before[] = { "7 ", "7", " 7\t ", "7\xc2\xa0", "\xe2\x80\xaf\x37" };
    static const char *const behind[] = { "", "", " \n", "", "\xef\xbb\xbf" };
    while (*names != '\0') {
        const size_t length = strcspn(names, " ");
        for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
            char text[64];
            snprintf(text, sizeof(text), "%s%.*s%s", before[i], (int)length, names, behind[i]);
            visit(f, text, unit);
        }
        names += length + (names[length] == ' ' ? 1 : 0);
    }
}

static void is_seven_long(fixture *f, const char *text, uint64_t unit)
{
    assert_int_equal(7 * unit, nanoseconds(f, text));
}

static void is_seven_large(fixture *f, const char *text, uint64_t unit)
{
    assert_int_equal(7 * unit, bytes(f, text));
}

/* --- durations -------------------------------------------------------------------------------- */

static void every_name_of_a_unit_of_time_is_known(void **state)
{
    fixture *f = *state;
    each_name("ns nano nanos nanosecond nanoseconds", is_seven_long, f, 1);
    each_name("us micro micros microsecond microseconds", is_seven_long, f, 1000);
    each_name("ms milli millis millisecond milliseconds", is_seven_long, f, 1000000);
    each_name("s second seconds", is_seven_long, f, 1000000000);
    each_name("m minute minutes", is_seven_long, f, UINT64_C(60000000000));
    each_name("h hour hours", is_seven_long, f, UINT64_C(3600000000000));
    each_name("d day days", is_seven_long, f, UINT64_C(86400000000000));
}

static void a_number_alone_is_in_milliseconds_or_what_the_caller_says(void **state)
{
    fixture *f = *state;
    int64_t value;
    assert_int_equal(250000000, nanoseconds(f, "250"));
    assert_int_equal(2500000, nanoseconds(f, "2.5"));
    assert_int_equal(1000000000, nanoseconds(f, "1e3"));
    assert_true(weir__read_nanoseconds(number_of(f->tree, "250"), &value, &f->why));
    assert_int_equal(250000000, value);
    assert_true(weir__read_duration(number_of(f->tree, "10"), 1000, &value, &f->why));
    assert_int_equal(10000, value);
    assert_true(weir__read_duration(string_of(f->tree, "10 s"), 1000, &value, &f->why));
    assert_int_equal(INT64_C(10000000000), value);
}

static void fractions_signs_and_exponents_are_allowed(void **state)
{
    fixture *f = *state;
    assert_int_equal(1500000000, nanoseconds(f, "1.5s"));
    assert_int_equal(500000000, nanoseconds(f, ".5s"));
    assert_int_equal(5000000000, nanoseconds(f, "5.s"));
    assert_int_equal(-5000000000, nanoseconds(f, "-5s"));
    assert_int_equal(5000000000, nanoseconds(f, "+5 s"));
    assert_int_equal(1000000000, nanoseconds(f, "1e3 ms"));
    assert_int_equal(1000000, nanoseconds(f, "1.0000001 ms"));
    assert_int_equal(0, nanoseconds(f, "0.9 ns"));
    assert_int_equal(0, nanoseconds(f, "-0.9 ns"));
    assert_int_equal(0, nanoseconds(f, "0s"));
    assert_int_equal(1000000000, nanoseconds(f, "1f s"));
}

static void a_whole_number_is_exact_and_what_is_too_long_is_for_ever(void **state)
{
    fixture *f = *state;
    assert_int_equal(INT64_MAX, nanoseconds(f, "9223372036854775807 ns"));
    assert_int_equal(INT64_MIN, nanoseconds(f, "-9223372036854775808 ns"));
    assert_int_equal(9223372036854775806, nanoseconds(f, "9223372036854775806 ns"));
    assert_int_equal(9007199254740993000, nanoseconds(f, "9007199254740993 us"));
    assert_int_equal(INT64_MAX, nanoseconds(f, "106752 d"));
    assert_int_equal(INT64_MAX, nanoseconds(f, "9223372036854775807 d"));
    assert_int_equal(INT64_MIN, nanoseconds(f, "-9223372036854775807 d"));
    assert_int_equal(INT64_MAX, nanoseconds(f, "1e300 s"));
    assert_int_equal(INT64_MIN, nanoseconds(f, "-1e300 s"));
}

static void what_is_no_duration_is_refused_with_the_units(void **state)
{
    fixture *f = *state;
    static const char *const texts[] = {
        "",           " ",     "s",        "soon",   "5 S",    "5 MS", "5 w",
        "5 weeks",    "5 y",   "5s s",     "5s5",    "5 m s",  "- 5s", "5,5s",
        "5 sek",      "NaN s", "Infinity", "0x10 s", "5 µs",   "5 μs", "5 second s",
        "5 secondss", "5 nss", "5 n",      "5 u",    "5 minu", "5 €",  "5 d\xc2",
    };
    int64_t value;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_false(weir__read_nanoseconds(string_of(f->tree, texts[i]), &value, &f->why));
        assert_non_null(strstr(f->why.text, "units are ns, us, ms, s, m, h, d"));
    }
    assert_false(weir__read_nanoseconds(string_of(f->tree, "10 parsecs"), &value, &f->why));
    assert_string_equal("'10 parsecs' is no duration: units are ns, us, ms, s, m, h, d",
                        f->why.text);
    assert_false(weir__read_nanoseconds(weir__node_null(f->tree, nowhere), &value, &f->why));
    assert_string_equal("null is no duration: units are ns, us, ms, s, m, h, d", f->why.text);
    assert_false(weir__read_nanoseconds(weir__node_boolean(f->tree, nowhere, true), &value, NULL));
    assert_false(weir__read_nanoseconds(weir__node_object(f->tree, nowhere), &value, &f->why));
}

static void a_number_beyond_64_bits_is_no_duration(void **state)
{
    fixture *f = *state;
    static const char *const texts[] = { "9223372036854775808 ns", "-9223372036854775809 ns",
                                         "99999999999999999999 d", "1e400 s", "1e400" };
    int64_t value;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_false(weir__read_nanoseconds(string_of(f->tree, texts[i]), &value, &f->why));
        assert_non_null(strstr(f->why.text, " is beyond "));
    }
}

static void a_unit_of_habit_is_refused_with_the_right_one(void **state)
{
    fixture *f = *state;
    int64_t time;
    uint64_t size;
    assert_false(weir__read_nanoseconds(string_of(f->tree, "5 min"), &time, &f->why));
    assert_string_equal("'5 min' is no duration: minutes are m; units are ns, us, ms, s, m, h, d",
                        f->why.text);
    assert_false(weir__read_nanoseconds(string_of(f->tree, "5sec"), &time, &f->why));
    assert_non_null(strstr(f->why.text, "seconds are s; "));
    assert_false(weir__read_bytes(string_of(f->tree, "1 KB"), &size, &f->why));
    assert_string_equal("'1 KB' is no size: kB is 1000 bytes, KiB 1024; units are B, kB, MB, GB, "
                        "... (1000) and K, M, G, ... (1024)",
                        f->why.text);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static void every_name_of_a_unit_of_size_is_known(void **state)
{
    fixture *f = *state;
    static const char *const tens[] = { "kB kilobyte kilobytes", "MB megabyte megabytes",
                                        "GB gigabyte gigabytes", "TB terabyte terabytes",
                                        "PB petabyte petabytes", "EB exabyte exabytes" };
    static const char *const twos[] = {
        "K k Ki KiB kibibyte kibibytes", "M m Mi MiB mebibyte mebibytes",
        "G g Gi GiB gibibyte gibibytes", "T t Ti TiB tebibyte tebibytes",
        "P p Pi PiB pebibyte pebibytes", "E e Ei EiB exbibyte exbibytes",
    };
    each_name("B b byte bytes", is_seven_large, f, 1);
    uint64_t ten = 1, two = 1;
    for (size_t i = 0; i < 6; i++) {
        ten *= 1000;
        two *= 1024;
        each_name(tens[i], is_seven_large, f, ten);
        each_name(twos[i], is_seven_large, f, two);
    }
}

static void a_fraction_of_a_size_is_exact_and_cut_off(void **state)
{
    fixture *f = *state;
    assert_int_equal(1536, bytes(f, "1.5K"));
    assert_int_equal(300, bytes(f, "0.3 kB"));
    assert_int_equal(1100, bytes(f, "1.1kB"));
    assert_int_equal(1000000, bytes(f, "1e3 kB"));
    assert_int_equal(102, bytes(f, "0.1 k"));
    assert_int_equal(1, bytes(f, "1.9"));
    assert_int_equal(0, bytes(f, "0.9 B"));
    assert_int_equal(5, bytes(f, "0.000000000000000000005 ZB"));
    assert_int_equal(1, bytes(f, "1e-24 YB"));
    assert_int_equal(1, bytes(f, "0.0000000000000000000000011 YiB"));
    assert_int_equal(2, bytes(f, "2f"));
    assert_int_equal(0, bytes(f, "-0"));
    assert_int_equal(4194304, bytes(f, " 4 MiB "));
}

static void the_largest_size_is_that_of_63_bits(void **state)
{
    fixture *f = *state;
    assert_int_equal(INT64_MAX, bytes(f, "9223372036854775807"));
    assert_int_equal(9000000000000000000, bytes(f, "9 EB"));
    assert_int_equal(9223372036854775000, bytes(f, "9223372036854775 kB"));
    assert_int_equal(INT64_MAX, bytes(f, "9.2233720368547758079 EB"));
    static const char *const texts[] = {
        "9223372036854775808",
        "9.223372036854775808 EB",
        "8 EiB",
        "10 EB",
        "2 ZB",
        "2 Y",
        "2 zebibytes",
        "2 yottabyte",
        "1e400",
        "99999999999999999999999999 B",
        "1e999999999999 k",
        "9223372036854776 kB",
    };
    uint64_t value;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_false(weir__read_bytes(string_of(f->tree, texts[i]), &value, &f->why));
        assert_non_null(strstr(f->why.text, " is beyond 64 bits"));
    }
}

static void what_is_no_size_is_refused(void **state)
{
    fixture *f = *state;
    static const char *const texts[] = {
        "",      " ",    "KB",   "1 KB",   "1 kb",    "1 mb",   "1 MIB", "1 kib",
        "2 k B", "many", "k",    "1 kilo", "1 Bytes", "0x10 k", "0x1p3", "1,5 k",
        "1 kBs", "NaN",  "1 µB", "1 ki",   "1 KIB",   "1 mi",
    };
    uint64_t value;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_false(weir__read_bytes(string_of(f->tree, texts[i]), &value, &f->why));
        assert_non_null(strstr(f->why.text, " is no size: "));
    }
    assert_false(weir__read_bytes(number_of(f->tree, "-1"), &value, &f->why));
    assert_string_equal("-1 is no size: it is not negative", f->why.text);
    assert_false(weir__read_bytes(weir__node_null(f->tree, nowhere), &value, &f->why));
    assert_false(weir__read_bytes(weir__node_list(f->tree, nowhere), &value, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_of_a_unit_of_time_is_known),
        cmocka_unit_test(a_number_alone_is_in_milliseconds_or_what_the_caller_says),
        cmocka_unit_test(fractions_signs_and_exponents_are_allowed),
        cmocka_unit_test(a_whole_number_is_exact_and_what_is_too_long_is_for_ever),
        cmocka_unit_test(what_is_no_duration_is_refused_with_the_units),
        cmocka_unit_test(a_number_beyond_64_bits_is_no_duration),
        cmocka_unit_test(a_unit_of_habit_is_refused_with_the_right_one),
        cmocka_unit_test(every_name_of_a_unit_of_size_is_known),
        cmocka_unit_test(a_fraction_of_a_size_is_exact_and_cut_off),
        cmocka_unit_test(the_largest_size_is_that_of_63_bits),
        cmocka_unit_test(what_is_no_size_is_refused),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
