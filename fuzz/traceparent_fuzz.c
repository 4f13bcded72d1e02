/*
 * traceparent_fuzz.c - any text as a trace context: what is read and written again is the same, and
 * what is refused leaves nothing behind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include "weir/trace.h"

#define LENGTH (WEIR_TRACEPARENT_TEXT - 1u)

static bool is_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

static void promise_same(const char *text, size_t size, const weir_traceparent *read)
{
    char again[WEIR_TRACEPARENT_TEXT];
    weir_traceparent twice;
    memset(again, 'x', sizeof(again));
    weir_traceparent_text(read, again);
    FUZZ_PROMISE(memchr(again, '\0', sizeof(again)) == again + LENGTH);
    /* All but the version, which is the one that is written here. */
    FUZZ_PROMISE(size >= LENGTH && memcmp(again, "00", 2) == 0 &&
                 memcmp(again + 2, text + 2, LENGTH - 2) == 0);
    FUZZ_PROMISE(size == LENGTH || (memcmp(text, "00", 2) != 0 && text[LENGTH] == '-'));
    FUZZ_PROMISE(memcmp(text, "ff", 2) != 0);
    FUZZ_PROMISE(!is_zero(read->trace, sizeof(read->trace)) &&
                 !is_zero(read->parent, sizeof(read->parent)));
    FUZZ_PROMISE(weir_traceparent_read(again, LENGTH, &twice) == WEIR_OK);
    FUZZ_PROMISE(memcmp(&twice, read, sizeof(twice)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const weir_traceparent before = { .trace = { 1 }, .parent = { 2 }, .flags = 3 };
    weir_traceparent read = before;
    char *text = malloc(size > 0 ? size : 1); /* no more than that: ASan sees who reads on */
    FUZZ_PROMISE(text != NULL);
    if (size > 0) {
        memcpy(text, data, size);
    }
    if (weir_traceparent_read(text, size, &read) == WEIR_OK) {
        promise_same(text, size, &read);
    } else {
        FUZZ_PROMISE(memcmp(&read, &before, sizeof(read)) == 0);
    }
    free(text);
    return 0;
}
