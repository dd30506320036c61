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
    const char *repository; /* folder inside the work tree, or a bare repository */
    const char *remote;     /* name of a remote, path or URL; NULL: the branch's, else origin */
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

#endif
