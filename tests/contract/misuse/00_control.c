/* must compile: the control for the others. SPDX-License-Identifier: Apache-2.0 */
#include "prelude.h"

weir_status use(weir_engine *engine, weir_turn *turn, const weir_event *event, weir_processor to,
                weir_thread thread, weir_error *error)
{
    ALL_USED;
    if (weir_turn_post(turn, to, WEIR_EVENT(greet, .name = "Ada")) != WEIR_OK) {
        return WEIR_FULL;
    }
    return WEIR_OK;
}
