/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/samplers/gp_promise.h"

#include "lib/base/reals.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <string.h>

#define CLIMB_STEPS 25
#define CAUTION 5     /* power of the chance that a trial ends well */
#define COSTS_MAX 120 /* trials whose costs count, the newest ones */
#define COSTS_LEAST 5
#define EDGE 1e-6     /* a climb stays so far from the ends of a range */
#define AT_END 0.0005 /* so near an end it means the end: 0 for 4.2e-07, 1 for 0.999991 */

/* ---- what is expected ------------------------------------------------------------------------ */

/* log(phi(z) + z Phi(z)), also far below 0, and its derivative. */
static double log_improvement(double z, double *out_slope)
{
    double density = exp(-z * z / 2) / sqrt(2 * M_PI), below = 0.5 * erfc(-z / M_SQRT2);
    double value = density + z * below;
    if (z > -5) {
        *out_slope = below / value;
        return log(value);
    }
    /* phi(z) / z^2 (1 - 3/z^2 + 15/z^4): Abramowitz and Stegun 26.2.12 */
    double square = z * z, series = 1 - 3 / square + 15 / (square * square);
    *out_slope = -z - 2 / z;
    return -square / 2 - log(sqrt(2 * M_PI)) - log(square) + log(series);
}

double orch_gp_nearest(const struct orch_gp_search *search, const double *point,
                       const double *const *others, size_t count)
{
    double least = HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (unsigned k = 0; k < search->d; k++) {
            double off = fabs(point[k] - others[i][k]);
            bool is_choice =
                orch_space_param(search->sampling->space, k)->kind == ORCH_SPACE_CHOICE;
            sum += isnan(off) ? 0 : is_choice ? off > 1e-9 : off * off;
        }
        least = fmin(least, sum);
    }
    return sqrt(least);
}

/* The logarithm of a chance that a trial at a point ends well: it falls from 1 beside one that
 * ended to 0 beside one that failed. The power weighs it against promises that differ by
 * magnitudes. */
static double log_well(const struct orch_gp_search *search, const double *point)
{
    if (!search->failed_count)
        return 0;
    double failed = orch_gp_nearest(search, point, search->failed, search->failed_count);
    double ended = orch_gp_nearest(search, point, search->ended, search->ended_count);
    return CAUTION * log((failed + 1e-12) / (failed + ended + 1e-12));
}

/* The logarithm of what a point costs, to the power that counts; and its slopes, where not NULL. */
static double log_cost(const struct orch_gp_search *search, const double *point, double *out_slopes,
                       double *deviation_slopes)
{
    double mean, deviation;
    if (!search->cost)
        return 0;
    orch_space_process_at(search->cost, point, &mean, &deviation, out_slopes, deviation_slopes);
    return search->cost_weight * mean;
}

void orch_gp_fit_cost(struct orch_gp_search *search)
{
    const struct orch_sampling *sampling = search->sampling;
    size_t n = 0, d = search->d;
    if (!(sampling->cost_power > 0))
        return;
    g_autofree double *points = g_new(double, (sampling->count + 1) * d);
    g_autofree double *logs = g_new(double, sampling->count + 1);
    for (size_t i = sampling->count; i-- > 0 && n < COSTS_MAX;) { /* the newest ones */
        const struct orch_sampled *trial = &sampling->trials[i];
        if (!(trial->cost > 0) || trial->state == ORCH_SAMPLED_PENDING)
            continue;
        memcpy(points + n * d, trial->point, d * sizeof *points);
        logs[n++] = log(trial->cost);
    }
    if (n < COSTS_LEAST)
        return;
    double deviation = orch_reals_standardise(logs, n);
    search->cost = orch_space_process_fit(sampling->space, points, logs, n);
    search->cost_weight = sampling->cost_power * deviation;
}

double orch_gp_promise(const struct orch_gp_search *search, const double *point)
{
    double mean, deviation, unused;
    orch_space_process_at(search->process, point, &mean, &deviation, NULL, NULL);
    return log_improvement((search->best - mean) / deviation, &unused) + log(deviation) +
           log_well(search, point) - log_cost(search, point, NULL, NULL);
}

/* ---- climbing -------------------------------------------------------------------------------- */

/* A climb moves the numbers of a point; choices stay. */
struct climb {
    const struct orch_gp_search *search;
    double *point;
    unsigned *moved; /* indices of its variables' parameters */
    double *slopes;  /* 4 x d */
};

/* Variables have no ends: a coordinate is (1 - cos v) / 2. */
static double to_unit(double variable)
{
    return CLAMP((1 - cos(variable)) / 2, EDGE, 1 - EDGE);
}

static double reached_unit(double variable)
{
    const double unit = to_unit(variable);
    return unit < AT_END ? 0 : unit > 1 - AT_END ? 1 : unit;
}

static double climb_value(const gsl_vector *x, struct climb *climb, gsl_vector *out_slopes)
{
    const struct orch_gp_search *search = climb->search;
    for (size_t i = 0; i < x->size; i++)
        climb->point[climb->moved[i]] = to_unit(gsl_vector_get(x, i));
    double mean, deviation, by_z;
    double *mean_slopes = climb->slopes, *deviation_slopes = climb->slopes + search->d;
    orch_space_process_at(search->process, climb->point, &mean, &deviation,
                          out_slopes ? mean_slopes : NULL, deviation_slopes);
    double z = (search->best - mean) / deviation;
    double *cost_slopes = deviation_slopes + search->d, *unused = cost_slopes + search->d;
    double value = log_improvement(z, &by_z) + log(deviation) -
                   log_cost(search, climb->point, out_slopes ? cost_slopes : NULL, unused);
    for (size_t i = 0; out_slopes && i < x->size; i++) {
        unsigned k = climb->moved[i];
        double slope = by_z * (-mean_slopes[k] - z * deviation_slopes[k]) / deviation +
                       deviation_slopes[k] / deviation -
                       (search->cost ? search->cost_weight * cost_slopes[k] : 0);
        gsl_vector_set(out_slopes, i, -slope * sin(gsl_vector_get(x, i)) / 2);
    }
    return -value;
}

static double climb_f(const gsl_vector *x, void *climb)
{
    return climb_value(x, climb, NULL);
}

static void climb_df(const gsl_vector *x, void *climb, gsl_vector *out)
{
    climb_value(x, climb, out);
}

static void climb_fdf(const gsl_vector *x, void *climb, double *out, gsl_vector *out_slopes)
{
    *out = climb_value(x, climb, out_slopes);
}

void orch_gp_climb(const struct orch_gp_search *search, double *inout_point, double *inout_promise)
{
    const struct orch_space *space = search->sampling->space;
    g_autofree unsigned *moved = g_new(unsigned, search->d);
    g_autofree double *slopes = g_new(double, 4 * search->d);
    g_autofree double *point = g_memdup2(inout_point, search->d * sizeof *point);
    size_t count = 0;
    for (unsigned k = 0; k < search->d; k++)
        if (orch_space_param(space, k)->kind != ORCH_SPACE_CHOICE && !isnan(point[k]))
            moved[count++] = k;
    if (!count)
        return;
    struct climb climb = {search, point, moved, slopes};
    gsl_vector *x = gsl_vector_alloc(count);
    for (size_t i = 0; i < count; i++)
        gsl_vector_set(x, i, acos(1 - 2 * CLAMP(point[moved[i]], 0.001, 0.999)));
    gsl_multimin_function_fdf problem = {climb_f, climb_df, climb_fdf, count, &climb};
    gsl_multimin_fdfminimizer *minimizer =
        gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, count);
    gsl_multimin_fdfminimizer_set(minimizer, &problem, x, 0.05, 0.1);
    for (int step = 0; step < CLIMB_STEPS; step++)
        if (gsl_multimin_fdfminimizer_iterate(minimizer) ||
            gsl_multimin_test_gradient(minimizer->gradient, 1e-3) == GSL_SUCCESS)
            break;
    for (size_t i = 0; i < count; i++)
        point[moved[i]] = reached_unit(gsl_vector_get(minimizer->x, i));
    gsl_multimin_fdfminimizer_free(minimizer);
    gsl_vector_free(x);
    orch_space_snap(space, point);
    double reached = orch_gp_promise(search, point);
    if (reached > *inout_promise) {
        *inout_promise = reached;
        memcpy(inout_point, point, search->d * sizeof *point);
    }
}
