/*
 * dead_letters_heard.c - letters are broadcast while two threads make them, the subscriber fails on
 * each of them and posts to the gone, and the engine stops: all that was delivered is handled, and
 * it comes to an end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include "sync/sim/core.h"

#define KEPT_BYTES 64u /* what weir keeps for the body's own thread, until that ends */

enum { EACH = 2 };

static weir_processor gone, fails, subscriber;
static uint64_t heard; /* plain: in turns of the subscriber only */
static uint64_t last;

static weir_status post_to(weir_processor to)
{
    return weir_engine_post(stage.engine, to,
                            &(weir_event){ .type = &stage_message_type,
                                           .data = &(const stage_message){ 1, 2 },
                                           .size = sizeof(stage_message) });
}

static weir_status hear(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    const weir_dead_letter *letter = weir_event_as(event, &weir_dead_letter_type);
    weir_sim_check(letter != NULL && letter->type == &stage_message_type, "that is no letter");
    weir_sim_reads(event->data, event->size);
    weir_sim_writes(&heard, sizeof(heard));
    heard++;
    last = letter->number > last ? letter->number : last;
    (void)post_to(gone);
    return WEIR_E_USER;
}

static weir_status fail(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)event;
    return weir_turn_fail(turn, WEIR_E_USER, "no");
}

static weir_processor add(weir_handler handler)
{
    return weir_processor_add(stage.engine, WEIR_PROCESSOR(.handler = handler), &stage.error);
}

static void make_letters(void *unused)
{
    (void)unused;
    for (int i = 0; i < EACH; i++) {
        (void)post_to(gone);
        (void)post_to(fails);
    }
}

static void end(void)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    weir_counters c = WEIR_COUNTERS_INIT;
    weir_engine_stop(stage.engine, WEIR_FOREVER, &report);
    weir_sim_quiet(true);
    weir_engine_counters(stage.engine, &c);
    weir_sim_check(c.delivered == heard, "%llu letters delivered, %llu heard",
                   (unsigned long long)c.delivered, (unsigned long long)heard);
    weir_sim_check(report.accepted == report.handled + report.dead && report.left == 0,
                   "the sums do not hold");
    weir_sim_check(c.dead_failed == c.dead, "what is dead has failed");
    weir_sim_check(last <= c.letters, "a letter that nobody wrote");
    weir_engine_destroy(stage.engine);
    const size_t lost = weir__sim_memory_live();
    weir_sim_check(lost <= KEPT_BYTES, "%zu bytes were never given back", lost);
}

static void set_up(void)
{
    heard = 0;
    last = 0;
    stage_open(NULL);
    stage_threads(2);
    gone = add(hear);
    fails = add(fail);
    subscriber = add(hear);
    const weir_channel channel =
        weir_channel_open(stage.engine, WEIR_CHANNEL_DEAD_LETTERS, &stage.error);
    (void)weir_channel_subscribe(stage.engine, channel, subscriber);
    stage_start();
    weir_status stopped;
    do {
        stopped = weir_processor_stop(stage.engine, gone, WEIR_FOREVER, NULL);
    } while (stage_is_short() && (stopped == WEIR_E_NOMEM || stopped == WEIR_E_SYSTEM));
}

SCENARIO(dead_letters_heard, "a subscriber of dead letters brings about more of them")
{
    set_up();
    const int other = weir_sim_thread_start(make_letters, NULL);
    make_letters(NULL);
    weir_sim_thread_join(other);
    end();
}

static void stop_subscriber(void *unused)
{
    (void)unused;
    (void)weir_processor_stop(stage.engine, subscriber, WEIR_FOREVER, NULL);
}

SCENARIO(dead_letters_unheard, "a subscriber of dead letters ends while they are written")
{
    set_up();
    const int other = weir_sim_thread_start(stop_subscriber, NULL);
    make_letters(NULL);
    weir_sim_thread_join(other);
    end();
}
