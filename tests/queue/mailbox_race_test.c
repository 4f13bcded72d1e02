/*
 * queue/mailbox_race_test.c - real posters against the owners of one mailbox. The part of a ready
 * queue is played by one word: whoever sees the edge from idle to ready sets it, an owner takes it.
 *
 * The owners' books are plain: only the mailbox orders one owner after another, and TSan is the
 * judge. The word lends the owners no more than a ready queue would.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mailbox_support.h"

enum { POSTERS = 3, OWNERS = 2, CHAIN_MAX = 40 /* more than a page */, BATCH = 64 };

typedef struct payload {
    uint32_t poster;
    uint32_t number;
    uint64_t check; /* of both: a content that is not whole shows */
} payload;

static uint64_t check_of(uint32_t poster, uint32_t number)
{
    uint64_t state = (uint64_t)poster << 32 | number;
    return test_random(&state);
}

typedef struct race {
    weir__mailbox mailbox;
    weir__stores stores;
    weir__trylock lock; /* of an evicting one */
    test_memory memory;
    weir__atomic_u32 ready;    /* 1: to be taken by an owner */
    weir__atomic_u32 finished; /* an owner has seen the end of a closed mailbox */
    weir__atomic_u32 posting;  /* posters that are not through */
    weir__atomic_u64 edges;    /* from idle to ready */
    weir__atomic_u64 doubled;  /* edges that found it ready: never */
    weir__atomic_u64 evicted;
    uint32_t each; /* events of each poster */
    uint64_t seed;
    bool close_early;
    weir__atomic_u32 close_now;
    /* Plain: the owner's. */
    uint32_t inside;
    uint64_t overlaps, handled, idles, gaps, wrong_order, wrong_content, beyond_limit;
    uint64_t next_of[POSTERS];
} race;

typedef struct poster {
    race *in;
    uint32_t number;
    weir__stock stock;
    uint64_t accepted, full, closed, reserved, beside;
    uint64_t no_memory, wrong_content, not_empty, led_astray;
} poster;

static void make_ready(race *r)
{
    weir__add(&r->edges, 1, relaxed);
    const uint32_t before = weir__exchange(&r->ready, 1, release);
    weir__add(&r->doubled, before, relaxed);
}

/* ---- posters ---- */

static void write_event(const poster *p, weir__envelope *event, uint64_t number)
{
    const payload content = { p->number, (uint32_t)number, check_of(p->number, (uint32_t)number) };
    event->type = NULL;
    event->size = sizeof(content);
    event->sender = p->number;
    event->flow = 0;
    memcpy(event->payload.bytes, &content, sizeof(content));
}

static weir__lone *get_lone(poster *p)
{
    weir__stock *stock = &p->stock;
    return (weir__lone *)(void *)weir__pool_get(&stock->stores->lones, &stock->lones);
}

/* Claimed places are filled; the first one makes ready. As engine/parcel.h does it. */
static void fill_claimed(poster *p, weir__claim claim, uint64_t before, uint32_t count)
{
    weir__mailbox *mailbox = &p->in->mailbox;
    uint32_t at = 0;
    if (claim == WEIR__CLAIM_FIRST) {
        weir__lone *lone = get_lone(p);
        write_event(p, &lone->envelope, p->accepted);
        weir__envelope_fill(&lone->envelope, 0);
        weir__mailbox_put_first(mailbox, before, lone);
        at = 1;
    }
    for (; at < count; at++) {
        const uint32_t ticket = (weir__mailbox_ticket(before) + at) & (uint32_t)WEIR__MAILBOX_FIELD;
        const weir__envelope *short_cut =
            weir__mailbox_place_if_there(mailbox, before + at * WEIR__MAILBOX_TICKET_ONE);
        weir__envelope *event = weir__mailbox_place(mailbox, before, ticket, &p->stock);
        p->led_astray += short_cut != NULL && short_cut != event;
        p->not_empty += weir__load(&event->state, relaxed) != 0;
        write_event(p, event, p->accepted + at);
        weir__envelope_fill(event, 0);
    }
    p->accepted += count;
    if (claim == WEIR__CLAIM_FIRST) {
        make_ready(p->in);
    }
}

static void fill_beside(poster *p, weir__claim claim, uint64_t before, weir__lone *lone)
{
    lone->ask = p->accepted;
    lone->tag = 0;
    lone->ticket = weir__mailbox_ticket(before);
    write_event(p, &lone->envelope, p->accepted);
    weir__envelope_fill(&lone->envelope, WEIR__ENVELOPE_ALONE);
    weir__mailbox_put_beside(&p->in->mailbox, lone);
    p->accepted++;
    p->beside++;
    if (claim == WEIR__CLAIM_FIRST) {
        make_ready(p->in);
    }
}

/* A place that is owed first and used, or not, afterwards; or one that is claimed for beside. */
static weir__claim post_beside(poster *p, bool owed, bool use)
{
    weir__mailbox *mailbox = &p->in->mailbox;
    uint64_t before = 0;
    weir__lone *lone = get_lone(p);
    if (lone == NULL) {
        p->no_memory++;
        return WEIR__CLAIM_CLOSED;
    }
    weir__claim claim =
        owed ? weir__mailbox_reserve(mailbox) : weir__mailbox_claim_beside(mailbox, &before);
    if (owed && claim == WEIR__CLAIM_OK) {
        p->reserved++;
        claim = use ? weir__mailbox_claim_owed(mailbox, &before) : WEIR__CLAIM_FULL;
        if (claim > WEIR__CLAIM_FIRST) {
            weir__mailbox_unreserve(mailbox);
        }
    }
    if (claim <= WEIR__CLAIM_FIRST) {
        fill_beside(p, claim, before, lone);
    } else {
        lone_put(&p->stock, lone);
    }
    return claim;
}

/* Whatever the post may need is there before its claim. */
static bool provide(poster *p, uint32_t count)
{
    const bool provided = weir__stock_fill(&p->stock, p->in->mailbox.page_class, count);
    p->no_memory += !provided;
    return provided;
}

static weir__claim post_chain(poster *p, uint64_t choice)
{
    const uint64_t left = p->in->each - p->accepted;
    uint32_t count = choice % 4 == 0 ? 1 + (uint32_t)(choice >> 8) % CHAIN_MAX : 1;
    uint64_t before = 0;
    count = count < left ? count : (uint32_t)left;
    if (!provide(p, count)) {
        return WEIR__CLAIM_CLOSED;
    }
    const weir__claim claim = weir__mailbox_claim(&p->in->mailbox, &count, &before);
    if (claim <= WEIR__CLAIM_FIRST) {
        if (choice >> 58 == 0) {
            weir__yield(); /* a gap: claimed, and not there */
        }
        fill_claimed(p, claim, before, count);
    }
    return claim;
}

/* The last one closes: the owners' end. */
static void leave(poster *p)
{
    weir__stock_flush(&p->stock);
    if (weir__sub(&p->in->posting, 1, acq_rel) == 1 && weir__mailbox_close(&p->in->mailbox)) {
        make_ready(p->in);
    }
}

static void run_poster(poster *p)
{
    race *r = p->in;
    uint64_t random = r->seed + p->number;
    while (p->accepted < r->each && p->closed == 0) {
        const uint64_t choice = test_random(&random);
        const weir__claim claim = choice % 8 == 0
                                      ? post_beside(p, choice % 16 == 0, choice % 32 == 0)
                                      : post_chain(p, choice >> 8);
        p->full += claim == WEIR__CLAIM_FULL;
        p->closed += claim == WEIR__CLAIM_CLOSED;
        if (claim == WEIR__CLAIM_FULL) {
            weir__yield();
        }
        if (r->close_early && p->number == 0 && p->accepted > r->each / 2 &&
            weir__mailbox_close(&r->mailbox)) {
            make_ready(r);
        }
    }
    leave(p);
}

/* ---- owners ---- */

static void note_event(race *r, const weir__envelope *event, bool all)
{
    payload content;
    memcpy(&content, event->payload.bytes, sizeof(content));
    if (content.poster >= POSTERS || event->size != sizeof(content) ||
        content.check != check_of(content.poster, content.number)) {
        r->wrong_content++;
        return;
    }
    uint64_t *next = &r->next_of[content.poster];
    r->wrong_order += all ? content.number != *next : content.number < *next;
    *next = (uint64_t)content.number + 1;
    r->handled++;
}

static void check_limit(race *r, uint64_t word)
{
    r->beyond_limit += weir__mailbox_count(word) + weir__mailbox_owed(word) > r->mailbox.limit;
}

/* Nothing is left. True: the turn is over. */
static bool settle(race *r, weir__stock *stock, uint64_t word, uint32_t uncredited)
{
    if ((word & WEIR__MAILBOX_CLOSED) != 0) {
        r->inside--;
        weir__mailbox_credit(&r->mailbox, uncredited);
        weir__mailbox_retire(&r->mailbox, word, stock);
        weir__store(&r->finished, 1, release);
        return true;
    }
    r->inside--; /* before it is somebody else's */
    r->idles++;
    if (weir__mailbox_idle(&r->mailbox, word, uncredited, stock)) {
        return true;
    }
    r->inside++;
    r->idles--;
    return false;
}

/* False: the mailbox is no longer ours. */
static bool run_turn(race *r, weir__stock *stock)
{
    weir__cursor cursor = weir__mailbox_cursor(weir__load(&r->mailbox.word, acquire), 0);
    uint32_t uncredited = 0;
    r->overlaps += r->inside++ != 0;
    for (uint32_t done = 0; done < BATCH;) {
        const uint64_t word = weir__load(&r->mailbox.word, acquire);
        check_limit(r, word);
        if (weir__mailbox_count(word) == uncredited) {
            if (settle(r, stock, word, uncredited)) {
                return false;
            }
            continue;
        }
        const weir__envelope *event = weir__mailbox_take(&r->mailbox, &cursor, word);
        if (event == NULL) {
            r->gaps++;
            break;
        }
        done++;
        if (++uncredited >= r->mailbox.credit_every) { /* its place may be used at once */
            weir__mailbox_credit(&r->mailbox, uncredited);
            uncredited = 0;
        }
        note_event(r, event, true);
        lone_put(stock, weir__mailbox_let_go(&r->mailbox, &cursor, word, stock));
    }
    r->inside--;
    weir__mailbox_credit(&r->mailbox, uncredited);
    return true;
}

/* The same for an evicting mailbox: copies, under the lock. */
static bool run_evicting_turn(race *r, weir__stock *stock)
{
    r->overlaps += r->inside++ != 0;
    for (uint32_t done = 0; done < BATCH;) {
        const uint64_t word = weir__load(&r->mailbox.word, acquire);
        check_limit(r, word);
        if (weir__mailbox_count(word) == 0) {
            if (settle(r, stock, word, 0)) {
                return false;
            }
            continue;
        }
        weir__lone copy;
        weir__lone *spent;
        const weir__pop pop = weir__mailbox_pop(&r->mailbox, &r->lock, stock, &copy, &spent);
        lone_put(stock, spent);
        if (pop != WEIR__POP_EVENT) {
            r->gaps++;
            break;
        }
        done++;
        note_event(r, &copy.envelope, false);
    }
    r->inside--;
    return true;
}

static void run_owner(race *r)
{
    weir__stock stock = { .stores = &r->stores };
    while (weir__load(&r->finished, acquire) == 0) { /* ends: the last poster closes */
        uint32_t one = 1;
        if (!weir__cas(&r->ready, &one, 0, acquire, relaxed)) {
            weir__yield();
            continue;
        }
        if (weir__mailbox_evicts(&r->mailbox) ? run_evicting_turn(r, &stock)
                                              : run_turn(r, &stock)) {
            weir__store(&r->ready, 1, release); /* to the other one, perhaps */
            weir__yield();
        }
    }
    weir__stock_flush(&stock);
}

/* ---- evicting posters: as engine/evict.c does it, without a limit of tries ---- */

static bool try_evict(poster *p)
{
    race *r = p->in;
    weir__lone oldest;
    weir__lone *spent;
    uint64_t before = 0;
    const weir__pop pop = weir__mailbox_evict(&r->mailbox, &r->lock, &r->evicted, &p->stock,
                                              &before, &oldest, &spent);
    lone_put(&p->stock, spent);
    if (pop != WEIR__POP_EVENT) {
        return false;
    }
    payload content;
    memcpy(&content, oldest.envelope.payload.bytes, sizeof(content));
    p->wrong_content += content.check != check_of(content.poster, content.number);
    fill_claimed(p, WEIR__CLAIM_OK, before, 1);
    return true;
}

static void run_evicting_poster(poster *p)
{
    race *r = p->in;
    uint64_t random = r->seed + p->number;
    while (p->accepted < r->each && p->no_memory == 0) { /* ends: the owners make room */
        const uint64_t choice = test_random(&random);
        uint32_t one = 1;
        uint64_t before = 0;
        if (choice % 16 == 0) {
            (void)post_beside(p, choice % 32 == 0, choice % 64 == 0);
            continue;
        }
        if (!provide(p, 1)) {
            break;
        }
        const weir__claim claim = weir__mailbox_claim(&r->mailbox, &one, &before);
        if (claim <= WEIR__CLAIM_FIRST) {
            fill_claimed(p, claim, before, 1);
        } else if (!try_evict(p)) {
            weir__yield();
        }
    }
    leave(p);
}

/* ---- the races ---- */

typedef struct role {
    void (*run_poster)(poster *p);
    poster *poster; /* NULL: an owner */
    race *in;
} role;

static void play(void *argument)
{
    const role *it = argument;
    if (it->poster != NULL) {
        it->run_poster(it->poster);
    } else {
        run_owner(it->in);
    }
}

static race the_race;
static poster posters[POSTERS];

static race *open_race(uint32_t limit, bool evicting, uint32_t each)
{
    race *r = &the_race;
    memset(r, 0, sizeof(*r));
    memset(posters, 0, sizeof(posters));
    r->each = test_load(each);
    r->seed = test_seed();
    weir__store(&r->posting, POSTERS, relaxed);
    test_memory_open(&r->memory, 0);
    weir__stores_open(&r->stores, &r->memory.allocator);
    weir__mailbox_open(&r->mailbox, limit, BATCH, evicting);
    return r;
}

/* Runs it, and checks what is true of every race. */
static void run_race(race *r, void (*run)(poster *p))
{
    role roles[POSTERS + OWNERS];
    crew c;
    for (uint32_t i = 0; i < POSTERS + OWNERS; i++) {
        roles[i] = (role){ run, i < POSTERS ? &posters[i] : NULL, r };
    }
    for (uint32_t i = 0; i < POSTERS; i++) {
        posters[i].in = r;
        posters[i].number = i;
        posters[i].stock.stores = &r->stores;
    }
    crew_start(&c, play, roles, sizeof(roles[0]), POSTERS + OWNERS);
    crew_join(&c);

    const uint64_t word = weir__load(&r->mailbox.word, relaxed);
    const uint64_t evicted = weir__load(&r->evicted, relaxed);
    uint64_t accepted = 0;
    for (uint32_t i = 0; i < POSTERS; i++) {
        accepted += posters[i].accepted;
        assert_int_equal(0, posters[i].no_memory);
        assert_int_equal(0, posters[i].wrong_content);
        assert_int_equal(0, posters[i].not_empty);
        assert_int_equal(0, posters[i].led_astray);
    }
    fprintf(stderr,
            "# handled %" PRIu64 ", evicted %" PRIu64 ", idle %" PRIu64 ", gaps %" PRIu64 "\n",
            r->handled, evicted, r->idles, r->gaps);
    assert_int_equal(accepted, r->handled + evicted);
    assert_int_equal(0, r->overlaps);
    assert_int_equal(0, r->wrong_order);
    assert_int_equal(0, r->wrong_content);
    assert_int_equal(0, r->beyond_limit);
    /* One edge for each time it was idle, and the first one. */
    assert_int_equal(0, weir__load(&r->doubled, relaxed));
    assert_int_equal(r->idles + 1, weir__load(&r->edges, relaxed));
    assert_int_equal(0, weir__mailbox_count(word));
    assert_int_equal(0, weir__mailbox_owed(word));
    assert_int_equal(0, weir__mailbox_outstanding(word, accepted));
    assert_null(weir__load(&r->mailbox.beside, relaxed));
    assert_null(r->mailbox.beside_taken);
    stores_check_and_close(&r->stores, &r->memory); /* nothing stays behind */
}

static void every_event_comes_once_and_in_its_posters_order(void **state)
{
    (void)state;
    static const uint32_t limits[] = { 1, 8, 17, 1000, 16320 };
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        race *r = open_race(limits[i], false, limits[i] == 1 ? 20000 : 100000);
        run_race(r, run_poster);
        assert_int_equal((uint64_t)POSTERS * r->each, r->handled);
        assert_true(posters[0].reserved + posters[1].reserved + posters[2].reserved > 0);
    }
}

static void a_close_in_the_middle_loses_nothing_that_was_accepted(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < test_load(100); round++) {
        race *r = open_race(1 + round % 20, false, 5000);
        r->close_early = true;
        run_race(r, run_poster);
        assert_true(r->handled >= r->each / 2);
    }
}

static void an_evicting_mailbox_loses_only_what_it_counts(void **state)
{
    (void)state;
    static const uint32_t limits[] = { 1, 4, 64, 16320 };
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        race *r = open_race(limits[i], true, 100000);
        run_race(r, run_evicting_poster);
        for (uint32_t k = 0; k < POSTERS; k++) {
            assert_int_equal(r->each, posters[k].accepted);
        }
    }
}

/* ---- a slot that is used again ---- */

typedef struct reuse {
    box b;
    uint32_t rounds;
    weir__atomic_u32 opened; /* so often */
} reuse;

/* As a registration does as soon as the last owner has let go. */
static void open_again(void *argument)
{
    static const uint32_t limits[] = { 16, 10000 }; /* pages of other sizes */
    reuse *r = argument;
    for (uint32_t round = 0; round < r->rounds; round++) {
        while ((weir__load(&r->b.mailbox.word, acquire) & WEIR__MAILBOX_EPOCH) == 0) {
            /* ends: the owner goes idle */
        }
        weir__mailbox_open(&r->b.mailbox, limits[round % 2], 64, false);
        weir__store(&r->opened, round + 1, release);
    }
}

static void an_idle_mailbox_may_be_opened_anew_while_its_last_owner_still_tidies_up(void **state)
{
    (void)state;
    static reuse r;
    static crew c;
    memset(&r, 0, sizeof(r));
    box_open(&r.b, 100, false);
    r.rounds = test_load(300000);
    crew_start(&c, open_again, &r, 0, 1);
    for (uint32_t round = 0; round < r.rounds; round++) {
        for (uint32_t i = 0; i < 3; i++) {
            assert_true(box_post(&r.b, i) <= WEIR__CLAIM_FIRST);
        }
        box_own(&r.b);
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(i, box_take(&r.b));
        }
        assert_true(box_idle(&r.b));
        while (weir__load(&r.opened, acquire) != round + 1) { /* ends: it is idle */
            weir__pause();
        }
    }
    crew_join(&c);
    box_close(&r.b); /* each page in its own pool, each table empty */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_comes_once_and_in_its_posters_order),
        cmocka_unit_test(a_close_in_the_middle_loses_nothing_that_was_accepted),
        cmocka_unit_test(an_evicting_mailbox_loses_only_what_it_counts),
        cmocka_unit_test(an_idle_mailbox_may_be_opened_anew_while_its_last_owner_still_tidies_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
