/*
 * frame_fuzz.c - any bytes as frames, of any format: the same frames wherever the bytes are cut,
 * one behind the other without a gap, and never more memory than the bound.
 *
 * The first bytes choose the format, the bounds, and where to cut.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include "connect/frame.h"

enum { HEAD = 5, READ_SIZE_MAX = 64 };

/* frame.c names them, and nobody here publishes anything. */
const weir_event_type weir_text_type, weir_bytes_type;

typedef struct sums {
    uint64_t frames, bad, bytes, last_end, order;
} sums;

static void look_at(sums *s, weir__frame_what what, const weir__frame *frame,
                    const weir__frame_config *config)
{
    FUZZ_PROMISE(frame->begin >= s->last_end && frame->end >= frame->begin);
    FUZZ_PROMISE(what == WEIR__FRAME_BAD || frame->size <= config->max);
    FUZZ_PROMISE((frame->text[0] == '\0') == (frame->why == WEIR__FRAME_GOOD));
    FUZZ_PROMISE(fuzz_is_harmless(frame->text, strlen(frame->text), false));
    s->last_end = frame->end;
    s->frames += what == WEIR__FRAME_READY;
    s->bad += what == WEIR__FRAME_BAD;
    for (size_t i = 0; what == WEIR__FRAME_READY && i < frame->size; i++) {
        s->order = s->order * 31 + (unsigned char)frame->data[i];
        s->bytes++;
    }
    s->order = s->order * 31 + (uint64_t)frame->why + frame->end;
}

static void drain(weir__framer *f, sums *s, uint32_t often)
{
    weir__frame frame;
    weir__frame_what what;
    while ((what = weir__framer_next(f, &frame)) != WEIR__FRAME_NONE) {
        if (often % 3 == 0) { /* it is asked for again, and in another place */
            size_t room;
            (void)weir__framer_room(f, &room);
            FUZZ_PROMISE(weir__framer_next(f, &frame) == what);
        }
        look_at(s, what, &frame, &f->config);
        weir__framer_take(f);
        FUZZ_PROMISE(weir__framer_done(f) <= s->last_end);
    }
}

static sums frames_of(const weir__frame_config *config, size_t read_size, const uint8_t *data,
                      size_t size, uint32_t piece)
{
    weir__framer f;
    sums s = { 0 };
    FUZZ_PROMISE(weir__framer_open(&f, config, read_size, 0));
    for (size_t at = 0; at < size;) {
        size_t room;
        char *into = weir__framer_room(&f, &room);
        FUZZ_PROMISE(into != NULL && room > 0);
        size_t some = piece > 0 ? 1 + (at * 7 + piece) % piece : room;
        some = some < room ? some : room;
        some = some < size - at ? some : size - at;
        memcpy(into, data + at, some);
        weir__framer_fed(&f, some);
        at += some;
        drain(&f, &s, piece);
        FUZZ_PROMISE(f.capacity <= config->max + 1 + 8 + read_size);
    }
    weir__framer_end(&f);
    drain(&f, &s, piece);
    FUZZ_PROMISE(f.frames == s.frames);
    weir__framer_close(&f);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD) {
        return 0;
    }
    const weir__frame_config config = {
        .format = data[0] % 3,
        .too_long = data[0] >> 2 & 1,
        .keep_cr = (data[0] >> 3 & 1) != 0,
        .length_order = data[0] >> 4 & 1,
        .length_bytes = 1 + data[1] % 8,
        .max = 1u + data[2],
    };
    const size_t read_size = 1u + data[3] % READ_SIZE_MAX;
    const sums whole = frames_of(&config, 8192, data + HEAD, size - HEAD, 0);
    const sums cut = frames_of(&config, read_size, data + HEAD, size - HEAD, 1u + data[4]);
    FUZZ_PROMISE(memcmp(&whole, &cut, sizeof(whole)) == 0);
    return 0;
}
