/*
 * overflow_test.c - bugs that were: posters and full mailboxes. Posters that wait for room in a
 * processor that ends in another way than by a stop that drains; a log hook that waited for room
 * while a lock was held; evictions that a stop miscounted; posters that looked at a processor while
 * it was unregistered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "regress_support.h"

#define BLOCKING .mailbox_max = 1, .overflow = WEIR_OVERFLOW_BLOCK, .block_max = WEIR_FOREVER

static void a_stop_that_gives_up_ends_the_posts_that_wait_for_room(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = quiet_engine(1);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder, BLOCKING));
    test_engine_start(engine);
    put_in_hand(engine, to, &recorder);
    assert_int_equal(WEIR_OK, test_post(engine, to, 2));
    aside_post late = { .engine = engine, .to = to };
    aside posting;
    aside_begin(&posting, aside_post_once, &late);
    aside_sleeps(&posting);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(engine, to, WEIR_NOW, &report));
    aside_end(&posting); /* while the handler is still in its gate */
    assert_int_equal(WEIR_STOPPING, late.status);
    assert_int_equal(2, report.left);
    assert_int_equal(2, report.accepted);
    test_recorder_pass(&recorder, 1);
    TEST_UNTIL(is_gone(engine, to));
    weir_engine_destroy(engine);
}

static void a_failed_init_ends_the_posts_that_wait_for_room(void **state)
{
    (void)state;
    gated_init init;
    gated_init_open(&init, WEIR_E_FAILED);
    weir_engine *engine = quiet_engine(1);
    test_engine_start(engine);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing, .init = gated_init_run,
                                                  .argument = &init, BLOCKING));
    test_sem_wait(&init.entered);
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    aside_post late = { .engine = engine, .to = to };
    aside posting;
    aside_begin(&posting, aside_post_once, &late);
    aside_sleeps(&posting);
    assert_int_equal(0, sem_post(&init.pass));
    aside_end(&posting);
    assert_true(late.status == WEIR_STOPPING || late.status == WEIR_UNKNOWN);
    TEST_UNTIL(is_gone(engine, to));
    assert_int_equal(1, test_engine_end(engine).dead);
}

/* It closes every mailbox, also those of processors whose own init went well. */
static void a_failed_start_ends_the_posts_that_wait_for_room(void **state)
{
    (void)state;
    weir_engine *engine = quiet_engine(1);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing, BLOCKING));
    (void)test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing, .init = init_badly));
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    aside_post late[2] = { { .engine = engine, .to = to }, { .engine = engine, .to = to } };
    aside posting[2];
    for (size_t i = 0; i < 2; i++) {
        aside_begin(&posting[i], aside_post_once, &late[i]);
        aside_sleeps(&posting[i]);
    }
    assert_int_equal(WEIR_E_FAILED, weir_engine_start(engine, NULL));
    for (size_t i = 0; i < 2; i++) {
        aside_end(&posting[i]);
        assert_int_equal(WEIR_STOPPING, late[i].status);
    }
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_ALREADY, weir_engine_stop(engine, 0, &report));
    assert_int_equal(1, report.accepted);
    assert_int_equal(1, report.left);
    weir_engine_destroy(engine);
}

/* ---- from a handler of another engine, from a log hook ---- */

typedef struct elsewhere {
    weir_engine *engine;
    weir_processor to; /* full, and its policy is block */
    weir_status status;
    sem_t done;
} elsewhere;

static weir_status post_elsewhere(void *state, weir_turn *turn, const weir_event *event)
{
    elsewhere *e = state;
    (void)turn;
    e->status = weir_engine_post(e->engine, e->to, event);
    (void)sem_post(&e->done);
    return WEIR_OK;
}

static void log_elsewhere(void *context, const weir_log_entry *entry)
{
    elsewhere *e = context;
    (void)entry;
    e->status = test_post(e->engine, e->to, 1);
    (void)sem_post(&e->done);
}

static weir_processor add_full(weir_engine *engine, test_recorder *recorder)
{
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = recorder, BLOCKING));
    test_engine_start(engine);
    put_in_hand(engine, to, recorder);
    assert_int_equal(WEIR_OK, test_post(engine, to, 2));
    return to;
}

static void a_handler_does_not_wait_for_room_in_another_engine_either(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    elsewhere e = { .engine = quiet_engine(1), .status = WEIR_E_USER };
    assert_int_equal(0, sem_init(&e.done, 0, 0));
    e.to = add_full(e.engine, &recorder);
    weir_engine *here = quiet_engine(1);
    const weir_processor asker =
        test_processor_add(here, WEIR_PROCESSOR(.handler = post_elsewhere, .argument = &e));
    test_engine_start(here);
    assert_int_equal(WEIR_OK, test_post(here, asker, 9));
    test_sem_wait(&e.done); /* nobody gives way */
    assert_int_equal(WEIR_FULL, e.status);
    (void)test_engine_end(here);
    test_recorder_pass(&recorder, 2);
    assert_int_equal(2, test_engine_end(e.engine).handled);
}

/* A stop with mail waiting says so; the hook that hears it may post, and never waits. */
static void a_log_hook_may_post_while_a_processor_stops(void **state)
{
    (void)state;
    test_recorder full, stopped;
    test_recorder_init(&full, true);
    test_recorder_init(&stopped, true);
    elsewhere e = { .status = WEIR_E_USER };
    assert_int_equal(0, sem_init(&e.done, 0, 0));
    e.engine =
        test_engine_create(WEIR_ENGINE(.threads = 2, .log = log_elsewhere, .log_context = &e));
    const weir_processor to = add_recorder(e.engine, &stopped, NULL);
    e.to = add_full(e.engine, &full);
    put_in_hand(e.engine, to, &stopped);
    assert_int_equal(WEIR_OK, test_post(e.engine, to, 2));
    aside_stop stop = { .engine = e.engine, .processor = to, .timeout = TEST_PATIENCE };
    aside stopping;
    aside_begin(&stopping, aside_stop_processor, &stop);
    test_sem_wait(&e.done);
    assert_int_equal(WEIR_FULL, e.status);
    test_recorder_pass(&stopped, 2);
    aside_end(&stopping);
    assert_int_equal(WEIR_OK, stop.status);
    assert_int_equal(2, stop.report.handled);
    test_recorder_pass(&full, 2);
    assert_int_equal(4, test_engine_end(e.engine).handled);
}

/* ---- posters against ends ---- */

enum { POSTERS = 3 };

typedef struct hammer {
    weir_engine *engine;
    atomic_uint_least64_t to;
    atomic_bool quit;
    atomic_uint_least64_t accepted; /* DROPPED is accepted, too */
    aside posters[POSTERS];
} hammer;

static void hammer_post(void *argument)
{
    hammer *h = argument;
    while (!atomic_load(&h->quit)) {
        const weir_processor to = { atomic_load(&h->to) };
        const weir_status status = test_post(h->engine, to, 1);
        if (status == WEIR_OK || status == WEIR_DROPPED) {
            atomic_fetch_add(&h->accepted, 1);
        } else {
            (void)sched_yield(); /* full, stopping or gone: others have work to do */
        }
    }
}

static void hammer_begin(hammer *h, weir_engine *engine, weir_processor to)
{
    h->engine = engine;
    atomic_init(&h->to, to.id);
    atomic_init(&h->quit, false);
    atomic_init(&h->accepted, 0);
    for (int i = 0; i < POSTERS; i++) {
        aside_begin(&h->posters[i], hammer_post, h);
    }
}

static uint64_t hammer_end(hammer *h)
{
    atomic_store(&h->quit, true);
    for (int i = 0; i < POSTERS; i++) {
        aside_end(&h->posters[i]);
    }
    return atomic_load(&h->accepted);
}

/* A stop that misses the end of an eviction would wait until its time is over. */
static void a_stop_amid_evictions_ends_when_the_work_does(void **state)
{
    (void)state;
    const uint64_t rounds = test_load(300, 20);
    for (uint64_t i = 0; i < rounds; i++) {
        weir_engine *engine = quiet_engine(1);
        const weir_processor to =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing, .mailbox_max = 1,
                                                      .overflow = WEIR_OVERFLOW_DROP_OLDEST));
        test_engine_start(engine);
        hammer h;
        hammer_begin(&h, engine, to);
        TEST_UNTIL(atomic_load(&h.accepted) > 20);
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        const weir_status status = weir_engine_stop(engine, TEST_PATIENCE, &report);
        const uint64_t accepted = hammer_end(&h);
        assert_int_equal(WEIR_OK, status);
        assert_int_equal(accepted, report.accepted);
        assert_adds_up(&report);
        weir_engine_destroy(engine);
    }
}

static void posters_may_look_at_a_processor_while_it_is_unregistered(void **state)
{
    (void)state;
    static const weir_overflow policies[] = { WEIR_OVERFLOW_FAIL, WEIR_OVERFLOW_DROP_NEWEST,
                                              WEIR_OVERFLOW_DROP_OLDEST, WEIR_OVERFLOW_BLOCK };
    const uint64_t rounds = test_load(1500, 200);
    weir_engine *engine = quiet_engine(1);
    test_engine_start(engine);
    hammer h;
    hammer_begin(&h, engine, (weir_processor){ 0 });
    uint64_t reported = 0;
    for (uint64_t i = 0; i < rounds; i++) {
        const weir_processor to = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = handle_nothing, .mailbox_max = 1,
                                   .overflow = policies[i % 4], .block_max = WEIR_US));
        atomic_store(&h.to, to.id);
        TEST_UNTIL(test_processor_counters(engine, to).accepted > 0);
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        assert_int_equal(WEIR_OK, weir_processor_stop(engine, to, TEST_PATIENCE, &report));
        assert_adds_up(&report);
        assert_int_equal(0, report.left);
        reported += report.accepted;
    }
    assert_int_equal(reported, hammer_end(&h));
    assert_int_equal(reported, test_engine_end(engine).accepted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_that_gives_up_ends_the_posts_that_wait_for_room),
        cmocka_unit_test(a_failed_init_ends_the_posts_that_wait_for_room),
        cmocka_unit_test(a_failed_start_ends_the_posts_that_wait_for_room),
        cmocka_unit_test(a_handler_does_not_wait_for_room_in_another_engine_either),
        cmocka_unit_test(a_log_hook_may_post_while_a_processor_stops),
        cmocka_unit_test(a_stop_amid_evictions_ends_when_the_work_does),
        cmocka_unit_test(posters_may_look_at_a_processor_while_it_is_unregistered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
