/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Divergences between distributions of features, in nats. */
#ifndef ORCH_PLUGINS_SOURCESEL_SOURCE_DIVERGENCE_H
#define ORCH_PLUGINS_SOURCESEL_SOURCE_DIVERGENCE_H

#include <stddef.h>

/** Makes a distribution of a feature vector: values below 0 and NaN count as 0, the rest is divided
 * by its sum, `epsilon` > 0 is added to each share, and the result is divided by its sum. So it
 * does not depend on the vector's scale, and no share is 0. A vector without a positive value gives
 * the uniform distribution. `out` has `count` > 0 values and may be `values`. */
void orch_sourcesel_distribution(const double *values, size_t count, double epsilon, double *out);

/** Kullback-Leibler divergence KL(p || q) = sum p_i ln(p_i / q_i) >= 0, with 0 ln 0 = 0. Infinite
 * if q is 0 where p is not. */
double orch_sourcesel_kl(const double *p, const double *q, size_t count);

/** Jensen-Shannon divergence (KL(p || m) + KL(q || m)) / 2 with m = (p + q) / 2: symmetric, and at
 * most ln 2. Its square root is a metric (Endres and Schindelin 2003). */
double orch_sourcesel_js(const double *p, const double *q, size_t count);

#endif
