/*
 * metric/reference.h - the table of metrics for people: docs/METRICS.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_METRIC_REFERENCE_H
#define WEIR_METRIC_REFERENCE_H

#include "settings/textbuf.h"

/* As Markdown. False: no memory. */
bool weir__metrics_reference(weir__textbuf *out);

#endif /* WEIR_METRIC_REFERENCE_H */
