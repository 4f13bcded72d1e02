/*
 * engine/outcome.h - what became of the events of processors, as numbers that only grow: those of
 * several can be added up, also of some that are gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_OUTCOME_H
#define WEIR_ENGINE_OUTCOME_H

#include "weir/counters.h"

/* Those of weir_counters that are no sum of others, and that processors have. */
#define WEIR__OUTCOMES(X)                                                                          \
    X(accepted)                                                                                    \
    X(handled)                                                                                     \
    X(dropped_newest)                                                                              \
    X(dropped_oldest)                                                                              \
    X(dead_failed)                                                                                 \
    X(dead_stopped)                                                                                \
    X(left)                                                                                        \
    X(retries)                                                                                     \
    X(restarts)

typedef struct weir__outcome {
#define WEIR__OUTCOME_FIELD(name) uint64_t name;
    WEIR__OUTCOMES(WEIR__OUTCOME_FIELD)
#undef WEIR__OUTCOME_FIELD
} weir__outcome;

static inline void weir__outcome_add(weir__outcome *sum, const weir_counters *c)
{
#define WEIR__OUTCOME_ADD(name) sum->name += c->name;
    WEIR__OUTCOMES(WEIR__OUTCOME_ADD)
#undef WEIR__OUTCOME_ADD
}

#endif /* WEIR_ENGINE_OUTCOME_H */
