/*
 * lines_test.c - cache lines of the scale model: who has one, and how long others wait for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sync/sim/lines.h"
#include "test_support.h"

enum { T = 30000, HOLD = 15000 }; /* ps */

static const weir__sim_site here = { "here.c", 1, "&here" };
static const weir__sim_site there = { "there.c", 2, "&there" };
static _Alignas(64) char memory[4][64];

static int begin(void **state)
{
    (void)state;
    weir__lines_reset(&(weir__lines_costs){ .transfer = T, .hold = HOLD, .read_takes = true });
    return 0;
}

static weir__ps ask(uint32_t core, const char *address, bool write, weir__ps at)
{
    return weir__lines_get(&(weir__lines_ask){
        .core = core, .address = (uintptr_t)address, .write = write, .at = at, .site = &here });
}

static void a_line_is_had_at_no_cost_by_the_first_and_as_long_as_nobody_else_wants_it(void **state)
{
    (void)state;
    for (uint32_t core = 0; core < 4; core++) {
        for (weir__ps at = 0; at < 1000; at += 100) {
            assert_int_equal(ask(core, memory[core], at % 200 == 0, at), at);
        }
    }
}

static void two_cores_that_write_in_turn_pay_a_transfer_each_time(void **state)
{
    (void)state;
    weir__ps now = ask(0, memory[0], true, 0);
    for (uint32_t i = 1; i <= 100; i++) {
        const weir__ps got = ask(i % 2, memory[0], true, now);
        assert_int_equal(got, now + T);
        now = got + HOLD; /* beyond what a core may keep it */
    }
}

static void requests_for_one_line_are_served_one_after_the_other(void **state)
{
    (void)state;
    ask(0, memory[0], true, 0);
    for (uint32_t core = 1; core <= 100; core++) {
        assert_int_equal(ask(core, memory[0], true, 1000), 1000 + core * T);
    }
}

static void requests_for_different_lines_do_not_wait_for_each_other(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        ask(0, memory[i], true, 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(ask(1, memory[i], true, 1000), 1000 + T);
    }
}

static void neighbours_in_one_line_disturb_each_other(void **state)
{
    (void)state;
    ask(0, &memory[0][0], true, 0);
    assert_int_equal(ask(1, &memory[0][56], true, 0), T);
    assert_int_equal(ask(0, &memory[0][0], true, 3 * T), 4 * T);
}

static void readers_of_what_nobody_writes_are_served_side_by_side_and_keep_it(void **state)
{
    (void)state;
    ask(0, memory[0], false, 0);
    for (uint32_t core = 1; core < WEIR__LINES_CORES_MAX; core++) {
        assert_int_equal(ask(core, memory[0], false, 1000), 1000 + T);
    }
    for (uint32_t core = 0; core < WEIR__LINES_CORES_MAX; core++) {
        assert_int_equal(ask(core, memory[0], false, 10 * T), 10 * T);
    }
}

static void a_writer_takes_it_from_all_readers_and_they_wait_for_it(void **state)
{
    (void)state;
    for (uint32_t core = 0; core < 3; core++) {
        ask(core, memory[0], false, 0);
    }
    const weir__ps at = 10 * T;
    assert_int_equal(ask(0, memory[0], true, at), at + T); /* although it has a copy */
    assert_int_equal(ask(1, memory[0], false, at), at + 2 * T);
}

static void a_reader_of_a_written_line_owns_it_where_the_machine_does_so(void **state)
{
    (void)state;
    ask(0, memory[0], true, 0);
    assert_int_equal(ask(1, memory[0], false, 0), T);
    assert_int_equal(ask(1, memory[0], true, 5 * T), 5 * T);
    assert_int_equal(ask(0, memory[0], false, 9 * T), 10 * T);
}

static void a_reader_of_a_written_line_shares_it_where_the_machine_does_so(void **state)
{
    (void)state;
    weir__lines_reset(&(weir__lines_costs){ .transfer = T, .hold = HOLD, .read_takes = false });
    ask(0, memory[0], true, 0);
    assert_int_equal(ask(1, memory[0], false, 0), T);
    assert_int_equal(ask(0, memory[0], false, 5 * T), 5 * T);
    assert_int_equal(ask(1, memory[0], true, 5 * T), 6 * T);
}

static void who_has_just_got_a_line_goes_on_until_the_next_can_have_it(void **state)
{
    (void)state;
    ask(0, memory[0], true, 0);
    const weir__ps got = ask(1, memory[0], true, 0);
    assert_int_equal(ask(2, memory[0], true, 0), got + T); /* waits already */
    assert_int_equal(ask(1, memory[0], true, got + HOLD - 1), got + HOLD - 1);
    assert_int_equal(ask(1, memory[0], true, got + HOLD), got + 2 * T);
}

static void a_store_is_seen_after_the_ones_before_it(void **state)
{
    (void)state;
    ask(0, memory[0], true, 0);
    assert_int_equal(weir__lines_get(&(weir__lines_ask){ .core = 0,
                                                         .address = (uintptr_t)memory[0],
                                                         .write = true,
                                                         .at = 1000,
                                                         .visible = 7 * T,
                                                         .site = &here }),
                     1000);                                  /* its core goes on ... */
    assert_int_equal(ask(0, memory[0], false, 2000), 2000);  /* ... and reads what it wrote */
    assert_int_equal(ask(1, memory[0], false, 2000), 8 * T); /* others do so later */
}

static void waiting_is_counted_by_line_and_place_while_it_is_watched(void **state)
{
    (void)state;
    ask(0, memory[0], true, 0);
    ask(1, memory[0], true, 0);
    assert_null(weir__lines_causes(0));
    weir__lines_watch(true);
    ask(2, memory[0], true, 0);
    ask(3, memory[0], true, 0);
    weir__lines_get(&(weir__lines_ask){
        .core = 4, .address = (uintptr_t)memory[0], .plain = true, .at = 9 * T, .site = &there });
    weir__lines_watch(false);
    ask(5, memory[0], true, 0);
    const weir__lines_cause *atom = weir__lines_causes(0);
    const weir__lines_cause *plain = weir__lines_causes(1);
    assert_non_null(atom);
    assert_ptr_equal(atom->line, &here);
    assert_ptr_equal(atom->site, &here);
    assert_int_equal(atom->transfers, 2);
    assert_int_equal(atom->moved, 2 * T);
    assert_int_equal(atom->queued, T + 2 * T);
    assert_non_null(plain);
    assert_ptr_equal(plain->line, &here);
    assert_ptr_equal(plain->site, &there);
    assert_true(plain->plain && !plain->plain_line);
    assert_int_equal(plain->queued, 0);
    assert_null(weir__lines_causes(2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(
            a_line_is_had_at_no_cost_by_the_first_and_as_long_as_nobody_else_wants_it, begin),
        cmocka_unit_test_setup(two_cores_that_write_in_turn_pay_a_transfer_each_time, begin),
        cmocka_unit_test_setup(requests_for_one_line_are_served_one_after_the_other, begin),
        cmocka_unit_test_setup(requests_for_different_lines_do_not_wait_for_each_other, begin),
        cmocka_unit_test_setup(neighbours_in_one_line_disturb_each_other, begin),
        cmocka_unit_test_setup(readers_of_what_nobody_writes_are_served_side_by_side_and_keep_it,
                               begin),
        cmocka_unit_test_setup(a_writer_takes_it_from_all_readers_and_they_wait_for_it, begin),
        cmocka_unit_test_setup(a_reader_of_a_written_line_owns_it_where_the_machine_does_so, begin),
        cmocka_unit_test_setup(a_reader_of_a_written_line_shares_it_where_the_machine_does_so,
                               begin),
        cmocka_unit_test_setup(who_has_just_got_a_line_goes_on_until_the_next_can_have_it, begin),
        cmocka_unit_test_setup(a_store_is_seen_after_the_ones_before_it, begin),
        cmocka_unit_test_setup(waiting_is_counted_by_line_and_place_while_it_is_watched, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
