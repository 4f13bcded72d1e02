/*
 * context_test.c - which context a thread has for which engine: one for each, the same one again,
 * given back when the thread ends; and that nothing of it stays when both are gone.
 *
 * This program has an aligned_alloc and a free of its own in front of the C library's, to count
 * what weir takes from it for threads. A sanitizer has its own and looks for what is left itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

#include "engine/engine.h"
#include "sync/thread.h"

enum { ENGINES = 3, ROUNDS = 5 };

/* ---- memory ---- */

static atomic_long taken, given_back;

#if !TEST_SANITIZED
/* Never used twice: what is given back is counted, and that is all. */
static _Alignas(64) char arena[1 << 16];
static atomic_size_t arena_used;

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved. */

void *aligned_alloc(size_t alignment, size_t size)
{
    const size_t whole = (size + 63) / 64 * 64;
    const size_t at = atomic_fetch_add(&arena_used, whole);
    if (alignment > 64 || at + whole > sizeof(arena)) {
        return NULL;
    }
    atomic_fetch_add(&taken, 1);
    return arena + at;
}

extern void __libc_free(void *memory); /* NOLINT: the name is the C library's */

void free(void *memory)
{
    const uintptr_t at = (uintptr_t)memory;
    if (at >= (uintptr_t)arena && at < (uintptr_t)arena + sizeof(arena)) {
        atomic_fetch_add(&given_back, 1);
    } else {
        __libc_free(memory);
    }
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

#endif

static long held(void)
{
    return atomic_load(&taken) - atomic_load(&given_back);
}

/* The engines' own memory does not pass there. */
static void *engine_allocate(void *context, size_t size, size_t alignment)
{
    void *memory = NULL;
    (void)context;
    return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}

static void engine_release(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

static weir_engine *make_engine(void)
{
    const weir_allocator allocator = { engine_allocate, engine_release, NULL };
    return test_engine_create(WEIR_ENGINE(.threads = 1, .allocator = &allocator));
}

/* ---- threads that come and go ---- */

static struct {
    weir_engine *engines[ENGINES];
    weir__context *found[ENGINES];
    bool same; /* whenever it looked */
    long held_after_first;
    long held_at_end;
} visit;

static void look_at_all(void)
{
    for (int i = 0; i < ENGINES; i++) {
        visit.found[i] = weir__context_find(visit.engines[i]); /* one thread looks at a time */
    }
}

/* To and fro, in another order each time. */
static void *visit_all(void *unused)
{
    look_at_all();
    visit.same = true;
    visit.held_after_first = held();
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < ENGINES; k++) {
            const int i = (round + k * (1 + round % 2)) % ENGINES;
            visit.same = visit.same && weir__context_find(visit.engines[i]) == visit.found[i];
        }
    }
    visit.held_at_end = held();
    return unused;
}

static void run_aside(void *(*act)(void *))
{
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, act, NULL));
    assert_int_equal(0, pthread_join(thread, NULL));
}

static void open_engines(void)
{
    memset(&visit, 0, sizeof(visit));
    for (int i = 0; i < ENGINES; i++) {
        visit.engines[i] = make_engine();
    }
}

static void close_engines(void)
{
    for (int i = 0; i < ENGINES; i++) {
        weir_engine_destroy(visit.engines[i]);
    }
}

static void a_thread_has_one_context_for_each_engine_however_often_it_changes(void **state)
{
    (void)state;
    open_engines();
    run_aside(visit_all);
    assert_true(visit.same);
    assert_int_equal(visit.held_after_first, visit.held_at_end);
    for (int i = 0; i < ENGINES; i++) {
        assert_non_null(visit.found[i]);
        assert_ptr_equal(visit.engines[i], visit.found[i]->engine);
        assert_null(visit.found[i]->thread);
    }
    close_engines();
}

static void the_next_thread_gets_what_the_last_one_has_given_back(void **state)
{
    (void)state;
    weir__context *first[ENGINES];
    open_engines();
    run_aside(visit_all);
    memcpy(first, visit.found, sizeof(first));
    for (int i = 0; i < ENGINES; i++) {
        assert_int_equal(0, weir__load(&first[i]->in_use, acquire));
    }
    run_aside(visit_all);
    assert_true(visit.same);
    assert_memory_equal(first, visit.found, sizeof(first));
    close_engines();
}

static void a_thread_that_ends_leaves_no_memory_behind(void **state)
{
    (void)state;
    const long before = held();
    open_engines();
    const long opened = held();
    for (int round = 0; round < ROUNDS; round++) {
        run_aside(visit_all);
        assert_int_equal(opened, held());
    }
    close_engines();
    assert_int_equal(before, held());
}

/* ---- engines that come and go ---- */

static atomic_int stage;

static void await_stage(int nth)
{
    while (atomic_load(&stage) < nth) {
        (void)sched_yield();
    }
}

static void *outlive_the_engines(void *unused)
{
    look_at_all();
    atomic_store(&stage, 1);
    await_stage(2);
    return unused;
}

static void two_threads_at_once_have_different_ones(void **state)
{
    (void)state;
    weir__context *first[ENGINES];
    pthread_t thread;
    open_engines();
    run_aside(visit_all); /* so that the next one gets used ones */
    atomic_store(&stage, 0);
    assert_int_equal(0, pthread_create(&thread, NULL, outlive_the_engines, NULL));
    await_stage(1);
    memcpy(first, visit.found, sizeof(first));
    for (int round = 0; round < 2; round++) {
        run_aside(visit_all);
        assert_true(visit.same);
        for (int i = 0; i < ENGINES; i++) {
            assert_ptr_not_equal(first[i], visit.found[i]);
            assert_int_equal(1, weir__load(&first[i]->in_use, acquire));
            assert_int_equal(0, weir__load(&visit.found[i]->in_use, acquire));
        }
    }
    atomic_store(&stage, 2);
    assert_int_equal(0, pthread_join(thread, NULL));
    for (int i = 0; i < ENGINES; i++) {
        assert_int_equal(0, weir__load(&first[i]->in_use, acquire));
    }
    close_engines();
}

static void a_thread_that_outlives_its_engines_leaves_no_memory_behind(void **state)
{
    (void)state;
    const long before = held();
    pthread_t thread;
    open_engines();
    atomic_store(&stage, 0);
    assert_int_equal(0, pthread_create(&thread, NULL, outlive_the_engines, NULL));
    await_stage(1);
    close_engines();
    atomic_store(&stage, 2);
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_int_equal(before, held());
}

/* One engine after the other, on one thread: each takes the place of the last one. */
static void *see_engines_come_and_go(void *unused)
{
    weir_engine *stays = make_engine();
    const weir__context *mine = weir__context_find(stays);
    visit.same = true;
    for (int round = 0; round < ROUNDS; round++) {
        weir_engine *engine = make_engine();
        const weir__context *found = weir__context_find(engine);
        visit.same = visit.same && found != NULL && found->engine == engine &&
                     weir__context_find(stays) == mine && weir__context_find(engine) == found;
        visit.held_after_first = round == 0 ? held() : visit.held_after_first;
        visit.held_at_end = held();
        weir_engine_destroy(engine);
    }
    weir_engine_destroy(stays);
    return unused;
}

static void a_thread_that_sees_engines_come_and_go_needs_no_more_for_each(void **state)
{
    (void)state;
    const long before = held();
    run_aside(see_engines_come_and_go);
    assert_true(visit.same);
    assert_int_equal(visit.held_after_first, visit.held_at_end);
    assert_int_equal(before, held());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_has_one_context_for_each_engine_however_often_it_changes),
        cmocka_unit_test(the_next_thread_gets_what_the_last_one_has_given_back),
        cmocka_unit_test(a_thread_that_ends_leaves_no_memory_behind),
        cmocka_unit_test(two_threads_at_once_have_different_ones),
        cmocka_unit_test(a_thread_that_outlives_its_engines_leaves_no_memory_behind),
        cmocka_unit_test(a_thread_that_sees_engines_come_and_go_needs_no_more_for_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
