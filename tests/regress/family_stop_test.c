/*
 * family_stop_test.c - bugs that were: parents and children that end. A stop without memory half
 * way through a family; children of a failed init that nobody ended; a parent that waited for its
 * children was pushed twice, or came back with places that nobody had given back and looked for
 * their events for ever.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "regress_support.h"

#include "../engine/fault_support.h"

static weir_processor add_child(weir_engine *engine, weir_processor parent, test_recorder *recorder,
                                const char *dispatcher)
{
    return test_processor_add(engine,
                              WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = recorder,
                                             .parent = parent, .dispatcher = dispatcher));
}

/* Every processor of the family takes an event and handles it. */
static void family_works(weir_engine *engine, const weir_processor *family, size_t count,
                         test_recorder *recorder, uint64_t *posted)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, family[i], 0));
        ++*posted;
        TEST_UNTIL(test_recorder_handled(recorder) == *posted);
    }
}

static void a_family_stop_without_memory_changes_nothing_and_can_be_tried_again(void **state)
{
    (void)state;
    test_fault fault;
    test_fault_init(&fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine =
        test_engine_create(WEIR_ENGINE(.allocator = &allocator, .log_level = WEIR_LOG_OFF));
    weir_processor family[4];
    uint64_t posted = 0;
    family[0] = add_recorder(engine, &recorder, NULL);
    family[1] = add_child(engine, family[0], &recorder, NULL);
    family[2] = add_child(engine, family[1], &recorder, NULL);
    family[3] = add_child(engine, family[0], &recorder, NULL);
    test_engine_start(engine);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    weir_status status = WEIR_E_NOMEM;
    long nth = 0;
    for (; nth < 20 && status == WEIR_E_NOMEM; nth++) {
        family_works(engine, family, 4, &recorder, &posted);
        test_fault_arm(&fault, nth, false);
        status = weir_processor_stop(engine, family[0], TEST_PATIENCE, &report);
        (void)test_fault_disarm(&fault);
    }
    assert_int_equal(WEIR_OK, status);
    assert_true(nth > 4); /* it needs memory for each of them */
    assert_int_equal(posted, report.handled);
    assert_int_equal(posted, report.accepted);
    for (size_t i = 0; i < 4; i++) {
        assert_true(is_gone(engine, family[i]));
    }
    (void)test_engine_end(engine);
    assert_int_equal(0, atomic_load(&fault.wrong));
    assert_int_equal(0, atomic_load(&fault.bytes));
}

static void a_parent_whose_child_is_stuck_reports_it_and_goes_after_it(void **state)
{
    (void)state;
    test_recorder parent_recorder, child_recorder;
    test_recorder_init(&parent_recorder, false);
    test_recorder_init(&child_recorder, true);
    weir_engine *engine = quiet_engine(2);
    const weir_processor parent = add_recorder(engine, &parent_recorder, NULL);
    const weir_processor child = add_child(engine, parent, &child_recorder, NULL);
    test_engine_start(engine);
    put_in_hand(engine, child, &child_recorder);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(engine, parent, WEIR_NOW, &report));
    assert_int_equal(1, report.accepted);
    assert_int_equal(1, report.left);
    test_recorder_pass(&child_recorder, 1);
    TEST_UNTIL(is_gone(engine, child) && is_gone(engine, parent));
    (void)weir_engine_stop(engine, TEST_PATIENCE, &report);
    assert_int_equal(1, report.accepted);
    assert_int_equal(1, report.left);
    weir_engine_destroy(engine);
}

/* ---- an init that adds a child, posts, and fails ---- */

typedef struct bad_parent {
    test_recorder *child_recorder;
    const char *child_dispatcher;
    weir_processor self, child, greets; /* `greets`: gets a post of the init, if it is one */
    bool waits;                         /* for `pass`, before it fails */
    sem_t entered, pass;
} bad_parent;

static void bad_parent_open(bad_parent *b, test_recorder *child_recorder)
{
    memset(b, 0, sizeof(*b));
    b->child_recorder = child_recorder;
    assert_int_equal(0, sem_init(&b->entered, 0, 0));
    assert_int_equal(0, sem_init(&b->pass, 0, 0));
}

static weir_status bad_parent_init(void *state, weir_turn *turn, void *argument)
{
    bad_parent *b = argument;
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    b->self = weir_turn_self(turn);
    b->child = weir_processor_add(
        weir_turn_engine(turn),
        WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = b->child_recorder,
                       .name = "child", .parent = b->self, .dispatcher = b->child_dispatcher),
        &error);
    if (b->greets.id != 0 && weir_turn_post(turn, b->greets, WEIR_EVENT(number, 1)) != WEIR_OK) {
        b->child.id = 0; /* the test will tell */
    }
    (void)sem_post(&b->entered);
    if (b->waits && !test_sem_taken(&b->pass)) {
        b->child.id = 0;
    }
    return WEIR_E_FAILED;
}

static weir_processor add_bad_parent(weir_engine *engine, bad_parent *b, const char *dispatcher)
{
    return test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing, .argument = b,
                                                     .name = "parent", .init = bad_parent_init,
                                                     .dispatcher = dispatcher));
}

static void a_failed_init_ends_the_children_that_it_added(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    bad_parent b;
    bad_parent_open(&b, &recorder);
    weir_engine *engine = quiet_engine(2);
    test_engine_start(engine);
    const weir_processor parent = add_bad_parent(engine, &b, NULL);
    test_sem_wait(&b.entered);
    TEST_UNTIL(is_gone(engine, parent));
    assert_true(b.child.id != 0);
    assert_true(is_gone(engine, b.child)); /* children first */
    assert_int_equal(0, weir_processor_find(engine, "child").id);
    assert_int_equal(0, weir_processor_find(engine, "parent").id);
    assert_int_equal(0, test_engine_counters(engine).processors);
    (void)test_engine_end(engine);
}

static void a_failed_init_with_children_and_mail_ends_with_the_mail_dead(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    bad_parent b;
    bad_parent_open(&b, &recorder);
    b.waits = true;
    weir_engine *engine = quiet_engine(2);
    test_engine_start(engine);
    const weir_processor parent = add_bad_parent(engine, &b, NULL);
    test_sem_wait(&b.entered);
    assert_int_equal(WEIR_OK, test_post(engine, parent, 1));
    assert_int_equal(WEIR_OK, test_post(engine, parent, 2));
    assert_int_equal(0, sem_post(&b.pass));
    TEST_UNTIL(is_gone(engine, parent));
    assert_true(b.child.id != 0);
    assert_true(is_gone(engine, b.child));
    assert_int_equal(2, test_engine_end(engine).dead);
}

/* The parent was put aside until its child had ended, and is in the ready queue again; its thread
 * is busy elsewhere. A stop that begins now must not push it once more. */
static void a_parent_that_was_put_aside_is_pushed_once(void **state)
{
    (void)state;
    test_recorder child_recorder, busy;
    test_recorder_init(&child_recorder, false);
    test_recorder_init(&busy, true);
    bad_parent b;
    bad_parent_open(&b, &child_recorder);
    b.child_dispatcher = "b";
    weir_engine *engine = quiet_engine(0);
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("a")));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("b")));
    b.greets = add_recorder(engine, &busy, "a");
    test_engine_start(engine);
    const weir_processor parent = add_bad_parent(engine, &b, "a");
    test_sem_wait(&busy.entered); /* after the init, on the same thread */
    assert_true(b.child.id != 0);
    TEST_UNTIL(is_gone(engine, b.child));
    assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, parent, TEST_PATIENCE));
    aside_stop second = { .engine = engine, .processor = parent, .timeout = TEST_PATIENCE };
    aside stopping;
    aside_begin(&stopping, aside_stop_processor, &second);
    aside_sleeps(&stopping);
    assert_int_equal(WEIR_OK, test_post(engine, b.greets, 2));
    test_recorder_pass(&busy, 3);
    aside_end(&stopping);
    assert_int_equal(WEIR_OK, second.status);
    assert_true(is_gone(engine, parent));
    assert_int_equal(WEIR_OK, test_post(engine, b.greets, 3));
    TEST_UNTIL(test_recorder_handled(&busy) == 3);
    assert_int_equal(3, test_engine_end(engine).handled);
    test_recorder_saw_run(&busy, 1, 3);
}

/* The parent throws its mail away, is put aside for its child, and comes back. */
static void a_parent_that_comes_back_does_not_look_for_what_it_threw_away(void **state)
{
    (void)state;
    test_recorder parent_recorder, child_recorder;
    test_recorder_init(&parent_recorder, true);
    test_recorder_init(&child_recorder, true);
    weir_engine *engine = quiet_engine(0);
    const weir_thread own = test_thread_add(
        engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("a"), .idle = WEIR_IDLE_PARK));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("b")));
    const weir_processor parent = add_recorder(engine, &parent_recorder, "a");
    const weir_processor child = add_child(engine, parent, &child_recorder, "b");
    test_engine_start(engine);
    put_in_hand(engine, parent, &parent_recorder);
    assert_int_equal(WEIR_OK, test_post(engine, parent, 2));
    assert_int_equal(WEIR_OK, test_post(engine, parent, 3));
    put_in_hand(engine, child, &child_recorder);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(engine, parent, WEIR_NOW, &report));
    assert_int_equal(4, report.left);
    const uint64_t parks = parks_of(engine, own);
    test_recorder_pass(&parent_recorder, 1);
    TEST_UNTIL(parks_of(engine, own) > parks); /* put aside */
    assert_false(is_gone(engine, parent));
    test_recorder_pass(&child_recorder, 1);
    TEST_UNTIL(is_gone(engine, child) && is_gone(engine, parent));
    (void)weir_engine_stop(engine, TEST_PATIENCE, &report);
    assert_int_equal(4, report.left);
    assert_adds_up(&report);
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_family_stop_without_memory_changes_nothing_and_can_be_tried_again),
        cmocka_unit_test(a_parent_whose_child_is_stuck_reports_it_and_goes_after_it),
        cmocka_unit_test(a_failed_init_ends_the_children_that_it_added),
        cmocka_unit_test(a_failed_init_with_children_and_mail_ends_with_the_mail_dead),
        cmocka_unit_test(a_parent_that_was_put_aside_is_pushed_once),
        cmocka_unit_test(a_parent_that_comes_back_does_not_look_for_what_it_threw_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
