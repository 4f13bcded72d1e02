/*
 * load/flows.c - see flows.h.
 *
 * A first round makes every flow; when all of it is handled the clock begins. It ends when every
 * worker has handled its last event: that one says so itself, so that no event of the others
 * touches what threads share. A worker's mailbox is in order, so all before it are handled by then.
 *
 * A flow's state is the 8 bytes that it counts its events with. What all flows have counted is
 * summed up when they end, and must be what was sent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load/flows.h"

#include <malloc.h>
#include <stdlib.h>

#include "load/support.h"
#include "suite/keys.h"

enum { FLOWS_LEAST = 2 * LOAD_FLOWS_BATCH_MAX, TARGETS_MAX = 64, BURST = 256 };

typedef struct round_of {
    uint64_t number; /* of the event in its flow, from 0; direct: in its processor */
    uint32_t steps;
    uint32_t last; /* of its worker: 1 */
} round_of;
WEIR_EVENT_TYPE(round_of, "bench.round");
WEIR_EMPTY_TYPE(go_on, "bench.go-on");

typedef struct flow_state {
    uint64_t got;
} flow_state;
_Static_assert(sizeof(flow_state) == 8, "the state that the rows promise");

/* A handler is not told of more than its flow's state, so what is common lies here. */
static struct {
    load_gate *gate;
    atomic_uint_least64_t disorder;
    atomic_uint_least64_t counted; /* by flows that have ended */
} common;

typedef struct scene {
    const load_flows *flows;
    load l;
    weir_router router;
    weir_processor targets[TARGETS_MAX]; /* direct */
    flow_state states[TARGETS_MAX];      /* direct */
    uint64_t sent[TARGETS_MAX];          /* direct */
    uint32_t workers;
    uint32_t count; /* of flows */
    uint64_t *keys; /* in the order of a round */
    uint8_t *last;  /* 1: of its worker, the last key of a round */
    uint64_t rounds;
    uint64_t retries;
    uint32_t batch;
    weir_processor speaker; /* inside */
    uint64_t round;         /* inside: where it is */
    uint32_t at;
} scene;

/* What goes out with one call. */
typedef struct packet {
    uint32_t count;
    round_of rounds[LOAD_FLOWS_BATCH_MAX];
    weir_event events[LOAD_FLOWS_BATCH_MAX];
    const weir_event *pointers[LOAD_FLOWS_BATCH_MAX];
    weir_status statuses[LOAD_FLOWS_BATCH_MAX];
} packet;

static weir_status take(void *state, weir_turn *turn, const weir_event *event)
{
    flow_state *self = state;
    const round_of *round = event->data;
    (void)turn;
    if (round->number != self->got++) {
        atomic_fetch_add(&common.disorder, 1);
    }
    if (round->steps > 0) {
        bench_work(round->steps);
    }
    if (round->last != 0) {
        load_gate_pass(common.gate);
    }
    return WEIR_OK;
}

static void count_flow(void *state, weir_flow_end reason)
{
    const flow_state *self = state;
    (void)reason;
    atomic_fetch_add_explicit(&common.counted, self->got, memory_order_relaxed);
}

/* ---- sending ---- */

/* A wait for room that took longer than block_max: somebody else had this core. */
static weir_status submit_until_taken(scene *s, uint64_t key, const weir_event *event)
{
    weir_status status;
    while ((status = weir_router_submit(s->l.engine, s->router, key, event)) == WEIR_FULL) {
        s->retries++;
    }
    return status;
}

/* Every key is in a packet once at most, so that an event which comes later than the others of its
 * packet does not come too late in its flow. */
static weir_status submit_packet(scene *s, packet *p, const uint64_t *keys)
{
    const size_t took =
        weir_router_submit_batch(s->l.engine, s->router, keys, p->pointers, p->count, p->statuses);
    for (uint32_t i = 0; took < p->count && i < p->count; i++) {
        weir_status status = p->statuses[i];
        if (status == WEIR_FULL) {
            s->retries++;
            status = submit_until_taken(s, keys[i], p->pointers[i]);
        }
        if (status != WEIR_OK) {
            return status;
        }
    }
    return WEIR_OK;
}

static weir_status post_packet(scene *s, const packet *p, uint32_t target)
{
    uint32_t sent = 0;
    while (sent < p->count) {
        weir_status status = WEIR_OK;
        if (p->count == 1) {
            status = weir_engine_post(s->l.engine, s->targets[target], p->pointers[0]);
            sent += status == WEIR_OK;
        } else {
            weir_status statuses[LOAD_FLOWS_BATCH_MAX];
            const size_t took = weir_engine_post_batch(
                s->l.engine, &s->targets[target], 1, p->pointers + sent, p->count - sent, statuses);
            sent += (uint32_t)took;
            status = sent < p->count ? statuses[took] : WEIR_OK;
        }
        if (status == WEIR_FULL) {
            s->retries++;
        } else if (status != WEIR_OK) {
            return status;
        }
    }
    return WEIR_OK;
}

static void pack(packet *p, const round_of *round, uint32_t flags)
{
    p->rounds[p->count] = *round;
    p->events[p->count].flags = flags;
    p->count++;
}

static void packet_open(packet *p)
{
    p->count = 0;
    for (uint32_t i = 0; i < LOAD_FLOWS_BATCH_MAX; i++) {
        p->events[i] = (weir_event){ .type = &round_of_type,
                                     .data = &p->rounds[i],
                                     .size = sizeof(p->rounds[i]) };
        p->pointers[i] = &p->events[i];
    }
}

/* One round over all keys, through the router. */
static weir_status send_round(scene *s, packet *p, const uint64_t *order, uint64_t number)
{
    const bool ends = number == s->rounds;
    const uint32_t steps = number > 0 ? s->flows->steps : 0; /* the first makes flows, no more */
    const uint32_t flags = ends && s->flows->finish ? WEIR_EVENT_FINISH : 0;
    for (uint32_t i = 0; i < s->count;) {
        const uint64_t *keys = &order[i];
        weir_status status;
        p->count = 0;
        do {
            pack(p, &(round_of){ number, steps, ends ? s->last[i] : 0 }, flags);
            i++;
        } while (p->count < s->batch && i < s->count);
        status = s->batch == 1 ? submit_until_taken(s, keys[0], p->pointers[0])
                               : submit_packet(s, p, keys);
        if (status != WEIR_OK) {
            return status;
        }
    }
    return WEIR_OK;
}

/* The same without a router: a key's processor is the one that its lowest bits name. */
static weir_status post_round(scene *s, packet *packets, uint64_t number)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const uint32_t target = (uint32_t)(s->keys[i] % s->workers);
        packet *p = &packets[target];
        const bool ends = number == s->rounds && s->last[i] != 0;
        pack(p, &(round_of){ s->sent[target]++, s->flows->steps, ends }, 0);
        if (p->count == s->batch || ends) {
            const weir_status status = post_packet(s, p, target);
            p->count = 0;
            if (status != WEIR_OK) {
                return status;
            }
        }
    }
    return WEIR_OK;
}

static void send_rounds(scene *s, packet *packets)
{
    for (uint64_t number = 1; number <= s->rounds; number++) {
        const weir_status status = s->flows->direct ? post_round(s, packets, number)
                                                    : send_round(s, packets, s->keys, number);
        if (status != WEIR_OK) {
            load_gate_break(&s->l.gate, status);
            return;
        }
    }
}

/* From inside: a burst a turn, then an event to itself to go on. A full worker ends the burst: it
 * may need this thread. */
static weir_status speak(void *state, weir_turn *turn, const weir_event *event)
{
    scene *s = state;
    weir_status status = WEIR_OK;
    (void)event;
    for (uint32_t i = 0; i < BURST && s->round <= s->rounds; i++) {
        const bool ends = s->round == s->rounds;
        const round_of round = { s->round, s->flows->steps, ends ? s->last[s->at] : 0 };
        const weir_event one = { .type = &round_of_type,
                                 .data = &round,
                                 .size = sizeof(round),
                                 .flags = ends && s->flows->finish ? WEIR_EVENT_FINISH : 0 };
        status = weir_turn_submit(turn, s->router, s->keys[s->at], &one);
        if (status != WEIR_OK) {
            s->retries++;
            break;
        }
        if (++s->at == s->count) {
            s->at = 0;
            s->round++;
        }
    }
    if ((status == WEIR_OK || status == WEIR_FULL) && s->round <= s->rounds) {
        status = weir_turn_post(turn, s->speaker, WEIR_EMPTY(go_on));
    }
    if (status != WEIR_OK) {
        load_gate_break(&s->l.gate, status);
    }
    return status;
}

static void begin_inside(scene *s)
{
    s->round = 1;
    const weir_status status = weir_engine_post(s->l.engine, s->speaker, WEIR_EMPTY(go_on));
    if (status != WEIR_OK) {
        load_gate_break(&s->l.gate, status);
    }
}

/* ---- the measurement ---- */

static void set_up(scene *s, const bench_setup *setup)
{
    load_open(&s->l, (weir_engine_options){ .threads = setup->threads }, 0);
    common.gate = &s->l.gate;
    atomic_store(&common.disorder, 0);
    atomic_store(&common.counted, 0);
    if (!s->flows->direct) {
        s->router = weir_router_add(s->l.engine,
                                    WEIR_ROUTER(.name = "w14", .handler = take,
                                                .state_size = sizeof(flow_state),
                                                .destroy = count_flow, .workers = s->workers),
                                    &s->l.error);
    }
    if (s->flows->inside) {
        s->speaker = weir_processor_add(
            s->l.engine, WEIR_PROCESSOR(.handler = speak, .argument = s, .batch_max = 1),
            &s->l.error);
    }
    for (uint32_t i = 0; s->flows->direct && i < s->workers; i++) {
        s->targets[i] =
            weir_processor_add(s->l.engine,
                               WEIR_PROCESSOR(.handler = take, .argument = &s->states[i],
                                              .overflow = WEIR_OVERFLOW_BLOCK),
                               &s->l.error);
    }
}

static uint64_t handled_by(scene *s)
{
    weir_router_counters c = WEIR_ROUTER_COUNTERS_INIT;
    (void)weir_router_counters_get(s->l.engine, s->router, &c);
    return c.handled;
}

static uint32_t worker_of(scene *s, uint64_t key, bench_result *result)
{
    weir_flow_counters c = WEIR_FLOW_COUNTERS_INIT;
    if (s->flows->direct) {
        return (uint32_t)(key % s->workers);
    }
    if (weir_flow_counters_get(s->l.engine, s->router, key, &c) != WEIR_OK) {
        bench_wrong(result, "a flow that was made is not there");
    }
    return c.worker;
}

/* Who handles the last event of each worker; answers how many workers have any. */
static uint64_t mark_last(scene *s, bench_result *result)
{
    bool seen[TARGETS_MAX] = { false };
    uint64_t workers = 0;
    for (uint32_t i = s->count; i-- > 0 && workers < s->workers;) {
        const uint32_t worker = worker_of(s, s->keys[i], result);
        s->last[i] = !seen[worker];
        workers += !seen[worker];
        seen[worker] = true;
    }
    return workers;
}

/* In another order than that of the rounds: records do not lie in the order in which they are
 * used. Memory is what the process has grown by: records, tables, and what else was needed. */
static void make_flows(scene *s, packet *p, bench_result *result)
{
    uint64_t *order = load_memory(s->count, sizeof(*order));
    for (uint32_t i = 0; i < s->count; i++) {
        order[i] = bench_key(i);
    }
    (void)malloc_trim(0); /* what earlier rows have left would be taken again, unseen */
    const int64_t before = load_resident_bytes();
    const weir_status status = send_round(s, p, order, 0);
    if (status != WEIR_OK) {
        bench_wrong(result, "the first round was answered %s", weir_status_name(status));
    }
    while (status == WEIR_OK && handled_by(s) < s->count) {
        bench_sleep(100000);
    }
    const double each = (double)(load_resident_bytes() - before) / (double)s->count;
    result->bytes_each = each > 0 ? each : 0;
    free(order);
}

static void measure(scene *s, const bench_setup *setup, bench_result *result)
{
    const uint64_t events = s->rounds * s->count;
    packet *packets = load_memory(s->workers, sizeof(*packets));
    for (uint32_t i = 0; i < s->workers; i++) {
        packet_open(&packets[i]);
    }
    const double work_ns = s->flows->steps > 0 ? bench_work_ns(s->flows->steps) : 0;
    if (!s->flows->direct) {
        make_flows(s, packets, result);
    }
    atomic_store(&s->l.gate.to_come, mark_last(s, result));
    load_begin(&s->l);
    if (s->flows->inside) {
        begin_inside(s);
    } else {
        send_rounds(s, packets);
    }
    const int64_t elapsed = load_wait(&s->l, result);
    bench_result_rate(result, events, elapsed);
    load_cpu(&s->l, result);
    result->retries = (double)s->retries / (double)events;
    if (work_ns > 0) {
        result->efficiency = work_ns * (double)events / (double)setup->threads / (double)elapsed;
    }
    free(packets);
}

/* After the end: every flow has ended, and told what it had. */
static void check(const scene *s, bench_result *result)
{
    const uint64_t sent = (s->rounds + (s->flows->direct ? 0 : 1)) * s->count;
    uint64_t got = atomic_load(&common.counted);
    for (uint32_t i = 0; s->flows->direct && i < s->workers; i++) {
        got += s->states[i].got;
    }
    if (got != sent || atomic_load(&common.disorder) != 0) {
        bench_wrong(result, "flows had %llu of %llu events, %llu out of order",
                    (unsigned long long)got, (unsigned long long)sent,
                    (unsigned long long)atomic_load(&common.disorder));
    }
}

static void check_finished(scene *s, bench_result *result)
{
    weir_router_counters c = WEIR_ROUTER_COUNTERS_INIT;
    (void)weir_router_counters_get(s->l.engine, s->router, &c);
    if (c.flows_made != s->count || (s->flows->finish && c.finished != s->count)) {
        bench_wrong(result, "%llu flows were made and %llu finished of %u",
                    (unsigned long long)c.flows_made, (unsigned long long)c.finished, s->count);
    }
}

void load_flows_run(const load_flows *flows, const bench_setup *setup, bench_result *result)
{
    const uint64_t events = bench_scaled(setup, flows->events, FLOWS_LEAST);
    scene *s = load_memory(1, sizeof(*s));
    s->flows = flows;
    s->workers = setup->threads < TARGETS_MAX ? setup->threads : TARGETS_MAX;
    s->batch = flows->batch > 1 ? flows->batch : 1;
    s->count = events < flows->flows ? (uint32_t)events : flows->flows; /* a small run */
    s->rounds = events / s->count;
    s->keys = load_memory(s->count, sizeof(*s->keys));
    s->last = load_memory(s->count, sizeof(*s->last));
    bench_keys_shuffle(s->keys, s->count);
    set_up(s, setup);
    if (load_start(&s->l, result)) {
        measure(s, setup, result);
        if (!flows->direct && result->wrong[0] == '\0') {
            (void)weir_router_stop(s->l.engine, s->router, 0, NULL);
            check_finished(s, result);
        }
    }
    load_close(&s->l, result);
    check(s, result);
    free(s->last);
    free(s->keys);
    free(s);
}
