/*
 * admin_load.c - what hostile HTTP clients cost the dispatchers: the p99 of an event's way, with
 * thousands of slow clients at weir's admin, and with the same clients at a bare libmicrohttpd
 * server in its place.
 *
 *     admin_load [--clients N] [--seconds S] [--rounds R]
 *
 * The rounds alternate: nobody, the bare server, weir. In each a thread posts an event every
 * 100 us, and its handler takes the time. The clients are a process of their own: each connects,
 * sends a request a byte at a time, and comes again a second after it was thrown out. The result,
 * one line of JSON, has the median of the rounds and the ratio that counts: weir over bare.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <weir/weir.h>

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "admin/admin.h"
#include "observe/histogram.h"

enum { PERIOD_NS = 100000, ROUNDS_MAX = 32 };
typedef enum side { NOBODY, BARE, OURS, SIDES } side;
static const char *const side_names[] = { "nobody", "bare", "weir" };

static int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_until(int64_t when)
{
    const struct timespec t = { when / 1000000000, when % 1000000000 };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

/* ---- the clients ---- */

typedef struct slow {
    int descriptor;
    int64_t again; /* not before: to connect, or to send the next byte */
} slow;

static void turn_one(slow *s, const struct sockaddr_in *to, int64_t now)
{
    if (now < s->again) {
        return;
    }
    if (s->descriptor < 0) {
        s->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (s->descriptor >= 0) {
            (void)connect(s->descriptor, (const struct sockaddr *)to, sizeof(*to));
        }
        s->again = now + 200000000;
        return;
    }
    char byte;
    const bool gone = (send(s->descriptor, "G", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
                       errno != EAGAIN && errno != ENOTCONN) ||
                      recv(s->descriptor, &byte, 1, MSG_DONTWAIT) == 0;
    if (gone) {
        (void)close(s->descriptor);
        s->descriptor = -1;
    }
    s->again = now + 1000000000;
}

/* Never returns. */
static void be_clients(uint16_t port, uint32_t count)
{
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons(port),
                                    .sin_addr = { htonl(INADDR_LOOPBACK) } };
    slow *all = calloc(count, sizeof(*all));
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int64_t start = now_ns();
    for (uint32_t i = 0; all != NULL && i < count; i++) {
        all[i] = (slow){ -1, start + (int64_t)i * (1000000000 / count) };
    }
    if (all == NULL) {
        _exit(1);
    }
    for (int64_t next = start;; next += 10000000) {
        const int64_t now = now_ns();
        for (uint32_t i = 0; i < count; i++) {
            turn_one(&all[i], &to, now);
        }
        sleep_until(next);
    }
}

/* ---- the servers ---- */

/* NOLINTBEGIN(readability-non-const-parameter): the library's form */
static enum MHD_Result on_bare(void *context, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **request)
/* NOLINTEND(readability-non-const-parameter) */
{
    static char text[] = "{}";
    (void)context, (void)url, (void)method, (void)version, (void)upload, (void)upload_size;
    (void)request;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(2, text, MHD_RESPMEM_PERSISTENT);
    const enum MHD_Result queued = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return queued;
}

typedef struct server {
    struct MHD_Daemon *bare;
    weir__admin_server *ours;
    uint16_t port;
} server;

static bool open_server(server *s, side which, weir_engine *engine, uint32_t clients)
{
    *s = (server){ .port = 0 };
    if (which == BARE) {
        s->bare = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, on_bare, NULL,
                                   MHD_OPTION_CONNECTION_LIMIT, clients + 16, MHD_OPTION_END);
        const union MHD_DaemonInfo *info =
            s->bare != NULL ? MHD_get_daemon_info(s->bare, MHD_DAEMON_INFO_BIND_PORT) : NULL;
        s->port = info != NULL ? info->port : 0;
        return s->port != 0;
    }
    if (which == OURS) {
        weir__admin_options options;
        weir_error error = WEIR_ERROR_INIT;
        weir__admin_defaults(&options);
        options.socket_enabled = false;
        options.http.port = 0;
        s->ours = weir__admin_open(engine, &options, "load", &error);
        if (s->ours == NULL) {
            (void)weir_error_print(&error);
            return false;
        }
        s->port = (uint16_t)strtoul(strrchr(weir__admin_url(s->ours), ':') + 1, NULL, 10);
    }
    return true;
}

static void close_server(server *s)
{
    if (s->bare != NULL) {
        MHD_stop_daemon(s->bare);
    }
    weir__admin_close(s->ours);
}

/* ---- the load ---- */

typedef struct load {
    weir_engine *engine;
    weir_processor to;
    _Atomic(weir__histogram *) times; /* where the handler writes; NULL: nowhere */
} load;

WEIR_EVENT_TYPE(int64_t, "load.sent");

static weir_status on_event(void *state, weir_turn *turn, const weir_event *event)
{
    load *l = state;
    weir__histogram *times = atomic_load_explicit(&l->times, memory_order_acquire);
    (void)turn;
    if (times != NULL) {
        weir__histogram_record(times, (uint64_t)(now_ns() - *(const int64_t *)event->data));
    }
    return WEIR_OK;
}

static void post_for(load *l, int64_t span)
{
    const int64_t begin = now_ns();
    for (int64_t due = begin; due < begin + span; due += PERIOD_NS) {
        sleep_until(due);
        const int64_t sent = now_ns();
        const weir_event event = { .type = &int64_t_type, .data = &sent, .size = sizeof(sent) };
        if (weir_engine_post(l->engine, l->to, &event) != WEIR_OK) {
            fputs("admin_load: an event was refused\n", stderr);
        }
    }
}

typedef struct result {
    uint64_t p50, p99;
    double cpu; /* of this process, in cores: the clients are another one */
} result;

static double cpu_seconds(void)
{
    struct rusage used;
    (void)getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

static bool run_round(load *l, side which, uint32_t clients, double seconds, result *out)
{
    server s;
    if (!open_server(&s, which, l->engine, clients)) {
        fprintf(stderr, "admin_load: %s does not start\n", side_names[which]);
        return false;
    }
    pid_t child = 0;
    if (which != NOBODY) {
        child = fork();
        if (child == 0) {
            be_clients(s.port, clients);
        }
    }
    weir__histogram *times = calloc(1, sizeof(*times));
    weir__histogram_sum *sum = calloc(1, sizeof(*sum));
    post_for(l, 2000000000); /* until the clients are there */
    atomic_store_explicit(&l->times, times, memory_order_release);
    const double before = cpu_seconds();
    post_for(l, (int64_t)(seconds * 1e9));
    out->cpu = (cpu_seconds() - before) / seconds;
    atomic_store_explicit(&l->times, NULL, memory_order_release);
    post_for(l, 50000000); /* none is inside any more */
    if (child > 0) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
    }
    close_server(&s);
    weir__histogram_sum_add_live(sum, times);
    out->p50 = weir__histogram_sum_percentile(sum, 50);
    out->p99 = weir__histogram_sum_percentile(sum, 99);
    free(times);
    free(sum);
    return true;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static uint64_t median(uint64_t *values, uint32_t count)
{
    qsort(values, count, sizeof(*values), by_value);
    return values[count / 2];
}

static int measure(load *l, uint32_t clients, double seconds, uint32_t rounds)
{
    uint64_t p50[SIDES][ROUNDS_MAX];
    uint64_t p99[SIDES][ROUNDS_MAX];
    double cpu[SIDES] = { 0 };
    for (uint32_t r = 0; r < rounds; r++) {
        for (int which = NOBODY; which < SIDES; which++) {
            result found;
            if (!run_round(l, (side)which, clients, seconds, &found)) {
                return 1;
            }
            p50[which][r] = found.p50;
            p99[which][r] = found.p99;
            cpu[which] += found.cpu / rounds;
            fprintf(stderr, "round %u %-6s p50 %6llu ns  p99 %8llu ns  %.3f cores\n", r + 1,
                    side_names[which], (unsigned long long)found.p50, (unsigned long long)found.p99,
                    found.cpu);
        }
    }
    printf("{\"clients\": %u, \"rounds\": %u, \"seconds\": %g", clients, rounds, seconds);
    uint64_t last[SIDES];
    for (int which = NOBODY; which < SIDES; which++) {
        last[which] = median(p99[which], rounds);
        printf(", \"%s\": {\"p50_ns\": %llu, \"p99_ns\": %llu, \"cores\": %.3f}", side_names[which],
               (unsigned long long)median(p50[which], rounds), (unsigned long long)last[which],
               cpu[which]);
    }
    printf(", \"p99_weir_over_bare\": %.3f}\n", (double)last[OURS] / (double)last[BARE]);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct option options[] = { { "clients", required_argument, NULL, 'c' },
                                             { "seconds", required_argument, NULL, 's' },
                                             { "rounds", required_argument, NULL, 'r' },
                                             { NULL, 0, NULL, 0 } };
    struct rlimit files = { 0, 0 };
    (void)getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    const uint32_t most = files.rlim_max > 10100 ? 10000 : (uint32_t)files.rlim_max - 100;
    uint32_t clients = most;
    uint32_t rounds = 5;
    double seconds = 3;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'c') {
            clients = (uint32_t)strtoul(optarg, NULL, 10);
        } else if (c == 's') {
            seconds = strtod(optarg, NULL);
        } else if (c == 'r') {
            rounds = (uint32_t)strtoul(optarg, NULL, 10);
        } else {
            return 2;
        }
    }
    if (clients < 1 || clients > most || rounds < 1 || rounds > ROUNDS_MAX || seconds <= 0) {
        fprintf(stderr, "admin_load: 1 to %u clients, 1 to %d rounds\n", most, ROUNDS_MAX);
        return 2;
    }
    weir_error error = WEIR_ERROR_INIT;
    load l = { .engine = weir_engine_create(NULL, &error) };
    l.to =
        weir_processor_add(l.engine, WEIR_PROCESSOR(.handler = on_event, .argument = &l), &error);
    (void)weir_engine_start(l.engine, &error);
    if (error.status != WEIR_OK) {
        return weir_error_print(&error);
    }
    const int status = measure(&l, clients, seconds, rounds);
    weir_engine_destroy(l.engine);
    return status;
}
