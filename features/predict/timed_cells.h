/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The measured times of a plugin's settings on one device. A cell is one setting with the times of
 * its runs, which are brought to the present speed when trials lastingly take longer or shorter
 * than before (features/predict/trial/speed_change.h). */
#ifndef ORCH_FEATURES_PREDICT_TIMED_CELLS_H
#define ORCH_FEATURES_PREDICT_TIMED_CELLS_H

#include "features/predict/trial/duration.h"
#include "features/predict/trial/speed_change.h"
#include "lib/base/json.h"

#include <glib.h>

struct orch_timed_cell {
    GHashTable *params; /* char * -> char *: canonical texts */
    json_t *cost;       /* or NULL */
    GArray *seconds;    /* double: as measured */
    GArray *ended_ns;   /* int64_t, one for each: UTC */
    GArray *now_s;      /* double, one for each: at the present speed */
    int worth;          /* of the runs in `seconds`: only those of the highest worth are kept */
    const char *disturbance; /* of these runs, as in struct orch_timed_run */
    double threads_ratio;    /* the largest of these runs */
    bool is_old;             /* all runs are from before the latest change of speed */
};

struct orch_timed_cells {
    GPtrArray *all;           /* struct orch_timed_cell * */
    GHashTable *by_signature; /* char * -> struct orch_timed_cell * (owned by `all`) */
    size_t runs;
    struct orch_speed_change change; /* the latest; set by orch_timed_cells_bring_to_now */
    int64_t changed_ns;              /* when the first run after it ended */
};
void orch_timed_cells_init(struct orch_timed_cells *cells);
void orch_timed_cells_clear(struct orch_timed_cells *cells);

/** A text that is equal for trials that differ only in their repeat. A null value counts as absent.
 * The caller frees. */
char *orch_timed_cell_signature(GHashTable *params);
/** Returns the cell with this signature, or NULL. */
const struct orch_timed_cell *orch_timed_cells_find(const struct orch_timed_cells *cells,
                                                    const char *signature);

/** A run's time. */
struct orch_timed_run {
    double seconds;
    int64_t ended_ns;
    bool is_own;             /* of this user */
    const char *disturbance; /* why the trials of the plan may take another time, in words that
                                follow 'a run of it here'; static; NULL: nothing */
    double threads_ratio;    /* above 1: it had so many times the threads of the plan's trials, or
                                they have of its; 0: as many */
};
/** Adds a run of a setting. A run of higher worth replaces the cell's runs: own before those of
 * others, which are not verified; undisturbed before disturbed ones. Takes over `params`; takes a
 * new reference to `cost`. */
void orch_timed_cells_add(struct orch_timed_cells *cells, GHashTable *params, json_t *cost,
                          struct orch_timed_run run);

/** Sets `now_s` of all cells, `change` and `changed_ns`. To be called after runs were added. */
void orch_timed_cells_bring_to_now(struct orch_timed_cells *cells);
/** The scatter of the undisturbed runs about their cells, at the present speed. */
struct orch_scatter orch_timed_cells_scatter(const struct orch_timed_cells *cells);
/** Widens an interval by the error of the latest change of speed, if there is one. */
struct orch_interval orch_timed_cells_widen(const struct orch_timed_cells *cells,
                                            struct orch_interval time_s);
/** "; since 2026-11-21 14:02 trials take 1.3 times as long as before", or "". The caller frees. */
char *orch_timed_cells_change_text(const struct orch_timed_cells *cells);

#endif
