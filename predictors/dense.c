/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/dense.h"

#include <math.h>

#define LANES 8

double orch_dot(const double *a, const double *b, size_t n)
{
    double sums[LANES] = {0};
    size_t whole = n - n % LANES;
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            sums[k] += a[i + k] * b[i + k];
    for (size_t i = whole; i < n; i++)
        sums[i - whole] += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

float orch_dot_float(const float *a, const float *b, size_t n)
{
    float sums[LANES] = {0};
    size_t whole = n - n % LANES;
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            sums[k] += a[i + k] * b[i + k];
    for (size_t i = whole; i < n; i++)
        sums[i - whole] += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void orch_add_float(float *restrict inout, const float *restrict a, float scale, size_t n)
{
    for (size_t i = 0; i < n; i++)
        inout[i] += scale * a[i];
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
