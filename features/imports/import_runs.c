/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/imports/import_runs.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 12, RUNS_MAX = 100000 };

static bool has(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

/* ---- what a folder is -------------------------------------------------------------------------
 */

/* True when the folder contains an experiment: NAME/meta.yaml. */
static bool is_mlruns(const char *folder, const GPtrArray *entries)
{
    for (guint i = 0; i < entries->len; i++) {
        g_autofree char *path = g_build_filename(folder, entries->pdata[i], NULL);
        if (orch_import_is_folder(path) && has(path, "meta.yaml"))
            return true;
    }
    return false;
}

static bool is_wandb_run(const char *folder, const GPtrArray *entries)
{
    g_autofree char *base = g_path_get_basename(folder);
    g_autofree char *files = g_build_filename(folder, "files", NULL);
    bool is_named = g_str_has_prefix(base, "run-") || g_str_has_prefix(base, "offline-run-");
    for (guint i = 0; i < entries->len; i++)
        if (is_named && g_str_has_suffix(entries->pdata[i], ".wandb"))
            return true;
    return has(folder, "wandb-summary.json") || has(folder, "wandb-history.jsonl") ||
           has(files, "wandb-summary.json") || (is_named && has(files, "config.yaml"));
}

static bool is_sqlite(const char *path)
{
    char head[16] = "";
    bool is_file = g_file_test(path, G_FILE_TEST_IS_REGULAR);
    FILE *file = is_file ? orch_file_open_stream(path, NULL) : NULL;
    bool is = file && fread(head, 1, sizeof head, file) == sizeof head &&
              memcmp(head, "SQLite format 3", 16) == 0;
    if (file)
        fclose(file);
    return is;
}

static bool read_database(const char *path, GPtrArray *runs, GPtrArray *warnings, GError **error)
{
    return orch_optuna_db_is(path) ? orch_optuna_db_read(path, runs, warnings, error)
                                   : orch_import_database(path, runs, warnings, error);
}

/* `name`: the folder's path relative to the start of the search. */
static void search(const char *folder, const char *name, int depth, GPtrArray *runs,
                   GPtrArray *warnings)
{
    g_autoptr(GPtrArray) entries = orch_import_entries(folder);
    if (depth > DEPTH_MAX || runs->len >= RUNS_MAX) {
        orch_import_warn(
            warnings,
            "folder '%s' was not searched: too deep below the folder to import, or too many runs",
            folder);
        return;
    }
    if (has(folder, "meta.yaml") && orch_import_mlflow_part(folder, runs, warnings))
        return;
    if (is_mlruns(folder, entries)) {
        orch_import_mlruns(folder, runs, warnings);
        return;
    }
    if (orch_import_has_logs(&ORCH_LOGGER_SWANLAB, entries)) {
        orch_import_logs(&ORCH_LOGGER_SWANLAB, folder, name, runs, warnings);
        return;
    }
    if (is_wandb_run(folder, entries)) {
        orch_import_wandb_folder(folder, runs, warnings);
        return;
    }
    if (orch_import_sacred_folder(folder, runs, warnings))
        return;
    if (orch_import_has_logs(&ORCH_LOGGER_TENSORBOARD, entries))
        orch_import_logs(&ORCH_LOGGER_TENSORBOARD, folder, name, runs, warnings);
    for (guint i = 0; i < entries->len; i++) {
        const char *entry = entries->pdata[i];
        g_autofree char *path = g_build_filename(folder, entry, NULL);
        g_autofree char *below =
            strcmp(name, ".") == 0 ? g_strdup(entry) : g_build_filename(name, entry, NULL);
        if (*entry != '.' && orch_import_is_folder(path))
            search(path, below, depth + 1, runs, warnings);
        else if (*entry != '.' && orch_import_json_may_know(path))
            orch_import_json(path, runs, warnings);
        else if (g_str_has_suffix(entry, ".db") && !g_file_test(path, G_FILE_TEST_IS_SYMLINK) &&
                 is_sqlite(path))
            read_database(path, runs, warnings, NULL); /* that of another program is passed over */
    }
}

/* ---- what a file is ---------------------------------------------------------------------------
 */

static bool fail_unknown(const char *path, GError **error)
{
    orch_error_set(error, ORCH_ERROR_USAGE, "'orch help importing' lists what orch reads",
                   "'%s' holds no runs that orch can read", path);
    return false;
}

static bool read_file(const char *path, const char *const *params, GPtrArray *runs,
                      GPtrArray *warnings, GError **error)
{
    g_autofree char *base = g_path_get_basename(path);
    if (ORCH_LOGGER_TENSORBOARD.knows(base, NULL, 0)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name its folder",
                       "'%s' is an event file, not a folder", path);
        return false;
    }
    if (orch_import_json_may_know(path) || g_str_has_suffix(base, ".jsonl"))
        return orch_import_json(path, runs, warnings) || fail_unknown(path, error);
    if (!is_sqlite(path))
        return orch_import_wandb_csv(path, params, runs, error);
    return read_database(path, runs, warnings, error);
}

bool orch_import_runs_read(const char *path, const char *const *params, GPtrArray *runs,
                           GPtrArray *warnings, GError **error)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "there is no file or folder '%s'", path);
        return false;
    }
    if (S_ISREG(info.st_mode))
        return read_file(path, params, runs, warnings, error);
    if (!S_ISDIR(info.st_mode)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "give the file or folder that the tracker wrote",
                       "'%s' is neither a file nor a folder", path);
        return false;
    }
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    search(absolute, ".", 0, runs, warnings);
    if (runs->len || warnings->len)
        return true;
    return fail_unknown(path, error);
}

bool orch_import_run_put(struct orch_store *store, struct orch_imported_run *run,
                         enum orch_import_outcome *out, const char **out_fault, GError **error)
{
    bool added = true;
    *out = ORCH_IMPORT_REFUSED;
    *out_fault = orch_imported_fault(run);
    if (*out_fault)
        return true;
    if (store && !orch_store_put_imported(store, run, &added, error))
        return false;
    *out = added ? ORCH_IMPORT_ADDED : ORCH_IMPORT_KNOWN;
    return true;
}
