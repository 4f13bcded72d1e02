/*
 * host/admin_names.c - names of commands, patterns of arguments, and what was probably meant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "host/admin.h"

#define SUGGESTIONS_MAX 4u
#define BEGINNING 4u  /* farther than any slip */
#define SHOWN_MAX 64u /* bytes of what somebody has typed */

static bool is_of_a_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

bool weir__admin_name_is_sane(const char *name)
{
    bool in_word = false;
    size_t length = 0;
    for (; name != NULL && name[length] != '\0' && length <= WEIR__ADMIN_NAME_MAX; length++) {
        const bool letter = is_of_a_name(name[length]);
        if (!letter && (name[length] != ' ' || !in_word)) {
            return false;
        }
        in_word = letter;
    }
    return in_word && length <= WEIR__ADMIN_NAME_MAX;
}

/* ---- patterns ---- */

/* The next word of a pattern, without brackets; false: there is none. */
typedef struct reader {
    const char *at;
    bool bracket; /* inside of one */
    bool wrong;
    const char *word;
    size_t length;
    bool optional, many;
} reader;

static bool next_word(reader *r)
{
    while (*r->at == ' ') {
        r->at++;
    }
    r->optional = r->bracket;
    r->many = false;
    if (*r->at == '[') {
        r->wrong = r->wrong || r->bracket;
        r->optional = r->bracket = true;
        r->at++;
    }
    r->word = r->at;
    while (*r->at != '\0' && *r->at != ' ' && *r->at != '[' && *r->at != ']') {
        r->at++;
    }
    r->length = (size_t)(r->at - r->word);
    if (r->length >= 3 && memcmp(r->at - 3, "...", 3) == 0) {
        r->many = true;
        r->optional = r->optional || r->length == 3;
    }
    while (*r->at == ' ') {
        r->at++;
    }
    if (*r->at == ']') {
        r->wrong = r->wrong || !r->bracket;
        r->bracket = false;
        r->at++;
    }
    return r->length > 0;
}

bool weir__admin_pattern_read(const char *pattern, uint32_t *least, uint32_t *most)
{
    reader r = { .at = pattern != NULL ? pattern : "" };
    uint32_t required = 0;
    uint32_t count = 0;
    bool many = false;
    bool optional = false;
    while (next_word(&r)) {
        r.wrong = r.wrong || (optional && !r.optional) || many;
        optional = optional || r.optional;
        many = many || r.many;
        required += r.optional ? 0 : 1;
        count++;
    }
    *least = required;
    *most = many ? WEIR__ADMIN_WORDS_MAX : count;
    return !r.wrong && !r.bracket && *r.at == '\0' && count <= WEIR__ADMIN_WORDS_MAX;
}

static bool is_one_of(const char *choice, size_t length, const char *word)
{
    const size_t size = strlen(word);
    size_t from = 0;
    for (size_t i = 0; i <= length; i++) {
        if (i == length || choice[i] == '|') {
            if (i - from == size && memcmp(choice + from, word, size) == 0) {
                return true;
            }
            from = i + 1;
        }
    }
    return false;
}

bool weir__admin_choice_fits(const char *pattern, size_t i, const char *word, char *choice,
                             size_t size)
{
    reader r = { .at = pattern != NULL ? pattern : "" };
    for (size_t at = 0; next_word(&r); at++) {
        if (at == i) {
            const bool fits =
                memchr(r.word, '|', r.length) == NULL || is_one_of(r.word, r.length, word);
            snprintf(choice, size, "%.*s", (int)r.length, r.word);
            return fits;
        }
    }
    return true;
}

/* ---- words ---- */

size_t weir__admin_name_match(const char *name, const char *const *words, size_t count)
{
    size_t used = 0;
    while (used < count) {
        const size_t length = strlen(words[used]);
        if (length == 0 || strncmp(name, words[used], length) != 0) {
            return 0;
        }
        used++;
        name += length;
        if (*name != ' ') {
            return *name == '\0' ? used : 0;
        }
        name++;
    }
    return 0;
}

static size_t words_of(const char *name)
{
    size_t count = 1;
    for (; *name != '\0'; name++) {
        count += *name == ' ' ? 1 : 0;
    }
    return count;
}

/* The first `count` words with blanks between them; what nobody would call a command is cut. */
static void join(const char *const *words, size_t count, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        const int length = snprintf(out + used, size - used, "%s%.*s", i == 0 ? "" : " ",
                                    (int)SHOWN_MAX, words[i]);
        used += length > 0 ? (size_t)length : 0;
    }
}

/* How far they are from a name; BEGINNING: they are only its beginning. */
static size_t distance_to(const char *name, const char *const *words, size_t count)
{
    char said[WEIR__ADMIN_NAME_MAX + 1];
    const size_t wanted = words_of(name);
    const size_t first = strlen(words[0]);
    join(words, count < wanted ? count : wanted, said, sizeof(said));
    const size_t distance = weir__distance(said, name);
    if (weir__distance_is_near(distance, said, name)) {
        return distance;
    }
    return first > 0 && strncmp(name, words[0], first) == 0 && name[first] == ' ' ? BEGINNING
                                                                                  : SIZE_MAX;
}

void weir__admin_explain_unknown(weir_engine *engine, weir__admin *admin, const char *const *words,
                                 size_t count, char *out, size_t size)
{
    char said[WEIR__ADMIN_NAME_MAX + 1];
    char near[SUGGESTIONS_MAX][WEIR__ADMIN_NAME_MAX + 1];
    size_t distances[SUGGESTIONS_MAX];
    size_t found = 0;
    join(words, count < 3 ? count : 3, said, sizeof(said));
    weir__admin_command *c = weir__admin_next(engine, admin, NULL);
    while (c != NULL) { /* ends: names only grow */
        const size_t distance = distance_to(c->options.name, words, count);
        size_t place = found;
        while (place > 0 && distances[place - 1] > distance) {
            place--;
        }
        if (distance != SIZE_MAX && place < SUGGESTIONS_MAX) {
            const size_t moved = (found < SUGGESTIONS_MAX ? found : SUGGESTIONS_MAX - 1) - place;
            memmove(&near[place + 1], &near[place], moved * sizeof(near[0]));
            memmove(&distances[place + 1], &distances[place], moved * sizeof(distances[0]));
            snprintf(near[place], sizeof(near[place]), "%s", c->options.name);
            distances[place] = distance;
            found += found < SUGGESTIONS_MAX ? 1 : 0;
        }
        weir__admin_command *next = weir__admin_next(engine, admin, c->options.name);
        weir__admin_put(admin, c);
        c = next;
    }
    while (found > 0 && distances[found - 1] == BEGINNING && distances[0] < BEGINNING) {
        found--;
    }
    int length = snprintf(out, size, "no command '%s'", said);
    for (size_t i = 0; i < found && length > 0 && (size_t)length < size; i++) {
        length += snprintf(out + length, size - (size_t)length, "%s'%s'",
                           i == 0          ? "; did you mean "
                           : i + 1 < found ? ", "
                                           : " or ",
                           near[i]);
    }
    if (length > 0 && (size_t)length < size) {
        snprintf(out + length, size - (size_t)length, "%s",
                 found > 0 ? "?" : "; 'commands' lists them all");
    }
}
