/*
 * base/checker.c - see base/checker.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/checker.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define NAME_BYTES_MAX (WEIR__NAME_SIZE - 1)

static void path_of(const weir__checker *check, const char *field, char *out, size_t size)
{
    snprintf(out, size, "%s.%s", check->owner, field);
}

void weir__check_refuse_number(weir__checker *check, const char *field, uint64_t value,
                               uint64_t least, uint64_t most, uint64_t usual)
{
    char path[96];
    if (check->status == WEIR_OK) {
        path_of(check, field, path, sizeof(path));
        check->status = weir__error_at(check->error, WEIR_E_INVALID, path,
                                       "is %llu, must be %llu to %llu (0 = the default, %llu)",
                                       (unsigned long long)value, (unsigned long long)least,
                                       (unsigned long long)most, (unsigned long long)usual);
    }
}

void weir__check_refuse_span(weir__checker *check, const char *field, weir_ns value, weir_ns least,
                             weir_ns most, weir_ns usual)
{
    char path[96];
    if (check->status == WEIR_OK) {
        path_of(check, field, path, sizeof(path));
        check->status =
            weir__error_at(check->error, WEIR_E_INVALID, path,
                           "is %lld ns, must be %lld ns to %lld ns (0 = the default, %lld ns)",
                           (long long)value, (long long)least, (long long)most, (long long)usual);
    }
}

void weir__check_real(weir__checker *check, const char *field, double *value, double above,
                      double most, double usual)
{
    char path[96];
    if (check->status != WEIR_OK) {
        return;
    }
    if (*value == 0) {
        *value = usual;
        return;
    }
    /* Written so that a NaN is refused, too. */
    if (!(*value > above && *value <= most)) {
        path_of(check, field, path, sizeof(path));
        check->status = weir__error_at(check->error, WEIR_E_INVALID, path,
                                       "is %g, must be more than %g and at most %g (0 = the "
                                       "default, %g)",
                                       *value, above, most, usual);
    }
}

void weir__check_refuse_choice(weir__checker *check, const char *field, int value,
                               const char *names)
{
    char path[96];
    if (check->status == WEIR_OK) {
        path_of(check, field, path, sizeof(path));
        check->status = weir__error_at(check->error, WEIR_E_INVALID, path, "is %d, must be %s",
                                       value < 0 ? 0 : value, names);
    }
}

void weir__check_long_name(weir__checker *check, const char *field, const char *text)
{
    char path[96];
    if (check->status == WEIR_OK && strnlen(text, NAME_BYTES_MAX + 1) > NAME_BYTES_MAX) {
        path_of(check, field, path, sizeof(path));
        check->status =
            weir__error_at(check->error, WEIR_E_INVALID, path,
                           "is \"%.40s...\", must be at most %u bytes", text, NAME_BYTES_MAX);
    }
}

void weir__check_refuse(weir__checker *check, const char *field, const char *text)
{
    char path[96];
    if (check->status == WEIR_OK) {
        path_of(check, field, path, sizeof(path));
        check->status = weir__error_at(check->error, WEIR_E_INVALID, path, "%s", text);
    }
}

weir__checker weir__check_begin(const char *owner, void *out, size_t size, const void *in,
                                weir_error *error)
{
    weir__checker check = { owner, error, WEIR_OK };
    memset(out, 0, size);
    check.status = weir__options_read(out, size, in);
    if (check.status == WEIR_E_INVALID) {
        char path[96];
        size_t given = 0;
        memcpy(&given, in, sizeof(given));
        path_of(&check, "struct_size", path, sizeof(path));
        weir__error_at(error, WEIR_E_INVALID, path,
                       "is %zu, must be sizeof(%s): use the macro or _INIT", given, owner);
    } else if (check.status != WEIR_OK) {
        weir__error_at(error, check.status, owner,
                       "sets a field that this version of weir (%u.%u) does not know",
                       (unsigned)WEIR_VERSION_MAJOR, (unsigned)WEIR_VERSION_MINOR);
    }
    return check;
}
