/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The libgit2 backend: scanning and writing. Uses a second handle of the repository whose index is
 * the temporary copy, so the user's index file is never opened for writing. */
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/vcs/libgit2.h"

#include <errno.h>
#include <fcntl.h>
#include <git2/sys/repository.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limit for files that grow between the scan and the read. */
#define READ_BYTES_MAX ((size_t)1 << 30)

/* ---- scan -------------------------------------------------------------------------------------
 */

static bool open_second_handle(struct orch_capture *job, GError **error)
{
    if (git_repository_open(&job->repository, job->vcs->root) == 0 &&
        git_index_open(&job->index, job->index_path) == 0 &&
        git_repository_set_index(job->repository, job->index) == 0)
        return true;
    orch_libgit2_error(error, "cannot open the repository '%s'", job->vcs->root);
    return false;
}

/* True for an entry that git treats as unchanged whatever lies in the work tree. */
static bool is_hidden(const git_index_entry *entry)
{
    return (entry->flags & GIT_INDEX_ENTRY_VALID) ||
           (entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE);
}

static bool exists(const struct orch_capture *job, const char *path)
{
    struct stat info;
    g_autofree char *full_path = g_build_filename(job->vcs->root, path, NULL);
    return lstat(full_path, &info) == 0;
}

/* Removes the marks assume-unchanged and skip-worktree from the files that exist, so that what is
 * on disk is captured. Files of a sparse checkout that do not exist keep theirs. */
static bool reveal_hidden(struct orch_capture *job, GError **error)
{
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < git_index_entrycount(job->index); i++) {
        const git_index_entry *entry = git_index_get_byindex(job->index, i);
        bool is_absent_by_wish = entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE;
        if (is_hidden(entry) && (!is_absent_by_wish || exists(job, entry->path)))
            g_ptr_array_add(paths, g_strdup(entry->path));
    }
    for (guint i = 0; i < paths->len; i++) {
        const git_index_entry *found = git_index_get_bypath(job->index, paths->pdata[i], 0);
        if (!found)
            continue;
        git_index_entry entry = *found;
        entry.path = paths->pdata[i];
        entry.flags &= (uint16_t)~GIT_INDEX_ENTRY_VALID;
        entry.flags_extended &= (uint16_t)~GIT_INDEX_ENTRY_SKIP_WORKTREE;
        if (git_index_add(job->index, &entry) != 0) {
            orch_libgit2_error(error, "cannot read the index entry of '%s'", entry.path);
            return false;
        }
    }
    return true;
}

/* Reads whether the file system has executable bits. */
static void read_has_modes(struct orch_capture *job)
{
    git_config *config = NULL;
    int has_modes = 1;
    if (git_repository_config_snapshot(&config, job->repository) == 0)
        git_config_get_bool(&has_modes, config, "core.filemode"); /* remains true if not set */
    git_config_free(config);
    git_error_clear();
    job->has_modes = has_modes;
}

/* Name of a branch without commits, from HEAD. */
static char *unborn_branch(git_repository *repository)
{
    git_reference *head = NULL;
    char *branch = NULL;
    if (git_reference_lookup(&head, repository, "HEAD") == 0) {
        const char *target = git_reference_symbolic_target(head);
        if (target && g_str_has_prefix(target, "refs/heads/"))
            branch = g_strdup(target + strlen("refs/heads/"));
    }
    git_reference_free(head);
    return branch;
}

static bool read_head(struct orch_capture *job, GError **error)
{
    git_reference *head = NULL;
    git_object *commit = NULL;
    int status = git_repository_head(&head, job->repository);
    if (status == GIT_EUNBORNBRANCH || status == GIT_ENOTFOUND) {
        job->branch = unborn_branch(job->repository);
        return true;
    }
    bool ok = status == 0 && git_reference_peel(&commit, head, GIT_OBJECT_COMMIT) == 0 &&
              git_commit_tree(&job->tree, (git_commit *)commit) == 0;
    if (ok) {
        char hex[ORCH_OID_CHARS];
        job->commit = g_strdup(git_oid_tostr(hex, sizeof hex, git_object_id(commit)));
        job->head_tree = g_strdup(git_oid_tostr(hex, sizeof hex, git_tree_id(job->tree)));
        if (git_reference_is_branch(head))
            job->branch = g_strdup(git_reference_shorthand(head));
    } else {
        orch_libgit2_error(error, "cannot read HEAD of '%s'", job->vcs->root);
    }
    git_object_free(commit);
    git_reference_free(head);
    return ok;
}

/* Sets HEAD's mode and object id for the change's path. */
static void fill_head(struct orch_capture *job, struct orch_change *change)
{
    git_tree_entry *entry = NULL;
    if (change->head_mode || !job->tree ||
        git_tree_entry_bypath(&entry, job->tree, change->path) != 0)
        return;
    if (git_tree_entry_type(entry) != GIT_OBJECT_TREE) {
        change->head_mode = git_tree_entry_filemode(entry);
        git_oid_tostr(change->head_oid, sizeof change->head_oid, git_tree_entry_id(entry));
    }
    git_tree_entry_free(entry);
}

/* True if the folder (a path of the work tree) is a repository. */
static bool is_repository(const struct orch_capture *job, const char *folder)
{
    g_autofree char *path = g_build_filename(job->vcs->root, folder, ".git", NULL);
    return access(path, F_OK) == 0;
}

/* Notes a folder of the work tree that contains a repository and is not in the index. */
static void note_nested(struct orch_capture *job, const git_diff_delta *delta)
{
    g_autofree char *path = g_strdup(delta->new_file.path);
    size_t length = strlen(path);
    if (length && path[length - 1] == '/')
        path[length - 1] = 0;
    int is_ignored = 0;
    if (!is_repository(job, path))
        return;
    /* libgit2 reports nested repositories as ignored even if no pattern matches */
    if (delta->status == GIT_DELTA_IGNORED &&
        (git_ignore_path_is_ignored(&is_ignored, job->repository, delta->new_file.path) != 0 ||
         is_ignored))
        return;
    orch_capture_change(job, path)->is_nested = true;
}

static void note_submodule(struct orch_capture *job, struct orch_change *change)
{
    unsigned status = 0;
    change->is_submodule = true;
    if (git_submodule_status(&status, job->repository, change->path, GIT_SUBMODULE_IGNORE_NONE) ==
        0)
        change->is_dirty_submodule = GIT_SUBMODULE_STATUS_IS_WD_DIRTY(status);
}

/* True for a file that a sparse checkout leaves out: it is not deleted. */
static bool is_not_checked_out(const struct orch_capture *job, const char *path)
{
    const git_index_entry *entry = git_index_get_bypath(job->index, path, 0);
    return entry && (entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE);
}

static void note_delta(struct orch_capture *job, const git_diff_delta *delta)
{
    const char *path = delta->new_file.path ? delta->new_file.path : delta->old_file.path;
    size_t length = strlen(path);
    bool is_folder = length && path[length - 1] == '/';
    if (delta->status == GIT_DELTA_IGNORED || is_folder) {
        if (is_folder || delta->new_file.mode == GIT_FILEMODE_COMMIT)
            note_nested(job, delta);
        return;
    }
    if (delta->status == GIT_DELTA_DELETED && is_not_checked_out(job, path))
        return;
    struct orch_change *change = orch_capture_change(job, path);
    fill_head(job, change);
    if (delta->new_file.mode == GIT_FILEMODE_COMMIT && delta->status != GIT_DELTA_DELETED)
        note_submodule(job, change);
}

/* Finds staged changes relative to HEAD, which must pass the same checks as unstaged ones. Removals
 * are in the index already. */
static bool scan_staged(struct orch_capture *job, GError **error)
{
    git_diff_options options;
    git_diff *diff = NULL;
    git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
    options.flags = GIT_DIFF_SKIP_BINARY_CHECK;
    if (git_diff_tree_to_index(&diff, job->repository, job->tree, job->index, &options) != 0) {
        orch_libgit2_error(error, "cannot compare the index of '%s' with HEAD", job->vcs->root);
        return false;
    }
    for (size_t i = 0; i < git_diff_num_deltas(diff); i++) {
        const git_diff_delta *delta = git_diff_get_delta(diff, i);
        if (delta->status != GIT_DELTA_DELETED)
            note_delta(job, delta);
    }
    git_diff_free(diff);
    return true;
}

static bool scan_work_tree(struct orch_capture *job, GError **error)
{
    git_diff_options options;
    git_diff *diff = NULL;
    git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
    options.flags = GIT_DIFF_INCLUDE_UNTRACKED | GIT_DIFF_RECURSE_UNTRACKED_DIRS |
                    GIT_DIFF_INCLUDE_TYPECHANGE | GIT_DIFF_INCLUDE_IGNORED |
                    GIT_DIFF_INCLUDE_UNREADABLE | GIT_DIFF_SKIP_BINARY_CHECK;
    options.ignore_submodules = GIT_SUBMODULE_IGNORE_NONE;
    if (git_diff_index_to_workdir(&diff, job->repository, job->index, &options) != 0) {
        orch_libgit2_error(error, "cannot compare the files of '%s' with the index",
                           job->vcs->root);
        return false;
    }
    for (size_t i = 0; i < git_diff_num_deltas(diff); i++)
        note_delta(job, git_diff_get_delta(diff, i));
    git_diff_free(diff);
    return true;
}

bool orch_libgit2_scan(struct orch_capture *job, GError **error)
{
    if (!open_second_handle(job, error) || !reveal_hidden(job, error) || !read_head(job, error))
        return false;
    read_has_modes(job);
    return scan_staged(job, error) && scan_work_tree(job, error);
}

/* ---- write ------------------------------------------------------------------------------------
 */

/* Removes the path from the index, including conflicts. */
static void drop_entry(struct orch_capture *job, const char *path)
{
    git_index_conflict_remove(job->index, path); /* fails if there is none */
    git_index_remove(job->index, path, 0);
    git_error_clear();
}

static bool add_entry(struct orch_capture *job, const char *path, unsigned mode, const git_oid *oid,
                      GError **error)
{
    git_index_entry entry = {.mode = mode, .id = *oid, .path = path};
    if (git_index_add(job->index, &entry) == 0)
        return true;
    orch_libgit2_error(error, "cannot capture '%s'", path);
    return false;
}

/* Restores HEAD's version in the index. */
static bool restore(struct orch_capture *job, const struct orch_change *change, GError **error)
{
    git_oid oid;
    drop_entry(job, change->path);
    return !change->head_mode || (git_oid_fromstr(&oid, change->head_oid) == 0 &&
                                  add_entry(job, change->path, change->head_mode, &oid, error));
}

/* Uses the submodule's HEAD; if it is not checked out, the index entry stays. */
static bool take_submodule(struct orch_capture *job, const struct orch_change *change,
                           GError **error)
{
    g_autofree char *full_path = g_build_filename(job->vcs->root, change->path, NULL);
    git_repository *inner = NULL;
    git_oid oid;
    bool has_head = git_repository_open(&inner, full_path) == 0 &&
                    git_reference_name_to_id(&oid, inner, "HEAD") == 0;
    git_repository_free(inner);
    git_error_clear();
    return !has_head || add_entry(job, change->path, ORCH_MODE_SUBMODULE, &oid, error);
}

/* Writes bytes as an object. git_blob_create_from_buffer is avoided because it compresses and
 * writes a file even if the object exists. */
static int write_blob(struct orch_capture *job, const char *bytes, size_t length, git_oid *out)
{
    git_odb *odb = NULL;
    int status = git_repository_odb(&odb, job->repository);
    if (status == 0)
        status = git_odb_write(out, odb, bytes, length, GIT_OBJECT_BLOB);
    git_odb_free(odb);
    return status;
}

/* Writes a link's target as an object. */
static int write_link(struct orch_capture *job, const char *full_path, git_oid *out)
{
    char target[PATH_MAX];
    ssize_t n = readlink(full_path, target, sizeof target);
    return n < 0 ? GIT_ENOTFOUND : write_blob(job, target, (size_t)n, out);
}

/* Writes a file as an object, with git's conversions (line ends, $Id$). */
static int write_file(struct orch_capture *job, const char *path, const char *full_path,
                      git_oid *out)
{
    g_autofree char *bytes = NULL;
    size_t length;
    if (!orch_file_read(full_path, READ_BYTES_MAX, &bytes, &length, NULL))
        return GIT_ENOTFOUND;
    git_filter_list *filters = NULL;
    git_buf filtered = {0};
    int status = git_filter_list_load(&filters, job->repository, NULL, path, GIT_FILTER_TO_ODB,
                                      GIT_FILTER_ALLOW_UNSAFE);
    if (status == 0 && filters)
        status = git_filter_list_apply_to_buffer(&filtered, filters, bytes, length);
    if (status == 0)
        status = filters ? write_blob(job, filtered.ptr, filtered.size, out)
                         : write_blob(job, bytes, length, out);
    git_buf_dispose(&filtered);
    git_filter_list_free(filters);
    return status;
}

/* Mode in the tree. Without executable bits in the file system, the index's mode is used. */
static unsigned mode_of(struct orch_capture *job, const char *path, const struct stat *info)
{
    if (S_ISLNK(info->st_mode))
        return ORCH_MODE_LINK;
    if (job->has_modes)
        return info->st_mode & S_IXUSR ? ORCH_MODE_PROGRAM : ORCH_MODE_FILE;
    const git_index_entry *entry = git_index_get_bypath(job->index, path, 0);
    return entry && entry->mode == ORCH_MODE_PROGRAM ? ORCH_MODE_PROGRAM : ORCH_MODE_FILE;
}

static bool take(struct orch_capture *job, const struct orch_change *change, GError **error)
{
    if (change->is_submodule)
        return take_submodule(job, change, error);
    g_autofree char *full_path = g_build_filename(job->vcs->root, change->path, NULL);
    struct stat info;
    git_oid oid;
    int status = lstat(full_path, &info) != 0 ? GIT_ENOTFOUND
                 : S_ISLNK(info.st_mode)      ? write_link(job, full_path, &oid)
                                              : write_file(job, change->path, full_path, &oid);
    if (status == GIT_ENOTFOUND) { /* removed since the scan */
        drop_entry(job, change->path);
        return true;
    }
    if (status != 0) {
        orch_libgit2_error(error, "cannot capture '%s'", change->path);
        return false;
    }
    unsigned mode = mode_of(job, change->path, &info);
    drop_entry(job, change->path);
    return add_entry(job, change->path, mode, &oid, error);
}

char *orch_libgit2_write(struct orch_capture *job, GError **error)
{
    GHashTableIter iter;
    void *value;
    /* removals first, because a file may replace a folder */
    g_hash_table_iter_init(&iter, job->changes);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const struct orch_change *change = value;
        if (change->action == ORCH_ACTION_REMOVE)
            drop_entry(job, change->path);
        else if (change->action == ORCH_ACTION_HEAD && !restore(job, change, error))
            return NULL;
    }
    g_hash_table_iter_init(&iter, job->changes);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const struct orch_change *change = value;
        if (change->action == ORCH_ACTION_TAKE && !take(job, change, error))
            return NULL;
    }
    git_oid tree;
    char hex[ORCH_OID_CHARS];
    if (git_index_write_tree_to(&tree, job->index, job->repository) == 0)
        return g_strdup(git_oid_tostr(hex, sizeof hex, &tree));
    orch_libgit2_error(error, "cannot write the captured tree of '%s'", job->vcs->root);
    return NULL;
}

/* ---- ignored ----------------------------------------------------------------------------------
 */

GPtrArray *orch_libgit2_ignored(struct orch_vcs *vcs, GError **error)
{
    git_status_options options;
    git_status_list *list = NULL;
    git_status_options_init(&options, GIT_STATUS_OPTIONS_VERSION);
    options.show = GIT_STATUS_SHOW_WORKDIR_ONLY;
    options.flags = GIT_STATUS_OPT_INCLUDE_IGNORED | GIT_STATUS_OPT_INCLUDE_UNTRACKED |
                    GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS | GIT_STATUS_OPT_EXCLUDE_SUBMODULES |
                    GIT_STATUS_OPT_NO_REFRESH;
    if (git_status_list_new(&list, vcs->repository, &options) != 0) {
        orch_libgit2_error(error, "cannot list what git ignores in '%s'", vcs->root);
        return NULL;
    }
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < git_status_list_entrycount(list); i++) {
        const git_status_entry *entry = git_status_byindex(list, i);
        if (entry->status & GIT_STATUS_IGNORED && entry->index_to_workdir)
            g_ptr_array_add(paths, g_strdup(entry->index_to_workdir->new_file.path));
    }
    git_status_list_free(list);
    return paths;
}
