/*
 * block_test.c - payloads written in place: reserve and commit, take and release, keep, a user's
 * own memory with a free hook, a pool that is used up (S-24).
 *
 * Adopted memory counts how often its free hook ran: that is the witness that no call changes who
 * owns what, whatever it answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log_support.h"

/* Memory with a witness. */
typedef struct adopted {
    unsigned char bytes[64];
    atomic_int done; /* runs of its free hook */
    atomic_int wrong;
} adopted;

static void adopted_done(void *context, void *data)
{
    adopted *a = context;
    if (data != a->bytes) {
        atomic_fetch_add(&a->wrong, 1);
    }
    atomic_fetch_add(&a->done, 1);
}

static weir_event adopt_as_bytes(weir_engine *engine, adopted *a)
{
    weir_event event = { .type = &weir_bytes_type, .size = sizeof(a->bytes) };
    assert_int_equal(WEIR_OK, weir_block_adopt(engine, a->bytes, sizeof(a->bytes), adopted_done, a,
                                               &event.block));
    event.data = weir_block_data(event.block);
    assert_ptr_equal(a->bytes, event.data);
    return event;
}

static void assert_done(adopted *a, int times)
{
    assert_int_equal(times, atomic_load(&a->done));
    assert_int_equal(0, atomic_load(&a->wrong));
}

/* Notes where each payload lay; with `keep` it makes the last one outlive the turn. */
typedef struct reader {
    bool gated, keep;
    sem_t entered, pass;
    uint64_t handled;
    uint64_t misaligned;
    const void *data;
    weir_block *block;
    uint32_t size;
    unsigned char copy[64];
    weir_event kept;
    weir_status kept_status;
} reader;

static void reader_init(reader *r, bool gated)
{
    memset(r, 0, sizeof(*r));
    r->gated = gated;
    assert_int_equal(0, sem_init(&r->entered, 0, 0));
    assert_int_equal(0, sem_init(&r->pass, 0, 0));
}

static weir_status reader_handle(void *state, weir_turn *turn, const weir_event *event)
{
    reader *r = state;
    if (r->gated) {
        (void)sem_post(&r->entered);
        if (!test_sem_taken(&r->pass)) {
            return WEIR_E_FAILED;
        }
    }
    r->misaligned += event->data == NULL || ((uintptr_t)event->data & 7u) != 0;
    r->data = event->data;
    r->block = event->block;
    r->size = event->size;
    memcpy(r->copy, event->data, event->size < sizeof(r->copy) ? event->size : sizeof(r->copy));
    if (r->keep) {
        r->kept_status = weir_event_keep(weir_turn_engine(turn), event, &r->kept);
    }
    r->handled++;
    return WEIR_OK;
}

static weir_processor add_reader(weir_engine *engine, reader *r, uint32_t mailbox_max)
{
    return test_processor_add(engine, WEIR_PROCESSOR(.handler = reader_handle, .argument = r,
                                                     .mailbox_max = mailbox_max));
}

static void commit_hands_over_what_was_written_in_place_without_a_copy(void **state)
{
    (void)state;
    reader r;
    reader_init(&r, false);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_reader(engine, &r, 0);
    weir_event event = { .type = &weir_text_type, .size = 11 };
    assert_int_equal(WEIR_OK, weir_block_reserve(engine, 4096, &event.block));
    event.data = weir_block_data(event.block);
    assert_non_null(event.data);
    memset(weir_block_data(event.block), 0xee, 4096);
    memcpy(weir_block_data(event.block), "hello there", 11);
    assert_true(test_engine_counters(engine).block_bytes >= 4096);

    assert_int_equal(WEIR_OK, weir_engine_commit(engine, to, &event));
    test_engine_start(engine);
    (void)test_engine_stop(engine);
    assert_int_equal(1, r.handled);
    assert_int_equal(0, r.misaligned);
    assert_ptr_equal(event.data, r.data);
    assert_ptr_equal(event.block, r.block);
    assert_int_equal(11, r.size);
    assert_memory_equal("hello there", r.copy, 11);
    const weir_counters counters = test_engine_counters(engine);
    assert_int_equal(0, counters.block_bytes); /* the commit gave the only reference away */
    assert_true(counters.block_bytes_high >= 4096);
    weir_engine_destroy(engine);
}

static void commit_releases_the_callers_reference_whatever_it_answers(void **state)
{
    (void)state;
    adopted memory = { .done = 0 };
    reader r;
    reader_init(&r, false);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_reader(engine, &r, 1);

    weir_event event = adopt_as_bytes(engine, &memory);
    assert_int_equal(WEIR_UNKNOWN, weir_engine_commit(engine, (weir_processor){ 0 }, &event));
    assert_done(&memory, 1);
    event = adopt_as_bytes(engine, &memory);
    event.type = &number_type; /* 8 bytes, not 64 */
    assert_int_equal(WEIR_E_TYPE, weir_engine_commit(engine, to, &event));
    assert_done(&memory, 2);
    event = adopt_as_bytes(engine, &memory);
    event.type = NULL;
    assert_int_equal(WEIR_E_INVALID, weir_engine_commit(engine, to, &event));
    assert_done(&memory, 3);
    assert_int_equal(WEIR_OK, test_post(engine, to, 1)); /* that fills it */
    event = adopt_as_bytes(engine, &memory);
    assert_int_equal(WEIR_FULL, weir_engine_commit(engine, to, &event));
    assert_done(&memory, 4);
    test_engine_start(engine);
    assert_int_equal(1, test_engine_stop(engine).accepted);
    event = adopt_as_bytes(engine, &memory);
    assert_int_equal(WEIR_STOPPING, weir_engine_commit(engine, to, &event));
    assert_done(&memory, 5);
    assert_int_equal(0, test_engine_counters(engine).block_bytes);
    weir_engine_destroy(engine);
    assert_done(&memory, 5);
    assert_int_equal(1, r.handled);
}

static void a_reference_taken_before_a_commit_serves_to_try_again(void **state)
{
    (void)state;
    adopted memory = { .done = 0 };
    reader r;
    reader_init(&r, true);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_reader(engine, &r, 1);
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    test_sem_wait(&r.entered);
    assert_int_equal(WEIR_OK, test_post(engine, to, 2)); /* waits: the mailbox is full */

    const weir_event event = adopt_as_bytes(engine, &memory);
    assert_ptr_equal(event.block, weir_block_take(event.block));
    assert_int_equal(WEIR_FULL, weir_engine_commit(engine, to, &event));
    assert_done(&memory, 0);
    (void)sem_post(&r.pass);
    test_sem_wait(&r.entered); /* 2 is in hand, so there is room */
    assert_int_equal(WEIR_OK, weir_engine_commit(engine, to, &event));
    (void)sem_post(&r.pass);
    test_sem_wait(&r.entered);
    assert_done(&memory, 0); /* a handler still reads it */
    (void)sem_post(&r.pass);
    (void)test_engine_end(engine);
    assert_done(&memory, 1);
    assert_int_equal(3, r.handled);
}

static void post_shares_a_block_and_leaves_the_caller_its_reference(void **state)
{
    (void)state;
    adopted memory = { .done = 0 };
    reader r;
    reader_init(&r, false);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_reader(engine, &r, 1);
    const weir_event event = adopt_as_bytes(engine, &memory);
    assert_int_equal(WEIR_OK, weir_engine_post(engine, to, &event));
    assert_int_equal(WEIR_FULL, weir_engine_post(engine, to, &event));
    test_engine_start(engine);
    (void)test_engine_stop(engine);
    assert_ptr_equal(memory.bytes, r.data);
    assert_done(&memory, 0); /* it is still the caller's */
    weir_block_release(event.block);
    assert_done(&memory, 1);
    weir_engine_destroy(engine);
    assert_done(&memory, 1);
}

static void one_block_may_be_posted_to_many_and_is_freed_after_the_last(void **state)
{
    (void)state;
    enum { READERS = 8, TIMES = 25 };
    adopted memory = { .done = 0 };
    memcpy(memory.bytes, "shared", 6);
    reader readers[READERS];
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 4));
    const weir_event event = adopt_as_bytes(engine, &memory);
    for (size_t i = 0; i < READERS; i++) {
        reader_init(&readers[i], i == 0);
        const weir_processor to = add_reader(engine, &readers[i], 0);
        for (size_t t = 0; t < TIMES; t++) {
            assert_int_equal(WEIR_OK, weir_engine_post(engine, to, &event));
        }
    }
    weir_block_release(event.block);
    assert_done(&memory, 0);
    test_engine_start(engine);
    for (size_t t = 0; t < TIMES; t++) { /* the first reader is the last one to need it */
        test_sem_wait(&readers[0].entered);
        assert_done(&memory, 0);
        (void)sem_post(&readers[0].pass);
    }
    assert_int_equal(READERS * TIMES, test_engine_end(engine).handled);
    assert_done(&memory, 1);
    for (size_t i = 0; i < READERS; i++) {
        assert_int_equal(TIMES, readers[i].handled);
        assert_ptr_equal(memory.bytes, readers[i].data);
    }
}

static void an_event_may_lie_anywhere_in_its_block_but_not_outside(void **state)
{
    (void)state;
    adopted memory = { .done = 0 };
    memcpy(memory.bytes + 16, "in the middle", 13);
    reader r;
    reader_init(&r, false);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_reader(engine, &r, 0);
    weir_event event = adopt_as_bytes(engine, &memory);
    event.data = memory.bytes + 16;
    event.size = 13;
    assert_int_equal(WEIR_OK, weir_engine_post(engine, to, &event));
    event.size = sizeof(memory.bytes) - 15; /* one byte too far */
    assert_true(weir_engine_post(engine, to, &event) < 0);
    unsigned char elsewhere[16] = { 0 };
    event.data = elsewhere;
    event.size = sizeof(elsewhere);
    assert_true(weir_engine_post(engine, to, &event) < 0);
    weir_block_release(event.block);
    test_engine_start(engine);
    assert_int_equal(1, test_engine_end(engine).accepted);
    assert_ptr_equal(memory.bytes + 16, r.data);
    assert_memory_equal("in the middle", r.copy, 13);
    assert_done(&memory, 1);
}

static void keep_copies_a_small_payload_so_that_it_outlives_the_turn(void **state)
{
    (void)state;
    reader r;
    reader_init(&r, false);
    r.keep = true;
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_reader(engine, &r, 0);
    assert_int_equal(WEIR_OK, test_post(engine, to, 4711));
    test_engine_start(engine);
    (void)test_engine_stop(engine);
    assert_int_equal(WEIR_OK, r.kept_status);
    assert_ptr_not_equal(r.data, r.kept.data);
    const number *kept = weir_event_as(&r.kept, &number_type);
    assert_non_null(kept);
    assert_int_equal(4711, kept->value);
    assert_true(test_engine_counters(engine).block_bytes > 0);

    weir_event_release(&r.kept);
    const weir_event zero = { .type = NULL };
    assert_memory_equal(&zero, &r.kept, sizeof(zero));
    weir_event_release(&r.kept); /* of a zeroed one: a no-op */
    assert_int_equal(0, test_engine_counters(engine).block_bytes);
    weir_engine_destroy(engine);
}

static void keep_shares_the_block_of_an_event_that_has_one(void **state)
{
    (void)state;
    adopted memory = { .done = 0 };
    reader r;
    reader_init(&r, false);
    r.keep = true;
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = add_reader(engine, &r, 0);
    const weir_event event = adopt_as_bytes(engine, &memory);
    assert_int_equal(WEIR_OK, weir_engine_commit(engine, to, &event));
    test_engine_start(engine);
    (void)test_engine_stop(engine);
    assert_ptr_equal(memory.bytes, r.kept.data);
    assert_ptr_equal(event.block, r.kept.block);
    assert_done(&memory, 0);
    weir_event_release(&r.kept);
    assert_done(&memory, 1);
    weir_engine_destroy(engine);
}

static void a_failed_adopt_does_not_run_the_free_hook(void **state)
{
    (void)state;
    adopted memory = { .done = 0 };
    weir_engine *engine = test_engine_create(NULL);
    weir_block *block = NULL;
    assert_int_equal(WEIR_E_INVALID,
                     weir_block_adopt(NULL, memory.bytes, 64, adopted_done, &memory, &block));
    assert_int_equal(WEIR_E_INVALID,
                     weir_block_adopt(engine, NULL, 64, adopted_done, &memory, &block));
    assert_int_equal(WEIR_E_INVALID,
                     weir_block_adopt(engine, memory.bytes, 64, adopted_done, &memory, NULL));
    assert_null(block);
    weir_engine_destroy(engine);
    assert_done(&memory, 0);
}

static void a_pool_that_is_used_up_answers_at_once_and_recovers(void **state)
{
    (void)state;
    enum { SIZE = 1000, MAX = 100 };
    reader r;
    reader_init(&r, false);
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.block_bytes_max = 64 * 1024));
    const weir_processor to = add_reader(engine, &r, 0);
    weir_block *blocks[MAX] = { NULL };
    size_t count = 0;
    weir_status status = WEIR_OK;
    const weir_ns begin = test_now();
    while (count < MAX && status == WEIR_OK) {
        status = weir_block_reserve(engine, SIZE, &blocks[count]);
        count += status == WEIR_OK;
    }
    assert_int_equal(WEIR_E_NOMEM, status);
    assert_true(test_now() - begin < TEST_PATIENCE / 2);
    assert_in_range(count, 32, 65); /* the bound is on bytes; what a block adds is not twice it */
    const weir_counters full = test_engine_counters(engine);
    assert_in_range(full.block_bytes, count * SIZE, 64 * 1024);
    assert_int_equal(1, full.block_refused);

    /* A payload too large to travel inside finds no block either; a small one needs none. */
    unsigned char large[SIZE] = { 0 };
    const weir_event event = { .type = &weir_bytes_type, .data = large, .size = SIZE };
    assert_int_equal(WEIR_E_NOMEM, weir_engine_post(engine, to, &event));
    assert_int_equal(2, test_engine_counters(engine).block_refused);
    assert_int_equal(0, test_engine_counters(engine).accepted);
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));

    weir_block_release(blocks[0]);
    assert_int_equal(WEIR_OK, weir_block_reserve(engine, SIZE, &blocks[0]));
    for (size_t i = 0; i < count; i++) {
        weir_block_release(blocks[i]);
    }
    assert_int_equal(WEIR_OK, weir_engine_post(engine, to, &event));
    test_engine_start(engine);
    assert_int_equal(2, test_engine_stop(engine).handled);
    assert_int_equal(0, test_engine_counters(engine).block_bytes);
    assert_int_equal(full.block_bytes, test_engine_counters(engine).block_bytes_high);
    weir_engine_destroy(engine);
}

static void a_block_larger_than_the_pool_or_than_an_event_can_be_is_refused(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.block_bytes_max = 4096));
    weir_block *block = NULL;
    assert_int_equal(WEIR_E_NOMEM, weir_block_reserve(engine, 4097, &block));
    assert_null(block);
    static const size_t sizes[] = { (size_t)1 << 40, SIZE_MAX / 2, SIZE_MAX - 64, SIZE_MAX };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_true(weir_block_reserve(engine, sizes[i], &block) < 0);
        assert_null(block);
        assert_int_equal(2 + i, test_engine_counters(engine).block_refused);
    }
    assert_int_equal(0, test_engine_counters(engine).block_bytes);
    assert_int_equal(0, test_engine_counters(engine).block_bytes_high);
    weir_engine_destroy(engine);
}

static void destroy_logs_blocks_that_are_still_out_and_frees_them(void **state)
{
    (void)state;
    test_log log;
    test_log_init(&log);
    adopted memory = { .done = 0 };
    weir_engine *engine =
        test_engine_create(WEIR_ENGINE(.log = test_log_hook, .log_context = &log));
    weir_block *block = NULL;
    assert_int_equal(WEIR_OK, weir_block_reserve(engine, 100, &block));
    (void)adopt_as_bytes(engine, &memory);
    weir_engine_destroy(engine);
    assert_done(&memory, 1);
    assert_true(test_log_matches(&log, WEIR_LOG_WARNING, "block", "2") +
                    test_log_matches(&log, WEIR_LOG_ERROR, "block", "2") >
                0);
}

static void destroy_says_nothing_of_blocks_that_all_came_back(void **state)
{
    (void)state;
    test_log log;
    test_log_init(&log);
    weir_engine *engine =
        test_engine_create(WEIR_ENGINE(.log = test_log_hook, .log_context = &log));
    for (size_t size = 1; size <= 1u << 20; size *= 4) {
        weir_block *block = NULL;
        assert_int_equal(WEIR_OK, weir_block_reserve(engine, size, &block));
        weir_block_release(block);
    }
    weir_engine_destroy(engine);
    assert_int_equal(0, test_log_matches(&log, WEIR_LOG_WARNING, "block", "") +
                            test_log_matches(&log, WEIR_LOG_ERROR, "block", ""));
}

static void null_blocks_and_engines_are_statuses_or_no_ops(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    weir_block *block = NULL;
    weir_event kept = { .type = NULL };
    assert_int_equal(WEIR_E_INVALID, weir_block_reserve(NULL, 8, &block));
    assert_int_equal(WEIR_E_INVALID, weir_block_reserve(engine, 8, NULL));
    assert_null(weir_block_data(NULL));
    assert_null(weir_block_take(NULL));
    weir_block_release(NULL);
    weir_event_release(NULL);
    assert_int_equal(WEIR_E_INVALID, weir_event_keep(engine, NULL, &kept));
    assert_int_equal(WEIR_E_INVALID, weir_event_keep(NULL, WEIR_EVENT(number, 1), &kept));
    assert_int_equal(WEIR_E_INVALID, weir_event_keep(engine, WEIR_EVENT(number, 1), NULL));
    assert_int_equal(WEIR_E_INVALID, /* nothing to commit */
                     weir_engine_commit(engine, (weir_processor){ 0 }, WEIR_EVENT(number, 1)));
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commit_hands_over_what_was_written_in_place_without_a_copy),
        cmocka_unit_test(commit_releases_the_callers_reference_whatever_it_answers),
        cmocka_unit_test(a_reference_taken_before_a_commit_serves_to_try_again),
        cmocka_unit_test(post_shares_a_block_and_leaves_the_caller_its_reference),
        cmocka_unit_test(one_block_may_be_posted_to_many_and_is_freed_after_the_last),
        cmocka_unit_test(an_event_may_lie_anywhere_in_its_block_but_not_outside),
        cmocka_unit_test(keep_copies_a_small_payload_so_that_it_outlives_the_turn),
        cmocka_unit_test(keep_shares_the_block_of_an_event_that_has_one),
        cmocka_unit_test(a_failed_adopt_does_not_run_the_free_hook),
        cmocka_unit_test(a_pool_that_is_used_up_answers_at_once_and_recovers),
        cmocka_unit_test(a_block_larger_than_the_pool_or_than_an_event_can_be_is_refused),
        cmocka_unit_test(destroy_logs_blocks_that_are_still_out_and_frees_them),
        cmocka_unit_test(destroy_says_nothing_of_blocks_that_all_came_back),
        cmocka_unit_test(null_blocks_and_engines_are_statuses_or_no_ops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
