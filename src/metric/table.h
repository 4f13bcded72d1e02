/*
 * metric/table.h - the one table of metrics: what each is called in JSON and by Prometheus, what it
 * counts, and where it lies among the figures.
 *
 * Both writers, weir_metric_visit and docs/METRICS.md come from it. Rows of one Prometheus name
 * stand in one group, and differ by their label.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_METRIC_TABLE_H
#define WEIR_METRIC_TABLE_H

#include "metric/figures.h"

typedef enum weir__metric_type {
    WEIR__TYPE_NONE, /* no figure: a text, or only for JSON */
    WEIR__TYPE_COUNTER,
    WEIR__TYPE_GAUGE,
    WEIR__TYPE_SUMMARY
} weir__metric_type;

/* What lies at a row's place. */
typedef enum weir__metric_value {
    WEIR__VALUE_U64,
    WEIR__VALUE_U32,
    WEIR__VALUE_I32,
    WEIR__VALUE_NS, /* 64 bits; seconds for Prometheus */
    WEIR__VALUE_REAL,
    WEIR__VALUE_BOOL,
    WEIR__VALUE_TEXT,
    WEIR__VALUE_LATENCY
} weir__metric_value;

typedef struct weir__metric_row {
    uint8_t group, type, value; /* weir__metric_group, ..._type, ..._value */
    uint16_t offset;            /* in the group's item */
    const char *key;            /* in JSON; NULL: not there */
    const char *name;           /* for Prometheus; NULL: not there */
    const char *label;          /* reason="full"; NULL: none but those of the item */
    const char *help;           /* one sentence, without its full stop */
} weir__metric_row;

extern const weir__metric_row weir__metric_rows[];
extern const uint32_t weir__metric_row_count;

typedef struct weir__metric_section {
    const char *key;    /* in JSON */
    const char *title;  /* for people */
    const char *labels; /* that its series have, besides those of the row; "" */
    const char *text;   /* what has to be said of all of them; "" */
} weir__metric_section;

/* By group. */
extern const weir__metric_section weir__metric_sections[WEIR__GROUPS];

/* A figure, whatever it was. */
typedef struct weir__number {
    enum { WEIR__NUMBER_UNSIGNED, WEIR__NUMBER_SIGNED, WEIR__NUMBER_NS, WEIR__NUMBER_REAL } kind;
    uint64_t bits;
    double real;
} weir__number;

/* Of a row that is neither text nor latency. */
weir__number weir__metric_number(const weir__metric_row *row, const void *item);

/* The quantiles of a summary: how they are written, and which of a latency they are. */
typedef struct weir__quantile {
    const char *key;   /* in JSON: "p50_ns" */
    const char *label; /* quantile="0.5" */
    uint16_t offset;   /* in weir_latency */
} weir__quantile;
#define WEIR__QUANTILES 6u
extern const weir__quantile weir__quantiles[WEIR__QUANTILES];

/* ---- numbers as text (metric/number.c); false: no memory ---- */

bool weir__number_json(weir__textbuf *out, const weir__number *number);
bool weir__number_prometheus(weir__textbuf *out, const weir__number *number);
double weir__number_value(const weir__number *number);

#endif /* WEIR_METRIC_TABLE_H */
