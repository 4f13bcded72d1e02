/*
 * connect/figure.c - the one table of what connectors count. docs/METRICS.md is made of it, and
 * /metrics has no figure of theirs that is not here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/figure.h"

#include <string.h>

#define GROWS(figure, name, help)                                                                  \
    {                                                                                              \
        figure, "connector_" name "_total", true, help                                             \
    }
#define IS_NOW(figure, name, help)                                                                 \
    {                                                                                              \
        figure, "connector_" name, false, help                                                     \
    }

/* By name, as bytes. */
const weir__figure weir__connector_figures[] = {
    GROWS("accepted", "accepted", "Connections that were accepted"),
    GROWS("bad", "bad", "Lines that are not what they should be: too long, or no JSON"),
    GROWS("bad-frames", "bad_frames", "Frames that are not what they should be"),
    IS_NOW("buffered", "buffered", "Bytes that wait to be written"),
    GROWS("bytes", "bytes", "Bytes that were read or written"),
    IS_NOW("committed", "committed",
           "How far a file has been dealt with, as the feed has committed it"),
    IS_NOW("connected", "connected", "1 while there is a connection"),
    IS_NOW("connections", "connections", "Connections that are open"),
    GROWS("connects", "connects",
          "Times that a connection was made; from the second on reconnects"),
    GROWS("cuts", "cuts", "Times that a file had become shorter"),
    GROWS("datagrams", "datagrams", "Datagrams that came"),
    IS_NOW("done", "done", "1 when there is no more to come"),
    GROWS("errors", "errors", "Writes and the like that the system refused"),
    GROWS("events", "events", "Events that were made of what came, or written"),
    GROWS("failed", "failed", "Events that could not be handed on, or written"),
    GROWS("failures", "failures",
          "Attempts that failed: of a fan-out to hand on, of a sink to connect"),
    GROWS("files", "files", "Files that were begun, rotated ones included"),
    GROWS("frames", "frames", "Frames that became events"),
    GROWS("full", "full", "Times that an event had to wait because the buffer was full"),
    GROWS("idle", "idle", "Connections that were closed because nothing came"),
    GROWS("kernel-drops", "kernel_drops",
          "Datagrams that the kernel dropped because nobody read them in time"),
    GROWS("lost", "lost", "Copies that a fan-out gave up"),
    GROWS("missed", "missed", "Times of a timer that were skipped"),
    IS_NOW("open", "open", "Targets that are left alone for a while"),
    GROWS("opened", "opened", "Times that a target was left alone"),
    IS_NOW("paused", "paused", "Connections that wait for room in the feed"),
    GROWS("pauses", "pauses", "Times that reading waited for room in the feed"),
    IS_NOW("port", "port", "The port that it listens on"),
    IS_NOW("position", "position", "How far a file has been read"),
    GROWS("refused", "refused", "Connections that were refused because there were too many"),
    GROWS("reopened", "reopened", "Times that a file was opened again"),
    GROWS("reset", "reset", "Connections that ended with an error"),
    GROWS("rotations", "rotations", "Files that were put aside because they were full"),
    GROWS("sent", "sent", "Copies that a fan-out sent"),
    GROWS("skipped", "skipped", "Events that were left out because it was late"),
    GROWS("syncs", "syncs", "Times that a file was made durable"),
    GROWS("too-large", "too_large", "Events that are larger than may be"),
    GROWS("truncated", "truncated", "Datagrams that were longer than may be"),
    GROWS("waits", "waits", "Times that a write waited for who reads it"),
    GROWS("writes", "writes", "Times that the position was written down"),
};
const size_t weir__connector_figure_count =
    sizeof(weir__connector_figures) / sizeof(weir__connector_figures[0]);

const weir__figure *weir__figure_find(const char *figure)
{
    for (size_t i = 0; i < weir__connector_figure_count; i++) {
        if (strcmp(weir__connector_figures[i].figure, figure) == 0) {
            return &weir__connector_figures[i];
        }
    }
    return NULL;
}
