/*
 * hocon/merge.c - a later value over an earlier one.
 *
 * An object over an object is merged member by member, in place. A scalar, null or a list hides all
 * that lay there. An object over one of those hides it too, and stays opaque: whatever the two are
 * put over later does not shine through. Where a substitution has a part in it, nobody can know
 * yet: the values are stacked. Recursion goes down objects, whose depth the reader bounds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "hocon/document.h"

/* NOLINTBEGIN(misc-no-recursion): objects are as deep as the reader lets them be */

bool weir__stack_add(weir__hocon *document, weir__stack *stack, weir__node *value)
{
    if (stack->count == stack->capacity) {
        const size_t capacity = stack->capacity == 0 ? 4 : stack->capacity * 2;
        weir__node **layers =
            (weir__node **)weir__document_memory(document, capacity * sizeof(weir__node *));
        if (layers == NULL) {
            return false;
        }
        if (stack->count > 0) {
            memcpy(layers, stack->layers, stack->count * sizeof(weir__node *));
        }
        stack->layers = layers;
        stack->capacity = capacity;
    }
    stack->layers[stack->count++] = value;
    return true;
}

weir__stack *weir__stack_create(weir__hocon *document, weir__origin origin, weir__node *lower,
                                weir__node *upper)
{
    weir__stack *stack =
        (weir__stack *)weir__document_cell(document, WEIR__STACK, origin, sizeof(*stack));
    return stack != NULL && weir__stack_add(document, stack, lower) &&
                   weir__stack_add(document, stack, upper)
               ? stack
               : NULL;
}

/* a += 1 over a += 2: one += of two items, if no substitution can tell the difference. */
static bool append_both(weir__hocon *document, weir__node *lower, const weir__node *upper,
                        bool *done)
{
    *done = false;
    if ((int)lower->kind != WEIR__CONCATENATION || (int)upper->kind != WEIR__CONCATENATION ||
        !((weir__concatenation *)lower)->append || !((const weir__concatenation *)upper)->append) {
        return true;
    }
    weir__node *below = ((weir__concatenation *)lower)->pieces[1].node;
    const weir__node *above = ((const weir__concatenation *)upper)->pieces[1].node;
    if (weir__is_open(below) || weir__is_open(above)) {
        return true;
    }
    *done = true;
    for (size_t i = 0; i < above->list.count; i++) {
        if (!weir__list_append(document->tree, below, above->list.items[i])) {
            weir__document_lack(document, 0);
            return false;
        }
    }
    return true;
}

/* Over a substitution: an object joins the one that lies on top already. */
static bool push_on_stack(weir__hocon *document, weir__stack *stack, weir__node *value)
{
    weir__node *top = stack->layers[stack->count - 1];
    if (value->kind == WEIR__OBJECT && top->kind == WEIR__OBJECT) {
        return weir__merge_objects(document, top, value);
    }
    bool done;
    const bool good = append_both(document, top, value, &done);
    return done ? good : weir__stack_add(document, stack, value);
}

static bool stack_over(weir__hocon *document, weir__node **slot, weir__node *value)
{
    bool done;
    const bool good = append_both(document, *slot, value, &done);
    if (done) {
        return good;
    }
    weir__stack *stack = weir__stack_create(document, value->origin, *slot, value);
    if (stack != NULL) {
        *slot = &stack->cell.node;
    }
    return stack != NULL;
}

static bool push_layers(weir__hocon *document, weir__node **slot, const weir__stack *upper)
{
    for (size_t i = 0; i < upper->count; i++) {
        if (!weir__merge_push(document, slot, upper->layers[i])) {
            return false;
        }
    }
    return true;
}

bool weir__merge_push(weir__hocon *document, weir__node **slot, weir__node *value)
{
    weir__node *old = *slot;
    if (old == NULL || value->kind < WEIR__OBJECT) {
        *slot = value;
        return true;
    }
    if ((int)value->kind == WEIR__STACK) {
        return push_layers(document, slot, (const weir__stack *)value);
    }
    if (value->kind == WEIR__OBJECT) {
        weir__cell *cell = weir__cell_of(value);
        if (cell->cut || old->kind < WEIR__OBJECT) {
            cell->cut = true;
            *slot = value;
            return true;
        }
        if (old->kind == WEIR__OBJECT) {
            return weir__merge_objects(document, old, value);
        }
    }
    if ((int)old->kind == WEIR__STACK) {
        return push_on_stack(document, (weir__stack *)old, value);
    }
    return stack_over(document, slot, value);
}

bool weir__merge_objects(weir__hocon *document, weir__node *lower, weir__node *upper)
{
    weir__cell_of(lower)->open |= weir__cell_of(upper)->open;
    for (size_t i = 0; i < upper->object.count; i++) {
        const weir__member *member = &upper->object.members[i];
        weir__node **slot =
            weir__object_slot(document->tree, lower, member->key.bytes, member->key.length);
        if (slot == NULL) {
            weir__document_lack(document, 0);
            return false;
        }
        if (!weir__merge_push(document, slot, member->value)) {
            return false;
        }
    }
    return true;
}

/* The object in a place that more members can be put into: the one that is there, or a new one over
 * what is there. */
static weir__node *object_in(weir__hocon *document, weir__node **slot, weir__origin origin)
{
    weir__node *old = *slot;
    if (old != NULL && (int)old->kind == WEIR__STACK) {
        const weir__stack *stack = (const weir__stack *)old;
        old = stack->layers[stack->count - 1];
    }
    if (old != NULL && old->kind == WEIR__OBJECT) {
        return old;
    }
    weir__cell *cell = weir__document_cell(document, WEIR__OBJECT, origin, sizeof(*cell));
    return cell != NULL && weir__merge_push(document, slot, &cell->node) ? &cell->node : NULL;
}

bool weir__merge_at(weir__hocon *document, weir__node *object, const weir__text *path, size_t count,
                    weir__node *value)
{
    const bool open = weir__is_open(value);
    for (size_t i = 0;; i++) {
        weir__cell_of(object)->open |= open;
        weir__node **slot =
            weir__object_slot(document->tree, object, path[i].bytes, path[i].length);
        if (slot == NULL) {
            weir__document_lack(document, 0);
            return false;
        }
        if (i + 1 == count) {
            return weir__merge_push(document, slot, value);
        }
        object = object_in(document, slot, value->origin);
        if (object == NULL) {
            return false;
        }
    }
}

/* --- copies ----------------------------------------------------------------------------------- */

static weir__node *copy_list(weir__hocon *document, const weir__node *node, weir__origin origin,
                             uint32_t depth)
{
    weir__cell *cell = weir__document_cell(document, WEIR__LIST, origin, sizeof(*cell));
    for (size_t i = 0; cell != NULL && i < node->list.count; i++) {
        weir__node *item = weir__merge_copy(document, node->list.items[i], depth + 1);
        if (item == NULL || !weir__list_append(document->tree, &cell->node, item)) {
            return NULL;
        }
    }
    return cell != NULL ? &cell->node : NULL;
}

static weir__node *copy_object(weir__hocon *document, const weir__node *node, weir__origin origin,
                               uint32_t depth)
{
    weir__cell *cell = weir__document_cell(document, WEIR__OBJECT, origin, sizeof(*cell));
    for (size_t i = 0; cell != NULL && i < node->object.count; i++) {
        const weir__member *member = &node->object.members[i];
        weir__node *value = weir__merge_copy(document, member->value, depth + 1);
        if (value == NULL || !weir__object_set(document->tree, &cell->node, member->key.bytes,
                                               member->key.length, value)) {
            return NULL;
        }
    }
    return cell != NULL ? &cell->node : NULL;
}

weir__node *weir__merge_copy(weir__hocon *document, const weir__node *node, uint32_t depth)
{
    weir__tree *tree = document->tree;
    weir__origin origin = node->origin;
    if (depth > document->options.depth_max) {
        weir__problems_add(document->problems, WEIR__ERROR, origin, NULL,
                           "nested more than %u deep", document->options.depth_max);
        document->spent = true;
        return NULL;
    }
    if (origin.source != NULL) {
        origin.source = weir__tree_source(tree, origin.source);
    }
    switch (node->kind) {
    case WEIR__NULL:
        return weir__node_null(tree, origin);
    case WEIR__BOOLEAN:
        return weir__node_boolean(tree, origin, node->truth);
    case WEIR__NUMBER:
        return weir__node_number(tree, origin, node->text.bytes, node->text.length);
    case WEIR__STRING:
        return weir__node_string(tree, origin, node->text.bytes, node->text.length);
    case WEIR__LIST:
        return copy_list(document, node, origin, depth);
    default:
        return copy_object(document, node, origin, depth);
    }
}

/* NOLINTEND(misc-no-recursion) */
