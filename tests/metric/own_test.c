/*
 * own_test.c - figures of the application's own: added, read, removed, while somebody reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "metric_support.h"

#include <math.h>

static scene s;

static int set_up(void **state)
{
    (void)state;
    scene_open(&s);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scene_close(&s);
    return 0;
}

static double read_double(void *context)
{
    return *(const double *)context;
}

static double twelve = 12;

static weir_status add(const char *name, const char *labels)
{
    return weir_metric_add(s.engine,
                           WEIR_METRIC(.kind = WEIR_METRIC_COUNTER, .name = name, .labels = labels,
                                       .help = "what was \\ counted", .read = read_double,
                                       .context = &twelve),
                           NULL);
}

static void a_figure_is_read_when_somebody_asks(void **state)
{
    (void)state;
    double value = 1;
    assert_int_equal(WEIR_OK, add("orders_rejected_total", "reason=\"price\""));
    assert_int_equal(WEIR_OK, add("orders_rejected_total", "reason=\"size\",side=\"a\\\"b\""));
    assert_int_equal(
        WEIR_OK, weir_metric_add(s.engine,
                                 WEIR_METRIC(.kind = WEIR_METRIC_GAUGE, .name = "level",
                                             .help = "h", .read = read_double, .context = &value),
                                 NULL));
    char *text = scene_text(&s, NULL);
    assert_has(text, "# HELP level h\n# TYPE level gauge\nlevel 1\n"
                     "# HELP orders_rejected_total what was \\\\ counted\n"
                     "# TYPE orders_rejected_total counter\n"
                     "orders_rejected_total{reason=\"price\"} 12\n"
                     "orders_rejected_total{reason=\"size\",side=\"a\\\"b\"} 12\n");
    free(text);
    char *json = scene_json(&s, NULL);
    assert_has(json, "{\"name\":\"orders_rejected_total\",\"labels\":\"reason=\\\"price\\\"\","
                     "\"kind\":\"counter\",\"help\":\"what was \\\\ counted\",\"value\":12}");
    free(json);
    static const struct {
        double value;
        const char *text, *json;
    } odd[] = { { (double)NAN, "\nlevel NaN\n", "\"value\":null}" },
                { (double)INFINITY, "\nlevel +Inf\n", "\"value\":null}" },
                { -(double)INFINITY, "\nlevel -Inf\n", "\"value\":null}" },
                { -0.25, "\nlevel -0.25\n", "\"value\":-0.25}" },
                { 1e300, "\nlevel 1e+300\n", "\"value\":1e+300}" } };
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        value = odd[i].value;
        text = scene_text(&s, NULL);
        assert_has(text, odd[i].text);
        free(text);
        json = scene_json(&s, NULL);
        assert_has(json, odd[i].json);
        free(json);
    }
    assert_int_equal(WEIR_OK, weir_metric_remove(s.engine, "level", NULL));
    assert_int_equal(WEIR_UNKNOWN, weir_metric_remove(s.engine, "level", NULL));
    text = scene_text(&s, NULL);
    assert_has_not(text, "\nlevel ");
    free(text);
}

static void names_and_labels_that_prometheus_would_refuse_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = { "",         "1a",     "a-b",   "a b", "a{",
                                         "\xc3\xbc", "weir_x", "weir_", "a\n", "a:b" };
    static const char *const labels[] = {
        "a",          "a=",         "a=b",          "a=\"b",        "a=\"b\",",
        ",a=\"b\"",   "a=\"b\"c",   "a=\"b\" ",     "1=\"b\"",      "a=\"\n\"",
        "a=\"\\x\"",  "a=\"\\",     "__a=\"b\"",    "a=\"b\"}",     "a=\"b\",a=\"c\"",
        "a=\"\xff\"", "a=\"b\",,c", "a=\"b\"\n1 2", "quant-=\"1\"", "a=\"b\",b=\"c\",a=\"\"",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(WEIR_E_INVALID, add(names[i], NULL));
    }
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        assert_int_equal(WEIR_E_INVALID, add("good", labels[i]));
    }
    assert_int_equal(WEIR_E_INVALID, add(NULL, NULL));
    assert_int_equal(WEIR_OK, add("good", ""));
    assert_int_equal(WEIR_E_TAKEN, add("good", NULL));
    assert_int_equal(WEIR_OK, add("good", "a=\"\\\\\\\"\\n\",bb=\"\",c=\"\xc3\xbc\""));
    assert_int_equal(WEIR_E_TAKEN, add("good", "a=\"\\\\\\\"\\n\",bb=\"\",c=\"\xc3\xbc\""));
}

static void what_a_figure_needs_is_said(void **state)
{
    (void)state;
    static const struct {
        weir_metric_options options;
        const char *path, *text;
    } wrong[] = {
        { { .kind = WEIR_METRIC_GAUGE, .name = "a", .read = read_double },
          "weir_metric_options.help",
          "'a' needs one line of help" },
        { { .kind = WEIR_METRIC_GAUGE, .name = "a", .help = "two\nlines", .read = read_double },
          "weir_metric_options.help",
          "'a' needs one line of help" },
        { { .kind = WEIR_METRIC_GAUGE, .name = "a", .help = "h" },
          "weir_metric_options.read",
          "'a' needs a function" },
        { { .name = "a", .help = "h", .read = read_double },
          "weir_metric_options.kind",
          "must be a counter or a gauge" },
        { { .kind = WEIR_METRIC_GAUGE, .name = "weir_a", .help = "h", .read = read_double },
          "weir_metric_options.name",
          "do not begin with 'weir_'" },
        { { .kind = WEIR_METRIC_GAUGE,
            .name = "taken",
            .labels = "a=\"b\"",
            .help = "h",
            .read = read_double },
          "weir_metric_options.kind",
          "'taken' with other labels is of the other kind" },
        { { .kind = WEIR_METRIC_GAUGE,
            .name = "taken",
            .labels = "z=\"b\"",
            .help = "h",
            .read = read_double },
          "weir_metric_options.kind",
          "'taken' with other labels is of the other kind" },
    };
    assert_int_equal(WEIR_OK, add("taken", "k=\"v\""));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        weir_metric_options o = wrong[i].options;
        o.struct_size = sizeof(o);
        assert_int_equal(WEIR_E_INVALID, weir_metric_add(s.engine, &o, &error));
        assert_string_equal(wrong[i].path, error.path);
        assert_has(error.text, wrong[i].text);
    }
    assert_int_equal(WEIR_E_INVALID, weir_metric_add(NULL, NULL, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_metric_add(s.engine, NULL, NULL));
    assert_int_equal(WEIR_E_INVALID, weir_metric_remove(NULL, "a", NULL));
    assert_int_equal(WEIR_E_INVALID, weir_metric_remove(s.engine, NULL, NULL));
}

static void there_are_a_thousand_and_twenty_four_at_most(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4096; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "f%u", (i * 331) % 4096);
        assert_int_equal(WEIR_OK, add(name, NULL));
    }
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(
        WEIR_E_LIMIT,
        weir_metric_add(s.engine,
                        WEIR_METRIC(.kind = WEIR_METRIC_GAUGE, .name = "more", .help = "h",
                                    .read = read_double, .context = &twelve),
                        &error));
    assert_has(error.text, "there are 4096 figures");
    char *text = scene_text(&s, NULL);
    assert_has(text, "\nf0 12\n");
    assert_has(text, "\nf1023 12\n");
    free(text);
    assert_int_equal(WEIR_OK, weir_metric_remove(s.engine, "f512", NULL));
    assert_int_equal(WEIR_OK, add("more", NULL));
}

/* ---- while somebody reads ---- */

typedef struct slow {
    sem_t entered, pass;
    atomic_bool removed, late;
    weir_status status;
} slow;

static double read_slowly(void *context)
{
    slow *w = context;
    atomic_store(&w->late, atomic_load(&w->late) || atomic_load(&w->removed));
    (void)sem_post(&w->entered);
    (void)test_sem_taken(&w->pass);
    atomic_store(&w->late, atomic_load(&w->late) || atomic_load(&w->removed));
    return 1;
}

static void *scrape(void *context)
{
    (void)context;
    weir_metrics_free(s.engine, weir_metrics_json(s.engine, NULL, NULL));
    return NULL;
}

static void *remove_it(void *context)
{
    slow *w = context;
    w->status = weir_metric_remove(s.engine, "slow", NULL);
    atomic_store(&w->removed, true);
    return NULL;
}

static void add_slow(slow *w, double (*reader)(void *))
{
    assert_int_equal(WEIR_OK,
                     weir_metric_add(s.engine,
                                     WEIR_METRIC(.kind = WEIR_METRIC_GAUGE, .name = "slow",
                                                 .help = "h", .read = reader, .context = w),
                                     NULL));
}

static void a_removal_waits_for_the_read_that_is_under_way(void **state)
{
    (void)state;
    pthread_t scraper, remover;
    slow w = { .status = WEIR_E_FAILED };
    (void)sem_init(&w.entered, 0, 0);
    (void)sem_init(&w.pass, 0, 0);
    add_slow(&w, read_slowly);
    assert_int_equal(0, pthread_create(&scraper, NULL, scrape, NULL));
    test_sem_wait(&w.entered);
    assert_int_equal(0, pthread_create(&remover, NULL, remove_it, &w));
    /* It is out of the table as soon as the removal has begun, and its place free. */
    TEST_UNTIL(add("slow", NULL) == WEIR_OK);
    const bool early = atomic_load(&w.removed);
    (void)sem_post(&w.pass);
    (void)pthread_join(scraper, NULL);
    (void)pthread_join(remover, NULL);
    assert_false(early);
    assert_int_equal(WEIR_OK, w.status);
    assert_false(atomic_load(&w.late));
    (void)weir_metric_remove(s.engine, "slow", NULL);
}

static double remove_itself(void *context)
{
    slow *w = context;
    w->status = weir_metric_remove(s.engine, "slow", NULL);
    return 0;
}

static void a_figure_cannot_remove_itself_while_it_is_read(void **state)
{
    (void)state;
    slow w = { .status = WEIR_OK };
    add_slow(&w, remove_itself);
    free(scene_json(&s, NULL));
    assert_int_equal(WEIR_E_BLOCKING, w.status);
    assert_int_equal(WEIR_OK, weir_metric_remove(s.engine, "slow", NULL));
}

/* A plugin's: its figure goes in tear_down, before what it reads. */
typedef struct gauge {
    atomic_uint value;
} gauge;

static double read_gauge(void *context)
{
    return atomic_load(&((gauge *)context)->value);
}

static weir_status gauge_init(void *state, weir_component *self, const void *config,
                              weir_error *error)
{
    gauge *g = state;
    (void)config;
    atomic_store(&g->value, 7);
    return weir_metric_add(weir_component_engine(self),
                           WEIR_METRIC(.kind = WEIR_METRIC_GAUGE, .name = "gauge", .help = "h",
                                       .read = read_gauge, .context = g),
                           error);
}

static atomic_int removal;

static void gauge_tear_down(void *state, weir_component *self)
{
    (void)state;
    atomic_store(&removal, weir_metric_remove(weir_component_engine(self), "gauge", NULL));
}

static const weir_component_type gauge_type = { .struct_size = sizeof(weir_component_type),
                                                .kind = WEIR_KIND_SERVICE,
                                                .name = "gauge",
                                                .state_size = sizeof(gauge),
                                                .handler = scene_handle,
                                                .init = gauge_init,
                                                .tear_down = gauge_tear_down };

static void *scrape_until(void *context)
{
    atomic_bool *end = context;
    while (!atomic_load(end)) {
        weir_metrics_free(s.engine, weir_metrics_json(s.engine, NULL, NULL));
    }
    return NULL;
}

static void a_component_removes_its_figure_in_tear_down_under_scrapes(void **state)
{
    (void)state;
    pthread_t scraper;
    atomic_bool end = false;
    const scene kept = s;
    scene_make(&s, WEIR_ENGINE(.name = "host"));
    assert_int_equal(WEIR_OK, weir_components_start(s.engine, &s.error));
    assert_int_equal(0, pthread_create(&scraper, NULL, scrape_until, &end));
    for (uint32_t i = 0; i < test_load(50, 10); i++) {
        atomic_store(&removal, WEIR_E_FAILED);
        assert_int_equal(WEIR_OK, weir_component_add(s.engine, &gauge_type,
                                                     WEIR_COMPONENT(.name = "g"), NULL, &s.error));
        assert_int_equal(WEIR_OK, weir_component_remove(s.engine, "g", 0, &s.error));
        assert_int_equal(WEIR_OK, atomic_load(&removal));
    }
    atomic_store(&end, true);
    (void)pthread_join(scraper, NULL);
    scene_close(&s);
    s = kept;
}

/* ---- many at once ---- */

typedef struct crowd {
    atomic_bool end;
    atomic_uint_least64_t scrapes, changes, wrong;
} crowd;

typedef struct cell {
    atomic_bool alive;
    crowd *crowd;
} cell;

static double read_cell(void *context)
{
    cell *c = context;
    if (!atomic_load(&c->alive)) {
        atomic_fetch_add(&c->crowd->wrong, 1);
    }
    return 1;
}

static void *scrape_on(void *context)
{
    crowd *c = context;
    while (!atomic_load(&c->end)) {
        char *text = weir_metrics_prometheus(s.engine, NULL, NULL);
        atomic_fetch_add(text != NULL ? &c->scrapes : &c->wrong, 1);
        weir_metrics_free(s.engine, text);
    }
    return NULL;
}

static void *change_on(void *context)
{
    crowd *c = context;
    static atomic_uint names;
    char name[32];
    (void)snprintf(name, sizeof(name), "c%u", atomic_fetch_add(&names, 1));
    cell one = { .crowd = c };
    while (!atomic_load(&c->end)) {
        atomic_store(&one.alive, true);
        const weir_status added =
            weir_metric_add(s.engine,
                            WEIR_METRIC(.kind = WEIR_METRIC_COUNTER, .name = name, .help = "h",
                                        .read = read_cell, .context = &one),
                            NULL);
        const weir_status removed = weir_metric_remove(s.engine, name, NULL);
        atomic_store(&one.alive, false);
        if (added != WEIR_OK || removed != WEIR_OK) {
            atomic_fetch_add(&c->wrong, 1);
        }
        atomic_fetch_add(&c->changes, 1);
    }
    return NULL;
}

static void figures_come_and_go_under_scrapes_and_load(void **state)
{
    (void)state;
    pthread_t threads[4];
    crowd c = { .end = false };
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(0, pthread_create(&threads[i], NULL, i < 2 ? scrape_on : change_on, &c));
    }
    const uint64_t wanted = test_load(300, 60);
    TEST_UNTIL((scene_post(&s, s.risk, TOLD(work), 5), atomic_load(&c.scrapes) >= wanted) &&
               atomic_load(&c.changes) >= wanted);
    atomic_store(&c.end, true);
    for (uint32_t i = 0; i < 4; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    assert_int_equal(0, atomic_load(&c.wrong));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_figure_is_read_when_somebody_asks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_and_labels_that_prometheus_would_refuse_are_refused,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_figure_needs_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(there_are_a_thousand_and_twenty_four_at_most, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_removal_waits_for_the_read_that_is_under_way, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_figure_cannot_remove_itself_while_it_is_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_component_removes_its_figure_in_tear_down_under_scrapes,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(figures_come_and_go_under_scrapes_and_load, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
