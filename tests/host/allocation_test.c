/*
 * allocation_test.c - components with their nth allocation failing, n = 1, 2, 3, ...: an error,
 * nothing lost on the way (the allocator counts), and when memory is back the same call succeeds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/fault_support.h" /* first: it has a variable of the name of an event */

#include "host_support.h"

enum { NTH_MAX = 3000 };

static test_fault fault;
static weir_engine *engine;

static void scene_open(void)
{
    weir_error error = WEIR_ERROR_INIT;
    test_fault_init(&fault);
    journal_begin();
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
    engine =
        weir_engine_create(WEIR_ENGINE(.allocator = &allocator, .log_level = WEIR_LOG_OFF), &error);
    (void)host_thread(engine, "one");
    (void)host_thread(engine, "two");
}

static void scene_close(void)
{
    weir_engine_destroy(engine);
    assert_int_equal(0, atomic_load(&fault.bytes));
    assert_int_equal(0, atomic_load(&fault.wrong));
}

/* What is tried, on an engine whose components run or do not. */
static weir_status add_source(void)
{
    return weir_component_add(
        engine, &source_actor,
        WEIR_COMPONENT(.name = "spring", .thread = "one", .config = ACTOR(.fail = "never")), NULL,
        NULL);
}

static weir_status add_processor(void)
{
    static const weir_target targets[] = { TARGET("drain"), TARGET("drain") };
    return weir_component_add(engine, &processor_actor,
                              WEIR_COMPONENT(.name = "mill", .thread = "two", .instances = 2,
                                             .after = WEIR_NAMES("drain", "drain"),
                                             .feeds = WEIR_NAMES("spring"),
                                             .config = ACTOR(.targets = { targets, 2 })),
                              NULL, NULL);
}

static weir_status add_fallbacks(void)
{
    return weir_component_add(engine, &service_actor, WEIR_COMPONENT(.name = "helper"), NULL, NULL);
}

static weir_status start(void)
{
    return weir_components_start(engine, NULL);
}

static weir_status watch(void)
{
    const weir_status status =
        weir_service_watch(engine, "helper", weir_processor_find(engine, "drain"));
    return status == WEIR_ALREADY ? WEIR_OK : status;
}

typedef struct trial {
    weir_status (*call)(void);
    bool running; /* components run meanwhile */
    bool others;  /* the source and the rest are there */
    bool over;    /* after an error it cannot be tried again */
} trial;

/* True: it needs no more than n allocations. */
static bool run_with_nth(const trial *t, long nth, bool lasting)
{
    scene_open();
    (void)actor_add(engine, &sink_actor, WEIR_COMPONENT(.name = "drain", .thread = "one"));
    if (t->others) {
        assert_int_equal(add_source(), WEIR_OK);
    }
    if (t->call == start) {
        assert_int_equal(add_processor(), WEIR_OK);
        assert_int_equal(add_fallbacks(), WEIR_OK);
    }
    if (t->running) {
        host_start(engine);
    }
    test_fault_arm(&fault, nth, lasting);
    const weir_status status = t->call();
    const bool hit = test_fault_disarm(&fault) > 0;
    assert_true(hit || status == WEIR_OK);
    if (status != WEIR_OK) {
        assert_int_equal(status, WEIR_E_NOMEM);
        if (!t->over || weir_components_start(engine, NULL) != WEIR_STOPPING) {
            const weir_status again = t->call();
            /* Before the start a processor that was taken back keeps its name. */
            assert_true(again == WEIR_OK || again == WEIR_ALREADY ||
                        (!t->running && again == WEIR_E_TAKEN));
        }
    }
    scene_close();
    return !hit;
}

static void try_all(const trial *t)
{
    for (int lasting = 0; lasting < 2; lasting++) {
        long nth = 1;
        while (nth < NTH_MAX && !run_with_nth(t, nth, lasting != 0)) {
            nth++;
        }
        assert_true(nth < NTH_MAX);
    }
}

static void an_addition_before_the_start_fails_cleanly(void **state)
{
    (void)state;
    try_all(&(trial){ .call = add_source });
    try_all(&(trial){ .call = add_processor, .others = true });
    try_all(&(trial){ .call = add_fallbacks });
}

static void an_addition_while_others_run_fails_cleanly(void **state)
{
    (void)state;
    try_all(&(trial){ .call = add_source, .running = true });
    try_all(&(trial){ .call = add_processor, .running = true, .others = true });
    try_all(&(trial){ .call = add_fallbacks, .running = true });
}

static void a_start_fails_cleanly(void **state)
{
    (void)state;
    try_all(&(trial){ .call = start, .others = true, .over = true });
}

static void a_watch_fails_cleanly(void **state)
{
    (void)state;
    try_all(&(trial){ .call = watch, .running = true, .others = true });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_addition_before_the_start_fails_cleanly),
        cmocka_unit_test(an_addition_while_others_run_fails_cleanly),
        cmocka_unit_test(a_start_fails_cleanly),
        cmocka_unit_test(a_watch_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
