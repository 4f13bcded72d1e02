/*
 * origin_ends_test.c - every way an event can end lets go of its origin; what waits, or comes
 * again, holds it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "origin_support.h"

static weir_processor add_with(scene *s, actor *a, weir_processor_options options)
{
    a->on = s;
    options.struct_size = sizeof(options);
    options.handler = actor_handle;
    options.argument = a;
    return test_processor_add(s->engine, &options);
}

/* 64 bytes in a block; small() lies in the envelope. */
static const weir_event *large(void)
{
    static const unsigned char bytes[64] = { 1 };
    static const weir_event event = { .type = &weir_bytes_type, .data = bytes, .size = 64 };
    return &event;
}

/* ---- refused ---- */

static void what_is_refused_lets_go_at_once(void **state)
{
    (void)state;
    static const weir_event_type odd = { sizeof(odd), "test.odd", 4, false, NULL, NULL };
    const weir_event wrong = { .type = &odd, .data = "12345678", .size = 8 };
    scene s;
    actor a = { .act = NULL };
    scene_open(&s);
    const weir_processor to = add_with(&s, &a, (weir_processor_options){ .mailbox_max = 2 });
    scene_start(&s);
    assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, small()));
    assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, large()));
    assert_int_equal(WEIR_FULL, token_post(s.engine, &s.t, to, small()));
    assert_int_equal(WEIR_FULL, token_post(s.engine, &s.t, to, large()));
    assert_int_equal(WEIR_E_TYPE, token_post(s.engine, &s.t, to, &wrong));
    assert_int_equal(WEIR_E_INVALID, token_post(s.engine, &s.t, to, NULL));
    assert_int_equal(WEIR_UNKNOWN,
                     token_post(s.engine, &s.t, (weir_processor){ to.id + 1 }, small()));
    assert_int_equal(2, token_held(&s.t));
    const weir_processor both[2] = { to, { to.id + 1 } };
    const weir_event *events[2] = { large(), small() };
    token_enter(s.engine, &s.t);
    assert_int_equal(0, weir_engine_post_batch(s.engine, both, 2, events, 2, NULL));
    token_leave(s.engine);
    assert_int_equal(2, token_held(&s.t));
    scene_turn(&s);
    assert_int_equal(2, a.with_token);
    scene_close(&s);
}

static void what_a_policy_drops_lets_go(void **state)
{
    (void)state;
    static const weir_overflow policies[] = { WEIR_OVERFLOW_DROP_NEWEST,
                                              WEIR_OVERFLOW_DROP_OLDEST };
    for (size_t p = 0; p < 2; p++) {
        scene s;
        actor a = { .act = NULL };
        scene_open(&s);
        const weir_processor to =
            add_with(&s, &a, (weir_processor_options){ .mailbox_max = 2, .overflow = policies[p] });
        scene_start(&s);
        for (int i = 0; i < 10; i++) {
            const weir_status status =
                token_post(s.engine, &s.t, to, i % 2 == 0 ? small() : large());
            assert_true(status == WEIR_OK || (p == 0 && i >= 2 && status == WEIR_DROPPED));
            assert_int_equal(i == 0 ? 1 : 2, token_held(&s.t));
        }
        /* Evicted by one that has none. */
        assert_true(weir_engine_post(s.engine, to, small()) >= 0);
        assert_int_equal(p == 0 ? 2 : 1, token_held(&s.t));
        scene_turn(&s);
        assert_int_equal(2, a.handled);
        scene_close(&s);
    }
}

/* Its last reference goes with an eviction: it may do what it likes then. */
typedef struct speaker {
    token t; /* first */
    weir_engine *engine;
    weir_channel channel;
    weir_status status;
} speaker;

static void speak(weir_origin *origin)
{
    speaker *who = (speaker *)(void *)origin;
    token_ended(origin);
    who->status = weir_engine_broadcast(who->engine, who->channel, small(), NULL);
}

static void what_a_broadcast_evicts_ends_when_no_lock_is_held(void **state)
{
    (void)state;
    scene s;
    actor a = { .act = NULL };
    speaker who = { .status = WEIR_E_USER };
    scene_open(&s);
    const weir_processor to = add_with(
        &s, &a,
        (weir_processor_options){ .mailbox_max = 1, .overflow = WEIR_OVERFLOW_DROP_OLDEST });
    who.engine = s.engine;
    who.channel = weir_channel_open(s.engine, "news", NULL);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(s.engine, who.channel, to));
    scene_start(&s);
    weir__origin_open(&who.t.origin, speak);
    atomic_init(&who.t.ended, 0);
    assert_int_equal(WEIR_OK, token_post(s.engine, &who.t, to, small()));
    weir__origin_release(&who.t.origin); /* the event has the last one */
    assert_int_equal(0, atomic_load(&who.t.ended));
    assert_int_equal(WEIR_OK, weir_engine_broadcast(s.engine, who.channel, large(), NULL));
    assert_int_equal(1, atomic_load(&who.t.ended));
    assert_int_equal(WEIR_OK, who.status);
    scene_turn(&s);
    scene_close(&s);
}

static void members_that_refuse_a_broadcast_hold_nothing_of_it(void **state)
{
    (void)state;
    scene s;
    actor full = { .act = NULL }, free_one = { .act = NULL };
    weir_delivery delivery;
    scene_open(&s);
    const weir_channel channel = weir_channel_open(s.engine, "news", NULL);
    const weir_processor first = add_with(&s, &full, (weir_processor_options){ .mailbox_max = 1 });
    const weir_processor second = add_with(&s, &free_one, (weir_processor_options){ .name = NULL });
    assert_int_equal(WEIR_OK, weir_channel_subscribe(s.engine, channel, first));
    assert_int_equal(WEIR_OK, weir_channel_subscribe(s.engine, channel, second));
    scene_start(&s);
    token_enter(s.engine, &s.t);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(WEIR_OK, weir_engine_broadcast(s.engine, channel,
                                                        i % 2 == 0 ? small() : large(), &delivery));
        assert_int_equal(i == 0 ? 2 : 1, delivery.delivered);
        assert_int_equal(i + 2, token_held(&s.t));
    }
    token_leave(s.engine);
    scene_turn(&s);
    assert_int_equal(1, full.with_token);
    assert_int_equal(4, free_one.with_token);
    assert_int_equal(0, token_held(&s.t));
    scene_close(&s);
}

/* ---- dead ---- */

static weir_status answer_so(actor *a, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    return a->status;
}

static void a_dead_event_lets_go_although_its_letter_is_kept(void **state)
{
    (void)state;
    scene s;
    actor a = { .act = answer_so, .status = WEIR_E_USER };
    weir_dead_letter letter = { .struct_size = sizeof(letter) };
    scene_open(&s);
    const weir_processor to = add(&s, &a);
    scene_start(&s);
    assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, small()));
    assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, large()));
    scene_turn(&s);
    assert_int_equal(2, a.with_token);
    assert_int_equal(1, weir_dead_letter_read(s.engine, 1, &letter, 1));
    assert_int_equal(64, letter.size);
    assert_int_equal(0, token_held(&s.t));
    a.status = WEIR_UNHANDLED;
    assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, small()));
    scene_turn(&s);
    assert_int_equal(0, token_held(&s.t));
    scene_close(&s);
}

static void what_waits_for_a_processor_that_fails_for_good_lets_go(void **state)
{
    (void)state;
    scene s;
    actor a = { .act = answer_so, .status = WEIR_E_USER };
    scene_open(&s);
    const weir_processor to = add_with(&s, &a, (weir_processor_options){ .on_failure = WEIR_STOP });
    scene_start(&s);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, i % 2 == 0 ? small() : large()));
    }
    scene_turn(&s);
    assert_int_equal(1, a.handled);
    assert_int_equal(0, token_held(&s.t));
    scene_close(&s);
}

static weir_status init_posts(void *state, weir_turn *turn, void *argument)
{
    actor *a = argument;
    *(actor **)state = a;
    weir_origin *origin = weir_turn_origin(turn);
    a->timeouts += origin != NULL; /* of inits */
    weir_origin_release(origin);
    return a->to[0].id != 0 ? weir_turn_post(turn, a->to[0], small()) : WEIR_OK;
}

static weir_status handle_by_state(void *state, weir_turn *turn, const weir_event *event)
{
    return actor_handle(*(actor **)state, turn, event);
}

static void an_init_after_a_failure_has_no_origin(void **state)
{
    (void)state;
    scene s;
    actor a = { .act = answer_so, .status = WEIR_E_USER }, last = { .act = NULL };
    scene_open(&s);
    a.to[0] = add(&s, &last);
    const weir_processor to = test_processor_add(
        s.engine,
        WEIR_PROCESSOR(.handler = handle_by_state, .argument = &a, .state_size = sizeof(actor *),
                       .init = init_posts, .on_failure = WEIR_RESTART));
    scene_start(&s);
    assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, small()));
    scene_turn(&s);
    assert_int_equal(1, a.with_token);
    assert_int_equal(0, a.timeouts);
    assert_int_equal(2, last.handled); /* of the first init, and of the second */
    assert_int_equal(0, last.with_token);
    assert_int_equal(0, token_held(&s.t));
    scene_close(&s);
}

static weir_status fail_twice(actor *a, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    return a->handled <= 2 ? WEIR_E_USER : a->status;
}

/* Turns until the processor has handled so many. */
static void turn_until(const scene *s, const actor *a, uint64_t handled)
{
    const weir_ns end = test_now() + TEST_PATIENCE;
    while (a->handled < handled) {
        assert_true(test_now() < end);
        (void)weir_thread_run_once(s->engine, s->thread, 0);
        (void)sched_yield();
    }
}

static void an_event_that_is_tried_again_holds_until_its_last_try(void **state)
{
    (void)state;
    for (int dies = 0; dies < 2; dies++) {
        scene s;
        actor a = { .act = fail_twice, .status = dies != 0 ? WEIR_E_USER : WEIR_OK };
        actor other = { .act = NULL };
        scene_open(&s);
        const weir_processor beside = add(&s, &other);
        const weir_processor to =
            add_with(&s, &a,
                     (weir_processor_options){
                         .on_failure = WEIR_RETRY, .retry_max = 2, .retry_delay = WEIR_MS });
        scene_start(&s);
        assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, dies != 0 ? large() : small()));
        for (uint64_t tries = 1; tries <= 2; tries++) {
            turn_until(&s, &a, tries);
            assert_int_equal(a.handled < 3 ? 1 : 0, token_held(&s.t));
            /* It is not at hand meanwhile. */
            assert_int_equal(WEIR_OK, weir_engine_post(s.engine, beside, small()));
            turn_until(&s, &other, tries);
            assert_int_equal(0, other.with_token);
        }
        turn_until(&s, &a, 3);
        scene_turn(&s);
        assert_int_equal(0, token_held(&s.t));
        assert_int_equal(3, a.with_token);
        scene_close(&s);
    }
}

/* ---- the end of a processor ---- */

static void a_stop_that_drains_lets_go_of_all(void **state)
{
    (void)state;
    scene s;
    actor a = { .act = NULL };
    scene_open(&s);
    const weir_processor to = add(&s, &a);
    scene_start(&s);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, i % 2 == 0 ? small() : large()));
    }
    assert_int_equal(WEIR_OK, weir_processor_stop_async(s.engine, to, WEIR_S));
    assert_int_equal(WEIR_STOPPING, token_post(s.engine, &s.t, to, small()));
    scene_turn(&s);
    assert_int_equal(5, a.with_token);
    assert_int_equal(0, token_held(&s.t));
    scene_close(&s);
}

static weir_status hold_thread(void *state, weir_turn *turn, const weir_event *event)
{
    sem_t *gates = state;
    (void)turn;
    (void)event;
    (void)sem_post(&gates[0]);
    return test_sem_taken(&gates[1]) ? WEIR_OK : WEIR_E_USER;
}

static void what_a_stop_without_patience_leaves_lets_go_while_the_engine_runs(void **state)
{
    (void)state;
    sem_t gates[2];
    token t;
    assert_int_equal(0, sem_init(&gates[0], 0, 0));
    assert_int_equal(0, sem_init(&gates[1], 0, 0));
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = hold_thread, .argument = gates));
    token_open(&t);
    test_engine_start(engine);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, token_post(engine, &t, to, small()));
    }
    test_sem_wait(&gates[0]);
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(engine, to, WEIR_MS, NULL));
    assert_true(token_held(&t) >= 1);
    assert_int_equal(0, sem_post(&gates[1]));
    TEST_UNTIL(token_held(&t) == 0);
    (void)weir_engine_stop(engine, 10 * WEIR_S, NULL);
    weir_engine_destroy(engine);
    token_close(&t);
}

/* ---- what does not inherit ---- */

static weir_status set_timers(actor *a, weir_turn *turn, const weir_event *event)
{
    if (a->handled > 1) {
        return WEIR_OK;
    }
    a->status = weir_turn_trigger_after(turn, WEIR_NOW, event, 7);
    if (a->status == WEIR_OK) {
        a->status = weir_timer_add(weir_turn_engine(turn), weir_turn_self(turn), large(),
                                   WEIR_TIMER(.after = WEIR_NOW), NULL);
    }
    return WEIR_OK;
}

static void timers_do_not_inherit(void **state)
{
    (void)state;
    scene s;
    actor a = { .act = set_timers };
    scene_open(&s);
    const weir_processor to = add(&s, &a);
    scene_start(&s);
    assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, small()));
    turn_until(&s, &a, 3);
    assert_int_equal(WEIR_OK, a.status);
    assert_int_equal(1, a.with_token);
    assert_int_equal(0, token_held(&s.t));
    scene_close(&s);
}

static weir_status ask_to_become(actor *a, weir_turn *turn, const weir_event *event)
{
    (void)event;
    a->status = weir_processor_request_become(weir_turn_engine(turn), a->to[0], actor_handle, true);
    a->channel = weir_channel_open(weir_turn_engine(turn), "news", NULL);
    a->status = a->status != WEIR_OK ? a->status
                                     : weir_channel_request_change(weir_turn_engine(turn), a->to[0],
                                                                   WEIR_SUBSCRIBE, &a->channel, 1);
    return WEIR_OK;
}

static void requests_to_weir_itself_do_not_inherit(void **state)
{
    (void)state;
    scene s;
    actor a = { .act = ask_to_become }, other = { .act = NULL };
    scene_open(&s);
    a.to[0] = add(&s, &other);
    const weir_processor to = add(&s, &a);
    scene_start(&s);
    assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, small()));
    assert_int_equal(1, weir_thread_run_once(s.engine, s.thread, 1));
    assert_int_equal(WEIR_OK, a.status);
    assert_int_equal(0, token_held(&s.t));
    scene_turn(&s);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_refused_lets_go_at_once),
        cmocka_unit_test(what_a_policy_drops_lets_go),
        cmocka_unit_test(what_a_broadcast_evicts_ends_when_no_lock_is_held),
        cmocka_unit_test(members_that_refuse_a_broadcast_hold_nothing_of_it),
        cmocka_unit_test(a_dead_event_lets_go_although_its_letter_is_kept),
        cmocka_unit_test(what_waits_for_a_processor_that_fails_for_good_lets_go),
        cmocka_unit_test(an_init_after_a_failure_has_no_origin),
        cmocka_unit_test(an_event_that_is_tried_again_holds_until_its_last_try),
        cmocka_unit_test(a_stop_that_drains_lets_go_of_all),
        cmocka_unit_test(what_a_stop_without_patience_leaves_lets_go_while_the_engine_runs),
        cmocka_unit_test(timers_do_not_inherit),
        cmocka_unit_test(requests_to_weir_itself_do_not_inherit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
