/*
 * server/compose.c - see compose.h: the two passes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server/compose.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/nearest.h"

enum { NAME_BYTES_MAX = 63 };

weir__part *weir__part_find(const weir__composition *composition, const char *name)
{
    for (size_t i = 0; i < composition->part_count; i++) {
        if (strcmp(composition->parts[i].name, name) == 0) {
            return &composition->parts[i];
        }
    }
    return NULL;
}

bool weir__part_receives(const weir__part *part)
{
    return part->is_router || part->type == NULL || part->type->handler != NULL ||
           part->type->cases.count > 0;
}

bool weir__part_publishes(const weir__part *part)
{
    const weir_component_type *type = part->type;
    if (part->is_router || type == NULL) {
        return !part->is_router;
    }
    /* A plugin's may be of an older weir, and shorter. */
    const size_t end = offsetof(weir_component_type, publishes) + sizeof(type->publishes);
    return type->kind == WEIR_KIND_SOURCE || (type->struct_size >= end && type->publishes);
}

void weir__composition_destroy(weir__composition *composition)
{
    if (composition == NULL) {
        return;
    }
    weir_config_destroy(composition->config);
    weir__tree *memory = composition->memory;
    weir__release(weir__allocator_default(), composition, sizeof(*composition));
    weir__tree_destroy(memory); /* after the config, whose tables lie there */
}

/* ---- which components there are ---- */

static bool is_name(const char *name)
{
    const size_t length = strlen(name);
    return length > 0 && length <= NAME_BYTES_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
               length;
}

static const weir__node *components_of(const weir_config *config)
{
    return weir__tree_at(config->tree, config->tree->root, WEIR__COMPONENTS_PATH);
}

static const char *copy_text(weir__tree *memory, const char *text)
{
    weir__text copy;
    return weir__tree_text(memory, text, strlen(text), &copy) ? copy.bytes : NULL;
}

static bool add_component(weir__composition *c, const weir__tree *tree, const weir__member *member)
{
    weir__part *part = &c->parts[c->part_count];
    const weir__node *type = weir__child(tree, member->value, "type");
    part->name = copy_text(c->memory, member->key.bytes);
    if (part->name == NULL) {
        return false;
    }
    if (type != NULL && type->kind == WEIR__STRING) {
        part->type = weir__compose_type(c, type->text.bytes);
    }
    c->part_count++;
    c->component_count++;
    return weir__part_rows(c->memory, part);
}

/* Components first, then routers. False: no memory. */
static bool find_parts(weir__composition *c, const weir_config *first)
{
    const weir__node *all = components_of(first);
    const size_t components = all != NULL && all->kind == WEIR__OBJECT ? all->object.count : 0;
    const size_t routers = first->weir.flows.count;
    const weir__flow_settings *flows = first->weir.flows.items;
    c->parts = weir__tree_memory(c->memory, (components + routers + 1) * sizeof(*c->parts));
    if (c->parts == NULL) {
        return false;
    }
    for (size_t i = 0; i < components; i++) {
        const weir__member *member = &all->object.members[i];
        if (member->value->kind != WEIR__NULL && !add_component(c, first->tree, member)) {
            return false;
        }
    }
    for (size_t i = 0; i < routers; i++) {
        weir__part *part = &c->parts[c->part_count++];
        part->is_router = true;
        part->name = copy_text(c->memory, flows[i].name);
        if (part->name == NULL) {
            return false;
        }
    }
    return true;
}

/* ---- the second pass ---- */

static size_t count_tables(const weir_option_table *const *tables)
{
    size_t count = 0;
    while (tables != NULL && tables[count] != NULL) {
        count++;
    }
    return count;
}

/* Says that weir.components is a key; ~ is no component's name. */
static const weir_option_table stand_in = {
    .struct_size = sizeof(stand_in),
    .path = WEIR__COMPONENTS_PATH ".~",
};

/* The request's own, the server's, and one for each component whose type is known, or one that
 * stands in for them. NULL: no memory. */
static const weir_option_table *const *tables_of(const weir__composition *c,
                                                 const weir_option_table *const *own, bool some)
{
    const size_t owns = count_tables(own), servers = count_tables(weir__server_tables);
    size_t used = 0, described = 0;
    const weir_option_table **all = (const weir_option_table **)weir__tree_memory(
        c->memory, (owns + servers + c->part_count + 2) * sizeof(const weir_option_table *));
    if (all == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < owns; i++) {
        all[used++] = own[i];
    }
    for (size_t i = 0; i < servers; i++) {
        all[used++] = weir__server_tables[i];
    }
    for (size_t i = 0; i < c->component_count; i++) {
        if (c->parts[i].type != NULL && is_name(c->parts[i].name)) {
            all[used++] = &c->parts[i].table;
            described++;
        }
    }
    if (described == 0 && some) {
        all[used++] = &stand_in;
    }
    all[used] = NULL;
    return all;
}

static weir_config *load(const weir__request *request, const weir_option_table *const *tables,
                         weir_error *error)
{
    weir_config_options options = { .struct_size = sizeof(options) };
    if (request->options != NULL) {
        options = *request->options;
    }
    options.tables = tables;
    weir__request with = *request;
    with.options = &options;
    return weir__config_make(&with, error);
}

/* ---- what is wrong with single components ---- */

#define SAY(c, where, at, ...)                                                                     \
    weir__problems_add(&(c)->config->problems, WEIR__ERROR, (where), (at), __VA_ARGS__)

typedef struct nearest {
    const char *word, *found;
    size_t least;
    char list[300];
} nearest;

static bool look_at_type(void *context, const weir_component_type *type, const weir_plugin *from)
{
    nearest *n = context;
    const size_t distance = weir__distance(n->word, type->name), used = strlen(n->list);
    (void)from;
    if (distance < n->least && weir__distance_is_near(distance, n->word, type->name)) {
        n->least = distance;
        n->found = type->name;
    }
    if (used + strlen(type->name) + 3 < sizeof(n->list)) {
        snprintf(n->list + used, sizeof(n->list) - used, "%s%s", used > 0 ? ", " : "", type->name);
    }
    return true;
}

static void say_type(weir__composition *c, const weir__part *part)
{
    const weir__node *node = weir__child(c->config->tree, part->node, "type");
    char path[160];
    if (node == NULL || node->kind != WEIR__STRING) {
        return; /* missing, or no text: the row says so */
    }
    nearest n = { .word = node->text.bytes, .least = SIZE_MAX };
    weir__compose_types(c, look_at_type, &n);
    snprintf(path, sizeof(path), "%s.type", part->table.path);
    if (n.found != NULL) {
        SAY(c, node->origin, path, "'%.60s' is no type; did you mean %s?", n.word, n.found);
    } else {
        SAY(c, node->origin, path, "'%.60s' is no type; there are: %s", n.word, n.list);
    }
}

/* A plugin's key that weir has itself could be meant either way. */
static void check_own_keys(weir__composition *c, const weir__part *part)
{
    const weir_option_table *common = &weir__component_table;
    for (size_t i = common->row_count; i < part->row_count; i++) {
        for (size_t k = 0; k < common->row_count; k++) {
            if (strcmp(part->rows[i].key, common->rows[k].key) == 0) {
                SAY(c, weir__said(part->node)->origin, part->table.path,
                    "is of type %s, whose own key '%s' is one that every component has: the plugin "
                    "must give it another name",
                    part->type->name, part->rows[i].key);
            }
        }
    }
}

/* No table knows the keys of a type that is unknown; those that all have are looked at. */
static bool check_common(weir__composition *c, weir__part *part)
{
    weir__component_settings ignored = { 0 };
    weir__filler filler = { c->config->tree, &c->config->problems, c->config->tables };
    weir__path path;
    bool memory = true;
    if (part->node->kind != WEIR__OBJECT) {
        SAY(c, part->node->origin, part->table.path, "is %s, must be an object: { type = ... }",
            weir__kind_name(part->node->kind));
        return true;
    }
    for (size_t i = 0; i < weir__component_table.row_count; i++) {
        weir__path_begin(&path, part->table.path);
        memory = weir__fill_row(&filler, &weir__component_table.rows[i],
                                (weir__node *)(uintptr_t)part->node, &path, &ignored) &&
                 memory;
    }
    return memory;
}

static bool check_component(weir__composition *c, weir__part *part)
{
    if (!is_name(part->name)) {
        weir__path path;
        weir__path_begin(&path, WEIR__COMPONENTS_PATH);
        weir__path_name(&path, part->name);
        SAY(c, weir__said(part->node)->origin, path.text,
            "is no name for a component: 1 to %d letters, digits, - and _", NAME_BYTES_MAX);
        return true;
    }
    if (part->type == NULL) {
        say_type(c, part);
        return check_common(c, part);
    }
    check_own_keys(c, part);
    return true;
}

/* Each part finds itself in the tree of the second pass. */
static bool settle(weir__composition *c)
{
    const weir_config *config = c->config;
    const weir__node *components = components_of(config);
    const weir__node *flows = weir__tree_at(config->tree, config->tree->root, WEIR__FLOWS_PATH);
    bool memory = true;
    if (components != NULL && components->kind != WEIR__OBJECT && components->kind != WEIR__NULL) {
        SAY(c, components->origin, WEIR__COMPONENTS_PATH,
            "is %s, must be an object: { NAME { type = ... } }", weir__kind_name(components->kind));
    }
    for (size_t i = 0; i < c->part_count && memory; i++) {
        weir__part *part = &c->parts[i];
        part->node = weir__child(config->tree, part->is_router ? flows : components, part->name);
        if (part->node == NULL) { /* a file that changed between the passes */
            SAY(c, (weir__origin){ 0 }, part->name, "was there a moment ago: try again");
            return true;
        }
        if (!part->is_router) {
            memory = check_component(c, part) && weir__part_fill(c->memory, part, config);
        }
        memory = memory && weir__part_references(c->memory, part, config);
    }
    return memory;
}

/* What stands below weir.server and weir.admin. False: no memory. */
static bool read_server(weir__composition *c)
{
    weir__problems known = { .allocator = c->config->problems.allocator }; /* said already */
    weir__filler filler = { c->config->tree, &known, c->config->tables };
    void *const out[] = { &c->server, &c->admin };
    bool memory = true;
    for (size_t i = 0; weir__server_tables[i] != NULL; i++) {
        const weir_option_table *table = weir__server_tables[i];
        weir__path path;
        weir__path_begin(&path, table->path);
        memory = weir__fill(&filler, table->rows, table->row_count,
                            weir__tree_at(c->config->tree, c->config->tree->root, table->path),
                            &path, out[i]) &&
                 memory;
    }
    const weir__node *admin = weir__tree_at(c->config->tree, c->config->tree->root, "weir.admin");
    c->admin_socket_said = weir__is_given(weir__child(c->config->tree, admin, "socket"));
    weir__problems_close(&known);
    return memory;
}

/* ---- both ---- */

static bool has_components(const weir_config *first)
{
    static const char *const keys[] = { "components", "plugins" };
    const weir__node *weir = weir__child(first->tree, first->tree->root, "weir");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const weir__node *node = weir__child(first->tree, weir, keys[i]);
        if (node != NULL && node->kind != WEIR__NULL) {
            return true;
        }
    }
    return false;
}

static bool second_pass(weir__composition *c, const weir__request *request,
                        const weir_config *first, weir_error *error)
{
    const weir__node *components = components_of(first);
    const weir_option_table *const *tables =
        tables_of(c, request->options != NULL ? request->options->tables : NULL,
                  components != NULL && components->kind != WEIR__NULL);
    if (tables == NULL) {
        return false;
    }
    c->config = load(request, tables, error);
    if (c->config == NULL || c->config->tree == NULL) {
        return c->config != NULL;
    }
    /* Once more, for what is wrong with them, which belongs to what the caller looks at. */
    c->plugin_count = 0;
    if (!weir__compose_plugins(c, c->config, &c->config->problems) || !settle(c) ||
        !read_server(c) || !weir__compose_plan(c)) {
        return false;
    }
    weir__problems_sort(&c->config->problems);
    return !c->config->problems.out_of_memory;
}

weir__composition *weir__compose(const weir__request *request, weir_error *error)
{
    const weir_allocator *allocator = weir__allocator_default();
    weir__composition *c = weir__allocate(allocator, sizeof(*c));
    weir__tree *memory = weir__tree_create(allocator, 0);
    if (c == NULL || memory == NULL) {
        weir__release(allocator, c, sizeof(*c));
        weir__tree_destroy(memory);
        weir__error_memory(error, "weir_config");
        return NULL;
    }
    c->memory = memory;
    const weir_option_table *const *tables =
        tables_of(c, request->options != NULL ? request->options->tables : NULL, false);
    weir_config *first = tables != NULL ? load(request, tables, error) : NULL;
    bool well = first != NULL;
    /* If nothing could be made of it, the problems say why. */
    if (well && (first->tree == NULL || !has_components(first))) {
        c->config = first;
        return c;
    }
    weir__problems later = { .allocator = allocator };
    well = well && weir__compose_plugins(c, first, &later) && find_parts(c, first) &&
           second_pass(c, request, first, error);
    weir__problems_close(&later);
    weir_config_destroy(first);
    if (!well) {
        weir__error_memory(error, "weir_config");
        weir__composition_destroy(c);
        return NULL;
    }
    return c;
}
