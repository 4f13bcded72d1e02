/*
 * settings/fill.c - from the nodes of a tree to the members of a struct, with everything checked.
 *
 * A table nests as deep as it is written, and a tree is only followed where a row leads: so input
 * cannot drive the recursion.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings/fill.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "settings/config.h"
#include "tree/read.h"
#include "weir/component.h"

/* NOLINTBEGIN(misc-no-recursion): tables are as deep as they were written */

/* One value on its way. */
typedef struct value {
    weir__filler *filler;
    const weir_option *row;
    weir__node *node;
    weir__path *path;
    void *member;
    bool memory; /* false: there was none */
} value;

weir_option weir__row(const weir_option *rows, size_t i)
{
    weir_option row = { .struct_size = sizeof(row) };
    const size_t size = rows[0].struct_size;
    memcpy(&row, (const char *)rows + i * size, size < sizeof(row) ? size : sizeof(row));
    return row;
}

#define SAY(v, ...)                                                                                \
    weir__problems_add((v)->filler->problems, WEIR__ERROR, (v)->node->origin, (v)->path->text,     \
                       __VA_ARGS__)

/* ---- bounds ---- */

static void bound_text(const weir_option *row, double bound, char *out, size_t size)
{
    switch (row->kind) {
    case WEIR_OPTION_DURATION:
        weir__duration_text((weir_ns)bound, out, size);
        break;
    case WEIR_OPTION_BYTES:
        weir__bytes_text((uint64_t)bound, out, size);
        break;
    case WEIR_OPTION_DOUBLE:
        snprintf(out, size, "%g", bound);
        if (strpbrk(out, ".en") == NULL) { /* 1.0 */
            snprintf(out, size, "%.1f", bound);
        }
        break;
    default:
        snprintf(out, size, "%.0f", bound);
        break;
    }
}

static bool within(value *v, double number)
{
    const weir_option *row = v->row;
    if (row->min == 0 && row->max == 0 && !row->above) {
        return true;
    }
    const bool low = row->above ? !(number > row->min) : !(number >= row->min);
    const bool high = row->max != 0 && number > row->max;
    if (!low && !high) {
        return true;
    }
    char bound[48];
    weir__text shown = { "", 0 };
    (void)weir__read_text(v->node, &shown, &(weir__why){ .text = "" });
    bound_text(row, low ? row->min : row->max, bound, sizeof(bound));
    SAY(v, "%.60s is not %s %s", shown.bytes, high ? "<=" : row->above ? ">" : ">=", bound);
    return false;
}

/* ---- single values ---- */

/* A text that C can hold. NULL: said. */
static const char *text_of(value *v)
{
    weir__text text;
    weir__why why;
    if (!weir__read_text(v->node, &text, &why)) {
        SAY(v, "%s", why.text);
        return NULL;
    }
    if (memchr(text.bytes, '\0', text.length) != NULL) {
        SAY(v, "contains a zero byte, which no name or text of weir's can");
        return NULL;
    }
    return text.bytes;
}

static void fill_integer(value *v)
{
    weir__why why;
    int64_t number = 0;
    double exact = 0;
    if (!weir__read_long(v->node, &number, &why) || !weir__read_double(v->node, &exact, &why)) {
        SAY(v, "%s", why.text);
    } else if ((double)number != exact) {
        SAY(v, "%.60s is no whole number", v->node->text.bytes);
    } else if (within(v, exact)) {
        *(int64_t *)v->member = number;
    }
}

static void fill_double(value *v)
{
    weir__why why;
    double number = 0;
    if (!weir__read_double(v->node, &number, &why)) {
        SAY(v, "%s", why.text);
    } else if (within(v, number)) {
        *(double *)v->member = number;
    }
}

static bool is_one_of(const char *const *words, const char *text, int64_t *index)
{
    for (int64_t i = 0; words != NULL && words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

static void fill_duration(value *v)
{
    weir__why why;
    weir_ns duration = 0;
    int64_t index;
    if (v->node->kind == WEIR__STRING && is_one_of(v->row->words, v->node->text.bytes, &index)) {
        *(weir_ns *)v->member = WEIR_FOREVER;
        return;
    }
    const weir_ns unit = v->row->unit != 0 ? v->row->unit : WEIR_MS;
    if (!weir__read_duration(v->node, unit, &duration, &why)) {
        SAY(v, v->row->words != NULL ? "%s; or %s" : "%s", why.text,
            v->row->words != NULL ? v->row->words[0] : "");
    } else if (within(v, (double)duration)) {
        *(weir_ns *)v->member = duration;
    }
}

static void fill_bytes(value *v)
{
    weir__why why;
    uint64_t bytes = 0;
    if (!weir__read_bytes(v->node, &bytes, &why)) {
        SAY(v, "%s", why.text);
    } else if (within(v, (double)bytes)) {
        *(uint64_t *)v->member = bytes;
    }
}

static void fill_choice(value *v)
{
    const char *text = text_of(v);
    if (text == NULL || is_one_of(v->row->words, text, v->member)) {
        return;
    }
    char list[256] = "";
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; v->row->words != NULL && v->row->words[i] != NULL; i++) {
        const char *word = v->row->words[i];
        const size_t used = strlen(list), distance = weir__distance(text, word);
        snprintf(list + used, sizeof(list) - used, "%s%s", used > 0 ? ", " : "", word);
        if (distance < least && weir__distance_is_near(distance, text, word)) {
            least = distance;
            nearest = word;
        }
    }
    SAY(v, nearest != NULL ? "'%.60s' is none of %s; did you mean %s?" : "'%.60s' is none of %s%s",
        text, list, nearest != NULL ? nearest : "");
}

static void fill_boolean(value *v)
{
    weir__why why;
    if (!weir__read_boolean(v->node, v->member, &why)) {
        SAY(v, "%s", why.text);
    }
}

static void fill_text(value *v)
{
    const char *text = text_of(v);
    if (text != NULL) {
        *(const char **)v->member = text;
    }
}

/* ---- lists ---- */

static void *memory(value *v, size_t count, size_t size)
{
    void *got =
        count < SIZE_MAX / 2 / size ? weir__tree_memory(v->filler->tree, count * size) : NULL;
    v->memory = v->memory && got != NULL;
    return got;
}

/* The items of a list. False: said. */
static bool items_of(value *v, weir__node ***items, size_t *count, const char *example)
{
    static const char memory_text[] = "no memory to read it"; /* tree/why.c */
    weir__why why;
    if (v->node->kind != WEIR__LIST && v->node->kind != WEIR__OBJECT) {
        SAY(v, "is %s, must be a list: %s", weir__kind_name(v->node->kind), example);
        return false;
    }
    if (!weir__read_list(v->filler->tree, v->node, items, count, &why)) {
        if (strcmp(why.text, memory_text) == 0) {
            v->memory = false;
        } else {
            SAY(v, "%s", why.text);
        }
        return false;
    }
    return true;
}

static const char *const *texts(value *v)
{
    weir__node **items;
    size_t count;
    if (!items_of(v, &items, &count, "[\"a\", \"b\"]")) {
        return NULL;
    }
    const char **list = memory(v, count + 1, sizeof(*list));
    const size_t length = v->path->length;
    bool good = list != NULL;
    for (size_t i = 0; list != NULL && i < count; i++) {
        value item = *v;
        item.node = items[i];
        weir__path_index(v->path, i);
        list[i] = text_of(&item);
        good = good && list[i] != NULL;
        weir__path_cut(v->path, length);
    }
    return good ? list : NULL;
}

static void fill_lists(value *v)
{
    weir__node **items;
    size_t count;
    if (!items_of(v, &items, &count, "[[\"a\"], [\"a\", \"b\"]]")) {
        return;
    }
    const char *const **lists = memory(v, count + 1, sizeof(*lists));
    const size_t length = v->path->length;
    bool good = lists != NULL;
    for (size_t i = 0; lists != NULL && i < count; i++) {
        value item = *v;
        item.node = items[i];
        weir__path_index(v->path, i);
        lists[i] = texts(&item);
        good = good && lists[i] != NULL;
        v->memory = v->memory && item.memory;
        weir__path_cut(v->path, length);
    }
    if (good) {
        *(const char *const *const **)v->member = lists;
    }
}

static void fill_integers(value *v)
{
    weir__node **items;
    size_t count;
    if (!items_of(v, &items, &count, "[0, 1]")) {
        return;
    }
    int64_t *numbers = memory(v, count + 1, sizeof(*numbers));
    const size_t length = v->path->length;
    for (size_t i = 0; numbers != NULL && i < count; i++) {
        value item = *v;
        item.node = items[i];
        item.member = &numbers[i];
        weir__path_index(v->path, i);
        fill_integer(&item);
        weir__path_cut(v->path, length);
    }
    if (numbers != NULL) {
        *(weir_option_ints *)v->member = (weir_option_ints){ numbers, count };
    }
}

/* ---- targets: names now, handles when their components are there ---- */

static void fill_target(value *v)
{
    const char *name = text_of(v);
    if (name != NULL && name[0] == '\0') {
        SAY(v, "is empty; must name a component, a processor or a router");
    } else if (name != NULL) {
        ((weir_target *)v->member)->name = name;
    }
}

static void fill_targets(value *v)
{
    weir__node *single[] = { v->node };
    weir__node **items = single;
    size_t count = 1;
    if (v->node->kind != WEIR__STRING && !items_of(v, &items, &count, "[out, audit]")) {
        return;
    }
    weir_target *targets = memory(v, count + 1, sizeof(*targets));
    const size_t length = v->path->length;
    for (size_t i = 0; targets != NULL && i < count; i++) {
        value item = *v;
        item.node = items[i];
        item.member = &targets[i];
        weir__path_index(v->path, i);
        fill_target(&item);
        weir__path_cut(v->path, length);
    }
    if (targets != NULL) {
        *(weir_targets *)v->member = (weir_targets){ targets, count };
    }
}

/* ---- structs ---- */

static void fill_items(value *v)
{
    weir__node **items;
    size_t count;
    if (!items_of(v, &items, &count, "[{ ... }, { ... }]")) {
        return;
    }
    char *structs = memory(v, count + 1, v->row->item_size);
    const size_t length = v->path->length;
    for (size_t i = 0; structs != NULL && i < count; i++) {
        weir__path_index(v->path, i);
        v->memory = weir__fill(v->filler, v->row->rows, v->row->row_count, items[i], v->path,
                               structs + i * v->row->item_size) &&
                    v->memory;
        weir__path_cut(v->path, length);
    }
    if (structs != NULL) {
        *(weir_option_items *)v->member = (weir_option_items){ structs, count };
    }
}

static void fill_name(const weir_option *rows, size_t count, const char *name, void *out)
{
    for (size_t i = 0; i < count; i++) {
        const weir_option row = weir__row(rows, i);
        if (row.kind == WEIR_OPTION_NAME) {
            *(const char **)((char *)out + row.offset) = name;
        }
    }
}

static void fill_map(value *v)
{
    if (v->node->kind != WEIR__OBJECT) {
        SAY(v, "is %s, must be an object: { name { ... } }", weir__kind_name(v->node->kind));
        return;
    }
    const size_t count = v->node->object.count, length = v->path->length;
    char *structs = memory(v, count + 1, v->row->item_size);
    size_t kept = 0;
    for (size_t i = 0; structs != NULL && i < count; i++) {
        const weir__member *member = &v->node->object.members[i];
        if (member->value->kind == WEIR__NULL) {
            continue; /* taken back by a later layer */
        }
        char *out = structs + kept++ * v->row->item_size;
        weir__path_name(v->path, member->key.bytes);
        if (strlen(member->key.bytes) != member->key.length) {
            SAY(v, "contains a zero byte, which no name of weir's can");
        }
        v->memory =
            weir__fill(v->filler, v->row->rows, v->row->row_count, member->value, v->path, out) &&
            v->memory;
        fill_name(v->row->rows, v->row->row_count, member->key.bytes, out);
        weir__path_cut(v->path, length);
    }
    if (structs != NULL) {
        *(weir_option_items *)v->member = (weir_option_items){ structs, kept };
    }
}

/* ---- all of them ---- */

static void fill_one(value *v)
{
    const char *const *list;
    switch (v->row->kind) {
    case WEIR_OPTION_BOOL:
        fill_boolean(v);
        break;
    case WEIR_OPTION_INT:
        fill_integer(v);
        break;
    case WEIR_OPTION_DOUBLE:
        fill_double(v);
        break;
    case WEIR_OPTION_DURATION:
        fill_duration(v);
        break;
    case WEIR_OPTION_BYTES:
        fill_bytes(v);
        break;
    case WEIR_OPTION_ENUM:
        fill_choice(v);
        break;
    case WEIR_OPTION_STRING:
    case WEIR_OPTION_SECRET:
        fill_text(v);
        break;
    case WEIR_OPTION_LIST:
        list = texts(v);
        *(const char *const **)v->member = list;
        break;
    case WEIR_OPTION_LISTS:
        fill_lists(v);
        break;
    case WEIR_OPTION_INTS:
        fill_integers(v);
        break;
    case WEIR_OPTION_ITEMS:
        fill_items(v);
        break;
    case WEIR_OPTION_MAP:
        fill_map(v);
        break;
    case WEIR_OPTION_TARGET:
        fill_target(v);
        break;
    case WEIR_OPTION_TARGETS:
        fill_targets(v);
        break;
    case WEIR_OPTION_GROUP:
    case WEIR_OPTION_NAME:
    default:
        break;
    }
}

static void say_unknown(weir__filler *filler, const weir_option *rows, size_t count,
                        const weir__member *member, weir__path *path)
{
    weir__path nearest;
    const size_t length = path->length;
    /* Of a file of nonsense only so much is told: there is no use in looking for more. */
    const bool told = filler->problems->count < WEIR__PROBLEMS_MAX;
    const bool found =
        told && weir__nearest_key(filler, rows, count, path, member->key.bytes, &nearest);
    char list[300] = "";
    for (size_t i = 0; !found && i < count; i++) {
        const weir_option row = weir__row(rows, i);
        const size_t used = strlen(list);
        if (row.kind != WEIR_OPTION_NAME) {
            snprintf(list + used, sizeof(list) - used, "%s%s", used > 0 ? ", " : "", row.key);
        }
    }
    weir__path_name(path, member->key.bytes);
    if (found) {
        weir__problems_add(filler->problems, WEIR__ERROR, member->value->origin, path->text,
                           "is no key; did you mean %s?", nearest.text);
    } else {
        weir__problems_add(filler->problems, WEIR__ERROR, member->value->origin, path->text,
                           "is no key; here may stand: %s", list);
    }
    weir__path_cut(path, length);
}

static bool is_known(const weir_option *rows, size_t count, const weir__member *member)
{
    for (size_t i = 0; i < count; i++) {
        const weir_option row = weir__row(rows, i);
        if (row.kind != WEIR_OPTION_NAME && strlen(row.key) == member->key.length &&
            memcmp(row.key, member->key.bytes, member->key.length) == 0) {
            return true;
        }
    }
    return false;
}

static void find_unknown(weir__filler *filler, const weir_option *rows, size_t count,
                         weir__node *node, weir__path *path)
{
    for (size_t i = 0; i < node->object.count; i++) {
        const weir__member *member = &node->object.members[i];
        /* null takes a key back: no reason to complain of it any more. */
        if (!is_known(rows, count, member) && member->value->kind != WEIR__NULL) {
            say_unknown(filler, rows, count, member, path);
        }
    }
}

bool weir__fill_row(weir__filler *filler, const weir_option *row, weir__node *object,
                    weir__path *path, void *out)
{
    bool memory = true;
    weir__node *node =
        object != NULL ? weir__object_get(filler->tree, object, row->key, strlen(row->key)) : NULL;
    const size_t length = path->length;
    weir__path_name(path, row->key);
    if (row->kind == WEIR_OPTION_GROUP) {
        memory = weir__fill(filler, row->rows, row->row_count, node, path, out);
        weir__path_cut(path, length);
        return memory;
    }
    if (node == NULL || node->kind == WEIR__NULL) {
        if (row->required && object != NULL) {
            weir__problems_add(filler->problems, WEIR__ERROR,
                               weir__said(node != NULL ? node : object)->origin, path->text,
                               "is missing, and has no default");
        }
        node = weir__fallback(filler->tree, row, &memory);
    }
    if (node != NULL) {
        value v = { filler, row, node, path, (char *)out + row->offset, true };
        fill_one(&v);
        memory = v.memory;
    }
    weir__path_cut(path, length);
    return memory;
}

bool weir__fill(weir__filler *filler, const weir_option *rows, size_t count, weir__node *node,
                weir__path *path, void *out)
{
    bool memory = true;
    if (node != NULL && node->kind == WEIR__NULL) {
        node = NULL;
    }
    if (node != NULL && node->kind != WEIR__OBJECT) {
        weir__problems_add(filler->problems, WEIR__ERROR, node->origin, path->text,
                           "is %s, must be an object: { key = value }",
                           weir__kind_name(node->kind));
        return true;
    }
    if (node != NULL) {
        find_unknown(filler, rows, count, node, path);
    }
    for (size_t i = 0; i < count; i++) {
        const weir_option row = weir__row(rows, i);
        if (row.kind != WEIR_OPTION_NAME) {
            memory = weir__fill_row(filler, &row, node, path, out) && memory;
        }
    }
    return memory;
}

/* NOLINTEND(misc-no-recursion) */
