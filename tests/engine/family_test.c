/*
 * family_test.c - processors with parents: who ends before whom, and whose numbers are in whose
 * report. tests/regress/family_stop_test.c has the bugs that were.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../regress/regress_support.h"

#include "fault_support.h"

enum { MEMBERS_MAX = 4 };

/* The order in which members ended: their hooks write it down. */
typedef struct register_of_ends {
    atomic_uint count;
    const char *names[MEMBERS_MAX];
} register_of_ends;

typedef struct member {
    register_of_ends *ends;
    const char *name;
    uint64_t handled;
} member;

static weir_status member_handle(void *state, weir_turn *turn, const weir_event *event)
{
    member *m = state;
    (void)turn;
    (void)event;
    m->handled++;
    return WEIR_OK;
}

static void member_destroy(void *state, weir_status reason)
{
    member *m = state;
    (void)reason;
    const unsigned place = atomic_fetch_add(&m->ends->count, 1);
    if (place < MEMBERS_MAX) {
        m->ends->names[place] = m->name;
    }
}

static weir_processor add_member(weir_engine *engine, member *m, weir_processor parent, bool hooked)
{
    return test_processor_add(engine, WEIR_PROCESSOR(.handler = member_handle, .argument = m,
                                                     .name = m->name, .parent = parent,
                                                     .destroy = hooked ? member_destroy : NULL));
}

static void assert_report(const weir_stop_report *r, uint64_t handled, uint64_t left)
{
    assert_int_equal(handled, r->handled);
    assert_int_equal(left, r->left);
    assert_int_equal(0, r->dead);
    assert_int_equal(0, r->dropped);
    assert_int_equal(handled + left, r->accepted);
}

/* ---- the end ---- */

/* Whoever of a family has a hook: the engine's stop ends all, and waits for none in vain. */
static void an_engines_stop_ends_families_children_first_whoever_has_a_hook(void **state)
{
    (void)state;
    for (unsigned hooked = 0; hooked < 8; hooked++) {
        register_of_ends ends = { .count = 0 };
        member root = { &ends, "root", 0 }, middle = { &ends, "middle", 0 },
               leaf = { &ends, "leaf", 0 };
        weir_engine *engine = quiet_engine(2);
        const weir_processor r = add_member(engine, &root, (weir_processor){ 0 }, hooked & 1);
        const weir_processor m = add_member(engine, &middle, r, (hooked & 2) != 0);
        const weir_processor l = add_member(engine, &leaf, m, (hooked & 4) != 0);
        test_engine_start(engine);
        assert_int_equal(WEIR_OK, test_post(engine, r, 1));
        assert_int_equal(WEIR_OK, test_post(engine, l, 1));
        assert_int_equal(2, test_engine_stop(engine).handled);
        assert_int_equal(0, test_engine_counters(engine).processors);
        assert_true(is_gone(engine, r) && is_gone(engine, m) && is_gone(engine, l));
        assert_int_equal(0, weir_processor_find(engine, "root").id);
        weir_engine_destroy(engine);
        const char *const expected[] = { hooked & 4 ? "leaf" : NULL, hooked & 2 ? "middle" : NULL,
                                         hooked & 1 ? "root" : NULL };
        unsigned place = 0;
        for (size_t i = 0; i < 3; i++) {
            if (expected[i] != NULL) {
                assert_string_equal(expected[i], ends.names[place]);
                place++;
            }
        }
        assert_int_equal(place, atomic_load(&ends.count));
        assert_int_equal(1, root.handled);
        assert_int_equal(0, middle.handled);
        assert_int_equal(1, leaf.handled);
    }
}

/* Nobody is there to end them in a turn of their own: the caller does. */
static void a_family_that_is_stopped_before_the_start_is_gone_at_once_children_first(void **state)
{
    (void)state;
    register_of_ends ends = { .count = 0 };
    member root = { &ends, "root", 0 }, middle = { &ends, "middle", 0 },
           leaf = { &ends, "leaf", 0 }, other = { &ends, "other", 0 };
    weir_engine *engine = quiet_engine(1);
    const weir_processor r = add_member(engine, &root, (weir_processor){ 0 }, true);
    const weir_processor m = add_member(engine, &middle, r, true);
    (void)add_member(engine, &leaf, m, true);
    (void)add_member(engine, &other, r, true);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, r, TEST_PATIENCE, &report));
    assert_report(&report, 0, 0);
    assert_int_equal(4, atomic_load(&ends.count));
    assert_string_equal("root", ends.names[3]);
    size_t middle_at = 0, leaf_at = 0, other_at = 0;
    for (size_t i = 0; i < 3; i++) {
        middle_at += strcmp(ends.names[i], "middle") == 0 ? i + 1 : 0;
        leaf_at += strcmp(ends.names[i], "leaf") == 0 ? i + 1 : 0;
        other_at += strcmp(ends.names[i], "other") == 0 ? i + 1 : 0;
    }
    assert_int_equal(1 + 2 + 3, middle_at + leaf_at + other_at);
    assert_true(leaf_at < middle_at);
    assert_int_equal(0, test_engine_counters(engine).processors);
    assert_int_equal(0, weir_processor_find(engine, "leaf").id);
    assert_int_equal(WEIR_UNKNOWN, test_post(engine, r, 1));
    /* Their names are free, and the engine is as good as before. */
    const weir_processor again = add_member(engine, &leaf, (weir_processor){ 0 }, true);
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, again, 1));
    assert_int_equal(1, test_engine_end(engine).handled);
    assert_int_equal(5, atomic_load(&ends.count));
}

static void an_engine_that_never_ran_ends_its_families_children_first(void **state)
{
    (void)state;
    register_of_ends ends = { .count = 0 };
    member root = { &ends, "root", 0 }, middle = { &ends, "middle", 0 },
           leaf = { &ends, "leaf", 0 }, other = { &ends, "other", 0 };
    weir_engine *engine = quiet_engine(1);
    const weir_processor r = add_member(engine, &root, (weir_processor){ 0 }, true);
    const weir_processor m = add_member(engine, &middle, r, true);
    (void)add_member(engine, &leaf, m, true);
    (void)add_member(engine, &other, m, true);
    assert_int_equal(WEIR_OK, test_post(engine, r, 1)); /* never handled */
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(engine, WEIR_NOW, &report));
    assert_report(&report, 0, 1);
    assert_int_equal(0, atomic_load(&ends.count));
    weir_engine_destroy(engine);
    assert_int_equal(4, atomic_load(&ends.count));
    assert_string_equal("middle", ends.names[2]);
    assert_string_equal("root", ends.names[3]);
    assert_int_equal(0, root.handled);
}

/* ---- reports ---- */

/* Two above a child that holds its thread: one in hand, two behind it. */
typedef struct stuck_family {
    weir_engine *engine;
    weir_processor top, parent, child;
    member top_member, parent_member;
    test_recorder recorder;
} stuck_family;

static void stuck_family_set(stuck_family *f, const weir_allocator *allocator)
{
    static register_of_ends ends;
    f->top_member = (member){ &ends, "top", 0 };
    f->parent_member = (member){ &ends, "parent", 0 };
    test_recorder_init(&f->recorder, true);
    f->engine = test_engine_create(
        WEIR_ENGINE(.threads = 2, .log_level = WEIR_LOG_OFF, .allocator = allocator));
    f->top = add_member(f->engine, &f->top_member, (weir_processor){ 0 }, false);
    f->parent = add_member(f->engine, &f->parent_member, f->top, false);
    f->child = test_processor_add(f->engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                            .argument = &f->recorder,
                                                            .name = "child", .parent = f->parent));
    test_engine_start(f->engine);
    put_in_hand(f->engine, f->child, &f->recorder);
    for (uint64_t i = 0; i < 2; i++) {
        assert_int_equal(WEIR_OK, test_post(f->engine, f->child, 2 + i));
        assert_int_equal(WEIR_OK, test_post(f->engine, f->parent, i));
    }
    assert_int_equal(WEIR_OK, test_post(f->engine, f->top, 0));
    TEST_UNTIL(test_engine_counters(f->engine).handled == 3);
}

/* Lets the child go: all three end, and the engine's own report says the same. */
static void stuck_family_end(stuck_family *f)
{
    test_recorder_pass(&f->recorder, 1);
    TEST_UNTIL(is_gone(f->engine, f->child) && is_gone(f->engine, f->parent));
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(f->engine, TEST_PATIENCE, &report));
    assert_report(&report, 3, 3);
    assert_int_equal(1, test_recorder_handled(&f->recorder)); /* what is left is never begun */
    weir_engine_destroy(f->engine);
}

static void what_a_childs_own_stop_has_left_is_in_its_parents_report_once(void **state)
{
    (void)state;
    static stuck_family f;
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    stuck_family_set(&f, NULL);
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(f.engine, f.child, WEIR_NOW, &report));
    assert_report(&report, 0, 3);
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(f.engine, f.parent, WEIR_NOW, &report));
    assert_report(&report, 2, 3);
    /* The parent's sum has the child's in it already. */
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(f.engine, f.top, WEIR_NOW, &report));
    assert_report(&report, 3, 3);
    stuck_family_end(&f);
}

static void a_family_stop_that_gives_up_counts_every_member_once(void **state)
{
    (void)state;
    static stuck_family f;
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    stuck_family_set(&f, NULL);
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(f.engine, f.parent, WEIR_NOW, &report));
    assert_report(&report, 2, 3);
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(f.engine, f.top, WEIR_NOW, &report));
    assert_report(&report, 3, 3);
    stuck_family_end(&f);
}

static void a_childs_stop_that_waits_is_answered_with_its_parents_and_is_in_its_report(void **state)
{
    (void)state;
    static stuck_family f;
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    stuck_family_set(&f, NULL);
    aside_stop patient = { .engine = f.engine, .processor = f.child, .timeout = WEIR_FOREVER };
    aside stopping;
    aside_begin(&stopping, aside_stop_processor, &patient);
    aside_sleeps(&stopping); /* its stop has begun */
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(f.engine, f.top, WEIR_NOW, &report));
    assert_report(&report, 3, 3);
    aside_end(&stopping);
    assert_int_equal(WEIR_TIMEOUT, patient.status);
    assert_report(&patient.report, 0, 3);
    stuck_family_end(&f);
}

/* The second stop finds the records of the first: it takes none of them away. */
static void a_family_stop_without_memory_leaves_an_earlier_one_inside_it_alone(void **state)
{
    (void)state;
    static stuck_family f;
    test_fault fault;
    test_fault_init(&fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    stuck_family_set(&f, &allocator);
    aside_stop patient = { .engine = f.engine, .processor = f.parent, .timeout = WEIR_FOREVER };
    aside stopping;
    aside_begin(&stopping, aside_stop_processor, &patient);
    aside_sleeps(&stopping);
    test_fault_arm(&fault, 0, true);
    assert_int_equal(WEIR_E_NOMEM, weir_processor_stop(f.engine, f.top, WEIR_NOW, &report));
    assert_true(test_fault_disarm(&fault) > 0);
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(f.engine, f.top, WEIR_NOW, &report));
    assert_report(&report, 3, 3);
    aside_end(&stopping);
    assert_int_equal(WEIR_TIMEOUT, patient.status);
    assert_report(&patient.report, 2, 3);
    stuck_family_end(&f);
    assert_int_equal(0, atomic_load(&fault.wrong));
    assert_int_equal(0, atomic_load(&fault.bytes));
}

/* A parent whose handler returns after its stop has given up, and whose child is still inside: it
 * is there until the child has gone, and its numbers with it. */
static void a_parent_that_waits_for_its_child_shows_what_its_stop_has_left(void **state)
{
    (void)state;
    test_recorder upper, lower;
    test_recorder_init(&upper, true);
    test_recorder_init(&lower, true);
    weir_engine *engine = quiet_engine(2);
    const weir_processor parent = add_recorder(engine, &upper, NULL);
    const weir_processor child =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                  .argument = &lower, .parent = parent));
    test_engine_start(engine);
    put_in_hand(engine, parent, &upper);
    assert_int_equal(WEIR_OK, test_post(engine, parent, 2));
    test_recorder_pass(&upper, 1); /* one is handled */
    test_sem_wait(&upper.entered);
    assert_int_equal(WEIR_OK, test_post(engine, parent, 3));
    put_in_hand(engine, child, &lower);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(engine, parent, WEIR_NOW, &report));
    assert_report(&report, 1, 3);
    test_recorder_pass(&upper, 1);
    TEST_UNTIL(test_processor_counters(engine, parent).left == 2); /* in hand, and behind it */
    const weir_counters c = test_processor_counters(engine, parent);
    assert_int_equal(1, c.handled);
    assert_int_equal(3, c.accepted);
    assert_int_equal(0, c.depth + c.dead + c.dropped);
    test_recorder_pass(&lower, 1);
    TEST_UNTIL(is_gone(engine, child) && is_gone(engine, parent));
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, TEST_PATIENCE, &report));
    assert_report(&report, 1, 3);
    weir_engine_destroy(engine);
    assert_int_equal(2, test_recorder_handled(&upper));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engines_stop_ends_families_children_first_whoever_has_a_hook),
        cmocka_unit_test(a_family_that_is_stopped_before_the_start_is_gone_at_once_children_first),
        cmocka_unit_test(an_engine_that_never_ran_ends_its_families_children_first),
        cmocka_unit_test(what_a_childs_own_stop_has_left_is_in_its_parents_report_once),
        cmocka_unit_test(a_family_stop_that_gives_up_counts_every_member_once),
        cmocka_unit_test(
            a_childs_stop_that_waits_is_answered_with_its_parents_and_is_in_its_report),
        cmocka_unit_test(a_family_stop_without_memory_leaves_an_earlier_one_inside_it_alone),
        cmocka_unit_test(a_parent_that_waits_for_its_child_shows_what_its_stop_has_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
