/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the runs that other trackers left in files: MLflow (folder mlruns, mlflow.db), W&B (the CSV
 * of a runs table, folders of runs), TensorBoard (event files), SwanLab, trackio and Optuna (SQLite
 * files), Sacred (folders, TinyDB), and the JSON of benchmark programs. The files are untrusted:
 * sizes are bounded, nothing is executed, and symbolic links are skipped. */
#ifndef ORCH_FEATURES_IMPORTS_IMPORT_RUNS_H
#define ORCH_FEATURES_IMPORTS_IMPORT_RUNS_H

#include "lib/loggers/loggers.h"
#include "store/write/imported.h"

/** Adds the runs found at `path` to `runs` (struct orch_imported_run *) and unreadable items to
 * `warnings` (char *). `params`: numeric columns of a CSV that are parameters; NULL-terminated or
 * NULL. ORCH_ERROR_USAGE when no known format is found. */
bool orch_import_runs_read(const char *path, const char *const *params, GPtrArray *runs,
                           GPtrArray *warnings, GError **error);

/** What became of a run that another tracker recorded. */
enum orch_import_outcome {
    ORCH_IMPORT_ADDED,
    ORCH_IMPORT_KNOWN,   /* the same run was imported before */
    ORCH_IMPORT_REFUSED, /* one of its numbers is out of range */
};
/** Stores the run. `*out_fault` receives the reason of REFUSED (borrowed), else NULL. With `store`
 * NULL only checks: the outcome is then ADDED or REFUSED. False when the store fails. */
bool orch_import_run_put(struct orch_store *store, struct orch_imported_run *run,
                         enum orch_import_outcome *out, const char **out_fault, GError **error);

/* ---- the readers ------------------------------------------------------------------------------
 * Each takes a path that import_runs.c has recognised. */

/** The sink by which a reader of lib/loggers fills a run. */
struct orch_log_sink orch_import_sink(struct orch_imported_run *run);
/** Reads a file into a run, without following a symbolic link. */
void orch_import_file(struct orch_imported_run *run, const struct orch_logger *logger,
                      const char *path, GPtrArray *warnings);
/** Reads the runs of a database of MLflow or trackio. */
bool orch_import_database(const char *path, GPtrArray *runs, GPtrArray *warnings, GError **error);
/** Whether a file is the SQLite storage of Optuna's studies. */
bool orch_optuna_db_is(const char *path);
/** Reads the trials of Optuna's studies that have ended. */
bool orch_optuna_db_read(const char *path, GPtrArray *runs, GPtrArray *warnings, GError **error);
void orch_import_mlruns(const char *folder, GPtrArray *runs, GPtrArray *warnings);
/** Reads the folder of an experiment of MLflow, or of one of its runs. False when it is neither. */
bool orch_import_mlflow_part(const char *folder, GPtrArray *runs, GPtrArray *warnings);
void orch_import_wandb_folder(const char *folder, GPtrArray *runs, GPtrArray *warnings);
bool orch_import_wandb_csv(const char *path, const char *const *params, GPtrArray *runs,
                           GError **error);
/** Parses ISO 8601, as UTC unless it has a time zone; 0 when the text is no such time. */
int64_t orch_import_utc_ns(struct orch_imported_run *run, const char *text);
/** True when one of the names is that of a log. */
bool orch_import_has_logs(const struct orch_logger *logger, const GPtrArray *entries);
/** Reads all such logs of one folder as one run; one whose logger makes no folder for each run is
 * called `name`. */
void orch_import_logs(const struct orch_logger *logger, const char *folder, const char *name,
                      GPtrArray *runs, GPtrArray *warnings);
/** Reads a JSON file: results of a benchmark program, Sacred's TinyDB, lines of orch.export_runs.
 * False when it is none of these. */
bool orch_import_json(const char *path, GPtrArray *runs, GPtrArray *warnings);
/** True for a file that is worth reading as JSON, by its name and first bytes. */
bool orch_import_json_may_know(const char *path);
/** Reads a run of Sacred's FileStorageObserver. False when the folder is none. */
bool orch_import_sacred_folder(const char *folder, GPtrArray *runs, GPtrArray *warnings);
/** Adds a sentence to `warnings`, up to 100 in total. */
void orch_import_warn(GPtrArray *warnings, const char *format, ...) G_GNUC_PRINTF(2, 3);
/** Entries of a folder, sorted by the bytes of their names, at most 100,000: char *; the caller
 * unrefs. */
GPtrArray *orch_import_entries(const char *folder);
/** True for a folder, but not for a symbolic link to one. */
bool orch_import_is_folder(const char *path);
/** Reads a regular file of at most `most` bytes, without following symbolic links. NULL when there
 * is no file, or, with a warning, when it cannot be read. The caller frees. */
char *orch_import_text(const char *path, size_t most, GPtrArray *warnings);

#endif
