/*
 * troupe.c - who was given which line, and what became of it.
 *
 * Not instrumented, so that its own notes are no races; what players share it says by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sync/sim/core.h"
#include "troupe_books.h"

#define BAD (WEIR_E_USER - 7)

typedef struct line {
    uint32_t number, what, whom, times;
} line;
static const weir_event_type line_type = {
    sizeof(weir_event_type), "troupe.line", (uint32_t)sizeof(line), false, NULL, NULL
};
static const weir_event_type answer_type = {
    sizeof(weir_event_type), "troupe.answer", 0, false, NULL, NULL
};

player players[PLAYERS_MAX];
books of[PLAYERS_MAX];
entry lines[LINES_MAX];
troupe_scene scene;
static weir_channel channel;
static weir_processor gone;

void troupe_open(uint32_t threads)
{
    stage_open(WEIR_ENGINE(.timers_max = 64));
    stage_threads(threads);
    memset(players, 0, sizeof(players));
    memset(of, 0, sizeof(of));
    scene = (troupe_scene){ .player_count = 0 };
    channel = weir_channel_open(stage.engine, "troupe", &stage.error);
    gone = (weir_processor){ 0 };
}

/* ---- the books ---- */

static uint32_t begin_line(kind which, uint32_t from, uint32_t to)
{
    weir_sim_check(scene.line_count < LINES_MAX, "too many lines");
    lines[scene.line_count] = (entry){ .kind = which, .from = from, .to = to, .about = NOBODY };
    return scene.line_count++;
}

static weir_status end_line(uint32_t number, weir_status status)
{
    entry *e = &lines[number];
    e->told = true;
    e->status = status;
    for (uint32_t i = 0; i < scene.player_count && status != WEIR_OK; i++) {
        weir_sim_check(e->at[i].begun == 0, "line %u came, and was refused: %s", number,
                       weir_status_name(status));
    }
    weir_sim_note("line %u to %u: %s", number, e->to, weir_status_name(status));
    return status;
}

static uint32_t number_of(const weir_event *event)
{
    if (event->type == &line_type) {
        return ((const line *)event->data)->number;
    }
    return event->type == &weir_timeout_type || event->type == &answer_type ||
                   event->type == &weir_down_type
               ? (uint32_t)event->tag
               : NOBODY;
}

/* What waits for its next try may be passed over: the engine stops, or it was forgotten. */
static bool may_be_passed_over(const books *b, uint32_t number)
{
    const entry *e = &lines[number];
    return scene.stopping || (e->kind == ANSWER && e->then && e->life != b->life);
}

static void check_begin(uint32_t who, uint32_t number, bool then)
{
    const books *b = &of[who];
    const entry *e = &lines[number];
    const arrival *a = &e->at[who];
    weir_sim_check(e->kind == COPY || e->to == who, "line %u comes to %u", number, who);
    weir_sim_check(!e->told || e->status == WEIR_OK, "line %u comes, and was refused", number);
    weir_sim_check(!e->withdrawn, "line %u comes, and was withdrawn", number);
    weir_sim_check(!a->done && (a->begun == 0 || a->again), "line %u comes twice", number);
    weir_sim_check(b->again == NOBODY || b->again == number || may_be_passed_over(b, b->again),
                   "line %u overtakes %u, which is to be tried again", number, b->again);
    weir_sim_check(then == (e->kind == ANSWER && e->then), "line %u has another handler", number);
    weir_sim_check(!then || e->life == b->life, "line %u is for who was there before", number);
    if (e->kind == POST || e->kind == COPY) {
        weir_sim_check(b->last_of[e->from] < number + 1 || a->again,
                       "P-2: line %u of %u comes behind its %u", number, e->from,
                       b->last_of[e->from] - 1);
    }
}

static void begin(uint32_t who, uint32_t number, bool then)
{
    books *b = &of[who];
    weir_sim_check(!b->runs, "P-1: player %u is at two things", who);
    weir_sim_check(b->lives, "P-8: player %u has no life", who);
    b->runs = true;
    weir_sim_writes(&b->turns, sizeof(b->turns));
    if (number == NOBODY) {
        return;
    }
    check_begin(who, number, then);
    entry *e = &lines[number];
    if (b->again != NOBODY && b->again != number) {
        lines[b->again].at[who].done = true;
        b->tries = 0;
    }
    b->again = NOBODY;
    if (e->kind == COPY && e->at[who].begun == 0) {
        b->heard[b->count++] = number;
    }
    if (e->kind == POST || e->kind == COPY) {
        b->last_of[e->from] = number + 1;
    }
    e->at[who].begun++;
    e->at[who].again = false;
}

static bool is_well(weir_status status)
{
    return status == WEIR_OK || status == WEIR_ALREADY || status == WEIR_DROPPED;
}

static void wake(void)
{
    if (scene.settling) {
        weir__sim_wake(&scene.settling, UINT32_MAX); /* without an edge: it must not hide a race */
    }
}

static weir_status end(uint32_t who, uint32_t number, weir_status status)
{
    books *b = &of[who];
    weir_sim_writes(&b->turns, sizeof(b->turns));
    b->runs = false;
    const bool again = !is_well(status) && b->tries < b->retries;
    b->tries = again ? b->tries + 1 : 0;
    scene.handled += is_well(status);
    scene.finally_failed += !is_well(status) && !again;
    if (number != NOBODY) {
        arrival *a = &lines[number].at[who];
        a->again = again;
        a->done = !again;
        b->again = again ? number : NOBODY;
    }
    wake();
    return status;
}

/* ---- what players do ---- */

static weir_event event_of(const line *l)
{
    return (weir_event){ .type = &line_type, .data = l, .size = (uint32_t)sizeof(*l) };
}

static weir_status then_handle(void *state, weir_turn *turn, const weir_event *event);
static weir_status handle_other(void *state, weir_turn *turn, const weir_event *event);

static void ask(uint32_t who, weir_turn *turn, const line *l, bool then)
{
    const uint32_t question = begin_line(QUESTION, who, l->whom);
    const uint32_t owed = begin_line(ANSWER, l->whom, who);
    const line q = { question, l->times, who, 1 };
    const weir_event event = event_of(&q);
    lines[owed].then = then;
    lines[owed].life = of[who].life;
    const weir_status status = weir_turn_ask(
        turn, players[l->whom].handle, &event,
        WEIR_ASK(.timeout = 20 * WEIR_US, .tag = owed, .then = then ? then_handle : NULL));
    (void)end_line(question, status);
    (void)end_line(owed, status);
}

static void watch(uint32_t who, weir_turn *turn, const line *l)
{
    const uint32_t owed = begin_line(DOWN, l->whom, who);
    lines[owed].about = l->whom;
    (void)end_line(owed, l->whom != who ? weir_turn_watch(turn, players[l->whom].handle, owed)
                                        : WEIR_E_INVALID);
}

static void unwatch(uint32_t who, weir_turn *turn, const line *l)
{
    if (l->whom == who || weir_turn_unwatch(turn, players[l->whom].handle) != WEIR_OK) {
        return;
    }
    for (uint32_t i = 0; i < scene.line_count; i++) {
        entry *e = &lines[i];
        if (e->kind == DOWN && e->to == who && e->about == l->whom && e->status == WEIR_OK &&
            e->at[who].begun == 0) {
            e->withdrawn = true;
        }
    }
}

static void say_in(uint32_t who, weir_turn *turn)
{
    const line l = { .number = begin_line(COPY, who, NOBODY) };
    const weir_event event = event_of(&l);
    weir_delivery d = { 0, 0 };
    const weir_status status = weir_turn_broadcast_many(turn, &channel, 1, &event, &d);
    lines[l.number].delivered = d.delivered;
    (void)end_line(l.number, d.delivered > 0 ? WEIR_OK : status);
}

static void post_in(uint32_t who, weir_turn *turn, uint32_t whom)
{
    const line l = { .number = begin_line(POST, who, whom) };
    const weir_event event = event_of(&l);
    (void)end_line(l.number, weir_turn_post(turn, players[whom].handle, &event));
}

static void trigger(uint32_t who, weir_turn *turn)
{
    const line l = { .number = begin_line(TRIGGER, who, who) };
    const weir_event event = event_of(&l);
    (void)end_line(l.number, weir_turn_trigger_after(turn, 5 * WEIR_US, &event, 0));
}

static weir_status act(uint32_t who, weir_turn *turn, const line *l)
{
    const weir_processor self = players[who].handle;
    switch ((play)l->what) {
    case PLAY_FAIL:
        return lines[l->number].at[who].begun <= l->times ? weir_turn_fail(turn, BAD, "no")
                                                          : WEIR_OK;
    case PLAY_ASK:
    case PLAY_ASK_THEN:
        ask(who, turn, l, l->what == PLAY_ASK_THEN);
        break;
    case PLAY_WATCH:
        watch(who, turn, l);
        break;
    case PLAY_UNWATCH:
        unwatch(who, turn, l);
        break;
    case PLAY_SAY:
        say_in(who, turn);
        break;
    case PLAY_JOIN:
        (void)weir_channel_subscribe(stage.engine, channel, self);
        break;
    case PLAY_LEAVE:
        (void)weir_channel_unsubscribe(stage.engine, channel, self);
        break;
    case PLAY_TRIGGER:
        trigger(who, turn);
        break;
    case PLAY_SWITCH:
        (void)!weir_turn_become(turn, handle_other, true);
        break;
    case PLAY_POST:
        post_in(who, turn, l->whom);
        break;
    case PLAY_LATE_END:
    case PLAY_END:
        weir_sim_work(l->what == PLAY_LATE_END ? WEIR_S / 2 : 1);
        if (weir_processor_stop_async(stage.engine, self, WEIR_FOREVER) == WEIR_OK) {
            of[who].stopped = true; /* it cannot be over: this is its own turn */
        }
        break;
    case PLAY_NOTHING:
    case PLAY_SILENCE:
    case PLAYS:
    default:
        break;
    }
    return WEIR_OK;
}

static weir_status hear_a_letter(uint32_t who, weir_turn *turn)
{
    const line l = { .number = begin_line(POST, who, who) };
    const weir_event event = event_of(&l);
    (void)end_line(l.number, weir_turn_post(turn, gone, &event));
    return of[who].turns++ % 2 == 0 ? BAD : WEIR_OK;
}

static weir_status do_it(uint32_t who, weir_turn *turn, const weir_event *event)
{
    if (event->type == &weir_dead_letter_type) {
        return hear_a_letter(who, turn);
    }
    if (event->type != &line_type) {
        return WEIR_OK;
    }
    const line *l = event->data;
    const weir_status status = act(who, turn, l);
    if (status == WEIR_OK && event->from.ask != 0 && l->what != PLAY_SILENCE) {
        const weir_status replied =
            weir_turn_reply(turn, event->from, &(weir_event){ .type = &answer_type });
        weir_sim_note("player %u replies: %s", who, weir_status_name(replied));
    }
    return status;
}

static weir_status handle_as(void *state, weir_turn *turn, const weir_event *event, bool then)
{
    const uint32_t who = ((const player *)state)->number;
    const uint32_t number = number_of(event);
    weir_sim_reads(event->data, event->size);
    weir_sim_note("player %u begins %s %u", who, event->type->name, number);
    begin(who, number, then);
    weir_sim_step(); /* here another turn would show, if there were one */
    const weir_status status = do_it(who, turn, event);
    weir_sim_reads(event->data, event->size); /* it is still there */
    weir_sim_note("player %u ends %u: %s", who, number, weir_status_name(status));
    return end(who, number, status);
}

static weir_status handle(void *state, weir_turn *turn, const weir_event *event)
{
    return handle_as(state, turn, event, false);
}

/* Of an answer: fails at first, if it is to be tried again. */
static weir_status then_handle(void *state, weir_turn *turn, const weir_event *event)
{
    const uint32_t who = ((const player *)state)->number;
    const uint32_t number = number_of(event);
    weir_sim_note("player %u begins the answer %u", who, number);
    begin(who, number, true);
    weir_sim_step();
    (void)turn;
    return end(who, number,
               of[who].retries > 0 && lines[number].at[who].begun == 1 ? BAD : WEIR_OK);
}

static weir_status handle_other(void *state, weir_turn *turn, const weir_event *event)
{
    (void)weir_turn_unbecome(turn);
    return handle_as(state, turn, event, false);
}

static weir_status be_born(void *state, weir_turn *turn, void *argument)
{
    books *b = &of[((const player *)state)->number];
    (void)turn;
    (void)argument;
    weir_sim_check(!b->runs && !b->lives, "P-1: a second init");
    weir_sim_writes(&b->turns, sizeof(b->turns));
    b->lives = true;
    b->ended = false;
    b->life++;
    if (b->life > 1) {
        say_in(((const player *)state)->number, turn); /* a hook may do that, too */
        wake();
    }
    return WEIR_OK;
}

static void die(void *state, weir_status reason)
{
    books *b = &of[((const player *)state)->number];
    weir_sim_check(!b->runs && b->lives, "P-8: a destroy without an init");
    weir_sim_writes(&b->turns, sizeof(b->turns));
    for (uint32_t i = 0; i < scene.player_count; i++) {
        weir_sim_check(of[i].parent != ((const player *)state)->number || !of[i].lives,
                       "P-8: player %u outlives its parent", i);
    }
    b->lives = false;
    b->ended = true;
    b->failed = reason != WEIR_OK && reason != WEIR_TIMEOUT;
    b->frozen = reason == WEIR_TIMEOUT;
    weir_sim_note("player %u ends: %s", ((const player *)state)->number, weir_status_name(reason));
    wake();
}

/* ---- set-up ---- */

player *troupe_player(const weir_processor_options *options)
{
    weir_processor_options o = *options;
    weir_sim_check(scene.player_count < PLAYERS_MAX, "too many players");
    player *p = &players[scene.player_count];
    books *b = &of[scene.player_count];
    p->number = scene.player_count++;
    b->again = NOBODY;
    b->parent = NOBODY;
    for (uint32_t i = 0; i < p->number; i++) {
        b->parent = o.parent.id == players[i].handle.id ? i : b->parent;
    }
    b->retries = o.on_failure == WEIR_RETRY ? (o.retry_max != 0 ? o.retry_max : 3) : 0;
    o.handler = handle;
    o.argument = p;
    o.init = be_born;
    o.destroy = die;
    o.retry_delay = 3 * WEIR_US;
    p->handle = weir_processor_add(stage.engine, &o, &stage.error);
    return p;
}

void troupe_subscribe(player *which)
{
    const weir_status status = weir_channel_subscribe(stage.engine, channel, which->handle);
    weir_sim_check(status == WEIR_OK, "no set-up: %s", weir_status_name(status));
}

void troupe_coroner(player *which)
{
    const weir_channel letters =
        weir_channel_open(stage.engine, WEIR_CHANNEL_DEAD_LETTERS, &stage.error);
    const weir_status status = weir_channel_subscribe(stage.engine, letters, which->handle);
    weir_sim_check(status == WEIR_OK, "no set-up: %s", weir_status_name(status));
}

/* ---- the play ---- */

static uint32_t outsider(void)
{
    return PLAYERS_MAX + (uint32_t)weir_sim_thread_self() % 16u;
}

weir_status troupe_give(player *to, play what, const player *whom, uint32_t times)
{
    const line l = { begin_line(POST, outsider(), to->number), what,
                     whom != NULL ? whom->number : to->number, times };
    const weir_event event = event_of(&l);
    return end_line(l.number, weir_engine_post(stage.engine, to->handle, &event));
}

void troupe_give_any(uint32_t kinds)
{
    const uint32_t what = 1 + weir_sim_choose(kinds);
    player *to = &players[weir_sim_choose(scene.player_count)];
    const uint32_t times = what == PLAY_FAIL                           ? 1 + weir_sim_choose(3)
                           : what == PLAY_ASK || what == PLAY_ASK_THEN ? weir_sim_choose(3)
                                                                       : 0;
    (void)troupe_give(to, (play)what, &players[weir_sim_choose(scene.player_count)], times);
}

void troupe_say(void)
{
    const line l = { .number = begin_line(COPY, outsider(), NOBODY) };
    const weir_event event = event_of(&l);
    weir_delivery d = { 0, 0 };
    const weir_status status = weir_engine_broadcast(stage.engine, channel, &event, &d);
    lines[l.number].delivered = d.delivered;
    (void)end_line(l.number, d.delivered > 0 ? WEIR_OK : status);
}

void troupe_ask(player *to, play what, weir_ns timeout)
{
    const line l = { begin_line(QUESTION, outsider(), to->number), what, to->number, 1 };
    const weir_event event = event_of(&l);
    weir_event reply;
    const weir_status status = weir_engine_ask(stage.engine, to->handle, &event, timeout, &reply);
    const bool waited = status == WEIR_OK || status == WEIR_TIMEOUT ||
                        (status == WEIR_STOPPING && lines[l.number].at[to->number].begun > 0);
    weir_sim_check(status != WEIR_OK || lines[l.number].at[to->number].begun > 0,
                   "an answer to what nobody heard");
    if (!waited && status == WEIR_STOPPING) {
        return; /* refused, or the engine has closed meanwhile: both are told so */
    }
    (void)end_line(l.number, waited ? WEIR_OK : status);
    if (status == WEIR_OK) {
        weir_event_release(&reply);
    }
}

weir_status troupe_stop(player *which, weir_ns timeout)
{
    const weir_status status = weir_processor_stop(stage.engine, which->handle, timeout, NULL);
    weir_sim_note("the stop of %u: %s", which->number, weir_status_name(status));
    if (status == WEIR_OK || status == WEIR_TIMEOUT) {
        of[which->number].stopped = true;
    }
    weir_sim_check(status != WEIR_OK || of[which->number].ended, "stopped, and not destroyed");
    return status;
}
