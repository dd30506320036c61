/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tree objects: files, subtrees, differences, checkout. A tree may come from an untrusted remote,
 * so a checkout validates all paths before it writes the first file, and writes symbolic links
 * last, so that no file is written through one. */
#include "lib/vcs/vcs.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/vcs/backend.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Maximum number of segments of a path or pattern; deeper ones match nothing. */
#define SEGMENTS_MAX 256

static int compare_entries(const void *a, const void *b)
{
    const struct orch_entry *const *x = a, *const *y = b;
    return strcmp((*x)->path, (*y)->path);
}

/* Ids are used as arguments of programs, so they must be hex digits only. */
static bool is_oid(const char *text)
{
    size_t length = text ? strlen(text) : 0;
    return (length == 40 || length == 64) && strspn(text, "0123456789abcdef") == length;
}

static bool check_oid(const char *tree, GError **error)
{
    if (is_oid(tree))
        return true;
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                   "'%s' is not a tree ID: expected 40 or 64 hex digits", tree ? tree : "");
    return false;
}

bool orch_vcs_has_tree(struct orch_vcs *vcs, const char *tree)
{
    return is_oid(tree) && orch_vcs_start(vcs, NULL) && vcs->backend->has_tree(vcs, tree);
}

const GPtrArray *orch_tree_entries(struct orch_vcs *vcs, const char *tree, GError **error)
{
    if (!check_oid(tree, error))
        return NULL;
    if (g_strcmp0(vcs->cached_tree, tree) == 0)
        return vcs->cached_entries;
    if (!orch_vcs_start(vcs, error))
        return NULL;
    if (!vcs->backend->has_tree(vcs, tree)) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "the tree was captured in another clone, or removed by 'orch gc'",
                       "no tree '%s' is in the repository '%s'", tree, vcs->root);
        return NULL;
    }
    GPtrArray *entries = vcs->backend->entries(vcs, tree, error);
    if (!entries)
        return NULL;
    g_ptr_array_sort(entries, compare_entries);
    g_clear_pointer(&vcs->cached_entries, g_ptr_array_unref);
    g_free(vcs->cached_tree);
    vcs->cached_entries = entries;
    vcs->cached_tree = g_strdup(tree);
    return entries;
}

/* ---- subtrees ---------------------------------------------------------------------------------
 */

struct pattern {
    const char *text; /* as written by the caller */
    char *segments[SEGMENTS_MAX + 1];
    bool is_used;
};

/* Splits a path at slashes, dropping empty segments and '.'; false for '..', absolute or too deep
 * paths. */
static bool split(const char *path, char **segments)
{
    unsigned count = 0;
    bool ok = *path != '/';
    for (const char *at = path; ok && *at;) {
        size_t length = strcspn(at, "/");
        bool is_empty = !length || (length == 1 && *at == '.');
        ok = !(length == 2 && strncmp(at, "..", 2) == 0) && count < SEGMENTS_MAX;
        if (ok && !is_empty)
            segments[count++] = g_strndup(at, length);
        at += length + (at[length] == '/');
    }
    segments[count] = NULL;
    return ok;
}

static void clear_segments(char **segments)
{
    for (; *segments; segments++)
        g_clear_pointer(segments, g_free);
}

/* True if `path` matches `pattern` or is below a folder that does. `**` matches any number of
 * folders. A segment equal to the pattern's matches even if it contains pattern characters:
 * 'a[1].py' matches the file of that name. */
static bool matches(char *const *pattern, char *const *path)
{
    if (!*pattern)
        return true;
    if (strcmp(*pattern, "**") == 0) {
        if (matches(pattern + 1, path))
            return true;
        return *path && matches(pattern, path + 1);
    }
    return *path && (strcmp(*pattern, *path) == 0 || fnmatch(*pattern, *path, 0) == 0) &&
           matches(pattern + 1, path + 1);
}

/* Entries that match any pattern, borrowed; marks the patterns that matched. */
static GPtrArray *select_entries(const GPtrArray *entries, const GPtrArray *patterns)
{
    GPtrArray *chosen = g_ptr_array_new();
    char *segments[SEGMENTS_MAX + 1];
    for (unsigned i = 0; i < entries->len; i++) {
        struct orch_entry *entry = entries->pdata[i];
        bool is_chosen = false;
        bool ok = split(entry->path, segments);
        for (unsigned j = 0; ok && j < patterns->len; j++) {
            struct pattern *pattern = patterns->pdata[j];
            if (matches(pattern->segments, segments))
                is_chosen = pattern->is_used = true;
        }
        clear_segments(segments);
        if (is_chosen)
            g_ptr_array_add(chosen, entry);
    }
    return chosen;
}

static void pattern_free(void *item)
{
    struct pattern *pattern = item;
    clear_segments(pattern->segments);
    g_free(pattern);
}

/* Parses all patterns; NULL with an error naming one that is outside the tree. */
static GPtrArray *parse_patterns(const char *const *paths, GError **error)
{
    GPtrArray *patterns = g_ptr_array_new_with_free_func(pattern_free);
    for (; *paths; paths++) {
        struct pattern *pattern = g_new0(struct pattern, 1);
        pattern->text = *paths;
        g_ptr_array_add(patterns, pattern);
        if (!split(*paths, pattern->segments)) {
            orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                           "give a path relative to the root of the repository",
                           "path '%s' is not inside the repository", *paths);
            g_ptr_array_unref(patterns);
            return NULL;
        }
    }
    return patterns;
}

static struct orch_entry *entry_at(const GPtrArray *entries, const char *path)
{
    for (guint i = 0; i < entries->len; i++)
        if (strcmp(((struct orch_entry *)entries->pdata[i])->path, path) == 0)
            return entries->pdata[i];
    return NULL;
}

char *orch_vcs_subtree(struct orch_vcs *vcs, const char *tree, const char *const *paths,
                       GError **error)
{
    const GPtrArray *entries = orch_tree_entries(vcs, tree, error);
    g_autoptr(GPtrArray) patterns = entries ? parse_patterns(paths, error) : NULL;
    if (!patterns)
        return NULL;
    g_autoptr(GPtrArray) chosen = select_entries(entries, patterns);
    for (unsigned i = 0; i < patterns->len; i++) {
        const struct pattern *pattern = patterns->pdata[i];
        if (pattern->is_used || !*pattern->segments)
            continue;
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "ignored files and files over the size limits are not captured",
                       "'%s' matches no file in the captured source", pattern->text);
        return NULL;
    }
    return vcs->backend->build(vcs, chosen, error);
}

char *orch_vcs_tree_with(struct orch_vcs *vcs, const char *tree, const char *other,
                         const GPtrArray *paths, GError **error)
{
    /* only the entries of one tree are cached */
    const GPtrArray *read = orch_tree_entries(vcs, tree, error);
    g_autoptr(GPtrArray) entries = read ? g_ptr_array_ref((GPtrArray *)(uintptr_t)read) : NULL;
    read = entries ? orch_tree_entries(vcs, other, error) : NULL;
    g_autoptr(GPtrArray) others = read ? g_ptr_array_ref((GPtrArray *)(uintptr_t)read) : NULL;
    if (!others)
        return NULL;
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    for (guint i = 0; i < entries->len; i++)
        g_ptr_array_add(all, entries->pdata[i]);
    for (guint i = 0; i < paths->len; i++) {
        struct orch_entry *found = entry_at(others, paths->pdata[i]);
        if (found && !entry_at(entries, paths->pdata[i]))
            g_ptr_array_add(all, found);
    }
    g_ptr_array_sort(all, compare_entries);
    return vcs->backend->build(vcs, all, error);
}

GPtrArray *orch_vcs_list(struct orch_vcs *vcs, const char *tree, const char *folder, GError **error)
{
    const GPtrArray *entries = orch_tree_entries(vcs, tree, error);
    if (!entries)
        return NULL;
    size_t length = strlen(folder);
    while (length && folder[length - 1] == '/')
        length--;
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < entries->len; i++) {
        const struct orch_entry *entry = entries->pdata[i];
        bool is_below =
            !length || (strncmp(entry->path, folder, length) == 0 && entry->path[length] == '/');
        if (is_below && entry->mode != ORCH_MODE_SUBMODULE)
            g_ptr_array_add(paths, g_strdup(entry->path));
    }
    return paths;
}

static GPtrArray *paths_of_mode(struct orch_vcs *vcs, const char *tree, unsigned mode,
                                GError **error)
{
    const GPtrArray *entries = orch_tree_entries(vcs, tree, error);
    if (!entries)
        return NULL;
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < entries->len; i++) {
        const struct orch_entry *entry = entries->pdata[i];
        if (entry->mode == mode)
            g_ptr_array_add(paths, g_strdup(entry->path));
    }
    return paths;
}

GPtrArray *orch_vcs_submodules(struct orch_vcs *vcs, const char *tree, GError **error)
{
    return paths_of_mode(vcs, tree, ORCH_MODE_SUBMODULE, error);
}

GPtrArray *orch_vcs_links(struct orch_vcs *vcs, const char *tree, GError **error)
{
    return paths_of_mode(vcs, tree, ORCH_MODE_LINK, error);
}

/* ---- differences ------------------------------------------------------------------------------
 */

GPtrArray *orch_vcs_diff(struct orch_vcs *vcs, const char *tree_a, const char *tree_b,
                         GError **error)
{
    if (!orch_tree_entries(vcs, tree_a, error))
        return NULL;
    g_autoptr(GPtrArray) a = g_ptr_array_ref(vcs->cached_entries);
    const GPtrArray *b = orch_tree_entries(vcs, tree_b, error);
    if (!b)
        return NULL;
    GPtrArray *differences = g_ptr_array_new_with_free_func((GDestroyNotify)orch_left_out_free);
    unsigned i = 0, j = 0;
    while (i < a->len || j < b->len) {
        const struct orch_entry *x = i < a->len ? a->pdata[i] : NULL;
        const struct orch_entry *y = j < b->len ? b->pdata[j] : NULL;
        int order = x && y ? strcmp(x->path, y->path) : x ? -1 : 1;
        if (x && order < 0)
            orch_left_out_add(differences, x->path, g_strdup("removed"));
        else if (y && order > 0)
            orch_left_out_add(differences, y->path, g_strdup("added"));
        else if (x && y && (strcmp(x->oid, y->oid) != 0 || x->mode != y->mode))
            orch_left_out_add(differences, x->path, g_strdup("changed"));
        i += order <= 0;
        j += order >= 0;
    }
    return differences;
}

char *orch_vcs_diff_text(struct orch_vcs *vcs, const char *tree_a, const char *tree_b,
                         size_t max_bytes, GError **error)
{
    if (!check_oid(tree_a, error) || !check_oid(tree_b, error) || !orch_vcs_start(vcs, error))
        return NULL;
    return vcs->backend->diff_text(vcs, tree_a, tree_b, max_bytes, error);
}

/* ---- checkout ---------------------------------------------------------------------------------
 */

static bool is_safe_path(const char *path)
{
    if (!*path || *path == '/')
        return false;
    for (const char *at = path;;) {
        size_t length = strcspn(at, "/");
        g_autofree char *name = g_ascii_strdown(at, (gssize)length);
        if (!length || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            strcmp(name, ".git") == 0)
            return false;
        if (!at[length])
            return true;
        at += length + 1;
    }
}

/* True if a folder above `path` is itself one of `files`, which would write through a link or
 * twice. */
static bool is_below_file(GHashTable *files, const char *path)
{
    g_autofree char *folder = g_strdup(path);
    for (char *slash; (slash = strrchr(folder, '/'));) {
        *slash = 0;
        if (g_hash_table_contains(files, folder))
            return true;
    }
    return false;
}

static bool check_entries(const GPtrArray *entries, const char *tree, GError **error)
{
    g_autoptr(GHashTable) files = g_hash_table_new(g_str_hash, g_str_equal);
    for (unsigned i = 0; i < entries->len; i++)
        g_hash_table_add(files, ((struct orch_entry *)entries->pdata[i])->path);
    for (unsigned i = 0; i < entries->len; i++) {
        const struct orch_entry *entry = entries->pdata[i];
        if (is_safe_path(entry->path) && !is_below_file(files, entry->path))
            continue;
        orch_error_set(
            error, ORCH_ERROR_IO, "do not trust this tree",
            "tree '%s' has the path '%s', which is outside its folder; nothing was written", tree,
            entry->path);
        return false;
    }
    return true;
}

/* Returns 1 for an empty folder, 0 if nothing exists, -1 with an error for anything else. */
static int probe_dest(const char *dest, GError **error)
{
    if (access(dest, F_OK) != 0)
        return 0;
    g_autoptr(GDir) dir = g_dir_open(dest, 0, NULL);
    if (dir && !g_dir_read_name(dir))
        return 1;
    orch_error_set(error, ORCH_ERROR_IO, "name an empty or new folder",
                   "cannot write into '%s': it is not an empty folder", dest);
    return -1;
}

/* Writes to a temporary folder and renames it, so that `dest` is either complete or absent. */
static bool checkout_new(struct orch_vcs *vcs, const char *tree, const GPtrArray *entries,
                         const char *dest, GError **error)
{
    g_autofree char *parent = g_path_get_dirname(dest);
    if (!orch_dir_make(parent, error))
        return false;
    g_autofree char *part = g_strconcat(dest, ".part-XXXXXX", NULL);
    if (!g_mkdtemp_full(part, 0777)) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make a folder in '%s'", parent);
        return false;
    }
    bool ok = vcs->backend->checkout(vcs, tree, entries, part, error);
    if (ok && rename(part, dest) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make '%s'", dest);
        ok = false;
    }
    if (!ok)
        orch_tree_remove(part, NULL);
    return ok;
}

/* Writes into an existing folder, which is not replaced because it may be a mount point or in
 * use. */
static bool checkout_existing(struct orch_vcs *vcs, const char *tree, const GPtrArray *entries,
                              const char *dest, GError **error)
{
    if (vcs->backend->checkout(vcs, tree, entries, dest, error))
        return true;
    g_autoptr(GDir) dir = g_dir_open(dest, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(dest, name, NULL);
        orch_tree_remove(path, NULL);
    }
    return false;
}

bool orch_vcs_checkout(struct orch_vcs *vcs, const char *tree, const char *dest, GError **error)
{
    const GPtrArray *entries = orch_tree_entries(vcs, tree, error);
    if (!entries || !check_entries(entries, tree, error))
        return false;
    g_autofree char *absolute = orch_path_absolute(dest, NULL);
    int is_there = probe_dest(absolute, error);
    if (is_there < 0)
        return false;
    mode_t before = umask(S_IWOTH); /* a plugin that anyone may write to is not loaded */
    umask(before | S_IWOTH);
    bool ok = is_there ? checkout_existing(vcs, tree, entries, absolute, error)
                       : checkout_new(vcs, tree, entries, absolute, error);
    umask(before);
    return ok;
}
