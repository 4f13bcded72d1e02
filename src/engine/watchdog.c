/*
 * engine/watchdog.c - a look at every trail, again and again while anybody is up.
 *
 * What is stuck. `at` of a trail is different for every run of a handler or hook. One that is the
 * same at two looks has been running all the time between them: so long, at least, as the clock has
 * moved from after the first look to before the last one. Nothing is reported that ran for less
 * than stuck_after. Looks are so close to each other that a report comes within twice that.
 *
 * What is read. Writers of a trail order nothing: they write once an event. So a report is made
 * between two heavy barriers. Behind the first, a run that is over is seen to be over, and of one
 * that is not, all that was written before it. Had anything of a later step been read, the second
 * would show that `at` has moved on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/watchdog.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine/agents.h"
#include "sync/stack.h"
#include "sync/word.h"

#define LOOKS 4                      /* in the time that is allowed */
#define LOOK_AT_LEAST (50 * WEIR_MS) /* the last one after work is not to come late (P-9) */
#define STACK_WAIT (100 * WEIR_MS)

typedef struct weir__watchdog {
    weir_engine *engine;
    weir__os_thread os;
    weir__stack stack; /* of the report at hand */
    char stack_text[1024];
} weir__watchdog;

/* Something to say about one of them; a copy, since it may be gone when it is said. */
typedef struct finding {
    const weir__watched *about; /* only to be compared ... */
    uint64_t at;                /* ... with this, too */
    bool returned;              /* it is over; else it is still running */
    weir__doing doing;
    char who[WEIR__WATCHED_NAME]; /* empty: to be looked up */
    char thread[WEIR__WATCHED_NAME];
    int32_t system_id;
    weir_ns ran; /* for so long, at least */
    uint32_t reports;
    uint64_t suppressed; /* that were only counted, before this one */
} finding;

static weir_ns later(weir_ns time, weir_ns span)
{
    return span > WEIR_FOREVER - time ? WEIR_FOREVER : time + span;
}

/* ---- a look ---- */

static bool is_stuck(weir__watched *watched)
{
    weir__trail *trail = watched->trail;
    const uint64_t seen = watched->seen;
    weir__barrier_heavy();
    if (weir__cell_read(&trail->at) != seen) {
        return false;
    }
    weir__step *step = weir__trail_step_at(trail, seen);
    const weir__doing doing = { .processor = weir__cell_read(&step->processor),
                                .type = weir__load(&step->type, relaxed),
                                .hook = weir__trail_hook_at(seen) };
    weir__barrier_heavy();
    if (weir__cell_read(&trail->at) != seen) {
        return false;
    }
    watched->doing = doing;
    return true;
}

static void fill(finding *found, weir__watched *watched, weir_ns now)
{
    const char *name = watched->name != NULL ? watched->name : "the application's";
    found->about = watched;
    found->at = watched->seen;
    found->doing = watched->doing;
    memcpy(found->who, watched->who, sizeof(found->who));
    found->ran = now - watched->since;
    found->reports = watched->reports;
    found->system_id = (int32_t)weir__load(&watched->system_id, relaxed);
    found->suppressed = 0;
    snprintf(found->thread, sizeof(found->thread), "%s", name);
}

/* It has been running for too long, once more. True: it is to be said. */
static bool note_report(weir_engine *engine, weir__watched *watched, weir_ns now, finding *found)
{
    const bool first = watched->reports++ == 0;
    watched->interval = later(watched->interval, watched->interval);
    watched->due = later(now, watched->interval);
    fill(found, watched, now);
    found->returned = false;
    if (first) {
        weir__cell_add(&engine->stuck, 1);
    }
    if (!watched->told && now >= watched->silent_until) {
        watched->told = true;
        watched->silent_until = later(now, WEIR_S);
        found->suppressed = watched->unsaid;
        watched->unsaid = 0;
    } else if (!watched->told) {
        watched->unsaid += first ? 1 : 0;
    }
    return watched->told;
}

/* Something else is running there now, or nothing. True: that is to be said of the one before. */
static bool note_change(const weir_engine *engine, weir__watched *watched, uint64_t at, weir_ns now,
                        finding *found)
{
    const bool told = watched->told;
    fill(found, watched, now);
    found->returned = true;
    watched->seen = at;
    watched->since = weir__clock_now(); /* after the trail: it had begun before */
    watched->interval = engine->options.stuck_after;
    watched->due =
        weir__trail_runs_at(at) ? later(watched->since, watched->interval) : WEIR_FOREVER;
    watched->reports = 0;
    watched->told = false;
    watched->who[0] = '\0';
    return told;
}

/* `now` was read before the trail: what runs is running at that time. True: there is something to
 * say. */
static bool look_at(weir_engine *engine, weir__watched *watched, weir_ns now, finding *found)
{
    const uint64_t at = weir__cell_read(&watched->trail->at);
    if (at != watched->seen) {
        return note_change(engine, watched, at, now, found);
    }
    return now >= watched->due && is_stuck(watched) && note_report(engine, watched, now, found);
}

/* The first of them about which there is something to say at this time. *next: when to look again
 * at the latest. */
static bool look(weir_engine *engine, weir_ns now, finding *found, weir_ns *next)
{
    bool any = false;
    *next = WEIR_FOREVER;
    weir__mutex_lock(&engine->watch_lock);
    for (weir__watched *w = engine->watched; w != NULL && !any; w = w->next) {
        any = look_at(engine, w, now, found);
        *next = w->due < *next ? w->due : *next;
    }
    weir__mutex_unlock(&engine->watch_lock);
    return any;
}

/* What has to be seen to the end: somebody is up, or is still thought to be stuck. */
static bool anybody_up(weir_engine *engine)
{
    bool up = false;
    weir__mutex_lock(&engine->watch_lock);
    for (weir__watched *w = engine->watched; w != NULL && !up; w = w->next) {
        up = weir__load(&w->up, relaxed) != 0 || w->told;
    }
    weir__mutex_unlock(&engine->watch_lock);
    return up;
}

/* ---- a report ---- */

/* "72 ms", "5.2 s". */
static void span_text(weir_ns span, char *out, size_t size)
{
    if (span < WEIR_S) {
        snprintf(out, size, "%lld ms", (long long)(span / WEIR_MS));
    } else {
        snprintf(out, size, "%lld.%lld s", (long long)(span / WEIR_S),
                 (long long)(span % WEIR_S / (100 * WEIR_MS)));
    }
}

/* "libc.so.6(clock_nanosleep+0x65) < shop(on_order+0x1a) < ...", innermost first. False: there is
 * none. */
static bool take_stack(weir__watchdog *dog, int32_t system_id)
{
    char *text = dog->stack_text;
    size_t used = 0;
    if (weir__load(&dog->engine->stacks, relaxed) == 0 || system_id == 0 ||
        !weir__stack_take(system_id, STACK_WAIT, &dog->stack)) {
        return false;
    }
    for (uint32_t i = 0; i < dog->stack.count; i++) {
        char frame[256];
        weir__stack_frame_text(dog->stack.frames[i], frame, sizeof(frame));
        const int length = snprintf(text + used, sizeof(dog->stack_text) - used, "%s%s",
                                    i > 0 ? " < " : "", frame);
        used += length > 0 ? (size_t)length : 0;
        if (used >= sizeof(dog->stack_text)) {
            break; /* cut: the innermost are there */
        }
    }
    return true;
}

static bool is_agent(const finding *found)
{
    return found->doing.hook == WEIR__HOOK_DO_WORK || found->doing.hook == WEIR__HOOK_CALL;
}

/* When it has returned, its processor may be gone: the name is kept until then. */
static void name_processor(weir_engine *engine, finding *found)
{
    const weir_processor processor = { found->doing.processor };
    if (found->who[0] != '\0') {
        return;
    }
    if (processor.id == 0) {
        return; /* a timer without an event */
    }
    if (is_agent(found)) {
        if (!weir__agent_name(engine, processor.id, found->who, sizeof(found->who))) {
            snprintf(found->who, sizeof(found->who), "#%llu", (unsigned long long)processor.id);
        }
    } else if (weir_processor_name(engine, processor, found->who, sizeof(found->who)) == 0) {
        weir__handle_text(processor, found->who, sizeof(found->who));
    }
    weir__mutex_lock(&engine->watch_lock);
    for (weir__watched *w = engine->watched; w != NULL; w = w->next) {
        if (w == found->about && w->seen == found->at) {
            memcpy(w->who, found->who, sizeof(w->who));
        }
    }
    weir__mutex_unlock(&engine->watch_lock);
}

static void say(weir__watchdog *dog, finding *found)
{
    static const char *const running[] = { "its handler has not returned",
                                           "its unhandled hook has not returned",
                                           "its init has not returned",
                                           "its destroy has not returned",
                                           "the hook of a timer has not returned",
                                           "its do_work has not returned",
                                           "a call on its thread has not returned" };
    static const char *const returned[] = { "its handler has returned after all",
                                            "its unhandled hook has returned after all",
                                            "its init has returned after all",
                                            "its destroy has returned after all",
                                            "the hook of a timer has returned after all",
                                            "its do_work has returned after all",
                                            "a call on its thread has returned after all" };
    weir_engine *engine = dog->engine;
    char component[WEIR__WATCHED_NAME + 16];
    char ran[32];
    char reports[16];
    weir_log_field fields[5];
    size_t count = 0;
    if (!weir__log_on(&engine->log, WEIR_LOG_WARNING)) {
        return;
    }
    name_processor(engine, found);
    snprintf(component, sizeof(component), "%s%s",
             is_agent(found)               ? "agent "
             : found->doing.processor != 0 ? "processor "
                                           : "timer",
             found->who);
    span_text(found->ran, ran, sizeof(ran));
    snprintf(reports, sizeof(reports), "%u", found->reports);
    if (found->doing.type != NULL) {
        const char *type = found->doing.type->name;
        fields[count++] = (weir_log_field){ "type", type != NULL ? type : "(no name)" };
    }
    fields[count++] = (weir_log_field){ "thread", found->thread };
    fields[count++] = (weir_log_field){ "for", ran };
    fields[count++] = (weir_log_field){ found->returned ? "reports" : "report", reports };
    if (!found->returned && take_stack(dog, found->system_id)) {
        fields[count++] = (weir_log_field){ "stack", dog->stack_text };
    }
    weir__log_gate gate = { 0 }; /* open; and the entry says how many were left out */
    weir__store(&gate.suppressed, found->suppressed, relaxed);
    weir__log_say(&engine->log, &gate, WEIR_LOG_WARNING, WEIR_OK, component,
                  (found->returned ? returned : running)[found->doing.hook], fields, count);
}

/* All of them; returns until when to sleep. */
static weir_ns look_at_all(weir__watchdog *dog)
{
    weir_engine *engine = dog->engine;
    const weir_ns every = engine->options.stuck_after / LOOKS;
    const weir_ns now = weir__clock_now();
    weir_ns next;
    finding found = { 0 };
    /* Ends: there is one thing to say of each at one time, and of those who come nothing yet. */
    while (look(engine, now, &found, &next)) {
        say(dog, &found);
    }
    const weir_ns tick = later(now, every < LOOK_AT_LEAST ? every : LOOK_AT_LEAST);
    return next < tick ? next : tick;
}

/* ---- the thread ---- */

/* False: it is to quit. */
static bool sleep_until_needed(weir_engine *engine)
{
    uint32_t state = WEIR__WATCHDOG_AWAKE;
    if (!weir__cas(&engine->watching, &state, WEIR__WATCHDOG_ASLEEP, seq_cst, seq_cst)) {
        return false;
    }
    weir__barrier_heavy();
    if (anybody_up(engine)) {
        weir__watchdog_wake(engine);
    }
    /* Ends with a wake-up; the word says whether it was one. */
    while ((state = weir__load(&engine->watching, acquire)) == WEIR__WATCHDOG_ASLEEP) {
        weir__word_wait(&engine->watching, WEIR__WATCHDOG_ASLEEP, WEIR_FOREVER);
    }
    return state != WEIR__WATCHDOG_QUIT;
}

static void watch(void *argument)
{
    weir__watchdog *dog = argument;
    weir_engine *engine = dog->engine;
    weir__helper_begin(engine, &engine->watchdog_helper, &engine->helper_plan, "watchdog");
    while (sleep_until_needed(engine)) {
        do { /* whoever goes to sleep and gets up all the time does not wake it every time */
            const weir_ns next = look_at_all(dog);
            weir__word_wait(&engine->watching, WEIR__WATCHDOG_AWAKE, next - weir__clock_now());
        } while (weir__load(&engine->watching, acquire) != WEIR__WATCHDOG_QUIT &&
                 anybody_up(engine));
    }
    (void)look_at_all(dog); /* who has returned meanwhile */
    weir__helper_end(&engine->watchdog_helper);
}

void weir__watchdog_wake(weir_engine *engine)
{
    uint32_t asleep = WEIR__WATCHDOG_ASLEEP;
    if (weir__cas(&engine->watching, &asleep, WEIR__WATCHDOG_AWAKE, seq_cst, relaxed)) {
        weir__word_wake(&engine->watching, 1);
    }
}

weir_status weir__watchdog_start(weir_engine *engine, weir_error *error)
{
    if (engine->watchdog != NULL || engine->options.stuck_after == WEIR_FOREVER) {
        return WEIR_OK;
    }
    weir__watchdog *dog = weir__allocate(&engine->allocator, sizeof(*dog));
    if (dog == NULL) {
        return weir__error_memory(error, "watchdog");
    }
    dog->engine = engine;
    weir__store(&engine->stacks, weir__stack_prepare() ? 1 : 0, relaxed);
    weir__store(&engine->watching, WEIR__WATCHDOG_AWAKE, seq_cst);
    const int failure = weir__os_thread_start(&dog->os, watch, dog);
    if (failure != 0) {
        weir__release(&engine->allocator, dog, sizeof(*dog));
        return weir__error_system(error, failure, "watchdog", "its thread could not be started");
    }
    engine->watchdog = dog;
    return WEIR_OK;
}

static void end(weir_engine *engine, weir__watchdog *dog)
{
    if (dog == NULL) {
        return;
    }
    weir__store(&engine->watching, WEIR__WATCHDOG_QUIT, seq_cst);
    weir__word_wake(&engine->watching, 1);
    weir__os_thread_join(&dog->os);
    weir__release(&engine->allocator, dog, sizeof(*dog));
}

void weir__watchdog_undo(weir_engine *engine)
{
    weir__watchdog *dog = engine->watchdog;
    engine->watchdog = NULL;
    end(engine, dog);
}

void weir__watchdog_close(weir_engine *engine)
{
    weir__mutex_lock(&engine->registry.lock);
    weir__watchdog *dog = engine->watchdog;
    engine->watchdog = NULL;
    weir__mutex_unlock(&engine->registry.lock);
    end(engine, dog);
}

/* ---- who is watched ---- */

void weir__watchdog_add(weir_engine *engine, weir__watched *watched)
{
    watched->trail->watched = engine->options.stuck_after != WEIR_FOREVER;
    weir__mutex_lock(&engine->watch_lock);
    watched->seen = weir__cell_read(&watched->trail->at);
    watched->due = WEIR_FOREVER;
    watched->next = engine->watched;
    engine->watched = watched;
    weir__mutex_unlock(&engine->watch_lock);
}

void weir__watchdog_remove(weir_engine *engine, weir__watched *watched)
{
    weir__mutex_lock(&engine->watch_lock);
    for (weir__watched **at = &engine->watched; *at != NULL; at = &(*at)->next) {
        if (*at == watched) {
            *at = watched->next;
            break;
        }
    }
    weir__mutex_unlock(&engine->watch_lock);
}

void weir__watchdog_rename(weir_engine *engine, weir__watched *watched, const char *name)
{
    weir__mutex_lock(&engine->watch_lock);
    watched->name = name;
    weir__mutex_unlock(&engine->watch_lock);
}
