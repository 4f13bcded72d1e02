/*
 * backpressure - a fast reader, a slow writer with room for 16 lines: the reader never spins and
 * never loses a line. When the writer is full it asks once for room and ends its turn; the engine
 * tells it when the writer has worked off half.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <weir/weir.h>

enum { LINES = 1000, ROOM = 16 };

typedef struct line {
    int number;
} line;
WEIR_EVENT_TYPE(line, "backpressure.line");
WEIR_EMPTY_TYPE(begin, "backpressure.begin");

struct writer {
    int written, disorder;
};

static weir_status write_line(void *state, weir_turn *turn, const weir_event *event)
{
    struct writer *writer = state;
    const line *l = event->data;
    (void)turn;
    writer->disorder += l->number != writer->written;
    writer->written += 1;
    return WEIR_OK;
}

struct reader {
    weir_processor writer;
    int next, pauses;
};

/* Runs on `begin` and on each weir_room_type event alike: both mean "go on". */
static weir_status read_lines(void *state, weir_turn *turn, const weir_event *event)
{
    struct reader *reader = state;
    (void)event;
    while (reader->next < LINES) {
        const weir_status status =
            weir_turn_post(turn, reader->writer, WEIR_EVENT(line, .number = reader->next));
        if (status != WEIR_OK) {
            reader->pauses += 1;
            return status == WEIR_FULL ? weir_turn_want_room(turn, reader->writer, 0) : status;
        }
        reader->next += 1;
    }
    return WEIR_OK;
}

int main(void)
{
    struct writer writer = { 0, 0 };
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(NULL, &error);
    struct reader reader = { .writer = weir_processor_add(
                                 engine,
                                 WEIR_PROCESSOR(.name = "writer", .handler = write_line,
                                                .argument = &writer, .mailbox_max = ROOM),
                                 &error) };
    weir_processor reading = weir_processor_add(
        engine, WEIR_PROCESSOR(.name = "reader", .handler = read_lines, .argument = &reader),
        &error);
    weir_engine_start(engine, &error);

    if (error.status == WEIR_OK) {
        error.status = weir_engine_post(engine, reading, WEIR_EMPTY(begin));
    }

    weir_engine_destroy(engine); /* stops, and a stop drains: the whole conversation, to its end */
    printf("%d lines written, %d out of order\n", writer.written, writer.disorder);
    printf("the reader %s\n", reader.pauses > 0 ? "had to wait for room" : "never had to wait");
    return weir_error_print(&error);
}
