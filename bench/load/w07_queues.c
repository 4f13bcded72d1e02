/*
 * load/w07_queues.c - W7: the mailbox alone, with its pools of pages and without the engine around
 * it.
 *
 * With w07_ring.c it is the one load that looks inside the library: claim, fill on one side, take,
 * let go and credit on the other. The owner never lets go of the mailbox, so nobody is ever woken,
 * and only the very first event lies alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "load/support.h"
#include "queue/mailbox.h"
#include "suite/rows.h"

enum { LIMIT = 10000, BATCH = 64, POSTERS_MAX = 4 };
#define EVENTS 10000000u

typedef struct mail {
    uint64_t sender, number;
} mail;

typedef struct scene {
    _Alignas(64) weir__mailbox mailbox;
    _Alignas(64) weir__stores stores;
    uint64_t each; /* from each poster */
    pthread_barrier_t start;
} scene;

typedef struct poster {
    scene *s;
    uint64_t number;
    pthread_t thread;
    bool failed; /* no memory */
} poster;

typedef struct owner {
    weir__cursor cursor;
    weir__stock stock;
    uint64_t word; /* of the mailbox, since the first event: it says which epoch it is */
    uint32_t uncredited;
    uint64_t next[POSTERS_MAX];
    uint64_t disorder;
} owner;

static void write_mail(weir__envelope *e, const mail *m)
{
    e->type = NULL;
    e->size = sizeof(*m);
    e->sender = m->sender;
    e->flow = 0;
    memcpy(e->payload.bytes, m, sizeof(*m));
}

/* False: there is no memory. */
static bool post(scene *s, weir__stock *stock, mail m)
{
    weir__mailbox *mailbox = &s->mailbox;
    uint32_t one = 1, spins = 0;
    uint64_t before = 0;
    weir__claim claim;
    if (!weir__stock_suffices(stock, mailbox->page_class) &&
        !weir__stock_fill(stock, mailbox->page_class, 1)) {
        return false;
    }
    while ((claim = weir__mailbox_claim(mailbox, &one, &before)) == WEIR__CLAIM_FULL) {
        bench_give_way(&spins);
    }
    if (claim == WEIR__CLAIM_FIRST) {
        weir__lone *lone =
            (weir__lone *)(void *)weir__pool_get(&stock->stores->lones, &stock->lones);
        write_mail(&lone->envelope, &m);
        weir__envelope_fill(&lone->envelope, 0);
        weir__mailbox_put_first(mailbox, before, lone);
        return true;
    }
    weir__envelope *e = weir__mailbox_place(mailbox, before, weir__mailbox_ticket(before), stock);
    write_mail(e, &m);
    weir__envelope_fill(e, 0);
    return true;
}

/* False: there is nothing at the moment. */
static bool take(scene *s, owner *o)
{
    weir__mailbox *mailbox = &s->mailbox;
    if (o->word == 0) {
        o->word = weir__load(&mailbox->word, acquire);
    }
    const weir__envelope *e = weir__mailbox_take(mailbox, &o->cursor, o->word);
    if (e == NULL) {
        return false;
    }
    mail m;
    memcpy(&m, e->payload.bytes, sizeof(m));
    o->disorder += m.number != o->next[m.sender]++;
    weir__lone *lone = weir__mailbox_let_go(mailbox, &o->cursor, o->word, &o->stock);
    if (lone != NULL) {
        weir__pool_put(&s->stores.lones, &o->stock.lones, &lone->pooled);
    }
    if (++o->uncredited == mailbox->credit_every) {
        (void)weir__mailbox_credit(mailbox, o->uncredited);
        o->uncredited = 0;
    }
    return true;
}

static void *post_all(void *argument)
{
    poster *self = argument;
    weir__stock stock = { .stores = &self->s->stores };
    (void)pthread_barrier_wait(&self->s->start);
    for (uint64_t i = 0; i < self->s->each && !self->failed; i++) {
        self->failed = !post(self->s, &stock, (mail){ self->number, i });
    }
    weir__stock_flush(&stock);
    return NULL;
}

static void open_scene(scene *s, uint64_t each)
{
    memset(s, 0, sizeof(*s));
    s->each = each;
    weir__mailbox_open(&s->mailbox, LIMIT, BATCH, false);
    weir__stores_open(&s->stores, weir__allocator_default());
}

static void close_scene(scene *s, const owner *o, uint32_t posters, bench_result *result)
{
    for (uint32_t i = 0; i < posters; i++) {
        if (o->next[i] != s->each || o->disorder != 0) {
            bench_wrong(result, "%llu of %llu events from poster %u, %llu out of order",
                        (unsigned long long)o->next[i], (unsigned long long)s->each, i,
                        (unsigned long long)o->disorder);
        }
    }
    weir__stores_close(&s->stores);
}

static void run_alone(const bench_setup *setup, bench_result *result)
{
    scene s;
    owner o = { .stock = { .stores = &s.stores } };
    open_scene(&s, bench_scaled(setup, EVENTS, 1000));
    const int64_t begin = bench_now();
    for (uint64_t i = 0; i < s.each && result->wrong[0] == '\0'; i++) {
        if (!post(&s, &o.stock, (mail){ 0, i }) || !take(&s, &o)) {
            bench_wrong(result, "what was posted is not there, or no memory");
        }
    }
    bench_result_rate(result, s.each, bench_now() - begin);
    close_scene(&s, &o, 1, result);
}

static void run_posters(const bench_setup *setup, bench_result *result, uint32_t count)
{
    scene s;
    owner o = { .stock = { .stores = &s.stores } };
    poster posters[POSTERS_MAX];
    open_scene(&s, bench_scaled(setup, EVENTS, 1000) / count);
    (void)pthread_barrier_init(&s.start, NULL, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        posters[i] = (poster){ .s = &s, .number = i };
        posters[i].thread = load_thread(post_all, &posters[i]);
    }
    (void)pthread_barrier_wait(&s.start);
    const int64_t begin = bench_now();
    uint32_t spins = 0;
    for (uint64_t got = 0; got < s.each * count;) {
        if (take(&s, &o)) {
            got++;
            spins = 0;
        } else {
            bench_give_way(&spins);
        }
    }
    bench_result_rate(result, s.each * count, bench_now() - begin);
    for (uint32_t i = 0; i < count; i++) {
        (void)pthread_join(posters[i].thread, NULL);
    }
    (void)pthread_barrier_destroy(&s.start);
    close_scene(&s, &o, count, result);
}

static void run_1(const bench_setup *setup, bench_result *result)
{
    run_posters(setup, result, 1);
}

static void run_4(const bench_setup *setup, bench_result *result)
{
    run_posters(setup, result, 4);
}

const bench_row load_w07_rows[] = {
    { "w7-alone", "weir", "the mailbox alone: one thread posts and takes", { 1 }, run_alone },
    { "w7-1", "weir", "the mailbox alone: one posts, one takes", { 1 }, run_1 },
    { "w7-4", "weir", "the mailbox alone: four post, one takes", { 1 }, run_4 },
    { 0 },
};
