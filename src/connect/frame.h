/*
 * connect/frame.h - from bytes as they come to frames: lines, JSON lines, or a length before each.
 *
 *     size_t room;
 *     char *at = weir__framer_room(&framer, &room);        read() goes right there
 *     weir__framer_fed(&framer, got);
 *     while ((what = weir__framer_next(&framer, &frame)) != WEIR__FRAME_NONE) {
 *         if (what == WEIR__FRAME_READY) publish(frame.data, frame.size);  FULL: leave, come again
 *         weir__framer_take(&framer);
 *     }
 *
 * A frame lies in the framer's buffer: it is copied only when its head and its tail came apart and
 * the buffer has come to its end. next answers the same frame until it was taken, so who finds no
 * room for it simply goes away. However long a frame claims to be, the buffer never holds more than
 * `max` and one read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_FRAME_H
#define WEIR_CONNECT_FRAME_H

#include "connect/lineage.h"
#include "weir/config.h"
#include "weir/event.h"

typedef enum weir__format {
    WEIR__FORMAT_LINES,          /* up to a newline, which does not belong to it */
    WEIR__FORMAT_JSON_LINES,     /* the same, and each is JSON; blank ones are passed over */
    WEIR__FORMAT_LENGTH_PREFIXED /* a number of bytes, then so many */
} weir__format;

/* As a component's options have it: a member of its struct, filled by WEIR__FRAME_ROWS. */
typedef struct weir__frame_config {
    int64_t format;   /* weir__format */
    uint64_t max;     /* bytes of one frame */
    int64_t too_long; /* 0: drop, 1: cut */
    bool keep_cr;
    int64_t length_bytes;    /* 1 ... 8 */
    int64_t length_order;    /* 0: big, 1: little */
    const char *traceparent; /* of connect/lineage.h; NULL: none */
} weir__frame_config;

extern const char *const weir__format_words[], *const weir__too_long_words[],
                                                   *const weir__byte_order_words[];

/* NOLINTBEGIN(bugprone-macro-parentheses): `m` is a member's name */
#define WEIR__FRAME_ROWS(T, m)                                                                     \
    WEIR_KEY(ENUM, T, m.format, "format", .fallback = "lines", .words = weir__format_words,        \
             .help = "How the bytes are cut into events. lines: text up to a newline. "            \
                     "json-lines: the same, and what is not JSON is reported, counted and left "   \
                     "out. length-prefixed: a number of bytes, then so many."),                    \
        WEIR_KEY(BYTES, T, m.max, "max-line", .fallback = "1 MiB", .min = 1, .max = 268435456.0,   \
                 .help = "The longest line, or frame, in bytes without its newline or length."),   \
        WEIR_KEY(ENUM, T, m.too_long, "too-long", .fallback = "drop",                              \
                 .words = weir__too_long_words,                                                    \
                 .help = "What becomes of a longer line: drop it, or cut it at max-line; either "  \
                         "way it is counted and reported. A longer frame is always dropped."),     \
        WEIR_KEY(BOOL, T, m.keep_cr, "keep-cr", .fallback = "false",                               \
                 .help = "Whether a carriage return before the newline belongs to the line."),     \
        WEIR_KEY(INT, T, m.length_bytes, "length-bytes", .fallback = "4", .min = 1, .max = 8,      \
                 .help = "length-prefixed: how many bytes the length has."),                       \
        WEIR_KEY(ENUM, T, m.length_order, "length-order", .fallback = "big",                       \
                 .words = weir__byte_order_words,                                                  \
                 .help = "length-prefixed: which byte of the length comes first."),                \
        WEIR__LINEAGE_IN_ROW(T, m.traceparent)
/* NOLINTEND(bugprone-macro-parentheses) */

typedef enum weir__frame_what {
    WEIR__FRAME_NONE,  /* more bytes are needed */
    WEIR__FRAME_READY, /* an event; of a line that was cut, why is TOO_LONG */
    WEIR__FRAME_BAD    /* no event: `why` says it. Count it, report it, take it */
} weir__frame_what;

typedef enum weir__frame_why {
    WEIR__FRAME_GOOD,
    WEIR__FRAME_TOO_LONG, /* over `max`. A length is told as soon as it was read: who does not trust
                             the sender ends here, who takes it passes over the bytes */
    WEIR__FRAME_NOT_JSON,
    WEIR__FRAME_CUT_OFF /* the input ended inside a length-prefixed frame */
} weir__frame_why;

typedef struct weir__frame {
    const char *data; /* valid until it is taken; of a bad one its beginning, for the report */
    size_t size;
    uint64_t begin, end; /* where in the stream: its first byte (of its length); behind its last (of
                            its newline), as far as the length can be believed */
    weir__frame_why why;
    const char *text; /* of a bad or cut one: what is wrong, for people; else "" */
} weir__frame;

typedef struct weir__framer {
    weir__frame_config config;
    size_t read_size; /* room always offers so much, if what waits leaves it */
    char *buffer;
    size_t capacity;
    size_t begin, end;     /* what was fed and not taken */
    size_t scanned;        /* from begin: no newline up to there */
    uint64_t position;     /* in the stream, of `begin` */
    uint64_t skipped;      /* of the frame at begin, bytes that were not kept */
    uint64_t skip;         /* bytes still to be passed over, of a frame that was too long ... */
    uint64_t skip_from;    /* ... which began there */
    bool ended;            /* no more bytes will come */
    bool shown;            /* next has answered `frame` */
    weir__frame_what what; /* of it */
    weir__frame frame;
    char text[96];
    size_t frame_bytes;    /* of the buffer, which it takes along */
    uint64_t frame_length; /* as its prefix has it */
    /* What it has seen; for reports. */
    uint64_t frames, too_long, not_json, cut_off;
} weir__framer;

/* False: no memory. `position`: where in the stream the first byte will be. */
bool weir__framer_open(weir__framer *framer, const weir__frame_config *config, size_t read_size,
                       uint64_t position);
void weir__framer_close(weir__framer *framer); /* of a zeroed one: a no-op */

/* Another stream begins: what waits is forgotten, the counts stay. */
void weir__framer_reset(weir__framer *framer, uint64_t position);

/* Where the next bytes go, and how many may: 0 (and NULL) if frames wait that have to be taken
 * first, or if there is no memory. Moves the buffer: a frame that was shown has to be asked for
 * again. */
char *weir__framer_room(weir__framer *framer, size_t *size);
void weir__framer_fed(weir__framer *framer, size_t size);

/* No more bytes will come: a last line without a newline is a frame, a cut one is bad. More bytes
 * than were promised may be fed all the same (a file that grows again): then it has not ended. */
void weir__framer_end(weir__framer *framer);

weir__frame_what weir__framer_next(weir__framer *framer, weir__frame *frame);
void weir__framer_take(weir__framer *framer);

/* Where one would begin again who forgets all that was not taken. */
uint64_t weir__framer_done(const weir__framer *framer);

/* Whether part of a frame waits for the rest of it. */
bool weir__framer_partial(const weir__framer *framer);

/* What a frame travels as. */
const weir_event_type *weir__format_type(int64_t format);

#endif /* WEIR_CONNECT_FRAME_H */
