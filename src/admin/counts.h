/*
 * admin/counts.h - what was refused, by reason: one table for code, command and page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_COUNTS_H
#define WEIR_ADMIN_COUNTS_H

#include "sync/atomic.h"

#define WEIR__REFUSED_MAP(X)                                                                       \
    X(CONNECTIONS, "too many connections")                                                         \
    X(ADDRESS, "too many connections of one address")                                              \
    X(SLOW, "not complete in time")                                                                \
    X(MALFORMED, "not HTTP, too long, or cut off")                                                 \
    X(HOST, "wrong host")                                                                          \
    X(ORIGIN, "foreign origin")                                                                    \
    X(PATH, "no such path")                                                                        \
    X(METHOD, "wrong method")                                                                      \
    X(TOKEN, "missing or wrong token")                                                             \
    X(SIZE, "body too large, or its length unsaid")                                                \
    X(BODY, "body that is no request")                                                             \
    X(PEER, "another user")                                                                        \
    X(FRAME, "line that is no request, or too long")                                               \
    X(STREAMS, "too many event streams")                                                           \
    X(SYSTEM, "no descriptor or memory left")

#define WEIR__REFUSED_CONSTANT(name, text) WEIR__REFUSED_##name,
typedef enum weir__refused {
    WEIR__REFUSED_MAP(WEIR__REFUSED_CONSTANT) WEIR__REFUSED_REASONS
} weir__refused;
#undef WEIR__REFUSED_CONSTANT

/* Any thread reads them; each way writes its own. */
typedef struct weir__admin_counts {
    weir__atomic_u64 refused[WEIR__REFUSED_REASONS];
    weir__atomic_u64 connections; /* so far */
    weir__atomic_u64 open;        /* now */
    weir__atomic_u64 streams;     /* of those that are open */
    weir__atomic_u64 parked;      /* refused, but not yet closed (lot.h) */
    weir__atomic_u64 requests;    /* that reached a command */
} weir__admin_counts;

static inline void weir__admin_refuse(weir__admin_counts *counts, weir__refused reason)
{
    weir__add(&counts->refused[reason], 1, relaxed);
}

#endif /* WEIR_ADMIN_COUNTS_H */
