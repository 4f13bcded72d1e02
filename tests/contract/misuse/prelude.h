/*
 * prelude.h - what the cases of misuse share: one mistake each, in the body of `use`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_MISUSE_PRELUDE_H
#define WEIR_MISUSE_PRELUDE_H

#include <weir/weir.h>

typedef struct greet {
    char name[16];
} greet;
WEIR_EVENT_TYPE(greet, "hello.greet");

weir_status use(weir_engine *engine, weir_turn *turn, const weir_event *event, weir_processor to,
                weir_thread thread, weir_error *error);

/* Every parameter counts as used, so that nothing but the mistake is refused. */
#define ALL_USED ((void)engine, (void)turn, (void)event, (void)to, (void)thread, (void)error)

#endif /* WEIR_MISUSE_PRELUDE_H */
