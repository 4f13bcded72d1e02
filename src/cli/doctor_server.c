/*
 * cli/doctor_server.c - `weir doctor` of a running server, or of looks that were saved.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "advice/advice.h"
#include "cli/admin.h"
#include "cli/command.h"
#include "cli/doctor.h"
#include "cli/terminal.h"

#define ANSWER_SECONDS 30u
#define COLUMNS 100u
#define FILE_MAX ((size_t)64 << 20)

static const char program[] = "weir doctor";

typedef struct looks {
    json_t *before, *after; /* before may be NULL */
} looks;

static void drop(looks *l)
{
    json_decref(l->before);
    json_decref(l->after);
}

static bool is_look(const json_t *document)
{
    return json_is_object(json_object_get(document, "engine"));
}

/* ---- a running server ---- */

/* The document is in the answer's first row, as it is or as text. NULL: it is not. */
static json_t *document_of(const json_t *answer)
{
    json_t *row = json_array_get(json_object_get(answer, "rows"), 0);
    const char *key;
    json_t *value;
    if (is_look(row)) {
        return json_incref(row);
    }
    json_object_foreach(row, key, value)
    {
        json_t *document = json_is_string(value) ? json_loadb(json_string_value(value),
                                                              json_string_length(value), 0, NULL)
                                                 : json_incref(value);
        if (is_look(document)) {
            return document;
        }
        json_decref(document);
    }
    return NULL;
}

static json_t *ask_server(const weir__admin_ask *ask)
{
    char why[512];
    char *text = weir__admin_ask_run(ask, why, sizeof(why));
    if (text == NULL) {
        fprintf(stderr, "%s: %s\n", program, why);
        return NULL;
    }
    json_t *answer = json_loads(text, 0, NULL);
    free(text);
    json_t *document = document_of(answer);
    if (document == NULL) {
        const char *error = json_string_value(json_object_get(answer, "error"));
        fprintf(stderr, "%s: %s gave no figures%s%s\n", program, ask->socket,
                error != NULL ? ": " : "; is it an older weir?", error != NULL ? error : "");
    }
    json_decref(answer);
    return document;
}

static void wait_for(double seconds)
{
    struct timespec rest = { .tv_sec = (time_t)seconds };
    rest.tv_nsec = (long)((seconds - (double)rest.tv_sec) * 1e9);
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
    }
}

static bool look_twice(const weir__doctor_options *options, looks *l)
{
    static const char *const words[] = { "metrics", "json" };
    weir__admin_ask ask = { .socket = options->socket,
                            .name = options->name,
                            .words = words,
                            .count = 2,
                            .seconds = ANSWER_SECONDS };
    if (weir__admin_find(program, &ask) != WEIR__EXIT_OK) {
        fputs("weir doctor --machine looks at the machine, --snapshot FILE at what was saved\n",
              stderr);
        return false;
    }
    l->before = ask_server(&ask);
    if (l->before == NULL) {
        return false;
    }
    wait_for(options->seconds);
    l->after = ask_server(&ask);
    return l->after != NULL;
}

/* ---- files ---- */

typedef struct reading {
    FILE *file;
    size_t left; /* that may still come */
} reading;

static size_t read_some(void *buffer, size_t size, void *context)
{
    reading *r = context;
    const size_t most = size < r->left ? size : r->left;
    const size_t got = most > 0 ? fread(buffer, 1, most, r->file) : 0;
    r->left -= got;
    return got > 0 ? got : ferror(r->file) != 0 || r->left == 0 ? (size_t)-1 : 0;
}

static json_t *read_document(const char *path)
{
    reading r = { fopen(path, "re"), FILE_MAX };
    json_error_t error;
    if (r.file == NULL) {
        fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
        return NULL;
    }
    errno = 0;
    json_t *document = json_load_callback(read_some, &r, 0, &error);
    if (r.left == 0) {
        fprintf(stderr, "%s: %s is longer than %zu MiB: no look at a server\n", program, path,
                FILE_MAX >> 20);
    } else if (ferror(r.file) != 0) {
        fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
    } else if (document == NULL) {
        fprintf(stderr, "%s: %s:%d:%d: no JSON: %s\n", program, path, error.line, error.column,
                error.text);
    }
    (void)fclose(r.file);
    return document;
}

static void say_no_look(const char *path)
{
    fprintf(stderr,
            "%s: %s has no look at a server: it should be a file of --save, or what /metrics.json "
            "gives\n",
            program, path);
}

/* NULL: why has been said. */
static bool must_be_look(const char *path, const json_t *document)
{
    const bool good = is_look(document);
    if (!good && document != NULL) {
        say_no_look(path);
    }
    return good;
}

/* One file is either what --save wrote, which has two looks, or one look alone. */
static bool read_looks(const weir__doctor_options *options, looks *l)
{
    json_t *first = read_document(options->snapshots[0]);
    json_t *saved = json_object_get(first, "looks");
    if (options->snapshots[1] != NULL) {
        l->before = first;
        l->after = must_be_look(options->snapshots[0], first) ? read_document(options->snapshots[1])
                                                              : NULL;
        return l->after != NULL && must_be_look(options->snapshots[1], l->after);
    }
    if (json_is_array(saved)) {
        l->before = json_incref(json_array_get(saved, 0));
        l->after = json_incref(json_array_get(saved, 1));
        const bool good = is_look(l->before) && is_look(l->after);
        if (!good) {
            say_no_look(options->snapshots[0]);
        }
        json_decref(first);
        return good;
    }
    l->after = first;
    return must_be_look(options->snapshots[0], first);
}

/* All of it or nothing: a half-written file would be read as no look at all. What is no file but a
 * device or a pipe is written to, not replaced. */
static bool save(const char *path, const looks *l)
{
    char beside[4096];
    struct stat there;
    const bool special = stat(path, &there) == 0 && !S_ISREG(there.st_mode);
    json_t *document = json_pack("{s:s, s:[O, O]}", "what", "two looks of weir doctor", "looks",
                                 l->before, l->after);
    const int length = special ? snprintf(beside, sizeof(beside), "%s", path)
                               : snprintf(beside, sizeof(beside), "%s.%d.tmp", path, (int)getpid());
    errno = length < (int)sizeof(beside) ? 0 : ENAMETOOLONG;
    const bool well = document != NULL && length < (int)sizeof(beside) &&
                      json_dump_file(document, beside, JSON_COMPACT) == 0 &&
                      (special || rename(beside, path) == 0);
    if (!well) {
        const int reason = errno;
        (void)(special ? 0 : unlink(beside));
        fprintf(stderr, "%s: %s cannot be written: %s\n", program, path, strerror(reason));
    }
    json_decref(document);
    return well;
}

/* ---- what was found ---- */

/* In lines of 100 columns, below the words of the first: a terminal would break them anywhere. */
static void print_wrapped(const char *lead, const char *text)
{
    static const char indent[] = "         ";
    size_t used = strlen(indent) + strlen(lead);
    printf("%s%s", indent, lead);
    for (bool first = true; *text != '\0'; first = false) {
        const size_t word = strcspn(text, " ");
        if (!first && used + 1 + word > COLUMNS) {
            printf("\n%s%*s", indent, (int)strlen(lead), "");
            used = strlen(indent) + strlen(lead);
        } else if (!first) {
            putchar(' ');
            used++;
        }
        printf("%.*s", (int)word, text);
        used += word;
        text += word;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_findings(const weir__findings *findings)
{
    static const weir__tone tones[] = { [WEIR__SEVERITY_NOTE] = WEIR__TONE_FAINT,
                                        [WEIR__SEVERITY_WARNING] = WEIR__TONE_FAIR,
                                        [WEIR__SEVERITY_ALERT] = WEIR__TONE_BAD };
    const weir__terminal terminal = weir__terminal_look();
    if (findings->restarted) {
        printf("the server was started anew between the two looks: this is since its start\n");
    }
    for (size_t i = 0; i < findings->count; i++) {
        const weir__finding *f = &findings->items[i];
        const weir__tone tone = tones[f->severity];
        printf("%s%-8s%s %s: %s\n", weir__terminal_begin(&terminal, tone),
               weir__severity_name(f->severity), weir__terminal_end(&terminal, tone), f->rule,
               f->what);
        print_wrapped("", f->text);
        print_wrapped("-> ", f->remedy);
        if (f->more > 0) {
            printf("         (and %u more like it)\n", f->more);
        }
    }
    if (findings->count == 0) {
        printf("nothing to say: %.1f s were looked at\n", findings->seconds);
    }
}

int weir__doctor_rules(void)
{
    weir__advice_print_rules(stdout);
    return WEIR__EXIT_OK;
}

int weir__doctor_server(const weir__doctor_options *options, bool machine_too)
{
    static weir__findings findings; /* too large for the stack */
    looks l = { NULL, NULL };
    const bool looked =
        options->snapshots[0] != NULL ? read_looks(options, &l) : look_twice(options, &l);
    if (!looked || (options->save != NULL && !save(options->save, &l))) {
        drop(&l);
        return WEIR__EXIT_USAGE;
    }
    weir__advice_make(l.before, l.after, &findings);
    if (options->json) {
        json_t *json = weir__advice_json(&findings);
        (void)json_object_set_new(json, "seconds", json_real(findings.seconds));
        (void)json_object_set_new(json, "restarted", json_boolean(findings.restarted));
        char *text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
        printf("%s%s", text != NULL ? text : "null", machine_too ? "" : "\n");
        free(text);
        json_decref(json);
    } else {
        print_findings(&findings);
    }
    drop(&l);
    return findings.count > 0 && findings.items[0].severity == WEIR__SEVERITY_ALERT
               ? WEIR__EXIT_FAILED
               : WEIR__EXIT_OK;
}
