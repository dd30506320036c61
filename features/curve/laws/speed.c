/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The published program fits f itself by bounded non-linear least squares. This code fits the
 * reciprocal, which is linear, has a single minimum and needs no starting point.
 */
#include "features/curve/laws/speed.h"

#include "lib/base/error.h"
#include "predictors/numbers/nnls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* a direction is dependent if less than this share of its length is outside the span of the
 * others */
#define DEPENDENT 1e-9

static const struct {
    const char *name;
    int terms;
    const char *term_names[ORCH_SPEED_TERMS_MAX];
} MODES[ORCH_SPEED_MODE_COUNT] = {
    [ORCH_SPEED_ASYNC] = {"async", 4, {"1", "w/p", "w", "p"}},
    [ORCH_SPEED_SYNC] = {"sync", 5, {"M/w", "1", "w/p", "w", "p"}},
};

struct orch_speed {
    struct orch_speed_options options;
    struct orch_speed_point *points; /* distinct (p, w), ordered by p, then w */
    size_t count;
    double theta[ORCH_SPEED_TERMS_MAX];
    const char *warning;
    /* orthonormal basis of the measured rows, with terms divided by `largest` */
    double span[ORCH_SPEED_TERMS_MAX][ORCH_SPEED_TERMS_MAX];
    double largest[ORCH_SPEED_TERMS_MAX];
    int span_count;
};

int orch_speed_terms(enum orch_speed_mode mode)
{
    return MODES[mode].terms;
}

const char *orch_speed_term_name(enum orch_speed_mode mode, int term)
{
    return MODES[mode].term_names[term];
}

/* The factors of t at (p, w). */
static void terms_at(const struct orch_speed_options *o, int servers, int workers, double *out)
{
    double p = servers, w = workers;
    if (o->mode == ORCH_SPEED_ASYNC)
        memcpy(out, (double[]){1, w / p, w, p}, 4 * sizeof *out);
    else
        memcpy(out, (double[]){o->total_batch / w, 1, w / p, w, p}, 5 * sizeof *out);
}

/* Number of steps that complete in the time given by the terms. */
static double steps_of(const struct orch_speed_options *o, int workers)
{
    return o->mode == ORCH_SPEED_ASYNC ? workers : 1;
}

/* --- fitting --- */

static bool check(const struct orch_speed_point *points, size_t count,
                  const struct orch_speed_options *o, GError **error)
{
    if (count == 0) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "a speed model needs at least one measurement");
        return false;
    }
    if (o->mode == ORCH_SPEED_SYNC && !(isfinite(o->total_batch) && o->total_batch > 0)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "give the batch of all workers together",
                       "a synchronous speed model needs a total batch above 0, found %g",
                       o->total_batch);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct orch_speed_point *p = &points[i];
        if (p->servers >= 1 && p->workers >= 1 && isfinite(p->steps_per_s) && p->steps_per_s > 0)
            continue;
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "measurement %zu is not valid: %d servers, %d workers, %g steps/s", i + 1,
                       p->servers, p->workers, p->steps_per_s);
        return false;
    }
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct orch_speed_point *left = a, *right = b;
    if (left->servers != right->servers)
        return left->servers < right->servers ? -1 : 1;
    return (left->workers > right->workers) - (left->workers < right->workers);
}

/* Sorts, and averages measurements at the same (p, w). */
static void merge(struct orch_speed *speed)
{
    qsort(speed->points, speed->count, sizeof *speed->points, by_place);
    size_t last = 0;
    double weight = 1;
    for (size_t i = 1; i < speed->count; i++) {
        struct orch_speed_point *p = &speed->points[last];
        if (by_place(p, &speed->points[i]) == 0) {
            weight += 1;
            p->steps_per_s += (speed->points[i].steps_per_s - p->steps_per_s) / weight;
        } else {
            speed->points[++last] = speed->points[i];
            weight = 1;
        }
    }
    speed->count = last + 1;
}

static double norm(const double *v, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

/* Part of the terms at (p, w) outside the span of the measured ones: returns its length as a share
 * and writes its direction (length 1) to `out`. */
static double beyond_span(const struct orch_speed *speed, int servers, int workers, double *out)
{
    int n = MODES[speed->options.mode].terms;
    terms_at(&speed->options, servers, workers, out);
    for (int i = 0; i < n; i++)
        out[i] /= speed->largest[i];
    double whole = norm(out, n);
    for (int pass = 0; pass < 2; pass++)
        for (int s = 0; s < speed->span_count; s++) {
            double along = 0;
            for (int i = 0; i < n; i++)
                along += speed->span[s][i] * out[i];
            for (int i = 0; i < n; i++)
                out[i] -= along * speed->span[s][i];
        }
    double left = norm(out, n);
    for (int i = 0; i < n && left > 0; i++)
        out[i] /= left;
    return left / whole;
}

/* Gram-Schmidt with pivoting: the row farthest from the current span comes next. */
static void build_span(struct orch_speed *speed)
{
    int n = MODES[speed->options.mode].terms;
    for (size_t i = 0; i < speed->count; i++) {
        double row[ORCH_SPEED_TERMS_MAX];
        terms_at(&speed->options, speed->points[i].servers, speed->points[i].workers, row);
        for (int j = 0; j < n; j++)
            speed->largest[j] = fmax(speed->largest[j], row[j]);
    }
    while (speed->span_count < n) {
        double most = DEPENDENT, row[ORCH_SPEED_TERMS_MAX], best[ORCH_SPEED_TERMS_MAX];
        for (size_t i = 0; i < speed->count; i++) {
            double left =
                beyond_span(speed, speed->points[i].servers, speed->points[i].workers, row);
            if (left > most) {
                most = left;
                memcpy(best, row, sizeof best);
            }
        }
        if (most <= DEPENDENT)
            return;
        memcpy(speed->span[speed->span_count++], best, sizeof best);
    }
}

static const char *find_warning(const struct orch_speed *speed)
{
    if (speed->span_count == MODES[speed->options.mode].terms)
        return NULL;
    const struct orch_speed_point *first = speed->points;
    bool is_p_same = true, is_w_same = true, is_ratio_same = true;
    for (size_t i = 1; i < speed->count; i++) {
        const struct orch_speed_point *p = &speed->points[i];
        is_p_same = is_p_same && p->servers == first->servers;
        is_w_same = is_w_same && p->workers == first->workers;
        is_ratio_same = is_ratio_same &&
                        (gint64)p->workers * first->servers == (gint64)first->workers * p->servers;
    }
    if (is_ratio_same)
        return "workers per server (w/p) are the same in all measurements; measure some with other "
               "w/p";
    if (is_p_same)
        return "servers (p) are the same in all measurements; measure some with other p";
    if (is_w_same)
        return "workers (w) are the same in all measurements; measure some with other w";
    return "the measurements do not determine all terms; measure more different (p, w)";
}

static bool fit_theta(struct orch_speed *speed, GError **error)
{
    const struct orch_speed_options *o = &speed->options;
    int terms = MODES[o->mode].terms;
    size_t n = speed->count;
    g_autofree double *rows = g_new(double, n *(size_t)(terms + 2));
    double *right = rows + n * (size_t)terms, *weights = right + n;
    for (size_t i = 0; i < n; i++) {
        const struct orch_speed_point *p = &speed->points[i];
        terms_at(o, p->servers, p->workers, rows + i * (size_t)terms);
        right[i] = steps_of(o, p->workers) / p->steps_per_s;
        weights[i] = o->is_relative ? 1 / (right[i] * right[i]) : 1;
    }
    return orch_nnls_solve(rows, right, weights, n, terms, speed->theta, error);
}

struct orch_speed *orch_speed_fit(const struct orch_speed_point *points, size_t count,
                                  const struct orch_speed_options *options, GError **error)
{
    if (!check(points, count, options, error))
        return NULL;
    struct orch_speed *speed = g_new0(struct orch_speed, 1);
    speed->options = *options;
    speed->count = count;
    speed->points = g_memdup2(points, count * sizeof *points);
    merge(speed);
    int terms = MODES[options->mode].terms;
    if (speed->count < (size_t)terms) {
        orch_error_set(error, ORCH_ERROR_USAGE, "measure more combinations of servers and workers",
                       "the %s speed model needs at least %d different pairs of servers and "
                       "workers, found %zu",
                       MODES[options->mode].name, terms, speed->count);
        orch_speed_free(speed);
        return NULL;
    }
    build_span(speed);
    speed->warning = find_warning(speed);
    if (!fit_theta(speed, error)) {
        orch_speed_free(speed);
        return NULL;
    }
    return speed;
}

void orch_speed_free(struct orch_speed *speed)
{
    if (speed)
        g_free(speed->points);
    g_free(speed);
}

/* --- evaluation --- */

const double *orch_speed_theta(const struct orch_speed *speed)
{
    return speed->theta;
}

const char *orch_speed_warning(const struct orch_speed *speed)
{
    return speed->warning;
}

bool orch_speed_is_determined(const struct orch_speed *speed, int servers, int workers)
{
    double direction[ORCH_SPEED_TERMS_MAX];
    return beyond_span(speed, servers, workers, direction) <= 10 * DEPENDENT;
}

double orch_speed_model(const struct orch_speed *speed, int servers, int workers)
{
    double terms[ORCH_SPEED_TERMS_MAX], seconds = 0;
    terms_at(&speed->options, servers, workers, terms);
    for (int i = 0; i < MODES[speed->options.mode].terms; i++)
        seconds += speed->theta[i] * terms[i];
    return seconds > 0 ? steps_of(&speed->options, workers) / seconds : HUGE_VAL;
}
