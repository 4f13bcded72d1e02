/*
 * metric/process.c - what the system says of the process: time, memory, threads, and whether its
 * cgroup stops it.
 *
 * A quota may be set on any folder above the process (v2), and stops it whichever it is: the
 * tightest counts, and stops are added up. Whatever cannot be read is 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "metric/figures.h"
#include "sync/thread.h"

#define FOLDERS_MAX 32u /* above one another */

__attribute__((format(printf, 3, 4))) static bool read_file(char *out, size_t size,
                                                            const char *format, ...)
{
    char path[1024];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(path, sizeof(path), format, arguments);
    va_end(arguments);
    out[0] = '\0';
    FILE *file = length > 0 && (size_t)length < sizeof(path) ? fopen(path, "re") : NULL;
    if (file == NULL) {
        return false;
    }
    const size_t got = fread(out, 1, size - 1, file);
    (void)fclose(file);
    out[got] = '\0';
    return got > 0;
}

/* The number behind `key` at the beginning of a line; 0: there is none. */
static uint64_t number_of(const char *text, const char *key)
{
    const size_t length = strlen(key);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        if (strncmp(line, key, length) == 0 && (line[length] == ' ' || line[length] == '\t')) {
            return strtoull(line + length, NULL, 10);
        }
    }
    return 0;
}

static void read_self(const char *root, weir__process_item *out)
{
    char text[4096];
    if (read_file(text, sizeof(text), "%s/proc/self/statm", root)) {
        char *end = NULL;
        (void)strtoull(text, &end, 10);
        const long page = sysconf(_SC_PAGESIZE);
        out->rss_bytes = strtoull(end, NULL, 10) * (uint64_t)(page > 0 ? page : 4096);
    }
    if (read_file(text, sizeof(text), "%s/proc/self/status", root)) {
        out->threads = number_of(text, "Threads:");
    }
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        out->cpu_ns =
            ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * (uint64_t)WEIR_S +
            ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) *
                (uint64_t)WEIR_US;
    }
}

static void tighten(weir__process_item *out, double quota, double period)
{
    const double cores = quota > 0 && period > 0 ? quota / period : 0;
    if (cores > 0 && (out->quota_cores == 0 || cores < out->quota_cores)) {
        out->quota_cores = cores;
    }
}

/* The folder of the process in the hierarchy whose line has `mark` behind its number. */
static bool folder_of(const char *text, const char *mark, char *out, size_t size)
{
    const char *line = strstr(text, mark);
    if (line == NULL) {
        return false;
    }
    const char *folder = strchr(line + 1, '/');
    const size_t length = folder != NULL ? strcspn(folder, "\n") : 0;
    if (length == 0 || length >= size) {
        return false;
    }
    memcpy(out, folder, length);
    out[length] = '\0';
    if (strcmp(out, "/") == 0) {
        out[0] = '\0';
    }
    return true;
}

static void read_v2(const char *root, char *folder, weir__process_item *out)
{
    char text[4096];
    for (uint32_t i = 0; i < FOLDERS_MAX; i++) {
        if (read_file(text, sizeof(text), "%s/sys/fs/cgroup%s/cpu.max", root, folder)) {
            char *end = NULL;
            const double quota = (double)strtoull(text, &end, 10); /* "max": 0 */
            tighten(out, quota, (double)strtoull(end, NULL, 10));
        }
        if (read_file(text, sizeof(text), "%s/sys/fs/cgroup%s/cpu.stat", root, folder)) {
            out->throttled += number_of(text, "nr_throttled");
            out->throttled_ns += number_of(text, "throttled_usec") * (uint64_t)WEIR_US;
        }
        char *slash = strrchr(folder, '/');
        if (slash == NULL) {
            return;
        }
        *slash = '\0';
    }
}

/* In a container its own folder is the root of what can be seen. */
static void read_v1(const char *root, const char *folder, weir__process_item *out)
{
    char text[4096];
    char period[64];
    const char *at = folder;
    if (!read_file(text, sizeof(text), "%s/sys/fs/cgroup/cpu%s/cpu.stat", root, at)) {
        at = "";
        if (!read_file(text, sizeof(text), "%s/sys/fs/cgroup/cpu/cpu.stat", root)) {
            return;
        }
    }
    out->throttled = number_of(text, "nr_throttled");
    out->throttled_ns = number_of(text, "throttled_time");
    if (read_file(text, sizeof(text), "%s/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", root, at) &&
        read_file(period, sizeof(period), "%s/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", root, at) &&
        text[0] != '-') {
        tighten(out, (double)strtoull(text, NULL, 10), (double)strtoull(period, NULL, 10));
    }
}

void weir__process_read(const char *root, weir__process_item *out)
{
    char text[4096];
    char folder[512];
    *out = (weir__process_item){ .labels = "" };
    out->cores_usable = weir__cores_usable();
    read_self(root, out);
    if (!read_file(text, sizeof(text), "%s/proc/self/cgroup", root)) {
        return;
    }
    if (folder_of(text, ":cpu,", folder, sizeof(folder)) ||
        folder_of(text, ":cpu:", folder, sizeof(folder))) {
        read_v1(root, folder, out);
    } else if (folder_of(text, "0::", folder, sizeof(folder))) {
        read_v2(root, folder, out);
    }
}
