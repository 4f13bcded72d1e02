/*
 * admin/adviser.h - advice for who watches: two looks at the figures, and what the rules say of
 * what happened between them.
 *
 * Whoever asks is told of the time since the last look; if that is less than a second ago, the same
 * as the one before. One thread's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_ADVISER_H
#define WEIR_ADMIN_ADVISER_H

#include "sync/thread.h"
#include "weir/engine.h"

typedef struct weir__adviser {
    weir_engine *engine;
    void *before; /* the last look; NULL: there was none, or it was too long ago */
    weir_ns looked;
    char *text; /* what was said then */
} weir__adviser;

/* {"findings": [...]} as one line, to be freed; NULL: no memory. An adviser of NULL has none. */
char *weir__adviser_ask(weir__adviser *adviser);
void weir__adviser_close(weir__adviser *adviser);

#endif /* WEIR_ADMIN_ADVISER_H */
