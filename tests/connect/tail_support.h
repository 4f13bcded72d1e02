/*
 * tail_support.h - a folder of its own for each test, files in it, and a tail whose clock stands
 * still until the test moves it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TAIL_SUPPORT_H
#define WEIR_TAIL_SUPPORT_H

#include "test_support.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connect/tail.h"

typedef struct scene {
    char folder[64];
    char path[128]; /* "log" in it */
    weir__tail tail;
    weir_ns now;
    char told[4096];
    weir__tail_options options;
} scene;

static inline int scene_remove(const char *path, const struct stat *about, int flag,
                               struct FTW *where)
{
    (void)about, (void)flag, (void)where;
    return remove(path);
}

static inline void scene_tell(void *context, weir_status status, const char *text)
{
    scene *s = context;
    const size_t length = strlen(s->told);
    snprintf(s->told + length, sizeof(s->told) - length, "%d %s\n", (int)status, text);
}

static inline int scene_set_up(void **state)
{
    scene *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    snprintf(s->folder, sizeof(s->folder), "/tmp/weir-tail-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->path, sizeof(s->path), "%s/log", s->folder);
    s->options = (weir__tail_options){
        .path = s->path,
        .frame = { .format = WEIR__FORMAT_LINES, .max = 1000 },
        .read_size = 64,
        .poll_interval = WEIR_S,
        .rotate_wait = WEIR_S,
        .tell = scene_tell,
        .context = s,
    };
    s->now = 1000 * WEIR_S;
    s->tail.fd = -1;
    *state = s;
    return 0;
}

static inline int scene_tear_down(void **state)
{
    scene *s = *state;
    weir__tail_close(&s->tail);
    nftw(s->folder, scene_remove, 16, FTW_DEPTH | FTW_PHYS);
    free(s);
    return 0;
}

/* A path in the folder: "log" and what is given. Four are valid at a time. */
static inline const char *beside(const scene *s, const char *suffix)
{
    static char paths[4][256];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof(paths[0]), "%s%s", s->path, suffix);
    return path;
}

static inline void append(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(close(fd), 0);
}

static inline void copy_file(const char *from, const char *to)
{
    char bytes[4096];
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ssize_t got;
    assert_true(in >= 0 && out >= 0);
    while ((got = read(in, bytes, sizeof(bytes))) > 0) {
        assert_int_equal(write(out, bytes, (size_t)got), got);
    }
    close(in);
    close(out);
}

/* Written to that long ago, as rotated files are. */
static inline void make_old(const char *path, time_t seconds)
{
    const struct timespec then = { .tv_sec = time(NULL) - seconds };
    const struct timespec times[2] = { then, then };
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static inline void open_tail(scene *s, const weir__place *from)
{
    weir_error error = WEIR_ERROR_INIT;
    if (weir__tail_open(&s->tail, &s->options, from, &error) != WEIR_OK) {
        weir_error_print(&error);
        fail();
    }
}

/* All that there is now, joined by '|'; a bad one in brackets. */
static inline const char *all_of(scene *s)
{
    static char text[1 << 16];
    size_t length = 0;
    weir__frame frame;
    weir__frame_what what;
    text[0] = '\0';
    do {
        what = weir__tail_next(&s->tail, s->now, &frame);
        if (what == WEIR__FRAME_NONE) {
            continue;
        }
        length += (size_t)snprintf(text + length, sizeof(text) - length,
                                   what == WEIR__FRAME_BAD ? "%s(%.*s)" : "%s%.*s",
                                   length > 0 ? "|" : "", (int)frame.size, frame.data);
        assert_true(length < sizeof(text));
        weir__tail_take(&s->tail);
    } while (what != WEIR__FRAME_NONE || s->tail.busy);
    return text;
}

/* The same after the file was said to have changed. */
static inline const char *look(scene *s)
{
    weir__tail_look(&s->tail);
    return all_of(s);
}

static inline const char *look_later(scene *s, weir_ns delay)
{
    s->now += delay;
    return look(s);
}

static inline weir__place commit(scene *s)
{
    weir__place place;
    assert_true(weir__tail_commit(&s->tail, weir__tail_position(&s->tail), &place));
    return place;
}

/* The process was killed: all that is left is what was committed. */
static inline void start_again(scene *s, const weir__place *from)
{
    weir__tail_close(&s->tail);
    open_tail(s, from);
}

#define scene_test(function)                                                                       \
    cmocka_unit_test_setup_teardown(function, scene_set_up, scene_tear_down)

#endif /* WEIR_TAIL_SUPPORT_H */
