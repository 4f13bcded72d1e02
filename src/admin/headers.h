/*
 * admin/headers.h - what every answer over HTTP says besides its content.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_HEADERS_H
#define WEIR_ADMIN_HEADERS_H

/* Figures and answers are no page; the page loads nothing from elsewhere, and runs nothing that
 * stands in its text. */
#define WEIR__POLICY_DATA "default-src 'none'; frame-ancestors 'none'"
#define WEIR__POLICY_PAGE                                                                          \
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static const char *const weir__headers[][2] = {
    { "X-Content-Type-Options", "nosniff" },
    { "Referrer-Policy", "no-referrer" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "Connection", "close" },
};
#define WEIR__HEADERS (sizeof(weir__headers) / sizeof(weir__headers[0]))

#endif /* WEIR_ADMIN_HEADERS_H */
