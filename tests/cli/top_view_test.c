/*
 * cli/top_view_test.c - the page of `weir top` in windows of many sizes, and what keys do to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_support.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#include "cli/top.h"

enum { PROCESSORS = 30 };

/* An engine of everything, with troubles. */
static json_t *canned(void)
{
    json_t *processors = json_array();
    for (int i = 0; i < PROCESSORS; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "worker-%02d", i);
        json_array_append_new(processors,
                              json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:{s:i, s:i, s:i}}",
                                        "processor", name, "handled", 1000 * i, "depth", i,
                                        "depth_high", 50, "mailbox_max", 100, "dropped",
                                        i == 3 ? 7 : 0, "failures", 0, "handling", "count", 500,
                                        "p50_ns", 100, "p99_ns", 100 * (i + 1)));
    }
    json_t *document = json_pack(
        "{s:s, s:{s:s, s:s, s:I, s:I, s:i, s:i, s:i}, s:{s:I, s:i, s:i},"
        " s:{s:s, s:[{s:s, s:s, s:s}]},"
        " s:[{s:s, s:i, s:i, s:i, s:i, s:i}, {s:s, s:i, s:i, s:i}],"
        " s:[{s:s, s:s, s:i, s:i, s:i}, {s:s, s:s, s:i, s:i}], s:o,"
        " s:[{s:s, s:i, s:s}], s:[{s:s, s:i, s:[{s:s, s:i}]}],"
        " s:[{s:i, s:s, s:s, s:s}]}",
        "weir", "0.1.0", "engine", "name", "shop", "phase", "running", "time_ns",
        (json_int_t)1763316000000000000, "uptime_ns", (json_int_t)1000000000, "handled", 123456,
        "depth", 985, "dropped", 12, "process", "cpu_ns", (json_int_t)1500000000, "rss_bytes",
        23000000, "cores_usable", 2, "health", "status", "degraded", "reasons", "what",
        "processor risk", "status", "degraded", "reason", "its mailbox is 93 % full", "dispatchers",
        "dispatcher", "api", "handled", 100000, "try_locks", 1000, "try_locks_failed", 600,
        "rounds", 1000, "backoffs", 100, "dispatcher", "", "handled", 5, "try_locks", 1000,
        "try_locks_failed", 200, "threads", "thread", "api-0", "dispatchers", "api", "alive_ns",
        1000, "busy_ns", 950, "core_now", 1, "thread", "api-1", "dispatchers", "api", "alive_ns",
        1000, "busy_ns", 100, "processors", processors, "feeds", "feed", "orders", "published",
        1000, "slowest", "by-key", "routers", "router", "by-key", "submitted", 900, "worker",
        "processor", "flows:by-key/0", "handled", 450, "dead_letters", "number", 4, "receiver",
        "risk", "reason", "failed", "text", "price is negative");
    assert_non_null(document);
    return document;
}

static weir__top_figures figures;
static weir__top_state state;
static size_t page_rows;

static int set_up(void **unused)
{
    (void)unused;
    json_t *document = canned();
    assert_true(weir__top_figures_make(&figures, NULL, document));
    json_decref(document);
    weir__top_state_open(&state);
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    weir__top_figures_close(&figures);
    return 0;
}

static char *page_of(uint32_t width, uint32_t height)
{
    const weir__top_window window = { .width = width, .height = height };
    char *text = weir__top_page(&figures, &state, &window, &page_rows);
    assert_non_null(text);
    return text;
}

static uint32_t lines_of(const char *text, size_t *longest)
{
    uint32_t lines = 0;
    *longest = 0;
    for (const char *end = strchr(text, '\n'); end != NULL; end = strchr(text, '\n')) {
        *longest = (size_t)(end - text) > *longest ? (size_t)(end - text) : *longest;
        lines++;
        text = end + 1;
    }
    assert_int_equal('\0', *text);
    return lines;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
}

static void assert_has_not(const char *text, const char *part)
{
    if (strstr(text, part) != NULL) {
        fail_msg("'%s' in:\n%s", part, text);
    }
}

static void press(const char *keys)
{
    for (; *keys != '\0'; keys++) {
        weir__top_state_key(&state, (unsigned char)*keys, page_rows);
    }
}

static void a_page_fits_every_window(void **unused)
{
    (void)unused;
    for (uint32_t view = 0; view < WEIR__TOP_VIEWS; view++) {
        state.view = view;
        for (uint32_t height = 1; height <= 60; height++) {
            for (uint32_t width = 1; width <= 220; width += width < 30 ? 1 : 19) {
                size_t longest;
                char *text = page_of(width, height);
                const uint32_t lines = lines_of(text, &longest);
                if (lines > height || longest > width) {
                    fail_msg("view %u, %ux%u: %u lines of %zu columns\n%s", view, width, height,
                             lines, longest, text);
                }
                free(text);
            }
        }
    }
}

static void a_small_window_has_the_most_important_and_says_what_is_cut(void **unused)
{
    (void)unused;
    char *text = page_of(80, 24);
    size_t longest;
    assert_int_equal(24, lines_of(text, &longest));
    assert_has(text, "weir top  shop  degraded  running 1.0 s  processor risk: its mailbox");
    assert_has(text, "events/s 123,456  depth 985  dropped !12");
    assert_has(text, "CPU 150 %");
    assert_has(text, "api-0");
    assert_has(text, "worker-29");
    assert_has(text, "/30");
    assert_has(text, "no room for:");
    assert_has(text, "dead letter");
    free(text);
}

static void a_wide_window_has_everything_and_pairs_of_tables(void **unused)
{
    (void)unused;
    char *text = page_of(200, 60);
    assert_has_not(text, "no room for");
    assert_has(text, "price is negative");
    assert_has(text, "flows:by-key/0");
    const char *dispatchers = strstr(text, "dispatcher ");
    assert_non_null(dispatchers);
    const char *threads = strstr(dispatchers, "thread ");
    assert_non_null(threads);
    assert_true(threads < strchr(dispatchers, '\n')); /* on the same line */
    free(text);
}

static void figures_beyond_the_rules_of_thumb_are_marked(void **unused)
{
    (void)unused;
    char *text = page_of(0, 0);
    assert_has(text, "!60.0 %"); /* contention */
    assert_has(text, "*20.0 %");
    assert_has(text, "*10.0 %"); /* back-off */
    assert_has(text, "!10.0 %"); /* a thread of little use beside a full one */
    assert_has(text, "!30.0");   /* p99/p50 */
    assert_has_not(text, "\033");
    free(text);
}

static weir__tone tone_of(uint32_t table, const char *key, const void *row)
{
    const int column = weir__top_column_find(&weir__top_tables[table], key);
    assert_true(column >= 0);
    return weir__top_cell_tone(&weir__top_tables[table].columns[column], row);
}

static void every_rule_of_thumb_has_its_bound(void **unused)
{
    (void)unused;
    const weir__tone plain = WEIR__TONE_PLAIN;
    static const struct {
        const char *key;
        double value;
        weir__tone tone;
    } bounds[] = {
        { "contention", 0.0999, WEIR__TONE_GOOD },   { "contention", 0.10, WEIR__TONE_FAIR },
        { "contention", 0.4999, WEIR__TONE_FAIR },   { "contention", 0.50, WEIR__TONE_BAD },
        { "backoff", 0.0099, WEIR__TONE_GOOD },      { "backoff", 0.01, WEIR__TONE_FAIR },
        { "backoff", 0.2999, WEIR__TONE_FAIR },      { "backoff", 0.30, WEIR__TONE_BAD },
        { "found", 0.90, WEIR__TONE_FAIR },          { "found", 0.9001, WEIR__TONE_GOOD },
        { "woke", 0.95, WEIR__TONE_FAIR },           { "woke", 0.9501, WEIR__TONE_GOOD },
        { "queueing_p99_p50", 3, WEIR__TONE_GOOD },  { "queueing_p99_p50", 3.01, WEIR__TONE_FAIR },
        { "queueing_p99_p50", 10, WEIR__TONE_FAIR }, { "queueing_p99_p50", 10.01, WEIR__TONE_BAD },
        { "contention", NAN, WEIR__TONE_PLAIN },
    };
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        const double value = bounds[i].value;
        weir__top_dispatcher d = { .contention = value, .backoff = value, .found = value };
        d.woke = d.tail = value;
        d.signals = d.wakeups = d.queueing.count = 100;
        assert_int_equal(bounds[i].tone, tone_of(WEIR__TOP_DISPATCHERS, bounds[i].key, &d));
    }
    const weir__top_dispatcher few = {
        .signals = 99, .wakeups = 99, .queueing.count = 99, .found = 0.1, .woke = 0.1, .tail = 100
    };
    assert_int_equal(plain, tone_of(WEIR__TOP_DISPATCHERS, "found", &few));
    assert_int_equal(plain, tone_of(WEIR__TOP_DISPATCHERS, "woke", &few));
    assert_int_equal(plain, tone_of(WEIR__TOP_DISPATCHERS, "queueing_p99_p50", &few));
}

static void threads_and_mailboxes_have_their_bounds(void **unused)
{
    (void)unused;
    static const struct {
        double utilisation;
        bool loaded;
        weir__tone tone;
    } uses[] = { { 0.2999, true, WEIR__TONE_BAD },  { 0.30, true, WEIR__TONE_FAIR },
                 { 0.4999, true, WEIR__TONE_FAIR }, { 0.50, true, WEIR__TONE_GOOD },
                 { 0.01, false, WEIR__TONE_PLAIN }, { 0.60, false, WEIR__TONE_GOOD } };
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        const weir__top_thread t = { .utilisation = uses[i].utilisation, .loaded = uses[i].loaded };
        assert_int_equal(uses[i].tone, tone_of(WEIR__TOP_THREADS, "utilisation", &t));
    }
    weir__top_thread t = { .utilisation = 0.5, .waits = { .count = 100, .p99 = 100001 } };
    assert_int_equal(WEIR__TONE_FAIR, tone_of(WEIR__TOP_THREADS, "waits_p99_ns", &t));
    t.waits.p99 = 100000;
    assert_int_equal(WEIR__TONE_PLAIN, tone_of(WEIR__TOP_THREADS, "waits_p99_ns", &t));
    t = (weir__top_thread){ .utilisation = 0.49, .waits = { .count = 100, .p99 = 100001 } };
    assert_int_equal(WEIR__TONE_PLAIN, tone_of(WEIR__TOP_THREADS, "waits_p99_ns", &t));
    static const double fills[] = { 0.49, 0.5, 0.89, 0.9 };
    static const weir__tone tones[] = { WEIR__TONE_PLAIN, WEIR__TONE_FAIR, WEIR__TONE_FAIR,
                                        WEIR__TONE_BAD };
    for (size_t i = 0; i < 4; i++) {
        const weir__top_processor p = { .fill = fills[i], .depth = 1 };
        assert_int_equal(tones[i], tone_of(WEIR__TOP_PROCESSORS, "fill", &p));
        assert_int_equal(tones[i], tone_of(WEIR__TOP_PROCESSORS, "depth", &p));
    }
    const weir__top_processor now = { .dropped = 5, .dropped_per_s = 1 };
    const weir__top_processor once = { .dropped = 5 };
    assert_int_equal(WEIR__TONE_BAD, tone_of(WEIR__TOP_PROCESSORS, "dropped", &now));
    assert_int_equal(WEIR__TONE_FAIR, tone_of(WEIR__TOP_PROCESSORS, "dropped", &once));
}

static void tab_goes_round_the_views_both_ways(void **unused)
{
    (void)unused;
    for (uint32_t i = 1; i <= WEIR__TOP_VIEWS; i++) {
        press("\t");
        assert_int_equal(i % WEIR__TOP_VIEWS, state.view);
    }
    weir__top_state_key(&state, WEIR__KEY_BACK_TAB, 1);
    assert_int_equal(WEIR__TOP_VIEWS - 1, state.view);
    press("3");
    assert_int_equal(2, state.view);
}

static void colours_are_for_a_terminal_that_has_them(void **unused)
{
    (void)unused;
    const weir__top_window window = { .width = 80,
                                      .height = 24,
                                      .terminal = { .live = true, .colour = true } };
    char *text = weir__top_page(&figures, &state, &window, &page_rows);
    assert_has(text, "\033[31m!60.0 %\033[0m");
    free(text);
}

static void the_busiest_processors_are_first_until_another_column_is_chosen(void **unused)
{
    (void)unused;
    press("4");
    char *text = page_of(80, 10);
    assert_has(text, "worker-29");
    assert_has_not(text, "worker-00");
    free(text);
    press("r"); /* the other way round */
    text = page_of(80, 10);
    assert_has(text, "worker-00");
    assert_has_not(text, "worker-29");
    free(text);
    press("<"); /* by name */
    text = page_of(80, 10);
    assert_has(text, "worker-00");
    free(text);
    press("r");
    text = page_of(80, 10);
    assert_has(text, "worker-29");
    free(text);
}

static void unknown_figures_are_last_either_way(void **unused)
{
    (void)unused;
    press("4>>>"); /* depth_high and on to dropped: set one to NAN */
    weir__top_processor *rows = figures.rows[WEIR__TOP_PROCESSORS].items;
    rows[3].dropped = NAN;
    for (int turn = 0; turn < 2; turn++) {
        weir__top_list list;
        assert_true(weir__top_list_open(&list, &figures, &state, WEIR__TOP_PROCESSORS));
        assert_ptr_equal(&rows[3], list.rows[list.count - 1]);
        weir__top_list_close(&list);
        press("r");
    }
}

static void scrolling_ends_with_the_last_row(void **unused)
{
    (void)unused;
    press("4");
    free(page_of(80, 14));
    assert_true(page_rows > 1 && page_rows < PROCESSORS);
    for (int i = 0; i < 1000; i++) {
        press("j");
    }
    char *text = page_of(80, 14);
    assert_has(text, "worker-00");
    assert_int_equal(PROCESSORS - page_rows, state.scroll[state.view]);
    free(text);
    press("k");
    assert_int_equal(PROCESSORS - page_rows - 1, state.scroll[state.view]);
    press("G");
    free(page_of(80, 14));
    assert_int_equal(PROCESSORS - page_rows, state.scroll[state.view]);
    press("g");
    assert_int_equal(0, state.scroll[state.view]);
    weir__top_state_key(&state, WEIR__KEY_PAGE_UP, page_rows);
    assert_int_equal(0, state.scroll[state.view]);
    weir__top_state_key(&state, WEIR__KEY_PAGE_DOWN, page_rows);
    assert_int_equal(page_rows, state.scroll[state.view]);
}

static void a_filter_leaves_what_has_it_in_a_name(void **unused)
{
    (void)unused;
    press("/WORKER-1x");
    char *text = page_of(80, 24);
    assert_has(text, "filter: WORKER-1x_");
    free(text);
    press("\x7f\n");
    text = page_of(80, 24);
    assert_has(text, "10/30");
    assert_has_not(text, "worker-29");
    assert_has_not(text, "api-0");
    free(text);
    press("q");
    assert_true(state.ended); /* not typed any more */
    weir__top_state_key(&state, WEIR__KEY_ESCAPE, 1);
    assert_string_equal("", state.filter);
}

static void a_filter_is_bounded(void **unused)
{
    (void)unused;
    press("/");
    for (int i = 0; i < 1000; i++) {
        press("a");
    }
    assert_int_equal(WEIR__TOP_FILTER_MAX, strlen(state.filter));
    for (int i = 0; i < 1000; i++) {
        press("\x7f");
    }
    assert_int_equal(0, strlen(state.filter));
}

static void a_name_cannot_steer_the_terminal(void **unused)
{
    (void)unused;
    weir__top_processor *rows = figures.rows[WEIR__TOP_PROCESSORS].items;
    rows[PROCESSORS - 1].name = "\033[2J\x9b\xc2\x9b\r\nbad";
    char *text = page_of(80, 24);
    assert_has(text, "?[2J???");
    assert_has_not(text, "\033");
    free(text);
}

static void letters_of_two_columns_are_counted_as_two(void **unused)
{
    (void)unused;
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL) {
        test_skip("there is no locale C.UTF-8");
    }
    assert_int_equal(3, weir__top_text_width("\xe4\xb8\xad"
                                             "a",
                                             true));
    assert_int_equal(4, weir__top_text_width("\xe4\xb8\xad"
                                             "a",
                                             false));
    (void)setlocale(LC_CTYPE, "C");
}

static void help_takes_the_place_of_the_tables(void **unused)
{
    (void)unused;
    press("?");
    char *text = page_of(80, 24);
    assert_has(text, "sort by the next column");
    assert_has_not(text, "worker-29");
    free(text);
    press("?");
    assert_false(state.help);
}

static void a_server_that_is_gone_is_said(void **unused)
{
    (void)unused;
    const weir__top_window window = { .width = 80, .height = 24, .notice = "nobody answers" };
    char *text = weir__top_page(&figures, &state, &window, &page_rows);
    size_t longest;
    assert_has(text, "\nnobody answers\n");
    assert_int_equal(24, lines_of(text, &longest));
    free(text);
}

static void numbers_fit_their_columns(void **unused)
{
    (void)unused;
    static const double values[] = { 0,      0.04, 9.96,  99.96,   999.6,   9999,
                                     99999,  1e6,  1e7,   1.23e10, 9.99e14, 1e17,
                                     1.8e19, 1e25, 1e300, -1,      NAN,     INFINITY };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        for (weir__top_kind kind = WEIR__TOP_COUNT; kind <= WEIR__TOP_BYTES; kind++) {
            const weir__top_text text = weir__top_number_text(kind, values[i], 7);
            const size_t most = kind == WEIR__TOP_ID ? 13 : kind == WEIR__TOP_TIME ? 13 : 8;
            assert_true(strlen(text.text) > 0 && strlen(text.text) <= most);
        }
    }
    assert_string_equal("1,234,567", weir__top_number_text(WEIR__TOP_COUNT, 1234567, 9).text);
    assert_string_equal("1.23 M", weir__top_number_text(WEIR__TOP_COUNT, 1234567, 8).text);
    assert_string_equal("-", weir__top_number_text(WEIR__TOP_SHARE, NAN, 8).text);
    assert_string_equal("42.0 %", weir__top_number_text(WEIR__TOP_SHARE, 0.42, 8).text);
    assert_string_equal("21.9 MiB", weir__top_number_text(WEIR__TOP_BYTES, 23e6, 8).text);
}

static weir__key key_of(const char *bytes, size_t *used)
{
    weir__key key;
    *used = weir__key_read(bytes, strlen(bytes), false, &key);
    return key;
}

static void keys_are_read_from_what_terminals_send(void **unused)
{
    (void)unused;
    size_t used;
    weir__key key;
    assert_int_equal('j', key_of("jk", &used));
    assert_int_equal(1, used);
    assert_int_equal(WEIR__KEY_UP, key_of("\033[A", &used));
    assert_int_equal(3, used);
    assert_int_equal(WEIR__KEY_DOWN, key_of("\033OBq", &used));
    assert_int_equal(3, used);
    assert_int_equal(WEIR__KEY_PAGE_DOWN, key_of("\033[6~", &used));
    assert_int_equal(4, used);
    assert_int_equal(WEIR__KEY_OTHER, key_of("\033[15;2~x", &used));
    assert_int_equal(7, used);
    assert_int_equal(WEIR__KEY_BACK_TAB, key_of("\033[Z", &used));
    /* What may go on is waited for; then it is what it is. */
    (void)key_of("\033", &used);
    assert_int_equal(0, used);
    (void)key_of("\033[6", &used);
    assert_int_equal(0, used);
    assert_int_equal(1, weir__key_read("\033", 1, true, &key));
    assert_int_equal(WEIR__KEY_ESCAPE, key);
    assert_int_equal(3, weir__key_read("\033[6", 3, true, &key));
    assert_int_equal(WEIR__KEY_OTHER, key);
}

static void json_has_every_column_of_every_row(void **unused)
{
    (void)unused;
    json_t *document = weir__top_json(&figures, &state);
    assert_non_null(document);
    const json_t *processors = json_object_get(document, "processors");
    assert_int_equal(PROCESSORS, json_array_size(processors));
    const json_t *first = json_array_get(processors, 0);
    assert_string_equal("worker-29", json_string_value(json_object_get(first, "processor")));
    assert_int_equal(29000, json_integer_value(json_object_get(first, "events_per_s")));
    assert_true(json_is_null(json_object_get(first, "queueing_p50_ns")));
    assert_int_equal(weir__top_tables[WEIR__TOP_PROCESSORS].count, json_object_size(first));
    assert_true(json_integer_value(json_object_get(document, "time_ns")) == 1763316000000000000);
    json_decref(document);
}

static void no_table_has_more_columns_than_a_grid_or_two_of_one_key(void **unused)
{
    (void)unused;
    for (uint32_t t = 0; t < WEIR__TOP_TABLES; t++) {
        const weir__top_table *table = &weir__top_tables[t];
        assert_true(table->count <= WEIR__TOP_COLUMNS_MAX);
        assert_int_equal(WEIR__TOP_TEXT, table->columns[0].kind);
        for (uint32_t i = 0; i < table->count; i++) {
            assert_int_equal(i, weir__top_column_find(table, table->columns[i].key));
            assert_true(strlen(table->columns[i].title) < table->columns[i].width);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_page_fits_every_window),
        TEST(a_small_window_has_the_most_important_and_says_what_is_cut),
        TEST(a_wide_window_has_everything_and_pairs_of_tables),
        TEST(figures_beyond_the_rules_of_thumb_are_marked),
        TEST(every_rule_of_thumb_has_its_bound),
        TEST(threads_and_mailboxes_have_their_bounds),
        TEST(tab_goes_round_the_views_both_ways),
        TEST(colours_are_for_a_terminal_that_has_them),
        TEST(the_busiest_processors_are_first_until_another_column_is_chosen),
        TEST(unknown_figures_are_last_either_way),
        TEST(scrolling_ends_with_the_last_row),
        TEST(a_filter_leaves_what_has_it_in_a_name),
        TEST(a_filter_is_bounded),
        TEST(a_name_cannot_steer_the_terminal),
        TEST(letters_of_two_columns_are_counted_as_two),
        TEST(help_takes_the_place_of_the_tables),
        TEST(a_server_that_is_gone_is_said),
        TEST(numbers_fit_their_columns),
        TEST(keys_are_read_from_what_terminals_send),
        TEST(json_has_every_column_of_every_row),
        TEST(no_table_has_more_columns_than_a_grid_or_two_of_one_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
