/*
 * origin_test.c - the token that an event carries: what its handler sends inherits it, and however
 * an event ends, it lets go.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "origin_support.h"

enum { BYTES_MAX = 4096 };

/* ---- one event ---- */

static void an_event_holds_its_origin_until_it_is_handled_whatever_its_size(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 0, 1, 8, 15, 16, 17, 24, 25, 32, 33, 64, BYTES_MAX };
    unsigned char bytes[BYTES_MAX];
    scene s;
    actor a = { .act = NULL };
    scene_open(&s);
    const weir_processor to = add(&s, &a);
    scene_start(&s);
    memset(bytes, 3, sizeof(bytes));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const weir_event event = { .type = &weir_bytes_type,
                                   .data = sizes[i] > 0 ? bytes : NULL,
                                   .size = sizes[i] };
        a.sum = 0;
        assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, &event));
        assert_int_equal(1, token_held(&s.t));
        assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, &event));
        assert_int_equal(2, token_held(&s.t)); /* one lies alone, one in a page */
        scene_turn(&s);
        assert_int_equal(0, token_held(&s.t));
        assert_int_equal(2 * (i + 1), a.with_token);
        assert_int_equal(2 * 3 * sizes[i], a.sum);
    }
    assert_int_equal(0, test_engine_counters(s.engine).block_bytes);
    scene_close(&s);
}

static void an_event_without_one_comes_without_one_also_behind_one_with(void **state)
{
    (void)state;
    scene s;
    actor a = { .act = NULL };
    scene_open(&s);
    const weir_processor to = add(&s, &a);
    scene_start(&s);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
        assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, small()));
    }
    scene_turn(&s);
    assert_int_equal(6, a.handled);
    assert_int_equal(3, a.with_token);
    scene_close(&s);
}

static weir_status keep(actor *a, weir_turn *turn, const weir_event *event)
{
    return weir_event_keep(weir_turn_engine(turn), event, &a->kept);
}

static void a_shared_block_stays_the_users_and_what_is_kept_holds_no_origin(void **state)
{
    (void)state;
    scene s;
    actor a = { .act = keep };
    weir_block *block;
    scene_open(&s);
    const weir_processor to = add(&s, &a);
    scene_start(&s);
    assert_int_equal(WEIR_OK, weir_block_reserve(s.engine, 100, &block));
    memset(weir_block_data(block), 1, 100);
    const weir_event event = {
        .type = &weir_bytes_type, .data = weir_block_data(block), .size = 100, .block = block
    };
    assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, &event));
    scene_turn(&s);
    assert_ptr_equal(block, a.kept.block);
    assert_ptr_equal(weir_block_data(block), a.kept.data);
    assert_int_equal(1, a.with_token);
    assert_int_equal(0, token_held(&s.t));
    weir_event_release(&a.kept);
    assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, small())); /* and of a copy */
    scene_turn(&s);
    assert_int_equal(0, token_held(&s.t));
    weir_event_release(&a.kept);
    weir_block_release(block);
    assert_int_equal(0, test_engine_counters(s.engine).block_bytes);
    scene_close(&s);
}

static weir_status take(actor *a, weir_turn *turn, const weir_event *event)
{
    (void)event;
    a->taken = weir_turn_origin(turn);
    return WEIR_OK;
}

static void an_origin_that_was_taken_in_a_turn_is_held_until_it_is_released(void **state)
{
    (void)state;
    scene s;
    actor a = { .act = take };
    scene_open(&s);
    const weir_processor to = add(&s, &a);
    scene_start(&s);
    assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, small()));
    scene_turn(&s);
    assert_ptr_equal(&s.t.origin, a.taken);
    assert_int_equal(1, token_held(&s.t));
    weir_origin_release(a.taken);
    weir_origin_release(NULL);
    assert_null(weir_turn_origin(NULL));
    scene_close(&s);
}

/* ---- what is inherited ---- */

static weir_status forward(actor *a, weir_turn *turn, const weir_event *event)
{
    for (int i = 0; i < 4 && a->to[i].id != 0; i++) {
        a->status = weir_turn_post(turn, a->to[i], event);
    }
    return WEIR_OK;
}

static void what_a_handler_posts_inherits_and_all_of_it_must_end(void **state)
{
    (void)state;
    scene s;
    actor first = { .act = forward }, second = { .act = forward }, last = { .act = NULL };
    scene_open(&s);
    first.to[0] = first.to[1] = add(&s, &second);
    second.to[0] = second.to[1] = second.to[2] = add(&s, &last);
    const weir_processor to = add(&s, &first);
    scene_start(&s);
    assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, small()));
    assert_int_equal(1, weir_thread_run_once(s.engine, s.thread, 1));
    assert_int_equal(2, token_held(&s.t));
    scene_turn(&s);
    assert_int_equal(2, second.with_token);
    assert_int_equal(6, last.with_token);
    assert_int_equal(6 * 6, last.sum);
    assert_int_equal(0, token_held(&s.t));
    scene_close(&s);
}

/* Each of the ways to send, to a receiver of its own. */
static weir_status send_every_way(actor *a, weir_turn *turn, const weir_event *event)
{
    weir_engine *engine = weir_turn_engine(turn);
    const weir_processor many[3] = { a->to[0], a->to[0], a->to[0] };
    const weir_event *events[3] = { event, small(), event };
    weir_block *block;
    a->status = weir_turn_post_batch(turn, many, 3, events, 3, NULL) == 3 ? WEIR_OK : WEIR_FULL;
    a->status = a->status != WEIR_OK ? a->status : weir_engine_post(engine, a->to[0], event);
    if (weir_block_reserve(engine, 64, &block) != WEIR_OK) {
        return WEIR_OK;
    }
    memset(weir_block_data(block), 0, 64);
    const weir_event shared = {
        .type = &weir_bytes_type, .data = weir_block_data(block), .size = 64, .block = block
    };
    a->status = a->status != WEIR_OK ? a->status : weir_turn_commit(turn, a->to[0], &shared);
    weir_delivery delivery;
    a->status = a->status != WEIR_OK
                    ? a->status
                    : weir_turn_broadcast_many(turn, &a->channel, 1, event, &delivery);
    weir_status status;
    a->status = a->status != WEIR_OK ||
                        weir_turn_broadcast_batch(turn, a->channel, events, 2, NULL, &status) == 2
                    ? a->status
                    : status;
    return WEIR_OK;
}

static void every_way_to_send_inherits(void **state)
{
    (void)state;
    scene s;
    actor sender = { .act = send_every_way }, last = { .act = NULL };
    scene_open(&s);
    sender.to[0] = add(&s, &last);
    const weir_processor to = add(&s, &sender);
    sender.channel = weir_channel_open(s.engine, "news", NULL);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(s.engine, sender.channel, sender.to[0]));
    scene_start(&s);
    assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, small()));
    scene_turn(&s);
    assert_int_equal(WEIR_OK, sender.status);
    assert_int_equal(3 + 1 + 1 + 1 + 2, last.handled);
    assert_int_equal(last.handled, last.with_token);
    assert_int_equal(0, token_held(&s.t));
    assert_int_equal(0, test_engine_counters(s.engine).block_bytes);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_holds_its_origin_until_it_is_handled_whatever_its_size),
        cmocka_unit_test(an_event_without_one_comes_without_one_also_behind_one_with),
        cmocka_unit_test(a_shared_block_stays_the_users_and_what_is_kept_holds_no_origin),
        cmocka_unit_test(an_origin_that_was_taken_in_a_turn_is_held_until_it_is_released),
        cmocka_unit_test(what_a_handler_posts_inherits_and_all_of_it_must_end),
        cmocka_unit_test(every_way_to_send_inherits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
