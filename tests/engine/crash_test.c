/*
 * crash_test.c - a handler that crashes is named on standard error: processor, event, thread, the
 * last 32 events of that thread, stack; then the process dies of the same signal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "crash_support.h"

#include <assert.h>
#include <sched.h>

#include "base/assert.h"

static void crash_in_the_shop(void)
{
    weir_processor gateway;
    weir_engine *engine = shop(&gateway);
    scene_post(engine, gateway, CRASH_SIZE);
    wait_for_the_end();
}

/* Says first what only the child can know. */
static void say_where_and_crash(void)
{
    fprintf(stderr, "%#zx %d\n", (size_t)(uintptr_t)(forbidden + 8), (int)gettid());
    crash_now();
}

static void a_handler_that_crashes_is_named_and_the_process_dies_of_the_same_signal(void **state)
{
    (void)state;
    size_t address = 0;
    int thread = 0;
    char expected[1000];
    crash_way = say_where_and_crash;
    run_scene(crash_in_the_shop);
    died_of(SIGSEGV);
    assert_int_equal(2, sscanf(ended.text, "%zx %d\n", &address, &thread));
    (void)snprintf(expected, sizeof(expected),
                   "%#zx %d\n"
                   "weir: SIGSEGV (address %#zx) in the handler of processor \"orders\"\n"
                   "  event weir.bytes (40 bytes), from gateway\n"
                   "  engine \"main\", thread \"w1\" (%d)\n"
                   "  last events of this thread, newest first:\n"
                   "     1  orders   weir.bytes (40 bytes)  from gateway\n"
                   "     2  gateway  weir.bytes (40 bytes)  from outside\n"
                   "  stack, innermost first:\n"
                   "     1  ",
                   address, thread, address, thread);
    const size_t length = strlen(expected);
    assert_true(strlen(ended.text) > length);
    if (memcmp(expected, ended.text, length) != 0) {
        fail_msg("not\n%s\nbut\n%s", expected, ended.text);
    }
    reported_once(expected);
    /* From where it hit, not from the signal handler on. */
    assert_non_null(strstr(strstr(ended.text, "  stack,"), "engine_crash_test("));
}

/* ---- every way to go ---- */

static void touch_beyond_a_file(void)
{
    FILE *file = tmpfile();
    SCENE_NEEDS(file != NULL);
    char *page = mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fileno(file), 0);
    SCENE_NEEDS(page != MAP_FAILED);
    touch(page);
}

#if defined(__x86_64__)
/* An address that is none: the processor does not say which it was. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static void touch_nowhere(void)
{
    *(char *)(uintptr_t)UINT64_C(0x8000000000000000) = 1;
}
#endif

static void trap(void)
{
    __builtin_trap();
}

static void raise_fpe(void)
{
    (void)raise(SIGFPE);
}

static void raise_trap(void)
{
    (void)raise(SIGTRAP);
}

static void fail_an_assert(void)
{
    assert(orders.id == 0);
}

static void fail_an_assert_of_weir(void)
{
    WEIR_ASSERT(orders.id == 0);
}

static void every_fatal_signal_is_reported_and_ends_the_process(void **state)
{
    (void)state;
    static const struct {
        void (*way)(void);
        int signal;
        const char *headline;
    } ways[] = {
        { crash_now, SIGSEGV, "weir: SIGSEGV (address 0x" },
        { touch_beyond_a_file, SIGBUS, "weir: SIGBUS (address 0x" },
#if defined(__x86_64__)
        { touch_nowhere, SIGSEGV, "weir: SIGSEGV in the handler of processor \"orders\"\n" },
        { trap, SIGILL, "weir: SIGILL in the handler of processor \"orders\"\n" },
#else
        { trap, SIGTRAP, "weir: SIGTRAP in the handler of processor \"orders\"\n" },
#endif
        { raise_fpe, SIGFPE, "weir: SIGFPE in the handler of processor \"orders\"\n" },
        { raise_trap, SIGTRAP, "weir: SIGTRAP in the handler of processor \"orders\"\n" },
        { abort, SIGABRT, "weir: SIGABRT in the handler of processor \"orders\"\n" },
        { fail_an_assert, SIGABRT, "weir: SIGABRT in the handler of processor \"orders\"\n" },
        { fail_an_assert_of_weir, SIGABRT, "weir: SIGABRT in the handler of processor \"orders\"" },
    };
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        crash_way = ways[i].way;
        run_scene(crash_in_the_shop);
        died_of(ways[i].signal);
        reported_once(ways[i].headline);
    }
}

static unsigned char *deepest; /* whoever looks could see every frame: none may be left out */

__attribute__((noinline)) static unsigned deeper(unsigned depth)
{
    unsigned char room[300];
    memset(room, (int)depth, sizeof(room));
    deepest = room;
    return depth == UINT32_MAX ? 0 : deeper(depth + 1) + room[depth % sizeof(room)];
}

static void recurse(void)
{
    SCENE_NEEDS(deeper(1) == 0);
}

static void a_stack_overflow_is_reported_as_one(void **state)
{
    (void)state;
    crash_way = recurse;
    run_scene(crash_in_the_shop);
    died_of(SIGSEGV);
    reported_once("weir: SIGSEGV (stack overflow, address 0x");
    said("in the handler of processor \"orders\"\n");
    said("        ...\n"); /* the stack goes on */
}

/* A call of NULL, though no compiler can know that. */
static void call_no_function(void)
{
    const uintptr_t nothing = (uintptr_t)getenv("WEIR_NO_SUCH_THING");
    ((void (*)(void))nothing)(); /* NOLINT(clang-analyzer-core.CallAndMessage): that is the crash */
}

static void a_call_of_nothing_shows_its_caller(void **state)
{
    (void)state;
    crash_way = call_no_function;
    run_scene(crash_in_the_shop);
    died_of(SIGSEGV);
    reported_once("weir: SIGSEGV (address 0x0) in the handler of processor \"orders\"\n");
    said("     2  ");
}

/* ---- the last 32 events ---- */

static uint32_t events_before;

static void crash_after_some(void)
{
    weir_engine *engine = scene_engine(NULL);
    orders = scene_add(engine, WEIR_PROCESSOR(.name = "orders", .handler = crash_at_40));
    for (uint32_t size = 100; size < 100 + events_before; size++) {
        scene_post(engine, orders, size);
    }
    scene_post(engine, orders, CRASH_SIZE);
    scene_start(engine);
    wait_for_the_end();
}

static void the_last_32_events_are_shown_newest_first_or_as_many_as_there_were(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 0, 1, 9, 30, 31, 32, 100 };
    crash_way = crash_now;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        char row[80];
        events_before = counts[i];
        run_scene(crash_after_some);
        died_of(SIGSEGV);
        said("  last events of this thread, newest first:\n"
             "     1  orders  weir.bytes (40 bytes)");
        const uint32_t shown = counts[i] < 31 ? counts[i] : 31;
        for (uint32_t n = 0; n < shown; n++) {
            (void)snprintf(row, sizeof(row),
                           "\n    %2u  orders  weir.bytes (%u bytes)  from outside\n", n + 2,
                           99 + counts[i] - n);
            said(row);
        }
        (void)snprintf(row, sizeof(row), "\n    %2u  orders", shown + 2);
        said_nothing_of(row);
    }
}

static void crash_after_small_ones(void)
{
    weir_engine *engine = scene_engine(NULL);
    orders = scene_add(engine, WEIR_PROCESSOR(.name = "orders", .handler = crash_at_40));
    for (uint32_t size = 0; size < 3; size++) {
        scene_post(engine, orders, size);
    }
    scene_post(engine, orders, CRASH_SIZE);
    scene_start(engine);
    wait_for_the_end();
}

static void one_byte_is_not_bytes(void **state)
{
    (void)state;
    crash_way = crash_now;
    run_scene(crash_after_small_ones);
    died_of(SIGSEGV);
    said("\n     2  orders  weir.bytes (2 bytes)   from outside"
         "\n     3  orders  weir.bytes (1 byte)    from outside"
         "\n     4  orders  weir.bytes (0 bytes)   from outside\n  stack,");
}

static weir_status stop_a_processor(void *state, weir_turn *turn, const weir_event *event)
{
    (void)event;
    return weir_processor_stop_async(weir_turn_engine(turn), *(weir_processor *)state, 0);
}

/* "brief" sends to "orders" and is gone when that crashes; the third has no name. */
static void crash_after_a_processor_is_gone(void)
{
    static weir_processor brief;
    weir_engine *engine = scene_engine(NULL);
    orders = scene_add(engine, WEIR_PROCESSOR(.name = "orders", .handler = crash_at_40));
    brief = scene_add(engine, WEIR_PROCESSOR(.name = "brief", .handler = pass_on_to_orders));
    const weir_processor nameless =
        scene_add(engine, WEIR_PROCESSOR(.handler = stop_a_processor, .argument = &brief));
    scene_post(engine, brief, 7);
    scene_start(engine);
    scene_post(engine, nameless, 8);
    while (weir_processor_find(engine, "brief").id != 0) {
        (void)sched_yield();
    }
    scene_post(engine, orders, CRASH_SIZE);
    wait_for_the_end();
}

static void processors_that_are_gone_or_have_no_name_are_shown_by_number(void **state)
{
    (void)state;
    crash_way = crash_now;
    run_scene(crash_after_a_processor_is_gone);
    died_of(SIGSEGV);
    reported_once("weir: SIGSEGV");
    said("#1.1 (gone)  weir.bytes (7 bytes)   from outside\n");
    said("orders       weir.bytes (7 bytes)   from #1.1 (gone)\n");
    said("#2.1         weir.bytes (8 bytes)   from outside\n");
    said("  1  orders       weir.bytes (40 bytes)  from outside\n");
}

/* ---- threads that the application turns ---- */

static struct {
    weir_engine *engine;
    weir_thread thread;
} inner;

static weir_status turn_the_inner_loop(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    SCENE_NEEDS(weir_thread_run_once(inner.engine, inner.thread, 0) == 1);
    crash_now();
    return WEIR_OK;
}

/* A loop turned in a handler of another one: `size` decides whether the inner handler crashes. */
static void turn_two_loops(uint32_t size)
{
    inner.engine = scene_engine(WEIR_ENGINE(.name = "inner"));
    inner.thread = scene_thread(inner.engine, WEIR_THREAD(.name = "in", .external = true));
    scene_post(inner.engine,
               scene_add(inner.engine, WEIR_PROCESSOR(.name = "deep", .handler = crash_at_40)),
               size);
    scene_start(inner.engine);
    weir_engine *engine = scene_engine(WEIR_ENGINE(.name = "outer"));
    const weir_thread thread = scene_thread(engine, WEIR_THREAD(.name = "out", .external = true));
    const weir_processor to =
        scene_add(engine, WEIR_PROCESSOR(.name = "turner", .handler = turn_the_inner_loop));
    scene_start(engine);
    scene_post(engine, to, 3);
    (void)weir_thread_run_once(engine, thread, 0);
}

static void crash_in_the_inner_loop(void)
{
    turn_two_loops(CRASH_SIZE);
}

static void crash_after_the_inner_loop(void)
{
    turn_two_loops(4);
}

static void a_handler_on_an_external_thread_is_named_the_innermost_if_they_nest(void **state)
{
    (void)state;
    crash_way = crash_now;
    run_scene(crash_in_the_inner_loop);
    died_of(SIGSEGV);
    reported_once(") in the handler of processor \"deep\"\n"
                  "  event weir.bytes (40 bytes), from outside\n"
                  "  engine \"inner\", thread \"in\" (");
    run_scene(crash_after_the_inner_loop);
    died_of(SIGSEGV);
    reported_once(") in the handler of processor \"turner\"\n"
                  "  event weir.bytes (3 bytes), from outside\n"
                  "  engine \"outer\", thread \"out\" (");
}

/* ---- names ---- */

static char long_name[256];
static const weir_event_type strange_type = {
    sizeof(weir_event_type), "test.a\nb\x1b[1m", 0, true, NULL, NULL
};

static void crash_with_long_names(void)
{
    memset(long_name, 'x', 255);
    weir_engine *engine = scene_engine(WEIR_ENGINE(.name = long_name));
    (void)scene_thread(engine, WEIR_THREAD(.name = long_name));
    const weir_processor to =
        scene_add(engine, WEIR_PROCESSOR(.name = long_name, .handler = crash_at_40));
    scene_start(engine);
    const weir_event event = { .type = &strange_type, .size = CRASH_SIZE, .data = long_name };
    SCENE_NEEDS(weir_engine_post(engine, to, &event) == WEIR_OK);
    wait_for_the_end();
}

static void long_names_are_whole_once_and_cut_in_the_list_and_none_breaks_a_line(void **state)
{
    (void)state;
    char x[256];
    char line[300];
    memset(x, 'x', sizeof(x));
    crash_way = crash_now;
    run_scene(crash_with_long_names);
    died_of(SIGSEGV);
    (void)snprintf(line, sizeof(line), ") in the handler of processor \"%.255s\"\n", x);
    reported_once(line);
    (void)snprintf(line, sizeof(line), "  engine \"%.255s\", thread", x);
    said(line);
    (void)snprintf(line, sizeof(line), "thread \"%.255s\" (", x);
    said(line);
    (void)snprintf(line, sizeof(line), "     1  %.29s...  test.a?b?[1m (40 bytes)  from outside\n",
                   x);
    said(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_that_crashes_is_named_and_the_process_dies_of_the_same_signal),
        cmocka_unit_test(every_fatal_signal_is_reported_and_ends_the_process),
        cmocka_unit_test(a_stack_overflow_is_reported_as_one),
        cmocka_unit_test(a_call_of_nothing_shows_its_caller),
        cmocka_unit_test(the_last_32_events_are_shown_newest_first_or_as_many_as_there_were),
        cmocka_unit_test(one_byte_is_not_bytes),
        cmocka_unit_test(processors_that_are_gone_or_have_no_name_are_shown_by_number),
        cmocka_unit_test(a_handler_on_an_external_thread_is_named_the_innermost_if_they_nest),
        cmocka_unit_test(long_names_are_whole_once_and_cut_in_the_list_and_none_breaks_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
