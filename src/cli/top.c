/*
 * cli/top.c - `weir top`: what a weir that runs is doing, live.
 *
 * It asks the server for its metrics once an interval, and draws. A server that goes away does not
 * end it: the last figures stay, with a line that says so, until somebody answers again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/admin.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/screen.h"
#include "cli/top.h"
#include "cli/usage.h"

static const char program[] = "weir top";

static const char help[] =
    "usage: weir top [OPTION ...]\n"
    "\n"
    "Shows what a running weir is doing: events a second, depths, contention, threads,\n"
    "latencies, feeds, routers, dead letters. ? lists the keys, q ends it. If the output is no\n"
    "terminal it looks once. Without -s, -n or -u: $WEIR_ADMIN_SOCKET, else the one socket that\n"
    "is in $XDG_RUNTIME_DIR/weir (without that: /tmp/weir-UID).\n"
    "\n"
    "options:\n"
    "  -s, --socket PATH      the Unix socket (weir.admin.socket)\n"
    "  -n, --name NAME        the socket of the weir that is called so (weir.engine.name)\n"
    "  -u, --url URL          over HTTP: http://127.0.0.1:8080\n"
    "  -t, --token-file FILE  over HTTP: the token, in a file of mode 0600; without it\n"
    "                         $WEIR_ADMIN_TOKEN, if there is one\n"
    "  -i, --interval TIME    between two looks: 1s, 500ms, 2.5; 0.1 s to 1 h; 1s\n"
    "      --sort COLUMN      sort tables that have this column by it: depth, events_per_s ...\n"
    "      --filter TEXT      only what has this text in a name\n"
    "      --once             one look, as plain text\n"
    "      --json             a line of JSON each interval; with --once, one\n"
    "  -h, --help             show this text\n"
    "\n"
    "exit status: 0 success, 1 nobody answers, 2 wrong usage\n";

enum { OPTION_JSON = 256, OPTION_ONCE, OPTION_SORT, OPTION_FILTER };
static const struct option options[] = {
    { "socket", required_argument, NULL, 's' },
    { "name", required_argument, NULL, 'n' },
    { "url", required_argument, NULL, 'u' },
    { "token-file", required_argument, NULL, 't' },
    { "interval", required_argument, NULL, 'i' },
    { "sort", required_argument, NULL, OPTION_SORT },
    { "filter", required_argument, NULL, OPTION_FILTER },
    { "once", no_argument, NULL, OPTION_ONCE },
    { "json", no_argument, NULL, OPTION_JSON },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};

enum { LIVE_PATIENCE_S = 2, PATIENCE_S = 30 };

typedef struct top {
    weir__admin_ask ask;
    weir__top_state state;
    double interval; /* seconds */
    bool once, json, help;

    json_t *now; /* the last look, or NULL */
    weir__top_figures figures;
    char why[512];
    bool gone; /* the last look failed, and `why` says why */
    size_t page;
} top;

/* ---- the command line ---- */

/* "1s", "500ms", "2.5". */
static bool read_interval(const char *text, double *out)
{
    char *unit;
    char number[32];
    (void)snprintf(number, sizeof(number), "%s", text);
    const size_t length = strspn(number, "0123456789.");
    unit = number + length;
    const double scale = strcmp(unit, "ms") == 0                     ? 1e-3
                         : strcmp(unit, "s") == 0 || unit[0] == '\0' ? 1
                                                                     : 0;
    *unit = '\0';
    char *end;
    *out = strtod(number, &end) * scale;
    return length > 0 && *end == '\0' && *out >= 0.1 && *out <= 3600;
}

static int set_order(weir__top_state *state, const char *key)
{
    const char *names[WEIR__TOP_TABLES * WEIR__TOP_COLUMNS_MAX];
    size_t count = 0;
    bool found = false;
    for (uint32_t i = 0; i < WEIR__TOP_TABLES; i++) {
        const weir__top_table *table = &weir__top_tables[i];
        const int column = weir__top_column_find(table, key);
        for (uint32_t c = 0; c < table->count; c++) {
            names[count++] = table->columns[c].key;
        }
        if (column >= 0) {
            state->orders[i].column = column;
            found = true;
        }
    }
    if (found) {
        return WEIR__EXIT_OK;
    }
    const char *nearest = weir__usage_nearest(key, names, count);
    if (nearest != NULL) {
        return weir__usage_error(program, "no table has a column '%s', did you mean '%s'?", key,
                                 nearest);
    }
    return weir__usage_error(program,
                             "no table has a column '%s'; some are: events_per_s, depth, dropped, "
                             "utilisation, cpu, handling_p99_ns, queueing_p99_ns",
                             key);
}

/* Another exit status than OK ends it. */
static int take_option(top *t, int answer, char **argv)
{
    switch (answer) {
    case 's':
        t->ask.socket = optarg;
        return WEIR__EXIT_OK;
    case 'n':
        t->ask.name = optarg;
        return WEIR__EXIT_OK;
    case 'u':
        t->ask.url = optarg;
        return WEIR__EXIT_OK;
    case 't':
        t->ask.token_file = optarg;
        return WEIR__EXIT_OK;
    case 'i':
        return read_interval(optarg, &t->interval)
                   ? WEIR__EXIT_OK
                   : weir__usage_error(program, "--interval takes 100ms to 3600s, not '%s'",
                                       optarg);
    case OPTION_SORT:
        return set_order(&t->state, optarg);
    case OPTION_FILTER:
        (void)snprintf(t->state.filter, sizeof(t->state.filter), "%s", optarg);
        return WEIR__EXIT_OK;
    case OPTION_ONCE:
        t->once = true;
        return WEIR__EXIT_OK;
    case OPTION_JSON:
        t->json = true;
        return WEIR__EXIT_OK;
    case 'h':
        t->help = true;
        return WEIR__EXIT_OK;
    default:
        return weir__usage_option_error(program, answer, argv, options);
    }
}

static int read_line(int argc, char **argv, top *t)
{
    opterr = 0;
    optind = 1;
    for (;;) {
        const int answer = getopt_long(argc, argv, "+:s:n:u:t:i:h", options, NULL);
        if (answer == -1) {
            break;
        }
        const int status = take_option(t, answer, argv);
        if (status != WEIR__EXIT_OK || t->help) {
            return status;
        }
    }
    if (optind < argc) {
        return weir__usage_error(program, "it takes options only, not '%s'", argv[optind]);
    }
    return WEIR__EXIT_OK;
}

/* ---- looks ---- */

/* The document out of an answer to `metrics json`; NULL: `why` says why. */
static json_t *document_of(const char *answer, char *why, size_t size)
{
    json_error_t error;
    json_t *outer = json_loads(answer, 0, &error);
    const char *status = json_string_value(json_object_get(outer, "status"));
    const char *said = json_string_value(json_object_get(outer, "error"));
    const json_t *row = json_array_get(json_object_get(outer, "rows"), 0);
    const char *text = json_string_value(json_object_get(row, "json"));
    json_t *document = text != NULL ? json_loads(text, 0, &error) : NULL;
    if (outer == NULL || (document == NULL && text != NULL)) {
        (void)snprintf(why, size, "its answer is no JSON: line %d: %s", error.line, error.text);
    } else if (document == NULL && status != NULL && strcmp(status, "WEIR_UNKNOWN") == 0) {
        (void)snprintf(why, size, "it is a weir that is too old to show its metrics: %s",
                       said != NULL ? said : "");
    } else if (document == NULL) {
        (void)snprintf(why, size, "it does not answer with metrics: %s",
                       said != NULL && said[0] != '\0' ? said : "no reason given");
    } else if (!json_is_object(json_object_get(document, "engine"))) {
        (void)snprintf(why, size, "its answer has no engine");
        json_decref(document);
        document = NULL;
    }
    json_decref(outer);
    return document;
}

static json_t *look(top *t)
{
    char *answer = weir__admin_ask_run(&t->ask, t->why, sizeof(t->why));
    json_t *document = answer != NULL ? document_of(answer, t->why, sizeof(t->why)) : NULL;
    free(answer);
    return document;
}

/* One more look; figures of the last two. False: `why` says why, and the figures are as before. */
static bool look_again(top *t)
{
    json_t *document = look(t);
    weir__top_figures figures;
    t->gone = document == NULL;
    if (document == NULL) {
        return false;
    }
    if (!weir__top_figures_make(&figures, t->now, document)) {
        json_decref(document);
        (void)snprintf(t->why, sizeof(t->why), "no memory");
        t->gone = true;
        return false;
    }
    weir__top_figures_close(&t->figures);
    json_decref(t->now);
    t->now = document;
    t->figures = figures;
    return true;
}

static weir_ns now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (weir_ns)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* ---- plain text, and JSON ---- */

static bool print_text(top *t)
{
    /* For a file all columns; on a terminal as many as fit. */
    weir__top_window window = { .terminal = weir__terminal_look() };
    window.width = window.terminal.live ? weir__terminal_width() : 0;
    window.terminal.live = window.terminal.colour = false;
    char *text = weir__top_page(&t->figures, &t->state, &window, &t->page);
    if (text != NULL) {
        fputs(text, stdout);
    }
    free(text);
    return text != NULL;
}

static bool print_json(top *t)
{
    json_t *document = weir__top_json(&t->figures, &t->state);
    const bool ok = document != NULL &&
                    json_dumpf(document, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12)) == 0;
    json_decref(document);
    fputc('\n', stdout);
    return ok && fflush(stdout) == 0;
}

/* A figure a second needs two looks. */
static int run_plain(top *t)
{
    const int signals = weir__interrupt_open();
    const weir_ns step = (weir_ns)(t->interval * 1e9);
    weir_ns due = now_ns();
    int status = WEIR__EXIT_OK;
    bool ended = signals < 0;
    bool first = true;
    bool printed = false;
    t->ask.interrupts = signals; /* in the middle of a look, as well as between two */
    while (!ended) {
        if (!look_again(t)) {
            if (weir__interrupt_wait(signals, 0) && printed) {
                break;
            }
            fprintf(stderr, "%s: %s\n", program, t->why);
            status = WEIR__EXIT_FAILED;
            break;
        }
        if (!first) {
            if (!(t->json ? print_json(t) : print_text(t))) {
                status = WEIR__EXIT_FAILED; /* main says what is wrong with standard output */
            }
            ended = t->once || !t->json || status != WEIR__EXIT_OK;
            printed = true;
        }
        first = false;
        due += step;
        const weir_ns now = now_ns();
        due = due < now ? now : due; /* a server that takes longer than that is not hurried */
        ended = ended || weir__interrupt_wait(signals, due - now);
    }
    if (signals < 0) {
        fprintf(stderr, "%s: no descriptor for signals: %s\n", program, strerror(errno));
        return WEIR__EXIT_FAILED;
    }
    weir__interrupt_close(signals);
    return status;
}

/* ---- live ---- */

static void draw(top *t, weir__screen *screen)
{
    weir__frame frame;
    char notice[600];
    weir__top_window window = { .width = weir__terminal_width(),
                                .height = weir__terminal_height(),
                                .terminal = screen->terminal };
    if (t->gone) {
        (void)snprintf(notice, sizeof(notice), "%s; these are the last figures, trying again",
                       t->why);
        window.notice = notice;
    }
    char *text = weir__top_page(&t->figures, &t->state, &window, &t->page);
    if (text != NULL && weir__frame_begin(&frame, screen)) {
        char *rest = text;
        for (char *end = strchr(rest, '\n'); end != NULL; end = strchr(rest, '\n')) {
            fwrite(rest, 1, (size_t)(end - rest), frame.out);
            weir__frame_line(&frame);
            rest = end + 1;
        }
        weir__frame_show(&frame);
    }
    free(text);
}

static void suspend(weir__keyboard *keys, weir__screen *screen)
{
    weir__screen_close(screen);
    weir__keyboard_suspend(keys);
    weir__screen_open(screen);
}

static int run_live(top *t)
{
    weir__keyboard keys;
    weir__screen screen = { .terminal = weir__terminal_look() };
    const weir_ns step = (weir_ns)(t->interval * 1e9);
    if (!look_again(t)) {
        fprintf(stderr, "%s: %s\n", program, t->why);
        return WEIR__EXIT_FAILED;
    }
    if (!weir__keyboard_open(&keys)) {
        fprintf(stderr, "%s: no descriptor for signals: %s\n", program, strerror(errno));
        return WEIR__EXIT_FAILED;
    }
    weir__screen_open(&screen);
    t->ask.seconds = LIVE_PATIENCE_S; /* no key is read meanwhile */
    weir_ns due = now_ns() + step;
    draw(t, &screen);
    while (!t->state.ended) {
        const weir_ns left = due - now_ns();
        const weir__key key = weir__keyboard_wait(&keys, left > 0 ? left : 0);
        if (key == WEIR__KEY_SUSPEND) {
            suspend(&keys, &screen);
        } else if (key != WEIR__KEY_NONE && key != WEIR__KEY_RESIZED) {
            weir__top_state_key(&t->state, key, t->page);
        }
        if (now_ns() >= due) {
            (void)(t->state.paused || look_again(t));
            due = now_ns() + step;
        }
        draw(t, &screen);
    }
    weir__screen_close(&screen);
    weir__keyboard_close(&keys);
    return WEIR__EXIT_OK;
}

int weir__top_run(int argc, char **argv)
{
    static const char *const words[] = { "metrics", "json" };
    top t = { .ask = { .words = words, .count = 2, .seconds = PATIENCE_S }, .interval = 1 };
    weir__top_state_open(&t.state);
    int status = read_line(argc, argv, &t);
    if (status != WEIR__EXIT_OK) {
        return status;
    }
    if (t.help) {
        fputs(help, stdout);
        return WEIR__EXIT_OK;
    }
    status = weir__admin_find(program, &t.ask);
    if (status != WEIR__EXIT_OK) {
        return status;
    }
    status = t.once || t.json || !weir__terminal_look().live ? run_plain(&t) : run_live(&t);
    weir__top_figures_close(&t.figures);
    json_decref(t.now);
    return status;
}
