/*
 * bytes_test.c - keys that are bytes: kept and compared, so that no two ever share a state; what a
 * handler sees of them; and how they travel from router to router.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_support.h"

enum { LONGEST = 65535 };

/* An event knows which key it was submitted under. */
typedef struct letter {
    const unsigned char *key;
    uint64_t size;
    uint64_t value;
} letter;
WEIR_EVENT_TYPE(letter, "test.letter");

typedef struct post_office {
    weir_engine *engine;
    weir_router router;
    weir_router forward; /* zero: none */
    uint64_t forward_flow;
    atomic_uint_least64_t handled, forwarded, odd;
    atomic_uint_least64_t lives;
    _Atomic uint64_t last_flow, last_value;
    _Atomic weir_status last_forward;
} post_office;

typedef struct mailbag {
    const unsigned char *key; /* of the first letter */
    uint64_t size;
    uint64_t letters;
} mailbag;

static post_office office;

static weir_status bag_init(void *state, weir_turn *turn, void *argument)
{
    size_t size = 0;
    (void)state;
    (void)argument;
    /* The key is there already. */
    atomic_fetch_add(&office.odd, weir_turn_flow_key(turn, &size) == NULL || size == 0);
    atomic_fetch_add(&office.lives, 1);
    return WEIR_OK;
}

static weir_status sort_letter(void *state, weir_turn *turn, const weir_event *event)
{
    mailbag *bag = state;
    size_t size = 1;
    const letter *l = weir_event_as(event, &letter_type);
    const unsigned char *key = weir_turn_flow_key(turn, &size);
    if (event->flow == 0) {
        atomic_fetch_add(&office.odd, key != NULL || size != 0 || l->size != 0);
    } else {
        const bool same = key != NULL && size == l->size && memcmp(key, l->key, size) == 0;
        atomic_fetch_add(&office.odd, !same || event->flow != weir_flow_hash(l->key, l->size));
        if (bag->letters++ == 0) {
            bag->key = l->key;
            bag->size = l->size;
        }
        /* A state is never seen by two keys. */
        atomic_fetch_add(&office.odd,
                         bag->size != l->size || memcmp(bag->key, l->key, l->size) != 0);
        atomic_fetch_add(&office.odd, weir_turn_flow_key(turn, NULL) != key);
    }
    if (office.forward.id != 0) {
        const weir_event on = { .type = event->type, .data = event->data, .size = event->size };
        atomic_store(&office.last_forward,
                     weir_turn_submit(turn, office.forward, office.forward_flow, &on));
    }
    atomic_store(&office.last_flow, event->flow);
    atomic_store(&office.last_value, l->value);
    atomic_fetch_add(&office.handled, 1);
    return WEIR_OK;
}

/* Of the second router. */
static weir_status take_letter(void *state, weir_turn *turn, const weir_event *event)
{
    size_t size = 0;
    (void)state;
    const letter *l = weir_event_as(event, &letter_type);
    const void *key = weir_turn_flow_key(turn, &size);
    if (key != NULL) {
        atomic_fetch_add(&office.odd, size != l->size || memcmp(key, l->key, size) != 0);
    }
    atomic_fetch_add(&office.odd, event->flow != weir_flow_hash(l->key, l->size));
    atomic_fetch_add(&office.forwarded, 1);
    return WEIR_OK;
}

static void office_open(uint32_t workers)
{
    memset(&office, 0, sizeof(office));
    office.engine = test_engine_create(WEIR_ENGINE(.threads = workers, .log_level = WEIR_LOG_OFF));
    office.router = flow_router_add(office.engine,
                                    WEIR_ROUTER(.name = "office", .handler = sort_letter,
                                                .state_size = sizeof(mailbag), .init = bag_init,
                                                .workers = workers, .keys = WEIR_FLOW_KEYS_BYTES));
}

static weir_status send_letter(const void *key, size_t size, uint64_t value)
{
    return weir_router_submit_bytes(office.engine, office.router, key, size,
                                    WEIR_EVENT(letter, key, size, value));
}

static weir_router_counters office_close(uint64_t expected)
{
    TEST_UNTIL(atomic_load(&office.handled) >= expected);
    (void)test_engine_stop(office.engine);
    assert_int_equal(expected, atomic_load(&office.handled));
    assert_int_equal(0, atomic_load(&office.odd));
    const weir_router_counters c = router_counters(office.engine, office.router);
    assert_router_adds_up(&c);
    weir_engine_destroy(office.engine);
    return c;
}

static void keys_are_compared_by_all_their_bytes(void **state)
{
    (void)state;
    enum { KEYS = 3000, ROUNDS = 4, PREFIX = 200 };
    static unsigned char keys[KEYS][PREFIX + 8];
    office_open(4);
    test_engine_start(office.engine);
    for (uint32_t i = 0; i < KEYS; i++) {
        memset(keys[i], 'x', sizeof(keys[i]));
        memcpy(&keys[i][PREFIX], &i, sizeof(i));
    }
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < KEYS; i++) {
            assert_int_equal(WEIR_OK, send_letter(keys[i], sizeof(keys[i]), round));
        }
    }
    TEST_UNTIL(atomic_load(&office.handled) == KEYS * ROUNDS);
    assert_int_equal(KEYS, atomic_load(&office.lives));
    assert_int_equal(KEYS, router_counters(office.engine, office.router).flows);
    assert_int_equal(KEYS, office_close(KEYS * ROUNDS).flows_made);
}

static void keys_of_one_beginning_and_different_lengths_are_different_keys(void **state)
{
    (void)state;
    enum { LENGTHS = 300 };
    static const unsigned char zeros[LENGTHS]; /* a zero byte is one like the others */
    office_open(2);
    test_engine_start(office.engine);
    for (size_t size = 1; size <= LENGTHS; size++) {
        assert_int_equal(WEIR_OK, send_letter(zeros, size, size));
        assert_int_equal(WEIR_OK, send_letter(zeros, size, size));
    }
    assert_int_equal(LENGTHS, office_close(2 * LENGTHS).flows_made);
}

static void a_key_has_1_to_65535_bytes(void **state)
{
    (void)state;
    static unsigned char longest[LONGEST + 1];
    static unsigned char other[LONGEST];
    weir_flow_counters figures = WEIR_FLOW_COUNTERS_INIT;
    memset(longest, 'l', sizeof(longest));
    memcpy(other, longest, sizeof(other));
    other[LONGEST - 1] = 'o';
    office_open(1);
    test_engine_start(office.engine);
    assert_int_equal(WEIR_OK, send_letter(longest, LONGEST, 1));
    assert_int_equal(WEIR_OK, send_letter(other, LONGEST, 2));
    assert_int_equal(WEIR_OK, send_letter(longest, 1, 3));
    assert_int_equal(WEIR_E_INVALID, send_letter(longest, LONGEST + 1, 4));
    assert_int_equal(WEIR_E_INVALID, send_letter(longest, SIZE_MAX, 4));
    assert_int_equal(WEIR_E_INVALID, send_letter(NULL, 1, 5));
    assert_int_equal(WEIR_E_INVALID,
                     weir_router_finish_bytes(office.engine, office.router, longest, LONGEST + 1));
    assert_int_equal(WEIR_E_INVALID,
                     weir_router_finish_bytes(office.engine, office.router, NULL, 3));
    assert_int_equal(WEIR_E_INVALID,
                     weir_flow_counters_get_bytes(office.engine, office.router, NULL, 3, &figures));
    TEST_UNTIL(atomic_load(&office.handled) == 3);
    assert_int_equal(WEIR_OK, weir_flow_counters_get_bytes(office.engine, office.router, longest,
                                                           LONGEST, &figures));
    assert_int_equal(1, figures.handled);
    assert_int_equal(WEIR_OK,
                     weir_router_finish_bytes(office.engine, office.router, longest, LONGEST));
    TEST_UNTIL(weir_flow_counters_get_bytes(office.engine, office.router, longest, LONGEST,
                                            &figures) == WEIR_UNKNOWN);
    assert_int_equal(WEIR_UNKNOWN,
                     weir_router_finish_bytes(office.engine, office.router, longest, LONGEST));
    assert_int_equal(3, office_close(3).flows_made);
}

static void size_0_is_no_flow(void **state)
{
    (void)state;
    office_open(1);
    test_engine_start(office.engine);
    assert_int_equal(WEIR_OK, send_letter("", 0, 1));
    assert_int_equal(WEIR_OK, send_letter(NULL, 0, 2));
    assert_int_equal(0, office_close(2).flows_made);
}

static void the_key_is_copied_before_the_call_returns(void **state)
{
    (void)state;
    enum { TIMES = 500 };
    static unsigned char keys[TIMES][12];
    unsigned char buffer[12];
    office_open(2);
    for (uint32_t i = 0; i < TIMES; i++) { /* nothing is handled yet: all keys wait */
        (void)snprintf((char *)keys[i], sizeof(keys[i]), "key %07u", i);
        memcpy(buffer, keys[i], sizeof(buffer));
        assert_int_equal(
            WEIR_OK, weir_router_submit_bytes(office.engine, office.router, buffer, sizeof(buffer),
                                              WEIR_EVENT(letter, keys[i], sizeof(buffer), i)));
        memset(buffer, '?', sizeof(buffer));
    }
    test_engine_start(office.engine);
    assert_int_equal(TIMES, office_close(TIMES).flows_made);
}

static void numbers_are_for_one_kind_of_router_and_bytes_for_the_other(void **state)
{
    (void)state;
    weir_flow_counters figures = WEIR_FLOW_COUNTERS_INIT;
    const uint64_t flow = 5;
    const weir_event *event = WEIR_EVENT(letter, NULL, 0, 1);
    weir_status status = WEIR_OK;
    office_open(1);
    const weir_router numbers = flow_router_add(
        office.engine, WEIR_ROUTER(.name = "numbers", .handler = take_letter, .workers = 1));
    test_engine_start(office.engine);
    assert_int_equal(WEIR_E_INVALID, weir_router_submit(office.engine, office.router, 5, event));
    assert_int_equal(WEIR_E_INVALID, weir_router_finish(office.engine, office.router, 5));
    assert_int_equal(
        0, weir_router_submit_batch(office.engine, office.router, &flow, &event, 1, &status));
    assert_int_equal(WEIR_E_INVALID, status);
    assert_int_equal(WEIR_E_INVALID,
                     weir_router_submit_bytes(office.engine, numbers, "a", 1, event));
    assert_int_equal(WEIR_E_INVALID, weir_router_finish_bytes(office.engine, numbers, "a", 1));
    assert_true(weir_flow_counters_get_bytes(office.engine, numbers, "a", 1, &figures) != WEIR_OK);
    assert_int_equal(0, router_counters(office.engine, numbers).submitted);
    (void)office_close(0);
}

static void the_hash_is_one_for_the_process_and_never_0(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    unsigned char key[64];
    for (int i = 0; i < 2000; i++) {
        const size_t size = 1 + test_random(&random) % sizeof(key);
        for (size_t k = 0; k < size; k++) {
            key[k] = (unsigned char)test_random(&random);
        }
        const uint64_t hash = weir_flow_hash(key, size);
        assert_true(hash != 0);
        assert_int_equal(hash, weir_flow_hash(key, size));
        key[size - 1] ^= 1;
        assert_true(hash != weir_flow_hash(key, size));
    }
    assert_true(weir_flow_hash(NULL, 0) != 0);
}

static void a_batch_goes_to_the_key_of_each_event(void **state)
{
    (void)state;
    enum { COUNT = 100 };
    static unsigned char texts[COUNT][8];
    const void *keys[COUNT];
    size_t sizes[COUNT];
    letter letters[COUNT];
    weir_event events[COUNT];
    const weir_event *pointers[COUNT];
    weir_status statuses[COUNT];
    office_open(2);
    for (uint32_t i = 0; i < COUNT; i++) {
        (void)snprintf((char *)texts[i], sizeof(texts[i]), "k%u", i % 20);
        keys[i] = texts[i];
        sizes[i] = i == 50 ? 0 : strlen((char *)texts[i]); /* that one has no flow */
        letters[i] = (letter){ texts[i], sizes[i], i };
        events[i] =
            (weir_event){ .type = &letter_type, .data = &letters[i], .size = sizeof(letter) };
        pointers[i] = &events[i];
    }
    sizes[70] = LONGEST + 1;
    assert_int_equal(COUNT - 1, weir_router_submit_batch_bytes(office.engine, office.router, keys,
                                                               sizes, pointers, COUNT, statuses));
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(i == 70 ? WEIR_E_INVALID : WEIR_OK, statuses[i]);
    }
    assert_int_equal(0, weir_router_submit_batch_bytes(office.engine, office.router, NULL, sizes,
                                                       pointers, 1, statuses));
    assert_int_equal(WEIR_E_INVALID, statuses[0]);
    test_engine_start(office.engine);
    assert_int_equal(20, office_close(COUNT - 1).flows_made);
}

/* ---- on from a handler ---- */

static void flow_0_is_the_flow_at_hand_in_another_router_of_bytes(void **state)
{
    (void)state;
    office_open(2);
    office.forward =
        flow_router_add(office.engine, WEIR_ROUTER(.name = "second", .handler = take_letter,
                                                   .workers = 2, .keys = WEIR_FLOW_KEYS_BYTES));
    test_engine_start(office.engine);
    assert_int_equal(WEIR_OK, send_letter("ada", 3, 1));
    assert_int_equal(WEIR_OK, send_letter("bob", 3, 2));
    assert_int_equal(WEIR_OK, send_letter("ada", 3, 3));
    TEST_UNTIL(atomic_load(&office.forwarded) == 3);
    weir_flow_counters figures = WEIR_FLOW_COUNTERS_INIT;
    assert_int_equal(
        WEIR_OK, weir_flow_counters_get_bytes(office.engine, office.forward, "ada", 3, &figures));
    assert_int_equal(2, figures.submitted);
    assert_int_equal(2, router_counters(office.engine, office.forward).flows);
    (void)office_close(3);
}

static void flow_0_is_its_number_in_a_router_of_numbers(void **state)
{
    (void)state;
    office_open(1);
    office.forward = flow_router_add(
        office.engine, WEIR_ROUTER(.name = "second", .handler = take_letter, .workers = 1));
    test_engine_start(office.engine);
    assert_int_equal(WEIR_OK, send_letter("ada", 3, 1));
    TEST_UNTIL(atomic_load(&office.forwarded) == 1);
    assert_int_equal(
        1, flow_counters(office.engine, office.forward, weir_flow_hash("ada", 3)).submitted);
    (void)office_close(1);
}

typedef struct again {
    weir_router router;
    uint64_t left;
    atomic_uint_least64_t handled, odd;
} again;

/* Submits to its own flow until it is enough. */
static weir_status once_more(void *state, weir_turn *turn, const weir_event *event)
{
    again *a = state;
    size_t size = 0;
    const void *key = weir_turn_flow_key(turn, &size);
    atomic_fetch_add(&a->odd, key == NULL || size != 4 || memcmp(key, "self", 4) != 0);
    if (a->left-- > 0) {
        const weir_event on = { .type = event->type, .data = event->data, .size = event->size };
        const weir_status status = a->left % 2 == 0
                                       ? weir_turn_submit(turn, a->router, 0, &on)
                                       : weir_turn_submit_bytes(turn, a->router, "self", 4, &on);
        atomic_fetch_add(&a->odd, status != WEIR_OK);
    }
    atomic_fetch_add(&a->handled, 1);
    return WEIR_OK;
}

static void flow_0_is_the_flow_at_hand_in_its_own_router_too(void **state)
{
    (void)state;
    again a = { .left = 100 };
    weir_engine *engine = test_engine_create(NULL);
    a.router =
        flow_router_add(engine, WEIR_ROUTER(.name = "again", .handler = once_more, .argument = &a,
                                            .workers = 2, .keys = WEIR_FLOW_KEYS_BYTES));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_router_submit_bytes(engine, a.router, "self", 4,
                                                       WEIR_EVENT(letter, NULL, 0, 0)));
    TEST_UNTIL(atomic_load(&a.handled) == 101);
    assert_int_equal(1, router_counters(engine, a.router).flows_made);
    (void)test_engine_end(engine);
    assert_int_equal(0, atomic_load(&a.odd));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_compared_by_all_their_bytes),
        cmocka_unit_test(keys_of_one_beginning_and_different_lengths_are_different_keys),
        cmocka_unit_test(a_key_has_1_to_65535_bytes),
        cmocka_unit_test(size_0_is_no_flow),
        cmocka_unit_test(the_key_is_copied_before_the_call_returns),
        cmocka_unit_test(numbers_are_for_one_kind_of_router_and_bytes_for_the_other),
        cmocka_unit_test(the_hash_is_one_for_the_process_and_never_0),
        cmocka_unit_test(a_batch_goes_to_the_key_of_each_event),
        cmocka_unit_test(flow_0_is_the_flow_at_hand_in_another_router_of_bytes),
        cmocka_unit_test(flow_0_is_its_number_in_a_router_of_numbers),
        cmocka_unit_test(flow_0_is_the_flow_at_hand_in_its_own_router_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
