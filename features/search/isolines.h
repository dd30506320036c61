/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of equal height over a grid (marching squares, Lorensen and Cline 1987 in two dimensions).
 */
#ifndef ORCH_FEATURES_SEARCH_ISOLINES_H
#define ORCH_FEATURES_SEARCH_ISOLINES_H

#include <glib.h>

/** A point in units of cells: 0 to columns - 1, and 0 to rows - 1. */
struct orch_isopoint {
    double x, y;
};

/** Returns the lines on which the values of a grid (row by row, NAN: no value) have this height, as
 * GArray * of struct orch_isopoint; a closed one ends where it begins. A cell with a corner that
 * has no value is crossed by none. The caller unrefs. */
GPtrArray *orch_isolines(const double *grid, unsigned columns, unsigned rows, double height);

/** Returns at most `most` round heights inside the range of a grid, ascending (double); none when
 * it has no range beyond rounding. The caller unrefs. */
GArray *orch_isoline_heights(const double *grid, unsigned columns, unsigned rows, unsigned most);

#endif
