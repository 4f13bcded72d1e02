/*
 * tbb_place.h - where the actors of tbb.cpp and tbb_flows.cpp run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_PEERS_TBB_PLACE_H
#define WEIR_BENCH_PEERS_TBB_PLACE_H

#include "peer.h"

#include <memory>

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace flow = tbb::flow;

// Where the actors run: an arena with so many workers, and slots for producers that join it.
struct place {
    explicit place(int workers, int guests)
        : limit(tbb::global_control::max_allowed_parallelism, size_t(workers + guests + 1)),
          arena(workers + guests, unsigned(guests))
    {
        arena.initialize();
        arena.execute([this] { graph = std::make_unique<flow::graph>(); });
    }
    void rest()
    {
        arena.execute([this] {
            graph->wait_for_all();
            tasks.wait();
        });
    }
    tbb::global_control limit;
    tbb::task_arena arena;
    tbb::task_group tasks;
    std::unique_ptr<flow::graph> graph;
};

// W14, in tbb_flows.cpp.
void tbb_flows(const peer_call &call);

#endif // WEIR_BENCH_PEERS_TBB_PLACE_H
