/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loss curves: a job's loss as a function of its progress, which extrapolates it. The forms:
 *
 *   optimus  l(k) = 1 / (b0 k + b1) + b2        b >= 0   Peng et al., "Optimus", EuroSys 2018, eq.
 * 1 power    l(k) = a + b (k + d)^-c            a, b, c, d >= 0: a shifted power law
 *   exponential  l(k) = a + b exp(-c k)         what a power law tends to as c and d grow
 *   line     l(k) = a - b k, at least 0         a fall that does not slow down: it has no limit
 *
 * k is a step or an epoch, as the caller chooses; losses are in the caller's units. The first form
 * is the second with c = 1 (a = b2, b = 1/b0, d = b1/b0), so the power law never fits worse. If a
 * schedule drops the learning rate at known steps, no smooth form fits the whole curve; then fit
 * each stage (orch_stages_fit).
 */
#ifndef ORCH_FEATURES_CURVE_CURVE_H
#define ORCH_FEATURES_CURVE_CURVE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

enum orch_curve_form {
    ORCH_CURVE_OPTIMUS,
    ORCH_CURVE_POWER, /* an exponential where that is what it tends to */
    ORCH_CURVE_EXPONENTIAL,
    ORCH_CURVE_LINE,
};

enum orch_curve_weights {
    ORCH_CURVE_EQUAL,
    /* three segments with equal numbers of points; squared errors of each segment weigh 16 times
     * those of the previous one (sigma 1/4^segment in the published program) */
    ORCH_CURVE_SEGMENTS,
};

/** Zero-initialised: least squares of the optimus form, equal weights, no smoothing. */
struct orch_curve_options {
    enum orch_curve_form form;
    enum orch_curve_weights weights;
    int neighbours;     /* for outliers, see orch_curve_smooth; 0: keep all points as they are */
    bool is_normalised; /* divide losses by their maximum, so that they lie in [0, 1] */
    bool is_relative;   /* least squares of errors relative to the loss, instead of its errors */
    double skip;        /* share of the first points (of each stage) that are not fitted: 0 to 0.5.
                           Fewer are left out where too few points would remain */
};

#define ORCH_CURVE_PARAMS_MAX 4

/** A fitted curve. A plain value that may be copied. */
struct orch_curve {
    enum orch_curve_form form;
    /* b0, b1, b2 or a, b, c, d (as many as the form has), for losses divided by loss_scale and k
     * counted from start_k */
    double b[ORCH_CURVE_PARAMS_MAX];
    double loss_scale; /* 1 for raw losses, else their maximum before outliers were replaced */
    double start_k;    /* first k of the stage; 0 without stages */
    double from_k;     /* first k that was fitted: above start_k with options.skip */
    double sse;        /* weighted sum of squared errors, in losses divided by loss_scale */
    size_t points;     /* number of points fitted */
    size_t replaced;   /* number of them replaced as outliers */
    bool is_flat;      /* the best fit is a constant, because the losses do not fall */
    bool is_relative;  /* fitted with options.is_relative */
};

/** Number of parameters of a form: 2 to 4. */
int orch_curve_params(enum orch_curve_form form);

/** Replaces outliers: a loss outside the range of its `neighbours` (at least 1) original losses on
 * each side becomes their mean. The first and the last point stay as they are. 2 is the usual
 * choice: it finds single outliers and nothing on a falling curve. With 1, the neighbour of an
 * outlier is also replaced. `out` may be `loss` itself. Returns the number of replaced points. The
 * rule is from Peng et al.; the number of neighbours is our choice. */
size_t orch_curve_smooth(const double *loss, size_t count, int neighbours, double *out);

/** Fits `count` points; `options` may be NULL. Needs at least as many distinct k as the form has
 * parameters (like the published program). k must be finite, not negative and in ascending order;
 * losses must be finite, not negative and not all 0. Constant or rising losses give a flat curve. A
 * power law whose c would be above 10, or d above 10,000 times the span of k, comes back as an
 * exponential, which determines only their ratio. Fails with ORCH_ERROR_USAGE
 * otherwise, naming the point. Takes 1 to 5 ms for 100 points, linear in their number. */
bool orch_curve_fit(const double *k, const double *loss, size_t count,
                    const struct orch_curve_options *options, struct orch_curve *out,
                    GError **error);

/** Loss at k, in the caller's units. For k below the curve's start, the loss at the start. HUGE_VAL
 * at a pole (b1 or d is 0 and k is the start). Never rises with k. */
double orch_curve_loss(const struct orch_curve *curve, double k);
/** Standard errors of b0, b1 and b2 (three numbers) of an Optimus curve fitted with equal weights
 * to the points from its start to below `end_k`. NaN for a parameter at its bound of 0, for the
 * power law, and if there are not more points than parameters. */
void orch_curve_errors(const struct orch_curve *curve, const double *k, const double *loss,
                       size_t count, double end_k, double *out_errors);
/** Limit of the loss for large k, in the caller's units. NaN for a line. */
double orch_curve_limit(const struct orch_curve *curve);

/** One curve per stage between drops of the learning rate. */
struct orch_stages {
    size_t count;
    double *starts; /* the first is 0 */
    struct orch_curve *curves;
};

/** Fits each stage separately: stage s has the points with drops[s-1] <= k < drops[s], its curve
 * counts k from the start of the stage, and outliers are detected within it. `drops` are above 0
 * and ascending. Drops beyond the last point are ignored, so `count` may be below drop_count + 1;
 * without drops the result is one ordinary curve. A stage with too few points is flat, at their
 * mean. A normalised fit divides all stages by one maximum. Caller frees. Fails like
 * orch_curve_fit, and if a stage other than the last has no points. */
struct orch_stages *orch_stages_fit(const double *k, const double *loss, size_t count,
                                    const double *drops, size_t drop_count,
                                    const struct orch_curve_options *options, GError **error);
void orch_stages_free(struct orch_stages *stages);
/** Like orch_curve_loss. After the last stage's points its curve is extrapolated. */
double orch_stages_loss(const struct orch_stages *stages, double k);
/** Finds the least k (real, at or after a curve's start) at which the loss is at most `loss`, over
 * all stages. Fails with ORCH_ERROR_NOT_FOUND if there is none, ORCH_ERROR_USAGE if `loss` is not
 * finite. */
bool orch_stages_reach(const struct orch_stages *stages, double loss, double *out_k,
                       GError **error);

#endif
