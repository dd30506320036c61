/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far a row is from those that were learned from: in coded space (categories one by one,
 * numbers scaled, beside their logarithms), to the nearest of a sample of them; and how far each of
 * its own numbers is beyond the range that was seen. */
#ifndef ORCH_PREDICTORS_NEARNESS_H
#define ORCH_PREDICTORS_NEARNESS_H

#include "predictors/matrix.h"

#include <stdint.h>

#define ORCH_LANDMARKS 160

/** What was seen of a number of the table itself (not of what was worked out or looked up). */
struct orch_range {
    char *name;
    double low, high;
    double reach; /* half of the widest gap between values seen, of logarithms: so far beyond the
                     range is no farther than within it */
};

struct orch_nearness {
    struct orch_coder *coder;
    size_t count;
    int cols;
    float *landmarks; /* row-major, count x cols */
    float *norms;     /* squared lengths of them */
    double usual;   /* distance that 99 % of the rows learned from are within, and the middle of the
                       widest gap between them */
    GArray *ranges; /* struct orch_range */
};

struct orch_nearness *orch_nearness_fit(const struct orch_matrix *matrix, uint64_t seed);
void orch_nearness_free(struct orch_nearness *nearness);
/** Distances, 1: the usual one, or a number as far beyond its range as its reach. */
void orch_nearness_of(const struct orch_nearness *nearness, const struct orch_matrix *matrix,
                      double *out);
/** How far each row is beyond the ranges, as the root of the sum of squared logarithms: 0 within,
 * 0.7 for one number twice the largest seen. Without the columns that `passes_over` (or NULL) says
 * true of. */
void orch_nearness_beyond(const struct orch_nearness *nearness, const struct orch_matrix *matrix,
                          bool (*passes_over)(const char *name, const void *data), const void *data,
                          double *out);

/** An empty list of ranges, which frees their names. */
GArray *orch_ranges_new(void);

#endif
