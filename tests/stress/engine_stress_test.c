/*
 * engine_stress_test.c - everything at once, for a while: producers, handlers that post on, fail
 * and stop themselves, processors that come and go, every overflow policy, small and large
 * mailboxes, dispatchers that share threads.
 *
 * What must hold is simple: one thread in a handler at a time (plain fields, TSan is the judge),
 * events of one sender to one receiver in order, none twice, none at the wrong address, and the
 * sums: what the posters were told was accepted is what the engine says it handled, dropped, gave
 * up as dead or left. SPEC: P-1, P-2, P-3, P-7.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/engine_support.h"

enum { PLACES = 24, PRODUCERS = 3, BATCH = 12, LIVES_MAX = 6000, MEMORY = 4, HOPS = 3 };

/* What the answers of posts were, as one poster saw them. */
typedef struct answers {
    uint64_t ok, dropped, full, stopping, unknown, odd;
} answers;

/* The last numbers that came from the processors of one place: from its present life and from a
 * few before, whose last events may still be on the way. */
typedef struct memory {
    uint32_t life[MEMORY];
    uint64_t number[MEMORY];
    uint32_t next;
} memory;

/* One life of a processor. */
typedef struct life {
    weir_processor self;
    uint32_t index, place;
    weir_overflow policy;
    _Atomic uint64_t ok, dropped; /* by those who posted to it */
    /* Plain, the handler's. */
    uint64_t random, sent;
    uint64_t good, failed, unhandled;
    uint64_t overlaps, disorder, strangers;
    bool inside;
    answers given;
    uint64_t from_producers[PRODUCERS];
    memory from_places[PLACES];
    /* The churner's. */
    weir_status stop_status;
    weir_stop_report report;
} life;

typedef struct world {
    weir_engine *engine;
    _Atomic(life *) places[PLACES];
    life *lives;
    uint32_t lives_used; /* the churner's */
    weir_ns stop_timeout;
    uint64_t timeouts;
    _Atomic bool end;
} world;

static world w;

typedef struct producer {
    uint32_t index;
    uint64_t random, sent, events;
    answers given;
    pthread_t thread;
} producer;

static void note_answer(answers *a, life *to, weir_status status)
{
    switch (status) {
    case WEIR_OK:
        a->ok++;
        atomic_fetch_add_explicit(&to->ok, 1, memory_order_relaxed);
        break;
    case WEIR_DROPPED:
        a->dropped++;
        atomic_fetch_add_explicit(&to->dropped, 1, memory_order_relaxed);
        break;
    case WEIR_FULL:
        a->full++;
        break;
    case WEIR_STOPPING:
        a->stopping++;
        break;
    case WEIR_UNKNOWN:
        a->unknown++;
        break;
    default:
        a->odd++;
        break;
    }
}

/* True if the number is behind the one before of that sender. Producers are senders 0, 1, 2; the
 * processor of life n is sender n + PRODUCERS. */
static bool out_of_order(life *l, const mark *m)
{
    if (m->sender < PRODUCERS) {
        const bool wrong = m->number <= l->from_producers[m->sender];
        l->from_producers[m->sender] = m->number;
        return wrong;
    }
    const uint32_t sender = m->sender - PRODUCERS;
    memory *known = &l->from_places[w.lives[sender].place];
    for (uint32_t i = 0; i < MEMORY; i++) {
        if (known->life[i] == sender + 1) {
            const bool wrong = m->number <= known->number[i];
            known->number[i] = m->number;
            return wrong;
        }
    }
    known->life[known->next % MEMORY] = sender + 1;
    known->number[known->next++ % MEMORY] = m->number;
    return false;
}

static weir_status receive(void *state, weir_turn *turn, const weir_event *event)
{
    life *l = state;
    const mark *m = weir_event_as(event, &mark_type);
    l->overlaps += l->inside;
    l->inside = true;
    l->strangers += m == NULL || m->target != l->self.id || weir_turn_self(turn).id != l->self.id;
    weir_status verdict = WEIR_OK;
    if (m != NULL) {
        l->disorder += out_of_order(l, m);
        const uint64_t choice = test_random(&l->random);
        if (choice % 3 == 0 && m->kind > 0) {
            life *to =
                atomic_load_explicit(&w.places[(choice >> 8) % PLACES], memory_order_acquire);
            note_answer(
                &l->given, to,
                weir_turn_post(turn, to->self,
                               WEIR_EVENT(mark, .sender = l->index + PRODUCERS, .kind = m->kind - 1,
                                          .number = ++l->sent, .target = to->self.id)));
        }
        if ((choice >> 16) % 5000 == 0) {
            (void)weir_processor_stop_async(w.engine, l->self, w.stop_timeout);
        }
        verdict = (choice >> 32) % 20 == 0   ? WEIR_E_USER - 1
                  : (choice >> 32) % 20 == 1 ? WEIR_UNHANDLED
                                             : WEIR_OK;
    }
    l->good += verdict >= 0;
    l->failed += verdict < 0;
    l->unhandled += verdict == WEIR_UNHANDLED;
    l->inside = false;
    return verdict;
}

static void produce_batch(producer *p, uint64_t choice)
{
    mark marks[BATCH];
    weir_event events[BATCH];
    const weir_event *list[BATCH];
    weir_processor to[BATCH];
    life *targets[BATCH];
    weir_status statuses[BATCH];
    const size_t count = 1 + (size_t)(choice >> 40) % BATCH;
    const bool one = (choice >> 60) % 2 == 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t place = one ? choice >> 8 : test_random(&p->random);
        targets[i] = one && i > 0
                         ? targets[0]
                         : atomic_load_explicit(&w.places[place % PLACES], memory_order_acquire);
        to[i] = targets[i]->self;
        marks[i] =
            (mark){ .sender = p->index, .kind = HOPS, .number = ++p->sent, .target = to[i].id };
        events[i] = (weir_event){ .type = &mark_type, .data = &marks[i], .size = sizeof(mark) };
        list[i] = &events[i];
        statuses[i] = WEIR_E_USER;
    }
    const size_t accepted =
        weir_engine_post_batch(w.engine, to, one ? 1 : count, list, count, statuses);
    size_t told = 0;
    for (size_t i = 0; i < count; i++) {
        note_answer(&p->given, targets[i], statuses[i]);
        told += statuses[i] == WEIR_OK || statuses[i] == WEIR_DROPPED;
    }
    p->given.odd += told != accepted;
    p->events += count;
}

static void *produce(void *argument)
{
    producer *p = argument;
    while (!atomic_load_explicit(&w.end, memory_order_relaxed)) {
        const uint64_t choice = test_random(&p->random);
        if (choice % 8 == 0) {
            produce_batch(p, choice);
            continue;
        }
        life *to = atomic_load_explicit(&w.places[(choice >> 8) % PLACES], memory_order_acquire);
        note_answer(&p->given, to,
                    weir_engine_post(w.engine, to->self,
                                     WEIR_EVENT(mark, .sender = p->index, .kind = HOPS,
                                                .number = ++p->sent, .target = to->self.id)));
        p->events++;
    }
    return NULL;
}

/* Puts a new processor into a place. Its handle is known to its handler only through the life, so
 * the life is filled before anybody can post: posters find it in `places` alone. */
static void settle(uint32_t place, uint64_t *random)
{
    static const char *const dispatchers[3] = { "a", "b", "" };
    static const uint32_t bounds[6] = { 1, 2, 7, 64, 1000, 10000 };
    static const uint32_t batches[4] = { 1, 3, 64, 1000 };
    const uint64_t choice = test_random(random);
    life *l = &w.lives[w.lives_used];
    l->index = w.lives_used++;
    l->place = place;
    l->random = test_random(random);
    l->policy = (weir_overflow)(WEIR_OVERFLOW_FAIL + place % 4);
    l->self = engine_add(
        w.engine,
        WEIR_PROCESSOR(.handler = receive, .argument = l, .dispatcher = dispatchers[choice % 3],
                       .overflow = l->policy, .mailbox_max = bounds[(choice >> 8) % 6],
                       .batch_max = batches[(choice >> 16) % 4], .block_max = 200 * WEIR_US));
    atomic_store_explicit(&w.places[place], l, memory_order_release);
}

/* Ends whoever is in a place, waiting or not, and lets another one in, before or after. */
static void move(uint64_t *random)
{
    const uint64_t choice = test_random(random);
    const uint32_t place = (uint32_t)(choice % PLACES);
    life *old = atomic_load(&w.places[place]);
    if ((choice >> 8) % 2 == 0) {
        settle(place, random);
    }
    if ((choice >> 16) % 3 == 0) {
        const weir_status status = weir_processor_stop_async(w.engine, old->self, w.stop_timeout);
        assert_true(status == WEIR_OK || status == WEIR_ALREADY || status == WEIR_UNKNOWN);
    } else {
        old->report = (weir_stop_report)WEIR_STOP_REPORT_INIT;
        old->stop_status = weir_processor_stop(w.engine, old->self, w.stop_timeout, &old->report);
        w.timeouts += old->stop_status == WEIR_TIMEOUT;
        assert_true(old->stop_status == WEIR_OK || old->stop_status == WEIR_UNKNOWN ||
                    (old->stop_status == WEIR_TIMEOUT && w.stop_timeout != 0));
    }
    if (atomic_load(&w.places[place]) == old) {
        settle(place, random);
    }
}

static void add_answers(answers *sum, const answers *a)
{
    sum->ok += a->ok;
    sum->dropped += a->dropped;
    sum->full += a->full;
    sum->stopping += a->stopping;
    sum->unknown += a->unknown;
    sum->odd += a->odd;
}

/* Each life by itself: order, address, one at a time; and its own sums if its stop told them. */
static void check_lives(life *sum, answers *given)
{
    for (uint32_t i = 0; i < w.lives_used; i++) {
        life *l = &w.lives[i];
        assert_int_equal(0, l->overlaps);
        assert_int_equal(0, l->disorder);
        assert_int_equal(0, l->strangers);
        add_answers(given, &l->given);
        sum->good += l->good;
        sum->failed += l->failed;
        sum->unhandled += l->unhandled;
        const uint64_t ok = atomic_load(&l->ok), dropped = atomic_load(&l->dropped);
        /* Drop-oldest may drop the newest when the oldest is still being written. */
        assert_true(dropped == 0 || l->policy == WEIR_OVERFLOW_DROP_NEWEST ||
                    l->policy == WEIR_OVERFLOW_DROP_OLDEST);
        assert_true(l->good + l->failed <= ok);
        assert_report_adds_up(&l->report);
        if (l->report.struct_size != 0 && l->stop_status == WEIR_OK) {
            assert_int_equal(ok + dropped, l->report.accepted);
            assert_int_equal(l->good, l->report.handled);
            assert_int_equal(l->failed, l->report.dead);
            assert_int_equal(0, l->report.left);
            assert_true(l->policy == WEIR_OVERFLOW_DROP_OLDEST || dropped == l->report.dropped);
        }
    }
}

/* The whole: the engine's sums against the posters' and the handlers'. An event whose handler was
 * under way when a stop gave up is left for the engine, and seen by the handler. */
static void check_world(const producer *producers, bool gave_up)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    const weir_status status = weir_engine_stop(w.engine, 0, &report);
    life sum = { .index = 0 };
    answers given = { 0 };
    check_lives(&sum, &given);
    for (size_t i = 0; i < PRODUCERS; i++) {
        add_answers(&given, &producers[i].given);
    }
    const weir_counters c = engine_counters(w.engine);
    fprintf(stderr,
            "# %u lives; ok %" PRIu64 " dropped %" PRIu64 " full %" PRIu64 " stopping %" PRIu64
            " unknown %" PRIu64 " | handled %" PRIu64 " dropped %" PRIu64 " dead %" PRIu64
            " left %" PRIu64 "\n",
            w.lives_used, given.ok, given.dropped, given.full, given.stopping, given.unknown,
            report.handled, report.dropped, report.dead, report.left);
    assert_int_equal(0, given.odd);
    assert_report_adds_up(&report);
    assert_int_equal(given.ok + given.dropped, report.accepted);
    assert_int_equal(given.dropped, c.dropped_newest);
    assert_int_equal(report.dropped, c.dropped_newest + c.dropped_oldest);
    assert_int_equal(given.full, c.refused_full);
    assert_int_equal(given.stopping, c.refused_stopping);
    assert_int_equal(given.unknown, c.refused_unknown);
    assert_int_equal(0, c.depth);
    if (!gave_up) {
        assert_int_equal(WEIR_OK, status);
        assert_int_equal(0, report.left);
        assert_int_equal(sum.good, report.handled);
        assert_int_equal(sum.failed, report.dead);
        assert_int_equal(sum.unhandled, c.unhandled);
    } else {
        const uint64_t seen = sum.good + sum.failed, done = report.handled + report.dead;
        assert_true(seen >= done && seen - done <= report.left);
    }
}

static void run_world(weir_ns stop_timeout, uint64_t seed)
{
    producer producers[PRODUCERS];
    uint64_t random = seed;
    const uint64_t moves = test_scaled(4000, 8);
    weir_error error = WEIR_ERROR_INIT;
    w.engine = engine_quiet();
    w.lives = calloc(LIVES_MAX, sizeof(*w.lives));
    assert_non_null(w.lives);
    w.lives_used = 0;
    w.timeouts = 0;
    w.stop_timeout = stop_timeout;
    atomic_store(&w.end, false);
    (void)weir_assign(w.engine,
                      WEIR_ROWS(WEIR_NAMES("a", "b"), WEIR_NAMES("b", ""), WEIR_NAMES("", "a")),
                      &error);
    (void)weir_dispatcher_tune(w.engine, WEIR_DISPATCHER(.name = "b", .fair = true), &error);
    assert_no_error(&error);
    for (uint32_t i = 0; i < PLACES; i++) {
        settle(i, &random);
    }
    engine_start(w.engine);
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        producers[i] = (producer){ .index = i, .random = test_random(&random) };
        assert_int_equal(0, pthread_create(&producers[i].thread, NULL, produce, &producers[i]));
    }
    for (uint64_t i = 0; i < moves && w.lives_used + 2 < LIVES_MAX; i++) {
        move(&random);
        busy_for_ns((int64_t)(test_random(&random) % 100000));
    }
    atomic_store(&w.end, true);
    for (size_t i = 0; i < PRODUCERS; i++) {
        assert_int_equal(0, pthread_join(producers[i].thread, NULL));
    }
    check_world(producers, stop_timeout != 0);
    weir_engine_destroy(w.engine);
    free(w.lives);
}

static void accepted_is_handled_or_counted_while_processors_come_and_go(void **unused)
{
    (void)unused;
    run_world(0, test_seed()); /* 30 s: every stop drains */
}

static void accepted_is_handled_or_counted_while_stops_give_up(void **unused)
{
    (void)unused;
    run_world(WEIR_NOW, test_seed() + 1);
    run_world(50 * WEIR_US, test_seed() + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_is_handled_or_counted_while_processors_come_and_go),
        cmocka_unit_test(accepted_is_handled_or_counted_while_stops_give_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
