/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A few equal values have the standard deviation 0, and an interval of width 0. That does not show
 * that the next value will be equal: a program that succeeds in 90 % of runs begins with four
 * successes in 66 %. Nor do two or three distinct values: the rare one may not have come yet. */
#include "core/stats/sample_shape.h"

#include <glib.h>
#include <math.h>

#define ROUNDING 1e-9

void orch_distinct_add(struct orch_distinct *distinct, double value)
{
    if (distinct->count == ORCH_DISTINCT_LEAST)
        return;
    for (size_t i = 0; i < distinct->count; i++)
        if (fabs(value - distinct->values[i]) <=
            ROUNDING * fmax(fabs(value), fabs(distinct->values[i])))
            return;
    distinct->values[distinct->count++] = value;
}

bool orch_sample_shows_scatter(const double *values, size_t count)
{
    struct orch_distinct distinct = {.count = 0};
    for (size_t i = 0; i < count; i++)
        orch_distinct_add(&distinct, values[i]);
    return distinct.count >= MIN(count, (size_t)ORCH_DISTINCT_LEAST);
}
