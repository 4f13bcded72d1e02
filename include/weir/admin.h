/*
 * weir/admin.h - commands for the people who run it: by name, with help, over whatever way they
 * come (`weir admin`, HTTP, a program's own).
 *
 *     static weir_status on_reset(void *context, weir_admin_call *call)
 *     {
 *         weir_admin_text(call, "reset", weir_admin_argument(call, 0));
 *         return WEIR_OK;
 *     }
 *     weir_admin_add(engine, WEIR_ADMIN(.name = "book reset", .arguments = "SYMBOL",
 *                    .help = "empties one book", .changes = true, .handler = on_reset), &error);
 *
 * An answer is a list of rows of fields, so that it can be shown as a table and as JSON alike.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_H
#define WEIR_ADMIN_H

#include "weir/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One call: its arguments, and its answer as it grows. Valid until the handler returns. */
typedef struct weir_admin_call weir_admin_call;
typedef weir_status (*weir_admin_handler)(void *context, weir_admin_call *call);

typedef struct weir_admin_options {
    size_t struct_size;
    const char *name;      /* words of small letters, digits and hyphens: "latency reset" */
    const char *arguments; /* "NAME [on|off]"; NULL: none. The bound on how many there may be is
                              read from it: a word each, in brackets optional, "..." any number */
    const char *help;      /* one line; required */
    bool changes;          /* over HTTP it needs the token */
    weir_admin_handler handler;
    void *context;
    weir_processor runs_in; /* it runs in a turn of this processor; zero: on the calling thread */
} weir_admin_options;

#define WEIR_ADMIN_OPTIONS_INIT WEIR_SIZED(weir_admin_options)
#define WEIR_ADMIN(...) WEIR_OPTIONS(weir_admin_options, __VA_ARGS__)

/* Control. E_TAKEN: the name is. A command of a processor goes with it. */
WEIR_API weir_status weir_admin_add(weir_engine *engine, const weir_admin_options *options,
                                    weir_error *error);
/* Blocking: a call under way returns first. E_BLOCKING: inside a handler, also its own. UNKNOWN: no
 * such command. E_INVALID: it is built in. */
WEIR_API weir_status weir_admin_remove(weir_engine *engine, const char *name);

/* The handler. Arguments are strings; NULL: there is no such one. */
WEIR_API size_t weir_admin_argument_count(const weir_admin_call *call);
WEIR_API const char *weir_admin_argument(const weir_admin_call *call, size_t i);
WEIR_API weir_engine *weir_admin_engine(const weir_admin_call *call);
/* The turn, of a command that runs in a processor; else NULL. */
WEIR_API weir_turn *weir_admin_turn(const weir_admin_call *call);

/* The handler. Fields go into the present row; `row` begins the next (the first need not be begun).
 * An answer of more than 16 MiB is cut, and says so. */
WEIR_API void weir_admin_row(weir_admin_call *call);
WEIR_API void weir_admin_text(weir_admin_call *call, const char *key, const char *value);
WEIR_API void weir_admin_number(weir_admin_call *call, const char *key, int64_t value);
WEIR_API void weir_admin_unsigned(weir_admin_call *call, const char *key, uint64_t value);
WEIR_API void weir_admin_real(weir_admin_call *call, const char *key, double value);
WEIR_API void weir_admin_bool(weir_admin_call *call, const char *key, bool value);
/* `return weir_admin_fail(call, WEIR_UNKNOWN, "no processor is called '%s'", name);` */
WEIR_API weir_status weir_admin_fail(weir_admin_call *call, weir_status status, const char *format,
                                     ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/*
 * Blocking; timeout 0 = 5 s (a processor's turn may take its time). Runs `words[0 .. count)`: the
 * longest name of a command that they begin with, then its arguments. `may_change` false: a command
 * that changes something is refused. The answer, as JSON text, is `*answer` (free it with
 * weir_admin_free): {"command": "...", "status": "WEIR_OK", "rows": [{...}], "error": "..."}. An
 * unknown command is UNKNOWN, with the nearest names in the error. TIMEOUT: of one that runs in a
 * processor; the error says whether it was begun. One that was not will not be. At most 64 words of
 * 4,096 bytes. *answer is NULL only if the status is E_NOMEM, E_BLOCKING, or E_INVALID for want of
 * an engine.
 */
WEIR_API weir_status weir_admin_run(weir_engine *engine, const char *const *words, size_t count,
                                    bool may_change, weir_ns timeout, char **answer);
/* Control. Whether that call would change something. UNKNOWN: no such command. */
WEIR_API weir_status weir_admin_changes(weir_engine *engine, const char *const *words, size_t count,
                                        bool *changes);
WEIR_API void weir_admin_free(weir_engine *engine, char *answer);

/* Control. All commands, by name. The visitor must not remove the one it is given. */
WEIR_API void weir_admin_visit(weir_engine *engine,
                               bool (*visit)(void *context, const weir_admin_options *command),
                               void *context);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_ADMIN_H */
