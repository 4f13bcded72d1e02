/*
 * hocon/hocon_support.h - from text to tree in one call, and trees that are compared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_HOCON_SUPPORT_H
#define WEIR_TEST_HOCON_SUPPORT_H

#include "inner_support.h"

#include "hocon/hocon.h"

/* Numbers as numbers, all else exactly. */
static inline bool same_scalar(const weir__node *a, const weir__node *b)
{
    if (a->kind == WEIR__NULL) {
        return true;
    }
    if (a->kind == WEIR__NUMBER) {
        return strtod(a->text.bytes, NULL) == strtod(b->text.bytes, NULL);
    }
    return a->text.length == b->text.length &&
           memcmp(a->text.bytes, b->text.bytes, a->text.length) == 0;
}

static inline bool same_tree(const weir__tree *tree, const weir__node *a, const weir__node *b)
{
    if (a == NULL || b == NULL || a->kind != b->kind) {
        return false;
    }
    if (a->kind == WEIR__LIST) {
        for (size_t i = 0; i < a->list.count && i < b->list.count; i++) {
            if (!same_tree(tree, a->list.items[i], b->list.items[i])) {
                return false;
            }
        }
        return a->list.count == b->list.count;
    }
    if (a->kind != WEIR__OBJECT) {
        return same_scalar(a, b);
    }
    for (size_t i = 0; i < b->object.count; i++) {
        const weir__text key = b->object.members[i].key;
        if (!same_tree(tree, weir__object_get(tree, a, key.bytes, key.length),
                       b->object.members[i].value)) {
            return false;
        }
    }
    return a->object.count == b->object.count;
}

/* A document in the making, with its problems. */
typedef struct scene {
    weir__hocon_options options;
    weir__problems problems;
    weir__hocon *document;
    weir__tree *tree;
} scene;

static inline void scene_open(scene *s, const weir__hocon_options *options)
{
    memset(s, 0, sizeof(*s));
    s->options = options != NULL ? *options : (weir__hocon_options){ .ignore_environment = true };
    s->problems.allocator =
        s->options.allocator != NULL ? s->options.allocator : weir__allocator_default();
    s->document = weir__hocon_create(&s->options, &s->problems);
}

static inline bool scene_add(scene *s, const char *text)
{
    return weir__hocon_add_text(s->document, "a.conf", text, strlen(text));
}

static inline void scene_resolve(scene *s)
{
    s->tree = weir__hocon_resolve(s->document);
    weir__problems_sort(&s->problems);
}

static inline void scene_close(scene *s)
{
    weir__tree_destroy(s->tree);
    weir__hocon_destroy(s->document);
    weir__problems_close(&s->problems);
}

/* All problems, a line each. */
static inline const char *scene_said(const scene *s, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < s->problems.count && used + 1 < size; i++) {
        used += weir__problem_format(&s->problems.items[i], buffer + used, size - used);
        if (used + 1 < size) {
            buffer[used++] = '\n';
            buffer[used] = '\0';
        }
    }
    return buffer;
}

/* The tree of a scene is what this JSON says. */
static inline void assert_tree(const scene *s, const char *json)
{
    char said[2000];
    if (s->tree == NULL) {
        print_error("%s", scene_said(s, said, sizeof(said)));
    }
    assert_non_null(s->tree);
    scene expected;
    scene_open(&expected, NULL);
    assert_true(scene_add(&expected, json));
    scene_resolve(&expected);
    assert_non_null(expected.tree);
    assert_true(same_tree(s->tree, s->tree->root, expected.tree->root));
    scene_close(&expected);
}

static inline void assert_resolves(const char *text, const char *json)
{
    scene s;
    scene_open(&s, NULL);
    (void)scene_add(&s, text);
    scene_resolve(&s);
    assert_tree(&s, json);
    scene_close(&s);
}

/* What is said of a text, all of it. */
static inline void assert_says(const char *text, const char *expected)
{
    char said[4000];
    scene s;
    scene_open(&s, NULL);
    (void)scene_add(&s, text);
    scene_resolve(&s);
    assert_null(s.tree);
    assert_string_equal(expected, scene_said(&s, said, sizeof(said)));
    scene_close(&s);
}

#endif /* WEIR_TEST_HOCON_SUPPORT_H */
