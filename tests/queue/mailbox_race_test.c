/*
 * queue/mailbox_race_test.c - real posters against the owners of one mailbox. The part of a ready
 * queue is played by one word: whoever sees the edge from idle to ready sets it, an owner takes it.
 *
 * The owners' books are plain: only the mailbox orders one owner after another, and TSan is the
 * judge. The word lends the owners no more than a ready queue would.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_support.h"

#include "queue/mailbox.h"

enum { POSTERS = 3, OWNERS = 2, CHAIN_MAX = 4, BATCH = 16, MAGAZINE = 16 };

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
    weir__pool pool;
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
    uint64_t accepted, full, closed, reserved;
    uint64_t no_memory;
} poster;

static void make_ready(race *r)
{
    weir__add(&r->edges, 1, relaxed);
    const uint32_t before = weir__exchange(&r->ready, 1, release);
    weir__add(&r->doubled, before, relaxed);
}

/* ---- posters ---- */

static weir__envelope *fill(poster *p, weir__pool_cache *cache, uint64_t number)
{
    weir__envelope *event = (weir__envelope *)(void *)weir__pool_get(&p->in->pool, cache);
    if (event == NULL) {
        p->no_memory++;
        return NULL;
    }
    const payload content = { p->number, (uint32_t)number, check_of(p->number, (uint32_t)number) };
    weir__store(&event->pooled.link, p->number, relaxed);
    event->type = NULL;
    event->size = sizeof(content);
    event->flags = 0;
    memcpy(event->payload.bytes, &content, sizeof(content));
    return event;
}

/* Claimed places are filled and published; the first one makes ready. */
static void post_claimed(poster *p, weir__pool_cache *cache, uint32_t count, bool first)
{
    weir__envelope *head = fill(p, cache, p->accepted);
    weir__envelope *last = head;
    for (uint32_t i = 1; i < count; i++) {
        weir__envelope *event = fill(p, cache, p->accepted + i);
        weir__store(&last->pooled.next, &event->pooled, relaxed);
        last = event;
    }
    p->accepted += count;
    weir__mailbox_publish(&p->in->mailbox, head, last);
    if (first) {
        make_ready(p->in);
    }
}

/* A place that is owed first and used, or not, afterwards. */
static weir__claim post_owed(poster *p, weir__pool_cache *cache, bool use)
{
    weir__claim claim = weir__mailbox_reserve(&p->in->mailbox);
    if (claim != WEIR__CLAIM_OK) {
        return claim;
    }
    p->reserved++;
    claim = use ? weir__mailbox_claim_owed(&p->in->mailbox) : WEIR__CLAIM_FULL;
    if (claim == WEIR__CLAIM_OK || claim == WEIR__CLAIM_FIRST) {
        post_claimed(p, cache, 1, claim == WEIR__CLAIM_FIRST);
    } else {
        weir__mailbox_unreserve(&p->in->mailbox);
    }
    return claim;
}

static weir__claim post_chain(poster *p, weir__pool_cache *cache, uint64_t choice)
{
    const uint64_t left = p->in->each - p->accepted;
    uint32_t count = 1 + (uint32_t)choice % CHAIN_MAX;
    count = count < left ? count : (uint32_t)left;
    const weir__claim claim = weir__mailbox_claim(&p->in->mailbox, &count);
    if (claim == WEIR__CLAIM_OK || claim == WEIR__CLAIM_FIRST) {
        if (choice >> 58 == 0) {
            weir__yield(); /* a gap: claimed, and not there */
        }
        post_claimed(p, cache, count, claim == WEIR__CLAIM_FIRST);
    }
    return claim;
}

static void run_poster(poster *p)
{
    race *r = p->in;
    uint64_t random = r->seed + p->number;
    weir__pool_cache cache = { NULL, NULL, 0 };
    while (p->accepted < r->each && p->closed == 0) {
        const uint64_t choice = test_random(&random);
        const weir__claim claim = choice % 8 == 0 ? post_owed(p, &cache, choice % 16 == 0)
                                                  : post_chain(p, &cache, choice >> 8);
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
    weir__pool_flush(&r->pool, &cache);
    /* The last one closes: the owners' end. */
    if (weir__sub(&r->posting, 1, acq_rel) == 1 && weir__mailbox_close(&r->mailbox)) {
        make_ready(r);
    }
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

static void give(race *r, weir__pool_cache *cache, weir__envelope *spent)
{
    if (spent != NULL) {
        weir__pool_put(&r->pool, cache, &spent->pooled);
    }
}

/* Nothing is left. True: the turn is over. */
static bool settle(race *r, weir__pool_cache *cache, weir__cursor *cursor, uint64_t word,
                   uint32_t uncredited)
{
    weir__envelope *spent;
    if (weir__mailbox_retire(&r->mailbox, cursor, &spent)) {
        give(r, cache, spent);
    }
    if ((word & WEIR__MAILBOX_CLOSED) != 0) {
        r->inside--;
        weir__mailbox_credit(&r->mailbox, uncredited);
        weir__store(&r->finished, 1, release);
        return true;
    }
    r->inside--; /* before it is somebody else's */
    r->idles++;
    if (weir__mailbox_idle(&r->mailbox, word, uncredited)) {
        return true;
    }
    r->inside++;
    r->idles--;
    return false;
}

/* False: the mailbox is no longer ours. */
static bool run_turn(race *r, weir__pool_cache *cache)
{
    weir__cursor cursor = weir__mailbox_cursor(&r->mailbox);
    uint32_t uncredited = 0;
    r->overlaps += r->inside++ != 0;
    for (uint32_t done = 0; done < BATCH;) {
        const uint64_t word = weir__load(&r->mailbox.word, acquire);
        check_limit(r, word);
        if (weir__mailbox_count(word) == uncredited) {
            if (settle(r, cache, &cursor, word, uncredited)) {
                return false;
            }
            continue;
        }
        weir__envelope *spent;
        weir__envelope *event = weir__mailbox_take(&r->mailbox, &cursor, &spent);
        give(r, cache, spent);
        if (event == NULL) {
            r->gaps++;
            break;
        }
        done++;
        note_event(r, event, true);
        if (++uncredited >= r->mailbox.credit_every) {
            weir__mailbox_credit(&r->mailbox, uncredited);
            uncredited = 0;
        }
    }
    r->inside--;
    weir__mailbox_keep(&r->mailbox, cursor);
    weir__mailbox_credit(&r->mailbox, uncredited);
    return true;
}

/* The same for an evicting mailbox: copies, under the head lock. */
static bool run_evicting_turn(race *r, weir__pool_cache *cache)
{
    weir__cursor cursor = { 0 };
    r->overlaps += r->inside++ != 0;
    for (uint32_t done = 0; done < BATCH;) {
        const uint64_t word = weir__load(&r->mailbox.word, acquire);
        check_limit(r, word);
        if (weir__mailbox_count(word) == 0) {
            if (settle(r, cache, &cursor, word, 0)) {
                return false;
            }
            continue;
        }
        weir__envelope_wide copy;
        weir__envelope *spent;
        const weir__pop pop = weir__mailbox_pop(&r->mailbox, &copy, &spent);
        give(r, cache, spent);
        if (pop != WEIR__POP_EVENT) {
            r->gaps++;
            break;
        }
        done++;
        weir__mailbox_credit(&r->mailbox, 1);
        note_event(r, &copy.envelope, false);
    }
    r->inside--;
    return true;
}

static void run_owner(race *r)
{
    weir__pool_cache cache = { NULL, NULL, 0 };
    while (weir__load(&r->finished, acquire) == 0) { /* ends: the last poster closes */
        uint32_t one = 1;
        if (!weir__cas(&r->ready, &one, 0, acquire, relaxed)) {
            weir__yield();
            continue;
        }
        if (r->mailbox.evicting ? run_evicting_turn(r, &cache) : run_turn(r, &cache)) {
            weir__store(&r->ready, 1, release); /* to the other one, perhaps */
            weir__yield();
        }
    }
    weir__pool_flush(&r->pool, &cache);
}

/* ---- evicting posters: as engine/evict.c does it, without a limit of tries ---- */

static void run_evicting_poster(poster *p)
{
    race *r = p->in;
    weir__pool_cache cache = { NULL, NULL, 0 };
    while (p->accepted < r->each) {
        weir__envelope *event = fill(p, &cache, p->accepted);
        weir__envelope_wide oldest;
        weir__envelope *spent;
        for (bool posted = false; !posted;) { /* ends: the owners make room */
            uint32_t one = 1;
            const weir__claim claim = weir__mailbox_claim(&r->mailbox, &one);
            if (claim == WEIR__CLAIM_OK || claim == WEIR__CLAIM_FIRST) {
                weir__mailbox_publish(&r->mailbox, event, event);
                if (claim == WEIR__CLAIM_FIRST) {
                    make_ready(r);
                }
                posted = true;
            } else if (weir__mailbox_evict(&r->mailbox, &r->evicted, &oldest, &spent) ==
                       WEIR__POP_EVENT) {
                p->full++;
                give(r, &cache, spent);
                payload content;
                memcpy(&content, oldest.envelope.payload.bytes, sizeof(content));
                /* `closed` is free here: it counts contents that are not whole. */
                p->closed += content.check != check_of(content.poster, content.number);
                weir__mailbox_publish(&r->mailbox, event, event);
                posted = true;
            } else {
                weir__yield();
            }
        }
        p->accepted++;
    }
    weir__pool_flush(&r->pool, &cache);
    if (weir__sub(&r->posting, 1, acq_rel) == 1 && weir__mailbox_close(&r->mailbox)) {
        make_ready(r);
    }
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
    weir__pool_open(&r->pool, &r->memory.allocator, sizeof(weir__envelope), MAGAZINE);
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
    }
    crew_start(&c, play, roles, sizeof(roles[0]), POSTERS + OWNERS);
    crew_join(&c);

    const uint64_t word = weir__load(&r->mailbox.word, relaxed);
    const uint64_t evicted = weir__load(&r->evicted, relaxed);
    uint64_t accepted = 0;
    for (uint32_t i = 0; i < POSTERS; i++) {
        accepted += posters[i].accepted;
        assert_int_equal(0, posters[i].no_memory);
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
    assert_null(weir__load(&r->mailbox.tail, relaxed)); /* no envelope stays behind */

    const uint64_t bytes = weir__cell_read(&r->pool.bytes);
    weir__pool_cache cache = { NULL, NULL, 0 };
    uint64_t back = 0;
    r->memory.refuse_from = 1;
    while (weir__pool_get(&r->pool, &cache) != NULL) {
        back++;
    }
    assert_int_equal(bytes / sizeof(weir__envelope) - weir__load(&r->memory.calls, relaxed) + 1,
                     back); /* each chunk has one line of its own; the refused call is counted */
    weir__pool_close(&r->pool);
    test_memory_check(&r->memory);
}

static void every_event_comes_once_and_in_its_posters_order(void **state)
{
    (void)state;
    static const uint32_t limits[] = { 1, 8, 1000 };
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
    static const uint32_t limits[] = { 1, 4, 64 };
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        race *r = open_race(limits[i], true, 100000);
        run_race(r, run_evicting_poster);
        for (uint32_t k = 0; k < POSTERS; k++) {
            assert_int_equal(r->each, posters[k].accepted);
            assert_int_equal(0, posters[k].closed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_comes_once_and_in_its_posters_order),
        cmocka_unit_test(a_close_in_the_middle_loses_nothing_that_was_accepted),
        cmocka_unit_test(an_evicting_mailbox_loses_only_what_it_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
