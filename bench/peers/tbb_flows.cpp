/*
 * tbb_flows.cpp - W14 with oneTBB: every key in order, keys spread over workers by their hash.
 *
 * Workloads: w14-race-0us, w14-race-1us. THREADS is how many workers there are, and threads for them;
 * the events come from one more.
 * Variants:
 *   flow            a function_node a worker, serial, queueing
 *   strand          a concurrent_queue, a count, and a task that takes what has come
 *   ...-limited     at most PEER_WINDOW events are on their way to a worker
 *   ...-joined      the producer is inside the arena, with a slot of its own
 *   ...-batch       events come 32 at once, and go on as one message to each worker
 *   pipeline-N      parallel_pipeline with N tokens of 32 events: a serial filter a worker, which
 *                   handles those of its keys and hands the rest on
 *
 * A worker finds the state of a key in a table of its own. A new key is not put where there is
 * least to do, and that a key has finished is known to its state only: a hash has no memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tbb_place.h"

#include <semaphore.h>

#include <atomic>
#include <string>
#include <vector>

#include <tbb/concurrent_queue.h>
#include <tbb/parallel_pipeline.h>

namespace
{

struct keyed {
    uint64_t key;
    uint32_t number, finish;
};

struct chunk {
    uint32_t count = 0;
    keyed events[PEER_FLOW_BATCH];
};

uint32_t steps; // that a handler computes
sem_t all_done;
std::atomic<uint64_t> left;

uint64_t scatter(uint64_t key)
{
    return key * 0x9e3779b97f4a7c15u >> 32;
}

// The states of a worker's keys: open addressing, never more than half full.
class states
{
  public:
    explicit states(size_t most)
    {
        while (slots.size() < 2 * most) {
            slots.resize(slots.empty() ? 16 : 2 * slots.size());
        }
    }
    uint64_t &at(uint64_t key)
    {
        size_t i = scatter(key) & (slots.size() - 1);
        while (slots[i].key != key && slots[i].key != 0) {
            i = (i + 1) & (slots.size() - 1);
        }
        slots[i].key = key;
        return slots[i].got;
    }

  private:
    struct slot {
        uint64_t key = 0, got = 0;
    };
    std::vector<slot> slots;
};

struct alignas(128) worker {
    states all{ PEER_FLOWS };
    uint64_t expected = 0, wrong = 0, finished = 0;
    std::atomic<uint64_t> handled{ 0 }; // written by it alone
    alignas(128) uint64_t sent = 0;     // the producer's

    void handle(const keyed &event)
    {
        uint64_t &got = all.at(event.key);
        wrong += event.number != got;
        got = event.finish ? 0 : got + 1;
        finished += event.finish;
        if (steps > 0) {
            peer_work(steps);
        }
        uint64_t now = handled.load(std::memory_order_relaxed) + 1;
        handled.store(now, std::memory_order_relaxed);
        if (now == expected && left.fetch_sub(1) == 1) {
            sem_post(&all_done);
        }
    }
    void handle(chunk *some)
    {
        for (uint32_t i = 0; i < some->count; i++) {
            handle(some->events[i]);
        }
        delete some;
    }
};

// --- two kinds of mailbox ------------------------------------------------------------------------

template <class Message>
class node_box
{
  public:
    node_box(place &where, worker &to, bool)
        : node(*where.graph, flow::serial, [&to](const Message &m) noexcept { to.handle(m); })
    {
    }
    void post(const Message &message)
    {
        node.try_put(message);
    }

  private:
    flow::function_node<Message, flow::continue_msg, flow::queueing> node;
};

template <class Message>
class strand_box
{
  public:
    strand_box(place &where, worker &to, bool joined) : where(where), to(to), joined(joined)
    {
    }
    void post(const Message &message)
    {
        messages.push(message);
        if (pending.fetch_add(1) == 0) {
            schedule(joined);
        }
    }

  private:
    static constexpr uint64_t turn = 64;

    void schedule(bool inside)
    {
        if (inside) {
            where.tasks.run([this] { run(); });
        } else {
            where.arena.enqueue([this] { run(); });
        }
    }
    void run()
    {
        Message message{};
        uint64_t done = 0, here = pending.load();
        while (done < turn && done < here && messages.try_pop(message)) {
            to.handle(message);
            done++;
        }
        if (pending.fetch_sub(done) != done) {
            schedule(true);
        }
    }

    place &where;
    worker &to;
    bool joined;
    alignas(128) std::atomic<uint64_t> pending{ 0 };
    tbb::concurrent_queue<Message> messages;
};

// --- the load ------------------------------------------------------------------------------------

struct load {
    load(const peer_call &call, uint64_t full)
        : rounds(peer_scaled(&call, full, PEER_FLOWS) / PEER_FLOWS), keys(PEER_FLOWS),
          workers(size_t(call.threads))
    {
        peer_keys_shuffle(keys.data(), PEER_FLOWS);
        for (uint64_t key : keys) {
            worker_of(key).expected += rounds;
        }
        for (worker &one : workers) {
            left += one.expected > 0;
        }
    }
    size_t index_of(uint64_t key) const
    {
        return (scatter(key) >> 20) % workers.size();
    }
    worker &worker_of(uint64_t key)
    {
        return workers[index_of(key)];
    }
    keyed event(uint64_t round, uint32_t i) const
    {
        return { keys[i], uint32_t(round), round + 1 == rounds };
    }
    void finish(const peer_call &call, uint64_t elapsed) const
    {
        uint64_t handled = 0, wrong = 0, finished = 0;
        for (const worker &one : workers) {
            handled += one.handled.load();
            wrong += one.wrong;
            finished += one.finished;
        }
        if (handled != rounds * PEER_FLOWS || wrong != 0 || finished != PEER_FLOWS) {
            peer_fail("events were lost, doubled or out of order");
        }
        peer_result_rate(&call, handled, elapsed);
    }
    uint64_t rounds;
    std::vector<uint64_t> keys;
    std::vector<worker> workers;
};

void wait_for_room(worker &to, bool limited)
{
    if (limited && ++to.sent % 256 == 0) {
        while (to.sent - to.handled.load(std::memory_order_relaxed) > PEER_WINDOW) {
            sched_yield();
        }
    }
}

template <class Box>
void send_singly(load &all, std::vector<std::unique_ptr<Box>> &boxes, bool limited)
{
    for (uint64_t round = 0; round < all.rounds; round++) {
        for (uint32_t i = 0; i < PEER_FLOWS; i++) {
            size_t to = all.index_of(all.keys[i]);
            wait_for_room(all.workers[to], limited);
            boxes[to]->post(all.event(round, i));
        }
    }
}

template <class Box>
void send_chunks(load &all, std::vector<std::unique_ptr<Box>> &boxes, bool limited)
{
    std::vector<chunk *> parts(boxes.size());
    for (uint64_t round = 0; round < all.rounds; round++) {
        for (uint32_t i = 0; i < PEER_FLOWS; i++) {
            size_t to = all.index_of(all.keys[i]);
            wait_for_room(all.workers[to], limited);
            chunk *&part = parts[to];
            part = part ? part : new chunk;
            part->events[part->count++] = all.event(round, i);
            if (i % PEER_FLOW_BATCH == PEER_FLOW_BATCH - 1 || i == PEER_FLOWS - 1) {
                for (size_t k = 0; k < parts.size(); k++) {
                    if (parts[k]) {
                        boxes[k]->post(parts[k]);
                        parts[k] = nullptr;
                    }
                }
            }
        }
    }
}

template <class Box, class Send>
void run(const peer_call &call, load &all, bool joined, Send send)
{
    place where(call.threads, joined ? 1 : 0);
    std::vector<std::unique_ptr<Box>> boxes;
    for (worker &one : all.workers) {
        boxes.push_back(std::make_unique<Box>(where, one, joined));
    }
    uint64_t start = peer_now_ns();
    if (joined) {
        where.arena.execute([&] { send(boxes); });
    } else {
        send(boxes);
    }
    while (sem_wait(&all_done) != 0) {
    }
    uint64_t elapsed = peer_now_ns() - start;
    where.rest();
    all.finish(call, elapsed);
}

void run_pipeline(const peer_call &call, load &all, size_t tokens)
{
    place where(call.threads, 1);
    uint64_t round = 0;
    uint32_t i = 0;
    auto handle = [&](size_t mine) {
        return tbb::make_filter<chunk *, chunk *>(
            tbb::filter_mode::serial_in_order, [&all, mine](chunk *some) {
                for (uint32_t k = 0; k < some->count; k++) {
                    if (all.index_of(some->events[k].key) == mine) {
                        all.workers[mine].handle(some->events[k]);
                    }
                }
                return some;
            });
    };
    auto chain = tbb::make_filter<void, chunk *>(
        tbb::filter_mode::serial_in_order, [&](tbb::flow_control &control) -> chunk * {
            if (round == all.rounds) {
                control.stop();
                return nullptr;
            }
            auto *some = new chunk;
            do {
                some->events[some->count++] = all.event(round, i);
                i = (i + 1) % PEER_FLOWS;
                round += i == 0;
            } while (some->count < PEER_FLOW_BATCH && i != 0);
            return some;
        });
    for (size_t k = 0; k < all.workers.size(); k++) {
        chain = chain & handle(k);
    }
    auto end = tbb::make_filter<chunk *, void>(tbb::filter_mode::parallel,
                                               [](chunk *some) { delete some; });
    uint64_t start = peer_now_ns();
    where.arena.execute([&] { tbb::parallel_pipeline(tokens, chain & end); });
    all.finish(call, peer_now_ns() - start);
}

template <template <class> class Box>
void run_boxes(const peer_call &call, load &all, const std::string &how)
{
    bool limited = how.find("-limited") != std::string::npos;
    bool joined = how.find("-joined") != std::string::npos;
    if (how.find("-batch") != std::string::npos) {
        run<Box<chunk *>>(call, all, joined,
                          [&](auto &boxes) { send_chunks(all, boxes, limited); });
    } else {
        run<Box<keyed>>(call, all, joined, [&](auto &boxes) { send_singly(all, boxes, limited); });
    }
}

} // namespace

void tbb_flows(const peer_call &call)
{
    const std::string how = *call.variant ? call.variant : "flow";
    const bool works = peer_is(call.workload, "w14-race-1us");
    if (!works && !peer_is(call.workload, "w14-race-0us")) {
        peer_unknown(&call);
    }
    steps = works ? PEER_FLOW_STEPS : 0;
    sem_init(&all_done, 0, 0);
    load all(call, works ? PEER_FLOW_WORKED : PEER_FLOW_EVENTS);
    if (how.rfind("pipeline-", 0) == 0) {
        run_pipeline(call, all, std::stoul(how.substr(9)));
    } else if (how.rfind("flow", 0) == 0) {
        run_boxes<node_box>(call, all, how);
    } else if (how.rfind("strand", 0) == 0) {
        run_boxes<strand_box>(call, all, how);
    } else {
        peer_unknown(&call);
    }
}
