/* a router is no processor: it wants a key. SPDX-License-Identifier: Apache-2.0 */
#include "prelude.h"

weir_status use(weir_engine *engine, weir_turn *turn, const weir_event *event, weir_processor to,
                weir_thread thread, weir_error *error)
{
    const weir_router router = weir_router_find(engine, "orders");
    ALL_USED;
    if (weir_turn_post(turn, router, event) != WEIR_OK) {
        return WEIR_FULL;
    }
    return WEIR_OK;
}
