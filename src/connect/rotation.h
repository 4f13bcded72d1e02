/*
 * connect/rotation.h - the files that are, or were, at a path: the path itself, and what rotation
 * has made of earlier ones beside it.
 *
 *     log  log.1  log.2 ...           the higher the number the older
 *     log-20261101  log.2026-11-01    by name, the later the newer
 *
 * Between the two kinds the time of the last write decides. What was compressed cannot be read, and
 * is not looked at. Other names that begin the same (log.old) are recognised by what is in them,
 * and are never taken for the next of a series.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_ROTATION_H
#define WEIR_CONNECT_ROTATION_H

#include "connect/position.h"

#include <sys/stat.h>

typedef struct weir__file_found {
    int fd;            /* open for reading, the caller's; -1: none */
    bool current;      /* it is what the path leads to */
    bool copy;         /* known by its contents alone: another inode has them */
    struct stat about; /* of the descriptor */
    char name[256];    /* in the folder of the path */
} weir__file_found;

/* Opens the file that a place is in: with its inode and first bytes, not shorter than its offset;
 * else (`copies`) a rotated one with its first bytes, which is what copying and truncating leaves.
 * False: none. */
bool weir__rotation_find(const char *path, const weir__place *place, bool copies,
                         weir__file_found *found);

/* Opens the oldest of those that came after the file of `old`; if that is gone, the oldest of those
 * that were written to after it; else what the path leads to. False: there is none, or it went
 * while it was opened: errno says why. */
bool weir__rotation_next(const char *path, const weir__place *old, weir__file_found *found);

/* Opens what the path leads to, if that is a file. */
bool weir__rotation_current(const char *path, weir__file_found *found);

weir_ns weir__modified(const struct stat *about);

#endif /* WEIR_CONNECT_ROTATION_H */
