/*
 * blocks - large payloads without a copy. One is written in place, into memory that weir reserved;
 * the other is the application's own memory, read by two processors and freed after the last.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <weir/weir.h>

enum { SIZE = 100000 };

static weir_status count_marks(void *state, weir_turn *turn, const weir_event *event)
{
    const char *bytes = event->data; /* read only, and valid until this handler returns */
    int *marks = state;
    (void)turn;
    for (uint32_t i = 0; i < event->size; i++) {
        *marks += bytes[i] == '#';
    }
    return WEIR_OK;
}

/* reserve, write in place, commit: that gives our reference away, whatever it answers. */
static weir_status send_reserved(weir_engine *engine, weir_processor to)
{
    weir_event event = { .type = &weir_bytes_type, .size = SIZE };
    const weir_status status = weir_block_reserve(engine, SIZE, &event.block);
    if (status != WEIR_OK) {
        return status; /* E_NOMEM: the bounded pool is used up; it never waits */
    }
    event.data = memset(weir_block_data(event.block), '#', SIZE); /* no copy from here on */
    return weir_engine_commit(engine, to, &event);
}

/* Here one would free or unmap it. Runs once, on the thread of the last reader. */
static void give_back(void *context, void *data)
{
    (void)data;
    *(int *)context += 1;
}

/* adopt, post to each, release: the posts share the block. */
static weir_status send_own(weir_engine *engine, const weir_processor to[2], int *returns)
{
    static char own[SIZE] = "###"; /* might be a mapped file, or a device's buffer */
    weir_event event = { .type = &weir_bytes_type, .size = SIZE, .data = own };
    weir_status status = weir_block_adopt(engine, own, SIZE, give_back, returns, &event.block);
    for (int i = 0; i < 2 && status == WEIR_OK; i++) {
        status = weir_engine_post(engine, to[i], &event);
    }
    weir_block_release(event.block); /* NULL if adopt failed: a no-op */
    return status;
}

int main(void)
{
    int marks[2] = { 0, 0 };
    int returns = 0;
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(WEIR_ENGINE(.threads = 2), &error);
    weir_processor readers[2];
    for (int i = 0; i < 2; i++) {
        readers[i] = weir_processor_add(
            engine, WEIR_PROCESSOR(.handler = count_marks, .argument = &marks[i]), &error);
    }
    weir_engine_start(engine, &error);

    if (error.status == WEIR_OK) {
        error.status = send_reserved(engine, readers[0]);
    }
    if (error.status == WEIR_OK) {
        error.status = send_own(engine, readers, &returns);
    }

    weir_engine_destroy(engine); /* drains first */
    printf("the readers found %d and %d marks\n", marks[0], marks[1]);
    printf("own memory came back %d time(s)\n", returns);
    return weir_error_print(&error);
}
