/*
 * flow/submit.h - from a key and an event to the mailbox of a worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FLOW_SUBMIT_H
#define WEIR_FLOW_SUBMIT_H

#include "engine/post.h"
#include "flow/router.h"

/* All of it, counted. key->id 0: without a flow. */
weir_status weir__submit(const weir__posting *by, weir_router to, const weir__flow_key *key,
                         const weir_event *event);

#endif /* WEIR_FLOW_SUBMIT_H */
