/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside store/exchange: what the results_*.c files share.
 *
 * Objects are read and made through libgit2 on the bare object database, so that a repository whose
 * configuration libgit2 does not know (worktreeConfig, split index) serves as well. They are made
 * in memory and handed to the `git` program as one pack. Refs, fetch and push are the `git`
 * program's.
 */
#ifndef ORCH_STORE_EXCHANGE_RESULTS_PRIVATE_H
#define ORCH_STORE_EXCHANGE_RESULTS_PRIVATE_H

#include "store/exchange/results_ref.h"

#include "lib/vcs/spawn.h"

#include <git2.h>

#define RESULTS_REF "refs/orch/results"
#define RESULTS_REMOTES "refs/orch/remotes/"
#define RESULTS_PATH_CHARS 192 /* of an entry in a tree of results, sources included */

/* ---- results_place.c: the repository here, and what a remote is called --------------------------
 */

struct results_place {
    char *dir;                  /* for git -C */
    char *git_dir;              /* absolute; of all work trees together */
    char *remote;               /* as git is given it: a name, a URL or an absolute path */
    char *tracking;             /* refs/orch/remotes/NAME */
    bool may_ask;               /* git may ask for a password */
    bool sets_ssh;              /* the user has set a command for ssh */
    GPtrArray *remotes;         /* char *: names that the repository has */
    GHashTable *urls;           /* name -> where it is pushed to */
    char *wanted_remote;        /* git config orch.remote, or NULL */
    GHashTable *branch_remotes; /* branch -> remote */
    git_odb *odb;
    git_repository *repository; /* libgit2's view of the objects alone */
    git_odb_backend *memory;    /* where new objects wait; owned by odb */
    GArray *waiting;            /* git_oid: what waits there */
    size_t waiting_bytes;
};

/** Opens the repository that holds `folder`; where there is none, a private one in `store_folder`
 * (NULL: ORCH_ERROR_IO). */
struct results_place *results_place_open(const char *folder, const char *store_folder,
                                         GError **error);
void results_place_close(struct results_place *place);
/** Fills `remote` and `tracking` for what a user said (NULL: the default). */
bool results_place_set_remote(struct results_place *place, const char *said, GError **error);

/** Where the union here and the remote's results as last fetched stand; zero: there is none.
 * Without a remote `*out_theirs` is left alone. */
bool results_refs_get(struct results_place *place, git_oid *out_ours, git_oid *out_theirs,
                      GError **error);
/** Sets it if it still is `old`. `*out_moved`: it was not, and stays. */
bool results_ref_set(struct results_place *place, const char *ref, const git_oid *commit,
                     const git_oid *old, bool *out_moved, GError **error);

/** Waits until a lock on one of our refs is gone; one that somebody who died left is removed. */
void results_lock_wait(const char *path);

/** Sets ORCH_ERROR_IO from libgit2's last message. Always false. */
bool results_fail(GError **error, const char *doing);

/* ---- results_wire.c: fetch and push -------------------------------------------------------------
 */

/** Does git's complaint say that another process holds a ref for a moment? */
bool results_is_ref_locked(const char *said);

/** Brings the remote's results and sets the tracking ref; where the remote has none it is dropped.
 */
bool results_fetch(struct results_place *place, GError **error);
/** Sends a commit. `*out_lost_race`: the remote moved meanwhile, nothing was changed there. */
bool results_push(struct results_place *place, const git_oid *commit, bool *out_lost_race,
                  GError **error);

/** Runs git towards the remote, without questions unless it may ask. Status 1 is an answer, too;
 * `*out_said` (to be freed) is what it wrote on stderr. */
bool results_talk(const struct results_place *place, const char *const *args, GString **out,
                  int *out_status, char **out_said, GError **error);
/** Sets an error that says what git's words mean, and what to do: "cannot DOING 'REMOTE': ...". */
void results_trouble(const struct results_place *place, const char *doing, const char *said,
                     GError **error);

/* ---- results_tree.c: trees of items -------------------------------------------------------------
 */

/** A tree of results as it was, and what is added to it. */
struct results_draft {
    struct results_place *place;
    git_oid root;        /* zero: nothing yet */
    GHashTable *folders; /* path -> git_tree *, NULL value: none; what was looked at */
    GHashTable *added;   /* path -> struct results_entry * */
};
struct results_entry {
    git_oid oid;
    git_filemode_t mode; /* a file, or a tree under sources/ */
};
/** `root` NULL or zero: an empty one. */
struct results_draft *results_draft_new(struct results_place *place, const git_oid *root);
void results_draft_free(struct results_draft *draft);
/** What stands at a path, added or there before; false: nothing. */
bool results_draft_find(struct results_draft *draft, const char *path, git_oid *out);
void results_draft_add(struct results_draft *draft, const char *path, const git_oid *oid,
                       git_filemode_t mode);
/** Makes its trees (in memory). Equal sets of items give equal trees. */
bool results_draft_write(struct results_draft *draft, git_oid *out_root, GError **error);

/** The root tree of a commit that must be one of results: format told and known. `*out_is_newer`
 * (may be NULL): it has a format that is not known yet. */
bool results_root(struct results_place *place, const git_oid *commit, git_oid *out,
                  bool *out_is_newer, GError **error);

/** An entry that a tree has and another has not, or has otherwise. `name` NULL: one of sources/, or
 * (`junk` says why) none of ours. */
struct results_news {
    const char *path;
    const struct orch_item_name *name;
    const char *junk;
    git_oid oid;
    git_filemode_t mode;
};
typedef bool (*results_news_fn)(void *ctx, const struct results_news *news, GError **error);
/** Tells what `tree` has that `known` (NULL: nothing) has not: recipes, artifacts, runs, notes,
 * data sets, sources. Equal subtrees are not looked into. */
bool results_tell_news(struct results_place *place, const git_oid *tree, const git_oid *known,
                       results_news_fn fn, void *ctx, GError **error);

/* ---- results_object.c: objects ------------------------------------------------------------------
 */

/** Makes an object in memory. */
bool results_blob(struct results_place *place, const void *bytes, size_t length, git_oid *out,
                  GError **error);
/** Notes that an object waits in memory. */
void results_waits(struct results_place *place, const git_oid *oid, size_t bytes);
/** A commit of results. `parents`: those that are not zero. */
bool results_commit(struct results_place *place, const git_oid *tree, const git_oid *parents,
                    size_t parent_count, const char *message, git_oid *out, GError **error);
/** Writes all that waits into the repository. */
bool results_flush(struct results_place *place, GError **error);
/** Flushes when much waits. */
bool results_flush_some(struct results_place *place, GError **error);
/** Size of a blob without reading it; false without error: it is none, or not there. */
bool results_blob_size(struct results_place *place, const git_oid *oid, int64_t *out);

/* ---- results_source.c: sources that are shared --------------------------------------------------
 */

/** Is this tree from elsewhere fit to be kept: bounded, plain files only, safe names? `*out_why`
 * says why not (static). */
bool results_source_is_fit(struct results_place *place, const git_oid *tree, const char **out_why);

/* ---- results_offer.c: what comes from there, given to the join ----------------------------------
 */

struct results_offer {
    struct orch_store *store;
    const struct orch_git_exchange *how;
    struct results_place *place;
    struct results_draft *draft; /* gets what was accepted */
    struct orch_join *join;      /* begun with the first item; the caller ends it */
};
/** A results_news_fn over a struct results_offer. */
bool results_offer(void *ctx, const struct results_news *news, GError **error);

/* ---- results_look.c: how far ahead and behind ---------------------------------------------------
 */

/** What the store remembers of its exchange. */
struct results_mark {
    git_oid commit;   /* all runs up to `last_run` are in its tree */
    int64_t last_run; /* local number */
};

/** Fills ahead, behind and, with `out_outgoing`, what would be sent. Writes nothing. */
bool results_look(struct orch_store *store, const struct orch_git_exchange *how,
                  struct results_place *place, const git_oid *ours_root, const git_oid *theirs_root,
                  int64_t last_run, struct orch_exchanged *out, GArray *out_outgoing,
                  GError **error);

#endif
