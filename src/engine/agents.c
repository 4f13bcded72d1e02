/*
 * engine/agents.c - the agents of a thread: the walk over them, and what others ask of the thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/agents.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/traceparent.h"
#include "engine/watchdog.h"
#include "sync/word.h"

#define RETRY_MIN (10 * WEIR_MS)
#define RETRY_MAX WEIR_S

/* ---- the list, under the lock ---- */

static void enlist(weir__agents *agents, weir__agent *agent)
{
    weir__agent **end = &agents->list;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    agent->next = NULL;
    *end = agent;
    weir__or(&agents->thread->hosting, WEIR__HOSTING_AGENTS, seq_cst);
}

static bool unlist(weir__agents *agents, const weir__agent *agent)
{
    weir__agent **at = &agents->list;
    while (*at != NULL && *at != agent) {
        at = &(*at)->next;
    }
    if (*at == NULL) {
        return false;
    }
    *at = agent->next;
    if (agents->list == NULL) {
        weir__and(&agents->thread->hosting, ~(uint32_t)WEIR__HOSTING_AGENTS, seq_cst);
    }
    return true;
}

void weir__agents_ask(weir__agents *agents, weir__request *request)
{
    request->next = NULL;
    if (agents->first == NULL) {
        agents->first = request;
    } else {
        agents->last->next = request;
    }
    agents->last = request;
    /* [AG7] pairs with [AG8]. */
    weir__or(&agents->thread->hosting, WEIR__HOSTING_REQUESTS, seq_cst);
}

/* Out of the queue. The bit is cleared with the last one: a thread that looked in between would
 * sleep, and nobody wakes it for what is still there. */
static void drop(weir__agents *agents, const weir__request *request)
{
    weir__request *before = NULL;
    weir__request *at = agents->first;
    while (at != request) {
        before = at;
        at = at->next;
    }
    if (before != NULL) {
        before->next = request->next;
    } else {
        agents->first = request->next;
    }
    if (agents->last == request) {
        agents->last = before;
    }
    if (agents->first == NULL) {
        weir__and(&agents->thread->hosting, ~(uint32_t)WEIR__HOSTING_REQUESTS, seq_cst);
    }
}

static void unwatch(weir__agents *agents, weir__agent *agent)
{
    for (uint32_t i = 0; i < agent->fd_count; i++) {
        (void)weir__poller_watch(&agents->thread->poller, agent->fds[i], false, false);
    }
    agent->fd_count = 0;
}

void weir__agents_forget(weir__agents *agents, weir__agent *agent)
{
    if (agents->current == agent) {
        agents->current = NULL;
    }
    unwatch(agents, agent);
    if (!unlist(agents, agent)) {
        drop(agents, &agent->join);
    }
}

/* ---- answers ---- */

/* The request is gone after this. */
static void answer(weir__agents *agents, weir__request *request, weir__answer given)
{
    /* [AG2] pairs with [AG1]: what was done on its behalf. */
    weir__store(&request->answer, given, seq_cst);
    weir__add(&agents->answered, 1, seq_cst);
    weir__word_wake(&agents->answered, INT32_MAX);
}

static void run_call(weir__agents *agents, weir__request *request)
{
    weir__agent *outer = agents->current;
    weir__trail *before = weir__context_trail_swap(&agents->trail);
    agents->current = request->agent;
    weir__trail_hook(&agents->trail, request->agent->id, WEIR__HOOK_CALL);
    request->call(request->argument);
    weir__trail_hook_done(&agents->trail);
    agents->current = outer;
    (void)weir__context_trail_swap(before);
    answer(agents, request, WEIR__ANSWER_DONE);
}

/* All that is asked for, one by one: a call may take back what stands behind it. */
static void serve(weir__agents *agents)
{
    for (;;) {
        weir__mutex_lock(&agents->lock);
        weir__request *request = agents->first;
        if (request != NULL) {
            drop(agents, request);
        }
        if (request != NULL && request->kind == WEIR__REQUEST_JOIN) {
            enlist(agents, request->agent);
        } else if (request != NULL && request->kind == WEIR__REQUEST_LEAVE) {
            weir__agents_forget(agents, request->agent);
        }
        weir__mutex_unlock(&agents->lock);
        if (request == NULL) {
            return;
        }
        if (request->kind == WEIR__REQUEST_LEAVE) {
            answer(agents, request, WEIR__ANSWER_DONE);
        } else if (request->kind == WEIR__REQUEST_CALL) {
            run_call(agents, request);
        }
    }
}

/* The lock held: without the thread. Calls are refused, or stay. */
static void settle(weir__agents *agents, bool refuse)
{
    weir__request *next;
    for (weir__request *request = agents->first; request != NULL; request = next) {
        next = request->next;
        if (request->kind == WEIR__REQUEST_CALL && !refuse) {
            continue;
        }
        drop(agents, request);
        if (request->kind == WEIR__REQUEST_JOIN) {
            enlist(agents, request->agent);
        } else if (request->kind == WEIR__REQUEST_LEAVE) {
            weir__agents_forget(agents, request->agent);
            answer(agents, request, WEIR__ANSWER_DONE);
        } else {
            answer(agents, request, WEIR__ANSWER_REFUSED);
        }
    }
}

/* The lock held. */
static void close(weir__agents *agents)
{
    agents->closed = true;
    settle(agents, true);
    for (weir__agent *agent = agents->list; agent != NULL; agent = agent->next) {
        unwatch(agents, agent); /* an application may poll an external thread for ever */
    }
    weir__and(&agents->thread->hosting, 0, seq_cst); /* no round looks at them any more */
}

void weir__agents_let_go(weir__thread *thread)
{
    if (!thread->holds) {
        return;
    }
    weir__agents *agents = weir__agents_if_any(thread);
    weir__mutex_lock(&agents->lock);
    agents->held = false;
    thread->holds = false;
    if (weir__load(&thread->engine->phase, seq_cst) >= WEIR__ABANDONED) {
        close(agents);
    } else {
        settle(agents, false);
    }
    weir__mutex_unlock(&agents->lock);
}

void weir__agents_close(weir__thread *thread)
{
    weir__agents *agents = weir__agents_if_any(thread);
    if (agents == NULL) {
        return;
    }
    weir__mutex_lock(&agents->lock);
    if (!agents->held) {
        close(agents);
    }
    weir__mutex_unlock(&agents->lock);
}

/* ---- the walk ---- */

static void hold(weir__agents *agents)
{
    weir__mutex_lock(&agents->lock);
    agents->held = !agents->closed;
    agents->thread->holds = agents->held;
    weir__mutex_unlock(&agents->lock);
    weir__watched_by(&agents->watched, weir__load(&agents->thread->watched.system_id, relaxed));
}

static void note_failure(weir__agents *agents, weir__agent *agent, int32_t status)
{
    agent->delay = agent->delay == 0 ? RETRY_MIN : 2 * agent->delay;
    agent->delay = agent->delay < RETRY_MAX ? agent->delay : RETRY_MAX;
    agent->retry_at = weir__clock_now() + agent->delay;
    agents->next = agent->retry_at < agents->next ? agent->retry_at : agents->next;
    if (agent->plan.failed != NULL) {
        agent->plan.failed(agent->plan.context, (weir_status)status);
    }
}

/* True: it did something. */
static bool call_one(weir__agents *agents, weir__agent *agent)
{
    weir_ns next = WEIR_FOREVER;
    if (agent->plan.do_work == NULL) {
        return false;
    }
    if (agent->delay != 0 && weir__clock_now() < agent->retry_at) {
        agents->next = agent->retry_at < agents->next ? agent->retry_at : agents->next;
        return false;
    }
    agents->current = agent;
    weir__trail_hook(&agents->trail, agent->id, WEIR__HOOK_DO_WORK);
    const int32_t done = agent->plan.do_work(agent->plan.context, &next);
    if (done < 0) {
        note_failure(agents, agent, done);
    } else {
        agent->delay = 0;
        agents->soon |= next == 0;
        agents->next = next != 0 && next < agents->next ? next : agents->next;
    }
    weir__trail_hook_done(&agents->trail);
    agents->current = NULL;
    if (weir__unlikely(agents->thread->context.carried != NULL)) {
        weir__carried_drop(&agents->thread->context); /* turns follow, and other agents */
    }
    return done > 0;
}

static void bury_those_that_left(weir__agents *agents)
{
    weir__agent *agent = agents->list;
    agents->some_left = false;
    while (agent != NULL) {
        weir__agent *next = agent->next;
        if (agent->left) {
            weir__mutex_lock(&agents->lock);
            weir__agents_forget(agents, agent);
            weir__mutex_unlock(&agents->lock);
            weir__agent_free(agent);
        }
        agent = next;
    }
}

bool weir__agents_round(weir__thread *thread)
{
    /* [AG8] pairs with [AG7]: the record is there. */
    const uint32_t hosting = weir__load(&thread->hosting, acquire);
    weir__agents *agents = weir__agents_if_any(thread);
    bool work = false;
    if (!thread->holds) {
        hold(agents);
        if (!thread->holds) {
            return false;
        }
    }
    if ((hosting & WEIR__HOSTING_REQUESTS) != 0) {
        serve(agents);
    }
    if ((hosting & WEIR__HOSTING_WOKEN) != 0) {
        /* [AG6] pairs with [AG5]: what it was woken for. Before the walk: who sets it after this
         * brings another one. */
        weir__and(&thread->hosting, ~(uint32_t)WEIR__HOSTING_WOKEN, seq_cst);
    }
    agents->next = WEIR_FOREVER;
    agents->soon = false;
    agents->walking = true;
    weir__trail *before = weir__context_trail_swap(&agents->trail);
    for (weir__agent *agent = agents->list; agent != NULL; agent = agent->next) {
        work |= !agent->left && call_one(agents, agent);
    }
    (void)weir__context_trail_swap(before);
    agents->walking = false;
    if (agents->some_left) {
        bury_those_that_left(agents);
    }
    return work;
}

weir_ns weir__agents_until(weir__thread *thread)
{
    if (!thread->hosts) {
        return WEIR_FOREVER;
    }
    const weir__agents *agents = weir__agents_if_any(thread);
    const weir_ns most = agents->soon ? weir__clock_now() + thread->options.max_park : WEIR_FOREVER;
    return most < agents->next ? most : agents->next;
}

/* ---- the record ---- */

weir__agents *weir__agents_of(weir__thread *thread)
{
    weir_engine *engine = thread->engine;
    weir__agents *agents = weir__agents_if_any(thread);
    if (agents != NULL) {
        return agents;
    }
    agents = weir__allocate(&engine->allocator, sizeof(*agents));
    if (agents == NULL) {
        return NULL;
    }
    agents->thread = thread;
    agents->trail.engine = engine;
    agents->trail.thread = thread;
    agents->watched.trail = &agents->trail;
    agents->watched.name = thread->name;
    agents->next = WEIR_FOREVER;
    weir__watchdog_add(engine, &agents->watched);
    weir__store(&thread->agents, agents, release); /* [AG3] pairs with [AG4]: it is complete */
    return agents;
}

void weir__agents_free(weir__thread *thread)
{
    weir__agents *agents = weir__agents_if_any(thread);
    if (agents == NULL) {
        return;
    }
    settle(agents, true);
    while (agents->list != NULL) {
        weir__agent *agent = agents->list;
        agents->list = agent->next;
        weir__agent_free(agent);
    }
    weir__release(&thread->engine->allocator, agents, sizeof(*agents));
}

void weir__agents_reopen(weir__thread *thread)
{
    weir__agents *agents = weir__agents_if_any(thread);
    if (agents != NULL) {
        weir__mutex_lock(&agents->lock);
        WEIR_ASSERT(agents->list == NULL && agents->first == NULL);
        agents->closed = false;
        weir__mutex_unlock(&agents->lock);
    }
    weir__store(&thread->hosting, 0, relaxed);
}

/* The lock held. One that is about to join is one of them. */
static const weir__agent *find(const weir__agents *agents, uint64_t id)
{
    for (const weir__agent *agent = agents->list; agent != NULL; agent = agent->next) {
        if (id == 0 || agent->id == id) {
            return agent;
        }
    }
    for (const weir__request *r = agents->first; r != NULL; r = r->next) {
        if (r->kind == WEIR__REQUEST_JOIN && (id == 0 || r->agent->id == id)) {
            return r->agent;
        }
    }
    return NULL;
}

bool weir__agents_any(weir__thread *thread, char *out, size_t size)
{
    weir__agents *agents = weir__agents_if_any(thread);
    if (agents == NULL) {
        return false;
    }
    weir__mutex_lock(&agents->lock);
    const weir__agent *agent = find(agents, 0);
    if (agent != NULL) {
        (void)snprintf(out, size, "%s", agent->name);
    }
    weir__mutex_unlock(&agents->lock);
    return agent != NULL;
}

bool weir__agent_name(weir_engine *engine, uint64_t id, char *out, size_t size)
{
    bool found = false;
    weir__mutex_lock(&engine->registry.lock);
    const uint32_t count = weir__threads_count(engine);
    for (uint32_t i = 0; i < count && !found; i++) {
        weir__agents *agents = weir__agents_if_any(weir__thread_at(engine, i));
        if (agents != NULL) {
            weir__mutex_lock(&agents->lock);
            const weir__agent *agent = find(agents, id);
            found = agent != NULL;
            if (found) {
                (void)snprintf(out, size, "%s", agent->name);
            }
            weir__mutex_unlock(&agents->lock);
        }
    }
    weir__mutex_unlock(&engine->registry.lock);
    return found;
}
