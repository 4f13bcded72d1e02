/*
 * wheel_test.c - the wheel against a list that is searched, and its numbers against a book of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "../test_support.h"
#include "time/wheel.h"

#define TICK ((weir_ns)1 << WEIR__TICK_BITS)

enum { ROWS = 4096 };

typedef struct bench {
    weir__wheel wheel;
    weir__timer_row rows[ROWS];
    uint32_t slabs_out;
} bench;

static bench *make_bench(void)
{
    bench *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    b->wheel.store.table = b->rows;
    b->wheel.store.table_size = ROWS;
    weir__wheel_open(&b->wheel);
    return b;
}

static void end_timer(bench *b, uint32_t number, weir_timer_outcome outcome)
{
    weir__timer_slab *slab = weir__timer_end(&b->wheel.store, number, outcome);
    if (slab != NULL) {
        b->slabs_out--;
        free(slab);
    }
}

static void free_bench(bench *b)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        free(b->rows[i].slab);
    }
    free(b);
}

static weir__timer_slab *make_slab(weir__slab_kind kind)
{
    weir__timer_slab *slab = malloc(weir__slab_size(kind));
    assert_non_null(slab);
    memset(slab, 0xa5, weir__slab_size(kind)); /* it need not be zeroed */
    slab->kind = kind;
    return slab;
}

static uint32_t take_number_of(bench *b, weir__slab_kind kind)
{
    uint32_t number = weir__timer_take(&b->wheel.store, kind);
    if (number == 0) {
        assert_true(weir__timer_add_slab(&b->wheel.store, make_slab(kind)));
        b->slabs_out++;
        number = weir__timer_take(&b->wheel.store, kind);
    }
    assert_int_not_equal(0, number);
    return number;
}

static uint32_t take_number(bench *b)
{
    return take_number_of(b, WEIR__SLAB_EVENTS);
}

static uint32_t add(bench *b, weir_ns due)
{
    const uint32_t number = take_number(b);
    weir__timer_at(&b->wheel.store, number)->due = due;
    weir__wheel_schedule(&b->wheel, number);
    return number;
}

static void turn(bench *b, weir_ns now)
{
    while (!weir__wheel_turn(&b->wheel, now, 7)) {
    }
}

static void a_timer_is_due_at_its_tick_and_not_a_nanosecond_before_its_time(void **state)
{
    static const weir_ns dues[] = { 0,
                                    1,
                                    TICK - 1,
                                    TICK,
                                    TICK + 1,
                                    63 * TICK,
                                    64 * TICK,
                                    65 * TICK + 5,
                                    WEIR_S,
                                    3600 * WEIR_S,
                                    INT64_C(1) << 40,
                                    INT64_C(1) << 52,
                                    INT64_C(1) << 60 };
    (void)state;
    for (size_t i = 0; i < sizeof(dues) / sizeof(dues[0]); i++) {
        bench *b = make_bench();
        const uint32_t number = add(b, dues[i]);
        if (dues[i] > 0) {
            turn(b, dues[i] - 1);
            assert_int_equal(0, weir__wheel_take_due(&b->wheel));
            const weir_ns next = weir__wheel_next(&b->wheel);
            assert_true(next > dues[i] - 1 && next <= dues[i] + TICK - 1);
        }
        turn(b, dues[i] + TICK - 1);
        assert_int_equal(number, weir__wheel_take_due(&b->wheel));
        assert_int_equal(0, weir__wheel_take_due(&b->wheel));
        assert_true(weir__wheel_next(&b->wheel) == WEIR_FOREVER);
        free_bench(b);
    }
}

static void the_farthest_time_that_there_is_has_a_place(void **state)
{
    (void)state;
    bench *b = make_bench();
    turn(b, 5 * WEIR_S);
    const uint32_t number = add(b, WEIR_FOREVER);
    assert_true(weir__wheel_next(&b->wheel) > 5 * WEIR_S);
    turn(b, INT64_C(1) << 62);
    assert_int_equal(0, weir__wheel_take_due(&b->wheel));
    weir__wheel_unschedule(&b->wheel, number);
    assert_int_equal(0, b->wheel.pending);
    assert_true(weir__wheel_next(&b->wheel) == WEIR_FOREVER);
    free_bench(b);
}

static void timers_of_one_tick_come_in_the_order_in_which_they_were_scheduled(void **state)
{
    (void)state;
    bench *b = make_bench();
    const weir_ns due = 70000 * TICK; /* through three levels */
    const uint32_t first = add(b, due);
    turn(b, due - 3000 * TICK);
    const uint32_t second = add(b, due);
    turn(b, due - 40 * TICK);
    const uint32_t third = add(b, due);
    turn(b, due);
    assert_int_equal(first, weir__wheel_take_due(&b->wheel));
    assert_int_equal(second, weir__wheel_take_due(&b->wheel));
    assert_int_equal(third, weir__wheel_take_due(&b->wheel));
    free_bench(b);
}

/* ---- against a list ---- */

enum { PENDING_MAX = 600 };

typedef struct model {
    struct {
        uint32_t number, generation;
        weir_ns due;
    } pending[PENDING_MAX];
    size_t count;
} model;

static void model_remove(model *m, size_t at)
{
    m->pending[at] = m->pending[--m->count];
}

static size_t model_find(const model *m, uint32_t number)
{
    for (size_t i = 0; i < m->count; i++) {
        if (m->pending[i].number == number) {
            return i;
        }
    }
    return SIZE_MAX;
}

static uint64_t tick_up(weir_ns due)
{
    return ((uint64_t)due + (uint64_t)TICK - 1) >> WEIR__TICK_BITS;
}

/* Everything that is due by the model comes, earlier ticks first, and nothing else. */
static void compare_due(bench *b, model *m, weir_ns now)
{
    uint32_t number;
    uint64_t last = 0;
    while ((number = weir__wheel_take_due(&b->wheel)) != 0) {
        const size_t at = model_find(m, number);
        assert_true(at != SIZE_MAX);
        assert_true(m->pending[at].due <= now);
        assert_true(tick_up(m->pending[at].due) >= last);
        last = tick_up(m->pending[at].due);
        assert_int_equal(m->pending[at].generation,
                         weir__timer_at(&b->wheel.store, number)->generation);
        model_remove(m, at);
        end_timer(b, number, WEIR_TIMER_POSTED);
    }
    for (size_t i = 0; i < m->count; i++) {
        assert_true(tick_up(m->pending[i].due) > (uint64_t)now >> WEIR__TICK_BITS);
    }
    assert_int_equal(m->count, b->wheel.pending);
}

/* A span that may be of any level. */
static weir_ns random_span(uint64_t *random)
{
    const uint32_t bits = 1 + (uint32_t)(test_random(random) % 44);
    return (weir_ns)(test_random(random) & ((UINT64_C(1) << bits) - 1));
}

static void whatever_is_done_to_it_it_does_as_a_searched_list_would(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int round = 0; round < (TEST_SANITIZED ? 20 : 100); round++) {
        bench *b = make_bench();
        model *m = calloc(1, sizeof(*m));
        weir_ns now = random_span(&random);
        assert_non_null(m);
        for (int step = 0; step < 3000; step++) {
            const uint64_t what = test_random(&random) % 10;
            if (what < 5 && m->count < PENDING_MAX) {
                weir__wheel_note(&b->wheel, now);
                const weir_ns due = now + random_span(&random);
                const uint32_t number = add(b, due);
                m->pending[m->count].number = number;
                m->pending[m->count].generation =
                    weir__timer_at(&b->wheel.store, number)->generation;
                m->pending[m->count++].due = due;
            } else if (what < 7 && m->count > 0) {
                const size_t at = test_random(&random) % m->count;
                weir__wheel_unschedule(&b->wheel, m->pending[at].number);
                end_timer(b, m->pending[at].number, WEIR_TIMER_CANCELLED);
                model_remove(m, at);
            } else if (what == 7 && m->count > 0) {
                /* Half a turn: the rest is cancelled and added to meanwhile. */
                now += random_span(&random);
                (void)weir__wheel_turn(&b->wheel, now, (uint32_t)(test_random(&random) % 4));
            } else {
                now += random_span(&random);
                turn(b, now);
                compare_due(b, m, now);
                assert_true(weir__wheel_next(&b->wheel) > now);
            }
        }
        uint32_t number;
        while ((number = weir__wheel_take_any(&b->wheel)) != 0) {
            model_remove(m, model_find(m, number));
            end_timer(b, number, WEIR_TIMER_CANCELLED);
        }
        assert_int_equal(0, m->count);
        assert_int_equal(0, b->wheel.levels);
        assert_true(b->slabs_out <= 1);
        free(m);
        free_bench(b);
    }
}

/* ---- numbers ---- */

static void an_outcome_is_known_until_the_number_has_had_five_more_lives(void **state)
{
    (void)state;
    bench *b = make_bench();
    weir_timer_outcome outcome;
    uint32_t number = take_number(b);
    const uint32_t generation = weir__timer_at(&b->wheel.store, number)->generation;
    assert_true(weir__timer_look(&b->wheel.store, number, generation, &outcome));
    assert_int_equal(WEIR_TIMER_PENDING, outcome);
    end_timer(b, number, WEIR_TIMER_FAILED_FULL);
    const uint32_t wanted = number;
    for (uint32_t lives = 1; lives < WEIR__TIMER_LIVES + 3;) {
        const bool known = weir__timer_look(&b->wheel.store, wanted, generation, &outcome);
        assert_int_equal(lives <= WEIR__TIMER_LIVES, known);
        if (known) {
            assert_int_equal(WEIR_TIMER_FAILED_FULL, outcome);
        }
        number = take_number(b);
        end_timer(b, number, WEIR_TIMER_CANCELLED);
        lives += number == wanted ? 1 : 0;
    }
    free_bench(b);
}

static void free_numbers_are_used_again_in_turn(void **state)
{
    (void)state;
    bench *b = make_bench();
    const uint32_t first = take_number(b);
    end_timer(b, first, WEIR_TIMER_POSTED);
    for (uint32_t i = 1; i < WEIR__SLAB_TIMERS; i++) {
        const uint32_t other = take_number(b);
        assert_int_not_equal(first, other);
        end_timer(b, other, WEIR_TIMER_POSTED);
    }
    assert_int_equal(first, take_number(b));
    free_bench(b);
}

static void what_was_never_a_timer_is_not_known(void **state)
{
    (void)state;
    bench *b = make_bench();
    weir_timer_outcome outcome;
    const uint32_t number = take_number(b);
    const weir__timer *timer = weir__timer_at(&b->wheel.store, number);
    assert_false(weir__timer_look(&b->wheel.store, 0, 0, &outcome));
    assert_false(weir__timer_look(&b->wheel.store, number + 1, timer->generation, &outcome));
    assert_false(weir__timer_look(&b->wheel.store, number, timer->generation + 1, &outcome));
    assert_false(weir__timer_look(&b->wheel.store, number, timer->generation - 1, &outcome));
    assert_false(weir__timer_look(&b->wheel.store, 1 + WEIR__SLAB_TIMERS, 0, &outcome));
    assert_false(weir__timer_look(&b->wheel.store, UINT32_MAX, 0, &outcome));
    free_bench(b);
}

static void slabs_go_with_their_timers_and_old_handles_stay_stale(void **state)
{
    (void)state;
    enum { SLABS = 5 };
    static uint32_t numbers[SLABS * WEIR__SLAB_TIMERS], generations[SLABS * WEIR__SLAB_TIMERS];
    bench *b = make_bench();
    weir_timer_outcome outcome;
    for (uint32_t again = 0; again < 3; again++) {
        for (uint32_t i = 0; i < SLABS * WEIR__SLAB_TIMERS; i++) {
            const uint32_t number = take_number(b);
            if (again > 0) {
                assert_int_not_equal(generations[number - 1],
                                     weir__timer_at(&b->wheel.store, number)->generation);
            }
            numbers[i] = number;
        }
        assert_int_equal(SLABS, b->slabs_out);
        for (uint32_t i = 0; i < SLABS * WEIR__SLAB_TIMERS; i++) {
            generations[numbers[i] - 1] = weir__timer_at(&b->wheel.store, numbers[i])->generation;
        }
        for (uint32_t i = 0; i < SLABS * WEIR__SLAB_TIMERS; i++) {
            end_timer(b, numbers[i], WEIR_TIMER_POSTED);
        }
        assert_int_equal(1, b->slabs_out);
        for (uint32_t i = 1; i <= SLABS * WEIR__SLAB_TIMERS; i++) {
            assert_false(weir__timer_look(&b->wheel.store, i, generations[i - 1], &outcome) &&
                         outcome == WEIR_TIMER_PENDING);
        }
    }
    free_bench(b);
}

static void a_full_table_takes_no_slab(void **state)
{
    (void)state;
    bench *b = make_bench();
    b->wheel.store.table_size = 1;
    for (uint32_t i = 0; i < WEIR__SLAB_TIMERS; i++) {
        (void)take_number(b);
    }
    for (weir__slab_kind kind = WEIR__SLAB_HOOKS; kind <= WEIR__SLAB_EVENTS; kind++) {
        weir__timer_slab *slab = make_slab(kind);
        assert_int_equal(0, weir__timer_take(&b->wheel.store, kind));
        assert_false(weir__timer_add_slab(&b->wheel.store, slab));
        free(slab);
    }
    free_bench(b);
}

static void timers_with_an_event_and_without_lie_apart_and_none_in_the_others_load(void **state)
{
    (void)state;
    enum { TIMERS = 3 * WEIR__SLAB_TIMERS };
    static uint32_t numbers[TIMERS];
    bench *b = make_bench();
    for (uint32_t i = 0; i < TIMERS; i++) {
        const bool hook = i % 3 == 0;
        numbers[i] = take_number_of(b, hook ? WEIR__SLAB_HOOKS : WEIR__SLAB_EVENTS);
        weir__timer_load *load = weir__timer_load_at(&b->wheel.store, numbers[i]);
        assert_int_equal(0, (uintptr_t)load % _Alignof(weir__timer_load));
        memset(load, (int)(i % 251),
               hook ? offsetof(weir__timer_load, flow) : sizeof(weir__timer_load));
    }
    assert_int_equal(3, b->slabs_out);
    assert_int_equal(weir__slab_size(WEIR__SLAB_HOOKS) + 2 * weir__slab_size(WEIR__SLAB_EVENTS),
                     weir__timer_slab_bytes(&b->wheel.store));
    for (uint32_t i = 0; i < TIMERS; i++) {
        const unsigned char *load =
            (const unsigned char *)weir__timer_load_at(&b->wheel.store, numbers[i]);
        const size_t last =
            (i % 3 == 0 ? offsetof(weir__timer_load, flow) : sizeof(weir__timer_load)) - 1;
        assert_int_equal(i % 251, load[0]);
        assert_int_equal(i % 251, load[last]);
    }
    for (uint32_t i = 0; i < TIMERS; i++) {
        end_timer(b, numbers[i], WEIR_TIMER_POSTED);
    }
    assert_int_equal(2, b->slabs_out); /* an empty one of each stays */
    free_bench(b);
}

/* Whatever ends first: a slab stays for the one that is left in it. */
static void as_many_as_the_table_is_made_for_find_a_place_whatever_they_are(void **state)
{
    (void)state;
    enum { MOST = 4 * WEIR__SLAB_TIMERS };
    static uint32_t numbers[MOST];
    for (weir__slab_kind first = WEIR__SLAB_HOOKS; first <= WEIR__SLAB_EVENTS; first++) {
        bench *b = make_bench();
        b->wheel.store.table_size = weir__timer_rows(MOST);
        assert_true(b->wheel.store.table_size <= ROWS);
        for (uint32_t i = 0; i < MOST; i++) {
            numbers[i] = take_number_of(b, first);
        }
        uint32_t ended = 0;
        for (uint32_t i = 0; i < MOST; i++) {
            if (i % WEIR__SLAB_TIMERS != 0) {
                end_timer(b, numbers[i], WEIR_TIMER_CANCELLED);
                ended++;
            }
        }
        while (ended-- > 0) {
            (void)take_number_of(b, WEIR__SLAB_HOOKS + WEIR__SLAB_EVENTS - first);
        }
        free_bench(b);
    }
}

static void a_timer_takes_120_bytes_and_72_without_an_event(void **state)
{
    (void)state;
    assert_int_equal(120, sizeof(weir__timer) + weir__slab_load_size(WEIR__SLAB_EVENTS));
    assert_int_equal(72, sizeof(weir__timer) + weir__slab_load_size(WEIR__SLAB_HOOKS));
    assert_true(weir__slab_size(WEIR__SLAB_EVENTS) <= WEIR__SLAB_TIMERS * 121);
    assert_true(weir__slab_size(WEIR__SLAB_HOOKS) <= WEIR__SLAB_TIMERS * 73);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_is_due_at_its_tick_and_not_a_nanosecond_before_its_time),
        cmocka_unit_test(the_farthest_time_that_there_is_has_a_place),
        cmocka_unit_test(timers_of_one_tick_come_in_the_order_in_which_they_were_scheduled),
        cmocka_unit_test(whatever_is_done_to_it_it_does_as_a_searched_list_would),
        cmocka_unit_test(an_outcome_is_known_until_the_number_has_had_five_more_lives),
        cmocka_unit_test(free_numbers_are_used_again_in_turn),
        cmocka_unit_test(what_was_never_a_timer_is_not_known),
        cmocka_unit_test(slabs_go_with_their_timers_and_old_handles_stay_stale),
        cmocka_unit_test(a_full_table_takes_no_slab),
        cmocka_unit_test(timers_with_an_event_and_without_lie_apart_and_none_in_the_others_load),
        cmocka_unit_test(as_many_as_the_table_is_made_for_find_a_place_whatever_they_are),
        cmocka_unit_test(a_timer_takes_120_bytes_and_72_without_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
