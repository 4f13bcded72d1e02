/*
 * advice_support.h - looks at a server, made of text, and what is found in them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADVICE_SUPPORT_H
#define WEIR_ADVICE_SUPPORT_H

#include <string.h>

#include "advice/advice.h"
#include "test_support.h"

static weir__findings advice_found;

/* Quotes are written as ' here. NULL stays NULL. */
static inline json_t *advice_parse(const char *text)
{
    if (text == NULL) {
        return NULL;
    }
    char *copy = strdup(text);
    for (char *c = copy; *c != '\0'; c++) {
        *c = (char)(*c == '\'' ? '"' : *c);
    }
    json_error_t error;
    json_t *document = json_loads(copy, 0, &error);
    if (document == NULL) {
        fprintf(stderr, "# %s: %s\n", error.text, copy);
    }
    assert_non_null(document);
    free(copy);
    return document;
}

static inline void advice_look(const char *before, const char *after)
{
    json_t *then = advice_parse(before), *now = advice_parse(after);
    weir__advice_make(then, now, &advice_found);
    json_decref(then);
    json_decref(now);
}

/* A second apart, on two cores, with this of everything else. */
static inline void advice_look_rest(const char *before, const char *after)
{
    char then[8192], now[8192];
    snprintf(then, sizeof(then),
             "{'engine': {'name': 'e', 'uptime_ns': 5e9}, "
             "'process': {'cores_usable': 2} %s %s}",
             before[0] != '\0' ? "," : "", before);
    snprintf(now, sizeof(now),
             "{'engine': {'name': 'e', 'uptime_ns': 6e9}, "
             "'process': {'cores_usable': 2} %s %s}",
             after[0] != '\0' ? "," : "", after);
    advice_look(then, now);
}

static inline const weir__finding *advice_of(weir__rule_id id)
{
    for (size_t i = 0; i < advice_found.count; i++) {
        if (advice_found.items[i].id == id) {
            return &advice_found.items[i];
        }
    }
    return NULL;
}

/* `severity` NONE: it is not found. */
static inline void advice_expect(weir__rule_id id, weir__severity severity)
{
    const weir__finding *f = advice_of(id);
    const weir__severity got = f != NULL ? f->severity : WEIR__SEVERITY_NONE;
    if (got != severity) {
        fprintf(stderr, "# %s: %s, not %s (%s)\n", weir__rules[id].name, weir__severity_name(got),
                weir__severity_name(severity), f != NULL ? f->text : "");
    }
    assert_int_equal(severity, got);
    if (f != NULL) {
        assert_string_not_equal("", f->what);
        assert_string_not_equal("", f->text);
        assert_string_not_equal("", f->remedy);
        assert_null(strstr(f->text, "nan"));
        assert_null(strstr(f->remedy, "nan"));
    }
}

#endif /* WEIR_ADVICE_SUPPORT_H */
