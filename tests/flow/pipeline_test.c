/*
 * pipeline_test.c - the order of a flow from end to end: through a router, what stands behind it,
 * and a sink that keeps its own book of every key and producer.
 *
 * Four producers share all keys. Each numbers its events of a key 1, 2, 3 ...; the sink expects
 * exactly that, and every stage that has the flow's state expects numbers that grow. Handlers take
 * random times, keys are finished and opened again on the way, and the first stage is small, so
 * that producers wait and flows go beyond their worker's bound.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/option_support.h"

enum { PRODUCERS = 4, KEYS = 2000, MIDDLES = 3, FINISH_ONE_IN = 64 };

typedef struct step {
    uint32_t producer;
    uint32_t key;
    uint64_t number; /* of this producer's for this key, from 1 on */
} step;
WEIR_EVENT_TYPE(step, "test.step");

/* What stands between the first router and the sink. */
typedef enum middle {
    PROCESSORS,
    ROUTER,
    TARGETS,
    ROUTER_OF_TARGETS,
    PROCESSORS_AND_ROUTER /* one behind the other */
} middle;

typedef struct shape {
    middle middle;
    weir_flow_keys keys, second_keys;
    bool migrate;
} shape;

/* Written before the start. */
static struct {
    shape shape;
    uint64_t seed;
    weir_router first, second;
    weir_processor middles[MIDDLES], sink;
} line;

/* The sink's book, and what stages found: plain, by promise P-1; of flows by that of flow.h. */
static struct {
    uint64_t last[PRODUCERS][KEYS];
    uint64_t seen, disorder, strange;
} book;
static atomic_uint_least64_t stage_disorder, stage_strange, begun, ended;

/* ---- keys ---- */

static size_t name_of(uint32_t key, char out[32])
{
    return (size_t)snprintf(out, 32, "customer %u", key);
}

/* What event->flow has to be, everywhere behind the first router. */
static uint64_t flow_of(uint32_t key)
{
    char name[32];
    const size_t size = name_of(key, name);
    return line.shape.keys == WEIR_FLOW_KEYS_BYTES ? weir_flow_hash(name, size) : (uint64_t)key + 1;
}

/* ---- stages ---- */

/* None, some, or the core for somebody else: drawn from the event, so that a seed repeats it. */
static void take_time(const step *s, uint64_t stage)
{
    uint64_t random =
        line.seed ^ stage ^ (uint64_t)s->producer << 8 ^ (uint64_t)s->key << 16 ^ s->number << 40;
    const uint64_t draw = test_random(&random) % 256;
    if (draw == 0) {
        (void)sched_yield();
    } else if (draw < 32) {
        const weir_ns end = test_now() + (weir_ns)(draw * 100);
        while (test_now() < end) {
        }
    }
}

typedef struct flow_state {
    uint64_t last[PRODUCERS];
} flow_state;

static weir_status begin_flow(void *state, weir_turn *turn, void *argument)
{
    const flow_state *flow = state;
    (void)turn;
    (void)argument;
    atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
    for (size_t i = 0; i < PRODUCERS; i++) {
        if (flow->last[i] != 0) {
            atomic_fetch_add_explicit(&stage_strange, 1, memory_order_relaxed);
        }
    }
    return WEIR_OK;
}

static void end_flow(void *state, weir_flow_end reason)
{
    (void)state;
    if (reason != WEIR_FLOW_FINISHED && reason != WEIR_FLOW_STOPPED) {
        atomic_fetch_add_explicit(&stage_strange, 1, memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed);
}

/* In a flow's handler: its numbers grow, and the key is that of the event. */
static void check_flow(flow_state *flow, weir_turn *turn, const weir_event *event,
                       weir_flow_keys keys)
{
    const step *s = event->data;
    char name[32];
    size_t size = 0;
    if (flow == NULL) { /* it has come without its flow */
        atomic_fetch_add_explicit(&stage_strange, 1, memory_order_relaxed);
        return;
    }
    const void *bytes = weir_turn_flow_key(turn, &size);
    const bool is_its_key =
        keys == WEIR_FLOW_KEYS_BYTES
            ? bytes != NULL && size == name_of(s->key, name) && memcmp(bytes, name, size) == 0
            : bytes == NULL;
    if (!is_its_key || event->flow != flow_of(s->key)) {
        atomic_fetch_add_explicit(&stage_strange, 1, memory_order_relaxed);
    }
    if (s->number <= flow->last[s->producer]) {
        atomic_fetch_add_explicit(&stage_disorder, 1, memory_order_relaxed);
    }
    flow->last[s->producer] = s->number;
}

static weir_status in_first(void *state, weir_turn *turn, const weir_event *event)
{
    check_flow(state, turn, event, line.shape.keys);
    take_time(event->data, 1);
    return line.shape.middle == PROCESSORS || line.shape.middle == PROCESSORS_AND_ROUTER
               ? weir_turn_post(turn, line.middles[event->flow % MIDDLES], event)
               : weir_turn_submit(turn, line.second, 0, event);
}

static weir_status in_second(void *state, weir_turn *turn, const weir_event *event)
{
    check_flow(state, turn, event, line.shape.second_keys);
    take_time(event->data, 2);
    return weir_turn_post(turn, line.sink, event);
}

static weir_status in_middle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    take_time(event->data, 3);
    return line.shape.middle == PROCESSORS_AND_ROUTER
               ? weir_turn_submit(turn, line.second, 0, event)
               : weir_turn_post(turn, line.sink, event);
}

static weir_status in_sink(void *state, weir_turn *turn, const weir_event *event)
{
    const step *s = event->data;
    (void)state;
    (void)turn;
    uint64_t *last = &book.last[s->producer][s->key];
    book.seen++;
    book.disorder += s->number != *last + 1 ? 1 : 0;
    book.strange += event->flow != flow_of(s->key) ? 1 : 0;
    *last = s->number;
    return WEIR_OK;
}

/* ---- producers ---- */

typedef struct producer {
    weir_engine *engine;
    uint32_t number;
    uint64_t count, seed, wrong;
    uint64_t sent[KEYS];
    pthread_t thread;
} producer;

static void *produce(void *argument)
{
    producer *p = argument;
    for (uint64_t i = 0; i < p->count; i++) {
        /* Half of all go to eight keys: those have something waiting all the time. */
        const uint64_t draw = test_random(&p->seed);
        const uint32_t key = (uint32_t)((draw >> 32) % ((draw & 1) != 0 ? 8 : KEYS));
        const step s = { p->number, key, ++p->sent[key] };
        const bool last = test_random(&p->seed) % FINISH_ONE_IN == 0;
        const weir_event event = {
            .type = &step_type, .data = &s, .size = sizeof(s), .flags = last ? WEIR_EVENT_FINISH : 0
        };
        char name[32];
        const size_t size = name_of(key, name);
        const weir_status status =
            line.shape.keys == WEIR_FLOW_KEYS_BYTES
                ? weir_router_submit_bytes(p->engine, line.first, name, size, &event)
                : weir_router_submit(p->engine, line.first, (uint64_t)key + 1, &event);
        p->wrong += status != WEIR_OK ? 1 : 0;
    }
    return NULL;
}

/* ---- the line ---- */

static weir_router add_router(weir_engine *engine, const weir_router_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_router router = weir_router_add(engine, options, &error);
    test_error_none(&error);
    assert_true(router.id != 0);
    return router;
}

static weir_router add_targeted(weir_engine *engine, const char *name, weir_flow_keys keys)
{
    return add_router(engine,
                      WEIR_ROUTER(.name = name, .targets = line.middles, .target_count = MIDDLES,
                                  .keys = keys, .migrate = line.shape.migrate));
}

/* A handler never waits, so what stands behind one takes all that there is; the first stage is
 * small. */
static void add_stages(weir_engine *engine)
{
    const bool first_is_targets = line.shape.middle == TARGETS;
    line.sink = test_processor_add(engine, WEIR_PROCESSOR(.handler = in_sink));
    for (size_t i = 0; i < MIDDLES; i++) {
        line.middles[i] = test_processor_add(
            engine,
            WEIR_PROCESSOR(.handler = in_middle, .mailbox_max = first_is_targets ? 50 : 1000000,
                           .overflow = WEIR_OVERFLOW_BLOCK, .block_max = TEST_PATIENCE));
    }
    if (first_is_targets) {
        line.first = add_targeted(engine, "first", line.shape.keys);
        return;
    }
    line.first = add_router(
        engine, WEIR_ROUTER(.name = "first", .handler = in_first, .state_size = sizeof(flow_state),
                            .init = begin_flow, .destroy = end_flow, .workers = 3, .worker_max = 50,
                            .ingress_max = 200, .block_max = TEST_PATIENCE, .keys = line.shape.keys,
                            .migrate = line.shape.migrate));
    if (line.shape.middle == ROUTER_OF_TARGETS) {
        line.second = add_targeted(engine, "second", line.shape.second_keys);
    } else if (line.shape.middle == ROUTER || line.shape.middle == PROCESSORS_AND_ROUTER) {
        line.second = add_router(
            engine,
            WEIR_ROUTER(.name = "second", .handler = in_second, .state_size = sizeof(flow_state),
                        .init = begin_flow, .destroy = end_flow, .workers = 3, .worker_max = 900000,
                        .keys = line.shape.second_keys, .migrate = line.shape.migrate));
    }
}

static void check_book(const producer *producers, uint64_t count)
{
    assert_int_equal(count, book.seen);
    assert_int_equal(0, book.disorder);
    assert_int_equal(0, book.strange);
    assert_int_equal(0, atomic_load(&stage_disorder));
    assert_int_equal(0, atomic_load(&stage_strange));
    assert_int_equal(atomic_load(&begun), atomic_load(&ended));
    for (size_t i = 0; i < PRODUCERS; i++) {
        assert_int_equal(0, producers[i].wrong);
        assert_memory_equal(producers[i].sent, book.last[i], sizeof(book.last[i]));
    }
}

static void check_shape(shape like)
{
    static producer producers[PRODUCERS];
    const uint64_t each = test_load(15000, 3000);
    uint64_t seed = test_seed();
    memset(&line, 0, sizeof(line));
    memset(&book, 0, sizeof(book));
    atomic_store(&stage_disorder, 0);
    atomic_store(&stage_strange, 0);
    atomic_store(&begun, 0);
    atomic_store(&ended, 0);
    line.shape = like;
    line.seed = test_random(&seed);
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 4, .mailbox_max = 1000000));
    add_stages(engine);
    test_engine_start(engine);
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        producers[i] =
            (producer){ .engine = engine, .number = i, .count = each, .seed = test_random(&seed) };
        assert_int_equal(0, pthread_create(&producers[i].thread, NULL, produce, &producers[i]));
    }
    for (size_t i = 0; i < PRODUCERS; i++) {
        assert_int_equal(0, pthread_join(producers[i].thread, NULL));
    }
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(0, report.dead);
    assert_int_equal(0, report.dropped);
    check_book(producers, PRODUCERS * each);
}

static void order_is_kept_over_processors_chosen_by_flow(void **state)
{
    (void)state;
    check_shape((shape){ .middle = PROCESSORS });
    check_shape((shape){ .middle = PROCESSORS, .keys = WEIR_FLOW_KEYS_BYTES, .migrate = true });
}

static void order_is_kept_over_a_second_router(void **state)
{
    (void)state;
    check_shape((shape){ .middle = ROUTER });
    check_shape((shape){ .middle = ROUTER, .migrate = true });
}

static void order_is_kept_over_a_second_router_by_the_bytes_of_the_key(void **state)
{
    (void)state;
    check_shape((shape){
        .middle = ROUTER, .keys = WEIR_FLOW_KEYS_BYTES, .second_keys = WEIR_FLOW_KEYS_BYTES });
}

static void a_second_router_with_numbers_takes_the_hash_of_the_bytes(void **state)
{
    (void)state;
    check_shape((shape){ .middle = ROUTER, .keys = WEIR_FLOW_KEYS_BYTES, .migrate = true });
}

static void order_is_kept_over_processors_that_submit_to_a_router(void **state)
{
    (void)state;
    check_shape((shape){ .middle = PROCESSORS_AND_ROUTER, .migrate = true });
    check_shape((shape){ .middle = PROCESSORS_AND_ROUTER, .keys = WEIR_FLOW_KEYS_BYTES });
}

static void order_is_kept_over_targets(void **state)
{
    (void)state;
    check_shape((shape){ .middle = TARGETS });
    check_shape((shape){ .middle = TARGETS, .keys = WEIR_FLOW_KEYS_BYTES });
}

static void order_is_kept_over_targets_when_flows_move_between_them(void **state)
{
    (void)state;
    check_shape((shape){ .middle = TARGETS, .migrate = true });
}

static void order_is_kept_over_a_second_router_of_targets(void **state)
{
    (void)state;
    check_shape((shape){ .middle = ROUTER_OF_TARGETS });
    check_shape((shape){ .middle = ROUTER_OF_TARGETS,
                         .keys = WEIR_FLOW_KEYS_BYTES,
                         .second_keys = WEIR_FLOW_KEYS_BYTES });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_kept_over_processors_chosen_by_flow),
        cmocka_unit_test(order_is_kept_over_a_second_router),
        cmocka_unit_test(order_is_kept_over_a_second_router_by_the_bytes_of_the_key),
        cmocka_unit_test(a_second_router_with_numbers_takes_the_hash_of_the_bytes),
        cmocka_unit_test(order_is_kept_over_processors_that_submit_to_a_router),
        cmocka_unit_test(order_is_kept_over_targets),
        cmocka_unit_test(order_is_kept_over_targets_when_flows_move_between_them),
        cmocka_unit_test(order_is_kept_over_a_second_router_of_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
