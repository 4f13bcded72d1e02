/*
 * base/report.c - a stop's sums in one line, for programs that end with them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "weir/engine.h"

int weir_stop_report_print(const weir_stop_report *report)
{
    if (report == NULL) {
        return 1;
    }
    fprintf(stdout, "%llu accepted = %llu handled + %llu dropped + %llu dead + %llu left\n",
            (unsigned long long)report->accepted, (unsigned long long)report->handled,
            (unsigned long long)report->dropped, (unsigned long long)report->dead,
            (unsigned long long)report->left);
    const uint64_t sum = report->handled + report->dropped + report->dead + report->left;
    return report->accepted == sum && report->left == 0 ? 0 : 1;
}
