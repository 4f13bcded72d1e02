/*
 * restart_test.c - a component ends and begins again where it is: nothing that was sent to it is
 * lost or changes its order, and one that will not begin anew goes on as it was.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "host_support.h"

static weir_engine *engine;

static int open_engine(void **state)
{
    (void)state;
    journal_begin();
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

static void restart(const char *name, const void *config, weir_status wanted)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_status status = weir_component_restart(engine, name, config, 0, &error);
    if (status != wanted) {
        (void)weir_error_print(&error);
    }
    assert_int_equal(status, wanted);
}

static void post(weir_processor to, uint64_t value)
{
    assert_int_equal(weir_engine_post(engine, to, WEIR_EVENT(number, value)), WEIR_OK);
}

static const char *phase_of(const char *name);

/* ---- in order ---- */

static void it_ends_and_begins_again_with_its_address_and_those_who_name_it(void **state)
{
    (void)state;
    const weir_processor drain =
        actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "drain", .thread = "one"));
    const weir_processor mill =
        actor_add(engine, &processor_actor,
                  WEIR_COMPONENT(.name = "mill", .thread = "two",
                                 .config = ACTOR(.target = TARGET("drain"))));
    host_start(engine);
    journal_begin();
    restart("drain", NULL, WEIR_OK);
    assert_string_equal(journal_text(), "drain.stop drain.tear_down drain.init drain.start "
                                        "drain.start_complete ");
    assert_int_equal(weir_processor_find(engine, "drain").id, drain.id);
    post(mill, 7);
    TEST_UNTIL(journal_has("drain.got7 "));
    (void)host_stop(engine);
    assert_false(the_journal.foreign);
}

static void what_was_sent_before_is_handled_by_the_one_before(void **state)
{
    (void)state;
    char wanted[JOURNAL_MAX] = "";
    const weir_processor drain =
        actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "drain", .thread = "one"));
    host_start(engine);
    journal_begin();
    for (unsigned i = 1; i <= 100; i++) {
        post(drain, i);
        (void)snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted), "drain.got%u %s",
                       i, i == 100 ? "drain.stop " : "");
    }
    restart("drain", NULL, WEIR_OK);
    assert_memory_equal(journal_text(), wanted, strlen(wanted));
    (void)host_stop(engine);
}

static gate down, up;
static atomic_bool waits;

/* Its second init waits: it is down for as long as the test wants. */
static weir_status slow_init(void *state, weir_component *self, const void *config,
                             weir_error *error)
{
    if (atomic_load(&waits)) {
        gate_open(&down);
        gate_pass(&up);
    }
    return actor_init(state, self, config, error);
}

static const weir_component_type slow_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SINK,
    .name = "slow",
    .state_size = sizeof(actor),
    .config_size = sizeof(actor_config),
    .options = actor_options,
    .option_count = sizeof(actor_options) / sizeof(actor_options[0]),
    .init = slow_init,
    .handler = actor_handle,
};

static void *restart_slow(void *argument)
{
    (void)argument;
    return weir_component_restart(engine, "slow", NULL, 0, NULL) == WEIR_OK ? &engine : NULL;
}

static void what_is_sent_meanwhile_waits_and_keeps_its_order(void **state)
{
    (void)state;
    pthread_t thread;
    void *well = NULL;
    char wanted[JOURNAL_MAX] = "slow.init ";
    gate_shut(&down);
    gate_shut(&up);
    atomic_store(&waits, false);
    const weir_processor slow =
        actor_add(engine, &slow_type, WEIR_COMPONENT(.name = "slow", .thread = "one"));
    host_start(engine);
    atomic_store(&waits, true);
    journal_begin();
    assert_int_equal(pthread_create(&thread, NULL, restart_slow, NULL), 0);
    gate_pass(&down);
    for (unsigned i = 1; i <= 50; i++) {
        post(slow, i);
        (void)snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted), "slow.got%u ", i);
    }
    assert_string_equal(journal_text(), "");
    assert_int_equal(weir_processor_move(engine, slow, "two", NULL), WEIR_OK); /* even then */
    assert_string_equal(journal_text(), "");
    gate_open(&up);
    assert_int_equal(pthread_join(thread, &well), 0);
    assert_non_null(well);
    TEST_UNTIL(journal_has("slow.got50 "));
    assert_string_equal(journal_text(), wanted);
    atomic_store(&waits, false);
    const weir_stop_report report = host_stop(engine);
    assert_int_equal(report.dead, 0);
}

/* ---- config ---- */

static void another_config_is_in_effect_from_then_on(void **state)
{
    (void)state;
    (void)actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "a", .thread = "one"));
    (void)actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "b", .thread = "one"));
    const weir_processor mill = actor_add(
        engine, &processor_actor,
        WEIR_COMPONENT(.name = "mill", .thread = "two", .config = ACTOR(.target = TARGET("a"))));
    host_start(engine);
    post(mill, 1);
    TEST_UNTIL(journal_has("a.got1 "));
    restart("mill", ACTOR(.target = TARGET("b")), WEIR_OK);
    post(mill, 2);
    TEST_UNTIL(journal_has("b.got2 "));
    assert_false(journal_has("a.got2 "));
    /* Who is named now cannot be removed, who was can. */
    assert_int_equal(weir_component_remove(engine, "b", 0, NULL), WEIR_E_INVALID);
    assert_int_equal(weir_component_remove(engine, "a", 0, NULL), WEIR_OK);
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(
        weir_component_restart(engine, "mill", ACTOR(.target = TARGET("a")), 0, &error),
        WEIR_E_INVALID);
    assert_non_null(strstr(error.text, "no component, processor or router is called so"));
    post(mill, 3);
    TEST_UNTIL(journal_has("b.got3 "));
    (void)host_stop(engine);
}

static void a_config_that_will_not_do_leaves_it_as_it_was(void **state)
{
    (void)state;
    static const char *const hooks[] = { "init", "start", "start_complete" };
    const weir_processor mill =
        actor_add(engine, &processor_actor, WEIR_COMPONENT(.name = "mill", .thread = "two"));
    host_start(engine);
    for (unsigned i = 0; i < 3; i++) {
        weir_error error = WEIR_ERROR_INIT;
        char wanted[32];
        assert_int_equal(weir_component_restart(engine, "mill", ACTOR(.fail = hooks[i]), 0, &error),
                         WEIR_E_USER);
        assert_string_equal(error.path, "component mill");
        assert_string_equal(phase_of("mill"), "running");
        post(mill, 10 + i);
        (void)snprintf(wanted, sizeof(wanted), "mill.got%u ", 10 + i);
        TEST_UNTIL(journal_has(wanted));
    }
    const weir_stop_report report = host_stop(engine);
    assert_int_equal(report.dead, 0);
}

static atomic_int failures_due;

static weir_status moody_start(void *state, weir_component *self, weir_error *error)
{
    if (atomic_load(&failures_due) > 0) {
        atomic_fetch_sub(&failures_due, 1);
        return weir_error_set(error, WEIR_E_USER, "moody", "not now");
    }
    return actor_start(state, self, error);
}

static const weir_component_type moody_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SINK,
    .name = "moody",
    .state_size = sizeof(actor),
    .config_size = sizeof(actor_config),
    .options = actor_options,
    .option_count = sizeof(actor_options) / sizeof(actor_options[0]),
    .init = actor_init,
    .start = moody_start,
    .stop = actor_stop,
    .tear_down = actor_tear_down,
    .handler = actor_handle,
};

static bool keep_phase(void *context, const weir_component_info *info)
{
    const char **at = context;
    if (strcmp(info->name, at[0]) == 0) {
        at[1] = info->phase;
    }
    return true;
}

static const char *phase_of(const char *name)
{
    const char *at[2] = { name, "gone" };
    weir_component_visit(engine, keep_phase, at);
    return at[1];
}

static void one_that_cannot_even_go_back_keeps_its_mail_for_another_try(void **state)
{
    (void)state;
    atomic_store(&failures_due, 0);
    const weir_processor moody =
        actor_add(engine, &moody_type, WEIR_COMPONENT(.name = "moody", .thread = "one"));
    host_start(engine);
    atomic_store(&failures_due, 2); /* the new one, and back */
    restart("moody", NULL, WEIR_E_USER);
    assert_string_equal(phase_of("moody"), "failed");
    post(moody, 5);
    assert_false(journal_has("moody.got5 "));
    atomic_store(&failures_due, 2);
    restart("moody", NULL, WEIR_E_USER);
    restart("moody", NULL, WEIR_OK);
    assert_string_equal(phase_of("moody"), "running");
    TEST_UNTIL(journal_has("moody.got5 "));
    const weir_stop_report report = host_stop(engine);
    assert_int_equal(report.dead, 0);
}

static void a_stop_does_not_wait_for_one_that_has_failed(void **state)
{
    (void)state;
    atomic_store(&failures_due, 0);
    const weir_processor moody =
        actor_add(engine, &moody_type, WEIR_COMPONENT(.name = "moody", .thread = "one"));
    host_start(engine);
    atomic_store(&failures_due, 2);
    restart("moody", NULL, WEIR_E_USER);
    post(moody, 5);
    journal_begin();
    const weir_ns begin = test_now();
    const weir_stop_report report = host_stop(engine);
    assert_true(test_now() - begin < 10 * WEIR_S);
    assert_int_equal(report.dead, 1); /* and a letter says so */
    assert_string_equal(journal_text(), "");
}

/* ---- not now ---- */

static void unknown_names_and_components_that_do_not_run_are_refused(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    (void)actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "drain", .thread = "one"));
    restart("drain", NULL, WEIR_E_INVALID);
    host_start(engine);
    assert_int_equal(weir_component_restart(engine, "drian", NULL, 0, &error), WEIR_UNKNOWN);
    assert_non_null(strstr(error.text, "did you mean drain?"));
    assert_int_equal(weir_component_restart(NULL, "drain", NULL, 0, NULL), WEIR_E_INVALID);
    assert_int_equal(weir_component_restart(engine, NULL, NULL, 0, NULL), WEIR_E_INVALID);
    (void)host_stop(engine);
    restart("drain", NULL, WEIR_E_INVALID);
}

static gate answers;

static weir_status late_handle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    gate_pass(&answers);
    return weir_turn_reply(turn, event->from, WEIR_EVENT(number, 2));
}

static weir_processor late;

static weir_status on_answer(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    journal_add(weir_component_name(((actor *)state)->self), "answered");
    return WEIR_OK;
}

static weir_status asking_handle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)event;
    return weir_turn_ask(turn, late, WEIR_EVENT(number, 1),
                         WEIR_ASK(.timeout = 20 * WEIR_S, .then = on_answer));
}

static const weir_component_type asking_type =
    ACTOR_TYPE(PROCESSOR, "asking", .handler = asking_handle);

static void one_that_waits_for_an_answer_gets_it_first(void **state)
{
    (void)state;
    gate_shut(&answers);
    late = test_processor_add(engine, WEIR_PROCESSOR(.handler = late_handle, .dispatcher = "one"));
    const weir_processor asking =
        actor_add(engine, &asking_type, WEIR_COMPONENT(.name = "asking", .thread = "two"));
    host_start(engine);
    post(asking, 1);
    journal_begin();
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(weir_component_restart(engine, "asking", NULL, 50 * WEIR_MS, &error),
                     WEIR_TIMEOUT);
    assert_string_equal(journal_text(), "");
    assert_string_equal(phase_of("asking"), "running");
    gate_open(&answers);
    restart("asking", NULL, WEIR_OK);
    assert_memory_equal(journal_text(), "asking.answered asking.stop ", 28);
    (void)host_stop(engine);
}

static atomic_int flush_answer;

static weir_status actor_flush(void *state, weir_component *self)
{
    (void)state;
    (void)self;
    return atomic_load(&flush_answer);
}

static weir_status actor_finish(void *state, weir_turn *turn)
{
    (void)turn;
    journal_add(weir_component_name(((actor *)state)->self), "finish");
    return WEIR_OK;
}

static const weir_component_type flushed_type = ACTOR_TYPE(
    SINK, "flushed", .handler = actor_handle, .flush = actor_flush, .finish = actor_finish);

static void a_sink_that_cannot_be_flushed_goes_on(void **state)
{
    (void)state;
    atomic_store(&flush_answer, WEIR_FULL);
    const weir_processor sink =
        actor_add(engine, &flushed_type, WEIR_COMPONENT(.name = "sink", .thread = "one"));
    host_start(engine);
    post(sink, 1);
    TEST_UNTIL(journal_has("sink.got1 "));
    journal_begin();
    weir_error error = WEIR_ERROR_INIT;
    assert_true(weir_component_restart(engine, "sink", NULL, 50 * WEIR_MS, &error) != WEIR_OK);
    assert_non_null(strstr(error.text, "cannot be flushed"));
    assert_string_equal(journal_text(), "");
    post(sink, 2);
    TEST_UNTIL(journal_has("sink.got2 "));
    atomic_store(&flush_answer, WEIR_OK);
    journal_begin();
    restart("sink", NULL, WEIR_OK);
    assert_string_equal(journal_text(), "sink.finish sink.stop sink.tear_down sink.init "
                                        "sink.start sink.start_complete ");
    (void)host_stop(engine);
}

/* ---- other kinds ---- */

static void instances_begin_anew_one_by_one_or_all(void **state)
{
    (void)state;
    (void)actor_add(engine, &processor_actor, WEIR_COMPONENT(.name = "mill", .instances = 2));
    host_start(engine);
    journal_begin();
    restart("mill/2", NULL, WEIR_OK);
    assert_string_equal(journal_text(), "mill/2.stop mill/2.tear_down mill/2.init mill/2.start "
                                        "mill/2.start_complete ");
    journal_begin();
    restart("mill", NULL, WEIR_OK);
    assert_string_equal(journal_text(), "mill/1.stop mill/1.tear_down mill/1.init mill/1.start "
                                        "mill/1.start_complete mill/2.stop mill/2.tear_down "
                                        "mill/2.init mill/2.start mill/2.start_complete ");
    (void)host_stop(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            it_ends_and_begins_again_with_its_address_and_those_who_name_it, open_engine,
            close_engine),
        cmocka_unit_test_setup_teardown(what_was_sent_before_is_handled_by_the_one_before,
                                        open_engine, close_engine),
        cmocka_unit_test_setup_teardown(what_is_sent_meanwhile_waits_and_keeps_its_order,
                                        open_engine, close_engine),
        cmocka_unit_test_setup_teardown(another_config_is_in_effect_from_then_on, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(a_config_that_will_not_do_leaves_it_as_it_was, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(one_that_cannot_even_go_back_keeps_its_mail_for_another_try,
                                        open_engine, close_engine),
        cmocka_unit_test_setup_teardown(a_stop_does_not_wait_for_one_that_has_failed, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(unknown_names_and_components_that_do_not_run_are_refused,
                                        open_engine, close_engine),
        cmocka_unit_test_setup_teardown(one_that_waits_for_an_answer_gets_it_first, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(a_sink_that_cannot_be_flushed_goes_on, open_engine,
                                        close_engine),
        cmocka_unit_test_setup_teardown(instances_begin_anew_one_by_one_or_all, open_engine,
                                        close_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
