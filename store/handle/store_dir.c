/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries of the folder beside a store, by kind and name. */
#include "store/handle/store_dir.h"

#include "store/handle/sql.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/files_below.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_hex(const char *name, size_t length)
{
    return strlen(name) == length && strspn(name, "0123456789abcdef") == length;
}

/* Whether a name has the form of a trial's or a checkpoint's entry. */
static bool store_name_is_trial(const char *name)
{
    return orch_key_is_valid(name);
}

static bool store_name_is_checkpoint(const char *name)
{
    return is_hex(name, 64) || orch_key_is_valid(name);
}

static bool is_tree(const char *name)
{
    const char *end = strstr(name, ".tmp"); /* being written */
    g_autofree char *tree = end ? g_strndup(name, (gsize)(end - name)) : g_strdup(name);
    return (!end || strspn(end + 4, "0123456789") == strlen(end + 4)) &&
           (is_hex(tree, 40) || is_hex(tree, 64));
}

static bool is_digest(const char *name)
{
    return is_hex(name, 16);
}

static const struct {
    const char *part;
    bool (*is_name)(const char *name);
    bool is_local; /* each host of a shared store has its own */
} KINDS[] = {
    [ORCH_STORE_DIR_TRIAL] = {"trials", store_name_is_trial, true},
    [ORCH_STORE_DIR_CHECKPOINT] = {"checkpoints", store_name_is_checkpoint, false},
    [ORCH_STORE_DIR_WORK] = {"work", is_tree, false},
    [ORCH_STORE_DIR_TRY] = {"try", is_digest, false},
    [ORCH_STORE_DIR_KEPT] = {"kept", store_name_is_trial, true},
    [ORCH_STORE_DIR_LEFT] = {"left", store_name_is_trial, true},
    [ORCH_STORE_DIR_JOBS] = {"slurm", store_name_is_trial, true},
};

/* The folder of a kind, relative to the store's. */
static char *part_of(const struct orch_store *store, enum orch_store_dir kind)
{
    const char *local = KINDS[kind].is_local ? orch_store_local_folder(store) : store->folder;
    const char *inner = orch_path_below(local, store->folder);
    return inner ? g_build_filename(inner, KINDS[kind].part, NULL) : g_strdup(KINDS[kind].part);
}

static char *relative_path(const struct orch_store *store, enum orch_store_dir kind,
                           const char *name)
{
    g_autofree char *part = part_of(store, kind);
    if (!name || !KINDS[kind].is_name(name)) {
        errno = EINVAL;
        return NULL;
    }
    return g_build_filename(part, name, NULL);
}

char *orch_store_dir_path(const struct orch_store *store, enum orch_store_dir kind,
                          const char *name)
{
    g_autofree char *relative = relative_path(store, kind, name);
    return relative ? g_build_filename(store->folder, relative, NULL) : NULL;
}

int orch_store_dir_open(const struct orch_store *store, enum orch_store_dir kind, const char *name)
{
    g_autofree char *relative = relative_path(store, kind, name);
    if (!relative || !store->is_own) {
        errno = relative ? EACCES : EINVAL;
        return -1;
    }
    return orch_below_open(store->folder_fd, relative, O_DIRECTORY, 0);
}

static bool fail_make(const struct orch_store *store, const char *what, GError **error)
{
    if (errno == ELOOP)
        orch_error_set(error, ORCH_ERROR_STORE, "remove the link",
                       "cannot use '%s/%s': it is a symbolic link", store->folder, what);
    else
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make folder '%s/%s'",
                             store->folder, what);
    return false;
}

/* Opens the folder that holds a kind's entries. */
static int open_part(struct orch_store *store, enum orch_store_dir kind, GError **error)
{
    g_autofree char *part = part_of(store, kind);
    if (!orch_store_is_writable(store, error))
        return -1;
    int fd = orch_below_make_folder(store->folder_fd, part, 0777);
    if (fd < 0)
        fail_make(store, part, error);
    return fd;
}

bool orch_store_dir_make_parent(struct orch_store *store, enum orch_store_dir kind, GError **error)
{
    int fd = open_part(store, kind, error);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

bool orch_store_dir_make(struct orch_store *store, enum orch_store_dir kind, const char *name,
                         mode_t mode, GError **error)
{
    g_autofree char *relative = relative_path(store, kind, name);
    if (!relative)
        return fail_make(store, name ? name : "", error);
    int fd = open_part(store, kind, error);
    if (fd < 0)
        return false;
    bool ok = mkdirat(fd, name, mode) == 0 || fail_make(store, relative, error);
    close(fd);
    return ok;
}

bool orch_store_dir_remove(struct orch_store *store, enum orch_store_dir kind, const char *name,
                           GError **error)
{
    g_autofree char *relative = relative_path(store, kind, name);
    if (relative && store->is_own)
        return orch_below_remove(store->folder_fd, relative, error) ||
               (g_prefix_error(error, "in '%s': ", store->folder), false);
    orch_error_set(error, ORCH_ERROR_STORE, NULL,
                   "cannot remove '%s/%s': it does not belong to this store", KINDS[kind].part,
                   name ? name : "");
    return false;
}

char *orch_store_dir_keep(struct orch_store *store, const char *key)
{
    int from = open_part(store, ORCH_STORE_DIR_TRIAL, NULL);
    int to = from < 0 ? -1 : open_part(store, ORCH_STORE_DIR_KEPT, NULL);
    bool moved = to >= 0 && store_name_is_trial(key) && renameat(from, key, to, key) == 0;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return moved ? orch_store_dir_path(store, ORCH_STORE_DIR_KEPT, key) : NULL;
}

GPtrArray *orch_store_dir_list(const struct orch_store *store, enum orch_store_dir kind)
{
    g_autofree char *part = part_of(store, kind);
    GPtrArray *names = store->is_own ? orch_below_list(store->folder_fd, part)
                                     : g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < names->len;)
        if (KINDS[kind].is_name(names->pdata[i]))
            i++;
        else
            g_ptr_array_remove_index(names, i);
    return names;
}
