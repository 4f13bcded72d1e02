/*
 * connect_support.h - an engine with connectors in it, as a configuration would make them, and a
 * sink that remembers what it got.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_CONNECT_SUPPORT_H
#define WEIR_TEST_CONNECT_SUPPORT_H

#include "inner_support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "connect/meter.h"
#include "connect/types.h"
#include "sync/mutex.h"
#include "weir/component.h"
#include "weir/turn.h"

/* ---- a sink that remembers ---- */

enum { KEPT_MAX = 64 }; /* of an event */

typedef struct heard {
    weir__mutex lock;
    weir__atomic_u64 count, bytes;
    weir__atomic_u32 shut; /* nothing is taken: FULL */
    char **texts;          /* under lock; each `count` of them, cut at KEPT_MAX */
    uint32_t *sizes;
    char *kinds; /* t: text, b: bytes, o: other */
    size_t room;
    size_t keep; /* only so many */
} heard;

/* Of the test at hand. */
static heard *test_heard;

static weir_status collector_handler(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)state;
    heard *h = test_heard;
    if (weir__load(&h->shut, acquire) != 0) {
        return WEIR_FULL;
    }
    weir__mutex_lock(&h->lock);
    const size_t i = weir__load(&h->count, relaxed);
    if (i < h->keep) {
        if (i == h->room) {
            h->room = h->room * 2 + 1024;
            h->texts = realloc(h->texts, h->room * sizeof(*h->texts));
            h->sizes = realloc(h->sizes, h->room * sizeof(*h->sizes));
            h->kinds = realloc(h->kinds, h->room);
        }
        const size_t kept = event->size < KEPT_MAX ? event->size : KEPT_MAX;
        h->texts[i] = malloc(kept + 1);
        memcpy(h->texts[i], event->data, kept);
        h->texts[i][kept] = '\0';
        h->sizes[i] = event->size;
        h->kinds[i] = event->type == &weir_text_type    ? 't'
                      : event->type == &weir_bytes_type ? 'b'
                                                        : 'o';
    }
    weir__mutex_unlock(&h->lock);
    weir__add(&h->bytes, event->size, relaxed);
    weir__add(&h->count, 1, release);
    return WEIR_OK;
}

static const weir_component_type collector_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SINK,
    .name = "collector",
    .help = "remembers",
    .handler = collector_handler,
    WEIR_PASSES_ON,
};

/* ---- the engine ---- */

typedef struct bench {
    weir_engine *engine;
    heard heard;
    weir__atomic_u32 logged; /* warnings and errors */
    weir__mutex log_lock;
    char log[4096]; /* the last of them; under log_lock */
    weir_error error;
    const weir_feed_options *feed; /* of sources to come */
} bench;

static void bench_log(void *context, const weir_log_entry *entry)
{
    bench *b = context;
    if (entry->level >= WEIR_LOG_WARNING) {
        weir__mutex_lock(&b->log_lock);
        snprintf(b->log, sizeof(b->log), "%s: %s", entry->component, entry->text);
        weir__mutex_unlock(&b->log_lock);
        weir__add(&b->logged, 1, release);
    }
    if (getenv("WEIR_TEST_SHOW") != NULL) {
        fprintf(stderr, "# %s: %s\n", entry->component, entry->text);
    }
}

/* Of the engines to come: on one thread a component's rounds and its handler take turns, on two
 * they may meet. */
static uint32_t bench_threads = 1;

static inline void bench_open(bench *b)
{
    memset(b, 0, sizeof(*b));
    b->error = (weir_error)WEIR_ERROR_INIT;
    b->heard.keep = SIZE_MAX;
    test_heard = &b->heard;
    b->engine = weir_engine_create(
        WEIR_ENGINE(.log = bench_log, .log_context = b, .threads = bench_threads), &b->error);
    assert_non_null(b->engine);
}

/* Adds a component with options as a file has them. Returns the status; the error is b->error. */
static inline weir_status bench_add(bench *b, const weir_component_type *type, const char *name,
                                    const char *options, const char *const *feeds)
{
    char text[4096];
    snprintf(text, sizeof(text), "here { %s }", options);
    b->error = (weir_error)WEIR_ERROR_INIT;
    weir_config *config = weir_config_parse("test", text, strlen(text),
                                            WEIR_CONFIG(.ignore_environment = true), &b->error);
    void *filled = calloc(1, type->config_size + 1);
    weir_status status = b->error.status;
    if (status == WEIR_OK && type->option_count > 0) {
        status =
            weir_config_read(config, "here", type->options, type->option_count, filled, &b->error);
    }
    if (status == WEIR_OK) {
        status = weir_component_add(
            b->engine, type,
            WEIR_COMPONENT(.name = name, .config = type->config_size > 0 ? filled : NULL,
                           .feeds = feeds, .feed = type->kind == WEIR_KIND_SOURCE ? b->feed : NULL),
            NULL, &b->error);
    }
    free(filled);
    weir_config_destroy(config);
    return status;
}

/* The same, and it must work; then a collector of its feed, if it has one. */
static inline void bench_source(bench *b, const weir_component_type *type, const char *name,
                                const char *options)
{
    if (bench_add(b, type, name, options, NULL) != WEIR_OK ||
        bench_add(b, &collector_type, "collector", "", WEIR_NAMES(name)) != WEIR_OK) {
        weir_error_print(&b->error);
        assert_int_equal(b->error.status, WEIR_OK);
    }
}

static inline void bench_start(bench *b)
{
    b->error = (weir_error)WEIR_ERROR_INIT;
    if (weir_components_start(b->engine, &b->error) != WEIR_OK) {
        weir_error_print(&b->error);
        assert_int_equal(b->error.status, WEIR_OK);
    }
}

static inline void bench_stop(bench *b)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(weir_components_stop(b->engine, 20 * WEIR_S, &report), WEIR_OK);
    assert_int_equal(report.left, 0);
}

static inline void bench_close(bench *b)
{
    weir_engine_destroy(b->engine);
    const size_t count = weir__load(&b->heard.count, relaxed);
    for (size_t i = 0; i < count && i < b->heard.keep; i++) {
        free(b->heard.texts[i]);
    }
    free(b->heard.texts);
    free(b->heard.sizes);
    free(b->heard.kinds);
}

static inline uint64_t bench_figure(bench *b, const char *name, const char *figure)
{
    uint64_t value = 0;
    assert_true(weir__meter_read(b->engine, name, figure, &value));
    return value;
}

/* Whether the last warning has `text` in it. */
static inline bool bench_warned(bench *b, const char *text)
{
    weir__mutex_lock(&b->log_lock);
    const bool found = strstr(b->log, text) != NULL;
    weir__mutex_unlock(&b->log_lock);
    return found;
}

static inline uint64_t bench_count(bench *b)
{
    return weir__load(&b->heard.count, acquire);
}

/* The text of event `i`, which has come. */
static inline const char *bench_text(bench *b, size_t i)
{
    weir__mutex_lock(&b->heard.lock);
    assert_true(i < bench_count(b));
    const char *text = b->heard.texts[i];
    weir__mutex_unlock(&b->heard.lock);
    return text;
}

/* ---- sockets of the test's own ---- */

static inline int test_connect(uint16_t port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons(port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

/* All of it, waiting as long as it takes. False: the peer has ended it. */
static inline bool test_send(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        const ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* Whether the peer has ended the connection, within a few seconds. */
static inline bool test_ended(int fd)
{
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    char byte;
    return poll(&wait, 1, 20000) == 1 && recv(fd, &byte, 1, MSG_DONTWAIT) <= 0;
}

/* A listener on a free port of loopback, or on that one. */
static inline int test_listen(uint16_t *port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    const int on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons(*port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(at);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

/* The next connection, within a few seconds; fails otherwise. */
static inline int test_accept(int listener)
{
    struct pollfd wait = { .fd = listener, .events = POLLIN };
    assert_int_equal(poll(&wait, 1, 20000), 1);
    const int fd = accept(listener, NULL, NULL);
    assert_true(fd >= 0);
    return fd;
}

/* Reads until `size` bytes are there or nothing comes for a few seconds; returns how many. */
static inline size_t test_receive(int fd, char *out, size_t size)
{
    size_t got = 0;
    while (got < size) {
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        if (poll(&wait, 1, 20000) != 1) {
            break;
        }
        const ssize_t n = recv(fd, out + got, size - got, 0);
        if (n <= 0) {
            break;
        }
        got += (size_t)n;
    }
    return got;
}

#endif /* WEIR_TEST_CONNECT_SUPPORT_H */
