/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/vcs/git_history.h"
#include "lib/vcs/history.h"
#include "lib/vcs/libgit2.h"

static bool add_commit(struct orch_vcs *vcs, const git_oid *oid, GPtrArray *path, GError **error)
{
    char hex[ORCH_OID_CHARS];
    git_commit *commit = NULL;
    if (git_commit_lookup(&commit, vcs->repository, oid) != 0) {
        orch_libgit2_error(error, "cannot read commit '%s'", git_oid_tostr(hex, sizeof hex, oid));
        return false;
    }
    const git_signature *author = git_commit_author(commit);
    struct orch_vcs_commit *row = g_new0(struct orch_vcs_commit, 1);
    row->commit = g_strdup(git_oid_tostr(hex, sizeof hex, oid));
    row->tree = g_strdup(git_oid_tostr(hex, sizeof hex, git_commit_tree_id(commit)));
    row->subject = g_strdup(git_commit_summary(commit));
    row->author = g_strdup(author ? author->name : NULL);
    row->authored_s = author ? author->when.time : 0;
    row->parents = git_commit_parentcount(commit);
    g_ptr_array_add(path, row);
    git_commit_free(commit);
    return true;
}

static bool walk(struct orch_vcs *vcs, git_revwalk *walker, GPtrArray *path, GError **error)
{
    git_oid oid;
    int status = 0;
    while (path->len <= ORCH_VCS_PATH_MAX && (status = git_revwalk_next(&oid, walker)) == 0)
        if (!add_commit(vcs, &oid, path, error))
            return false;
    if (status == 0 || status == GIT_ITEROVER)
        return true;
    orch_libgit2_error(error, "cannot read the history of '%s'", vcs->root);
    return false;
}

bool orch_libgit2_path(struct orch_vcs *vcs, const char *from, const char *to, GPtrArray *path,
                       GError **error)
{
    git_oid begin, end;
    git_revwalk *walker = NULL;
    if (git_repository_is_shallow(
            vcs->repository)) /* libgit2 misses the commits that are cut off */
        return orch_git_history_path(vcs, from, to, path, error);
    bool ok = git_oid_fromstr(&begin, from) == 0 && git_oid_fromstr(&end, to) == 0 &&
              git_revwalk_new(&walker, vcs->repository) == 0 &&
              git_revwalk_simplify_first_parent(walker) == 0 &&
              git_revwalk_sorting(walker, GIT_SORT_TOPOLOGICAL | GIT_SORT_REVERSE) == 0 &&
              git_revwalk_push(walker, &end) == 0 && git_revwalk_hide(walker, &begin) == 0;
    if (!ok)
        orch_libgit2_error(error, "cannot read the history of '%s'", vcs->root);
    ok = ok && add_commit(vcs, &begin, path, error) && walk(vcs, walker, path, error);
    git_revwalk_free(walker);
    return ok;
}

bool orch_libgit2_common(struct orch_vcs *vcs, const char *a, const char *b, char **out,
                         GError **error)
{
    char hex[ORCH_OID_CHARS];
    git_oid one, other, base;
    if (git_repository_is_shallow(vcs->repository))
        return orch_git_history_common(vcs, a, b, out, error);
    int status = git_oid_fromstr(&one, a) || git_oid_fromstr(&other, b)
                     ? -1
                     : git_merge_base(&base, vcs->repository, &one, &other);
    if (status == 0)
        *out = g_strdup(git_oid_tostr(hex, sizeof hex, &base));
    else if (status != GIT_ENOTFOUND)
        orch_libgit2_error(error, "cannot read the history of '%s'", vcs->root);
    return status == 0 || status == GIT_ENOTFOUND;
}
