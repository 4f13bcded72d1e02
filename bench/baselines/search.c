/*
 * baselines/search.c - are the older designs right? The simulator runs each in many orders, with
 * late stores, old values, races, spurious wake-ups and stalls: every message is handled once and
 * in order, on one thread at a time, and a stop ends all threads.
 *
 *     baseline_search [RUNS]     orders for each design and strategy; default 2000
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "baselines/engine.h"
#include "weir/sim.h"

#define FAULTS (WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_STALE_READS)
enum { THREADS = 3, PROCESSORS = 2, POSTERS = 2, EACH = 3, PATIENCE_S = 1000 };

typedef struct station {
    baseline_processor *self, *peer;
    baseline_latch *done;
    uint64_t next[POSTERS + 1]; /* the last sender is the peer */
    uint32_t to_come;
} station;

typedef struct poster {
    station *stations;
    uint64_t sender;
} poster;

static const baseline_design *under_test;

/* What comes from outside is sent on to the peer, so that handlers post, too. */
static void take(void *state, const baseline_message *message)
{
    station *self = state;
    weir_sim_writes(self, sizeof(*self));
    weir_sim_check(self->to_come-- > 0, "one message too many");
    const uint64_t wanted = self->next[message->sender]++;
    weir_sim_check(message->number == wanted, "number %llu of sender %llu, and not %llu",
                   (unsigned long long)message->number, (unsigned long long)message->sender,
                   (unsigned long long)wanted);
    if (message->sender == 0) {
        const baseline_message on = { POSTERS, message->number };
        weir_sim_check(baseline_post(self->peer, &on), "no room for a message to the peer");
    }
    if (self->to_come == 0) {
        baseline_latch_down(self->done);
    }
}

static void post_all(void *argument)
{
    const poster *self = argument;
    for (uint64_t i = 0; i < EACH; i++) {
        for (uint32_t k = 0; k < PROCESSORS; k++) {
            baseline_post_all(self->stations[k].self, &(baseline_message){ self->sender, i });
        }
    }
}

static void body(void *unused)
{
    const baseline_options options = { THREADS, PROCESSORS, POSTERS * EACH + EACH };
    station stations[PROCESSORS] = { { NULL, NULL, NULL, { 0 }, 0 } };
    poster posters[POSTERS];
    int threads[POSTERS];
    (void)unused;
    baseline_engine *engine = baseline_create(under_test, &options);
    baseline_latch *done = baseline_latch_create();
    weir_sim_check(engine != NULL && done != NULL, "out of memory");
    baseline_latch_set(done, PROCESSORS);
    for (uint32_t i = 0; i < PROCESSORS; i++) {
        stations[i].done = done;
        stations[i].to_come = POSTERS * EACH + EACH;
        stations[i].self = baseline_add(engine, take, &stations[i]);
    }
    for (uint32_t i = 0; i < PROCESSORS; i++) {
        stations[i].peer = stations[(i + 1) % PROCESSORS].self;
    }
    weir_sim_check(baseline_start(engine), "no threads");
    for (uint32_t i = 0; i < POSTERS; i++) {
        posters[i] = (poster){ stations, i };
        threads[i] = weir_sim_thread_start(post_all, &posters[i]);
    }
    weir_sim_check(baseline_latch_wait(done, PATIENCE_S) >= 0, "messages are missing");
    for (uint32_t i = 0; i < POSTERS; i++) {
        weir_sim_thread_join(threads[i]);
    }
    baseline_stop(engine);
    baseline_destroy(engine);
    baseline_latch_destroy(done);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        const baseline_design *design;
    } designs[] = { { "blocking-queue", &baseline_blocking_queue },
                    { "shared-queue", &baseline_shared_queue },
                    { "held-lock", &baseline_held_lock } };
    static const weir_sim_strategy strategies[] = { WEIR_SIM_RANDOM, WEIR_SIM_PCT };
    const uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000;
    int failures = 0;
    for (size_t i = 0; i < sizeof(designs) / sizeof(designs[0]); i++) {
        for (size_t k = 0; k < sizeof(strategies) / sizeof(strategies[0]); k++) {
            weir_sim_result result = WEIR_SIM_RESULT_INIT;
            under_test = designs[i].design;
            const weir_status status = weir_sim_explore(
                WEIR_SIM(.runs = runs, .strategy = strategies[k], .faults = FAULTS), body, NULL,
                &result);
            const bool good = status == WEIR_OK && !result.failed;
            printf("%s, %s: %llu orders, %s %s\n", designs[i].name, k == 0 ? "random" : "pct",
                   (unsigned long long)result.runs, good ? "all well" : result.why, result.replay);
            failures += !good;
        }
    }
    return failures > 0 ? 1 : 0;
}
