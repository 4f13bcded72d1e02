/*
 * cli/trace.c - `weir trace`: has a running weir record for some seconds, and writes the file that
 * Perfetto and chrome://tracing open.
 *
 * The file is there whole or not at all: it is written beside, and gets its name at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/admin.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/usage.h"

static const char program[] = "weir trace";
static const char help[] =
    "usage: weir trace [OPTION ...]\n"
    "\n"
    "Records what a running weir does, and writes it as a file for https://ui.perfetto.dev or\n"
    "chrome://tracing: who ran what, on which thread and core, when, with arrows from post to\n"
    "handler. Ctrl-C ends it early, and what there is is written. Which weir is meant is said as\n"
    "for `weir admin`.\n"
    "\n"
    "options:\n"
    "      --seconds SECONDS  how long to record; 5\n"
    "  -o, --output FILE      where to; weir-trace.json; - for standard output\n"
    "      --records NUMBER   how many records each thread keeps, a power of two; 65536\n"
    "  -s, --socket PATH      the Unix socket (weir.admin.socket)\n"
    "  -n, --name NAME        the socket of the weir that is called so (weir.engine.name)\n"
    "  -u, --url URL          over HTTP: http://127.0.0.1:8080\n"
    "  -t, --token-file FILE  over HTTP: the token, in a file of mode 0600; without it\n"
    "                         $WEIR_ADMIN_TOKEN, if there is one\n"
    "  -h, --help             show this text\n"
    "\n"
    "exit status: 0 success, 1 it failed, and there is no file, 2 wrong usage\n";

enum { OPTION_SECONDS = 256, OPTION_RECORDS };
static const struct option options[] = {
    { "seconds", required_argument, NULL, OPTION_SECONDS },
    { "records", required_argument, NULL, OPTION_RECORDS },
    { "output", required_argument, NULL, 'o' },
    { "socket", required_argument, NULL, 's' },
    { "name", required_argument, NULL, 'n' },
    { "url", required_argument, NULL, 'u' },
    { "token-file", required_argument, NULL, 't' },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};

typedef struct job {
    weir__admin_ask ask;
    const char *path;
    const char *records; /* NULL: the server's default */
    double seconds;
    bool help;
    json_int_t recording; /* which one is ours */
    char beside[PATH_MAX];
    FILE *file;
} job;

static bool is_power_of_two(const char *text)
{
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && number > 0 &&
           (number & (number - 1)) == 0;
}

/* An exit status; OK: go on. */
static int read_line(int argc, char **argv, job *j)
{
    opterr = 0;
    optind = 1;
    for (;;) {
        const int answer = getopt_long(argc, argv, "+:o:s:n:u:t:h", options, NULL);
        switch (answer) {
        case -1:
            return optind < argc ? weir__usage_error(program, "'%s' is too many", argv[optind])
                                 : WEIR__EXIT_OK;
        case OPTION_SECONDS:
            if (!weir__usage_seconds(optarg, &j->seconds)) {
                return weir__usage_error(program, "--seconds takes 0.1 to 86400, not '%s'", optarg);
            }
            break;
        case OPTION_RECORDS:
            if (!is_power_of_two(optarg)) {
                return weir__usage_error(program, "--records takes a power of two, not '%s'",
                                         optarg);
            }
            j->records = optarg;
            break;
        case 'o':
            j->path = optarg;
            break;
        case 's':
            j->ask.socket = optarg;
            break;
        case 'n':
            j->ask.name = optarg;
            break;
        case 'u':
            j->ask.url = optarg;
            break;
        case 't':
            j->ask.token_file = optarg;
            break;
        case 'h':
            j->help = true;
            return WEIR__EXIT_OK;
        default:
            return weir__usage_option_error(program, answer, argv, options);
        }
    }
}

/* ---- the server ---- */

/* The first row of its answer, for json_decref; NULL: stderr says why. */
static json_t *ask(job *j, const char *const *words, size_t count)
{
    char why[512];
    json_error_t where;
    j->ask.words = words;
    j->ask.count = count;
    char *text = weir__admin_ask_run(&j->ask, why, sizeof(why));
    if (text == NULL) {
        fprintf(stderr, "%s: %s\n", program, why);
        return NULL;
    }
    json_t *answer = json_loads(text, 0, &where);
    free(text);
    const char *status = json_string_value(json_object_get(answer, "status"));
    const char *error = json_string_value(json_object_get(answer, "error"));
    json_t *row = json_array_get(json_object_get(answer, "rows"), 0);
    if (status == NULL) {
        fprintf(stderr, "%s: the server's answer was cut off, or is none of weir's\n", program);
    } else if (strcmp(status, "WEIR_OK") != 0) {
        fprintf(stderr, "%s: %s: %s\n", program, words[1], error != NULL ? error : status);
        row = NULL;
    } else if (row == NULL) {
        fprintf(stderr, "%s: the server knows no `trace %s` as it should be\n", program, words[1]);
    }
    row = status != NULL ? json_incref(row) : NULL;
    json_decref(answer);
    return row;
}

static bool start(job *j)
{
    const char *const words[] = { "trace", "start", j->records };
    json_t *row = ask(j, words, j->records != NULL ? 3 : 2);
    j->recording = json_integer_value(json_object_get(row, "recording"));
    json_decref(row);
    return row != NULL;
}

/* Somebody may have ended ours and begun another. */
static bool is_ours(const job *j, json_t *row)
{
    if (json_integer_value(json_object_get(row, "recording")) == j->recording) {
        return true;
    }
    fprintf(stderr, "%s: somebody else has begun another trace meanwhile\n", program);
    return false;
}

static bool stop(job *j)
{
    static const char *const words[] = { "trace", "stop" };
    json_t *row = ask(j, words, 2);
    const bool ours = row != NULL && is_ours(j, row);
    const json_int_t lost = json_integer_value(json_object_get(row, "lost"));
    if (ours && lost > 0) {
        fprintf(stderr,
                "%s: the oldest %lld records were overwritten: the file begins later; a shorter "
                "time or more --records keep all\n",
                program, (long long)lost);
    }
    json_decref(row);
    return ours;
}

static bool write_piece(job *j, json_t *row)
{
    const json_t *text = json_object_get(row, "text");
    const size_t size = json_string_length(text);
    if (!json_is_string(text) || size == 0) {
        fprintf(stderr, "%s: the server sent a piece without text\n", program);
        return false;
    }
    if (fwrite(json_string_value(text), 1, size, j->file) != size) {
        fprintf(stderr, "%s: %s: %s\n", program, j->path, strerror(errno));
        return false;
    }
    return true;
}

static bool fetch(job *j)
{
    char cursor[24] = "0";
    json_int_t at = 0;
    for (;;) { /* ends: the cursor only grows */
        const char *const words[] = { "trace", "read", cursor };
        json_t *row = ask(j, words, 3);
        const json_int_t next = json_integer_value(json_object_get(row, "next"));
        const bool more = json_is_true(json_object_get(row, "more"));
        const bool well = row != NULL && is_ours(j, row) && write_piece(j, row);
        json_decref(row);
        if (!well || !more) {
            return well;
        }
        if (next <= at) {
            fprintf(stderr, "%s: the server repeats itself\n", program);
            return false;
        }
        at = next;
        (void)snprintf(cursor, sizeof(cursor), "%lld", (long long)next);
    }
}

/* ---- the file ---- */

static bool open_file(job *j)
{
    struct stat there;
    if (strcmp(j->path, "-") == 0) {
        j->file = stdout;
        return true;
    }
    if (stat(j->path, &there) == 0 && !S_ISREG(there.st_mode)) { /* a device: not to be replaced */
        j->file = fopen(j->path, "we");
        if (j->file == NULL) {
            fprintf(stderr, "%s: %s cannot be written: %s\n", program, j->path, strerror(errno));
        }
        return j->file != NULL;
    }
    const int length = snprintf(j->beside, sizeof(j->beside), "%s.XXXXXX", j->path);
    const int descriptor = length > 0 && (size_t)length < sizeof(j->beside)
                               ? mkostemp(j->beside, O_CLOEXEC)
                               : (errno = ENAMETOOLONG, -1);
    if (descriptor >= 0) {
        const mode_t mask = umask(0);
        (void)umask(mask);
        (void)fchmod(descriptor, 0666 & ~mask); /* as any other file that is written */
        j->file = fdopen(descriptor, "w");
    }
    if (j->file == NULL) {
        fprintf(stderr, "%s: %s cannot be written: %s\n", program, j->path, strerror(errno));
        if (descriptor >= 0) {
            (void)close(descriptor);
            (void)unlink(j->beside);
        }
    }
    return j->file != NULL;
}

static bool close_file(job *j, bool well)
{
    if (j->file == stdout) {
        return well; /* main.c sees to the rest */
    }
    errno = 0;
    const bool beside = j->beside[0] != '\0';
    const bool flushed = well && fflush(j->file) == 0 && (!beside || fsync(fileno(j->file)) == 0);
    const bool closed = fclose(j->file) == 0 && flushed;
    if (closed && (!beside || rename(j->beside, j->path) == 0)) {
        return true;
    }
    if (well) {
        fprintf(stderr, "%s: %s cannot be written: %s\n", program, j->path, strerror(errno));
    }
    (void)(beside ? unlink(j->beside) : 0);
    return false;
}

/* ---- all of it ---- */

/* With the file open. */
static bool record(job *j)
{
    const int interrupts = weir__interrupt_open();
    if (interrupts < 0) {
        fprintf(stderr, "%s: no signal can be waited for: %s\n", program, strerror(errno));
        return false;
    }
    j->ask.interrupts = interrupts;
    const bool started = start(j);
    j->ask.interrupts = 0;
    /* Also if it has not started: a Ctrl-C that ended that must not end us before the file is
     * cleaned up. */
    (void)weir__interrupt_wait(interrupts, started ? (weir_ns)(j->seconds * (double)WEIR_S) : 0);
    weir__interrupt_close(interrupts); /* a second Ctrl-C ends it without a file */
    return started && stop(j) && fetch(j);
}

int weir__trace_run(int argc, char **argv)
{
    job j = { .ask = { .seconds = 30 }, .path = "weir-trace.json", .seconds = 5 };
    int status = read_line(argc, argv, &j);
    if (status != WEIR__EXIT_OK) {
        return status;
    }
    if (j.help) {
        fputs(help, stdout);
        return WEIR__EXIT_OK;
    }
    status = weir__admin_find(program, &j.ask);
    if (status != WEIR__EXIT_OK) {
        return status;
    }
    if (!open_file(&j)) {
        return WEIR__EXIT_FAILED;
    }
    const bool recorded = record(&j);
    if (!close_file(&j, recorded)) {
        return WEIR__EXIT_FAILED;
    }
    if (j.file != stdout) {
        printf("%s: open it at https://ui.perfetto.dev, or at chrome://tracing\n", j.path);
    }
    return WEIR__EXIT_OK;
}
