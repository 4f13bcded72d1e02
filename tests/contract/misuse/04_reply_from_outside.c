/* who has no turn has no one to answer. SPDX-License-Identifier: Apache-2.0 */
#include "prelude.h"

weir_status use(weir_engine *engine, weir_turn *turn, const weir_event *event, weir_processor to,
                weir_thread thread, weir_error *error)
{
    ALL_USED;
    if (weir_turn_reply(engine, event->from, event) != WEIR_OK) {
        return WEIR_FULL;
    }
    return WEIR_OK;
}
