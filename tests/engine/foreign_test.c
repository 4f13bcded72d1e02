/*
 * foreign_test.c - threads that are not weir's: they come, post and end, and what they held of
 * pools goes back (S-27). fork_test.c and signal_test.c have the rest of that row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fault_support.h"

enum { BATCH = 8, POSTS = 10, LARGE = 100, GROWTH_MAX = 1024 * 1024 };

typedef struct guest {
    weir_engine *engine;
    weir_processor to;
    uint64_t accepted, refused;
} guest;

/* Posts small and large ones, takes a block and gives it back, and ends. */
static void *visit_and_end(void *argument)
{
    guest *g = argument;
    unsigned char large[LARGE] = { 1 };
    const weir_event bytes = { .type = &weir_bytes_type, .data = large, .size = LARGE };
    for (uint64_t n = 0; n < POSTS; n++) {
        const weir_status status = n % 2 == 0 ? test_post(g->engine, g->to, n)
                                              : weir_engine_post(g->engine, g->to, &bytes);
        g->accepted += status == WEIR_OK;
        g->refused += status != WEIR_OK;
    }
    weir_block *block = NULL;
    if (weir_block_reserve(g->engine, LARGE, &block) == WEIR_OK) {
        weir_block_release(block);
    }
    return NULL;
}

static weir_status count_all(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    atomic_fetch_add((atomic_uint_least64_t *)state, 1);
    return WEIR_OK;
}

/* BATCH threads at once; comes back when all have ended and all they posted is handled. */
static void run_batch(weir_engine *engine, weir_processor to, atomic_uint_least64_t *handled)
{
    const uint64_t before = atomic_load(handled);
    guest guests[BATCH];
    pthread_t threads[BATCH];
    for (size_t i = 0; i < BATCH; i++) {
        guests[i] = (guest){ .engine = engine, .to = to };
        assert_int_equal(0, pthread_create(&threads[i], NULL, visit_and_end, &guests[i]));
    }
    for (size_t i = 0; i < BATCH; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(POSTS, guests[i].accepted);
        assert_int_equal(0, guests[i].refused);
    }
    TEST_UNTIL(atomic_load(handled) == before + BATCH * POSTS);
}

static void threads_that_end_give_back_what_they_held(void **state)
{
    (void)state;
    const uint64_t batches = test_load(1000, 100);
    atomic_uint_least64_t handled = 0;
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = count_all, .argument = &handled));
    test_engine_start(engine);
    for (uint64_t i = 0; i < 20; i++) { /* until everything that is kept has been made once */
        run_batch(engine, to, &handled);
    }
    const uint64_t pool_bytes = test_engine_counters(engine).pool_bytes;
    const uint64_t resident = test_resident_bytes();
    for (uint64_t i = 0; i < batches; i++) {
        run_batch(engine, to, &handled);
    }
    const weir_counters counters = test_engine_counters(engine);
    fprintf(stderr,
            "# %" PRIu64 " threads: pool %" PRIu64 " -> %" PRIu64 " bytes, resident %" PRIu64
            " -> %" PRIu64 "\n",
            batches * BATCH, pool_bytes, counters.pool_bytes, resident, test_resident_bytes());
    assert_true(counters.pool_bytes <= pool_bytes + GROWTH_MAX);
    if (!TEST_SANITIZED) {
        assert_true(test_resident_bytes() <= resident + 8 * GROWTH_MAX);
    }
    assert_int_equal((20 + batches) * BATCH * POSTS, test_engine_stop(engine).handled);
    assert_int_equal(0, test_engine_counters(engine).block_bytes);
    weir_engine_destroy(engine);
}

static void threads_that_come_one_after_another_need_the_memory_of_one(void **state)
{
    (void)state;
    test_fault memory;
    test_fault_init(&memory);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &memory };
    atomic_uint_least64_t handled = 0;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.allocator = &allocator));
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = count_all, .argument = &handled));
    test_engine_start(engine);
    size_t bytes = 0;
    for (uint64_t i = 0; i < 20; i++) {
        guest g = { .engine = engine, .to = to };
        pthread_t thread;
        assert_int_equal(0, pthread_create(&thread, NULL, visit_and_end, &g));
        assert_int_equal(0, pthread_join(thread, NULL));
        TEST_UNTIL(atomic_load(&handled) == (i + 1) * POSTS);
        /* Pools grow with what waits at once; what a thread needs for itself is always the same. */
        const size_t own = atomic_load(&memory.bytes) - test_engine_counters(engine).pool_bytes;
        assert_true(i == 0 || own == bytes);
        bytes = own;
    }
    assert_int_equal(20 * POSTS, test_engine_end(engine).handled);
    assert_int_equal(0, atomic_load(&memory.bytes));
}

/* ---- a thread that outlives the engines it knew ---- */

typedef struct survivor {
    sem_t post, posted;
    guest *current; /* written before `post` */
    bool end;
} survivor;

static void *post_when_told(void *argument)
{
    survivor *s = argument;
    while (test_sem_taken(&s->post) && !s->end) {
        (void)visit_and_end(s->current);
        (void)sem_post(&s->posted);
    }
    return NULL;
}

static void a_thread_may_outlive_the_engines_it_posted_to(void **state)
{
    (void)state;
    enum { ENGINES = 50 };
    survivor s = { .end = false };
    assert_int_equal(0, sem_init(&s.post, 0, 0));
    assert_int_equal(0, sem_init(&s.posted, 0, 0));
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, post_when_told, &s));
    for (int i = 0; i < ENGINES; i++) {
        atomic_uint_least64_t handled = 0;
        weir_engine *engine = test_engine_create(NULL);
        const weir_processor to =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = count_all, .argument = &handled));
        test_engine_start(engine);
        guest g = { .engine = engine, .to = to };
        s.current = &g;
        (void)sem_post(&s.post);
        test_sem_wait(&s.posted);
        assert_int_equal(POSTS, g.accepted);
        assert_int_equal(POSTS, test_engine_end(engine).handled);
        assert_int_equal(POSTS, atomic_load(&handled));
    }
    s.end = true;
    (void)sem_post(&s.post);
    assert_int_equal(0, pthread_join(thread, NULL)); /* gives back to engines that are gone */
}

static void one_thread_may_post_to_several_engines_in_turn(void **state)
{
    (void)state;
    enum { ENGINES = 5, ROUNDS = 200 };
    weir_engine *engines[ENGINES];
    weir_processor to[ENGINES];
    test_recorder recorders[ENGINES];
    for (size_t i = 0; i < ENGINES; i++) {
        test_recorder_init(&recorders[i], false);
        engines[i] = test_engine_create(NULL);
        to[i] = test_processor_add(
            engines[i], WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorders[i]));
        test_engine_start(engines[i]);
    }
    for (uint64_t n = 0; n < ROUNDS; n++) {
        for (size_t i = 0; i < ENGINES; i++) {
            assert_int_equal(WEIR_OK, test_post(engines[i], to[i], n));
        }
    }
    /* Another engine's handle is unknown, here and there. */
    assert_int_equal(WEIR_UNKNOWN, test_post(engines[0], to[1], 0));
    for (size_t i = 0; i < ENGINES; i++) {
        assert_int_equal(ROUNDS, test_engine_end(engines[i]).handled);
        test_recorder_saw_run(&recorders[i], 0, ROUNDS);
    }
}

/* ---- posts from the very end of a thread ---- */

static pthread_key_t last_words;
static atomic_int last_status;

static void say_last_words(void *value)
{
    guest *g = value;
    atomic_store(&last_status, test_post(g->engine, g->to, 7));
}

static void *leave_last_words(void *argument)
{
    guest *g = argument;
    g->accepted += test_post(g->engine, g->to, 6) == WEIR_OK;
    (void)pthread_setspecific(last_words, g);
    return NULL;
}

static void a_destructor_of_thread_specific_data_may_post(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(NULL);
    guest g = { .engine = engine };
    g.to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
    test_engine_start(engine);
    /* A key made after weir's own, whose destructor so runs after weir's. */
    assert_int_equal(0, pthread_key_create(&last_words, say_last_words));
    atomic_store(&last_status, WEIR_E_USER);
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, leave_last_words, &g));
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_int_equal(1, g.accepted);
    assert_int_equal(WEIR_OK, atomic_load(&last_status));
    assert_int_equal(2, test_engine_end(engine).handled);
    test_recorder_saw_run(&recorder, 6, 2);
    assert_int_equal(0, pthread_key_delete(last_words));
}

/* ---- any thread may do the rest, too ---- */

static void *register_and_end(void *argument)
{
    guest *g = argument;
    for (uint64_t n = 0; n < POSTS; n++) {
        weir_error error = WEIR_ERROR_INIT;
        atomic_uint_least64_t handled = 0;
        const weir_processor own = weir_processor_add(
            g->engine, WEIR_PROCESSOR(.handler = count_all, .argument = &handled), &error);
        const weir_status posted = test_post(g->engine, own, n);
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        const weir_status stopped = weir_processor_stop(g->engine, own, TEST_PATIENCE, &report);
        const bool good = error.status == WEIR_OK && posted == WEIR_OK && stopped == WEIR_OK &&
                          report.handled == 1 && atomic_load(&handled) == 1;
        g->accepted += good;
        g->refused += !good;
    }
    return NULL;
}

static void threads_that_end_may_register_and_stop_processors(void **state)
{
    (void)state;
    const uint64_t rounds = test_load(50, 10);
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 2));
    test_engine_start(engine);
    for (uint64_t round = 0; round < rounds; round++) {
        guest guests[BATCH];
        pthread_t threads[BATCH];
        for (size_t i = 0; i < BATCH; i++) {
            guests[i] = (guest){ .engine = engine };
            assert_int_equal(0, pthread_create(&threads[i], NULL, register_and_end, &guests[i]));
        }
        for (size_t i = 0; i < BATCH; i++) {
            assert_int_equal(0, pthread_join(threads[i], NULL));
            assert_int_equal(POSTS, guests[i].accepted);
        }
        assert_int_equal(0, test_engine_counters(engine).processors);
    }
    assert_int_equal(rounds * BATCH * POSTS, test_engine_end(engine).handled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_come_one_after_another_need_the_memory_of_one),
        cmocka_unit_test(threads_that_end_give_back_what_they_held),
        cmocka_unit_test(a_thread_may_outlive_the_engines_it_posted_to),
        cmocka_unit_test(one_thread_may_post_to_several_engines_in_turn),
        cmocka_unit_test(a_destructor_of_thread_specific_data_may_post),
        cmocka_unit_test(threads_that_end_may_register_and_stop_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
