/*
 * sync/sim/scale.c - clocks of threads, the costs of what they do, and who is next.
 *
 * All threads that can go on, but the current one, are in a heap by their clocks; sleepers with a
 * deadline, too. An operation of the sync room first lets everybody go on whose clock is earlier
 * (settle), then asks for its line; if that takes a while, it settles again before it is done. So
 * the values that threads see are those of the order in time. Plain accesses only cost: they are
 * ordered by the operations around them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync/sim/scale.h"

#include <stdlib.h>
#include <string.h>

#include "sync/sim/core.h"
#include "sync/sim/lines.h"

#define LINE_BYTES ((uintptr_t)64)
#define PS 1000
#define OUT UINT32_MAX /* of the heap */
/* A core keeps what it got for a third of a transfer: with that two cores that fight for a counter
 * increase it as often as on real machines. */
#define HOLD_PART 3

_Static_assert(WEIR__LINES_CORES_MAX >= WEIR__SIM_THREADS_MAX, "a core for each thread");

/* The costs in picoseconds. */
#define COST_FIELD(name, value, about) weir__ps name;
typedef struct cost {
    WEIR__SCALE_COSTS(COST_FIELD)
} cost;

typedef struct core {
    weir__ps clock;
    weir__ps drained; /* all stores so far have left */
    uint32_t place;   /* in the heap */
} core;

static cost costs;
static weir__lines_costs line_costs;
static core cores[WEIR__SIM_THREADS_MAX];
static uint32_t heap[WEIR__SIM_THREADS_MAX];
static uint32_t heap_count;

static weir__ps latest(weir__ps a, weir__ps b)
{
    return a > b ? a : b;
}

/* ---- the heap ---- */

static bool is_before(uint32_t a, uint32_t b)
{
    return cores[a].clock != cores[b].clock ? cores[a].clock < cores[b].clock : a < b;
}

static void place(uint32_t at, uint32_t index)
{
    heap[at] = index;
    cores[index].place = at;
}

static void sift_up(uint32_t at, uint32_t index)
{
    while (at > 0) {
        const uint32_t parent = (at - 1) / 2;
        if (!is_before(index, heap[parent])) {
            break;
        }
        place(at, heap[parent]);
        at = parent;
    }
    place(at, index);
}

static void sift_down(uint32_t at, uint32_t index)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= heap_count) {
            break;
        }
        child += child + 1 < heap_count && is_before(heap[child + 1], heap[child]);
        if (!is_before(heap[child], index)) {
            break;
        }
        place(at, heap[child]);
        at = child;
    }
    place(at, index);
}

static void put(uint32_t index)
{
    sift_up(heap_count++, index);
}

static void take_out(uint32_t index)
{
    const uint32_t at = cores[index].place;
    if (at == OUT) {
        return;
    }
    const uint32_t last = heap[--heap_count];
    cores[index].place = OUT;
    if (last != index) {
        sift_up(at, last);
        sift_down(cores[last].place, last);
    }
}

/* A thread that leaves the heap goes on. If it sleeps, that was its deadline. */
static weir__sim_thread *rise(uint32_t index)
{
    weir__sim_thread *thread = &weir__sim.threads[index];
    if (thread->state == WEIR__SIM_WAITING) {
        thread->state = WEIR__SIM_RUNNABLE;
        thread->timed_out = true;
    }
    return thread;
}

/* ---- who is next ---- */

static core *own(void)
{
    return &cores[weir__sim.current->index];
}

/* Everybody whose clock is earlier goes on first. */
static void settle(void)
{
    const uint32_t self = weir__sim.current->index;
    if (heap_count > 0 && is_before(heap[0], self)) {
        const uint32_t next = heap[0];
        cores[next].place = OUT;
        sift_down(0, self);
        weir__sim_go_to(rise(next));
    }
}

weir__sim_thread *weir__scale_next(void)
{
    const weir__sim_thread *self = weir__sim.current;
    if (self->state == WEIR__SIM_WAITING && self->deadline != WEIR_FOREVER) {
        own()->clock = (weir__ps)self->deadline * PS + costs.late + costs.slack;
        put(self->index);
    } else if (self->state == WEIR__SIM_RUNNABLE) {
        put(self->index);
    }
    if (heap_count == 0) {
        return NULL;
    }
    const uint32_t next = heap[0];
    take_out(next);
    return rise(next);
}

void weir__scale_woken(weir__sim_thread *thread)
{
    core *c = &cores[thread->index];
    take_out(thread->index);
    if (weir__sim.current == NULL) { /* the body's thread, at the beginning of a run */
        *c = (core){ .clock = (weir__ps)weir__sim.now * PS, .place = OUT };
        return;
    }
    const weir__ps now = own()->clock;
    own()->clock = now + costs.wake;
    c->clock = now + costs.latency;
    c->drained = 0;
    put(thread->index);
}

void weir__scale_pass(weir__scale_span span)
{
    const weir__ps spans[] = { [WEIR__SCALE_CLOCK] = costs.clock,
                               [WEIR__SCALE_PAUSE] = costs.pause,
                               [WEIR__SCALE_YIELD] = costs.yield,
                               [WEIR__SCALE_CALL] = costs.call };
    if (weir__sim.current != NULL && !weir__sim.checking) {
        own()->clock += spans[span];
        settle();
    }
}

void weir__scale_work(weir_ns span)
{
    own()->clock += (weir__ps)span * PS;
}

weir_ns weir__scale_now(void)
{
    return weir__sim.current != NULL ? (weir_ns)(own()->clock / PS) : weir__sim.now;
}

/* ---- what things cost ---- */

static weir__ps get_line(core *self, uintptr_t address, bool write, bool plain,
                         const weir__sim_site *site)
{
    return weir__lines_get(&(weir__lines_ask){ .core = weir__sim.current->index,
                                               .address = address,
                                               .write = write,
                                               .plain = plain,
                                               .at = self->clock,
                                               .visible = write ? self->drained : 0,
                                               .site = site });
}

static void load(core *self, uintptr_t address, const weir__sim_site *site)
{
    const weir__ps got = get_line(self, address, false, false, site);
    if (got > self->clock) {
        self->clock = got;
        settle();
    }
    self->clock += costs.access;
}

static void store(core *self, uintptr_t address, bool plain, const weir__sim_site *site)
{
    const weir__ps got = get_line(self, address, true, plain, site);
    self->drained = latest(self->drained, got);
    self->clock += costs.access;
}

static void lock(core *self, uintptr_t address, const weir__sim_site *site)
{
    self->clock = latest(self->clock, self->drained);
    const weir__ps got = get_line(self, address, true, false, site);
    if (got > self->clock) {
        self->clock = got;
        settle();
    }
    self->clock += costs.locked;
}

void weir__scale_touch(const void *atom, weir__scale_use use, const weir__sim_site *site)
{
    if (weir__sim.current == NULL || weir__sim.checking) {
        return;
    }
    core *self = own();
    settle();
    switch (use) {
    case WEIR__SCALE_LOAD:
        load(self, (uintptr_t)atom, site);
        break;
    case WEIR__SCALE_STORE:
        store(self, (uintptr_t)atom, false, site);
        break;
    case WEIR__SCALE_ADD:
        load(self, (uintptr_t)atom, site);
        store(self, (uintptr_t)atom, false, site);
        break;
    case WEIR__SCALE_LOCK:
        lock(self, (uintptr_t)atom, site);
        break;
    case WEIR__SCALE_FENCE:
    default:
        self->clock = latest(self->clock, self->drained) + costs.locked;
        break;
    }
}

void weir__scale_access(uintptr_t address, size_t size, bool write)
{
    const weir__sim_thread *thread = weir__sim.current;
    if (thread == NULL || weir__sim.checking || size == 0) {
        return;
    }
    core *self = own();
    if (address - (uintptr_t)weir__sim_stacks < WEIR__SIM_STACKS_BYTES) {
        self->clock += costs.access; /* its own */
        return;
    }
    const uintptr_t end = address + size;
    for (uintptr_t at = address; at < end; at = (at | (LINE_BYTES - 1)) + 1) {
        if (write) {
            store(self, at, true, thread->site);
        } else {
            self->clock = get_line(self, at, false, true, thread->site) + costs.access;
        }
    }
}

/* ---- runs ---- */

void weir__scale_defaults(weir__scale_costs *machine)
{
#define DEFAULT(name, value, about) .name = (value),
    *machine = (weir__scale_costs){ WEIR__SCALE_COSTS(DEFAULT).read_takes = true };
#undef DEFAULT
}

weir_status weir__scale_run(const weir__scale_costs *machine, void (*body)(void *), void *argument,
                            weir_sim_result *result)
{
#define TO_PS(name, value, about) .name = (weir__ps)(machine->name * PS + 0.5),
    costs = (cost){ WEIR__SCALE_COSTS(TO_PS) };
#undef TO_PS
    line_costs = (weir__lines_costs){ .transfer = costs.transfer,
                                      .hold = costs.transfer / HOLD_PART,
                                      .read_takes = machine->read_takes };
    weir__lines_reset(&line_costs);
    heap_count = 0;
    for (uint32_t i = 0; i < WEIR__SIM_THREADS_MAX; i++) {
        cores[i].place = OUT;
    }
    weir__sim.timed = true;
    const weir_status status =
        weir_sim_explore(WEIR_SIM(.runs = 1, .faults = WEIR_SIM_NO_FAULTS, .steps_max = UINT64_MAX,
                                  .cores = WEIR__SIM_THREADS_MAX, .name = "scale"),
                         body, argument, result);
    weir__sim.timed = false;
    return status;
}

/* ---- what was waited for ---- */

void weir__scale_watch(bool on)
{
    weir__lines_watch(on);
}

/* "&dispatcher->intake" without what stands for its address. */
static const char *atom_of(const weir__sim_site *site)
{
    return site == NULL ? "nothing" : site->text + (site->text[0] == '&');
}

static int compare(const void *a, const void *b)
{
    const weir__scale_line *x = a;
    const weir__scale_line *y = b;
    const double first = x->moved_ns + x->queued_ns;
    const double second = y->moved_ns + y->queued_ns;
    return first != second ? (first < second) - (first > second) : strcmp(x->site, y->site);
}

size_t weir__scale_lines(weir__scale_line *out, size_t count)
{
    static weir__scale_line all[512];
    size_t used = 0;
    const weir__lines_cause *cause;
    for (size_t i = 0; (cause = weir__lines_causes(i)) != NULL; i++) {
        weir__scale_line row = { .transfers = cause->transfers,
                                 .moved_ns = (double)cause->moved / PS,
                                 .queued_ns = (double)cause->queued / PS };
        char site[96];
        snprintf(row.line, sizeof(row.line), "%s%s", cause->plain_line ? "near " : "",
                 atom_of(cause->line));
        weir__sim_site_text(cause->site, site, sizeof(site));
        snprintf(row.site, sizeof(row.site), "%s%s", cause->plain ? "after " : "", site);
        size_t k = 0;
        while (k < used &&
               (strcmp(all[k].line, row.line) != 0 || strcmp(all[k].site, row.site) != 0)) {
            k++;
        }
        if (k == used && used == sizeof(all) / sizeof(all[0])) {
            continue;
        }
        if (k == used) {
            all[used++] = row;
        } else {
            all[k].transfers += row.transfers;
            all[k].moved_ns += row.moved_ns;
            all[k].queued_ns += row.queued_ns;
        }
    }
    qsort(all, used, sizeof(all[0]), compare);
    used = used < count ? used : count;
    memcpy(out, all, used * sizeof(all[0]));
    return used;
}
