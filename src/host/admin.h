/*
 * host/admin.h - admin commands from inside: the table of an engine's commands, and one call.
 *
 * The table is made by the first who asks for it, with the built-in commands in it, and lives as
 * long as its engine. Its lock is held for looks and changes only, never while a handler runs: a
 * command that is being called is held by its `uses`.
 *
 * A call belongs to the thread that runs it. One that is to run in a turn of a processor belongs to
 * two, and its state says who may touch what:
 *
 *     QUEUED -> RUNNING -> DONE      the turn has come: the answer is the turn's until DONE
 *         '---> GIVEN_UP             the caller's time was over first: it will not run
 *         '---> LOST                 dropped, dead, or left by a stop: it will not run
 *
 * A caller whose time is over while it is RUNNING goes without the answer, and whoever is last
 * frees the call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_HOST_ADMIN_H
#define WEIR_HOST_ADMIN_H

#include "settings/textbuf.h"
#include "sync/atomic.h"
#include "sync/mutex.h"
#include "weir/admin.h"

#define WEIR__ADMIN_COMMANDS_MAX 1024u
#define WEIR__ADMIN_NAME_MAX 96u   /* bytes of a command's name */
#define WEIR__ADMIN_HELP_MAX 256u  /* of its help, and of its arguments */
#define WEIR__ADMIN_WORDS_MAX 64u  /* of one call */
#define WEIR__ADMIN_WORD_MAX 4096u /* bytes of each */
#define WEIR__ADMIN_ANSWER_MAX ((size_t)16 << 20)

typedef struct weir__admin_command {
    weir_admin_options options; /* its strings are copies, unless it is built in */
    uint32_t least, most;       /* how many arguments */
    bool built_in;
    bool reads_without;    /* changes something only if it is given an argument */
    weir__atomic_u32 uses; /* calls under way. Grows under the table's lock */
} weir__admin_command;

/* A row of the built-in ones. */
typedef struct weir__admin_row {
    const char *name, *arguments, *help;
    weir_admin_handler handler;
    bool changes, reads_without;
} weir__admin_row;

typedef struct weir__admin {
    weir__mutex lock;
    weir__admin_command *commands[WEIR__ADMIN_COMMANDS_MAX]; /* by name */
    uint32_t count;
    weir_admin_call *running;    /* calls on their callers' own threads; a list */
    weir__atomic_u32 uses_ended; /* a wait word: a call is over */
    weir__admin_command *own;    /* the built-in ones, own_count of them */
    uint32_t own_count;
} weir__admin;

enum {
    WEIR__CALL_QUEUED,
    WEIR__CALL_RUNNING,
    WEIR__CALL_DONE,
    WEIR__CALL_GIVEN_UP,
    WEIR__CALL_LOST
};

struct weir_admin_call {
    weir_engine *engine;
    weir__admin *admin;
    weir__admin_command *command;
    weir_turn *turn;
    bool may_change;
    uint32_t argument_count;
    const char *arguments[WEIR__ADMIN_WORDS_MAX]; /* into what lies behind the call */
    size_t size;                                  /* of all of it */

    /* The answer, so far. */
    weir_status status;
    weir__textbuf rows;
    bool row_open;  /* a field was written since the last row began */
    bool cut;       /* it is too long: nothing is added any more */
    bool no_memory; /* the same */
    char error[512];

    weir__atomic_u32 state;      /* a wait word */
    weir__atomic_u32 references; /* the caller, and the request to a processor */

    /* Under the table's lock. */
    weir_admin_call *next;
    int32_t thread; /* the caller's */
};

/* NULL: no memory. */
weir__admin *weir__admin_of(weir_engine *engine);

/* Control. The longest name that the words begin with; one more use of it. NULL: none. *used: how
 * many words that were. */
weir__admin_command *weir__admin_take(weir_engine *engine, weir__admin *admin,
                                      const char *const *words, size_t count, size_t *used);
void weir__admin_put(weir__admin *admin, weir__admin_command *command);

/* The next one by its name after `after` (NULL: the first); one more use of it. NULL: none. */
weir__admin_command *weir__admin_next(weir_engine *engine, weir__admin *admin, const char *after);

/* ---- names (admin_names.c) ---- */

bool weir__admin_name_is_sane(const char *name);
/* False: brackets that do not match, something required behind something that is not. */
bool weir__admin_pattern_read(const char *pattern, uint32_t *least, uint32_t *most);
/* How many words are the name; 0: they do not begin with it. */
size_t weir__admin_name_match(const char *name, const char *const *words, size_t count);
/* False: argument i of a pattern is one of a few words ("on|off"), and `word` is none of them;
 * *choice, cut at `size`, has them. */
bool weir__admin_choice_fits(const char *pattern, size_t i, const char *word, char *choice,
                             size_t size);
/* "no command 'theads'; did you mean 'threads'?" */
void weir__admin_explain_unknown(weir_engine *engine, weir__admin *admin, const char *const *words,
                                 size_t count, char *out, size_t size);

/* ---- answers (admin_answer.c) ---- */

/* A string of JSON, whatever the bytes. False: no memory. */
bool weir__admin_quote(weir__textbuf *out, const char *text);

/* The whole answer as JSON; NULL: no memory. */
char *weir__admin_answer(weir_engine *engine, const char *command, weir_status status,
                         const weir_admin_call *call, const char *error);

/* ---- the built-in commands ---- */

typedef struct weir__admin_group {
    const weir__admin_row *rows;
    uint32_t count;
} weir__admin_group;
extern const weir__admin_group weir__admin_general; /* admin_general.c */
extern const weir__admin_group weir__admin_engine;  /* admin_engine.c */
extern const weir__admin_group weir__admin_flows;   /* admin_flows.c */
extern const weir__admin_group weir__admin_host;    /* admin_host.c */
extern const weir__admin_group weir__admin_latency; /* admin_latency.c */
extern const weir__admin_group weir__admin_trace;   /* admin_trace.c */
extern const weir__admin_group weir__admin_change;  /* admin_change.c */
#define WEIR__ADMIN_GROUPS                                                                         \
    {                                                                                              \
        &weir__admin_general, &weir__admin_engine, &weir__admin_flows, &weir__admin_host,          \
            &weir__admin_latency, &weir__admin_trace, &weir__admin_change                          \
    }

weir_status weir__admin_config_show(void *context, weir_admin_call *call); /* admin_config.c */

/* Control. The name of the component that the processor belongs to; false: to none. */
bool weir__admin_component_of(weir_engine *engine, weir_processor processor, char *out,
                              size_t size); /* admin_host.c */

/* Control. The processor that is called so; or it fails the call, and says which may be meant. */
weir_status weir__admin_processor(weir_admin_call *call, const char *name,
                                  weir_processor *out); /* admin_engine.c */
/* True: it is one of those that a router consists of. */
bool weir__admin_is_router_part(const char *name);

/* A moment of the wall clock, as people write it. */
void weir__admin_time(weir_admin_call *call, const char *key, weir_ns wall);

/* For handlers: nobody reads what would be added. */
static inline bool weir__admin_is_full(const weir_admin_call *call)
{
    return call->cut || call->no_memory;
}

#endif /* WEIR_HOST_ADMIN_H */
