/*
 * sim_stale_test.c - memory weaker than x86's: which old values loads may see, and which not.
 *
 * Litmus tests: few instructions of two to four threads, and an outcome that must be possible, or
 * must not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim_support.h"
#include "sync/barrier.h"
#include "sync/thread.h"

#define WEAK (WEIR_SIM_STORE_BUFFERS | WEIR_SIM_RACES | WEIR_SIM_STALE_READS)
#define MANY WEIR_SIM(.runs = 20000, .faults = WEAK)

static weir__atomic_u32 x, y, z;
static uint32_t seen[6]; /* each written by one thread, read after the join */

static void reset(void)
{
    weir__store(&x, 0, relaxed);
    weir__store(&y, 0, relaxed);
    weir__store(&z, 0, relaxed);
    memset(seen, 0, sizeof(seen));
}

#define BODY(name, statements)                                                                     \
    static void name(void *unused)                                                                 \
    {                                                                                              \
        (void)unused;                                                                              \
        statements                                                                                 \
    }

/* ---- message passing between atoms: x, then the flag y ---- */

#define PASSING(name, store_order, load_order)                                                     \
    BODY(name##_sender, weir__store(&x, 1, relaxed); weir__store(&y, 1, store_order);)             \
    BODY(                                                                                          \
        name##_receiver, if (weir__load(&y, load_order) == 1) {                                    \
            weir_sim_check(weir__load(&x, relaxed) == 1, "the flag came first");                   \
        })                                                                                         \
    BODY(name, reset(); both(name##_receiver, name##_sender);)

PASSING(relaxed_store_passing, relaxed, acquire)
PASSING(relaxed_load_passing, release, relaxed)
PASSING(ordered_passing, release, acquire)

static void without_release_or_acquire_a_flag_comes_before_what_it_announces(void **state)
{
    (void)state;
    finds("the flag came first", MANY, relaxed_store_passing);
    finds("the flag came first", MANY, relaxed_load_passing);
    finds("the flag came first", WEIR_SIM(.runs = 20000, .faults = WEIR_SIM_STALE_READS),
          relaxed_load_passing);                                  /* races come with it */
    finds_nothing(WEIR_SIM(.runs = 20000), relaxed_load_passing); /* x86 hides it */
    finds_nothing(MANY, ordered_passing);
}

/* ---- reads do not go back ---- */

BODY(
    count_up, for (uint32_t i = 1; i < 8; i++) { weir__store(&x, i, relaxed); })
BODY(watch_twice, seen[0] = weir__load(&x, relaxed); seen[1] = weir__load(&x, relaxed);)
BODY(coherence, reset(); both(count_up, watch_twice);
     weir_sim_check(seen[1] >= seen[0], "time ran backwards");)

BODY(read_and_tell, seen[0] = weir__load(&x, relaxed); weir__store(&y, 1, release);)
BODY(
    hear_and_read, if (weir__load(&y, acquire) == 1) {
        seen[1] = weir__load(&x, relaxed);
        seen[2] = 1;
    })
BODY(coherence_of_two, reset(); const int teller = weir_sim_thread_start(read_and_tell, NULL);
     both(count_up, hear_and_read); weir_sim_thread_join(teller);
     weir_sim_check(seen[2] == 0 || seen[1] >= seen[0], "time ran backwards");)

static void what_a_thread_has_read_is_the_oldest_that_it_and_its_followers_read(void **state)
{
    (void)state;
    finds_nothing(MANY, coherence);
    finds_nothing(MANY, coherence_of_two);
}

/* ---- store, then look at the other's ---- */

#define BUFFERING(name, store_order, between, load_order)                                          \
    BODY(name##_left, weir__store(&x, 1, store_order); between;                                    \
         seen[0] = weir__load(&y, load_order);)                                                    \
    BODY(name##_right, weir__store(&y, 1, store_order); between;                                   \
         seen[1] = weir__load(&x, load_order);)                                                    \
    BODY(name, reset(); both(name##_left, name##_right);                                           \
         weir_sim_check(seen[0] + seen[1] > 0, "neither saw the other");)

BUFFERING(fenced_buffering, relaxed, weir__fence(seq_cst), relaxed)
BUFFERING(strong_buffering, seq_cst, (void)0, seq_cst)
BUFFERING(weak_load_buffering, seq_cst, (void)0, acquire)
BUFFERING(exchange_buffering, relaxed, weir__add(&z, 1, acq_rel), relaxed)

static void seq_cst_on_one_side_of_each_is_not_enough(void **state)
{
    (void)state;
    finds_nothing(MANY, fenced_buffering);
    finds_nothing(MANY, strong_buffering);
    finds("neither saw", MANY, weak_load_buffering);
    finds_nothing(WEIR_SIM(.runs = 20000), weak_load_buffering); /* x86 hides it */
}

/* The second to exchange has acquired what the first released: it sees, in any order. */
static void a_locked_operation_on_the_same_atom_orders_both(void **state)
{
    (void)state;
    finds_nothing(MANY, exchange_buffering);
}

/* ---- the barrier whose price one side pays ---- */

BODY(light_side, weir__store(&x, 1, relaxed); weir__barrier_light();
     seen[0] = weir__load(&y, relaxed);)
BODY(heavy_side, weir__store(&y, 1, relaxed); weir__barrier_heavy();
     seen[1] = weir__load(&x, relaxed);)
BODY(light_and_heavy, reset(); both(light_side, heavy_side);
     weir_sim_check(seen[0] + seen[1] > 0, "neither saw the other");)

static void a_heavy_barrier_is_a_fence_in_every_thread(void **state)
{
    (void)state;
    finds_nothing(MANY, light_and_heavy);
}

/* ---- two writers, two readers who disagree about the order ---- */

BODY(write_x, weir__store(&x, 1, seq_cst);)
BODY(write_y, weir__store(&y, 1, seq_cst);)
#define DISAGREEING(name, order)                                                                   \
    BODY(name##_xy, seen[0] = weir__load(&x, order); seen[1] = weir__load(&y, order);)             \
    BODY(name##_yx, seen[2] = weir__load(&y, order); seen[3] = weir__load(&x, order);)             \
    BODY(name, reset(); const int one = weir_sim_thread_start(write_x, NULL);                      \
         const int two = weir_sim_thread_start(write_y, NULL); both(name##_xy, name##_yx);         \
         weir_sim_thread_join(one); weir_sim_thread_join(two);                                     \
         weir_sim_check(seen[0] == 0 || seen[1] != 0 || seen[2] == 0 || seen[3] != 0,              \
                        "two orders of the same");)

DISAGREEING(acquiring_readers, acquire)
DISAGREEING(strong_readers, seq_cst)

static void only_seq_cst_readers_agree_on_the_order_of_two_writers(void **state)
{
    (void)state;
    finds("two orders", MANY, acquiring_readers);
    finds_nothing(MANY, strong_readers);
}

/* ---- nothing stays old for ever ---- */

BODY(raise_flag, weir__store(&x, 1, relaxed);)
BODY(
    spin_on_flag, while (weir__load(&x, relaxed) == 0) { weir__pause(); })
BODY(spinning, reset(); both(raise_flag, spin_on_flag);)

static void who_spins_sees_the_new_value_in_the_end(void **state)
{
    (void)state;
    finds_nothing(WEIR_SIM(.runs = 5000, .faults = WEAK, .steps_max = 5000), spinning);
}

/* ---- replay ---- */

static void an_old_value_is_a_decision_that_can_be_replayed(void **state)
{
    (void)state;
    const weir_sim_result found =
        explored(WEIR_SIM(.runs = 20000, .faults = WEAK, .shrink = true), relaxed_load_passing);
    assert_true(found.failed);
    assert_non_null(strchr(found.schedule, 'c'));
    finds("the flag came first",
          WEIR_SIM(.strategy = WEIR_SIM_REPLAY, .faults = WEAK, .schedule = found.schedule),
          relaxed_load_passing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_release_or_acquire_a_flag_comes_before_what_it_announces),
        cmocka_unit_test(what_a_thread_has_read_is_the_oldest_that_it_and_its_followers_read),
        cmocka_unit_test(seq_cst_on_one_side_of_each_is_not_enough),
        cmocka_unit_test(a_locked_operation_on_the_same_atom_orders_both),
        cmocka_unit_test(a_heavy_barrier_is_a_fence_in_every_thread),
        cmocka_unit_test(only_seq_cst_readers_agree_on_the_order_of_two_writers),
        cmocka_unit_test(who_spins_sees_the_new_value_in_the_end),
        cmocka_unit_test(an_old_value_is_a_decision_that_can_be_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
