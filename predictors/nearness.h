/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far a row is from those that were learned from: in coded space (categories one by one,
 * numbers scaled, beside their logarithms), to the nearest of a sample of them. */
#ifndef ORCH_PREDICTORS_NEARNESS_H
#define ORCH_PREDICTORS_NEARNESS_H

#include "predictors/matrix.h"

#include <stdint.h>

#define ORCH_LANDMARKS 160

struct orch_nearness {
    struct orch_coder *coder;
    size_t count;
    int cols;
    float *landmarks; /* row-major, count x cols */
    float *norms;     /* squared lengths of them */
    double usual;     /* distance that 99 % of the rows learned from are within */
};

struct orch_nearness *orch_nearness_fit(const struct orch_matrix *matrix, uint64_t seed);
void orch_nearness_free(struct orch_nearness *nearness);
/** Distances, 1: the usual one. */
void orch_nearness_of(const struct orch_nearness *nearness, const struct orch_matrix *matrix,
                      double *out);

#endif
