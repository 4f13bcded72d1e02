/*
 * caf.cpp - the C++ Actor Framework (Debian's 0.17) as a peer.
 *
 *     g++ -O3 -march=native -std=c++17 -DNDEBUG -o caf caf.cpp -lcaf_core -lpthread
 *     caf WORKLOAD THREADS [SCALE [VARIANT]]
 *
 * Workloads: w1 w2-external w2-inside w3-1 w3-100 w4 w5-external w5-inside w6-parked w9-idle.
 * Variants: stealing (its default), sharing; stealing-limited, sharing-limited: external producers
 * keep at most PEER_WINDOW events each on their way. Its mailboxes have no limit of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer.h"

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <caf/all.hpp>

using namespace caf;
using word = uint64_t;

static peer_call call;
static bool limited;
static std::promise<void> all_done;
static std::atomic<uint64_t> left; // receivers, tokens or actors that are not done

static void one_done()
{
    if (left.fetch_sub(1) == 1) {
        all_done.set_value();
    }
}

// --- the actors ----------------------------------------------------------------------------------

struct hop : event_based_actor {
    hop(actor_config &config, uint64_t *count) : event_based_actor(config), count(count)
    {
    }
    behavior make_behavior() override
    {
        return { [this](word hops) {
                    ++*count;
                    if (hops == 0) {
                        one_done();
                    } else {
                        send(next, hops - 1);
                    }
                },
                 [this](const actor &other) { next = other; } };
    }
    uint64_t *count;
    actor next;
};

struct sink : event_based_actor {
    sink(actor_config &config, peer_order *order, uint64_t expected)
        : event_based_actor(config), order(order), expected(expected)
    {
    }
    behavior make_behavior() override
    {
        return { [this](word event) {
            if (peer_arrived(order, event) == expected) {
                one_done();
            }
        } };
    }
    peer_order *order;
    uint64_t expected;
};

// Sends in slices and then to itself, so that others have their turn.
struct source : event_based_actor {
    source(actor_config &config, word sender, uint64_t each, std::vector<actor> targets)
        : event_based_actor(config), sender(sender), each(each), targets(std::move(targets))
    {
    }
    behavior make_behavior() override
    {
        return { [this](word) {
            for (uint64_t i = 0; i < 64 && sent < each; i++, sent++) {
                for (auto &to : targets) {
                    send(to, peer_event(sender, sent));
                }
            }
            if (sent < each) {
                send(actor{ this }, word{ 0 });
            } else {
                quit();
            }
        } };
    }
    word sender;
    uint64_t each, sent = 0;
    std::vector<actor> targets;
};

// W4's: as little as there can be.
struct one : event_based_actor {
    explicit one(actor_config &config) : event_based_actor(config)
    {
    }
    behavior make_behavior() override
    {
        return { [](word) { one_done(); } };
    }
};

struct sleeper : event_based_actor {
    sleeper(actor_config &config, std::vector<uint64_t> *samples)
        : event_based_actor(config), samples(samples)
    {
    }
    behavior make_behavior() override
    {
        return { [this](word sent) {
            samples->push_back(peer_now_ns() - sent);
            one_done();
        } };
    }
    std::vector<uint64_t> *samples;
};

// --- the workloads -------------------------------------------------------------------------------

static void dismiss(std::vector<actor> &actors)
{
    for (auto &one : actors) {
        anon_send_exit(one, exit_reason::user_shutdown);
    }
    actors.clear();
}

static void run_ring(actor_system &system, size_t actors, uint64_t tokens, uint64_t full)
{
    uint64_t hops = peer_scaled(&call, full, tokens), each = hops / tokens, total = 0;
    std::vector<uint64_t> counts(actors * 16); // a line or two each
    std::vector<actor> ring;
    for (size_t i = 0; i < actors; i++) {
        ring.push_back(system.spawn<hop>(&counts[i * 16]));
    }
    for (size_t i = 0; i < actors; i++) {
        anon_send(ring[i], ring[(i + 1) % actors]);
    }
    left = tokens;
    uint64_t start = peer_now_ns();
    for (uint64_t t = 0; t < tokens; t++) {
        anon_send(ring[t * actors / tokens], word{ each });
    }
    all_done.get_future().wait();
    uint64_t elapsed = peer_now_ns() - start;
    dismiss(ring);
    system.await_all_actors_done();
    for (uint64_t count : counts) {
        total += count;
    }
    if (total != tokens * (each + 1)) {
        peer_fail("hops were lost");
    }
    peer_result_rate(&call, total, elapsed);
}

static void run_fan_in(actor_system &system, size_t receivers, unsigned producers, uint64_t each,
                       bool external)
{
    bool shared = receivers == 1;
    uint64_t expected = shared ? each * producers : each;
    std::vector<peer_order> orders(receivers);
    std::vector<actor> sinks;
    for (auto &order : orders) {
        sinks.push_back(system.spawn<sink>(&order, expected));
    }
    left = receivers;
    std::vector<std::thread> threads;
    uint64_t start = peer_now_ns();
    for (unsigned p = 0; p < producers; p++) {
        if (!external) {
            std::vector<actor> targets;
            for (size_t i = shared ? 0 : p; i < receivers; i += producers) {
                targets.push_back(sinks[i]);
            }
            anon_send(system.spawn<source>(word{ p }, each, targets), word{ 0 });
            continue;
        }
        threads.emplace_back([&, p] {
            for (uint64_t n = 0; n < each; n++) {
                for (size_t i = shared ? 0 : p; i < receivers; i += producers) {
                    if (limited) {
                        peer_wait_for_room(&orders[i], p, n);
                    }
                    anon_send(sinks[i], peer_event(p, n));
                }
            }
        });
    }
    all_done.get_future().wait();
    uint64_t elapsed = peer_now_ns() - start;
    for (auto &thread : threads) {
        thread.join();
    }
    dismiss(sinks);
    system.await_all_actors_done();
    for (auto &order : orders) {
        peer_check_order(&order, expected);
    }
    peer_result_rate(&call, expected * receivers, elapsed);
}

static void run_crowd(actor_system &system)
{
    uint64_t count = peer_scaled(&call, PEER_CROWD, 1);
    std::vector<actor> crowd(count);
    left = count;
    double before = peer_resident_bytes();
    uint64_t start = peer_now_ns();
    for (auto &one_of_them : crowd) {
        one_of_them = system.spawn<one>();
    }
    for (auto &one_of_them : crowd) {
        anon_send(one_of_them, word{ 1 });
    }
    all_done.get_future().wait();
    double bytes = peer_resident_bytes() - before;
    dismiss(crowd);
    system.await_all_actors_done();
    peer_result(&call, "seconds", double(peer_now_ns() - start) / 1e9);
    peer_result(&call, "bytes_each", bytes / double(count));
}

static void run_wakes(actor_system &system)
{
    uint64_t count = peer_scaled(&call, PEER_WAKES, 100);
    std::vector<uint64_t> samples;
    samples.reserve(count);
    std::vector<actor> waiting{ system.spawn<sleeper>(&samples) };
    left = count;
    for (uint64_t i = 0; i < count; i++) {
        peer_sleep_us(1000);
        anon_send(waiting[0], word{ peer_now_ns() });
    }
    all_done.get_future().wait();
    dismiss(waiting);
    peer_result_latency(&call, samples.data(), samples.size());
}

static void run(actor_system &system)
{
    const char *w = call.workload;
    uint64_t fan_in = peer_scaled(&call, PEER_FAN_IN / PEER_PRODUCERS, 1);
    uint64_t spread = peer_scaled(&call, PEER_SPREAD_EACH, 1);
    if (peer_is(w, "w1")) {
        run_ring(system, 2, 1, PEER_PINGS);
    } else if (peer_is(w, "w3-1")) {
        run_ring(system, PEER_RING, 1, PEER_HOPS);
    } else if (peer_is(w, "w3-100")) {
        run_ring(system, PEER_RING, 100, PEER_HOPS);
    } else if (peer_is(w, "w2-external") || peer_is(w, "w2-inside")) {
        run_fan_in(system, 1, PEER_PRODUCERS, fan_in, peer_is(w, "w2-external"));
    } else if (peer_is(w, "w5-external") || peer_is(w, "w5-inside")) {
        run_fan_in(system, PEER_SPREAD, 2, spread, peer_is(w, "w5-external"));
    } else if (peer_is(w, "w4")) {
        run_crowd(system);
    } else if (peer_is(w, "w6-parked")) {
        run_wakes(system);
    } else if (peer_is(w, "w9-idle")) {
        peer_result_idle(&call);
    } else {
        peer_unknown(&call);
    }
}

int main(int count, char **arguments)
{
    call = peer_arguments("caf", count, arguments);
    std::string variant = *call.variant ? call.variant : "stealing";
    std::string policy = variant.substr(0, variant.find('-'));
    limited = variant == policy + "-limited";
    if ((policy != "stealing" && policy != "sharing") || (!limited && variant != policy)) {
        peer_unknown(&call);
    }
    actor_system_config config;
    config.set("scheduler.max-threads", size_t(call.threads));
    config.set("scheduler.policy", atom_from_string(policy));
    actor_system system{ config };
    run(system);
    return 0;
}
