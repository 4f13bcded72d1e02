/*
 * stop_inside_test.c - stops that come from inside, reach a family, or meet a load that does not
 * end by itself. SPEC: P-8, S-19 to S-21.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

/* A handler that stops things: what, by the event's kind; the answers for the test to read. */
enum {
    STOP_SELF_BLOCKING = 1,
    STOP_OTHER_BLOCKING,
    STOP_ENGINE_BLOCKING,
    WAIT_ENGINE_BLOCKING,
    STOP_OTHER_ASYNC,
    STOP_SELF_ASYNC,
    STOP_ENGINE_ASYNC,
    NOTHING
};

typedef struct insider {
    weir_processor other;
    weir_status answers[16]; /* by kind */
    weir_status again;       /* of a second asynchronous stop */
    sem_t done;
    uint64_t handled; /* plain */
} insider;

static weir_status stop_from_inside(void *state, weir_turn *turn, const weir_event *event)
{
    insider *i = state;
    const mark *m = weir_event_as(event, &mark_type);
    weir_engine *engine = weir_turn_engine(turn);
    const weir_processor self = weir_turn_self(turn);
    weir_status answer = WEIR_OK;
    i->handled++;
    switch (m->kind) {
    case STOP_SELF_BLOCKING:
        answer = weir_processor_stop(engine, self, 0, NULL);
        break;
    case STOP_OTHER_BLOCKING:
        answer = weir_processor_stop(engine, i->other, 0, NULL);
        break;
    case STOP_ENGINE_BLOCKING:
        answer = weir_engine_stop(engine, 0, NULL);
        break;
    case WAIT_ENGINE_BLOCKING:
        answer = weir_engine_wait(engine, 0, NULL);
        break;
    case STOP_OTHER_ASYNC:
        answer = weir_processor_stop_async(engine, i->other, 0);
        break;
    case STOP_SELF_ASYNC:
        answer = weir_processor_stop_async(engine, self, 0);
        i->again = weir_processor_stop_async(engine, self, 0);
        break;
    case STOP_ENGINE_ASYNC:
        answer = weir_engine_stop_async(engine, 0);
        i->again = weir_engine_stop_async(engine, 0);
        break;
    default:
        break;
    }
    i->answers[m->kind] = answer;
    (void)sem_post(&i->done);
    return WEIR_OK;
}

static void post_kind(weir_engine *engine, weir_processor to, uint32_t kind)
{
    assert_int_equal(WEIR_OK, weir_engine_post(engine, to, WEIR_EVENT(mark, .kind = kind)));
}

static void wait_until_unknown(weir_engine *engine, weir_processor p)
{
    const int64_t end = now_ns() + WAIT_SECONDS * WEIR_S;
    weir_counters counters = WEIR_COUNTERS_INIT;
    while (weir_processor_counters(engine, p, &counters) != WEIR_UNKNOWN && now_ns() < end) {
        (void)sched_yield();
    }
    assert_int_equal(WEIR_UNKNOWN, weir_processor_counters(engine, p, &counters));
}

static void from_inside_a_handler_the_blocking_stop_is_refused(void **unused)
{
    (void)unused;
    static insider in;
    (void)sem_init(&in.done, 0, 0);
    weir_engine *engine = engine_quiet();
    in.other = engine_add(engine, WEIR_PROCESSOR(.handler = ignore_event));
    const weir_processor p =
        engine_add(engine, WEIR_PROCESSOR(.handler = stop_from_inside, .argument = &in));
    engine_start(engine);
    for (uint32_t kind = STOP_SELF_BLOCKING; kind <= WAIT_ENGINE_BLOCKING; kind++) {
        post_kind(engine, p, kind);
        assert_true(sem_wait_seconds(&in.done, WAIT_SECONDS));
        assert_int_equal(WEIR_E_BLOCKING, in.answers[kind]);
    }
    post_kind(engine, p, NOTHING); /* and nothing has begun to stop */
    post_kind(engine, in.other, NOTHING);
    engine_finish(engine, 6);
}

static void from_inside_a_handler_the_asynchronous_stop_of_another_drains_it(void **unused)
{
    (void)unused;
    enum { MAIL = 1000 };
    static insider in;
    static ledger book;
    static collector c;
    (void)sem_init(&in.done, 0, 0);
    ledger_open(&book, MAIL);
    c = (collector){ .book = &book };
    weir_engine *engine = engine_quiet(); /* one thread: the other cannot be ahead of us */
    const weir_processor p =
        engine_add(engine, WEIR_PROCESSOR(.handler = stop_from_inside, .argument = &in));
    in.other = engine_add(engine, WEIR_PROCESSOR(.handler = collect, .argument = &c));
    post_kind(engine, p, STOP_OTHER_ASYNC);
    for (uint64_t i = 0; i < MAIL; i++) {
        assert_int_equal(WEIR_OK,
                         weir_engine_post(engine, in.other, WEIR_EVENT(mark, .number = i)));
    }
    engine_start(engine);
    assert_true(sem_wait_seconds(&in.done, WAIT_SECONDS));
    assert_int_equal(WEIR_OK, in.answers[STOP_OTHER_ASYNC]);
    wait_until_unknown(engine, in.other);
    assert_true(goal_wait(&book.done));
    ledger_check(&book);
    engine_finish(engine, MAIL + 1);
    ledger_close(&book);
}

static void from_inside_a_handler_the_asynchronous_stop_of_oneself_drains_it(void **unused)
{
    (void)unused;
    enum { MAIL = 500 };
    static insider in;
    in = (insider){ .handled = 0 };
    (void)sem_init(&in.done, 0, 0);
    weir_engine *engine = engine_quiet();
    const weir_processor p =
        engine_add(engine, WEIR_PROCESSOR(.handler = stop_from_inside, .argument = &in));
    post_kind(engine, p, STOP_SELF_ASYNC);
    for (int i = 0; i < MAIL; i++) { /* accepted before the stop, so handled before the end */
        post_kind(engine, p, NOTHING);
    }
    engine_start(engine);
    wait_until_unknown(engine, p);
    engine_finish(engine, MAIL + 1);
    assert_int_equal(WEIR_OK, in.answers[STOP_SELF_ASYNC]);
    assert_int_equal(WEIR_ALREADY, in.again);
    assert_int_equal(MAIL + 1, in.handled);
}

static void from_inside_a_handler_the_asynchronous_stop_of_the_engine_works(void **unused)
{
    (void)unused;
    enum { MAIL = 500 };
    static insider in;
    in = (insider){ .handled = 0 };
    (void)sem_init(&in.done, 0, 0);
    weir_engine *engine = engine_quiet();
    const weir_processor p =
        engine_add(engine, WEIR_PROCESSOR(.handler = stop_from_inside, .argument = &in));
    post_kind(engine, p, STOP_ENGINE_ASYNC);
    for (int i = 0; i < MAIL; i++) {
        post_kind(engine, p, NOTHING);
    }
    engine_start(engine);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_wait(engine, WAIT_SECONDS * WEIR_S, &report));
    assert_int_equal(MAIL + 1, report.handled);
    assert_int_equal(MAIL + 1, in.handled);
    assert_int_equal(WEIR_OK, in.answers[STOP_ENGINE_ASYNC]);
    assert_int_equal(WEIR_ALREADY, in.again);
    assert_int_equal(WEIR_STOPPING, weir_engine_post(engine, p, WEIR_EVENT(mark, 0)));
    weir_engine_destroy(engine);
}

static void a_wait_without_a_stop_ends_at_its_timeout_with_an_empty_report(void **unused)
{
    (void)unused;
    weir_engine *engine = engine_quiet();
    engine_start(engine);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    report.accepted = 7;
    assert_int_equal(WEIR_TIMEOUT, weir_engine_wait(engine, 10 * WEIR_MS, &report));
    assert_int_equal(0, report.accepted + report.handled + report.left);
    engine_finish(engine, 0);
}

/* A family: a parent with three children, the first of which has two of its own. Each has mail,
 * and the order in which they end is written down by their destroy hooks. */
enum { FAMILY = 6, FAMILY_MAIL = 200 };
static const int parents[FAMILY] = { -1, 0, 0, 0, 1, 1 };

typedef struct member {
    int index;
    uint64_t handled; /* plain */
} member;

typedef struct family {
    weir_engine *engine;
    member members[FAMILY];
    weir_processor handles[FAMILY];
    _Atomic uint32_t ended;
    _Atomic uint32_t place[FAMILY]; /* the how-manieth to end, from 1 */
    _Atomic uint64_t handled_at_end[FAMILY];
} family;

static family kin;

static weir_status live(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    ((member *)state)->handled++;
    return WEIR_OK;
}

static void end(void *state, weir_status reason)
{
    member *m = state;
    atomic_store(&kin.handled_at_end[m->index], m->handled + (reason != WEIR_OK) * 1000000u);
    atomic_store(&kin.place[m->index], atomic_fetch_add(&kin.ended, 1) + 1);
}

static void family_open(void)
{
    kin.engine = engine_make(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .threads = 4));
    atomic_store(&kin.ended, 0);
    for (int i = 0; i < FAMILY; i++) {
        kin.members[i] = (member){ i, 0 };
        atomic_store(&kin.place[i], 0);
        const weir_processor none = { 0 };
        kin.handles[i] = engine_add(
            kin.engine, WEIR_PROCESSOR(.handler = live, .argument = &kin.members[i], .destroy = end,
                                       .parent = parents[i] < 0 ? none : kin.handles[parents[i]]));
        for (int n = 0; n < FAMILY_MAIL; n++) {
            post_kind(kin.engine, kin.handles[i], NOTHING);
        }
    }
    engine_start(kin.engine);
}

static void family_check(void)
{
    assert_int_equal(FAMILY, atomic_load(&kin.ended));
    for (int i = 0; i < FAMILY; i++) {
        assert_int_equal(FAMILY_MAIL, atomic_load(&kin.handled_at_end[i]));
        if (parents[i] >= 0) {
            assert_true(atomic_load(&kin.place[i]) < atomic_load(&kin.place[parents[i]]));
        }
    }
}

static void children_stop_first_and_the_report_covers_them(void **unused)
{
    (void)unused;
    for (int round = 0; round < 50; round++) {
        family_open();
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        assert_int_equal(WEIR_OK, weir_processor_stop(kin.engine, kin.handles[0], 0, &report));
        family_check();
        assert_int_equal(FAMILY * FAMILY_MAIL, report.accepted);
        assert_int_equal(FAMILY * FAMILY_MAIL, report.handled);
        assert_int_equal(0, engine_counters(kin.engine).processors);
        engine_finish(kin.engine, FAMILY * FAMILY_MAIL);
    }
}

static void a_child_stops_alone_and_its_parent_goes_on(void **unused)
{
    (void)unused;
    family_open();
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_processor_stop(kin.engine, kin.handles[1], 0, &report));
    assert_int_equal(3 * FAMILY_MAIL, report.handled); /* itself and its two children */
    assert_int_equal(3, atomic_load(&kin.ended));
    assert_int_equal(3, atomic_load(&kin.place[1]));
    post_kind(kin.engine, kin.handles[0], NOTHING);
    weir_error error = WEIR_ERROR_INIT; /* nobody is born to the dead */
    const weir_processor orphan = weir_processor_add(
        kin.engine, WEIR_PROCESSOR(.handler = ignore_event, .parent = kin.handles[1]), &error);
    assert_int_equal(0, orphan.id);
    assert_true(error.status < 0);
    engine_finish(kin.engine, FAMILY * FAMILY_MAIL + 1);
    assert_int_equal(FAMILY, atomic_load(&kin.ended));
}

static void an_engines_stop_ends_children_before_parents(void **unused)
{
    (void)unused;
    for (int round = 0; round < 50; round++) {
        family_open();
        engine_finish(kin.engine, FAMILY * FAMILY_MAIL);
        family_check();
    }
}

/* Two processors that never stop answering each other. */
typedef struct player {
    weir_processor *other;
    uint64_t handled, sent, refused; /* plain */
} player;

static weir_status play(void *state, weir_turn *turn, const weir_event *event)
{
    (void)event;
    player *p = state;
    p->handled++;
    const weir_status status = weir_turn_post(turn, *p->other, WEIR_EVENT(mark, 0));
    p->sent += status == WEIR_OK;
    p->refused += status != WEIR_OK;
    return WEIR_OK;
}

static void an_endless_ping_pong_ends_at_the_timeout_as_left(void **unused)
{
    (void)unused;
    static player players[2];
    static weir_processor handles[2];
    int64_t best = INT64_MAX;
    for (int attempt = 0; attempt < 3 && best >= 200 * WEIR_MS; attempt++) {
        weir_engine *engine = engine_make(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .threads = 2));
        for (size_t i = 0; i < 2; i++) {
            players[i] = (player){ .other = &handles[1 - i] };
            handles[i] =
                engine_add(engine, WEIR_PROCESSOR(.handler = play, .argument = &players[i]));
        }
        engine_start(engine);
        for (uint64_t i = 0; i < 3; i++) { /* three balls */
            post_kind(engine, handles[i % 2], NOTHING);
        }
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        const int64_t begin = now_ns();
        assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(engine, 100 * WEIR_MS, &report));
        const int64_t took = now_ns() - begin;
        assert_true(took >= 100 * WEIR_MS);
        best = took < best ? took : best;
        assert_report_adds_up(&report);
        fprintf(stderr, "# accepted %" PRIu64 ", left %" PRIu64 "\n", report.accepted, report.left);
        assert_true(report.left >= 1 && report.left <= 6); /* a ball is two while it is passed */
        assert_int_equal(WEIR_STOPPING, weir_engine_post(engine, handles[0], WEIR_EVENT(mark, 0)));
        const weir_counters c = engine_counters(engine);
        assert_int_equal(c.accepted, report.accepted);
        assert_int_equal(c.left, report.left);
        weir_engine_destroy(engine); /* joins: the players' own counts are at rest */
        assert_int_equal(3 + players[0].sent + players[1].sent, report.accepted);
        assert_true(players[0].handled + players[1].handled >= report.handled);
        assert_true(players[0].handled + players[1].handled <= report.handled + report.left);
    }
    assert_true(best < 200 * WEIR_MS); /* at the timeout, not long after */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_inside_a_handler_the_blocking_stop_is_refused),
        cmocka_unit_test(from_inside_a_handler_the_asynchronous_stop_of_another_drains_it),
        cmocka_unit_test(from_inside_a_handler_the_asynchronous_stop_of_oneself_drains_it),
        cmocka_unit_test(from_inside_a_handler_the_asynchronous_stop_of_the_engine_works),
        cmocka_unit_test(a_wait_without_a_stop_ends_at_its_timeout_with_an_empty_report),
        cmocka_unit_test(children_stop_first_and_the_report_covers_them),
        cmocka_unit_test(a_child_stops_alone_and_its_parent_goes_on),
        cmocka_unit_test(an_engines_stop_ends_children_before_parents),
        cmocka_unit_test(an_endless_ping_pong_ends_at_the_timeout_as_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
