/*
 * lease.pml - the word of a mailbox, changed without locked instructions by who leases it.
 *
 * Threads post to mailboxes and run whichever is ready, so one may run what another one leases;
 * at the end of a turn they may begin a lease. Outsiders post, rouse, reserve, put beside, close,
 * for which they end leases, two at once if it comes so. Whatever changes a word must have seen
 * what the step before has left there: then nothing is lost, and no two steps overlap. A processor
 * has one owner or stands in one line, once. When nothing moves any more, everything is handled,
 * nobody waits for the end of a lease, and a word is leased exactly if it has a name.
 *
 * A step of a tenant is a store that waits in the thread's buffer, like all plain stores here. The
 * name of a lease is written after the word, and no handler of a signal meets a lease: for both,
 * see README.md.
 *
 * Comments with @ and = are explained in wakeup.pml, what is left out in README.md.
 *
 * Parameters: THREADS, MAILBOXES (2 at most each), POSTS (of each thread), OUTSIDERS, CALLS (of
 * each of them), what else they may do: ROUSE, RESERVE, BESIDE, CLOSE; LEASED_FIRST: thread t
 * leases mailbox t; CREDIT: turns give places back; BUSY: turns leave more, leases begin there;
 * RETIRE: all leases end at once, then the mailboxes close; SEAT: thread 0 leaves, goes on as an
 * outsider, and another one gets its seat.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef MAILBOXES
#define MAILBOXES 1
#endif
#ifndef POSTS
#define POSTS 1
#endif
#ifndef OUTSIDERS
#define OUTSIDERS 1
#endif
#ifndef CALLS
#define CALLS 1
#endif
#if THREADS > 1
#define EACH(step) step(0); step(1)
#else
#define EACH(step) step(0)
#endif
#define RETIRER (THREADS + OUTSIDERS)
#define FORMER (RETIRER + 1)   /* who had the seat, as an outsider */
#define NEWCOMER (RETIRER + 2) /* the system's number of who has it then */

/* The word: READY, CLOSED, owed, count, ticket. A full `owed` says that it is leased. */
#define READY 1
#define CLOSED 2
#define OWED_ONE 4
#define LEASED 12
#define ONE 16
#define ACCEPT_ONE (128 + ONE)
#define IS_LEASED(w) (((w) & LEASED) == LEASED)
#define OWED(w) (IS_LEASED(w) -> 0 : ((w) >> 2) & 3)
#define COUNT(w) (((w) >> 4) & 7)
#define TICKET(w) ((w) >> 7)
#define CLAIMED(w) (((w) + ACCEPT_ONE) | READY)
#define IDLE(w) ((w) & ~(READY + 7 * ONE))

/* `beside`: nothing, the name of a thread, or so many that lie there. */
#define NAME_OF(t) ((t) + 1)
#define IS_NAME(b) ((b) != 0 && (b) < LIST)
#define LIST 8

/* Where a processor stands: nowhere, about to be pushed, kept by a thread, in the queue. */
#define PUSHED 100
#define QUEUE 101
#define KEPT_BY(t) ((t) + 1)

/* In memory. */
short word[MAILBOXES];
byte beside[MAILBOXES];
byte line[MAILBOXES];
bit inside[THREADS];
bit named[THREADS];   /* its name is not 0 */
byte number[THREADS]; /* the system's, of its thread */
bit retired[THREADS];

/* The model's own. */
short truth[MAILBOXES]; /* what the last step has made of the word, be it in a buffer */
byte flying[MAILBOXES]; /* claimed, and not beside yet */
byte lying[MAILBOXES];  /* put beside, and not handled */
bit owned[MAILBOXES], gone[MAILBOXES];

/* What threads have stored and nobody else sees yet. */
mtype = { WORD, INSIDE, NUMBER };
chan buffer[THREADS] = [4] of { mtype, byte, short };
byte late[THREADS * MAILBOXES];    /* stores to this word in that buffer ... */
short newest[THREADS * MAILBOXES]; /* ... and the last one of them */
#define AT(t, m) ((t) * MAILBOXES + (m))

#define DRAIN(who)                                                                                 \
    :: atomic { buffer[who]?kind,where,value ->                                                    \
            if                                                                                     \
            :: kind == WORD ->                                                                     \
                word[where] = value;                                                               \
                late[AT(who, where)]--;                                                            \
                newest[AT(who, where)] = (late[AT(who, where)] -> newest[AT(who, where)] : 0)      \
            :: kind == INSIDE -> inside[where] = value                                             \
            :: kind == NUMBER -> number[where] = value                                             \
            fi;                                                                                    \
            kind = 0; where = 0; value = 0                                                         \
        }

active proctype hardware()
{
    /*= Drains buffers whenever it likes. */
    mtype kind;
    byte where;
    short value;
end:
    do
    DRAIN(0)
#if THREADS > 1
    DRAIN(1)
#endif
    od
}
#define DRAINED (me >= THREADS || len(buffer[me]) == 0) /* what an exchange waits for */
#define DRAINED_OF(who) (len(buffer[who]) == 0)
#define HAS_LATE(m) (me < THREADS && late[AT(me, m)] != 0)
#define SEEN(m) (HAS_LATE(m) -> newest[AT(me, m)] : word[m])

/* ---- steps ---- */

/* Inside a step, like the next one: the word becomes `after`, for whoever looks closely. */
inline decide(m, before, after)
{
    /*= Nothing is lost; a ticket is given once, and none after the end. */
    assert(truth[m] == (before));
    assert(TICKET(after) == TICKET(before) || !((before) & CLOSED));

    /*= Who finds it not ready is the only one who pushes it, and nobody has it then. */
    assert(!((after) & ~(before) & READY) || (line[m] == 0 && !owned[m]));
    line[m] = ((after) & ~(before) & READY -> PUSHED : line[m]);

    /*= Who makes it idle has it. */
    assert(!((before) & ~(after) & READY) || owned[m]);
    owned[m] = ((before) & ~(after) & READY -> 0 : owned[m]);
    truth[m] = after
}

inline exchange(m, changed)
{
    /*= By a locked instruction. */
    decide(m, word[m], changed);
    word[m] = changed
}

inline line_up(m)
{
    /*@ engine/ready.h weir__ready "weir__likely(weir__keep(keeping, processor))"
     *  "weir__dispatcher_push(dispatcher, processor)" */
    if
    :: atomic { line[m] == PUSHED && me < THREADS -> line[m] = KEPT_BY(me) }
    :: atomic { line[m] == PUSHED && DRAINED -> line[m] = QUEUE }
    fi
}

#include "lease_step.pml"

/* ---- threads ---- */

inline post(m)
{
    /*@ queue/lease.h weir__lease_claim "weir__mailbox_is_leased(word)"
     *  "weir__lease_step(mailbox, tenant, (word + got * WEIR__MAILBOX_ACCEPT_ONE) | edge)"
     *  "return weir__mailbox_claim(mailbox, count, before)" */
    /*@ engine/straight.h weir__post_straight
     *  "leased ? weir__lease_step(mailbox, &context->tenant, next)" */
    /*@ engine/straight.h weir__straight_leased "weir__mailbox_is_leased(word)" */
    v = SEEN(m);
    if
    :: IS_LEASED(v) -> edge = !(v & READY); lease_step(m, v, CLAIMED(v))
    :: !IS_LEASED(v)
    fi;

    /*@ queue/mailbox.h weir__mailbox_claim_within "return WEIR__CLAIM_CLOSED"
     *  "weir__mailbox_was_leased(mailbox, &word)"
     *  "weir__cas(&mailbox->word, &word, next, acq_rel, relaxed)" */
    do
    :: mine -> break
    :: !mine && (SEEN(m) & CLOSED) -> edge = 0; break
    :: !mine && IS_LEASED(SEEN(m)) -> end_lease(m)
    :: atomic { !mine && DRAINED && !IS_LEASED(word[m]) && !(word[m] & CLOSED) ->
            edge = !(word[m] & READY);
            exchange(m, CLAIMED(word[m]));
            break
        }
    od;
    if
    :: edge -> line_up(m)
    :: !edge
    fi;
    atomic { v = 0; mine = 0; edge = 0 }
}

/* Kept, stolen, or from the queue. */
#if THREADS > 1
#define STANDS_ELSEWHERE(m)                                                                        \
    (line[m] == QUEUE || (line[m] == KEPT_BY(1 - me) && DRAINED_OF(1 - me)))
#else
#define STANDS_ELSEWHERE(m) (line[m] == QUEUE)
#endif
#define TAKE(m)                                                                                    \
    :: atomic { !running && (line[m] == KEPT_BY(me) || (DRAINED && STANDS_ELSEWHERE(m))) ->        \
            running = 1; at = m; line[m] = 0; owned[m] = 1                                         \
        }                                                                                          \
        begin_turn(m)
#define POST(m) :: atomic { posts < POSTS -> posts++ } post(m)

inline begin_turn(m)
{
    /*@ engine/turn.c run_turn "uint64_t word = weir__load(&processor->mailbox.word, acquire)"
     *  "weir__lease_is_of(&processor->mailbox, &thread->context.tenant)"
     *  "word = unmarked = end_lease(processor)" */
    /*@ engine/turn.c end_lease "weir__lease_end(&processor->mailbox)" */
    w = SEEN(m);
    if
#ifndef BUG_OWNER_DOES_NOT_END
    :: IS_LEASED(w) && !IS_OF(m, me) -> end_lease(m); w = SEEN(m)
    :: IS_LEASED(w) && IS_OF(m, me)
    :: !IS_LEASED(w)
#else
    :: true
#endif
    fi
}

/* Whatever is in the word, but for what somebody is about to put beside. */
inline handle(m)
{
    /*@ queue/mailbox.c find_beside "((uintptr_t)newest & 1) != 0" */
    /*@ queue/mailbox.c gather "weir__exchange(&mailbox->beside, NULL, acquire)" */
    assert(!owned[m] || (truth[m] & READY));

    /*= What was put beside is there. */
    if
    :: atomic { beside[m] >= LIST && DRAINED ->
            assert(beside[m] == LIST + lying[m]);
            beside[m] = 0; lying[m] = 0; taken = COUNT(w)
        }
    :: atomic { beside[m] < LIST -> assert(lying[m] == 0); taken = COUNT(w) }
    fi
}

inline settle(m)
{
    if
    /*@ queue/lease.h weir__lease_idle_lone "weir__load(&mailbox->root, relaxed) == 0"
     *  "weir__lease_step(mailbox, tenant, weir__mailbox_idle_word(word, 1))" */
    /*@ engine/turn.c run_lone
     *  "weir__lease_idle_lone(mailbox, &thread->context.tenant, word)" */
    :: IS_LEASED(w) && taken == 1 && SEEN(m) != w -> mine = 0
    :: IS_LEASED(w) && taken == 1 && SEEN(m) == w -> lease_step(m, w, IDLE(w))

    /*@ queue/mailbox.h weir__mailbox_idle_lone
     *  "weir__cas(&mailbox->word, &word, idle, seq_cst, relaxed)" */
    /*@ queue/mailbox.h weir__mailbox_idle "word, uncredited, stock, 0)" */
    /*@ queue/mailbox.c weir__mailbox_idle_as
     *  "weir__cas(&mailbox->word, &word, idle, seq_cst, relaxed)" */
    :: atomic { DRAINED && word[m] == w -> exchange(m, IDLE(w)); mine = 1 }
    :: atomic { DRAINED && word[m] != w -> mine = 0 }

    /*@ engine/turn.c settle "!promised && !weir__mailbox_is_leased(word)" */
    :: !IS_LEASED(w) && OWED(w) == 0 -> begin_lease(m, w)
    fi;

    /*@ engine/turn.c run_events "settle(turn, at, word, &end)" */
    if
    :: atomic { mine -> running = 0; at = 0; w = 0; taken = 0; mine = 0 }
    :: !mine -> w = SEEN(m)
    fi
}

#ifdef BUSY
inline stay_ready(m)
{
    /*@ engine/turn.c end_turn "!weir__mailbox_is_leased(at->word)"
     *  "weir__lease_begin_busy(turn->context->thread, turn->processor)" */
    if
    :: !IS_LEASED(w) -> begin_busy_lease(m)
    :: true
    fi;

    /*@ engine/duty.c put_back "weir__keep(serving, processor)"
     *  "weir__dispatcher_push_quiet(serving->dispatcher, processor)" */
    atomic { owned[m] = 0; line[m] = PUSHED }
    line_up(m);
    atomic { running = 0; at = 0; w = 0; taken = 0; mine = 0 }
}
#endif

proctype thread(byte me, self)
{
    short w, v;         /* the word, as its turn and its post have seen it last */
    byte at, taken;     /* its turn: where, and how many events of it are not given back */
    byte name, posts;
    bit running, mine, edge;
#if defined(BUG_HANDLER_IN_A_STEP) || defined(BUG_HANDLER_IN_A_BEGIN)
    bit interrupted;
#endif

    /*@ queue/lease.c weir__tenant_admit
     *  "weir__store(&tenant->thread, (uint32_t)weir__os_thread_id(), relaxed)"
     *  "weir__barrier_heavy()" */
    /*@ engine/thread.c settle_in "weir__tenant_admit(&thread->context.tenant)" */
    if
    :: number[me] != self ->
        buffer[me]!NUMBER,me,self;
#ifndef BUG_ADMITTED_WITHOUT_BARRIER
        heavy_barrier()
#endif
    :: number[me] == self
    fi;

    /*= A post whenever it likes; within a turn it is one of the handler's. */
end_round:
    do
    POST(0)
#if MAILBOXES > 1
    POST(1)
#endif

    /*@ engine/duty.c weir__duty_round
     *  "weir__dispatcher_take(serving->dispatcher, thread, place, &processor)"
     *  "begin_turns(thread, place, processor)" */
    TAKE(0)
#if MAILBOXES > 1
    TAKE(1)
#endif

    /*@ engine/turn.c run_events "weir__mailbox_count(word) - at->uncredited"
     *  "return weir__turn_finish(turn, at)" */
    :: running && COUNT(w) > taken && flying[at] == 0 -> handle(at)
    :: running && COUNT(w) == taken && !(w & CLOSED) -> settle(at)
    :: atomic { running && COUNT(w) == taken && (w & CLOSED) ->
            running = 0; gone[at] = 1; at = 0; w = 0; taken = 0
        }

#ifdef CREDIT
    /*@ queue/mailbox.h weir__mailbox_credit
     *  "weir__sub(&mailbox->word, count * WEIR__MAILBOX_ONE, seq_cst)" */
    :: atomic { running && taken > 0 && DRAINED ->
            exchange(at, word[at] - taken * ONE);
            w = word[at]; taken = 0
        }
#endif

#ifdef BUSY
    /*= Its turn is over, and what is taken is given back. */
    :: running && taken == 0 && !(w & CLOSED) -> stay_ready(at)
#endif

#ifdef SEAT
    /*= It leaves; somebody else begins where it was. */
    :: atomic { !running && me == 0 && self == 0 && DRAINED ->
            run outsider(FORMER, 0);
            run thread(0, NEWCOMER);
            break
        }
#endif
    od
}

/* ---- outsiders ---- */

#define POSTING 0
#define ROUSING 1
#define CLOSING 2
#define RESERVING 3
#define PUTTING 4 /* what goes beside */
#define ANSWERING 5
#define RENOUNCING 6
#define CHANGED(how, w)                                                                            \
    ((how) == POSTING || (how) == PUTTING ->                                                       \
         CLAIMED(w) :                                                                              \
         ((how) == ROUSING -> (w) | READY :                                                        \
         ((how) == CLOSING -> (w) | CLOSED | READY :                                               \
         ((how) == RESERVING -> (w) + OWED_ONE :                                                   \
         ((how) == ANSWERING -> CLAIMED((w) - OWED_ONE) : (w) - OWED_ONE)))))
#define REFUSED(how, w) (((w) & CLOSED) && (how) != CLOSING && (how) != ROUSING)
#ifdef BUG_CLOSES_BLINDLY
#define LOOKS(how) ((how) != CLOSING)
#else
#define LOOKS(how) true
#endif

inline change(m)
{
    /*@ queue/mailbox.h weir__mailbox_claim_within "weir__mailbox_was_leased(mailbox, &word)" */
    /*@ queue/mailbox.h weir__mailbox_rouse "weir__mailbox_was_leased(mailbox, &word)"
     *  "word | WEIR__MAILBOX_READY, acq_rel, relaxed" */
    /*@ queue/mailbox.h weir__mailbox_close "weir__mailbox_was_leased(mailbox, &word)"
     *  "word | WEIR__MAILBOX_CLOSED | WEIR__MAILBOX_READY, seq_cst, relaxed" */
    /*@ engine/life.c close_if_idle "weir__mailbox_was_leased(mailbox, &word)" */
    /*@ queue/mailbox.c weir__mailbox_reserve "weir__mailbox_was_leased(mailbox, &word)"
     *  "word + WEIR__MAILBOX_OWED_ONE, acq_rel, relaxed" */
    /*@ queue/mailbox.c weir__mailbox_claim_owed
     *  "word - WEIR__MAILBOX_OWED_ONE + WEIR__MAILBOX_ACCEPT_ONE" */
    /*@ queue/mailbox.c weir__mailbox_unreserve
     *  "word - WEIR__MAILBOX_OWED_ONE, acq_rel, relaxed" */
    do
    :: REFUSED(how, word[m]) -> refused = 1; break
    :: !REFUSED(how, word[m]) && IS_LEASED(word[m]) && LOOKS(how) ->
        assert(how != ANSWERING && how != RENOUNCING);
        end_lease(m)
    :: atomic { !REFUSED(how, word[m]) && !(IS_LEASED(word[m]) && LOOKS(how)) ->
            assert((how != ANSWERING && how != RENOUNCING) || OWED(word[m]) > 0);
            v = CHANGED(how, word[m]);
            edge = !(word[m] & READY) && (v & READY);
            exchange(m, v);
            v = 0;
            flying[m] = flying[m] + (how == PUTTING || how == ANSWERING);
            break
        }
    od;

    /*@ queue/mailbox.c weir__mailbox_put_beside "((uintptr_t)newest & 1) != 0"
     *  "weir__lease_end(mailbox)"
     *  "weir__cas(&mailbox->beside, &newest, lone, release, relaxed)" */
    do
    :: refused || !(how == PUTTING || how == ANSWERING) -> break
#if !defined(BUG_PUT_OVER_A_NAME)
    :: !refused && (how == PUTTING || how == ANSWERING) && IS_NAME(beside[m]) -> end_lease(m)
    :: atomic { !refused && (how == PUTTING || how == ANSWERING) && !IS_NAME(beside[m]) ->
#else
    :: atomic { !refused && (how == PUTTING || how == ANSWERING) ->
#endif
            beside[m] = (beside[m] < LIST -> LIST + 1 : beside[m] + 1);
            lying[m]++;
            flying[m]--;
            break
        }
    od;
    if
    :: edge -> line_up(m)
    :: !edge
    fi;
    edge = 0
}

proctype outsider(byte me, self)
{
    short v;
    byte to, how, calls, name;
    bit refused, edge;

    /*= One of what this configuration has, at one of the mailboxes. */
    do
    :: calls == CALLS -> break
    :: atomic { calls < CALLS ->
            calls++;
            if
            :: how = POSTING
#ifdef ROUSE
            :: how = ROUSING
#endif
#ifdef CLOSE
            :: how = CLOSING
#endif
#ifdef RESERVE
            :: how = RESERVING
#endif
#ifdef BESIDE
            :: how = PUTTING
#endif
            fi;
            if
            :: to = 0
#if MAILBOXES > 1
            :: to = 1
#endif
            fi
        }
        change(to);
        if
        :: atomic { how == RESERVING && !refused ->
                if
                :: how = RENOUNCING
#ifdef BESIDE
                :: how = ANSWERING
#endif
                fi
            }
            change(to)
        :: else
        fi;
        atomic { how = 0; to = 0; refused = 0 }
    od
}

#ifdef RETIRE
inline retire(t)
{
    /*@ queue/lease.c weir__tenant_retire "weir__store(&tenant->name, 0, seq_cst)" */
#ifdef BUG_NAME_KEPT
    skip
#else
    named[t] = 0
#endif
}

inline retire_for_good(t)
{
    /*@ queue/lease.c weir__tenant_retired "wait_until_outside(tenant)"
     *  "weir__store(&tenant->retired, 1, release)" */
#ifndef BUG_DOES_NOT_WAIT
    !inside[t];
#endif
    retired[t] = 1
}

proctype retirer(byte me, self)
{
    short v;
    byte how = CLOSING, name;
    bit refused, edge;

    /*@ engine/lease.c weir__leases_retire "weir__tenant_retire(&c->tenant)"
     *  "weir__barrier_heavy()" "weir__tenant_retired(&c->tenant)" */
    EACH(retire);
#ifdef BUG_RETIRED_BEFORE_THE_BARRIER
    EACH(retire_for_good);
#endif
    heavy_barrier();
#ifndef BUG_RETIRED_BEFORE_THE_BARRIER
    EACH(retire_for_good);
#endif

    /*@ engine/shutdown.c close_all "weir__leases_retire(engine)"
     *  "weir__mailbox_close(&p->mailbox)" */
    change(0);
#if MAILBOXES > 1
    change(1);
#endif
    skip
}
#endif

inline judge(m)
{
    /*= When nothing moves any more. */
    assert(word[m] == truth[m] && line[m] == 0 && flying[m] == 0);
    assert(lying[m] == 0 || gone[m]);
    if
    :: gone[m] -> assert(word[m] & CLOSED)
    :: !gone[m] -> assert(!owned[m] && !(word[m] & (READY | CLOSED)) && COUNT(word[m]) == 0)
    fi;
    assert(OWED(word[m]) == 0 || gone[m]);
    assert(IS_LEASED(word[m]) == IS_NAME(beside[m]));
    assert(beside[m] < LIST || gone[m])
}

init
{
    /*= Starts all, waits until nothing moves, judges. */
    byte i;
    atomic {
        do
        :: i < THREADS ->
            named[i] = 1; number[i] = i;
#ifdef LEASED_FIRST
            if
            :: i < MAILBOXES -> word[i] = LEASED; truth[i] = LEASED; beside[i] = NAME_OF(i)
            :: else
            fi;
#endif
            run thread(i, i);
            i++
        :: else -> i = THREADS; break
        od;
        do
        :: i < THREADS + OUTSIDERS -> run outsider(i, i); i++
        :: else -> i = 0; break
        od;
#ifdef RETIRE
        run retirer(RETIRER, RETIRER)
#endif
    }
    timeout;
    atomic {
        judge(0);
#if MAILBOXES > 1
        judge(1);
#endif
        skip
    }
}
