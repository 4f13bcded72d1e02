/*
 * kept_unit_test.c - the list that a thread keeps, by itself: order, numbers, halves; stealing, and
 * letting go. (kept_test.c has engines that run.)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_support.h"

#include <string.h>

#include "engine/engine.h"
#include "engine/kept.h"
#include "engine/share.h"

enum { THREADS = 3, PROCESSORS = 12 };

/* A dispatcher, threads that serve it, and processors: nothing else of an engine is touched. */
typedef struct desk {
    weir_engine engine;
    weir__dispatcher dispatcher;
    weir__serving servings[THREADS];
    weir__serving *served[THREADS];
    weir__thread threads[THREADS];
    weir__processor processors[PROCESSORS];
} desk;

static desk *desk_open(void)
{
    static desk d;
    memset(&d, 0, sizeof(d));
    weir__barrier_open();
    d.dispatcher.engine = &d.engine;
    for (uint32_t i = 0; i < THREADS; i++) {
        d.servings[i].dispatcher = &d.dispatcher;
        d.servings[i].thread = &d.threads[i];
        weir__store(&d.threads[i].share_at, WEIR__SHARE_AT_LEAST, relaxed);
        d.servings[i].next = weir__load(&d.dispatcher.servings, relaxed);
        weir__store(&d.dispatcher.servings, &d.servings[i], relaxed);
        d.served[i] = &d.servings[i];
        d.threads[i].servings = &d.served[i];
        d.threads[i].serving_count = 1;
    }
    return &d;
}

/* Thread 0 keeps so many, from the first processor on. */
static weir__kept *keep(desk *d, uint32_t count)
{
    weir__kept *list = &d->servings[0].kept;
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(i + 1, weir__kept_append(list, &d->processors[i], &d->processors[i], 1));
    }
    assert_int_equal(count, weir__kept_length(list));
    return list;
}

/* The list has these, in this order, and then none. */
static void has(desk *d, weir__kept *list, uint32_t first, uint32_t count)
{
    assert_int_equal(count, weir__kept_length(list));
    for (uint32_t i = first; i < first + count; i++) {
        assert_ptr_equal(&d->processors[i], weir__kept_next(list));
    }
    assert_null(weir__kept_next(list));
    assert_int_equal(0, weir__kept_length(list));
}

static void what_is_kept_first_is_run_first(void **state)
{
    (void)state;
    desk *d = desk_open();
    weir__kept *list = keep(d, 5);
    has(d, list, 0, 5);
    list = keep(d, 3); /* again, from an empty list */
    assert_ptr_equal(&d->processors[0], weir__kept_next(list));
    assert_int_equal(3, weir__kept_append(list, &d->processors[3], &d->processors[3], 1));
    has(d, list, 1, 3);
}

static void a_chain_is_kept_as_it_is(void **state)
{
    (void)state;
    desk *d = desk_open();
    weir__kept *list = keep(d, 2);
    for (uint32_t i = 2; i < 5; i++) {
        d->processors[i].ready_next = &d->processors[i + 1];
    }
    d->processors[5].ready_next = &d->processors[0]; /* whatever it was in before */
    assert_int_equal(6, weir__kept_append(list, &d->processors[2], &d->processors[5], 4));
    has(d, list, 0, 6);
}

static void a_raid_takes_the_older_half_rounded_up(void **state)
{
    (void)state;
    for (uint32_t count = 0; count <= PROCESSORS; count++) {
        desk *d = desk_open();
        weir__kept *list = keep(d, count);
        const weir__chain chain = weir__kept_raid(list, false);
        const uint32_t half = (count + 1) / 2;
        assert_int_equal(half, chain.count);
        assert_ptr_equal(half > 0 ? &d->processors[0] : NULL, chain.first);
        assert_ptr_equal(half > 0 ? &d->processors[half - 1] : NULL, chain.last);
        has(d, list, half, count - half);
        assert_int_equal(1, weir__kept_append(list, &d->processors[0], &d->processors[0], 1));
        has(d, list, 0, 1);
    }
}

static void a_raid_for_all_leaves_nothing(void **state)
{
    (void)state;
    desk *d = desk_open();
    weir__kept *list = keep(d, 5);
    assert_int_equal(5, weir__kept_raid(list, true).count);
    assert_int_equal(0, weir__kept_raid(list, true).count);
    has(d, list, 0, 0);
}

static void an_owner_that_is_raided_puts_it_elsewhere(void **state)
{
    (void)state;
    desk *d = desk_open();
    weir__kept *list = keep(d, 2);
    assert_true(weir__bias_raid(&list->bias));
    assert_int_equal(0, weir__kept_append(list, &d->processors[2], &d->processors[2], 1));
    assert_null(weir__kept_next(list));
    assert_int_equal(2, weir__kept_length(list)); /* so it knows that it is no empty list */
    assert_true(weir__share_keeps(&d->threads[0]));
    weir__bias_raid_over(&list->bias);
    has(d, list, 0, 2);
}

static void a_raider_that_meets_the_owner_takes_nothing(void **state)
{
    (void)state;
    desk *d = desk_open();
    weir__kept *list = keep(d, 4);
    assert_true(weir__bias_enter(&list->bias));
    assert_int_equal(0, weir__kept_raid(list, true).count);
    weir__bias_leave(&list->bias);
    has(d, list, 0, 4);
}

static void a_thief_leaves_its_victim_the_one_that_it_runs_next(void **state)
{
    (void)state;
    desk *d = desk_open();
    weir__kept *list = keep(d, 1);
    assert_null(weir__share_steal(&d->servings[1]));
    has(d, list, 0, 1);
    list = keep(d, 2);
    assert_ptr_equal(&d->processors[0], weir__share_steal(&d->servings[1]));
    has(d, list, 1, 1);
}

static void a_thief_leaves_alone_what_is_not_worth_its_while(void **state)
{
    (void)state;
    desk *d = desk_open();
    weir__kept *list = keep(d, 5);
    weir__store(&d->threads[0].share_at, 6, relaxed);
    assert_null(weir__share_steal(&d->servings[1]));
    has(d, list, 0, 5);
    list = keep(d, 6);
    assert_ptr_equal(&d->processors[0], weir__share_steal(&d->servings[1]));
    has(d, list, 3, 3);
}

static void a_thief_runs_the_oldest_and_keeps_the_rest(void **state)
{
    (void)state;
    desk *d = desk_open();
    weir__kept *list = keep(d, 7);
    assert_ptr_equal(&d->processors[0], weir__share_steal(&d->servings[2]));
    has(d, &d->servings[2].kept, 1, 3);
    has(d, list, 4, 3);
}

static void a_thief_goes_to_the_richest_and_never_to_itself(void **state)
{
    (void)state;
    desk *d = desk_open();
    weir__kept *own = keep(d, 6);
    weir__kept *other = &d->servings[1].kept;
    assert_null(weir__share_steal(&d->servings[0]));
    for (uint32_t i = 6; i < 8; i++) {
        assert_int_not_equal(0, weir__kept_append(other, &d->processors[i], &d->processors[i], 1));
    }
    assert_ptr_equal(&d->processors[0], weir__share_steal(&d->servings[2]));
    has(d, other, 6, 2);
    has(d, own, 3, 3);
}

static void nothing_is_stolen_on_a_fair_dispatcher(void **state)
{
    (void)state;
    desk *d = desk_open();
    weir__kept *list = keep(d, 4);
    d->dispatcher.fair = true;
    assert_null(weir__share_steal(&d->servings[1]));
    has(d, list, 0, 4);
}

static void a_thief_whose_own_list_is_raided_loses_nothing(void **state)
{
    (void)state;
    desk *d = desk_open();
    weir__kept *list = keep(d, 6);
    assert_true(weir__bias_raid(&d->servings[1].kept.bias));
    assert_ptr_equal(&d->processors[0], weir__share_steal(&d->servings[1]));
    weir__bias_raid_over(&d->servings[1].kept.bias);
    has(d, list, 3, 3);
    assert_int_equal(2, weir__dispatcher_ready(&d->dispatcher)); /* in the queue instead */
}

static void letting_go_puts_all_into_the_queue_in_order(void **state)
{
    (void)state;
    desk *d = desk_open();
    weir__kept *list = keep(d, 5);
    weir__share_all(&d->threads[0]);
    has(d, list, 0, 0);
    assert_false(weir__share_keeps(&d->threads[0]));
    for (uint32_t i = 0; i < 5; i++) {
        weir__processor *out = NULL;
        assert_int_equal(WEIR__TAKE_GOT,
                         weir__dispatcher_take(&d->dispatcher, &d->threads[1], 0, &out));
        assert_ptr_equal(&d->processors[i], out);
    }
}

static void what_is_kept_counts_as_ready(void **state)
{
    (void)state;
    desk *d = desk_open();
    (void)keep(d, 3);
    weir__dispatcher_push_quiet(&d->dispatcher, &d->processors[3]);
    assert_int_equal(4, weir__dispatcher_ready(&d->dispatcher));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_first_is_run_first),
        cmocka_unit_test(a_chain_is_kept_as_it_is),
        cmocka_unit_test(a_raid_takes_the_older_half_rounded_up),
        cmocka_unit_test(a_raid_for_all_leaves_nothing),
        cmocka_unit_test(an_owner_that_is_raided_puts_it_elsewhere),
        cmocka_unit_test(a_raider_that_meets_the_owner_takes_nothing),
        cmocka_unit_test(a_thief_leaves_its_victim_the_one_that_it_runs_next),
        cmocka_unit_test(a_thief_leaves_alone_what_is_not_worth_its_while),
        cmocka_unit_test(a_thief_runs_the_oldest_and_keeps_the_rest),
        cmocka_unit_test(a_thief_goes_to_the_richest_and_never_to_itself),
        cmocka_unit_test(nothing_is_stolen_on_a_fair_dispatcher),
        cmocka_unit_test(a_thief_whose_own_list_is_raided_loses_nothing),
        cmocka_unit_test(letting_go_puts_all_into_the_queue_in_order),
        cmocka_unit_test(what_is_kept_counts_as_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
