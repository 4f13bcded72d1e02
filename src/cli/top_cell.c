/*
 * cli/top_cell.c - one figure or one name: taken from its row, and as people read it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* wcwidth */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "cli/demo_show.h"
#include "cli/top.h"

/* ---- cells ---- */

const char *weir__top_cell_text(const weir__top_column *column, const void *row)
{
    const char *value;
    memcpy(&value, (const char *)row + column->offset, sizeof(value));
    return value;
}

double weir__top_cell_number(const weir__top_column *column, const void *row)
{
    double value;
    memcpy(&value, (const char *)row + column->offset, sizeof(value));
    return value;
}

weir__tone weir__top_cell_tone(const weir__top_column *column, const void *row)
{
    if (column->kind == WEIR__TOP_TEXT || column->tone == NULL) {
        return WEIR__TONE_PLAIN;
    }
    const double value = weir__top_cell_number(column, row);
    return isfinite(value) ? column->tone(row, value) : WEIR__TONE_PLAIN;
}

/* ---- numbers ---- */

/* 1,234,567 if it fits, else 1.23 M: at most 7 columns. */
static void put_count(weir__top_text *out, double value, int width)
{
    static const char *const units[] = { "", " k", " M", " G", " T", " P", " E" };
    const weir__demo_text whole = weir__demo_text_count((uint64_t)(value < 1e18 ? value + 0.5 : 0));
    if (value < 10 && value != floor(value)) {
        snprintf(out->text, sizeof(out->text), "%.1f", value);
    } else if (value < 1e18 && (int)strlen(whole.text) <= width) {
        snprintf(out->text, sizeof(out->text), "%s", whole.text);
    } else {
        size_t unit = 0;
        while (value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
            value /= 1000;
            unit++;
        }
        const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
        snprintf(out->text, sizeof(out->text), "%.*f%s", digits, value < 1e4 ? value : 9999.0,
                 units[unit]);
    }
}

static void put_bytes(weir__top_text *out, double value)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024;
        unit++;
    }
    const int digits = unit == 0 || value >= 99.95 ? 0 : 1;
    snprintf(out->text, sizeof(out->text), "%.*f %s", digits, value < 1e4 ? value : 9999.0,
             units[unit]);
}

weir__top_text weir__top_number_text(weir__top_kind kind, double value, int width)
{
    weir__top_text out = { "-" };
    if (!isfinite(value) || value < 0) { /* a core of -1 is none */
        return out;
    }
    switch (kind) {
    case WEIR__TOP_TEXT:
        break;
    case WEIR__TOP_COUNT:
        put_count(&out, value, width);
        break;
    case WEIR__TOP_ID:
        snprintf(out.text, sizeof(out.text), "%.0f", value < 1e12 ? value : 1e12);
        break;
    case WEIR__TOP_SHARE:
    case WEIR__TOP_BAR:
        /* "100 %" is as much as a share has; what is beyond is a CPU's worth and more. */
        snprintf(out.text, sizeof(out.text), value < 0.9995 ? "%.1f %%" : "%.0f %%",
                 (value < 99 ? value : 99) * 100);
        break;
    case WEIR__TOP_TIME:
        snprintf(out.text, sizeof(out.text), "%s",
                 weir__demo_text_time(value < 1e18 ? (uint64_t)value : (uint64_t)1e18).text);
        break;
    case WEIR__TOP_RATIO:
        snprintf(out.text, sizeof(out.text), value < 99.95 ? "%.1f" : "%.0f",
                 value < 99999 ? value : 99999);
        break;
    case WEIR__TOP_BYTES:
        put_bytes(&out, value);
        break;
    }
    return out;
}

/* ---- names ---- */

/* The next character: how many bytes, and how many columns. What cannot be shown, or would steer
 * the terminal, is a '?'. */
static size_t next(const char *text, bool utf8, const char **shown, size_t *bytes, int *columns)
{
    wchar_t wide;
    mbstate_t state = { 0 };
    *shown = text;
    *bytes = 1;
    *columns = 1;
    const unsigned char first = (unsigned char)text[0];
    if (first >= 0x20 && first < 0x7f) {
        return 1;
    }
    const size_t length = utf8 && first >= 0x80 ? mbrtowc(&wide, text, strlen(text), &state) : 0;
    if (length == 0 || length > 8 || wcwidth(wide) < 0) {
        *shown = "?";
        return length == 0 || length > 8 ? 1 : length;
    }
    *bytes = length;
    *columns = wcwidth(wide);
    return length;
}

int weir__top_text_width(const char *text, bool utf8)
{
    int width = 0;
    while (*text != '\0') {
        const char *shown;
        size_t bytes;
        int columns;
        text += next(text, utf8, &shown, &bytes, &columns);
        width += columns;
    }
    return width;
}

int weir__top_text_put(FILE *out, const char *text, int width, bool utf8)
{
    const bool cut = weir__top_text_width(text, utf8) > width;
    const int room = cut ? width - 1 : width;
    int used = 0;
    while (*text != '\0') {
        const char *shown;
        size_t bytes;
        int columns;
        text += next(text, utf8, &shown, &bytes, &columns);
        if (used + columns > room) {
            break;
        }
        fwrite(shown, 1, bytes, out);
        used += columns;
    }
    if (cut && width > 0) {
        fputs(utf8 ? "\xe2\x80\xa6" : "~", out); /* an ellipsis */
        used++;
    }
    return used;
}
