/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Training rows from the runs and data sets of a store, as a table in memory (lib/base/csv.h), so
 * that predictors read both like a file.
 */
#ifndef ORCH_CORE_ROWS_RUN_ROWS_H
#define ORCH_CORE_ROWS_RUN_ROWS_H

#include "lib/base/csv.h"
#include "store/store.h"
#include "store/write/dataset.h"

/** Counts the runs that gave a row and, by reason, those that did not. */
struct orch_rows_tally {
    int64_t rows;
    int64_t shared;         /* other trials ran at the same time, and its device has runs alone, or
                               it had a share of a GPU */
    int64_t shared_rows;    /* runs beside others that gave rows, because their device has none
                               alone */
    int64_t disturbed;      /* other programs kept the CPUs busy during the run */
    int64_t disturbed_rows; /* disturbed runs that gave rows, because their device has no
                               undisturbed run */
    int64_t unmeasured;     /* it recorded nothing from which the target can be computed */
    int64_t no_cost;        /* its plugin declares no cost (network, batch, ...) */
    int64_t forward; /* its epochs did not train the network but ran on features computed once */
    int64_t other_libraries; /* its device's newest run used LibTorch or PyTorch in another version
                              */
    int64_t other_layouts;   /* the network's newest run on the device used another memory layout */
    int64_t other_graphs;    /* the network's newest run on the device differs in whether its steps
                              were replayed as CUDA graphs */
};

/** Number of runs that declare a cost. */
int64_t orch_rows_tally_with_cost(const struct orch_rows_tally *tally);

/** True when runs were read, and none of them declares a cost. */
bool orch_rows_tally_has_no_cost(const struct orch_rows_tally *tally);

/**
 * A row for each run that ended ok, is not hidden, meets `filter` (NULL: all) and declared its
 * cost. A run beside other trials, or during which other programs kept the CPUs busy
 * (lib/wire/foreign_cpu_fact.h), gives none, unless its device has no other: a machine whose GPUs
 * are always all in use is learned from as it is. A run on a share of a GPU gives none. A run of
 * epochs that did not train the network (its last layer alone, on features computed once) gives
 * none: its steps are not steps of the network. Times of two versions of LibTorch or PyTorch are
 * not pooled: of each device the version of its newest run gives rows; nor are times of two memory
 * layouts of a network, input and precision on a device, or times with and without CUDA graphs.
 * Columns: gpu (the model of the GPU, or of the processor), workers, threads, net, batch (images
 * that a step computes in each worker, copies included), precision, framework, images (that an
 * epoch computes), input (CxHxW), img (its side, where square), classes, mode (train, infer),
 * epochs, and last the target; a field that a run does not record is empty.
 *
 * step_ms (a step of all workers), epoch_s and images_per_s (of all workers) come from metrics
 * and results recorded as epoch_time, images_per_s, step_time and similar names, with their units:
 * the median over the epochs or steps without the first, which warms up, unless it is the only one.
 * Each is computed from another by batch, workers and images where needed. wall_s is the run's
 * whole time.
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
 * without a positive value are left out, and so are columns that leak it). Columns that were marked
 * as leaking the target are not in it. ORCH_ERROR_NOT_FOUND: no such set or column.
 */
struct orch_csv *orch_rows_of_dataset(struct orch_store *store, const char *name,
                                      const char *target, GError **error);

/** All columns of a set, the target last, as CSV text (RFC 4180). */
GString *orch_rows_dataset_text(const struct orch_dataset *set);
/** A table as CSV text. */
GString *orch_rows_text(const struct orch_csv *table);

#endif
