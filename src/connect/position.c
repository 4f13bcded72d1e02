/*
 * connect/position.c - one line of text:
 *
 *     weir-position 1 DEVICE INODE HEAD-SIZE FINGERPRINT MODIFIED OFFSET SUM
 *
 * numbers in hexadecimal, the sum that of all before it. Text, because a person who moves a log by
 * hand wants to read it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* O_CLOEXEC, strerror_r that answers the text */
#include "connect/position.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"

#define MAGIC "weir-position "
enum { TEXT_MAX = 256 };

uint64_t weir__fingerprint(const void *head, size_t size)
{
    return XXH3_64bits(head, size);
}

static weir_status refuse(weir_error *error, const char *path, const char *what)
{
    char text[128];
    const int why = errno;
    return weir__error_system(error, why, path, "%s: %s", what,
                              strerror_r(why, text, sizeof(text)));
}

/* Reads what is there, at most `size` bytes; below 0: errno is set. */
static ssize_t read_small(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return -1;
    }
    size_t length = 0;
    ssize_t got = 1;
    while (length < size && got != 0) {
        got = read(fd, text + length, size - length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            const int why = errno;
            close(fd);
            errno = why;
            return -1;
        }
        length += (size_t)got;
    }
    close(fd);
    return (ssize_t)length;
}

static int format_place(const weir__place *p, char *text, size_t size)
{
    const int n = snprintf(
        text, size,
        MAGIC "1 %" PRIx64 " %" PRIx64 " %" PRIx32 " %" PRIx64 " %" PRIx64 " %" PRIx64 " ",
        p->device, p->inode, p->head_size, p->fingerprint, (uint64_t)p->modified, p->offset);
    const uint64_t sum = weir__fingerprint(text, (size_t)n);
    return n + snprintf(text + n, size - (size_t)n, "%016" PRIx64 "\n", sum);
}

/* False: cut or spoilt. It is right if, written again, it is the same. */
static bool parse_place(const char *text, size_t length, weir__place *p)
{
    char again[TEXT_MAX];
    uint64_t modified = 0;
    *p = (weir__place){ 0 };
    /* NOLINTNEXTLINE(cert-err34-c): what does not fit is not the same when written again */
    if (sscanf(text, MAGIC "1 %" SCNx64 " %" SCNx64 " %" SCNx32 " %" SCNx64 " %" SCNx64 " %" SCNx64,
               &p->device, &p->inode, &p->head_size, &p->fingerprint, &modified, &p->offset) != 6) {
        return false;
    }
    p->modified = (weir_ns)modified;
    return (size_t)format_place(p, again, sizeof(again)) == length &&
           memcmp(again, text, length) == 0 && p->head_size <= WEIR__HEAD_MAX;
}

static weir_status read_place(const char *path, weir__position_found *found, weir__place *place,
                              weir_error *error)
{
    char text[TEXT_MAX + 1];
    const ssize_t length = read_small(path, text, TEXT_MAX);
    if (length < 0) {
        *found = WEIR__POSITION_NONE;
        return errno == ENOENT ? WEIR_OK : refuse(error, path, "the position cannot be read");
    }
    text[length] = '\0';
    const size_t magic = sizeof(MAGIC) - 1;
    if (memcmp(text, MAGIC, (size_t)length < magic ? (size_t)length : magic) != 0) {
        return weir__error_at(error, WEIR_E_INVALID, path,
                              "this is no file of positions of weir's, and is left alone: name "
                              "another as position-file");
    }
    *found =
        parse_place(text, (size_t)length, place) ? WEIR__POSITION_READ : WEIR__POSITION_DAMAGED;
    return WEIR_OK;
}

static char *with_suffix(const char *path, const char *suffix)
{
    const size_t size = strlen(path) + strlen(suffix) + 1;
    char *out = malloc(size);
    if (out != NULL) {
        snprintf(out, size, "%s%s", path, suffix);
    }
    return out;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return strdup(".");
    }
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static weir_status lock(weir__position_file *file, weir_error *error)
{
    char *path = with_suffix(file->path, ".lock");
    if (path == NULL) {
        return weir__error_memory(error, file->path);
    }
    file->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    weir_status status = WEIR_OK;
    if (file->lock < 0) {
        status = refuse(error, path, "the position cannot be kept");
    } else if (flock(file->lock, LOCK_EX | LOCK_NB) != 0) {
        status = errno == EWOULDBLOCK
                     ? weir__error_at(error, WEIR_E_TAKEN, path,
                                      "another source keeps its position there: one source a "
                                      "position-file")
                     : refuse(error, path, "the position cannot be locked");
    }
    free(path);
    return status;
}

weir_status weir__position_open(weir__position_file *file, const char *path,
                                weir__position_found *found, weir__place *place, weir_error *error)
{
    *file = (weir__position_file){ .lock = -1, .synced = true };
    *found = WEIR__POSITION_NONE;
    file->path = strdup(path);
    file->beside = with_suffix(path, ".new");
    file->folder = folder_of(path);
    weir_status status = WEIR_OK;
    if (file->path == NULL || file->beside == NULL || file->folder == NULL) {
        status = weir__error_memory(error, path);
    }
    if (status == WEIR_OK) {
        status = lock(file, error);
    }
    if (status == WEIR_OK) {
        status = read_place(path, found, place, error);
    }
    if (status != WEIR_OK) {
        weir__position_close(file);
    }
    return status;
}

static bool write_all(int fd, const char *text, size_t length)
{
    size_t done = 0;
    while (done < length) {
        const ssize_t n = write(fd, text + done, length - done);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Whether the folder's own contents reached the disk: the new name is one of them. */
static bool sync_folder(const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    const bool good = fsync(fd) == 0 || errno == EINVAL; /* not every file system can */
    const int why = errno;
    close(fd);
    errno = why;
    return good;
}

static bool write_beside(const weir__position_file *file, const char *text, size_t length)
{
    const int fd = open(file->beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        return false;
    }
    const bool good = write_all(fd, text, length) && (!file->synced || fsync(fd) == 0);
    const int why = errno;
    if (close(fd) != 0 && good) {
        return false;
    }
    errno = why;
    return good;
}

weir_status weir__position_write(weir__position_file *file, const weir__place *place,
                                 weir_error *error)
{
    char text[TEXT_MAX];
    const int length = format_place(place, text, sizeof(text));
    if (!write_beside(file, text, (size_t)length)) {
        return refuse(error, file->beside, "the position cannot be written");
    }
    if (rename(file->beside, file->path) != 0) {
        return refuse(error, file->path, "the position cannot be replaced");
    }
    if (file->synced && !sync_folder(file->folder)) {
        return refuse(error, file->folder, "the folder of the position cannot be synced");
    }
    return WEIR_OK;
}

void weir__position_close(weir__position_file *file)
{
    if (file->path != NULL && file->lock >= 0) {
        close(file->lock); /* and so unlocked. The file stays: who removed it could lock another */
    }
    free(file->path);
    free(file->beside);
    free(file->folder);
    *file = (weir__position_file){ .lock = -1 };
}
