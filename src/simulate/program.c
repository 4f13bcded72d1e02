/*
 * simulate/program.c - a whole program as the body of an exploration.
 *
 * Part of libweir-sim-posix, which is preloaded into the program (launch.h). It takes the place of
 * main() and explores; a run is a forked process whose simulated thread 0 is the program's main().
 * So every run finds the memory as it was before main(), and exit(), static variables and crashes
 * are as in an ordinary process. What the run left (its decisions, why it failed) is in memory that
 * both processes share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulate/launch.h"
#include "simulate/options.h"
#include "simulate/quote.h"
#include "simulate/simulate.h"
#include "sync/sim/core.h"

#define RUN_SECONDS_MAX 20   /* of real time */
#define SHOWN_BYTES_MAX 4096 /* of what a failed run printed */

typedef int main_function(int argc, char **argv, char **environment);

/* What a run leaves behind. */
typedef struct outcome {
    bool left; /* the rest is filled in */
    bool failed, racing;
    uint64_t steps;
    weir__sim_decided decided;
    char why[sizeof(weir__sim.why)];
} outcome;

static main_function *program_main;
static int program_argc;
static char **program_argv, **program_environment;
static outcome *last;     /* shared with the run */
static int output = -1;   /* what the last run printed */
static uint64_t runs;     /* made so far */
static pid_t explorer;    /* whose the three above are */
static pid_t run_process; /* in a run: its id. A child that the program makes is not a run */

/* ---- in the process of a run ---- */

static void leave_outcome(void)
{
    if (run_process != getpid() || last->left) {
        return;
    }
    last->failed = weir__sim.failed;
    last->racing = weir__sim.racing;
    last->steps = weir__sim.steps;
    last->decided = weir__sim_decided_get();
    memcpy(last->why, weir__sim.why, sizeof(last->why));
    last->left = true;
}

/* What programs call that are in a hurry; outcomes are left all the same. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): it is the system's */
void _exit(int status)
{
    leave_outcome();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}

static void redirect(void)
{
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
}

_Noreturn static void be_a_run(void (*run)(void *), void *argument)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    weir__sim_run_elsewhere = NULL;
    run_process = getpid();
    redirect();
    atexit(leave_outcome);
    weir__sim_run_to_end(run, argument);
    /* It failed; or main() ended by pthread_exit, and all others have ended since. */
    leave_outcome();
    if (weir__sim.failed) {
        fflush(NULL);
        _exit(EXIT_FAILURE);
    }
    exit(EXIT_SUCCESS);
}

static void run_main(void *unused)
{
    (void)unused;
    exit(program_main(program_argc, program_argv, program_environment));
}

/* ---- in the process that explores ---- */

static bool is_over_in_time(pid_t process)
{
    const int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
    if (descriptor < 0) {
        return true; /* an old kernel: then without a limit */
    }
    struct pollfd one = { .fd = descriptor, .events = POLLIN };
    int ready;
    do {
        ready = poll(&one, 1, RUN_SECONDS_MAX * 1000);
    } while (ready < 0 && errno == EINTR);
    close(descriptor);
    return ready != 0;
}

/* Brings what the run left into this process, as if it had been made here. */
static void take_over(int how, bool in_time)
{
    weir__sim.steps = last->steps;
    weir__sim.racing = last->racing;
    weir__sim.failed = last->failed;
    weir__sim_decided_set(last->decided);
    if (last->left && last->failed) {
        memcpy(weir__sim.why, last->why, sizeof(weir__sim.why));
        return;
    }
    weir__sim.failed = true;
    if (!in_time) {
        snprintf(weir__sim.why, sizeof(weir__sim.why),
                 "no end within %d s: it waits for something that is not simulated, or spins on it",
                 RUN_SECONDS_MAX);
    } else if (WIFSIGNALED(how)) {
        snprintf(weir__sim.why, sizeof(weir__sim.why), "killed by signal %d (%s)", WTERMSIG(how),
                 strsignal(WTERMSIG(how)));
    } else if (WEXITSTATUS(how) != 0) {
        snprintf(weir__sim.why, sizeof(weir__sim.why), "exit status %d", WEXITSTATUS(how));
    } else {
        weir__sim.failed = false;
    }
}

/* Several processes may share the seeds: each has its own. */
static void prepare(void)
{
    if (explorer != getpid()) {
        explorer = getpid();
        runs = 0;
        output = memfd_create("output of a run", MFD_CLOEXEC);
        last = mmap(NULL, sizeof(*last), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        WEIR_ASSERT(last != MAP_FAILED && output >= 0);
    }
    *last = (outcome){ 0 };
    if (ftruncate(output, 0) != 0 || lseek(output, 0, SEEK_SET) != 0) {
        WEIR_ASSERT(false);
    }
}

static void run_in_a_process(void (*run)(void *), void *argument)
{
    int how = 0;
    prepare();
    fflush(NULL); /* what is buffered is written once */
    const pid_t process = fork();
    if (process == 0) {
        be_a_run(run, argument);
    }
    WEIR_ASSERT(process > 0);
    const bool in_time = is_over_in_time(process);
    if (!in_time) {
        kill(process, SIGKILL);
    }
    while (waitpid(process, &how, 0) < 0 && errno == EINTR) {
    }
    runs++;
    take_over(how, in_time);
}

/* A run that failed, or that was the only one, is worth to be heard. */
static void show_output(bool failed)
{
    static char text[SHOWN_BYTES_MAX + 1];
    const off_t size = output >= 0 ? lseek(output, 0, SEEK_END) : 0;
    if (size <= 0 || (!failed && runs != 1)) {
        return;
    }
    const off_t from = failed && runs > 1 && size > SHOWN_BYTES_MAX ? size - SHOWN_BYTES_MAX : 0;
    printf("%s printed%s:\n", runs > 1 ? "the failed run" : "it",
           from > 0 ? " (the end of it)" : "");
    for (off_t at = from; at < size;) {
        const ssize_t length = pread(output, text, SHOWN_BYTES_MAX, at);
        if (length <= 0) {
            return;
        }
        fwrite(text, 1, (size_t)length, stdout);
        at += length;
    }
}

/* ---- before main() ---- */

/* What the program starts is not to be simulated. */
static void clean_environment(void)
{
    const char *list = getenv("LD_PRELOAD");
    const char *others = list != NULL ? strchr(list, ':') : NULL;
    if (others != NULL) {
        setenv("LD_PRELOAD", others + 1, 1);
    } else {
        unsetenv("LD_PRELOAD");
    }
    unsetenv(WEIR__SIMULATE_VARIABLE);
}

static int is_weir(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    const char *slash = strrchr(info->dlpi_name, '/');
    return strncmp(slash != NULL ? slash + 1 : info->dlpi_name, "libweir.so", 10) == 0;
}

/* In place of main(): argv is the program, then what is for the simulator, `--`, and the rest. */
static int simulated_main(int argc, char **argv, char **environment)
{
    static char command[PATH_MAX];
    static char name[PATH_MAX];
    int split = 1;
    snprintf(command, sizeof(command), "%s", getenv(WEIR__SIMULATE_VARIABLE));
    clean_environment();
    weir__simulate_quote(name, sizeof(name), argv[0]);
    while (split < argc && strcmp(argv[split], "--") != 0) {
        split++;
    }
    program_argc = argc > split ? argc - split : 1;
    program_argv = calloc((size_t)program_argc + 1, sizeof(*program_argv));
    program_environment = environment;
    if (program_argv == NULL) {
        return EXIT_FAILURE;
    }
    for (int i = 1; i < program_argc; i++) {
        program_argv[i] = argv[split + i];
    }
    program_argv[0] = argv[0];
    argv[0] = name;
    if (dl_iterate_phdr(is_weir, NULL) == 0) {
        fprintf(stderr,
                "%s: %s does not use libweir.so: weir is not in it, or is linked statically\n"
                "try: link it with -lweir, the shared library\n",
                command, name);
        return 2;
    }
    const weir_sim_scenario scenarios[] = { { .name = name, .about = "", .body = run_main },
                                            { .name = NULL } };
    weir__sim_run_elsewhere = run_in_a_process;
    const int status = weir__simulate(command, scenarios, argc, argv);
    show_output(status != 0);
    return status;
}

/* What the beginning of every program calls. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): it is the system's */
typedef int start_function(main_function *main, int argc, char **argv, void (*init)(void),
                           void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
WEIR_API start_function __libc_start_main;
int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    start_function *start;
    void *found = dlsym(RTLD_NEXT, "__libc_start_main");
    WEIR_ASSERT(found != NULL);
    memcpy(&start, &found, sizeof(start)); /* ISO C has no cast for it */
    program_main = main;
    return start(getenv(WEIR__SIMULATE_VARIABLE) != NULL ? simulated_main : main, argc, argv, init,
                 fini, rtld_fini, stack_end);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
