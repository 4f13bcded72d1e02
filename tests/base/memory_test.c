/*
 * base/memory_test.c - memory by way of the caller's allocator; option structs of callers that are
 * older and newer than the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include "inner_support.h"

/* One struct in three ages: the library was built with `present`. */
typedef struct past {
    size_t struct_size;
    uint64_t first;
} past;

typedef struct present {
    size_t struct_size;
    uint64_t first;
    const char *second;
    uint32_t third;
    uint32_t fourth;
} present;

typedef struct future {
    size_t struct_size;
    uint64_t first;
    const char *second;
    uint32_t third;
    uint32_t fourth;
    uint64_t fifth;
    unsigned char sixth[24];
} future;

static const present example = { sizeof(present), 11, "two", 33, 44 };

static void the_default_allocator_gives_whole_cache_lines(void **state)
{
    (void)state;
    const weir_allocator *allocator = weir__allocator_default();
    static const size_t sizes[] = { 1, 63, 64, 65, 4096, 100001 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned char *memory = weir__allocate(allocator, sizes[i]);
        assert_non_null(memory);
        assert_int_equal(0, (uintptr_t)memory % WEIR_CACHE_LINE);
        for (size_t k = 0; k < sizes[i]; k++) {
            assert_int_equal(0, memory[k]);
        }
        memset(memory, 0xff, sizes[i]);
        weir__release(allocator, memory, sizes[i]);
    }
}

static void a_size_that_cannot_be_is_refused(void **state)
{
    (void)state;
    assert_null(weir__allocate(weir__allocator_default(), SIZE_MAX));
    assert_null(weir__allocate_raw(weir__allocator_default(), SIZE_MAX - 1));
}

static void allocate_zeroes_and_asks_for_a_cache_line(void **state)
{
    (void)state;
    test_memory memory;
    test_memory_open(&memory, 0); /* fills with 0xa5 */
    unsigned char *zeroed = weir__allocate(&memory.allocator, 100);
    unsigned char *raw = weir__allocate_raw(&memory.allocator, 100);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(0, zeroed[i]);
        assert_int_equal(0xa5, raw[i]);
    }
    assert_int_equal(200, weir__load(&memory.bytes, relaxed));
    weir__release(&memory.allocator, zeroed, 100);
    weir__release(&memory.allocator, raw, 100);
    weir__release(&memory.allocator, NULL, 100); /* nothing was got: nothing to give back */
    test_memory_check(&memory);
}

static void a_refused_allocation_is_null_and_nothing_else(void **state)
{
    (void)state;
    test_memory memory;
    test_memory_open(&memory, 1);
    char *text = (char *)&memory;
    assert_null(weir__allocate(&memory.allocator, 8));
    assert_null(weir__allocate_raw(&memory.allocator, 8));
    assert_false(weir__copy_text(&memory.allocator, "a", &text));
    assert_null(text);
    assert_int_equal(3, weir__load(&memory.refused, relaxed));
    test_memory_check(&memory);
}

static void a_text_is_copied_and_released_by_its_length(void **state)
{
    (void)state;
    test_memory memory;
    test_memory_open(&memory, 0);
    char source[] = "name";
    char *copy = NULL;
    assert_true(weir__copy_text(&memory.allocator, source, &copy));
    source[0] = 'X';
    assert_string_equal("name", copy);
    char *empty = NULL;
    assert_true(weir__copy_text(&memory.allocator, "", &empty));
    assert_string_equal("", empty);
    char *none = copy;
    assert_true(weir__copy_text(&memory.allocator, NULL, &none));
    assert_null(none);
    weir__release_text(&memory.allocator, copy);
    weir__release_text(&memory.allocator, empty);
    weir__release_text(&memory.allocator, NULL);
    test_memory_check(&memory);
}

static void no_options_are_all_defaults(void **state)
{
    (void)state;
    present target = { 0 };
    const present zero = { 0 };
    assert_int_equal(WEIR_OK, weir__options_read(&target, sizeof(target), NULL));
    assert_memory_equal(&zero, &target, sizeof(zero));
}

static void options_of_the_same_age_are_copied(void **state)
{
    (void)state;
    present target = { 0 };
    assert_int_equal(WEIR_OK, weir__options_read(&target, sizeof(target), &example));
    assert_memory_equal(&example, &target, sizeof(example));
}

static void what_an_older_caller_lacks_keeps_its_default(void **state)
{
    (void)state;
    /* On the heap, so that a read past its end is seen. */
    past *old = malloc(sizeof(*old));
    assert_non_null(old);
    *old = (past){ sizeof(*old), 5 };
    present target = { 0 };
    assert_int_equal(WEIR_OK, weir__options_read(&target, sizeof(target), old));
    assert_int_equal(5, target.first);
    assert_null(target.second);
    assert_int_equal(0, target.third);
    assert_int_equal(0, target.fourth);
    free(old);
}

static void a_newer_caller_is_served_if_it_sets_nothing_unknown(void **state)
{
    (void)state;
    const future new = { .struct_size = sizeof(new), .first = 1, .third = 3, .fourth = 4 };
    struct {
        present target;
        uint64_t guard;
    } place = { .guard = 0x1234567890abcdef };
    assert_int_equal(WEIR_OK, weir__options_read(&place.target, sizeof(place.target), &new));
    assert_int_equal(1, place.target.first);
    assert_int_equal(4, place.target.fourth);
    assert_int_equal(0x1234567890abcdef, place.guard);
}

static void any_unknown_byte_that_is_set_needs_a_newer_library(void **state)
{
    (void)state;
    for (size_t i = sizeof(present); i < sizeof(future); i++) {
        future new = { .struct_size = sizeof(new) };
        ((unsigned char *)&new)[i] = 1;
        present target = { 0 };
        const present zero = { 0 };
        assert_int_equal(WEIR_E_VERSION, weir__options_read(&target, sizeof(target), &new));
        assert_memory_equal(&zero, &target, sizeof(zero)); /* nothing half-read */
    }
}

static void a_struct_of_nonsense_size_is_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, sizeof(size_t) - 1, 65537, SIZE_MAX };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        present source = { .struct_size = sizes[i], .first = 1 };
        present target = { 0 };
        assert_int_equal(WEIR_E_INVALID, weir__options_read(&target, sizeof(target), &source));
        assert_int_equal(0, target.first);
        assert_int_equal(WEIR_E_INVALID, weir__struct_fill(&source, &example, sizeof(example)));
        assert_int_equal(sizes[i], source.struct_size);
        assert_int_equal(1, source.first);
    }
    assert_int_equal(WEIR_E_INVALID, weir__struct_fill(NULL, &example, sizeof(example)));
}

static void a_struct_that_holds_its_size_only_is_all_defaults(void **state)
{
    (void)state;
    const size_t size = sizeof(size);
    present target = { 0 };
    assert_int_equal(WEIR_OK, weir__options_read(&target, sizeof(target), &size));
    assert_int_equal(0, target.first);
}

static void the_largest_struct_is_64_kilobytes(void **state)
{
    (void)state;
    unsigned char *source = calloc(1, 65536);
    assert_non_null(source);
    const size_t size = 65536;
    memcpy(source, &size, sizeof(size));
    present target = { 0 };
    assert_int_equal(WEIR_OK, weir__options_read(&target, sizeof(target), source));
    source[65535] = 1;
    assert_int_equal(WEIR_E_VERSION, weir__options_read(&target, sizeof(target), source));
    free(source);
}

static void an_outgoing_struct_is_filled_as_far_as_both_know_it(void **state)
{
    (void)state;
    past *old = malloc(sizeof(*old)); /* on the heap: a write past its end is seen */
    assert_non_null(old);
    *old = (past){ sizeof(*old), 0 };
    assert_int_equal(WEIR_OK, weir__struct_fill(old, &example, sizeof(example)));
    assert_int_equal(sizeof(*old), old->struct_size);
    assert_int_equal(11, old->first);
    free(old);

    present same = { .struct_size = sizeof(same) };
    assert_int_equal(WEIR_OK, weir__struct_fill(&same, &example, sizeof(example)));
    assert_memory_equal(&example, &same, sizeof(same));

    future new = { .struct_size = sizeof(new), .fifth = 55 };
    assert_int_equal(WEIR_OK, weir__struct_fill(&new, &example, sizeof(example)));
    assert_int_equal(sizeof(new), new.struct_size);
    assert_int_equal(44, new.fourth);
    assert_int_equal(55, new.fifth); /* what we do not know stays the caller's */
}

static void preparing_memory_changes_nothing_in_it_nor_errno(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1, 4095, 4096, 8192, 70001 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned char *memory = weir__allocate_raw(weir__allocator_default(), sizes[i]);
        assert_non_null(memory);
        memset(memory, 0x5a, sizes[i]);
        errno = 77;
        weir__memory_prepare(memory, sizes[i]);
        assert_int_equal(77, errno);
        for (size_t k = 0; k < sizes[i]; k++) {
            assert_int_equal(0x5a, memory[k]);
        }
        weir__release(weir__allocator_default(), memory, sizes[i]);
    }
    errno = 77;
    weir__memory_prepare((void *)(uintptr_t)4096, 4096); /* nobody's: refused, and that is all */
    assert_int_equal(77, errno);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_allocator_gives_whole_cache_lines),
        cmocka_unit_test(a_size_that_cannot_be_is_refused),
        cmocka_unit_test(allocate_zeroes_and_asks_for_a_cache_line),
        cmocka_unit_test(a_refused_allocation_is_null_and_nothing_else),
        cmocka_unit_test(a_text_is_copied_and_released_by_its_length),
        cmocka_unit_test(no_options_are_all_defaults),
        cmocka_unit_test(options_of_the_same_age_are_copied),
        cmocka_unit_test(what_an_older_caller_lacks_keeps_its_default),
        cmocka_unit_test(a_newer_caller_is_served_if_it_sets_nothing_unknown),
        cmocka_unit_test(any_unknown_byte_that_is_set_needs_a_newer_library),
        cmocka_unit_test(a_struct_of_nonsense_size_is_refused),
        cmocka_unit_test(a_struct_that_holds_its_size_only_is_all_defaults),
        cmocka_unit_test(the_largest_struct_is_64_kilobytes),
        cmocka_unit_test(an_outgoing_struct_is_filled_as_far_as_both_know_it),
        cmocka_unit_test(preparing_memory_changes_nothing_in_it_nor_errno),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
