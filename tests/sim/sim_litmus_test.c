/*
 * sim_litmus_test.c - the memory model: what store buffers show, what edges allow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim_support.h"

static weir__atomic_u32 x, y;
static uint32_t seen_y, seen_x; /* each written by one thread, read after the join */
static int data;

static void reset(void)
{
    weir__init(&x, 0);
    weir__init(&y, 0);
    seen_x = seen_y = 0;
    data = 0;
}

/* ---- store buffering: both store, then look at the other's ---- */

#define STORE_THEN_LOAD(name, mine, theirs, into, store_order, load_order, between)                \
    static void name(void *unused)                                                                 \
    {                                                                                              \
        (void)unused;                                                                              \
        weir__store(&(mine), 1, store_order);                                                      \
        between;                                                                                   \
        (into) = weir__load(&(theirs), load_order);                                                \
    }

STORE_THEN_LOAD(relaxed_left, x, y, seen_y, relaxed, relaxed, (void)0)
STORE_THEN_LOAD(relaxed_right, y, x, seen_x, relaxed, relaxed, (void)0)
STORE_THEN_LOAD(ordered_left, x, y, seen_y, release, acquire, (void)0)
STORE_THEN_LOAD(ordered_right, y, x, seen_x, release, acquire, (void)0)
STORE_THEN_LOAD(fenced_left, x, y, seen_y, relaxed, relaxed, weir__fence(seq_cst))
STORE_THEN_LOAD(fenced_right, y, x, seen_x, relaxed, relaxed, weir__fence(seq_cst))
STORE_THEN_LOAD(strong_left, x, y, seen_y, seq_cst, seq_cst, (void)0)
STORE_THEN_LOAD(strong_right, y, x, seen_x, seq_cst, seq_cst, (void)0)

static void look_at_both(void (*left)(void *), void (*right)(void *))
{
    reset();
    both(left, right);
    weir_sim_check(seen_x + seen_y > 0, "neither saw the other");
}

static void relaxed_buffering(void *unused)
{
    (void)unused;
    look_at_both(relaxed_left, relaxed_right);
}

static void ordered_buffering(void *unused)
{
    (void)unused;
    look_at_both(ordered_left, ordered_right);
}

static void fenced_buffering(void *unused)
{
    (void)unused;
    look_at_both(fenced_left, fenced_right);
}

static void strong_buffering(void *unused)
{
    (void)unused;
    look_at_both(strong_left, strong_right);
}

static void store_buffering_shows_with_store_buffers_and_not_without(void **state)
{
    (void)state;
    finds("neither saw", EVERY_ORDER(WEIR_SIM_STORE_BUFFERS), relaxed_buffering);
    finds("neither saw", WEIR_SIM(.runs = 10000), relaxed_buffering);
    const weir_sim_result all = explored(EVERY_ORDER(WEIR_SIM_NO_FAULTS), relaxed_buffering);
    assert_false(all.failed);
    assert_true(all.complete);
}

static void release_and_acquire_do_not_help_against_it(void **state)
{
    (void)state;
    finds("neither saw", EVERY_ORDER(WEIR_SIM_STORE_BUFFERS), ordered_buffering);
}

static void a_fence_or_seq_cst_on_both_sides_does(void **state)
{
    (void)state;
    void (*const bodies[])(void *) = { fenced_buffering, strong_buffering };
    for (size_t i = 0; i < 2; i++) {
        const weir_sim_result all = explored(EVERY_ORDER(WEIR_SIM_STORE_BUFFERS), bodies[i]);
        assert_false(all.failed);
        assert_true(all.complete);
    }
}

/* ---- message passing: data, then a flag ---- */

#define PASS(name, order, before)                                                                  \
    static void name(void *unused)                                                                 \
    {                                                                                              \
        (void)unused;                                                                              \
        data = 42;                                                                                 \
        before;                                                                                    \
        weir__store(&x, 1, order);                                                                 \
    }
#define RECEIVE(name, order, after)                                                                \
    static void name(void *unused)                                                                 \
    {                                                                                              \
        (void)unused;                                                                              \
        if (weir__load(&x, order) != 0) {                                                          \
            after;                                                                                 \
            weir_sim_check(data == 42, "the flag came before the data");                           \
        }                                                                                          \
    }
#define PASSING(name, sender, receiver)                                                            \
    static void name(void *unused)                                                                 \
    {                                                                                              \
        (void)unused;                                                                              \
        reset();                                                                                   \
        both(receiver, sender);                                                                    \
    }

PASS(pass_relaxed, relaxed, (void)0)
PASS(pass_release, release, (void)0)
PASS(pass_fenced, relaxed, weir__fence(release))
RECEIVE(receive_relaxed, relaxed, (void)0)
RECEIVE(receive_acquire, acquire, (void)0)
RECEIVE(receive_fenced, relaxed, weir__fence(acquire))
PASSING(relaxed_passing, pass_relaxed, receive_acquire)
PASSING(relaxed_receiving, pass_release, receive_relaxed)
PASSING(ordered_passing, pass_release, receive_acquire)
PASSING(fenced_passing, pass_fenced, receive_fenced)

static void a_missing_release_or_acquire_is_a_race_although_x86_hides_it(void **state)
{
    (void)state;
    finds("data race", EVERY_ORDER(WEIR_SIM_DEFAULT_FAULTS), relaxed_passing);
    finds("data race", EVERY_ORDER(WEIR_SIM_DEFAULT_FAULTS), relaxed_receiving);
    /* The values alone do not show it: stores stay in order. */
    finds_nothing(EVERY_ORDER(WEIR_SIM_STORE_BUFFERS), relaxed_passing);
}

static void release_and_acquire_hand_data_over(void **state)
{
    (void)state;
    void (*const bodies[])(void *) = { ordered_passing, fenced_passing };
    for (size_t i = 0; i < 2; i++) {
        const weir_sim_result all = explored(EVERY_ORDER(WEIR_SIM_DEFAULT_FAULTS), bodies[i]);
        assert_false(all.failed);
        assert_true(all.complete);
        assert_true(all.races_seen);
    }
}

/* ---- release sequences ---- */

static void begin_sequence(void *unused)
{
    (void)unused;
    data = 42;
    weir__store(&x, 1, release);
    weir__add(&x, 1, relaxed); /* goes on with it */
}

static void break_sequence(void *unused)
{
    (void)unused;
    data = 42;
    weir__store(&x, 1, release);
    weir__store(&x, 2, relaxed); /* begins a new one, with nothing in it */
}

static void receive_two(void *unused)
{
    (void)unused;
    if (weir__load(&x, acquire) == 2) {
        weir_sim_check(data == 42, "the flag came before the data");
    }
}

PASSING(continued_passing, begin_sequence, receive_two)
PASSING(broken_passing, break_sequence, receive_two)

static void an_exchange_continues_a_release_sequence_and_a_store_ends_it(void **state)
{
    (void)state;
    finds_nothing(EVERY_ORDER(WEIR_SIM_DEFAULT_FAULTS), continued_passing);
    finds("data race", EVERY_ORDER(WEIR_SIM_DEFAULT_FAULTS), broken_passing);
}

/* ---- own stores ---- */

static void read_back(void *unused)
{
    (void)unused;
    for (uint32_t i = 1; i < 20; i++) { /* more than the buffer holds */
        weir__store(&x, i, relaxed);
        weir__store(&y, i, relaxed);
        weir_sim_check(weir__load(&x, relaxed) == i, "an own store is not seen");
    }
}

static void watch_in_order(void *unused)
{
    (void)unused;
    for (int i = 0; i < 6; i++) {
        const uint32_t later = weir__load(&y, relaxed);
        weir_sim_check(weir__load(&x, relaxed) >= later, "stores became visible out of order");
    }
}

static void own_stores(void *unused)
{
    (void)unused;
    reset();
    both(read_back, watch_in_order);
}

static void a_thread_sees_its_own_stores_and_others_see_them_in_order(void **state)
{
    (void)state;
    finds_nothing(WEIR_SIM(.runs = 5000), own_stores);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_buffering_shows_with_store_buffers_and_not_without),
        cmocka_unit_test(release_and_acquire_do_not_help_against_it),
        cmocka_unit_test(a_fence_or_seq_cst_on_both_sides_does),
        cmocka_unit_test(a_missing_release_or_acquire_is_a_race_although_x86_hides_it),
        cmocka_unit_test(release_and_acquire_hand_data_over),
        cmocka_unit_test(an_exchange_continues_a_release_sequence_and_a_store_ends_it),
        cmocka_unit_test(a_thread_sees_its_own_stores_and_others_see_them_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
