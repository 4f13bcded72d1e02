/*
 * feed/options.c - bounds and defaults of a feed's options.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/checker.h"
#include "feed/feed.h"

static void check_name(weir__checker *check, const char *name)
{
    char text[96];
    const size_t length = name != NULL ? strnlen(name, WEIR__NAME_SIZE) : 0;
    if (length == 0 || length == WEIR__NAME_SIZE) {
        snprintf(text, sizeof(text), "is \"%.20s\", must be 1 to %u bytes long",
                 name != NULL ? name : "", WEIR__NAME_SIZE - 1);
        weir__check_refuse(check, "name", text);
    }
}

weir_status weir__options_feed(const weir_feed_options *in, weir_feed_options *out,
                               weir_error *error)
{
    weir__checker check = weir__check_begin("weir_feed_options", out, sizeof(*out), in, error);
    if (check.status != WEIR_OK) {
        return check.status;
    }
    check_name(&check, out->name);
    weir__check_number32(&check, "queue_max", &out->queue_max, 1, WEIR__SPSC_MAX,
                         WEIR__FEED_QUEUE_USUAL);
    if (check.status == WEIR_OK && (out->queue_max & (out->queue_max - 1)) != 0) {
        char text[96];
        snprintf(text, sizeof(text), "is %u, must be a power of two, up to %u", out->queue_max,
                 WEIR__SPSC_MAX);
        weir__check_refuse(&check, "queue_max", text);
    }
    weir__check_choice(&check, "slow", (int)out->slow, WEIR_SLOW_DROP_OLDEST,
                       "one of WEIR_SLOW_...");
    if (out->slow == WEIR_SLOW_DEFAULT) {
        out->slow = WEIR_SLOW_BACKOFF;
    }
    weir__check_span(&check, "slow_max", &out->slow_max, 1, WEIR_FOREVER, WEIR__FEED_SLOW_USUAL);
    if (out->replay_max > WEIR__FEED_REPLAY_MAX) {
        weir__check_refuse_number(&check, "replay_max", out->replay_max, 0, WEIR__FEED_REPLAY_MAX,
                                  0);
    }
    return check.status;
}
