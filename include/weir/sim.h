/*
 * weir/sim.h - run the same engine under a scheduler that is driven by a seed.
 *
 * libweir-sim has everything that libweir has, over simulated threads: one OS thread, a virtual
 * clock, and a choice of who runs next at every step that another thread could notice. A body is
 * run again and again, each time in another order; what goes wrong goes wrong again with the same
 * seed.
 *
 *     static void body(void *unused)
 *     {
 *         weir_engine *engine = ...;                  the usual calls, no sleeps
 *         weir_sim_check(balance == 0, "balance is %d", balance);
 *     }
 *
 *     weir_sim_result result = WEIR_SIM_RESULT_INIT;
 *     weir_sim_explore(WEIR_SIM(.runs = 10000), body, NULL, &result);
 *     if (result.failed) puts(result.why), puts(result.replay);
 *
 * Link with -lweir-sim (pkg-config weir-sim) instead of -lweir. Handlers and bodies should keep
 * what they change in memory that the body sets up: statics live through all the runs of an
 * exploration. Waiting for something outside weir (a real mutex, a socket) stops everything: there
 * is one OS thread. Under the command, `weir sim`, POSIX threads, locks, semaphores, sleeps and
 * clocks are simulated as well, and whole programs are run that know nothing of this header.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SIM_H
#define WEIR_SIM_H

#include "weir/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_sim_strategy {
    WEIR_SIM_RANDOM = 0, /* a random walk; how often it switches differs from run to run */
    WEIR_SIM_PCT,        /* priorities with `depth` points at which they change */
    WEIR_SIM_EXHAUSTIVE, /* depth first, every order with at most `depth` preemptions */
    WEIR_SIM_REPLAY      /* the decisions of `schedule`, and nothing else */
} weir_sim_strategy;

/* What may go wrong besides the order. Zero in the options: the first four. */
#define WEIR_SIM_STORE_BUFFERS 1u /* stores become visible late, as on x86 (TSO) */
#define WEIR_SIM_RACES 2u         /* data handed between threads without an edge is a failure */
#define WEIR_SIM_SPURIOUS 4u      /* sleeps end for no reason */
#define WEIR_SIM_STALLS 8u        /* threads are stuck for a while */
#define WEIR_SIM_TIME_JUMPS 16u   /* the clock leaps: timeouts end while others still run */
#define WEIR_SIM_ALLOCATIONS 32u  /* memory runs out now and then */
#define WEIR_SIM_NO_FAULTS 64u    /* none of these */
#define WEIR_SIM_STALE_READS 128u /* loads see old values, as on arm64; races as well */
#define WEIR_SIM_DEFAULT_FAULTS 15u

typedef struct weir_sim_options {
    size_t struct_size;
    uint64_t seed; /* of the first run; the next has seed + 1. Default 1 */
    uint64_t runs; /* default 1000; exhaustive: until done */
    weir_sim_strategy strategy;
    uint32_t depth;       /* PCT: default 3; exhaustive: default 2 */
    uint32_t faults;      /* WEIR_SIM_STORE_BUFFERS | ... */
    uint64_t steps_max;   /* a run that takes more is a livelock; default 1,000,000 */
    weir_ns time_max;     /* real time for the exploration; default no limit */
    uint32_t cores;       /* what the engine is told; default 2 */
    const char *schedule; /* replay: as a result's `schedule` says */
    const char *trace;    /* a file for every step; "-": stdout. Slow */
    bool shrink;          /* look for a shorter schedule that fails, too */
    const char *name;     /* how the replay line begins; default "weir sim PROGRAM" */
} weir_sim_options;
#define WEIR_SIM_OPTIONS_INIT WEIR_SIZED(weir_sim_options)
#define WEIR_SIM(...) WEIR_OPTIONS(weir_sim_options, __VA_ARGS__)

typedef struct weir_sim_result {
    size_t struct_size;
    uint64_t runs; /* made, the failed one included */
    uint64_t steps;
    bool failed;
    bool complete;        /* exhaustive: every order within the bound was tried */
    bool races_seen;      /* race detection was on in every run, to its end */
    uint32_t preemptions; /* of the failed (and shrunk) run */
    uint64_t seed;        /* of the failed run */
    char why[512];
    char schedule[4096]; /* its decisions; empty if there are none, or they do not fit */
    char replay[5120];   /* one line that repeats the failed run */
} weir_sim_result;
#define WEIR_SIM_RESULT_INIT WEIR_SIZED(weir_sim_result)

/* Not inside a body. Runs `body` until one run fails, all are made, or the time is over. E_INVALID
 * for options that make no sense, E_SYSTEM for a trace that cannot be written; OK says nothing
 * about failures: the result does. */
WEIR_API weir_status weir_sim_explore(const weir_sim_options *options, void (*body)(void *argument),
                                      void *argument, weir_sim_result *result);

/*
 * Scenarios: named bodies. A shared object that exports some is run by the weir command,
 *
 *     weir sim ./scenarios.so --runs 100000            all of them
 *     weir sim ./scenarios.so transfer --seed 42       one
 *
 * and says which they are with
 *
 *     WEIR_SIM_SCENARIOS({ .name = "transfer", .about = "money moves", .body = body });
 *
 * It may be linked with libweir or libweir-sim.
 */
typedef struct weir_sim_scenario {
    const char *name, *about;
    void (*body)(void *argument);
    void *argument;
    uint32_t faults;    /* in place of the default */
    uint64_t steps_max; /* the same */
} weir_sim_scenario;
#define WEIR_SIM_SCENARIOS(...)                                                                    \
    WEIR_API extern const weir_sim_scenario weir_sim_scenarios[];                                  \
    const weir_sim_scenario weir_sim_scenarios[] = { __VA_ARGS__, { NULL, NULL, NULL, NULL, 0, 0 } }

/* What follows is for bodies, and for handlers under them. */

/* The run fails with this text and ends here: the call does not return. */
WEIR_API void weir_sim_fail(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2), noreturn))
#endif
    ;
#define weir_sim_check(condition, ...) ((condition) ? (void)0 : weir_sim_fail(__VA_ARGS__))

/* Looked at after every step, of whatever thread, until the body returns: what it looks at may be
 * the body's own. It may read, and fail; it must not wait. */
WEIR_API void weir_sim_always(void (*invariant)(void *argument), void *argument);

/* Threads of the application. -1: too many (256). */
WEIR_API int weir_sim_thread_start(void (*run)(void *argument), void *argument);
WEIR_API void weir_sim_thread_join(int thread);
/* Of the caller; the body's is 0. -1 outside a run. */
WEIR_API int weir_sim_thread_self(void);

/* A step at which another thread may run: put it where your own code shares something. */
WEIR_API void weir_sim_step(void);
/* Between quiet and not quiet threads are interrupted only where they wait, and nothing goes wrong:
 * for set-up code. */
WEIR_API void weir_sim_quiet(bool quiet);
/* 0 ... count - 1; part of the schedule, so an exhaustive search tries them all. */
WEIR_API uint32_t weir_sim_choose(uint32_t count);

/* Virtual time, since the run began, and sleeping in it. */
WEIR_API weir_ns weir_sim_now(void);
WEIR_API void weir_sim_sleep(weir_ns span);
/* The caller computes for so long: time passes, and it does not wait for anything. */
WEIR_API void weir_sim_work(weir_ns span);
/* The doorbell of an external thread (weir_thread_fd) instead of poll(2). False: the time was
 * over. */
WEIR_API bool weir_sim_poll(int descriptor, weir_ns timeout);

/* Says that the caller reads or writes memory that it shares with other threads through weir: then
 * it takes part in the search for races. Code compiled with -fsanitize=thread, and linked without,
 * does so by itself. */
WEIR_API void weir_sim_reads(const void *memory, size_t size);
WEIR_API void weir_sim_writes(const void *memory, size_t size);

/* A line in the trace. */
WEIR_API void weir_sim_note(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;

#ifdef __cplusplus
}
#endif

#endif /* WEIR_SIM_H */
