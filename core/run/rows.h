/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows to learn from: of the runs of a store, and of its data sets, as a table in memory
 * (predictors/csv.h), so that predictors read both like a file.
 */
#ifndef ORCH_CORE_RUN_ROWS_H
#define ORCH_CORE_RUN_ROWS_H

#include "predictors/csv.h"
#include "store/dataset.h"
#include "store/store.h"

/** How many runs gave a row, and why others did not. */
struct orch_rows_tally {
    int64_t rows;
    int64_t shared;         /* other trials ran beside it */
    int64_t disturbed;      /* other programs kept the CPUs busy meanwhile */
    int64_t disturbed_rows; /* likewise, but they gave rows: their device has no undisturbed run */
    int64_t unmeasured;     /* it recorded nothing that the target follows from */
    int64_t no_cost;        /* its plugin tells no cost (network, batch, ...) */
    int64_t forward;        /* epochs, but no training: they ran on what the network put out once */
};

/** A number above 0 of the cost that a run's plugin declared; NaN: it tells none. */
double orch_cost_number(const json_t *cost, const char *name);
/** Does it train the network? Plugins write `training` only when it is so. */
bool orch_cost_is_training(const json_t *cost);

/**
 * A row for each run that ended ok, is not hidden, meets `filter` (NULL: all), declared its cost
 * and ran alone. A run during which other programs kept the CPUs busy (lib/wire/disturbed.h) gives
 * none either, unless its device has no other: a machine that is always loaded is learned from as
 * it is. A run of epochs that did not train the network (its last layer alone, on features computed
 * once) gives none: its steps say nothing of the network. Columns: gpu (the model of the GPU, or of
 * the processor), workers, threads, net, batch (images a step and worker), precision, framework,
 * images (of an epoch), input (CxHxW), img (its side, where square), classes, mode (train, infer),
 * epochs, and last the target; a field that a run does not tell is empty.
 *
 * step_ms (a step of all workers), epoch_s and images_per_s (of all workers) come from what was
 * recorded by the names epoch_time, images_per_s, step_time and their like, with its unit: the
 * median over the epochs or steps without the first, which warms up, unless it is the only one. One
 * follows from another by batch, workers and images. wall_s is the run's whole time.
 *
 * `keys` (may be NULL) gets each row's run key (g_strdup); `out_tally` may be NULL. Columns that
 * are the same in all rows are there too. ORCH_ERROR_USAGE: an unknown target (none of "step_ms",
 * "epoch_s", "images_per_s" and "wall_s"), with the nearest, or an unknown name in the filter. The
 * caller frees.
 */
struct orch_csv *orch_rows_of_runs(struct orch_store *store, const struct orch_where *filter,
                                   const char *target, GPtrArray *keys,
                                   struct orch_rows_tally *out_tally, GError **error);

/**
 * The rows of a data set. `target` NULL: its own; else any of its columns of numbers (then rows
 * without one above 0 are left out, and so is what gives it away). Columns that were marked as
 * giving the target away are not in it. ORCH_ERROR_NOT_FOUND: no such set or column.
 */
struct orch_csv *orch_rows_of_dataset(struct orch_store *store, const char *name,
                                      const char *target, GError **error);

/** All columns of a set, the target last, as CSV text (RFC 4180). */
GString *orch_rows_dataset_text(const struct orch_dataset *set);
/** A table as CSV text. */
GString *orch_rows_text(const struct orch_csv *table);

#endif
