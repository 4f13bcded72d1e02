/*
 * connect/rotate.h - the file that a sink writes: opened, rotated away, found gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_ROTATE_H
#define WEIR_CONNECT_ROTATE_H

#include "weir/error.h"

/* Opens the file for appending and makes it if it is not there; *size: its length. With `cut` an
 * unfinished last line goes (a kill leaves one, and its event comes again); *lost: its bytes.
 * -1: the error says why. */
int weir__output_open(const char *path, bool cut, uint64_t *size, uint64_t *lost,
                      weir_error *error);

/* Whether the path leads to what is open. */
bool weir__output_is_there(const char *path, int fd);

/* path.1 becomes path.2 ... and path becomes path.1; what would be more than `keep` goes. A gap in
 * the row, which a kill leaves, takes one up. 0, or an errno: the path is still what it was. */
int weir__output_shift(const char *path, int64_t keep);

#endif /* WEIR_CONNECT_ROTATE_H */
