/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Importance of the parameters of a search, by permutation (Breiman 2001, section 10): how much of
 * what a random forest explains of the trials' order is lost when a parameter's values are
 * shuffled. Values are replaced by their ranks, so that one diverged trial does not decide. That is
 * the importance where the trials are, and a search has most of them where values are good. */
#ifndef ORCH_PREDICTORS_PARAM_IMPORTANCE_H
#define ORCH_PREDICTORS_PARAM_IMPORTANCE_H

#include "lib/base/interval.h"
#include "lib/space/param_space.h"

#include <stddef.h>

/** With fewer trials importance is not computed. */
#define ORCH_IMPORTANCE_TRIALS 10

struct orch_importance {
    size_t trials;
    unsigned params;
    /** Share of the ranks' variance that the forest explains in trials that its trees have not
     * seen; at most 0: it forecasts no better than the mean, and the importances mean nothing. NAN:
     * too few trials, or all values are equal. */
    double explained;
    /** By parameter: the share of the ranks' variance that is lost without it, with the 95 %
     * interval of a mean over trials (Watson and Wright 2021, Student's t). A parameter under
     * whose condition others exist is shuffled together with them; such another one only among the
     * trials that have it. NAN: as above. */
    struct orch_interval share[ORCH_SPACE_PARAMS_MAX];
    /** By parameter: its importance over the whole range (range_importance.h). NAN: as above, or
     * nothing is explained. */
    double whole[ORCH_SPACE_PARAMS_MAX];
};

/** Computes it for `count` trials: `points` has one row of unit coordinates (NAN: does not exist)
 * for each, `values` the objective. The same trials in any order give the same result. */
void orch_importance_of(const struct orch_space *space, const double *points, const double *values,
                        size_t count, struct orch_importance *out);

#endif
