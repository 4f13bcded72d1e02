/*
 * flow/options.c - bounds and defaults of a router's options.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow/options.h"

#include <stdio.h>
#include <string.h>

#include "base/checker.h"
#include "base/error.h"
#include "engine/engine.h"
#include "flow/router.h"
#include "sync/thread.h"

#define INGRESS_USUAL 65536u
#define WORKER_USUAL 8192u
#define FLOWS_MOST 16000000u
#define PLACES_MOST 1000000u /* of a mailbox */

static void check_name(weir__checker *check, const char *name)
{
    char text[96];
    const size_t length = name != NULL ? strnlen(name, WEIR__ROUTER_NAME_SIZE) : 0;
    if (length == 0 || length == WEIR__ROUTER_NAME_SIZE) {
        snprintf(text, sizeof(text), "is \"%.20s\", must be 1 to %u bytes",
                 name != NULL ? name : "", WEIR__ROUTER_NAME_SIZE - 1);
        weir__check_refuse(check, "name", text);
    }
}

static void check_who(weir__checker *check, const weir_router_options *o)
{
    const int given = (o->handler != NULL) + (o->cases.rows != NULL) + (o->targets != NULL);
    if (given != 1) {
        weir__check_refuse(check, "handler",
                           given == 0 ? "is NULL, and so are cases and targets: one "
                                        "of the three must be given"
                                      : "cases and targets exclude each other");
    }
    if ((o->targets != NULL) != (o->target_count > 0) || o->target_count > WEIR__WORKERS_MAX) {
        char text[96];
        snprintf(text, sizeof(text), "is %u, must be 1 to %u with targets, else 0", o->target_count,
                 WEIR__WORKERS_MAX);
        weir__check_refuse(check, "target_count", text);
    }
    for (uint32_t i = 0; check->status == WEIR_OK && i < o->target_count; i++) {
        if (o->targets[i].id == 0) {
            weir__check_refuse(check, "targets", "has a handle that is zero");
        }
    }
    if (o->targets != NULL &&
        (o->state_size > 0 || o->init != NULL || o->destroy != NULL || o->workers != 0 ||
         o->worker_max != 0 || o->ingress_max != 0 || o->batch_max != 0 || o->own_threads ||
         o->overflow != WEIR_OVERFLOW_DEFAULT)) {
        weir__check_refuse(check, "targets",
                           "have states, mailboxes and threads of their own: state_size, init, "
                           "destroy, workers, worker_max, ingress_max, batch_max, overflow and "
                           "own_threads are not for them");
    }
}

static void check_threads(weir__checker *check, const weir_router_options *o)
{
    if (o->own_threads && o->dispatcher != NULL) {
        weir__check_refuse(check, "dispatcher",
                           "and own_threads are both set, must be one of them");
    }
    if (!o->own_threads && (o->idle != WEIR_IDLE_DEFAULT || o->core_count > 0)) {
        weir__check_refuse(check, "own_threads",
                           "is false: idle and cores are those of its own threads");
    }
    if ((o->cores != NULL) != (o->core_count > 0)) {
        weir__check_refuse(check, "cores", "must have core_count entries");
    }
    weir__check_choice(check, "idle", (int)o->idle, WEIR_IDLE_NOOP, "one of WEIR_IDLE_...");
}

weir_status weir__options_router(weir_engine *engine, const weir_router_options *in,
                                 weir_router_options *out, weir_error *error)
{
    const uint32_t cores = weir__cores_usable();
    weir__checker check = weir__check_begin("weir_router_options", out, sizeof(*out), in, error);
    if (check.status != WEIR_OK) {
        return check.status;
    }
    check_name(&check, out->name);
    weir__check_name(&check, "dispatcher", out->dispatcher);
    check_who(&check, out);
    check_threads(&check, out);
    if (out->state_size > WEIR__FLOW_STATE_MAX) {
        char text[96];
        snprintf(text, sizeof(text), "is %zu, must be at most %u (1 MiB): keep a pointer in it",
                 out->state_size, WEIR__FLOW_STATE_MAX);
        weir__check_refuse(&check, "state_size", text);
    }
    weir__check_number32(&check, "workers", &out->workers, 1, WEIR__WORKERS_MAX,
                         cores < WEIR__WORKERS_USUAL ? cores : WEIR__WORKERS_USUAL);
    weir__check_number32(&check, "ingress_max", &out->ingress_max, 1, PLACES_MOST - 1,
                         INGRESS_USUAL);
    weir__check_number32(&check, "worker_max", &out->worker_max, 1, PLACES_MOST, WORKER_USUAL);
    weir__check_number32(&check, "batch_max", &out->batch_max, 1, 65535, WEIR__ROUTER_BATCH_USUAL);
    weir__check_choice(&check, "overflow", (int)out->overflow, WEIR_OVERFLOW_BLOCK,
                       "one of WEIR_OVERFLOW_...");
    weir__check_span(&check, "block_max", &out->block_max, 1, WEIR_FOREVER,
                     engine->options.block_max);
    weir__check_number(&check, "flows_max", &out->flows_max, 1, FLOWS_MOST, 1000000);
    weir__check_span(&check, "idle_timeout", &out->idle_timeout, 1, WEIR_FOREVER,
                     WEIR__FLOW_IDLE_USUAL);
    weir__check_choice(&check, "keys", (int)out->keys, WEIR_FLOW_KEYS_BYTES,
                       "WEIR_FLOW_KEYS_U64 or WEIR_FLOW_KEYS_BYTES");
    weir__check_number32(&check, "latency_every", &out->latency_every, 1, UINT32_MAX, 16);
    if (out->overflow == WEIR_OVERFLOW_DEFAULT) {
        out->overflow = WEIR_OVERFLOW_BLOCK;
    }
    if (out->overflow == WEIR_OVERFLOW_BLOCK && out->worker_max + out->ingress_max > PLACES_MOST) {
        char text[96];
        snprintf(text, sizeof(text), "is %u and worker_max %u, must be at most 1,000,000 together",
                 out->ingress_max, out->worker_max);
        weir__check_refuse(&check, "ingress_max", text);
    }
    return check.status;
}
