/*
 * tree/tree.c - chunks of memory that are carved from the front and freed all at once, and objects
 * that find a key by a look at each while there are few, by a hash table from then on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tree/tree.h"

#include <string.h>

#include "base/memory.h"

enum { CHUNK_SIZE = 16 * 1024, INDEX_FROM = 12, CAPACITY_FIRST = 4 };

typedef struct weir__chunk {
    struct weir__chunk *next;
    size_t size, used; /* with this head */
} weir__chunk;

#define CHUNK_HEAD ((sizeof(weir__chunk) + 15u) & ~(size_t)15u)

weir__tree *weir__tree_create(const weir_allocator *allocator, size_t limit)
{
    if (allocator == NULL) {
        allocator = weir__allocator_default();
    }
    weir__tree *tree = weir__allocate(allocator, sizeof(*tree));
    if (tree != NULL) {
        tree->allocator = allocator;
        tree->limit = limit;
        tree->salt = (uint64_t)(uintptr_t)tree * UINT64_C(0x9e3779b97f4a7c15);
    }
    return tree;
}

void weir__tree_destroy(weir__tree *tree)
{
    if (tree == NULL) {
        return;
    }
    for (weir__chunk *chunk = tree->chunks; chunk != NULL;) {
        weir__chunk *next = chunk->next;
        weir__release(tree->allocator, chunk, chunk->size);
        chunk = next;
    }
    weir__release(tree->allocator, tree, sizeof(*tree));
}

/* A chunk with room for `size`. What is large gets one of its own behind the first, so that the
 * rest of the first is not lost. */
static weir__chunk *add_chunk(weir__tree *tree, size_t size)
{
    const bool large = size > CHUNK_SIZE / 4;
    const size_t whole = large ? CHUNK_HEAD + size : CHUNK_SIZE;
    weir__chunk *chunk = weir__allocate_raw(tree->allocator, whole);
    if (chunk == NULL) {
        return NULL;
    }
    chunk->size = whole;
    chunk->used = CHUNK_HEAD;
    if (large && tree->chunks != NULL) {
        chunk->next = tree->chunks->next;
        tree->chunks->next = chunk;
    } else {
        chunk->next = tree->chunks;
        tree->chunks = chunk;
    }
    return chunk;
}

static void *carve(weir__tree *tree, size_t size)
{
    if (size > SIZE_MAX / 4) {
        return NULL;
    }
    size = (size + 15u) & ~(size_t)15u;
    if (tree->limit != 0 && (size > tree->limit || tree->used > tree->limit - size)) {
        return NULL;
    }
    weir__chunk *chunk = tree->chunks;
    if (chunk == NULL || chunk->size - chunk->used < size) {
        chunk = add_chunk(tree, size);
        if (chunk == NULL) {
            return NULL;
        }
    }
    void *memory = (char *)chunk + chunk->used;
    chunk->used += size;
    tree->used += size;
    return memory;
}

void *weir__tree_memory(weir__tree *tree, size_t size)
{
    void *memory = carve(tree, size);
    if (memory != NULL) {
        memset(memory, 0, size);
    }
    return memory;
}

bool weir__tree_text(weir__tree *tree, const char *bytes, size_t length, weir__text *out)
{
    char *copy = carve(tree, length + 1);
    if (copy == NULL) {
        return false;
    }
    if (length > 0) {
        memcpy(copy, bytes, length);
    }
    copy[length] = '\0';
    *out = (weir__text){ .bytes = copy, .length = length };
    return true;
}

const char *weir__tree_source(weir__tree *tree, const char *name)
{
    weir__text text;
    return weir__tree_text(tree, name, strlen(name), &text) ? text.bytes : NULL;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static weir__node *new_node(weir__tree *tree, weir__kind kind, weir__origin origin)
{
    weir__node *node = weir__tree_memory(tree, sizeof(*node));
    if (node != NULL) {
        node->kind = kind;
        node->origin = origin;
    }
    return node;
}

static weir__node *new_text_node(weir__tree *tree, weir__kind kind, weir__origin origin,
                                 const char *bytes, size_t length)
{
    weir__node *node = new_node(tree, kind, origin);
    return node != NULL && weir__tree_text(tree, bytes, length, &node->text) ? node : NULL;
}

weir__node *weir__node_null(weir__tree *tree, weir__origin origin)
{
    return new_node(tree, WEIR__NULL, origin);
}

weir__node *weir__node_boolean(weir__tree *tree, weir__origin origin, bool truth)
{
    weir__node *node = new_node(tree, WEIR__BOOLEAN, origin);
    if (node != NULL) {
        node->truth = truth;
        node->text.bytes = truth ? "true" : "false";
        node->text.length = truth ? 4 : 5;
    }
    return node;
}

weir__node *weir__node_number(weir__tree *tree, weir__origin origin, const char *bytes,
                              size_t length)
{
    return new_text_node(tree, WEIR__NUMBER, origin, bytes, length);
}

weir__node *weir__node_string(weir__tree *tree, weir__origin origin, const char *bytes,
                              size_t length)
{
    return new_text_node(tree, WEIR__STRING, origin, bytes, length);
}

weir__node *weir__node_list(weir__tree *tree, weir__origin origin)
{
    return new_node(tree, WEIR__LIST, origin);
}

weir__node *weir__node_object(weir__tree *tree, weir__origin origin)
{
    return new_node(tree, WEIR__OBJECT, origin);
}

/* An array of the tree with twice the room; the old one stays behind in its chunk. */
static void *grown(weir__tree *tree, const void *old, size_t count, size_t capacity, size_t size)
{
    void *new = weir__tree_memory(tree, capacity * size);
    if (new != NULL && count > 0) {
        memcpy(new, old, count * size);
    }
    return new;
}

bool weir__list_append(weir__tree *tree, weir__node *list, weir__node *item)
{
    if (list->list.count == list->list.capacity) {
        const size_t capacity = list->list.capacity == 0 ? CAPACITY_FIRST : list->list.capacity * 2;
        weir__node **items = (weir__node **)grown(tree, (const void *)list->list.items,
                                                  list->list.count, capacity, sizeof(void *));
        if (items == NULL) {
            return false;
        }
        list->list.items = items;
        list->list.capacity = capacity;
    }
    list->list.items[list->list.count++] = item;
    return true;
}

/* --- objects ---------------------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 wide;

static uint64_t mix(uint64_t a, uint64_t b)
{
    const wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash(const weir__tree *tree, const char *key, size_t length)
{
    uint64_t h = tree->salt ^ length;
    while (length > 0) {
        uint64_t word = 0;
        const size_t step = length < sizeof(word) ? length : sizeof(word);
        memcpy(&word, key, step);
        h = mix(h ^ word, UINT64_C(0xa0761d6478bd642f));
        key += step;
        length -= step;
    }
    return mix(h, UINT64_C(0xe7037ed1a0b428db));
}

static bool is_key(const weir__member *member, const char *key, size_t length)
{
    return member->key.length == length &&
           (length == 0 || memcmp(member->key.bytes, key, length) == 0);
}

static weir__member *find(const weir__tree *tree, const weir__node *object, const char *key,
                          size_t length)
{
    weir__member *members = object->object.members;
    if (object->object.index == NULL) {
        for (size_t i = 0; i < object->object.count; i++) {
            if (is_key(&members[i], key, length)) {
                return &members[i];
            }
        }
        return NULL;
    }
    const size_t mask = object->object.index_size - 1;
    for (size_t i = (size_t)hash(tree, key, length) & mask; object->object.index[i] != 0;
         i = (i + 1) & mask) {
        weir__member *member = &members[object->object.index[i] - 1];
        if (is_key(member, key, length)) {
            return member;
        }
    }
    return NULL;
}

static void index_put(const weir__tree *tree, uint32_t *index, size_t size,
                      const weir__member *members, size_t position)
{
    const weir__text key = members[position].key;
    size_t i = (size_t)hash(tree, key.bytes, key.length) & (size - 1);
    while (index[i] != 0) {
        i = (i + 1) & (size - 1);
    }
    index[i] = (uint32_t)position + 1;
}

/* Room for one more member: in the array, and in the index as soon as there is one. */
static bool make_room(weir__tree *tree, weir__node *object)
{
    if (object->object.count < object->object.capacity) {
        return true;
    }
    const size_t count = object->object.count;
    const size_t capacity =
        object->object.capacity == 0 ? CAPACITY_FIRST : object->object.capacity * 2;
    if (capacity > UINT32_MAX / 4) {
        return false;
    }
    weir__member *members = grown(tree, object->object.members, count, capacity, sizeof(*members));
    if (members == NULL) {
        return false;
    }
    if (capacity > INDEX_FROM) {
        const size_t size = capacity * 2;
        uint32_t *index = weir__tree_memory(tree, size * sizeof(*index));
        if (index == NULL) {
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            index_put(tree, index, size, members, i);
        }
        object->object.index = index;
        object->object.index_size = size;
    }
    object->object.members = members;
    object->object.capacity = capacity;
    return true;
}

weir__node **weir__object_slot(weir__tree *tree, weir__node *object, const char *key, size_t length)
{
    weir__member *member = find(tree, object, key, length);
    if (member != NULL) {
        return &member->value;
    }
    weir__text copy;
    if (!make_room(tree, object) || !weir__tree_text(tree, key, length, &copy)) {
        return NULL;
    }
    const size_t position = object->object.count++;
    member = &object->object.members[position];
    *member = (weir__member){ .key = copy };
    if (object->object.index != NULL) {
        index_put(tree, object->object.index, object->object.index_size, object->object.members,
                  position);
    }
    return &member->value;
}

bool weir__object_set(weir__tree *tree, weir__node *object, const char *key, size_t length,
                      weir__node *value)
{
    weir__node **slot = weir__object_slot(tree, object, key, length);
    if (slot != NULL) {
        *slot = value;
    }
    return slot != NULL;
}

weir__node *weir__object_get(const weir__tree *tree, const weir__node *object, const char *key,
                             size_t length)
{
    if (object == NULL || object->kind != WEIR__OBJECT) {
        return NULL;
    }
    const weir__member *member = find(tree, object, key, length);
    return member != NULL ? member->value : NULL;
}

weir__node *weir__tree_at(const weir__tree *tree, const weir__node *from, const char *names)
{
    weir__node *node = NULL;
    for (;;) {
        const size_t length = strcspn(names, ".");
        node = weir__object_get(tree, from, names, length);
        if (node == NULL || names[length] == '\0') {
            return node;
        }
        from = node;
        names += length + 1;
    }
}

const char *weir__kind_name(weir__kind kind)
{
    static const char *const names[] = {
        [WEIR__NULL] = "null",       [WEIR__BOOLEAN] = "a boolean", [WEIR__NUMBER] = "a number",
        [WEIR__STRING] = "a string", [WEIR__LIST] = "a list",       [WEIR__OBJECT] = "an object",
    };
    return names[kind];
}
