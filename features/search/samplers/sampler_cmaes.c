/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CMA-ES (Hansen 2016, arXiv:1604.00772, with its default constants and positive weights): a normal
 * distribution that follows the best points of each generation. A sampler keeps nothing, so the
 * generations are replayed from the trials in their order. The steps of points that another rule
 * chose are cut to what this one draws itself (Hansen 2011, arXiv:1110.4181). A distribution that
 * has shrunk to a point begins again elsewhere with twice as many points a generation (Auger and
 * Hansen 2005). Spaces with choices, and so those with conditions, are left to tpe. */
#include "features/search/samplers/sampler.h"
#include "lib/base/random.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define START_STEP 0.3 /* of the range of a parameter */
#define SMALLEST 1e-6  /* values are rounded to six digits */
#define DRAWS 100      /* for a point within all ranges; then one is cut */

struct strategy {
    unsigned d;
    size_t lambda, mu;  /* points of a generation, and those of them that count */
    double weight_left; /* 1 / sum of squared weights */
    double path_rate, damping, shape_rate, rate_one, rate_mu, length;
    double step;
    double updates;                                  /* generations since it began */
    double *mean, *path, *shape_path, *scale, *half; /* d each */
    double *shape, *basis; /* d x d: covariances, and their eigenvectors as columns */
};

static double weight_of(const struct strategy *s, size_t rank)
{
    double sum = 0;
    for (size_t i = 0; i < s->mu; i++)
        sum += log((double)s->mu + 0.5) - log((double)i + 1);
    return (log((double)s->mu + 0.5) - log((double)rank + 1)) / sum;
}

static void begin(struct strategy *s, size_t lambda)
{
    const double d = s->d;
    double squares = 0;
    s->lambda = lambda;
    s->mu = lambda / 2;
    for (size_t i = 0; i < s->mu; i++)
        squares += pow(weight_of(s, i), 2);
    const double left = s->weight_left = 1 / squares;
    s->path_rate = (left + 2) / (d + left + 5);
    s->damping = 1 + 2 * fmax(0, sqrt((left - 1) / (d + 1)) - 1) + s->path_rate;
    s->shape_rate = (4 + left / d) / (d + 4 + 2 * left / d);
    s->rate_one = 2 / (pow(d + 1.3, 2) + left);
    s->rate_mu = fmin(1 - s->rate_one, 2 * (left - 2 + 1 / left) / (pow(d + 2, 2) + left));
    s->length = sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d * d)); /* of a normal vector */
    s->step = START_STEP;
    s->updates = 0;
    memset(s->shape, 0, (size_t)s->d * s->d * sizeof *s->shape);
    memset(s->basis, 0, (size_t)s->d * s->d * sizeof *s->basis);
    for (unsigned k = 0; k < s->d; k++) {
        s->path[k] = s->shape_path[k] = 0;
        s->shape[k * s->d + k] = s->basis[k * s->d + k] = s->scale[k] = 1;
    }
}

/* out = B f(B^T in) with the eigenvectors B; f multiplies by the scale, or divides by it. */
static void transform(const struct strategy *s, const double *in, bool divides, double *out)
{
    memset(out, 0, s->d * sizeof *out);
    for (unsigned j = 0; j < s->d; j++) {
        double along = 0;
        for (unsigned k = 0; k < s->d; k++)
            along += s->basis[k * s->d + j] * in[k];
        along = divides ? along / s->scale[j] : along * s->scale[j];
        for (unsigned k = 0; k < s->d; k++)
            out[k] += s->basis[k * s->d + j] * along;
    }
}

static void decompose(struct strategy *s)
{
    gsl_eigen_symmv_workspace *work = gsl_eigen_symmv_alloc(s->d);
    gsl_vector *values = gsl_vector_alloc(s->d);
    g_autofree double *copy = g_memdup2(s->shape, (size_t)s->d * s->d * sizeof *copy);
    gsl_matrix_view from = gsl_matrix_view_array(copy, s->d, s->d),
                    basis = gsl_matrix_view_array(s->basis, s->d, s->d);
    gsl_eigen_symmv(&from.matrix, values, &basis.matrix, work);
    for (unsigned k = 0; k < s->d; k++)
        s->scale[k] = sqrt(fmax(gsl_vector_get(values, k), 1e-20));
    gsl_vector_free(values);
    gsl_eigen_symmv_free(work);
}

static double norm(const double *x, unsigned d)
{
    double sum = 0;
    for (unsigned k = 0; k < d; k++)
        sum += x[k] * x[k];
    return sqrt(sum);
}

/* The step from the mean to a point, in units of the step, cut where it is improbably long. */
static void step_to(const struct strategy *s, const double *point, double *out)
{
    const double d = s->d;
    for (unsigned k = 0; k < s->d; k++)
        out[k] = (point[k] - s->mean[k]) / s->step;
    transform(s, out, true, s->half);
    const double cut = (sqrt(d) + 2 * d / (d + 2)) / fmax(norm(s->half, s->d), 1e-12);
    for (unsigned k = 0; k < s->d && cut < 1; k++)
        out[k] *= cut;
}

/* One generation; the best of its points come first. */
static void learn(struct strategy *s, const struct orch_sampled *const *best)
{
    const unsigned d = s->d;
    g_autofree double *y = g_new(double, d), *moved = g_new0(double, d),
                      *spread = g_new0(double, (size_t)d *d);
    for (size_t i = 0; i < s->mu; i++) {
        const double weight = weight_of(s, i);
        step_to(s, best[i]->point, y);
        for (unsigned k = 0; k < d; k++) {
            moved[k] += weight * y[k];
            for (unsigned j = 0; j < d; j++)
                spread[k * d + j] += weight * y[k] * y[j];
        }
    }
    transform(s, moved, true, s->half);
    s->updates++;
    for (unsigned k = 0; k < d; k++) {
        s->mean[k] = CLAMP(s->mean[k] + s->step * moved[k], 0, 1);
        s->path[k] = (1 - s->path_rate) * s->path[k] +
                     sqrt(s->path_rate * (2 - s->path_rate) * s->weight_left) * s->half[k];
    }
    const double length = norm(s->path, d) / s->length;
    const bool is_long =
        length / sqrt(1 - pow(1 - s->path_rate, 2 * s->updates)) >= 1.4 + 2.0 / (d + 1);
    const double rate = s->shape_rate, kept = 1 - s->rate_one - s->rate_mu +
                                              (is_long ? s->rate_one * rate * (2 - rate) : 0);
    for (unsigned k = 0; k < d; k++)
        s->shape_path[k] = (1 - rate) * s->shape_path[k] +
                           (is_long ? 0 : sqrt(rate * (2 - rate) * s->weight_left) * moved[k]);
    for (unsigned k = 0; k < d; k++)
        for (unsigned j = 0; j < d; j++)
            s->shape[k * d + j] = kept * s->shape[k * d + j] +
                                  s->rate_one * s->shape_path[k] * s->shape_path[j] +
                                  s->rate_mu * spread[k * d + j];
    s->step = fmin(s->step * exp(s->path_rate / s->damping * (length - 1)), 1);
    decompose(s);
}

static bool has_shrunk(const struct strategy *s)
{
    double widest = 0;
    for (unsigned k = 0; k < s->d; k++)
        widest = fmax(widest, s->scale[k]);
    return s->step * widest < SMALLEST;
}

/* A trial that failed is worse than all that ended; of equal ones the older comes first. */
static int compare_trials(const void *a, const void *b)
{
    const struct orch_sampled *x = *(const struct orch_sampled *const *)a,
                              *y = *(const struct orch_sampled *const *)b;
    const double left = x->state == ORCH_SAMPLED_ENDED ? x->value : HUGE_VAL,
                 right = y->state == ORCH_SAMPLED_ENDED ? y->value : HUGE_VAL;
    return left != right ? (left > right) - (left < right) : (x > y) - (x < y);
}

static void replay(struct strategy *s, const struct orch_sampling *sampling)
{
    g_autofree const struct orch_sampled **rows =
        g_new(const struct orch_sampled *, sampling->count + 1);
    size_t n = 0;
    for (size_t i = 0; i < sampling->count; i++)
        if (sampling->trials[i].state != ORCH_SAMPLED_PENDING)
            rows[n++] = &sampling->trials[i];
    for (size_t i = 0; i + s->lambda <= n;) {
        qsort(rows + i, s->lambda, sizeof *rows, compare_trials);
        learn(s, rows + i);
        i += s->lambda;
        if (!has_shrunk(s))
            continue;
        uint64_t random = orch_random_stream(sampling->seed, i);
        for (unsigned k = 0; k < s->d; k++)
            s->mean[k] = orch_random_unit(&random);
        begin(s, 2 * s->lambda);
    }
}

void orch_sample_cmaes(const struct orch_sampling *sampling, double *out)
{
    struct strategy s = {.d = sampling->space->params->len};
    for (unsigned k = 0; k < s.d; k++)
        if (orch_space_param(sampling->space, k)->kind == ORCH_SPACE_CHOICE) {
            orch_sample_tpe(sampling, out);
            return;
        }
    s.mean = g_new(double, 2 * (size_t)s.d * s.d + 6 * s.d);
    s.path = s.mean + s.d;
    s.shape_path = s.path + s.d;
    s.scale = s.shape_path + s.d;
    s.half = s.scale + s.d;
    double *z = s.half + s.d;
    s.shape = z + s.d;
    s.basis = s.shape + (size_t)s.d * s.d;
    for (unsigned k = 0; k < s.d; k++)
        s.mean[k] = 0.5;
    begin(&s, 4 + (size_t)(3 * log(s.d)));
    replay(&s, sampling);
    uint64_t random = orch_sampling_random(sampling);
    bool is_inside = false;
    for (unsigned tries = 0; tries < DRAWS && !is_inside; tries++) {
        is_inside = true;
        for (unsigned k = 0; k < s.d; k++)
            z[k] = orch_random_normal(&random);
        transform(&s, z, false, s.half);
        for (unsigned k = 0; k < s.d; k++) {
            out[k] = s.mean[k] + s.step * s.half[k];
            is_inside = is_inside && out[k] >= 0 && out[k] <= 1;
        }
    }
    for (unsigned k = 0; k < s.d; k++)
        out[k] = CLAMP(out[k], 0, 1);
    orch_space_snap(sampling->space, out);
    g_free(s.mean);
}
