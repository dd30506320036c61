/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/front.h"

#include "lib/base/reals.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_finite(const double *point, unsigned goals)
{
    for (unsigned k = 0; k < goals; k++)
        if (!isfinite(point[k]))
            return false;
    return true;
}

static bool dominates(const double *point, const double *other, unsigned goals)
{
    bool is_better = false;
    for (unsigned k = 0; k < goals; k++) {
        if (point[k] > other[k])
            return false;
        is_better |= point[k] < other[k];
    }
    return is_better;
}

void orch_front_find(const double *points, size_t count, unsigned goals, bool *out_is_on)
{
    for (size_t i = 0; i < count; i++) {
        const double *point = points + i * goals;
        out_is_on[i] = is_finite(point, goals);
        for (size_t k = 0; k < count && out_is_on[i]; k++)
            out_is_on[i] = !is_finite(points + k * goals, goals) ||
                           !dominates(points + k * goals, point, goals);
    }
}

/* A point by the number of its row, for sorting by the last goal. */
struct row {
    double last; /* orch_compare_reals reads it */
    const double *at;
};

/* The volume by slices along the last goal: between two neighbours there it is that of the points
 * so far in the other goals. */
static double volume(const double *const *points, size_t count, unsigned goals,
                     const double *reference)
{
    g_autofree struct row *rows = g_new(struct row, count + 1);
    g_autofree const double **above = g_new(const double *, count + 1);
    double sum = 0, least = reference[0];
    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct row){points[i][goals - 1], points[i]};
        least = fmin(least, points[i][0]);
    }
    if (goals == 1)
        return reference[0] - least;
    qsort(rows, count, sizeof *rows, orch_compare_reals);
    for (size_t i = 0; i < count; i++) {
        const double end = i + 1 < count ? rows[i + 1].last : reference[goals - 1];
        above[i] = rows[i].at;
        if (end > rows[i].last)
            sum += (end - rows[i].last) * volume(above, i + 1, goals - 1, reference);
    }
    return sum;
}

double orch_front_volume(const double *points, size_t count, unsigned goals,
                         const double *reference)
{
    g_autofree const double **within = g_new(const double *, count + 1);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_within = is_finite(points + i * goals, goals);
        for (unsigned k = 0; k < goals; k++)
            is_within = is_within && points[i * goals + k] < reference[k];
        if (is_within)
            within[kept++] = points + i * goals;
    }
    return kept ? volume(within, kept, goals, reference) : 0;
}

bool orch_front_ends(const double *points, size_t count, unsigned goals, const bool *is_on,
                     double *out_best, double *out_worst)
{
    bool has_any = false;
    for (size_t i = 0; i < count; i++) {
        for (unsigned k = 0; k < goals && is_on[i]; k++) {
            const double value = points[i * goals + k];
            out_best[k] = has_any ? fmin(out_best[k], value) : value;
            out_worst[k] = has_any ? fmax(out_worst[k], value) : value;
        }
        has_any |= is_on[i];
    }
    return has_any;
}

size_t orch_front_knee(const double *points, size_t count, unsigned goals, const bool *is_on)
{
    double best[ORCH_FRONT_GOALS_MAX], worst[ORCH_FRONT_GOALS_MAX], least = HUGE_VAL;
    size_t knee = count;
    if (!orch_front_ends(points, count, goals, is_on, best, worst))
        return count;
    for (size_t i = 0; i < count; i++) {
        const double *point = points + i * goals;
        double sum = 0;
        for (unsigned k = 0; k < goals && is_on[i]; k++)
            sum += worst[k] > best[k] ? (point[k] - best[k]) / (worst[k] - best[k]) : 0;
        if (is_on[i] && (sum < least || (!(sum > least) && *point < points[knee * goals]))) {
            least = sum;
            knee = i;
        }
    }
    return knee;
}
