/*
 * cli/demo_text.c - numbers as people read them, and which of them are good.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "cli/demo_show.h"

weir__demo_text weir__demo_text_count(uint64_t count)
{
    weir__demo_text text;
    char digits[24];
    const int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    int to = 0;
    for (int from = 0; from < length; from++) {
        if (from > 0 && (length - from) % 3 == 0) {
            text.text[to++] = ',';
        }
        text.text[to++] = digits[from];
    }
    text.text[to] = '\0';
    return text;
}

weir__demo_text weir__demo_text_rate(double per_second)
{
    return weir__demo_text_count((uint64_t)(per_second + 0.5));
}

weir__demo_text weir__demo_text_share(double share)
{
    weir__demo_text text;
    snprintf(text.text, sizeof(text.text), "%.1f %%", share * 100.0);
    return text;
}

weir__demo_text weir__demo_text_time(uint64_t ns)
{
    weir__demo_text text;
    static const char *const units[] = { "ns", "us", "ms", "s" };
    double value = (double)ns;
    size_t unit = 0;
    /* 999.5 would be shown as 1000: it is one of the next unit already. */
    while (value >= 999.5 && unit < 3) {
        value /= 1000.0;
        unit++;
    }
    const int digits = unit == 0 || value >= 99.95 ? 0 : 1;
    snprintf(text.text, sizeof(text.text), "%.*f %s", digits, value, units[unit]);
    return text;
}

weir__tone weir__demo_tone_contention(double share)
{
    return share < 0.10 ? WEIR__TONE_GOOD : share < 0.50 ? WEIR__TONE_FAIR : WEIR__TONE_BAD;
}

weir__tone weir__demo_tone_backoff(double share)
{
    return share < 0.01 ? WEIR__TONE_GOOD : share < 0.30 ? WEIR__TONE_FAIR : WEIR__TONE_BAD;
}
