/*
 * queue/pool_test.c - every object is in one hand at a time, none is lost, whoever gives it back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_support.h"

#include "queue/pool.h"

enum { OBJECT_SIZE = 64, MAGAZINE = 8, CHUNK = 1 << 16, CHUNK_OBJECTS = CHUNK / OBJECT_SIZE - 1 };

/* An object as these tests use it. `holder` is plain: if two hands hold it TSan says so. */
typedef struct object {
    weir__pooled pooled;
    uint64_t spoiled; /* where a free magazine keeps its count */
    uint64_t holder;
    weir__atomic_u64 out; /* 1 while somebody has it; survives the time in the pool */
    uint64_t spare[3];
} object;
_Static_assert(sizeof(object) == OBJECT_SIZE, "one line");

static void open_pool(weir__pool *pool, test_memory *memory, uint32_t refuse_from)
{
    test_memory_open(memory, refuse_from);
    weir__pool_open(pool, &memory->allocator, OBJECT_SIZE, MAGAZINE);
}

static void close_pool(weir__pool *pool, test_memory *memory)
{
    weir__pool_close(pool);
    test_memory_check(memory);
}

/* How many objects the pool can hand out without asking for memory. Takes them. */
static uint32_t count_free(weir__pool *pool, test_memory *memory)
{
    weir__pool_cache cache = { NULL, NULL, 0 };
    uint32_t count = 0;
    memory->refuse_from = 1;
    while (count < 100 * CHUNK_OBJECTS && weir__pool_get(pool, &cache) != NULL) {
        count++;
    }
    memory->refuse_from = 0;
    return count;
}

static void an_unused_pool_owns_no_memory(void **state)
{
    (void)state;
    weir__pool pool;
    test_memory memory;
    open_pool(&pool, &memory, 0);
    assert_int_equal(0, weir__cell_read(&pool.bytes));
    assert_int_equal(0, weir__load(&memory.calls, relaxed));
    close_pool(&pool, &memory);
}

static void every_object_of_a_chunk_is_handed_out_once(void **state)
{
    (void)state;
    weir__pool pool;
    test_memory memory;
    open_pool(&pool, &memory, 2); /* one chunk, no more */
    weir__pool_cache cache = { NULL, NULL, 0 };
    static weir__pooled *seen[CHUNK_OBJECTS];
    uint32_t count = 0;
    for (weir__pooled *o; (o = weir__pool_get(&pool, &cache)) != NULL; count++) {
        assert_true(count < CHUNK_OBJECTS);
        assert_int_equal(0, (uintptr_t)o % OBJECT_SIZE);
        memset((void *)o, (int)(count & 0xff), OBJECT_SIZE); /* ASan: all of it is ours */
        seen[count] = o;
    }
    assert_int_equal(CHUNK_OBJECTS, count);
    assert_int_equal(CHUNK, weir__cell_read(&pool.bytes));
    for (uint32_t i = 0; i < count; i++) { /* nobody wrote over another's object */
        const unsigned char *bytes = (const unsigned char *)(const void *)seen[i];
        for (uint32_t k = 0; k < OBJECT_SIZE; k++) {
            assert_int_equal(i & 0xff, bytes[k]);
        }
    }
    close_pool(&pool, &memory); /* given back or not */
}

static void what_was_given_back_is_handed_out_again_before_new_memory(void **state)
{
    (void)state;
    weir__pool pool;
    test_memory memory;
    open_pool(&pool, &memory, 0);
    weir__pool_cache cache = { NULL, NULL, 0 };
    static weir__pooled *taken[CHUNK_OBJECTS];
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < CHUNK_OBJECTS; i++) {
            taken[i] = weir__pool_get(&pool, &cache);
            assert_non_null(taken[i]);
        }
        for (uint32_t i = 0; i < CHUNK_OBJECTS; i++) {
            weir__pool_put(&pool, &cache, taken[i]);
        }
        assert_int_equal(1, weir__load(&memory.calls, relaxed));
        assert_int_equal(CHUNK, weir__cell_read(&pool.bytes));
    }
    weir__pool_flush(&pool, &cache);
    assert_int_equal(CHUNK_OBJECTS, count_free(&pool, &memory));
    close_pool(&pool, &memory);
}

static void a_refused_chunk_gives_null_and_the_next_try_may_succeed(void **state)
{
    (void)state;
    for (uint32_t nth = 1; nth <= 3; nth++) {
        weir__pool pool;
        test_memory memory;
        open_pool(&pool, &memory, nth);
        weir__pool_cache cache = { NULL, NULL, 0 };
        uint32_t got = 0;
        weir__pooled *last = NULL;
        for (weir__pooled *o; (o = weir__pool_get(&pool, &cache)) != NULL; got++) {
            assert_true(got < nth * CHUNK_OBJECTS);
            last = o;
        }
        assert_int_equal((nth - 1) * CHUNK_OBJECTS, got);
        assert_int_equal((nth - 1) * CHUNK, weir__cell_read(&pool.bytes));
        assert_null(weir__pool_get(&pool, &cache)); /* and again, without harm */
        if (last != NULL) {
            weir__pool_put(&pool, &cache, last);
            assert_ptr_equal(last, weir__pool_get(&pool, &cache));
        }
        memory.refuse_from = 0;
        assert_non_null(weir__pool_get(&pool, &cache));
        assert_int_equal(nth * CHUNK, weir__cell_read(&pool.bytes));
        close_pool(&pool, &memory);
    }
}

static void an_object_larger_than_a_chunk_has_a_chunk_of_its_own(void **state)
{
    (void)state;
    weir__pool pool;
    test_memory memory;
    test_memory_open(&memory, 0);
    weir__pool_open(&pool, &memory.allocator, 2 * CHUNK, MAGAZINE);
    weir__pool_cache cache = { NULL, NULL, 0 };
    for (uint32_t i = 1; i <= 3; i++) {
        weir__pooled *o = weir__pool_get(&pool, &cache);
        assert_non_null(o);
        memset((void *)o, 1, 2 * CHUNK);
        assert_int_equal(i * (2u * CHUNK + 64u), weir__cell_read(&pool.bytes));
    }
    close_pool(&pool, &memory);
}

/* Magazines of every filling, from flush and from put_shared, come back whole. */
static void partially_filled_magazines_keep_their_count(void **state)
{
    (void)state;
    for (uint32_t held = 0; held <= 2 * MAGAZINE + 1; held++) {
        weir__pool pool;
        test_memory memory;
        open_pool(&pool, &memory, 0);
        weir__pool_cache cache = { NULL, NULL, 0 };
        weir__pooled *taken[3 * MAGAZINE];
        for (uint32_t i = 0; i < 3 * MAGAZINE; i++) {
            taken[i] = weir__pool_get(&pool, &cache);
        }
        assert_int_equal(0, cache.count);
        for (uint32_t i = 0; i < held; i++) {
            weir__pool_put(&pool, &cache, taken[i]);
        }
        weir__pool_flush(&pool, &cache);
        assert_null(cache.current);
        assert_null(cache.spare);
        assert_int_equal(0, cache.count);
        for (uint32_t i = held; i < 3 * MAGAZINE; i++) {
            weir__pool_put_shared(&pool, taken[i]);
        }
        assert_int_equal(CHUNK_OBJECTS, count_free(&pool, &memory));
        close_pool(&pool, &memory);
    }
}

static void flushing_an_empty_cache_does_nothing(void **state)
{
    (void)state;
    weir__pool pool;
    test_memory memory;
    open_pool(&pool, &memory, 0);
    weir__pool_cache cache = { NULL, NULL, 0 };
    weir__pool_flush(&pool, &cache);
    weir__pool_flush(&pool, &cache);
    assert_int_equal(0, count_free(&pool, &memory));
    close_pool(&pool, &memory);
}

/* A reserve larger than a magazine, whatever the cache had. */
static void what_was_reserved_is_there_without_new_memory(void **state)
{
    (void)state;
    for (uint32_t had = 0; had <= 2 * MAGAZINE; had++) {
        for (uint32_t count = 0; count <= 5 * MAGAZINE; count++) {
            weir__pool pool;
            test_memory memory;
            weir__pooled *taken[5 * MAGAZINE];
            open_pool(&pool, &memory, 0);
            weir__pool_cache cache = { NULL, NULL, 0 };
            for (uint32_t i = 0; i < 2 * MAGAZINE; i++) {
                taken[i] = weir__pool_get(&pool, &cache);
            }
            for (uint32_t i = 0; i < had; i++) {
                weir__pool_put(&pool, &cache, taken[i]);
            }
            assert_true(weir__pool_reserve(&pool, &cache, count));
            assert_true(cache.count >= count);
            memory.refuse_from = 1;
            for (uint32_t i = 0; i < count; i++) {
                assert_non_null(weir__pool_get(&pool, &cache));
            }
            weir__pool_flush(&pool, &cache);
            assert_int_equal(CHUNK_OBJECTS - (2 * MAGAZINE - had) - count,
                             count_free(&pool, &memory));
            close_pool(&pool, &memory);
        }
    }
}

/* What is more than a magazine goes to the depot whole, and comes back whole. */
static void more_than_a_magazine_spills_and_loses_nothing(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 5 * MAGAZINE; count++) {
        weir__pool pool;
        test_memory memory;
        open_pool(&pool, &memory, 0);
        weir__pool_cache cache = { NULL, NULL, 0 };
        weir__pool_cache other = { NULL, NULL, 0 };
        weir__pooled *more[MAGAZINE];
        for (uint32_t i = 0; i < MAGAZINE; i++) {
            more[i] = weir__pool_get(&pool, &other);
        }
        assert_true(weir__pool_reserve(&pool, &cache, count));
        for (uint32_t i = 0; i < MAGAZINE; i++) {
            weir__pool_put(&pool, &cache, more[i]);
            assert_true(cache.count <= 5 * MAGAZINE + MAGAZINE);
        }
        weir__pool_flush(&pool, &cache);
        weir__pool_flush(&pool, &other);
        assert_int_equal(CHUNK_OBJECTS, count_free(&pool, &memory));
        close_pool(&pool, &memory);
    }
}

static void a_reserve_without_memory_is_refused_and_keeps_what_it_got(void **state)
{
    (void)state;
    weir__pool pool;
    test_memory memory;
    open_pool(&pool, &memory, 2); /* one chunk, no more */
    weir__pool_cache cache = { NULL, NULL, 0 };
    assert_false(weir__pool_reserve(&pool, &cache, CHUNK_OBJECTS + 1));
    assert_int_equal(CHUNK_OBJECTS, cache.count);
    assert_true(weir__pool_reserve(&pool, &cache, CHUNK_OBJECTS));
    weir__pool_flush(&pool, &cache);
    assert_int_equal(CHUNK_OBJECTS, count_free(&pool, &memory));
    close_pool(&pool, &memory);
}

/* Given back empty they are got empty, by way of the depot, too. */
static void objects_of_an_empty_pool_are_empty_behind_their_header(void **state)
{
    (void)state;
    static const char zeros[OBJECT_SIZE];
    weir__pool pool;
    test_memory memory;
    test_memory_open(&memory, 2);
    weir__pool_open_empty(&pool, &memory.allocator, OBJECT_SIZE, MAGAZINE);
    for (uint32_t round = 0; round < 3; round++) {
        weir__pool_cache cache = { NULL, NULL, 0 };
        weir__pooled *taken[CHUNK_OBJECTS];
        for (uint32_t i = 0; i < CHUNK_OBJECTS; i++) {
            taken[i] = weir__pool_get(&pool, &cache);
            assert_non_null(taken[i]);
            assert_memory_equal(taken[i] + 1, zeros, OBJECT_SIZE - sizeof(weir__pooled));
        }
        for (uint32_t i = 0; i < CHUNK_OBJECTS; i++) {
            if (i % 3 == 0) {
                weir__pool_put_shared(&pool, taken[i]);
            } else {
                weir__pool_put(&pool, &cache, taken[i]);
            }
        }
        weir__pool_flush(&pool, &cache);
    }
    close_pool(&pool, &memory);
}

enum { CACHES = 3, HELD_MAX = 500 };

typedef struct walk {
    weir__pool pool;
    test_memory memory;
    weir__pool_cache caches[CACHES];
    object *held[HELD_MAX];
    uint32_t held_count;
} walk;

static uint32_t length_of(weir__pooled *magazine)
{
    uint32_t length = 0;
    for (; magazine != NULL && length <= CHUNK_OBJECTS; length++) {
        magazine = weir__load(&magazine->next, relaxed);
    }
    return length;
}

/* A cache knows how many it has; a spare magazine is always full. */
static void assert_counted(const weir__pool_cache *cache)
{
    assert_int_equal(cache->count, length_of(cache->current));
    assert_int_equal(cache->spare != NULL ? MAGAZINE : 0, length_of(cache->spare));
}

static void walk_get(walk *w, weir__pool_cache *cache)
{
    object *o = (object *)(void *)weir__pool_get(&w->pool, cache);
    assert_non_null(o);
    for (uint32_t i = 0; i < w->held_count; i++) {
        assert_ptr_not_equal(o, w->held[i]); /* never in two hands */
    }
    o->holder = w->held_count;
    w->held[w->held_count++] = o;
}

static void walk_put(walk *w, uint64_t choice, weir__pool_cache *cache)
{
    const uint32_t i = (uint32_t)(choice % w->held_count);
    object *o = w->held[i];
    w->held[i] = w->held[--w->held_count];
    if (choice >> 60 == 0) {
        weir__pool_put_shared(&w->pool, &o->pooled);
    } else {
        weir__pool_put(&w->pool, cache, &o->pooled);
    }
}

static void a_random_walk_over_several_caches_loses_and_doubles_nothing(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    static walk w;
    memset(&w, 0, sizeof(w));
    open_pool(&w.pool, &w.memory, 0);
    for (uint32_t step = 0; step < test_load(100000); step++) {
        const uint64_t choice = test_random(&random);
        weir__pool_cache *cache = &w.caches[(choice >> 8) % CACHES];
        if ((choice >> 16) % 500 == 0) {
            weir__pool_flush(&w.pool, cache);
        } else if ((choice >> 16) % 500 == 1) {
            assert_true(weir__pool_reserve(&w.pool, cache, (uint32_t)(choice >> 32) % 60));
        } else if (choice % 2 == 0 && w.held_count < HELD_MAX) {
            walk_get(&w, cache);
        } else if (w.held_count > 0) {
            walk_put(&w, choice, cache);
        }
        assert_counted(cache);
    }
    for (uint32_t i = 0; i < CACHES; i++) {
        weir__pool_flush(&w.pool, &w.caches[i]);
    }
    assert_int_equal(CHUNK_OBJECTS - w.held_count, count_free(&w.pool, &w.memory));
    close_pool(&w.pool, &w.memory);
}

/* ---- threads ---- */

enum { THREADS = 4, BASKETS = 64, BATCH = 24 };

/* Objects travel by way of the baskets: taken by one thread, given back by another. */
typedef struct market {
    weir__pool pool;
    test_memory memory;
    WEIR__ATOMIC(object *) baskets[BASKETS];
    uint32_t rounds;
    uint64_t seed;
} market;

typedef struct trader {
    market *at;
    uint32_t number;
    uint64_t doubled, refused, gets, puts;
} trader;

static object *trader_get(trader *t, weir__pool_cache *cache)
{
    object *o = (object *)(void *)weir__pool_get(&t->at->pool, cache);
    if (o == NULL) {
        t->refused++;
        return NULL;
    }
    t->gets++;
    t->doubled += weir__exchange(&o->out, 1, relaxed) == 1;
    o->holder = t->number;
    return o;
}

static void trader_put(trader *t, weir__pool_cache *cache, object *o, bool shared)
{
    o->holder = ~(uint64_t)t->number;
    t->doubled += weir__exchange(&o->out, 0, relaxed) != 1;
    t->puts++;
    if (shared) {
        weir__pool_put_shared(&t->at->pool, &o->pooled);
    } else {
        weir__pool_put(&t->at->pool, cache, &o->pooled);
    }
}

/* Thread-lives: each takes and gives for a while, then its cache goes to the others. */
static void trade(void *argument)
{
    trader *t = argument;
    market *m = t->at;
    uint64_t random = m->seed + t->number;
    weir__pool_cache cache = { NULL, NULL, 0 };
    for (uint32_t round = 0; round < m->rounds; round++) {
        /* Those with an even number take more, the others give back more. */
        const uint64_t choice = test_random(&random);
        const uint32_t batch = 1 + (uint32_t)(choice >> 32) % BATCH;
        for (uint32_t i = 0; i < batch; i++) {
            const bool take = test_random(&random) % 4 < (t->number % 2 == 0 ? 3u : 1u);
            object *mine = take ? trader_get(t, &cache) : NULL;
            object *theirs =
                weir__exchange(&m->baskets[test_random(&random) % BASKETS], mine, acq_rel);
            if (theirs != NULL) {
                trader_put(t, &cache, theirs, choice % 16 == 0);
            }
        }
        if (choice % 64 == 0) {
            weir__pool_flush(&m->pool, &cache); /* the thread ends, the next one begins */
        }
    }
    weir__pool_flush(&m->pool, &cache);
}

static void run_market(uint32_t magazine)
{
    static market m;
    trader traders[THREADS];
    crew c;
    memset(&m, 0, sizeof(m));
    test_memory_open(&m.memory, 0);
    weir__pool_open(&m.pool, &m.memory.allocator, OBJECT_SIZE, magazine);
    m.rounds = test_load(40000);
    m.seed = test_seed();
    for (uint32_t i = 0; i < THREADS; i++) {
        traders[i] = (trader){ .at = &m, .number = i };
    }
    crew_start(&c, trade, traders, sizeof(traders[0]), THREADS);
    crew_join(&c);
    uint64_t out = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(0, traders[i].doubled);
        assert_int_equal(0, traders[i].refused);
        out += traders[i].gets - traders[i].puts;
    }
    uint64_t in_baskets = 0;
    for (uint32_t i = 0; i < BASKETS; i++) {
        in_baskets += weir__load(&m.baskets[i], relaxed) != NULL;
    }
    assert_int_equal(in_baskets, out);
    const uint64_t chunks = weir__cell_read(&m.pool.bytes) / CHUNK;
    assert_int_equal(chunks, weir__load(&m.memory.calls, relaxed));
    assert_int_equal(chunks * CHUNK_OBJECTS - out, count_free(&m.pool, &m.memory));
    /* At most so many are ever out or in a cache: one chunk is plenty. */
    assert_int_equal(1, chunks);
    close_pool(&m.pool, &m.memory);
}

/* The smaller the magazines, the more goes through the depot. */
static void objects_freed_by_other_threads_come_back_each_once(void **state)
{
    (void)state;
    run_market(MAGAZINE);
    run_market(2);
    run_market(1);
}

static void open_with_odd_size(void)
{
    weir__pool pool;
    weir__pool_open(&pool, weir__allocator_default(), 65, 1);
}

static void open_with_empty_magazines(void)
{
    weir__pool pool;
    weir__pool_open(&pool, weir__allocator_default(), 64, 0);
}

static void sizes_that_cannot_work_abort(void **state)
{
    (void)state;
    assert_true(test_aborts(open_with_odd_size));
    assert_true(test_aborts(open_with_empty_magazines));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unused_pool_owns_no_memory),
        cmocka_unit_test(every_object_of_a_chunk_is_handed_out_once),
        cmocka_unit_test(what_was_given_back_is_handed_out_again_before_new_memory),
        cmocka_unit_test(a_refused_chunk_gives_null_and_the_next_try_may_succeed),
        cmocka_unit_test(an_object_larger_than_a_chunk_has_a_chunk_of_its_own),
        cmocka_unit_test(partially_filled_magazines_keep_their_count),
        cmocka_unit_test(flushing_an_empty_cache_does_nothing),
        cmocka_unit_test(what_was_reserved_is_there_without_new_memory),
        cmocka_unit_test(more_than_a_magazine_spills_and_loses_nothing),
        cmocka_unit_test(a_reserve_without_memory_is_refused_and_keeps_what_it_got),
        cmocka_unit_test(objects_of_an_empty_pool_are_empty_behind_their_header),
        cmocka_unit_test(a_random_walk_over_several_caches_loses_and_doubles_nothing),
        cmocka_unit_test(sizes_that_cannot_work_abort),
        cmocka_unit_test(objects_freed_by_other_threads_come_back_each_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
