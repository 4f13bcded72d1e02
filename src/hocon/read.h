/*
 * hocon/read.h - the state of reading one text, and what its parts have of each other.
 *
 * One pass, no tokens in between: `at` moves on through a checked text that ends with a zero byte.
 * A function that finds a mistake puts it into the problems and answers false or NULL; the nearest
 * loop over fields or items skips what it cannot understand and goes on (weir__read_recover).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_HOCON_READ_H
#define WEIR_HOCON_READ_H

#include "hocon/document.h"
#include "hocon/text.h"

typedef enum weir__syntax {
    WEIR__HOCON,
    WEIR__JSON,
    WEIR__PROPERTIES,
    WEIR__UNNAMED, /* its name does not say; HOCON, if it is read */
} weir__syntax;

typedef struct weir__reader {
    weir__hocon *document;
    const char *at, *start, *end;
    const char *line_start;
    const char *column_at; /* up to where `column` has counted in this line */
    const char *source;    /* as named in messages; of the tree */
    size_t folder_length;  /* of the part of `source` that includes are relative to */
    uint32_t line, column;
    uint32_t depth;         /* of what is open around `at`, from the root of the document */
    uint32_t lists;         /* how many of those are lists */
    uint32_t include_depth; /* 0: a layer itself */
    uint32_t prefix;        /* names of the path that belong to the including files */
    size_t errors;          /* of syntax, in this text */
    size_t names;           /* of the key of the last field, still behind the path */
    const char *value;      /* where its value begins */
    bool ascii, json;
    bool over;           /* of no use to go on: memory, depth, or the end of the text */
    weir__problems late; /* findings that only count if the syntax is right */
} weir__reader;

/* --- read.c ----------------------------------------------------------------------------------- */

/* Reads a text into an object. `reader` has its text, source, folder and depths. */
bool weir__read_text_into(weir__reader *reader, weir__node *object);
weir__node *weir__read_value(weir__reader *reader);
/* The fields up to the closing brace, or to the end (`braced` false). */
bool weir__read_fields(weir__reader *reader, weir__node *object, weir__origin opened, bool braced);
/* A comma, or the end of a line. */
bool weir__read_separator(weir__reader *reader);

/* --- scan.c ----------------------------------------------------------------------------------- */

weir__origin weir__read_origin(weir__reader *reader, const char *at);
__attribute__((format(printf, 3, 4))) void weir__read_fail(weir__reader *reader, const char *at,
                                                           const char *format, ...);
/* The path of the key that is being read, for messages; in the document's scratch. */
const char *weir__read_path(weir__reader *reader);
/* Skips to where a field or an item may begin, or (`whole`) to the bracket that closes the object
 * or list around. */
void weir__read_recover(weir__reader *reader, bool whole);
/* White space up to the end of the line; across lines, with comments. */
void weir__skip_blank(weir__reader *reader);
void weir__skip_lines(weir__reader *reader);
/* What stands at `at`, for a message: a character, a word, the end. */
typedef struct weir__shown {
    char text[48];
} weir__shown;
weir__shown weir__read_shown(const weir__reader *reader, const char *at);

typedef enum weir__token_kind {
    WEIR__TOKEN_NONE, /* not a simple value */
    WEIR__TOKEN_BAD,  /* a mistake, reported */
    WEIR__TOKEN_TEXT,
    WEIR__TOKEN_NUMBER,
    WEIR__TOKEN_TRUE,
    WEIR__TOKEN_FALSE,
    WEIR__TOKEN_NULL,
} weir__token_kind;

/* One unquoted piece at `at`, which moves behind it. */
weir__token_kind weir__scan_word(weir__reader *reader, weir__text *out);
/* A quoted text at `at` (one or three quotes). The bytes lie in the text itself or in the tree. */
bool weir__scan_quoted(weir__reader *reader, weir__text *out);
/* A \u escape at `s` (the backslash), two of them if they are halves. Returns the bytes read, 0: a
 * mistake, reported. */
size_t weir__scan_unicode(weir__reader *reader, const char *s, uint32_t *out);
/* Does a simple value begin at `at`: a quoted or unquoted text, a substitution? */
bool weir__at_simple(const weir__reader *reader);
bool weir__at_comment(const weir__reader *reader, const char *at);

/* --- path.c ----------------------------------------------------------------------------------- */

/* A path expression at `at`; its names are put behind those of the document's path. Answers how
 * many; 0: a mistake, reported. */
size_t weir__scan_path(weir__reader *reader);
/* ${...} at `at`. NULL: a mistake. */
weir__node *weir__scan_reference(weir__reader *reader);
/* ${?path} of the key that is being read. */
weir__node *weir__self_reference(weir__reader *reader, weir__origin origin);
/* A name as a path expression writes it. Returns the length as snprintf does. */
size_t weir__path_format(const weir__text *path, size_t count, char *buffer, size_t size);

/* --- include.c, file.c, properties.c ---------------------------------------------------------- */

/* Behind the word `include`. */
bool weir__read_include(weir__reader *reader, weir__node *object, const char *word);
/* Behind its `.properties`: string values only. */
bool weir__read_properties(weir__reader *reader, weir__node *object);

typedef enum weir__found { WEIR__FOUND, WEIR__MISSING, WEIR__UNREADABLE } weir__found;

typedef struct weir__file {
    char *text; /* a zero byte follows */
    size_t size, capacity;
} weir__file;

/* If it is not FOUND, *why says why. */
weir__found weir__file_read(const weir__hocon *document, const char *path, bool included,
                            weir__file *out, weir__shown *why);
void weir__file_release(const weir__hocon *document, weir__file *file);
weir__syntax weir__file_syntax(const char *path);
/* Reads a file's text over an object: as an include of `from`, or as a layer (NULL). */
bool weir__file_into(weir__hocon *document, const weir__reader *from, const weir__file *file,
                     const char *path, weir__node *object);

#endif /* WEIR_HOCON_READ_H */
