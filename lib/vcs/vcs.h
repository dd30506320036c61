/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures the source tree. The work tree is captured as git objects, including uncommitted and
 * untracked files; the user's index, work tree and branches are never changed. Uses libgit2, or the
 * `git` program for repositories that libgit2 does not support (worktree config, SHA-256, split or
 * sparse index) or that have clean filters. */
#ifndef ORCH_VCS_VCS_H
#define ORCH_VCS_VCS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct orch_vcs;

/** Opens the repository that contains `dir` (work tree or linked worktree). NULL without error if
 * there is none (bare repositories do not count); NULL with ORCH_ERROR_IO if it cannot be read. An
 * ordinary repository is opened when it is first used; if it is damaged, that call fails with
 * ORCH_ERROR_IO. */
struct orch_vcs *orch_vcs_open(const char *dir, GError **error);
void orch_vcs_close(struct orch_vcs *vcs);
/** Opens a repository that is not opened yet, for callers whose next function reports no error.
 * Fails with ORCH_ERROR_IO if the repository cannot be read; a later call tries again. */
bool orch_vcs_start(struct orch_vcs *vcs, GError **error);

/** Absolute path of the work tree's root, without a final slash. Borrowed. */
const char *orch_vcs_root(const struct orch_vcs *vcs);
/** "libgit2", or "git" with the reason ("git: split index"). Borrowed. */
const char *orch_vcs_backend(struct orch_vcs *vcs);
/** Names of clean filters defined only in the repository's own settings (.git/config): char *, or
 * NULL. They are not run, because the settings may be untrusted: files are captured and written
 * unfiltered. Borrowed. */
const GPtrArray *orch_vcs_filters_not_run(struct orch_vcs *vcs);

/** Settings in the repository's own configuration (.git/config) that name programs, such as
 * "core.sshcommand": char *. They are ignored in favour of the user's own configuration or git's
 * default. `dir` is a folder in the repository. Borrowed, for the life of the process. */
const GPtrArray *orch_vcs_programs_not_run(const char *dir);

/** Limits of a capture. Larger files, and those beyond the totals, are left out and listed. */
struct orch_capture_limits {
    int64_t file_bytes;  /* 10 MiB */
    int64_t total_bytes; /* 50 MiB of uncommitted files */
    unsigned file_count; /* 20,000 uncommitted files */
};
extern const struct orch_capture_limits ORCH_CAPTURE_LIMITS;

struct orch_left_out {
    char *path;
    char *why; /* "larger than 10 MiB", "looks like a private key", ... */
};

/** Result of a capture. */
struct orch_source {
    char *tree;   /* object id of the tree, hex */
    char *commit; /* HEAD, or NULL before the first commit */
    char *branch; /* NULL if detached */
    char *remote; /* URL of the branch's remote (else origin) without user and password; or NULL */
    bool dirty;   /* the tree differs from HEAD's */
    int64_t captured_ns; /* UTC, before the first file was looked at; 0: not captured here */
    GPtrArray *left_out; /* struct orch_left_out * */
};
void orch_source_free(struct orch_source *source);

/** Captures the work tree and keeps it as refs/orch/src/<tree>. Unless they are committed, these
 * files are never captured: ignored files, `.env` and similar, keys by name (id_rsa, *.pem, *.key,
 * ...), and files that begin like a private key; they are listed in left_out. If a changed
 * committed file is left out, the tree has the committed version. `.orch` at the root is never
 * captured or listed. Of a submodule the commit is captured. The folder alone determines the
 * repository: GIT_DIR and similar variables (set by git for hooks) are ignored, and no hook is run.
 * Fast if little has changed, because the stat data of the user's index is reused. `limits` NULL:
 * the defaults. */
struct orch_source *orch_vcs_capture(struct orch_vcs *vcs, const struct orch_capture_limits *limits,
                                     GError **error);

/** Resolves `rev` (a branch, tag, id or prefix of it, HEAD~2) to its commit and tree, both hex;
 * caller frees. Fails with ORCH_ERROR_NOT_FOUND. */
bool orch_vcs_resolve(struct orch_vcs *vcs, const char *rev, char **out_commit, char **out_tree,
                      GError **error);
/** Keeps a tree as refs/orch/src/<tree>, like a capture. */
bool orch_vcs_keep(struct orch_vcs *vcs, const char *tree, GError **error);

/** Object id (40 or 64 hex digits) of the tree that contains exactly `paths` of captured tree
 * `tree`: files or folders relative to the root, with shell patterns and `**` for any number of
 * folders. Equal contents have equal ids. Fails with ORCH_ERROR_NOT_FOUND and the path if one
 * matches nothing. Caller frees. */
char *orch_vcs_subtree(struct orch_vcs *vcs, const char *tree, const char *const *paths,
                       GError **error);

/** Object id of `tree` with those of the files `paths` (relative to the root, no patterns) of tree
 * `other` that it lacks. Caller frees. */
char *orch_vcs_tree_with(struct orch_vcs *vcs, const char *tree, const char *other,
                         const GPtrArray *paths, GError **error);

/** Relative paths of the files of `tree` below `folder` ("" for the root), sorted. Caller unrefs;
 * the array owns the strings. */
GPtrArray *orch_vcs_list(struct orch_vcs *vcs, const char *tree, const char *folder,
                         GError **error);

/** Relative paths of the submodules in `tree`, sorted. Caller unrefs. */
GPtrArray *orch_vcs_submodules(struct orch_vcs *vcs, const char *tree, GError **error);
/** The same of its symbolic links. */
GPtrArray *orch_vcs_links(struct orch_vcs *vcs, const char *tree, GError **error);

/** Writes `tree` to `dest`, which is created and must be empty or absent: no hard links to the
 * user's files, with modes and symbolic links, never `.git`. */
bool orch_vcs_checkout(struct orch_vcs *vcs, const char *tree, const char *dest, GError **error);

/** The topmost existing ignored paths of the work tree (relative, without a final slash), such as
 * data and environments; at most 20,000. Caller unrefs. */
GPtrArray *orch_vcs_ignored(struct orch_vcs *vcs, GError **error);

/** True if the object exists in this repository. */
bool orch_vcs_has_tree(struct orch_vcs *vcs, const char *tree);

/** Differences between two trees: struct orch_left_out with path and why = "added", "removed" or
 * "changed". Caller unrefs. */
GPtrArray *orch_vcs_diff(struct orch_vcs *vcs, const char *tree_a, const char *tree_b,
                         GError **error);
/** A unified diff of two trees for people, at most `max_bytes`. Caller frees. */
char *orch_vcs_diff_text(struct orch_vcs *vcs, const char *tree_a, const char *tree_b,
                         size_t max_bytes, GError **error);

#endif
