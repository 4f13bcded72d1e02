/*
 * admin_frame_fuzz.c - any bytes as a line to the admin socket: words that are texts, or an error
 * that can be printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include "admin/frame.h"

static void promise_error(const char *why)
{
    char text[512];
    fuzz_sink sink = { 0 };
    FUZZ_PROMISE(why[0] != '\0' && fuzz_is_harmless(why, strlen(why), false));
    weir__frame_error(WEIR_E_INVALID, why, text, sizeof(text));
    FUZZ_PROMISE(strchr(text, '\n') == NULL && strstr(text, "WEIR_E_INVALID") != NULL);
    FUZZ_PROMISE(fuzz_take(&sink, text, strlen(text)) && !sink.quoted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[256] = "";
    weir__frame frame;
    if (!weir__frame_read((const char *)data, size, &frame, why, sizeof(why))) {
        promise_error(why);
        return 0;
    }
    FUZZ_PROMISE(frame.count > 0 && frame.count <= WEIR__FRAME_WORDS_MAX);
    size_t bytes = 0;
    for (size_t i = 0; i < frame.count; i++) {
        FUZZ_PROMISE(frame.words[i] != NULL);
        bytes += strlen(frame.words[i]);
    }
    FUZZ_PROMISE(bytes <= size);
    weir__frame_close(&frame);
    return 0;
}
