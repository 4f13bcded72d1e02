/*
 * base/line.c - text without the C library's formatting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/line.h"

static void put(weir__line *line, char c)
{
    if (line->length < WEIR__LINE_MAX) {
        line->text[line->length++] = c;
    }
}

void weir__line_text(weir__line *line, const char *text)
{
    for (; *text != '\0'; text++) {
        put(line, *text);
    }
}

void weir__line_name(weir__line *line, const char *name, size_t most)
{
    size_t length = 0;
    while (length <= most && name[length] != '\0') {
        length++;
    }
    const size_t shown = length > most && most > 3 ? most - 3 : length < most ? length : most;
    for (size_t i = 0; i < shown; i++) {
        const unsigned char c = (unsigned char)name[i];
        put(line, c < 0x20 || c == 0x7f ? '?' : name[i]);
    }
    weir__line_text(line, length > most && most > 3 ? "..." : "");
}

static void put_digits(weir__line *line, uint64_t number, unsigned base)
{
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number != 0);
    while (count > 0) {
        put(line, digits[--count]);
    }
}

void weir__line_number(weir__line *line, uint64_t number)
{
    put_digits(line, number, 10);
}

void weir__line_hex(weir__line *line, uint64_t number)
{
    weir__line_text(line, "0x");
    put_digits(line, number, 16);
}

void weir__line_column(weir__line *line, size_t column)
{
    do {
        put(line, ' ');
    } while (line->length < column && line->length < WEIR__LINE_MAX);
}

void weir__line_end(weir__line *line)
{
    line->text[line->length++] = '\n';
}
