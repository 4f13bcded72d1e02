/*
 * engine/own.h - events of weir's own: requests to a processor that are ordered with its mail.
 *
 * They are posted like any other (weir__posting.marks = WEIR__ENVELOPE_OWN), take a place, are
 * counted, and come to their turn in order; but what handles them there is said by their type, not
 * by the processor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_OWN_H
#define WEIR_ENGINE_OWN_H

#include "weir/processor.h"

typedef struct weir__own_type {
    weir_event_type type; /* what the envelope has; the address of the whole */
    weir_handler handler; /* in place of the processor's */
    bool blameless;       /* if it fails, that is not the processor's failure */
} weir__own_type;

static inline bool weir__own_is_blameless(const weir_event_type *type)
{
    return ((const weir__own_type *)(const void *)type)->blameless;
}

static inline weir_handler weir__own_handler(const weir_event_type *type)
{
    return ((const weir__own_type *)(const void *)type)->handler;
}

#endif /* WEIR_ENGINE_OWN_H */
