/*
 * ask_support.h - what the tests of questions share: a processor that asks and writes down what
 * comes back, and one that answers as it is told to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_ASK_SUPPORT_H
#define WEIR_TEST_ASK_SUPPORT_H

#include "option_support.h"

enum { NOTES_MAX = 64, ADDED = 1000 };

/* Something that came back. */
typedef struct came {
    uint64_t value; /* of an answer */
    uint64_t tag, sender, ask;
    bool timeout, then; /* which it was, and who handled it */
    weir_ns when;
} came;

/* An event of value v makes it ask with v, and v as the tag. */
typedef struct asker {
    weir_processor self, target;
    weir_ask_options options;
    weir_status asked[NOTES_MAX];
    size_t asked_count;
    came came[NOTES_MAX]; /* plain: turns follow each other; `count` releases them to the test */
    atomic_size_t count;
    uint64_t early; /* came while the handler that asked had not returned */
    bool asking;
    sem_t done; /* asked once more */
    sem_t told; /* something came */
} asker;

static inline void note_what_came(asker *a, const weir_event *event, bool then)
{
    const number *n = weir_event_as(event, &number_type);
    const size_t count = atomic_load_explicit(&a->count, memory_order_relaxed);
    a->early += a->asking;
    if (count < NOTES_MAX) {
        a->came[count] = (came){ .value = n != NULL ? n->value : 0,
                                 .tag = event->tag,
                                 .sender = event->from.sender.id,
                                 .ask = event->from.ask,
                                 .timeout = weir_event_as(event, &weir_timeout_type) != NULL,
                                 .then = then,
                                 .when = test_now() };
    }
    atomic_store_explicit(&a->count, count + 1, memory_order_release);
    (void)sem_post(&a->told);
}

static inline weir_status asker_then(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    note_what_came(state, event, true);
    return WEIR_OK;
}

static inline weir_status asker_handle(void *state, weir_turn *turn, const weir_event *event)
{
    asker *a = state;
    const number *n = weir_event_as(event, &number_type);
    if (n == NULL || n->value >= ADDED) {
        note_what_came(a, event, false);
        return WEIR_OK;
    }
    a->asking = true;
    weir_ask_options options = a->options;
    options.struct_size = sizeof(options);
    options.tag = n->value;
    const weir_status status = weir_turn_ask(turn, a->target, event, &options);
    if (a->asked_count < NOTES_MAX) {
        a->asked[a->asked_count++] = status;
    }
    a->asking = false;
    (void)sem_post(&a->done);
    return WEIR_OK;
}

static inline void asker_init(asker *a)
{
    memset(a, 0, sizeof(*a));
    assert_int_equal(0, sem_init(&a->done, 0, 0));
    assert_int_equal(0, sem_init(&a->told, 0, 0));
}

static inline size_t came_count(asker *a)
{
    return atomic_load_explicit(&a->count, memory_order_acquire);
}

/* Lets it ask, and answers what that answered. */
static inline weir_status let_ask(weir_engine *engine, asker *a, uint64_t value)
{
    assert_int_equal(WEIR_OK, test_post(engine, a->self, value));
    test_sem_wait(&a->done);
    return a->asked[a->asked_count - 1];
}

typedef enum oracle_mode {
    AT_ONCE,
    TWICE,
    KEEPS, /* until it is told to go on */
    SILENT,
    HANDS_ON, /* the ticket, to `deputy` */
} oracle_mode;

/* Answers v with v + ADDED. */
typedef struct oracle {
    weir_processor self, deputy;
    oracle_mode mode;
    weir_ticket kept[NOTES_MAX];
    uint64_t values[NOTES_MAX];
    size_t kept_count;
    weir_status replied[NOTES_MAX];
    atomic_size_t replied_count;
    sem_t got;     /* a question */
    sem_t replies; /* an answer was tried */
} oracle;

typedef struct handed {
    weir_ticket ticket;
    uint64_t value;
} handed;
WEIR_EVENT_TYPE(handed, "test.handed");
WEIR_EMPTY_TYPE(go_on, "test.go-on");

static inline void oracle_init(oracle *o, oracle_mode mode)
{
    memset(o, 0, sizeof(*o));
    o->mode = mode;
    assert_int_equal(0, sem_init(&o->got, 0, 0));
    assert_int_equal(0, sem_init(&o->replies, 0, 0));
}

static inline void oracle_reply(oracle *o, weir_turn *turn, weir_ticket to, uint64_t value)
{
    const weir_status status = weir_turn_reply(turn, to, WEIR_EVENT(number, value + ADDED));
    const size_t count = atomic_load_explicit(&o->replied_count, memory_order_relaxed);
    if (count < NOTES_MAX) {
        o->replied[count] = status;
    }
    atomic_store_explicit(&o->replied_count, count + 1, memory_order_release);
    (void)sem_post(&o->replies);
}

static inline weir_status oracle_handle(void *state, weir_turn *turn, const weir_event *event)
{
    oracle *o = state;
    const number *n = weir_event_as(event, &number_type);
    const handed *h = weir_event_as(event, &handed_type);
    if (h != NULL) {
        oracle_reply(o, turn, h->ticket, h->value);
    } else if (n == NULL) {
        for (size_t i = 0; i < o->kept_count; i++) {
            oracle_reply(o, turn, o->kept[i], o->values[i]);
        }
    } else if (o->mode == HANDS_ON) {
        return weir_turn_post(turn, o->deputy, WEIR_EVENT(handed, event->from, n->value));
    } else if (o->mode == KEEPS && o->kept_count < NOTES_MAX) {
        o->kept[o->kept_count] = event->from;
        o->values[o->kept_count++] = n->value;
    } else if (o->mode == AT_ONCE || o->mode == TWICE) {
        oracle_reply(o, turn, event->from, n->value);
        if (o->mode == TWICE) {
            oracle_reply(o, turn, event->from, n->value + 1);
        }
    }
    (void)sem_post(&o->got);
    return WEIR_OK;
}

/* An engine with one of each; the oracle has a thread of its own. */
typedef struct ask_bed {
    weir_engine *engine;
    asker asker;
    oracle oracle;
} ask_bed;

static inline void ask_bed_add(ask_bed *b, const weir_processor_options *of_asker,
                               uint32_t oracle_max)
{
    weir_processor_options options = *of_asker;
    options.struct_size = sizeof(options);
    options.handler = options.handler != NULL ? options.handler : asker_handle;
    options.argument = &b->asker;
    b->asker.self = test_processor_add(b->engine, &options);
    b->oracle.self = test_processor_add(
        b->engine, WEIR_PROCESSOR(.handler = oracle_handle, .argument = &b->oracle,
                                  .dispatcher = "oracle", .mailbox_max = oracle_max));
    b->asker.target = b->oracle.self;
}

/* Not started yet. */
static inline void ask_bed_open(ask_bed *b, oracle_mode mode,
                                const weir_processor_options *of_asker)
{
    asker_init(&b->asker);
    oracle_init(&b->oracle, mode);
    b->engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    (void)test_thread_add(b->engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("")));
    (void)test_thread_add(b->engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("oracle")));
    ask_bed_add(b, of_asker, 0);
}

static inline void ask_bed_make(ask_bed *b, oracle_mode mode)
{
    ask_bed_open(b, mode, WEIR_PROCESSOR(.name = "asker"));
    test_engine_start(b->engine);
}

static inline void oracle_goes_on(ask_bed *b)
{
    assert_int_equal(WEIR_OK, weir_engine_post(b->engine, b->oracle.self, WEIR_EMPTY(go_on)));
}

/* So many came, and nothing else; none in the handler that asked. */
static inline void assert_came(asker *a, size_t count)
{
    assert_int_equal(count, came_count(a));
    assert_int_equal(0, a->early);
}

static inline void assert_answer(const came *c, uint64_t value)
{
    assert_false(c->timeout);
    assert_int_equal(value + ADDED, c->value);
    assert_int_equal(value, c->tag);
    assert_int_equal(0, c->ask);
}

static inline void assert_timeout(const came *c, uint64_t tag)
{
    assert_true(c->timeout);
    assert_int_equal(tag, c->tag);
}

/* Nothing is promised to it any more. */
static inline void assert_no_place_is_promised(weir_engine *engine, weir_processor processor)
{
    assert_int_equal(0, test_processor_counters(engine, processor).rooms);
}

#endif /* WEIR_TEST_ASK_SUPPORT_H */
