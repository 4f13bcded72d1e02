/*
 * trace_test.c - a recording: what is in it, what it costs nobody, and who may do what when.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fault_support.h"
#include "origin_support.h"

#include <weir/trace.h>

#include "engine/engine.h"
#include "engine/stamp.h"
#include "engine/trace.h"
#include "engine/trace_recent.h"

enum { TEXT_MAX = 8 << 20 };

typedef struct page {
    char *bytes;
    size_t length;
    size_t most; /* then it says no */
} page;

static bool put(void *context, const char *text, size_t size)
{
    page *p = context;
    if (p->length + size >= p->most) {
        return false;
    }
    memcpy(p->bytes + p->length, text, size);
    p->length += size;
    p->bytes[p->length] = '\0';
    return true;
}

/* For free(). */
static char *text_of(weir_engine *engine)
{
    page p = { .bytes = malloc(TEXT_MAX), .most = TEXT_MAX };
    assert_non_null(p.bytes);
    assert_int_equal(WEIR_OK, weir_trace_visit(engine, put, &p));
    return p.bytes;
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
        count++;
    }
    return count;
}

/* ---- what is in it ---- */

static void turns_are_recorded_with_their_processor_and_how_many_events(void **state)
{
    (void)state;
    scene s;
    actor a = { .act = NULL };
    scene_open(&s);
    const weir_processor to =
        test_processor_add(s.engine, WEIR_PROCESSOR(.name = "he said \"hi\\\" \x01",
                                                    .handler = actor_handle, .argument = &a));
    scene_start(&s);
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
    scene_turn(&s); /* not recorded */
    assert_int_equal(WEIR_OK, weir_trace_start(s.engine, NULL, NULL));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
    }
    scene_turn(&s);
    assert_int_equal(WEIR_OK, weir_trace_stop(s.engine));
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
    scene_turn(&s); /* nor is this */
    char *text = text_of(s.engine);
    assert_int_equal(1, count_of(text, "\"cat\":\"turn\""));
    assert_non_null(strstr(text, "\"name\":\"he said \\\"hi\\\\\\\" \\u0001\""));
    assert_non_null(strstr(text, "\"args\":{\"turns\":1,\"events\":5,\"dispatcher\":\"\""));
    assert_non_null(strstr(text, "\"thread_name\",\"args\":{\"name\":\"hand\"}"));
    assert_non_null(strstr(text, "\"records_lost\":0"));
    free(text);
    scene_close(&s);
}

/* What this thread posts is not stamped: a test has records of its own. */
static weir__context *no_stamps(weir_engine *engine)
{
    weir__context *context = weir__context_find(engine);
    context->stamp_in = UINT32_MAX;
    context->trace_shown = INT64_MAX; /* it is not time for another one */
    return context;
}

/* As the turn of a measured event does it. */
static weir_status measured(actor *a, weir_turn *turn, const weir_event *event)
{
    weir__context *context = weir__context_find(weir_turn_engine(turn));
    const weir_ns posted = a->kept.flow != 0 ? (weir_ns)a->kept.flow : test_now();
    const weir_ns begin = test_now();
    weir__trace_handled(context, weir_turn_self(turn), event, posted, begin, test_now());
    return WEIR_OK;
}

static void a_measured_event_is_a_handler_with_an_arrow_if_its_post_is_there(void **state)
{
    (void)state;
    scene s;
    actor a = { .act = measured };
    scene_open(&s);
    const weir_processor to = add(&s, &a);
    weir__context *context = no_stamps(s.engine);
    const weir_traceparent parent = { .trace = { 1 }, .parent = { 2 }, .flags = 1 };
    scene_start(&s);
    assert_int_equal(WEIR_OK, weir_trace_start(s.engine, NULL, NULL));
    a.kept.flow = (uint64_t)test_now();
    weir__trace_posted(context, to.id, &weir_bytes_type, (weir_ns)a.kept.flow);
    assert_int_equal(WEIR_OK, weir_engine_traceparent_set(s.engine, &parent));
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
    assert_int_equal(WEIR_OK, weir_engine_traceparent_set(s.engine, NULL));
    scene_turn(&s);
    a.kept.flow = (uint64_t)test_now(); /* of one whose post nobody recorded */
    assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
    scene_turn(&s);
    a.kept.flow = 0;
    assert_int_equal(WEIR_OK, weir_trace_stop(s.engine));
    char *text = text_of(s.engine);
    assert_int_equal(2, count_of(text, "\"cat\":\"handler\""));
    assert_int_equal(1, count_of(text, "\"ph\":\"s\""));
    assert_int_equal(1, count_of(text, "\"ph\":\"f\""));
    assert_int_equal(1, count_of(text, "\"cat\":\"post\""));
    assert_int_equal(1, count_of(text, "\"traceparent\":\"00-01000000000000000000000000000000-"
                                       "0200000000000000-01\""));
    assert_int_equal(2, count_of(text, "\"sender\":\"(outside)\""));
    assert_non_null(strstr(text, "\"name\":\"outside "));
    free(text);
    scene_close(&s);
}

static weir_status pass_three(actor *a, weir_turn *turn, const weir_event *event)
{
    (void)event;
    for (int i = 0; i < 3; i++) {
        a->status |= weir_turn_post(turn, a->to[0], small());
    }
    return WEIR_OK;
}

static void with_every_event_measured_each_has_its_arrow(void **state)
{
    (void)state;
    scene s;
    actor first = { .act = pass_three };
    actor second = { .act = NULL };
    scene_open(&s);
    weir__store(&s.engine->latency_every, 1, relaxed);
    first.to[0] = add(&s, &second);
    const weir_processor to = add(&s, &first);
    scene_start(&s);
    assert_int_equal(WEIR_OK, weir_trace_start(s.engine, NULL, NULL));
    for (int i = 0; i < 10; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
        scene_turn(&s);
    }
    assert_int_equal(WEIR_OK, weir_trace_stop(s.engine));
    char *text = text_of(s.engine);
    assert_int_equal(WEIR_OK, first.status);
    assert_int_equal(40, count_of(text, "\"cat\":\"handler\""));
    assert_int_equal(40, count_of(text, "\"ph\":\"s\""));
    assert_int_equal(40, count_of(text, "\"ph\":\"f\""));
    assert_int_equal(10, count_of(text, "\"cat\":\"post\""));
    free(text);
    scene_close(&s);
}

static void the_oldest_give_way_and_are_counted(void **state)
{
    (void)state;
    scene s;
    actor a = { .act = measured }; /* two records each, and one of the turn */
    scene_open(&s);
    const weir_processor to = add(&s, &a);
    (void)no_stamps(s.engine);
    scene_start(&s);
    assert_int_equal(WEIR_OK, weir_trace_start(s.engine, WEIR_TRACE(.records_max = 16), NULL));
    for (int i = 0; i < 100; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(s.engine, to, small()));
        scene_turn(&s);
    }
    assert_int_equal(WEIR_OK, weir_trace_stop(s.engine));
    char *text = text_of(s.engine);
    assert_non_null(strstr(text, "\"records_lost\":284"));
    assert_non_null(strstr(text, "\"args\":{\"lost\":284}"));
    assert_int_equal(5, count_of(text, "\"cat\":\"handler\""));
    assert_int_equal(6, count_of(text, "\"cat\":\"turn\"")); /* what began with a rest of one */
    free(text);
    weir__recorder *recorder = weir__trace_take(s.engine);
    weir_ns last = 0;
    for (uint32_t i = 0; i < weir__trace_held(&recorder->rings[0]); i++) {
        const weir__trace_record *record = weir__trace_at(&recorder->rings[0], i);
        if (record->kind == WEIR__TRACE_TURN) {
            assert_true(record->end >= last); /* the oldest first */
            last = record->end;
        }
    }
    weir__trace_give_back(s.engine, recorder);
    scene_close(&s);
}

/* ---- who may do what when ---- */

static void a_recording_is_read_when_it_is_over_and_stays_until_the_next(void **state)
{
    (void)state;
    scene s;
    actor a = { .act = NULL };
    page p = { .bytes = malloc(TEXT_MAX), .most = TEXT_MAX };
    weir_error error = WEIR_ERROR_INIT;
    scene_open(&s);
    (void)add(&s, &a);
    scene_start(&s);
    assert_int_equal(WEIR_E_INVALID, weir_trace_visit(s.engine, put, &p));
    assert_int_equal(WEIR_ALREADY, weir_trace_stop(s.engine));
    assert_int_equal(WEIR_OK, weir_trace_start(s.engine, NULL, &error));
    assert_int_equal(WEIR_ALREADY, weir_trace_start(s.engine, NULL, &error));
    assert_int_equal(WEIR_E_INVALID, weir_trace_visit(s.engine, put, &p));
    assert_int_equal(WEIR_E_INVALID, weir_trace_write(s.engine, "never.json", &error));
    assert_int_equal(WEIR_OK, weir_trace_stop(s.engine));
    assert_int_equal(WEIR_ALREADY, weir_trace_stop(s.engine));
    assert_int_equal(WEIR_OK, weir_trace_visit(s.engine, put, &p));
    p.length = 0;
    p.most = 10; /* `put` says no at once */
    assert_int_equal(WEIR_OK, weir_trace_visit(s.engine, put, &p));
    assert_int_equal(0, p.length);
    assert_int_equal(WEIR_E_INVALID, weir_trace_visit(s.engine, NULL, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_trace_visit(NULL, put, &p));
    free(p.bytes);
    scene_close(&s);
}

static void wrong_numbers_of_records_are_refused_and_say_why(void **state)
{
    (void)state;
    static const uint32_t wrong[] = { 1, 8, 17, 65535, 1u << 23 };
    scene s;
    scene_open(&s);
    scene_start(&s);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(WEIR_E_INVALID,
                         weir_trace_start(s.engine, WEIR_TRACE(.records_max = wrong[i]), &error));
        assert_non_null(strstr(error.text, "power of two"));
    }
    scene_close(&s);
}

static void a_file_is_there_whole_or_not_at_all(void **state)
{
    (void)state;
    scene s;
    char path[] = "/tmp/weir-trace-test.XXXXXX";
    char file[64];
    weir_error error = WEIR_ERROR_INIT;
    assert_non_null(mkdtemp(path));
    (void)snprintf(file, sizeof(file), "%s/t.json", path);
    scene_open(&s);
    scene_start(&s);
    assert_int_equal(WEIR_OK, weir_trace_start(s.engine, NULL, NULL));
    assert_int_equal(WEIR_OK, weir_trace_stop(s.engine));
    assert_int_equal(WEIR_OK, weir_trace_write(s.engine, file, &error));
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    char head[32] = "";
    assert_non_null(fgets(head, sizeof(head), in));
    assert_memory_equal("{\"displayTimeUnit\"", head, 18);
    (void)fclose(in);
    assert_int_equal(0, unlink(file));
    assert_int_equal(0, rmdir(path)); /* nothing else is there */
    assert_int_equal(WEIR_E_SYSTEM, weir_trace_write(s.engine, file, &error));
    scene_close(&s);
}

static void without_memory_there_is_no_recording_and_the_engine_goes_on(void **state)
{
    (void)state;
    long nth = 0;
    for (bool failed = true; failed; nth++) {
        test_fault fault;
        test_fault_init(&fault);
        const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
        scene s = { .engine = test_engine_create(
                        WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .allocator = &allocator)) };
        s.thread = test_thread_add(s.engine, WEIR_THREAD(.name = "hand", .external = true));
        token_open(&s.t);
        scene_start(&s);
        atomic_store(&fault.until, nth);
        const weir_status status = weir_trace_start(s.engine, WEIR_TRACE(.records_max = 16), NULL);
        failed = atomic_load(&fault.hits) > 0;
        assert_int_equal(failed ? WEIR_E_NOMEM : WEIR_OK, status);
        if (status == WEIR_OK) {
            atomic_store(&fault.until, 0); /* without arrows, then */
            assert_int_equal(WEIR_OK, weir_trace_stop(s.engine));
            free(text_of(s.engine));
        }
        atomic_store(&fault.until, -1);
        scene_close(&s);
        assert_int_equal(0, atomic_load(&fault.bytes));
        assert_int_equal(0, atomic_load(&fault.wrong));
    }
    assert_true(nth > 3);
}

/* ---- while everything runs ---- */

typedef struct load {
    weir_engine *engine;
    weir_processor to[2];
    atomic_bool over;
} load;

static void *keep_posting(void *argument)
{
    load *l = argument;
    for (uint32_t n = 0; !atomic_load(&l->over); n++) {
        if (weir_engine_post(l->engine, l->to[n % 2], small()) != WEIR_OK) {
            (void)sched_yield();
        }
        weir__trace_posted(weir__context_find(l->engine), l->to[n % 2].id, &weir_bytes_type,
                           test_now());
    }
    return NULL;
}

static bool count_recent(void *context, const weir__recent *event)
{
    *(uint64_t *)context += event->size == 8 && event->type == &weir_bytes_type;
    return true;
}

static void recordings_come_and_go_while_threads_write(void **state)
{
    (void)state;
    load l = { .engine = test_engine_create(
                   WEIR_ENGINE(.threads = 2, .log_level = WEIR_LOG_OFF, .latency_every = 8)) };
    actor a[2] = { { .act = measured }, { .act = measured } };
    pthread_t posters[2];
    uint64_t recent = 0;
    for (int i = 0; i < 2; i++) {
        l.to[i] =
            test_processor_add(l.engine, WEIR_PROCESSOR(.handler = actor_handle, .argument = &a[i],
                                                        .mailbox_max = 64));
    }
    test_engine_start(l.engine);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(0, pthread_create(&posters[i], NULL, keep_posting, &l));
    }
    const int rounds = TEST_SANITIZED ? 10 : 30;
    for (int round = 0; round < rounds; round++) {
        assert_int_equal(WEIR_OK,
                         weir_trace_start(l.engine, WEIR_TRACE(.records_max = 1024), NULL));
        const uint64_t before = test_engine_counters(l.engine).handled;
        TEST_UNTIL(test_engine_counters(l.engine).handled > before + 500);
        weir__trace_recent(l.engine, l.to[0], count_recent, &recent);
        assert_int_equal(WEIR_OK, weir_trace_stop(l.engine));
        char *text = text_of(l.engine);
        assert_true(count_of(text, "\"cat\":\"handler\"") > 0);
        free(text);
    }
    assert_true(recent > 0);
    atomic_store(&l.over, true);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(0, pthread_join(posters[i], NULL));
    }
    assert_int_equal(WEIR_OK, weir_trace_start(l.engine, NULL, NULL)); /* a stop finds it on */
    assert_int_equal(WEIR_OK, weir_engine_stop(l.engine, 10 * WEIR_S, NULL));
    weir_engine_destroy(l.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_recorded_with_their_processor_and_how_many_events),
        cmocka_unit_test(a_measured_event_is_a_handler_with_an_arrow_if_its_post_is_there),
        cmocka_unit_test(with_every_event_measured_each_has_its_arrow),
        cmocka_unit_test(the_oldest_give_way_and_are_counted),
        cmocka_unit_test(a_recording_is_read_when_it_is_over_and_stays_until_the_next),
        cmocka_unit_test(wrong_numbers_of_records_are_refused_and_say_why),
        cmocka_unit_test(a_file_is_there_whole_or_not_at_all),
        cmocka_unit_test(without_memory_there_is_no_recording_and_the_engine_goes_on),
        cmocka_unit_test(recordings_come_and_go_while_threads_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
