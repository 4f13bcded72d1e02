/* events are immutable. SPDX-License-Identifier: Apache-2.0 */
#include "prelude.h"

weir_status use(weir_engine *engine, weir_turn *turn, const weir_event *event, weir_processor to,
                weir_thread thread, weir_error *error)
{
    ALL_USED;
    greet *g = event->data;
    g->name[0] = 0;
    return WEIR_OK;
}
