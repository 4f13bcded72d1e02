/*
 * mixed_stress_test.c - supervision, questions, watches, dead letters, channels and moves at once,
 * on real threads: every question has one answer or timeout, every watch one down event, any two
 * listeners hear the channel in one order, and the sums are exact (P-2, P-3, S-16 ... S-18).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/option_support.h"

enum {
    ASKERS = 4,
    ORACLES = 2,
    LISTENERS = 4,
    HEARD_MAX = 1 << 14,
    BAD = WEIR_E_USER - 11,
};

typedef struct order {
    uint64_t number;
    uint64_t fails; /* so many times */
} order;
WEIR_EVENT_TYPE(order, "mixed.order");
typedef struct question {
    uint64_t fails;
} question;
WEIR_EVENT_TYPE(question, "mixed.question");
WEIR_EMPTY_TYPE(reply, "mixed.reply");

/* Fails so often as the event at hand says, then goes on. Outlives restarts. */
typedef struct temper {
    uint64_t failed;
} temper;

static bool gives_up(temper *t, uint64_t fails)
{
    const bool fails_now = t->failed < fails;
    t->failed = fails_now ? t->failed + 1 : 0;
    return fails_now;
}

/* ---- who asks, and who is asked ---- */

typedef struct oracle {
    temper temper;
    uint64_t replied, late;
} oracle;

static weir_status oracle_handle(void *state, weir_turn *turn, const weir_event *event)
{
    oracle *o = state;
    const question *q = weir_event_as(event, &question_type);
    if (q == NULL) {
        return WEIR_UNHANDLED;
    }
    if (gives_up(&o->temper, q->fails)) {
        return BAD;
    }
    const weir_status status = weir_turn_reply(turn, event->from, WEIR_EMPTY(reply));
    *(status == WEIR_OK ? &o->replied : &o->late) += 1;
    return WEIR_OK;
}

/* Written in turns of one processor; outlives restarts. */
typedef struct asker_book {
    weir_processor oracles[ORACLES];
    uint64_t lives, asked, came;    /* without a handler of their own */
    uint64_t asked_then, came_then; /* with one ... */
    uint64_t strange;               /* ... which belongs to one life */
    temper temper;
} asker_book;

typedef struct asker {
    asker_book *book;
    uint64_t life;
} asker;

static weir_status asker_begin(void *state, weir_turn *turn, void *argument)
{
    asker *a = state;
    (void)turn;
    a->book = argument;
    a->life = ++a->book->lives;
    return WEIR_OK;
}

static weir_status asker_then(void *state, weir_turn *turn, const weir_event *event)
{
    const asker *a = state;
    (void)turn;
    a->book->came_then++;
    a->book->strange += event->tag != a->life;
    return a->book->came_then % 16 == 0 ? BAD : WEIR_OK;
}

static weir_status ask(asker *a, weir_turn *turn, const order *o)
{
    const bool then = o->number / ASKERS % 2 == 0;
    const weir_status status =
        weir_turn_ask(turn, a->book->oracles[o->number % ORACLES],
                      WEIR_EVENT(question, .fails = o->number % 32 == 7),
                      WEIR_ASK(.timeout = o->number % 8 == 3 ? WEIR_US : WEIR_S, .tag = a->life,
                               .then = then ? asker_then : NULL));
    if (status == WEIR_OK) {
        *(then ? &a->book->asked_then : &a->book->asked) += 1;
    }
    return WEIR_OK;
}

static weir_status asker_handle(void *state, weir_turn *turn, const weir_event *event)
{
    asker *a = state;
    const order *o = weir_event_as(event, &order_type);
    if (o == NULL) {
        a->book->came++;
        return WEIR_OK;
    }
    return gives_up(&a->book->temper, o->fails) ? BAD : ask(a, turn, o);
}

/* ---- who listens ---- */

typedef struct listener {
    temper temper;
    uint64_t again; /* of the number that failed: it is no second one */
    uint32_t count;
    uint64_t heard[HEARD_MAX];
} listener;

static weir_status listen(void *state, weir_turn *turn, const weir_event *event)
{
    listener *l = state;
    const order *o = weir_event_as(event, &order_type);
    (void)turn;
    if (o == NULL) {
        return WEIR_UNHANDLED;
    }
    if (l->again != o->number && l->count < HEARD_MAX) {
        l->heard[l->count++] = o->number;
    }
    l->again = o->number;
    return gives_up(&l->temper, o->fails) ? BAD : WEIR_OK;
}

/* Where a number stands; both are unlike all others. */
static uint32_t find_after(const listener *l, uint32_t from, uint64_t wanted)
{
    for (uint32_t i = from; i < l->count; i++) {
        if (l->heard[i] == wanted) {
            return i;
        }
    }
    return UINT32_MAX;
}

static void assert_one_order(const listener *one, const listener *other)
{
    uint32_t at = 0;
    uint64_t common = 0;
    for (uint32_t i = 0; i < one->count; i++) {
        const uint32_t found = find_after(other, at, one->heard[i]);
        if (found == UINT32_MAX) { /* it was not there then: nor before */
            assert_int_equal(UINT32_MAX, find_after(other, 0, one->heard[i]));
            continue;
        }
        at = found + 1;
        common++;
    }
    assert_true(common > 0);
}

/* ---- who watches, and who ends ---- */

typedef struct watcher {
    uint64_t watched, heard;
    _Atomic uint64_t done; /* watches and down events */
} watcher;

typedef struct victim {
    weir_processor whom;
} victim;
WEIR_EVENT_TYPE(victim, "mixed.victim");

static weir_status watch(void *state, weir_turn *turn, const weir_event *event)
{
    watcher *w = state;
    const victim *v = weir_event_as(event, &victim_type);
    if (v != NULL) {
        w->watched += weir_turn_watch(turn, v->whom, 0) == WEIR_OK;
    } else {
        w->heard += weir_event_as(event, &weir_down_type) != NULL;
    }
    atomic_fetch_add(&w->done, 1);
    return WEIR_OK;
}

static weir_status fail_always(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)event;
    return weir_turn_fail(turn, BAD, "as it was told");
}

/* ---- who hears of letters ---- */

typedef struct coroner {
    weir_processor gone;
    uint64_t letters;
} coroner;

static weir_status hear(void *state, weir_turn *turn, const weir_event *event)
{
    coroner *c = state;
    (void)event;
    (void)!weir_turn_post(turn, c->gone, WEIR_EMPTY(reply));
    return ++c->letters % 3 == 0 ? BAD : WEIR_OK;
}

/* ---- the bed ---- */

typedef struct bed {
    weir_engine *engine;
    weir_channel channel;
    oracle oracles[ORACLES];
    asker_book books[ASKERS];
    listener *listeners;
    watcher watcher;
    coroner coroner;
    weir_processor oracle[ORACLES], asker[ASKERS], listener[LISTENERS], watch;
    uint64_t load;
    atomic_bool over;
} bed;

/* As often as it likes. */
#define RESTARTS .on_failure = WEIR_RESTART, .restart_window = WEIR_US
#define RETRIES(then_)                                                                             \
    .on_failure = WEIR_RETRY, .retry_max = 2, .retry_delay = 10 * WEIR_US, .retry_then = (then_),  \
    .restart_window = WEIR_US

static void add_all(bed *b)
{
    weir_error error = WEIR_ERROR_INIT;
    b->channel = weir_channel_open(b->engine, "voices", &error);
    for (uint32_t i = 0; i < ORACLES; i++) {
        b->oracle[i] = test_processor_add(b->engine, WEIR_PROCESSOR(.handler = oracle_handle,
                                                                    .argument = &b->oracles[i],
                                                                    RETRIES(WEIR_RESTART)));
    }
    for (uint32_t i = 0; i < ASKERS; i++) {
        memcpy(b->books[i].oracles, b->oracle, sizeof(b->oracle));
        const weir_processor_options options =
            i % 2 == 0 ? *WEIR_PROCESSOR(RESTARTS) : *WEIR_PROCESSOR(RETRIES(WEIR_RESTART));
        weir_processor_options o = options;
        o.handler = asker_handle;
        o.init = asker_begin;
        o.argument = &b->books[i];
        o.state_size = sizeof(asker);
        b->asker[i] = test_processor_add(b->engine, &o);
    }
    for (uint32_t i = 0; i < LISTENERS; i++) {
        b->listener[i] = test_processor_add(
            b->engine,
            WEIR_PROCESSOR(.handler = listen, .argument = &b->listeners[i], RETRIES(WEIR_RESTART)));
        assert_int_equal(WEIR_OK, weir_channel_subscribe(b->engine, b->channel, b->listener[i]));
    }
    b->watch =
        test_processor_add(b->engine, WEIR_PROCESSOR(.handler = watch, .argument = &b->watcher));
    b->coroner.gone = test_processor_add(b->engine, WEIR_PROCESSOR(.handler = fail_always));
    const weir_processor ear = test_processor_add(
        b->engine, WEIR_PROCESSOR(.handler = hear, .argument = &b->coroner, RESTARTS));
    const weir_channel letters = weir_channel_open(b->engine, WEIR_CHANNEL_DEAD_LETTERS, &error);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(b->engine, letters, ear));
    assert_int_equal(WEIR_OK, error.status);
}

typedef struct helper {
    bed *bed;
    uint64_t number;
    pthread_t thread;
} helper;

/* Broadcasts; some of it makes listeners fail, once or until it is dead. */
static void *speak(void *argument)
{
    const helper *h = argument;
    for (uint64_t i = 1; i <= h->bed->load; i++) {
        (void)!weir_engine_broadcast(h->bed->engine, h->bed->channel,
                                     WEIR_EVENT(order, .number = h->number << 32 | i,
                                                .fails = i % 64 == 9 ? 1 + i / 64 % 3 : 0),
                                     NULL);
    }
    return NULL;
}

static void *drive(void *argument)
{
    const helper *h = argument;
    for (uint64_t i = 1; i <= h->bed->load; i++) {
        while (weir_engine_post(h->bed->engine, h->bed->asker[i % ASKERS],
                                WEIR_EVENT(order, .number = i,
                                           .fails = i % 37 == 5 ? 1 + i % 3 : 0)) == WEIR_FULL) {
            (void)sched_yield();
        }
    }
    return NULL;
}

static void *ask_from_outside(void *argument)
{
    const helper *h = argument;
    for (uint64_t i = 1; i <= h->bed->load / 16; i++) {
        weir_event answer;
        const weir_status status = weir_engine_ask(h->bed->engine, h->bed->oracle[i % ORACLES],
                                                   WEIR_EVENT(question, .fails = i % 8 == 1),
                                                   i % 16 == 3 ? WEIR_US : TEST_PATIENCE, &answer);
        if (status == WEIR_OK) {
            weir_event_release(&answer);
        }
    }
    return NULL;
}

static void *move_about(void *argument)
{
    const helper *h = argument;
    for (uint64_t i = 0; !atomic_load(&h->bed->over); i++) {
        (void)weir_processor_move(h->bed->engine, h->bed->listener[i % LISTENERS],
                                  i / LISTENERS % 2 == 0 ? "b" : "", NULL);
        (void)weir_processor_move(h->bed->engine, h->bed->asker[i % ASKERS],
                                  i / ASKERS % 2 == 0 ? "b" : "", NULL);
    }
    return NULL;
}

static bool wait_for(_Atomic uint64_t *count, uint64_t wanted)
{
    const weir_ns end = test_now() + TEST_PATIENCE;
    while (atomic_load(count) < wanted && test_now() < end) {
        (void)sched_yield();
    }
    return atomic_load(count) >= wanted;
}

/* Processors that begin, are watched, and end: by a failure, by a stop, out of time while an event
 * waits for its next try, or with their parent. */
static void *begin_and_end(void *argument)
{
    const helper *h = argument;
    bed *b = h->bed;
    const uint64_t rounds = b->load / 16;
    for (uint64_t i = 0; i < rounds; i++) {
        weir_error error = WEIR_ERROR_INIT;
        const weir_directive how[] = { WEIR_STOP, WEIR_RESUME, WEIR_RETRY, WEIR_ESCALATE };
        const weir_processor parent = weir_processor_add(
            b->engine, WEIR_PROCESSOR(.handler = fail_always, .on_failure = WEIR_STOP), &error);
        const weir_processor child = weir_processor_add(
            b->engine,
            WEIR_PROCESSOR(.handler = fail_always, .parent = parent, .on_failure = how[i % 4],
                           .retry_delay = WEIR_S, .dispatcher = i % 8 < 4 ? "" : "b"),
            &error);
        (void)!weir_engine_post(b->engine, b->watch, WEIR_EVENT(victim, child));
        (void)!weir_engine_post(b->engine, b->watch, WEIR_EVENT(victim, parent));
        (void)!weir_engine_post(b->engine, child, WEIR_EMPTY(reply));
        (void)!weir_engine_post(b->engine, child, WEIR_EMPTY(reply));
        if (i % 4 == 2) {
            (void)weir_processor_stop(b->engine, child, WEIR_US, NULL);
        }
        (void)weir_processor_stop(b->engine, parent, 0, NULL);
        if (!wait_for(&b->watcher.done, 4 * (i + 1))) {
            break; /* the sums of the test will tell */
        }
    }
    return NULL;
}

static void run_all(bed *b)
{
    void *(*const parts[])(void *) = { speak, speak, drive, ask_from_outside, begin_and_end };
    enum { PARTS = sizeof(parts) / sizeof(parts[0]) };
    helper helpers[PARTS];
    helper mover = { .bed = b };
    assert_int_equal(0, pthread_create(&mover.thread, NULL, move_about, &mover));
    for (uint32_t i = 0; i < PARTS; i++) {
        helpers[i] = (helper){ .bed = b, .number = i + 1 };
        assert_int_equal(0, pthread_create(&helpers[i].thread, NULL, parts[i], &helpers[i]));
    }
    for (uint32_t i = 0; i < PARTS; i++) {
        assert_int_equal(0, pthread_join(helpers[i].thread, NULL));
    }
    atomic_store(&b->over, true);
    assert_int_equal(0, pthread_join(mover.thread, NULL));
}

static void check_sums(weir_engine *engine)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, TEST_PATIENCE, &report));
    const weir_counters c = test_engine_counters(engine);
    assert_int_equal(report.accepted, report.handled + report.dropped + report.dead + report.left);
    assert_int_equal(0, report.dropped);
    /* What fails after its stop has run out of time is left, and may be a letter. */
    const uint64_t letters = c.letters - c.letters_unknown - c.letters_refused - c.letters_late;
    assert_in_range(letters, c.dead, c.dead + c.left);
    assert_true(c.restarts > 0 && c.retries > 0 && c.dead_failed > 0 && c.letters_unknown > 0);
}

static void everything_at_once_keeps_what_each_part_promises(void **state)
{
    (void)state;
    static bed b;
    static listener listeners[LISTENERS];
    memset(&b, 0, sizeof(b));
    memset(listeners, 0, sizeof(listeners));
    b.listeners = listeners;
    b.load = test_load(4000, 800);
    b.engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    for (int i = 0; i < 3; i++) {
        (void)test_thread_add(b.engine, i < 2 ? WEIR_THREAD(.name = NULL)
                                              : WEIR_THREAD(.dispatchers = WEIR_NAMES("b")));
    }
    add_all(&b);
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, weir_processor_stop(b.engine, b.coroner.gone, 0, NULL));
    run_all(&b);
    check_sums(b.engine);
    for (uint32_t i = 0; i < ASKERS; i++) {
        const asker_book *book = &b.books[i];
        assert_int_equal(book->asked, book->came);
        assert_int_equal(0, book->strange);
        assert_true(book->lives > 1 && book->came_then > 0);
    }
    for (uint32_t i = 0; i < LISTENERS; i++) {
        for (uint32_t j = 0; j < LISTENERS; j++) {
            assert_one_order(&listeners[i], &listeners[j]);
        }
    }
    assert_int_equal(2 * (b.load / 16), b.watcher.watched);
    assert_int_equal(b.watcher.watched, b.watcher.heard);
    assert_true(b.coroner.letters > 0);
    weir_engine_destroy(b.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_at_once_keeps_what_each_part_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
