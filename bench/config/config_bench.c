/*
 * config/config_bench.c - how fast a configuration is read: from text to a resolved tree that can
 * be asked, as HOCON and as JSON, beside jansson on the same JSON. One table.
 *
 *     config_bench [--runs N] [--check]
 *
 * Each size is read by all in turn, N times (default 7), and the medians are shown. Trees are
 * checked: a run that did not find what it should is no measurement. --check: exit status 1 if
 * weir reads less than half as fast as jansson, or 8 MB take more than 12 times as long as 1 MB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/text.h"
#include "hocon/hocon.h"
#include "suite/clock.h"
#include "tree/read.h"

enum { RUNS_MAX = 99, SIZES = 4, READERS = 3 };

static const char *const names[READERS] = { "jansson, JSON", "weir, JSON", "weir, HOCON" };
static const size_t megabytes[SIZES] = { 1, 2, 4, 8 };

/* --- one run ---------------------------------------------------------------------------------- */

/* Members of the root, and the port of the last service; 0: it is not what was written. */
static size_t read_by_jansson(const config_text *text, int64_t *port)
{
    json_t *root = json_loadb(text->bytes, text->size, 0, NULL);
    const size_t count = root != NULL ? json_object_size(root) : 0;
    char last[32];
    snprintf(last, sizeof(last), "service-%06zu", count - 1);
    const json_t *endpoint = json_object_get(json_object_get(root, last), "endpoint");
    *port = json_integer_value(json_object_get(endpoint, "port"));
    json_decref(root);
    return count;
}

static size_t read_by_weir(const config_text *text, int64_t *port)
{
    weir__problems problems = { .allocator = weir__allocator_default() };
    weir__hocon *document = weir__hocon_create(NULL, &problems);
    size_t count = 0;
    if (document != NULL && weir__hocon_add_text(document, "bench", text->bytes, text->size)) {
        weir__tree *tree = weir__hocon_resolve(document);
        if (tree != NULL) {
            count = tree->root->object.count;
            char last[64];
            snprintf(last, sizeof(last), "service-%06zu.endpoint.port", count - 1);
            weir__why why;
            const weir__node *node = weir__tree_at(tree, tree->root, last);
            if (node == NULL || !weir__read_long(node, port, &why)) {
                count = 0;
            }
        }
        weir__tree_destroy(tree);
    }
    weir__hocon_destroy(document);
    for (size_t i = 0; i < problems.count; i++) {
        fprintf(stderr, "line %u: %s\n", problems.items[i].origin.line, problems.items[i].text);
    }
    weir__problems_close(&problems);
    return count;
}

/* Seconds, or a negative number if the tree was wrong. */
static double run_once(size_t reader, const config_text *json, const config_text *hocon)
{
    const size_t services = json->services;
    int64_t port = 0;
    const int64_t begin = bench_now();
    const size_t count = reader == 0   ? read_by_jansson(json, &port)
                         : reader == 1 ? read_by_weir(json, &port)
                                       : read_by_weir(hocon, &port);
    const double seconds = (double)(bench_now() - begin) / 1e9;
    const int64_t expected = 10000 + (int64_t)((services - 1) % 50000);
    return count == services && port == expected ? seconds : -1;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Medians of all readers at one size. */
static bool measure(size_t size, size_t runs, double medians[READERS])
{
    static double seconds[READERS][RUNS_MAX];
    config_text json = { 0 }, hocon = { 0 };
    bool good = config_text_make(&json, size, false) && config_text_make(&hocon, size, true);
    for (size_t run = 0; good && run < runs; run++) {
        for (size_t reader = 0; good && reader < READERS; reader++) {
            seconds[reader][run] = run_once(reader, &json, &hocon);
            if (seconds[reader][run] < 0) {
                fprintf(stderr, "config_bench: %s read something else than was written\n",
                        names[reader]);
                good = false;
            }
        }
    }
    for (size_t reader = 0; good && reader < READERS; reader++) {
        qsort(seconds[reader], runs, sizeof(double), compare);
        medians[reader] = seconds[reader][runs / 2];
    }
    free(json.bytes);
    free(hocon.bytes);
    return good;
}

static void show(double all[SIZES][READERS])
{
    printf("Reading a configuration, one tree in three ways; milliseconds, medians\n\n");
    printf("%-16s", "MB as JSON");
    for (size_t i = 0; i < SIZES; i++) {
        printf("%9zu", megabytes[i]);
    }
    printf("%12s%12s\n", "ns a byte", "of jansson");
    for (size_t reader = 0; reader < READERS; reader++) {
        printf("%-16s", names[reader]);
        for (size_t i = 0; i < SIZES; i++) {
            printf("%9.2f", all[i][reader] * 1e3);
        }
        const double last = all[SIZES - 1][reader];
        printf("%12.2f%11.2fx\n", last * 1e3 / (double)megabytes[SIZES - 1],
               all[SIZES - 1][0] / last);
    }
}

/* What was promised: half of jansson's speed at least, and a cost that follows the size. */
static bool is_kept(double all[SIZES][READERS])
{
    bool kept = true;
    for (size_t i = 0; i < SIZES; i++) {
        for (size_t reader = 1; reader < READERS; reader++) {
            if (all[i][0] / all[i][reader] < 0.5) {
                printf("too slow: %s at %zu MB, %.2f of jansson's speed\n", names[reader],
                       megabytes[i], all[i][0] / all[i][reader]);
                kept = false;
            }
        }
    }
    for (size_t reader = 1; reader < READERS; reader++) {
        const double growth = all[SIZES - 1][reader] / all[0][reader];
        if (growth > 1.5 * (double)megabytes[SIZES - 1]) {
            printf("not linear: %s, 8 MB take %.1f times as long as 1 MB\n", names[reader], growth);
            kept = false;
        }
    }
    return kept;
}

int main(int argc, char **argv)
{
    size_t runs = 7;
    bool check = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0) {
            check = true;
        } else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
            runs = (size_t)strtoul(argv[++i], NULL, 10);
        } else {
            runs = 0;
        }
    }
    if (runs < 1 || runs > RUNS_MAX) {
        fprintf(stderr, "usage: config_bench [--runs 1..%d] [--check]\n", RUNS_MAX);
        return 2;
    }
    static double all[SIZES][READERS];
    for (size_t i = 0; i < SIZES; i++) {
        if (!measure(megabytes[i] * 1000000, runs, all[i])) {
            return 1;
        }
    }
    show(all);
    return check && !is_kept(all) ? 1 : 0;
}
