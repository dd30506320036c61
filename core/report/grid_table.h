/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A grid as a table: a column for each axis of its rows, and one for each value. */
#ifndef ORCH_CORE_REPORT_GRID_TABLE_H
#define ORCH_CORE_REPORT_GRID_TABLE_H

#include "core/report/grid.h"

/** Formats the grid as a table. With column axes each of their labels has a column for each value,
 * below a heading that they share. CSV and JSON have the names of parameters and metrics, people
 * read their words and units; in JSON the cell of a label is a list when there are several values.
 * The caller frees. */
struct orch_table *orch_grid_table(const struct orch_grid *grid);
/** Describes the numbers in the grid: "a value like 0.5 [0.4, 0.6] is a mean and its 95 %
 * interval". The caller frees. */
char *orch_grid_legend(const struct orch_grid *grid);
/** Formats a value's name with its unit, "training_time (s)", and with its aggregate where that
 * alone tells two values apart: "max loss". The caller frees. */
char *orch_grid_value_name(const struct orch_grid *grid, guint value);
/** The same in words: "training time (s)", "highest loss". The caller frees. */
char *orch_grid_value_words(const struct orch_grid *grid, guint value);

#endif
