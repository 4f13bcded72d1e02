/*
 * room.pml - telling those who wait for room in a full mailbox.
 *
 * Waiters are threads outside that post to it with overflow = block; askers are processors that
 * were refused and want one event when it has room. The owner handles what is in it and gives the
 * places back; a closer may close it. Every waiter gets in or is refused; every asker is told once.
 *
 * There is no plain store in this protocol, so store buffers would change nothing. Comments with @
 * and = are explained in wakeup.pml, what is left out in README.md.
 *
 * Parameters: LIMIT, WAITERS, ASKERS, ASKS (of each asker); CLOSE: a closer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LIMIT
#define LIMIT 2
#endif
#ifndef WAITERS
#define WAITERS 1
#endif
#ifndef ASKERS
#define ASKERS 1
#endif
#ifndef ASKS
#define ASKS 1
#endif

byte count = LIMIT; /* of the target's mailbox; it begins full */
bit closed;
#define BELOW_HALF (!closed && count < (LIMIT + 1) / 2)

/* Who wants room: a bit for each asker. At the end nobody may join any more. */
#define LIST_CLOSED 128
byte rooms;
byte told[ASKERS]; /* room events in the asker's mailbox */

/* The wait word of blocked threads. `moved`: it has changed since that waiter read it. */
byte waiters;
bit moved[WAITERS + 1];

/* The model's own. */
byte done;
bit ended;

inline send(asker)
{
    /*@ engine/room.c send "weir__mailbox_claim_owed(&to->mailbox, &before)"
     *  "weir__mailbox_put_beside(&to->mailbox, lone)" */
    if
    :: atomic { (list & (1 << asker)) -> told[asker]++; assert(told[asker] == 1) }
    :: else
    fi
}

inline send_all()
{
    /*@ engine/room.c send_all "send(context, first, gone)" */
    send(0);
#if ASKERS > 1
    send(1);
#endif
    list = 0
}

inline tell()
{
    /*@ engine/room.c weir__room_tell "if (list == NULL || list == WEIR__ROOMS_CLOSED)"
     *  "weir__cas(&processor->rooms, &list, NULL, seq_cst, seq_cst)" */
    if
    :: rooms == 0 || rooms == LIST_CLOSED
#ifdef BUG_LIST_TAKEN_LATE
    :: atomic { rooms != 0 && rooms != LIST_CLOSED -> list = rooms }
        send_all();
        rooms = 0
#else
    :: atomic { rooms != 0 && rooms != LIST_CLOSED -> list = rooms; rooms = 0 }
        send_all()
#endif
    fi
}

inline wake_waiters()
{
    /*@ engine/room.c weir__room_wake_threads "wake_bucket(weir__room_wait_of(engine, index))" */
    /*@ engine/room.c wake_bucket "weir__load(&wait->waiters, seq_cst) != 0"
     *  "weir__add(&wait->word, 1, seq_cst)" */
    if
    :: waiters != 0 ->
        atomic {
            moved[0] = 1;
#if WAITERS > 1
            moved[1] = 1;
#endif
#if WAITERS > 2
            moved[2] = 1
#endif
        }
    :: else
    fi
}

proctype waiter(byte me)
{
    /*@ engine/post.c weir__post_counted "status = wait_for_room(by, to, &parcel, &met)" */
    if
    :: closed -> goto over
    :: atomic { !closed && count < LIMIT -> count++; goto over }
    :: !closed && count == LIMIT
    fi;

    /*@ engine/post.c wait_for_room "weir__add(&wait->waiters, 1, seq_cst)" */
#ifndef BUG_WAITER_COUNTED_LATE
    waiters++;
#endif

    /*@ engine/post.c wait_for_room "const uint32_t seen = weir__load(&wait->word, seq_cst)"
     *  "status = offer_with_stock(by, to, parcel, full)"
     *  "weir__wait_until(&wait->word, seen, deadline)" */
    do
    ::
#ifndef BUG_WORD_READ_LATE
        moved[me] = 0;
#endif
        if
        :: closed -> break
        :: atomic { !closed && count < LIMIT -> count++; break }
        :: !closed && count == LIMIT
        fi;
#ifdef BUG_WORD_READ_LATE
        moved[me] = 0;
#endif
#ifdef BUG_WAITER_COUNTED_LATE
        waiters++;
#endif
        moved[me] == 1;
#ifdef BUG_WAITER_COUNTED_LATE
        waiters--;
#endif
    od;

    /*@ engine/post.c wait_for_room "weir__sub(&wait->waiters, 1, seq_cst)" */
#ifndef BUG_WAITER_COUNTED_LATE
    waiters--;
#endif
    moved[me] = 0;
over:
    done++
}

proctype asker(byte me)
{
    byte n, list;

    /*@ engine/room.c weir_turn_want_room "weir__mailbox_reserve(own)" */
    /*@ engine/room.c join_list "if (first == WEIR__ROOMS_CLOSED)"
     *  "weir__cas(&target->rooms, &first, lone, seq_cst, relaxed)" */
    do
    :: n == ASKS -> break
    :: n < ASKS ->
        if
        :: rooms == LIST_CLOSED -> break
        :: atomic { rooms != LIST_CLOSED -> rooms = rooms | (1 << me); n++ }
        fi;

        /*@ engine/room.c join_list
         *  "below_half(target, weir__load(&target->mailbox.word, seq_cst))" */
        /*@ engine/room.c below_half "count < (limit + 1) / 2" */
#ifndef BUG_ASKER_DOES_NOT_LOOK
        if
        :: BELOW_HALF -> tell()
        :: else
        fi;
#endif

        /*= The asker's next turn, with the room event. */
        atomic { told[me] == 1 -> told[me] = 0 }
    od;
    atomic { n = 0; done++ }
}

#ifdef CLOSE
active proctype closer()
{
    /*@ engine/room.c weir__room_close "const bool ready = weir__mailbox_close(&processor->mailbox)"
     *  "weir__room_wake_threads(engine, index)" */
    closed = 1;
    wake_waiters()
}
#endif

active proctype owner()
{
    byte list;
    bit below;

    /*@ engine/progress.h weir__progress_credit
        "weir__mailbox_credit(&processor->mailbox, at->uncredited)"
     *  "weir__room_appeared(turn->context, processor, word)" */
    /*@ engine/room.c weir__room_appeared "below_half(processor, word)"
     *  "weir__room_wake_threads(context->engine, weir__processor_room(processor))" */
end:
    do
    :: count > 0 ->
#ifdef BUG_LIST_LOOKED_AT_BEFORE
        below = rooms != 0;
        atomic { count--; below = below && BELOW_HALF }
        if
        :: below -> below = 0; tell()
        :: else
        fi;
#else
        atomic { count--; below = BELOW_HALF }
        if
        :: atomic { below && rooms != 0 -> below = 0 } tell()
        :: atomic { !(below && rooms != 0) -> below = 0 }
        fi;
#endif
        wake_waiters()

    /*@ engine/life.c weir__life_end "weir__room_gone(context, processor)" */
    /*@ engine/room.c weir__room_gone
     *  "weir__exchange(&processor->rooms, WEIR__ROOMS_CLOSED, seq_cst)" */
    :: count == 0 && closed ->
#ifdef BUG_ENDS_SILENTLY
        rooms = LIST_CLOSED;
#else
        atomic { list = rooms; rooms = LIST_CLOSED }
        send_all();
#endif
        ended = 1;
        break
    od
}

init
{
    /*= Starts the others, waits until nothing moves, judges. */
    atomic {
#if WAITERS > 0
        run waiter(0);
#endif
#if WAITERS > 1
        run waiter(1);
#endif
#if WAITERS > 2
        run waiter(2);
#endif
#if ASKERS > 0
        run asker(0);
#endif
#if ASKERS > 1
        run asker(1);
#endif
    }
    timeout;
    assert(done == WAITERS + ASKERS && count == 0 && waiters == 0 && closed == ended)
}
