/*
 * cli/top_read_test.c - the figures of `weir top` from two canned looks at a server.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_support.h"

#include <math.h>
#include <string.h>

#include "cli/top.h"

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *document = json_loads(text, 0, &error);
    if (document == NULL) {
        fail_msg("line %d: %s", error.line, error.text);
    }
    return document;
}

/* Of an engine that has run for so many tenths of a second, with these sections behind it. */
static json_t *look(unsigned tenths, const char *sections)
{
    char text[4096];
    const int length =
        snprintf(text, sizeof(text),
                 "{\"weir\": \"0.1.0\", \"engine\": {\"name\": \"e\", \"phase\": \"running\", "
                 "\"time_ns\": %llu, \"uptime_ns\": %llu, \"handled\": %u, \"dropped\": %u, "
                 "\"refused_full\": 3, \"refused_other\": 4}%s%s}",
                 1763316000000000000ULL + tenths * 100000000ULL, tenths * 100000000ULL,
                 tenths * 100, tenths, sections[0] != '\0' ? ", " : "", sections);
    assert_true(length > 0 && (size_t)length < sizeof(text));
    return parse(text);
}

static weir__top_figures figures;

static void make(json_t *before, json_t *now)
{
    assert_true(weir__top_figures_make(&figures, before, now));
    json_decref(before);
    json_decref(now);
}

static const void *row(uint32_t table, size_t i)
{
    assert_true(i < figures.rows[table].count);
    return (const char *)figures.rows[table].items + i * weir__top_tables[table].row_size;
}

static void assert_near(double wanted, double is)
{
    if (!(fabs(wanted - is) <= fabs(wanted) * 1e-9 + 1e-12)) {
        fail_msg("%.12g is not %.12g", is, wanted);
    }
}

static void rates_are_differences_over_the_time_between_the_looks(void **state)
{
    (void)state;
    make(look(100, ""), look(105, ""));
    assert_near(0.5, figures.seconds);
    assert_near(1000, figures.events_per_s);
    assert_near(10, figures.dropped_per_s);
    assert_near(105, figures.dropped);
    assert_near(7, figures.refused);
    assert_false(figures.since_start);
    weir__top_figures_close(&figures);
}

static void without_an_earlier_look_rates_are_of_the_whole_life(void **state)
{
    (void)state;
    make(NULL, look(50, ""));
    assert_true(figures.since_start);
    assert_near(5, figures.seconds);
    assert_near(1000, figures.events_per_s);
    weir__top_figures_close(&figures);
}

static void a_server_that_began_anew_has_no_earlier_look(void **state)
{
    (void)state;
    json_t *old = look(100, "");
    json_t *young = look(2, "");
    /* Its clock goes on, its life does not. */
    json_object_set_new(json_object_get(young, "engine"), "time_ns",
                        json_integer(1763316099000000000));
    make(old, young);
    assert_true(figures.since_start);
    assert_near(1000, figures.events_per_s);
    weir__top_figures_close(&figures);
}

static void two_looks_of_one_moment_give_no_endless_rates(void **state)
{
    (void)state;
    make(look(0, ""), look(0, ""));
    assert_true(isnan(figures.events_per_s));
    weir__top_figures_close(&figures);
}

static void shares_of_a_dispatcher_are_of_what_grew(void **state)
{
    (void)state;
    make(look(10,
              "\"dispatchers\": [{\"dispatcher\": \"api\", \"handled\": 10, \"try_locks\": 100, "
              "\"try_locks_failed\": 90, \"rounds\": 10, \"backoffs\": 10, \"signals\": 100, "
              "\"wakeups\": 100, \"wakeups_found\": 0}]"),
         look(20, "\"dispatchers\": [{\"dispatcher\": \"other\"}, {\"dispatcher\": \"api\", "
                  "\"handled\": 510, \"try_locks\": 200, \"try_locks_failed\": 132, "
                  "\"rounds\": 110, \"backoffs\": 20, \"signals\": 300, \"wakeups\": 250, "
                  "\"wakeups_found\": 120, "
                  "\"queueing\": {\"count\": 7, \"p50_ns\": 100, \"p99_ns\": 1200}}]"));
    const weir__top_dispatcher *d = row(WEIR__TOP_DISPATCHERS, 1);
    assert_string_equal("api", d->name);
    assert_near(500, d->events_per_s);
    assert_near(0.42, d->contention);
    assert_near(0.10, d->backoff);
    assert_near(0.75, d->woke);
    assert_near(0.80, d->found);
    assert_near(12, d->tail);
    assert_true(isnan(d->handling.p50)); /* was not said */
    weir__top_figures_close(&figures);
}

static void nothing_that_grew_has_no_share(void **state)
{
    (void)state;
    const char *same = "\"dispatchers\": [{\"dispatcher\": \"\", \"try_locks\": 100, "
                       "\"try_locks_failed\": 50, \"queueing\": {\"count\": 0, \"p50_ns\": 0}}]";
    make(look(10, same), look(20, same));
    const weir__top_dispatcher *d = row(WEIR__TOP_DISPATCHERS, 0);
    assert_true(isnan(d->contention));
    assert_true(isnan(d->queueing.p50)); /* 0 of nothing is not fast */
    weir__top_figures_close(&figures);
}

static void a_thread_is_used_for_its_busy_share_of_its_life(void **state)
{
    (void)state;
    make(look(10, "\"threads\": [{\"thread\": \"a\", \"alive_ns\": 1000, \"busy_ns\": 1000, "
                  "\"cpu_ns\": 0}, {\"thread\": \"b\", \"alive_ns\": 1000, \"busy_ns\": 0}]"),
         look(20, "\"threads\": [{\"thread\": \"a\", \"alive_ns\": 2000, \"busy_ns\": 1250, "
                  "\"cpu_ns\": 500000000}, {\"thread\": \"b\", \"alive_ns\": 2000, "
                  "\"busy_ns\": 1001}]"));
    const weir__top_thread *a = row(WEIR__TOP_THREADS, 0);
    const weir__top_thread *b = row(WEIR__TOP_THREADS, 1);
    assert_near(0.25, a->utilisation);
    assert_near(0.5, a->cpu);
    assert_near(1, b->utilisation); /* never more than all of it */
    assert_true(a->loaded);         /* beside one that is full */
    weir__top_figures_close(&figures);
}

static void a_counter_that_fell_began_anew(void **state)
{
    (void)state;
    make(look(10, "\"processors\": [{\"processor\": \"p\", \"handled\": 1000}]"),
         look(20, "\"processors\": [{\"processor\": \"p\", \"handled\": 40}, "
                  "{\"processor\": \"new\", \"handled\": 7}]"));
    assert_near(40, ((const weir__top_processor *)row(WEIR__TOP_PROCESSORS, 0))->events_per_s);
    assert_near(7, ((const weir__top_processor *)row(WEIR__TOP_PROCESSORS, 1))->events_per_s);
    weir__top_figures_close(&figures);
}

static void who_was_not_among_the_busiest_before_has_no_rate(void **state)
{
    (void)state;
    make(look(10, "\"processors_total\": 3, \"processors_shown\": 1, \"processors\": "
                  "[{\"processor\": \"(others)\", \"handled\": 5}, "
                  "{\"processor\": \"(earlier)\", \"handled\": 5}, "
                  "{\"processor\": \"p\", \"handled\": 10}]"),
         look(20, "\"processors\": [{\"processor\": \"p\", \"handled\": 40}, "
                  "{\"processor\": \"q\", \"handled\": 1000000}, "
                  "{\"processor\": \"(others)\", \"handled\": 50}, "
                  "{\"processor\": \"(earlier)\", \"handled\": 5000}]"));
    assert_near(30, ((const weir__top_processor *)row(WEIR__TOP_PROCESSORS, 0))->events_per_s);
    assert_true(isnan(((const weir__top_processor *)row(WEIR__TOP_PROCESSORS, 1))->events_per_s));
    assert_near(45, ((const weir__top_processor *)row(WEIR__TOP_PROCESSORS, 2))->events_per_s);
    assert_true(isnan(((const weir__top_processor *)row(WEIR__TOP_PROCESSORS, 3))->events_per_s));
    weir__top_figures_close(&figures);
}

static void figures_of_ones_own_are_told_apart_by_their_labels(void **state)
{
    (void)state;
    make(look(10, "\"own\": [{\"name\": \"n_total\", \"labels\": \"a=\\\"1\\\"\", "
                  "\"kind\": \"counter\", \"value\": 5}, {\"name\": \"n_total\", \"labels\": "
                  "\"a=\\\"2\\\"\", \"kind\": \"counter\", \"value\": 100}]"),
         look(20, "\"own\": [{\"name\": \"n_total\", \"labels\": \"a=\\\"1\\\"\", "
                  "\"kind\": \"counter\", \"value\": 25}, {\"name\": \"n_total\", \"labels\": "
                  "\"a=\\\"2\\\"\", \"kind\": \"counter\", \"value\": 103}, "
                  "{\"name\": \"level\", \"labels\": \"\", \"kind\": \"gauge\", \"value\": 7}, "
                  "{\"name\": 5}, 6]"));
    assert_int_equal(5, figures.rows[WEIR__TOP_OWN].count);
    const weir__top_own *own = row(WEIR__TOP_OWN, 0);
    assert_string_equal("n_total", own[0].name);
    assert_string_equal("a=\"1\"", own[0].labels);
    assert_near(25, own[0].value);
    assert_near(20, own[0].per_s);
    assert_near(3, own[1].per_s);
    assert_near(7, own[2].value);
    assert_true(isnan(own[2].per_s)); /* a gauge */
    assert_string_equal("", own[3].name);
    assert_true(isnan(own[4].value));
    weir__top_figures_close(&figures);
}

static void workers_are_those_of_all_routers(void **state)
{
    (void)state;
    make(look(10, "\"routers\": [{\"router\": \"r\", \"worker\": [{\"processor\": \"r/0\", "
                  "\"handled\": 5, \"busy_ns\": 0}]}]"),
         look(20, "\"routers\": [{\"router\": \"s\", \"worker\": []}, {\"router\": \"r\", "
                  "\"refused_full\": 2, \"refused_flows\": 1, \"submitted\": 44, \"worker\": "
                  "[{\"processor\": \"r/0\", \"handled\": 25, \"busy_ns\": 250000000}, "
                  "{\"processor\": \"r/1\", \"handled\": 1}]}]"));
    const weir__top_worker *w = row(WEIR__TOP_WORKERS, 0);
    assert_int_equal(2, figures.rows[WEIR__TOP_WORKERS].count);
    assert_string_equal("r", w->router);
    assert_near(20, w->events_per_s);
    assert_near(0.25, w->busy);
    const weir__top_router *r = row(WEIR__TOP_ROUTERS, 1);
    assert_near(3, r->refused);
    assert_true(isnan(r->submitted_per_s)); /* it was not said before */
    weir__top_figures_close(&figures);
}

static void what_is_of_another_kind_is_not_known(void **state)
{
    (void)state;
    make(NULL, look(10, "\"processors\": [3, null, {\"processor\": 7, \"handled\": \"many\"}], "
                        "\"threads\": {}, \"health\": [], \"routers\": [{\"worker\": 1}], "
                        "\"dead_letters\": [{}], \"process\": 5, \"feeds\": null"));
    const weir__top_processor *p = row(WEIR__TOP_PROCESSORS, 2);
    assert_string_equal("", p->name);
    assert_true(isnan(p->events_per_s) && isnan(p->depth) && isnan(p->fill));
    assert_string_equal("", figures.status);
    assert_true(isnan(figures.cpu));
    weir__top_figures_close(&figures);
}

static void what_has_no_engine_is_no_look(void **state)
{
    (void)state;
    json_t *other = parse("{\"findings\": []}");
    assert_false(weir__top_figures_make(&figures, NULL, other));
    json_decref(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_differences_over_the_time_between_the_looks),
        cmocka_unit_test(without_an_earlier_look_rates_are_of_the_whole_life),
        cmocka_unit_test(a_server_that_began_anew_has_no_earlier_look),
        cmocka_unit_test(two_looks_of_one_moment_give_no_endless_rates),
        cmocka_unit_test(shares_of_a_dispatcher_are_of_what_grew),
        cmocka_unit_test(nothing_that_grew_has_no_share),
        cmocka_unit_test(a_thread_is_used_for_its_busy_share_of_its_life),
        cmocka_unit_test(a_counter_that_fell_began_anew),
        cmocka_unit_test(who_was_not_among_the_busiest_before_has_no_rate),
        cmocka_unit_test(figures_of_ones_own_are_told_apart_by_their_labels),
        cmocka_unit_test(workers_are_those_of_all_routers),
        cmocka_unit_test(what_is_of_another_kind_is_not_known),
        cmocka_unit_test(what_has_no_engine_is_no_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
