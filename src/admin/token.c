/*
 * admin/token.c - see token.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* strerrordesc_np */
#include "admin/token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "admin/reason.h"
#include "base/error.h"

#define PATH "weir.admin.http.token-file"

/* Letters that a header can carry, and enough of them. */
static weir_status check(const weir__token *token, const char *path, weir_error *error)
{
    bool sane = token->length >= WEIR__TOKEN_MIN && token->length <= WEIR__TOKEN_MAX;
    for (size_t i = 0; sane && i < token->length; i++) {
        sane = token->bytes[i] > ' ' && token->bytes[i] < 0x7f;
    }
    return sane ? WEIR_OK
                : weir__error_at(error, WEIR_E_CONFIG, path,
                                 "a token is %u to %u visible characters of ASCII without blanks",
                                 WEIR__TOKEN_MIN, WEIR__TOKEN_MAX);
}

static weir_status check_file(int descriptor, const char *name, weir_error *error)
{
    struct stat found;
    if (fstat(descriptor, &found) != 0) {
        return weir__error_system(error, errno, PATH, "cannot look at %s", name);
    }
    if (!S_ISREG(found.st_mode) || (found.st_mode & 077) != 0 ||
        (found.st_uid != geteuid() && found.st_uid != 0)) {
        return weir__error_at(error, WEIR_E_CONFIG, PATH,
                              "%s must be a regular file of this user that nobody else may read: "
                              "chmod 0600 (it has %04o)",
                              name, (unsigned)(found.st_mode & 07777));
    }
    return WEIR_OK;
}

weir_status weir__token_read(weir__token *token, const char *file, weir_error *error)
{
    *token = (weir__token){ .length = 0 };
    const int descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor < 0) {
        return weir__error_system(error, errno, PATH, "cannot read %s: %s", file,
                                  weir__reason(errno));
    }
    weir_status status = check_file(descriptor, file, error);
    ssize_t got = 1;
    while (status == WEIR_OK && got > 0 && token->length < sizeof(token->bytes)) {
        got = read(descriptor, token->bytes + token->length, sizeof(token->bytes) - token->length);
        token->length += got > 0 ? (size_t)got : 0;
    }
    (void)close(descriptor);
    if (status == WEIR_OK && got < 0) {
        status = weir__error_system(error, errno, PATH, "cannot read %s", file);
    }
    while (token->length > 0 && strchr(" \t\r\n", token->bytes[token->length - 1]) != NULL) {
        token->bytes[--token->length] = '\0';
    }
    status = status == WEIR_OK ? check(token, PATH, error) : status;
    if (status != WEIR_OK) {
        weir__token_close(token);
    }
    return status;
}

weir_status weir__token_open(weir__token *token, const char *file, const char *text,
                             weir_error *error)
{
    *token = (weir__token){ .length = 0 };
    if (file != NULL && file[0] != '\0') {
        return weir__token_read(token, file, error);
    }
    const bool given = text != NULL && text[0] != '\0';
    /* Nothing of weir's changes the environment. NOLINTNEXTLINE(concurrency-mt-unsafe) */
    const char *found = given ? text : getenv("WEIR_ADMIN_TOKEN");
    if (found == NULL || found[0] == '\0') {
        return WEIR_OK;
    }
    token->length = strlen(found);
    if (token->length <= WEIR__TOKEN_MAX) {
        memcpy(token->bytes, found, token->length);
    }
    const weir_status status =
        check(token, given ? "weir.admin.http.token" : "$WEIR_ADMIN_TOKEN", error);
    if (status != WEIR_OK) {
        weir__token_close(token);
    }
    return status;
}

void weir__token_close(weir__token *token)
{
    explicit_bzero(token, sizeof(*token));
}

/* Looks at every byte of what was given, whatever differs: how long it takes says how long that is,
 * and nothing of the token. */
static bool same(const weir__token *token, const char *given, size_t length)
{
    unsigned char differs = (unsigned char)(length != token->length);
    for (size_t i = 0; i < length; i++) {
        const size_t at = i < WEIR__TOKEN_MAX ? i : 0;
        differs |= (unsigned char)((unsigned char)token->bytes[at] ^ (unsigned char)given[i]);
    }
    /* The compiler is not told that one difference is enough. */
    __asm__ __volatile__("" : "+r"(differs));
    return differs == 0;
}

bool weir__token_fits(const weir__token *token, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    if (authorization == NULL || strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0) {
        return false;
    }
    const char *given = authorization + sizeof(scheme) - 1;
    given += strspn(given, " ");
    const bool fits = same(token, given, strlen(given));
    return fits && token->length > 0;
}
