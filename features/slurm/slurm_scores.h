/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How well the forecasts behind --time and --mem agreed with Slurm's accounts. */
#ifndef ORCH_FEATURES_SLURM_SLURM_SCORES_H
#define ORCH_FEATURES_SLURM_SLURM_SCORES_H

#include "store/store.h"

/** Forecasts of one quantity at one place of a cluster. */
struct orch_slurm_score {
    char *place;          /* owned */
    const char *quantity; /* "time" or "memory" */
    unsigned count;
    double median_relative_error; /* |forecast - account| / account; memory: of the 95 % quantile */
    double within;         /* share of accounts inside the forecast's 90 % interval (time), or at
                              most its 95 % quantile (memory) */
    double within_request; /* share at most --time or --mem; NaN where neither was given */
};

/** Scores the trials that ended well and have both a forecast and an account, by place. Returns
 * struct orch_slurm_score *, time before memory; the caller unrefs. NULL with an error. */
GPtrArray *orch_slurm_scores_read(struct orch_store *store, GError **error);

#endif
