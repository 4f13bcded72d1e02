/*
 * slot.pml - the slot of a processor that is gone is not reused under the hands of a poster.
 *
 * Posters look a handle up inside their mark and then use the slot; each call may stall at any
 * step. The registry closes the processor, makes its handle stale, waits out a grace period and
 * gives the slot to the next processor. Whoever uses the slot must find the processor that its
 * handle names.
 *
 * Comments with @ and = are explained in wakeup.pml, what is left out in README.md.
 *
 * Parameters: POSTERS, CALLS (of each poster), GENERATIONS (processors that have the slot, one
 * after the other); TSO: plain stores wait in a buffer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POSTERS
#define POSTERS 2
#endif
#ifndef CALLS
#define CALLS 2
#endif
#ifndef GENERATIONS
#define GENERATIONS 2
#endif

byte inside[3];     /* a context's mark: odd between enter and leave */
byte grace_seen[3]; /* the registry's notes */
byte id = 1;              /* the handle that is valid for the slot; 0: none */
bit closed;               /* of the mailbox in it */
byte waiting;             /* events in that mailbox: a processor ends when it has none */

/* The model's own: which processor the slot's memory belongs to. */
byte holder = 1;

#ifdef TSO
/* Plain stores in a buffer: increments of a mark that others do not see yet; the registry's id. */
byte behind[3];
bit id_behind;
byte id_stored;

active proctype hardware()
{
    /*= Drains buffers whenever it likes. */
end:
    do
    :: atomic { behind[0] > 0 -> behind[0]--; inside[0]++ }
    :: atomic { behind[1] > 0 -> behind[1]--; inside[1]++ }
    :: atomic { behind[2] > 0 -> behind[2]--; inside[2]++ }
    :: atomic { id_behind -> id = id_stored; id_behind = 0; id_stored = 0 }
    od
}
#define DRAINED(who) (behind[who] == 0)
#define REGISTRY_DRAINED (!id_behind)
#else
#define DRAINED(who) true
#define REGISTRY_DRAINED true
#endif

inline change_mark()
{
    /*@ sync/barrier.h weir__barrier_light "weir__compiler_fence()" */
    /*@ engine/context.h weir__context_enter
     *  "weir__cell_add_release(&context->inside, 1)"
     *  "weir__barrier_light()" */
    /*@ engine/context.h weir__context_leave
     *  "weir__cell_add_release(&context->inside, 1)" */
#ifdef TSO
    behind[me]++
#else
    inside[me]++
#endif
}

proctype poster(byte me)
{
    byte call, handle;

    /*= With a handle of any processor that ever had, has, or will have the slot. */
    do
    :: call == CALLS -> break
    :: call < CALLS ->
        atomic {
            call++;
            if
            :: handle = 1
            :: handle = 2
#if GENERATIONS > 2
            :: handle = 3
#endif
            fi
        }

        /*@ engine/post.c offer "weir__context_enter(context)" */
#ifndef BUG_MARK_AFTER_LOOK_UP
        change_mark();
#endif

        /*@ engine/registry.h weir__registry_find
         *  "const uint64_t id = weir__load(&processor->id, acquire)" */
        if
#ifdef BUG_HANDLE_WITHOUT_GENERATION
        :: id != 0
#else
        :: id == handle
#endif
#ifdef BUG_MARK_AFTER_LOOK_UP
            -> change_mark()
        :: else -> change_mark(); goto gone
#else
        :: else -> goto gone
#endif
        fi;
#ifdef BUG_MARK_LEFT_EARLY
        change_mark();
#endif

        /*@ engine/straight.h weir__post_straight "weir__context_enter(context)"
         *  "weir__registry_find(&engine->registry, to)" "weir__mailbox_is_closed(word)"
         *  "weir__cas(&mailbox->word, &word, next, acq_rel, relaxed)" */
        /*@ engine/straight.h weir__straight_refused "weir__context_leave(by->context)" */
        /*@ engine/straight.h weir__straight_end "weir__context_leave(context)" */
        /*@ engine/straight.h weir__offer_to
         *  "weir__lease_claim(mailbox, &by->context->tenant, &one, &before)" */
        /*@ queue/mailbox.h weir__mailbox_claim_within "return WEIR__CLAIM_CLOSED" */
        if
        :: atomic { closed -> assert(holder == handle) }
        :: atomic { !closed && DRAINED(me) -> assert(holder == handle); waiting++ }

            /*@ engine/straight.h weir__straight_next "return weir__straight_end(by->context)" */
            /*@ engine/straight.c weir__straight_place "return weir__straight_end(by->context)" */
            /*@ engine/straight.c weir__straight_push "weir__straight_end(context)" */
            /*@ engine/straight.h weir__offer_to
             *  "weir__parcel_deliver(by, mailbox, claim, before, parcel)"
             *  "weir__ready(by->context, processor)" */
            atomic { DRAINED(me) -> assert(holder == handle); waiting-- }
        fi;

        /*@ engine/post.c offer "weir__context_leave(context)" */
gone:
#ifdef BUG_MARK_LEFT_EARLY
        skip
#else
        change_mark()
#endif
    od
}

inline store_id(to)
{
    /*@ engine/registry.c weir__registry_retire
     *  "weir__store(&processor->id, id & ~WEIR__HANDLE_TAG, release)" */
    /*@ engine/registry.c weir__registry_publish "weir__store(&processor->id, id, release)" */
#ifdef TSO
    atomic { id_stored = to; id_behind = 1 }
#else
    id = to
#endif
}

inline heavy_barrier()
{
    /*@ engine/registry.c begin_grace "weir__barrier_heavy()" */
    /*@ sync/real/word.c weir__barrier_heavy "make_all_fence()" */
    REGISTRY_DRAINED;
#ifndef BUG_NO_HEAVY_BARRIER
    DRAINED(0);
    DRAINED(1);
    DRAINED(2);
#endif
    skip
}

inline note(context)
{
    /*@ engine/registry.c begin_grace "c->grace_seen = weir__load(&c->inside, acquire)" */
    grace_seen[context] = inside[context]
}

inline note_marks()
{
    /*@ engine/registry.c poll_grace "begin_grace(engine)" */
    note(0);
    note(1);
    note(2);
    skip
}

/* Nobody waits for it: registration polls. Here polls that find it unfinished are left out. */
inline grace_over()
{
    /*@ engine/registry.c grace_over
     *  "(c->grace_seen & 1) != 0 && weir__load(&c->inside, acquire) == c->grace_seen" */
    /*@ engine/registry.c poll_grace "registry->in_grace != NULL && grace_over(engine)" */
    !((grace_seen[0] & 1) && inside[0] == grace_seen[0]);
#ifndef BUG_ONE_CONTEXT
    !((grace_seen[1] & 1) && inside[1] == grace_seen[1]);
#endif
    !((grace_seen[2] & 1) && inside[2] == grace_seen[2]);
    skip
}

proctype registry()
{
    byte generation = 1;

    /*@ engine/turn_end.c weir__turn_finish "weir__life_end(turn->context, processor)" */
    /*@ engine/life.c weir__life_end "weir__registry_retire(engine, processor)" */
    do
    :: generation == GENERATIONS -> break
    :: generation < GENERATIONS ->
        closed = 1;
        waiting == 0;
#ifdef BUG_MARKS_NOTED_BEFORE
        note_marks();
#endif
        store_id(0);

        /*@ engine/life.c weir__life_end "weir__mutex_unlock(&engine->registry.lock)" */
        /*@ engine/registry.c weir__registry_take "poll_grace(engine)" */
#ifndef BUG_NO_GRACE
        heavy_barrier();
#ifndef BUG_MARKS_NOTED_BEFORE
        note_marks();
#endif
        grace_over();
#endif

        /*@ engine/registry.c poll_grace "weir__life_free(engine, processor)" */
        /*@ queue/mailbox.c weir__mailbox_open_within "weir__store(&mailbox->word, 0, release)" */
        atomic { REGISTRY_DRAINED -> generation++; holder = generation; closed = 0 }

        /*@ engine/registry.c weir__registry_publish
         *  "const uint64_t generation = (weir__load(&processor->id, relaxed) >> 32) + 1" */
        store_id(generation);
        REGISTRY_DRAINED
    od
}

init
{
    /*= Starts all. What must hold is asserted where the slot is used. */
    atomic {
        run registry();
        run poster(0);
#if POSTERS > 1
        run poster(1);
#endif
#if POSTERS > 2
        run poster(2);
#endif
    }
}
