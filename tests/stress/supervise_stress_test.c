/*
 * supervise_stress_test.c - every directive under load: several threads post, some events fail, and
 * every sum is exact at the end (P-3); order behind a retry is kept (P-2).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../engine/option_support.h"

enum { POSTERS = 4, WORKERS = 4, BAD = WEIR_E_USER - 9 };

typedef struct job {
    uint32_t poster;
    uint32_t fails; /* so many times */
    uint64_t number;
} job;
WEIR_EVENT_TYPE(job, "stress.job");

/* Outlives restarts. Written in turns of one processor. */
typedef struct ledger {
    uint64_t handled, inits, destroys;
    uint32_t retry_max;
    uint32_t failed;        /* times that the event at hand has */
    uint64_t last[POSTERS]; /* number + 1 of the last that came, of each */
    uint64_t disordered;
} ledger;

typedef struct worker {
    ledger *ledger;
    uint64_t zero; /* of memory that is made anew */
} worker;

static weir_status on_init(void *state, weir_turn *turn, void *argument)
{
    worker *w = state;
    (void)turn;
    w->ledger = argument;
    w->ledger->inits++;
    w->ledger->disordered += w->zero != 0;
    return WEIR_OK;
}

static void on_destroy(void *state, weir_status reason)
{
    const worker *w = state;
    (void)reason;
    w->ledger->destroys++;
}

static weir_status on_job(void *state, weir_turn *turn, const weir_event *event)
{
    worker *w = state;
    ledger *l = w->ledger;
    const job *j = weir_event_as(event, &job_type);
    (void)turn;
    if (j == NULL) {
        return WEIR_UNHANDLED;
    }
    w->zero++;
    const bool again = l->last[j->poster] == j->number + 1;
    l->disordered +=
        !again && l->failed > 0 && l->failed <= l->retry_max; /* it was to come first */
    l->disordered += l->last[j->poster] > j->number + 1;
    l->last[j->poster] = j->number + 1;
    l->failed = again ? l->failed : 0;
    if (l->failed < j->fails) {
        l->failed++;
        return BAD;
    }
    l->failed = 0;
    l->handled++;
    return WEIR_OK;
}

typedef struct crowd {
    weir_engine *engine;
    weir_processor workers[WORKERS];
    uint64_t events;
    uint32_t fails; /* of every 16th */
} crowd;

typedef struct poster {
    crowd *crowd;
    uint32_t number;
    uint64_t accepted, refused;
    pthread_t thread;
} poster;

static void *post_jobs(void *argument)
{
    poster *p = argument;
    const crowd *c = p->crowd;
    for (uint64_t i = 0; i < c->events; i++) {
        const weir_status status =
            weir_engine_post(c->engine, c->workers[i % WORKERS],
                             WEIR_EVENT(job, .poster = p->number, .number = i,
                                        .fails = i / WORKERS % 16 == 5 ? c->fails : 0));
        *(status == WEIR_OK ? &p->accepted : &p->refused) += 1;
    }
    return NULL;
}

/* Returns what was accepted. */
static uint64_t flood(crowd *c)
{
    poster posters[POSTERS];
    uint64_t accepted = 0;
    for (uint32_t i = 0; i < POSTERS; i++) {
        posters[i] = (poster){ .crowd = c, .number = i };
        assert_int_equal(0, pthread_create(&posters[i].thread, NULL, post_jobs, &posters[i]));
    }
    for (uint32_t i = 0; i < POSTERS; i++) {
        assert_int_equal(0, pthread_join(posters[i].thread, NULL));
        accepted += posters[i].accepted;
    }
    return accepted;
}

static void under_load(weir_processor_options options, uint32_t fails, uint64_t events,
                       weir_directive parents)
{
    static ledger ledgers[WORKERS];
    static ledger above;
    memset(ledgers, 0, sizeof(ledgers));
    memset(&above, 0, sizeof(above));
    crowd c = { .events = events, .fails = fails };
    c.engine = test_engine_create(WEIR_ENGINE(.threads = 4, .log_level = WEIR_LOG_OFF,
                                              .overflow = WEIR_OVERFLOW_BLOCK,
                                              .block_max = TEST_PATIENCE));
    options.struct_size = sizeof(options);
    options.handler = on_job;
    options.init = on_init;
    options.destroy = on_destroy;
    options.state_size = sizeof(worker);
    if (parents != WEIR_RETRY) {
        options.parent = test_processor_add(
            c.engine, WEIR_PROCESSOR(.handler = on_job, .init = on_init, .destroy = on_destroy,
                                     .state_size = sizeof(worker), .argument = &above,
                                     .on_failure = parents, .restart_max = 1000));
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        options.argument = &ledgers[i];
        ledgers[i].retry_max = options.on_failure == WEIR_RETRY ? options.retry_max : 0;
        c.workers[i] = test_processor_add(c.engine, &options);
    }
    test_engine_start(c.engine);
    const uint64_t accepted = flood(&c);
    TEST_UNTIL(test_engine_counters(c.engine).depth == 0); /* a stop would cut retries short */
    const weir_stop_report report = test_engine_end(c.engine);
    uint64_t handled = 0;
    for (uint32_t i = 0; i < WORKERS; i++) {
        handled += ledgers[i].handled;
        assert_int_equal(0, ledgers[i].disordered);
        assert_int_equal(ledgers[i].inits, ledgers[i].destroys);
    }
    assert_int_equal(above.inits, above.destroys);
    assert_int_equal(accepted, report.accepted);
    assert_int_equal(handled, report.handled);
    assert_int_equal(accepted - handled, report.dead);
    assert_int_equal(0, report.dropped);
}

enum { NO_PARENT = WEIR_RETRY }; /* which is no answer of a parent's */

static void resume_under_load(void **state)
{
    (void)state;
    under_load((weir_processor_options){ .on_failure = WEIR_RESUME }, 1, test_load(100000, 4000),
               (weir_directive)NO_PARENT);
}

static void retry_under_load(void **state)
{
    (void)state;
    under_load((weir_processor_options){ .on_failure = WEIR_RETRY,
                                         .retry_max = 3,
                                         .retry_delay = WEIR_US },
               2, test_load(4000, 800), (weir_directive)NO_PARENT);
}

static void retries_that_end_in_restarts_under_load(void **state)
{
    (void)state;
    under_load((weir_processor_options){ .on_failure = WEIR_RETRY,
                                         .retry_delay = WEIR_US,
                                         .retry_max = 1,
                                         .retry_then = WEIR_RESTART,
                                         .restart_max = 1000,
                                         .restart_window = 1 },
               2, test_load(4000, 800), (weir_directive)NO_PARENT);
}

static void restart_under_load(void **state)
{
    (void)state;
    under_load((weir_processor_options){ .on_failure = WEIR_RESTART,
                                         .restart_max = 1000,
                                         .restart_window = 1 },
               1, test_load(100000, 4000), (weir_directive)NO_PARENT);
}

static void restarts_that_are_too_many_under_load(void **state)
{
    (void)state;
    under_load((weir_processor_options){ .on_failure = WEIR_RESTART,
                                         .restart_max = 5,
                                         .restart_window = 3600 * WEIR_S },
               1, test_load(20000, 4000), (weir_directive)NO_PARENT);
}

static void stop_under_load(void **state)
{
    (void)state;
    under_load((weir_processor_options){ .on_failure = WEIR_STOP }, 1, test_load(20000, 4000),
               (weir_directive)NO_PARENT);
}

static void escalation_to_a_parent_that_resumes_under_load(void **state)
{
    (void)state;
    under_load((weir_processor_options){ .on_failure = WEIR_ESCALATE }, 1, test_load(50000, 4000),
               WEIR_RESUME);
}

static void escalation_to_a_parent_that_restarts_under_load(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        under_load((weir_processor_options){ .on_failure = WEIR_ESCALATE }, 1, 400, WEIR_RESTART);
    }
}

static void escalation_to_a_parent_that_stops_under_load(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        under_load((weir_processor_options){ .on_failure = WEIR_ESCALATE }, 1, 400, WEIR_STOP);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resume_under_load),
        cmocka_unit_test(retry_under_load),
        cmocka_unit_test(retries_that_end_in_restarts_under_load),
        cmocka_unit_test(restart_under_load),
        cmocka_unit_test(restarts_that_are_too_many_under_load),
        cmocka_unit_test(stop_under_load),
        cmocka_unit_test(escalation_to_a_parent_that_resumes_under_load),
        cmocka_unit_test(escalation_to_a_parent_that_restarts_under_load),
        cmocka_unit_test(escalation_to_a_parent_that_stops_under_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
