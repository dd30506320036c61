/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/merge.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "store/exchange/bundle.h"

#include <string.h>
#include <unistd.h>

/* ---- files ------------------------------------------------------------------------------------
 */

static bool is_database(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    char first[sizeof magic] = "";
    int fd = orch_file_open(path, NULL);
    bool is_one = fd >= 0 && read(fd, first, sizeof first) == (ssize_t)sizeof first &&
                  memcmp(first, magic, sizeof magic) == 0;
    if (fd >= 0)
        close(fd);
    return is_one;
}

/* Adds a folder's own store, or every store and bundle in the folder. */
static bool add_folder(GPtrArray *files, const char *folder, GError **error)
{
    static const char *const own[] = {"results.db", ".orch/results.db"};
    for (size_t i = 0; i < G_N_ELEMENTS(own); i++) {
        char *path = g_build_filename(folder, own[i], NULL);
        if (g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
            g_ptr_array_add(files, path);
            return true;
        }
        g_free(path);
    }
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        char *path = g_build_filename(folder, name, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_REGULAR) &&
            (is_database(path) || orch_bundle_is(path)))
            g_ptr_array_add(found, path);
        else
            g_free(path);
    }
    if (dir)
        g_dir_close(dir);
    g_ptr_array_sort(found, orch_compare_texts);
    for (guint i = 0; i < found->len; i++)
        g_ptr_array_add(files, found->pdata[i]);
    if (!found->len)
        orch_error_set(error, ORCH_ERROR_STORE, "name the file of a store, or a bundle",
                       "there is neither a store nor a bundle in '%s'", folder);
    return found->len > 0;
}

static bool add_source(GPtrArray *files, const char *said, GError **error)
{
    if (g_file_test(said, G_FILE_TEST_IS_DIR))
        return add_folder(files, said, error);
    if (access(said, F_OK) != 0) {
        orch_error_set(error, ORCH_ERROR_IO, "name a store's file, a bundle or a folder",
                       "there is no file or folder '%s'", said);
        return false;
    }
    g_ptr_array_add(files, g_strdup(said));
    return true;
}

GPtrArray *orch_merge_files(const char *const *said, int count, GError **error)
{
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; i < count; i++)
        if (!add_source(files, said[i], error))
            return NULL;
    return g_steal_pointer(&files);
}

/* ---- merging ----------------------------------------------------------------------------------
 */

struct extras {
    struct orch_join *join;
    bool (*may_have)(const char *path);
};

/* Passes over the files that a bundle may have beside its runs. */
static bool leave_extra(void *ctx, const char *path, const char *bytes, size_t length,
                        GError **error)
{
    const struct extras *extras = ctx;
    (void)bytes, (void)length, (void)error;
    if (!extras->may_have || !extras->may_have(path))
        orch_join_refuse(extras->join, "'%s' is not a file that belongs in a bundle", path);
    return true;
}

struct orch_receipt *orch_merge_file(struct orch_store *store, const char *path,
                                     int64_t artifact_bytes, bool (*may_have)(const char *path),
                                     GError **error)
{
    bool is_bundle = !is_database(path) && orch_bundle_is(path);
    if (g_file_test(path, G_FILE_TEST_IS_REGULAR) && !is_database(path) && !is_bundle) {
        orch_error_set(error, ORCH_ERROR_STORE, "if it was a store: orch db repair --db FILE",
                       "'%s' is neither a store nor a bundle", path);
        return NULL;
    }
    struct orch_join *join = orch_join_begin(store, path, error);
    if (!join)
        return NULL;
    struct extras extras = {join, may_have};
    if (is_bundle ? orch_bundle_join(join, store, path, leave_extra, &extras, error)
                  : orch_join_store(join, path, artifact_bytes, error))
        return orch_join_commit(join, error);
    orch_join_rollback(join);
    return NULL;
}
