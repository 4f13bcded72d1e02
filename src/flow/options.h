/*
 * flow/options.h - a router's options, checked, with their defaults filled in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FLOW_OPTIONS_H
#define WEIR_FLOW_OPTIONS_H

#include "weir/weir.h"

#define WEIR__WORKERS_USUAL 8u /* if there are so many usable cores */
#define WEIR__ROUTER_BATCH_USUAL 128u
#define WEIR__FLOW_IDLE_USUAL (600 * WEIR_S)
#define WEIR__ROUTER_NAME_SIZE 200u /* its end included: names of processors are made of it */

weir_status weir__options_router(weir_engine *engine, const weir_router_options *in,
                                 weir_router_options *out, weir_error *error);

#endif /* WEIR_FLOW_OPTIONS_H */
