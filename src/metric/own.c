/*
 * metric/own.c - figures of the application's own, read when somebody asks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "metric/metric.h"
#include "metric/shown.h"
#include "metric/table.h"
#include "sync/thread.h"
#include "sync/word.h"

#define PATH "weir_metric_add"
#define NAME_MAX_BYTES 200u
#define LABELS_MAX_BYTES 1024u
#define HELP_MAX_BYTES 256u

/* ---- the table ---- */

static void free_figure(weir_engine *engine, weir__own_figure *figure)
{
    weir__release_text(&engine->allocator, (char *)(uintptr_t)figure->options.name);
    weir__release_text(&engine->allocator, (char *)(uintptr_t)figure->options.labels);
    weir__release_text(&engine->allocator, (char *)(uintptr_t)figure->options.help);
    weir__release(&engine->allocator, figure, sizeof(*figure));
}

static void close_metrics(weir_engine *engine)
{
    weir__metrics *metrics = weir__load(&engine->metrics, relaxed);
    for (uint32_t i = 0; i < metrics->own_count; i++) {
        free_figure(engine, metrics->own[i]);
    }
    weir__health_close(engine, &metrics->health);
    weir__shown_close(engine, metrics->shown);
    weir__release(&engine->allocator, metrics, sizeof(*metrics));
}

weir__metrics *weir__metrics_of(weir_engine *engine)
{
    weir__metrics *metrics = weir__load(&engine->metrics, acquire); /* [MT1] pairs with [MT2] */
    if (metrics == NULL) {
        weir__mutex_lock(&engine->registry.lock);
        metrics = weir__load(&engine->metrics, relaxed);
        if (metrics == NULL) {
            metrics = weir__allocate(&engine->allocator, sizeof(*metrics));
            if (metrics != NULL) {
                engine->metrics_close = close_metrics;
                /* [MT2] pairs with [MT1]: it is zeroed. */
                weir__store(&engine->metrics, metrics, release);
            }
        }
        weir__mutex_unlock(&engine->registry.lock);
    }
    return metrics;
}

static int compare(const weir__own_figure *figure, const char *name, const char *labels)
{
    const int order = strcmp(figure->options.name, name);
    return order != 0 ? order : strcmp(figure->options.labels, labels);
}

/* Lock held. Where it is, or would be. */
static uint32_t place_of(const weir__metrics *metrics, const char *name, const char *labels)
{
    uint32_t low = 0;
    uint32_t high = metrics->own_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (compare(metrics->own[middle], name, labels) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- what Prometheus would take ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t word_length(const char *text)
{
    size_t length = 0;
    while (is_letter(text[length]) || (length > 0 && text[length] >= '0' && text[length] <= '9')) {
        length++;
    }
    return length;
}

static bool name_is_sane(const char *name)
{
    const size_t length = name != NULL ? word_length(name) : 0;
    return length > 0 && length <= NAME_MAX_BYTES && name[length] == '\0';
}

/* The text behind the value that begins at its quote; NULL: it is none. */
static const char *behind_value(const char *at)
{
    if (*at++ != '"') {
        return NULL;
    }
    while (*at != '"') {
        const size_t length = weir__utf8_check((const unsigned char *)at, strlen(at));
        if (length == 0 || (unsigned char)*at < 0x20) { /* its end, too */
            return NULL;
        }
        if (*at == '\\') {
            if (at[1] != '\\' && at[1] != '"' && at[1] != 'n') {
                return NULL;
            }
            at++;
        }
        at += length;
    }
    return at + 1;
}

/* key="value", with commas between them, none twice; what begins with two underscores is
 * Prometheus's own. */
static bool labels_are_sane(const char *labels)
{
    const char *at = labels;
    if (strlen(labels) > LABELS_MAX_BYTES) {
        return false;
    }
    while (*at != '\0') {
        const char *key = at;
        const size_t length = word_length(at);
        if (length == 0 || strncmp(at, "__", 2) == 0 || at[length] != '=') {
            return false;
        }
        for (const char *before = labels; before < key;) {
            if (strncmp(before, key, length + 1) == 0) {
                return false;
            }
            before = behind_value(before + word_length(before) + 1) + 1;
        }
        at = behind_value(at + length + 1);
        if (at == NULL || (*at != '\0' && (*at != ',' || at[1] == '\0'))) {
            return false;
        }
        at += *at == ',' ? 1 : 0;
    }
    return true;
}

/* weir's own names, and those that a summary makes of them. */
static bool name_is_weirs(const char *name)
{
    return strncmp(name, "weir_", 5) == 0;
}

static bool help_is_sane(const char *help)
{
    return help != NULL && help[0] != '\0' && strlen(help) <= HELP_MAX_BYTES &&
           strchr(help, '\n') == NULL;
}

static weir_status check(const weir_metric_options *o, weir_error *error)
{
    if (!name_is_sane(o->name)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_metric_options.name",
                              "must be letters, digits and '_', not beginning with a digit, at "
                              "most %u bytes",
                              NAME_MAX_BYTES);
    }
    if (name_is_weirs(o->name)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_metric_options.name",
                              "'%s' is one of weir's: names of your own do not begin with 'weir_'",
                              o->name);
    }
    if (!labels_are_sane(o->labels)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_metric_options.labels",
                              "of '%s' must be like reason=\"price\",side=\"buy\": each key once, "
                              "values escaped, at most %u bytes",
                              o->name, LABELS_MAX_BYTES);
    }
    if (o->kind != WEIR_METRIC_COUNTER && o->kind != WEIR_METRIC_GAUGE) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_metric_options.kind",
                              "of '%s' must be a counter or a gauge", o->name);
    }
    if (!help_is_sane(o->help)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_metric_options.help",
                              "'%s' needs one line of help, at most %u bytes", o->name,
                              HELP_MAX_BYTES);
    }
    if (o->read == NULL) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_metric_options.read",
                              "'%s' needs a function that reads it", o->name);
    }
    return WEIR_OK;
}

/* ---- add ---- */

static weir__own_figure *copy(weir_engine *engine, const weir_metric_options *o)
{
    const weir_allocator *allocator = &engine->allocator;
    weir__own_figure *figure = weir__allocate(allocator, sizeof(*figure));
    if (figure == NULL) {
        return NULL;
    }
    char *name = NULL;
    char *labels = NULL;
    char *help = NULL;
    const bool copied = weir__copy_text(allocator, o->name, &name) &&
                        weir__copy_text(allocator, o->labels, &labels) &&
                        weir__copy_text(allocator, o->help, &help);
    figure->options = *o;
    figure->options.name = name;
    figure->options.labels = labels;
    figure->options.help = help;
    if (!copied) {
        free_figure(engine, figure);
        return NULL;
    }
    return figure;
}

/* Lock held. Those of one name are of one kind: Prometheus knows one type of it. */
static weir_status try_to_put_in(weir__metrics *metrics, weir__own_figure *figure)
{
    const weir_metric_options *o = &figure->options;
    const uint32_t place = place_of(metrics, o->name, o->labels);
    if (place < metrics->own_count && compare(metrics->own[place], o->name, o->labels) == 0) {
        return WEIR_E_TAKEN;
    }
    for (uint32_t i = 0; i < 2; i++) { /* whoever has the name stands on one side of it */
        const uint32_t beside = place - i;
        if (beside < metrics->own_count &&
            strcmp(metrics->own[beside]->options.name, o->name) == 0 &&
            metrics->own[beside]->options.kind != o->kind) {
            return WEIR_E_INVALID;
        }
    }
    if (metrics->own_count == WEIR__OWN_MAX) {
        return WEIR_E_LIMIT;
    }
    for (uint32_t i = metrics->own_count; i > place; i--) {
        metrics->own[i] = metrics->own[i - 1];
    }
    metrics->own[place] = figure;
    metrics->own_count++;
    return WEIR_OK;
}

static weir_status explain(weir_error *error, weir_status status, const weir_metric_options *o)
{
    switch (status) {
    case WEIR_E_TAKEN:
        return weir__error_at(error, status, PATH, "there is a figure %s{%s} already", o->name,
                              o->labels);
    case WEIR_E_LIMIT:
        return weir__error_at(error, status, PATH, "there are %u figures, and no more fit",
                              WEIR__OWN_MAX);
    default:
        return weir__error_at(error, status, "weir_metric_options.kind",
                              "'%s' with other labels is of the other kind", o->name);
    }
}

weir_status weir_metric_add(weir_engine *engine, const weir_metric_options *options,
                            weir_error *error)
{
    weir_metric_options o = { .struct_size = 0 };
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine) || options == NULL) {
        return weir__error_at(error, WEIR_E_INVALID, PATH, "needs an engine and options");
    }
    weir_status status = weir__options_read(&o, sizeof(o), options);
    if (status != WEIR_OK) {
        return weir__error_at(error, status, PATH, "the options are not of this version");
    }
    o.labels = o.labels != NULL ? o.labels : "";
    status = check(&o, error);
    if (status != WEIR_OK) {
        return status;
    }
    weir__metrics *metrics = weir__metrics_of(engine);
    weir__own_figure *figure = metrics != NULL ? copy(engine, &o) : NULL;
    if (figure == NULL) {
        return weir__error_memory(error, PATH);
    }
    weir__mutex_lock(&metrics->lock);
    status = try_to_put_in(metrics, figure);
    weir__mutex_unlock(&metrics->lock);
    if (status != WEIR_OK) {
        free_figure(engine, figure);
        return explain(error, status, &o);
    }
    return WEIR_OK;
}

/* ---- remove ---- */

/* Lock held. A read on this very thread would wait for itself; or for another one that removes what
 * is read here. */
static bool reads_here(const weir__metrics *metrics)
{
    const int32_t here = weir__os_thread_id();
    for (const weir__own_reading *r = metrics->reading; r != NULL; r = r->next) {
        if (r->thread == here) {
            return true;
        }
    }
    return false;
}

weir_status weir_metric_remove(weir_engine *engine, const char *name, const char *labels)
{
    if (!weir__engine_usable(engine) || name == NULL) {
        return WEIR_E_INVALID;
    }
    weir__metrics *metrics = weir__load(&engine->metrics, acquire); /* [MT1] */
    if (metrics == NULL) {
        return WEIR_UNKNOWN;
    }
    labels = labels != NULL ? labels : "";
    weir__mutex_lock(&metrics->lock);
    const uint32_t place = place_of(metrics, name, labels);
    weir__own_figure *figure = place < metrics->own_count ? metrics->own[place] : NULL;
    weir_status status = WEIR_OK;
    if (figure == NULL || compare(figure, name, labels) != 0) {
        status = WEIR_UNKNOWN;
    } else if (reads_here(metrics)) {
        status = WEIR_E_BLOCKING;
    } else { /* nobody begins to read it any more */
        metrics->own_count--;
        for (uint32_t i = place; i < metrics->own_count; i++) {
            metrics->own[i] = metrics->own[i + 1];
        }
    }
    weir__mutex_unlock(&metrics->lock);
    if (status != WEIR_OK) {
        return status;
    }
    for (;;) { /* ends with the reads that are under way: they are brief, so hooks may wait, too */
        const uint32_t seen = weir__load(&metrics->uses_ended, seq_cst);
        if (weir__load(&figure->uses, acquire) == 0) { /* [MT4] pairs with [MT3] */
            break;
        }
        weir__word_wait(&metrics->uses_ended, seen, WEIR_FOREVER);
    }
    free_figure(engine, figure);
    return WEIR_OK;
}

/* ---- read ---- */

/* The next one behind that name and labels (NULL: the first), held; NULL: none. */
static weir__own_figure *take_next(weir__metrics *metrics, const char *name, const char *labels,
                                   weir__own_reading *reading)
{
    weir__own_figure *figure = NULL;
    weir__mutex_lock(&metrics->lock);
    uint32_t place = name != NULL ? place_of(metrics, name, labels) : 0;
    if (name != NULL && place < metrics->own_count &&
        compare(metrics->own[place], name, labels) == 0) {
        place++;
    }
    if (place < metrics->own_count) {
        figure = metrics->own[place];
        weir__add(&figure->uses, 1, relaxed);
        *reading = (weir__own_reading){ metrics->reading, weir__os_thread_id() };
        metrics->reading = reading;
    }
    weir__mutex_unlock(&metrics->lock);
    return figure;
}

static void put_back(weir__metrics *metrics, weir__own_figure *figure, weir__own_reading *reading)
{
    weir__mutex_lock(&metrics->lock);
    weir__own_reading **at = &metrics->reading;
    while (*at != reading) { /* it is there */
        at = &(*at)->next;
    }
    *at = reading->next;
    weir__mutex_unlock(&metrics->lock);
    /* [MT3] pairs with [MT4]: the read comes before its removal returns. From here on the figure
     * may be gone. */
    weir__sub(&figure->uses, 1, release);
    weir__add(&metrics->uses_ended, 1, seq_cst);
    weir__word_wake(&metrics->uses_ended, INT32_MAX);
}

void weir__figures_own(weir__figures *f)
{
    weir__metrics *metrics = weir__load(&f->engine->metrics, acquire); /* [MT1] */
    const char *name = NULL;
    const char *labels = NULL;
    while (metrics != NULL && !f->failed) { /* ends: names only grow */
        weir__own_reading reading;
        weir__own_figure *figure = take_next(metrics, name, labels, &reading);
        if (figure == NULL) {
            return;
        }
        weir__own_item *item = weir__list_add(f, &f->own, sizeof(*item));
        if (item != NULL) {
            item->kind = figure->options.kind;
            item->name = name = weir__figures_text(f, figure->options.name);
            item->labels = labels = weir__figures_text(f, figure->options.labels);
            item->help = weir__figures_text(f, figure->options.help);
            item->value = figure->options.read(figure->options.context);
        }
        put_back(metrics, figure, &reading);
    }
}
