/*
 * connect/tail.h - one stream of frames out of a file that grows, and is rotated, cut and replaced
 * meanwhile. Knows files and frames only: no engine, no clock of its own.
 *
 *     open     the file where the strategy says
 *     next     a frame, or NONE: nothing now. Reads as needed, never waits
 *     take     it is published; position() is then behind it
 *     commit   everything before a position is done: where that is, to be written down
 *
 * Positions are those of the stream: the files that were read, one behind the other. They never
 * fall; `segments` knows which file, and where in it, a position is.
 *
 * The end of a file. Another file at the path means that this one was rotated away; its writer may
 * not know yet, so it is left only when nothing was written to it for rotate_wait. Fewer bytes than
 * were read, or other ones at its beginning, mean that it was cut: it is read again from there, and
 * if a copy of it lies beside, that one first, to its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_TAIL_H
#define WEIR_CONNECT_TAIL_H

#include "connect/frame.h"
#include "connect/position.h"
#include "connect/rotation.h"

typedef enum weir__tail_strategy {
    WEIR__TAIL_COMMITTED, /* where the position is; without one the beginning */
    WEIR__TAIL_EARLIEST,
    WEIR__TAIL_LATEST,        /* the end, with the whole of a line that is being written */
    WEIR__TAIL_ONCE_EARLIEST, /* the same two, to the end of the file, and no further */
    WEIR__TAIL_ONCE_LATEST
} weir__tail_strategy;

/* Something that people should know; OK: for information. `text` is valid during the call. */
typedef void (*weir__tail_tell)(void *context, weir_status status, const char *text);

typedef struct weir__tail_options {
    const char *path; /* must outlive it */
    weir__frame_config frame;
    weir__tail_strategy strategy;
    size_t read_size;
    weir_ns poll_interval; /* looks at the file that often even if nobody says that it changed */
    weir_ns rotate_wait;
    weir__tail_tell tell;
    void *context;
} weir__tail_options;

/* From `start` in the stream on: the file, from file.offset on. */
typedef struct weir__tail_segment {
    uint64_t start;
    weir__place file;
} weir__tail_segment;

#define WEIR__TAIL_SEGMENTS 1024u /* files of which not all is committed: then it waits */

typedef struct weir__tail {
    weir__tail_options options;
    weir__framer framer;
    int fd; /* -1: there is no file yet */
    struct stat about;
    uint64_t offset; /* in the file: behind what was read */
    char head[WEIR__HEAD_MAX];
    uint32_t head_size;
    weir__tail_segment *segments; /* the last is the file that is open */
    uint32_t segment_count;
    bool looked;  /* somebody said that something changed */
    bool resting; /* at the end of the file: not looked at before `due` */
    bool rotated; /* the path leads elsewhere */
    bool stale;   /* it was rotated away before it was opened */
    bool cut;     /* the next file is this one, from its beginning */
    bool ending;  /* the file is over: its last frames, then the next file */
    bool done;    /* of a once- strategy */
    bool busy;    /* next answered NONE, and there is more to read all the same */
    weir_ns due, rotated_at, grown_at;
    int told; /* errno of the last refusal, told once */
    uint64_t bytes, files, cuts;
} weir__tail;

/* `from`: a position that was kept; NULL: none. Of a once- strategy the file has to be there. */
weir_status weir__tail_open(weir__tail *tail, const weir__tail_options *options,
                            const weir__place *from, weir_error *error);
void weir__tail_close(weir__tail *tail); /* of a zeroed one: a no-op */

/* Before the first `next`: positions begin there, not at 0. */
void weir__tail_begin_at(weir__tail *tail, uint64_t position);

/* `now`: of any clock that does not go back. */
weir__frame_what weir__tail_next(weir__tail *tail, weir_ns now, weir__frame *frame);
void weir__tail_take(weir__tail *tail);
uint64_t weir__tail_position(const weir__tail *tail);

/* The file or its folder changed: the next `next` looks. */
void weir__tail_look(weir__tail *tail);
/* When to call next again, if it has answered NONE and is not busy; WEIR_FOREVER: done. */
weir_ns weir__tail_due(const weir__tail *tail);

/* Everything before the position is done with. False: it is none of this stream's, or no file was
 * there yet. */
bool weir__tail_commit(weir__tail *tail, uint64_t position, weir__place *place);

#endif /* WEIR_CONNECT_TAIL_H */
