/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/search/range_importance.h"

#include "lib/base/random.h"
#include "lib/base/reals.h"
#include "predictors/numbers/box_cox.h"

#include <math.h>
#include <string.h>

#define DRAWN 1000
#define SEED 2
#define LEAST_VARIANCE 1e-6 /* of values of about 1: less is rounding */
#define ROWS_MAX 120        /* of the process, whose cost grows with the cube */

/* ---- the process --------------------------------------------------------------------------------
 */

static double distance(const double *a, const double *b, unsigned params)
{
    double sum = 0;
    for (unsigned p = 0; p < params; p++)
        sum += isnan(a[p]) != isnan(b[p]) ? 1 : isnan(a[p]) ? 0 : pow(a[p] - b[p], 2);
    return sum;
}

/* Takes the trials that are farthest from those that were taken before, so that all parts of the
 * space have some. Returns their number. */
static size_t spread_rows(const double *points, size_t count, unsigned params, size_t *out)
{
    g_autofree double *nearest = g_new(double, count);
    const size_t rows = MIN(count, ROWS_MAX);
    for (size_t i = 0; i < count; i++)
        nearest[i] = HUGE_VAL;
    for (size_t n = 0; n < rows; n++) {
        size_t next = 0;
        for (size_t i = 1; i < count; i++)
            next = nearest[i] > nearest[next] ? i : next;
        out[n] = next;
        for (size_t i = 0; i < count; i++)
            nearest[i] =
                fmin(nearest[i], distance(points + i * params, points + next * params, params));
        nearest[next] = -1; /* also of two that are equal each is taken once */
    }
    return rows;
}

/* Values whose long tail is above, as the process expects it of losses. */
static void turn_tail_up(double *values, size_t count)
{
    g_autofree double *sorted = g_memdup2(values, count * sizeof *values);
    double mean = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    const bool is_below = mean < orch_reals_median(sorted, count);
    for (size_t i = 0; is_below && i < count; i++)
        values[i] = -values[i];
}

static struct orch_space_process *fit(const struct orch_space *space, const double *points,
                                      const double *values, size_t count)
{
    const unsigned params = space->params->len;
    g_autofree size_t *rows = g_new(size_t, count);
    const size_t n = spread_rows(points, count, params, rows);
    g_autofree double *own_points = g_new(double, n *params);
    g_autofree double *own_values = g_new(double, n);
    for (size_t i = 0; i < n; i++) {
        memcpy(own_points + i * params, points + rows[i] * params, params * sizeof *points);
        own_values[i] = values[rows[i]];
    }
    turn_tail_up(own_values, n);
    return orch_box_cox_fit(space, own_points, own_values, n);
}

/* ---- drawn points -------------------------------------------------------------------------------
 */

/* Whether a parameter exists only under a condition on another one, or is that one. */
static bool is_below(const struct orch_space *space, unsigned param, unsigned of)
{
    int at = (int)param;
    while (at >= 0 && at != (int)of)
        at = orch_space_param(space, (unsigned)at)->parent;
    return at == (int)of;
}

/* The value that is expected at a point. `of`: the parameter that has, with those below it, the
 * coordinates of `other`; -1: none has. */
static double value_at(const struct orch_space *space, const struct orch_space_process *process,
                       const double *point, const double *other, int of)
{
    double at[ORCH_SPACE_PARAMS_MAX], mean, deviation;
    for (unsigned p = 0; p < space->params->len; p++) {
        at[p] = of >= 0 && is_below(space, p, (unsigned)of) ? other[p] : point[p];
        if (!orch_space_exists(space, p, at))
            at[p] = (double)NAN;
    }
    orch_space_process_at(process, at, &mean, &deviation, NULL, NULL);
    return mean;
}

/* Draws two points for each row: one, and one that lends coordinates. */
static double *draw(unsigned params)
{
    uint64_t random = orch_random_stream(SEED, 0);
    double *points = g_new(double, (size_t)2 * DRAWN * params);
    for (size_t i = 0; i < (size_t)2 * DRAWN * params; i++)
        points[i] = orch_random_unit(&random);
    return points;
}

void orch_range_importance(const struct orch_space *space, const double *points,
                           const double *values, size_t count, double *out)
{
    const unsigned params = space->params->len;
    struct orch_space_process *process = fit(space, points, values, count);
    g_autofree double *drawn = draw(params);
    double as_drawn[DRAWN], mean = 0, variance = 0;
    for (unsigned p = 0; p < params; p++)
        out[p] = process ? 0 : (double)NAN;
    if (!process)
        return;
    for (size_t i = 0; i < DRAWN; i++) {
        as_drawn[i] = value_at(space, process, drawn + 2 * i * params, NULL, -1);
        mean += as_drawn[i] / DRAWN;
    }
    for (size_t i = 0; i < DRAWN; i++)
        variance += pow(as_drawn[i] - mean, 2) / DRAWN;
    for (unsigned p = 0; variance > LEAST_VARIANCE && p < params; p++) {
        for (size_t i = 0; i < DRAWN; i++) {
            const double *point = drawn + 2 * i * params;
            const double anew = value_at(space, process, point, point + params, (int)p);
            out[p] += pow(as_drawn[i] - anew, 2) / DRAWN / 2 / variance;
        }
        out[p] = fmin(out[p], 1); /* but for the error of the drawing it is */
    }
    orch_space_process_free(process);
}
