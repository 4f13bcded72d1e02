/*
 * mailbox.pml - one mailbox: the word that decides, and the list with its stub.
 *
 * Posters claim, fill and publish; whoever takes the processor from the ready queue (here: one
 * flag) is its owner for a turn, takes events, gives places back, and goes idle, ends, or hands the
 * processor on. A closer may close it at any moment. When nothing moves any more everything that
 * was accepted must have been handled, once, each poster's events in the order sent, and the
 * mailbox must own no memory.
 *
 * Comments with @ and = are explained in wakeup.pml, what is left out in README.md.
 *
 * Parameters: OWNERS, POSTERS, EVENTS (of each poster), CHAIN (at most so many in one claim),
 * LIMIT, ENVELOPES, BATCH, CREDIT (events taken before they are credited); CLOSE: a closer;
 * EVICT: drop-oldest; TSO: plain stores wait in a buffer (not with EVICT).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef OWNERS
#define OWNERS 2
#endif
#ifndef POSTERS
#define POSTERS 2
#endif
#ifndef EVENTS
#define EVENTS 2
#endif
#ifndef CHAIN
#define CHAIN 1
#endif
#ifndef LIMIT
#define LIMIT 2
#endif
#ifndef ENVELOPES
#define ENVELOPES 3
#endif
#ifndef BATCH
#define BATCH 2
#endif
#ifndef CREDIT
#define CREDIT 1
#endif

/* The word. The ticket is left out: only claims and the close change the word behind the owner's
 * back, and both change what is here. */
bit ready;
bit closed;
byte count;

/* The list. Envelopes are 1 .. ENVELOPES, 0 is NULL; a head is fresh if it was not taken yet. */
byte tail;
byte head;
byte next[ENVELOPES + 1];
#define FRESH 64

/* What is in an envelope, and whether it lies in the pool. */
byte sender[ENVELOPES + 1];
byte number[ENVELOPES + 1];
bit chained[ENVELOPES + 1]; /* the first of two that were claimed together */
bit pooled[ENVELOPES + 1] = 1;
byte spare = ENVELOPES;

#ifdef EVICT
bit head_lock;
byte dropped;
#else
#define dropped 0
#endif

/* The model's own. */
bit queued;
bit owned;
bit ended;
byte hanging; /* claimed and not yet to be seen in the list */
byte accepted;
byte handled;
byte expected[POSTERS];

inline see(chain)
{
    /*= Inside a step. */
    hanging--;
    if
    :: chained[chain] -> hanging--; chained[chain] = 0
    :: else
    fi
}

inline set_head(to)
{
    /*= Inside a step. With a fresh head a chain of events can be seen. */
    head = to;
    if
    :: to >= FRESH -> see(to - FRESH)
    :: else
    fi
}

inline set_next(envelope, to)
{
    /*= Inside a step: nobody writes into an envelope that was given back. */
    assert(!pooled[envelope]);
    next[envelope] = to;
    see(to)
}

#ifdef TSO
/* One plain store each: head or the next of an envelope. Every exchange drains it. */
bit pending[4];
byte where[4]; /* 0: head; else the envelope */
byte what[4];


inline drain(who)
{
    /*= Inside a step, with something in the buffer. */
    if
    :: where[who] == 0 -> set_head(what[who])
    :: else -> set_next(where[who], what[who])
    fi;
    pending[who] = 0; where[who] = 0; what[who] = 0
}

inline store_head(to)
{
    /*= Inside a step: a plain store. */
    pending[me] = 1; where[me] = 0; what[me] = to
}

inline store_next(envelope, to)
{
    /*= Inside a step: a plain store. */
    pending[me] = 1; where[me] = envelope; what[me] = to
}

active proctype hardware()
{
    /*= Drains buffers whenever it likes. */
end:
    do
    :: atomic { pending[0] -> drain(0) }
    :: atomic { pending[1] -> drain(1) }
    :: atomic { pending[2] -> drain(2) }
    :: atomic { pending[3] -> drain(3) }
    od
}
#define DRAINED (!pending[me]) /* what an exchange waits for */
#define HEAD (pending[me] && where[me] == 0 -> what[me] : head)
#else
#define DRAINED true
#define HEAD head
#define store_head(to) set_head(to)
#define store_next(envelope, to) set_next(envelope, to)
#endif

/* ---- posters ---- */

/* Inside a step, with one to spare. The pool has tests of its own. */
inline get_envelope(e)
{
    /*@ engine/engine.h weir__envelope_get "weir__pool_get(&context->engine->envelopes" */
    e = 1;
    do
    :: pooled[e] -> break
    :: else -> e++
    od;
    pooled[e] = 0;
    spare--;
    sender[e] = me - OWNERS;
    number[e] = n
}

/* Inside a step. */
inline put_envelope(e)
{
    /*@ engine/engine.h weir__envelope_put "weir__pool_put(&context->engine->envelopes" */
    assert(e != 0 && !pooled[e]);
    pooled[e] = 1;
    spare++;
    sender[e] = 0; number[e] = 0; next[e] = 0
}

/* Inside a step: the next event of this poster gets an envelope behind `last`. */
inline pack()
{
    /*@ engine/post.c weir__post_counted "weir__parcel_pack(by, event, &parcel)" */
    /*@ engine/parcel.h weir__parcel_fill "envelope->" */
    get_envelope(before);
    if
    :: last == 0 -> first = before
    :: else -> next[last] = before; chained[first] = 1
    fi;
    last = before;
    before = 0;
    n++
}

inline claim()
{
    /*@ queue/mailbox.h weir__mailbox_claim "return WEIR__CLAIM_CLOSED"
     *  "const uint32_t used = weir__mailbox_count(word)"
     *  "const uint32_t got = *count < room ? *count : room"
     *  "weir__cas(&mailbox->word, &word, next, acq_rel, relaxed)" */
    /*@ engine/batch.c offer_run "weir__mailbox_claim(&processor->mailbox" */
    if
    :: closed -> goto over
#ifdef BUG_CLOSED_LOOKED_AT_BEFORE
    :: !closed -> atomic { count < LIMIT && spare > 0 && DRAINED ->
#else
    :: atomic { !closed && count < LIMIT && spare > 0 && DRAINED ->
#endif
            assert(!ended);
#ifdef BUG_READY_APART
            edge = count == 0;
#else
            edge = !ready;
#endif
            ready = 1;
            do
            :: n < EVENTS && count < LIMIT && spare > 0 && got < CHAIN ->
                pack();
                count++;
                hanging++;
                accepted++;
                got++
            :: else -> got = 0; break
            od
        }
    fi
}

inline publish()
{
    /*@ queue/mailbox.h weir__mailbox_publish "weir__store(&last->pooled.next, NULL, relaxed)"
     *  "weir__exchange(&mailbox->tail, last, acq_rel)" */
    atomic { DRAINED -> before = tail; tail = last; last = 0 }

    /*@ queue/mailbox.h weir__mailbox_publish
     *  "weir__store(&before->pooled.next, &first->pooled, release)"
     *  "weir__store(&mailbox->head, (uintptr_t)first | WEIR__MAILBOX_FRESH" */
    atomic {
        if
        :: before != 0 -> store_next(before, first)
        :: else -> store_head(first + FRESH)
        fi;
        first = 0; before = 0
    }
}

/* Inside a step. */
inline make_ready()
{
    /*@ engine/dispatcher.c weir__dispatcher_push_quiet "weir__cas(&dispatcher->intake" */
    assert(!queued && !owned);
    queued = 1
}

#ifdef EVICT
/* Head lock held, and `at` is the head that was read; inside a step. The oldest event goes to
 * `event`, if it is there. */
inline pop()
{
    /*@ queue/mailbox.c pop "weir__mailbox_take(mailbox, &cursor, spent)"
     *  "weir__envelope_copy(out, event)" "weir__mailbox_keep(mailbox, cursor)" */
    if
    :: at >= FRESH -> event = at - FRESH; head = event
    :: at != 0 && at < FRESH && next[at] != 0 ->
        event = next[at];
        put_envelope(at);
        head = event
    :: at == 0 || (at < FRESH && next[at] == 0)
    fi;
    at = 0
}

/* Inside a step: some sender's events may be missing, none comes twice or too early. */
inline check_order()
{
    /*= An event is handled or dropped. */
    assert(!pooled[event] && number[event] >= expected[sender[event]]);
    expected[sender[event]] = number[event] + 1
}

/* The mailbox was full. Goes on behind it with a place for one event, or claims once more. */
inline evict()
{
    /*@ engine/post.c overflow "weir__evict_and_publish(by->context, processor, parcel->envelope" */
    /*@ engine/evict.c attempt "weir__mailbox_evict("
     *  "const weir__claim claim = weir__mailbox_claim(mailbox, &one)" */
    /*@ queue/mailbox.c weir__mailbox_evict "if (!weir__trylock_take(&mailbox->head_lock))"
     *  "if (full && (word & WEIR__MAILBOX_CLOSED) == 0 && weir__mailbox_count(word) > 0)"
     *  "result = pop(mailbox, out, spent)"
     *  "weir__add(&mailbox->word, WEIR__MAILBOX_TICKET_ONE, acq_rel)" */
    do
    :: closed -> goto over
    :: !closed && count < LIMIT -> break
#ifdef BUG_EVICTS_WITHOUT_LOCK
    :: !closed && count == LIMIT && spare > 0 ->
#else
    :: atomic { !closed && count == LIMIT && !head_lock && spare > 0 -> head_lock = 1 }
#endif
        if
        :: closed || count < LIMIT
        :: !closed && count == LIMIT ->
            at = head;
            atomic {
                assert(!ended);
                pop();
                if
                :: event != 0 ->
                    check_order();
                    dropped++;
                    accepted++;
                    hanging++;
                    pack();
                    event = 0
                :: else
                fi
            }
        fi;
#ifndef BUG_EVICTS_WITHOUT_LOCK
        head_lock = 0;
#endif
        if
        :: last != 0 -> break
        :: else
        fi
    od
}
#endif

proctype poster(byte me)
{
    byte n, got, first, last, before;
#ifdef EVICT
    byte event, at;
#endif
    bit edge;

    /*@ engine/post.c offer_to "weir__mailbox_claim(&processor->mailbox, &one)"
     *  "weir__mailbox_publish(&processor->mailbox, parcel->envelope"
     *  "weir__ready(by->context, processor)" */
    do
    :: n < EVENTS ->
#ifdef EVICT
        evict();
        if
        :: last == 0 -> claim()
        :: else
        fi;
#else
        claim();
#endif
        publish();
        if
        :: atomic { edge && DRAINED -> edge = 0; make_ready() }
        :: !edge
        fi
    :: n == EVENTS -> break
    od;
over:
    n = 0
}

#ifdef CLOSE
active proctype closer()
{
    /*@ queue/mailbox.h weir__mailbox_close "WEIR__MAILBOX_CLOSED | WEIR__MAILBOX_READY, seq_cst" */
    /*@ engine/stop.c weir__stop_family "weir__dispatcher_push(p->dispatcher, p)" */
    bit edge;
    atomic { closed = 1; edge = !ready; ready = 1 }
    if
    :: atomic { edge -> edge = 0; assert(!queued && !owned); queued = 1 }
    :: else
    fi
}
#endif

/* ---- the owner ---- */

inline next_event()
{
    /*@ queue/mailbox.h weir__mailbox_take "cursor->head = weir__load(&mailbox->head, acquire)"
     *  "cursor->head &= ~WEIR__MAILBOX_FRESH" "weir__load(&stub->pooled.next, acquire)"
     *  "*spent = stub" */
    /*@ engine/turn.c next_event "weir__envelope_put(turn->context, spent)" */
#ifdef EVICT
    /*@ engine/turn.c next_event_slowly "weir__mailbox_pop(mailbox, &at->copy, &spent)" */
    /*@ queue/mailbox.c weir__mailbox_pop "if (!weir__trylock_take(&mailbox->head_lock))"
     *  "const weir__pop result = pop(mailbox, out, spent)" */
    if
    :: head_lock -> goto hand_back
    :: atomic { !head_lock -> head_lock = 1 }
    fi;
    atomic {
        at = head;
        if
        :: at == 0 -> assert(hanging > 0); head_lock = 0; goto hand_back
        :: else
        fi
    }
    atomic {
        pop();
        if
        :: event != 0 -> check_order(); uncredited++; done++; event = 0; handled++
        :: else -> assert(hanging > 0); head_lock = 0; goto hand_back
        fi
    }
    head_lock = 0
#else
    do
    :: atomic { cursor == 0 && HEAD != 0 -> cursor = HEAD }
    :: atomic { cursor == 0 && HEAD == 0 -> assert(hanging > 0); goto hand_back }
    :: atomic { cursor != 0 && cursor < FRESH && next[cursor] == 0 ->
            assert(hanging > 0);
            goto hand_back
        }
    :: atomic { cursor != 0 && cursor < FRESH && next[cursor] != 0 ->
            stub = cursor;
            cursor = next[stub];
            put_envelope(stub);
            stub = 0;
            break
        }
    :: atomic { cursor >= FRESH -> cursor = cursor - FRESH; break }
    od;
    atomic { assert(!pooled[cursor]); uncredited++; done++ }
#endif
}

inline give_stub_back()
{
    /*@ engine/turn.c settle "weir__mailbox_retire(&processor->mailbox, &at->cursor, &spent)" */
    /*@ queue/mailbox.c weir__mailbox_retire "gone = give_stub_back(mailbox, stub)" */
    /*@ queue/mailbox.c give_stub_back "weir__store(&mailbox->head, 0, relaxed)"
     *  "weir__cas(&mailbox->tail, &expected, NULL, acq_rel, relaxed)"
     *  "weir__store(&mailbox->head, (uintptr_t)stub, relaxed)" */
#ifdef EVICT
    atomic { !head_lock -> head_lock = 1; cursor = HEAD }
#endif
    if
    :: atomic { cursor != 0 && cursor < FRESH ->
#ifndef BUG_HEAD_CLEARED_LATE
            store_head(0)
#endif
        }
        if
        :: atomic { tail == cursor && DRAINED -> tail = 0; put_envelope(cursor); cursor = 0 }
#ifdef BUG_HEAD_CLEARED_LATE
            atomic { store_head(0) }
#endif
        :: atomic { tail != cursor && DRAINED -> store_head(cursor) }
        fi
    :: cursor == 0 || cursor >= FRESH
    fi
#ifdef EVICT
    ;
    head_lock = 0
#endif
}

inline keep()
{
    /*@ engine/turn.c weir__turn_run "weir__mailbox_keep(&processor->mailbox, at.cursor)" */
    /*@ queue/mailbox.h weir__mailbox_keep "if (cursor.head != 0)"
     *  "weir__store(&mailbox->head, cursor.head, relaxed)" */
#ifdef BUG_KEEPS_NOTHING
    atomic { store_head(cursor) }
#else
    if
    :: atomic { cursor != 0 -> store_head(cursor) }
    :: else
    fi
#endif
}

inline credit()
{
    /*@ engine/turn.c credit "weir__mailbox_credit(&processor->mailbox, at->uncredited)" */
    /*@ queue/mailbox.h weir__mailbox_credit
     *  "weir__sub(&mailbox->word, count * WEIR__MAILBOX_ONE, seq_cst)" */
    atomic { DRAINED -> count = count - uncredited; uncredited = 0 }
}

/* Inside a step. */
inline deliver()
{
    /*@ engine/turn.c deliver "processor->handler(processor->state, turn, &event)" */
    assert(owned && !pooled[cursor]);
    assert(number[cursor] == expected[sender[cursor]]);
    expected[sender[cursor]]++;
    handled++
}

proctype owner(byte me)
{
    byte cursor, stub, uncredited, done;
#ifdef EVICT
    byte event, at;
#endif

    /*@ engine/dispatcher.c weir__dispatcher_take "weir__processor *first = dispatcher->head" */
    /*@ engine/turn.c weir__turn_run "at.cursor = weir__mailbox_cursor(&processor->mailbox)" */
    /*@ queue/mailbox.h weir__mailbox_cursor "weir__load(&mailbox->head, acquire)" */
wait:
end:
    atomic { queued -> assert(!owned); queued = 0; owned = 1 }
    cursor = HEAD;

    /*@ engine/turn.c run_events "while (at->done < batch)"
     *  "const uint64_t word = weir__load(&mailbox->word, acquire)" "return finish(turn, at)"
     *  "if (at->uncredited >= mailbox->credit_every)" */
    do
    :: done == BATCH -> goto hand_back
    :: done < BATCH && count > uncredited ->
        next_event();
        if
        :: uncredited >= CREDIT -> credit()
        :: else
        fi;
#ifndef EVICT
        atomic { deliver() }
#endif
    :: done < BATCH && count == uncredited && closed -> goto finish
    :: done < BATCH && count == uncredited && !closed ->

        /*@ engine/turn.c settle
         *  "if (!weir__mailbox_idle(&processor->mailbox, word, at->uncredited))" */
        /*@ queue/mailbox.h weir__mailbox_idle
         *  "(word - uncredited * WEIR__MAILBOX_ONE) & ~WEIR__MAILBOX_READY"
         *  "return weir__cas(&mailbox->word, &word, idle, seq_cst, relaxed)" */
#ifndef BUG_STUB_KEPT
        give_stub_back();
#endif
        if
#ifdef BUG_IDLE_NOT_BY_EXCHANGE
        :: atomic { DRAINED ->
#else
        :: atomic { count == uncredited && !closed && DRAINED ->
#endif
                count = count - uncredited;
                ready = 0;
                owned = 0;
                uncredited = 0; cursor = 0; done = 0;
                goto wait
            }
        :: (count != uncredited || closed) && DRAINED
        fi
    od;

    /*@ engine/turn.c run_events "return WEIR__TURN_GAP" "return WEIR__TURN_MORE" */
    /*@ engine/duty.c put_back "weir__dispatcher_push_quiet(serving->dispatcher, processor)" */
hand_back:
#ifndef EVICT
    keep();
#endif
    if
    :: uncredited > 0 -> credit()
    :: else
    fi;
    atomic { DRAINED -> owned = 0; make_ready(); cursor = 0; done = 0; goto wait }

    /*@ engine/turn.c finish "weir__mailbox_retire(&processor->mailbox, &at->cursor, &spent)"
     *  "weir__life_end(turn->context, processor)" */
finish:
    give_stub_back();
    if
    :: uncredited > 0 -> credit()
    :: else
    fi;
    atomic { DRAINED ->
        assert(tail == 0 && head == 0 && count == 0);
        ended = 1;
        cursor = 0; done = 0
    }
}

init
{
    /*= Starts all, waits until nothing moves, judges. */
    byte i;
    atomic {
        do
        :: i < OWNERS -> run owner(i); i++
        :: i >= OWNERS && i < OWNERS + POSTERS -> run poster(i); i++
        :: else -> i = 0; break
        od
    }
    timeout;
    atomic {
        assert(handled + dropped == accepted && count == 0);
        assert(tail == 0 && head == 0 && spare == ENVELOPES);
        assert(closed == ended && (closed || (!ready && accepted == POSTERS * EVENTS)))
    }
}
