/*
 * hocon/include.c - include "name", file("name"), required(...).
 *
 * What is included is read straight into the object that the statement stands in, as if its fields
 * stood there; only its substitutions are looked for below the path of that object first, and at
 * the path as it is written after that. A name without one of the three endings stands for all
 * three files, of which .conf wins over .json and that over .properties.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "hocon/read.h"

enum { PATH_SIZE = 4096, INCLUDES_MAX = 10000, FILES_MAX = 16 };

typedef struct statement {
    const char *at; /* the word `include` */
    weir__origin origin;
    weir__text name;
    bool required;
    bool file; /* file("name"): relative to the working directory */
} statement;

/* --- what is written -------------------------------------------------------------------------- */

/* Does `word` and an opening parenthesis stand here? */
static bool take_word(weir__reader *reader, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(reader->at, word, length) != 0) {
        return false;
    }
    reader->at += length;
    return true;
}

static bool take_close(weir__reader *reader)
{
    weir__skip_lines(reader);
    if (*reader->at == ')') {
        reader->at++;
        return true;
    }
    const weir__shown shown = weir__read_shown(reader, reader->at);
    weir__read_fail(reader, reader->at, "')' is missing in the include before %s", shown.text);
    return false;
}

static bool refused(weir__reader *reader, const char *word)
{
    if (strncmp(reader->at, word, strlen(word)) != 0) {
        return false;
    }
    weir__read_fail(reader, reader->at,
                    "include %s...) is not supported: only files are read, as in include "
                    "\"other.conf\" or include file(\"/etc/other.conf\")",
                    word);
    return true;
}

static bool scan_resource(weir__reader *reader, statement *s)
{
    weir__skip_lines(reader);
    if (refused(reader, "url(") || refused(reader, "classpath(")) {
        return false;
    }
    s->file = take_word(reader, "file(");
    if (s->file) {
        weir__skip_lines(reader);
    }
    if (*reader->at != '"') {
        const weir__shown shown = weir__read_shown(reader, reader->at);
        weir__read_fail(reader, reader->at,
                        "include is followed by a name in quotes, file(\"name\") or "
                        "required(\"name\"), not by %s; to use it as a key, write \"include\"",
                        shown.text);
        return false;
    }
    return weir__scan_quoted(reader, &s->name) && (!s->file || take_close(reader));
}

static bool scan_statement(weir__reader *reader, statement *s)
{
    weir__skip_lines(reader);
    s->required = take_word(reader, "required(");
    return scan_resource(reader, s) && (!s->required || take_close(reader));
}

/* --- files ------------------------------------------------------------------------------------ */

static bool is_address(weir__text name)
{
    static const char *const schemes[] = { "http:", "https:", "ftp:", "jar:", "file:" };
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        const size_t length = strlen(schemes[i]);
        if (name.length > length && strncmp(name.bytes, schemes[i], length) == 0) {
            return true;
        }
    }
    return false;
}

/* The path of the included file. False: it has no such path, which is reported. */
static bool make_path(weir__reader *reader, const statement *s, char path[PATH_SIZE])
{
    if (is_address(s->name)) {
        weir__read_fail(reader, s->at,
                        "an include from an address is not supported: only files are read");
        return false;
    }
    const bool beside = !s->file && (s->name.length == 0 || s->name.bytes[0] != '/');
    const size_t folder = beside ? reader->folder_length : 0;
    if (memchr(s->name.bytes, '\0', s->name.length) != NULL ||
        folder + s->name.length + sizeof(".properties") > PATH_SIZE) {
        weir__read_fail(reader, s->at, "this is no name of a file");
        return false;
    }
    memcpy(path, reader->source, folder);
    memcpy(path + folder, s->name.bytes, s->name.length);
    path[folder + s->name.length] = '\0';
    return true;
}

static bool count_include(weir__reader *reader, const statement *s, const weir__file *file)
{
    weir__hocon *document = reader->document;
    document->text_total += file->size;
    if (++document->includes > INCLUDES_MAX ||
        document->text_total / FILES_MAX > document->options.file_size_max) {
        weir__problems_add(document->problems, WEIR__ERROR, s->origin, NULL,
                           "more than %d files, or %d times the size of the largest file that may "
                           "be read, are included",
                           INCLUDES_MAX, FILES_MAX);
        document->spent = true;
        reader->over = true;
    }
    return !document->spent;
}

/* In a list nothing has a path, so that the substitutions of what is included cannot be found. */
static bool read_in_list(weir__reader *reader, const statement *s, const weir__file *file,
                         const char *path, weir__node *object)
{
    weir__hocon *document = reader->document;
    weir__cell *own = weir__document_cell(document, WEIR__OBJECT, s->origin, sizeof(*own));
    if (own == NULL || !weir__file_into(document, reader, file, path, &own->node)) {
        return false;
    }
    if (own->open) {
        weir__problems_add(&reader->late, WEIR__ERROR, s->origin, weir__read_path(reader),
                           "%s holds substitutions and is included inside a list, where they have "
                           "no path to be looked for",
                           path);
    }
    return weir__merge_objects(document, object, &own->node);
}

/* One file. False: a mistake. */
static bool include_file(weir__reader *reader, const statement *s, const char *path,
                         weir__node *object, bool *found)
{
    weir__hocon *document = reader->document;
    weir__file file;
    weir__shown why;
    const weir__found how = weir__file_read(document, path, true, &file, &why);
    if (how == WEIR__MISSING) {
        return true;
    }
    *found = true;
    if (how == WEIR__UNREADABLE) {
        reader->errors++;
        weir__problems_add(document->problems, WEIR__ERROR, s->origin, weir__read_path(reader),
                           "cannot include %s: %s", path, why.text);
        return true;
    }
    if (count_include(reader, s, &file)) {
        const bool good = reader->lists > 0
                              ? read_in_list(reader, s, &file, path, object)
                              : weir__file_into(document, reader, &file, path, object);
        reader->errors += good ? 0 : 1;
    }
    weir__file_release(document, &file);
    return true;
}

static void include_all(weir__reader *reader, const statement *s, char path[PATH_SIZE],
                        weir__node *object)
{
    bool found = false;
    if (weir__file_syntax(path) != WEIR__UNNAMED) {
        (void)include_file(reader, s, path, object, &found);
    } else {
        static const char *const endings[] = { ".properties", ".json", ".conf" };
        const size_t length = strlen(path);
        for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]) && !reader->document->spent;
             i++) {
            snprintf(path + length, PATH_SIZE - length, "%s", endings[i]);
            (void)include_file(reader, s, path, object, &found);
        }
        path[length] = '\0';
    }
    if (!found && s->required) {
        reader->errors++;
        weir__problems_add(reader->document->problems, WEIR__ERROR, s->origin,
                           weir__read_path(reader), "the required include %s is not there", path);
    }
}

bool weir__read_include(weir__reader *reader, weir__node *object, const char *word)
{
    weir__hocon *document = reader->document;
    statement s = { .at = word, .origin = weir__read_origin(reader, word) };
    char path[PATH_SIZE];
    if (!scan_statement(reader, &s) || !make_path(reader, &s, path)) {
        return false;
    }
    if (reader->include_depth >= document->options.include_depth_max) {
        weir__problems_add(document->problems, WEIR__ERROR, s.origin, weir__read_path(reader),
                           "includes are nested more than %u deep: does %s include itself?",
                           document->options.include_depth_max, path);
        document->spent = true;
        reader->over = true;
        return false;
    }
    include_all(reader, &s, path, object);
    reader->over |= document->spent;
    return !document->spent;
}
