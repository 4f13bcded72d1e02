/*
 * delay_test.c - what one handler's length may not do to the others: a blocked dispatcher delays
 * no other one, and nothing that became ready waits behind a long handler while another thread
 * that serves its dispatcher is free. SPEC: S-03, S-25, P-4.
 *
 * The limit is 5 ms. The machine of a check is small and shared, so a measurement is
 * tried up to ATTEMPTS times and the best one counts: an engine that waits for the handler (or for
 * a tick longer than the limit) misses it every time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

enum { ATTEMPTS = 8, BEHIND = 16 };
#define LONG_NS (200 * (int64_t)1000000)
#define LIMIT_NS (5 * (int64_t)1000000)

static void a_blocked_dispatcher_does_not_delay_another(void **unused)
{
    (void)unused;
    enum { COUNT = 10000 };
    static blocker b;
    static ledger book;
    static collector c;
    weir_error error = WEIR_ERROR_INIT;
    blocker_init(&b);
    ledger_open(&book, COUNT);
    c = (collector){ .book = &book };
    weir_engine *engine = engine_quiet();
    (void)weir_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("slow")), &error);
    (void)weir_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("slow", "fast")), &error);
    (void)weir_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("fast")), &error);
    assert_no_error(&error);
    weir_processor slow[2]; /* both threads that serve "slow" are held, one serves "fast" as well */
    for (size_t i = 0; i < 2; i++) {
        slow[i] = engine_add(engine, WEIR_PROCESSOR(.dispatcher = "slow", .argument = &b,
                                                    .handler = block_until_let_go));
    }
    const weir_processor fast = engine_add(
        engine, WEIR_PROCESSOR(.dispatcher = "fast", .handler = collect, .argument = &c));
    engine_start(engine);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(engine, slow[i], WEIR_EVENT(mark, 0)));
        assert_true(sem_wait_seconds(&b.entered, WAIT_SECONDS));
    }
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(engine, fast, WEIR_EVENT(mark, .number = i)));
    }
    assert_true(goal_wait(&book.done)); /* all of them, while both handlers still wait */
    assert_int_equal(0, atomic_load(&b.handled));
    gate_open(&b.leave);
    engine_finish(engine, COUNT + 2);
    ledger_check(&book);
    ledger_close(&book);
}

/* Processors that say when they ran. */
typedef struct witness {
    _Atomic int64_t ran_at;
    goal *all;
} witness;

static weir_status testify(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    witness *w = state;
    atomic_store(&w->ran_at, now_ns());
    goal_add(w->all);
    return WEIR_OK;
}

/* A handler that takes 200 ms, and first posts to `next` if there is one. */
typedef struct long_one {
    weir_processor next;
    _Atomic int64_t posted_at;
    _Atomic int32_t posted; /* the status */
    sem_t entered;
} long_one;

static weir_status take_200_ms(void *state, weir_turn *turn, const weir_event *event)
{
    (void)event;
    long_one *l = state;
    atomic_store(&l->posted_at, now_ns());
    if (l->next.id != 0) {
        atomic_store(&l->posted, weir_turn_post(turn, l->next, WEIR_EVENT(mark, 0)));
    }
    (void)sem_post(&l->entered);
    busy_for_ns(LONG_NS);
    return WEIR_OK;
}

typedef struct scene {
    weir_engine *engine;
    long_one longest;
    witness witnesses[BEHIND];
    goal all;
    weir_processor long_handle;
    weir_processor handles[BEHIND];
} scene;

/* Two threads on one dispatcher; `rows` may give them others as well. */
static void scene_open(scene *s, const char *const *const *rows, const char *dispatcher,
                       size_t witnesses)
{
    weir_error error = WEIR_ERROR_INIT;
    s->engine = engine_quiet();
    assert_int_equal(WEIR_OK, weir_assign(s->engine, rows, &error));
    assert_no_error(&error);
    goal_init(&s->all, witnesses);
    (void)sem_init(&s->longest.entered, 0, 0);
    s->longest.next = (weir_processor){ 0 };
    atomic_init(&s->longest.posted_at, 0);
    atomic_init(&s->longest.posted, WEIR_OK);
    for (size_t i = 0; i < witnesses; i++) {
        s->witnesses[i].all = &s->all;
        atomic_init(&s->witnesses[i].ran_at, 0);
        s->handles[i] =
            engine_add(s->engine, WEIR_PROCESSOR(.dispatcher = dispatcher, .handler = testify,
                                                 .argument = &s->witnesses[i]));
    }
    s->long_handle =
        engine_add(s->engine, WEIR_PROCESSOR(.dispatcher = dispatcher, .handler = take_200_ms,
                                             .argument = &s->longest));
}

/* When the last of the witnesses ran, or never. */
static int64_t scene_last_ran(scene *s, size_t witnesses)
{
    int64_t last = 0;
    for (size_t i = 0; i < witnesses; i++) {
        const int64_t ran = atomic_load(&s->witnesses[i].ran_at);
        last = ran > last ? ran : last;
    }
    return last;
}

/* Posted by the long handler itself: what a thread keeps for itself must not wait for it. */
static int64_t delay_behind_its_own_sender(const char *const *const *rows, const char *dispatcher)
{
    static scene s;
    scene_open(&s, rows, dispatcher, 1);
    s.longest.next = s.handles[0];
    engine_start(s.engine);
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, s.long_handle, WEIR_EVENT(mark, 0)));
    assert_true(goal_wait(&s.all));
    assert_int_equal(WEIR_OK, atomic_load(&s.longest.posted));
    const int64_t delay = scene_last_ran(&s, 1) - atomic_load(&s.longest.posted_at);
    engine_finish(s.engine, 2);
    return delay;
}

static void
a_processor_that_a_200_ms_handler_made_ready_runs_within_5_ms_on_another_thread(void **unused)
{
    (void)unused;
    const char *const *const *shared = WEIR_ROWS(WEIR_NAMES("a"), WEIR_NAMES("a"));
    const char *const *const *crossed = WEIR_ROWS(WEIR_NAMES("a", "b"), WEIR_NAMES("b", "a"));
    const char *const *const *const cases[] = { shared, crossed };
    for (size_t i = 0; i < 2; i++) {
        int64_t best = INT64_MAX;
        for (int attempt = 0; attempt < ATTEMPTS && best >= LIMIT_NS; attempt++) {
            const int64_t delay = delay_behind_its_own_sender(cases[i], "a");
            best = delay < best ? delay : best;
        }
        fprintf(stderr, "# ran after %.3f ms\n", (double)best / 1e6);
        assert_true(best < LIMIT_NS);
    }
}

/* Posted from outside while the long handler runs. */
static int64_t delay_behind_a_running_handler(void)
{
    static scene s;
    scene_open(&s, WEIR_ROWS(WEIR_NAMES("a"), WEIR_NAMES("a")), "a", 1);
    engine_start(s.engine);
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, s.long_handle, WEIR_EVENT(mark, 0)));
    assert_true(sem_wait_seconds(&s.longest.entered, WAIT_SECONDS));
    const int64_t posted_at = now_ns();
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, s.handles[0], WEIR_EVENT(mark, 0)));
    assert_true(goal_wait(&s.all));
    const int64_t delay = scene_last_ran(&s, 1) - posted_at;
    engine_finish(s.engine, 2);
    return delay;
}

static void a_processor_made_ready_while_a_200_ms_handler_runs_runs_within_5_ms(void **unused)
{
    (void)unused;
    int64_t best = INT64_MAX;
    for (int attempt = 0; attempt < ATTEMPTS && best >= LIMIT_NS; attempt++) {
        const int64_t delay = delay_behind_a_running_handler();
        best = delay < best ? delay : best;
    }
    fprintf(stderr, "# ran after %.3f ms\n", (double)best / 1e6);
    assert_true(best < LIMIT_NS);
}

/* Queued behind the long one on the same list before anybody took it: whoever takes the long one
 * must not have taken its followers along. Both threads are held until all are queued; the second
 * is let go when the long handler has begun, and the clock starts. */
static int64_t delay_of_a_queue_behind_it(void)
{
    static scene s;
    static blocker first, second;
    blocker_init(&first);
    blocker_init(&second);
    scene_open(&s, WEIR_ROWS(WEIR_NAMES("a"), WEIR_NAMES("a")), "a", BEHIND);
    const weir_processor hold[2] = {
        engine_add(s.engine, WEIR_PROCESSOR(.dispatcher = "a", .handler = block_until_let_go,
                                            .argument = &first)),
        engine_add(s.engine, WEIR_PROCESSOR(.dispatcher = "a", .handler = block_until_let_go,
                                            .argument = &second))
    };
    engine_start(s.engine);
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, hold[0], WEIR_EVENT(mark, 0)));
    assert_true(sem_wait_seconds(&first.entered, WAIT_SECONDS));
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, hold[1], WEIR_EVENT(mark, 0)));
    assert_true(sem_wait_seconds(&second.entered, WAIT_SECONDS));
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, s.long_handle, WEIR_EVENT(mark, 0)));
    for (size_t i = 0; i < BEHIND; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(s.engine, s.handles[i], WEIR_EVENT(mark, 0)));
    }
    gate_open(&first.leave);
    assert_true(sem_wait_seconds(&s.longest.entered, WAIT_SECONDS));
    const int64_t began = now_ns();
    gate_open(&second.leave);
    assert_true(goal_wait(&s.all));
    const int64_t delay = scene_last_ran(&s, BEHIND) - began;
    engine_finish(s.engine, BEHIND + 3);
    return delay;
}

static void
processors_queued_behind_a_200_ms_handler_run_within_5_ms_on_another_thread(void **unused)
{
    (void)unused;
    int64_t best = INT64_MAX;
    for (int attempt = 0; attempt < ATTEMPTS && best >= LIMIT_NS; attempt++) {
        const int64_t delay = delay_of_a_queue_behind_it();
        best = delay < best ? delay : best;
    }
    fprintf(stderr, "# all %d ran after %.3f ms\n", BEHIND, (double)best / 1e6);
    assert_true(best < LIMIT_NS);
}

/* The processor's turn is long because of its mail, not of one event: after batch-max the next
 * one has its turn, also with a single thread. SPEC S-06. */
typedef struct greedy {
    uint64_t handled;      /* plain: one thread */
    uint64_t others_after; /* how many it had handled when the other one ran */
} greedy;

static weir_status be_greedy(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    ((greedy *)state)->handled++;
    return WEIR_OK;
}

static weir_status look_at_greedy(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    greedy *g = state;
    g->others_after = g->handled;
    return WEIR_OK;
}

/* Posts while the only thread is held, so that the line stands in the order of the posts: of what
 * comes before the start, that is not promised. */
static void queue_behind_greedy(weir_engine *engine, const char *held, weir_processor p, int mail,
                                weir_processor q)
{
    static blocker b;
    blocker_init(&b);
    const weir_processor first = engine_add(
        engine, WEIR_PROCESSOR(.dispatcher = held, .handler = block_until_let_go, .argument = &b));
    engine_start(engine);
    assert_int_equal(WEIR_OK, weir_engine_post(engine, first, WEIR_EVENT(mark, 0)));
    assert_true(sem_wait_seconds(&b.entered, WAIT_SECONDS));
    for (int i = 0; i < mail; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(engine, p, WEIR_EVENT(mark, 0)));
    }
    assert_int_equal(WEIR_OK, weir_engine_post(engine, q, WEIR_EVENT(mark, 0)));
    gate_open(&b.leave);
    engine_finish(engine, (uint64_t)mail + 2);
}

static void a_turn_ends_after_batch_max_events_and_the_next_processor_has_its_turn(void **unused)
{
    (void)unused;
    enum { MAIL = 1000, BATCH = 10 };
    static greedy g;
    g = (greedy){ 0 };
    weir_engine *engine = engine_quiet();
    const weir_processor p = engine_add(
        engine, WEIR_PROCESSOR(.handler = be_greedy, .argument = &g, .batch_max = BATCH));
    const weir_processor q =
        engine_add(engine, WEIR_PROCESSOR(.handler = look_at_greedy, .argument = &g));
    queue_behind_greedy(engine, "", p, MAIL, q);
    assert_int_equal(MAIL, g.handled);
    assert_int_equal(BATCH, g.others_after);
}

static void a_busy_dispatcher_leaves_the_next_one_its_turn_on_the_same_thread(void **unused)
{
    (void)unused;
    enum { MAIL = 1000, BATCH = 10 };
    static greedy g;
    weir_error error = WEIR_ERROR_INIT;
    g = (greedy){ 0 };
    weir_engine *engine = engine_quiet();
    (void)weir_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("busy", "other")), &error);
    assert_no_error(&error);
    const weir_processor p =
        engine_add(engine, WEIR_PROCESSOR(.dispatcher = "busy", .handler = be_greedy,
                                          .argument = &g, .batch_max = BATCH));
    const weir_processor q = engine_add(
        engine, WEIR_PROCESSOR(.dispatcher = "other", .handler = look_at_greedy, .argument = &g));
    queue_behind_greedy(engine, "busy", p, MAIL, q);
    assert_int_equal(MAIL, g.handled);
    assert_true(g.others_after <= BATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_blocked_dispatcher_does_not_delay_another),
        cmocka_unit_test(
            a_processor_that_a_200_ms_handler_made_ready_runs_within_5_ms_on_another_thread),
        cmocka_unit_test(a_processor_made_ready_while_a_200_ms_handler_runs_runs_within_5_ms),
        cmocka_unit_test(
            processors_queued_behind_a_200_ms_handler_run_within_5_ms_on_another_thread),
        cmocka_unit_test(a_turn_ends_after_batch_max_events_and_the_next_processor_has_its_turn),
        cmocka_unit_test(a_busy_dispatcher_leaves_the_next_one_its_turn_on_the_same_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
