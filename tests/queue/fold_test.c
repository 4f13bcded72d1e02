/*
 * queue/fold_test.c - events that travel in fewer lines than they are: what is folded comes out as
 * it went in, whatever their size and number, and however many of them are done before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_support.h"

#include "queue/fold.h"

enum { PLACES = 40, COUNT_MAX = 36, UNTOUCHED = 0xa5 };

#define FLAGS (WEIR__ENVELOPE_FILLED | 0x21u)

WEIR_EMPTY_TYPE(folded, "test.folded");

static unsigned char byte_of(uint32_t event, uint32_t at)
{
    return (unsigned char)(event * 37 + at * 11 + 1);
}

/* As a poster does it. */
static void fold(weir__envelope *places, uint32_t count, uint32_t size)
{
    weir__fold at = weir__fold_begin(places, size);
    places->type = &folded_type;
    places->sender = 77;
    places->flow = 99;
    places->size = size | count << WEIR__FOLD_COUNT_SHIFT;
    for (uint32_t n = 0; n < count; n++) {
        for (uint32_t i = 0; i < size; i++) {
            at.at[i] = byte_of(n, i);
        }
        if (n + 1 < count) {
            weir__fold_next(&at);
        }
    }
    weir__envelope_fill(places, FLAGS | WEIR__ENVELOPE_FOLDED);
}

static void blank(weir__envelope *places)
{
    memset(places, UNTOUCHED, PLACES * sizeof(*places));
    for (uint32_t n = 0; n < PLACES; n++) {
        weir__init(&places[n].state, 0);
    }
}

static bool is_untouched(const weir__envelope *place)
{
    const unsigned char *bytes = (const unsigned char *)place;
    for (size_t i = sizeof(place->state); i < sizeof(*place); i++) {
        if (bytes[i] != UNTOUCHED) {
            return false;
        }
    }
    return true;
}

static void assert_whole(weir__envelope *place, uint32_t event, uint32_t size)
{
    assert_int_equal(FLAGS, weir__load(&place->state, relaxed));
    assert_int_equal(size, place->size);
    assert_ptr_equal(&folded_type, place->type);
    assert_int_equal(77, place->sender);
    assert_int_equal(99, place->flow);
    for (uint32_t i = 0; i < size; i++) {
        assert_int_equal(byte_of(event, i), place->payload.bytes[i]);
    }
}

static void what_is_left_of_a_fold_lies_whole_in_its_places(void **state)
{
    (void)state;
    static _Alignas(64) weir__envelope places[PLACES];
    for (uint32_t size = 0; size <= WEIR__FOLD_SIZE_MAX; size++) {
        for (uint32_t count = 1; count <= COUNT_MAX; count++) {
            for (uint32_t done = 0; done < count; done++) {
                blank(places);
                fold(places, count, size);
                weir__fold_undo(places, done);
                for (uint32_t n = 0; n < done; n++) {
                    assert_int_equal(0, weir__load(&places[n].state, relaxed));
                }
                for (uint32_t n = done; n < count; n++) {
                    assert_whole(&places[n], n, size);
                }
                for (uint32_t n = count; n < PLACES; n++) {
                    assert_int_equal(0, weir__load(&places[n].state, relaxed));
                    assert_true(is_untouched(&places[n]));
                }
            }
        }
    }
}

static void only_the_first_place_says_that_something_is_there(void **state)
{
    (void)state;
    static _Alignas(64) weir__envelope places[PLACES];
    for (uint32_t size = 0; size <= WEIR__FOLD_SIZE_MAX; size++) {
        blank(places);
        fold(places, COUNT_MAX, size);
        assert_int_equal(FLAGS | WEIR__ENVELOPE_FOLDED, weir__load(&places[0].state, relaxed));
        for (uint32_t n = 1; n < PLACES; n++) {
            assert_int_equal(0, weir__load(&places[n].state, relaxed));
        }
    }
}

static void it_lies_in_as_many_places_as_it_says_and_in_fewer_than_events(void **state)
{
    (void)state;
    static _Alignas(64) weir__envelope places[PLACES];
    for (uint32_t size = 0; size <= WEIR__FOLD_SIZE_MAX; size++) {
        for (uint32_t count = 4; count <= COUNT_MAX; count++) {
            blank(places);
            fold(places, count, size);
            const uint32_t lines = weir__fold_lines(places[0].size);
            assert_in_range(lines, 1, count - 1);
            assert_false(size > 0 && is_untouched(&places[lines - 1]));
            assert_true(is_untouched(&places[lines]));
        }
    }
    /* The one that counts most: 32 events of a word in five lines. */
    assert_int_equal(5, weir__fold_lines(8 | 32u << WEIR__FOLD_COUNT_SHIFT));
    assert_int_equal(11, weir__fold_lines(16 | 32u << WEIR__FOLD_COUNT_SHIFT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_of_a_fold_lies_whole_in_its_places),
        cmocka_unit_test(only_the_first_place_says_that_something_is_there),
        cmocka_unit_test(it_lies_in_as_many_places_as_it_says_and_in_fewer_than_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
