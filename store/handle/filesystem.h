/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of the kinds of file systems. */
#ifndef ORCH_STORE_FILESYSTEM_H
#define ORCH_STORE_FILESYSTEM_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Name of a file system by its statfs magic ("ext", "nfs", "0x1234"), and whether WAL is safe
 * on it. */
char *orch_store_filesystem_name(int64_t magic, bool *out_local);
int64_t orch_store_filesystem_magic(const char *path);
/** True when other hosts can reach a file system of this magic. False for an unknown magic. */
bool orch_store_filesystem_is_shared(int64_t magic);

#endif
