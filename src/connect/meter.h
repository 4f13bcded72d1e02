/*
 * connect/meter.h - what a connector counts, for people and tests to read by name; and complaints
 * that a load can repeat, at most one a second.
 *
 * A connector's own thread (a sink's: its handler's, too) writes, any thread reads: each figure is
 * right for itself, together they may be a moment apart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_METER_H
#define WEIR_CONNECT_METER_H

#include "sync/atomic.h"
#include "weir/component.h"

enum { WEIR__METER_MAX = 16 };

/* Zeroed memory is a closed one. Does not move while it is open. */
typedef struct weir__meter {
    weir_engine *engine;
    weir_component *self;
    const char *type;         /* of the component */
    const char *const *names; /* of the values; ends with NULL; a static constant */
    weir__atomic_u64 values[WEIR__METER_MAX];
    struct weir__meter *next; /* of all that are open */
    bool open;
} weir__meter;

/* Control: init and tear_down. Closing a closed one: nothing. While it is open its figures are in
 * /metrics, by the names of connect/figure.h, where each has to be. */
void weir__meter_open(weir__meter *meter, weir_component *self, const char *type,
                      const char *const *names);
void weir__meter_close(weir__meter *meter);

static inline void weir__meter_add(weir__meter *meter, size_t i, uint64_t much)
{
    weir__add(&meter->values[i], much, relaxed);
}

static inline void weir__meter_sub(weir__meter *meter, size_t i, uint64_t much)
{
    weir__sub(&meter->values[i], much, relaxed);
}

static inline void weir__meter_set(weir__meter *meter, size_t i, uint64_t value)
{
    weir__store(&meter->values[i], value, relaxed);
}

static inline uint64_t weir__meter_value(const weir__meter *meter, size_t i)
{
    return weir__load((weir__atomic_u64 *)(uintptr_t)&meter->values[i], relaxed);
}

/* Any. One figure of the component of that name; false: there is none. */
bool weir__meter_read(weir_engine *engine, const char *component, const char *figure,
                      uint64_t *value);

/* Any. "port": the one that a listener was given, for who asked for port 0. Zero: none. */
uint16_t weir__connect_port(weir_engine *engine, const char *component);

/* Control. Each figure of each connector of the engine, a connector's in a row, until `visit`
 * answers false; a lock is held: it must not come back here. */
void weir__meter_visit(weir_engine *engine,
                       bool (*visit)(void *context, const char *component, const char *type,
                                     const char *figure, uint64_t value),
                       void *context);

/* Zeroed memory has never complained. One thread's. */
typedef struct weir__complaint {
    weir_ns next; /* not before this time */
    uint64_t left_out;
} weir__complaint;

/* The component reports it, unless it did so within the last second: then it is counted, and the
 * next one says how many. */
__attribute__((format(printf, 4, 5))) void weir__complain(weir__complaint *complaint,
                                                          weir_component *self, weir_status status,
                                                          const char *format, ...);

#endif /* WEIR_CONNECT_METER_H */
