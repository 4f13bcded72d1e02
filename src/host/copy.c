/*
 * host/copy.c - a config struct and all that it points to, copied by the table of its options.
 *
 * A component outlives the configuration that it was read from, and the arrays in which the names
 * of its targets stand are where their handles are written to: so both are its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "host/copy.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "settings/fill.h"

/* NOLINTBEGIN(misc-no-recursion): tables are as deep as they were written, and that was checked */

/* One piece of memory; what was asked for lies behind it. */
typedef struct weir__config_part {
    struct weir__config_part *next;
    size_t size;
    _Alignas(16) unsigned char bytes[];
} part;

typedef struct copying {
    const weir_allocator *allocator;
    weir__config_copy *copy;
    bool memory; /* false: there was none */
} copying;

static void *take(copying *c, const void *from, size_t size, size_t room)
{
    part *p = weir__allocate(c->allocator, sizeof(*p) + room);
    if (p == NULL) {
        c->memory = false;
        return NULL;
    }
    p->size = sizeof(*p) + room;
    p->next = c->copy->parts;
    c->copy->parts = p;
    if (size > 0) {
        memcpy(p->bytes, from, size);
    }
    return p->bytes;
}

static const char *copy_text(copying *c, const char *text)
{
    return text != NULL ? take(c, text, strlen(text) + 1, strlen(text) + 1) : NULL;
}

static const char *const *copy_texts(copying *c, const char *const *texts)
{
    size_t count = 0;
    while (texts != NULL && texts[count] != NULL) {
        count++;
    }
    const char **list = texts != NULL ? take(c, NULL, 0, (count + 1) * sizeof(*list)) : NULL;
    for (size_t i = 0; list != NULL && i < count; i++) {
        list[i] = copy_text(c, texts[i]);
    }
    return list;
}

static const char *const *const *copy_lists(copying *c, const char *const *const *lists)
{
    size_t count = 0;
    while (lists != NULL && lists[count] != NULL) {
        count++;
    }
    const char *const **all = lists != NULL ? take(c, NULL, 0, (count + 1) * sizeof(*all)) : NULL;
    for (size_t i = 0; all != NULL && i < count; i++) {
        all[i] = copy_texts(c, lists[i]);
    }
    return all;
}

static void copy_targets(copying *c, weir_targets *targets)
{
    const size_t size = targets->count * sizeof(*targets->items);
    weir_target *items = targets->count > 0 ? take(c, targets->items, size, size) : NULL;
    for (size_t i = 0; items != NULL && i < targets->count; i++) {
        items[i] = (weir_target){ .name = copy_text(c, items[i].name) };
    }
    *targets = (weir_targets){ items, items != NULL ? targets->count : 0 };
}

static void copy_rows(copying *c, const weir_option *rows, size_t count, char *out);

static void copy_items(copying *c, const weir_option *row, weir_option_items *items)
{
    const size_t size = items->count * row->item_size;
    char *own = items->count > 0 ? take(c, items->items, size, size) : NULL;
    for (size_t i = 0; own != NULL && i < items->count; i++) {
        copy_rows(c, row->rows, row->row_count, own + i * row->item_size);
    }
    *items = (weir_option_items){ own, own != NULL ? items->count : 0 };
}

static void copy_row(copying *c, const weir_option *row, char *out)
{
    void *member = out + row->offset;
    weir_option_ints *ints = member;
    weir_target *target = member;
    switch (row->kind) {
    case WEIR_OPTION_STRING:
    case WEIR_OPTION_SECRET:
    case WEIR_OPTION_NAME:
        *(const char **)member = copy_text(c, *(const char **)member);
        break;
    case WEIR_OPTION_LIST:
        *(const char *const **)member = copy_texts(c, *(const char *const **)member);
        break;
    case WEIR_OPTION_LISTS:
        *(const char *const *const **)member = copy_lists(c, *(const char *const *const **)member);
        break;
    case WEIR_OPTION_INTS:
        ints->items = ints->count > 0 ? take(c, ints->items, ints->count * sizeof(*ints->items),
                                             ints->count * sizeof(*ints->items))
                                      : NULL;
        break;
    case WEIR_OPTION_TARGET:
        *target = (weir_target){ .name = copy_text(c, target->name) };
        break;
    case WEIR_OPTION_TARGETS:
        copy_targets(c, member);
        break;
    case WEIR_OPTION_ITEMS:
    case WEIR_OPTION_MAP:
        copy_items(c, row, member);
        break;
    case WEIR_OPTION_GROUP:
        copy_rows(c, row->rows, row->row_count, out);
        break;
    default: /* a number */
        break;
    }
}

static void copy_rows(copying *c, const weir_option *rows, size_t count, char *out)
{
    for (size_t i = 0; i < count && c->memory; i++) {
        const weir_option row = weir__row(rows, i);
        copy_row(c, &row, out);
    }
}

/* The table's fallbacks, into `out`; texts go into the tree, which the caller ends. */
static weir_status fill_fallbacks(const weir_component_type *type, weir__tree *tree,
                                  const weir_allocator *allocator, const char *name, void *out,
                                  weir_error *error)
{
    weir__problems problems = { .allocator = allocator };
    weir__filler filler = { tree, &problems, NULL };
    weir__path path;
    weir__path_begin(&path, name);
    weir__node *empty = weir__node_object(tree, (weir__origin){ .source = "" });
    const bool memory =
        empty != NULL && weir__fill(&filler, type->options, type->option_count, empty, &path, out);
    weir_status status = weir__problems_error(&problems, error);
    weir__problems_close(&problems);
    return status == WEIR_OK && !memory ? weir__error_memory(error, name) : status;
}

weir_status weir__config_copy_make(const weir_allocator *allocator, const weir_component_type *type,
                                   const void *config, const char *name, weir__config_copy *out,
                                   weir_error *error)
{
    copying c = { allocator, out, true };
    weir_status status = WEIR_OK;
    *out = (weir__config_copy){ 0 };
    if (type->config_size == 0) {
        return WEIR_OK;
    }
    weir__tree *tree = config == NULL ? weir__tree_create(allocator, 0) : NULL;
    out->config = take(&c, config, config != NULL ? type->config_size : 0, type->config_size);
    if (out->config == NULL || (config == NULL && tree == NULL)) {
        status = weir__error_memory(error, name);
    } else if (config == NULL) {
        status = fill_fallbacks(type, tree, allocator, name, out->config, error);
    }
    if (status == WEIR_OK) {
        copy_rows(&c, type->options, type->option_count, out->config);
        status = c.memory ? WEIR_OK : weir__error_memory(error, name);
    }
    weir__tree_destroy(tree);
    if (status != WEIR_OK) {
        weir__config_copy_free(allocator, out);
    }
    return status;
}

void weir__config_copy_free(const weir_allocator *allocator, weir__config_copy *copy)
{
    while (copy->parts != NULL) {
        part *p = copy->parts;
        copy->parts = p->next;
        weir__release(allocator, p, p->size);
    }
    copy->config = NULL;
}

/* ---- targets ---- */

static bool visit_rows(const weir_option *rows, size_t count, char *at, weir__target_visitor visit,
                       void *context)
{
    bool more = true;
    for (size_t i = 0; i < count && more; i++) {
        const weir_option row = weir__row(rows, i);
        void *member = at + row.offset;
        const weir_targets *targets = member;
        const weir_option_items *items = member;
        switch (row.kind) {
        case WEIR_OPTION_TARGET:
            more = ((weir_target *)member)->name == NULL || visit(context, row.key, member);
            break;
        case WEIR_OPTION_TARGETS:
            for (size_t k = 0; k < targets->count && more; k++) {
                weir_target *target = (weir_target *)(uintptr_t)&targets->items[k];
                more = target->name == NULL || visit(context, row.key, target);
            }
            break;
        case WEIR_OPTION_GROUP:
            more = visit_rows(row.rows, row.row_count, at, visit, context);
            break;
        case WEIR_OPTION_ITEMS:
        case WEIR_OPTION_MAP:
            for (size_t k = 0; k < items->count && more; k++) {
                more =
                    visit_rows(row.rows, row.row_count,
                               (char *)(uintptr_t)items->items + k * row.item_size, visit, context);
            }
            break;
        default:
            break;
        }
    }
    return more;
}

bool weir__config_targets(const weir_component_type *type, void *config, weir__target_visitor visit,
                          void *context)
{
    return config == NULL || visit_rows(type->options, type->option_count, config, visit, context);
}

/* NOLINTEND(misc-no-recursion) */
