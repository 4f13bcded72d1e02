/*
 * crash_stack_test.c - the stack on which a thread's fatal signals are handled, from begin to end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>

#include "sync/crash.h"
#include "test_support.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* What the kernel needs for a signal on this machine; 0: it does not say. In front of the C
 * library's. */
static unsigned long kernel_says = 2048;

unsigned long getauxval(unsigned long type)
{
    return type == AT_MINSIGSTKSZ ? kernel_says : 0;
}

static char own_memory[65536]; /* of the thread's own stack for signals */

static stack_t stack_now(void)
{
    stack_t now;
    memset(&now, 0, sizeof(now));
    assert_int_equal(0, sigaltstack(NULL, &now));
    return now;
}

static void set_stack(void *memory)
{
    const stack_t stack = { .ss_sp = memory,
                            .ss_size = sizeof(own_memory),
                            .ss_flags = memory == NULL ? SS_DISABLE : 0 };
    assert_int_equal(0, sigaltstack(&stack, NULL));
}

static void *make(void)
{
    void *memory = aligned_alloc(64, weir__crash_stack_size());
    assert_non_null(memory);
    return memory;
}

static void a_thread_without_one_has_ours_and_none_again(void **state)
{
    (void)state;
    char *memory = make();
    set_stack(NULL);
    weir__crash_stack_begin(memory);
    const stack_t now = stack_now();
    assert_int_equal(0, now.ss_flags & SS_DISABLE);
    assert_in_range((uintptr_t)now.ss_sp, (uintptr_t)memory, (uintptr_t)memory + 1024);
    assert_int_equal((uintptr_t)memory + weir__crash_stack_size(),
                     (uintptr_t)now.ss_sp + now.ss_size);
    assert_true(now.ss_size >= 65536);
    weir__crash_stack_end(memory);
    assert_int_equal(SS_DISABLE, stack_now().ss_flags & SS_DISABLE);
    free(memory);
}

static void one_that_was_there_before_comes_back(void **state)
{
    (void)state;
    void *memory = make();
    set_stack(own_memory);
    weir__crash_stack_begin(memory);
    assert_ptr_not_equal(own_memory, stack_now().ss_sp);
    weir__crash_stack_end(memory);
    assert_ptr_equal(own_memory, stack_now().ss_sp);
    set_stack(NULL);
    free(memory);
}

static void one_that_was_put_in_its_place_stays(void **state)
{
    (void)state;
    void *memory = make();
    set_stack(NULL);
    weir__crash_stack_begin(memory);
    set_stack(own_memory);
    weir__crash_stack_end(memory);
    assert_ptr_equal(own_memory, stack_now().ss_sp);
    set_stack(NULL);
    free(memory);
}

static void it_has_64_kib_and_room_for_two_signals_in_whole_cache_lines(void **state)
{
    (void)state;
    static const unsigned long needs[] = { 0, 1, 4095, 4096, 4097, 4100, 5000, 11008, 70001 };
    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
        const size_t frame = needs[i] > 4096 ? needs[i] : 4096;
        const size_t least = 65536 + 2 * frame;
        kernel_says = needs[i];
        assert_in_range(weir__crash_stack_size(), least, least + 63);
        assert_int_equal(0, weir__crash_stack_size() % 64);
    }
    kernel_says = 2048;
}

int main(void)
{
    /* Under a sanitizer this thread has one already, which it wants back. */
    stack_t before;
    (void)sigaltstack(NULL, &before);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_has_64_kib_and_room_for_two_signals_in_whole_cache_lines),
        cmocka_unit_test(a_thread_without_one_has_ours_and_none_again),
        cmocka_unit_test(one_that_was_there_before_comes_back),
        cmocka_unit_test(one_that_was_put_in_its_place_stays),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)sigaltstack(&before, NULL);
    return failed;
}
