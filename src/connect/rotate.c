/*
 * connect/rotate.c - a sink's file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* memrchr, strerror_r that answers the text */
#include "connect/rotate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* Behind the last newline; the size if that cannot be read. */
static uint64_t end_of_lines(int fd, uint64_t size)
{
    char bytes[4096];
    uint64_t end = size;
    while (end > 0) {
        const size_t some = end < sizeof(bytes) ? (size_t)end : sizeof(bytes);
        if (pread(fd, bytes, some, (off_t)(end - some)) != (ssize_t)some) {
            return size;
        }
        const char *newline = memrchr(bytes, '\n', some);
        if (newline != NULL) {
            return end - some + (uint64_t)(newline - bytes) + 1;
        }
        end -= some;
    }
    return 0;
}

static int refuse(int fd, int why, const char *path, weir_error *error)
{
    char text[128];
    (void)weir__error_system(error, why, path, "cannot be written to: %s",
                             why == ENODEV ? "it is no ordinary file"
                                           : strerror_r(why, text, sizeof(text)));
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

int weir__output_open(const char *path, bool cut, uint64_t *size, uint64_t *lost, weir_error *error)
{
    struct stat about;
    *lost = 0;
    const int fd =
        open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
    if (fd < 0 || fstat(fd, &about) != 0) {
        return refuse(fd, errno, path, error);
    }
    if (!S_ISREG(about.st_mode)) {
        return refuse(fd, ENODEV, path, error);
    }
    *size = (uint64_t)about.st_size;
    if (cut) {
        const uint64_t end = end_of_lines(fd, *size);
        if (end < *size && ftruncate(fd, (off_t)end) != 0) {
            return refuse(fd, errno, path, error);
        }
        *lost = *size - end;
        *size = end;
    }
    return fd;
}

bool weir__output_is_there(const char *path, int fd)
{
    struct stat at_path, open;
    return stat(path, &at_path) == 0 && fstat(fd, &open) == 0 && at_path.st_ino == open.st_ino &&
           at_path.st_dev == open.st_dev;
}

int weir__output_shift(const char *path, int64_t keep)
{
    const size_t size = strlen(path) + 24;
    char *from = malloc(size), *to = malloc(size);
    int why = from == NULL || to == NULL ? ENOMEM : 0;
    struct stat about;
    int64_t gap = 1;
    while (why == 0 && gap < keep) { /* ends: at the first that is not there, or the last */
        snprintf(to, size, "%s.%lld", path, (long long)gap);
        if (lstat(to, &about) != 0) {
            break;
        }
        gap++;
    }
    for (int64_t i = gap; why == 0 && i >= 1; i--) {
        snprintf(to, size, "%s.%lld", path, (long long)i);
        if (i > 1) {
            snprintf(from, size, "%s.%lld", path, (long long)(i - 1));
        } else {
            snprintf(from, size, "%s", path);
        }
        if (rename(from, to) != 0) {
            why = errno;
        }
    }
    free(from);
    free(to);
    return why;
}
