/*
 * base/status.c - what a status is called.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
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
