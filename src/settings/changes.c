/*
 * settings/changes.c - both configurations as lists of settings; then the lists beside each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings/changes.h"

#include <string.h>

#include "settings/show.h"

/* Settings by path: an object of the changes' own tree, in the order of the tables. Each value is a
 * list of two texts: what it is, and where it came from. */
typedef struct listing {
    weir__tree *tree;
    weir__node *object;
} listing;

static bool note(void *context, const weir__shown *shown)
{
    listing *l = context;
    char from[400];
    const weir__origin nowhere = { .source = NULL };
    weir__origin_text(shown->origin, from, sizeof(from));
    weir__node *pair = weir__node_list(l->tree, nowhere);
    weir__node *value = weir__node_string(l->tree, nowhere, shown->value, strlen(shown->value));
    weir__node *origin = weir__node_string(l->tree, nowhere, from, strlen(from));
    weir__node *compared =
        weir__node_string(l->tree, nowhere, shown->compared, strlen(shown->compared));
    return pair != NULL && value != NULL && origin != NULL && compared != NULL &&
           weir__list_append(l->tree, pair, value) && weir__list_append(l->tree, pair, origin) &&
           weir__list_append(l->tree, pair, compared) &&
           weir__object_set(l->tree, l->object, shown->path, strlen(shown->path), pair);
}

static const char *part(const weir__node *pair, size_t i)
{
    return pair != NULL ? pair->list.items[i]->text.bytes : NULL;
}

static void add(weir__changes *changes, const char *path, const weir__node *before,
                const weir__node *after)
{
    changes->items[changes->count++] =
        (weir__change){ path, part(before, 0), part(after, 0), part(before, 1), part(after, 1) };
}

/* A key that only one of them has, with the value that it would have anyhow. */
static bool is_nothing_new(const weir__node *only)
{
    return strcmp(part(only, 1), WEIR__BUILT_IN) == 0;
}

static void compare(weir__changes *changes, const listing *before, const listing *after)
{
    const weir__tree *tree = changes->memory;
    for (size_t i = 0; i < after->object->object.count; i++) {
        const weir__member *member = &after->object->object.members[i];
        const weir__node *old =
            weir__object_get(tree, before->object, member->key.bytes, member->key.length);
        if (old == NULL ? !is_nothing_new(member->value)
                        : strcmp(part(old, 2), part(member->value, 2)) != 0) {
            add(changes, member->key.bytes, old, member->value);
        }
    }
    for (size_t i = 0; i < before->object->object.count; i++) {
        const weir__member *member = &before->object->object.members[i];
        if (weir__object_get(tree, after->object, member->key.bytes, member->key.length) == NULL &&
            !is_nothing_new(member->value)) {
            add(changes, member->key.bytes, member->value, NULL);
        }
    }
}

bool weir__changes_find(weir__changes *changes, const weir_allocator *allocator,
                        const weir_config *before, const weir_config *after)
{
    const weir__origin nowhere = { .source = NULL };
    *changes = (weir__changes){ .memory = weir__tree_create(allocator, 0) };
    if (changes->memory == NULL) {
        return false;
    }
    listing old = { changes->memory, weir__node_object(changes->memory, nowhere) };
    listing now = { changes->memory, weir__node_object(changes->memory, nowhere) };
    if (old.object == NULL || now.object == NULL || !weir__show(before, note, &old) ||
        !weir__show(after, note, &now)) {
        return false;
    }
    const size_t most = old.object->object.count + now.object->object.count;
    changes->items = weir__tree_memory(changes->memory, (most + 1) * sizeof(*changes->items));
    if (changes->items == NULL) {
        return false;
    }
    compare(changes, &old, &now);
    return true;
}

void weir__changes_close(weir__changes *changes)
{
    weir__tree_destroy(changes->memory);
    *changes = (weir__changes){ .memory = NULL };
}
