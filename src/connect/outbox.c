/*
 * connect/outbox.c - what a sink has taken and not yet given to the kernel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/outbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum { FIRST_SIZES = 256 };

bool weir__outbox_open(weir__outbox *box, size_t capacity)
{
    memset(box, 0, sizeof(*box));
    box->ring = malloc(capacity);
    box->sizes = malloc(FIRST_SIZES * sizeof(*box->sizes));
    if (box->ring == NULL || box->sizes == NULL) {
        weir__outbox_close(box);
        return false;
    }
    box->capacity = capacity;
    box->sizes_capacity = FIRST_SIZES;
    return true;
}

void weir__outbox_close(weir__outbox *box)
{
    free(box->ring);
    free(box->sizes);
    memset(box, 0, sizeof(*box));
}

static bool grow_sizes(weir__outbox *box)
{
    if (box->count < box->sizes_capacity) {
        return true;
    }
    const size_t capacity = box->sizes_capacity * 2;
    uint32_t *sizes = malloc(capacity * sizeof(*sizes));
    if (sizes == NULL) {
        return false;
    }
    for (size_t i = 0; i < box->count; i++) {
        sizes[i] = box->sizes[(box->sizes_begin + i) % box->sizes_capacity];
    }
    free(box->sizes);
    box->sizes = sizes;
    box->sizes_begin = 0;
    box->sizes_capacity = capacity;
    return true;
}

static void put_bytes(weir__outbox *box, const void *data, size_t size)
{
    if (size == 0) {
        return;
    }
    const size_t at = (box->begin + box->used) % box->capacity;
    const size_t first = size < box->capacity - at ? size : box->capacity - at;
    memcpy(box->ring + at, data, first);
    if (size > first) {
        memcpy(box->ring, (const char *)data + first, size - first);
    }
    box->used += size;
}

weir_status weir__outbox_put(weir__outbox *box, const void *head, size_t head_size,
                             const void *data, size_t size, const void *tail, size_t tail_size)
{
    const size_t whole = head_size + size + tail_size;
    if (whole > box->capacity || whole > UINT32_MAX) {
        return WEIR_E_LIMIT;
    }
    if (whole > box->capacity - box->used) {
        return WEIR_FULL;
    }
    if (!grow_sizes(box)) {
        return WEIR_E_NOMEM;
    }
    put_bytes(box, head, head_size);
    put_bytes(box, data, size);
    put_bytes(box, tail, tail_size);
    box->sizes[(box->sizes_begin + box->count) % box->sizes_capacity] = (uint32_t)whole;
    box->count++;
    return WEIR_OK;
}

unsigned weir__outbox_look(const weir__outbox *box, size_t most, uv_buf_t out[2])
{
    const size_t left = box->used - box->sent;
    const size_t size = left < most ? left : most;
    if (size == 0) {
        return 0;
    }
    const size_t at = (box->begin + box->sent) % box->capacity;
    const size_t first = size < box->capacity - at ? size : box->capacity - at;
    out[0] = uv_buf_init(box->ring + at, (unsigned)first);
    if (size == first) {
        return 1;
    }
    out[1] = uv_buf_init(box->ring, (unsigned)(size - first));
    return 2;
}

size_t weir__outbox_first(const weir__outbox *box)
{
    return box->count == 0 ? 0 : box->sizes[box->sizes_begin] - box->sent;
}

size_t weir__outbox_took(weir__outbox *box, size_t bytes)
{
    WEIR_ASSERT(bytes <= box->used - box->sent);
    size_t ended = 0;
    box->sent += bytes;
    while (box->count > 0 && box->sent >= box->sizes[box->sizes_begin]) {
        const size_t size = box->sizes[box->sizes_begin];
        box->sent -= size;
        box->used -= size;
        box->begin = (box->begin + size) % box->capacity;
        box->sizes_begin = (box->sizes_begin + 1) % box->sizes_capacity;
        box->count--;
        ended++;
    }
    return ended;
}

void weir__outbox_rewind(weir__outbox *box)
{
    box->sent = 0;
}

weir_status weir__outbox_flushed(const weir__outbox *box, weir_component *self)
{
    if (box->count == 0) {
        return WEIR_OK;
    }
    weir_component_wake(self);
    return WEIR_FULL;
}

void weir__outbox_report(const weir__outbox *box, weir_component *self)
{
    char text[96];
    if (box->count > 0) {
        snprintf(text, sizeof(text), "%zu events were not sent", box->count);
        weir_component_report(self, WEIR_E_FAILED, text);
    }
}
