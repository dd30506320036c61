/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dube et al. 2019 compare an image with the mean response of a source: both are normalised to
 * distributions, and the divergence is KL. Smoothing follows normalisation, so that its share does
 * not depend on the network's scale. */
#include "plugins/sourcesel/source_divergence.h"

#include <math.h>

void orch_sourcesel_distribution(const double *values, size_t count, double epsilon, double *out)
{
    double sum = 0, smoothed = 0;
    for (size_t i = 0; i < count; i++) {
        out[i] = values[i] > 0 ? values[i] : 0; /* 0 for NaN, too */
        sum += out[i];
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = (sum > 0 ? out[i] / sum : 0) + epsilon;
        smoothed += out[i];
    }
    for (size_t i = 0; i < count; i++)
        out[i] /= smoothed;
}

double orch_sourcesel_kl(const double *p, const double *q, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (p[i] > 0)
            sum += q[i] > 0 ? p[i] * log(p[i] / q[i]) : HUGE_VAL;
    return sum > 0 ? sum : 0; /* rounding may leave -1e-17 */
}

double orch_sourcesel_js(const double *p, const double *q, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double m = (p[i] + q[i]) / 2;
        sum += p[i] > 0 ? p[i] * log(p[i] / m) : 0;
        sum += q[i] > 0 ? q[i] * log(q[i] / m) : 0;
    }
    return sum > 0 ? sum / 2 : 0;
}
