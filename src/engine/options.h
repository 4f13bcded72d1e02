/*
 * engine/options.h - from a caller's option struct to a checked one with its defaults filled in.
 *
 * Every refusal names the field, the value, and what would be right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_OPTIONS_H
#define WEIR_ENGINE_OPTIONS_H

#include "base/checker.h"
#include "weir/weir.h"

weir_status weir__options_engine(const weir_engine_options *in, weir_engine_options *out,
                                 weir_error *error);
weir_status weir__options_thread(const weir_thread_options *in, weir_thread_options *out,
                                 weir_error *error);
weir_status weir__options_dispatcher(const weir_dispatcher_options *in,
                                     weir_dispatcher_options *out, weir_error *error);
/* NULL: nothing is said, and all is zero. */
weir_status weir__options_helper(const weir_helper_options *in, weir_helper_options *out,
                                 weir_error *error);
weir_status weir__options_assignment(const weir_assignment_options *in,
                                     weir_assignment_options *out, weir_error *error);
/* Without what depends on the engine: mailbox_max and the like may still be 0. */
weir_status weir__options_processor(const weir_processor_options *in, weir_processor_options *out,
                                    weir_error *error);

#endif /* WEIR_ENGINE_OPTIONS_H */
