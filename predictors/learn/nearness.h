/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distance of a row from the training rows. Categories are one-hot coded and numbers enter scaled,
 * raw and as logarithms; the distance is to the nearest of a sample of training rows (landmarks).
 * Also measures how far each number lies outside the range seen in training. */
#ifndef ORCH_PREDICTORS_NEARNESS_H
#define ORCH_PREDICTORS_NEARNESS_H

#include "predictors/features/matrix.h"

#include <stdint.h>

#define ORCH_LANDMARKS 160

/** Training range of a number that was measured or set (not derived or looked up). */
struct orch_range {
    char *name;
    double low, high;
    double reach; /* half of the widest gap between training values on the log scale. A value this
                     far outside the range is no farther from data than one inside a gap */
};

struct orch_nearness {
    struct orch_coder *coder;
    size_t count;
    int cols;
    float *landmarks; /* row-major, count x cols */
    float *norms;     /* their squared lengths */
    double usual;     /* at least the distance that 99 % of the training rows have to another one,
                         and at least the middle of the widest gap between landmarks */
    GArray *ranges;   /* struct orch_range */
};

struct orch_nearness *orch_nearness_fit(const struct orch_matrix *matrix, uint64_t seed);
void orch_nearness_free(struct orch_nearness *nearness);
/** Distances by row. 1 is the usual distance, or a number outside its range by its reach. */
void orch_nearness_of(const struct orch_nearness *nearness, const struct orch_matrix *matrix,
                      double *out);
/** Distance of each row from the training ranges: root of the sum of squared log excesses. 0 is
 * within all ranges, 0.7 is one number twice the largest seen. Skips the columns for which
 * `passes_over` (or NULL) returns true. */
void orch_nearness_beyond(const struct orch_nearness *nearness, const struct orch_matrix *matrix,
                          bool (*passes_over)(const char *name, const void *data), const void *data,
                          double *out);

/** A new empty array of struct orch_range that frees the names. */
GArray *orch_ranges_new(void);

#endif
