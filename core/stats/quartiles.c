/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/quartiles.h"

#include "lib/base/reals.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

struct orch_quartiles orch_quartiles_of(double *values, size_t count)
{
    const double none = (double)NAN;
    struct orch_quartiles q = {count, none, none, none, none, none, 0};
    if (!count)
        return q;
    orch_reals_sort(values, count);
    q.lowest = values[0];
    q.highest = values[count - 1];
    q.q1 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.25);
    q.median = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.5);
    q.q3 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.75);
    for (size_t i = 0; i < count; i++)
        q.outliers += orch_is_outlier(&q, values[i]) ? 1 : 0;
    return q;
}
