/*
 * fair.pml - the wake-up of a fair dispatcher: who waits longest is served, and woken, first.
 *
 * Posters push work onto one dispatcher; threads draw numbers when they find none, or none for
 * them. When nothing moves any more all work must have been done; with STUCK one handler never
 * returns, and still no work may wait while a thread sleeps. Only one who waits longest takes.
 *
 * What is the same as in other dispatchers is shorter here than in wakeup.pml, which explains the
 * comments with @ and =; README.md says what is left out. Work is a number of processors, each with
 * one event.
 *
 * Parameters: THREADS, POSTERS, EVENTS (of each poster); STUCK.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef POSTERS
#define POSTERS 1
#endif
#ifndef EVENTS
#define EVENTS 2
#endif
#define BIT(t) (1 << (t))

byte intake;
byte list; /* under the lock */
byte length;
bit lock;
short searching;
byte parked;
bit wake[3] = 1; /* kept at 1 while its thread is up: nobody reads it then */

/* Places in the line instead of numbers: 0 none, 1 the first. The engine's numbers only grow, and
 * all that is ever asked is which of two is lower. */
byte place[3];
byte waiting_threads;

/* The model's own. */
byte counting;
byte posted;
byte handled;
bit stuck;

/* Inside a step. */
inline draw()
{
    /*@ engine/fair.c weir__fair_may_take
     *  "weir__store(&serving->wait_number, ++dispatcher->waits_begun, seq_cst)" */
    waiting_threads++;
    place[me] = waiting_threads
}

/* Inside a step: those behind move up. */
inline give_number_back()
{
    /*@ engine/fair.c weir__fair_may_take "weir__store(&serving->wait_number, 0, seq_cst)" */
    /*@ engine/fair.c weir__fair_step_out "weir__store(&serving->wait_number, 0, seq_cst)" */
    if
    :: place[me] != 0 ->
        place[0] = place[0] - (me != 0 && place[0] > place[me]);
        place[1] = place[1] - (me != 1 && place[1] > place[me]);
        place[2] = place[2] - (me != 2 && place[2] > place[me]);
        place[me] = 0;
        waiting_threads--
    :: else
    fi
}

inline look_at(t)
{
    /*@ engine/fair.c first_in_line
     *  "weir__load(&s->wait_number, seq_cst)"
     *  "if (drawn != 0 && drawn < *number)" */
    atomic {
        if
        :: place[t] == 0
        :: place[t] != 0 && first == 0 -> first = t + 1
        :: place[t] != 0 && first != 0 && place[first - 1] != 0 ->
            first = (place[t] < place[first - 1] -> t + 1 : first)

        /*= The first has given its number back meanwhile, which may have been higher or lower. */
        :: place[t] != 0 && first != 0 && place[first - 1] == 0 -> first = t + 1
        :: place[t] != 0 && first != 0 && place[first - 1] == 0
        fi
    }
}

/* `first`: the thread, from 1 on; 0: nobody. Numbers are read one by one. */
inline first_in_line()
{
    /*@ engine/fair.c first_in_line
     *  "for (weir__serving *s = weir__servings_first(dispatcher); s != NULL; s = s->next)" */
    first = 0;
    look_at(0);
#if THREADS > 1
    look_at(1);
#endif
#if THREADS > 2
    look_at(2);
#endif
    skip
}

inline get_up()
{
    /*@ engine/fair.c get_up "(weir__and(word, ~bit, seq_cst) & bit) != 0"
     *  "weir__add(&dispatcher->searching, 1, seq_cst)" "weir__thread_wake(thread)" */
    if
    :: atomic { first != 0 && (parked & BIT(first - 1)) ->
            parked = parked & ~BIT(first - 1);
            counting++
        }
        atomic { searching++; counting-- }
        wake[first - 1] = 1
    :: first == 0 || !(parked & BIT(first - 1))
    fi;
    first = 0
}

inline wake_first()
{
    /*@ engine/dispatcher.c wake "weir__fair_wake(dispatcher)" */
    /*@ engine/fair.c weir__fair_wake "weir__thread *first = first_in_line(dispatcher, &number)"
     *  "get_up(dispatcher, first)" */
    first_in_line();
    get_up()
}

inline look_and_wake()
{
    /*@ engine/dispatcher.h weir__dispatcher_has_work "weir__load(&d->intake, seq_cst) != 0"
     *  "weir__load(&d->length, seq_cst) != 0" */
    if
    :: intake > 0 -> wake_first()
    :: else ->
        if
        :: length > 0 -> wake_first()
        :: else
        fi
    fi
}

proctype poster()
{
    byte n, first;

    /*@ engine/dispatcher.c weir__dispatcher_push
     *  "weir__dispatcher_push_quiet(dispatcher, processor)" "wake(dispatcher, preferred)" */
    do
    :: n < EVENTS ->
        atomic { intake++; n++ }
        wake_first()
    :: n == EVENTS -> break
    od;
    atomic { n = 0; posted++ }
}

inline end_searching()
{
    /*@ engine/duty.c weir__duty_search_end "weir__sub(&dispatcher->searching, 1, seq_cst)" */
    if
    :: atomic { searches -> searches = 0; searching--; assert(searching + counting >= 0) }
    :: !searches
    fi
}

/* Whether there is work for this thread, and it need not sleep. */
inline look_before_sleep()
{
    /*@ engine/duty.c is_queued_for
     *  "return weir__fair_has_work_for(serving->dispatcher, serving)" */
    /*@ engine/fair.c weir__fair_has_work_for "if (!weir__dispatcher_has_work(dispatcher))"
     *  "first_in_line(dispatcher, &number)" "return mine == 0 || mine <= number" */
    if
    :: intake > 0
    :: else ->
        if
        :: length > 0
        :: else -> goto sleep
        fi
    fi;
    first_in_line();
    if
    :: atomic { first == 0 || first - 1 == me || place[me] == 0 -> first = 0; goto up }
    :: atomic { first != 0 && first - 1 != me && place[me] != 0 -> first = 0 }
    fi
}

proctype thread(byte me)
{
    byte first;
    bit searches, looked;

    /*@ engine/dispatcher.c weir__dispatcher_take "if (!weir__trylock_take(&dispatcher->lock))"
     *  "length += move_intake(dispatcher, length)" */
    /*@ engine/dispatcher.c move_intake "weir__store(&dispatcher->length, length + 1, relaxed)"
     *  "weir__exchange(&dispatcher->intake, 0, seq_cst)" */
round:
    if
    :: lock -> goto back_off
    :: atomic { !lock && intake == 0 -> lock = 1 }
    :: atomic { !lock && intake > 0 -> lock = 1; length = list + 1 }
        atomic { list = list + intake; intake = 0 }
    fi;

    /*@ engine/dispatcher.c weir__dispatcher_take
     *  "!weir__fair_may_take(dispatcher, thread, place, length > 0)" */
    /*@ engine/fair.c weir__fair_may_take "weir__thread *first = first_in_line(dispatcher, &number)"
     *  "if (has_work && (first == NULL || first == thread))"
     *  "if (weir__load(&serving->wait_number, relaxed) == 0)" "get_up(dispatcher, first)" */
    first_in_line();
    if
    :: atomic { list > 0 && (first == 0 || first - 1 == me) ->
            first = 0;
#ifndef BUG_NUMBER_KEPT
            give_number_back();
#endif
            looked = 0
        }
        atomic { list--; length = list; lock = 0; goto got }
    :: atomic { !(list > 0 && (first == 0 || first - 1 == me)) ->
            if
            :: place[me] == 0 -> draw()
            :: else
            fi
        }
        if
        :: list > 0 -> get_up()
        :: else -> first = 0
        fi;
        atomic { length = list; lock = 0 }
    fi;

    /*@ engine/duty.c idle "if (!thread->looked)" */
    /*@ engine/duty.c weir__duty_search_begin
     *  "weir__add(&thread->servings[i]->dispatcher->searching, 1" */
    if
    :: atomic { !looked && !searches -> looked = 1; searches = 1; searching++; goto round }
    :: atomic { !looked && searches -> looked = 1; goto round }
    :: looked -> goto round
    :: atomic { looked -> wake[me] = 0 }
    fi;

    /*@ engine/duty.c weir__duty_park "weir__store(&thread->wake, 0, seq_cst)"
     *  "weir__duty_search_end(thread, false)" "!must_leave(thread) && !any_work(thread)" */
    end_searching();
    parked = parked | BIT(me);
#ifndef BUG_NO_SECOND_LOOK
    look_before_sleep();
#endif
sleep:
end_asleep:
    wake[me] == 1;

    /*@ engine/duty.c weir__duty_unpark
     *  "(weir__and(&dispatcher->parked[word], ~bit, seq_cst) & bit) != 0"
     *  "weir__add(&dispatcher->searching, 1, seq_cst)" */
up:
    if
    :: atomic { (parked & BIT(me)) -> parked = parked & ~BIT(me); counting++ }
        atomic { searching++; counting--; wake[me] = 1; searches = 1; goto round }
    :: atomic { !(parked & BIT(me)) -> wake[me] = 1; searches = 1; goto round }
    fi;

    /*@ engine/duty.c pass_on "weir__duty_search_end(thread, true)" */
    /*@ engine/duty.c run_turns "weir__fair_step_out(thread)" */
got:
    end_searching();
#ifndef BUG_NOT_PASSED_ON
    look_and_wake();
#endif

    /*@ engine/turn.c run_one "const bool goes_on = deliver(thread, turn->processor, envelope)" */
    /*@ engine/turn.c run_page "goes_on = deliver(thread, processor, envelope)" */
    /*@ engine/turn.c run_lone "*goes_on = deliver(thread, processor, &lone->envelope)" */
    /*@ engine/turn.c run_fold "call(thread, processor, processor->handler)" */
#ifdef STUCK
    if
    :: true
    :: atomic { !stuck -> stuck = 1 }
end_stuck:
        false
    fi;
#endif
    handled++;
    goto round;

    /*@ engine/duty.c hand_over "weir__duty_search_end(thread, false)" "weir__fair_step_out(thread)"
     *  "weir__duty_hand_over(thread)" */
    /*@ engine/duty.c weir__duty_hand_over
     *  "if (weir__dispatcher_has_work(thread->servings[i]->dispatcher))" */
back_off:
    end_searching();
    atomic { give_number_back() }
    look_and_wake();
    goto round
}

init
{
    /*= Starts all, waits until nothing moves, judges. */
    byte i;
    atomic {
        do
        :: i < THREADS -> run thread(i); i++
        :: i >= THREADS && i < THREADS + POSTERS -> run poster(); i++
        :: else -> i = 0; break
        od
    }
    timeout;
    atomic {
        assert(posted == POSTERS && searching == 0 && !lock && length == list);
        assert(stuck || handled == POSTERS * EVENTS);
        do
        :: i < THREADS -> assert((intake == 0 && list == 0) || wake[i] == 1); i++
        :: else -> i = 0; break
        od
    }
}
