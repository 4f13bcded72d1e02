/*
 * count_test.c - the simulator counts every operation once, by its kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "engine/context.h"
#include "sync/atomic.h"
#include "sync/barrier.h"
#include "sync/bias.h"
#include "sync/sim/count.h"
#include "sync/thread.h"
#include "sync/word.h"
#include "test_support.h"
#include "weir/sim.h"

static weir__atomic_u32 atom;
static weir__cell cell;
static int doorbell;

/* What one call of `does` adds to the counts, in a run. */
static void (*does)(void);
static weir__sim_counts cost;

static void body(void *unused)
{
    (void)unused;
    doorbell = weir__doorbell_open();
    const weir__sim_counts before = weir__sim_counted;
    does();
#define DIFFERENCE(name) cost.name = weir__sim_counted.name - before.name;
    WEIR__SIM_COUNTS(DIFFERENCE)
#undef DIFFERENCE
}

static void expect(void (*operation)(void), weir__sim_counts expected)
{
    weir_sim_result result = WEIR_SIM_RESULT_INIT;
    does = operation;
    assert_int_equal(WEIR_OK, weir_sim_explore(WEIR_SIM(.runs = 1, .faults = WEIR_SIM_NO_FAULTS),
                                               body, NULL, &result));
    assert_false(result.failed);
#define COMPARE(name) assert_int_equal(expected.name, cost.name);
    WEIR__SIM_COUNTS(COMPARE)
#undef COMPARE
}

static void do_loads(void)
{
    (void)weir__load(&atom, relaxed);
    (void)weir__load(&atom, acquire);
    (void)weir__load(&atom, seq_cst);
}

static void do_stores(void)
{
    weir__store(&atom, 1, relaxed);
    weir__store(&atom, 2, release);
}

static void do_strong_store(void)
{
    weir__store(&atom, 3, seq_cst);
}

static void do_locked(void)
{
    uint32_t expected = 1;
    (void)weir__exchange(&atom, 5, relaxed);
    (void)weir__cas(&atom, &expected, 6, acq_rel, relaxed); /* fails: it is locked all the same */
    (void)weir__cas(&atom, &expected, 7, acq_rel, relaxed);
    (void)weir__add(&atom, 1, relaxed);
    (void)weir__sub(&atom, 1, relaxed);
    (void)weir__or(&atom, 1, relaxed);
    (void)weir__and(&atom, 1, relaxed);
}

static void do_cell(void)
{
    weir__cell_add(&cell, 1);
}

static void do_fence(void)
{
    weir__fence(seq_cst);
}

static void do_light_barrier(void)
{
    weir__barrier_light();
}

static void do_heavy_barrier(void)
{
    weir__barrier_heavy();
}

static void do_calls(void)
{
    weir__word_wake(&atom, 1);
    weir__word_wait(&atom, 1234, 1); /* not its value */
    weir__doorbell_ring(doorbell);
    weir__doorbell_clear(doorbell);
}

static void do_clock(void)
{
    (void)weir__clock_now();
}

static void loads_and_stores_are_counted(void **state)
{
    (void)state;
    expect(do_loads, (weir__sim_counts){ .loads = 3 });
    expect(do_stores, (weir__sim_counts){ .stores = 2 });
    expect(do_cell, (weir__sim_counts){ .loads = 1, .stores = 1 });
}

static void a_store_that_is_seq_cst_counts_as_locked(void **state)
{
    (void)state;
    expect(do_strong_store, (weir__sim_counts){ .locked = 1 });
}

static void locked_operations_are_counted_whether_they_succeed_or_not(void **state)
{
    (void)state;
    expect(do_locked, (weir__sim_counts){ .locked = 7 });
}

static void of_the_barriers_only_the_heavy_one_counts(void **state)
{
    (void)state;
    expect(do_fence, (weir__sim_counts){ .fences = 1 });
    expect(do_light_barrier, (weir__sim_counts){ 0 });
    expect(do_heavy_barrier, (weir__sim_counts){ .barriers = 1 });
}

/* Where the kernel fences nobody, the owner's light barrier is all that there is between its store
 * and its look. On one machine the others see it missing within a second, on the next never. */
static uint64_t lights;

static void enter_own_lock(void)
{
    weir__bias bias = { 0 };
    const uint64_t before = weir__sim_lights;
    (void)weir__bias_enter(&bias);
    lights = weir__sim_lights - before;
    weir__bias_leave(&bias);
}

static void enter_mark(void)
{
    static weir__context context;
    const uint64_t before = weir__sim_lights;
    weir__context_enter(&context);
    lights = weir__sim_lights - before;
    weir__context_leave(&context);
}

static void take_leased_step(void)
{
    static weir__mailbox mailbox;
    static weir__tenant tenant;
    const uint64_t before = weir__sim_lights;
    (void)weir__lease_step(&mailbox, &tenant, 0);
    lights = weir__sim_lights - before;
}

static void whoever_relies_on_a_heavy_barrier_passes_a_light_one(void **state)
{
    (void)state;
    static void (*const reliant[])(void) = { enter_own_lock, enter_mark, take_leased_step };
    for (size_t i = 0; i < sizeof(reliant) / sizeof(reliant[0]); i++) {
        weir_sim_result result = WEIR_SIM_RESULT_INIT;
        does = reliant[i];
        lights = 0;
        assert_int_equal(WEIR_OK,
                         weir_sim_explore(WEIR_SIM(.runs = 1, .faults = WEIR_SIM_NO_FAULTS), body,
                                          NULL, &result));
        assert_false(result.failed);
        assert_int_equal(1, lights);
    }
}

static void system_calls_and_looks_at_the_clock_are_counted(void **state)
{
    (void)state;
    expect(do_calls, (weir__sim_counts){ .calls = 4 });
    expect(do_clock, (weir__sim_counts){ .clocks = 1 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_stores_are_counted),
        cmocka_unit_test(a_store_that_is_seq_cst_counts_as_locked),
        cmocka_unit_test(locked_operations_are_counted_whether_they_succeed_or_not),
        cmocka_unit_test(of_the_barriers_only_the_heavy_one_counts),
        cmocka_unit_test(whoever_relies_on_a_heavy_barrier_passes_a_light_one),
        cmocka_unit_test(system_calls_and_looks_at_the_clock_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
