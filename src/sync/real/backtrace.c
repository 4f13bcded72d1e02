/*
 * sync/real/backtrace.c - backtrace(3), and where a signal hit.
 *
 * The C library writes a symbol to a descriptor only: it goes through a pipe, so that a line is
 * written in one piece and looks like ours.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "sync/real/backtrace.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/line.h"
#include "sync/crash.h"

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else /* a C library without it: where it hit, and who called that */
#define backtrace(frames, most) ((void)(frames), 0)
#define backtrace_symbols_fd(frames, count, descriptor) ((void)0)
#endif

#define FRAMES_MAX 512u
#define LINES_MAX 64u

typedef struct registers {
    uintptr_t instruction;
    uintptr_t stack;
    uintptr_t caller; /* if the instruction is the first of a function, or none at all */
} registers;

static registers registers_of(const void *frame)
{
    registers at = { 0 };
    const ucontext_t *context = frame;
#if defined(__x86_64__)
    at.instruction = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    at.stack = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    at.instruction = (uintptr_t)context->uc_mcontext.pc;
    at.stack = (uintptr_t)context->uc_mcontext.sp;
    at.caller = (uintptr_t)context->uc_mcontext.regs[30];
#else
    (void)context;
#endif
    return at;
}

uintptr_t weir__frame_stack(const void *frame)
{
    return registers_of(frame).stack;
}

void weir__backtrace_load(void)
{
    /* Its first call loads the unwinder. */
    void *frame[1];
    (void)backtrace(frame, 1);
}

/* "/bin/shop(on_order+0x1a)[0x55d0c8b512f5]", or the address alone. */
static void put_symbol(weir__line *line, void *address, const int *pipe)
{
    char text[1024];
    backtrace_symbols_fd(&address, 1, pipe[1]);
    const ssize_t length = read(pipe[0], text, sizeof(text) - 1);
    if (length <= 1) {
        weir__line_hex(line, (uintptr_t)address);
        return;
    }
    text[text[length - 1] == '\n' ? length - 1 : length] = '\0';
    weir__line_text(line, text);
    while (read(pipe[0], text, sizeof(text)) > 0) { /* of a very long name: not the next one's */
    }
}

/* A function that calls itself is one line. */
static void write_frame(uint32_t number, void *address, uint32_t times, const int *pipe)
{
    static weir__line line; /* one thread reports at a time, and its stack is small */
    line.length = 0;
    weir__line_text(&line, number < 10 ? "     " : "    ");
    weir__line_number(&line, number);
    weir__line_text(&line, "  ");
    put_symbol(&line, address, pipe);
    if (times > 1) {
        weir__line_text(&line, " ");
        weir__line_number(&line, times);
        weir__line_text(&line, " times");
    }
    weir__line_end(&line);
    weir__crash_write(line.text, line.length);
}

void weir__backtrace_write(const void *frame)
{
    static const char title[] = "  stack, innermost first:\n";
    static const char more[] = "        ...\n";
    static void *frames[FRAMES_MAX];
    const registers at = registers_of(frame);
    int pipe[2] = { -1, -1 };
    (void)pipe2(pipe, O_CLOEXEC | O_NONBLOCK);
    weir__crash_write(title, sizeof(title) - 1);
    const uint32_t count = (uint32_t)backtrace(frames, FRAMES_MAX);
    uint32_t first = 0;
    while (first < count && (uintptr_t)frames[first] != at.instruction) {
        first++;
    }
    if (first + 1 >= count && at.stack != 0) {
        /* The unwinder knows nothing of this place, as after a call through a wild pointer. */
        write_frame(1, (void *)at.instruction, 1, pipe);
        const uintptr_t caller = at.caller != 0 ? at.caller : *(const uintptr_t *)at.stack;
        write_frame(2, (void *)caller, 1, pipe);
        first = count;
    }
    uint32_t i = first;
    for (uint32_t number = 1; i < count && number <= LINES_MAX; number++) {
        uint32_t next = i + 1;
        while (next < count && frames[next] == frames[i]) {
            next++;
        }
        write_frame(number, frames[i], next - i, pipe);
        i = next;
    }
    if (count == FRAMES_MAX || i < count) {
        weir__crash_write(more, sizeof(more) - 1);
    }
    close(pipe[0]);
    close(pipe[1]);
}

uint32_t weir__backtrace_take(const void *frame, void **frames, uint32_t most)
{
    const uintptr_t instruction = registers_of(frame).instruction;
    const uint32_t count = (uint32_t)backtrace(frames, (int)most);
    uint32_t first = 0;
    while (first < count && (uintptr_t)frames[first] != instruction) {
        first++;
    }
    if (first == count) { /* the unwinder did not find its way out of the signal handler */
        frames[0] = (void *)instruction;
        return instruction != 0 && most > 0 ? 1 : 0;
    }
    memmove(frames, frames + first, (count - first) * sizeof(*frames));
    return count - first;
}

void weir__backtrace_text(void *address, char *out, size_t size)
{
    weir__line line = { .length = 0 };
    int pipe[2] = { -1, -1 };
    (void)pipe2(pipe, O_CLOEXEC | O_NONBLOCK);
    put_symbol(&line, address, pipe);
    close(pipe[0]);
    close(pipe[1]);
    line.text[line.length] = '\0';
    /* "/usr/bin/shop(on_order+0x1a)[0x55d0c8b512f5]": neither the folder nor the number. */
    size_t begin = strcspn(line.text, "(");
    const size_t end = begin + strcspn(line.text + begin, "[");
    while (begin > 0 && line.text[begin - 1] != '/') {
        begin--;
    }
    snprintf(out, size, "%.*s", (int)(end - begin), line.text + begin);
}
