/*
 * connect/breaker.c - a circuit breaker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/breaker.h"

void weir__breaker_open(weir__breaker *breaker, uint32_t failures_max, weir_ns open_for,
                        uint32_t trials)
{
    *breaker = (weir__breaker){
        .failures_max = failures_max,
        .open_for = open_for,
        .trials = trials,
    };
}

bool weir__breaker_allows(weir__breaker *breaker, weir_ns now)
{
    if (breaker->state == WEIR__BREAKER_OPEN && now >= breaker->until) {
        breaker->state = WEIR__BREAKER_HALF_OPEN;
        breaker->successes = 0;
    }
    return breaker->state != WEIR__BREAKER_OPEN;
}

static bool trip(weir__breaker *breaker, weir_ns now)
{
    breaker->state = WEIR__BREAKER_OPEN;
    breaker->until =
        now > WEIR_FOREVER - breaker->open_for ? WEIR_FOREVER : now + breaker->open_for;
    breaker->failures = 0;
    breaker->opened++;
    return true;
}

bool weir__breaker_tell(weir__breaker *breaker, bool success, weir_ns now)
{
    switch (breaker->state) {
    case WEIR__BREAKER_CLOSED:
        breaker->failures = success ? 0 : breaker->failures + 1;
        return breaker->failures >= breaker->failures_max && trip(breaker, now);
    case WEIR__BREAKER_HALF_OPEN:
        if (!success) {
            return trip(breaker, now);
        }
        if (++breaker->successes < breaker->trials) {
            return false;
        }
        breaker->state = WEIR__BREAKER_CLOSED;
        breaker->failures = 0;
        return true;
    case WEIR__BREAKER_OPEN:
        break; /* an answer that comes late says nothing about now */
    }
    return false;
}

const char *weir__breaker_word(const weir__breaker *breaker)
{
    static const char *const words[] = { "closed", "open", "half-open" };
    return words[breaker->state];
}
