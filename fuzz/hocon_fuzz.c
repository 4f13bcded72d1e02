/*
 * hocon_fuzz.c - any text as layers of HOCON, JSON, properties and settings: it is refused with a
 * message or becomes a tree, and the tree written as JSON is read back as the same.
 *
 * A line %%, %%json, %%properties or %%set begins the next layer. Nothing is included, and the
 * environment is empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include "base/memory.h"
#include "hocon/read.h"
#include "tree/write.h"

enum { TEXT_MAX = 1 << 20 };

typedef struct written {
    char *text;
    size_t length;
    bool cut;
} written;

static bool take(void *context, const char *bytes, size_t length)
{
    written *w = context;
    if (w->length + length > TEXT_MAX) {
        w->cut = true;
        return false;
    }
    memcpy(w->text + w->length, bytes, length);
    w->length += length;
    return true;
}

static const weir__hocon_options options = {
    .ignore_environment = true,
    .include_root = "/nowhere/at/all",
    .resolved_size_max = 32u << 20,
};

/* Every message can be shown, and says something. */
static void look_at_problems(weir__problems *problems, bool good)
{
    FUZZ_PROMISE(good || weir__problems_failed(problems));
    FUZZ_PROMISE(!problems->out_of_memory);
    weir__problems_sort(problems);
    for (size_t i = 0; i < problems->count; i++) {
        char shown[4096];
        const size_t length = weir__problem_format(&problems->items[i], shown, sizeof(shown));
        FUZZ_PROMISE(length > 0 && problems->items[i].text[0] != '\0');
        FUZZ_PROMISE(length >= sizeof(shown) || fuzz_is_harmless(shown, length, false));
    }
    weir__problems_close(problems);
}

static void write_tree(const weir__tree *tree, written *w)
{
    *w = (written){ .text = malloc(TEXT_MAX) };
    FUZZ_PROMISE(w->text != NULL);
    FUZZ_PROMISE(weir__write_json(tree, tree->root, take, w) || w->cut);
}

static void read_back(const weir__tree *tree)
{
    written first, second;
    write_tree(tree, &first);
    if (!first.cut) {
        weir__problems problems = { .allocator = weir__allocator_default() };
        weir__hocon *document = weir__hocon_create(&options, &problems);
        weir__file file = { .text = malloc(first.length + 1), .size = first.length };
        FUZZ_PROMISE(document != NULL && file.text != NULL);
        memcpy(file.text, first.text, first.length);
        file.text[first.length] = '\0';
        FUZZ_PROMISE(weir__file_into(document, NULL, &file, "back.json", document->root));
        weir__tree *back = weir__hocon_resolve(document);
        FUZZ_PROMISE(back != NULL);
        write_tree(back, &second);
        FUZZ_PROMISE(second.length == first.length &&
                     memcmp(first.text, second.text, first.length) == 0);
        free(second.text);
        free(file.text);
        weir__tree_destroy(back);
        weir__hocon_destroy(document);
        look_at_problems(&problems, true);
    }
    free(first.text);
}

/* A layer of its own memory, so that a look beyond its end is seen. */
static bool add(weir__hocon *document, const char *kind, const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    FUZZ_PROMISE(copy != NULL);
    memcpy(copy, text, size);
    copy[size] = '\0';
    bool good;
    if (strncmp(kind, "%%set", 5) == 0) {
        good = weir__hocon_add_setting(document, "-D", copy);
    } else if (strncmp(kind, "%%json", 6) == 0 || strncmp(kind, "%%properties", 12) == 0) {
        const weir__file file = { .text = copy, .size = size };
        good = weir__file_into(document, NULL, &file, kind[2] == 'j' ? "a.json" : "a.properties",
                               document->root);
    } else {
        good = weir__hocon_add_text(document, "a.conf", copy, size);
    }
    free(copy);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    weir__problems problems = { .allocator = weir__allocator_default() };
    weir__hocon *document = weir__hocon_create(&options, &problems);
    char *text = malloc(size + 1);
    FUZZ_PROMISE(document != NULL && text != NULL);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    const char *kind = "%%", *at = text, *end = text + size;
    bool good = true;
    while (at != NULL) {
        const char *next = NULL;
        for (const char *s = at; s + 2 < end && next == NULL; s++) {
            next = s[0] == '\n' && s[1] == '%' && s[2] == '%' ? s + 1 : NULL;
        }
        good &= add(document, kind, at, (size_t)((next != NULL ? next : end) - at));
        kind = next;
        at = next != NULL ? memchr(next, '\n', (size_t)(end - next)) : NULL;
        at = at != NULL ? at + 1 : NULL;
    }
    weir__tree *tree = good ? weir__hocon_resolve(document) : NULL;
    weir__hocon_destroy(document);
    if (tree != NULL) {
        (void)weir__hocon_find(tree, "a.b", &problems);
        read_back(tree);
        weir__tree_destroy(tree);
    }
    look_at_problems(&problems, tree != NULL);
    free(text);
    return 0;
}
