/*
 * simulate/object.c - reads as much of an ELF file as tells a program from a shared object.
 *
 * Nothing in the file is believed before it is known to lie inside the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "simulate/object.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ElfW(Ehdr) elf_head;
typedef ElfW(Phdr) elf_part;
typedef ElfW(Dyn) elf_entry;

typedef struct file {
    const char *bytes;
    size_t size;
} file;

/* `count` things of `size` bytes at `offset`, or NULL. */
static const void *part_of(const file *f, uint64_t offset, uint64_t count, size_t size)
{
    if (offset > f->size || count > (f->size - offset) / size || offset % 8 != 0) {
        return NULL;
    }
    return f->bytes + offset;
}

static const elf_part *find_part(const file *f, const elf_head *head, uint32_t type)
{
    const elf_part *parts = part_of(f, head->e_phoff, head->e_phnum, sizeof(*parts));
    for (unsigned i = 0; parts != NULL && i < head->e_phnum; i++) {
        if (parts[i].p_type == type) {
            return &parts[i];
        }
    }
    return NULL;
}

/* A text of the dynamic section's string table; "" if there is none. */
static const char *text_at(const file *f, const elf_head *head, uint64_t table, uint64_t at)
{
    const elf_part *parts = part_of(f, head->e_phoff, head->e_phnum, sizeof(*parts));
    for (unsigned i = 0; parts != NULL && i < head->e_phnum; i++) {
        const elf_part *part = &parts[i];
        if (part->p_type == PT_LOAD && table >= part->p_vaddr &&
            table - part->p_vaddr < part->p_filesz) {
            const uint64_t offset = table - part->p_vaddr + part->p_offset + at;
            if (offset < f->size && memchr(f->bytes + offset, '\0', f->size - offset) != NULL) {
                return f->bytes + offset;
            }
        }
    }
    return "";
}

static void read_dynamic(const file *f, const elf_head *head, weir__object *out)
{
    const elf_part *part = find_part(f, head, PT_DYNAMIC);
    const size_t count = part != NULL ? part->p_filesz / sizeof(elf_entry) : 0;
    const elf_entry *entries =
        part != NULL ? part_of(f, part->p_offset, count, sizeof(*entries)) : NULL;
    uint64_t table = 0;
    for (size_t i = 0; entries != NULL && i < count; i++) {
        table = entries[i].d_tag == DT_STRTAB ? entries[i].d_un.d_ptr : table;
        if (entries[i].d_tag == DT_FLAGS_1 && (entries[i].d_un.d_val & DF_1_PIE) != 0) {
            out->is_program = true;
        }
    }
    for (size_t i = 0; entries != NULL && i < count; i++) {
        if (entries[i].d_tag == DT_NEEDED &&
            strncmp(text_at(f, head, table, entries[i].d_un.d_val), "libweir-sim", 11) == 0) {
            out->needs_sim = true;
        }
    }
}

static bool read_elf(const file *f, weir__object *out, char *why, size_t why_size)
{
    const elf_head *head = part_of(f, 0, 1, sizeof(*head));
    if (head == NULL || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) {
        snprintf(why, why_size, "is neither a program nor a shared object%s",
                 f->size > 2 && memcmp(f->bytes, "#!", 2) == 0 ? ", but a script" : "");
        return false;
    }
    if (head->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        (head->e_type != ET_EXEC && head->e_type != ET_DYN)) {
        snprintf(why, why_size,
                 head->e_type == ET_REL ? "is an object file: link it first"
                                        : "is for another machine");
        return false;
    }
    read_dynamic(f, head, out);
    out->is_program = out->is_program || head->e_type == ET_EXEC;
    out->is_static = out->is_program && find_part(f, head, PT_INTERP) == NULL;
    return true;
}

/* All of a file, in memory; `bytes` NULL and errno: it cannot be read. Nothing of it: ENOEXEC. */
static file map_file(const char *path)
{
    struct stat about;
    file f = { NULL, 0 };
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return f;
    }
    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0) {
        errno = ENOEXEC;
    } else {
        void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        f = bytes != MAP_FAILED ? (file){ bytes, (size_t)about.st_size } : f;
    }
    close(descriptor);
    return f;
}

bool weir__object_read(const char *path, weir__object *out, char *why, size_t why_size)
{
    *out = (weir__object){ 0 };
    const file f = map_file(path);
    if (f.bytes == NULL) {
        if (errno == ENOEXEC) {
            snprintf(why, why_size, "is neither a program nor a shared object");
        } else {
            snprintf(why, why_size, "cannot be read: %s", strerror(errno));
        }
        return false;
    }
    const bool good = read_elf(&f, out, why, why_size);
    munmap((void *)(uintptr_t)f.bytes, f.size);
    return good;
}
