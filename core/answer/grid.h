/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of trials by the values of some axes, in rows and columns: what tables, winners,
 * comparisons and coverage are made of. */
#ifndef ORCH_CORE_ANSWER_GRID_H
#define ORCH_CORE_ANSWER_GRID_H

#include "core/answer/trials.h"

/** One cell: the numbers of its trials, for each value asked for. */
struct orch_grid_cell {
    char *row, *column;
    unsigned planned, done; /* trials, and those of them that have a number */
    GPtrArray *trials;      /* struct orch_trial *, borrowed */
    GArray **numbers;       /* of double, an array a value; NULL-terminated */
    GArray *seeds;          /* of uint64_t, beside them */
};

struct orch_grid {
    const GPtrArray *wanted;         /* struct orch_wanted *, borrowed */
    const GPtrArray *rows, *columns; /* axes (char *), borrowed; no columns: a column a value */
    GPtrArray *cells;                /* struct orch_grid_cell *, in order of first sight */
    const char *better;              /* of the first value: "min", "max", "none" */
    const char **units;              /* of each value; NULL: it has none, or is not known yet */
    GHashTable *by_place;
    bool is_declared; /* its trials are of a recipe, which says their order */
};

/** Puts trials into cells: those that have one of the values (all, when none is asked for) and lie
 * on the axes. They must outlive it. NULL with an error when the store cannot be read. The caller
 * frees. */
struct orch_grid *orch_grid_new(struct orch_trials *trials, const GPtrArray *wanted,
                                const GPtrArray *rows, const GPtrArray *columns, GError **error);
void orch_grid_free(struct orch_grid *grid);

/** NULL: there is no such trial. */
const struct orch_grid_cell *orch_grid_at(const struct orch_grid *grid, const char *row,
                                          const char *column);
/** Distinct labels (char *, borrowed): a recipe's in order of first sight, those of runs that a
 * filter chose in order of number and letter. The caller unrefs. */
GPtrArray *orch_grid_rows(const struct orch_grid *grid);
GPtrArray *orch_grid_columns(const struct orch_grid *grid);
/** One of a cell's values, averaged by seed (struct orch_seed_mean). The caller unrefs. */
GArray *orch_grid_means(const struct orch_grid_cell *cell, guint value);
/** How one of a cell's values scatters over the seeds. */
struct orch_spread orch_grid_spread(const struct orch_grid *grid, const struct orch_grid_cell *cell,
                                    guint value);
/** "0.912 (0.905..0.918) (0.92) n=2/3": the first value with its spread, others in brackets;
 * "missing". The caller frees. */
char *orch_grid_text(const struct orch_grid *grid, const struct orch_grid_cell *cell);
/** "3 seeds", "3 seeds, 6 runs": how many runs stand behind a cell's first value. The caller frees.
 */
char *orch_grid_count_text(const struct orch_grid_cell *cell);
/** b - a, of the first value. */
struct orch_difference orch_grid_difference(const struct orch_grid_cell *a,
                                            const struct orch_grid_cell *b);
/** Is x better than y, by the first value and as its metric was declared? Below 0: yes. */
int orch_grid_compare(const struct orch_grid *grid, const struct orch_grid_cell *x,
                      const struct orch_grid_cell *y);
/** A sentence when the repeats of a cell share a trained model (core/report/shared_base.h). NULL:
 * none does, or the first value is a time or rate, which does not hang on it. The caller frees. */
char *orch_grid_shared_base(const struct orch_grid *grid, struct orch_store *store);

/** The setting that wins, and by how much. */
struct orch_winner {
    const struct orch_grid_cell *first; /* NULL: no trial is done */
    GPtrArray *others;                  /* struct orch_grid_cell *, borrowed: those with a number,
                                           the best first */
    struct orch_difference *margins;    /* [i + 1]: by how much the first is better than
                                           others[i], see orch_best_margins */
    size_t worse;                       /* others that are worse by more than noise */
    unsigned missing;                   /* settings of which nothing was run */
};
struct orch_winner orch_grid_winner(const struct orch_grid *grid);
void orch_winner_clear(struct orch_winner *winner);

/** Rows of the first axes, a column for each label of the columns and in it orch_grid_text; without
 * columns a column for each value. The caller frees. */
struct orch_table *orch_grid_table(const struct orch_grid *grid);
/** What its numbers are: "last of val_accuracy, mean +- 95 % interval over repeats". The caller
 * frees. */
char *orch_grid_legend(const struct orch_grid *grid);
/** "lr, mode" of char *. The caller frees. */
char *orch_names_joined(const GPtrArray *names);

#endif
