/*
 * server/rows.c - the keys that every component has, joined with those of its type; weir.server.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "server/compose.h"
#include "weir/flow.h"

/* NOLINTBEGIN(misc-no-recursion): tables are as deep as they were written */

#define SINCE "0.1"
#define ROWS(array) .rows = (array), .row_count = sizeof(array) / sizeof((array)[0])

/* Word i is value i of the public enum. */
static const char *const overflow_words[] = { "default",     "fail",  "drop-newest",
                                              "drop-oldest", "block", NULL };
static const char *const directive_words[] = { "default", "retry",    "restart",
                                               "stop",    "escalate", NULL };
static const char *const slow_words[] = { "default",    "backoff",     "block",
                                          "disconnect", "drop-oldest", NULL };

#define KEY(kind, member, name, ...)                                                               \
    WEIR_KEY(kind, weir__component_settings, member, name, .since = SINCE, __VA_ARGS__)
static const weir_option feed_rows[] = {
    KEY(INT, feed.queue_max, "queue-max", .min = 2, .max = 1048576,
        .help = "Events that may wait for one consuming thread; a power of two; without it 1024."),
    KEY(ENUM, feed.slow, "slow-consumer", .fallback = "default", .words = slow_words,
        .help = "What happens for a subscriber that has no room: backoff (default: try for "
                "slow-max, then drop and count), block, disconnect, drop-oldest."),
    KEY(DURATION, feed.slow_max, "slow-max", .min = 1, .max = 3.6e12,
        .help = "Of backoff and disconnect: how long it is tried; without it 10ms."),
    KEY(INT, feed.replay_max, "replay-max", .min = 1, .max = 16000000,
        .help = "Events kept from before start_complete, replayed then; without it none are."),
    KEY(BOOL, feed.named, "named", .fallback = "false",
        .help = "Subscribers get the feed's name and a sequence number with each event."),
    KEY(BOOL, feed.broadcast, "broadcast", .fallback = "false",
        .help = "To every processor with a name, not only to subscribers."),
    KEY(BOOL, feed.many_writers, "many-writers", .fallback = "false",
        .help = "Several threads publish into it."),
};

static const weir_option common_rows[] = {
    KEY(STRING, type, "type", .required = true,
        .help = "What it is: `weir types` lists them, with the keys that each has besides these."),
    KEY(STRING, thread, "thread",
        .help = "The thread of weir.engine.threads that hosts it; without it the first one."),
    KEY(STRING, dispatcher, "dispatcher",
        .help = "Whose threads run its handler; without it the default one."),
    KEY(INT, instances, "instances", .fallback = "1", .min = 1, .max = 1024,
        .help = "Of a processor: so many of it, called NAME/1, NAME/2 and so on."),
    KEY(LIST, feeds, "feeds", .help = "Sources whose events it gets."),
    KEY(LIST, after, "after", .help = "Components that are started before it."),
    KEY(INT, mailbox_max, "mailbox-max", .min = 1, .max = 1000000,
        .help = "Events that may wait for it; without it weir.engine.default-queue-size."),
    KEY(ENUM, overflow, "overflow", .fallback = "default", .words = overflow_words,
        .help = "What a full mailbox does with one event more; default: as the engine."),
    KEY(ENUM, on_failure, "on-failure", .fallback = "default", .words = directive_words,
        .help = "What happens when its handler fails; default: what its type says, which is to go "
                "on with the next event or, of those that pass events on, to try again."),
    KEY(GROUP, feed, "feed", ROWS(feed_rows), .help = "Of a source: the feed it publishes into."),
};
#undef KEY

const weir_option_table weir__component_table = {
    .struct_size = sizeof(weir_option_table),
    .path = WEIR__COMPONENTS_PATH ".NAME",
    ROWS(common_rows),
    .help = "Of `weir run`: components by name, each with these keys and those of its type.",
};

static const weir_option components_rows[] = {
    {
        .struct_size = sizeof(weir_option),
        .key = "components",
        .kind = WEIR_OPTION_MAP,
        ROWS(common_rows),
        .help = "Of `weir run`: sources, processors, services and sinks, by name. Each has these "
                "keys and those of its type.",
        .since = SINCE,
    },
};

const weir_option_table weir__components_page = {
    .struct_size = sizeof(weir_option_table),
    .path = "weir",
    ROWS(components_rows),
    .help = "What `weir run` makes of a file.",
};

static const weir_option server_rows[] = {
    WEIR_KEY(DURATION, weir__server_settings, stop_timeout, "stop-timeout", .fallback = "30s",
             .min = 1e6, .max = 8.64e13, .since = SINCE,
             .help = "How long a stop may take to handle what was accepted; then it ends, and says "
                     "what is left."),
};

static const weir_option_table server_table = {
    .struct_size = sizeof(weir_option_table),
    .path = WEIR__SERVER_PATH,
    ROWS(server_rows),
    .help = "Of `weir run`: its life as a whole.",
};

const weir_option_table *const weir__server_tables[] = { &server_table, &weir__admin_table, NULL };

/* ---- the rows of one component ---- */

enum { COMMON_COUNT = sizeof(common_rows) / sizeof(common_rows[0]) };

/* Where the type's own struct begins behind the common one. */
static size_t config_offset(void)
{
    const size_t align = _Alignof(max_align_t);
    return (sizeof(weir__component_settings) + align - 1) / align * align;
}

/* Rows that fill the same struct, moved to where that struct begins. NULL: no memory. */
static const weir_option *moved(weir__tree *memory, const weir_option *rows, size_t count,
                                size_t by)
{
    weir_option *copy = weir__tree_memory(memory, (count + 1) * sizeof(*copy));
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = weir__row(rows, i);
        copy[i].struct_size = sizeof(weir_option);
        if (copy[i].kind == WEIR_OPTION_GROUP) {
            copy[i].rows = moved(memory, copy[i].rows, copy[i].row_count, by);
            if (copy[i].rows == NULL) {
                return NULL;
            }
        } else {
            copy[i].offset += by;
        }
    }
    return copy;
}

bool weir__part_rows(weir__tree *memory, weir__part *part)
{
    const size_t own = part->type != NULL ? part->type->option_count : 0;
    weir_option *rows = weir__tree_memory(memory, (COMMON_COUNT + own + 1) * sizeof(*rows));
    const size_t path_size = sizeof(WEIR__COMPONENTS_PATH) + 1 + strlen(part->name);
    char *path = weir__tree_memory(memory, path_size);
    if (rows == NULL || path == NULL) {
        return false;
    }
    memcpy(rows, common_rows, sizeof(common_rows));
    if (own > 0) {
        const weir_option *theirs = moved(memory, part->type->options, own, config_offset());
        if (theirs == NULL) {
            return false;
        }
        memcpy(rows + COMMON_COUNT, theirs, own * sizeof(*rows));
    }
    snprintf(path, path_size, "%s.%s", WEIR__COMPONENTS_PATH, part->name);
    part->rows = rows;
    part->row_count = COMMON_COUNT + own;
    part->table = (weir_option_table){
        .struct_size = sizeof(part->table), .path = path, .rows = rows, .row_count = part->row_count
    };
    return true;
}

bool weir__part_fill(weir__tree *memory, weir__part *part, const weir_config *config)
{
    const size_t own = part->type != NULL ? part->type->config_size : 0;
    char *out = weir__tree_memory(memory, config_offset() + own + 1);
    if (out == NULL) {
        return false;
    }
    part->settings = (weir__component_settings *)(void *)out;
    part->config = out + config_offset();
    /* What is wrong was said when the tables were checked. */
    weir__problems known = { .allocator = config->problems.allocator };
    weir__filler filler = { config->tree, &known, config->tables };
    weir__path path;
    bool well = true;
    for (size_t i = 0; i < part->row_count; i++) {
        const weir_option row = weir__row(part->rows, i);
        weir__path_begin(&path, part->table.path);
        well =
            weir__fill_row(&filler, &row, (weir__node *)(uintptr_t)part->node, &path, out) && well;
    }
    well = well && !known.out_of_memory;
    weir__problems_close(&known);
    return well;
}

/* ---- references ---- */

static bool refer(weir__tree *memory, weir__part *part, weir__reference_kind kind,
                  const weir__node *node, const char *path)
{
    weir__text copy;
    if (node->kind != WEIR__STRING) {
        return true; /* said where it was read */
    }
    weir__reference *reference = weir__tree_memory(memory, sizeof(*reference));
    if (reference == NULL || !weir__tree_text(memory, path, strlen(path), &copy)) {
        return false;
    }
    *reference = (weir__reference){
        .kind = kind, .name = node->text.bytes, .path = copy.bytes, .origin = node->origin
    };
    if (part->last_reference != NULL) {
        part->last_reference->next = reference;
    } else {
        part->references = reference;
    }
    part->last_reference = reference;
    return true;
}

static bool refer_list(weir__tree *memory, weir__part *part, weir__reference_kind kind,
                       const weir__node *node, weir__path *path)
{
    bool well = true;
    if (node->kind != WEIR__LIST) {
        return refer(memory, part, kind, node, path->text);
    }
    const size_t length = path->length;
    for (size_t i = 0; i < node->list.count; i++) {
        weir__path_index(path, i);
        well = refer(memory, part, kind, node->list.items[i], path->text) && well;
        weir__path_cut(path, length);
    }
    return well;
}

/* The targets among `rows`, in an object of the tree and what lies below it. */
static bool refer_rows(weir__tree *memory, weir__part *part, const weir_config *config,
                       const weir_option *rows, size_t count, const weir__node *object,
                       weir__path *path)
{
    bool well = true;
    const size_t length = path->length;
    for (size_t i = 0; object != NULL && i < count; i++) {
        const weir_option row = weir__row(rows, i);
        const weir__node *node = weir__child(config->tree, object, row.key);
        if (node == NULL || node->kind == WEIR__NULL) {
            continue;
        }
        weir__path_name(path, row.key);
        if (row.kind == WEIR_OPTION_TARGET || row.kind == WEIR_OPTION_TARGETS) {
            well = refer_list(memory, part, WEIR__REFERS_TARGET, node, path) && well;
        } else if (row.kind == WEIR_OPTION_GROUP) {
            well = refer_rows(memory, part, config, row.rows, row.row_count, node, path) && well;
        } else if (row.kind == WEIR_OPTION_ITEMS && node->kind == WEIR__LIST) {
            const size_t here = path->length;
            for (size_t k = 0; k < node->list.count; k++) {
                weir__path_index(path, k);
                well = refer_rows(memory, part, config, row.rows, row.row_count,
                                  node->list.items[k], path) &&
                       well;
                weir__path_cut(path, here);
            }
        }
        weir__path_cut(path, length);
    }
    return well;
}

bool weir__part_references(weir__tree *memory, weir__part *part, const weir_config *config)
{
    static const struct {
        const char *key;
        weir__reference_kind kind;
    } common[] = { { "feeds", WEIR__REFERS_FEED }, { "after", WEIR__REFERS_AFTER } };
    weir__path path;
    bool well = true;
    if (part->is_router) {
        const weir__node *targets = weir__child(config->tree, part->node, "targets");
        weir__path_begin(&path, WEIR__FLOWS_PATH);
        weir__path_name(&path, part->name);
        weir__path_name(&path, "targets");
        return targets == NULL || refer_list(memory, part, WEIR__REFERS_TARGET, targets, &path);
    }
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
        const weir__node *node = weir__child(config->tree, part->node, common[i].key);
        weir__path_begin(&path, part->table.path);
        weir__path_name(&path, common[i].key);
        if (node != NULL) {
            well = refer_list(memory, part, common[i].kind, node, &path) && well;
        }
    }
    weir__path_begin(&path, part->table.path);
    return refer_rows(memory, part, config, part->rows, part->row_count, part->node, &path) && well;
}

/* NOLINTEND(misc-no-recursion) */
