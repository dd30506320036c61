/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/handin.h"

#include "features/pack/unzip.h"
#include "features/pack/zip_write.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/temporary.h"

#include <string.h>

#define PACK_BYTES_MAX ((int64_t)1 << 30) /* of the pack in a hand-in */

bool orch_handin_unpack(const char *path, struct orch_unpacked_handin *out, GError **error)
{
    *out = (struct orch_unpacked_handin){0};
    GError *problem = NULL;
    if (!orch_zip_is(path))
        return true;
    out->folder = orch_temporary_folder("handin", error);
    if (!out->folder)
        return false;
    out->path = g_build_filename(out->folder, "handin.orch", NULL);
    if (orch_zip_take(path, ".orch", PACK_BYTES_MAX, out->path, &out->name, &out->others, &problem))
        return true;
    if (!g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND)) {
        g_propagate_error(error, problem);
        return false;
    }
    orch_error_set(error, ORCH_ERROR_IO,
                   "'orch submit RECIPE --netid ID --pack' puts a pack into the archive",
                   "there is no pack in '%s': its notebooks alone cannot be verified", path);
    g_error_free(problem);
    return false;
}

void orch_unpacked_handin_clear(struct orch_unpacked_handin *handin)
{
    if (handin->folder)
        orch_tree_remove(handin->folder, NULL);
    g_free(handin->folder);
    g_free(handin->path);
    g_free(handin->name);
    if (handin->others)
        g_ptr_array_unref(handin->others);
}

bool orch_handin_write(const char *path, const char *owner, const GPtrArray *notebooks,
                       const char *pack, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autofree struct orch_zip_file *files = g_new0(struct orch_zip_file, notebooks->len + 2);
    g_autofree char *pack_bytes = NULL;
    size_t pack_length = 0, count = notebooks->len;
    if (pack && !orch_file_read(pack, PACK_BYTES_MAX, &pack_bytes, &pack_length, error))
        return false;
    for (guint i = 0; i < notebooks->len; i++) {
        const struct orch_notebook *notebook = notebooks->pdata[i];
        char *name = g_strdup_printf("%s_%s", owner, notebook->name);
        g_ptr_array_add(names, name);
        files[i] = (struct orch_zip_file){name, notebook->text, strlen(notebook->text)};
    }
    if (pack)
        files[count++] = (struct orch_zip_file){strrchr(pack, '/') + 1, pack_bytes, pack_length};
    return orch_zip_write(path, files, count, error);
}
