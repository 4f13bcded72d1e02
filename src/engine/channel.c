/*
 * engine/channel.c - names to channels, handles to channels.
 *
 * A handle is | engine's serial 40 | number + 1 24 |. Channels live as long as their engine and
 * never move, so a look-up needs no lock: a number below the count is a complete channel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/channel.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/options.h"

#define NAME_BYTES_MAX (WEIR__NAME_SIZE - 1)
#define PATH "weir_channel_open"
#define RESERVED "weir."

void weir__channels_open(weir_engine *engine)
{
    engine->channels.names.allocator = &engine->allocator;
    engine->channels.before = engine->serial << WEIR__CHANNEL_NUMBER_BITS;
}

void weir__channels_close(weir_engine *engine)
{
    weir__channels *channels = &engine->channels;
    const uint32_t count = weir__load(&channels->count, relaxed);
    for (uint32_t i = 0; i < count; i++) {
        weir__channel *channel = weir__channel_at(channels, i);
        weir__release(&engine->allocator, channel->members,
                      channel->capacity * sizeof(*channel->members));
        weir__release_text(&engine->allocator, channel->name);
    }
    for (uint32_t i = 0; i < WEIR__CHANNEL_SEGMENTS; i++) {
        weir__release(&engine->allocator, channels->segments[i],
                      sizeof(weir__channel) << (WEIR__CHANNELS_FIRST_BITS + i));
    }
    weir__namemap_close(&channels->names);
}

bool weir__channel_has_subscribers(weir_engine *engine, weir_channel handle)
{
    weir__channel *channel = weir__channel_find(&engine->channels, handle);
    return channel != NULL && weir__load(&channel->count, relaxed) > 0;
}

/* channels.lock held. The next channel, not yet counted; NULL: no memory. */
static weir__channel *prepare(weir_engine *engine, uint32_t number, const char *name)
{
    weir__channels *channels = &engine->channels;
    const uint32_t at = number + (1u << WEIR__CHANNELS_FIRST_BITS);
    const uint32_t bits = 31u - (uint32_t)__builtin_clz(at);
    weir__channel **segment = &channels->segments[bits - WEIR__CHANNELS_FIRST_BITS];
    if (*segment == NULL) {
        *segment = weir__allocate(&engine->allocator, sizeof(weir__channel) << bits);
    }
    if (*segment == NULL || !weir__namemap_prepare(&channels->names, 1)) {
        return NULL;
    }
    weir__channel *channel = weir__channel_at(channels, number);
    return weir__copy_text(&engine->allocator, name, &channel->name) ? channel : NULL;
}

/* channels.lock held. */
static weir_channel open_new(weir_engine *engine, const char *name, weir_error *error)
{
    weir__channels *channels = &engine->channels;
    const uint32_t number = weir__load(&channels->count, relaxed);
    if (number >= engine->options.channels_max) {
        weir__error_at(error, WEIR_E_LIMIT, PATH ".name",
                       "\"%s\" would be one more than weir_engine_options.channels_max (%u)", name,
                       engine->options.channels_max);
        return (weir_channel){ 0 };
    }
    weir__channel *channel = prepare(engine, number, name);
    if (channel == NULL) {
        weir__error_memory(error, PATH);
        return (weir_channel){ 0 };
    }
    channel->reserved = strncmp(name, RESERVED, sizeof(RESERVED) - 1) == 0;
    weir__namemap_put(&channels->names, channel->name, number + 1);
    /* [Z2] pairs with [Z1]. */
    weir__store(&channels->count, number + 1, release);
    weir__letters_open_channel(engine, name, weir__channel_handle(channels, number));
    return weir__channel_handle(channels, number);
}

weir_channel weir_channel_open(weir_engine *engine, const char *name, weir_error *error)
{
    weir_channel handle = { 0 };
    if (weir__error_is_set(error)) {
        return handle;
    }
    if (!weir__engine_usable(engine)) {
        weir__error_at(error, WEIR_E_INVALID, PATH ".engine", "is no usable engine");
        return handle;
    }
    const size_t length = name != NULL ? strnlen(name, NAME_BYTES_MAX + 1) : 0;
    if (length == 0 || length > NAME_BYTES_MAX) {
        weir__error_at(error, WEIR_E_INVALID, PATH ".name",
                       "is \"%.40s\", must be 1 to %u bytes long", name != NULL ? name : "",
                       NAME_BYTES_MAX);
        return handle;
    }
    weir__mutex_lock(&engine->channels.lock);
    const uint64_t known = weir__namemap_find(&engine->channels.names, name);
    handle = known != 0 ? weir__channel_handle(&engine->channels, (uint32_t)known - 1)
                        : open_new(engine, name, error);
    weir__mutex_unlock(&engine->channels.lock);
    return handle;
}
