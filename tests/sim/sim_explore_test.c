/*
 * sim_explore_test.c - strategies, faults, time, replays: the simulator as a tool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <time.h>

#include "base/memory.h"
#include "sim_support.h"
#include "sync/thread.h"

static weir__atomic_u32 word;

static void nothing(void *unused)
{
    (void)unused;
}

/* ---- exhaustive ---- */

#define ORDERS_MAX 64
static char order[16];
static char orders[ORDERS_MAX][16];
static uint32_t order_count;

/* Both threads write their letter between steps; the simulator's memory is not looked at. */
static void write_down(char letter)
{
    weir_sim_step();
    const size_t length = strlen(order);
    order[length] = letter;
    order[length + 1] = '\0';
}

static void two_a(void *unused)
{
    (void)unused;
    write_down('a');
    write_down('a');
}

static void two_b(void *unused)
{
    (void)unused;
    write_down('b');
    write_down('b');
}

static void interleave(void *unused)
{
    (void)unused;
    order[0] = '\0';
    both(two_a, two_b);
    for (uint32_t i = 0; i < order_count; i++) {
        if (strcmp(orders[i], order) == 0) {
            return;
        }
    }
    weir_sim_check(order_count < ORDERS_MAX, "more orders than there can be");
    memcpy(orders[order_count++], order, sizeof(order));
}

static void an_exhaustive_search_meets_every_order_and_ends(void **state)
{
    (void)state;
    order_count = 0;
    const weir_sim_result all = explored(EVERY_ORDER(WEIR_SIM_NO_FAULTS), interleave);
    assert_true(all.complete);
    assert_int_equal(6, order_count); /* 4! / (2! * 2!) */
    order_count = 0;
    const weir_sim_result few = explored(
        WEIR_SIM(.strategy = WEIR_SIM_EXHAUSTIVE, .depth = 1, .faults = WEIR_SIM_NO_FAULTS),
        interleave);
    assert_true(few.complete);
    assert_true(few.runs < all.runs);
    assert_int_equal(3, order_count); /* aabb, abba, bbaa: others come back to b a second time */
}

static uint32_t chosen[12];

static void choose(void *unused)
{
    (void)unused;
    chosen[weir_sim_choose(3) * 4 + weir_sim_choose(4)]++;
}

static void an_exhaustive_search_tries_every_choice_once(void **state)
{
    (void)state;
    memset(chosen, 0, sizeof(chosen));
    const weir_sim_result result = explored(WEIR_SIM(.strategy = WEIR_SIM_EXHAUSTIVE), choose);
    assert_true(result.complete);
    assert_int_equal(12, result.runs);
    for (size_t i = 0; i < 12; i++) {
        assert_int_equal(1, chosen[i]);
    }
}

/* ---- faults ---- */

static uint32_t happened;

static void sleep_and_be_woken(void *unused)
{
    (void)unused;
    /* Nobody wakes it, and the value is as expected: true means "for no reason". */
    happened += weir__word_wait(&word, 0, WEIR_MS);
}

static void spurious(void *unused)
{
    (void)unused;
    weir__init(&word, 0);
    both(sleep_and_be_woken, nothing);
}

static void sleeps_end_for_no_reason_if_that_is_asked_for(void **state)
{
    (void)state;
    happened = 0;
    finds_nothing(WEIR_SIM(.runs = 1000, .faults = WEIR_SIM_SPURIOUS), spurious);
    assert_in_range(happened, 1, 500);
    happened = 0;
    finds_nothing(WEIR_SIM(.runs = 1000, .faults = WEIR_SIM_NO_FAULTS), spurious);
    assert_int_equal(0, happened);
}

static void take_memory(void *unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++) {
        void *memory = weir__allocate(weir__allocator_default(), 100);
        happened += memory == NULL;
        weir__release(weir__allocator_default(), memory, 100);
    }
}

static void take_memory_quietly(void *unused)
{
    weir_sim_quiet(true);
    take_memory(unused);
}

static void memory_runs_out_if_that_is_asked_for_and_never_in_quiet_parts(void **state)
{
    (void)state;
    happened = 0;
    finds_nothing(WEIR_SIM(.runs = 1000, .faults = WEIR_SIM_ALLOCATIONS), take_memory);
    assert_in_range(happened, 50, 1000);
    happened = 0;
    finds_nothing(WEIR_SIM(.runs = 1000, .faults = WEIR_SIM_ALLOCATIONS), take_memory_quietly);
    finds_nothing(WEIR_SIM(.runs = 1000), take_memory);
    assert_int_equal(0, happened);
}

static void walk(void *unused)
{
    (void)unused;
    for (int i = 0; i < 50; i++) {
        weir_sim_step();
    }
}

static void walk_and_fail(void *unused)
{
    (void)unused;
    both(walk, walk);
    weir_sim_fail("to see its schedule");
}

/* How many of these runs have a decision of that kind. */
static uint32_t schedules_with(char what, uint32_t faults)
{
    uint32_t count = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        const weir_sim_result result =
            explored(WEIR_SIM(.runs = 1, .seed = seed, .faults = faults), walk_and_fail);
        count += strchr(result.schedule, what) != NULL;
    }
    return count;
}

static void threads_are_stuck_and_the_clock_leaps_if_that_is_asked_for(void **state)
{
    (void)state;
    assert_in_range(schedules_with('t', WEIR_SIM_STALLS), 10, 199);
    assert_int_equal(0, schedules_with('t', WEIR_SIM_NO_FAULTS));
    assert_in_range(schedules_with('j', WEIR_SIM_TIME_JUMPS), 10, 199);
    assert_int_equal(0, schedules_with('j', WEIR_SIM_DEFAULT_FAULTS));
}

/* ---- time ---- */

static double real_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void sleep_an_hour(void *unused)
{
    (void)unused;
    const weir_ns begin = weir_sim_now();
    weir_sim_sleep(3600 * WEIR_S);
    weir_sim_check(weir_sim_now() - begin >= 3600 * WEIR_S, "it slept too short");
    weir__init(&word, 0);
    weir_sim_check(!weir__word_wait(&word, 0, 3600 * WEIR_S), "somebody woke it");
    weir_sim_check(weir_sim_now() - begin >= 7200 * WEIR_S, "it waited too short");
    const int bell = weir__doorbell_open();
    weir_sim_check(!weir_sim_poll(bell, WEIR_S), "a bell rang that nobody rang");
    weir__doorbell_ring(bell);
    weir_sim_check(weir_sim_poll(bell, WEIR_FOREVER), "a bell that rang was not heard");
    weir__doorbell_close(bell);
}

static void hours_pass_in_no_time(void **state)
{
    (void)state;
    const double begin = real_seconds();
    finds_nothing(WEIR_SIM(.runs = 1000, .faults = WEIR_SIM_STORE_BUFFERS | WEIR_SIM_STALLS),
                  sleep_an_hour);
    assert_true(real_seconds() - begin < 30);
}

static void a_search_ends_when_its_real_time_is_over(void **state)
{
    (void)state;
    const double begin = real_seconds();
    const weir_sim_result result =
        explored(WEIR_SIM(.runs = UINT64_MAX, .time_max = 50 * WEIR_MS), nothing);
    assert_true(result.runs >= 16);
    assert_true(real_seconds() - begin < 30);
}

/* ---- the same again ---- */

static weir__atomic_u32 turn;

static void increment_badly(void *unused)
{
    (void)unused;
    const uint32_t seen = weir__load(&turn, seq_cst);
    weir__store(&turn, seen + 1, seq_cst);
}

static void lost_update(void *unused)
{
    (void)unused;
    weir__init(&turn, 0);
    walk(NULL); /* noise that shrinking can do without */
    const int second = weir_sim_thread_start(increment_badly, NULL);
    const int third = weir_sim_thread_start(walk, NULL);
    increment_badly(NULL);
    weir_sim_thread_join(second);
    weir_sim_thread_join(third);
    weir_sim_check(weir__load(&turn, seq_cst) == 2, "an update was lost");
}

static void the_same_seed_fails_in_the_same_way(void **state)
{
    (void)state;
    const weir_sim_result first = explored(WEIR_SIM(.runs = 10000, .seed = 7), lost_update);
    assert_true(first.failed);
    const weir_sim_result again = explored(WEIR_SIM(.runs = 1, .seed = first.seed), lost_update);
    assert_true(again.failed);
    assert_string_equal(first.why, again.why);
    assert_string_equal(first.schedule, again.schedule);
    assert_int_equal(first.preemptions, again.preemptions);
}

static void a_schedule_repeats_the_failure_of_every_strategy(void **state)
{
    (void)state;
    for (int strategy = WEIR_SIM_RANDOM; strategy <= WEIR_SIM_EXHAUSTIVE; strategy++) {
        const weir_sim_result first =
            explored(WEIR_SIM(.runs = 10000, .strategy = (weir_sim_strategy)strategy), lost_update);
        assert_true(first.failed);
        const weir_sim_result again = explored(
            WEIR_SIM(.strategy = WEIR_SIM_REPLAY, .schedule = first.schedule), lost_update);
        assert_true(again.failed);
        assert_string_equal(first.why, again.why);
        assert_string_equal(first.schedule, again.schedule);
    }
}

static void a_failure_can_be_made_shorter_and_still_fails(void **state)
{
    (void)state;
    const weir_sim_result plain = explored(WEIR_SIM(.runs = 10000, .seed = 3), lost_update);
    const weir_sim_result shrunk =
        explored(WEIR_SIM(.runs = 10000, .seed = 3, .shrink = true), lost_update);
    assert_true(shrunk.failed);
    assert_int_equal(plain.seed, shrunk.seed);
    assert_true(strlen(shrunk.schedule) < strlen(plain.schedule));
    assert_in_range(shrunk.preemptions, 1, 2); /* into the middle of an update, perhaps back */
    finds("an update was lost", WEIR_SIM(.strategy = WEIR_SIM_REPLAY, .schedule = shrunk.schedule),
          lost_update);
}

static void a_replay_line_says_all_that_the_run_depends_on(void **state)
{
    (void)state;
    const weir_sim_result pct =
        explored(WEIR_SIM(.runs = 10000, .strategy = WEIR_SIM_PCT, .depth = 4, .faults = 3,
                          .cores = 8, .steps_max = 5000, .name = "./x y"),
                 lost_update);
    assert_true(pct.failed);
    char line[200];
    snprintf(line, sizeof(line),
             "./x y --strategy pct --depth 4 --seed %llu --runs 1 --faults 3 --cores 8 "
             "--steps-max 5000",
             (unsigned long long)pct.seed);
    assert_string_equal(line, pct.replay);
}

/* ---- threads, quiet, misuse ---- */

static void start_too_many(void *unused)
{
    (void)unused;
    int last = 0;
    int started = 0;
    weir_sim_quiet(true);
    while ((last = weir_sim_thread_start(nothing, NULL)) >= 0) {
        started++;
    }
    weir_sim_check(started == 255, "%d threads besides the body", started);
    for (int i = 1; i <= started; i++) {
        weir_sim_thread_join(i);
    }
    weir_sim_check(weir_sim_thread_start(nothing, NULL) == 1, "a slot is not used again");
    weir_sim_thread_join(1);
}

static void threads_are_bounded_and_a_result_says_when_races_went_unseen(void **state)
{
    (void)state;
    const weir_sim_result result = explored(WEIR_SIM(.runs = 3), start_too_many);
    assert_false(result.failed);
    assert_false(result.races_seen);
    assert_true(explored(WEIR_SIM(.runs = 3), nothing).races_seen);
}

static void quiet_body(void *unused)
{
    (void)unused;
    weir_sim_quiet(true);
    order[0] = '\0';
    both(two_a, two_b);
    weir_sim_check(strcmp(order, "aabb") == 0, "interrupted: %s", order);
}

static void nobody_is_interrupted_in_a_quiet_part(void **state)
{
    (void)state;
    finds_nothing(WEIR_SIM(.runs = 1000, .faults = WEIR_SIM_STORE_BUFFERS | WEIR_SIM_STALLS),
                  quiet_body);
}

static weir_status inner_status;

static void explore_inside(void *unused)
{
    weir_sim_result result = WEIR_SIM_RESULT_INIT;
    inner_status = weir_sim_explore(NULL, nothing, unused, &result);
}

static void options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    weir_sim_result result = WEIR_SIM_RESULT_INIT;
    static const char *const no_schedules[] = { "x",     "0",       "0.",     "0.1",   "0.1s",
                                                "0.1q1", "0.1s1,,", "-1.2s3", "0.1s1 " };
    for (size_t i = 0; i < sizeof(no_schedules) / sizeof(no_schedules[0]); i++) {
        assert_int_equal(WEIR_E_INVALID, weir_sim_explore(WEIR_SIM(.strategy = WEIR_SIM_REPLAY,
                                                                   .schedule = no_schedules[i]),
                                                          nothing, NULL, &result));
    }
    assert_int_equal(WEIR_E_INVALID, weir_sim_explore(WEIR_SIM(.strategy = WEIR_SIM_REPLAY),
                                                      nothing, NULL, &result));
    assert_int_equal(WEIR_E_INVALID, weir_sim_explore(WEIR_SIM(.strategy = (weir_sim_strategy)9),
                                                      nothing, NULL, &result));
    assert_int_equal(WEIR_E_INVALID, weir_sim_explore(NULL, NULL, NULL, &result));
    assert_int_equal(WEIR_E_INVALID, weir_sim_explore(NULL, nothing, NULL, NULL));
    assert_int_equal(WEIR_E_SYSTEM, weir_sim_explore(WEIR_SIM(.trace = "/no/such/folder/trace"),
                                                     nothing, NULL, &result));
    finds_nothing(WEIR_SIM(.runs = 1), explore_inside);
    assert_int_equal(WEIR_E_INVALID, inner_status);
}

static void calls_for_bodies_do_no_harm_outside_of_one(void **state)
{
    (void)state;
    assert_int_equal(-1, weir_sim_thread_start(nothing, NULL));
    assert_int_equal(-1, weir_sim_thread_self());
    weir_sim_thread_join(0);
    weir_sim_step();
    weir_sim_sleep(WEIR_S);
    weir_sim_note("nobody reads this");
    assert_int_equal(0, weir_sim_choose(5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exhaustive_search_meets_every_order_and_ends),
        cmocka_unit_test(an_exhaustive_search_tries_every_choice_once),
        cmocka_unit_test(sleeps_end_for_no_reason_if_that_is_asked_for),
        cmocka_unit_test(memory_runs_out_if_that_is_asked_for_and_never_in_quiet_parts),
        cmocka_unit_test(threads_are_stuck_and_the_clock_leaps_if_that_is_asked_for),
        cmocka_unit_test(hours_pass_in_no_time),
        cmocka_unit_test(a_search_ends_when_its_real_time_is_over),
        cmocka_unit_test(the_same_seed_fails_in_the_same_way),
        cmocka_unit_test(a_schedule_repeats_the_failure_of_every_strategy),
        cmocka_unit_test(a_failure_can_be_made_shorter_and_still_fails),
        cmocka_unit_test(a_replay_line_says_all_that_the_run_depends_on),
        cmocka_unit_test(threads_are_bounded_and_a_result_says_when_races_went_unseen),
        cmocka_unit_test(nobody_is_interrupted_in_a_quiet_part),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        cmocka_unit_test(calls_for_bodies_do_no_harm_outside_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
