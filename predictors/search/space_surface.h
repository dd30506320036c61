/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The surface of a number over two parameters: a Gaussian process
 * (predictors/numbers/space_process.h), the model that a search chooses its points by, at a grid.
 * It is drawn in a picture, so it says where there is no data rather than to continue what is known
 * elsewhere. */
#ifndef ORCH_PREDICTORS_SPACE_SURFACE_H
#define ORCH_PREDICTORS_SPACE_SURFACE_H

#include "lib/space/param_space.h"

#include <stddef.h>

#define ORCH_SURFACE_SIDE 41 /* values along each side, from one end of the range to the other */

struct orch_surface {
    /* row by row from the lowest value of the second parameter; NAN: no data near by, or vague */
    double mean[ORCH_SURFACE_SIDE * ORCH_SURFACE_SIDE];
    double low[ORCH_SURFACE_SIDE * ORCH_SURFACE_SIDE]; /* a standard deviation below the mean */
    double high[ORCH_SURFACE_SIDE * ORCH_SURFACE_SIDE];
    bool is_log;  /* fitted by logarithms, since the values span a wide range above 0 */
    double noise; /* standard deviation of one value's noise, as a share of that of all values */
};

/** Fits a surface to n points (a row of two unit coordinates each, none NAN) and their finite
 * values, in the units of the values. `space` has two parameters that are numbers. NULL when all
 * values are equal or the equations cannot be solved. Caller frees (g_free). */
struct orch_surface *orch_surface_fit(const struct orch_space *space, const double *units,
                                      const double *values, size_t n);

#endif
