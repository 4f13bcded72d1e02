/*
 * host/admin_general.c - built-in commands about the commands, the log and the configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "host/admin.h"
#include "weir/processor.h"

/* ---- help, commands ---- */

static void add_command(weir_admin_call *call, const weir_admin_options *o)
{
    char who[96] = "";
    weir_admin_row(call);
    weir_admin_text(call, "command", o->name);
    weir_admin_text(call, "arguments", o->arguments != NULL ? o->arguments : "");
    weir_admin_bool(call, "changes", o->changes);
    if (o->runs_in.id != 0) {
        (void)weir_processor_name(call->engine, o->runs_in, who, sizeof(who));
    }
    weir_admin_text(call, "runs-in", who);
    weir_admin_text(call, "help", o->help);
}

static bool visit_command(void *context, const weir_admin_options *command)
{
    add_command(context, command);
    return true;
}

static weir_status on_commands(void *context, weir_admin_call *call)
{
    (void)context;
    weir_admin_visit(call->engine, visit_command, call);
    return WEIR_OK;
}

/* Of the commands that begin with the words. */
static bool begins_with(const char *name, const weir_admin_call *call)
{
    for (uint32_t i = 0; i < call->argument_count; i++) {
        const size_t length = strlen(call->arguments[i]);
        if (strncmp(name, call->arguments[i], length) != 0) {
            return false;
        }
        name += length;
        if (*name != '\0' && *name != ' ') {
            return false;
        }
        if (*name == '\0') {
            return i + 1 == call->argument_count;
        }
        name++;
    }
    return true;
}

static bool visit_help(void *context, const weir_admin_options *command)
{
    weir_admin_call *call = context;
    if (begins_with(command->name, call)) {
        weir_admin_row(call);
        weir_admin_text(call, "command", command->name);
        weir_admin_text(call, "arguments", command->arguments != NULL ? command->arguments : "");
        weir_admin_text(call, "help", command->help);
    }
    return true;
}

static weir_status on_help(void *context, weir_admin_call *call)
{
    (void)context;
    weir_admin_visit(call->engine, visit_help, call);
    if (call->rows.length == 0 && !weir__admin_is_full(call)) {
        weir__admin_explain_unknown(call->engine, call->admin, call->arguments,
                                    call->argument_count, call->error, sizeof(call->error));
        return WEIR_UNKNOWN;
    }
    return WEIR_OK;
}

/* ---- the log ---- */

static const char *const levels[] = { "debug", "info", "warning", "error", "off" };
enum { LEVELS = sizeof(levels) / sizeof(levels[0]) };

static weir_status on_log_level(void *context, weir_admin_call *call)
{
    (void)context;
    const char *wanted = weir_admin_argument(call, 0);
    for (uint32_t i = 0; wanted != NULL && i < LEVELS; i++) {
        if (strcmp(wanted, levels[i]) == 0) {
            weir_log_level_set(call->engine, (weir_log_level)(WEIR_LOG_DEBUG + i));
        }
    }
    uint32_t now = 0;
    while (now + 1 < LEVELS &&
           !weir_log_enabled(call->engine, (weir_log_level)(WEIR_LOG_DEBUG + now))) {
        now++;
    }
    weir_admin_text(call, "level", levels[now]);
    return WEIR_OK;
}

const weir__admin_group weir__admin_general = {
    (const weir__admin_row[]){
        { "commands", NULL, "all commands, with who runs them and whether they change something",
          on_commands, false, false },
        { "help", "[COMMAND...]", "what commands are for, all of them or those of that name",
          on_help, false, false },
        { "log level", "[debug|info|warning|error|off]",
          "the least serious entries that the log shows, or another bound from now on",
          on_log_level, true, true },
        { "config show", "[PREFIX]",
          "the settings in effect, each with where it was said; secrets are ***",
          weir__admin_config_show, false, false },
    },
    4,
};
