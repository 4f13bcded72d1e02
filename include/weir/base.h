/*
 * weir/base.h - the words every other weir header speaks: statuses, handles, time, sized options.
 *
 * Who may call. Every function says one of four words:
 *
 *   Any       any thread, handlers included. Never waits (the one exception is said there).
 *   Turn      only inside a hook that was given a weir_turn, with that turn, until it returns.
 *   Control   any thread, handlers included. May lock and allocate, for a bounded time.
 *   Blocking  may wait for other threads. Inside a handler it answers WEIR_E_BLOCKING at once.
 *
 * No function crashes on a NULL object or a zero or stale handle: it answers E_INVALID or UNKNOWN.
 * In a child after fork() every call answers E_INVALID. Only weir_signal_post is for signal
 * handlers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BASE_H
#define WEIR_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define WEIR_API __attribute__((visibility("default")))
#define WEIR_MUST_CHECK __attribute__((warn_unused_result))
#define WEIR_MAYBE_UNUSED __attribute__((unused))
#else
#define WEIR_API
#define WEIR_MUST_CHECK
#define WEIR_MAYBE_UNUSED
#endif

/* Version of these headers; weir_version() is that of the library that was linked. Same major =
 * compatible both ways, as far as the older of the two can know. */
#define WEIR_VERSION_MAJOR 0
#define WEIR_VERSION_MINOR 1
#define WEIR_VERSION (WEIR_VERSION_MAJOR * 1000 + WEIR_VERSION_MINOR)

#ifdef __cplusplus
/* C++ has no designated initialisers before C++20: `auto o = WEIR_X_OPTIONS_INIT; o.name = ...`. */
template <class T>
inline T weir_sized()
{
    T t{};
    t.struct_size = sizeof(T);
    return t;
}
#define WEIR_SIZED(T) weir_sized<T>()
extern "C" {
#else
#define WEIR_SIZED(T)                                                                              \
    {                                                                                              \
        .struct_size = sizeof(T)                                                                   \
    }
#endif

/*
 * Options. In every option struct zero means "the default", so that
 *     NULL                                  all defaults
 *     WEIR_PROCESSOR(.name = "a", ...)      in the call, the usual way (C)
 *     weir_processor_options o = WEIR_PROCESSOR_OPTIONS_INIT;   step by step (C, C++, bindings)
 * say the same. Options and the strings in them are copied; fields are only ever appended. A
 * caller newer than the library is served unless it sets a field that the library does not know
 * (E_VERSION).
 */
#define WEIR_OPTIONS(T, ...) (&(const T){ .struct_size = sizeof(T), __VA_ARGS__ })
#define WEIR_NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* One table: constants, weir_status_name(), the manual. Zero is success, positive an outcome that a
 * correct program meets, negative an error. Values are ABI: append, never renumber. */
#define WEIR_STATUS_MAP(X)                                                                         \
    X(OK, 0, "success")                                                                            \
    X(FULL, 1, "no room now")                                                                      \
    X(DROPPED, 2, "accepted, and dropped by the mailbox's policy")                                 \
    X(STOPPING, 3, "no longer accepting")                                                          \
    X(UNKNOWN, 4, "no such thing, or it is gone")                                                  \
    X(UNHANDLED, 5, "not mine (a handler's answer)")                                               \
    X(TIMEOUT, 6, "the time was over first")                                                       \
    X(LATE, 7, "too late: it has happened")                                                        \
    X(ALREADY, 8, "it was so already")                                                             \
    X(E_INVALID, -1, "argument out of range, or not allowed here")                                 \
    X(E_NOMEM, -2, "out of memory, or a bounded pool is used up")                                  \
    X(E_VERSION, -3, "made for a newer weir")                                                      \
    X(E_TYPE, -4, "payload does not fit its event type")                                           \
    X(E_BLOCKING, -5, "would block inside a handler; use the other form")                          \
    X(E_TAKEN, -6, "the name is taken")                                                            \
    X(E_LIMIT, -7, "a configured limit is reached")                                                \
    X(E_CONFIG, -8, "the configuration is wrong")                                                  \
    X(E_SYSTEM, -10, "the operating system refused")                                               \
    X(E_FAILED, -11, "a handler or hook failed")                                                   \
    X(E_USER, -1000, "this and all below are the application's own")

#define WEIR_STATUS_CONSTANT(name, value, text) WEIR_##name = (value),
enum { WEIR_STATUS_MAP(WEIR_STATUS_CONSTANT) };
#undef WEIR_STATUS_CONSTANT
typedef int32_t weir_status; /* an int of known width: bindings need it, E_USER - n needs it */

/* Any. Never NULL, never freed. "WEIR_FULL", "no room now"; unknown numbers have a text too. */
WEIR_API const char *weir_status_name(weir_status status);
WEIR_API const char *weir_status_text(weir_status status);
WEIR_API uint32_t weir_version(void);

/* Time is in nanoseconds: `50 * WEIR_MS`. As a timeout, 0 is the default that the function
 * names. */
typedef int64_t weir_ns;
#define WEIR_US ((weir_ns)1000)
#define WEIR_MS ((weir_ns)1000000)
#define WEIR_S ((weir_ns)1000000000)
#define WEIR_NOW ((weir_ns)-1) /* as a timeout: do not wait at all */
#define WEIR_FOREVER INT64_MAX

/* Handles: plain values, to copy, keep, send, compare by `.id`. Zero is "none". One that outlives
 * its thing, or comes from another engine, is answered UNKNOWN for ever after. */
typedef struct weir_processor {
    uint64_t id;
} weir_processor;
typedef struct weir_thread {
    uint64_t id;
} weir_thread;
typedef struct weir_timer {
    uint64_t id;
} weir_timer;
typedef struct weir_signal {
    uint64_t id;
} weir_signal;
typedef struct weir_channel {
    uint64_t id;
} weir_channel;
typedef struct weir_router {
    uint64_t id;
} weir_router;
typedef struct weir_feed {
    uint64_t id;
} weir_feed;

/* Objects: never copied, reached by pointer only. */
typedef struct weir_engine weir_engine; /* everything; ends with weir_engine_destroy */
typedef struct weir_turn weir_turn;     /* a hook's licence to act; ends when the hook returns */
typedef struct weir_block weir_block;   /* a counted payload; ends with its last release */

/* Where weir's memory comes from. May be called from any thread; never once per event. A NULL
 * answer is an error of the call that needed it (E_NOMEM), never a crash. */
typedef struct weir_allocator {
    void *(*allocate)(void *context, size_t size, size_t alignment);
    void (*release)(void *context, void *memory, size_t size);
    void *context;
} weir_allocator;

#ifdef __cplusplus
}
#endif

#endif /* WEIR_BASE_H */
