/*
 * base/error.c - the control plane's error in words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Cuts on a full buffer, and says so with "..." at the end. */
static void put_text(char *out, size_t size, const char *format, va_list arguments)
{
    const int length = vsnprintf(out, size, format, arguments);
    if (length >= 0 && (size_t)length >= size && size > 4) {
        memcpy(out + size - 4, "...", 4);
    }
}

static void set(weir_error *error, weir_status status, int os_errno, const char *path,
                const char *format, va_list arguments)
{
    if (error == NULL || error->status != WEIR_OK) {
        return;
    }
    error->status = status;
    error->os_errno = os_errno;
    const int length = snprintf(error->path, sizeof(error->path), "%s", path != NULL ? path : "");
    if (length >= 0 && (size_t)length >= sizeof(error->path)) {
        memcpy(error->path + sizeof(error->path) - 4, "...", 4);
    }
    put_text(error->text, sizeof(error->text), format, arguments);
}

weir_status weir__error_at(weir_error *error, weir_status status, const char *path,
                           const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set(error, status, 0, path, format, arguments);
    va_end(arguments);
    return status;
}

weir_status weir__error_system(weir_error *error, int os_errno, const char *path,
                               const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set(error, WEIR_E_SYSTEM, os_errno, path, format, arguments);
    va_end(arguments);
    return WEIR_E_SYSTEM;
}

weir_status weir__error_memory(weir_error *error, const char *path)
{
    return weir__error_at(error, WEIR_E_NOMEM, path, "out of memory");
}

weir_status weir_error_set(weir_error *error, weir_status status, const char *path,
                           const char *text)
{
    weir__error_at(error, status, path, "%s", text != NULL ? text : "");
    return error != NULL ? error->status : status;
}

size_t weir_error_format(const weir_error *error, char *buffer, size_t size)
{
    char place[192] = "";
    char code[64];
    if (error == NULL) {
        return (size_t)snprintf(buffer, size, "no error given");
    }
    if (error->file[0] != '\0' && error->line != 0) {
        snprintf(place, sizeof(place), "%s:%u:%u: ", error->file, (unsigned)error->line,
                 (unsigned)error->column);
    } else if (error->file[0] != '\0') {
        snprintf(place, sizeof(place), "%s: ", error->file);
    }
    if (error->os_errno != 0) {
        snprintf(code, sizeof(code), "%s, errno %d", weir_status_name(error->status),
                 (int)error->os_errno);
    } else {
        snprintf(code, sizeof(code), "%s", weir_status_name(error->status));
    }
    const char *text = error->text[0] != '\0' ? error->text : weir_status_text(error->status);
    const int length = snprintf(buffer, size, "%s%s%s%s (%s)", place, error->path,
                                error->path[0] != '\0' ? ": " : "", text, code);
    return length < 0 ? 0 : (size_t)length;
}

int weir_error_print(const weir_error *error)
{
    if (error == NULL || error->status == WEIR_OK) {
        return 0;
    }
    char line[700];
    weir_error_format(error, line, sizeof(line));
    fprintf(stderr, "%s\n", line);
    return 1;
}
