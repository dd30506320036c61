/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rasmussen and Williams 2006, algorithm 2.1 and equation 5.9. Priors, those of Optuna's sampler:
 * each length is drawn towards 1, the width of its range, from below and from above, whatever the
 * number of parameters; amplitude Gamma(2, 1); noise Gamma(1.1, 30), which is small unless repeats
 * say otherwise. */
#include "predictors/numbers/space_process.h"

#include "predictors/numbers/dense.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#define STEPS_MAX 40
#define START_LENGTH 0.5
#define START_NOISE 1e-3
#define LEAST_NOISE 1e-6
#define TINY 1e-10

struct orch_space_process {
    const struct orch_space *space;
    size_t n; /* points */
    unsigned d;
    double *points; /* n x d, without NAN */
    double *values;
    double *weight; /* 1 / length^2 of each parameter */
    double amplitude, noise;
    double *factor; /* n x n, row-major: lower Cholesky factor of the covariances */
    double loss;    /* negative logarithm of the posterior of lengths, amplitude and noise */
    double *alpha;  /* covariances^-1 values */
};

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Squared difference of two coordinates of a parameter. */
static double apart(const struct orch_space_param *param, double a, double b)
{
    if (param->kind == ORCH_SPACE_CHOICE)
        return fabs(a - b) > 1e-9;
    return (a - b) * (a - b);
}

/* Matern 5/2 of a squared distance, and its derivative by it. */
static double matern(double square, double *out_slope)
{
    double far = sqrt(5 * square), fall = exp(-far);
    if (out_slope)
        *out_slope = -5.0 / 6 * (1 + far) * fall;
    return (1 + far + far * far / 3) * fall;
}

static double square_of(const struct orch_space_process *p, const double *a, const double *b)
{
    double sum = 0;
    for (unsigned k = 0; k < p->d; k++)
        sum += p->weight[k] * apart(orch_space_param(p->space, k), a[k], b[k]);
    return sum;
}

/* A point without NAN. */
static void fill(const struct orch_space *space, const double *point, double *out)
{
    for (unsigned k = 0; k < space->params->len; k++)
        out[k] = !isnan(point[k])                                        ? point[k]
                 : orch_space_param(space, k)->kind == ORCH_SPACE_CHOICE ? -1
                                                                         : 0.5;
}

/* ---- fitting --------------------------------------------------------------------------------- */

/* What the minimiser needs: the logarithms of lengths, amplitude and noise are its variables. */
struct fit {
    struct orch_space_process *p;
    double *apart; /* d x n x n: squared differences by parameter */
    double *slope; /* n x n */
    double *inverse;
};

/* The inverse of a matrix from its lower factor, lower half, as rows of dot products. */
ORCH_WIDE static void invert(const double *factor, size_t n, double *restrict upper,
                             double *restrict out)
{
    /* column j of L^-1 as row j of `upper`: entries j..n-1 */
    memset(upper, 0, n * n * sizeof *upper);
    for (size_t j = 0; j < n; j++) {
        double *row = upper + j * n;
        row[j] = 1 / factor[j * n + j];
        for (size_t i = j + 1; i < n; i++) {
            double sum = 0;
            for (size_t k = j; k < i; k++)
                sum -= factor[i * n + k] * row[k];
            row[i] = sum / factor[i * n + i];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = i; k < n; k++)
                sum += upper[i * n + k] * upper[j * n + k];
            out[i * n + j] = sum;
        }
}

/* Penalties of the priors, and their derivatives by the logarithm. */
static double prior_length(double log_length, double *out_slope)
{
    const double weight = 0.1, square = exp(-2 * log_length);
    *out_slope = weight * (2 / square - 2 * square);
    return weight * (square + 1 / square);
}

static double prior_gamma(double shape, double rate, double log_value, double *out_slope)
{
    double value = exp(log_value);
    *out_slope = rate * value - (shape - 1);
    return rate * value - (shape - 1) * log_value;
}

static void set_from(struct orch_space_process *p, const gsl_vector *x)
{
    for (unsigned k = 0; k < p->d; k++)
        p->weight[k] = exp(-2 * CLAMP(gsl_vector_get(x, k), -7, 7));
    p->amplitude = exp(CLAMP(gsl_vector_get(x, p->d), -7, 7));
    p->noise = LEAST_NOISE + exp(CLAMP(gsl_vector_get(x, p->d + 1), -16, 3));
}

/* Covariances of all pairs into the factor, and the slopes of the kernel. */
static void covariances(const struct fit *fit)
{
    struct orch_space_process *p = fit->p;
    size_t n = p->n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double square = 0;
            for (unsigned k = 0; k < p->d; k++)
                square += p->weight[k] * fit->apart[(k * n + i) * n + j];
            p->factor[i * n + j] = p->amplitude * matern(square, &fit->slope[i * n + j]);
        }
    for (size_t i = 0; i < n; i++)
        p->factor[i * n + i] += p->noise + TINY;
}

static bool solve(struct orch_space_process *p)
{
    if (!orch_cholesky(p->factor, p->n))
        return false;
    memcpy(p->alpha, p->values, p->n * sizeof *p->alpha);
    orch_cholesky_solve(p->factor, p->n, p->alpha);
    return true;
}

/* Negative logarithm of the posterior, and its derivatives. */
static double loss(const gsl_vector *x, const struct fit *fit, gsl_vector *out_slopes)
{
    struct orch_space_process *p = fit->p;
    size_t n = p->n;
    set_from(p, x);
    covariances(fit);
    if (!solve(p))
        return GSL_NAN;
    double sum = orch_dot(p->values, p->alpha, n) / 2, slope;
    for (size_t i = 0; i < n; i++)
        sum += log(p->factor[i * n + i]);
    g_autofree double *upper = out_slopes ? g_new(double, n *n) : NULL;
    if (out_slopes)
        invert(p->factor, n, upper, fit->inverse);
    double by_noise = 0, by_amplitude = 0;
    g_autofree double *by_length = g_new0(double, p->d);
    for (size_t i = 0; out_slopes && i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double twice = i == j ? 0.5 : 1;
            double q = twice * (fit->inverse[i * n + j] - p->alpha[i] * p->alpha[j]);
            double t = q * p->amplitude * fit->slope[i * n + j];
            double square = 0;
            for (unsigned k = 0; k < p->d; k++) {
                double part = p->weight[k] * fit->apart[(k * n + i) * n + j];
                by_length[k] += -2 * t * part;
                square += part;
            }
            by_amplitude += q * p->amplitude * matern(square, NULL);
            by_noise += i == j ? q * (p->noise - LEAST_NOISE) : 0;
        }
    for (unsigned k = 0; k < p->d; k++) {
        sum += prior_length(gsl_vector_get(x, k), &slope);
        if (out_slopes)
            gsl_vector_set(out_slopes, k, by_length[k] + slope);
    }
    sum += prior_gamma(2, 1, gsl_vector_get(x, p->d), &slope);
    if (out_slopes)
        gsl_vector_set(out_slopes, p->d, by_amplitude + slope);
    sum += prior_gamma(1.1, 30, gsl_vector_get(x, p->d + 1), &slope);
    if (out_slopes)
        gsl_vector_set(out_slopes, p->d + 1, by_noise + slope);
    return sum;
}

static double loss_f(const gsl_vector *x, void *fit)
{
    return loss(x, fit, NULL);
}

static void loss_df(const gsl_vector *x, void *fit, gsl_vector *out)
{
    loss(x, fit, out);
}

static void loss_fdf(const gsl_vector *x, void *fit, double *out, gsl_vector *out_slopes)
{
    *out = loss(x, fit, out_slopes);
}

/* Descends from a start; returns the loss that was reached, with the variables in `x`. */
static double descend(struct fit *fit, gsl_vector *x)
{
    gsl_multimin_function_fdf problem = {loss_f, loss_df, loss_fdf, x->size, fit};
    gsl_multimin_fdfminimizer *minimizer =
        gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, x->size);
    gsl_multimin_fdfminimizer_set(minimizer, &problem, x, 0.3, 0.1);
    for (int step = 0; step < STEPS_MAX; step++)
        if (gsl_multimin_fdfminimizer_iterate(minimizer) ||
            gsl_multimin_test_gradient(minimizer->gradient, 0.01) == GSL_SUCCESS)
            break;
    gsl_vector_memcpy(x, minimizer->x);
    double reached = minimizer->f;
    gsl_multimin_fdfminimizer_free(minimizer);
    return reached;
}

static bool choose_lengths(struct orch_space_process *p)
{
    size_t n = p->n;
    struct fit fit = {p, g_new(double, p->d *n *n), g_new(double, n *n), g_new(double, n *n)};
    for (unsigned k = 0; k < p->d; k++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                fit.apart[(k * n + i) * n + j] =
                    apart(orch_space_param(p->space, k), p->points[i * p->d + k],
                          p->points[j * p->d + k]);
    gsl_vector *x = gsl_vector_alloc(p->d + 2);
    gsl_vector_set_all(x, log(START_LENGTH));
    gsl_vector_set(x, p->d, 0);
    gsl_vector_set(x, p->d + 1, log(START_NOISE));
    p->loss = descend(&fit, x);
    set_from(p, x);
    covariances(&fit);
    bool ok = isfinite(p->loss) && solve(p);
    gsl_vector_free(x);
    g_free(fit.apart);
    g_free(fit.slope);
    g_free(fit.inverse);
    return ok;
}

struct orch_space_process *orch_space_process_fit(const struct orch_space *space,
                                                  const double *points, const double *values,
                                                  size_t n)
{
    struct orch_space_process *p = g_new0(struct orch_space_process, 1);
    p->space = space;
    p->n = n;
    p->d = space->params->len;
    p->points = g_new(double, n * p->d);
    p->values = g_memdup2(values, n * sizeof *values);
    p->weight = g_new(double, p->d);
    p->factor = g_new(double, n *n);
    p->alpha = g_new(double, n);
    for (size_t i = 0; i < n; i++)
        fill(space, points + i * p->d, p->points + i * p->d);
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    bool ok = choose_lengths(p);
    gsl_set_error_handler(handler);
    if (ok)
        return p;
    orch_space_process_free(p);
    return NULL;
}

void orch_space_process_free(struct orch_space_process *p)
{
    if (!p)
        return;
    g_free(p->points);
    g_free(p->values);
    g_free(p->weight);
    g_free(p->factor);
    g_free(p->alpha);
    g_free(p);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Solves L x = b in place. */
static void forward(const double *factor, size_t n, double *inout)
{
    for (size_t i = 0; i < n; i++)
        inout[i] = (inout[i] - orch_dot(factor + i * n, inout, i)) / factor[i * n + i];
}

void orch_space_process_believe(struct orch_space_process *p, const double *point)
{
    size_t n = p->n;
    double mean, deviation;
    orch_space_process_at(p, point, &mean, &deviation, NULL, NULL);
    p->points = g_renew(double, p->points, (n + 1) * p->d);
    p->values = g_renew(double, p->values, n + 1);
    p->alpha = g_renew(double, p->alpha, n + 1);
    fill(p->space, point, p->points + n * p->d);
    p->values[n] = mean;
    p->alpha[n] = 0; /* the value is the expected one, so the weights of the others stay */
    double *factor = g_new0(double, (n + 1) * (n + 1));
    for (size_t i = 0; i < n; i++)
        memcpy(factor + i * (n + 1), p->factor + i * n, (i + 1) * sizeof *factor);
    double *last = factor + n * (n + 1);
    for (size_t i = 0; i < n; i++)
        last[i] =
            p->amplitude * matern(square_of(p, p->points + n * p->d, p->points + i * p->d), NULL);
    forward(p->factor, n, last);
    double left = p->amplitude + LEAST_NOISE - orch_dot(last, last, n);
    last[n] = sqrt(fmax(left, TINY));
    g_free(p->factor);
    p->factor = factor;
    p->n = n + 1;
}

void orch_space_process_at(const struct orch_space_process *p, const double *point,
                           double *out_mean, double *out_deviation, double *out_mean_slopes,
                           double *out_deviation_slopes)
{
    size_t n = p->n;
    g_autofree double *filled = g_new(double, p->d + 3 * n);
    double *near = filled + p->d, *half = near + n, *slope = half + n;
    fill(p->space, point, filled);
    for (size_t i = 0; i < n; i++) {
        near[i] = p->amplitude * matern(square_of(p, filled, p->points + i * p->d), &slope[i]);
        half[i] = near[i];
    }
    *out_mean = orch_dot(near, p->alpha, n);
    forward(p->factor, n, half);
    double variance = fmax(p->amplitude - orch_dot(half, half, n), TINY);
    *out_deviation = sqrt(variance);
    if (!out_mean_slopes)
        return;
    /* half becomes covariances^-1 near */
    for (size_t i = n; i-- > 0;) {
        half[i] /= p->factor[i * n + i];
        for (size_t j = 0; j < i; j++)
            half[j] -= p->factor[i * n + j] * half[i];
    }
    for (unsigned k = 0; k < p->d; k++) {
        const struct orch_space_param *param = orch_space_param(p->space, k);
        double by_mean = 0, by_variance = 0;
        for (size_t i = 0; param->kind != ORCH_SPACE_CHOICE && !isnan(point[k]) && i < n; i++) {
            double off = filled[k] - p->points[i * p->d + k];
            double t = p->amplitude * slope[i] * 2 * p->weight[k] * off;
            by_mean += t * p->alpha[i];
            by_variance -= 2 * t * half[i];
        }
        out_mean_slopes[k] = by_mean;
        out_deviation_slopes[k] = by_variance / (2 * *out_deviation);
    }
}

double orch_space_process_least(const struct orch_space_process *p)
{
    return gsl_stats_min(p->values, 1, p->n);
}

double orch_space_process_loss(const struct orch_space_process *p)
{
    return p->loss;
}

double orch_space_process_noise(const struct orch_space_process *p)
{
    return sqrt(p->noise);
}
