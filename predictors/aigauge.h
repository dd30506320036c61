/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The linear form of AI Gauge (Dube et al., SBAC-PAD 2019; lecture 7 credits it to Optimus):
 *
 *     y = b0 + sum_i b_i I_i + b5 W + b6 B/(T+1) + b7 B/(W F)
 *
 * W are the workers, B the batch, T the CPU threads, F the GPU's peak. The lecture does not define
 * I: there are four of them, as there are GPU types and networks, so both readings are offered.
 */
#ifndef ORCH_PREDICTORS_AIGAUGE_H
#define ORCH_PREDICTORS_AIGAUGE_H

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
    ORCH_AIGAUGE_BY_GPU, /* I: one of each GPU type */
    ORCH_AIGAUGE_BY_NET, /* I: one of each network */
};

#define ORCH_AIGAUGE_NUMBERS 3 /* terms behind the categories */

struct orch_aigauge_term {
    char *name; /* "1", "V100", "W", "B/(T+1)", "B/(W F)" */
    double coefficient;
};

struct orch_aigauge {
    enum orch_aigauge_reading reading;
    GArray *terms; /* struct orch_aigauge_term: 1, the categories, W, B/(T+1), B/(W F) */
    size_t rank;   /* terms that the jobs tell apart; with fewer than terms->len, of all solutions
                      the one with the smallest coefficients */
};

/** Least squares by singular values, so that terms which say the same (the categories together and
 * the constant; W when all jobs have equally many workers) share the weight. ORCH_ERROR_USAGE for
 * no jobs, and for a job of which a term is not a number, named. The caller frees. */
struct orch_aigauge *orch_aigauge_fit(const struct orch_aigauge_job *jobs, const double *y,
                                      size_t count, enum orch_aigauge_reading reading,
                                      GError **error);
/** A category that was not there has no indicator: the constant speaks for it. */
double orch_aigauge_predict(const struct orch_aigauge *fit, const struct orch_aigauge_job *job);
void orch_aigauge_free(struct orch_aigauge *fit);

#endif
