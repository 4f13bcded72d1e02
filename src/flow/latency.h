/*
 * flow/latency.h - how long a router's handlers take.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FLOW_LATENCY_H
#define WEIR_FLOW_LATENCY_H

#include "flow/router.h"

/* Control. Adds what workers [first, first + count) have measured since the last reset. */
void weir__router_latency(weir__router *router, uint32_t first, uint32_t count,
                          weir__histogram_sum *sum);

/* Nobody uses it any more. */
void weir__router_latency_free(weir__router *router);

#endif /* WEIR_FLOW_LATENCY_H */
