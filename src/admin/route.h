/*
 * admin/route.h - one HTTP request to one answer, without a socket: who may ask, what is asked, and
 * how the answer is said.
 *
 *     GET  /api/v1/commands           a command that changes nothing, its words and arguments
 *     GET  /api/v1/processors/list    divided by slashes
 *     POST /api/v1/run                {"words": ["log", "level", "debug"]}: any command
 *
 * Whatever else it is, is refused, and counted by the reason.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_ROUTE_H
#define WEIR_ADMIN_ROUTE_H

#include "admin/counts.h"
#include "admin/token.h"
#include "weir/admin.h"

typedef struct weir__route_rules {
    weir_engine *engine;
    const weir__token *token;
    bool remote;              /* strangers can reach it: nothing goes without the token */
    const char *const *hosts; /* "localhost:8080" ...: what a Host header may say; ends with NULL */
    const char *const *origins; /* the same for Origin, besides the hosts' own; may be NULL */
    uint64_t body_max;
    weir__admin_counts *counts;
} weir__route_rules;

/* As they were sent: nothing is decoded. NULL: there is none. */
typedef struct weir__route_request {
    const char *method, *path;
    const char *host, *origin, *authorization, *content_type;
    const char *content_length, *transfer_encoding;
    bool doubled; /* a header of these came twice, or has a zero byte */
} weir__route_request;

typedef struct weir__route_answer {
    unsigned status;       /* of HTTP; 0: go on with the body */
    weir__refused refused; /* WEIR__REFUSED_REASONS: it is not */
    char *body;            /* weir_admin_free; or NULL: `text` */
    char text[512];
    bool ask_for_token;
    bool post_only; /* 405: which method would be right */
} weir__route_answer;

/* Any thread. Looks at all but the body. Status 0: weir__route_body is to be called with a body of
 * no more than body_max bytes (none: with GET). */
void weir__route_head(const weir__route_rules *rules, const weir__route_request *request,
                      weir__route_answer *answer);
/* Blocking. */
void weir__route_body(const weir__route_rules *rules, const weir__route_request *request,
                      const char *body, size_t size, weir__route_answer *answer);

#endif /* WEIR_ADMIN_ROUTE_H */
