/*
 * kept_list.pml - the list of what a thread keeps, a part of kept.pml: its biased lock, and what
 * the thread and those who raid it do to the list. A process that uses it has `in`, `kept`, `p` and
 * `chain` for itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
/* ---- the biased lock ---- */

/* The owner's way in: *in* says whether it is. */
inline enter()
{
    /*@ sync/bias.h weir__bias_enter "weir__store(&bias->inside, 1, relaxed)"
     *  "weir__barrier_light()" "weir__load(&bias->raided, acquire) == 0"
     *  "weir__store(&bias->inside, 0, release)" */
    /*@ sync/barrier.h weir__barrier_light "weir__compiler_fence()" */
    STORE(INSIDE, inside, me, 1);
    if
#ifndef BUG_OWNER_DOES_NOT_LOOK
    :: atomic { raided[me] != 0 -> in = 0 }
        STORE(INSIDE, inside, me, 0)
    :: atomic { raided[me] == 0 ->
#else
    :: atomic { true ->
#endif
            busy[me]++;
            assert(busy[me] == 1 && VISIBLE(me));
            in = 1
        }
    fi
}

/* Inside a step, like raid_over: the last store of the length goes with it. */
inline leave()
{
    /*@ sync/bias.h weir__bias_leave "weir__store(&bias->inside, 0, release)" */
    STORE_LENGTH(me, LEFT, inside);
    busy[me]--;
    in = 0
}

inline raid(t)
{
    /*@ sync/bias.h weir__bias_raid "weir__load(&bias->raided, relaxed) != 0"
     *  "weir__exchange(&bias->raided, 1, acquire) != 0" */
    if
    :: atomic { raided[t] != 0 -> in = 0 }
    :: atomic { raided[t] == 0 && DRAINED -> raided[t] = 1 }

        /*@ sync/bias.h weir__bias_raid "weir__barrier_heavy()" */
#ifndef BUG_NO_HEAVY_BARRIER
        heavy_barrier();
#endif

        /*@ sync/bias.h weir__bias_raid "weir__load(&bias->inside, acquire) == 0"
         *  "weir__store(&bias->raided, 0, release)" */
        if
#ifndef BUG_RAIDER_DOES_NOT_LOOK
        :: atomic { inside[t] != 0 -> in = 0 }
            STORE(RAIDED, raided, t, 0)
        :: atomic { inside[t] == 0 ->
#else
        :: atomic { true ->
#endif
                busy[t]++;
                assert(busy[t] == 1 && VISIBLE(t));
                in = 1
            }
        fi
    fi
}

inline raid_over(t)
{
    /*@ sync/bias.h weir__bias_raid_over "weir__store(&bias->raided, 0, release)" */
    STORE_LENGTH(t, RAID_OVER, raided);
    busy[t]--;
    in = 0
}

/* ---- the list ---- */

inline append(chain)
{
    /*@ engine/kept.h weir__kept_append "if (weir__unlikely(!weir__bias_enter(&list->bias)))"
     *  "list->tail->ready_next = first" "weir__store(&list->length, length, relaxed)"
     *  "weir__bias_leave(&list->bias)" */
    enter();
    if
    :: atomic { in -> list[me] = BEHIND(list[me], chain); leave(); kept = 1 }
    :: else -> kept = 0
    fi
}

/* The oldest that the thread keeps: p + 1, or 0. */
inline next_kept()
{
    /*@ engine/kept.h weir__kept_next
     *  "if (length == 0 || weir__unlikely(!weir__bias_enter(&list->bias)))"
     *  "list->head = first->ready_next"
     *  "weir__store(&list->length, weir__load(&list->length, relaxed) - 1, relaxed)" */
    /*@ engine/duty.c run_kept "weir__kept_next(&thread->servings[place]->kept)" */
    if
    :: OWN_LENGTH == 0
    :: OWN_LENGTH != 0 ->
        enter();
        if
        :: atomic { in && list[me] != 0 ->
                p = list[me] & 3;
                list[me] = list[me] >> 2;
                take(p - 1);
                leave()
            }
        :: atomic { in && list[me] == 0 -> leave() }
        :: !in
        fi
    fi
}

/* Half of it, or all: a chain, or 0. */
inline raid_list(t, wanted)
{
    /*@ engine/kept.c weir__kept_raid
     *  "if (weir__kept_length(list) == 0 || !weir__bias_raid(&list->bias))"
     *  "const uint32_t wanted = all ? length : (length + 1) / 2" "list->head = next"
     *  "weir__store(&list->length, length - chain.count, relaxed)"
     *  "weir__bias_raid_over(&list->bias)" */
    chain = 0;
    if
    :: length[t] == 0
    :: length[t] != 0 ->
        raid(t);
        if
        :: atomic { in ->
                chain = FIRST_OF(list[t], wanted);
                list[t] = list[t] >> (2 * LENGTH_OF(chain));
                raid_over(t)
            }
        :: else
        fi
    fi
}
