/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points with several goals: which of them no other one beats in every goal (the Pareto front), how
 * much of the space they dominate, and the knee of their front. Points are rows of `goals` numbers
 * in one array, and smaller numbers are better. */
#ifndef ORCH_CORE_STATS_FRONT_H
#define ORCH_CORE_STATS_FRONT_H

#include <stdbool.h>
#include <stddef.h>

/** Goals of a point at most. */
#define ORCH_FRONT_GOALS_MAX 4

/** Writes for each point whether it is on the front: no other one is at least as good in each goal
 * and better in one. Points with a number that is not finite never are. */
void orch_front_find(const double *points, size_t count, unsigned goals, bool *out_is_on);

/** Returns the hypervolume: the volume of all places that a point dominates and that dominate
 * `reference`. Points that are not better than the reference in each goal add nothing; 0: none is.
 */
double orch_front_volume(const double *points, size_t count, unsigned goals,
                         const double *reference);

/** Writes the place where the front's best values meet, and that of its worst ones: a share of 0
 * and of 1 in each goal. False: no point is on it. */
bool orch_front_ends(const double *points, size_t count, unsigned goals, const bool *is_on,
                     double *out_best, double *out_worst);

/** Returns the front's point with the least sum of shares, each goal from 0 at the front's best
 * value to 1 at its worst: with two goals the one farthest from the line between the front's ends.
 * Of equal ones the best by the first goal; `count` when no point is on the front. */
size_t orch_front_knee(const double *points, size_t count, unsigned goals, const bool *is_on);

#endif
