/*
 * allocation_test.c - memory fails at every single call of a load, of an engine's making and of a
 * reload, and threads cannot be had: an error, no leak, and nothing has changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "apply_support.h"

#include <sys/resource.h>

#include "flow/router.h"
#include "flow/tune.h"

static const char before[] =
    "sss-events.engine {\n"
    "  thread-dispatcher-assignment = [[a], [b], [\"\"]]\n"
    "  backoff { multiplier = 2.0 }\n"
    "}\n"
    "weir.engine { batch-max = 9, processors { p { dispatcher = a, mailbox-max = 4 } }\n"
    "  dispatchers { b { fair = on, batch-max = ${weir.engine.batch-max} } } }\n"
    "weir.flows.r { workers = 2, dispatcher = a, block-max = 2s, batch-max = 4, cores = null }\n"
    "app { list = [1, 2], secret = x }\n";
static const char after[] =
    "weir.engine {\n"
    "  threads = [{ dispatchers = [b, c] }, { name = x, dispatchers = [\"\"], core = 0,\n"
    "    idle { strategy = park, max-park = 2 ms }, priority { policy = nice, value = 0 } }]\n"
    "  helper-thread { core = [0], nice = 0 }\n"
    "  backoff { multiplier = 3.0, jitter = 0.25 }\n"
    "  batch-max = 5, overflow = drop-newest, timers-max = 77\n"
    "  processors { p { dispatcher = c, batch-max = 2 }, q { overflow = fail } }\n"
    "}\n"
    "weir.flows { r { workers = 2, dispatcher = c, flow-idle-timeout = 1m, batch-max = 6 }\n"
    "  o { own-threads = on, cores = [0, 1], keys = bytes } }\n";
static const char wrong[] = "weir.engine { batch-max = 0, x = y, threads = 4, name = [], backoff = "
                            "{ base-delay-micros = 1s }, dispatchers { \"\" = 3 } }\n"
                            "weir.flows { x { wokers = 1, dispatcher = d, cores = [0] }, y = 3 }";
static const char agents[] =
    "agentThreads = [{ agentName = a, idleStrategy = SleepingIdleStrategy, coreId = 0 }]\n"
    "weir.engine.assignment { strategy = none }";

typedef struct app {
    weir_option_ints list;
    const char *const *names;
    const char *secret;
} app;
static const weir_option app_rows[] = {
    WEIR_KEY(INTS, app, list, "list"),
    WEIR_KEY(LIST, app, names, "names", .fallback = "[a, b]"),
    WEIR_KEY(SECRET, app, secret, "secret"),
};
static const weir_option_table app_table = {
    .struct_size = sizeof(app_table), .path = "app", .rows = app_rows, .row_count = 3
};
static const weir_option_table *const tables[] = { &app_table, NULL };

static test_fault fault;
static const weir_allocator failing = { test_fault_allocate, test_fault_release, &fault };

static weir_config *load(const char *text, bool keep_going, weir_error *error)
{
    return weir_config_parse("t.conf", text, strlen(text),
                             WEIR_CONFIG(.ignore_environment = true, .allocator = &failing,
                                         .tables = tables, .keep_going = keep_going),
                             error);
}

static void assert_nothing_is_out(void)
{
    assert_int_equal(0, atomic_load(&fault.bytes));
    assert_int_equal(0, atomic_load(&fault.wrong));
}

/* Everything that a config can be asked. False: memory failed. */
static bool use(const weir_config *config)
{
    static char text[65536];
    app a = { .secret = NULL };
    weir_error error = WEIR_ERROR_INIT;
    const weir_status status = weir_config_read(config, "app", app_rows, 3, &a, &error);
    assert_true(status == WEIR_OK || status == WEIR_E_NOMEM || status == WEIR_E_CONFIG);
    const size_t length = weir_config_show(config, text, sizeof(text));
    return length > 0 && status != WEIR_E_NOMEM;
}

static void a_load_says_that_memory_was_short(void **state)
{
    static const char *const texts[] = { before, after, agents, wrong };
    (void)state;
    test_fault_init(&fault);
    for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
        for (int lasting = 0; lasting < 2; lasting++) {
            bool done = false;
            long nth = 0;
            for (; !done; nth++) {
                weir_error error = WEIR_ERROR_INIT;
                test_fault_arm(&fault, nth, lasting != 0);
                weir_config *config = load(texts[t], true, &error);
                const bool well = config != NULL && use(config);
                done = test_fault_disarm(&fault) == 0;
                if (config == NULL) {
                    assert_int_equal(WEIR_E_NOMEM, error.status);
                    assert_false(done);
                }
                assert_true(!done || well);
                weir_config_destroy(config);
                assert_nothing_is_out();
                assert_true(nth < 100000);
            }
            fprintf(stderr, "# text %zu: %ld allocations\n", t, nth);
        }
    }
}

static void an_engine_is_made_whole_or_not_at_all(void **state)
{
    bool done = false;
    weir_error error = WEIR_ERROR_INIT;
    (void)state;
    test_fault_init(&fault);
    weir_config *config = parse(after);
    for (long nth = 0; !done; nth++) {
        error = (weir_error)WEIR_ERROR_INIT;
        test_fault_arm(&fault, nth, false);
        weir_engine *engine =
            weir_config_engine(config, WEIR_ENGINE(.allocator = &failing), &error);
        done = test_fault_disarm(&fault) == 0;
        assert_int_equal(error.status == WEIR_OK, engine != NULL);
        assert_true(engine != NULL || error.status == WEIR_E_NOMEM);
        weir_engine_destroy(engine);
        assert_nothing_is_out();
    }
    weir_config_destroy(config);
}

/* What the engine is, as far as the two configurations tell it. */
static void assert_is(weir_engine *engine, weir_processor p, weir_processor r, bool applied)
{
    char name[256];
    weir__backoff_plan plan = backoff_of(engine, "b");
    assert_true(plan.multiplier == (applied ? 3.0 : 2.0));
    assert_true(plan.jitter == (applied ? 0.25 : 0.0));
    assert_int_equal(applied ? 2 : 9, batch_of(engine, p));
    assert_int_equal(applied ? 5 : 9, batch_of(engine, r));
    assert_int_equal(applied ? WEIR_OVERFLOW_DROP_NEWEST : WEIR_OVERFLOW_FAIL,
                     policy_of(engine, r));
    assert_int_equal(WEIR_OK, weir_processor_dispatcher(engine, p, name, sizeof(name)));
    assert_string_equal(applied ? "c" : "a", name);
    weir__router *router = weir__router_named(engine, "r");
    for (uint32_t i = 0; weir__router_part(router, i, &p); i++) {
        assert_int_equal(WEIR_OK, weir_processor_dispatcher(engine, p, name, sizeof(name)));
        assert_string_equal(applied ? "c" : "a", name);
        assert_true(i == 0 || batch_of(engine, p) == (applied ? 6u : 4u));
    }
    assert_int_equal(applied ? WEIR_S : 2 * WEIR_S, weir__load(&router->block_max, relaxed));
    assert_int_equal(applied ? 60 * WEIR_S : 600 * WEIR_S,
                     weir__load(&router->idle_timeout, relaxed));
    assert_int_equal(applied, weir_thread_find(engine, "x").id != 0);
    assert_int_equal(applied, weir_thread_find(engine, "b+c-1").id != 0);
    assert_int_equal(!applied, weir_thread_find(engine, "a-1").id != 0);
    assert_int_equal(!applied, weir_thread_find(engine, "b-1").id != 0);
    assert_int_equal(!applied, weir_thread_find(engine, "weir-1").id != 0);
    /* Their order is that of records which are used again. */
    assert_int_equal(5, strlen(served(engine)));
    assert_non_null(strstr(served(engine), applied ? "/c" : "/a"));
}

typedef struct scene {
    weir_engine *engine;
    weir_processor p, r;
    weir_config *new;
} scene;

static void open_scene(scene *s, const weir_allocator *allocator, test_log *log)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_config *config = parse_with(before, NULL, &error);
    s->engine = weir_config_engine(
        config, WEIR_ENGINE(.allocator = allocator, .log = test_log_hook, .log_context = log),
        &error);
    weir_router_options router = WEIR_ROUTER_OPTIONS_INIT;
    router.handler = do_nothing;
    (void)weir_config_router_options(config, "r", &router, &error);
    (void)weir_router_add(s->engine, &router, &error);
    weir_config_destroy(config);
    test_error_none(&error);
    s->p = add_plain(s->engine, "p", "a");
    s->r = add_plain(s->engine, NULL, "");
    test_engine_start(s->engine);
    s->new = parse(after);
}

static void a_reload_happens_whole_or_not_at_all(void **state)
{
    static test_log log;
    scene s;
    bool done = false;
    (void)state;
    test_fault_init(&fault);
    test_log_init(&log);
    for (long nth = 0; !done; nth++) {
        for (int lasting = 0; lasting < 2; lasting++) {
            weir_error error = WEIR_ERROR_INIT;
            size_t pending = 0;
            open_scene(&s, &failing, &log);
            test_fault_arm(&fault, nth, lasting != 0);
            const weir_status status = weir_config_apply(s.new, s.engine, &pending, &error);
            done = test_fault_disarm(&fault) == 0;
            assert_true(status == WEIR_OK || (status == WEIR_E_NOMEM && !done));
            assert_is(s.engine, s.p, s.r, status == WEIR_OK);
            weir_config_destroy(s.new);
            assert_int_equal(WEIR_OK, test_post(s.engine, s.p, 1));
            assert_int_equal(WEIR_OK, test_post(s.engine, s.r, 1));
            assert_int_equal(2, test_engine_end(s.engine).handled);
            assert_nothing_is_out();
        }
    }
}

/* ---- threads that cannot be had (as tests/engine/no_thread_test.c does it) ---- */

static struct rlimit usual;

static void ask_for_stacks_of(size_t bytes)
{
    pthread_attr_t attributes;
    assert_int_equal(0, pthread_attr_init(&attributes));
    assert_int_equal(0, pthread_attr_setstacksize(&attributes, bytes));
    assert_int_equal(0, pthread_setattr_default_np(&attributes));
    assert_int_equal(0, pthread_attr_destroy(&attributes));
}

/* Room for `stacks` of them. False: there can be no such limit here. */
static bool allow_threads(uint64_t stacks)
{
    char text[64] = "0";
    if (TEST_SANITIZED || getrlimit(RLIMIT_AS, &usual) != 0 ||
        !test_proc_line("/proc/self/status", "VmSize:", text, sizeof(text))) {
        return false;
    }
    ask_for_stacks_of((size_t)64 << 20);
    struct rlimit tight = usual;
    tight.rlim_cur = (rlim_t)strtoull(text, NULL, 10) * 1024 + (rlim_t)(4 << 20) +
                     (rlim_t)stacks * ((65 << 20) + 65536);
    return setrlimit(RLIMIT_AS, &tight) == 0;
}

static void a_reload_is_taken_back_when_a_thread_cannot_be_had(void **state)
{
    static test_log log;
    (void)state;
    test_log_init(&log);
    for (uint64_t stacks = 0; stacks < 2; stacks++) { /* none of the two, or the second not */
        scene s;
        weir_error error = WEIR_ERROR_INIT;
        open_scene(&s, NULL, &log);
        const uint64_t tasks = test_task_count();
        if (!allow_threads(stacks)) {
            weir_config_destroy(s.new);
            test_engine_end(s.engine);
            test_skip("no limit on the address space under a sanitizer");
        }
        const weir_status status = weir_config_apply(s.new, s.engine, NULL, &error);
        assert_int_equal(0, setrlimit(RLIMIT_AS, &usual));
        ask_for_stacks_of((size_t)1 << 20);
        assert_int_equal(WEIR_E_SYSTEM, status);
        assert_non_null(strstr(error.text, "thread could not be started")); /* or the monitor */
        assert_is(s.engine, s.p, s.r, false);
        TEST_UNTIL(test_task_count() == tasks);
        error = (weir_error)WEIR_ERROR_INIT;
        assert_int_equal(WEIR_OK, weir_config_apply(s.new, s.engine, NULL, &error));
        assert_is(s.engine, s.p, s.r, true);
        weir_config_destroy(s.new);
        test_engine_end(s.engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_says_that_memory_was_short),
        cmocka_unit_test(an_engine_is_made_whole_or_not_at_all),
        cmocka_unit_test(a_reload_happens_whole_or_not_at_all),
        cmocka_unit_test(a_reload_is_taken_back_when_a_thread_cannot_be_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
