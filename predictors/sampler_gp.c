/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bayesian optimisation (Jones, Schonlau and Welch 1998) with a Gaussian process: the next point is
 * the one with the largest logarithm of the expected improvement (Ament et al. 2023) on the best
 * expected value among the points that were tried, which is what noise leaves of "the best so far".
 * The process is one of transformed values (box_cox.h). Running trials count with the value that is
 * expected of them (kriging believer, Ginsbourger et al. 2010), so that choices at the same time
 * differ. What a point promises is lowered by how near it is to a trial that failed. */
#include "lib/base/random.h"
#include "predictors/box_cox.h"
#include "predictors/sampler.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_qrng.h>
#include <gsl/gsl_sf_erf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 120   /* points of the process: the best, and the newest of the others */
#define BEST_SHARE 0.5 /* of these, so many are the best ones */
#define EVEN 512       /* candidates spread over the space */
#define NEAR_BEST 128  /* candidates near the best points */
#define CLIMBS 4       /* of the best candidates, so many are improved */
#define CLIMB_STEPS 25
#define CAUTION 5  /* power of the chance that a trial ends well */
#define APART 0.01 /* of a range: points that run at once are so far apart in some parameter */
#define EDGE 1e-6  /* a climb stays so far from the ends of a range */

/* ---- what is expected ---------------------------------------------------------------------------
 */

struct search {
    const struct orch_sampling *sampling;
    struct orch_space_process *process;
    unsigned d;
    double best; /* the least expected value among the points that were tried */
    const double **failed;
    size_t failed_count;
    const double **ended;
    size_t ended_count;
};

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

/* The distance from a point to the nearest of others. */
static double nearest(const struct search *search, const double *point, const double *const *others,
                      size_t count)
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
 * ended to 0 beside one that failed. The third power weighs it against promises that differ by
 * magnitudes. */
static double log_well(const struct search *search, const double *point)
{
    if (!search->failed_count)
        return 0;
    double failed = nearest(search, point, search->failed, search->failed_count);
    double ended = nearest(search, point, search->ended, search->ended_count);
    return CAUTION * log((failed + 1e-12) / (failed + ended + 1e-12));
}

/* What a point promises, as a logarithm. */
static double promise(const struct search *search, const double *point)
{
    double mean, deviation, unused;
    orch_space_process_at(search->process, point, &mean, &deviation, NULL, NULL);
    return log_improvement((search->best - mean) / deviation, &unused) + log(deviation) +
           log_well(search, point);
}

/* ---- the best candidate -------------------------------------------------------------------------
 */

struct candidate {
    double *point;
    double promise;
};

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return (x->promise < y->promise) - (x->promise > y->promise);
}

/* A climb moves the numbers of a point; choices stay. */
struct climb {
    const struct search *search;
    double *point;
    unsigned *moved; /* indices of its variables' parameters */
    double *slopes;  /* 2 x d */
};

/* Variables have no ends: a coordinate is (1 - cos v) / 2. */
static double to_unit(double variable)
{
    return CLAMP((1 - cos(variable)) / 2, EDGE, 1 - EDGE);
}

static double climb_value(const gsl_vector *x, struct climb *climb, gsl_vector *out_slopes)
{
    const struct search *search = climb->search;
    for (size_t i = 0; i < x->size; i++)
        climb->point[climb->moved[i]] = to_unit(gsl_vector_get(x, i));
    double mean, deviation, by_z;
    double *mean_slopes = climb->slopes, *deviation_slopes = climb->slopes + search->d;
    orch_space_process_at(search->process, climb->point, &mean, &deviation,
                          out_slopes ? mean_slopes : NULL, deviation_slopes);
    double z = (search->best - mean) / deviation;
    double value = log_improvement(z, &by_z) + log(deviation);
    for (size_t i = 0; out_slopes && i < x->size; i++) {
        unsigned k = climb->moved[i];
        double slope = by_z * (-mean_slopes[k] - z * deviation_slopes[k]) / deviation +
                       deviation_slopes[k] / deviation;
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

/* Improves the numbers of a candidate. */
static void climb_from(const struct search *search, struct candidate *candidate)
{
    const struct orch_space *space = search->sampling->space;
    g_autofree unsigned *moved = g_new(unsigned, search->d);
    g_autofree double *slopes = g_new(double, 2 * search->d);
    g_autofree double *point = g_memdup2(candidate->point, search->d * sizeof *point);
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
        point[moved[i]] = to_unit(gsl_vector_get(minimizer->x, i));
    gsl_multimin_fdfminimizer_free(minimizer);
    gsl_vector_free(x);
    orch_space_snap(space, point);
    double reached = promise(search, point);
    if (reached > candidate->promise) {
        candidate->promise = reached;
        memcpy(candidate->point, point, search->d * sizeof *point);
    }
}

/* Tries the other choices and the neighbouring whole numbers of a candidate. */
static void step_from(const struct search *search, struct candidate *candidate)
{
    const struct orch_space *space = search->sampling->space;
    g_autofree double *point = g_new(double, search->d);
    for (unsigned k = 0; k < search->d; k++) {
        const struct orch_space_param *param = orch_space_param(space, k);
        double levels = orch_space_levels(param), unit = candidate->point[k];
        if (!(levels > 0) || isnan(unit))
            continue;
        unsigned tries = param->kind == ORCH_SPACE_CHOICE ? param->choices->len : 2;
        for (unsigned t = 0; t < tries; t++) {
            memcpy(point, candidate->point, search->d * sizeof *point);
            point[k] = param->kind == ORCH_SPACE_CHOICE ? (t + 0.5) / levels
                                                        : unit + (t ? 1 : -1) / levels;
            point[k] = CLAMP(point[k], 0, 1);
            orch_space_snap(space, point);
            double reached = promise(search, point);
            if (reached > candidate->promise) {
                candidate->promise = reached;
                memcpy(candidate->point, point, search->d * sizeof *point);
            }
        }
    }
}

static double normal(uint64_t *random)
{
    double u = 1 - orch_random_unit(random), v = orch_random_unit(random);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* A point near one of the best: some of its coordinates are moved. */
static void move_near(const struct search *search, uint64_t *random, double *out)
{
    const struct orch_space *space = search->sampling->space;
    size_t top = MIN(search->ended_count, 5);
    memcpy(out, search->ended[orch_random_below(random, top)], search->d * sizeof *out);
    double width = pow(10, -0.5 - 2.5 * orch_random_unit(random));
    unsigned always = (unsigned)orch_random_below(random, search->d);
    for (unsigned k = 0; k < search->d; k++) {
        bool is_moved = k == always || orch_random_unit(random) < 0.5;
        if (isnan(out[k]))
            out[k] = orch_random_unit(random);
        else if (is_moved && orch_space_param(space, k)->kind == ORCH_SPACE_CHOICE)
            out[k] = orch_random_unit(random) < 0.3 ? orch_random_unit(random) : out[k];
        else if (is_moved)
            out[k] = CLAMP(out[k] + width * normal(random), 0, 1);
    }
    orch_space_snap(space, out);
}

/* Whether a trial has this point, or one that runs has nearly the same; one that ended counts only
 * where values repeat. */
static bool was_tried(const struct search *search, const double *point)
{
    const struct orch_sampling *sampling = search->sampling;
    bool is_exact = orch_space_process_noise(search->process) < 0.1;
    for (size_t i = 0; i < sampling->count; i++) {
        const struct orch_sampled *trial = &sampling->trials[i];
        double within = trial->state == ORCH_SAMPLED_PENDING ? APART : ORCH_SPACE_EQUAL;
        if ((trial->state != ORCH_SAMPLED_ENDED || is_exact) &&
            orch_space_is_same(sampling->space, trial->point, point, within))
            return true;
    }
    return false;
}

static void choose(const struct search *search, double *out)
{
    const struct orch_space *space = search->sampling->space;
    const size_t count = EVEN + NEAR_BEST;
    uint64_t random = orch_sampling_random(search->sampling);
    g_autofree double *points = g_new(double, count * search->d);
    g_autofree struct candidate *candidates = g_new(struct candidate, count);
    g_autofree double *shift = g_new(double, search->d);
    for (unsigned k = 0; k < search->d; k++)
        shift[k] = orch_random_unit(&random);
    gsl_qrng *sequence = gsl_qrng_alloc(gsl_qrng_sobol, search->d);
    for (size_t i = 0; i < count; i++) {
        double *point = points + i * search->d;
        if (i < EVEN) {
            gsl_qrng_get(sequence, point);
            for (unsigned k = 0; k < search->d; k++)
                point[k] = fmod(point[k] + shift[k], 1);
            orch_space_snap(space, point);
        } else {
            move_near(search, &random, point);
        }
        candidates[i] = (struct candidate){point, promise(search, point)};
    }
    gsl_qrng_free(sequence);
    qsort(candidates, count, sizeof *candidates, compare_candidates);
    for (size_t i = 0; i < CLIMBS; i++) {
        climb_from(search, &candidates[i]);
        step_from(search, &candidates[i]);
        climb_from(search, &candidates[i]);
    }
    qsort(candidates, count, sizeof *candidates, compare_candidates);
    size_t first = 0;
    while (first + 1 < count && was_tried(search, candidates[first].point))
        first++;
    memcpy(out, candidates[first].point, search->d * sizeof *out);
}

/* ---- the whole
 * -----------------------------------------------------------------------------------
 */

static int compare_newest(const void *a, const void *b)
{
    const struct orch_sampled *x = *(const struct orch_sampled *const *)a,
                              *y = *(const struct orch_sampled *const *)b;
    return (x < y) - (x > y);
}

/* The ended trials that the process gets, the best first. Caller frees. */
static const struct orch_sampled **choose_rows(const struct orch_sampling *sampling, size_t *out_n)
{
    const struct orch_sampled **rows = orch_sampling_best(sampling, out_n);
    if (*out_n > ROWS_MAX) {
        size_t best = (size_t)(BEST_SHARE * ROWS_MAX);
        qsort(rows + best, *out_n - best, sizeof *rows, compare_newest);
        *out_n = ROWS_MAX;
    }
    return rows;
}

/* Points of the start, before the process: they fill the space evenly. */
static size_t startup(const struct orch_space *space)
{
    return MIN(4 + space->params->len, 12);
}

static void look_for(const struct orch_sampling *sampling, struct search *search, double *out)
{
    for (size_t i = 0; i < sampling->count; i++) {
        const struct orch_sampled *trial = &sampling->trials[i];
        if (trial->state == ORCH_SAMPLED_FAILED)
            search->failed[search->failed_count++] = trial->point;
    }
    search->best = HUGE_VAL;
    for (size_t i = 0; i < search->ended_count; i++) {
        double mean, deviation;
        orch_space_process_at(search->process, search->ended[i], &mean, &deviation, NULL, NULL);
        search->best = fmin(search->best, mean);
    }
    for (size_t i = 0; i < sampling->count; i++) {
        const double *point = sampling->trials[i].point;
        double mean, deviation;
        if (sampling->trials[i].state != ORCH_SAMPLED_PENDING)
            continue;
        orch_space_process_at(search->process, point, &mean, &deviation, NULL, NULL);
        orch_space_process_believe(search->process, point);
        search->best = fmin(search->best, mean);
    }
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    choose(search, out);
    gsl_set_error_handler(handler);
}

void orch_sample_gp(const struct orch_sampling *sampling, double *out)
{
    unsigned d = sampling->space->params->len;
    size_t n;
    g_autofree const struct orch_sampled **rows = choose_rows(sampling, &n);
    if (n < startup(sampling->space)) {
        orch_sample_sobol(sampling, out);
        return;
    }
    g_autofree double *points = g_new(double, n *d);
    g_autofree double *values = g_new(double, n);
    g_autofree const double **ended = g_new(const double *, n);
    g_autofree const double **failed = g_new(const double *, sampling->count + 1);
    for (size_t i = 0; i < n; i++) {
        memcpy(points + i * d, rows[i]->point, d * sizeof *points);
        values[i] = rows[i]->value;
        ended[i] = rows[i]->point;
    }
    struct orch_space_process *process = orch_box_cox_fit(sampling->space, points, values, n);
    if (!process) {
        orch_sample_tpe(sampling, out);
        return;
    }
    struct search search = {.sampling = sampling,
                            .process = process,
                            .d = d,
                            .failed = failed,
                            .ended = ended,
                            .ended_count = n};
    look_for(sampling, &search, out);
    orch_space_process_free(process);
}
