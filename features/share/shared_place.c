/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/shared_place.h"

#include "store/handle/store_dir.h"

int64_t orch_share_interval_ns(double share)
{
    return (int64_t)(orch_claim_seconds() * share * 1e9);
}

/* ---- the place ---------------------------------------------------------------------------------
 */

bool orch_share_exchange(const struct orch_share_place *place, struct orch_store *store,
                         enum orch_exchange_way way, GError **error)
{
    struct orch_git_exchange how = {.repository = place->repository,
                                    .remote = place->remote,
                                    .choice = {.artifact_bytes = ORCH_ARTIFACT_BYTES_DEFAULT}};
    struct orch_exchanged exchanged = {0};
    if (way == ORCH_EXCHANGE_PULL)
        orch_store_refresh(store);
    if (!place->remote)
        return true; /* the other hosts read what this one writes */
    bool ok = place->carrier->exchange(store, &how, way, &exchanged, NULL, error);
    orch_exchanged_clear(&exchanged);
    return ok;
}

struct orch_share_place orch_share_place_of(const struct orch_workspace *workspace,
                                            char **out_folder)
{
    const struct orch_store *store = workspace->store;
    bool is_shared = store && orch_store_is_shared(store);
    /* git obeys the configuration of a repository in that folder, so the store must be this user's
     */
    *out_folder = store && orch_store_is_own(store) ? g_strdup(orch_store_folder(store)) : NULL;
    return (struct orch_share_place){.repository = workspace->root,
                                     .store_folder = *out_folder,
                                     .claims_folder = is_shared ? orch_store_folder(store) : NULL,
                                     .who = orch_user_name()};
}

struct orch_run_sharing *orch_run_sharing_new(const struct orch_share_options *options,
                                              GError **error)
{
    const struct orch_share_place *place = &options->place;
    struct orch_claims *near = NULL, *remote = NULL;
    if ((place->claims_folder &&
         !(near = orch_claims_open_folder(place->claims_folder, place->who, error))) ||
        (place->remote && !(remote = place->carrier->claims(place->repository, place->store_folder,
                                                            place->remote, place->who, error)))) {
        orch_claims_close(near);
        return NULL;
    }
    struct orch_run_sharing *share = g_new0(struct orch_run_sharing, 1);
    share->options = options;
    share->near = near;
    share->remote = remote;
    share->claimed = g_hash_table_new(NULL, NULL);
    share->unsent = g_ptr_array_new();
    share->points = orch_shared_points_new();
    share->holders =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)(void (*)(void))orch_claim_free);
    return share;
}

void orch_run_sharing_free(struct orch_run_sharing *share)
{
    if (!share)
        return;
    orch_claims_close(share->near);
    orch_claims_close(share->remote);
    g_hash_table_unref(share->claimed);
    g_hash_table_unref(share->holders);
    orch_shared_points_free(share->points);
    g_ptr_array_unref(share->unsent);
    g_free(share->reported_wait);
    g_free(share);
}

/* ---- a network that fails ----------------------------------------------------------------------
 */

void orch_share_report_failure(struct orch_run_sharing *share, const char *what,
                               const GError *error)
{
    share->down_mono_ns = orch_mono_ns();
    if (share->has_reported_failure || !share->options->on_message)
        return;
    share->has_reported_failure = true;
    g_autofree char *text = g_strdup_printf("%s: %s", what, error ? error->message : "?");
    share->options->on_message(share->options->ctx, text);
}

bool orch_share_is_down(const struct orch_run_sharing *share)
{
    return share->down_mono_ns &&
           orch_mono_ns() - share->down_mono_ns < orch_share_interval_ns(ORCH_SHARE_LOOK);
}

bool orch_share_pull(struct orch_run_sharing *share, struct orch_store *store)
{
    g_autoptr(GError) error = NULL;
    share->looked_mono_ns = orch_mono_ns();
    if (orch_share_is_down(share)) { /* the other hosts of a shared store are still reachable */
        orch_store_refresh(store);
        return false;
    }
    if (orch_share_exchange(&share->options->place, store, ORCH_EXCHANGE_PULL, &error))
        return true;
    orch_share_report_failure(share, "cannot fetch the runs of others", error);
    return false;
}
