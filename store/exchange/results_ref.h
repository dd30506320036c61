/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The group's results on a git remote: a tree of items under refs/orch/results.
 *
 * Objects and refs are written with libgit2; fetch and push run the `git` program, for its ssh,
 * credential helpers and proxies. Push is: fetch, join into the store, union of the trees, commit
 * with both as parents, push; a remote that moved meanwhile is fetched again (never forced). Here
 * the union is kept as refs/orch/results and each remote's as refs/orch/remotes/NAME. Branches,
 * tags, index, work tree and FETCH_HEAD are untouched, no hook is run.
 */
#ifndef ORCH_STORE_EXCHANGE_RESULTS_REF_H
#define ORCH_STORE_EXCHANGE_RESULTS_REF_H

#include "store/exchange/bundle.h"

struct orch_git_exchange {
    const char *repository; /* folder inside the work tree, or a bare repository; where there is
                               none, a private repository beside the store is used */
    const char *remote;     /* name of a remote, path or URL; NULL: the default */
    bool offline;           /* LOOK by what is known, nothing fetched */
    bool may_ask;           /* git may ask for a password on the terminal */
    struct orch_item_choice choice;
    const char *const *source_trees; /* tree ids whose sources go too (inputs only), or NULL */
    const char *const *source_paths; /* of each tree, the subtree's id that goes; same order */
};

/** One item that a push would send. */
struct orch_outgoing {
    char path[ORCH_ITEM_PATH_CHARS];
    int64_t bytes;
};

/** Pulls, pushes or looks. For LOOK `out_outgoing` (may be NULL) gets every name and size that a
 * push would send (struct orch_outgoing, by value); nothing is written to the store or the remote.
 * Errors say which of fetch and push failed and what git said, with the cure: no remote, cannot be
 * reached, read-only, refused by a hook there, shallow or bare here. */
bool orch_git_exchange(struct orch_store *store, const struct orch_git_exchange *how,
                       enum orch_exchange_way way, struct orch_exchanged *out,
                       GArray **out_outgoing, GError **error);

/** The remote that is meant when none is named: git config orch.remote, else the only one, the
 * branch's, or origin. The caller frees; NULL with ORCH_ERROR_IO: none. */
char *orch_git_remote_default(const char *repository, GError **error);
/** Has the repository a remote of this name? */
bool orch_git_remote_is(const char *repository, const char *name);

/** When this store last exchanged with a remote (UTC nanoseconds); 0: never. */
int64_t orch_git_exchanged_at(struct orch_store *store, const char *repository, const char *remote);

/** Trees of which a part was shared, in the results that are here: a set of hex ids, to be
 * unref'd; empty where there is nothing. */
GHashTable *orch_git_shared_sources(const char *repository);
/** The tree (hex, to be freed) of what was shared of a source tree, in the results that are here;
 * NULL: nothing was. */
char *orch_git_shared_source(const char *repository, const char *tree);

#endif
