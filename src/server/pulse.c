/*
 * server/pulse.c - see pulse.h.
 *
 * Each processor counts what it handled; the caller of beat counts what it sent. So nobody waits
 * for anybody, and an answer that is late is still one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server/pulse.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "sync/atomic.h"
#include "weir/processor.h"
#include "weir/thread.h"

enum { DISPATCHERS_MAX = 1024, NAME_SIZE = 256 };

WEIR_EMPTY_TYPE(pulse, "weir.pulse");

typedef struct beat {
    weir_processor processor;
    weir__atomic_u64 answered; /* its turns write it */
    uint64_t sent;             /* the caller of beat does */
    char dispatcher[NAME_SIZE];
} beat;

struct weir__pulse {
    weir_engine *engine;
    size_t count;
    beat beats[DISPATCHERS_MAX];
};

static weir_status on_pulse(void *state, weir_turn *turn, const weir_event *event)
{
    beat *b = state;
    (void)turn;
    (void)event;
    weir__add(&b->answered, 1, relaxed);
    return WEIR_OK;
}

static bool note(void *context, const char *name)
{
    weir__pulse *p = context;
    if (p->count < DISPATCHERS_MAX) {
        beat *b = &p->beats[p->count++];
        snprintf(b->dispatcher, sizeof(b->dispatcher), "%s", name);
    }
    return true;
}

weir__pulse *weir__pulse_open(weir_engine *engine, weir_error *error)
{
    weir__pulse *p = weir__allocate(weir__allocator_default(), sizeof(*p));
    if (p == NULL) {
        (void)weir_error_set(error, WEIR_E_NOMEM, "weir.server", "no memory to watch dispatchers");
        return NULL;
    }
    p->engine = engine;
    weir_dispatcher_visit(engine, note, p); /* the engine's lock is held there: add afterwards */
    for (size_t i = 0; i < p->count; i++) {
        beat *b = &p->beats[i];
        b->processor =
            weir_processor_add(engine,
                               WEIR_PROCESSOR(.dispatcher = b->dispatcher, .handler = on_pulse,
                                              .argument = b, .mailbox_max = 16),
                               error);
    }
    if (error->status != WEIR_OK) {
        weir__pulse_close(p);
        return NULL;
    }
    return p;
}

void weir__pulse_close(weir__pulse *pulse)
{
    if (pulse == NULL) {
        return;
    }
    bool stuck = false;
    for (size_t i = 0; i < pulse->count; i++) {
        if (pulse->beats[i].processor.id != 0) {
            const weir_status status =
                weir_processor_stop(pulse->engine, pulse->beats[i].processor, WEIR_S, NULL);
            stuck = stuck || status == WEIR_TIMEOUT;
        }
    }
    if (!stuck) { /* else its turn may still come: better lost than written to */
        weir__release(weir__allocator_default(), pulse, sizeof(*pulse));
    }
}

bool weir__pulse_beat(weir__pulse *pulse, const char **slow)
{
    for (size_t i = 0; i < pulse->count; i++) {
        beat *b = &pulse->beats[i];
        if (weir__load(&b->answered, relaxed) < b->sent) {
            if (slow != NULL) {
                *slow = b->dispatcher;
            }
            return false;
        }
    }
    for (size_t i = 0; i < pulse->count; i++) {
        beat *b = &pulse->beats[i];
        if (weir_engine_post(pulse->engine, b->processor, WEIR_EMPTY(pulse)) == WEIR_OK) {
            b->sent++;
        }
    }
    return true;
}
