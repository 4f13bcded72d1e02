/*
 * connect/yaml_build.c - a stack of what has begun and not ended. A value is finished first and
 * put into its place then.
 *
 * An alias becomes a copy, so that the tree is one and not a net that somebody unfolds later; how
 * much copies may come to is bounded, and so is their depth.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/yaml_build.h"

#include <string.h>

#include "base/memory.h"
#include "connect/yaml_scalar.h"

enum { PLACES_FIRST = 8 };

static weir__yaml_frame *top(weir__yaml_builder *b)
{
    return b->depth > 0 ? &b->frames[b->depth - 1] : NULL;
}

static bool no_memory(weir__yaml_builder *b)
{
    weir__problems_memory(b->problems);
    return false;
}

bool weir__yaml_build_open(weir__yaml_builder *b)
{
    b->frames = weir__allocate(b->tree->allocator, b->depth_max * sizeof(*b->frames));
    b->anchors = weir__node_object(b->tree, (weir__origin){ 0 });
    return b->frames != NULL && b->anchors != NULL;
}

static void release_places(weir__yaml_builder *b, weir__yaml_frame *f)
{
    weir__release(b->tree->allocator, f->places, f->place_capacity * sizeof(*f->places));
    f->places = NULL;
}

void weir__yaml_build_close(weir__yaml_builder *b)
{
    while (b->depth > 0) {
        release_places(b, &b->frames[--b->depth]);
    }
    weir__release(b->tree->allocator, b->frames, b->depth_max * sizeof(*b->frames));
    b->frames = NULL;
}

/* --- keys ------------------------------------------------------------------------------------- */

static bool keep_place(weir__yaml_builder *b, weir__yaml_frame *f, weir__origin origin)
{
    if (f->place_count == f->place_capacity) {
        const size_t capacity = f->place_capacity == 0 ? PLACES_FIRST : f->place_capacity * 2;
        weir__origin *places = weir__allocate_raw(b->tree->allocator, capacity * sizeof(*places));
        if (places == NULL) {
            return no_memory(b);
        }
        if (f->place_count > 0) {
            memcpy(places, f->places, f->place_count * sizeof(*places));
        }
        release_places(b, f);
        f->places = places;
        f->place_capacity = capacity;
    }
    f->places[f->place_count++] = origin;
    return true;
}

/* Where a key of the mapping stands. Only for messages: it looks at all of them. */
static weir__origin place_of(const weir__yaml_frame *f, weir__text key)
{
    for (size_t i = 0; i < f->place_count; i++) {
        const weir__text other = f->node->object.members[i].key;
        if (other.length == key.length && memcmp(other.bytes, key.bytes, key.length) == 0) {
            return f->places[i];
        }
    }
    return (weir__origin){ 0 };
}

static void tell_twice(weir__yaml_builder *b, const weir__yaml_frame *f, weir__text key,
                       weir__origin origin)
{
    const bool shown = b->problems->count < WEIR__PROBLEMS_MAX;
    const weir__origin first = shown ? place_of(f, key) : origin;
    weir__problems_add(b->problems, WEIR__ERROR, origin, NULL,
                       "the key '%.60s' is there already, at line %u, column %u: one of them has "
                       "to go",
                       key.bytes, first.line, first.column);
}

/* A scalar where a key is due. */
static bool take_key(weir__yaml_builder *b, weir__yaml_frame *f, const weir__yaml_value *value)
{
    f->has_key = true;
    f->drop = false;
    f->merge = value->plain && value->text.length == 2 && memcmp(value->text.bytes, "<<", 2) == 0;
    f->key_origin = value->origin;
    if (f->merge) {
        return true;
    }
    if (!weir__tree_text(b->tree, value->text.bytes, value->text.length, &f->key)) {
        return no_memory(b);
    }
    if (weir__object_get(b->tree, f->node, f->key.bytes, f->key.length) != NULL) {
        tell_twice(b, f, f->key, value->origin);
        f->drop = true;
    }
    return true;
}

static bool is_key_due(const weir__yaml_frame *f)
{
    return f != NULL && f->node->kind == WEIR__OBJECT && !f->has_key;
}

/* What is no scalar came where a key is due: it is read, and thrown away with its value. */
static void refuse_key(weir__yaml_builder *b, weir__origin origin, const char *what)
{
    weir__problems_add(b->problems, WEIR__ERROR, origin, NULL,
                       "%s cannot be a key here: a key is a text", what);
}

/* --- values ----------------------------------------------------------------------------------- */

/* For <<: a mapping, or a list of them. They count at the end of the mapping, behind its own. */
static bool take_merge(weir__yaml_builder *b, weir__yaml_frame *f, weir__node *value)
{
    bool good = value->kind == WEIR__OBJECT || value->kind == WEIR__LIST;
    const size_t count = value->kind == WEIR__LIST ? value->list.count : 1;
    if (good && f->merges == NULL) {
        f->merges = weir__node_list(b->tree, value->origin);
        if (f->merges == NULL) {
            return no_memory(b);
        }
    }
    for (size_t i = 0; good && i < count; i++) {
        weir__node *one = value->kind == WEIR__LIST ? value->list.items[i] : value;
        good = one->kind == WEIR__OBJECT;
        if (good && !weir__list_append(b->tree, f->merges, one)) {
            return no_memory(b);
        }
    }
    if (!good) {
        weir__problems_add(b->problems, WEIR__ERROR, f->key_origin, NULL,
                           "<< takes a mapping or a list of mappings, as in <<: *defaults");
    }
    return true;
}

static bool place_value(weir__yaml_builder *b, weir__node *node)
{
    weir__yaml_frame *f = top(b);
    if (f == NULL) {
        b->tree->root = node;
        return true;
    }
    if (f->node->kind == WEIR__LIST) {
        return weir__list_append(b->tree, f->node, node) || no_memory(b);
    }
    if (!f->has_key) { /* a key that was refused has ended; its value is still to come */
        f->has_key = f->drop = true;
        f->merge = false;
        return true;
    }
    f->has_key = false;
    if (f->merge) {
        return take_merge(b, f, node);
    }
    if (f->drop) {
        return true;
    }
    if (!weir__object_set(b->tree, f->node, f->key.bytes, f->key.length, node)) {
        return no_memory(b);
    }
    return keep_place(b, f, f->key_origin);
}

static bool set_anchor(weir__yaml_builder *b, weir__text anchor, weir__node *node)
{
    return anchor.bytes == NULL ||
           weir__object_set(b->tree, b->anchors, anchor.bytes, anchor.length, node) || no_memory(b);
}

bool weir__yaml_build_scalar(weir__yaml_builder *b, const weir__yaml_value *value)
{
    weir__yaml_frame *f = top(b);
    const bool key = is_key_due(f);
    if (key && value->anchor.bytes == NULL) {
        return take_key(b, f, value);
    }
    weir__node *node = weir__yaml_scalar(b, value);
    if (node == NULL || !set_anchor(b, value->anchor, node)) {
        return false;
    }
    return key ? take_key(b, f, value) : place_value(b, node);
}

bool weir__yaml_build_begin(weir__yaml_builder *b, weir__kind kind, const weir__yaml_value *value)
{
    if (is_key_due(top(b))) {
        refuse_key(b, value->origin, kind == WEIR__LIST ? "a list" : "a mapping");
    }
    if (b->depth == b->depth_max) {
        weir__problems_add(b->problems, WEIR__ERROR, value->origin, NULL,
                           "is nested deeper than %u levels, the most that is read", b->depth_max);
        return false;
    }
    weir__node *node = kind == WEIR__LIST ? weir__node_list(b->tree, value->origin)
                                          : weir__node_object(b->tree, value->origin);
    if (node == NULL) {
        return no_memory(b);
    }
    b->frames[b->depth++] = (weir__yaml_frame){ .node = node };
    weir__text name;
    if (value->tag.bytes != NULL && !weir__yaml_tag_is_standard(value->tag, &name) &&
        !weir__tree_text(b->tree, value->tag.bytes, value->tag.length, &top(b)->tag)) {
        return no_memory(b);
    }
    return set_anchor(b, value->anchor, node);
}

/* --- the end of a mapping --------------------------------------------------------------------- */

/* The mapping's own keys win over merged ones, and earlier merges over later ones. */
static bool merge(weir__yaml_builder *b, const weir__yaml_frame *f)
{
    for (size_t i = 0; f->merges != NULL && i < f->merges->list.count; i++) {
        const weir__node *from = f->merges->list.items[i];
        for (size_t k = 0; k < from->object.count; k++) {
            const weir__member *member = &from->object.members[k];
            if (weir__object_get(b->tree, f->node, member->key.bytes, member->key.length) == NULL &&
                !weir__object_set(b->tree, f->node, member->key.bytes, member->key.length,
                                  member->value)) {
                return no_memory(b);
            }
        }
    }
    return true;
}

/* See yaml.h: a tag of one's own is what the settings may want to know. */
static bool apply_tag(weir__yaml_builder *b, const weir__yaml_frame *f)
{
    weir__text name;
    if (f->tag.bytes == NULL || (f->tag.length == 1 && f->tag.bytes[0] == '!')) {
        return true;
    }
    weir__node *node = f->node;
    name = weir__yaml_tag_name(f->tag);
    if (node->kind == WEIR__LIST) {
        weir__problems_add(b->problems, WEIR__NOTE, node->origin, NULL,
                           "the tag %.80s has no meaning here: the list is read without it",
                           f->tag.bytes);
        return true;
    }
    weir__text text;
    if (!weir__tree_text(b->tree, name.bytes, name.length, &text)) {
        return no_memory(b);
    }
    if (node->object.count == 0) { /* in place: an anchor may know the node */
        node->kind = WEIR__STRING;
        node->text = text;
        return true;
    }
    weir__node *type = weir__node_string(b->tree, node->origin, text.bytes, text.length);
    return (type != NULL && weir__object_set(b->tree, node, "!", 1, type)) || no_memory(b);
}

bool weir__yaml_build_end(weir__yaml_builder *b)
{
    weir__yaml_frame f = b->frames[--b->depth];
    release_places(b, &f);
    return merge(b, &f) && apply_tag(b, &f) && place_value(b, f.node);
}

/* --- aliases ---------------------------------------------------------------------------------- */

/* A list or an object that is being copied. */
typedef struct copying {
    const weir__node *from;
    weir__node *to;
    size_t next;
} copying;

typedef struct copier {
    weir__yaml_builder *b;
    weir__origin origin; /* of the alias */
    copying *stack;
    uint32_t depth;
} copier;

static bool is_nested(const weir__node *node)
{
    return node->kind == WEIR__LIST || node->kind == WEIR__OBJECT;
}

/* One node; what is in it follows by the stack. NULL: see the problems. */
static weir__node *copy_one(copier *c, const weir__node *from, size_t key_length)
{
    weir__yaml_builder *b = c->b;
    const size_t size = sizeof(weir__node) + sizeof(weir__member) + key_length +
                        (is_nested(from) ? 0 : from->text.length);
    if (size > b->alias_size_left) {
        weir__problems_add(b->problems, WEIR__ERROR, c->origin, NULL,
                           "aliases stand for more than can be read: this one passes the bound");
        return NULL;
    }
    b->alias_size_left -= size;
    if (is_nested(from) && b->depth + c->depth >= b->depth_max) {
        weir__problems_add(b->problems, WEIR__ERROR, c->origin, NULL,
                           "what this alias stands for is nested deeper than %u levels, the most "
                           "that is read",
                           b->depth_max);
        return NULL;
    }
    weir__node *to = from->kind == WEIR__LIST ? weir__node_list(b->tree, from->origin)
                                              : weir__node_object(b->tree, from->origin);
    if (to == NULL) {
        weir__problems_memory(b->problems);
        return NULL;
    }
    if (is_nested(from)) {
        c->stack[c->depth++] = (copying){ .from = from, .to = to };
    } else {
        *to = *from; /* the text is nobody's to change: it is shared */
    }
    return to;
}

/* The next item of what is on top of the stack. */
static bool copy_step(copier *c)
{
    copying *at = &c->stack[c->depth - 1];
    const bool list = at->from->kind == WEIR__LIST;
    if (at->next == (list ? at->from->list.count : at->from->object.count)) {
        c->depth--;
        return true;
    }
    const size_t i = at->next++;
    const weir__member *member = list ? NULL : &at->from->object.members[i];
    weir__node *item = list ? copy_one(c, at->from->list.items[i], 0)
                            : copy_one(c, member->value, member->key.length);
    if (item == NULL) {
        return false;
    }
    return (list ? weir__list_append(c->b->tree, at->to, item)
                 : weir__object_set(c->b->tree, at->to, member->key.bytes, member->key.length,
                                    item)) ||
           no_memory(c->b);
}

static weir__node *copy(weir__yaml_builder *b, const weir__node *from, weir__origin origin)
{
    const size_t size = (b->depth_max + 1) * sizeof(copying);
    copier c = { .b = b, .origin = origin, .stack = weir__allocate_raw(b->tree->allocator, size) };
    if (c.stack == NULL) {
        weir__problems_memory(b->problems);
        return NULL;
    }
    weir__node *to = copy_one(&c, from, 0);
    bool good = to != NULL;
    while (good && c.depth > 0) {
        good = copy_step(&c);
    }
    weir__release(b->tree->allocator, c.stack, size);
    return good ? to : NULL;
}

bool weir__yaml_build_alias(weir__yaml_builder *b, const weir__yaml_value *value)
{
    const weir__text name = value->anchor;
    const weir__node *from = weir__object_get(b->tree, b->anchors, name.bytes, name.length);
    if (is_key_due(top(b))) {
        refuse_key(b, value->origin, "an alias");
    } else if (from == NULL) {
        weir__problems_add(b->problems, WEIR__ERROR, value->origin, NULL,
                           "there is no anchor &%.60s above this alias", name.bytes);
    }
    weir__node *to = NULL;
    for (uint32_t i = 0; i < b->depth && from != NULL; i++) {
        if (b->frames[i].node == from) {
            weir__problems_add(b->problems, WEIR__ERROR, value->origin, NULL,
                               "the alias *%.60s stands in what it stands for", name.bytes);
            from = NULL;
        }
    }
    to = from != NULL ? copy(b, from, value->origin) : weir__node_null(b->tree, value->origin);
    if (to == NULL) {
        return from != NULL ? false : no_memory(b);
    }
    return place_value(b, to);
}
