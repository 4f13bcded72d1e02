/*
 * host/admin_run.c - a command is called.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "engine/engine.h"
#include "engine/request.h"
#include "host/admin.h"
#include "sync/thread.h"
#include "sync/word.h"

#define TIMEOUT_DEFAULT (5 * WEIR_S)

/* ---- the record ---- */

static size_t bytes_of(const char *const *words, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += strlen(words[i]) + 1;
    }
    return bytes;
}

/* The words are copied: who gives up does not take them along. NULL: no memory. */
static weir_admin_call *make_call(weir_engine *engine, weir__admin *admin,
                                  weir__admin_command *command, const char *const *words,
                                  size_t count)
{
    const size_t size = sizeof(weir_admin_call) + bytes_of(words, count);
    weir_admin_call *call = weir__allocate(&engine->allocator, size);
    if (call == NULL) {
        return NULL;
    }
    call->engine = engine;
    call->admin = admin;
    call->command = command;
    call->size = size;
    call->rows.allocator = &engine->allocator;
    call->argument_count = (uint32_t)count;
    char *at = (char *)(call + 1);
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(words[i]) + 1;
        memcpy(at, words[i], length);
        call->arguments[i] = at;
        at += length;
    }
    weir__store(&call->references, 1, relaxed);
    return call;
}

static void release_call(weir_admin_call *call)
{
    /* [AD5] pairs with itself: the last one sees what the others did with it. */
    if (weir__sub(&call->references, 1, acq_rel) == 1) {
        weir_engine *engine = call->engine;
        weir__admin *admin = call->admin;
        weir__admin_command *command = call->command;
        weir__textbuf_close(&call->rows);
        weir__release(&engine->allocator, call, call->size);
        weir__admin_put(admin, command);
    }
}

/* ---- on the caller's thread ---- */

static void note_running(weir_admin_call *call)
{
    weir__mutex_lock(&call->admin->lock);
    call->thread = weir__os_thread_id();
    call->next = call->admin->running;
    call->admin->running = call;
    weir__mutex_unlock(&call->admin->lock);
}

static void note_over(weir_admin_call *call)
{
    weir__mutex_lock(&call->admin->lock);
    weir_admin_call **at = &call->admin->running;
    while (*at != call) { /* ends: it is in the list */
        at = &(*at)->next;
    }
    *at = call->next;
    weir__mutex_unlock(&call->admin->lock);
}

static weir_status run_here(weir_admin_call *call)
{
    note_running(call);
    call->status = call->command->options.handler(call->command->options.context, call);
    note_over(call);
    return call->status;
}

/* ---- in a turn ---- */

static void end_as(weir_admin_call *call, uint32_t state)
{
    /* [AD6] pairs with [AD7]: the answer. */
    weir__store(&call->state, state, release);
    weir__word_wake(&call->state, INT32_MAX);
}

static weir_status run_in_turn(void *argument, weir_turn *turn)
{
    weir_admin_call *call = argument;
    uint32_t state = WEIR__CALL_QUEUED;
    if (weir__cas(&call->state, &state, WEIR__CALL_RUNNING, acquire, relaxed)) {
        call->turn = turn;
        call->status = call->command->options.handler(call->command->options.context, call);
        call->turn = NULL;
        end_as(call, WEIR__CALL_DONE);
    }
    return WEIR_OK;
}

static void request_over(void *argument)
{
    weir_admin_call *call = argument;
    uint32_t state = WEIR__CALL_QUEUED;
    if (weir__cas(&call->state, &state, WEIR__CALL_LOST, relaxed, relaxed)) {
        weir__word_wake(&call->state, INT32_MAX);
    }
    release_call(call);
}

/* True: the answer is there. Else *status and *error say why it is not. */
static bool wait_for(weir_admin_call *call, weir_ns deadline, weir_status *status,
                     const char **error)
{
    for (;;) {
        uint32_t state = weir__load(&call->state, acquire); /* [AD7] pairs with [AD6] */
        if (state == WEIR__CALL_DONE) {
            return true;
        }
        if (state == WEIR__CALL_LOST) {
            *status = WEIR_STOPPING;
            *error = "it was not run: its processor ended first, or dropped it";
            return false;
        }
        if (weir__wait_until(&call->state, state, deadline)) {
            continue;
        }
        *status = WEIR_TIMEOUT;
        if (state == WEIR__CALL_RUNNING) {
            *error = "the time was over while it ran; what it answers is lost";
            return false;
        }
        if (weir__cas(&call->state, &state, WEIR__CALL_GIVEN_UP, relaxed, relaxed)) {
            *error = "it was not run: its processor did not come to it in time";
            return false;
        }
    }
}

static bool run_there(weir_admin_call *call, weir_ns timeout, weir_status *status,
                      const char **error)
{
    const weir_ns deadline = weir__deadline(timeout, TIMEOUT_DEFAULT);
    const weir__turn_request request = { run_in_turn, request_over, call };
    weir__add(&call->references, 1, relaxed);
    *status = weir__processor_request(call->engine, call->command->options.runs_in, &request);
    if (*status != WEIR_OK) {
        *error = weir_status_text(*status);
        return false;
    }
    return wait_for(call, deadline, status, error);
}

/* ---- what is refused before it begins ---- */

static weir_status count_is_wrong(const weir__admin_command *c, size_t count, char *error,
                                  size_t size)
{
    const char *pattern = c->options.arguments != NULL ? c->options.arguments : "";
    snprintf(error, size, "'%s' takes %s%u argument%s, not %zu: %s %s", c->options.name,
             c->least == c->most ? ""
             : count < c->least  ? "at least "
                                 : "at most ",
             count < c->least ? c->least : c->most,
             (count < c->least ? c->least : c->most) == 1 ? "" : "s", count, c->options.name,
             pattern);
    return WEIR_E_INVALID;
}

static weir_status check_arguments(const weir__admin_command *c, const char *const *words,
                                   size_t count, char *error, size_t size)
{
    if (count < c->least || count > c->most) {
        return count_is_wrong(c, count, error, size);
    }
    for (size_t i = 0; i < count; i++) {
        char choice[WEIR__ADMIN_HELP_MAX + 1];
        if (!weir__admin_choice_fits(c->options.arguments, i, words[i], choice, sizeof(choice))) {
            snprintf(error, size, "'%s' takes one of %s, not '%.64s'", c->options.name, choice,
                     words[i]);
            return WEIR_E_INVALID;
        }
    }
    return WEIR_OK;
}

static weir_status check_words(const char *const *words, size_t count, char *error, size_t size)
{
    if (words == NULL || count == 0) {
        snprintf(error, size, "no command was named; 'commands' lists them all");
        return WEIR_E_INVALID;
    }
    if (count > WEIR__ADMIN_WORDS_MAX) {
        snprintf(error, size, "%zu words are too many, at most %u", count, WEIR__ADMIN_WORDS_MAX);
        return WEIR_E_LIMIT;
    }
    for (size_t i = 0; i < count; i++) {
        if (words[i] == NULL ||
            strnlen(words[i], WEIR__ADMIN_WORD_MAX + 1) > WEIR__ADMIN_WORD_MAX) {
            snprintf(error, size, "word %zu is longer than %u bytes, or missing", i + 1,
                     WEIR__ADMIN_WORD_MAX);
            return WEIR_E_LIMIT;
        }
    }
    return WEIR_OK;
}

/* ---- run ---- */

static weir_status answer(weir_engine *engine, const char *command, weir_status status,
                          const weir_admin_call *call, const char *error, char **out)
{
    *out = weir__admin_answer(engine, command, status, call, error);
    return *out != NULL ? status : WEIR_E_NOMEM;
}

/* The command is held. */
static weir_status run_command(weir_engine *engine, weir__admin *admin, weir__admin_command *c,
                               const char *const *words, size_t count, weir_ns timeout, char **out)
{
    char name[WEIR__ADMIN_NAME_MAX + 1];
    snprintf(name, sizeof(name), "%s", c->options.name);
    weir_admin_call *call = make_call(engine, admin, c, words, count);
    if (call == NULL) {
        weir__admin_put(admin, c);
        return answer(engine, name, WEIR_E_NOMEM, NULL, weir_status_text(WEIR_E_NOMEM), out);
    }
    weir_status status;
    const char *error = NULL;
    bool there = true;
    if (c->options.runs_in.id != 0) {
        there = run_there(call, timeout, &status, &error);
        status = there ? call->status : status;
    } else {
        status = run_here(call);
    }
    if (there) { /* the call is nobody else's now */
        if (call->no_memory) {
            status = WEIR_E_NOMEM;
        }
        error = call->error[0] != '\0' ? call->error : weir_status_text(status);
    }
    const weir_status answered = answer(engine, name, status, there ? call : NULL, error, out);
    release_call(call);
    return answered;
}

weir_status weir_admin_run(weir_engine *engine, const char *const *words, size_t count,
                           bool may_change, weir_ns timeout, char **out)
{
    char error[1024];
    size_t used = 0;
    if (out == NULL) {
        return WEIR_E_INVALID;
    }
    *out = NULL;
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    if (weir__context_in_handler()) {
        return WEIR_E_BLOCKING;
    }
    weir_status status = check_words(words, count, error, sizeof(error));
    if (status != WEIR_OK) {
        return answer(engine, "", status, NULL, error, out);
    }
    weir__admin *admin = weir__admin_of(engine);
    if (admin == NULL) {
        return WEIR_E_NOMEM;
    }
    weir__admin_command *c = weir__admin_take(engine, admin, words, count, &used);
    if (c == NULL) {
        weir__admin_explain_unknown(engine, admin, words, count, error, sizeof(error));
        return answer(engine, words[0], WEIR_UNKNOWN, NULL, error, out);
    }
    status = check_arguments(c, words + used, count - used, error, sizeof(error));
    if (status == WEIR_OK && c->options.changes && !may_change &&
        (!c->reads_without || count > used)) {
        snprintf(error, sizeof(error), "'%s' changes something, and this way in may only look",
                 c->options.name);
        status = WEIR_E_INVALID;
    }
    if (status != WEIR_OK) {
        const weir_status answered = answer(engine, c->options.name, status, NULL, error, out);
        weir__admin_put(admin, c);
        return answered;
    }
    return run_command(engine, admin, c, words + used, count - used, timeout, out);
}
