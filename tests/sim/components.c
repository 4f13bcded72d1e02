/*
 * components.c - components against everything at once: posts, additions, removals, stops that come
 * while they start. Hooks come in their order, once each; nothing of a component runs beside
 * anything else of it, nor before its start or after its stop; what was accepted is handled, and
 * what was handled is flushed before the end (S-71).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "scenario.h"

enum { PARTS = 3 };

/* What became of one component: written by its own code only, wherever that runs. */
typedef struct part {
    uint32_t step; /* 1 initialised, 2 started, 3 complete, 4 stopped, 5 torn down; then anew */
    uint32_t handled, flushed, rounds;
    bool inside;
} part;

static part parts[PARTS];
static const char *const names[PARTS] = { "sink", "service", "late" };
static bool short_of_memory;

static part *enter(weir_component *self, uint32_t least, uint32_t most)
{
    part *p = NULL;
    for (uint32_t i = 0; i < PARTS; i++) {
        p = strcmp(names[i], weir_component_name(self)) == 0 ? &parts[i] : p;
    }
    weir_sim_writes(p, sizeof(*p)); /* a race, if something else of it runs */
    weir_sim_check(!p->inside, "%s runs twice at once", names[p - parts]);
    weir_sim_check(p->step >= least && p->step <= most, "%s is at step %u", names[p - parts],
                   p->step);
    p->inside = true;
    weir_sim_step();
    return p;
}

static void leave(part *p, uint32_t step)
{
    weir_sim_writes(p, sizeof(*p));
    p->inside = false;
    p->step = step;
}

static weir_status init(void *state, weir_component *self, const void *config, weir_error *error)
{
    (void)state;
    (void)config;
    (void)error;
    part *p = enter(self, 0, 5);
    weir_sim_check(p->step == 0 || p->step == 5, "%s is initialised twice", names[p - parts]);
    leave(p, 1);
    return WEIR_OK;
}

static weir_status start(void *state, weir_component *self, weir_error *error)
{
    (void)state;
    (void)error;
    leave(enter(self, 1, 1), 2);
    return WEIR_OK;
}

static weir_status complete(void *state, weir_component *self, weir_error *error)
{
    (void)state;
    (void)error;
    leave(enter(self, 2, 2), 3);
    return WEIR_OK;
}

static int32_t work(void *state, weir_component *self, weir_ns *next)
{
    (void)state;
    part *p = enter(self, 3, 3);
    *next = WEIR_FOREVER;
    p->rounds++;
    leave(p, 3);
    return 0;
}

static void stop(void *state, weir_component *self)
{
    (void)state;
    part *p = enter(self, 2, 3);
    weir_sim_check(p->handled == p->flushed || short_of_memory, "%s stops with %u not flushed",
                   names[p - parts], p->handled - p->flushed);
    leave(p, 4);
}

static void tear_down(void *state, weir_component *self)
{
    (void)state;
    part *p = enter(self, 1, 4);
    weir_sim_check(p->step == 1 || p->step == 4, "%s is torn down at step %u", names[p - parts],
                   p->step);
    leave(p, 5);
}

static weir_status handle(void *state, weir_turn *turn, const weir_event *event)
{
    weir_component *self = *(weir_component **)state;
    (void)turn;
    (void)event;
    part *p = enter(self, 3, 3);
    p->handled++;
    leave(p, 3);
    return WEIR_OK;
}

static weir_status flush(void *state, weir_component *self)
{
    (void)state;
    part *p = enter(self, 3, 3);
    p->flushed = p->handled;
    leave(p, 3);
    return WEIR_OK;
}

static weir_status init_sink(void *state, weir_component *self, const void *config,
                             weir_error *error)
{
    *(weir_component **)state = self;
    return init(state, self, config, error);
}

static const weir_component_type sink_type = {
    .struct_size = sizeof(sink_type),
    .kind = WEIR_KIND_SINK,
    .name = "sink",
    .state_size = sizeof(weir_component *),
    .init = init_sink,
    .start = start,
    .start_complete = complete,
    .do_work = work,
    .stop = stop,
    .tear_down = tear_down,
    .handler = handle,
    .flush = flush,
};
static const weir_component_type service_type = {
    .struct_size = sizeof(service_type),
    .kind = WEIR_KIND_SERVICE,
    .name = "service",
    .init = init,
    .start = start,
    .start_complete = complete,
    .do_work = work,
    .stop = stop,
    .tear_down = tear_down,
};

static weir_processor sink;
static uint32_t accepted;

static void add(const weir_component_type *type, const char *name, weir_processor *address)
{
    const weir_status status =
        weir_component_add(stage.engine, type, WEIR_COMPONENT(.name = name), address, NULL);
    weir_sim_check(status == WEIR_OK || status == WEIR_E_INVALID ||
                       (status == WEIR_E_NOMEM && short_of_memory),
                   "%s is not added: %s", name, weir_status_name(status));
}

static void set_up(void)
{
    memset(parts, 0, sizeof(parts));
    accepted = 0;
    short_of_memory = stage_is_short();
    weir_sim_quiet(true);
    stage.error = (weir_error)WEIR_ERROR_INIT;
    stage.engine = weir_engine_create(WEIR_ENGINE(.processors_max = 16, .timers_max = 16,
                                                  .mailbox_max = 8, .log_level = WEIR_LOG_OFF),
                                      &stage.error);
    stage_threads(2);
    add(&sink_type, "sink", &sink);
    add(&service_type, "service", NULL);
    weir_sim_check(stage.error.status == WEIR_OK, "no set-up: %s", stage.error.text);
}

static void begin(void)
{
    weir_status status;
    do {
        status = weir_components_start(stage.engine, NULL);
    } while (short_of_memory && status == WEIR_E_NOMEM);
    weir_sim_check(status == WEIR_OK || (short_of_memory && status == WEIR_STOPPING),
                   "no start: %s", weir_status_name(status));
    weir_sim_quiet(false);
}

static void post_two(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        const weir_status status =
            weir_engine_post(stage.engine, sink, &(const weir_event){ .type = &stage_answer_type });
        accepted += status == WEIR_OK ? 1 : 0; /* one thread posts */
    }
}

static void end(void)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    const weir_status status = weir_components_stop(stage.engine, WEIR_FOREVER, &report);
    weir_sim_check(status == WEIR_OK || status == WEIR_ALREADY || short_of_memory,
                   "the stop answers %s", weir_status_name(status));
    weir_sim_quiet(true);
    weir_engine_destroy(stage.engine);
    for (uint32_t i = 0; i < PARTS; i++) {
        weir_sim_check(parts[i].step == 0 || parts[i].step == 5, "%s ends at step %u", names[i],
                       parts[i].step);
    }
    weir_sim_check(report.left == 0 || short_of_memory, "%u were left", (unsigned)report.left);
}

SCENARIO(component_stop, "components stop while somebody posts to a sink")
{
    set_up();
    begin();
    const int other = weir_sim_thread_start(post_two, NULL);
    weir_sim_work(weir_sim_choose(3) * WEIR_US);
    (void)weir_components_stop(stage.engine, WEIR_FOREVER, NULL);
    weir_sim_thread_join(other);
    end();
    weir_sim_check(parts[0].handled == accepted || short_of_memory, "%u of %u were handled",
                   parts[0].handled, accepted);
}

static void add_late(void *unused)
{
    (void)unused;
    add(&service_type, "late", NULL);
}

SCENARIO(component_late, "a component is added while all of them stop")
{
    set_up();
    begin();
    const int other = weir_sim_thread_start(add_late, NULL);
    (void)weir_components_stop(stage.engine, WEIR_FOREVER, NULL);
    weir_sim_thread_join(other);
    end();
}

static void remove_sink(void *unused)
{
    (void)unused;
    const weir_status status = weir_component_remove(stage.engine, "sink", WEIR_FOREVER, NULL);
    weir_sim_check(status == WEIR_OK || status == WEIR_STOPPING || status == WEIR_E_INVALID ||
                       short_of_memory,
                   "the removal answers %s", weir_status_name(status));
}

SCENARIO(component_remove, "a sink is removed while somebody posts to it and another is added")
{
    set_up();
    begin();
    const int poster = weir_sim_thread_start(post_two, NULL);
    const int adder = weir_sim_thread_start(add_late, NULL);
    remove_sink(NULL);
    weir_sim_thread_join(poster);
    weir_sim_thread_join(adder);
    end();
    weir_sim_check(parts[0].handled == accepted || short_of_memory, "%u of %u were handled",
                   parts[0].handled, accepted);
}

static void restart_sink(void *unused)
{
    (void)unused;
    const weir_status status =
        weir_component_restart(stage.engine, "sink", NULL, WEIR_FOREVER, NULL);
    weir_sim_check(status == WEIR_OK || status == WEIR_E_INVALID || status == WEIR_TIMEOUT ||
                       short_of_memory,
                   "the restart answers %s", weir_status_name(status));
}

SCENARIO(component_restart, "a sink begins anew while somebody posts to it")
{
    set_up();
    begin();
    const int poster = weir_sim_thread_start(post_two, NULL);
    restart_sink(NULL);
    weir_sim_thread_join(poster);
    end();
    weir_sim_check(parts[0].handled == accepted || short_of_memory, "%u of %u were handled",
                   parts[0].handled, accepted);
}

SCENARIO(component_restart_stop, "a sink begins anew while somebody posts and all of them stop")
{
    set_up();
    begin();
    const int poster = weir_sim_thread_start(post_two, NULL);
    const int other = weir_sim_thread_start(restart_sink, NULL);
    weir_sim_work(weir_sim_choose(4) * 10 * WEIR_US);
    (void)weir_components_stop(stage.engine, WEIR_FOREVER, NULL);
    weir_sim_thread_join(poster);
    weir_sim_thread_join(other);
    end();
    weir_sim_check(parts[0].handled == accepted || short_of_memory, "%u of %u were handled",
                   parts[0].handled, accepted);
}

static void stop_early(void *unused)
{
    (void)unused;
    weir_sim_work(weir_sim_choose(4) * 10 * WEIR_US);
    (void)weir_components_stop(stage.engine, WEIR_FOREVER, NULL);
}

SCENARIO(component_start_stop, "a stop comes while components start")
{
    set_up();
    weir_sim_quiet(false);
    const int other = weir_sim_thread_start(stop_early, NULL);
    const weir_status status = weir_components_start(stage.engine, NULL);
    weir_sim_check(status == WEIR_OK || status == WEIR_STOPPING || short_of_memory,
                   "the start answers %s", weir_status_name(status));
    weir_sim_thread_join(other);
    end();
}

SCENARIO(component_hurry, "a stop without time while an event is handled")
{
    set_up();
    begin();
    const int other = weir_sim_thread_start(post_two, NULL);
    (void)weir_components_stop(stage.engine, WEIR_NOW, NULL);
    weir_sim_thread_join(other);
    weir_sim_quiet(true);
    weir_engine_destroy(stage.engine);
    for (uint32_t i = 0; i < PARTS; i++) {
        weir_sim_check(parts[i].step == 0 || parts[i].step == 5, "%s ends at step %u", names[i],
                       parts[i].step);
    }
}
