/*
 * mailbox_take.pml - taking events and letting them go, a part of mailbox.pml: by the owner, and
 * with EVICT by posters, too. A process that uses it has the cursor (c_ticket, c_page, held),
 * `was`, and r, x, k, b, l for itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define FIRST_DUE (has_first && first_taken != FIRST_TAKEN)
#ifdef BUG_FIRST_TAKEN_RESET
#define FIRST_TAKEN 1
#else
#define FIRST_TAKEN (epoch + 1)
#endif

inline take_first()
{
    /*@ queue/mailbox.h weir__mailbox_first_due "(word & WEIR__MAILBOX_FIRST) != 0"
     *  "mailbox->first_taken != weir__mailbox_parity(word) + 1" */
    /*@ queue/mailbox.c weir__mailbox_take_first "weir__mailbox_first(mailbox, parity)" */
    /*@ queue/mailbox.h weir__mailbox_first "weir__load(&mailbox->first, acquire)"
     *  "(first & 1) != parity || first <= 1"
     *  "mailbox->first_taken = (uint8_t)(parity + 1)" */
    atomic {
        if
#ifdef BUG_FIRST_WITHOUT_PARITY
        :: first > 1 ->
#else
        :: (first & 1) == epoch && first > 1 ->
#endif
            first_taken = FIRST_TAKEN;
            held = LONE + (first >> 1)
        :: else -> assert(was)
        fi
    }
}

/* Into `held`, if it is there. */
inline take_placed()
{
    /*@ queue/mailbox.h weir__mailbox_find_page
     *  "weir__root *root = weir__mailbox_root(mailbox, weir__mailbox_parity(word))"
     *  "weir__mailbox_page(root, mailbox->page_class, cursor->ticket)" */
    if
    :: c_page == 0 ->
        r = ROOT_OF(epoch);
        if
        :: r != 0 ->
            atomic { assert(root_out[r]); x = index_at[r * ROOT + ENTRY(c_ticket)]; r = 0 };
            if
            :: x != 0 -> atomic {
                    assert(index_out[x]);
                    c_page = page_at[x * INDEX + BELOW(c_ticket)];
                    x = 0
                }
            :: else
            fi
        :: else
        fi
    :: else
    fi;

    /*@ queue/mailbox.h weir__mailbox_take_placed "weir__load(&envelope->state, acquire)" */
    if
    :: c_page != 0 -> atomic {
            assert(page_out[c_page]);
            held = (place[PLACE(c_page, c_ticket)] != 0 -> 1 : 0)
        }
    :: else
    fi
}

#if BESIDE > 0
/* Inside a step: what has come is turned round and appended. */
inline gather()
{
    /*@ queue/mailbox.c gather "weir__exchange(&mailbox->beside, NULL, acquire)"
     *  "mailbox->beside_taken = oldest"
     *  "weir__store(&last->pooled.next, oldest != NULL ? &oldest->pooled : NULL, relaxed)" */
    /*@ queue/mailbox.c next_of "weir__load(&lone->pooled.next, relaxed)" */
    b = 0;
    do
    :: beside != 0 -> l = next[beside]; next[beside] = b; b = beside; beside = l
    :: else -> break
    od;
    l = beside_taken;
    do
    :: l != 0 && next[l] != 0 -> l = next[l]
    :: l != 0 && next[l] == 0 -> next[l] = b; break
    :: l == 0 -> beside_taken = b; break
    od;
    l = 0; b = 0
}

inline take_beside()
{
    /*@ queue/mailbox.h weir__mailbox_take "weir__mailbox_take_beside(mailbox, cursor)" */
    /*@ queue/mailbox.c weir__mailbox_take_beside "find_beside(mailbox, cursor->ticket, true)" */
    /*@ queue/mailbox.c find_beside "mailbox->beside_taken = next_of(l)" "gather(mailbox)"
     *  "weir__store(&before->pooled.next, weir__load(&l->pooled.next, relaxed), relaxed)" */
    atomic {
        gather();
        l = beside_taken;
        do
        :: l != 0 && ticket_of[l] == c_ticket ->
            assert(lone_out[l]);
            held = LONE + l;
            if
            :: b == 0 -> beside_taken = next[l]
            :: else -> next[b] = next[l]
            fi;
            break
        :: l != 0 && ticket_of[l] != c_ticket -> b = l; l = next[l]
        :: l == 0 -> break
        od;
        l = 0; b = 0
    }
}
#else
#define take_beside() skip
#define gather() skip
#endif

/* Which events are filled when it begins was noted in `was`. */
inline take()
{
    /*@ queue/mailbox.h weir__mailbox_take "if (weir__mailbox_first_due(mailbox, word))"
     *  "weir__mailbox_take_first(mailbox, cursor, weir__mailbox_parity(word))"
     *  "weir__mailbox_take_placed(mailbox, cursor, word)" */
    /*@ queue/mailbox.h weir__mailbox_take_lone
     *  "weir__mailbox_first(mailbox, weir__mailbox_parity(word))" */
    if
    :: FIRST_DUE -> take_first()
    :: else ->
        take_placed();
        if
        :: held == 0 -> take_beside()
        :: else
        fi;
        assert(held != 0 || was)
    fi;
    was = 0
}

/* Inside a step: the event that is held leaves, in its order. */
inline leaves()
{
    /*= An event is handled or dropped. */
    if
    :: held == 1 -> assert(page_out[c_page]); x = place[PLACE(c_page, c_ticket)]
    :: else -> assert(lone_out[held - LONE]); x = event_in[held - LONE]
    fi;
#ifdef EVICT
    if
    :: held != 1 && ticket_of[held - LONE] != 0 -> assert(x > last_beside); last_beside = x
    :: else -> assert(x > last_placed); last_placed = x
    fi;
#else
    assert(x == c_ticket + 1 && x == handled + 1);
#endif
    x = 0
}

#ifdef BUG_PAGE_LET_GO_EARLY
#define GONE c_ticket
#define PAGE_DONE (c_ticket % PAGE == PAGE - 1)
#else
#define GONE (c_ticket - 1)
#define PAGE_DONE (c_ticket % PAGE == 0)
#endif

/* The tickets of a page are done, so what is read here stands still. */
inline leave_page()
{
    /*@ queue/mailbox.c weir__mailbox_leave_page
     *  "weir__root *root = weir__mailbox_root(mailbox, parity)" "cursor->page = NULL" */
    /*@ queue/mailbox.c drop_before "TICKET(ticket - 1) >> weir__page_bits(page_class)"
     *  "weir__load(&root->newest, relaxed) == weir__root_newest(page, number)"
     *  "weir__store(&root->newest, 0, relaxed)"
     *  "weir__store(&index->pages[below], NULL, relaxed)" "STOCK_PUT(pages[page_class], page)" */
    atomic { DRAINED ->
        c_page = 0;
        r = ROOT_OF(epoch);
        if
        :: r != 0 -> x = index_at[r * ROOT + ENTRY(GONE)]
        :: else
        fi;
        if
        :: x != 0 && page_at[x * INDEX + BELOW(GONE)] != 0 ->
            k = page_at[x * INDEX + BELOW(GONE)];
#if defined(BUG_ENTRY_KEPT)
            newest[r] = 0;
#elif defined(BUG_NEWEST_KEPT)
            store_no_page(x * INDEX + BELOW(GONE), 0);
#else
            l = (newest[r] == NEWEST(k, GONE) -> r : 0);
            store_no_page(x * INDEX + BELOW(GONE), l);
#endif
            r = k;
            k = 0; l = 0
        :: else -> r = 0
        fi
    };
    atomic { DRAINED ->
        if
        :: r != 0 -> put_page(r); r = 0
        :: else
        fi;
#ifdef BUG_INDEX_WITH_ITS_LAST_PAGE
        if
        :: x != 0 && BELOW(GONE) == INDEX - 1 ->
            index_at[ROOT_OF(epoch) * ROOT + ENTRY(GONE)] = 0;
            put_index(x)
        :: else
        fi;
#endif
        x = 0
    }
}

/* What is held is emptied or given back. */
inline release()
{
    /*@ queue/mailbox.h weir__mailbox_let_go "weir__store(&envelope->state, 0, relaxed)"
     *  "lone = weir__lone_of(envelope)" */
    /*@ engine/progress.h weir__progress_let_go "weir__lone_put(turn->context, lone)" */
    atomic { DRAINED ->
        if
        :: held == 1 -> store_place(PLACE(c_page, c_ticket), 0)
        :: else -> put_lone(held - LONE)
        fi;
        held = 0
    }
}

inline let_go()
{
    /*@ queue/mailbox.h weir__mailbox_advance "cursor->ticket = (cursor->ticket + count)"
     *  "weir__mailbox_leave_page(mailbox, cursor, weir__mailbox_parity(word), stock)" */
    release();
    c_ticket++;
    if
    :: PAGE_DONE -> leave_page()
    :: else
    fi
}

#ifdef FOLD
#define FIRST_PLACE PLACE(c_page, c_ticket)

/* Inside a step, and not by way of the buffer: nobody else reads any of these places until they are
 * given back, which is an exchange. `n` of them are handled. */
inline unfold(n)
{
    /*@ queue/fold.c weir__fold_undo "undo(first, done, state, 8)"
     *  "weir__store(&first->state, done == 0 ? state : 0, relaxed)" */
    /*@ queue/fold.c undo "for (uint32_t n = count - 1; n > 0 && n >= done; n--)"
     *  "weir__store(&to->state, state, relaxed)" */
#ifdef BUG_UNFOLDS_SHORT
    k = folded[FIRST_PLACE] - 1;
#else
    k = folded[FIRST_PLACE];
#endif
    do
    :: k > 0 && k >= n ->
        assert(place[FIRST_PLACE + k] == 0);
        place[FIRST_PLACE + k] = place[FIRST_PLACE] + k;
        k--
    :: else -> break
    od;
    folded[FIRST_PLACE] = 0;
    if
    :: n > 0 -> place[FIRST_PLACE] = 0
    :: else
    fi;
    k = 0
}

/* What is held is the first of some that are folded: they are handled where they lie, as far as the
 * turn goes, and until places are due to be given back. `l` of them. */
inline run_fold()
{
    /*@ engine/turn.c run_page "run_fold(thread, processor, envelope, (uint32_t)(end - envelope)"
     *  "left = available < due ? available : due" */
    /*@ engine/turn.c run_fold "const uint32_t last = (count < most ? count : most) - 1"
     *  "call(thread, processor, processor->handler)" "weir__fold_next(&fold)" */
    do
    :: l <= folded[FIRST_PLACE] && done < BATCH && uncredited < CREDIT -> atomic {
            assert(owned && page_out[c_page]);
            assert(place[FIRST_PLACE] + l == c_ticket + l + 1 && c_ticket + l == handled);
            handled++; done++; uncredited++; l++
        }
    :: else -> break
    od;

    /*@ engine/turn.c run_fold "weir__fold_undo(first, n + 1)"
     *  "weir__store(&first->state, 0, relaxed)" */
    atomic { DRAINED ->
        if
        :: l <= folded[FIRST_PLACE] -> unfold(l)
        :: else ->
#ifdef BUG_FOLD_KEPT
            skip
#else
            store_place(FIRST_PLACE, 0)
#endif
        fi;
        held = 0;
        c_ticket = c_ticket + l; l = 0
    };
    if
    :: PAGE_DONE -> leave_page()
    :: else
    fi;
    if
    :: uncredited >= CREDIT -> credit()
    :: else
    fi
}
#endif

#ifdef EVICT
/* Lock held. The oldest event that does not lie beside into `held`, if it is there; those beside
 * in front of it move up. */
inline take_oldest()
{
    /*@ queue/mailbox.c count_beside "find_beside(mailbox, ticket, false)" */
    /*@ queue/mailbox.c take_oldest "count_beside(mailbox, head, count)"
     *  "cursor->ticket = TICKET(head + beside)" */
    atomic {
        gather();
        do
        :: b < count ->
            l = beside_taken;
            do
            :: l != 0 && ticket_of[l] != head + b -> l = next[l]
            :: else -> break
            od;
            if
            :: l != 0 -> b++
            :: else -> break
            fi
        :: else -> break
        od;
#ifdef BUG_EVICTS_WHAT_LIES_BESIDE
        b = 0;
#endif
        c_ticket = head + b;
        was = UNFILLED(c_ticket);
        k = b;
        b = 0; l = 0
    };

    /*@ queue/mailbox.c take_oldest
     *  "weir__mailbox_take_first(mailbox, cursor, weir__mailbox_parity(word))"
     *  "weir__mailbox_take_placed(mailbox, cursor, word)" "if (beside == count)" */
    if
    :: k == count
    :: k < count && FIRST_DUE -> take_first()
#ifdef BUG_EVICTS_WHAT_LIES_BESIDE
    :: k < count && !FIRST_DUE -> take_placed(); take_beside()
#else
    :: k < count && !FIRST_DUE -> take_placed(); assert(held != 0 || was)
#endif
    fi;

    /*@ queue/mailbox.c take_oldest
     *  "l->ticket = TICKET(l->ticket - head) < beside ? TICKET(l->ticket + 1) : l->ticket" */
    atomic {
        was = 0;
        l = (held != 0 -> beside_taken : 0);
        do
        :: l != 0 ->
            ticket_of[l] = ticket_of[l] +
                           (ticket_of[l] >= head && ticket_of[l] < head + k -> 1 : 0);
            l = next[l]
        :: else -> break
        od;
        k = 0
    }
}

/* The mailbox was full. Goes on behind it with a place for one event, or claims once more. */
inline evict()
{
    /*@ engine/post.c overflow "weir__evict_and_deliver(by, processor, parcel, evicted)" */
    /*@ engine/evict.c attempt "weir__mailbox_evict("
     *  "const weir__claim claim = weir__mailbox_claim(mailbox, &one, &before)" */
    /*@ queue/mailbox.c weir__mailbox_evict "if (!weir__trylock_take(lock))"
     *  "weir__mailbox_count(word) + weir__mailbox_owed(word) >= mailbox->limit"
     *  "(word & WEIR__MAILBOX_CLOSED) == 0 && weir__mailbox_count(word) > 0"
     *  "full ? take_oldest(mailbox, word, &cursor) : NULL" "cursor.ticket = TICKET(head + 1)"
     *  "weir__mailbox_leave_page(mailbox, &cursor, weir__mailbox_parity(word), stock)"
     *  "weir__add(&mailbox->word, WEIR__MAILBOX_TICKET_ONE, acq_rel)" */
    do
    :: closed -> goto over
    :: !closed && count < LIMIT -> break
#ifdef BUG_EVICTS_WITHOUT_LOCK
    :: atomic { !closed && count == LIMIT -> head = ticket - count }
#else
    :: atomic { !closed && count == LIMIT && !lock -> lock = 1 }
        head = ticket - count;
#endif
        if
        :: closed || count < LIMIT
        :: !closed && count == LIMIT ->
            take_oldest();
            if
            :: held != 0 ->
                atomic {
                    assert(!ended && (held == 1 || held == LONE + (first >> 1)));
                    leaves();
                    dropped++
                };
                release();
                c_ticket = head + 1;
                if
                :: PAGE_DONE -> leave_page()
                :: else
                fi;
                atomic { t = ticket; parity = epoch; accept() }
            :: else
            fi
        fi;
        atomic {
            head = 0; c_ticket = 0; c_page = 0;
#ifndef BUG_EVICTS_WITHOUT_LOCK
            lock = 0;
#endif
            if
            :: got > 0 -> break
            :: else
            fi
        }
    od
}

inline pop()
{
    /*@ engine/turn_end.c pop_event "weir__mailbox_pop(&processor->mailbox"
     *  "weir__lone_put(turn->context, spent)" */
    /*@ queue/mailbox.c weir__mailbox_pop "if (!weir__trylock_take(lock))"
     *  "weir__mailbox_take(mailbox, &cursor, word)" "copy_out(out, envelope)"
     *  "weir__mailbox_let_go(mailbox, &cursor, word, stock)" "weir__mailbox_credit(mailbox, 1)"
     *  "weir__trylock_release(lock)" */
    if
    :: lock -> goto hand_back
    :: atomic { !lock -> lock = 1; c_page = 0; c_ticket = ticket - count; was = UNFILLED(c_ticket) }
    fi;
    take();
    if
    :: held == 0 -> atomic { lock = 0; goto hand_back }
    :: else
    fi;
    atomic { leaves(); handled++; done++ };
#ifdef BUG_LETS_GO_OUTSIDE_THE_LOCK
    lock = 0;
#endif
    let_go();
    count--;
    lock = 0
}
#endif
