/*
 * sim_find_test.c - the simulator finds the mistakes that it exists for, and nothing where none is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"
#include "sim_support.h"
#include "sync/mutex.h"

static weir__atomic_u32 word, ready;
static int plain;

static void reset(void)
{
    weir__init(&word, 0);
    weir__init(&ready, 0);
    plain = 0;
}

/* ---- waiting ---- */

static void make_ready(void *unused)
{
    (void)unused;
    weir__store(&ready, 1, seq_cst);
    weir__add(&word, 1, seq_cst);
    weir__word_wake(&word, 1);
}

static void wait_with_a_late_look(void *unused)
{
    (void)unused;
    while (weir__load(&ready, seq_cst) == 0) {
        const uint32_t seen = weir__load(&word, seq_cst); /* after the condition: too late */
        weir__word_wait(&word, seen, WEIR_FOREVER);
    }
}

static void wait_as_it_should_be(void *unused)
{
    (void)unused;
    for (;;) {
        const uint32_t seen = weir__load(&word, seq_cst);
        if (weir__load(&ready, seq_cst) != 0) {
            return;
        }
        weir__word_wait(&word, seen, WEIR_FOREVER);
    }
}

static void lost_wake_up(void *unused)
{
    (void)unused;
    reset();
    both(wait_with_a_late_look, make_ready);
}

static void kept_wake_up(void *unused)
{
    (void)unused;
    reset();
    both(wait_as_it_should_be, make_ready);
}

static void a_lost_wake_up_is_found_by_every_strategy(void **state)
{
    (void)state;
    finds("everybody waits", WEIR_SIM(.runs = 10000), lost_wake_up);
    finds("everybody waits", WEIR_SIM(.runs = 10000, .strategy = WEIR_SIM_PCT), lost_wake_up);
    finds("everybody waits", WEIR_SIM(.strategy = WEIR_SIM_EXHAUSTIVE, .depth = 1), lost_wake_up);
}

static void a_wake_up_that_is_kept_is_no_failure_in_any_order(void **state)
{
    (void)state;
    finds_nothing(WEIR_SIM(.runs = 10000), kept_wake_up);
    const weir_sim_result all = explored(EVERY_ORDER(WEIR_SIM_DEFAULT_FAULTS), kept_wake_up);
    assert_false(all.failed);
    assert_true(all.complete);
}

static weir__mutex one, two;

static void one_then_two(void *unused)
{
    (void)unused;
    weir__mutex_lock(&one);
    weir__mutex_lock(&two);
    weir__mutex_unlock(&two);
    weir__mutex_unlock(&one);
}

static void two_then_one(void *unused)
{
    (void)unused;
    weir__mutex_lock(&two);
    weir__mutex_lock(&one);
    weir__mutex_unlock(&one);
    weir__mutex_unlock(&two);
}

static void deadlock(void *unused)
{
    (void)unused;
    weir__init(&one.state, 0);
    weir__init(&two.state, 0);
    both(one_then_two, two_then_one);
}

static void a_deadlock_is_found_and_says_who_waits_where(void **state)
{
    (void)state;
    finds("mutex.c", WEIR_SIM(.runs = 10000), deadlock);
    finds("everybody waits", WEIR_SIM(.strategy = WEIR_SIM_EXHAUSTIVE, .depth = 1), deadlock);
}

static void never_end(void *unused)
{
    (void)unused;
    while (weir__load(&ready, relaxed) == 0) {
    }
}

static void livelock(void *unused)
{
    (void)unused;
    reset();
    both(never_end, never_end);
}

static void a_run_without_an_end_is_found(void **state)
{
    (void)state;
    finds("no end", WEIR_SIM(.runs = 1, .steps_max = 20000), livelock);
    finds("no end", WEIR_SIM(.strategy = WEIR_SIM_EXHAUSTIVE, .steps_max = 20000), livelock);
}

static void set_ready_later(void *unused)
{
    (void)unused;
    weir_sim_step();
    weir__store(&ready, 1, relaxed);
}

static void spin_until_ready(void *unused)
{
    (void)unused;
    reset();
    both(never_end, set_ready_later);
}

static void who_spins_without_giving_way_keeps_nobody_out_for_ever(void **state)
{
    (void)state;
    static const weir_sim_strategy strategies[] = { WEIR_SIM_RANDOM, WEIR_SIM_PCT };
    for (size_t i = 0; i < 2; i++) {
        finds_nothing(
            WEIR_SIM(.runs = 200, .strategy = strategies[i], .faults = WEIR_SIM_NO_FAULTS),
            spin_until_ready);
    }
    finds_nothing(WEIR_SIM(.strategy = WEIR_SIM_REPLAY, .schedule = ""), spin_until_ready);
}

/* ---- data ---- */

static void write_plain(void *unused)
{
    (void)unused;
    plain++;
}

static void race(void *unused)
{
    (void)unused;
    reset();
    both(write_plain, write_plain);
}

static void write_locked(void *unused)
{
    (void)unused;
    weir__mutex_lock(&one);
    plain++;
    weir__mutex_unlock(&one);
}

static void no_race(void *unused)
{
    (void)unused;
    reset();
    weir__init(&one.state, 0);
    both(write_locked, write_locked);
    weir_sim_check(plain == 2, "%d of 2 counted", plain); /* after the join: no race either */
}

static void a_data_race_is_found_in_the_first_order_that_is_tried(void **state)
{
    (void)state;
    finds("data race", WEIR_SIM(.runs = 1), race);
    finds_nothing(WEIR_SIM(.runs = 100, .faults = WEIR_SIM_STORE_BUFFERS), race);
}

static void what_a_mutex_guards_is_no_race(void **state)
{
    (void)state;
    const weir_sim_result all = explored(EVERY_ORDER(WEIR_SIM_DEFAULT_FAULTS), no_race);
    assert_false(all.failed);
    assert_true(all.complete);
    assert_true(all.races_seen);
}

static void say_so_by_hand(void *unused)
{
    static char memory[8];
    (void)unused;
    weir_sim_writes(memory, sizeof(memory));
}

static void race_by_hand(void *unused)
{
    (void)unused;
    both(say_so_by_hand, say_so_by_hand);
}

static void memory_that_the_compiler_does_not_report_can_be_reported_by_hand(void **state)
{
    (void)state;
    finds("data race", WEIR_SIM(.runs = 1), race_by_hand);
}

static char large[4096], other[4096];

static void clear_large(void *unused)
{
    (void)unused;
    memset(large, 0, sizeof(large));
}

static void copy_large(void *unused)
{
    (void)unused;
    memcpy(other, large, sizeof(other));
}

static void move_large(void *unused)
{
    (void)unused;
    memmove(other + 1, other, sizeof(other) - 1);
}

static void race_of_clear_and_copy(void *unused)
{
    (void)unused;
    both(clear_large, copy_large);
}

static void race_of_copy_and_move(void *unused)
{
    (void)unused;
    both(copy_large, move_large);
}

static void what_is_left_to_libc_is_watched_too(void **state)
{
    (void)state;
    finds("data race", WEIR_SIM(.runs = 1), race_of_clear_and_copy);
    finds("data race", WEIR_SIM(.runs = 1), race_of_copy_and_move);
}

static void two_writers_of_a_cell(void *unused)
{
    static weir__cell cell;
    (void)unused;
    weir__cell_add(&cell, 1);
}

static void cell_race(void *unused)
{
    (void)unused;
    both(two_writers_of_a_cell, two_writers_of_a_cell);
}

static void a_counter_with_two_writers_is_found(void **state)
{
    (void)state;
    finds("two writers", WEIR_SIM(.runs = 1000), cell_race);
}

/* ---- memory ---- */

static char *shared_memory;

static void read_it(void *unused)
{
    (void)unused;
    weir_sim_step();
    plain += shared_memory[0];
}

static void free_small(void *unused)
{
    (void)unused;
    weir__release(weir__allocator_default(), shared_memory, 64);
}

static void free_large(void *unused)
{
    (void)unused;
    weir__release(weir__allocator_default(), shared_memory, 10000);
}

static void small_use_after_free(void *unused)
{
    (void)unused;
    shared_memory = weir__allocate(weir__allocator_default(), 64);
    both(read_it, free_small);
}

static void large_use_after_free(void *unused)
{
    (void)unused;
    shared_memory = weir__allocate(weir__allocator_default(), 10000);
    both(read_it, free_large);
}

static void double_free(void *unused)
{
    shared_memory = weir__allocate(weir__allocator_default(), 64);
    free_small(unused);
    free_small(unused);
}

static void wrong_free(void *unused)
{
    shared_memory = weir__allocate(weir__allocator_default(), 64);
    free_large(unused);
}

static void a_use_after_free_is_found(void **state)
{
    (void)state;
    finds("use after free", WEIR_SIM(.runs = 1000), small_use_after_free);
    finds("use after free", WEIR_SIM(.runs = 1000), large_use_after_free);
}

static void a_double_free_and_a_wrong_size_are_found(void **state)
{
    (void)state;
    finds("double free", WEIR_SIM(.runs = 1), double_free);
    finds("bad free", WEIR_SIM(.runs = 1), wrong_free);
}

/* ---- crashes, checks ---- */

static void crash(void *unused)
{
    (void)unused;
    static int *volatile nowhere; /* tidy-ok: the compiler must not see that it is NULL */
    *nowhere = 1;
}

static void crash_in_a_thread(void *unused)
{
    (void)unused;
    both(write_plain, crash);
}

static void give_up(void *unused)
{
    (void)unused;
    abort();
}

static void assert_it(void *unused)
{
    (void)unused;
    WEIR_ASSERT(plain < 0);
}

static void a_crash_is_a_failed_run_and_not_the_end_of_the_program(void **state)
{
    (void)state;
    finds("Segmentation fault", WEIR_SIM(.runs = 1), crash_in_a_thread);
    finds("Segmentation fault", WEIR_SIM(.runs = 1), crash); /* again: the handler is still there */
    finds("Aborted", WEIR_SIM(.runs = 1), give_up);
    finds("assertion failed: plain < 0", WEIR_SIM(.runs = 1), assert_it);
}

static weir__atomic_i32 left, right;

static void move(void *unused)
{
    (void)unused;
    weir__sub(&left, 1, seq_cst);
    weir__add(&right, 1, seq_cst); /* in between the sum is wrong */
}

static void sum_is_ten(void *unused)
{
    (void)unused;
    weir_sim_check(weir__load(&left, relaxed) + weir__load(&right, relaxed) == 10,
                   "the sum is not 10");
}

static void torn_invariant(void *unused)
{
    (void)unused;
    weir__init(&left, 10);
    weir__init(&right, 0);
    weir_sim_always(sum_is_ten, NULL);
    both(move, write_plain);
}

static void an_invariant_is_looked_at_after_every_step(void **state)
{
    (void)state;
    finds("the sum is not 10", WEIR_SIM(.runs = 1), torn_invariant);
}

static void sleep_and_move(void *unused)
{
    weir_sim_sleep(WEIR_US);
    move(unused);
}

static void torn_after_a_sleep(void *unused)
{
    (void)unused;
    weir__init(&left, 10);
    weir__init(&right, 0);
    weir_sim_always(sum_is_ten, NULL);
    both(sleep_and_move, write_plain);
}

static void so_it_is_after_those_of_a_thread_that_was_asleep(void **state)
{
    (void)state;
    finds("the sum is not 10", WEIR_SIM(.runs = 1, .strategy = WEIR_SIM_PCT), torn_after_a_sleep);
}

/* The second thread outlives the body, whose variable the invariant looks at. */
static void step_on(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        weir__add(&left, 1, seq_cst);
    }
}

static bool body_is_over;

static void body_is_there(void *unused)
{
    (void)unused;
    weir_sim_check(!body_is_over, "looked at after the body");
}

static void short_body(void *unused)
{
    (void)unused;
    body_is_over = false;
    weir_sim_always(body_is_there, NULL);
    (void)weir_sim_thread_start(step_on, NULL);
    weir_sim_step();
    body_is_over = true;
}

static void an_invariant_ends_with_the_body(void **state)
{
    (void)state;
    finds_nothing(WEIR_SIM(.runs = 500, .faults = WEIR_SIM_NO_FAULTS), short_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_wake_up_is_found_by_every_strategy),
        cmocka_unit_test(a_wake_up_that_is_kept_is_no_failure_in_any_order),
        cmocka_unit_test(a_deadlock_is_found_and_says_who_waits_where),
        cmocka_unit_test(a_run_without_an_end_is_found),
        cmocka_unit_test(who_spins_without_giving_way_keeps_nobody_out_for_ever),
        cmocka_unit_test(a_data_race_is_found_in_the_first_order_that_is_tried),
        cmocka_unit_test(what_a_mutex_guards_is_no_race),
        cmocka_unit_test(memory_that_the_compiler_does_not_report_can_be_reported_by_hand),
        cmocka_unit_test(what_is_left_to_libc_is_watched_too),
        cmocka_unit_test(a_counter_with_two_writers_is_found),
        cmocka_unit_test(a_use_after_free_is_found),
        cmocka_unit_test(a_double_free_and_a_wrong_size_are_found),
        cmocka_unit_test(a_crash_is_a_failed_run_and_not_the_end_of_the_program),
        cmocka_unit_test(an_invariant_is_looked_at_after_every_step),
        cmocka_unit_test(so_it_is_after_those_of_a_thread_that_was_asleep),
        cmocka_unit_test(an_invariant_ends_with_the_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
