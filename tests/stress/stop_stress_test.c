/*
 * stop_stress_test.c - the engine stops while posts still come from four threads and handlers still
 * post to each other, again and again with other shapes of engine, load and stop.
 *
 * After each stop: what posters and handlers were told was accepted is what the report says was
 * handled, dropped or left; whoever heard "stopping" once never gets another event in; and nothing
 * is accepted after. SPEC: P-3, P-8, S-21.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/engine_support.h"

enum { POSTERS = 4, PLAYERS = 10, STOPPERS = 3 };

typedef struct player {
    uint64_t handled, sent, dropped, odd, random; /* plain, the handler's */
} player;

/* One engine's life, chosen at random. */
typedef struct scene {
    weir_engine *engine;
    weir_processor handles[PLAYERS];
    player players[PLAYERS];
    uint32_t go_on;  /* of 16 events, how many are passed on; 16: endless */
    weir_ns timeout; /* of the stop */
    _Atomic bool stop_is_back;
    sem_t posters_ready;
} scene;

static scene s;

typedef struct poster {
    uint64_t random;
    uint64_t ok, dropped, odd;
    uint64_t late;       /* accepted after this thread had heard "stopping" */
    uint64_t after_stop; /* accepted though begun after the stop had returned */
    pthread_t thread;
} poster;

static weir_status pass_on(void *state, weir_turn *turn, const weir_event *event)
{
    (void)event;
    player *p = state;
    p->handled++;
    const uint64_t choice = test_random(&p->random);
    if (choice % 16 >= s.go_on) {
        return WEIR_OK;
    }
    const weir_status status =
        weir_turn_post(turn, s.handles[(choice >> 8) % PLAYERS], WEIR_EVENT(mark, 0));
    p->sent += status == WEIR_OK;
    p->dropped += status == WEIR_DROPPED;
    p->odd += status < 0;
    return WEIR_OK;
}

static void *post_until_refused(void *argument)
{
    poster *p = argument;
    bool refused = false;
    (void)sem_post(&s.posters_ready);
    for (uint32_t more = 200; more > 0;) { /* ends: the stop makes every post a refusal */
        const uint64_t choice = test_random(&p->random);
        const bool after = atomic_load(&s.stop_is_back);
        const weir_status status =
            weir_engine_post(s.engine, s.handles[choice % PLAYERS], WEIR_EVENT(mark, 0));
        const bool accepted = status == WEIR_OK || status == WEIR_DROPPED;
        p->ok += status == WEIR_OK;
        p->dropped += status == WEIR_DROPPED;
        p->odd += status < 0 || status == WEIR_UNKNOWN;
        p->late += accepted && refused;
        p->after_stop += accepted && after;
        refused = refused || status == WEIR_STOPPING;
        more -= refused;
    }
    return NULL;
}

typedef struct stopper {
    weir_status status;
    weir_stop_report report;
    pthread_t thread;
} stopper;

static void *stop_engine(void *argument)
{
    stopper *st = argument;
    st->report = (weir_stop_report)WEIR_STOP_REPORT_INIT;
    st->status = weir_engine_stop(s.engine, s.timeout, &st->report);
    atomic_store(&s.stop_is_back, true);
    return NULL;
}

static void scene_open(uint64_t *random, uint32_t go_on, weir_ns timeout)
{
    static const uint32_t bounds[4] = { 1, 10, 100, 10000 };
    static const char *const names[2] = { "", "other" };
    weir_error error = WEIR_ERROR_INIT;
    const uint64_t choice = test_random(random);
    const size_t threads = 1 + (choice >> 8) % 4;
    s.engine = engine_make(
        WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .batch_max = 8, .block_max = 1 * WEIR_MS));
    s.go_on = go_on;
    s.timeout = timeout;
    atomic_store(&s.stop_is_back, false);
    (void)sem_init(&s.posters_ready, 0, 0);
    for (size_t i = 0; i < threads; i++) {
        (void)weir_thread_add(
            s.engine,
            WEIR_THREAD(.dispatchers = i % 2 == 0 ? WEIR_NAMES("", "other") : WEIR_NAMES("other"),
                        .idle = choice % 2 == 0 ? WEIR_IDLE_PARK : WEIR_IDLE_BACKOFF),
            &error);
    }
    assert_no_error(&error);
    for (size_t i = 0; i < PLAYERS; i++) {
        const uint64_t other = test_random(random);
        s.players[i] = (player){ .random = other };
        s.handles[i] = engine_add(
            s.engine,
            WEIR_PROCESSOR(.handler = pass_on, .argument = &s.players[i],
                           .dispatcher = names[other % 2],
                           .overflow = (weir_overflow)(WEIR_OVERFLOW_FAIL + (other >> 8) % 4),
                           .mailbox_max = bounds[(other >> 16) % 4]));
    }
    engine_start(s.engine);
}

/* The books, when all threads are at rest. */
static void scene_check(const poster *posters, const weir_stop_report *report)
{
    uint64_t ok = 0, dropped = 0, odd = 0, handled = 0;
    for (size_t i = 0; i < POSTERS; i++) {
        ok += posters[i].ok;
        dropped += posters[i].dropped;
        odd += posters[i].odd;
        assert_int_equal(0, posters[i].late);
        assert_int_equal(0, posters[i].after_stop);
    }
    for (size_t i = 0; i < PLAYERS; i++) {
        ok += s.players[i].sent;
        dropped += s.players[i].dropped;
        odd += s.players[i].odd;
        handled += s.players[i].handled;
    }
    assert_int_equal(0, odd);
    assert_report_adds_up(report);
    assert_int_equal(ok + dropped, report->accepted);
    assert_int_equal(0, report->dead);
    if (report->left == 0) {
        assert_int_equal(handled, report->handled);
    } else { /* a handler that had not returned when time was up: left, and seen by it */
        assert_true(handled >= report->handled && handled - report->handled <= report->left);
    }
}

/* One stop did it, the others were told; OK means that nothing is left, and time was up only if
 * there was a limit. */
static void check_answers(const stopper *stops, size_t count)
{
    const weir_stop_report *r = &stops[0].report;
    for (size_t i = 0; i < count; i++) {
        const weir_status status = stops[i].status;
        if ((status == WEIR_OK && r->left != 0) || (status == WEIR_TIMEOUT && s.timeout == 0)) {
            fail_msg("status %d of a stop with accepted %" PRIu64 " handled %" PRIu64
                     " dropped %" PRIu64 " dead %" PRIu64 " left %" PRIu64,
                     status, r->accepted, r->handled, r->dropped, r->dead, r->left);
        }
        assert_true(status == WEIR_OK || status == WEIR_TIMEOUT || status == WEIR_ALREADY);
        assert_memory_equal(r, &stops[i].report, sizeof(weir_stop_report));
    }
}

/* A stop amid it all; `stoppers` of them at once. Returns what was left. */
static uint64_t stop_amid_posts(uint64_t *random, uint32_t go_on, weir_ns timeout, size_t stoppers)
{
    poster posters[POSTERS];
    stopper stops[STOPPERS];
    scene_open(random, go_on, timeout);
    for (size_t i = 0; i < POSTERS; i++) {
        posters[i] = (poster){ .random = test_random(random) };
        assert_int_equal(0,
                         pthread_create(&posters[i].thread, NULL, post_until_refused, &posters[i]));
    }
    for (size_t i = 0; i < POSTERS; i++) {
        assert_true(sem_wait_seconds(&s.posters_ready, WAIT_SECONDS));
    }
    busy_for_ns((int64_t)(test_random(random) % 3000000));
    const int64_t begin = now_ns();
    for (size_t i = 0; i < stoppers; i++) {
        assert_int_equal(0, pthread_create(&stops[i].thread, NULL, stop_engine, &stops[i]));
    }
    for (size_t i = 0; i < stoppers; i++) {
        assert_int_equal(0, pthread_join(stops[i].thread, NULL));
    }
    assert_true(now_ns() - begin < 25 * WEIR_S); /* nobody waited for the default of 30 s */
    for (size_t i = 0; i < POSTERS; i++) {
        assert_int_equal(0, pthread_join(posters[i].thread, NULL));
    }
    check_answers(stops, stoppers);
    for (size_t i = 0; i < PLAYERS; i++) {
        assert_int_equal(WEIR_STOPPING,
                         weir_engine_post(s.engine, s.handles[i], WEIR_EVENT(mark, 0)));
    }
    const weir_counters c = engine_counters(s.engine);
    assert_int_equal(stops[0].report.accepted, c.accepted);
    assert_int_equal(stops[0].report.handled, c.handled);
    assert_int_equal(stops[0].report.left, c.left);
    assert_int_equal(c.accepted, c.handled + c.dropped + c.dead + c.left);
    weir_engine_destroy(s.engine); /* joins: the players are at rest */
    scene_check(posters, &stops[0].report);
    return stops[0].report.left;
}

static void
a_stop_with_posts_coming_and_handlers_posting_drains_and_accepts_nothing_after(void **unused)
{
    (void)unused;
    uint64_t random = test_seed();
    const uint64_t rounds = test_scaled(400, 4);
    for (uint64_t i = 0; i < rounds; i++) {
        const uint32_t go_on = (uint32_t)(test_random(&random) % 15); /* dies out by itself */
        assert_int_equal(0, stop_amid_posts(&random, go_on, 0, 1));
    }
}

static void stops_from_several_threads_amid_posts_all_get_the_same_answer(void **unused)
{
    (void)unused;
    uint64_t random = test_seed() + 1;
    const uint64_t rounds = test_scaled(200, 4);
    for (uint64_t i = 0; i < rounds; i++) {
        assert_int_equal(0, stop_amid_posts(&random, 12, 0, STOPPERS));
    }
}

static void a_stop_amid_an_endless_exchange_ends_at_its_timeout_and_the_sums_match(void **unused)
{
    (void)unused;
    uint64_t random = test_seed() + 2, left = 0;
    const uint64_t rounds = test_scaled(150, 4);
    for (uint64_t i = 0; i < rounds; i++) {
        const weir_ns timeouts[3] = { WEIR_NOW, 100 * WEIR_US, 5 * WEIR_MS };
        left += stop_amid_posts(&random, 16, timeouts[i % 3], 1 + i % STOPPERS);
    }
    assert_true(left > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_stop_with_posts_coming_and_handlers_posting_drains_and_accepts_nothing_after),
        cmocka_unit_test(stops_from_several_threads_amid_posts_all_get_the_same_answer),
        cmocka_unit_test(a_stop_amid_an_endless_exchange_ends_at_its_timeout_and_the_sums_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
