/*
 * server/life.c - see life.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server/life.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/error.h"
#include "connect/files.h"
#include "server/notify.h"
#include "server/pulse.h"
#include "sync/thread.h"

/* A reload that takes longer than this is no longer spoken for to the service manager. */
#define RELOAD_PATIENCE (60 * WEIR_S)
#define ONE_BREATH (200 * WEIR_MS)

typedef struct life life;

/* One thing that a thread beside does. The starter writes it before, the thread until it rings. */
typedef struct job {
    weir__os_thread thread;
    bool running;
    int done; /* a doorbell */
    void (*run)(life *life);
} job;

struct life {
    weir__server *server;
    weir_engine *engine;
    const weir__life_options *options;
    weir__life_result *result;
    int signals;
    int sources_done; /* a doorbell: all of them have come to their end */
    weir__notify notify;
    weir__pulse *pulse;
    weir_ns fed; /* when the watchdog was, or would have been */
    job start, stop, reload;
    weir_error start_error, reload_error;
    weir_status start_status, stop_status, reload_status;
    weir__composition *wanted; /* of a reload */
    weir__reload reloaded;
    weir_ns reload_began;
    bool hung_up;    /* a SIGHUP waits for its turn */
    weir_ns told_at; /* when it was told to end, last; 0: it was not */
};

/* ---- signals ---- */

static sigset_t signal_set(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    return set;
}

int weir__life_signals(void)
{
    const sigset_t set = signal_set();
    signal(SIGPIPE, SIG_IGN); /* a peer that is gone is an answer of write, no end */
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): of the one thread there is, and those it starts */
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) {
        return -1;
    }
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* ---- jobs ---- */

/* What a job's thread gets to know. */
typedef struct errand {
    life *life;
    job *job;
} errand;

static errand errands[3]; /* one life a process has; one place a job */

static void run_errand(void *argument)
{
    const errand *e = argument;
    weir__os_thread_name("weir-life");
    e->job->run(e->life);
    weir__doorbell_ring(e->job->done);
}

static bool begin(life *l, job *j, void (*run)(life *life))
{
    errand *e = &errands[j == &l->start ? 0 : j == &l->stop ? 1 : 2];
    j->run = run;
    j->done = weir__doorbell_open();
    if (j->done < 0) {
        return false;
    }
    *e = (errand){ l, j };
    if (weir__os_thread_start(&j->thread, run_errand, e) != 0) {
        weir__doorbell_close(j->done);
        return false;
    }
    j->running = true;
    return true;
}

static void finish(job *j)
{
    weir__os_thread_join(&j->thread);
    weir__doorbell_close(j->done);
    j->running = false;
}

/* ---- waiting ---- */

static int least(weir_ns a, weir_ns b)
{
    const weir_ns wait = a < b ? a : b;
    if (wait == WEIR_FOREVER) {
        return -1;
    }
    const weir_ns ms = wait > 0 ? (wait + WEIR_MS - 1) / WEIR_MS : 0;
    return ms > 1000000 ? 1000000 : (int)ms;
}

static bool is_end(int signal)
{
    return signal == SIGINT || signal == SIGTERM;
}

/* Said twice in one breath it is said once: timeout(1) sends its signal to the process, and then to
 * its group, which the process is in. */
static bool is_echo(life *l, int signal)
{
    const weir_ns now = weir__clock_now();
    if (!is_end(signal)) {
        return false;
    }
    if (l->told_at != 0 && now - l->told_at < ONE_BREATH) {
        return true;
    }
    l->told_at = now;
    return false;
}

/* Until a signal (its number), a job is done (0), or the time is over (0). */
static int wait_for(life *l, weir_ns timeout)
{
    const job *jobs[] = { &l->start, &l->stop, &l->reload };
    struct pollfd set[5] = { { .fd = l->signals, .events = POLLIN } };
    nfds_t count = 1;
    if (l->sources_done >= 0) {
        set[count++] = (struct pollfd){ .fd = l->sources_done, .events = POLLIN };
    }
    for (size_t i = 0; i < 3; i++) {
        if (jobs[i]->running) {
            set[count++] = (struct pollfd){ .fd = jobs[i]->done, .events = POLLIN };
        }
    }
    if (poll(set, count, least(timeout, WEIR_FOREVER)) <= 0 || (set[0].revents & POLLIN) == 0) {
        return 0;
    }
    struct signalfd_siginfo info;
    const bool got = read(l->signals, &info, sizeof(info)) == (ssize_t)sizeof(info);
    return got && !is_echo(l, (int)info.ssi_signo) ? (int)info.ssi_signo : 0;
}

static bool is_done(const job *j)
{
    struct pollfd set = { .fd = j->done, .events = POLLIN };
    return j->running && poll(&set, 1, 0) == 1;
}

/* ---- the watchdog ---- */

/* Every dispatcher has answered since the last time: then the manager is told. */
static void feed(life *l, weir_ns now)
{
    const char *slow = NULL;
    if (l->notify.watchdog == 0 || now - l->fed < l->notify.watchdog / 4) {
        return;
    }
    l->fed = now;
    if (l->reload.running) {
        if (now - l->reload_began < RELOAD_PATIENCE) {
            weir__notify_send(&l->notify, "WATCHDOG=1");
        }
    } else if (l->pulse != NULL && weir__pulse_beat(l->pulse, &slow)) {
        weir__notify_send(&l->notify, "WATCHDOG=1");
    } else if (slow != NULL) {
        weir__notify_send(&l->notify, "STATUS=dispatcher \"%s\" does not answer", slow);
    }
}

static void open_pulse(life *l)
{
    weir_error error = WEIR_ERROR_INIT;
    if (l->notify.watchdog == 0) {
        return;
    }
    l->pulse = weir__pulse_open(l->engine, &error);
    if (l->pulse == NULL) {
        char text[400];
        snprintf(text, sizeof(text), "the watchdog is not fed: %s", error.text);
        l->options->say(l->options->context, text);
    }
}

/* ---- reload ---- */

static void run_reload(life *l)
{
    l->reload_status = weir__server_reload(l->server, l->wanted, &l->reloaded, &l->reload_error);
}

static void end_reload(life *l)
{
    char text[600], error[400];
    if (l->reload.running) {
        finish(&l->reload);
    }
    if (l->reload_status == WEIR_OK) {
        snprintf(text, sizeof(text),
                 "reloaded: %zu added, %zu removed, %zu wait for a restart, %zu began anew",
                 l->reloaded.added, l->reloaded.removed, l->reloaded.pending, l->reloaded.anew);
        weir__notify_send(&l->notify, "READY=1\nSTATUS=running; %s", text);
    } else {
        (void)weir_error_format(&l->reload_error, error, sizeof(error));
        snprintf(text, sizeof(text), "reload refused, all stays as it was: %s", error);
        weir__notify_send(&l->notify, "READY=1\nSTATUS=running; the last reload was refused");
    }
    l->options->say(l->options->context, text);
    open_pulse(l);
}

static void begin_reload(life *l, weir_ns now)
{
    l->hung_up = false;
    weir__notify_reloading(&l->notify);
    l->wanted = l->options->read_again != NULL ? l->options->read_again(l->options->context) : NULL;
    if (l->wanted == NULL) {
        l->options->say(l->options->context, "reload refused: all stays as it was");
        weir__notify_send(&l->notify, "READY=1\nSTATUS=running; the last reload was refused");
        return;
    }
    weir__pulse_close(l->pulse); /* a dispatcher that goes may have no processor */
    l->pulse = NULL;
    l->reload_began = now;
    l->reload_error = (weir_error)WEIR_ERROR_INIT;
    l->reloaded = (weir__reload){ 0 };
    if (!begin(l, &l->reload, run_reload)) {
        run_reload(l);
        end_reload(l);
    }
}

/* ---- the phases ---- */

static void run_start(life *l)
{
    l->start_status = weir__server_start(l->server, &l->start_error);
}

static void run_stop(life *l)
{
    const weir_ns timeout = weir__server_settings_of(l->server)->stop_timeout;
    l->stop_status = weir__server_stop(l->server, timeout, &l->result->report);
}

/* True: it runs. False: it does not, or was told to end while it started. */
static bool start(life *l)
{
    bool told = false;
    if (!begin(l, &l->start, run_start)) {
        run_start(l);
    }
    while (l->start.running) {
        const int signal = wait_for(l, WEIR_FOREVER);
        l->hung_up = l->hung_up || signal == SIGHUP;
        if (is_end(signal) && told) {
            l->result->end = WEIR__LIFE_CUT_SHORT;
            return false;
        }
        if (is_end(signal)) {
            told = true;
            (void)begin(l, &l->stop, run_stop);
        }
        if (is_done(&l->start)) {
            finish(&l->start);
        }
    }
    return l->start_status == WEIR_OK && !told;
}

static void ring(void *context)
{
    weir__doorbell_ring(((life *)context)->sources_done);
}

/* What is done with what it was given ends by itself; a reload may have brought another source. */
static bool has_ended(life *l)
{
    if (l->sources_done < 0) {
        return false;
    }
    weir__doorbell_clear(l->sources_done);
    return !l->reload.running && weir_components_are_done(l->engine);
}

static void watch(life *l)
{
    const weir_ns began = weir__clock_now();
    const weir_ns end = l->options->seconds > 0 ? began + l->options->seconds : WEIR_FOREVER;
    weir_ns now = began, next_tick = began;
    while (now < end) {
        weir_ns wait = end == WEIR_FOREVER ? WEIR_FOREVER : end - now;
        if (l->hung_up && !l->reload.running) { /* while it started or reloaded, too */
            begin_reload(l, now);
        }
        if (l->options->tick_every > 0) {
            if (now >= next_tick) {
                l->options->tick(l->options->context, l->server, now - began);
                next_tick = now + l->options->tick_every;
            }
            wait = next_tick - now < wait ? next_tick - now : wait;
        }
        if (l->notify.watchdog > 0) {
            feed(l, now);
            wait = l->notify.watchdog / 4 < wait ? l->notify.watchdog / 4 : wait;
        }
        const int signal = wait_for(l, wait);
        if (signal == SIGHUP) {
            weir__file_sinks_reopen(l->engine); /* now, and whatever becomes of the reload */
            l->hung_up = true;
        }
        if (is_end(signal) || has_ended(l)) {
            break;
        }
        if (is_done(&l->reload)) {
            end_reload(l);
        }
        now = weir__clock_now();
    }
    l->result->ran = weir__clock_now() - began;
}

/* Until it is stopped, or a second signal comes. */
static void stop(life *l)
{
    weir__notify_send(&l->notify, "STOPPING=1\nSTATUS=handling what was accepted");
    l->result->stop_began = weir__clock_wall();
    while (l->reload.running && !is_done(&l->reload)) {
        if (is_end(wait_for(l, WEIR_FOREVER))) {
            l->result->end = WEIR__LIFE_CUT_SHORT;
            return;
        }
    }
    if (l->reload.running) {
        end_reload(l);
    }
    if (!l->stop.running && !begin(l, &l->stop, run_stop)) {
        run_stop(l);
    }
    while (l->stop.running) {
        if (is_end(wait_for(l, WEIR_FOREVER))) {
            l->result->end = WEIR__LIFE_CUT_SHORT;
            return;
        }
        if (is_done(&l->stop)) {
            finish(&l->stop);
        }
    }
    l->result->end = l->stop_status == WEIR_TIMEOUT ? WEIR__LIFE_TIMEOUT : WEIR__LIFE_ENDED;
}

void weir__life_run(weir__server *server, int signals, const weir__life_options *options,
                    weir__life_result *result, weir_error *error)
{
    static life l; /* a job that is cut short still has it */
    char text[300];
    l = (life){ .server = server,
                .engine = weir__server_engine(server),
                .options = options,
                .result = result,
                .signals = signals,
                .start_error = WEIR_ERROR_INIT,
                .reload_error = WEIR_ERROR_INIT };
    *result = (weir__life_result){ .report = WEIR_STOP_REPORT_INIT };
    if (!weir__notify_open(&l.notify, text, sizeof(text))) {
        options->say(options->context, text);
    }
    l.sources_done = weir__doorbell_open();
    weir_components_on_done(l.engine, ring, &l);
    const bool runs = start(&l);
    weir_status status = l.start_status != WEIR_STOPPING ? l.start_status : WEIR_OK;
    *error = l.start_error;
    if (runs) {
        status = options->started(options->context, server, error);
    }
    if (runs && status == WEIR_OK) {
        open_pulse(&l);
        weir__notify_send(&l.notify, "READY=1\nSTATUS=running");
        watch(&l);
    }
    if (result->end != WEIR__LIFE_CUT_SHORT && (runs || l.stop.running)) {
        stop(&l);
    }
    if (status != WEIR_OK && result->end == WEIR__LIFE_ENDED) {
        result->end = WEIR__LIFE_NOT_BEGUN;
    }
    weir__notify_close(&l.notify);
    close(signals);
    if (result->end == WEIR__LIFE_ENDED || result->end == WEIR__LIFE_NOT_BEGUN) {
        weir__doorbell_close(l.sources_done); /* else a thread that still runs may ring it */
    }
    if (result->end != WEIR__LIFE_CUT_SHORT) { /* else its sums are all that is left to do */
        const sigset_t set = signal_set();
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): of this thread; the next one ends the process */
        sigprocmask(SIG_UNBLOCK, &set, NULL);
    }
}
