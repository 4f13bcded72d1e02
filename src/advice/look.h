/*
 * advice/look.h - two looks side by side, and how a rule tells what it found.
 *
 * A number that is not there is NAN, which every comparison answers with false: a rule over figures
 * that are missing does not speak. Numbers are within 0 and 1e18.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADVICE_LOOK_H
#define WEIR_ADVICE_LOOK_H

#include "advice/advice.h"

typedef struct weir__look {
    const json_t *before, *after; /* documents; before NULL: since the start */
    double seconds;               /* that lie between; 0: none */
    bool twice;                   /* there really are two */
    double cores;                 /* that the process may use; NAN: not known */
    weir__findings *out;
} weir__look;

/* One thing at two moments: before is NULL if it is new, or was not looked at. */
typedef struct weir__pair {
    const json_t *before, *after;
    const char *name;
} weir__pair;

/* A name that may be printed anywhere. */
typedef struct weir__label {
    char text[72];
} weir__label;
weir__label weir__label_of(const char *name);
weir__label weir__label_dispatcher(const char *name); /* 'api', or the default one in words */
/* 1234567 as "1,234,567", 1.25 as "1.2"; 0.42 as "42 %"; 0.25 seconds as "250 ms". */
typedef struct weir__words {
    char text[40];
} weir__words;
weir__words weir__words_count(double value);
weir__words weir__words_number(double value);
weir__words weir__words_share(double value);
weir__words weir__words_time(double seconds);

double weir__look_number(const json_t *object, const char *key);
const char *weir__look_text(const json_t *object, const char *key); /* "" if there is none */
bool weir__look_says(const json_t *object, const char *key, const char *word);

/* How much a counter has grown. One that fell began anew. */
double weir__look_gain(const weir__pair *pair, const char *key);
/* a of b; NAN when b is less than `least`, or not known. */
double weir__look_part(double a, double b, double least);

/* The objects of a list by name, for json_decref: positions change when something comes or goes.
 * NULL: no memory, which is as if all were new. */
json_t *weir__look_index(const json_t *list, const char *name_key);
/* The objects of a list, each with what it was before; name_key says which. */
void weir__look_each(weir__look *look, const char *list, const char *name_key,
                     void (*see)(weir__look *look, const weir__pair *pair));
/* An object that stands alone. */
weir__pair weir__look_one(const weir__look *look, const char *key);

/* How much the threads that serve a dispatcher worked (1: one of them all the time), and how many
 * there are. NAN: not known. */
double weir__look_work_of(const weir__look *look, const char *dispatcher, unsigned *threads);

/* What the sources, services and sinks on a thread have done in their rounds. */
double weir__look_rounds_work(const weir__look *look, const char *thread);

/* NULL: it is no finding, or there are worse ones enough. `kind` "dispatcher", `name` "api". */
weir__finding *weir__look_find(weir__look *look, weir__rule_id id, double value, const char *kind,
                               const char *name);
__attribute__((format(printf, 2, 3))) void weir__finding_say(weir__finding *finding,
                                                             const char *format, ...);
__attribute__((format(printf, 2, 3))) void weir__finding_remedy(weir__finding *finding,
                                                                const char *format, ...);

/* The rules, by what they look at. */
void weir__look_at_process(weir__look *look);
void weir__look_at_threads(weir__look *look);
void weir__look_at_dispatchers(weir__look *look);
void weir__look_at_processors(weir__look *look);
void weir__look_at_streams(weir__look *look);

#endif /* WEIR_ADVICE_LOOK_H */
