/*
 * weir/latency.h - how long events wait, and how long they are handled.
 *
 * Every dispatcher is measured always, a processor when it is switched on, by its name or by a
 * pattern, while everything runs. One event in `latency_every` (weir_engine_options) carries the
 * time of its post; which one is chosen at random, so that no rhythm of the load hides from it. Two
 * times are taken of it: from the post to the handler (queueing), and inside the handler
 * (handling). Percentiles are known to 1 % of themselves, the largest exactly, of what was
 * measured.
 *
 * While no processor is on and no trace is recorded, one in 8 * latency_every is measured, unless
 * latency_every is below 64. Never: what goes beside a mailbox (room and down events, signals,
 * answers, timers with a place or a tag), and further tries. With 1, all others are, except some
 * of more than 24 bytes that have no block, or are questions, while many of them wait.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_LATENCY_H
#define WEIR_LATENCY_H

#include "weir/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_latency {
    size_t struct_size;
    uint64_t count; /* events that were measured, since the last reset */
    uint64_t sum;   /* of their times, in ns */
    weir_ns p50, p90, p95, p99, p999, max;
} weir_latency;
#define WEIR_LATENCY_INIT WEIR_SIZED(weir_latency)

/* Any; either may be NULL. UNKNOWN: no such dispatcher, processor or thread. E_INVALID: that
 * processor is not measured. */
WEIR_API weir_status weir_dispatcher_latency(weir_engine *engine, const char *dispatcher,
                                             weir_latency *queueing, weir_latency *handling);
WEIR_API weir_status weir_processor_latency(weir_engine *engine, weir_processor processor,
                                            weir_latency *queueing, weir_latency *handling);
/* Of a thread: what it handled; and how long it was parked each time, until it ran again. */
WEIR_API weir_status weir_thread_latency(weir_engine *engine, weir_thread thread,
                                         weir_latency *handling, weir_latency *waits);

/*
 * Control. The processors whose name fits `pattern` ('*': any letters, '?': any one; NULL: "*") are
 * measured from now on, those that are there and those that will be added; or no longer. *count
 * (may be NULL): how many there are of them now. E_LIMIT: more than latency_max_processors would
 * be; as many as may be are. A processor without a name is called "#index.generation".
 */
WEIR_API weir_status weir_latency_enable(weir_engine *engine, const char *pattern, uint32_t *count);
WEIR_API weir_status weir_latency_disable(weir_engine *engine, const char *pattern,
                                          uint32_t *count);
/* Control. What was measured of them is forgotten; with NULL that of dispatchers and threads,
 * too. */
WEIR_API weir_status weir_latency_reset(weir_engine *engine, const char *pattern);

/* Control. What was seen to send to what, by the events that were measured: `events` is an
 * estimate. Until `visit` answers false. sender.id 0: threads that are not the engine's. */
WEIR_API void weir_edge_visit(weir_engine *engine,
                              bool (*visit)(void *context, weir_processor sender,
                                            weir_processor receiver, uint64_t events),
                              void *context);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_LATENCY_H */
