/* SPDX-License-Identifier: MIT */
#include "lib/base/reals.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

int orch_compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void orch_reals_sort(double *values, size_t count)
{
    if (count)
        qsort(values, count, sizeof *values, orch_compare_reals);
}

double orch_reals_median(double *values, size_t count)
{
    if (!count)
        return (double)NAN;
    orch_reals_sort(values, count);
    return values[(count - 1) / 2] / 2 + values[count / 2] / 2; /* their sum may overflow */
}

double orch_reals_median_of(const double *values, size_t count)
{
    g_autofree double *known = g_new(double, count + 1);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            known[n++] = values[i];
    return orch_reals_median(known, n);
}

double orch_reals_standardise(double *inout, size_t count)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += inout[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (inout[i] - mean) * (inout[i] - mean) / (double)count;
    double deviation = squares > 0 ? sqrt(squares) : 1;
    for (size_t i = 0; i < count; i++)
        inout[i] = (inout[i] - mean) / deviation;
    return deviation;
}
