/*
 * engine/crash.c - the crash report's words. All but the last three functions run in a signal
 * handler, on the thread that crashed: see sync/crash.h.
 *
 * What is read. The trail, the thread, the engine and the processor at hand cannot be gone: this
 * thread is in the middle of using them. Other processors are found by handle, inside the thread's
 * mark, as by a post; so they are there too, or shown by number. Types outlive the engine. If any
 * of that is broken, because memory is, the part that meets it ends there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/crash.h"

#include "base/line.h"
#include "engine/agents.h"
#include "engine/engine.h"
#include "engine/processor.h"
#include "engine/trail.h"
#include "sync/crash.h"

#define NAME_WHOLE 255u /* names are no longer */
#define NAME_SHORT 32u  /* in a column */
#define TYPE_SHORT 48u

static weir__line line; /* one thread reports at a time, and its stack is small */
static bool entered;    /* the mark was set for the report */

static void write_line(void)
{
    weir__line_end(&line);
    weir__crash_write(line.text, line.length);
    line.length = 0;
}

/* ---- pieces ---- */

/* orders, or #7.1, or "#7.1 (gone)". */
static void put_processor(const weir__trail *trail, uint64_t id, size_t most)
{
    weir__registry *registry = &trail->engine->registry;
    const bool other = (id & WEIR__HANDLE_TAG) != (uint64_t)registry->engine_tag
                                                      << WEIR__HANDLE_INDEX_BITS;
    const weir__processor *processor =
        other ? NULL : weir__registry_find(registry, (weir_processor){ id });
    const weir__processor_cold *cold =
        processor != NULL ? weir__processor_cold_of(processor) : NULL;
    if (cold != NULL && cold->name != NULL) {
        weir__line_name(&line, cold->name, most);
        return;
    }
    weir__line_text(&line, "#");
    weir__line_number(&line, WEIR__HANDLE_INDEX(id));
    weir__line_text(&line, ".");
    weir__line_number(&line, id >> 32);
    weir__line_text(&line, other ? " (another engine's)" : processor == NULL ? " (gone)" : "");
}

static void put_quoted(const char *name)
{
    weir__line_text(&line, "\"");
    weir__line_name(&line, name, NAME_WHOLE);
    weir__line_text(&line, "\"");
}

/* NULL: an init or a destroy. */
static const weir_event_type *type_of(const weir__step *step)
{
    return weir__load(&((weir__step *)(uintptr_t)step)->type, relaxed);
}

/* shop.order (40 bytes), or init. */
static void put_event(const weir__step *step, size_t most)
{
    const weir_event_type *type = type_of(step);
    if (type == NULL) {
        weir__line_text(&line, weir__cell_read(&step->size) == WEIR__HOOK_INIT ? "init"
                               : weir__cell_read(&step->size) == WEIR__HOOK_DESTROY
                                   ? "destroy"
                                   : "a timer's hook");
        return;
    }
    weir__line_name(&line, type->name != NULL ? type->name : "(no name)", most);
    weir__line_text(&line, " (");
    weir__line_number(&line, weir__cell_read(&step->size));
    weir__line_text(&line, weir__cell_read(&step->size) == 1 ? " byte)" : " bytes)");
}

static void put_sender(const weir__trail *trail, const weir__step *step, size_t most)
{
    if (weir__cell_read(&step->sender) == 0) {
        weir__line_text(&line, "from outside");
    } else {
        weir__line_text(&line, "from ");
        put_processor(trail, weir__cell_read(&step->sender), most);
    }
}

/* ---- parts ---- */

static void put_signal(const weir__crash *crash)
{
    weir__line_text(&line, "weir: ");
    weir__line_text(&line, crash->signal);
    if (crash->has_address) {
        weir__line_text(&line, crash->stack_overflow ? " (stack overflow, address " : " (address ");
        weir__line_hex(&line, crash->address);
        weir__line_text(&line, ")");
    }
}

/* Of its agents, not of its events. */
static bool is_of_agents(const weir__trail *trail)
{
    return trail->thread != NULL && trail != &trail->thread->trail;
}

/* The one whose code runs cannot be gone, unless it has left in a call of its own. */
static void put_agent(const weir__trail *trail, uint64_t id)
{
    const weir__agent *agent = weir__agents_if_any(trail->thread)->current;
    weir__line_text(&line, " of agent ");
    if (agent != NULL) {
        put_quoted(agent->name);
    } else {
        weir__line_text(&line, "#");
        weir__line_number(&line, id);
        weir__line_text(&line, " (gone)");
    }
}

static void write_guilty(const weir__crash *crash, const weir__trail *trail)
{
    static const char *const hooks[] = { "handler", "unhandled hook",    "init", "destroy", "hook",
                                         "do_work", "call on the thread" };
    put_signal(crash);
    if (!weir__trail_runs(trail)) {
        weir__line_text(&line, " on a thread of weir's, outside handlers");
        write_line();
        return;
    }
    const weir__step *step = weir__trail_back(trail, 0);
    weir__line_text(&line, " in the ");
    weir__line_text(&line, hooks[weir__trail_hook_at(weir__cell_read(&trail->at))]);
    const uint64_t processor = weir__cell_read(&step->processor);
    if (is_of_agents(trail)) {
        put_agent(trail, processor);
        write_line();
        return;
    }
    const bool timer = type_of(step) == NULL && weir__cell_read(&step->size) == WEIR__HOOK_TIMER;
    weir__line_text(&line, timer ? " of a timer" : " of");
    if (processor != 0) {
        weir__line_text(&line, timer ? " for processor \"" : " processor \"");
        put_processor(trail, processor, NAME_WHOLE);
        weir__line_text(&line, "\"");
    }
    write_line();
    if (type_of(step) != NULL) {
        weir__line_text(&line, "  event ");
        put_event(step, NAME_WHOLE);
        weir__line_text(&line, ", ");
        put_sender(trail, step, NAME_WHOLE);
        write_line();
    }
}

static void write_where(const weir__crash *crash, const weir__trail *trail)
{
    weir__line_text(&line, "  engine ");
    put_quoted(trail->engine->name);
    weir__line_text(&line, ", thread ");
    if (trail->thread != NULL || trail->name != NULL) {
        put_quoted(trail->thread != NULL ? trail->thread->name : trail->name);
    } else {
        weir__line_text(&line, "of the application");
    }
    weir__line_text(&line, " (");
    weir__line_number(&line, (uint64_t)crash->thread);
    weir__line_text(&line, ")");
    write_line();
}

/* The columns of the list of events: where the event stands, and where its sender. */
typedef struct columns {
    size_t event, sender;
} columns;

static columns measure(const weir__trail *trail, uint64_t shown)
{
    columns at = { 0 };
    size_t event = 0;
    for (uint64_t back = 0; back < shown; back++) {
        const weir__step *step = weir__trail_back(trail, back);
        line.length = 0;
        put_processor(trail, weir__cell_read(&step->processor), NAME_SHORT);
        at.event = line.length > at.event ? line.length : at.event;
        line.length = 0;
        put_event(step, TYPE_SHORT);
        event = line.length > event ? line.length : event;
    }
    line.length = 0;
    at.event += 10; /* "    32  ", and two spaces behind the name */
    at.sender = at.event + event + 2;
    return at;
}

static void write_events(const weir__trail *trail)
{
    const uint64_t count = weir__trail_count(trail) - trail->before;
    const uint64_t shown = count < WEIR__TRAIL_STEPS ? count : WEIR__TRAIL_STEPS;
    if (shown == 0) {
        return;
    }
    const columns at = measure(trail, shown);
    weir__line_text(&line, "  last events of this thread, newest first:");
    write_line();
    for (uint64_t back = 0; back < shown; back++) {
        const weir__step *step = weir__trail_back(trail, back);
        weir__line_text(&line, back + 1 < 10 ? "     " : "    ");
        weir__line_number(&line, back + 1);
        weir__line_text(&line, "  ");
        put_processor(trail, weir__cell_read(&step->processor), NAME_SHORT);
        weir__line_column(&line, at.event);
        put_event(step, TYPE_SHORT);
        if (type_of(step) != NULL) {
            weir__line_column(&line, at.sender);
            put_sender(trail, step, NAME_SHORT);
        }
        write_line();
    }
}

/* ---- the writer ---- */

/* From here on no slot that a handle leads to is freed. A thread that crashed inside a call has its
 * mark set already. */
static void enter(const weir__trail *trail)
{
    entered = false;
    if (trail->thread != NULL && weir__load(&trail->thread->context.inside, relaxed) % 2 == 0) {
        weir__context_enter(&trail->thread->context);
        entered = true;
    }
}

static void leave(const weir__trail *trail)
{
    if (entered) {
        weir__context_leave(&trail->thread->context);
    }
}

static bool write_part(const weir__crash *crash, uint32_t part)
{
    const weir__trail *trail = weir__context_trail();
    if (trail == NULL || !weir__crash_reports(trail->engine)) {
        return false;
    }
    line.length = 0; /* what a part that crashed has left */
    switch (part) {
    case 0:
        enter(trail);
        write_guilty(crash, trail);
        return true;
    case 1:
        write_where(crash, trail);
        return true;
    case 2:
        write_events(is_of_agents(trail) ? &trail->thread->trail : trail);
        return true;
    default:
        leave(trail);
        return false;
    }
}

/* ---- outside signal handlers ---- */

bool weir__crash_reports(const weir_engine *engine)
{
    return engine->options.crash_report != WEIR_CRASH_REPORT_OFF;
}

void weir__crash_report_begin(const weir_engine *engine)
{
    if (weir__crash_reports(engine)) {
        weir__crash_open(write_part);
    }
}

void weir__crash_report_end(const weir_engine *engine)
{
    if (weir__crash_reports(engine)) {
        weir__crash_close();
    }
}
