/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grid that a search stands for: what a sweep over the same space would have to run. */
#ifndef ORCH_FEATURES_SEARCH_SAMPLER_GRID_H
#define ORCH_FEATURES_SEARCH_SAMPLER_GRID_H

#include "lib/space/param_space.h"

/** Values of a real number, and at most so many of a whole one. */
#define ORCH_SEARCH_GRID_VALUES 5

/** Number of points of the grid. A parameter with a condition multiplies only the points that have
 * it. */
double orch_search_grid_points(const struct orch_space *space);
/** Number of values of one parameter in the grid. */
unsigned orch_search_grid_values(const struct orch_space_param *param);

#endif
