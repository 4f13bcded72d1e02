/*
 * stress.c - the office on real threads, under load: does the journal stay in order?
 *
 *     stress              the repaired version, for a second
 *     stress trusting 60  the one with the mistake, for a minute
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "journal.h"

int main(int argc, char **argv)
{
    const bool fenced = argc < 2 || strcmp(argv[1], "trusting") != 0;
    const long seconds = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    struct office office;
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(WEIR_ENGINE(.threads = 3), &error);
    office_open(&office, fenced, engine, &error);
    weir_engine_start(engine, &error);
    for (int i = 0; i < 2 && error.status == WEIR_OK; i++) {
        const weir_ns until = weir_time_now(engine) + seconds * WEIR_S;
        error.status = weir_engine_post(engine, office.writer[i], WEIR_EVENT(work, .until = until));
    }
    if (error.status == WEIR_OK) {
        /* Drains: it returns when both writers have come to their end. */
        error.status = weir_engine_stop(engine, (seconds + 60) * WEIR_S, NULL);
    }
    weir_engine_destroy(engine);
    fprintf(stderr, "%ld lines, %d leases\n", office.journal.lines, office.keeper.number);
    printf("the journal is %s\n", office.journal.late == 0 ? "in order" : "mixed up");
    return weir_error_print(&error) || office.journal.late != 0;
}
