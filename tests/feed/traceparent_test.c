/*
 * traceparent_test.c - a source that traces what it publishes: its subscribers have the context,
 * and its positions wait as if there were none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/fault_support.h"
#include "../engine/origin_support.h"

#include <weir/feed.h>
#include <weir/trace.h>

#include "engine/engine.h"

typedef struct reader {
    actor a; /* first */
    uint32_t with;
    uint8_t last;
} reader;

static weir_status look(actor *a, weir_turn *turn, const weir_event *event)
{
    reader *r = (reader *)(void *)a;
    weir_traceparent t;
    (void)event;
    if (weir_turn_traceparent(turn, &t) == WEIR_OK) {
        r->with++;
        r->last = t.parent[0];
    }
    return a->to[0].id != 0 ? weir_turn_post(turn, a->to[0], small()) : WEIR_OK;
}

static weir_traceparent numbered(uint8_t n)
{
    return (weir_traceparent){ .trace = { 1 }, .parent = { n } };
}

static void what_a_source_traces_is_traced_and_its_positions_wait_for_it(void **state)
{
    (void)state;
    scene s;
    reader first = { .a = { .act = look } };
    reader second = { .a = { .act = look } };
    uint64_t position = 0;
    scene_open(&s);
    first.a.to[0] = add(&s, &second.a);
    const weir_processor to = add(&s, &first.a);
    const weir_feed feed = weir_feed_open(s.engine, WEIR_FEED(.name = "lines"), NULL);
    assert_int_equal(WEIR_OK, weir_feed_subscribe(s.engine, feed, to));
    scene_start(&s);
    assert_int_equal(WEIR_OK, weir_feed_track(s.engine, feed));
    for (uint8_t n = 1; n <= 4; n++) {
        const weir_traceparent t = numbered(n);
        /* Every second one is not traced. */
        assert_int_equal(WEIR_OK, weir_engine_traceparent_set(s.engine, n % 2 != 0 ? &t : NULL));
        assert_int_equal(WEIR_OK, weir_feed_publish(s.engine, feed, small()));
        assert_int_equal(WEIR_OK, weir_feed_mark(s.engine, feed, n));
        assert_false(weir_feed_committed(s.engine, feed, &position) && position >= n);
        (void)weir_thread_run_once(s.engine, s.thread, 1);
        assert_false(weir_feed_committed(s.engine, feed, &position) && position >= n);
        scene_turn(&s);
        assert_true(weir_feed_committed(s.engine, feed, &position));
        assert_int_equal(n, position);
    }
    assert_int_equal(4, first.a.handled);
    assert_int_equal(2, first.with);
    assert_int_equal(2, second.with);
    assert_int_equal(3, second.last);
    assert_int_equal(WEIR_OK, weir_engine_traceparent_set(s.engine, NULL));
    assert_null(s.engine->carriers.first);
    scene_close(&s);
}

static void without_memory_nothing_is_published_and_the_thread_still_traces(void **state)
{
    (void)state;
    scene s;
    reader r = { .a = { .act = look } };
    test_fault fault;
    uint64_t position = 0;
    test_fault_init(&fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
    s.engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .allocator = &allocator));
    s.thread = test_thread_add(s.engine, WEIR_THREAD(.name = "hand", .external = true));
    token_open(&s.t);
    const weir_processor to = add(&s, &r.a);
    const weir_feed feed = weir_feed_open(s.engine, WEIR_FEED(.name = "lines"), NULL);
    assert_int_equal(WEIR_OK, weir_feed_subscribe(s.engine, feed, to));
    scene_start(&s);
    assert_int_equal(WEIR_OK, weir_feed_track(s.engine, feed));
    assert_int_equal(WEIR_OK,
                     weir_feed_publish(s.engine, feed, small())); /* what it needs is there */
    scene_turn(&s);
    const weir_traceparent t = numbered(9);
    assert_int_equal(WEIR_OK, weir_engine_traceparent_set(s.engine, &t));
    atomic_store(&fault.lasting, true);
    atomic_store(&fault.until, 0);
    assert_int_equal(WEIR_E_NOMEM, weir_feed_publish(s.engine, feed, small()));
    atomic_store(&fault.until, -1);
    assert_int_equal(WEIR_OK, weir_feed_publish(s.engine, feed, small()));
    assert_int_equal(WEIR_OK, weir_feed_mark(s.engine, feed, 1));
    scene_turn(&s);
    assert_true(weir_feed_committed(s.engine, feed, &position));
    assert_int_equal(2, r.a.handled);
    assert_int_equal(1, r.with);
    scene_close(&s);
    assert_int_equal(0, atomic_load(&fault.bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_source_traces_is_traced_and_its_positions_wait_for_it),
        cmocka_unit_test(without_memory_nothing_is_published_and_the_thread_still_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
