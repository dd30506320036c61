/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/inputs/left_files.h"

#include "lib/base/error.h"
#include "lib/base/files_below.h"
#include "lib/base/walk.h"
#include "lib/wire/trial.h"
#include "store/handle/store_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A link may lead to a link. */
enum { LINKS_MAX = 8 };

/* The folder of what a run left: of its own, or in the trial's folder when that was kept whole. -1
 * when there is none. `*out_path` (may be NULL): the caller frees. */
static int open_root(const struct orch_store *store, const char *key, char **out_path)
{
    int root = orch_store_dir_open(store, ORCH_STORE_DIR_LEFT, key);
    int kept = root < 0 ? orch_store_dir_open(store, ORCH_STORE_DIR_KEPT, key) : -1;
    g_autofree char *path =
        orch_store_dir_path(store, root < 0 ? ORCH_STORE_DIR_KEPT : ORCH_STORE_DIR_LEFT, key);
    if (kept >= 0) {
        root = orch_below_open(kept, ORCH_TRIAL_FILES, O_DIRECTORY, 0);
        close(kept);
    }
    if (root >= 0 && out_path)
        *out_path = g_build_filename(path, kept >= 0 ? ORCH_TRIAL_FILES : NULL, NULL);
    return root;
}

static void file_free(gpointer pointer)
{
    struct orch_left_file *file = pointer;
    g_free(file->path);
    g_free(file->link);
    g_free(file);
}

/* The target of a link; NULL for anything else. The caller frees. */
static char *link_target(int folder, const char *name)
{
    char target[4096];
    ssize_t n = readlinkat(folder, name, target, sizeof target);
    return n < 0 ? NULL : g_strndup(target, (gsize)n);
}

static bool add(void *ctx, const struct orch_walked *entry)
{
    struct orch_left *left = ctx;
    if (S_ISDIR(entry->info.st_mode))
        return true;
    int64_t bytes = S_ISREG(entry->info.st_mode) ? entry->info.st_size : 0;
    left->count++;
    left->bytes += bytes;
    if (left->files->len >= ORCH_LEFT_LISTED)
        return true;
    struct orch_left_file *file = g_new0(struct orch_left_file, 1);
    file->path = g_strdup(entry->path);
    file->link = link_target(entry->folder, entry->name);
    file->bytes = bytes;
    g_ptr_array_add(left->files, file);
    return true;
}

void orch_left_look(const struct orch_store *store, const char *key, struct orch_left *out)
{
    *out = (struct orch_left){.files = g_ptr_array_new_with_free_func(file_free)};
    int root = open_root(store, key, &out->folder);
    if (root < 0)
        return;
    orch_walk(root, false, add, out, &out->unread);
    close(root);
}

void orch_left_clear(struct orch_left *left)
{
    if (left->files)
        g_ptr_array_unref(left->files);
    g_free(left->folder);
    g_free(left->unread);
    *left = (struct orch_left){0};
}

/* The path to which a link below the root leads, relative to the root. The caller frees; NULL for
 * anything else. */
static char *follow(int root, const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *name = g_path_get_basename(path);
    bool is_top = strcmp(folder, ".") == 0;
    int at = is_top ? dup(root) : orch_below_open(root, folder, O_DIRECTORY, 0);
    g_autofree char *target = at < 0 ? NULL : link_target(at, name);
    if (at >= 0)
        close(at);
    if (!target || g_path_is_absolute(target))
        return NULL;
    g_autofree char *joined = g_build_filename("/", folder, target, NULL);
    g_autofree char *whole = g_canonicalize_filename(joined, "/");
    return g_strdup(whole + 1);
}

static void fail_open(const char *key, const char *path, int fault, GError **error)
{
    g_autofree char *hint = g_strdup_printf("'orch show %s' lists its files", key);
    if (fault == ENOENT || fault == ENOTDIR || fault == ELOOP)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint,
                       "run %s wrote no file '%s', or 'orch gc' has removed it", key, path);
    else if (fault == EINVAL)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint,
                       "'%s', which run %s wrote, is not a regular file", path, key);
    else
        orch_error_set_errno(error, ORCH_ERROR_IO, fault, "cannot read '%s', which run %s wrote",
                             path, key);
}

int orch_left_open(const struct orch_store *store, const char *key, const char *path,
                   GError **error)
{
    int root = open_root(store, key, NULL);
    int fault = root < 0 ? ENOENT : 0;
    g_autofree char *at = g_strdup(path);
    int fd = root < 0 ? -1 : orch_below_open_file(root, at);
    for (int i = 0; fd < 0 && !fault; i++) {
        fault = errno;
        char *next = fault == ELOOP && i < LINKS_MAX ? follow(root, at) : NULL;
        if (!next)
            break;
        g_free(at);
        at = next;
        fault = 0;
        fd = orch_below_open_file(root, at);
    }
    if (root >= 0)
        close(root);
    if (fd < 0)
        fail_open(key, path, fault, error);
    return fd;
}
