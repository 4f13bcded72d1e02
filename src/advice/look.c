/*
 * advice/look.c - numbers of two looks, and findings as they come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "advice/look.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/utf8.h"

#define NUMBER_MAX 1e18

/* ---- words ---- */

/* Control characters would reach a terminal: C0, DEL, and C1, which is 0xc2 0x80 to 0x9f. */
static bool is_control(const unsigned char *s, size_t length)
{
    return length == 1 ? s[0] < 0x20 || s[0] == 0x7f : length == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

/* Copies whole characters only, as many as there is room for. */
static void copy_clean(char *out, size_t size, const char *from)
{
    const unsigned char *s = (const unsigned char *)from;
    size_t left = strlen(from), used = 0;
    while (left > 0) {
        const size_t length = weir__utf8_check(s, left);
        const size_t step = length > 0 ? length : 1;
        const bool bad = length == 0 || is_control(s, length);
        if (used + (bad ? 1 : step) >= size) {
            break;
        }
        if (bad) {
            out[used++] = '?';
        } else {
            memcpy(out + used, s, step);
            used += step;
        }
        s += step;
        left -= step;
    }
    out[used] = '\0';
}

weir__label weir__label_of(const char *name)
{
    weir__label label = { .text = "" };
    copy_clean(label.text, sizeof(label.text), name);
    return label;
}

weir__label weir__label_dispatcher(const char *name)
{
    weir__label label = { "the default dispatcher" };
    if (name[0] != '\0') {
        label.text[0] = '\'';
        copy_clean(label.text + 1, sizeof(label.text) - 2, name);
        const size_t used = strlen(label.text);
        label.text[used] = '\'';
        label.text[used + 1] = '\0';
    }
    return label;
}

weir__words weir__words_count(double value)
{
    weir__words words;
    char digits[24];
    if (!(value >= 0) || value > NUMBER_MAX) {
        (void)snprintf(words.text, sizeof(words.text), "an unknown number");
        return words;
    }
    const int length = snprintf(digits, sizeof(digits), "%.0f", value);
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            words.text[used++] = ',';
        }
        words.text[used++] = digits[i];
    }
    words.text[used] = '\0';
    return words;
}

weir__words weir__words_number(double value)
{
    weir__words words;
    if (isnan(value) || floor(value) >= value) {
        return weir__words_count(value);
    }
    (void)snprintf(words.text, sizeof(words.text), "%.1f", value);
    return words;
}

weir__words weir__words_share(double value)
{
    weir__words words;
    const double percent = value * 100;
    if (percent > 0 && percent < 0.1) {
        (void)snprintf(words.text, sizeof(words.text), "less than 0.1 %%");
    } else {
        (void)snprintf(words.text, sizeof(words.text), percent < 9.95 ? "%.1f %%" : "%.0f %%",
                       percent);
    }
    return words;
}

weir__words weir__words_time(double seconds)
{
    static const struct {
        double least, unit;
        const char *name;
    } units[] = { { 7200, 3600, "h" },  { 120, 60, "min" },   { 1, 1, "s" },
                  { 1e-3, 1e-3, "ms" }, { 1e-6, 1e-6, "us" }, { 0, 1e-9, "ns" } };
    weir__words words = { "an unknown time" };
    size_t i = 0;
    if (isnan(seconds)) {
        return words;
    }
    while (i + 1 < sizeof(units) / sizeof(units[0]) && !(seconds >= units[i].least)) {
        i++;
    }
    const double value = seconds / units[i].unit;
    (void)snprintf(words.text, sizeof(words.text), value < 9.95 ? "%.1f %s" : "%.0f %s", value,
                   units[i].name);
    return words;
}

/* ---- numbers ---- */

double weir__look_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) {
        return NAN;
    }
    const double number = json_number_value(value);
    return number > NUMBER_MAX ? NUMBER_MAX : number > 0 ? number : 0;
}

const char *weir__look_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

bool weir__look_says(const json_t *object, const char *key, const char *word)
{
    return strcmp(weir__look_text(object, key), word) == 0;
}

double weir__look_gain(const weir__pair *pair, const char *key)
{
    const double after = weir__look_number(pair->after, key);
    const double before = weir__look_number(pair->before, key);
    return before <= after ? after - before : after;
}

double weir__look_part(double a, double b, double least)
{
    return b >= least && b > 0 ? a / b : NAN;
}

/* ---- things ---- */

weir__pair weir__look_one(const weir__look *look, const char *key)
{
    return (weir__pair){ json_object_get(look->before, key), json_object_get(look->after, key),
                         key };
}

json_t *weir__look_index(const json_t *list, const char *name_key)
{
    json_t *index = json_object();
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        const json_t *name = json_object_get(item, name_key);
        if (json_is_string(name)) {
            (void)json_object_set(index, json_string_value(name), item);
        }
    }
    return index;
}

void weir__look_each(weir__look *look, const char *list, const char *name_key,
                     void (*see)(weir__look *look, const weir__pair *pair))
{
    json_t *index = weir__look_index(json_object_get(look->before, list), name_key);
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(look->after, list), i, item)
    {
        const json_t *name = json_object_get(item, name_key);
        if (json_is_string(name)) {
            const weir__pair pair = { json_object_get(index, json_string_value(name)), item,
                                      json_string_value(name) };
            see(look, &pair);
        }
    }
    json_decref(index);
}

/* "api", "api, batch", ", api": names with commas between; that of the default dispatcher is empty.
 * A thread that serves none has an empty list, too: it never has turns. */
static bool serves(const json_t *thread, const char *dispatcher)
{
    static const char comma[] = ", ";
    const json_t *list = json_object_get(thread, "dispatchers");
    if (!json_is_string(list) || weir__look_number(thread, "turns") <= 0) {
        return false;
    }
    const size_t length = strlen(dispatcher);
    for (const char *at = json_string_value(list); at != NULL;) {
        const char *end = strstr(at, comma);
        const size_t size = end != NULL ? (size_t)(end - at) : strlen(at);
        if (size == length && memcmp(at, dispatcher, length) == 0) {
            return true;
        }
        at = end != NULL ? end + strlen(comma) : NULL;
    }
    return false;
}

double weir__look_work_of(const weir__look *look, const char *dispatcher, unsigned *threads)
{
    json_t *index = weir__look_index(json_object_get(look->before, "threads"), "thread");
    double busy = 0;
    size_t i;
    json_t *item;
    *threads = 0;
    json_array_foreach(json_object_get(look->after, "threads"), i, item)
    {
        if (!serves(item, dispatcher)) {
            continue;
        }
        const char *name = weir__look_text(item, "thread");
        const weir__pair pair = { json_object_get(index, name), item, name };
        busy += weir__look_gain(&pair, "busy_ns") / 1e9;
        (*threads)++;
    }
    json_decref(index);
    return *threads > 0 && look->seconds > 0 ? busy / look->seconds : NAN;
}

double weir__look_rounds_work(const weir__look *look, const char *thread)
{
    json_t *index = weir__look_index(json_object_get(look->before, "components"), "component");
    double work = 0;
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(look->after, "components"), i, item)
    {
        const char *name = weir__look_text(item, "component");
        const weir__pair pair = { json_object_get(index, name), item, name };
        const double more = weir__look_gain(&pair, "work");
        if (weir__look_says(item, "thread", thread) && more > 0) {
            work += more;
        }
    }
    json_decref(index);
    return work;
}

/* ---- findings ---- */

static bool is_worse(const weir__finding *f, weir__severity severity, double value)
{
    const weir__rule *rule = &weir__rules[f->id];
    if (severity != f->severity) {
        return severity > f->severity;
    }
    return rule->below ? value < f->value : value > f->value;
}

/* A place for it: one of its rule's, or that of the mildest there. NULL: all are worse. */
static weir__finding *place_for(weir__findings *out, weir__rule_id id, weir__severity severity,
                                double value)
{
    unsigned of_rule = 0;
    weir__finding *mildest = NULL;
    for (size_t i = 0; i < out->count; i++) {
        weir__finding *f = &out->items[i];
        if (f->id != id) {
            continue;
        }
        of_rule++;
        if (mildest == NULL || !is_worse(mildest, f->severity, f->value)) {
            mildest = f;
        }
    }
    if (of_rule < WEIR__FINDINGS_A_RULE) {
        return &out->items[out->count++];
    }
    out->hidden[id]++;
    return is_worse(mildest, severity, value) ? mildest : NULL;
}

weir__finding *weir__look_find(weir__look *look, weir__rule_id id, double value, const char *kind,
                               const char *name)
{
    const weir__severity severity = weir__rule_judge(&weir__rules[id], value);
    weir__finding *f =
        severity != WEIR__SEVERITY_NONE ? place_for(look->out, id, severity, value) : NULL;
    if (f == NULL) {
        return NULL;
    }
    *f = (weir__finding){
        .id = id, .rule = weir__rules[id].name, .severity = severity, .value = value
    };
    (void)snprintf(f->what, sizeof(f->what), "%s%s%s", kind, name != NULL ? " " : "",
                   name == NULL      ? ""
                   : name[0] == '\0' ? "\"\""
                                     : weir__label_of(name).text);
    return f;
}

static void say(char *out, size_t size, const char *format, va_list arguments)
{
    char text[1024];
    (void)vsnprintf(text, sizeof(text), format, arguments);
    copy_clean(out, size, text);
}

void weir__finding_say(weir__finding *finding, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(finding->text, sizeof(finding->text), format, arguments);
    va_end(arguments);
}

void weir__finding_remedy(weir__finding *finding, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(finding->remedy, sizeof(finding->remedy), format, arguments);
    va_end(arguments);
}
