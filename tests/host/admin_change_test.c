/*
 * admin_change_test.c - the admin commands that restart and move what runs: by supervision's way in
 * a turn, or by a component's way of life; and what they refuse (S-80).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "admin_support.h"

static desk d;

static int set_up(void **state)
{
    (void)state;
    desk_open(&d);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    desk_close(&d);
    return 0;
}

/* ---- restart ---- */

WEIR_EMPTY_TYPE(tick, "test.tick");

typedef struct tally {
    uint64_t ticks;
} tally;

static atomic_int inits, destroys, init_answer;
static atomic_uint_least64_t last;
static sem_t entered, leave;
static atomic_bool stays;

static weir_status tally_init(void *state, weir_turn *turn, void *argument)
{
    (void)state;
    (void)turn;
    (void)argument;
    atomic_fetch_add(&inits, 1);
    return atomic_load(&init_answer);
}

static void tally_destroy(void *state, weir_status reason)
{
    (void)state;
    (void)reason;
    atomic_fetch_add(&destroys, 1);
}

static weir_status tally_handle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    if (atomic_exchange(&stays, false)) {
        (void)sem_post(&entered);
        (void)test_sem_taken(&leave);
    }
    atomic_store(&last, ++((tally *)state)->ticks);
    return WEIR_OK;
}

static weir_processor add_tally(const char *name, weir_processor parent, weir_directive directive)
{
    atomic_store(&inits, 0);
    atomic_store(&destroys, 0);
    atomic_store(&init_answer, WEIR_OK);
    atomic_store(&stays, false);
    const weir_processor made = weir_processor_add(
        d.engine,
        WEIR_PROCESSOR(.name = name, .handler = tally_handle, .state_size = sizeof(tally),
                       .init = tally_init, .destroy = tally_destroy, .parent = parent,
                       .on_failure = directive),
        &d.error);
    assert_true(made.id != 0);
    TEST_UNTIL(atomic_load(&inits) == 1);
    return made;
}

static uint64_t tick_it(weir_processor to)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_processor_counters(d.engine, to, &c));
    const uint64_t before = c.handled;
    assert_int_equal(WEIR_OK, weir_engine_post(d.engine, to, WEIR_EMPTY(tick)));
    TEST_UNTIL(weir_processor_counters(d.engine, to, &c) == WEIR_OK && c.handled == before + 1);
    return atomic_load(&last);
}

static void a_processor_is_restarted_with_its_state_made_anew(void **state)
{
    (void)state;
    static const weir_directive directives[] = { WEIR_RESUME, WEIR_RETRY, WEIR_RESTART };
    for (int i = 0; i < 3; i++) {
        char name[16], line[64];
        (void)snprintf(name, sizeof(name), "tally%d", i);
        (void)snprintf(line, sizeof(line), "processors restart %s", name);
        const weir_processor made = add_tally(name, (weir_processor){ 0 }, directives[i]);
        (void)tick_it(made);
        assert_int_equal(2, tick_it(made));
        for (int k = 1; k <= 5; k++) { /* more often than supervision would */
            char wanted[96];
            assert_int_equal(WEIR_OK, desk_run(&d, line));
            (void)snprintf(wanted, sizeof(wanted),
                           "{\"processor\": \"%s\", \"restarted\": true, \"restarts\": %d}", name,
                           k);
            assert_says(wanted);
            assert_int_equal(1, tick_it(made)); /* the state is new */
            assert_int_equal(1 + k, atomic_load(&inits));
            assert_int_equal(k, atomic_load(&destroys));
        }
        weir_counters c = WEIR_COUNTERS_INIT;
        assert_int_equal(WEIR_OK, weir_processor_counters(d.engine, made, &c));
        assert_int_equal(0, c.dead);
    }
}

static void one_without_anything_to_make_anew_is_restarted_too(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, desk_run(&d, "processors restart book"));
    assert_says("{\"processor\": \"book\", \"restarted\": true, \"restarts\": 1}");
    const weir_processor plain = weir_processor_add(
        d.engine, WEIR_PROCESSOR(.handler = desk_handle, .argument = &d), &d.error);
    char name[64], line[96];
    (void)weir_processor_name(d.engine, plain, name, sizeof(name));
    (void)snprintf(line, sizeof(line), "processors restart %s", name);
    assert_int_equal(WEIR_OK, desk_run(&d, line));
    assert_says("\"restarts\": 1}");
    /* What fails is still the end of its event, and of nothing else. */
    weir_counters c = WEIR_COUNTERS_INIT;
    assert_int_equal(WEIR_OK,
                     weir_engine_post(d.engine, d.book, &(const weir_event){ .type = &desk_fail }));
    TEST_UNTIL(weir_processor_counters(d.engine, d.book, &c) == WEIR_OK && c.dead == 1);
    desk_hold(&d);
    (void)sem_post(&d.go);
}

static void its_children_end_before_it_is_restarted(void **state)
{
    (void)state;
    const weir_processor parent = add_tally("parent", (weir_processor){ 0 }, WEIR_RESUME);
    const weir_processor child = add_tally("child", parent, WEIR_RESUME);
    assert_int_equal(WEIR_OK, desk_run(&d, "processors restart parent"));
    weir_counters c = WEIR_COUNTERS_INIT;
    assert_int_equal(WEIR_UNKNOWN, weir_processor_counters(d.engine, child, &c));
    assert_int_equal(2, atomic_load(&destroys)); /* the child's, and the parent's */
    assert_int_equal(1, tick_it(parent));
}

static void one_whose_init_fails_the_second_time_is_gone(void **state)
{
    (void)state;
    (void)add_tally("tally", (weir_processor){ 0 }, WEIR_RESUME);
    atomic_store(&init_answer, WEIR_E_USER);
    (void)desk_run(&d, "processors restart tally"); /* it may see the counter before the end */
    TEST_UNTIL(weir_processor_find(d.engine, "tally").id == 0);
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "processors restart tally"));
}

static void a_processor_comes_to_its_restart_in_order(void **state)
{
    (void)state;
    const weir_processor made = add_tally("tally", (weir_processor){ 0 }, WEIR_RESUME);
    (void)sem_init(&entered, 0, 0);
    (void)sem_init(&leave, 0, 0);
    atomic_store(&stays, true);
    assert_int_equal(WEIR_OK, weir_engine_post(d.engine, made, WEIR_EMPTY(tick)));
    assert_true(test_sem_taken(&entered));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(d.engine, made, WEIR_EMPTY(tick)));
    }
    assert_int_equal(WEIR_TIMEOUT, desk_run(&d, "processors restart tally"));
    assert_says("it is restarted when it does");
    assert_int_equal(WEIR_OK, weir_engine_post(d.engine, made, WEIR_EMPTY(tick)));
    (void)sem_post(&leave);
    weir_counters c = WEIR_COUNTERS_INIT;
    TEST_UNTIL(weir_processor_counters(d.engine, made, &c) == WEIR_OK && c.handled == 5);
    assert_int_equal(1, atomic_load(&last)); /* three before it, one behind it */
    assert_int_equal(1, c.restarts);
}

static void what_cannot_be_restarted_is_refused(void **state)
{
    (void)state;
    const weir_router orders = weir_router_add(
        d.engine, WEIR_ROUTER(.name = "orders", .handler = desk_handle, .workers = 1), &d.error);
    assert_true(orders.id != 0);
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "processors restart bok"));
    assert_says("no processor is called 'bok'; did you mean 'book'?");
    assert_int_equal(WEIR_E_INVALID, desk_run(&d, "processors restart flows:orders/0"));
    assert_says("is a part of a router, whose flows would be lost");
    assert_int_equal(WEIR_E_INVALID, desk_run_as(&d, false, 0, "processors restart book"));
    assert_says("changes something");
}

/* ---- of components ---- */

static atomic_int starts;

static weir_status pump_start(void *state, weir_component *self, weir_error *error)
{
    (void)state;
    (void)self;
    if (atomic_load(&init_answer) != WEIR_OK) {
        return weir_error_set(error, WEIR_E_USER, "pump", "no water");
    }
    atomic_fetch_add(&starts, 1);
    return WEIR_OK;
}

static int32_t pump_work(void *state, weir_component *self, weir_ns *next)
{
    (void)state;
    (void)self;
    *next = WEIR_FOREVER;
    return 0;
}

static const weir_component_type pump = { .struct_size = sizeof(weir_component_type),
                                          .kind = WEIR_KIND_SOURCE,
                                          .name = "pump",
                                          .start = pump_start,
                                          .do_work = pump_work };
static const weir_component_type drain = { .struct_size = sizeof(weir_component_type),
                                           .kind = WEIR_KIND_PROCESSOR,
                                           .name = "drain",
                                           .state_size = sizeof(tally),
                                           .start = pump_start,
                                           .handler = tally_handle };

static void a_component_is_restarted_whole_whatever_its_kind(void **state)
{
    (void)state;
    atomic_store(&starts, 0);
    atomic_store(&init_answer, WEIR_OK);
    assert_int_equal(WEIR_OK, weir_component_add(d.engine, &pump, WEIR_COMPONENT(.name = "pump"),
                                                 NULL, &d.error));
    assert_int_equal(WEIR_OK, weir_component_add(d.engine, &drain,
                                                 WEIR_COMPONENT(.name = "drain", .instances = 2),
                                                 NULL, &d.error));
    (void)weir_components_start(d.engine, &d.error);
    assert_int_equal(3, atomic_load(&starts));
    assert_int_equal(WEIR_OK, desk_run(&d, "processors restart pump")); /* it has no processor */
    assert_says("{\"component\": \"pump\", \"restarted\": true}");
    assert_int_equal(4, atomic_load(&starts));
    assert_int_equal(WEIR_OK, desk_run(&d, "processors restart drain/2"));
    assert_int_equal(5, atomic_load(&starts));
    assert_int_equal(WEIR_OK, desk_run(&d, "processors restart drain"));
    assert_int_equal(7, atomic_load(&starts));
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "processors restart drai"));
    atomic_store(&init_answer, WEIR_E_USER);
    assert_int_equal(WEIR_E_USER, desk_run(&d, "processors restart drain/1"));
    assert_says("component drain/1: start failed: no water");
    assert_int_equal(WEIR_OK, desk_run(&d, "components"));
    assert_says("\"phase\": \"failed\"");
    assert_int_equal(WEIR_OK, desk_run(&d, "health"));
    assert_says("\"what\": \"component drain/1\"");
    atomic_store(&init_answer, WEIR_OK);
    assert_int_equal(WEIR_OK, desk_run(&d, "processors restart drain/1"));
    assert_int_equal(WEIR_OK, desk_run(&d, "components"));
    assert_says_not("failed\"");
}

/* ---- move ---- */

static void a_processor_is_moved_to_where_its_turns_run_then(void **state)
{
    (void)state;
    (void)weir_thread_add(d.engine, WEIR_THREAD(.name = "api", .dispatchers = WEIR_NAMES("api")),
                          &d.error);
    const weir_processor made = add_tally("tally", (weir_processor){ 0 }, WEIR_RESUME);
    assert_int_equal(WEIR_OK, desk_run(&d, "processors move tally api"));
    assert_says("{\"processor\": \"tally\", \"moved\": true, \"from\": \"\", \"dispatcher\": "
                "\"api\"}");
    assert_int_equal(1, tick_it(made));
    assert_int_equal(WEIR_OK, desk_run(&d, "processors list tally"));
    assert_says("\"dispatcher\": \"api\"");
    assert_int_equal(WEIR_OK, desk_run(&d, "processors move tally api"));
    assert_says("\"moved\": false");
    const char *const words[] = { "processors", "move", "tally", "" };
    char *answer = NULL;
    assert_int_equal(WEIR_OK, weir_admin_run(d.engine, words, 4, true, 0, &answer));
    assert_non_null(strstr(answer, "\"from\": \"api\", \"dispatcher\": \"\""));
    weir_admin_free(d.engine, answer);
}

static void what_cannot_be_moved_is_refused_with_the_nearest_names(void **state)
{
    (void)state;
    (void)weir_thread_add(d.engine, WEIR_THREAD(.name = "api", .dispatchers = WEIR_NAMES("orders")),
                          &d.error);
    (void)weir_processor_add(
        d.engine,
        WEIR_PROCESSOR(.name = "alone", .handler = desk_handle, .argument = &d, .dedicated = true),
        &d.error);
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "processors move book ordres"));
    assert_says("the dispatcher is \\\"ordres\\\", which no thread serves; valid:");
    assert_says("did you mean 'orders'?");
    assert_int_equal(WEIR_UNKNOWN, desk_run(&d, "processors move bok orders"));
    assert_says("did you mean 'book'?");
    assert_int_equal(WEIR_E_INVALID, desk_run(&d, "processors move alone orders"));
    assert_says("it is dedicated");
    assert_int_equal(WEIR_E_INVALID, desk_run(&d, "processors move book"));
    assert_says("takes 2 arguments, not 1");
    assert_int_equal(WEIR_E_INVALID, desk_run_as(&d, false, 0, "processors move book orders"));
}

/* ---- threads ---- */

static void threads_shows_those_that_serve_no_dispatcher_too(void **state)
{
    (void)state;
    /* A thread is listed once it runs, which it may do some time after the start. */
    TEST_UNTIL(desk_run(&d, "threads") == WEIR_OK &&
               strstr(desk_answer, "\"thread\": \"weir-watchdog\", \"kind\": \"watchdog\"") !=
                   NULL);
    assert_says_not("\"scheduler\""); /* no timer has been yet */
    weir_timer timer;
    assert_int_equal(WEIR_OK,
                     weir_timer_add(d.engine, d.book, &(const weir_event){ .type = &desk_fail },
                                    WEIR_TIMER(.after = WEIR_S * 1000), &timer));
    TEST_UNTIL(desk_run(&d, "threads") == WEIR_OK &&
               strstr(desk_answer, "\"thread\": \"weir-timer\", \"kind\": \"scheduler\"") != NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_processor_is_restarted_with_its_state_made_anew, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(one_without_anything_to_make_anew_is_restarted_too, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(its_children_end_before_it_is_restarted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_whose_init_fails_the_second_time_is_gone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_processor_comes_to_its_restart_in_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_restarted_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_component_is_restarted_whole_whatever_its_kind, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_processor_is_moved_to_where_its_turns_run_then, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_moved_is_refused_with_the_nearest_names,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads_shows_those_that_serve_no_dispatcher_too, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
