/*
 * state_test.c - promise P-1 and P-2 seen from a processor's own state: plain memory, no lock, no
 * atomics; one turn writes it, the next reads it, on whatever thread that is.
 *
 * The test adds no synchronisation of its own between turns (completion is counted with release
 * only), so that a missing edge in the engine is a data race that TSan reports.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

enum { PROCESSORS = 12, WORDS = 32 };

/* Every turn checks what the one before left in all words, and rewrites them. */
typedef struct slate {
    goal *done;
    uint64_t next;
    uint64_t words[WORDS];
    pid_t last_thread;
    uint64_t moves; /* turns on another thread than the one before */
    uint64_t wrong;
} slate;

static weir_status read_then_write(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    slate *s = state;
    const mark *m = weir_event_as(event, &mark_type);
    s->wrong += m == NULL || m->number != s->next;
    for (size_t i = 0; i < WORDS; i++) {
        s->wrong += s->words[i] != s->next * (i + 1);
    }
    s->moves += s->last_thread != 0 && s->last_thread != test_tid();
    s->last_thread = test_tid();
    s->next++;
    for (size_t i = 0; i < WORDS; i++) {
        s->words[i] = s->next * (i + 1);
    }
    goal_add(s->done);
    return WEIR_OK;
}

static void plain_state_written_in_one_turn_is_read_in_the_next_on_another_thread(void **unused)
{
    (void)unused;
    const uint64_t each = test_scaled(20000, 4);
    static slate slates[PROCESSORS];
    static goal done;
    uint64_t moves = 0;
    for (int attempt = 0; attempt < 10 && moves < 100; attempt++) {
        weir_engine *engine = engine_make(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .batch_max = 2));
        engine_add_threads(engine, "", 4, WEIR_IDLE_DEFAULT, NULL);
        goal_init(&done, PROCESSORS * each);
        weir_processor targets[PROCESSORS];
        for (size_t i = 0; i < PROCESSORS; i++) {
            slates[i] = (slate){ .done = &done };
            targets[i] = engine_add(
                engine, WEIR_PROCESSOR(.handler = read_then_write, .argument = &slates[i]));
        }
        engine_start(engine);
        for (uint64_t n = 0; n < each; n++) {
            for (size_t i = 0; i < PROCESSORS; i++) {
                assert_int_equal(WEIR_OK,
                                 post_when_room(engine, targets[i], WEIR_EVENT(mark, .number = n)));
            }
        }
        assert_true(goal_wait(&done));
        engine_finish(engine, PROCESSORS * each);
        for (size_t i = 0; i < PROCESSORS; i++) {
            assert_int_equal(0, slates[i].wrong);
            assert_int_equal(each, slates[i].next);
            moves += slates[i].moves;
        }
    }
    fprintf(stderr, "# %" PRIu64 " turns were on another thread than the one before\n", moves);
    assert_true(moves > 0);
}

/* The same with state that weir owns, made by init and emptied by destroy: those are turns too. */
typedef struct owned {
    goal *done;
    uint64_t next, wrong;
    bool made;
} owned;

static _Atomic uint64_t destroyed_after, destroyed_wrong;

static weir_status owned_init(void *state, weir_turn *turn, void *argument)
{
    (void)turn;
    owned *o = state;
    o->wrong = o->made || o->next != 0; /* zeroed memory */
    o->done = argument;
    o->made = true;
    return WEIR_OK;
}

static weir_status owned_handle(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    owned *o = state;
    const mark *m = weir_event_as(event, &mark_type);
    o->wrong += !o->made || m == NULL || m->number != o->next;
    o->next++;
    goal_add(o->done);
    return WEIR_OK;
}

static void owned_destroy(void *state, weir_status reason)
{
    owned *o = state;
    atomic_fetch_add(&destroyed_after, o->next);
    atomic_fetch_add(&destroyed_wrong, o->wrong + (reason != WEIR_OK) + !o->made);
    o->made = false;
}

static void
state_that_weir_owns_is_made_before_the_first_turn_and_emptied_after_the_last(void **unused)
{
    (void)unused;
    enum { EACH = 500, ROUNDS = 20 };
    static goal done;
    weir_engine *engine = engine_quiet();
    engine_add_threads(engine, "", 4, WEIR_IDLE_DEFAULT, NULL);
    engine_start(engine);
    atomic_store(&destroyed_after, 0);
    atomic_store(&destroyed_wrong, 0);
    for (size_t round = 0; round < ROUNDS; round++) {
        goal_init(&done, PROCESSORS * EACH);
        weir_processor targets[PROCESSORS];
        for (size_t i = 0; i < PROCESSORS; i++) {
            targets[i] =
                engine_add(engine, WEIR_PROCESSOR(.handler = owned_handle, .argument = &done,
                                                  .init = owned_init, .destroy = owned_destroy,
                                                  .state_size = sizeof(owned)));
        }
        for (uint64_t n = 0; n < EACH; n++) {
            for (size_t i = 0; i < PROCESSORS; i++) {
                assert_int_equal(
                    WEIR_OK, weir_engine_post(engine, targets[i], WEIR_EVENT(mark, .number = n)));
            }
        }
        assert_true(goal_wait(&done));
        for (size_t i = 0; i < PROCESSORS; i++) {
            weir_stop_report report = WEIR_STOP_REPORT_INIT;
            assert_int_equal(WEIR_OK, weir_processor_stop(engine, targets[i], 0, &report));
            assert_int_equal(EACH, report.handled);
        }
        assert_int_equal((round + 1) * PROCESSORS * EACH, atomic_load(&destroyed_after));
    }
    engine_finish(engine, ROUNDS * PROCESSORS * EACH);
    assert_int_equal(0, atomic_load(&destroyed_wrong));
}

static weir_status count_in_own_state(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    return state != NULL && ++*(uint64_t *)state == 1 ? WEIR_OK : WEIR_E_USER;
}

static void a_processor_has_its_state_though_it_has_neither_name_nor_hooks(void **unused)
{
    (void)unused;
    weir_engine *engine = engine_quiet();
    engine_add_threads(engine, "", 1, WEIR_IDLE_DEFAULT, NULL);
    engine_start(engine);
    const weir_processor to = engine_add(
        engine, WEIR_PROCESSOR(.handler = count_in_own_state, .state_size = sizeof(uint64_t)));
    assert_int_equal(WEIR_OK, weir_engine_post(engine, to, WEIR_EVENT(mark, .number = 0)));
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, to, 0, &report));
    assert_int_equal(1, report.handled); /* zeroed, and its own */
    engine_finish(engine, 1);
}

/* P-2: several senders, one receiver, each sender in its own order. */
enum { SENDERS = 4 };

typedef struct receiver {
    goal *done;
    uint64_t next[SENDERS];
    uint64_t disorder;
} receiver;

typedef struct sender {
    weir_engine *engine;
    weir_processor to;
    uint32_t index;
    uint64_t count, refused;
} sender;

static weir_status check_order(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    receiver *r = state;
    const mark *m = weir_event_as(event, &mark_type);
    if (m == NULL || m->sender >= SENDERS || m->number != r->next[m->sender]) {
        r->disorder++;
    } else {
        r->next[m->sender]++;
    }
    goal_add(r->done);
    return WEIR_OK;
}

static void *send_in_order(void *argument)
{
    sender *s = argument;
    for (uint64_t i = 0; i < s->count;) {
        if (i % 3 == 0 && i + 4 <= s->count) { /* single posts and batches keep one order */
            mark marks[4];
            weir_event events[4];
            const weir_event *list[4];
            for (size_t k = 0; k < 4; k++) {
                marks[k] = (mark){ .sender = s->index, .number = i + k };
                events[k] =
                    (weir_event){ .type = &mark_type, .data = &marks[k], .size = sizeof(mark) };
                list[k] = &events[k];
            }
            s->refused += 4 - weir_engine_post_batch(s->engine, &s->to, 1, list, 4, NULL);
            i += 4;
        } else {
            s->refused +=
                post_when_room(s->engine, s->to,
                               WEIR_EVENT(mark, .sender = s->index, .number = i)) != WEIR_OK;
            i++;
        }
    }
    return NULL;
}

static void events_from_one_sender_to_one_receiver_arrive_in_the_order_sent(void **unused)
{
    (void)unused;
    const uint64_t each = test_scaled(50000, 2);
    static receiver r;
    static goal done;
    static sender senders[SENDERS];
    pthread_t threads[SENDERS];
    goal_init(&done, SENDERS * each);
    r = (receiver){ .done = &done };
    weir_engine *engine = engine_quiet();
    engine_add_threads(engine, "", 4, WEIR_IDLE_DEFAULT, NULL);
    const weir_processor to =
        engine_add(engine, WEIR_PROCESSOR(.handler = check_order, .argument = &r,
                                          .mailbox_max = (uint32_t)(SENDERS * each)));
    engine_start(engine);
    for (uint32_t i = 0; i < SENDERS; i++) {
        senders[i] = (sender){ engine, to, i, each, 0 };
        assert_int_equal(0, pthread_create(&threads[i], NULL, send_in_order, &senders[i]));
    }
    for (size_t i = 0; i < SENDERS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(0, senders[i].refused);
    }
    assert_true(goal_wait(&done));
    engine_finish(engine, SENDERS * each);
    assert_int_equal(0, r.disorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_state_written_in_one_turn_is_read_in_the_next_on_another_thread),
        cmocka_unit_test(
            state_that_weir_owns_is_made_before_the_first_turn_and_emptied_after_the_last),
        cmocka_unit_test(a_processor_has_its_state_though_it_has_neither_name_nor_hooks),
        cmocka_unit_test(events_from_one_sender_to_one_receiver_arrive_in_the_order_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
