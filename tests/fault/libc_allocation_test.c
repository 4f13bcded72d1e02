/*
 * libc_allocation_test.c - the few bytes that weir takes from the C library and not from the
 * engine's allocator (each thread's list of contexts), with the nth request refused.
 *
 * This program has an aligned_alloc of its own in front of the library's. Each operation runs on
 * a thread that weir has never seen, so that all it needs is asked for anew; first with one
 * request refused, then with all from there on. It answers E_NOMEM (or does without), the same
 * call succeeds once memory is back, the thread is not taken for a handler afterwards, and no
 * event is lost. What comes from the engine's allocator is swept by engine/allocation_test.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/option_support.h"

#include <dlfcn.h>

enum { NTH_MAX = 100 };

/* ---- the refusal ---- */

static void *(*real_aligned_alloc)(size_t, size_t);
static atomic_long until = -1; /* requests that still succeed; negative: all */
static atomic_bool lasting;
static atomic_long refused;

static bool refuse(void)
{
    long left = atomic_load(&until);
    while (left > 0 && !atomic_compare_exchange_weak(&until, &left, left - 1)) {
    }
    if (left != 0) {
        return false;
    }
    if (!atomic_load(&lasting)) {
        atomic_store(&until, -1);
    }
    atomic_fetch_add(&refused, 1);
    return true;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return refuse() ? NULL : real_aligned_alloc(alignment, size);
}

static void arm(long nth, bool lasts)
{
    atomic_store(&lasting, lasts);
    atomic_store(&refused, 0);
    atomic_store(&until, nth);
}

static bool disarm(void)
{
    atomic_store(&until, -1);
    return atomic_load(&refused) > 0;
}

/* The engine's own memory never fails here, and does not pass by the refusal. */
static void *engine_allocate(void *context, size_t size, size_t alignment)
{
    void *memory = NULL;
    (void)context;
    return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}

static void engine_release(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

/* ---- the scene ---- */

typedef struct scene {
    weir_engine *engine;
    weir_processor to;
    weir_thread external; /* zero: the engine has a thread of its own */
    weir_error error;
    atomic_uint_least64_t handled, posted;
    atomic_int drops_due, drops, destroys;
    bool gone; /* destroyed by the operation */
} scene;

typedef struct operation {
    const char *name;
    bool started;
    bool external;
    weir_status (*act)(scene *s);
    bool may_do_without; /* OK is an answer, too, when memory fails */
} operation;

static scene s;

static void count_drop(void *payload)
{
    (void)payload;
    atomic_fetch_add(&s.drops, 1);
}
static const weir_event_type owned_type = {
    sizeof(weir_event_type), "fault.owned", 8, false, count_drop, NULL
};

static weir_status count_event(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    atomic_fetch_add(&s.handled, 1);
    return WEIR_OK;
}

static void count_destroy(void *state, weir_status reason)
{
    (void)state;
    (void)reason;
    atomic_fetch_add(&s.destroys, 1);
}

static void open_scene(const operation *op)
{
    const weir_allocator allocator = { engine_allocate, engine_release, NULL };
    memset(&s, 0, sizeof(s));
    s.error = (weir_error)WEIR_ERROR_INIT;
    s.engine = test_engine_create(WEIR_ENGINE(.allocator = &allocator));
    if (op->external) {
        s.external = test_thread_add(s.engine, WEIR_THREAD(.external = true));
    }
    s.to = test_processor_add(s.engine, WEIR_PROCESSOR(.name = "to", .handler = count_event,
                                                       .state_size = 8, .destroy = count_destroy));
    if (op->started) {
        test_engine_start(s.engine);
    }
}

/* Memory is back: what was accepted is handled, every payload was dropped, nothing is left. */
static void close_scene(const operation *op)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    if (!s.gone) {
        weir_error error = WEIR_ERROR_INIT;
        (void)weir_engine_start(s.engine, &error);
        if (op->external) {
            (void)weir_engine_stop_async(s.engine, TEST_PATIENCE);
            TEST_UNTIL(weir_thread_run_once(s.engine, s.external, 0) <= 0 &&
                       weir_engine_wait(s.engine, WEIR_NOW, &report) == WEIR_OK);
        } else {
            const weir_status status = weir_engine_stop(s.engine, TEST_PATIENCE, &report);
            assert_true(status == WEIR_OK || status == WEIR_ALREADY);
        }
        assert_int_equal(atomic_load(&s.posted), report.accepted);
        assert_int_equal(report.accepted, report.handled + report.left);
        assert_int_equal(atomic_load(&s.handled), report.handled);
        weir_engine_destroy(s.engine);
    }
    assert_int_equal(atomic_load(&s.drops_due), atomic_load(&s.drops));
}

static void note(weir_status status)
{
    atomic_fetch_add(&s.posted, status == WEIR_OK);
}

/* ---- operations ---- */

static weir_status post(scene *at)
{
    const weir_status status = weir_engine_post(at->engine, at->to, WEIR_EVENT(number, 1));
    note(status);
    return status;
}

static weir_status post_large(scene *at)
{
    static const unsigned char bytes[500];
    const weir_event event = { .type = &weir_bytes_type, .data = bytes, .size = sizeof(bytes) };
    const weir_status status = weir_engine_post(at->engine, at->to, &event);
    note(status);
    return status;
}

static weir_status post_batch(scene *at)
{
    const weir_event *const events[2] = { WEIR_EVENT(number, 1), WEIR_EVENT(number, 2) };
    weir_status statuses[2];
    const size_t count = weir_engine_post_batch(at->engine, &at->to, 1, events, 2, statuses);
    atomic_fetch_add(&at->posted, count);
    return count == 2 ? WEIR_OK : statuses[0];
}

/* The block was reserved by a thread that has all it needs; this one commits it. */
static weir_block *reserved;

static weir_status commit_owned(scene *at)
{
    const weir_event event = {
        .type = &owned_type, .data = weir_block_data(reserved), .block = reserved, .size = 8
    };
    const weir_status status = weir_engine_commit(at->engine, at->to, &event);
    note(status);
    return status;
}

static weir_status reserve(scene *at)
{
    weir_block *block = NULL;
    const weir_status status = weir_block_reserve(at->engine, 100, &block);
    weir_block_release(block);
    return status;
}

static weir_status release(scene *at)
{
    (void)at;
    weir_block_release(weir_block_take(reserved));
    return WEIR_OK;
}

static weir_status adopt(scene *at)
{
    static unsigned char own[64];
    weir_block *block = NULL;
    const weir_status status = weir_block_adopt(at->engine, own, sizeof(own), NULL, NULL, &block);
    weir_block_release(block);
    return status;
}

static weir_status keep(scene *at)
{
    weir_event kept = { .type = NULL };
    const weir_status status = weir_event_keep(at->engine, WEIR_EVENT(number, 1), &kept);
    weir_event_release(&kept);
    return status;
}

static weir_status add_processor(scene *at)
{
    (void)weir_processor_add(at->engine, WEIR_PROCESSOR(.handler = count_event), &at->error);
    const weir_status status = at->error.status;
    at->error = (weir_error)WEIR_ERROR_INIT;
    return status;
}

static weir_status add_thread(scene *at)
{
    (void)weir_thread_add(at->engine, NULL, &at->error);
    const weir_status status = at->error.status;
    at->error = (weir_error)WEIR_ERROR_INIT;
    return status;
}

static weir_status start(scene *at)
{
    const weir_status status = weir_engine_start(at->engine, &at->error);
    at->error = (weir_error)WEIR_ERROR_INIT;
    return status == WEIR_ALREADY ? WEIR_OK : status;
}

static weir_status gone_is_fine(weir_status status)
{
    return status == WEIR_UNKNOWN || status == WEIR_ALREADY ? WEIR_OK : status;
}

static weir_status stop_processor(scene *at)
{
    return gone_is_fine(weir_processor_stop(at->engine, at->to, TEST_PATIENCE, NULL));
}

static weir_status stop_processor_async(scene *at)
{
    return gone_is_fine(weir_processor_stop_async(at->engine, at->to, TEST_PATIENCE));
}

static weir_status stop_engine(scene *at)
{
    return gone_is_fine(weir_engine_stop(at->engine, TEST_PATIENCE, NULL));
}

static weir_status stop_engine_async(scene *at)
{
    return gone_is_fine(weir_engine_stop_async(at->engine, TEST_PATIENCE));
}

static weir_status run_once(scene *at)
{
    const int32_t answer = weir_thread_run_once(at->engine, at->external, 0);
    return answer < 0 ? answer : WEIR_OK;
}

static weir_status destroy(scene *at)
{
    if (!at->gone) {
        at->gone = true;
        weir_engine_destroy(at->engine);
    }
    return WEIR_OK;
}

static const operation operations[] = {
    { "post", true, false, post, false },
    { "post before the start", false, false, post, false },
    { "post, large", true, false, post_large, false },
    { "post_batch", true, false, post_batch, false },
    { "commit", true, false, commit_owned, false },
    { "block_reserve", true, false, reserve, false },
    { "block_release", true, false, release, true },
    { "block_adopt", true, false, adopt, false },
    { "event_keep", true, false, keep, false },
    { "processor_add", true, false, add_processor, false },
    { "thread_add", true, false, add_thread, false },
    { "start", false, false, start, false },
    { "processor_stop", true, false, stop_processor, true },
    { "processor_stop_async", true, false, stop_processor_async, true },
    { "engine_stop", true, false, stop_engine, true },
    { "engine_stop before the start", false, false, stop_engine, true },
    { "engine_stop_async", true, false, stop_engine_async, true },
    { "run_once", true, true, run_once, false },
    { "destroy", true, false, destroy, true },
    { "destroy before the start", false, false, destroy, true },
};

/* ---- the sweep ---- */

typedef struct attempt {
    const operation *op;
    long nth;
    bool lasts;
    weir_status first, again, blocking;
    bool hit;
} attempt;

static void take_block(const operation *op)
{
    if (op->act == commit_owned || op->act == release) {
        assert_int_equal(WEIR_OK, weir_block_reserve(s.engine, 8, &reserved));
    }
}

/* On a thread that weir has never seen. Records; the test's thread asserts. */
static void *act_anew(void *argument)
{
    attempt *a = argument;
    arm(a->nth, a->lasts);
    a->first = a->op->act(&s);
    a->hit = disarm();
    if (a->op->act == commit_owned) { /* whatever the status, the reference is gone */
        atomic_fetch_add(&s.drops_due, 1);
        a->again = WEIR_OK;
    } else {
        a->again = a->op->act(&s);
    }
    a->blocking = s.gone ? WEIR_OK : weir_engine_wait(s.engine, WEIR_NOW, NULL);
    return NULL;
}

/* True: the operation needs no more than nth requests. */
static bool try_nth(const operation *op, long nth, bool lasts)
{
    attempt a = { .op = op, .nth = nth, .lasts = lasts };
    pthread_t thread;
    open_scene(op);
    take_block(op);
    assert_int_equal(0, pthread_create(&thread, NULL, act_anew, &a));
    assert_int_equal(0, pthread_join(thread, NULL));
    if (a.first != WEIR_OK) {
        assert_true(a.hit);
        assert_int_equal(WEIR_E_NOMEM, a.first);
    } else {
        assert_true(!a.hit || op->may_do_without);
    }
    assert_int_equal(WEIR_OK, a.again);
    assert_int_not_equal(WEIR_E_BLOCKING, a.blocking);
    if (op->act == release) {
        weir_block_release(reserved);
    }
    close_scene(op);
    return !a.hit;
}

static void a_call_on_a_new_thread_survives_its_nth_request_to_libc_failing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        long counts[2] = { 0, 0 };
        for (int lasts = 0; lasts < 2; lasts++) {
            long nth = 0;
            while (!try_nth(&operations[i], nth, lasts != 0)) {
                nth++;
                assert_true(nth < NTH_MAX);
            }
            counts[lasts] = nth;
        }
        fprintf(stderr, "# %s: %ld and %ld requests refused\n", operations[i].name, counts[0],
                counts[1]);
    }
}

static void an_engine_without_an_allocator_of_its_own_says_that_memory_is_out(void **state)
{
    (void)state;
    for (int lasts = 0; lasts < 2; lasts++) {
        long nth = 0;
        bool done = false;
        while (!done) {
            weir_error error = WEIR_ERROR_INIT;
            arm(nth, lasts != 0);
            weir_engine *engine = weir_engine_create(NULL, &error);
            const weir_processor to =
                weir_processor_add(engine, WEIR_PROCESSOR(.handler = count_event), &error);
            (void)weir_engine_start(engine, &error);
            done = !disarm();
            assert_int_equal(done ? WEIR_OK : WEIR_E_NOMEM, error.status);
            assert_true(done == (error.text[0] == '\0'));
            assert_true(!done || to.id != 0);
            weir_engine_destroy(engine);
            nth++;
            assert_true(nth < NTH_MAX);
        }
        assert_true(nth > 3); /* it did refuse something */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_on_a_new_thread_survives_its_nth_request_to_libc_failing),
        cmocka_unit_test(an_engine_without_an_allocator_of_its_own_says_that_memory_is_out),
    };
    /* ASan's, where it is built into the program as clang does it, is not behind ours. */
    void *behind = dlsym(RTLD_DEFAULT, "__interceptor_aligned_alloc");
    *(void **)&real_aligned_alloc = behind != NULL ? behind : dlsym(RTLD_NEXT, "aligned_alloc");
    if (real_aligned_alloc == NULL) {
        fprintf(stderr, "no aligned_alloc behind ours\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
