/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "lib/vcs/holders.h"
#include "store/beside.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

struct rm_options {
    const char *reason;
    bool undo;
};

static const struct orch_option RM_OPTIONS[] = {
    {"reason", 0, "TEXT", ORCH_OPT_TEXT, offsetof(struct rm_options, reason),
     "reason, stored with the run"},
    {"undo", 0, NULL, ORCH_OPT_FLAG, offsetof(struct rm_options, undo), "bring removed runs back"},
    {0}};

/* Finds every run before anything is changed, so that a typing error has no effect. */
static GPtrArray *find_all(struct orch_cli *cli, struct orch_store *store, GError **error)
{
    GPtrArray *runs = g_ptr_array_new_with_free_func((GDestroyNotify)orch_run_free);
    for (int i = 0; i < cli->arg_count; i++) {
        struct orch_run *run = orch_store_run(store, cli->args[i], error);
        if (!run) {
            g_ptr_array_unref(runs);
            return NULL;
        }
        g_ptr_array_add(runs, run);
    }
    return runs;
}

/* Returns a text such as ", made by Ada: here alone" when another user's run is removed or
 * restored. The caller frees. */
static char *whose(const struct orch_run *run)
{
    g_autofree char *name = orch_who_name(run->who);
    return orch_who_is_same(run->who, orch_user_name())
               ? g_strdup("")
               : g_strdup_printf(", made by %s: here alone", name);
}

static void report(struct orch_cli *cli, const GPtrArray *runs, const char *what, bool tells_whose)
{
    json_t *keys = json_array();
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        json_array_append_new(keys, json_string(run->key));
        g_autofree char *more = tells_whose ? whose(run) : g_strdup("");
        if (!cli->json)
            orch_cli_say(cli, "%s run %s (%s, %s)%s", what, orch_cli_short_key(run->key),
                         run->experiment, run->state, more);
    }
    if (cli->json)
        orch_cli_print_json(json_pack("{s:o}", what, keys));
    else
        json_decref(keys);
}

/* Checks that each run is removed, and that this user may restore it. */
static bool may_undo(struct orch_store *store, const GPtrArray *runs, GError **error)
{
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        GError *problem = NULL;
        struct orch_hidden *hidden = orch_store_hidden(store, run->key, &problem);
        g_autofree char *who = orch_who_name(run->who);
        g_autofree char *hint = g_strdup_printf("ask for 'orch rm --undo %s' and 'orch push' there",
                                                orch_cli_short_key(run->key));
        bool may = hidden && (!hidden->is_public || orch_who_is_same(run->who, orch_user_name()));
        if (!hidden && !problem)
            orch_error_set(&problem, ORCH_ERROR_USAGE, "'orch ls --all' shows which are",
                           "run %s is not removed", orch_cli_short_key(run->key));
        else if (!may && !problem)
            orch_error_set(&problem, ORCH_ERROR_USAGE, hint,
                           "run %s was removed by %s, who made it: nobody else brings it back",
                           orch_cli_short_key(run->key), who);
        orch_hidden_free(hidden);
        if (problem) {
            g_propagate_error(error, problem);
            return false;
        }
    }
    return true;
}

static int run_rm(struct orch_cli *cli, const void *options, GError **error)
{
    const struct rm_options *o = options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_WRITE, error);
    g_autoptr(GPtrArray) runs = store ? find_all(cli, store, error) : NULL;
    if (!runs || (o->undo && !may_undo(store, runs, error)))
        return -1;
    const char *reason = o->reason ? o->reason : "";
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        if (!(o->undo ? orch_store_restore(store, run->key, reason, error)
                      : orch_store_note(store, run->key, "tombstone", true, reason, error)))
            return -1;
    }
    report(cli, runs, o->undo ? "restored" : "removed", true);
    return ORCH_EXIT_OK;
}

static int run_purge(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_WRITE, error);
    g_autoptr(GPtrArray) runs = store ? find_all(cli, store, error) : NULL;
    if (!runs)
        return -1;
    for (guint i = 0; i < runs->len; i++)
        if (!orch_store_purge(store, ((const struct orch_run *)runs->pdata[i])->key, error))
            return -1;
    report(cli, runs, "purged", false);
    orch_cli_say(cli, "'orch gc' gives back the space of artifacts that nothing else names");
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_RM = {
    .name = "rm",
    .group = "Maintenance",
    .summary = "hide runs from reuse, lists and reports; --undo brings them back",
    .usage = "RUN...",
    .min_args = 1,
    .max_args = -1,
    .options = RM_OPTIONS,
    .option_bytes = sizeof(struct rm_options),
    .about =
        "A run never changes after it ends; rm adds a note that hides it. Your own run is hidden "
        "for everybody once you push, another user's only in this store. 'orch ls --all' shows "
        "removed "
        "runs, "
        "'orch show RUN' who removed one and why, and --undo brings it back, with its artifacts "
        "unless 'orch gc' has dropped them meanwhile.",
    .examples = "  orch rm 3f2a91c0 --reason 'wrong data set'\n"
                "  orch rm --undo 3f2a91c0",
    .run = run_rm,
};

const struct orch_command ORCH_COMMAND_PURGE = {
    .name = "purge",
    .group = "Maintenance",
    .summary = "delete the metric points and artifacts of runs on this machine",
    .usage = "RUN...",
    .min_args = 1,
    .max_args = -1,
    .about = "The run's row, parameters, results and digest stay.",
    .examples = "  orch purge 3f2a91c0 && orch gc",
    .run = run_purge,
};

/* ---- gc ---------------------------------------------------------------------------------------
 */

struct gc_options {
    bool dry_run;
};

static const struct orch_option GC_OPTIONS[] = {
    {"dry-run", 'n', NULL, ORCH_OPT_FLAG, offsetof(struct gc_options, dry_run), "only count"}, {0}};

/* Removes trees that no remaining run names and that no other store of the repository needs. */
static int prune_trees(struct orch_cli *cli, struct orch_store *store, GError **error)
{
    if (!cli->workspace->vcs)
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
    g_autoptr(GPtrArray) absent = g_ptr_array_new_with_free_func(g_free);
    int count = orch_vcs_release(cli->workspace->vcs, &holder, kept, absent, error);
    for (guint i = 0; i < absent->len; i++)
        orch_cli_say(cli,
                     "kept captured trees of a store that is not found: %s; remove the list if the "
                     "store is gone for good",
                     (char *)absent->pdata[i]);
    return count;
}

static int run_gc(struct orch_cli *cli, const void *options, GError **error)
{
    const struct gc_options *o = options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_WRITE, error);
    int count = 0, trees = 0;
    int64_t bytes = 0;
    if (!store || !orch_store_gc(store, o->dry_run, &count, &bytes, error))
        return -1;
    g_autoptr(GPtrArray) actives = orch_store_actives(store, error);
    if (!actives)
        return -1;
    if (!o->dry_run && !actives->len && (trees = prune_trees(cli, store, error)) < 0)
        return -1;
    g_autofree char *size = orch_bytes_format(bytes);
    if (cli->json)
        orch_cli_print_json(json_pack("{s:i s:I s:i s:b}", "removed", count, "bytes",
                                      (json_int_t)bytes, "trees", trees, "dry_run", o->dry_run));
    else
        printf("%s %d file%s and folder%s that no kept run names, %s; %d captured tree%s\n",
               o->dry_run ? "would remove" : "removed", count, count == 1 ? "" : "s",
               count == 1 ? "" : "s", size, trees, trees == 1 ? "" : "s");
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_GC = {
    .name = "gc",
    .group = "Maintenance",
    .summary = "free the space of artifacts that no kept run uses",
    .usage = "",
    .max_args = 0,
    .options = GC_OPTIONS,
    .option_bytes = sizeof(struct gc_options),
    .about =
        "Artifacts, folders of trials, checkpoints and work copies, and captured source trees. A "
        "tree stays while another store of the repository (a linked work tree's, another --db) "
        "needs it, also while that store is away.",
    .run = run_gc,
};
