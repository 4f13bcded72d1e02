/*
 * wakeup.pml - from a post to a turn: the ready edge, the ready queue, searching, parking, waking.
 *
 * Posters post to processors; threads take what is ready, run turns, search, park. When nothing
 * moves any more, every accepted event must have been handled and everything put back in order; and
 * if a handler does not return, no work may wait where a thread sleeps that serves it.
 *
 * A comment that begins with @ names what a group of steps stands for: a file of src/, a function
 * in it, and words that stand in its body (tests/contract/models.py looks them up). One that begins
 * with = says what is the model's own. README.md says what is left out, and why that is sound.
 *
 * Parameters: THREADS, DISPATCHERS, PROCESSORS, POSTERS, EVENTS (of each poster), BATCH; SOME:
 * the last thread serves dispatcher 0 only; FORWARD: processor 0 sends its events on to processor
 * 1; STUCK: one handler never returns; TSO: plain stores wait in a buffer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef DISPATCHERS
#define DISPATCHERS 1
#endif
#ifndef PROCESSORS
#define PROCESSORS DISPATCHERS
#endif
#ifndef POSTERS
#define POSTERS 1
#endif
#ifndef EVENTS
#define EVENTS 2
#endif
#ifndef BATCH
#define BATCH 1
#endif

#define BIT(t) (1 << (t))
#define HOME(p) ((p) % DISPATCHERS)
#ifdef SOME
#define SERVES(t, d) ((t) < THREADS - 1 || (d) == 0)
#else
#define SERVES(t, d) true
#endif
#if DISPATCHERS == 1
#define EACH(step) step(0)
#define EACH_OR(step, label) step(0, label)
#else
#define EACH(step) step(0); step(1)
#define EACH_OR(step, label) step(0, label); step(1, label)
#endif
#define IS_LAST(d) ((d) == DISPATCHERS - 1)

/* Processors: the word of the mailbox, and what hangs in it (mailbox.pml has the list itself). */
bit ready[PROCESSORS];
byte count[PROCESSORS]; /* claimed and not yet credited */
byte hung[PROCESSORS];  /* published and not yet taken */

/* Dispatchers. A queue is a number, two bits a processor, the first in line lowest. */
byte intake[DISPATCHERS];
byte list[DISPATCHERS]; /* under the lock */
byte length[DISPATCHERS];
bit lock[DISPATCHERS];
short searching[DISPATCHERS];
byte parked[DISPATCHERS];
#define LENGTH_OF(queue) ((queue) == 0 -> 0 : ((queue) < 4 -> 1 : ((queue) < 16 -> 2 : 3)))
#define BEHIND(queue, more) ((queue) | ((more) << (2 * LENGTH_OF(queue))))

/* Threads, three at most. A wait word is kept at 1 while its thread is up: nobody reads it. */
bit wake[3] = 1;
#define ASLEEP(t, d) (SERVES(t, d) && wake[t] == 0)
#define SLEEPER(d) (ASLEEP(0, d) || ASLEEP(1, d) || ASLEEP(2, d))

/* The model's own: who has what, and what became of everything. */
bit owned[PROCESSORS], queued[PROCESSORS];
byte counting[DISPATCHERS]; /* wakers that have taken a bit and not counted yet */
byte accepted, handled, posted;
bit stuck;

#ifdef TSO
/* What a thread or poster has stored and nobody else sees yet. These are all the plain stores of
 * the protocol; no two kinds meet in a buffer, because every exchange drains it. The length goes
 * with the release of the lock behind it. */
#define OF_LOCK 1
#define OF_LENGTH 2
#define OF_LINK 3
#define OF_BIT 4
byte kind[4], where[4];

inline drain_oldest(who)
{
    /*= Inside a step, with something in the buffer. */
    if
    :: kind[who] == OF_LENGTH -> length[where[who]] = LENGTH_OF(list[where[who]])
    :: kind[who] == OF_LOCK -> lock[where[who]] = 0
    :: kind[who] == OF_LINK -> hung[where[who]]++
    :: kind[who] == OF_BIT -> parked[where[who]] = parked[where[who]] | BIT(who)
    fi;
    if
    :: kind[who] == OF_LENGTH -> kind[who] = OF_LOCK
    :: else -> kind[who] = 0; where[who] = 0
    fi
}

active proctype hardware()
{
    /*= Drains buffers whenever it likes. */
end:
    do
    :: atomic { kind[0] != 0 -> drain_oldest(0) }
    :: atomic { kind[1] != 0 -> drain_oldest(1) }
    :: atomic { kind[2] != 0 -> drain_oldest(2) }
    :: atomic { kind[3] != 0 -> drain_oldest(3) }
    od
}
#define DRAINED (kind[me] == 0) /* what an exchange waits for */
#define MINE(d) (kind[me] != 0 && kind[me] <= OF_LENGTH && where[me] == (d))
#define HELD(d) (lock[d] && !MINE(d))
#define LENGTH(d) (MINE(d) -> LENGTH_OF(list[d]) : length[d])
#else
#define DRAINED true
#define HELD(d) lock[d]
#define LENGTH(d) length[d]
#endif

#include "wakeup_post.pml"

/* ---- searching ---- */

inline begin_searching(d)
{
    /*@ engine/duty.c weir__duty_search_begin
     *  "weir__add(&thread->servings[i]->dispatcher->searching, 1" */
    if
    :: atomic { SERVES(me, d) && DRAINED -> searching[d]++ }
    :: !SERVES(me, d)
    fi
}

/* Never below zero, but for the moment between a waker's taking of a bit and its counting. */
inline end_searching(d)
{
    /*@ engine/duty.c weir__duty_search_end "if (!thread->searching)"
     *  "weir__sub(&dispatcher->searching, 1, seq_cst)" */
    if
    :: atomic { searches && SERVES(me, d) && DRAINED ->
            searching[d]--;
            assert(searching[d] + counting[d] >= 0);
            searches = !IS_LAST(d)
        }
    :: atomic { searches && !SERVES(me, d) -> searches = !IS_LAST(d) }
    :: !searches
    fi
}

inline help(d)
{
    /*@ engine/duty.c weir__duty_hand_over "weir__dispatcher_wake_instead(thread->servings" */
    if
    :: SERVES(me, d) -> look_and_wake(d)
    :: else
    fi
}

inline end_searching_and_look(d)
{
    /*@ engine/duty.c weir__duty_search_end "if (look && weir__dispatcher_has_work(dispatcher))" */
    end_searching(d);
#ifndef BUG_SEARCHER_ENDS_BLIND
    help(d)
#endif
}

/* The looks before a sleep: goes on behind it if nothing is there. */
/*@ engine/duty.c any_queued "if (is_queued_for(thread, i))" */
/*@ engine/duty.c is_queued_for "return weir__dispatcher_has_work(serving->dispatcher)" */
#define LOOK(d, there)                                                                             \
    if                                                                                             \
    :: SERVES(me, d) && intake[d] != 0 -> goto there                                               \
    :: else ->                                                                                     \
        if                                                                                         \
        :: SERVES(me, d) && LENGTH(d) > 0 -> goto there                                            \
        :: else                                                                                    \
        fi                                                                                         \
    fi

/* ---- taking ---- */

/* Inside a step. */
inline unlock(d)
{
    /*@ engine/dispatcher.c weir__dispatcher_take
     *  "weir__store(&dispatcher->length, length, seq_cst)"
     *  "weir__store(&dispatcher->length, 0, relaxed)" "weir__trylock_release(&dispatcher->lock)" */
    /*@ sync/mutex.h weir__trylock_release "weir__store(&lock->held, 0, release)" */
#ifdef TSO
#ifndef BUG_LENGTH_LATE
    if
    :: list[d] != 0 -> length[d] = LENGTH_OF(list[d])
    :: else
    fi;
#endif
    kind[me] = OF_LENGTH; where[me] = d
#else
    length[d] = LENGTH_OF(list[d]);
    lock[d] = 0
#endif
}

/* A look from outside never finds both words empty while work goes from one to the other. */
inline take(d)
{
    do
    ::
        /*@ engine/dispatcher.c weir__dispatcher_take
         *  "if (!weir__dispatcher_has_more(dispatcher) && !dispatcher->fair)" */
        if
        :: !SERVES(me, d) -> break
        :: SERVES(me, d) && LENGTH(d) > 0
        :: SERVES(me, d) && LENGTH(d) == 0 ->
            if
            :: intake[d] != 0
            :: intake[d] == 0 ->
                if
                :: LENGTH(d) > 0
                :: atomic { LENGTH(d) == 0 -> succeeded = 1; break }
                fi
            fi
        fi;

        /*@ engine/dispatcher.c weir__dispatcher_take
         *  "if (!weir__trylock_take(&dispatcher->lock))"
         *  "if (length == 0 || dispatcher->fair) {" */
        /*@ sync/mutex.h weir__trylock_take "weir__exchange(&lock->held, 1, acquire) == 0" */
        /*@ engine/dispatcher.c move_intake "weir__load(&dispatcher->intake, relaxed) == 0"
         *  "weir__store(&dispatcher->length, length + 1, relaxed)"
         *  "weir__exchange(&dispatcher->intake, 0, seq_cst)" */
        if
        :: atomic { HELD(d) -> failed = 1; break }
        :: atomic { !HELD(d) && DRAINED && (intake[d] == 0 || list[d] != 0) -> lock[d] = 1 }
        :: atomic { !HELD(d) && DRAINED && intake[d] != 0 && list[d] == 0 ->
                lock[d] = 1;
#ifndef BUG_LENGTH_LATE
                length[d] = LENGTH_OF(list[d]) + 1
#endif
            }
            atomic { list[d] = BEHIND(list[d], intake[d]); intake[d] = 0 }
        fi;

        /*@ engine/dispatcher.c weir__dispatcher_take "weir__processor *first = dispatcher->head"
         *  "length--" */
        if
        :: atomic { list[d] == 0 -> unlock(d); succeeded = 1; break }
        :: atomic { list[d] != 0 ->
                p = (list[d] & 3) - 1;
                list[d] = list[d] >> 2;
                unlock(d);
                assert(queued[p] && !owned[p]);
                queued[p] = 0;
                owned[p] = 1;
                failed = 0; succeeded = 0; looked = 0; place = (d + 1) % DISPATCHERS;
                goto got
            }
        fi
    od
}

/* ---- parking ---- */

inline set_bit(d)
{
    /*@ engine/duty.c weir__duty_park
     *  "weir__or(thread->external ? &dispatcher->parked_external[word]" */
    if
#ifdef BUG_PARKED_RELAXED
    :: atomic { SERVES(me, d) && DRAINED -> kind[me] = OF_BIT; where[me] = d }
#else
    :: atomic { SERVES(me, d) && DRAINED -> parked[d] = parked[d] | BIT(me) }
#endif
    :: !SERVES(me, d)
    fi
}

inline take_bit_back(d)
{
    /*@ engine/duty.c weir__duty_unpark
     *  "(weir__and(&dispatcher->parked[word], ~bit, seq_cst) & bit) != 0"
     *  "weir__add(&dispatcher->searching, 1, seq_cst)" "thread->searching = true" */
    if
    :: atomic { DRAINED && (parked[d] & BIT(me)) ->
            parked[d] = parked[d] & ~BIT(me);
            counting[d]++
        }
        atomic { searching[d]++; counting[d]--; wake[me] = 1; searches = 1 }
    :: atomic { DRAINED && !(parked[d] & BIT(me)) -> wake[me] = 1; searches = 1 }
    fi
}

#ifndef BUG_HANDED_BACK_QUIETLY
inline look_where_pushed_quietly()
{
    /*@ engine/duty.c reveal "quiet != here && weir__dispatcher_has_work(quiet)"
     *  "weir__dispatcher_wake(quiet)" */
    if
    :: quietly != 0 && quietly - 1 != HOME(p) -> look_and_wake(quietly - 1)
    :: else
    fi;
    quietly = 0
}
#endif

inline handle()
{
    /*= What the application does. */
#ifdef FORWARD
    if
    :: p == 0 -> post(1)
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
    handled++
}

proctype thread(byte me)
{
    byte place, p, done, bits;
#ifndef BUG_HANDED_BACK_QUIETLY
    byte quietly;
#endif
    bit searches, looked, first, failed, succeeded;

    /*@ engine/duty.c weir__duty_round "const uint32_t place = (thread->next_place + n) % count" */
round:
#if DISPATCHERS == 1
    take(0);
#else
    if
    :: place == 0 -> take(0); take(1)
    :: else -> take(1); take(0)
    fi;
#endif

    /*@ engine/duty.c weir__duty_round "if (failed && !succeeded)" */
    /*@ engine/duty.c idle "if (!thread->looked)"
     *  "switch (weir__idle_step_next(&thread->idle, weir__clock_now))" */
    if
    :: atomic { failed && !succeeded -> failed = 0; goto back_off }
    :: atomic { failed && succeeded -> failed = 0; succeeded = 0; goto round }
    :: atomic { !failed && !looked -> assert(!searches); succeeded = 0; looked = 1; searches = 1 }
        EACH(begin_searching);
        goto round
    :: atomic { !failed && looked -> succeeded = 0; goto round }
#ifdef BUG_WORD_CLEARED_LATE
    :: atomic { !failed && looked -> succeeded = 0 }
#else
    :: atomic { !failed && looked && DRAINED -> succeeded = 0; wake[me] = 0 }
#endif
    fi;

    /*@ engine/duty.c weir__duty_park "weir__store(&thread->wake, 0, seq_cst)"
     *  "weir__duty_search_end(thread, false)" */
#ifndef BUG_SEARCHES_UNTIL_ASLEEP
    EACH(end_searching);
#endif
#ifdef BUG_ONE_BIT
    set_bit(0);
#else
    EACH(set_bit);
#endif

    /*@ engine/duty.c weir__duty_park "!must_leave(thread) && !any_work(thread)" */
    /*@ engine/duty.c park "while (weir__load(&thread->wake, seq_cst) == 0)" */
#ifndef BUG_NO_SECOND_LOOK
    EACH_OR(LOOK, up);
#endif
#ifdef BUG_SEARCHES_UNTIL_ASLEEP
    EACH(end_searching);
#endif
#ifdef BUG_WORD_CLEARED_LATE
    wake[me] = 0;
#endif
end_asleep:
    wake[me] == 1;

    /*@ engine/duty.c park "weir__duty_unpark(thread)" */
up:
    EACH(take_bit_back);
    goto round;

    /*@ engine/duty.c pass_on "weir__duty_search_end(thread, true)"
     *  "} else if (weir__dispatcher_has_more(dispatcher)) {" */
got:
    if
    :: searches -> EACH(end_searching_and_look)
#ifndef BUG_HANDED_BACK_QUIETLY
    :: else -> look_for_more(HOME(p)); look_where_pushed_quietly()
#else
    :: else -> look_for_more(HOME(p))
#endif
    fi;

    /*@ engine/turn.c run_events "const uint64_t word = weir__load(&mailbox->word, acquire)" */
    /*@ engine/turn.c settle "weir__mailbox_idle(&processor->mailbox, word" */
    /*@ queue/mailbox.c weir__mailbox_idle_as
     *  "weir__cas(&mailbox->word, &word, idle, seq_cst, relaxed)" */
    /*@ engine/progress.h weir__progress_event "weir__mailbox_take(mailbox, &at->cursor" */
    /*@ queue/mailbox.h weir__mailbox_credit
     *  "weir__sub(&mailbox->word, count * WEIR__MAILBOX_ONE, seq_cst)" */
    /*@ engine/turn.c run_one "const bool goes_on = deliver(thread, turn->processor, envelope)" */
    /*@ engine/turn.c run_events "ran == GAP ? WEIR__TURN_GAP : WEIR__TURN_ASIDE" */
turn:
    do
#ifdef BUG_IDLE_NOT_BY_EXCHANGE
    :: done < BATCH && count[p] == 0 ->
        atomic { DRAINED ->
#else
    :: atomic { done < BATCH && count[p] == 0 && DRAINED ->
#endif
            ready[p] = 0;
            owned[p] = 0;
            done = 0; p = 0;
            goto round
        }
    :: atomic { done < BATCH && count[p] > 0 && hung[p] > 0 && DRAINED ->
            hung[p]--;
            count[p]--;
            done++
        }
        handle()
    :: atomic { done < BATCH && count[p] > 0 && hung[p] == 0 -> done = 0; goto hand_back }
    :: atomic { done == BATCH -> done = 0; break }
    od;

    /*@ engine/duty.c put_back "any_queued(thread) || !weir__keep(serving, processor)" */
    EACH_OR(LOOK, hand_back);
    goto turn;

    /*@ engine/duty.c put_back "weir__dispatcher_push_quiet(serving->dispatcher, processor)" */
    /*@ engine/duty.c wait_for_poster "weir__word_wait(&thread->wake, 0, GAP_SLEEP)" */
hand_back:
    atomic { DRAINED ->
#ifndef BUG_HANDED_BACK_QUIETLY
        quietly = HOME(p) + 1;
#endif
        owned[p] = 0;
        push(p);
        p = 0;
        goto round
    }

    /*@ engine/duty.c back_off "hand_over(thread)" */
    /*@ engine/duty.c hand_over "weir__duty_search_end(thread, false)" */
back_off:
    EACH(end_searching);
    EACH(help);
    goto round
}

init
{
    /*= Starts all, waits until nothing moves, judges. */
    byte i;
    atomic {
        do
        :: i < THREADS -> run thread(i); i++
        :: i >= THREADS && i < THREADS + POSTERS -> run poster(i); i++
        :: else -> i = 0; break
        od
    }
    timeout;
    atomic {
        assert(posted == POSTERS);
        assert(stuck || handled == accepted);
        do
        :: i < DISPATCHERS ->
            assert((intake[i] == 0 && list[i] == 0) || !SLEEPER(i));
            assert(searching[i] == 0 && !lock[i] && length[i] == LENGTH_OF(list[i]));
            i++
        :: else -> i = 0; break
        od
    }
}
