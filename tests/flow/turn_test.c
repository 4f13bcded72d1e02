/*
 * turn_test.c - what a flow's handler can do, and what it cannot: it has no address, so that what
 * would come back to it is E_INVALID; what it posts and submits is of its flow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_support.h"

typedef struct forwarded {
    uint64_t flow;
    uint64_t sender;
    uint32_t flags;
    uint64_t value;
} forwarded;

enum { SEEN_MAX = 32 };

/* What the handler under test is to do, and what came of it. */
typedef struct play {
    weir_engine *engine;
    weir_router router, other;
    weir_processor sink, full;
    weir_channel channel;
    void (*act)(weir_turn *turn, const weir_event *event);
    weir_status statuses[SEEN_MAX];
    size_t count;
    uint64_t self;
    forwarded seen[SEEN_MAX]; /* by the sink, or the other router */
    atomic_uint_least64_t seen_count;
    sem_t done;
} play;

static play p;

static void note(weir_status status)
{
    p.statuses[p.count++] = status;
}

static weir_status act(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    p.self = weir_turn_self(turn).id;
    p.act(turn, event);
    (void)sem_post(&p.done);
    return WEIR_OK;
}

static weir_status see(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    const step *s = weir_event_as(event, &step_type);
    const uint64_t at = atomic_load(&p.seen_count);
    if (at < SEEN_MAX) {
        p.seen[at] = (forwarded){ event->flow, event->from.sender.id, event->flags,
                                  s != NULL ? s->value : 0 };
    }
    atomic_store(&p.seen_count, at + 1);
    return WEIR_OK;
}

static weir_status never_handles(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    abort();
}

static void play_open(void (*what)(weir_turn *, const weir_event *))
{
    weir_error error = WEIR_ERROR_INIT;
    memset(&p, 0, sizeof(p));
    assert_int_equal(0, sem_init(&p.done, 0, 0));
    p.act = what;
    p.engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    p.router = flow_router_add(p.engine, WEIR_ROUTER(.name = "play", .handler = act, .workers = 1));
    p.other = flow_router_add(p.engine, WEIR_ROUTER(.name = "other", .handler = see, .workers = 1));
    p.sink = test_processor_add(p.engine, WEIR_PROCESSOR(.handler = see));
    p.channel = weir_channel_open(p.engine, "news", &error);
    test_error_none(&error);
    test_engine_start(p.engine);
}

static void play_once(uint64_t flow, uint32_t flags)
{
    const step what = { .value = 1 };
    const weir_event event = {
        .type = &step_type, .data = &what, .size = sizeof(what), .flags = flags
    };
    p.count = 0;
    assert_int_equal(WEIR_OK, weir_router_submit(p.engine, p.router, flow, &event));
    test_sem_wait(&p.done);
}

static void play_close(void)
{
    (void)test_engine_end(p.engine);
}

/* ---- what it cannot ---- */

static const weir_case no_rows[] = { { &step_type, never_handles } };

static void ask_for_all_that_comes_back(weir_turn *turn, const weir_event *event)
{
    static const weir_cases cases = WEIR_CASES(no_rows);
    const weir_event plain = { .type = event->type, .data = event->data, .size = event->size };
    note(weir_turn_ask(turn, p.sink, &plain, NULL));
    note(weir_turn_ask(turn, p.sink, &plain, WEIR_ASK(.timeout = WEIR_NOW)));
    note(weir_turn_watch(turn, p.sink, 1));
    note(weir_turn_unwatch(turn, p.sink));
    note(weir_turn_want_room(turn, p.sink, 1));
    note(weir_turn_trigger_after(turn, WEIR_NOW, &plain, 1));
    note(weir_turn_trigger_after(turn, WEIR_MS, &plain, 1));
    note(weir_turn_become(turn, never_handles, true));
    note(weir_turn_become(turn, never_handles, false));
    note(weir_turn_become_cases(turn, &cases, false));
    note(weir_turn_unbecome(turn));
}

static void assert_all_invalid(size_t count)
{
    assert_int_equal(count, p.count);
    for (size_t i = 0; i < count; i++) {
        if (p.statuses[i] != WEIR_E_INVALID) {
            fprintf(stderr, "# call %zu\n", i);
        }
        assert_int_equal(WEIR_E_INVALID, p.statuses[i]);
    }
}

static void what_would_come_back_to_a_flow_is_invalid(void **state)
{
    (void)state;
    play_open(ask_for_all_that_comes_back);
    play_once(1, 0);
    assert_int_equal(0, p.self);
    assert_all_invalid(11);
    play_once(0, 0); /* without a flow, too: it is a worker's turn all the same */
    assert_int_equal(0, p.self);
    assert_all_invalid(11);
    play_once(1, 0); /* nothing was changed: it is still handled here */
    const weir_counters c = test_engine_counters(p.engine);
    assert_int_equal(0, c.rooms);
    assert_int_equal(0, atomic_load(&p.seen_count));
    play_close();
}

static weir_status init_asks(void *state, weir_turn *turn, void *argument)
{
    (void)state;
    (void)argument;
    ask_for_all_that_comes_back(turn, WEIR_EVENT(step, .value = 1));
    p.self = weir_turn_self(turn).id;
    return WEIR_OK;
}

static void so_it_is_in_an_init(void **state)
{
    (void)state;
    play_open(ask_for_all_that_comes_back);
    const weir_router router = flow_router_add(
        p.engine, WEIR_ROUTER(.name = "init", .handler = see, .init = init_asks, .workers = 1));
    assert_int_equal(WEIR_OK,
                     weir_router_submit(p.engine, router, 1, WEIR_EVENT(step, .value = 2)));
    TEST_UNTIL(atomic_load(&p.seen_count) == 1);
    assert_int_equal(0, p.self);
    assert_all_invalid(11);
    play_close();
}

/* The turns of a processor after a flow's, on the same thread, are its own again. */
static weir_status ask_oneself(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    if (weir_event_as(event, &number_type) != NULL) {
        note(weir_turn_trigger_after(turn, WEIR_NOW, WEIR_EVENT(step, .value = 5), 7));
        note(weir_turn_finish(turn));
        p.self = weir_turn_self(turn).id;
    } else {
        note(event->tag == 7 ? WEIR_OK : WEIR_E_FAILED);
        note(weir_turn_flow_key(turn, NULL) == NULL ? WEIR_OK : WEIR_E_FAILED);
        (void)sem_post(&p.done);
    }
    return WEIR_OK;
}

static void a_processor_is_not_touched_by_that(void **state)
{
    (void)state;
    play_open(ask_for_all_that_comes_back);
    const weir_processor own = test_processor_add(p.engine, WEIR_PROCESSOR(.handler = ask_oneself));
    play_once(1, 0);
    p.count = 0;
    assert_int_equal(WEIR_OK, test_post(p.engine, own, 1));
    test_sem_wait(&p.done);
    assert_int_equal(own.id, p.self);
    assert_int_equal(4, p.count);
    assert_int_equal(WEIR_OK, p.statuses[0]);
    assert_int_equal(WEIR_E_INVALID, p.statuses[1]); /* no flow is at hand */
    assert_int_equal(WEIR_OK, p.statuses[2]);
    assert_int_equal(WEIR_OK, p.statuses[3]);
    play_close();
}

/* ---- what it posts ---- */

static void post_in_every_way(weir_turn *turn, const weir_event *event)
{
    const step what = { .value = 1 };
    weir_event out = { .type = &step_type, .data = &what, .size = sizeof(what) };
    const weir_event *batch[] = { &out };
    weir_block *block = NULL;
    (void)event;
    note(weir_turn_post(turn, p.sink, &out));
    note(weir_turn_post_batch(turn, &p.sink, 1, batch, 1, NULL) == 1 ? WEIR_OK : WEIR_FULL);
    out.flags = WEIR_EVENT_NO_FLOW;
    note(weir_turn_post(turn, p.sink, &out));
    out.flags = WEIR_EVENT_FINISH; /* as the sender wrote it: of no meaning to a processor */
    out.flow = 77;
    note(weir_turn_post(turn, p.sink, &out));
    out.flags = 0;
    out.flow = 0;
    note(weir_block_reserve(p.engine, sizeof(what), &block));
    memcpy(weir_block_data(block), &what, sizeof(what));
    out.block = block;
    out.data = weir_block_data(block);
    note(weir_turn_commit(turn, p.sink, &out));
}

static void what_a_flow_posts_is_of_its_flow_and_has_no_sender(void **state)
{
    (void)state;
    static const uint64_t flows[] = { 42, 42, 0, 77, 42 };
    play_open(post_in_every_way);
    play_once(42, 0);
    TEST_UNTIL(atomic_load(&p.seen_count) == 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(flows[i], p.seen[i].flow);
        assert_int_equal(0, p.seen[i].sender);
    }
    for (size_t i = 0; i < p.count; i++) {
        assert_int_equal(WEIR_OK, p.statuses[i]);
    }
    assert_int_equal(WEIR_EVENT_FINISH, p.seen[3].flags & WEIR_EVENT_FINISH);
    play_once(0, 0); /* no flow: nothing to inherit */
    TEST_UNTIL(atomic_load(&p.seen_count) == 10);
    assert_int_equal(0, p.seen[5].flow);
    assert_int_equal(77, p.seen[8].flow);
    play_close();
}

static void submit_in_every_way(weir_turn *turn, const weir_event *event)
{
    const step what = { .value = 1 };
    weir_event out = { .type = &step_type, .data = &what, .size = sizeof(what) };
    (void)event;
    note(weir_turn_submit(turn, p.other, 0, &out));
    note(weir_turn_submit(turn, p.other, 7, &out));
    out.flags = WEIR_EVENT_NO_FLOW;
    note(weir_turn_submit(turn, p.other, 0, &out));
    note(weir_turn_submit(turn, (weir_router){ 0 }, 0, &out));
    note(weir_turn_submit(turn, p.other, 0, NULL));
}

static void what_a_flow_submits_is_of_its_flow_unless_it_says_otherwise(void **state)
{
    (void)state;
    play_open(submit_in_every_way);
    play_once(42, 0);
    TEST_UNTIL(atomic_load(&p.seen_count) == 3);
    assert_int_equal(42, p.seen[0].flow);
    assert_int_equal(7, p.seen[1].flow);
    assert_int_equal(0, p.seen[2].flow);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, p.statuses[i]);
        assert_int_equal(0, p.seen[i].sender);
    }
    assert_int_equal(WEIR_UNKNOWN, p.statuses[3]);
    assert_int_equal(WEIR_E_INVALID, p.statuses[4]);
    assert_int_equal(1, flow_counters(p.engine, p.other, 42).submitted);
    play_close();
}

/* From a flow's handler over a processor into a router: the flow goes along. */
static weir_status pass_on(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    const weir_event out = { .type = event->type, .data = event->data, .size = event->size };
    note(weir_turn_submit(turn, p.other, 0, &out));
    return WEIR_OK;
}

static void post_to_the_sink(weir_turn *turn, const weir_event *event)
{
    const weir_event out = { .type = event->type, .data = event->data, .size = event->size };
    note(weir_turn_post(turn, p.sink, &out));
}

static void a_flow_travels_over_a_processor_into_the_next_router(void **state)
{
    (void)state;
    play_open(post_to_the_sink);
    p.sink = test_processor_add(p.engine, WEIR_PROCESSOR(.handler = pass_on));
    play_once(42, 0);
    TEST_UNTIL(atomic_load(&p.seen_count) == 1);
    assert_int_equal(42, p.seen[0].flow);
    assert_true(p.seen[0].sender != 0); /* this time a processor sent it */
    assert_int_equal(1, flow_counters(p.engine, p.other, 42).submitted);
    play_close();
}

static void broadcast(weir_turn *turn, const weir_event *event)
{
    const weir_event out = { .type = event->type, .data = event->data, .size = event->size };
    note(weir_turn_broadcast(turn, p.channel, &out));
}

static void what_nobody_takes_of_a_broadcast_does_not_come_back(void **state)
{
    (void)state;
    static test_recorder full;
    test_recorder_init(&full, true);
    play_open(broadcast);
    p.full = test_processor_add(p.engine,
                                WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &full,
                                               .mailbox_max = 1, .dedicated = true));
    assert_int_equal(WEIR_OK, weir_channel_subscribe(p.engine, p.channel, p.full));
    assert_int_equal(WEIR_OK, test_post(p.engine, p.full, 1));
    test_sem_wait(&full.entered);
    assert_int_equal(WEIR_OK, test_post(p.engine, p.full, 2)); /* waits: it is full */
    play_once(1, 0);
    assert_int_equal(WEIR_OK, p.statuses[0]);
    TEST_UNTIL(router_counters(p.engine, p.router).depth == 0);
    const weir_router_counters c = router_counters(p.engine, p.router);
    assert_int_equal(1, c.submitted);
    assert_int_equal(1, c.handled);
    assert_int_equal(0, test_engine_counters(p.engine).unhandled);
    test_recorder_pass(&full, 2);
    play_close();
}

/* ---- what it sees ---- */

static void look_at_flags(weir_turn *turn, const weir_event *event)
{
    p.seen[0] = (forwarded){ event->flow, event->from.sender.id, event->flags, event->tag };
    note(weir_turn_flow_key(turn, NULL) == NULL ? WEIR_OK : WEIR_E_FAILED);
}

static void a_handler_sees_flow_and_flags_as_the_sender_wrote_them(void **state)
{
    (void)state;
    static const uint32_t flags[] = { 0, WEIR_EVENT_FINISH, WEIR_EVENT_NO_FLOW,
                                      WEIR_EVENT_FINISH | WEIR_EVENT_NO_FLOW };
    play_open(look_at_flags);
    for (size_t i = 0; i < 4; i++) {
        play_once(UINT64_MAX, flags[i]);
        assert_int_equal(flags[i], p.seen[0].flags);
        assert_true(p.seen[0].flow == UINT64_MAX);
        assert_int_equal(0, p.seen[0].sender);
        assert_int_equal(0, p.seen[0].value);
        assert_int_equal(WEIR_OK, p.statuses[0]); /* keys are numbers: there are no bytes */
        play_once(0, flags[i]);
        assert_int_equal(flags[i], p.seen[0].flags);
        assert_int_equal(0, p.seen[0].flow);
    }
    play_close();
}

static weir_status submit_as_processor(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    const weir_event out = { .type = event->type, .data = event->data, .size = event->size };
    note(weir_turn_submit(turn, p.router, 5, &out));
    return WEIR_OK;
}

static void a_flow_sees_the_processor_that_submitted(void **state)
{
    (void)state;
    play_open(look_at_flags);
    const weir_processor sender =
        test_processor_add(p.engine, WEIR_PROCESSOR(.handler = submit_as_processor));
    assert_int_equal(WEIR_OK, test_post(p.engine, sender, 1));
    test_sem_wait(&p.done);
    assert_int_equal(sender.id, p.seen[0].sender);
    assert_int_equal(5, p.seen[0].flow);
    play_close();
}

static void reply_to_sender(weir_turn *turn, const weir_event *event)
{
    const weir_event out = { .type = event->type, .data = event->data, .size = event->size };
    note(weir_turn_reply(turn, event->from, &out));
    note(weir_router_stop(weir_turn_engine(turn), p.router, WEIR_S, NULL));
}

static void a_reply_finds_the_sender_and_what_blocks_is_refused(void **state)
{
    (void)state;
    play_open(reply_to_sender);
    play_once(1, 0);
    assert_int_equal(WEIR_UNKNOWN, p.statuses[0]); /* an ordinary thread */
    assert_int_equal(WEIR_E_BLOCKING, p.statuses[1]);
    play_close();
}

/* Somebody who posts to a worker itself has guessed its handle: no handler of a flow sees that. */
static void a_post_to_a_worker_itself_is_not_handled_by_a_flow(void **state)
{
    (void)state;
    play_open(look_at_flags);
    const weir_processor worker = worker_counters(p.engine, p.router, 0).processor;
    assert_true(worker.id != 0);
    assert_int_equal(WEIR_OK, test_post(p.engine, worker, 1));
    const weir_event forged = { .type = &number_type,
                                .data = &(number){ 1 },
                                .size = sizeof(number),
                                .flags = UINT32_MAX,
                                .flow = UINT64_MAX };
    const weir_status status = weir_engine_post(p.engine, worker, &forged);
    TEST_UNTIL(router_counters(p.engine, p.router).depth == 0);
    play_once(1, 0);
    assert_true(status == WEIR_OK || status == WEIR_E_INVALID);
    assert_int_equal(1, router_counters(p.engine, p.router).submitted);
    play_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_would_come_back_to_a_flow_is_invalid),
        cmocka_unit_test(so_it_is_in_an_init),
        cmocka_unit_test(a_processor_is_not_touched_by_that),
        cmocka_unit_test(what_a_flow_posts_is_of_its_flow_and_has_no_sender),
        cmocka_unit_test(what_a_flow_submits_is_of_its_flow_unless_it_says_otherwise),
        cmocka_unit_test(a_flow_travels_over_a_processor_into_the_next_router),
        cmocka_unit_test(what_nobody_takes_of_a_broadcast_does_not_come_back),
        cmocka_unit_test(a_handler_sees_flow_and_flags_as_the_sender_wrote_them),
        cmocka_unit_test(a_flow_sees_the_processor_that_submitted),
        cmocka_unit_test(a_reply_finds_the_sender_and_what_blocks_is_refused),
        cmocka_unit_test(a_post_to_a_worker_itself_is_not_handled_by_a_flow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
