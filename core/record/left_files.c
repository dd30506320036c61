/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The copy in the trial's folder was made from work/TREE with the same times, so a file that is not
 * there, or has another size or time, was written by the trial. */
#include "core/record/left_files.h"

#include "lib/base/below.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "store/store_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 10000, DEPTH_MAX = 40 };

struct keeper {
    struct orch_store *store;
    const char *key;
    int copy, base; /* base: -1 when the copied tree is gone */
    int kept;       /* where the files go; -1: not made yet */
    unsigned count;
    char *first;
};

static bool is_copied(const struct keeper *keeper, const char *path, const struct stat *info)
{
    struct stat then;
    return keeper->base >= 0 && orch_below_stat(keeper->base, path, &then) &&
           then.st_size == info->st_size && then.st_mtim.tv_sec == info->st_mtim.tv_sec &&
           then.st_mtim.tv_nsec == info->st_mtim.tv_nsec;
}

static bool open_kept(struct keeper *keeper)
{
    if (keeper->kept < 0 &&
        orch_store_dir_make(keeper->store, ORCH_STORE_DIR_LEFT, keeper->key, 0777, NULL))
        keeper->kept = orch_store_dir_open(keeper->store, ORCH_STORE_DIR_LEFT, keeper->key);
    return keeper->kept >= 0;
}

static void move_file(struct keeper *keeper, const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *name = g_path_get_basename(path);
    if (keeper->count >= FILES_MAX || !open_kept(keeper))
        return;
    bool is_top = strcmp(folder, ".") == 0;
    int from = is_top ? dup(keeper->copy) : orch_below_open(keeper->copy, folder, O_DIRECTORY, 0);
    int to = is_top ? dup(keeper->kept) : orch_below_make_folder(keeper->kept, folder, 0777);
    if (from >= 0 && to >= 0 && renameat(from, name, to, name) == 0) {
        keeper->count++;
        keeper->first = keeper->first ? keeper->first : g_strdup(path);
    }
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
}

static void visit(struct keeper *keeper, const char *folder, int depth)
{
    g_autoptr(GPtrArray) names = orch_below_list(keeper->copy, folder);
    for (guint i = 0; i < names->len; i++) {
        struct stat info;
        g_autofree char *path = *folder ? g_strconcat(folder, "/", (char *)names->pdata[i], NULL)
                                        : g_strdup(names->pdata[i]);
        if (!orch_below_stat(keeper->copy, path, &info))
            continue;
        if (S_ISDIR(info.st_mode) && depth)
            visit(keeper, path, depth - 1);
        else if (S_ISREG(info.st_mode) && !is_copied(keeper, path, &info))
            move_file(keeper, path);
    }
}

unsigned orch_left_files_keep(struct orch_store *store, const char *key, int folder,
                              const json_t *trial, char **out_first)
{
    *out_first = NULL;
    const json_t *apart = json_object_get(trial, "apart");
    const char *copy = orch_json_text(apart, "copy", NULL);
    const char *tree = orch_json_text(apart, "tree", NULL);
    if (!copy || !tree || !orch_below_path_is_valid(copy))
        return 0;
    struct keeper keeper = {.store = store, .key = key, .kept = -1};
    keeper.copy = orch_below_open(folder, copy, O_DIRECTORY, 0);
    keeper.base = orch_store_dir_open(store, ORCH_STORE_DIR_WORK, tree);
    if (keeper.copy >= 0)
        visit(&keeper, "", DEPTH_MAX);
    const int fds[] = {keeper.copy, keeper.base, keeper.kept};
    for (unsigned i = 0; i < G_N_ELEMENTS(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    *out_first = keeper.first;
    return keeper.count;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static void file_free(gpointer pointer)
{
    struct orch_left_file *file = pointer;
    g_free(file->path);
    g_free(file);
}

static void list(int root, const char *folder, int depth, GPtrArray *files)
{
    g_autoptr(GPtrArray) names = orch_below_list(root, folder);
    for (guint i = 0; i < names->len && files->len < FILES_MAX; i++) {
        struct stat info;
        g_autofree char *path = *folder ? g_strconcat(folder, "/", (char *)names->pdata[i], NULL)
                                        : g_strdup(names->pdata[i]);
        if (!orch_below_stat(root, path, &info))
            continue;
        if (S_ISDIR(info.st_mode) && depth) {
            list(root, path, depth - 1, files);
        } else if (S_ISREG(info.st_mode)) {
            struct orch_left_file *file = g_new0(struct orch_left_file, 1);
            file->path = g_steal_pointer(&path);
            file->bytes = info.st_size;
            g_ptr_array_add(files, file);
        }
    }
}

GPtrArray *orch_left_files_list(const struct orch_store *store, const char *key)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(file_free);
    int root = orch_store_dir_open(store, ORCH_STORE_DIR_LEFT, key);
    if (root >= 0) {
        list(root, "", DEPTH_MAX, files);
        close(root);
    }
    return files;
}

int orch_left_files_open(const struct orch_store *store, const char *key, const char *path,
                         GError **error)
{
    int root = orch_store_dir_open(store, ORCH_STORE_DIR_LEFT, key);
    int fd = root >= 0 ? orch_below_open_file(root, path) : -1;
    if (root >= 0)
        close(root);
    if (fd >= 0)
        return fd;
    g_autofree char *hint = g_strdup_printf("'orch show %s' lists its files", key);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint,
                   "run %s left no file '%s' in a folder apart (or 'orch gc' has removed it)", key,
                   path);
    return -1;
}
