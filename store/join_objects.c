/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Artifact bytes that lie beside another store: copied under the name that their content has, when
 * a run here names them. Whatever else the folder holds is not looked at. */
#include "store/join_internal.h"

#include <string.h>
#include <sys/stat.h>

static bool is_named_here(struct orch_store *store, const char *sha256)
{
    int64_t named = 0;
    return store_get_int(store, &named, 0, NULL,
                         "SELECT EXISTS (SELECT 1 FROM artifact WHERE sha256 = ?)", "t", sha256) &&
           named;
}

static void join_object(struct orch_join *join, const char *path, const char *sha256, int64_t limit)
{
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode) || (limit >= 0 && info.st_size > limit) ||
        !is_named_here(join->store, sha256))
        return;
    g_autofree char *here = orch_store_object_path(join->store, sha256);
    if (here)
        return;
    GError *problem = NULL;
    int64_t bytes;
    bool fits;
    if (!store_put_object_as(join->store, path, sha256, &bytes, &fits, &problem))
        orch_join_refuse(join, "artifact %s: %s", sha256, problem->message);
    else if (!fits)
        orch_join_refuse(join, "artifact %s: its bytes have another digest", sha256);
    else
        orch_join_count_artifact(join, bytes);
    g_clear_error(&problem);
}

static void join_folder(struct orch_join *join, const char *folder, const char *prefix,
                        int64_t limit)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *rest; dir && (rest = g_dir_read_name(dir));) {
        g_autofree char *sha256 = g_strconcat(prefix, rest, NULL);
        g_autofree char *path = g_build_filename(folder, rest, NULL);
        if (orch_sha256_is_valid(sha256))
            join_object(join, path, sha256, limit);
    }
    if (dir)
        g_dir_close(dir);
}

void store_join_objects(struct orch_join *join, const struct store_objects *objects)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 256; i++) {
        const char prefix[] = {digits[i >> 4], digits[i & 15], 0};
        g_autofree char *folder = g_build_filename(objects->folder, prefix, NULL);
        struct stat info;
        if (lstat(folder, &info) == 0 && S_ISDIR(info.st_mode))
            join_folder(join, folder, prefix, objects->limit);
    }
}
