/*
 * frame_test.c - frames are the same wherever the bytes were cut, and nothing that is fed makes the
 * buffer larger than its bound.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_support.h"

#include <string.h>

#include "connect/frame.h"

enum { TEXT_MAX = 64 * 1024 };

static const weir__frame_config lines = { .format = WEIR__FORMAT_LINES, .max = 16 };
static const weir__frame_config json = { .format = WEIR__FORMAT_JSON_LINES, .max = 64 };
static const weir__frame_config prefixed = { .format = WEIR__FORMAT_LENGTH_PREFIXED,
                                             .max = 16,
                                             .length_bytes = 4 };

/* All that came out, one a line: "[text] begin-end why". */
typedef struct seen {
    char text[TEXT_MAX];
    size_t length;
} seen;

static void see(seen *s, weir__frame_what what, const weir__frame *frame)
{
    char shown[128];
    assert_true(frame->size < sizeof(shown));
    for (size_t i = 0; i < frame->size; i++) {
        const char c = frame->data[i];
        shown[i] = (c >= 0 && c < 9) || c == 17 ? '.' : c;
    }
    const int n =
        snprintf(s->text + s->length, TEXT_MAX - s->length, "%s[%.*s] %llu-%llu %d\n",
                 what == WEIR__FRAME_BAD ? "bad " : "", (int)frame->size, shown,
                 (unsigned long long)frame->begin, (unsigned long long)frame->end, (int)frame->why);
    assert_true(n > 0 && s->length + (size_t)n < TEXT_MAX);
    s->length += (size_t)n;
    assert_true((frame->why == WEIR__FRAME_GOOD) == (frame->text[0] == '\0'));
}

static void drain(weir__framer *f, seen *s)
{
    weir__frame frame, again;
    weir__frame_what what;
    while ((what = weir__framer_next(f, &frame)) != WEIR__FRAME_NONE) {
        assert_int_equal(weir__framer_next(f, &again), what);
        assert_ptr_equal(again.data, frame.data);
        see(s, what, &frame);
        weir__framer_take(f);
    }
}

static void feed(weir__framer *f, const char *bytes, size_t size)
{
    while (size > 0) {
        size_t room;
        char *at = weir__framer_room(f, &room);
        assert_non_null(at);
        const size_t some = room < size ? room : size;
        memcpy(at, bytes, some);
        weir__framer_fed(f, some);
        bytes += some;
        size -= some;
        if (size > 0) {
            weir__frame frame;
            assert_int_equal(weir__framer_next(f, &frame), WEIR__FRAME_NONE);
        }
    }
}

/* The bytes, cut into pieces of `piece` after a first one of `first`. */
static void frames_of(const weir__frame_config *config, const char *bytes, size_t size,
                      size_t first, size_t piece, bool end, seen *s)
{
    weir__framer f;
    s->length = 0;
    s->text[0] = '\0';
    assert_true(weir__framer_open(&f, config, 8, 100));
    size_t at = 0;
    while (at < size) {
        size_t some = at == 0 && first > 0 ? first : piece;
        some = some < size - at ? some : size - at;
        size_t room;
        char *into = weir__framer_room(&f, &room);
        assert_non_null(into);
        some = some < room ? some : room;
        memcpy(into, bytes + at, some);
        weir__framer_fed(&f, some);
        at += some;
        drain(&f, s);
    }
    if (end) {
        weir__framer_end(&f);
        drain(&f, s);
    }
    assert_true(f.capacity <= config->max + 1 + 8 + 8);
    weir__framer_close(&f);
}

static void same_for_all_cuts(const weir__frame_config *config, const char *bytes, size_t size,
                              const char *expected)
{
    static seen s;
    for (size_t first = 1; first <= size; first++) {
        for (size_t piece = 1; piece <= size; piece++) {
            frames_of(config, bytes, size, first, piece, true, &s);
            assert_string_equal(s.text, expected);
        }
    }
}

static void lines_are_the_same_wherever_they_are_cut(void **unused)
{
    (void)unused;
    const char text[] = "one\n\ntwo\r\nthr\ree\n0123456789abcdef\n0123456789abcdef\r\nrest";
    same_for_all_cuts(&lines, text, sizeof(text) - 1,
                      "[one] 100-104 0\n[] 104-105 0\n[two] 105-110 0\n[thr\ree] 110-117 0\n"
                      "[0123456789abcdef] 117-134 0\n[0123456789abcdef] 134-152 0\n"
                      "[rest] 152-156 0\n");
}

static void a_line_that_is_too_long_is_dropped_or_cut_and_the_next_is_whole(void **unused)
{
    (void)unused;
    const char text[] = "0123456789abcdefX\n0123456789abcdefXYZ\r\n"
                        "0123456789012345678901234567890123456789\nok\n"
                        "0123456789012345678901234567890123456789";
    same_for_all_cuts(&lines, text, sizeof(text) - 1,
                      "bad [0123456789abcdef] 100-118 1\nbad [0123456789abcdef] 118-139 1\n"
                      "bad [0123456789012345] 139-180 1\n[ok] 180-183 0\n"
                      "bad [0123456789012345] 183-223 1\n");
    weir__frame_config cut = lines;
    cut.too_long = 1;
    same_for_all_cuts(&cut, text, sizeof(text) - 1,
                      "[0123456789abcdef] 100-118 1\n[0123456789abcdef] 118-139 1\n"
                      "[0123456789012345] 139-180 1\n[ok] 180-183 0\n"
                      "[0123456789012345] 183-223 1\n");
}

static void a_carriage_return_stays_if_asked(void **unused)
{
    (void)unused;
    weir__frame_config keep = lines;
    keep.keep_cr = true;
    same_for_all_cuts(&keep, "a\r\nb\n", 5, "[a\r] 100-103 0\n[b] 103-105 0\n");
    same_for_all_cuts(&lines, "a\r", 2, "[a\r] 100-102 0\n");
}

static void a_last_line_waits_for_its_newline_until_the_end(void **unused)
{
    (void)unused;
    weir__framer f;
    weir__frame frame;
    static seen s;
    frames_of(&lines, "one\ntwo", 7, 0, 7, false, &s);
    assert_string_equal(s.text, "[one] 100-104 0\n");
    assert_true(weir__framer_open(&f, &lines, 8, 0));
    feed(&f, "two", 3);
    assert_int_equal(weir__framer_next(&f, &frame), WEIR__FRAME_NONE);
    assert_true(weir__framer_partial(&f));
    assert_int_equal(weir__framer_done(&f), 0);
    weir__framer_end(&f);
    assert_int_equal(weir__framer_next(&f, &frame), WEIR__FRAME_READY);
    /* It was not taken, and the file grows again: the line is longer. */
    feed(&f, "3\n", 2);
    assert_int_equal(weir__framer_next(&f, &frame), WEIR__FRAME_READY);
    assert_int_equal(frame.size, 4);
    assert_memory_equal(frame.data, "two3", 4);
    weir__framer_take(&f);
    assert_int_equal(weir__framer_done(&f), 5);
    assert_false(weir__framer_partial(&f));
    weir__framer_close(&f);
}

static void json_lines_are_checked_and_blank_ones_passed_over(void **unused)
{
    (void)unused;
    const char text[] = "{\"a\":1}\n\n \t\r\n[1,2\n7\n\"x\"\r\nnull\n{\"a\":1}{}\n{\"a\":\n  \n{}";
    same_for_all_cuts(&json, text, sizeof(text) - 1,
                      "[{\"a\":1}] 100-108 0\nbad [[1,2] 113-118 2\n[7] 118-120 0\n"
                      "[\"x\"] 120-125 0\n[null] 125-130 0\nbad [{\"a\":1}{}] 130-140 2\n"
                      "bad [{\"a\":] 140-146 2\n[{}] 149-151 0\n");
}

static void deep_json_is_refused_and_does_not_end_the_process(void **unused)
{
    (void)unused;
    enum { DEEP = 200000 };
    weir__framer f;
    weir__frame frame;
    const weir__frame_config large = { .format = WEIR__FORMAT_JSON_LINES, .max = 1 << 20 };
    char *text = malloc(DEEP + 1);
    assert_non_null(text);
    memset(text, '[', DEEP);
    text[DEEP] = '\n';
    assert_true(weir__framer_open(&f, &large, 4096, 0));
    feed(&f, text, DEEP + 1);
    assert_int_equal(weir__framer_next(&f, &frame), WEIR__FRAME_BAD);
    assert_int_equal(frame.why, WEIR__FRAME_NOT_JSON);
    weir__framer_take(&f);
    assert_int_equal(f.not_json, 1);
    weir__framer_close(&f);
    free(text);
}

static void prefixed_frames_are_the_same_wherever_they_are_cut(void **unused)
{
    (void)unused;
    const char bytes[] = "\0\0\0\3abc\0\0\0\0\0\0\0\x10"
                         "0123456789abcdef\0\0\0\x11"
                         "0123456789abcdefX\0\0\0\1z\0\0\0\2c";
    same_for_all_cuts(&prefixed, bytes, sizeof(bytes) - 1,
                      "[abc] 100-107 0\n[] 107-111 0\n[0123456789abcdef] 111-131 0\n"
                      "bad [....] 131-152 1\n[z] 152-157 0\nbad [....c] 157-162 3\n");
}

static void a_length_has_any_width_and_order(void **unused)
{
    (void)unused;
    for (int width = 1; width <= 8; width++) {
        for (int little = 0; little < 2; little++) {
            weir__frame_config config = prefixed;
            config.length_bytes = width;
            config.length_order = little;
            char bytes[16] = { 0 };
            bytes[little ? 0 : width - 1] = 2;
            bytes[width] = 'h';
            bytes[width + 1] = 'i';
            weir__framer f;
            weir__frame frame;
            assert_true(weir__framer_open(&f, &config, 64, 0));
            feed(&f, bytes, (size_t)width + 2);
            assert_int_equal(weir__framer_next(&f, &frame), WEIR__FRAME_READY);
            assert_int_equal(frame.size, 2);
            assert_memory_equal(frame.data, "hi", 2);
            weir__framer_take(&f);
            assert_int_equal(weir__framer_done(&f), (uint64_t)width + 2);
            weir__framer_close(&f);
        }
    }
}

static void a_hostile_length_takes_no_memory_and_is_passed_over(void **unused)
{
    (void)unused;
    weir__frame_config wide = prefixed;
    wide.length_bytes = 8;
    weir__framer f;
    weir__frame frame;
    assert_true(weir__framer_open(&f, &wide, 64, 5));
    feed(&f, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    assert_int_equal(weir__framer_next(&f, &frame), WEIR__FRAME_BAD);
    assert_int_equal(frame.why, WEIR__FRAME_TOO_LONG);
    assert_int_equal(frame.end, UINT64_MAX);
    weir__framer_take(&f);
    for (int i = 0; i < 1000; i++) {
        feed(&f, "0123456789012345678901234567890123456789", 40);
        assert_int_equal(weir__framer_next(&f, &frame), WEIR__FRAME_NONE);
    }
    assert_true(f.capacity <= 16 + 1 + 8 + 64);
    /* Who begins again sees it again: it is not done with. */
    assert_int_equal(weir__framer_done(&f), 5);
    assert_true(weir__framer_partial(&f));
    weir__framer_close(&f);
}

static void frames_that_nobody_takes_leave_no_room(void **unused)
{
    (void)unused;
    weir__framer f;
    weir__frame frame;
    size_t room;
    uint64_t fed = 0, taken = 0;
    assert_true(weir__framer_open(&f, &lines, 8, 0));
    for (int i = 0; i < 1000; i++) {
        char *at = weir__framer_room(&f, &room);
        if (at == NULL) {
            break;
        }
        memset(at, '\n', room);
        weir__framer_fed(&f, room);
        fed += room;
    }
    assert_null(weir__framer_room(&f, &room));
    assert_int_equal(room, 0);
    while (weir__framer_next(&f, &frame) == WEIR__FRAME_READY) {
        weir__framer_take(&f);
        taken++;
    }
    assert_int_equal(taken, fed);
    assert_non_null(weir__framer_room(&f, &room));
    assert_int_equal(f.frames, fed);
    weir__framer_close(&f);
}

static void a_reset_forgets_what_waited_and_keeps_the_counts(void **unused)
{
    (void)unused;
    weir__framer f;
    weir__frame frame;
    assert_true(weir__framer_open(&f, &lines, 8, 0));
    feed(&f, "a\nb", 3);
    assert_int_equal(weir__framer_next(&f, &frame), WEIR__FRAME_READY);
    weir__framer_take(&f);
    weir__framer_reset(&f, 1000);
    assert_false(weir__framer_partial(&f));
    feed(&f, "c\n", 2);
    assert_int_equal(weir__framer_next(&f, &frame), WEIR__FRAME_READY);
    assert_int_equal(frame.begin, 1000);
    assert_int_equal(frame.size, 1);
    weir__framer_take(&f);
    assert_int_equal(f.frames, 2);
    weir__framer_close(&f);
    weir__framer_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_the_same_wherever_they_are_cut),
        cmocka_unit_test(a_line_that_is_too_long_is_dropped_or_cut_and_the_next_is_whole),
        cmocka_unit_test(a_carriage_return_stays_if_asked),
        cmocka_unit_test(a_last_line_waits_for_its_newline_until_the_end),
        cmocka_unit_test(json_lines_are_checked_and_blank_ones_passed_over),
        cmocka_unit_test(deep_json_is_refused_and_does_not_end_the_process),
        cmocka_unit_test(prefixed_frames_are_the_same_wherever_they_are_cut),
        cmocka_unit_test(a_length_has_any_width_and_order),
        cmocka_unit_test(a_hostile_length_takes_no_memory_and_is_passed_over),
        cmocka_unit_test(frames_that_nobody_takes_leave_no_room),
        cmocka_unit_test(a_reset_forgets_what_waited_and_keeps_the_counts),
    };
    return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
