/*
 * guard/paths.c - the ways of an event whose price is watched.
 *
 * A new one is a row of the table at the end; tools/perf-guard --update notes what it costs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "guard/scene.h"

enum {
    HOPS = 256,
    RING = 100,
    TOKENS = 10,
    POSTS = 64,
    BATCH = 32,
    PAGES = 16,
    ITEMS = 64,
    NARROW = 8,
    CROWD = 16,
    BROADCASTS = 8,
    FLOW = 42
};

typedef struct hops {
    uint32_t left; /* this one included */
} hops;
typedef struct page {
    uint64_t words[32];
} page;
WEIR_EVENT_TYPE(hops, "guard.hops");
WEIR_EVENT_TYPE(page, "guard.page");
WEIR_EMPTY_TYPE(poke, "guard.poke");

/* ---- from handler to handler ---- */

static weir_status pass_on(void *state, weir_turn *turn, const weir_event *event)
{
    const guard_member *self = state;
    const hops *token = event->data;
    self->scene->handled++;
    return token->left > 1 ? weir_turn_post(turn, self->next, WEIR_EVENT(hops, token->left - 1))
                           : WEIR_OK;
}

static void open_circle(guard_scene *scene, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        guard_add(scene, i, pass_on);
    }
    for (uint32_t i = 0; i < count; i++) {
        scene->members[i].next = scene->members[(i + 1) % count].self;
    }
}

static void open_pair(guard_scene *scene)
{
    open_circle(scene, 2);
}

static void open_ring(guard_scene *scene)
{
    open_circle(scene, RING);
}

static void ping_pong(guard_scene *scene)
{
    guard_post(scene, scene->members[0].self, WEIR_EVENT(hops, HOPS));
    guard_turn(scene, HOPS);
}

static void ping_pong_in_a_flow(guard_scene *scene)
{
    weir_event event = *WEIR_EVENT(hops, HOPS);
    event.flow = FLOW;
    guard_post(scene, scene->members[0].self, &event);
    guard_turn(scene, HOPS);
}

static void ring(guard_scene *scene)
{
    for (uint32_t i = 0; i < RING; i += RING / TOKENS) {
        guard_post(scene, scene->members[i].self, WEIR_EVENT(hops, RING));
    }
    guard_turn(scene, RING * TOKENS);
}

/* ---- questions and answers ---- */

/* What comes back, and what makes it begin, has the number of questions still to be asked. Without
 * a time, which would be a look at the clock more: the wheel's thread would get up for it, and be
 * counted in one half or in the other. */
static weir_status ask_on(void *state, weir_turn *turn, const weir_event *event)
{
    const guard_member *self = state;
    const hops *token = event->data;
    self->scene->handled++;
    return token->left > 1 ? weir_turn_ask(turn, self->next, WEIR_EVENT(hops, token->left - 1),
                                           WEIR_ASK(.timeout = WEIR_FOREVER, .then = ask_on))
                           : WEIR_OK;
}

static weir_status answer(void *state, weir_turn *turn, const weir_event *event)
{
    const guard_member *self = state;
    self->scene->handled++;
    return weir_turn_reply(turn, event->from, event);
}

static void open_asker(guard_scene *scene)
{
    guard_add(scene, 0, ask_on);
    guard_add(scene, 1, answer);
    scene->members[0].next = scene->members[1].self;
}

/* As many events as in a ping-pong: the cost of each can be compared. */
static void ask(guard_scene *scene)
{
    guard_post(scene, scene->members[0].self, WEIR_EVENT(hops, HOPS / 2 + 1));
    guard_turn(scene, HOPS + 1);
}

/* ---- from outside ---- */

static weir_status take(void *state, weir_turn *turn, const weir_event *event)
{
    guard_member *self = state;
    (void)turn;
    (void)event;
    self->scene->handled++;
    return WEIR_OK;
}

static void open_one(guard_scene *scene)
{
    guard_add(scene, 0, take);
}

static void post_one(guard_scene *scene)
{
    guard_post(scene, scene->members[0].self, WEIR_EMPTY(poke));
    guard_turn(scene, 1);
}

static void fan_in(guard_scene *scene)
{
    for (uint32_t i = 0; i < POSTS; i++) {
        guard_post(scene, scene->members[0].self, WEIR_EMPTY(poke));
    }
    guard_turn(scene, POSTS);
}

static void batch(guard_scene *scene)
{
    const weir_event *events[BATCH];
    const weir_event *event = WEIR_EMPTY(poke);
    for (uint32_t i = 0; i < BATCH; i++) {
        events[i] = event;
    }
    guard_check(weir_engine_post_batch(scene->engine, &scene->members[0].self, 1, events, BATCH,
                                       NULL) == BATCH,
                "a batch was refused");
    guard_turn(scene, BATCH);
}

/* ---- payloads beyond what an envelope holds ---- */

static void copied_pages(guard_scene *scene)
{
    static const page blank;
    const weir_event event = { .type = &page_type, .size = sizeof(page), .data = &blank };
    for (uint32_t i = 0; i < PAGES; i++) {
        guard_post(scene, scene->members[0].self, &event);
    }
    guard_turn(scene, PAGES);
}

static void commit_page(guard_scene *scene)
{
    weir_block *block = NULL;
    guard_check(weir_block_reserve(scene->engine, sizeof(page), &block) == WEIR_OK,
                "a block was refused");
    page *data = weir_block_data(block);
    data->words[0] = 1;
    const weir_event event = {
        .type = &page_type, .size = sizeof(page), .data = data, .block = block
    };
    guard_check(weir_engine_commit(scene->engine, scene->members[0].self, &event) == WEIR_OK,
                "a commit was refused");
}

static void blocks(guard_scene *scene)
{
    for (uint32_t i = 0; i < PAGES; i++) {
        commit_page(scene);
    }
    guard_turn(scene, PAGES);
}

/* ---- a full mailbox, and the wish for room ---- */

static weir_status send_until_full(void *state, weir_turn *turn, const weir_event *event)
{
    guard_member *self = state;
    const hops *order = weir_event_as(event, &hops_type);
    self->left = order != NULL ? order->left : self->left;
    for (; self->left > 0; self->left--) {
        const weir_status status = weir_turn_post(turn, self->next, WEIR_EMPTY(poke));
        if (status != WEIR_OK) {
            return status == WEIR_FULL ? weir_turn_want_room(turn, self->next, 0) : status;
        }
    }
    return WEIR_OK;
}

static void open_narrow(guard_scene *scene)
{
    guard_member *sender = guard_add(scene, 0, send_until_full);
    guard_member *taker = &scene->members[1];
    taker->scene = scene;
    sender->next = weir_processor_add(
        scene->engine, WEIR_PROCESSOR(.handler = take, .argument = taker, .mailbox_max = NARROW),
        &scene->error);
}

static void want_room(guard_scene *scene)
{
    guard_post(scene, scene->members[0].self, WEIR_EVENT(hops, ITEMS));
    guard_turn(scene, ITEMS);
}

/* ---- one to all ---- */

static void open_listeners(guard_scene *scene, uint32_t count)
{
    scene->channel = weir_channel_open(scene->engine, "all", &scene->error);
    for (uint32_t i = 0; i < count; i++) {
        const guard_member *member = guard_add(scene, i, take);
        guard_check(weir_channel_subscribe(scene->engine, scene->channel, member->self) == WEIR_OK,
                    "no subscription");
    }
}

static void open_one_listener(guard_scene *scene)
{
    open_listeners(scene, 1);
}

static void open_many_listeners(guard_scene *scene)
{
    open_listeners(scene, RING);
}

static void broadcast(guard_scene *scene, const weir_event *event, uint32_t listeners)
{
    weir_delivery d;
    guard_check(weir_engine_broadcast(scene->engine, scene->channel, event, &d) == WEIR_OK &&
                    d.delivered == listeners,
                "a broadcast was refused");
}

static void broadcast_to_one(guard_scene *scene)
{
    for (uint32_t i = 0; i < POSTS; i++) {
        broadcast(scene, WEIR_EVENT(hops, i), 1);
    }
    guard_turn(scene, POSTS);
}

static void broadcast_runs(guard_scene *scene)
{
    hops numbers[BATCH];
    weir_event events[BATCH];
    const weir_event *pointers[BATCH];
    for (uint32_t i = 0; i < BATCH; i++) {
        numbers[i].left = i;
        events[i] =
            (weir_event){ .type = &hops_type, .data = &numbers[i], .size = sizeof(numbers[i]) };
        pointers[i] = &events[i];
    }
    guard_check(weir_engine_broadcast_batch(scene->engine, scene->channel, pointers, BATCH, NULL,
                                            NULL) == BATCH,
                "a run was refused");
    guard_turn(scene, BATCH * RING);
}

/* The first makes all of them ready, the others find them so. */
static void broadcast_to_many(guard_scene *scene)
{
    for (uint32_t i = 0; i < BROADCASTS; i++) {
        broadcast(scene, WEIR_EVENT(hops, i), RING);
    }
    guard_turn(scene, BROADCASTS * RING);
}

static void broadcast_page(guard_scene *scene)
{
    const page data = { { 0 } };
    const weir_event event = { .type = &page_type, .data = &data, .size = sizeof(data) };
    broadcast(scene, &event, RING);
    guard_turn(scene, RING);
}

/* ---- processors come and go ---- */

static void open_none(guard_scene *scene)
{
    (void)scene;
}

static void note_end(void *state, weir_status reason)
{
    guard_member *self = state;
    (void)reason;
    self->scene->ended++;
}

static void create(guard_scene *scene)
{
    for (uint32_t i = 0; i < CROWD; i++) {
        scene->members[i].scene = scene;
        scene->members[i].self = weir_processor_add(
            scene->engine,
            WEIR_PROCESSOR(.handler = take, .argument = &scene->members[i], .destroy = note_end),
            &scene->error);
        guard_post(scene, scene->members[i].self, WEIR_EMPTY(poke));
    }
    guard_turn(scene, CROWD);
}

/* Nobody else turns the thread, so the stops do not wait: the next turn ends the processors. */
static void life(guard_scene *scene)
{
    const uint64_t ended = scene->ended;
    create(scene);
    for (uint32_t i = 0; i < CROWD; i++) {
        weir_processor_stop(scene->engine, scene->members[i].self, WEIR_NOW, NULL);
    }
    guard_turn_once(scene);
    guard_check(scene->ended == ended + CROWD, "a processor did not end");
}

/* ---- flows ---- */

/* A flow's state: where it counts. */
static weir_status begin_flow(void *state, weir_turn *turn, void *argument)
{
    (void)turn;
    *(guard_scene **)state = argument;
    return WEIR_OK;
}

static weir_status take_in_flow(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    (*(guard_scene **)state)->handled++;
    return WEIR_OK;
}

/* What is counted must depend neither on the clock nor on chance. So no flow is ever too old, which
 * an alarm would have to find out; no handler is timed; and there is one flow, since where two lie
 * in the table is up to a seed. */
static void open_router(guard_scene *scene)
{
    scene->router = weir_router_add(
        scene->engine,
        WEIR_ROUTER(.name = "flows", .handler = take_in_flow, .argument = scene,
                    .state_size = sizeof(guard_scene *), .init = begin_flow, .workers = 1,
                    .idle_timeout = WEIR_FOREVER, .latency_every = UINT32_MAX),
        &scene->error);
}

static void submit(guard_scene *scene)
{
    for (uint32_t i = 0; i < POSTS; i++) {
        guard_check(weir_router_submit(scene->engine, scene->router, FLOW, WEIR_EMPTY(poke)) ==
                        WEIR_OK,
                    "a submit was refused");
    }
    guard_turn(scene, POSTS);
}

static void submit_batch(guard_scene *scene)
{
    const weir_event *events[BATCH];
    uint64_t flows[BATCH];
    const weir_event *event = WEIR_EMPTY(poke);
    for (uint32_t i = 0; i < BATCH; i++) {
        events[i] = event;
        flows[i] = FLOW;
    }
    guard_check(
        weir_router_submit_batch(scene->engine, scene->router, flows, events, BATCH, NULL) == BATCH,
        "a batch was refused");
    guard_turn(scene, BATCH);
}

const guard_path guard_paths[] = {
    { "ping-pong", HOPS, 16, open_pair, ping_pong },
    { "flow", HOPS, 16, open_pair, ping_pong_in_a_flow },
    { "ring", RING *TOKENS, 4, open_ring, ring },
    { "single-post", 1, 1000, open_one, post_one },
    { "fan-in", POSTS, 32, open_one, fan_in },
    { "batch", BATCH, 64, open_one, batch },
    { "copied-page", PAGES, 64, open_one, copied_pages },
    { "block", PAGES, 64, open_one, blocks },
    { "want-room", ITEMS, 32, open_narrow, want_room },
    { "broadcast-1", POSTS, 32, open_one_listener, broadcast_to_one },
    { "broadcast-100", BROADCASTS *RING, 8, open_many_listeners, broadcast_to_many },
    { "broadcast-batch", BATCH *RING, 4, open_many_listeners, broadcast_runs },
    { "broadcast-page", RING, 8, open_many_listeners, broadcast_page },
    { "create", CROWD, 64, open_none, create },
    { "life", CROWD, 32, open_none, life },
    { "submit", POSTS, 32, open_router, submit },
    { "submit-batch", BATCH, 64, open_router, submit_batch },
    /* The last: its alarm has a thread, and from then on the C library is not alone either. */
    { "ask", HOPS + 1, 16, open_asker, ask },
    { 0 },
};
