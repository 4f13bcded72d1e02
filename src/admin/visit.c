/*
 * admin/visit.c - one request on its way: its headers and body to route.c, the answer back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "admin/frame.h"
#include "admin/headers.h"
#include "admin/http_parts.h"

/* One request, from its head to the end of its answer. */
typedef struct visit_of {
    char *body;
    size_t size;
    weir__stream *stream; /* its answer, if it is one */
} visit_of;

/* A zero byte in one would hide what follows it. */
static enum MHD_Result take_header(void *context, enum MHD_ValueKind kind, const char *key,
                                   size_t key_size, const char *value, size_t value_size)
{
    static const char *const names[] = { "Host",           "Origin",         "Authorization",
                                         "Content-Type",   "Content-Length", "Transfer-Encoding",
                                         "Sec-Fetch-Site", "Sec-Fetch-Mode", "If-None-Match",
                                         "Accept-Encoding" };
    enum { SINGLE = 8 }; /* the others may come twice: the last one counts */
    weir__route_request *r = context;
    const char **places[] = { &r->host,           &r->origin,         &r->authorization,
                              &r->content_type,   &r->content_length, &r->transfer_encoding,
                              &r->fetch_site,     &r->fetch_mode,     &r->if_none_match,
                              &r->accept_encoding };
    (void)kind;
    if (key == NULL || strlen(key) != key_size || (value != NULL && strlen(value) != value_size)) {
        r->doubled = true;
    }
    for (size_t i = 0; key != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcasecmp(key, names[i]) == 0) {
            r->doubled = r->doubled || (i < SINGLE && *places[i] != NULL);
            *places[i] = value != NULL ? value : "";
        }
    }
    return MHD_YES;
}

static weir__route_request request_of(struct MHD_Connection *connection, const char *method,
                                      const char *path)
{
    weir__route_request r = { .method = method, .path = path };
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, take_header, &r);
    return r;
}

static struct MHD_Response *response_of(const weir__route_answer *answer)
{
    const weir__web_file *file = answer->file;
    if (file != NULL && answer->status == 200) {
        const unsigned char *data = answer->packed ? file->packed : file->data;
        return MHD_create_response_from_buffer(answer->packed ? file->packed_size : file->size,
                                               (void *)(uintptr_t)data, MHD_RESPMEM_PERSISTENT);
    }
    const char *text = answer->body != NULL ? answer->body : answer->text;
    return MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                           MHD_RESPMEM_MUST_COPY);
}

static void add_headers(struct MHD_Response *response, const weir__route_answer *answer)
{
    const weir__web_file *file = answer->file;
    for (size_t i = 0; i < WEIR__HEADERS; i++) {
        (void)MHD_add_response_header(response, weir__headers[i][0], weir__headers[i][1]);
    }
    (void)MHD_add_response_header(response, "Content-Type",
                                  answer->type != NULL ? answer->type : "application/json");
    (void)MHD_add_response_header(response, "Content-Security-Policy",
                                  file != NULL ? WEIR__POLICY_PAGE : WEIR__POLICY_DATA);
    /* A file is asked for again each time, and is the same as long as its tag is. */
    (void)MHD_add_response_header(response, "Cache-Control",
                                  file != NULL ? "no-cache" : "no-store");
    if (file != NULL) {
        (void)MHD_add_response_header(response, "ETag",
                                      answer->packed ? file->packed_etag : file->etag);
        (void)MHD_add_response_header(response, "Vary", "Accept-Encoding");
    }
    if (answer->packed) {
        (void)MHD_add_response_header(response, "Content-Encoding", "gzip");
    }
    if (answer->ask_for_token) {
        (void)MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    }
    if (answer->allow != NULL) {
        (void)MHD_add_response_header(response, "Allow", answer->allow);
    }
}

static enum MHD_Result send_answer(weir__admin_http *h, struct MHD_Connection *connection,
                                   const weir__route_answer *answer)
{
    struct MHD_Response *response = response_of(answer);
    if (answer->body != NULL) {
        answer->release(h->rules.engine, answer->body);
    }
    weir__door_whole(&h->door, connection);
    if (response == NULL) {
        weir__admin_refuse(h->counts, WEIR__REFUSED_SYSTEM);
        return MHD_NO;
    }
    add_headers(response, answer);
    const enum MHD_Result queued = MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return queued;
}

/* The answer is a stream, or that there is no place for one. */
static enum MHD_Result begin_stream(weir__admin_http *h, struct MHD_Connection *connection,
                                    visit_of *v)
{
    weir__link *link = weir__door_link(connection);
    v->stream = link != NULL
                    ? weir__stream_open(&h->streams, connection, link->descriptor, link->address)
                    : NULL;
    if (v->stream != NULL) {
        weir__door_to_stream(&h->door, link);
        return MHD_YES;
    }
    weir__route_answer full = { .status = 503 };
    weir__frame_error(WEIR_FULL, "too many event streams; weir.admin.http.stream-clients-max",
                      full.text, sizeof(full.text));
    return send_answer(h, connection, &full);
}

static enum MHD_Result begin(weir__admin_http *h, struct MHD_Connection *connection,
                             const weir__route_request *r, void **context)
{
    weir__route_answer answer;
    weir__route_head(&h->rules, r, &answer);
    if (answer.status != 0) {
        return send_answer(h, connection, &answer);
    }
    visit_of *v = calloc(1, sizeof(*v));
    if (v == NULL) {
        weir__admin_refuse(h->counts, WEIR__REFUSED_SYSTEM);
        return MHD_NO;
    }
    *context = v;
    return MHD_YES;
}

static bool take_body(const weir__admin_http *h, visit_of *v, const char *bytes, size_t size)
{
    if (size > h->rules.body_max - v->size) {
        return false;
    }
    char *grown = realloc(v->body, v->size + size);
    if (grown == NULL) {
        return false;
    }
    memcpy(grown + v->size, bytes, size);
    v->body = grown;
    v->size += size;
    return true;
}

enum MHD_Result weir__visit_on_request(void *http, struct MHD_Connection *connection,
                                       const char *url, const char *method, const char *version,
                                       const char *upload, size_t *upload_size, void **context)
{
    weir__admin_http *h = http;
    const weir__route_request r = request_of(connection, method, url);
    weir__route_answer answer;
    (void)version;
    if (*context == NULL) {
        return begin(h, connection, &r, context);
    }
    visit_of *v = *context;
    if (v->stream != NULL) {
        return MHD_NO; /* it was suspended until now, and is over */
    }
    if (*upload_size > 0) {
        if (!take_body(h, v, upload, *upload_size)) {
            weir__admin_refuse(h->counts, WEIR__REFUSED_SIZE);
            weir__door_whole(&h->door, connection);
            return MHD_NO;
        }
        *upload_size = 0;
        return MHD_YES;
    }
    const weir_ns began = weir__clock_now();
    weir__route_body(&h->rules, &r, v->body != NULL ? v->body : "", v->size, &answer);
    weir__door_forgive(&h->door, weir__clock_now() - began);
    return answer.stream ? begin_stream(h, connection, v) : send_answer(h, connection, &answer);
}

void weir__visit_on_completed(void *http, struct MHD_Connection *connection, void **context,
                              enum MHD_RequestTerminationCode code)
{
    weir__admin_http *h = http;
    visit_of *v = *context;
    (void)connection;
    (void)code;
    if (v != NULL) {
        weir__stream_close(&h->streams, v->stream);
        free(v->body);
        free(v);
        *context = NULL;
    }
}
