/*
 * flow/key.h - keys and their hashes: XXH3 with a seed that strangers do not know.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FLOW_KEY_H
#define WEIR_FLOW_KEY_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "flow/router.h"

/* One for the process, so that flows whose keys are bytes have the same number in all routers. Set
 * before the first router is there. */
extern weir__atomic_u64 weir__flow_seed;
void weir__flow_seed_make(void);

static inline weir__flow_key weir__flow_key_number(uint64_t number)
{
    const uint64_t seed = weir__load(&weir__flow_seed, relaxed);
    return (weir__flow_key){ .id = number,
                             .hash = XXH3_64bits_withSeed(&number, sizeof(number), seed) };
}

/* `size` is 1 or more. */
weir__flow_key weir__flow_key_bytes(const void *bytes, size_t size);

/* Whether bytes that have the same hash are the same. */
bool weir__flow_has_bytes(const weir__flow *flow, const weir__flow_key *key);

/* The bytes of a key, to keep. NULL: no memory. */
const unsigned char *weir__flow_key_copy(weir__router *router, const weir__flow_key *key);
void weir__flow_key_free(weir__router *router, const unsigned char *bytes, uint32_t size);

#endif /* WEIR_FLOW_KEY_H */
