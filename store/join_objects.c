/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies artifact bytes from beside another store when a run in this store references them. They
 * are stored under the digest of their content. Other files in the folder are ignored. */
#include "store/join_internal.h"

#include "lib/base/below.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_named_here(struct orch_store *store, const char *sha256)
{
    int64_t named = 0;
    return store_get_int(store, &named, 0, NULL,
                         "SELECT EXISTS (SELECT 1 FROM artifact WHERE sha256 = ?)", "t", sha256) &&
           named;
}

static void join_object(struct orch_join *join, int folder, const char *name, const char *sha256,
                        int64_t limit)
{
    struct stat info;
    if (!orch_below_stat(folder, name, &info) || !S_ISREG(info.st_mode) ||
        (limit >= 0 && info.st_size > limit) || !is_named_here(join->store, sha256))
        return;
    g_autofree char *here = orch_store_object_path(join->store, sha256);
    if (here)
        return;
    GError *problem = NULL;
    int64_t bytes;
    bool fits;
    g_autofree char *what = g_strdup_printf("artifact %s", sha256);
    if (!orch_store_put_object_at(join->store, folder, name, sha256, &bytes, &fits, &problem))
        orch_join_refuse_error(join, what, problem);
    else if (!fits)
        orch_join_refuse(join, "artifact %s: its bytes have another digest", sha256);
    else
        orch_join_count_artifact(join, bytes);
    g_clear_error(&problem);
}

void store_join_objects(struct orch_join *join, const struct store_objects *objects)
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
