/*
 * ask_stress_test.c - processors and threads ask processors that answer at once, later, twice, by
 * way of others or never, while askers and oracles come and go: every question has one outcome, and
 * the one who answered was told which.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/option_support.h"

enum { ASKERS = 4, ORACLES = 3, GUESTS = 2, KEPT = 16, OPEN = 32, TAGS = 1 << 16 };

#define ENDLESS UINT64_MAX

typedef struct passed_on {
    weir_ticket ticket;
} passed_on;
WEIR_EVENT_TYPE(passed_on, "test.passed-on");
WEIR_EMPTY_TYPE(begin, "test.begin");

typedef struct oracle {
    uint64_t seed;
    const struct scene *scene;
    weir_ticket kept[KEPT];
    uint64_t answered, refused, wrong;
} oracle;

typedef struct seeker {
    uint64_t seed;
    const struct scene *scene;
    uint64_t rounds, asked, refused, answers, timeouts, wrong;
    uint8_t outcomes[TAGS]; /* of the question with that tag: 1 open */
    sem_t done;
} seeker;

typedef struct guest {
    uint64_t seed;
    const struct scene *scene;
    uint64_t rounds, answers, timeouts, other, wrong;
    pthread_t thread;
} guest;

typedef struct scene {
    weir_engine *engine;
    _Atomic uint64_t oracles[ORACLES]; /* handles: they come and go */
    oracle states[ORACLES];
    seeker seekers[ASKERS];
    guest guests[GUESTS];
} scene;

static weir_processor some_oracle(const scene *s, uint64_t *seed)
{
    return (weir_processor){ atomic_load(
        &((scene *)(uintptr_t)s)->oracles[test_random(seed) % ORACLES]) };
}

/* ---- who answers ---- */

static void reply(oracle *o, weir_turn *turn, weir_ticket to)
{
    if (to.sender.id == 0 && to.ask == 0) {
        return;
    }
    unsigned char bytes[100] = { 42 };
    const weir_event event = { .type = &weir_bytes_type,
                               .data = bytes,
                               .size = test_random(&o->seed) % 4 == 0 ? 100 : 8 };
    const weir_status status = weir_turn_reply(turn, to, &event);
    o->answered += status == WEIR_OK;
    o->refused += status == WEIR_UNKNOWN || status == WEIR_STOPPING;
    o->wrong += status != WEIR_OK && status != WEIR_UNKNOWN && status != WEIR_STOPPING;
}

static weir_status hear(void *state, weir_turn *turn, const weir_event *event)
{
    oracle *o = state;
    const passed_on *p = weir_event_as(event, &passed_on_type);
    const weir_ticket ticket = p != NULL ? p->ticket : event->from;
    weir_ticket *place = &o->kept[test_random(&o->seed) % KEPT];
    switch (p != NULL ? 0 : test_random(&o->seed) % 6) {
    case 0:
    case 1:
        reply(o, turn, ticket);
        break;
    case 2:
        reply(o, turn, ticket);
        reply(o, turn, ticket);
        break;
    case 3: /* and what lay there may be late by now */
        reply(o, turn, *place);
        *place = ticket;
        break;
    case 4:
        if (weir_turn_post(turn, some_oracle(o->scene, &o->seed), WEIR_EVENT(passed_on, ticket)) !=
            WEIR_OK) {
            reply(o, turn, ticket);
        }
        break;
    default:
        break;
    }
    return WEIR_OK;
}

/* ---- who asks ---- */

static void seek(seeker *k, weir_turn *turn)
{
    const uint64_t tag = k->asked % TAGS;
    const weir_ns timeout = 1 + (weir_ns)(test_random(&k->seed) % 300000);
    if (k->outcomes[tag] != 0) {
        k->wrong++; /* one that was asked so long ago is still open */
    }
    k->outcomes[tag] = 1;
    const weir_status status =
        weir_turn_ask(turn, some_oracle(k->scene, &k->seed), WEIR_EMPTY(begin),
                      WEIR_ASK(.timeout = timeout, .tag = tag));
    k->asked++;
    if (status != WEIR_OK) {
        k->wrong += status != WEIR_FULL && status != WEIR_UNKNOWN && status != WEIR_STOPPING;
        k->outcomes[tag] = 0;
        k->refused++;
    }
}

static weir_status take(void *state, weir_turn *turn, const weir_event *event)
{
    seeker *k = state;
    if (weir_event_as(event, &begin_type) == NULL) {
        const bool timeout = weir_event_as(event, &weir_timeout_type) != NULL;
        k->wrong += event->tag >= TAGS || k->outcomes[event->tag % TAGS] != 1;
        k->outcomes[event->tag % TAGS] = 0;
        k->timeouts += timeout;
        k->answers += !timeout;
    }
    const uint64_t refused = k->refused;
    while (k->asked < k->rounds && k->asked - k->refused - k->answers - k->timeouts < OPEN &&
           k->refused < refused + OPEN) {
        seek(k, turn);
    }
    /* All were refused: it tries again, unless that is because everything stops. */
    if (k->rounds != ENDLESS && k->asked < k->rounds &&
        k->asked == k->refused + k->answers + k->timeouts) {
        const weir_status again = weir_turn_post(turn, weir_turn_self(turn), WEIR_EMPTY(begin));
        k->wrong += again != WEIR_OK && again != WEIR_STOPPING && again != WEIR_FULL;
    }
    if (k->asked == k->rounds && k->asked == k->refused + k->answers + k->timeouts) {
        (void)sem_post(&k->done);
    }
    return WEIR_OK;
}

static void *visit(void *argument)
{
    guest *g = argument;
    for (uint64_t i = 0; i < g->rounds; i++) {
        weir_event answer;
        const weir_status status =
            weir_engine_ask(g->scene->engine, some_oracle(g->scene, &g->seed), WEIR_EMPTY(begin),
                            1 + (weir_ns)(test_random(&g->seed) % 300000), &answer);
        g->answers += status == WEIR_OK;
        g->timeouts += status == WEIR_TIMEOUT;
        g->other += status == WEIR_UNKNOWN || status == WEIR_STOPPING || status == WEIR_FULL;
        g->wrong += (status == WEIR_OK) != (weir_event_as(&answer, &weir_bytes_type) != NULL);
        weir_event_release(&answer);
    }
    return NULL;
}

/* ---- the scene ---- */

static weir_processor add_oracle(scene *s, size_t index)
{
    return test_processor_add(s->engine,
                              WEIR_PROCESSOR(.handler = hear, .argument = &s->states[index]));
}

static void open_scene(scene *s, uint64_t seed)
{
    memset(s, 0, sizeof(*s));
    s->engine = test_engine_create(WEIR_ENGINE(.threads = 4, .log_level = WEIR_LOG_OFF));
    for (size_t i = 0; i < ORACLES; i++) {
        s->states[i] = (oracle){ .seed = test_random(&seed), .scene = s };
        atomic_init(&s->oracles[i], add_oracle(s, i).id);
    }
    test_engine_start(s->engine);
    for (size_t i = 0; i < ASKERS; i++) {
        seeker *k = &s->seekers[i];
        k->seed = test_random(&seed);
        k->scene = s;
        k->rounds = test_load(20000, 2000);
        assert_int_equal(0, sem_init(&k->done, 0, 0));
    }
    for (size_t i = 0; i < GUESTS; i++) {
        s->guests[i] =
            (guest){ .seed = test_random(&seed), .scene = s, .rounds = test_load(2000, 200) };
        assert_int_equal(0, pthread_create(&s->guests[i].thread, NULL, visit, &s->guests[i]));
    }
}

/* Whoever answers is replaced while questions are under way. A state is used again only when the
 * one before has ended. */
static void replace_oracles(scene *s, uint64_t times, uint64_t *seed)
{
    for (uint64_t i = 0; i < times; i++) {
        const size_t index = test_random(seed) % ORACLES;
        const weir_processor old = { atomic_load(&s->oracles[index]) };
        assert_int_equal(WEIR_OK, weir_processor_stop(s->engine, old, TEST_PATIENCE, NULL));
        atomic_store(&s->oracles[index], add_oracle(s, index).id);
    }
}

static void check_scene(scene *s)
{
    uint64_t given = 0, taken = 0;
    for (size_t i = 0; i < ORACLES; i++) {
        given += s->states[i].answered;
        assert_int_equal(0, s->states[i].wrong);
    }
    for (size_t i = 0; i < GUESTS; i++) {
        const guest *g = &s->guests[i];
        taken += g->answers;
        assert_int_equal(0, g->wrong);
        assert_int_equal(g->rounds, g->answers + g->timeouts + g->other);
    }
    for (size_t i = 0; i < ASKERS; i++) {
        const seeker *k = &s->seekers[i];
        taken += k->answers;
        assert_int_equal(0, k->wrong);
        assert_int_equal(k->asked, k->refused + k->answers + k->timeouts);
    }
    assert_int_equal(given, taken);
}

static void questions_have_one_outcome_while_those_who_answer_come_and_go(void **state)
{
    (void)state;
    static scene s;
    uint64_t seed = test_seed();
    open_scene(&s, seed);
    for (size_t i = 0; i < ASKERS; i++) {
        const weir_processor self =
            test_processor_add(s.engine, WEIR_PROCESSOR(.handler = take, .argument = &s.seekers[i],
                                                        .mailbox_max = i == 0 ? 16 : 0));
        assert_int_equal(WEIR_OK, weir_engine_post(s.engine, self, WEIR_EMPTY(begin)));
    }
    replace_oracles(&s, test_load(200, 20), &seed);
    for (size_t i = 0; i < ASKERS; i++) {
        test_sem_wait(&s.seekers[i].done);
    }
    for (size_t i = 0; i < GUESTS; i++) {
        assert_int_equal(0, pthread_join(s.guests[i].thread, NULL));
    }
    (void)test_engine_end(s.engine);
    check_scene(&s);
    uint64_t answers = 0, timeouts = 0;
    for (size_t i = 0; i < ASKERS; i++) {
        answers += s.seekers[i].answers;
        timeouts += s.seekers[i].timeouts;
    }
    assert_true(answers > 0 && timeouts > 0);
}

static void questions_have_one_outcome_while_askers_and_the_engine_stop(void **state)
{
    (void)state;
    static scene s;
    uint64_t seed = test_seed();
    for (uint64_t round = test_load(50, 10); round > 0; round--) {
        weir_processor askers[ASKERS];
        open_scene(&s, test_random(&seed));
        for (size_t i = 0; i < ASKERS; i++) {
            s.seekers[i].rounds = ENDLESS;
            askers[i] = test_processor_add(
                s.engine, WEIR_PROCESSOR(.handler = take, .argument = &s.seekers[i]));
            assert_int_equal(WEIR_OK, weir_engine_post(s.engine, askers[i], WEIR_EMPTY(begin)));
        }
        const uint64_t enough = test_random(&seed) % test_load(20000, 2000);
        TEST_UNTIL(test_engine_counters(s.engine).handled >= enough);
        for (size_t i = 0; i < ASKERS / 2; i++) {
            assert_int_equal(WEIR_OK,
                             weir_processor_stop(s.engine, askers[i], TEST_PATIENCE, NULL));
        }
        (void)test_engine_stop(s.engine);
        for (size_t i = 0; i < GUESTS; i++) {
            assert_int_equal(0, pthread_join(s.guests[i].thread, NULL));
        }
        weir_engine_destroy(s.engine);
        check_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_have_one_outcome_while_those_who_answer_come_and_go),
        cmocka_unit_test(questions_have_one_outcome_while_askers_and_the_engine_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
