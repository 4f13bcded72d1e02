/*
 * soak/player.c - a processor of the soak: checks every event that it gets, and does with some of
 * them what a handler can do: send, answer, keep, ask for room, fail, stop itself.
 *
 * Two kinds. A plain one has neither hooks nor state of the engine's: the cheap path. A hooked one
 * has both, is found by its table of cases, and tells by its destroy hook that it is gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "dice.h"
#include "scene.h"

#define CANARY UINT64_C(0x5ca1ab1e0ddba11)

/* What a hooked player's state of the engine's begins with. */
typedef struct state {
    soak_player *player;
    uint64_t canary;
} state;

static void busy(uint32_t ns)
{
    const int64_t end = soak_now() + ns;
    while (soak_now() < end) {
    }
}

/* The event is kept beyond its turn; whoever was kept in that place before is checked again. */
static void keep(soak_player *p, const weir_event *event)
{
    weir_event *kept = &p->kept[p->kept_next++ % SOAK_KEPT];
    weir_event old = *kept;
    if (old.type != NULL && soak_mark_flaw(&old, weir_turn_self(p->sender.turn)) != NULL) {
        soak_violation(p->sender.scene->seed, "a kept event has changed");
    }
    weir_event_release(kept);
    const weir_status status = weir_event_keep(p->sender.scene->engine, event, kept);
    if (status != WEIR_OK) {
        memset(kept, 0, sizeof(*kept));
    }
    if (status != WEIR_OK && status != WEIR_E_NOMEM) {
        soak_violation(p->sender.scene->seed, "weir_event_keep answered %s",
                       weir_status_name(status));
    }
}

static void refuse_blocking(soak_player *p)
{
    weir_engine *engine = p->sender.scene->engine;
    const weir_status one = weir_processor_stop(engine, weir_turn_self(p->sender.turn), 0, NULL);
    const weir_status all = weir_engine_stop(engine, 0, NULL);
    if (one != WEIR_E_BLOCKING || all != WEIR_E_BLOCKING) {
        soak_violation(p->sender.scene->seed, "a blocking stop inside a handler answered %s, %s",
                       weir_status_name(one), weir_status_name(all));
    }
}

/* Sends one event; if there is no room for it, perhaps asks for some. */
static void send_or_want(soak_player *p, uint32_t place)
{
    soak_sender *sender = &p->sender;
    if (soak_send_one(sender, place) != WEIR_FULL || soak_once_in(&sender->random, 2)) {
        return;
    }
    const weir_processor target = { sender->streams[place].to };
    const weir_status status = weir_turn_want_room(sender->turn, target, place);
    sender->books.wanted += status == WEIR_OK;
    if (status < 0 && status != WEIR_E_NOMEM) {
        soak_violation(sender->scene->seed, "weir_turn_want_room answered %s",
                       weir_status_name(status));
    }
}

static void on_room(soak_player *p, const weir_event *event, const weir_room *room)
{
    p->sender.books.rooms++;
    if (event->tag >= SOAK_PLAYERS || room->target.id == 0 ||
        p->sender.books.rooms > p->sender.books.wanted) {
        soak_violation(p->sender.scene->seed, "a room event that nobody asked for");
        return;
    }
    if (!room->gone) {
        send_or_want(p, (uint32_t)event->tag);
    }
}

static bool drops(const soak_player *p)
{
    return p->overflow == WEIR_OVERFLOW_DROP_NEWEST || p->overflow == WEIR_OVERFLOW_DROP_OLDEST;
}

static void on_signal(soak_player *p, uint64_t value)
{
    if (value <= p->signal_seen || (!drops(p) && value != p->signal_seen + 1)) {
        soak_violation(p->sender.scene->seed, "signal %" PRIu64 " behind %" PRIu64, value,
                       p->signal_seen);
    }
    p->signal_seen = value;
}

static void check(soak_player *p, const weir_event *event)
{
    const soak_mark *mark = event->data;
    const char *flaw = soak_mark_flaw(event, weir_turn_self(p->sender.turn));
    if (flaw == NULL && mark->seat < SOAK_SEATS) {
        flaw = soak_track_follow(&p->tracks[mark->seat], mark, !drops(p));
    }
    if (flaw != NULL) {
        soak_violation(p->sender.scene->seed,
                       "%s: place %u, policy %d, seat %u, identity %" PRIu32 ", number %" PRIu64,
                       flaw, p->sender.seat, (int)p->overflow, mark->seat, mark->identity,
                       mark->sequence);
    }
}

/* What a few of the events make the handler do. */
static weir_status act(soak_player *p, const weir_event *event)
{
    soak_sender *sender = &p->sender;
    soak_scene *scene = sender->scene;
    uint64_t *random = &sender->random;
    if (soak_pick(random, SOAK_ENDLESS) < scene->shape.go_on) {
        if (soak_once_in(random, 8)) {
            soak_send_reply(sender, event);
        } else if (soak_once_in(random, 4)) {
            soak_send(sender);
        } else {
            send_or_want(p, soak_pick(random, SOAK_PLAYERS));
        }
    }
    if (scene->shape.slow_ns > 0 && soak_once_in(random, 256)) {
        busy(scene->shape.slow_ns);
    }
    if (p->hooked && soak_once_in(random, 64)) {
        keep(p, event);
    }
    if (soak_once_in(random, 8192)) {
        refuse_blocking(p);
    }
    if (p->hooked && scene->shape.churn && soak_once_in(random, 20000)) {
        (void)weir_processor_stop_async(scene->engine, weir_turn_self(sender->turn), SOAK_DRAIN);
        (void)atomic_fetch_add(&scene->beat->stops, 1);
    }
    if (soak_once_in(random, 512)) {
        return soak_once_in(random, 2) ? WEIR_UNHANDLED
                                       : weir_turn_fail(sender->turn, WEIR_E_USER, "as drawn");
    }
    return WEIR_OK;
}

static weir_status receive(soak_player *p, weir_turn *turn, const weir_event *event)
{
    soak_scene *scene = p->sender.scene;
    weir_status status = WEIR_OK;
    /* Relaxed: it lends the turns no order. That is for the engine to give. */
    if (atomic_exchange_explicit(&p->inside, 1, memory_order_relaxed) != 0) {
        soak_violation(scene->seed, "a handler runs twice at once (P-1)");
    }
    p->sender.turn = turn;
    const weir_room *room = weir_event_as(event, &weir_room_type);
    const uint64_t *signal = weir_event_as(event, &weir_signal_type);
    if (room != NULL) {
        on_room(p, event, room);
    } else if (signal != NULL) {
        on_signal(p, *signal);
    } else {
        check(p, event);
        status = act(p, event);
    }
    if (atomic_load_explicit(&scene->stop_inside, memory_order_relaxed) &&
        atomic_exchange(&scene->stop_inside, false)) {
        (void)weir_engine_stop_async(scene->engine, SOAK_DRAIN);
        atomic_store(&scene->stopped_inside, true);
    }
    p->sender.books.handled += status != WEIR_E_USER;
    p->sender.books.failed += status == WEIR_E_USER;
    (void)atomic_fetch_add_explicit(&scene->beat->events, 1, memory_order_relaxed);
    atomic_store_explicit(&p->inside, 0, memory_order_relaxed);
    return status;
}

static weir_status plain_handler(void *argument, weir_turn *turn, const weir_event *event)
{
    return receive(argument, turn, event);
}

static weir_status hooked_handler(void *memory, weir_turn *turn, const weir_event *event)
{
    const state *s = memory;
    if (s->canary != CANARY + s->player->sender.identity) {
        soak_violation(s->player->sender.scene->seed, "a state is not what its init wrote");
    }
    return receive(s->player, turn, event);
}

static const weir_case rows[] = {
    { &soak_small_type, hooked_handler },  { &soak_large_type, hooked_handler },
    { &soak_owned_type, hooked_handler },  { &weir_room_type, hooked_handler },
    { &weir_signal_type, hooked_handler },
};

static weir_status init(void *memory, weir_turn *turn, void *argument)
{
    soak_player *p = argument;
    if (p->init_fails) {
        atomic_store(&p->state, SOAK_GONE); /* no destroy will follow */
        return weir_turn_fail(turn, WEIR_E_USER, "as drawn");
    }
    *(state *)memory = (state){ p, CANARY + p->sender.identity };
    p->sender.turn = turn;
    (void)soak_send_one(&p->sender, soak_pick(&p->sender.random, SOAK_PLAYERS));
    return WEIR_OK;
}

static void destroy(void *memory, weir_status reason)
{
    soak_player *p = ((const state *)memory)->player;
    if (((const state *)memory)->canary != CANARY + p->sender.identity) {
        soak_violation(p->sender.scene->seed, "a state is not what its init wrote");
    }
    if (reason != WEIR_OK && reason != WEIR_TIMEOUT && reason != WEIR_E_USER) {
        soak_violation(p->sender.scene->seed, "destroy with the reason %s",
                       weir_status_name(reason));
    }
    for (uint32_t i = 0; i < SOAK_KEPT; i++) {
        weir_event_release(&p->kept[i]);
    }
    p->done = p->sender.books;
    soak_books_add(p->sender.scene, &p->sender.books);
    atomic_store(&p->state, SOAK_GONE);
}

/* A player of an earlier life was here, or nobody. */
static void prepare(soak_scene *scene, soak_player *p, uint32_t place)
{
    /* What stands before it is read by senders at any time. */
    const size_t kept = offsetof(soak_player, hooked);
    memset((char *)p + kept, 0, sizeof(*p) - kept);
    p->hooked = !soak_once_in(&scene->random, 3);
    p->init_fails = p->hooked && scene->shape.failing_inits && soak_once_in(&scene->random, 16);
    scene->inits_failed += p->init_fails;
    p->sender = (soak_sender){ .scene = scene,
                               .seat = (uint16_t)place,
                               .identity = ++scene->identities,
                               .random = soak_dice(&scene->random) };
}

/* Some live player, or none: zero. */
static weir_processor draw_parent(soak_scene *scene)
{
    const uint32_t place = soak_pick(&scene->random, SOAK_PLAYERS);
    if (!soak_once_in(&scene->random, 4) ||
        atomic_load(&scene->players[place].state) != SOAK_LIVE) {
        return (weir_processor){ 0 };
    }
    scene->players[place].has_family = true;
    return (weir_processor){ soak_handle(scene, place) };
}

bool soak_player_add(soak_scene *scene, uint32_t place, weir_error *error)
{
    static const uint32_t bounds[] = { 1, 2, 16, 100, 128, 1000, 5000 };
    /* An engine that lives long keeps what its mailboxes needed once: it is full grown soon. */
    const uint32_t choices = scene->shape.lives_long ? 5 : 7;
    soak_player *p = &scene->players[place];
    char name[40];
    const weir_processor parent = draw_parent(scene);
    prepare(scene, p, place);
    (void)snprintf(name, sizeof(name), "p%" PRIu32 "-%" PRIu32, place, p->sender.identity);
    weir_processor_options o = WEIR_PROCESSOR_OPTIONS_INIT;
    o.argument = p;
    o.overflow = p->overflow;
    o.mailbox_max = bounds[soak_pick(&scene->random, choices)];
    o.dedicated = soak_once_in(&scene->random, 12);
    o.dispatcher = o.dedicated ? NULL : soak_dispatcher(scene, soak_pick(&scene->random, 8));
    o.parent = parent;
    p->has_family = parent.id != 0;
    p->hooked = p->hooked || p->has_family; /* whoever is stopped with a parent must tell */
    if (p->hooked) {
        o.name = name;
        o.state_size = sizeof(state) + soak_pick(&scene->random, 300);
        o.init = init;
        o.destroy = destroy;
        o.cases = (weir_cases)WEIR_CASES(rows);
    } else {
        o.handler = plain_handler;
    }
    weir_error first = WEIR_ERROR_INIT;
    atomic_store(&p->state, SOAK_LIVE);
    weir_processor handle = weir_processor_add(scene->engine, &o, &first);
    if (handle.id == 0 && parent.id != 0) { /* the parent is going, or gone */
        o.parent = (weir_processor){ 0 };
        handle = weir_processor_add(scene->engine, &o, error);
    } else if (handle.id == 0) {
        (void)weir_error_set(error, first.status, first.path, first.text);
    }
    if (handle.id == 0) {
        atomic_store(&p->state, SOAK_FREE);
        return false;
    }
    atomic_store_explicit(&p->handle, handle.id, memory_order_release);
    return true;
}
