/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside lib/vcs: what both ways into a repository (libgit2, the `git` program) must do. All policy
 * (limits, secrets, patterns, what a checkout may write) stands above them, once. */
#ifndef ORCH_VCS_BACKEND_H
#define ORCH_VCS_BACKEND_H

#include "lib/vcs/vcs.h"

#include <git2.h>

#define ORCH_OID_CHARS 65 /* 64 hex digits (SHA-256) and a NUL */
#define ORCH_REF_PREFIX "refs/orch/src/"

/* Modes of git's tree entries. */
#define ORCH_MODE_FILE 0100644u
#define ORCH_MODE_PROGRAM 0100755u
#define ORCH_MODE_LINK 0120000u
#define ORCH_MODE_SUBMODULE 0160000u

/** A file of a tree. */
struct orch_entry {
    char *path; /* from the root of the tree */
    unsigned mode;
    char oid[ORCH_OID_CHARS];
};
struct orch_entry *orch_entry_new(const char *path, unsigned mode, const char *oid);
void orch_entry_free(struct orch_entry *entry);

/** What a capture does about one path that differs from HEAD or from the index. */
enum orch_action {
    ORCH_ACTION_TAKE,   /* as it lies in the work tree */
    ORCH_ACTION_REMOVE, /* it is not there any more */
    ORCH_ACTION_HEAD,   /* as HEAD has it; removed when HEAD does not have it */
};

struct orch_change {
    char *path;
    unsigned head_mode;            /* 0: not in HEAD */
    char head_oid[ORCH_OID_CHARS]; /* "": not in HEAD */
    bool is_submodule;
    bool is_dirty_submodule; /* changed within, not committed there */
    bool is_nested;          /* an untracked folder that is a repository of its own */
    enum orch_action action; /* set by capture.c */
    int64_t bytes;           /* set by capture.c */
};

/** One capture under way. */
struct orch_job {
    struct orch_vcs *vcs;
    char *folder;        /* private, holds the temporary index */
    char *index_path;    /* copy of the user's index; no file when there is none yet */
    GHashTable *changes; /* path -> struct orch_change * */
    char *commit;
    char *branch;
    char *head_tree;
    git_repository *repository; /* libgit2: a second handle with the temporary index */
    git_index *index;
    git_tree *tree; /* of HEAD; NULL: none */
    bool has_modes; /* core.fileMode */
};

/** The change of `path`, made when there is none yet. Owned by the job. */
struct orch_change *orch_job_change(struct orch_job *job, const char *path);

struct orch_backend {
    /** Finds commit, branch, head_tree and every path that differs between HEAD, index and work
     * tree, what git ignores left out. */
    bool (*scan)(struct orch_job *job, GError **error);
    /** Puts the changes into the temporary index as their actions say and writes its tree. */
    char *(*write)(struct orch_job *job, GError **error);
    /** The commit that `rev` (nothing that begins with '-') means, and its tree; false: none. */
    bool (*resolve)(struct orch_vcs *vcs, const char *rev, char **out_commit, char **out_tree);
    /** Sets refs/orch/src/<tree>. */
    bool (*keep)(struct orch_vcs *vcs, const char *tree, GError **error);
    /** URL of the remote of `branch` (NULL: detached), else of origin; NULL: none. */
    char *(*remote)(struct orch_vcs *vcs, const char *branch);
    /** Every file of a tree: struct orch_entry *, in no particular order. */
    GPtrArray *(*entries)(struct orch_vcs *vcs, const char *tree, GError **error);
    /** Writes the tree that holds just these entries. */
    char *(*build)(struct orch_vcs *vcs, const GPtrArray *entries, GError **error);
    /** Writes files (checked, sorted) into the empty folder `dest`, absolute. */
    bool (*checkout)(struct orch_vcs *vcs, const char *tree, const GPtrArray *entries,
                     const char *dest, GError **error);
    /** Paths that git ignores, folders as one with or without a slash. */
    GPtrArray *(*ignored)(struct orch_vcs *vcs, GError **error);
    bool (*has_tree)(struct orch_vcs *vcs, const char *tree);
    char *(*diff_text)(struct orch_vcs *vcs, const char *tree_a, const char *tree_b,
                       size_t max_bytes, GError **error);
    /** Trees that refs/orch/src names, as hex; the strings are the array's. */
    GPtrArray *(*kept)(struct orch_vcs *vcs, GError **error);
    /** Drops the refs of these trees. */
    bool (*drop)(struct orch_vcs *vcs, const GPtrArray *trees, GError **error);
};
extern const struct orch_backend ORCH_BACKEND_LIBGIT2, ORCH_BACKEND_GIT;

struct orch_vcs {
    char *root;    /* without a slash at its end */
    char *git_dir; /* of this work tree: its index lies here */
    char *name;    /* for orch_vcs_backend */
    const struct orch_backend *backend;
    git_repository *repository; /* NULL under the git program */
    GHashTable *listed;         /* id -> files: trees known by their lists alone (listed.c) */
    /* the files of the tree that was asked for last: one plan asks for many subtrees of one tree */
    char **filter_settings; /* git program: switches off filters that only the repository defines */
    GPtrArray *own_filters; /* their names */
    char *cached_tree;
    GPtrArray *cached_entries;
};

/** Opens through libgit2. True: opened, or no repository at all (`vcs->root` NULL). False:
 * `*out_refusal` says why libgit2 cannot (the caller frees). */
bool orch_libgit2_open(struct orch_vcs *vcs, const char *dir, char **out_refusal);
void orch_libgit2_close(struct orch_vcs *vcs);
/** Why the git program must do it though libgit2 can open it (split index, clean filter); NULL: it
 * need not. The caller frees. */
char *orch_libgit2_limits(struct orch_vcs *vcs);

/** Finds the filters that the repository's own settings define, so that none of them is run. */
bool orch_filters_find(struct orch_vcs *vcs, GError **error);

/** Opens through the git program. True: opened, or none (`vcs->root` NULL). */
bool orch_gitprog_open(struct orch_vcs *vcs, const char *dir, GError **error);

/** True when attributes text names a filter or an encoding that libgit2 would not apply. */
bool orch_attributes_need_git(struct orch_vcs *vcs, const char *path);

/** Files of `tree`, sorted by path; borrowed until the next call. */
const GPtrArray *orch_tree_entries(struct orch_vcs *vcs, const char *tree, GError **error);

/** Moves `vcs` from libgit2 to the git program, for `reason`. */
bool orch_vcs_use_gitprog(struct orch_vcs *vcs, const char *reason, GError **error);

void orch_left_out_free(struct orch_left_out *item);
/** Adds a copy of `path`; takes `why` over. */
void orch_left_out_add(GPtrArray *list, const char *path, char *why);

/** A private folder for an index, 0700. The caller frees it with orch_tree_remove and g_free. */
char *orch_scratch_folder(GError **error);

/** Sets ORCH_ERROR_IO from libgit2's last message. */
void orch_libgit2_error(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
