/*
 * mailbox_cost_test.c - bounds from 1 to 1,000,000, and the bytes each costs empty and full:
 * memory follows what is in a mailbox, not its bound (S-12, P-5).
 *
 * Three witnesses: the engine's own figure (pool_bytes), an allocator that counts what is out, and
 * the process's resident memory as the system sees it. The last one is printed always and checked
 * where no sanitizer adds its own to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

enum {
    BOUND_DEFAULT = 10000,
    BOUND_MAX = 1000000,
    EMPTY_BYTES_MAX = 1024,        /* a processor: 1,000,000 of them fit in 1 GiB */
    FULL_BYTES_MAX = 128,          /* an event of 8 bytes that waits */
    CHUNK_BYTES = 4 * 1024 * 1024, /* what pools and malloc may take ahead */
};

/* ---- an allocator that counts ---- */

static void *counted_allocate(void *context, size_t size, size_t alignment)
{
    void *memory = NULL;
    if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, size)) {
        return NULL;
    }
    atomic_fetch_add((atomic_size_t *)context, size);
    return memory;
}

static void counted_release(void *context, void *memory, size_t size)
{
    if (memory != NULL) {
        atomic_fetch_sub((atomic_size_t *)context, size);
    }
    free(memory);
}

static uint64_t over(uint64_t after, uint64_t before)
{
    return after > before ? after - before : 0;
}

/* ---- capacity 1 ---- */

typedef struct chain {
    uint64_t left;
    uint64_t first_refused, second_accepted;
    uint64_t handled;
} chain;

static weir_status chain_handle(void *state, weir_turn *turn, const weir_event *event)
{
    chain *c = state;
    c->handled++;
    if (c->left > 0) {
        c->left--;
        c->first_refused += weir_turn_post(turn, weir_turn_self(turn), event) != WEIR_OK;
        c->second_accepted += weir_turn_post(turn, weir_turn_self(turn), event) != WEIR_FULL;
    }
    return WEIR_OK;
}

static void a_mailbox_of_one_takes_one_and_its_handler_may_post_to_itself(void **state)
{
    (void)state;
    const uint64_t links = test_load(100000, 10000);
    chain c = { .left = links };
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = chain_handle, .argument = &c, .mailbox_max = 1));
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    assert_int_equal(WEIR_FULL, test_post(engine, to, 2));
    test_engine_start(engine);
    const weir_stop_report report = test_engine_stop(engine);
    const weir_counters counters = test_engine_counters(engine);
    assert_int_equal(links + 1, report.accepted);
    assert_int_equal(links + 1, c.handled);
    assert_int_equal(0, c.first_refused);
    assert_int_equal(0, c.second_accepted);
    assert_int_equal(links + 1, counters.refused_full);
    weir_engine_destroy(engine);
}

static void a_running_mailbox_of_one_takes_each_event_when_the_one_before_was_taken(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                  .argument = &recorder, .mailbox_max = 1));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    for (uint64_t i = 1; i <= 100; i++) {
        test_sem_wait(&recorder.entered);
        assert_int_equal(WEIR_OK, test_post(engine, to, i + 1));
        assert_int_equal(WEIR_FULL, test_post(engine, to, 999));
        test_recorder_pass(&recorder, 1);
    }
    test_recorder_pass(&recorder, 1);
    (void)test_engine_end(engine);
    test_recorder_saw_run(&recorder, 1, 101);
}

/* ---- what they cost ---- */

/* Both sides count from nothing, so what pools take ahead is in the figures; both have enough
 * mailboxes or events to even that out. Resident bytes may be fewer: pages are used again. */
typedef struct cost {
    uint32_t bound;
    uint64_t empty_mailboxes, full_mailboxes;
    uint64_t empty_bytes, empty_resident;                        /* of all empty mailboxes */
    uint64_t events, full_pool_bytes, full_bytes, full_resident; /* of all events in full ones */
} cost;

static weir_status count_only(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    (*(uint64_t *)state)++;
    return WEIR_OK;
}

static weir_processor *add_all(weir_engine *engine, uint64_t count, uint32_t bound,
                               uint64_t *handled)
{
    weir_processor *processors = calloc(count, sizeof(*processors));
    assert_non_null(processors);
    for (uint64_t i = 0; i < count; i++) {
        processors[i] =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = count_only, .argument = handled,
                                                      .mailbox_max = bound));
    }
    return processors;
}

static void measure_empty(cost *c)
{
    atomic_size_t out = 0;
    const weir_allocator allocator = { counted_allocate, counted_release, &out };
    uint64_t handled = 0;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.allocator = &allocator));
    const uint64_t bytes = atomic_load(&out);
    const uint64_t resident = test_resident_bytes();
    weir_processor *processors = add_all(engine, c->empty_mailboxes, c->bound, &handled);
    c->empty_bytes = over(atomic_load(&out), bytes);
    c->empty_resident = over(test_resident_bytes(), resident);
    free(processors);
    weir_engine_destroy(engine);
    assert_int_equal(0, atomic_load(&out));
}

static void fill_all(weir_engine *engine, const cost *c, const weir_processor *processors)
{
    uint64_t refused = 0;
    for (uint64_t i = 0; i < c->full_mailboxes; i++) {
        for (uint32_t n = 0; n < c->bound; n++) {
            refused += test_post(engine, processors[i], n) != WEIR_OK;
        }
        assert_int_equal(WEIR_FULL, test_post(engine, processors[i], 0));
    }
    assert_int_equal(0, refused);
}

/* Fills every mailbox to its bound and lets one thread handle all. */
static void measure_full(cost *c)
{
    atomic_size_t out = 0;
    const weir_allocator allocator = { counted_allocate, counted_release, &out };
    uint64_t handled = 0;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.allocator = &allocator));
    weir_processor *processors = add_all(engine, c->full_mailboxes, c->bound, &handled);
    const uint64_t bytes = atomic_load(&out);
    const uint64_t resident = test_resident_bytes();
    fill_all(engine, c, processors);
    c->events = c->full_mailboxes * c->bound;
    c->full_pool_bytes = test_engine_counters(engine).pool_bytes;
    c->full_bytes = over(atomic_load(&out), bytes);
    c->full_resident = over(test_resident_bytes(), resident);
    test_engine_start(engine);
    assert_int_equal(c->events, test_engine_end(engine).handled);
    assert_int_equal(c->events, handled);
    assert_int_equal(0, atomic_load(&out));
    free(processors);
}

static void print_costs(const cost *costs, size_t count)
{
    fprintf(stderr, "# | bound | empty, bytes a mailbox (resident) | full, bytes a mailbox "
                    "| bytes an event (resident) |\n# |---:|---:|---:|---:|\n");
    for (size_t i = 0; i < count; i++) {
        const cost *c = &costs[i];
        fprintf(stderr, "# | %" PRIu32 " | %.0f (%.0f) | %.0f | %.1f (%.1f) |\n", c->bound,
                (double)c->empty_bytes / (double)c->empty_mailboxes,
                (double)c->empty_resident / (double)c->empty_mailboxes,
                (double)c->full_pool_bytes / (double)c->full_mailboxes,
                (double)c->full_pool_bytes / (double)c->events,
                (double)c->full_resident / (double)c->events);
    }
}

static void a_mailbox_costs_by_its_content_and_not_by_its_bound(void **state)
{
    (void)state;
    const uint64_t many = test_load(100000, 20000);
    cost costs[] = { { .bound = 1, .empty_mailboxes = many, .full_mailboxes = many },
                     { .bound = BOUND_DEFAULT, .empty_mailboxes = many, .full_mailboxes = 20 },
                     { .bound = BOUND_MAX, .empty_mailboxes = many, .full_mailboxes = 1 } };
    enum { COUNT = sizeof(costs) / sizeof(costs[0]) };
    for (size_t i = 0; i < COUNT; i++) {
        measure_empty(&costs[i]);
        measure_full(&costs[i]);
    }
    print_costs(costs, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const cost *c = &costs[i];
        const uint64_t empty_max = c->empty_mailboxes * EMPTY_BYTES_MAX + CHUNK_BYTES;
        const uint64_t full_max = c->events * FULL_BYTES_MAX + CHUNK_BYTES;
        assert_in_range(c->empty_bytes, 1, empty_max);
        assert_in_range(c->full_pool_bytes, 1, full_max);
        assert_in_range(c->full_bytes, 1, full_max);
        if (!TEST_SANITIZED) {
            assert_in_range(c->empty_resident, 0, empty_max);
            assert_in_range(c->full_resident, 0, full_max);
        }
    }
}

static void an_empty_mailbox_costs_the_same_whatever_its_bound(void **state)
{
    (void)state;
    enum { PROCESSORS = 5000 };
    static const uint32_t bounds[] = { 1, BOUND_DEFAULT, BOUND_MAX };
    uint64_t bytes[3] = { 0 };
    for (size_t i = 0; i < 3; i++) {
        atomic_size_t out = 0;
        const weir_allocator allocator = { counted_allocate, counted_release, &out };
        weir_engine *engine = test_engine_create(WEIR_ENGINE(.allocator = &allocator));
        for (size_t p = 0; p < PROCESSORS; p++) {
            (void)test_processor_add(
                engine, WEIR_PROCESSOR(.handler = count_only, .mailbox_max = bounds[i]));
        }
        bytes[i] = atomic_load(&out);
        weir_engine_destroy(engine);
        assert_int_equal(0, atomic_load(&out));
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_int_equal(bytes[0], bytes[2]);
}

/* ---- what was emptied is used again ---- */

static void a_mailbox_that_fills_up_again_needs_no_more_memory(void **state)
{
    (void)state;
    enum { ROUNDS = 20 };
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread loop = test_thread_add(engine, WEIR_THREAD(.external = true));
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
    test_engine_start(engine);
    uint64_t pool_bytes = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint64_t n = 0; n < BOUND_DEFAULT; n++) {
            assert_int_equal(WEIR_OK, test_post(engine, to, n));
        }
        assert_int_equal(WEIR_FULL, test_post(engine, to, 0));
        /* At first caches fill up, too, and every round begins elsewhere in its first page: it may
         * need a page and an index more than the one before. */
        if (round == ROUNDS / 2) {
            pool_bytes = test_engine_counters(engine).pool_bytes;
        }
        TEST_UNTIL(weir_thread_run_once(engine, loop, 0) == 0);
        assert_int_equal((round + 1) * BOUND_DEFAULT, test_recorder_handled(&recorder));
    }
    assert_int_equal(pool_bytes, test_engine_counters(engine).pool_bytes);
    test_external_end(engine, loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mailbox_of_one_takes_one_and_its_handler_may_post_to_itself),
        cmocka_unit_test(a_running_mailbox_of_one_takes_each_event_when_the_one_before_was_taken),
        cmocka_unit_test(a_mailbox_costs_by_its_content_and_not_by_its_bound),
        cmocka_unit_test(an_empty_mailbox_costs_the_same_whatever_its_bound),
        cmocka_unit_test(a_mailbox_that_fills_up_again_needs_no_more_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
