/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The header of a tar entry, for reading and writing. */
#ifndef ORCH_TAR_HEAD_H
#define ORCH_TAR_HEAD_H

#include <glib.h>
#include <stdint.h>

enum { ORCH_TAR_BLOCK = 512 };

struct orch_tar_head {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
G_STATIC_ASSERT(sizeof(struct orch_tar_head) == ORCH_TAR_BLOCK);

/** Padding between the end of an entry's data and the next header, in bytes. */
static inline int64_t orch_tar_padding(int64_t size)
{
    return (ORCH_TAR_BLOCK - size % ORCH_TAR_BLOCK) % ORCH_TAR_BLOCK;
}

#endif
