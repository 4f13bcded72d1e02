/*
 * settings/writer.c - see writer.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings/writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void weir__writer_bytes(weir__writer *writer, const char *bytes, size_t length)
{
    if (!writer->refused && length > 0) {
        writer->refused = !writer->sink(writer->context, bytes, length);
    }
}

void weir__writer_print(weir__writer *writer, const char *format, ...)
{
    char text[1200]; /* what is written in pieces is shorter */
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    const size_t full = length > 0 ? (size_t)length : 0;
    weir__writer_bytes(writer, text, full < sizeof(text) ? full : sizeof(text) - 1);
}

void weir__writer_quoted(weir__writer *writer, const char *text)
{
    weir__writer_bytes(writer, "\"", 1);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            weir__writer_bytes(writer, "\\", 1);
            weir__writer_bytes(writer, c, 1);
        } else if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            weir__writer_print(writer, "\\u%04x", (unsigned char)*c);
        } else {
            const size_t run = strcspn(c, "\"\\\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e"
                                          "\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b"
                                          "\x1c\x1d\x1e\x1f\x7f");
            weir__writer_bytes(writer, c, run);
            c += run - 1;
        }
    }
    weir__writer_bytes(writer, "\"", 1);
}
