/*
 * host/descriptor.c - whether a plugin's tables are such that the rest may rely on them.
 *
 * A plugin is code, so it is trusted; its tables are checked because a mistake in them (an offset
 * of another struct, a key twice, a fallback that does not read) would show much later, as
 * something else. What is pointed to is taken for readable: nobody can check that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "host/descriptor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "settings/fill.h"
#include "weir/component.h"

#define ROWS_MAX 1000u
#define TYPES_MAX 1000u
#define DEPTH_MAX 8u
#define WORDS_MAX 1000u
#define NAME_MAX_BYTES 30u /* what fits into a weir_service_change */
#define TEXT_MAX 4096u
#define NUMBER_MOST 9.223372036854774e18 /* an int64_t, as a double below it */
#define SIZE_MOST ((size_t)1 << 30)

/* Keys that every component has: the rows of a type stand beside them in a file. */
static const char *const weirs_keys[] = {
    "type",  "thread",      "dispatcher", "instances",  "feeds",
    "after", "mailbox-max", "overflow",   "on-failure", "feed",
};

/* Where the check is, for its message. */
typedef struct place {
    const char *plugin; /* "plugin market: ", or "" */
    const char *type;
    weir_error *error;
    size_t config_size;
    uint32_t depth;
    bool map;      /* the rows are those of a map's items */
    bool top;      /* they stand beside weir's own keys */
    weir__path at; /* of the key */
} place;

#define REFUSE(p, ...) refuse(p, WEIR_E_INVALID, __VA_ARGS__)

__attribute__((format(printf, 3, 4))) static weir_status refuse(const place *p, weir_status status,
                                                                const char *format, ...)
{
    char text[200], path[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    snprintf(path, sizeof(path), "%s%s%.40s%s%.60s", p->plugin, p->type != NULL ? "type " : "",
             p->type != NULL ? p->type : "", p->at.length > 0 ? ", key " : "", p->at.text);
    return weir__error_at(p->error, status, path, "%s", text);
}

/* ---- texts ---- */

/* Small letters, digits and hyphens, a letter first. */
static bool is_kebab(const char *text, size_t most)
{
    size_t length = 0;
    for (; text[length] != '\0'; length++) {
        const char c = text[length];
        const bool letter = c >= 'a' && c <= 'z';
        if (length >= most || !(letter || (length > 0 && ((c >= '0' && c <= '9') || c == '-')))) {
            return false;
        }
    }
    return length > 0;
}

static bool is_brief(const char *text)
{
    return text == NULL || strnlen(text, TEXT_MAX) < TEXT_MAX;
}

/* ---- rows ---- */

typedef struct extent {
    size_t size, alignment;
} extent;

#define EXTENT(T) ((extent){ sizeof(T), _Alignof(T) })

/* Of the member that a row fills; size 0: unknown kind. A group fills none. */
static extent extent_of(weir_option_kind kind)
{
    switch (kind) {
    case WEIR_OPTION_STRING:
    case WEIR_OPTION_SECRET:
    case WEIR_OPTION_NAME:
    case WEIR_OPTION_LIST:
    case WEIR_OPTION_LISTS:
        return EXTENT(const char *);
    case WEIR_OPTION_BOOL:
        return EXTENT(bool);
    case WEIR_OPTION_INT:
    case WEIR_OPTION_ENUM:
    case WEIR_OPTION_DURATION:
    case WEIR_OPTION_BYTES:
        return EXTENT(int64_t);
    case WEIR_OPTION_DOUBLE:
        return EXTENT(double);
    case WEIR_OPTION_INTS:
        return EXTENT(weir_option_ints);
    case WEIR_OPTION_ITEMS:
    case WEIR_OPTION_MAP:
        return EXTENT(weir_option_items);
    case WEIR_OPTION_TARGET:
        return EXTENT(weir_target);
    case WEIR_OPTION_TARGETS:
        return EXTENT(weir_targets);
    case WEIR_OPTION_GROUP:
        return (extent){ 1, 1 };
    default:
        return (extent){ 0, 1 };
    }
}

static weir_status check_words(const place *p, const weir_option *row)
{
    size_t count = 0;
    while (row->words != NULL && row->words[count] != NULL && count <= WORDS_MAX) {
        if (row->words[count][0] == '\0' || !is_brief(row->words[count])) {
            return REFUSE(p, "has an empty word, or one beyond %u bytes", TEXT_MAX);
        }
        count++;
    }
    if (count > WORDS_MAX) {
        return REFUSE(p, "has more than %u words: does the list end with NULL?", WORDS_MAX);
    }
    if (row->kind == WEIR_OPTION_ENUM && count == 0) {
        return REFUSE(p, "is a choice without words to choose from");
    }
    return WEIR_OK;
}

/* By the code that will read it. */
static weir_status check_fallback(const place *p, const weir_option *row)
{
    weir_error found = WEIR_ERROR_INIT;
    const weir_allocator *allocator = weir__allocator_default();
    union {
        weir_target target;
        weir_option_items items;
        double number;
    } scratch;
    memset(&scratch, 0, sizeof(scratch));
    weir_option alone = *row;
    alone.offset = 0;
    weir__tree *tree = weir__tree_create(allocator, 0);
    weir__problems problems = { .allocator = allocator };
    weir__filler filler = { tree, &problems, NULL };
    weir__path path;
    weir__path_begin(&path, "");
    const bool memory = tree != NULL && weir__fill_row(&filler, &alone, NULL, &path, &scratch);
    const weir_status status = weir__problems_error(&problems, &found);
    weir__problems_close(&problems);
    weir__tree_destroy(tree);
    if (status == WEIR_E_NOMEM || (status == WEIR_OK && !memory)) {
        return weir__error_memory(p->error, "weir_plugin_check");
    }
    return status == WEIR_OK
               ? WEIR_OK
               : REFUSE(p, "has the fallback \"%.60s\": %.120s", row->fallback, found.text);
}

static weir_status check_rows(place *p, const weir_option *rows, size_t count);

/* NOLINTBEGIN(misc-no-recursion): DEPTH_MAX bounds it */
static weir_status check_within(const place *p, const weir_option *row)
{
    const bool items = row->kind == WEIR_OPTION_ITEMS || row->kind == WEIR_OPTION_MAP;
    if (!items && row->kind != WEIR_OPTION_GROUP) {
        return WEIR_OK;
    }
    if (row->rows == NULL || row->row_count == 0) {
        return REFUSE(p, "needs rows of its own");
    }
    if (items && (row->item_size == 0 || row->item_size > SIZE_MOST)) {
        return REFUSE(p, "has an item_size of %zu", row->item_size);
    }
    if (row->fallback != NULL) {
        return REFUSE(p, "has a fallback; those of its rows are enough");
    }
    if (p->depth == DEPTH_MAX) {
        return REFUSE(p, "is nested deeper than %u", DEPTH_MAX);
    }
    place inner = *p;
    inner.depth++;
    inner.top = false;
    inner.map = row->kind == WEIR_OPTION_MAP;
    inner.config_size = items ? row->item_size : p->config_size;
    return check_rows(&inner, row->rows, row->row_count);
}

static bool is_weirs_key(const char *key)
{
    for (size_t i = 0; i < sizeof(weirs_keys) / sizeof(weirs_keys[0]); i++) {
        if (strcmp(weirs_keys[i], key) == 0) {
            return true;
        }
    }
    return false;
}

/* Neither the wrong way round, nor no number, nor beyond what the member can hold. */
static bool bounds_are_sane(const weir_option *row)
{
    const bool whole = row->kind == WEIR_OPTION_DURATION || row->kind == WEIR_OPTION_BYTES;
    const double least = row->kind == WEIR_OPTION_BYTES ? 0 : -NUMBER_MOST;
    const bool ordered = row->min <= row->max || (row->max == 0 && row->min == row->min);
    return ordered && (!whole || (row->min >= least && row->min <= NUMBER_MOST &&
                                  row->max >= least && row->max <= NUMBER_MOST));
}

static weir_status check_row(const place *p, const weir_option *row)
{
    const extent member = extent_of(row->kind);
    if (p->top && row->key != NULL && is_weirs_key(row->key)) {
        return REFUSE(p, "is a key that every component has: take another name");
    }
    if (member.size == 0) {
        return REFUSE(p, "is of kind %d, which this weir does not know", (int)row->kind);
    }
    if (row->kind == WEIR_OPTION_NAME && !p->map) {
        return REFUSE(p, "is the name of a map's item, and there is no map");
    }
    if (row->kind != WEIR_OPTION_GROUP) {
        if (member.size > p->config_size || row->offset > p->config_size - member.size) {
            return REFUSE(p, "fills %zu bytes at offset %zu, outside the struct of %zu bytes",
                          member.size, row->offset, p->config_size);
        }
        if (row->offset % member.alignment != 0) {
            return REFUSE(p, "fills a member at offset %zu, where none of its kind can be",
                          row->offset);
        }
    }
    if (!bounds_are_sane(row)) {
        return REFUSE(p, "has a min of %g and a max of %g", row->min, row->max);
    }
    if (row->unit < 0) {
        return REFUSE(p, "has a unit below zero");
    }
    if (!is_brief(row->fallback) || !is_brief(row->help) || !is_brief(row->since)) {
        return REFUSE(p, "has a text beyond %u bytes", TEXT_MAX);
    }
    weir_status status = check_words(p, row);
    status = status == WEIR_OK ? check_within(p, row) : status;
    return status == WEIR_OK && row->fallback != NULL ? check_fallback(p, row) : status;
}

static weir_status check_stride(const place *p, const weir_option *rows, size_t count)
{
    /* The least that a row can be: up to where its member is. */
    const size_t least = offsetof(weir_option, offset) + sizeof(rows[0].offset);
    const size_t stride = rows[0].struct_size;
    if (count > ROWS_MAX) {
        return REFUSE(p, "has %zu options; at most %u", count, ROWS_MAX);
    }
    if (stride < least || stride > TEXT_MAX || stride % _Alignof(weir_option) != 0) {
        return REFUSE(p, "has options whose struct_size is %zu: use WEIR_KEY", stride);
    }
    for (size_t i = 0; i < count; i++) {
        size_t own;
        memcpy(&own, (const char *)rows + i * stride, sizeof(own));
        if (own != stride) {
            return REFUSE(p, "has options of different struct_size: use WEIR_KEY for each");
        }
    }
    return WEIR_OK;
}

static weir_status check_key(place *p, const weir_option *rows, size_t i, const char *key)
{
    if (key == NULL || !is_kebab(key, 63)) {
        return REFUSE(p, "option %zu has %s%.40s; must be small letters, digits and hyphens", i + 1,
                      key == NULL ? "no key" : "the key ", key == NULL ? "" : key);
    }
    for (size_t k = 0; k < i; k++) {
        const weir_option other = weir__row(rows, k);
        if (other.key != NULL && strcmp(other.key, key) == 0) {
            return REFUSE(p, "has the key %s twice", key);
        }
    }
    return WEIR_OK;
}

static weir_status check_rows(place *p, const weir_option *rows, size_t count)
{
    weir_status status = check_stride(p, rows, count);
    for (size_t i = 0; i < count && status == WEIR_OK; i++) {
        const weir_option row = weir__row(rows, i);
        const size_t length = p->at.length;
        status = row.kind == WEIR_OPTION_NAME && row.key == NULL ? WEIR_OK
                                                                 : check_key(p, rows, i, row.key);
        if (status == WEIR_OK) {
            weir__path_name(&p->at, row.key != NULL ? row.key : "(name)");
            status = check_row(p, &row);
            weir__path_cut(&p->at, length);
        }
    }
    return status;
}
/* NOLINTEND(misc-no-recursion) */

/* ---- types ---- */

/* The same as for options; but no compiler makes a struct that ends within one of its pointers. */
static weir_status read_whole(void *target, size_t target_size, const void *source)
{
    size_t size;
    memcpy(&size, source, sizeof(size));
    return size % _Alignof(void *) != 0 ? WEIR_E_INVALID
                                        : weir__options_read(target, target_size, source);
}

static weir_status check_hooks(const place *p, const weir_component_type *type)
{
    const bool handles = type->handler != NULL || type->cases.count > 0;
    if (type->handler != NULL && type->cases.count > 0) {
        return REFUSE(p, "has a handler and cases: one of them");
    }
    if (type->cases.count > 0 && type->cases.rows == NULL) {
        return REFUSE(p, "has %zu cases and no table of them", type->cases.count);
    }
    switch (type->kind) {
    case WEIR_KIND_SOURCE:
        if (handles || type->flush != NULL) {
            return REFUSE(p, "is a source: it publishes, and cannot have a handler or flush");
        }
        break;
    case WEIR_KIND_SINK:
    case WEIR_KIND_PROCESSOR:
        if (!handles) {
            return REFUSE(p, "is a %s, and needs a handler or cases",
                          type->kind == WEIR_KIND_SINK ? "sink" : "processor");
        }
        break;
    case WEIR_KIND_SERVICE:
        break;
    default:
        return REFUSE(p, "is of kind %d, which this weir does not know", (int)type->kind);
    }
    if (type->commit != NULL && type->kind != WEIR_KIND_SOURCE) {
        return REFUSE(p, "has a commit hook, which only a source can have");
    }
    if (type->publishes && type->kind != WEIR_KIND_SOURCE && !handles) {
        return REFUSE(p, "publishes, but is no source and has no handler that could");
    }
    if (type->flush != NULL && type->kind != WEIR_KIND_SINK) {
        return REFUSE(p, "has a flush hook, which only a sink can have");
    }
    return WEIR_OK;
}

weir_status weir__type_check(const weir_component_type *type, const char *where,
                             weir_component_type *out, weir_error *error)
{
    place p = { .plugin = where, .error = error, .top = true };
    memset(out, 0, sizeof(*out));
    if (type == NULL) {
        return REFUSE(&p, "a type is NULL");
    }
    weir_status status = read_whole(out, sizeof(*out), type);
    if (status != WEIR_OK) {
        return refuse(&p, status,
                      status == WEIR_E_VERSION ? "a type has members that this weir does not know"
                                               : "a type has a struct_size that cannot be");
    }
    if (out->name == NULL || !is_kebab(out->name, NAME_MAX_BYTES)) {
        return REFUSE(&p,
                      "a type has %s%.40s; must be small letters, digits and hyphens, at most %u",
                      out->name == NULL ? "no name" : "the name ",
                      out->name == NULL ? "" : out->name, NAME_MAX_BYTES);
    }
    p.type = out->name;
    p.config_size = out->config_size;
    if (!is_brief(out->help)) {
        return REFUSE(&p, "has a help beyond %u bytes", TEXT_MAX);
    }
    if (out->state_size > SIZE_MOST || out->config_size > SIZE_MOST) {
        return REFUSE(&p, "has a state of %zu and a config of %zu bytes", out->state_size,
                      out->config_size);
    }
    if (out->option_count > 0 && out->options == NULL) {
        return REFUSE(&p, "has %zu options and no table of them", out->option_count);
    }
    status = check_hooks(&p, out);
    return status == WEIR_OK && out->option_count > 0
               ? check_rows(&p, out->options, out->option_count)
               : status;
}

/* ---- plugins ---- */

static weir_status check_types(const weir_plugin *plugin, const char *where, weir_error *error)
{
    const place p = { .plugin = where, .error = error };
    for (size_t i = 0; i < plugin->type_count; i++) {
        weir_component_type type;
        weir_status status = weir__type_check(plugin->types[i], where, &type, error);
        for (size_t k = 0; k < i && status == WEIR_OK; k++) {
            if (strcmp(plugin->types[k]->name, type.name) == 0) {
                status = REFUSE(&p, "has the type %s twice", type.name);
            }
        }
        if (status != WEIR_OK) {
            return status;
        }
    }
    return WEIR_OK;
}

weir_status weir_plugin_check(const weir_plugin *plugin, weir_error *error)
{
    place p = { .plugin = "weir_plugin_check", .error = error };
    char where[80];
    weir_plugin ours = { 0 };
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (plugin == NULL) {
        return REFUSE(&p, "there is no descriptor");
    }
    /* The ABI is asked for first: with another one nothing else can be relied on. */
    if (plugin->struct_size < offsetof(weir_plugin, weir_version)) {
        return REFUSE(&p, "has a struct_size of %zu: use WEIR_PLUGIN_HEAD", plugin->struct_size);
    }
    if (plugin->abi != WEIR_PLUGIN_ABI) {
        return refuse(&p, WEIR_E_VERSION, "is made for plugin ABI %u, and this weir has %u",
                      plugin->abi, WEIR_PLUGIN_ABI);
    }
    weir_status status = read_whole(&ours, sizeof(ours), plugin);
    if (status != WEIR_OK) {
        return refuse(&p, status,
                      status == WEIR_E_VERSION
                          ? "has members that this weir does not know"
                          : "has a struct_size that cannot be: use WEIR_PLUGIN_HEAD");
    }
    if (ours.name == NULL || !is_kebab(ours.name, 63)) {
        return REFUSE(&p, "has %s%.40s; must be small letters, digits and hyphens",
                      ours.name == NULL ? "no name" : "the name ",
                      ours.name == NULL ? "" : ours.name);
    }
    snprintf(where, sizeof(where), "plugin %s", ours.name);
    p.plugin = where;
    if (ours.weir_version / 1000 != WEIR_VERSION_MAJOR) {
        return refuse(&p, WEIR_E_VERSION, "is made with headers of version %u.%u; this is %u.%u",
                      ours.weir_version / 1000, ours.weir_version % 1000, WEIR_VERSION_MAJOR + 0u,
                      WEIR_VERSION_MINOR + 0u);
    }
    if (!is_brief(ours.version) || !is_brief(ours.help)) {
        return REFUSE(&p, "has a text beyond %u bytes", TEXT_MAX);
    }
    if (ours.type_count > TYPES_MAX || (ours.type_count > 0 && ours.types == NULL)) {
        return REFUSE(&p, "has %zu types%s; at most %u", ours.type_count,
                      ours.types == NULL ? " and no table of them" : "", TYPES_MAX);
    }
    snprintf(where, sizeof(where), "plugin %s: ", ours.name);
    return check_types(&ours, where, error);
}
