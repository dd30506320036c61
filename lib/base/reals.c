/* SPDX-License-Identifier: MIT */
#include "lib/base/reals.h"

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
