/*
 * baselines/engine.c - what the designs share: processors, threads, sums, the latch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "baselines/engine.h"

#include <stdlib.h>
#include <string.h>

#include "baselines/design.h"

#define LINE ((size_t)64)
#define LOOKS_MAX 64 /* at a full mailbox: whoever empties it may need this core */

void *baseline_allocate(size_t size)
{
    const size_t rounded = (size + LINE - 1) / LINE * LINE;
    void *memory = aligned_alloc(LINE, rounded);
    if (memory != NULL) {
        memset(memory, 0, rounded);
    }
    return memory;
}

static uint32_t power_of_two(uint32_t least)
{
    uint32_t power = 2;
    while (power < least && power < UINT32_C(1) << 31) {
        power *= 2;
    }
    return power;
}

baseline_engine *baseline_create(const baseline_design *design, const baseline_options *options)
{
    baseline_engine *engine = baseline_allocate(sizeof(*engine));
    if (engine == NULL) {
        return NULL;
    }
    engine->design = design;
    engine->threads = options->threads;
    engine->processors_max = options->processors_max;
    engine->mailbox_max = power_of_two(options->mailbox_max);
    engine->processors = baseline_allocate(engine->processors_max * sizeof(baseline_processor));
    engine->workers = baseline_allocate(engine->threads * sizeof(baseline_worker));
    engine->dispatcher = baseline_allocate(design->dispatcher_size);
    if (engine->processors == NULL || engine->workers == NULL || engine->dispatcher == NULL ||
        !design->open(engine->dispatcher, engine->processors_max)) {
        free(engine->dispatcher);
        engine->dispatcher = NULL; /* it was not opened */
        baseline_destroy(engine);
        return NULL;
    }
    return engine;
}

static bool open_mailbox(baseline_mailbox *mailbox, uint32_t size)
{
    mailbox->slots = baseline_allocate(size * sizeof(baseline_slot));
    mailbox->mask = size - 1;
    for (uint32_t i = 0; mailbox->slots != NULL && i < size; i++) {
        weir__init(&mailbox->slots[i].turn, i);
    }
    return mailbox->slots != NULL;
}

baseline_processor *baseline_add(baseline_engine *engine, baseline_handler handler, void *state)
{
    baseline_processor *processor = &engine->processors[engine->count];
    if (engine->count == engine->processors_max ||
        !open_mailbox(&processor->mailbox, engine->mailbox_max)) {
        return NULL;
    }
    processor->handler = handler;
    processor->state = state;
    processor->index = engine->count++;
    processor->node = processor->index + 1;
    engine->design->put(engine->dispatcher, processor);
    return processor;
}

static void work(void *argument)
{
    baseline_worker *worker = argument;
    worker->engine->design->serve(worker->engine, worker);
}

bool baseline_start(baseline_engine *engine)
{
    for (uint32_t i = 0; i < engine->threads; i++) {
        baseline_worker *worker = &engine->workers[i];
        worker->engine = engine;
        if (weir__os_thread_start(&worker->thread, work, worker) != 0) {
            baseline_stop(engine);
            return false;
        }
        engine->started++;
    }
    return true;
}

bool baseline_post(baseline_processor *processor, const baseline_message *message)
{
    return baseline_mailbox_post(&processor->mailbox, message);
}

void baseline_post_all(baseline_processor *processor, const baseline_message *message)
{
    uint32_t looks = 0;
    while (!baseline_mailbox_post(&processor->mailbox, message)) { /* ends: it is being served */
        if (++looks < LOOKS_MAX) {
            weir__pause();
        } else {
            weir__yield();
        }
    }
}

void baseline_stop(baseline_engine *engine)
{
    weir__store(&engine->stopping, 1, seq_cst);
    if (engine->design->rouse != NULL) {
        engine->design->rouse(engine->dispatcher);
    }
    for (uint32_t i = 0; i < engine->started; i++) {
        weir__os_thread_join(&engine->workers[i].thread);
    }
    engine->started = 0;
}

void baseline_destroy(baseline_engine *engine)
{
    if (engine == NULL) {
        return;
    }
    for (uint32_t i = 0; i < engine->count; i++) {
        free(engine->processors[i].mailbox.slots);
    }
    if (engine->dispatcher != NULL) {
        engine->design->close(engine->dispatcher);
    }
    free(engine->dispatcher);
    free(engine->workers);
    free(engine->processors);
    free(engine);
}

void baseline_count(const baseline_engine *engine, baseline_counters *counters)
{
    *counters = (baseline_counters){ 0 };
    for (uint32_t i = 0; i < engine->threads; i++) {
        const baseline_worker *worker = &engine->workers[i];
        counters->handled += weir__cell_read(&worker->handled);
        counters->rounds += weir__cell_read(&worker->rounds);
        counters->try_locks += weir__cell_read(&worker->try_locks);
        counters->try_locks_failed += weir__cell_read(&worker->try_locks_failed);
        counters->backoffs += weir__cell_read(&worker->backoffs);
    }
}

/* ---- the latch ---- */

struct baseline_latch {
    weir__atomic_u32 left;
    weir__atomic_u32 open;
    weir_ns opened_at; /* written before `open` is */
};

baseline_latch *baseline_latch_create(void)
{
    return baseline_allocate(sizeof(baseline_latch));
}

void baseline_latch_destroy(baseline_latch *latch)
{
    free(latch);
}

void baseline_latch_set(baseline_latch *latch, uint32_t count)
{
    weir__store(&latch->open, 0, relaxed);
    weir__store(&latch->left, count, release);
}

void baseline_latch_down(baseline_latch *latch)
{
    if (weir__sub(&latch->left, 1, acq_rel) == 1) {
        latch->opened_at = weir__clock_now();
        weir__store(&latch->open, 1, release);
        weir__word_wake(&latch->open, 1);
    }
}

int64_t baseline_latch_wait(baseline_latch *latch, uint32_t seconds)
{
    const weir_ns end = weir__clock_now() + (weir_ns)seconds * WEIR_S;
    while (weir__load(&latch->open, acquire) == 0) { /* ends with the count, or the time */
        const weir_ns rest = end - weir__clock_now();
        if (rest <= 0) {
            return -1;
        }
        (void)weir__word_wait(&latch->open, 0, rest);
    }
    return latch->opened_at;
}
