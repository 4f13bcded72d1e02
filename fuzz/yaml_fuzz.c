/*
 * yaml_fuzz.c - any text as YAML: a tree whose values stand within the text, or an error with a
 * place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include "base/memory.h"
#include "connect/yaml.h"
#include "tree/write.h"

enum { NODES_MAX = 100000 };

const char *__lsan_default_suppressions(void);

/* libfyaml 0.7 forgets a buffer when a quoted text with many escapes does not end. What the tree
 * or the builder forgets has no frame of its. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libfyaml.so\n";
}

/* Every value: of a line that is there. The stack is the test's, and as long as it need be. */
static void look_at(const weir__node *root, uint32_t lines)
{
    static const weir__node *stack[NODES_MAX];
    size_t depth = 0;
    stack[depth++] = root;
    while (depth > 0) {
        const weir__node *node = stack[--depth];
        FUZZ_PROMISE(node->origin.source != NULL && node->origin.line <= lines);
        for (size_t i = 0; node->kind == WEIR__LIST && i < node->list.count; i++) {
            if (depth < NODES_MAX) {
                stack[depth++] = node->list.items[i];
            }
        }
        for (size_t i = 0; node->kind == WEIR__OBJECT && i < node->object.count; i++) {
            if (depth < NODES_MAX) {
                stack[depth++] = node->object.members[i].value;
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const weir__yaml_options options = { .alias_size_max = 1000000 };
    weir__problems problems = { .allocator = weir__allocator_default() };
    weir__tree *tree =
        weir__yaml_read_text(&options, "fuzz.yaml", (const char *)data, size, &problems);
    FUZZ_PROMISE((tree == NULL) == weir__problems_failed(&problems));
    weir__problems_sort(&problems);
    for (size_t i = 0; i < problems.count; i++) {
        char shown[8192];
        const size_t length = weir__problem_format(&problems.items[i], shown, sizeof(shown));
        FUZZ_PROMISE(length < sizeof(shown) && fuzz_is_harmless(shown, length, false));
    }
    if (tree != NULL) {
        uint32_t lines = 2;
        for (size_t i = 0; i < size; i++) {
            lines += data[i] == '\n' || data[i] == '\r' ? 1 : 0;
        }
        look_at(tree->root, lines);
        fuzz_sink sink = { 0 };
        (void)weir__write_json(tree, tree->root, fuzz_take, &sink);
    }
    weir__tree_destroy(tree);
    weir__problems_close(&problems);
    return 0;
}
