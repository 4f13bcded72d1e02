/*
 * troupe_check.c - whether all has come to rest, and what must hold at the end.
 *
 * Not instrumented, like troupe.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync/sim/core.h"
#include "troupe_books.h"

#define KEPT_BYTES 64u /* what weir keeps for the body's own thread, until that ends */

/* ---- rest ---- */

static bool may_be_missing(const entry *e)
{
    const books *b = &of[e->to];
    return (e->kind == DOWN && (e->withdrawn || !of[e->about].ended)) || e->kind == COPY ||
           !e->told || e->status != WEIR_OK || b->ended ||
           (e->kind == ANSWER && e->then && e->life != b->life);
}

static bool is_at_rest(void)
{
    for (uint32_t i = 0; i < scene.line_count; i++) {
        if (!may_be_missing(&lines[i]) && !lines[i].at[lines[i].to].done) {
            return false;
        }
    }
    for (uint32_t i = 0; i < scene.player_count; i++) {
        if (of[i].stopped && !of[i].ended) {
            return false;
        }
    }
    return true;
}

void troupe_settle(void)
{
    scene.settling = true;
    while (!is_at_rest()) {
        weir__sim_sleep_on(&scene.settling, WEIR_FOREVER);
    }
    scene.settling = false;
}

/* ---- the end ---- */

/* Nothing took its mail away. */
static bool ended_well(const books *b)
{
    return !b->failed && !b->frozen;
}

static void check_line(uint32_t number)
{
    const entry *e = &lines[number];
    if (!e->told || e->status != WEIR_OK || e->withdrawn) {
        return;
    }
    if (e->kind == COPY) {
        uint64_t came = 0;
        bool well = true;
        for (uint32_t i = 0; i < scene.player_count; i++) {
            came += e->at[i].done;
            well = well && ended_well(&of[i]);
        }
        weir_sim_check(came == e->delivered || (!well && came < e->delivered),
                       "line %u: %llu copies, %llu came", number, (unsigned long long)e->delivered,
                       (unsigned long long)came);
        return;
    }
    const books *b = &of[e->to];
    /* A stop of the engine makes the next try the last one. */
    const bool done = e->at[e->to].done || e->at[e->to].again;
    if (e->kind == DOWN) {
        /* Who is stopped does not hear of it, and who has a parent may be, at any moment. */
        const bool heard = of[e->about].failed && !b->stopped && b->parent == NOBODY;
        weir_sim_check(done || !heard || !ended_well(b), "line %u: %u does not hear that %u ended",
                       number, e->to, e->about);
        return;
    }
    const bool forgotten = e->kind == ANSWER && e->then && e->life != b->life;
    const bool owed =
        e->kind != TRIGGER || !scene.stopping; /* a stop cancels timers, and all refuse */
    weir_sim_check(done || !ended_well(b) || forgotten || !owed || b->stopped,
                   "line %u (kind %d) to %u was accepted, and is lost", number, (int)e->kind,
                   e->to);
}

static uint32_t place_of(const books *b, uint32_t number)
{
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->heard[i] == number) {
            return i;
        }
    }
    return NOBODY;
}

static void check_order(uint32_t one, uint32_t other)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < of[one].count; i++) {
        const uint32_t at = place_of(&of[other], of[one].heard[i]);
        if (at == NOBODY) {
            continue;
        }
        weir_sim_check(at >= last, "P-2: players %u and %u do not hear %u in one order", one, other,
                       of[one].heard[i]);
        last = at;
    }
}

static void check_sums(const weir_counters *c)
{
    weir_sim_check(c->accepted == c->handled + c->dropped + c->dead + c->left, "P-3: the sums");
    if (scene.cut) {
        return;
    }
    const uint64_t letters = c->letters - c->letters_unknown - c->letters_refused - c->letters_late;
    weir_sim_check(c->left > 0 || c->handled == scene.handled,
                   "P-3: %llu scene.handled, and players saw %llu", (unsigned long long)c->handled,
                   (unsigned long long)scene.handled);
    weir_sim_check(c->left > 0 || letters == c->dead, "%llu dead, %llu letters about them",
                   (unsigned long long)c->dead, (unsigned long long)letters);
    weir_sim_check(c->left > 0 || c->dead_failed >= scene.finally_failed,
                   "%llu failed, players saw %llu", (unsigned long long)c->dead_failed,
                   (unsigned long long)scene.finally_failed);
}

void troupe_end(weir_ns timeout)
{
    scene.stopping = true;
    const weir_status status = weir_engine_stop(stage.engine, timeout, NULL);
    scene.cut = status == WEIR_TIMEOUT;
    weir_sim_check(status == WEIR_OK || (scene.cut && timeout != WEIR_FOREVER),
                   "the stop answers %s", weir_status_name(status));
}

void troupe_compare(void)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    weir_sim_quiet(true);
    weir_engine_counters(stage.engine, &c);
    weir_engine_destroy(stage.engine);
    for (uint32_t i = 0; i < scene.player_count; i++) {
        weir_sim_check(!of[i].lives, "P-8: player %u was never destroyed", i);
        for (uint32_t j = 0; j < scene.player_count; j++) {
            check_order(i, j);
        }
    }
    for (uint32_t i = 0; i < scene.line_count && !scene.cut && !stage_is_short(); i++) {
        check_line(i);
    }
    check_sums(&c);
    const size_t lost = weir__sim_memory_live();
    weir_sim_check(lost <= KEPT_BYTES, "%zu bytes were never given back", lost);
}

void troupe_close(weir_ns timeout)
{
    troupe_end(timeout);
    troupe_compare();
}

void troupe_close_while(weir_ns timeout, int thread)
{
    troupe_end(timeout);
    weir_sim_thread_join(thread);
    troupe_compare();
}
