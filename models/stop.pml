/*
 * stop.pml - the stop of an engine against posts from outside and from handlers.
 *
 * Outsiders post until they are refused; a handler posts a new event for some of those that it
 * handles; a stopper stops the engine at any moment: it refuses outsiders, waits until nothing is
 * in flight, closes everything in one step, ends what has to be ended in a turn, and sends the
 * threads home. What was accepted is handled before the stop returns, nothing is accepted after it,
 * and no handler's post is refused while something is in flight.
 *
 * That a thread which sleeps gets up when there is work is what wakeup.pml shows: here it simply
 * does. Comments with @ and = are explained there, what is left out in README.md.
 *
 * Parameters: THREADS, POSTERS, EVENTS (of each poster), HOPS (each event makes its handler post,
 * so many times); HOOK: a destroy hook, which the sums do not count, posts at any moment; FINAL: a
 * processor must be ended in a turn; TSO: plain stores wait in a buffer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef THREADS
#define THREADS 1
#endif
#ifndef POSTERS
#define POSTERS 1
#endif
#ifndef EVENTS
#define EVENTS 1
#endif
#ifndef HOPS
#define HOPS 1
#endif
#define CONTEXTS (THREADS + POSTERS)

#define RUNNING 0
#define STOPPING 1
#define CLOSING 2
#define EXITING 3
byte phase = RUNNING;

/* Counters of each context, four at most: everything attempted, everything that has ended. */
byte attempted[4];
byte done[4];

/* Events in mailboxes, by the hops they have before them. */
byte waiting[HOPS + 1];
byte needing; /* processors that must be ended in a turn */
bit ending;   /* one of them is ready */

/* Wait words. `moved`: the word has changed since the stopper read it; `wake` as in wakeup.pml. */
bit moved;
bit out_moved;
bit wake[3] = 1;
bit has_left[THREADS];

/* The model's own. */
byte accepted;
byte handled;
bit hooked;
bit stopped;

#ifdef TSO
/* Counts in a buffer, oldest lowest, two bits each. */
#define OF_ATTEMPT 1
#define OF_DONE 2
byte buffer[4];
#define LENGTH_OF(b) ((b) == 0 -> 0 : ((b) < 4 -> 1 : ((b) < 16 -> 2 : 3)))
#define ROOM (buffer[me] < 64)
#define DRAINED (buffer[me] == 0) /* what an exchange waits for */

inline drain(who)
{
    /*= Inside a step, with something in the buffer. */
    if
    :: (buffer[who] & 3) == OF_ATTEMPT -> attempted[who]++
    :: else -> done[who]++
    fi;
    buffer[who] = buffer[who] >> 2
}

active proctype hardware()
{
    /*= Drains buffers whenever it likes. */
end:
    do
    :: atomic { buffer[0] != 0 -> drain(0) }
    :: atomic { buffer[1] != 0 -> drain(1) }
    :: atomic { buffer[2] != 0 -> drain(2) }
    :: atomic { buffer[3] != 0 -> drain(3) }
    od
}
#else
#define ROOM true
#define DRAINED true
#endif

inline count_attempt()
{
    /*@ engine/post.h weir__post_begin "weir__cell_add(&context->tally.attempted, 1)" */
    /*@ engine/turn_api.c post "weir__post_begin(by.context)" */
    /*@ sync/atomic.h weir__cell_add
     *  "weir__add_alone(cell, amount)" */
#ifdef TSO
    atomic { ROOM -> buffer[me] = buffer[me] | (OF_ATTEMPT << (2 * LENGTH_OF(buffer[me]))) }
#else
    attempted[me]++
#endif
}

inline count_done()
{
    /*@ engine/freeze.h weir__freeze_count
     *  "weir__cell_add_release(handled ? &context->tally.handled : &context->tally.dead, 1)" */
    /*@ sync/atomic.h weir__cell_add_release
     *  "weir__store(cell, weir__load(cell, relaxed) + amount, release)" */
    /*@ engine/post.c weir__post_count_refusal
     *  "weir__store(cell, weir__load(cell, relaxed) + 1, release)" */
#ifdef TSO
    atomic { ROOM -> buffer[me] = buffer[me] | (OF_DONE << (2 * LENGTH_OF(buffer[me]))) }
#else
    done[me]++
#endif
}

inline tell()
{
    /*@ engine/shutdown.c weir__engine_progress_if_stopping
     *  "const uint32_t phase = weir__load(&engine->phase, seq_cst)" */
    /*@ engine/shutdown.c weir__engine_progress "weir__add(&engine->progress, 1, seq_cst)" */
    if
    :: phase == STOPPING || phase == CLOSING -> atomic { DRAINED -> moved = 1 }
    :: else
    fi
}

/* Inside a step. */
inline accept(hops)
{
    /*@ queue/mailbox.h weir__mailbox_claim_within
     *  "weir__cas(&mailbox->word, &word, next, acq_rel, relaxed)" */
    assert(!stopped);
    waiting[hops]++;
    accepted++
}

inline refuse()
{
    /*@ engine/post.c weir__post_counted "status = refuse(by, to, event, status)" */
    /*@ engine/post.c refuse "weir__post_count_refusal(by, status)" */
    /*@ engine/post.c weir__post_count_refusal
     *  "weir__engine_progress_if_stopping(by->context->engine)" */
#ifdef BUG_TOLD_BEFORE_COUNTED
    tell();
    count_done()
#else
    count_done();
    tell()
#endif
}

proctype poster(byte me)
{
    byte n;

    /*@ engine/post.c offer "weir__context_enter(context)" */
    /*@ engine/post.h weir__post_is_open
     *  "weir__load(&by->context->engine->phase, relaxed) < WEIR__STOPPING" */
    /*@ engine/straight.h weir__post_straight "weir__context_enter(context)"
     *  "weir__load(&engine->phase, relaxed) >= WEIR__STOPPING"
     *  "return weir__straight_refused(by, to, event)" */
    /*@ engine/straight.h weir__offer_to
     *  "weir__lease_claim(mailbox, &by->context->tenant, &one, &before)" */
    do
    :: n == EVENTS -> break
    :: n < EVENTS ->
        n++;
#ifdef BUG_ATTEMPT_COUNTED_LATE
        if
        :: phase < STOPPING -> atomic { DRAINED -> accept(HOPS) } count_attempt()
        :: else -> count_attempt(); refuse(); break
        fi
#else
        count_attempt();
        if
        :: phase < STOPPING -> atomic { DRAINED -> accept(HOPS) }
        :: else -> refuse(); break
        fi
#endif
    od;
    n = 0
}

/* ---- threads ---- */

inline post_from_handler(hops)
{
    /*@ engine/turn_api.c weir_turn_post "return post(weir__turn_posting(turn), to, event)" */
    /*@ engine/post.c weir__post_is_open_late "(by->in_handler && (phase < WEIR__CLOSING" */
    count_attempt();
    if
    :: phase < CLOSING -> atomic { DRAINED -> accept(hops) }
    :: else -> assert(false)
    fi
}

#ifdef HOOK
inline run_hook()
{
    /*@ engine/life.c weir__life_end "weir__life_destroy(engine, processor," */
    /*@ engine/post.h weir__post_outside "in_handler = context->thread != NULL" */
    count_attempt();
    if
    :: phase < CLOSING -> atomic { DRAINED -> accept(0) }
    :: else -> refuse()
    fi
}
#endif

#ifdef FINAL
inline end_processor()
{
    /*@ engine/life.c unregister "engine->registry.needing--" */
    /*@ engine/life.c weir__life_end "const bool last = engine->registry.needing == 0"
     *  "weir__engine_progress_if_stopping(engine)" */
    needing--;
    tell()
}
#endif

/* Up to two hops. */
#define SOME(hops) ((hops) <= HOPS && waiting[(hops) % (HOPS + 1)] > 0)
#define WORK (SOME(0) || SOME(1) || SOME(2) || ending)

proctype thread(byte me)
{
    /*@ engine/duty.c weir__duty_run "while (!must_leave(thread))" */
    /*@ engine/duty.c must_leave "weir__load(&thread->engine->phase, seq_cst) >= WEIR__ABANDONED" */
round:
    if
    :: phase >= EXITING -> goto leave
    :: else
    fi;

    /*@ engine/dispatcher.c weir__dispatcher_take "*out = first" */
    /*@ engine/turn.c run_one "const bool goes_on = deliver(thread, turn->processor, envelope)" */
    /*@ engine/turn.c run_page "goes_on = deliver(thread, processor, envelope)" */
    /*@ engine/turn.c run_lone "*goes_on = deliver(thread, processor, &lone->envelope)" */
    /*@ engine/turn.c run_fold "call(thread, processor, processor->handler)" */
    /*@ engine/turn.c deliver "return end_event(thread, envelope," */
    /*@ engine/turn.c end_event
     *  "return weir__freeze_count(&thread->context, thread->turn.processor, true)" */
    /*@ engine/turn.c run_events "return weir__turn_finish(turn, at)" */
    if
    :: atomic { SOME(0) && DRAINED -> waiting[0]-- }
        handled++;
        count_done();
        goto round
#if HOPS > 0
    :: atomic { SOME(1) && DRAINED -> waiting[1]-- }
        post_from_handler(0);
        handled++;
        count_done();
        goto round
#endif
#if HOPS > 1
    :: atomic { SOME(2) && DRAINED -> waiting[2]-- }
        post_from_handler(1);
        handled++;
        count_done();
        goto round
#endif
#ifdef HOOK
    :: atomic { !hooked && DRAINED -> hooked = 1 }
        run_hook();
        goto round
#endif
#ifdef FINAL
    :: atomic { ending && DRAINED -> ending = 0 }
        end_processor();
        goto round
#endif
    :: !WORK
    fi;

    /*@ engine/duty.c idle "case WEIR__IDLE_PAUSE:"
     *  "weir__engine_progress_if_stopping(thread->engine)" */
    if
    :: true -> tell(); goto round
    :: true
    fi;

    /*@ engine/duty.c weir__duty_park "weir__store(&thread->wake, 0, seq_cst)"
     *  "weir__or(thread->external ? &dispatcher->parked_external[word]"
     *  "!must_leave(thread) && !any_work(thread)" */
#ifndef BUG_WORD_CLEARED_LATE
    atomic { DRAINED -> wake[me] = 0 }
#endif
    if
    :: phase >= EXITING -> wake[me] = 1; goto leave
    :: else
    fi;
#ifdef BUG_WORD_CLEARED_LATE
    atomic { DRAINED -> wake[me] = 0 }
#endif
    if
    :: WORK -> wake[me] = 1; goto round
    :: !WORK
    fi;

    /*@ engine/duty.c park "weir__engine_progress_if_stopping(thread->engine)"
     *  "while (weir__load(&thread->wake, seq_cst) == 0)" */
#ifndef BUG_PARKS_SILENTLY
    tell();
#endif
    if
    :: wake[me] == 1
    :: atomic { WORK -> wake[me] = 1 }
    fi;
    goto round;

    /*@ engine/thread.c run "weir__store(&thread->state, WEIR__THREAD_LEFT, seq_cst)"
     *  "weir__add(&engine->threads_out, 1, seq_cst)" */
leave:
#ifdef BUG_LEAVES_BEFORE_SAYING_SO
    out_moved = 1;
    has_left[me] = 1
#else
    has_left[me] = 1;
    out_moved = 1
#endif
}

/* ---- the stopper ---- */

#ifdef TSO
#define HEAVY(context) buffer[context] == 0
#else
#define HEAVY(context) true
#endif

inline set_phase(to)
{
    /*@ engine/shutdown.c set_phase "weir__store(&engine->phase, phase, seq_cst)"
     *  "weir__barrier_heavy()" */
    phase = to;
#ifndef BUG_NO_HEAVY_BARRIER
    HEAVY(0);
    HEAVY(1);
    HEAVY(2);
    HEAVY(3);
#endif
    skip
}

inline sum(cell, into)
{
    /*@ engine/shutdown.c sum_done "WEIR__TALLY_DONE(SUM)" */
    /*@ engine/shutdown.c sum_begun "WEIR__TALLY_BEGUN(SUM)" */
    do
    :: atomic { i < CONTEXTS -> into = into + cell; i++ }
    :: atomic { i == CONTEXTS -> i = 0; break }
    od
}

inline wait_until_quiet()
{
    /*@ engine/shutdown.c wait_for "const uint32_t seen = weir__load(&engine->progress, seq_cst)"
     *  "if (holds(engine))" "weir__wait_until(&engine->progress, seen, deadline)" */
    /*@ engine/shutdown.c weir__engine_is_quiet "sum_done(engine, &s)"
     *  "sum_begun(engine, &s)"
     *  "return done == s.attempted + s.hooks_due" */
    do
    ::
#ifndef BUG_WORD_READ_LATE
        moved = 0;
#endif
#ifdef BUG_ATTEMPTED_READ_FIRST
        sum(attempted[i], tried);
        sum(done[i], finished);
#else
        sum(done[i], finished);
        sum(attempted[i], tried);
#endif
        if
        :: atomic { finished == tried -> finished = 0; tried = 0; moved = 0; break }
        :: atomic { finished != tried -> finished = 0; tried = 0 }
        fi;
#ifdef BUG_WORD_READ_LATE
        moved = 0;
#endif
        moved == 1
    od
}

#ifdef FINAL
inline end_processors()
{
    /*@ engine/shutdown.c end_processors "weir__stop_family(engine, processor)" */
    /*@ engine/stop.c weir__stop_family "weir__dispatcher_push(weir__processor_dispatcher(p), p)" */
    ending = 1;

    /*@ engine/shutdown.c drain "return wait_for(engine, all_ended, deadline)" */
    /*@ engine/shutdown.c all_ended "const bool ended = engine->registry.needing == 0" */
    do
    :: moved = 0;
        if
        :: needing == 0 -> moved = 0; break
        :: else
        fi;
        moved == 1
    od
}
#endif

inline wake_everyone()
{
    /*@ engine/shutdown.c wake_everyone
     *  "weir__thread_wake(weir__thread_at(engine, i))" */
    wake[0] = 1;
#ifndef BUG_WAKES_ONE
    wake[1] = 1;
    wake[2] = 1;
#endif
    skip
}

inline wait_for_threads()
{
    /*@ engine/shutdown.c weir__shutdown_join
     *  "const uint32_t seen = weir__load(&engine->threads_out, seq_cst)"
     *  "left = all_left(engine)" */
    /*@ engine/shutdown.c all_left "state != WEIR__THREAD_LEFT && state != WEIR__THREAD_JOINED" */
    do
    :: out_moved = 0;
        do
        :: atomic { i < THREADS && has_left[i] -> i++ }
        :: atomic { i < THREADS && !has_left[i] -> i = 0; break }
        :: atomic { i == THREADS -> i = 0; goto returned }
        od;
        out_moved == 1
    od
}

proctype stopper()
{
    byte i, finished, tried;

    /*@ engine/shutdown.c begin_stopping "close_to_outsiders(engine, phase)" */
    /*@ engine/shutdown.c drain "wait_for(engine, weir__engine_is_quiet, deadline)" */
    set_phase(STOPPING);
#ifndef BUG_CLOSED_IN_FLIGHT
    wait_until_quiet();
#endif

    /*@ engine/shutdown.c drain "set_phase(engine, WEIR__CLOSING)" */
    set_phase(CLOSING);
#ifndef BUG_ONE_LOOK
    wait_until_quiet();
#endif

    /*@ engine/shutdown.c drain "end_processors(engine)" */
#ifdef FINAL
    end_processors();
#endif

    /*@ engine/shutdown.c weir__shutdown "set_phase(engine, WEIR__EXITING)" "wake_everyone(engine)"
     *  "weir__shutdown_join(engine, WEIR_FOREVER)" */
    atomic { stopped = 1; assert(accepted == handled && !WORK) }
    set_phase(EXITING);
    wake_everyone();
    wait_for_threads();

    /*@ engine/shutdown.c weir__shutdown "end_stop(engine)" */
    /*@ engine/shutdown.c end_stop "weir__store(&engine->stop_done, 2, seq_cst)" */
returned:
    assert(accepted == handled && !WORK && needing == 0)
}

init
{
    /*= Starts all. Everybody must come to an end. */
    byte i;
    atomic {
#ifdef FINAL
        needing = 1;
#endif
        do
        :: i < THREADS -> run thread(i); i++
        :: i >= THREADS && i < CONTEXTS -> run poster(i); i++
        :: else -> i = 0; break
        od;
        run stopper()
    }
}
