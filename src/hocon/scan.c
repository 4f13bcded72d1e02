/*
 * hocon/scan.c - positions, white space, words and quoted texts; what to do after a mistake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hocon/read.h"

/* --- where ------------------------------------------------------------------------------------ */

weir__origin weir__read_origin(weir__reader *reader, const char *at)
{
    weir__origin origin = { .source = reader->source, .line = reader->line };
    if (reader->ascii) {
        origin.column = (uint32_t)(at - reader->line_start) + 1;
        return origin;
    }
    /* Characters are counted once: from where the last count ended, if that was before. */
    if (reader->column_at < reader->line_start || reader->column_at > at) {
        reader->column_at = reader->line_start;
        reader->column = 1;
    }
    for (const char *s = reader->column_at; s < at; s++) {
        reader->column += ((unsigned char)*s & 0xc0) != 0x80;
    }
    reader->column_at = at;
    origin.column = reader->column;
    return origin;
}

const char *weir__read_path(weir__reader *reader)
{
    weir__hocon *document = reader->document;
    const size_t length = weir__path_format(document->path, document->path_count, NULL, 0);
    if (length > 300 || !weir__document_scratch(document, length + 1)) {
        return NULL;
    }
    weir__path_format(document->path, document->path_count, document->scratch, length + 1);
    return document->scratch;
}

void weir__read_fail(weir__reader *reader, const char *at, const char *format, ...)
{
    reader->errors++;
    if (reader->over) {
        return; /* it only follows from what was said already */
    }
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    weir__problems_add(reader->document->problems, WEIR__ERROR, weir__read_origin(reader, at),
                       weir__read_path(reader), "%s", text);
    if (at >= reader->end) {
        reader->over = true;
    }
}

weir__shown weir__read_shown(const weir__reader *reader, const char *at)
{
    weir__shown shown;
    if (at >= reader->end) {
        snprintf(shown.text, sizeof(shown.text), "the end of the text");
    } else if (*at == '\n') {
        snprintf(shown.text, sizeof(shown.text), "the end of the line");
    } else {
        const bool word = (weir__class[(unsigned char)*at] & WEIR__APART) == 0;
        size_t length = weir__utf8_length(at);
        while (word && length < 30 && at + length < reader->end &&
               (weir__class[(unsigned char)at[length]] & (WEIR__APART | WEIR__BLANK | WEIR__END)) ==
                   0) {
            length += weir__utf8_length(at + length);
        }
        if (at[0] == '+' && at[1] == '=') {
            length = 2;
        }
        snprintf(shown.text, sizeof(shown.text), "'%.*s'", (int)length, at);
    }
    return shown;
}

/* --- white space ------------------------------------------------------------------------------ */

bool weir__at_comment(const weir__reader *reader, const char *at)
{
    (void)reader;
    return *at == '#' || (*at == '/' && at[1] == '/');
}

void weir__skip_blank(weir__reader *reader)
{
    const char *s = reader->at;
    for (size_t length = weir__blank_at(s); length != 0; length = weir__blank_at(s)) {
        s += length;
    }
    reader->at = s;
}

static void next_line(weir__reader *reader)
{
    reader->at++;
    reader->line++;
    reader->line_start = reader->at;
}

void weir__skip_lines(weir__reader *reader)
{
    for (;;) {
        const unsigned char c = (unsigned char)*reader->at;
        if (c == '\n') {
            next_line(reader);
        } else if (c == ' ' || c == '\t') {
            reader->at++;
        } else if ((c == '#' || c == '/') && !reader->json &&
                   weir__at_comment(reader, reader->at)) {
            const char *end = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
            reader->at = end != NULL ? end : reader->end;
        } else {
            const size_t length = weir__blank_at(reader->at);
            if (length == 0) {
                return;
            }
            reader->at += length;
        }
    }
}

/* --- after a mistake -------------------------------------------------------------------------- */

/* Behind a quoted text, as well as can be said of one that may be broken. */
static void skip_quoted(weir__reader *reader)
{
    if (strncmp(reader->at, "\"\"\"", 3) == 0) {
        const char *end = strstr(reader->at + 3, "\"\"\"");
        end = end != NULL ? end + 3 : reader->end;
        while (reader->at < end) {
            if (*reader->at == '\n') {
                next_line(reader);
            } else {
                reader->at++;
            }
        }
        return;
    }
    const char *s = reader->at + 1;
    while (s < reader->end && *s != '"' && *s != '\n') {
        s += *s == '\\' && s[1] != '\n' && s + 1 < reader->end ? 2 : 1;
    }
    reader->at = *s == '"' ? s + 1 : s;
}

void weir__read_recover(weir__reader *reader, bool whole)
{
    size_t open = 0;
    while (reader->at < reader->end && !reader->over) {
        const char c = *reader->at;
        if (c == '"') {
            skip_quoted(reader);
        } else if (c == '\n') {
            if (open == 0 && !whole) {
                return;
            }
            next_line(reader);
        } else if (!reader->json && weir__at_comment(reader, reader->at)) {
            const char *end = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
            reader->at = end != NULL ? end : reader->end;
        } else if (c == '{' || c == '[') {
            open++;
            reader->at++;
        } else if (c == '}' || c == ']') {
            if (open == 0) {
                return;
            }
            open--;
            reader->at++;
        } else if (c == ',' && open == 0 && !whole) {
            return;
        } else {
            reader->at++;
        }
    }
}

/* --- words ------------------------------------------------------------------------------------ */

bool weir__at_simple(const weir__reader *reader)
{
    const char c = *reader->at;
    const uint8_t class = weir__class[(unsigned char)c];
    if (c == '"' || c == '$') {
        return true;
    }
    if ((class & (WEIR__APART | WEIR__BLANK)) != 0 || reader->at >= reader->end || c == '\n') {
        return false;
    }
    if (class == WEIR__SLASH) {
        return reader->at[1] != '/';
    }
    return (class & WEIR__HIGH) == 0 || weir__blank_at(reader->at) == 0;
}

/* Where the unquoted text at `s` ends, if it may not be the end at once. */
static const char *word_end(const weir__reader *reader, const char *s)
{
    for (;; s++) {
        const uint8_t class = weir__class[(unsigned char)*s];
        if ((class & (WEIR__APART | WEIR__BLANK)) != 0) {
            return s;
        }
        if ((class & (WEIR__HIGH | WEIR__SLASH | WEIR__END)) == 0) {
            continue;
        }
        if (*s == '\n' || s >= reader->end || (*s == '/' && s[1] == '/') ||
            ((class & WEIR__HIGH) != 0 && weir__blank_at(s) != 0)) {
            return s;
        }
    }
}

static weir__token_kind scan_number(weir__reader *reader, weir__text *out)
{
    const char *s = reader->at, *plus = NULL;
    while ((weir__class[(unsigned char)*s] & WEIR__NUMERIC) != 0) {
        if (*s == '+') {
            if (s[1] == '=') {
                break;
            }
            plus = plus != NULL ? plus : s;
        }
        s++;
    }
    *out = (weir__text){ reader->at, (size_t)(s - reader->at) };
    if (weir__is_number(out->bytes, out->length, reader->json)) {
        reader->at = s;
        return WEIR__TOKEN_NUMBER;
    }
    if (plus != NULL) {
        reader->at = plus;
        weir__read_fail(reader, plus,
                        "'+' may not stand outside quotes; write \"%.*s\" if it is a string",
                        (int)(out->length < 40 ? out->length : 40), out->bytes);
        return WEIR__TOKEN_BAD;
    }
    reader->at = s;
    return WEIR__TOKEN_TEXT;
}

weir__token_kind weir__scan_word(weir__reader *reader, weir__text *out)
{
    const char *s = reader->at;
    if ((weir__class[(unsigned char)*s] & WEIR__FIRST) != 0) {
        return scan_number(reader, out);
    }
    weir__token_kind kind = WEIR__TOKEN_TEXT;
    const char *end = word_end(reader, s);
    /* These three are what they are whatever follows. */
    if (end - s >= 4 && (*s == 't' || *s == 'n' || *s == 'f')) {
        if (memcmp(s, "true", 4) == 0) {
            kind = WEIR__TOKEN_TRUE;
            end = s + 4;
        } else if (memcmp(s, "null", 4) == 0) {
            kind = WEIR__TOKEN_NULL;
            end = s + 4;
        } else if (end - s >= 5 && memcmp(s, "false", 5) == 0) {
            kind = WEIR__TOKEN_FALSE;
            end = s + 5;
        }
    }
    if (end == s) {
        return WEIR__TOKEN_NONE;
    }
    *out = (weir__text){ s, (size_t)(end - s) };
    reader->at = end;
    return kind;
}
