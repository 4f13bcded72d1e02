/*
 * flow/tune.h - a router from outside: what it consists of, and what of it may change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FLOW_TUNE_H
#define WEIR_FLOW_TUNE_H

#include "weir/weir.h"

typedef struct weir__router weir__router;

/* NULL: no such name, or stopped. It lives as long as its engine. */
weir__router *weir__router_named(weir_engine *engine, const char *name);

/* The processors that it is made of, one by one: the caretaker, then the workers (targets are not
 * its own). False: there is no such `i`. */
bool weir__router_part(const weir__router *router, uint32_t i, weir_processor *out);
uint32_t weir__router_part_count(const weir__router *router);
bool weir__router_has_own_threads(const weir__router *router);
/* The name of worker `i`, as a processor. */
void weir__router_worker_name(const char *router, uint32_t i, char *out, size_t size);

/* Control. False: no memory. After it the next does not fail, on this thread. */
bool weir__router_tune_begin(weir_engine *engine);
/* 0: stays as it is. */
void weir__router_tune(weir__router *router, weir_ns block_max, weir_ns idle_timeout);

#endif /* WEIR_FLOW_TUNE_H */
