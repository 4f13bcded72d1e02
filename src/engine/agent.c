/*
 * engine/agent.c - joining a thread, leaving it, waking it, calls on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/agent.h"

#include "base/error.h"
#include "base/memory.h"
#include "engine/agents.h"
#include "engine/engine.h"
#include "sync/word.h"

/* ---- joining ---- */

void weir__agent_free(weir__agent *agent)
{
    const weir_allocator *allocator = &agent->thread->engine->allocator;
    weir__release_text(allocator, agent->name);
    weir__release(allocator, agent, sizeof(*agent));
}

static weir__agent *make(weir__thread *thread, const weir__agent_plan *plan)
{
    const weir_allocator *allocator = &thread->engine->allocator;
    weir__agent *agent = weir__allocate(allocator, sizeof(*agent));
    if (agent == NULL) {
        return NULL;
    }
    agent->thread = thread;
    agent->plan = *plan;
    agent->join = (weir__request){ .kind = WEIR__REQUEST_JOIN, .agent = agent };
    if (!weir__copy_text(allocator, plan->name != NULL ? plan->name : "(no name)", &agent->name)) {
        weir__agent_free(agent);
        return NULL;
    }
    agent->plan.name = agent->name;
    return agent;
}

/* registry.lock held. The thread, if it takes agents; else NULL, and error set. */
static weir__thread *host(weir_engine *engine, weir_thread handle, weir_error *error)
{
    weir__thread *thread = weir__thread_of(engine, handle);
    if (weir__engine_phase(engine) >= WEIR__STOPPING) {
        weir__error_at(error, WEIR_STOPPING, "weir__agent_join",
                       "the engine is stopping or stopped");
        thread = NULL;
    } else if (thread == NULL) {
        weir__error_at(error, WEIR_UNKNOWN, "weir__agent_join.thread",
                       "is no thread of this engine");
    } else if (thread->removing || thread->replaced) {
        weir__error_at(error, WEIR_E_INVALID, "weir__agent_join.thread",
                       "is \"%.100s\", which is being removed", thread->name);
        thread = NULL;
    } else if (thread->serving_count > 0 && thread->servings[0]->dispatcher->dedicated) {
        weir__error_at(error, WEIR_E_INVALID, "weir__agent_join.thread",
                       "is \"%.100s\", which belongs to a dedicated processor", thread->name);
        thread = NULL;
    }
    return thread;
}

weir__agent *weir__agent_join(weir_engine *engine, weir_thread thread, const weir__agent_plan *plan,
                              weir_error *error)
{
    weir__agent *agent = NULL;
    if (weir__error_is_set(error)) {
        return NULL;
    }
    if (!weir__engine_usable(engine)) {
        weir__error_at(error, WEIR_E_INVALID, "weir__agent_join.engine", "is no usable engine");
        return NULL;
    }
    weir__mutex_lock(&engine->registry.lock);
    weir__thread *to = host(engine, thread, error);
    weir__agents *agents = to != NULL ? weir__agents_of(to) : NULL;
    if (agents != NULL) {
        agent = make(to, plan);
    }
    if (agent != NULL) {
        agent->id = ++engine->agent_ids;
        weir__mutex_lock(&agents->lock);
        weir__agents_ask(agents, &agent->join);
        weir__mutex_unlock(&agents->lock);
        weir__thread_wake(to);
    } else if (to != NULL) {
        weir__error_memory(error, "weir__agent_join");
    }
    weir__mutex_unlock(&engine->registry.lock);
    return agent;
}

/* ---- what others ask for ---- */

static bool on_its_thread(const weir__thread *thread)
{
    const weir__context *context = weir__context_find(thread->engine);
    return context != NULL && context->thread == thread;
}

static weir__answer await(weir__agents *agents, weir__request *request)
{
    for (;;) {
        const uint32_t seen = weir__load(&agents->answered, seq_cst);
        /* [AG1] pairs with [AG2]. */
        const uint32_t given = weir__load(&request->answer, acquire);
        if (given != WEIR__ANSWER_NONE) {
            return (weir__answer)given;
        }
        weir__word_wait(&agents->answered, seen, WEIR_FOREVER);
    }
}

weir_status weir__agent_call(weir__agent *agent, void (*call)(void *argument), void *argument)
{
    weir__thread *thread = agent->thread;
    weir__agents *agents = weir__agents_if_any(thread);
    weir__request request = {
        .kind = WEIR__REQUEST_CALL, .agent = agent, .call = call, .argument = argument
    };
    weir__store(&request.answer, WEIR__ANSWER_NONE, relaxed);
    if (on_its_thread(thread)) {
        call(argument);
        return WEIR_OK;
    }
    weir__mutex_lock(&agents->lock);
    const bool closed = agents->closed;
    if (!closed) {
        weir__agents_ask(agents, &request);
    }
    weir__mutex_unlock(&agents->lock);
    if (closed) {
        return WEIR_STOPPING;
    }
    weir__thread_wake(thread);
    return await(agents, &request) == WEIR__ANSWER_DONE ? WEIR_OK : WEIR_STOPPING;
}

void weir__agent_leave(weir__agent *agent)
{
    weir__thread *thread = agent->thread;
    weir__agents *agents = weir__agents_if_any(thread);
    weir__request request = { .kind = WEIR__REQUEST_LEAVE, .agent = agent };
    weir__store(&request.answer, WEIR__ANSWER_NONE, relaxed);
    const bool own = on_its_thread(thread);
    if (own && agents->walking) {
        /* Its list is being walked, maybe by way of this very agent. */
        agent->left = true;
        agents->some_left = true;
        return;
    }
    weir__mutex_lock(&agents->lock);
    const bool wait = agents->held && !own;
    if (wait) {
        weir__agents_ask(agents, &request);
    } else {
        weir__agents_forget(agents, agent);
    }
    weir__mutex_unlock(&agents->lock);
    if (wait) {
        weir__thread_wake(thread);
        (void)await(agents, &request);
    }
    weir__agent_free(agent);
}

void weir__agent_wake(weir__agent *agent)
{
    weir__thread *thread = agent->thread;
    /* [AG5] pairs with [AG6]. One that was woken and has not looked yet is on its way. */
    const uint32_t before = weir__or(&thread->hosting, WEIR__HOSTING_WOKEN, seq_cst);
    if ((before & (WEIR__HOSTING_RESTING | WEIR__HOSTING_WOKEN)) == WEIR__HOSTING_RESTING) {
        weir__thread_wake(thread);
    }
}

/* ---- descriptors ---- */

weir_status weir__agent_poll(weir__agent *agent, int fd, bool readable, bool writable)
{
    weir__thread *thread = agent->thread;
    uint32_t at = 0;
    while (at < agent->fd_count && agent->fds[at] != fd) {
        at++;
    }
    if (!readable && !writable) {
        if (at < agent->fd_count) {
            agent->fds[at] = agent->fds[--agent->fd_count];
            (void)weir__poller_watch(&thread->poller, fd, false, false);
        }
        return WEIR_OK;
    }
    if (at == WEIR__AGENT_FDS) {
        return WEIR_E_LIMIT;
    }
    if (weir__thread_need_poller(thread) != 0 ||
        weir__poller_watch(&thread->poller, fd, readable, writable) != 0) {
        return WEIR_E_SYSTEM;
    }
    if (at == agent->fd_count) {
        agent->fds[agent->fd_count++] = fd;
    }
    return WEIR_OK;
}
