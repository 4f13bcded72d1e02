/*
 * admin/pages.h - what HTTP has besides commands: the live page and its files, the figures in three
 * forms, health, advice, and the stream of events.
 *
 *     GET /                  the page          GET /metrics        for Prometheus
 *     GET /assets/NAME       its files         GET /metrics.json   the same as JSON
 *     GET /health            200 or 503        GET /advice.json    what to change
 *     GET /events            server-sent events (stream.h)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_PAGES_H
#define WEIR_ADMIN_PAGES_H

#include "admin/route.h"

typedef enum weir__page {
    WEIR__PAGE_NONE,
    WEIR__PAGE_FILE,
    WEIR__PAGE_METRICS,
    WEIR__PAGE_METRICS_JSON,
    WEIR__PAGE_HEALTH,
    WEIR__PAGE_ADVICE,
    WEIR__PAGE_EVENTS
} weir__page;

/* Letter by letter. */
weir__page weir__page_find(const char *path);
/* What somebody may have meant who asked for another one. */
void weir__page_hint(const char *path, char *out, size_t size);
/* Blocking. */
void weir__page_answer(const weir__route_rules *rules, const weir__route_request *request,
                       weir__page page, weir__route_answer *answer);

#endif /* WEIR_ADMIN_PAGES_H */
