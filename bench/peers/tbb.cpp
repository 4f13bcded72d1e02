/*
 * tbb.cpp - oneTBB as a peer: a serial node of the flow graph is an actor, its mailbox unbounded.
 *
 *     g++ -O3 -march=native -std=c++17 -o tbb tbb.cpp tbb_flows.cpp -ltbb -lpthread
 *     tbb WORKLOAD THREADS [SCALE [VARIANT]]
 *
 * Workloads: w1 w2-external w2-inside w3-1 w3-100 w4 w5-external w5-inside; w14-race-0us and
 * w14-race-1us are in tbb_flows.cpp.
 * Variants:
 *   flow          a function_node, serial, queueing: what the manual calls an actor
 *   flow-light    the same with the lightweight policy: an idle node runs in the one who sends
 *   flow-limited  external producers keep at most PEER_WINDOW events each on their way
 *   edges         w1 and w3-1: nodes are joined by edges, so that the next task is handed on
 *                 without a queue, to where the edge leads; cancelling the graph ends it
 *   joined        external producers enter the arena with slots of their own, and spawn there
 *   strand        no graph: a concurrent_queue, a count, and a task that takes what has come
 *   strand-limited, strand-joined   both
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tbb_place.h"

#include <semaphore.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <tbb/concurrent_queue.h>

using word = uint64_t;

static peer_call call;
static bool limited, joined;
static std::atomic<uint64_t> left; // receivers, tokens or actors that are not done
static sem_t all_done;

static void one_done()
{
    if (left.fetch_sub(1) == 1) {
        sem_post(&all_done);
    }
}

static void wait_until_done()
{
    while (sem_wait(&all_done) != 0) {
    }
}

// --- two kinds of mailbox: both hand one event at a time to receiver.handle(event) ---------------

template <class Receiver, class Policy>
class node_box
{
  public:
    node_box(place &where, Receiver &receiver)
        : node(*where.graph, flow::serial,
               [&receiver](word event) noexcept { receiver.handle(event); })
    {
    }
    void post(word event)
    {
        node.try_put(event);
    }

  private:
    flow::function_node<word, flow::continue_msg, Policy> node;
};

template <class Receiver>
using queueing_box = node_box<Receiver, flow::queueing>;
template <class Receiver>
using light_box = node_box<Receiver, flow::queueing_lightweight>;

static thread_local bool inside_task;

template <class Receiver>
class strand_box
{
  public:
    strand_box(place &where, Receiver &receiver) : where(where), receiver(receiver)
    {
    }
    void post(word event)
    {
        events.push(event);
        if (pending.fetch_add(1) == 0) {
            schedule();
        }
    }

  private:
    static constexpr uint64_t turn = 64;

    void schedule()
    {
        if (inside_task || joined) {
            where.tasks.run([this] { run(); });
        } else {
            where.arena.enqueue([this] { run(); });
        }
    }
    void run()
    {
        inside_task = true;
        word event = 0;
        uint64_t done = 0, here = pending.load();
        while (done < turn && done < here && events.try_pop(event)) {
            receiver.handle(event);
            done++;
        }
        if (pending.fetch_sub(done) != done) {
            schedule();
        }
        inside_task = false;
    }

    place &where;
    Receiver &receiver;
    alignas(128) std::atomic<uint64_t> pending{ 0 };
    tbb::concurrent_queue<word> events;
};

// --- the actors ----------------------------------------------------------------------------------

template <template <class> class Box>
struct hop {
    hop(place &where) : box(where, *this)
    {
    }
    void handle(word hops)
    {
        count++;
        if (hops == 0) {
            one_done();
        } else {
            next->box.post(hops - 1);
        }
    }
    hop *next = nullptr;
    uint64_t count = 0;
    Box<hop> box;
};

template <template <class> class Box>
struct sink {
    sink(place &where, uint64_t expected) : expected(expected), box(where, *this)
    {
    }
    void handle(word event)
    {
        if (peer_arrived(&order, event) == expected) {
            one_done();
        }
    }
    uint64_t expected;
    peer_order order{};
    Box<sink> box;
};

// Sends in slices and then to itself, so that others have their turn.
template <template <class> class Box>
struct source {
    source(place &where, word sender, uint64_t each) : sender(sender), each(each), box(where, *this)
    {
    }
    void handle(word)
    {
        for (uint64_t i = 0; i < 64 && sent < each; i++, sent++) {
            for (auto *to : targets) {
                to->box.post(peer_event(sender, sent));
            }
        }
        if (sent < each) {
            box.post(0);
        }
    }
    word sender;
    uint64_t each, sent = 0;
    std::vector<sink<Box> *> targets;
    Box<source> box;
};

// W4's: as little as there can be.
template <template <class> class Box>
struct one {
    one(place &where) : box(where, *this)
    {
    }
    void handle(word)
    {
        one_done();
    }
    Box<one> box;
};

// --- the workloads -------------------------------------------------------------------------------

template <template <class> class Box>
static void run_ring(size_t actors, uint64_t tokens, uint64_t full)
{
    place where(call.threads, 0);
    uint64_t hops = peer_scaled(&call, full, tokens), each = hops / tokens, count = 0;
    std::vector<std::unique_ptr<hop<Box>>> ring;
    for (size_t i = 0; i < actors; i++) {
        ring.push_back(std::make_unique<hop<Box>>(where));
    }
    for (size_t i = 0; i < actors; i++) {
        ring[i]->next = ring[(i + 1) % actors].get();
    }
    left = tokens;
    uint64_t start = peer_now_ns();
    for (uint64_t t = 0; t < tokens; t++) {
        ring[t * actors / tokens]->box.post(each);
    }
    wait_until_done();
    uint64_t elapsed = peer_now_ns() - start;
    where.rest();
    for (auto &actor : ring) {
        count += actor->count;
    }
    if (count != tokens * (each + 1)) {
        peer_fail("hops were lost");
    }
    peer_result_rate(&call, count, elapsed);
}

// A ring of one token whose nodes are joined: what a body answers goes to the next node.
static void run_edges(size_t actors, uint64_t full)
{
    using node = flow::function_node<word, word>;
    place where(call.threads, 0);
    uint64_t hops = peer_scaled(&call, full, 1), total = 0;
    std::vector<uint64_t> counts(actors * 16); // a line or two each
    std::vector<std::unique_ptr<node>> ring;
    flow::graph *graph = where.graph.get();
    for (size_t i = 0; i < actors; i++) {
        uint64_t *count = &counts[i * 16];
        ring.push_back(std::make_unique<node>(*graph, flow::serial, [=](word n) noexcept -> word {
            ++*count;
            if (n == 0) {
                graph->cancel();
                one_done();
            }
            return n - 1;
        }));
    }
    for (size_t i = 0; i < actors; i++) {
        flow::make_edge(*ring[i], *ring[(i + 1) % actors]);
    }
    left = 1;
    uint64_t start = peer_now_ns();
    ring[0]->try_put(hops);
    wait_until_done();
    uint64_t elapsed = peer_now_ns() - start;
    where.rest();
    for (uint64_t count : counts) {
        total += count;
    }
    // A hop or two may still come after the last one, before the graph has noticed.
    if (total < hops + 1 || total > hops + 1 + actors) {
        peer_fail("hops were lost");
    }
    peer_result_rate(&call, hops + 1, elapsed);
}

// External threads, each with its share of the receivers' events.
template <template <class> class Box>
static void run_external(size_t receivers, unsigned producers, uint64_t each)
{
    place where(call.threads, joined ? int(producers) : 0);
    bool shared = receivers == 1;
    uint64_t expected = shared ? each * producers : each;
    std::vector<std::unique_ptr<sink<Box>>> sinks;
    for (size_t i = 0; i < receivers; i++) {
        sinks.push_back(std::make_unique<sink<Box>>(where, expected));
    }
    left = receivers;
    std::vector<std::thread> threads;
    uint64_t start = peer_now_ns();
    for (unsigned p = 0; p < producers; p++) {
        threads.emplace_back([&, p] {
            auto produce = [&] {
                for (uint64_t n = 0; n < each; n++) {
                    for (size_t i = shared ? 0 : p; i < receivers; i += producers) {
                        if (limited) {
                            peer_wait_for_room(&sinks[i]->order, p, n);
                        }
                        sinks[i]->box.post(peer_event(p, n));
                    }
                }
            };
            if (joined) {
                where.arena.execute(produce);
            } else {
                produce();
            }
        });
    }
    wait_until_done();
    uint64_t elapsed = peer_now_ns() - start;
    for (auto &thread : threads) {
        thread.join();
    }
    where.rest();
    for (auto &receiver : sinks) {
        peer_check_order(&receiver->order, expected);
    }
    peer_result_rate(&call, expected * receivers, elapsed);
}

template <template <class> class Box>
static void run_inside(size_t receivers, unsigned producers, uint64_t each)
{
    place where(call.threads, 0);
    bool shared = receivers == 1;
    uint64_t expected = shared ? each * producers : each;
    std::vector<std::unique_ptr<sink<Box>>> sinks;
    std::vector<std::unique_ptr<source<Box>>> sources;
    for (size_t i = 0; i < receivers; i++) {
        sinks.push_back(std::make_unique<sink<Box>>(where, expected));
    }
    for (unsigned p = 0; p < producers; p++) {
        sources.push_back(std::make_unique<source<Box>>(where, p, each));
        for (size_t i = shared ? 0 : p; i < receivers; i += producers) {
            sources[p]->targets.push_back(sinks[i].get());
        }
    }
    left = receivers;
    uint64_t start = peer_now_ns();
    for (auto &producer : sources) {
        producer->box.post(0);
    }
    wait_until_done();
    uint64_t elapsed = peer_now_ns() - start;
    where.rest();
    for (auto &receiver : sinks) {
        peer_check_order(&receiver->order, expected);
    }
    peer_result_rate(&call, expected * receivers, elapsed);
}

template <template <class> class Box>
static void run_crowd()
{
    place where(call.threads, 0);
    uint64_t count = peer_scaled(&call, PEER_CROWD, 1);
    std::vector<std::unique_ptr<one<Box>>> crowd(count);
    left = count;
    double before = peer_resident_bytes();
    uint64_t start = peer_now_ns();
    for (auto &actor : crowd) {
        actor = std::make_unique<one<Box>>(where);
    }
    for (auto &actor : crowd) {
        actor->box.post(1);
    }
    wait_until_done();
    double bytes = peer_resident_bytes() - before;
    where.rest();
    crowd.clear();
    peer_result(&call, "seconds", double(peer_now_ns() - start) / 1e9);
    peer_result(&call, "bytes_each", bytes / double(count));
}

template <template <class> class Box>
static void run()
{
    const char *w = call.workload;
    uint64_t fan_in = peer_scaled(&call, PEER_FAN_IN / PEER_PRODUCERS, 1);
    uint64_t spread = peer_scaled(&call, PEER_SPREAD_EACH, 1);
    if (peer_is(w, "w1")) {
        run_ring<Box>(2, 1, PEER_PINGS);
    } else if (peer_is(w, "w3-1")) {
        run_ring<Box>(PEER_RING, 1, PEER_HOPS);
    } else if (peer_is(w, "w3-100")) {
        run_ring<Box>(PEER_RING, 100, PEER_HOPS);
    } else if (peer_is(w, "w2-external")) {
        run_external<Box>(1, PEER_PRODUCERS, fan_in);
    } else if (peer_is(w, "w2-inside")) {
        run_inside<Box>(1, PEER_PRODUCERS, fan_in);
    } else if (peer_is(w, "w5-external")) {
        run_external<Box>(PEER_SPREAD, 2, spread);
    } else if (peer_is(w, "w5-inside")) {
        run_inside<Box>(PEER_SPREAD, 2, spread);
    } else if (peer_is(w, "w4")) {
        run_crowd<Box>();
    } else {
        peer_unknown(&call);
    }
}

static void run_joined_by_edges()
{
    if (peer_is(call.workload, "w1")) {
        run_edges(2, PEER_PINGS);
    } else if (peer_is(call.workload, "w3-1")) {
        run_edges(PEER_RING, PEER_HOPS);
    } else {
        peer_unknown(&call);
    }
}

int main(int count, char **arguments)
{
    call = peer_arguments("tbb", count, arguments);
    sem_init(&all_done, 0, 0);
    if (strncmp(call.workload, "w14", 3) == 0) {
        tbb_flows(call);
        return 0;
    }
    std::string variant = *call.variant ? call.variant : "flow";
    limited = variant == "flow-limited" || variant == "strand-limited";
    joined = variant == "joined" || variant == "strand-joined";
    if (variant == "flow" || variant == "flow-limited" || variant == "joined") {
        run<queueing_box>();
    } else if (variant == "flow-light") {
        run<light_box>();
    } else if (variant == "edges") {
        run_joined_by_edges();
    } else if (variant == "strand" || variant == "strand-limited" || variant == "strand-joined") {
        run<strand_box>();
    } else {
        peer_unknown(&call);
    }
    return 0;
}
