/*
 * base/status.c - what a status is called, and the end of a process whose contract was broken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "weir/base.h"

const char *weir_status_name(weir_status status)
{
#define NAME_CASE(name, value, text)                                                               \
    case value:                                                                                    \
        return "WEIR_" #name;
    switch (status) {
        WEIR_STATUS_MAP(NAME_CASE)
    default:
        return status < WEIR_E_USER ? "WEIR_E_USER" : "WEIR_?";
    }
#undef NAME_CASE
}

const char *weir_status_text(weir_status status)
{
#define TEXT_CASE(name, value, text)                                                               \
    case value:                                                                                    \
        return text;
    switch (status) {
        WEIR_STATUS_MAP(TEXT_CASE)
    default:
        return status < WEIR_E_USER ? "a failure of the application's own" : "no status of weir's";
    }
#undef TEXT_CASE
}

uint32_t weir_version(void)
{
    return WEIR_VERSION;
}

_Noreturn void weir__assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: weir assertion failed: %s\n", file, line, expression);
    abort();
}
