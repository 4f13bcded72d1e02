/*
 * engine/visit.h - what there is, one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_VISIT_H
#define WEIR_ENGINE_VISIT_H

#include "weir/processor.h"
#include "weir/thread.h"

/* Any thread. How many handlers and hooks the watchdog has reported that have not returned yet;
 * *who, cut at `size`, is the processor of one of them. */
size_t weir__engine_stuck(weir_engine *engine, char *who, size_t size);

#endif /* WEIR_ENGINE_VISIT_H */
