/*
 * host/admin.c - the table of admin commands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "host/admin.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "sync/thread.h"
#include "sync/word.h"

#define PATH "weir_admin_add"

/* ---- the table ---- */

static void free_command(weir_engine *engine, weir__admin_command *c)
{
    if (!c->built_in) {
        weir__release_text(&engine->allocator, (char *)(uintptr_t)c->options.name);
        weir__release_text(&engine->allocator, (char *)(uintptr_t)c->options.arguments);
        weir__release_text(&engine->allocator, (char *)(uintptr_t)c->options.help);
        weir__release(&engine->allocator, c, sizeof(*c));
    }
}

static void close_admin(weir_engine *engine)
{
    weir__admin *admin = weir__load(&engine->admin, relaxed);
    for (uint32_t i = 0; i < admin->count; i++) {
        free_command(engine, admin->commands[i]);
    }
    weir__release(&engine->allocator, admin->own, admin->own_count * sizeof(*admin->own));
    weir__release(&engine->allocator, admin, sizeof(*admin));
}

/* Lock held, or nobody else has it. Where the name is, or would be. */
static uint32_t place_of(const weir__admin *admin, const char *name)
{
    uint32_t low = 0;
    uint32_t high = admin->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (strcmp(admin->commands[middle]->options.name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void put_in(weir__admin *admin, weir__admin_command *c)
{
    const uint32_t place = place_of(admin, c->options.name);
    WEIR_ASSERT(admin->count < WEIR__ADMIN_COMMANDS_MAX);
    for (uint32_t i = admin->count; i > place; i--) {
        admin->commands[i] = admin->commands[i - 1];
    }
    admin->commands[place] = c;
    admin->count++;
}

static void take_out(weir__admin *admin, uint32_t place)
{
    admin->count--;
    for (uint32_t i = place; i < admin->count; i++) {
        admin->commands[i] = admin->commands[i + 1];
    }
}

static void put_in_built_in(weir__admin *admin)
{
    const weir__admin_group *const groups[] = WEIR__ADMIN_GROUPS;
    weir__admin_command *c = admin->own;
    for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
        for (uint32_t i = 0; i < groups[g]->count; i++, c++) {
            const weir__admin_row *row = &groups[g]->rows[i];
            c->options = (weir_admin_options){ .struct_size = sizeof(weir_admin_options),
                                               .name = row->name,
                                               .arguments = row->arguments,
                                               .help = row->help,
                                               .changes = row->changes,
                                               .handler = row->handler };
            c->built_in = true;
            c->reads_without = row->reads_without;
            const bool sane = weir__admin_pattern_read(row->arguments, &c->least, &c->most);
            WEIR_ASSERT(sane);
            put_in(admin, c);
        }
    }
}

static weir__admin *make(weir_engine *engine)
{
    weir__admin *admin = weir__allocate(&engine->allocator, sizeof(*admin));
    if (admin == NULL) {
        return NULL;
    }
    const weir__admin_group *const groups[] = WEIR__ADMIN_GROUPS;
    for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
        admin->own_count += groups[g]->count;
    }
    admin->own = weir__allocate(&engine->allocator, admin->own_count * sizeof(*admin->own));
    if (admin->own == NULL) {
        weir__release(&engine->allocator, admin, sizeof(*admin));
        return NULL;
    }
    put_in_built_in(admin);
    return admin;
}

weir__admin *weir__admin_of(weir_engine *engine)
{
    weir__admin *admin = weir__load(&engine->admin, acquire); /* [AD1] pairs with [AD2] */
    if (admin == NULL) {
        weir__mutex_lock(&engine->registry.lock);
        admin = weir__load(&engine->admin, relaxed);
        if (admin == NULL) {
            admin = make(engine);
            if (admin != NULL) {
                engine->admin_close = close_admin;
                /* [AD2] pairs with [AD1]: the table is complete. */
                weir__store(&engine->admin, admin, release);
            }
        }
        weir__mutex_unlock(&engine->registry.lock);
    }
    return admin;
}

/* ---- uses ---- */

void weir__admin_put(weir__admin *admin, weir__admin_command *command)
{
    /* [AD3] pairs with [AD4]: what the call did comes before its removal returns. From here on the
     * command may be gone. */
    weir__sub(&command->uses, 1, release);
    weir__add(&admin->uses_ended, 1, seq_cst);
    weir__word_wake(&admin->uses_ended, INT32_MAX);
}

/* A command of a processor goes with it: whoever comes across it afterwards sees to that. Lock
 * held; true: it is gone from the table. */
static bool went(weir_engine *engine, weir__admin *admin, uint32_t place)
{
    weir__admin_command *c = admin->commands[place];
    if (c->options.runs_in.id == 0 ||
        weir_processor_name(engine, c->options.runs_in, NULL, 0) != 0 ||
        weir__load(&c->uses, acquire) != 0) { /* [AD4] */
        return false;
    }
    take_out(admin, place);
    free_command(engine, c);
    return true;
}

/* One whose call is not over yet stays in the table for so long, and is not shown. */
static bool is_gone(weir_engine *engine, const weir__admin_command *c)
{
    return c->options.runs_in.id != 0 &&
           weir_processor_name(engine, c->options.runs_in, NULL, 0) == 0;
}

weir__admin_command *weir__admin_take(weir_engine *engine, weir__admin *admin,
                                      const char *const *words, size_t count, size_t *used)
{
    weir__admin_command *best = NULL;
    *used = 0;
    weir__mutex_lock(&admin->lock);
    for (uint32_t i = 0; i < admin->count; i++) {
        const size_t match = weir__admin_name_match(admin->commands[i]->options.name, words, count);
        if (match <= *used || is_gone(engine, admin->commands[i])) {
            continue;
        }
        *used = match;
        best = admin->commands[i];
    }
    if (best != NULL) {
        weir__add(&best->uses, 1, relaxed);
    }
    weir__mutex_unlock(&admin->lock);
    return best;
}

weir__admin_command *weir__admin_next(weir_engine *engine, weir__admin *admin, const char *after)
{
    weir__admin_command *found = NULL;
    weir__mutex_lock(&admin->lock);
    uint32_t place = after != NULL ? place_of(admin, after) : 0;
    if (after != NULL && place < admin->count &&
        strcmp(admin->commands[place]->options.name, after) == 0) {
        place++;
    }
    while (found == NULL && place < admin->count) {
        if (went(engine, admin, place)) {
            continue;
        }
        if (!is_gone(engine, admin->commands[place])) {
            found = admin->commands[place];
            weir__add(&found->uses, 1, relaxed);
        }
        place++;
    }
    weir__mutex_unlock(&admin->lock);
    return found;
}

/* ---- add ---- */

static weir_status check(weir_engine *engine, const weir_admin_options *o, uint32_t *least,
                         uint32_t *most, weir_error *error)
{
    if (!weir__admin_name_is_sane(o->name)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_admin_options.name",
                              "must be words of small letters, digits and hyphens with one blank "
                              "between them, at most %u bytes",
                              WEIR__ADMIN_NAME_MAX);
    }
    if (o->handler == NULL) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_admin_options.handler",
                              "the command '%s' needs a handler", o->name);
    }
    if (o->help == NULL || o->help[0] == '\0' || strlen(o->help) > WEIR__ADMIN_HELP_MAX ||
        strchr(o->help, '\n') != NULL) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_admin_options.help",
                              "the command '%s' needs one line of help, at most %u bytes", o->name,
                              WEIR__ADMIN_HELP_MAX);
    }
    if ((o->arguments != NULL && strlen(o->arguments) > WEIR__ADMIN_HELP_MAX) ||
        !weir__admin_pattern_read(o->arguments, least, most)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_admin_options.arguments",
                              "of the command '%s' must be words, the optional ones last and in "
                              "brackets, as in \"NAME [on|off]\"; \"...\" at the end: any number",
                              o->name);
    }
    if (o->runs_in.id != 0 && weir_processor_name(engine, o->runs_in, NULL, 0) == 0) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_admin_options.runs_in",
                              "there is no such processor to run '%s' in", o->name);
    }
    return WEIR_OK;
}

static weir__admin_command *copy(weir_engine *engine, const weir_admin_options *o, uint32_t least,
                                 uint32_t most)
{
    const weir_allocator *allocator = &engine->allocator;
    weir__admin_command *c = weir__allocate(allocator, sizeof(*c));
    if (c == NULL) {
        return NULL;
    }
    char *name = NULL;
    char *arguments = NULL;
    char *help = NULL;
    const bool copied = weir__copy_text(allocator, o->name, &name) &&
                        weir__copy_text(allocator, o->arguments, &arguments) &&
                        weir__copy_text(allocator, o->help, &help);
    c->options = *o;
    c->options.name = name;
    c->options.arguments = arguments;
    c->options.help = help;
    c->least = least;
    c->most = most;
    if (!copied) {
        free_command(engine, c);
        return NULL;
    }
    return c;
}

/* Lock held. */
static weir_status try_to_put_in(weir_engine *engine, weir__admin *admin, weir__admin_command *c)
{
    const char *name = c->options.name;
    const uint32_t place = place_of(admin, name);
    if (place < admin->count && strcmp(admin->commands[place]->options.name, name) == 0 &&
        !went(engine, admin, place)) {
        return WEIR_E_TAKEN;
    }
    if (admin->count == WEIR__ADMIN_COMMANDS_MAX) {
        return WEIR_E_LIMIT;
    }
    put_in(admin, c);
    return WEIR_OK;
}

weir_status weir_admin_add(weir_engine *engine, const weir_admin_options *options,
                           weir_error *error)
{
    weir_admin_options o = { .struct_size = 0 };
    uint32_t least;
    uint32_t most;
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine) || options == NULL) {
        return weir__error_at(error, WEIR_E_INVALID, PATH, "needs an engine and options");
    }
    weir_status status = weir__options_read(&o, sizeof(o), options);
    if (status != WEIR_OK) {
        return weir__error_at(error, status, PATH, "the options are not of this version");
    }
    status = check(engine, &o, &least, &most, error);
    if (status != WEIR_OK) {
        return status;
    }
    weir__admin *admin = weir__admin_of(engine);
    weir__admin_command *c = admin != NULL ? copy(engine, &o, least, most) : NULL;
    if (c == NULL) {
        return weir__error_memory(error, PATH);
    }
    weir__mutex_lock(&admin->lock);
    status = try_to_put_in(engine, admin, c);
    weir__mutex_unlock(&admin->lock);
    if (status != WEIR_OK) {
        free_command(engine, c);
        return status == WEIR_E_TAKEN
                   ? weir__error_at(error, status, PATH, "there is a command '%s' already", o.name)
                   : weir__error_at(error, status, PATH, "there are %u commands, and no more fit",
                                    WEIR__ADMIN_COMMANDS_MAX);
    }
    return WEIR_OK;
}

/* ---- remove ---- */

/* Lock held. Its handler, on this very thread, would wait for itself. */
static bool runs_here(const weir__admin *admin, const weir__admin_command *c)
{
    const int32_t here = weir__os_thread_id();
    for (const weir_admin_call *call = admin->running; call != NULL; call = call->next) {
        if (call->command == c && call->thread == here) {
            return true;
        }
    }
    return false;
}

weir_status weir_admin_remove(weir_engine *engine, const char *name)
{
    if (!weir__engine_usable(engine) || name == NULL) {
        return WEIR_E_INVALID;
    }
    if (weir__context_in_handler()) {
        return WEIR_E_BLOCKING;
    }
    weir__admin *admin = weir__admin_of(engine);
    if (admin == NULL) {
        return WEIR_E_NOMEM;
    }
    weir__mutex_lock(&admin->lock);
    const uint32_t place = place_of(admin, name);
    weir__admin_command *c = place < admin->count ? admin->commands[place] : NULL;
    weir_status status = WEIR_OK;
    if (c == NULL || strcmp(c->options.name, name) != 0) {
        status = WEIR_UNKNOWN;
    } else if (c->built_in) {
        status = WEIR_E_INVALID;
    } else if (runs_here(admin, c)) {
        status = WEIR_E_BLOCKING;
    } else {
        take_out(admin, place); /* nobody begins to use it any more */
    }
    weir__mutex_unlock(&admin->lock);
    if (status != WEIR_OK) {
        return status;
    }
    for (;;) { /* ends with the calls that are under way */
        const uint32_t seen = weir__load(&admin->uses_ended, seq_cst);
        if (weir__load(&c->uses, acquire) == 0) { /* [AD4] pairs with [AD3] */
            break;
        }
        weir__word_wait(&admin->uses_ended, seen, WEIR_FOREVER);
    }
    free_command(engine, c);
    return WEIR_OK;
}

/* ---- visit ---- */

void weir_admin_visit(weir_engine *engine,
                      bool (*visit)(void *context, const weir_admin_options *command),
                      void *context)
{
    weir__admin *admin =
        weir__engine_usable(engine) && visit != NULL ? weir__admin_of(engine) : NULL;
    weir__admin_command *c = admin != NULL ? weir__admin_next(engine, admin, NULL) : NULL;
    while (c != NULL) { /* ends: names only grow */
        const bool on = visit(context, &c->options);
        weir__admin_command *next = on ? weir__admin_next(engine, admin, c->options.name) : NULL;
        weir__admin_put(admin, c);
        c = next;
    }
}

weir_status weir_admin_changes(weir_engine *engine, const char *const *words, size_t count,
                               bool *changes)
{
    if (!weir__engine_usable(engine) || changes == NULL || (words == NULL && count > 0)) {
        return WEIR_E_INVALID;
    }
    weir__admin *admin = weir__admin_of(engine);
    size_t used;
    if (admin == NULL) {
        return WEIR_E_NOMEM;
    }
    weir__admin_command *c = weir__admin_take(engine, admin, words, count, &used);
    if (c == NULL) {
        *changes = false;
        return WEIR_UNKNOWN;
    }
    *changes = c->options.changes && (!c->reads_without || count > used);
    weir__admin_put(admin, c);
    return WEIR_OK;
}
