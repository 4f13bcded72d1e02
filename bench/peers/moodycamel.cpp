/*
 * moodycamel.cpp - moodycamel's ConcurrentQueue as a peer: a queue between plain threads.
 *
 *     g++ -O3 -march=native -std=c++17 -o moodycamel moodycamel.cpp -lpthread
 *     moodycamel WORKLOAD THREADS [SCALE [VARIANT]]
 *
 * Workloads: w7-1 w7-4. Variants: token (one event at a time, with producer and consumer
 * tokens), token-limited (producers keep at most PEER_WINDOW events each on their way), bulk and
 * bulk-limited (32 at a time).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <concurrentqueue/concurrentqueue.h>

struct event {
    uint64_t word, more; // as large as the others' smallest event
};
using queue_of_events = moodycamel::ConcurrentQueue<event>;

static constexpr size_t bulk = 32, most = 256;

static void produce(queue_of_events &queue, const peer_order &order, uint64_t sender, uint64_t each,
                    bool in_bulk, bool limited)
{
    moodycamel::ProducerToken token(queue);
    event some[bulk];
    for (uint64_t n = 0; n < each;) {
        if (limited) {
            peer_wait_for_room(&order, sender, n);
        }
        size_t count = in_bulk ? std::min<uint64_t>(bulk, each - n) : 1;
        for (size_t i = 0; i < count; i++) {
            some[i] = event{ peer_event(sender, n + i), 0 };
        }
        if (!(in_bulk ? queue.enqueue_bulk(token, some, count) : queue.enqueue(token, some[0]))) {
            peer_fail("no memory");
        }
        n += count;
    }
}

static void consume(queue_of_events &queue, peer_order &order, uint64_t total, bool in_bulk)
{
    moodycamel::ConsumerToken token(queue);
    event some[most];
    for (unsigned looks = 0; order.count < total;) {
        size_t count = in_bulk ? queue.try_dequeue_bulk(token, some, most)
                               : size_t(queue.try_dequeue(token, some[0]));
        for (size_t i = 0; i < count; i++) {
            peer_arrived(&order, some[i].word);
        }
        looks = count > 0 ? 0 : looks + 1;
        if (looks > 64) {
            sched_yield();
        }
    }
}

int main(int count, char **arguments)
{
    peer_call call = peer_arguments("moodycamel", count, arguments);
    std::string variant = *call.variant ? call.variant : "token";
    bool in_bulk = variant.rfind("bulk", 0) == 0;
    bool limited = variant == "token-limited" || variant == "bulk-limited";
    if (!limited && variant != "token" && variant != "bulk") {
        peer_unknown(&call);
    }
    unsigned producers = peer_is(call.workload, "w7-1") ? 1 : PEER_PRODUCERS;
    if (producers > 1 && !peer_is(call.workload, "w7-4")) {
        peer_unknown(&call);
    }
    uint64_t total = peer_scaled(&call, PEER_FAN_IN, producers);
    queue_of_events queue(1 << 16);
    auto order = std::make_unique<peer_order>();
    std::vector<std::thread> threads;
    uint64_t start = peer_now_ns();
    for (unsigned p = 0; p < producers; p++) {
        threads.emplace_back(
            [&, p] { produce(queue, *order, p, total / producers, in_bulk, limited); });
    }
    consume(queue, *order, total, in_bulk);
    uint64_t elapsed = peer_now_ns() - start;
    for (auto &thread : threads) {
        thread.join();
    }
    peer_check_order(order.get(), total);
    peer_result_rate(&call, total, elapsed);
    return 0;
}
