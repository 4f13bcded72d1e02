/*
 * flow_table.c - many keys at once: tables that grow, records that are made and used again, under
 * submitters; and routers that are added while others look for them.
 *
 * A table begins with room for twelve flows, records come by eight; up to 64 flows have one shard.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flows.h"

static void submit_to_odd(void *unused)
{
    (void)unused;
    for (uint64_t key = 1; key <= 15; key += 2) {
        (void)flows_submit(key);
    }
}

static void submit_to_even(void *unused)
{
    (void)unused;
    for (uint64_t key = 2; key <= 16; key += 2) {
        (void)flows_submit(key);
    }
    (void)flows_submit(2);
}

static void play(uint64_t flows_max, weir_flow_keys kind, void (*one)(void *),
                 void (*other)(void *))
{
    flows_open(2, WEIR_ROUTER(.workers = 1, .flows_max = flows_max, .keys = kind), NULL);
    stage_start();
    const int thread = weir_sim_thread_start(other, NULL);
    one(NULL);
    weir_sim_thread_join(thread);
    flows_settle(FLOWS_ANY);
    flows_close(WEIR_FOREVER);
}

SCENARIO(flow_table_grows, "two make more flows than the first table has room for, in one shard")
{
    play(64, WEIR_FLOW_KEYS_U64, submit_to_odd, submit_to_even);
}

SCENARIO(flow_table_grows_twice, "the same in two shards, with keys of bytes")
{
    play(100, WEIR_FLOW_KEYS_BYTES, submit_to_odd, submit_to_even);
}

static void end_three(void *unused)
{
    (void)unused;
    for (uint64_t key = 1; key <= 3; key++) {
        (void)flows_submit_last(key);
    }
}

static void end_other_three(void *unused)
{
    (void)unused;
    for (uint64_t key = 4; key <= 6; key++) {
        (void)flows_submit_last(key);
    }
    (void)flows_submit(1);
}

SCENARIO(flow_records_again, "flows end, and others have their records")
{
    play(64, WEIR_FLOW_KEYS_U64, end_three, end_other_three);
}

SCENARIO(flow_records_in_two_shards, "the same in two shards, with keys of bytes")
{
    play(100, WEIR_FLOW_KEYS_BYTES, end_three, end_other_three);
}

/* Keys that are pushed aside by others, and looked for when those are gone. */
static void end_and_look(void *unused)
{
    (void)unused;
    for (uint64_t key = 1; key <= 12; key += 2) {
        (void)flows_submit_last(key);
    }
    for (uint64_t key = 2; key <= 12; key += 2) {
        (void)flows_submit(key);
    }
}

SCENARIO(flow_table_closes_ranks,
         "flows go out of a table that is nearly full, and others stay found")
{
    flows_open(2, WEIR_ROUTER(.workers = 1, .flows_max = 64), NULL);
    stage_start();
    for (uint64_t key = 2; key <= 12; key += 2) {
        (void)flows_submit(key);
    }
    end_and_look(NULL);
    flows_settle(stage_is_short() ? FLOWS_ANY : 6);
    flows_close(WEIR_FOREVER);
}

/* ---- routers ---- */

static void find_and_submit(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        const weir_router found = weir_router_find(stage.engine, "late");
        if (found.id != 0) {
            flows.router = found;
            (void)flows_submit(1);
        }
    }
}

SCENARIO(flow_router_add, "a router is added while another thread looks for it, and submits to it")
{
    flows_open(2, WEIR_ROUTER(.workers = 1), NULL);
    stage_start();
    const int thread = weir_sim_thread_start(find_and_submit, NULL);
    flows.options.name = "late";
    weir_router late = { 0 };
    while (late.id == 0) {
        weir_error error = WEIR_ERROR_INIT;
        late = weir_router_add(stage.engine, &flows.options, &error);
        weir_sim_check(late.id != 0 || stage_is_short(), "no router: %s", error.text);
    }
    weir_sim_thread_join(thread);
    flows.router = late;
    (void)flows_submit(1);
    flows_settle(FLOWS_ANY);
    flows_close(WEIR_FOREVER);
}
