/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of places through which a group shares results and claims, a row each. */
#ifndef ORCH_FEATURES_SHARE_CARRIER_H
#define ORCH_FEATURES_SHARE_CARRIER_H

#include "features/share/remotes/claims.h"
#include "features/share/remotes/results_ref.h"

struct orch_carrier {
    /** Opens the claims there (claims.h). */
    struct orch_claims *(*claims)(const char *repository, const char *store_folder,
                                  const char *remote, const char *who, GError **error);
    /** Exchanges results (results_ref.h); `*out_outgoing` is NULL when `lists_outgoing` is not set.
     */
    bool (*exchange)(struct orch_store *store, const struct orch_git_exchange *how,
                     enum orch_exchange_way way, struct orch_exchanged *out, GArray **out_outgoing,
                     GError **error);
    bool lists_outgoing; /* LOOK says what a push would send */
    /* Of git only, else NULL: settings that are not followed (lib/vcs/vcs.h), the source trees
     * there, and the time of the last exchange (results_ref.h). */
    const GPtrArray *(*ignored)(const char *repository);
    GHashTable *(*sources)(const char *repository);
    int64_t (*exchanged_at)(struct orch_store *store, const char *repository, const char *remote);
};
extern const struct orch_carrier ORCH_CARRIER_GIT, ORCH_CARRIER_FOLDER;

/** The carrier of a remote: a plain folder's for a directory that is neither a repository nor the
 * name of a git remote. */
const struct orch_carrier *orch_carrier_of(const char *repository, const char *remote);

#endif
