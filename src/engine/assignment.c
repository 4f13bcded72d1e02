/*
 * engine/assignment.c - whole assignments: rows of names, and the strategies that expand to them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/assignment.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "engine/placement.h"

/* Adds one thread a row; `row` fills in the names of row i. All or none, before start; while the
 * engine runs, what was added before a failure stays. */
typedef struct rows {
    const char *const *const *given;        /* weir_assign */
    const weir_assignment_options *options; /* weir_assign_strategy */
    uint32_t names;                         /* of options->dispatchers */
    uint32_t count;
} rows;

static uint32_t length_of(const char *const *names)
{
    uint32_t count = 0;
    while (names[count] != NULL) {
        count++;
    }
    return count;
}

/* Thread i serves names i, i + count, ...; spare threads double up. */
static uint32_t partition_row(const rows *r, uint32_t i, const char **out)
{
    const char *const *names = r->options->dispatchers;
    uint32_t n = 0;
    WEIR_ASSERT(r->names > 0);
    if (i >= r->names) {
        out[n++] = names[i % r->names];
        return n;
    }
    for (uint32_t k = i; k < r->names; k += r->count) {
        out[n++] = names[k];
    }
    return n;
}

static uint32_t shared_row(const rows *r, uint32_t i, const char **out)
{
    for (uint32_t k = 0; k < r->names; k++) {
        out[k] = r->options->dispatchers[(i + k) % r->names];
    }
    return r->names;
}

static uint32_t own_row(const rows *r, uint32_t i, const char **out)
{
    uint32_t before = 0;
    for (uint32_t k = 0; k < r->names; k++) {
        before += r->options->counts != NULL ? r->options->counts[k] : 1;
        if (i < before) {
            out[0] = r->options->dispatchers[k];
            return 1;
        }
    }
    return 0;
}

static uint32_t expand(const rows *r, uint32_t i, const char **out)
{
    switch (r->options->strategy) {
    case WEIR_STRATEGY_PARTITION:
        return partition_row(r, i, out);
    case WEIR_STRATEGY_SHARED:
        return shared_row(r, i, out);
    case WEIR_STRATEGY_PER_DISPATCHER:
    default:
        return own_row(r, i, out);
    }
}

uint32_t weir__assignment_row(const weir_assignment_options *options, uint32_t count, uint32_t i,
                              const char **out)
{
    const rows r = { .options = options, .names = length_of(options->dispatchers), .count = count };
    return expand(&r, i, out);
}

static weir_status add_row(weir_engine *engine, const rows *r, uint32_t i, weir_thread *out,
                           weir_error *error)
{
    const char *names[WEIR__THREAD_DISPATCHERS_MAX + 1] = { NULL };
    const char *const *row = names;
    weir_idle idle = WEIR_IDLE_DEFAULT;
    if (r->given != NULL) {
        row = r->given[i];
    } else {
        names[expand(r, i, names)] = NULL;
        idle = r->options->idle;
    }
    weir_error own = WEIR_ERROR_INIT;
    weir_error *told = error != NULL ? error : &own;
    *out = weir_thread_add(engine, WEIR_THREAD(.dispatchers = row, .idle = idle), told);
    return told->status;
}

static weir_status add_all(weir_engine *engine, const rows *r, weir_error *error)
{
    weir_thread *added = weir__allocate(&engine->allocator, r->count * sizeof(*added));
    if (added == NULL) {
        return weir__error_memory(error, "weir_assign");
    }
    weir_status status = WEIR_OK;
    uint32_t i = 0;
    for (; i < r->count && status == WEIR_OK; i++) {
        status = add_row(engine, r, i, &added[i], error);
    }
    if (status != WEIR_OK) {
        for (uint32_t k = 0; k + 1 < i; k++) {
            /* It stays if a stop was faster, or somebody was put where it alone serves. */
            (void)weir__thread_dismiss(engine, added[k], NULL);
        }
    }
    weir__release(&engine->allocator, added, r->count * sizeof(*added));
    return status;
}

weir_status weir_assign(weir_engine *engine, const char *const *const *given, weir_error *error)
{
    rows r = { .given = given };
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine) || given == NULL) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_assign", "needs an engine and rows");
    }
    while (given[r.count] != NULL) {
        if (given[r.count][0] == NULL) {
            return weir__error_at(error, WEIR_E_INVALID, "weir_assign.rows",
                                  "row %u is empty, must have a name (\"\" is one)", r.count);
        }
        r.count++;
    }
    if (r.count == 0 || r.count > WEIR__THREADS_MAX) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_assign.rows",
                              "has %u rows, must have 1 to %u: one a thread", r.count,
                              WEIR__THREADS_MAX);
    }
    return add_all(engine, &r, error);
}

static weir_status count_rows(rows *r, const weir_assignment_options *o, weir_error *error)
{
    r->count = o->threads != 0 ? o->threads : weir__cores_usable();
    if (o->strategy == WEIR_STRATEGY_PER_DISPATCHER) {
        r->count = 0;
        for (uint32_t k = 0; k < r->names; k++) {
            const uint32_t count = o->counts != NULL ? o->counts[k] : 1;
            if (count == 0 || count > WEIR__THREADS_MAX) {
                return weir__error_at(error, WEIR_E_INVALID, "weir_assignment_options.counts",
                                      "has %u for \"%.60s\", must be 1 to %u", count,
                                      o->dispatchers[k], WEIR__THREADS_MAX);
            }
            r->count += count;
        }
    }
    WEIR_ASSERT(r->count > 0);
    /* A thread serves at most 64 dispatchers. */
    const uint32_t each =
        o->strategy == WEIR_STRATEGY_SHARED ? r->names : (r->names + r->count - 1) / r->count;
    if (r->count > WEIR__THREADS_MAX || each > WEIR__THREAD_DISPATCHERS_MAX) {
        return weir__error_at(error, WEIR_E_LIMIT, "weir_assignment_options",
                              "makes %u threads with up to %u dispatchers each, must be at most "
                              "%u and %u",
                              r->count, each, WEIR__THREADS_MAX, WEIR__THREAD_DISPATCHERS_MAX);
    }
    return WEIR_OK;
}

weir_status weir_assign_strategy(weir_engine *engine, const weir_assignment_options *options,
                                 weir_error *error)
{
    weir_assignment_options checked;
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_assign_strategy.engine",
                              "is no usable engine");
    }
    weir_status status = weir__options_assignment(options, &checked, error);
    if (status != WEIR_OK) {
        return status;
    }
    rows r = { .options = &checked, .names = length_of(checked.dispatchers) };
    WEIR_ASSERT(r.names > 0); /* the check of the options says so */
    status = count_rows(&r, &checked, error);
    return status == WEIR_OK ? add_all(engine, &r, error) : status;
}
