/*
 * mailbox.pml - one mailbox: the word that decides, and where the events lie.
 *
 * Posters claim, find their place and fill it; whoever takes the processor from the ready queue
 * (here: one flag) is its owner for a turn, takes events, lets their places go, gives them back,
 * and goes idle, ends, or hands the processor on. An event is known by its ticket. When nothing
 * moves any more everything that was accepted must have been handled, once, in the order of the
 * tickets, and the mailbox must own no memory. Memory is objects that are free or not: who touches
 * a free one fails, and so does who frees one that is not empty. What is filled when the owner
 * begins to look for it, it must find: so no gap outlasts its poster.
 *
 * Comments with @ and = are explained in wakeup.pml, what is left out in README.md.
 *
 * Parameters: OWNERS, POSTERS, EVENTS (of each poster), CHAIN (at most so many in one claim),
 * LIMIT, PAGE (places), INDEX (pages), ROOT (indexes), BATCH, CREDIT (events taken before they are
 * credited); FOLD: those of a claim may go together (not with EVICT); BESIDE: so many more posters,
 * whose events lie beside; ROUSE: so many times it is made ready without an event; CLOSE: a closer;
 * EVICT: drop-oldest; TSO: plain stores wait in a buffer of one (not with EVICT).
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
#ifndef PAGE
#define PAGE 1
#endif
#ifndef INDEX
#define INDEX 1
#endif
#ifndef ROOT
#define ROOT 4
#endif
#ifndef BATCH
#define BATCH 2
#endif
#ifndef CREDIT
#define CREDIT 1
#endif
#ifndef BESIDE
#define BESIDE 0
#endif
#define WRITERS (POSTERS + BESIDE)

/* The word. */
bit ready;
bit closed;
bit epoch;
bit has_first;
byte count;
byte ticket;

/* Pointers are 1 and up, 0 is NULL; in `first` and `root` the parity is the lowest bit. */
byte first;
byte root;
byte beside;
byte beside_taken;
byte first_taken;

#ifdef EVICT
bit lock;
byte dropped;
byte last_placed;
byte last_beside;
#else
#define dropped 0
#endif

/* The model's own. */
bit queued;
bit owned;
bit ended;
short unfilled; /* tickets that are claimed and not yet to be seen: a bit each */
byte accepted;
byte handled;

#define UNFILLED(t) ((unfilled >> (t)) & 1)
#define ENTRY(t) (((t) / (PAGE * INDEX)) % ROOT)
#define BELOW(t) (((t) / PAGE) % INDEX)
#define PLACE(page, t) ((page) * PAGE + (t) % PAGE)
/* A page and its number, as far as that is told; 0 is none. */
#ifdef BUG_PAGES_SHARE_A_NUMBER
#define NUMBERS 2
#else
#define NUMBERS (INDEX * ROOT)
#endif
#define NUMBER(t) (((t) / PAGE) % NUMBERS)
#define NEWEST(page, t) ((page) * NUMBERS + NUMBER(t))
#define LONE 64 /* what is held: 1 is a place, LONE + n an envelope of its own */

inline accept()
{
    /*= Inside a step. */
    unfilled = unfilled | (1 << ticket);
    ticket++;
    accepted++;
    got++;
    n++
}

#define ROOT_OF(parity) ((root & 1) == (parity) -> root >> 1 : 0)

#include "mailbox_memory.pml"
#include "mailbox_take.pml"
#include "mailbox_place.pml"

/* ---- posters ---- */

inline claim(how_many, edge_flag)
{
    /*@ queue/mailbox.h weir__mailbox_claim_within "return WEIR__CLAIM_CLOSED"
     *  "const uint32_t used = weir__mailbox_count(word)"
     *  "const uint32_t got = *count < room ? *count : room" "WEIR__MAILBOX_READY | edge"
     *  "weir__cas(&mailbox->word, &word, next, acq_rel, relaxed)" */
    /*@ engine/straight.h weir__post_straight "uint64_t next = word + WEIR__MAILBOX_ACCEPT_ONE"
     *  "weir__mailbox_is_closed(word)" "weir__mailbox_looks_full(word, mailbox->limit)"
     *  "if ((word & WEIR__MAILBOX_READY) != 0)" "next |= WEIR__MAILBOX_READY | WEIR__MAILBOX_FIRST"
     *  "weir__cas(&mailbox->word, &word, next, acq_rel, relaxed)" */
    /*@ queue/mailbox.h weir__mailbox_is_closed "(word & WEIR__MAILBOX_CLOSED) != 0" */
    /*@ queue/mailbox.h weir__mailbox_looks_full
     *  "weir__mailbox_count(word) + weir__mailbox_owed(word) >= limit" */
    /*@ queue/mailbox.h weir__mailbox_claim "before, WEIR__MAILBOX_FIRST)" */
    /*@ queue/mailbox.h weir__mailbox_claim_beside "&one, before, 0)" */
    /*@ engine/batch.c offer_run
     *  "weir__lease_claim(&processor->mailbox, &context->tenant, &got, &before)" */
    if
    :: closed -> goto over
#ifdef BUG_CLOSED_LOOKED_AT_BEFORE
    :: !closed -> atomic { count < LIMIT && DRAINED ->
#else
    :: atomic { !closed && count < LIMIT && DRAINED ->
#endif
            assert(!ended);
#ifdef BUG_READY_APART
            edge = count == 0;
#else
            edge = !ready;
#endif
            if
            :: edge -> has_first = edge_flag
            :: else
            fi;
            ready = 1;
            t = ticket;
            parity = epoch;
            do
            :: n < EVENTS && count < LIMIT && got < how_many -> accept(); count++
            :: else -> break
            od
        }
    fi
}

/* Inside a step. */
inline make_ready()
{
    /*@ engine/dispatcher.c weir__dispatcher_push_quiet "weir__cas(&dispatcher->intake" */
    assert(!queued && !owned);
    queued = 1
}

proctype poster(byte me)
{
    byte n, got, t, r, x, p;
    bit edge, parity;
#ifdef EVICT
    byte head, c_ticket, c_page, held, k, b, l;
    bit was;
#endif

    /*@ engine/straight.h weir__offer_to
     *  "weir__lease_claim(mailbox, &by->context->tenant, &one, &before)"
     *  "weir__parcel_deliver(by, mailbox, claim, before, parcel)"
     *  "weir__ready(by->context, processor)" */
    /*@ engine/straight.h weir__post_straight
     *  "return weir__straight_next(by, processor, word, &parcel)"
     *  "return weir__straight_first(by, processor, word, &parcel)" */
    /*@ engine/straight.h weir__straight_first
     *  "return weir__straight_ready(by->context, processor)" */
    do
    :: n < EVENTS ->
#ifdef EVICT
        evict();
        if
        :: got == 0 -> claim(1, 1)
        :: else
        fi;
#else
        claim(CHAIN, 1);
#endif
        if
        :: edge -> put_first()
        :: else
        fi;
        do
        :: got > 0 -> fill_place()
        :: else -> break
        od;
        t = 0; parity = 0;
        if
        :: atomic { edge && DRAINED -> edge = 0; make_ready() }
        :: !edge
        fi
    :: n == EVENTS -> break
    od;
over:
    n = 0
}

#if BESIDE > 0
proctype poster_beside(byte me)
{
    byte n, got, t, x;
    bit edge, parity;

    /*@ engine/signal.c offer "weir__mailbox_claim_beside(&processor->mailbox, &before)"
     *  "lone->ticket = weir__mailbox_ticket(before)"
     *  "weir__mailbox_put_beside(&processor->mailbox, lone)" */
    /*@ queue/mailbox.c weir__mailbox_put_beside
     *  "weir__store(&lone->pooled.next, newest != NULL ? &newest->pooled : NULL, relaxed)"
     *  "weir__cas(&mailbox->beside, &newest, lone, release, relaxed)" */
    do
    :: n < EVENTS ->
        claim(1, 0);
#ifdef BUG_BESIDE_BY_STORE
        atomic { get(lone_out, x); event_in[x] = t + 1; ticket_of[x] = t; next[x] = beside };
        atomic { beside = x; see(t + 1); t = 0; x = 0; got = 0; parity = 0 }
#else
        atomic {
            get(lone_out, x);
            event_in[x] = t + 1; ticket_of[x] = t; next[x] = beside;
            beside = x;
            see(t + 1);
            t = 0; x = 0; got = 0; parity = 0
        }
#endif
        if
        :: atomic { edge -> edge = 0; make_ready() }
        :: !edge
        fi
    :: n == EVENTS -> break
    od;
over:
    n = 0
}
#endif

#if defined(CLOSE) || defined(ROUSE)
active proctype rouser()
{
    /*@ queue/mailbox.h weir__mailbox_rouse
     *  "weir__cas(&mailbox->word, &word, word | WEIR__MAILBOX_READY, acq_rel, relaxed)" */
    /*@ queue/mailbox.h weir__mailbox_close "WEIR__MAILBOX_CLOSED | WEIR__MAILBOX_READY, seq_cst" */
    /*@ engine/stop.c weir__stop_family "weir__dispatcher_push(weir__processor_dispatcher(p), p)" */
    byte n;
    bit edge;
#ifdef ROUSE
    do
    :: n < ROUSE ->
        atomic { !ready -> ready = 1; n++ };
        atomic { make_ready() }
    :: n == ROUSE -> n = 0; break
    od;
#endif
#ifdef CLOSE
    atomic { closed = 1; edge = !ready; ready = 1 };
    if
    :: atomic { edge -> edge = 0; make_ready() }
    :: else
    fi
#endif
}
#endif

/* ---- the owner ---- */

inline credit()
{
    /*@ engine/progress.h weir__progress_credit
        "weir__mailbox_credit(&processor->mailbox, at->uncredited)" */
    /*@ queue/mailbox.h weir__mailbox_credit
     *  "weir__sub(&mailbox->word, count * WEIR__MAILBOX_ONE, seq_cst)" */
    atomic { DRAINED -> count = count - uncredited; uncredited = 0 }
}

/* What this epoch did not use is of the one before. */
inline clear_stale()
{
    /*@ queue/mailbox.c clear_stale "if (root != 0 && (root & 1) != parity"
     *  "weir__cas(&mailbox->root, &root, 0, acq_rel, relaxed)" */
#ifndef BUG_STALE_ROOT_KEPT
#ifdef BUG_STALE_ROOT_BY_STORE
    if
    :: (root & 1) != epoch && root > 1 -> root = 0
    :: else
    fi;
#else
    if
    :: atomic { (root & 1) != epoch && root > 1 && DRAINED -> root = 0 }
    :: else
    fi;
#endif
#endif

    /*@ queue/mailbox.c clear_stale "if ((word & WEIR__MAILBOX_FIRST) == 0)"
     *  "weir__store(&mailbox->first, 0, relaxed)" "mailbox->first_taken = 0" */
    if
#ifdef BUG_FIRST_TAKEN_RESET
    :: true -> first_taken = 0
#else
#ifndef BUG_STALE_FIRST_KEPT
    :: atomic { !has_first && DRAINED -> store_first(0); first_taken = 0 }
#endif
    :: else
#endif
    fi
}

proctype owner(byte me)
{
    byte c_ticket, c_page, held, uncredited, done, r, x, k, b, l, i, t;
    bit was;

    /*@ engine/dispatcher.c weir__dispatcher_take "weir__processor *first = dispatcher->head" */
    /*@ engine/turn.c run_turn "weir__mailbox_take_lone(&processor->mailbox, unmarked)"
     *  "run_rest(thread, serving, word, 1)" */
    /*@ engine/turn.c begin "at->cursor = weir__mailbox_cursor(word, done)" */
    /*@ queue/mailbox.h weir__mailbox_cursor
     *  "weir__mailbox_ticket(word) - weir__mailbox_count(word)" */
wait:
end:
    atomic { queued -> assert(!owned); queued = 0; owned = 1; c_ticket = ticket - count }

    /*@ engine/turn.c run_events "while (at->done < batch)"
     *  "const uint64_t word = weir__load(&mailbox->word, acquire)"
     *  "return weir__turn_finish(turn, at)" */
    /*@ engine/turn.c run_some "!weir__mailbox_first_due(mailbox, at->word)"
     *  "run_page(thread, at, available)" "run_one(thread, at, available)" */
    /*@ engine/turn.c run_one "at->uncredited >= every" "weir__progress_let_go(turn, at)" */
    /*@ engine/turn.c run_page "(state = weir__load(&envelope->state, acquire)) != 0"
     *  "weir__store(&envelope->state, 0, relaxed)" "weir__progress_credit(turn, at)" */
    /*@ engine/turn.c run_lone "weir__mailbox_idle_lone(mailbox, word)" */
    /*@ engine/progress.h weir__progress_event
        "weir__mailbox_take(mailbox, &at->cursor, at->word)" */
    /*@ engine/turn.c deliver "call(thread, processor, handler)" */
    /*@ engine/turn.c call "handler(processor->state, turn, event)" */
again:
    do
    :: done == BATCH -> goto hand_back
#ifdef EVICT
    :: done < BATCH && count > 0 -> pop()
#else
    :: atomic { done < BATCH && count > uncredited -> was = UNFILLED(c_ticket) }
        take();
#ifdef FOLD
        if
        :: held == 1 && folded[FIRST_PLACE] > 0 ->
            if
            :: true -> run_fold(); goto again
            :: true -> atomic { unfold(0) }
            fi
        :: else
        fi;
#endif
        if
        :: held == 0 -> goto hand_back
        :: else -> uncredited++; done++
        fi;
        if
        :: uncredited >= CREDIT -> credit()
        :: else
        fi;
        atomic { assert(owned); leaves(); handled++ };
        let_go()
#endif
    :: done < BATCH && count == uncredited && closed -> goto finish
    :: done < BATCH && count == uncredited && !closed ->

        /*@ engine/turn.c settle
         *  "weir__mailbox_idle(&processor->mailbox, word" */
        /*@ queue/mailbox.h weir__mailbox_idle_word
         *  "(word - uncredited * WEIR__MAILBOX_ONE) & ~(WEIR__MAILBOX_READY | WEIR__MAILBOX_FIRST)"
         *  "^ WEIR__MAILBOX_EPOCH" */
        /*@ queue/mailbox.h weir__mailbox_idle_lone "weir__load(&mailbox->root, relaxed) == 0"
         *  "weir__cas(&mailbox->word, &word, idle, seq_cst, relaxed)" */
        /*@ queue/mailbox.c weir__mailbox_idle_as "if (!clear_stale(mailbox, word))"
         *   "weir__mailbox_root(mailbox, weir__mailbox_parity(word))"
         *  "weir__cas(&mailbox->word, &word, idle, seq_cst, relaxed)"
         *  "drop_root(root, page_class, ticket, stock)" */
        clear_stale();
        r = ROOT_OF(epoch);
#ifdef BUG_ROOT_DROPPED_EARLY
        atomic { if :: r != 0 -> drop_root(r, ticket); r = 0 :: else fi };
#endif
        if
#ifdef BUG_IDLE_NOT_BY_EXCHANGE
        :: atomic { DRAINED ->
#else
        :: atomic { count == uncredited && !closed && DRAINED ->
#endif
                count = count - uncredited;
                ready = 0;
                has_first = 0;
                t = ticket;
#ifndef BUG_PARITY_KEPT
                epoch = 1 - epoch;
#endif
                owned = 0;
                uncredited = 0; done = 0; c_page = 0; c_ticket = 0
            }
#ifdef BUG_ROOT_READ_LATE
            r = ROOT_OF(1 - epoch);
#endif
            atomic {
                if
                :: r != 0 -> drop_root(r, t)
                :: else
                fi;
                r = 0; t = 0;
                goto wait
            }
        :: atomic { (count != uncredited || closed) && DRAINED -> r = 0 }
        fi
    od;

    /*@ engine/turn.c run_events "ran == GAP ? WEIR__TURN_GAP : WEIR__TURN_ASIDE" */
    /*@ engine/duty.c put_back "weir__dispatcher_push_quiet(" */
hand_back:
    if
    :: uncredited > 0 -> credit()
    :: else
    fi;
    atomic { DRAINED ->
        owned = 0; make_ready(); c_page = 0; c_ticket = 0; done = 0;
        goto wait
    };

    /*@ engine/turn_end.c weir__turn_finish
        "weir__progress_credit(turn, at)" "weir__mailbox_retire(&processor->mailbox"
     *  "weir__life_end(turn->context, processor)" */
    /*@ queue/mailbox.c weir__mailbox_retire "weir__store(&mailbox->root, 0, relaxed)"
     *  "drop_root(root, mailbox->page_class, weir__mailbox_ticket(word), stock)" */
finish:
    if
    :: uncredited > 0 -> credit()
    :: else
    fi;
    atomic { DRAINED ->
        r = ROOT_OF(epoch);
        if
#ifndef BUG_RETIRES_WITHOUT_ITS_ROOT
        :: r != 0 -> root = 0; drop_root(r, ticket)
#endif
        :: else
        fi;
        assert(count == 0 && unfilled == 0);
        ended = 1;
        r = 0; c_page = 0; c_ticket = 0; done = 0
    }
}

#define all_free(out, size) \
    i = 1; \
    do \
    :: i <= size -> assert(!out[i]); i++ \
    :: else -> i = 0; break \
    od

init
{
    /*= Starts all, waits until nothing moves, judges. */
    byte i;
    atomic {
        do
        :: i < OWNERS -> run owner(i); i++
        :: i >= OWNERS && i < OWNERS + POSTERS -> run poster(i); i++
#if BESIDE > 0
        :: i >= OWNERS + POSTERS && i < OWNERS + WRITERS -> run poster_beside(i); i++
#endif
        :: else -> i = 0; break
        od
    }
    timeout;
    atomic {
        assert(handled + dropped == accepted && count == 0 && unfilled == 0);
        assert(beside == 0 && beside_taken == 0);
        assert(closed == ended && (closed || (!ready && accepted == WRITERS * EVENTS)));
        all_free(lone_out, LONES);
        all_free(root_out, ROOTS);
        all_free(index_out, INDEXES);
        all_free(page_out, PAGES)
    }
}
