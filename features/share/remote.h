/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The place through which a group shares results, a git remote or a plain folder, and exchanges
 * with it. */
#ifndef ORCH_FEATURES_SHARE_REMOTE_H
#define ORCH_FEATURES_SHARE_REMOTE_H

#include "core/workspace/workspace.h"
#include "features/share/remotes/carrier.h"
#include "lib/vcs/share.h"

struct orch_remote {
    char *name; /* a git remote's name, a URL, or a path */
    const struct orch_carrier *carrier;
    const GPtrArray
        *ignored; /* char *: git settings that are not followed, because they name a
                     program and only the repository itself has them; NULL for a folder */
};
/** Finds a remote. `said` NULL selects the default (git config orch.remote, the branch's remote,
 * origin). ORCH_ERROR_IO when there is none. Clear with orch_remote_clear. */
bool orch_remote_find(const struct orch_workspace *workspace, const char *said,
                      struct orch_remote *out, GError **error);
void orch_remote_clear(struct orch_remote *remote);

/** What to exchange. */
struct orch_exchange_request {
    int64_t artifact_bytes;      /* the largest artifact; -1: no limit, 0: none */
    const char *where;           /* only these runs and what they own; NULL: all */
    const char *const *datasets; /* names of data sets to send, NULL-terminated, or NULL */
    bool offline;                /* to compare: with what was fetched last */
    bool may_ask;                /* git may ask for a password on the terminal */
    const struct orch_shared_sources *sources; /* to send, or NULL */
};
/** Checks a wish before anything is done: ORCH_ERROR_USAGE for an invalid filter. */
bool orch_exchange_wish_check(const struct orch_exchange_request *request, GError **error);

/** Pulls, pushes or compares (LOOK). To compare, `store` may be open for reading. `out_outgoing`
 * (may be NULL): struct orch_push_item, what a push to a git remote would send; NULL for a folder.
 * Clear `out` with orch_exchanged_clear. */
bool orch_remote_exchange(const struct orch_workspace *workspace, struct orch_store *store,
                          const struct orch_remote *remote,
                          const struct orch_exchange_request *request, enum orch_exchange_way way,
                          struct orch_exchanged *out, GArray **out_outgoing, GError **error);

/** Finds the source files to send to a git remote: of trees whose recipe shares them, or of all
 * with `all`, unless the remote has them already. Empty for a folder. Clear with
 * orch_shared_sources_clear. */
bool orch_remote_sources(const struct orch_workspace *workspace, struct orch_store *store,
                         const struct orch_remote *remote, bool all,
                         struct orch_shared_sources *out, GError **error);

/** Finds out whether the next push is the first one of this store that sends something, so that the
 * user can be told what leaves the machine. */
bool orch_remote_is_first_push(const struct orch_workspace *workspace, struct orch_store *store,
                               const struct orch_remote *remote,
                               const struct orch_exchange_request *request, bool *out_is_first,
                               GError **error);
/** Records that the user was told. */
bool orch_remote_first_push_explained(struct orch_store *store, GError **error);

/** The run that a path of struct orch_push_item stands for, which the caller frees; NULL for other
 * items. */
struct orch_run *orch_outgoing_run(struct orch_store *store, const char *path);

/** How this store and a remote stand. */
struct orch_standing {
    bool has_store; /* false: `info` is that of an empty store */
    struct orch_store_info info;
    int64_t private_notes;     /* notes that never leave this store */
    struct orch_remote remote; /* its name is NULL when there is none */
    struct orch_exchanged there;
    int64_t exchanged_ns; /* last exchange with a git remote; 0: never */
    GError *problem;      /* why the remote is not known or cannot be read, or NULL */
};
/** Compares the workspace's open store (`has_store` false: a scratch store) with a remote. False
 * only when the store cannot be read. Clear with orch_standing_clear in both cases. */
bool orch_standing_look(struct orch_workspace *workspace, bool has_store, const char *remote,
                        const struct orch_exchange_request *request, struct orch_standing *out,
                        GError **error);
void orch_standing_clear(struct orch_standing *standing);

#endif
