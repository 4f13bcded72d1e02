/*
 * flow/key.c - the seed; keys that are bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow/key.h"

#include <string.h>

#include "base/memory.h"
#include "base/processwide.h"
#include "sync/thread.h"
#include "weir/flow.h"

WEIR__PROCESS_WIDE weir__atomic_u64 weir__flow_seed;

void weir__flow_seed_make(void)
{
    uint64_t none = weir__load(&weir__flow_seed, relaxed);
    if (none != 0) {
        return;
    }
    (void)weir__cas(&weir__flow_seed, &none, weir__random_seed() | 1, relaxed, relaxed);
}

uint64_t weir_flow_hash(const void *key, size_t size)
{
    weir__flow_seed_make(); /* it may be asked for before there is a router */
    const uint64_t hash =
        XXH3_64bits_withSeed(key, key != NULL ? size : 0, weir__load(&weir__flow_seed, relaxed));
    return hash != 0 ? hash : 1;
}

weir__flow_key weir__flow_key_bytes(const void *bytes, size_t size)
{
    const uint64_t hash = weir_flow_hash(bytes, size);
    return (weir__flow_key){ .id = hash, .hash = hash, .bytes = bytes, .size = (uint32_t)size };
}

bool weir__flow_has_bytes(const weir__flow *flow, const weir__flow_key *key)
{
    return flow->size == key->size && memcmp(flow->bytes, key->bytes, key->size) == 0;
}

const unsigned char *weir__flow_key_copy(weir__router *router, const weir__flow_key *key)
{
    unsigned char *copy = weir__allocate_small(&router->engine->allocator, key->size);
    if (copy != NULL) {
        memcpy(copy, key->bytes, key->size);
        weir__add(&router->bytes, key->size, relaxed);
    }
    return copy;
}

void weir__flow_key_free(weir__router *router, const unsigned char *bytes, uint32_t size)
{
    if (bytes != NULL) {
        weir__release(&router->engine->allocator, (void *)(uintptr_t)bytes, size);
        weir__sub(&router->bytes, size, relaxed);
    }
}
