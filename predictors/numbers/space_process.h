/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A Gaussian process over the points of a search space: Matern 5/2 with one length for each
 * parameter (automatic relevance determination), amplitude and noise by their posterior mode.
 * Numbers are compared by the difference of their coordinates, choices by being equal or not. A
 * parameter that a point does not have stands at the middle of its range, or is a choice of its
 * own: the parameter of its condition differs anyway. */
#ifndef ORCH_PREDICTORS_SPACE_PROCESS_H
#define ORCH_PREDICTORS_SPACE_PROCESS_H

#include "lib/space/param_space.h"

struct orch_space_process;

/** Fits a process to n points (row-major, one row of unit coordinates a point) and their values,
 * whose mean should be 0 and variance 1. NULL when its equations cannot be solved (values that are
 * not finite). Caller frees. */
struct orch_space_process *orch_space_process_fit(const struct orch_space *space,
                                                  const double *points, const double *values,
                                                  size_t n);
void orch_space_process_free(struct orch_space_process *process);

/** Adds a point with the value that the process expects there, so that it knows no less elsewhere
 * and does not choose the point again. */
void orch_space_process_believe(struct orch_space_process *process, const double *point);

/** Mean and standard deviation of the noiseless value at a point; and, where not NULL, their
 * derivatives by each coordinate (0 of choices and of what does not exist). */
void orch_space_process_at(const struct orch_space_process *process, const double *point,
                           double *out_mean, double *out_deviation, double *out_mean_slopes,
                           double *out_deviation_slopes);
/** Negative logarithm of the probability of the values and of what was fitted to them, up to a
 * constant that is the same for the same points. */
double orch_space_process_loss(const struct orch_space_process *process);
/** The least of the values that it was fitted to, before it believes others. */
double orch_space_process_least(const struct orch_space_process *process);
/** Standard deviation of the noise of a value. */
double orch_space_process_noise(const struct orch_space_process *process);

#endif
