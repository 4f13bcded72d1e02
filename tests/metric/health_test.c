/*
 * health_test.c - up, degraded, down: each reason with an engine that really has it, and up again
 * when it is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "metric_support.h"

#include "host/host.h"
#include "metric/metric.h"

static scene s;
static char why[512];

static int set_up(void **state)
{
    (void)state;
    scene_open(&s);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scene_close(&s);
    return 0;
}

static weir_health health(void)
{
    return weir_engine_health(s.engine, why, sizeof(why));
}

/* All reasons, one a line; "" if it is up. */
static char reasons[8192];
static weir_health worst;

static bool add_reason(void *context, const char *what, weir_health status, const char *reason)
{
    (void)context;
    const size_t used = strlen(reasons);
    assert_true(status <= worst || used == 0); /* the worst first */
    worst = status;
    (void)snprintf(reasons + used, sizeof(reasons) - used, "%s %s: %s\n",
                   status == WEIR_DOWN ? "down" : "degraded", what, reason);
    return true;
}

static const char *all_reasons(void)
{
    reasons[0] = '\0';
    weir_health_visit(s.engine, add_reason, NULL);
    return reasons;
}

/* What was seen so far is older now. */
static void age(weir_ns by)
{
    weir__health_state *state = &weir__metrics_of(s.engine)->health;
    for (uint32_t i = 0; i < state->feed_count; i++) {
        state->feeds[i].dropped_at -= state->feeds[i].dropped_at != 0 ? by : 0;
        state->feeds[i].waited_at -= state->feeds[i].waited_at != 0 ? by : 0;
    }
    state->gone_at -= state->gone_at != 0 ? by : 0;
}

static void an_engine_is_down_before_its_start_and_after_its_stop(void **state)
{
    (void)state;
    scene early;
    scene_make(&early, WEIR_ENGINE(.name = "early"));
    assert_int_equal(WEIR_DOWN, weir_engine_health(early.engine, why, sizeof(why)));
    assert_string_equal("engine early: the engine has not started", why);
    weir_engine_destroy(early.engine);
    assert_int_equal(WEIR_UP, health());
    assert_string_equal("", why);
    assert_string_equal("", all_reasons());
    assert_int_equal(WEIR_UP, weir_engine_health(s.engine, NULL, 0));
    assert_int_equal(WEIR_OK, weir_engine_stop(s.engine, 0, NULL));
    assert_int_equal(WEIR_DOWN, health());
    assert_string_equal("engine scene: the engine has stopped", why);
    assert_int_equal(WEIR_DOWN, weir_engine_health(NULL, why, sizeof(why)));
    assert_int_equal(WEIR_DOWN, weir_engine_health(s.engine, why, 8));
    assert_string_equal("engine ", why);
    weir_health_visit(NULL, add_reason, NULL);
    weir_health_visit(s.engine, NULL, NULL);
}

static void a_handler_that_does_not_return_degrades_until_it_does(void **state)
{
    (void)state;
    const scene kept = s;
    scene_make(&s, WEIR_ENGINE(.stuck_after = WEIR_MS));
    s.risk = scene_add(&s, WEIR_PROCESSOR(.name = "mire"));
    assert_int_equal(WEIR_OK, weir_engine_start(s.engine, &s.error));
    scene_hold(&s);
    TEST_UNTIL(health() == WEIR_DEGRADED);
    assert_string_equal("processor mire: its handler has not returned for too long; the log has "
                        "its stack",
                        why);
    (void)sem_post(&s.go);
    TEST_UNTIL(health() == WEIR_UP);
    scene_close(&s);
    s = kept;
}

static void a_mailbox_that_is_nearly_full_degrades(void **state)
{
    (void)state;
    scene_hold(&s);
    scene_post(&s, s.risk, TOLD(work), 7); /* with the one at hand: 8 of 10 */
    assert_int_equal(WEIR_UP, health());
    scene_post(&s, s.risk, TOLD(work), 1);
    assert_int_equal(WEIR_DEGRADED, health());
    assert_string_equal("processor risk: its mailbox is 90 % full", why);
    char *json = scene_json(&s, NULL);
    assert_has(json,
               "\"health\":{\"status\":\"degraded\",\"reasons\":[{\"what\":\"processor risk\","
               "\"status\":\"degraded\",\"reason\":\"its mailbox is 90 % full\"}]}");
    free(json);
    char *text = scene_text(&s, NULL);
    assert_int_equal(WEIR_DEGRADED, series_count(text, "weir_health"));
    free(text);
    (void)sem_post(&s.go);
    TEST_UNTIL(health() == WEIR_UP);
}

static void of_many_full_mailboxes_some_are_named_and_all_are_counted(void **state)
{
    (void)state;
    scene_hold(&s);
    for (uint32_t i = 0; i < 40; i++) {
        const weir_processor p = scene_add(&s, WEIR_PROCESSOR(.name = NULL, .mailbox_max = 1));
        scene_post(&s, p, TOLD(work), 1);
    }
    assert_has(all_reasons(), "degraded processors: the mailboxes of 24 more are at least 90 % "
                              "full\n");
    assert_has(reasons, "its mailbox is 100 % full");
    (void)sem_post(&s.go);
    TEST_UNTIL(health() == WEIR_UP);
}

static void dead_letters_and_errors_degrade_while_they_are_news(void **state)
{
    (void)state;
    weir_counters c = WEIR_COUNTERS_INIT;
    scene_post(&s, s.risk, TOLD(fail), 2);
    TEST_UNTIL(weir_engine_counters(s.engine, &c) == WEIR_OK && c.letters == 2);
    assert_int_equal(WEIR_DEGRADED, health());
    assert_string_equal("degraded dead letters: 2 in the last 10 s, the last to 'risk': failed\n"
                        "degraded errors: 2 errors in the last minute, the last of 'risk': price "
                        "is \"negative\"\n",
                        all_reasons());
    scene_post(&s, s.risk, TOLD(fail), 30);
    TEST_UNTIL(weir_engine_counters(s.engine, &c) == WEIR_OK && c.letters == 32);
    assert_has(all_reasons(), "20 or more in the last 10 s");
    assert_has(reasons, "20 or more errors in the last minute");
}

static double circuits;

static double read_circuits(void *context)
{
    (void)context;
    return circuits;
}

static void an_open_circuit_breaker_degrades(void **state)
{
    (void)state;
    assert_int_equal(WEIR_OK, weir_metric_add(s.engine,
                                              WEIR_METRIC(.kind = WEIR_METRIC_GAUGE,
                                                          .name = "fan_out_circuits_open",
                                                          .labels = "component=\"split\"",
                                                          .help = "h", .read = read_circuits),
                                              &s.error));
    circuits = 0;
    assert_int_equal(WEIR_UP, health());
    circuits = 2;
    assert_int_equal(WEIR_DEGRADED, health());
    assert_string_equal("figure fan_out_circuits_open: 2 circuit breakers are open: "
                        "component=\"split\"",
                        why);
    circuits = 0;
    assert_int_equal(WEIR_UP, health());
}

/* ---- feeds ---- */

static weir_feed feed_of(weir_slow_consumer slow)
{
    const weir_feed feed = weir_feed_open(
        s.engine, WEIR_FEED(.name = "ticks", .queue_max = 2, .slow = slow, .slow_max = WEIR_MS),
        &s.error);
    test_error_none(&s.error);
    const weir_processor slow_one = scene_add(&s, WEIR_PROCESSOR(.name = "slow", .mailbox_max = 1));
    assert_int_equal(WEIR_OK, weir_feed_subscribe(s.engine, feed, slow_one));
    return feed;
}

static void a_feed_that_drops_degrades_for_a_while(void **state)
{
    (void)state;
    const weir_feed feed = feed_of(WEIR_SLOW_DROP_OLDEST);
    assert_int_equal(WEIR_UP, health());
    scene_hold(&s);
    weir_feed_counters c = WEIR_FEED_COUNTERS_INIT;
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(WEIR_OK, weir_feed_publish(s.engine, feed, TOLD(work)));
    }
    assert_int_equal(WEIR_OK, weir_feed_counters_get(s.engine, feed, &c));
    assert_true(c.dropped > 0);
    assert_has(all_reasons(), "degraded feed ticks: copies were dropped in the last 10 s");
    (void)sem_post(&s.go);
    TEST_UNTIL(strstr(all_reasons(), "mailbox") == NULL);
    assert_has(all_reasons(), "degraded feed ticks: copies were dropped"); /* still news */
    age(9 * WEIR_S);
    assert_has(all_reasons(), "degraded feed ticks: copies were dropped");
    age(2 * WEIR_S);
    assert_string_equal("", all_reasons());
    free(scene_json(&s, NULL)); /* another look finds nothing new either */
    assert_string_equal("", all_reasons());
}

static void a_feed_whose_publisher_waits_degrades_for_a_while(void **state)
{
    (void)state;
    const weir_feed feed = feed_of(WEIR_SLOW_BACKOFF);
    scene_hold(&s);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(WEIR_OK, weir_feed_publish(s.engine, feed, TOLD(work)));
    }
    weir_feed_counters c = WEIR_FEED_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_feed_counters_get(s.engine, feed, &c));
    assert_true(c.waits > 0);
    assert_has(all_reasons(), "since 'slow' is slow");
    (void)sem_post(&s.go);
    age(11 * WEIR_S);
    TEST_UNTIL(health() == WEIR_UP);
}

static void what_was_long_before_the_first_look_is_no_news(void **state)
{
    (void)state;
    const weir_feed feed = feed_of(WEIR_SLOW_DROP_OLDEST);
    scene_hold(&s);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(WEIR_OK, weir_feed_publish(s.engine, feed, TOLD(work)));
    }
    (void)sem_post(&s.go);
    weir_counters c = WEIR_COUNTERS_INIT;
    TEST_UNTIL(weir_engine_counters(s.engine, &c) == WEIR_OK && c.depth == 0);
    s.engine->born -= 11 * WEIR_S; /* it has run for longer than news last */
    TEST_UNTIL(health() == WEIR_UP);
}

/* ---- threads, components ---- */

static void a_thread_that_was_removed_degrades_for_a_while(void **state)
{
    (void)state;
    const weir_thread more = weir_thread_add(
        s.engine, WEIR_THREAD(.name = "spare", .dispatchers = WEIR_NAMES("x")), &s.error);
    test_error_none(&s.error);
    assert_int_equal(WEIR_UP, health());
    assert_int_equal(WEIR_OK, weir_thread_remove(s.engine, more, &s.error));
    assert_int_equal(WEIR_DEGRADED, health());
    assert_string_equal("thread spare: it was removed in the last 10 s", why);
    age(11 * WEIR_S);
    assert_int_equal(WEIR_UP, health());
}

static const weir_component_type store_type = { .struct_size = sizeof(weir_component_type),
                                                .kind = WEIR_KIND_SINK,
                                                .name = "store",
                                                .handler = scene_handle };

static void a_component_that_failed_is_down_and_one_that_does_not_run_degrades(void **state)
{
    (void)state;
    weir_engine *kept = s.engine;
    scene c;
    scene_make(&c, WEIR_ENGINE(.name = "host"));
    assert_int_equal(WEIR_OK, weir_component_add(c.engine, &store_type,
                                                 WEIR_COMPONENT(.name = "disk"), NULL, &c.error));
    assert_int_equal(WEIR_OK, weir_components_start(c.engine, &c.error));
    s.engine = c.engine;
    assert_string_equal("", all_reasons());
    weir_component *disk = weir__host_of(c.engine)->components;
    weir__component_phase_set(disk, WEIR__COMPONENT_FAILED);
    assert_string_equal("down component disk: the sink has failed, and does nothing any more; "
                        "`errors` says how\n",
                        all_reasons());
    weir__component_phase_set(disk, WEIR__COMPONENT_STARTED);
    assert_string_equal("degraded component disk: the sink is started\n", all_reasons());
    weir__component_phase_set(disk, WEIR__COMPONENT_RUNNING);
    assert_string_equal("", all_reasons());
    s.engine = kept;
    scene_close(&c);
}

static void a_component_whose_failure_ended_it_is_down_and_one_that_was_stopped_is_not(void **state)
{
    (void)state;
    weir_engine *kept = s.engine;
    scene c;
    weir_processor disk;
    weir_processor tape;
    scene_make(&c, WEIR_ENGINE(.name = "host"));
    assert_int_equal(WEIR_OK,
                     weir_component_add(c.engine, &store_type,
                                        WEIR_COMPONENT(.name = "disk", .on_failure = WEIR_STOP),
                                        &disk, &c.error));
    assert_int_equal(WEIR_OK, weir_component_add(c.engine, &store_type,
                                                 WEIR_COMPONENT(.name = "tape"), &tape, &c.error));
    assert_int_equal(WEIR_OK, weir_components_start(c.engine, &c.error));
    s.engine = c.engine;
    scene_post(&c, disk, TOLD(work), 1);
    scene_post(&c, tape, TOLD(fail), 1); /* it goes on after that ... */
    scene_post(&c, tape, TOLD(work), 1);
    assert_int_equal(WEIR_OK, weir_processor_stop(c.engine, tape, 0, NULL)); /* ... until here */
    assert_null(strstr(all_reasons(), "down"));
    scene_post(&c, disk, TOLD(fail), 1);
    TEST_UNTIL(strstr(all_reasons(), "down component disk: the sink has failed") != NULL);
    assert_null(strstr(all_reasons(), "component tape: the sink has failed"));
    char *json = scene_json(&c, NULL);
    assert_has(json, "its handler failed, which ends it: on-failure = stop");
    free(json);
    char *text = scene_text(&c, NULL);
    assert_int_equal(
        0, series_count(text, "weir_component_running{component=\"disk\",kind=\"sink\"}"));
    assert_int_equal(
        1, series_count(text, "weir_component_running{component=\"tape\",kind=\"sink\"}"));
    free(text);
    s.engine = kept;
    scene_close(&c);
}

/* ---- looks at once ---- */

typedef struct looker {
    atomic_bool end;
    atomic_uint_least64_t looks, wrong;
} looker;

static bool count_reason(void *context, const char *what, weir_health status, const char *reason)
{
    looker *l = context;
    if (what[0] == '\0' || status == WEIR_UP || reason[0] == '\0') {
        atomic_fetch_add(&l->wrong, 1);
    }
    return true;
}

static void *look_on(void *context)
{
    looker *l = context;
    while (!atomic_load(&l->end)) {
        weir_health_visit(s.engine, count_reason, l);
        weir_metrics_free(s.engine, weir_metrics_json(s.engine, NULL, NULL));
        atomic_fetch_add(&l->looks, 1);
    }
    return NULL;
}

static void looks_from_many_threads_see_threads_come_and_go(void **state)
{
    (void)state;
    pthread_t threads[3];
    looker l = { .end = false };
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(0, pthread_create(&threads[i], NULL, look_on, &l));
    }
    const uint64_t wanted = test_load(200, 40);
    for (uint32_t i = 0; atomic_load(&l.looks) < wanted; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "t%u", i);
        const weir_thread more = weir_thread_add(
            s.engine, WEIR_THREAD(.name = name, .dispatchers = WEIR_NAMES("x")), &s.error);
        test_error_none(&s.error);
        scene_post(&s, s.risk, i % 2 == 0 ? TOLD(work) : TOLD(fail), 3);
        assert_int_equal(WEIR_OK, weir_thread_remove(s.engine, more, &s.error));
    }
    atomic_store(&l.end, true);
    for (uint32_t i = 0; i < 3; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    assert_int_equal(0, atomic_load(&l.wrong));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_engine_is_down_before_its_start_and_after_its_stop,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_handler_that_does_not_return_degrades_until_it_does,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_mailbox_that_is_nearly_full_degrades, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_many_full_mailboxes_some_are_named_and_all_are_counted,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(dead_letters_and_errors_degrade_while_they_are_news, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_open_circuit_breaker_degrades, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_feed_that_drops_degrades_for_a_while, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_feed_whose_publisher_waits_degrades_for_a_while, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_was_long_before_the_first_look_is_no_news, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_thread_that_was_removed_degrades_for_a_while, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_component_that_failed_is_down_and_one_that_does_not_run_degrades, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_component_whose_failure_ended_it_is_down_and_one_that_was_stopped_is_not, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(looks_from_many_threads_see_threads_come_and_go, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
