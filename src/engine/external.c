/*
 * engine/external.c - threads that the application turns.
 *
 * Between two calls of run_once the thread is either *parked* (its bits are set; a poster rings the
 * doorbell) or has work left over and is *up* (the doorbell has been rung already). It is never
 * counted as searching: nobody may rely on a thread that somebody else turns.
 *
 * What the application polls is a poller of the doorbell, of the descriptors of the thread's
 * agents, and of an alarm that is set to the earliest of their deadlines when a run_once ends idle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/assert.h"
#include "engine/agents.h"
#include "engine/duty.h"
#include "engine/engine.h"
#include "engine/turn.h"
#include "engine/watchdog.h"
#include "sync/word.h"

#define LIMIT_DEFAULT 256u
#define ROUNDS_MAX 65536u

int weir_thread_fd(weir_engine *engine, weir_thread thread)
{
    if (!weir__engine_usable(engine)) {
        return -1;
    }
    const weir__thread *t = weir__thread_of(engine, thread);
    return t != NULL && t->external ? t->poller.descriptor : -1;
}

static uint64_t handled_by(const weir__thread *thread)
{
    const weir__tally *tally = &thread->context.tally;
    return weir__cell_read(&tally->handled) + weir__cell_read(&tally->dead) +
           weir__cell_read(&tally->left) + weir__cell_read(&tally->hooks_done);
}

static void quiet(weir__thread *thread)
{
    weir__doorbell_clear(thread->poller.doorbell);
}

/* Turns until idle or until the limit. True: idle. */
static bool turn_until(weir__thread *thread, uint64_t last)
{
    weir_engine *engine = thread->engine;
    /* Rounds are bounded too: agents could have work for ever. */
    for (uint32_t rounds = 0; handled_by(thread) < last && rounds < ROUNDS_MAX; rounds++) {
        const weir__phase phase = weir__engine_phase(engine);
        if (phase >= WEIR__ABANDONED) {
            quiet(thread); /* nothing will ever come: let polls sleep */
            return true;
        }
        thread->events_left = (uint32_t)(last - handled_by(thread));
        if (weir__duty_round(thread) == WEIR__ROUND_WORK) {
            continue;
        }
        /* Contended or empty: the doorbell is cleared before the last look, so that a ring after it
         * is kept. */
        quiet(thread);
        if (weir__duty_park(thread)) {
            return true;
        }
        weir__duty_unpark(thread);
        thread->searching = false;
        if (weir__load(&thread->leave, relaxed) != 0) {
            return false; /* somebody waits to remove it */
        }
    }
    return false;
}

/* The descriptor is readable when an agent wants to be called. Should the system refuse, it is at
 * once: better too often than too late. */
static void set_alarm(weir__thread *thread)
{
    const bool over = thread->hosts && weir__engine_phase(thread->engine) >= WEIR__ABANDONED;
    const weir_ns at = over ? WEIR_FOREVER : weir__agents_until(thread);
    if (weir__poller_alarm(&thread->poller, at) != 0) {
        weir__doorbell_ring(thread->poller.doorbell);
    }
}

void weir__thread_turned(weir__thread *thread)
{
    weir_engine *engine = thread->engine;
    /* seq_cst: a stop or a removal that waits for us looks at this. */
    weir__store(&thread->turning, 0, seq_cst);
    if (weir__load(&engine->phase, seq_cst) >= WEIR__ABANDONED ||
        weir__load(&thread->leave, seq_cst) != 0) {
        weir__add(&engine->threads_out, 1, seq_cst);
        weir__word_wake(&engine->threads_out, INT32_MAX);
    }
}

int32_t weir_thread_run_once(weir_engine *engine, weir_thread handle, uint32_t limit)
{
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    weir__thread *thread = weir__thread_known(engine, handle);
    uint32_t nobody = 0;
    /* Not while somebody waits to remove it: a loop that comes again at once would win every race
     * for `turning`, and the removal would never end. */
    if (thread == NULL || !thread->external || weir__load(&thread->leave, relaxed) != 0 ||
        !weir__cas(&thread->turning, &nobody, 1, acquire, relaxed)) {
        return WEIR_E_INVALID;
    }
    int32_t refusal = 0;
    if (weir__load(&thread->id, relaxed) != handle.id) {
        refusal = WEIR_E_INVALID; /* it was removed since, and somebody else may have its seat */
    } else if (weir__load(&engine->phase, seq_cst) > WEIR__STARTING) {
        refusal = weir__context_attach(&thread->context, &thread->seat) ? 1 : WEIR_E_NOMEM;
    } /* else not yet: asleep as the start has left it */
    if (refusal <= 0) {
        weir__thread_turned(thread);
        return refusal;
    }
    weir__context_handler_begin();
    weir__trail *outer = weir__context_trail_swap(&thread->trail);
    weir__watched_by(&thread->watched, weir__context_system_id());
    const uint64_t first = handled_by(thread);
    const uint64_t most = limit != 0 ? limit : LIMIT_DEFAULT;
    if (WEIR__TRAIL_READ(&thread->trail, &thread->watched.up) == 0) {
        weir__duty_unpark(thread);
        thread->searching = false;
        weir__watched_up(engine, &thread->watched);
    }
    const bool idle = turn_until(thread, first + most);
    weir__duty_leave_work(thread); /* also with some left: what follows is the application's time */
    if (idle) {
        weir__watched_rest(&thread->watched);
        if (thread->hosts || thread->poller.alarm_at != WEIR_FOREVER) {
            set_alarm(thread);
        }
        weir__engine_progress_if_stopping(engine);
    } else {
        weir__doorbell_ring(thread->poller.doorbell);
        /* The application may take its time: others may help with what is left. */
        weir__duty_hand_over(thread);
    }
    const uint64_t handled = handled_by(thread) - first;
    if (thread->holds) {
        weir__agents_let_go(thread);
    }
    (void)weir__context_trail_swap(outer);
    weir__context_handler_end();
    weir__context_detach(&thread->context);
    weir__thread_turned(thread);
    return handled > INT32_MAX ? INT32_MAX : (int32_t)handled;
}
