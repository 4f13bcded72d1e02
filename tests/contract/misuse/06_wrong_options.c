/* options of one thing do not make another. SPDX-License-Identifier: Apache-2.0 */
#include "prelude.h"

weir_status use(weir_engine *engine, weir_turn *turn, const weir_event *event, weir_processor to,
                weir_thread thread, weir_error *error)
{
    ALL_USED;
    weir_thread_add(engine, WEIR_PROCESSOR(.name = "x"), error);
    return WEIR_OK;
}
