/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by the results_*.c files and claims_git.c.
 *
 * Objects are read and created through libgit2 on the bare object database, so that repositories
 * with a configuration that libgit2 does not support (worktreeConfig, split index) work too. They
 * are created in memory and passed to the `git` program as one pack. Refs, fetch and push use the
 * `git` program.
 */
#ifndef ORCH_FEATURES_SHARE_RESULTS_PRIVATE_H
#define ORCH_FEATURES_SHARE_RESULTS_PRIVATE_H

#include "features/share/remotes/results_ref.h"

#include "lib/vcs/git_command.h"

#include <git2.h>

#define RESULTS_REF "refs/orch/results"
#define RESULTS_REMOTES "refs/orch/remotes/"
#define RESULTS_PATH_CHARS 192 /* of a path in a tree of results, sources included */

/* ---- results_place.c: the local repository, and the names of remotes ----------------------------
 */

struct results_place {
    char *dir;                  /* for git -C */
    char *git_dir;              /* absolute; shared by all work trees */
    char *remote;               /* as passed to git: a name, a URL or an absolute path */
    char *tracking;             /* refs/orch/remotes/NAME */
    bool may_ask;               /* git may ask for a password */
    bool sets_ssh;              /* the user has set a command for ssh */
    GPtrArray *remotes;         /* char *: the names of the repository's remotes */
    GHashTable *urls;           /* name -> push URL */
    char *wanted_remote;        /* git config orch.remote, or NULL */
    GHashTable *branch_remotes; /* branch -> remote */
    git_odb *odb;
    git_repository *repository; /* libgit2's repository on the object database only */
    git_odb_backend *memory;    /* holds new objects; owned by odb */
    GArray *waiting;            /* git_oid: the objects in `memory` */
    size_t waiting_bytes;
};

/** Opens the repository that contains `folder`; when there is none, opens a private one in
 * `store_folder` (NULL: fails with ORCH_ERROR_IO). */
struct results_place *orch_results_place_open(const char *folder, const char *store_folder,
                                              GError **error);
void orch_results_place_close(struct results_place *place);
/** Fills `remote` and `tracking` for the remote that a user named (NULL: the default). */
bool orch_results_place_set_remote(struct results_place *place, const char *git_output,
                                   GError **error);

/** The commits of the local union and of the remote's results as last fetched; zero when there is
 * none. Without a remote `*out_theirs` is unchanged. */
bool orch_results_refs_get(struct results_place *place, git_oid *out_ours, git_oid *out_theirs,
                           GError **error);
/** Sets a ref if its value is still `old`. Otherwise sets `*out_moved` and leaves the ref
 * unchanged. */
bool orch_results_ref_set(struct results_place *place, const char *ref, const git_oid *commit,
                          const git_oid *old, bool *out_moved, GError **error);

/** Sets ORCH_ERROR_IO from libgit2's last message. Always returns false. */
bool orch_results_fail(GError **error, const char *doing);

/* ---- results_lock.c
 * ------------------------------------------------------------------------------
 */

/** Waits until a lock on one of our refs is gone. A stale lock of a dead process is removed. */
void orch_results_lock_wait(const char *path);

/** True when git's message says that another process holds the lock of a ref. */
bool orch_results_is_ref_locked(const char *git_output);

/* ---- results_wire.c: fetch and push -------------------------------------------------------------
 */

/** Fetches the remote's results and sets the tracking ref, which is deleted when the remote has
 * none. */
bool orch_results_fetch(struct results_place *place, GError **error);
/** Pushes a commit. `*out_lost_race`: the remote was changed meanwhile, and nothing was pushed. */
bool orch_results_push(struct results_place *place, const git_oid *commit, bool *out_lost_race,
                       GError **error);

/** Runs git with the remote, without prompts unless `may_ask`. When this process is told to end,
 * git may go on for `grace_s`. Status 1 is not an error;
 * `*out_stderr` (the caller frees) is the output on stderr. */
bool orch_results_run_remote(const struct results_place *place, const char *const *args,
                             double grace_s, GString **out, int *out_status, char **out_stderr,
                             GError **error);
/** Sets an error that explains git's message and ends with a hint: "cannot DOING 'REMOTE': ...". */
void orch_results_remote_error(const struct results_place *place, const char *doing,
                               const char *git_output, GError **error);

/* ---- results_tree.c: trees of items -------------------------------------------------------------
 */

/** A tree of results with additions. */
struct results_draft {
    struct results_place *place;
    git_oid root;        /* the tree before the additions; zero: empty */
    GHashTable *folders; /* path -> git_tree *, NULL when there is none; a cache */
    GHashTable *added;   /* path -> struct results_entry * */
};
struct results_entry {
    git_oid oid;
    git_filemode_t mode; /* a file, or a tree under sources/ */
};
/** Creates a draft on `root`; NULL or zero is an empty tree. */
struct results_draft *orch_results_draft_new(struct results_place *place, const git_oid *root);
void orch_results_draft_free(struct results_draft *draft);
/** Finds the object at a path, added or in the tree; false when there is none. */
bool orch_results_draft_find(struct results_draft *draft, const char *path, git_oid *out);
void orch_results_draft_add(struct results_draft *draft, const char *path, const git_oid *oid,
                            git_filemode_t mode);
/** Creates the trees (in memory). Equal sets of items give equal trees. */
bool orch_results_draft_write(struct results_draft *draft, git_oid *out_root, GError **error);

/** Returns the root tree of a commit, which must be a tree of results in a known format.
 * `*out_is_newer` (may be NULL) is true when its format is newer. */
bool orch_results_root(struct results_place *place, const git_oid *commit, git_oid *out,
                       bool *out_is_newer, GError **error);

/** An entry that a tree has and another tree lacks or has with different content. `name` is NULL
 * for an entry of sources/ and for one that is not valid, for which `junk` gives the reason. */
struct results_news {
    const char *path;
    const struct orch_item_name *name;
    const char *junk;
    git_oid oid;
    git_filemode_t mode;
};
typedef bool (*results_news_fn)(void *ctx, const struct results_news *news, GError **error);
/** Visits the entries that `tree` has and `known` (NULL: empty) lacks: recipes, artifacts, runs,
 * notes, data sets, sources. Equal subtrees are skipped. */
bool orch_results_visit_news(struct results_place *place, const git_oid *tree, const git_oid *known,
                             results_news_fn fn, void *ctx, GError **error);

/* ---- results_object.c: objects ------------------------------------------------------------------
 */

/** Creates a blob in memory. */
bool orch_results_blob(struct results_place *place, const void *bytes, size_t length, git_oid *out,
                       GError **error);
/** Records that an object is in memory and not yet written. */
void orch_results_waits(struct results_place *place, const git_oid *oid, size_t bytes);
/** Creates a commit of results in memory. Zero `parents` are left out. */
bool orch_results_commit(struct results_place *place, const git_oid *tree, const git_oid *parents,
                         size_t parent_count, const char *message, git_oid *out, GError **error);
/** Writes all objects in memory into the repository. */
bool orch_results_flush(struct results_place *place, GError **error);
/** Flushes when there is much in memory. */
bool orch_results_flush_some(struct results_place *place, GError **error);
/** Gets the size of a blob without reading it; false without error when it is missing or not a
 * blob. */
bool orch_results_blob_size(struct results_place *place, const git_oid *oid, int64_t *out);

/* ---- results_source.c: sources that are shared --------------------------------------------------
 */

/** True when a tree of sources from elsewhere may be stored: of limited size, only plain files,
 * safe names. Otherwise `*out_why` is the reason (static). */
bool orch_results_source_is_fit(struct results_place *place, const git_oid *tree,
                                const char **out_why);

/* ---- results_offer.c: joins the items of a remote's tree
 * ---------------------------------------
 */

struct orch_results_offer {
    struct orch_store *store;
    const struct orch_git_exchange *how;
    struct results_place *place;
    struct results_draft *draft; /* accepted entries are added to it */
    struct orch_join *join;      /* begun with the first item; the caller ends it */
};
/** A results_news_fn over a struct orch_results_offer. */
bool orch_results_offer(void *ctx, const struct results_news *news, GError **error);

/* ---- results_look.c: how far ahead and behind
 * ---------------------------------------------------
 */

/** Fills ahead, behind and, unless `out_outgoing` is NULL, the items that a push would send. Writes
 * nothing. */
bool orch_results_look(struct orch_store *store, const struct orch_git_exchange *how,
                       struct results_place *place, const git_oid *ours_root,
                       const git_oid *theirs_root, int64_t last_run, struct orch_exchanged *out,
                       GArray *out_outgoing, GError **error);

#endif
