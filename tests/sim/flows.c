/*
 * flows.c - what was submitted to a router, and what became of it.
 *
 * Not instrumented, so that its own notes are no races; what flows share it says by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flows.h"

#include <stdio.h>
#include <string.h>

#include "flow/submit.h"
#include "ingress.h"
#include "sync/sim/core.h"

#define KEPT_BYTES 64u /* what weir keeps for the body's own thread, until that ends */
#define LOOKS_MAX 5    /* far apart */
#define BY_FLOW 100u   /* producers: threads, and from here on flows */

/* A flow's state. */
typedef struct life {
    uint64_t key;        /* 0: no event so far */
    uint32_t generation; /* of all flows together; 0: not made */
    uint32_t turns;
} life;

typedef struct letter {
    uint32_t send;
    uint32_t what;
} letter;
static const weir_event_type letter_type = {
    sizeof(weir_event_type), "flows.letter", (uint32_t)sizeof(letter), false, NULL, NULL
};

typedef struct entry {
    uint64_t key;
    uint32_t producer;
    bool finish; /* the last of its flow */
    bool silent; /* no handler sees it */
    bool answered;
    bool handled; /* a handler has begun with it */
    weir_status status;
    uint32_t generation; /* in which it was handled */
    weir_ns began;
} entry;

typedef struct key_book {
    bool inside;         /* a handler runs */
    bool live;           /* between its first handler and destroy */
    bool over;           /* the finish was handled: destroy is next */
    uint32_t generation; /* the last one */
} key_book;

flows_state flows;
weir_processor flow_targets[4];
static entry sends[FLOW_SENDS_MAX];
static uint32_t send_count;
static key_book keys[FLOW_KEYS_MAX];
static flow_part *the_part;
static uint32_t generations, ended[WEIR_FLOW_STOPPED + 1];
static uint32_t handled, failed, dead; /* by handlers; of the failed: by their inits */
static uint32_t finishes_asked;
static bool settling, awaiting;
static bool held[FLOW_KEYS_MAX], released[FLOW_KEYS_MAX];

/* ---- keys ---- */

/* The same text for the same key, for as long as it takes to submit it. */
static size_t key_text(uint64_t key, char *out, size_t size)
{
    return (size_t)snprintf(out, size, "key %u of some length", (unsigned)key);
}

static bool by_bytes(void)
{
    return flows.options.keys == WEIR_FLOW_KEYS_BYTES;
}

static uint64_t shown(uint64_t key)
{
    char text[40];
    if (key == 0 || !by_bytes()) {
        return key;
    }
    const size_t size = key_text(key, text, sizeof(text));
    return weir_flow_hash(text, size);
}

/* ---- handlers ---- */

static void wake(void)
{
    if (settling) {
        weir__sim_wake(&settling, UINT32_MAX); /* without an edge: it must not hide a race */
    }
}

/* What was handled before a finish of the same producer is of another state. */
static void check_order(const entry *mine)
{
    bool behind_finish = false;
    for (uint32_t i = (uint32_t)(mine - sends) + 1; i < send_count; i++) {
        weir_sim_check(sends[i].key != mine->key || sends[i].producer != mine->producer ||
                           !sends[i].handled,
                       "S-51: send %u was handled before %u", i, (unsigned)(mine - sends));
    }
    for (uint32_t i = (uint32_t)(mine - sends); i-- > 0;) {
        const entry *e = &sends[i];
        if (e->key != mine->key || e->producer != mine->producer) {
            continue;
        }
        behind_finish =
            behind_finish || (e->finish && (e->status == WEIR_OK || e->status == WEIR_DROPPED));
        weir_sim_check(!behind_finish || !e->handled || e->generation != mine->generation ||
                           mine->generation == 0,
                       "S-52: sends %u and %u are of one flow, and a finish was between", i,
                       (unsigned)(mine - sends));
    }
}

static void enter(entry *mine, life *state)
{
    key_book *book = &keys[mine->key];
    weir_sim_check(!mine->handled, "send %u is handled twice", (unsigned)(mine - sends));
    mine->handled = true;
    weir_sim_check(mine->key == 0 || !book->inside, "S-51: two handlers of key %u at once",
                   (unsigned)mine->key);
    book->inside = true;
    if (mine->key == 0 || state == NULL) {
        return;
    }
    weir_sim_writes(state, sizeof(*state));
    weir_sim_check(state->generation != 0, "S-56: a state without an init");
    if (state->key == 0) {
        weir_sim_check(!book->live, "S-52: key %u begins anew before its end", (unsigned)mine->key);
        state->key = mine->key;
        book->live = true;
        book->generation = state->generation;
    }
    weir_sim_check(state->key == mine->key && state->generation == book->generation,
                   "S-51: key %u has the state of key %u", (unsigned)mine->key,
                   (unsigned)state->key);
    weir_sim_check(!book->over, "S-52: key %u goes on after its finish", (unsigned)mine->key);
    state->turns++;
    mine->generation = state->generation;
}

static weir_status on_letter(void *argument, weir_turn *turn, const weir_event *event, bool target)
{
    letter it;
    weir_sim_reads(event->data, event->size);
    memcpy(&it, event->data, sizeof(it));
    entry *mine = &sends[it.send];
    life *state = mine->key != 0 && !target ? argument : NULL;
    key_book *book = &keys[mine->key];
    weir_sim_note("flow %u begins send %u", (unsigned)mine->key, it.send);
    weir_sim_check(event->flow == shown(mine->key), "an event of another flow");
    enter(mine, state);
    if (mine->key != 0) {
        check_order(mine);
    }
    weir_sim_step(); /* here another turn would show, if there were one */
    const weir_status status = the_part != NULL ? the_part(mine->key, turn, it.what) : WEIR_OK;
    if (state != NULL) {
        weir_sim_writes(state, sizeof(*state));
        book->over = book->over || mine->finish;
    }
    weir_sim_check((event->flags & WEIR_EVENT_FINISH) == (mine->finish ? WEIR_EVENT_FINISH : 0u),
                   "flags that are not its own");
    book->inside = false;
    weir_sim_note("flow %u ends send %u: %s", (unsigned)mine->key, it.send,
                  weir_status_name(status));
    handled++;
    dead += status != WEIR_OK ? 1 : 0;
    wake();
    return status;
}

static weir_status on_event(void *state, weir_turn *turn, const weir_event *event)
{
    return on_letter(state, turn, event, false);
}

static weir_status on_target(void *state, weir_turn *turn, const weir_event *event)
{
    if (event->type == &weir_finish_type) {
        return WEIR_OK;
    }
    return on_letter(state, turn, event, true);
}

static weir_status on_init(void *state, weir_turn *turn, void *argument)
{
    life *mine = state;
    (void)turn;
    (void)argument;
    weir_sim_writes(mine, sizeof(*mine));
    weir_sim_check(mine->key == 0 && mine->generation == 0 && mine->turns == 0,
                   "S-56: a state that is not zeroed");
    weir_sim_step();
    if (flows.init_fails > 0) {
        flows.init_fails--;
        mine->turns = 1; /* what it leaves behind is not the next one's */
        failed++;
        wake();
        return WEIR_E_INVALID;
    }
    mine->generation = ++generations;
    return WEIR_OK;
}

/* Long enough idle: nothing that this flow has handled was submitted later than that. */
static void check_idle(const life *state)
{
    for (uint32_t i = 0; i < send_count; i++) {
        weir_sim_check(sends[i].generation != state->generation ||
                           sends[i].began + flows.options.idle_timeout <= weir_sim_now(),
                       "S-55: key %u was not idle for so long", (unsigned)state->key);
    }
}

static void on_destroy(void *state, weir_flow_end reason)
{
    life *mine = state;
    weir_sim_writes(mine, sizeof(*mine));
    weir_sim_note("flow %u is over: %d", (unsigned)mine->key, (int)reason);
    key_book *book = &keys[mine->key];
    weir_sim_check(mine->generation != 0 && mine->key != 0, "S-56: a destroy without an init");
    weir_sim_check(book->live && book->generation == mine->generation, "S-56: destroyed twice");
    weir_sim_check(!book->inside, "S-51: destroyed while its handler runs");
    weir_sim_check(!book->over || reason == WEIR_FLOW_FINISHED, "S-56: reason %d after a finish",
                   (int)reason);
    weir_sim_check(reason != WEIR_FLOW_STOPPED || flows.stopping, "S-56: stopped, and no stop");
    if (reason == WEIR_FLOW_IDLE) {
        check_idle(mine);
    }
    book->inside = true;
    weir_sim_step();
    weir_sim_writes(mine, sizeof(*mine));
    book->inside = false;
    book->live = false;
    book->over = false;
    ended[reason]++;
    weir_sim_check(ended[WEIR_FLOW_FINISHED] <= finishes_asked, "S-52: more ends than finishes");
    wake();
}

/* ---- set-up ---- */

static void reset(uint32_t threads, const weir_router_options *options, flow_part *part)
{
    stage_open(NULL);
    memset(sends, 0, sizeof(sends));
    memset(keys, 0, sizeof(keys));
    memset(ended, 0, sizeof(ended));
    memset(held, 0, sizeof(held));
    memset(released, 0, sizeof(released));
    send_count = generations = handled = failed = dead = finishes_asked = 0;
    settling = awaiting = false;
    the_part = part;
    stage_threads(threads);
    flows = (flows_state){ .options = *options };
    weir_router_options *o = &flows.options;
    o->name = o->name != NULL ? o->name : "flows";
    o->idle_timeout = o->idle_timeout != 0 ? o->idle_timeout : WEIR_FOREVER;
    o->block_max = o->block_max != 0 ? o->block_max : WEIR_FOREVER;
    o->flows_max = o->flows_max != 0 ? o->flows_max : 100; /* two shards, and few records */
}

void flows_open(uint32_t threads, const weir_router_options *options, flow_part *part)
{
    reset(threads, options, part);
    weir_router_options *o = &flows.options;
    o->workers = o->workers != 0 ? o->workers : 2;
    o->worker_max = o->worker_max != 0 ? o->worker_max : 50;
    o->ingress_max = o->ingress_max != 0 ? o->ingress_max : 50;
    o->handler = on_event;
    o->state_size = sizeof(life);
    o->init = on_init;
    o->destroy = on_destroy;
    flows.router = weir_router_add(stage.engine, o, &stage.error);
}

void flows_open_targets(uint32_t threads, const weir_router_options *options,
                        const weir_processor_options *target, uint32_t targets)
{
    reset(threads, options, NULL);
    weir_processor_options p = *target;
    p.handler = on_target;
    for (uint32_t i = 0; i < targets; i++) {
        flow_targets[i] = weir_processor_add(stage.engine, &p, &stage.error);
    }
    flows.options.targets = flow_targets;
    flows.options.target_count = targets;
    flows.router = weir_router_add(stage.engine, &flows.options, &stage.error);
}

/* ---- the play ---- */

static uint32_t begin(uint32_t producer, uint64_t key, bool finish, bool silent)
{
    weir_sim_check(send_count < FLOW_SENDS_MAX && key < FLOW_KEYS_MAX, "too many of them");
    const uint32_t send = send_count++;
    sends[send] = (entry){ .key = key,
                           .producer = producer,
                           .finish = finish,
                           .silent = silent,
                           .began = weir_sim_now() };
    finishes_asked += finish ? 1 : 0;
    weir_sim_note("submits %u to flow %u%s", send, (unsigned)key, finish ? ", its last" : "");
    return send;
}

static weir_status end(uint32_t send, weir_status status, bool in_handler)
{
    const weir_router_options *o = &flows.options;
    entry *mine = &sends[send];
    const bool drops =
        o->overflow == WEIR_OVERFLOW_DROP_NEWEST || o->overflow == WEIR_OVERFLOW_DROP_OLDEST;
    weir_sim_note("submitted %u: %s", send, weir_status_name(status));
    const bool fits =
        status == WEIR_OK || (status == WEIR_DROPPED && (drops || o->targets != NULL)) ||
        (status == WEIR_FULL && (in_handler || o->overflow == WEIR_OVERFLOW_FAIL ||
                                 o->block_max != WEIR_FOREVER || o->targets != NULL)) ||
        (status == WEIR_STOPPING && flows.stopping) || (status == WEIR_UNKNOWN && mine->silent) ||
        (status == WEIR_UNKNOWN && flows.stopping && o->targets != NULL) ||
        (status == WEIR_E_NOMEM && stage_is_short());
    weir_sim_check(fits, "a submit answers %s", weir_status_name(status));
    weir_sim_check(status == WEIR_OK || !mine->handled, "handled, and refused: %s",
                   weir_status_name(status));
    finishes_asked -= mine->finish && status != WEIR_OK && status != WEIR_DROPPED ? 1 : 0;
    mine->status = status;
    mine->answered = true;
    if (o->targets == NULL) {
        weir_sim_check(ingress_now(weir__router_find(stage.engine, flows.router)) <= o->ingress_max,
                       "S-54: more than the ingress");
    }
    return status;
}

static weir_status submit_letter(uint64_t key, const weir_event *event)
{
    char text[40];
    if (!by_bytes()) {
        return weir_router_submit(stage.engine, flows.router, key, event);
    }
    const size_t size = key != 0 ? key_text(key, text, sizeof(text)) : 0;
    return weir_router_submit_bytes(stage.engine, flows.router, text, size, event);
}

weir_status flows_submit_what(uint64_t key, uint32_t what, uint32_t flags)
{
    const letter it = {
        begin((uint32_t)weir_sim_thread_self(), key, (flags & WEIR_EVENT_FINISH) != 0, false), what
    };
    const weir_event event = {
        .type = &letter_type, .data = &it, .size = sizeof(it), .flags = flags
    };
    return end(it.send, submit_letter(key, &event), false);
}

weir_status flows_submit(uint64_t key)
{
    return flows_submit_what(key, 0, 0);
}

weir_status flows_submit_last(uint64_t key)
{
    return flows_submit_what(key, 0, WEIR_EVENT_FINISH);
}

void flows_submit_batch(uint64_t key, uint32_t number)
{
    letter letters[8];
    weir_event events[8];
    const weir_event *list[8] = { NULL };
    uint64_t to[8] = { 0 };
    weir_status statuses[8];
    size_t accepted = 0;
    for (uint32_t i = 0; i < number; i++) {
        to[i] = key + i % 2;
        letters[i] = (letter){ begin((uint32_t)weir_sim_thread_self(), to[i], false, false), 0 };
        events[i] =
            (weir_event){ .type = &letter_type, .data = &letters[i], .size = sizeof(letters[i]) };
        list[i] = &events[i];
    }
    const size_t said =
        weir_router_submit_batch(stage.engine, flows.router, to, list, number, statuses);
    for (uint32_t i = 0; i < number; i++) {
        const weir_status status = end(letters[i].send, statuses[i], false);
        accepted += status == WEIR_OK || status == WEIR_DROPPED ? 1 : 0;
    }
    weir_sim_check(said == accepted, "%zu accepted, and the call says %zu", accepted, said);
}

weir_status flows_finish(uint64_t key)
{
    char text[40];
    const uint32_t send = begin((uint32_t)weir_sim_thread_self(), key, true, true);
    const size_t size = key_text(key, text, sizeof(text));
    return end(send,
               by_bytes() ? weir_router_finish_bytes(stage.engine, flows.router, text, size)
                          : weir_router_finish(stage.engine, flows.router, key),
               false);
}

weir_status flow_submit(uint64_t from, weir_turn *turn, uint64_t key, uint32_t what)
{
    const letter it = { begin(BY_FLOW + (uint32_t)from, key, false, false), what };
    const weir_event event = { .type = &letter_type, .data = &it, .size = sizeof(it) };
    return end(it.send, weir_turn_submit(turn, flows.router, key, &event), true);
}

void flow_finish(uint64_t key, weir_turn *turn)
{
    weir_sim_check(weir_turn_finish(turn) == WEIR_OK, "no flow is at hand");
    keys[key].over = true;
    finishes_asked++;
}

void flow_hold(uint64_t key)
{
    held[key] = true;
    if (awaiting) {
        weir__sim_wake(&awaiting, UINT32_MAX);
    }
    while (!released[key]) {
        weir__sim_sleep_on(&released[key], WEIR_FOREVER);
    }
}

void flows_release(uint64_t key)
{
    released[key] = true;
    weir__sim_wake(&released[key], UINT32_MAX);
}

void flows_await_held(uint64_t key)
{
    awaiting = true;
    while (!held[key]) {
        weir__sim_sleep_on(&awaiting, WEIR_FOREVER);
    }
    awaiting = false;
}

weir_router_counters flows_counters(void)
{
    weir_router_counters c = WEIR_ROUTER_COUNTERS_INIT;
    weir_status status;
    do { /* a thread that is new to the engine needs memory */
        status = weir_router_counters_get(stage.engine, flows.router, &c);
    } while (status == WEIR_E_INVALID && stage_is_short());
    weir_sim_check(status == WEIR_OK, "no figures: %s", weir_status_name(status));
    return c;
}

/* Accepted events that a handler will see, but for those that were evicted. */
static uint32_t awaited(uint64_t key, bool all)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < send_count; i++) {
        count += sends[i].status == WEIR_OK && sends[i].answered && !sends[i].silent &&
                 (all || sends[i].key == key);
    }
    return count;
}

static uint32_t seen(uint64_t key)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < send_count; i++) {
        count += sends[i].key == key && sends[i].handled;
    }
    return count;
}

static uint32_t live_now(void)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < FLOW_KEYS_MAX; i++) {
        count += keys[i].live ? 1 : 0;
    }
    return count;
}

/* The mapping goes a moment after the state. */
static void await_no_flows(void)
{
    for (int looks = 0; flows_counters().flows != 0; looks++) {
        weir_sim_check(looks < LOOKS_MAX, "S-52: a flow that has ended stays in the table");
        weir_sim_sleep(WEIR_S);
    }
}

void flows_settle(uint32_t live)
{
    const uint32_t evicted =
        flows.options.targets == NULL ? (uint32_t)flows_counters().dropped_oldest : 0;
    const uint32_t wanted = awaited(0, true);
    settling = true;
    while (handled + failed + evicted < wanted || (live != FLOWS_ANY && live_now() != live)) {
        weir__sim_sleep_on(&settling, WEIR_FOREVER);
    }
    settling = false;
    if (live == 0 && flows.options.targets == NULL) {
        await_no_flows();
    }
}

void flows_settle_key(uint64_t key)
{
    settling = true;
    while (seen(key) < awaited(key, false) || keys[key].inside) {
        weir__sim_sleep_on(&settling, WEIR_FOREVER);
    }
    settling = false;
}

weir_status flows_stop_router(weir_ns timeout)
{
    flows.stopping = true;
    weir_sim_note("stops the router");
    const weir_status status = weir_router_stop(stage.engine, flows.router, timeout, NULL);
    weir_sim_note("the router's stop: %s", weir_status_name(status));
    return status;
}

uint32_t flows_ended(weir_flow_end reason)
{
    return ended[reason];
}

/* ---- the end ---- */

static void check_sums(const weir_router_counters *c)
{
    uint32_t submitted = 0;
    uint32_t dropped = 0;
    uint32_t silent = 0;
    for (uint32_t i = 0; i < send_count; i++) {
        submitted += sends[i].status == WEIR_OK || sends[i].status == WEIR_DROPPED ? 1 : 0;
        dropped += sends[i].status == WEIR_DROPPED ? 1 : 0;
        silent += sends[i].silent && sends[i].status == WEIR_OK ? 1 : 0;
    }
    weir_sim_check(c->submitted == submitted, "P-3: %u submitted, and the figure is %llu",
                   submitted, (unsigned long long)c->submitted);
    weir_sim_check(c->dropped_newest == dropped, "P-3: %u dropped, and the figure is %llu", dropped,
                   (unsigned long long)c->dropped_newest);
    weir_sim_check(c->handled + c->dead + c->dropped_newest + c->dropped_oldest + c->left ==
                       c->submitted,
                   "P-3: the sums");
    weir_sim_check(c->dead == dead + failed, "P-3: %u dead, and the figure is %llu", dead + failed,
                   (unsigned long long)c->dead);
    weir_sim_check(c->dropped_oldest + c->left > 0 || c->handled == handled - dead + silent,
                   "P-3: %u handled, %u of them dead, %u without a handler, and the figure is %llu",
                   handled, dead, silent, (unsigned long long)c->handled);
}

static void check_ends(const weir_router_counters *c)
{
    weir_sim_check(c->finished == ended[WEIR_FLOW_FINISHED] && c->idle == ended[WEIR_FLOW_IDLE] &&
                       c->evicted == ended[WEIR_FLOW_EVICTED] &&
                       c->stopped == ended[WEIR_FLOW_STOPPED],
                   "S-56: the figures of ends are others");
    weir_sim_check(live_now() == 0, "S-56: %u inits without a destroy", live_now());
    weir_sim_check(c->flows == 0, "%llu flows after the end", (unsigned long long)c->flows);
}

void flows_close(weir_ns timeout)
{
    flows.stopping = true;
    const weir_status status = weir_engine_stop(stage.engine, timeout, NULL);
    weir_sim_check(status == WEIR_OK || status == WEIR_ALREADY || timeout != WEIR_FOREVER,
                   "the stop answers %s", weir_status_name(status));
    weir_sim_quiet(true);
    weir_counters counters = WEIR_COUNTERS_INIT;
    weir_engine_counters(stage.engine, &counters);
    const weir_router_counters c = flows_counters();
    weir_engine_destroy(stage.engine);
    weir_sim_check(counters.accepted ==
                       counters.handled + counters.dropped + counters.dead + counters.left,
                   "P-3: the engine's sums");
    if (timeout == WEIR_FOREVER && flows.options.targets == NULL) {
        check_sums(&c);
        check_ends(&c);
    }
    const size_t lost = weir__sim_memory_live();
    weir_sim_check(lost <= KEPT_BYTES, "%zu bytes were never given back", lost);
}
