/*
 * weir/event.h - a typed, immutable message. One struct on both sides: a sender fills the upper
 * half, a handler reads all of it, and what a handler was given it can pass on as it is.
 *
 *     typedef struct greet { char name[16]; } greet;      a plain struct
 *     WEIR_EVENT_TYPE(greet, "hello.greet");              makes greet_type
 *     weir_engine_post(engine, to, WEIR_EVENT(greet, .name = "Ada"));
 *     const greet *g = weir_event_as(event, &greet_type); in the handler; NULL if another type
 *
 * Ownership, three sentences. A posted payload is copied (up to 32 bytes inside the mailbox,
 * larger ones into a pool block) or, if it lies in a block, shared. What a handler sees is valid
 * until it returns; weir_event_keep() makes it last. No call changes who owns what depending on
 * its status.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_EVENT_H
#define WEIR_EVENT_H

#include "weir/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_EVENT_INLINE_MAX 32u /* bytes that travel without a block */

/*
 * A type is a constant descriptor that outlives the engine. Two descriptors of one name and size
 * are one type, so a header shared by two plugins may define it. A table that meets its name with
 * another size answers E_TYPE: that event is dead. Names are "module.noun", with "/2" behind them
 * when the layout changes.
 *
 * A type with `drop` owns something (a file, memory), so it must not be copied: it travels in
 * blocks only, a post without a block is E_TYPE. A refused commit drops it like an accepted one.
 */
typedef struct weir_event_type {
    size_t struct_size;
    const char *name;
    uint32_t size;               /* of the payload; 0 with `sized_by_event`: any */
    bool sized_by_event;         /* text, bytes: the event says its size */
    void (*drop)(void *payload); /* once per payload, after its last reader; NULL: nothing */
    size_t (*print)(const void *payload, size_t size, char *out, size_t out_size); /* for people */
} weir_event_type;

/* Who sent it, so that an answer finds it now or later. A plain value: keep it in your state. */
typedef struct weir_ticket {
    weir_processor sender; /* zero: an ordinary thread */
    uint64_t ask;          /* zero: nobody waits for an answer */
} weir_ticket;

#define WEIR_EVENT_FINISH 1u  /* submitted: the last event of its flow (weir/flow.h) */
#define WEIR_EVENT_NO_FLOW 2u /* do not inherit the flow of the handler that posts it */

/* Frozen at 64 bytes: the only public struct that never grows. Unset fields are zero. */
typedef struct weir_event {
    const weir_event_type *type; /* sender: required */
    const void *data;            /* sender: the payload; handler: never NULL, 8-byte aligned */
    weir_block *block;           /* sender: share this block, `data` lies in it; else NULL */
    uint32_t size;               /* bytes at `data` */
    uint32_t flags;              /* WEIR_EVENT_... */
    uint64_t flow;               /* sender: 0 inherits; handler: the flow it came in */
    weir_ticket from;            /* weir fills this: sender, and what weir_turn_reply needs */
    uint64_t tag;                /* weir fills this: your tag of what you asked for; else 0 */
} weir_event;

typedef char weir_event_is_64_bytes[sizeof(weir_event) == 64 ? 1 : -1];

/* Any. The payload if the event is of this type (of an empty one: not NULL either), else NULL. */
WEIR_API const void *weir_event_as(const weir_event *event, const weir_event_type *type);

/* The optional macros, all of them. T is a struct type; T_type is its descriptor. */
#define WEIR_EVENT_TYPE(T, type_name)                                                              \
    WEIR_MAYBE_UNUSED static const weir_event_type T##_type = {                                    \
        sizeof(weir_event_type), type_name, (uint32_t)sizeof(T), false, NULL, NULL                 \
    }
#define WEIR_EMPTY_TYPE(T, type_name) /* an event that is only its type */                         \
    WEIR_MAYBE_UNUSED static const weir_event_type T##_type = {                                    \
        sizeof(weir_event_type), type_name, 0, false, NULL, NULL                                   \
    }
#define WEIR_EVENT(T, ...)                                                                         \
    (&(const weir_event){                                                                          \
        .type = &T##_type, .size = (uint32_t)sizeof(T), .data = &(const T){ __VA_ARGS__ } })
#define WEIR_EMPTY(T) (&(const weir_event){ .type = &T##_type })

/* Types that weir brings. A type that weir sends is documented where it is asked for. */
WEIR_API extern const weir_event_type weir_bytes_type; /* any bytes */
WEIR_API extern const weir_event_type weir_text_type;  /* UTF-8, no final zero: `size` bounds it */

/*
 * Blocks: payloads written in place. Every reserve, adopt, take and keep is paired with exactly one
 * release or one commit, before the engine is destroyed (destroy logs what is still out, and frees
 * it). Write through weir_block_data() until the first post, never after.
 */

/* Any. A block of `size` bytes in *out. E_NOMEM: the pool is used up; it never waits. */
WEIR_API WEIR_MUST_CHECK weir_status weir_block_reserve(weir_engine *engine, size_t size,
                                                        weir_block **out);

/* Any. Your memory as a block; `done(context, data)` runs once, on any thread, after the last use;
 * if adopt fails it does not run. */
WEIR_API WEIR_MUST_CHECK weir_status weir_block_adopt(weir_engine *engine, void *data, size_t size,
                                                      void (*done)(void *context, void *data),
                                                      void *context, weir_block **out);

WEIR_API void *weir_block_data(weir_block *block);
WEIR_API weir_block *weir_block_take(weir_block *block); /* Any. One more reference; same block. */
WEIR_API void weir_block_release(weir_block *block);     /* Any. One less; NULL is a no-op. */

/* Any. Makes *kept outlive the turn: shares the event's block, or copies into a new one. Give it
 * back with weir_event_release, which zeroes it; releasing a zeroed event is a no-op. */
WEIR_API WEIR_MUST_CHECK weir_status weir_event_keep(weir_engine *engine, const weir_event *event,
                                                     weir_event *kept);
WEIR_API void weir_event_release(weir_event *kept);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_EVENT_H */
