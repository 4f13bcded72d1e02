/*
 * admin/route.h - one HTTP request to one answer, without a socket: who may ask, what is asked, and
 * how the answer is said.
 *
 *     GET  /api/v1/commands           a command that changes nothing, its words and arguments
 *     GET  /api/v1/processors/list    divided by slashes
 *     POST /api/v1/run                {"words": ["log", "level", "debug"]}: any command
 *
 * and the pages of pages.h. Whatever else it is, is refused, and counted by the reason.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_ROUTE_H
#define WEIR_ADMIN_ROUTE_H

#include "admin/counts.h"
#include "admin/token.h"
#include "web/web.h"
#include "weir/admin.h"

typedef struct weir__route_rules {
    weir_engine *engine;
    const weir__token *token;
    bool remote; /* strangers can reach it: only the page's own files go without the token */
    const char *const *hosts; /* "localhost:8080" ...: what a Host header may say; ends with NULL */
    const char *const *origins; /* the same for Origin, besides the hosts' own; may be NULL */
    uint64_t body_max;
    weir__admin_counts *counts;
    struct weir__adviser *adviser; /* may be NULL: it finds nothing */
} weir__route_rules;

/* As they were sent: nothing is decoded. NULL: there is none. */
typedef struct weir__route_request {
    const char *method, *path;
    const char *host, *origin, *authorization, *content_type;
    const char *content_length, *transfer_encoding;
    const char *fetch_site, *fetch_mode; /* what a browser says of the page that asks */
    const char *if_none_match, *accept_encoding;
    bool doubled; /* a header of these came twice (but for the last two), or has a zero byte */
} weir__route_request;

typedef struct weir__route_answer {
    unsigned status;       /* of HTTP; 0: go on with the body */
    weir__refused refused; /* WEIR__REFUSED_REASONS: it is not */
    char *body;            /* `release` it; or NULL: `text`, or the file */
    void (*release)(weir_engine *engine, char *body);
    char text[512];
    const char *type;           /* of the content; NULL: JSON */
    const weir__web_file *file; /* or NULL; 304: the client has it */
    bool packed;                /* its gzip variant */
    bool stream;                /* events follow, and no end (stream.h) */
    bool ask_for_token;
    const char *allow; /* 405: which methods would be right */
} weir__route_answer;

/* Any thread. Looks at all but the body. Status 0: weir__route_body is to be called with a body of
 * no more than body_max bytes (none: with GET). */
void weir__route_head(const weir__route_rules *rules, const weir__route_request *request,
                      weir__route_answer *answer);
/* Blocking. */
void weir__route_body(const weir__route_rules *rules, const weir__route_request *request,
                      const char *body, size_t size, weir__route_answer *answer);

#endif /* WEIR_ADMIN_ROUTE_H */
