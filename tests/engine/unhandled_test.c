/*
 * unhandled_test.c - the hook that sees what a handler did not want (S-15).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

typedef struct last_resort {
    weir_status answers; /* of the hook */
    uint64_t seen, wrong;
} last_resort;

static weir_status not_for_me(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_UNHANDLED;
}

static weir_status take_what_is_left(void *state, weir_turn *turn, const weir_event *event)
{
    last_resort *l = state;
    const number *n = weir_event_as(event, &number_type);
    l->wrong += turn == NULL || n == NULL || n->value != l->seen;
    l->seen++;
    return l->answers;
}

static void the_unhandled_hook_sees_what_nobody_handled_and_its_status_counts(void **state)
{
    (void)state;
    static const struct {
        weir_status answers;
        uint64_t handled, unhandled, dead;
    } cases[] = {
        { WEIR_OK, 3, 0, 0 },        { WEIR_DROPPED, 3, 0, 0 }, { WEIR_ALREADY, 3, 0, 0 },
        { WEIR_UNHANDLED, 3, 3, 0 }, { WEIR_E_NOMEM, 0, 0, 3 }, { WEIR_FULL, 0, 0, 3 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        last_resort l = { .answers = cases[i].answers };
        weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
        const weir_processor to = test_processor_add(
            engine,
            WEIR_PROCESSOR(.handler = not_for_me, .unhandled = take_what_is_left, .argument = &l));
        for (uint64_t n = 0; n < 3; n++) {
            assert_int_equal(WEIR_OK, test_post(engine, to, n));
        }
        test_engine_start(engine);
        assert_int_equal(WEIR_OK, weir_engine_stop(engine, 0, NULL));
        const weir_counters c = test_engine_counters(engine);
        assert_int_equal(cases[i].handled, c.handled);
        assert_int_equal(cases[i].unhandled, c.unhandled);
        assert_int_equal(cases[i].dead, c.dead);
        weir_engine_destroy(engine);
        assert_int_equal(3, l.seen);
        assert_int_equal(0, l.wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_unhandled_hook_sees_what_nobody_handled_and_its_status_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
