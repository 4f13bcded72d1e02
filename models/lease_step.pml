/*
 * lease_step.pml - how a lease begins, is used and ends, a part of lease.pml. A process that uses
 * it has `me`, `self`, `name` and `v` for itself, a thread also `mine` and `edge`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
/* ---- the end of a lease ---- */

inline heavy_barrier()
{
    /*@ sync/real/word.c weir__barrier_heavy "make_all_fence()" */
    EACH(DRAINED_OF)
}

inline wait_for(tenant)
{
    /*@ queue/lease.c wait_for
     *  "weir__load(&tenant->thread, relaxed) == (uint32_t)weir__os_thread_id()"
     *  "weir__load(&tenant->retired, acquire) == 0" "weir__barrier_heavy()"
     *  "wait_until_outside(tenant)" */
    /*@ queue/lease.c wait_until_outside "weir__load(&tenant->inside, acquire) != 0" */
    if
    :: number[tenant] == self
    :: number[tenant] != self ->
        if
        :: retired[tenant]
        :: !retired[tenant] ->
#ifdef BUG_WAITS_BEFORE_THE_BARRIER
            !inside[tenant];
#endif
#ifndef BUG_NO_HEAVY_BARRIER
            heavy_barrier();
#endif
#ifdef BUG_DOES_NOT_WAIT
            skip
#elif defined(BUG_WAITS_BEFORE_THE_BARRIER)
            skip
#else
            !inside[tenant]
#endif
        fi
    fi
}

inline unmark(m)
{
    /*@ queue/lease.c unmark "word & ~WEIR__MAILBOX_LEASED, acq_rel, relaxed" */
#ifdef BUG_UNMARKS_BY_STORE
    v = word[m];
    atomic { DRAINED -> decide(m, v, v & ~LEASED); word[m] = v & ~LEASED }
#else
    atomic { DRAINED -> exchange(m, word[m] & ~LEASED) }
#endif
}

/* Who waits for somebody else to end it, or to write its name, waits until there is more to see. */
inline end_lease(m)
{
    /*@ queue/mailbox.h weir__mailbox_was_leased "weir__lease_end(mailbox)" */
    /*@ queue/lease.c weir__lease_end
     *  "weir__mailbox_is_leased(weir__load(&mailbox->word, acquire))"
     *  "weir__lone *name = weir__load(&mailbox->beside, acquire)"
     *  "weir__cas(&mailbox->beside, &name, NULL, acq_rel, relaxed)" "wait_for(tenant)"
     *  "unmark(mailbox)" */
    /*@ queue/lease.c tenant_of "((uintptr_t)beside & 1) != 0" */
    do
    :: !IS_LEASED(SEEN(m)) -> break
    :: IS_LEASED(SEEN(m)) ->
        if
        :: atomic { IS_NAME(beside[m]) -> name = beside[m] }
        :: !IS_LEASED(SEEN(m))
        fi;
        if
        :: name == 0
        :: atomic { name != 0 && DRAINED && beside[m] != name -> name = 0 }
#ifdef BUG_NAME_TAKEN_BY_STORE
        :: atomic { name != 0 -> beside[m] = 0 }
#else
        :: atomic { name != 0 && DRAINED && beside[m] == name -> beside[m] = 0 }
#endif
            wait_for(name - 1);
            unmark(m);
            name = 0;
            break
        fi
    od
}

/* ---- the tenant ---- */

#define IS_OF(m, t) (named[t] && beside[m] == NAME_OF(t))

/* A handler of a signal, in which weir_signal_post finds a mailbox leased: a bug, since one with a
 * ring never is. */
inline handler(m)
{
    /*@ engine/signal.c offer "weir__mailbox_claim_beside(&processor->mailbox, &before)" */
    if
    :: !interrupted && IS_LEASED(SEEN(m)) ->
        interrupted = 1;
        end_lease(m);
        atomic { DRAINED -> exchange(m, CLAIMED(word[m])) }
        if
        :: line[m] == PUSHED -> line_up(m)
        :: line[m] != PUSHED
        fi
    :: true
    fi
}

/* Answers in `mine` whether it is done. */
inline lease_step(m, seen, changed)
{
    /*@ sync/barrier.h weir__barrier_light "weir__compiler_fence()" */
    /*@ queue/lease.h weir__lease_step "weir__store(&tenant->inside, 1, relaxed)"
     *  "weir__barrier_light()" "weir__lease_is_of(mailbox, tenant)"
     *  "weir__store(&mailbox->word, to, release)" "weir__store(&tenant->inside, 0, release)" */
    /*@ queue/lease.h weir__lease_is_of
     *  "weir__load(&((weir__tenant *)(uintptr_t)tenant)->name, relaxed)"
     *  "weir__load(&((weir__mailbox *)(uintptr_t)mailbox)->beside, relaxed)" */
#ifdef BUG_NAME_BEFORE_THE_MARK
    mine = IS_OF(m, me);
#endif
    buffer[me]!INSIDE,me,1;
#ifdef BUG_NAME_NOT_LOOKED_AT
    mine = 1;
#elif !defined(BUG_NAME_BEFORE_THE_MARK)
#ifdef RETIRE
    mine = named[me];
    mine = mine && beside[m] == NAME_OF(me);
#else
    mine = IS_OF(m, me);
#endif
#endif
#ifdef BUG_MARK_LEFT_EARLY
    buffer[me]!INSIDE,me,0;
#endif
#ifdef BUG_HANDLER_IN_A_STEP
    handler(m);
#endif
    if
    :: atomic { mine && nfull(buffer[me]) ->
            decide(m, seen, changed);
            newest[AT(me, m)] = changed;
            late[AT(me, m)]++;
            buffer[me]!WORD,m,newest[AT(me, m)]
        }
    :: !mine
    fi;
#ifdef BUG_MARK_LEFT_EARLY
    skip
#else
    buffer[me]!INSIDE,me,0
#endif
}

/* The same, of who makes it idle. First the word, then the name: a name that can be taken away is
 * of a word that is leased, and stays so until whoever has taken it unmarks it. Or it turns out
 * then that it must not be leased. */
inline begin_lease(m, seen)
{
    /*@ engine/turn.c settle "!promised && !weir__mailbox_is_leased(word)"
     *  "weir__lease_begin(turn->context->thread, processor, word, at->uncredited)" */
    /*@ engine/lease.c suits "may_lease_more(thread)" */
    /*@ engine/lease.c may_lease_more "weir__load(&tenant->name, relaxed) != 0" */
    mine = named[me];

    /*@ queue/mailbox.c weir__mailbox_idle_as "weir__mailbox_idle_word(word, uncredited) | mark"
     *  "weir__cas(&mailbox->word, &word, idle, seq_cst, relaxed)" */
    /*@ engine/lease.c weir__lease_begin
     *  "weir__mailbox_idle_as(mailbox, word, uncredited, stock, mark)"
     *  "sign(thread, processor)" */
    /*@ engine/lease.c sign
     *  "is_never_leased(processor) ? NULL : &thread->context.tenant" */
    /*@ queue/lease.c weir__lease_sign
     *  "weir__cas(&mailbox->beside, &nothing, name_of(tenant), release, relaxed)"
     *  "unmark(mailbox)" */
    /*@ queue/lease.c name_of "(weir__lone *)((uintptr_t)tenant + 1)" */
    /*@ engine/lease.c weir__lease_never "weir__lease_end(&processor->mailbox)" */
    if
    :: !mine
#ifdef BUG_NAME_FIRST
    :: mine && beside[m] != 0 -> mine = 0
    :: atomic { mine && DRAINED && beside[m] == 0 -> beside[m] = NAME_OF(me) }
        if
        :: atomic { DRAINED && word[m] == seen -> exchange(m, IDLE(seen) | LEASED) }
        :: atomic { DRAINED && word[m] != seen -> mine = 0 }
            beside[m] = (beside[m] == NAME_OF(me) -> 0 : beside[m])
        fi
#else
    :: atomic { mine && DRAINED && word[m] != seen -> mine = 0 }
    :: atomic { mine && DRAINED && word[m] == seen ->
            assert(beside[m] == 0);
            exchange(m, IDLE(seen) | LEASED)
        }
#ifdef BUG_HANDLER_IN_A_BEGIN
        handler(m);
#endif
        if
        :: atomic { assert(beside[m] == 0); beside[m] = NAME_OF(me) }
        :: unmark(m)
        fi
#endif
    fi
}

/* The same, of who stays its owner: something may be on its way to lie beside. */
inline begin_busy_lease(m)
{
    /*@ engine/lease.c weir__lease_begin_busy "weir__mailbox_mark(&processor->mailbox)"
     *  "sign(thread, processor)" */
    /*@ queue/lease.c weir__mailbox_mark
     *  "weir__mailbox_is_closed(word) || weir__mailbox_is_leased(word)"
     *  "word | WEIR__MAILBOX_LEASED, acq_rel, relaxed" */
    if
    :: !named[me]
    :: atomic { named[me] && DRAINED &&
            ((word[m] & CLOSED) || IS_LEASED(word[m]) || OWED(word[m]) > 0) }
    :: atomic { named[me] && DRAINED &&
            !((word[m] & CLOSED) || IS_LEASED(word[m]) || OWED(word[m]) > 0) ->
            exchange(m, word[m] | LEASED)
        }
        if
#ifdef BUG_NAME_OVER_WHAT_LIES_BESIDE
        :: atomic { DRAINED -> beside[m] = NAME_OF(me) }
#else
        :: atomic { DRAINED && beside[m] == 0 -> beside[m] = NAME_OF(me) }
#endif
        :: unmark(m)
        fi
    fi
}
