/*
 * blocks.c - counted payloads across threads: shared, kept, passed on, released once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <string.h>

#define SIZE 100u

static actor *second;
static weir_event kept;
static uint32_t done_count;

static void done(void *context, void *data)
{
    (void)context;
    memset(data, 0, SIZE); /* plain: whoever still reads it races */
    done_count++;
}

/* A send whose payload is in a block, without a copy. */
static void send_block(actor *to, weir_block *block, bool commit)
{
    const uint32_t send = stage_send_begins(to);
    void *data = weir_block_data(block);
    memcpy(data, &send, sizeof(send));
    const weir_event event = {
        .type = &weir_bytes_type, .data = data, .size = SIZE, .block = block
    };
    stage_send_ends(send, commit ? weir_engine_commit(stage.engine, to->handle, &event)
                                 : weir_engine_post(stage.engine, to->handle, &event));
}

/* Keeps the event; the second actor's turn, perhaps on another thread, gives it back. */
static weir_status keep(actor *self, weir_turn *turn, const weir_event *event)
{
    const weir_status status = weir_event_keep(stage.engine, event, &kept);
    if (status != WEIR_OK) {
        return WEIR_OK; /* no memory: nothing to give back */
    }
    const weir_status sent = actor_post(self, turn, second);
    if (sent != WEIR_OK) {
        weir_event_release(&kept);
    }
    return WEIR_OK;
}

static weir_status give_back(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    weir_event_release(&kept);
    return WEIR_OK;
}

SCENARIO(blocks, "an adopted block is kept by one turn and released by another")
{
    static char memory[SIZE];
    weir_block *block = NULL;
    done_count = 0;
    stage_open(NULL);
    stage_threads(2);
    actor *first = stage_actor(NULL, keep);
    second = stage_actor(NULL, give_back);
    stage_start();
    const weir_status adopted = weir_block_adopt(stage.engine, memory, SIZE, done, NULL, &block);
    if (adopted == WEIR_OK) {
        send_block(first, block, false);
        weir_block_release(block); /* against the turns that hold it */
    }
    stage_settle();
    stage_stop(WEIR_FOREVER);
    weir_sim_check(done_count == (adopted == WEIR_OK), "done was called %u times", done_count);
    stage_close();
}

static void reserve_and_commit(void *to)
{
    for (int i = 0; i < 2; i++) {
        weir_block *block = NULL;
        if (weir_block_reserve(stage.engine, SIZE, &block) == WEIR_OK) {
            send_block(to, block, true);
        }
    }
}

SCENARIO(reserve_commit, "blocks are written in place and committed by two threads")
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(WEIR_PROCESSOR(.mailbox_max = 2), NULL);
    stage_start();
    const int other = weir_sim_thread_start(reserve_and_commit, a);
    reserve_and_commit(a);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    weir_counters c = WEIR_COUNTERS_INIT;
    weir_engine_counters(stage.engine, &c);
    weir_sim_check(c.block_bytes == 0, "%llu bytes of blocks are still out",
                   (unsigned long long)c.block_bytes);
    stage_close();
}

static void reserve(void *slot)
{
    if (weir_block_reserve(stage.engine, SIZE, slot) != WEIR_OK) {
        *(weir_block **)slot = NULL;
    }
}

SCENARIO(blocks_high, "two threads take a block each and keep it: the highest mark is their sum")
{
    weir_block *blocks[2] = { NULL, NULL };
    stage_open(NULL);
    stage_threads(1);
    stage_start();
    const int other = weir_sim_thread_start(reserve, &blocks[0]);
    reserve(&blocks[1]);
    weir_sim_thread_join(other);
    weir_counters c = WEIR_COUNTERS_INIT;
    weir_engine_counters(stage.engine, &c);
    weir_sim_check(c.block_bytes_high == c.block_bytes || stage_is_short(),
                   "%llu bytes are out, and the highest mark is %llu",
                   (unsigned long long)c.block_bytes, (unsigned long long)c.block_bytes_high);
    weir_block_release(blocks[0]);
    weir_block_release(blocks[1]);
    stage_stop(WEIR_FOREVER);
    stage_close();
}
