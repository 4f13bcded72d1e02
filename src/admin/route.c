/*
 * admin/route.c - see route.h.
 *
 * A page of another site, in the browser of somebody who may reach this address, is the enemy: it
 * can send requests here, and by a name of its own that leads here it can even read the answers.
 * The Host header tells such a name, Origin and Sec-Fetch-Site such a page; and a POST must be of a
 * type that no form can send.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "admin/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "admin/frame.h"
#include "admin/pages.h"

#define PREFIX "/api/v1/"
#define RUN PREFIX "run"
#define PATH_MAX_BYTES 512u

static void refuse(const weir__route_rules *rules, weir__route_answer *answer, unsigned status,
                   weir__refused reason, const char *text)
{
    answer->status = status;
    answer->refused = reason;
    weir__admin_refuse(rules->counts, reason);
    weir__frame_error(WEIR_E_INVALID, text, answer->text, sizeof(answer->text));
}

/* ---- who asks ---- */

static bool is_listed(const char *const *list, const char *word)
{
    for (; list != NULL && *list != NULL; list++) {
        if (strcasecmp(*list, word) == 0) {
            return true;
        }
    }
    return false;
}

static bool origin_fits(const weir__route_rules *rules, const char *origin)
{
    static const char scheme[] = "http://";
    return is_listed(rules->origins, origin) ||
           (strncasecmp(origin, scheme, sizeof(scheme) - 1) == 0 &&
            is_listed(rules->hosts, origin + sizeof(scheme) - 1));
}

/* A picture or a script of another site's page brings no Origin, but a browser of today says it all
 * the same. A link that somebody clicks may lead here. */
static bool comes_from_elsewhere(const weir__route_request *r)
{
    return r->fetch_site != NULL && strcasecmp(r->fetch_site, "cross-site") == 0 &&
           (r->fetch_mode == NULL || strcasecmp(r->fetch_mode, "navigate") != 0);
}

static bool may_enter(const weir__route_rules *rules, const weir__route_request *r,
                      weir__route_answer *answer)
{
    if (r->doubled) {
        refuse(rules, answer, 400, WEIR__REFUSED_MALFORMED,
               "a header came twice, or has a zero byte in it");
    } else if (r->host == NULL || !is_listed(rules->hosts, r->host)) {
        refuse(rules, answer, 421, WEIR__REFUSED_HOST,
               "this is not the host that was asked for; weir.admin.http.hosts lists more");
    } else if (r->origin != NULL ? !origin_fits(rules, r->origin) : comes_from_elsewhere(r)) {
        refuse(rules, answer, 403, WEIR__REFUSED_ORIGIN, "not for pages of other sites");
    } else {
        return true;
    }
    return false;
}

static bool has_token(const weir__route_rules *rules, const weir__route_request *r)
{
    return weir__token_fits(rules->token, r->authorization);
}

static void want_token(const weir__route_rules *rules, weir__route_answer *answer)
{
    if (rules->token->length == 0) {
        refuse(rules, answer, 403, WEIR__REFUSED_TOKEN,
               "no token is configured, so nothing can be changed over HTTP");
    } else {
        refuse(rules, answer, 401, WEIR__REFUSED_TOKEN,
               "this needs the token: Authorization: Bearer ...");
        answer->ask_for_token = true;
    }
}

/* ---- what is asked ---- */

/* Words between slashes, of letters that need no decoding. */
static bool path_is_sane(const char *path)
{
    const size_t prefix = sizeof(PREFIX) - 1;
    if (strnlen(path, PATH_MAX_BYTES + 1) > PATH_MAX_BYTES || strncmp(path, PREFIX, prefix) != 0) {
        return false;
    }
    bool in_word = false;
    for (const char *c = path + prefix; *c != '\0'; c++) {
        const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                            (*c >= '0' && *c <= '9') || *c == '-' || *c == '_';
        if (!letter && (*c != '/' || !in_word)) {
            return false;
        }
        in_word = letter;
    }
    return in_word;
}

/* Cuts it in place. */
static size_t split(char *path, const char **words)
{
    size_t count = 0;
    char *save = NULL;
    for (char *word = strtok_r(path + sizeof(PREFIX) - 1, "/", &save);
         word != NULL && count < WEIR__FRAME_WORDS_MAX; word = strtok_r(NULL, "/", &save)) {
        words[count++] = word;
    }
    return count;
}

static bool length_fits(const weir__route_rules *rules, const weir__route_request *r)
{
    char *end;
    if (r->content_length == NULL || r->transfer_encoding != NULL || r->content_length[0] < '0' ||
        r->content_length[0] > '9' || strlen(r->content_length) > 18) {
        return false;
    }
    return strtoull(r->content_length, &end, 10) <= rules->body_max && *end == '\0';
}

static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    return type != NULL && strncasecmp(type, json, sizeof(json) - 1) == 0 &&
           strchr("; \t", type[sizeof(json) - 1]) != NULL; /* the final zero, too */
}

void weir__route_head(const weir__route_rules *rules, const weir__route_request *r,
                      weir__route_answer *answer)
{
    *answer = (weir__route_answer){ .refused = WEIR__REFUSED_REASONS };
    if (!may_enter(rules, r, answer)) {
        return;
    }
    const bool get = strcmp(r->method, "GET") == 0;
    const bool post = strcmp(r->method, "POST") == 0;
    const bool run = strcmp(r->path, RUN) == 0;
    const weir__page found = weir__page_find(r->path);
    const bool page = found != WEIR__PAGE_NONE;
    /* The files of the live page say nothing of this server, and a browser that opens them has no
     * way to show a token. The page asks for it. */
    const bool open = found == WEIR__PAGE_FILE;
    const bool head = page && strcmp(r->method, "HEAD") == 0;
    if (!page && !path_is_sane(r->path)) {
        char hint[160];
        weir__page_hint(r->path, hint, sizeof(hint));
        refuse(rules, answer, 404, WEIR__REFUSED_PATH, hint);
    } else if (run ? !post : !get && !head) {
        refuse(rules, answer, 405, WEIR__REFUSED_METHOD,
               "GET for what only looks, POST to /api/v1/run for all");
        answer->allow = run ? "POST" : page ? "GET, HEAD" : "GET";
    } else if (rules->remote && !open && !has_token(rules, r)) {
        want_token(rules, answer);
    } else if (post && !length_fits(rules, r)) {
        refuse(rules, answer, r->content_length == NULL || r->transfer_encoding != NULL ? 411 : 413,
               WEIR__REFUSED_SIZE,
               "a body needs its length in bytes, within weir.admin.http.body-max");
    } else if (post && !is_json(r->content_type)) {
        refuse(rules, answer, 415, WEIR__REFUSED_BODY, "a body is application/json");
    } else if (!post && ((r->content_length != NULL && strcmp(r->content_length, "0") != 0) ||
                         r->transfer_encoding != NULL)) {
        refuse(rules, answer, 413, WEIR__REFUSED_SIZE, "a GET has no body");
    }
}

/* ---- the answer ---- */

static unsigned status_of(weir_status status)
{
    switch (status) {
    case WEIR_UNKNOWN:
        return 404;
    case WEIR_TIMEOUT:
        return 504;
    case WEIR_STOPPING:
    case WEIR_FULL:
    case WEIR_E_NOMEM:
        return 503;
    case WEIR_E_INVALID:
    case WEIR_E_LIMIT:
        return 400;
    default:
        return status >= 0 ? 200 : 500;
    }
}

/* Who looks after many engines looks at the status only. */
static bool says_down(const char *const *words, size_t count, const char *body)
{
    return count == 1 && strcmp(words[0], "health") == 0 && body != NULL &&
           strstr(body, "\"status\": \"down\"") != NULL;
}

static void run(const weir__route_rules *rules, const weir__route_request *r,
                const char *const *words, size_t count, bool by_get, weir__route_answer *answer)
{
    bool changes = false;
    const weir_status known = weir_admin_changes(rules->engine, words, count, &changes);
    if (known == WEIR_OK && changes && by_get) {
        refuse(rules, answer, 405, WEIR__REFUSED_METHOD,
               "this changes something: POST it to /api/v1/run");
        answer->allow = "POST";
        return;
    }
    if (known == WEIR_OK && changes && !has_token(rules, r)) {
        want_token(rules, answer);
        return;
    }
    weir__add(&rules->counts->requests, 1, relaxed);
    const weir_status status =
        weir_admin_run(rules->engine, words, count, changes, 0, &answer->body);
    answer->release = weir_admin_free;
    answer->status = says_down(words, count, answer->body) ? 503 : status_of(status);
    if (answer->body == NULL) {
        weir__frame_error(status, weir_status_text(status), answer->text, sizeof(answer->text));
    }
}

void weir__route_body(const weir__route_rules *rules, const weir__route_request *r,
                      const char *body, size_t size, weir__route_answer *answer)
{
    *answer = (weir__route_answer){ .refused = WEIR__REFUSED_REASONS };
    const weir__page page = weir__page_find(r->path);
    if (page != WEIR__PAGE_NONE) {
        weir__page_answer(rules, r, page, answer);
        return;
    }
    if (strcmp(r->method, "GET") == 0) {
        char path[PATH_MAX_BYTES + 1];
        const char *words[WEIR__FRAME_WORDS_MAX];
        (void)snprintf(path, sizeof(path), "%s", r->path);
        const size_t count = split(path, words);
        run(rules, r, words, count, true, answer);
        return;
    }
    char why[256];
    weir__frame frame;
    if (size > rules->body_max || !weir__frame_read(body, size, &frame, why, sizeof(why))) {
        refuse(rules, answer, 400, WEIR__REFUSED_BODY,
               size > rules->body_max ? "the body is too large" : why);
        return;
    }
    run(rules, r, frame.words, frame.count, false, answer);
    weir__frame_close(&frame);
}
