/*
 * mailbox_place.pml - where a poster puts its event, a part of mailbox.pml: alone, or into the
 * place of its ticket, with all that is missing on the way to it. The poster has `r`, `x` and `p`
 * for itself.
 *
 * The page that was made last is found by `newest` of its root, if its number fits, or by the
 * index: here either may happen, since a batch always goes by the index.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
/* The first of an epoch lies alone. */
inline put_first()
{
    /*@ engine/parcel.h weir__parcel_deliver "if (claim == WEIR__CLAIM_FIRST)"
     *  "weir__mailbox_put_first(mailbox, before, lone)" */
    /*@ engine/straight.h weir__straight_first "weir__stock_take_lone(&by->context->stock)"
     *  "weir__mailbox_put_first(&processor->mailbox, before, lone)" */
    /*@ queue/mailbox.h weir__mailbox_put_first
     *  "weir__store(&mailbox->first, (uintptr_t)lone | weir__mailbox_parity(before), release)" */
#ifdef BUG_FIRST_BEFORE_FILLED
    atomic { get(lone_out, x); first = x * 2 + parity };
    atomic { event_in[x] = t + 1; see(t + 1); t++; got--; x = 0 }
#else
    atomic { DRAINED ->
        get(lone_out, x);
        event_in[x] = t + 1;
        store_first(x * 2 + parity);
        t++; got--; x = 0
    }
#endif
}

/* So many events in a row, the first of ticket t, have their places in one page. */
#ifdef BUG_FOLDS_OVER_THE_PAGE
#define FITTING(t, how_many) (how_many)
#else
#define FITTING(t, how_many) ((how_many) < PAGE - (t) % PAGE -> (how_many) : PAGE - (t) % PAGE)
#endif

/* The place of ticket t, and everything on the way to it. With FOLD as many as fit may go there
 * together, or it alone: stamps and events of another kind lie in between. */
inline fill_place()
{
    /*@ queue/mailbox.h weir__mailbox_place
     *  "weir__root *root = weir__mailbox_root(mailbox, parity)"
     *  "root = weir__mailbox_make_root(mailbox, parity, stock)"
     *  "weir__mailbox_make_place(root, page_class, ticket, stock)" */
    /*@ queue/mailbox.h weir__mailbox_root "weir__load(&mailbox->root, acquire)"
     *  "(root & 1) == parity" */
    /*@ queue/mailbox.c weir__mailbox_make_root "while ((seen & 1) != parity || seen <= 1)"
     *  "weir__cas(&mailbox->root, &seen, (uintptr_t)made | parity, acq_rel, acquire)" */
    r = ROOT_OF(parity);
    if
    :: r == 0 -> atomic { DRAINED ->
            r = ROOT_OF(parity);
            if
            :: r == 0 -> get(root_out, r); root = r * 2 + parity
            :: else
            fi
        }
    :: else
    fi;

    /*@ queue/mailbox.h weir__mailbox_place_if_there
     *  "weir__mailbox_root(mailbox, weir__mailbox_parity(before))"
     *  "weir__mailbox_page_at_hand(root, page_class, ticket)" */
    /*@ queue/mailbox.h weir__mailbox_page_at_hand "weir__load(&root->newest, acquire)"
     *  "WEIR__ROOT_NUMBER(newest) == WEIR__ROOT_NUMBER(wanted)"
     *  "return weir__mailbox_page(root, page_class, ticket)" */
    /*@ engine/straight.h weir__straight_next
     *  "weir__mailbox_place_if_there(&processor->mailbox, before)"
     *  "return weir__straight_place(&again, processor, before, &same)" */
    /*@ engine/straight.c weir__straight_place "weir__mailbox_place("
     *  "weir__envelope_fill(envelope, weir__parcel_put(by, parcel, envelope))" */
    /*@ queue/mailbox.h weir__mailbox_page "weir__load(&root->indexes[entry], acquire)" */
    if
#ifdef BUG_NEWEST_WITHOUT_NUMBER
    :: atomic { newest[r] >= NUMBERS ->
#else
    :: atomic { newest[r] >= NUMBERS && newest[r] % NUMBERS == NUMBER(t) ->
#endif
            assert(root_out[r]);
            p = newest[r] / NUMBERS;
            assert(page_out[p] && p == page_at[index_at[r * ROOT + ENTRY(t)] * INDEX + BELOW(t)])
        }
    :: atomic { assert(root_out[r]); x = index_at[r * ROOT + ENTRY(t)] }
    fi;

    /*@ queue/mailbox.c weir__mailbox_make_place "index = make_index(root, entry, stock)" */
    /*@ queue/mailbox.c make_index
     *  "weir__cas(&root->indexes[entry], &there, made, acq_rel, acquire)" */
    if
    :: p == 0 && x == 0 -> atomic { DRAINED ->
            assert(root_out[r]);
            x = index_at[r * ROOT + ENTRY(t)];
            if
            :: x == 0 -> get(index_out, x); index_at[r * ROOT + ENTRY(t)] = x
            :: else
            fi
        }
    :: else
    fi;

    /*@ queue/mailbox.h weir__mailbox_page
     *  "weir__load(&index->pages[page % (1u << WEIR__INDEX_BITS)], acquire)" */
    /*@ queue/mailbox.c weir__mailbox_make_place
     *  "page = make_page(index, below, page_class, stock)"
     *  "weir__store(&root->newest, weir__root_newest(page, number), release)" */
    /*@ queue/mailbox.c make_page
     *  "weir__cas(&index->pages[entry], &there, made, acq_rel, acquire)" */
    if
    :: p == 0 -> atomic { assert(index_out[x]); p = page_at[x * INDEX + BELOW(t)] }
    :: else
    fi;
    if
    :: p == 0 ->
        atomic { DRAINED ->
            assert(index_out[x]);
#ifndef BUG_INSTALLS_BY_STORE
            p = page_at[x * INDEX + BELOW(t)];
#endif
            if
            :: p == 0 -> get(page_out, p); page_at[x * INDEX + BELOW(t)] = p
            :: else
            fi;
            x = 0
        };
#ifdef BUG_NEWEST_AFTER_FILL
        atomic { DRAINED -> store_place(PLACE(p, t), t + 1) };
        atomic { DRAINED -> store_newest(r, NEWEST(p, t)); t++; got--; r = 0; p = 0 }
#else
        atomic { DRAINED -> store_newest(r, NEWEST(p, t)) }
#endif
    :: else
    fi;

    /*@ engine/straight.h weir__straight_next
     *  "weir__envelope_fill(envelope, weir__parcel_put(by, parcel, envelope))" */
    /*@ engine/parcel.h weir__parcel_deliver
     *  "weir__envelope_fill(envelope, state)" */
    /*@ queue/envelope.h weir__envelope_fill
     *  "weir__store(&envelope->state, flags | WEIR__ENVELOPE_FILLED, release)" */
    /*@ engine/parcels.h weir__parcels_deliver
     *  "weir__mailbox_place(mailbox, before, next, stock)"
     *  "count - at < length - offset ? count - at : length - offset" */
    /*@ engine/parcels.h weir__parcels_fold
     *  "weir__envelope_fill(first, state | WEIR__ENVELOPE_FOLDED)" */
    atomic { DRAINED ->
        if
#ifdef FOLD
        :: p != 0 && got > 1 && FITTING(t, got) > 1 ->
            x = FITTING(t, got);
            store_fold(PLACE(p, t), FOLD_OF(t + 1, x));
            t = t + x; got = got - x
#endif
        :: p != 0 -> store_place(PLACE(p, t), t + 1); t++; got--
        :: else /* a bug has filled it */
        fi;
        r = 0; x = 0; p = 0
    }
}
