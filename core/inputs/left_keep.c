/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder apart is a copy of the captured tree with the same times, with links to files of the
 * work tree: an entry that is neither was made or written by the trial. New entries are renamed
 * whole, so that nothing in them is read, counted or changed. */
#include "core/inputs/left_keep.h"

#include "core/plugin/search.h"
#include "lib/base/file.h"
#include "lib/base/files_below.h"
#include "lib/base/json.h"
#include "lib/base/walk.h"
#include "lib/wire/trial.h"
#include "store/handle/store_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAMES_MAX = 1000 };

/* A folder of which the trial's has copies, and links to it. */
struct original {
    int fd;     /* -1: it cannot be looked at */
    char *path; /* as links name it; NULL: there is none */
};

struct keeper {
    struct orch_store *store;
    const char *key;
    const char *copy;                /* path of the folder that is looked through */
    struct original tree, work_tree; /* the captured one, and the user's */
    int kept;                        /* where the entries go; -1: not made yet */
    bool is_short;                   /* an entry could not be moved */
};

/* ---- what the trial did not make --------------------------------------------------------------
 */

static bool read_link(int folder, const char *path, char out[4096])
{
    ssize_t n = readlinkat(folder, path, out, 4095);
    out[MAX(n, 0)] = '\0';
    return n > 0;
}

/* Whether a link was put into the copy in place of the original, or is a copy of one: where mounts
 * are not allowed, one that leads into the work tree leads into the copy instead. */
static bool is_linked(const struct keeper *keeper, const struct original *original,
                      const struct orch_walked *entry)
{
    char target[4096], before[4096];
    if (!original->path || !read_link(entry->folder, entry->name, target))
        return false;
    if (g_strcmp0(orch_path_below(target, original->path), entry->path) == 0)
        return true;
    if (original->fd < 0 || !read_link(original->fd, entry->path, before))
        return false;
    const char *inner = orch_path_below(target, keeper->copy);
    return strcmp(target, before) == 0 || (inner && g_str_has_suffix(before, inner));
}

static bool is_same(const struct keeper *keeper, const struct original *original,
                    const struct orch_walked *entry)
{
    struct stat then;
    const struct stat *now = &entry->info;
    if (S_ISLNK(now->st_mode))
        return is_linked(keeper, original, entry);
    if (original->fd < 0 || !orch_below_stat(original->fd, entry->path, &then))
        return false;
    if (S_ISDIR(now->st_mode) || S_ISDIR(then.st_mode))
        return S_ISDIR(now->st_mode) && S_ISDIR(then.st_mode);
    return S_ISREG(now->st_mode) && S_ISREG(then.st_mode) && then.st_size == now->st_size &&
           then.st_mtim.tv_sec == now->st_mtim.tv_sec &&
           then.st_mtim.tv_nsec == now->st_mtim.tv_nsec;
}

/* ---- moving -----------------------------------------------------------------------------------
 */

static bool open_kept(struct keeper *keeper)
{
    if (keeper->kept < 0)
        keeper->kept = orch_store_dir_open(keeper->store, ORCH_STORE_DIR_LEFT, keeper->key);
    if (keeper->kept < 0 &&
        orch_store_dir_make(keeper->store, ORCH_STORE_DIR_LEFT, keeper->key, 0777, NULL))
        keeper->kept = orch_store_dir_open(keeper->store, ORCH_STORE_DIR_LEFT, keeper->key);
    return keeper->kept >= 0;
}

/* Renames an entry. A folder that its owner may not write to cannot be moved as it is. */
static bool rename_entry(const struct orch_walked *entry, int to, const char *name)
{
    if (renameat(entry->folder, entry->name, to, name) == 0)
        return true;
    if (errno != EACCES || !S_ISDIR(entry->info.st_mode) ||
        fchmodat(entry->folder, entry->name, 0700, 0) != 0)
        return false;
    bool is_moved = renameat(entry->folder, entry->name, to, name) == 0;
    return fchmodat(is_moved ? to : entry->folder, is_moved ? name : entry->name,
                    entry->info.st_mode & 07777, 0) == 0 &&
           is_moved;
}

/* Moves an entry to the same place below `kept`; where the trial left another one there, under the
 * next free name: "model.pt.2". */
static bool move(struct keeper *keeper, const struct orch_walked *entry)
{
    struct stat there;
    g_autofree char *folder = g_path_get_dirname(entry->path);
    g_autofree char *name = g_strdup(entry->name);
    if (!open_kept(keeper))
        return false;
    int to = strcmp(folder, ".") == 0 ? dup(keeper->kept)
                                      : orch_below_make_folder(keeper->kept, folder, 0777);
    bool is_free = false;
    for (int i = 2; to >= 0 && !is_free && i < NAMES_MAX; i++) {
        is_free = fstatat(to, name, &there, AT_SYMLINK_NOFOLLOW) != 0;
        if (is_free)
            break;
        g_free(name);
        name = g_strdup_printf("%s.%d", entry->name, i);
    }
    bool ok = is_free && rename_entry(entry, to, name);
    if (to >= 0)
        close(to);
    return ok;
}

/* Whether a folder is there already, so that its entries are looked at one by one. */
static bool is_kept_folder(const struct keeper *keeper, const struct orch_walked *entry)
{
    struct stat there;
    return keeper->kept >= 0 && orch_below_stat(keeper->kept, entry->path, &there) &&
           S_ISDIR(there.st_mode);
}

static bool visit(void *ctx, const struct orch_walked *entry)
{
    struct keeper *keeper = ctx;
    bool is_folder = S_ISDIR(entry->info.st_mode);
    if (entry->is_left)
        return false;
    if (is_same(keeper, &keeper->tree, entry) || is_same(keeper, &keeper->work_tree, entry) ||
        (is_folder && is_kept_folder(keeper, entry)))
        return true;
    keeper->is_short = !move(keeper, entry) || keeper->is_short;
    return false;
}

static void keep_from(struct keeper *keeper, int folder, const char *path)
{
    int at = orch_below_path_is_valid(path) ? orch_below_open(folder, path, O_DIRECTORY, 0) : -1;
    if (at < 0)
        return;
    keeper->is_short = !orch_walk(at, true, visit, keeper, NULL) || keeper->is_short;
    close(at);
}

/* ---- the folders ------------------------------------------------------------------------------
 */

/* The path of an open folder. The caller frees. */
static char *path_of(int fd)
{
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", fd);
    return g_file_read_link(link, NULL);
}

static void original_clear(struct original *original)
{
    if (original->fd >= 0)
        close(original->fd);
    g_free(original->path);
}

/* The plugins that come with orch declare all files that are of use. */
static bool is_of_own_plugin(const json_t *trial)
{
    const char *path = orch_json_text(json_object_get(trial, "manifest"), "path", NULL);
    return path && orch_search_is_own(path);
}

/* Looks at a folder apart, or at the folder of a plugin. */
static void keep_from_work(struct keeper *keeper, int folder, const json_t *trial)
{
    const json_t *apart = json_object_get(trial, "apart");
    const char *copy = orch_json_text(apart, "copy", ORCH_TRIAL_WORK);
    const char *tree = orch_json_text(apart, "tree", NULL);
    const char *origin = orch_json_text(apart, "origin", orch_json_text(apart, "from", NULL));
    g_autofree char *trial_dir =
        orch_store_dir_path(keeper->store, ORCH_STORE_DIR_TRIAL, keeper->key);
    g_autofree char *path = g_build_filename(trial_dir, copy, NULL);
    int tree_fd = tree ? orch_store_dir_open(keeper->store, ORCH_STORE_DIR_WORK, tree) : -1;
    keeper->copy = path;
    keeper->tree = (struct original){tree_fd, tree_fd < 0 ? NULL : path_of(tree_fd)};
    keeper->work_tree = (struct original){
        origin ? open(origin, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, g_strdup(origin)};
    if (apart ? origin != NULL : !is_of_own_plugin(trial))
        keep_from(keeper, folder, copy);
    original_clear(&keeper->tree);
    original_clear(&keeper->work_tree);
}

bool orch_left_keep(struct orch_store *store, const char *key, int folder, const json_t *trial,
                    struct orch_left *out)
{
    struct keeper keeper = {
        .store = store, .key = key, .tree = {-1, NULL}, .work_tree = {-1, NULL}, .kept = -1};
    keep_from(&keeper, folder, ORCH_TRIAL_FILES);
    if (trial)
        keep_from_work(&keeper, folder, trial);
    if (keeper.kept >= 0)
        close(keeper.kept);
    orch_left_look(store, key, out);
    if (!out->count && !out->unread) /* empty folders */
        orch_store_dir_remove(store, ORCH_STORE_DIR_LEFT, key, NULL);
    return !keeper.is_short;
}
