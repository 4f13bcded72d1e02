/*
 * hocon/join.c - pieces side by side, and objects over each other, while resolving.
 *
 * What is made here shares the parts it is made of, open or not; nothing of the document is
 * changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "hocon/resolve.h"

enum { WORK_OF_A_MEMBER = 8, WORK_SHIFT = 5 };

/* --- objects ---------------------------------------------------------------------------------- */

/* The layers of a value, on a stack that is ours. */
static bool add_layers(weir__resolver *r, weir__stack *stack, weir__node *upper)
{
    if ((int)upper->kind != WEIR__STACK) {
        return weir__stack_add(r->document, stack, upper);
    }
    const weir__stack *from = (const weir__stack *)upper;
    for (size_t i = 0; i < from->count; i++) {
        if (!weir__stack_add(r->document, stack, from->layers[i])) {
            return false;
        }
    }
    return true;
}

/* What a key holds if `upper` comes over `lower`. NULL: no memory. */
static weir__node *over(weir__resolver *r, const weir__node *owner, weir__node *lower,
                        weir__node *upper)
{
    if (upper->kind < WEIR__OBJECT || (upper->kind == WEIR__OBJECT && weir__cell_of(upper)->cut)) {
        return upper;
    }
    weir__stack *stack = (weir__stack *)lower;
    if ((int)lower->kind != WEIR__STACK || stack->owner != owner) {
        stack = (weir__stack *)weir__document_cell(r->document, WEIR__STACK, upper->origin,
                                                   sizeof(*stack));
        if (stack == NULL || !add_layers(r, stack, lower)) {
            return NULL;
        }
        stack->owner = owner;
    }
    return add_layers(r, stack, upper) ? &stack->cell.node : NULL;
}

bool weir__overlay(weir__resolver *r, weir__node *lower, weir__node *upper)
{
    const size_t count = upper->object.count;
    if (!weir__work(r, count * WORK_OF_A_MEMBER, upper->origin)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const weir__member *member = &upper->object.members[i];
        weir__node **slot =
            weir__object_slot(r->document->tree, lower, member->key.bytes, member->key.length);
        if (slot == NULL) {
            weir__document_lack(r->document, 0);
            return false;
        }
        *slot = *slot == NULL ? member->value : over(r, lower, *slot, member->value);
        if (*slot == NULL) {
            return false;
        }
        weir__cell_of(lower)->open |= weir__is_open(*slot);
    }
    return true;
}

weir__node *weir__cut(weir__resolver *r, weir__node *object)
{
    if (weir__cell_of(object)->cut) {
        return object;
    }
    weir__cell *copy =
        weir__document_cell(r->document, WEIR__OBJECT, object->origin, sizeof(*copy));
    if (copy == NULL) {
        return &weir__failed;
    }
    copy->node = *object;
    copy->open = weir__cell_of(object)->open;
    copy->kept = weir__cell_of(object)->kept;
    copy->cut = true;
    return &copy->node;
}

/* --- closures --------------------------------------------------------------------------------- */

static weir__node *close_over(weir__resolver *r, weir__node *node, const weir__context *context)
{
    if (!weir__is_open(node) || (int)node->kind == WEIR__CLOSURE) {
        return node;
    }
    weir__closure *closure = (weir__closure *)weir__document_cell(r->document, WEIR__CLOSURE,
                                                                  node->origin, sizeof(*closure));
    if (closure == NULL) {
        return NULL;
    }
    closure->inner = node;
    closure->context = context;
    return &closure->cell.node;
}

static bool close_items(weir__resolver *r, const weir__node *from, weir__node *to,
                        const weir__context *context)
{
    weir__tree *tree = r->document->tree;
    for (size_t i = 0; i < from->list.count; i++) {
        weir__node *item = close_over(r, from->list.items[i], context);
        if (item == NULL || !weir__list_append(tree, to, item)) {
            return false;
        }
    }
    return true;
}

static bool close_members(weir__resolver *r, const weir__node *from, weir__node *to,
                          const weir__context *context)
{
    weir__tree *tree = r->document->tree;
    for (size_t i = 0; i < from->object.count; i++) {
        const weir__member *member = &from->object.members[i];
        weir__node *value = close_over(r, member->value, context);
        if (value == NULL ||
            !weir__object_set(tree, to, member->key.bytes, member->key.length, value)) {
            return false;
        }
    }
    return true;
}

weir__node *weir__keep_context(weir__resolver *r, weir__node *node, const weir__context *context)
{
    if (!weir__is_open(node) || weir__cell_of(node)->kept || context == NULL) {
        return node;
    }
    weir__cell *copy =
        weir__document_cell(r->document, (int)node->kind, node->origin, sizeof(*copy));
    if (copy == NULL) {
        return &weir__failed;
    }
    copy->open = copy->kept = true;
    copy->cut = weir__cell_of(node)->cut;
    const bool list = node->kind == WEIR__LIST;
    const size_t count = list ? node->list.count : node->object.count;
    if (!weir__work(r, count * WORK_OF_A_MEMBER, node->origin)) {
        return &weir__failed;
    }
    if (!(list ? close_items : close_members)(r, node, &copy->node, context)) {
        weir__document_lack(r->document, 0);
        return &weir__failed;
    }
    return &copy->node;
}

/* --- lists ------------------------------------------------------------------------------------ */

static bool is_kept(const weir__node *node)
{
    return !weir__is_open(node) || ((const weir__cell *)node)->kept;
}

/* A list that can grow: a copy of `left` with room, or (if it is one of ours, with room behind its
 * end) the same items, which then belong to the new list. */
static weir__node *join_lists(weir__resolver *r, weir__node *left, const weir__node *right)
{
    weir__hocon *document = r->document;
    weir__cell *joined = weir__document_cell(document, WEIR__LIST, left->origin, sizeof(*joined));
    if (joined == NULL) {
        return &weir__failed;
    }
    joined->open = weir__is_open(left) || weir__is_open(right);
    joined->kept = is_kept(left) && is_kept(right);
    const size_t count = left->list.count + right->list.count;
    weir__node **items = left->list.items;
    size_t capacity = left->list.capacity;
    if (count > capacity) {
        capacity = count * 2;
        items = (weir__node **)weir__document_memory(document, capacity * sizeof(weir__node *));
        if (items == NULL || !weir__work(r, count, left->origin)) {
            return &weir__failed;
        }
        if (left->list.count > 0) {
            memcpy(items, left->list.items, left->list.count * sizeof(weir__node *));
        }
    } else {
        left->list.capacity = left->list.count;
    }
    if (!weir__work(r, right->list.count, right->origin)) {
        return &weir__failed;
    }
    if (right->list.count > 0) {
        memcpy(items + left->list.count, right->list.items,
               right->list.count * sizeof(weir__node *));
    }
    joined->node.list.items = items;
    joined->node.list.count = count;
    joined->node.list.capacity = capacity;
    return &joined->node;
}

typedef struct numbered {
    uint32_t number;
    weir__node *value;
} numbered;

/* 0, 17, 007: what is no number, or more than 31 bits, is no index. */
static bool index_of(weir__text key, uint32_t *out)
{
    uint64_t number = 0;
    const size_t sign = key.length > 1 && key.bytes[0] == '+' ? 1 : 0;
    for (size_t i = sign; i < key.length; i++) {
        if (key.bytes[i] < '0' || key.bytes[i] > '9' || number > INT32_MAX) {
            return false;
        }
        number = number * 10 + (uint64_t)(key.bytes[i] - '0');
    }
    *out = (uint32_t)number;
    return key.length > 0 && number <= INT32_MAX;
}

/* Merges two sorted halves of `from` into `to`. */
static void merge_halves(const numbered *from, size_t middle, size_t end, numbered *to)
{
    for (size_t i = 0, a = 0, b = middle; i < end; i++) {
        const bool left = a < middle && (b >= end || from[a].number <= from[b].number);
        to[i] = left ? from[a++] : from[b++];
    }
}

static void sort(numbered *items, numbered *spare, size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t i = 0; i < count; i += 2 * width) {
            const size_t end = i + 2 * width < count ? 2 * width : count - i;
            merge_halves(items + i, width < end ? width : end, end, spare + i);
        }
        memcpy(items, spare, count * sizeof(*items));
    }
}

/* An object with numbers for keys as a list, in the order of the numbers; else the object. */
static weir__node *as_list(weir__resolver *r, weir__node *object)
{
    weir__hocon *document = r->document;
    const size_t members = object->object.count;
    size_t count = 0;
    numbered *items = weir__document_memory(document, (2 * members + 1) * sizeof(*items));
    if (items == NULL || !weir__work(r, members * WORK_OF_A_MEMBER, object->origin)) {
        return &weir__failed;
    }
    for (size_t i = 0; i < members; i++) {
        items[count].value = object->object.members[i].value;
        count += index_of(object->object.members[i].key, &items[count].number);
    }
    if (count == 0) {
        return object;
    }
    sort(items, items + members, count);
    weir__cell *list = weir__document_cell(document, WEIR__LIST, object->origin, sizeof(*list));
    for (size_t i = 0; list != NULL && i < count; i++) {
        list->open |= weir__is_open(items[i].value);
        if (!weir__list_append(document->tree, &list->node, items[i].value)) {
            weir__document_lack(document, 0);
            return &weir__failed;
        }
    }
    return list != NULL ? &list->node : &weir__failed;
}

/* --- concatenations --------------------------------------------------------------------------- */

static weir__node *fail_kinds(weir__resolver *r, const weir__node *at, const weir__node *left,
                              const weir__node *right)
{
    if ((int)at->kind == WEIR__CONCATENATION && ((const weir__concatenation *)at)->append) {
        return weir__resolve_fail(r, at->origin, "+= adds to a list, and the value before it is %s",
                                  weir__kind_name(left->kind));
    }
    const char *what =
        left->kind == WEIR__LIST || right->kind == WEIR__LIST
            ? "; a list is joined with lists only (and objects whose keys are numbers)"
            : "; an object is joined with objects only";
    return weir__resolve_fail(r, at->origin, "%s and %s cannot stand side by side in one value%s",
                              weir__kind_name(left->kind), weir__kind_name(right->kind), what);
}

static weir__node *join_two(weir__resolver *r, const weir__node *at, weir__node *left,
                            weir__node *right)
{
    if (left->kind == WEIR__OBJECT && right->kind == WEIR__LIST) {
        left = as_list(r, left);
    } else if (left->kind == WEIR__LIST && right->kind == WEIR__OBJECT) {
        right = as_list(r, right);
    }
    if (weir__is_answer(left) || weir__is_answer(right)) {
        return &weir__failed;
    }
    if (left->kind != right->kind) {
        return fail_kinds(r, at, left, right);
    }
    if (left->kind == WEIR__LIST) {
        return join_lists(r, left, right);
    }
    weir__cell *merged =
        weir__document_cell(r->document, WEIR__OBJECT, left->origin, sizeof(*merged));
    const bool hides = weir__cell_of(right)->cut;
    if (merged == NULL || (!hides && !weir__overlay(r, &merged->node, left)) ||
        !weir__overlay(r, &merged->node, right)) {
        return &weir__failed;
    }
    merged->cut = hides || weir__cell_of(left)->cut;
    return &merged->node;
}

static weir__text text_of(const weir__node *node)
{
    return node->kind == WEIR__NULL ? (weir__text){ "null", 4 } : node->text;
}

static weir__node *join_texts(weir__resolver *r, const weir__node *at, const weir__piece *heads,
                              size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        length += text_of(heads[i].node).length;
    }
    weir__hocon *document = r->document;
    if (!weir__work(r, length >> WORK_SHIFT, at->origin)) {
        return &weir__failed;
    }
    weir__node *joined = weir__node_string(document->tree, at->origin, NULL, 0);
    char *text = weir__document_memory(document, length + 1);
    if (joined == NULL || text == NULL) {
        weir__document_lack(document, length);
        return &weir__failed;
    }
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const weir__text piece = text_of(heads[i].node);
        memcpy(text + used, piece.bytes, piece.length);
        used += piece.length;
    }
    joined->text = (weir__text){ text, length };
    return joined;
}

/* What the pieces make whose heads are known and which are there. */
static weir__node *join(weir__resolver *r, const weir__node *at, const weir__piece *heads,
                        size_t count)
{
    bool container = false;
    for (size_t i = 0; i < count; i++) {
        container |= heads[i].node->kind >= WEIR__LIST;
    }
    if (count == 0) {
        return &weir__undefined;
    }
    if (!container) {
        return count == 1 && !heads[0].blank ? heads[0].node : join_texts(r, at, heads, count);
    }
    weir__node *joined = NULL;
    for (size_t i = 0; i < count; i++) {
        weir__node *next = heads[i].node;
        if (heads[i].blank) {
            continue; /* between lists and objects it means nothing */
        }
        if (joined != NULL && (joined->kind < WEIR__LIST || next->kind < WEIR__LIST)) {
            return fail_kinds(r, at, joined, next);
        }
        joined = joined == NULL ? next : join_two(r, at, joined, next);
        if (weir__is_answer(joined)) {
            return joined;
        }
    }
    return joined;
}

weir__node *weir__head_concatenation(weir__resolver *r, weir__concatenation *all,
                                     const weir__context *context, bool layer)
{
    weir__node *known = weir__remembered(r, &all->cell);
    if (known != NULL) {
        return known;
    }
    weir__piece *heads = weir__document_memory(r->document, all->count * sizeof(*heads));
    if (heads == NULL) {
        return &weir__failed;
    }
    weir__node *answer = NULL;
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        weir__node *piece = all->pieces[i].node;
        weir__node *head = weir__head(r, piece, context);
        if (layer && !weir__is_answer(head)) {
            head = weir__keep_context(r, head, context);
        }
        if (head == &weir__cycling || head == &weir__failed) {
            answer = answer == NULL || head == &weir__failed ? head : answer;
        } else if (head != &weir__undefined) {
            heads[count++] = (weir__piece){ head, all->pieces[i].blank };
        }
    }
    known = weir__remembered(r, &all->cell);
    if (known != NULL) {
        return known;
    }
    if (answer == NULL) {
        answer = join(r, &all->cell.node, heads, count);
    }
    return answer == &weir__cycling ? answer : weir__remember(r, &all->cell, answer);
}
