/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/remotes/carrier.h"

#include "lib/vcs/vcs.h"

static struct orch_claims *folder_claims(const char *repository, const char *store_folder,
                                         const char *remote, const char *who, GError **error)
{
    (void)repository;
    (void)store_folder;
    return orch_claims_open_folder(remote, who, error);
}

static bool folder_exchange(struct orch_store *store, const struct orch_git_exchange *how,
                            enum orch_exchange_way way, struct orch_exchanged *out,
                            GArray **out_outgoing, GError **error)
{
    if (out_outgoing)
        *out_outgoing = NULL;
    return orch_folder_exchange(store, how->remote, way, &how->choice, out, error);
}

const struct orch_carrier ORCH_CARRIER_GIT = {.claims = orch_claims_open_git,
                                              .exchange = orch_git_exchange,
                                              .lists_outgoing = true,
                                              .ignored = orch_vcs_programs_not_run,
                                              .sources = orch_git_shared_sources,
                                              .exchanged_at = orch_git_exchanged_at};

const struct orch_carrier ORCH_CARRIER_FOLDER = {.claims = folder_claims,
                                                 .exchange = folder_exchange};

const struct orch_carrier *orch_carrier_of(const char *repository, const char *remote)
{
    return orch_folder_is(remote) && !orch_git_remote_is(repository, remote) ? &ORCH_CARRIER_FOLDER
                                                                             : &ORCH_CARRIER_GIT;
}
