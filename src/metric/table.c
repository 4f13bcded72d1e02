/*
 * metric/table.c - every metric of weir's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "metric/table.h"

#include <string.h>

/* A row of group G, whose item is T; `member` of it is a V. */
#define ROW(G, T, V, member_, ...)                                                                 \
    {                                                                                              \
        .group = WEIR__GROUP_##G, .value = WEIR__VALUE_##V, .offset = offsetof(T, member_),        \
        __VA_ARGS__                                                                                \
    }
#define COUNTER .type = WEIR__TYPE_COUNTER
#define GAUGE .type = WEIR__TYPE_GAUGE
#define SUMMARY .type = WEIR__TYPE_SUMMARY

/* Columns: the member, and its JSON key, Prometheus name, label and help. A key "" is none, and so
 * are names and labels. */
#define TEXT(G, T, m, k, h) ROW(G, T, TEXT, m, .key = (k), .help = (h))
#define HIDDEN(G, T, V, m, k, h) ROW(G, T, V, m, .key = (k), .help = (h))
#define COUNT(G, T, V, m, k, n, h) ROW(G, T, V, m, .key = (k), .name = (n), COUNTER, .help = (h))
#define COUNT_OF(G, T, V, m, k, n, l, h)                                                           \
    ROW(G, T, V, m, .key = (k), .name = (n), .label = (l), COUNTER, .help = (h))
#define LEVEL(G, T, V, m, k, n, h) ROW(G, T, V, m, .key = (k), .name = (n), GAUGE, .help = (h))
#define QUANTILE(G, T, m, k, n, q, h)                                                              \
    ROW(G, T, NS, m, .key = (k), .name = (n), .label = "quantile=\"" q "\"", SUMMARY, .help = (h))
#define TIMES(G, T, m, k, n, h) ROW(G, T, LATENCY, m, .key = (k), .name = (n), SUMMARY, .help = (h))

#define REFUSED "Events that were not accepted, by reason"
#define DROPPED "Events that were accepted and dropped by a full mailbox's policy, by reason"
#define DEAD "Events that came to nothing after they were accepted, by reason"
#define COPIES "Copies that broadcasts made, by outcome"
#define UNACCEPTED "Dead letters of events that were never accepted, by reason"
#define QUEUEING "From the post to the handler, of the events that were measured"
#define HANDLING "In the handler, of the events that were measured"
#define ROUTER_HANDLING "In the handlers of its flows, of those that were timed"
#define WORKER_HANDLING "In the handlers of the worker's flows, of those that were timed"
#define LATE "How late timers came"
#define TIMER_FAILED "Timers that were due and came to nothing, by reason"

const weir__metric_row weir__metric_rows[] = {
/* ---- the engine ---- */
#define E(kind, V, m, ...) kind(ENGINE, weir__engine_item, V, m, __VA_ARGS__)
    TEXT(ENGINE, weir__engine_item, name, "name", "Its name"),
    TEXT(ENGINE, weir__engine_item, phase, "phase",
         "created, starting, running, stopping or stopped"),
    E(HIDDEN, NS, time, "time_ns",
      "When the figures were taken: since 1970, on a clock that is not set meanwhile"),
    E(LEVEL, NS, uptime, "uptime_ns", "weir_uptime_seconds", "Since it was created"),
    E(COUNT, U64, c.accepted, "accepted", "weir_accepted_total",
      "Events that were accepted; on a stopped engine accepted = handled + dropped + dead + left"),
    E(COUNT, U64, c.handled, "handled", "weir_handled_total", "Events that a handler has had"),
    E(HIDDEN, U64, c.dropped, "dropped", "Sum of dropped_newest and dropped_oldest"),
    E(HIDDEN, U64, c.dead, "dead", "Sum of dead_failed and dead_stopped"),
    E(COUNT, U64, c.left, "left", "weir_left_total",
      "Events that a stop which ran out of time has left"),
    E(LEVEL, U64, c.depth, "depth", "weir_depth", "Events accepted and not yet done"),
    E(COUNT_OF, U64, c.refused_full, "refused_full", "weir_refused_total", "reason=\"full\"",
      REFUSED),
    E(COUNT_OF, U64, c.refused_stopping, "refused_stopping", "weir_refused_total",
      "reason=\"stopping\"", REFUSED),
    E(COUNT_OF, U64, c.refused_unknown, "refused_unknown", "weir_refused_total",
      "reason=\"unknown\"", REFUSED),
    E(COUNT_OF, U64, c.refused_other, "refused_other", "weir_refused_total", "reason=\"other\"",
      REFUSED),
    E(COUNT_OF, U64, c.dropped_newest, "dropped_newest", "weir_dropped_total", "reason=\"newest\"",
      DROPPED),
    E(COUNT_OF, U64, c.dropped_oldest, "dropped_oldest", "weir_dropped_total", "reason=\"oldest\"",
      DROPPED),
    E(COUNT, U64, c.unhandled, "unhandled", "weir_unhandled_total",
      "Of the handled ones: no handler knew them"),
    E(COUNT, U64, c.failures, "failures", "weir_failures_total",
      "Answers of handlers that were failures; of an event that is retried each time"),
    E(COUNT, U64, c.retries, "retries", "weir_retries_total",
      "Times that an event was put off, to be handled again"),
    E(COUNT, U64, c.restarts, "restarts", "weir_restarts_total", "Restarts of processors"),
    E(COUNT, U64, c.stuck, "stuck", "weir_stuck_total",
      "Handlers and hooks that ran longer than stuck-after"),
    E(COUNT, U64, c.broadcasts, "broadcasts", "weir_broadcasts_total",
      "Events, times the channels that each was for"),
    E(COUNT, U64, c.unheard, "unheard", "weir_broadcasts_unheard_total",
      "Of them: nobody listened there, or there was no such channel"),
    E(COUNT_OF, U64, c.delivered, "delivered", "weir_broadcast_copies_total",
      "outcome=\"delivered\"", COPIES),
    E(COUNT_OF, U64, c.undelivered, "undelivered", "weir_broadcast_copies_total",
      "outcome=\"refused\"", COPIES),
    E(COUNT_OF, U64, c.dead_failed, "dead_failed", "weir_dead_total", "reason=\"failed\"", DEAD),
    E(COUNT_OF, U64, c.dead_stopped, "dead_stopped", "weir_dead_total", "reason=\"stopped\"", DEAD),
    E(COUNT, U64, c.letters, "letters", "weir_dead_letters_total",
      "Dead letters, whatever the reason"),
    E(COUNT_OF, U64, c.letters_unknown, "letters_unknown", "weir_dead_letters_unaccepted_total",
      "reason=\"unknown\"", UNACCEPTED),
    E(COUNT_OF, U64, c.letters_refused, "letters_refused", "weir_dead_letters_unaccepted_total",
      "reason=\"refused\"", UNACCEPTED),
    E(COUNT_OF, U64, c.letters_late, "letters_late", "weir_dead_letters_unaccepted_total",
      "reason=\"late\"", UNACCEPTED),
    E(LEVEL, U64, c.processors, "processors", "weir_processors", "Processors that there are"),
    E(LEVEL, U64, c.dispatchers, "dispatchers", "weir_dispatchers",
      "Dispatchers that a thread serves"),
    E(LEVEL, U64, c.threads, "threads", "weir_threads", "Threads that run processors"),
    E(LEVEL, U64, c.block_bytes, "block_bytes", "weir_block_bytes",
      "Memory of payload blocks in use"),
    E(LEVEL, U64, c.block_bytes_high, "block_bytes_high", "weir_block_peak_bytes",
      "The most that it ever was"),
    E(COUNT, U64, c.block_refused, "block_refused", "weir_block_refused_total",
      "Blocks that were not given, since block-bytes-max was reached"),
    E(LEVEL, U64, c.pool_bytes, "pool_bytes", "weir_pool_bytes", "Memory for envelopes"),
    E(LEVEL, U64, latency_every, "latency_every", "weir_latency_every",
      "One event in so many is measured; 0: none"),
    E(LEVEL, U64, health, NULL, "weir_health", "0 up, 1 degraded, 2 down"),
    E(LEVEL, U64, hidden, NULL, "weir_metrics_processors_hidden",
      "Processors without series of their own, summed up as \"" WEIR__METRICS_OTHERS "\""),
#undef E

/* ---- the process ---- */
#define P(kind, V, m, ...) kind(PROCESS, weir__process_item, V, m, __VA_ARGS__)
    P(COUNT, NS, cpu_ns, "cpu_ns", "weir_process_cpu_seconds_total",
      "Time on cores, in user and system mode"),
    P(LEVEL, U64, rss_bytes, "rss_bytes", "weir_process_resident_memory_bytes",
      "Memory that is in RAM"),
    P(LEVEL, U64, cores_usable, "cores_usable", "weir_process_cores_usable",
      "Cores that the process may use: affinity mask, cut by the cgroup's quota"),
    P(LEVEL, U64, threads, "threads_os", "weir_process_threads", "Threads of the system"),
    P(COUNT, U64, throttled, "throttled", "weir_process_throttled_periods_total",
      "Periods in which the cgroup's quota stopped the process"),
    P(COUNT, NS, throttled_ns, "throttled_ns", "weir_process_throttled_seconds_total",
      "How long it was stopped so"),
    P(LEVEL, REAL, quota_cores, "quota_cores", "weir_process_quota_cores",
      "The cgroup's quota, in cores; 0: none"),
#undef P

/* ---- dispatchers ---- */
#define D(kind, V, m, ...) kind(DISPATCHER, weir__dispatcher_item, V, m, __VA_ARGS__)
#define NAME(rest) "weir_dispatcher_" rest
    TEXT(DISPATCHER, weir__dispatcher_item, name, "dispatcher", "Its name; \"\" is the default"),
    D(LEVEL, U64, c.processors, "processors", NAME("processors"), "Processors that belong to it"),
    D(LEVEL, U64, c.threads, "threads", NAME("threads"), "Threads that serve it"),
    D(LEVEL, U64, c.ready, "ready", NAME("ready"), "Processors in its queue"),
    D(LEVEL, U64, c.depth, "depth", NAME("depth"), "Events that wait for its processors"),
    D(COUNT, U64, c.handled, "handled", NAME("handled_total"), "Events"),
    D(COUNT, U64, c.turns, "turns", NAME("turns_total"), "Turns that were given to processors"),
    D(COUNT, U64, c.try_locks, "try_locks", NAME("try_locks_total"), "Attempts at its lock"),
    D(COUNT, U64, c.try_locks_failed, "try_locks_failed", NAME("try_locks_failed_total"),
      "Of them: another had it; contention = failed / attempts"),
    D(COUNT, U64, c.backoffs, "backoffs", NAME("backoffs_total"),
      "Sleeps after a full round of failed attempts"),
    D(COUNT, NS, c.backoff_ns, "backoff_ns", NAME("backoff_seconds_total"),
      "How long they were asked to last"),
    D(COUNT, U64, c.rounds, "rounds", NAME("rounds_total"),
      "Looks at it; back-off rate = backoffs / rounds"),
    D(COUNT, U64, c.signals, "signals", NAME("signals_total"), "Threads that were woken for it"),
    D(COUNT, U64, c.wakeups, "wakeups", NAME("wakeups_total"), "Wake-ups of its threads"),
    D(COUNT, U64, c.wakeups_found, "wakeups_found", NAME("wakeups_found_total"),
      "Of them: found work here"),
    TIMES(DISPATCHER, weir__dispatcher_item, queueing, "queueing", NAME("queueing_seconds"),
          QUEUEING),
    TIMES(DISPATCHER, weir__dispatcher_item, handling, "handling", NAME("handling_seconds"),
          HANDLING),
#undef NAME
#undef D

/* ---- threads ---- */
#define T(kind, V, m, ...) kind(THREAD, weir__thread_item, V, m, __VA_ARGS__)
#define NAME(rest) "weir_thread_" rest
    TEXT(THREAD, weir__thread_item, name, "thread", "Its name"),
    TEXT(THREAD, weir__thread_item, dispatchers, "dispatchers", "What it serves, with commas"),
    TEXT(THREAD, weir__thread_item, idle, "idle", "What it does when it finds no work"),
    T(COUNT, U64, c.handled, "handled", NAME("handled_total"), "Events"),
    T(COUNT, U64, c.turns, "turns", NAME("turns_total"), "Turns that it ran"),
    T(COUNT, U64, c.rounds, "rounds", NAME("rounds_total"), "Duty cycles"),
    T(COUNT, U64, c.rounds_idle, "rounds_idle", NAME("rounds_idle_total"),
      "Of them: found nothing"),
    T(COUNT, U64, c.parks, "parks", NAME("parks_total"), "Times that it slept until woken"),
    T(COUNT, U64, c.backoffs, "backoffs", NAME("backoffs_total"),
      "Times that it slept after contention"),
    T(COUNT, NS, c.alive, "alive_ns", NAME("alive_seconds_total"), "Since it began"),
    T(COUNT, NS, c.busy, "busy_ns", NAME("busy_seconds_total"),
      "Of that, with work; utilisation = busy / alive"),
    T(COUNT, NS, c.cpu, "cpu_ns", NAME("cpu_seconds_total"),
      "Of that, on a core, as the system counts it"),
    T(LEVEL, I32, c.core, "core", NAME("core"), "The first core that it is pinned to; -1: none"),
    T(LEVEL, I32, c.core_now, "core_now", NAME("core_now"), "Where it ran last; -1: not known"),
    T(HIDDEN, I32, c.system_id, "system_id", "Of the system's thread; 0: it does not run"),
    T(HIDDEN, BOOL, external, "external", "The application turns it"),
    TIMES(THREAD, weir__thread_item, handling, "handling", NAME("handling_seconds"), HANDLING),
    TIMES(THREAD, weir__thread_item, waits, "waits", NAME("waits_seconds"),
          "How long it was parked each time, until it ran again"),
#undef NAME
#undef T

/* ---- processors ---- */
#define R(kind, V, m, ...) kind(PROCESSOR, weir__processor_item, V, m, __VA_ARGS__)
#define NAME(rest) "weir_processor_" rest
    TEXT(PROCESSOR, weir__processor_item, name, "processor",
         "Its name; one without: #index.generation"),
    TEXT(PROCESSOR, weir__processor_item, dispatcher, "dispatcher",
         "Where it runs; (its own) if it is dedicated"),
    TEXT(PROCESSOR, weir__processor_item, component, "component",
         "The component that it belongs to; \"\" if to none"),
    R(LEVEL, U64, c.depth, "depth", NAME("depth"), "Events that wait for it"),
    R(LEVEL, U64, c.depth_high, "depth_high", NAME("depth_high"),
      "The most that it was seen to be"),
    R(LEVEL, U64, c.mailbox_max, "mailbox_max", NAME("mailbox_max"), "The bound of its mailbox"),
    R(COUNT, U64, c.accepted, "accepted", NAME("accepted_total"),
      "Events that were accepted for it"),
    R(COUNT, U64, c.handled, "handled", NAME("handled_total"), "Events that its handler has had"),
    R(HIDDEN, U64, c.dropped, "dropped", "Sum of dropped_newest and dropped_oldest"),
    R(COUNT_OF, U64, c.dropped_newest, "dropped_newest", NAME("dropped_total"), "reason=\"newest\"",
      DROPPED),
    R(COUNT_OF, U64, c.dropped_oldest, "dropped_oldest", NAME("dropped_total"), "reason=\"oldest\"",
      DROPPED),
    R(HIDDEN, U64, c.dead, "dead", "Events that came to nothing after they were accepted"),
    R(COUNT_OF, U64, c.dead_failed, NULL, NAME("dead_total"), "reason=\"failed\"", DEAD),
    R(COUNT_OF, U64, c.dead_stopped, NULL, NAME("dead_total"), "reason=\"stopped\"", DEAD),
    R(COUNT, U64, c.left, "left", NAME("left_total"),
      "Events that a stop which ran out of time has left"),
    R(COUNT, U64, c.failures, "failures", NAME("failures_total"),
      "Answers of its handler that were failures"),
    R(COUNT, U64, c.retries, "retries", NAME("retries_total"),
      "Times that an event was put off, to be handled again"),
    R(COUNT, U64, c.restarts, "restarts", NAME("restarts_total"), "Restarts"),
    R(HIDDEN, BOOL, measured, "measured", "Its latency is; else the next two are not there"),
    TIMES(PROCESSOR, weir__processor_item, queueing, "queueing", NAME("queueing_seconds"),
          QUEUEING),
    TIMES(PROCESSOR, weir__processor_item, handling, "handling", NAME("handling_seconds"),
          HANDLING),
#undef NAME
#undef R

/* ---- feeds ---- */
#define F(kind, V, m, ...) kind(FEED, weir__feed_item, V, m, __VA_ARGS__)
#define NAME(rest) "weir_feed_" rest
    TEXT(FEED, weir__feed_item, name, "feed", "Its name"),
    F(COUNT, U64, c.published, "published", NAME("published_total"), "Events that were published"),
    F(COUNT, U64, c.filtered, "filtered", NAME("filtered_total"),
      "Of them: its mapper did not let them through"),
    F(COUNT, U64, c.failed, "failed", NAME("failed_total"), "Of them: its mapper failed"),
    F(COUNT, U64, c.delivered, "delivered", NAME("delivered_total"), "Copies that subscribers got"),
    F(COUNT, U64, c.dropped, "dropped", NAME("dropped_total"), "Copies that were given up"),
    F(COUNT, U64, c.replayed, "replayed", NAME("replayed_total"), "Events that were replayed"),
    F(COUNT, U64, c.replay_lost, "replay_lost", NAME("replay_lost_total"),
      "Events that were too many to be kept for the replay"),
    F(COUNT, U64, c.disconnected, "disconnected", NAME("disconnected_total"),
      "Subscribers that were too slow and were unsubscribed"),
    F(COUNT, U64, c.waits, "waits", NAME("waits_total"),
      "Publishes that had to wait for a subscriber"),
    F(COUNT, NS, c.waited_ns, "waited_ns", NAME("waited_seconds_total"), "How long they waited"),
    F(LEVEL, U64, c.outstanding, "outstanding", NAME("outstanding"),
      "Marks that are not committed"),
    F(LEVEL, U64, c.committed, "committed", NAME("committed"), "The committed position"),
    F(LEVEL, U32, c.subscribers, "subscribers", NAME("subscribers"), "Subscribers"),
    F(LEVEL, U32, c.queues, "queues", NAME("queues"), "Its queues"),
    F(LEVEL, U32, c.deepest, "deepest", NAME("deepest"), "Events in the fullest of them"),
    F(LEVEL, U64, queue_max, "queue_max", NAME("queue_max"), "The bound of each"),
    TEXT(FEED, weir__feed_item, slowest, "slowest", "The subscriber that was waited for last"),
#undef NAME
#undef F

/* ---- routers ---- */
#define O(kind, V, m, ...) kind(ROUTER, weir__router_item, V, m, __VA_ARGS__)
#define NAME(rest) "weir_router_" rest
    TEXT(ROUTER, weir__router_item, name, "router", "Its name"),
    O(LEVEL, BOOL, running, "running", NAME("running"), "1 until it is stopped, then 0"),
    O(COUNT, U64, c.submitted, "submitted", NAME("submitted_total"),
      "Events that were accepted, the dropped ones included"),
    O(COUNT, U64, c.handled, "handled", NAME("handled_total"), "Events that a flow has had"),
    O(COUNT, U64, c.dead, "dead", NAME("dead_total"),
      "Events whose handler failed, or that a stop found waiting"),
    O(COUNT, U64, c.left, "left", NAME("left_total"),
      "Events that a stop which ran out of time has left"),
    O(COUNT_OF, U64, c.dropped_newest, "dropped_newest", NAME("dropped_total"), "reason=\"newest\"",
      DROPPED),
    O(COUNT_OF, U64, c.dropped_oldest, "dropped_oldest", NAME("dropped_total"), "reason=\"oldest\"",
      DROPPED),
    O(COUNT_OF, U64, c.refused_full, "refused_full", NAME("refused_total"), "reason=\"full\"",
      REFUSED),
    O(COUNT_OF, U64, c.refused_ingress, "refused_ingress", NAME("refused_total"),
      "reason=\"ingress\"", REFUSED),
    O(COUNT_OF, U64, c.refused_flows, "refused_flows", NAME("refused_total"), "reason=\"flows\"",
      REFUSED),
    O(LEVEL, U64, c.ingress, "ingress", NAME("ingress"), "Of ingress-capacity, in use"),
    O(LEVEL, U64, c.flows, "flows", NAME("flows"), "Flows that live"),
    O(COUNT, U64, c.flows_made, "flows_made", NAME("flows_made_total"), "Flows that began"),
    O(COUNT_OF, U64, c.finished, "finished", NAME("flows_ended_total"), "reason=\"finished\"",
      "Flows that ended, by reason"),
    O(COUNT_OF, U64, c.idle, "idle", NAME("flows_ended_total"), "reason=\"idle\"",
      "Flows that ended, by reason"),
    O(COUNT_OF, U64, c.evicted, "evicted", NAME("flows_ended_total"), "reason=\"evicted\"",
      "Flows that ended, by reason"),
    O(COUNT_OF, U64, c.stopped, "stopped", NAME("flows_ended_total"), "reason=\"stopped\"",
      "Flows that ended, by reason"),
    O(COUNT, U64, c.moved, "moved", NAME("flows_moved_total"), "Flows that went to another worker"),
    O(LEVEL, U64, c.workers, "workers", NAME("workers"), "Workers, or targets"),
    O(LEVEL, U64, c.depth, "depth", NAME("depth"), "Events waiting or at hand"),
    O(LEVEL, REAL, c.imbalance, "imbalance", NAME("imbalance_ratio"),
      "The busiest worker's time in handlers, over the mean; 1: all alike"),
    O(LEVEL, U64, c.bytes, "bytes", NAME("memory_bytes"), "Memory for flows"),
    QUANTILE(ROUTER, weir__router_item, c.p50_ns, "p50_ns", NAME("handling_seconds"), "0.5",
             ROUTER_HANDLING),
    QUANTILE(ROUTER, weir__router_item, c.p95_ns, "p95_ns", NAME("handling_seconds"), "0.95",
             ROUTER_HANDLING),
    QUANTILE(ROUTER, weir__router_item, c.p99_ns, "p99_ns", NAME("handling_seconds"), "0.99",
             ROUTER_HANDLING),
    QUANTILE(ROUTER, weir__router_item, c.max_ns, "max_ns", NAME("handling_seconds"), "1",
             ROUTER_HANDLING),
#undef NAME
#undef O

/* ---- their workers ---- */
#define W(kind, V, m, ...) kind(WORKER, weir__worker_item, V, m, __VA_ARGS__)
#define NAME(rest) "weir_worker_" rest
    W(HIDDEN, U64, index, "index", "Counts from 0"),
    TEXT(WORKER, weir__worker_item, processor, "processor", "That it is"),
    W(LEVEL, U64, c.depth, "depth", NAME("depth"), "Events waiting or at hand"),
    W(LEVEL, U64, c.beyond, "beyond", NAME("beyond"), "Of them: beyond worker-capacity"),
    W(COUNT, U64, c.handled, "handled", NAME("handled_total"), "Events, dead ones included"),
    W(COUNT, NS, c.busy, "busy_ns", NAME("busy_seconds_total"),
      "In handlers; estimated from those that were timed"),
    QUANTILE(WORKER, weir__worker_item, c.p50_ns, "p50_ns", NAME("handling_seconds"), "0.5",
             WORKER_HANDLING),
    QUANTILE(WORKER, weir__worker_item, c.p95_ns, "p95_ns", NAME("handling_seconds"), "0.95",
             WORKER_HANDLING),
    QUANTILE(WORKER, weir__worker_item, c.p99_ns, "p99_ns", NAME("handling_seconds"), "0.99",
             WORKER_HANDLING),
    W(LEVEL, U64, flows, "flows", NAME("flows"),
      "Flows that it has; with migrate those that began there"),
#undef NAME
#undef W

/* ---- timers ---- */
#define M(kind, V, m, ...) kind(TIMER, weir__timer_item, V, m, __VA_ARGS__)
#define NAME(rest) "weir_timers_" rest
    M(COUNT, U64, c.added, "added", NAME("added_total"), "Timers that were added"),
    M(LEVEL, U64, c.pending, "pending", NAME("pending"), "Timers that are to come"),
    M(COUNT, U64, c.posted, "posted", NAME("posted_total"),
      "Events that they posted, and calls of hooks"),
    M(COUNT, U64, c.cancelled, "cancelled", NAME("cancelled_total"), "Timers that were cancelled"),
    M(COUNT, U64, c.stopped, "stopped", NAME("stopped_total"),
      "Timers that the engine's stop has cancelled"),
    M(COUNT_OF, U64, c.failed_unknown, "failed_unknown", NAME("failed_total"), "reason=\"unknown\"",
      TIMER_FAILED),
    M(COUNT_OF, U64, c.failed_full, "failed_full", NAME("failed_total"), "reason=\"full\"",
      TIMER_FAILED),
    M(COUNT_OF, U64, c.failed_other, "failed_other", NAME("failed_total"), "reason=\"other\"",
      TIMER_FAILED),
    M(COUNT, U64, c.missed, "missed", NAME("missed_total"), "Times that were skipped"),
    QUANTILE(TIMER, weir__timer_item, c.late_p50, "late_p50_ns", NAME("late_seconds"), "0.5", LATE),
    QUANTILE(TIMER, weir__timer_item, c.late_p99, "late_p99_ns", NAME("late_seconds"), "0.99",
             LATE),
    QUANTILE(TIMER, weir__timer_item, c.late_p999, "late_p999_ns", NAME("late_seconds"), "0.999",
             LATE),
    QUANTILE(TIMER, weir__timer_item, c.late_max, "late_max_ns", NAME("late_seconds"), "1", LATE),
    M(LEVEL, U64, c.bytes, "bytes", NAME("memory_bytes"), "Memory for timers"),
#undef NAME
#undef M

/* ---- components ---- */
#define C(kind, V, m, ...) kind(COMPONENT, weir__component_item, V, m, __VA_ARGS__)
#define CTEXT(m, h) TEXT(COMPONENT, weir__component_item, m, #m, h)
#define NAME(rest) "weir_component_" rest
    TEXT(COMPONENT, weir__component_item, name, "component", "Its name"),
    CTEXT(type, "Its type"),
    CTEXT(kind, "source, service, sink or processor"),
    CTEXT(thread, "The thread that hosts it"),
    CTEXT(phase, "added, initialised, started, running, stopping or failed"),
    C(COUNT, U64, rounds, "rounds", NAME("rounds_total"), "Rounds of its work"),
    C(COUNT, U64, work, "work", NAME("work_total"), "What it has done in them, as it counts"),
    C(COUNT, U64, failures, "failures", NAME("failures_total"), "Failures that it reported"),
    C(LEVEL, U64, running, NULL, NAME("running"), "1 while its phase is running, else 0"),
    CTEXT(feed, "The feed that it publishes into; \"\" if into none"),
    CTEXT(processor, "The processor that it is; \"\" if it has no handler"),
#undef NAME
#undef CTEXT
#undef C
};
const uint32_t weir__metric_row_count = sizeof(weir__metric_rows) / sizeof(weir__metric_rows[0]);

const weir__metric_section weir__metric_sections[WEIR__GROUPS] = {
    [WEIR__GROUP_ENGINE] = { "engine", "The engine", "", "" },
    [WEIR__GROUP_PROCESS] = { "process", "The process", "",
                              "Of all engines in it, and of everything else." },
    [WEIR__GROUP_DISPATCHER] = { "dispatchers", "Dispatchers", "dispatcher", "" },
    [WEIR__GROUP_THREAD] = { "threads", "Threads", "thread", "" },
    [WEIR__GROUP_PROCESSOR] = { "processors", "Processors", "processor, dispatcher",
                                "The busiest `weir.metrics.processors-max`; the others are summed "
                                "up as `" WEIR__METRICS_OTHERS "`, and what rows that are no more "
                                "had as `" WEIR__METRICS_EARLIER "`: all of them add up to the "
                                "engine's. Busy is who was sent most. No counter falls: who has a "
                                "row keeps it, also when it comes again under the same name, until "
                                "another was sent more than twice as much; a row that begins later "
                                "counts from then on." },
    [WEIR__GROUP_FEED] = { "feeds", "Feeds", "feed", "" },
    [WEIR__GROUP_ROUTER] = { "routers", "Routers", "router",
                             "One that was stopped stays, with what it had, and the next of its "
                             "name goes on from there." },
    [WEIR__GROUP_WORKER] = { "routers[].worker", "Workers of routers", "router, worker", "" },
    [WEIR__GROUP_TIMER] = { "timers", "Timers", "", "" },
    [WEIR__GROUP_COMPONENT] = { "components", "Components", "component, kind", "" },
};

const weir__quantile weir__quantiles[WEIR__QUANTILES] = {
    { "p50_ns", "quantile=\"0.5\"", offsetof(weir_latency, p50) },
    { "p90_ns", "quantile=\"0.9\"", offsetof(weir_latency, p90) },
    { "p95_ns", "quantile=\"0.95\"", offsetof(weir_latency, p95) },
    { "p99_ns", "quantile=\"0.99\"", offsetof(weir_latency, p99) },
    { "p999_ns", "quantile=\"0.999\"", offsetof(weir_latency, p999) },
    { "max_ns", "quantile=\"1\"", offsetof(weir_latency, max) },
};

weir__number weir__metric_number(const weir__metric_row *row, const void *item)
{
    const char *at = (const char *)item + row->offset;
    weir__number n = { .kind = WEIR__NUMBER_UNSIGNED };
    uint32_t small;
    int32_t below;
    switch (row->value) {
    case WEIR__VALUE_U32:
        memcpy(&small, at, sizeof(small));
        n.bits = small;
        break;
    case WEIR__VALUE_I32:
        memcpy(&below, at, sizeof(below));
        n.kind = WEIR__NUMBER_SIGNED;
        n.bits = (uint64_t)(int64_t)below;
        break;
    case WEIR__VALUE_REAL:
        n.kind = WEIR__NUMBER_REAL;
        memcpy(&n.real, at, sizeof(n.real));
        break;
    case WEIR__VALUE_BOOL:
        n.bits = *at != 0 ? 1 : 0;
        break;
    default:
        n.kind = row->value == WEIR__VALUE_NS ? WEIR__NUMBER_NS : WEIR__NUMBER_UNSIGNED;
        memcpy(&n.bits, at, sizeof(n.bits));
        break;
    }
    return n;
}
