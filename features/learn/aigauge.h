/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The linear form of AI Gauge (Dube et al., SBAC-PAD 2019; lecture 7 credits it to Optimus):
 *
 *     y = b0 + sum_i b_i I_i + b5 W + b6 B/(T+1) + b7 B/(W F)
 *
 * with workers W, batch B, CPU threads T and the GPU's peak F. The lecture does not define I. There
 * are four of them, like GPU types and networks, so both readings are supported.
 */
#ifndef ORCH_FEATURES_LEARN_AIGAUGE_H
#define ORCH_FEATURES_LEARN_AIGAUGE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

struct orch_aigauge_job {
    const char *gpu, *net; /* categories; borrowed */
    double workers;        /* > 0 */
    double batch;
    double threads; /* >= 0 */
    double flops;   /* peak of one GPU, > 0, in one unit for all jobs */
};

enum orch_aigauge_reading {
    ORCH_AIGAUGE_BY_GPU, /* I: indicators of GPU types */
    ORCH_AIGAUGE_BY_NET, /* I: indicators of networks */
};

#define ORCH_AIGAUGE_NUMBERS 3 /* terms after the categories */

struct orch_aigauge_term {
    char *name; /* "1", "V100", "W", "B/(T+1)", "B/(W F)" */
    double coefficient;
};

struct orch_aigauge {
    enum orch_aigauge_reading reading;
    GArray *terms; /* struct orch_aigauge_term: 1, the categories, W, B/(T+1), B/(W F) */
    size_t rank;   /* independent terms over the jobs; if below terms->len, the solution is the one
                      with the smallest coefficients */
};

/** Least squares by singular value decomposition. Dependent terms (the categories and the constant;
 * W if all jobs have equally many workers) get the solution of least norm. Fails with
 * ORCH_ERROR_USAGE without jobs, or naming a job with a term that is not a finite number. Caller
 * frees. */
struct orch_aigauge *orch_aigauge_fit(const struct orch_aigauge_job *jobs, const double *y,
                                      size_t count, enum orch_aigauge_reading reading,
                                      GError **error);
/** An unknown category has no indicator, so the prediction uses the constant alone for it. */
double orch_aigauge_predict(const struct orch_aigauge *fit, const struct orch_aigauge_job *job);
void orch_aigauge_free(struct orch_aigauge *fit);

#endif
