/*
 * metric/prometheus.c - the figures as Prometheus reads them, and one by one for whoever visits
 * them.
 *
 * A walk through the table calls an *emitter* with every series, those of one name in a row. The
 * text begins each name with its help and type; a visitor gets the pieces put together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "metric/table.h"

/* One series. */
typedef struct series {
    const char *family, *suffix; /* of its name: "weir_x_seconds" and "_sum" */
    const char *labels[3];       /* those that are not "" or NULL, with commas between them */
    const char *help;
    weir__metric_type type;
    weir__number value;
} series;

/* False: no more of them. */
typedef bool (*emitter)(void *context, const series *s);

typedef struct walk {
    const weir__figures *f;
    emitter emit;
    void *context;
} walk;

/* ---- the walk ---- */

static const void *item_at(const weir__list *list, uint32_t i)
{
    return (const char *)list->items + (size_t)i * list->size;
}

static const char *labels_of(const void *item)
{
    const char *labels;
    memcpy(&labels, item, sizeof(labels)); /* every item begins with them */
    return labels;
}

static bool walk_numbers(const walk *w, const weir__metric_row *row)
{
    const weir__list *list = &w->f->groups[row->group];
    for (uint32_t i = 0; i < list->count; i++) {
        const void *item = item_at(list, i);
        const series s = { .family = row->name,
                           .suffix = "",
                           .labels = { labels_of(item), row->label, NULL },
                           .help = row->help,
                           .type = (weir__metric_type)row->type,
                           .value = weir__metric_number(row, item) };
        if (!w->emit(w->context, &s)) {
            return false;
        }
    }
    return true;
}

/* NULL: it was not measured. */
static const weir_latency *latency_of(const weir__metric_row *row, const void *item)
{
    const weir_latency *latency =
        (const weir_latency *)(const void *)((const char *)item + row->offset);
    return latency->struct_size != 0 ? latency : NULL;
}

static weir__number ns_at(const void *latency, size_t offset)
{
    weir__number n = { .kind = WEIR__NUMBER_NS };
    memcpy(&n.bits, (const char *)latency + offset, sizeof(n.bits));
    return n;
}

static bool walk_quantiles(const walk *w, const weir__metric_row *row, series *s)
{
    const weir__list *list = &w->f->groups[row->group];
    for (uint32_t i = 0; i < list->count; i++) {
        const weir_latency *latency = latency_of(row, item_at(list, i));
        s->labels[0] = labels_of(item_at(list, i));
        for (uint32_t q = 0; latency != NULL && q < WEIR__QUANTILES; q++) {
            s->labels[1] = weir__quantiles[q].label;
            s->value = ns_at(latency, weir__quantiles[q].offset);
            if (latency->count == 0) { /* of nothing there is none */
                s->value = (weir__number){ .kind = WEIR__NUMBER_REAL, .real = (double)NAN };
            }
            if (!w->emit(w->context, s)) {
                return false;
            }
        }
    }
    return true;
}

static bool walk_totals(const walk *w, const weir__metric_row *row, series *s, bool sums)
{
    const weir__list *list = &w->f->groups[row->group];
    s->suffix = sums ? "_sum" : "_count";
    s->labels[1] = NULL;
    for (uint32_t i = 0; i < list->count; i++) {
        const weir_latency *latency = latency_of(row, item_at(list, i));
        if (latency == NULL) {
            continue;
        }
        s->labels[0] = labels_of(item_at(list, i));
        s->value =
            ns_at(latency, sums ? offsetof(weir_latency, sum) : offsetof(weir_latency, count));
        s->value.kind = sums ? WEIR__NUMBER_NS : WEIR__NUMBER_UNSIGNED;
        if (!w->emit(w->context, s)) {
            return false;
        }
    }
    return true;
}

static bool walk_summary(const walk *w, const weir__metric_row *row)
{
    series s = { .family = row->name, .suffix = "", .help = row->help, .type = WEIR__TYPE_SUMMARY };
    return walk_quantiles(w, row, &s) && walk_totals(w, row, &s, true) &&
           walk_totals(w, row, &s, false);
}

static bool walk_own(const walk *w)
{
    const weir__own_item *items = w->f->own.items;
    const char *help = "";
    for (uint32_t i = 0; i < w->f->own.count; i++) {
        if (i == 0 || strcmp(items[i].name, items[i - 1].name) != 0) {
            help = items[i].help;
        }
        const series s = { .family = items[i].name,
                           .suffix = "",
                           .labels = { items[i].labels, NULL, NULL },
                           .help = help,
                           .type = items[i].kind == WEIR_METRIC_COUNTER ? WEIR__TYPE_COUNTER
                                                                        : WEIR__TYPE_GAUGE,
                           .value = { .kind = WEIR__NUMBER_REAL, .real = items[i].value } };
        if (!w->emit(w->context, &s)) {
            return false;
        }
    }
    return true;
}

/* Those of one name stand next to each other in the table. */
static bool walk_all(const walk *w)
{
    for (uint32_t i = 0; i < weir__metric_row_count; i++) {
        const weir__metric_row *row = &weir__metric_rows[i];
        if (row->name == NULL) {
            continue;
        }
        if (!(row->value == WEIR__VALUE_LATENCY ? walk_summary(w, row) : walk_numbers(w, row))) {
            return false;
        }
    }
    return walk_own(w);
}

/* ---- text ---- */

typedef struct writing {
    weir__textbuf out;
    const char *family; /* the last one whose head was written */
} writing;

static bool add(weir__textbuf *out, const char *text)
{
    return weir__textbuf_append(out, text, strlen(text));
}

static bool write_help(weir__textbuf *out, const char *help)
{
    bool ok = true;
    for (const char *at = help; *at != '\0' && ok;) {
        const size_t plain = strcspn(at, "\\\n");
        ok = weir__textbuf_append(out, at, plain);
        at += plain;
        if (*at != '\0') {
            ok = ok && add(out, *at == '\n' ? "\\n" : "\\\\");
            at++;
        }
    }
    return ok;
}

static bool write_head(weir__textbuf *out, const series *s)
{
    static const char *const types[] = { "untyped", "counter", "gauge", "summary" };
    return add(out, "# HELP ") && add(out, s->family) && add(out, " ") &&
           write_help(out, s->help) && add(out, "\n# TYPE ") && add(out, s->family) &&
           add(out, " ") && add(out, types[s->type]) && add(out, "\n");
}

static bool write_labels(weir__textbuf *out, const series *s, const char *before)
{
    bool ok = true;
    for (uint32_t i = 0; i < 3 && ok; i++) {
        if (s->labels[i] != NULL && s->labels[i][0] != '\0') {
            ok = add(out, before) && add(out, s->labels[i]);
            before = ",";
        }
    }
    return ok;
}

static bool has_labels(const series *s)
{
    for (uint32_t i = 0; i < 3; i++) {
        if (s->labels[i] != NULL && s->labels[i][0] != '\0') {
            return true;
        }
    }
    return false;
}

static bool write_series(void *context, const series *s)
{
    writing *w = context;
    weir__textbuf *out = &w->out;
    bool ok = true;
    if (w->family == NULL || strcmp(w->family, s->family) != 0) {
        w->family = s->family;
        ok = write_head(out, s);
    }
    ok = ok && add(out, s->family) && add(out, s->suffix);
    if (has_labels(s)) {
        ok = ok && write_labels(out, s, "{") && add(out, "}");
    }
    return ok && add(out, " ") && weir__number_prometheus(out, &s->value) && add(out, "\n");
}

static bool write_note(weir__textbuf *out, const weir__figures *f)
{
    char text[320];
    if (f->processors_total == f->processors_shown) {
        return true;
    }
    (void)snprintf(text, sizeof(text),
                   "# %" PRIu64 " of %" PRIu64 " processors have no series of their own: they are "
                   "summed up as \"" WEIR__METRICS_OTHERS "\". weir.metrics.processors-max is how "
                   "many have.\n",
                   f->processors_total - f->processors_shown, f->processors_total);
    return add(out, text);
}

/* The size of what weir_metrics_free frees is its length. NULL: no memory. */
static char *as_text(weir_engine *engine, weir__textbuf *out, bool ok, size_t *size)
{
    char *text = NULL;
    if (ok && weir__copy_text(&engine->allocator, out->bytes, &text) && size != NULL) {
        *size = out->length;
    }
    weir__textbuf_close(out);
    return text;
}

char *weir_metrics_prometheus(weir_engine *engine, const weir_metrics_options *options,
                              size_t *size)
{
    if (size != NULL) {
        *size = 0;
    }
    if (!weir__engine_usable(engine)) {
        return NULL;
    }
    weir__figures f;
    writing text = { .out = { .allocator = &engine->allocator } };
    const walk w = { &f, write_series, &text };
    const bool ok =
        weir__figures_take(&f, engine, options) && write_note(&text.out, &f) && walk_all(&w);
    weir__figures_close(&f);
    return as_text(engine, &text.out, ok, size);
}

void weir_metrics_free(weir_engine *engine, char *text)
{
    if (engine != NULL) {
        weir__release_text(&engine->allocator, text);
    }
}

/* ---- one by one ---- */

typedef struct visiting {
    bool (*visit)(void *context, const weir_metric *metric);
    void *context;
    weir__textbuf name, labels;
    bool failed;
} visiting;

static bool visit_series(void *context, const series *s)
{
    visiting *v = context;
    v->name.length = v->labels.length = 0;
    if (!add(&v->name, s->family) || !add(&v->name, s->suffix) || !add(&v->labels, "") ||
        !write_labels(&v->labels, s, "")) {
        v->failed = true;
        return false;
    }
    const bool grows =
        s->type == WEIR__TYPE_COUNTER || (s->type == WEIR__TYPE_SUMMARY && s->suffix[0] != '\0');
    const weir_metric metric = { .struct_size = sizeof(metric),
                                 .kind = grows ? WEIR_METRIC_COUNTER : WEIR_METRIC_GAUGE,
                                 .name = v->name.bytes,
                                 .labels = v->labels.bytes,
                                 .help = s->help,
                                 .value = weir__number_value(&s->value) };
    return v->visit(v->context, &metric);
}

weir_status weir_metric_visit(weir_engine *engine, const weir_metrics_options *options,
                              bool (*visit)(void *context, const weir_metric *metric),
                              void *context)
{
    if (!weir__engine_usable(engine) || visit == NULL) {
        return WEIR_E_INVALID;
    }
    weir__figures f;
    visiting v = { .visit = visit,
                   .context = context,
                   .name = { .allocator = &engine->allocator },
                   .labels = { .allocator = &engine->allocator } };
    const walk w = { &f, visit_series, &v };
    const bool taken = weir__figures_take(&f, engine, options);
    if (taken) {
        (void)walk_all(&w);
    }
    weir__figures_close(&f);
    weir__textbuf_close(&v.name);
    weir__textbuf_close(&v.labels);
    return taken && !v.failed ? WEIR_OK : WEIR_E_NOMEM;
}
