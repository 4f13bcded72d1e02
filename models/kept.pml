/*
 * kept.pml - what a thread keeps for itself: the biased lock of its list, thieves, the monitor.
 *
 * Processor 0 makes the others ready, on the thread that runs it, which keeps them. Threads run
 * what they keep, then what is queued, then steal from each other, then sleep. One handler may
 * never return: then the monitor gives away what its thread keeps. No two may be in a list at once,
 * and whoever is in it sees what the last one did; no processor is lost or doubled; when nothing
 * moves any more, nothing is kept or queued while a thread sleeps.
 *
 * Waking for what is queued simply happens: wakeup.pml shows that it does. That of a sleeper for
 * what is kept may be missed, here as there.
 *
 * Comments with @ and = are explained in wakeup.pml, what is left out in README.md. Parameters:
 * THREADS, PROCESSORS (3 at most each), EVENTS (for processor 0); FULL: thread 0 keeps all of them
 * at first, and nobody posts; STUCK: one handler never returns; TSO: plain stores are buffered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef PROCESSORS
#define PROCESSORS 3
#endif
#ifndef EVENTS
#define EVENTS 1
#endif
#if THREADS > 2
#define EACH(step) step(0); step(1); step(2)
#define SOME(condition) (condition(0) || condition(1) || condition(2))
#else
#define EACH(step) step(0); step(1)
#define SOME(condition) (condition(0) || condition(1))
#endif
#define MONITOR THREADS /* its number, among those who store */
#define LENGTH_OF(queue) ((queue) == 0 -> 0 : ((queue) < 4 -> 1 : ((queue) < 16 -> 2 : 3)))
#define BEHIND(queue, more) ((queue) | ((more) << (2 * LENGTH_OF(queue))))
#define FIRST_OF(queue, count) ((queue) & ((1 << (2 * (count))) - 1))

/* Lists. A queue is a number, two bits a processor, the first in line lowest. */
bit inside[THREADS];
bit raided[THREADS];
byte length[THREADS]; /* in memory, readable by all */
byte list[THREADS];   /* as whoever wrote it last left it */

/* The rest of the engine. */
bit ready[PROCESSORS];
byte mail[PROCESSORS];
byte queue; /* of the dispatcher */
bit asleep[THREADS], call[THREADS];
bit turns[THREADS]; /* of the count of turns: its last bit */
bit monitor_sleeps;

/* The model's own. */
bit owned[PROCESSORS], queued[PROCESSORS];
byte busy[THREADS]; /* who is in the list */
byte accepted, handled;
bit stuck;

#ifdef TSO
/* What they have stored and nobody else sees yet. */
mtype = { INSIDE, LEFT, RAIDED, RAID_OVER };
chan buffer[THREADS + 1] = [6] of { mtype, byte, byte };
byte late[THREADS];    /* stores to a list that are in a buffer ... */
byte late_of[THREADS]; /* ... of this one */

#define DRAIN(who)                                                                                 \
    :: atomic { buffer[who]?kind,where,value ->                                                    \
            if                                                                                     \
            :: kind == INSIDE -> inside[where] = value                                             \
            :: kind == LEFT -> length[where] = value; late[where]--; inside[where] = 0             \
            :: kind == RAIDED -> raided[where] = value                                             \
            :: kind == RAID_OVER -> length[where] = value; late[where]--; raided[where] = 0        \
            fi;                                                                                    \
            kind = 0; where = 0; value = 0                                                         \
        }

active proctype hardware()
{
    /*= Drains buffers whenever it likes. */
    mtype kind;
    byte where, value;
end:
    do
    DRAIN(0)
    DRAIN(1)
    DRAIN(2)
#if THREADS > 2
    DRAIN(3)
#endif
    od
}
#define DRAINED (len(buffer[me]) == 0) /* what an exchange waits for */
#define DRAINED_OF(who) (len(buffer[who]) == 0)
#define STORE(what, field, to, with) buffer[me]!what,to,with
#define VISIBLE(t) (late[t] == 0 || late_of[t] == me)
#define STORE_LENGTH(t, what, field)                                                               \
    buffer[me]!what,t,LENGTH_OF(list[t]); late[t]++; late_of[t] = me
#define OWN_LENGTH (late[me] != 0 && late_of[me] == me -> LENGTH_OF(list[me]) : length[me])
#else
#define DRAINED true
#define DRAINED_OF(who) true
#define STORE(what, field, to, with) field[to] = with
#define VISIBLE(t) true
#define STORE_LENGTH(t, what, field) length[t] = LENGTH_OF(list[t]); field[t] = 0
#define OWN_LENGTH length[me]
#endif

inline heavy_barrier()
{
    /*@ sync/real/word.c weir__barrier_heavy "make_all_fence()" */
    EACH(DRAINED_OF);
    DRAINED_OF(MONITOR)
}

#include "kept_list.pml"

/* ---- threads ---- */

/* Inside a step, like the next two. */
inline take(which)
{
    /*= Whoever has it now runs it. */
    assert(queued[which] && !owned[which]);
    queued[which] = 0;
    owned[which] = 1
}

inline line_up(which)
{
    /*= It stands in one line from now on. */
    assert(!queued[which] && !owned[which]);
    queued[which] = 1
}

inline push(chain)
{
    /*@ engine/dispatcher.c weir__dispatcher_push_quiet "weir__cas(&dispatcher->intake" */
    queue = BEHIND(queue, chain)
}

inline note()
{
    /*@ engine/monitor.h weir__monitor_sleeps "weir__barrier_light()"
     *  "weir__load(&engine->monitoring, relaxed) == WEIR__MONITOR_ASLEEP" */
    /*@ engine/monitor.h weir__monitor_note "if (weir__monitor_sleeps(engine))"
     *  "weir__monitor_wake(engine)" */
    /*@ engine/monitor.c weir__monitor_wake
     *  "weir__cas(&engine->monitoring, &asleep, WEIR__MONITOR_AWAKE, seq_cst, relaxed)" */
    if
#ifdef BUG_NOT_NOTED
    :: true
#else
    :: atomic { monitor_sleeps && DRAINED -> monitor_sleeps = 0 }
    :: !monitor_sleeps
#endif
    fi
}

/* One sleeper, if there is one to be seen. */
#define ASLEEP(t) asleep[t]
inline wake()
{
    /*@ engine/dispatcher.c weir__dispatcher_wake "wake(dispatcher, 0)" */
    if
    :: atomic { asleep[0] && DRAINED -> call[0] = 1 }
    :: atomic { asleep[1] && DRAINED -> call[1] = 1 }
#if THREADS > 2
    :: atomic { asleep[2] && DRAINED -> call[2] = 1 }
#endif
    :: !SOME(ASLEEP)
    fi
}

inline keep(which)
{
    /*@ engine/ready.h weir__keep
     *  "weir__kept_append(&serving->kept, processor, processor, 1)"
     *  "weir__keep_tell(serving, kept)" */
    /*@ engine/ready.h weir__keep_tell "weir__monitor_note(dispatcher->engine)"
     *  "weir__dispatcher_wake(dispatcher)" */
    /*@ engine/ready.h weir__keep_concerns "weir__monitor_sleeps(serving->dispatcher->engine)"
     *  "kept >= weir__load(&serving->thread->share_at, relaxed)" */
    /*@ engine/straight.h weir__straight_ready
     *  "weir__kept_append(&keeping->kept, processor, processor, 1)"
     *  "weir__unlikely(weir__keep_concerns(keeping, kept))"
     *  "return weir__straight_share(context, keeping, kept)"
     *  "return weir__straight_push(context, processor)" */
    /*@ engine/straight.c weir__straight_share "weir__keep_tell(keeping, kept)" */
    /*@ engine/ready.h weir__ready "weir__likely(weir__keep(keeping, processor))"
     *  "weir__dispatcher_push(dispatcher, processor)" */
    append(which + 1);
    if
    :: kept ->
        kept = 0;
        note();
        if
        :: OWN_LENGTH > 1 -> wake()
        :: else
        fi
    :: atomic { !kept && DRAINED -> push(which + 1) }
    fi
}

inline steal(t)
{
    /*@ engine/share.c find_richest "length > most && s != own"
     *  "length >= weir__load(&s->thread->share_at, relaxed)" */
    /*= share_at is what the monitor has weighed, 2 or more: here always 2. */
    /*@ engine/share.c weir__share_steal
     *  "const weir__chain chain = weir__kept_raid(&richest->kept, false)"
     *  "weir__kept_append(&own->kept, rest, chain.last, chain.count - 1)"
     *  "push_all(dispatcher, rest, chain.count - 1)"
     *  "weir__monitor_note(dispatcher->engine)" */
    /*@ engine/share.c push_all "weir__dispatcher_push_quiet(dispatcher, first)" */
    /*@ engine/duty.c run_stolen "weir__share_steal(thread->servings[place])" */
    if
    :: t != me && p == 0 && length[t] > 1 ->
        raid_list(t, (LENGTH_OF(list[t]) + 1) / 2);
        if
        :: chain == 0
        :: atomic { chain != 0 -> p = chain & 3; chain = chain >> 2; take(p - 1) }
            if
            :: chain == 0
            :: chain != 0 ->
#ifndef BUG_REST_LOST
                append(chain);
#else
                kept = 1;
#endif
                if
                :: atomic { kept -> kept = 0; chain = 0 }
                :: atomic { !kept && DRAINED -> push(chain); chain = 0 }
                fi;
                note()
            fi
        fi
    :: else
    fi
}

inline post(which)
{
    /*@ queue/mailbox.h weir__mailbox_claim_within
     *  "weir__cas(&mailbox->word, &word, next, acq_rel, relaxed)" */
    /*@ engine/straight.h weir__straight_first
     *  "return weir__straight_ready(by->context, processor)" */
    /*@ engine/straight.h weir__offer_to "weir__ready(by->context, processor)" */
    atomic { DRAINED ->
        first = !ready[which];
        ready[which] = 1;
        mail[which]++;
        accepted++
    }
    if
    :: atomic { first -> first = 0; line_up(which) }
        keep(which)
    :: else
    fi
}

proctype thread(byte me)
{
    byte p, chain;
    bit in, kept, first;
    /*@ engine/duty.c weir__duty_round
     *  "if (thread->kept_in_a_row < KEPT_IN_A_ROW_MAX)"
     *  "processor = weir__kept_next(&serving->kept)" */
round:
    if
    :: next_kept()
    :: true
    fi;

    /*@ engine/dispatcher.c weir__dispatcher_take "weir__processor *first = dispatcher->head" */
    if
    :: p != 0
    :: p == 0 && queue == 0
    :: atomic { p == 0 && queue != 0 && DRAINED ->
            p = queue & 3;
            queue = queue >> 2;
            take(p - 1)
        }
    fi;

    /*@ engine/duty.c weir__duty_round "if (run_kept(thread) || run_stolen(thread))" */
    if
    :: p == 0 -> next_kept()
    :: else
    fi;
    EACH(steal);

    /*@ engine/duty.c weir__duty_round "failed = failed || weir__share_keeps(thread)" */
    /*@ engine/duty.c any_work "return weir__share_keeps(thread) || any_queued(thread)" */
    /*@ engine/duty.c weir__duty_park "!must_leave(thread) && !any_work(thread)" */
    if
    :: p != 0 -> goto got
    :: p == 0 && OWN_LENGTH != 0 -> goto round
    :: atomic { p == 0 && OWN_LENGTH == 0 && DRAINED -> asleep[me] = 1 }
    fi;
end_asleep:
    atomic { queue != 0 || call[me] -> asleep[me] = 0; call[me] = 0 }
    goto round;

    /*@ engine/turn.c weir__turns_run "end = run_turn(thread, serving, processor)" */
    /*@ engine/turn.c run_turn "weir__cell_add(&thread->turns, 1)" */
got:
    atomic { DRAINED ->
        turns[me] = !turns[me];
        p--;
        mail[p]--;
        handled++
    }

    /*= What the application does. */
#ifndef FULL
    if
    :: p == 0 ->
        post(1);
#if PROCESSORS > 2
        post(2);
#endif
        skip
    :: else
    fi;
#endif
#ifdef STUCK
    if
    :: true
    :: atomic { !stuck -> stuck = 1 }
end_stuck:
        false
    fi;
#endif

    /*@ engine/duty.c put_back
     *  "thread->context.keeping == NULL || any_queued(thread)" "!weir__keep(serving, processor)" */
    if
    :: atomic { mail[p] == 0 && DRAINED -> ready[p] = 0; owned[p] = 0 }
    :: atomic { mail[p] != 0 && queue == 0 -> owned[p] = 0; line_up(p) }
        keep(p)
    :: atomic { mail[p] != 0 && queue != 0 && DRAINED -> owned[p] = 0; line_up(p); push(p + 1) }
    fi;
    p = 0;
    goto round
}

/* ---- the monitor ---- */

inline look(t)
{
    /*@ engine/monitor.c tend "weir__load(&serving->kept.length, seq_cst)" */
    /*@ engine/monitor.c tend_all "kept |= tend(weir__thread_at(engine, i), passed)" */
    /*@ engine/monitor.c sleep_until_needed "if (tend_all(engine, 0))" */
    if
    :: length[t] != 0 -> found = 1
    :: else
    fi
}

inline tend(t)
{
    /*@ engine/monitor.c tend "const bool held_up = passed > 0 && turns == thread->turns_seen"
     *  "if (held_up)" */
    /*@ engine/monitor.c weigh "thread->turns_seen = turns" */
    atomic { held_up = turns[t] == seen[t]; seen[t] = turns[t] }
    if
    :: length[t] == 0
    :: length[t] != 0 ->
        found = 1;

        /*@ engine/monitor.c give_away
         *  "weir__chain chain = weir__kept_raid(&serving->kept, true)"
         *  "weir__dispatcher_push(serving->dispatcher, p)" */
        if
        :: held_up ->
            raid_list(t, 3);
            if
            :: atomic { chain != 0 && DRAINED -> push(chain); chain = 0 }
            :: chain == 0
            fi
        :: !held_up && length[t] >= 2 -> wake()
        :: else
        fi
    fi
}

#define WORTH_A_TICK(t)                                                                            \
    (length[t] != 0 && (turns[t] != seen[t] || (!inside[t] && !raided[t])))
#define KEPT(t) (length[t] != 0)

proctype monitor()
{
    byte chain;
    bit in, found, held_up;
    bit seen[THREADS];
    byte me = MONITOR;

    /*@ engine/monitor.c sleep_until_needed
     *  "weir__cas(&engine->monitoring, &state, WEIR__MONITOR_ASLEEP, seq_cst, seq_cst)"
     *  "weir__barrier_heavy()" "weir__monitor_wake(engine)"
     *  "weir__word_wait(&engine->monitoring, WEIR__MONITOR_ASLEEP, WEIR_FOREVER)" */
sleep:
#ifdef BUG_LOOKS_THEN_SLEEPS
    EACH(look);
#endif
    atomic { DRAINED -> monitor_sleeps = 1 }
#ifndef BUG_SLEEPS_WITHOUT_BARRIER
    heavy_barrier();
#endif
#ifndef BUG_LOOKS_THEN_SLEEPS
    EACH(look);
#endif
    if
    :: atomic { found -> found = 0; monitor_sleeps = 0 }
    :: else
    fi;
end_asleep:
    !monitor_sleeps;

    /*@ engine/monitor.c tick
     *  "empty = now > last && tend_all(engine, now - last) ? 0 : empty + 1" */
    /*= Ticks that find nothing, or find it as the last one did, are as good as none. */
tick:
    atomic { !SOME(KEPT) || SOME(WORTH_A_TICK) -> found = 0 }
    EACH(tend);
    if
    :: found -> goto tick
    :: atomic { !found -> held_up = 0; goto sleep }
    fi
}

init
{
    /*= Starts all, waits until nothing moves, judges. */
    byte i, sum;
    bit sleeper;
    atomic {
#ifdef FULL
        do
        :: i < PROCESSORS ->
            ready[i] = 1; mail[i] = 1; queued[i] = 1; accepted++;
            list[0] = BEHIND(list[0], i + 1);
            i++
        :: else -> length[0] = PROCESSORS; i = 0; break
        od;
#else
        ready[0] = 1;
        mail[0] = EVENTS;
        accepted = EVENTS;
        queued[0] = 1;
        queue = 1;
#endif
        run monitor();
        do
        :: i < THREADS -> run thread(i); i++
        :: else -> i = 0; break
        od
    }
    timeout;
    atomic {
        assert(stuck || handled == accepted);
        do
        :: i < THREADS ->
            assert(busy[i] == 0 && !inside[i] && !raided[i]);
            assert(length[i] == LENGTH_OF(list[i]));
            sum = sum + LENGTH_OF(list[i]);
            sleeper = sleeper || asleep[i];
            i++
        :: else -> i = 0; break
        od;
        assert(!sleeper || (sum == 0 && queue == 0));
        sum = sum + LENGTH_OF(queue);
        do
        :: i < PROCESSORS -> sum = sum - queued[i]; i++
        :: else -> break
        od;
        assert(sum == 0)
    }
}
