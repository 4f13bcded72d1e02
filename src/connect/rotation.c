/*
 * connect/rotation.c - looks through the folder of a path. Names are only hints: whatever is opened
 * is asked by its descriptor who it is, since a rotation may run at the same time. A file that is
 * renamed while the folder is read may not be seen at all: so it is read until two looks agree.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* st_mtim, O_DIRECTORY */
#include "connect/rotation.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ENTRIES_MAX = 100000,
    NUMBER_DIGITS_MAX = 6,
    LOOKS_MAX = 100 /* until a folder is the same twice */
};

typedef enum kind {
    KIND_CURRENT, /* the path itself */
    KIND_NUMBER,  /* log.7 */
    KIND_DATE,    /* log-20261101, log.2026-11-01T12 */
    KIND_OTHER
} kind;

typedef struct sibling {
    char name[256];
    kind kind;
    unsigned number;
    struct stat about;
} sibling;

/* What is looked for while the folder is gone through. */
typedef struct hunt {
    int folder;
    const char *base;
    bool (*visit)(struct hunt *h, const sibling *s); /* false: enough */
    const weir__place *place;
    bool copies;
    bool old_found;
    sibling old;
    bool any;
    sibling best;
    weir__file_found *found;
    int score;
    uint64_t listing; /* of names and inodes, in any order */
} hunt;

weir_ns weir__modified(const struct stat *about)
{
    return (weir_ns)about->st_mtim.tv_sec * WEIR_S + about->st_mtim.tv_nsec;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool is_compressed(const char *name)
{
    return ends_with(name, ".gz") || ends_with(name, ".xz") || ends_with(name, ".bz2") ||
           ends_with(name, ".zst") || ends_with(name, ".Z") || ends_with(name, ".lz4");
}

static kind kind_of(const char *suffix, unsigned *number)
{
    *number = 0;
    if (suffix[0] == '\0') {
        return KIND_CURRENT;
    }
    const size_t rest = strlen(suffix + 1);
    if ((suffix[0] != '.' && suffix[0] != '-') || rest == 0 || suffix[1] < '0' || suffix[1] > '9' ||
        strspn(suffix + 1, "0123456789-_.:TZ") != rest) {
        return KIND_OTHER;
    }
    if (rest <= NUMBER_DIGITS_MAX && strspn(suffix + 1, "0123456789") == rest) {
        *number = (unsigned)strtoul(suffix + 1, NULL, 10);
        return KIND_NUMBER;
    }
    return KIND_DATE;
}

/* Whether `a` was rotated away before `b` was. */
static bool is_older(const sibling *a, const sibling *b)
{
    if (a->kind == KIND_CURRENT || b->kind == KIND_CURRENT) {
        return a->kind != KIND_CURRENT;
    }
    if (a->kind == KIND_NUMBER && b->kind == KIND_NUMBER) {
        return a->number > b->number;
    }
    if (a->kind == KIND_DATE && b->kind == KIND_DATE) {
        return strcmp(a->name, b->name) < 0;
    }
    return weir__modified(&a->about) < weir__modified(&b->about);
}

/* False, and errno: the folder cannot be read. */
static bool go_through(hunt *h)
{
    const int fd = dup(h->folder);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder == NULL) {
        const int why = errno;
        if (fd >= 0) {
            close(fd);
        }
        errno = why;
        return false;
    }
    rewinddir(folder);
    h->listing = 0;
    const size_t length = strlen(h->base);
    const struct dirent *entry;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's own */
    for (int i = 0; i < ENTRIES_MAX && (entry = readdir(folder)) != NULL; i++) {
        sibling s;
        if (strncmp(entry->d_name, h->base, length) != 0 || is_compressed(entry->d_name)) {
            continue;
        }
        s.kind = kind_of(entry->d_name + length, &s.number);
        snprintf(s.name, sizeof(s.name), "%s", entry->d_name);
        if (fstatat(h->folder, s.name, &s.about, 0) != 0 || !S_ISREG(s.about.st_mode)) {
            continue;
        }
        if (s.kind != KIND_OTHER) {
            h->listing += weir__fingerprint(s.name, strlen(s.name)) ^ s.about.st_ino;
        }
        if (!h->visit(h, &s)) {
            break;
        }
    }
    closedir(folder);
    return true;
}

/* The folder of the path, open; *base: the name in it. -1: errno. */
static int open_folder(const char *path, const char **base)
{
    const char *slash = strrchr(path, '/');
    *base = slash != NULL ? slash + 1 : path;
    char *folder = slash == NULL   ? strdup(".")
                   : slash == path ? strdup("/")
                                   : strndup(path, (size_t)(slash - path));
    const int fd = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    const int why = errno;
    free(folder);
    errno = why;
    return fd;
}

/* Without a wait, should it be a pipe. False: errno; EISDIR or ENODEV: it is no file. */
static bool open_file(int folder, const char *name, weir__file_found *found)
{
    *found = (weir__file_found){ .fd = -1 };
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return false;
    }
    const bool known = fstat(fd, &found->about) == 0;
    if (!known || !S_ISREG(found->about.st_mode)) {
        const int why = !known ? errno : S_ISDIR(found->about.st_mode) ? EISDIR : ENODEV;
        close(fd);
        errno = why;
        return false;
    }
    found->fd = fd;
    snprintf(found->name, sizeof(found->name), "%s", name);
    return true;
}

bool weir__rotation_current(const char *path, weir__file_found *found)
{
    const char *base;
    *found = (weir__file_found){ .fd = -1 };
    const int folder = open_folder(path, &base);
    if (folder < 0) {
        return false;
    }
    const bool good = open_file(folder, base, found);
    const int why = errno;
    found->current = true;
    close(folder);
    errno = why;
    return good;
}

/* Whether an open file begins as the place's did, and is long enough. */
static bool begins_alike(const weir__file_found *found, const weir__place *place)
{
    char head[WEIR__HEAD_MAX];
    if ((uint64_t)found->about.st_size < place->offset || place->head_size > sizeof(head) ||
        pread(found->fd, head, place->head_size, 0) != (ssize_t)place->head_size) {
        return false;
    }
    return weir__fingerprint(head, place->head_size) == place->fingerprint;
}

/* 3: it is the one. 2: the same on another device (numbers of devices change at a boot). 1: a copy
 * of it. 0: another. */
static int score_of(const hunt *h, const sibling *s)
{
    const weir__place *place = h->place;
    if (s->about.st_ino == place->inode) {
        return s->about.st_dev == place->device ? 3 : place->head_size > 0 ? 2 : 0;
    }
    /* Of other names it may be anybody's, a sink's that writes beside what it reads, for one. */
    const bool rotated = s->kind == KIND_NUMBER || s->kind == KIND_DATE;
    return h->copies && rotated && place->head_size > 0 && place->offset > 0;
}

static bool visit_for_place(hunt *h, const sibling *s)
{
    weir__file_found candidate;
    const int score = score_of(h, s);
    if (score <= h->score || !open_file(h->folder, s->name, &candidate)) {
        return true;
    }
    if (candidate.about.st_ino != s->about.st_ino || !begins_alike(&candidate, h->place)) {
        close(candidate.fd);
        return true;
    }
    if (h->found->fd >= 0) {
        close(h->found->fd);
    }
    *h->found = candidate;
    h->found->current = s->kind == KIND_CURRENT;
    h->found->copy = score == 1;
    h->score = score;
    return score < 3;
}

bool weir__rotation_find(const char *path, const weir__place *place, bool copies,
                         weir__file_found *found)
{
    hunt s = { .visit = visit_for_place, .place = place, .copies = copies, .found = found };
    *found = (weir__file_found){ .fd = -1 };
    s.folder = open_folder(path, &s.base);
    if (s.folder < 0) {
        return false;
    }
    uint64_t before = 0;
    for (int i = 0; i < LOOKS_MAX && go_through(&s) && found->fd < 0; i++) {
        if (i > 0 && s.listing == before) {
            break;
        }
        before = s.listing;
    }
    close(s.folder);
    return found->fd >= 0;
}

static bool has_inode(const hunt *h, const sibling *s)
{
    return s->about.st_ino == h->place->inode && s->about.st_dev == h->place->device;
}

static bool visit_for_old(hunt *h, const sibling *s)
{
    weir__file_found candidate;
    if (!has_inode(h, s) || !open_file(h->folder, s->name, &candidate)) {
        return true;
    }
    const bool same = begins_alike(&candidate, h->place);
    close(candidate.fd);
    if (same) {
        h->old = *s;
        h->old_found = true;
    }
    return !same || s->kind == KIND_OTHER; /* a second name of it tells more about its age */
}

static bool came_after_old(const hunt *h, const sibling *s)
{
    if (h->old_found) {
        return !has_inode(h, s) && is_older(&h->old, s);
    }
    return s->kind == KIND_CURRENT || weir__modified(&s->about) > h->place->modified;
}

static bool visit_for_next(hunt *h, const sibling *s)
{
    if (s->kind == KIND_OTHER || !came_after_old(h, s)) {
        return true;
    }
    if (!h->any || is_older(s, &h->best)) {
        h->best = *s;
        h->any = true;
    }
    return true;
}

/* Fills in `old` and `best`. False: errno; EAGAIN: the folder does not come to rest. */
static bool look_until_same(hunt *h)
{
    uint64_t before = 0;
    for (int i = 0; i < LOOKS_MAX; i++) {
        h->old_found = h->any = false;
        h->visit = visit_for_old;
        if (!go_through(h)) {
            return false;
        }
        h->visit = visit_for_next;
        if (!go_through(h)) {
            return false;
        }
        if (i > 0 && h->listing == before) {
            return true;
        }
        before = h->listing;
    }
    errno = EAGAIN;
    return false;
}

bool weir__rotation_next(const char *path, const weir__place *old, weir__file_found *found)
{
    hunt s = { .place = old };
    *found = (weir__file_found){ .fd = -1 };
    s.folder = open_folder(path, &s.base);
    if (s.folder < 0) {
        return false;
    }
    bool good = look_until_same(&s);
    if (good && !s.any) {
        errno = ENOENT;
        good = false;
    }
    good = good && open_file(s.folder, s.best.name, found);
    if (good && found->about.st_ino != s.best.about.st_ino) {
        close(found->fd); /* renamed meanwhile: look again later */
        found->fd = -1;
        errno = EAGAIN;
        good = false;
    }
    found->current = s.best.kind == KIND_CURRENT;
    const int why = errno;
    close(s.folder);
    errno = why;
    return good;
}
