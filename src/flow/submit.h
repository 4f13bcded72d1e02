/*
 * flow/submit.h - from a key and an event to the mailbox of a worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FLOW_SUBMIT_H
#define WEIR_FLOW_SUBMIT_H

#include "engine/post.h"
#include "flow/router.h"

/* All of it, counted. key->id 0: without a flow. `router` NULL: there is none of that handle. */
weir_status weir__submit(weir__posting by, weir__router *router, const weir__flow_key *key,
                         const weir_event *event);

#endif /* WEIR_FLOW_SUBMIT_H */
