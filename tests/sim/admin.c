/*
 * admin.c - a command that runs in a turn of a processor: against the end of its caller's patience,
 * of its processor, and of the command itself (S-80).
 *
 * The engine is the scenario's own: what comes to the processor here is no event of the history's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <string.h>

#define SOON (20 * WEIR_US)

static weir_engine *engine;
static weir_processor book;
static weir_ns takes; /* an event of the book */
/* Plain on purpose: the turn writes them, and who was answered reads them. */
static uint32_t calls, inside;
static uint32_t alive; /* what the handler's owner takes away after the removal */

WEIR_EMPTY_TYPE(page, "sim.page");

static weir_status on_page(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    weir_sim_work(takes);
    return WEIR_OK;
}

static weir_status on_call(void *context, weir_admin_call *call)
{
    (void)context;
    weir_sim_check(alive == 1, "it is called although it was removed");
    inside++;
    weir_sim_work(WEIR_US);
    weir_admin_unsigned(call, "calls", ++calls);
    inside--;
    return WEIR_OK;
}

static void set_up(bool in_turn)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_sim_quiet(true);
    calls = inside = 0;
    alive = 1;
    takes = WEIR_US;
    engine = weir_engine_create(
        WEIR_ENGINE(.processors_max = 16, .mailbox_max = 8, .log_level = WEIR_LOG_OFF), &error);
    weir_thread_add(engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK), &error);
    book = weir_processor_add(engine, WEIR_PROCESSOR(.name = "book", .handler = on_page), &error);
    weir_admin_add(engine,
                   WEIR_ADMIN(.name = "reset", .help = "h", .handler = on_call,
                              .runs_in = in_turn ? book : (weir_processor){ 0 }),
                   &error);
    weir_engine_start(engine, &error);
    weir_sim_check(error.status == WEIR_OK || stage_is_short(), "no engine: %s", error.text);
    weir_sim_quiet(false);
}

static weir_status run(weir_ns timeout, bool *not_run)
{
    char *answer = NULL;
    const weir_status status =
        weir_admin_run(engine, WEIR_NAMES("reset"), 1, true, timeout, &answer);
    *not_run = answer != NULL && strstr(answer, "it was not run") != NULL;
    weir_admin_free(engine, answer);
    return status;
}

static void close_engine(void)
{
    weir_sim_quiet(true);
    weir_engine_destroy(engine);
}

SCENARIO(admin_turn, "a command in a turn of a processor: its answer is there when it is told")
{
    bool not_run;
    set_up(true);
    for (uint32_t i = 1; i <= 2; i++) {
        const weir_status status = run(WEIR_FOREVER, &not_run);
        weir_sim_check(status == WEIR_OK || stage_is_short(), "it answers %d", status);
        weir_sim_check(status != WEIR_OK || (calls >= 1 && inside == 0), "it was not called");
    }
    close_engine();
}

SCENARIO(admin_give_up, "a turn that comes when the caller's time is just over")
{
    bool not_run;
    set_up(true);
    takes = SOON - 2 * WEIR_US + (weir_ns)weir_sim_choose(3) * 2 * WEIR_US;
    const weir_status posted = weir_engine_post(engine, book, WEIR_EMPTY(page));
    const weir_status status = run(SOON, &not_run);
    weir_sim_check(status == WEIR_OK || status == WEIR_TIMEOUT || stage_is_short(), "it answers %d",
                   status);
    weir_sim_check(posted == WEIR_OK || stage_is_short(), "the page was refused: %d", posted);
    weir_engine_stop(engine, WEIR_FOREVER, NULL);
    weir_sim_check(!not_run || calls == 0, "it was run, and the caller was told that it is not");
    weir_sim_check(status != WEIR_OK || calls == 1, "it was called %u times", calls);
    close_engine();
}

static void stop_the_book(void *unused)
{
    (void)unused;
    (void)weir_processor_stop(engine, book, weir_sim_choose(2) == 0 ? WEIR_US : WEIR_FOREVER, NULL);
}

SCENARIO(admin_against_stop, "its processor is stopped: the caller hears of it in any case")
{
    bool not_run;
    set_up(true);
    takes = SOON;
    const weir_status posted = weir_engine_post(engine, book, WEIR_EMPTY(page));
    weir_sim_check(posted == WEIR_OK || stage_is_short(), "the page was refused: %d", posted);
    const int other = weir_sim_thread_start(stop_the_book, NULL);
    const weir_status status = run(WEIR_FOREVER, &not_run);
    weir_sim_thread_join(other);
    weir_engine_stop(engine, WEIR_FOREVER, NULL);
    /* Without memory the answer of one that has run may be lost. */
    weir_sim_check(calls == (status == WEIR_OK ? 1u : 0u) || status == WEIR_E_NOMEM,
                   "%u calls, and it answers %d", calls, status);
    close_engine();
}

static void remove_it(void *unused)
{
    (void)unused;
    if (weir_admin_remove(engine, "reset") == WEIR_OK) {
        weir_sim_check(inside == 0, "removed while it runs");
        alive = 0;
    }
}

static void play_removal(bool in_turn)
{
    bool not_run;
    set_up(in_turn);
    const int other = weir_sim_thread_start(remove_it, NULL);
    const weir_status status = run(in_turn ? SOON : 0, &not_run);
    weir_sim_check(status == WEIR_OK || status == WEIR_UNKNOWN ||
                       (in_turn && status == WEIR_TIMEOUT) || stage_is_short(),
                   "it answers %d", status);
    weir_sim_thread_join(other);
    weir_engine_stop(engine, WEIR_FOREVER, NULL);
    close_engine();
}

SCENARIO(admin_remove, "a command is removed while it is called: the call is over first")
{
    play_removal(false);
}

SCENARIO(admin_remove_in_turn, "the same, and it runs in a turn of a processor")
{
    play_removal(true);
}
