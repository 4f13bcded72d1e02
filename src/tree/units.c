/*
 * tree/units.c - durations and sizes: a number, and a unit behind it.
 *
 * Units are case-sensitive and are tables below. A whole number is exact; the fraction of a
 * duration is a double's, as in the reference implementation, and so is what happens beyond 292
 * years: that is for ever. A size beyond 64 bits is an error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "tree/number.h"
#include "tree/why.h"

/* "5 min" apart: "5", "min". */
typedef struct measure {
    weir__text number, unit;
} measure;

/* Letters, and whatever else is beyond ASCII: no unit has any, but the message shows it whole. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static measure take_apart(weir__text text)
{
    text = weir__text_trim(text);
    size_t from = text.length;
    while (from > 0 && is_letter(text.bytes[from - 1])) {
        from--;
    }
    measure m = { .number = { text.bytes, from },
                  .unit = { text.bytes + from, text.length - from } };
    /* A no-break space between the two looked like letters. */
    m.unit = weir__text_trim(m.unit);
    m.number = weir__text_trim(m.number);
    return m;
}

static bool is(weir__text text, const char *name, size_t length)
{
    return text.length == length && memcmp(text.bytes, name, length) == 0;
}

/* One of names that are separated by blanks. */
static bool is_one_of(weir__text text, const char *names)
{
    while (*names != '\0') {
        const size_t length = strcspn(names, " ");
        if (is(text, names, length)) {
            return true;
        }
        names += length + (names[length] == ' ' ? 1 : 0);
    }
    return false;
}

/* What people write by habit, and what it is here. */
typedef struct habit {
    const char *names, *right;
} habit;

static const char *habit_of(weir__text unit, const habit *habits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_one_of(unit, habits[i].names)) {
            return habits[i].right;
        }
    }
    return "";
}

/* --- durations -------------------------------------------------------------------------------- */

static const struct {
    const char *names;
    int64_t nanoseconds;
} duration_units[] = {
    { "ns nano nanos nanosecond nanoseconds", 1 },
    { "us micro micros microsecond microseconds", 1000 },
    { "ms milli millis millisecond milliseconds", 1000000 },
    { "s second seconds", 1000000000 },
    { "m minute minutes", INT64_C(60) * 1000000000 },
    { "h hour hours", INT64_C(3600) * 1000000000 },
    { "d day days", INT64_C(86400) * 1000000000 },
};

static const habit duration_habits[] = {
    { "min mins Min MIN M", "minutes are m; " },
    { "sec secs Sec S", "seconds are s; " },
    { "hr hrs H", "hours are h; " },
    { "msec msecs MS Ms mS", "milliseconds are ms; " },
    { "usec usecs US \xc2\xb5s \xce\xbcs", "microseconds are us; " },
    { "nsec nsecs NS", "nanoseconds are ns; " },
    { "D", "days are d; " },
    { "w week weeks", "a week is 7 d; " },
};

static bool no_duration(weir__why *why, const weir__node *node, weir__text unit)
{
    char right[120];
    snprintf(right, sizeof(right), "%sunits are ns, us, ms, s, m, h, d",
             habit_of(unit, duration_habits, sizeof(duration_habits) / sizeof(habit)));
    return weir__why_not(why, node, "duration", right);
}

/* 0: there is no such unit. */
static int64_t duration_unit(weir__text name, int64_t bare)
{
    if (name.length == 0) {
        return bare;
    }
    for (size_t i = 0; i < sizeof(duration_units) / sizeof(duration_units[0]); i++) {
        if (is_one_of(name, duration_units[i].names)) {
            return duration_units[i].nanoseconds;
        }
    }
    return 0;
}

/* From a double: cut off towards zero, and for ever is the longest that there is. */
static int64_t saturated(double value)
{
    if (value >= 0x1p63) {
        return INT64_MAX;
    }
    return value <= -0x1p63 ? INT64_MIN : (int64_t)value;
}

bool weir__read_duration(const weir__node *node, int64_t unit, int64_t *out, weir__why *why)
{
    if (!weir__node_is_scalar(node)) {
        return no_duration(why, node, (weir__text){ "", 0 });
    }
    const measure m = take_apart(node->text);
    const int64_t nanoseconds = duration_unit(m.unit, unit);
    weir__number number;
    if (nanoseconds == 0 || !weir__number_scan(m.number.bytes, m.number.length, &number)) {
        return no_duration(why, node, m.unit);
    }
    double value;
    if (!weir__number_double(&number, &value)) {
        return weir__why_beyond(why, node, "any duration");
    }
    if (!number.whole) {
        *out = saturated(value * (double)nanoseconds);
        return true;
    }
    const uint64_t most = (uint64_t)INT64_MAX + (number.negative ? 1 : 0);
    uint64_t count, whole;
    if (!weir__number_times(&number, 1, most, &count)) {
        return weir__why_beyond(why, node, "64 bits: too many for a duration");
    }
    if (!weir__number_times(&number, (weir__wide)nanoseconds, most, &whole)) {
        whole = most;
    }
    *out = number.negative ? (int64_t)(0 - whole) : (int64_t)whole;
    return true;
}

bool weir__read_nanoseconds(const weir__node *node, int64_t *out, weir__why *why)
{
    return weir__read_duration(node, 1000000, out, why);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static const struct {
    const char *names;
    uint32_t base, power;
} size_units[] = {
    { "B b byte bytes", 1, 0 },
    { "kB kilobyte kilobytes", 1000, 1 },
    { "MB megabyte megabytes", 1000, 2 },
    { "GB gigabyte gigabytes", 1000, 3 },
    { "TB terabyte terabytes", 1000, 4 },
    { "PB petabyte petabytes", 1000, 5 },
    { "EB exabyte exabytes", 1000, 6 },
    { "ZB zettabyte zettabytes", 1000, 7 },
    { "YB yottabyte yottabytes", 1000, 8 },
    { "K k Ki KiB kibibyte kibibytes", 1024, 1 },
    { "M m Mi MiB mebibyte mebibytes", 1024, 2 },
    { "G g Gi GiB gibibyte gibibytes", 1024, 3 },
    { "T t Ti TiB tebibyte tebibytes", 1024, 4 },
    { "P p Pi PiB pebibyte pebibytes", 1024, 5 },
    { "E e Ei EiB exbibyte exbibytes", 1024, 6 },
    { "Z z Zi ZiB zebibyte zebibytes", 1024, 7 },
    { "Y y Yi YiB yobibyte yobibytes", 1024, 8 },
};

static const habit size_habits[] = {
    { "KB kb Kb kib KIB", "kB is 1000 bytes, KiB 1024; " },
    { "mb Mb mB mib MIB", "MB is 10^6 bytes, MiB 2^20; " },
    { "gb Gb gB gib GIB", "GB is 10^9 bytes, GiB 2^30; " },
    { "tb Tb tB tib TIB", "TB is 10^12 bytes, TiB 2^40; " },
};

static bool no_size(weir__why *why, const weir__node *node, weir__text unit)
{
    char right[120];
    snprintf(right, sizeof(right), "%sunits are B, kB, MB, GB, ... (1000) and K, M, G, ... (1024)",
             habit_of(unit, size_habits, sizeof(size_habits) / sizeof(habit)));
    return weir__why_not(why, node, "size", right);
}

/* 0: there is no such unit. */
static weir__wide size_unit(weir__text name)
{
    for (size_t i = 0; i < sizeof(size_units) / sizeof(size_units[0]); i++) {
        if (is_one_of(name, size_units[i].names)) {
            weir__wide bytes = 1;
            for (uint32_t power = size_units[i].power; power > 0; power--) {
                bytes *= size_units[i].base;
            }
            return bytes;
        }
    }
    return 0;
}

bool weir__read_bytes(const weir__node *node, uint64_t *out, weir__why *why)
{
    const weir__text none = { "", 0 };
    if (!weir__node_is_scalar(node)) {
        return no_size(why, node, none);
    }
    weir__number number;
    weir__wide unit = 1;
    weir__text name = none;
    /* A number alone may be of any form, as 2f, whose f is no unit. */
    if (!weir__number_scan(node->text.bytes, node->text.length, &number)) {
        const measure m = take_apart(node->text);
        unit = m.unit.length > 0 ? size_unit(m.unit) : 1;
        name = m.unit;
        if (unit == 0 || !weir__number_scan(m.number.bytes, m.number.length, &number)) {
            return no_size(why, node, name);
        }
    }
    if (number.hexadecimal) {
        return no_size(why, node, name);
    }
    if (!weir__number_times(&number, unit, INT64_MAX, out)) {
        return weir__why_beyond(why, node, "64 bits: a size ends at 2^63 - 1 bytes");
    }
    if (number.negative && *out != 0) {
        return weir__why_not(why, node, "size", "it is not negative");
    }
    return true;
}
