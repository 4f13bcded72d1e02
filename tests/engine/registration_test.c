/*
 * registration_test.c - adding processors: names, dispatchers, all or none, and what many of them
 * cost while they have nothing to do. SPEC: S-09, S-12, P-6, P-10.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

static weir_engine *engine_with_three_dispatchers(void)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = engine_quiet();
    assert_int_equal(WEIR_OK, weir_assign(engine,
                                          WEIR_ROWS(WEIR_NAMES("api", "realtime"),
                                                    WEIR_NAMES("api"), WEIR_NAMES("batch")),
                                          &error));
    assert_no_error(&error);
    return engine;
}

/* The whole message, as a person would see it. */
static const char *message_of(const weir_error *error)
{
    static char text[600];
    (void)weir_error_format(error, text, sizeof(text));
    return text;
}

static void registration_on_an_unknown_dispatcher_names_it_and_lists_the_valid_ones(void **unused)
{
    (void)unused;
    weir_engine *engine = engine_with_three_dispatchers();
    for (int started = 0; started < 2; started++) {
        weir_error error = WEIR_ERROR_INIT;
        const weir_processor p = weir_processor_add(
            engine, WEIR_PROCESSOR(.dispatcher = "rea1time", .handler = ignore_event), &error);
        assert_int_equal(0, p.id);
        assert_int_equal(WEIR_E_INVALID, error.status);
        const char *text = message_of(&error);
        assert_non_null(strstr(text, "dispatcher"));
        assert_non_null(strstr(text, "rea1time"));
        assert_non_null(strstr(text, "api"));
        assert_non_null(strstr(text, "realtime"));
        assert_non_null(strstr(text, "batch"));
        assert_int_equal(0, engine_counters(engine).processors);
        if (started == 0) {
            engine_start(engine);
        }
    }
    engine_finish(engine, 0);
}

static void a_processor_without_a_dispatcher_needs_the_default_one_to_be_served(void **unused)
{
    (void)unused;
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = engine_with_three_dispatchers();
    engine_start(engine);
    const weir_processor p =
        weir_processor_add(engine, WEIR_PROCESSOR(.handler = ignore_event), &error);
    assert_int_equal(0, p.id);
    assert_int_equal(WEIR_E_INVALID, error.status);
    assert_non_null(strstr(message_of(&error), "realtime"));
    engine_finish(engine, 0);
}

typedef struct visited {
    char names[8][16]; /* copies: a name is valid during the visit */
    size_t count, limit;
} visited;

static bool visit(void *context, const char *name)
{
    visited *v = context;
    (void)snprintf(v->names[v->count++], sizeof(v->names[0]), "%s", name);
    return v->count < v->limit;
}

static void the_valid_dispatcher_names_are_readable_in_the_order_of_the_threads(void **unused)
{
    (void)unused;
    weir_engine *engine = engine_with_three_dispatchers();
    visited v = { .limit = 8 };
    weir_dispatcher_visit(engine, visit, &v);
    assert_int_equal(3, v.count);
    assert_string_equal("api", v.names[0]);
    assert_string_equal("realtime", v.names[1]);
    assert_string_equal("batch", v.names[2]);
    v = (visited){ .limit = 2 };
    weir_dispatcher_visit(engine, visit, &v);
    assert_int_equal(2, v.count);
    weir_engine_destroy(engine);
}

static void a_duplicate_name_is_refused_and_free_again_after_a_stop(void **unused)
{
    (void)unused;
    weir_engine *engine = engine_quiet();
    const weir_processor first =
        engine_add(engine, WEIR_PROCESSOR(.name = "orders", .handler = ignore_event));
    engine_start(engine);
    weir_error error = WEIR_ERROR_INIT;
    const weir_processor second = weir_processor_add(
        engine, WEIR_PROCESSOR(.name = "orders", .handler = ignore_event), &error);
    assert_int_equal(0, second.id);
    assert_int_equal(WEIR_E_TAKEN, error.status);
    assert_non_null(strstr(message_of(&error), "orders"));
    assert_true(weir_processor_find(engine, "orders").id == first.id);

    assert_int_equal(WEIR_OK, weir_processor_stop(engine, first, 0, NULL));
    assert_int_equal(0, weir_processor_find(engine, "orders").id);
    const weir_processor third =
        engine_add(engine, WEIR_PROCESSOR(.name = "orders", .handler = ignore_event));
    assert_true(third.id != first.id);
    assert_true(weir_processor_find(engine, "orders").id == third.id);
    engine_finish(engine, 0);
}

static void a_processor_is_shown_by_its_name_or_by_index_and_generation(void **unused)
{
    (void)unused;
    char text[64];
    weir_engine *engine = engine_quiet();
    const weir_processor named =
        engine_add(engine, WEIR_PROCESSOR(.name = "orders", .handler = ignore_event));
    const weir_processor nameless = engine_add(engine, WEIR_PROCESSOR(.handler = ignore_event));
    assert_int_equal(6, weir_processor_name(engine, named, text, sizeof(text)));
    assert_string_equal("orders", text);
    assert_int_equal(6, weir_processor_name(engine, named, text, 4)); /* cut, the length full */
    assert_string_equal("ord", text);
    const size_t length = weir_processor_name(engine, nameless, text, sizeof(text));
    assert_int_equal(strlen(text), length);
    unsigned index, generation;
    char rest;
    assert_int_equal(2, sscanf(text, "#%u.%u%c", &index, &generation, &rest));
    assert_int_equal(0, weir_processor_name(engine, (weir_processor){ 0 }, text, sizeof(text)));
    weir_engine_destroy(engine);
}

static void many_are_registered_in_one_call_all_or_none(void **unused)
{
    (void)unused;
    enum { MANY = 100 };
    static weir_processor_options options[MANY];
    static const weir_processor_options *list[MANY];
    static char names[MANY][16];
    weir_processor out[MANY];
    weir_engine *engine = engine_quiet();
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "p-%zu", i);
        options[i] = *WEIR_PROCESSOR(.name = names[i], .handler = ignore_event);
        list[i] = &options[i];
    }
    const weir_processor taken =
        engine_add(engine, WEIR_PROCESSOR(.name = "taken", .handler = ignore_event));

    /* The last one is wrong: a name that is taken, one that is twice in the list, a dispatcher
     * that nobody serves, no handler, a mailbox that is too large. */
    const weir_processor_options wrong[] = {
        *WEIR_PROCESSOR(.name = "taken", .handler = ignore_event),
        *WEIR_PROCESSOR(.name = "p-7", .handler = ignore_event),
        *WEIR_PROCESSOR(.name = "x", .handler = ignore_event, .dispatcher = "nobody"),
        *WEIR_PROCESSOR(.name = "x"),
        *WEIR_PROCESSOR(.name = "x", .handler = ignore_event, .mailbox_max = 1000001),
    };
    const weir_status expected[] = { WEIR_E_TAKEN, WEIR_E_TAKEN, WEIR_E_INVALID, WEIR_E_INVALID,
                                     WEIR_E_INVALID };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        list[MANY - 1] = &wrong[i];
        assert_int_equal(expected[i], weir_processor_add_many(engine, list, MANY, out, &error));
        assert_int_equal(expected[i], error.status);
        assert_int_equal(1, engine_counters(engine).processors);
        assert_int_equal(0, weir_processor_find(engine, "p-0").id);
        assert_true(weir_processor_find(engine, "taken").id == taken.id);
    }
    weir_error error = WEIR_ERROR_INIT;
    list[MANY - 1] = &options[MANY - 1];
    assert_int_equal(WEIR_OK, weir_processor_add_many(engine, list, MANY, out, &error));
    assert_int_equal(MANY + 1, engine_counters(engine).processors);
    for (size_t i = 0; i < MANY; i++) {
        assert_true(weir_processor_find(engine, names[i]).id == out[i].id);
    }
    engine_start(engine);
    engine_finish(engine, 0);
}

static void a_wrong_option_is_an_error_that_names_the_field_and_the_value(void **unused)
{
    (void)unused;
    weir_engine *engine = engine_quiet();
    weir_error error = WEIR_ERROR_INIT;
    (void)weir_processor_add(
        engine, WEIR_PROCESSOR(.handler = ignore_event, .mailbox_max = 1000001), &error);
    assert_int_equal(WEIR_E_INVALID, error.status);
    assert_non_null(strstr(message_of(&error), "mailbox_max"));
    assert_non_null(strstr(message_of(&error), "1000001"));
    const weir_error first = error; /* sticky: the next call does nothing, the first error stays */
    (void)weir_processor_add(engine, WEIR_PROCESSOR(.handler = ignore_event), &error);
    assert_memory_equal(&first, &error, sizeof(error));
    assert_int_equal(0, engine_counters(engine).processors);
    error = (weir_error)WEIR_ERROR_INIT;
    (void)weir_processor_add(engine, WEIR_PROCESSOR(.handler = ignore_event, .batch_max = 65536),
                             &error);
    assert_non_null(strstr(message_of(&error), "batch_max"));
    assert_non_null(strstr(message_of(&error), "65536"));
    weir_engine_destroy(engine);
}

/* Memory by the allocator's own books, which no page cache or sanitizer blurs. */
typedef struct tally {
    _Atomic int64_t bytes, highest;
} tally;

static void *tally_allocate(void *context, size_t size, size_t alignment)
{
    tally *t = context;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory != NULL) {
        const int64_t bytes = atomic_fetch_add(&t->bytes, (int64_t)size) + (int64_t)size;
        int64_t highest = atomic_load(&t->highest);
        while (bytes > highest && !atomic_compare_exchange_weak(&t->highest, &highest, bytes)) {
        }
    }
    return memory;
}

static void tally_release(void *context, void *memory, size_t size)
{
    if (memory != NULL) {
        atomic_fetch_sub(&((tally *)context)->bytes, (int64_t)size);
    }
    free(memory);
}

static int64_t resident_bytes(void)
{
    unsigned long long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    assert_int_equal(2, fscanf(file, "%llu %llu", &total, &resident));
    (void)fclose(file);
    return (int64_t)resident * (int64_t)sysconf(_SC_PAGESIZE);
}

typedef struct crowd {
    weir_engine *engine;
    tally memory;
    weir_processor *handles;
    size_t count;
    ledger book;
    collector busy;
    weir_processor busy_handle;
    uint64_t posted;
} crowd;

/* The time of 100,000 events through the busy processor. */
static int64_t busy_time(crowd *c)
{
    enum { EVENTS = 100000 };
    ledger_open(&c->book, EVENTS);
    const int64_t begin = now_ns();
    for (uint64_t n = 0; n < EVENTS; n++) {
        assert_int_equal(WEIR_OK,
                         post_when_room(c->engine, c->busy_handle, WEIR_EVENT(mark, .number = n)));
    }
    assert_true(goal_wait(&c->book.done));
    const int64_t took = now_ns() - begin;
    ledger_check(&c->book);
    ledger_close(&c->book);
    c->posted += EVENTS;
    return took;
}

static _Atomic uint64_t idle_handled;

static weir_status count_one(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    atomic_fetch_add_explicit(&idle_handled, 1, memory_order_relaxed);
    return WEIR_OK;
}

static void crowd_open(crowd *c, size_t count)
{
    const weir_allocator allocator = { tally_allocate, tally_release, &c->memory };
    atomic_store(&c->memory.bytes, 0);
    atomic_store(&c->memory.highest, 0);
    atomic_store(&idle_handled, 0);
    c->count = count;
    c->posted = 0;
    c->handles = calloc(count + 1, sizeof(*c->handles));
    assert_non_null(c->handles);
    memset(c->handles, 0xff, count * sizeof(*c->handles)); /* resident before we look */
    c->engine =
        engine_make(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .threads = 2, .allocator = &allocator));
    c->busy = (collector){ .book = &c->book };
    c->busy_handle =
        engine_add(c->engine, WEIR_PROCESSOR(.handler = collect, .argument = &c->busy));
    engine_start(c->engine);
}

static void crowd_close(crowd *c)
{
    engine_finish(c->engine, c->posted);
    assert_int_equal(0, atomic_load(&c->memory.bytes)); /* all given back */
    free(c->handles);
}

/* One event to each, and idle again: what the mail needed does not stay with the mailbox. */
static void crowd_wake_each_once(crowd *c)
{
    for (size_t i = 0; i < c->count; i++) {
        assert_int_equal(WEIR_OK, post_when_room(c->engine, c->handles[i], WEIR_EVENT(mark, 0)));
    }
    const int64_t end = now_ns() + WAIT_SECONDS * WEIR_S;
    while (atomic_load(&idle_handled) < c->count && now_ns() < end) {
        (void)sched_yield();
    }
    assert_int_equal(c->count, atomic_load(&idle_handled));
    c->posted += c->count;
}

static void a_million_idle_processors_fit_in_1_gib(void **unused)
{
    (void)unused;
    static crowd c;
    const size_t count = (size_t)test_scaled(1000000, 20);
    const int64_t limit = ((int64_t)1 << 30) / 1000000 * (int64_t)count; /* in proportion */
    crowd_open(&c, count);
    const int64_t resident = resident_bytes();
    for (size_t i = 0; i < count; i++) {
        c.handles[i] = engine_add(c.engine, WEIR_PROCESSOR(.handler = count_one));
    }
    assert_int_equal(count + 1, engine_counters(c.engine).processors);
    for (int woken = 0; woken < 2; woken++) {
        const int64_t bytes = atomic_load(&c.memory.bytes);
        const int64_t pages = resident_bytes() - resident;
        fprintf(stderr, "# %zu idle: %.1f bytes each by the allocator, %.1f resident\n", count,
                (double)bytes / (double)count, (double)pages / (double)count);
        assert_true(bytes < limit);
        assert_true(TEST_SANITIZED || pages < limit);
        if (woken == 0) {
            crowd_wake_each_once(&c);
        }
    }
    crowd_close(&c);
}

/* Two engines, one with a crowd and one without, measured in turn; the best of each counts, for
 * the machine is noisy and the noise is the same for both. */
static void a_million_idle_processors_do_not_slow_a_busy_one(void **unused)
{
    (void)unused;
    enum { TRIES = 9, TRIES_MAX = 40 };
    static crowd lonely, crowded;
    const size_t count = (size_t)test_scaled(1000000, 20);
    crowd_open(&lonely, 0);
    crowd_open(&crowded, count);
    for (size_t i = 0; i < count; i++) {
        crowded.handles[i] = engine_add(crowded.engine, WEIR_PROCESSOR(.handler = count_one));
    }
    int64_t alone = INT64_MAX, among = INT64_MAX;
    for (int i = 0; i < TRIES || (i < TRIES_MAX && among >= alone + alone / 2); i++) {
        const int64_t a = busy_time(&lonely), b = busy_time(&crowded);
        alone = a < alone ? a : alone;
        among = b < among ? b : among;
    }
    fprintf(stderr, "# 100,000 events: %.3f ms alone, %.3f ms among %zu idle ones\n",
            (double)alone / 1e6, (double)among / 1e6, count);
    assert_true(among < alone + alone / 2);
    crowd_close(&lonely);
    crowd_close(&crowded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registration_on_an_unknown_dispatcher_names_it_and_lists_the_valid_ones),
        cmocka_unit_test(a_processor_without_a_dispatcher_needs_the_default_one_to_be_served),
        cmocka_unit_test(the_valid_dispatcher_names_are_readable_in_the_order_of_the_threads),
        cmocka_unit_test(a_duplicate_name_is_refused_and_free_again_after_a_stop),
        cmocka_unit_test(a_processor_is_shown_by_its_name_or_by_index_and_generation),
        cmocka_unit_test(many_are_registered_in_one_call_all_or_none),
        cmocka_unit_test(a_wrong_option_is_an_error_that_names_the_field_and_the_value),
        cmocka_unit_test(a_million_idle_processors_fit_in_1_gib),
        cmocka_unit_test(a_million_idle_processors_do_not_slow_a_busy_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
