/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies artifact bytes from beside another store when a run in this store references them. They
 * are stored under the digest of their content. Other files in the folder are ignored. */
#include "store/handle/sql.h"
#include "store/join/join_internal.h"

#include "lib/base/files_below.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_named_here(struct orch_store *store, const char *sha256, bool *out, GError **error)
{
    int64_t named = 0;
    if (!orch_store_get_int(store, &named, 0, error,
                            "SELECT EXISTS (SELECT 1 FROM artifact WHERE sha256 = ?)", "t", sha256))
        return false;
    *out = named;
    return true;
}

/* Copies an object unless it is stored already or not referenced. */
static bool take_object(struct orch_join *join, int folder, const char *name, const char *sha256,
                        GError **error)
{
    bool is_named, fits;
    int64_t bytes;
    if (!is_named_here(join->store, sha256, &is_named, error))
        return false;
    g_autofree char *here = is_named ? orch_store_object_path(join->store, sha256) : NULL;
    if (!is_named || here)
        return true;
    if (!orch_store_put_object_at(join->store, folder, name, sha256, &bytes, &fits, error))
        return false;
    if (fits)
        orch_join_count_artifact(join, bytes);
    else
        orch_join_refuse(join, "artifact %s: its contents do not match its digest", sha256);
    return true;
}

static void join_object(struct orch_join *join, int folder, const char *name, const char *sha256,
                        int64_t limit)
{
    struct stat info;
    g_autoptr(GError) problem = NULL;
    g_autofree char *what = g_strdup_printf("artifact %s", sha256);
    if (orch_below_stat(folder, name, &info) && S_ISREG(info.st_mode) &&
        (limit < 0 || info.st_size <= limit) && !take_object(join, folder, name, sha256, &problem))
        orch_join_refuse_error(join, what, problem);
}

void orch_store_join_objects(struct orch_join *join, const struct store_objects *objects)
{
    static const char digits[] = "0123456789abcdef";
    int root = orch_below_root(objects->folder);
    for (int i = 0; root >= 0 && i < 256; i++) {
        const char prefix[] = {digits[i >> 4], digits[i & 15], 0};
        int folder = orch_below_open(root, prefix, O_DIRECTORY, 0);
        if (folder < 0)
            continue;
        g_autoptr(GPtrArray) names = orch_below_list(folder, "");
        for (guint j = 0; j < names->len; j++) {
            g_autofree char *sha256 = g_strconcat(prefix, names->pdata[j], NULL);
            if (orch_sha256_is_valid(sha256))
                join_object(join, folder, names->pdata[j], sha256, objects->limit);
        }
        close(folder);
    }
    if (root >= 0)
        close(root);
}
