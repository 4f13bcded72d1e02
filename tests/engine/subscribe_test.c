/*
 * subscribe_test.c - changing who listens to what, at once and by request (S-30); processors that
 * end; and what a broadcast costs in memory (S-34).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "channel_support.h"
#include "fault_support.h"

static listener a, b;

static weir_engine *quiet(void)
{
    return test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
}

enum { FOUR = 4, MANY = 50 };

static void open_many(weir_engine *engine, weir_channel *out, size_t count)
{
    char name[32];
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(name, sizeof(name), "c%zu", i);
        out[i] = channel_open(engine, name);
    }
}

/* Its subscriptions are those, in order. */
static void assert_set(weir_engine *engine, weir_processor p, const weir_channel *expected,
                       size_t count)
{
    weir_channel items[MANY];
    weir_channel_set set = { items, MANY, 77 };
    assert_int_equal(WEIR_ALREADY, weir_channel_change(engine, p, WEIR_SUBSCRIBE, NULL, 0, &set));
    assert_int_equal(count, set.count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(expected[i].id, items[i].id);
    }
}

/* ---- at once ---- */

static void add_set_and_remove_answer_with_what_holds_after_them(void **state)
{
    (void)state;
    weir_channel x[FOUR];
    weir_channel items[FOUR];
    weir_channel_set set = { items, FOUR, 0 };
    weir_engine *engine = quiet();
    open_many(engine, x, FOUR);
    const weir_processor p = listener_add(engine, &a);
    assert_set(engine, p, NULL, 0);
    const weir_channel first[] = { x[2], x[0], x[2] };
    assert_int_equal(WEIR_OK, weir_channel_change(engine, p, WEIR_SUBSCRIBE, first, 3, &set));
    assert_int_equal(2, set.count);
    assert_int_equal(x[0].id, items[0].id);
    assert_int_equal(x[2].id, items[1].id);
    assert_int_equal(WEIR_ALREADY, weir_channel_change(engine, p, WEIR_SUBSCRIBE, first, 3, &set));
    assert_int_equal(2, set.count);
    const weir_channel second[] = { x[3], x[2], x[1] };
    assert_int_equal(WEIR_OK, weir_channel_change(engine, p, WEIR_SUBSCRIBE_SET, second, 3, &set));
    assert_set(engine, p, &x[1], 3);
    assert_int_equal(WEIR_ALREADY,
                     weir_channel_change(engine, p, WEIR_SUBSCRIBE_SET, second, 3, NULL));
    const weir_channel third[] = { x[2], x[0], x[2] };
    assert_int_equal(WEIR_OK, weir_channel_change(engine, p, WEIR_UNSUBSCRIBE, third, 3, &set));
    assert_int_equal(2, set.count);
    assert_int_equal(x[1].id, items[0].id);
    assert_int_equal(x[3].id, items[1].id);
    test_engine_start(engine);
    for (uint64_t i = 0; i < FOUR; i++) {
        say(engine, x[i], i, i % 2, 0);
    }
    assert_int_equal(WEIR_OK, weir_channel_change(engine, p, WEIR_SUBSCRIBE_SET, NULL, 0, &set));
    assert_int_equal(0, set.count);
    for (uint64_t i = 0; i < FOUR; i++) {
        say(engine, x[i], i, 0, 0);
    }
    (void)test_engine_end(engine);
}

static void a_set_says_how_many_there_are_although_fewer_fit(void **state)
{
    (void)state;
    weir_channel x[FOUR];
    weir_channel items[2] = { { 0 } };
    weir_channel_set set = { items, 1, 0 };
    weir_engine *engine = quiet();
    open_many(engine, x, FOUR);
    const weir_processor p = listener_add(engine, &a);
    assert_int_equal(WEIR_OK, weir_channel_change(engine, p, WEIR_SUBSCRIBE, x, FOUR, &set));
    assert_int_equal(FOUR, set.count);
    assert_int_equal(x[0].id, items[0].id);
    assert_int_equal(0, items[1].id);
    set.items = NULL;
    assert_int_equal(WEIR_OK, weir_channel_change(engine, p, WEIR_UNSUBSCRIBE, x, 1, &set));
    assert_int_equal(FOUR - 1, set.count);
    weir_engine_destroy(engine);
}

static void a_change_that_cannot_be_made_changes_nothing(void **state)
{
    (void)state;
    weir_channel x[FOUR];
    weir_channel_set set = { NULL, 0, 77 };
    weir_engine *engine = quiet();
    open_many(engine, x, FOUR);
    const weir_processor p = listener_add(engine, &a);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, x[1], p));
    const weir_channel bad[] = { x[0], { 12345 }, x[2] };
    for (int what = WEIR_SUBSCRIBE; what <= WEIR_UNSUBSCRIBE; what++) {
        assert_int_equal(WEIR_UNKNOWN,
                         weir_channel_change(engine, p, (weir_subscription)what, bad, 3, &set));
        assert_int_equal(WEIR_UNKNOWN,
                         weir_channel_request_change(engine, p, (weir_subscription)what, bad, 3));
        assert_set(engine, p, &x[1], 1);
    }
    assert_int_equal(WEIR_E_INVALID,
                     weir_channel_change(engine, p, (weir_subscription)0, x, 1, &set));
    assert_int_equal(WEIR_E_INVALID,
                     weir_channel_change(engine, p, (weir_subscription)4, x, 1, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_channel_change(engine, p, WEIR_SUBSCRIBE, NULL, 1, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_channel_change(NULL, p, WEIR_SUBSCRIBE, x, 1, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_channel_request_change(NULL, p, WEIR_SUBSCRIBE, x, 1));
    assert_int_equal(WEIR_E_INVALID,
                     weir_channel_request_change(engine, p, (weir_subscription)9, x, 1));
    assert_int_equal(WEIR_UNKNOWN, weir_channel_subscribe(engine, x[0], (weir_processor){ 0 }));
    assert_set(engine, p, &x[1], 1);
    weir_engine_destroy(engine);
}

/* A model of who is on what, against the engine's answers. */
enum { CROWD = 24, NAMES = 12 };
typedef struct crowd {
    weir_engine *engine;
    weir_channel channels[NAMES];
    weir_processor members[CROWD];
    bool on[CROWD][NAMES];
    uint64_t copies;
} crowd;

static void crowd_change(crowd *k, uint64_t *seed)
{
    const size_t who = test_random(seed) % CROWD;
    const weir_subscription what = (weir_subscription)(1 + test_random(seed) % 3);
    weir_channel list[4];
    bool named[NAMES] = { false };
    const size_t count = test_random(seed) % 5;
    for (size_t i = 0; i < count; i++) {
        const size_t which = test_random(seed) % NAMES;
        list[i] = k->channels[which];
        named[which] = true;
    }
    bool changed = false;
    for (size_t i = 0; i < NAMES; i++) {
        const bool before = k->on[who][i];
        const bool after = what == WEIR_SUBSCRIBE       ? before || named[i]
                           : what == WEIR_SUBSCRIBE_SET ? named[i]
                                                        : before && !named[i];
        changed = changed || before != after;
        k->on[who][i] = after;
    }
    assert_int_equal(changed ? WEIR_OK : WEIR_ALREADY,
                     weir_channel_change(k->engine, k->members[who], what, list, count, NULL));
}

static void crowd_check(crowd *k)
{
    for (size_t i = 0; i < NAMES; i++) {
        uint64_t listening = 0;
        for (size_t j = 0; j < CROWD; j++) {
            listening += k->on[j][i];
        }
        say(k->engine, k->channels[i], 1, listening, 0);
        k->copies += listening;
    }
}

static void who_leaves_disturbs_nobody_else(void **state)
{
    (void)state;
    static crowd k;
    uint64_t seed = test_seed();
    memset(&k, 0, sizeof(k));
    listener_init(&a);
    k.engine = quiet();
    open_many(k.engine, k.channels, NAMES);
    for (size_t i = 0; i < CROWD; i++) {
        k.members[i] =
            test_processor_add(k.engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                        .state_size = sizeof(test_recorder)));
    }
    test_engine_start(k.engine);
    for (uint64_t round = 0; round < test_load(3000, 500); round++) {
        crowd_change(&k, &seed);
        if (round % 10 == 0) { /* somebody ends, and somebody else comes, maybe into its slot */
            const size_t who = test_random(&seed) % CROWD;
            assert_int_equal(WEIR_OK,
                             weir_processor_stop(k.engine, k.members[who], TEST_PATIENCE, NULL));
            memset(k.on[who], 0, sizeof(k.on[who]));
            k.members[who] =
                test_processor_add(k.engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                            .state_size = sizeof(test_recorder)));
        }
        if (round % 7 == 0) {
            crowd_check(&k);
        }
    }
    const weir_stop_report report = test_engine_end(k.engine);
    assert_int_equal(k.copies, report.handled);
}

/* ---- by request ---- */

static void a_request_comes_in_order_with_the_mail_and_is_answered_by_one_event(void **state)
{
    (void)state;
    weir_channel x[FOUR];
    weir_engine *engine = quiet();
    open_many(engine, x, FOUR);
    const weir_processor p = listener_add(engine, &a);
    /* Before the start: what comes first is sure. */
    assert_int_equal(WEIR_OK, test_post(engine, p, 1));
    assert_int_equal(WEIR_OK, test_post(engine, p, 2));
    assert_int_equal(WEIR_OK, weir_channel_request_change(engine, p, WEIR_SUBSCRIBE, &x[1], 2));
    assert_int_equal(WEIR_OK, test_post(engine, p, 3));
    say(engine, x[1], 9, 0, 0); /* it has not come to its turn */
    test_engine_start(engine);
    TEST_UNTIL(heard(&a) == 3);
    assert_int_equal(1, atomic_load(&a.set_events));
    assert_int_equal(2, a.heard_before);
    assert_int_equal(2, a.set_count);
    assert_int_equal(x[1].id, a.set[0].id);
    assert_int_equal(x[2].id, a.set[1].id);
    say(engine, x[1], 4, 1, 0);
    const weir_channel list[] = { x[3], x[2] };
    assert_int_equal(WEIR_OK, weir_channel_request_change(engine, p, WEIR_SUBSCRIBE_SET, list, 2));
    TEST_UNTIL(atomic_load(&a.set_events) == 2);
    assert_int_equal(2, a.set_count);
    assert_int_equal(x[2].id, a.set[0].id);
    assert_int_equal(x[3].id, a.set[1].id);
    assert_int_equal(WEIR_OK, weir_channel_request_change(engine, p, WEIR_UNSUBSCRIBE, x, FOUR));
    TEST_UNTIL(atomic_load(&a.set_events) == 3);
    assert_int_equal(0, a.set_count);
    /* That it was so already is no reason to keep quiet. */
    assert_int_equal(WEIR_OK, weir_channel_request_change(engine, p, WEIR_SUBSCRIBE_SET, NULL, 0));
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(4, atomic_load(&a.set_events));
    assert_int_equal(4 + 4, report.handled); /* each request is one event */
    assert_int_equal(4 + 4, report.accepted);
}

static void a_request_for_many_channels_is_answered_with_all_of_them(void **state)
{
    (void)state;
    weir_channel x[MANY];
    weir_engine *engine = quiet();
    open_many(engine, x, MANY);
    const weir_processor p = listener_add(engine, &a);
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_channel_request_change(engine, p, WEIR_SUBSCRIBE, x, MANY));
    TEST_UNTIL(atomic_load(&a.set_events) == 1);
    assert_int_equal(MANY, a.set_count);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(x[i].id, a.set[i].id);
    }
    TEST_UNTIL(test_engine_counters(engine).block_bytes == 0);
    (void)test_engine_end(engine);
}

static weir_status keep_the_set(void *state, weir_turn *turn, const weir_event *event)
{
    weir_event *kept = state;
    return weir_event_as(event, &weir_subscribed_type) != NULL
               ? weir_event_keep(weir_turn_engine(turn), event, kept)
               : WEIR_UNHANDLED;
}

static void the_answer_can_be_kept_and_found_in_a_table(void **state)
{
    (void)state;
    static const weir_case rows[] = { { &weir_subscribed_type, keep_the_set } };
    weir_channel x[MANY];
    weir_event kept = { .type = NULL };
    weir_engine *engine = quiet();
    open_many(engine, x, MANY);
    const weir_processor p =
        test_processor_add(engine, WEIR_PROCESSOR(.cases = WEIR_CASES(rows), .argument = &kept));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_channel_request_change(engine, p, WEIR_SUBSCRIBE, x, MANY));
    (void)test_engine_stop(engine);
    assert_int_equal(MANY * sizeof(weir_channel), kept.size);
    assert_memory_equal(x, kept.data, kept.size);
    weir_event_release(&kept);
    weir_engine_destroy(engine);
}

typedef struct hooked {
    atomic_uint_least64_t seen;
    const char *type;
} hooked;

static weir_status not_mine(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_UNHANDLED;
}

static weir_status note_type(void *state, weir_turn *turn, const weir_event *event)
{
    hooked *h = state;
    (void)turn;
    h->type = event->type->name;
    atomic_fetch_add(&h->seen, 1);
    return WEIR_OK;
}

static void an_answer_that_nobody_handles_is_unhandled_like_any_event(void **state)
{
    (void)state;
    hooked h = { .type = NULL };
    weir_engine *engine = quiet();
    const weir_channel x = channel_open(engine, "x");
    const weir_processor plain =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = not_mine, .argument = &h));
    const weir_processor with_hook = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = not_mine, .argument = &h, .unhandled = note_type));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_channel_request_change(engine, plain, WEIR_SUBSCRIBE, &x, 1));
    assert_int_equal(WEIR_OK,
                     weir_channel_request_change(engine, with_hook, WEIR_SUBSCRIBE, &x, 1));
    const weir_stop_report report = test_engine_stop(engine);
    assert_int_equal(2, report.handled);
    assert_int_equal(1, test_engine_counters(engine).unhandled);
    assert_int_equal(1, atomic_load(&h.seen));
    assert_string_equal("weir.subscribed", h.type);
    weir_engine_destroy(engine);
}

static void a_draining_subscriber_is_told_what_still_holds(void **state)
{
    (void)state;
    sem_t gate;
    weir_channel x[FOUR];
    weir_engine *engine = quiet();
    open_many(engine, x, FOUR);
    assert_int_equal(0, sem_init(&gate, 0, 0));
    const weir_processor p = listener_add(engine, &a);
    a.gate = &gate;
    assert_int_equal(WEIR_OK, weir_channel_change(engine, p, WEIR_SUBSCRIBE, x, 2, NULL));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, p, 1));
    test_sem_wait(&a.entered);
    assert_int_equal(WEIR_OK, weir_channel_request_change(engine, p, WEIR_UNSUBSCRIBE, x, 1));
    assert_int_equal(WEIR_OK, weir_channel_request_change(engine, p, WEIR_SUBSCRIBE, &x[2], 2));
    assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, p, TEST_PATIENCE));
    assert_int_equal(WEIR_OK, sem_post(&gate));
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(3, report.handled);
    assert_int_equal(2, atomic_load(&a.set_events));
    assert_int_equal(1, a.set_count);
    assert_int_equal(x[1].id, a.set[0].id);
}

/* ---- memory ---- */

/* Counts what the engine asks for. */
typedef struct counting {
    atomic_uint_least64_t calls;
    weir_allocator allocator;
} counting;

static void *count_allocate(void *context, size_t size, size_t alignment)
{
    atomic_fetch_add(&((counting *)context)->calls, 1);
    void *memory = NULL;
    return posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, size) ==
                   0
               ? memory
               : NULL;
}

static void count_release(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

typedef struct large {
    uint64_t values[32];
} large;
WEIR_EVENT_TYPE(large, "test.large");

typedef struct reader {
    const void *data;
    const weir_block *block;
    uint64_t seen;
} reader;

static weir_status read_large(void *state, weir_turn *turn, const weir_event *event)
{
    reader *r = state;
    (void)turn;
    const large *l = weir_event_as(event, &large_type);
    r->data = event->data;
    r->block = event->block;
    r->seen += l != NULL && l->values[31] == 31 ? 1 : 0;
    return WEIR_OK;
}

enum { THOUSAND = 1000 };

static void a_broadcast_allocates_once_whatever_the_number_of_subscribers(void **state)
{
    (void)state;
    static reader readers[THOUSAND];
    counting memory = { .allocator = { count_allocate, count_release, NULL } };
    memory.allocator.context = &memory;
    memset(readers, 0, sizeof(readers));
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.allocator = &memory.allocator));
    const weir_thread loop = test_thread_add(engine, WEIR_THREAD(.external = true));
    const weir_channel x = channel_open(engine, "x");
    for (size_t i = 0; i < THOUSAND; i++) {
        const weir_processor p = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = read_large, .argument = &readers[i]));
        assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, x, p));
    }
    test_engine_start(engine);
    large l = { .values = { 0 } };
    l.values[31] = 31;
    uint64_t before = 0;
    for (uint64_t round = 0; round < 4; round++) {
        weir_delivery d;
        if (round == 3) { /* pools and caches are full */
            before = atomic_load(&memory.calls);
        }
        assert_int_equal(
            WEIR_OK, weir_engine_broadcast(
                         engine, x,
                         &(weir_event){ .type = &large_type, .data = &l, .size = sizeof(l) }, &d));
        assert_int_equal(THOUSAND, d.delivered);
        /* One block: 128 for its header, 256 for the payload, a size of the pools: 512. */
        assert_int_equal(512, test_engine_counters(engine).block_bytes);
        TEST_UNTIL(weir_thread_run_once(engine, loop, 0) == 0);
        assert_int_equal(0, test_engine_counters(engine).block_bytes);
    }
    assert_int_equal(before, atomic_load(&memory.calls));
    for (size_t i = 0; i < THOUSAND; i++) {
        assert_int_equal(4, readers[i].seen);
        assert_ptr_equal(readers[0].data, readers[i].data);
        assert_ptr_equal(readers[0].block, readers[i].block);
    }
    assert_int_equal(512, test_engine_counters(engine).block_bytes_high);
    test_external_end(engine, loop);
}

/* Something that must be given back once, whose giving back broadcasts in turn. */
typedef struct owning {
    weir_engine *engine;
    weir_channel told;
    atomic_uint_least64_t *drops;
} owning;

static void drop_owning(void *payload)
{
    const owning *o = payload;
    atomic_fetch_add(o->drops, 1);
    (void)!weir_engine_broadcast(o->engine, o->told, WEIR_EVENT(number, 1), NULL);
}
static const weir_event_type owning_type = {
    sizeof(weir_event_type), "test.owning", sizeof(owning), false, drop_owning, NULL
};

static void broadcast_owning(weir_engine *engine, weir_channel channel, const owning *o,
                             uint64_t delivered)
{
    weir_block *block = NULL;
    weir_delivery d;
    assert_int_equal(WEIR_OK, weir_block_reserve(engine, sizeof(*o), &block));
    memcpy(weir_block_data(block), o, sizeof(*o));
    assert_int_equal(WEIR_OK, weir_engine_broadcast(engine, channel,
                                                    &(weir_event){ .type = &owning_type,
                                                                   .data = weir_block_data(block),
                                                                   .block = block,
                                                                   .size = sizeof(*o) },
                                                    &d));
    assert_int_equal(delivered, d.delivered);
    weir_block_release(block);
}

/* Its only reader has no room but for one: each drives out the one before, whose hook broadcasts on
 * the very channel. */
static void a_payload_is_dropped_once_after_its_last_reader_and_with_no_lock_held(void **state)
{
    (void)state;
    atomic_uint_least64_t drops = 0;
    weir_engine *engine = quiet();
    const weir_channel x = channel_open(engine, "x");
    const weir_channel y = channel_open(engine, "y");
    const weir_processor one =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = not_mine, .mailbox_max = 1,
                                                  .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    const weir_processor two =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = not_mine, .mailbox_max = 1,
                                                  .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    const weir_processor three = listener_add(engine, &b);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, x, one));
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, x, two));
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, y, three));
    const owning o = { engine, y, &drops };
    broadcast_owning(engine, x, &o, 2);
    assert_int_equal(0, atomic_load(&drops));
    for (uint64_t i = 1; i <= 5; i++) {
        broadcast_owning(engine, x, &o, 2);
        assert_int_equal(i, atomic_load(&drops));
    }
    /* To whom it may concern: nobody. */
    const owning alone = { engine, y, &drops };
    broadcast_owning(engine, channel_open(engine, "silent"), &alone, 0);
    assert_int_equal(6, atomic_load(&drops));
    const owning same = { engine, x, &drops };
    broadcast_owning(engine, x, &same, 2); /* the sixth of the first kind goes */
    broadcast_owning(engine, x, &o, 2);    /* its hook broadcasts on x, and drives this one out */
    test_engine_start(engine);
    (void)test_engine_stop(engine);
    assert_int_equal(9, atomic_load(&drops));
    assert_int_equal(0, test_engine_counters(engine).block_bytes);
    weir_engine_destroy(engine);
}

static void a_payload_of_which_there_is_no_room_reaches_nobody(void **state)
{
    (void)state;
    weir_engine *engine =
        test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .block_bytes_max = 256));
    const weir_channel x = channel_open(engine, "x");
    const weir_processor p = listener_add(engine, &a);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, x, p));
    const large l = { .values = { 0 } };
    weir_delivery d = { 7, 7 };
    assert_int_equal(
        WEIR_E_NOMEM,
        weir_engine_broadcast(
            engine, x, &(weir_event){ .type = &large_type, .data = &l, .size = sizeof(l) }, &d));
    assert_int_equal(0, d.delivered + d.refused);
    const weir_counters counters = test_engine_counters(engine);
    assert_int_equal(1, counters.refused_other);
    assert_int_equal(0, counters.broadcasts);
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_set_and_remove_answer_with_what_holds_after_them),
        cmocka_unit_test(a_set_says_how_many_there_are_although_fewer_fit),
        cmocka_unit_test(a_change_that_cannot_be_made_changes_nothing),
        cmocka_unit_test(who_leaves_disturbs_nobody_else),
        cmocka_unit_test(a_request_comes_in_order_with_the_mail_and_is_answered_by_one_event),
        cmocka_unit_test(a_request_for_many_channels_is_answered_with_all_of_them),
        cmocka_unit_test(the_answer_can_be_kept_and_found_in_a_table),
        cmocka_unit_test(an_answer_that_nobody_handles_is_unhandled_like_any_event),
        cmocka_unit_test(a_draining_subscriber_is_told_what_still_holds),
        cmocka_unit_test(a_broadcast_allocates_once_whatever_the_number_of_subscribers),
        cmocka_unit_test(a_payload_is_dropped_once_after_its_last_reader_and_with_no_lock_held),
        cmocka_unit_test(a_payload_of_which_there_is_no_room_reaches_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
