/*
 * hocon/cases_test.c - the folders of cases by way of the library: those of this tree, and the one
 * that $WEIR_HOCON_EXTRA names.
 *
 * NAME.conf has the tree of NAME.json, or is refused (NAME.error), at the line that MANIFEST.tsv
 * names if it names one; NAME.env is its environment; layered/ has two files each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hocon_support.h"

#include <dirent.h>

enum { NAMES_MAX = 2000, TEXT_SIZE = 256 * 1024 };

typedef struct folder {
    char *names[NAMES_MAX];
    size_t count;
    char *manifest;
    uint32_t bad;
} folder;

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    char *text = malloc(TEXT_SIZE);
    assert_non_null(text);
    const size_t length = fread(text, 1, TEXT_SIZE - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Goes there; false: no such folder. */
static bool enter(folder *f, const char *path)
{
    memset(f, 0, sizeof(*f));
    DIR *handle = opendir(path);
    if (handle == NULL || chdir(path) != 0) {
        return false;
    }
    for (const struct dirent *entry; (entry = readdir(handle)) != NULL;) {
        const char *dot = strstr(entry->d_name, ".conf");
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && dot != NULL && dot[5] == '\0') {
            assert_true(f->count < NAMES_MAX);
            f->names[f->count++] = strndup(entry->d_name, (size_t)(dot - entry->d_name));
        }
    }
    closedir(handle);
    qsort(f->names, f->count, sizeof(f->names[0]), by_name);
    f->manifest = read_file("MANIFEST.tsv");
    return true;
}

static void leave(folder *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->names[i]);
    }
    free(f->manifest);
}

/* Field n of a case's row, "" if there is none. */
static void manifest_field(const folder *f, const char *name, int n, char out[64])
{
    char start[300];
    out[0] = '\0';
    snprintf(start, sizeof(start), "\n%s\t", name);
    const char *row = f->manifest != NULL ? strstr(f->manifest, start) : NULL;
    if (row == NULL) {
        return;
    }
    for (row++; n > 0 && row != NULL; n--) {
        row = strchr(row, '\t');
        row = row != NULL ? row + 1 : NULL;
    }
    if (row != NULL) {
        snprintf(out, 64, "%.*s", (int)strcspn(row, "\t\n"), row);
    }
}

/* NAME=value, one a line. */
static const char *from_lines(void *context, const char *name)
{
    static char value[1000];
    const size_t length = strlen(name);
    for (const char *line = context; line != NULL && *line != '\0';) {
        if (strncmp(line, name, length) == 0 && line[length] == '=') {
            line += length + 1;
            snprintf(value, sizeof(value), "%.*s", (int)strcspn(line, "\n"), line);
            return value;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return NULL;
}

static void blame(folder *f, const char *name, const scene *s, const char *why)
{
    char said[1000];
    fprintf(stderr, "# %s: %s\n# %s\n", name, why, scene_said(s, said, sizeof(said)));
    f->bad++;
}

static void judge_refusal(folder *f, const char *name, const scene *s)
{
    char stable[64];
    manifest_field(f, name, 5, stable);
    if (s->tree != NULL || s->problems.errors == 0 || s->problems.count == 0) {
        blame(f, name, s, "it was to be refused with a message");
    } else if (stable[0] != '\0' && stable[0] != '-' &&
               (uint32_t)strtoul(stable, NULL, 10) != s->problems.items[0].origin.line) {
        blame(f, name, s, "the mistake is in another line");
    }
}

static void judge(folder *f, const char *name, const scene *s, const char *json)
{
    if (access(json, R_OK) != 0) {
        judge_refusal(f, name, s);
        return;
    }
    scene expected;
    scene_open(&expected, NULL);
    assert_true(weir__hocon_add_file(expected.document, json));
    scene_resolve(&expected);
    if (s->tree == NULL) {
        blame(f, name, s, "it was refused");
    } else if (!same_tree(s->tree, s->tree->root, expected.tree->root)) {
        blame(f, name, s, "its tree is another one");
    }
    scene_close(&expected);
}

static void run_case(folder *f, const char *name)
{
    char path[300], feature[64];
    manifest_field(f, name, 3, feature);
    if (strstr(feature, "classpath") != NULL || strstr(feature, "url") != NULL) {
        return; /* refused with a message: of the cases of our own */
    }
    snprintf(path, sizeof(path), "%s.env", name);
    char *lines = read_file(path);
    const weir__hocon_options options = { .environment = from_lines, .environment_context = lines };
    scene s;
    scene_open(&s, &options);
    snprintf(path, sizeof(path), "./%s.conf", name);
    (void)weir__hocon_add_file(s.document, path);
    scene_resolve(&s);
    snprintf(path, sizeof(path), "%s.json", name);
    judge(f, name, &s, path);
    scene_close(&s);
    free(lines);
}

static void run_folder(const char *path, size_t least)
{
    folder f;
    if (!enter(&f, path)) {
        fail_msg("no folder %s", path);
    }
    for (size_t i = 0; i < f.count; i++) {
        run_case(&f, f.names[i]);
    }
    assert_in_range(f.count, least, NAMES_MAX);
    const uint32_t bad = f.bad;
    leave(&f);
    assert_int_equal(0, bad);
}

static void own_folder(const char *name, char path[1000])
{
    const char *root = getenv("WEIR_SOURCE_ROOT");
    snprintf(path, 1000, "%s/tests/hocon/%s", root != NULL ? root : ".", name);
}

static void every_case_has_the_tree_of_the_reference(void **state)
{
    (void)state;
    char path[1000];
    own_folder("cases", path);
    run_folder(path, 200);
}

static void every_case_of_our_own_is_as_the_documentation_says(void **state)
{
    (void)state;
    char path[1000];
    own_folder("own", path);
    run_folder(path, 200);
}

static void an_application_lies_over_its_reference(void **state)
{
    (void)state;
    char path[1100], layered[1000];
    own_folder("cases/layered", layered);
    DIR *handle = opendir(layered);
    assert_non_null(handle);
    folder f = { 0 };
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(handle)) != NULL;) {
        snprintf(path, sizeof(path), "%s/%.60s", layered, entry->d_name);
        if (entry->d_name[0] != 'L' || chdir(path) != 0) {
            continue;
        }
        scene s;
        scene_open(&s, NULL);
        (void)weir__hocon_add_file(s.document, "./reference.conf");
        (void)weir__hocon_add_file(s.document, "./application.conf");
        scene_resolve(&s);
        const bool newer = access("expected-config14.json", R_OK) == 0;
        judge(&f, entry->d_name, &s, newer ? "expected-config14.json" : "expected.json");
        scene_close(&s);
        count++;
    }
    closedir(handle);
    assert_in_range(count, 5, 100);
    assert_int_equal(0, f.bad);
}

static void the_cases_of_a_further_folder_pass_too(void **state)
{
    (void)state;
    const char *extra = getenv("WEIR_HOCON_EXTRA");
    if (extra == NULL || extra[0] == '\0') {
        test_skip("WEIR_HOCON_EXTRA names no folder of further cases");
    }
    run_folder(extra, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cases_of_a_further_folder_pass_too), /* may be a relative path */
        cmocka_unit_test(every_case_has_the_tree_of_the_reference),
        cmocka_unit_test(every_case_of_our_own_is_as_the_documentation_says),
        cmocka_unit_test(an_application_lies_over_its_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
