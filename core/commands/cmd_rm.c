/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hiding runs, deleting what they own, and freeing the space of what no run needs any more. */
#include "core/cli/cli.h"

#include "core/results/run_named.h"
#include "core/workspace/workspace.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/vcs/holders.h"
#include "store/handle/store_dir.h"

#include <string.h>

/* ---- runs hidden and restored -------------------------------------------------------------------
 */

/* What results_collect removed. */
struct freed {
    int files, trees; /* files and folders of the store; captured source trees */
    int64_t bytes;
    GPtrArray *absent; /* char *: stores that need trees and are not found */
    GPtrArray *failed; /* char *: what could not be removed, and why */
};

/* Hides runs (struct orch_run *) from reuse, lists and reports: this user's for everybody once
 * they are pushed, others' in this store. */
static bool runs_hide(struct orch_store *store, const GPtrArray *runs, const char *reason,
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
                       "run %s is not a removed run", key);
    } else if (!may && !problem) {
        g_autofree char *who = orch_who_name(run->who);
        g_autofree char *hint =
            g_strdup_printf("ask the author to run 'orch rm --undo %s', and to share this", key);
        orch_error_set(&problem, ORCH_ERROR_USAGE, hint,
                       "run %s was removed by its author %s; only the author can restore the run",
                       key, who);
    }
    orch_hidden_free(hidden);
    if (problem)
        g_propagate_error(error, problem);
    return may;
}

/* Makes hidden runs visible again. Nothing changes when one of them is not hidden, or was hidden
 * by its author, who is somebody else (ORCH_ERROR_USAGE). */
static bool runs_restore(struct orch_store *store, const GPtrArray *runs, const char *reason,
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

/* Deletes metric points and artifact references of runs on this machine. */
static bool runs_purge(struct orch_store *store, const GPtrArray *runs, GError **error)
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

/* Deletes artifacts and folders that no run needs and, while no trial runs, captured source
 * trees that neither this store nor another one of the repository needs. With `dry_run` only counts
 * files. Clear with freed_clear. */
static bool results_collect(struct orch_workspace *workspace, bool dry_run, struct freed *out,
                            GError **error)
{
    *out = (struct freed){.absent = g_ptr_array_new_with_free_func(g_free),
                          .failed = g_ptr_array_new_with_free_func(g_free)};
    if (!orch_store_gc(workspace->store, dry_run, &out->files, &out->bytes, out->failed, error))
        return false;
    g_autoptr(GPtrArray) running = orch_store_actives(workspace->store, error);
    if (!running)
        return false;
    if (!dry_run && !running->len)
        out->trees = release_trees(workspace, out->absent, error);
    return out->trees >= 0;
}

static void freed_clear(struct freed *freed)
{
    if (freed->absent)
        g_ptr_array_unref(freed->absent);
    if (freed->failed)
        g_ptr_array_unref(freed->failed);
    *freed = (struct freed){0};
}

struct rm_options {
    const char *reason;
    bool undo;
};

static const struct orch_option RM_OPTIONS[] = {
    ORCH_OPTION(struct rm_options, reason, TEXT, "reason", .value = "TEXT",
                .help = "reason, stored with the run"),
    ORCH_OPTION(struct rm_options, undo, FLAG, "undo", .help = "bring removed runs back"),
    {0}};

/* Returns a text such as ", made by Ada: only in this store" when another user's run is removed or
 * restored. The caller frees. */
static char *whose(const struct orch_run *run)
{
    g_autofree char *name = orch_who_name(run->who);
    return orch_who_is_same(run->who, orch_user_name())
               ? g_strdup("")
               : g_strdup_printf(", made by %s: only in this store", name);
}

static void report(struct orch_cli *cli, const GPtrArray *runs, const char *what, bool tells_whose)
{
    json_t *keys = json_array();
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        json_array_append_new(keys, json_string(run->key));
        g_autofree char *more = tells_whose ? whose(run) : g_strdup("");
        if (!cli->json)
            orch_cli_info(cli, "%s run %s (%s, %s)%s", what, orch_run_short_key(run->key),
                          run->experiment, run->state, more);
    }
    if (cli->json)
        orch_cli_print_json(json_pack("{s:o}", what, keys));
    else
        json_decref(keys);
}

/* Returns the runs that the arguments name. */
static GPtrArray *find_all(struct orch_cli *cli, struct orch_store *store, GError **error)
{
    return orch_named_runs(store, cli->args, cli->arg_count, error);
}

static int run_rm(struct orch_cli *cli, const void *options, GError **error)
{
    const struct rm_options *o = options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_WRITE, error);
    g_autoptr(GPtrArray) runs = store ? find_all(cli, store, error) : NULL;
    const char *reason = o->reason ? o->reason : "";
    if (!runs || !(o->undo ? runs_restore(store, runs, reason, error)
                           : runs_hide(store, runs, reason, error)))
        return -1;
    report(cli, runs, o->undo ? "restored" : "removed", true);
    return ORCH_EXIT_OK;
}

static int run_purge(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_WRITE, error);
    g_autoptr(GPtrArray) runs = store ? find_all(cli, store, error) : NULL;
    if (!runs || !runs_purge(store, runs, error))
        return -1;
    report(cli, runs, "purged", false);
    orch_cli_info(cli, "'orch gc' frees the space of artifacts that no other run uses");
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_RM = {
    .name = "rm",
    .group = "Maintain",
    .is_listed = true,
    .summary = "hide runs: lists, reports and 'orch run' ignore them until --undo",
    .usage = "RUN...",
    .min_args = 1,
    .max_args = -1,
    .options = RM_OPTIONS,
    .option_bytes = sizeof(struct rm_options),
    .about = "'orch rm' deletes nothing, it only hides the run. Your own run is hidden for "
             "everybody once you push; another user's run is hidden only in this store. --undo "
             "brings the run back, with its artifacts unless 'orch gc' has deleted them.",
    .examples = "  orch rm 3f2a91c0 --reason 'wrong data set'\n"
                "  orch rm --undo 3f2a91c0",
    .run = run_rm,
};

const struct orch_command ORCH_COMMAND_PURGE = {
    .name = "purge",
    .group = "Maintain",
    .summary = "delete runs' metric points and artifacts from this machine",
    .usage = "RUN...",
    .min_args = 1,
    .max_args = -1,
    .about = "The run, its parameters, results and digest stay in the store.",
    .examples = "  orch purge 3f2a91c0 && orch gc    # gc frees the disk space",
    .run = run_purge,
};

/* ---- gc ---------------------------------------------------------------------------------------
 */

struct gc_options {
    bool dry_run;
};

static const struct orch_option GC_OPTIONS[] = {
    ORCH_OPTION(struct gc_options, dry_run, FLAG, "dry-run", .letter = 'n',
                .help = "only count what would be freed"),
    {0}};

static void print_freed(struct orch_cli *cli, const struct freed *freed, bool dry_run)
{
    g_autofree char *size = orch_bytes_format(freed->bytes);
    g_autoptr(json_t) failed = json_array();
    for (guint i = 0; i < freed->failed->len; i++)
        json_array_append_new(failed, json_string(freed->failed->pdata[i]));
    for (guint i = 0; i < freed->absent->len; i++)
        orch_cli_info(cli,
                      "the source trees of a store that cannot be found are kept: %s. If the store "
                      "is gone, delete its list",
                      (char *)freed->absent->pdata[i]);
    if (cli->json)
        orch_cli_print_json(json_pack("{s:i s:I s:i s:b s:O}", "removed", freed->files, "bytes",
                                      (json_int_t)freed->bytes, "trees", freed->trees, "dry_run",
                                      dry_run, "failed", failed));
    else
        orch_cli_print("%s %d file%s and folder%s that no run needs, %s; %d captured tree%s",
                       dry_run ? "would remove" : "removed", freed->files,
                       orch_plural(freed->files), orch_plural(freed->files), size, freed->trees,
                       orch_plural(freed->trees));
    orch_cli_warn_all(cli, freed->failed);
}

static int run_gc(struct orch_cli *cli, const void *options, GError **error)
{
    const struct gc_options *o = options;
    struct freed freed = {0};
    bool ok = orch_cli_store(cli, ORCH_STORE_COLLECT, error) &&
              results_collect(cli->workspace, o->dry_run, &freed, error);
    int status = ok && freed.failed->len ? ORCH_EXIT_STORE : ok ? ORCH_EXIT_OK : -1;
    if (ok)
        print_freed(cli, &freed, o->dry_run);
    freed_clear(&freed);
    return status;
}

const struct orch_command ORCH_COMMAND_GC = {
    .name = "gc",
    .group = "Maintain",
    .is_listed = true,
    .summary = "delete artifacts and files that no run needs",
    .usage = "",
    .max_args = 0,
    .options = GC_OPTIONS,
    .option_bytes = sizeof(struct gc_options),
    .about = "Deletes the artifacts of runs that were removed ('orch rm') or purged ('orch "
             "purge'), and the folders, files, checkpoints and source trees that no run needs. "
             "Deleted files cannot be restored.",
    .run = run_gc,
};
