/*
 * blank_test.c - what few events have (a block, a question to be answered, a tag) is gone with
 * them: the next plain event of the same thread has none of it, however the handler answered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

enum { PLAIN, ASKS, TRIGGERS }; /* what an event makes its handler do */

#define TAG 7u
#define HOUR (3600 * WEIR_S)

/* Plain fields: written in a turn, read after `told`. */
typedef struct witness {
    weir_processor other;
    weir_status answer; /* to what is special */
    weir_event seen;
    sem_t told;
} witness;

static bool is_special(const weir_event *event)
{
    return event->block != NULL || event->from.ask != 0 || event->tag != 0;
}

static weir_status witness_handle(void *state, weir_turn *turn, const weir_event *event)
{
    witness *w = state;
    const number *n = weir_event_as(event, &number_type);
    const weir_event *what = WEIR_EVENT(number, .value = PLAIN);
    if (n != NULL && n->value == ASKS) {
        return weir_turn_ask(turn, w->other, what, WEIR_ASK(.timeout = HOUR));
    }
    if (n != NULL && n->value == TRIGGERS) {
        return weir_turn_trigger_after(turn, WEIR_NOW, what, TAG);
    }
    w->seen = *event;
    (void)sem_post(&w->told);
    return is_special(event) ? w->answer : WEIR_OK;
}

static weir_processor witness_add(weir_engine *engine, witness *w, weir_status answer)
{
    *w = (witness){ .answer = answer };
    assert_int_equal(0, sem_init(&w->told, 0, 0));
    return test_processor_add(engine, WEIR_PROCESSOR(.handler = witness_handle, .argument = w));
}

static void commit_block(weir_engine *engine, weir_processor to)
{
    weir_event event = { .type = &weir_bytes_type, .size = 64 };
    assert_int_equal(WEIR_OK, weir_block_reserve(engine, 64, &event.block));
    event.data = weir_block_data(event.block);
    memset(weir_block_data(event.block), 0, 64);
    assert_int_equal(WEIR_OK, weir_engine_commit(engine, to, &event));
}

/* One thread has one event for both. */
static void assert_blank_after(weir_status answer)
{
    witness w, asker;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 1, .log_level = WEIR_LOG_OFF));
    const weir_processor to = witness_add(engine, &w, answer);
    const weir_processor who_asks = witness_add(engine, &asker, WEIR_OK);
    asker.other = to;
    test_engine_start(engine);
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 0) {
            commit_block(engine, to);
        } else {
            assert_int_equal(WEIR_OK, kind == 1 ? test_post(engine, who_asks, ASKS)
                                                : test_post(engine, to, TRIGGERS));
        }
        test_sem_wait(&w.told);
        assert_true(is_special(&w.seen));
        assert_int_equal(WEIR_OK, test_post(engine, to, PLAIN));
        test_sem_wait(&w.told);
        assert_ptr_equal(&number_type, w.seen.type);
        assert_null(w.seen.block);
        assert_int_equal(0, w.seen.from.ask);
        assert_int_equal(0, w.seen.tag);
    }
    (void)test_engine_end(engine);
}

static void a_plain_event_has_nothing_of_the_one_before_it(void **state)
{
    (void)state;
    assert_blank_after(WEIR_OK);
}

static void a_plain_event_has_nothing_of_one_whose_handler_failed(void **state)
{
    (void)state;
    assert_blank_after(WEIR_E_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_event_has_nothing_of_the_one_before_it),
        cmocka_unit_test(a_plain_event_has_nothing_of_one_whose_handler_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
