/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a point promises to a search that has a Gaussian process of its values (sampler_gp.c): the
 * logarithm of its expected improvement, less what it costs, lower near trials that failed. */
#ifndef ORCH_FEATURES_SEARCH_GP_PROMISE_H
#define ORCH_FEATURES_SEARCH_GP_PROMISE_H

#include "features/search/samplers/sampler.h"
#include "predictors/numbers/box_cox.h"

struct orch_gp_search {
    const struct orch_sampling *sampling;
    struct orch_space_process *process;
    struct orch_space_process *cost; /* of the logarithms of costs; NULL: cost does not matter */
    double cost_weight; /* of what it expects: the power times the deviation of the logarithms */
    unsigned d;
    double best; /* what is to be improved on */
    const double **failed;
    size_t failed_count;
    const double **ended; /* then the running ones */
    size_t ended_count, running_count;
};

/** Fits a process to the costs of the trials (`sampling` and `d` are set), if they matter and
 * enough are known. The caller frees `cost`. */
void orch_gp_fit_cost(struct orch_gp_search *search);
/** Returns the distance from a point to the nearest of others, in parts of the ranges. */
double orch_gp_nearest(const struct orch_gp_search *search, const double *point,
                       const double *const *others, size_t count);
/** What a point promises, as a logarithm. */
double orch_gp_promise(const struct orch_gp_search *search, const double *point);
/** Moves the numbers of a point (its choices stay) to where it promises more, if there is such a
 * place near. */
void orch_gp_climb(const struct orch_gp_search *search, double *inout_point, double *inout_promise);

#endif
