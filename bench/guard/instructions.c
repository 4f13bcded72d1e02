/*
 * guard/instructions.c - the paths, for callgrind: it writes a profile at each guard_mark
 * (--dump-before), so that every second one has what a path costs and nothing else.
 *
 * Prints a line of JSON: what this was compiled by, which callgrind's counts depend on. Then one a
 * path, in the order of the marks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "guard/scene.h"

#if defined(__clang__)
#define COMPILER "clang"
#define COMPILER_MAJOR __clang_major__
#elif defined(__GNUC__)
#define COMPILER "gcc"
#define COMPILER_MAJOR __GNUC__
#else
#define COMPILER "cc"
#define COMPILER_MAJOR 0
#endif

/* Callgrind knows it by its name. */
void guard_mark(void);
__attribute__((noinline)) void guard_mark(void)
{
    __asm__ __volatile__("");
}

static void run(const guard_path *path)
{
    guard_run(path, guard_mark);
    printf("{\"path\": \"%s\", \"events\": %u}\n", path->name, path->rounds * path->events);
}

int main(int argc, char **argv)
{
    printf("{\"compiler\": \"%s-%d %s %s\"}\n", COMPILER, COMPILER_MAJOR, GUARD_CPU, GUARD_BUILD);
    return guard_main(argc, argv, run);
}
