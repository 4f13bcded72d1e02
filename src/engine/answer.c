/*
 * engine/answer.c - the other side of a question: whoever answers it, and the alarm that does so
 * when nobody has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/ask.h"
#include "engine/ask_watch.h"
#include "engine/dead_letter.h"
#include "engine/parcel.h"
#include "engine/ready.h"
#include "sync/tell.h"

/* Entries between two heavy barriers of the alarm. */
#ifdef WEIR_SIMULATED
#define AT_ONCE 2u
#else
#define AT_ONCE 128u
#endif

weir_status weir__ask_put(const weir__posting *by, weir__processor *asker, weir__lone *lone)
{
    weir__mailbox *mailbox = &asker->mailbox;
    uint64_t before;
    const weir__claim claim = weir__mailbox_claim_answer(mailbox, &before);
    if (weir__unlikely(claim == WEIR__CLAIM_CLOSED)) {
        return WEIR_STOPPING;
    }
    /* One that is evicted must not lie where it can be. */
    if (weir__likely(claim == WEIR__CLAIM_FIRST && !weir__mailbox_evicts(mailbox))) {
        weir__mailbox_put_first(mailbox, before, lone);
    } else {
        lone->ticket = weir__mailbox_ticket(before);
        weir__mailbox_put_beside(mailbox, lone);
    }
    if (claim == WEIR__CLAIM_FIRST) {
        weir__ready(by->context, asker);
    }
    return WEIR_OK;
}

void weir__ask_lone_put(weir__context *context, weir__lone *lone, weir_origin **ended)
{
    if (weir__unlikely(lone->ask >> 32 != 0) && weir__origin_let_go(lone->origin)) {
        weir__origin_put_aside(lone->origin, ended);
    }
    weir__lone_put(context, lone);
}

/* ---- an answer ---- */

/* Inside the mark. NULL: nobody waits for it, or somebody was faster. */
static weir__lone *take(weir__processor *asker, uint64_t number)
{
    weir__asks *asks = asker != NULL ? weir__asks_of(asker) : NULL;
    const uint32_t index = (uint32_t)number & ((1u << WEIR__ASK_ENTRY_BITS) - 1);
    /* [U4] pairs with [U3]: the row is there. */
    if (asks == NULL || index >= weir__load(&asks->capacity, acquire)) {
        return NULL;
    }
    weir__ask *ask = weir__ask_at(asks, index);
    return weir__ask_take(ask, number >> WEIR__ASK_ENTRY_BITS) ? ask->lone : NULL;
}

/* *spare: what is to be given back. */
static weir_status deliver(const weir__posting *by, weir_ticket to, const weir__parcel *parcel,
                           weir__lone **spare)
{
    weir__context *context = by->context;
    weir_status status = WEIR_STOPPING;
    *spare = NULL;
    weir__context_enter(context);
    if (weir__likely(weir__post_is_open(by))) {
        weir__processor *asker = weir__registry_find(&context->engine->registry, to.sender);
        weir__lone *lone = take(asker, to.ask);
        status = WEIR_UNKNOWN;
        if (weir__likely(lone != NULL)) {
            const uint32_t state = weir__parcel_put(by, parcel, &lone->envelope);
            weir__envelope_fill(&lone->envelope, state | WEIR__ENVELOPE_ALONE |
                                                     WEIR__ENVELOPE_ASKED |
                                                     (uint32_t)(lone->ask >> 32));
            status = weir__ask_put(by, asker, lone);
            *spare = status != WEIR_OK ? lone : NULL;
        }
    }
    weir__context_leave(context);
    return status;
}

weir_status weir__ask_answer(const weir__posting *by, weir_ticket to, const weir_event *event)
{
    weir__parcel parcel;
    weir__lone *spare;
    weir_origin *ended = NULL;
    weir__post_begin(by->context);
    weir_status status = weir__parcel_check(event);
    if (weir__likely(status == WEIR_OK)) {
        status = weir__parcel_pack(by, event, &parcel);
    }
    if (weir__likely(status == WEIR_OK)) {
        status = deliver(by, to, &parcel, &spare);
        if (weir__unlikely(status != WEIR_OK)) {
            weir__parcel_unpack(by, &parcel);
            if (spare != NULL) {
                weir__ask_lone_put(by->context, spare, &ended);
                weir__origins_end(ended);
            }
        }
    }
    if (weir__unlikely(status != WEIR_OK)) {
        if (status == WEIR_UNKNOWN) {
            weir__dead_letter(by->context, WEIR_DEAD_LATE, status, (weir_processor){ by->sender },
                              to.sender, event, "");
        }
        weir__post_count_refusal(by, status);
    }
    if (weir__tell_begin()) {
        weir__tell_end("answers: %s", weir_status_name(status));
    }
    return status;
}

/* ---- the alarm ---- */

/* Inside the mark. */
static void give_timeout(const weir__posting *by, weir__processor *asker, weir__lone *lone,
                         weir_origin **ended)
{
    weir__post_begin(by->context);
    const weir_status status = weir__ask_put(by, asker, lone);
    if (status != WEIR_OK) {
        weir__ask_lone_put(by->context, lone, ended);
        weir__post_count_refusal(by, status);
    }
}

/* Inside the mark, behind the barrier: one that was watched, and is not any more. */
static void look(const weir__posting *by, weir__processor *asker, uint32_t index, uint64_t late,
                 weir_origin **ended)
{
    weir__asks *asks = weir__asks_of(asker);
    weir__ask *ask = weir__ask_at(asks, index);
    for (;;) { /* ends: whoever is faster has answered it, and then its asker may ask anew */
        /* [U2] pairs with [U1]: its time. */
        const uint64_t word = weir__load(&ask->word, acquire);
        const uint64_t due = weir__load(&ask->due, relaxed);
        if ((word & WEIR__ASK_STATES) != WEIR__ASK_OPEN || due == WEIR__ASK_UNSENT) {
            return; /* it has come back; or its asker looks when it has sent it */
        }
        if (due > late) {
            weir__brief_lock(&asks->lock);
            (void)weir__ask_watch_by(asks, index, due); /* the alarm is in our hands */
            weir__brief_unlock(&asks->lock);
            return;
        }
        if (weir__ask_take(ask, word >> 2)) {
            give_timeout(by, asker, ask->lone, ended);
            return;
        }
    }
}

/* Those that are due, and when the next one is. */
static uint32_t take_due(weir__asks *asks, uint64_t late, bool closing, uint32_t *out,
                         weir_ns *next)
{
    uint32_t count = 0;
    weir__brief_lock(&asks->lock);
    asks->closed = asks->closed || closing;
    while (count < AT_ONCE && weir__ask_watch_take(asks, late, &out[count])) {
        count++;
    }
    if (count == 0) {
        asks->rings_at = weir__ask_watch_next(asks);
        *next = (weir_ns)asks->rings_at;
    }
    weir__brief_unlock(&asks->lock);
    return count;
}

weir_ns weir__asks_ring(weir__context *context, weir_processor asker, weir_ns now, bool closing)
{
    /* Owed, like what a handler sends: a stop takes it until nothing is in flight. */
    const weir__posting by = { .context = context, .in_handler = true };
    const uint64_t late = closing ? UINT64_MAX : (uint64_t)now;
    uint32_t due[AT_ONCE];
    uint32_t count;
    weir_ns next = 0;
    do {
        weir_origin *ended = NULL;
        count = 0;
        weir__context_enter(context);
        weir__processor *processor = weir__registry_find(&context->engine->registry, asker);
        weir__asks *asks = processor != NULL ? weir__asks_of(processor) : NULL;
        if (asks != NULL && weir__post_is_open(&by)) {
            count = take_due(asks, late, closing, due, &next);
        }
        if (count > 0) {
            /* Pairs with the light barrier of who asks: it sees that we have taken it out, or we
             * see that it has asked. */
            weir__barrier_heavy();
        }
        for (uint32_t i = 0; i < count; i++) {
            look(&by, processor, due[i], late, &ended);
        }
        weir__context_leave(context);
        weir__origins_end(ended);
    } while (count > 0);
    return next;
}
