/*
 * weir/weir.h - all of libweir, in reading order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

/* IWYU pragma: begin_exports */
#include "weir/base.h"        /* statuses, handles, time, sized options, who may call */
#include "weir/error.h"       /* the control plane's error: sticky, caller-owned */
#include "weir/event.h"       /* types, events, blocks: who owns what */
#include "weir/log.h"         /* where weir's own sentences go */
#include "weir/engine.h"      /* create, start, stop; posting from outside */
#include "weir/thread.h"      /* threads, dispatchers, assignments, foreign loops */
#include "weir/supervise.h"   /* what happens when a handler fails, and who hears of an end */
#include "weir/processor.h"   /* handlers, state, mailboxes */
#include "weir/turn.h"        /* what a handler can do */
#include "weir/channel.h"     /* publish and subscribe */
#include "weir/flow.h"        /* many keys, each in order, over many workers */
#include "weir/timer.h"       /* events later, once or again and again */
#include "weir/dead_letter.h" /* events that came to nothing */
#include "weir/counters.h"    /* what happened, in numbers */
#include "weir/latency.h"     /* how long events wait, and are handled */
#include "weir/feed.h"        /* streams from sources, with positions */
#include "weir/config.h"      /* all of that from a file */
#include "weir/component.h"   /* sources, services, sinks: their life on a thread */
#include "weir/memory.h"      /* some of them that need nothing outside the process */
#include "weir/plugin.h"      /* types of them from a shared object */
#include "weir/admin.h"       /* commands for the people who run it */
#include "weir/metrics.h"     /* every figure by name; health */
#include "weir/trace.h"       /* who ran what, where and when */
/* IWYU pragma: end_exports */

#endif /* WEIR_WEIR_H */
