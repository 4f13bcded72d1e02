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

#endif /* WEIR_CONNECT_FILES_H */
