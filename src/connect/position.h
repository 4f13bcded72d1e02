/*
 * connect/position.h - where in a file a source has come to, in a small file of its own that
 * survives a kill and a power cut.
 *
 * A place names its file by device and inode, since rotation renames it, and by its first bytes,
 * since an inode is used again. The file of positions is replaced as a whole: written beside,
 * synced, renamed over, the folder synced; so it is the old one or the new one, whatever happens
 * when.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_POSITION_H
#define WEIR_CONNECT_POSITION_H

#include "weir/error.h"

#define WEIR__HEAD_MAX 256u /* of a file's first bytes, so many are its fingerprint */

typedef struct weir__place {
    uint64_t device, inode;
    uint64_t fingerprint; /* of its first head_size bytes */
    uint32_t head_size;
    weir_ns modified; /* when it was written to last, as far as was known */
    uint64_t offset;
} weir__place;

uint64_t weir__fingerprint(const void *head, size_t size);

typedef enum weir__position_found {
    WEIR__POSITION_NONE, /* there is no such file */
    WEIR__POSITION_READ,
    WEIR__POSITION_DAMAGED /* it was one, and is cut or spoilt */
} weir__position_found;

typedef struct weir__position_file {
    char *path, *beside, *folder;
    int lock;    /* of the file beside which nobody else may write */
    bool synced; /* each write reaches the disk before it counts */
} weir__position_file;

/* Takes it for this process and this source alone; reads what it says into *place, if READ. Error:
 * another has it, it is not one of weir's (and is left alone), the folder cannot be written to. */
weir_status weir__position_open(weir__position_file *file, const char *path,
                                weir__position_found *found, weir__place *place, weir_error *error);
weir_status weir__position_write(weir__position_file *file, const weir__place *place,
                                 weir_error *error);
void weir__position_close(weir__position_file *file); /* of a zeroed one: a no-op */

#endif /* WEIR_CONNECT_POSITION_H */
