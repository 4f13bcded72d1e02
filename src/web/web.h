/*
 * web/web.h - the files of the live page, as they are built in (tools/embed.py makes them of web/).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_WEB_WEB_H
#define WEIR_WEB_WEB_H

#include <stdbool.h>
#include <stddef.h>

typedef struct weir__web_file {
    const char *path; /* "/", "/assets/style.css" */
    const char *type;
    const unsigned char *data;
    size_t size;
    const char *etag;            /* with its quotes: what an If-None-Match header says */
    const unsigned char *packed; /* by gzip; NULL: not worth it */
    size_t packed_size;
    const char *packed_etag;
} weir__web_file;

extern const weir__web_file weir__web_files[];
extern const size_t weir__web_file_count;
/* False: uPlot was not there at build time, and the page has a note in place of charts. */
extern const bool weir__web_has_charts;

/* Any thread. NULL: there is none of that path, letter by letter. */
const weir__web_file *weir__web_find(const char *path);

#endif /* WEIR_WEB_WEB_H */
