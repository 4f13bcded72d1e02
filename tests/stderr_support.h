/*
 * stderr_support.h - hears what is written to standard error, by descriptor or by stdio.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_STDERR_SUPPORT_H
#define WEIR_TEST_STDERR_SUPPORT_H

#include "test_support.h"

#include <string.h>
#include <unistd.h>

typedef struct test_paper {
    int saved;
    FILE *paper;
} test_paper;

static inline test_paper test_hear(void)
{
    (void)fflush(stderr);
    const test_paper p = { dup(STDERR_FILENO), tmpfile() };
    assert_true(p.saved >= 0 && p.paper != NULL);
    assert_int_equal(STDERR_FILENO, dup2(fileno(p.paper), STDERR_FILENO));
    return p;
}

/* Standard error is itself again; what was written meanwhile is in `out`, and no zero among it. */
static inline void test_heard(test_paper p, char *out, size_t size)
{
    (void)fflush(stderr);
    assert_int_equal(STDERR_FILENO, dup2(p.saved, STDERR_FILENO));
    const ssize_t length = pread(fileno(p.paper), out, size - 1, 0);
    assert_true(length >= 0);
    out[length] = '\0';
    (void)close(p.saved);
    (void)fclose(p.paper);
    assert_int_equal(length, strlen(out));
}

#endif /* WEIR_TEST_STDERR_SUPPORT_H */
