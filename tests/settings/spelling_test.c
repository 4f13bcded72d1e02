/*
 * spelling_test.c - what threads may be told in other words (S-02, S-79) is what the keys of the
 * table say; said both ways it is an error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings_support.h"

static void core_is_a_list_of_one_or_a_list(void **state)
{
    (void)state;
    weir_config *config =
        test_config("weir.engine.threads = [ { name = a, dispatchers = [\"\"], core = 1 },\n"
                    "{ name = b, dispatchers = [x], core = [0, 2] } ]\n"
                    "weir.engine.helper-thread.core = 3");
    assert_int_equal(0, config->problems.count);
    assert_int_equal(1, config->threads[0].core_count);
    assert_int_equal(1, config->threads[0].cores[0]);
    assert_int_equal(2, config->threads[1].core_count);
    assert_int_equal(2, config->threads[1].cores[1]);
    assert_int_equal(1, config->engine.helper_thread.options.core_count);
    assert_int_equal(3, config->engine.helper_thread.options.cores[0]);
    weir_config_destroy(config);
}

static void a_priority_is_an_object_or_nice(void **state)
{
    (void)state;
    weir_config *config = test_config(
        "weir.engine.threads = [\n"
        "{ name = a, dispatchers = [\"\"], priority { policy = fifo, value = 7 } },\n"
        "{ name = b, dispatchers = [x], nice = -3 },\n"
        "{ name = c, dispatchers = [x], priority = round-robin, priority-value = 2 } ]\n"
        "weir.engine { scheduler-thread { priority { policy = nice, value = 4 } }\n"
        "helper-thread.nice = 5 }");
    assert_int_equal(0, config->problems.count);
    assert_int_equal(WEIR_PRIORITY_FIFO, config->threads[0].priority);
    assert_int_equal(7, config->threads[0].priority_value);
    assert_int_equal(WEIR_PRIORITY_NICE, config->threads[1].priority);
    assert_int_equal(-3, config->threads[1].priority_value);
    assert_int_equal(WEIR_PRIORITY_ROUND_ROBIN, config->threads[2].priority);
    assert_int_equal(2, config->threads[2].priority_value);
    assert_int_equal(WEIR_PRIORITY_NICE, config->engine.scheduler_thread.options.priority);
    assert_int_equal(4, config->engine.scheduler_thread.options.priority_value);
    assert_int_equal(5, config->engine.helper_thread.options.priority_value);
    weir_config_destroy(config);
}

static void idle_is_an_object_with_its_parameters(void **state)
{
    (void)state;
    weir_config *config = test_config(
        "weir.engine.threads = [ { name = a, dispatchers = [\"\"],\n"
        "idle { strategy = sleep, sleep = 3 ms, max-park = 4 ms, spin-max = 5 us } } ]");
    assert_int_equal(0, config->problems.count);
    assert_int_equal(WEIR_IDLE_SLEEP, config->threads[0].idle);
    assert_int_equal(3 * WEIR_MS, config->threads[0].idle_sleep);
    assert_int_equal(4 * WEIR_MS, config->threads[0].max_park);
    assert_int_equal(5 * WEIR_US, config->threads[0].idle_spin_max);
    weir_config_destroy(config);
}

static void an_assignment_is_a_map_of_counts(void **state)
{
    (void)state;
    weir_config *config = test_config("weir.engine.assignment { strategy = per-dispatcher,\n"
                                      "dispatchers { api = 2, batch = 1 } }");
    assert_int_equal(0, config->problems.count);
    assert_int_equal(3, config->thread_count);
    assert_string_equal("api", config->threads[0].dispatchers[0]);
    assert_string_equal("api", config->threads[1].dispatchers[0]);
    assert_string_equal("batch", config->threads[2].dispatchers[0]);
    weir_config_destroy(config);
    config = test_config("weir.engine.assignment { strategy = per-dispatcher, dispatchers { 0 = a, "
                         "1 = b } }");
    assert_int_equal(0, config->problems.count);
    assert_string_equal("b", config->threads[1].dispatchers[0]);
    weir_config_destroy(config);
    test_says("weir.engine.assignment { strategy = per-dispatcher,\n"
              "dispatchers { api = 0 } }",
              "t.conf:1:37: weir.engine.assignment: has no thread: at least one is needed, as in "
              "[[\"\"]]\n"
              "t.conf:2:21: weir.engine.assignment.counts[0]: 0 is not >= 1\n");
    test_says(
        "weir.engine.assignment { strategy = per-dispatcher,\n"
        "dispatchers { api = 2 }, counts = [2] }",
        "t.conf:2:13: weir.engine.assignment.dispatchers: says the same as counts in t.conf:2: "
        "keep one of them\n");
}

static void the_default_overflow_is_the_overflow(void **state)
{
    (void)state;
    weir_config *config = test_config("weir.engine.default-overflow = drop-newest");
    assert_int_equal(0, config->problems.count);
    assert_int_equal(WEIR_OVERFLOW_DROP_NEWEST, config->engine.overflow);
    weir_config_destroy(config);
    test_says("weir.engine { default-overflow = block, overflow = fail }",
              "t.conf:1:34: weir.engine.default-overflow: says the same as overflow in t.conf:1: "
              "keep one of them\n");
    test_says("weir.engine.default-overflow = blok",
              "t.conf:1:32: weir.engine.overflow: 'blok' is none of default, fail, drop-newest, "
              "drop-oldest, block; did you mean block?\n");
}

#define THREAD "weir.engine.threads = [{ name = a, dispatchers = [\"\"], "
#define AT "t.conf:1:"
#define PATH ": weir.engine.threads[0]."

static void said_both_ways_it_is_an_error(void **state)
{
    (void)state;
    test_says(THREAD "core = 1, cores = [2] }]",
              AT "63" PATH "core: says the same as cores in t.conf:1: keep one of them\n");
    test_says(THREAD "nice = 1, priority = fifo, priority-value = 3 }]",
              AT "63" PATH "nice: says the same as priority in t.conf:1: keep one of them\n");
    test_says(THREAD "priority { policy = fifo, value = 3 }, nice = 1 }]",
              AT "102" PATH "nice: says the same as priority in t.conf:1: keep one of them\n");
    test_says(THREAD "priority { policy = fifo, value = 3 }, priority-value = 1 }]",
              AT "90" PATH "priority: says the same as priority-value in t.conf:1: keep one of "
                 "them\n");
    test_says(THREAD "idle { strategy = park, sleep = 1 ms }, idle-sleep = 2 ms }]",
              AT "88" PATH "idle: says the same as idle-sleep in t.conf:1: keep one of them\n");
}

static void mistakes_inside_are_told_with_their_place(void **state)
{
    (void)state;
    test_says(THREAD "idle { stratgy = park } }]",
              AT "61" PATH "idle: has no strategy\n" AT "73" PATH
                 "idle.stratgy: is no key; here may stand: strategy, spin-max, sleep, "
                 "max-park\n");
    test_says(THREAD "priority { value = 3 } }]", AT "65" PATH "priority: has no policy\n");
    test_says(THREAD "priority { policy = fifo } }]",
              AT "24" PATH "priority-value: 0 is not >= 1, as priority = fifo and round-robin need "
                 "it\n");
    test_says(THREAD "core = x }]",
              AT "63" PATH "cores[0]: 'x' is no whole number: it is written like 42, -7 or 1e6\n");
}

static const char *thread_of(const weir_config *config, const char *path)
{
    const weir__node *node = weir__tree_at(config->tree, config->tree->root, path);
    return node != NULL ? node->text.bytes : NULL;
}

#define SERVED                                                                                     \
    "weir.engine.threads = [{ name = io, dispatchers = [], services = [clock, tail] }, "           \
    "{ name = b, dispatchers = [\"\"] }]\n"

static void services_are_components_that_have_this_thread(void **state)
{
    (void)state;
    weir_config *config = test_config(
        SERVED "weir.components { clock { type = timer }, tail { type = file, thread = io } }");
    assert_string_equal("io", thread_of(config, "weir.components.clock.thread"));
    assert_string_equal("io", thread_of(config, "weir.components.tail.thread"));
    weir_config_destroy(config);
}

/* The line among others: without its types a component's keys are unknown here. */
static void says_also(const char *text, const char *wanted)
{
    char said[8000];
    weir_config *config = test_config(text);
    test_problems(config, said, sizeof(said));
    if (strstr(said, wanted) == NULL) {
        print_error("not among what was said: %s%s", wanted, said);
        fail();
    }
    weir_config_destroy(config);
}

static void a_service_that_cannot_be_given_is_an_error(void **state)
{
    (void)state;
    says_also(SERVED "weir.components { clok { type = timer }, tail { type = file } }",
              AT "67: weir.engine.threads[0].services: 'clock' is no component; did you mean "
                 "clok?\n");
    says_also(SERVED "weir.components { clock { type = timer, thread = b }, tail { } }",
              "services: clock has another thread, in t.conf:2: keep one of them\n");
    says_also("weir.engine.threads = [{ dispatchers = [\"\"], services = [clock] }]\n"
              "weir.components { clock { type = timer } }",
              "services: needs a thread that has a name\n");
    says_also("weir.engine.threads = [{ name = a, dispatchers = [\"\"], services = clock }]",
              "services: is a string, must be a list of components\n");
    says_also("weir.engine.threads = [{ name = a, dispatchers = [\"\"], services = [{}, zoo] }]",
              "services: is an object, must be the name of a component\n");
    says_also("weir.engine.threads = [{ name = a, dispatchers = [\"\"], services = [{}, zoo] }]",
              "services: 'zoo' is no component: there is no weir.components.zoo\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(core_is_a_list_of_one_or_a_list),
        cmocka_unit_test(a_priority_is_an_object_or_nice),
        cmocka_unit_test(idle_is_an_object_with_its_parameters),
        cmocka_unit_test(an_assignment_is_a_map_of_counts),
        cmocka_unit_test(the_default_overflow_is_the_overflow),
        cmocka_unit_test(said_both_ways_it_is_an_error),
        cmocka_unit_test(mistakes_inside_are_told_with_their_place),
        cmocka_unit_test(services_are_components_that_have_this_thread),
        cmocka_unit_test(a_service_that_cannot_be_given_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
