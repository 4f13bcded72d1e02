/*
 * cli/config_get.c - `weir config get`: one value, as a program's getter would read it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/command.h"
#include "cli/config.h"
#include "cli/usage.h"
#include "tree/read.h"
#include "tree/write.h"

static const char program[] = "weir config get";

static const char help[] =
    "usage: weir config get FILE PATH [--as GETTER] [--raw] [-D KEY=VALUE ...]\n"
    "\n"
    "Reads the file, resolves it, and prints the value at a path such as weir.engine\n"
    "or a.\"b.c\".d: as JSON if no getter is named, else as that getter reads it. What a\n"
    "file is, its name says: .json, .properties, .yaml or .yml; anything else is HOCON.\n"
    "`-` is HOCON on standard input.\n"
    "\n"
    "options:\n"
    "  --as GETTER   boolean, int, long, double, string\n"
    "                bytes        a size: 10 kB is 10000, 10 k is 10240\n"
    "                duration-ns  a duration in nanoseconds: 1.5s is 1500000000;\n"
    "                             a number without a unit counts milliseconds\n"
    "                duration-ms  the same in milliseconds, cut off\n"
    "                list, int-list, string-list\n"
    "                             an object with numeric keys is a list, too\n"
    "                has-path     true or false; null counts as absent\n"
    "  --raw         print a string as it is, without quotes and escapes\n"
    "  -D, --define KEY=VALUE\n"
    "                a value over the file; may be given more than once\n"
    "  -h, --help    show this text\n"
    "\n"
    "A string may hold a number, a boolean, a size or a duration, and the other way\n"
    "round; yes and on are true, no and off false.\n"
    "\n"
    "exit status: 0 success, 1 there is nothing at that path, 2 wrong usage or\n"
    "configuration, or the value is not what the getter reads\n";

/* --- getters ---------------------------------------------------------------------------------- */

typedef struct request {
    weir__tree *tree;
    const char *path;
    bool raw;
    weir__problems *problems;
} request;

static bool to_stdout(void *context, const char *bytes, size_t length)
{
    (void)context;
    return fwrite(bytes, 1, length, stdout) == length;
}

static bool say(bool good, const request *r, const weir__node *node, const weir__why *why)
{
    if (!good) {
        weir__problems_add(r->problems, WEIR__ERROR, node->origin, r->path, "%s", why->text);
    }
    return good;
}

static void print_json(const request *r, const weir__node *node)
{
    if (weir__write_json_line(r->tree, node, to_stdout, NULL)) {
        putchar('\n');
    } else if (ferror(stdout) == 0) {
        weir__problems_memory(r->problems);
    }
}

static void print_string(const request *r, weir__text text)
{
    if (r->raw) {
        (void)to_stdout(NULL, text.bytes, text.length);
        putchar('\n');
        return;
    }
    const weir__node node = { .kind = WEIR__STRING, .text = text };
    print_json(r, &node);
}

static bool get_boolean(const request *r, const weir__node *node)
{
    bool value;
    weir__why why;
    if (!say(weir__read_boolean(node, &value, &why), r, node, &why)) {
        return false;
    }
    puts(value ? "true" : "false");
    return true;
}

static bool get_bytes(const request *r, const weir__node *node)
{
    uint64_t value;
    weir__why why;
    if (!say(weir__read_bytes(node, &value, &why), r, node, &why)) {
        return false;
    }
    printf("%" PRIu64 "\n", value);
    return true;
}

/* With as few digits as read back as the same. */
static bool get_double(const request *r, const weir__node *node)
{
    double value;
    weir__why why;
    if (!say(weir__read_double(node, &value, &why), r, node, &why)) {
        return false;
    }
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        const double back = strtod(text, NULL);
        if (!(back < value || back > value)) {
            break;
        }
    }
    puts(text);
    return true;
}

static bool get_duration(const request *r, const weir__node *node, int64_t unit)
{
    int64_t value;
    weir__why why;
    if (!say(weir__read_nanoseconds(node, &value, &why), r, node, &why)) {
        return false;
    }
    printf("%" PRId64 "\n", value / unit);
    return true;
}

static bool get_duration_ms(const request *r, const weir__node *node)
{
    return get_duration(r, node, 1000000);
}

static bool get_duration_ns(const request *r, const weir__node *node)
{
    return get_duration(r, node, 1);
}

static bool get_int(const request *r, const weir__node *node)
{
    int32_t value;
    weir__why why;
    if (!say(weir__read_int(node, &value, &why), r, node, &why)) {
        return false;
    }
    printf("%" PRId32 "\n", value);
    return true;
}

static bool get_long(const request *r, const weir__node *node)
{
    int64_t value;
    weir__why why;
    if (!say(weir__read_long(node, &value, &why), r, node, &why)) {
        return false;
    }
    printf("%" PRId64 "\n", value);
    return true;
}

static bool get_string(const request *r, const weir__node *node)
{
    weir__text text;
    weir__why why;
    if (!say(weir__read_text(node, &text, &why), r, node, &why)) {
        return false;
    }
    print_string(r, text);
    return true;
}

/* A list whose items `convert` makes into nodes of the tree; NULL takes them as they are. Nothing
 * is printed until all of them are known to be good. */
static bool get_list_of(const request *r, const weir__node *node,
                        weir__node *(*convert)(const request *, const weir__node *))
{
    weir__node **items;
    size_t count;
    weir__why why;
    if (!say(weir__read_list(r->tree, node, &items, &count, &why), r, node, &why)) {
        return false;
    }
    weir__node *list = weir__node_list(r->tree, node->origin);
    bool good = list != NULL;
    for (size_t i = 0; good && i < count; i++) {
        weir__node *item = convert != NULL ? convert(r, items[i]) : items[i];
        if (item == NULL) {
            return false;
        }
        good = weir__list_append(r->tree, list, item);
    }
    if (!good) {
        weir__problems_memory(r->problems);
        return false;
    }
    print_json(r, list);
    return true;
}

static bool get_list(const request *r, const weir__node *node)
{
    return get_list_of(r, node, NULL);
}

static weir__node *kept(const request *r, weir__node *node)
{
    if (node == NULL) {
        weir__problems_memory(r->problems);
    }
    return node;
}

static weir__node *int_item(const request *r, const weir__node *node)
{
    int32_t value;
    weir__why why;
    if (!say(weir__read_int(node, &value, &why), r, node, &why)) {
        return NULL;
    }
    char text[16];
    const int length = snprintf(text, sizeof(text), "%" PRId32, value);
    return kept(r, weir__node_number(r->tree, node->origin, text, (size_t)length));
}

static bool get_int_list(const request *r, const weir__node *node)
{
    return get_list_of(r, node, int_item);
}

static weir__node *string_item(const request *r, const weir__node *node)
{
    weir__text text;
    weir__why why;
    if (!say(weir__read_text(node, &text, &why), r, node, &why)) {
        return NULL;
    }
    return kept(r, weir__node_string(r->tree, node->origin, text.bytes, text.length));
}

static bool get_string_list(const request *r, const weir__node *node)
{
    return get_list_of(r, node, string_item);
}

static bool get_value(const request *r, const weir__node *node)
{
    if (r->raw && node->kind == WEIR__STRING) {
        print_string(r, node->text);
    } else {
        print_json(r, node);
    }
    return true;
}

static bool get_has_path(const request *r, const weir__node *node)
{
    (void)r;
    puts(node != NULL && node->kind != WEIR__NULL ? "true" : "false");
    return true;
}

/* The one table of getters; has-path is the one that is asked without a node, too. */
static const struct {
    const char *name;
    bool (*print)(const request *r, const weir__node *node);
} getters[] = {
    { "boolean", get_boolean },
    { "bytes", get_bytes },
    { "double", get_double },
    { "duration-ms", get_duration_ms },
    { "duration-ns", get_duration_ns },
    { "has-path", get_has_path },
    { "int", get_int },
    { "int-list", get_int_list },
    { "list", get_list },
    { "long", get_long },
    { "string", get_string },
    { "string-list", get_string_list },
};
enum { GETTER_COUNT = sizeof(getters) / sizeof(getters[0]) };

/* --- the command ------------------------------------------------------------------------------ */

typedef struct options {
    bool (*print)(const request *r, const weir__node *node);
    char **settings; /* what stood behind -D, in argv's memory */
    size_t setting_count;
    bool raw, help;
} options;

static int choose_getter(const char *name, options *o)
{
    const char *names[GETTER_COUNT];
    char list[256] = "";
    for (size_t i = 0; i < GETTER_COUNT; i++) {
        if (strcmp(getters[i].name, name) == 0) {
            o->print = getters[i].print;
            return WEIR__EXIT_OK;
        }
        names[i] = getters[i].name;
        const size_t used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ", names[i]);
    }
    const char *nearest = weir__usage_nearest(name, names, GETTER_COUNT);
    if (nearest != NULL) {
        return weir__usage_error(program, "--as %s: no such getter, did you mean %s?", name,
                                 nearest);
    }
    return weir__usage_error(program, "--as %s: no such getter, there are: %s", name, list);
}

/* WEIR__EXIT_OK, or WEIR__EXIT_USAGE with the reason on stderr. */
static int parse_options(int argc, char **argv, options *o)
{
    enum { OPTION_AS = 256, OPTION_RAW }; /* no letters: beyond all characters */
    static const struct option known[] = { { "as", required_argument, NULL, OPTION_AS },
                                           { "raw", no_argument, NULL, OPTION_RAW },
                                           { "define", required_argument, NULL, 'D' },
                                           { "help", no_argument, NULL, 'h' },
                                           { NULL, 0, NULL, 0 } };
    opterr = 0;
    for (int answer; (answer = getopt_long(argc, argv, ":hD:", known, NULL)) != -1;) {
        switch (answer) {
        case OPTION_AS:
            if (choose_getter(optarg, o) != WEIR__EXIT_OK) {
                return WEIR__EXIT_USAGE;
            }
            break;
        case OPTION_RAW:
            o->raw = true;
            break;
        case 'D':
            o->settings[o->setting_count++] = optarg;
            break;
        case 'h':
            o->help = true;
            break;
        default:
            return weir__usage_option_error(program, answer, argv, known);
        }
    }
    if (argc - optind != 2 && !o->help) {
        return weir__usage_error(program, "takes a file and a path, as in: weir config get "
                                          "app.conf weir.engine");
    }
    return WEIR__EXIT_OK;
}

static int print_value(const options *o, const request *r)
{
    const weir__node *node = weir__hocon_find(r->tree, r->path, r->problems);
    if (weir__problems_failed(r->problems)) {
        return WEIR__EXIT_USAGE;
    }
    if (node == NULL && o->print != get_has_path) {
        weir__problems_add(r->problems, WEIR__ERROR, (weir__origin){ 0 }, r->path,
                           "there is no such key");
        return WEIR__EXIT_FAILED;
    }
    const bool good = o->print(r, node);
    return good && !weir__problems_failed(r->problems) ? WEIR__EXIT_OK : WEIR__EXIT_USAGE;
}

static int get(const options *o, char **arguments)
{
    weir__problems problems = { .allocator = weir__allocator_default() };
    weir__tree *tree = weir__config_read(arguments, 1, o->settings, o->setting_count, &problems);
    int status = WEIR__EXIT_USAGE;
    if (tree != NULL) {
        const request r = { tree, arguments[1], o->raw, &problems };
        status = print_value(o, &r);
    }
    weir__config_tell(program, &problems);
    weir__tree_destroy(tree);
    weir__problems_close(&problems);
    return status;
}

int weir__config_get(int argc, char **argv)
{
    options o = { .print = get_value, .settings = calloc((size_t)argc, sizeof(char *)) };
    if (o.settings == NULL) {
        fprintf(stderr, "%s: out of memory\n", program);
        return WEIR__EXIT_FAILED;
    }
    int status = parse_options(argc, argv, &o);
    if (status == WEIR__EXIT_OK && o.help) {
        fputs(help, stdout);
    } else if (status == WEIR__EXIT_OK) {
        status = get(&o, argv + optind);
    }
    free((void *)o.settings);
    return status;
}
