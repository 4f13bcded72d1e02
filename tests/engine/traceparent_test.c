/*
 * traceparent_test.c - a trace context travels with an event as its origin does, beside it, and is
 * given back with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fault_support.h"
#include "origin_support.h"

#include <weir/flow.h>
#include <weir/trace.h>

#include "engine/traceparent.h"

static const char text[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

static weir_traceparent sample(uint8_t last)
{
    weir_traceparent t;
    assert_int_equal(WEIR_OK, weir_traceparent_read(text, strlen(text), &t));
    t.parent[7] = last;
    return t;
}

/* What a handler of this test does, and what it saw. */
typedef struct player {
    actor a; /* first */
    weir_traceparent seen;
    weir_status found;
    weir_traceparent sets;
    weir_status set;
    uint32_t with; /* events that had one */
    uint8_t last[64];
    weir_router router;
} player;

static weir_status look(actor *a, weir_turn *turn, const weir_event *event)
{
    player *p = (player *)(void *)a;
    (void)event;
    p->found = weir_turn_traceparent(turn, &p->seen);
    if (p->found == WEIR_OK) {
        p->last[p->with++ % 64] = p->seen.parent[7];
    }
    return WEIR_OK;
}

static weir_status pass(actor *a, weir_turn *turn, const weir_event *event)
{
    (void)look(a, turn, event);
    return weir_turn_post(turn, a->to[0], small());
}

/* Another one for what it posts; then none; the event's own is gone for the rest of the handler. */
static weir_status change(actor *a, weir_turn *turn, const weir_event *event)
{
    player *p = (player *)(void *)a;
    weir_traceparent now;
    (void)look(a, turn, event);
    p->sets = sample(0x11);
    p->set = weir_turn_traceparent_set(turn, &p->sets);
    p->set |= weir_turn_post(turn, a->to[0], small());
    a->status = weir_turn_traceparent(turn, &now) == WEIR_OK && now.parent[7] == 0x11
                    ? WEIR_OK
                    : WEIR_E_FAILED;
    p->sets = sample(0x22);
    p->set |= weir_turn_traceparent_set(turn, &p->sets);
    p->set |= weir_turn_post(turn, a->to[0], small());
    p->set |= weir_turn_traceparent_set(turn, NULL);
    p->set |= weir_turn_post(turn, a->to[0], small());
    if (weir_turn_traceparent(turn, &now) != WEIR_UNKNOWN) {
        a->status = WEIR_E_FAILED;
    }
    return WEIR_OK;
}

static weir_status set_and_leave(actor *a, weir_turn *turn, const weir_event *event)
{
    player *p = (player *)(void *)a;
    (void)look(a, turn, event);
    p->sets = sample(0x33);
    p->set = weir_turn_traceparent_set(turn, &p->sets);
    return a->status;
}

/* ---- text ---- */

static void a_traceparent_is_read_and_written_as_the_standard_has_it(void **state)
{
    (void)state;
    char out[WEIR_TRACEPARENT_TEXT];
    const weir_traceparent t = sample(0xb7);
    assert_int_equal(0x4b, t.trace[0]);
    assert_int_equal(0x36, t.trace[15]);
    assert_int_equal(0x00, t.parent[0]);
    assert_int_equal(1, t.flags);
    weir_traceparent_text(&t, out);
    assert_string_equal(text, out);
}

static void what_is_no_traceparent_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
    };
    weir_traceparent t;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(WEIR_E_INVALID, weir_traceparent_read(wrong[i], strlen(wrong[i]), &t));
    }
    assert_int_equal(WEIR_E_INVALID, weir_traceparent_read(NULL, 55, &t));
    assert_int_equal(WEIR_E_INVALID, weir_traceparent_read(text, 55, NULL));
    /* A later version may say more. */
    static const char later[] = "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more";
    assert_int_equal(WEIR_OK, weir_traceparent_read(later, strlen(later), &t));
}

/* ---- on its way ---- */

static void what_a_thread_posts_carries_its_own_until_it_is_set_again(void **state)
{
    (void)state;
    scene s;
    player p = { .a = { .act = look } };
    scene_open(&s);
    const weir_processor to = add(&s, &p.a);
    scene_start(&s);
    const weir_traceparent t = sample(7);
    assert_int_equal(WEIR_OK, weir_engine_traceparent_set(s.engine, &t));
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
    scene_turn(&s);
    assert_int_equal(2, p.with);
    assert_memory_equal(&t, &p.seen, sizeof(t));
    const weir_traceparent other = sample(8);
    assert_int_equal(WEIR_OK, weir_engine_traceparent_set(s.engine, &other));
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
    assert_int_equal(WEIR_OK, weir_engine_traceparent_set(s.engine, NULL));
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
    scene_turn(&s);
    assert_int_equal(3, p.with);
    assert_int_equal(8, p.last[2]);
    assert_int_equal(WEIR_UNKNOWN, p.found);
    assert_int_equal(4, p.a.handled);
    scene_close(&s);
}

static void a_handlers_posts_inherit_it_and_may_carry_another(void **state)
{
    (void)state;
    scene s;
    player first = { .a = { .act = pass } };
    player second = { .a = { .act = change } };
    player third = { .a = { .act = look } };
    scene_open(&s);
    third.a.to[0] = (weir_processor){ 0 };
    second.a.to[0] = add(&s, &third.a);
    first.a.to[0] = add(&s, &second.a);
    const weir_processor to = add(&s, &first.a);
    scene_start(&s);
    const weir_traceparent t = sample(7);
    assert_int_equal(WEIR_OK, weir_engine_traceparent_set(s.engine, &t));
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
    assert_int_equal(WEIR_OK, weir_engine_traceparent_set(s.engine, NULL));
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
    scene_turn(&s);
    assert_int_equal(1, first.with);
    assert_int_equal(1, second.with);
    assert_int_equal(7, second.last[0]);
    assert_int_equal(WEIR_OK, second.set);
    assert_int_equal(WEIR_OK, second.a.status);
    assert_int_equal(6, third.a.handled); /* three for each */
    assert_int_equal(4, third.with);
    assert_int_equal(0x11, third.last[0]);
    assert_int_equal(0x22, third.last[1]);
    scene_close(&s);
}

static void what_a_handler_carries_ends_with_its_event_however_that_ends(void **state)
{
    (void)state;
    static const weir_status answers[] = { WEIR_OK, WEIR_DROPPED, WEIR_UNHANDLED, WEIR_E_USER };
    for (size_t i = 0; i < 2 * sizeof(answers) / sizeof(answers[0]); i++) {
        scene s;
        player sets = { .a = { .act = set_and_leave, .status = answers[i / 2] } };
        player next = { .a = { .act = pass } };
        player last = { .a = { .act = look } };
        scene_open(&s);
        next.a.to[0] = add(&s, &last.a);
        const weir_processor one = add(&s, &sets.a);
        const weir_processor two = add(&s, &next.a);
        scene_start(&s);
        const bool tracked = i % 2 != 0;
        for (int n = 0; n < 3; n++) {
            assert_int_equal(WEIR_OK, tracked ? token_post(s.engine, &s.t, one, small())
                                              : weir_engine_post(s.engine, one, small()));
            assert_int_equal(WEIR_OK, weir_engine_post(s.engine, two, small()));
        }
        scene_turn(&s);
        assert_int_equal(3, sets.a.handled);
        assert_int_equal(WEIR_OK, sets.set);
        assert_int_equal(0, sets.with);
        assert_int_equal(3, last.a.handled);
        assert_int_equal(0, next.with);
        assert_int_equal(0, last.with);
        assert_int_equal(0, token_held(&s.t));
        scene_close(&s);
    }
}

static void it_goes_beside_what_tracks_the_event_and_both_are_let_go(void **state)
{
    (void)state;
    scene s;
    player second = { .a = { .act = change } };
    player third = { .a = { .act = look } };
    scene_open(&s);
    second.a.to[0] = add(&s, &third.a);
    const weir_processor to = add(&s, &second.a);
    scene_start(&s);
    assert_int_equal(WEIR_OK, token_post(s.engine, &s.t, to, small()));
    (void)weir_thread_run_once(s.engine, s.thread, 1);
    assert_int_equal(3, token_held(&s.t)); /* by two carriers, and by the one without */
    scene_turn(&s);
    assert_int_equal(3, third.a.with_token);
    assert_int_equal(2, third.with);
    assert_int_equal(0, token_held(&s.t));
    scene_close(&s);
}

static void it_is_set_where_an_event_is_handled_and_nowhere_else(void **state)
{
    (void)state;
    const weir_traceparent t = sample(1);
    weir_traceparent out;
    assert_int_equal(WEIR_E_INVALID, weir_turn_traceparent_set(NULL, &t));
    assert_int_equal(WEIR_E_INVALID, weir_turn_traceparent(NULL, &out));
    assert_int_equal(WEIR_E_INVALID, weir_engine_traceparent_set(NULL, &t));
}

static weir_status set_outside_in_a_turn(actor *a, weir_turn *turn, const weir_event *event)
{
    const weir_traceparent t = { .flags = 1 };
    (void)event;
    a->status = weir_engine_traceparent_set(weir_turn_engine(turn), &t);
    return WEIR_OK;
}

static weir_status set_in_init(void *state, weir_turn *turn, void *argument)
{
    const weir_traceparent t = { .flags = 1 };
    (void)state;
    *(weir_status *)argument = weir_turn_traceparent_set(turn, &t);
    return WEIR_OK;
}

static weir_status nothing(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static void a_turn_has_a_call_of_its_own_and_an_init_none(void **state)
{
    (void)state;
    scene s;
    player p = { .a = { .act = set_outside_in_a_turn } };
    weir_status in_init = WEIR_OK;
    scene_open(&s);
    const weir_processor to = add(&s, &p.a);
    (void)test_processor_add(
        s.engine, WEIR_PROCESSOR(.handler = nothing, .init = set_in_init, .argument = &in_init));
    scene_start(&s);
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
    scene_turn(&s);
    assert_int_equal(WEIR_E_INVALID, p.a.status);
    assert_int_equal(WEIR_E_INVALID, in_init);
    scene_close(&s);
}

static void without_memory_nothing_is_set_and_what_was_stays(void **state)
{
    (void)state;
    scene s;
    player p = { .a = { .act = set_and_leave } };
    test_fault fault;
    test_fault_init(&fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
    s.engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .allocator = &allocator));
    s.thread = test_thread_add(s.engine, WEIR_THREAD(.name = "hand", .external = true));
    token_open(&s.t);
    const weir_processor to = add(&s, &p.a);
    scene_start(&s);
    const weir_traceparent t = sample(1);
    assert_int_equal(WEIR_OK, weir_engine_traceparent_set(s.engine, &t));
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
    atomic_store(&fault.lasting, true);
    atomic_store(&fault.until, 0);
    assert_int_equal(WEIR_E_NOMEM, weir_engine_traceparent_set(s.engine, &t));
    scene_turn(&s);
    assert_int_equal(WEIR_E_NOMEM, p.set);
    assert_int_equal(1, p.with);
    atomic_store(&fault.until, -1);
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
    scene_turn(&s);
    assert_int_equal(2, p.with);
    assert_int_equal(WEIR_OK, p.set);
    scene_close(&s);
    assert_int_equal(0, atomic_load(&fault.bytes));
}

static void what_a_thread_carries_ends_with_the_thread_and_with_the_engine(void **state)
{
    (void)state;
    scene s;
    player p = { .a = { .act = look } };
    test_fault fault;
    test_fault_init(&fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
    s.engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .allocator = &allocator));
    s.thread = test_thread_add(s.engine, WEIR_THREAD(.name = "hand", .external = true));
    token_open(&s.t);
    (void)add(&s, &p.a);
    scene_start(&s);
    const weir_traceparent t = sample(1);
    assert_int_equal(WEIR_OK, weir_engine_traceparent_set(s.engine, &t));
    scene_close(&s); /* ASan and the allocator's books are the judges */
    assert_int_equal(0, atomic_load(&fault.bytes));
    assert_int_equal(0, atomic_load(&fault.wrong));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traceparent_is_read_and_written_as_the_standard_has_it),
        cmocka_unit_test(what_is_no_traceparent_is_refused),
        cmocka_unit_test(what_a_thread_posts_carries_its_own_until_it_is_set_again),
        cmocka_unit_test(a_handlers_posts_inherit_it_and_may_carry_another),
        cmocka_unit_test(what_a_handler_carries_ends_with_its_event_however_that_ends),
        cmocka_unit_test(it_goes_beside_what_tracks_the_event_and_both_are_let_go),
        cmocka_unit_test(it_is_set_where_an_event_is_handled_and_nowhere_else),
        cmocka_unit_test(a_turn_has_a_call_of_its_own_and_an_init_none),
        cmocka_unit_test(without_memory_nothing_is_set_and_what_was_stays),
        cmocka_unit_test(what_a_thread_carries_ends_with_the_thread_and_with_the_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
