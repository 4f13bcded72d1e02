/*
 * admin/listen.c - the file of a Unix socket: made, replaced, guarded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* strerrordesc_np */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "admin/socket.h"
#include "admin/reason.h"
#include "base/error.h"

#define PATH "weir.admin.socket"
#define BACKLOG 64

/* Its folder, made if it is not there (one level of it). Nobody else may put another file in the
 * place of ours. */
static weir_status prepare_folder(const char *path, weir_error *error)
{
    char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
    struct stat found;
    const char *slash = strrchr(path, '/');
    const size_t length = slash != NULL ? (size_t)(slash - path) : 0;
    (void)snprintf(folder, sizeof(folder), "%.*s", slash == NULL ? 1 : (int)length,
                   slash == NULL ? "." : path);
    const char *named = folder[0] != '\0' ? folder : "/";
    if (mkdir(named, 0700) != 0 && errno != EEXIST) {
        return weir__error_system(error, errno, PATH, "cannot make the folder %s: %s", named,
                                  weir__reason(errno));
    }
    if (stat(named, &found) != 0) {
        return weir__error_system(error, errno, PATH, "cannot look at %s: %s", named,
                                  weir__reason(errno));
    }
    const bool ours = found.st_uid == geteuid() || found.st_uid == 0;
    const bool open = (found.st_mode & 022) != 0 && (found.st_mode & S_ISVTX) == 0;
    if (!S_ISDIR(found.st_mode) || !ours || open) {
        return weir__error_at(error, WEIR_E_CONFIG, PATH,
                              "%s must be a folder of this user that nobody else may write: "
                              "mkdir -m 0700",
                              named);
    }
    return WEIR_OK;
}

/* True: a process answers there. */
static bool is_alive(const struct sockaddr_un *address)
{
    const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0) {
        return true; /* not known: leave it alone */
    }
    const int result = connect(probe, (const struct sockaddr *)address, sizeof(*address));
    const bool alive = result == 0 || (errno != ECONNREFUSED && errno != ENOENT);
    (void)close(probe);
    return alive;
}

static weir_status bind_to(int descriptor, const struct sockaddr_un *address, weir_error *error)
{
    struct stat found;
    const char *path = address->sun_path;
    /* Before there is a file: no moment at which others could open it. */
    if (fchmod(descriptor, 0600) != 0) {
        return weir__error_system(error, errno, PATH, "cannot guard %s", path);
    }
    if (bind(descriptor, (const struct sockaddr *)address, sizeof(*address)) == 0) {
        return WEIR_OK;
    }
    if (errno != EADDRINUSE || lstat(path, &found) != 0) {
        return weir__error_system(error, errno, PATH, "cannot make %s: %s", path,
                                  weir__reason(errno));
    }
    if (!S_ISSOCK(found.st_mode) || found.st_uid != geteuid()) {
        return weir__error_at(error, WEIR_E_CONFIG, PATH, "%s is there, and is no socket of ours",
                              path);
    }
    if (is_alive(address)) {
        return weir__error_at(error, WEIR_E_TAKEN, PATH,
                              "another process answers at %s: give one of the two another socket",
                              path);
    }
    if (unlink(path) != 0 ||
        bind(descriptor, (const struct sockaddr *)address, sizeof(*address)) != 0) {
        return weir__error_system(error, errno, PATH, "cannot replace %s: %s", path,
                                  weir__reason(errno));
    }
    return WEIR_OK;
}

int weir__admin_socket_listen(const char *path, weir_error *error)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (path[0] == '\0' || strlen(path) >= sizeof(address.sun_path)) {
        (void)weir__error_at(error, WEIR_E_CONFIG, PATH,
                             "'%.140s' must be a path of 1 to %zu bytes", path,
                             sizeof(address.sun_path) - 1);
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    if (prepare_folder(path, error) != WEIR_OK) {
        return -1;
    }
    const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) {
        (void)weir__error_system(error, errno, PATH, "no socket can be had");
        return -1;
    }
    if (bind_to(descriptor, &address, error) != WEIR_OK) {
        (void)close(descriptor);
        return -1;
    }
    if (chmod(path, 0600) != 0 || listen(descriptor, BACKLOG) != 0) {
        (void)weir__error_system(error, errno, PATH, "cannot listen at %s", path);
        (void)close(descriptor);
        (void)unlink(path);
        return -1;
    }
    return descriptor;
}
