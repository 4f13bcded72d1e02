/*
 * engine/trace_recent.c - reading the trails of running threads (engine/trail.h).
 *
 * Writers of a trail order nothing. Who reads does it for them: `at`, a heavy barrier, the steps, a
 * heavy barrier, `at` again. What a thread had done by the first look is written when the first
 * barrier is over; what it may have written over until the second look is thrown away.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/trace_recent.h"

#include <stdio.h>

#include "engine/engine.h"
#include "engine/options.h"
#include "sync/barrier.h"

typedef struct copy {
    uint64_t processor;
    const weir_event_type *type;
    uint64_t sender, size;
} copy;

typedef struct copies {
    uint64_t at;    /* at the first look */
    uint64_t first; /* number of the oldest that is whole; steps are counted from 1 */
    uint64_t last;
    copy steps[WEIR__TRAIL_STEPS];
} copies;

static void read_trail(weir__trail *trail, copies *out)
{
    out->at = weir__cell_read(&trail->at);
    out->last = weir__trail_count_at(out->at);
    weir__barrier_heavy();
    for (uint32_t i = 0; i < WEIR__TRAIL_STEPS; i++) {
        weir__step *step = &trail->steps[i];
        out->steps[i] = (copy){ .processor = weir__cell_read(&step->processor),
                                .type = weir__load(&step->type, relaxed),
                                .sender = weir__cell_read(&step->sender),
                                .size = weir__cell_read(&step->size) };
    }
    weir__barrier_heavy();
    /* The next one may be half written, over what was there. */
    const uint64_t written = weir__trail_count_at(weir__cell_read(&trail->at)) + 1;
    out->first = written > WEIR__TRAIL_STEPS ? written - WEIR__TRAIL_STEPS + 1 : 1;
}

void weir__trace_recent(weir_engine *engine, weir_processor processor,
                        bool (*visit)(void *context, const weir__recent *event), void *context)
{
    char name[WEIR__NAME_SIZE];
    const uint32_t threads = weir__threads_count(engine);
    for (uint32_t i = 0; i < threads; i++) {
        weir__thread *thread = weir__thread_at(engine, i);
        copies c;
        if (!WEIR__TRAIL_WATCHED(&thread->trail)) {
            continue; /* simulated, and not for others to read */
        }
        weir__mutex_lock(&engine->registry.lock);
        (void)snprintf(name, sizeof(name), "%s", thread->name != NULL ? thread->name : "");
        weir__mutex_unlock(&engine->registry.lock);
        read_trail(&thread->trail, &c);
        for (uint64_t n = c.last; n >= c.first && n > 0; n--) {
            const copy *step = &c.steps[(n - 1) % WEIR__TRAIL_STEPS];
            const weir__recent event = { .thread = name,
                                         .back = c.last - n,
                                         .runs = n == c.last && weir__trail_runs_at(c.at),
                                         .type = step->type,
                                         .sender = { step->sender },
                                         .size = step->size };
            if (step->processor == processor.id && step->type != NULL && !visit(context, &event)) {
                return;
            }
        }
    }
}
