/*
 * settings/writer.h - text in pieces, to wherever it goes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SETTINGS_WRITER_H
#define WEIR_SETTINGS_WRITER_H

#include "weir/config.h"

typedef bool (*weir__settings_sink)(void *context, const char *bytes, size_t length);

/* Zeroed but for the sink. A sink that refused once is not asked again. */
typedef struct weir__writer {
    weir__settings_sink sink;
    void *context;
    bool refused;
} weir__writer;

__attribute__((format(printf, 2, 3))) void weir__writer_print(weir__writer *writer,
                                                              const char *format, ...);
void weir__writer_bytes(weir__writer *writer, const char *bytes, size_t length);
/* "quoted", as JSON and HOCON read it. */
void weir__writer_quoted(weir__writer *writer, const char *text);

/* ---- what comes from the tables ---- */

typedef enum weir__reference_form {
    WEIR__REFERENCE_BUILT_IN, /* the first layer of every load: keys and values only */
    WEIR__REFERENCE_FILE,     /* config/reference.conf: with all that the rows say */
    WEIR__REFERENCE_MANUAL    /* weir.conf(5), its list of keys */
} weir__reference_form;

/* False: the sink refused. */
bool weir__write_reference(const weir_option_table *const *tables, weir__reference_form form,
                           weir__settings_sink sink, void *context);

/* "integer, 1 to 65535", "duration, at least 1ms, or never": what may be written. */
void weir__write_type(weir__writer *out, const weir_option *row);

#endif /* WEIR_SETTINGS_WRITER_H */
