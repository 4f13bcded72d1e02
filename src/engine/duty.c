/*
 * engine/duty.c - take, run, search, back off, idle, park: the loop of every thread.
 *
 * The order of steps around parking is law (see models of the wake-up in docs/MEMORY_MODEL.md):
 *
 *   1. the wait word is cleared before every condition that it guards;
 *   2. the thread stops searching, then sets its parked bits, then looks again;
 *   3. a waker first takes the bit, then counts the thread as searching, then wakes it;
 * 4. after sleeping, a bit that is still set is taken back and counted by the thread itself; a bit
 *      that is gone was, or will be, counted by its waker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/duty.h"

#include "base/assert.h"
#include "engine/agents.h"
#include "engine/engine.h"
#include "engine/fair.h"
#include "engine/lease.h"
#include "engine/probe.h"
#include "engine/processor.h"
#include "engine/ready.h"
#include "engine/share.h"
#include "engine/spin.h"
#include "engine/trace.h"
#include "engine/turn.h"
#include "engine/warm.h"
#include "engine/watchdog.h"
#include "sync/word.h"

#define GAPS_BEFORE_SLEEP 64u
#define PAUSES_BEFORE_YIELD 32u
#define GAP_SLEEP (20 * WEIR_US)
#define KEPT_IN_A_ROW_MAX 16u    /* from a thread's own lists, then the queues come first */
#define SOON 8u                  /* rounds that found nothing: less than half a microsecond */
#define SLEEP_MIN (50 * WEIR_US) /* the kernel takes several times as long over anything shorter */

static bool must_leave(const weir__thread *thread)
{
    return weir__load(&thread->engine->phase, seq_cst) >= WEIR__ABANDONED ||
           weir__load((weir__atomic_u32 *)(uintptr_t)&thread->leave, seq_cst) != 0;
}

static bool is_queued_for(weir__thread *thread, uint32_t place)
{
    weir__serving *serving = thread->servings[place];
    if (serving->dispatcher->fair && !thread->external) {
        return weir__fair_has_work_for(serving->dispatcher, serving);
    }
    return weir__dispatcher_has_work(serving->dispatcher);
}

static bool any_queued(weir__thread *thread)
{
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        if (is_queued_for(thread, i)) {
            return true;
        }
    }
    return false;
}

static bool any_work(weir__thread *thread)
{
    return weir__share_keeps(thread) || any_queued(thread);
}

void weir__duty_search_begin(weir__thread *thread)
{
    WEIR_ASSERT_SLOW(!thread->searching);
    thread->searching = true;
    if (thread->external) {
        return; /* posters must not rely on a thread that somebody else turns */
    }
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        weir__add(&thread->servings[i]->dispatcher->searching, 1, seq_cst);
    }
}

WEIR__WARM void weir__duty_search_end(weir__thread *thread, bool look)
{
    if (!thread->searching) {
        return;
    }
    thread->searching = false;
    if (thread->external) {
        return;
    }
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        weir__dispatcher *dispatcher = thread->servings[i]->dispatcher;
        weir__sub(&dispatcher->searching, 1, seq_cst);
        /* A poster may have kept quiet because of us. */
        if (look && weir__dispatcher_has_work(dispatcher)) {
            weir__dispatcher_wake(dispatcher);
        }
    }
}

/* A processor was taken: if more is left, somebody else should come, too. */
static void pass_on(weir__thread *thread, weir__dispatcher *dispatcher)
{
    if (thread->searching) {
        weir__duty_search_end(thread, true);
    } else if (weir__dispatcher_has_more(dispatcher)) {
        weir__dispatcher_wake(dispatcher);
    }
}

/* What this thread pushed quietly it meant to take next. If it does something else first, that is
 * somebody else's to take. */
static void reveal(weir__thread *thread, const weir__dispatcher *here)
{
    weir__dispatcher *quiet = thread->quiet;
    thread->quiet = NULL;
    if (quiet != NULL && quiet != here && weir__dispatcher_has_work(quiet)) {
        weir__dispatcher_wake(quiet);
    }
}

/* A poster is between claim and publish: let it run. A yield does not help against a thread of
 * lower priority on the same core: then a short sleep does. */
static void wait_for_poster(weir__thread *thread)
{
    if (++thread->gaps < GAPS_BEFORE_SLEEP) {
        weir__yield();
        return;
    }
    weir__store(&thread->wake, 0, seq_cst);
    if (!must_leave(thread)) {
        weir__word_wait(&thread->wake, 0, GAP_SLEEP);
    }
}

/* The turn is over and the processor is not: it goes to the end of the line. That is the queue's if
 * anybody stands there, on any dispatcher of the thread: what is kept would overtake them. */
static void put_back(weir__thread *thread, weir__serving *serving, weir__processor *processor)
{
    if (thread->context.keeping == NULL || any_queued(thread) || !weir__keep(serving, processor)) {
        weir__run_put_back(processor);
        /* Quietly: this thread looks at the queue right away, and passes on what it leaves. */
        weir__dispatcher_push_quiet(serving->dispatcher, processor);
        thread->quiet = serving->dispatcher;
    }
}

/* How many turns may follow each other, of what the thread keeps, without a look at anything else.
 * Whether to leave is asked then, too: no handler begins after the end of the engine. */
static uint32_t turns_in_a_row(weir__thread *thread)
{
    return weir__thread_has_one_task(thread) && thread->kept_in_a_row < KEPT_IN_A_ROW_MAX
               ? KEPT_IN_A_ROW_MAX - thread->kept_in_a_row
               : 1;
}

WEIR__WARM static void run_turns(weir__thread *thread, uint32_t place, weir__processor *processor)
{
    weir__serving *serving = thread->servings[place];
    weir__dispatcher *dispatcher = serving->dispatcher;
    pass_on(thread, dispatcher);
    if (weir__trace_is_on(thread->engine)) {
        weir__trace_turns_begin(thread, serving, processor);
    }
    reveal(thread, dispatcher);
    weir__fair_step_out(thread);
    thread->context.keeping = dispatcher->fair ? NULL : serving;
    const weir__turn_end end = weir__turns_run(thread, serving, processor, turns_in_a_row(thread));
    if (weir__trace_is_on(thread->engine)) {
        weir__trace_turns_end(thread, serving, end == WEIR__TURN_GAP);
    }
    if (end != WEIR__TURN_OVER) {
        /* What is pushed quietly is passed on before the next turn, in the next round. */
        put_back(thread, serving, thread->turn.processor);
    }
    thread->context.keeping = NULL;
    if (end == WEIR__TURN_GAP) {
        wait_for_poster(thread);
    } else {
        thread->gaps = 0;
    }
}

/* From idle to work: one of the two moments at which a thread looks at the clock for its figures.
 */
WEIR__WARM static void come_to_work(weir__thread *thread)
{
    const weir_ns now = thread->came != 0 ? thread->came : weir__clock_now();
    thread->came = 0;
    if (weir__cell_read(&thread->first_work) == 0) {
        weir__store(&thread->first_work, (uint64_t)now, relaxed);
    }
    weir__busy_begin(&thread->busy, now);
    weir__idle_work(&thread->idle, now);
    thread->wait_ended = now;
}

/* How long it slept is written down when there is time: not between a wake-up and its event. `now`:
 * if nothing came. */
WEIR__SELDOM static void note_wait(weir__thread *thread, weir_ns now)
{
    const weir_ns ended = thread->wait_ended > thread->wait_begun ? thread->wait_ended : now;
    weir__histogram_record(&thread->figures.waits, (uint64_t)(ended - thread->wait_begun));
    thread->wait_begun = 0;
}

static inline void have_work(weir__thread *thread)
{
    thread->looked = false;
    if (weir__unlikely(!weir__busy_is(&thread->busy))) {
        come_to_work(thread);
    }
}

static void note_work(weir__thread *thread, weir__serving *serving)
{
    have_work(thread);
    weir__backoff_reset(&thread->backoff);
    if (thread->woken) {
        thread->woken = false;
        weir__cell_add(&serving->wakeups_found, 1);
    }
}

void weir__duty_leave_work(weir__thread *thread)
{
    if (weir__busy_is(&thread->busy)) {
        const weir_ns now = weir__clock_now();
        if (weir__trace_is_on(thread->engine)) {
            weir__trace_turns_over(thread, now);
        }
        weir__busy_end(&thread->busy, now);
        weir__store(&thread->last_work, (uint64_t)now, relaxed);
    }
}

static bool run_agents(weir__thread *thread)
{
    thread->hosts = weir__load(&thread->hosting, relaxed) != 0;
    if (!thread->hosts) {
        return false;
    }
    /* A long round of theirs must not look like a search that others can rely on. */
    weir__duty_search_end(thread, true);
    reveal(thread, NULL);
    weir__fair_step_out(thread);
    const weir_ns since = weir__trace_begin(thread);
    const bool work = weir__agents_round(thread);
    if (weir__unlikely(since != 0)) {
        weir__trace_agents(thread, since, work);
    }
    if (work) {
        have_work(thread);
    }
    weir__engine_progress_if_stopping(thread->engine); /* they may never let the thread idle */
    return work;
}

WEIR__WARM static void begin_turns(weir__thread *thread, uint32_t place, weir__processor *processor)
{
    thread->next_place = (place + 1) % thread->serving_count;
    note_work(thread, thread->servings[place]);
    run_turns(thread, place, processor);
    if (weir__unlikely(thread->wait_begun != 0)) {
        note_wait(thread, thread->wait_begun);
    }
}

/* False: it keeps nothing, or somebody is raiding. */
static bool run_kept(weir__thread *thread)
{
    for (uint32_t n = 0; n < thread->serving_count; n++) {
        const uint32_t place = (thread->next_place + n) % thread->serving_count;
        weir__processor *processor = weir__kept_next(&thread->servings[place]->kept);
        if (processor != NULL) {
            begin_turns(thread, place, processor);
            return true;
        }
    }
    return false;
}

static bool run_stolen(weir__thread *thread)
{
    for (uint32_t n = 0; n < thread->serving_count; n++) {
        const uint32_t place = (thread->next_place + n) % thread->serving_count;
        weir__processor *processor = weir__share_steal(thread->servings[place]);
        if (processor != NULL) {
            begin_turns(thread, place, processor);
            return true;
        }
    }
    return false;
}

/* What it took was all that there was, and is done: if that goes on and on, it is too close behind
 * those who post, and the next look is put off. Meanwhile it counts as searching: nobody is woken
 * in its place. */
static void keep_pace(weir__thread *thread)
{
    weir__pace *pace = &thread->pace;
    const uint64_t handled = weir__cell_read(&thread->context.tally.handled);
    const uint64_t rounds_idle = weir__cell_read(&thread->rounds_idle);
    const uint64_t found = handled - thread->all_taken.handled;
    const bool soon = rounds_idle - thread->all_taken.rounds_idle <= SOON;
    if (weir__unlikely(thread->all_taken.waited)) {
        weir__pace_judge(pace, found);
    } else {
        weir__pace_found(pace, found, soon);
    }
    thread->all_taken.handled = handled;
    thread->all_taken.rounds_idle = rounds_idle;
    thread->all_taken.waited = weir__pace_waits(pace, 0);
    if (weir__unlikely(thread->all_taken.waited)) {
        weir__duty_search_begin(thread);
        weir__pace_wait();
    }
}

weir__round weir__duty_round(weir__thread *thread)
{
    const uint32_t count = thread->serving_count;
    bool failed = false;
    bool succeeded = run_agents(thread);
    weir__round result = succeeded ? WEIR__ROUND_WORK : WEIR__ROUND_NOTHING;
    weir__cell_add(&thread->rounds, 1);
    for (uint32_t n = 0; n < count; n++) {
        const uint32_t place = (thread->next_place + n) % count;
        weir__serving *serving = thread->servings[place];
        weir__processor *processor;
        weir__cell_add(&serving->rounds, 1);
        /* Its own first; but what waits in the queue waits for a bounded number of turns. */
        if (thread->kept_in_a_row < KEPT_IN_A_ROW_MAX) {
            processor = weir__kept_next(&serving->kept);
            if (processor != NULL) {
                thread->kept_in_a_row++;
                begin_turns(thread, place, processor);
                return WEIR__ROUND_WORK;
            }
        }
        switch (weir__dispatcher_take(serving->dispatcher, thread, place, &processor)) {
        case WEIR__TAKE_GOT:
            thread->kept_in_a_row = 0;
            weir__run_taken(processor);
            begin_turns(thread, place, processor);
            if (weir__thread_has_taken_all(thread, serving)) {
                keep_pace(thread);
            }
            return WEIR__ROUND_WORK;
        case WEIR__TAKE_FAILED:
            thread->came = 0;
            failed = true;
            break;
        case WEIR__TAKE_NONE:
        case WEIR__TAKE_WAIT:
            thread->came = 0;
            weir__backoff_reset(&thread->backoff);
            succeeded = true;
            break;
        case WEIR__TAKE_EMPTY: /* nobody contends it */
        default:
            succeeded = true;
            break;
        }
    }
    thread->kept_in_a_row = 0;
    if (run_kept(thread) || run_stolen(thread)) {
        return WEIR__ROUND_WORK;
    }
    if (failed && !succeeded) {
        return WEIR__ROUND_CONTENDED;
    }
    failed = failed || weir__share_keeps(thread); /* somebody is raiding */
    return failed && result == WEIR__ROUND_NOTHING ? WEIR__ROUND_AGAIN : result;
}

void weir__duty_hand_over(weir__thread *thread)
{
    weir__share_all(thread);
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        if (weir__dispatcher_has_work(thread->servings[i]->dispatcher)) {
            weir__dispatcher_wake_instead(thread->servings[i]->dispatcher);
        }
    }
}

/* Before a sleep that no poster ends. */
static void hand_over(weir__thread *thread)
{
    weir__duty_search_end(thread, false);
    weir__fair_step_out(thread);
    weir__duty_hand_over(thread);
}

/* So long, or until an agent wants to be called. */
static weir_ns within(weir__thread *thread, weir_ns span)
{
    const weir_ns until = weir__agents_until(thread);
    if (until == WEIR_FOREVER) {
        return span;
    }
    const weir_ns left = until - weir__clock_now();
    return left < span ? left : span;
}

/* Ends early if it is woken, by a stop. The loop ends with the clock. */
static void wait_out(weir__thread *thread, weir_ns delay)
{
    if (delay >= SLEEP_MIN) {
        (void)weir__thread_sleep(thread, delay);
        return;
    }
    const weir_ns end = weir__clock_now() + delay;
    for (uint32_t n = 1; weir__load(&thread->wake, relaxed) == 0 && weir__clock_now() < end; n++) {
        if (n % PAUSES_BEFORE_YIELD != 0) {
            weir__pause();
        } else {
            weir__yield(); /* the holder may be waiting for this core */
        }
    }
}

/* Away from the contended locks for a while. The stop (and nobody else) ends it early. */
static void back_off(weir__thread *thread)
{
    weir__serving *serving = thread->servings[thread->next_place % thread->serving_count];
    const weir__backoff_plan plan = weir__backoff_read(&serving->dispatcher->backoff);
    const weir_ns delay = weir__backoff_next(&thread->backoff, &plan);
    weir__cell_add(&thread->backoffs, 1);
    weir__cell_add(&serving->backoffs, 1);
    weir__cell_add(&serving->backoff_ns, (uint64_t)delay);
    weir__duty_leave_work(thread);
    hand_over(thread);
    weir__store(&thread->wake, 0, seq_cst);
    if (weir__agents_rest(thread) && !must_leave(thread)) {
        wait_out(thread, within(thread, delay));
    }
    weir__agents_rise(thread);
}

static void nap(weir__thread *thread)
{
    hand_over(thread);
    weir__engine_progress_if_stopping(thread->engine);
    weir__store(&thread->wake, 0, seq_cst);
    if (weir__agents_rest(thread) && !must_leave(thread)) {
        const weir_ns since = weir__trace_begin(thread);
        const bool woken = weir__thread_sleep(thread, within(thread, thread->idle.sleep));
        if (weir__unlikely(since != 0)) {
            weir__trace_park(thread, since, woken);
        }
    }
    weir__agents_rise(thread);
}

bool weir__duty_park(weir__thread *thread)
{
    const uint64_t bit = UINT64_C(1) << (thread->index % 64);
    const uint32_t word = thread->index / 64;
    weir__store(&thread->wake, 0, seq_cst);
    weir__duty_search_end(thread, false);
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        weir__dispatcher *dispatcher = thread->servings[i]->dispatcher;
        weir__or(thread->external ? &dispatcher->parked_external[word] : &dispatcher->parked[word],
                 bit, seq_cst);
    }
    return weir__agents_rest(thread) && !must_leave(thread) && !any_work(thread);
}

void weir__duty_unpark(weir__thread *thread)
{
    const uint64_t bit = UINT64_C(1) << (thread->index % 64);
    const uint32_t word = thread->index / 64;
    weir__agents_rise(thread);
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        weir__dispatcher *dispatcher = thread->servings[i]->dispatcher;
        if (thread->external) {
            weir__and(&dispatcher->parked_external[word], ~bit, seq_cst);
        } else if ((weir__and(&dispatcher->parked[word], ~bit, seq_cst) & bit) != 0) {
            weir__add(&dispatcher->searching, 1, seq_cst);
        }
    }
    thread->searching = true;
}

static void park(weir__thread *thread)
{
    if (weir__duty_park(thread)) {
        weir__cell_add(&thread->parks, 1);
        weir__engine_progress_if_stopping(thread->engine);
        const weir_ns begun = weir__clock_now();
        WEIR__PROBE1(park, thread->index);
        if (thread->wait_begun != 0) {
            note_wait(thread, begun);
        }
        /* Ends with a wake-up; a spurious return finds the word unchanged and sleeps on. */
        weir__watched_rest(&thread->watched);
        while (weir__load(&thread->wake, seq_cst) == 0) {
            if (!weir__thread_sleep(thread, within(thread, WEIR_FOREVER))) {
                break; /* an agent wants to be called */
            }
        }
        if (weir__trace_is_on(thread->engine)) {
            weir__trace_park(thread, begun, weir__load(&thread->wake, relaxed) != 0);
        }
        WEIR__PROBE1(unpark, thread->index);
        weir__watched_up(thread->engine, &thread->watched);
        thread->wait_begun = begun;
        thread->woken = true;
        for (uint32_t i = 0; i < thread->serving_count; i++) {
            weir__cell_add(&thread->servings[i]->wakeups, 1);
        }
    }
    weir__duty_unpark(thread);
}

static void idle(weir__thread *thread)
{
    weir__cell_add(&thread->rounds_idle, 1);
    if (!thread->looked) {
        /* Out of work: from now on counted as searching, and one more look. */
        thread->looked = true;
        weir__duty_leave_work(thread);
        if (!thread->searching) {
            weir__duty_search_begin(thread);
        }
        return;
    }
    switch (weir__idle_step_next(&thread->idle, weir__clock_now)) {
    case WEIR__IDLE_PAUSE:
        weir__engine_progress_if_stopping(thread->engine);
        weir__stay_warm(thread);
        weir__pause();
        break;
    case WEIR__IDLE_SPIN:
        weir__engine_progress_if_stopping(thread->engine);
        weir__stay_warm(thread);
        weir__spin(thread);
        break;
    case WEIR__IDLE_GIVE:
        weir__engine_progress_if_stopping(thread->engine);
        weir__yield();
        break;
    case WEIR__IDLE_NAP:
        nap(thread);
        break;
    case WEIR__IDLE_REST:
        park(thread);
        break;
    case WEIR__IDLE_AGAIN:
    default:
        weir__engine_progress_if_stopping(thread->engine);
        weir__stay_warm(thread);
        break;
    }
}

void weir__duty_run(weir__thread *thread)
{
    while (!must_leave(thread)) {
        switch (weir__duty_round(thread)) {
        case WEIR__ROUND_CONTENDED:
            back_off(thread);
            break;
        case WEIR__ROUND_NOTHING:
            idle(thread);
            break;
        case WEIR__ROUND_AGAIN:
            if (++thread->again % PAUSES_BEFORE_YIELD != 0) {
                weir__pause();
            } else {
                weir__yield(); /* the holder may be waiting for this core */
            }
            break;
        case WEIR__ROUND_WORK:
        default:
            break;
        }
    }
    weir__duty_leave_work(thread); /* it may come straight from there */
    hand_over(thread);
}
