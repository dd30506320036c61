/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens the repository that contains a folder and selects a backend. libgit2 is tried first: it
 * starts no process and captures a clean tree in milliseconds. The git program is used for what
 * libgit2 refuses, and for trees with clean filters (git-lfs), because libgit2 would not run them
 * and compute other object ids than git. Of an ordinary repository the root is found without
 * either (plain_root.c), and the backend is selected when it is first used.
 *
 * The folder alone determines the repository. Both backends ignore GIT_DIR, GIT_WORK_TREE and
 * GIT_INDEX_FILE, which git sets for hooks and aliases, so that orch records the same tree when
 * started from a hook. */
#include "lib/vcs/vcs.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/vcs/backend.h"
#include "lib/vcs/plain_root.h"

#include <string.h>
#include <sys/stat.h>

#define IGNORED_MAX 20000

/* The root is known, the backend is selected when it is first used. */
static void set_plain(struct orch_vcs *vcs, const char *root)
{
    vcs->root = orch_path_utf8(root, NULL);
    if (!vcs->root)
        vcs->root = g_strdup(root);
    vcs->git_dir = g_build_filename(root, ".git", NULL);
}

static void use_git(struct orch_vcs *vcs, const char *reason)
{
    vcs->backend = &ORCH_BACKEND_GIT;
    g_free(vcs->name);
    vcs->name = g_strdup_printf("git: %s", reason);
}

bool orch_vcs_use_gitprog(struct orch_vcs *vcs, const char *reason, GError **error)
{
    struct orch_vcs other = {0};
    if (!orch_gitprog_open(&other, vcs->root, error))
        return false;
    if (other.root) {
        g_free(vcs->root);
        g_free(vcs->git_dir);
        vcs->root = other.root;
        vcs->git_dir = other.git_dir;
    }
    vcs->filter_settings = other.filter_settings;
    vcs->own_filters = other.own_filters;
    orch_libgit2_close(vcs);
    use_git(vcs, reason);
    return true;
}

/* Opens with libgit2 if it supports everything that is needed. If libgit2 finds no repository
 * although there is a `.git`, it may be damaged, which must not count as "no repository". */
static bool open_any(struct orch_vcs *vcs, const char *dir, GError **error)
{
    g_autofree char *refusal = NULL;
    vcs->backend = &ORCH_BACKEND_LIBGIT2;
    vcs->name = g_strdup("libgit2");
    if (orch_libgit2_open(vcs, dir, &refusal)) {
        if (vcs->root) {
            g_autofree char *limits = orch_libgit2_limits(vcs);
            return !limits || orch_vcs_use_gitprog(vcs, limits, error);
        }
        refusal = g_strdup("libgit2 finds no repository");
    }
    use_git(vcs, refusal);
    return orch_gitprog_open(vcs, dir, error);
}

static bool is_same_folder(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Forgets what an attempt to open has set. */
static void reset(struct orch_vcs *vcs)
{
    orch_libgit2_close(vcs);
    g_clear_pointer(&vcs->root, g_free);
    g_clear_pointer(&vcs->git_dir, g_free);
    g_clear_pointer(&vcs->name, g_free);
    g_clear_pointer(&vcs->filter_settings, g_strfreev);
    g_clear_pointer(&vcs->own_filters, g_ptr_array_unref);
    vcs->backend = NULL;
}

/* If `.git` is damaged, git and libgit2 may find an outer repository, which must not be used. */
bool orch_vcs_start(struct orch_vcs *vcs, GError **error)
{
    if (vcs->backend)
        return true;
    struct orch_vcs opened = {0};
    GError *problem = NULL;
    if (open_any(&opened, vcs->root, &problem) && opened.root &&
        is_same_folder(opened.root, vcs->root)) {
        g_free(opened.root);
        g_free(opened.git_dir);
        opened.root = vcs->root; /* set_plain sets these two and nothing else */
        opened.git_dir = vcs->git_dir;
        *vcs = opened;
        return true;
    }
    if (!problem)
        orch_error_set(&problem, ORCH_ERROR_IO, "run 'git status' in that folder",
                       "'%s' is no longer a git repository", vcs->root);
    g_propagate_error(error, problem);
    reset(&opened);
    return false;
}

struct orch_vcs *orch_vcs_open(const char *dir, GError **error)
{
    g_autofree char *root = NULL;
    enum orch_root_kind found = orch_plain_root(dir, &root);
    if (found == ORCH_ROOT_NONE)
        return NULL;
    struct orch_vcs *vcs = g_new0(struct orch_vcs, 1);
    if (found == ORCH_ROOT_PLAIN) {
        set_plain(vcs, root);
        return vcs;
    }
    if (open_any(vcs, dir, error) && vcs->root)
        return vcs;
    orch_vcs_close(vcs);
    return NULL;
}

void orch_vcs_close(struct orch_vcs *vcs)
{
    if (!vcs)
        return;
    orch_libgit2_close(vcs);
    g_clear_pointer(&vcs->listed, g_hash_table_unref);
    if (vcs->cached_entries)
        g_ptr_array_unref(vcs->cached_entries);
    g_strfreev(vcs->filter_settings);
    if (vcs->own_filters)
        g_ptr_array_unref(vcs->own_filters);
    g_free(vcs->cached_tree);
    g_free(vcs->root);
    g_free(vcs->git_dir);
    g_free(vcs->name);
    g_free(vcs);
}

const char *orch_vcs_root(const struct orch_vcs *vcs)
{
    return vcs->root;
}

const char *orch_vcs_backend(struct orch_vcs *vcs)
{
    return orch_vcs_start(vcs, NULL) ? vcs->name : "none: the repository cannot be opened";
}

const GPtrArray *orch_vcs_filters_not_run(struct orch_vcs *vcs)
{
    return orch_vcs_start(vcs, NULL) ? vcs->own_filters : NULL;
}

/* True if `path` or a folder above it is in the set. */
static bool is_covered(GHashTable *set, const char *path)
{
    g_autofree char *at = g_strdup(path);
    for (;;) {
        if (g_hash_table_contains(set, at))
            return true;
        char *slash = strrchr(at, '/');
        if (!slash)
            return false;
        *slash = 0;
    }
}

/* True if the folder is not empty and all of its contents are in the set. */
static bool is_wholly_in(GHashTable *set, const char *root, const char *folder)
{
    g_autofree char *full_path = g_build_filename(root, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(full_path, 0, NULL);
    const char *name = dir ? g_dir_read_name(dir) : NULL;
    if (!name)
        return false;
    for (; name; name = g_dir_read_name(dir)) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (!g_hash_table_contains(set, path))
            return false;
    }
    return true;
}

/* Adds the folders above `path` whose contents are all in the set, as far up as possible. A folder
 * is examined once for its files, and again when one of its subfolders was added. */
static void add_whole_folders(GHashTable *set, GHashTable *seen, const char *root, const char *path)
{
    g_autofree char *folder = g_strdup(path);
    bool is_first = true;
    for (char *slash; (slash = strrchr(folder, '/')); is_first = false) {
        *slash = 0;
        bool is_seen = !g_hash_table_add(seen, g_strdup(folder));
        if ((is_first && is_seen) || !is_wholly_in(set, root, folder))
            return;
        g_hash_table_add(set, g_strdup(folder));
    }
}

/* The paths as a set, including folders whose contents are all ignored. */
static GHashTable *new_ignored_set(const GPtrArray *found, const char *root)
{
    GHashTable *set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (unsigned i = 0; i < found->len; i++) {
        char *path = found->pdata[i];
        size_t length = strlen(path);
        if (length && path[length - 1] == '/')
            path[length - 1] = 0;
        if (*path)
            g_hash_table_add(set, g_strdup(path));
    }
    for (unsigned i = 0; i < found->len; i++)
        add_whole_folders(set, seen, root, found->pdata[i]);
    return set;
}

GPtrArray *orch_vcs_ignored(struct orch_vcs *vcs, GError **error)
{
    g_autoptr(GPtrArray) found =
        orch_vcs_start(vcs, error) ? vcs->backend->ignored(vcs, error) : NULL;
    if (!found)
        return NULL;
    g_autoptr(GHashTable) set = new_ignored_set(found, vcs->root);
    GPtrArray *ignored = g_ptr_array_new_with_free_func(g_free);
    GHashTableIter iter;
    void *key;
    g_hash_table_iter_init(&iter, set);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        const char *path = key;
        g_autofree char *folder = g_path_get_dirname(path);
        bool is_own = strcmp(path, ".orch") == 0 || g_str_has_prefix(path, ".orch/");
        if (!is_own && !is_covered(set, folder))
            g_ptr_array_add(ignored, g_strdup(path));
    }
    g_ptr_array_sort(ignored, orch_compare_texts);
    if (ignored->len > IGNORED_MAX)
        g_ptr_array_set_size(ignored, IGNORED_MAX);
    return ignored;
}

bool orch_vcs_resolve(struct orch_vcs *vcs, const char *rev, char **out_commit, char **out_tree,
                      GError **error)
{
    if (!orch_vcs_start(vcs, error))
        return false;
    if (*rev && *rev != '-' && vcs->backend->resolve(vcs, rev, out_commit, out_tree))
        return true;
    orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                   "'git branch -a' and 'git log' list branches and commits",
                   "'%s' is not a commit in '%s'", rev, vcs->root);
    return false;
}

bool orch_vcs_keep(struct orch_vcs *vcs, const char *tree, GError **error)
{
    return orch_vcs_start(vcs, error) && vcs->backend->keep(vcs, tree, error);
}
