/*
 * sync/sim/posix_local.c - thread-local variables of the program, one set a simulated thread.
 *
 * To the system there is one thread, so there is one set. When the simulator switches, the contents
 * are exchanged: what the thread that leaves had is put aside, what the next one had is put in its
 * place. libc's own are left alone, but for errno.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "sync/sim/core.h"

#define MODULES_MAX 64u

/* The variables of one program or library. */
typedef struct module {
    char *live;
    const char *first; /* what a new thread finds; zeroes behind it */
    size_t first_size, size;
} module;

typedef struct image {
    uint64_t born; /* of the thread that it belongs to; 0: of nobody yet */
    int error;
    char *bytes; /* one module's after the other's */
} image;

static module modules[MODULES_MAX];
static uint32_t module_count;
static size_t total;
static unsigned long long loads_seen; /* of modules, by the dynamic linker */
static image images[WEIR__SIM_THREADS_MAX];
static image before; /* all runs */

/* The dynamic linker's: gives the calling thread its variables of a module. */
typedef struct tls_place {
    unsigned long module, offset;
} tls_place;
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): see above */
extern void *__tls_get_addr(tls_place *place);

static bool is_the_systems(const char *path)
{
    static const char *const names[] = { "libc.so", "ld-linux", "libpthread.so", "libweir-sim" };
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(name, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_TLS || part->p_memsz == 0 || is_the_systems(info->dlpi_name) ||
            module_count == MODULES_MAX) {
            continue;
        }
        tls_place place = { info->dlpi_tls_modid, 0 };
        modules[module_count++] = (module){
            .live = info->dlpi_tls_data != NULL ? info->dlpi_tls_data : __tls_get_addr(&place),
            .first = (const char *)(uintptr_t)(info->dlpi_addr + part->p_vaddr),
            .first_size = part->p_filesz,
            .size = part->p_memsz,
        };
        total += part->p_memsz;
    }
    return 0;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *out)
{
    (void)size;
    *(unsigned long long *)out = info->dlpi_adds;
    return 1;
}

static char *memory_of(image *one)
{
    if (one->bytes == NULL) {
        one->bytes = malloc(total + 1);
        WEIR_ASSERT(one->bytes != NULL);
    }
    return one->bytes;
}

static void put_aside(image *to)
{
    char *at = memory_of(to);
    to->error = errno;
    for (uint32_t i = 0; i < module_count; i++) {
        memcpy(at, modules[i].live, modules[i].size);
        at += modules[i].size;
    }
}

static void put_in_place(const image *from)
{
    const char *at = from->bytes;
    for (uint32_t i = 0; i < module_count; i++) {
        memcpy(modules[i].live, at, modules[i].size);
        at += modules[i].size;
    }
    errno = from->error;
}

static void put_new_in_place(void)
{
    for (uint32_t i = 0; i < module_count; i++) {
        memcpy(modules[i].live, modules[i].first, modules[i].first_size);
        memset(modules[i].live + modules[i].first_size, 0, modules[i].size - modules[i].first_size);
    }
    errno = 0;
}

/* Modules may have come since the last run: what was put aside before fits no longer. */
static void begin_run(void)
{
    unsigned long long loads = 0;
    dl_iterate_phdr(count_loads, &loads);
    if (loads != loads_seen) {
        loads_seen = loads;
        module_count = 0;
        total = 0;
        dl_iterate_phdr(add_module, NULL);
        for (uint32_t i = 0; i < WEIR__SIM_THREADS_MAX; i++) {
            free(images[i].bytes);
            images[i] = (image){ 0 };
        }
        free(before.bytes);
        before = (image){ 0 };
        put_aside(&before);
    } else {
        put_in_place(&before);
    }
}

static void exchange(weir__sim_thread *from, weir__sim_thread *to)
{
    if (from == NULL) {
        begin_run();
        return;
    }
    put_aside(&images[from->index]);
    images[from->index].born = from->born;
    if (images[to->index].born == to->born) {
        put_in_place(&images[to->index]);
    } else {
        put_new_in_place();
    }
}

__attribute__((constructor)) static void begin(void)
{
    weir__sim_locals = exchange;
}
