/*
 * cli/demo.c - `weir demo`: a mixed load on four dispatchers for some seconds, then the sums.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/demo_show.h"
#include "cli/interrupt.h"
#include "cli/usage.h"

static const char program[] = "weir demo";

static const char help[] =
    "usage: weir demo [--seconds N] [--json] [--stuck]\n"
    "\n"
    "Runs a mixed load on four dispatchers: threads outside that post, processors\n"
    "that post to each other, questions and answers, bursts, mailboxes that drop, a\n"
    "handler that fails now and then, timers that repeat, and a processor that moves\n"
    "to another dispatcher and back. Shows a live table on a terminal, and a summary\n"
    "at the end that proves that no event was lost:\n"
    "\n"
    "    accepted = handled + dropped + dead + left\n"
    "\n"
    "options:\n"
    "  --seconds N   how long to run: 0.1 to 86400, fractions allowed; default 5\n"
    "  --json        print one JSON object and nothing else\n"
    "  --stuck       one handler hangs for two seconds: on stderr stands what the\n"
    "                watchdog says of it, while the other dispatchers go on\n"
    "  -h, --help    show this text\n"
    "\n"
    "Ctrl-C or SIGTERM ends the load early; what was accepted is still handled, and\n"
    "the summary is printed. A second one ends the process at once.\n"
    "\n"
    "The figures of a dispatcher: contention is the share of tries at its lock that\n"
    "failed (below 10 % is good), back-off the share of looks at it that ended in a\n"
    "sleep (below 1 % is good), p50 and p99 the time from the post of an event to its\n"
    "handler. CPU is the share of the time that a thread was on a core.\n"
    "\n"
    "NO_COLOR in the environment turns colours off.\n"
    "\n"
    "exit status: 0 the sums hold, 1 they do not or the load failed, 2 wrong usage\n";

#define REDRAW_EVERY (250 * WEIR_MS)

enum { OPTION_SECONDS = 256, OPTION_JSON, OPTION_STUCK }; /* no letters: beyond all characters */

struct options {
    double seconds;
    bool json;
    bool stuck;
    bool help;
};

/* WEIR__EXIT_OK, or WEIR__EXIT_USAGE with the reason on stderr. */
static int parse_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = { { "seconds", required_argument, NULL, OPTION_SECONDS },
                                           { "json", no_argument, NULL, OPTION_JSON },
                                           { "stuck", no_argument, NULL, OPTION_STUCK },
                                           { "help", no_argument, NULL, 'h' },
                                           { NULL, 0, NULL, 0 } };
    *options = (struct options){ .seconds = 5.0 };
    opterr = 0;
    /* Ends with the arguments: each call consumes at least a letter. */
    for (int answer; (answer = getopt_long(argc, argv, ":h", known, NULL)) != -1;) {
        switch (answer) {
        case OPTION_SECONDS:
            if (!weir__usage_seconds(optarg, &options->seconds)) {
                return weir__usage_error(program,
                                         "--seconds %s: must be a number from 0.1 to 86400, "
                                         "as in --seconds 2.5",
                                         optarg);
            }
            break;
        case OPTION_JSON:
            options->json = true;
            break;
        case OPTION_STUCK:
            options->stuck = true;
            break;
        case 'h':
            options->help = true;
            break;
        default:
            return weir__usage_option_error(program, answer, argv, known);
        }
    }
    if (optind < argc) {
        return weir__usage_error(program, "takes no argument '%s', only options", argv[optind]);
    }
    return WEIR__EXIT_OK;
}

/* What a run needs besides the load; looks are too large for the stack. */
struct run {
    weir__demo_load *load;
    weir__demo_look first, before, now;
    weir__demo_figures figures;
    weir__screen screen;
};

/* What the watchdog has said since the last time, above the table. */
static void show_reports(struct run *run)
{
    if (weir__demo_reports_wait(&run->load->reports)) {
        weir__screen_erase(&run->screen);
        fflush(stdout);
        weir__demo_reports_print(&run->load->reports, stderr);
    }
}

/* Until the time is over or somebody asks us to end; draws meanwhile if there is a terminal. */
static void watch(struct run *run, const struct options *options, int interrupts)
{
    const bool draw = run->screen.terminal.live && !options->json;
    const weir_ns start = run->first.time;
    const weir_ns end = start + (weir_ns)(options->seconds * (double)WEIR_S);
    weir_ns now = start;
    run->before = run->first;
    while (now < end) {
        const bool often = (draw || options->stuck) && end - now > REDRAW_EVERY;
        const weir_ns wait = often ? REDRAW_EVERY : end - now;
        if (weir__interrupt_wait(interrupts, wait)) {
            return;
        }
        now = weir_time_now(run->load->engine);
        show_reports(run);
        if (draw) {
            weir__demo_look_take(&run->now, run->load);
            weir__demo_figures_make(&run->figures, run->load, &run->before, &run->now);
            weir__demo_table_draw(&run->screen, &run->figures, (double)(now - start) / 1e9,
                                  options->seconds);
            run->before = run->now;
        }
    }
}

/* The exit status. */
static int show_end(struct run *run, const struct options *options, weir_status stopped)
{
    weir__demo_look_take(&run->now, run->load);
    weir__demo_figures_make(&run->figures, run->load, &run->first, &run->now);
    const char *wrong = weir__demo_look_judge(&run->now);
    weir__screen_erase(&run->screen);
    show_reports(run);
    if (options->json) {
        weir__demo_json_print(stdout, &run->figures);
    } else {
        weir__demo_summary_print(stdout, &run->screen.terminal, &run->figures, &run->now, wrong);
    }
    fflush(stdout); /* before what follows on stderr */
    if (wrong != NULL) {
        fprintf(stderr, "%s: the sums do not hold: %s\n", program, wrong);
    }
    /* A stop that ran out of time still counts everything: its left-overs are in the equation. */
    if (stopped != WEIR_OK) {
        fprintf(stderr, "%s: the stop did not drain everything: %s\n", program,
                weir_status_text(stopped));
    }
    return wrong == NULL && stopped == WEIR_OK ? WEIR__EXIT_OK : WEIR__EXIT_FAILED;
}

static int run_load(struct run *run, const struct options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    const int interrupts = weir__interrupt_open(); /* before the threads, which inherit the mask */
    if (interrupts < 0) {
        fprintf(stderr, "%s: cannot watch for signals: %s\n", program, strerror(errno));
        return WEIR__EXIT_FAILED;
    }
    run->load = weir__demo_load_create(options->stuck, &error);
    if (run->load == NULL) {
        weir__interrupt_close(interrupts);
        return weir_error_print(&error);
    }
    weir__demo_look_take(&run->first, run->load);
    int status = WEIR__EXIT_FAILED;
    if (weir__demo_load_start(run->load, &error) == WEIR_OK) {
        watch(run, options, interrupts);
        weir__interrupt_close(interrupts);
        status = show_end(run, options, weir__demo_load_stop(run->load));
    } else {
        weir__interrupt_close(interrupts);
        weir_error_print(&error);
    }
    weir__demo_load_destroy(run->load);
    return status;
}

int weir__demo_run(int argc, char **argv)
{
    struct options options;
    const int usage = parse_options(argc, argv, &options);
    if (usage != WEIR__EXIT_OK) {
        return usage;
    }
    if (options.help) {
        fputs(help, stdout);
        return WEIR__EXIT_OK;
    }
    struct run *run = calloc(1, sizeof(*run));
    if (run == NULL) {
        fprintf(stderr, "%s: no memory\n", program);
        return WEIR__EXIT_FAILED;
    }
    run->screen.terminal = weir__terminal_look();
    const int status = run_load(run, &options);
    free(run);
    return status;
}
