/*
 * connect/unix.c - the source `unix`: a listener on a socket file.
 *
 * A process that was killed leaves its socket file behind. One that nobody listens on is removed;
 * one that somebody answers on, and a file that is no socket, is an error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "connect/stream.h"
#include "connect/types.h"

typedef struct unix_config {
    weir__stream_config stream;
    const char *path;
    const char *mode;
} unix_config;

typedef struct unix_source {
    weir__stream stream; /* first: the hooks are its own */
    const unix_config *config;
    mode_t mode;
} unix_source;

static const weir_option options[] = {
    WEIR_KEY(STRING, unix_config, path, "path", .required = true,
             .help = "The socket file, at most 107 bytes. One that is left over from a process "
                     "that is gone is replaced; it is removed at the end."),
    WEIR_KEY(STRING, unix_config, mode, "mode", .fallback = "0600",
             .help = "Who may connect, as chmod has it: whoever may write the file. In quotes."),
    WEIR__STREAM_ROWS(unix_config, stream),
};

static int prepare(weir__stream *stream, weir__stream_io *io)
{
    return uv_pipe_init(&stream->loop.uv, &io->pipe, 0);
}

/* Whether it is a socket file that nobody listens on. */
static bool is_stale(const char *path)
{
    struct stat about;
    if (lstat(path, &about) != 0 || !S_ISSOCK(about.st_mode)) {
        return false;
    }
    const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0) {
        return false;
    }
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    memcpy(to.sun_path, path, strlen(path)); /* its length was checked */
    const bool refused = connect(probe, (const struct sockaddr *)&to, sizeof(to)) != 0 &&
                         errno == ECONNREFUSED; /* EAGAIN: its backlog is full, so it lives */
    close(probe);
    return refused;
}

static int bind_to(weir__stream *stream, weir__stream_io *io)
{
    const unix_source *u = (const unix_source *)stream;
    int status = uv_pipe_bind(&io->pipe, u->config->path);
    if (status == UV_EADDRINUSE && is_stale(u->config->path) && unlink(u->config->path) == 0) {
        status = uv_pipe_bind(&io->pipe, u->config->path);
    }
    /* Nobody gets in before it listens, so there is no moment with another mode. */
    if (status == 0 && chmod(u->config->path, u->mode) != 0) {
        status = uv_translate_sys_error(errno);
    }
    return status;
}

static const weir__stream_plan plan = { .type = "unix", .prepare = prepare, .bind = bind_to };

static weir_status init(void *state, weir_component *self, const void *config, weir_error *error)
{
    unix_source *u = state;
    u->config = config;
    const char *path = u->config->path;
    if (path[0] == '\0' || strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path)) {
        return weir__error_at(error, WEIR_E_CONFIG, weir_component_name(self),
                              "path: a socket file needs 1 to %zu bytes, this one has %zu",
                              sizeof(((struct sockaddr_un *)0)->sun_path) - 1, strlen(path));
    }
    char *end = NULL;
    errno = 0;
    const unsigned long mode = strtoul(u->config->mode, &end, 8);
    if (errno != 0 || end == u->config->mode || *end != '\0' || mode > 0777) {
        return weir__error_at(error, WEIR_E_CONFIG, weir_component_name(self),
                              "mode '%s': three or four octal digits are needed, as in \"0660\"",
                              u->config->mode);
    }
    u->mode = (mode_t)mode;
    return weir__stream_init(&u->stream, self, &plan, &u->config->stream, error);
}

const weir_component_type weir__unix_type = {
    .struct_size = sizeof(weir_component_type),
    .kind = WEIR_KIND_SOURCE,
    .name = "unix",
    .help = "listens on a Unix socket; each line or frame of a connection is an event",
    .state_size = sizeof(unix_source),
    .config_size = sizeof(unix_config),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .init = init,
    .start = weir__stream_start,
    .do_work = weir__stream_work,
    .stop = weir__stream_stop,
    .tear_down = weir__stream_tear_down,
    .slow = WEIR_SLOW_BLOCK, /* what comes next can wait */
};
