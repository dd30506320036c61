/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast a job trains with p parameter servers and w workers, from measurements at a few (p, w):
 * Peng et al., "Optimus", EuroSys 2018, equations 3 and 4 in the form of its program.
 *
 *   async  f(p, w) = w / (t0 + t1 w/p + t2 w + t3 p)              steps a second of all workers
 *   sync   f(p, w) = 1 / (t0 M/w + t1 + t2 w/p + t3 w + t4 p)     steps a second, M the total batch
 *
 * t >= 0, in seconds. w/f and 1/f are linear in t, so t is found by non-negative least squares of
 * those reciprocals.
 */
#ifndef ORCH_PREDICTORS_SPEED_H
#define ORCH_PREDICTORS_SPEED_H

#include "predictors/curve.h"
#include "predictors/isotonic.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

enum orch_speed_mode {
    ORCH_SPEED_ASYNC,
    ORCH_SPEED_SYNC,
};
#define ORCH_SPEED_MODE_COUNT (ORCH_SPEED_SYNC + 1)
#define ORCH_SPEED_TERMS_MAX 5

/** Number of terms of a mode: 4 or 5. */
int orch_speed_terms(enum orch_speed_mode mode);
/** What t`term` multiplies: "1", "w/p", "M/w", ... */
const char *orch_speed_term_name(enum orch_speed_mode mode, int term);

/** One measurement. */
struct orch_speed_point {
    int servers; /* p, at least 1 */
    int workers; /* w, at least 1 */
    double steps_per_s;
};

struct orch_speed_options {
    enum orch_speed_mode mode;
    double total_batch; /* M: of sync, above 0; async passes over it */
    /* least squares of relative errors of the reciprocal instead of absolute ones: for noise that
     * is a share of the speed, as measured speeds have. The published fits weigh all alike. */
    bool is_relative;
};

struct orch_speed;

/** Fits the points. Measurements at the same (p, w) are averaged first (runs of equal length). The
 * caller frees. ORCH_ERROR_USAGE for no point, servers or workers below 1, a speed that is not
 * finite and above 0, sync without a batch, and fewer different (p, w) than terms. */
struct orch_speed *orch_speed_fit(const struct orch_speed_point *points, size_t count,
                                  const struct orch_speed_options *options, GError **error);
void orch_speed_free(struct orch_speed *speed);

enum orch_speed_mode orch_speed_mode(const struct orch_speed *speed);
/** t, orch_speed_terms numbers, borrowed. */
const double *orch_speed_theta(const struct orch_speed *speed);
/** |A t - y| over different (p, w), y being w/f or 1/f in seconds (relative: a share). */
double orch_speed_residual_norm(const struct orch_speed *speed);

/** Why t cannot be told apart, as text for the user, or NULL when it can: w/p constant (as when
 * only p = w was measured: t1 and t2 of sync multiply the same), p or w constant, or terms that are
 * otherwise dependent over the points. Speeds at points like the measured ones hold all the same
 * (orch_speed_is_determined). Borrowed, static. */
const char *orch_speed_warning(const struct orch_speed *speed);

/** Whether the measurements determine the speed at (p, w): its terms are a combination of measured
 * ones. False where the answer depends on which of equally good t was found. */
bool orch_speed_is_determined(const struct orch_speed *speed, int servers, int workers);

/** The mean of what was measured at (p, w) to `out_steps_per_s`; false when nothing was. */
bool orch_speed_measured(const struct orch_speed *speed, int servers, int workers,
                         double *out_steps_per_s);
/** The model's steps a second at (p, w), both at least 1, measured there or not. HUGE_VAL when all
 * terms of that point are 0. */
double orch_speed_model(const struct orch_speed *speed, int servers, int workers);
/** Steps a second at (p, w): what was measured there, else the model's. */
double orch_speed_predict(const struct orch_speed *speed, int servers, int workers);

/** Time to train to a target, with what it follows from. */
struct orch_speed_time {
    double loss;        /* at which accuracy crosses the target */
    double k;           /* at which the loss curve reaches it */
    double steps;       /* k in steps */
    double steps_per_s; /* at (p, w) */
    double seconds;
    bool is_measured; /* the speed was measured at (p, w) */
};

/** Time to a training loss: the curve gives k, `steps_per_k` its steps (1 when k counts steps,
 * steps of an epoch when it counts epochs: sync examples / M, async examples / batch of one
 * worker), the speed seconds. A measured (p, w) overrides the model. Outputs untouched and
 * ORCH_ERROR_NOT_FOUND when the loss is never reached; ORCH_ERROR_USAGE for p, w below 1,
 * steps_per_k not above 0. */
bool orch_speed_time_to_loss(const struct orch_speed *speed, int servers, int workers,
                             const struct orch_stages *curve, double loss, double steps_per_k,
                             struct orch_speed_time *out, GError **error);
/** The same to an accuracy, by `accuracy` fitted on loss (falling). */
bool orch_speed_time_to_accuracy(const struct orch_speed *speed, int servers, int workers,
                                 const struct orch_stages *curve,
                                 const struct orch_isotonic *accuracy, double target,
                                 double steps_per_k, struct orch_speed_time *out, GError **error);

#endif
