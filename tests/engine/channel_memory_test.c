/*
 * channel_memory_test.c - opening, subscribing and broadcasting with the nth allocation failing, n
 * = 1, 2, 3, ...: a status, nothing half done, nothing lost, and the same call succeeds later.
 *
 * The engine's only thread is turned by hand, so the nth allocation is the same one in every run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "channel_support.h"
#include "fault_support.h"

enum { NTH_MAX = 10000, LISTENERS = 3, CHANNELS = 12 };

typedef struct scene {
    test_fault fault;
    weir_engine *engine;
    weir_thread loop;
    weir_processor members[LISTENERS];
    weir_channel channels[CHANNELS];
    uint64_t delivered, requests;
    bool failed; /* some call since memory was taken away */
} scene;

static listener listeners[LISTENERS];

static void scene_open(scene *s)
{
    memset(s, 0, sizeof(*s));
    test_fault_init(&s->fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &s->fault };
    s->engine = test_engine_create(WEIR_ENGINE(.allocator = &allocator, .log_level = WEIR_LOG_OFF));
    s->loop = test_thread_add(s->engine, WEIR_THREAD(.external = true));
    for (size_t i = 0; i < LISTENERS; i++) {
        s->members[i] = listener_add(s->engine, &listeners[i]);
    }
    test_engine_start(s->engine);
}

/* Done, or there was no memory; then it was not. */
static bool is_done(scene *s, weir_status status)
{
    s->failed = s->failed || status == WEIR_E_NOMEM;
    assert_true(status == WEIR_OK || status == WEIR_ALREADY || status == WEIR_E_NOMEM);
    return status != WEIR_E_NOMEM;
}

static void open_all(scene *s)
{
    char name[16];
    for (size_t i = 0; i < CHANNELS; i++) {
        weir_error error = WEIR_ERROR_INIT;
        (void)snprintf(name, sizeof(name), "c%zu", i);
        const weir_channel opened = weir_channel_open(s->engine, name, &error);
        assert_true(is_done(s, error.status) == (opened.id != 0));
        s->channels[i] = opened;
    }
}

static size_t subscriptions(scene *s, size_t member)
{
    weir_channel_set set = { NULL, 0, 0 };
    (void)weir_channel_change(s->engine, s->members[member], WEIR_SUBSCRIBE, NULL, 0, &set);
    return set.count;
}

/* One by one, all in one step, and by request. */
static void subscribe_all(scene *s)
{
    const size_t before = subscriptions(s, 1);
    (void)is_done(s, weir_channel_subscribe(s->engine, s->channels[0], s->members[0]));
    const bool all = is_done(s, weir_channel_change(s->engine, s->members[1], WEIR_SUBSCRIBE,
                                                    s->channels, CHANNELS, NULL));
    assert_int_equal(all ? CHANNELS : before, subscriptions(s, 1)); /* all or none */
    if (is_done(s, weir_channel_request_change(s->engine, s->members[2], WEIR_SUBSCRIBE,
                                               s->channels, CHANNELS))) {
        s->requests++;
    }
    TEST_UNTIL(weir_thread_run_once(s->engine, s->loop, 0) == 0);
    assert_int_equal(WEIR_ALREADY,
                     weir_channel_unsubscribe(s->engine, s->channels[1], s->members[0]));
}

static void broadcast_all(scene *s)
{
    unsigned char large[300] = { 0 };
    const number small = { 1 };
    const weir_event events[] = {
        { .type = &number_type, .data = &small, .size = sizeof(small) },
        { .type = &weir_bytes_type, .data = large, .size = sizeof(large) },
    };
    for (size_t i = 0; i < 2; i++) {
        weir_delivery d = { 0, 0 };
        if (is_done(s, weir_engine_broadcast(s->engine, s->channels[0], &events[i], &d))) {
            s->failed = s->failed || d.refused > 0; /* no memory for its place */
        }
        s->delivered += d.delivered;
    }
    const weir_event *batch[] = { &events[0], &events[1], &events[0] };
    weir_delivery d = { 0, 0 };
    weir_status status;
    (void)weir_engine_broadcast_batch(s->engine, s->channels[0], batch, 3, &d, &status);
    s->failed = s->failed || !is_done(s, status) || d.refused > 0;
    s->delivered += d.delivered;
    TEST_UNTIL(weir_thread_run_once(s->engine, s->loop, 0) == 0);
}

static void scene_close(scene *s)
{
    const weir_counters c = test_engine_counters(s->engine);
    assert_int_equal(s->delivered, c.delivered);
    assert_int_equal(s->delivered + s->requests, c.accepted);
    assert_int_equal(c.accepted, c.handled + c.dead);
    assert_int_equal(0, c.block_bytes);
    test_external_end(s->engine, s->loop);
    assert_int_equal(0, atomic_load(&s->fault.bytes));
    assert_int_equal(0, atomic_load(&s->fault.wrong));
}

/* One n. True: no more than that are needed. */
static bool run_with_nth(void (*act)(scene *s), long nth, bool lasting)
{
    static scene s;
    scene_open(&s);
    if (act != open_all) {
        open_all(&s);
    }
    if (act == broadcast_all) {
        subscribe_all(&s);
    }
    assert_false(s.failed);
    test_fault_arm(&s.fault, nth, lasting);
    act(&s);
    const bool hit = test_fault_disarm(&s.fault) > 0;
    /* A request that could not be served is dead: it has no status. */
    assert_true(!s.failed || hit);
    assert_true(s.failed || !hit || test_engine_counters(s.engine).dead > 0);
    s.failed = false;
    open_all(&s);
    subscribe_all(&s);
    broadcast_all(&s);
    assert_false(s.failed);
    assert_int_equal(1, subscriptions(&s, 0));
    assert_int_equal(CHANNELS, subscriptions(&s, 1));
    assert_int_equal(CHANNELS, subscriptions(&s, 2));
    say(s.engine, s.channels[0], 2, LISTENERS, 0);
    s.delivered += LISTENERS;
    TEST_UNTIL(weir_thread_run_once(s.engine, s.loop, 0) == 0);
    scene_close(&s);
    return !hit;
}

static void sweep(void (*act)(scene *s))
{
    for (int lasting = 0; lasting < 2; lasting++) {
        long nth = 0;
        while (nth < NTH_MAX && !run_with_nth(act, nth, lasting == 1)) {
            nth++;
        }
        assert_in_range(nth, 1, NTH_MAX - 1); /* it did fail, and ended */
    }
}

static void opening_survives_its_nth_allocation_failing(void **state)
{
    (void)state;
    sweep(open_all);
}

static void subscribing_survives_its_nth_allocation_failing(void **state)
{
    (void)state;
    sweep(subscribe_all);
}

static void broadcasting_survives_its_nth_allocation_failing(void **state)
{
    (void)state;
    sweep(broadcast_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_survives_its_nth_allocation_failing),
        cmocka_unit_test(subscribing_survives_its_nth_allocation_failing),
        cmocka_unit_test(broadcasting_survives_its_nth_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
