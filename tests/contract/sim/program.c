/*
 * program.c - an ordinary program, linked with plain -lweir. Its first argument says what it does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <weir/weir.h>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void fail(const char *what, int line)
{
    printf("line %d: %s\n", line, what);
    fflush(stdout);
    _exit(9);
}

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static sem_t turns;
static _Thread_local int mine = 1;
static int value; /* under the lock `first` */
static int inits, destroyed;

/* ---- two locks, in two orders ---- */

static void *one_way(void *unused)
{
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    return unused;
}

static void *other_way(void *unused)
{
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return unused;
}

static int deadlock(void)
{
    pthread_t threads[2];
    puts("both begin");
    pthread_create(&threads[0], NULL, one_way, NULL);
    pthread_create(&threads[1], NULL, other_way, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}

/* ---- everything that waits ---- */

static void initialise(void)
{
    inits += 1;
    sched_yield();
}

static void destroy(void *memory)
{
    CHECK(memory == &key);
    destroyed += 1;
}

static void *wait_in_all_ways(void *argument)
{
    struct timespec soon;
    pthread_once(&once, initialise);
    CHECK(inits == 1 && mine == 1);
    mine = (int)(intptr_t)argument;
    CHECK(pthread_getspecific(key) == NULL && pthread_setspecific(key, &key) == 0);

    pthread_mutex_lock(&first);
    while (value == 0) {
        pthread_cond_wait(&changed, &first);
    }
    value += 1;
    pthread_mutex_unlock(&first);

    pthread_rwlock_rdlock(&shared);
    sched_yield();
    pthread_rwlock_unlock(&shared);
    pthread_rwlock_wrlock(&shared);
    pthread_rwlock_unlock(&shared);
    pthread_barrier_wait(&barrier);

    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += 5;
    pthread_mutex_lock(&second);
    while (pthread_cond_timedwait(&changed, &second, &soon) == 0) {
        /* spurious; nobody signals it under this lock */
    }
    pthread_mutex_unlock(&second);
    CHECK(time(NULL) >= soon.tv_sec);
    CHECK(mine == (int)(intptr_t)argument && pthread_getspecific(key) == &key);
    sem_post(&turns);
    return argument;
}

static int waits(void)
{
    pthread_t threads[2];
    struct timeval before;
    struct timeval after;
    struct timespec at = { .tv_sec = 0 };
    void *result = NULL;
    CHECK(sem_init(&turns, 0, 0) == 0 && pthread_key_create(&key, destroy) == 0);
    CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
    CHECK(sem_trywait(&turns) == -1 && errno == EAGAIN);
    CHECK(sem_timedwait(&turns, &at) == -1 && errno == ETIMEDOUT);
    gettimeofday(&before, NULL);
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, wait_in_all_ways, (void *)(intptr_t)(10 + i)) == 0);
    }
    pthread_mutex_lock(&first);
    CHECK(pthread_mutex_trylock(&first) == EBUSY);
    value = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&first);
    for (int i = 0; i < 2; i++) {
        sem_wait(&turns);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(threads[i], &result) == 0 && result == (void *)(intptr_t)(10 + i));
    }
    gettimeofday(&after, NULL);
    CHECK(value == 3 && mine == 1 && destroyed == 2);
    CHECK(after.tv_sec - before.tv_sec >= 5 && after.tv_sec - before.tv_sec < 60);
    return 0;
}

/* ---- a loop of its own, with an external thread ---- */

WEIR_EMPTY_TYPE(bell, "program.bell");

static weir_status on_bell(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn, (void)event;
    *(int *)state += 1;
    return WEIR_OK;
}

static int polls(void)
{
    int rung = 0;
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(NULL, &error);
    const weir_thread loop = weir_thread_add(
        engine, WEIR_THREAD(.external = true, .dispatchers = WEIR_NAMES("loop")), &error);
    const weir_processor to = weir_processor_add(
        engine, WEIR_PROCESSOR(.dispatcher = "loop", .handler = on_bell, .argument = &rung),
        &error);
    weir_engine_start(engine, &error);
    CHECK(error.status == WEIR_OK);
    struct pollfd one = { .fd = weir_thread_fd(engine, loop), .events = POLLIN };
    CHECK(poll(&one, 1, 50) >= 0);
    CHECK(weir_engine_post(engine, to, WEIR_EMPTY(bell)) == WEIR_OK);
    while (rung == 0) {
        CHECK(poll(&one, 1, -1) == 1);
        weir_thread_run_once(engine, loop, 0);
    }
    weir_engine_stop_async(engine, 0);
    while (weir_engine_wait(engine, 1, NULL) == WEIR_TIMEOUT) {
        weir_thread_run_once(engine, loop, 0);
    }
    weir_engine_destroy(engine);
    return 0;
}

/* ---- mistakes ---- */

static void *unlock_what_is_not_mine(void *unused)
{
    pthread_mutex_unlock(&first);
    return unused;
}

static int unlocks(void)
{
    pthread_t thread;
    pthread_mutex_lock(&first);
    pthread_create(&thread, NULL, unlock_what_is_not_mine, NULL);
    pthread_join(thread, NULL);
    return 0;
}

static int forks(void)
{
    int how = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        execlp("sh", "sh", "-c", "test -z \"$LD_PRELOAD$WEIR_SIMULATE\"", (char *)NULL);
        _exit(1);
    }
    CHECK(waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 0);
    return 0;
}

static int leaves(void)
{
    _exit(0);
}

static int status(void)
{
    puts("about to fail");
    return 3;
}

static int crashes(void)
{
    raise(SIGSEGV);
    return 0;
}

static int killed(void)
{
    raise(SIGKILL);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } ways[] = {
        { "deadlock", deadlock }, { "waits", waits },     { "polls", polls },
        { "unlocks", unlocks },   { "forks", forks },     { "leaves", leaves },
        { "status", status },     { "crashes", crashes }, { "killed", killed },
    };
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (argc > 1 && strcmp(argv[1], ways[i].name) == 0) {
            return ways[i].run();
        }
    }
    printf("weir %u, %d arguments, the last is '%s'\n", weir_version(), argc - 1, argv[argc - 1]);
    return 0;
}
