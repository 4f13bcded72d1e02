/*
 * settings/config.h - a loaded configuration from inside, and the steps of a load.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SETTINGS_CONFIG_H
#define WEIR_SETTINGS_CONFIG_H

#include "settings/fill.h"
#include "settings/table.h"
#include "sync/atomic.h"
#include "sync/mutex.h"
#include "tree/tree.h"

/* The source of what no layer says. */
#define WEIR__BUILT_IN "built-in"

struct weir_config {
    weir__atomic_u32 references; /* the application's, and one of each engine made from it */
    weir_allocator allocator;
    weir__mutex lock; /* of the tree's memory, which weir_config_read takes from */
    weir__tree *tree; /* resolved; also holds what the settings point to. NULL: a text was so wrong
                         that nothing could be made of it */
    weir__problems problems;
    const weir_option_table *const *tables; /* weir's, then the caller's */
    weir__engine_settings engine;
    weir__weir_settings weir;
    weir_thread_options *threads; /* whatever form the assignment has */
    size_t thread_count;
};

/* Reads a file that is no HOCON (YAML) into a tree. NULL: see the problems. */
typedef weir__tree *(*weir__foreign_reader)(const weir_allocator *allocator, const char *path,
                                            weir__problems *problems);

/* What the public functions and the command ask for. */
typedef struct weir__request {
    const char *const *paths; /* ends with NULL; NULL: look for one, unless there is a text */
    const char *name, *text;  /* in place of files */
    size_t text_size;
    weir__foreign_reader foreign; /* for *.yaml and *.yml; NULL: they are refused */
    const weir_config_options *options;
    uint32_t cores; /* usable ones; 0: ask the system */
} weir__request;

/* NULL: no memory (E_NOMEM). Else a config, which may have errors: see its problems. */
weir_config *weir__config_make(const weir__request *request, weir_error *error);
void weir__config_retain(weir_config *config);
void weir__config_release(weir_config *config);

/* ---- steps ---- */

/* True: a layer says it, not only the built-in reference. */
bool weir__is_given(const weir__node *node);
/* Where a key was said: an object of which the built-in reference has a part stands where the first
 * of what a layer put into it does. */
const weir__node *weir__said(const weir__node *node);
weir__node *weir__child(const weir__tree *tree, const weir__node *object, const char *key);

/* What older files and other programs' files say, said as weir says it (settings/legacy.c). False:
 * no memory. */
bool weir__legacy(weir_config *config);
/* What threads may be told in other words, in those of the table (settings/spelling.c). False: no
 * memory. */
bool weir__spell(weir_config *config);

/* Checks the resolved tree, fills config->engine, ->weir and ->threads. False: no memory. */
bool weir__config_check(weir_config *config, uint32_t cores);
/* Its parts: threads from whichever form, and what rows do not fill of flows (settings/plan.c),
 * then the rules between keys (settings/rules.c). `engine` is the node at weir.engine, or NULL. */
bool weir__plan_threads(weir_config *config, weir__node *engine, uint32_t cores);
bool weir__plan_flows(weir_config *config);
bool weir__plan_helpers(weir_config *config, const weir__node *engine);
void weir__check_rules(weir_config *config, weir__node *engine, uint32_t cores);

/* The names that threads serve. */
bool weir__is_served(const weir_config *config, const char *dispatcher);

#endif /* WEIR_SETTINGS_CONFIG_H */
