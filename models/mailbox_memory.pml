/*
 * mailbox_memory.pml - what a mailbox lies in, a part of mailbox.pml: lone envelopes, roots,
 * indexes and pages that are free or not, plain stores that wait in a buffer (TSO), giving back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
/* Memory: what is out, and what is in it. An event is its ticket + 1, an empty place 0. */
#define LONES (LIMIT + WRITERS + 1)
#define ROOTS 3
#define INDEXES (2 * ROOT + 1)
#define PAGES (LIMIT + 4)
bit lone_out[LONES + 1];
bit root_out[ROOTS + 1];
bit index_out[INDEXES + 1];
bit page_out[PAGES + 1];
byte event_in[LONES + 1];
byte ticket_of[LONES + 1];
byte next[LONES + 1];
byte index_at[(ROOTS + 1) * ROOT];
byte newest[ROOTS + 1]; /* a page and its number */
byte page_at[(INDEXES + 1) * INDEX];
byte place[(PAGES + 1) * PAGE];

inline see(event)
{
    /*= Inside a step: an event can be seen. */
    unfilled = unfilled & ~(1 << (event - 1))
}

inline set_first(to)
{
    /*= Inside a step. */
    first = to;
    if
    :: to > 1 -> see(event_in[to >> 1])
    :: else
    fi
}

inline set_place(at_place, to)
{
    /*= Inside a step: no place is filled twice, and none of a page that was given back. */
    assert(page_out[(at_place) / PAGE] && (to == 0 || place[at_place] == 0));
    place[at_place] = to;
#ifdef FOLD
    folded[at_place] = 0;
#endif
    if
    :: to != 0 -> see(to)
    :: else
    fi
}

#ifdef FOLD
byte folded[(PAGES + 1) * PAGE]; /* so many more are behind this one, and to be seen with it */
byte f;                          /* inside a step */

/* Count of them in the lower bits. */
#define FOLD_OF(event, how_many) ((event) * 4 + (how_many))

inline set_fold(at_place, to)
{
    /*= Inside a step: one store says that all of them are there, and only the first is not 0. */
    f = (to) % 4;
    assert(page_out[(at_place) / PAGE] && page_out[((at_place) + f - 1) / PAGE]);
    place[at_place] = (to) / 4;
    folded[at_place] = f - 1;
    do
    :: f > 0 -> f--; assert(f == 0 || place[(at_place) + f] == 0); see((to) / 4 + f)
    :: else -> break
    od
}
#endif

inline set_newest(at_root, to)
{
    /*= Inside a step. */
    assert(root_out[at_root]);
    newest[at_root] = to
}

inline clear_page_at(at_entry, at_root)
{
    /*= Inside a step. In that root it was the newest; 0: in none. */
    assert(index_out[(at_entry) / INDEX]);
    page_at[at_entry] = 0;
    if
    :: at_root != 0 -> set_newest(at_root, 0)
    :: else
    fi
}

#ifdef TSO
/* One plain store each. Every exchange drains it, and so does the next plain store. Nobody reads
 * what is in its own buffer. */
byte pending[OWNERS + WRITERS]; /* 1: first, 2: a place, 3: an entry of an index, 4: newest,
                                * 5: several places */
byte where[OWNERS + WRITERS];
byte what[OWNERS + WRITERS];

inline store(kind, at_slot, to)
{
    /*= Inside a step, with an empty buffer. */
    pending[me] = kind; where[me] = at_slot; what[me] = to
}

inline drain(who)
{
    /*= Inside a step. */
    if
    :: pending[who] == 1 -> set_first(what[who])
    :: pending[who] == 2 -> set_place(where[who], what[who])
    :: pending[who] == 3 -> clear_page_at(where[who], what[who])
    :: pending[who] == 4 -> set_newest(where[who], what[who])
#ifdef FOLD
    :: pending[who] == 5 -> set_fold(where[who], what[who])
#endif
    fi;
    pending[who] = 0; where[who] = 0; what[who] = 0
}

active proctype hardware()
{
    /*= Drains buffers whenever it likes. */
end:
    do
    :: atomic { pending[0] -> drain(0) }
    :: atomic { pending[1] -> drain(1) }
#if OWNERS + WRITERS > 2
    :: atomic { pending[2] -> drain(2) }
#endif
#if OWNERS + WRITERS > 3
    :: atomic { pending[3] -> drain(3) }
#endif
    od
}
#define DRAINED (!pending[me]) /* what an exchange waits for, and the next store */
#define store_first(to) store(1, 0, to)
#define store_place(at_place, to) store(2, at_place, to)
#define store_no_page(at_entry, at_root) store(3, at_entry, at_root)
#define store_newest(at_root, to) store(4, at_root, to)
#define store_fold(at_place, to) store(5, at_place, to)
#else
#define DRAINED true
#define store_first(to) set_first(to)
#define store_place(at_place, to) set_place(at_place, to)
#define store_no_page(at_entry, at_root) clear_page_at(at_entry, at_root)
#define store_newest(at_root, to) set_newest(at_root, to)
#define store_fold(at_place, to) set_fold(at_place, to)
#endif

/* Inside a step: any free one. Their stock has seen to it that there is one.
 * (A macro: an inline does not take an array.) */
/*@ queue/pool.h weir__pool_get "weir__pooled *object = cache->current" */
#define get(out, e) \
    e = 1; \
    do \
    :: out[e] -> e++ \
    :: else -> break \
    od; \
    out[e] = 1

/* Inside a step; to others it gets by exchange. */
inline put_lone(e)
{
    /*@ engine/context.c weir__lone_put "weir__stock_put_lone(&context->stock, lone)" */
    assert(lone_out[e]);
    lone_out[e] = 0;
    event_in[e] = 0; ticket_of[e] = 0; next[e] = 0
}

/* Inside a step: it is empty, and no root has it as its newest. */
#define IS_NEWEST(at_root, e) (newest[at_root] / NUMBERS == (e))
inline put_page(e)
{
    /*@ queue/pool.h weir__pool_put "cache->current = object" */
    assert(page_out[e]);
    assert(!IS_NEWEST(1, e) && !IS_NEWEST(2, e) && !IS_NEWEST(3, e));
    page_out[e] = 0;
    k = 0;
    do
    :: k < PAGE -> assert(place[e * PAGE + k] == 0); k++
    :: else -> k = 0; break
    od
}

/* Inside a step. */
inline put_index(e)
{
    /*@ queue/mailbox.c drop_root "STOCK_PUT(indexes, index)" */
    index_out[e] = 0;
    k = 0;
    do
    :: k < INDEX -> assert(page_at[e * INDEX + k] == 0); k++
    :: else -> k = 0; break
    od
}

/* Inside a step: its places may be anywhere behind it, but nobody else can get there. */
inline drop_root(e, t)
{
    /*@ queue/mailbox.c drop_root "weir__index *index = weir__load(&root->indexes[entry], acquire)"
     *  "STOCK_PUT(pages[page_class], page)" "weir__store(&root->indexes[entry], NULL, relaxed)"
     *  "STOCK_PUT(indexes, index)" "weir__store(&root->newest, 0, relaxed)"
     *  "STOCK_PUT(roots, root)" */
    assert(root_out[e]);
    root_out[e] = 0;
#ifndef BUG_ROOT_KEEPS_ITS_NEWEST
    newest[e] = 0;
#endif
    i = 0;
    do
    :: i < ROOT ->
        x = index_at[e * ROOT + i];
        if
        :: x != 0 ->
            assert(index_out[x]);
            if
            :: page_at[x * INDEX + BELOW(t)] != 0 ->
                put_page(page_at[x * INDEX + BELOW(t)]);
                page_at[x * INDEX + BELOW(t)] = 0
            :: else
            fi;
            index_at[e * ROOT + i] = 0;
            put_index(x)
        :: else
        fi;
        i++
    :: else -> i = 0; x = 0; break
    od
}
