/*
 * sync/sim/switch.c - the switch for x86-64 and arm64 in assembly, for others with ucontext.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync/sim/switch.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && !defined(WEIR_SIM_UCONTEXT)

__asm__(".text\n"
        ".globl weir__sim_switch\n"
        ".hidden weir__sim_switch\n"
        ".type weir__sim_switch, @function\n"
        "weir__sim_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size weir__sim_switch, .-weir__sim_switch\n");

void *weir__sim_stack_make(char *stack, size_t size, void (*entry)(void))
{
    /* At entry the stack pointer is 8 off a multiple of 16, as after a call. */
    uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)15;
    uint64_t *frame = (uint64_t *)(top - 8);
    *frame = 0; /* where entry would return to: nowhere */
    *--frame = (uint64_t)(uintptr_t)entry;
    frame -= 6;
    memset(frame, 0, 6 * sizeof(*frame));
    return frame;
}

#elif defined(__aarch64__) && !defined(WEIR_SIM_UCONTEXT)

__asm__(".text\n"
        ".globl weir__sim_switch\n"
        ".hidden weir__sim_switch\n"
        ".type weir__sim_switch, %function\n"
        "weir__sim_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size weir__sim_switch, .-weir__sim_switch\n");

void *weir__sim_stack_make(char *stack, size_t size, void (*entry)(void))
{
    uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)15;
    uint64_t *frame = (uint64_t *)(top - 160);
    memset(frame, 0, 160);
    frame[11] = (uint64_t)(uintptr_t)entry; /* x30: where ret goes */
    return frame;
}

#else

#include <ucontext.h>

/* What the others take for a stack pointer is the address of a ucontext: on the stack that is left,
 * where it lives until somebody comes back, or at the end of a new one. */
void weir__sim_switch(void **save, void *to)
{
    ucontext_t here;
    /* cppcheck-suppress autoVariables ; see above */
    *save = &here;
    swapcontext(&here, to);
}

void *weir__sim_stack_make(char *stack, size_t size, void (*entry)(void))
{
    const size_t room = (sizeof(ucontext_t) + 63) & ~(size_t)63;
    ucontext_t *context = (ucontext_t *)(void *)(stack + size - room);
    getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = size - room;
    context->uc_link = NULL;
    makecontext(context, entry, 0);
    return context;
}

#endif
