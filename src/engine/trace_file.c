/*
 * engine/trace_file.c - a recording into a file, which is there whole or not at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/trace.h"
#include "weir/trace.h"

static bool put(void *context, const char *text, size_t size)
{
    return fwrite(text, 1, size, context) == size;
}

/* 0, or an errno. The file is closed. */
static int finish(FILE *file, const char *beside, const char *path, bool written)
{
    int failure = written ? 0 : errno;
    if (failure == 0 && (fflush(file) != 0 || fsync(fileno(file)) != 0)) {
        failure = errno;
    }
    if (fclose(file) != 0 && failure == 0) {
        failure = errno;
    }
    if (failure == 0 && rename(beside, path) != 0) {
        failure = errno;
    }
    if (failure != 0) {
        (void)unlink(beside);
    }
    return failure;
}

weir_status weir_trace_write(weir_engine *engine, const char *path, weir_error *error)
{
    char beside[PATH_MAX];
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine) || path == NULL || path[0] == '\0') {
        return weir__error_at(error, WEIR_E_INVALID, "weir_trace_write",
                              path == NULL || path[0] == '\0' ? "the path is missing"
                                                              : "this is no usable engine");
    }
    const int length = snprintf(beside, sizeof(beside), "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof(beside)) {
        return weir__error_system(error, ENAMETOOLONG, path, "the trace cannot be written");
    }
    weir__recorder *recorder = weir__trace_take(engine);
    if (recorder == NULL) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_trace_write",
                              "there is no recording, or it is still on: stop it first");
    }
    const int descriptor = mkostemp(beside, O_CLOEXEC);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    int failure = file == NULL ? errno : 0;
    if (file != NULL) {
        uint64_t cursor = WEIR__TRACE_BEGIN;
        (void)weir__trace_text(engine, recorder, &cursor, SIZE_MAX, put, file);
        failure = finish(file, beside, path, cursor == WEIR__TRACE_END && ferror(file) == 0);
    } else if (descriptor >= 0) {
        (void)close(descriptor);
        (void)unlink(beside);
    }
    weir__trace_give_back(engine, recorder);
    return failure == 0 ? WEIR_OK
                        : weir__error_system(error, failure, path, "the trace cannot be written");
}
