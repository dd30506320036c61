/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to lib/vcs and to features/pack/listed.c: the operations of the backends (libgit2, the
 * `git` program, lists of files). Policy (limits, secrets, patterns, what a checkout may write) is
 * implemented once, above them. */
#ifndef ORCH_VCS_BACKEND_H
#define ORCH_VCS_BACKEND_H

#include "lib/vcs/vcs.h"

#include <git2.h>

#define ORCH_OID_CHARS 65 /* 64 hex digits (SHA-256) and a NUL */
#define ORCH_REF_PREFIX "refs/orch/src/"

/* Modes of git tree entries. */
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

/** How a capture treats a path that differs from HEAD or from the index. */
enum orch_action {
    ORCH_ACTION_TAKE,   /* use the work tree's version */
    ORCH_ACTION_REMOVE, /* remove it, as it does not exist any more */
    ORCH_ACTION_HEAD,   /* use HEAD's version, or remove it if HEAD does not have it */
};

struct orch_change {
    char *path;
    unsigned head_mode;            /* 0: not in HEAD */
    char head_oid[ORCH_OID_CHARS]; /* "": not in HEAD */
    bool is_submodule;
    bool is_dirty_submodule; /* has uncommitted changes inside */
    bool is_nested;          /* an untracked folder that is a repository of its own */
    enum orch_action action; /* set by capture.c */
    int64_t bytes;           /* set by capture.c */
};

/** A capture in progress. */
struct orch_capture {
    struct orch_vcs *vcs;
    char *folder;        /* private; contains the temporary index */
    char *index_path;    /* copy of the user's index; does not exist if there is no index yet */
    GHashTable *changes; /* path -> struct orch_change * */
    char *commit;
    char *branch;
    char *head_tree;
    git_repository *repository; /* libgit2: a second handle that uses the temporary index */
    git_index *index;
    git_tree *tree; /* of HEAD; NULL: none */
    bool has_modes; /* core.fileMode */
};

/** Returns the change of `path`, creating it if necessary. Owned by the capture. */
struct orch_change *orch_capture_change(struct orch_capture *job, const char *path);

struct orch_backend {
    /** Finds commit, branch, head_tree and every path that differs between HEAD, index and work
     * tree, except ignored ones. */
    bool (*scan)(struct orch_capture *job, GError **error);
    /** Applies the actions of the changes to the temporary index and writes its tree. */
    char *(*write)(struct orch_capture *job, GError **error);
    /** Resolves `rev` (which must not begin with '-') to its commit and tree; false if there is
     * none. */
    bool (*resolve)(struct orch_vcs *vcs, const char *rev, char **out_commit, char **out_tree);
    /** Adds `from` and the first parents of `to` that it does not reach, oldest first, to `path`
     * (history.h); at most one more than ORCH_VCS_PATH_MAX. */
    bool (*path)(struct orch_vcs *vcs, const char *from, const char *to, GPtrArray *path,
                 GError **error);
    /** The newest common ancestor; `*out` stays NULL when there is none. */
    bool (*common)(struct orch_vcs *vcs, const char *a, const char *b, char **out, GError **error);
    /** Sets refs/orch/src/<tree>. */
    bool (*keep)(struct orch_vcs *vcs, const char *tree, GError **error);
    /** The value of a setting of git ("remote.origin.url"); NULL: it has none. To be freed. */
    char *(*setting)(struct orch_vcs *vcs, const char *key);
    /** All files of a tree: struct orch_entry *, in any order. */
    GPtrArray *(*entries)(struct orch_vcs *vcs, const char *tree, GError **error);
    /** Writes a tree with exactly these entries. */
    char *(*build)(struct orch_vcs *vcs, const GPtrArray *entries, GError **error);
    /** Writes files (validated, sorted) to the empty folder `dest`, an absolute path. */
    bool (*checkout)(struct orch_vcs *vcs, const char *tree, const GPtrArray *entries,
                     const char *dest, GError **error);
    /** Ignored paths; an ignored folder is one path, with or without a final slash. */
    GPtrArray *(*ignored)(struct orch_vcs *vcs, GError **error);
    bool (*has_tree)(struct orch_vcs *vcs, const char *tree);
    char *(*diff_text)(struct orch_vcs *vcs, const char *tree_a, const char *tree_b,
                       size_t max_bytes, GError **error);
    /** Hex ids of the trees in refs/orch/src; the array owns the strings. */
    GPtrArray *(*kept)(struct orch_vcs *vcs, GError **error);
    /** Deletes the refs of these trees. */
    bool (*drop)(struct orch_vcs *vcs, const GPtrArray *trees, GError **error);
};
extern const struct orch_backend ORCH_BACKEND_LIBGIT2, ORCH_BACKEND_GIT;

struct orch_vcs {
    char *root;                         /* without a final slash */
    char *git_dir;                      /* of this work tree; contains its index */
    char *name;                         /* for orch_vcs_backend */
    const struct orch_backend *backend; /* NULL: not selected yet */
    git_repository *repository;         /* NULL with the git program */
    GHashTable *listed;                 /* id -> files: trees known only as lists (listed.c) */
    /* cache of the last tree's files, because a plan computes many subtrees of one tree */
    char **filter_settings; /* git program: disable filters that only the repository defines */
    GPtrArray *own_filters; /* names of those filters */
    char *cached_tree;
    GPtrArray *cached_entries;
};

/** Opens with libgit2. Returns true if opened or if there is no repository (`vcs->root` is NULL);
 * false with the reason in `*out_refusal` if libgit2 cannot open it (caller frees). */
bool orch_libgit2_open(struct orch_vcs *vcs, const char *dir, char **out_refusal);
void orch_libgit2_close(struct orch_vcs *vcs);
/** Returns why the git program is needed although libgit2 can open the repository (split index,
 * clean filter), or NULL. Caller frees. */
char *orch_libgit2_limits(struct orch_vcs *vcs);

/** Finds filters that are defined in the repository's own settings, so that they are not run. */
bool orch_filters_find(struct orch_vcs *vcs, GError **error);

/** Opens with the git program. Returns true if opened or if there is no repository (`vcs->root` is
 * NULL). */
bool orch_gitprog_open(struct orch_vcs *vcs, const char *dir, GError **error);

/** True if an attributes file names a filter or an encoding that libgit2 does not apply. */
bool orch_attributes_need_git(struct orch_vcs *vcs, const char *path);

/** Files of `tree`, sorted by path; borrowed until the next call. */
const GPtrArray *orch_tree_entries(struct orch_vcs *vcs, const char *tree, GError **error);

/** Switches `vcs` from libgit2 to the git program because of `reason`. */
bool orch_vcs_use_gitprog(struct orch_vcs *vcs, const char *reason, GError **error);

/** URL of the remote of `branch` (NULL: detached), else of origin; NULL: none. The caller frees. */
char *orch_remote_url(struct orch_vcs *vcs, const char *branch);

void orch_left_out_free(struct orch_left_out *item);
/** Adds a copy of `path`; takes ownership of `why`. */
void orch_left_out_add(GPtrArray *list, const char *path, char *why);

/** The hint where the content of a file is not in the repository. */
#define ORCH_PARTIAL_CLONE_HINT                                                                    \
    "in a partial clone, 'git archive COMMIT >/dev/null' fetches the files of a commit"
/** Sets ORCH_ERROR_IO with libgit2's last message. */
void orch_libgit2_error(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
