/*
 * load/producer.c - see producer.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load/producer.h"

enum { BATCH_MAX = 64 };

WEIR_EMPTY_TYPE(go_on, "bench.go-on");

weir_status load_sink_take(void *state, weir_turn *turn, const weir_event *event)
{
    load_sink *self = state;
    const load_mail *m = event->data;
    (void)turn;
    self->disorder += m->number != self->next[m->sender]++;
    if (++self->got == self->want) {
        load_gate_pass(self->gate);
    }
    return WEIR_OK;
}

void load_sink_check(const load_sink *sinks, uint32_t count, bench_result *result)
{
    for (uint32_t i = 0; i < count; i++) {
        if (sinks[i].got != sinks[i].want || sinks[i].disorder != 0) {
            bench_wrong(result, "processor %u got %llu of %llu events, %llu out of order", i,
                        (unsigned long long)sinks[i].got, (unsigned long long)sinks[i].want,
                        (unsigned long long)sinks[i].disorder);
        }
    }
}

/* A full mailbox: whoever empties it may need this core. */
static void give_way(load_producer *self, uint32_t *spins)
{
    self->retries++;
    bench_give_way(spins);
}

static weir_status send_singly(load_producer *self)
{
    for (uint64_t k = 0; k < self->each; k++) {
        for (uint32_t i = 0; i < self->target_count; i++) {
            weir_status status;
            uint32_t spins = 0;
            while ((status = weir_engine_post(self->engine, self->targets[i],
                                              WEIR_EVENT(load_mail, self->number, k))) ==
                   WEIR_FULL) {
                give_way(self, &spins);
            }
            if (status != WEIR_OK) {
                return status;
            }
        }
    }
    return WEIR_OK;
}

/* All of the batch to one target, whatever the number of calls. */
static weir_status send_batch(load_producer *self, weir_processor target,
                              const weir_event *const *events, size_t count)
{
    weir_status statuses[BATCH_MAX];
    uint32_t spins = 0;
    for (size_t sent = 0; sent < count;) {
        const size_t took =
            weir_engine_post_batch(self->engine, &target, 1, events + sent, count - sent, statuses);
        if (sent + took < count && statuses[took] != WEIR_FULL) {
            return statuses[took];
        }
        sent += took;
        if (sent < count) {
            give_way(self, &spins);
        }
    }
    return WEIR_OK;
}

static weir_status send_batches(load_producer *self)
{
    load_mail mails[BATCH_MAX];
    weir_event events[BATCH_MAX];
    const weir_event *pointers[BATCH_MAX];
    for (uint32_t i = 0; i < self->batch; i++) {
        events[i] =
            (weir_event){ .type = &load_mail_type, .data = &mails[i], .size = sizeof(mails[i]) };
        pointers[i] = &events[i];
    }
    for (uint64_t k = 0; k < self->each;) {
        const uint64_t rest = self->each - k;
        const uint32_t count = rest < self->batch ? (uint32_t)rest : self->batch;
        for (uint32_t i = 0; i < count; i++) {
            mails[i] = (load_mail){ self->number, k + i };
        }
        for (uint32_t i = 0; i < self->target_count; i++) {
            const weir_status status = send_batch(self, self->targets[i], pointers, count);
            if (status != WEIR_OK) {
                return status;
            }
        }
        k += count;
    }
    return WEIR_OK;
}

static void *produce(void *argument)
{
    load_producer *self = argument;
    (void)pthread_barrier_wait(self->gun);
    const weir_status status = self->batch > 1 ? send_batches(self) : send_singly(self);
    if (status != WEIR_OK) {
        load_gate_break(self->gate, status);
    }
    return NULL;
}

void load_producers_run(load *l, load_producer *producers, uint32_t count)
{
    pthread_barrier_t *gun = &producers[0].start;
    (void)pthread_barrier_init(gun, NULL, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        producers[i].gun = gun;
        producers[i].thread = load_thread(produce, &producers[i]);
    }
    load_begin(l);
    (void)pthread_barrier_wait(gun);
}

void load_producers_join(load_producer *producers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)pthread_join(producers[i].thread, NULL);
    }
    (void)pthread_barrier_destroy(&producers[0].start);
}

/* Until the burst is over, all is sent or a target is full. */
static weir_status send_burst(load_producer *self, weir_turn *turn)
{
    for (uint32_t i = 0; i < self->burst && self->round < self->each; i++) {
        const weir_status status = weir_turn_post(turn, self->targets[self->at],
                                                  WEIR_EVENT(load_mail, self->number, self->round));
        if (status != WEIR_OK) {
            return status;
        }
        if (++self->at == self->target_count) {
            self->at = 0;
            self->round++;
        }
    }
    return WEIR_OK;
}

static weir_status produce_inside(void *state, weir_turn *turn, const weir_event *event)
{
    load_producer *self = state;
    (void)event; /* go on, or there is room again */
    weir_status status = send_burst(self, turn);
    if (status == WEIR_FULL && self->wants_room) {
        status = weir_turn_want_room(turn, self->targets[self->at], 0);
    } else if ((status == WEIR_OK || status == WEIR_FULL) && self->round < self->each) {
        status = weir_turn_post(turn, self->self, WEIR_EMPTY(go_on));
    }
    if (status != WEIR_OK) {
        load_gate_break(self->gate, status);
    }
    return status;
}

void load_producers_add(load *l, load_producer *producers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        /* One event a turn: others get theirs between two bursts. */
        producers[i].self = weir_processor_add(
            l->engine,
            WEIR_PROCESSOR(.handler = produce_inside, .argument = &producers[i], .batch_max = 1),
            &l->error);
    }
}

void load_producers_wake(load *l, load_producer *producers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const weir_status status =
            weir_engine_post(l->engine, producers[i].self, WEIR_EMPTY(go_on));
        if (status != WEIR_OK) {
            load_gate_break(&l->gate, status);
        }
    }
}
