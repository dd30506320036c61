/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The libgit2 backend: tree objects. */
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/vcs/libgit2.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PATH_CHARS_MAX 4096
#define ENTRIES_MAX 2000000

static git_tree *lookup(struct orch_vcs *vcs, const char *hex)
{
    git_oid oid;
    git_tree *tree = NULL;
    if (strlen(hex) == GIT_OID_HEXSZ && git_oid_fromstr(&oid, hex) == 0 &&
        git_tree_lookup(&tree, vcs->repository, &oid) == 0)
        return tree;
    return NULL;
}

bool orch_libgit2_has_tree(struct orch_vcs *vcs, const char *tree)
{
    git_tree *found = lookup(vcs, tree);
    git_tree_free(found);
    git_error_clear();
    return found != NULL;
}

/* Callback of git_tree_walk; a negative result stops the walk, because excessive paths are an
 * attack. */
static int add_entry(const char *folder, const git_tree_entry *entry, void *payload)
{
    GPtrArray *entries = payload;
    if (strlen(folder) + strlen(git_tree_entry_name(entry)) >= PATH_CHARS_MAX ||
        entries->len >= ENTRIES_MAX)
        return -1;
    if (git_tree_entry_type(entry) == GIT_OBJECT_TREE)
        return 0;
    char hex[ORCH_OID_CHARS];
    g_autofree char *path = g_strconcat(folder, git_tree_entry_name(entry), NULL);
    git_oid_tostr(hex, sizeof hex, git_tree_entry_id(entry));
    g_ptr_array_add(entries, orch_entry_new(path, git_tree_entry_filemode(entry), hex));
    return 0;
}

GPtrArray *orch_libgit2_entries(struct orch_vcs *vcs, const char *tree, GError **error)
{
    git_tree *found = lookup(vcs, tree);
    GPtrArray *entries = g_ptr_array_new_with_free_func((GDestroyNotify)orch_entry_free);
    int status = found ? git_tree_walk(found, GIT_TREEWALK_PRE, add_entry, entries) : -1;
    git_tree_free(found);
    if (status == 0)
        return entries;
    orch_libgit2_error(error, "cannot read tree '%s' of '%s'", tree, vcs->root);
    g_ptr_array_unref(entries);
    return NULL;
}

/* Returns the path of the first file whose content the repository does not have, as happens in a
 * partial clone. NULL: it has all. */
static const char *first_missing(struct orch_vcs *vcs, const GPtrArray *entries)
{
    git_odb *objects = NULL;
    const char *path = NULL;
    if (git_repository_odb(&objects, vcs->repository) != 0)
        return NULL;
    for (guint i = 0; !path && i < entries->len; i++) {
        const struct orch_entry *entry = entries->pdata[i];
        git_oid id;
        if (entry->mode != GIT_FILEMODE_COMMIT && git_oid_fromstr(&id, entry->oid) == 0 &&
            !git_odb_exists(objects, &id))
            path = entry->path;
    }
    git_odb_free(objects);
    return path;
}

char *orch_libgit2_build(struct orch_vcs *vcs, const GPtrArray *entries, GError **error)
{
    git_index *index = NULL;
    int status = git_index_new(&index);
    for (unsigned i = 0; status == 0 && i < entries->len; i++) {
        const struct orch_entry *entry = entries->pdata[i];
        git_index_entry item = {.mode = entry->mode, .path = entry->path};
        status = git_oid_fromstr(&item.id, entry->oid);
        if (status == 0)
            status = git_index_add(index, &item);
    }
    git_oid tree;
    char hex[ORCH_OID_CHARS];
    if (status == 0)
        status = git_index_write_tree_to(&tree, index, vcs->repository);
    git_index_free(index);
    if (status == 0)
        return g_strdup(git_oid_tostr(hex, sizeof hex, &tree));
    const char *missing = first_missing(vcs, entries);
    if (missing)
        orch_error_set(error, ORCH_ERROR_IO, ORCH_PARTIAL_CLONE_HINT,
                       "repository '%s' does not have the content of '%s'", vcs->root, missing);
    else
        orch_libgit2_error(error, "cannot write a tree of %u files in '%s'", entries->len,
                           vcs->root);
    return NULL;
}

/* ---- checkout ---------------------------------------------------------------------------------
 */

/* Writes all bytes to a new file, which must not exist. */
static bool write_new(const char *path, const char *bytes, size_t length, unsigned mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  mode == ORCH_MODE_PROGRAM ? 0777 : 0666);
    if (fd < 0)
        return false;
    bool ok = true;
    while (ok && length) {
        ssize_t n = write(fd, bytes, length);
        ok = n >= 0 || errno == EINTR;
        bytes += MAX(n, 0);
        length -= (size_t)MAX(n, 0);
    }
    int saved = errno;
    ok = close(fd) == 0 && ok;
    if (!ok && saved)
        errno = saved;
    return ok;
}

/* Writes one file with git's conversions (line ends from the attributes). */
static bool write_file(struct orch_vcs *vcs, const struct orch_entry *entry, git_blob *blob,
                       const char *path, GError **error)
{
    git_filter_list *filters = NULL;
    git_buf filtered = {0};
    int status = git_filter_list_load(&filters, vcs->repository, blob, entry->path,
                                      GIT_FILTER_TO_WORKTREE, GIT_FILTER_ALLOW_UNSAFE);
    if (status == 0 && filters)
        status = git_filter_list_apply_to_blob(&filtered, filters, blob);
    const char *bytes = filters ? filtered.ptr : git_blob_rawcontent(blob);
    size_t length = filters ? filtered.size : (size_t)git_blob_rawsize(blob);
    bool ok = status == 0 && write_new(path, bytes, length, entry->mode);
    if (status != 0)
        orch_libgit2_error(error, "cannot write '%s'", path);
    else if (!ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", path);
    git_buf_dispose(&filtered);
    git_filter_list_free(filters);
    return ok;
}

static bool write_link(git_blob *blob, const char *path, GError **error)
{
    g_autofree char *target = g_strndup(git_blob_rawcontent(blob), (gsize)git_blob_rawsize(blob));
    if (symlink(target, path) == 0)
        return true;
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write the symbolic link '%s'", path);
    return false;
}

static bool write_entry(struct orch_vcs *vcs, const struct orch_entry *entry, const char *path,
                        GError **error)
{
    git_oid oid;
    git_blob *blob = NULL;
    if (entry->mode == ORCH_MODE_SUBMODULE)
        return orch_dir_make(path, error);
    if (git_oid_fromstr(&oid, entry->oid) != 0 ||
        git_blob_lookup(&blob, vcs->repository, &oid) != 0) {
        orch_libgit2_error(error, "cannot read '%s' of the captured source", entry->path);
        return false;
    }
    bool ok = entry->mode == ORCH_MODE_LINK ? write_link(blob, path, error)
                                            : write_file(vcs, entry, blob, path, error);
    git_blob_free(blob);
    return ok;
}

bool orch_libgit2_checkout(struct orch_vcs *vcs, const char *tree, const GPtrArray *entries,
                           const char *dest, GError **error)
{
    (void)tree;
    g_autofree char *made = NULL; /* last created folder; the entries are sorted */
    for (unsigned links = 0; links < 2; links++) {
        for (unsigned i = 0; i < entries->len; i++) {
            const struct orch_entry *entry = entries->pdata[i];
            if ((entry->mode == ORCH_MODE_LINK) != (links == 1))
                continue; /* links are written last, so nothing is written through one */
            g_autofree char *path = g_build_filename(dest, entry->path, NULL);
            g_autofree char *folder = g_path_get_dirname(path);
            if (g_strcmp0(folder, made) != 0 && !orch_dir_make(folder, error))
                return false;
            g_free(made);
            made = g_steal_pointer(&folder);
            if (!write_entry(vcs, entry, path, error))
                return false;
        }
    }
    return true;
}

/* ---- differences ------------------------------------------------------------------------------
 */

struct bounded_text {
    GString *text;
    size_t max_bytes;
};

/* Callback of git_diff_print: adds a line if it fits, otherwise stops. */
static int add_line(const git_diff_delta *delta, const git_diff_hunk *hunk,
                    const git_diff_line *line, void *payload)
{
    (void)delta;
    (void)hunk;
    struct bounded_text *out = payload;
    bool has_origin = line->origin == GIT_DIFF_LINE_CONTEXT ||
                      line->origin == GIT_DIFF_LINE_ADDITION ||
                      line->origin == GIT_DIFF_LINE_DELETION;
    if (out->text->len + line->content_len + has_origin > out->max_bytes)
        return 1;
    if (has_origin)
        g_string_append_c(out->text, line->origin);
    g_string_append_len(out->text, line->content, (gssize)line->content_len);
    return 0;
}

char *orch_libgit2_diff_text(struct orch_vcs *vcs, const char *tree_a, const char *tree_b,
                             size_t max_bytes, GError **error)
{
    git_tree *a = lookup(vcs, tree_a), *b = lookup(vcs, tree_b);
    git_diff *diff = NULL;
    struct bounded_text out = {g_string_new(NULL), max_bytes};
    bool ok = a && b && git_diff_tree_to_tree(&diff, vcs->repository, a, b, NULL) == 0;
    if (ok) {
        int status = git_diff_print(diff, GIT_DIFF_FORMAT_PATCH, add_line, &out);
        ok = status >= 0 || status == GIT_EUSER;
    }
    if (!ok)
        orch_libgit2_error(error, "cannot compare the trees '%s' and '%s' in '%s'", tree_a, tree_b,
                           vcs->root);
    git_diff_free(diff);
    git_tree_free(a);
    git_tree_free(b);
    return g_string_free(out.text, !ok);
}
