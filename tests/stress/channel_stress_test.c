/*
 * channel_stress_test.c - threads and handlers broadcast at once, to subscribers that stay, come,
 * go, are full and end; one order for all, each sender's own, and exact sums.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/option_support.h"

enum { VOICES = 4, EARS = 8 };

typedef struct said {
    uint32_t voice;
    uint32_t direct; /* 1: posted, to the first ear only */
    uint64_t number;
} said;
WEIR_EVENT_TYPE(said, "test.said");
/* The same, too long for an envelope. */
typedef struct long_said {
    said head;
    uint64_t rest[16];
} long_said;
WEIR_EVENT_TYPE(long_said, "test.long-said");

/* Plain: promise P-1. */
typedef struct ear {
    uint64_t next[VOICES + 1]; /* at least this number is due */
    uint64_t heard;
    uint64_t disorder;
    uint64_t hash; /* of what was broadcast, in order */
    uint64_t sets; /* answers to requests */
} ear;

static weir_status hear(void *state, weir_turn *turn, const weir_event *event)
{
    ear *e = state;
    (void)turn;
    if (event->type == &weir_subscribed_type) {
        e->sets++;
        return WEIR_OK;
    }
    const said *s = event->data;
    e->disorder += s->number < e->next[s->voice] ? 1 : 0;
    e->next[s->voice] = s->number + 1;
    e->heard++;
    if (s->direct == 0) {
        e->hash = (e->hash ^ (s->number << 8 | s->voice)) * UINT64_C(1099511628211);
    }
    return WEIR_OK;
}

typedef struct voice {
    weir_engine *engine;
    weir_channel channel;
    weir_processor first; /* gets posts in between; or nobody */
    uint32_t number;
    uint64_t count, seed;
    uint64_t delivered, refused, posted, wrong;
    bool stops; /* STOPPING is an answer, and the last one */
    pthread_t thread;
} voice;

static bool broadcast_one(voice *v, uint64_t which)
{
    const long_said text = { .head = { v->number, 0, which } };
    const bool is_long = test_random(&v->seed) % 4 == 0;
    const weir_event event = { .type = is_long ? &long_said_type : &said_type,
                               .data = &text,
                               .size = is_long ? sizeof(text) : sizeof(text.head) };
    weir_delivery d = { 0, 0 };
    const weir_status status = weir_engine_broadcast(v->engine, v->channel, &event, &d);
    v->delivered += d.delivered;
    v->refused += d.refused;
    v->wrong += status != WEIR_OK && !(v->stops && status == WEIR_STOPPING) ? 1 : 0;
    return status == WEIR_OK;
}

static void *speak(void *argument)
{
    voice *v = argument;
    for (uint64_t i = 0; i < v->count; i++) {
        if (!broadcast_one(v, 2 * i) && v->stops) {
            break;
        }
        if (v->first.id != 0) {
            const weir_status status =
                weir_engine_post(v->engine, v->first, WEIR_EVENT(said, v->number, 1, 2 * i + 1));
            v->posted += status == WEIR_OK ? 1 : 0;
            v->wrong += status != WEIR_OK ? 1 : 0;
        }
    }
    return NULL;
}

static void voices_start(voice *voices, const voice *like, uint64_t *seed)
{
    for (uint32_t i = 0; i < VOICES; i++) {
        voices[i] = *like;
        voices[i].number = i;
        voices[i].seed = test_random(seed);
        assert_int_equal(0, pthread_create(&voices[i].thread, NULL, speak, &voices[i]));
    }
}

static voice voices_join(voice *voices)
{
    voice sum = { .engine = NULL };
    for (uint32_t i = 0; i < VOICES; i++) {
        assert_int_equal(0, pthread_join(voices[i].thread, NULL));
        assert_int_equal(0, voices[i].wrong);
        sum.delivered += voices[i].delivered;
        sum.refused += voices[i].refused;
        sum.posted += voices[i].posted;
    }
    return sum;
}

static weir_channel open_channel(weir_engine *engine)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_channel channel = weir_channel_open(engine, "x", &error);
    test_error_none(&error);
    return channel;
}

static void eight_subscribers_hear_four_publishers_in_one_order(void **state)
{
    (void)state;
    static ear ears[EARS];
    static voice voices[VOICES];
    uint64_t seed = test_seed();
    memset(ears, 0, sizeof(ears));
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 2, .mailbox_max = 1000000));
    const weir_channel channel = open_channel(engine);
    weir_processor first = { 0 };
    for (size_t i = 0; i < EARS; i++) {
        const weir_processor p =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = hear, .argument = &ears[i]));
        first = i == 0 ? p : first;
        assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, channel, p));
    }
    test_engine_start(engine);
    const uint64_t each = test_load(20000, 2000);
    voices_start(voices,
                 &(voice){ .engine = engine, .channel = channel, .first = first, .count = each },
                 &seed);
    const voice sum = voices_join(voices);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(VOICES * EARS * each, sum.delivered);
    assert_int_equal(sum.delivered + sum.posted, report.handled);
    for (size_t i = 0; i < EARS; i++) {
        assert_int_equal(0, ears[i].disorder);
        assert_int_equal(VOICES * each * (i == 0 ? 2 : 1), ears[i].heard);
        assert_true(ears[0].hash == ears[i].hash);
    }
}

/* ---- who comes and goes meanwhile ---- */

enum { CHURN_THREADS = 2, GUESTS = 4 };

/* The state of a guest is weir's; what it heard is added up at its end. */
static atomic_uint_least64_t guests_heard, guests_disorder, guests_sets;

static void add_up(void *state, weir_status reason)
{
    const ear *e = state;
    (void)reason;
    atomic_fetch_add(&guests_heard, e->heard);
    atomic_fetch_add(&guests_disorder, e->disorder);
    atomic_fetch_add(&guests_sets, e->sets);
}

typedef struct churn {
    weir_engine *engine;
    weir_channel channel;
    uint64_t seed, wrong;
    uint64_t requests; /* that were accepted */
    atomic_bool *over;
    weir_processor guests[GUESTS];
    pthread_t thread;
} churn;

static weir_processor new_guest(churn *c)
{
    static const weir_overflow policies[] = { WEIR_OVERFLOW_FAIL, WEIR_OVERFLOW_DROP_NEWEST,
                                              WEIR_OVERFLOW_DROP_OLDEST, WEIR_OVERFLOW_BLOCK };
    const weir_processor guest = weir_processor_add(
        c->engine,
        WEIR_PROCESSOR(.handler = hear, .state_size = sizeof(ear), .destroy = add_up,
                       .mailbox_max = 1 + (uint32_t)(test_random(&c->seed) % 64),
                       .overflow = policies[test_random(&c->seed) % 4]),
        NULL);
    c->wrong += guest.id == 0 ? 1 : 0;
    return guest;
}

static void change_one(churn *c, weir_processor *guest)
{
    weir_status status = WEIR_OK;
    switch (test_random(&c->seed) % 6) {
    case 0:
        status = weir_channel_subscribe(c->engine, c->channel, *guest);
        break;
    case 1:
        status = weir_channel_unsubscribe(c->engine, c->channel, *guest);
        break;
    case 2:
        status = weir_channel_change(c->engine, *guest, WEIR_SUBSCRIBE_SET, &c->channel,
                                     test_random(&c->seed) % 2, NULL);
        break;
    case 3:
        status = weir_channel_request_change(c->engine, *guest, WEIR_SUBSCRIBE, &c->channel, 1);
        c->requests += status == WEIR_OK || status == WEIR_DROPPED ? 1 : 0;
        break;
    case 4:
        status = weir_processor_stop_async(c->engine, *guest, 0);
        *guest = new_guest(c);
        break;
    default:
        status = weir_processor_stop(c->engine, *guest, 0, NULL);
        *guest = new_guest(c);
        break;
    }
    c->wrong += status < 0 ? 1 : 0;
}

static void *come_and_go(void *argument)
{
    churn *c = argument;
    for (size_t i = 0; i < GUESTS; i++) {
        c->guests[i] = new_guest(c);
    }
    while (!atomic_load(c->over)) {
        change_one(c, &c->guests[test_random(&c->seed) % GUESTS]);
    }
    return NULL;
}

static void subscribers_come_and_go_under_load_and_nothing_is_lost(void **state)
{
    (void)state;
    static ear stays;
    static voice voices[VOICES];
    static churn churns[CHURN_THREADS];
    atomic_bool over = false;
    uint64_t seed = test_seed();
    memset(&stays, 0, sizeof(stays));
    atomic_store(&guests_heard, 0);
    atomic_store(&guests_disorder, 0);
    atomic_store(&guests_sets, 0);
    weir_engine *engine = test_engine_create(
        WEIR_ENGINE(.threads = 2, .mailbox_max = 1000000, .log_level = WEIR_LOG_OFF));
    const weir_channel channel = open_channel(engine);
    const weir_processor one =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = hear, .argument = &stays));
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, channel, one));
    test_engine_start(engine);
    for (size_t i = 0; i < CHURN_THREADS; i++) {
        churns[i] = (churn){
            .engine = engine, .channel = channel, .seed = test_random(&seed), .over = &over
        };
        assert_int_equal(0, pthread_create(&churns[i].thread, NULL, come_and_go, &churns[i]));
    }
    const uint64_t each = test_load(20000, 2000);
    voices_start(voices, &(voice){ .engine = engine, .channel = channel, .count = each }, &seed);
    const voice sum = voices_join(voices);
    uint64_t requests = 0;
    atomic_store(&over, true);
    for (size_t i = 0; i < CHURN_THREADS; i++) {
        assert_int_equal(0, pthread_join(churns[i].thread, NULL));
        assert_int_equal(0, churns[i].wrong);
        requests += churns[i].requests;
    }
    (void)test_engine_stop(engine);
    const weir_counters c = test_engine_counters(engine);
    assert_int_equal(sum.delivered, c.delivered);
    assert_int_equal(sum.refused, c.undelivered);
    assert_int_equal(0, c.block_bytes);
    assert_int_equal(VOICES * each, c.broadcasts);
    weir_engine_destroy(engine);
    assert_int_equal(VOICES * each, stays.heard);
    assert_int_equal(0, stays.disorder);
    assert_int_equal(0, atomic_load(&guests_disorder));
    /* Requests can be dropped, too. */
    assert_int_equal(sum.delivered + requests, stays.heard + atomic_load(&guests_heard) +
                                                   atomic_load(&guests_sets) + c.dropped);
}

static void a_stop_meets_four_publishers(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (uint64_t round = 0; round < test_load(60, 10); round++) {
        static ear ears[EARS];
        static voice voices[VOICES];
        memset(ears, 0, sizeof(ears));
        weir_engine *engine = test_engine_create(
            WEIR_ENGINE(.threads = 2, .mailbox_max = 1000000, .log_level = WEIR_LOG_OFF));
        const weir_channel channel = open_channel(engine);
        for (size_t i = 0; i < EARS; i++) {
            const weir_processor p =
                test_processor_add(engine, WEIR_PROCESSOR(.handler = hear, .argument = &ears[i]));
            assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, channel, p));
        }
        test_engine_start(engine);
        voices_start(
            voices, &(voice){ .engine = engine, .channel = channel, .count = 20000, .stops = true },
            &seed);
        const uint64_t enough = test_random(&seed) % 2000;
        TEST_UNTIL(test_engine_counters(engine).delivered >= enough);
        const weir_stop_report report = test_engine_stop(engine);
        const voice sum = voices_join(voices);
        assert_int_equal(sum.delivered, report.handled);
        uint64_t heard = 0;
        for (size_t i = 0; i < EARS; i++) {
            assert_int_equal(0, ears[i].disorder);
            heard += ears[i].heard;
        }
        assert_int_equal(sum.delivered, heard);
        assert_int_equal(sum.refused, test_engine_counters(engine).undelivered);
        weir_engine_destroy(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_subscribers_hear_four_publishers_in_one_order),
        cmocka_unit_test(subscribers_come_and_go_under_load_and_nothing_is_lost),
        cmocka_unit_test(a_stop_meets_four_publishers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
