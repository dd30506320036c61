/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/remote.h"

#include "lib/vcs/git_config.h"
#include "store/handle/meta.h"

/* The name under which the store keeps that the user was told what a push sends. */
#define PUSH_EXPLAINED "exchange.told"

bool orch_remote_find(const struct orch_workspace *workspace, const char *said,
                      struct orch_remote *out, GError **error)
{
    *out = (struct orch_remote){.name = said ? g_strdup(said)
                                             : orch_git_remote_default(workspace->root, error)};
    if (!out->name)
        return false;
    out->carrier = orch_carrier_of(workspace->root, out->name);
    if (out->carrier->ignored)
        out->ignored = out->carrier->ignored(workspace->root);
    return true;
}

void orch_remote_clear(struct orch_remote *remote)
{
    g_clear_pointer(&remote->name, g_free);
}

bool orch_exchange_wish_check(const struct orch_exchange_request *request, GError **error)
{
    struct orch_where *condition = request->where ? orch_where_parse(request->where, error) : NULL;
    orch_where_free(condition);
    return !request->where || condition;
}

bool orch_remote_exchange(const struct orch_workspace *workspace, struct orch_store *store,
                          const struct orch_remote *remote,
                          const struct orch_exchange_request *request, enum orch_exchange_way way,
                          struct orch_exchanged *out, GArray **out_outgoing, GError **error)
{
    struct orch_where *condition = request->where ? orch_where_parse(request->where, error) : NULL;
    if (request->where && !condition)
        return false;
    struct orch_git_exchange how = {.repository = workspace->root,
                                    .remote = remote->name,
                                    .offline = request->offline,
                                    .may_ask = request->may_ask,
                                    .choice = {.artifact_bytes = request->artifact_bytes,
                                               .where = condition,
                                               .datasets = request->datasets}};
    if (request->sources && request->sources->trees) {
        how.source_trees = (const char *const *)request->sources->trees->pdata;
        how.source_paths = (const char *const *)request->sources->parts->pdata;
    }
    bool ok = remote->carrier->exchange(store, &how, way, out, out_outgoing, error);
    orch_where_free(condition);
    return ok;
}

/* ---- sources ----------------------------------------------------------------------------------
 */

struct source_choice {
    struct orch_store *store;
    GHashTable *sent; /* trees whose source the remote already has */
};

static bool wants_source(void *ctx, const char *tree)
{
    const struct source_choice *choice = ctx;
    return !g_hash_table_contains(choice->sent, tree) &&
           orch_store_has_source(choice->store, tree, NULL);
}

bool orch_remote_sources(const struct orch_workspace *workspace, struct orch_store *store,
                         const struct orch_remote *remote, bool all,
                         struct orch_shared_sources *out, GError **error)
{
    if (!remote->carrier->sources || !workspace->vcs)
        return true;
    struct source_choice choice = {store, remote->carrier->sources(workspace->root)};
    bool ok = orch_vcs_shareable(workspace->vcs, all, wants_source, &choice, out, error);
    g_hash_table_unref(choice.sent);
    return ok;
}

/* ---- the first push ---------------------------------------------------------------------------
 */

bool orch_remote_is_first_push(const struct orch_workspace *workspace, struct orch_store *store,
                               const struct orch_remote *remote,
                               const struct orch_exchange_request *request, bool *out_is_first,
                               GError **error)
{
    GError *problem = NULL;
    struct orch_exchanged there = {0};
    g_autofree char *explained = orch_store_remembered(store, PUSH_EXPLAINED, &problem);
    *out_is_first = false;
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    if (explained)
        return true;
    bool ok = orch_remote_exchange(workspace, store, remote, request, ORCH_EXCHANGE_LOOK, &there,
                                   NULL, error);
    *out_is_first = ok && (there.ahead || there.ahead_notes);
    orch_exchanged_clear(&there);
    return ok;
}

bool orch_remote_first_push_explained(struct orch_store *store, GError **error)
{
    return orch_store_remember(store, PUSH_EXPLAINED, "1", error);
}

struct orch_run *orch_outgoing_run(struct orch_store *store, const char *path)
{
    struct orch_item_name name;
    bool is_run = orch_item_name_parse(path, &name) && name.kind == ORCH_ITEM_RUN;
    return is_run ? orch_store_run(store, name.key, NULL) : NULL;
}

/* ---- comparing --------------------------------------------------------------------------------
 */

bool orch_standing_look(struct orch_workspace *workspace, bool has_store, const char *remote,
                        const struct orch_exchange_request *request, struct orch_standing *out,
                        GError **error)
{
    struct orch_store *store = workspace->store;
    *out = (struct orch_standing){.has_store = has_store};
    if (!orch_store_info(store, &out->info, error))
        return false;
    out->private_notes = orch_store_private_notes(store, error);
    if (out->private_notes < 0)
        return false;
    if (!orch_remote_find(workspace, remote, &out->remote, &out->problem))
        return true;
    orch_remote_exchange(workspace, store, &out->remote, request, ORCH_EXCHANGE_LOOK, &out->there,
                         NULL, &out->problem);
    if (out->remote.carrier->exchanged_at)
        out->exchanged_ns =
            out->remote.carrier->exchanged_at(store, workspace->root, out->remote.name);
    return true;
}

void orch_standing_clear(struct orch_standing *standing)
{
    orch_store_info_clear(&standing->info);
    orch_exchanged_clear(&standing->there);
    orch_remote_clear(&standing->remote);
    g_clear_error(&standing->problem);
}
