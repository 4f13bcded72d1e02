/*
 * lease_stress_test.c - pairs that post to each other, so that their threads lease their mailboxes,
 * while others post to them at any moment, stop them, move them, and take their threads away.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/option_support.h"

enum { PAIRS = 3, PLAYERS = 2 * PAIRS, POSTERS = 2, PAUSE_NS = 20000 };

typedef struct ball {
    uint64_t hops;
} ball;
WEIR_EVENT_TYPE(ball, "test.ball");

typedef struct letter {
    uint32_t poster;
    uint32_t round;
    uint64_t number;
} letter;
WEIR_EVENT_TYPE(letter, "test.letter");

struct scene;
typedef struct player {
    struct scene *scene;
    uint32_t index;
    uint64_t last[POSTERS];
    uint64_t balls, letters, wrong;
} player;

typedef struct poster {
    struct scene *scene;
    uint32_t index;
    uint64_t seed, posted;
    pthread_t thread;
} poster;

typedef struct scene {
    weir_engine *engine;
    player players[PLAYERS];
    _Atomic uint64_t handles[PLAYERS];
    poster posters[POSTERS];
    _Atomic bool over;
} scene;

static weir_processor of(scene *s, uint32_t index)
{
    return (weir_processor){ atomic_load(&s->handles[index]) };
}

/* All plain: one turn at a time, and each sees what the last one did, whatever thread it ran on. */
static weir_status play(void *state, weir_turn *turn, const weir_event *event)
{
    player *p = state;
    const letter *l = weir_event_as(event, &letter_type);
    if (l != NULL) {
        p->wrong += l->number <= p->last[l->poster];
        p->last[l->poster] = l->number;
        p->letters++;
        return WEIR_OK;
    }
    const ball *b = event->data;
    p->balls++;
    if (b->hops == 0) {
        return WEIR_OK;
    }
    const weir_processor to = of(p->scene, p->index ^ 1u);
    const weir_status status = weir_turn_post(turn, to, WEIR_EVENT(ball, b->hops - 1));
    return status == WEIR_UNKNOWN || status == WEIR_STOPPING ? WEIR_OK : status;
}

static void settle(scene *s, uint32_t index)
{
    player *p = &s->players[index];
    memset(p->last, 0, sizeof(p->last));
    const weir_processor_options options = {
        .struct_size = sizeof(options), .handler = play, .argument = p, .dispatcher = "a"
    };
    atomic_store(&s->handles[index], test_processor_add(s->engine, &options).id);
}

static void *post_on(void *argument)
{
    poster *p = argument;
    scene *s = p->scene;
    uint64_t count = 0;
    while (!atomic_load(&s->over)) {
        const weir_processor to = of(s, (uint32_t)(test_random(&p->seed) % PLAYERS));
        const uint64_t what = test_random(&p->seed);
        const weir_status status =
            what % 4 == 0
                ? weir_engine_post(s->engine, to, WEIR_EVENT(ball, what / 4 % 400))
                : weir_engine_post(s->engine, to, WEIR_EVENT(letter, p->index, 0, ++count));
        p->posted += status == WEIR_OK;
        const weir_ns until = test_now() + (weir_ns)(what / 4 % PAUSE_NS);
        while (what % 3 != 0 && test_now() < until) {
        }
    }
    return NULL;
}

static void change(scene *s, uint64_t *seed, weir_thread *spare)
{
    const uint32_t index = (uint32_t)(test_random(seed) % PLAYERS);
    switch (test_random(seed) % 5) {
    case 0:
        assert_int_equal(WEIR_OK,
                         weir_processor_stop(s->engine, of(s, index), TEST_PATIENCE, NULL));
        settle(s, index);
        break;
    case 1:
        assert_int_equal(WEIR_OK, weir_thread_remove(s->engine, *spare, NULL));
        *spare = test_thread_add(s->engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("a", "b")));
        break;
    default: {
        const weir_status status = weir_processor_move(
            s->engine, of(s, index), test_random(seed) % 2 == 0 ? "a" : "b", NULL);
        assert_true(status == WEIR_OK || status == WEIR_ALREADY);
    }
    }
    const weir_ns until = test_now() + (weir_ns)(test_random(seed) % 300) * WEIR_US;
    TEST_UNTIL(test_now() >= until);
}

static void nothing_is_lost_of_what_is_leased(void **state)
{
    (void)state;
    static scene scene_of_test;
    scene *s = &scene_of_test;
    uint64_t seed = test_seed();
    const int changes = TEST_SANITIZED ? 200 : 1000;
    s->engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    (void)test_thread_add(s->engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("a")));
    (void)test_thread_add(s->engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("b")));
    weir_thread spare =
        test_thread_add(s->engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("a", "b")));
    for (uint32_t i = 0; i < PLAYERS; i++) {
        s->players[i] = (player){ .scene = s, .index = i };
        settle(s, i);
    }
    test_engine_start(s->engine);
    for (uint32_t i = 0; i < POSTERS; i++) {
        s->posters[i] = (poster){ .scene = s, .index = i, .seed = test_random(&seed) };
        assert_int_equal(0, pthread_create(&s->posters[i].thread, NULL, post_on, &s->posters[i]));
    }
    for (int n = 0; n < changes; n++) {
        change(s, &seed, &spare);
    }
    atomic_store(&s->over, true);
    for (uint32_t i = 0; i < POSTERS; i++) {
        assert_int_equal(0, pthread_join(s->posters[i].thread, NULL));
    }
    const weir_stop_report report = test_engine_stop(s->engine);
    uint64_t handled = 0;
    for (uint32_t i = 0; i < PLAYERS; i++) {
        assert_int_equal(0, s->players[i].wrong);
        handled += s->players[i].balls + s->players[i].letters;
    }
    assert_int_equal(report.handled, handled);
    assert_true(handled >= s->posters[0].posted + s->posters[1].posted);
    weir_engine_destroy(s->engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_of_what_is_leased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
