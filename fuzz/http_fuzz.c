/*
 * http_fuzz.c - any request to the HTTP of admin, without a socket. The engine behind it is one of
 * this file's, and judges: nothing reaches a command or a figure by a wrong host or from a foreign
 * page, and nothing changes without the token.
 *
 * An input is twelve lines (method, path, ten headers; an empty one is not there), then the body.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <strings.h>

#include "admin/adviser.h"
#include "admin/frame.h"
#include "admin/route.h"
#include "web/web.h"
#include "weir/metrics.h"

#define TOKEN "0123456789abcdef"
enum { LINES = 12 };

static const weir__route_request *at_hand;
static bool remote;
static uint32_t runs;

/* ---- the engine ---- */

weir_status weir_admin_changes(weir_engine *engine, const char *const *words, size_t count,
                               bool *changes)
{
    (void)engine;
    FUZZ_PROMISE(count > 0 && count <= WEIR__FRAME_WORDS_MAX);
    *changes = words[0][0] == 'c';
    return words[0][0] == 'u' ? WEIR_UNKNOWN : WEIR_OK;
}

static bool has_token(void)
{
    const char *given = at_hand->authorization;
    return given != NULL && strncasecmp(given, "Bearer ", 7) == 0 &&
           strcmp(given + 7 + strspn(given + 7, " "), TOKEN) == 0;
}

/* Who may come at all. */
static void promise_friend(void)
{
    FUZZ_PROMISE(at_hand->host != NULL && strcasecmp(at_hand->host, "localhost:1") == 0);
    FUZZ_PROMISE(at_hand->origin == NULL ||
                 strcasecmp(at_hand->origin, "http://localhost:1") == 0 ||
                 strcasecmp(at_hand->origin, "https://panel.example") == 0);
    FUZZ_PROMISE(at_hand->origin != NULL || at_hand->fetch_site == NULL ||
                 strcasecmp(at_hand->fetch_site, "cross-site") != 0 ||
                 (at_hand->fetch_mode != NULL && strcasecmp(at_hand->fetch_mode, "navigate") == 0));
    FUZZ_PROMISE(!at_hand->doubled);
}

/* Who may look. */
static void promise_reader(void)
{
    promise_friend();
    FUZZ_PROMISE(!remote || has_token());
}

weir_status weir_admin_run(weir_engine *engine, const char *const *words, size_t count,
                           bool may_change, weir_ns timeout, char **answer)
{
    (void)engine;
    (void)timeout;
    runs++;
    FUZZ_PROMISE(count > 0 && count <= WEIR__FRAME_WORDS_MAX);
    for (size_t i = 0; i < count; i++) {
        FUZZ_PROMISE(words[i] != NULL);
    }
    promise_reader();
    FUZZ_PROMISE(may_change == (words[0][0] == 'c'));
    FUZZ_PROMISE((!may_change && !remote) || has_token());
    FUZZ_PROMISE(!may_change || strcmp(at_hand->method, "POST") == 0);
    *answer = NULL;
    return words[0][0] == 'u' ? WEIR_UNKNOWN : WEIR_E_NOMEM;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the header's form */
void weir_admin_free(weir_engine *engine, char *answer)
{
    (void)engine;
    FUZZ_PROMISE(answer == NULL);
}

/* ---- figures and files ---- */

const weir__web_file weir__web_files[] = {
    { .path = "/", .type = "text/html", .data = (const unsigned char *)"", .etag = "\"a\"" },
    { .path = "/assets/b.js",
      .type = "text/javascript",
      .data = (const unsigned char *)"b",
      .size = 1,
      .etag = "\"b\"",
      .packed = (const unsigned char *)"c",
      .packed_size = 1,
      .packed_etag = "\"b-gz\"" },
};
const size_t weir__web_file_count = sizeof(weir__web_files) / sizeof(weir__web_files[0]);

static char *figures(const char *path)
{
    promise_reader();
    FUZZ_PROMISE(strcmp(at_hand->path, path) == 0);
    FUZZ_PROMISE(strcmp(at_hand->method, "GET") == 0 || strcmp(at_hand->method, "HEAD") == 0);
    runs++;
    return strdup("{}");
}

char *weir_metrics_json(weir_engine *engine, const weir_metrics_options *options, size_t *size)
{
    (void)engine, (void)options, (void)size;
    return figures("/metrics.json");
}

char *weir_metrics_prometheus(weir_engine *engine, const weir_metrics_options *options,
                              size_t *size)
{
    (void)engine, (void)options, (void)size;
    return figures("/metrics");
}

void weir_metrics_free(weir_engine *engine, char *text)
{
    (void)engine;
    free(text);
}

char *weir__adviser_ask(weir__adviser *adviser)
{
    (void)adviser;
    return figures("/advice.json");
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the header's form */
weir_health weir_engine_health(weir_engine *engine, char *why, size_t size)
{
    (void)engine, (void)why, (void)size;
    free(figures("/health"));
    return WEIR_DEGRADED;
}

void weir_health_visit(weir_engine *engine,
                       bool (*visit)(void *context, const char *what, weir_health health,
                                     const char *reason),
                       void *context)
{
    (void)engine;
    promise_reader();
    FUZZ_PROMISE(visit(context, "a name that is no text: \xff", WEIR_DEGRADED, at_hand->path));
}

/* ---- the request ---- */

static void promise_answer(const weir__route_answer *answer, const char *body)
{
    fuzz_sink sink = { 0 };
    FUZZ_PROMISE(answer->status >= 200 && answer->status < 600);
    if (answer->file != NULL || answer->stream) {
        promise_friend();
        FUZZ_PROMISE(!answer->stream || !remote || has_token());
        FUZZ_PROMISE(answer->body == NULL && answer->type != NULL &&
                     answer->refused == WEIR__REFUSED_REASONS);
        FUZZ_PROMISE(answer->stream || strcmp(answer->file->path, at_hand->path) == 0);
        FUZZ_PROMISE(!answer->packed || answer->file->packed != NULL);
        return;
    }
    if (answer->body != NULL || answer->type != NULL) {
        return; /* a figure, which judged for itself; or the head of a stream */
    }
    FUZZ_PROMISE(answer->text[0] == '{');
    /* What is wrong with a body is shown by a piece of it. */
    FUZZ_PROMISE(strstr(body, TOKEN) != NULL || strstr(answer->text, TOKEN) == NULL);
    FUZZ_PROMISE(fuzz_take(&sink, answer->text, strlen(answer->text)) && !sink.quoted);
    FUZZ_PROMISE(answer->refused <= WEIR__REFUSED_REASONS);
}

static void ask(const weir__route_rules *rules, const weir__route_request *r, const char *body,
                size_t size)
{
    weir__route_answer answer;
    const uint32_t before = runs;
    uint64_t refused = 0;
    at_hand = r;
    weir__route_head(rules, r, &answer);
    FUZZ_PROMISE(runs == before);
    if (answer.status == 0) {
        weir__route_body(rules, r, body, size, &answer);
    }
    promise_answer(&answer, body);
    if (answer.file != NULL || (answer.body == NULL && answer.type != NULL)) {
        runs++;
    }
    if (answer.body != NULL) {
        answer.release(rules->engine, answer.body);
    }
    for (int i = 0; i < WEIR__REFUSED_REASONS; i++) {
        refused += weir__load(&rules->counts->refused[i], relaxed);
    }
    /* Either it reached a command or it was refused, and counted once. */
    FUZZ_PROMISE(refused + (runs - before) == 1);
    FUZZ_PROMISE((answer.refused != WEIR__REFUSED_REASONS) == (refused == 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const hosts[] = { "localhost:1", NULL };
    static const char *const origins[] = { "https://panel.example", NULL };
    char *text = malloc(size + 1);
    char *lines[LINES] = { NULL };
    weir__admin_counts counts = { 0 };
    weir__token token = { .length = sizeof(TOKEN) - 1, .bytes = TOKEN };
    FUZZ_PROMISE(text != NULL);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    char *at = text;
    for (size_t i = 0; i < LINES && at != NULL; i++) {
        char *end = memchr(at, '\n', size - (size_t)(at - text));
        lines[i] = end != NULL && end > at ? at : NULL;
        if (end != NULL) {
            *end = '\0';
        }
        at = end != NULL ? end + 1 : NULL;
    }
    const weir__route_request r = { .method = lines[0] != NULL ? lines[0] : "GET",
                                    .path = lines[1] != NULL ? lines[1] : "/",
                                    .host = lines[2],
                                    .origin = lines[3],
                                    .authorization = lines[4],
                                    .content_type = lines[5],
                                    .content_length = lines[6],
                                    .transfer_encoding = lines[7],
                                    .fetch_site = lines[8],
                                    .fetch_mode = lines[9],
                                    .if_none_match = lines[10],
                                    .accept_encoding = lines[11],
                                    .doubled = size > 0 && data[size - 1] == 0xff };
    weir__route_rules rules = {
        .token = &token, .hosts = hosts, .origins = origins, .body_max = 4096, .counts = &counts
    };
    const char *body = at != NULL ? at : "";
    for (int i = 0; i < 2; i++) {
        remote = rules.remote = i == 1;
        counts = (weir__admin_counts){ 0 };
        ask(&rules, &r, body, at != NULL ? size - (size_t)(at - text) : 0);
    }
    free(text);
    return 0;
}
