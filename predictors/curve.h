/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loss curves: what a job's loss was, as a function that says what it will be. Two forms:
 *
 *   optimus  l(k) = 1 / (b0 k + b1) + b2        b >= 0   Peng et al., "Optimus", EuroSys 2018, eq.
 * 1 power    l(k) = a + b (k + d)^-c            a, b, c, d >= 0: a shifted power law
 *
 * k is a step or an epoch, whichever the caller counts in; losses are in the caller's units. The
 * first is the second with c = 1 (a = b2, b = 1/b0, d = b1/b0), so that the power law never fits
 * worse. On schedules that drop the learning rate at known steps no smooth form fits: fit each
 * stage (orch_stages_fit).
 */
#ifndef ORCH_PREDICTORS_CURVE_H
#define ORCH_PREDICTORS_CURVE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

enum orch_curve_form {
    ORCH_CURVE_OPTIMUS,
    ORCH_CURVE_POWER,
};

enum orch_curve_method {
    /* least squares of the loss itself, within the bounds: the published program's */
    ORCH_CURVE_DIRECT,
    /* non-negative least squares of 1/(l - b2) on k and 1, as the paper has it, b2 by search over
     * [0, least loss): optimus and losses above 0 alone. An error of the loss weighs 1/(l - b2)^4,
     * so the latest points decide, and b2 cannot lie among noisy losses. */
    ORCH_CURVE_RECIPROCAL,
    /* the same with weights (l - b2)^4, so that errors of the loss weigh alike to first order; the
     * direct method starts here */
    ORCH_CURVE_RECIPROCAL_BALANCED,
};

enum orch_curve_weights {
    ORCH_CURVE_EQUAL,
    /* three segments of as many points; each one's squared errors count 16 times those of the one
     * before (sigma 1/4^segment in the published program) */
    ORCH_CURVE_SEGMENTS,
};

/** Zero-initialised: optimus, direct, equal weights, points as they are. */
struct orch_curve_options {
    enum orch_curve_form form;
    enum orch_curve_method method;
    enum orch_curve_weights weights;
    int neighbours;     /* outliers: see orch_curve_smooth; 0: points as they are */
    bool is_normalised; /* losses are divided by their maximum, so that they lie in [0, 1] */
};

#define ORCH_CURVE_PARAMS_MAX 4

/** A fitted curve; plain values, copied at will. */
struct orch_curve {
    enum orch_curve_form form;
    /* b0, b1, b2 or a, b, c, d, for losses divided by loss_scale and for k counted from start_k */
    double b[ORCH_CURVE_PARAMS_MAX];
    double loss_scale; /* 1 for raw losses, else their maximum before outliers were replaced */
    double start_k;    /* 0 but for stages */
    double sse;        /* weighted sum of squared errors, in losses divided by loss_scale */
    size_t points;     /* fitted */
    size_t replaced;   /* of them, as outliers */
    bool is_flat;      /* does not fall over the points: a constant is the best fit */
};

/** Number of parameters of a form: 3 or 4. */
int orch_curve_params(enum orch_curve_form form);

/** Replaces outliers: a loss that does not lie between the least and the greatest of its
 * `neighbours` (at least 1) original losses on each side becomes their mean. The first and the last
 * point have neighbours on one side only and stay. 2 is the usual choice: it finds single outliers
 * and nothing on a curve that falls. With 1, the point beside an outlier lies outside its
 * neighbours as well and is drawn towards it. `out` may be `loss` itself. Returns how many were
 * replaced. The rule is Peng et al.'s, the number of neighbours ours. */
size_t orch_curve_smooth(const double *loss, size_t count, int neighbours, double *out);

/** Fits `count` points; `options` may be NULL. Needs as many different k as the form has
 * parameters (the published program's minimum); k rise or stay, are finite and not negative;
 * losses are finite, not negative and not all 0. Constant or rising losses give a flat curve.
 * A power law's c is at most 10 and its d at most 10,000 times the span of k: beyond, it is an
 * exponential and only their ratio is known. ORCH_ERROR_USAGE for anything else, naming the point.
 * Time: 1 to 5 ms for 100 points,
 * linear. */
bool orch_curve_fit(const double *k, const double *loss, size_t count,
                    const struct orch_curve_options *options, struct orch_curve *out,
                    GError **error);

/** Loss at k, in the caller's units; below the curve's start that at its start. HUGE_VAL where the
 * form has its pole (b1 or d of 0 at its start). Never rises with k. */
double orch_curve_loss(const struct orch_curve *curve, double k);
/** Standard errors of b0, b1 and b2 (three numbers) of an Optimus curve fitted with equal weights
 * to those of the points whose k is at least its start and below `end_k`. NaN for a parameter on
 * its bound of 0, for the other form, and when no more points than parameters are there. */
void orch_curve_errors(const struct orch_curve *curve, const double *k, const double *loss,
                       size_t count, double end_k, double *out_errors);
/** What the loss tends to, in the caller's units. */
double orch_curve_limit(const struct orch_curve *curve);

/** The least k, a real number and not below the curve's start, at which the loss is `loss` or less.
 * ORCH_ERROR_NOT_FOUND when it never is; ORCH_ERROR_USAGE for a loss that is not finite. */
bool orch_curve_reach(const struct orch_curve *curve, double loss, double *out_k, GError **error);

/** When training has converged. */
struct orch_stop_rule {
    double drop;        /* largest fall, in the fitted unit (loss over loss_scale) */
    bool is_relative;   /* `drop` is a share of the earlier loss instead, as the paper says */
    int epochs;         /* that the loss is compared over, this one counted */
    int last_epoch;     /* later is never */
    double k_per_epoch; /* steps of an epoch; 1 when k counts epochs */
};
/** The published program's: 0.05, 10 epochs, 100 at most, k in epochs. */
#define ORCH_STOP_RULE_DEFAULT                                                                     \
    ((struct orch_stop_rule){.drop = 0.05, .epochs = 10, .last_epoch = 100, .k_per_epoch = 1})

/** The least epoch e >= `progress` (epochs done) with l(e - i) - l(e) <= drop for each i below
 * rule->epochs, -1 when that is beyond rule->last_epoch. Epochs before 0 do not exist, so it is at
 * least rule->epochs - 1. The published program indexes its list of losses from `progress` by
 * absolute epochs; this does not follow it there. */
int orch_curve_stop_epoch(const struct orch_curve *curve, const struct orch_stop_rule *rule,
                          int progress);

/** One curve a stage between drops of the learning rate. */
struct orch_stages {
    size_t count;
    double *starts; /* the first is 0 */
    struct orch_curve *curves;
};

/** Fits each stage by itself: stage s holds the points with drops[s-1] <= k < drops[s], its curve
 * counts k from its start, outliers are judged within it. `drops` rise and are above 0; those
 * beyond the last point are left out, so `count` may be below drop_count + 1, and no drop gives one
 * ordinary curve. A stage with too few points for the form is flat, at their mean; a normalised
 * fit divides all by one maximum. The caller frees. NULL as orch_curve_fit, and for a stage without
 * points before one with some. */
struct orch_stages *orch_stages_fit(const double *k, const double *loss, size_t count,
                                    const double *drops, size_t drop_count,
                                    const struct orch_curve_options *options, GError **error);
void orch_stages_free(struct orch_stages *stages);
/** As orch_curve_loss; beyond the last stage's points its curve goes on. */
double orch_stages_loss(const struct orch_stages *stages, double k);
/** As orch_curve_reach: the least k over all stages. */
bool orch_stages_reach(const struct orch_stages *stages, double loss, double *out_k,
                       GError **error);

#endif
