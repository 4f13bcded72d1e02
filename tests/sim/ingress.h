/*
 * sim/ingress.h - how much of a router's ingress is used, at one moment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TESTS_SIM_INGRESS_H
#define WEIR_TESTS_SIM_INGRESS_H

#include "flow/submit.h"

enum { WORKERS_READ = 8 };

/* What is beyond the workers' own bounds, past the figures, which take a thousand steps. Their
 * words are read one after the other, and an event that goes while another comes would count twice:
 * so they are read again, and only if none has changed (each has a ticket in it) was it all at
 * once. */
static inline uint32_t ingress_now(const weir__router *router)
{
    uint64_t seen[WORKERS_READ];
    uint32_t used = 0;
    if (router == NULL || router->targeted || router->worker_count > WORKERS_READ) {
        return 0;
    }
    for (uint32_t i = 0; i < router->worker_count; i++) {
        seen[i] = weir__load(&router->workers[i].processor->mailbox.word, seq_cst);
        used += weir__worker_beyond(router, &router->workers[i]);
    }
    for (uint32_t i = 0; i < router->worker_count; i++) {
        if (seen[i] != weir__load(&router->workers[i].processor->mailbox.word, seq_cst)) {
            return 0; /* not known */
        }
    }
    return used;
}

#endif /* WEIR_TESTS_SIM_INGRESS_H */
