/*
 * overflow_stress_test.c - all four overflow policies at once under producers that outrun their
 * consumers: the sums of P-3 exact, order kept per sender, every payload that owns something
 * dropped exactly once.
 *
 * The books are kept on this side: producers count what they were answered, consumers (plain
 * fields, P-1 makes them safe) what they saw, drop hooks mark a table with one cell per payload.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/option_support.h"

enum {
    PRODUCERS = 4,
    TARGETS = 4, /* one a policy, so that the engine's drop counters have one source each */
    SENDERS = PRODUCERS + TARGETS,
    BOUND = 32,
    WIDE = 100,
};

static const weir_overflow policies[TARGETS] = { WEIR_OVERFLOW_FAIL, WEIR_OVERFLOW_DROP_NEWEST,
                                                 WEIR_OVERFLOW_DROP_OLDEST, WEIR_OVERFLOW_BLOCK };

/* What travels; the wide form has the same head. */
typedef struct token {
    uint32_t sender, target;
    uint64_t sequence; /* per sender and target */
    uint64_t cell;     /* of the drop table; only for owned ones */
} token;
typedef struct wide_token {
    token head;
    unsigned char pattern[WIDE - sizeof(token)];
} wide_token;
WEIR_EVENT_TYPE(token, "stress.token");
WEIR_EVENT_TYPE(wide_token, "stress.wide");

static atomic_uchar *cells; /* how often each owned payload was dropped */

static void drop_owned(void *payload)
{
    atomic_fetch_add(&cells[((const token *)payload)->cell], 1);
}

static const weir_event_type owned_type = {
    sizeof(weir_event_type), "stress.owned", sizeof(token), false, drop_owned, NULL
};

/* What a sender was answered by one target. */
typedef struct answers {
    uint64_t next; /* sequence */
    uint64_t ok, dropped, full, other;
} answers;

static void answers_note(answers *a, weir_status status)
{
    a->next++;
    a->ok += status == WEIR_OK;
    a->dropped += status == WEIR_DROPPED;
    a->full += status == WEIR_FULL;
    a->other += status != WEIR_OK && status != WEIR_DROPPED && status != WEIR_FULL;
}

struct stage;

typedef struct consumer {
    struct stage *stage;
    uint32_t index;
    uint64_t handled, disorder, damage;
    uint64_t seen[SENDERS];   /* next sequence that may come from each */
    answers forward[TARGETS]; /* what it was answered itself */
} consumer;

typedef struct producer {
    struct stage *stage;
    uint32_t index;
    uint64_t seed, events;
    uint64_t owned; /* payloads it made, all of which must be dropped */
    answers to[TARGETS];
} producer;

typedef struct stage {
    weir_engine *engine;
    weir_processor targets[TARGETS];
    consumer consumers[TARGETS];
    producer producers[PRODUCERS];
} stage;

static const token *token_of(const weir_event *event, uint64_t *damage)
{
    const wide_token *wide = weir_event_as(event, &wide_token_type);
    if (wide != NULL) {
        for (size_t i = 0; i < sizeof(wide->pattern); i++) {
            *damage += wide->pattern[i] != (unsigned char)(wide->head.sequence + i);
        }
        return &wide->head;
    }
    const token *t = weir_event_as(event, &token_type);
    return t != NULL ? t : weir_event_as(event, &owned_type);
}

static weir_status consume(void *state, weir_turn *turn, const weir_event *event)
{
    consumer *c = state;
    c->handled++;
    const token *t = token_of(event, &c->damage);
    if (t == NULL || t->sender >= SENDERS || t->target != c->index) {
        c->damage++;
        return WEIR_OK;
    }
    c->disorder += t->sequence < c->seen[t->sender];
    c->seen[t->sender] = t->sequence + 1;
    if (event->type == &owned_type && atomic_load(&cells[t->cell]) != 0) {
        c->damage++; /* dropped before its reader */
    }
    if (t->sender < PRODUCERS && t->sequence % 8 == 0) {
        /* A handler overruns, too: there block must not wait. */
        const uint32_t to = (c->index + 1 + (uint32_t)(t->sequence / 8) % 3) % TARGETS;
        answers *a = &c->forward[to];
        answers_note(a, weir_turn_post(turn, c->stage->targets[to],
                                       WEIR_EVENT(token, .sender = PRODUCERS + c->index,
                                                  .target = to, .sequence = a->next)));
    }
    return WEIR_OK;
}

/* Alternates between copied, wide and owned payloads, posted one by one. */
static weir_status produce_one(producer *p, uint32_t target, uint64_t kind, uint64_t n)
{
    stage *s = p->stage;
    const token t = { .sender = p->index,
                      .target = target,
                      .sequence = p->to[target].next,
                      .cell = p->index * p->events + n };
    if (kind == 0) {
        wide_token wide = { .head = t };
        for (size_t i = 0; i < sizeof(wide.pattern); i++) {
            wide.pattern[i] = (unsigned char)(t.sequence + i);
        }
        const weir_event event = { .type = &wide_token_type, .data = &wide, .size = sizeof(wide) };
        return weir_engine_post(s->engine, s->targets[target], &event);
    }
    weir_event event = { .type = &owned_type, .size = sizeof(t) };
    if (kind == 1 && weir_block_reserve(s->engine, sizeof(t), &event.block) == WEIR_OK) {
        memcpy(weir_block_data(event.block), &t, sizeof(t));
        event.data = weir_block_data(event.block);
        p->owned++;
        return weir_engine_commit(s->engine, s->targets[target], &event);
    }
    event = (weir_event){ .type = &token_type, .data = &t, .size = sizeof(t) };
    return weir_engine_post(s->engine, s->targets[target], &event);
}

static void *produce(void *argument)
{
    producer *p = argument;
    uint64_t random = p->seed;
    for (uint64_t n = 0; n < p->events; n++) {
        const uint64_t choice = test_random(&random);
        const uint32_t target = (uint32_t)(choice % TARGETS);
        answers_note(&p->to[target], produce_one(p, target, (choice >> 8) % 4, n));
    }
    return NULL;
}

static void stage_open(stage *s, uint64_t seed, uint64_t events)
{
    memset(s, 0, sizeof(*s));
    s->engine = test_engine_create(WEIR_ENGINE(.mailbox_max = BOUND, .block_max = 2 * WEIR_MS));
    weir_error error = WEIR_ERROR_INIT;
    (void)weir_assign(s->engine, WEIR_ROWS(WEIR_NAMES("a"), WEIR_NAMES("a", "b"), WEIR_NAMES("b")),
                      &error);
    test_error_none(&error);
    for (uint32_t i = 0; i < TARGETS; i++) {
        s->consumers[i] = (consumer){ .stage = s, .index = i };
        s->targets[i] = test_processor_add(
            s->engine, WEIR_PROCESSOR(.handler = consume, .argument = &s->consumers[i],
                                      .overflow = policies[i], .batch_max = i % 2 == 0 ? 4 : 0,
                                      .dispatcher = i % 2 == 0 ? "a" : "b"));
    }
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        s->producers[i] = (producer){ .stage = s, .index = i, .seed = seed + i, .events = events };
    }
}

static answers sum_of(const stage *s, uint32_t target)
{
    answers sum = { 0 };
    for (size_t i = 0; i < SENDERS; i++) {
        const answers *a = i < PRODUCERS ? &s->producers[i].to[target]
                                         : &s->consumers[i - PRODUCERS].forward[target];
        sum.next += a->next;
        sum.ok += a->ok;
        sum.dropped += a->dropped;
        sum.full += a->full;
        sum.other += a->other;
    }
    return sum;
}

/* Both sides of the books, so that a difference can be read. */
static void print_books(const stage *s, const weir_counters *c)
{
    for (uint32_t i = 0; i < TARGETS; i++) {
        const answers sum = sum_of(s, i);
        fprintf(stderr,
                "# %u: posted %" PRIu64 ", ok %" PRIu64 ", dropped %" PRIu64 ", full %" PRIu64
                ", other %" PRIu64 "; handled %" PRIu64 "\n",
                i, sum.next, sum.ok, sum.dropped, sum.full, sum.other, s->consumers[i].handled);
    }
    fprintf(stderr,
            "# engine: accepted %" PRIu64 ", handled %" PRIu64 ", newest %" PRIu64
            ", oldest %" PRIu64 ", full %" PRIu64 ", stopping %" PRIu64 "\n",
            c->accepted, c->handled, c->dropped_newest, c->dropped_oldest, c->refused_full,
            c->refused_stopping);
}

static void assert_sums(const stage *s, const weir_stop_report *report)
{
    const weir_counters counters = test_engine_counters(s->engine);
    print_books(s, &counters);
    uint64_t accepted = 0, handled = 0, full = 0, dropped = 0;
    for (uint32_t i = 0; i < TARGETS; i++) {
        const answers sum = sum_of(s, i);
        const consumer *c = &s->consumers[i];
        const bool oldest = policies[i] == WEIR_OVERFLOW_DROP_OLDEST;
        const bool newest = policies[i] == WEIR_OVERFLOW_DROP_NEWEST;
        assert_int_equal(0, sum.other);
        assert_int_equal(0, c->disorder);
        assert_int_equal(0, c->damage);
        assert_int_equal(sum.next, sum.ok + sum.dropped + sum.full);
        assert_int_equal(sum.ok, c->handled + (oldest ? counters.dropped_oldest : 0));
        assert_true(oldest || newest || sum.dropped == 0);
        assert_true(!oldest || sum.dropped * 100 <= sum.next); /* rarely: at most 1 % */
        dropped += sum.dropped; /* of drop-oldest too, when the oldest could not be got at */
        assert_true(!(oldest || newest) || sum.full == 0);
        accepted += sum.ok + sum.dropped;
        handled += c->handled;
        full += sum.full;
    }
    assert_int_equal(dropped, counters.dropped_newest);
    assert_int_equal(accepted, report->accepted);
    assert_int_equal(handled, report->handled);
    assert_int_equal(accepted - handled, report->dropped);
    assert_int_equal(full, counters.refused_full);
    assert_int_equal(0, counters.refused_unknown + counters.refused_other);
    assert_int_equal(0, counters.block_bytes);
}

static void assert_each_owned_payload_was_dropped_once(const stage *s, uint64_t events)
{
    uint64_t owned = 0, once = 0, more = 0;
    for (size_t i = 0; i < PRODUCERS; i++) {
        owned += s->producers[i].owned;
    }
    for (uint64_t i = 0; i < PRODUCERS * events; i++) {
        const unsigned times = atomic_load(&cells[i]);
        once += times == 1;
        more += times > 1;
    }
    assert_int_equal(0, more);
    assert_int_equal(owned, once);
}

static void all_policies_under_load_keep_sums_order_and_drop_once(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const uint64_t rounds = test_load(5, 3);
    const uint64_t events = test_load(50000, 15000);
    for (uint64_t round = 0; round < rounds; round++) {
        static stage s;
        cells = calloc(PRODUCERS * events, sizeof(*cells));
        assert_non_null(cells);
        stage_open(&s, test_random(&random), events);
        test_engine_start(s.engine);
        pthread_t threads[PRODUCERS];
        for (size_t i = 0; i < PRODUCERS; i++) {
            assert_int_equal(0, pthread_create(&threads[i], NULL, produce, &s.producers[i]));
        }
        for (size_t i = 0; i < PRODUCERS; i++) {
            assert_int_equal(0, pthread_join(threads[i], NULL));
        }
        const weir_stop_report report = test_engine_stop(s.engine);
        assert_sums(&s, &report);
        weir_engine_destroy(s.engine);
        assert_each_owned_payload_was_dropped_once(&s, events);
        free(cells);
    }
}

static void a_stop_in_the_middle_of_overflow_keeps_the_sums(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const uint64_t rounds = test_load(20, 6);
    const uint64_t events = test_load(20000, 8000);
    for (uint64_t round = 0; round < rounds; round++) {
        static stage s;
        cells = calloc(PRODUCERS * events, sizeof(*cells));
        assert_non_null(cells);
        stage_open(&s, test_random(&random), events);
        test_engine_start(s.engine);
        pthread_t threads[PRODUCERS];
        for (size_t i = 0; i < PRODUCERS; i++) {
            assert_int_equal(0, pthread_create(&threads[i], NULL, produce, &s.producers[i]));
        }
        const uint64_t enough = test_random(&random) % events;
        TEST_UNTIL(test_engine_counters(s.engine).accepted >= enough);
        const weir_stop_report report = test_engine_stop(s.engine); /* refuses from here on */
        for (size_t i = 0; i < PRODUCERS; i++) {
            assert_int_equal(0, pthread_join(threads[i], NULL));
        }
        uint64_t accepted = 0, handled = 0;
        for (uint32_t i = 0; i < TARGETS; i++) {
            const answers sum = sum_of(&s, i);
            accepted += sum.ok + sum.dropped;
            handled += s.consumers[i].handled;
            assert_int_equal(0, s.consumers[i].disorder + s.consumers[i].damage);
        }
        assert_int_equal(accepted, report.accepted); /* nothing was accepted after */
        assert_int_equal(handled, report.handled);
        weir_engine_destroy(s.engine);
        assert_each_owned_payload_was_dropped_once(&s, events);
        free(cells);
    }
}

/* ---- processors that stop while they overflow ---- */

typedef struct churn {
    weir_engine *engine;
    atomic_uint_least64_t current; /* the handle to post to; 0: none yet */
    atomic_bool end;
} churn;

typedef struct churner {
    churn *c;
    uint64_t random;
    uint64_t accepted, refused, gone, other;
} churner;

static void *post_to_the_current(void *argument)
{
    churner *p = argument;
    unsigned char wide[WIDE] = { 0 };
    const weir_event event = { .type = &weir_bytes_type, .data = wide, .size = WIDE };
    while (!atomic_load(&p->c->end)) {
        const weir_processor to = { atomic_load(&p->c->current) };
        const weir_status status = weir_engine_post(p->c->engine, to, &event);
        p->accepted += status == WEIR_OK || status == WEIR_DROPPED;
        p->refused += status == WEIR_FULL;
        p->gone += status == WEIR_STOPPING || status == WEIR_UNKNOWN;
        p->other += status < 0;
        if (status != WEIR_OK && test_random(&p->random) % 256 == 0) {
            (void)sched_yield(); /* now and then the others get to their side of the race */
        }
    }
    return NULL;
}

static weir_status count_one(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    ++*(uint64_t *)state;
    return WEIR_OK;
}

/* Adds and stops processors with full mailboxes under the posters' hands; adds up the reports. */
static void churn_processors(churn *c, uint64_t rounds, weir_stop_report *sum)
{
    for (uint64_t round = 0; round < rounds; round++) {
        const weir_processor to = test_processor_add(
            c->engine, WEIR_PROCESSOR(.handler = count_one, .state_size = sizeof(uint64_t),
                                      .mailbox_max = 1 + (uint32_t)(round % 3),
                                      .block_max = WEIR_MS, .overflow = policies[round % TARGETS]));
        atomic_store(&c->current, to.id);
        TEST_UNTIL(test_processor_counters(c->engine, to).accepted > round % 16);
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        const weir_ns timeout = round % 5 == 0 ? WEIR_NOW : TEST_PATIENCE;
        const weir_status status = weir_processor_stop(c->engine, to, timeout, &report);
        assert_true(status == WEIR_OK || (status == WEIR_TIMEOUT && timeout == WEIR_NOW));
        assert_int_equal(report.accepted,
                         report.handled + report.dropped + report.dead + report.left);
        assert_true(status != WEIR_OK || report.left == 0);
        sum->accepted += report.accepted;
        sum->left += report.left;
    }
}

static void processors_that_stop_while_they_overflow_keep_the_sums(void **state)
{
    (void)state;
    churn c = { .engine =
                    test_engine_create(WEIR_ENGINE(.threads = 2, .log_level = WEIR_LOG_OFF)) };
    const uint64_t seed = test_seed();
    churner churners[PRODUCERS];
    pthread_t threads[PRODUCERS];
    test_engine_start(c.engine);
    for (size_t i = 0; i < PRODUCERS; i++) {
        churners[i] = (churner){ .c = &c, .random = seed + i };
        assert_int_equal(0, pthread_create(&threads[i], NULL, post_to_the_current, &churners[i]));
    }
    weir_stop_report sum = WEIR_STOP_REPORT_INIT;
    churn_processors(&c, test_load(1500, 500), &sum);
    atomic_store(&c.end, true);
    uint64_t accepted = 0;
    for (size_t i = 0; i < PRODUCERS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(0, churners[i].other);
        accepted += churners[i].accepted;
    }
    const weir_counters counters = test_engine_counters(c.engine);
    assert_int_equal(accepted, sum.accepted);
    assert_int_equal(accepted, counters.accepted);
    /* An event that a stop left may still be in its handler: it is counted when that returns. */
    TEST_UNTIL(test_engine_counters(c.engine).depth == 0);
    TEST_UNTIL(test_engine_counters(c.engine).block_bytes == 0);
    weir_engine_destroy(c.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_policies_under_load_keep_sums_order_and_drop_once),
        cmocka_unit_test(a_stop_in_the_middle_of_overflow_keeps_the_sums),
        cmocka_unit_test(processors_that_stop_while_they_overflow_keep_the_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
