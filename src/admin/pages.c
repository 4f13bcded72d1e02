/*
 * admin/pages.c - see pages.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "admin/pages.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "admin/adviser.h"
#include "admin/frame.h"
#include "base/nearest.h"
#include "weir/metrics.h"

static const struct {
    const char *path;
    weir__page page;
} pages[] = {
    { "/metrics", WEIR__PAGE_METRICS },      { "/metrics.json", WEIR__PAGE_METRICS_JSON },
    { "/health", WEIR__PAGE_HEALTH },        { "/advice.json", WEIR__PAGE_ADVICE },
    { "/events", WEIR__PAGE_EVENTS },        { "/api/v1/run", WEIR__PAGE_NONE },
    { "/api/v1/commands", WEIR__PAGE_NONE }, /* the last two for hints only */
};
#define PAGES (sizeof(pages) / sizeof(pages[0]))

weir__page weir__page_find(const char *path)
{
    for (size_t i = 0; i < PAGES; i++) {
        if (strcmp(path, pages[i].path) == 0) {
            return pages[i].page;
        }
    }
    return weir__web_find(path) != NULL ? WEIR__PAGE_FILE : WEIR__PAGE_NONE;
}

static void take_nearer(const char *path, const char *known, const char **best, size_t *least)
{
    const size_t distance = weir__distance(path, known);
    if (distance < *least && weir__distance_is_near(distance, path, known)) {
        *least = distance;
        *best = known;
    }
}

void weir__page_hint(const char *path, char *out, size_t size)
{
    const char *best = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < PAGES; i++) {
        take_nearer(path, pages[i].path, &best, &least);
    }
    for (size_t i = 0; i < weir__web_file_count; i++) {
        take_nearer(path, weir__web_files[i].path, &best, &least);
    }
    if (best != NULL) {
        (void)snprintf(out, size, "no such path; did you mean %s?", best);
    } else {
        (void)snprintf(out, size,
                       "no such path; there are / /metrics /metrics.json /health /advice.json "
                       "/events, and commands: see /api/v1/commands");
    }
}

/* ---- files ---- */

static size_t word_length(const char *text, const char *ends)
{
    size_t length = strcspn(text, ends);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) {
        length--;
    }
    return length;
}

/* "q=0", "q=0.000" and what is no number: it does not want it. */
static bool wants(const char *parameters)
{
    const char *q = strpbrk(parameters, "qQ");
    if (q == NULL || q[1] != '=') {
        return true;
    }
    return strcspn(q + 2, "123456789") < strcspn(q + 2, ", \t;");
}

static bool takes_gzip(const char *accepts)
{
    while (accepts != NULL && *accepts != '\0') {
        accepts += strspn(accepts, " \t,");
        const size_t name = word_length(accepts, ",;");
        const size_t whole = strcspn(accepts, ",");
        if (name == 4 && strncasecmp(accepts, "gzip", 4) == 0) {
            char rest[32];
            (void)snprintf(rest, sizeof(rest), "%.*s", (int)(whole < 36 ? whole - 4 : 31),
                           accepts + 4);
            return wants(rest);
        }
        accepts += whole;
    }
    return false;
}

/* Whether the client has it already: "*", or one of its list. W/ makes no difference here. */
static bool has_already(const char *tags, const char *etag)
{
    const size_t length = strlen(etag);
    while (tags != NULL && *tags != '\0') {
        tags += strspn(tags, " \t,");
        if (*tags == '*') {
            return true;
        }
        tags += strncmp(tags, "W/", 2) == 0 ? 2 : 0;
        if (word_length(tags, ",") == length && strncmp(tags, etag, length) == 0) {
            return true;
        }
        tags += strcspn(tags, ",");
    }
    return false;
}

static void give_file(const weir__route_request *r, weir__route_answer *answer)
{
    const weir__web_file *file = weir__web_find(r->path);
    answer->file = file;
    answer->packed = file->packed != NULL && takes_gzip(r->accept_encoding);
    answer->type = file->type;
    answer->status =
        has_already(r->if_none_match, answer->packed ? file->packed_etag : file->etag) ? 304 : 200;
}

/* ---- figures ---- */

static const char *const health_names[] = { "up", "degraded", "down" };

static void release_plain(weir_engine *engine, char *body)
{
    (void)engine;
    free(body);
}

/* A name may be no UTF-8, which JSON would not bear. */
static json_t *text_of(const char *text)
{
    json_t *made = json_string(text);
    if (made != NULL) {
        return made;
    }
    char plain[512];
    (void)snprintf(plain, sizeof(plain), "%s", text);
    for (char *c = plain; *c != '\0'; c++) {
        *c = *c > 0 && *c < 127 ? *c : '?';
    }
    return json_string(plain);
}

static bool add_reason(void *context, const char *what, weir_health health, const char *reason)
{
    return json_array_append_new(context,
                                 json_pack("{s:o, s:s, s:o}", "what", text_of(what), "status",
                                           health_names[health], "reason", text_of(reason))) == 0;
}

static void give_health(const weir__route_rules *rules, weir__route_answer *answer)
{
    json_t *reasons = json_array();
    const weir_health health = weir_engine_health(rules->engine, NULL, 0);
    if (reasons != NULL) {
        weir_health_visit(rules->engine, add_reason, reasons);
    }
    json_t *whole = json_pack("{s:s, s:o}", "status", health_names[health], "reasons", reasons);
    answer->body = whole != NULL ? json_dumps(whole, JSON_COMPACT) : NULL;
    answer->release = release_plain;
    answer->status = health == WEIR_DOWN ? 503 : 200;
    json_decref(whole);
}

void weir__page_answer(const weir__route_rules *rules, const weir__route_request *r,
                       weir__page page, weir__route_answer *answer)
{
    weir__add(&rules->counts->requests, 1, relaxed);
    answer->status = 200;
    answer->release = weir_metrics_free;
    switch (page) {
    case WEIR__PAGE_FILE:
        give_file(r, answer);
        return;
    case WEIR__PAGE_EVENTS:
        answer->type = "text/event-stream";
        answer->stream = strcmp(r->method, "GET") == 0;
        return;
    case WEIR__PAGE_METRICS:
        answer->type = "text/plain; version=0.0.4; charset=utf-8";
        answer->body = weir_metrics_prometheus(rules->engine, NULL, NULL);
        break;
    case WEIR__PAGE_METRICS_JSON:
        answer->body = weir_metrics_json(rules->engine, NULL, NULL);
        break;
    case WEIR__PAGE_ADVICE:
        answer->body = weir__adviser_ask(rules->adviser);
        answer->release = release_plain;
        break;
    default:
        give_health(rules, answer);
    }
    if (answer->body == NULL) {
        answer->status = 503;
        answer->type = NULL;
        weir__frame_error(WEIR_E_NOMEM, weir_status_text(WEIR_E_NOMEM), answer->text,
                          sizeof(answer->text));
    }
}
