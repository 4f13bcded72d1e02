/*
 * connect/files.h - component types that read and write files, and the standard streams.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_FILES_H
#define WEIR_CONNECT_FILES_H

#include "weir/component.h"

extern const weir_component_type weir__file_type;      /* a source */
extern const weir_component_type weir__file_sink_type; /* a sink */
extern const weir_component_type weir__stdin_type;     /* a source */
extern const weir_component_type weir__stdout_type;    /* a sink */

/* Any. Every file-sink of that engine opens its file anew, as soon as its thread comes to it: who
 * has renamed the old one may go on with that. */
void weir__file_sinks_reopen(weir_engine *engine);

#endif /* WEIR_CONNECT_FILES_H */
