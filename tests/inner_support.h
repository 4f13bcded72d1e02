/*
 * inner_support.h - what the tests of the inner rooms (base, sync, queue) share: an allocator that
 * counts, checks sizes and refuses on demand; a crew of threads that begin together; a child that
 * is expected to abort; loads that shrink under a sanitizer.
 *
 * Nothing here asserts on another thread than the test's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_INNER_SUPPORT_H
#define WEIR_TEST_INNER_SUPPORT_H

#include "test_support.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "sync/atomic.h"
#include "sync/thread.h"

/* How much of a load to run: all of it, or a part where it would only take time. */
static inline uint32_t test_load(uint32_t full)
{
    const bool fast = TEST_SANITIZED || getenv("WEIR_TEST_FAST") != NULL;
    return fast && full > 10 ? full / 10 : full;
}

/* ---- an allocator that counts and refuses ---- */

enum { TEST_MEMORY_HEADER = 128 }; /* keeps the alignment of a cache line */

typedef struct test_memory {
    weir__atomic_u32 calls;
    weir__atomic_u32 refused;
    uint32_t refuse_from;   /* calls from this one on, counted from 1, give NULL; 0: never */
    weir__atomic_u64 bytes; /* out */
    weir__atomic_u32 wrong; /* releases whose size is not what was allocated */
    weir_allocator allocator;
} test_memory;

static inline void *test_memory_allocate(void *context, size_t size, size_t alignment)
{
    test_memory *memory = context;
    const uint32_t call = weir__add(&memory->calls, 1, relaxed) + 1;
    if (memory->refuse_from != 0 && call >= memory->refuse_from) {
        weir__add(&memory->refused, 1, relaxed);
        return NULL;
    }
    char *base = NULL;
    if (alignment > TEST_MEMORY_HEADER ||
        posix_memalign((void **)&base, TEST_MEMORY_HEADER, size + TEST_MEMORY_HEADER) != 0) {
        return NULL;
    }
    memset(base, 0xa5, size + TEST_MEMORY_HEADER); /* who counts on zeros has to write them */
    memcpy(base, &size, sizeof(size));
    weir__add(&memory->bytes, size, relaxed);
    return base + TEST_MEMORY_HEADER;
}

static inline void test_memory_release(void *context, void *address, size_t size)
{
    test_memory *memory = context;
    char *base = (char *)address - TEST_MEMORY_HEADER;
    size_t allocated;
    memcpy(&allocated, base, sizeof(allocated));
    if (allocated != size) {
        weir__add(&memory->wrong, 1, relaxed);
    }
    weir__sub(&memory->bytes, allocated, relaxed);
    free(base);
}

static inline void test_memory_open(test_memory *memory, uint32_t refuse_from)
{
    memset(memory, 0, sizeof(*memory));
    memory->refuse_from = refuse_from;
    memory->allocator = (weir_allocator){ test_memory_allocate, test_memory_release, memory };
}

/* Everything came back, and by its size. */
static inline void test_memory_check(test_memory *memory)
{
    assert_int_equal(0, weir__load(&memory->bytes, relaxed));
    assert_int_equal(0, weir__load(&memory->wrong, relaxed));
}

/* ---- a crew of threads ---- */

enum { CREW_MAX = 8 };

struct crew;

typedef struct crew_member {
    struct crew *crew;
    void *work_on;
    weir__os_thread thread;
} crew_member;

typedef struct crew {
    weir__atomic_u32 ready; /* how many have reached the line */
    uint32_t count;
    void (*work)(void *work_on);
    crew_member members[CREW_MAX];
} crew;

static inline void crew_run_member(void *argument)
{
    crew_member *member = argument;
    crew *c = member->crew;
    weir__add(&c->ready, 1, seq_cst);
    while (weir__load(&c->ready, seq_cst) < c->count) { /* ends: all of them are started */
        weir__yield();
    }
    c->work(member->work_on);
}

/* Starts one thread per member; they begin `work` together. Members lie `stride` bytes apart, 0:
 * all work on the same. */
static inline void crew_start(crew *c, void (*work)(void *), void *members, size_t stride,
                              uint32_t count)
{
    assert_true(count <= CREW_MAX);
    memset(c, 0, sizeof(*c));
    c->count = count;
    c->work = work;
    for (uint32_t i = 0; i < count; i++) {
        c->members[i].crew = c;
        c->members[i].work_on = (char *)members + i * stride;
        const int failure =
            weir__os_thread_start(&c->members[i].thread, crew_run_member, &c->members[i]);
        assert_int_equal(0, failure);
    }
}

static inline void crew_join(crew *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        weir__os_thread_join(&c->members[i].thread);
    }
}

/* ---- waiting ---- */

#define TEST_PATIENCE (40 * WEIR_S) /* longer than any wait that succeeds, shorter than meson's */

/* Looks again and again until `condition` holds. False: it did not in time. */
#define TEST_AWAIT(condition)                                                                      \
    __extension__({                                                                                \
        const weir_ns await_end = weir__clock_now() + TEST_PATIENCE;                               \
        while (!(condition) && weir__clock_now() < await_end) {                                    \
            weir__yield();                                                                         \
        }                                                                                          \
        (condition);                                                                               \
    })

/* From outside: whether a thread of this process sleeps ('S' in /proc). */
static inline bool test_thread_sleeps(int32_t id)
{
    char path[64];
    char text[512];
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)id);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    const size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *end = strrchr(text, ')');
    return end != NULL && end[1] == ' ' && end[2] == 'S';
}

/* ---- a child that must abort ---- */

/* True if `act` ends a child process by SIGABRT. Call it while there is one thread. */
static inline bool test_aborts(void (*act)(void))
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere >= 0) {
            (void)dup2(nowhere, STDERR_FILENO);
        }
        (void)signal(SIGABRT, SIG_DFL);
        act();
        _exit(0);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGABRT;
}

#endif /* WEIR_TEST_INNER_SUPPORT_H */
