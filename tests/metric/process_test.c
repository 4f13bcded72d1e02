/*
 * process_test.c - what the system says of the process, from files of both kinds of cgroups, of
 * none, and from files that are nonsense.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/stat.h>

#include "metric_support.h"

#include "metric/figures.h"

static char root[64];

static void put(const char *path, const char *text)
{
    char full[512];
    (void)snprintf(full, sizeof(full), "%s%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(full, 0700);
        *at = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(root, sizeof(root), "/tmp/weir-process-XXXXXX");
    return mkdtemp(root) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command);
}

static weir__process_item look(void)
{
    weir__process_item item;
    weir__process_read(root, &item);
    return item;
}

static void the_real_process_has_time_memory_and_threads(void **state)
{
    (void)state;
    weir__process_item item;
    weir__process_read("", &item);
    assert_true(item.cpu_ns > 0);
    assert_true(item.rss_bytes > 100000);
    assert_true(item.threads >= 1);
    assert_true(item.cores_usable >= 1);
    assert_true(item.quota_cores >= 0);
}

static void memory_and_threads_are_read_from_their_files(void **state)
{
    (void)state;
    put("/proc/self/statm", "1000 25 7 1 0 9 0\n");
    put("/proc/self/status", "Name:\tweir\nThreads:\t17\nVmRSS: 3 kB\n");
    const weir__process_item item = look();
    assert_int_equal(25 * sysconf(_SC_PAGESIZE), item.rss_bytes);
    assert_int_equal(17, item.threads);
}

static void of_nested_v2_groups_the_tightest_quota_counts_and_all_stops(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a.slice/b.service\n");
    put("/sys/fs/cgroup/a.slice/b.service/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a.slice/b.service/cpu.stat",
        "usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 250\n");
    put("/sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n");
    put("/sys/fs/cgroup/a.slice/cpu.stat", "nr_throttled 4\nthrottled_usec 1000\n");
    put("/sys/fs/cgroup/cpu.max", "300000 100000\n");
    const weir__process_item item = look();
    assert_true(item.quota_cores == 1.5);
    assert_int_equal(7, item.throttled);
    assert_int_equal(1250000, item.throttled_ns);
}

static void in_a_container_the_root_is_its_own_group(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    put("/sys/fs/cgroup/cpu.stat", "nr_throttled 2\nthrottled_usec 7\n");
    const weir__process_item item = look();
    assert_true(item.quota_cores == 0.5);
    assert_int_equal(2, item.throttled);
    assert_int_equal(7000, item.throttled_ns);
}

static void v1_groups_say_it_in_other_files(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "12:memory:/m\n4:cpu,cpuacct:/x/y\n1:name=systemd:/s\n0::/s\n");
    put("/sys/fs/cgroup/cpu/x/y/cpu.stat", "nr_periods 1\nnr_throttled 6\nthrottled_time 12345\n");
    put("/sys/fs/cgroup/cpu/x/y/cpu.cfs_quota_us", "250000\n");
    put("/sys/fs/cgroup/cpu/x/y/cpu.cfs_period_us", "100000\n");
    weir__process_item item = look();
    assert_true(item.quota_cores == 2.5);
    assert_int_equal(6, item.throttled);
    assert_int_equal(12345, item.throttled_ns);
    put("/sys/fs/cgroup/cpu/x/y/cpu.cfs_quota_us", "-1\n");
    item = look();
    assert_true(item.quota_cores == 0);
}

static void a_v1_container_sees_its_group_at_the_root(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "4:cpu:/docker/abc\n");
    put("/sys/fs/cgroup/cpu/cpu.stat", "nr_throttled 1\nthrottled_time 5\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    const weir__process_item item = look();
    assert_true(item.quota_cores == 1.0);
    assert_int_equal(1, item.throttled);
}

static void nothing_and_nonsense_are_zero(void **state)
{
    (void)state;
    weir__process_item item = look();
    assert_int_equal(0, item.rss_bytes + item.threads + item.throttled + item.throttled_ns);
    put("/proc/self/statm", "");
    put("/proc/self/status", "Threads");
    put("/proc/self/cgroup", "0::");
    item = look();
    assert_int_equal(0, item.rss_bytes + item.threads);
    put("/proc/self/cgroup", "0::/x/../..\n");
    put("/proc/self/statm", "no numbers");
    put("/sys/fs/cgroup/cpu.max", "0 0\n");
    put("/sys/fs/cgroup/cpu.stat", "nr_throttled\nnr_throttledx 4\n");
    item = look();
    assert_int_equal(0, item.rss_bytes + item.throttled);
    assert_true(item.quota_cores == 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_real_process_has_time_memory_and_threads),
        TEST(memory_and_threads_are_read_from_their_files),
        TEST(of_nested_v2_groups_the_tightest_quota_counts_and_all_stops),
        TEST(in_a_container_the_root_is_its_own_group),
        TEST(v1_groups_say_it_in_other_files),
        TEST(a_v1_container_sees_its_group_at_the_root),
        TEST(nothing_and_nonsense_are_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
