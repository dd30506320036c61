/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trial results grouped by the values of some axes into rows and columns. Tables, winners,
 * comparisons and coverage are made from such a grid. */
#ifndef ORCH_CORE_REPORT_GRID_H
#define ORCH_CORE_REPORT_GRID_H

#include "core/report/trials.h"

/** One cell of a grid: the numbers of its trials, one array for each requested value. */
struct orch_grid_cell {
    char *row, *column;
    unsigned planned, done; /* planned trials, and trials that have a number */
    GPtrArray *trials;      /* struct orch_report_trial *, borrowed */
    GArray **numbers;       /* of double, an array a value; NULL-terminated */
    GArray *seeds;          /* of uint64_t, parallel to each array of numbers */
    GPtrArray *settings;    /* char *, parallel to the seeds: what was swept besides the axes */
    bool is_disturbed;      /* the first value is a time or rate, and other programs disturbed a run
                               that counts */
};

struct orch_grid {
    struct orch_trials *trials;      /* borrowed */
    const GPtrArray *wanted;         /* struct orch_item_value *, borrowed */
    const GPtrArray *rows, *columns; /* axes (char *), borrowed; no columns: one for each value */
    GPtrArray *cells;                /* struct orch_grid_cell *, in order of first appearance */
    const char *better;              /* of the first value: "min", "max", "none" */
    const char **units;              /* unit of each value; NULL: none, or not known yet */
    GPtrArray *unplaced; /* struct orch_report_trial *, borrowed: trials that have not run and are
                            in no cell, because only a run has a value on the axes (machine, gpu) */
    GHashTable *by_place;
    bool shows_deviation; /* tables without columns: the standard deviation beside each value */
    bool is_declared;     /* the trials come from a recipe, which determines their order */
};

/** Groups trials into cells. A trial is skipped when it has none of the requested values, or a
 * value on none of the row axes or none of the column axes. `trials`, `wanted` and the axes must
 * outlive the grid. NULL with an error when the store cannot be read. The caller frees. */
struct orch_grid *orch_grid_new(struct orch_trials *trials, const GPtrArray *wanted,
                                const GPtrArray *rows, const GPtrArray *columns, GError **error);
void orch_grid_free(struct orch_grid *grid);

/** Returns a cell, or NULL when no trial has this row and column. */
const struct orch_grid_cell *orch_grid_at(const struct orch_grid *grid, const char *row,
                                          const char *column);
/** Distinct row labels (char *, borrowed): in order of first appearance for a recipe's trials,
 * sorted by number and then by name for runs selected by a filter. The caller unrefs. */
GPtrArray *orch_grid_rows(const struct orch_grid *grid);
GPtrArray *orch_grid_columns(const struct orch_grid *grid);
/** Whether a value differs between two runs of a cell. */
bool orch_grid_varies(const struct orch_grid_cell *cell, guint value);
/** One of a cell's values, averaged by seed (struct orch_seed_mean). The caller unrefs. */
GArray *orch_grid_means(const struct orch_grid_cell *cell, guint value);
/** The spread of one of a cell's values over the seeds. */
struct orch_spread orch_grid_spread(const struct orch_grid *grid, const struct orch_grid_cell *cell,
                                    guint value);
/** Which of a cell's trials give no number, and why the first does not: "1 of its 3 trials gives no
 * number (failed before: exit status 1)". NULL: each does. The caller frees. */
char *orch_grid_lost_text(const struct orch_grid *grid, const struct orch_grid_cell *cell);
/** Formats the sample size of a cell's first value: "3 seeds", "3 seeds, 6 runs". The caller
 * frees. */
char *orch_grid_count_text(const struct orch_grid_cell *cell);
/** The difference b - a of the first value. Times are not tested (is_uneven) when other programs
 * disturbed those of one side only. Where a cell mixes settings (learning rates, say), only runs
 * count of which the other cell has one of the same setting and seed: `*out_unmatched` is the
 * number of others. Cells of different columns are two samples, not pairs. */
struct orch_difference orch_grid_difference(const struct orch_grid_cell *a,
                                            const struct orch_grid_cell *b,
                                            unsigned *out_unmatched);
/** Compares the first value of two cells by the direction that its metric declares. Negative: x
 * is better. */
int orch_grid_compare(const struct orch_grid *grid, const struct orch_grid_cell *x,
                      const struct orch_grid_cell *y);
/** Returns a sentence when the repeats of a cell start from the same trained model
 * (core/stats/shared_base.h). NULL when none do, or when the first value is a time or a rate,
 * which the model does not affect. The caller frees. */
char *orch_grid_shared_base(const struct orch_grid *grid, struct orch_store *store);

/** Joins names (char *): "lr, mode". The caller frees. */
char *orch_names_joined(const GPtrArray *names);

#endif
