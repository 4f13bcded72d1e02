/*
 * wakeup_post.pml - making ready, and waking, a part of wakeup.pml: push, the look at who sleeps
 * and who searches, posts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
/* Inside a step. */
inline push(p)
{
    /*@ engine/dispatcher.c weir__dispatcher_push_quiet "weir__cas(&dispatcher->intake" */
    assert(!queued[p] && !owned[p]);
    queued[p] = 1;
    intake[HOME(p)] = BEHIND(intake[HOME(p)], p + 1)
}

#ifdef BUG_BIT_NOT_COUNTED
#define COUNT_SEARCHER(d) skip
#else
#define COUNT_SEARCHER(d) searching[d]++
#endif

#define GET_UP(d, i)                                                                               \
    :: atomic { DRAINED && (bits & BIT(i)) && (parked[d] & BIT(i)) ->                              \
            parked[d] = parked[d] & ~BIT(i); bits = 0; counting[d]++ }                             \
        atomic { COUNT_SEARCHER(d); counting[d]-- }                                                \
        wake[i] = 1;                                                                               \
        break                                                                                      \
    :: atomic { DRAINED && (bits & BIT(i)) && !(parked[d] & BIT(i)) -> bits = bits & ~BIT(i) }

inline wake_one(d)
{
    /*@ engine/dispatcher.c wake "weir__load(&dispatcher->searching, seq_cst) > 0" */
    /*@ engine/dispatcher.c wake_from "uint64_t bits = weir__load(&words[i], seq_cst)"
     *  "wake_one(dispatcher, words, index, external)" */
    /*@ engine/dispatcher.c wake_one "weir__and(&words[index / 64], ~bit, seq_cst)"
     *  "weir__add(&dispatcher->searching, 1, seq_cst)" "weir__thread_wake(" */
    /*@ engine/thread.c weir__thread_wake "weir__store(&thread->wake, 1, seq_cst)" */
    if
    :: searching[d] > 0
    :: else ->
        if
        :: parked[d] == 0
        :: atomic { parked[d] != 0 -> bits = parked[d] }
            do
            GET_UP(d, 0)
            GET_UP(d, 1)
            GET_UP(d, 2)
            :: bits == 0 -> break
            od
        fi
    fi
}

inline look_and_wake(d)
{
    /*@ engine/dispatcher.c weir__dispatcher_wake "wake(dispatcher, 0)" */
    /*@ engine/dispatcher.h weir__dispatcher_has_work "weir__load(&d->intake, seq_cst) != 0"
     *  "weir__load(&d->length, seq_cst) != 0" */
    if
    :: intake[d] != 0 -> wake_one(d)
    :: else ->
        if
        :: LENGTH(d) > 0 -> wake_one(d)
        :: else
        fi
    fi
}

/* With no look at the intake, if there is a list. */
inline look_for_more(d)
{
    /*@ engine/dispatcher.h weir__dispatcher_has_more "weir__load(&d->length, relaxed) != 0"
     *  "|| weir__dispatcher_has_work(d)" */
    if
    :: LENGTH(d) > 0 -> wake_one(d)
    :: else -> look_and_wake(d)
    fi
}

inline post(p)
{
    /*@ engine/straight.h weir__post_straight
     *  "weir__cas(&mailbox->word, &word, next, acq_rel, relaxed)" */
    /*@ engine/straight.h weir__offer_to
     *  "weir__lease_claim(mailbox, &by->context->tenant, &one, &before)" */
    atomic { DRAINED ->
#ifdef BUG_READY_TWICE
        first = 1;
#else
        first = !ready[p];
#endif
        ready[p] = 1;
        count[p]++;
        accepted++
    }

    /*@ engine/straight.h weir__offer_to
     *  "weir__parcel_deliver(by, mailbox, claim, before, parcel)" */
    /*@ queue/envelope.h weir__envelope_fill
     *  "weir__store(&envelope->state, flags | WEIR__ENVELOPE_FILLED, release)" */
#ifdef TSO
    atomic { kind[me] = OF_LINK; where[me] = p }
#else
    hung[p]++;
#endif

    /*@ engine/straight.c weir__straight_push "weir__dispatcher_push(dispatcher, processor)" */
    /*@ engine/ready.h weir__ready "weir__dispatcher_push(dispatcher, processor)" */
    /*@ engine/dispatcher.c weir__dispatcher_push "wake(dispatcher, preferred)" */
    if
#ifdef BUG_WAKE_BEFORE_PUSH
    :: first -> wake_one(HOME(p)); atomic { DRAINED -> first = 0; push(p) }
#else
    :: atomic { first && DRAINED -> first = 0; push(p) } wake_one(HOME(p))
#endif
    :: !first
    fi
}

proctype poster(byte me)
{
    /*= Each posts its events to the processors in turn. */
    byte n, bits, first;
    do
#ifdef FORWARD
    :: n < EVENTS -> post(0); n++
#else
    :: n < EVENTS -> post((me + n) % PROCESSORS); n++
#endif
    :: n == EVENTS -> break
    od;
    atomic { n = 0; posted++ }
}
