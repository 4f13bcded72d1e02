/*
 * handle_test.c - handles that outlive their processor: a status for ever, never another
 * processor, also when the slot was used again and again while posters stood still in the middle
 * of a post. SPEC: P-7, S-10.
 *
 * The posters are stopped at random points by a signal whose handler waits for an atomic flag. That
 * is what a scheduler can do to any thread at any instruction, only longer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

#include <poll.h>
#include <signal.h>

/* What every call says of a handle to nothing. */
static void assert_unknown(weir_engine *engine, weir_processor p)
{
    char name[32];
    weir_counters counters = WEIR_COUNTERS_INIT;
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    weir_status status = WEIR_OK;
    const weir_event *const event = WEIR_EVENT(mark, 0);
    assert_int_equal(WEIR_UNKNOWN, weir_engine_post(engine, p, event));
    assert_int_equal(0, weir_engine_post_batch(engine, &p, 1, &event, 1, &status));
    assert_int_equal(WEIR_UNKNOWN, status);
    assert_int_equal(WEIR_UNKNOWN, weir_processor_stop(engine, p, 0, &report));
    assert_int_equal(WEIR_UNKNOWN, weir_processor_stop_async(engine, p, 0));
    assert_int_equal(WEIR_UNKNOWN, weir_processor_counters(engine, p, &counters));
    assert_int_equal(0, weir_processor_name(engine, p, name, sizeof(name)));
}

static void a_stale_handle_is_a_status_after_its_slot_was_reused(void **unused)
{
    (void)unused;
    enum { GENERATIONS = 2000 };
    static weir_processor stale[GENERATIONS];
    static ledger book;
    static collector c;
    ledger_open(&book, GENERATIONS);
    c = (collector){ .book = &book };
    weir_engine *engine = engine_make(
        WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .processors_max = 4)); /* slots must be reused */
    engine_start(engine);
    for (uint64_t i = 0; i < GENERATIONS; i++) {
        stale[i] = engine_add(engine, WEIR_PROCESSOR(.handler = collect, .argument = &c));
        assert_int_equal(WEIR_OK,
                         weir_engine_post(engine, stale[i], WEIR_EVENT(mark, .number = i)));
        assert_int_equal(WEIR_OK, weir_processor_stop(engine, stale[i], 0, NULL));
        assert_unknown(engine, stale[i]);
        assert_unknown(engine, stale[i / 2]);
    }
    const weir_processor living =
        engine_add(engine, WEIR_PROCESSOR(.handler = ignore_event, .argument = &c));
    for (uint64_t i = 0; i < GENERATIONS; i++) {
        assert_true(stale[i].id != living.id);
        assert_unknown(engine, stale[i]);
    }
    const weir_counters before = engine_counters(engine);
    assert_true(before.refused_unknown >= GENERATIONS);
    engine_finish(engine, GENERATIONS);
    ledger_check(&book);
    ledger_close(&book);
}

static void a_zero_handle_and_one_from_another_engine_are_unknown(void **unused)
{
    (void)unused;
    weir_engine *one = engine_quiet();
    weir_engine *two = engine_quiet();
    const weir_processor mine = engine_add(one, WEIR_PROCESSOR(.handler = ignore_event));
    const weir_processor theirs = engine_add(two, WEIR_PROCESSOR(.handler = ignore_event));
    engine_start(one);
    engine_start(two);
    assert_unknown(one, (weir_processor){ 0 });
    assert_unknown(one, theirs);
    assert_unknown(two, mine);
    assert_unknown(one, (weir_processor){ UINT64_MAX });
    assert_unknown(one, (weir_processor){ mine.id ^ 1 });
    assert_int_equal(WEIR_OK, weir_engine_post(one, mine, WEIR_EVENT(mark, 0)));
    engine_finish(one, 1);
    engine_finish(two, 0);
}

/* The stall. */
enum { POSTERS = 3, TARGETS = 8, INCARNATIONS_MAX = 100000 };

static _Atomic bool stall_wanted;
static _Atomic uint32_t stalled;
static _Atomic uint32_t impatient; /* those that nobody let go in time: somebody waited for them */

static void stand_still(int number)
{
    (void)number;
    const int kept = errno;
    const int64_t end = now_ns() + 3 * WEIR_S;
    atomic_fetch_add(&stalled, 1);
    while (atomic_load(&stall_wanted)) {
        if (now_ns() > end) {
            atomic_fetch_add(&impatient, 1);
            break;
        }
        (void)poll(NULL, 0, 1);
    }
    atomic_fetch_sub(&stalled, 1);
    errno = kept;
}

/* One life of one target: what was accepted for it, what reached it, what came by mistake. */
typedef struct life {
    weir_processor self;
    uint64_t handled, strangers; /* plain: the handler's */
} life;

typedef struct stage {
    weir_engine *engine;
    _Atomic uint64_t targets[TARGETS]; /* ids of those that live now, or lived until just now */
    _Atomic bool end;
    life *lives;
    size_t lives_used;
} stage;

typedef struct poster {
    stage *stage;
    uint64_t random;
    uint64_t accepted, refused, odd; /* read after the join */
} poster;

static weir_status only_mine(void *state, weir_turn *turn, const weir_event *event)
{
    life *l = state;
    const mark *m = weir_event_as(event, &mark_type);
    l->handled++;
    l->strangers += m == NULL || m->target != weir_turn_self(turn).id || m->sender >= POSTERS;
    return WEIR_OK;
}

static void poster_count(poster *p, weir_status status)
{
    p->accepted += status == WEIR_OK || status == WEIR_DROPPED;
    p->refused += status == WEIR_STOPPING || status == WEIR_UNKNOWN || status == WEIR_FULL;
    p->odd += status < 0;
}

static void *post_to_who_may_be_gone(void *argument)
{
    poster *p = argument;
    stage *s = p->stage;
    while (!atomic_load_explicit(&s->end, memory_order_relaxed)) {
        const uint64_t choice = test_random(&p->random);
        const weir_processor to = { atomic_load(&s->targets[choice % TARGETS]) };
        const mark m = { .sender = (uint32_t)(choice >> 32) % POSTERS, .target = to.id };
        const weir_event event = { .type = &mark_type, .data = &m, .size = sizeof(m) };
        if (choice % 7 == 0) {
            const weir_event *const both[2] = { &event, &event };
            weir_status statuses[2] = { WEIR_E_USER, WEIR_E_USER };
            const size_t accepted = weir_engine_post_batch(s->engine, &to, 1, both, 2, statuses);
            const uint64_t before = p->accepted;
            poster_count(p, statuses[0]);
            poster_count(p, statuses[1]);
            p->odd += p->accepted - before != accepted;
        } else {
            poster_count(p, weir_engine_post(s->engine, to, &event));
        }
    }
    return NULL;
}

/* Every policy in turn, every second one with a mailbox that is nearly always full: what a post
 * does at a full mailbox, it does to somebody who may be gone, too. */
static weir_processor stage_add(stage *s)
{
    const size_t index = s->lives_used++;
    life *l = &s->lives[index];
    l->self = engine_add(s->engine,
                         WEIR_PROCESSOR(.handler = only_mine, .argument = l,
                                        .overflow = (weir_overflow)(WEIR_OVERFLOW_FAIL + index % 4),
                                        .mailbox_max = index / 4 % 2 == 0 ? 1 : 10000,
                                        .block_max = 100 * WEIR_US));
    return l->self;
}

/* Ends every target and puts another in its place, `times` times over. A stop that waits is not
 * the matter: a poster may stand still in the middle of its post to just this one. */
static void stage_churn(stage *s, size_t times)
{
    for (size_t n = 0; n < times && s->lives_used + TARGETS < INCARNATIONS_MAX; n++) {
        for (size_t i = 0; i < TARGETS; i++) {
            const weir_processor old = { atomic_load(&s->targets[i]) };
            const weir_status status = weir_processor_stop_async(s->engine, old, 10 * WEIR_MS);
            assert_true(status == WEIR_OK || status == WEIR_UNKNOWN);
            atomic_store(&s->targets[i], stage_add(s).id);
        }
    }
}

/* Slots are told apart by what the engine itself calls a nameless processor: #index.generation. */
static unsigned slot_of(weir_engine *engine, weir_processor p)
{
    char text[64] = "";
    unsigned index = UINT32_MAX;
    (void)weir_processor_name(engine, p, text, sizeof(text));
    (void)sscanf(text, "#%u.", &index);
    return index;
}

/* One stall: all posters stopped, each at a random point; churn; go on. True: all stood still all
 * the time. A poster that holds a lock of the allocator when it is stopped may keep the others from
 * getting there, and the churn from going on; then it loses patience. Rare, and no harm. */
static bool stall_once(stage *s, pthread_t *threads, uint64_t *random)
{
    const uint32_t lost = atomic_load(&impatient);
    atomic_store(&stall_wanted, true);
    for (size_t i = 0; i < POSTERS; i++) {
        busy_for_ns((int64_t)(test_random(random) % 2000));
        assert_int_equal(0, pthread_kill(threads[i], SIGUSR1));
    }
    const int64_t soon = now_ns() + 1 * WEIR_S;
    while (atomic_load(&stalled) < POSTERS && now_ns() < soon) {
        (void)sched_yield();
    }
    const bool all = atomic_load(&stalled) == POSTERS;
    stage_churn(s, 4);
    atomic_store(&stall_wanted, false);
    const int64_t end = now_ns() + WAIT_SECONDS * WEIR_S;
    while (atomic_load(&stalled) > 0 && now_ns() < end) {
        (void)sched_yield();
    }
    assert_int_equal(0, atomic_load(&stalled));
    return all && atomic_load(&impatient) == lost;
}

static void stage_check(stage *s, const poster *posters)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    const int64_t begin = now_ns();
    const weir_status status = weir_engine_stop(s->engine, 0, &report);
    assert_true(now_ns() - begin < 10 * WEIR_S); /* nothing is stuck: the posters are gone */
    assert_true(status == WEIR_OK || (status == WEIR_TIMEOUT && report.left > 0));
    uint64_t accepted = 0, handled = 0, strangers = 0, odd = 0;
    for (size_t i = 0; i < POSTERS; i++) {
        accepted += posters[i].accepted;
        odd += posters[i].odd;
    }
    for (size_t i = 0; i < s->lives_used; i++) {
        handled += s->lives[i].handled;
        strangers += s->lives[i].strangers;
    }
    fprintf(stderr, "# %zu lives, %" PRIu64 " accepted, %" PRIu64 " left\n", s->lives_used,
            accepted, report.left);
    assert_int_equal(0, strangers);
    assert_int_equal(0, odd);
    assert_int_equal(accepted, report.accepted);
    assert_report_adds_up(&report);
    /* An event whose handler was under way when its stop gave up is left, and seen by the handler:
     * one a life at most. */
    assert_true(handled >= report.handled);
    assert_true(handled - report.handled <= report.left);
    assert_true(handled - report.handled <= s->lives_used);
}

static void
with_posters_stalled_in_the_middle_of_a_post_a_reused_slot_gets_nobodys_event(void **unused)
{
    (void)unused;
    static stage s;
    poster posters[POSTERS];
    pthread_t threads[POSTERS];
    uint64_t random = test_seed();
    const uint64_t rounds = test_scaled(300, 3);
    const struct sigaction action = { .sa_handler = stand_still };
    assert_int_equal(0, sigaction(SIGUSR1, &action, NULL));
    s.lives = calloc(INCARNATIONS_MAX, sizeof(*s.lives));
    assert_non_null(s.lives);
    s.engine = engine_quiet();
    engine_add_threads(s.engine, "", 2, WEIR_IDLE_DEFAULT, NULL);
    engine_start(s.engine);
    for (size_t i = 0; i < TARGETS; i++) {
        atomic_store(&s.targets[i], stage_add(&s).id);
    }
    for (size_t i = 0; i < POSTERS; i++) {
        posters[i] = (poster){ .stage = &s, .random = test_random(&random) };
        assert_int_equal(0,
                         pthread_create(&threads[i], NULL, post_to_who_may_be_gone, &posters[i]));
    }
    unsigned highest = 0;
    uint64_t good = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        good += stall_once(&s, threads, &random);
        stage_churn(&s, 1); /* and once while they run */
        for (size_t i = 0; i < TARGETS; i++) {
            const unsigned slot = slot_of(s.engine, (weir_processor){ atomic_load(&s.targets[i]) });
            highest = slot > highest ? slot : highest;
        }
    }
    atomic_store(&s.end, true);
    for (size_t i = 0; i < POSTERS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
    }
    assert_true(good > rounds / 2);
    assert_true(highest < s.lives_used / 2); /* slots were reused, twice each on average or more */
    stage_check(&s, posters);
    weir_engine_destroy(s.engine);
    free(s.lives);
}

/* One poster per post: stopped once at a random point of a single post to a target that is then
 * ended and replaced for good. It wakes up in a world where its handle is long stale. */
typedef struct single {
    weir_engine *engine;
    weir_processor to;
    sem_t go;
    _Atomic bool quit;
    _Atomic bool posting;
    _Atomic int32_t status;
} single;

static void *post_when_told(void *argument)
{
    single *s = argument;
    while (sem_wait_seconds(&s->go, WAIT_SECONDS) && !atomic_load(&s->quit)) {
        atomic_store(&s->posting, true);
        const weir_status status =
            weir_engine_post(s->engine, s->to, WEIR_EVENT(mark, .target = s->to.id));
        atomic_store(&s->status, status);
        atomic_store(&s->posting, false);
    }
    return NULL;
}

static void a_post_that_stood_still_while_its_target_ended_is_accounted_for(void **unused)
{
    (void)unused;
    static single s;
    pthread_t thread;
    uint64_t random = test_seed(), accepted = 0, caught = 0;
    const uint64_t rounds = test_scaled(2000, 4);
    const struct sigaction action = { .sa_handler = stand_still };
    assert_int_equal(0, sigaction(SIGUSR1, &action, NULL));
    static stage world;
    world.lives = calloc(rounds * 4, sizeof(*world.lives));
    assert_non_null(world.lives);
    s.engine = world.engine = engine_quiet();
    engine_start(s.engine);
    (void)sem_init(&s.go, 0, 0);
    assert_int_equal(0, pthread_create(&thread, NULL, post_when_told, &s));
    for (uint64_t round = 0; round < rounds; round++) {
        s.to = stage_add(&world);
        atomic_store(&s.status, WEIR_E_USER);
        atomic_store(&stall_wanted, true);
        (void)sem_post(&s.go);
        while (!atomic_load(&s.posting) && atomic_load(&s.status) == WEIR_E_USER) {
        }
        busy_for_ns((int64_t)(test_random(&random) % 400));
        assert_int_equal(0, pthread_kill(thread, SIGUSR1));
        while (atomic_load(&stalled) == 0) { /* the signal is on its way */
            (void)sched_yield();
        }
        caught += atomic_load(&s.posting);
        const weir_status stop = weir_processor_stop(s.engine, s.to, 1 * WEIR_MS, NULL);
        assert_true(stop == WEIR_OK || stop == WEIR_TIMEOUT);
        for (int i = 0; i < 3; i++) { /* others move in */
            (void)stage_add(&world);
        }
        atomic_store(&stall_wanted, false);
        while (atomic_load(&stalled) > 0 || atomic_load(&s.status) == WEIR_E_USER) {
            (void)sched_yield();
        }
        accepted += atomic_load(&s.status) == WEIR_OK || atomic_load(&s.status) == WEIR_DROPPED;
        const weir_status late = weir_engine_post(s.engine, s.to, WEIR_EVENT(mark, 0));
        assert_true(late == WEIR_UNKNOWN || late == WEIR_STOPPING);
    }
    atomic_store(&s.quit, true);
    (void)sem_post(&s.go);
    assert_int_equal(0, pthread_join(thread, NULL));
    fprintf(stderr, "# %" PRIu64 " of %" PRIu64 " posts were caught in the middle\n", caught,
            rounds);
    const poster sum[POSTERS] = { { .accepted = accepted } };
    stage_check(&world, sum);
    weir_engine_destroy(s.engine);
    free(world.lives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stale_handle_is_a_status_after_its_slot_was_reused),
        cmocka_unit_test(a_zero_handle_and_one_from_another_engine_are_unknown),
        cmocka_unit_test(
            with_posters_stalled_in_the_middle_of_a_post_a_reused_slot_gets_nobodys_event),
        cmocka_unit_test(a_post_that_stood_still_while_its_target_ended_is_accounted_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
