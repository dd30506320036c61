/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/curve/laws/isotonic.h"

#include "lib/base/error.h"
#include "lib/base/reals.h"

#include <math.h>
#include <stdlib.h>

struct point {
    double x, y, weight;
};

/* Averages points with the same x; returns the new count. */
static size_t merge_ties(struct point *points, size_t count)
{
    size_t last = 0;
    for (size_t i = 1; i < count; i++) {
        if (points[i].x != points[last].x) {
            points[++last] = points[i];
            continue;
        }
        struct point *p = &points[last];
        p->weight += 1;
        p->y += (points[i].y - p->y) / p->weight;
    }
    return last + 1;
}

/* Pools adjacent violators: falling neighbours for sign 1, rising ones for sign -1. */
static void pool(const struct point *points, size_t count, double sign, double *out)
{
    struct block {
        double y, weight;
        size_t points;
    };
    g_autofree struct block *blocks = g_new(struct block, count);
    size_t top = 0;
    for (size_t i = 0; i < count; i++) {
        blocks[top++] = (struct block){points[i].y, points[i].weight, 1};
        while (top > 1 && sign * blocks[top - 2].y > sign * blocks[top - 1].y) {
            struct block *left = &blocks[top - 2], *right = &blocks[top - 1];
            left->weight += right->weight;
            left->y += (right->y - left->y) * (right->weight / left->weight);
            left->points += right->points;
            top--;
        }
    }
    size_t next = 0;
    for (size_t b = 0; b < top; b++)
        for (size_t i = 0; i < blocks[b].points; i++)
            out[next++] = blocks[b].y;
}

struct orch_isotonic *orch_isotonic_fit(const double *x, const double *y, size_t count,
                                        bool is_rising, GError **error)
{
    bool is_good = count > 0;
    for (size_t i = 0; i < count; i++)
        is_good = is_good && isfinite(x[i]) && isfinite(y[i]);
    if (!is_good) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "a monotone (isotonic) fit needs %s",
                       count ? "finite numbers" : "at least one point");
        return NULL;
    }
    g_autofree struct point *points = g_new(struct point, count);
    for (size_t i = 0; i < count; i++)
        points[i] = (struct point){x[i], y[i], 1};
    qsort(points, count, sizeof *points, orch_compare_reals);
    struct orch_isotonic *fit = g_new0(struct orch_isotonic, 1);
    fit->is_rising = is_rising;
    fit->count = merge_ties(points, count);
    fit->x = g_new(double, 2 * fit->count);
    fit->y = fit->x + fit->count;
    for (size_t i = 0; i < fit->count; i++)
        fit->x[i] = points[i].x;
    pool(points, fit->count, is_rising ? 1 : -1, fit->y);
    return fit;
}

void orch_isotonic_free(struct orch_isotonic *fit)
{
    if (fit)
        g_free(fit->x);
    g_free(fit);
}

double orch_isotonic_at(const struct orch_isotonic *fit, double x)
{
    size_t above = 0;
    while (above < fit->count && fit->x[above] < x)
        above++;
    if (above == 0 || above == fit->count)
        return fit->y[above ? above - 1 : 0];
    const double *px = &fit->x[above - 1], *py = &fit->y[above - 1];
    return py[0] + (x - px[0]) / (px[1] - px[0]) * (py[1] - py[0]);
}

bool orch_isotonic_cross(const struct orch_isotonic *fit, double target, double *out_x,
                         GError **error)
{
    if (!isfinite(target)) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "the target is not a finite number");
        return false;
    }
    /* start at the side of low y: index 0 if rising, else the last one */
    for (size_t i = 0; i < fit->count; i++) {
        size_t here = fit->is_rising ? i : fit->count - 1 - i;
        if (fit->y[here] < target)
            continue;
        *out_x = fit->x[here];
        if (i > 0) {
            size_t before = fit->is_rising ? here - 1 : here + 1;
            double share = (target - fit->y[before]) / (fit->y[here] - fit->y[before]);
            *out_x = fit->x[before] + share * (fit->x[here] - fit->x[before]);
        }
        return true;
    }
    double best = fit->y[fit->is_rising ? fit->count - 1 : 0];
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                   "target %.6g is never reached: the best value of the fit is %.6g", target, best);
    return false;
}
