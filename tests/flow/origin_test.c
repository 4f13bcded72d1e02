/*
 * origin_test.c - what is submitted in a handler inherits the origin of its event, through flows
 * with a handler and through targets, and a flow's handler passes it on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/origin_support.h"

typedef struct street {
    scene s;
    actor first, last;
    actor target[2];
    weir_processor from, sink;
    weir_router router;
    weir_status submitted[8];
    uint64_t flows; /* events that the router's handler saw ... */
    uint64_t flows_with_token;
    bool init_fails;
    struct street *self; /* the router's argument points here, and every flow's state has it */
} street;

static weir_status flow_handle(void *state, weir_turn *turn, const weir_event *event)
{
    street *t = *(street **)state;
    weir_origin *origin = weir_turn_origin(turn);
    t->flows++;
    t->flows_with_token += origin != NULL;
    weir_origin_release(origin);
    return weir_turn_post(turn, t->sink, event);
}

static weir_status flow_init(void *state, weir_turn *turn, void *argument)
{
    (void)turn;
    street *t = *(street **)argument;
    *(street **)state = t;
    return t->init_fails ? WEIR_E_USER : WEIR_OK;
}

static const weir_event *sized(uint32_t size)
{
    static const unsigned char bytes[64] = { 1 };
    static weir_event events[65];
    events[size] = (weir_event){ .type = &weir_bytes_type, .data = bytes, .size = size };
    return &events[size];
}

enum { SUBMITS = 9 };

/* Every way to submit from a handler: SUBMITS events. */
static weir_status submit_every_way(actor *a, weir_turn *turn, const weir_event *event)
{
    street *t = (street *)((char *)a - offsetof(street, first));
    weir_engine *engine = weir_turn_engine(turn);
    const uint64_t keys[3] = { 1, 2, 3 };
    const weir_event *events[3] = { event, sized(64), sized(24) };
    weir_event last = *event;
    last.flags |= WEIR_EVENT_FINISH;
    t->submitted[0] = weir_turn_submit(turn, t->router, 1, event);
    t->submitted[1] = weir_turn_submit(turn, t->router, 2, sized(64));
    t->submitted[2] = weir_turn_submit(turn, t->router, 0, event); /* no flow at hand: loose */
    t->submitted[3] = weir_router_submit(engine, t->router, 4, event);
    t->submitted[4] = weir_turn_submit(turn, t->router, 2, &last);
    t->submitted[5] = weir_turn_submit(turn, t->router, 2, event); /* the next flow of that key */
    t->submitted[6] = weir_router_submit_batch(engine, t->router, keys, events, 3, NULL) == 3
                          ? WEIR_OK
                          : WEIR_FULL;
    return WEIR_OK;
}

static void street_open(street *t, weir_router_options options, bool targets)
{
    weir_error error = WEIR_ERROR_INIT;
    memset(t, 0, sizeof(*t));
    scene_open(&t->s);
    t->sink = add(&t->s, &t->last);
    t->first.act = submit_every_way;
    t->from = add(&t->s, &t->first);
    options.struct_size = sizeof(options);
    options.name = "street";
    weir_processor to[2];
    if (targets) {
        to[0] = add(&t->s, &t->target[0]);
        to[1] = add(&t->s, &t->target[1]);
        options.targets = to;
        options.target_count = 2;
    } else {
        options.handler = flow_handle;
        t->self = t;
        options.argument = &t->self;
        options.state_size = sizeof(street *);
        options.init = flow_init;
    }
    t->router = weir_router_add(t->s.engine, &options, &error);
    test_error_none(&error);
    scene_start(&t->s);
}

static void submits_are_ok(const street *t)
{
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(WEIR_OK, t->submitted[i]);
    }
}

static void a_flows_events_inherit_and_its_handler_passes_it_on(void **state)
{
    (void)state;
    street t;
    street_open(&t, (weir_router_options){ .workers = 2 }, false);
    for (uint32_t size = 0; size <= 64; size += 8) {
        t.flows = t.flows_with_token = t.last.handled = t.last.with_token = 0;
        assert_int_equal(WEIR_OK, token_post(t.s.engine, &t.s.t, t.from, sized(size)));
        assert_int_equal(1, weir_thread_run_once(t.s.engine, t.s.thread, 1));
        submits_are_ok(&t);
        assert_int_equal(SUBMITS, token_held(&t.s.t));
        scene_turn(&t.s);
        assert_int_equal(SUBMITS, t.flows_with_token);
        assert_int_equal(SUBMITS, t.last.with_token);
        assert_int_equal(0, token_held(&t.s.t));
    }
    assert_int_equal(WEIR_OK, weir_engine_post(t.s.engine, t.from, sized(8)));
    scene_turn(&t.s);
    assert_int_equal(2 * SUBMITS, t.flows);
    assert_int_equal(SUBMITS, t.flows_with_token); /* no more than before */
    scene_close(&t.s);
}

static void events_through_targets_inherit(void **state)
{
    (void)state;
    street t;
    street_open(&t, (weir_router_options){ .workers = 0 }, true);
    assert_int_equal(WEIR_OK, token_post(t.s.engine, &t.s.t, t.from, sized(16)));
    scene_turn(&t.s);
    submits_are_ok(&t);
    assert_int_equal(SUBMITS, t.target[0].with_token + t.target[1].with_token);
    assert_int_equal(0, token_held(&t.s.t));
    scene_close(&t.s);
}

static void what_a_router_drops_or_refuses_holds_nothing(void **state)
{
    (void)state;
    static const weir_overflow policies[] = { WEIR_OVERFLOW_DROP_NEWEST, WEIR_OVERFLOW_DROP_OLDEST,
                                              WEIR_OVERFLOW_FAIL };
    for (size_t i = 0; i < 3; i++) {
        street t;
        street_open(&t,
                    (weir_router_options){ .workers = 1, .worker_max = 2, .overflow = policies[i] },
                    false);
        assert_int_equal(WEIR_OK, token_post(t.s.engine, &t.s.t, t.from, sized(16)));
        assert_int_equal(1, weir_thread_run_once(t.s.engine, t.s.thread, 1));
        assert_int_equal(2, token_held(&t.s.t));
        scene_turn(&t.s);
        assert_int_equal(2, t.last.with_token);
        assert_int_equal(0, token_held(&t.s.t));
        scene_close(&t.s);
    }
}

static void events_of_a_flow_whose_init_fails_hold_nothing(void **state)
{
    (void)state;
    street t;
    street_open(&t, (weir_router_options){ .workers = 2 }, false);
    t.init_fails = true;
    assert_int_equal(WEIR_OK, token_post(t.s.engine, &t.s.t, t.from, sized(64)));
    scene_turn(&t.s);
    submits_are_ok(&t);
    assert_int_equal(1, t.flows); /* the one without a flow has no init */
    assert_int_equal(0, token_held(&t.s.t));
    scene_close(&t.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flows_events_inherit_and_its_handler_passes_it_on),
        cmocka_unit_test(events_through_targets_inherit),
        cmocka_unit_test(what_a_router_drops_or_refuses_holds_nothing),
        cmocka_unit_test(events_of_a_flow_whose_init_fails_hold_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
