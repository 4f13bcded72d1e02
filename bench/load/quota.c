/*
 * load/quota.c - see quota.h. Control groups of both kinds, where systems mount them by habit.
 *
 * The parent makes the group and removes it, so that nothing stays behind whatever becomes of the
 * child.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load/quota.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PERIOD_US = 100000, TEXT_SIZE = 64 };

typedef struct group {
    char path[PATH_MAX];
    bool unified; /* version 2 */
} group;

static bool write_file(const group *g, const char *name, const char *text)
{
    char path[PATH_MAX + TEXT_SIZE];
    snprintf(path, sizeof(path), "%s/%s", g->path, name);
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    const bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    const int reason = errno;
    if (file >= 0) {
        (void)close(file);
    }
    errno = reason;
    return written;
}

/* Where this process is in the hierarchy whose line in /proc/self/cgroup has that beginning behind
 * its number: ":" of version 2, "cpu:" or "cpu,cpuacct:" of version 1. */
static bool find_own(const char *beginning, char *out, size_t size)
{
    char line[PATH_MAX];
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon != NULL && strncmp(colon + 1, beginning, strlen(beginning)) == 0) {
            const char *path = colon + 1 + strlen(beginning);
            snprintf(out, size, "%.*s", (int)strcspn(path, "\n"), path);
            found = true;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

static bool make_group(group *g, const char *root, const char *beginning, bool unified)
{
    char own[PATH_MAX / 2];
    if (!find_own(beginning, own, sizeof(own))) {
        errno = ENOENT;
        return false;
    }
    g->unified = unified;
    snprintf(g->path, sizeof(g->path), "%s%s/weir-bench-%d", root, strcmp(own, "/") == 0 ? "" : own,
             (int)getpid());
    return mkdir(g->path, 0755) == 0;
}

static bool set_quota(const group *g, double cores)
{
    char text[TEXT_SIZE];
    const int quota_us = (int)(cores * PERIOD_US);
    if (g->unified) {
        snprintf(text, sizeof(text), "%d %d", quota_us, PERIOD_US);
        return write_file(g, "cpu.max", text);
    }
    snprintf(text, sizeof(text), "%d", quota_us);
    return write_file(g, "cpu.cfs_quota_us", text);
}

/* The child: its answer is the result, byte for byte. */
static void run_inside(const group *g, int answer,
                       void (*run)(const bench_setup *setup, bench_result *result),
                       const bench_setup *setup, bench_result *result)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (write_file(g, "cgroup.procs", "0")) {
        run(setup, result);
    } else {
        bench_skip(result, "cannot enter %.80s: %s", g->path, strerror(errno));
    }
    _exit(write(answer, result, sizeof(*result)) == (ssize_t)sizeof(*result) ? 0 : 1);
}

static void run_child(const group *g, void (*run)(const bench_setup *setup, bench_result *result),
                      const bench_setup *setup, bench_result *result)
{
    int ends[2];
    if (pipe(ends) != 0) {
        bench_skip(result, "no pipe: %s", strerror(errno));
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        run_inside(g, ends[1], run, setup, result);
    }
    (void)close(ends[1]);
    bench_result answer;
    if (child > 0 && read(ends[0], &answer, sizeof(answer)) == (ssize_t)sizeof(answer)) {
        *result = answer;
    } else {
        bench_wrong(result, "the process under quota has ended without an answer");
    }
    (void)close(ends[0]);
    if (child > 0) {
        (void)waitpid(child, NULL, 0);
    }
}

void load_under_quota(double cores, void (*run)(const bench_setup *setup, bench_result *result),
                      const bench_setup *setup, bench_result *result)
{
    group g;
    const bool unified = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
    if (!(unified && make_group(&g, "/sys/fs/cgroup", ":", true)) &&
        !make_group(&g, "/sys/fs/cgroup/cpu", "cpu:", false) &&
        !make_group(&g, "/sys/fs/cgroup/cpu,cpuacct", "cpu,cpuacct:", false)) {
        bench_skip(result, "no control group can be made here: %s", strerror(errno));
        return;
    }
    if (set_quota(&g, cores)) {
        run_child(&g, run, setup, result);
    } else {
        bench_skip(result, "no CPU quota in %.80s: %s", g.path, strerror(errno));
    }
    (void)rmdir(g.path);
}
