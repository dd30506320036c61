/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures the work tree. A backend lists the paths that differ from HEAD or the index. The policy
 * here decides which of them are captured; these are added to a temporary copy of the user's index,
 * whose tree is written. The copy keeps the modification time of the original, because git uses it
 * to detect files that changed too soon after they were added for their stat data to be reliable.
 *
 * Rejected: `git stash create` and `git diff`, which miss untracked files; an index in memory,
 * which has no stat data, so that every file would be read each time.
 *
 * Contents that are not captured never reach the object store. For a committed path the committed
 * version stays in the tree; the change is listed and makes the source dirty. */
#include "lib/vcs/vcs.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/temporary.h"
#include "lib/base/text.h"
#include "lib/vcs/backend.h"
#include "lib/vcs/secret_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX_BYTES_MAX ((size_t)1 << 30)
#define LEFT_OUT_MAX 1000

const struct orch_capture_limits ORCH_CAPTURE_LIMITS = {
    .file_bytes = 10 << 20, .total_bytes = 50 << 20, .file_count = 20000};

void orch_source_free(struct orch_source *source)
{
    if (!source)
        return;
    g_free(source->tree);
    g_free(source->commit);
    g_free(source->branch);
    g_free(source->remote);
    if (source->left_out)
        g_ptr_array_unref(source->left_out);
    g_free(source);
}

/* ---- the job ----------------------------------------------------------------------------------
 */

static void change_free(void *item)
{
    struct orch_change *change = item;
    g_free(change->path);
    g_free(change);
}

/* Discards the results of a scan. */
static void capture_reset(struct orch_capture *job)
{
    g_hash_table_remove_all(job->changes);
    g_clear_pointer(&job->commit, g_free);
    g_clear_pointer(&job->branch, g_free);
    g_clear_pointer(&job->head_tree, g_free);
    g_clear_pointer(&job->tree, git_tree_free);
    g_clear_pointer(&job->index, git_index_free);
    g_clear_pointer(&job->repository, git_repository_free);
}

static void capture_clear(struct orch_capture *job)
{
    if (job->changes) {
        capture_reset(job);
        g_hash_table_unref(job->changes);
    }
    if (job->folder)
        orch_tree_remove(job->folder, NULL);
    g_free(job->folder);
    g_free(job->index_path);
}

/* Copies the user's index with its modification time; does nothing if there is no index. */
static bool copy_index(const char *from, const char *to, GError **error)
{
    struct stat info;
    if (stat(from, &info) != 0)
        return true;
    g_autofree char *bytes = NULL;
    size_t length;
    if (!orch_file_read(from, INDEX_BYTES_MAX, &bytes, &length, error) ||
        !orch_file_write(to, bytes, length, false, error))
        return false;
    const struct timespec times[2] = {info.st_atim, info.st_mtim};
    if (utimensat(AT_FDCWD, to, times, 0) == 0)
        return true;
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot set the file time of '%s'", to);
    return false;
}

static bool capture_init(struct orch_capture *job, struct orch_vcs *vcs, GError **error)
{
    job->vcs = vcs;
    job->folder = orch_temporary_folder("vcs", error);
    if (!job->folder)
        return false;
    job->changes = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, change_free);
    job->index_path = g_build_filename(job->folder, "index", NULL);
    g_autofree char *users = g_build_filename(vcs->git_dir, "index", NULL);
    return copy_index(users, job->index_path, error);
}

/* ---- capture policy ---------------------------------------------------------------------------
 */

struct intake {
    const struct orch_capture_limits *limits;
    int64_t total_bytes;
    unsigned file_count;
    unsigned dropped_count; /* left out beyond the listed ones */
    bool has_hidden_change; /* the work tree differs from HEAD in something that is not captured */
    GPtrArray *left_out;
};

/* Lists the path as left out and uses HEAD's version. Takes ownership of `why`. */
static void leave_out(struct intake *intake, struct orch_change *change, char *why)
{
    change->action = ORCH_ACTION_HEAD;
    if (change->head_mode) {
        char *longer = g_strconcat(why, "; the committed version was taken", NULL);
        g_free(why);
        why = longer;
        intake->has_hidden_change = true;
    }
    if (intake->left_out->len < LEFT_OUT_MAX) {
        orch_left_out_add(intake->left_out, change->path, why);
    } else {
        intake->dropped_count++;
        g_free(why);
    }
}

/* Why the first bytes of a file exclude it; NULL if they do not. Caller frees. */
static char *objection_to_content(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return g_strdup_printf("cannot be read: %s", g_strerror(errno));
    char head[ORCH_SECRET_HEAD_BYTES];
    ssize_t n = read(fd, head, sizeof head);
    int saved = errno;
    close(fd);
    if (n < 0)
        return g_strdup_printf("cannot be read: %s", g_strerror(saved));
    return g_strdup(orch_secret_by_content(head, (size_t)n));
}

/* Why a file must not be captured; NULL if it may be. Caller frees. */
static char *objection(const char *full_path, const struct orch_change *change, mode_t mode,
                       const struct orch_capture_limits *limits)
{
    if (!S_ISREG(mode) && !S_ISLNK(mode))
        return g_strdup("neither a file nor a symbolic link");
    const char *by_name = orch_secret_by_name(change->path);
    if (by_name)
        return g_strdup(by_name);
    if (change->bytes > limits->file_bytes) {
        g_autofree char *limit = orch_bytes_format(limits->file_bytes);
        return g_strdup_printf("larger than %s", limit);
    }
    return S_ISREG(mode) ? objection_to_content(full_path) : NULL;
}

/* True if a folder above `path` is a symbolic link: git tracks the link, not what is behind it. */
static bool is_behind_link(const char *root, const char *path)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        g_autofree char *folder = g_strndup(path, (gsize)(slash - path));
        g_autofree char *full_path = g_build_filename(root, folder, NULL);
        struct stat info;
        if (lstat(full_path, &info) == 0 && S_ISLNK(info.st_mode))
            return true;
    }
    return false;
}

/* Applies the rules that do not depend on other files. */
static void judge(struct intake *intake, const char *root, struct orch_change *change)
{
    change->action = ORCH_ACTION_TAKE;
    if (strcmp(change->path, ".orch") == 0 || g_str_has_prefix(change->path, ".orch/")) {
        change->action = ORCH_ACTION_HEAD; /* orch's own files, which are not listed as left out */
        return;
    }
    if (change->is_nested) {
        leave_out(intake, change, g_strdup("a git repository of its own"));
        return;
    }
    if (change->is_submodule) {
        if (change->is_dirty_submodule) {
            intake->has_hidden_change = true;
            orch_left_out_add(intake->left_out, change->path,
                              g_strdup("submodule with uncommitted changes"));
        }
        return;
    }
    g_autofree char *full_path = g_build_filename(root, change->path, NULL);
    struct stat info;
    if (lstat(full_path, &info) != 0 || S_ISDIR(info.st_mode) ||
        is_behind_link(root, change->path)) {
        change->action = ORCH_ACTION_REMOVE;
        return;
    }
    change->bytes = info.st_size;
    char *why = objection(full_path, change, info.st_mode, intake->limits);
    if (why)
        leave_out(intake, change, why);
}

/* Orders changed files before new ones and small before large ones, so that within the limits the
 * code is captured and data is left out. */
static int compare_changes(const void *a, const void *b)
{
    const struct orch_change *x = *(struct orch_change *const *)a;
    const struct orch_change *y = *(struct orch_change *const *)b;
    if (!x->head_mode != !y->head_mode)
        return x->head_mode ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return strcmp(x->path, y->path);
}

static void apply_limits(struct intake *intake, struct orch_change *change)
{
    const struct orch_capture_limits *limits = intake->limits;
    if (change->action != ORCH_ACTION_TAKE || change->is_submodule)
        return;
    if (intake->file_count >= limits->file_count) {
        leave_out(intake, change,
                  g_strdup_printf("more than %u files are not committed", limits->file_count));
    } else if (change->bytes > limits->total_bytes - intake->total_bytes) {
        g_autofree char *total = orch_bytes_format(limits->total_bytes);
        leave_out(intake, change, g_strdup_printf("more than %s are not committed", total));
    } else {
        intake->file_count++;
        intake->total_bytes += change->bytes;
    }
}

static int compare_left_out(const void *a, const void *b)
{
    const struct orch_left_out *x = *(struct orch_left_out *const *)a;
    const struct orch_left_out *y = *(struct orch_left_out *const *)b;
    return strcmp(x->path, y->path);
}

/* Sets the action of every change. */
static void decide(struct orch_capture *job, struct intake *intake)
{
    g_autoptr(GPtrArray) changes = g_ptr_array_new();
    GHashTableIter iter;
    void *value;
    g_hash_table_iter_init(&iter, job->changes);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        g_ptr_array_add(changes, value);
    for (unsigned i = 0; i < changes->len; i++)
        judge(intake, job->vcs->root, changes->pdata[i]);
    g_ptr_array_sort(changes, compare_changes);
    for (unsigned i = 0; i < changes->len; i++)
        apply_limits(intake, changes->pdata[i]);
    g_ptr_array_sort(intake->left_out, compare_left_out);
    if (intake->dropped_count) {
        g_autofree char *rest = g_strdup_printf("(%u more)", intake->dropped_count);
        orch_left_out_add(intake->left_out, rest,
                          g_strdup_printf("only the first %d are listed", LEFT_OUT_MAX));
    }
}

/* ---- capture ----------------------------------------------------------------------------------
 */

/* True if a new or changed attributes file names a filter that libgit2 does not apply. */
static bool has_new_filter(struct orch_capture *job)
{
    GHashTableIter iter;
    void *key;
    g_hash_table_iter_init(&iter, job->changes);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        const char *path = key, *slash = strrchr(path, '/');
        if (strcmp(slash ? slash + 1 : path, ".gitattributes") != 0)
            continue;
        g_autofree char *full_path = g_build_filename(job->vcs->root, path, NULL);
        if (orch_attributes_need_git(job->vcs, full_path))
            return true;
    }
    return false;
}

static bool scan(struct orch_capture *job, GError **error)
{
    if (!job->vcs->backend->scan(job, error))
        return false;
    if (job->vcs->backend != &ORCH_BACKEND_LIBGIT2 || !has_new_filter(job))
        return true;
    capture_reset(job);
    return orch_vcs_use_gitprog(job->vcs, "clean filters", error) &&
           job->vcs->backend->scan(job, error);
}

static char *public_remote(struct orch_vcs *vcs, const char *branch)
{
    g_autofree char *url = orch_remote_url(vcs, branch);
    return url && *url ? orch_url_public(url) : NULL;
}

struct orch_source *orch_vcs_capture(struct orch_vcs *vcs, const struct orch_capture_limits *limits,
                                     GError **error)
{
    struct orch_capture job = {0};
    struct orch_source *source = NULL;
    struct intake intake = {.limits = limits ? limits : &ORCH_CAPTURE_LIMITS};
    g_autofree char *tree = NULL;
    int64_t captured_ns = orch_now_ns();
    intake.left_out = g_ptr_array_new_with_free_func((GDestroyNotify)orch_left_out_free);
    if (orch_vcs_start(vcs, error) && capture_init(&job, vcs, error) && scan(&job, error)) {
        decide(&job, &intake);
        tree = vcs->backend->write(&job, error);
    }
    if (tree && vcs->backend->keep(vcs, tree, error)) {
        source = g_new0(struct orch_source, 1);
        source->captured_ns = captured_ns;
        source->dirty = intake.has_hidden_change || g_strcmp0(tree, job.head_tree) != 0;
        source->tree = g_steal_pointer(&tree);
        source->commit = g_steal_pointer(&job.commit);
        source->branch = g_steal_pointer(&job.branch);
        source->remote = public_remote(vcs, source->branch);
        source->left_out = g_ptr_array_ref(intake.left_out);
    }
    g_ptr_array_unref(intake.left_out);
    capture_clear(&job);
    return source;
}
