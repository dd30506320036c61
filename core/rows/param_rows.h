/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Training rows from runs that declare no cost, such as those of a plain script: the features are
 * the run's parameters and its device, the target is the wall time. */
#ifndef ORCH_CORE_ROWS_PARAM_ROWS_H
#define ORCH_CORE_ROWS_PARAM_ROWS_H

#include "core/rows/run_rows.h"

/** Columns of parameters have this prefix, so that none is taken for a known feature. */
#define ORCH_PARAM_COLUMN "param."

/** What the rows are of. */
struct orch_param_rows {
    char *experiment, *plugin, *plugin_version;
    char *library; /* "libtorch 2.11.0" (lib/wire/library_fact.h), or NULL: none or unknown */
    int64_t other_versions;  /* runs left out because they are of another version of the plugin */
    int64_t other_libraries; /* runs left out because they used it in another version */
    struct orch_csv *csv;    /* columns gpu, workers, threads, param.NAME..., wall_s */
};
void orch_param_rows_free(struct orch_param_rows *rows);

/** A row for each run of one experiment that ended ok, is not hidden, meets `filter` (NULL: all),
 * of the newest run's version of its plugin and of LibTorch or PyTorch. A run beside other trials,
 * or during which other programs kept the CPUs busy, gives none when another run of the same
 * parameters and device was alone and not disturbed; one on a share of a GPU gives none. Secret
 * parameters are left out. `keys` (may be NULL) gets each row's run key (g_strdup); `tally` counts.
 * NULL with ORCH_ERROR_USAGE when no run matches, or when the runs are of several experiments. The
 * caller frees. */
struct orch_param_rows *orch_param_rows_of_runs(struct orch_store *store,
                                                const struct orch_where *filter, GPtrArray *keys,
                                                struct orch_rows_tally *tally, GError **error);

/** A parameter's value as in a column: a string without quotes, anything else as canonical JSON,
 * null as "". The caller frees. */
char *orch_param_rows_text(const json_t *value);

#endif
