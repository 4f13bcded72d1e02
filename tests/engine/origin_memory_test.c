/*
 * origin_memory_test.c - memory that runs out at any moment: what could not be sent holds nothing,
 * what was sent lets go when it ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fault_support.h"
#include "origin_support.h"

#include <weir/flow.h>

enum { SENDS = 8, NTH_MAX = 80 };

typedef struct sender {
    actor a; /* first */
    weir_router router;
    weir_status statuses[SENDS];
} sender;

static const weir_event *sized(uint32_t size)
{
    static const unsigned char bytes[8192] = { 1 };
    static weir_event events[3];
    weir_event *event = &events[size <= 16 ? 0 : size <= 64 ? 1 : 2];
    *event = (weir_event){ .type = &weir_bytes_type, .data = bytes, .size = size };
    return event;
}

/* Whatever it may need memory for: envelopes, pages, blocks of two sizes, a flow, a question. */
static weir_status send_all(actor *a, weir_turn *turn, const weir_event *event)
{
    sender *s = (sender *)(void *)a;
    const weir_event *events[3] = { sized(16), sized(64), sized(8192) };
    (void)event;
    if (a->handled > 1) {
        return WEIR_OK; /* the answer, or the timeout */
    }
    s->statuses[0] = weir_turn_post(turn, a->to[0], sized(16));
    s->statuses[1] = weir_turn_post(turn, a->to[1], sized(64));
    s->statuses[2] = weir_turn_post(turn, a->to[1], sized(8192));
    s->statuses[3] = weir_turn_broadcast(turn, a->channel, sized(64));
    s->statuses[4] = weir_turn_submit(turn, s->router, 1, sized(64));
    s->statuses[5] = weir_turn_submit(turn, s->router, 2, sized(16));
    s->statuses[6] = weir_turn_ask(turn, a->to[1], sized(64), WEIR_ASK(.timeout = WEIR_MS));
    s->statuses[7] =
        weir_turn_post_batch(turn, a->to, 1, events, 3, NULL) == 3 ? WEIR_OK : WEIR_E_NOMEM;
    return WEIR_OK;
}

static weir_status ignore(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

/* Returns whether the nth allocation was reached. */
static bool play(long nth, bool lasting)
{
    test_fault fault;
    test_fault_init(&fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
    scene s = { .engine = test_engine_create(
                    WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .allocator = &allocator)) };
    sender from = { .a = { .act = send_all } };
    actor to[2] = { { .act = NULL }, { .act = NULL } };
    s.thread = test_thread_add(s.engine, WEIR_THREAD(.name = "hand", .external = true));
    token_open(&s.t);
    from.a.to[0] = add(&s, &to[0]);
    from.a.to[1] = add(&s, &to[1]);
    from.a.channel = weir_channel_open(s.engine, "news", NULL);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(s.engine, from.a.channel, from.a.to[0]));
    from.router =
        weir_router_add(s.engine, WEIR_ROUTER(.name = "r", .handler = ignore, .workers = 1), NULL);
    const weir_processor first = add(&s, &from.a);
    scene_start(&s);
    test_fault_arm(&fault, nth, lasting);
    const weir_status status = token_post(s.engine, &s.t, first, sized(64));
    scene_turn(&s);
    const bool reached = test_fault_disarm(&fault) > 0;
    if (status == WEIR_OK && from.statuses[6] == WEIR_OK) {
        TEST_UNTIL((weir_thread_run_once(s.engine, s.thread, 0), from.a.handled >= 2));
    }
    scene_turn(&s);
    for (int i = 0; !reached && i < SENDS; i++) {
        assert_int_equal(WEIR_OK, from.statuses[i]);
    }
    assert_int_equal(0, token_held(&s.t));
    assert_int_equal(0, test_engine_counters(s.engine).block_bytes);
    scene_close(&s);
    assert_int_equal(0, atomic_load(&fault.wrong));
    assert_int_equal(0, atomic_load(&fault.bytes));
    return reached;
}

static void whatever_allocation_fails_nothing_is_held_in_the_end(void **state)
{
    (void)state;
    long nth = 0;
    while (nth < NTH_MAX && play(nth, false)) {
        nth++;
    }
    assert_true(nth > 3 && nth < NTH_MAX); /* some were refused, and then there were no more */
}

static void whenever_memory_ends_nothing_is_held_in_the_end(void **state)
{
    (void)state;
    long nth = 0;
    while (nth < NTH_MAX && play(nth, true)) {
        nth++;
    }
    assert_true(nth > 3 && nth < NTH_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_allocation_fails_nothing_is_held_in_the_end),
        cmocka_unit_test(whenever_memory_ends_nothing_is_held_in_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
