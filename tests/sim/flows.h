/*
 * flows.h - the stage of scenarios about flows: a router whose every submit, handler, init and
 * destroy is written down, and compared with what weir/flow.h promises:
 *
 *     one at a time       no two handlers of a key overlap, wherever they run
 *     order               of each producer, for each key
 *     ends                every init has its destroy, and the next one of that key comes after it;
 *                         what follows a finish, dropped or not, is of another state than before
 *     sums                submitted = handled + dropped + dead + left, and the figures say so, too
 *
 * The state of a flow is plain memory that is written in every turn, so that a hand-over without an
 * edge is a race that is found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TESTS_SIM_FLOWS_H
#define WEIR_TESTS_SIM_FLOWS_H

#include "scenario.h"

#define FLOW_KEYS_MAX 24u
#define FLOW_SENDS_MAX 96u
#define FLOWS_ANY UINT32_MAX

/* What a handler does besides being noted: its answer is the handler's. */
typedef weir_status flow_part(uint64_t key, weir_turn *turn, uint32_t what);

typedef struct flows_state {
    weir_router router;
    weir_router_options options;
    bool stopping;       /* a stop was begun */
    uint32_t init_fails; /* so many inits from now on */
} flows_state;
extern flows_state flows;

/* ---- set-up: quiet, before stage_start ---- */

/* The stage with these threads, and a router on it: two workers, and flows that never are idle,
 * unless the options say otherwise. */
void flows_open(uint32_t threads, const weir_router_options *options, flow_part *part);
/* The same for a router that feeds such processors (targets): options of both. */
void flows_open_targets(uint32_t threads, const weir_router_options *options,
                        const weir_processor_options *target, uint32_t targets);
extern weir_processor flow_targets[4];

/* ---- the play; by the body, and by threads of weir_sim_thread_start ---- */

/* Key 0: without a flow. Keys are 1 ... FLOW_KEYS_MAX - 1. */
weir_status flows_submit(uint64_t key);
weir_status flows_submit_what(uint64_t key, uint32_t what, uint32_t flags);
/* An event that is the last of its flow. */
weir_status flows_submit_last(uint64_t key);
/* So many in one call, of this key and the next in turn. */
void flows_submit_batch(uint64_t key, uint32_t number);
/* No event. */
weir_status flows_finish(uint64_t key);
/* In a part: to this key of the same router; ends the flow at hand. */
weir_status flow_submit(uint64_t from, weir_turn *turn, uint64_t key, uint32_t what);
void flow_finish(uint64_t key, weir_turn *turn);

/* In a part: until flows_release of that key. Nothing of this is an edge. */
void flow_hold(uint64_t key);
void flows_release(uint64_t key);
/* Until a handler of that key is, or was, held. */
void flows_await_held(uint64_t key);

/* Until all that was accepted is handled, and so many flows live (FLOWS_ANY: whatever), although
 * nothing else comes (P-4). Submitters must be joined before. */
void flows_settle(uint32_t live);
/* The same of one key alone, while others are held. */
void flows_settle_key(uint64_t key);

weir_status flows_stop_router(weir_ns timeout);

/* How many ended so far for that reason. */
uint32_t flows_ended(weir_flow_end reason);
weir_router_counters flows_counters(void);

/* ---- the end ---- */

/* Stops the engine, then the sums. */
void flows_close(weir_ns timeout);

#endif /* WEIR_TESTS_SIM_FLOWS_H */
