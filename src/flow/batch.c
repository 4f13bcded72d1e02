/*
 * flow/batch.c - many submits in one call. While one is on its way, the lines of those that follow
 * are asked for: where flows are many, that is most of what they cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/turn.h"
#include "flow/submit.h"
#include "weir/flow.h"

#define GROUP 64u /* keys that are hashed at once */
#define AHEAD 8u
#define AHEAD_FLOW 4u

/* Inside a mark of its own: a router that is open keeps its tables until we have left. */
static void expect(const weir__posting *by, weir__router *router, const weir__flow_key *keys,
                   size_t at, size_t count)
{
    weir__context_enter(by->context);
    if (!weir__router_is_closed(router)) {
        if (at + AHEAD < count) {
            weir__table_expect(router, &keys[at + AHEAD]);
        }
        if (at + AHEAD_FLOW < count) {
            weir__table_expect_flow(router, &keys[at + AHEAD_FLOW]);
        }
    }
    weir__context_leave(by->context);
}

static size_t submit_group(weir__posting by, weir__router *router, const weir__flow_key *keys,
                           const weir_event *const *events, size_t count, weir_status *statuses)
{
    size_t accepted = 0;
    for (size_t i = 0; i < count; i++) {
        expect(&by, router, keys, i, count);
        const weir_status status = weir__submit(by, router, &keys[i], events[i]);
        accepted += status == WEIR_OK || status == WEIR_DROPPED ? 1 : 0;
        if (statuses != NULL) {
            statuses[i] = status;
        }
    }
    return accepted;
}

static size_t refuse_all(size_t count, weir_status *statuses, weir_status status)
{
    for (size_t i = 0; statuses != NULL && i < count; i++) {
        statuses[i] = status;
    }
    return 0;
}

/* What a batch of keys is: numbers, or bytes and their sizes. */
typedef struct batch {
    const uint64_t *flows;
    const void *const *keys;
    const size_t *sizes;
} batch;

/* False: it is no key. */
static bool read_key(const batch *b, size_t at, weir__flow_key *out)
{
    *out = (weir__flow_key){ .id = 0 };
    if (b->flows != NULL) {
        if (b->flows[at] != 0) {
            *out = weir__flow_key_number(b->flows[at]);
        }
        return true;
    }
    if (b->sizes[at] == 0) {
        return true;
    }
    if (b->keys[at] == NULL || b->sizes[at] > WEIR__FLOW_KEY_MAX) {
        return false;
    }
    *out = weir__flow_key_bytes(b->keys[at], b->sizes[at]);
    return true;
}

static size_t submit_batch(weir_engine *engine, weir_router handle, const batch *b,
                           const weir_event *const *events, size_t count, weir_status *statuses)
{
    weir__flow_key keys[GROUP];
    weir__posting by;
    size_t accepted = 0;
    if (!weir__post_outside(engine, &by)) {
        return refuse_all(count, statuses, weir__post_why_not(engine));
    }
    weir__router *router = weir__router_find(engine, handle);
    if (router == NULL || (router->options.keys == WEIR_FLOW_KEYS_BYTES) != (b->flows == NULL)) {
        return refuse_all(count, statuses, router == NULL ? WEIR_UNKNOWN : WEIR_E_INVALID);
    }
    for (size_t i = 0; i < count;) {
        size_t group = 0;
        while (group < GROUP && i + group < count && read_key(b, i + group, &keys[group])) {
            group++;
        }
        accepted += submit_group(by, router, keys, &events[i], group,
                                 statuses != NULL ? &statuses[i] : NULL);
        i += group;
        if (group < GROUP && i < count) { /* one that is no key */
            refuse_all(1, statuses != NULL ? &statuses[i] : NULL, WEIR_E_INVALID);
            i++;
        }
    }
    return accepted;
}

size_t weir_router_submit_batch(weir_engine *engine, weir_router router, const uint64_t *flows,
                                const weir_event *const *events, size_t count,
                                weir_status *statuses)
{
    if (flows == NULL || events == NULL) {
        return refuse_all(count, statuses, WEIR_E_INVALID);
    }
    return submit_batch(engine, router, &(batch){ .flows = flows }, events, count, statuses);
}

size_t weir_router_submit_batch_bytes(weir_engine *engine, weir_router router,
                                      const void *const *keys, const size_t *sizes,
                                      const weir_event *const *events, size_t count,
                                      weir_status *statuses)
{
    if (keys == NULL || sizes == NULL || events == NULL) {
        return refuse_all(count, statuses, WEIR_E_INVALID);
    }
    return submit_batch(engine, router, &(batch){ .keys = keys, .sizes = sizes }, events, count,
                        statuses);
}
