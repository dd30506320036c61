/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/workspace/uncaptured.h"

#include "lib/base/text.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 40, ENTRIES_MAX = 1000000 };

struct walk {
    struct orch_uncaptured *out;
    GHashTable *known; /* of out->paths, borrowed */
    const char *root;
    int entries; /* seen so far */
};

void orch_uncaptured_free(struct orch_uncaptured *uncaptured)
{
    if (!uncaptured)
        return;
    g_ptr_array_unref(uncaptured->paths);
    g_ptr_array_unref(uncaptured->folders);
    g_free(uncaptured);
}

static void add(struct walk *walk, const char *path)
{
    char *copy = g_strdup(path);
    if (g_hash_table_add(walk->known, copy))
        g_ptr_array_add(walk->out->paths, copy);
    else
        g_free(copy);
}

static bool is_folder(const char *full, const struct dirent *entry)
{
    struct stat info;
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return lstat(full, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool is_odd(const char *full, const struct dirent *entry)
{
    struct stat info;
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_FIFO || entry->d_type == DT_SOCK || entry->d_type == DT_CHR ||
               entry->d_type == DT_BLK;
    return lstat(full, &info) == 0 && !S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode) &&
           !S_ISLNK(info.st_mode);
}

/* Finds pipes, sockets and empty folders, which git does not list. */
static void walk_folder(struct walk *walk, const char *folder, int depth)
{
    g_autofree char *here = g_build_filename(walk->root, folder, NULL);
    DIR *dir = depth ? opendir(here) : NULL;
    bool is_empty = dir != NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        static const char *const not_walked[] = {".git", ".orch", NULL};
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        is_empty = false;
        g_autofree char *path =
            *folder ? g_strconcat(folder, "/", entry->d_name, NULL) : g_strdup(entry->d_name);
        g_autofree char *full = g_build_filename(walk->root, path, NULL);
        if (++walk->entries > ENTRIES_MAX || g_strv_contains(not_walked, entry->d_name) ||
            g_hash_table_contains(walk->known, path))
            continue;
        if (is_folder(full, entry))
            walk_folder(walk, path, depth - 1);
        else if (is_odd(full, entry))
            add(walk, path);
    }
    if (dir)
        closedir(dir);
    if (is_empty && *folder)
        g_ptr_array_add(walk->out->folders, g_strdup(folder));
}

static bool list_all(struct walk *walk, struct orch_vcs *vcs, const struct orch_source *source,
                     const char *tree, GError **error)
{
    g_autoptr(GPtrArray) ignored = orch_vcs_ignored(vcs, error);
    g_autoptr(GPtrArray) submodules = ignored ? orch_vcs_submodules(vcs, tree, error) : NULL;
    if (!submodules)
        return false;
    for (guint i = 0; i < ignored->len; i++)
        add(walk, ignored->pdata[i]);
    for (guint i = 0; i < submodules->len; i++)
        add(walk, submodules->pdata[i]);
    for (guint i = 0; i < source->left_out->len; i++) {
        const struct orch_left_out *file = source->left_out->pdata[i];
        g_autofree char *full = g_build_filename(walk->root, file->path, NULL);
        if (g_file_test(full, G_FILE_TEST_EXISTS)) /* the last item may be a count */
            add(walk, file->path);
    }
    walk_folder(walk, "", DEPTH_MAX);
    return true;
}

struct orch_uncaptured *orch_uncaptured_list(struct orch_vcs *vcs, const struct orch_source *source,
                                             const char *tree, GError **error)
{
    struct orch_uncaptured *out = g_new0(struct orch_uncaptured, 1);
    out->paths = g_ptr_array_new_with_free_func(g_free);
    out->folders = g_ptr_array_new_with_free_func(g_free);
    struct walk walk = {.out = out, .root = orch_vcs_root(vcs)};
    walk.known = g_hash_table_new(g_str_hash, g_str_equal);
    bool ok = list_all(&walk, vcs, source, tree, error);
    g_hash_table_unref(walk.known);
    g_ptr_array_sort(out->paths, orch_compare_texts);
    if (!ok)
        g_clear_pointer(&out, orch_uncaptured_free);
    return out;
}
