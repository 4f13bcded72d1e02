/*
 * plugin.c - a shared object with scenarios, linked with plain -lweir: well, wrong, crashing, and
 * with POSIX locks and thread-local variables in handlers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <weir/sim.h>
#include <weir/weir.h>

enum { EVENTS = 3, WORKERS = 2 };

WEIR_EMPTY_TYPE(job, "plugin.job");

struct worker {
    int handled;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int together; /* under the lock */
static _Thread_local int mine = 7;
static sem_t done;

static weir_status on_job(void *state, weir_turn *turn, const weir_event *event)
{
    struct worker *worker = state;
    (void)turn, (void)event;
    const int before = mine;
    mine += 1;
    pthread_mutex_lock(&lock);
    const int seen = together;
    weir_sim_step(); /* somebody else runs; the lock holds him back */
    together = seen + 1;
    pthread_mutex_unlock(&lock);
    weir_sim_check(mine == before + 1, "a thread-local variable is shared");
    worker->handled += 1;
    sem_post(&done);
    return WEIR_OK;
}

static weir_engine *open_engine(struct worker *workers, weir_processor *out)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_sim_quiet(true);
    weir_engine *engine =
        weir_engine_create(WEIR_ENGINE(.threads = 2, .processors_max = 16), &error);
    for (int i = 0; i < WORKERS; i++) {
        workers[i].handled = 0;
        out[i] = weir_processor_add(
            engine, WEIR_PROCESSOR(.handler = on_job, .argument = &workers[i]), &error);
    }
    weir_engine_start(engine, &error);
    weir_sim_check(error.status == WEIR_OK, "%s", error.text);
    weir_sim_quiet(false);
    return engine;
}

static void locks(void *unused)
{
    struct worker workers[WORKERS];
    weir_processor to[WORKERS];
    (void)unused;
    sem_init(&done, 0, 0);
    together = 0;
    weir_engine *engine = open_engine(workers, to);
    for (int i = 0; i < EVENTS * WORKERS; i++) {
        if (weir_engine_post(engine, to[i % WORKERS], WEIR_EMPTY(job)) != WEIR_OK) {
            weir_sim_fail("refused");
        }
    }
    for (int i = 0; i < EVENTS * WORKERS; i++) {
        sem_wait(&done);
    }
    weir_engine_destroy(engine);
    weir_sim_check(together == EVENTS * WORKERS, "%d together", together);
    weir_sim_check(mine == 7, "the body's own variable is %d", mine);
}

static void sleeps(void *unused)
{
    struct timespec before;
    struct timespec after;
    (void)unused;
    clock_gettime(CLOCK_MONOTONIC, &before);
    sleep(3600);
    clock_gettime(CLOCK_MONOTONIC, &after);
    weir_sim_check(after.tv_sec - before.tv_sec == 3600, "an hour is %ld s",
                   (long)(after.tv_sec - before.tv_sec));
    weir_sim_check(weir_sim_now() >= 3600 * WEIR_S, "the simulator's clock says %lld ns",
                   (long long)weir_sim_now());
}

static void fails(void *unused)
{
    (void)unused;
    weir_sim_note("a note before the failure");
    weir_sim_check(weir_sim_choose(8) != 5, "five was chosen");
}

static void crashes(void *unused)
{
    (void)unused;
    abort();
}

static void leaves_locked(void *unused)
{
    (void)unused;
    weir_sim_check(pthread_mutex_trylock(&lock) == 0, "the lock is held by a run that is over");
    weir_sim_check(weir_sim_choose(50) != 3, "three was chosen");
    pthread_mutex_unlock(&lock);
}

WEIR_SIM_SCENARIOS({ .name = "locks", .about = "POSIX locks in handlers", .body = locks },
                   { .name = "sleeps", .about = "an hour takes no time", .body = sleeps },
                   { .name = "fails", .about = "one time in eight", .body = fails },
                   { .name = "crashes", .about = "at once", .body = crashes },
                   { .name = "leaves-locked", .about = "a mutex", .body = leaves_locked });
