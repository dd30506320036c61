/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparison of regressors as in AI Gauge (Dube et al. 2019): each is tuned over its grid of
 * settings by 5-fold cross-validation. Reports both the setting with the least root mean square
 * error and the one with the least mean relative error |y - f| / y. As in the paper, the target is
 * the time, not its logarithm. */
#ifndef ORCH_FEATURES_LEARN_REGRESSORS_H
#define ORCH_FEATURES_LEARN_REGRESSORS_H

#include "features/learn/aigauge.h"
#include "predictors/features/rows.h"

#include <stdint.h>

#define ORCH_REGRESSORS_FOLDS 5

struct orch_regressor_setting {
    char *text;                       /* "depth 5" */
    double rmse, mean_relative_error; /* of held-out rows */
};

struct orch_regressor {
    char *name;                 /* "tree", "aigauge, I = GPU" */
    GArray *settings;           /* struct orch_regressor_setting; empty if `why` is set */
    guint by_rmse, by_relative; /* indices of the best settings */
    char *why;                  /* why it could not be fitted, or NULL */
    struct orch_aigauge *form;  /* the linear form fitted to all rows; NULL for other regressors */
};

/** Compares models (predictors/models/model.h) and "aigauge", which gives two results, one per
 * reading, and needs `jobs` (one per row; NULL: it cannot be fitted). All share the same folds.
 * Returns struct orch_regressor * in the order of `models` (NULL-terminated); caller unrefs. Fails
 * with ORCH_ERROR_USAGE for fewer than 10 rows or an unknown name. */
GPtrArray *orch_regressors_compare(const struct orch_rows *rows,
                                   const struct orch_aigauge_job *jobs, const char *const *models,
                                   uint64_t seed, GError **error);

#endif
