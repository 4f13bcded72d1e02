/*
 * block_test.c - bugs that were: blocks and engines that end. A block of one engine in the pools of
 * another; a thread that ended while its engine did; a large block that was still out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "regress_support.h"

#include "../engine/fault_support.h"

enum { PAYLOAD = 100, EVENTS = 200, BLOCKS = 40 };

static weir_event bytes_event(const void *data)
{
    return (weir_event){ .type = &weir_bytes_type, .data = data, .size = PAYLOAD };
}

/* Checks that a payload is one byte value all through, and which. */
typedef struct byte_book {
    atomic_uint_least64_t handled;
    uint64_t broken;
    uint64_t sum;
} byte_book;

static weir_status note_bytes(void *state, weir_turn *turn, const weir_event *event)
{
    byte_book *book = state;
    (void)turn;
    const unsigned char *bytes = event->data;
    for (uint32_t i = 0; i < event->size; i++) {
        book->broken += bytes[i] != bytes[0];
    }
    book->sum += bytes[0];
    atomic_fetch_add_explicit(&book->handled, 1, memory_order_release);
    return WEIR_OK;
}

typedef struct road {
    weir_engine *engine;
    weir_processor to;
    uint64_t failed;
} road;

static weir_status forward(void *state, weir_turn *turn, const weir_event *event)
{
    road *r = state;
    (void)turn;
    r->failed += weir_engine_post(r->engine, r->to, event) != WEIR_OK;
    return WEIR_OK;
}

static weir_status make_one(void *state, weir_turn *turn, const weir_event *event)
{
    road *r = state;
    (void)event;
    unsigned char bytes[PAYLOAD];
    memset(bytes, 2, sizeof(bytes));
    const weir_event made = bytes_event(bytes);
    r->failed += weir_turn_post(turn, r->to, &made) != WEIR_OK;
    return WEIR_OK;
}

/* What engine B was sent out of a block of A must not lie in B's caches when A is gone. */
static void an_engine_may_end_before_another_that_was_sent_its_blocks(void **state)
{
    (void)state;
    byte_book book = { .sum = 0 };
    atomic_init(&book.handled, 0);
    weir_engine *a = quiet_engine(1);
    weir_engine *b = quiet_engine(1);
    road r = { .engine = b };
    r.to = test_processor_add(b, WEIR_PROCESSOR(.handler = note_bytes, .argument = &book));
    const weir_processor from =
        test_processor_add(a, WEIR_PROCESSOR(.handler = forward, .argument = &r));
    const weir_processor maker =
        test_processor_add(b, WEIR_PROCESSOR(.handler = make_one, .argument = &r));
    test_engine_start(a);
    test_engine_start(b);
    unsigned char bytes[PAYLOAD];
    memset(bytes, 1, sizeof(bytes));
    const weir_event event = bytes_event(bytes);
    for (int i = 0; i < EVENTS; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(a, from, &event));
    }
    TEST_UNTIL(atomic_load(&book.handled) == EVENTS);
    assert_int_equal(EVENTS, test_engine_end(a).handled);
    for (int i = 0; i < EVENTS; i++) {
        assert_int_equal(WEIR_OK, test_post(b, maker, 1));
    }
    TEST_UNTIL(atomic_load(&book.handled) == 2 * EVENTS);
    assert_int_equal(0, test_engine_counters(b).block_bytes);
    assert_int_equal(3 * EVENTS, test_engine_end(b).handled);
    assert_int_equal(0, r.failed);
    assert_int_equal(0, book.broken);
    assert_int_equal(3 * EVENTS, book.sum);
}

static void a_block_of_another_engine_is_copied_and_stays_the_callers(void **state)
{
    (void)state;
    byte_book book = { .sum = 0 };
    atomic_init(&book.handled, 0);
    weir_engine *a = quiet_engine(1);
    weir_engine *b = quiet_engine(1);
    const weir_processor to =
        test_processor_add(b, WEIR_PROCESSOR(.handler = note_bytes, .argument = &book));
    weir_block *block = NULL;
    assert_int_equal(WEIR_OK, weir_block_reserve(a, PAYLOAD, &block));
    memset(weir_block_data(block), 5, PAYLOAD);
    weir_event event = bytes_event(weir_block_data(block));
    event.block = block;
    assert_int_equal(WEIR_OK, weir_engine_post(b, to, &event));
    weir_block_release(block);
    assert_int_equal(0, test_engine_counters(a).block_bytes);
    weir_engine_destroy(a);
    test_engine_start(b);
    assert_int_equal(1, test_engine_end(b).handled);
    assert_int_equal(0, book.broken);
    assert_int_equal(5, book.sum);
}

typedef struct visitor {
    weir_engine *engine;
    uint64_t refused;
    sem_t used;
} visitor;

/* Leaves blocks of all sizes in this thread's caches, and ends. */
static void use_blocks(void *argument)
{
    visitor *v = argument;
    weir_block *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        v->refused += weir_block_reserve(v->engine, (size_t)PAYLOAD << (i % 9), &blocks[i]) != 0;
    }
    for (int i = 0; i < BLOCKS; i++) {
        weir_block_release(blocks[i]);
    }
    (void)sem_post(&v->used);
}

static void a_thread_may_end_while_the_engine_that_it_used_does(void **state)
{
    (void)state;
    const uint64_t rounds = test_load(1000, 100);
    for (uint64_t i = 0; i < rounds; i++) {
        visitor v = { .engine = quiet_engine(1) };
        assert_int_equal(0, sem_init(&v.used, 0, 0));
        aside using;
        aside_begin(&using, use_blocks, &v);
        test_sem_wait(&v.used);
        weir_engine_destroy(v.engine);
        aside_end(&using);
        assert_int_equal(0, v.refused);
    }
}

static void blocks_of_every_size_that_are_still_out_are_freed_with_the_engine(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1, 1000, 60000, 200000, 3000000 };
    test_fault fault;
    test_fault_init(&fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
    weir_engine *engine =
        test_engine_create(WEIR_ENGINE(.allocator = &allocator, .log_level = WEIR_LOG_OFF));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        weir_block *block = NULL;
        assert_int_equal(WEIR_OK, weir_block_reserve(engine, sizes[i], &block));
    }
    weir_engine_destroy(engine);
    assert_int_equal(0, atomic_load(&fault.bytes));
    assert_int_equal(0, atomic_load(&fault.wrong));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_may_end_before_another_that_was_sent_its_blocks),
        cmocka_unit_test(a_block_of_another_engine_is_copied_and_stays_the_callers),
        cmocka_unit_test(a_thread_may_end_while_the_engine_that_it_used_does),
        cmocka_unit_test(blocks_of_every_size_that_are_still_out_are_freed_with_the_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
