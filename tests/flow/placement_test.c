/*
 * placement_test.c - where flows go: a new one to the worker with the fewest events waiting or at
 * hand, of several the first (S-51); later ones to the same; without a flow, always the least
 * loaded (S-57); with migrate, one that has nothing waiting goes on where there is less to do
 * (S-58).
 *
 * The loads are scripted: every event is held by its worker's latch, so a model of a few lines
 * knows how many each worker has, and who is to be chosen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_support.h"

enum { WORKERS = 4, STEPS = 600 };

static stage s;
static latch holds[WORKERS];
static uint64_t load[WORKERS];
static uint64_t submitted;

static uint32_t least(void)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < WORKERS; i++) {
        best = load[i] < load[best] ? i : best;
    }
    return best;
}

static void model_open(bool migrate)
{
    stage_open(&s, STAGE(.workers = WORKERS, .migrate = migrate));
    submitted = 0;
    for (uint32_t i = 0; i < WORKERS; i++) {
        latch_init(&holds[i]);
        load[i] = 0;
    }
}

static void assert_loads(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < WORKERS; i++) {
        assert_int_equal(load[i], worker_counters(s.engine, s.router, i).depth);
        sum += load[i];
    }
    assert_int_equal(sum, router_counters(s.engine, s.router).depth);
}

/* It must come to that worker. */
static void submit_to(uint64_t flow, uint32_t worker)
{
    assert_int_equal(WEIR_OK,
                     submit_step(&s, flow, (step){ .value = ++submitted, .hold = &holds[worker] }));
    load[worker]++;
    if (flow != 0) {
        assert_int_equal(worker, worker_of(&s, flow));
    }
    assert_loads();
}

/* That worker is done with one. */
static void handle_one(uint32_t worker)
{
    assert_true(load[worker] > 0);
    latch_open(&holds[worker]);
    load[worker]--;
    TEST_UNTIL(worker_counters(s.engine, s.router, worker).depth == load[worker]);
}

static weir_router_counters model_close(void)
{
    for (uint32_t i = 0; i < WORKERS; i++) {
        while (load[i] > 0) {
            handle_one(i);
        }
    }
    stage_handled(&s, submitted);
    return stage_close(&s);
}

static void of_workers_that_have_the_same_the_first_is_chosen(void **state)
{
    (void)state;
    model_open(false);
    for (uint64_t flow = 1; flow <= 3 * WORKERS; flow++) {
        submit_to(flow, (uint32_t)((flow - 1) % WORKERS));
    }
    (void)model_close();
}

static void a_new_flow_goes_to_the_least_loaded_worker_and_stays_there(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    static uint32_t home[STEPS + 1]; /* of each flow */
    uint64_t flows = 0;
    model_open(false);
    for (int i = 0; i < STEPS; i++) {
        const uint64_t what = test_random(&random);
        const uint32_t worker = (uint32_t)(what >> 32) % WORKERS;
        if (what % 4 == 0 || flows == 0) {
            home[++flows] = least();
            submit_to(flows, home[flows]);
        } else if (what % 4 == 1) { /* an old one, however much its worker has */
            const uint64_t flow = 1 + (what >> 8) % flows;
            submit_to(flow, home[flow]);
        } else if (what % 4 == 2) {
            submit_to(0, least());
        } else if (load[worker] > 0) {
            handle_one(worker);
        }
    }
    assert_int_equal(0, model_close().moved);
}

static void what_waits_decides_and_not_how_many_flows_a_worker_has(void **state)
{
    (void)state;
    model_open(false);
    for (uint64_t flow = 1; flow <= 20; flow++) { /* each is handled before the next one comes */
        submit_to(flow, 0);
        handle_one(0);
    }
    submit_to(100, 0);
    submit_to(101, 1);
    (void)model_close();
}

/* ---- moves ---- */

static void without_migrate_a_flow_stays_although_its_worker_is_busy(void **state)
{
    (void)state;
    model_open(false);
    submit_to(1, 0);
    handle_one(0);
    submit_to(2, 0);
    submit_to(1, 0); /* the others are free */
    assert_int_equal(0, model_close().moved);
}

static void with_migrate_a_flow_that_is_drained_goes_on_where_there_is_less_to_do(void **state)
{
    (void)state;
    model_open(true);
    submit_to(1, 0);
    handle_one(0);
    submit_to(1, 0); /* nobody has less */
    handle_one(0);
    submit_to(2, 0);
    submit_to(1, 1); /* moved */
    submit_to(3, 2);
    submit_to(1, 1); /* something of it is at hand: the last worker has nothing, and must wait */
    submit_to(2, 0); /* the same */
    handle_one(1);
    submit_to(1, 1); /* still one waiting */
    handle_one(1);
    handle_one(1);
    submit_to(4, 1);
    submit_to(5, 3);
    submit_to(6, 1); /* two, one, two, ...: the first of the least */
    submit_to(3, 2);
    handle_one(2);
    handle_one(2);
    submit_to(1, 2); /* drained, and its worker has more than this one */
    const weir_router_counters c = model_close();
    assert_int_equal(2, c.moved);
    assert_int_equal(6, c.flows_made);
    /* One life, whatever worker it was on, in order. */
    assert_int_equal(6, atomic_load(&s.begun));
    ASSERT_HANDLED(&s, 1, 1, 2, 4, 6, 8, 13);
    for (uint64_t value = 2; value <= 13; value++) {
        assert_true(life_of(&s, value) != life_of(&s, 1) || value == 2 || value == 4 ||
                    value == 6 || value == 8 || value == 13);
    }
}

static void moves_follow_the_model_exactly(void **state)
{
    (void)state;
    enum { FLOWS = 12 };
    uint64_t random = test_seed();
    uint32_t home[FLOWS + 1];
    bool made[FLOWS + 1] = { false };
    uint64_t in_flight[FLOWS + 1] = { 0 };
    uint64_t queue[WORKERS][STEPS]; /* flows, as they wait */
    size_t first[WORKERS] = { 0 }, last[WORKERS] = { 0 };
    uint64_t moved = 0;
    model_open(true);
    for (int i = 0; i < STEPS; i++) {
        const uint64_t what = test_random(&random);
        const uint32_t worker = (uint32_t)(what >> 32) % WORKERS;
        if (what % 2 == 0 && load[worker] > 0) {
            handle_one(worker);
            in_flight[queue[worker][first[worker]++]]--;
            continue;
        }
        const uint64_t flow = 1 + (what >> 8) % FLOWS;
        if (!made[flow]) {
            home[flow] = least();
        } else if (in_flight[flow] == 0 && load[least()] < load[home[flow]]) {
            home[flow] = least();
            moved++;
        }
        made[flow] = true;
        in_flight[flow]++;
        queue[home[flow]][last[home[flow]]++] = flow;
        submit_to(flow, home[flow]);
    }
    assert_true(moved > 0);
    const weir_router_counters c = model_close();
    assert_int_equal(moved, c.moved);
    assert_int_equal(c.flows_made, atomic_load(&s.begun)); /* states went along */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_workers_that_have_the_same_the_first_is_chosen),
        cmocka_unit_test(a_new_flow_goes_to_the_least_loaded_worker_and_stays_there),
        cmocka_unit_test(what_waits_decides_and_not_how_many_flows_a_worker_has),
        cmocka_unit_test(without_migrate_a_flow_stays_although_its_worker_is_busy),
        cmocka_unit_test(with_migrate_a_flow_that_is_drained_goes_on_where_there_is_less_to_do),
        cmocka_unit_test(moves_follow_the_model_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
