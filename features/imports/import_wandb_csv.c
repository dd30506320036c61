/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CSV export of a table of runs of Weights & Biases. */

#include "features/imports/import_runs.h"
#include "lib/base/csv.h"
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/loggers/wandb.h"

static enum orch_verdict verdict_of(const char *state)
{
    static const struct {
        const char *state;
        enum orch_verdict verdict;
    } rows[] = {{"finished", ORCH_VERDICT_OK},
                {"failed", ORCH_VERDICT_FAILED},
                {"crashed", ORCH_VERDICT_CRASHED},
                {"killed", ORCH_VERDICT_CANCELLED},
                {"running", ORCH_VERDICT_LOST}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (g_ascii_strcasecmp(rows[i].state, state) == 0)
            return rows[i].verdict;
    return *state ? ORCH_VERDICT_LOST : ORCH_VERDICT_OK;
}

static const char *field(const struct orch_csv *csv, size_t row, const char *column)
{
    int index = orch_csv_find(csv, column);
    return index < 0 ? "" : orch_csv_text(csv, row, index);
}

static void read_row(const struct orch_csv *csv, size_t row, const char *const *params,
                     GPtrArray *runs)
{
    static const char *const known[] = {"ID",    "Name",    "State",   "User",    "Tags",
                                        "Notes", "Created", "Runtime", "Project", NULL};
    const char *id = field(csv, row, "ID"), *name = field(csv, row, "Name"),
               *created = field(csv, row, "Created");
    g_autofree char *made = *id ? g_strdup(id) : g_strdup_printf("%s %s", name, created);
    struct orch_imported_run *run = orch_imported_run_new("wandb", made);
    double runtime_s, number;
    orch_imported_set_text(&run->name, name);
    orch_imported_set_text(&run->status, field(csv, row, "State"));
    orch_imported_set_text(&run->user, field(csv, row, "User"));
    run->verdict = verdict_of(run->status);
    run->started_ns = orch_import_utc_ns(run, created);
    const char *project = field(csv, row, "Project");
    orch_imported_set_text(&run->experiment, *project ? project : NULL);
    if (orch_real_parse(field(csv, row, "Runtime"), &runtime_s))
        run->ended_ns =
            run->started_ns + orch_imported_ns(run, ORCH_BOUNDED_WALL_NS, runtime_s, 1e9);
    if (*field(csv, row, "Notes"))
        orch_imported_label(run, "notes", field(csv, row, "Notes"));
    g_auto(GStrv) tags = g_strsplit(field(csv, row, "Tags"), ",", 100);
    for (int i = 0; tags[i]; i++)
        if (*g_strstrip(tags[i]))
            g_ptr_array_add(run->tags, g_strdup(tags[i]));
    for (int i = 0; i < orch_csv_columns(csv); i++) {
        const char *column = orch_csv_name(csv, i), *text = orch_csv_text(csv, row, i);
        if (!*text || orch_log_wandb_is_own(column) || g_strv_contains(known, column))
            continue;
        bool is_param = params && g_strv_contains(params, column);
        if (!is_param && orch_log_number(text, &number))
            orch_imported_result(run, column, number);
        else
            orch_imported_param(run, column, text);
    }
    g_ptr_array_add(runs, run);
}

bool orch_import_wandb_csv(const char *path, const char *const *params, GPtrArray *runs,
                           GError **error)
{
    struct orch_csv *csv = orch_csv_read(path, error);
    if (!csv)
        return false;
    for (int i = 0; params && params[i]; i++)
        if (orch_csv_find(csv, params[i]) < 0) {
            orch_error_set(error, ORCH_ERROR_USAGE, NULL, "'%s' has no column '%s'", path,
                           params[i]);
            orch_csv_free(csv);
            return false;
        }
    bool is_runs = orch_csv_find(csv, "Name") >= 0 && orch_csv_find(csv, "State") >= 0;
    for (size_t row = 0; is_runs && row < orch_csv_rows(csv); row++)
        read_row(csv, row, params, runs);
    orch_csv_free(csv);
    if (!is_runs)
        orch_error_set(error, ORCH_ERROR_USAGE, "export the table of runs from the project's page",
                       "'%s' is not a W&B table of runs: it lacks the columns 'Name' and 'State'",
                       path);
    return is_runs;
}
