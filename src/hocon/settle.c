/*
 * hocon/settle.c - from the root down, every part becomes a plain value.
 *
 * What was substituted in several places is one and the same value in all of them; that is why its
 * size as a tree is counted, not only what it takes in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "hocon/resolve.h"
#include "hocon/text.h"

/* NOLINTBEGIN(misc-no-recursion): the depth of the settled tree is bounded */

/* --- size ------------------------------------------------------------------------------------- */

/* The size of a settled value as a tree, saturated. Its height is bounded by what was checked
 * before. */
static size_t measure(weir__node *node, uint8_t *height)
{
    if (!weir__is_cell(node)) {
        return sizeof(*node) + (node->kind == WEIR__NULL ? 0 : node->text.length);
    }
    weir__cell *cell = weir__cell_of(node);
    if (cell->size == 0) {
        const bool list = node->kind == WEIR__LIST;
        const size_t count = list ? node->list.count : node->object.count;
        size_t size = sizeof(*cell);
        uint8_t deepest = 0;
        for (size_t i = 0; i < count; i++) {
            weir__node *part = list ? node->list.items[i] : node->object.members[i].value;
            size += list ? sizeof(weir__node *)
                         : sizeof(weir__member) + node->object.members[i].key.length;
            uint8_t below = 0;
            const size_t more = measure(part, &below);
            size = more > SIZE_MAX / 2 - size ? SIZE_MAX / 2 : size + more;
            deepest = below > deepest ? below : deepest;
        }
        cell->size = size;
        cell->height = (uint8_t)(deepest + 1);
    }
    *height = cell->height;
    return cell->size;
}

static weir__node *measured(weir__resolver *r, weir__node *node, weir__origin origin)
{
    const weir__hocon_options *options = &r->document->options;
    uint8_t height = 0;
    if (measure(node, &height) > options->resolved_size_max) {
        r->document->spent = true;
        return weir__resolve_fail(r, origin,
                                  "the resolved value is larger than %zu bytes: substitutions that "
                                  "repeat what is itself repeated grow without measure",
                                  options->resolved_size_max);
    }
    if (height > options->depth_max + 1) {
        r->document->spent = true;
        return weir__resolve_fail(r, origin, "the resolved value is nested more than %u deep",
                                  options->depth_max);
    }
    return node;
}

/* --- parts ------------------------------------------------------------------------------------ */

/* A part that contains what it is a part of. */
static weir__node *settle_part(weir__resolver *r, weir__node *part)
{
    weir__node *value = weir__settle(r, part);
    if (value != &weir__cycling) {
        return value;
    }
    if ((int)part->kind != WEIR__REFERENCE) {
        return weir__resolve_fail(r, part->origin, "the value is a part of itself: a cycle");
    }
    const weir__reference *reference = (const weir__reference *)part;
    if (reference->optional) {
        return &weir__undefined;
    }
    const weir__written w = weir__reference_text(reference);
    return weir__resolve_fail(r, part->origin,
                              "%s is a part of the value that it stands for: a cycle", w.text);
}

static weir__node *settle_list(weir__resolver *r, const weir__node *list)
{
    weir__hocon *document = r->document;
    weir__cell *settled = weir__document_cell(document, WEIR__LIST, list->origin, sizeof(*settled));
    if (settled == NULL) {
        return &weir__failed;
    }
    bool failed = false;
    for (size_t i = 0; i < list->list.count && !document->spent; i++) {
        weir__node *item = settle_part(r, list->list.items[i]);
        if (weir__is_answer(item)) {
            failed |= item == &weir__failed;
        } else if (!weir__list_append(document->tree, &settled->node, item)) {
            weir__document_lack(document, 0);
        }
    }
    return failed || document->spent ? &weir__failed : &settled->node;
}

/* --- order ------------------------------------------------------------------------------------ */

/* The specification leaves open which of two keys is resolved first, and where their values look
 * back at each other the result depends on it. So that nobody gets another one than from the
 * reference, this is its order: that of a hash table of Java. */
static uint32_t java_hash(weir__text key)
{
    uint32_t hash = 0;
    for (size_t i = 0; i < key.length;) {
        const unsigned char a = (unsigned char)key.bytes[i];
        const size_t length = weir__utf8_length(key.bytes + i);
        uint32_t c = length == 1 ? a : a & (0xffu >> (length + 1));
        for (size_t k = 1; k < length && i + k < key.length; k++) {
            c = c << 6 | ((unsigned char)key.bytes[i + k] & 0x3f);
        }
        i += length;
        if (c >= 0x10000) {
            hash = hash * 31 + 0xd800 + ((c - 0x10000) >> 10);
            c = 0xdc00 + ((c - 0x10000) & 0x3ff);
        }
        hash = hash * 31 + c;
    }
    return hash ^ hash >> 16;
}

/* The positions of the members, in that order. NULL: no memory. */
static uint32_t *order_of(weir__resolver *r, const weir__node *object)
{
    const size_t count = object->object.count;
    size_t buckets = 16;
    while (count > buckets / 4 * 3) {
        buckets *= 2;
    }
    uint32_t *order = weir__document_memory(r->document, count * sizeof(*order) + 1);
    uint32_t *place = weir__document_memory(r->document, (buckets + 1) * sizeof(*place));
    if (order == NULL || place == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        place[(java_hash(object->object.members[i].key) & (buckets - 1)) + 1]++;
    }
    for (size_t i = 0; i < buckets; i++) {
        place[i + 1] += place[i];
    }
    for (size_t i = 0; i < count; i++) {
        order[place[java_hash(object->object.members[i].key) & (buckets - 1)]++] = (uint32_t)i;
    }
    return order;
}

/* The members that are there, by their old index as long as all are. */
static weir__node *settle_object(weir__resolver *r, const weir__node *object)
{
    weir__hocon *document = r->document;
    const size_t count = object->object.count;
    weir__cell *settled =
        weir__document_cell(document, WEIR__OBJECT, object->origin, sizeof(*settled));
    weir__member *members = weir__document_memory(document, count * sizeof(*members) + 1);
    if (settled == NULL || members == NULL) {
        return &weir__failed;
    }
    const uint32_t *order = order_of(r, object);
    bool failed = order == NULL;
    for (size_t i = 0; order != NULL && i < count && !document->spent; i++) {
        const weir__member *member = &object->object.members[order[i]];
        members[order[i]] = (weir__member){ member->key, settle_part(r, member->value) };
        failed |= members[order[i]].value == &weir__failed;
    }
    if (failed || document->spent) {
        return &weir__failed;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (members[i].value != &weir__undefined) {
            members[kept++] = members[i];
        }
    }
    if (kept == count) {
        settled->node.object.members = members;
        settled->node.object.count = settled->node.object.capacity = count;
        settled->node.object.index = object->object.index;
        settled->node.object.index_size = object->object.index_size;
        return &settled->node;
    }
    for (size_t i = 0; i < kept; i++) {
        if (!weir__object_set(document->tree, &settled->node, members[i].key.bytes,
                              members[i].key.length, members[i].value)) {
            weir__document_lack(document, 0);
            return &weir__failed;
        }
    }
    return &settled->node;
}

weir__node *weir__settle(weir__resolver *r, weir__node *node)
{
    if ((int)node->kind == WEIR__REFERENCE) {
        weir__follow(r, (weir__reference *)node);
    }
    weir__node *head = weir__head(r, node, NULL);
    if (weir__is_answer(head) || !weir__is_open(head)) {
        return head;
    }
    weir__cell *cell = weir__cell_of(head);
    weir__node *known = weir__remembered(r, cell);
    if (known != NULL) {
        return known;
    }
    if (cell->busy) {
        return &weir__cycling;
    }
    if (r->depth > r->document->options.depth_max) {
        r->document->spent = true;
        return weir__resolve_fail(r, node->origin, "the resolved value is nested more than %u deep",
                                  r->document->options.depth_max);
    }
    if (!weir__work(r, 1, node->origin)) {
        return &weir__failed;
    }
    cell->busy = true;
    r->depth++;
    weir__node *value = head->kind == WEIR__LIST ? settle_list(r, head) : settle_object(r, head);
    r->depth--;
    cell->busy = false;
    if (!weir__is_answer(value)) {
        value = measured(r, value, node->origin);
    }
    return weir__remember(r, cell, value);
}

/* NOLINTEND(misc-no-recursion) */
