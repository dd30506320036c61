/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grid, in an order that spreads over the space from its first points on, so that a search with
 * fewer trials than the grid has points does not see one corner alone. */
#include "features/search/samplers/sampler_grid.h"

#include "features/search/samplers/sampler.h"
#include "lib/base/random.h"

#include <math.h>

#define SCANNED_MAX 65536 /* points of a larger grid */

unsigned orch_search_grid_values(const struct orch_space_param *param)
{
    double levels = orch_space_levels(param);
    if (param->kind == ORCH_SPACE_CHOICE)
        return (unsigned)levels;
    return levels > 0 && levels < ORCH_SEARCH_GRID_VALUES ? (unsigned)levels
                                                          : ORCH_SEARCH_GRID_VALUES;
}

/* The points of a parameter and of all that depend on it. These come behind it in the list, so that
 * their own are known. */
static double points_of(const struct orch_space *space, unsigned index, const double *known)
{
    const struct orch_space_param *param = orch_space_param(space, index);
    const unsigned values = orch_search_grid_values(param);
    double sum = 0;
    if (param->kind != ORCH_SPACE_CHOICE)
        return values;
    for (unsigned k = 0; k < values; k++) {
        double product = 1;
        for (unsigned i = index + 1; i < space->params->len; i++) {
            const struct orch_space_param *other = orch_space_param(space, i);
            if (other->parent == (int)index && (other->when >> k & 1))
                product *= known[i];
        }
        sum += product;
    }
    return sum;
}

double orch_search_grid_points(const struct orch_space *space)
{
    double known[ORCH_SPACE_PARAMS_MAX], product = 1;
    for (unsigned i = space->params->len; i-- > 0;) {
        known[i] = points_of(space, i, known);
        product *= orch_space_param(space, i)->parent < 0 ? known[i] : 1;
    }
    return product;
}

/* ---- the sampler ----------------------------------------------------------------------------- */

/* Values of a parameter in a grid of `most` values of each number. */
static double values_of(const struct orch_space_param *param, unsigned most)
{
    const double levels = orch_space_levels(param);
    return param->kind == ORCH_SPACE_CHOICE || (levels > 0 && levels < most) ? levels : most;
}

/* Point `index` of the grid. */
static void place(const struct orch_space *space, double index, unsigned most, double *out)
{
    for (unsigned k = 0; k < space->params->len; k++) {
        const struct orch_space_param *param = orch_space_param(space, k);
        const double values = values_of(param, most), value = fmod(index, values);
        index = floor(index / values);
        out[k] = values == orch_space_levels(param) ? orch_space_level_unit(param, value)
                                                    : value / (values - 1);
    }
    orch_space_snap(space, out);
}

static bool was_tried(const struct orch_sampling *sampling, const double *at)
{
    for (size_t i = 0; i < sampling->count; i++)
        if (orch_space_is_same(sampling->space, sampling->trials[i].point, at, ORCH_SPACE_EQUAL))
            return true;
    return false;
}

/* The next number from `least` on that has no divisor in common with `of`: its multiples reach all
 * numbers below `of`. */
static uint64_t coprime_from(uint64_t least, uint64_t of)
{
    for (;; least++) {
        uint64_t a = of, b = least;
        while (b) {
            const uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return least;
    }
}

/* Finds a point of the grid that was not tried. Multiples of the golden ratio spread evenly. */
static bool find_untried(const struct orch_sampling *sampling, unsigned most, double total,
                         double *out)
{
    uint64_t random = orch_random_stream(sampling->seed, most);
    const uint64_t points = (uint64_t)fmin(total, 0x1p62);
    const uint64_t step = coprime_from((uint64_t)(0.6180339887 * (double)points) + 1, points);
    uint64_t at = orch_random_below(&random, points);
    for (uint64_t n = 0; n < MIN(points, SCANNED_MAX); n++) {
        place(sampling->space, (double)at, most, out);
        if (!was_tried(sampling, out))
            return true;
        at = (at + step) % points;
    }
    return false;
}

void orch_sample_grid(const struct orch_sampling *sampling, double *out)
{
    double last = 0;
    /* the next finer grid has the points of the one before */
    for (unsigned most = ORCH_SEARCH_GRID_VALUES; most < 1 << 16; most = 2 * most - 1) {
        double total = 1;
        for (unsigned k = 0; k < sampling->space->params->len; k++)
            total *= values_of(orch_space_param(sampling->space, k), most);
        if (total == last || find_untried(sampling, most, total, out))
            return;
        last = total;
    }
}
