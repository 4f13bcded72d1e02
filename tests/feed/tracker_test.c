/*
 * tracker_test.c - marks are committed in their order, as far as all before them are released,
 * whoever releases them, and in whatever order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/fault_support.h"

#include "feed/tracker.h"

enum { MARKS_MAX = WEIR__TRACKER_MARKS_MAX };

typedef struct track {
    weir_engine *engine;
    weir__tracker *tracker;
    atomic_uint_least64_t told; /* calls of `committed` */
    atomic_uint_least64_t high; /* the highest position that one of them saw */
    atomic_bool fell;           /* or one that saw less than it had seen before */
} track;

static void committed(void *context)
{
    track *t = context;
    uint64_t position = 0;
    atomic_fetch_add(&t->told, 1);
    if (!weir__tracker_committed(t->tracker, &position)) {
        atomic_store(&t->fell, true);
    }
    uint64_t high = atomic_load(&t->high);
    while (position > high && !atomic_compare_exchange_weak(&t->high, &high, position)) {
    }
}

static void track_open(track *t)
{
    *t = (track){ .engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF)) };
    t->tracker = weir__tracker_open(t->engine, committed, t);
    assert_non_null(t->tracker);
}

static void track_close(track *t)
{
    assert_false(atomic_load(&t->fell));
    weir__tracker_close(t->tracker);
    weir_engine_destroy(t->engine);
}

/* `count` events are published and marked. Returns their origin. */
static weir_origin *batch(track *t, uint64_t count, uint64_t position)
{
    weir_origin *origin = weir__tracker_origin(t->tracker);
    assert_non_null(origin);
    if (count > 0) {
        weir__origin_hold(origin, count);
    }
    assert_int_equal(WEIR_OK, weir__tracker_mark(t->tracker, position));
    return origin;
}

/* -1: none. */
static int64_t position_of(track *t)
{
    uint64_t position = 0;
    return weir__tracker_committed(t->tracker, &position) ? (int64_t)position : -1;
}

/* ---- order ---- */

static void a_position_is_committed_when_its_last_event_and_all_before_have_ended(void **state)
{
    (void)state;
    track t;
    track_open(&t);
    assert_int_equal(-1, position_of(&t));
    weir_origin *first = batch(&t, 2, 10);
    weir_origin *second = batch(&t, 1, 20);
    weir_origin *third = batch(&t, 1, 30);
    assert_int_equal(3, weir__tracker_outstanding(t.tracker));
    weir__origin_release(second);
    weir__origin_release(first);
    assert_int_equal(-1, position_of(&t));
    assert_int_equal(0, atomic_load(&t.told));
    weir__origin_release(first);
    assert_int_equal(20, position_of(&t));
    assert_int_equal(1, atomic_load(&t.told));
    assert_int_equal(1, weir__tracker_outstanding(t.tracker));
    weir__origin_release(third);
    assert_int_equal(30, position_of(&t));
    assert_int_equal(30, atomic_load(&t.high));
    assert_int_equal(0, weir__tracker_outstanding(t.tracker));
    track_close(&t);
}

static void what_is_not_marked_yet_is_not_committed(void **state)
{
    (void)state;
    track t;
    track_open(&t);
    weir_origin *origin = weir__tracker_origin(t.tracker);
    assert_ptr_equal(origin, weir__tracker_origin(t.tracker)); /* one until the mark */
    weir__origin_hold(origin, 1);
    weir__origin_release(origin);
    assert_int_equal(-1, position_of(&t));
    assert_int_equal(WEIR_OK, weir__tracker_mark(t.tracker, 7));
    assert_int_equal(7, position_of(&t));
    track_close(&t);
}

static void a_mark_of_nothing_is_committed_at_once_unless_something_is_before_it(void **state)
{
    (void)state;
    track t;
    track_open(&t);
    assert_int_equal(WEIR_OK, weir__tracker_mark(t.tracker, 0));
    assert_int_equal(0, position_of(&t));
    weir_origin *origin = batch(&t, 1, 5);
    assert_int_equal(WEIR_OK, weir__tracker_mark(t.tracker, 6));
    assert_int_equal(0, position_of(&t));
    weir__origin_release(origin);
    assert_int_equal(6, position_of(&t));
    track_close(&t);
}

static void positions_do_not_fall_and_one_that_is_marked_twice_ends_with_the_second(void **state)
{
    (void)state;
    track t;
    track_open(&t);
    weir_origin *first = batch(&t, 1, 10);
    assert_int_equal(WEIR_E_INVALID, weir__tracker_mark(t.tracker, 9));
    weir_origin *second = batch(&t, 1, 10);
    weir__origin_release(first);
    assert_int_equal(-1, position_of(&t));
    assert_int_equal(1, weir__tracker_outstanding(t.tracker));
    weir__origin_release(second);
    assert_int_equal(10, position_of(&t));
    assert_int_equal(WEIR_OK, weir__tracker_mark(t.tracker, UINT64_MAX));
    uint64_t position = 0;
    assert_true(weir__tracker_committed(t.tracker, &position));
    assert_true(position == UINT64_MAX);
    track_close(&t);
}

static void there_are_at_most_so_many_marks_and_it_goes_on_when_one_is_committed(void **state)
{
    (void)state;
    track t;
    track_open(&t);
    weir_origin **origins = calloc(MARKS_MAX, sizeof(weir_origin *));
    assert_non_null(origins);
    for (uint64_t round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < MARKS_MAX; i++) {
            origins[i] = batch(&t, 1, round * MARKS_MAX + i);
        }
        weir_origin *open = weir__tracker_origin(t.tracker);
        assert_int_equal(WEIR_FULL, weir__tracker_mark(t.tracker, UINT64_C(1) << 40));
        assert_ptr_equal(open, weir__tracker_origin(t.tracker)); /* nothing was marked */
        assert_int_equal(MARKS_MAX, weir__tracker_outstanding(t.tracker));
        for (uint64_t i = MARKS_MAX - 1; i > 0; i--) {
            weir__origin_release(origins[i]);
        }
        assert_int_equal(MARKS_MAX, weir__tracker_outstanding(t.tracker));
        weir__origin_release(origins[0]);
        assert_int_equal(0, weir__tracker_outstanding(t.tracker));
        assert_int_equal((round + 1) * MARKS_MAX - 1, position_of(&t));
    }
    assert_int_equal(3, atomic_load(&t.told));
    free(origins);
    track_close(&t);
}

/* ---- a model ---- */

enum { WINDOW = 3000 };

typedef struct model {
    weir_origin *origins[WINDOW];
    uint64_t left[WINDOW]; /* events that have not ended */
    uint64_t positions[WINDOW];
    uint64_t head, tail;
    int64_t committed;
} model;

static void model_take_off(model *m)
{
    while (m->head < m->tail && m->left[m->head % WINDOW] == 0) {
        const uint64_t at = m->head++ % WINDOW;
        if (m->head == m->tail || m->positions[m->head % WINDOW] != m->positions[at]) {
            m->committed = (int64_t)m->positions[at];
        }
    }
}

static void any_order_of_releases_commits_what_a_model_does(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    track t;
    static model m;
    m = (model){ .committed = -1 };
    track_open(&t);
    uint64_t position = 0;
    for (uint64_t step = 0; step < test_load(400000, 40000); step++) {
        const bool full = m.tail - m.head == WINDOW;
        if (!full && (m.head == m.tail || test_random(&seed) % 3 == 0)) {
            const uint64_t at = m.tail % WINDOW;
            m.left[at] = test_random(&seed) % 4;
            position += test_random(&seed) % 3;
            m.positions[at] = position;
            m.origins[at] = batch(&t, m.left[at], position);
            m.tail++;
        } else { /* one of those that are outstanding, the first ones more often */
            const uint64_t most = m.tail - m.head;
            const uint64_t at =
                (m.head + test_random(&seed) % (test_random(&seed) % most + 1)) % WINDOW;
            if (m.left[at] > 0) {
                m.left[at]--;
                weir__origin_release(m.origins[at]);
            }
        }
        model_take_off(&m);
        assert_int_equal(m.committed, position_of(&t));
        assert_int_equal(m.tail - m.head, weir__tracker_outstanding(t.tracker));
    }
    track_close(&t); /* with what is outstanding */
}

/* ---- threads ---- */

enum { RELEASERS = 3, RING = 4096 };

typedef struct hand {
    _Atomic(weir_origin *) slots[RING]; /* from the writer to one releaser */
} hand;

typedef struct crew {
    track *t;
    hand hands[RELEASERS];
    atomic_bool over;
    uint64_t marks;
} crew;

typedef struct releaser {
    crew *of;
    uint32_t number;
    uint64_t seed;
} releaser;

/* Takes what it finds in no order. */
static void *release_some(void *argument)
{
    releaser *r = argument;
    hand *h = &r->of->hands[r->number];
    bool last = false;
    while (!last) {
        last = atomic_load(&r->of->over);
        for (uint32_t i = 0; i < RING; i++) {
            const uint32_t at = last ? i : (uint32_t)(test_random(&r->seed) % RING);
            weir_origin *origin = atomic_exchange(&h->slots[at], NULL);
            if (origin != NULL) {
                weir__origin_release(origin);
            }
        }
    }
    return NULL;
}

static void put(hand *h, weir_origin *origin, uint64_t *seed)
{
    for (;;) { /* ends: its releaser takes them */
        weir_origin *none = NULL;
        if (atomic_compare_exchange_strong(&h->slots[test_random(seed) % RING], &none, origin)) {
            return;
        }
    }
}

static void releases_of_several_threads_lose_no_commit(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    track t;
    static crew c;
    memset(&c, 0, sizeof(c));
    c.t = &t;
    track_open(&t);
    pthread_t threads[RELEASERS];
    releaser releasers[RELEASERS];
    for (uint32_t i = 0; i < RELEASERS; i++) {
        releasers[i] = (releaser){ &c, i, test_random(&seed) };
        assert_int_equal(0, pthread_create(&threads[i], NULL, release_some, &releasers[i]));
    }
    const uint64_t marks = test_load(300000, 20000);
    int64_t before = -1;
    bool fell = false;
    for (uint64_t i = 0; i < marks;) {
        weir_origin *origin = weir__tracker_origin(t.tracker);
        assert_non_null(origin);
        for (uint64_t n = test_random(&seed) % 4; n > 0; n--) {
            weir__origin_hold(origin, 1);
            put(&c.hands[test_random(&seed) % RELEASERS], origin, &seed);
        }
        weir_status status = weir__tracker_mark(t.tracker, i);
        while (status == WEIR_FULL) {
            (void)sched_yield();
            status = weir__tracker_mark(t.tracker, i);
        }
        assert_int_equal(WEIR_OK, status);
        i++;
        const int64_t now = position_of(&t);
        fell = fell || now < before || now > (int64_t)i;
        before = now;
    }
    atomic_store(&c.over, true);
    for (uint32_t i = 0; i < RELEASERS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
    }
    assert_false(fell);
    assert_int_equal(marks - 1, position_of(&t));
    assert_int_equal(marks - 1, atomic_load(&t.high));
    assert_int_equal(0, weir__tracker_outstanding(t.tracker));
    track_close(&t);
}

/* ---- memory ---- */

static void without_memory_nothing_is_marked_and_nothing_is_lost(void **state)
{
    (void)state;
    test_fault fault;
    test_fault_init(&fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
    track t = { .engine = test_engine_create(WEIR_ENGINE(.allocator = &allocator)) };
    test_fault_arm(&fault, 0, true);
    assert_null(weir__tracker_open(t.engine, committed, &t));
    (void)test_fault_disarm(&fault);
    t.tracker = weir__tracker_open(t.engine, committed, &t);
    assert_non_null(t.tracker);
    test_fault_arm(&fault, 0, true);
    assert_null(weir__tracker_origin(t.tracker));
    assert_int_equal(WEIR_E_NOMEM, weir__tracker_mark(t.tracker, 1));
    (void)test_fault_disarm(&fault);
    assert_int_equal(-1, position_of(&t));
    uint64_t marked = 0;
    weir_origin *first = batch(&t, 1, ++marked);
    test_fault_arm(&fault, 0, true);
    while (weir__tracker_origin(t.tracker) != NULL) { /* ends with the segment */
        assert_int_equal(WEIR_OK, weir__tracker_mark(t.tracker, ++marked));
    }
    assert_int_equal(WEIR_E_NOMEM, weir__tracker_mark(t.tracker, marked + 1));
    weir__origin_release(first);
    assert_int_equal(marked, position_of(&t));
    assert_int_equal(WEIR_OK, weir__tracker_mark(t.tracker, ++marked)); /* its memory, again */
    assert_int_equal(marked, position_of(&t));
    (void)test_fault_disarm(&fault);
    track_close(&t);
    assert_int_equal(0, atomic_load(&fault.bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_position_is_committed_when_its_last_event_and_all_before_have_ended),
        cmocka_unit_test(what_is_not_marked_yet_is_not_committed),
        cmocka_unit_test(a_mark_of_nothing_is_committed_at_once_unless_something_is_before_it),
        cmocka_unit_test(positions_do_not_fall_and_one_that_is_marked_twice_ends_with_the_second),
        cmocka_unit_test(there_are_at_most_so_many_marks_and_it_goes_on_when_one_is_committed),
        cmocka_unit_test(any_order_of_releases_commits_what_a_model_does),
        cmocka_unit_test(releases_of_several_threads_lose_no_commit),
        cmocka_unit_test(without_memory_nothing_is_marked_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
