/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which source tree is this? The tree that is run is captured as it lies, uncommitted and untracked
 * files included, as git objects; the user's index, work tree and branches are never touched. Works
 * through libgit2, and through the `git` program for repositories that libgit2 refuses (worktree
 * config, SHA-256, split or sparse index) or that have clean filters. */
#ifndef ORCH_VCS_VCS_H
#define ORCH_VCS_VCS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct orch_vcs;

/** The repository that holds `dir` (work tree, linked worktree). NULL without error: there is none
 * (bare repositories count as none). NULL with ORCH_ERROR_IO: there is one and it cannot be read.
 */
struct orch_vcs *orch_vcs_open(const char *dir, GError **error);
void orch_vcs_close(struct orch_vcs *vcs);

/** Absolute path of the work tree's root, without a slash at its end. Borrowed. */
const char *orch_vcs_root(const struct orch_vcs *vcs);
/** "libgit2", or "git" with the reason ("git: split index"). Borrowed. */
const char *orch_vcs_backend(const struct orch_vcs *vcs);
/** Names of the clean filters that only the repository's own settings (.git/config) define: char *,
 * or NULL. They are not run, because the settings may be a stranger's: files are captured and written
 * as they lie. Borrowed. */
const GPtrArray *orch_vcs_filters_not_run(const struct orch_vcs *vcs);

/** Bounds of a capture. Larger files, and everything beyond the total, are left out and listed. */
struct orch_capture_limits {
    int64_t file_bytes;  /* 10 MiB */
    int64_t total_bytes; /* 50 MiB, of files that are not committed */
    unsigned file_count; /* 20,000 files that are not committed */
};
extern const struct orch_capture_limits ORCH_CAPTURE_LIMITS;

struct orch_left_out {
    char *path;
    char *why; /* "larger than 10 MiB", "looks like a private key", ... */
};

/** What was captured. */
struct orch_source {
    char *tree;   /* object id of the tree, hex */
    char *commit; /* HEAD, or NULL before the first commit */
    char *branch; /* or NULL when detached */
    char *remote; /* URL of the branch's remote (else origin) without user and password; or NULL */
    bool dirty;   /* the tree differs from HEAD's */
    GPtrArray *left_out; /* struct orch_left_out * */
};
void orch_source_free(struct orch_source *source);

/** Captures the work tree and keeps it as refs/orch/src/<tree>. Never taken: what git ignores,
 * `.env` and its kin, key files by name (id_rsa, *.pem, *.key, ...) and files that begin with a
 * private key's header, unless they are committed already; listed in left_out. Where a change of a
 * committed file is left out, the committed version is in the tree. Never listed: `.orch` at the
 * root. Of a submodule the commit is taken. Which repository is meant is told by the folder alone:
 * GIT_DIR and its kin (set by git for hooks) are ignored, and no hook is run. Fast when little has
 * changed: stat data of the user's index is reused. `limits` NULL: the defaults. */
struct orch_source *orch_vcs_capture(struct orch_vcs *vcs, const struct orch_capture_limits *limits,
                                     GError **error);

/** The commit that `rev` means (a branch, tag, id or its beginning, HEAD~2), and its tree, both
 * hex; the caller frees them. ORCH_ERROR_NOT_FOUND: it means none. */
bool orch_vcs_resolve(struct orch_vcs *vcs, const char *rev, char **out_commit, char **out_tree,
                      GError **error);
/** Keeps a tree as refs/orch/src/<tree>, as a capture does. */
bool orch_vcs_keep(struct orch_vcs *vcs, const char *tree, GError **error);

/** Object id (hex, 40 or 64 digits) of the tree that holds just `paths` (files or folders, relative
 * to the root, shell patterns allowed, `**` for any number of folders) of captured tree `tree`:
 * equal content gives an equal id. A path that matches nothing is ORCH_ERROR_NOT_FOUND naming it.
 * The caller frees. */
char *orch_vcs_subtree(struct orch_vcs *vcs, const char *tree, const char *const *paths,
                       GError **error);

/** Paths (relative, sorted) of the files of `tree` below `folder` ("" for the root). The caller
 * unrefs; strings are owned by the array. */
GPtrArray *orch_vcs_list(struct orch_vcs *vcs, const char *tree, const char *folder,
                         GError **error);

/** Writes `tree` out into `dest` (made; must be empty or absent) from objects: no hard links to the
 * user's files, modes and symbolic links kept, `.git` never written. */
bool orch_vcs_checkout(struct orch_vcs *vcs, const char *tree, const char *dest, GError **error);

/** Top-level-most paths (relative, without a slash at the end) of the work tree that git ignores
 * and that exist: data, environments. At most 1,000. The caller unrefs. */
GPtrArray *orch_vcs_ignored(struct orch_vcs *vcs, GError **error);

/** True when the object exists in this repository. */
bool orch_vcs_has_tree(struct orch_vcs *vcs, const char *tree);

/** Differences between two trees: struct orch_left_out with path and why = "added", "removed",
 * "changed". The caller unrefs. */
GPtrArray *orch_vcs_diff(struct orch_vcs *vcs, const char *tree_a, const char *tree_b,
                         GError **error);
/** A unified diff of two trees, at most `max_bytes`, for people. The caller frees. */
char *orch_vcs_diff_text(struct orch_vcs *vcs, const char *tree_a, const char *tree_b,
                         size_t max_bytes, GError **error);

#endif
