/*
 * freeze.pml - a stop that runs out of time says exactly what was handled and what is left.
 *
 * One processor with events in its mailbox; an owner that handles them one after the other and may
 * be stopped anywhere; somebody who runs out of patience. By default that is a stop of this
 * processor (weir__freeze_processor): what its report says was handled and what it says is left
 * must be everything that was accepted, and the counters must say the same for ever after. ENGINE:
 * the stop of the whole engine (freeze_and_count).
 *
 * Comments with @ and = are explained in wakeup.pml, what is left out in README.md.
 *
 * Parameters: EVENTS; ENGINE; TSO: plain stores wait in a buffer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EVENTS
#define EVENTS 2
#endif

byte attention;
bit freeze;        /* WEIR__CONTROL_FREEZE of the processor */
bit frozen;        /* its numbers are fixed ... */
byte fixed;        /* ... at this; of the whole engine: what the owner's context had handled */
byte of_processor; /* the processor's cell: handled */
byte of_context;   /* its owner's cell: handled */
byte given_up;     /* events that the owner gave up */
bit abandoned;     /* phase >= ABANDONED */
bit count_lock;

/* The model's own. */
byte said_handled;
byte said_left;

#ifdef TSO
/* The owner's counts in a buffer: first the processor's, then the context's. */
bit processor_behind;
bit context_behind;

active proctype hardware()
{
    /*= Drains buffers whenever it likes. */
end:
    do
    :: atomic { processor_behind -> processor_behind = 0; of_processor++ }
    :: atomic { context_behind && !processor_behind -> context_behind = 0; of_context++ }
    od
}
#define DRAINED (!processor_behind && !context_behind)
#define MY_CELL (of_processor + processor_behind)
#else
#define DRAINED true
#define MY_CELL of_processor
#endif

/* ---- the owner ---- */

inline count_in_processor()
{
    /*@ engine/freeze.h weir__freeze_count
     *  "weir__cell_add(handled ? &processor->handled : &processor->dead, 1)" */
    /*@ engine/freeze.c weir__freeze_count_locked
     *  "weir__cell_add(handled ? &processor->handled : &processor->dead, 1)" */
#ifdef TSO
    atomic { DRAINED -> processor_behind = 1 }
#else
    of_processor++
#endif
}

inline count_in_context()
{
    /*@ engine/freeze.c count_in "weir__store(cell, weir__load(cell, relaxed) + 1, release)" */
    /*@ engine/freeze.h weir__freeze_count
     *  "weir__cell_add_release(handled ? &context->tally.handled : &context->tally.dead, 1)" */
    /*@ engine/freeze.c weir__freeze_look
     *  "count_in(handled ? &context->tally.handled : &context->tally.dead)" */
#ifdef TSO
    context_behind = 1
#else
    of_context++
#endif
}

/* Attention is set: look closer. */
inline freeze_look()
{
    /*@ engine/freeze.c weir__freeze_look
     *  "const uint32_t control = weir__load(&processor->control, acquire)"
     *  "while (weir__load(&cold->frozen, acquire) == 0)" "if (weir__cell_read(cell) > fixed)"
     *  "weir__store(cell, fixed, relaxed)" "weir__cell_add(&cold->left, 1)" */
    if
    :: freeze ->
        stops = 1;
#ifndef BUG_DOES_NOT_WAIT
        frozen == 1;
#endif
        if
        :: atomic { MY_CELL > fixed && DRAINED -> of_processor = fixed; given_up++ }
        :: MY_CELL <= fixed -> count_in_context()
        fi
    :: else ->
        count_in_context();
        stops = abandoned
    fi
}

proctype owner()
{
    byte n;
    bit stops;

    /*@ engine/turn.c run_one "const bool goes_on = deliver(thread, turn->processor, envelope)" */
    /*@ engine/turn.c run_page "goes_on = deliver(thread, processor, envelope)" */
    /*@ engine/turn.c run_lone "*goes_on = deliver(thread, processor, &lone->envelope)" */
    /*@ engine/turn.c run_fold "call(thread, processor, processor->handler)" */
    do
    :: n == EVENTS || stops -> break
    :: n < EVENTS && !stops ->
        n++;
        if
        :: attention != 0 ->

            /*@ engine/freeze.h weir__freeze_count
             *  "return weir__freeze_count_locked(context, processor, handled)" */
            /*@ engine/freeze.c weir__freeze_count_locked "weir__mutex_lock(&engine->count_lock)"
             *  "const bool goes_on = weir__freeze_look(context, processor, handled)"
             *  "weir__mutex_unlock(&engine->count_lock)" */
            atomic { !count_lock && DRAINED -> count_lock = 1 }
            count_in_processor();
            freeze_look();
            atomic { DRAINED -> count_lock = 0 }
        :: else ->

            /*@ engine/freeze.h weir__freeze_count "weir__barrier_light()"
             *  "return weir__freeze_look(context, processor, handled)" */
            count_in_processor();
#ifdef BUG_COUNTS_BLINDLY
            count_in_context()
#else
            if
            :: attention != 0 -> freeze_look()
            :: else -> count_in_context()
            fi
#endif
        fi
    od;

    /*@ engine/turn_end.c discard_all "weir__freeze_discard(turn->context, turn->processor" */
    /*@ engine/freeze.c weir__freeze_discard
     *  "weir__cell_add(&weir__processor_cold_of(processor)->left, 1)" */
    do
    :: freeze && n < EVENTS -> atomic { given_up++; n++ }
    :: else -> break
    od
}

/* ---- the freezer ---- */

inline heavy_barrier()
{
    /*@ sync/real/word.c weir__barrier_heavy "make_all_fence()" */
#ifndef BUG_NO_HEAVY_BARRIER
    DRAINED
#else
    skip
#endif
}

#ifdef ENGINE
proctype freezer()
{
    byte waiting, done;

    /*@ engine/shutdown.c weir__shutdown "weir__add(&engine->attention, 1, seq_cst)"
     *  "set_phase(engine, WEIR__ABANDONED)" "waiting = freeze_and_count(engine)" */
    attention++;
    abandoned = 1;
    heavy_barrier();

    /*@ engine/shutdown.c count_waiting
     *  "waiting += weir__mailbox_outstanding(word, own + evicted)" "*done += own" */
    /*@ engine/shutdown.c count_frozen "done += weir__load(&c->frozen_handled, relaxed)" */
    /*@ engine/shutdown.c moved
     *  "weir__cell_read(&c->tally.handled) != weir__load(&c->frozen_handled, relaxed)" */
    /*@ engine/shutdown.c freeze_and_count "weir__mutex_lock(&engine->count_lock)"
     *  "weir__freeze_engine(engine)" */
    /*@ engine/freeze.c weir__freeze_engine
     *  "weir__store(&c->frozen_handled, weir__cell_read(&c->tally.handled), relaxed)" */
    /*@ engine/shutdown.c freeze_and_count "waiting = count_waiting(engine, &done)"
     *  "waiting += done > frozen ? done - frozen : 0"
     *  "while (moved(engine) && ++tries < 1000)" */
    atomic { !count_lock -> count_lock = 1 }
    do
    :: heavy_barrier();
        fixed = of_context;
        done = of_processor;
        waiting = EVENTS - done;
#ifndef BUG_BETWEEN_TWO_COUNTERS
        if
        :: done > fixed -> waiting = waiting + done - fixed
        :: else
        fi;
#endif
        if
        :: of_context == fixed -> break
        :: else
        fi
    od;
    count_lock = 0;

    /*@ engine/shutdown.c write_report "report->left = s.left + waiting" */
    atomic { said_handled = fixed; said_left = waiting; assert(said_handled + said_left == EVENTS) }
}
#else
proctype freezer()
{
    /*@ engine/freeze.c weir__freeze_processor "weir__add(&engine->attention, 1, seq_cst)"
     *  "weir__or(&processor->control, WEIR__CONTROL_FREEZE, seq_cst)" "weir__barrier_heavy()" */
#ifdef BUG_ATTENTION_SET_LATE
    freeze = 1;
    heavy_barrier();
    fixed = of_processor;
    attention++;
#else
    attention++;
    freeze = 1;
    heavy_barrier();

    /*@ engine/freeze.c weir__freeze_processor
     *  "weir__store(&cold->frozen_handled, weir__cell_read(&processor->handled), relaxed)" */
    fixed = of_processor;
#endif

    /*@ engine/freeze.c weir__freeze_processor "weir__store(&cold->frozen, 1, release)"
     *  "return weir__mailbox_outstanding(weir__load(&processor->mailbox.word, acquire), done)" */
    frozen = 1;
    atomic { said_handled = fixed; said_left = EVENTS - fixed }
}
#endif

init
{
    /*= Starts both, waits until nothing moves, judges: what was said stays true. */
    atomic { run owner(); run freezer() }
    timeout;
#ifndef ENGINE
    assert(of_processor == said_handled && of_context == said_handled && given_up == said_left)
#endif
}
