/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Known file systems. A store may use WAL mode only on local ones. */

#include "store/handle/filesystem.h"

#include <sys/vfs.h>

static const struct {
    int64_t magic;
    const char *name;
    bool local;
} FILESYSTEMS[] = {
    {0xEF53, "ext", true},       {0x58465342, "xfs", true},     {0x9123683E, "btrfs", true},
    {0x01021994, "tmpfs", true}, {0x858458F6, "ramfs", true},   {0x794C7630, "overlay", true},
    {0x2FC12FC1, "zfs", true},   {0xF2F52010, "f2fs", true},    {0xCA451A4E, "bcachefs", true},
    {0x6969, "nfs", false},      {0x517B, "smb", false},        {0xFF534D42, "cifs", false},
    {0xFE534D42, "smb2", false}, {0x0BD00BD0, "lustre", false}, {0x65735546, "fuse", false},
    {0x01021997, "9p", false},   {0x47504653, "gpfs", false},   {0x19830326, "beegfs", false},
    {0x00C36400, "ceph", false}, {0x5346414F, "afs", false},    {0x786F4256, "vboxsf", false},
};

char *orch_store_filesystem_name(int64_t magic, bool *out_local)
{
    for (size_t i = 0; i < G_N_ELEMENTS(FILESYSTEMS); i++) {
        if (FILESYSTEMS[i].magic == magic) {
            *out_local = FILESYSTEMS[i].local;
            return g_strdup(FILESYSTEMS[i].name);
        }
    }
    *out_local = false;
    return g_strdup_printf("0x%" G_GINT64_MODIFIER "x", magic);
}

bool orch_store_filesystem_is_shared(int64_t magic)
{
    for (size_t i = 0; i < G_N_ELEMENTS(FILESYSTEMS); i++)
        if (FILESYSTEMS[i].magic == magic)
            return !FILESYSTEMS[i].local;
    return false;
}

int64_t orch_store_filesystem_magic(const char *path)
{
    struct statfs info;
    if (statfs(path, &info) == 0)
        return (int64_t)info.f_type & 0xFFFFFFFF;
    g_autofree char *folder = g_path_get_dirname(path);
    return statfs(folder, &info) == 0 ? (int64_t)info.f_type & 0xFFFFFFFF : 0;
}
