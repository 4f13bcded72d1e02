/*
 * finish_test.c - the last turn of a component: once, when all that it will ever get is handled;
 * its posts arrive, and one that fails comes again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "host_support.h"

static weir_engine *engine;
static atomic_int failures_due;

static int open_engine(void **state)
{
    (void)state;
    journal_begin();
    atomic_store(&failures_due, 0);
    engine = host_engine();
    (void)host_thread(engine, "one");
    (void)host_thread(engine, "two");
    return 0;
}

static int close_engine(void **state)
{
    (void)state;
    weir_engine_destroy(engine);
    return 0;
}

/* Sends its total to its target. */
static weir_status total_finish(void *state, weir_turn *turn)
{
    const actor *a = state;
    if (atomic_load(&failures_due) > 0) {
        atomic_fetch_sub(&failures_due, 1);
        journal_add(weir_component_name(a->self), "not-yet");
        return WEIR_FULL;
    }
    journal_add(weir_component_name(a->self), "finish");
    return weir_turn_send(turn, &a->config->target, WEIR_EVENT(number, a->value));
}

static weir_status total_handle(void *state, weir_turn *turn, const weir_event *event)
{
    actor *a = state;
    const number *n = weir_event_as(event, &number_type);
    (void)turn;
    a->value += n != NULL ? n->value : 0;
    return WEIR_OK;
}

static const weir_component_type total_type =
    ACTOR_TYPE(PROCESSOR, "total", .handler = total_handle, .finish = total_finish, WEIR_PASSES_ON);

static weir_processor begin(void)
{
    (void)actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "drain", .thread = "one"));
    const weir_processor total =
        actor_add(engine, &total_type,
                  WEIR_COMPONENT(.name = "total", .thread = "two",
                                 .config = ACTOR(.target = TARGET("drain"))));
    host_start(engine);
    for (uint64_t i = 1; i <= 100; i++) {
        assert_int_equal(weir_engine_post(engine, total, WEIR_EVENT(number, i)), WEIR_OK);
    }
    journal_begin();
    return total;
}

static void it_comes_once_behind_all_events_and_its_posts_arrive(void **state)
{
    (void)state;
    (void)begin();
    const weir_stop_report report = host_stop(engine);
    assert_int_equal(report.dead, 0);
    const char *text = journal_text();
    const char *got = strstr(text, "drain.got5050 ");
    assert_memory_equal(text, "total.finish ", 13);
    assert_null(strstr(text + 13, "total.finish "));
    assert_non_null(got);
    assert_true(got < strstr(text, "drain.stop "));
}

static void one_that_fails_comes_again(void **state)
{
    (void)state;
    (void)begin();
    atomic_store(&failures_due, 3);
    (void)host_stop(engine);
    assert_memory_equal(journal_text(), "total.not-yet total.not-yet total.not-yet total.finish ",
                        55);
    assert_true(journal_has("drain.got5050 "));
}

static void one_that_is_removed_has_it_too(void **state)
{
    (void)state;
    (void)begin();
    assert_int_equal(weir_component_remove(engine, "total", 0, NULL), WEIR_OK);
    assert_true(journal_has("total.finish "));
    TEST_UNTIL(journal_has("drain.got5050 "));
    (void)host_stop(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_comes_once_behind_all_events_and_its_posts_arrive,
                                        open_engine, close_engine),
        cmocka_unit_test_setup_teardown(one_that_fails_comes_again, open_engine, close_engine),
        cmocka_unit_test_setup_teardown(one_that_is_removed_has_it_too, open_engine, close_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
