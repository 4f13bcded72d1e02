/*
 * cli/run.c - `weir run`: a whole server from files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/config_settings.h"
#include "cli/run_show.h"
#include "cli/usage.h"
#include "observe/log.h"
#include "sync/atomic.h"

static const char program[] = "weir run";

static const char help[] =
    "usage: weir run [FILE ...] [-D KEY=VALUE ...] [--seconds N] [--json] [--check]\n"
    "\n"
    "Builds threads, feeds, sources, processors, routers, services and sinks from files,\n"
    "later ones over earlier ones, and runs them. Without a file: $WEIR_CONFIG, else\n"
    "./application.conf, else ./weir.conf. If something is wrong with them, all of it is\n"
    "said, each with file, line and column, and nothing is started.\n"
    "\n"
    "options:\n"
    "  -D, --define KEY=VALUE  a setting over all files\n"
    "      --seconds N         end by itself: 0.1 to 86400, fractions allowed\n"
    "      --json              print the sums at the end as one JSON object on stdout\n"
    "      --check             say what is wrong, start nothing\n"
    "      --no-environment    do not look at WEIR__... and other variables\n"
    "  -h, --help              show this text\n"
    "\n"
    "SIGINT (Ctrl-C) and SIGTERM drain: sources stop, what was accepted is handled, for at most\n"
    "weir.server.stop-timeout; a second one ends it at once. SIGHUP reads the files again: all\n"
    "of what they change, or nothing. It ends by itself when every source has come to its end.\n"
    "`weir types` lists what components there are.\n"
    "\n"
    "exit status: 0 all was handled, 1 something failed or was left, 2 wrong usage or\n"
    "configuration, and nothing was started\n";

#define REDRAW_EVERY (250 * WEIR_MS)

enum { SECONDS = 256, JSON, CHECK, NO_ENVIRONMENT };

/* One run: what was asked for, and what is shown of it. */
typedef struct run {
    weir__config_line line;
    double seconds;
    bool check, help;
    bool draw;
    weir__screen screen;
    weir__run_figures before, now;
    weir__atomic_u32 logged; /* somebody wrote below the table */
} run;

static int parse(int argc, char **argv, run *r)
{
    static const struct option known[] = { { "define", required_argument, NULL, 'D' },
                                           { "seconds", required_argument, NULL, SECONDS },
                                           { "json", no_argument, NULL, JSON },
                                           { "check", no_argument, NULL, CHECK },
                                           { "help", no_argument, NULL, 'h' },
                                           { "no-environment", no_argument, NULL, NO_ENVIRONMENT },
                                           { NULL, 0, NULL, 0 } };
    opterr = 0;
    for (int answer; (answer = getopt_long(argc, argv, ":D:h", known, NULL)) != -1;) {
        switch (answer) {
        case 'D':
            r->line.settings[r->line.setting_count++] = optarg;
            break;
        case SECONDS:
            if (!weir__usage_seconds(optarg, &r->seconds)) {
                return weir__usage_error(program,
                                         "--seconds %s: must be a number from 0.1 to 86400, "
                                         "as in --seconds 2.5",
                                         optarg);
            }
            break;
        case JSON:
            r->line.json = true;
            break;
        case CHECK:
            r->check = true;
            break;
        case NO_ENVIRONMENT:
            r->line.ignore_environment = true;
            break;
        case 'h':
            r->help = true;
            break;
        default:
            return weir__usage_option_error(program, answer, argv, known);
        }
    }
    r->line.file_count = (size_t)(argc - optind);
    r->line.files = r->line.file_count > 0 ? (const char *const *)(argv + optind) : NULL;
    return WEIR__EXIT_OK;
}

/* ---- the screen ---- */

/* The engine's log goes to stderr, as ever; the table begins anew below it. */
static void on_log(void *context, const weir_log_entry *entry)
{
    run *r = context;
    if (r->draw) {
        weir__store(&r->logged, 1, relaxed);
    }
    weir__log_to_stderr(NULL, entry);
}

/* Before anything else is printed. What stands above a line of the log stays. */
static void clear(run *r)
{
    if (weir__exchange(&r->logged, 0, relaxed) != 0) {
        r->screen.lines = 0;
    }
    weir__screen_erase(&r->screen);
}

/* ---- reading ---- */

/* NULL: it was said what is wrong. */
static weir__composition *read_files(run *r)
{
    weir__composition *c = weir__config_line_take(weir__config_line_load(&r->line, program));
    if (c == NULL) {
        return NULL;
    }
    clear(r);
    size_t bad = weir__config_line_tell(c->config, false);
    if (bad == 0 && c->component_count == 0) {
        fprintf(stderr, "%s: nothing to run: no file has weir.components (%s)\n", program,
                r->line.file_count > 0 ? r->line.files[0]
                                       : "see weir run --help for which are read");
        bad = 1;
    }
    if (bad > 0) {
        weir__composition_destroy(c);
        return NULL;
    }
    return c;
}

/* ---- while it runs ---- */

static void on_tick(void *context, weir__server *server, weir_ns gone)
{
    run *r = context;
    if (weir__exchange(&r->logged, 0, relaxed) != 0) {
        r->screen.lines = 0;
    }
    (void)weir__run_figures_take(&r->now, weir__server_engine(server));
    weir__run_table_draw(&r->screen, &r->before, &r->now, (double)gone / 1e9);
    const weir__run_figures older = r->before;
    r->before = r->now;
    r->now = older;
}

static weir__composition *on_read_again(void *context)
{
    return read_files(context);
}

static void on_say(void *context, const char *text)
{
    run *r = context;
    clear(r);
    fprintf(stderr, "%s: %s\n", program, text);
}

static weir_status on_started(void *context, weir__server *server, weir_error *error)
{
    const weir_status status = weir__server_admin_open(server, on_say, context, error);
    const char *path = weir__server_admin_socket(server), *url = weir__server_admin_url(server);
    char text[600];
    if (status == WEIR_OK) {
        snprintf(text, sizeof(text), "it runs%s%s%s%s; Ctrl-C ends it",
                 path[0] != '\0' ? "; weir admin --socket " : "", path, url[0] != '\0' ? "; " : "",
                 url);
        on_say(context, text);
    }
    return status;
}

/* ---- the end ---- */

typedef struct late_failures {
    weir_ns since;
    size_t count;
} late_failures;

static bool tell_failure(void *context, const weir_failure *failure)
{
    late_failures *late = context;
    /* A line that is not what it should be was told when it came; it is no failure of the stop. */
    if (failure->time >= late->since && failure->status != WEIR_DROPPED) {
        fprintf(stderr, "%s: %s: %s\n", program, failure->component, failure->text);
        late->count++;
    }
    return true;
}

/* What went wrong while it stopped nobody will put right: what was kept back may be lost. */
static bool stopped_well(const weir__server *server, const weir__life_result *result)
{
    late_failures late = { .since = result->stop_began };
    weir_failure_visit(weir__server_engine(server), tell_failure, &late);
    return late.count == 0;
}

static int sum_up(run *r, weir__server *server, const weir__life_result *result,
                  const weir_error *error)
{
    const weir_stop_report *report = &result->report;
    clear(r);
    if (result->end == WEIR__LIFE_NOT_BEGUN) {
        (void)weir_error_print(error);
        return WEIR__EXIT_FAILED;
    }
    (void)weir__run_figures_take(&r->now, weir__server_engine(server));
    weir__life_result shown = *result;
    if (result->end == WEIR__LIFE_CUT_SHORT) { /* no stop has counted: what is known now */
        const weir_counters *sums = &r->now.engine;
        shown.report = (weir_stop_report){ sizeof(shown.report), sums->accepted, sums->handled,
                                           sums->dropped,        sums->dead,     sums->depth };
        report = &shown.report;
    }
    if (r->line.json) {
        weir__run_json_print(stdout, &r->now, &shown);
    } else {
        fprintf(stderr, "%s: %.1f s\n\n", program, (double)result->ran / 1e9);
        weir__run_sums_print(stderr, &r->now, &shown);
    }
    fflush(stdout);
    if (result->end == WEIR__LIFE_CUT_SHORT) {
        fprintf(stderr, "%s: stopped now, as asked: not all was handled\n", program);
    } else if (result->end == WEIR__LIFE_TIMEOUT) {
        fprintf(stderr, "%s: the stop ran out of time (weir.server.stop-timeout)\n", program);
    }
    const bool well = result->end == WEIR__LIFE_ENDED && report->left == 0;
    return stopped_well(server, result) && well ? WEIR__EXIT_OK : WEIR__EXIT_FAILED;
}

static bool writes_to_stdout(const weir__composition *c)
{
    for (size_t i = 0; i < c->component_count; i++) {
        if (c->parts[i].type != NULL && strcmp(c->parts[i].type->name, "stdout") == 0) {
            return true;
        }
    }
    return false;
}

static int run_server(run *r, weir__composition *c)
{
    weir_error error = WEIR_ERROR_INIT;
    weir__life_result result;
    const int signals = weir__life_signals(); /* before the threads, which inherit the mask */
    if (signals < 0) {
        fprintf(stderr, "%s: cannot watch for signals: %s\n", program, strerror(errno));
        weir__composition_destroy(c);
        return WEIR__EXIT_FAILED;
    }
    r->screen.terminal = weir__terminal_look();
    r->draw = r->screen.terminal.live && !r->line.json && !writes_to_stdout(c);
    const weir_engine_options code = { .struct_size = sizeof(code),
                                       .log = on_log,
                                       .log_context = r };
    weir__server *server = weir__server_create(c, &code, &error);
    if (server == NULL) {
        close(signals);
        (void)weir_error_print(&error);
        return WEIR__EXIT_FAILED;
    }
    const weir__life_options options = {
        .seconds = (weir_ns)(r->seconds * (double)WEIR_S),
        .tick_every = r->draw ? REDRAW_EVERY : 0,
        .tick = on_tick,
        .read_again = on_read_again,
        .say = on_say,
        .started = on_started,
        .context = r,
    };
    weir__life_run(server, signals, &options, &result, &error);
    const int status = sum_up(r, server, &result, &error);
    if (result.end == WEIR__LIFE_CUT_SHORT || result.end == WEIR__LIFE_TIMEOUT) {
        weir__server_admin_drop(server);
        fflush(NULL);
        _exit(status); /* a handler that does not return would be waited for */
    }
    weir__server_destroy(server);
    weir__run_figures_close(&r->before);
    weir__run_figures_close(&r->now);
    return status;
}

int weir__run_run(int argc, char **argv)
{
    run r = { .line = { .settings = calloc((size_t)argc + 1, sizeof(char *)) } };
    if (r.line.settings == NULL) {
        fprintf(stderr, "%s: out of memory\n", program);
        return WEIR__EXIT_FAILED;
    }
    int status = parse(argc, argv, &r);
    if (status == WEIR__EXIT_OK && r.help) {
        fputs(help, stdout);
    } else if (status == WEIR__EXIT_OK) {
        weir__composition *c = read_files(&r);
        if (c == NULL) {
            status = WEIR__EXIT_USAGE;
        } else if (r.check) {
            fprintf(stderr, "%s: ok: %zu components\n", program, c->component_count);
            weir__composition_destroy(c);
        } else {
            status = run_server(&r, c);
        }
    }
    free(r.line.settings);
    return status;
}
