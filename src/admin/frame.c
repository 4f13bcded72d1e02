/*
 * admin/frame.c - see frame.h. The JSON is jansson's to read and write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "admin/frame.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(char *why, size_t size, const char *text)
{
    (void)snprintf(why, size, "%s", text);
    return false;
}

static void make_harmless(char *text)
{
    for (; *text != '\0'; text++) {
        if (*text < ' ' || *text > '~') {
            *text = '?';
        }
    }
}

static bool take_words(const json_t *words, weir__frame *out, char *why, size_t why_size)
{
    const size_t count = json_array_size(words);
    if (!json_is_array(words) || count == 0 || count > WEIR__FRAME_WORDS_MAX) {
        return refuse(why, why_size, "\"words\" must be a list of 1 to 64 strings");
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *word = json_array_get(words, i);
        if (!json_is_string(word)) {
            return refuse(why, why_size, "\"words\" must be a list of 1 to 64 strings");
        }
        out->words[i] = json_string_value(word);
    }
    out->count = count;
    return true;
}

bool weir__frame_read(const char *bytes, size_t size, weir__frame *out, char *why, size_t why_size)
{
    json_error_t error;
    *out = (weir__frame){ .count = 0 };
    if (size > WEIR__FRAME_MAX) {
        return refuse(why, why_size, "the request is too long");
    }
    /* Strings with a zero byte in them, duplicate keys and anything behind the object are
     * errors. */
    json_t *document = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (document == NULL) {
        (void)snprintf(why, why_size, "no JSON: %.120s at byte %d", error.text, error.position);
        make_harmless(why); /* a piece of what was sent is in it */
        return false;
    }
    if (!json_is_object(document) || json_object_size(document) != 1 ||
        !take_words(json_object_get(document, "words"), out, why, why_size)) {
        if (!json_is_object(document) || json_object_size(document) != 1) {
            (void)refuse(why, why_size, "a request is {\"words\": [\"...\"]}, and nothing besides");
        }
        json_decref(document);
        return false;
    }
    out->document = document;
    return true;
}

void weir__frame_close(weir__frame *frame)
{
    json_decref(frame->document);
    frame->document = NULL;
}

void weir__frame_error(weir_status status, const char *error, char *out, size_t size)
{
    json_t *answer = json_pack("{s:s, s:s, s:[], s:s}", "command", "", "status",
                               weir_status_name(status), "rows", "error", error);
    char *text = answer != NULL ? json_dumps(answer, JSON_PRESERVE_ORDER) : NULL;
    (void)snprintf(out, size, "%s",
                   text != NULL && strlen(text) < size
                       ? text
                       : "{\"command\": \"\", \"status\": \"WEIR_E_NOMEM\", \"rows\": [], "
                         "\"error\": \"out of memory\"}");
    free(text);
    json_decref(answer);
}
