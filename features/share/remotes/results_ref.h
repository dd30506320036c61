/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The group's results on a git remote: a tree of items under refs/orch/results.
 *
 * Objects are written with libgit2; fetch and push run the `git` program, for its ssh, credential
 * helpers and proxies. A push fetches, joins into the store, merges the trees, commits with both as
 * parents, and pushes; when the remote was changed meanwhile it starts again with the fetch (never
 * forced). The local union is stored as refs/orch/results and each remote's results as
 * refs/orch/remotes/NAME. Branches, tags, index, work tree and FETCH_HEAD are not changed, and no
 * hook is run.
 */
#ifndef ORCH_FEATURES_SHARE_RESULTS_REF_H
#define ORCH_FEATURES_SHARE_RESULTS_REF_H

#include "features/share/remotes/folder_remote.h"

struct orch_git_exchange {
    const char *repository; /* folder inside the work tree, or a bare repository; when it is in
                               none, a private repository beside the store is used */
    const char *remote;     /* name of a remote, path or URL; NULL: the default */
    bool offline;           /* LOOK only: uses the last fetched state */
    bool may_ask;           /* git may ask for a password on the terminal */
    struct orch_item_choice choice;
    const char *const *source_trees; /* ids of trees to push sources of (inputs only), or NULL */
    const char *const *source_paths; /* for each tree, the id of the pushed subtree; same order */
};

/** One item that a push would send. */
struct orch_push_item {
    char path[ORCH_ITEM_PATH_CHARS];
    int64_t bytes;
};

/** Pulls, pushes or looks. For LOOK `out_outgoing` (may be NULL) gets the name and size of every
 * item that a push would send (struct orch_push_item, by value), and nothing is written to the
 * store or the remote. Errors say whether fetch or push failed and what git reported, with a hint:
 * no remote, unreachable, read-only, refused by a hook there, shallow or bare here. */
bool orch_git_exchange(struct orch_store *store, const struct orch_git_exchange *how,
                       enum orch_exchange_way way, struct orch_exchanged *out,
                       GArray **out_outgoing, GError **error);

/** The default remote: git config orch.remote, else the only remote, the branch's, or origin. The
 * caller frees; NULL with ORCH_ERROR_IO when there is none. */
char *orch_git_remote_default(const char *repository, GError **error);
/** True when the repository has a remote with this name. */
bool orch_git_remote_is(const char *repository, const char *name);

/** Time of this store's last exchange with a remote (UTC nanoseconds); 0: never. */
int64_t orch_git_exchanged_at(struct orch_store *store, const char *repository, const char *remote);

/** The source trees of which a part is in the local results: a set of hex ids, which the caller
 * unrefs; empty when there is none. */
GHashTable *orch_git_shared_sources(const char *repository);
/** The tree (hex, the caller frees) of the shared part of a source tree in the local results; NULL
 * when there is none. */
char *orch_git_shared_source(const char *repository, const char *tree);

#endif
