/*
 * simulate/quote.c - see quote.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/quote.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void append(char *out, size_t size, const char *text)
{
    const size_t used = strlen(out);
    snprintf(out + used, size - used, "%s", text);
}

void weir__simulate_quote(char *out, size_t size, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_./-+=:,@%";
    const bool bare = word[0] != '\0' && word[strspn(word, plain)] == '\0';
    append(out, size, out[0] != '\0' ? " " : "");
    append(out, size, bare ? word : "'");
    for (const char *at = word; !bare && *at != '\0'; at++) {
        const char letter[] = { *at, '\0' };
        append(out, size, *at == '\'' ? "'\\''" : letter);
    }
    append(out, size, bare ? "" : "'");
}
