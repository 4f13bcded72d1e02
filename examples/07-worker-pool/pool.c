/*
 * pool - a pool of workers that survives poisoned jobs.
 *
 * A worker that fails is restarted with fresh state; one that fails again and again is stopped. The
 * pool, its parent, watches its workers, and puts a new one in the place of one that is gone. A job
 * that a worker's full mailbox refuses is tried again a little later, in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <weir/weir.h>

enum { WORKERS = 4, JOBS = 1000, POISONED = WEIR_E_USER - 1 };

struct job {
    uint64_t number;
    bool poisoned;
};
typedef struct job job;
WEIR_EVENT_TYPE(job, "pool.job");

/* ---- a worker ---- */

struct worker {
    uint64_t done; /* since its last restart: weir makes it zero */
};

static weir_status work(void *state, weir_turn *turn, const weir_event *event)
{
    struct worker *self = state;
    const job *j = weir_event_as(event, &job_type);
    if (j->poisoned) {
        return weir_turn_fail(turn, POISONED, "this job is poisoned");
    }
    self->done++;
    return WEIR_OK;
}

/* ---- the pool ---- */

struct pool {
    weir_processor workers[WORKERS];
    sem_t *replaced; /* main's: somebody new has begun */
};

static weir_status hire(struct pool *self, weir_turn *turn, uint64_t desk)
{
    weir_error error = WEIR_ERROR_INIT;
    self->workers[desk] =
        weir_processor_add(weir_turn_engine(turn),
                           WEIR_PROCESSOR(.handler = work, .state_size = sizeof(struct worker),
                                          .dispatcher = "work", .parent = weir_turn_self(turn),
                                          .on_failure = WEIR_RESTART, .restart_max = 5),
                           &error);
    if (error.status != WEIR_OK) {
        return weir_turn_fail(turn, error.status, error.text);
    }
    return weir_turn_watch(turn, self->workers[desk], desk); /* the tag says whose desk it was */
}

static weir_status pool_begin(void *state, weir_turn *turn, void *argument)
{
    struct pool *self = state;
    weir_status status = WEIR_OK;
    self->replaced = argument;
    for (uint64_t desk = 0; desk < WORKERS && status == WEIR_OK; desk++) {
        status = hire(self, turn, desk);
    }
    return status;
}

static weir_status on_job(void *state, weir_turn *turn, const weir_event *event)
{
    struct pool *self = state;
    const job *j = weir_event_as(event, &job_type);
    const uint64_t desk = j->number % WORKERS;
    weir_status status = weir_turn_post(turn, self->workers[desk], event);
    if (status == WEIR_UNKNOWN) { /* gone. We shall be told, but that waits behind this job */
        status = hire(self, turn, desk);
        status = status == WEIR_OK ? weir_turn_post(turn, self->workers[desk], event) : status;
    }
    return status; /* FULL, STOPPING: tried again a little later */
}

static weir_status on_down(void *state, weir_turn *turn, const weir_event *event)
{
    struct pool *self = state;
    const weir_down *down = weir_event_as(event, &weir_down_type);
    weir_status status = WEIR_OK;
    printf("worker %" PRIu64 " is gone: %s\n", event->tag, down->text);
    if (down->processor.id == self->workers[event->tag].id) { /* else there is a new one already */
        status = hire(self, turn, event->tag);
    }
    sem_post(self->replaced);
    return status;
}

static const weir_case pool_cases[] = { { &job_type, on_job }, { &weir_down_type, on_down } };

int main(void)
{
    sem_t replaced;
    sem_init(&replaced, 0, 0);
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF), &error);
    weir_assign(engine, WEIR_ROWS(WEIR_NAMES(""), WEIR_NAMES("work"), WEIR_NAMES("work")), &error);
    weir_processor pool = weir_processor_add(
        engine,
        WEIR_PROCESSOR(.name = "pool", .cases = WEIR_CASES(pool_cases), .init = pool_begin,
                       .argument = &replaced, .state_size = sizeof(struct pool),
                       .on_failure = WEIR_RETRY,
                       .overflow = WEIR_OVERFLOW_BLOCK), /* main waits for room */
        &error);
    weir_engine_start(engine, &error);

    /* Every hundredth job is poisoned; they fall to the desks 0 and 2. Then six in a row for 3. */
    for (uint64_t i = 0; i < JOBS && error.status == WEIR_OK; i++) {
        const bool poisoned = i % 100 == (i / 100 % 2 == 0 ? 4 : 6);
        error.status =
            weir_engine_post(engine, pool, WEIR_EVENT(job, .number = i, .poisoned = poisoned));
    }
    for (int i = 0; i < 6 && error.status == WEIR_OK; i++) {
        error.status = weir_engine_post(engine, pool, WEIR_EVENT(job, .number = 3, true));
    }
    if (error.status == WEIR_OK) {
        sem_wait(&replaced);
        error.status = weir_engine_post(engine, pool, WEIR_EVENT(job, .number = 3));
    }

    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    weir_counters counters = WEIR_COUNTERS_INIT;
    weir_engine_stop(engine, 0, &report);
    weir_engine_counters(engine, &counters);
    printf("%" PRIu64 " restarts\n", counters.restarts);
    weir_stop_report_print(&report);

    weir_dead_letter last[1] = { WEIR_DEAD_LETTER_INIT };
    if (weir_dead_letter_read(engine, counters.letters - 1, last, 1) == 1) {
        printf("letter %" PRIu64 ": %s, %s\n", last[0].number, last[0].type->name, last[0].text);
    }
    weir_engine_destroy(engine);
    return weir_error_print(&error);
}
