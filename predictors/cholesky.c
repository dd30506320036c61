/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/cholesky.h"

#include <math.h>

double orch_dot(const double *a, const double *b, size_t n)
{
    double sums[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < 8; k++)
            sums[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sums[0] += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

bool orch_cholesky(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double *row = a + i * n;
        for (size_t j = 0; j < i; j++)
            row[j] = (row[j] - orch_dot(row, a + j * n, j)) / a[j * n + j];
        double left = row[i] - orch_dot(row, row, i);
        if (!(left > 1e-14 * fabs(row[i])))
            return false;
        row[i] = sqrt(left);
    }
    return true;
}

void orch_cholesky_solve(const double *l, size_t n, double *b)
{
    for (size_t i = 0; i < n; i++)
        b[i] = (b[i] - orch_dot(l + i * n, b, i)) / l[i * n + i];
    for (size_t i = n; i-- > 0;) {
        b[i] /= l[i * n + i];
        for (size_t j = 0; j < i; j++)
            b[j] -= l[i * n + j] * b[i];
    }
}
