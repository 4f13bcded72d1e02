/*
 * ask_blocking_test.c - weir_engine_ask: an ordinary thread waits for an answer (S-16).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ask_support.h"

enum { THREADS = 8 };

static weir_status ask_outside(ask_bed *b, uint64_t value, weir_ns timeout, weir_event *reply)
{
    return weir_engine_ask(b->engine, b->oracle.self, WEIR_EVENT(number, value), timeout, reply);
}

static void a_thread_gets_the_answer_and_gives_it_back(void **state)
{
    (void)state;
    ask_bed b;
    weir_event reply;
    ask_bed_make(&b, AT_ONCE);
    assert_int_equal(WEIR_OK, ask_outside(&b, 3, 0, &reply));
    const number *n = weir_event_as(&reply, &number_type);
    assert_non_null(n);
    assert_int_equal(3 + ADDED, n->value);
    assert_int_equal(b.oracle.self.id, reply.from.sender.id);
    assert_int_equal(0, reply.from.ask);
    weir_event_release(&reply);
    assert_null(reply.type);
    assert_int_equal(0, test_engine_counters(b.engine).block_bytes);
    const weir_stop_report report = test_engine_end(b.engine);
    assert_int_equal(1, report.handled); /* the answer was in no mailbox */
    assert_int_equal(1, report.accepted);
}

static void without_an_answer_it_is_a_timeout_and_a_late_one_is_refused(void **state)
{
    (void)state;
    ask_bed b;
    weir_event reply;
    ask_bed_make(&b, KEEPS);
    const weir_ns before = test_now();
    assert_int_equal(WEIR_TIMEOUT, ask_outside(&b, 1, 10 * WEIR_MS, &reply));
    assert_true(test_now() - before >= 10 * WEIR_MS);
    assert_null(reply.type);
    assert_int_equal(WEIR_TIMEOUT, ask_outside(&b, 2, WEIR_NOW, &reply));
    test_sem_wait(&b.oracle.got);
    test_sem_wait(&b.oracle.got);
    oracle_goes_on(&b);
    for (size_t i = 0; i < 2; i++) {
        test_sem_wait(&b.oracle.replies);
        assert_int_equal(WEIR_UNKNOWN, b.oracle.replied[i]);
    }
    assert_int_equal(2, test_engine_counters(b.engine).refused_unknown);
    assert_int_equal(3, test_engine_end(b.engine).handled);
}

static void a_second_answer_to_a_thread_is_unknown(void **state)
{
    (void)state;
    ask_bed b;
    weir_event reply;
    ask_bed_make(&b, TWICE);
    assert_int_equal(WEIR_OK, ask_outside(&b, 3, 0, &reply));
    test_sem_wait(&b.oracle.replies);
    test_sem_wait(&b.oracle.replies);
    assert_int_equal(WEIR_OK, b.oracle.replied[0]);
    assert_int_equal(WEIR_UNKNOWN, b.oracle.replied[1]);
    weir_event_release(&reply);
    assert_int_equal(1, test_engine_end(b.engine).handled);
}

WEIR_EMPTY_TYPE(nod, "test.nod");

static weir_status reply_with_a_nod(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    return weir_turn_reply(turn, event->from, WEIR_EMPTY(nod));
}

static void an_answer_that_is_only_its_type_is_one(void **state)
{
    (void)state;
    weir_event reply;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 1));
    const weir_processor p =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = reply_with_a_nod));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_engine_ask(engine, p, WEIR_EMPTY(nod), 0, &reply));
    assert_ptr_equal(&nod_type, reply.type);
    assert_int_equal(0, reply.size);
    weir_event_release(&reply);
    assert_int_equal(1, test_engine_end(engine).handled);
}

static weir_status block_inside(void *state, weir_turn *turn, const weir_event *event)
{
    asker *a = state;
    weir_event reply = { .type = NULL };
    a->asked[0] = weir_engine_ask(weir_turn_engine(turn), a->target, event, 0, &reply);
    (void)sem_post(&a->done);
    return WEIR_OK;
}

static void what_cannot_be_asked_from_outside_is_a_status(void **state)
{
    (void)state;
    ask_bed b;
    weir_event reply;
    ask_bed_open(&b, AT_ONCE, WEIR_PROCESSOR(.handler = block_inside));
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, test_post(b.engine, b.asker.self, 1));
    test_sem_wait(&b.asker.done);
    assert_int_equal(WEIR_E_BLOCKING, b.asker.asked[0]);
    assert_int_equal(WEIR_E_INVALID, ask_outside(&b, 1, 0, NULL));
    assert_int_equal(WEIR_E_INVALID,
                     weir_engine_ask(NULL, b.oracle.self, WEIR_EVENT(number, 1), 0, &reply));
    assert_int_equal(WEIR_E_INVALID, weir_engine_ask(b.engine, b.oracle.self, NULL, 0, &reply));
    assert_int_equal(WEIR_UNKNOWN, weir_engine_ask(b.engine, (weir_processor){ 0 },
                                                   WEIR_EVENT(number, 1), 0, &reply));
    assert_int_equal(WEIR_OK, weir_engine_stop(b.engine, 0, NULL));
    assert_int_equal(WEIR_STOPPING, ask_outside(&b, 1, 0, &reply));
    assert_null(reply.type);
    weir_engine_destroy(b.engine);
}

typedef struct guest {
    ask_bed *bed;
    uint64_t number, rounds;
    uint64_t wrong;
    weir_ns timeout;
    weir_status last;
} guest;

static void *ask_many(void *argument)
{
    guest *g = argument;
    for (uint64_t i = 0; i < g->rounds; i++) {
        weir_event reply;
        const uint64_t value = g->number * g->rounds + i;
        g->last = ask_outside(g->bed, value, g->timeout, &reply);
        const number *n = g->last == WEIR_OK ? weir_event_as(&reply, &number_type) : NULL;
        g->wrong += g->last != WEIR_OK || n == NULL || n->value != value + ADDED;
        weir_event_release(&reply);
    }
    return NULL;
}

static void run_guests(ask_bed *b, guest *guests, pthread_t *threads, uint64_t rounds,
                       weir_ns timeout)
{
    for (uint64_t i = 0; i < THREADS; i++) {
        guests[i] = (guest){ .bed = b, .number = i, .rounds = rounds, .timeout = timeout };
        assert_int_equal(0, pthread_create(&threads[i], NULL, ask_many, &guests[i]));
    }
}

static void eight_threads_get_each_their_own_answers(void **state)
{
    (void)state;
    const uint64_t rounds = test_load(5000, 500);
    ask_bed b;
    guest guests[THREADS];
    pthread_t threads[THREADS];
    ask_bed_make(&b, AT_ONCE);
    run_guests(&b, guests, threads, rounds, 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(0, guests[i].wrong);
    }
    assert_int_equal(THREADS * rounds, test_engine_end(b.engine).handled);
}

static void a_stop_of_the_engine_wakes_threads_that_wait(void **state)
{
    (void)state;
    for (int in_time = 0; in_time < 2; in_time++) {
        ask_bed b;
        guest guests[THREADS];
        pthread_t threads[THREADS];
        ask_bed_make(&b, SILENT);
        run_guests(&b, guests, threads, 1, WEIR_FOREVER);
        for (int i = 0; i < THREADS; i++) {
            test_sem_wait(&b.oracle.got);
        }
        const weir_status status = weir_engine_stop(b.engine, in_time == 0 ? WEIR_NOW : 0, NULL);
        assert_true(status == WEIR_OK || in_time == 0);
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(0, pthread_join(threads[i], NULL));
            assert_int_equal(WEIR_STOPPING, guests[i].last);
        }
        weir_engine_destroy(b.engine);
    }
}

/* What was asked before the stop, and waits in a mailbox, is answered while that drains. */
static void a_stop_drains_questions_of_threads_and_answers_them(void **state)
{
    (void)state;
    ask_bed b;
    test_recorder gate;
    guest guests[THREADS];
    pthread_t threads[THREADS];
    test_recorder_init(&gate, true);
    ask_bed_open(&b, AT_ONCE, WEIR_PROCESSOR(.name = "asker"));
    const weir_processor held =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                    .argument = &gate, .dispatcher = "oracle"));
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, test_post(b.engine, held, 0));
    test_sem_wait(&gate.entered);
    run_guests(&b, guests, threads, 1, WEIR_FOREVER);
    TEST_UNTIL(test_processor_counters(b.engine, b.oracle.self).accepted == THREADS);
    assert_int_equal(WEIR_OK, weir_engine_stop_async(b.engine, TEST_PATIENCE));
    test_recorder_pass(&gate, 1);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(0, guests[i].wrong);
    }
    assert_int_equal(WEIR_OK, weir_engine_wait(b.engine, TEST_PATIENCE, NULL));
    weir_engine_destroy(b.engine);
}

/* Before the start nobody is there to answer; but it may come. */
static void a_thread_may_ask_before_the_start(void **state)
{
    (void)state;
    ask_bed b;
    guest g;
    pthread_t thread;
    ask_bed_open(&b, AT_ONCE, WEIR_PROCESSOR(.name = "asker"));
    g = (guest){ .bed = &b, .rounds = 1, .timeout = TEST_PATIENCE };
    assert_int_equal(0, pthread_create(&thread, NULL, ask_many, &g));
    TEST_UNTIL(test_processor_counters(b.engine, b.oracle.self).accepted == 1);
    test_engine_start(b.engine);
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_int_equal(0, g.wrong);
    (void)test_engine_end(b.engine);
}

/* Two engines give out numbers alike; a ticket says whose it is. */
static void the_ticket_of_another_engine_is_unknown(void **state)
{
    (void)state;
    ask_bed ours;
    ask_bed theirs;
    guest g[2];
    pthread_t threads[2];
    ask_bed_make(&ours, KEEPS);
    ask_bed_make(&theirs, KEEPS);
    for (int i = 0; i < 2; i++) { /* each the first of its engine */
        g[i] = (guest){ .bed = i == 0 ? &ours : &theirs, .rounds = 1, .timeout = TEST_PATIENCE };
        assert_int_equal(0, pthread_create(&threads[i], NULL, ask_many, &g[i]));
        test_sem_wait(&g[i].bed->oracle.got);
    }
    assert_int_equal(WEIR_OK, let_ask(ours.engine, &ours.asker, 1));
    test_sem_wait(&ours.oracle.got);
    assert_int_equal(WEIR_OK, let_ask(theirs.engine, &theirs.asker, 1));
    test_sem_wait(&theirs.oracle.got);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(theirs.engine, theirs.oracle.self,
                                                   WEIR_EVENT(handed, ours.oracle.kept[i], 1)));
        test_sem_wait(&theirs.oracle.replies);
        assert_int_equal(WEIR_UNKNOWN, theirs.oracle.replied[i]);
    }
    oracle_goes_on(&ours);
    oracle_goes_on(&theirs);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(0, g[i].wrong);
    }
    (void)test_engine_end(theirs.engine);
    (void)test_engine_end(ours.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_gets_the_answer_and_gives_it_back),
        cmocka_unit_test(without_an_answer_it_is_a_timeout_and_a_late_one_is_refused),
        cmocka_unit_test(a_second_answer_to_a_thread_is_unknown),
        cmocka_unit_test(an_answer_that_is_only_its_type_is_one),
        cmocka_unit_test(what_cannot_be_asked_from_outside_is_a_status),
        cmocka_unit_test(eight_threads_get_each_their_own_answers),
        cmocka_unit_test(a_stop_of_the_engine_wakes_threads_that_wait),
        cmocka_unit_test(a_stop_drains_questions_of_threads_and_answers_them),
        cmocka_unit_test(a_thread_may_ask_before_the_start),
        cmocka_unit_test(the_ticket_of_another_engine_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
