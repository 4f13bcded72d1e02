/*
 * admin/adviser.c - see adviser.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "admin/adviser.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "advice/advice.h"
#include "weir/metrics.h"

#define AGAIN_AFTER (1 * WEIR_S)
#define NOTHING "{\"findings\":[]}"

static json_t *look(weir_engine *engine)
{
    size_t size = 0;
    char *text = weir_metrics_json(engine, NULL, &size);
    json_t *document = text != NULL ? json_loadb(text, size, 0, NULL) : NULL;
    weir_metrics_free(engine, text);
    return document;
}

static char *findings_of(const json_t *before, const json_t *after)
{
    weir__findings *findings = calloc(1, sizeof(*findings)); /* large */
    if (findings == NULL) {
        return NULL;
    }
    weir__advice_make(before, after, findings);
    json_t *document = weir__advice_json(findings);
    char *text = document != NULL ? json_dumps(document, JSON_COMPACT) : NULL;
    json_decref(document);
    free(findings);
    return text;
}

char *weir__adviser_ask(weir__adviser *a)
{
    if (a == NULL) {
        return strdup(NOTHING);
    }
    const weir_ns now = weir__clock_now();
    if (a->text == NULL || now - a->looked >= AGAIN_AFTER) {
        json_t *after = look(a->engine);
        char *text = after != NULL ? findings_of(a->before, after) : NULL;
        if (text == NULL) {
            json_decref(after);
            return NULL;
        }
        json_decref(a->before);
        free(a->text);
        a->before = after;
        a->text = text;
        a->looked = now;
    }
    return strdup(a->text);
}

void weir__adviser_close(weir__adviser *a)
{
    json_decref(a->before);
    free(a->text);
    a->before = NULL;
    a->text = NULL;
}
