/*
 * connect/breaker.h - a circuit breaker: keeps from trying what fails anyway.
 *
 *              failures_max in a row                    after open_for
 *     CLOSED -----------------------> OPEN --------------------------------> HALF_OPEN
 *        ^                             ^                                      |    |
 *        |                             +----------- one trial fails ----------+    |
 *        +------------------------------- trials of them succeed ------------------+
 *
 * Pure: the time is the caller's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_BREAKER_H
#define WEIR_CONNECT_BREAKER_H

#include "weir/base.h"

typedef enum weir__breaker_state {
    WEIR__BREAKER_CLOSED,
    WEIR__BREAKER_OPEN,
    WEIR__BREAKER_HALF_OPEN
} weir__breaker_state;

typedef struct weir__breaker {
    uint32_t failures_max;
    uint32_t trials;
    weir_ns open_for;

    weir__breaker_state state;
    uint32_t failures;  /* CLOSED: in a row */
    uint32_t successes; /* HALF_OPEN */
    weir_ns until;      /* OPEN */
    uint64_t opened;    /* times */
} weir__breaker;

void weir__breaker_open(weir__breaker *breaker, uint32_t failures_max, weir_ns open_for,
                        uint32_t trials);

/* Whether to try now. An open one whose time is over becomes half-open. */
bool weir__breaker_allows(weir__breaker *breaker, weir_ns now);

/* How the try went. True: the state has changed. */
bool weir__breaker_tell(weir__breaker *breaker, bool success, weir_ns now);

/* "closed", "open", "half-open". */
const char *weir__breaker_word(const weir__breaker *breaker);

#endif /* WEIR_CONNECT_BREAKER_H */
