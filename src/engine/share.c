/*
 * engine/share.c - stealing, and letting go.
 *
 * A thread that steals leaves its victim one processor at least. So two threads cannot pass a last
 * one to and fro, and a ping-pong stays where it is warm.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/share.h"

#include "engine/monitor.h"

/* Who keeps most; NULL: nobody has enough for two. */
static weir__serving *find_richest(const weir__serving *own)
{
    weir__serving *richest = NULL;
    uint32_t most = 0;
    for (weir__serving *s = weir__servings_first(own->dispatcher); s != NULL; s = s->next) {
        const uint32_t length = weir__kept_length(&s->kept);
        if (length > most && s != own && length >= weir__load(&s->thread->share_at, relaxed)) {
            most = length;
            richest = s;
        }
    }
    return richest;
}

static void push_all(weir__dispatcher *dispatcher, weir__processor *first, uint32_t count)
{
    while (count-- > 0) {
        weir__processor *next = first->ready_next;
        weir__dispatcher_push_quiet(dispatcher, first);
        first = next;
    }
}

weir__processor *weir__share_steal(weir__serving *own)
{
    weir__dispatcher *dispatcher = own->dispatcher;
    /* One thread too many finishes what it has, and goes to sleep. */
    const bool may = !dispatcher->fair && !weir__dispatcher_is_crowded(dispatcher, 0);
    weir__serving *richest = may ? find_richest(own) : NULL;
    if (richest == NULL) {
        return NULL;
    }
    const weir__chain chain = weir__kept_raid(&richest->kept, false);
    if (chain.count > 1) {
        weir__processor *rest = chain.first->ready_next;
        const uint32_t kept = weir__kept_append(&own->kept, rest, chain.last, chain.count - 1);
        if (kept == 0) {
            push_all(dispatcher, rest, chain.count - 1);
        }
        weir__monitor_note(dispatcher->engine);
        if (kept == 0 || kept >= weir__load(&own->thread->share_at, relaxed)) {
            weir__dispatcher_wake(dispatcher); /* there is enough for one more */
        }
    }
    return chain.first;
}

void weir__share_all(weir__thread *thread)
{
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        weir__serving *serving = thread->servings[i];
        /* Ends: a raid is a matter of instructions. */
        while (weir__kept_length(&serving->kept) != 0) {
            weir__processor *processor = weir__kept_next(&serving->kept);
            if (processor != NULL) {
                weir__dispatcher_push_quiet(serving->dispatcher, processor);
            } else {
                weir__yield();
            }
        }
    }
}
