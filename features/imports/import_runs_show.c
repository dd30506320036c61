/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/imports/import_runs_show.h"

#include "features/imports/import_runs.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

static void add_row(struct orch_table *table, const struct orch_imported_run *run, const char *what)
{
    orch_table_add(table, what, NULL);
    orch_table_add(table, run->tool, NULL);
    orch_table_add(table, run->id, NULL);
    orch_table_add(table, run->name ? run->name : "", orch_json_text_or_null(run->name));
    orch_table_add(table, orch_verdict_name(run->verdict), NULL);
    orch_table_add_real(table, (double)json_object_size(run->params));
    orch_table_add_real(table, (double)run->names->len);
    orch_table_add_real(table, (double)run->points->len);
}

static bool put_all(struct orch_cli *cli, const GPtrArray *runs, bool dry_run,
                    struct orch_table *table, unsigned *out_added, unsigned *out_refused,
                    GError **error)
{
    static const char *const words[] = {"added", "known", "refused"};
    for (guint i = 0; i < runs->len; i++) {
        struct orch_imported_run *run = runs->pdata[i];
        enum orch_import_outcome outcome;
        const char *fault;
        if (!orch_import_run_put(dry_run ? NULL : cli->workspace->store, run, &outcome, &fault,
                                 error))
            return false;
        bool is_refused = outcome == ORCH_IMPORT_REFUSED;
        add_row(table, run, dry_run && !is_refused ? "found" : words[outcome]);
        *out_refused += is_refused;
        *out_added += !dry_run && outcome == ORCH_IMPORT_ADDED;
        if (is_refused) {
            orch_cli_warn(cli, "run '%s' is not taken: its %s", run->id, fault);
            continue;
        }
        for (guint j = 0; j < run->notes->len; j++)
            orch_cli_warn(cli, "run '%s': %s", run->id, (const char *)run->notes->pdata[j]);
        if (run->is_cut)
            orch_cli_warn(cli, "run '%s' is larger than what a run may hold: the rest is left out",
                          run->id);
    }
    return true;
}

int orch_cli_import_runs(struct orch_cli *cli, const char **params, bool dry_run, GError **error)
{
    static const char *const headers[] = {"what",    "tool",     "id",      "name", "state",
                                          ">params", ">metrics", ">points", NULL};
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(orch_imported_run_free);
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    unsigned added = 0, refused = 0;
    if (!orch_import_runs_read(cli->args[0], (const char *const *)params, runs, warnings, error) ||
        (!dry_run && !orch_cli_store(cli, ORCH_STORE_CREATE, error)))
        return -1;
    struct orch_table *table = orch_table_new(headers);
    if (!put_all(cli, runs, dry_run, table, &added, &refused, error))
        return -1;
    for (guint i = 0; i < warnings->len; i++)
        orch_cli_warn(cli, "%s", (const char *)warnings->pdata[i]);
    orch_cli_table_print(cli, table, "runs");
    if (!cli->json && !dry_run)
        orch_cli_info(cli, "%u run%s added, %u already there, %u refused", added,
                      orch_plural(added), runs->len - added - refused, refused);
    return refused ? ORCH_EXIT_CHECK : ORCH_EXIT_OK;
}
