/* a handler has one shape. SPDX-License-Identifier: Apache-2.0 */
#include "prelude.h"

weir_status use(weir_engine *engine, weir_turn *turn, const weir_event *event, weir_processor to,
                weir_thread thread, weir_error *error)
{
    ALL_USED;
    weir_processor_add(engine, WEIR_PROCESSOR(.handler = weir_engine_post), error);
    return WEIR_OK;
}
