/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regressors side by side, as AI Gauge (Dube et al. 2019) compares them: each with its grid of
 * settings, tuned by 5-fold cross-validation. The setting with the least root mean square error and
 * the one with the least mean relative error |y - f| / y may be two: both are reported. What is
 * learned is the time itself, as there, and not its logarithm. */
#ifndef ORCH_PREDICTORS_REGRESSORS_H
#define ORCH_PREDICTORS_REGRESSORS_H

#include "predictors/aigauge.h"
#include "predictors/rows.h"

#include <stdint.h>

#define ORCH_REGRESSORS_FOLDS 5

struct orch_regressor_setting {
    char *text;                       /* "depth 5" */
    double rmse, mean_relative_error; /* of rows that their fold did not see */
};

struct orch_regressor {
    char *name;                 /* "tree", "aigauge, I = GPU" */
    GArray *settings;           /* struct orch_regressor_setting; empty: `why` */
    guint by_rmse, by_relative; /* the winners' indices */
    char *why;                  /* why it could not be fitted, or NULL */
    struct orch_aigauge *form;  /* of the linear form: fitted to all rows, else NULL */
};
void orch_regressor_free(struct orch_regressor *regressor);

/** Names to compare: those of the models (predictors/model.h), and "aigauge", which makes two rows,
 * one for each reading, and wants `jobs` (one for each row; NULL: it cannot be fitted, and says
 * so). The folds are the same for all. ORCH_ERROR_USAGE: fewer than 10 rows, an unknown name.
 * struct orch_regressor * in the order of `models` (NULL-terminated); the caller unrefs. */
GPtrArray *orch_regressors_compare(const struct orch_rows *rows,
                                   const struct orch_aigauge_job *jobs, const char *const *models,
                                   uint64_t seed, GError **error);

#endif
