/*
 * sync/backtrace_test.c - the stack in a crash report, line by line.
 *
 * This program has a backtrace(3) and a backtrace_symbols_fd(3) of its own in front of the C
 * library's, so that every stack can be had, and a register frame that was never pushed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "inner_support.h"
#include "stderr_support.h"

#include <execinfo.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "sync/real/backtrace.h"

enum { FRAMES_MAX = 512, LINES_MAX = 64, TEXT_MAX = 1 << 16, SYMBOL_MAX = 1023 };

/* ---- the C library's half ---- */

static struct {
    void *frames[FRAMES_MAX];
    int count;
    const char *symbol; /* written for every address; NULL: its number */
    int calls, most;    /* of backtrace: how often, and with how much room */
    bool wrong;         /* a symbol was not asked for as it should be */
    bool pipe_is_open;
} script;

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved. */

int backtrace(void **frames, int most)
{
    script.calls++;
    script.most = most;
    const int count = script.count < most ? script.count : most;
    for (int i = 0; i < count; i++) {
        frames[i] = script.frames[i];
    }
    if (count > 0 && count < most) {
        frames[count] = frames[count - 1]; /* what lies behind is not to be looked at */
    }
    return count;
}

void backtrace_symbols_fd(void *const *frames, int count, int descriptor)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "f%zx\n", (size_t)(uintptr_t)frames[0]);
    const char *symbol = script.symbol != NULL ? script.symbol : text;
    script.pipe_is_open = fcntl(descriptor, F_GETFD) >= 0;
    const bool as_it_should = (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0 &&
                              (fcntl(descriptor, F_GETFL) & O_NONBLOCK) != 0;
    script.wrong = script.wrong || count != 1 || (script.pipe_is_open && !as_it_should);
    const ssize_t ignored = write(descriptor, symbol, strlen(symbol));
    (void)ignored;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

static void *address(size_t number)
{
    return (void *)(uintptr_t)number;
}

static void set_frames(size_t count, const size_t *numbers)
{
    memset(&script, 0, sizeof(script));
    script.count = (int)count;
    for (size_t i = 0; i < count; i++) {
        script.frames[i] = address(numbers[i]);
    }
}
#define SET_FRAMES(...)                                                                            \
    set_frames(sizeof((size_t[]){ __VA_ARGS__ }) / sizeof(size_t), (size_t[]){ __VA_ARGS__ })

/* ---- where it hit ---- */

enum { HIT = 0x100, CALLER = 0xca11 };

/* Its only word is who called, as after a call of nothing. */
static uintptr_t stack[1] = { CALLER };

static ucontext_t frame_at(size_t instruction, const void *top)
{
    ucontext_t frame;
    memset(&frame, 0, sizeof(frame));
#if defined(__x86_64__)
    frame.uc_mcontext.gregs[REG_RIP] = (greg_t)instruction;
    frame.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)top;
#elif defined(__aarch64__)
    frame.uc_mcontext.pc = instruction;
    frame.uc_mcontext.sp = (uintptr_t)top;
    frame.uc_mcontext.regs[30] = CALLER;
#endif
    return frame;
}

/* ---- what it writes ---- */

static char said[TEXT_MAX];

static int lowest_free_descriptor(void)
{
    const int lowest = dup(STDIN_FILENO);
    assert_true(lowest >= 0);
    (void)close(lowest);
    return lowest;
}

/* The table of descriptors is full. */
static void write_starved(const void *frame)
{
    struct rlimit before;
    assert_int_equal(0, getrlimit(RLIMIT_NOFILE, &before));
    const struct rlimit full = { (rlim_t)lowest_free_descriptor(), before.rlim_max };
    assert_int_equal(0, setrlimit(RLIMIT_NOFILE, &full));
    weir__backtrace_write(frame);
    assert_int_equal(0, setrlimit(RLIMIT_NOFILE, &before));
}

/* Standard error goes elsewhere meanwhile. */
static void write_by(void (*writer)(const void *), const ucontext_t *frame)
{
    const test_paper paper = test_hear();
    writer(frame);
    test_heard(paper, said, sizeof(said));
    assert_false(script.wrong);
}

static void write_stack(const ucontext_t *frame)
{
    write_by(weir__backtrace_write, frame);
}

static void write_stack_at_hit(void)
{
    const ucontext_t frame = frame_at(HIT, stack);
    write_stack(&frame);
}

#define TITLE "  stack, innermost first:\n"

/* Frames HIT, HIT + 1 and so on behind two of the report's own. */
static void set_many(uint32_t count)
{
    SET_FRAMES(1, 2);
    script.count += (int)count;
    for (uint32_t i = 0; i < count; i++) {
        script.frames[2 + i] = address(HIT + i);
    }
}

static void expect_many(uint32_t count, const char *end)
{
    static char expected[TEXT_MAX];
    size_t length = (size_t)snprintf(expected, sizeof(expected), "%s", TITLE);
    for (uint32_t i = 0; i < count; i++) {
        length += (size_t)snprintf(expected + length, sizeof(expected) - length, "    %2u  f%x\n",
                                   i + 1, HIT + i);
    }
    (void)snprintf(expected + length, sizeof(expected) - length, "%s", end);
    assert_string_equal(expected, said);
}

static void the_stack_begins_where_the_signal_hit(void **state)
{
    (void)state;
    SET_FRAMES(0xa, 0xb, HIT, 0xc, 0xd);
    write_stack_at_hit();
    assert_string_equal(TITLE "     1  f100\n     2  fc\n     3  fd\n", said);
    SET_FRAMES(HIT, 0xc);
    write_stack_at_hit();
    assert_string_equal(TITLE "     1  f100\n     2  fc\n", said);
}

static void the_stack_pointer_is_the_one_that_was_interrupted(void **state)
{
    (void)state;
    const ucontext_t frame = frame_at(HIT, stack);
    assert_int_equal((uintptr_t)stack, weir__frame_stack(&frame));
}

static void a_place_that_the_unwinder_does_not_know_is_shown_with_its_caller(void **state)
{
    (void)state;
    SET_FRAMES(0xa, 0xb);
    write_stack_at_hit();
    assert_string_equal(TITLE "     1  f100\n     2  fca11\n", said);
    SET_FRAMES(0xa, 0xb, HIT);
    write_stack_at_hit();
    assert_string_equal(TITLE "     1  f100\n     2  fca11\n", said);
    SET_FRAMES(0);
    script.count = 0;
    write_stack_at_hit();
    assert_string_equal(TITLE "     1  f100\n     2  fca11\n", said);
}

static void without_a_stack_nobody_looks_for_a_caller_there(void **state)
{
    (void)state;
    const ucontext_t frame = frame_at(HIT, NULL);
    SET_FRAMES(0xa, 0xb);
    write_stack(&frame);
    assert_string_equal(TITLE, said);
    SET_FRAMES(0xa, 0xb, HIT);
    write_stack(&frame);
    assert_string_equal(TITLE "     1  f100\n", said);
}

static void a_function_that_calls_itself_is_one_line(void **state)
{
    (void)state;
    SET_FRAMES(0xa, HIT, 0xb, 0xb, 0xc, 0xd, 0xd, 0xd, 0xb, 0xb);
    write_stack_at_hit();
    assert_string_equal(TITLE "     1  f100\n     2  fb 2 times\n     3  fc\n     4  fd 3 times\n"
                              "     5  fb 2 times\n",
                        said);
}

static void a_stack_of_many_lines_is_cut(void **state)
{
    (void)state;
    set_many(12);
    write_stack_at_hit();
    expect_many(12, "");
    set_many(LINES_MAX - 1);
    write_stack_at_hit();
    expect_many(LINES_MAX - 1, "");
    set_many(LINES_MAX);
    write_stack_at_hit();
    expect_many(LINES_MAX, "");
    set_many(LINES_MAX + 1);
    write_stack_at_hit();
    expect_many(LINES_MAX, "        ...\n");
}

static void a_stack_that_is_too_deep_to_be_seen_says_so(void **state)
{
    (void)state;
    SET_FRAMES(HIT);
    script.count = FRAMES_MAX - 1;
    for (int i = 1; i < FRAMES_MAX; i++) {
        script.frames[i] = address(0xb);
    }
    write_stack_at_hit();
    assert_string_equal(TITLE "     1  f100\n     2  fb 510 times\n", said);
    script.count = FRAMES_MAX;
    write_stack_at_hit();
    assert_string_equal(TITLE "     1  f100\n     2  fb 511 times\n        ...\n", said);
    assert_int_equal(FRAMES_MAX, script.most);
}

/* ---- symbols ---- */

static void an_address_without_a_symbol_is_shown_as_it_is(void **state)
{
    (void)state;
    static const char *const nothing[] = { "", "\n" };
    for (size_t i = 0; i < 2; i++) {
        SET_FRAMES(HIT, 0xbeef);
        script.symbol = nothing[i];
        write_stack_at_hit();
        assert_string_equal(TITLE "     1  0x100\n     2  0xbeef\n", said);
    }
}

static void a_symbol_is_shown_whole_up_to_1023_bytes(void **state)
{
    (void)state;
    static char symbol[2 * SYMBOL_MAX];
    static char expected[TEXT_MAX];
    static const char *const small[] = { "x\n", "xy", "xy\n" };
    for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
        SET_FRAMES(HIT, 0xb);
        script.symbol = small[i];
        write_stack_at_hit();
        const int length = (int)strcspn(small[i], "\n");
        (void)snprintf(expected, sizeof(expected), TITLE "     1  %.*s\n     2  %.*s\n", length,
                       small[i], length, small[i]);
        assert_string_equal(expected, said);
    }
    memset(symbol, 'x', sizeof(symbol) - 1);
    SET_FRAMES(HIT, 0xb); /* it and its newline fit */
    symbol[SYMBOL_MAX - 1] = '\n';
    symbol[SYMBOL_MAX] = '\0';
    script.symbol = symbol;
    write_stack_at_hit();
    (void)snprintf(expected, sizeof(expected), TITLE "     1  %.*s\n     2  %.*s\n", SYMBOL_MAX - 1,
                   symbol, SYMBOL_MAX - 1, symbol);
    assert_string_equal(expected, said);

    memset(symbol, 'x', sizeof(symbol) - 1);
    memset(symbol + SYMBOL_MAX, 'y', sizeof(symbol) - 1 - SYMBOL_MAX);
    SET_FRAMES(HIT, 0xb); /* what does not fit is not the next line's */
    script.symbol = symbol;
    write_stack_at_hit();
    (void)snprintf(expected, sizeof(expected), TITLE "     1  %.*s\n     2  %.*s\n", SYMBOL_MAX,
                   symbol, SYMBOL_MAX, symbol);
    assert_string_equal(expected, said);
}

/* ---- descriptors ---- */

static int open_descriptors(void)
{
    int count = 0;
    for (int i = 0; i < 256; i++) {
        count += fcntl(i, F_GETFD) >= 0;
    }
    return count;
}

static void no_descriptor_stays_open(void **state)
{
    (void)state;
    const int before = open_descriptors();
    SET_FRAMES(HIT, 0xb);
    write_stack_at_hit();
    assert_true(script.pipe_is_open);
    assert_int_equal(before, open_descriptors());
}

static void without_descriptors_for_a_pipe_there_are_bare_addresses(void **state)
{
    (void)state;
    const ucontext_t frame = frame_at(HIT, stack);
    SET_FRAMES(HIT, 0xb, 0xb);
    write_by(write_starved, &frame);
    assert_string_equal(TITLE "     1  0x100\n     2  0xb 2 times\n", said);
    assert_false(script.pipe_is_open);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        assert_true(fcntl(i, F_GETFD) >= 0); /* those that are no pipe of ours stay open */
    }
}

static void loading_asks_for_one_frame(void **state)
{
    (void)state;
    SET_FRAMES(0xa, 0xb);
    weir__backtrace_load();
    assert_int_equal(1, script.calls);
    assert_int_equal(1, script.most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stack_begins_where_the_signal_hit),
        cmocka_unit_test(the_stack_pointer_is_the_one_that_was_interrupted),
        cmocka_unit_test(a_place_that_the_unwinder_does_not_know_is_shown_with_its_caller),
        cmocka_unit_test(without_a_stack_nobody_looks_for_a_caller_there),
        cmocka_unit_test(a_function_that_calls_itself_is_one_line),
        cmocka_unit_test(a_stack_of_many_lines_is_cut),
        cmocka_unit_test(a_stack_that_is_too_deep_to_be_seen_says_so),
        cmocka_unit_test(an_address_without_a_symbol_is_shown_as_it_is),
        cmocka_unit_test(a_symbol_is_shown_whole_up_to_1023_bytes),
        cmocka_unit_test(no_descriptor_stays_open),
        cmocka_unit_test(without_descriptors_for_a_pipe_there_are_bare_addresses),
        cmocka_unit_test(loading_asks_for_one_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
