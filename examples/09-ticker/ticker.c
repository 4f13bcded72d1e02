/*
 * ticker - publish and subscribe: two exchanges publish their prices on one channel. The tape and
 * the chart hear all of them, both in the very same order, although the exchanges run on two
 * threads; the sampler takes ten and leaves. Who publishes knows nobody of those.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <weir/weir.h>

enum { TICKS = 1000, BURST = 50, SAMPLES = 10, EXCHANGES = 2 };

typedef struct tick {
    int exchange, number;
} tick;
WEIR_EVENT_TYPE(tick, "ticker.tick");
WEIR_EMPTY_TYPE(go_on, "ticker.go-on");

struct exchange {
    weir_channel ticks;
    int number, published;
};

/* A burst a turn, then a word to itself: others shall have their turn, too. */
static weir_status publish(void *state, weir_turn *turn, const weir_event *event)
{
    struct exchange *self = state;
    (void)event;
    for (int i = 0; i < BURST; i++) {
        const weir_status status = weir_turn_broadcast(
            turn, self->ticks, WEIR_EVENT(tick, self->number, self->published++));
        if (status != WEIR_OK) {
            return status;
        }
    }
    return self->published < TICKS ? weir_turn_post(turn, weir_turn_self(turn), WEIR_EMPTY(go_on))
                                   : WEIR_OK;
}

struct listener {
    int heard, disorder;
    int next[EXCHANGES];
    tick all[EXCHANGES * TICKS];
};

static weir_status listen(void *state, weir_turn *turn, const weir_event *event)
{
    struct listener *self = state;
    const tick *t = event->data;
    (void)turn;
    self->disorder += t->number != self->next[t->exchange];
    self->next[t->exchange] = t->number + 1;
    self->all[self->heard++] = *t;
    return WEIR_OK;
}

struct sampler {
    weir_channel ticks;
    int taken;
};

/* What is in the mailbox by the time it leaves still comes. */
static weir_status sample(void *state, weir_turn *turn, const weir_event *event)
{
    struct sampler *self = state;
    (void)event;
    self->taken += self->taken < SAMPLES;
    return self->taken < SAMPLES ? WEIR_OK
                                 : weir_channel_unsubscribe(weir_turn_engine(turn), self->ticks,
                                                            weir_turn_self(turn));
}

int main(void)
{
    static struct listener tape, chart;
    struct sampler sampler = { .taken = 0 };
    struct exchange exchanges[EXCHANGES];
    weir_processor publishers[EXCHANGES];
    weir_delivery bell = { 0, 0 };
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(WEIR_ENGINE(.threads = 2), &error);
    const weir_channel ticks = weir_channel_open(engine, "ticks", &error);
    const weir_channel closing = weir_channel_open(engine, "closing-bell", &error);

    sampler.ticks = ticks;
    const weir_processor listeners[] = {
        weir_processor_add(engine, WEIR_PROCESSOR(.handler = listen, .argument = &tape), &error),
        weir_processor_add(engine, WEIR_PROCESSOR(.handler = listen, .argument = &chart), &error),
        weir_processor_add(engine, WEIR_PROCESSOR(.handler = sample, .argument = &sampler), &error),
    };
    for (int i = 0; i < 3; i++) {
        (void)weir_channel_subscribe(engine, ticks, listeners[i]);
    }
    for (int i = 0; i < EXCHANGES; i++) {
        exchanges[i] = (struct exchange){ .ticks = ticks, .number = i };
        publishers[i] = weir_processor_add(
            engine, WEIR_PROCESSOR(.handler = publish, .argument = &exchanges[i]), &error);
    }
    weir_engine_start(engine, &error);
    for (int i = 0; i < EXCHANGES && error.status == WEIR_OK; i++) {
        error.status = weir_engine_post(engine, publishers[i], WEIR_EMPTY(go_on));
    }
    if (error.status == WEIR_OK) { /* from outside the counts are the answer */
        error.status = weir_engine_broadcast(engine, closing, WEIR_EMPTY(go_on), &bell);
    }
    weir_engine_destroy(engine); /* stops, and a stop drains */

    int same = 0;
    for (int i = 0; i < tape.heard && i < chart.heard; i++) {
        same += tape.all[i].exchange == chart.all[i].exchange &&
                tape.all[i].number == chart.all[i].number;
    }
    printf("the tape heard %d ticks, %d out of order\n", tape.heard, tape.disorder);
    printf("the chart heard %d ticks, %d of them where the tape has them\n", chart.heard, same);
    printf("the sampler took %d and left\n", sampler.taken);
    printf("the closing bell was heard by %d\n", (int)bell.delivered);
    return weir_error_print(&error);
}
