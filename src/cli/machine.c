/*
 * cli/machine.c - what about a machine will hurt latency, as /proc and /sys tell it.
 *
 * Everything is read below a root, so that tests can make machines of files. What cannot be read is
 * said to be unknown: never guessed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>

#include "cli/doctor.h"

enum { CORES_MAX = 1024, TEXT_MAX = 4096 };

typedef struct machine {
    const char *root;
    weir__machine_finding *findings;
    size_t count;
} machine;

/* ---- reading ---- */

/* The first bytes of a file, without the newline behind them. False: it cannot be read. */
__attribute__((format(printf, 4, 5))) static bool read_file(const machine *m, char *out,
                                                            size_t size, const char *format, ...)
{
    char below[512], path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(below, sizeof(below), format, arguments);
    va_end(arguments);
    snprintf(path, sizeof(path), "%s%s", m->root, below);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    size_t length = fread(out, 1, size - 1, file);
    const bool well = ferror(file) == 0;
    fclose(file);
    while (length > 0 && isspace((unsigned char)out[length - 1]) != 0) {
        length--;
    }
    out[length] = '\0';
    return well;
}

/* The number behind "key:" or "key " in a file of lines; -1: not there. */
static long long number_of(const char *text, const char *key)
{
    const size_t length = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, key, length) == 0) {
            return strtoll(line + length, NULL, 10);
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return -1;
}

/* The word in brackets: "always [madvise] never". */
static void chosen(const char *text, char *out, size_t size)
{
    const char *from = strchr(text, '[');
    const char *to = from != NULL ? strchr(from, ']') : NULL;
    if (to == NULL) {
        snprintf(out, size, "%.*s", (int)strcspn(text, " \n"), text);
        return;
    }
    snprintf(out, size, "%.*s", (int)(to - from - 1), from + 1);
}

/* ---- findings ---- */

static weir__machine_finding *find(machine *m, const char *name)
{
    weir__machine_finding *f =
        &m->findings[m->count < WEIR__MACHINE_FINDINGS_MAX ? m->count++ : m->count - 1];
    memset(f, 0, sizeof(*f));
    f->name = name;
    return f;
}

#define SAY(member, ...) snprintf((member), sizeof(member), __VA_ARGS__)

static void unknown(weir__machine_finding *f, const char *what)
{
    f->verdict = WEIR__VERDICT_UNKNOWN;
    SAY(f->found, "%s cannot be read", what);
    SAY(f->meaning, "Nothing can be said of it: a virtual machine or a container may hide it.");
}

static void look_at_governor(machine *m)
{
    weir__machine_finding *f = find(m, "governor");
    char governor[64], other[64] = "";
    int cores = 0, slow = 0;
    for (int core = 0; core < CORES_MAX; core++) {
        if (!read_file(m, governor, sizeof(governor),
                       "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", core)) {
            if (core > 0) {
                break;
            }
            continue;
        }
        cores++;
        if (strcmp(governor, "performance") != 0) {
            slow++;
            SAY(other, "%s", governor);
        }
    }
    if (cores == 0) {
        unknown(f, "/sys/devices/system/cpu/cpu0/cpufreq");
        return;
    }
    if (slow == 0) {
        SAY(f->found, "performance on %d cores", cores);
        SAY(f->meaning, "Cores stay at full speed.");
        return;
    }
    f->verdict = WEIR__VERDICT_BAD;
    SAY(f->found, "%s on %d of %d cores", other, slow, cores);
    SAY(f->meaning, "A core that was idle runs slowly at first: the first events after a pause "
                    "take longer.");
    SAY(f->advice, "cpupower frequency-set -g performance");
}

static void look_at_isolation(machine *m)
{
    weir__machine_finding *f = find(m, "isolated cores");
    char cores[128];
    if (!read_file(m, cores, sizeof(cores), "/sys/devices/system/cpu/isolated")) {
        unknown(f, "/sys/devices/system/cpu/isolated");
        return;
    }
    if (cores[0] != '\0') {
        SAY(f->found, "%s", cores);
        SAY(f->meaning, "The scheduler puts nothing there by itself: pin latency-critical threads "
                        "to them (cores = [...]).");
        return;
    }
    f->verdict = WEIR__VERDICT_NOTE;
    SAY(f->found, "none");
    SAY(f->meaning, "A pinned thread shares its core with whatever the system puts there, and "
                    "waits for it now and then.");
    SAY(f->advice, "For the lowest latency boot with isolcpus=LIST nohz_full=LIST rcu_nocbs=LIST "
                   "and pin to LIST.");
}

/* The folder of the process in the one hierarchy (v2), "" if it has none. False: unknown. */
static bool cgroup_of(const machine *m, char *out, size_t size)
{
    char text[TEXT_MAX];
    out[0] = '\0';
    if (!read_file(m, text, sizeof(text), "/proc/self/cgroup")) {
        return false;
    }
    const char *line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (line != NULL) {
        line += *line == '\n' ? 4 : 3;
        snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), line);
    }
    return true;
}

/* "max 100000" or "150000 100000": quota and period of the tightest folder above the process. In
 * cores; 0: none, -1: unknown. */
static double quota_of(const machine *m)
{
    char folder[512], text[128];
    double least = 0;
    if (!cgroup_of(m, folder, sizeof(folder))) {
        return -1;
    }
    for (;;) {
        char *end = NULL;
        if (read_file(m, text, sizeof(text), "/sys/fs/cgroup%s/cpu.max",
                      strcmp(folder, "/") == 0 ? "" : folder) &&
            strncmp(text, "max", 3) != 0) {
            const double quota = strtod(text, &end), period = strtod(end, NULL);
            const double cores = period > 0 ? quota / period : 0;
            least = cores > 0 && (least == 0 || cores < least) ? cores : least;
        }
        char *slash = strrchr(folder, '/');
        if (slash == NULL) {
            break;
        }
        *slash = '\0';
    }
    if (least == 0 && read_file(m, text, sizeof(text), "/sys/fs/cgroup/cpu/cpu.cfs_quota_us")) {
        char period[64];
        const double quota = strtod(text, NULL);
        if (quota > 0 &&
            read_file(m, period, sizeof(period), "/sys/fs/cgroup/cpu/cpu.cfs_period_us") &&
            strtod(period, NULL) > 0) {
            least = quota / strtod(period, NULL);
        }
    }
    return least;
}

static void look_at_quota(machine *m)
{
    weir__machine_finding *f = find(m, "cgroup quota");
    const double cores = quota_of(m);
    if (cores < 0) {
        unknown(f, "/proc/self/cgroup");
        return;
    }
    if (cores == 0) {
        SAY(f->found, "none");
        SAY(f->meaning, "Nobody takes the cores away from a thread that is busy.");
        return;
    }
    f->verdict = WEIR__VERDICT_BAD;
    SAY(f->found, "%.2f cores", cores);
    SAY(f->meaning,
        "Spinning (idle = busy-spin, noop, the spin of backoff) uses the quota up; then "
        "all threads stand still for the rest of the period, up to 100 ms.");
    SAY(f->advice, "Use idle = park, no more threads than the quota has cores, or take the quota "
                   "away (CPUQuota=, --cpus).");
}

static void look_at_thp(machine *m)
{
    weir__machine_finding *f = find(m, "transparent huge pages");
    char text[128], mode[32], defrag[32] = "";
    if (!read_file(m, text, sizeof(text), "/sys/kernel/mm/transparent_hugepage/enabled")) {
        unknown(f, "/sys/kernel/mm/transparent_hugepage");
        return;
    }
    chosen(text, mode, sizeof(mode));
    if (read_file(m, text, sizeof(text), "/sys/kernel/mm/transparent_hugepage/defrag")) {
        chosen(text, defrag, sizeof(defrag));
    }
    SAY(f->found, "%s, defrag %s", mode, defrag[0] != '\0' ? defrag : "unknown");
    if (strcmp(mode, "always") != 0) {
        SAY(f->meaning, "Only who asks for huge pages gets them; weir asks where it pays.");
        return;
    }
    f->verdict = WEIR__VERDICT_BAD;
    SAY(f->meaning, "Any page fault may wait until the kernel has put a huge page together, for "
                    "milliseconds with defrag always.");
    SAY(f->advice, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

static void look_at_siblings(machine *m)
{
    weir__machine_finding *f = find(m, "SMT siblings");
    char list[128], example[128] = "";
    int shared = 0, seen = 0;
    for (int core = 0; core < CORES_MAX; core++) {
        if (!read_file(m, list, sizeof(list),
                       "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", core)) {
            if (core > 0) {
                break;
            }
            continue;
        }
        seen++;
        if (strpbrk(list, ",-") != NULL) {
            shared++;
            SAY(example, "%s", list);
        }
    }
    if (seen == 0) {
        unknown(f, "/sys/devices/system/cpu/cpu0/topology");
        return;
    }
    if (shared == 0) {
        SAY(f->found, "none: each of %d cores is one", seen);
        SAY(f->meaning, "A thread has its core to itself.");
        return;
    }
    f->verdict = WEIR__VERDICT_NOTE;
    SAY(f->found, "%d of %d share a core, as %s do", shared, seen, example);
    SAY(f->meaning, "Two threads on siblings slow each other down, spinning ones most.");
    SAY(f->advice, "Pin critical threads to one sibling of each pair and leave the other idle.");
}

static void look_at_clock(machine *m)
{
    weir__machine_finding *f = find(m, "clock source");
    char clock[64];
    static const char *const fast[] = { "tsc", "arch_sys_counter", "kvm-clock",
                                        "hyperv_clocksource_tsc_page" };
    if (!read_file(m, clock, sizeof(clock),
                   "/sys/devices/system/clocksource/clocksource0/current_clocksource")) {
        unknown(f, "/sys/devices/system/clocksource");
        return;
    }
    SAY(f->found, "%s", clock);
    for (size_t i = 0; i < sizeof(fast) / sizeof(fast[0]); i++) {
        if (strcmp(clock, fast[i]) == 0) {
            SAY(f->meaning, "Reading the time costs some 20 ns, without the kernel.");
            return;
        }
    }
    f->verdict = WEIR__VERDICT_BAD;
    SAY(f->meaning, "Reading the time goes through the kernel or a slow device: up to a "
                    "microsecond each.");
    SAY(f->advice, "If tsc is among available_clocksource beside it: boot with clocksource=tsc.");
}

static void look_at_swap(machine *m)
{
    weir__machine_finding *f = find(m, "swap");
    char text[TEXT_MAX];
    if (!read_file(m, text, sizeof(text), "/proc/meminfo")) {
        unknown(f, "/proc/meminfo");
        return;
    }
    const long long total = number_of(text, "SwapTotal:"), rest = number_of(text, "SwapFree:");
    if (total <= 0) {
        SAY(f->found, "none");
        SAY(f->meaning, "Memory that was touched stays in memory.");
        return;
    }
    f->verdict = rest < total ? WEIR__VERDICT_BAD : WEIR__VERDICT_NOTE;
    SAY(f->found, "%lld MiB, %lld MiB of it used", total / 1024, (total - rest) / 1024);
    SAY(f->meaning, "A page that was put out costs milliseconds when it is touched again.");
    SAY(f->advice, "MemorySwapMax=0 in the unit, or swapoff -a.");
}

/* "Max open files   1024   524288   files": the soft one; -1: not there, -2: unlimited. */
static long long limit_of(const char *limits, const char *name)
{
    const char *line = strstr(limits, name);
    if (line == NULL) {
        return -1;
    }
    line += strlen(name);
    line += strspn(line, " ");
    return strncmp(line, "unlimited", 9) == 0 ? -2 : strtoll(line, NULL, 10);
}

static void look_at_limits(machine *m)
{
    weir__machine_finding *f = find(m, "limits");
    char text[TEXT_MAX];
    if (!read_file(m, text, sizeof(text), "/proc/self/limits")) {
        unknown(f, "/proc/self/limits");
        return;
    }
    const long long files = limit_of(text, "Max open files");
    const long long rt = limit_of(text, "Max realtime priority");
    if (rt == -2) {
        SAY(f->found, "%lld open files, any realtime priority", files);
    } else {
        SAY(f->found, "%lld open files, realtime priority up to %lld", files, rt < 0 ? 0 : rt);
    }
    if (files >= 0 && files < 4096) {
        f->verdict = WEIR__VERDICT_NOTE;
        SAY(f->meaning, "Each connection takes a descriptor: listeners refuse beyond %lld.", files);
        SAY(f->advice, "LimitNOFILE=65536 in the unit, or ulimit -n 65536.");
        return;
    }
    SAY(f->meaning, "%s",
        rt == 0
            ? "Enough descriptors. priority = fifo and round-robin will be refused (LimitRTPRIO)."
            : "Enough descriptors.");
}

static bool is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static void look_at_interrupts(machine *m)
{
    weir__machine_finding *f = find(m, "irqbalance");
    char path[PATH_MAX], name[64];
    snprintf(path, sizeof(path), "%s/proc", m->root);
    DIR *folder = opendir(path);
    if (folder == NULL) {
        unknown(f, "/proc");
        return;
    }
    bool runs = false;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    for (const struct dirent *entry; !runs && (entry = readdir(folder)) != NULL;) {
        runs = is_number(entry->d_name) &&
               read_file(m, name, sizeof(name), "/proc/%s/comm", entry->d_name) &&
               strcmp(name, "irqbalance") == 0;
    }
    closedir(folder);
    if (!runs) {
        SAY(f->found, "does not run");
        SAY(f->meaning, "Interrupts stay where they were put.");
        return;
    }
    f->verdict = WEIR__VERDICT_NOTE;
    SAY(f->found, "runs");
    SAY(f->meaning, "It may move interrupts onto a core that a thread is pinned to.");
    SAY(f->advice, "Keep them off with IRQBALANCE_BANNED_CPULIST, or stop it.");
}

size_t weir__machine_look(const char *root,
                          weir__machine_finding findings[WEIR__MACHINE_FINDINGS_MAX])
{
    machine m = { .root = root, .findings = findings };
    look_at_governor(&m);
    look_at_isolation(&m);
    look_at_quota(&m);
    look_at_thp(&m);
    look_at_siblings(&m);
    look_at_clock(&m);
    look_at_swap(&m);
    look_at_limits(&m);
    look_at_interrupts(&m);
    return m.count;
}
