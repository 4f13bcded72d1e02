/*
 * settings/table.c - every key of weir's. Bounds are those of the option structs
 * (engine/options.c, flow/options.c), which check once more; tests/settings/engine_test.c and
 * flows_test.c hold them together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings/table.h"

#define SINCE "0.1"
#define ROWS(array) .rows = (array), .row_count = sizeof(array) / sizeof((array)[0])
#define HOUR 3.6e12

/* Word i is value i of the public enum. */
static const char *const idle_words[] = { "default", "backoff",   "park", "sleep",
                                          "yield",   "busy-spin", "noop", NULL };
static const char *const priority_words[] = { "default", "nice", "fifo", "round-robin", NULL };
static const char *const overflow_words[] = { "default",     "fail",  "drop-newest",
                                              "drop-oldest", "block", NULL };
static const char *const log_words[] = {
    "default", "debug", "info", "warning", "error", "off", NULL
};
static const char *const directive_words[] = { "resume", "retry",    "restart",
                                               "stop",   "escalate", NULL };
static const char *const strategy_words[] = { "none", "partition", "shared", "per-dispatcher",
                                              NULL };
static const char *const never_words[] = { "never", NULL };
static const char *const keys_words[] = { "default", "u64", "bytes", NULL };

/* ---- threads ---- */

#define KEY(kind, member, name, ...)                                                               \
    WEIR_KEY(kind, weir__thread_settings, member, name, .since = SINCE, __VA_ARGS__)
static const weir_option thread_rows[] = {
    KEY(STRING, name, "name",
        .help = "Unique; the system shows 15 bytes of it. Without one the thread is called after "
                "what it serves: \"api+realtime-1\"."),
    KEY(LIST, dispatchers, "dispatchers", .required = true,
        .help =
            "What it serves, in turn. \"\" is the default dispatcher. At most 64 names; [] is a "
            "thread for sources, sinks and services only. services = [...] names components "
            "that have this thread then."),
    KEY(ENUM, idle, "idle", .fallback = "backoff", .words = idle_words,
        .help =
            "What it does when it finds no work: backoff (spin, yield, then park), park, "
            "sleep, yield, busy-spin, noop. With what follows: idle { strategy, spin-max, sleep, "
            "max-park }."),
    KEY(DURATION, idle_spin_max, "idle-spin-max", .fallback = "20us", .min = 0, .max = 1e9,
        .help = "Of backoff: the longest spin before it yields and parks; 0 spins not at all."),
    KEY(DURATION, idle_sleep, "idle-sleep", .fallback = "1ms", .min = 1, .max = HOUR,
        .help = "Of sleep: how long."),
    KEY(DURATION, max_park, "max-park", .fallback = "1ms", .min = 1, .max = HOUR,
        .help = "While it has a service that names no time to be called at: the longest sleep."),
    KEY(INTS, cores, "cores", .min = 0, .max = 1023,
        .help = "The cores that it may run on; without any, wherever the system likes. core = N is "
                "a list of one."),
    KEY(BOOL, core_required, "core-required", .fallback = "false",
        .help = "A core that cannot be had is an error, not a warning."),
    KEY(ENUM, priority, "priority", .fallback = "default", .words = priority_words,
        .help = "How the system schedules it; default is as the thread that starts it. With its "
                "value: priority { policy = fifo, value = 10 }, or nice = 5."),
    KEY(INT, priority_value, "priority-value", .fallback = "0", .min = -20, .max = 99,
        .help = "For nice -20 to 19, for fifo and round-robin 1 to 99."),
};
#undef KEY

/* NOLINTBEGIN(bugprone-macro-parentheses): a member's name cannot stand in any */
#define HELPER_ROWS(group, what)                                                                   \
    WEIR_KEY(STRING, weir__engine_settings, group.name, "name", .since = SINCE,                    \
             .help = "In place of \"weir\" in " what "; the system shows 15 bytes."),              \
        WEIR_KEY(INTS, weir__engine_settings, group.cores, "cores", .min = 0, .max = 1023,         \
                 .since = SINCE,                                                                   \
                 .help = "The cores that they may run on; without any, wherever the system "       \
                         "likes."),                                                                \
        WEIR_KEY(BOOL, weir__engine_settings, group.core_required, "core-required",                \
                 .fallback = "false", .since = SINCE,                                              \
                 .help = "A core that cannot be had is an error, not a warning."),                 \
        WEIR_KEY(ENUM, weir__engine_settings, group.priority, "priority", .fallback = "default",   \
                 .words = priority_words, .since = SINCE,                                          \
                 .help = "How the system schedules them; default is as the thread that starts "    \
                         "them. Other words for it, and for cores: see threads."),                 \
        WEIR_KEY(INT, weir__engine_settings, group.priority_value, "priority-value",               \
                 .fallback = "0", .min = -20, .max = 99, .since = SINCE,                           \
                 .help = "For nice -20 to 19, for fifo and round-robin 1 to 99.")

/* NOLINTEND(bugprone-macro-parentheses) */
static const weir_option scheduler_rows[] = {
    HELPER_ROWS(scheduler_thread, "weir-timer"),
};
static const weir_option helper_rows[] = {
    HELPER_ROWS(helper_thread, "weir-watchdog, weir-monitor and weir-keeper"),
};

#define KEY(kind, member, name, ...)                                                               \
    WEIR_KEY(kind, weir__engine_settings, assignment.member, name, .since = SINCE, __VA_ARGS__)
static const weir_option assignment_rows[] = {
    KEY(ENUM, strategy, "strategy", .fallback = "none", .words = strategy_words,
        .help = "partition: the threads are dealt out to the dispatchers; shared: every thread "
                "serves every dispatcher; per-dispatcher: `counts` threads for each."),
    KEY(LIST, dispatchers, "dispatchers", .help = "The names, at least one; \"\" is the default."),
    KEY(INT, threads, "threads", .fallback = "0", .min = 0, .max = 1024,
        .help = "How many, of partition and shared; 0: as many as there are usable cores."),
    KEY(INTS, counts, "counts", .min = 1, .max = 1024,
        .help = "Of per-dispatcher: how many threads each dispatcher has; without it 1 each."),
    KEY(ENUM, idle, "idle", .fallback = "backoff", .words = idle_words,
        .help = "What all of them do when they find no work: see threads."),
};
#undef KEY

/* ---- back-off ---- */

#define BACKOFF_ROWS(T, usual_base, usual_multiplier, usual_max)                                   \
    WEIR_KEY(DURATION, T, backoff.base, "base-delay-micros", .fallback = (usual_base),             \
             .unit = WEIR_US, .min = 1, .max = HOUR, .since = SINCE,                               \
             .help = "The first delay. 10 ms and more draw a warning."),                           \
        WEIR_KEY(DOUBLE, T, backoff.multiplier, "multiplier", .fallback = (usual_multiplier),      \
                 .min = 1, .max = 100, .above = true, .since = SINCE,                              \
                 .help = "Each delay is so many times the one before."),                           \
        WEIR_KEY(DURATION, T, backoff.max, "max-delay-micros", .fallback = (usual_max),            \
                 .unit = WEIR_US, .min = 1, .max = HOUR, .since = SINCE,                           \
                 .help = "The longest delay; more than the first. 1 s and more draw a warning.")

static const weir_option backoff_rows[] = {
    BACKOFF_ROWS(weir__engine_settings, "10", "1.5", "10000"),
    WEIR_KEY(DOUBLE, weir__engine_settings, backoff.jitter, "jitter", .fallback = "0.0", .min = 0,
             .max = 1, .since = SINCE,
             .help = "So much of each delay is left to chance, which keeps threads out of step."),
};

static const weir_option dispatcher_backoff_rows[] = {
    BACKOFF_ROWS(weir__dispatcher_settings, NULL, NULL, NULL),
};

/* ---- dispatchers and processors, by name ---- */

#define KEY(kind, member, name, ...)                                                               \
    WEIR_KEY(kind, weir__dispatcher_settings, member, name, .since = SINCE, __VA_ARGS__)
static const weir_option dispatcher_rows[] = {
    KEY(NAME, name, "name", .help = "The name itself."),
    KEY(BOOL, fair, "fair", .fallback = "false",
        .help = "First waiting is first served: equal shares, less throughput."),
    KEY(INT, batch_max, "batch-max", .min = 1, .max = 65535,
        .help = "Of its processors that have none of their own."),
    KEY(GROUP, backoff, "backoff", ROWS(dispatcher_backoff_rows),
        .help = "In place of the engine's, key by key."),
};
#undef KEY

#define KEY(kind, member, name, ...)                                                               \
    WEIR_KEY(kind, weir__processor_settings, member, name, .since = SINCE, __VA_ARGS__)
static const weir_option processor_rows[] = {
    KEY(NAME, name, "name", .help = "The name itself."),
    KEY(STRING, dispatcher, "dispatcher", .help = "Where it runs; a thread must serve it."),
    KEY(INT, mailbox_max, "mailbox-max", .min = 1, .max = 1000000,
        .help = "Events that may wait for it; without it default-queue-size."),
    KEY(ENUM, overflow, "overflow", .fallback = "default", .words = overflow_words,
        .help = "What a full mailbox does with one event more; default: as the engine."),
    KEY(DURATION, block_max, "block-max", .min = 1, .max = 9e18, .words = never_words,
        .help = "Of overflow = block: the longest wait."),
    KEY(INT, batch_max, "batch-max", .min = 1, .max = 65535, .help = "Events a turn."),
    KEY(BOOL, dedicated, "dedicated", .fallback = "false",
        .help = "A thread of its own, and no dispatcher."),
    KEY(ENUM, on_failure, "on-failure", .fallback = "resume", .words = directive_words,
        .help = "What happens when its handler fails."),
    KEY(INT, retry_max, "retry-max", .min = 1, .max = 1000000, .help = "Of retry: how often."),
    KEY(DURATION, retry_delay, "retry-delay", .min = 1, .max = HOUR,
        .help = "Of retry: the first delay; they double."),
    KEY(DURATION, retry_delay_max, "retry-delay-max", .min = 1, .max = HOUR,
        .help = "Of retry: the longest delay; without it an hour."),
    KEY(ENUM, retry_then, "retry-then", .fallback = "resume", .words = directive_words,
        .help = "What follows the last retry; not retry."),
    KEY(INT, restart_max, "restart-max", .min = 1, .max = 1000,
        .help = "Of restart: how many within restart-window; then it stops."),
    KEY(DURATION, restart_window, "restart-window", .min = 1, .max = 9e18, .words = never_words,
        .help = "Of restart: see restart-max."),
};
#undef KEY

/* ---- the engine ---- */

#define KEY(kind, member, name, ...)                                                               \
    WEIR_KEY(kind, weir__engine_settings, member, name, .since = SINCE, __VA_ARGS__)
static const weir_option engine_rows[] = {
    KEY(STRING, name, "name", .fallback = "weir", .help = "Stands in logs and metrics."),
    KEY(INT, scheduler_threads, "scheduler-pool-size", .fallback = "2", .min = 1, .max = 64,
        .help = "Timer wheels, each with a thread that the first timer starts."),
    KEY(GROUP, scheduler_thread, "scheduler-thread", ROWS(scheduler_rows),
        .help = "Where and how urgently the threads of timers run."),
    KEY(GROUP, helper_thread, "helper-thread", ROWS(helper_rows),
        .help = "The same, of those that watch for stuck handlers and keep things moving."),
    KEY(INT, mailbox_max, "default-queue-size", .fallback = "10000", .min = 1, .max = 1000000,
        .help = "Events that may wait for a processor that has no mailbox-max of its own."),
    KEY(LISTS, rows, "thread-dispatcher-assignment", .fallback = "[[\"\"]]",
        .help = "One thread a row, which serves the dispatchers in it, in turn. Short for "
                "threads: give one of the two, or assignment."),
    KEY(ITEMS, threads, "threads", ROWS(thread_rows), .item_size = sizeof(weir__thread_settings),
        .help = "One thread an item: what it serves, and how it idles, where it runs."),
    KEY(GROUP, assignment, "assignment", ROWS(assignment_rows),
        .help = "Threads by rule, in place of a list of them."),
    KEY(GROUP, backoff, "backoff", ROWS(backoff_rows),
        .help = "How long a thread stays away when all its dispatchers' locks are held."),
    KEY(INT, batch_max, "batch-max", .fallback = "64", .min = 1, .max = 65535,
        .help = "Events that a processor handles before it is another's turn."),
    KEY(ENUM, overflow, "overflow", .fallback = "fail", .words = overflow_words,
        .help = "What a full mailbox does with one event more: fail (the poster is told), "
                "drop-newest, drop-oldest, block (the poster waits)."),
    KEY(DURATION, block_max, "block-max", .fallback = "1s", .min = 1, .max = 9e18,
        .words = never_words, .help = "Of overflow = block: the longest wait."),
    KEY(INT, processors_max, "processors-max", .fallback = "2000000", .min = 1, .max = 16000000,
        .help = "Processors at once."),
    KEY(BYTES, block_bytes_max, "block-bytes-max", .fallback = "256MiB", .min = 1, .max = 9e18,
        .help = "Bound on the memory of all payload blocks."),
    KEY(INT, timers_max, "timers-max", .fallback = "1000000", .min = 1, .max = 16000000,
        .help = "Timers pending at once; a processor that has asked holds one."),
    KEY(INT, channels_max, "channels-max", .fallback = "65536", .min = 1, .max = 1000000,
        .help = "Channels that can be opened."),
    KEY(DURATION, stuck_after, "stuck-after", .fallback = "5s", .min = 1e6, .max = 9e18,
        .words = never_words,
        .help = "A handler that runs longer is reported in the log, with its stack."),
    KEY(BOOL, crash_report, "crash-report", .fallback = "on",
        .help = "Whether a handler that crashes is named on stderr before the process dies."),
    KEY(INT, latency_every, "latency-every", .fallback = "64", .min = 0, .max = 4e9,
        .help = "One event in so many is measured: how long it waits, and how long it is handled. "
                "0: none."),
    KEY(INT, latency_max_processors, "latency-max-processors", .fallback = "1000", .min = 1,
        .max = 100000, .help = "Processors that are measured one by one at once."),
    KEY(LIST, latency, "latency", .fallback = "[]",
        .help = "Processors that are measured one by one from the start: names, or patterns with * "
                "and ?."),
    KEY(ENUM, log_level, "log-level", .fallback = "warning", .words = log_words,
        .help = "What the log shows: debug, info, warning, error, off."),
    KEY(MAP, dispatchers, "dispatchers", ROWS(dispatcher_rows),
        .item_size = sizeof(weir__dispatcher_settings),
        .help = "Dispatchers that differ from the rest, by name."),
    KEY(MAP, processors, "processors", ROWS(processor_rows),
        .item_size = sizeof(weir__processor_settings),
        .help = "Options of processors, by the name under which the program adds them."),
};
#undef KEY

static const weir_option_table engine_table = {
    .struct_size = sizeof(weir_option_table),
    .path = WEIR__ENGINE_PATH,
    ROWS(engine_rows),
    .help = "The engine: its threads, what they serve, its bounds.",
};

/* ---- flows ---- */

#define KEY(kind, member, name, ...)                                                               \
    WEIR_KEY(kind, weir__flow_settings, member, name, .since = SINCE, __VA_ARGS__)
static const weir_option flow_rows[] = {
    KEY(NAME, name, "name", .help = "The name itself."),
    KEY(INT, workers, "workers", .min = 1, .max = 256,
        .help = "How many run its flows, each one flow at a time; without it as many as there are "
                "usable cores, at most 8."),
    KEY(INT, ingress_max, "ingress-capacity", .min = 1, .max = 999999,
        .help = "Of policy = block: events admitted beyond worker-capacity, of all workers "
                "together; without it 65536."),
    KEY(INT, worker_max, "worker-capacity", .min = 1, .max = 1000000,
        .help = "Events that may wait for one worker; without it 8192. With policy = block, at "
                "most 1000000 together with ingress-capacity."),
    KEY(INT, batch_max, "batch-max", .min = 1, .max = 65535,
        .help = "Events a turn of a worker; without it 128."),
    KEY(ENUM, overflow, "policy", .fallback = "default", .words = overflow_words,
        .help = "What a full worker does with one event more: block (default; goes beyond it as "
                "long as ingress-capacity lets it, then the submitter waits), drop-oldest, "
                "drop-newest, fail."),
    KEY(DURATION, block_max, "block-max", .min = 1, .max = 9e18, .words = never_words,
        .help = "Of policy = block: the longest wait; without it the engine's."),
    KEY(DURATION, idle_timeout, "flow-idle-timeout", .min = 1, .max = 9e18, .words = never_words,
        .help = "A flow that had nothing to do for so long ends; without it 10m."),
    KEY(INT, flows_max, "max-flows", .min = 1, .max = 16000000,
        .help = "Flows at once; the one that has been idle for longest goes for a new one; without "
                "it 1000000."),
    KEY(BOOL, migrate, "migrate",
        .help = "A flow with nothing waiting may go on on a less loaded worker; without it not."),
    KEY(ENUM, keys, "keys", .fallback = "default", .words = keys_words,
        .help = "What a key is: u64 (default), or bytes. The program submits accordingly: where it "
                "says so itself, this must be the same."),
    KEY(STRING, dispatcher, "dispatcher",
        .help = "Whose threads run the workers; a thread must serve it. Without it the default "
                "one."),
    KEY(BOOL, own_threads, "own-threads",
        .help = "A thread for each worker, in place of a dispatcher."),
    KEY(ENUM, idle, "idle-strategy", .fallback = "default", .words = idle_words,
        .help = "Of own-threads: what they do when they find no work; see weir.engine.threads."),
    KEY(INTS, cores, "cores", .min = 0, .max = 1023,
        .help = "Of own-threads: the cores that they run on, one each, in turn."),
    KEY(INT, latency_every, "latency-every", .min = 1, .max = 4294967295.0,
        .help = "One handler in so many is timed, for the figures; without it 16."),
    KEY(LIST, targets, "targets",
        .help = "Of `weir run`: the components that get what is submitted, each flow always the "
                "same one. Every instance of a component counts."),
};
#undef KEY

static const weir_option metrics_rows[] = {
    WEIR_KEY(INT, weir__weir_settings, metrics.processors_max, "processors-max", .since = SINCE,
             .fallback = "1000", .min = 1, .max = 1000000,
             .help = "The busiest so many processors have figures of their own in /metrics and "
                     "/metrics.json; the others are summed up as \"(others)\"."),
};

static const weir_option weir_rows[] = {
    WEIR_KEY(MAP, weir__weir_settings, flows, "flows", ROWS(flow_rows), .since = SINCE,
             .item_size = sizeof(weir__flow_settings),
             .help = "Routers, by the name under which the program adds them: many keys, each in "
                     "order on one worker."),
    WEIR_KEY(GROUP, weir__weir_settings, metrics, "metrics", ROWS(metrics_rows), .since = SINCE,
             .help = "Figures for others to read."),
    WEIR_KEY(LIST, weir__weir_settings, plugins, "plugins", .since = SINCE,
             .help = "Of `weir run`: shared objects that bring types of components. Looked for "
                     "beside the file that names them, then in plugin-path, then where weir is "
                     "installed; .so may be left out."),
    WEIR_KEY(LIST, weir__weir_settings, plugin_path, "plugin-path", .since = SINCE,
             .help = "Of `weir run`: folders in which plugins are looked for."),
};

static const weir_option_table weir_table = {
    .struct_size = sizeof(weir_option_table),
    .path = "weir",
    ROWS(weir_rows),
    .help = "What runs in the engine.",
};

const weir_option_table *const weir__tables[] = { &engine_table, &weir_table, NULL };
