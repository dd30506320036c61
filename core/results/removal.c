/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/results/removal.h"

#include "lib/base/error.h"
#include "lib/vcs/holders.h"
#include "store/store_dir.h"

/* ---- hiding -----------------------------------------------------------------------------------
 */

bool orch_runs_hide(struct orch_store *store, const GPtrArray *runs, const char *reason,
                    GError **error)
{
    for (guint i = 0; i < runs->len; i++)
        if (!orch_store_note(store, ((const struct orch_run *)runs->pdata[i])->key, "tombstone",
                             true, reason, error))
            return false;
    return true;
}

/* Checks that the run is hidden, and that this user may restore it. */
static bool may_restore(struct orch_store *store, const struct orch_run *run, GError **error)
{
    GError *problem = NULL;
    struct orch_hidden *hidden = orch_store_hidden(store, run->key, &problem);
    const char *key = orch_run_short_key(run->key);
    bool may = hidden && (!hidden->is_public || orch_who_is_same(run->who, orch_user_name()));
    if (!hidden && !problem) {
        orch_error_set(&problem, ORCH_ERROR_USAGE, "'orch ls --all' marks removed runs",
                       "run %s has not been removed", key);
    } else if (!may && !problem) {
        g_autofree char *who = orch_who_name(run->who);
        g_autofree char *hint =
            g_strdup_printf("ask for 'orch rm --undo %s' there, and to share that", key);
        orch_error_set(&problem, ORCH_ERROR_USAGE, hint,
                       "run %s was removed by its author %s, and only they can restore it", key,
                       who);
    }
    orch_hidden_free(hidden);
    if (problem)
        g_propagate_error(error, problem);
    return may;
}

bool orch_runs_restore(struct orch_store *store, const GPtrArray *runs, const char *reason,
                       GError **error)
{
    for (guint i = 0; i < runs->len; i++)
        if (!may_restore(store, runs->pdata[i], error))
            return false;
    for (guint i = 0; i < runs->len; i++)
        if (!orch_store_restore(store, ((const struct orch_run *)runs->pdata[i])->key, reason,
                                error))
            return false;
    return true;
}

bool orch_runs_purge(struct orch_store *store, const GPtrArray *runs, GError **error)
{
    for (guint i = 0; i < runs->len; i++)
        if (!orch_store_purge(store, ((const struct orch_run *)runs->pdata[i])->key, error))
            return false;
    return true;
}

/* ---- freeing space ----------------------------------------------------------------------------
 */

/* Releases the trees that no remaining run names. Returns their number, or -1 on error. */
static int release_trees(struct orch_workspace *workspace, GPtrArray *absent, GError **error)
{
    struct orch_store *store = workspace->store;
    if (!workspace->vcs)
        return 0;
    struct orch_run_query query = {0};
    g_autoptr(GPtrArray) runs = orch_store_runs(store, &query, NULL, error);
    if (!runs)
        return -1;
    g_autoptr(GHashTable) kept = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < runs->len; i++) {
        char *tree = ((const struct orch_run *)runs->pdata[i])->source_tree;
        if (tree)
            g_hash_table_add(kept, tree);
    }
    const struct orch_holder holder = {orch_store_id(store), orch_store_path(store)};
    return orch_vcs_release(workspace->vcs, &holder, kept, absent, error);
}

bool orch_results_collect(struct orch_workspace *workspace, bool dry_run, struct orch_freed *out,
                          GError **error)
{
    *out = (struct orch_freed){.absent = g_ptr_array_new_with_free_func(g_free)};
    if (!orch_store_gc(workspace->store, dry_run, &out->files, &out->bytes, error))
        return false;
    g_autoptr(GPtrArray) running = orch_store_actives(workspace->store, error);
    if (!running)
        return false;
    if (!dry_run && !running->len)
        out->trees = release_trees(workspace, out->absent, error);
    return out->trees >= 0;
}

void orch_freed_clear(struct orch_freed *freed)
{
    if (freed->absent)
        g_ptr_array_unref(freed->absent);
    *freed = (struct orch_freed){0};
}
